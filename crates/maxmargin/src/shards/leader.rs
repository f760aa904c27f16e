//! The leader: rounds of questions to all shards, one search for each machine, and a model at the end.

use super::check::Expected;
use super::fold::fold;
use super::message::{Answer, Ask, Body, Move, Plan, Question, Request, Sums, Survey};
use super::search::{Search, Terms};
use super::wire::{from_bytes, to_bytes, wire_struct};
use crate::certificate::{Certificate, Evidence};
use crate::control::{Progress, Stop};
use crate::data::{Label, Labels, ScalingKind};
use crate::error::{Error, bytes, quoted};
use crate::kernel::{KernelFunction, KernelParams, Linear};
use crate::model::{Machine, Model, ModelParts};
use crate::problem::{Bias, Direction, Loss, Norm, Penalty, RowLoss, Task};
use crate::provenance::{Note, Origin, Provenance, SolverKind};
use crate::recipe::{Multiclass, Pairing, Recipe};
use crate::training::{Training, TrainingParams};

/// The most columns for which shards send a matrix: 600 columns are 1.4 MB for each shard and machine.
const MOST_MATRIX_COLUMNS: usize = 600;
/// The most steps unless the settings say otherwise.
const MOST_STEPS: u64 = 2000;
/// The first bytes of a snapshot.
const MAGIC: &str = "maxmargin shards 1";

/// What came of an answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Heard {
    /// It is taken; others are missing.
    Taken,
    /// It was the last one of its round: there is a new request, or none.
    RoundDone,
    /// It is of another training or another round, or the shard has answered before: it changes nothing.
    Known,
    /// The shard wants the request in full.
    Behind,
    /// The answer does not hold, for this reason. The shard's answer is still missing.
    Wrong(String),
}

/// Leads a training on shards: it says what to ask, and hears the answers in any order.
///
/// It knows nothing of where the shards are. Whoever drives it carries [`Leader::request`] to each of them and their answers to
/// [`Leader::hear`], until there is no request any more; [`Training::fit_shards`] is the shortest such driver.
#[derive(Debug)]
pub struct Leader {
    training: Training,
    number: u64,
    shards: usize,
    round: u64,
    plan: Option<Plan>,
    terms: Option<Terms>,
    searches: Vec<Search>,
    surveys: Vec<Survey>,
    /// What was known of the rows before a training was broken off, or when it was done.
    expected: Option<Expectation>,
    /// What is to be certified, where nothing is searched for.
    proof: Option<Proof>,
    pending: Pending,
}

/// What the rows of all shards must be.
#[derive(Clone, Debug, PartialEq)]
struct Expectation {
    fingerprints: Vec<String>,
}

/// The answers of a round.
#[derive(Debug)]
enum Pending {
    Surveys(Vec<Option<Survey>>),
    Sums(Vec<Option<Vec<Sums>>>),
}

/// What a training on shards has found.
#[derive(Clone, Debug)]
pub struct FittedShards {
    /// The model. The coefficients of the rows have stayed in the shards, so its machines have no certificates of their own.
    pub model: Model,
    /// The certificate of each machine; `None` where the training was broken off before it was computed.
    pub certificates: Vec<Option<Certificate>>,
    /// What makes the coefficients of the rows again, and so the certificates: see [`Leader::verifying`].
    pub proof: Proof,
    /// How many times all shards were asked.
    pub rounds: u64,
    /// The kinds of processors that answered. Where there are several, their last bits may differ.
    pub processors: Vec<String>,
}

/// Weights, and the moves of the centres that led to them: from these each shard computes the coefficients of its rows again, and so a
/// point of the dual. It is a proof whatever it was made from, because the coefficients are within their bounds by construction.
#[derive(Clone, Debug, PartialEq)]
pub struct Proof {
    machines: Vec<MachineProof>,
    fingerprints: Vec<String>,
    /// The weights of the classes.
    gap: f64,
}

#[derive(Clone, Debug, PartialEq)]
struct MachineProof {
    point: Direction,
    sharpness: f64,
    journal: Vec<Move>,
}

