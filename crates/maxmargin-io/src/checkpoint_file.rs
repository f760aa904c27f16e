//! The checkpoint file: where a training was, in the format that model files have, too.
//!
//! ```text
//! header           __metadata__ with one entry, "maxmargin-checkpoint":
//!                  { "format": 1, "program": "0.1.0", "checksum": "…", "checkpoint": {
//!                      "fingerprint": "…", "parameters": [["kernel", "…"], …], "machines": [
//!                        { "state": "untouched" }, { "state": "running", "solver": "smo", "iterations": 7, "lists": 2 },
//!                        { "state": "finished", "solver": "smo", "linear": true, "machine": { … } } ] } }
//! tensors          numbers F64 [s], numbers.offsets U64 [p+1]      vectors of numbers, one after the other
//!                  whole U64 [t], whole.offsets U64 [q+1]          vectors of whole numbers
//!                  machines.text U8 [b]                            "machines", where it has more than 10,000 entries
//! ```
//!
//! A header may have 100 MB at most, and 1,000 classes have 499,500 machines. So a long list of them is not in the header.
//!
//! Each machine takes its vectors off the front of the two lists, and at the end none is left:
//!
//! | state | numbers | whole numbers |
//! | --- | --- | --- |
//! | untouched | α of a warm start; w when there is a `bias` | their rows |
//! | running | α, gradient, the solver's own | the solver's own, as many as `lists` says |
//! | finished | coefficients; w when `linear` | the coefficients' rows |
//!
//! A save keeps the file that it replaces under the name with `.previous` at its end, if that one is whole: whenever the
//! power goes, one of the two can be loaded.

use std::path::{Path, PathBuf};

use maxmargin::Checkpoint;
use maxmargin::checkpoint::{ByRow, FinishedMachine, MachineState};
use maxmargin::solver::{Snapshot, SolverKind};
use serde::{Deserialize, Serialize};

use crate::atomic::save_over;
use crate::container::{self, Kind, MOST_ITERATIONS, Number, Tensor, Tensors};
use crate::error::Error;
use crate::help::Help;
use crate::model_file::MachineHeader;

/// The way out when a file is something else.
const WHEN_OTHER: &str = "name a checkpoint file that train has written";

/// What a checkpoint file is.
const CHECKPOINT: Kind<'static> = Kind {
    key: "maxmargin-checkpoint",
    noun: "checkpoint",
    format: 1,
    when_other: WHEN_OTHER,
    when_damaged: "begin from scratch",
};

/// What stands in the header.
#[derive(Serialize, Deserialize)]
struct Content {
    fingerprint: String,
    parameters: Vec<(String, String)>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    machines: Vec<State>,
}

/// The tensor with the list of machines that is too long for the header, and the most machines that the header has.
const MACHINES: &str = "machines.text";
const MOST_IN_HEADER: usize = 10_000;

/// A machine without its vectors.
#[derive(Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", tag = "state")]
enum State {
    Untouched {
        #[serde(default, skip_serializing_if = "Option::is_none")]
        bias: Option<f64>,
    },
    Running {
        solver: SolverKind,
        iterations: u64,
        lists: usize,
    },
    Finished {
        solver: SolverKind,
        linear: bool,
        machine: Box<MachineHeader>,
    },
}

/// The name under which the checkpoint before the last one is kept: `FILE.previous`.
pub fn previous_checkpoint(path: &Path) -> PathBuf {
    let mut name = path.as_os_str().to_os_string();
    name.push(".previous");
    name.into()
}

/// Saves a checkpoint, whole or not at all, and keeps the one before it as [`previous_checkpoint`].
///
/// A file that cannot be loaded is replaced, but not kept: it must not take the place of one that can.
///
/// # Errors
/// When the file cannot be written. Then the old one is as it was.
pub fn save_checkpoint(path: &Path, checkpoint: &Checkpoint) -> Result<(), Error> {
    let bytes = checkpoint_to_bytes(checkpoint).map_err(|what| Error::OwnFile {
        path: path.display().to_string(),
        what,
        help: "train without a checkpoint".into(),
    })?;
    let is_whole = std::fs::read(path).is_ok_and(|old| checkpoint_from_bytes(&old, "").is_ok());
    let previous = previous_checkpoint(path);
    save_over(path, is_whole.then_some(previous.as_path()), &bytes)
}

