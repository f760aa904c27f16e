//! Where the rows are while they are learnt, and what does not go with it.

use std::path::Path;

use maxmargin::data::ScalingKind;
use maxmargin::error::bytes;
use maxmargin::kernel::KernelParams;
use maxmargin::out_of_core::supports_blocks;
use maxmargin::problem::Norm;
use maxmargin::solver::SolverKind;
use maxmargin_io::{CacheFile, is_cache};

use super::plan::params;
use crate::arguments::{TaskKind, Train};
use crate::failure::Failure;
use crate::output::Words;
use crate::size;

/// Where the rows are while they are learnt.
pub(super) enum Mode {
    /// All of them are in memory.
    Memory,
    /// They are read block by block from a cache. With the reason, in words.
    OutOfCore(String),
    /// Each is seen as it comes.
    Stream,
}

/// The mode that was asked for, or that the size of the data asks for.
///
/// # Errors
/// When the other arguments do not go with it.
pub(super) fn choose(arguments: &Train) -> Result<Mode, Failure> {
    if arguments.stream {
        refuse_what_does_not_stream(arguments)?;
        return Ok(Mode::Stream);
    }
    if arguments.out_of_core {
        refuse_what_needs_memory(arguments)?;
        return Ok(Mode::OutOfCore("as asked".into()));
    }
    let words = Words { quiet: arguments.quiet };
    let memory = size::asked(arguments.memory.as_deref())?;
    let too_large = estimated_bytes(&arguments.data).filter(|whole| *whole > memory);
    let Some(whole) = too_large else {
        if let Some(cache) = &arguments.cache {
            let name = crate::output::escaped(&cache.to_string_lossy());
            words.note(&format!(
                "no cache {name} is made: the data fits into memory (--out-of-core reads it block by block)"
            ));
        }
        return Ok(Mode::Memory);
    };
    let reason = format!("the data takes about {}, and the memory is {}", bytes(whole), bytes(memory));
    match refuse_what_needs_memory(arguments) {
        Ok(()) => Ok(Mode::OutOfCore(reason)),
        Err(Failure::Input { what, .. }) => {
            words.warning(
                &format!("{reason}, but it is read as a whole: {what}"),
                "grant more memory with --memory, or train a linear machine out of core",
            );
            Ok(Mode::Memory)
        }
        Err(failure) => Err(failure),
    }
}

/// What a file takes in memory, as far as it can be told without reading it; `None` for what is no file, or not there.
fn estimated_bytes(path: &Path) -> Option<u64> {
    let length = std::fs::metadata(path).ok().filter(|file| file.is_file())?.len();
    if is_cache(path) {
        let file = CacheFile::open(path).ok()?;
        return Some((0..file.blocks()).map(|block| file.block_bytes(block)).sum());
    }
    let name = path.to_string_lossy();
    let compressed = maxmargin_io::without_compression(&name).len() < name.len();
    // Text of numbers is about as long as they are in memory, and packs to a third.
    Some(length.saturating_mul(if compressed { 3 } else { 1 }))
}

/// A flag, whether it was given, and what to do instead.
type Stray = (&'static str, bool, &'static str);

/// Refuses the first flag that was given.
fn refuse(flags: &[Stray], mode: &str) -> Result<(), Failure> {
    match flags.iter().find(|(_, given, _)| *given) {
        Some((flag, _, help)) => Err(Failure::new(format!("{flag} does not go with {mode}"), *help)),
        None => Ok(()),
    }
}

/// Refuses everything that takes the whole data, and ignores nothing.
fn refuse_what_needs_memory(arguments: &Train) -> Result<(), Failure> {
    // Two classes, because the number is not known yet: more are looked at again.
    supports_blocks(&params(arguments)?, 2)?;
    let flags = [
        ("--landmarks", arguments.landmarks.is_some(), "grant more memory: landmarks are for data in memory"),
        ("--holdout", arguments.holdout.is_some(), "keep test rows in a file of their own"),
        ("--test", arguments.test.is_some(), "predict the test with the model, by maxmargin predict"),
        ("--plot", arguments.plot.is_some(), "draw the model, by maxmargin plot"),
        ("--checkpoint", arguments.checkpoint.is_some(), "use --save-partial, and go on with --warm-start"),
        ("--resume", arguments.resume.is_some(), "use --save-partial, and go on with --warm-start"),
        ("--probabilities", arguments.probabilities.is_some(), "choose --loss logistic, which has them of itself"),
        ("--alphas", arguments.alphas, "leave it out: the model holds them"),
        ("--trace", arguments.trace.is_some(), "leave it out: a training in memory shows its steps"),
    ];
    refuse(&flags, "a training out of core")
}

/// Refuses everything that a stream has no use for, and ignores nothing.
fn refuse_what_does_not_stream(arguments: &Train) -> Result<(), Failure> {
    let is_linear = matches!(arguments.kernel.params()?, KernelParams::Linear);
    if arguments.c.is_some() || arguments.hard || arguments.no_penalty {
        return Err(Failure::new(
            "the penalty of a stream cannot depend on the number of its rows, which is not known",
            "give the penalty as --lambda or --c-over-n",
        ));
    }
    let solves = matches!(arguments.solver.0, None | Some(SolverKind::Sgd));
    let flags = [
        ("this solver", !solves, "name the solver sgd, or none"),
        ("this kernel", !is_linear, "leave out --kernel: rows that stream by are learnt by a linear machine"),
        ("--task", arguments.task() != TaskKind::Classification, "leave it out: a stream is told apart into classes"),
        ("--epsilon", arguments.epsilon.is_some(), "leave it out: a stream is told apart into classes"),
        ("--nu", arguments.nu.is_some(), "give the penalty as --lambda or --c-over-n"),
        ("--probabilities", arguments.probabilities.is_some(), "choose --loss logistic, which has them of itself"),
        ("--unlabelled", arguments.unlabelled, "leave it out: a stream is told apart into classes"),
        ("--norm l1", arguments.norm == Norm::L1, "leave it out: a stream is learnt with the L2 norm"),
        ("--holdout", arguments.holdout.is_some(), "hold rows out with --validate K"),
        ("--test", arguments.test.is_some(), "predict the test with the model, by maxmargin predict"),
        ("--plot", arguments.plot.is_some(), "draw the model, by maxmargin plot"),
        ("--trace", arguments.trace.is_some(), "leave it out: a training in memory shows its steps"),
        ("--warm-start", arguments.warm_start.is_some(), "leave it out"),
        ("--positive", arguments.positive.is_some(), "leave it out: each class is told from the rest"),
        ("--class-weights", arguments.class_weights.is_some(), "leave it out: all rows of a stream count the same"),
        ("--gap", arguments.gap.is_some(), "leave it out: the distance from the optimum of a stream is not known"),
        ("--max-iterations", arguments.max_iterations.is_some(), "say how often to go through the data: --passes N"),
        ("--alphas", arguments.alphas, "leave it out: there are no dual variables"),
        ("--scale", arguments.named_scaling() != ScalingKind::None, "scale the columns beforehand"),
    ];
    refuse(&flags, "--stream")
}
