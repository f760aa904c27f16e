//! Joins blocks that are read side by side into one data set.
//!
//! Each thread takes the next block, reads it, and hands in its rows. Rows get their places in the order of the blocks, and are copied there
//! side by side. So the result is the same for any number of threads, and so is the reported fault, the first one of the file.
//!
//! Touching new memory takes about as long as reading the text that fills it. So the arrays of the result are allocated once, with the size
//! that a look into the file makes likely, and rows wait in memory that is used again. Rows that do not fit, or come from a stream of
//! unknown length, are kept as they are and copied at the end.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

use maxmargin::Workers;
use maxmargin::data::{AnswerKind, Answers, Dataset, Label, Labels, Matrix};
use maxmargin::error::quoted;

use crate::block::{Block, Cutter};
use crate::error::Error;
use crate::help::{Help, Setting};
use crate::libsvm::group_mismatch;
use crate::limits::check_room;
use crate::parser::{Kind, Parser};
use crate::read::{all_dropped, data_error, no_rows};
use crate::remarks::Tally;
use crate::rows::{First, Rows, Words};

/// How many rows and entries are expected.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Expected {
    pub(crate) rows: usize,
    pub(crate) entries: usize,
}

/// What is known of all rows up to a block.
#[derive(Default)]
pub(crate) struct Summary {
    rows: usize,
    entries: usize,
    filled: u64,
    columns: u64,
    lines: usize,
    /// The labels; of a stream only the first, since all of them may be more than fit into memory.
    words: Words,
    groups: Vec<i64>,
    first: Option<First>,
    tally: Tally,
}

/// Where the rows of a block go.
struct Place {
    /// How many rows and entries are before them.
    rows: usize,
    entries: usize,
    /// The number of each of the block's words among all words.
    codes: Vec<u32>,
}

impl Summary {
    /// Adds the next block, and says where its rows go.
    ///
    /// # Errors
    /// When the block has a fault, or does not fit to the blocks before it.
    fn add(&mut self, parser: &Parser, rows: &mut Rows) -> Result<Place, Error> {
        self.add_counts(parser, rows)?;
        let codes = rows.words.iter().map(|word| self.words.code(word)).collect();
        let (rows, entries) = (self.rows - rows.ends.len(), self.entries - rows.values.len());
        Ok(Place { rows, entries, codes })
    }

    /// Adds the next block but for its labels.
    fn add_counts(&mut self, parser: &Parser, rows: &mut Rows) -> Result<(), Error> {
        if let (Some(first), Some(here)) = (self.first, rows.first)
            && first.has_group != here.has_group
        {
            let (found, expected, help) = group_mismatch(here.has_group);
            let (path, line) = (parser.origin().into(), self.lines + here.group.line);
            let (found, expected, help) = (found.into(), expected.into(), help.into());
            return Err(Error::Syntax { path, line, column: here.group.column, found, expected, help });
        }
        if let Some(fault) = rows.fault.take() {
            return Err(parser.error(fault, self.lines));
        }
        if let (None, Some(mut first)) = (self.first, rows.first) {
            first.label.line += self.lines;
            self.first = Some(first);
        }
        self.rows += rows.ends.len();
        self.entries += rows.values.len();
        self.filled += rows.filled;
        self.columns = self.columns.max(rows.columns);
        self.lines += rows.lines;
        self.groups.append(&mut rows.groups);
        self.tally.add(&rows.tally);
        Ok(())
    }

    /// Checks the text as a whole.
    pub(crate) fn check(&self, parser: &Parser) -> Result<(), Error> {
        if self.rows == 0 {
            return Err(match self.tally.dropped.len() {
                0 => no_rows(parser.origin()),
                _ => all_dropped(parser.origin()),
            });
        }
        // Any word is a label, so a whole CSV file would read as rows without entries.
        if let (Kind::Libsvm(_), 0, Some(first), Some(label)) =
            (&parser.kind, self.columns, self.first, self.words.iter().next())
            && label.contains([',', ';'])
        {
            return Err(Error::Syntax {
                path: parser.origin().into(),
                line: first.label.line,
                column: first.label.column,
                found: quoted(label),
                expected: "LIBSVM text (label index:value ...)".into(),
                help: Help::from("if this is CSV, name the format: ").set(Setting::Format, "csv"),
            });
        }
        Ok(())
    }
}

