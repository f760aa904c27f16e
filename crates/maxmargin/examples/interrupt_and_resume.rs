//! A training is interrupted, and goes on to the same bits.

use std::ops::ControlFlow;

use maxmargin::{
    Beginning, Checkpoint, CheckpointControl, Control, Error, Progress, Stop, Svc, Unattended, Workers, generate,
};

/// Breaks off at the tenth step, and keeps where that was.
#[derive(Default)]
struct TenSteps {
    kept: Option<Checkpoint>,
}

impl Control for TenSteps {
    fn poll(&mut self, progress: Progress) -> ControlFlow<Stop> {
        if progress.iteration < 10 { ControlFlow::Continue(()) } else { ControlFlow::Break(Stop::Interrupted) }
    }
}

impl CheckpointControl for TenSteps {
    fn keeps_checkpoints(&self) -> bool {
        true
    }

    fn wants_checkpoint(&mut self, progress: &Progress) -> bool {
        progress.iteration >= 10
    }

    fn keep_checkpoint(&mut self, checkpoint: &Checkpoint) {
        self.kept = Some(checkpoint.clone());
    }
}

/// Fits, predicts, and checks what came out.
pub fn main() -> Result<(), Error> {
    let data = generate("moons", 300, 1)?;
    let (machine, workers) = (Svc::rbf().c(100.0), Workers::new(0)?);

    let mut control = TenSteps::default();
    let broken = machine.fit_from(&data, Beginning::Scratch, &workers, &mut control)?;
    println!("stopped: {}", broken.stop().name());
    assert_eq!(broken.stop(), Stop::Interrupted);

    let beginning = control.kept.map_or(Beginning::Scratch, Beginning::Checkpoint);
    let resumed = machine.fit_from(&data, beginning, &workers, &mut Unattended)?;
    let undisturbed = machine.fit(&data)?;
    assert_eq!(resumed.decision_values(&data)?, undisturbed.decision_values(&data)?);
    println!("resumed: {}, the same bits as undisturbed", resumed.stop().name());
    Ok(())
}
