//! The means of classes and the scatter within them, from the rows of many shards: all that Fisher's discriminant needs.
//!
//! ```text
//! S = Σ_a S_a + Σ_k n n′/(n + n′) (m_k − m′_k)(m_k − m′_k)′   for each pair of parts that are joined      (SH.7)
//! ```
//!
//! with the mass n and the mean m_k of class k in one part, and n′ and m′_k in the other (Chan, Golub, LeVeque 1979). Unlike a sum of `x x′` it
//! keeps its digits on rows far from 0. A wrong part is told by the probe r of (SH.2):
//!
//! ```text
//! n_k ⟨m_k, r⟩ = Σ ω_i ρ_i,   r′S r = Σ ω_i (ρ_i − ρ̄_k)²   over the rows of class k, and of all            (SH.8)
//! ```

use std::ops::ControlFlow;

use super::check::ROUNDING;
use super::fold::fold_by;
use super::probe::probe;
use super::shard::Shard;
use super::wire::{from_bytes, to_bytes, wire_struct};
use crate::data::Label;
use crate::error::{Error, quoted};
use crate::solver::scatter::Scatter;

/// Rows that a thread adds up at a time. Fixed, because sums are folded chunk by chunk and the bits depend on it.
const ROWS_A_CHUNK: usize = 8192;

/// The means of classes and the scatter within them, of the rows of a shard or of several.
#[derive(Clone, Debug, PartialEq)]
pub struct Moments {
    shard: usize,
    columns: usize,
    masses: Vec<f64>,
    /// The mean of each class; 0 where it has no rows.
    means: Vec<Vec<f64>>,
    /// The lower half of S, column by column.
    lower: Vec<f64>,
    /// The right sides of (SH.8), and the sizes of what they are sums of.
    probes: Vec<f64>,
    probe_sizes: Vec<f64>,
    spread: f64,
    spread_size: f64,
}

wire_struct!(Moments { shard, columns, masses, means, lower, probes, probe_sizes, spread, spread_size });

impl Shard {
    /// The moments of the rows of this shard, whose labels are among `classes`.
    ///
    /// # Errors
    /// When a row has another label.
    pub fn moments(&self, classes: &[Label]) -> Result<Moments, Error> {
        let labels = self.data.labels()?;
        let place = |label: &Label| {
            classes.iter().position(|class| class == label).ok_or_else(|| Error::Data {
                what: format!("a row has the label {}, which no other shard knows of", quoted(label.text())),
                help: "name the labels of all rows".into(),
            })
        };
        let places: Vec<usize> = labels.classes().iter().map(place).collect::<Result<_, _>>()?;
        let groups: Vec<usize> = self.rows.iter().map(|&row| places[labels.codes()[row] as usize]).collect();
        let weights: Vec<f64> =
            self.rows.iter().map(|&row| self.data.weights().map_or(1.0, |weights| weights[row])).collect();
        let (columns, count) = (self.data.columns(), classes.len());
        let (matrix, workers) = (self.data.matrix(), &self.workers);
        let parts = workers.map_chunks(self.rows.len(), ROWS_A_CHUNK, |range| {
            let (mut masses, mut sums) = (vec![0.0; count], vec![vec![0.0; columns]; count]);
            for i in range {
                let (group, weight) = (groups[i], weights[i]);
                masses[group] += weight;
                matrix.visit(self.rows[i], |column, value| sums[group][column] += weight * value);
            }
            (masses, sums)
        });
        let (mut masses, mut means) = (vec![0.0; count], vec![vec![0.0; columns]; count]);
        for (part_masses, part_sums) in &parts {
            add(&mut masses, part_masses);
            means.iter_mut().zip(part_sums).for_each(|(sum, part)| add(sum, part));
        }
        for (mean, mass) in means.iter_mut().zip(&masses) {
            if *mass > 0.0 {
                mean.iter_mut().for_each(|value| *value /= mass);
            }
        }
        let centres = Some((groups.as_slice(), means.as_slice()));
        let scatter = Scatter { matrix, rows: &self.rows, weights: &weights, constant: false, centres, workers };
        let lower = match scatter.lower(&mut || ControlFlow::Continue(())) {
            ControlFlow::Continue(found) => (0..columns).flat_map(|j| found.col_as_slice(j)[j..].to_vec()).collect(),
            ControlFlow::Break(_) => Vec::new(),
        };
        let (mut probes, mut probe_sizes) = (vec![0.0; count], vec![0.0; count]);
        for (i, &group) in groups.iter().enumerate() {
            probes[group] += weights[i] * self.probed.products[i];
            probe_sizes[group] += weights[i] * self.probed.sizes[i];
        }
        let (mut spread, mut spread_size) = (0.0, 0.0);
        for (i, &group) in groups.iter().enumerate() {
            let apart = self.probed.products[i] - probes[group] / masses[group];
            spread += weights[i] * apart * apart; // (SH.8)
            spread_size += weights[i] * self.probed.sizes[i] * self.probed.sizes[i];
        }
        let shard = self.number;
        Ok(Moments { shard, columns, masses, means, lower, probes, probe_sizes, spread, spread_size })
    }
}

