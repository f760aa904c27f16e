//! Why a solver was chosen.

use std::fmt;

/// Why a solver was chosen for those who did not name one.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum Choice {
    /// The L1 norm.
    L1Norm,
    /// Logistic loss without a penalty.
    NoPenalty,
    /// Few enough rows to solve their kernel matrix as a whole.
    WholeMatrix {
        /// How many.
        rows: usize,
    },
    /// Many rows with a kernel.
    Blocks {
        /// How many.
        rows: usize,
    },
    /// Linear, few entries in a row, and no large C.
    FewEntries {
        /// How many entries a row has on average.
        entries: f64,
        /// Of how many columns.
        columns: usize,
    },
    /// Linear, few entries in a row, and a large C.
    LargeC,
    /// Linear, and the primal is the smaller problem.
    Primal {
        /// How many rows.
        rows: usize,
        /// How many entries a row has on average.
        entries: f64,
        /// Of how many columns.
        columns: usize,
    },
    /// Hinge loss over all classes at once.
    JointHinge,
    /// Logistic loss over all classes at once.
    JointLogistic,
    /// The words that a file has for it.
    Told(String),
}

impl fmt::Display for Choice {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Choice::L1Norm => write!(f, "the L1 norm, which leaves most columns out of each step"),
            Choice::NoPenalty => write!(f, "logistic loss without a penalty"),
            Choice::WholeMatrix { rows } => write!(f, "{rows} rows, whose kernel matrix is solved as a whole"),
            Choice::Blocks { rows } => write!(f, "{rows} rows, so blocks of variables and all cores pay"),
            Choice::FewEntries { entries, columns } => write!(
                f,
                "{entries:.0} of {columns} columns in a row, and C is not large, so one row at a time is enough"
            ),
            Choice::LargeC => write!(f, "C is large, so one row at a time would take many sweeps"),
            Choice::Primal { rows, entries, columns } => write!(
                f,
                "{rows} rows with {entries:.0} numbers each in {columns} columns, so the primal is the smaller problem"
            ),
            Choice::JointHinge => write!(f, "hinge loss over all classes, a row at a time"),
            Choice::JointLogistic => write!(f, "logistic loss over all classes"),
            Choice::Told(words) => f.write_str(words),
        }
    }
}
