//! Teams that visit the rows: one team for all rows, or two that visit different rows at the same time.
//!
//! Two teams begin a round at the same w, each on its own copy, and do not see each other's changes. Both changes together, times t, raise the
//! dual objective by
//!
//! ```text
//! D(t) ≥ t (ΔH − ⟨w, Δ⟩) − ½t²‖Δ‖²,   0 ≤ t ≤ 1                                               (DA.4)
//! ```
//!
//! Δ is the sum of both changes of w, and ΔH the change of the other terms of (LP.2), which are concave. The round takes the t with the largest
//! bound: 1 where the teams did not disturb each other, as is usual for sparse rows, and at least ½, the mean of both, which never lowers the
//! objective. Whether there are two teams depends on the problem alone, and so do the bits.
//!
//! # Reference
//! M. Jaggi et al., Communication-efficient distributed dual coordinate ascent, 2014.

use pulp::Arch;

use super::check::HUGE;
use super::step::{Step, free, step};
use crate::data::stored::StoredRows;
use crate::problem::{Bias, LinearProblem};
use crate::simd::vectorised;
use crate::workers::Workers;

/// The point of each machine.
#[derive(Clone)]
pub(super) struct LanePoint<const L: usize> {
    /// w, `[column][machine]`
    pub(super) weights: Vec<[f64; L]>,
    /// S of (DA.2)
    pub(super) sums: [f64; L],
}

/// Some columns of w.
type Columns<const L: usize> = [[f64; L]];

/// What a sweep has measured for a machine.
#[derive(Clone, Copy, Default)]
pub(super) struct SweepSums {
    pub(super) violation: f64,
    pub(super) gap: f64,
    /// The sum of the squares of all changes, and that of all coefficients.
    pub(super) moved: f64,
    pub(super) size: f64,
}

impl SweepSums {
    pub(super) fn join(&mut self, other: &SweepSums) {
        self.violation = self.violation.max(other.violation);
        self.gap += other.gap;
        self.moved += other.moved;
        self.size += other.size;
    }
}

/// What all teams share in a round.
pub(super) struct Round<'r, 'a, const L: usize> {
    /// The problems, which have the same rows, loss and bias.
    pub(super) problems: &'r [LinearProblem<'a>],
    /// b and ρ of (DA.2)
    pub(super) multipliers: [f64; L],
    pub(super) strengths: [f64; L],
    /// c, `[row][machine]`, before the round.
    pub(super) coefficients: &'r [[f64; L]],
    /// For each row one bit for each machine that visits it.
    pub(super) visitors: &'r [u8],
    /// Rows at a bound whose slope points outward by more than this are left out.
    pub(super) outward: [f64; L],
    /// Whether the steps are kept for those who watch.
    pub(super) is_watched: bool,
}

/// A row whose coefficients have moved, and their new values.
pub(super) struct MovedRow<const L: usize> {
    pub(super) place: u32,
    pub(super) coefficients: [f64; L],
}

/// A step of one coefficient of one machine, for those who watch.
pub(super) struct WatchedStep {
    pub(super) place: u32,
    pub(super) number: u8,
    /// c before and after, and where it would go without bounds.
    pub(super) before: f64,
    pub(super) after: f64,
    pub(super) wanted: f64,
    pub(super) gain: f64,
    /// `b + ρS` of (DA.2) after the step.
    pub(super) bias: f64,
}

/// A team: it visits some rows, one after the other, on its own copy of w.
pub(super) struct Team<const L: usize> {
    places: Vec<u32>,
    at: LanePoint<L>,
    pub(super) seen: [SweepSums; L],
    /// ΔH of (DA.4)
    heights: [f64; L],
    pub(super) moved: Vec<MovedRow<L>>,
    /// Rows that a machine leaves out from now on.
    pub(super) left_out: Vec<(u32, u8)>,
    /// The steps of the last round, if somebody watches.
    pub(super) watched: Vec<WatchedStep>,
}

/// All teams.
pub(super) struct Teams<const L: usize> {
    teams: Vec<Team<L>>,
    /// Groups of rows that a team visits in a round.
    groups: usize,
}

/// Rows of a group.
pub(super) const GROUP: usize = 512;
/// Fewest rows for which two teams are faster than one.
const MANY_ROWS: usize = 32 * 1024;
/// Entries of rows in a round for each column of w. With fewer, adding up the columns after a round takes too large a part of the time.
const ENTRIES_A_COLUMN: usize = 6;
/// Fewest rounds of a sweep for which two teams are faster than one. In longer rounds the teams disturb each other more.
const ROUNDS_A_SWEEP: usize = 12;
/// Columns that a thread adds up at a time.
const COLUMNS_A_CHUNK: usize = 8192;

