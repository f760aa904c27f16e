//! A part of the rows, which answers requests.

use std::ops::{ControlFlow, Range};

use pulp::Arch;

use super::message::{Answer, Ask, Balance, Body, Move, Plan, Question, Reply, Request, Sums, Survey, What};
use super::probe::Probed;
use crate::certificate::Counts;
use crate::data::{Dataset, Label};
use crate::error::{Error, quoted};
use crate::problem::{AT_BOUND, Advanced, Bias, Direction, LinearProblem, Passes, Pulls, RowLoss, RowState, dot};
use crate::recipe::Multiclass;
use crate::solver::scatter::Scatter;
use crate::workers::Workers;

/// Rows that a thread sums the terms of at a time. Fixed, because sums are folded chunk by chunk and the bits depend on it.
const ROWS_A_CHUNK: usize = 8192;

/// Rows that a worker holds, and what it remembers of the last request.
///
/// Everything that it remembers can be computed again from the rows and a request in full, to the same bits. So a shard may be lost at
/// any time, and made again from the same rows anywhere else.
pub struct Shard {
    pub(super) number: usize,
    pub(super) data: Dataset,
    /// The rows with a weight above 0.
    pub(super) rows: Vec<usize>,
    /// ‖x‖² of every row, without a constant.
    squares: Vec<f64>,
    pub(super) probed: Probed,
    pub(super) workers: Workers,
    prepared: Option<Prepared>,
}

/// What the plan of a training makes of the rows.
struct Prepared {
    training: u64,
    plan: Plan,
    /// The class of each row, or its target.
    known: Known,
    /// C_i
    costs: Vec<f64>,
    /// ‖x‖² of every row, the constant of a folded b included.
    squares: Vec<f64>,
    machines: Vec<Memory>,
}

enum Known {
    Codes(Vec<u32>),
    Targets(Vec<f64>),
}

/// What a shard remembers of a machine: the last look, and the centres of the loss.
#[derive(Default)]
struct Memory {
    /// The number of the look whose values are here.
    look: Option<u64>,
    /// How often the centres were moved.
    moves: usize,
    state: RowState,
}

/// Why there is no answer.
enum Refusal {
    Behind,
    Error(Error),
}

impl From<Error> for Refusal {
    fn from(error: Error) -> Self {
        Refusal::Error(error)
    }
}

fn refuse<T>(what: String, help: &str) -> Result<T, Refusal> {
    Err(Refusal::Error(Error::Data { what, help: help.into() }))
}

impl Shard {
    /// A shard of these rows. Its number says where it stands among the others.
    pub fn new(number: usize, data: Dataset, workers: &Workers) -> Self {
        let weighs = |&row: &usize| data.weights().is_none_or(|weights| weights[row] > 0.0);
        let rows: Vec<usize> = (0..data.rows()).filter(weighs).collect();
        let squares = squares(&data, workers);
        let probed = Probed::new(data.matrix(), &rows, workers);
        Shard { number, data, rows, squares, probed, workers: workers.clone(), prepared: None }
    }

    /// The number of rows.
    pub fn rows(&self) -> usize {
        self.data.rows()
    }

    /// The bytes that it takes, but for what it remembers of a training.
    pub fn bytes(&self) -> u64 {
        self.data.matrix().bytes() + 8 * (self.squares.len() + 3 * self.rows.len()) as u64
    }

    /// The answer to a request. A shard that does not remember what the request is about says so, and wants it in full.
    pub fn answer(&mut self, request: &Request) -> Answer {
        let question = &request.0;
        let body = match self.find(question) {
            Ok(body) => body,
            Err(Refusal::Behind) => Body::Behind {},
            Err(Refusal::Error(error)) => Body::Refused { what: error.to_string(), help: error.help() },
        };
        Answer(Reply { training: question.training, round: question.round, shard: self.number, body })
    }

