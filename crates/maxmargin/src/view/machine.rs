//! What there is to say of one machine, and of all machines of a model together.

use serde::{Serialize, Serializer};

use crate::calibration::Calibration;
use crate::certificate::joint::{JointCertificate, JointEvidence};
use crate::certificate::{Certificate, Evidence};
use crate::data::Label;
use crate::landmarks::Proof;
use crate::model::{Machine, Model};
use crate::problem::{Loss, Norm, Task};
use crate::provenance::Note;
use crate::training::Penalty;

/// What a machine tells apart, the positive class first; or what else it does.
pub fn machine_name(model: &Model, machine: &Machine) -> String {
    match model.task() {
        Task::Classification => {}
        Task::Regression { .. } | Task::NuRegression { .. } => return "regression".into(),
        Task::OneClass { .. } => return "one class".into(),
        Task::Svdd { .. } => return "a ball".into(),
    }
    let name = |class: usize| model.classes()[class].text();
    format!("{} against {}", name(machine.pairing.positive), machine.pairing.negative.map_or("rest", name))
}

/// The penalty in all forms of (T.1), and which of them the user gave.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct PenaltyView {
    /// The form that was given: c, c_over_n, lambda, nu, hard or none.
    pub given: &'static str,
    /// C
    pub c: Option<f64>,
    /// C′ of C′/n
    pub c_over_n: Option<f64>,
    /// λ
    pub lambda: Option<f64>,
}

impl PenaltyView {
    /// The penalty of one machine.
    pub fn of_machine(machine: &Machine, norm: Norm, penalty: Penalty) -> Self {
        let rows = machine.rows as f64;
        let factor = if norm == Norm::L1 { 1.0 } else { 2.0 };
        PenaltyView {
            given: match penalty {
                Penalty::C(_) => "c",
                Penalty::COverN(_) => "c_over_n",
                Penalty::Lambda(_) => "lambda",
                Penalty::Nu(_) => "nu",
                Penalty::Hard => "hard",
                Penalty::None => "none",
            },
            c: machine.cost,
            c_over_n: machine.cost.map(|c| c * rows),
            lambda: machine.cost.map(|c| 1.0 / (factor * rows * c)), // (T.1)
        }
    }
}

/// The forms of the penalty that all machines of a model share. The form that the user gave always is one of them.
pub fn penalty_of_model(model: &Model) -> PenaltyView {
    let parts = model.parts();
    let all = || {
        model.machines().iter().map(|machine| PenaltyView::of_machine(machine, parts.recipe.norm, parts.recipe.penalty))
    };
    let shared = |form: fn(PenaltyView) -> Option<f64>| {
        let first = all().next().and_then(form)?;
        all().all(|forms| form(forms) == Some(first)).then_some(first)
    };
    let given = all().next().map_or("c", |forms| forms.given);
    let mut forms = PenaltyView {
        given,
        c: shared(|forms| forms.c),
        c_over_n: shared(|forms| forms.c_over_n),
        lambda: shared(|forms| forms.lambda),
    };
    match parts.recipe.penalty {
        Penalty::C(value) => forms.c = Some(value),
        Penalty::COverN(value) => forms.c_over_n = Some(value),
        Penalty::Lambda(value) => forms.lambda = Some(value),
        _ => {}
    }
    forms
}

/// A network's shape.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct NetworkView {
    /// The units of each hidden layer.
    pub hidden: Vec<usize>,
    /// What a unit makes of its sum.
    pub activation: &'static str,
}

impl NetworkView {
    /// The shape of a model's network, where it has one.
    pub fn new(model: &Model) -> Option<Self> {
        model.parts().network.as_ref().map(|network| NetworkView {
            hidden: network.layers.iter().map(|layer| layer.outputs).collect(),
            activation: network.activation.name(),
        })
    }
}

/// How many support vectors there are: all, those below their bound, and those at it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct SupportView {
    /// α ≠ 0.
    pub total: usize,
    /// α below its upper bound, in every machine.
    pub free: usize,
    /// α at its upper bound, in some machine.
    pub bounded: usize,
}

impl SupportView {
    /// The support vectors of one machine, or the rows of its dual point where it is a sum over landmarks.
    pub fn of_machine(machine: &Machine, loss: Loss) -> Self {
        if let Some(certificate) = machine.evidence.certificate() {
            let counts = certificate.counts;
            let (total, bounded) = (counts.support, counts.bounded);
            return SupportView { total, free: total.saturating_sub(bounded), bounded };
        }
        let (total, bounded) = (machine.support.len(), at_bound(machine, loss).count());
        SupportView { total, free: total - bounded, bounded }
    }

