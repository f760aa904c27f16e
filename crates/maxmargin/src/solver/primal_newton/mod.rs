//! `primal-newton`: Newton's method on the primal of a linear problem, for any number of rows and columns.
//!
//! # Problem
//! (LP.1): squared, logistic and squared epsilon loss, which are smooth; hinge, epsilon and one-class loss, which are smoothed. Any bias.
//!
//! # Optimality
//! With the coefficients `c_i` of the rows, (R.2), the gradient vanishes:
//! ```text
//! g = w − Σ c_i x_i,   g_b = −Σ c_i   (b − Σ c_i when folded)                                    (PN.1)
//! ```
//! For smooth losses ½‖g‖² is the duality gap.
//!
//! # Step
//! ```text
//! (P + Σ_i h_i x_i x_i′) d = −g,   P a 1 for every weight that is penalised                        (PN.2)
//! ```
//! by Cholesky's method where there are few columns, else by conjugate gradients (`direction.rs`). Their preconditioner is the matrix over some
//! of the rows or, with many columns, the diagonal. Then t along d is where the slope vanishes, or 1 if that is near enough.
//!
//! Hinge loss is smoothed as in (R.3), each row around its own `c′_i`. Once the gradient is small beside the gap,
//! ```text
//! c′ ← c,   σ ← 2σ                                                                                (PN.3)
//! ```
//! This is the method of multipliers on the dual: it ends at the optimum of the hinge loss itself, and only rows on the margin are part of
//! (PN.2).
//!
//! Near the minimum the gap ½‖g‖² is far larger than what the primal still lacks. With logistic loss, the step that led to a point yields
//! better coefficients: those of (LP.3), whose gradient is 0 up to the bounds of (R.1). The gap at them comes only from the change of the
//! losses' curvature along the step. They are tried when a gap is asked for and the step gained little. Squared loss has a constant
//! curvature, and gains nothing from them.
//!
//! Where there are many rows, the search begins at the minimum of a sample of them (`sample.rs`); its steps are not counted.
//!
//! # Stopping
//! When the violation of the dual's optimality conditions at c is within the tolerance. It is bounded by
//! ```text
//! max_i |c_i − c′_i|/(C_i σ) + ‖g‖ max_i ‖x_i‖,   twice that with an explicit b                    (PN.4)
//! ```
//! Or, where a relative gap is asked for, when the certificate's gap is within that. `Stalled` when neither the gradient
//! nor the gap has become smaller for a while.
//!
//! # Cost
//! A step is a pass over the rows, and the direction: entries² / rows (few columns), or two passes over the rows with `h_i > 0` for
//! each step of the conjugate gradients. Memory: six numbers a row, some 20 a column.
//!
//! # When to use
//! Many rows; few columns, or dense ones, or a large C, or an explicit bias. Sparse rows of many columns and a small C are
//! quicker by `dual-ascent`.
//!
//! # References
//! Keerthi, DeCoste 2005 (squared loss); Lin, Weng, Keerthi 2008 (logistic loss); Hsia, Chiang, Lin 2018 (preconditioning);
//! Rockafellar 1976 and Yan, Li 2020 (method of multipliers, semismooth Newton).

mod direction;
mod line;
mod sample;

use std::ops::ControlFlow;

use super::start::Start;
use super::{Decision, Settings, Solution};
use crate::certificate::relative_gap;
use crate::control::{Control, Progress, Step, Stop};
use crate::problem::{
    Advanced, Bias, Direction, FromNu, LinearProblem, MarginProblem, Passes, RowLoss, RowState, RowSums, dot,
};
use direction::{Directions, System};
use sample::Sample;

