//! Why a command could not do its work, said once, at the end of `main`.

use std::io;

use maxmargin::error::Parameter;

use crate::exit::ExitCode;
use crate::output;

/// Why a command ended early.
#[derive(Debug)]
pub(crate) enum Failure {
    /// Bad input or usage: what was found, and the way out.
    Input { what: String, help: String },
    /// Nobody reads our output any more, which is no fault.
    BrokenPipe,
}

impl Failure {
    pub(crate) fn new(what: impl Into<String>, help: impl Into<String>) -> Self {
        Failure::Input { what: what.into(), help: help.into() }
    }

    /// Tells the user, and gives the exit code that belongs to it.
    pub(crate) fn tell(self) -> ExitCode {
        match self {
            Failure::BrokenPipe => ExitCode::Done,
            Failure::Input { what, help } => {
                output::say(&format!("error: {what}\n  help: {help}"));
                ExitCode::BadInput
            }
        }
    }
}

impl From<maxmargin::Error> for Failure {
    fn from(error: maxmargin::Error) -> Self {
        Failure::new(error.text_by(flag), error.help_by(flag))
    }
}

/// How the command line writes a parameter. Those of kernels may stand in the text of one, and have no dashes there.
fn flag(parameter: Parameter) -> String {
    match parameter {
        Parameter::C => "-C".into(),
        Parameter::Gamma | Parameter::Degree | Parameter::Coef0 | Parameter::Argument(_) => parameter.name().into(),
        _ => format!("--{}", parameter.name()),
    }
}

impl From<maxmargin_io::Error> for Failure {
    fn from(error: maxmargin_io::Error) -> Self {
        match error {
            maxmargin_io::Error::Write { kind: io::ErrorKind::BrokenPipe, .. } => Failure::BrokenPipe,
            _ => Failure::new(error.to_string(), error.help()),
        }
    }
}

/// Errors of writing to standard output.
impl From<io::Error> for Failure {
    fn from(error: io::Error) -> Self {
        maxmargin_io::Error::from(error).into()
    }
}