/// Loads a checkpoint. Every claim of the file is checked before memory is taken for it.
///
/// # Errors
/// When the file cannot be read, is damaged, of another kind, or of a newer format. The help names the checkpoint before
/// it where there is one.
pub fn load_checkpoint(path: &Path) -> Result<Checkpoint, Error> {
    let name = path.display().to_string();
    let previous = previous_checkpoint(path);
    let instead = |help: Help| {
        if previous.is_file() {
            let previous = maxmargin::error::quoted(&previous.to_string_lossy());
            format!("go on from {previous}, which was saved before it").into()
        } else {
            help
        }
    };
    let bytes = std::fs::read(path).map_err(|error| Error::Open {
        path: name.clone(),
        reason: crate::error::reason(&error),
        help: instead(WHEN_OTHER.into()),
    })?;
    checkpoint_from_bytes(&bytes, &name).map_err(|error| match error {
        Error::OwnFile { path, what, help } => Error::OwnFile { path, what, help: instead(help) },
        other => other,
    })
}

/// Removes a checkpoint and the one before it, where they are there. What is no file, such as a device, is left alone.
///
/// # Errors
/// When one of them cannot be removed.
pub fn remove_checkpoint(path: &Path) -> Result<(), Error> {
    let is_file = |path: &PathBuf| std::fs::metadata(path).is_ok_and(|found| found.is_file());
    for path in [path.to_path_buf(), previous_checkpoint(path)].into_iter().filter(is_file) {
        match std::fs::remove_file(&path) {
            Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
                return Err(Error::Save {
                    path: path.display().to_string(),
                    step: "removing a checkpoint that is no longer needed",
                    reason: crate::error::reason(&error),
                    help: "remove the file yourself".into(),
                });
            }
            _ => {}
        }
    }
    Ok(())
}

/// A checkpoint as the bytes of a file.
///
/// # Errors
/// The reason why it cannot be saved.
pub fn checkpoint_to_bytes(checkpoint: &Checkpoint) -> Result<Vec<u8>, String> {
    let (mut numbers, mut whole) = (Pieces::default(), Pieces::default());
    let mut machines = Vec::with_capacity(checkpoint.machines.len());
    for state in &checkpoint.machines {
        machines.push(match state {
            MachineState::Untouched { alpha, point } => {
                add_by_row(&mut whole, &mut numbers, alpha);
                point.iter().for_each(|(weights, _)| numbers.add(weights.iter().copied()));
                State::Untouched { bias: point.as_ref().map(|(_, bias)| *bias) }
            }
            MachineState::Running { solver, snapshot } => {
                for list in [&snapshot.alpha, &snapshot.gradient, &snapshot.numbers] {
                    numbers.add(list.iter().copied());
                }
                snapshot.lists.iter().for_each(|list| whole.add(list.iter().copied()));
                let lists = snapshot.lists.len();
                State::Running { solver: *solver, iterations: snapshot.iterations, lists }
            }
            MachineState::Finished(finished) => {
                add_by_row(&mut whole, &mut numbers, &finished.expansion);
                let weights = &finished.machine.weights;
                weights.iter().for_each(|weights| numbers.add(weights.iter().copied()));
                let machine = Box::new(MachineHeader::of(&finished.machine));
                State::Finished { solver: finished.solver, linear: weights.is_some(), machine }
            }
        });
    }
    let (fingerprint, parameters) = (checkpoint.fingerprint.clone(), checkpoint.parameters.clone());
    let fail = |error: serde_json::Error| format!("the checkpoint cannot be saved: {error}");
    let mut tensors = Vec::from(numbers.tensors("numbers", "numbers.offsets"));
    tensors.extend(whole.tensors("whole", "whole.offsets"));
    if machines.len() > MOST_IN_HEADER {
        let text = serde_json::to_vec(&std::mem::take(&mut machines)).map_err(fail)?;
        tensors.push(Tensor::of_bytes(MACHINES, text));
    }
    let content = serde_json::to_string(&Content { fingerprint, parameters, machines }).map_err(fail)?;
    container::to_bytes(&CHECKPOINT, content, &tensors)
}