/// The most steps unless the settings say otherwise.
const MAX_STEPS: u64 = 2000;
/// Steps without a smaller gap before the solver gives up: the first for smooth losses, the second for the others, whose gap first grows
/// with each (PN.3).
const PATIENCE: u32 = 20;
const LONG_PATIENCE: u32 = 100;
/// Steps without a smaller gap before the solver gives up where the gap is so small a part of the objective that it may be rounding.
const SHORT_PATIENCE: u32 = 4;
const ROUNDING: f64 = 4.0 * f64::EPSILON;
/// A step makes progress if it lowers a smooth objective to this part, even if the gap does not become smaller.
const LOWER: f64 = 1.0 - 1e-6;
/// The first σ of (R.3), for decision values of about 1: rows within the margin's width are part of the first steps.
const FIRST_SHARPNESS: f64 = 1.0;
/// The factor of σ in (PN.3), and the largest σ, for decision values of about 1.
const SHARPER: f64 = 2.0;
const SHARPEST: f64 = 1e9;
/// (PN.3) follows once ½‖g‖² is below this part of the gap.
const SMALL_BESIDE_GAP: f64 = 0.2;
/// The most steps on a sample. They also end when the last step is expected to gain less than the first part of the objective or, with a smoothed
/// loss, at the second as a relative gap.
const MOST_ROUGH_STEPS: u64 = 12;
const ROUGH_GAIN: f64 = 1e-2;
const ROUGH_GAP: f64 = 3e-2;
/// The coefficients of (LP.3) are tried when the expected gain of a step is below this many times the gap that is asked for.
const LIKELY: f64 = 10.0;
/// Multiplications of a step that takes next to no time; and the part of the gap that a further step may leave to be worth taking.
const FREE_STEP: f64 = 4e5;
const MORE_DIGITS: f64 = 0.9;
/// The part of `Σ C_i` below which a smoothed objective counts as 0, and the steps that a search has to find that.
const NEXT_TO_NOTHING: f64 = 1e-6;
const STEPS_TO_NOTHING: u64 = 30;
/// Steps without a smaller gap after which a search ends that has met its goal.
const MORE_STEPS: u32 = 3;
/// The part of the gradient that conjugate gradients may leave in the first steps.
const LEAST_ACCURACY: f64 = 0.3;

/// Whether a step on this many rows and columns takes next to no time. The search takes further steps then, for the last digits.
pub(crate) fn newton_step_is_free(rows: usize, columns: usize) -> bool {
    rows as f64 * (columns as f64).powi(2) <= FREE_STEP
}

/// Bytes that it needs.
pub(super) fn bytes(problem: &MarginProblem<'_>, _: &Settings) -> u64 {
    8 * (8 * problem.len() + 24 * problem.columns()) as u64
}

pub(super) fn solve(
    problem: &MarginProblem<'_>,
    settings: &Settings,
    start: Start,
    control: &mut dyn Control,
) -> Solution {
    let linear = LinearProblem::of_margin(problem);
    let mut search = Search::new(&linear, settings);
    match start {
        Start::Weights { weights, bias } => search.begin_at_point(Direction { weights, bias }),
        start => {
            if let Some(coefficients) = start.coefficients(problem.signs()) {
                search.begin_at(&coefficients);
            }
        }
    }
    let found = search.finish(settings, control);
    let mut alpha = found.coefficients;
    problem.workers().multiply(&mut alpha, problem.signs());
    Solution {
        from_nu: FromNu::Nothing,
        decision: Decision::Linear { weights: found.point.weights, bias: found.point.bias },
        alpha: Some(alpha),
        decision_values: Some(found.values),
        stop: found.stop,
        iterations: found.steps,
        notes: Vec::new(),
    }
}

/// A solution of a linear problem.
struct Minimum {
    /// w and b.
    point: Direction,
    /// c_i
    coefficients: Vec<f64>,
    /// f_i
    values: Vec<f64>,
    stop: Stop,
    steps: u64,
}

