//! How far the scatter within the classes is drawn towards a simpler one.

use std::str::FromStr;

use crate::error::{Error, Parameter};

/// How much of (FD.3) a scatter matrix gets that has too few rows to be trusted.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Shrinkage {
    /// s, from 0 (nothing) to 1 (a multiple of the identity), the same for all classes.
    Part(f64),
    /// For each class the s that Ledoit and Wolf expect to be nearest to the truth, (FD.6). The columns of the class are brought
    /// to the same spread before, and back after.
    Auto,
}

impl Default for Shrinkage {
    fn default() -> Self {
        Shrinkage::Part(0.0)
    }
}

impl From<f64> for Shrinkage {
    fn from(part: f64) -> Self {
        Shrinkage::Part(part)
    }
}

/// `auto`, or a number.
impl FromStr for Shrinkage {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self, Error> {
        let not = || Error::parameter(Parameter::Shrinkage, text, "from 0 to 1, or auto");
        let shrinkage =
            if text == "auto" { Shrinkage::Auto } else { Shrinkage::Part(text.parse().map_err(|_| not())?) };
        shrinkage.check()?;
        Ok(shrinkage)
    }
}

impl Shrinkage {
    /// Checks that a part is one.
    ///
    /// # Errors
    /// When it is not from 0 to 1.
    pub fn check(self) -> Result<(), Error> {
        match self {
            Shrinkage::Part(part) if !(0.0..=1.0).contains(&part) => {
                Err(Error::parameter(Parameter::Shrinkage, part, "from 0 to 1, or auto"))
            }
            _ => Ok(()),
        }
    }
}

/// What Ledoit and Wolf's s is made of, for one class whose columns have been brought to a spread of 1.
#[derive(Clone, Copy, Debug)]
pub(super) struct Spread {
    /// d
    pub(super) columns: usize,
    /// The columns that have a spread at all: the trace of the class's correlations.
    pub(super) trace: f64,
    /// n
    pub(super) count: f64,
    /// The mean of ‖z_i‖⁴.
    pub(super) fourth: f64,
    /// The sum of the squares of all correlations.
    pub(super) squares: f64,
}

impl Spread {
    /// The mean of the diagonal.
    pub(super) fn mean(&self) -> f64 {
        self.trace / self.columns as f64
    }

    /// s of a class
    ///
    /// ```text
    /// s = min(β, δ) / δ,   β = (mean ‖z_i‖⁴ − ‖R‖²) / (d n),   δ = (‖R‖² − d μ²) / d,   μ = trace R / d      (FD.6)
    /// ```
    ///
    /// with R the correlations of the class: the expected error of R, as a part of its distance from `μ I`. 0 for one column.
    pub(super) fn part(&self) -> f64 {
        let columns = self.columns as f64;
        let error = (self.fourth - self.squares) / (columns * self.count);
        let distance = (self.squares - columns * self.mean() * self.mean()) / columns;
        let error = error.min(distance);
        if self.columns > 1 && error > 0.0 { error / distance } else { 0.0 }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_number_or_auto_is_read_and_checked() {
        assert_eq!("auto".parse(), Ok(Shrinkage::Auto));
        assert_eq!("0.25".parse(), Ok(Shrinkage::Part(0.25)));
        for wrong in ["2", "-0.1", "nan", "much"] {
            let error = Shrinkage::from_str(wrong).unwrap_err();
            assert!(error.to_string().ends_with("but it must be from 0 to 1, or auto"), "{error}");
        }
    }

    #[test]
    fn the_part_is_never_outside_of_its_range() {
        let spread = Spread { columns: 3, trace: 3.0, count: 5.0, fourth: 9.0, squares: 3.0 };
        assert_eq!(spread.part(), 0.0, "correlations of nothing have no distance to go");
        assert_eq!(Spread { squares: 4.0, fourth: 1e9, ..spread }.part(), 1.0);
        assert_eq!(Spread { squares: 4.0, fourth: 1.0, ..spread }.part(), 0.0);
        assert_eq!(Spread { columns: 1, ..spread }.part(), 0.0);
    }
}
