//! How well predictions meet the truth.

mod classes;

use crate::data::{Label, Labels};
use crate::error::Error;

pub use classes::{ClassReport, ClassScore, MOST_PAIRED_CLASSES, area_under_curve, log_loss, mean_area_under_curve};

/// The most classes that a [`Confusion`] counts.
pub const MOST_CLASSES: usize = 4096;

/// How many rows are predicted wrongly. Labels are compared, not class numbers, so the two columns may know different
/// classes.
///
/// # Errors
/// When the columns are not equally long.
///
/// # Examples
/// ```
/// use maxmargin::data::{Label, Labels};
/// use maxmargin::metrics::{accuracy, errors};
///
/// let truth = Labels::new(["a", "b", "a", "c"].map(Label::new));
/// let predicted = Labels::new(["a", "a", "a", "c"].map(Label::new));
/// assert_eq!(errors(&truth, &predicted)?, 1);
/// assert_eq!(accuracy(&truth, &predicted)?, 0.75);
/// # Ok::<(), maxmargin::Error>(())
/// ```
pub fn errors(truth: &Labels, predicted: &Labels) -> Result<usize, Error> {
    check_length(truth, predicted)?;
    let (_, places) = joined(truth, predicted);
    Ok(truth.codes().iter().zip(predicted.codes()).filter(|&(&a, &b)| a as usize != places[b as usize]).count())
}

/// How far predicted numbers lie from the true ones:
///
/// ```text
/// mse = mean of (f − t)²,   mae = mean of |f − t|,   R² = 1 − mse/variance of t                (ME.2)
/// ```
///
/// # Examples
/// ```
/// use maxmargin::metrics::Residuals;
///
/// let found = Residuals::new(&[1.0, 2.0, 3.0], [1.0, 2.0, 4.0]).unwrap();
/// assert_eq!(found.mean_absolute_error, 1.0 / 3.0);
/// assert_eq!(found.r_squared, Some(0.5));
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Residuals {
    /// How many rows were predicted.
    pub rows: usize,
    /// mse
    pub mean_squared_error: f64,
    /// mae
    pub mean_absolute_error: f64,
    /// R²; `None` where all true numbers are the same.
    pub r_squared: Option<f64>,
}

impl Residuals {
    /// Compares numbers, as many as are there on both sides; `None` when there are none.
    pub fn new(truth: &[f64], predicted: impl IntoIterator<Item = f64>) -> Option<Self> {
        let (mut rows, mut squares, mut sum) = (0, 0.0, 0.0);
        for (found, target) in predicted.into_iter().zip(truth) {
            let difference = found - target;
            rows += 1;
            squares += difference * difference;
            sum += difference.abs();
        }
        let count = rows as f64;
        let mean = truth[..rows].iter().sum::<f64>() / count;
        let spread: f64 = truth[..rows].iter().map(|target| (target - mean) * (target - mean)).sum();
        (rows > 0).then(|| Residuals {
            rows,
            mean_squared_error: squares / count,
            mean_absolute_error: sum / count,
            r_squared: (spread > 0.0).then(|| 1.0 - squares / spread), // (ME.2)
        })
    }
}

/// The share of rows that are predicted rightly:
///
/// ```text
/// accuracy = 1 − errors/rows                                            (ME.1)
/// ```
///
/// # Errors
/// When the columns are not equally long, or there are no rows.
pub fn accuracy(truth: &Labels, predicted: &Labels) -> Result<f64, Error> {
    let errors = errors(truth, predicted)?;
    if truth.is_empty() {
        return Err(Error::Data {
            what: "there are no rows to score".into(),
            help: "give at least one row with its label".into(),
        });
    }
    Ok((truth.len() - errors) as f64 / truth.len() as f64)
}

/// How often each class was taken for each other one.
///
/// # Examples
/// ```
/// use maxmargin::data::{Label, Labels};
/// use maxmargin::metrics::Confusion;
///
/// let truth = Labels::new(["no", "yes", "yes"].map(Label::new));
/// let predicted = Labels::new(["no", "yes", "no"].map(Label::new));
/// let confusion = Confusion::new(&truth, &predicted)?;
/// assert_eq!(confusion.row(0), [1, 0]); // "no" was always known
/// assert_eq!(confusion.row(1), [1, 1]); // "yes" was once taken for "no"
/// assert_eq!(confusion.recall(1), Some(0.5));
/// # Ok::<(), maxmargin::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Confusion {
    classes: Vec<Label>,
    counts: Vec<usize>,
}

impl Confusion {
    /// Counts the pairs of true and predicted label. The classes are those of the truth, and after them those that were only
    /// predicted.
    ///
    /// # Errors
    /// When the columns are not equally long, or there are more than [`MOST_CLASSES`] classes.
    pub fn new(truth: &Labels, predicted: &Labels) -> Result<Self, Error> {
        check_length(truth, predicted)?;
        let (classes, places) = joined(truth, predicted);
        if classes.len() > MOST_CLASSES {
            return Err(Error::Data {
                what: format!("{} classes are too many for a confusion matrix of {MOST_CLASSES}", classes.len()),
                help: "count the errors only, or check that the label column is not a measured number".into(),
            });
        }
        let mut counts = vec![0; classes.len() * classes.len()];
        for (&a, &b) in truth.codes().iter().zip(predicted.codes()) {
            counts[a as usize * classes.len() + places[b as usize]] += 1;
        }
        Ok(Confusion { classes, counts })
    }

    /// The classes, in the order of rows and columns.
    pub fn classes(&self) -> &[Label] {
        &self.classes
    }