#[derive(Debug, PartialEq)]
struct Snapshot {
    magic: String,
    version: String,
    params: String,
    shards: usize,
    round: u64,
    searches: Vec<Search>,
    expected: Expectation,
}

wire_struct!(MachineProof { point, sharpness, journal });
wire_struct!(Proof { machines, fingerprints, gap });
wire_struct!(Expectation { fingerprints });
wire_struct!(Snapshot { magic, version, params, shards, round, searches, expected });

impl Proof {
    /// The proof as bytes.
    pub fn to_bytes(&self) -> Vec<u8> {
        to_bytes(self)
    }

    /// The proof that these bytes are.
    ///
    /// # Errors
    /// When they are none.
    pub fn from_bytes(bytes: &[u8]) -> Result<Self, Error> {
        from_bytes(bytes).ok_or_else(|| Error::Data {
            what: "these bytes are no proof of this version".into(),
            help: "verify with the version of maxmargin that trained the model".into(),
        })
    }
}

/// Whether a training can be done on shards.
///
/// # Errors
/// When its kernel, solver, penalty, scaling or way of several classes cannot; the help says what can.
pub fn supports_shards(params: &TrainingParams) -> Result<(), Error> {
    let refuse = |what: &str, help: &str| {
        Err(Error::Combination { what: format!("{what} cannot be trained on shards"), help: help.into() })
    };
    if !matches!(params.kernel, KernelParams::Linear) {
        return refuse("a kernel other than linear", "leave out the kernel");
    }
    if !matches!(params.task, Task::Classification | Task::Regression { .. }) {
        return refuse(params.task.name(), "choose task classification or regression");
    }
    if params.norm == Norm::L1 {
        return refuse("the L1 norm", "choose norm l2");
    }
    if !matches!(params.solver, None | Some(SolverKind::PrimalNewton)) {
        return refuse("the solver that was named", "name the solver primal-newton, or none");
    }
    if matches!(params.penalty, Penalty::Hard | Penalty::None | Penalty::Nu(_)) {
        return refuse("a hard margin, nu or no penalty", "choose C, c-over-n or lambda");
    }
    if params.scaling != ScalingKind::None {
        return refuse("columns that are to be scaled", "scale the columns beforehand");
    }
    if params.positive.is_some() {
        return refuse("one label against all others", "give labels of two classes");
    }
    if !matches!(params.multiclass, None | Some(Multiclass::OneVsRest)) {
        return refuse("classes by pairs or together", "choose each class against the rest (ovr)");
    }
    Ok(())
}

impl Leader {
    /// A training on this many shards. `number` tells it from other trainings on the same workers, and changes nothing else.
    ///
    /// # Errors
    /// When there is no shard, or the training cannot be done on shards ([`supports_shards`]).
    pub fn new(training: Training, shards: usize, number: u64) -> Result<Self, Error> {
        supports_shards(training.params())?;
        if shards == 0 {
            return Err(Error::Data { what: "there are no shards".into(), help: "give rows to learn from".into() });
        }
        Ok(Leader {
            training,
            number,
            shards,
            round: 0,
            plan: None,
            terms: None,
            searches: Vec::new(),
            surveys: Vec::new(),
            expected: None,
            proof: None,
            pending: Pending::Surveys(vec![None; shards]),
        })
    }

    /// Certifies what another training has found, on the same rows or others, without a search.
    ///
    /// # Errors
    /// As [`Leader::new`].
    pub fn verifying(training: Training, shards: usize, number: u64, proof: Proof) -> Result<Self, Error> {
        Ok(Leader { proof: Some(proof), ..Leader::new(training, shards, number)? })
    }