impl<const L: usize> Teams<L> {
    pub(super) fn new(problems: &[LinearProblem<'_>]) -> Self {
        let shared = &problems[0];
        let entries = shared.matrix.entries() / shared.matrix.rows().max(1) + 1;
        let groups = (ENTRIES_A_COLUMN * shared.columns() / entries).div_ceil(GROUP).max(1);
        let pays = problems.len() == 1 && shared.len() >= MANY_ROWS.max(2 * groups * GROUP * ROUNDS_A_SWEEP);
        let (count, groups) = if pays { (2, groups) } else { (1, 1) };
        let team = || Team {
            places: Vec::new(),
            at: LanePoint { weights: Vec::new(), sums: [0.0; L] },
            seen: [SweepSums::default(); L],
            heights: [0.0; L],
            moved: Vec::new(),
            left_out: Vec::new(),
            watched: Vec::new(),
        };
        Teams { teams: (0..count).map(|_| team()).collect(), groups }
    }

    /// Groups of rows that all teams visit in a round.
    pub(super) fn groups_a_round(&self) -> usize {
        self.groups * self.teams.len()
    }

    /// Takes all rows away from the teams.
    pub(super) fn clear(&mut self) {
        self.teams.iter_mut().for_each(|team| team.places.clear());
    }

    /// The rows of the team that visits the k-th group of a round, to add more, and whether it is the only team.
    pub(super) fn places_of(&mut self, k: usize) -> (&mut Vec<u32>, bool) {
        let count = self.teams.len();
        (&mut self.teams[k % count].places, count == 1)
    }

    /// The teams, with what they did in the last round.
    pub(super) fn all(&self) -> &[Team<L>] {
        &self.teams
    }

    /// Takes the steps of a round.
    pub(super) fn visit(&mut self, round: &Round<'_, '_, L>, rows: &impl StoredRows, at: &mut LanePoint<L>) {
        if let [team] = &mut self.teams[..] {
            // A single team needs no copy.
            std::mem::swap(&mut team.at, at);
            team.visit(round, rows, false);
            std::mem::swap(&mut team.at, at);
            return;
        }
        for team in &mut self.teams {
            if team.at.weights.len() != at.weights.len() {
                team.at.weights.clone_from(&at.weights);
            }
            team.at.sums = at.sums;
        }
        let workers = round.problems[0].workers;
        workers.map_parts(&mut self.teams, |team| team.visit(round, rows, true));
        self.join(round, workers, at);
    }

    /// Joins the changes of both teams with the t of (DA.4), and brings both teams to that point.
    fn join(&mut self, round: &Round<'_, '_, L>, workers: &Workers, at: &mut LanePoint<L>) {
        let parts = workers.map_chunks(at.weights.len(), COLUMNS_A_CHUNK, |range| {
            let (mut along, mut squares) = ([0.0; L], [0.0; L]);
            for column in range {
                for lane in 0..L {
                    let own = at.weights[column][lane];
                    let change: f64 = self.teams.iter().map(|team| team.at.weights[column][lane] - own).sum();
                    along[lane] += own * change;
                    squares[lane] += change * change;
                }
            }
            (along, squares)
        });
        let mut steps = [1.0; L];
        for lane in 0..L {
            let sum = at.sums[lane];
            let change: f64 = self.teams.iter().map(|team| team.at.sums[lane] - sum).sum();
            let bias = round.multipliers[lane] + round.strengths[lane] * sum;
            let along = parts.iter().map(|part| part.0[lane]).sum::<f64>() + bias * change;
            let square = parts.iter().map(|part| part.1[lane]).sum::<f64>() + round.strengths[lane] * change * change;
            let height: f64 = self.teams.iter().map(|team| team.heights[lane]).sum();
            let best = (height - along) / square; // (DA.4)
            let mean = 1.0 / self.teams.len() as f64;
            steps[lane] = if best >= mean { best.min(1.0) } else { mean };
            at.sums[lane] = sum + steps[lane] * change;
        }
        let teams = self.teams.iter_mut().map(|team| team.at.weights.chunks_mut(COLUMNS_A_CHUNK));
        let mut teams: Vec<_> = teams.collect();
        let mut chunks: Vec<(&mut Columns<L>, Vec<&mut Columns<L>>)> = at
            .weights
            .chunks_mut(COLUMNS_A_CHUNK)
            .map(|own| (own, teams.iter_mut().filter_map(Iterator::next).collect()))
            .collect();
        workers.map_parts(&mut chunks, |(own, teams)| {
            for (column, own) in own.iter_mut().enumerate() {
                for lane in 0..L {
                    let change: f64 = teams.iter().map(|team| team[column][lane] - own[lane]).sum();
                    own[lane] += steps[lane] * change;
                }
                teams.iter_mut().for_each(|team| team[column] = *own);
            }
        });
        if steps.iter().all(|&step| step == 1.0) {
            return;
        }
        for watched in self.teams.iter_mut().flat_map(|team| &mut team.watched) {
            watched.after = watched.before + steps[watched.number as usize] * (watched.after - watched.before);
        }
        for moved in self.teams.iter_mut().flat_map(|team| &mut team.moved) {
            let old = &round.coefficients[moved.place as usize];
            for (lane, new) in moved.coefficients.iter_mut().enumerate() {
                *new = old[lane] + steps[lane] * (*new - old[lane]);
            }
        }
    }
}

impl<const L: usize> Team<L> {
    /// Takes the steps of the team's rows, in their order. Computes ΔH if `measured`.
    fn visit(&mut self, round: &Round<'_, '_, L>, rows: &impl StoredRows, measured: bool) {
        if L == 1 {
            self.visit_places(round, rows, measured);
        } else {
            vectorised(
                Arch::new(),
                #[inline(always)]
                || self.visit_places(round, rows, measured),
            );
        }
    }

