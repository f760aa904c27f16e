//! How good predictions of held-out rows are.

use std::fmt;
use std::sync::Arc;

use crate::error::Error;
use crate::metrics::{ClassReport, Residuals, log_loss, mean_area_under_curve};

/// What is predicted of held-out rows, beside the truth.
#[derive(Clone, Copy, Debug)]
pub enum HeldOut<'a> {
    /// Rows with classes.
    Classes {
        /// The class of each row.
        truth: &'a [Option<u32>],
        /// The predicted class of each row.
        predicted: &'a [u32],
        /// How many classes there are.
        classes: usize,
        /// Decision values, one for each machine, row after row.
        values: &'a [f64],
        /// The positive class of each machine and its other class, or `None` for all others.
        machines: &'a [(usize, Option<usize>)],
        /// Probabilities, one for each class, row after row; empty where nobody asked.
        probabilities: &'a [f64],
    },
    /// Rows with numbers.
    Numbers {
        /// The number of each row.
        truth: &'a [f64],
        /// The predicted number of each row.
        predicted: &'a [f64],
    },
}

/// A score that somebody else defines: larger is better.
pub type OwnScore = Arc<dyn Fn(&HeldOut<'_>) -> Option<f64> + Send + Sync>;

/// What a search makes as good as it can. Scores of a fold are averaged over the folds.
#[derive(Clone)]
#[non_exhaustive]
pub enum Metric {
    /// The share of rows predicted rightly, (ME.1).
    Accuracy,
    /// The mean recall of the classes, (ME.4).
    BalancedAccuracy,
    /// The mean F1 of the classes, (ME.3); a class that neither has rows nor is said does not count.
    F1,
    /// The area under the curve, the mean over the machines, (ME.5).
    Auc,
    /// What the probabilities of the true classes cost, (ME.6); less is better.
    LogLoss,
    /// The mean squared error, (ME.2); less is better.
    MeanSquaredError,
    /// The mean absolute error, (ME.2); less is better.
    MeanAbsoluteError,
    /// R², (ME.2).
    RSquared,
    /// A score by its name.
    Own(&'static str, OwnScore),
}

impl fmt::Debug for Metric {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(self.name())
    }
}

impl PartialEq for Metric {
    fn eq(&self, other: &Self) -> bool {
        self.name() == other.name()
    }
}

impl Metric {
    /// All that have a name of ours.
    pub const ALL: [Metric; 8] = [
        Metric::Accuracy,
        Metric::BalancedAccuracy,
        Metric::F1,
        Metric::Auc,
        Metric::LogLoss,
        Metric::MeanSquaredError,
        Metric::MeanAbsoluteError,
        Metric::RSquared,
    ];

    /// The word for it.
    pub fn name(&self) -> &'static str {
        match self {
            Metric::Accuracy => "accuracy",
            Metric::BalancedAccuracy => "balanced-accuracy",
            Metric::F1 => "f1",
            Metric::Auc => "auc",
            Metric::LogLoss => "log-loss",
            Metric::MeanSquaredError => "mse",
            Metric::MeanAbsoluteError => "mae",
            Metric::RSquared => "r2",
            Metric::Own(name, _) => name,
        }
    }

    /// The metric of a name.
    pub fn from_name(name: &str) -> Option<Self> {
        Metric::ALL.into_iter().find(|metric| metric.name() == name)
    }

    /// The usual one: accuracy of classes, R² of numbers.
    pub fn usual(is_regression: bool) -> Self {
        if is_regression { Metric::RSquared } else { Metric::Accuracy }
    }

    /// Whether less is better.
    pub fn is_loss(&self) -> bool {
        matches!(self, Metric::LogLoss | Metric::MeanSquaredError | Metric::MeanAbsoluteError)
    }

    /// Whether it is known from what each row costs.
    pub(super) fn is_mean_over_rows(&self) -> bool {
        matches!(self, Metric::Accuracy | Metric::MeanSquaredError | Metric::MeanAbsoluteError | Metric::RSquared)
    }

    /// Whether it compares numbers.
    fn is_of_numbers(&self) -> bool {
        matches!(self, Metric::MeanSquaredError | Metric::MeanAbsoluteError | Metric::RSquared)
    }

    /// Checks that it goes with the answers.
    ///
    /// # Errors
    /// When it compares numbers and rows have classes, or the other way round.
    pub(super) fn check(&self, is_regression: bool) -> Result<(), Error> {
        if matches!(self, Metric::Own(..)) || self.is_of_numbers() == is_regression {
            return Ok(());
        }
        let (are, names) = if is_regression {
            ("numbers", "mse, mae or r2")
        } else {
            ("classes", "accuracy, balanced-accuracy, f1, auc or log-loss")
        };
        Err(Error::Combination {
            what: format!("the metric {} is not for {are}", self.name()),
            help: format!("choose {names}"),
        })
    }

    /// The score of some rows; `None` where it is not defined, as the area under the curve of rows of one class. A loss is told as it is.
    pub fn score(&self, rows: &HeldOut<'_>) -> Option<f64> {
        if let Metric::Own(_, own) = self {
            return own(rows).filter(|score| score.is_finite());
        }
        match *rows {
            HeldOut::Numbers { truth, predicted } => {
                let found = Residuals::new(truth, predicted.iter().copied())?;
                match self {
                    Metric::MeanSquaredError => Some(found.mean_squared_error),
                    Metric::MeanAbsoluteError => Some(found.mean_absolute_error),
                    _ => found.r_squared,
                }
            }
            HeldOut::Classes { truth, predicted, classes, values, machines, probabilities } => {
                let report = || ClassReport::new(truth, predicted, classes);
                match self {
                    Metric::BalancedAccuracy => Some(report()?.balanced_accuracy()),
                    Metric::F1 => {
                        let found: Vec<f64> = report()?.classes().iter().filter_map(|class| class.f1()).collect();
                        Some(found.iter().sum::<f64>() / found.len() as f64)
                    }
                    Metric::Auc => {
                        mean_area_under_curve(|row, machine| values[row * machines.len() + machine], truth, machines)
                    }
                    Metric::LogLoss => log_loss(probabilities, truth, classes),
                    _ => Some(report()?.accuracy()),
                }
            }
        }
    }

    /// What one row costs, where the score is a mean over rows or one less such a mean; `None` for other scores.
    pub(super) fn loss_of_row(&self, truth: RowTruth, predicted: f64) -> Option<f64> {
        match (self, truth) {
            (Metric::Accuracy, RowTruth::Class(class)) => Some(f64::from(u8::from(f64::from(class) != predicted))),
            (Metric::MeanSquaredError | Metric::RSquared, RowTruth::Number(number)) => {
                Some((number - predicted).powi(2))
            }
            (Metric::MeanAbsoluteError, RowTruth::Number(number)) => Some((number - predicted).abs()),
            _ => None,
        }
    }
}

