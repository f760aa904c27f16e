//! Checkpoints: a training that is broken anywhere and goes on from a file ends in the same model file, and what is no
//! whole checkpoint is refused.
#![allow(clippy::unwrap_used)] // a test may end here

use std::fs;
use std::ops::ControlFlow;
use std::path::Path;

use maxmargin::checkpoint::MachineState;
use maxmargin::data::{Label, embedded, generate};
use maxmargin::kernel::{Gamma, KernelParams};
use maxmargin::model::Multiclass;
use maxmargin::problem::{Bias, Loss};
use maxmargin::solver::SolverKind;
use maxmargin::training::{Beginning, Penalty};
use maxmargin::{
    Checkpoint, CheckpointControl, Control, Dataset, Progress, Stop, Training, TrainingParams, Unattended, Workers,
};
use maxmargin_io::{
    Error, checkpoint_from_bytes, checkpoint_to_bytes, load_checkpoint, model_to_bytes, previous_checkpoint,
    remove_checkpoint, save_checkpoint,
};
use tempfile::tempdir;

/// Keeps a checkpoint every so many polls, and breaks after so many.
struct Keeper {
    polls: u64,
    every: u64,
    last: u64,
    broke: bool,
    kept: Option<Vec<u8>>,
}

impl Keeper {
    fn new(every: u64, last: u64) -> Self {
        Keeper { polls: 0, every, last, broke: false, kept: None }
    }
}

impl Control for Keeper {
    fn poll(&mut self, _: Progress) -> ControlFlow<Stop> {
        self.polls += 1;
        self.broke = self.polls > self.last;
        if self.broke { ControlFlow::Break(Stop::TimeLimit) } else { ControlFlow::Continue(()) }
    }
}

impl CheckpointControl for Keeper {
    fn wants_checkpoint(&mut self, _: &Progress) -> bool {
        self.polls.is_multiple_of(self.every)
    }

    fn keep_checkpoint(&mut self, checkpoint: &Checkpoint) {
        // After a break the state would be that of machines that never began.
        if !self.broke {
            self.kept = Some(checkpoint_to_bytes(checkpoint).unwrap());
        }
    }
}

/// Numbers that look random, from a seed.
fn random(state: &mut u64) -> u64 {
    *state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
    *state >> 33
}

fn trainings() -> Vec<(&'static str, Dataset, Training)> {
    let iris = || embedded("iris").unwrap();
    let rbf = || TrainingParams { kernel: KernelParams::Rbf { gamma: Gamma::Scale }, ..TrainingParams::default() };
    let hard =
        TrainingParams { penalty: Penalty::Hard, positive: Some(Label::new("setosa")), ..TrainingParams::default() };
    let squared = TrainingParams { loss: Some(Loss::Squared), bias: Bias::Folded, ..rbf() };
    let weights = (0..150).map(|row| f64::from(row % 4)).collect();
    vec![
        ("linear", iris(), TrainingParams::default()),
        ("rest", iris(), TrainingParams { multiclass: Some(Multiclass::OneVsRest), ..rbf() }),
        ("weighted", iris().with_weights(weights).unwrap(), TrainingParams { penalty: Penalty::COverN(50.0), ..rbf() }),
        ("hard", iris(), hard),
        ("ascent", iris(), TrainingParams { solver: Some(SolverKind::DualAscent), ..squared.clone() }),
        ("squared", iris(), squared),
        ("newton", iris(), TrainingParams { solver: Some(SolverKind::Newton), ..TrainingParams::default() }),
        ("moons", generate("moons", 300, 3).unwrap(), TrainingParams { penalty: Penalty::C(1e3), ..rbf() }),
    ]
    .into_iter()
    .map(|(name, data, params)| (name, data, params.check().unwrap()))
    .collect()
}

#[test]
fn a_training_killed_at_random_places_ends_in_the_same_model_file() {
    let mut seed = 1;
    for (name, data, training) in trainings() {
        let workers = Workers::none();
        let mut all = Keeper::new(u64::MAX, u64::MAX);
        let undisturbed = model_to_bytes(&training.fit(&data, &workers, &mut all).unwrap()).unwrap();
        for trial in 0..12 {
            let mut beginning = Beginning::Scratch;
            let mut kills = 0;
            loop {
                // Killed when the last checkpoint is some steps old.
                let every = 1 + random(&mut seed) % (all.polls / 8 + 1);
                let last = random(&mut seed) % (all.polls + 1);
                let mut control = Keeper::new(every, last);
                let model = training.fit_from(&data, beginning.clone(), &workers, &mut control).unwrap();
                if !control.broke {
                    assert_eq!(model_to_bytes(&model).unwrap(), undisturbed, "{name}, trial {trial}, {kills} kills");
                    break;
                }
                kills += 1;
                if let Some(kept) = control.kept {
                    beginning = Beginning::Checkpoint(checkpoint_from_bytes(&kept, "kept").unwrap());
                }
                assert!(kills < 1000, "{name} never ends");
            }
        }
    }
}