    #[inline(always)]
    fn visit_places(&mut self, round: &Round<'_, '_, L>, rows: &impl StoredRows, measured: bool) {
        let shared = &round.problems[0];
        let loss = shared.loss;
        let curvatures_of_bias = if shared.bias == Bias::Explicit { round.strengths } else { [0.0; L] };
        // Local copies: the teams lie side by side in memory, and writing there at each row would make them wait for each other.
        let (mut seen_by, mut heights, mut sums) = ([SweepSums::default(); L], [0.0; L], self.at.sums);
        let (mut moved, mut left_out) = (std::mem::take(&mut self.moved), std::mem::take(&mut self.left_out));
        moved.clear();
        left_out.clear();
        self.watched.clear();
        let weights = &mut self.at.weights[..];
        for &place in &self.places {
            let i = place as usize;
            let (row, square) = (shared.rows[i], shared.square(i));
            let products = rows.dot_lanes(row, weights);
            let mut coefficients = round.coefficients[i];
            let mut changes = [0.0; L];
            let mut moves = false;
            for (number, problem) in round.problems.iter().enumerate() {
                if round.visitors[i] & 1 << number == 0 {
                    continue;
                }
                let (target, cost) = (problem.targets[i], problem.costs[i]);
                let bias = round.multipliers[number] + round.strengths[number] * sums[number]; // (DA.2)
                let (f, old) = (products[number] + bias, coefficients[number]);
                let Step { target: new, slope, outward } =
                    step(loss, target, cost, f, old, square + curvatures_of_bias[number]);
                if outward.is_some_and(|by| by > round.outward[number]) {
                    left_out.push((place, number as u8));
                    continue;
                }
                let seen = &mut seen_by[number];
                let term = loss.dual_term(old, target, cost);
                seen.gap += cost * loss.value(target, f) - term + old * f;
                seen.size += old * old;
                if outward.is_some() {
                    continue;
                }
                seen.violation = seen.violation.max(slope.abs());
                if !(new.is_finite() && slope.abs() < HUGE) {
                    seen.violation = f64::INFINITY;
                    continue;
                }
                let change = new - old;
                if change != 0.0 {
                    coefficients[number] = new;
                    sums[number] += change;
                    seen.moved += change * change;
                    changes[number] = change;
                    moves = true;
                    if round.is_watched {
                        let square = square + curvatures_of_bias[number];
                        let rise = loss.dual_term(new, target, cost) - term;
                        self.watched.push(WatchedStep {
                            place,
                            number: number as u8,
                            before: old,
                            after: new,
                            wanted: free(loss, target, cost, f, old, square),
                            gain: rise - (f + 0.5 * square * change) * change,
                            bias: round.multipliers[number] + round.strengths[number] * sums[number],
                        });
                    }
                    if measured {
                        heights[number] += loss.dual_term(new, target, cost) - term;
                    }
                }
            }
            if moves {
                rows.add_lanes(row, &changes, weights);
                moved.push(MovedRow { place, coefficients });
            }
        }
        (self.seen, self.heights, self.at.sums) = (seen_by, heights, sums);
        (self.moved, self.left_out) = (moved, left_out);
    }
}

#[cfg(test)]
mod tests {
    use super::super::super::fixtures::*;
    use super::*;
    use crate::certificate::certify;
    use crate::control::Stop;
    use crate::problem::Loss;
    use crate::solver::{Settings, SolverKind};