    /// How often rows of class `truth` were predicted as each class.
    ///
    /// # Panics
    /// When the class is out of range, here and in the methods below.
    pub fn row(&self, truth: usize) -> &[usize] {
        let count = self.classes.len();
        &self.counts[truth * count..(truth + 1) * count]
    }

    /// How often rows of class `truth` were predicted as class `predicted`.
    pub fn count(&self, truth: usize, predicted: usize) -> usize {
        self.row(truth)[predicted]
    }

    /// How many rows were counted.
    pub fn rows(&self) -> usize {
        self.counts.iter().sum()
    }

    /// How many rows are predicted wrongly: all that is not on the diagonal.
    pub fn errors(&self) -> usize {
        self.rows() - (0..self.classes.len()).map(|class| self.count(class, class)).sum::<usize>()
    }

    /// The share of a class's rows that are predicted rightly; `None` when it has no rows.
    pub fn recall(&self, class: usize) -> Option<f64> {
        share(self.count(class, class), self.row(class).iter().sum())
    }

    /// The share of the predictions of a class that are right; `None` when it was never predicted.
    pub fn precision(&self, class: usize) -> Option<f64> {
        share(self.count(class, class), (0..self.classes.len()).map(|truth| self.count(truth, class)).sum())
    }
}

fn share(part: usize, whole: usize) -> Option<f64> {
    (whole > 0).then(|| part as f64 / whole as f64)
}

/// The classes of both columns, those of the truth first, and the place among them of each predicted class.
fn joined(truth: &Labels, predicted: &Labels) -> (Vec<Label>, Vec<usize>) {
    let known = truth.classes().len();
    let both = Labels::new(truth.classes().iter().chain(predicted.classes()).cloned());
    let mut place = vec![None; both.classes().len()];
    (0..known).for_each(|class| place[both.codes()[class] as usize] = Some(class));
    let mut classes = truth.classes().to_vec();
    let places = both.codes()[known..]
        .iter()
        .zip(predicted.classes())
        .map(|(&code, label)| {
            *place[code as usize].get_or_insert_with(|| {
                classes.push(label.clone());
                classes.len() - 1
            })
        })
        .collect();
    (classes, places)
}

fn check_length(truth: &Labels, predicted: &Labels) -> Result<(), Error> {
    if truth.len() == predicted.len() {
        return Ok(());
    }
    Err(Error::Shape {
        operation: "scoring",
        left: format!("{} labels", truth.len()),
        right: format!("{} predictions", predicted.len()),
    })
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn labels(texts: &[&str]) -> Labels {
        Labels::new(texts.iter().map(|&text| Label::new(text)))
    }

    #[test]
    fn labels_are_compared_and_not_class_numbers() {
        // "b" is class 1 of the truth and class 0 of the predictions.
        let (truth, predicted) = (labels(&["a", "b", "+1"]), labels(&["b", "b", "1.0"]));
        assert_eq!(errors(&truth, &predicted).unwrap(), 1);
        let confusion = Confusion::new(&truth, &predicted).unwrap();
        assert_eq!(confusion.classes(), truth.classes());
        assert_eq!((confusion.rows(), confusion.errors(), confusion.count(1, 2)), (3, 1, 1));
    }

    #[test]
    fn a_class_that_was_only_predicted_comes_last() {
        let confusion = Confusion::new(&labels(&["b", "c"]), &labels(&["a", "c"])).unwrap();
        assert_eq!(confusion.classes().iter().map(Label::text).collect::<Vec<_>>(), ["b", "c", "a"]);
        assert_eq!(confusion.row(0), [0, 0, 1]);
        assert_eq!((confusion.recall(0), confusion.recall(1), confusion.recall(2)), (Some(0.0), Some(1.0), None));
        assert_eq!(confusion.precision(0), None);
        assert_eq!(confusion.precision(2), Some(0.0));
    }

    #[test]
    fn no_rows_and_unequal_columns_are_told_apart() {
        let (none, one) = (labels(&[]), labels(&["a"]));
        assert_eq!(errors(&none, &none).unwrap(), 0);
        assert_eq!(accuracy(&none, &none).unwrap_err().to_string(), "there are no rows to score");
        assert_eq!(Confusion::new(&none, &none).unwrap().errors(), 0);
        let error = errors(&one, &none).unwrap_err();
        assert_eq!(error.to_string(), "scoring: 1 labels does not fit 0 predictions");
        assert_eq!(accuracy(&one, &one).unwrap(), 1.0);
    }

    #[test]
    fn too_many_classes_are_refused_before_they_are_counted() {
        let many = Labels::new((0..=MOST_CLASSES).map(|number| Label::new(number.to_string())));
        let error = Confusion::new(&many, &many).unwrap_err();
        assert_eq!(error.to_string(), "4097 classes are too many for a confusion matrix of 4096");
        assert_eq!(errors(&many, &many).unwrap(), 0);
    }

    proptest! {
        #[test]
        fn the_matrix_and_the_counts_agree(pairs in prop::collection::vec((0u8..4, 0u8..5), 1..60)) {
            let truth = Labels::new(pairs.iter().map(|pair| Label::new(pair.0.to_string())));
            let predicted = Labels::new(pairs.iter().map(|pair| Label::new(pair.1.to_string())));
            let wrong = pairs.iter().filter(|pair| pair.0 != pair.1).count();
            let confusion = Confusion::new(&truth, &predicted).unwrap();
            prop_assert_eq!((confusion.errors(), confusion.rows()), (wrong, pairs.len()));
            prop_assert_eq!(errors(&truth, &predicted).unwrap(), wrong);
            let expected = 1.0 - wrong as f64 / pairs.len() as f64;
            prop_assert!((accuracy(&truth, &predicted).unwrap() - expected).abs() < 1e-15);
        }
    }
}
