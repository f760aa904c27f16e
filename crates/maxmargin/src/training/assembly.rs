//! From machines that are done to what a model is made of: their support vectors in one pool, each training row once.

use crate::certificate::joint::JointEvidence;
use crate::checkpoint::{ByRow, FinishedMachine, MachineState};
use crate::data::Matrix;
use crate::kernel::{KernelFunction, Points};
use crate::landmarks::DualPoint;
use crate::model::Machine;
use crate::network::Network;
use crate::solver::SolverKind;
use crate::workers::Workers;

/// Parts that lists of rows are cut into to find out which rows are used. Each part needs a byte for each training row.
const PARTS: usize = 16;

/// What was trained, before it is a model.
pub(super) struct Trained {
    pub(super) solver: SolverKind,
    pub(super) machines: Vec<Machine>,
    /// The evidence for all machines, exactly when they were trained together.
    pub(super) joint: Option<JointEvidence>,
    pub(super) network: Option<Network>,
    /// The training row of each support vector, increasing.
    pub(super) support_rows: Vec<u64>,
    /// The support vectors, where a model needs them to predict.
    pub(super) vectors: Option<Matrix>,
    /// A dual point for each machine, where the support vectors are landmarks.
    pub(super) landmarks: Option<Vec<DualPoint>>,
}

/// Puts machines that are done together.
///
/// 1,000 classes have 499,500 machines. They take 200 MB that nobody has touched before, so all threads move them there.
pub(super) fn assemble(
    states: Vec<MachineState>,
    kernel: &KernelFunction,
    points: &Points,
    workers: &Workers,
) -> Trained {
    let done = |state: MachineState| match state {
        MachineState::Finished(finished) => finished,
        _ => unreachable!("a machine is finished or broken"),
    };
    let finished: Vec<Box<FinishedMachine>> = states.into_iter().map(done).collect();
    let solver = finished.last().map_or(SolverKind::BlockSmo, |last| last.solver);
    if finished.len() == 1 {
        let (machines, expansions) = finished.into_iter().map(|alone| (alone.machine, alone.expansion)).unzip();
        return assemble_by_row(solver, machines, expansions, kernel, points, workers);
    }
    let rows_of = |number: usize| finished[number].expansion.rows.iter().copied();
    let (support_rows, places) = pool_rows(points.len(), finished.len(), rows_of, workers);
    let machines = workers.map_all(finished, |finished| {
        let FinishedMachine { mut machine, expansion, .. } = *finished;
        set_support(&mut machine, expansion, &places);
        machine
    });
    pooled(solver, machines, support_rows, kernel, points)
}

/// Puts machines together whose support vectors are training rows, as [`Kept`](super::kept::Kept) has them.
pub(super) fn assemble_kept(
    mut machines: Vec<Machine>,
    solver: SolverKind,
    kernel: &KernelFunction,
    points: &Points,
    workers: &Workers,
) -> Trained {
    let rows_of = |number: usize| machines[number].support.iter().map(|&row| row.into());
    let (support_rows, places) = pool_rows(points.len(), machines.len(), rows_of, workers);
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
    pooled(solver, machines, support_rows, kernel, points)
}

/// Puts machines together whose coefficients are given by training row.
pub(super) fn assemble_by_row(
    solver: SolverKind,
    mut machines: Vec<Machine>,
    mut expansions: Vec<ByRow>,
    kernel: &KernelFunction,
    points: &Points,
    workers: &Workers,
) -> Trained {
    if let ([machine], [alone]) = (&mut machines[..], &mut expansions[..]) {
        // One machine alone has its rows in their order already.
        machine.support = workers.numbers(alone.rows.len(), |place| place as u32);
        machine.coefficients = std::mem::take(&mut alone.numbers);
        let support_rows = std::mem::take(&mut alone.rows);
        return pooled(solver, machines, support_rows, kernel, points);
    }
    let rows_of = |number: usize| expansions[number].rows.iter().copied();
    let (support_rows, places) = pool_rows(points.len(), expansions.len(), rows_of, workers);
    for (machine, expansion) in machines.iter_mut().zip(expansions) {
        set_support(machine, expansion, &places);
    }
    pooled(solver, machines, support_rows, kernel, points)
}

/// The rows of the pool: those that some expansion has, each once, in their order. And for each training row its place in the pool.
fn pool_rows<R: Iterator<Item = u64>>(
    rows: usize,
    count: usize,
    rows_of: impl Fn(usize) -> R + Sync,
    workers: &Workers,
) -> (Vec<u64>, Vec<u32>) {
    let used = workers.map_chunks(count, count.div_ceil(PARTS), |numbers| {
        let mut used = vec![false; rows];
        numbers.flat_map(&rows_of).for_each(|row| used[row as usize] = true);
        used
    });
    let support_rows: Vec<u64> = (0..rows as u64).filter(|&row| used.iter().any(|used| used[row as usize])).collect();
    let mut places = vec![0u32; rows];
    support_rows.iter().enumerate().for_each(|(place, &row)| places[row as usize] = place as u32);
    (support_rows, places)
}

/// Gives a machine its coefficients, by the places of their rows in the pool.
fn set_support(machine: &mut Machine, expansion: ByRow, places: &[u32]) {
    machine.support = expansion.rows.iter().map(|&row| places[row as usize]).collect();
    machine.coefficients = expansion.numbers;
}

/// Copies the rows of the pool, where a model needs them to predict.
fn pooled(
    solver: SolverKind,
    machines: Vec<Machine>,
    support_rows: Vec<u64>,
    kernel: &KernelFunction,
    points: &Points,
) -> Trained {
    let vectors = (!kernel.is_linear() && !kernel.is_precomputed()).then(|| {
        let rows: Vec<usize> = support_rows.iter().map(|&row| row as usize).collect();
        points.matrix().select_rows(&rows)
    });
    Trained { solver, machines, joint: None, network: None, support_rows, vectors, landmarks: None }
}