fn add(own: &mut [f64], other: &[f64]) {
    own.iter_mut().zip(other).for_each(|(own, other)| *own += other);
}

impl Moments {
    /// The weight of the rows of each class.
    pub fn masses(&self) -> &[f64] {
        &self.masses
    }

    /// The mean of each class.
    pub fn means(&self) -> &[Vec<f64>] {
        &self.means
    }

    /// The lower half of S, column by column.
    pub fn lower(&self) -> &[f64] {
        &self.lower
    }

    /// The number of the shard; of several, that of the first.
    pub fn shard(&self) -> usize {
        self.shard
    }

    /// Tells wrong moments of a shard from right ones, given the weight of its rows of each class.
    ///
    /// # Errors
    /// What does not hold, in words.
    pub fn check(&self, columns: usize, masses: &[f64]) -> Result<(), String> {
        let fits = self.columns == columns
            && self.masses.len() == masses.len()
            && self.means.len() == masses.len()
            && self.probes.len() == masses.len()
            && self.probe_sizes.len() == masses.len()
            && self.means.iter().all(|mean| mean.len() == columns)
            && self.lower.len() == columns * (columns + 1) / 2;
        if !fits {
            return Err("the moments have another size".into());
        }
        let agree = |one: f64, other: f64, size: f64| {
            (one - other).abs() <= ROUNDING * size.max(f64::MIN_POSITIVE) && size.is_finite()
        };
        if !self.masses.iter().zip(masses).all(|(own, known)| agree(*own, *known, *known)) {
            return Err("the classes do not weigh what they weighed before".into());
        }
        let vector = probe(columns);
        for (k, mean) in self.means.iter().enumerate() {
            let product: f64 = mean.iter().zip(&vector.weights).map(|(m, r)| m * r).sum::<f64>() + vector.bias;
            if !agree(self.masses[k] * product, self.probes[k], self.probe_sizes[k]) {
                return Err("the mean of a class does not meet its probe (SH.8)".into());
            }
        }
        let (mut found, mut start) = (0.0, 0);
        for j in 0..columns {
            for (k, value) in self.lower[start..start + columns - j].iter().enumerate() {
                let twice = if k == 0 { 1.0 } else { 2.0 };
                found += twice * vector.weights[j] * vector.weights[j + k] * value;
            }
            start += columns - j;
        }
        if agree(found, self.spread, self.spread_size) {
            Ok(())
        } else {
            Err("the scatter does not meet its probe (SH.8)".into())
        }
    }

    /// The moments of all shards, joined in the order of (SH.6); `None` where there are none.
    pub fn fold(parts: Vec<Moments>) -> Option<Moments> {
        fold_by(parts, Moments::join)
    }

    /// (SH.7)
    fn join(&mut self, other: &Moments) {
        for k in 0..self.masses.len() {
            let (own, more) = (self.masses[k], other.masses[k]);
            let all = own + more;
            if more == 0.0 {
                continue;
            }
            let apart: Vec<f64> =
                other.means[k].iter().zip(&self.means[k]).map(|(theirs, ours)| theirs - ours).collect();
            let weight = own * more / all;
            let mut start = 0;
            for j in 0..self.columns {
                let scaled = weight * apart[j];
                let column = &mut self.lower[start..start + self.columns - j];
                column.iter_mut().zip(&apart[j..]).for_each(|(value, part)| *value += scaled * part);
                start += self.columns - j;
            }
            let part = more / all;
            self.means[k].iter_mut().zip(&apart).for_each(|(mean, apart)| *mean += part * apart);
            self.masses[k] = all;
        }
        add(&mut self.lower, &other.lower);
    }

    /// The moments as bytes.
    pub fn to_bytes(&self) -> Vec<u8> {
        to_bytes(self)
    }

    /// The moments that these bytes are; `None` when they are none.
    pub fn from_bytes(bytes: &[u8]) -> Option<Self> {
        from_bytes(bytes)
    }
}

#[cfg(test)]
mod tests {
    use rand::{RngExt, SeedableRng};
    use rand_pcg::Pcg64;

    use super::*;
    use crate::data::{Dataset, Labels, Matrix};
    use crate::workers::Workers;

