//! Where a search is, kept in a file.

use std::path::Path;
use std::time::{Duration, Instant};

use maxmargin::error::quoted;
use maxmargin::tuning::Results;

use crate::arguments::Tune;
use crate::failure::Failure;
use crate::output::{self, Target};

/// Time between two checkpoints.
const CHECKPOINT_EVERY: Duration = Duration::from_secs(5);

/// Where a checkpoint goes: a file that is there is replaced only by a search that goes on.
pub(super) fn checkpoint_target(path: &Path, arguments: &Tune, read: &[&Path]) -> Result<Target, Failure> {
    let target = Target::new(path, read)?;
    if path.exists() && arguments.resume.is_none() {
        let shown = output::escaped(&path.to_string_lossy());
        return Err(Failure::new(
            format!("there is a file {} already", quoted(&path.to_string_lossy())),
            format!("go on from it with --resume {shown}, or remove it"),
        ));
    }
    Ok(target)
}

/// Reads a checkpoint.
pub(super) fn load(path: &Path) -> Result<Results, Failure> {
    let shown = quoted(&path.to_string_lossy());
    let bytes = std::fs::read(path).map_err(|error| {
        Failure::new(format!("cannot read {shown}: {}", output::reason(&error)), "name a checkpoint of tune")
    })?;
    serde_json::from_slice::<Results>(&bytes).ok().filter(|results| *results != Results::default()).ok_or_else(|| {
        Failure::new(
            format!("{shown} is no checkpoint of tune, or not a whole one"),
            "name another file, or begin anew",
        )
    })
}

/// Keeps where the search is.
pub(super) struct Kept {
    pub(super) target: Option<Target>,
    last: Instant,
    pub(super) written: bool,
    pub(super) failed: Option<Failure>,
}

impl Kept {
    pub(super) fn new(target: Option<Target>) -> Self {
        Kept { target, last: Instant::now(), written: false, failed: None }
    }

    pub(super) fn keep(&mut self, results: &Results, is_last: bool) {
        let Some(target) = &self.target else { return };
        if self.failed.is_some() || !is_last && self.last.elapsed() < CHECKPOINT_EVERY {
            return;
        }
        match serde_json::to_vec(results) {
            Ok(bytes) => match maxmargin_io::save_atomically(target.path(), &bytes) {
                Ok(()) => self.written = true,
                Err(error) => self.failed = Some(error.into()),
            },
            Err(_) => self.failed = Some(Failure::new("the checkpoint cannot be written", "leave out --checkpoint")),
        }
        self.last = Instant::now();
    }
}
