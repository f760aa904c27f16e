//! Sums of kernel values with coefficients: decision values, gradients and products with the kernel matrix.

use pulp::Arch;

use super::{Kernel, Panel, Points, Rows, Tiles};
use crate::simd::{Real, Run, add_runs, vectorised};
use crate::workers::Workers;

/// Rows that pass by a panel before their values are added up. More rows than this, and their values leave the L1 cache.
const ROWS_A_BLOCK: usize = 48;

/// The most kernel values that are computed without a panel.
const MOST_FEW: usize = 64;

/// Fewest sums that are handed out one by one ([`Expansion::visit_sums`]) instead of being kept for all rows of a panel.
const MANY_SUMS: usize = 1024;

/// The most rows of a block when there are many sums. The values of these rows in [`Real::NARROW`] lanes take 4 MB.
const MOST_ROWS_A_BLOCK: usize = 1 << 16;

/// Sums in one call of [`SumVisitor::visit`].
const SUMS_A_VISIT: usize = 512;

/// Kernel values that a thread of [`Expansion::visit_sums`] keeps at a time: 1 MB. Coefficients are read once for all panels that fit.
const VALUES_AT_HAND: usize = 1 << 17;
const MOST_PANELS: usize = 4;
const ROWS_FOR_ALL: usize = 512;

/// Rows that [`Expansion::visit_sums`] handles side by side.
pub(crate) const VISIT_LANES: usize = f64::NARROW;

/// The most rows that are computed one by one. For so few rows a panel of several lanes costs more.
const FEW_ROWS: usize = 2;

/// Multiplications of entries below which the work stays on one thread, because waking others takes longer.
const WORTH_A_THREAD: f64 = 1e6;

/// The cost of a kernel value beside its dot product, in multiplications.
const COST_OF_A_VALUE: f64 = 20.0;

/// Several sums of kernel values: which rows of some points take part in which sum, and with which coefficient
///
/// ```text
/// f_s(x) = Σ_j c_sj k(x, x_j),   s = 1 … sums                                                          (K.9)
/// ```
///
/// Each kernel value is computed once and serves all sums.
#[derive(Clone, Debug)]
pub(crate) struct Expansion {
    sums: usize,
    /// The rows that take part, in the order of summation, in blocks of `rows_a_block`.
    places: Vec<u32>,
    /// [`ROWS_A_BLOCK`], or all rows where there are many sums.
    rows_a_block: usize,
    /// Whether there are [`MANY_SUMS`] sums or more, so that all rows are one block.
    many: bool,
    /// The first run of each block, and the number of runs last.
    blocks: Vec<usize>,
    /// For each run, which is the terms of one sum within a block: its sum, and the end of its terms in `rows`.
    runs: Vec<(u32, usize)>,
    /// For each term the place of its row within the block.
    rows: Vec<u16>,
    coefficients: Vec<f64>,
}

/// One product of (K.9): the place in the order of summation, and the coefficient.
type Term = (usize, f64);