    fn find(&mut self, question: &Question) -> Result<Body, Refusal> {
        let Some(plan) = &question.plan else { return Ok(Body::Survey { survey: self.survey() }) };
        if self.prepared.as_ref().is_none_or(|known| known.training != question.training || known.plan != *plan) {
            self.prepared = None;
            self.prepared = Some(self.prepare(question.training, plan)?);
        }
        let Some(mut prepared) = self.prepared.take() else { return Err(Refusal::Behind) };
        let sums = question.asks.iter().map(|ask| self.sums(&mut prepared, ask)).collect();
        self.prepared = Some(prepared);
        Ok(Body::Sums { sums: sums_or_refusal(sums)? })
    }

    fn survey(&self) -> Survey {
        let mut survey = Survey {
            rows: self.data.rows(),
            columns: self.data.columns(),
            longest: self.rows.iter().map(|&row| self.squares[row]).fold(0.0, f64::max),
            weighted: self.data.weights().is_some(),
            fingerprint: self.data.fingerprint(),
            version: env!("CARGO_PKG_VERSION").into(),
            processor: processor(),
            ..Survey::default()
        };
        let weight = |row: usize| self.data.weights().map_or(1.0, |weights| weights[row]);
        if let Some(labels) = self.data.answers().labels() {
            let classes = labels.classes();
            survey.labels = classes.iter().map(|label| label.text().to_string()).collect();
            survey.label_rows = vec![0; classes.len()];
            survey.weighted_rows = vec![0; classes.len()];
            survey.weight = vec![0.0; classes.len()];
            for (row, &code) in labels.codes().iter().enumerate() {
                survey.label_rows[code as usize] += 1;
                survey.weighted_rows[code as usize] += usize::from(weight(row) > 0.0);
                survey.weight[code as usize] += weight(row);
            }
        } else {
            survey.label_rows = vec![self.data.rows()];
            survey.weighted_rows = vec![self.rows.len()];
            survey.weight = vec![(0..self.data.rows()).map(weight).sum()];
            for &target in self.data.answers().numbers().unwrap_or_default() {
                survey.targets[0] += target;
                survey.targets[1] += target * target;
            }
        }
        survey
    }

    fn prepare(&self, training: u64, plan: &Plan) -> Result<Prepared, Refusal> {
        if self.data.columns() != plan.columns {
            let what = format!(
                "shard {} has {} columns, and the others have {}",
                self.number,
                self.data.columns(),
                plan.columns
            );
            return refuse(what, "give all parts of the data the same columns");
        }
        let known = if plan.classes.is_empty() {
            let targets = self.data.numbers()?;
            Known::Targets(self.rows.iter().map(|&row| targets[row]).collect())
        } else {
            let labels = self.data.labels()?;
            let all: Vec<Label> = plan.classes.iter().map(Label::new).collect();
            let place = |label: &Label| all.iter().position(|known| known == label).map(|place| place as u32);
            let places: Vec<Option<u32>> = labels.classes().iter().map(place).collect();
            if let Some(unknown) = places.iter().position(Option::is_none) {
                let text = quoted(labels.classes()[unknown].text());
                return refuse(
                    format!("shard {} has the label {text}, which no survey has seen", self.number),
                    "begin anew",
                );
            }
            Known::Codes(self.rows.iter().map(|&row| places[labels.codes()[row] as usize].unwrap_or(0)).collect())
        };
        let weights = self.data.weights();
        let cost = |(k, &row): (usize, &usize)| {
            let of_class = match &known {
                Known::Codes(codes) => plan.class_weights.get(codes[k] as usize).copied().unwrap_or(1.0),
                Known::Targets(_) => 1.0,
            };
            plan.cost * of_class * weights.map_or(1.0, |weights| weights[row])
        };
        let costs = self.rows.iter().enumerate().map(cost).collect();
        let constant = if plan.bias == Bias::Folded { 1.0 } else { 0.0 };
        let squares = self.squares.iter().map(|square| square + constant).collect();
        Ok(Prepared { training, plan: plan.clone(), known, costs, squares, machines: Vec::new() })
    }