struct Search<'p, 'a> {
    problem: &'p LinearProblem<'a>,
    passes: Passes<'p, 'a>,
    directions: Directions,
    state: RowState,
    point: Direction,
    /// The largest ‖x_i‖, the constant of a folded bias included.
    longest: f64,
    /// The size of decision values, by which σ is scaled.
    scale: f64,
    /// Σ C_i
    total: f64,
    /// The point to begin at, until the first pass over the rows.
    start: Option<Direction>,
    /// ‖g‖ at first.
    first: Option<f64>,
    /// The part of the last step that was taken.
    length: f64,
    steps: u64,
}

/// When a search ends.
#[derive(Clone, Copy)]
enum Goal<'s> {
    Settings(&'s Settings),
    /// At a rough minimum, for a larger problem to begin at.
    Rough,
}

/// What a pass found at a point.
struct PassResult {
    /// g of (PN.1)
    gradient: Direction,
    primal: f64,
    /// primal − dual at c. With an explicit bias the sum of c need not be feasible.
    gap: f64,
    sums: RowSums,
    /// Whether a whole step led here, so that the coefficients of (LP.3) are known; and their `Σ c_i x_i`, if the pass has computed it.
    foreseen: bool,
    foreseen_sum: Option<Direction>,
}

impl<'p, 'a> Search<'p, 'a> {
    fn new(problem: &'p LinearProblem<'a>, settings: &Settings) -> Self {
        let scale = problem.scale();
        let zeros = || problem.workers.zeros(problem.len());
        let centres = if problem.loss.is_smooth() { Vec::new() } else { zeros() };
        let state = RowState {
            values: zeros(),
            coefficients: zeros(),
            curvatures: zeros(),
            changes: zeros(),
            centres,
            foreseen: Vec::new(),
            sharpness: FIRST_SHARPNESS / scale,
        };
        Search {
            problem,
            passes: Passes::new(problem),
            directions: Directions::new(problem, settings.memory),
            state,
            point: Direction::zero(problem.columns()),
            longest: problem.longest_row(),
            scale,
            total: problem.costs.iter().sum(),
            start: None,
            first: None,
            length: 1.0,
            steps: 0,
        }
    }

    /// Begins at the weights of a related problem.
    fn begin_at_point(&mut self, mut point: Direction) {
        if self.problem.bias == Bias::None {
            point.bias = 0.0;
        }
        if point.weights.len() == self.problem.columns() && point.is_finite() {
            self.start = Some(point);
        }
    }

    /// Begins at the weights that the coefficients of a related problem make.
    fn begin_at(&mut self, start: &[f64]) {
        let problem = self.problem;
        if start.len() != problem.len() {
            return;
        }
        let coefficients: Vec<f64> =
            (0..problem.len()).map(|i| problem.loss.clipped(start[i], problem.targets[i], problem.costs[i])).collect();
        let mut point = self.passes.combine(&coefficients);
        if problem.bias != Bias::Folded {
            point.bias = 0.0;
        }
        if !point.is_finite() {
            return;
        }
        self.start = Some(point);
        if !problem.loss.is_smooth() {
            self.state.centres = coefficients;
        }
    }

    /// Minimises (LP.1) from the point where the search begins.
    fn finish(mut self, settings: &Settings, control: &mut dyn Control) -> Minimum {
        let stop = match self.run(settings, control) {
            ControlFlow::Break(stop) | ControlFlow::Continue(stop) => stop,
        };
        if let Some(start) = self.start.take() {
            // Broken off before the first pass over the rows.
            self.point = start.clone();
            self.look(Some(&start));
        }
        if self.problem.bias == Bias::Explicit {
            // Coefficients at a bound stay there, because off it, by however little, they would violate the optimality conditions.
            self.problem.balance_free(&mut self.state.coefficients);
        }
        let Search { state, point, steps, .. } = self;
        Minimum { point, coefficients: state.coefficients, values: state.values, stop, steps }
    }

    /// Begins at a sample, unless the search has begun elsewhere, and goes down from there.
    fn run(&mut self, settings: &Settings, control: &mut dyn Control) -> ControlFlow<Stop, Stop> {
        if self.start.is_none() {
            self.begin_at_sample(settings, control)?;
        }
        self.descend(Goal::Settings(settings), control)
    }

