//! A short name for the content of a data set, to tell whether a model and a file belong together.

use std::ops::Range;

use bytemuck::NoUninit;

use super::stored::{Stored, StoredRows, on_stored_rows};
use super::{Answers, Dataset};
use crate::workers::Workers;

impl Dataset {
    /// The BLAKE3 digest, in hexadecimal, of what a learner sees of the data: the shape, the numbers, the answers, and the
    /// weights when given.
    ///
    /// Equal numbers give equal fingerprints, whether they are kept dense or sparse, in f32 or f64, and whether a
    /// zero is written 0 or −0; so do two spellings of a number in the labels (`1`, `+1`). The order of the rows
    /// counts; the columns' names and the group numbers do not. The digest is taken over, in little-endian bytes:
    ///
    /// ```text
    /// "maxmargin data 3", rows: u64, columns: u64, weighted: u8,
    /// for each 2048 rows, and for those that are left, the BLAKE3 digests of four lists:
    ///     for each row:       how many non-zeros it has: u32,
    ///     for each non-zero:  its column: u8 of up to 256 columns, u16 of up to 65536, else u32,
    ///     for each non-zero:  its value: f32, where all of the list are exact in that; else f64,
    ///     for each row:       its answer: 0u8 and its number: f64, or 1u8 and its length: u64 and its text,
    ///                         its weight: f64, when weighted                                     (F.1)
    /// ```
    ///
    /// A target and a label that spells it have equal bytes; a row without an answer has those of the number 0.
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

    /// Whether a fingerprint is of this data. Rows without answers have two: the Python package once gave each of them the label 1.
    ///
    /// Cost: that of [`Dataset::fingerprint`], twice for rows without answers.
    pub fn has_fingerprint(&self, fingerprint: &str, workers: &Workers) -> bool {
        let is_of = |data: &Dataset| data.fingerprint_by(workers) == fingerprint;
        let as_ones = || self.clone().with_answers(vec![1.0; self.rows()]);
        is_of(self) || self.answers().is_none() && as_ones().is_ok_and(|data| is_of(&data))
    }

    /// [`Dataset::fingerprint`] on several threads.
    pub(crate) fn fingerprint_by(&self, workers: &Workers) -> String {
        let mut print = Fingerprint::new(self.rows() as u64, self.columns(), self.weights().is_some());
        print.add(self, workers);
        print.finish()
    }
}

/// [`Dataset::fingerprint`] of data that comes in blocks of rows.
pub(crate) struct Fingerprint {
    whole: blake3::Hasher,
    /// The group that the next row belongs to.
    last: Group,
}

impl Fingerprint {
    /// Of so many rows and columns, with weights or without.
    pub(crate) fn new(rows: u64, columns: usize, weighted: bool) -> Self {
        let mut whole = blake3::Hasher::new();
        // (F.1)
        whole.update(b"maxmargin data 3");
        whole.update(&rows.to_le_bytes());
        whole.update(&(columns as u64).to_le_bytes());
        whole.update(&[u8::from(weighted)]);
        Fingerprint { whole, last: Group::new(columns) }
    }

    /// Adds the next rows.
    pub(crate) fn add(&mut self, data: &Dataset, workers: &Workers) {
        let answers = AnswerBytes::of(data.answers());
        let begun = ((ROWS_A_GROUP - self.last.rows) % ROWS_A_GROUP).min(data.rows());
        self.last.add(data, 0..begun, &answers);
        if self.last.rows == ROWS_A_GROUP {
            self.whole.update(self.last.finish().as_flattened());
        }
        let (width, whole) = (self.last.width, (data.rows() - begun) / ROWS_A_GROUP * ROWS_A_GROUP);
        let digests = workers.map_chunks(whole, ROWS_A_GROUP, |rows| {
            let mut group = Group::new(width);
            group.add(data, begun + rows.start..begun + rows.end, &answers);
            group.finish()
        });
        self.whole.update(digests.as_flattened().as_flattened());
        self.last.add(data, begun + whole..data.rows(), &answers);
    }

    /// The digest in hexadecimal.
    pub(crate) fn finish(mut self) -> String {
        if self.last.rows > 0 {
            self.whole.update(self.last.finish().as_flattened());
        }
        self.whole.finalize().to_hex().to_string()
    }
}

type Digest = [u8; blake3::OUT_LEN];

/// Rows whose lists are hashed by themselves: they are the same, whatever blocks the rows come in, and each thread has its own.
const ROWS_A_GROUP: usize = 2048;
/// The lists of a group.
const LISTS: usize = 4;
/// Numbers that are put together before they are hashed. BLAKE3 is a tree: what is no whole branch of it takes longer.
const NUMBERS_AT_ONCE: usize = 1 << 15;