    /// Goes on with a training that was broken off, from [`Leader::snapshot`]. The rows are surveyed again, and have to be the same. The
    /// number must be another one than before, so that late answers are known as such.
    ///
    /// # Errors
    /// When the bytes are no snapshot of this version, or of another training.
    pub fn restore(training: Training, shards: usize, number: u64, bytes: &[u8]) -> Result<Self, Error> {
        let refuse = |what: String| Error::Data { what, help: "remove the checkpoint to begin anew".into() };
        let damaged = || refuse("the checkpoint is damaged, or of another version".into());
        let (body, hash) = bytes.split_at_checked(bytes.len().saturating_sub(blake3::OUT_LEN)).ok_or_else(damaged)?;
        if blake3::hash(body).as_bytes() != hash {
            return Err(damaged());
        }
        let found: Snapshot = from_bytes(body).ok_or_else(damaged)?;
        if found.magic != MAGIC || found.version != env!("CARGO_PKG_VERSION") {
            return Err(damaged());
        }
        let mut leader = Leader::new(training, shards, number)?;
        if found.params != leader.described() {
            return Err(refuse("the checkpoint is of a training with other parameters".into()));
        }
        if found.shards != shards {
            return Err(refuse(format!(
                "the checkpoint is of a training on {} shards, and these are {shards}",
                found.shards
            )));
        }
        (leader.round, leader.searches, leader.expected) = (found.round, found.searches, Some(found.expected));
        Ok(leader)
    }

    /// Where the training is, as bytes: at the beginning of the round that is being asked.
    pub fn snapshot(&self) -> Vec<u8> {
        let mut found = to_bytes(&Snapshot {
            magic: MAGIC.into(),
            version: env!("CARGO_PKG_VERSION").into(),
            params: self.described(),
            shards: self.shards,
            round: self.round,
            searches: self.searches.clone(),
            expected: Expectation { fingerprints: self.fingerprints() },
        });
        let hash = blake3::hash(&found);
        found.extend_from_slice(hash.as_bytes());
        found
    }

    /// Whether a snapshot is of any use yet: before the survey is done there is nothing to keep.
    pub fn has_begun(&self) -> bool {
        self.terms.is_some()
    }

    /// What the parameters are, but for limits that do not change the way.
    fn described(&self) -> String {
        let mut params = self.training.params().clone();
        (params.settings.memory, params.settings.max_iterations) = (0, None);
        format!("{params:?}")
    }

    fn fingerprints(&self) -> Vec<String> {
        match &self.expected {
            Some(expected) => expected.fingerprints.clone(),
            None => self.surveys.iter().map(|survey| survey.fingerprint.clone()).collect(),
        }
    }

    /// What to ask every shard now; `None` when the training is done.
    pub fn request(&self) -> Option<Request> {
        let mut request = self.request_in_full()?;
        for ask in &mut request.0.asks {
            ask.journal = None;
            if !matches!(ask.what, super::message::What::Look { .. }) {
                ask.point = None;
            }
        }
        Some(request)
    }

    /// [`Leader::request`] for a shard that remembers nothing, such as one that was lost and made again.
    pub fn request_in_full(&self) -> Option<Request> {
        let asks = self.asks();
        if self.terms.is_some() && asks.is_empty() {
            return None;
        }
        let plan = self.terms.as_ref().and(self.plan.clone());
        Some(Request(Question { training: self.number, round: self.round, plan, asks }))
    }

    fn asks(&self) -> Vec<Ask> {
        let Some(terms) = &self.terms else { return Vec::new() };
        self.searches.iter().filter_map(|search| search.ask(terms)).collect()
    }

    /// The shards whose answers are missing in this round.
    pub fn missing(&self) -> Vec<usize> {
        let is_missing = |shard: &usize| match &self.pending {
            Pending::Surveys(answers) => answers[*shard].is_none(),
            Pending::Sums(answers) => answers[*shard].is_none(),
        };
        (0..self.shards).filter(is_missing).collect()
    }