    /// Begins at a rough minimum of (PN.7).
    fn begin_at_sample(&mut self, settings: &Settings, control: &mut dyn Control) -> ControlFlow<Stop> {
        let Some(sample) = Sample::of(self.problem) else { return ControlFlow::Continue(()) };
        let part = sample.problem(self.problem);
        let mut search = Search::new(&part, settings);
        let broken = match search.begin_at_sample(settings, control) {
            ControlFlow::Continue(()) => search.descend(Goal::Rough, control).break_value(),
            ControlFlow::Break(stop) => Some(stop),
        };
        let (point, first, sharpness) = (search.start.unwrap_or(search.point), search.first, search.state.sharpness);
        if !point.is_finite() {
            return broken.map_or(ControlFlow::Continue(()), ControlFlow::Break);
        }
        self.start = Some(point);
        if let Some(stop) = broken {
            return ControlFlow::Break(stop);
        }
        self.first = first;
        let problem = self.problem;
        if !problem.loss.is_smooth() {
            // Only the values of the rows are known: those near the margin may have any coefficient.
            self.state.sharpness = sharpness;
            let middle = |i: usize| problem.loss.middle(problem.targets[i], problem.costs[i]);
            self.state.centres = (0..problem.len()).map(middle).collect();
        }
        ControlFlow::Continue(())
    }