    /// One machine's part of an answer.
    fn sums(&self, prepared: &mut Prepared, ask: &Ask) -> Result<Sums, Refusal> {
        let plan = &prepared.plan;
        let pairings =
            if plan.classes.is_empty() { 1 } else { Multiclass::OneVsRest.machines(plan.classes.len()).unwrap_or(0) };
        if ask.machine >= pairings {
            return refuse(format!("there is no machine {}", ask.machine), "begin anew");
        }
        while prepared.machines.len() <= ask.machine {
            prepared.machines.push(Memory::default());
        }
        let targets = match &prepared.known {
            Known::Targets(targets) => targets.clone(),
            Known::Codes(codes) => {
                // Of two classes the second is positive.
                let positive = if pairings == 1 { 1 } else { ask.machine as u32 };
                codes.iter().map(|&code| if code == positive { 1.0 } else { -1.0 }).collect()
            }
        };
        let problem = LinearProblem {
            matrix: self.data.matrix(),
            rows: &self.rows,
            squares: &prepared.squares,
            targets: &targets,
            costs: &prepared.costs,
            loss: plan.loss,
            bias: plan.bias,
            pull_on_bias: 0.0,
            workers: &self.workers,
        };
        let pass = Pass { problem: &problem, probed: &self.probed, tolerance: plan.tolerance };
        pass.answer(&mut prepared.machines[ask.machine], ask)
    }
}

/// All sums, or else the first reason why there are none.
fn sums_or_refusal(found: Vec<Result<Sums, Refusal>>) -> Result<Vec<Sums>, Refusal> {
    found.into_iter().collect()
}

/// ‖x‖² of every row.
fn squares(data: &Dataset, workers: &Workers) -> Vec<f64> {
    let matrix = data.matrix();
    workers
        .map_chunks(data.rows(), ROWS_A_CHUNK, |range| {
            range
                .map(|row| {
                    let mut sum = 0.0;
                    matrix.visit(row, |_, value| sum += value * value);
                    sum
                })
                .collect::<Vec<_>>()
        })
        .concat()
}

/// The kind of processor and its vector instructions, as far as they may change bits.
fn processor() -> String {
    let instructions = format!("{:?}", Arch::new());
    let name = instructions.split(['(', ' ']).next().unwrap_or_default();
    format!("{} {name}", std::env::consts::ARCH)
}

/// The passes over the rows of one machine.
struct Pass<'p, 'a> {
    problem: &'p LinearProblem<'a>,
    probed: &'p Probed,
    tolerance: f64,
}

impl Pass<'_, '_> {
    fn answer(&self, memory: &mut Memory, ask: &Ask) -> Result<Sums, Refusal> {
        let is_look = matches!(ask.what, What::Look { .. });
        if memory.state.values.len() != self.problem.len() {
            *memory = self.blank();
        }
        let remembered = memory.look == Some(ask.look) && memory.moves == ask.moves;
        let mut found = None;
        if is_look || !remembered {
            let Some(point) = &ask.point else { return Err(Refusal::Behind) };
            self.restore_centres(memory, ask)?;
            memory.look = None;
            memory.state.sharpness = ask.sharpness;
            let pass = self.look(&mut memory.state, point);
            memory.look = Some(ask.look);
            found = Some(pass);
        }
        Ok(match &ask.what {
            What::Look { matrix, diagonal } => {
                let mut sums = found.unwrap_or_default();
                self.add_second_order(&memory.state, *matrix, *diagonal, &mut sums);
                sums
            }
            What::Slope { direction, lengths } => self.slopes(&memory.state, direction, lengths),
            What::Curved { along } => self.curved(&memory.state, along),
            What::Balance { balance } => self.balanced(&memory.state, *balance),
            What::Certify { balance, combined } => self.certify(&memory.state, *balance, combined),
        })
    }