    /// Takes an answer. The last one of a round makes the next request.
    ///
    /// # Errors
    /// When a shard cannot take part, or no problem can be made of the rows of all shards.
    pub fn hear(&mut self, answer: &Answer) -> Result<Heard, Error> {
        let reply = &answer.0;
        let is_missing = |shard: usize| match &self.pending {
            Pending::Surveys(answers) => answers.get(shard).is_some_and(Option::is_none),
            Pending::Sums(answers) => answers.get(shard).is_some_and(Option::is_none),
        };
        if reply.training != self.number || reply.round != self.round || !is_missing(reply.shard) {
            return Ok(Heard::Known);
        }
        match &reply.body {
            Body::Behind {} => return Ok(Heard::Behind),
            Body::Refused { what, help } => return Err(Error::Data { what: what.clone(), help: help.clone() }),
            Body::Survey { survey } => {
                let Pending::Surveys(answers) = &mut self.pending else {
                    return Ok(Heard::Wrong("it is a survey, and sums were asked for".into()));
                };
                if let Err(reason) = check_survey(survey) {
                    return Ok(Heard::Wrong(reason));
                }
                answers[reply.shard] = Some(survey.clone());
            }
            Body::Sums { sums } => {
                if let Err(reason) = self.check(reply.shard, sums) {
                    return Ok(Heard::Wrong(reason));
                }
                if let Pending::Sums(answers) = &mut self.pending {
                    answers[reply.shard] = Some(sums.clone());
                }
            }
        }
        if !self.missing().is_empty() {
            return Ok(Heard::Taken);
        }
        self.end_round()?;
        Ok(Heard::RoundDone)
    }

    /// The checks of every machine's sums.
    fn check(&self, shard: usize, sums: &[Sums]) -> Result<(), String> {
        let (Pending::Sums(_), Some(plan)) = (&self.pending, &self.plan) else {
            return Err("they are sums, and a survey was asked for".into());
        };
        let asks = self.asks();
        if sums.len() != asks.len() {
            return Err(format!("it has sums for {} machines, and {} were asked for", sums.len(), asks.len()));
        }
        let survey = &self.surveys[shard];
        let costs = self.costs_of(survey, plan);
        let rows = survey.weighted_rows.iter().sum();
        asks.iter().zip(sums).try_for_each(|(ask, sums)| {
            Expected { columns: plan.columns, bias: plan.bias, costs, rows, ask }.check(sums)
        })
    }

    /// Σ C_i of a shard.
    fn costs_of(&self, survey: &Survey, plan: &Plan) -> f64 {
        let of_label = |text: &String| {
            let label = Label::new(text);
            let place = plan.classes.iter().position(|class| Label::new(class) == label);
            place.and_then(|place| plan.class_weights.get(place).copied()).unwrap_or(1.0)
        };
        let weighted = survey.weight.iter().enumerate();
        let of = |(k, weight): (usize, &f64)| weight * survey.labels.get(k).map_or(1.0, of_label);
        plan.cost * weighted.map(of).sum::<f64>()
    }

    fn end_round(&mut self) -> Result<(), Error> {
        self.round += 1;
        match std::mem::replace(&mut self.pending, Pending::Sums(vec![None; self.shards])) {
            Pending::Surveys(answers) => {
                self.surveys = answers.into_iter().flatten().collect();
                self.begin()
            }
            Pending::Sums(answers) => {
                let Some(terms) = &self.terms else { return Ok(()) };
                let mut answers: Vec<_> = answers.into_iter().flatten().map(Vec::into_iter).collect();
                for search in self.searches.iter_mut().filter(|search| !search.is_done()) {
                    let of_machine = answers.iter_mut().filter_map(Iterator::next).collect();
                    if let Some(sums) = fold(of_machine) {
                        search.hear(sums, terms);
                    }
                }
                Ok(())
            }
        }
    }

