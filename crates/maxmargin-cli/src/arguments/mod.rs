//! What the user typed, as types: a file for each command, and what several of them share in `reading`, `kernel` and `values`.

mod convert;
mod convert_model;
mod doctor;
mod examples;
mod explain;
mod generate;
mod inspect;
mod kernel;
mod kernel_check;
mod path;
mod play;
mod plot;
mod predict;
mod project;
mod reading;
mod review;
mod suspects;
mod train;
mod tune;
mod values;
mod verify;

use clap::{Parser, Subcommand};

use crate::exit::ExitCode;
use crate::output;
pub(crate) use convert::Convert;
pub(crate) use convert_model::{ConvertModel, ModelFormat};
pub(crate) use doctor::Doctor;
pub(crate) use examples::Examples;
pub(crate) use explain::Explain;
pub(crate) use generate::Generate;
pub(crate) use inspect::Inspect;
pub(crate) use kernel_check::KernelCheck;
pub(crate) use path::PathOfC;
pub(crate) use play::Play;
pub(crate) use plot::Plot;
pub(crate) use predict::Predict;
pub(crate) use project::Project;
pub(crate) use reading::Reading;
pub(crate) use suspects::Suspects;
pub(crate) use train::Train;
pub(crate) use tune::{Strategy, Tune};
pub(crate) use values::{OrAuto, TaskKind};
pub(crate) use verify::Verify;

/// Support vector machines and kernel classifiers: exact, certified, fast.
#[derive(Debug, Parser)]
#[command(
    name = "maxmargin",
    version,
    max_term_width = 80,
    after_help = "\
Try it:
  maxmargin train iris                        train on an embedded data set, and draw it
  maxmargin train mine.csv --holdout 0.2      train on your own file; the label is the last column
  maxmargin tune mine.csv -o mine.mm          find C and gamma, and train with them
  maxmargin predict mine.mm new.csv           predict with the model
  maxmargin explain mine.mm new.csv --row 3   say why: the terms that decided, and how far the boundary is
  maxmargin verify mine.mm mine.csv           check the model's certificate from scratch
  maxmargin suspects mine.mm mine.csv         list the rows whose labels deserve a second look
  maxmargin doctor mine.csv                   say what may be wrong with the data, and the way out
  maxmargin examples                          the textbook's numbers, expected beside obtained
  maxmargin play                              draw points and watch the solver, in the browser

As svm-train, svm-predict, svm-scale, liblinear-train and liblinear-predict it takes the flags of LIBSVM and LIBLINEAR, too.

Exit codes: 0 done, 1 done but not as asked, 2 bad input or usage, 3 a bug of ours, 130 interrupted."
)]
pub(crate) struct Arguments {
    #[command(subcommand)]
    pub(crate) command: Command,
}

impl Arguments {
    /// Reads the command line. Help goes to standard output, mistakes to standard error.
    pub(crate) fn read() -> Result<Self, ExitCode> {
        Arguments::try_parse().map_err(|error| {
            // The user's words are in the text: control characters in them must not reach the terminal.
            let lines: Vec<String> = error.render().to_string().trim_end().lines().map(output::escaped).collect();
            let text = lines.join("\n");
            if error.use_stderr() {
                output::say(&text);
                return ExitCode::BadInput;
            }
            match output::print(&format!("{text}\n")) {
                Ok(()) => ExitCode::Done,
                Err(failure) => failure.tell(),
            }
        })
    }
}

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    Train(Box<Train>),
    Tune(Box<Tune>),
    #[command(name = "path")]
    PathOfC(PathOfC),
    Predict(Predict),
    Convert(Convert),
    ConvertModel(ConvertModel),
    Inspect(Inspect),
    Verify(Verify),
    Explain(Explain),
    Suspects(Suspects),
    Doctor(Doctor),
    Examples(Examples),
    KernelCheck(KernelCheck),
    Generate(Generate),
    Play(Play),
    Plot(Plot),
    Project(Project),
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory;
    use maxmargin::solver::SolverKind;

    use super::*;
    use crate::failure::Failure;

    #[test]
    fn the_arguments_are_well_formed() {
        Arguments::command().debug_assert();
    }

    #[test]
    fn every_solver_has_its_name() {
        for kind in SolverKind::ALL {
            let arguments = Arguments::try_parse_from(["maxmargin", "train", "iris", "--solver", kind.name()]).unwrap();
            assert!(matches!(arguments.command, Command::Train(train) if train.solver.0 == Some(kind)));
        }
    }

    #[test]
    fn flags_that_a_kernel_does_not_have_are_refused() {
        let params = |line: &str| {
            let words = ["maxmargin", "train", "iris"].into_iter().chain(line.split_whitespace());
            match Arguments::try_parse_from(words).unwrap().command {
                Command::Train(train) => train.kernel.params(),
                _ => unreachable!(),
            }
        };
        assert!(params("--kernel rbf --gamma 2").is_ok());
        assert!(params("--kernel poly --degree 2 --coef0 -1 --gamma auto").is_ok());
        for wrong in [
            "--kernel rbf --degree 2",
            "--gamma 1",
            "--kernel linear --coef0 1",
            "--kernel poly --sigma 1",
            "--kernel rbf(gamma=1) --gamma 1",
            "--kernel rbf+linear --degree 1",
            "--kernel rbf --gamma much",
        ] {
            assert!(matches!(params(wrong), Err(Failure::Input { .. })), "{wrong}");
        }
    }
}
