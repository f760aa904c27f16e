//! A matrix, an answer and a weight for each row, and a name for each column.

use std::borrow::Cow;

use super::{AnswerKind, Answers, Label, Labels, Matrix};
use crate::error::{Error, listed, quoted};

/// Data to train on or to predict: rows with [`Answers`], weights and group numbers, columns with names.
///
/// # Examples
/// ```
/// use maxmargin::data::{Dataset, Label, Labels, Matrix};
///
/// let matrix = Matrix::dense(2, 1, vec![0.5, 2.0])?;
/// let data = Dataset::new(matrix, Labels::new(["no", "yes"].map(Label::new)))?;
/// assert_eq!((data.rows(), data.columns()), (2, 1));
/// # Ok::<(), maxmargin::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct Dataset {
    matrix: Matrix,
    answers: Answers,
    weights: Option<Vec<f64>>,
    groups: Option<Vec<i64>>,
    names: Option<Vec<String>>,
    open_columns: bool,
}

impl Dataset {
    /// Joins a matrix and what is known of its rows: [`Labels`], numbers, or [`Answers`] of any kind.
    ///
    /// # Errors
    /// When there is not one answer a row, or a number is not finite.
    pub fn new(matrix: Matrix, answers: impl Into<Answers>) -> Result<Self, Error> {
        Dataset::unlabelled(matrix).with_answers(answers)
    }

    /// Rows of which nothing is known but their columns.
    pub fn unlabelled(matrix: Matrix) -> Self {
        Dataset { matrix, answers: Answers::None, weights: None, groups: None, names: None, open_columns: false }
    }

    /// Gives each row a weight: weight 2 means the row counts as two copies, 0 that it is absent.
    ///
    /// # Errors
    /// When there is not one weight a row, or one is negative or not finite.
    pub fn with_weights(mut self, weights: Vec<f64>) -> Result<Self, Error> {
        same_length("weights", weights.len(), self.rows())?;
        if let Some(row) = weights.iter().position(|&weight| !(weight >= 0.0 && weight.is_finite())) {
            return Err(Error::Data {
                what: format!("the weight of row {} is {}", row + 1, weights[row]),
                help: "give each row a weight of 0 or more".into(),
            });
        }
        self.weights = Some(weights);
        Ok(self)
    }

    /// Gives each row a group number (`qid` of ranking data). It is kept, not used.
    ///
    /// # Errors
    /// When there is not one number a row.
    pub fn with_groups(mut self, groups: Vec<i64>) -> Result<Self, Error> {
        same_length("group numbers", groups.len(), self.rows())?;
        self.groups = Some(groups);
        Ok(self)
    }

    /// Names the columns.
    ///
    /// # Errors
    /// When there is not one name a column, or a name occurs twice.
    pub fn with_names(mut self, names: Vec<String>) -> Result<Self, Error> {
        same_length("column names", names.len(), self.columns())?;
        let mut sorted: Vec<&String> = names.iter().collect();
        sorted.sort();
        if let Some(pair) = sorted.windows(2).find(|pair| pair[0] == pair[1]) {
            return Err(Error::Data {
                what: format!("two columns are named {}", quoted(pair[0])),
                help: "rename one of them".into(),
            });
        }
        self.names = Some(names);
        Ok(self)
    }

    /// Says that the source leaves zeros out, so that its last columns may be missing here (LIBSVM text).
    pub fn with_open_columns(mut self) -> Self {
        self.open_columns = true;
        self
    }

    /// Gives the rows other answers.
    ///
    /// # Errors
    /// When there is not one answer a row, or a number is not finite.
    pub fn with_answers(mut self, answers: impl Into<Answers>) -> Result<Self, Error> {
        let answers = answers.into();
        answers.check(self.rows())?;
        self.answers = answers;
        Ok(self)
    }

    /// The rows as a matrix.
    pub fn matrix(&self) -> &Matrix {
        &self.matrix
    }

    /// Gives the rows answers of this kind: labels that spell numbers become these, and no answers are made up.
    ///
    /// # Errors
    /// When the data has no such answers.
    pub fn with_answers_of(self, kind: AnswerKind) -> Result<Self, Error> {
        let answers = match kind {
            AnswerKind::Classes => self.labels().map(|_| None)?,
            AnswerKind::Numbers => match self.numbers()? {
                Cow::Owned(numbers) => Some(Answers::Numbers(numbers)),
                Cow::Borrowed(_) => None,
            },
            AnswerKind::None => Some(Answers::None),
        };
        Ok(match answers {
            Some(answers) => Dataset { answers, ..self },
            None => self,
        })
    }

    /// What is known of each row.
    pub fn answers(&self) -> &Answers {
        &self.answers
    }

    /// The label of each row.
    ///
    /// # Errors
    /// When the answers are numbers, or there are none.
    pub fn labels(&self) -> Result<&Labels, Error> {
        match &self.answers {
            Answers::Classes(labels) => Ok(labels),
            Answers::Numbers(_) => Err(Error::Data {
                what: "the data has a number for each row, not a label".into(),
                help: "give labels, or choose task regression".into(),
            }),
            Answers::None => Err(Error::Data {
                what: "the data has no labels".into(),
                help: "give a label for each row, or choose task one-class".into(),
            }),
        }
    }