/// The lists of some rows, as far as they were added.
struct Group {
    rows: usize,
    /// Columns of the data.
    width: usize,
    /// Whether all values are exact in f32.
    exact: bool,
    counts: blake3::Hasher,
    columns: blake3::Hasher,
    /// The values in either precision, where it is not known yet which one counts.
    singles: blake3::Hasher,
    doubles: blake3::Hasher,
    answers: blake3::Hasher,
}

impl Group {
    /// None yet of rows with so many columns.
    fn new(width: usize) -> Self {
        let [counts, columns, singles, doubles, answers] = std::array::from_fn(|_| blake3::Hasher::new());
        Group { rows: 0, width, exact: true, counts, columns, singles, doubles, answers }
    }

    /// Adds rows that follow each other.
    fn add(&mut self, data: &Dataset, rows: Range<usize>, answers: &AnswerBytes<'_>) {
        self.add_answers(data, rows.clone(), answers);
        on_stored_rows!(data.matrix(), stored => self.add_entries(&stored, rows.clone()));
        self.rows += rows.len();
    }

    fn add_answers(&mut self, data: &Dataset, rows: Range<usize>, answers: &AnswerBytes<'_>) {
        let mut bytes = Vec::with_capacity(rows.len() * (9 + 8));
        for row in rows {
            answers.extend(row, &mut bytes);
            if let Some(weights) = data.weights() {
                // -0 and 0 are one weight.
                bytes.extend_from_slice(&(weights[row] + 0.0).to_le_bytes());
            }
        }
        self.answers.update(&bytes);
    }

    fn add_entries(&mut self, stored: &impl StoredRows, rows: Range<usize>) {
        let (columns, values) = stored.span(rows.clone());
        let Kinds { zero, inexact } = kinds(values);
        self.exact &= !inexact;
        let all = rows.len() == ROWS_A_GROUP;
        let mut counts = Vec::with_capacity(rows.len());
        match columns {
            Some(columns) if !zero => {
                counts.extend(rows.map(|row| stored.stored(row) as u32));
                self.hash_entries(columns, values, all);
            }
            _ => self.add_non_zeros(stored, rows, all, &mut counts),
        }
        hash_numbers(&mut self.counts, &counts);
    }

    /// The same where not all that is stored is a non-zero, or has its column stored with it.
    fn add_non_zeros(&mut self, stored: &impl StoredRows, rows: Range<usize>, all: bool, counts: &mut Vec<u32>) {
        let (mut columns, mut values, mut end) = (Vec::new(), Vec::new(), 0);
        for row in rows {
            let (start, most) = (end, end + stored.stored(row));
            if columns.len() < most {
                columns.resize(most.next_power_of_two(), 0);
                values.resize(most.next_power_of_two(), 0.0);
            }
            stored.visit(row, |column, value| {
                // Written in any case, and overwritten after a 0: which entries are 0 cannot be foreseen.
                (columns[end], values[end]) = (column as u32, value);
                end += usize::from(value != 0.0);
            });
            counts.push((end - start) as u32);
            let whole = end / NUMBERS_AT_ONCE * NUMBERS_AT_ONCE;
            if whole > 0 {
                self.hash_entries(&columns[..whole], &values[..whole], all);
                columns.copy_within(whole..end, 0);
                values.copy_within(whole..end, 0);
                end -= whole;
            }
        }
        self.hash_entries(&columns[..end], &values[..end], all);
    }

    /// Hashes non-zeros, the group's precision being known when `all` its rows are.
    fn hash_entries<T: Stored>(&mut self, columns: &[u32], values: &[T], all: bool) {
        match self.width {
            0..=0x100 => hash_as(&mut self.columns, columns, |column| column as u8),
            0x101..=0x1_0000 => hash_as(&mut self.columns, columns, |column| column as u16),
            _ => hash_numbers(&mut self.columns, columns),
        }
        if self.exact {
            hash_as(&mut self.singles, values, |value| value.into() as f32);
        }
        if !(self.exact && all) {
            hash_as(&mut self.doubles, values, T::into);
        }
    }

    /// The digests of the lists, which are empty then.
    fn finish(&mut self) -> [Digest; LISTS] {
        let Group { exact, counts, columns, singles, doubles, answers, .. } =
            std::mem::replace(self, Group::new(self.width));
        let values = if exact { singles } else { doubles };
        [counts, columns, values, answers].map(|list| list.finalize().into())
    }
}

