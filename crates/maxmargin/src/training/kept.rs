//! Machines that are done, in the place where the model will have them.
//!
//! 1,000 classes have 499,500 machines of 400 bytes. Memory that is touched for the first time is dear, so they are moved there as soon as they are
//! done, and not held in a box each until the last of them is.

use super::machines::Group;
use crate::checkpoint::{ByRow, Checkpoint, FinishedMachine, MachineState};
use crate::model::Machine;
use crate::solver::SolverKind;

/// Machines that are done, in the order in which they were done. Until it is known which rows the pool has, their support vectors
/// are training rows.
#[derive(Default)]
pub(super) struct Kept {
    machines: Vec<Machine>,
    numbers: Vec<usize>,
    solvers: Vec<SolverKind>,
    /// Whether machines are boxed into the checkpoint instead: somebody has asked for it, or row numbers do not fit into 32 bits.
    is_boxed: bool,
}

impl Kept {
    /// Room for all machines of a training with this number of rows.
    pub(super) fn new(machines: usize, training_rows: usize) -> Self {
        if u32::try_from(training_rows).is_err() {
            return Kept { is_boxed: true, ..Kept::default() };
        }
        Kept {
            machines: Vec::with_capacity(machines),
            numbers: Vec::with_capacity(machines),
            solvers: Vec::with_capacity(machines),
            is_boxed: false,
        }
    }

    /// The machines of a group are done.
    #[expect(clippy::vec_box, reason = "a machine is large, and is handed on in its box")]
    pub(super) fn keep(&mut self, checkpoint: &mut Checkpoint, group: &Group, finished: Vec<Box<FinishedMachine>>) {
        for (&number, finished) in group.numbers.iter().zip(finished) {
            if self.is_boxed {
                checkpoint.machines[number] = MachineState::Finished(finished);
                continue;
            }
            let FinishedMachine { solver, mut machine, expansion } = *finished;
            machine.support = expansion.rows.iter().map(|&row| row as u32).collect();
            machine.coefficients = expansion.numbers;
            self.machines.push(machine);
            self.numbers.push(number);
            self.solvers.push(solver);
        }
    }

    /// Moves all machines into the checkpoint, where those to come will be put, too.
    pub(super) fn hand_over(&mut self, checkpoint: &mut Checkpoint) {
        self.is_boxed = true;
        let kept = std::mem::take(&mut self.machines).into_iter().zip(&self.numbers).zip(&self.solvers);
        for ((mut machine, &number), &solver) in kept {
            let rows = std::mem::take(&mut machine.support).into_iter().map(u64::from).collect();
            let expansion = ByRow { rows, numbers: std::mem::take(&mut machine.coefficients) };
            checkpoint.machines[number] =
                MachineState::Finished(Box::new(FinishedMachine { solver, machine, expansion }));
        }
        (self.numbers, self.solvers) = (Vec::new(), Vec::new());
    }