    /// The number of each row: its target, or the number that its label spells.
    ///
    /// # Errors
    /// When a label spells none, or there are no answers.
    pub fn numbers(&self) -> Result<Cow<'_, [f64]>, Error> {
        match &self.answers {
            Answers::Numbers(numbers) => Ok(Cow::Borrowed(numbers)),
            Answers::Classes(labels) => labels.numbers().map(Cow::Owned).map_err(|row| Error::Data {
                what: format!("the label {} of row {} is not a number", quoted(labels.get(row).text()), row + 1),
                help:
                    "regression needs a number for each row: name another label column, or choose task classification"
                        .into(),
            }),
            Answers::None => Err(Error::Data {
                what: "the data has no number for each row".into(),
                help: "give the number that each row is to get, or choose task one-class".into(),
            }),
        }
    }

    /// The weight of each row, where given.
    pub fn weights(&self) -> Option<&[f64]> {
        self.weights.as_deref()
    }

    /// The group number of each row, where given.
    pub fn groups(&self) -> Option<&[i64]> {
        self.groups.as_deref()
    }

    /// The columns' names, where the data has them.
    pub fn names(&self) -> Option<&[String]> {
        self.names.as_deref()
    }

    /// The name of a column: its own, or its number counted from 1.
    pub fn name(&self, column: usize) -> String {
        self.names.as_ref().map_or_else(|| (column + 1).to_string(), |names| names[column].clone())
    }

    /// Whether columns of zeros may be missing at the end.
    pub fn has_open_columns(&self) -> bool {
        self.open_columns
    }

    /// The number of rows.
    pub fn rows(&self) -> usize {
        self.matrix.rows()
    }

    /// The number of columns.
    pub fn columns(&self) -> usize {
        self.matrix.columns()
    }

    /// The chosen rows, in the order given.
    ///
    /// # Panics
    /// When a row is out of range.
    pub fn select_rows(&self, rows: &[usize]) -> Self {
        Dataset {
            matrix: self.matrix.select_rows(rows),
            answers: self.answers.select(rows),
            weights: self.weights.as_ref().map(|weights| rows.iter().map(|&row| weights[row]).collect()),
            groups: self.groups.as_ref().map(|groups| rows.iter().map(|&row| groups[row]).collect()),
            names: self.names.clone(),
            open_columns: self.open_columns,
        }
    }

    /// The columns called `names` (or numbered so, counted from 1, where the data has no names), in that order.
    ///
    /// # Errors
    /// When a name is unknown or given twice.
    pub fn select_columns(&self, names: &[String]) -> Result<Self, Error> {
        let places = names.iter().map(|name| self.find_column(name)).collect::<Result<Vec<_>, _>>()?;
        let columns: Vec<Option<usize>> = places.into_iter().map(Some).collect();
        let matrix = self.matrix.select_columns(&columns);
        Dataset { matrix, names: None, open_columns: false, ..self.clone() }.with_names(names.to_vec())
    }

    /// The rows in these columns alone (counted from 0, increasing, and holding all entries), called by their names or numbers.
    pub(crate) fn narrowed(&self, columns: &[u32]) -> Result<Self, Error> {
        let names = columns.iter().map(|&column| self.name(column as usize)).collect();
        let matrix = self.matrix.narrowed(columns);
        Dataset { matrix, names: None, open_columns: false, ..self.clone() }.with_names(names)
    }

    /// The same rows and names with the matrix replaced.
    ///
    /// # Errors
    /// When its shape is another.
    pub fn with_matrix(self, matrix: Matrix) -> Result<Self, Error> {
        same_length("rows", matrix.rows(), self.rows())?;
        same_length("columns", matrix.columns(), self.columns())?;
        Ok(Dataset { matrix, ..self })
    }

    /// The place of a column, by its name or, where the data has no names, its number counted from 1.
    ///
    /// # Errors
    /// When there is none; the message lists some that there are.
    pub fn find_column(&self, name: &str) -> Result<usize, Error> {
        let place = match &self.names {
            Some(names) => names.iter().position(|known| known == name),
            None => name.parse().ok().filter(|&number: &usize| (1..=self.columns()).contains(&number)).map(|n| n - 1),
        };
        place.ok_or_else(|| Error::Data {
            what: format!("there is no column {}", quoted(name)),
            help: match &self.names {
                Some(names) => format!("the columns are {}", listed(names.iter().map(|name| quoted(name)), 8)),
                None => format!("the columns are numbered 1 to {}", self.columns()),
            },
        })
    }

    /// The label written `text`, if some row has it.
    ///
    /// # Errors
    /// When the data has no labels, or no row has this one; the message lists some that there are.
    pub fn find_label(&self, text: &str) -> Result<Label, Error> {
        let (label, classes) = (Label::new(text), self.labels()?.classes());
        classes.iter().find(|&class| *class == label).cloned().ok_or_else(|| Error::Data {
            what: format!("no row has the label {}", quoted(text)),
            help: format!("the labels are {}", listed(classes.iter().map(|label| quoted(label.text())), 8)),
        })
    }
}

pub(super) fn same_length(what: &'static str, found: usize, expected: usize) -> Result<(), Error> {
    if found == expected {
        return Ok(());
    }
    Err(Error::Shape { operation: "data set", left: format!("{found} {what}"), right: format!("{expected} expected") })
}