    /// From the survey to the searches.
    fn begin(&mut self) -> Result<(), Error> {
        let fault = |what: String, help: &str| Err(Error::Data { what, help: help.into() });
        let (columns, loss) =
            (self.surveys.iter().map(|survey| survey.columns).max().unwrap_or(0), self.training.loss());
        if let Some(place) = self.surveys.iter().position(|survey| survey.columns != columns) {
            let found = self.surveys[place].columns;
            return fault(
                format!("shard {place} has {found} columns, and another one has {columns}"),
                "give all parts of the data the same columns",
            );
        }
        let version = env!("CARGO_PKG_VERSION");
        if let Some(other) = self.surveys.iter().map(|survey| &survey.version).find(|other| *other != version) {
            return fault(
                format!("a worker has version {other} of maxmargin, and here it is {version}"),
                "install the same version everywhere",
            );
        }
        let found: Vec<String> = self.surveys.iter().map(|survey| survey.fingerprint.clone()).collect();
        if let Some(expected) = &self.expected
            && let Some(place) = (0..found.len()).find(|&k| expected.fingerprints.get(k) != Some(&found[k]))
        {
            return fault(
                format!("the rows of shard {place} are not those of the checkpoint"),
                "give the same data in the same parts, or remove the checkpoint to begin anew",
            );
        }
        let params = self.training.params();
        let (classes, class_rows, class_weight) = self.classes();
        let classification = params.task.is_classification();
        if classification && classes.len() < 2 {
            let label = classes.first().map_or("", |label| label.text());
            let rows: usize = class_rows.iter().sum();
            let what = if rows == 0 {
                "the data has no rows".into()
            } else {
                format!("all {rows} rows have the label {}", quoted(label))
            };
            return fault(what, "give rows of at least two classes");
        }
        if classification && let Some(place) = class_weight.iter().position(|weight| !(*weight > 0.0)) {
            return fault(
                format!("the label {} has no row of a weight above 0", quoted(classes[place].text())),
                "leave out the rows of that label",
            );
        }
        let class_weights = if classification {
            let codes: Vec<u32> = (0..classes.len() as u32).collect();
            let labels = Labels::from_codes(&classes, &codes).unwrap_or_else(|| Labels::new([]));
            params.class_weights.of_classes(&labels, Some(&class_weight))?.unwrap_or_default()
        } else {
            Vec::new()
        };
        let weighed = |(class, weight): (usize, &f64)| weight * class_weights.get(class).copied().unwrap_or(1.0);
        let weight: f64 = class_weight.iter().enumerate().map(weighed).sum();
        let rows: usize = self.surveys.iter().flat_map(|survey| &survey.weighted_rows).sum();
        if rows == 0 {
            return fault("no row has a weight above 0".into(), "give rows to learn from");
        }
        let plan = Plan {
            loss: RowLoss::of_task(params.task, loss),
            bias: params.bias,
            classes: classes.iter().map(|label| label.text().to_string()).collect(),
            class_weights,
            cost: params.penalty.cost(weight),
            tolerance: params.settings.tolerance(),
            columns,
        };
        let terms = self.terms_of(&plan, weight * plan.cost, rows);
        let machines = if classification { Multiclass::OneVsRest.pairings(classes.len()).len() } else { 1 };
        if let Some(proof) = &self.proof {
            if proof.machines.len() != machines
                || proof.machines.iter().any(|machine| machine.point.weights.len() != columns)
            {
                return fault(
                    format!(
                        "the model has {} machines, and these rows ask for {machines} of {columns} columns",
                        proof.machines.len()
                    ),
                    "verify with the data that the model was trained on",
                );
            }
            let search = |(k, machine): (usize, &MachineProof)| {
                Search::certifying(k, machine.point.clone(), machine.sharpness, machine.journal.clone(), &terms)
            };
            self.searches = proof.machines.iter().enumerate().map(search).collect();
        } else if self.searches.is_empty() {
            self.searches = (0..machines).map(|machine| Search::new(machine, &terms)).collect();
        } else if self.searches.len() != machines {
            return fault("the checkpoint is of data with other classes".into(), "remove the checkpoint to begin anew");
        }
        (self.plan, self.terms) = (Some(plan), Some(terms));
        Ok(())
    }

