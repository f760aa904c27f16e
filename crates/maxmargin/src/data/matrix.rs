//! Rows and columns of numbers, dense or sparse, in single or double precision.

use super::Buffer;
use crate::error::Error;
use crate::workers::Workers;

/// How many rows, and how many numbers, a thread checks at a time.
const CHECKED_ROWS: usize = 1 << 14;
const CHECKED_VALUES: usize = 1 << 18;

/// The numbers of a matrix, in the precision they came in. Arithmetic on them is in f64.
#[derive(Clone, Debug)]
pub enum Values {
    /// Single precision.
    F32(Buffer<f32>),
    /// Double precision.
    F64(Buffer<f64>),
}

impl Values {
    /// How many numbers there are.
    pub fn len(&self) -> usize {
        match self {
            Values::F32(values) => values.len(),
            Values::F64(values) => values.len(),
        }
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Number `k`.
    pub fn get(&self, k: usize) -> f64 {
        match self {
            Values::F32(values) => f64::from(values[k]),
            Values::F64(values) => values[k],
        }
    }

    /// The place of the first number that is not finite.
    fn first_not_finite(&self, workers: &Workers) -> Option<usize> {
        match self {
            Values::F32(values) => first(values, workers, |value| !value.is_finite()),
            Values::F64(values) => first(values, workers, |value| !value.is_finite()),
        }
    }
}

/// The place of the first number for which `is` holds.
fn first<T: Copy + Sync>(values: &[T], workers: &Workers, is: impl Fn(T) -> bool + Sync) -> Option<usize> {
    let found = workers.map_chunks(values.len(), CHECKED_VALUES, |some| {
        let start = some.start;
        // Without a way out in the middle, this is done many at a time.
        let any = values[some.clone()].iter().fold(false, |any, &value| any | is(value));
        any.then(|| values[some].iter().position(|&value| is(value)).unwrap_or(0) + start)
    });
    found.into_iter().flatten().next()
}

impl From<Vec<f64>> for Values {
    fn from(values: Vec<f64>) -> Self {
        Values::F64(values.into())
    }
}

impl From<Vec<f32>> for Values {
    fn from(values: Vec<f32>) -> Self {
        Values::F32(values.into())
    }
}

/// A dense matrix, row after row.
#[derive(Clone, Debug)]
pub struct Dense {
    rows: usize,
    columns: usize,
    values: Values,
}

impl Dense {
    /// All numbers, row after row.
    pub fn values(&self) -> &Values {
        &self.values
    }
}

/// A sparse matrix in compressed rows: the entries of row `i` are `offsets[i]..offsets[i + 1]`, their columns increasing.
#[derive(Clone, Debug)]
pub struct Csr {
    rows: usize,
    columns: usize,
    offsets: Buffer<u64>,
    indices: Buffer<u32>,
    values: Values,
}

impl Csr {
    /// Where each row begins; one more than there are rows.
    pub fn offsets(&self) -> &[u64] {
        &self.offsets
    }

    /// The column of each entry.
    pub fn indices(&self) -> &[u32] {
        &self.indices
    }

    /// The number of each entry.
    pub fn values(&self) -> &Values {
        &self.values
    }

    /// Offsets and columns, shared.
    pub(crate) fn buffers(&self) -> (Buffer<u64>, Buffer<u32>) {
        (self.offsets.clone(), self.indices.clone())
    }

    fn span(&self, row: usize) -> std::ops::Range<usize> {
        self.offsets[row] as usize..self.offsets[row + 1] as usize
    }

    /// Checks that the columns of a row increase, and that there are as many.
    fn check_row(&self, row: usize) -> Result<(), Error> {
        let entries = &self.indices[self.span(row)];
        if !entries.is_sorted_by(|a, b| a < b) {
            return Err(Error::Data {
                what: format!("the columns of row {} do not increase", row + 1),
                help: "sort each row by column and join repeated columns".into(),
            });
        }
        match entries.last() {
            Some(&last) if last as usize >= self.columns => Err(Error::Shape {
                operation: "sparse matrix",
                left: format!("column {} in row {}", last as u64 + 1, row + 1),
                right: format!("{} columns", self.columns),
            }),
            _ => Ok(()),
        }
    }
}

/// A matrix of finite numbers, dense or sparse. Rows are points, columns are features.
///
/// # Examples
/// ```
/// use maxmargin::data::Matrix;
///
/// let dense = Matrix::dense(2, 3, vec![1.0, 0.0, 2.0, 0.0, 0.0, 3.0])?;
/// let sparse = Matrix::sparse(2, 3, vec![0, 2, 3], vec![0, 2, 2], vec![1.0, 2.0, 3.0])?;
/// assert_eq!(dense.row(0), sparse.row(0));
/// # Ok::<(), maxmargin::Error>(())
/// ```
#[derive(Clone, Debug)]
pub enum Matrix {
    /// All numbers are kept.
    Dense(Dense),
    /// Zeros are left out.
    Sparse(Csr),
}

impl Matrix {
    /// A dense matrix from its numbers, row after row.
    ///
    /// # Errors
    /// When the count of numbers is not `rows * columns`, or one of them is not finite.
    pub fn dense(rows: usize, columns: usize, values: impl Into<Values>) -> Result<Self, Error> {
        Self::dense_with(rows, columns, values, &Workers::none())
    }

