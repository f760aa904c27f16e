//! What a model says of each of its points.

use maxmargin::{Control, Workers};

use crate::error::Error;
use crate::fit::Fitted;
use crate::grid::frame_values;
use crate::request::FrameRequest;

/// Slack up to this many tolerances is none: what the solver was not asked to find out.
const SLACK_A_TOLERANCE: f64 = 10.0;

/// The kind of a point, as its ring shows it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub(crate) enum Kind {
    /// α = 0.
    NotSupport = 0,
    /// α ≠ 0, and no slack.
    OnMargin = 1,
    /// α ≠ 0 and 0 < slack ≤ 1.
    Inside = 2,
    /// α ≠ 0 and slack > 1.
    Misclassified = 3,
}

/// The numbers of all points, each list in their order.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct RowNumbers {
    /// α.
    pub(crate) alpha: Vec<f64>,
    /// f, of a model of two classes.
    pub(crate) f: Vec<f64>,
    /// ξ = max(0, 1 − y f), of a model of two classes.
    pub(crate) slack: Vec<f64>,
    /// The kind.
    pub(crate) kind: Vec<u8>,
    /// The predicted class, as a place among the model's labels.
    pub(crate) predicted: Vec<u8>,
    /// 1 for the points that the model puts into another class than theirs.
    pub(crate) wrong: Vec<u8>,
}

/// The numbers of all points of a fit.
pub(crate) fn numbers(fitted: &Fitted, workers: &Workers) -> Result<RowNumbers, Error> {
    let predictions = fitted.model.predict(&fitted.data, workers)?;
    let coefficients = fitted.coefficients();
    let predicted = predictions.codes().iter().map(|&code| code as u8).collect();
    let truth = fitted.model.codes(&fitted.data);
    let wrong = truth.iter().zip(predictions.codes()).map(|(truth, code)| u8::from(*truth != Some(*code))).collect();
    let alpha: Vec<f64> = coefficients.iter().map(|coefficient| coefficient.abs()).collect();
    if fitted.only_machine().is_none() {
        let kind =
            alpha.iter().map(|&alpha| if alpha != 0.0 { Kind::OnMargin } else { Kind::NotSupport } as u8).collect();
        return Ok(RowNumbers { alpha, f: Vec::new(), slack: Vec::new(), kind, predicted, wrong });
    }
    let f: Vec<f64> = (0..fitted.data.rows()).map(|row| predictions.decision_values(row)[0]).collect();
    let (slack, kind) = slack_and_kind(fitted, &alpha, &f);
    Ok(RowNumbers { alpha, f, slack, kind, predicted, wrong })
}

/// The numbers of all points at an earlier step: α is the size of the step's coefficient, and f the step's decision function.
pub(crate) fn of_frame(fitted: &Fitted, frame: &FrameRequest, control: &mut dyn Control) -> Result<RowNumbers, Error> {
    let f = frame_values(fitted, frame, fitted.data.matrix(), control)?;
    let mut alpha = vec![0.0; f.len()];
    frame.coefficients.iter().for_each(|&(row, coefficient)| alpha[row] = coefficient.abs());
    let predicted: Vec<u8> = f.iter().map(|&value| u8::from(value > 0.0)).collect();
    let truth = fitted.model.codes(&fitted.data);
    let wrong = truth.iter().zip(&predicted).map(|(truth, &code)| u8::from(*truth != Some(code.into()))).collect();
    let (slack, kind) = slack_and_kind(fitted, &alpha, &f);
    Ok(RowNumbers { alpha, f, slack, kind, predicted, wrong })
}

/// The slack of each point and its kind, of two classes.
fn slack_and_kind(fitted: &Fitted, alpha: &[f64], f: &[f64]) -> (Vec<f64>, Vec<u8>) {
    let slack: Vec<f64> = f.iter().zip(fitted.signs()).map(|(f, sign)| (1.0 - sign * f).max(0.0)).collect();
    let least = SLACK_A_TOLERANCE * fitted.model.provenance().tolerance;
    let kind = alpha.iter().zip(&slack).map(|(&alpha, &slack)| kind(alpha, slack, least) as u8).collect();
    (slack, kind)
}

/// The kind of a point by its α and its slack.
fn kind(alpha: f64, slack: f64, least: f64) -> Kind {
    match slack {
        _ if alpha == 0.0 => Kind::NotSupport,
        slack if slack > 1.0 => Kind::Misclassified,
        slack if slack > least => Kind::Inside,
        _ => Kind::OnMargin,
    }
}