impl Expansion {
    /// Takes one list of rows and coefficients for each sum. Terms are summed in the order of their rows in `order`, and coefficients of
    /// 0 are left out.
    ///
    /// Rows of the same sums should follow each other in `order`, so that these sums stay in the L1 cache.
    pub(crate) fn new<'a>(order: &[u32], lists: impl Iterator<Item = (&'a [u32], &'a [f64])> + Clone) -> Self {
        let mut used = vec![false; order.len()];
        for (rows, coefficients) in lists.clone() {
            let terms = rows.iter().zip(coefficients).filter(|(_, coefficient)| **coefficient != 0.0);
            terms.for_each(|(&row, _)| used[row as usize] = true);
        }
        let places: Vec<u32> = order.iter().copied().filter(|&row| used[row as usize]).collect();
        let mut ranks = vec![0; order.len()];
        places.iter().enumerate().for_each(|(rank, &row)| ranks[row as usize] = rank);
        let terms = lists.map(|(rows, coefficients)| {
            let mut terms: Vec<Term> =
                rows.iter().zip(coefficients).map(|(&row, &coefficient)| (ranks[row as usize], coefficient)).collect();
            terms.retain(|&(_, coefficient)| coefficient != 0.0);
            terms.sort_unstable_by_key(|&(rank, _)| rank);
            terms
        });
        Self::of_terms(terms.collect(), places)
    }

    /// A single sum over rows in the order given. A row may come more than once.
    fn single(rows: &[usize], coefficients: &[f64]) -> Self {
        let nonzero = rows.iter().zip(coefficients).filter(|(_, coefficient)| **coefficient != 0.0);
        let (places, terms) = nonzero.enumerate().map(|(rank, (&row, &c))| (row as u32, (rank, c))).unzip();
        Self::of_terms(vec![terms], places)
    }

    /// Lays out the terms of each sum, given in the order of summation.
    fn of_terms(terms: Vec<Vec<Term>>, places: Vec<u32>) -> Self {
        let many = terms.len() > MANY_SUMS && places.len() <= MOST_ROWS_A_BLOCK;
        let rows_a_block = if many { places.len().max(1) } else { ROWS_A_BLOCK };
        let mut expansion = Expansion {
            sums: terms.len(),
            blocks: vec![0],
            runs: Vec::new(),
            rows: Vec::new(),
            coefficients: Vec::new(),
            rows_a_block,
            many,
            places,
        };
        let mut next = vec![0; terms.len()];
        for first in (0..expansion.places.len()).step_by(rows_a_block) {
            for (sum, terms) in terms.iter().enumerate() {
                let start = next[sum];
                while let Some(&(rank, coefficient)) = terms.get(next[sum])
                    && rank < first + rows_a_block
                {
                    expansion.rows.push((rank - first) as u16);
                    expansion.coefficients.push(coefficient);
                    next[sum] += 1;
                }
                if next[sum] > start {
                    expansion.runs.push((sum as u32, expansion.rows.len()));
                }
            }
            expansion.blocks.push(expansion.runs.len());
        }
        expansion
    }

    /// The runs of a block.
    fn runs(&self, block: usize) -> impl Iterator<Item = Run<'_>> {
        self.runs_from(self.blocks[block]..self.blocks[block + 1], 0)
    }

    /// The runs of a span, with `first` subtracted from the numbers of their sums.
    fn runs_from(&self, span: std::ops::Range<usize>, first: usize) -> impl Iterator<Item = Run<'_>> {
        let mut start = if span.start == 0 { 0 } else { self.runs[span.start - 1].1 };
        self.runs[span].iter().map(move |&(target, end)| {
            let terms = start..end;
            start = end;
            let target = target as usize - first;
            Run { target, rows: &self.rows[terms.clone()], coefficients: &self.coefficients[terms] }
        })
    }

    /// (K.9) for each row on the left, over the rows of `points`: `out[i * sums + s] = f_s(left i)`.
    ///
    /// The values of a row depend on that row alone, not on its neighbours or its thread. Work below [`WORTH_A_THREAD`] stays on the
    /// calling thread.
    ///
    /// Memory: for each thread a panel and its sums.
    pub(crate) fn values(&self, kernel: &dyn Kernel, left: Rows<'_>, points: &Points, workers: &Workers) -> Vec<f64> {
        let mut out = vec![0.0; left.len() * self.sums];
        if self.places.is_empty() || out.is_empty() {
            return out;
        }
        if kernel.of_dots().is_none() {
            self.values_one_by_one(kernel, left, points, workers, &mut out);
            return out;
        }
        let tiles = Tiles::<f64>::new(kernel, points);
        let work = (tiles.cost() + COST_OF_A_VALUE) * self.places.len() as f64 + self.rows.len() as f64;
        let alone = Workers::none();
        let workers = if work * left.len() as f64 > WORTH_A_THREAD { workers } else { &alone };
        // The number of lanes changes no value: each lane is computed by itself.
        let lanes = match left.len() {
            ..=FEW_ROWS => 1,
            // Many sums in all lanes would take hundreds of megabytes.
            rows if rows <= f64::NARROW || self.many => f64::NARROW,
            _ => f64::LANES,
        };
        let scratch = || Scratch {
            panel: match lanes {
                1 => tiles.single_panel(left.points()),
                f64::NARROW => tiles.narrow_panel(left.points()),
                _ => tiles.panel(left.points()),
            },
            values: vec![0.0; self.rows_a_block * lanes],
            sums: vec![0.0; self.sums * lanes],
        };
        let arch = Arch::new();
        let starts: Vec<usize> = (0..self.rows_a_block).map(|k| k * lanes).collect();
        workers.fill_chunks_with(&mut out, lanes * self.sums, scratch, |scratch, start, out| {
            let first = start / self.sums;
            let Scratch { panel, values, sums } = scratch;
            tiles.load(panel, &left.list()[first..first + out.len() / self.sums]);
            sums.fill(0.0);
            for (block, places) in self.places.chunks(self.rows_a_block).enumerate() {
                tiles.fill(panel, places, &starts[..places.len()], values);
                match lanes {
                    f64::LANES => add_runs::<{ f64::LANES }>(arch, self.runs(block), values, sums), // (K.9)
                    f64::NARROW => add_runs::<{ f64::NARROW }>(arch, self.runs(block), values, sums),
                    _ => add_runs::<1>(arch, self.runs(block), values, sums),
                }
            }
            for (lane, out) in out.chunks_mut(self.sums).enumerate() {
                for (sum, out) in out.iter_mut().enumerate() {
                    *out = sums[sum * lanes + lane];
                }
            }
        });
        out
    }

    /// Whether [`Expansion::visit_sums`] can be called for this kernel.
    pub(crate) fn is_visitable(&self, kernel: &dyn Kernel) -> bool {
        self.many && kernel.of_dots().is_some()
    }

    /// (K.9) for each row on the left, without keeping all sums: a thread takes [`VISIT_LANES`] rows and hands [`SUMS_A_VISIT`] of their
    /// sums at a time to a visitor. The bits are those of [`Expansion::values`].
    ///
    /// Memory: for each thread the kernel values of a few rows.
    ///
    /// # Panics
    /// When [`Expansion::is_visitable`] says no.
    pub(crate) fn visit_sums<V: SumVisitor>(
        &self,
        kernel: &dyn Kernel,
        left: Rows<'_>,
        points: &Points,
        workers: &Workers,
        visitor: &V,
    ) -> Vec<V::Found> {
        assert!(self.is_visitable(kernel), "sums are visited where they are many");
        let mut out = vec![V::Found::default(); left.len()];
        let tiles = Tiles::<f64>::new(kernel, points);
        // Kernel values of one panel.
        let size = self.rows_a_block * VISIT_LANES;
        let panels = if left.len() < ROWS_FOR_ALL { 1 } else { (VALUES_AT_HAND / size).clamp(1, MOST_PANELS) };
        let scratch = || Scratch {
            panel: tiles.narrow_panel(left.points()),
            values: vec![0.0; panels * size],
            sums: vec![0.0; SUMS_A_VISIT * VISIT_LANES],
        };
        let arch = Arch::new();
        let starts: Vec<usize> = (0..self.places.len()).map(|k| k * VISIT_LANES).collect();
        workers.fill_chunks_with(&mut out, panels * VISIT_LANES, scratch, |scratch, first, out| {
            let Scratch { panel, values, sums } = scratch;
            let rows = &left.list()[first..first + out.len()];
            for (rows, values) in rows.chunks(VISIT_LANES).zip(values.chunks_mut(size)) {
                tiles.load(panel, rows);
                tiles.fill(panel, &self.places, &starts, values);
            }
            let mut states: Vec<V::State> = rows.chunks(VISIT_LANES).map(|_| visitor.begin()).collect();
            let mut run = 0;
            for first in (0..self.sums).step_by(SUMS_A_VISIT) {
                let count = SUMS_A_VISIT.min(self.sums - first);
                let runs = self.runs[run..].iter().take_while(|(sum, _)| (*sum as usize) < first + count).count();
                for (state, values) in states.iter_mut().zip(values.chunks(size)) {
                    sums.fill(0.0);
                    add_runs::<VISIT_LANES>(arch, self.runs_from(run..run + runs, first), values, sums); // (K.9)
                    visitor.visit(state, first, &sums.as_chunks::<VISIT_LANES>().0[..count]);
                }
                run += runs;
            }
            states.into_iter().zip(out.chunks_mut(VISIT_LANES)).for_each(|(state, out)| visitor.end(state, out));
        });
        out
    }

    /// [`Expansion::values`] for kernels that are no function of the dot product: one row of kernel values at a time.
    fn values_one_by_one(
        &self,
        kernel: &dyn Kernel,
        left: Rows<'_>,
        points: &Points,
        workers: &Workers,
        out: &mut [f64],
    ) {
        let list: Vec<usize> = self.places.iter().map(|&place| place as usize).collect();
        workers.fill_chunks_with(
            out,
            self.sums,
            || vec![0.0; list.len()],
            |values, start, out| {
                let row = start / self.sums;
                kernel.block(left.slice(row..row + 1), points.rows(&list), values);
                for (block, values) in values.chunks(self.rows_a_block).enumerate() {
                    for run in self.runs(block) {
                        for (&row, &coefficient) in run.rows.iter().zip(run.coefficients) {
                            out[run.target] += coefficient * values[row as usize];
                        }
                    }
                }
            },
        );
    }
}

