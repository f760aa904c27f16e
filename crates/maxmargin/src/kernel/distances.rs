//! What kernels of one family are functions of, for all pairs of rows: computed once, it gives the kernel values of every γ, degree and constant.

use std::ops::ControlFlow;

use super::{Gram, KernelFunction, Linear, Points, pairs};
use crate::simd::{Real, vectorised};
use crate::workers::Workers;

/// The part of `‖x‖² + ‖z‖²` below which `‖x − z‖²` is computed from differences: less has lost nine of sixteen digits. Larger: more distances
/// are computed twice.
const LOST: f64 = 1e-9;

/// Rows that are computed at a time.
const ROWS_A_BLOCK: usize = 256;

/// What the values of a kernel are a function of.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Base {
    /// `⟨x, z⟩`
    Dots,
    /// `‖x − z‖²`
    Squares,
    /// `‖x − z‖₁`
    Sums,
}

impl Base {
    /// What a kernel is a function of, if it is one of these, and its values have no other part.
    pub(crate) fn of(kernel: &KernelFunction) -> Option<Self> {
        match kernel {
            KernelFunction::Linear(_) | KernelFunction::Polynomial(_) => Some(Base::Dots),
            KernelFunction::Rbf(_) => Some(Base::Squares),
            KernelFunction::Laplacian(_) => Some(Base::Sums),
            _ => None,
        }
    }

    /// The numbers of all pairs of these rows, row after row: computed in double precision, then rounded to T. `poll` is asked between blocks of
    /// 256 rows.
    ///
    /// Cost: O(rows² · columns). Memory: rows² numbers of T, and 256 rows of double precision.
    pub(crate) fn numbers<T: Real, B>(
        self,
        points: &Points,
        rows: &[usize],
        workers: &Workers,
        poll: &mut dyn FnMut() -> ControlFlow<B>,
    ) -> ControlFlow<B, Vec<T>> {
        let mut all = vec![T::default(); rows.len() * rows.len()];
        let mut block = vec![0.0; ROWS_A_BLOCK.min(rows.len()) * rows.len()];
        for (left, out) in rows.chunks(ROWS_A_BLOCK).zip(all.chunks_mut(ROWS_A_BLOCK * rows.len().max(1))) {
            poll()?;
            let block = &mut block[..out.len()];
            self.fill(points, left, rows, workers, block);
            workers.fill_chunks(out, rows.len(), |start, out| {
                out.iter_mut().zip(&block[start..]).for_each(|(out, &value)| *out = T::of(value));
            });
        }
        ControlFlow::Continue(all)
    }

    fn fill(self, points: &Points, left: &[usize], right: &[usize], workers: &Workers, out: &mut [f64]) {
        if self == Base::Sums {
            return workers.fill_chunks(out, right.len(), |start, out| {
                let row = start / right.len();
                pairs::column_sums(points.rows(&left[row..=row]), points.rows(right), out, |x, z| (x - z).abs());
            });
        }
        Gram::new(&Linear {}, points, workers).block(left, right, out);
        if self == Base::Squares {
            workers.fill_chunks(out, right.len(), |start, out| {
                let i = left[start / right.len()];
                for (value, &j) in out.iter_mut().zip(right) {
                    let norms = points.squared_norm(i) + points.squared_norm(j);
                    *value = if i == j { 0.0 } else { (norms - 2.0 * *value).max(0.0) };
                    if i != j && !(*value >= LOST * norms) {
                        *value = pairs::squared_differences(points.matrix(), i, points.matrix(), j);
                    }
                }
            });
        }
    }
}

impl KernelFunction {
    /// The kernel values of numbers of its [`Base`], in their place. `false` for kernels that have none.
    pub(crate) fn of_base<T: Real>(&self, numbers: &[T], out: &mut [T]) -> bool {
        let arch = pulp::Arch::new();
        match self {
            KernelFunction::Linear(_) => out.copy_from_slice(numbers),
            KernelFunction::Rbf(super::Rbf { gamma }) | KernelFunction::Laplacian(super::Laplacian { gamma }) => {
                let factor = T::of(-gamma);
                vectorised(
                    arch,
                    #[inline(always)]
                    || out.iter_mut().zip(numbers).for_each(|(out, &number)| *out = factor.times(number).exp()), // (K.3), (K.5)
                );
            }
            KernelFunction::Polynomial(super::Polynomial { gamma, coef0, degree }) => {
                let (gamma, coef0, degree) = (*gamma, *coef0, *degree as i32);
                for (out, &number) in out.iter_mut().zip(numbers) {
                    *out = T::of((gamma * Into::<f64>::into(number) + coef0).powi(degree)); // (K.2)
                }
            }
            _ => return false,
        }
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::generate;
    use crate::kernel::{Laplacian, Polynomial, Rbf};

    #[test]
    fn values_of_the_base_are_those_of_the_kernel() {
        let data = generate("blobs", 300, 3).unwrap();
        let far = data.matrix().rebuild(data.columns(), |_, entries, out| {
            out.extend(entries.iter().map(|&(column, value)| (column, value + 1e5)));
        });
        for (matrix, bound) in [(data.matrix().clone(), 1e-12), (data.matrix().to_sparse(), 1e-12), (far, 1e-4)] {
            for kernel in [
                KernelFunction::Rbf(Rbf { gamma: 0.7 }),
                KernelFunction::Laplacian(Laplacian { gamma: 0.3 }),
                KernelFunction::Polynomial(Polynomial { gamma: 1e-3, coef0: 1.0, degree: 3 }),
                KernelFunction::Linear(Linear {}),
            ] {
                let points = Points::new(matrix.clone(), false);
                let rows: Vec<usize> = (0..points.len()).rev().collect();
                let workers = Workers::new(2).unwrap();
                let mut poll = || ControlFlow::<()>::Continue(());
                let base = Base::of(&kernel).unwrap();
                let numbers: Vec<f64> = base.numbers(&points, &rows, &workers, &mut poll).continue_value().unwrap();
                let mut found = vec![0.0; numbers.len()];
                assert!(kernel.of_base(&numbers, &mut found));
                let mut expected = vec![0.0; numbers.len()];
                Gram::new(&kernel, &points, &workers).block(&rows, &rows, &mut expected);
                let near = |(a, b): (&f64, &f64)| (a - b).abs() <= bound * (1.0 + b.abs());
                assert!(found.iter().zip(&expected).all(near), "{kernel}");
            }
        }
    }
}
