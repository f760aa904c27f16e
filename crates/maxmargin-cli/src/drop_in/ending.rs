//! How a program of theirs ends early, in their words and then in ours.

use maxmargin::error::Parameter;
use maxmargin_io::Error;

use crate::exit::ExitCode;
use crate::failure::Failure;
use crate::output;
use crate::progress::Watch;

/// What is said of an interrupt.
const INTERRUPTED: &str = "interrupted; nothing was written";

/// Watches a fit, and ends the program at an interrupt without waiting for a certificate of what there is: nobody will read it.
pub(super) fn watch(quiet: bool) -> Watch {
    Watch::new(None, quiet).impatient(|_, _, _| output::say(INTERRUPTED))
}

/// Why a program ended early.
#[derive(Debug)]
pub(super) enum Ending {
    /// A wrong command line: what is wrong with it, and the usage.
    Usage(Option<String>, &'static str),
    /// Anything else: the lines to say.
    Refused(String),
    /// The user has asked to stop.
    Interrupted,
    /// Nobody reads our output any more, which is no fault.
    BrokenPipe,
}

impl Ending {
    /// Tells the user, and gives the exit code that belongs to it.
    pub(super) fn tell(self) -> ExitCode {
        match self {
            Ending::Usage(what, usage) => {
                what.iter().for_each(|what| output::say(what));
                // On standard output, as theirs.
                let _ = output::print(usage);
                ExitCode::NotAsAsked
            }
            Ending::Refused(text) => {
                output::say(&text);
                ExitCode::NotAsAsked
            }
            Ending::Interrupted => {
                output::say(INTERRUPTED);
                ExitCode::Interrupted
            }
            Ending::BrokenPipe => ExitCode::Done,
        }
    }

    /// What is wrong with a parameter.
    pub(super) fn parameter(what: &str, help: &str) -> Self {
        Ending::Refused(format!("ERROR: {what}\n  help: {help}"))
    }

    /// What is wrong with a file that is read as `kind`.
    pub(super) fn reading(error: &Error, kind: &str) -> Self {
        let own = format!("  {error}\n  help: {}", error.help());
        Ending::Refused(match error {
            Error::Syntax { line, .. } | Error::OneColumn { line, .. } => {
                format!("Wrong input format at line {line}\n{own}")
            }
            Error::Open { path, .. } => format!("can't open {kind} file {}\n{own}", output::escaped(path)),
            _ => format!("Wrong input format\n{own}"),
        })
    }
}

impl From<Failure> for Ending {
    fn from(failure: Failure) -> Self {
        match failure {
            Failure::BrokenPipe => Ending::BrokenPipe,
            Failure::Input { what, help } => Ending::parameter(&what, &help),
        }
    }
}

/// What a parameter is called on their command lines.
fn flag_of(parameter: Parameter) -> Option<&'static str> {
    match parameter {
        Parameter::C => Some("-c"),
        Parameter::Gamma => Some("-g"),
        Parameter::Degree => Some("-d"),
        Parameter::Coef0 => Some("-r"),
        Parameter::Nu => Some("-n"),
        Parameter::Epsilon => Some("-p"),
        Parameter::Tolerance => Some("-e"),
        _ => None,
    }
}

impl From<maxmargin::Error> for Ending {
    fn from(error: maxmargin::Error) -> Self {
        if let maxmargin::Error::Parameter { parameter, allowed, .. } = &error
            && let Some(flag) = flag_of(*parameter)
        {
            return Ending::parameter(&error.to_string(), &format!("give {flag} a value that is {allowed}"));
        }
        Failure::from(error).into()
    }
}

impl From<Error> for Ending {
    fn from(error: Error) -> Self {
        Failure::from(error).into()
    }
}

impl From<std::io::Error> for Ending {
    fn from(error: std::io::Error) -> Self {
        Failure::from(error).into()
    }
}
