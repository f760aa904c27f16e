//! Why a command could not do its work, said once, at the end of `main`.

use std::io;

use maxmargin::error::{Parameter, quoted};
use maxmargin_io::Setting;

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

/// The way out of an error of reading or writing, with our flags.
pub(crate) fn help_of(error: &maxmargin_io::Error) -> String {
    error.help_by(|setting, value| match (setting, value) {
        (Setting::Header, "false") => "--no-header".into(),
        (Setting::Header, _) => "--header".into(),
        (_, "") => format!("--{}", setting.name()),
        _ => format!("--{} {}", setting.name(), in_shell(value)),
    })
}

/// A value as a flag takes it: in quotes where it has letters that a shell would take apart.
fn in_shell(value: &str) -> String {
    let plain = value.chars().all(|c| c.is_alphanumeric() || "_-.:/,".contains(c));
    if plain { value.to_string() } else { quoted(value) }
}

impl From<maxmargin_io::Error> for Failure {
    fn from(error: maxmargin_io::Error) -> Self {
        match error {
            maxmargin_io::Error::Write { kind: io::ErrorKind::BrokenPipe, .. } => Failure::BrokenPipe,
            _ => Failure::new(error.to_string(), help_of(&error)),
        }
    }
}

/// Errors of writing to standard output.
impl From<io::Error> for Failure {
    fn from(error: io::Error) -> Self {
        maxmargin_io::Error::from(error).into()
    }
}
