//! How well rows are predicted.

use serde::Serialize;

use crate::metrics::Residuals;

/// How well rows are predicted: labels, or numbers.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
#[serde(untagged)]
pub enum ScoreView {
    /// Rows with labels.
    Classes {
        /// How many rows.
        rows: usize,
        /// How many of them are predicted wrongly.
        errors: usize,
        /// The share that is predicted rightly.
        accuracy: f64,
    },
    /// Rows with numbers, (M.3).
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

impl From<Residuals> for ScoreView {
    fn from(found: Residuals) -> Self {
        let Residuals { rows, mean_squared_error, mean_absolute_error, r_squared } = found;
        ScoreView::Numbers { rows, mean_squared_error, mean_absolute_error, r_squared }
    }
}
