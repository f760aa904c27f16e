//! Our errors as Python's: what was found, where, and the way out, in one message.

use maxmargin::error::Parameter;
use maxmargin_io::Setting;
use pyo3::create_exception;
use pyo3::exceptions::{PyKeyboardInterrupt, PyRuntimeError, PyValueError};
use pyo3::prelude::*;

create_exception!(
    maxmargin,
    InputError,
    PyValueError,
    "Data or a parameter that cannot be worked with: what was found, and the way out."
);
create_exception!(
    maxmargin,
    InternalError,
    PyRuntimeError,
    "A bug of ours. The interpreter and its data are unharmed."
);

/// What ends a call without a result.
#[derive(Debug)]
pub(crate) enum Fault {
    /// The user can do something about it.
    Input {
        /// What was found.
        what: String,
        /// The way out.
        help: String,
    },
    /// A number is infinite, or none at all: which one, so that Python need not read the text.
    NotFinite {
        /// What was found.
        what: String,
        /// The way out.
        help: String,
        /// The number.
        value: f64,
        /// Its row and column, counted from 0.
        place: (usize, usize),
    },
    /// We have to.
    Bug(String),
    /// Somebody pressed Ctrl-C.
    Interrupted,
}

impl From<maxmargin::Error> for Fault {
    fn from(error: maxmargin::Error) -> Self {
        let (what, help) = (error.text_by(argument), error.help_by(argument));
        match error {
            maxmargin::Error::NotFinite { value, row, column } => {
                Fault::NotFinite { what, help, value, place: (row - 1, column - 1) }
            }
            _ => Fault::Input { what, help },
        }
    }
}

/// How Python writes a parameter.
fn argument(parameter: Parameter) -> String {
    match parameter {
        Parameter::COverN => "C".into(),
        Parameter::Lambda => "alpha".into(),
        Parameter::Tolerance => "tol".into(),
        Parameter::MaxIterations => "max_iter".into(),
        Parameter::ClassWeights => "class_weight".into(),
        Parameter::Threads => "n_jobs".into(),
        other => other.name().into(),
    }
}

impl From<maxmargin_io::Error> for Fault {
    fn from(error: maxmargin_io::Error) -> Self {
        Fault::Input { what: error.to_string(), help: error.help_by(setting) }
    }
}

/// How Python writes a setting, and the value to give it.
fn setting(setting: Setting, value: &str) -> String {
    match (setting, value) {
        (Setting::Scale, "") => "a scaler".into(),
        (Setting::Scale, _) => "a StandardScaler before it".into(),
        (Setting::Task, "one-class") => "OneClassSVM".into(),
        (Setting::Multiclass, "") => "multi_class".into(),
        (Setting::Multiclass, way) => format!("multi_class='{way}'"),
        (_, "") => setting.name().replace('-', "_"),
        (_, "true") => format!("{}=True", setting.name().replace('-', "_")),
        (_, "false") => format!("{}=False", setting.name().replace('-', "_")),
        (_, value) => format!("{}='{value}'", setting.name().replace('-', "_")),
    }
}

impl From<maxmargin_plot::Error> for Fault {
    fn from(error: maxmargin_plot::Error) -> Self {
        Fault::Input { what: error.to_string(), help: error.help() }
    }
}

impl From<Fault> for PyErr {
    fn from(fault: Fault) -> Self {
        match fault {
            Fault::Input { what, help } if help.is_empty() => InputError::new_err(what),
            Fault::Input { what, help } => InputError::new_err(format!("{what}\nhelp: {help}")),
            Fault::NotFinite { what, help, value, place } => Python::attach(|py| {
                let error = InputError::new_err(format!("{what}\nhelp: {help}"));
                let told =
                    error.value(py).setattr("value", value).and_then(|()| error.value(py).setattr("place", place));
                told.map_or_else(|failed| failed, |()| error)
            }),
            Fault::Bug(what) => InternalError::new_err(format!(
                "{what}\nhelp: this is a bug of maxmargin; please report it with the call that led to it"
            )),
            Fault::Interrupted => PyKeyboardInterrupt::new_err(()),
        }
    }
}