    fn blank(&self) -> Memory {
        let zeros = || self.problem.workers.zeros(self.problem.len());
        let state = RowState {
            values: zeros(),
            coefficients: zeros(),
            curvatures: zeros(),
            changes: zeros(),
            centres: self.first_centres(),
            foreseen: Vec::new(),
            sharpness: 1.0,
        };
        Memory { look: None, moves: 0, state }
    }

    /// The centres before they are first moved; none for a smooth loss.
    fn first_centres(&self) -> Vec<f64> {
        let LinearProblem { loss, targets, costs, .. } = *self.problem;
        let count = if loss.is_smooth() { 0 } else { self.problem.len() };
        (0..count).map(|i| loss.middle(targets[i], costs[i])).collect()
    }

    /// Brings the centres to where the question supposes them: they are, they are one move behind, or the journal tells.
    fn restore_centres(&self, memory: &mut Memory, ask: &Ask) -> Result<(), Refusal> {
        if self.problem.loss.is_smooth() || memory.moves == ask.moves {
            memory.moves = ask.moves;
            return Ok(());
        }
        if memory.moves + 1 == ask.moves && memory.look == Some(ask.centred_at) {
            memory.state.centres.copy_from_slice(&memory.state.coefficients); // (PN.3)
            memory.moves = ask.moves;
            return Ok(());
        }
        let Some(journal) = &ask.journal else { return Err(Refusal::Behind) };
        (memory.look, memory.moves) = (None, 0);
        memory.state.centres = self.first_centres();
        for Move { point, sharpness } in journal {
            memory.state.sharpness = *sharpness;
            self.look(&mut memory.state, point);
            memory.state.centres.copy_from_slice(&memory.state.coefficients); // (PN.3)
            memory.moves += 1;
        }
        if memory.moves == ask.moves { Ok(()) } else { Err(Refusal::Behind) }
    }

    /// f, c and h of every row at a point, and their sums. f is computed from the point alone, so that it has the same bits whatever was
    /// looked at before.
    fn look(&self, state: &mut RowState, point: &Direction) -> Sums {
        state.values.fill(0.0);
        let Advanced { combined, sums: found, .. } = Passes::new(self.problem).advance(state, Some(point));
        let mut sums = Sums {
            losses: found.losses,
            dual_terms: found.dual_terms,
            products: found.slope,
            curvature: found.curvature,
            curvatures: found.curvatures,
            largest_shift: found.largest_shift,
            ..Sums::default()
        };
        sums.combined = combined;
        self.add_row_sums(&state.values, &state.coefficients, &mut sums);
        sums
    }

    /// The sums of (SH.2) to (SH.4) and those that a balance needs.
    fn add_row_sums(&self, values: &[f64], coefficients: &[f64], sums: &mut Sums) {
        let problem = self.problem;
        let found = problem.workers.map_chunks(problem.len(), ROWS_A_CHUNK, |range: Range<usize>| {
            let many = problem.many(range.clone());
            let mut part =
                Sums { gaps: many.gaps(&values[range.clone()], &coefficients[range.clone()]), ..Sums::default() };
            for i in range {
                let (c, cost) = (coefficients[i], problem.costs[i]);
                part.costs += cost;
                let size = c.abs();
                part.probe += c * self.probed.products[i];
                part.probe_size += size * self.probed.sizes[i];
                part.lengths += size * problem.square(i).sqrt();
                part.mass += size;
                let side = usize::from(c > 0.0);
                if is_at_bound(problem.loss, c, cost) {
                    part.bounded[side] += size;
                } else {
                    part.free[side] += size;
                }
            }
            part
        });
        found.iter().for_each(|part| sums.join(part));
    }