/// Hashes numbers as others, from where they are stored if they are just those.
fn hash_as<T: NoUninit, N: NoUninit>(hasher: &mut blake3::Hasher, numbers: &[T], convert: impl Fn(T) -> N) {
    if size_of::<T>() == size_of::<N>() {
        return hash_numbers(hasher, numbers);
    }
    for numbers in numbers.chunks(NUMBERS_AT_ONCE) {
        let converted: Vec<N> = numbers.iter().map(|&number| convert(number)).collect();
        hash_numbers(hasher, &converted);
    }
}

/// Hashes numbers as little-endian bytes, which is how most machines store them.
fn hash_numbers<N: NoUninit>(hasher: &mut blake3::Hasher, numbers: &[N]) {
    let bytes: &[u8] = bytemuck::cast_slice(numbers);
    if cfg!(target_endian = "big") {
        let turned: Vec<u8> = bytes.chunks(size_of::<N>()).flat_map(|number| number.iter().rev().copied()).collect();
        hasher.update(&turned);
    } else {
        hasher.update(bytes);
    }
}

/// Whether there is a 0 among some values, and one that f32 does not hold.
struct Kinds {
    zero: bool,
    inexact: bool,
}

/// Values that are looked at before it is asked whether both are known.
const LOOKED_AT: usize = 1024;

fn kinds<T: Stored>(values: &[T]) -> Kinds {
    let mut found = Kinds { zero: false, inexact: false };
    for values in values.chunks(LOOKED_AT) {
        found.zero = found.zero || any(values, |value| value == 0.0);
        found.inexact = found.inexact || any(values, |value| f64::from(value as f32) != value);
        if found.zero && found.inexact {
            break;
        }
    }
    found
}

/// Whether any value is so, found without a way out of the loop.
fn any<T: Stored>(values: &[T], is_so: impl Fn(f64) -> bool) -> bool {
    values.iter().fold(false, |any, &value| any | is_so(value.into()))
}

