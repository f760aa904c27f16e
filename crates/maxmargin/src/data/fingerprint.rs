//! A short name for the content of a data set, to tell whether a model and a file belong together.

use std::ops::Range;

use super::Dataset;
use super::stored::{Stored, StoredRows, on_stored_rows};
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
    /// "maxmargin data 2", rows: u64, columns: u64, weighted: u8,
    /// for each row:  non-zeros: u32, for each of them: column: u32,
    ///                0u8 and for each of them: value: f32, where all are exact in that; else 1u8 and value: f64,
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

    /// The bytes of (F.1) of some rows, in place of what the vector held.
    fn put_rows(&self, rows: Range<usize>, labels: &[LabelBytes], bytes: &mut Vec<u8>) {
        let (codes, weights) = (self.labels().codes(), self.weights());
        let longest = labels.iter().map(LabelBytes::len).max().unwrap_or(0);
        let mut end = 0;
        on_stored_rows!(self.matrix(), stored => for row in rows {
            let most = end + 4 + 1 + ENTRY * stored.stored(row) + longest + 8;
            if bytes.len() < most {
                bytes.resize(most, 0);
            }
            end += put_entries(&stored, row, &mut bytes[end..]);
            end += match &labels[codes[row] as usize] {
                // A length that is known is copied without a call.
                LabelBytes::Number(label) => put_part(label, &mut bytes[end..]),
                LabelBytes::Text(label) => put_part(label, &mut bytes[end..]),
            };
            if let Some(weights) = weights {
                // -0 and 0 are one weight.
                end += put_part(&(weights[row] + 0.0).to_le_bytes(), &mut bytes[end..]);
            }
        });
        bytes.truncate(end);
    }
}

/// Bytes at the beginning of others; how many.
#[inline(always)]
fn put_part(part: &[u8], bytes: &mut [u8]) -> usize {
    bytes[..part.len()].copy_from_slice(part);
    part.len()
}

/// The most bytes that a non-zero takes.
const ENTRY: usize = 12;

/// The non-zeros of a row; how many bytes they take.
#[inline(always)]
fn put_entries(stored: &impl StoredRows, row: usize, bytes: &mut [u8]) -> usize {
    if let Some((columns, values)) = stored.entries(row)
        && let Some(length) = put_non_zeros(columns, values, bytes)
    {
        return length;
    }
    let (mut count, mut exact) = (0, true);
    let (start, columns) = bytes.split_at_mut(4);
    let places = columns.as_chunks_mut::<4>().0;
    stored.visit(row, |column, value| {
        // Written in any case, and overwritten after a 0: which entries are 0 cannot be foreseen.
        places[count] = (column as u32).to_le_bytes();
        count += usize::from(value != 0.0);
        exact &= f64::from(value as f32) == value;
    });
    start.copy_from_slice(&(count as u32).to_le_bytes());
    let Some((kind, values)) = columns[4 * count..].split_first_mut() else { return 4 };
    *kind = u8::from(!exact);
    let mut place = 0;
    let (singles, doubles) = match exact {
        true => (values.as_chunks_mut::<4>().0, &mut [][..]),
        false => (&mut [][..], values.as_chunks_mut::<8>().0),
    };
    stored.visit(row, |_, value| {
        match exact {
            true => singles[place] = (value as f32).to_le_bytes(),
            false => doubles[place] = value.to_le_bytes(),
        }
        place += usize::from(value != 0.0);
    });
    5 + count * if exact { 8 } else { 12 }
}

/// The same for a sparse row without zeros, some entries at once; `None` where it has one.
#[inline(always)]
fn put_non_zeros<T: Stored>(columns: &[u32], values: &[T], bytes: &mut [u8]) -> Option<usize> {
    let count = columns.len();
    let (start, rest) = bytes.split_at_mut(4);
    start.copy_from_slice(&(count as u32).to_le_bytes());
    let (places, rest) = rest.split_at_mut(4 * count);
    let (kind, rest) = rest.split_first_mut()?;
    put_columns(columns, places.as_chunks_mut().0);
    let Kinds { zero, inexact } = kinds(values);
    if zero {
        return None;
    }
    *kind = u8::from(inexact);
    match inexact {
        true => put_values(values, &mut rest.as_chunks_mut().0[..count], f64::to_le_bytes),
        false => put_values(values, &mut rest.as_chunks_mut().0[..count], |value| (value as f32).to_le_bytes()),
    }
    Some(5 + count * if inexact { 12 } else { 8 })
}

/// Entries that are looked at or copied at once. Rows are short: what a call to copy one costs is more than the copy.
const AT_ONCE: usize = 4;

#[inline(always)]
fn put_columns(columns: &[u32], places: &mut [[u8; 4]]) {
    let ((blocks, rest), (targets, end)) = (columns.as_chunks::<AT_ONCE>(), places.as_chunks_mut::<AT_ONCE>());
    for (block, target) in blocks.iter().zip(targets) {
        *target = block.map(u32::to_le_bytes);
    }
    for (column, target) in rest.iter().zip(end) {
        *target = column.to_le_bytes();
    }
}