    fn add_second_order(&self, state: &RowState, matrix: bool, diagonal: bool, sums: &mut Sums) {
        let LinearProblem { matrix: data, rows, bias, workers, .. } = *self.problem;
        if matrix {
            let constant = bias != Bias::None;
            let weights = &state.curvatures;
            let scatter = Scatter { matrix: data, rows, weights, constant, centres: None, workers };
            if let ControlFlow::Continue(found) = scatter.lower(&mut || ControlFlow::Continue(())) {
                let size = found.ncols();
                sums.matrix = (0..size).flat_map(|j| found.col_as_slice(j)[j..].to_vec()).collect();
            }
        }
        if diagonal {
            let found = Passes::new(self.problem).diagonal(&state.curvatures);
            sums.diagonal = found.weights;
            sums.diagonal.push(found.bias);
        }
    }

    /// (PN.5) at several lengths of the step whose length 1 led to the look.
    fn slopes(&self, state: &RowState, direction: &Direction, lengths: &[f64]) -> Sums {
        let problem = self.problem;
        let changes = problem.values(&direction.weights, direction.bias);
        let found = problem.workers.map_chunks(problem.len(), ROWS_A_CHUNK, |range: Range<usize>| {
            let many = problem.many(range.clone());
            let centres = if state.centres.is_empty() { &[][..] } else { &state.centres[range.clone()] };
            let (mut coefficients, mut curvatures) = (vec![0.0; range.len()], vec![0.0; range.len()]);
            let mut values = vec![0.0; range.len()];
            let lengthwise = lengths.iter().map(|length| {
                for (value, i) in values.iter_mut().zip(range.clone()) {
                    *value = state.values[i] + (length - 1.0) * changes[i];
                }
                let pulls = Pulls { coefficients: &mut coefficients, curvatures: &mut curvatures };
                let (losses, _) = many.pulls(&values, centres, state.sharpness, pulls);
                let (mut slope, mut bend) = (0.0, 0.0);
                for (k, i) in range.clone().enumerate() {
                    slope += coefficients[k] * changes[i];
                    bend += curvatures[k] * changes[i] * changes[i];
                }
                [losses, slope, bend]
            });
            Sums { lengthwise: lengthwise.collect(), ..Sums::default() }
        });
        joined(found).unwrap_or_else(|| Sums { lengthwise: vec![[0.0; 3]; lengths.len()], ..Sums::default() })
    }

    fn curved(&self, state: &RowState, along: &Direction) -> Sums {
        let (problem, probed) = (self.problem, self.probed);
        let (combined, found) = Passes::new(problem).curved_and_sums(&state.curvatures, along, |i, scale, product| {
            let size = scale.abs();
            [scale * probed.products[i], size * probed.sizes[i], scale * product, size * problem.square(i).sqrt(), size]
        });
        let [probe, probe_size, products, lengths, mass] = found;
        Sums { combined, probe, probe_size, products, lengths, mass, ..Sums::default() }
    }

    /// The coefficients of a look, balanced.
    fn balanced_coefficients(&self, state: &RowState, balance: Balance) -> Vec<f64> {
        let LinearProblem { loss, costs, .. } = *self.problem;
        let of = |i: usize| {
            let c = state.coefficients[i];
            balance.of(c, is_at_bound(loss, c, costs[i]))
        };
        self.problem.workers.numbers(self.problem.len(), of)
    }

    fn balanced(&self, state: &RowState, balance: Balance) -> Sums {
        let coefficients = self.balanced_coefficients(state, balance);
        let mut sums = Sums { combined: Passes::new(self.problem).combine(&coefficients), ..Sums::default() };
        self.add_row_sums(&state.values, &coefficients, &mut sums);
        self.add_objectives(state, &coefficients, &mut sums);
        sums
    }

    /// Σ C_iℓ, Σ −(C_iℓ)*(−c_i) and Σ c_i f_i for given coefficients.
    fn add_objectives(&self, state: &RowState, coefficients: &[f64], sums: &mut Sums) {
        sums.losses = self.problem.losses(&state.values);
        sums.dual_terms = self.problem.dual_terms(coefficients);
        let products = |range: Range<usize>| dot(&state.values[range.clone()], &coefficients[range]);
        sums.products = self.problem.workers.map_chunks(self.problem.len(), ROWS_A_CHUNK, products).iter().sum();
    }