/// What is true of a row.
#[derive(Clone, Copy, Debug)]
pub(super) enum RowTruth {
    Class(u32),
    Number(f64),
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn scores_are_those_of_the_measures() {
        let rows = HeldOut::Classes {
            truth: &[Some(0), Some(0), Some(0), Some(1)],
            predicted: &[0, 0, 1, 1],
            classes: 2,
            values: &[-2.0, -1.0, 0.5, 0.4],
            machines: &[(1, Some(0))],
            probabilities: &[0.5; 8],
        };
        let score = |metric: Metric| metric.score(&rows).unwrap();
        assert_eq!(score(Metric::Accuracy), 0.75);
        assert!((score(Metric::BalancedAccuracy) - (2.0 / 3.0 + 1.0) / 2.0).abs() < 1e-15);
        assert!((score(Metric::F1) - (0.8 + 2.0 / 3.0) / 2.0).abs() < 1e-15);
        assert!((score(Metric::Auc) - 2.0 / 3.0).abs() < 1e-15);
        assert!((score(Metric::LogLoss) - 2f64.ln()).abs() < 1e-15);
        let own: OwnScore = Arc::new(|rows| match rows {
            HeldOut::Classes { predicted, .. } => Some(predicted.len() as f64),
            HeldOut::Numbers { .. } => None,
        });
        assert_eq!(score(Metric::Own("count", own)), 4.0);
        let rows = HeldOut::Numbers { truth: &[1.0, 3.0], predicted: &[1.0, 2.0] };
        assert_eq!(Metric::MeanSquaredError.score(&rows), Some(0.5));
        assert_eq!((Metric::MeanAbsoluteError.score(&rows), Metric::RSquared.score(&rows)), (Some(0.5), Some(0.5)));
    }

    #[test]
    fn a_metric_of_numbers_is_not_for_classes() {
        assert!(Metric::RSquared.check(false).is_err() && Metric::Auc.check(true).is_err());
        let names = Metric::ALL.map(|metric| Metric::from_name(metric.name()));
        assert!(names.iter().zip(Metric::ALL).all(|(found, own)| found.as_ref() == Some(&own)));
    }
}
