//! All monomials up to a degree, weighted so that their dot product is the polynomial kernel.

use std::cmp::Reverse;

use super::{Lift, MOST_COLUMNS, assert_lengths, check_columns};
use crate::error::Error;

/// The highest degree.
const MOST_DEGREE: u32 = 32;

/// The monomials of degree up to q in d columns, with the weights that make
///
/// ```text
/// ⟨φ(x), φ(z)⟩ = (γ ⟨x, z⟩ + c)^q                                        (L.1)
/// φₐ(x) = √( q!/(a₁! ⋯ a_d! (q − |a|)!) · γ^|a| · c^(q − |a|) ) · x^a,   |a| ≤ q    (L.2)
/// ```
///
/// by the multinomial theorem. Order: by degree |a|; within a degree by the exponents, the most uneven first; then by
/// column. With q = 2, γ = c = 1 that is (1, √2 xᵢ, xᵢ², √2 xᵢxⱼ), i < j. With c = 0 only degree q is left.
///
/// Cost of a row: O(q (d + q over q)).
///
/// # Examples
/// ```
/// use maxmargin::lift::{Lift, Monomials};
///
/// let map = Monomials::new(2, 2, 1.0, 1.0)?;
/// let mut out = [0.0; 6];
/// map.lift_row(&[3.0, 5.0], &mut out);
/// let root = 2f64.sqrt();
/// let expected = [1.0, root * 3.0, root * 5.0, 9.0, 25.0, root * 15.0];
/// assert!(out.iter().zip(expected).all(|(a, b)| (a - b).abs() < 1e-13));
/// assert_eq!(map.names(&["a".into(), "b".into()]), ["1", "a", "b", "a^2", "b^2", "a*b"]);
/// # Ok::<(), maxmargin::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct Monomials {
    columns: usize,
    terms: Vec<Term>,
}

/// A weight and the columns to multiply, increasing, each as often as its exponent says.
#[derive(Clone, Debug)]
struct Term {
    weight: f64,
    factors: Vec<u32>,
}

impl Monomials {
    /// The map of (γ ⟨x, z⟩ + c)^`degree` on `columns` columns.
    ///
    /// # Errors
    /// When `degree` is not from 1 to 32, `gamma` not positive, `coef0` negative, one of them not finite or their powers too
    /// large for f64, or there would be more than [`MOST_COLUMNS`] monomials.
    pub fn new(columns: usize, degree: u32, gamma: f64, coef0: f64) -> Result<Self, Error> {
        if !(1..=MOST_DEGREE).contains(&degree) {
            return Err(Error::parameter("degree", degree, "from 1 to 32"));
        }
        if !(gamma > 0.0 && gamma.is_finite()) {
            return Err(Error::parameter("gamma", gamma, "above 0 and finite"));
        }
        if !(coef0 >= 0.0 && coef0.is_finite()) {
            return Err(Error::parameter("coef0", coef0, "0 or more and finite"));
        }
        // With a constant there is one column more, which is 1 everywhere.
        let letters = columns.checked_add(usize::from(coef0 > 0.0));
        let count = check_columns(letters.and_then(|letters| multisets(letters, degree)))?;
        let mut terms = Vec::with_capacity(count);
        let lowest = if coef0 > 0.0 { 0 } else { degree };
        for power in lowest..=degree {
            // √ of each factor, because the product may overflow where its root does not.
            let scale = gamma.sqrt().powi(power as i32) * coef0.sqrt().powi((degree - power) as i32);
            let start = terms.len();
            each_multiset(columns, power, &mut |factors| {
                let weight = multinomial(degree, factors).sqrt() * scale; // (L.2)
                terms.push(Term { weight, factors: factors.to_vec() });
            });
            terms[start..].sort_by_cached_key(|term: &Term| {
                let mut exponents = exponents(&term.factors);
                exponents.sort_unstable_by_key(|&exponent| Reverse(exponent));
                (Reverse(exponents), term.factors.clone())
            });
        }
        if terms.iter().any(|term| !term.weight.is_finite()) {
            return Err(Error::Combination {
                what: format!("gamma {gamma} and coef0 {coef0} to the power of {degree} are too large for f64"),
                help: "scale the columns and choose gamma near 1".into(),
            });
        }
        Ok(Monomials { columns, terms })
    }
}

impl Lift for Monomials {
    fn input_columns(&self) -> usize {
        self.columns
    }

    fn output_columns(&self) -> usize {
        self.terms.len()
    }

    fn lift_row(&self, x: &[f64], out: &mut [f64]) {
        assert_lengths(self, x, out);
        for (term, out) in self.terms.iter().zip(out) {
            // (L.2)
            *out = term.factors.iter().fold(term.weight, |product, &column| product * x[column as usize]);
        }
    }

    fn names(&self, input: &[String]) -> Vec<String> {
        assert_eq!(input.len(), self.columns, "one name a column");
        let name = |term: &Term| {
            let powers: Vec<String> = term
                .factors
                .chunk_by(|a, b| a == b)
                .map(|run| match run.len() {
                    1 => input[run[0] as usize].clone(),
                    exponent => format!("{}^{exponent}", input[run[0] as usize]),
                })
                .collect();
            if powers.is_empty() { "1".into() } else { powers.join("*") }
        };
        self.terms.iter().map(name).collect()
    }
}