    fn terms_of(&self, plan: &Plan, costs: f64, rows: usize) -> Terms {
        let settings = &self.training.params().settings;
        let constant = if plan.bias == Bias::Folded { 1.0 } else { 0.0 };
        let longest = self.surveys.iter().map(|survey| survey.longest).fold(0.0, f64::max);
        // How large decision values are: 1 where they tell classes apart, else as large as the spread of the targets.
        let scale = match plan.loss {
            RowLoss::Epsilon(width) | RowLoss::SquaredEpsilon(width) => {
                let all: usize = self.surveys.iter().map(|survey| survey.rows).sum();
                let [sum, square] = [0, 1].map(|k| self.surveys.iter().map(|survey| survey.targets[k]).sum::<f64>());
                let mean = sum / all.max(1) as f64;
                (square / all.max(1) as f64 - mean * mean).max(0.0).sqrt().max(width)
            }
            _ => 1.0,
        };
        Terms {
            loss: plan.loss,
            bias: plan.bias,
            columns: plan.columns,
            scale: if scale > 0.0 && scale.is_finite() { scale } else { 1.0 },
            longest: (longest + constant).sqrt(),
            mean_cost: costs / rows.max(1) as f64,
            gap: settings.gap.or(settings.tolerance).unwrap_or(crate::solver::Settings::GAP),
            most_steps: settings.max_iterations.unwrap_or(MOST_STEPS),
            by_matrix: plan.columns <= MOST_MATRIX_COLUMNS,
        }
    }

    /// The labels of all shards, sorted, with the rows and the weight of each.
    fn classes(&self) -> (Vec<Label>, Vec<usize>, Vec<f64>) {
        if self.training.params().task.is_regression() {
            let rows = self.surveys.iter().map(|survey| survey.rows).sum();
            let weight = self.surveys.iter().flat_map(|survey| &survey.weight).sum();
            return (Vec::new(), vec![rows], vec![weight]);
        }
        let all = self.surveys.iter().flat_map(|survey| survey.labels.iter().map(Label::new));
        let classes = Labels::new(all).classes().to_vec();
        let (mut rows, mut weight) = (vec![0; classes.len()], vec![0.0; classes.len()]);
        for survey in &self.surveys {
            for (k, text) in survey.labels.iter().enumerate() {
                let label = Label::new(text);
                if let Some(place) = classes.iter().position(|class| *class == label) {
                    rows[place] += survey.label_rows[k];
                    weight[place] += survey.weight[k];
                }
            }
        }
        (classes, rows, weight)
    }

    /// How far the training is: rounds, and the worst machine's violation and relative gap.
    pub fn progress(&self) -> Progress {
        let worst = |found: &mut dyn Iterator<Item = f64>| {
            found.fold(None, |most: Option<f64>, value| Some(most.map_or(value, |most| most.max(value))))
        };
        let done = self.searches.iter().filter(|search| search.is_done()).count();
        let violations = self
            .terms
            .as_ref()
            .map(|terms| worst(&mut self.searches.iter().filter_map(|search| search.violation(terms))));
        Progress {
            machine: (done.min(self.searches.len().saturating_sub(1)), self.searches.len().max(1)),
            iteration: self.round,
            violation: violations.flatten(),
            gap: worst(&mut self.searches.iter().filter_map(Search::relative_gap)),
            ..Progress::default()
        }
    }

    /// Ends the training where it is. Unless it was interrupted, the certificates are still to be asked for.
    pub fn give_up(&mut self, stop: Stop) {
        if let Some(terms) = &self.terms {
            self.searches.iter_mut().for_each(|search| search.give_up(stop, terms));
            // What was answered was asked by the searches as they were.
            self.pending = Pending::Sums(vec![None; self.shards]);
            self.round += 1;
        }
    }