    /// Rows of two columns, where two teams disturb each other most.
    const ROWS: usize = 34_000;

    fn teams_of(rows: usize) -> usize {
        Fixture::new(&blobs(rows, 0.8, 1), 1.0)
            .with(|problem| Teams::<1>::new(&[LinearProblem::of_margin(problem)]).all().len())
    }

    #[test]
    fn many_rows_are_visited_by_two_teams_and_few_by_one() {
        assert_eq!([teams_of(ROWS), teams_of(1000)], [2, 1]);
    }

    #[test]
    fn every_loss_and_bias_reaches_its_gap_with_two_teams() {
        for loss in [Loss::Hinge, Loss::Squared, Loss::Logistic] {
            for bias in [Bias::Explicit, Bias::Folded, Bias::None] {
                let fixture = Fixture::new(&blobs(ROWS, 0.8, 3), 1e-3).loss(loss).bias(bias);
                let settings = Settings { gap: Some(1e-5), ..Settings::default() };
                let solution = fixture.solve(SolverKind::DualAscent, &settings);
                assert_eq!(solution.stop, Stop::Converged, "{loss:?} {bias:?}");
                let evidence = fixture.with(|problem| certify(problem, &solution, 1e-6));
                let gap = evidence.certificate().unwrap().relative_gap;
                assert!(gap <= 1.01e-5, "{loss:?} {bias:?}: {gap}");
            }
        }
    }

    #[test]
    fn threads_change_nothing_with_two_teams() {
        for loss in [Loss::Hinge, Loss::Logistic] {
            let fixture = || Fixture::new(&blobs(ROWS, 0.8, 1), 1e-3).loss(loss).bias(Bias::None);
            assert_threads_change_nothing(SolverKind::DualAscent, fixture);
        }
    }

    /// The point where two teams end that began at 1 and went to these weights, when the terms of the dual rose by `height`.
    fn joined(ends: [[f64; 2]; 2], height: f64) -> ([f64; 2], f64) {
        Fixture::new(&blobs(ROWS, 0.8, 1), 1.0).bias(Bias::None).with(|problem| {
            let problems = [LinearProblem::of_margin(problem)];
            let mut teams = Teams::<1>::new(&problems);
            for (team, end) in teams.teams.iter_mut().zip(ends) {
                team.at.weights = end.map(|weight| [weight]).to_vec();
                team.heights = [0.5 * height];
                team.moved = vec![MovedRow { place: 0, coefficients: [1.0] }];
            }
            let round = Round {
                problems: &problems,
                multipliers: [0.0],
                strengths: [0.0],
                coefficients: &[[0.0]],
                visitors: &[1],
                outward: [f64::INFINITY],
                is_watched: false,
            };
            let mut at = LanePoint { weights: vec![[1.0], [1.0]], sums: [0.0] };
            teams.join(&round, problems[0].workers, &mut at);
            assert!(teams.teams.iter().all(|team| team.at.weights == at.weights), "every team is there");
            ([at.weights[0][0], at.weights[1][0]], teams.teams[0].moved[0].coefficients[0])
        })
    }

    #[test]
    fn a_round_goes_as_far_as_its_bound_rises_and_at_least_to_the_mean() {
        // Each went by 2 along an axis of its own, which gained 2: Δ = (2, 2), ⟨w, Δ⟩ = 4, ‖Δ‖² = 8.
        assert_eq!(joined([[3.0, 1.0], [1.0, 3.0]], 12.0), ([3.0, 3.0], 1.0));
        // Both went the same way: Δ = (4, 0), ⟨w, Δ⟩ = 4, ‖Δ‖² = 16.
        assert_eq!(joined([[3.0, 1.0], [3.0, 1.0]], 12.0), ([3.0, 1.0], 0.5));
        assert_eq!(joined([[3.0, 1.0], [3.0, 1.0]], 16.0), ([4.0, 1.0], 0.75));
        assert_eq!(joined([[3.0, 1.0], [3.0, 1.0]], -100.0), ([3.0, 1.0], 0.5));
    }
}
