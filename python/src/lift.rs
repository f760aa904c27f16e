//! Explicit feature maps, blocks of kernel values, and Fisher's projection.

use std::ops::ControlFlow;
use std::sync::Arc;

use maxmargin::data::{Matrix, Values};
use maxmargin::kernel::{Kernel, KernelParams, Points};
use maxmargin::lift::{Lift as _, Monomials};
use maxmargin::solver::{Projection, Shrinkage};
use numpy::{IntoPyArray, PyArray1, PyArray2, PyArrayMethods};
use pyo3::prelude::*;

use crate::control::Attended;
use crate::data::{Data, workers};
use crate::door::{self, Watch};
use crate::errors::Fault;
use crate::params::Answers;

/// The map of the polynomial kernel: all monomials up to a degree.
#[pyclass(frozen, module = "maxmargin._engine")]
pub(crate) struct Lift {
    map: Monomials,
}

#[pymethods]
impl Lift {
    /// The map of `(γ⟨x, z⟩ + c)^q` for so many columns.
    #[staticmethod]
    fn monomials(columns: usize, degree: u32, gamma: f64, coef0: f64) -> PyResult<Self> {
        Ok(Lift { map: Monomials::new(columns, degree, gamma, coef0).map_err(Fault::from)? })
    }

    /// How many columns a row has after.
    #[getter]
    fn columns(&self) -> usize {
        self.map.output_columns()
    }

    /// Rows, lifted.
    fn transform<'py>(&self, py: Python<'py>, data: &Data) -> PyResult<Bound<'py, PyArray2<f64>>> {
        let (map, matrix) = (self.map.clone(), data.matrix.clone());
        let rows = matrix.rows();
        let lifted = door::run(py, Watch::default(), move |_| Ok(maxmargin::lift::lift(&map, &matrix)?))?;
        let Matrix::Dense(dense) = &lifted else { return Err(Fault::Bug("a lifted matrix is dense".into()).into()) };
        let Values::F64(values) = dense.values() else {
            return Err(Fault::Bug("a lifted matrix is double".into()).into());
        };
        values.to_vec().into_pyarray(py).reshape([rows, self.map.output_columns()])
    }

    /// A name for each column after.
    fn names(&self, input: Vec<String>) -> PyResult<Vec<String>> {
        if input.len() != self.map.input_columns() {
            return Err(Fault::Input {
                what: format!("{} names for {} columns", input.len(), self.map.input_columns()),
                help: String::new(),
            }
            .into());
        }
        Ok(self.map.names(&input))
    }
}

/// The kernel values of all rows of one matrix with all rows of another.
#[pyfunction]
pub(crate) fn kernel_block<'py>(
    py: Python<'py>,
    kernel: &str,
    left: &Data,
    right: &Data,
    threads: usize,
) -> PyResult<Bound<'py, PyArray2<f64>>> {
    let params: KernelParams = kernel.parse().map_err(Fault::from)?;
    let (left, right) = (left.matrix.clone(), right.matrix.clone());
    let (rows, columns) = (left.rows(), right.rows());
    if left.columns() != right.columns() {
        return Err(Fault::Input {
            what: format!("rows of {} columns and rows of {} columns", left.columns(), right.columns()),
            help: String::new(),
        }
        .into());
    }
    let work = move |_: &Arc<door::Line>| {
        let function = params.check(&right)?;
        let workers = workers(threads, left.entries().max(1).saturating_mul(columns))?;
        let (left, right) = (Points::by(&workers, left, false), Points::by(&workers, right, false));
        let all: Vec<usize> = (0..rows.max(columns)).collect();
        let mut values = vec![0.0; rows * columns];
        workers.fill_chunks(&mut values, ROWS_A_CHUNK * columns.max(1), |start, chunk| {
            let first = start / columns.max(1);
            let count = chunk.len() / columns.max(1);
            function.block(left.rows(&all[first..first + count]), right.rows(&all[..columns]), chunk);
        });
        Ok(values)
    };
    door::run(py, Watch::default(), work)?.into_pyarray(py).reshape([rows, columns])
}

/// Rows whose kernel values one thread computes at a time.
const ROWS_A_CHUNK: usize = 64;

/// Fisher's directions: one a row, with their eigenvalues, and the mean of all rows.
type Directions<'py> = (Bound<'py, PyArray2<f64>>, Bound<'py, PyArray1<f64>>, Bound<'py, PyArray1<f64>>);

/// The directions that tell classes apart best.
#[pyfunction]
pub(crate) fn project<'py>(
    py: Python<'py>,
    data: &Data,
    answers: Answers<'_>,
    shrinkage: &str,
    threads: usize,
) -> PyResult<Directions<'py>> {
    let dataset = answers.dataset(&data.matrix)?;
    let shrinkage: Shrinkage = shrinkage.parse().map_err(Fault::from)?;
    let columns = dataset.columns();
    let found = door::run(py, Watch::default(), move |line| {
        let mut control = Attended::new(line, None, None);
        match Projection::learn(&dataset, shrinkage, &workers(threads, usize::MAX)?, &mut control)? {
            ControlFlow::Continue(projection) => Ok(projection),
            ControlFlow::Break(_) => Err(Fault::Interrupted),
        }
    })?;
    let count = found.directions.len();
    let directions = found.directions.concat().into_pyarray(py).reshape([count, columns])?;
    Ok((directions, found.eigenvalues.into_pyarray(py), found.mean.into_pyarray(py)))
}