    /// As [`Matrix::dense`], checked on all threads.
    ///
    /// # Errors
    /// As [`Matrix::dense`], with the same first fault.
    pub fn dense_with(
        rows: usize,
        columns: usize,
        values: impl Into<Values>,
        workers: &Workers,
    ) -> Result<Self, Error> {
        let values = values.into();
        check_columns(columns)?;
        if rows.checked_mul(columns) != Some(values.len()) {
            return Err(Error::Shape {
                operation: "dense matrix",
                left: format!("{} numbers", values.len()),
                right: format!("{rows} rows x {columns} columns"),
            });
        }
        if let Some(place) = values.first_not_finite(workers) {
            return Err(not_finite(values.get(place), place / columns, place % columns));
        }
        Ok(Matrix::Dense(Dense { rows, columns, values }))
    }

    /// A sparse matrix from compressed rows; see [`Csr`].
    ///
    /// # Errors
    /// When the offsets do not rise from 0 to the count of entries, a row's columns do not increase, a column is out of
    /// range, or a number is not finite.
    pub fn sparse(
        rows: usize,
        columns: usize,
        offsets: impl Into<Buffer<u64>>,
        indices: impl Into<Buffer<u32>>,
        values: impl Into<Values>,
    ) -> Result<Self, Error> {
        Self::sparse_with(rows, columns, offsets, indices, values, &Workers::none())
    }

    /// As [`Matrix::sparse`], checked on all threads.
    ///
    /// # Errors
    /// As [`Matrix::sparse`], with the same first fault.
    pub fn sparse_with(
        rows: usize,
        columns: usize,
        offsets: impl Into<Buffer<u64>>,
        indices: impl Into<Buffer<u32>>,
        values: impl Into<Values>,
        workers: &Workers,
    ) -> Result<Self, Error> {
        let (offsets, indices, values) = (offsets.into(), indices.into(), values.into());
        check_columns(columns)?;
        let shape = |left: String, right: String| Error::Shape { operation: "sparse matrix", left, right };
        if indices.len() != values.len() {
            return Err(shape(format!("{} columns", indices.len()), format!("{} values", values.len())));
        }
        if rows.checked_add(1) != Some(offsets.len())
            || offsets.first() != Some(&0)
            || offsets.last() != Some(&(values.len() as u64))
            || !offsets.is_sorted()
        {
            return Err(shape(
                format!("{} row offsets", offsets.len()),
                format!("{rows} rows with {} entries, rising from 0", values.len()),
            ));
        }
        let matrix = Csr { rows, columns, offsets, indices, values };
        workers
            .map_chunks(rows, CHECKED_ROWS, |some| some.into_iter().try_for_each(|row| matrix.check_row(row)))
            .into_iter()
            .collect::<Result<(), _>>()?;
        if let Some(place) = matrix.values.first_not_finite(workers) {
            let row = matrix.offsets.partition_point(|&offset| offset <= place as u64) - 1;
            return Err(not_finite(matrix.values.get(place), row, matrix.indices[place] as usize));
        }
        Ok(Matrix::Sparse(matrix))
    }

