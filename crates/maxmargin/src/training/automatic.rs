//! What the data says of a good kernel and scaling, where nobody has named any, and the units in which a regression counts.

use super::{Penalty, TrainingParams};
use crate::data::{Matrix, ScalingKind};
use crate::kernel::{Gamma, KernelParams};
use crate::model::Multiclass;
use crate::problem::{Loss, Norm, Task};
use crate::solver::{Domain, SolverKind};

/// The most rows that get a Gaussian kernel. A fit of 50,000 rows of 54 columns takes seconds on two cores; twice as many take 2.7 times as long,
/// and more where classes overlap. Larger values let a first training take minutes.
pub const MOST_GAUSSIAN_ROWS: usize = 50_000;

/// The fewest rows that get one. Fewer say too little about a curved boundary.
pub const FEWEST_GAUSSIAN_ROWS: usize = 30;

/// A kernel and a scaling, and why.
#[derive(Clone, Debug)]
pub struct AutomaticChoice {
    /// The kernel.
    pub kernel: KernelParams,
    /// What is done to the columns.
    pub scaling: ScalingKind,
    /// Why, in words.
    pub reason: String,
}

/// The kernel and the scaling that suit some rows, for parameters that name neither:
///
/// | rows | kernel | columns |
/// | --- | --- | --- |
/// | any, on landmarks | Gaussian, gamma = scale | standardised where full |
/// | sparse and no table, or with more columns than rows | linear | as they are |
/// | fewer than [`FEWEST_GAUSSIAN_ROWS`], or a hard margin | linear | as they are |
/// | full, and the other parameters go with a linear kernel only | linear | standardised |
/// | full, more than [`MOST_GAUSSIAN_ROWS`] | linear | standardised |
/// | full | Gaussian, gamma = scale | standardised |
///
/// Rows are full when at least half of their values are not 0, or when they are those of a table (`is_table`: CSV, Parquet, an array), whose zeros
/// are values like others: counts, and columns that categories were made into.
///
/// # Examples
/// ```
/// use maxmargin::data::{ScalingKind, embedded};
/// use maxmargin::kernel::{Gamma, KernelParams};
/// use maxmargin::training::{TrainingParams, choose_kernel};
///
/// let iris = embedded("iris").unwrap();
/// let chosen = choose_kernel(&TrainingParams::default(), iris.matrix(), true);
/// assert!(matches!(chosen.kernel, KernelParams::Rbf { gamma: Gamma::Scale }));
/// assert_eq!(chosen.scaling, ScalingKind::Standard);
/// ```
pub fn choose_kernel(params: &TrainingParams, matrix: &Matrix, is_table: bool) -> AutomaticChoice {
    let (rows, columns) = (matrix.rows(), matrix.columns());
    let linear = |scaling, reason: String| AutomaticChoice { kernel: KernelParams::Linear, scaling, reason };
    let share = matrix.entries() as f64 / (rows as f64 * columns as f64).max(1.0);
    if params.landmarks.is_some() {
        let scaling = if share < 0.5 && !is_table { ScalingKind::None } else { ScalingKind::Standard };
        let reason = "landmarks stand in for the rows of a kernel".into();
        return AutomaticChoice { kernel: KernelParams::Rbf { gamma: Gamma::Scale }, scaling, reason };
    }
    if share < 0.5 && !is_table {
        return linear(
            ScalingKind::None,
            format!("the rows are sparse, {:.2} % of their values are not 0", 100.0 * share),
        );
    }
    if columns > rows {
        return linear(ScalingKind::None, format!("there are more columns ({columns}) than rows ({rows})"));
    }
    if params.penalty == Penalty::Hard {
        return linear(ScalingKind::None, "a hard margin is asked of the columns as they are".into());
    }
    if rows < FEWEST_GAUSSIAN_ROWS {
        return linear(ScalingKind::None, format!("there are fewer than {FEWEST_GAUSSIAN_ROWS} rows"));
    }
    if let Some(what) = needs_linear_kernel(params) {
        return linear(ScalingKind::Standard, format!("{what} goes with the linear kernel, and the columns are full"));
    }
    if rows > MOST_GAUSSIAN_ROWS {
        let reason = format!("there are more than {MOST_GAUSSIAN_ROWS} rows, for which other kernels take long");
        return linear(ScalingKind::Standard, reason);
    }
    AutomaticChoice {
        kernel: KernelParams::Rbf { gamma: Gamma::Scale },
        scaling: ScalingKind::Standard,
        reason: format!("a table of full columns and at most {MOST_GAUSSIAN_ROWS} rows"),
    }
}

