//! What can go wrong, said so that the reader knows what was found, where, what is allowed, and the way out.
//!
//! Errors arise at the doors only: parameter check, data and problem construction. Between the doors arithmetic
//! returns a solution with its [`Stop`](crate::control::Stop) reason: not converging is news, not an error.

use std::convert::Infallible;

use thiserror::Error as ThisError;

/// A parameter that a user can set. The command line writes `--max-iterations`, Python `max_iter`, the library `max-iterations`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Parameter {
    /// C of the penalty.
    C,
    /// C′ of the penalty, which the number of rows divides.
    COverN,
    /// λ of the penalty.
    Lambda,
    /// ν
    Nu,
    /// ε, half of the width of a regression's tube.
    Epsilon,
    /// γ of a kernel.
    Gamma,
    /// The degree of a kernel.
    Degree,
    /// The constant of a kernel.
    Coef0,
    /// The largest violation to stop at.
    Tolerance,
    /// The relative gap to stop at.
    Gap,
    /// The most steps.
    MaxIterations,
    /// Rows of a step.
    Batch,
    /// The units of hidden layers.
    Hidden,
    /// How often a network begins anew.
    Starts,
    /// How far a scatter matrix is drawn towards a simpler one.
    Shrinkage,
    /// What the rows of each class count.
    ClassWeights,
    /// How many landmarks stand in for the rows of a kernel.
    Landmarks,
    /// The proved relative gap at which no more landmarks are added.
    ProvedGap,
    /// The number of threads.
    Threads,
    /// An argument of one function, which everybody calls by this name.
    Argument(&'static str),
}

impl Parameter {
    /// The library's own name.
    pub fn name(self) -> &'static str {
        match self {
            Parameter::C => "C",
            Parameter::COverN => "c-over-n",
            Parameter::Lambda => "lambda",
            Parameter::Nu => "nu",
            Parameter::Epsilon => "epsilon",
            Parameter::Gamma => "gamma",
            Parameter::Degree => "degree",
            Parameter::Coef0 => "coef0",
            Parameter::Tolerance => "tolerance",
            Parameter::Gap => "gap",
            Parameter::MaxIterations => "max-iterations",
            Parameter::Batch => "batch",
            Parameter::Hidden => "hidden",
            Parameter::Starts => "starts",
            Parameter::Shrinkage => "shrinkage",
            Parameter::ClassWeights => "class-weights",
            Parameter::Landmarks => "landmarks",
            Parameter::ProvedGap => "proved-gap",
            Parameter::Threads => "threads",
            Parameter::Argument(name) => name,
        }
    }
}

impl From<&'static str> for Parameter {
    fn from(name: &'static str) -> Self {
        Parameter::Argument(name)
    }
}

/// An error of the library. Its text is one line, lower case, without a full stop; [`Error::help`] is the way out.
#[derive(Clone, Debug, PartialEq, ThisError)]
#[non_exhaustive]
pub enum Error {
    /// A parameter outside of its range.
    #[error("{} is {found}, but it must be {allowed}", parameter.name())]
    Parameter {
        /// The parameter.
        parameter: Parameter,
        /// The value found.
        found: String,
        /// What is allowed.
        allowed: &'static str,
    },
    /// Two settings that do not go together, such as a solver and a loss it cannot minimise.
    #[error("{what}")]
    Combination {
        /// What does not go together.
        what: String,
        /// The way out.
        help: String,
    },
    /// Shapes that do not fit each other.
    #[error("{operation}: {left} does not fit {right}")]
    Shape {
        /// What was tried.
        operation: &'static str,
        /// The one side, with its size.
        left: String,
        /// The other side, with its size.
        right: String,
    },
    /// Data that no problem can be made of.
    #[error("{what}")]
    Data {
        /// What was found, and in which row and column.
        what: String,
        /// The way out.
        help: String,
    },
    /// A number of a table that is infinite, or none at all.
    #[error("the value in row {row}, column {column} is {value}")]
    NotFinite {
        /// The row, counted from 1.
        row: usize,
        /// The column, counted from 1.
        column: usize,
        /// The value.
        value: f64,
    },
    /// A hard margin was asked for, but the two classes' convex hulls meet.
    #[error("{}", not_separable(classes, rows, *distance, *through_origin))]
    NotSeparable {
        /// The two classes.
        classes: (String, String),
        /// The rows (counted from 1) of the smallest sets of points found whose hulls meet.
        rows: Vec<usize>,
        /// The distance of the hulls that was reached.
        distance: f64,
        /// Whether the plane had to pass through the origin (no bias).
        through_origin: bool,
    },
    /// The work needs more memory than it was given.
    #[error("{what} needs {}, but the memory budget is {}", bytes(*.need), bytes(*.budget))]
    Memory {
        /// What needs it.
        what: String,
        /// Bytes needed.
        need: u64,
        /// Bytes granted.
        budget: u64,
    },
    /// The work needs more memory than it was given, and a smaller number of something would need less.
    #[error("{what} need {}, but the memory budget is {}", bytes(*.need), bytes(*.budget))]
    Budget {
        /// What needs it.
        what: String,
        /// Bytes needed.
        need: u64,
        /// Bytes granted.
        budget: u64,
        /// The way out.
        help: String,
    },
    /// The work needs memory that the system does not give.
    #[error("{what} needs {} of memory, which the system refuses", bytes(*.need))]
    Refused {
        /// What needs it.
        what: String,
        /// Bytes needed.
        need: u64,
        /// The way out.
        help: String,
    },
}

