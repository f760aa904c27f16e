//! A short name for the content of a data set, to tell whether a model and a file belong together.

use super::Dataset;
use crate::workers::Workers;

impl Dataset {
    /// The BLAKE3 digest, in hexadecimal, of what a learner sees of the data: the shape, the numbers, the labels, and the
    /// weights when given.
    ///
    /// Equal numbers give equal fingerprints, whether they are kept dense or sparse, in f32 or f64, and whether a
    /// zero is written 0 or −0; so do two spellings of a number in the labels (`1`, `+1`). The order of the rows
    /// counts; the columns' names and the group numbers do not. The digest is taken over, in little-endian bytes:
    ///
    /// ```text
    /// "maxmargin data 1", rows: u64, columns: u64, weighted: u8,
    /// for each row:  non-zeros: u64, for each non-zero: column: u64, value: f64,
    ///                label: 0u8 and its number: f64, or 1u8 and its length: u64 and its text,
    ///                weight: f64, when weighted                                     (F.1)
    /// ```
    ///
    /// Cost: O(entries).
    ///
    /// # Examples
    /// ```
    /// use maxmargin::data::{Dataset, Label, Labels, Matrix};
    ///
    /// let labels = Labels::new(["a", "b"].map(Label::new));
    /// let matrix = Matrix::dense(2, 2, vec![1.0, 0.0, 0.5, 0.0])?;
    /// let sparse = Dataset::new(matrix.to_sparse(), labels.clone())?;
    /// assert_eq!(Dataset::new(matrix, labels)?.fingerprint(), sparse.fingerprint());
    /// # Ok::<(), maxmargin::Error>(())
    /// ```
    pub fn fingerprint(&self) -> String {
        self.fingerprint_by(&Workers::none())
    }

    /// The same on several threads.
    pub(crate) fn fingerprint_by(&self, workers: &Workers) -> String {
        let mut print = Fingerprint::new(self.rows() as u64, self.columns(), self.weights().is_some());
        print.add(self, workers);
        print.finish()
    }

    /// A row's bytes of (F.1).
    fn add_row(&self, row: usize, labels: &[Vec<u8>], bytes: &mut Vec<u8>) {
        let start = bytes.len();
        bytes.extend([0; 8]);
        let mut count = 0u64;
        self.matrix().visit(row, |column, value| {
            if value != 0.0 {
                count += 1;
                let mut entry = [0; 16];
                entry[..8].copy_from_slice(&(column as u64).to_le_bytes());
                entry[8..].copy_from_slice(&value.to_le_bytes());
                bytes.extend_from_slice(&entry);
            }
        });
        bytes[start..start + 8].copy_from_slice(&count.to_le_bytes());
        bytes.extend_from_slice(&labels[self.labels().codes()[row] as usize]);
        if let Some(weights) = self.weights() {
            // -0 and 0 are one weight.
            bytes.extend_from_slice(&(weights[row] + 0.0).to_le_bytes());
        }
    }
}

/// [`Dataset::fingerprint`] of data that comes in blocks of rows.
pub(crate) struct Fingerprint(blake3::Hasher);

impl Fingerprint {
    /// Of so many rows and columns, with weights or without.
    pub(crate) fn new(rows: u64, columns: usize, weighted: bool) -> Self {
        let mut hasher = blake3::Hasher::new();
        // (F.1)
        hasher.update(b"maxmargin data 1");
        hasher.update(&rows.to_le_bytes());
        hasher.update(&(columns as u64).to_le_bytes());
        hasher.update(&[u8::from(weighted)]);
        Fingerprint(hasher)
    }

    /// Adds the next rows.
    pub(crate) fn add(&mut self, data: &Dataset, workers: &Workers) {
        let labels: Vec<Vec<u8>> = data.labels().classes().iter().map(label_bytes).collect();
        let entries = data.matrix().entries().div_ceil(data.rows().max(1));
        let rows_a_chunk = (BYTES_A_CHUNK / (16 * entries + 32)).max(1);
        let mut done = 0;
        while done < data.rows() {
            let some = done..(done + CHUNKS_AT_A_TIME * rows_a_chunk).min(data.rows());
            let texts = workers.map_chunks(some.len(), rows_a_chunk, |range| {
                let mut bytes = Vec::with_capacity(range.len() * (16 * entries + 32));
                range.for_each(|row| data.add_row(done + row, &labels, &mut bytes));
                bytes
            });
            texts.iter().for_each(|bytes| workers.hash(&mut self.0, bytes));
            done = some.end;
        }
    }