#[inline(always)]
fn put_values<T: Stored, const B: usize>(values: &[T], places: &mut [[u8; B]], put: impl Fn(f64) -> [u8; B]) {
    let ((blocks, rest), (targets, end)) = (values.as_chunks::<AT_ONCE>(), places.as_chunks_mut::<AT_ONCE>());
    for (block, target) in blocks.iter().zip(targets) {
        *target = block.map(|value| put(value.into()));
    }
    for (&value, target) in rest.iter().zip(end) {
        *target = put(value.into());
    }
}

/// Whether there is a 0 among some values, and one that f32 does not hold.
struct Kinds {
    zero: bool,
    inexact: bool,
}

/// The digits of f64 that f32 has not got: a number that has one of them is not exact in that.
const LOW_DIGITS: u64 = (1 << (f64::MANTISSA_DIGITS - f32::MANTISSA_DIGITS)) - 1;

#[inline(always)]
fn kinds<T: Stored>(values: &[T]) -> Kinds {
    let zero = |value: f64| if value == 0.0 { u64::MAX } else { 0 };
    let (blocks, rest) = values.as_chunks::<AT_ONCE>();
    let (mut zeros, mut low) = ([0; AT_ONCE], [0; AT_ONCE]);
    for block in blocks {
        for lane in 0..AT_ONCE {
            let value: f64 = block[lane].into();
            zeros[lane] |= zero(value);
            low[lane] |= value.to_bits();
        }
    }
    for &value in rest {
        let value: f64 = value.into();
        zeros[0] |= zero(value);
        low[0] |= value.to_bits();
    }
    let any = |found: [u64; AT_ONCE]| found.into_iter().fold(0, |any, one| any | one);
    let inexact = any(low) & LOW_DIGITS != 0 || values.iter().any(|&value| value.into() as f32 as f64 != value.into());
    Kinds { zero: any(zeros) != 0, inexact }
}

/// [`Dataset::fingerprint`] of data that comes in blocks of rows.
pub(crate) struct Fingerprint(blake3::Hasher);

impl Fingerprint {
    /// Of so many rows and columns, with weights or without.
    pub(crate) fn new(rows: u64, columns: usize, weighted: bool) -> Self {
        let mut hasher = blake3::Hasher::new();
        // (F.1)
        hasher.update(b"maxmargin data 2");
        hasher.update(&rows.to_le_bytes());
        hasher.update(&(columns as u64).to_le_bytes());
        hasher.update(&[u8::from(weighted)]);
        Fingerprint(hasher)
    }

    /// Adds the next rows.
    pub(crate) fn add(&mut self, data: &Dataset, workers: &Workers) {
        let labels: Vec<LabelBytes> = data.labels().classes().iter().map(LabelBytes::of).collect();
        let entries = data.matrix().entries().div_ceil(data.rows().max(1));
        let size = (BYTES_A_CHUNK / (ENTRY * entries + 32)).max(1);
        let chunk = |k: usize| (k * size).min(data.rows())..((k + 1) * size).min(data.rows());
        // The same memory for all chunks: to ask for it anew each time costs more than to fill it.
        let buffers = vec![(0..0, Vec::new()); CHUNKS_AT_A_TIME];
        let (mut filled, mut next) = (buffers.clone(), buffers);
        workers.inside(|| {
            for first in (0..data.rows().div_ceil(size)).step_by(CHUNKS_AT_A_TIME) {
                next.iter_mut().enumerate().for_each(|(k, (rows, _))| *rows = chunk(first + k));
                let put = |(rows, bytes): &mut (Range<usize>, Vec<u8>)| data.put_rows(rows.clone(), &labels, bytes);
                // Hashing is one after the other, but the next bytes can be made meanwhile.
                workers.both(
                    || filled.iter().for_each(|(_, bytes)| workers.hash(&mut self.0, bytes)),
                    || drop(workers.map_parts(&mut next, put)),
                );
                std::mem::swap(&mut filled, &mut next);
            }
            filled.iter().for_each(|(_, bytes)| workers.hash(&mut self.0, bytes));
        });
    }

    /// The digest in hexadecimal.
    pub(crate) fn finish(self) -> String {
        self.0.finalize().to_hex().to_string()
    }
}

/// What is hashed at a time: enough to pay for threads, and little enough to stay in the cache.
const BYTES_A_CHUNK: usize = 1 << 18;
const CHUNKS_AT_A_TIME: usize = 8;

/// What two spellings of one label share, as bytes.
enum LabelBytes {
    Number([u8; 9]),
    Text(Vec<u8>),
}

impl LabelBytes {
    fn of(label: &super::Label) -> Self {
        match label.number() {
            Some(number) => {
                let mut bytes = [0; 9];
                bytes[1..].copy_from_slice(&(number + 0.0).to_le_bytes());
                LabelBytes::Number(bytes)
            }
            None => {
                let length = (label.text().len() as u64).to_le_bytes();
                LabelBytes::Text([&[1][..], &length, label.text().as_bytes()].concat())
            }
        }
    }

    fn len(&self) -> usize {
        match self {
            LabelBytes::Number(bytes) => bytes.len(),
            LabelBytes::Text(bytes) => bytes.len(),
        }
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
        assert_eq!(print, "162aa3200b871f0d312cf0596404084656e21014340da0e89f1ea3dd1a366477");
        let weighted = data(1, 3, &[0.1, 0.0, 4.0], &["1"]).with_weights(vec![2.0]).unwrap();
        assert_eq!(weighted.fingerprint(), "bfa38edd53eef20bfac48039424b1601599766f098a37faeaed6128a661bab2b");
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