    /// The support vectors of all machines, each row counted once.
    pub fn of_model(model: &Model) -> Self {
        if model.parts().landmarks.is_some() {
            // Landmarks have no bound.
            let total = model.parts().support_rows.len();
            return SupportView { total, free: total, bounded: 0 };
        }
        let loss = model.recipe().loss;
        if let Some(evidence) = &model.parts().joint {
            let total = evidence.certificate().map_or(0, |found| found.support);
            let bounded = if loss == Loss::Hinge { joint_at_bound(model) } else { 0 };
            return SupportView { total, free: total.saturating_sub(bounded), bounded };
        }
        if let [only] = model.machines() {
            return SupportView::of_machine(only, loss);
        }
        let total = model.parts().support_rows.len();
        let mut bounded: Vec<u32> = model.machines().iter().flat_map(|machine| at_bound(machine, loss)).collect();
        bounded.sort_unstable();
        bounded.dedup();
        SupportView { total, free: total - bounded.len(), bounded: bounded.len() }
    }
}

/// The places of a machine's support vectors at the upper bound.
fn at_bound(machine: &Machine, loss: Loss) -> impl Iterator<Item = u32> {
    // A coefficient of logistic loss has no bound to reach, or is one of a relevance vector, which has none.
    let bounded = machine.cost.filter(|_| loss != Loss::Logistic);
    let bound = bounded.map_or(f64::INFINITY, |cost| loss.dual_bound(cost));
    let support = machine.support.iter().zip(&machine.coefficients);
    support.filter(move |(_, coefficient)| coefficient.abs() >= bound).map(|(&place, _)| place)
}

/// Rows of classes trained together whose own class pulls as hard as it may.
fn joint_at_bound(model: &Model) -> usize {
    let at_bound = |machine: &Machine| {
        let bound = machine.cost.unwrap_or(f64::INFINITY);
        machine.coefficients.iter().filter(|&&alpha| alpha >= bound).count()
    };
    model.machines().iter().map(at_bound).sum()
}

/// What a model says of its landmarks.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct LandmarksView {
    /// How many there are.
    pub count: usize,
    /// The largest relative gap to the exact machine that is proved, (LM.1); `None` without a proof.
    pub proved_gap: Option<f64>,
}

impl LandmarksView {
    /// The view of a model, where its support vectors are landmarks.
    pub fn new(model: &Model) -> Option<Self> {
        let parts = model.parts();
        let proved_gap = model.proved_gap();
        parts.landmarks.as_ref().map(|_| LandmarksView { count: parts.support_rows.len(), proved_gap })
    }
}

/// The two objectives and what lies between them.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct ObjectiveView {
    /// The objective at the model's own w and b.
    pub primal: f64,
    /// A bound below the optimum.
    pub dual: f64,
    /// primal − dual.
    pub gap: f64,
    /// The gap divided by |primal|.
    pub relative_gap: f64,
}

impl From<&Certificate> for ObjectiveView {
    fn from(found: &Certificate) -> Self {
        let Certificate { primal, dual, gap, relative_gap, .. } = *found;
        ObjectiveView { primal, dual, gap, relative_gap }
    }
}

impl From<&JointCertificate> for ObjectiveView {
    fn from(found: &JointCertificate) -> Self {
        let JointCertificate { primal, dual, gap, relative_gap, .. } = *found;
        ObjectiveView { primal, dual, gap, relative_gap }
    }
}

impl ObjectiveView {
    /// The objectives of machines that each have a certificate, added up.
    pub fn of_all(certificates: &[&Certificate]) -> Self {
        let sum = |number: fn(&Certificate) -> f64| certificates.iter().map(|found| number(found)).sum::<f64>();
        let (primal, gap) = (sum(|found| found.primal), sum(|found| found.gap));
        let relative_gap = if gap == 0.0 { 0.0 } else { gap / primal.abs() };
        ObjectiveView { primal, dual: sum(|found| found.dual), gap, relative_gap }
    }
}

/// A certificate, or the reason why there is none.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
#[serde(untagged)]
pub enum EvidenceView<'a> {
    /// Of one machine.
    Certificate(&'a Certificate),
    /// Of classes that were trained together.
    Joint(&'a JointCertificate),
    /// There is none, because of this.
    None {
        /// The reason.
        none: &'a str,
    },
}

impl<'a> From<&'a Evidence> for EvidenceView<'a> {
    fn from(evidence: &'a Evidence) -> Self {
        match evidence {
            Evidence::Certificate(found) => EvidenceView::Certificate(found),
            Evidence::None(none) => EvidenceView::None { none },
        }
    }
}

impl<'a> From<&'a JointEvidence> for EvidenceView<'a> {
    fn from(evidence: &'a JointEvidence) -> Self {
        match evidence {
            JointEvidence::Certificate(found) => EvidenceView::Joint(found),
            JointEvidence::None(none) => EvidenceView::None { none },
        }
    }
}

