//! What the model that a search chooses is worth on new rows. The best score of many is too good, because it was chosen for being good.
//!
//! **Method.** Rows are drawn with replacement. The cell that is best on the drawn rows is chosen, and scored on the rows that were not drawn. The
//! held-out predictions of all cells are known, so that nothing is trained again
//!
//! ```text
//! s_b = score on rows not drawn of argmax_cell score on rows drawn,   honest = mean of s_b            (TU.4)
//! ```
//!
//! The interval is from the 2.5th to the 97.5th percentile of s_b. Rows that were not drawn are about 37 % of all, so it is rather too wide
//! than too narrow.
//!
//! **References.** Tsamardinos, Greasidou, Borboudakis, Bootstrapping the out-of-sample predictions for efficient and accurate
//! cross-validation, Machine Learning 107, 2018.

use rand::RngExt;
use rand_pcg::Pcg64;

use super::judge::Losses;
use super::scores::Metric;
use crate::workers::Workers;

/// Draws at most, and at least. More draws make the ends of the interval steadier.
const DRAWS: (usize, usize) = (1000, 200);

/// Losses that are added up altogether, about. Larger: more draws for large grids, and more time (about 0.3 ns each).
const WORK: usize = 1 << 30;

/// What the chosen model is worth on new rows.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Honest {
    /// The estimate.
    pub score: f64,
    /// The ends of the 95 % interval.
    pub interval: (f64, f64),
    /// How often rows were drawn.
    pub draws: usize,
}

/// The estimate from what each complete cell costs on each row; `None` where too few rows are known, or the score is no mean over rows.
pub(super) fn honest(metric: &Metric, losses: &Losses, seed: u64, workers: &Workers) -> Option<Honest> {
    let (rows, cells) = (losses.rows(), losses.cells());
    if rows < 2 || cells == 0 {
        return None;
    }
    let draws = (WORK / (rows * cells)).clamp(DRAWS.1, DRAWS.0);
    let found = workers
        .map_chunks(draws, 8, |some| some.filter_map(|draw| of_draw(metric, losses, seed, draw)).collect::<Vec<f64>>());
    let mut scores: Vec<f64> = found.into_iter().flatten().collect();
    if scores.len() < 2 {
        return None;
    }
    let score = scores.iter().sum::<f64>() / scores.len() as f64; // (TU.4)
    scores.sort_by(f64::total_cmp);
    let at = |part: f64| scores[(part * (scores.len() - 1) as f64).round() as usize];
    Some(Honest { score, interval: (at(0.025), at(0.975)), draws: scores.len() })
}

/// s_b of (TU.4); `None` where every row was drawn.
fn of_draw(metric: &Metric, losses: &Losses, seed: u64, draw: usize) -> Option<f64> {
    let rows = losses.rows();
    let mut random = Pcg64::new(u128::from(seed), draw as u128);
    let mut drawn = vec![0.0f32; rows];
    (0..rows).for_each(|_| drawn[random.random_range(0..rows)] += 1.0);
    let cost = |cell: usize| weighed(losses.of_cell(cell), &drawn);
    let (mut best, mut least) = (0, cost(0));
    for cell in 1..losses.cells() {
        let found = cost(cell);
        if found < least {
            (best, least) = (cell, found);
        }
    }
    let left: Vec<usize> = (0..rows).filter(|&row| drawn[row] == 0.0).collect();
    if left.is_empty() {
        return None;
    }
    let mean = left.iter().map(|&row| f64::from(losses.of_cell(best)[row])).sum::<f64>() / left.len() as f64;
    losses.score_of(metric, mean, &left)
}

/// `Σ loss · weight` with eight running sums.
fn weighed(losses: &[f32], weights: &[f32]) -> f64 {
    let mut sums = [0.0f32; 8];
    let (first, last) = losses.as_chunks::<8>();
    let (weights, rest) = weights.as_chunks::<8>();
    for (losses, weights) in first.iter().zip(weights) {
        for k in 0..8 {
            sums[k] += losses[k] * weights[k];
        }
    }
    f64::from(sums.iter().sum::<f32>()) + last.iter().zip(rest).map(|(a, b)| f64::from(a * b)).sum::<f64>()
}

#[cfg(test)]
mod tests {
    use rand::SeedableRng;

    use super::*;

    /// Cells that guess: each is right on every row with probability one half.
    fn guesses(seed: u64, rows: usize, cells: usize) -> Losses {
        let mut random = Pcg64::seed_from_u64(seed);
        let all = (0..cells * rows).map(|_| f32::from(u8::from(random.random_bool(0.5)))).collect();
        Losses::of(all, rows, None)
    }

    #[test]
    fn the_best_of_many_guesses_is_told_to_be_a_guess() {
        let mut naive = 0.0;
        for seed in 0..20 {
            let losses = guesses(seed, 200, 60);
            let best = (0..60).map(|cell| losses.of_cell(cell).iter().sum::<f32>()).fold(f32::INFINITY, f32::min);
            naive += f64::from(1.0 - best / 200.0) / 20.0;
            let found = honest(&Metric::Accuracy, &losses, seed, &Workers::none()).unwrap();
            assert!((found.score - 0.5).abs() < 0.05, "seed {seed}: {found:?}");
            assert!(found.interval.0 < 0.5 && found.interval.1 > 0.5, "seed {seed}: {found:?}");
        }
        // The negative control: what is chosen for being good looks far better than it is.
        assert!(naive > 0.56, "{naive}");
    }

    #[test]
    fn threads_change_no_bits() {
        let losses = guesses(3, 150, 10);
        let of = |threads: usize| honest(&Metric::Accuracy, &losses, 5, &Workers::new(threads).unwrap()).unwrap();
        assert!([2, 3, 8].into_iter().all(|threads| of(threads) == of(1)));
    }

    #[test]
    fn nothing_is_told_of_one_row() {
        assert_eq!(honest(&Metric::Accuracy, &Losses::of(vec![0.0], 1, None), 0, &Workers::none()), None);
    }
}