    /// A sparse matrix from triplets of row, column and number, in any order, rows and columns counted from 0. Places that none of them names
    /// are zeros.
    ///
    /// # Errors
    /// When a place is out of range or named twice, or a number is not finite.
    ///
    /// # Examples
    /// ```
    /// use maxmargin::data::Matrix;
    ///
    /// let matrix = Matrix::from_entries(2, 3, [(1, 0, 5.0), (0, 2, 1.5)])?;
    /// assert_eq!((matrix.row(0), matrix.row(1)), (vec![0.0, 0.0, 1.5], vec![5.0, 0.0, 0.0]));
    /// # Ok::<(), maxmargin::Error>(())
    /// ```
    pub fn from_entries(
        rows: usize,
        columns: usize,
        entries: impl IntoIterator<Item = (usize, usize, f64)>,
    ) -> Result<Self, Error> {
        check_columns(columns)?;
        let mut entries: Vec<(usize, usize, f64)> = entries.into_iter().collect();
        entries.sort_by_key(|&(row, column, _)| (row, column));
        let outside = |&&(row, column, _): &&(usize, usize, f64)| row >= rows || column >= columns;
        if let Some((row, column, _)) = entries.iter().find(outside) {
            return Err(Error::Shape {
                operation: "sparse matrix",
                left: format!("an entry in row {}, column {}", *row as u64 + 1, *column as u64 + 1),
                right: format!("{rows} rows x {columns} columns"),
            });
        }
        let is_same = |pair: &&[(usize, usize, f64)]| (pair[0].0, pair[0].1) == (pair[1].0, pair[1].1);
        if let Some([(row, column, _), ..]) = entries.windows(2).find(is_same) {
            return Err(Error::Data {
                what: format!("two entries are for row {}, column {}", row + 1, column + 1),
                help: "join them to one".into(),
            });
        }
        let mut offsets = vec![0u64; rows + 1];
        entries.iter().for_each(|&(row, ..)| offsets[row + 1] += 1);
        (0..rows).for_each(|row| offsets[row + 1] += offsets[row]);
        let indices: Vec<u32> = entries.iter().map(|&(_, column, _)| column as u32).collect();
        let values: Vec<f64> = entries.iter().map(|&(.., value)| value).collect();
        Self::sparse(rows, columns, offsets, indices, values)
    }

    /// A matrix of no columns for points that are known by their number alone (precomputed kernels).
    pub fn without_columns(rows: usize) -> Self {
        Matrix::Dense(Dense { rows, columns: 0, values: Values::F64(Vec::new().into()) })
    }

    /// The number of rows.
    pub fn rows(&self) -> usize {
        match self {
            Matrix::Dense(dense) => dense.rows,
            Matrix::Sparse(csr) => csr.rows,
        }
    }

    /// The number of columns.
    pub fn columns(&self) -> usize {
        match self {
            Matrix::Dense(dense) => dense.columns,
            Matrix::Sparse(csr) => csr.columns,
        }
    }

    /// How many entries are stored: all for dense, the non-zeros for sparse.
    pub fn entries(&self) -> usize {
        match self {
            Matrix::Dense(dense) => dense.values.len(),
            Matrix::Sparse(csr) => csr.values.len(),
        }
    }

    /// Bytes that the matrix takes.
    pub fn bytes(&self) -> u64 {
        let number = |values: &Values| match values {
            Values::F32(_) => 4,
            Values::F64(_) => 8,
        };
        match self {
            Matrix::Dense(dense) => dense.values.len() as u64 * number(&dense.values),
            Matrix::Sparse(csr) => csr.values.len() as u64 * (4 + number(&csr.values)) + csr.offsets.len() as u64 * 8,
        }
    }

    /// Calls `visit(column, value)` for each stored entry of a row, columns increasing.
    ///
    /// # Panics
    /// When `row` is out of range, here and in the methods below.
    pub fn visit(&self, row: usize, mut visit: impl FnMut(usize, f64)) {
        match self {
            Matrix::Dense(dense) => {
                let span = row * dense.columns..(row + 1) * dense.columns;
                match &dense.values {
                    Values::F32(values) => {
                        values[span].iter().enumerate().for_each(|(column, &value)| visit(column, f64::from(value)));
                    }
                    Values::F64(values) => {
                        values[span].iter().enumerate().for_each(|(column, &value)| visit(column, value));
                    }
                }
            }
            Matrix::Sparse(csr) => {
                let span = csr.span(row);
                let indices = &csr.indices[span.clone()];
                match &csr.values {
                    Values::F32(values) => {
                        for (&column, &value) in indices.iter().zip(&values[span]) {
                            visit(column as usize, f64::from(value));
                        }
                    }
                    Values::F64(values) => {
                        for (&column, &value) in indices.iter().zip(&values[span]) {
                            visit(column as usize, value);
                        }
                    }
                }
            }
        }
    }

    /// A row, zeros included.
    pub fn row(&self, row: usize) -> Vec<f64> {
        let mut vector = vec![0.0; self.columns()];
        self.visit(row, |column, value| vector[column] = value);
        vector
    }

