//! The products of pairs of columns.

use super::{Lift, assert_lengths, check_columns};
use crate::error::Error;

/// The products of two different columns:
///
/// ```text
/// φ(x) = (xᵢ xⱼ),   i < j, ordered by i and then j                       (L.3)
/// ```
///
/// Cost of a row: O(d²).
///
/// # Examples
/// ```
/// use maxmargin::lift::{Lift, Products};
///
/// let map = Products::new(3)?;
/// assert_eq!(map.names(&["a".into(), "b".into(), "c".into()]), ["a*b", "a*c", "b*c"]);
/// # Ok::<(), maxmargin::Error>(())
/// ```
#[derive(Clone, Copy, Debug)]
pub struct Products {
    columns: usize,
    pairs: usize,
}

impl Products {
    /// The map of `columns` columns.
    ///
    /// # Errors
    /// When there would be more than [`MOST_COLUMNS`](super::MOST_COLUMNS) products.
    pub fn new(columns: usize) -> Result<Self, Error> {
        let pairs = columns.checked_mul(columns.saturating_sub(1)).map(|twice| twice / 2);
        Ok(Products { columns, pairs: check_columns(pairs)? })
    }
}

impl Lift for Products {
    fn input_columns(&self) -> usize {
        self.columns
    }

    fn output_columns(&self) -> usize {
        self.pairs
    }

    fn lift_row(&self, x: &[f64], out: &mut [f64]) {
        assert_lengths(self, x, out);
        // (L.3)
        out.iter_mut().zip(pairs(self.columns)).for_each(|(out, (i, j))| *out = x[i] * x[j]);
    }

    fn names(&self, input: &[String]) -> Vec<String> {
        assert_eq!(input.len(), self.columns, "one name a column");
        pairs(self.columns).map(|(i, j)| format!("{}*{}", input[i], input[j])).collect()
    }
}

fn pairs(columns: usize) -> impl Iterator<Item = (usize, usize)> {
    (0..columns).flat_map(move |i| (i + 1..columns).map(move |j| (i, j)))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::super::tests::{dot, lifted};
    use super::*;
    use crate::data::generate;

    #[test]
    fn one_product_separates_xor() {
        let (data, map) = (generate("xor", 200, 5).unwrap(), Products::new(2).unwrap());
        for row in 0..200 {
            let product = lifted(&map, &data.matrix().row(row))[0];
            assert_eq!(product > 0.0, data.labels().unwrap().codes()[row] == 1, "row {row}");
        }
    }

    #[test]
    fn few_columns_have_few_pairs_and_too_many_are_refused() {
        for (columns, pairs) in [(0, 0), (1, 0), (2, 1), (3, 3), (1414, 998_991)] {
            assert_eq!(Products::new(columns).unwrap().output_columns(), pairs);
        }
        assert!(Products::new(1415).is_err());
        assert!(Products::new(usize::MAX).is_err());
    }

    proptest! {
        /// Σ_{i<j} xᵢxⱼzᵢzⱼ = (⟨x, z⟩² − Σᵢ xᵢ²zᵢ²)/2.
        #[test]
        fn the_dot_product_is_the_quadratic_kernel_without_the_squares(
            x in prop::collection::vec(-2.0..2.0f64, 5), z in prop::collection::vec(-2.0..2.0f64, 5)
        ) {
            let map = Products::new(5).unwrap();
            let squares: f64 = x.iter().zip(&z).map(|(x, z)| (x * z).powi(2)).sum();
            let expected = 0.5 * (dot(&x, &z).powi(2) - squares);
            prop_assert!((dot(&lifted(&map, &x), &lifted(&map, &z)) - expected).abs() < 1e-11);
        }
    }
}
