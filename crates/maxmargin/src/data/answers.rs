//! What is known of the rows beside their columns: the class of each, a number for each, or nothing.

use std::borrow::Cow;

use super::Labels;
use crate::error::Error;

/// What a model is to learn to say of each row.
///
/// # Examples
/// ```
/// use maxmargin::data::{Answers, Dataset, Label, Labels, Matrix};
///
/// let matrix = Matrix::dense(2, 1, vec![0.5, 2.0])?;
/// let classes = Dataset::new(matrix.clone(), Labels::new(["no", "yes"].map(Label::new)))?;
/// let numbers = Dataset::new(matrix.clone(), vec![0.25, 0.75])?;
/// assert_eq!(classes.labels()?.codes(), [0, 1]);
/// assert_eq!(*numbers.numbers()?, [0.25, 0.75]);
/// assert_eq!(Dataset::unlabelled(matrix).answers(), &Answers::None);
/// # Ok::<(), maxmargin::Error>(())
/// ```
#[derive(Clone, Debug, Default, PartialEq)]
pub enum Answers {
    /// A label for each row: to tell classes apart.
    Classes(Labels),
    /// A finite number for each row: the targets of a regression.
    Numbers(Vec<f64>),
    /// Nothing: to find what is usual, or to predict.
    #[default]
    None,
}

/// Which [`Answers`] some data has, or is asked for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum AnswerKind {
    /// A label for each row.
    #[default]
    Classes,
    /// A number for each row.
    Numbers,
    /// Nothing.
    None,
}

impl Answers {
    /// Which answers these are.
    pub fn kind(&self) -> AnswerKind {
        match self {
            Answers::Classes(_) => AnswerKind::Classes,
            Answers::Numbers(_) => AnswerKind::Numbers,
            Answers::None => AnswerKind::None,
        }
    }

    /// The labels, where the answers are classes.
    pub fn labels(&self) -> Option<&Labels> {
        match self {
            Answers::Classes(labels) => Some(labels),
            Answers::Numbers(_) | Answers::None => None,
        }
    }

    /// The numbers, where the answers are such.
    pub fn numbers(&self) -> Option<&[f64]> {
        match self {
            Answers::Numbers(numbers) => Some(numbers),
            Answers::Classes(_) | Answers::None => None,
        }
    }

    /// The answer of a row in words: its label as it was written, or its number in the fewest digits that read back as it.
    ///
    /// # Panics
    /// When the row is out of range.
    pub fn text(&self, row: usize) -> Option<Cow<'_, str>> {
        match self {
            Answers::Classes(labels) => Some(labels.get(row).text().into()),
            Answers::Numbers(numbers) => Some(numbers[row].to_string().into()),
            Answers::None => None,
        }
    }

    /// Whether nothing is known of the rows.
    pub fn is_none(&self) -> bool {
        matches!(self, Answers::None)
    }

    /// The answers of the chosen rows; classes that no chosen row has are dropped.
    ///
    /// # Panics
    /// When a row is out of range.
    pub fn select(&self, rows: &[usize]) -> Self {
        match self {
            Answers::Classes(labels) => Answers::Classes(labels.select(rows)),
            Answers::Numbers(numbers) => Answers::Numbers(rows.iter().map(|&row| numbers[row]).collect()),
            Answers::None => Answers::None,
        }
    }

    /// Checks that there is an answer for each of `rows` rows, or none at all, and that numbers are finite.
    pub(super) fn check(&self, rows: usize) -> Result<(), Error> {
        let (count, what) = match self {
            Answers::Classes(labels) => (labels.len(), "labels"),
            Answers::Numbers(numbers) => (numbers.len(), "targets"),
            Answers::None => return Ok(()),
        };
        super::dataset::same_length(what, count, rows)?;
        match self
            .numbers()
            .and_then(|numbers| numbers.iter().position(|number| !number.is_finite()).map(|row| (row, numbers[row])))
        {
            None => Ok(()),
            Some((row, number)) => Err(Error::Data {
                what: format!("the target of row {} is {number}", row + 1),
                help: "leave the row out, or give it a finite number".into(),
            }),
        }
    }
}

impl From<Labels> for Answers {
    fn from(labels: Labels) -> Self {
        Answers::Classes(labels)
    }
}

impl From<Vec<f64>> for Answers {
    fn from(numbers: Vec<f64>) -> Self {
        Answers::Numbers(numbers)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::{Dataset, Label, Matrix};

    fn rows(count: usize) -> Matrix {
        Matrix::dense(count, 1, (0..count).map(|row| row as f64).collect::<Vec<_>>()).unwrap()
    }

    fn labels(texts: &[&str]) -> Labels {
        Labels::new(texts.iter().map(|&text| Label::new(text)))
    }

    #[test]
    fn each_kind_of_answer_is_there_for_those_who_need_it_and_refused_to_others() {
        let classes = Dataset::new(rows(2), labels(&["a", "2"])).unwrap();
        let numbers = Dataset::new(rows(2), vec![1.0, 2.0]).unwrap();
        let nothing = Dataset::unlabelled(rows(2));
        assert_eq!(classes.labels().unwrap().len(), 2);
        assert_eq!(*numbers.numbers().unwrap(), [1.0, 2.0]);
        let faults = [
            classes.numbers().unwrap_err(),
            numbers.labels().unwrap_err(),
            nothing.numbers().unwrap_err(),
            nothing.labels().unwrap_err(),
        ]
        .map(|error| error.to_string());
        assert_eq!(
            faults,
            [
                "the label \"a\" of row 1 is not a number",
                "the data has a number for each row, not a label",
                "the data has no number for each row",
                "the data has no labels",
            ]
        );
    }

    #[test]
    fn labels_that_spell_numbers_serve_as_numbers() {
        let data = Dataset::new(rows(3), labels(&["1.5", "+1", "15e-1"])).unwrap();
        assert_eq!(*data.numbers().unwrap(), [1.5, 1.0, 1.5]);
    }

    #[test]
    fn answers_are_as_many_as_rows_and_numbers_are_finite() {
        let error = Dataset::new(rows(2), vec![1.0]).unwrap_err();
        assert_eq!(error.to_string(), "data set: 1 targets does not fit 2 expected");
        let error = Dataset::new(rows(2), vec![1.0, f64::NAN]).unwrap_err();
        assert_eq!(error.to_string(), "the target of row 2 is NaN");
        assert!(Dataset::new(rows(2), labels(&["a"])).is_err());
    }

    #[test]
    fn chosen_rows_keep_their_answers() {
        let numbers = Dataset::new(rows(3), vec![1.0, 2.0, 3.0]).unwrap();
        assert_eq!(numbers.select_rows(&[2, 0]).answers(), &Answers::Numbers(vec![3.0, 1.0]));
        let classes = Dataset::new(rows(3), labels(&["a", "b", "c"])).unwrap();
        assert_eq!(classes.select_rows(&[2, 0]).answers(), &Answers::Classes(labels(&["c", "a"])));
        assert!(Dataset::unlabelled(rows(3)).select_rows(&[1]).answers().is_none());
    }
}