/// The arrays of a result. Row `i` is from `offsets[i]` to `offsets[i + 1]`.
struct Arrays {
    offsets: Vec<u64>,
    /// One a row, where labels are read.
    codes: Vec<u32>,
    /// One a row, where numbers are read.
    targets: Vec<f64>,
    indices: Vec<u32>,
    values: Vec<f64>,
}

impl Arrays {
    /// Zeros, which take no memory until they are written to.
    fn new(expected: Expected, parser: &Parser) -> Self {
        let indices = if parser.is_dense() { 0 } else { expected.entries };
        let [codes, targets] =
            [parser.has_words(), parser.has_targets()].map(|is_read| if is_read { expected.rows } else { 0 });
        Arrays {
            offsets: vec![0; expected.rows + 1],
            codes: vec![0; codes],
            targets: vec![0.0; targets],
            indices: vec![0; indices],
            values: vec![0.0; expected.entries],
        }
    }

    fn room(&mut self) -> Room<'_> {
        let ends = &mut self.offsets[1..];
        let (codes, targets) = (&mut self.codes, &mut self.targets);
        Room { ends, codes, targets, indices: &mut self.indices, values: &mut self.values }
    }

    fn truncate(&mut self, rows: usize, entries: usize) {
        self.offsets.truncate(rows + 1);
        self.codes.truncate(rows);
        self.targets.truncate(rows);
        self.indices.truncate(entries);
        self.values.truncate(entries);
        self.offsets.shrink_to_fit();
        self.codes.shrink_to_fit();
        self.targets.shrink_to_fit();
        self.indices.shrink_to_fit();
        self.values.shrink_to_fit();
    }
}

/// A part of the arrays.
#[derive(Default)]
struct Room<'a> {
    ends: &'a mut [u64],
    codes: &'a mut [u32],
    targets: &'a mut [f64],
    indices: &'a mut [u32],
    values: &'a mut [f64],
}

impl<'a> Room<'a> {
    /// Takes the first part, as large as the rows of a block need. `None`, and nothing is taken, when the arrays are too short.
    fn take(&mut self, rows: &Rows) -> Option<Room<'a>> {
        let fits = rows.ends.len() <= self.ends.len()
            && rows.indices.len() <= self.indices.len()
            && rows.values.len() <= self.values.len();
        fits.then(|| Room {
            ends: split_off(&mut self.ends, rows.ends.len()),
            codes: split_off(&mut self.codes, rows.codes.len()),
            targets: split_off(&mut self.targets, rows.targets.len()),
            indices: split_off(&mut self.indices, rows.indices.len()),
            values: split_off(&mut self.values, rows.values.len()),
        })
    }

    /// Copies the rows of a block.
    fn fill(self, rows: &Rows, place: &Place) {
        let base = place.entries as u64;
        self.ends.iter_mut().zip(&rows.ends).for_each(|(to, from)| *to = base + from);
        self.codes.iter_mut().zip(&rows.codes).for_each(|(to, from)| *to = place.codes[*from as usize]);
        self.targets.copy_from_slice(&rows.targets);
        self.indices.copy_from_slice(&rows.indices);
        self.values.copy_from_slice(&rows.values);
    }
}

fn split_off<'a, T>(slice: &mut &'a mut [T], count: usize) -> &'a mut [T] {
    let (front, back) = std::mem::take(slice).split_at_mut(count);
    *slice = back;
    front
}

