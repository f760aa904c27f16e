//! What may be wrong with data, with a kernel and a penalty for it, and with a fit: findings as data, which others put into words.
//!
//! | file | looks at | cost |
//! | --- | --- | --- |
//! | `columns.rs` | ranges, constants, copies, zeros, sizes | O(entries) |
//! | `rows.rs` | repeated rows, and those with other labels | O(entries) |
//! | `labels.rs` | how many rows each class has, labels that are numbers | O(rows) |
//! | `kernel.rs` | kernel values of at most 200 rows, and C beside them | O(200²) kernel values |
//! | `fit.rs` | what a model says of its training, and what it says of the data | that of predicting the data |
//!
//! Nothing here is random: the same data gives the same findings, in the same order.
//!
//! # Examples
//! ```
//! use maxmargin::Workers;
//! use maxmargin::data::{Dataset, Label, Labels, Matrix};
//! use maxmargin::diagnosis::{Finding, of_data};
//!
//! let labels = Labels::new(["a", "b", "a", "b"].map(Label::new));
//! let matrix = Matrix::dense(4, 2, vec![0.0, 1.0, 1.0, 5000.0, 0.0, 1.0, 0.5, 9000.0])?;
//! let findings = of_data(&Dataset::new(matrix, labels)?, true, &Workers::none());
//! assert!(matches!(findings[0], Finding::UnscaledColumns { wide: 1, narrow: 0, .. }));
//! # Ok::<(), maxmargin::Error>(())
//! ```

mod columns;
mod fit;
mod kernel;
mod labels;
mod rows;

#[cfg(feature = "serde")]
use serde::Serialize;

use crate::data::Dataset;
use crate::workers::Workers;

pub use fit::of_model;
pub use kernel::of_kernel;
pub use labels::{look_like_amounts, of_labels};

/// The widest column may range so many times as far as the narrowest, before it is all that a kernel sees.
pub const MOST_RANGE_RATIO: f64 = 100.0;

/// How much a finding matters.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[cfg_attr(feature = "serde", derive(Serialize))]
#[cfg_attr(feature = "serde", serde(rename_all = "kebab-case"))]
pub enum Severity {
    /// Good to know; nothing need be done.
    Note,
    /// A model will likely be poor, slow or wrong unless something is done.
    Warning,
}

impl Severity {
    /// The word used in reports.
    pub fn name(self) -> &'static str {
        match self {
            Severity::Note => "note",
            Severity::Warning => "warning",
        }
    }
}

