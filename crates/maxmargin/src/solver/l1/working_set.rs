//! The columns that a step looks at: those in use, and those that want to be most.

use crate::data::Matrix;
use crate::data::stored::{StoredRows, on_stored_rows};
use crate::problem::LinearProblem;

/// The most columns for which all of them are in the working set.
const FEW_COLUMNS: usize = 256;
/// Columns of the first working set. Later sets have twice as many as are in use.
const FIRST_COLUMNS: usize = 200;
/// A column stays outside if its product exceeds 1 by at most this part of the violation.
const SMALL_BESIDE: f64 = 0.1;
/// Rows whose entries one thread gathers at a time.
const ROWS_A_CHUNK: usize = 2048;

/// The columns that a step looks at, and a copy of the rows that has no others.
pub(super) struct WorkingSet {
    /// Increasing.
    pub(super) columns: Vec<usize>,
    /// The problem's rows in these columns; `None` where all columns are looked at, in place.
    copy: Option<Matrix>,
    /// 0, 1, .. n − 1: the rows' places in the copy.
    places: Vec<usize>,
}

impl WorkingSet {
    /// All columns where there are few, else none yet.
    pub(super) fn new(problem: &LinearProblem<'_>) -> Self {
        let few = problem.columns() <= FEW_COLUMNS;
        let columns = if few { (0..problem.columns()).collect() } else { Vec::new() };
        let copy = (!few).then(|| Matrix::without_columns(problem.len()));
        let places = if few { Vec::new() } else { (0..problem.len()).collect() };
        WorkingSet { columns, copy, places }
    }

    /// The numbers, and the rows' places among them.
    pub(super) fn rows<'s>(&'s self, problem: &LinearProblem<'s>) -> (&'s Matrix, &'s [usize]) {
        match &self.copy {
            Some(copy) => (copy, &self.places),
            None => (problem.matrix, problem.rows),
        }
    }

    /// Looks at the columns in use, and at those with the largest products `|Σ_i c_i x_ij|` above 1, (L1.2): as many of these
    /// as are in use already. Whether that changed the set.
    ///
    /// A set that has all columns which matter beside the violation of (L1.2) is left as it is.
    pub(super) fn choose(
        &mut self,
        problem: &LinearProblem<'_>,
        weights: &[f64],
        products: &[f64],
        violation: f64,
    ) -> bool {
        if self.copy.is_none() {
            return false;
        }
        let mut looked_at = vec![false; problem.columns()];
        self.columns.iter().for_each(|&j| looked_at[j] = true);
        let matters = |j: usize| weights[j] != 0.0 || products[j].abs() > 1.0 + SMALL_BESIDE * violation;
        if (0..problem.columns()).all(|j| looked_at[j] || !matters(j)) {
            return false;
        }
        let used = weights.iter().filter(|weight| **weight != 0.0).count();
        let mut wanted: Vec<usize> =
            (0..problem.columns()).filter(|&j| weights[j] == 0.0 && products[j].abs() > 1.0).collect();
        let most = used.max(FIRST_COLUMNS);
        if wanted.len() > most {
            let order = |&a: &usize, &b: &usize| products[b].abs().total_cmp(&products[a].abs()).then(a.cmp(&b));
            wanted.select_nth_unstable_by(most, order);
            wanted.truncate(most);
        }
        wanted.extend((0..problem.columns()).filter(|&j| weights[j] != 0.0));
        wanted.sort_unstable();
        self.columns = wanted;
        self.gather(problem);
        true
    }

    /// Copies the chosen columns of the rows.
    fn gather(&mut self, problem: &LinearProblem<'_>) {
        let mut places = vec![u32::MAX; problem.columns()];
        self.columns.iter().enumerate().for_each(|(place, &column)| places[column] = place as u32);
        let (rows, width) = (problem.len(), self.columns.len());
        let copy = if matches!(problem.matrix, Matrix::Dense(_)) {
            let mut values = vec![0.0f64; rows * width];
            problem.workers.fill_chunks(&mut values, ROWS_A_CHUNK * width, |start, out| {
                let rows = &problem.rows[start / width.max(1)..];
                on_stored_rows!(problem.matrix, stored => for (&row, out) in rows.iter().zip(out.chunks_mut(width)) {
                    stored.visit(row, |column, value| {
                        if let Some(out) = out.get_mut(places[column] as usize) {
                            *out = value;
                        }
                    });
                });
            });
            Matrix::dense_with(rows, width, values, problem.workers)
        } else {
            let parts = problem.workers.map_chunks(rows, ROWS_A_CHUNK, |range| {
                let (mut ends, mut indices, mut values) = (Vec::with_capacity(range.len()), Vec::new(), Vec::new());
                on_stored_rows!(problem.matrix, stored => for i in range {
                    stored.visit(problem.rows[i], |column, value| {
                        let place = places[column];
                        if place != u32::MAX {
                            indices.push(place);
                            values.push(value);
                        }
                    });
                    ends.push(values.len() as u64);
                });
                (ends, indices, values)
            });
            let entries = parts.iter().map(|part| part.2.len()).sum();
            let (mut offsets, mut indices) = (Vec::with_capacity(rows + 1), Vec::with_capacity(entries));
            let mut values: Vec<f64> = Vec::with_capacity(entries);
            offsets.push(0u64);
            for (ends, columns, numbers) in parts {
                let before = values.len() as u64;
                offsets.extend(ends.into_iter().map(|end| before + end));
                indices.extend(columns);
                values.extend(numbers);
            }
            Matrix::sparse_with(rows, width, offsets, indices, values, problem.workers)
        };
        match copy {
            Ok(copy) => self.copy = Some(copy),
            Err(error) => unreachable!("columns of a matrix are one: {error}"),
        }
    }
}