    /// The digest in hexadecimal.
    pub(crate) fn finish(self) -> String {
        self.0.finalize().to_hex().to_string()
    }
}

/// What is hashed at a time: enough to pay for threads, and little enough to stay in the cache.
const BYTES_A_CHUNK: usize = 1 << 19;
const CHUNKS_AT_A_TIME: usize = 8;

/// What two spellings of one label share.
fn label_bytes(label: &super::Label) -> Vec<u8> {
    match label.number() {
        Some(number) => [&[0][..], &(number + 0.0).to_le_bytes()].concat(),
        None => [&[1][..], &(label.text().len() as u64).to_le_bytes(), label.text().as_bytes()].concat(),
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use crate::data::{Dataset, Label, Labels, Matrix};

    fn data(rows: usize, columns: usize, values: &[f64], labels: &[&str]) -> Dataset {
        let matrix = Matrix::dense(rows, columns, values.to_vec()).unwrap();
        Dataset::new(matrix, Labels::new(labels.iter().map(|&label| Label::new(label)))).unwrap()
    }

    #[test]
    fn a_fingerprint_is_64_hexadecimal_digits_that_never_change() {
        // Made outside of this program from the bytes of (F.1).
        let print = data(2, 2, &[1.0, 0.0, 0.0, 2.5], &["a", "-1"]).fingerprint();
        assert_eq!(print, "9a01bf73cf99f96ec5294ac97fd5d34f0cc1145190dc9fcde1abf7f0790dec9a");
    }

    #[test]
    fn spelling_and_storage_do_not_count() {
        let base = data(2, 2, &[1.0, 0.0, -0.5, 2.0], &["+1", "x"]).fingerprint();
        assert_eq!(data(2, 2, &[1.0, -0.0, -0.5, 2.0], &["1.0", "x"]).fingerprint(), base);
        let stored_zero = Matrix::sparse(2, 2, vec![0, 2, 4], vec![0, 1, 0, 1], vec![1.0f32, 0.0, -0.5, 2.0]).unwrap();
        let other = Dataset::new(stored_zero, Labels::new(["1", "x"].map(Label::new))).unwrap();
        assert_eq!(other.fingerprint(), base);
        let named = other.with_names(vec!["p".into(), "q".into()]).unwrap();
        assert_eq!(named.with_groups(vec![1, 2]).unwrap().fingerprint(), base);
    }

    #[test]
    fn every_part_that_a_learner_sees_counts() {
        let base = data(2, 2, &[1.0, 0.0, -0.5, 2.0], &["1", "x"]);
        let others = [
            data(2, 2, &[1.0, 0.0, -0.5, 2.5], &["1", "x"]),
            data(2, 2, &[0.0, 1.0, -0.5, 2.0], &["1", "x"]),
            data(2, 2, &[-0.5, 2.0, 1.0, 0.0], &["1", "x"]),
            data(2, 3, &[1.0, 0.0, 0.0, -0.5, 2.0, 0.0], &["1", "x"]),
            data(2, 2, &[1.0, 0.0, -0.5, 2.0], &["x", "1"]),
            data(2, 2, &[1.0, 0.0, -0.5, 2.0], &["1", "y"]),
            base.clone().with_weights(vec![1.0, 1.0]).unwrap(),
            base.clone().with_weights(vec![1.0, 2.0]).unwrap(),
            data(0, 0, &[], &[]),
            data(0, 1, &[], &[]),
        ];
        let mut prints: Vec<String> = others.iter().map(Dataset::fingerprint).collect();
        prints.push(base.fingerprint());
        prints.sort();
        prints.dedup();
        assert_eq!(prints.len(), 11);
    }

    proptest! {
        #[test]
        fn dense_and_sparse_single_and_double_are_one(
            values in prop::collection::vec(prop_oneof![Just(0.0f32), -1e3..1e3f32], 12)
        ) {
            let labels = || Labels::new((0..4).map(|row| Label::new(row.to_string())));
            let single = Matrix::dense(4, 3, values.clone()).unwrap();
            let double = Matrix::dense(4, 3, values.iter().map(|&value| f64::from(value)).collect::<Vec<_>>()).unwrap();
            let prints: Vec<String> = [single.to_sparse(), single, double.to_sparse(), double]
                .map(|matrix| Dataset::new(matrix, labels()).unwrap().fingerprint())
                .to_vec();
            prop_assert!(prints.windows(2).all(|pair| pair[0] == pair[1]));
        }
    }
}
