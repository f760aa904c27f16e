//! `Data`: a matrix of finite numbers, of numpy's memory where its layout allows.

use maxmargin::Workers;
use maxmargin::data::{Matrix, Values};
use numpy::{IntoPyArray, PyArrayDyn, PyArrayMethods, PyUntypedArrayMethods};
use pyo3::prelude::*;

use crate::borrowed;
use crate::errors::{Fault, InputError};

/// Rows and columns of finite numbers, dense or in compressed rows.
#[pyclass(frozen, module = "maxmargin._engine")]
pub(crate) struct Data {
    pub(crate) matrix: Matrix,
    #[pyo3(get)]
    copied: bool,
}

#[pymethods]
impl Data {
    /// A full array of two dimensions, C-contiguous, of float32 or float64.
    #[staticmethod]
    fn dense(array: &Bound<'_, PyAny>, threads: usize) -> PyResult<Self> {
        let (values, shape) = values(array)?;
        let [rows, columns] = shape[..] else {
            return Err(InputError::new_err(format!("an array of {} dimensions, expected 2", shape.len())));
        };
        let workers = workers(threads, values.len() / WORTH_CHECKING_TOGETHER)?;
        Ok(Data { matrix: Matrix::dense_with(rows, columns, values, &workers).map_err(Fault::from)?, copied: false })
    }

    /// Compressed rows: the parts of a CSR matrix of scipy's, its columns increasing in each row.
    #[staticmethod]
    fn sparse(
        rows: usize,
        columns: usize,
        offsets: &Bound<'_, PyAny>,
        indices: &Bound<'_, PyAny>,
        numbers: &Bound<'_, PyAny>,
    ) -> PyResult<Self> {
        // A number for each row is little beside the entries; the copy is of no account.
        let offsets: Vec<u64> = if let Ok(narrow) = offsets.cast::<PyArrayDyn<i32>>() {
            narrow.readonly().as_array().iter().map(|&offset| offset as u64).collect()
        } else {
            offsets.cast::<PyArrayDyn<i64>>()?.readonly().as_array().iter().map(|&offset| offset as u64).collect()
        };
        let mut copied = false;
        let indices = match indices.cast::<PyArrayDyn<i32>>().ok().and_then(borrowed::unsigned) {
            Some(shared) => shared,
            None => {
                copied = true;
                wide_indices(indices)?.into()
            }
        };
        let (values, _) = values(numbers)?;
        let matrix = Matrix::sparse(rows, columns, offsets, indices, values).map_err(Fault::from)?;
        Ok(Data { matrix, copied })
    }

    /// Rows and columns.
    #[getter]
    fn shape(&self) -> (usize, usize) {
        (self.matrix.rows(), self.matrix.columns())
    }
}

/// A matrix as Python has it: an array, or the parts of a CSR matrix of scipy's (numbers, columns, offsets).
pub(crate) fn arrays_of<'py>(py: Python<'py>, matrix: &Matrix) -> PyResult<Bound<'py, PyAny>> {
    match matrix {
        Matrix::Dense(dense) => {
            let shape = [matrix.rows(), matrix.columns()];
            Ok(double(dense.values()).into_pyarray(py).reshape(shape)?.into_any())
        }
        Matrix::Sparse(csr) => {
            let offsets: Vec<i64> = csr.offsets().iter().map(|&offset| offset as i64).collect();
            let indices: Vec<i32> = csr.indices().iter().map(|&index| index as i32).collect();
            let parts = (double(csr.values()).into_pyarray(py), indices.into_pyarray(py), offsets.into_pyarray(py));
            Ok(parts.into_pyobject(py)?.into_any())
        }
    }
}

/// Numbers in double precision.
fn double(values: &Values) -> Vec<f64> {
    match values {
        Values::F64(values) => values.to_vec(),
        Values::F32(values) => values.iter().map(|&value| f64::from(value)).collect(),
    }
}

/// Column numbers of 64 bits in 32.
fn wide_indices(indices: &Bound<'_, PyAny>) -> PyResult<Vec<u32>> {
    let narrow = |index: i64| u32::try_from(index).unwrap_or(u32::MAX);
    if let Ok(wide) = indices.cast::<PyArrayDyn<i64>>() {
        return Ok(wide.readonly().as_array().iter().map(|&index| narrow(index)).collect());
    }
    let short = indices.cast::<PyArrayDyn<i32>>()?;
    Ok(short.readonly().as_array().iter().map(|&index| narrow(i64::from(index))).collect())
}

/// The numbers of an array in the precision they have, and its shape.
fn values(array: &Bound<'_, PyAny>) -> PyResult<(Values, Vec<usize>)> {
    let other_layout =
        || InputError::new_err("an array that is not C-contiguous\nhelp: numpy.ascontiguousarray makes one that is");
    if let Ok(single) = array.cast::<PyArrayDyn<f32>>() {
        let shape = single.shape().to_vec();
        return Ok((Values::F32(borrowed::buffer(single).ok_or_else(other_layout)?), shape));
    }
    let double = array
        .cast::<PyArrayDyn<f64>>()
        .map_err(|_| InputError::new_err("an array that is neither float32 nor float64"))?;
    let shape = double.shape().to_vec();
    Ok((Values::F64(borrowed::buffer(double).ok_or_else(other_layout)?), shape))
}

/// A team of so many threads where there is work for them.
pub(crate) fn workers(threads: usize, work: usize) -> Result<Workers, Fault> {
    if work < WORTH_A_TEAM { Ok(Workers::none()) } else { Ok(Workers::new(threads)?) }
}

/// A number is checked so many times as fast as it is multiplied and added.
const WORTH_CHECKING_TOGETHER: usize = 8;

/// Multiplications from which on a team is called: fewer are done before it has come.
const WORTH_A_TEAM: usize = 200_000;