/// The exponents of a term's columns, in the order of the columns.
fn exponents(factors: &[u32]) -> Vec<usize> {
    factors.chunk_by(|a, b| a == b).map(<[u32]>::len).collect()
}

/// q!/(a₁! ⋯ a_d! (q − |a|)!), as a product of binomials.
fn multinomial(degree: u32, factors: &[u32]) -> f64 {
    let mut left = degree;
    let mut product = 1.0;
    for exponent in exponents(factors) {
        // (left over exponent), whole at every step.
        let mut binomial = 1.0;
        for k in 0..exponent as u32 {
            binomial = binomial * f64::from(left - k) / f64::from(k + 1);
        }
        product *= binomial;
        left -= exponent as u32;
    }
    product
}

/// How many ways there are to choose `size` of `letters` with repetition, (letters + size − 1 over size); `None` when far
/// too many.
fn multisets(letters: usize, size: u32) -> Option<usize> {
    if letters == 0 {
        return Some(0);
    }
    let mut count: u128 = 1;
    for k in 1..=u128::from(size) {
        count = count * (letters as u128 + k - 1) / k;
        if count > MOST_COLUMNS as u128 {
            return None;
        }
    }
    Some(count as usize)
}

/// Calls `visit` with each non-decreasing list of `size` columns, in lexicographic order.
fn each_multiset(columns: usize, size: u32, visit: &mut impl FnMut(&[u32])) {
    let mut list = vec![0u32; size as usize];
    if size > 0 && columns == 0 {
        return;
    }
    loop {
        visit(&list);
        let Some(place) = list.iter().rposition(|&column| (column as usize) + 1 < columns) else { return };
        let next = list[place] + 1;
        list[place..].fill(next);
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::super::tests::{column_names, dot, lifted};
    use super::*;

    #[test]
    fn degree_two_is_in_the_order_of_the_worked_example() {
        let map = Monomials::new(2, 2, 1.0, 1.0).unwrap();
        let root = 2f64.sqrt();
        assert_eq!(map.names(&column_names(2)), ["1", "x1", "x2", "x1^2", "x2^2", "x1*x2"]);
        assert_eq!(lifted(&map, &[1.0, 1.0]), [1.0, root, root, 1.0, 1.0, root]);
        let names = Monomials::new(3, 3, 1.0, 0.0).unwrap().names(&column_names(3));
        let expected = ["x1^3", "x2^3", "x3^3", "x1^2*x2", "x1^2*x3", "x1*x2^2", "x1*x3^2", "x2^2*x3", "x2*x3^2"];
        assert_eq!(names[..9], expected);
        assert_eq!(names[9..], ["x1*x2*x3"]);
    }

    #[test]
    fn no_column_leaves_the_constant_and_one_column_the_powers() {
        assert_eq!(lifted(&Monomials::new(0, 3, 1.0, 4.0).unwrap(), &[]), [8.0]);
        assert_eq!(Monomials::new(0, 3, 1.0, 0.0).unwrap().output_columns(), 0);
        assert_eq!(lifted(&Monomials::new(1, 3, 1.0, 0.0).unwrap(), &[2.0]), [8.0]);
        assert_eq!(Monomials::new(1, 32, 1.0, 1.0).unwrap().output_columns(), 33);
    }

    #[test]
    fn parameters_out_of_range_are_refused() {
        for degree in [0, 33] {
            assert!(Monomials::new(2, degree, 1.0, 1.0).is_err());
        }
        for bad in [-1.0, f64::NAN, f64::INFINITY] {
            assert!(Monomials::new(2, 2, bad, 1.0).is_err(), "{bad}");
            assert!(Monomials::new(2, 2, 1.0, bad).is_err(), "{bad}");
        }
        assert!(Monomials::new(2, 2, 0.0, 1.0).is_err());
        let error = Monomials::new(2000, 2, 1.0, 1.0).unwrap_err();
        assert_eq!(error.to_string(), "the map would make more than 1000000 columns");
        assert!(Monomials::new(usize::MAX, 32, 1.0, 1.0).is_err());
        assert!(Monomials::new(2, 32, 1e300, 1.0).unwrap_err().to_string().ends_with("too large for f64"));
    }

    proptest! {
        #[test]
        fn the_dot_product_is_the_polynomial_kernel(
            x in prop::collection::vec(-2.0..2.0f64, 1..5), degree in 1u32..6, gamma in 0.1..2.0f64,
            coef0 in prop_oneof![Just(0.0), 0.1..2.0f64], seed in prop::collection::vec(-2.0..2.0f64, 4)
        ) {
            let z = &seed[..x.len()];
            let map = Monomials::new(x.len(), degree, gamma, coef0).unwrap();
            let kernel = (gamma * dot(&x, z) + coef0).powi(degree as i32);
            // What the same sum is without cancellation.
            let size: f64 = x.iter().zip(z).map(|(x, z)| (x * z).abs()).sum();
            let size = (gamma * size + coef0).powi(degree as i32);
            let found = dot(&lifted(&map, &x), &lifted(&map, z));
            prop_assert!((found - kernel).abs() <= 1e-12 * size.max(1.0), "{found} is not {kernel}");
        }
    }
}