/// One machine.
#[derive(Clone, Debug, Serialize)]
pub struct MachineView<'a> {
    /// The positive class; `None` for a regression.
    pub positive: Option<&'a str>,
    /// The negative class; `None` where it is all others.
    pub negative: Option<&'a str>,
    /// How many rows it was trained on.
    pub rows: usize,
    /// Why the solver stopped.
    pub stop: &'static str,
    /// The solver's steps.
    pub iterations: u64,
    /// `None` without a certificate, here and below.
    pub objective: Option<ObjectiveView>,
    /// The largest violation of the optimality conditions.
    pub violation: Option<f64>,
    /// How many support vectors there are.
    pub support_vectors: SupportView,
    /// Training rows on the wrong side.
    pub training_errors: usize,
    /// 1/‖w‖
    pub margin: Option<f64>,
    /// Σ ξ_i
    pub slack_sum: Option<f64>,
    /// w of a linear machine.
    pub weights: Option<&'a [f64]>,
    /// b
    pub bias_value: f64,
    /// The penalty in all forms.
    pub penalty: PenaltyView,
    /// What is proved of the distance to the exact machine, where the support vectors are landmarks.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub proof: Option<Proof>,
    /// How decision values become probabilities.
    pub calibration: Option<&'a Calibration>,
    /// The certificate, or why there is none.
    pub certificate: EvidenceView<'a>,
    /// What the user should know.
    pub notes: Vec<String>,
}

impl<'a> MachineView<'a> {
    /// The view of a model's machine.
    pub fn new(model: &'a Model, machine: &'a Machine) -> Self {
        let parts = model.parts();
        let name = |class: usize| model.classes().get(class).map(Label::text);
        let certificate = machine.evidence.certificate();
        let number = parts.machine_of(machine.pairing).and(parts.recipe.place(parts.classes.len(), machine.pairing));
        let point = parts.landmarks.as_ref().zip(number).and_then(|(points, number)| points.get(number));
        MachineView {
            positive: name(machine.pairing.positive),
            negative: machine.pairing.negative.and_then(name),
            rows: machine.rows,
            stop: machine.stop.name(),
            iterations: machine.iterations,
            objective: certificate.map(ObjectiveView::from),
            violation: certificate.map(|found| found.violation),
            support_vectors: match &parts.landmarks {
                Some(_) => SupportView::of_model(model),
                None => SupportView::of_machine(machine, parts.recipe.loss),
            },
            training_errors: machine.training_errors,
            margin: certificate.map(|found| found.margin),
            slack_sum: certificate.map(|found| found.slack_sum),
            // The weights of a network are those of its last layer, which say nothing of columns.
            weights: machine.weights.as_deref().filter(|_| parts.network.is_none()),
            bias_value: machine.bias,
            penalty: PenaltyView::of_machine(machine, parts.recipe.norm, parts.recipe.penalty),
            proof: point.and_then(|point| point.proof),
            calibration: machine.calibration.as_ref(),
            certificate: EvidenceView::from(&machine.evidence),
            notes: machine.notes.iter().map(Note::to_string).collect(),
        }
    }
}

/// The machines of a model. Each view is made when it is written: 1,000 classes have 499,500 machines, whose views together would take
/// gigabytes.
#[derive(Clone, Copy, Debug)]
pub struct MachinesView<'a>(&'a Model);

impl<'a> MachinesView<'a> {
    /// The view of all machines of a model.
    pub fn new(model: &'a Model) -> Self {
        MachinesView(model)
    }
}

impl Serialize for MachinesView<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_seq(self.0.machines().iter().map(|machine| MachineView::new(self.0, machine)))
    }
}

/// What was to be solved, what solved it, and how that ended: what every report of a model begins with.
#[derive(Clone, Debug, Serialize)]
pub struct SolvedView<'a> {
    column_names: Option<&'a [String]>,
    classes: Vec<&'a str>,
    solver: &'a str,
    kernel: String,
    network: Option<NetworkView>,
    loss: &'static str,
    norm: &'static str,
    bias: &'static str,
    multiclass: &'static str,
    class_weights: Option<&'a [f64]>,
    penalty: PenaltyView,
    tolerance: f64,
    stop: &'static str,
    support_vectors: SupportView,
    fingerprint: &'a str,
}

impl<'a> SolvedView<'a> {
    /// The view of a model.
    pub fn new(model: &'a Model) -> Self {
        let parts = model.parts();
        SolvedView {
            column_names: parts.names.as_deref(),
            classes: parts.classes.iter().map(Label::text).collect(),
            solver: parts.provenance.origin.name(),
            kernel: parts.recipe.kernel.to_string(),
            network: NetworkView::new(model),
            loss: parts.recipe.loss.name(),
            norm: parts.recipe.norm.name(),
            bias: parts.recipe.bias.name(),
            multiclass: parts.recipe.multiclass.name(),
            class_weights: parts.recipe.class_weights.as_deref(),
            penalty: penalty_of_model(model),
            tolerance: parts.provenance.tolerance,
            stop: model.stop().name(),
            support_vectors: SupportView::of_model(model),
            fingerprint: &parts.provenance.fingerprint,
        }
    }
}