/// The bytes of answers.
enum AnswerBytes<'a> {
    /// The code of each row, and the bytes of each class.
    Classes(&'a [u32], Vec<LabelBytes>),
    Numbers(&'a [f64]),
    None,
}

impl<'a> AnswerBytes<'a> {
    fn of(answers: &'a Answers) -> Self {
        match answers {
            Answers::Classes(labels) => {
                AnswerBytes::Classes(labels.codes(), labels.classes().iter().map(LabelBytes::of).collect())
            }
            Answers::Numbers(numbers) => AnswerBytes::Numbers(numbers),
            Answers::None => AnswerBytes::None,
        }
    }

    /// Appends the bytes of a row's answer.
    fn extend(&self, row: usize, bytes: &mut Vec<u8>) {
        match self {
            // A length that is known is copied without a call.
            AnswerBytes::Classes(codes, classes) => match &classes[codes[row] as usize] {
                LabelBytes::Number(label) => bytes.extend_from_slice(label),
                LabelBytes::Text(label) => bytes.extend_from_slice(label),
            },
            AnswerBytes::Numbers(numbers) => bytes.extend_from_slice(&bytes_of_number(numbers[row])),
            AnswerBytes::None => bytes.extend_from_slice(&bytes_of_number(0.0)),
        }
    }
}

/// 0u8 and a number, of which -0 and 0 are one.
fn bytes_of_number(number: f64) -> [u8; 9] {
    let mut bytes = [0; 9];
    bytes[1..].copy_from_slice(&(number + 0.0).to_le_bytes());
    bytes
}

/// What two spellings of one label share, as bytes.
enum LabelBytes {
    Number([u8; 9]),
    Text(Vec<u8>),
}

impl LabelBytes {
    fn of(label: &super::Label) -> Self {
        match label.number() {
            Some(number) => LabelBytes::Number(bytes_of_number(number)),
            None => {
                let length = (label.text().len() as u64).to_le_bytes();
                LabelBytes::Text([&[1][..], &length, label.text().as_bytes()].concat())
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::{Fingerprint, ROWS_A_GROUP};
    use crate::data::{Dataset, Label, Labels, Matrix};
    use crate::workers::Workers;

    fn data(rows: usize, columns: usize, values: &[f64], labels: &[&str]) -> Dataset {
        let matrix = Matrix::dense(rows, columns, values.to_vec()).unwrap();
        Dataset::new(matrix, Labels::new(labels.iter().map(|&label| Label::new(label)))).unwrap()
    }

    #[test]
    fn a_fingerprint_is_64_hexadecimal_digits_that_never_change() {
        // Made outside of this program from the bytes of (F.1).
        let print = data(2, 2, &[1.0, 0.0, 0.0, 2.5], &["a", "-1"]).fingerprint();
        assert_eq!(print, "37fcc641370db2729c70706b72485682ad94cc46691413347ecdb19c6943ca9b");
        let weighted = data(1, 3, &[0.1, 0.0, 4.0], &["1"]).with_weights(vec![2.0]).unwrap();
        assert_eq!(weighted.fingerprint(), "3936062b4d11ea6320d5dd3576a5d6d1cca78b4180c3a698e1f08f88bece372b");
        let last_of = |columns: usize| {
            let matrix = Matrix::sparse(1, columns, vec![0, 1], vec![columns as u32 - 1], vec![1.0]).unwrap();
            Dataset::new(matrix, Labels::new([Label::new("1")])).unwrap().fingerprint()
        };
        assert_eq!(last_of(257), "34c5b35a738be7ed9c98a52ce81d9bae91119080189e48c773f40a25f54f3851");
        assert_eq!(last_of(65_537), "cffc6fa9ec53729d1ebcd9103b2214e03f2f12043d4d96a8d532133b5c1c2363");
    }

    #[test]
    fn neither_blocks_of_rows_nor_threads_nor_stored_zeros_count() {
        let (rows, columns) = (2 * ROWS_A_GROUP + 700, 3);
        // Values of the second group are not exact in f32; each seventh entry is 0.
        let value =
            |i: usize| (i % 7) as f64 + if i / columns / ROWS_A_GROUP == 1 && !i.is_multiple_of(7) { 0.1 } else { 0.0 };
        let values: Vec<f64> = (0..rows * columns).map(value).collect();
        let labels = || Labels::new((0..rows).map(|row| Label::new(["a", "1", "-1"][row % 3])));
        let offsets: Vec<u64> = (0..=rows as u64).map(|row| row * columns as u64).collect();
        let indices: Vec<u32> = (0..rows * columns).map(|i| (i % columns) as u32).collect();
        let with_zeros = Matrix::sparse(rows, columns, offsets, indices, values.clone()).unwrap();
        let dense = Matrix::dense(rows, columns, values).unwrap();
        let prints: Vec<String> = [dense.to_sparse(), dense, with_zeros]
            .into_iter()
            .flat_map(|matrix| {
                let data = Dataset::new(matrix, labels()).unwrap();
                let in_blocks = [1000, ROWS_A_GROUP, 3001].map(|size| {
                    let mut print = Fingerprint::new(rows as u64, columns, false);
                    for start in (0..rows).step_by(size) {
                        let block: Vec<usize> = (start..(start + size).min(rows)).collect();
                        print.add(&data.select_rows(&block), &Workers::none());
                    }
                    print.finish()
                });
                let by = [1, 2, 3].map(|threads| data.fingerprint_by(&Workers::new(threads).unwrap()));
                in_blocks.into_iter().chain(by).collect::<Vec<_>>()
            })
            .collect();
        assert!(prints.windows(2).all(|pair| pair[0] == pair[1]), "{prints:?}");
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
    fn targets_are_hashed_as_the_labels_that_spell_them_and_no_answer_as_the_label_0() {
        let rows = ROWS_A_GROUP + 3;
        let matrix = || Matrix::dense(rows, 1, (0..rows).map(|row| row as f64).collect::<Vec<_>>()).unwrap();
        let targets: Vec<f64> =
            (0..rows).map(|row| (row as f64 * 0.37).sin() * 10f64.powi(row as i32 % 40 - 20)).collect();
        let labels =
            |texts: Vec<String>| Dataset::new(matrix(), Labels::new(texts.into_iter().map(Label::new))).unwrap();
        let numbers = Dataset::new(matrix(), targets.clone()).unwrap();
        // What Python made of targets before they had a type.
        let spelled = labels(targets.iter().map(|target| format!("{target:?}")).collect());
        assert_eq!(numbers.fingerprint(), spelled.fingerprint());
        assert_eq!(Dataset::unlabelled(matrix()).fingerprint(), labels(vec!["0".into(); rows]).fingerprint());
        let (workers, unlabelled) = (Workers::none(), Dataset::unlabelled(matrix()));
        let known = [&unlabelled, &labels(vec!["1".into(); rows]), &numbers].map(|data| {
            let print = data.fingerprint();
            (unlabelled.has_fingerprint(&print, &workers), data.has_fingerprint(&print, &workers))
        });
        assert_eq!(known, [(true, true), (true, true), (false, true)]);
        assert!(!numbers.has_fingerprint(&unlabelled.fingerprint(), &workers));
        let mut other = targets;
        other[rows - 1] += 1.0;
        assert_ne!(Dataset::new(matrix(), other).unwrap().fingerprint(), numbers.fingerprint());
        let zeros = |zero: f64| Dataset::new(matrix(), vec![zero; rows]).unwrap().fingerprint();
        assert_eq!(zeros(-0.0), zeros(0.0));
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
