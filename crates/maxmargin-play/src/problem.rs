//! A request as parameters of a training.

use maxmargin::data::Label;
use maxmargin::kernel::{Gamma, KernelParams};
use maxmargin::problem::{Bias, Loss};
use maxmargin::solver::{Settings, SolverKind};
use maxmargin::training::{Penalty, TrainingParams};

use crate::error::Error;
use crate::request::{KernelName, KernelRequest, LossName, Method, ModelRequest};

/// The most bytes that caches of a fit may take.
const MEMORY: u64 = 256 << 20;
/// Sweeps of a perceptron, which on points that no line separates never comes to rest.
pub(crate) const SWEEPS: u64 = 500;
/// Sweeps of stochastic gradient descent: enough to see it come close, and few enough to step through.
const SGD_SWEEPS: u64 = 60;
/// The units of a network's hidden layer.
const HIDDEN: usize = 8;

/// What is to be trained, not yet checked.
pub(crate) fn params(model: &ModelRequest) -> Result<TrainingParams, Error> {
    let kernel = match model.method {
        Method::Svm | Method::KernelPerceptron => kernel(&model.kernel)?,
        _ => KernelParams::Linear,
    };
    let (solver, loss) = match model.method {
        Method::Svm => (model.solver.as_deref().map(solver).transpose()?, Some(loss(model.loss))),
        Method::Logistic => (None, Some(Loss::Logistic)),
        Method::Lda => (Some(SolverKind::Lda), None),
        Method::Perceptron => (Some(SolverKind::Perceptron), None),
        Method::KernelPerceptron => (Some(SolverKind::KernelPerceptron), None),
        Method::Mlp => (Some(SolverKind::Mlp), None),
    };
    let bias = match model.bias.as_deref().unwrap_or("explicit") {
        _ if !matches!(model.method, Method::Svm) => Bias::Explicit,
        "explicit" => Bias::Explicit,
        "folded" => Bias::Folded,
        "none" => Bias::None,
        other => {
            let what = format!("there is no bias {}", maxmargin::error::quoted(other));
            return Err(Error::new(what, "choose explicit, folded or none"));
        }
    };
    let penalty = match (model.method, model.c) {
        (Method::Svm, None) => Penalty::Hard,
        (Method::Svm | Method::Logistic | Method::Mlp, c) => Penalty::C(c.unwrap_or(1.0)),
        _ => Penalty::C(1.0),
    };
    let max_iterations = match (model.method, solver) {
        (Method::Perceptron | Method::KernelPerceptron, _) => Some(SWEEPS),
        (Method::Svm, Some(SolverKind::Sgd)) => Some(SGD_SWEEPS),
        _ => None,
    };
    let tolerance = model.tolerance.filter(|_| matches!(model.method, Method::Svm | Method::Logistic));
    let settings = Settings {
        tolerance,
        gap: tolerance.filter(|_| is_linear_machine(model, bias)),
        memory: MEMORY,
        max_iterations,
        hidden: vec![model.hidden.unwrap_or(HIDDEN)],
        ..Settings::default()
    };
    let positive = model.positive.as_deref().map(Label::new);
    Ok(TrainingParams { kernel, penalty, loss, bias, solver, positive, settings, ..TrainingParams::default() })
}

/// Whether Python trains the model as a linear machine, which ends at a gap as well: only then are both the same bits.
fn is_linear_machine(model: &ModelRequest, bias: Bias) -> bool {
    let is_svc = model.loss == LossName::Hinge && bias == Bias::Explicit;
    model.method == Method::Svm && model.kernel.name == KernelName::Linear && model.c.is_some() && !is_svc
}

fn loss(name: LossName) -> Loss {
    match name {
        LossName::Hinge => Loss::Hinge,
        LossName::Squared => Loss::Squared,
    }
}

/// A solver by its name.
fn solver(name: &str) -> Result<SolverKind, Error> {
    // SGD comes near the minimum only, which its steps are there to show.
    let is_ours = |kind: &SolverKind| kind.finds_minimum() || *kind == SolverKind::Sgd;
    SolverKind::ALL.into_iter().find(|kind| kind.name() == name && is_ours(kind)).ok_or_else(|| {
        let what = format!("there is no solver {} of support vector machines", maxmargin::error::quoted(name));
        let names: Vec<_> = SolverKind::ALL.into_iter().filter(is_ours).map(|kind| kind.name()).collect();
        Error::new(what, format!("the solvers are {}", names.join(", ")))
    })
}

/// A kernel with its numbers, whose ranges the training checks.
pub(crate) fn kernel(kernel: &KernelRequest) -> Result<KernelParams, Error> {
    let gamma = kernel.gamma.map_or(Gamma::Scale, Gamma::Value);
    let (coef0, degree) = (kernel.coef0, kernel.degree.unwrap_or(2));
    Ok(match kernel.name {
        KernelName::Linear => KernelParams::Linear,
        KernelName::Poly => KernelParams::Polynomial { gamma, coef0, degree },
        KernelName::Rbf => KernelParams::Rbf { gamma },
        KernelName::Laplacian => KernelParams::Laplacian { gamma },
        KernelName::Sigmoid => KernelParams::Sigmoid { gamma, coef0 },
    })
}

/// A kernel of a worked example as the page has it: its name, γ, c and q.
pub(crate) fn kernel_parts(kernel: &KernelParams) -> (&'static str, Option<f64>, Option<f64>, Option<u32>) {
    let number = |gamma: &Gamma| match gamma {
        Gamma::Value(gamma) => Some(*gamma),
        _ => None,
    };
    match kernel {
        KernelParams::Polynomial { gamma, coef0, degree } => ("poly", number(gamma), Some(*coef0), Some(*degree)),
        KernelParams::Rbf { gamma } => ("rbf", number(gamma), None, None),
        KernelParams::Laplacian { gamma } => ("laplacian", number(gamma), None, None),
        KernelParams::Sigmoid { gamma, coef0 } => ("sigmoid", number(gamma), Some(*coef0), None),
        _ => ("linear", None, None, None),
    }
}
