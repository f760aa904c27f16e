//! Dual ascent with the linear kernel: w is kept, and a step costs the non-zeros of a row.
//!
//! Machines over the same rows (each class against the rest) climb side by side, in lanes. Their weights lie next to each other,
//! `[column][machine]`, so that one entry of a row is multiplied with the weights of all machines at once. Each machine takes its own
//! steps and ends by itself; the order of the rows is the same for all.
//!
//! A single large machine has its rows visited by two teams at a time (`teams.rs`).

use std::ops::ControlFlow;

use rand::SeedableRng;
use rand::seq::SliceRandom;
use rand_pcg::Pcg64;

use super::check::{Check, Climb, End};
use super::teams::{GROUP, LanePoint, Round, SweepSums, Teams};
use crate::control::{Control, Progress, Step as Shown, Stop};
use crate::data::stored::{StoredRows, on_stored_rows};
use crate::problem::{Bias, Direction, LinearProblem, RowLoss};
use crate::solver::Settings;

/// The most machines that climb side by side: the numbers of the widest vector register and of one cache line.
pub(crate) const MOST_LANES: usize = 8;

/// The result of the sweeps for one machine.
pub(super) struct Ascent {
    pub(super) end: End,
    pub(super) stop: Stop,
    pub(super) sweeps: u64,
}

