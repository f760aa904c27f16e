//! Rows like those of text, from a seed, as many as asked for and never all in memory.
//!
//! A row has from 20 to 100 words out of `columns`, of which the first are frequent and the last rare: word j comes up with
//! a probability of about 1/j. Its values are the logarithms of small counts, scaled to length 1 and rounded to five decimals.
//! The label is the side of a hidden plane, with noise:
//!
//! ```text
//! y = sign(⟨w, x⟩ + ε),   w_j and ε (nearly) normal, the latter with standard deviation 0.3   (DG.5)
//! ```
//!
//! The weights of the first 100 words are smaller, by j/100.

use rand::{RngExt, SeedableRng};
use rand_pcg::Pcg64;

use super::generate::two_normals;
use super::{Dataset, Label, Labels, Matrix};
use crate::error::Error;

/// The noise of the labels.
const NOISE: f64 = 0.3;

/// Makes rows block by block: the same seed gives the same rows, however they are cut into blocks.
///
/// # Examples
/// ```
/// use maxmargin::data::TextRows;
///
/// let mut rows = TextRows::new(250, 10_000, 7)?;
/// let sizes: Vec<usize> = std::iter::from_fn(|| rows.next_block(100)).map(|block| block.rows()).collect();
/// assert_eq!(sizes, [100, 100, 50]);
/// # Ok::<(), maxmargin::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct TextRows {
    left: u64,
    columns: usize,
    seed: u64,
    random: Pcg64,
}

impl TextRows {
    /// `rows` rows of `columns` columns.
    ///
    /// # Errors
    /// When there are no rows, or fewer than 200 columns or more than 100 million.
    pub fn new(rows: u64, columns: usize, seed: u64) -> Result<Self, Error> {
        if rows == 0 {
            return Err(Error::parameter("rows", rows, "1 or more"));
        }
        if !(200..=100_000_000).contains(&columns) {
            return Err(Error::parameter("columns", columns, "from 200 to 100000000"));
        }
        Ok(TextRows { left: rows, columns, seed, random: Pcg64::seed_from_u64(seed) })
    }

    /// The next rows, at most so many; `None` when there are no more.
    pub fn next_block(&mut self, most: usize) -> Option<Dataset> {
        let rows = self.left.min(most.max(1) as u64) as usize;
        if rows == 0 {
            return None;
        }
        self.left -= rows as u64;
        let (mut offsets, mut indices, mut values) = (vec![0u64], Vec::new(), Vec::new());
        let mut positive = Vec::with_capacity(rows);
        let mut words: Vec<(u32, f64)> = Vec::new();
        for _ in 0..rows {
            positive.push(self.draw(&mut words));
            indices.extend(words.iter().map(|&(column, _)| column));
            values.extend(words.iter().map(|&(_, value)| value));
            offsets.push(values.len() as u64);
        }
        let labels = Labels::new(positive.iter().map(|&positive| Label::new(if positive { "+1" } else { "-1" })));
        // Increasing columns and finite values, as drawn below.
        let matrix = Matrix::sparse(rows, self.columns, offsets, indices, values).ok()?;
        Dataset::new(matrix, labels).ok().map(Dataset::with_open_columns)
    }

    /// Draws the words of a row, and its side.
    fn draw(&mut self, words: &mut Vec<(u32, f64)>) -> bool {
        words.clear();
        let count = self.random.random_range(20..=100);
        let size = (self.columns as f64 + 1.0).ln();
        for _ in 0..count {
            // Even in the logarithm: word j with a probability of about 1/j.
            let word = (self.random.random::<f64>() * size).exp() as usize;
            words.push((word.clamp(1, self.columns) as u32 - 1, 1.0));
        }
        words.sort_unstable_by_key(|&(column, _)| column);
        words.dedup_by(|next, kept| {
            let same = next.0 == kept.0;
            kept.1 += f64::from(u8::from(same));
            same
        });
        words.iter_mut().for_each(|(_, value)| *value = 1.0 + value.ln());
        let length = words.iter().map(|(_, value)| value * value).sum::<f64>().sqrt();
        words.iter_mut().for_each(|(_, value)| *value = (*value / length * 1e5).round() / 1e5);
        let side: f64 = words.iter().map(|&(column, value)| self.hidden(column) * value).sum();
        side + NOISE * two_normals(&mut self.random)[0] > 0.0
    }

    /// w_j of (DG.5), made anew each time: it depends on the column and the seed alone.
    fn hidden(&self, column: u32) -> f64 {
        // Bits mixed as in SplitMix64 (Steele, Lea and Flood, 2014).
        let mut bits = self.seed.wrapping_add((u64::from(column) + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15));
        bits = (bits ^ (bits >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        bits = (bits ^ (bits >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        bits ^= bits >> 31;
        // Four even draws of variance 1/12 each: near enough to normal.
        let sum: u64 = (0..4).map(|part| (bits >> (16 * part)) & 0xffff).sum();
        let normal = (sum as f64 / 65536.0 - 2.0) * 3f64.sqrt();
        // Words that are in most rows say little; else one of them would decide which label is the frequent one.
        normal * (f64::from(column + 1) / 100.0).min(1.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_same_seed_gives_the_same_rows_however_they_are_cut() {
        let gather = |size: usize, seed: u64| {
            let mut rows = TextRows::new(50, 1000, seed).unwrap();
            let mut all = Vec::new();
            while let Some(block) = rows.next_block(size) {
                all.extend(
                    (0..block.rows())
                        .map(|row| (block.matrix().row(row), block.labels().unwrap().get(row).text().to_string())),
                );
            }
            all
        };
        assert_eq!(gather(50, 1), gather(7, 1));
        assert_ne!(gather(50, 1), gather(50, 2));
        assert_eq!(gather(50, 1).len(), 50);
    }

    #[test]
    fn rows_have_length_1_few_words_and_labels_that_a_plane_tells_apart() {
        let data = TextRows::new(2000, 5000, 3).unwrap().next_block(2000).unwrap();
        let positive = data.labels().unwrap().codes().iter().filter(|&&code| code == 1).count();
        assert!((600..1400).contains(&positive), "{positive}");
        let rows = TextRows::new(1, 5000, 3).unwrap();
        let mut right = 0;
        for row in 0..2000 {
            let (mut square, mut count, mut side) = (0.0, 0, 0.0);
            data.matrix().visit(row, |column, value| {
                (square, count) = (square + value * value, count + 1);
                side += rows.hidden(column as u32) * value;
            });
            assert!((square - 1.0).abs() < 1e-3 && (5..=100).contains(&count));
            right += usize::from((side > 0.0) == (data.labels().unwrap().codes()[row] == 1));
        }
        assert!(right > 1700, "{right}");
    }

    #[test]
    fn sizes_out_of_range_are_refused() {
        assert!(TextRows::new(0, 1000, 1).is_err() && TextRows::new(1, 10, 1).is_err());
    }
}
