//! How well rows are predicted, in words.

use maxmargin::Model;
use maxmargin::data::{Dataset, Label};
use maxmargin::metrics::{ClassReport, Residuals};
use maxmargin::model::Predictions;
use maxmargin::view::{ScoreView, separation};

use super::{Page, counted, number, percent, share};
use crate::output::short_to;

/// Decision values that are kept at most to tell how well classes are told apart: 32 MB.
const MOST_KEPT: usize = 1 << 22;

/// Classes that are listed; of more the first.
const MOST_LISTED: usize = 20;

/// Letters of a class's name in a table.
const LETTERS: usize = 20;

/// How well a model predicts some rows.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Score {
    /// Rows of which the training counted the errors.
    Counted {
        rows: usize,
        errors: usize,
    },
    Classes(Box<Classes>),
    Numbers(Residuals),
}

/// How well classes are told apart.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Classes {
    report: ClassReport,
    labels: Vec<Label>,
    auc: Option<f64>,
    log_loss: Option<f64>,
}

/// Whether to keep the decision values of this number of rows, which some scores need.
pub(crate) fn wants_values(model: &Model, rows: usize) -> bool {
    rows.saturating_mul(model.machines().len()) <= MOST_KEPT
}

impl Score {
    /// Compares predictions with what the data says; `None` when the data has no answers of the model's kind. A label that the model does not
    /// know is never predicted rightly. `has_values` says whether the predictions have decision values.
    pub(crate) fn new(model: &Model, data: &Dataset, predictions: &Predictions, has_values: bool) -> Option<Self> {
        if model.task().is_regression() {
            let truth = data.numbers().ok()?;
            return Residuals::new(&truth, predictions.numbers()).map(Score::Numbers);
        }
        let truth = model.codes(data);
        let report = ClassReport::new(&truth, predictions.codes(), model.classes().len())?;
        let (auc, log_loss) = if has_values { separation(model, predictions, &truth) } else { (None, None) };
        Some(Score::Classes(Box::new(Classes { report, labels: model.classes().to_vec(), auc, log_loss })))
    }

    /// How many rows they are.
    pub(crate) fn rows(&self) -> usize {
        match self {
            Score::Counted { rows, .. } => *rows,
            Score::Classes(found) => found.report.rows(),
            Score::Numbers(found) => found.rows,
        }
    }

    /// Wrong labels; `None` for numbers.
    pub(crate) fn errors(&self) -> Option<usize> {
        match self {
            Score::Counted { errors, .. } => Some(*errors),
            Score::Classes(found) => Some(found.report.errors()),
            Score::Numbers(_) => None,
        }
    }

    /// The share of rows that are predicted rightly; `None` for numbers.
    pub(crate) fn accuracy(&self) -> Option<f64> {
        let rows = self.rows();
        self.errors().map(|errors| (rows - errors) as f64 / rows as f64)
    }

    /// One line.
    pub(crate) fn words(&self) -> String {
        let right = |rows: usize, errors: usize| {
            format!("{} right ({} of {})", percent(rows - errors, rows), rows - errors, counted(rows, "row"))
        };
        match self {
            Score::Counted { rows, errors } => right(*rows, *errors),
            Score::Classes(found) => {
                let (class, accuracy) = found.report.baseline();
                let most = short_to(found.labels[class].text(), LETTERS);
                let baseline = format!("; {} by always saying {most}", share(accuracy));
                right(found.report.rows(), found.report.errors()) + &baseline
            }
            Score::Numbers(found) => {
                let r_squared = found.r_squared.map_or_else(String::new, |part| format!(", R² {}", number(part, 4)));
                format!(
                    "mean squared error {}, mean absolute error {}{r_squared} ({})",
                    number(found.mean_squared_error, 5),
                    number(found.mean_absolute_error, 5),
                    counted(found.rows, "row")
                )
            }
        }
    }

    /// What there is to say of each class, below that line.
    pub(crate) fn details(&self, page: &mut Page) {
        if let Score::Classes(found) = self {
            found.details(page);
        }
    }

    pub(crate) fn view(&self) -> ScoreView<'_> {
        match self {
            Score::Counted { rows, errors } => ScoreView::counted(*rows, *errors),
            Score::Classes(found) => ScoreView::of_classes(&found.report, &found.labels, found.auc, found.log_loss),
            Score::Numbers(found) => (*found).into(),
        }
    }
}

impl Classes {
    fn details(&self, page: &mut Page) {
        let mut line = format!("balanced accuracy {}", share(self.report.balanced_accuracy()));
        if let Some(auc) = self.auc {
            line.push_str(&format!(", AUC {}", number(auc, 4)));
        }
        if let Some(loss) = self.log_loss {
            line.push_str(&format!(", log loss {}", number(loss, 4)));
        }
        page.line("", &line);
        let names: Vec<String> = self.labels.iter().map(|label| short_to(label.text(), LETTERS)).collect();
        let words = |texts: &[&str]| texts.iter().map(|text| (*text).to_string()).collect::<Vec<_>>();
        let mut rows = vec![words(&["class", "rows", "predicted", "precision", "recall", "F1"])];
        for (name, score) in names.iter().zip(self.report.classes()).take(MOST_LISTED) {
            let said = |value: Option<f64>| value.map_or_else(|| "-".into(), |value| format!("{value:.3}"));
            let counts = [score.rows.to_string(), score.predicted.to_string()];
            let shares = [said(score.precision()), said(score.recall()), said(score.f1())];
            rows.push(std::iter::once(name.clone()).chain(counts).chain(shares).collect());
        }
        page.text("");
        page.table(&rows);
        if names.len() > MOST_LISTED {
            return page.text(&format!("... and {} more (see --json)", counted(names.len() - MOST_LISTED, "class")));
        }
        let Some(confusion) = self.report.confusion() else { return };
        let mut rows = vec![std::iter::once("rows of, taken for".to_string()).chain(names.iter().cloned()).collect()];
        for (name, counts) in names.iter().zip(confusion) {
            rows.push(std::iter::once(name.clone()).chain(counts.iter().map(ToString::to_string)).collect());
        }
        page.text("");
        page.table(&rows);
    }
}
