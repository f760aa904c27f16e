//! Which cells can still win, or be taken for their few support vectors; and, where the user asks for it, which of them are likely to.
//!
//! Losses are not negative. So after some splits the mean loss of a cell is at least its losses so far over the number of all splits. Let B be
//! the mean loss of a cell that is done, an upper bound on that of the best, and w the largest share of a row in a mean. Then with (TU.6)
//!
//! ```text
//! d ≥ d₀ = Σ_{splits done} loss_f/k − B,   SE_d² = Σ δ_i² ≤ w Σ |δ_i| ≤ w (d + 2B)
//! d₀² > z² w (d₀ + 2B)  and  2 d₀ > z² w   ⇒   d > z SE_d                                             (TU.7)
//! ```
//!
//! because `d² − z² w (d + 2B)` increases from `z² w/2` on. With z = 1.96 such a cell is neither the best, nor the one-SE choice, nor among those
//! that are not told apart: leaving it changes none of these. It needs a loss that is a mean of losses of rows, each from 0 to 1, and rows that
//! are held out at most once.

use super::judge::{NOT_TOLD_APART, Truth};
use super::scores::Metric;
use super::splits::Splits;
use super::tuned::FoldResult;

/// Whether cells can be left on certain grounds.
pub(super) fn is_certain(metric: &Metric, splits: &Splits) -> bool {
    matches!(metric, Metric::Accuracy) && splits.is_once() && splits.list().len() > 2
}

/// The cells that can neither win nor be chosen any more, from what their splits say so far. Nobody is out before some cell is done.
pub(super) fn out(results: &[Vec<Option<&FoldResult>>], splits: &Splits) -> Vec<bool> {
    let count = splits.list().len() as f64;
    // A split without a score makes its cell neither better nor worse.
    let so_far = |folds: &[Option<&FoldResult>]| -> f64 {
        folds.iter().flatten().map(|fold| fold.score.map_or(0.0, |score| 1.0 - score)).sum::<f64>() / count
    };
    let is_done =
        |folds: &&Vec<Option<&FoldResult>>| folds.iter().all(|fold| fold.is_some_and(|fold| fold.score.is_some()));
    let bound = results.iter().filter(is_done).map(|folds| so_far(folds)).fold(f64::INFINITY, f64::min);
    let fewest = splits.list().iter().map(|split| split.test.len()).min().unwrap_or(1);
    let share = NOT_TOLD_APART * NOT_TOLD_APART / (count * fewest as f64);
    let is_out = |folds: &Vec<Option<&FoldResult>>| {
        let behind = so_far(folds) - bound;
        behind * behind > share * (behind + 2.0 * bound) && 2.0 * behind > share // (TU.7)
    };
    results.iter().map(|folds| bound.is_finite() && is_out(folds)).collect()
}

/// Standard errors by which a cell has to be behind before a statistical race leaves it. Of a hundred cells that are as good as the best, one such
/// race loses about one in five runs. Larger: fewer of these are lost, and more work is done.
const LIKELY: f64 = 3.0;

/// The cells that a statistical race leaves: on the rows held out so far they are behind the best cell by more than [`LIKELY`] standard errors of
/// the difference, paired row by row as in (TU.6). Empty where the score is no mean over rows.
pub(super) fn out_likely(
    metric: &Metric,
    truth: &Truth,
    splits: &Splits,
    results: &[Vec<Option<&FoldResult>>],
) -> Vec<bool> {
    let losses = |folds: &[Option<&FoldResult>]| -> Option<Vec<Option<f64>>> {
        let mut losses = vec![None; splits.rows()];
        for (split, fold) in splits.list().iter().zip(folds) {
            let Some(fold) = fold else { continue };
            for (&row, &predicted) in split.test.iter().zip(&fold.predicted) {
                *losses[row].get_or_insert(0.0) += metric.loss_of_row(truth.of_row(row), predicted)?;
            }
        }
        Some(losses)
    };
    let Some(all) = results.iter().map(|folds| losses(folds)).collect::<Option<Vec<_>>>() else { return Vec::new() };
    let done = |cell: usize| results[cell].iter().filter(|fold| fold.is_some()).count();
    let sum = |cell: usize| all[cell].iter().flatten().sum::<f64>();
    // The best of those with the most splits.
    let better = |a: usize, b: usize| done(b) > done(a) || done(b) == done(a) && sum(b) < sum(a);
    let best = (1..results.len()).fold(0, |best, cell| if better(best, cell) { cell } else { best });
    let is_out = |own: &Vec<Option<f64>>| {
        let pairs = own.iter().zip(&all[best]).filter_map(|(own, best)| Some(own.as_ref()? - best.as_ref()?));
        let (sum, square) = pairs.fold((0.0, 0.0), |(sum, square), apart: f64| (sum + apart, square + apart * apart));
        sum > LIKELY * square.sqrt() && sum > 0.0
    };
    all.iter().map(is_out).collect()
}
