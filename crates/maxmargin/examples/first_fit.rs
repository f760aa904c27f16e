//! A first fit: classes and numbers from arrays of ndarray.

#![allow(clippy::unwrap_used)] // three lines may end here

use maxmargin::{Svc, Svr};
use ndarray::array;

/// Fits, predicts, and checks what came out.
pub fn main() -> Result<(), maxmargin::Error> {
    let x = array![[0.0, 0.0], [1.0, 1.0], [0.0, 1.0], [1.0, 0.0]];
    let y = ["even", "even", "odd", "odd"];

    let model = Svc::rbf().c(10.0).fit((&x, &y))?;
    println!("{:?} {:e}", model.predict(&x)?, model.certificate().unwrap().relative_gap);
    let numbers = Svr::rbf().c(10.0).fit((&x, &[0.5, 1.5, 1.5, 0.5]))?.predict(&x)?;
    println!("{numbers:.2?}");

    assert_eq!(model.predict(&x)?, y);
    assert!(numbers.iter().zip([0.5, 1.5, 1.5, 0.5]).all(|(found, wanted)| (found - wanted).abs() < 0.11));
    Ok(())
}