/// Reads the sums of [`VISIT_LANES`] rows as they are computed, and makes one result for each row: a vote, for example.
pub(crate) trait SumVisitor: Sync {
    /// What is known of these rows so far.
    type State;
    /// The result for a row.
    type Found: Clone + Default + Send;
    /// The state before the first sum.
    fn begin(&self) -> Self::State;
    /// Takes the next sums: `sums[s][lane]` is sum `first + s`.
    fn visit(&self, state: &mut Self::State, first: usize, sums: &[[f64; VISIT_LANES]]);
    /// Writes the result of each row.
    fn end(&self, state: Self::State, found: &mut [Self::Found]);
}

/// The memory of one thread.
struct Scratch<'p> {
    panel: Panel<'p, f64>,
    values: Vec<f64>,
    sums: Vec<f64>,
}

/// `f_i = Σ_j coefficients[j] · k(left i, right j)`, summed in the order of the right rows.
pub(crate) fn expand(
    kernel: &dyn Kernel,
    left: Rows<'_>,
    right: Rows<'_>,
    coefficients: &[f64],
    workers: &Workers,
) -> Vec<f64> {
    if let Some(values) = expand_few(kernel, left, right, coefficients) {
        return values;
    }
    Expansion::single(right.list(), coefficients).values(kernel, left, right.points(), workers)
}

