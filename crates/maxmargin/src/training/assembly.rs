//! From machines that are done to the parts of a model: their support vectors in one pool, each training row once.

use crate::checkpoint::{ByRow, FinishedMachine, MachineState};
use crate::kernel::Points;
use crate::model::{Machine, ModelParts};
use crate::problem::Task;
use crate::solver::SolverKind;
use crate::workers::Workers;

/// Parts that lists of rows are cut into to find out which rows are used. Each part needs a byte for each training row.
const PARTS: usize = 16;

/// Puts machines that are done into a model.
///
/// 1,000 classes have 499,500 machines. They take 200 MB that nobody has touched before, so all threads move them there.
pub(super) fn assemble(parts: &mut ModelParts, states: Vec<MachineState>, points: &Points, workers: &Workers) {
    let done = |state: MachineState| match state {
        MachineState::Finished(finished) => finished,
        _ => unreachable!("a machine is finished or broken"),
    };
    let finished: Vec<Box<FinishedMachine>> = states.into_iter().map(done).collect();
    if let Some(last) = finished.last() {
        parts.solver = last.solver.name().into();
        if let Some(epsilon) = last.machine.epsilon {
            parts.task = Task::Regression { epsilon };
        }
    }
    if finished.len() == 1 {
        let (machines, expansions) = finished.into_iter().map(|alone| (alone.machine, alone.expansion)).unzip();
        parts.machines = machines;
        return pool_support_vectors(parts, expansions, points, workers);
    }
    let places = pool_rows(parts, finished.len(), |number| finished[number].expansion.rows.iter().copied(), workers);
    parts.machines = workers.map_all(finished, |finished| {
        let FinishedMachine { mut machine, expansion, .. } = *finished;
        set_support(&mut machine, expansion, &places);
        machine
    });
    pool_vectors(parts, points);
}

/// Puts machines into a model whose support vectors are training rows, as [`Kept`](super::kept::Kept) has them.
pub(super) fn assemble_kept(
    parts: &mut ModelParts,
    mut machines: Vec<Machine>,
    solver: SolverKind,
    points: &Points,
    workers: &Workers,
) {
    parts.solver = solver.name().into();
    if let Some(epsilon) = machines.last().and_then(|machine| machine.epsilon) {
        parts.task = Task::Regression { epsilon };
    }
    let places =
        pool_rows(parts, machines.len(), |number| machines[number].support.iter().map(|&row| row.into()), workers);
    let size = machines.len().div_ceil(PARTS);
    workers.fill_chunks_with(
        &mut machines,
        size,
        || (),
        |(), _, machines| {
            let rows = machines.iter_mut().flat_map(|machine| &mut machine.support);
            rows.for_each(|row| *row = places[*row as usize]);
        },
    );
    parts.machines = machines;
    pool_vectors(parts, points);
}

/// Joins the machines' support vectors into one pool, each training row once.
pub(super) fn pool_support_vectors(
    parts: &mut ModelParts,
    mut expansions: Vec<ByRow>,
    points: &Points,
    workers: &Workers,
) {
    if let ([machine], [alone]) = (&mut parts.machines[..], &mut expansions[..]) {
        // One machine alone has its rows in their order already.
        machine.support = workers.numbers(alone.rows.len(), |place| place as u32);
        machine.coefficients = std::mem::take(&mut alone.numbers);
        parts.support_rows = std::mem::take(&mut alone.rows);
    } else {
        let places = pool_rows(parts, expansions.len(), |number| expansions[number].rows.iter().copied(), workers);
        for (machine, expansion) in parts.machines.iter_mut().zip(expansions) {
            set_support(machine, expansion, &places);
        }
    }
    pool_vectors(parts, points);
}

/// Sets the rows of the pool: those that some expansion has, each once, in their order. Returns for each training row its place in the pool.
fn pool_rows<R: Iterator<Item = u64>>(
    parts: &mut ModelParts,
    count: usize,
    rows_of: impl Fn(usize) -> R + Sync,
    workers: &Workers,
) -> Vec<u32> {
    let rows = parts.training_rows;
    let used = workers.map_chunks(count, count.div_ceil(PARTS), |numbers| {
        let mut used = vec![false; rows];
        numbers.flat_map(&rows_of).for_each(|row| used[row as usize] = true);
        used
    });
    parts.support_rows = (0..rows as u64).filter(|&row| used.iter().any(|used| used[row as usize])).collect();
    let mut places = vec![0u32; rows];
    parts.support_rows.iter().enumerate().for_each(|(place, &row)| places[row as usize] = place as u32);
    places
}

/// Gives a machine its coefficients, by the places of their rows in the pool.
fn set_support(machine: &mut Machine, expansion: ByRow, places: &[u32]) {
    machine.support = expansion.rows.iter().map(|&row| places[row as usize]).collect();
    machine.coefficients = expansion.numbers;
}

/// Copies the rows of the pool, where a model needs them to predict.
fn pool_vectors(parts: &mut ModelParts, points: &Points) {
    if !(parts.kernel.is_linear() || parts.kernel.is_precomputed()) {
        let rows: Vec<usize> = parts.support_rows.iter().map(|&row| row as usize).collect();
        parts.vectors = Some(points.matrix().select_rows(&rows));
    }
}