    fn certify(&self, state: &RowState, balance: Balance, combined: &Direction) -> Sums {
        let problem = self.problem;
        let coefficients = self.balanced_coefficients(state, balance);
        let folded = if problem.bias == Bias::Folded { combined.bias } else { 0.0 };
        let products = problem.values(&combined.weights, folded);
        let has_classes = !matches!(problem.loss, RowLoss::Epsilon(_) | RowLoss::SquaredEpsilon(_));
        let mut sums =
            Sums { most: f64::NEG_INFINITY, least: f64::NEG_INFINITY, counts: vec![0; 7], ..Sums::default() };
        let found = problem.workers.map_chunks(problem.len(), ROWS_A_CHUNK, |range: Range<usize>| {
            let mut part = sums.clone();
            let mut counts = Counts::default();
            for i in range {
                let (c, target, cost, f) = (coefficients[i], problem.targets[i], problem.costs[i], state.values[i]);
                let slack = problem.loss.slack(target, f);
                part.slack += slack;
                let shown = if has_classes { slack } else { slack.min(1.0) };
                counts.add(c, problem.loss.bound(cost), shown, self.tolerance);
                part.counts[6] += usize::from(has_classes && (f > 0.0) != (target > 0.0));
                let (lower, upper) = allowed(problem.loss, c, target, cost, products[i]);
                part.most = part.most.max(lower);
                part.least = part.least.max(-upper);
            }
            let of = [
                counts.not_support,
                counts.on_margin,
                counts.inside,
                counts.misclassified,
                counts.support,
                counts.bounded,
            ];
            part.counts[..6].copy_from_slice(&of);
            part
        });
        found.iter().for_each(|part| sums.join(part));
        self.add_row_sums(&state.values, &coefficients, &mut sums);
        self.add_objectives(state, &coefficients, &mut sums);
        sums
    }
}

/// The sums of all parts, folded in their order; `None` where there are none.
fn joined(parts: Vec<Sums>) -> Option<Sums> {
    parts.into_iter().reduce(|mut all, part| {
        all.join(&part);
        all
    })
}

/// Whether a coefficient is at the bound of (R.1) that is not 0.
fn is_at_bound(loss: RowLoss, coefficient: f64, cost: f64) -> bool {
    coefficient.abs() >= loss.bound(cost)
}

/// The b that a row allows, given its coefficient and `p = ⟨Σ c_j x_j, x_i⟩`
///
/// ```text
/// u = t − p − r c_i   (r the ridge of (R.1)):   b = u between the bounds of c_i, else b ≥ u or b ≤ u            (SH.5)
/// ```
///
/// For a tube u is moved by ε towards the coefficient's side. Logistic loss allows every b, because its violation is that of the primal.
fn allowed(loss: RowLoss, c: f64, target: f64, cost: f64, product: f64) -> (f64, f64) {
    let open = (f64::NEG_INFINITY, f64::INFINITY);
    let bound = loss.bound(cost);
    let edge = if bound.is_finite() { AT_BOUND * bound } else { 0.0 };
    let u = target - product - loss.ridge(cost) * c;
    match loss {
        RowLoss::Hinge | RowLoss::Squared => {
            let alpha = target * c;
            let grows = if alpha < bound - edge { target } else { 0.0 };
            let shrinks = if alpha > edge { -target } else { 0.0 };
            let lower = if grows > 0.0 || shrinks > 0.0 { u } else { open.0 };
            let upper = if grows < 0.0 || shrinks < 0.0 { u } else { open.1 };
            (lower, upper)
        }
        RowLoss::Epsilon(width) | RowLoss::SquaredEpsilon(width) => {
            let lower = if c < bound - edge { u - if c >= -edge { width } else { -width } } else { open.0 };
            let upper = if c > edge - bound { u - if c > edge { width } else { -width } } else { open.1 };
            (lower, upper)
        }
        RowLoss::Logistic | RowLoss::OneClass | RowLoss::Ball => open,
    }
}
