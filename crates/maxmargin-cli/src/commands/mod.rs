//! The commands: each makes a plan of its arguments, does the work, and hands the result to a report.

mod convert;
mod convert_model;
mod doctor;
mod examples;
mod explain;
mod generate;
mod inspect;
mod kernel_check;
mod path;
mod play;
mod plot;
mod predict;
mod project;
mod suspects;
mod train;
mod tune;
mod verify;

use crate::arguments::{Arguments, Command};
use crate::exit::ExitCode;
use crate::failure::Failure;

/// Does what was asked for.
///
/// # Errors
/// When it cannot be done; nothing is half-written then.
pub(crate) fn run(arguments: &Arguments) -> Result<ExitCode, Failure> {
    match &arguments.command {
        Command::Train(arguments) => train::run(arguments),
        Command::Tune(arguments) => tune::run(arguments),
        Command::PathOfC(arguments) => path::run(arguments),
        Command::Predict(arguments) => predict::run(arguments),
        Command::Convert(arguments) => convert::run(arguments),
        Command::ConvertModel(arguments) => convert_model::run(arguments),
        Command::Inspect(arguments) => inspect::run(arguments),
        Command::Verify(arguments) => verify::run(arguments),
        Command::Explain(arguments) => explain::run(arguments),
        Command::Suspects(arguments) => suspects::run(arguments),
        Command::Doctor(arguments) => doctor::run(arguments),
        Command::Examples(arguments) => examples::run(arguments),
        Command::KernelCheck(arguments) => kernel_check::run(arguments),
        Command::Generate(arguments) => generate::run(arguments),
        Command::Play(arguments) => play::run(arguments),
        Command::Plot(arguments) => plot::run(arguments),
        Command::Project(arguments) => project::run(arguments),
    }
}
