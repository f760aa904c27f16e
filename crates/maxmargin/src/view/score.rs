//! How well rows are predicted.

use serde::Serialize;

use crate::data::{Dataset, Label};
use crate::metrics::{ClassReport, Residuals, log_loss, mean_area_under_curve};
use crate::model::{Model, Predictions};

/// How well one class is found, (ME.3).
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ClassScoreView<'a> {
    /// The class.
    pub label: &'a str,
    /// How many rows are of it.
    pub rows: usize,
    /// How many rows are said to be of it.
    pub predicted: usize,
    /// The share of these that are; `None` where none is said to be.
    pub precision: Option<f64>,
    /// The share of its rows that are found; `None` where it has none.
    pub recall: Option<f64>,
    /// The harmonic mean of the two.
    pub f1: Option<f64>,
}

/// What always saying the most frequent class is worth, (ME.4).
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct BaselineView<'a> {
    /// The most frequent class.
    pub label: &'a str,
    /// The share of rows that are of it.
    pub accuracy: f64,
}

/// How well rows are predicted: labels, or numbers.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(untagged)]
pub enum ScoreView<'a> {
    /// Rows that are counted, without saying which class is taken for which.
    Counted {
        /// How many rows.
        rows: usize,
        /// How many of them are predicted wrongly.
        errors: usize,
        /// The share that is predicted rightly.
        accuracy: f64,
    },
    /// Rows with labels.
    Classes {
        /// How many rows.
        rows: usize,
        /// How many of them are predicted wrongly.
        errors: usize,
        /// The share that is predicted rightly.
        accuracy: f64,
        /// The mean recall of the classes.
        balanced_accuracy: f64,
        /// What always saying the most frequent class is worth.
        baseline: BaselineView<'a>,
        /// The area under the curve, the mean over the machines; `None` where decision values are not known.
        auc: Option<f64>,
        /// What the probabilities of the true classes cost; `None` without probabilities.
        log_loss: Option<f64>,
        /// Rows with a label that the model does not know.
        unknown_labels: usize,
        /// Each class.
        classes: Vec<ClassScoreView<'a>>,
        /// How many rows of each class are said to be of each class; `None` where there are too many classes.
        confusion: Option<Vec<Vec<usize>>>,
    },
    /// Rows with numbers, (ME.2).
    Numbers {
        /// How many rows.
        rows: usize,
        /// mse
        mean_squared_error: f64,
        /// mae
        mean_absolute_error: f64,
        /// R²
        r_squared: Option<f64>,
    },
}

impl<'a> ScoreView<'a> {
    /// Rows of which only the errors were counted.
    pub fn counted(rows: usize, errors: usize) -> Self {
        ScoreView::Counted { rows, errors, accuracy: (rows - errors) as f64 / rows as f64 }
    }

    /// What a model's predictions are worth, beside what the data says; `None` when the data has no answers of the model's kind. `has_values`
    /// says whether the predictions have decision values.
    pub fn of_model(
        model: &'a Model,
        data: &Dataset,
        predictions: &Predictions,
        has_values: bool,
    ) -> Option<ScoreView<'a>> {
        if model.task().is_regression() {
            return Residuals::new(&data.numbers().ok()?, predictions.numbers()).map(ScoreView::from);
        }
        let truth = model.codes(data);
        let report = ClassReport::new(&truth, predictions.codes(), model.classes().len())?;
        let (auc, log_loss) = if has_values { separation(model, predictions, &truth) } else { (None, None) };
        Some(ScoreView::of_classes(&report, model.classes(), auc, log_loss))
    }

    /// Rows with labels, the classes by their labels.
    pub fn of_classes(report: &ClassReport, labels: &'a [Label], auc: Option<f64>, log_loss: Option<f64>) -> Self {
        let name = |class: usize| labels.get(class).map_or("", |label| label.text());
        let classes = report.classes().iter().enumerate().map(|(class, score)| ClassScoreView {
            label: name(class),
            rows: score.rows,
            predicted: score.predicted,
            precision: score.precision(),
            recall: score.recall(),
            f1: score.f1(),
        });
        let (most, accuracy) = report.baseline();
        ScoreView::Classes {
            rows: report.rows(),
            errors: report.errors(),
            accuracy: report.accuracy(),
            balanced_accuracy: report.balanced_accuracy(),
            baseline: BaselineView { label: name(most), accuracy },
            auc,
            log_loss,
            unknown_labels: report.unknown(),
            classes: classes.collect(),
            confusion: report.confusion().map(|rows| rows.map(<[usize]>::to_vec).collect()),
        }
    }
}

/// How well classes are told apart: by the decision values, the mean area under the curve, and by the probabilities, where the model has some,
/// the log loss. `truth` has the place of each row's class among the model's, and `None` for a class that it does not know.
pub fn separation(model: &Model, predictions: &Predictions, truth: &[Option<u32>]) -> (Option<f64>, Option<f64>) {
    let pairings = model.machines().iter().map(|machine| machine.pairing);
    let pairs: Vec<_> = pairings.map(|pairing| (pairing.positive, pairing.negative)).collect();
    let value = |row: usize, machine: usize| predictions.decision_values(row)[machine];
    let probabilities = if model.has_probabilities() { model.probabilities(predictions).ok() } else { None };
    let loss = probabilities.and_then(|all| log_loss(&all, truth, model.classes().len()));
    (mean_area_under_curve(value, truth, &pairs), loss)
}

impl From<Residuals> for ScoreView<'_> {
    fn from(found: Residuals) -> Self {
        let Residuals { rows, mean_squared_error, mean_absolute_error, r_squared } = found;
        ScoreView::Numbers { rows, mean_squared_error, mean_absolute_error, r_squared }
    }
}