/// Maximises (LP.2) for each problem, from coefficients that are clipped to what their loss allows.
///
/// The problems have the same rows, loss and bias, and are [`MOST_LANES`] at most; `starts` has a start or none for each.
/// An explicit bias is the multiplier of `Σ c_i = q`, which is approached from outside: with `S = Σ c_i − q`
///
/// ```text
/// f_i = ⟨w, x_i⟩ + b + ρS,   and after each sweep  b ← b + ρS                   (DA.2)
/// ```
///
/// This is the method of multipliers with one sweep for each step; ρ is adapted after each sweep. ρ = 1 with b kept at 0 is a folded bias.
pub(super) fn ascend(
    problems: &[LinearProblem<'_>],
    starts: &[Option<Vec<f64>>],
    settings: &Settings,
    control: &mut dyn Control,
) -> Vec<Ascent> {
    match problems {
        [] => Vec::new(),
        [_] => ascend_in_lanes::<1>(problems, starts, settings, control),
        _ if problems.len() <= MOST_LANES / 2 => {
            ascend_in_lanes::<{ MOST_LANES / 2 }>(problems, starts, settings, control)
        }
        _ => ascend_in_lanes::<MOST_LANES>(problems, starts, settings, control),
    }
}

fn ascend_in_lanes<const L: usize>(
    problems: &[LinearProblem<'_>],
    starts: &[Option<Vec<f64>>],
    settings: &Settings,
    control: &mut dyn Control,
) -> Vec<Ascent> {
    let mut checks: Vec<Check<'_, '_>> = problems.iter().map(Check::new).collect();
    let mut lanes = Lanes::<L>::begin(problems, starts, &mut checks);
    let mut broken = on_stored_rows!(problems[0].matrix, rows => {
        lanes.climb(problems, &rows, &mut checks, settings, &mut Numbered { control, first: 0 })
    });
    let mut found = Vec::new();
    for (number, check) in checks.iter_mut().enumerate() {
        // Machines that had few rows in common with others go on alone.
        let mut alone = lanes.alone(number);
        if alone.lanes[0].ended.is_none() && broken.is_continue() {
            let (problem, check) = (&problems[number..=number], std::slice::from_mut(check));
            broken = on_stored_rows!(problem[0].matrix, rows => {
                alone.climb(problem, &rows, check, settings, &mut Numbered { control, first: number })
            });
        }
        let end = check.end(&alone.of(0));
        let (stop, sweeps) = match (alone.lanes[0].ended, &broken) {
            (Some(ended), _) => ended,
            (None, ControlFlow::Break(stop)) => (*stop, alone.sweeps),
            (None, ControlFlow::Continue(())) => (Stop::Stalled, alone.sweeps),
        };
        found.push(Ascent { end, stop, sweeps });
    }
    found
}

/// A control that knows the number of the first machine.
struct Numbered<'a> {
    control: &'a mut dyn Control,
    first: usize,
}

/// The mean of ‖x_i‖².
fn mean_square(problem: &LinearProblem<'_>) -> f64 {
    (0..problem.len()).map(|i| problem.square(i)).sum::<f64>() / problem.len().max(1) as f64
}

/// The first value of c: 0, or inside the bounds for logistic loss, whose dual has no slope at them.
pub(crate) fn first_coefficient(loss: RowLoss, target: f64, cost: f64) -> f64 {
    if loss == RowLoss::Logistic { target * (1e-3 * cost).min(1e-8) } else { 0.0 }
}

/// Rows of a run: neighbours in memory, which are read together. Each sweep makes groups of other runs and visits the rows of a group in a random
/// order. Groups that stayed the same from sweep to sweep could take many more sweeps (see `out_of_core`). Where teams visit the rows, the
/// rows of a run follow each other.
const RUN: usize = 16;
const RUNS_A_GROUP: usize = GROUP / RUN;
/// The most sweeps unless the settings say otherwise.
const MAX_SWEEPS: u64 = 1_000_000;
/// The gap is computed when the estimate of the sweep is within this many times the gap that is asked for.
const LIKELY: f64 = 2.0;
/// The primal objective, which costs more than a late sweep, is computed when the gap, measured with the last primal, is within this many times
/// [`LIKELY`], or has fallen to half since.
const NEARLY: f64 = 1.5;
/// The least ρ of (DA.2), as a part of the largest, the mean ‖x_i‖². The largest couples each row with all others as strongly as with itself,
/// which takes twice as many sweeps where rows have little in common (text). With a smaller one b lags behind.
const LEAST_STRENGTH: f64 = 0.03;
/// ρ grows when a sweep leaves more than this part of S.
const SLOW_FALL: f64 = 0.5;

/// The fewest machines that visit a row, in the mean, for which visiting it once for all is faster than once for each.
const MANY_VISITORS: usize = 2;

/// The machines that climb side by side.
struct Lanes<const L: usize> {
    /// w and S of (DA.2)
    at: LanePoint<L>,
    /// b of (DA.2)
    multipliers: [f64; L],
    /// ρ of (DA.2), of each machine
    strengths: [f64; L],
    /// The mean of ‖x_i‖²
    mean_square: f64,
    /// c, `[row][machine]`
    coefficients: Vec<[f64; L]>,
    /// For each row one bit for each machine that visits it.
    visitors: Vec<u8>,
    lanes: [Lane; L],
    sweeps: u64,
}

/// The state of a machine between sweeps.
#[derive(Clone, Copy, Default)]
struct Lane {
    /// Why it ended, and after how many sweeps.
    ended: Option<(Stop, u64)>,
    /// Rows at a bound whose slope points outward by more than this are left out.
    outward: f64,
    /// How many rows are left out.
    left_out: usize,
    /// S of (DA.2) after the sweep before.
    last_sum: f64,
    /// The primal objective when it was last computed, and what the sweep had seen of the gap; infinite before.
    primal: f64,
    gap_at_primal: f64,
    seen: SweepSums,
}

impl<const L: usize> Lanes<L> {
    fn begin(problems: &[LinearProblem<'_>], starts: &[Option<Vec<f64>>], checks: &mut [Check<'_, '_>]) -> Self {
        let shared = &problems[0];
        let mean_square = mean_square(shared).max(f64::MIN_POSITIVE);
        let mut lanes = Lanes {
            at: LanePoint { weights: vec![[0.0; L]; shared.columns()], sums: [0.0; L] },
            multipliers: [0.0; L],
            strengths: match shared.bias {
                Bias::Explicit => [LEAST_STRENGTH * mean_square; L],
                Bias::Folded => [1.0; L],
                Bias::None => [0.0; L],
            },
            mean_square,
            coefficients: vec![[0.0; L]; shared.len()],
            visitors: vec![0; shared.len()],
            lanes: [Lane {
                outward: f64::INFINITY,
                primal: f64::INFINITY,
                gap_at_primal: f64::INFINITY,
                ..Lane::default()
            }; L],
            sweeps: 0,
        };
        for (number, problem) in problems.iter().enumerate() {
            let (loss, targets, costs) = (problem.loss, problem.targets, problem.costs);
            let coefficients: Vec<f64> = match &starts[number] {
                Some(start) if start.len() == problem.len() => {
                    (0..problem.len()).map(|i| loss.clipped(start[i], targets[i], costs[i])).collect()
                }
                _ => (0..problem.len()).map(|i| first_coefficient(loss, targets[i], costs[i])).collect(),
            };
            let Direction { weights, bias } = checks[number].combine(&coefficients);
            lanes.at.sums[number] = bias - problem.pull_on_bias;
            lanes.at.weights.iter_mut().zip(weights).for_each(|(own, weight)| own[number] = weight);
            lanes.coefficients.iter_mut().zip(coefficients).for_each(|(own, c)| own[number] = c);
            lanes.visit_all(number);
        }
        lanes
    }

    /// One machine as the check sees it.
    fn of(&self, number: usize) -> Climb {
        Climb {
            weights: self.at.weights.iter().map(|weights| weights[number]).collect(),
            sum: self.at.sums[number],
            bias: self.bias(number),
            coefficients: self.coefficients.iter().map(|coefficients| coefficients[number]).collect(),
        }
    }

    /// One machine taken out of the lanes, to go on alone.
    fn alone(&self, number: usize) -> Lanes<1> {
        Lanes {
            at: LanePoint {
                weights: self.at.weights.iter().map(|weights| [weights[number]]).collect(),
                sums: [self.at.sums[number]],
            },
            multipliers: [self.multipliers[number]],
            strengths: [self.strengths[number]],
            mean_square: self.mean_square,
            coefficients: self.coefficients.iter().map(|coefficients| [coefficients[number]]).collect(),
            visitors: self.visitors.iter().map(|visitors| visitors >> number & 1).collect(),
            lanes: [self.lanes[number]],
            sweeps: self.sweeps,
        }
    }

    /// Whether so few machines visit the same rows that each is faster alone.
    fn are_lonely(&self, active: usize) -> bool {
        let visits: usize = self.visitors.iter().map(|visitors| visitors.count_ones() as usize).sum();
        L > 1 && visits < MANY_VISITORS * active
    }

    /// `b + ρS` of (DA.2), which is added to ⟨w, x⟩.
    fn bias(&self, number: usize) -> f64 {
        self.multipliers[number] + self.strengths[number] * self.at.sums[number] // (DA.2)
    }

    /// Chooses ρ of (DA.2) for the next sweep of a machine.
    ///
    /// A large ρ couples the rows, so that sweeps climb slowly; a small one lets b lag behind. So ρ stays small while S changes its sign or
    /// falls quickly, and grows otherwise.
    fn adapt_strength(&mut self, number: usize) {
        let (sum, lane) = (self.at.sums[number], &mut self.lanes[number]);
        let lags = sum * lane.last_sum > 0.0 && sum.abs() > SLOW_FALL * lane.last_sum.abs();
        lane.last_sum = sum;
        let factor = if lags { 2.0 } else { 0.5 };
        let strength = &mut self.strengths[number];
        *strength = (*strength * factor).clamp(LEAST_STRENGTH * self.mean_square, self.mean_square);
    }

    /// Makes a machine visit all rows again.
    fn visit_all(&mut self, number: usize) {
        self.visitors.iter_mut().for_each(|visitors| *visitors |= 1 << number);
        self.lanes[number].outward = f64::INFINITY;
        self.lanes[number].left_out = 0;
    }

    /// Ends a machine, which then visits no row.
    fn end(&mut self, number: usize, stop: Stop) {
        self.visitors.iter_mut().for_each(|visitors| *visitors &= !(1 << number));
        self.lanes[number].ended = Some((stop, self.sweeps));
    }

    /// Sweeps until every machine has reached the tolerance or the gap, or is faster alone.
    fn climb(
        &mut self,
        problems: &[LinearProblem<'_>],
        rows: &impl StoredRows,
        checks: &mut [Check<'_, '_>],
        settings: &Settings,
        Numbered { control, first }: &mut Numbered<'_>,
    ) -> ControlFlow<Stop> {
        let n = problems[0].len();
        control.poll(Progress::default())?;
        let mut duals = if control.wants_steps() { Some(self.duals(problems)) } else { None };
        let mut random = Pcg64::seed_from_u64(settings.seed);
        let mut active: Vec<u32> = (0..n as u32).filter(|&i| self.visitors[i as usize] != 0).collect();
        let mut teams = Teams::new(problems);
        while self.lanes[..problems.len()].iter().any(|lane| lane.ended.is_none()) {
            let whole = self.lanes.map(|lane| lane.left_out == 0);
            self.lanes.iter_mut().for_each(|lane| lane.seen = SweepSums::default());
            let mut runs: Vec<u32> = (0..active.len().div_ceil(RUN) as u32).collect();
            runs.shuffle(&mut random);
            for runs in runs.chunks(RUNS_A_GROUP * teams.groups_a_round()) {
                let violation = self.lanes.iter().map(|lane| lane.seen.violation).fold(0.0, f64::max);
                control.poll(Progress { iteration: self.sweeps, violation: Some(violation), ..Progress::default() })?;
                teams.clear();
                for (k, group) in runs.chunks(RUNS_A_GROUP).enumerate() {
                    let (places, alone) = teams.places_of(k);
                    let start = places.len();
                    for &run in group {
                        places.extend(&active[run as usize * RUN..((run as usize + 1) * RUN).min(active.len())]);
                    }
                    if alone {
                        places[start..].shuffle(&mut random);
                    }
                }
                self.visit(problems, rows, &mut teams, duals.is_some());
                if let Some(duals) = &mut duals {
                    self.show(problems, &teams, duals, (*first, &mut **control));
                }
            }
            self.sweeps += 1;
            for number in 0..problems.len() {
                if self.lanes[number].ended.is_none() {
                    self.judge(number, problems, &mut checks[number], settings, whole[number]);
                }
            }
            active.retain(|&i| self.visitors[i as usize] != 0);
            if self.visitors.iter().filter(|&&visitors| visitors != 0).count() > active.len() {
                active = (0..n as u32).filter(|&i| self.visitors[i as usize] != 0).collect();
            }
            if self.are_lonely(active.len()) {
                break;
            }
        }
        ControlFlow::Continue(())
    }

    /// Takes the steps of the teams' rows.
    fn visit(
        &mut self,
        problems: &[LinearProblem<'_>],
        rows: &impl StoredRows,
        teams: &mut Teams<L>,
        is_watched: bool,
    ) {
        let round = Round {
            problems,
            multipliers: self.multipliers,
            strengths: self.strengths,
            coefficients: &self.coefficients,
            visitors: &self.visitors,
            outward: self.lanes.map(|lane| lane.outward),
            is_watched,
        };
        teams.visit(&round, rows, &mut self.at);
        for team in teams.all() {
            for (lane, seen) in self.lanes.iter_mut().zip(&team.seen) {
                lane.seen.join(seen);
            }
            for moved in &team.moved {
                self.coefficients[moved.place as usize] = moved.coefficients;
            }
            for &(place, number) in &team.left_out {
                self.visitors[place as usize] &= !(1 << number);
                self.lanes[number as usize].left_out += 1;
            }
        }
    }

    /// The dual objective (LP.2) of each machine. With an explicit bias it lacks the multiplier's part.
    fn duals(&self, problems: &[LinearProblem<'_>]) -> Vec<f64> {
        let dual = |(number, problem): (usize, &LinearProblem<'_>)| {
            let coefficient = |i: usize| self.coefficients[i][number];
            let term = |i: usize| problem.loss.dual_term(coefficient(i), problem.targets[i], problem.costs[i]);
            let squares: f64 = self.at.weights.iter().map(|weights| weights[number] * weights[number]).sum();
            let of_bias = self.strengths[number] * self.at.sums[number] * self.at.sums[number];
            (0..problem.len()).map(term).sum::<f64>() - 0.5 * (squares + of_bias)
        };
        problems.iter().enumerate().map(dual).collect()
    }

    /// Shows the steps of the last round, and keeps the dual objectives.
    fn show(
        &self,
        problems: &[LinearProblem<'_>],
        teams: &Teams<L>,
        duals: &mut [f64],
        (first, control): (usize, &mut dyn Control),
    ) {
        for step in teams.all().iter().flat_map(|team| &team.watched) {
            let (i, number) = (step.place as usize, step.number as usize);
            let LinearProblem { loss, targets, costs, rows, bias, .. } = problems[number];
            let has_sign = !matches!(loss, RowLoss::Epsilon(_) | RowLoss::SquaredEpsilon(_));
            let sign = if has_sign { loss.side(targets[i]).0 } else { 1.0 };
            let high = loss.bound(costs[i]);
            duals[number] += step.gain;
            control.step(Shown::Coordinate {
                machine: first + number,
                iteration: self.sweeps,
                row: rows[i],
                sign,
                low: if has_sign { 0.0 } else { -high },
                high,
                before: sign * step.before,
                wanted: sign * step.wanted,
                taken: sign * step.after,
                gain: step.gain,
                dual: (bias != Bias::Explicit).then(|| duals[number]),
                bias: Some(step.bias),
            });
        }
    }

    /// After a sweep: whether a machine is done, and which rows it visits next.
    fn judge(
        &mut self,
        number: usize,
        problems: &[LinearProblem<'_>],
        check: &mut Check<'_, '_>,
        settings: &Settings,
        whole: bool,
    ) {
        let Lane { left_out, seen: SweepSums { violation, gap, moved, size }, .. } = self.lanes[number];
        if violation == f64::INFINITY {
            return self.end(number, Stop::Diverged);
        }
        let explicit = problems[number].bias == Bias::Explicit;
        let left = if explicit { self.strengths[number] * self.at.sums[number] } else { 0.0 };
        self.multipliers[number] += left; // (DA.2)
        if explicit {
            self.adapt_strength(number);
        }
        self.lanes[number].outward = if violation > 0.0 { violation } else { f64::INFINITY };
        let still = moved.sqrt() <= settings.tolerance() * size.sqrt().max(1.0);
        let stalled = whole && moved == 0.0 && left == 0.0;
        let all_again = match settings.linear_gap() {
            Some(target) => {
                let lane = &self.lanes[number];
                let is_near = gap <= NEARLY * LIKELY * target * lane.primal || gap <= 0.5 * lane.gap_at_primal;
                let climb = (is_near || moved == 0.0).then(|| self.of(number));
                if let Some(climb) = &climb {
                    self.lanes[number].primal = check.primal_of(gap, climb);
                    self.lanes[number].gap_at_primal = gap;
                }
                let is_likely = gap <= LIKELY * target * self.lanes[number].primal || moved == 0.0;
                if let Some(climb) = climb.filter(|_| is_likely) {
                    let found = check.at(&climb);
                    if found.gap <= target * found.primal.abs() {
                        return self.end(number, Stop::Converged);
                    }
                    if stalled {
                        return self.end(number, Stop::Stalled);
                    }
                    // The gap may lie in rows that were left out.
                    found.gap > 2.0 * gap
                } else {
                    false
                }
            }
            None if violation.max(left.abs()) <= settings.tolerance() && (still || moved == 0.0) => {
                // The sweep measured each violation before later steps moved, so it is measured again at the end point.
                if whole && check.violation_at(&self.of(number)) <= settings.tolerance() {
                    return self.end(number, Stop::Converged);
                }
                if stalled {
                    return self.end(number, Stop::Stalled);
                }
                true
            }
            None if stalled => return self.end(number, Stop::Stalled),
            None => moved == 0.0,
        };
        if self.sweeps >= settings.max_iterations.unwrap_or(MAX_SWEEPS) {
            return self.end(number, Stop::IterationLimit);
        }
        if all_again || left_out == self.visitors.len() {
            self.visit_all(number);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::certificate::certify;
    use crate::control::Unattended;
    use crate::problem::Loss;
    use crate::solver::fixtures::*;
    use crate::solver::{Settings, SolverKind};

    #[test]
    fn every_loss_and_bias_reaches_the_gap_that_is_asked_for_and_the_certificate_agrees() {
        for seed in 0..4 {
            for loss in [Loss::Hinge, Loss::Squared, Loss::Logistic] {
                for bias in [Bias::Explicit, Bias::Folded, Bias::None] {
                    let fixture = Fixture::new(&blobs(100, 0.8, seed), 0.5).loss(loss).bias(bias);
                    let settings = Settings { gap: Some(1e-6), ..Settings::default() };
                    let solution = fixture.solve(SolverKind::DualAscent, &settings);
                    let evidence = fixture.with(|problem| certify(problem, &solution, 1e-6));
                    let gap = evidence.certificate().unwrap().relative_gap;
                    assert_eq!(solution.stop, Stop::Converged, "seed {seed} {loss:?} {bias:?}");
                    assert!(gap <= 1.01e-6, "seed {seed} {loss:?} {bias:?}: {gap}");
                    let other = fixture.primal(&fixture.solve(SolverKind::PrimalNewton, &settings));
                    let own = fixture.primal(&solution);
                    assert!((own - other).abs() <= 2e-6 * other, "seed {seed} {loss:?} {bias:?}: {own} {other}");
                }
            }
        }
    }

    #[test]
    fn a_tolerance_is_kept_with_an_explicit_bias_too() {
        for seed in 0..4 {
            let fixture = Fixture::new(&blobs(80, 1.0, seed), 0.5);
            let solution = fixture.solve(SolverKind::DualAscent, &tolerance(1e-4));
            assert_eq!(solution.stop, Stop::Converged, "seed {seed}");
            assert!(fixture.violation(&solution) <= 1e-4, "seed {seed}: {}", fixture.violation(&solution));
        }
    }

    #[test]
    fn a_start_at_the_end_is_soon_done() {
        let fixture = Fixture::new(&blobs(100, 0.8, 2), 0.5).bias(Bias::Folded);
        fixture.with(|problem| {
            let linear = LinearProblem::of_margin(problem);
            let settings = Settings { gap: Some(1e-8), ..Settings::default() };
            let problems = [linear];
            let cold = ascend(&problems, &[None], &settings, &mut Unattended);
            let start = Some(cold[0].end.coefficients.clone());
            let warm = ascend(&problems, &[start], &settings, &mut Unattended);
            assert!(warm[0].sweeps <= 2 && cold[0].sweeps > 2, "{} {}", warm[0].sweeps, cold[0].sweeps);
        });
    }
}
