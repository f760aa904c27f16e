//! Sines and cosines of each column.

use super::{Lift, assert_lengths, check_columns};
use crate::error::Error;

/// Sines and cosines of each column at the first K multiples of a frequency ω:
///
/// ```text
/// φ(x) = (sin kωxᵢ, cos kωxᵢ),   i = 1..d, k = 1..K                      (L.4)
/// ⟨φ(x), φ(z)⟩ = Σᵢ Σₖ cos kω(xᵢ − zᵢ)                                   (L.5)
/// ```
///
/// for columns that come round, such as angles (ω = 1) or hours of the day (ω = 2π/24). Cost of a row: O(d K).
///
/// # Examples
/// ```
/// use maxmargin::lift::{Lift, Trigonometric};
///
/// let map = Trigonometric::new(1, 2, 1.0)?;
/// let mut out = [0.0; 4];
/// map.lift_row(&[0.0], &mut out);
/// assert_eq!(out, [0.0, 1.0, 0.0, 1.0]);
/// assert_eq!(map.names(&["t".into()]), ["sin(t)", "cos(t)", "sin(2*t)", "cos(2*t)"]);
/// # Ok::<(), maxmargin::Error>(())
/// ```
#[derive(Clone, Copy, Debug)]
pub struct Trigonometric {
    columns: usize,
    harmonics: usize,
    frequency: f64,
    outputs: usize,
}

impl Trigonometric {
    /// The map of `columns` columns with the first `harmonics` multiples of `frequency`.
    ///
    /// # Errors
    /// When `harmonics` is 0, `frequency` is not positive and finite, or there would be more than
    /// [`MOST_COLUMNS`](super::MOST_COLUMNS) columns.
    pub fn new(columns: usize, harmonics: usize, frequency: f64) -> Result<Self, Error> {
        if harmonics == 0 {
            return Err(Error::parameter("harmonics", harmonics, "1 or more"));
        }
        if !(frequency > 0.0 && frequency.is_finite()) {
            return Err(Error::parameter("frequency", frequency, "above 0 and finite"));
        }
        let outputs = columns.checked_mul(harmonics).and_then(|count| count.checked_mul(2));
        Ok(Trigonometric { columns, harmonics, frequency, outputs: check_columns(outputs)? })
    }
}

impl Lift for Trigonometric {
    fn input_columns(&self) -> usize {
        self.columns
    }

    fn output_columns(&self) -> usize {
        self.outputs
    }

    fn lift_row(&self, x: &[f64], out: &mut [f64]) {
        assert_lengths(self, x, out);
        for (&x, out) in x.iter().zip(out.chunks_mut(2 * self.harmonics)) {
            for (k, pair) in out.chunks_mut(2).enumerate() {
                // (L.4)
                let (sin, cos) = ((k + 1) as f64 * self.frequency * x).sin_cos();
                pair.copy_from_slice(&[sin, cos]);
            }
        }
    }

    fn names(&self, input: &[String]) -> Vec<String> {
        assert_eq!(input.len(), self.columns, "one name a column");
        let angle = |name: &String, k: usize| match k as f64 * self.frequency {
            1.0 => name.clone(),
            factor => format!("{factor}*{name}"),
        };
        let of_column = |name| (1..=self.harmonics).map(move |k| angle(name, k));
        input.iter().flat_map(of_column).flat_map(|angle| [format!("sin({angle})"), format!("cos({angle})")]).collect()
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::super::tests::{dot, lifted};
    use super::*;

    #[test]
    fn parameters_out_of_range_are_refused() {
        assert!(Trigonometric::new(2, 0, 1.0).is_err());
        for bad in [0.0, -1.0, f64::NAN, f64::INFINITY] {
            assert!(Trigonometric::new(2, 1, bad).is_err(), "{bad}");
        }
        assert!(Trigonometric::new(2, usize::MAX, 1.0).is_err());
        assert_eq!(Trigonometric::new(0, 3, 1.0).unwrap().output_columns(), 0);
    }

    proptest! {
        #[test]
        fn the_dot_product_is_a_sum_of_cosines_of_differences(
            x in prop::collection::vec(-2.0..2.0f64, 3), z in prop::collection::vec(-2.0..2.0f64, 3),
            frequency in 0.1..3.0f64
        ) {
            let map = Trigonometric::new(3, 4, frequency).unwrap();
            let expected: f64 = (x.iter().zip(&z))
                .flat_map(|(x, z)| (1..=4).map(move |k| (f64::from(k) * frequency * (x - z)).cos()))
                .sum();
            prop_assert!((dot(&lifted(&map, &x), &lifted(&map, &z)) - expected).abs() < 1e-12);
        }
    }
}
