//! The optimum of the dual by a general interior-point solver, from the dense Gram matrix.

use clarabel::algebra::CscMatrix;
use clarabel::solver::{DefaultSettingsBuilder, DefaultSolver, IPSolver, NonnegativeConeT, SupportedConeT, ZeroConeT};
use maxmargin::problem::{Bias, Loss};

use super::Case;

/// Two numbers that the optimum lies between, as far as the solver got.
#[derive(Clone, Copy, Debug)]
pub struct Optimum {
    pub low: f64,
    pub high: f64,
}

impl Optimum {
    /// How far a value lies outside.
    pub fn distance(&self, value: f64) -> f64 {
        (self.low - value).max(value - self.high).max(0.0)
    }

    pub fn size(&self) -> f64 {
        self.low.abs().max(self.high.abs())
    }

    /// Whether the two agree to ten digits or so.
    pub fn is_sharp(&self) -> bool {
        (self.high - self.low).abs() <= 1e-8 * self.size() + 1e-10
    }
}

/// min ½ α′Qα − Σα,  α ≥ 0,  α ≤ C (hinge),  Σ α_i y_i = 0 (explicit bias); the value with its sign turned.
pub fn optimum(case: &Case) -> Optimum {
    let n = case.len();
    let quadratic = |i: usize, j: usize| {
        let ridge = if i == j && case.loss == Loss::Squared { 0.5 / case.costs[i] } else { 0.0 };
        case.signs[i] * case.signs[j] * case.gram[i][j] + ridge
    };
    // The upper triangle, column after column.
    let (mut starts, mut rows, mut values) = (vec![0], vec![], vec![]);
    for j in 0..n {
        for i in 0..=j {
            rows.push(i);
            values.push(quadratic(i, j));
        }
        starts.push(rows.len());
    }
    let objective = CscMatrix::new(n, n, starts, rows, values);

    let equality = usize::from(case.bias == Bias::Explicit);
    let boxed = case.loss == Loss::Hinge && case.costs[0].is_finite();
    let count = equality + n + if boxed { n } else { 0 };
    let (mut starts, mut rows, mut values) = (vec![0], vec![], vec![]);
    for j in 0..n {
        if equality == 1 {
            rows.push(0);
            values.push(case.signs[j]);
        }
        rows.push(equality + j);
        values.push(-1.0);
        if boxed {
            rows.push(equality + n + j);
            values.push(1.0);
        }
        starts.push(rows.len());
    }
    let constraints = CscMatrix::new(count, n, starts, rows, values);
    let mut right = vec![0.0; equality + n];
    if boxed {
        right.extend(&case.costs);
    }
    let mut cones: Vec<SupportedConeT<f64>> = vec![];
    if equality == 1 {
        cones.push(ZeroConeT(1));
    }
    cones.push(NonnegativeConeT(count - equality));
    let settings = DefaultSettingsBuilder::default()
        .verbose(false)
        .tol_gap_abs(1e-11)
        .tol_gap_rel(1e-11)
        .tol_feas(1e-11)
        .build()
        .unwrap();
    let linear = vec![-1.0; n];
    let mut solver = DefaultSolver::new(&objective, &linear, &constraints, &right, &cones, settings).unwrap();
    solver.solve();
    let (one, other) = (-solver.solution.obj_val, -solver.solution.obj_val_dual);
    Optimum { low: one.min(other), high: one.max(other) }
}