    /// The model, once there is no request any more.
    ///
    /// # Errors
    /// When the training is not done.
    pub fn finish(&self) -> Result<FittedShards, Error> {
        let (Some(plan), Some(_), None) = (&self.plan, &self.terms, self.request()) else {
            return Err(Error::Data {
                what: "the training on shards is not done".into(),
                help: "answer every request first".into(),
            });
        };
        let params = self.training.params();
        let (classes, class_rows, _) = self.classes();
        let pairings = if plan.classes.is_empty() {
            vec![Pairing { positive: 0, negative: None }]
        } else {
            Multiclass::OneVsRest.pairings(classes.len())
        };
        let rows: usize = class_rows.iter().sum();
        let certificates: Vec<Option<Certificate>> =
            self.searches.iter().map(|search| search.certificate().map(|(certificate, _)| certificate)).collect();
        let machines = self.searches.iter().zip(&pairings).map(|(search, &pairing)| {
            let found = search.certificate();
            let notes = found.iter().map(|(certificate, _)| {
                let support = certificate.counts.support as u64;
                Note::WithoutCoefficients {
                    support,
                    size: bytes(support.saturating_mul(28)),
                    certificate: [certificate.primal, certificate.dual, certificate.relative_gap],
                }
            });
            Machine {
                pairing,
                bias: if plan.bias == Bias::None { 0.0 } else { search.point().bias },
                stop: search.stop(),
                iterations: search.steps(),
                training_errors: found.as_ref().map_or(0, |(_, errors)| *errors),
                rows: self.surveys.iter().flat_map(|survey| &survey.weighted_rows).sum(),
                cost: Some(plan.cost).filter(|cost| cost.is_finite()),
                epsilon: None,
                reach: None,
                calibration: None,
                evidence: Evidence::None("the coefficients of its rows have stayed in the shards".into()),
                notes: notes.collect(),
                weights: Some(search.point().weights.clone()),
                support: Vec::new(),
                coefficients: Vec::new(),
            }
        });
        let parts = ModelParts {
            recipe: Recipe {
                task: params.task,
                kernel: KernelFunction::Linear(Linear {}),
                bias: params.bias,
                loss: self.training.loss(),
                penalty: params.penalty,
                norm: params.norm,
                multiclass: Multiclass::OneVsRest,
                class_weights: Some(plan.class_weights.clone()).filter(|weights| !weights.is_empty()),
            },
            provenance: Provenance {
                origin: Origin::Trained(SolverKind::PrimalNewton),
                rows,
                fingerprint: self.fingerprint(),
                tolerance: params.settings.tolerance(),
                gap: params.settings.gap,
            },
            classes,
            one_against_rest: false,
            columns: plan.columns,
            names: None,
            scaling: None,
            network: None,
            machines: machines.collect(),
            joint: None,
            support_rows: Vec::new(),
            vectors: None,
            landmarks: None,
        };
        let proof = self.searches.iter().map(|search| MachineProof {
            point: search.point().clone(),
            sharpness: search.sharpness(),
            journal: search.journal().to_vec(),
        });
        let mut processors: Vec<String> = self.surveys.iter().map(|survey| survey.processor.clone()).collect();
        processors.sort();
        processors.dedup();
        Ok(FittedShards {
            model: Model::new(parts)?,
            certificates,
            proof: Proof { machines: proof.collect(), fingerprints: self.fingerprints(), gap: plan.tolerance },
            rounds: self.round,
            processors,
        })
    }

    /// Whether the rows are those that the proof was made from; `None` without a proof.
    pub fn is_training_data(&self) -> Option<bool> {
        let found = || self.surveys.iter().map(|survey| &survey.fingerprint);
        self.proof.as_ref().map(|proof| proof.fingerprints.iter().eq(found()))
    }

    /// The hash of the shards' hashes; of a single shard its own, which is that of a training in memory.
    fn fingerprint(&self) -> String {
        match &self.fingerprints()[..] {
            [own] => own.clone(),
            all => blake3::hash(all.concat().as_bytes()).to_hex().to_string(),
        }
    }

    /// The loss, for messages.
    pub fn loss(&self) -> Loss {
        self.training.loss()
    }
}

/// A survey's numbers must fit each other.
fn check_survey(survey: &Survey) -> Result<(), String> {
    let kinds = survey.label_rows.len();
    let fits = survey.weighted_rows.len() == kinds
        && survey.weight.len() == kinds
        && (survey.labels.is_empty() || survey.labels.len() == kinds)
        && survey.label_rows.iter().sum::<usize>() == survey.rows
        && survey.weighted_rows.iter().zip(&survey.label_rows).all(|(some, all)| some <= all)
        && survey.weight.iter().chain(&survey.targets).chain([&survey.longest]).all(|value| value.is_finite())
        && survey.longest >= 0.0;
    if fits { Ok(()) } else { Err("the counts of the survey do not fit each other".into()) }
}
