//! `train`: data to model, with its certificate.
//!
//! The arguments become one [`Plan`](plan::Plan) before anything is read: what is asked for, whether it goes together, and which files are read and written.
//! Its [`Mode`] says where the rows are while they are learnt:
//!
//! | mode | the rows | |
//! | --- | --- | --- |
//! | [`memory`] | are all in memory | every task, kernel and solver |
//! | [`out_of_core`] | are read block by block from a cache, again and again | linear machines, to the same optimum |
//! | [`stream`] | are seen as they come, from a file or a pipe | linear machines, by sgd |
//!
//! Each mode learns, and hands its [`Report`](ending::Report) to [`ending`], which saves, prints and gives the exit code.

mod ending;
mod labels;
mod memory;
mod mode;
mod out_of_core;
mod plan;
mod stream;

use crate::arguments::{Train, Tune};
use crate::exit::ExitCode;
use crate::failure::Failure;
use crate::input::Origin;
use crate::output::Words;
pub(super) use labels::refusal;
use mode::Mode;
pub(super) use plan::check_share;

/// Trains a model.
pub(super) fn run(arguments: &Train) -> Result<ExitCode, Failure> {
    if arguments.tune {
        let output = match &arguments.output {
            Some(path) => path.clone(),
            None => plan::model_of(&Origin::new(&arguments.data, Words { quiet: true })?),
        };
        return super::tune::run(&Tune::before(arguments, output));
    }
    let mode = mode::choose(arguments)?;
    let mut plan = plan::Plan::new(arguments, &mode)?;
    match mode {
        Mode::Memory => memory::run(&mut plan),
        Mode::OutOfCore(reason) => out_of_core::run(&mut plan, &reason),
        Mode::Stream => stream::run(&mut plan),
    }
}