/// What the threads share.
struct Gather<'a> {
    summary: Summary,
    /// Room for the rows to come.
    room: Room<'a>,
    /// Rows that found none, with their places.
    left_over: Vec<(Place, Rows)>,
    /// Blocks that wait for those before them.
    waiting: BTreeMap<usize, Result<Rows, Error>>,
    next: usize,
    error: Option<Error>,
    /// Memory to be used again.
    free: Vec<Rows>,
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Reads all blocks. `go_on` is asked before each, and gives the error of not going on.
///
/// # Errors
/// The first fault of the text.
pub(crate) fn read_all(
    cutter: Cutter<'_>,
    parser: &Parser,
    expected: Expected,
    workers: &Workers,
    go_on: &(dyn Fn() -> Result<(), Error> + Sync),
) -> Result<(Dataset, Tally), Error> {
    // If the expected rows do not fit into memory, the actual ones still may.
    let expected = if check_arrays(parser.origin(), expected).is_ok() { expected } else { Expected::default() };
    let mut arrays = Arrays::new(expected, parser);
    let gather = Gather {
        summary: Summary::default(),
        room: arrays.room(),
        left_over: Vec::new(),
        waiting: BTreeMap::new(),
        next: 0,
        error: None,
        free: Vec::new(),
    };
    let (cutter, gather, is_over) = (Mutex::new(cutter), Mutex::new(gather), AtomicBool::new(false));
    let work = |_: &mut usize| {
        let (mut block, mut rows) = (Block::default(), Rows::default());
        while !is_over.load(Ordering::Relaxed) {
            let mut cut = lock(&cutter);
            // It may have ended while this thread waited.
            if is_over.load(Ordering::Relaxed) {
                break;
            }
            let number = cut.number();
            let taken = go_on().and_then(|()| cut.next(&mut block));
            // Nothing is read after a failure, or after the end.
            if !matches!(taken, Ok(true)) {
                is_over.store(true, Ordering::Relaxed);
            }
            drop(cut);
            let result = match taken {
                Ok(false) => break,
                Ok(true) => {
                    parser.read(&block, &mut rows);
                    Ok(std::mem::take(&mut rows))
                }
                Err(error) => Err(error),
            };
            rows = hand_in(&gather, parser, number, result, &is_over);
        }
    };
    // A text of one block needs no second thread.
    let threads = if expected.rows == 0 && lock(&cutter).is_short() { 1 } else { workers.threads() };
    workers.map_parts(&mut (0..threads).collect::<Vec<_>>(), work);

    let Gather { summary, left_over, error, .. } = gather.into_inner().unwrap_or_else(PoisonError::into_inner);
    if let Some(error) = error {
        return Err(error);
    }
    summary.check(parser)?;
    if !left_over.is_empty() {
        check_arrays(parser.origin(), Expected { rows: summary.rows, entries: summary.entries })?;
    }
    let arrays = finish_arrays(arrays, left_over, &summary, parser, workers);
    finish(arrays, summary, parser, workers)
}

/// Checks that there is memory for the arrays of these rows and entries.
fn check_arrays(origin: &str, expected: Expected) -> Result<(), Error> {
    check_room::<[u64; 2]>(origin, expected.rows).and_then(|()| check_room::<[u64; 2]>(origin, expected.entries))
}

/// Hands in the rows of a block, places all blocks whose turn has come, and returns memory that can be used again.
fn hand_in(
    gather: &Mutex<Gather<'_>>,
    parser: &Parser,
    number: usize,
    result: Result<Rows, Error>,
    is_over: &AtomicBool,
) -> Rows {
    let mut placed = Vec::new();
    let mut shared = lock(gather);
    shared.waiting.insert(number, result);
    loop {
        let next = shared.next;
        let Some(result) = shared.waiting.remove(&next) else { break };
        shared.next += 1;
        if shared.error.is_some() {
            continue;
        }
        let added = result.and_then(|mut rows| shared.summary.add(parser, &mut rows).map(|place| (place, rows)));
        match added {
            Ok((place, rows)) => match shared.room.take(&rows) {
                Some(room) if shared.left_over.is_empty() => placed.push((room, place, rows)),
                _ => {
                    // What comes after must not be placed before it.
                    shared.room = Room::default();
                    shared.left_over.push((place, rows));
                }
            },
            Err(error) => {
                shared.error = Some(error);
                is_over.store(true, Ordering::Relaxed);
            }
        }
    }
    let mut memory = shared.free.pop();
    drop(shared);
    for (room, place, rows) in placed {
        room.fill(&rows, &place);
        if let Some(before) = memory.replace(rows) {
            lock(gather).free.push(before);
        }
    }
    memory.unwrap_or_default()
}

