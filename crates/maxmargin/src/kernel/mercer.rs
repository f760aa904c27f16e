//! Mercer's condition: is a function a kernel? Asked of a sample of points.

use faer::Side;
#[cfg(feature = "serde")]
use serde::Serialize;

use super::{Gram, Kernel, Points};
use crate::error::Error;
use crate::workers::Workers;

/// What the Gram matrix of a sample of points says of a kernel.
#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(Serialize))]
pub struct MercerReport {
    /// How many points the sample has.
    pub rows: usize,
    /// The largest |K_ij − K_ji|.
    pub asymmetry: f64,
    /// The smallest eigenvalue of the Gram matrix.
    pub smallest_eigenvalue: f64,
    /// The largest eigenvalue of the Gram matrix.
    pub largest_eigenvalue: f64,
    /// Whether the sample shows a kernel: its matrix is symmetric, and no eigenvalue is below −1e-10 times the largest in absolute value.
    pub is_kernel: bool,
}

/// Forms the Gram matrix of at most `limit` points, evenly spread over `rows`, and looks at its eigenvalues.
///
/// Cost: O(limit³).
///
/// # Errors
/// When there are no rows, a value is not finite, or the eigenvalues do not converge.
pub fn mercer_check(kernel: &dyn Kernel, points: &Points, rows: &[usize], limit: usize) -> Result<MercerReport, Error> {
    let count = rows.len().min(limit);
    if count == 0 {
        return Err(Error::Data { what: "there are no rows to check".into(), help: "give at least one row".into() });
    }
    let sample: Vec<usize> = (0..count).map(|k| rows[k * rows.len() / count]).collect();
    let mut values = vec![0.0; count * count];
    let workers = Workers::none();
    Gram::new(kernel, points, &workers).block(&sample, &sample, &mut values);
    if let Some(place) = values.iter().position(|value| !value.is_finite()) {
        return Err(Error::Data {
            what: format!(
                "the kernel value of rows {} and {} is {}",
                sample[place / count] + 1,
                sample[place % count] + 1,
                values[place]
            ),
            help: "scale the columns, or choose a smaller gamma or degree".into(),
        });
    }
    let at = |i: usize, j: usize| values[i * count + j];
    let asymmetry = (0..count)
        .flat_map(|i| (0..i).map(move |j| (i, j)))
        .map(|(i, j)| (at(i, j) - at(j, i)).abs())
        .fold(0.0, f64::max);
    let symmetric = faer::Mat::from_fn(count, count, |i, j| 0.5 * (at(i, j) + at(j, i)));
    let eigenvalues = symmetric.self_adjoint_eigenvalues(Side::Lower).map_err(|_| Error::Data {
        what: "the eigenvalues of the Gram matrix did not converge".into(),
        help: "scale the columns".into(),
    })?;
    let smallest_eigenvalue = eigenvalues.iter().copied().fold(f64::INFINITY, f64::min);
    let largest_eigenvalue = eigenvalues.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    let scale = smallest_eigenvalue.abs().max(largest_eigenvalue.abs());
    Ok(MercerReport {
        rows: count,
        asymmetry,
        smallest_eigenvalue,
        largest_eigenvalue,
        is_kernel: smallest_eigenvalue >= -1e-10 * scale && asymmetry <= 1e-10 * scale,
    })
}
