//! The end of every training: the model is saved, what was found is printed, and the exit code says whether it is as asked.

use std::sync::atomic::Ordering;
use std::time::Instant;

use maxmargin::Model;

use super::plan::Plan;
use crate::checkpoint_file::Keeper;
use crate::exit::ExitCode;
use crate::failure::Failure;
use crate::input::Origin;
use crate::output;
use crate::{interrupt, model_file};

/// What is said when an interrupt leaves no model behind.
pub(super) const NOTHING_KEPT: &str =
    "no model was written; --save-partial keeps what was reached, and --checkpoint makes it possible to go on";
pub(super) const NO_CHECKPOINT_YET: &str =
    "no model was written, and there was nothing to keep in a checkpoint yet; --save-partial keeps what was reached";
pub(super) const NOTHING_TO_WARM_START: &str =
    "no model was written; --save-partial keeps what was reached, to go on from with --warm-start";

/// What a mode has to say of what it learnt.
pub(super) trait Report {
    /// What was reached, for a training that was interrupted.
    fn reached(&self) -> String;
    /// Prints the one object of `--json`, as a line.
    ///
    /// # Errors
    /// When it cannot be printed.
    fn print_json(&self) -> Result<(), Failure>;
    /// The page that a newcomer reads, and one thing to try next.
    fn page(&self) -> String;
    /// Whether `--strict` is content.
    fn is_as_asked(&self) -> bool;
}

/// What became of files.
pub(super) struct Saved {
    /// The model file; `None` where an interrupt leaves none.
    pub(super) file: Option<String>,
    pub(super) seconds: f64,
}

/// Saves the model, unless it is what an interrupt left and `--save-partial` is not given.
///
/// # Errors
/// When it cannot be written.
pub(super) fn save(plan: &Plan<'_>, model: Option<&Model>) -> Result<Saved, Failure> {
    let started = Instant::now();
    let kept = model.filter(|_| !interrupt::asked() || plan.arguments.save_partial);
    if let Some(model) = kept {
        model_file::save(&plan.model, model)?;
    }
    Ok(Saved { file: kept.map(|_| plan.model.shown()), seconds: started.elapsed().as_secs_f64() })
}

/// Whether a checkpoint has been written.
pub(super) fn is_kept(keeper: Option<&Keeper>) -> bool {
    keeper.is_some_and(|keeper| keeper.written().load(Ordering::Relaxed))
}

/// Prints what was found.
///
/// `cut` says whether the training was stopped before its end, `go_on` how to go on from a checkpoint or the model, where there is one, and
/// `nothing` what to say where neither model nor checkpoint is left.
///
/// # Errors
/// When it cannot be printed.
pub(super) fn tell(
    plan: &Plan<'_>,
    saved: &Saved,
    report: &dyn Report,
    cut: bool,
    go_on: Option<&str>,
    nothing: &str,
) -> Result<ExitCode, Failure> {
    if plan.arguments.json {
        report.print_json()?;
    }
    if interrupt::asked() {
        output::say(&report.reached());
        if let Some(file) = &saved.file {
            output::say(&format!("what was reached is in {file}"));
        }
        match (&saved.file, go_on) {
            (_, Some(go_on)) => output::say(go_on),
            (None, None) => output::say(nothing),
            (Some(_), None) => {}
        }
        return Ok(ExitCode::Interrupted);
    }
    if let Some(go_on) = go_on.filter(|_| cut) {
        plan.words.note(go_on);
    }
    if !plan.arguments.json && !plan.arguments.quiet {
        output::print(&report.page())?;
    }
    let is_as_asked = !plan.arguments.strict || report.is_as_asked();
    Ok(if is_as_asked { ExitCode::Done } else { ExitCode::NotAsAsked })
}

/// One thing to try next.
pub(super) fn next_step(plan: &Plan<'_>, model: &Model) -> String {
    let (arguments, file) = (plan.arguments, plan.model.shown());
    let data = match &plan.origin {
        Origin::Stdin => return format!("\nnext: maxmargin inspect {file}\n"),
        Origin::File(_) => output::escaped(&arguments.data.to_string_lossy()),
        Origin::Embedded(name) | Origin::Generated(name) => (*name).into(),
    };
    if !is_certified(model) {
        return format!("\nnext: maxmargin predict {file} {data}\n");
    }
    format!("\nnext: maxmargin verify {file} {data}\n")
}

/// Whether there is a certificate to look at.
pub(super) fn is_certified(model: &Model) -> bool {
    model.machines().iter().any(|machine| machine.evidence.certificate().is_some())
        || model.parts().joint.as_ref().is_some_and(|evidence| evidence.certificate().is_some())
}