impl Error {
    /// The way out: one sentence that says what to do.
    pub fn help(&self) -> String {
        self.help_by(|parameter| parameter.name().into())
    }

    /// The text, with parameters under the names that somebody writes them by: flags, or arguments of Python.
    pub fn text_by(&self, name: impl FnOnce(Parameter) -> String) -> String {
        match self {
            Error::Parameter { parameter, found, allowed } => {
                format!("{} is {found}, but it must be {allowed}", name(*parameter))
            }
            other => other.to_string(),
        }
    }

    /// [`Error::help`], with parameters under the names that somebody writes them by.
    pub fn help_by(&self, name: impl FnOnce(Parameter) -> String) -> String {
        match self {
            Error::Parameter { parameter, allowed, .. } => {
                format!("give {} a value that is {allowed}", name(*parameter))
            }
            Error::Combination { help, .. }
            | Error::Data { help, .. }
            | Error::Refused { help, .. }
            | Error::Budget { help, .. } => help.clone(),
            Error::NotFinite { .. } => "leave the row out, or fill the value in (with the column's mean, say)".into(),
            Error::Shape { .. } => "give both sides the same size".into(),
            Error::NotSeparable { through_origin: true, .. } => {
                "let the plane lie anywhere (bias explicit or folded), or use a soft margin (leave out hard, choose C)"
                    .into()
            }
            Error::NotSeparable { .. } => {
                "use a soft margin (leave out hard, choose C), or a kernel that separates these rows".into()
            }
            Error::Memory { need, .. } => {
                format!("grant {} or more, or choose the solver smo, which works in little memory", bytes(*need))
            }
        }
    }

    /// A parameter outside of its range.
    pub fn parameter(parameter: impl Into<Parameter>, found: impl ToString, allowed: &'static str) -> Self {
        Error::Parameter { parameter: parameter.into(), found: found.to_string(), allowed }
    }
}

/// What cannot fail has no error.
impl From<Infallible> for Error {
    fn from(never: Infallible) -> Self {
        match never {}
    }
}

/// The text in quotes, control characters escaped, cut after 80 characters: safe to print whatever it holds.
pub fn quoted(text: &str) -> String {
    let mut shown: String = text.chars().take(80).flat_map(char::escape_debug).collect();
    if text.chars().nth(80).is_some() {
        shown.push('…');
    }
    format!("\"{shown}\"")
}

fn not_separable(classes: &(String, String), rows: &[usize], distance: f64, through_origin: bool) -> String {
    let (first, second, rows) = (quoted(&classes.0), quoted(&classes.1), listed(rows.iter().map(usize::to_string), 10));
    let what = format!("the classes {first} and {second} cannot be separated");
    if through_origin {
        return format!(
            "{what} by a plane through the origin: with one of them mirrored in it, \
             their convex hull comes within {distance:.3e} of it (rows {rows})"
        );
    }
    format!("{what}: their convex hulls meet within {distance:.3e} (rows {rows})")
}

/// At most so many texts, comma separated, and how many more there are.
pub fn listed(texts: impl ExactSizeIterator<Item = String>, most: usize) -> String {
    let count = texts.len();
    let mut shown: Vec<String> = texts.take(most).collect();
    if count > most {
        shown.push(format!("and {} more", count - most));
    }
    shown.join(", ")
}

/// A number of bytes in the unit that fits.
pub fn bytes(count: u64) -> String {
    const UNITS: [&str; 5] = ["B", "KiB", "MiB", "GiB", "TiB"];
    let (mut value, mut unit) = (count as f64, 0);
    while value >= 1024.0 && unit + 1 < UNITS.len() {
        value /= 1024.0;
        unit += 1;
    }
    if unit == 0 { format!("{count} B") } else { format!("{value:.1} {}", UNITS[unit]) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_parameter_is_named_in_the_words_of_whoever_asks() {
        let error = Error::parameter(Parameter::MaxIterations, 0, "1 or more");
        let flag = |parameter: Parameter| format!("--{}", parameter.name());
        assert_eq!(error.to_string(), "max-iterations is 0, but it must be 1 or more");
        assert_eq!(error.text_by(flag), "--max-iterations is 0, but it must be 1 or more");
        assert_eq!(error.help(), "give max-iterations a value that is 1 or more");
        assert_eq!(error.help_by(flag), "give --max-iterations a value that is 1 or more");
    }

    #[test]
    fn untrusted_text_is_escaped_and_cut() {
        assert_eq!(quoted("a\u{1b}[31m\"b"), r#""a\u{1b}[31m\"b""#);
        assert!(quoted(&"x".repeat(1000)).chars().count() < 90);
    }

    #[test]
    fn a_list_says_how_much_of_it_is_left_out() {
        let list = |count: usize| listed((0..count).map(|k| k.to_string()), 2);
        assert_eq!([list(0), list(2), list(5)], ["", "0, 1", "0, 1, and 3 more"]);
    }

    #[test]
    fn bytes_are_shown_in_the_unit_that_fits() {
        assert_eq!(bytes(0), "0 B");
        assert_eq!(bytes(2 << 30), "2.0 GiB");
        assert_eq!(bytes(u64::MAX), "16777216.0 TiB");
    }
}
