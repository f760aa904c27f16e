//! How good predictions are, in their phrases.

use super::general::g;

/// Sums over the rows.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Scores {
    rows: usize,
    right: usize,
    squares: f64,
    /// Σ of the prediction, the target, their squares and their product.
    sums: [f64; 5],
}

impl Scores {
    pub(super) fn add(&mut self, target: f64, predicted: f64) {
        self.rows += 1;
        self.right += usize::from(target == predicted);
        self.squares += (predicted - target) * (predicted - target);
        let terms = [predicted, target, predicted * predicted, target * target, predicted * target];
        self.sums.iter_mut().zip(terms).for_each(|(sum, term)| *sum += term);
    }

    /// The share that is right, in percent.
    pub(super) fn rate(&self) -> f64 {
        self.right as f64 / self.rows as f64 * 100.0
    }

    /// The mean of the squared errors.
    pub(super) fn squared_error(&self) -> f64 {
        self.squares / self.rows as f64
    }

    fn correlation(&self) -> f64 {
        let (rows, [p, t, pp, tt, pt]) = (self.rows as f64, self.sums);
        let product = rows * pt - p * t;
        product * product / ((rows * pp - p * p) * (rows * tt - t * t))
    }

    /// What a prediction program says at its end.
    pub(super) fn of_prediction(&self, regression: bool, suffix: &str) -> String {
        if regression {
            format!(
                "Mean squared error = {} (regression)\nSquared correlation coefficient = {} (regression)\n",
                g(self.squared_error()),
                g(self.correlation())
            )
        } else {
            format!("Accuracy = {}% ({}/{}){suffix}\n", g(self.rate()), self.right, self.rows)
        }
    }

    /// What a training program says of its folds.
    pub(super) fn of_folds(&self, regression: bool) -> String {
        if regression {
            format!(
                "Cross Validation Mean squared error = {}\nCross Validation Squared correlation coefficient = {}\n",
                g(self.squared_error()),
                g(self.correlation())
            )
        } else {
            format!("Cross Validation Accuracy = {}%\n", g(self.rate()))
        }
    }
}