/// Something that was found. Rows and columns are counted from 0.
#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(Serialize))]
#[cfg_attr(feature = "serde", serde(tag = "finding", rename_all = "kebab-case"))]
#[non_exhaustive]
pub enum Finding {
    /// The ranges of two columns differ by more than [`MOST_RANGE_RATIO`].
    UnscaledColumns {
        /// The widest column.
        wide: usize,
        /// The narrowest column that varies.
        narrow: usize,
        /// How many times the one's range holds the other's.
        ratio: f64,
    },
    /// Columns of one value each.
    ConstantColumns {
        /// How many.
        count: usize,
        /// How many columns there are.
        columns: usize,
        /// The first of them.
        first: usize,
    },
    /// Columns that are the same as one before, in every row.
    CopiedColumns {
        /// How many.
        count: usize,
        /// The first that is copied, and its copy.
        first: [usize; 2],
    },
    /// Columns that are not 0 in one row only.
    LonelyColumns {
        /// How many.
        count: usize,
        /// How many columns there are.
        columns: usize,
        /// The first of them.
        first: usize,
    },
    /// Nearly all numbers are 0, and all of them are stored.
    MostlyZeros {
        /// The share of zeros.
        share: f64,
    },
    /// Values so large that their squares leave few digits for the others.
    HugeValues {
        /// How many.
        count: usize,
        /// The row of the first.
        row: usize,
        /// Its column.
        column: usize,
        /// What it is.
        value: f64,
    },
    /// A column that varies by less than the digits of its values can tell.
    TinyRanges {
        /// How many.
        count: usize,
        /// The first of them.
        column: usize,
        /// The width of its range.
        range: f64,
        /// The largest |value| in it.
        size: f64,
    },
    /// Fewer rows than columns.
    FewRows {
        /// Rows.
        rows: usize,
        /// Columns.
        columns: usize,
    },
    /// Rows that repeat one before, label and all.
    RepeatedRows {
        /// How many.
        count: usize,
        /// How many rows there are.
        rows: usize,
        /// The first that is repeated, and its repetition.
        first: [usize; 2],
    },
    /// Rows that repeat one before, with another label.
    Contradictions {
        /// How many.
        count: usize,
        /// The first pair.
        first: [usize; 2],
    },
    /// All rows have one label.
    SingleClass,
    /// Classes of one row each.
    SingleRows {
        /// How many.
        count: usize,
        /// The place of the first of them among the classes.
        class: usize,
    },
    /// Classes of two to four rows.
    RareClasses {
        /// How many.
        count: usize,
        /// The place of the smallest of them.
        class: usize,
        /// Its rows.
        rows: usize,
    },
    /// The largest class has many times as many rows as the smallest.
    Imbalance {
        /// The place of the largest class.
        largest: usize,
        /// The place of the smallest class.
        smallest: usize,
        /// How many times as many rows.
        ratio: f64,
    },
    /// Labels that look like the numbers of a regression.
    NumericLabels {
        /// How many different ones.
        classes: usize,
        /// In how many rows.
        rows: usize,
    },
    /// Kernel values of different rows are nearly 0: every row stands alone.
    NarrowKernel {
        /// The median of −log k over pairs of rows.
        exponent: f64,
        /// The γ at which it were 1.
        gamma: f64,
    },
    /// Kernel values of different rows are nearly 1: the rows look all alike.
    WideKernel {
        /// The median of −log k over pairs of rows.
        exponent: f64,
        /// The γ at which it were 1; infinite where the rows are the same.
        gamma: f64,
    },
    /// A kernel value beyond what can be computed with.
    KernelOverflow {
        /// The row whose value with itself it is.
        row: usize,
    },
    /// Kernel values so large that few digits are left.
    LargeKernel {
        /// The largest.
        largest: f64,
    },
    /// The function is no kernel on these rows.
    NotPositiveSemidefinite {
        /// The smallest eigenvalue.
        smallest: f64,
        /// Of how many rows.
        rows: usize,
    },
    /// C so small that every row is at its bound.
    SmallPenalty {
        /// C
        c: f64,
        /// `1/mean k(x, x)`, where one often begins.
        usual: f64,
    },
    /// C so large that a fit takes long, and follows every row.
    LargePenalty {
        /// C
        c: f64,
        /// `1/mean k(x, x)`, where one often begins.
        usual: f64,
    },
    /// The solver stopped before its tolerance.
    NotConverged {
        /// Why it stopped.
        stop: &'static str,
        /// Its steps.
        iterations: u64,
    },
    /// The certificate leaves much between primal and dual.
    LooseCertificate {
        /// The relative gap.
        relative_gap: f64,
    },
    /// The data is not what the model was trained on.
    OtherData,
    /// Nearly all rows are at the bound.
    AllAtBound {
        /// Rows at the bound.
        bounded: usize,
        /// Rows in all.
        rows: usize,
        /// C
        c: f64,
    },
    /// No row is near the bound: any C above the largest α gives this model.
    NoneAtBound {
        /// C
        c: f64,
        /// The largest α.
        largest: f64,
    },
    /// Nearly every row is a support vector, most of them not at the bound.
    ManySupportVectors {
        /// Support vectors.
        support: usize,
        /// Rows.
        rows: usize,
    },
    /// The solver took many steps for each row.
    ManyIterations {
        /// Steps.
        iterations: u64,
        /// Rows.
        rows: usize,
        /// Support vectors that are not at the bound: the ones that take steps.
        free: usize,
        /// Support vectors at the bound.
        bounded: usize,
    },
    /// Labels that the model does not know.
    UnknownLabels {
        /// In how many rows.
        count: usize,
        /// The first of these.
        row: usize,
    },
    /// The model makes no fewer errors than the one that always predicts the most frequent class.
    NoBetterThanMajority {
        /// The model's errors.
        errors: usize,
        /// Those of the most frequent class.
        of_majority: usize,
        /// Rows.
        rows: usize,
    },
    /// The regression is no nearer to the targets than their mean.
    NoBetterThanMean {
        /// R² of (ME.2).
        r_squared: f64,
    },
}

impl Finding {
    /// How much it matters.
    pub fn severity(&self) -> Severity {
        match self {
            Finding::ConstantColumns { count, columns, .. } if count == columns => Severity::Warning,
            Finding::ConstantColumns { .. }
            | Finding::CopiedColumns { .. }
            | Finding::LonelyColumns { .. }
            | Finding::MostlyZeros { .. }
            | Finding::FewRows { .. }
            | Finding::RepeatedRows { .. }
            | Finding::RareClasses { .. }
            | Finding::SmallPenalty { .. }
            | Finding::LargePenalty { .. }
            | Finding::OtherData
            | Finding::NoneAtBound { .. }
            | Finding::ManyIterations { .. } => Severity::Note,
            _ => Severity::Warning,
        }
    }
}

/// What there is to say of the data alone. `classes` says that labels are classes, and not numbers or nothing.
///
/// Cost: O(entries).
pub fn of_data(data: &Dataset, classes: bool, workers: &Workers) -> Vec<Finding> {
    let mut findings = columns::look(data.matrix(), workers);
    findings.extend(rows::look(data));
    if let Some(labels) = data.answers().labels().filter(|_| classes) {
        findings.extend(of_labels(labels));
    }
    findings
}
