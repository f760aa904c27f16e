//! How the program ends, as a number for the caller.

use crate::output;

/// The exit codes. Scripts rely on them, so they never change.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ExitCode {
    /// Done.
    Done = 0,
    /// Done, but not as asked: not converged (`--strict`), a certificate that is false, an example that does not match. And, as theirs,
    /// whatever is wrong with the use of [LIBSVM's and LIBLINEAR's programs](crate::drop_in).
    NotAsAsked = 1,
    /// Bad input or usage.
    BadInput = 2,
    /// A bug of ours.
    Bug = 3,
    /// Interrupted by the user.
    Interrupted = 130,
}

impl From<ExitCode> for std::process::ExitCode {
    fn from(code: ExitCode) -> Self {
        std::process::ExitCode::from(code as u8)
    }
}

/// Makes a panic say that it is a bug of ours, whichever thread it is in, and end the program.
pub(crate) fn say_when_it_is_our_bug() {
    std::panic::set_hook(Box::new(|panic| {
        // It becomes an error that tells of the damaged file.
        if maxmargin_io::reads_guarded() {
            return;
        }
        let payload = panic.payload();
        let text = payload.downcast_ref::<&str>().copied();
        let what =
            text.or_else(|| payload.downcast_ref::<String>().map(String::as_str)).unwrap_or("it did not say why");
        let place = panic.location().map_or_else(String::new, |place| format!(" ({}:{})", place.file(), place.line()));
        output::say(&format!(
            "error: this is a bug of maxmargin, not of your data: {}{place}\n  help: please report it, with the command \
             line and, if you can, the data",
            output::escaped(what)
        ));
        std::process::exit(ExitCode::Bug as i32);
    }));
}