/// What of the parameters goes with the linear kernel only, if anything.
fn needs_linear_kernel(params: &TrainingParams) -> Option<String> {
    let goes = |domain: &Domain| {
        let takes_loss = params.loss.is_none_or(|loss| domain.losses.contains(&loss));
        domain.any_kernel && takes_loss && domain.biases.contains(&params.bias)
    };
    let takes_kernels = |kind: SolverKind| kind.facts().domains.iter().any(goes);
    match (params.solver, params.loss) {
        (Some(kind), _) if !takes_kernels(kind) => return Some(format!("the solver {}", kind.name())),
        // Without a name a kernel gets this solver.
        (None, Some(loss)) if !takes_kernels(SolverKind::BlockSmo) => return Some(format!("{} loss", loss.name())),
        _ => (),
    }
    if params.norm == Norm::L1 {
        return Some("the L1 norm".into());
    }
    if params.penalty == Penalty::None {
        return Some("a model without a penalty".into());
    }
    let is_joint = matches!(params.multiclass, Some(Multiclass::Joint | Multiclass::CrammerSinger));
    is_joint.then(|| "a problem of all classes together".into())
}

impl TrainingParams {
    /// The parameters of a regression whose C and ε are meant for targets in units of their standard deviation s, and s itself. The problem
    /// is the one that targets divided by s would give, so that C and ε mean the same whatever the targets are measured in:
    ///
    /// ```text
    /// ε ← s ε,   C ← s C for the slack, C for its square,   s² = 1/n Σ (t_i − t̄)²                          (T.4)
    /// ```
    ///
    /// What is trained is an ordinary regression: its certificate is in the targets' own units. Of equal targets s is 1; other tasks stay
    /// as they are.
    ///
    /// # Examples
    /// ```
    /// use maxmargin::TrainingParams;
    /// use maxmargin::problem::Task;
    /// use maxmargin::training::Penalty;
    ///
    /// let params = TrainingParams { task: Task::Regression { epsilon: 0.1 }, ..TrainingParams::default() };
    /// let (params, deviation) = params.in_deviations_of(&[10.0, 30.0]);
    /// assert_eq!((params.task, params.penalty, deviation), (Task::Regression { epsilon: 1.0 }, Penalty::C(10.0), 10.0));
    /// ```
    pub fn in_deviations_of(mut self, targets: &[f64]) -> (Self, f64) {
        let count = targets.len().max(1) as f64;
        let mean = targets.iter().sum::<f64>() / count;
        let deviation = (targets.iter().map(|target| (target - mean).powi(2)).sum::<f64>() / count).sqrt();
        let usable = deviation > 0.0 && deviation.is_finite();
        if !(usable && self.task.is_regression()) {
            return (self, 1.0);
        }
        // (T.4)
        if let Task::Regression { epsilon } = &mut self.task {
            *epsilon *= deviation;
        }
        if self.loss.unwrap_or_default() == Loss::Hinge {
            self.penalty = match self.penalty {
                Penalty::C(c) => Penalty::C(c * deviation),
                Penalty::COverN(c) => Penalty::COverN(c * deviation),
                Penalty::Lambda(lambda) => Penalty::Lambda(lambda / deviation),
                other => other,
            };
        }
        (self, deviation)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::problem::Bias;

    fn full(rows: usize, columns: usize) -> Matrix {
        Matrix::dense(rows, columns, vec![1.0; rows * columns]).unwrap()
    }

    fn chosen(params: &TrainingParams, matrix: &Matrix) -> (&'static str, ScalingKind) {
        let found = choose_kernel(params, matrix, false);
        (if matches!(found.kernel, KernelParams::Linear) { "linear" } else { "rbf" }, found.scaling)
    }

    #[test]
    fn the_shape_of_the_rows_decides_where_nothing_is_named() {
        let params = TrainingParams::default();
        let (none, standard) = (ScalingKind::None, ScalingKind::Standard);
        assert_eq!(chosen(&params, &full(100, 4)), ("rbf", standard));
        assert_eq!(chosen(&params, &full(MOST_GAUSSIAN_ROWS, 1)), ("rbf", standard));
        assert_eq!(chosen(&params, &full(MOST_GAUSSIAN_ROWS + 1, 1)), ("linear", standard));
        assert_eq!(chosen(&params, &full(FEWEST_GAUSSIAN_ROWS - 1, 2)), ("linear", none));
        assert_eq!(chosen(&params, &full(FEWEST_GAUSSIAN_ROWS, 2)), ("rbf", standard));
        assert_eq!(chosen(&params, &full(40, 41)), ("linear", none));
        // One of four values, and two of four.
        let sparse = |entries: u32| {
            let offsets: Vec<u64> = (0..=40).map(|row| u64::from(entries * row)).collect();
            let indices: Vec<u32> = (0..40).flat_map(|_| 0..entries).collect();
            Matrix::sparse(40, 4, offsets, indices, vec![1.0; 40 * entries as usize]).unwrap()
        };
        assert_eq!(chosen(&params, &sparse(1)), ("linear", none));
        assert_eq!(chosen(&params, &sparse(2)), ("rbf", standard));
        let table = choose_kernel(&params, &sparse(1), true);
        assert!(matches!(table.kernel, KernelParams::Rbf { .. }), "the zeros of a table are values");
    }

    #[test]
    fn what_only_a_linear_kernel_can_do_gets_one() {
        let matrix = full(100, 4);
        let default = TrainingParams::default;
        for params in [
            TrainingParams { solver: Some(SolverKind::PrimalNewton), ..default() },
            TrainingParams { solver: Some(SolverKind::DualAscent), ..default() },
            TrainingParams { loss: Some(Loss::Logistic), ..default() },
            TrainingParams { norm: Norm::L1, ..default() },
            TrainingParams { penalty: Penalty::None, ..default() },
            TrainingParams { multiclass: Some(Multiclass::CrammerSinger), ..default() },
        ] {
            assert_eq!(chosen(&params, &matrix), ("linear", ScalingKind::Standard), "{params:?}");
        }
        let hard = TrainingParams { penalty: Penalty::Hard, ..default() };
        assert_eq!(chosen(&hard, &matrix), ("linear", ScalingKind::None));
        let folded = TrainingParams { solver: Some(SolverKind::DualAscent), bias: Bias::Folded, ..default() };
        assert_eq!(chosen(&folded, &matrix), ("rbf", ScalingKind::Standard));
    }

    #[test]
    fn a_deviation_scales_what_counts_in_units_of_the_targets_and_nothing_else() {
        let regression = |loss, penalty| TrainingParams {
            task: Task::Regression { epsilon: 0.5 },
            loss: Some(loss),
            penalty,
            ..TrainingParams::default()
        };
        let of = |loss, penalty| regression(loss, penalty).in_deviations_of(&[-4.0, 4.0]).0;
        assert_eq!(of(Loss::Hinge, Penalty::C(1.0)).task, Task::Regression { epsilon: 2.0 });
        assert_eq!(of(Loss::Hinge, Penalty::COverN(3.0)).penalty, Penalty::COverN(12.0));
        assert_eq!(of(Loss::Hinge, Penalty::Lambda(1.0)).penalty, Penalty::Lambda(0.25));
        assert_eq!(of(Loss::Squared, Penalty::C(1.0)).penalty, Penalty::C(1.0));
        for targets in [&[][..], &[3.0, 3.0], &[f64::MAX, f64::MIN]] {
            let (same, deviation) = regression(Loss::Hinge, Penalty::C(1.0)).in_deviations_of(targets);
            assert_eq!((same.penalty, deviation), (Penalty::C(1.0), 1.0), "{targets:?}");
        }
        let (same, deviation) = TrainingParams::default().in_deviations_of(&[-4.0, 4.0]);
        assert_eq!((same.penalty, deviation), (Penalty::C(1.0), 1.0));
    }
}