    const NAMES: [&str; 3] = ["a", "b", "c"];

    fn data(far: f64, sparse: bool, seed: u64) -> (Dataset, Vec<usize>) {
        let mut rng = Pcg64::seed_from_u64(seed);
        let codes: Vec<usize> = (0..90).map(|row| if row < 30 { row % 2 } else { rng.random_range(0..3) }).collect();
        let values: Vec<f64> = codes
            .iter()
            .flat_map(|&code| (0..4).map(move |j| (code, j)))
            .map(|(code, j)| far + (code * j) as f64 + rng.random_range(-1.0..1.0))
            .collect();
        let matrix = Matrix::dense(90, 4, values).unwrap();
        let matrix = if sparse { matrix.to_sparse() } else { matrix };
        let data = Dataset::new(matrix, Labels::new(codes.iter().map(|&code| Label::new(NAMES[code])))).unwrap();
        (data.with_weights((0..90).map(|row| [1.0, 2.0, 0.0][row % 3]).collect()).unwrap(), codes)
    }

    fn moments(data: &Dataset, parts: usize, workers: &Workers) -> Vec<Moments> {
        let size = data.rows() / parts;
        let part = |k: usize| data.select_rows(&(k * size..(k + 1) * size).collect::<Vec<_>>());
        let classes = NAMES.map(Label::new);
        (0..parts).map(|k| Shard::new(k, part(k), workers).moments(&classes).unwrap()).collect()
    }

    #[test]
    fn moments_of_shards_are_those_of_naive_sums_over_all_rows() {
        for (far, sparse, seed) in [(0.0, false, 1), (0.0, true, 2), (1e6, false, 3)] {
            let (data, codes) = data(far, sparse, seed);
            let weight = |row: usize| data.weights().unwrap()[row];
            let all = Moments::fold(moments(&data, 9, &Workers::none())).unwrap();
            let mut lower = Vec::new();
            let mean = |k: usize, j: usize| {
                let rows = || (0..90).filter(|&row| codes[row] == k);
                let mass: f64 = rows().map(weight).sum();
                rows().map(|row| weight(row) * (data.matrix().row(row)[j] - far)).sum::<f64>() / mass + far
            };
            for j in 0..4 {
                for l in j..4 {
                    let apart = |row: usize, j: usize| data.matrix().row(row)[j] - mean(codes[row], j);
                    lower.push((0..90).map(|row| weight(row) * apart(row, j) * apart(row, l)).sum::<f64>());
                }
            }
            for (own, naive) in all.lower().iter().zip(&lower) {
                assert!((own - naive).abs() < 1e-7, "far {far}, seed {seed}: {own} {naive}");
            }
            for k in 0..3 {
                for j in 0..4 {
                    assert!((all.means()[k][j] - mean(k, j)).abs() < 1e-9 * far.max(1.0));
                }
            }
        }
    }

    #[test]
    fn threads_change_no_bit() {
        let (data, _) = data(3.0, false, 4);
        let expected = moments(&data, 2, &Workers::none());
        for threads in [1, 2, 3] {
            assert_eq!(moments(&data, 2, &Workers::new(threads).unwrap()), expected);
        }
        let bytes = expected[0].to_bytes();
        assert_eq!(Moments::from_bytes(&bytes).unwrap(), expected[0]);
        assert!(Moments::from_bytes(&bytes[1..]).is_none());
    }

    #[test]
    fn wrong_moments_are_told_from_right_ones() {
        let (data, _) = data(3.0, false, 5);
        let right = moments(&data, 3, &Workers::none());
        let known: Vec<Vec<f64>> = right.iter().map(|part| part.masses().to_vec()).collect();
        let mut told = 0;
        for (part, masses) in right.iter().zip(&known) {
            assert_eq!(part.check(4, masses), Ok(()));
            for place in 0..part.lower.len() {
                let mut wrong = part.clone();
                wrong.lower[place] += 1e-3;
                told += usize::from(wrong.check(4, masses).is_err());
            }
            for k in (0..3).filter(|&k| masses[k] > 0.0) {
                let mut wrong = part.clone();
                wrong.means[k][1] *= 1.0 + 1e-5;
                told += usize::from(wrong.check(4, masses).is_err());
                let mut wrong = part.clone();
                wrong.masses[k] += 1.0;
                told += usize::from(wrong.check(4, masses).is_err());
            }
            let mut wrong = part.clone();
            wrong.spread = f64::NAN;
            told += usize::from(wrong.check(4, masses).is_err());
        }
        let kinds: usize = known.iter().map(|masses| 2 * masses.iter().filter(|mass| **mass > 0.0).count()).sum();
        assert_eq!(told, 3 * 11 + kinds);
    }
}