fn add_by_row(whole: &mut Pieces<u64>, numbers: &mut Pieces<f64>, by_row: &ByRow) {
    whole.add(by_row.rows.iter().copied());
    numbers.add(by_row.numbers.iter().copied());
}

/// A checkpoint from the bytes of a file called `name`. Whether it fits data and parameters is for the training to say.
///
/// # Errors
/// When the bytes are damaged, of another kind, or of a newer format.
pub fn checkpoint_from_bytes(bytes: &[u8], name: &str) -> Result<Checkpoint, Error> {
    let damaged = |what: String| container::damaged(&CHECKPOINT, name, &what);
    let (json, tensors) = container::from_bytes(&CHECKPOINT, bytes, name)?;
    let mut content: Content = serde_json::from_str(&json).map_err(|error| damaged(error.to_string()))?;
    if content.machines.is_empty() && tensors.shape(MACHINES).is_some() {
        let text: Vec<u8> = tensors.numbers(MACHINES, None).map_err(damaged)?;
        content.machines = serde_json::from_slice(&text).map_err(|error| damaged(error.to_string()))?;
    }
    let machines = states(content.machines, &tensors).map_err(damaged)?;
    Ok(Checkpoint { fingerprint: content.fingerprint, parameters: content.parameters, machines })
}

/// Puts the vectors back into the machines.
fn states(states: Vec<State>, tensors: &Tensors<'_>) -> Result<Vec<MachineState>, String> {
    let mut numbers = Taken::<f64>::new(tensors, "numbers", "numbers.offsets")?;
    let mut whole = Taken::<u64>::new(tensors, "whole", "whole.offsets")?;
    let by_row = |rows: Vec<u64>, numbers: Vec<f64>| {
        if rows.len() == numbers.len() {
            Ok(ByRow { rows, numbers })
        } else {
            Err(format!("{} rows with {} numbers", rows.len(), numbers.len()))
        }
    };
    let mut machines = Vec::with_capacity(states.len());
    for state in states {
        machines.push(match state {
            State::Untouched { bias } => {
                let alpha = by_row(whole.next()?, numbers.next()?)?;
                let point = bias.map(|bias| numbers.next().map(|weights| (weights, bias))).transpose()?;
                MachineState::Untouched { alpha, point }
            }
            State::Running { iterations, .. } if iterations > MOST_ITERATIONS => {
                return Err(format!("it claims {iterations} iterations"));
            }
            State::Running { solver, iterations, lists } => {
                let (alpha, gradient, numbers) = (numbers.next()?, numbers.next()?, numbers.next()?);
                // As many as are there: a claim of more ends at the last one.
                let lists = (0..lists).map(|_| whole.next()).collect::<Result<_, _>>()?;
                MachineState::Running { solver, snapshot: Snapshot { iterations, alpha, gradient, lists, numbers } }
            }
            State::Finished { solver, linear, machine } => {
                let mut machine = machine.into_machine();
                if machine.iterations > MOST_ITERATIONS {
                    return Err(format!("it claims {} iterations", machine.iterations));
                }
                let expansion = by_row(whole.next()?, numbers.next()?)?;
                machine.weights = if linear { Some(numbers.next()?) } else { None };
                MachineState::Finished(Box::new(FinishedMachine { solver, machine, expansion }))
            }
        });
    }
    if numbers.left() + whole.left() > 0 {
        return Err("it holds more vectors than its machines have".into());
    }
    Ok(machines)
}

/// Vectors of numbers, one after the other, to be written.
struct Pieces<T> {
    all: Vec<T>,
    offsets: Vec<u64>,
}

impl<T> Default for Pieces<T> {
    fn default() -> Self {
        Pieces { all: Vec::new(), offsets: vec![0] }
    }
}

impl<T: Number> Pieces<T> {
    fn add(&mut self, numbers: impl IntoIterator<Item = T>) {
        self.all.extend(numbers);
        self.offsets.push(self.all.len() as u64);
    }