/// [`expand`] without a panel, with the same bits, for few rows over few others of the same points. `None` where there are more.
fn expand_few(kernel: &dyn Kernel, left: Rows<'_>, right: Rows<'_>, coefficients: &[f64]) -> Option<Vec<f64>> {
    let few = left.len() * right.len() <= MOST_FEW && std::ptr::eq(left.points(), right.points());
    if !few || kernel.of_dots().is_none() {
        return None;
    }
    let mut room = [0.0; MOST_FEW];
    let values = &mut room[..left.len() * right.len()];
    if !Tiles::<f64>::new(kernel, right.points()).few(left.list(), right.list(), values) {
        return None;
    }
    let mut sums = vec![0.0; left.len()];
    vectorised(
        Arch::new(),
        #[inline(always)]
        || {
            for (sum, values) in sums.iter_mut().zip(values.chunks(right.len().max(1))) {
                let terms = coefficients.iter().zip(values).filter(|(coefficient, _)| **coefficient != 0.0);
                terms.for_each(|(&coefficient, &value)| *sum = coefficient.fused(value, *sum)); // (K.9)
            }
        },
    );
    Some(sums)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::Matrix;
    use crate::kernel::{Laplacian, Linear, Polynomial, Rbf};

    fn points(rows: usize, columns: usize, shift: f64) -> Points {
        let value = |k: usize| if k.is_multiple_of(3) { 0.0 } else { (k as f64 * 0.37 + shift).sin() };
        Points::new(Matrix::dense(rows, columns, (0..rows * columns).map(value).collect::<Vec<f64>>()).unwrap(), true)
    }

    /// Three sums over 70 rows, some of which take part in none.
    fn lists() -> [(Vec<u32>, Vec<f64>); 3] {
        [3, 4, 7].map(|step| {
            let rows: Vec<u32> = (0..70).step_by(step).collect();
            let coefficients = rows.iter().map(|&row| if row == 12 { 0.0 } else { (f64::from(row) * 0.9).cos() });
            (rows.clone(), coefficients.collect())
        })
    }

    fn expansion() -> Expansion {
        let lists = lists();
        let order: Vec<u32> = (0..70).rev().collect();
        Expansion::new(&order, lists.iter().map(|(rows, coefficients)| (&rows[..], &coefficients[..])))
    }

    #[test]
    fn each_sum_is_the_sum_of_its_terms() {
        let (left, right) = (points(45, 6, 0.0), points(70, 6, 1.0));
        let all: Vec<usize> = (0..45).collect();
        let kernels: [&dyn Kernel; 4] = [
            &Linear {},
            &Rbf { gamma: 0.3 },
            &Polynomial { gamma: 0.5, coef0: 1.0, degree: 2 },
            &Laplacian { gamma: 0.2 },
        ];
        for kernel in kernels {
            let found = expansion().values(kernel, left.rows(&all), &right, &Workers::none());
            for (row, found) in found.chunks(3).enumerate() {
                for ((rows, coefficients), found) in lists().iter().zip(found) {
                    let list: Vec<usize> = rows.iter().map(|&row| row as usize).collect();
                    let mut values = vec![0.0; list.len()];
                    kernel.block(left.rows(&[row]), right.rows(&list), &mut values);
                    let expected: f64 = values.iter().zip(coefficients).map(|(value, c)| value * c).sum();
                    assert!((found - expected).abs() < 1e-12, "{kernel:?}, row {row}: {found}, not {expected}");
                    let (list, coefficients): (Vec<usize>, Vec<f64>) = list.iter().zip(coefficients).rev().unzip();
                    let alone = expand(kernel, left.rows(&[row]), right.rows(&list), &coefficients, &Workers::none());
                    assert_eq!(alone[0].to_bits(), found.to_bits(), "{kernel:?}");
                }
            }
        }
    }

    #[test]
    fn a_row_gets_the_same_bits_alone_and_among_others_on_any_number_of_threads() {
        let (left, right) = (points(600, 30, 0.0), points(70, 30, 1.0));
        let all: Vec<usize> = (0..600).collect();
        let kernels: [&dyn Kernel; 2] = [&Rbf { gamma: 0.3 }, &Laplacian { gamma: 0.2 }];
        for kernel in kernels {
            let values = |list: &[usize], workers: &Workers| -> Vec<u64> {
                let values = expansion().values(kernel, left.rows(list), &right, workers);
                values.iter().map(|value| value.to_bits()).collect()
            };
            let whole = values(&all, &Workers::none());
            for threads in [2, 3, 4, 8] {
                assert_eq!(values(&all, &Workers::new(threads).unwrap()), whole);
            }
            for size in [1, 5, 9, 17, 33, 100] {
                let parts: Vec<u64> = all.chunks(size).flat_map(|list| values(list, &Workers::none())).collect();
                assert_eq!(parts, whole, "{size} rows at a time");
            }
        }
    }

    /// Keeps all sums.
    struct Gathered;

    impl SumVisitor for Gathered {
        type State = Vec<Vec<f64>>;
        type Found = Vec<f64>;

        fn begin(&self) -> Self::State {
            vec![Vec::new(); VISIT_LANES]
        }

        fn visit(&self, seen: &mut Self::State, first: usize, sums: &[[f64; VISIT_LANES]]) {
            assert_eq!(first, seen[0].len());
            sums.iter().for_each(|sum| sum.iter().zip(seen.iter_mut()).for_each(|(&value, seen)| seen.push(value)));
        }

        fn end(&self, seen: Self::State, found: &mut [Vec<f64>]) {
            found.iter_mut().zip(seen).for_each(|(found, seen)| *found = seen);
        }
    }

    #[test]
    fn many_sums_have_the_same_bits_when_they_are_visited_and_when_few_are_computed_alone() {
        let (left, right) = (points(21, 6, 0.0), points(70, 6, 1.0));
        let all: Vec<usize> = (0..21).collect();
        let (order, kernel) = ((0..70).collect::<Vec<u32>>(), Rbf { gamma: 0.3 });
        let terms = |sum: usize| -> (Vec<u32>, Vec<f64>) {
            let rows = (0..sum as u32 % 4).map(|k| (sum as u32 * 7 + k * 17) % 70).collect::<Vec<_>>();
            (rows, (0..sum % 4).map(|k| (sum * 3 + k) as f64 * 1e-3 + 0.1).collect())
        };
        let lists: Vec<_> = (0..2 * MANY_SUMS + 5).map(terms).collect();
        let of = |lists: &[(Vec<u32>, Vec<f64>)]| {
            Expansion::new(&order, lists.iter().map(|(rows, coefficients)| (&rows[..], &coefficients[..])))
        };
        let many = of(&lists);
        assert!(many.is_visitable(&kernel) && !of(&lists[..9]).is_visitable(&kernel));
        let whole = many.values(&kernel, left.rows(&all), &right, &Workers::none());
        let few = of(&lists[..9]).values(&kernel, left.rows(&all), &right, &Workers::none());
        for (row, values) in whole.chunks(lists.len()).enumerate() {
            assert_eq!(values[..9], few[row * 9..(row + 1) * 9]);
        }
        for threads in [1, 3] {
            let workers = Workers::new(threads).unwrap();
            let found = many.visit_sums(&kernel, left.rows(&all), &right, &workers, &Gathered);
            assert_eq!(found.concat(), whole);
        }
    }

    #[test]
    fn a_few_rows_of_the_same_points_get_the_bits_that_many_get() {
        let points = points(70, 6, 0.0);
        let (left, right) = (vec![3, 9, 4], vec![5, 0, 33, 7, 9]);
        let coefficients = [0.3, -1.7, 0.0, 0.9, 1e-3];
        let all: Vec<usize> = (0..70).collect();
        for kernel in [&Rbf { gamma: 0.3 } as &dyn Kernel, &Linear {}, &Laplacian { gamma: 0.2 }] {
            let many = expand(kernel, points.rows(&all), points.rows(&right), &coefficients, &Workers::none());
            let few = expand(kernel, points.rows(&left), points.rows(&right), &coefficients, &Workers::none());
            assert!(left.iter().zip(few).all(|(&row, value)| value.to_bits() == many[row].to_bits()), "{kernel:?}");
        }
    }

    #[test]
    fn sums_of_nothing_are_zero() {
        let points = points(4, 3, 0.0);
        let none = expand(&Linear {}, points.rows(&[0, 2]), points.rows(&[1, 3]), &[0.0, 0.0], &Workers::none());
        assert_eq!(none, [0.0, 0.0]);
        assert!(expand(&Linear {}, points.rows(&[]), points.rows(&[1]), &[1.0], &Workers::none()).is_empty());
    }
}