    /// The chosen rows, in the order given, as a matrix of the same kind and precision.
    pub fn select_rows(&self, rows: &[usize]) -> Self {
        match self {
            Matrix::Dense(dense) => {
                let width = dense.columns;
                let values = match &dense.values {
                    Values::F32(values) => gather_rows(values, rows, width).into(),
                    Values::F64(values) => gather_rows(values, rows, width).into(),
                };
                Matrix::Dense(Dense { rows: rows.len(), columns: width, values })
            }
            Matrix::Sparse(csr) => {
                let places: Vec<usize> = rows.iter().flat_map(|&row| csr.span(row)).collect();
                let mut offsets = vec![0u64];
                offsets.extend(rows.iter().scan(0u64, |end, &row| {
                    *end += csr.span(row).len() as u64;
                    Some(*end)
                }));
                let indices: Vec<u32> = places.iter().map(|&place| csr.indices[place]).collect();
                let values = match &csr.values {
                    Values::F32(values) => places.iter().map(|&place| values[place]).collect::<Vec<_>>().into(),
                    Values::F64(values) => places.iter().map(|&place| values[place]).collect::<Vec<_>>().into(),
                };
                Matrix::Sparse(Csr {
                    rows: rows.len(),
                    columns: csr.columns,
                    offsets: offsets.into(),
                    indices: indices.into(),
                    values,
                })
            }
        }
    }

    /// The chosen columns, in the order given; `None` stands for a column of zeros.
    pub fn select_columns(&self, columns: &[Option<usize>]) -> Self {
        let targets = Targets::new(self, columns);
        self.rebuild(columns.len(), |_, entries, out| {
            for &(column, value) in entries {
                out.extend(targets.of(column as usize).iter().map(|&(_, target)| (target, value)));
            }
            out.sort_unstable_by_key(|&(column, _)| column);
        })
    }

    /// The rows with another number of columns: new columns are zeros, and the last ones are left out where there are fewer.
    ///
    /// Cost: of sparse rows that get wider, none.
    pub fn resized(&self, columns: usize) -> Self {
        match self {
            _ if columns == self.columns() => self.clone(),
            Matrix::Sparse(csr) if columns > csr.columns => Matrix::Sparse(Csr { columns, ..csr.clone() }),
            _ => self.rebuild(columns, |_, entries, out| {
                out.extend(entries.iter().filter(|(column, _)| (*column as usize) < columns));
            }),
        }
    }

    /// The columns with a stored entry, increasing, when these are few: sparse rows have more than [`MANY_COLUMNS`] columns, and four times
    /// more of them than entries. `None` in all other cases.
    pub(crate) fn few_occupied_columns(&self) -> Option<Vec<u32>> {
        let Matrix::Sparse(csr) = self else { return None };
        if csr.columns <= MANY_COLUMNS || csr.columns / 4 <= csr.indices.len() {
            return None;
        }
        let mut columns = csr.indices.to_vec();
        columns.sort_unstable();
        columns.dedup();
        Some(columns)
    }

    /// The rows in these columns alone, which increase and hold all entries. The numbers stay as they are stored.
    pub(crate) fn narrowed(&self, columns: &[u32]) -> Self {
        match self {
            Matrix::Sparse(csr) => {
                let place = |column: &u32| columns.partition_point(|other| other < column) as u32;
                let indices: Vec<u32> = csr.indices.iter().map(place).collect();
                Matrix::Sparse(Csr { columns: columns.len(), indices: indices.into(), ..csr.clone() })
            }
            Matrix::Dense(_) => {
                self.select_columns(&columns.iter().map(|&column| Some(column as usize)).collect::<Vec<_>>())
            }
        }
    }

    /// A matrix of the same kind with `columns` columns, each row made by `edit(row, entries, out)`; in f64.
    ///
    /// `edit` must fill `out` with increasing columns below `columns` and finite numbers.
    pub(crate) fn rebuild(
        &self,
        columns: usize,
        mut edit: impl FnMut(usize, &[(u32, f64)], &mut Vec<(u32, f64)>),
    ) -> Self {
        let (mut entries, mut out) = (Vec::new(), Vec::new());
        let mut next = |row: usize, out: &mut Vec<(u32, f64)>| {
            entries.clear();
            out.clear();
            self.visit(row, |column, value| entries.push((column as u32, value)));
            edit(row, &entries, out);
        };
        match self {
            Matrix::Dense(dense) => {
                let mut values = vec![0.0; dense.rows * columns];
                for (row, target) in values.chunks_mut(columns.max(1)).enumerate() {
                    next(row, &mut out);
                    out.iter().for_each(|&(column, value)| target[column as usize] = value);
                }
                Matrix::Dense(Dense { rows: dense.rows, columns, values: values.into() })
            }
            Matrix::Sparse(csr) => {
                let (mut offsets, mut indices, mut values) = (vec![0u64], Vec::new(), Vec::new());
                for row in 0..csr.rows {
                    next(row, &mut out);
                    indices.extend(out.iter().map(|&(column, _)| column));
                    values.extend(out.iter().map(|&(_, value)| value));
                    offsets.push(values.len() as u64);
                }
                let (offsets, indices) = (offsets.into(), indices.into());
                Matrix::Sparse(Csr { rows: csr.rows, columns, offsets, indices, values: values.into() })
            }
        }
    }