    /// All machines by their numbers, and the solver of the last; `None` where some are elsewhere.
    pub(super) fn take_all(&mut self, count: usize) -> Option<(Vec<Machine>, SolverKind)> {
        if self.machines.len() != count || count == 0 {
            return None;
        }
        let (mut machines, mut numbers) = (std::mem::take(&mut self.machines), std::mem::take(&mut self.numbers));
        let last = numbers.iter().position(|&number| number + 1 == count)?;
        // Each swap brings a machine to its place.
        for place in 0..count {
            while numbers[place] != place {
                let other = numbers[place];
                machines.swap(place, other);
                numbers.swap(place, other);
            }
        }
        Some((machines, self.solvers[last]))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::control::Unattended;
    use crate::data::embedded;
    use crate::recipe::Pairing;
    use crate::training::TrainingParams;
    use crate::workers::Workers;

    /// Three machines that are done, each with the training rows and coefficients of its own.
    #[expect(clippy::vec_box, reason = "a machine is large, and is handed on in its box")]
    fn finished() -> Vec<Box<FinishedMachine>> {
        let training = TrainingParams::default().check().unwrap();
        let mut parts =
            training.fit(&embedded("iris").unwrap(), &Workers::none(), &mut Unattended).unwrap().into_parts();
        let solvers = [SolverKind::Smo, SolverKind::BlockSmo, SolverKind::DualAscent];
        let done = |(machine, solver): (&mut Machine, SolverKind)| {
            let rows = machine.support.drain(..).map(|place| parts.support_rows[place as usize]).collect();
            let expansion = ByRow { rows, numbers: std::mem::take(&mut machine.coefficients) };
            Box::new(FinishedMachine { solver, machine: machine.clone(), expansion })
        };
        parts.machines.iter_mut().zip(solvers).map(done).collect()
    }

    fn none_done() -> Checkpoint {
        let machines = vec![MachineState::scratch(); 3];
        Checkpoint { fingerprint: String::new(), parameters: Vec::new(), machines }
    }

    const ORDERS: [[usize; 3]; 6] = [[0, 1, 2], [0, 2, 1], [1, 0, 2], [1, 2, 0], [2, 0, 1], [2, 1, 0]];

    fn keep_in(order: &[usize], kept: &mut Kept, checkpoint: &mut Checkpoint) {
        for &number in order {
            let group = Group { numbers: vec![number], solver: None, reserved: 0.0 };
            kept.keep(checkpoint, &group, vec![finished().swap_remove(number)]);
        }
    }

    #[test]
    fn machines_come_out_by_their_numbers_in_whichever_order_they_were_done() {
        let expected = finished();
        for order in ORDERS {
            let (mut kept, mut checkpoint) = (Kept::new(3, 150), none_done());
            keep_in(&order[..2], &mut kept, &mut checkpoint);
            assert!(kept.take_all(3).is_none(), "one is not done");
            keep_in(&order[2..], &mut kept, &mut checkpoint);
            let (machines, solver) = kept.take_all(3).unwrap();
            assert_eq!(solver, SolverKind::DualAscent, "that of the last number");
            for (machine, expected) in machines.iter().zip(&expected) {
                assert_eq!(machine.pairing, expected.machine.pairing, "{order:?}");
                let rows: Vec<u64> = machine.support.iter().map(|&row| row.into()).collect();
                assert_eq!((&rows, &machine.coefficients), (&expected.expansion.rows, &expected.expansion.numbers));
            }
        }
    }

    #[test]
    fn a_checkpoint_that_is_wanted_late_has_the_machines_of_before_and_after() {
        let expected = finished();
        for (order, early) in ORDERS.into_iter().flat_map(|order| (0..=3).map(move |early| (order, early))) {
            let (mut kept, mut checkpoint) = (Kept::new(3, 150), none_done());
            keep_in(&order[..early], &mut kept, &mut checkpoint);
            kept.hand_over(&mut checkpoint);
            keep_in(&order[early..], &mut kept, &mut checkpoint);
            assert!(kept.take_all(3).is_none());
            let done = checkpoint.machines.iter().map(|state| match state {
                MachineState::Finished(done) => (done.machine.pairing, done.solver, done.expansion.clone()),
                _ => panic!("{order:?}, {early}: a machine is lost"),
            });
            let done: Vec<(Pairing, SolverKind, ByRow)> = done.collect();
            let same = expected.iter().map(|done| (done.machine.pairing, done.solver, done.expansion.clone()));
            assert_eq!(done, same.collect::<Vec<_>>(), "{order:?}, {early}");
        }
    }

    #[test]
    fn rows_with_more_digits_than_a_place_has_go_to_the_checkpoint() {
        let (mut kept, mut checkpoint) = (Kept::new(3, u32::MAX as usize + 1), none_done());
        keep_in(&[0, 1, 2], &mut kept, &mut checkpoint);
        assert!(kept.take_all(3).is_none());
        assert!(checkpoint.machines.iter().all(|state| matches!(state, MachineState::Finished(_))));
    }
}