    fn descend(&mut self, goal: Goal<'_>, control: &mut dyn Control) -> ControlFlow<Stop, Stop> {
        control.poll(Progress::default())?;
        // The steps on a sample are not those of the problem.
        let is_watched = control.wants_steps() && matches!(goal, Goal::Settings(_));
        let start = self.start.take();
        if let Some(start) = &start {
            self.point = start.clone();
        }
        let mut found = self.look(start.as_ref());
        let first = *self.first.get_or_insert(self.size(&found).sqrt());
        let (mut best, mut least, mut idle) = (f64::INFINITY, f64::INFINITY, 0);
        // The point at which the goal was last met, and the gap there.
        let (mut met, mut last_measure) = (None, f64::INFINITY);
        let target = match goal {
            Goal::Settings(settings) => settings.linear_gap(),
            Goal::Rough => None,
        };
        let most_steps = match goal {
            Goal::Settings(settings) => settings.max_iterations.unwrap_or(MAX_STEPS),
            Goal::Rough => MOST_ROUGH_STEPS,
        };
        loop {
            let violation = self.violation(&found);
            let relative = relative_gap(found.gap, found.primal);
            let progress = match goal {
                Goal::Settings(_) => Progress {
                    iteration: self.steps,
                    violation: Some(violation),
                    gap: Some(found.gap),
                    ..Progress::default()
                },
                Goal::Rough => Progress::default(),
            };
            control.poll(progress)?;
            let done = match (goal, target) {
                (Goal::Settings(_), Some(target)) => {
                    let enough = target * found.primal.abs();
                    found.gap <= enough && self.mended_gap(&found) <= enough
                        || found.foreseen && self.takes_foreseen(&mut found, enough)
                }
                (Goal::Settings(settings), None) => violation <= settings.tolerance(),
                // With a smooth loss the gain of the last step is known before it is taken, see below.
                (Goal::Rough, _) => !self.problem.loss.is_smooth() && relative <= ROUGH_GAP,
            };
            if done {
                if !self.goes_on(goal, &found, &mut last_measure) {
                    return ControlFlow::Continue(Stop::Converged);
                }
                met = Some((self.point.clone(), self.state.values.clone(), self.state.coefficients.clone()));
            }
            // A smoothed loss hides an objective that is next to 0.
            let is_next_to_nothing = !self.problem.loss.is_smooth() && found.primal <= NEXT_TO_NOTHING * self.total;
            if is_next_to_nothing && self.steps >= STEPS_TO_NOTHING && matches!(goal, Goal::Settings(_)) {
                return ControlFlow::Continue(self.give_up(met, Stop::Stalled));
            }
            if self.steps >= most_steps {
                return ControlFlow::Continue(self.give_up(met, Stop::IterationLimit));
            }
            let size = self.size(&found);
            let measure = size.min(found.gap.abs());
            let is_lower = self.problem.loss.is_smooth() && found.primal < LOWER * least;
            idle = if measure < best || is_lower { 0 } else { idle + 1 };
            (best, least) = (best.min(measure), least.min(found.primal));
            // When the gap is rounding, further steps change nothing but rounding.
            let is_exact = found.gap.abs() <= ROUNDING * found.primal.abs();
            let patience = match (is_exact, self.problem.loss.is_smooth()) {
                (true, _) => SHORT_PATIENCE,
                (false, true) => PATIENCE,
                (false, false) => LONG_PATIENCE,
            };
            if idle >= if met.is_some() { MORE_STEPS } else { patience } {
                return ControlFlow::Continue(self.give_up(met, Stop::Stalled));
            }
            if !self.state.centres.is_empty() && 0.5 * size <= SMALL_BESIDE_GAP * found.gap.max(0.0) {
                // (PN.3)
                self.state.centres.copy_from_slice(&self.state.coefficients);
                self.state.sharpness = (self.state.sharpness * SHARPER).min(SHARPEST / self.scale);
                found = self.look(None);
                control.poll(progress)?;
            }
            let accuracy =
                (self.size(&found).sqrt() / first.max(f64::MIN_POSITIVE)).sqrt().clamp(1e-10, LEAST_ACCURACY);
            let mut poll = || control.poll(progress);
            let system = System {
                problem: self.problem,
                curvatures: &self.state.curvatures,
                gradient: &found.gradient,
                bias_ridge: self.bias_ridge(&found),
                accuracy,
            };
            let direction = self.directions.find(&system, &mut self.passes, &mut poll)?;
            let Some(direction) = direction else {
                return ControlFlow::Continue(self.give_up(met, Stop::Stalled));
            };
            poll()?;
            let gain = -0.5 * found.gradient.dot(&direction);
            if matches!(goal, Goal::Rough) && self.problem.loss.is_smooth() && gain <= ROUGH_GAIN * found.primal.abs() {
                self.point.add(1.0, &direction);
                return ControlFlow::Continue(Stop::Converged);
            }
            let enough = target.map_or(0.0, |target| target * found.primal.abs());
            let foresees = self.problem.loss == RowLoss::Logistic && gain <= LIKELY * enough;
            self.state.foreseen = self.problem.workers.zeros(if foresees { self.problem.len() } else { 0 });
            let last = self.point.clone();
            let active = if is_watched { self.active() } else { Vec::new() };
            found = self.step(&found, &direction);
            if !(found.primal.is_finite() && found.gradient.is_finite()) {
                self.go_back(last);
                return ControlFlow::Continue(self.give_up(met, Stop::Stalled));
            }
            self.steps += 1;
            if is_watched {
                control.step(Step::Newton {
                    machine: 0,
                    iteration: self.steps,
                    active,
                    length: self.length,
                    weights: self.point.weights.clone(),
                    coefficients: Vec::new(),
                    bias: self.point.bias,
                    primal: found.primal,
                    violation: Some(violation),
                });
            }
        }
    }

    /// The rows whose loss is curved at this point.
    fn active(&self) -> Vec<usize> {
        let is_curved = |(_, curvature): &(&usize, &f64)| **curvature > 0.0;
        self.problem.rows.iter().zip(&self.state.curvatures).filter(is_curved).map(|(&row, _)| row).collect()
    }