    /// A dense matrix of these numbers.
    pub fn to_dense(&self) -> Self {
        let values = (0..self.rows()).flat_map(|row| self.row(row)).collect::<Vec<f64>>();
        Matrix::Dense(Dense { rows: self.rows(), columns: self.columns(), values: values.into() })
    }

    /// A sparse matrix of these numbers, without zeros.
    pub fn to_sparse(&self) -> Self {
        let (mut offsets, mut indices, mut values) = (vec![0u64], Vec::new(), Vec::new());
        for row in 0..self.rows() {
            self.visit(row, |column, value| {
                if value != 0.0 {
                    indices.push(column as u32);
                    values.push(value);
                }
            });
            offsets.push(values.len() as u64);
        }
        Matrix::Sparse(Csr {
            rows: self.rows(),
            columns: self.columns(),
            offsets: offsets.into(),
            indices: indices.into(),
            values: values.into(),
        })
    }
}

/// Columns up to which a number for each of them is of no account: 8 MB.
const MANY_COLUMNS: usize = 1 << 20;

/// Where the columns of a matrix go when some are selected.
struct Targets {
    /// `(source, target)`, increasing.
    pairs: Vec<(usize, u32)>,
    /// Where the pairs of each source begin. Empty where a number a column would be more than the entries ask for: pairs are searched then.
    starts: Vec<usize>,
}

impl Targets {
    fn new(matrix: &Matrix, columns: &[Option<usize>]) -> Self {
        let pair = |(target, source): (usize, &Option<usize>)| Some(((*source)?, target as u32));
        let mut pairs: Vec<(usize, u32)> = columns.iter().enumerate().filter_map(pair).collect();
        pairs.sort_unstable();
        let mut starts = Vec::new();
        if matrix.columns() <= MANY_COLUMNS.max(matrix.entries()) {
            starts = vec![0; matrix.columns() + 1];
            pairs.iter().for_each(|&(source, _)| starts[source + 1] += 1);
            (0..matrix.columns()).for_each(|column| starts[column + 1] += starts[column]);
        }
        Targets { pairs, starts }
    }

    /// The pairs of a source.
    fn of(&self, source: usize) -> &[(usize, u32)] {
        if !self.starts.is_empty() {
            return &self.pairs[self.starts[source]..self.starts[source + 1]];
        }
        let first = self.pairs.partition_point(|&(other, _)| other < source);
        let count = self.pairs[first..].iter().take_while(|&&(other, _)| other == source).count();
        &self.pairs[first..first + count]
    }
}

/// Copies an array of rows; the numbers are checked.
#[cfg(feature = "ndarray")]
impl TryFrom<ndarray::ArrayView2<'_, f64>> for Matrix {
    type Error = Error;

    fn try_from(array: ndarray::ArrayView2<'_, f64>) -> Result<Self, Error> {
        Matrix::dense(array.nrows(), array.ncols(), array.iter().copied().collect::<Vec<f64>>())
    }
}

/// Copies an array of rows and keeps its single precision; the numbers are checked.
#[cfg(feature = "ndarray")]
impl TryFrom<ndarray::ArrayView2<'_, f32>> for Matrix {
    type Error = Error;

    fn try_from(array: ndarray::ArrayView2<'_, f32>) -> Result<Self, Error> {
        Matrix::dense(array.nrows(), array.ncols(), array.iter().copied().collect::<Vec<f32>>())
    }
}

fn gather_rows<T: Copy>(values: &[T], rows: &[usize], width: usize) -> Vec<T> {
    rows.iter().flat_map(|&row| &values[row * width..(row + 1) * width]).copied().collect()
}

/// Columns are numbered in 32 bits.
fn check_columns(columns: usize) -> Result<(), Error> {
    if columns < u32::MAX as usize {
        return Ok(());
    }
    Err(Error::Data {
        what: format!("{columns} columns are more than the {} that can be numbered", u32::MAX - 1),
        help: "renumber the columns that are used".into(),
    })
}

fn not_finite(value: f64, row: usize, column: usize) -> Error {
    Error::NotFinite { row: row + 1, column: column + 1, value }
}