/// The arrays with the rows that had not found a place.
fn finish_arrays(
    mut arrays: Arrays,
    mut left_over: Vec<(Place, Rows)>,
    summary: &Summary,
    parser: &Parser,
    workers: &Workers,
) -> Arrays {
    let Some((first, _)) = left_over.first() else {
        arrays.truncate(summary.rows, summary.entries);
        return arrays;
    };
    let (rows, entries) = (first.rows, first.entries);
    if let [(place, only)] = &mut left_over[..]
        && rows == 0
    {
        // One block is all: it need not be copied.
        let Rows { ends: mut offsets, codes, targets, indices, values, .. } = std::mem::take(only);
        offsets.insert(0, 0);
        let codes = codes.iter().map(|&code| place.codes[code as usize]).collect();
        return Arrays { offsets, codes, targets, indices, values };
    }
    let mut all = Arrays::new(Expected { rows: summary.rows, entries: summary.entries }, parser);
    let mut room = all.room();
    let mut parts: Vec<(Room<'_>, Place, Rows)> = Vec::new();
    // What had found its place, and what had not.
    arrays.truncate(rows, entries);
    let Arrays { offsets, codes: row_codes, targets, indices, values } = arrays;
    let ends = offsets[1..].to_vec();
    let placed = Rows { ends, codes: row_codes, targets, indices, values, ..Rows::default() };
    let codes = (0..summary.words.len() as u32).collect();
    let placed = (Place { rows: 0, entries: 0, codes }, placed);
    for (place, rows) in std::iter::once(placed).chain(left_over) {
        if let Some(part) = room.take(&rows) {
            parts.push((part, place, rows));
        }
    }
    workers.map_parts(&mut parts, |(room, place, rows)| {
        std::mem::take(room).fill(rows, place);
        // Memory that is not needed any more.
        *rows = Rows::default();
    });
    all
}

impl Summary {
    /// How many rows there are so far.
    pub(crate) fn rows(&self) -> usize {
        self.rows
    }

    /// How many columns there are so far.
    pub(crate) fn columns(&self) -> usize {
        self.columns as usize
    }

    /// Adds the next block of a stream, and makes a data set of its rows alone, with at least this number of columns: of those before
    /// the first fault, which comes with it. There is no data set when there are no rows.
    pub(crate) fn add_alone(
        &mut self,
        parser: &Parser,
        rows: &mut Rows,
        least_columns: usize,
    ) -> (Option<Dataset>, Option<Error>) {
        let fault = rows.fault.take().map(|fault| parser.error(fault, self.lines));
        // The row with the fault may have begun with its group.
        rows.groups.truncate(rows.ends.len());
        match self.data_alone(parser, rows, least_columns) {
            Ok(data) => (data, fault),
            Err(error) => (None, Some(error)),
        }
    }

    fn data_alone(&mut self, parser: &Parser, rows: &mut Rows, least_columns: usize) -> Result<Option<Dataset>, Error> {
        self.add_counts(parser, rows)?;
        if let (0, Some(word)) = (self.words.len(), rows.words.iter().next()) {
            self.words.code(word);
        }
        let groups = std::mem::take(&mut self.groups);
        if rows.ends.is_empty() {
            return Ok(None);
        }
        let (codes, targets) = (std::mem::take(&mut rows.codes), std::mem::take(&mut rows.targets));
        let answers = answers(parser, &rows.words, codes, targets);
        let columns = self.columns().max(least_columns);
        let (indices, values) = (std::mem::take(&mut rows.indices), std::mem::take(&mut rows.values));
        let workers = Workers::none();
        let matrix = if parser.is_dense() {
            dense_matrix(rows.ends.len(), columns, values, rows.filled, &workers)
        } else {
            let mut offsets = std::mem::take(&mut rows.ends);
            offsets.insert(0, 0);
            sparse_matrix(columns, offsets, indices, values, &workers)
        };
        let matrix = matrix.map_err(|error| data_error(parser.origin(), error))?;
        parser.dataset(matrix, answers, groups).map(Some)
    }
}

/// The data set of the arrays.
fn finish(arrays: Arrays, summary: Summary, parser: &Parser, workers: &Workers) -> Result<(Dataset, Tally), Error> {
    let Summary { rows, filled, columns, words, groups, tally, .. } = summary;
    let Arrays { offsets, codes, targets, indices, values } = arrays;
    let answers = answers(parser, &words, codes, targets);
    let matrix = if parser.is_dense() {
        dense_matrix(rows, columns as usize, values, filled, workers)
    } else {
        sparse_matrix(columns as usize, offsets, indices, values, workers)
    };
    let matrix = matrix.map_err(|error| data_error(parser.origin(), error))?;
    Ok((parser.dataset(matrix, answers, groups)?, tally))
}

/// What was read of rows beside their columns: the words that `codes` number, or numbers, or nothing.
fn answers(parser: &Parser, words: &Words, codes: Vec<u32>, targets: Vec<f64>) -> Answers {
    match parser.answers() {
        AnswerKind::Classes => Labels::from_spellings(words.iter().map(Label::new), codes).into(),
        AnswerKind::Numbers => targets.into(),
        AnswerKind::None => Answers::None,
    }
}

/// How many rows are written by a thread at a time.
const ROWS_AT_ONCE: usize = 1 << 12;

/// The matrix of compressed rows without zeros: dense when at least half of its numbers are not zero, else sparse.
///
/// A dense matrix then needs at most 16 bytes for each number that is not zero, so no file makes it run away.
pub(crate) fn sparse_matrix(
    columns: usize,
    offsets: Vec<u64>,
    indices: Vec<u32>,
    values: Vec<f64>,
    workers: &Workers,
) -> Result<Matrix, maxmargin::Error> {
    let rows = offsets.len() - 1;
    match rows.checked_mul(columns).filter(|&cells| values.len() >= cells.div_ceil(2)) {
        Some(cells) => {
            let mut dense = vec![0.0; cells];
            workers.fill_chunks(&mut dense, ROWS_AT_ONCE * columns.max(1), |start, chunk| {
                let first = start / columns;
                for row in 0..chunk.len() / columns {
                    for place in offsets[first + row] as usize..offsets[first + row + 1] as usize {
                        chunk[row * columns + indices[place] as usize] = values[place];
                    }
                }
            });
            Matrix::dense_with(rows, columns, dense, workers)
        }
        None => Matrix::sparse_with(rows, columns, offsets, indices, values, workers),
    }
}

/// The matrix of rows with their zeros: dense when at least half of its numbers are not zero, else sparse.
pub(crate) fn dense_matrix(
    rows: usize,
    columns: usize,
    values: Vec<f64>,
    filled: u64,
    workers: &Workers,
) -> Result<Matrix, maxmargin::Error> {
    if filled as usize >= (rows * columns).div_ceil(2) {
        return Matrix::dense_with(rows, columns, values, workers);
    }
    let (mut offsets, mut indices, mut kept) = (Vec::with_capacity(rows + 1), Vec::new(), Vec::new());
    indices.reserve_exact(filled as usize);
    kept.reserve_exact(filled as usize);
    offsets.push(0);
    for row in values.chunks_exact(columns.max(1)) {
        for (column, &value) in row.iter().enumerate().filter(|(_, value)| **value != 0.0) {
            indices.push(column as u32);
            kept.push(value);
        }
        offsets.push(kept.len() as u64);
    }
    Matrix::sparse_with(rows, columns, offsets, indices, kept, workers)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn half_full_is_dense_and_less_is_sparse() {
        let half = sparse_matrix(2, vec![0, 1, 2], vec![0, 1], vec![3.0, 4.0], &Workers::none()).unwrap();
        assert!(matches!(half, Matrix::Dense(_)));
        assert_eq!((half.row(0), half.row(1)), (vec![3.0, 0.0], vec![0.0, 4.0]));
        let less = sparse_matrix(3, vec![0, 1, 2], vec![0, 1], vec![3.0, 4.0], &Workers::none()).unwrap();
        assert!(matches!(less, Matrix::Sparse(_)));
        assert_eq!((less.row(0), less.row(1)), (vec![3.0, 0.0, 0.0], vec![0.0, 4.0, 0.0]));
    }
}