    /// Ends a search that makes no progress. If the goal was met before, it goes back to that point.
    fn give_up(&mut self, met: Option<(Direction, Vec<f64>, Vec<f64>)>, stop: Stop) -> Stop {
        let Some((point, values, coefficients)) = met else { return stop };
        self.point = point;
        (self.state.values, self.state.coefficients) = (values, coefficients);
        Stop::Converged
    }

    /// Whether the search goes on although its goal is met: on small problems steps are nearly free, and each may bring more digits.
    fn goes_on(&self, goal: Goal<'_>, found: &PassResult, last: &mut f64) -> bool {
        let is_small = newton_step_is_free(self.problem.len(), self.problem.columns());
        let gap = found.gap.abs();
        let gains = gap < MORE_DIGITS * *last && gap > f64::EPSILON * found.primal.abs();
        *last = gap;
        matches!(goal, Goal::Settings(_)) && is_small && gains
    }

    /// Goes back to a point whose numbers were finite; to 0 if its coefficients are not.
    fn go_back(&mut self, point: Direction) {
        let problem = self.problem;
        self.point = point;
        self.state.values = problem.values(&self.point.weights, self.point.bias);
        self.look(None);
        let finite = |values: &[f64]| values.iter().all(|value| value.is_finite());
        if !(finite(&self.state.values) && finite(&self.state.coefficients)) {
            self.point = Direction::zero(problem.columns());
            self.state.values.fill(0.0);
            self.state.coefficients.fill(0.0);
        }
    }

    /// Goes along a direction until its slope vanishes.
    fn step(&mut self, from: &PassResult, direction: &Direction) -> PassResult {
        let before = from.gradient.dot(direction);
        let start = self.point.clone();
        self.point.add(1.0, direction);
        let found = self.look(Some(direction));
        let after = self.slope(direction, &found);
        self.length = 1.0;
        if line::is_near_enough(before, after) {
            return found;
        }
        let (along, curvature) = self.penalty_along(&start, direction);
        let step = line::find(self.problem, &self.state, along, curvature, before);
        self.length = step;
        // The rows have gone a whole step already.
        let back = step - 1.0;
        let changes = std::mem::take(&mut self.state.changes);
        self.state.values.iter_mut().zip(&changes).for_each(|(value, change)| *value += back * change);
        self.state.changes = changes;
        self.point = start;
        self.point.add(step, direction);
        self.look(None)
    }

    /// The slope of the smoothed objective along a direction, at the point that was found.
    fn slope(&self, direction: &Direction, found: &PassResult) -> f64 {
        let (along, _) = self.penalty_along(&self.point, direction);
        along - found.sums.slope
    }

    /// `⟨w, d⟩ + q d_b` and `⟨d, d⟩` of what is penalised.
    fn penalty_along(&self, point: &Direction, direction: &Direction) -> (f64, f64) {
        let mut along = dot(&point.weights, &direction.weights);
        let mut square = dot(&direction.weights, &direction.weights);
        match self.problem.bias {
            Bias::Folded => {
                along += point.bias * direction.bias;
                square += direction.bias * direction.bias;
            }
            Bias::Explicit => along += self.problem.pull_on_bias * direction.bias,
            Bias::None => {}
        }
        (along, square)
    }

    /// A pass at the point: gradient, primal and gap.
    fn look(&mut self, direction: Option<&Direction>) -> PassResult {
        let problem = self.problem;
        let Advanced { combined, foreseen: foreseen_sum, sums } = self.passes.advance(&mut self.state, direction);
        let imbalance = combined.bias;
        let mut primal = 0.5 * dot(&self.point.weights, &self.point.weights) + sums.losses;
        let mut dual = sums.dual_terms - 0.5 * dot(&combined.weights, &combined.weights);
        let mut gradient = combined;
        gradient.weights.iter_mut().zip(&self.point.weights).for_each(|(value, w)| *value = w - *value); // (PN.1)
        match problem.bias {
            Bias::Explicit => {
                primal += problem.pull_on_bias * self.point.bias;
                gradient.bias = problem.pull_on_bias - imbalance;
            }
            Bias::Folded => {
                primal += 0.5 * self.point.bias * self.point.bias;
                dual -= 0.5 * imbalance * imbalance;
                gradient.bias = self.point.bias - imbalance;
            }
            Bias::None => gradient.bias = 0.0,
        }
        PassResult {
            gradient,
            primal,
            gap: primal - dual,
            sums,
            foreseen: direction.is_some() && !self.state.foreseen.is_empty(),
            foreseen_sum,
        }
    }