    fn tensors(self, name: &'static str, offsets: &'static str) -> [Tensor; 2] {
        [
            Tensor::new(name, vec![self.all.len()], self.all),
            Tensor::new(offsets, vec![self.offsets.len()], self.offsets),
        ]
    }
}

/// Vectors of numbers, taken off the front one by one.
struct Taken<T> {
    all: Vec<T>,
    offsets: Vec<u64>,
    next: usize,
}

impl<T: Number> Taken<T> {
    fn new(tensors: &Tensors<'_>, name: &'static str, offsets_name: &'static str) -> Result<Self, String> {
        let all: Vec<T> = tensors.numbers(name, None)?;
        let offsets: Vec<u64> = tensors.numbers(offsets_name, None)?;
        if offsets.first() != Some(&0) || offsets.last() != Some(&(all.len() as u64)) || !offsets.is_sorted() {
            return Err(format!("{offsets_name} do not rise from 0 to the end"));
        }
        Ok(Taken { all, offsets, next: 0 })
    }

    fn next(&mut self) -> Result<Vec<T>, String> {
        let Some(&[start, end]) = self.offsets.get(self.next..self.next + 2) else {
            return Err("it holds fewer vectors than its machines have".into());
        };
        self.next += 1;
        Ok(self.all[start as usize..end as usize].to_vec())
    }

    /// How many have not been taken.
    fn left(&self) -> usize {
        self.offsets.len() - 1 - self.next
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn checkpoint(iterations: u64) -> Checkpoint {
        let snapshot = Snapshot {
            iterations,
            alpha: vec![0.5],
            gradient: vec![1.0],
            lists: vec![vec![u64::MAX], vec![]],
            numbers: vec![0.0; 4],
        };
        let machines = vec![MachineState::Running { solver: SolverKind::Smo, snapshot }];
        Checkpoint { fingerprint: "f".into(), parameters: Vec::new(), machines }
    }

    #[test]
    fn a_forged_checkpoint_of_more_iterations_than_can_be_counted_is_refused() {
        let load = |iterations: u64| {
            checkpoint_from_bytes(&checkpoint_to_bytes(&checkpoint(iterations)).unwrap(), "t").map(drop)
        };
        assert!(load(1 << 44).is_ok());
        assert!(load((1 << 44) + 1).unwrap_err().to_string().ends_with("it claims 17592186044417 iterations"));
        assert!(load(u64::MAX).is_err());
    }

    #[test]
    fn a_checkpoint_of_more_machines_than_a_header_holds_is_saved_and_loaded() {
        for count in [MOST_IN_HEADER, MOST_IN_HEADER + 1, 3 * MOST_IN_HEADER] {
            let state = |k: usize| match k % 2 {
                0 => MachineState::Untouched { alpha: ByRow::default(), point: None },
                _ => checkpoint(k as u64).machines.remove(0),
            };
            let machines: Vec<MachineState> = (0..count).map(state).collect();
            let bytes = checkpoint_to_bytes(&Checkpoint { machines, ..checkpoint(7) }).unwrap();
            let header = u64::from_le_bytes(bytes[..8].try_into().unwrap()) as usize;
            assert!(count == MOST_IN_HEADER || header < 2000, "a header of {header} bytes");
            let loaded = checkpoint_from_bytes(&bytes, "t").unwrap();
            assert_eq!(loaded.machines.len(), count);
            for (k, state) in loaded.machines.iter().enumerate() {
                match state {
                    MachineState::Running { snapshot, .. } => assert_eq!(snapshot.iterations, k as u64),
                    _ => assert!(k % 2 == 0, "machine {k}"),
                }
            }
            assert_eq!(checkpoint_to_bytes(&loaded).unwrap(), bytes);
        }
    }

    #[test]
    fn padding_other_than_blanks_is_refused() {
        let bytes = checkpoint_to_bytes(&checkpoint(7)).unwrap();
        container::tests::refuses_other_padding(&bytes, &|bytes| checkpoint_from_bytes(bytes, "t").map(drop));
    }
}