/// A checkpoint with a machine in each state.
fn small() -> Checkpoint {
    /// Keeps the first checkpoint of the second machine.
    struct First(Option<Checkpoint>);
    impl Control for First {
        fn poll(&mut self, _: Progress) -> ControlFlow<Stop> {
            ControlFlow::Continue(())
        }
    }
    impl CheckpointControl for First {
        fn wants_checkpoint(&mut self, progress: &Progress) -> bool {
            progress.machine.0 == 1 && self.0.is_none()
        }

        fn keep_checkpoint(&mut self, checkpoint: &Checkpoint) {
            self.0 = Some(checkpoint.clone());
        }
    }
    let iris = embedded("iris").unwrap().select_rows(&[0, 1, 2, 50, 51, 52, 100, 101, 102]);
    let training = TrainingParams { solver: Some(SolverKind::Smo), ..TrainingParams::default() }.check().unwrap();
    let model = training.fit(&iris, &Workers::none(), &mut Unattended).unwrap();
    let mut control = First(None);
    training.fit_from(&iris, Beginning::Model(&model), &Workers::none(), &mut control).unwrap();
    control.0.unwrap()
}

#[test]
fn a_round_trip_changes_no_bit() {
    let checkpoint = small();
    assert!(matches!(
        &checkpoint.machines[..],
        [MachineState::Finished(_), MachineState::Running { .. }, MachineState::Untouched { alpha, .. }] if !alpha.is_empty()
    ));
    let bytes = checkpoint_to_bytes(&checkpoint).unwrap();
    let loaded = checkpoint_from_bytes(&bytes, "test").unwrap();
    assert_eq!(format!("{loaded:?}"), format!("{checkpoint:?}"));
    assert_eq!(checkpoint_to_bytes(&loaded).unwrap(), bytes);
}

#[test]
fn every_prefix_and_every_flipped_bit_is_refused() {
    let bytes = checkpoint_to_bytes(&small()).unwrap();
    for length in 0..bytes.len() {
        assert!(checkpoint_from_bytes(&bytes[..length], "cut").is_err(), "the first {length} bytes");
    }
    for bit in 0..bytes.len() * 8 {
        let mut damaged = bytes.clone();
        damaged[bit / 8] ^= 1 << (bit % 8);
        assert!(checkpoint_from_bytes(&damaged, "damaged").is_err(), "bit {bit}");
    }
}

#[test]
fn models_and_other_files_are_no_checkpoints_and_checkpoints_no_models() {
    let checkpoint = checkpoint_to_bytes(&small()).unwrap();
    let error = maxmargin_io::model_from_bytes(&checkpoint, "kept").unwrap_err();
    assert_eq!(error.to_string(), "kept: this is a safetensors file, but no model of maxmargin");
    let training = TrainingParams::default().check().unwrap();
    let model = training.fit(&embedded("e1").unwrap(), &Workers::none(), &mut Unattended).unwrap();
    let error = checkpoint_from_bytes(&model_to_bytes(&model).unwrap(), "e1.mm").unwrap_err();
    assert_eq!(error.to_string(), "e1.mm: this is a safetensors file, but no checkpoint of maxmargin");
    assert_eq!(error.help(), "name a checkpoint file that train has written");
    for bytes in [&b""[..], b"hello", &[0xff; 64], &[0; 64]] {
        let error = checkpoint_from_bytes(bytes, "other").unwrap_err();
        assert!(error.to_string().starts_with("other: this is no checkpoint file"), "{error}");
    }
}

fn loads(path: &Path) -> Result<u64, Error> {
    load_checkpoint(path).map(|checkpoint| match &checkpoint.machines[1] {
        MachineState::Running { snapshot, .. } => snapshot.iterations,
        _ => unreachable!("it is running"),
    })
}

#[test]
fn the_last_two_are_kept_and_a_damaged_one_takes_the_place_of_none() {
    let folder = tempdir().unwrap();
    let path = folder.path().join("kept");
    let previous = previous_checkpoint(&path);
    let save = |iterations: u64| {
        let mut checkpoint = small();
        let MachineState::Running { snapshot, .. } = &mut checkpoint.machines[1] else { unreachable!() };
        snapshot.iterations = iterations;
        save_checkpoint(&path, &checkpoint).unwrap();
    };
    let error = loads(&path).unwrap_err();
    assert!(error.to_string().ends_with("there is no such file"), "{error}");
    assert_eq!(error.help(), "name a checkpoint file that train has written");
    save(1);
    assert!(loads(&path) == Ok(1) && !previous.exists());
    for iterations in 2..5 {
        save(iterations);
        assert_eq!((loads(&path), loads(&previous)), (Ok(iterations), Ok(iterations - 1)));
    }
    let whole = fs::read(&path).unwrap();
    fs::write(&path, &whole[..whole.len() - 1]).unwrap();
    let error = loads(&path).unwrap_err();
    assert!(error.help().contains("kept.previous\", which was saved before it"), "{}", error.help());
    save(5);
    assert_eq!((loads(&path), loads(&previous)), (Ok(5), Ok(3)));
    fs::remove_file(&path).unwrap();
    assert!(loads(&path).unwrap_err().help().contains("kept.previous"));
    save(6);
    assert_eq!((loads(&path), loads(&previous)), (Ok(6), Ok(3)));
    remove_checkpoint(&path).unwrap();
    remove_checkpoint(&path).unwrap();
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 0);
}