    /// The entry of P in (PN.2) for an explicit bias: that of one row where no row lies on the margin, else a small one.
    fn bias_ridge(&self, found: &PassResult) -> f64 {
        match self.problem.bias {
            Bias::Explicit => {
                let row = self.problem.least_curvature(FIRST_SHARPNESS / self.scale);
                if found.sums.curvatures > 0.0 { 1e-3 * row.min(found.sums.curvatures) } else { row }
            }
            Bias::Folded => 1.0,
            Bias::None => 0.0,
        }
    }

    /// ‖g‖², with an explicit bias divided by its curvature. The curvature counts as at least that of the first step, or (PN.3) alone would make
    /// this number small.
    fn size(&self, found: &PassResult) -> f64 {
        let bias = match self.problem.bias {
            Bias::Explicit => {
                let least = self.problem.least_curvature(FIRST_SHARPNESS / self.scale);
                found.gradient.bias * found.gradient.bias / found.sums.curvatures.max(least)
            }
            _ => found.gradient.bias * found.gradient.bias,
        };
        dot(&found.gradient.weights, &found.gradient.weights) + bias
    }

    /// The bound (PN.4) on the violation.
    fn violation(&self, found: &PassResult) -> f64 {
        let problem = self.problem;
        let length = dot(&found.gradient.weights, &found.gradient.weights);
        match problem.bias {
            Bias::Explicit => {
                let of_rows = found.sums.largest_shift + length.sqrt() * self.longest.max(1.0);
                let of_balance = found.gradient.bias.abs() * (self.longest * self.longest).max(1.0);
                2.0 * of_rows.max(of_balance)
            }
            _ => {
                let length = length + found.gradient.bias * found.gradient.bias;
                found.sums.largest_shift + length.sqrt() * self.longest.max(1.0)
            }
        }
    }

    /// The gap as the certificate states it: with an explicit bias c is balanced.
    fn mended_gap(&mut self, found: &PassResult) -> f64 {
        if self.problem.bias != Bias::Explicit {
            return found.gap;
        }
        let mut coefficients = self.state.coefficients.clone();
        self.gap_at(found, &mut coefficients, None)
    }

    /// Takes the coefficients of (LP.3) if the gap at them is at most `enough`, and returns whether it was.
    fn takes_foreseen(&mut self, found: &mut PassResult, enough: f64) -> bool {
        let mut foreseen = std::mem::take(&mut self.state.foreseen);
        let sum = found.foreseen_sum.take();
        let taken = self.gap_at(found, &mut foreseen, sum) <= enough;
        if taken {
            std::mem::swap(&mut self.state.coefficients, &mut foreseen);
        }
        self.state.foreseen = foreseen;
        taken
    }

    /// The gap at some coefficients, which are balanced where the bias is explicit. `sum` is their `Σ c_i x_i` before that, if it is known.
    fn gap_at(&mut self, found: &PassResult, coefficients: &mut [f64], sum: Option<Direction>) -> f64 {
        let problem = self.problem;
        if problem.bias == Bias::Explicit {
            problem.balance(coefficients);
        }
        let combined = sum.unwrap_or_else(|| self.passes.combine(coefficients));
        let folded = if problem.bias == Bias::Folded { combined.bias * combined.bias } else { 0.0 };
        let square = dot(&combined.weights, &combined.weights) + folded;
        found.primal - (problem.dual_terms(coefficients) - 0.5 * square)
    }
}

#[cfg(test)]
mod tests;
