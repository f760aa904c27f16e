//! Pictures of plain numbers: what a search, a path or a training left behind, whoever made it.

mod convergence;
mod grid;
mod learning;
mod path;
mod search;

pub use convergence::{Convergence, convergence};
pub use grid::{Grid, GridCell, GridPanel, Mark, grid};
pub use learning::{Learning, learning};
pub use path::{Path, PathCurve, Quantity, path};
pub use search::{SearchKind, plot_search};

use crate::drawing::axis::{Axis, Range};
use crate::error::Error;

/// An axis for numbers: by powers of ten where all are above 0 and the largest is 30 times the smallest.
fn axis_of(title: &str, numbers: &[f64]) -> Result<Axis, Error> {
    let known = || numbers.iter().copied().filter(|number| number.is_finite());
    let (low, high) = known().fold((f64::INFINITY, 0.0f64), |(low, high), number| (low.min(number), high.max(number)));
    let powers = (low > 0.0 && high / low >= 30.0).then(|| Axis::powers(title, known())).flatten();
    let even = || Range::around(known()).map(|range| Axis::new(title, range));
    powers.or_else(even).ok_or_else(nothing)
}

fn nothing() -> Error {
    Error::NoRange { what: "there are no numbers that say how far the axes reach".into() }
}
