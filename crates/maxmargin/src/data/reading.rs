//! How data was read: kept with a model, so that the data it is asked about is read in this way, too.
//!
//! Plain values. Files are read elsewhere.

#[cfg(feature = "serde")]
use serde::{Deserialize, Serialize};

/// What becomes of a missing value.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(Serialize, Deserialize))]
#[cfg_attr(feature = "serde", serde(rename_all = "kebab-case"))]
pub enum Missing {
    /// It is an error.
    #[default]
    Error,
    /// Its row is left out.
    Drop,
    /// It becomes the mean of its column in the training data.
    Mean,
    /// It becomes the median of its column in the training data: of an even number of values the mean of the two in the middle.
    Median,
    /// It becomes 0.
    Zero,
}

impl Missing {
    /// All of them, by the names that users give.
    pub const ALL: [(&'static str, Missing); 5] = [
        ("error", Missing::Error),
        ("drop", Missing::Drop),
        ("mean", Missing::Mean),
        ("median", Missing::Median),
        ("zero", Missing::Zero),
    ];

    /// The name that users give.
    pub fn name(self) -> &'static str {
        Missing::ALL.iter().find(|(_, missing)| *missing == self).map_or("error", |(name, _)| name)
    }

    /// Whether what it needs is known only when all rows have been seen.
    pub fn is_learnt(self) -> bool {
        matches!(self, Missing::Mean | Missing::Median)
    }
}

/// A column of a table as it is in the file.
#[derive(Clone, Debug, Default, PartialEq)]
#[cfg_attr(feature = "serde", derive(Serialize, Deserialize))]
pub struct RawColumn {
    /// Its name, where the table has names.
    #[cfg_attr(feature = "serde", serde(default, skip_serializing_if = "Option::is_none"))]
    pub name: Option<String>,
    /// Its place in the table, counted from 0.
    pub place: usize,
}

/// What becomes of a column of a table.
#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(Serialize, Deserialize))]
pub struct ColumnRecipe {
    /// The column.
    #[cfg_attr(feature = "serde", serde(flatten))]
    pub column: RawColumn,
    /// One column is made for each of these values, in this order; `None` for a column of numbers.
    #[cfg_attr(feature = "serde", serde(default, skip_serializing_if = "Option::is_none"))]
    pub categories: Option<Vec<String>>,
    /// What a missing number becomes, where it was learnt.
    #[cfg_attr(feature = "serde", serde(default, skip_serializing_if = "Option::is_none"))]
    pub fill: Option<f64>,
}

/// How the columns of a table become numbers: learnt from the training data, and applied to every other table.
#[derive(Clone, Debug, Default, PartialEq)]
#[cfg_attr(feature = "serde", derive(Serialize, Deserialize))]
pub struct TableRecipe {
    /// How many columns the table had, the label among them.
    pub width: usize,
    /// The label column. Without one, the last column is the label unless it is needed otherwise.
    #[cfg_attr(feature = "serde", serde(default, skip_serializing_if = "Option::is_none"))]
    pub label: Option<RawColumn>,
    /// The columns that are used, in their order. None are listed where all but the label are plain numbers without names.
    #[cfg_attr(feature = "serde", serde(default, skip_serializing_if = "Vec::is_empty"))]
    pub columns: Vec<ColumnRecipe>,
    /// What becomes of missing values.
    #[cfg_attr(feature = "serde", serde(default))]
    pub missing: Missing,
}

impl TableRecipe {
    /// The recipe of `columns` plain numbers, found by their places.
    pub fn of_places(columns: usize) -> Self {
        TableRecipe { width: columns, ..TableRecipe::default() }
    }

    /// The recipe of columns of plain numbers that have these names.
    pub fn of_names(names: &[String]) -> Self {
        let column = |(place, name): (usize, &String)| ColumnRecipe {
            column: RawColumn { name: Some(name.clone()), place },
            categories: None,
            fill: None,
        };
        let columns = names.iter().enumerate().map(column).collect();
        TableRecipe { width: names.len(), columns, ..TableRecipe::default() }
    }

    /// The recipe of names such as `colour=blue`, `colour=red`, `width`, where one column of words became one for each word.
    /// `None` when no name is like that.
    pub fn of_words(names: &[String]) -> Option<Self> {
        let mut columns: Vec<ColumnRecipe> = Vec::new();
        for name in names {
            let (column, word) = match name.split_once('=') {
                Some((column, word)) => (column, Some(word)),
                None => (name.as_str(), None),
            };
            let same = columns.last_mut().filter(|last| last.column.name.as_deref() == Some(column));
            match (same.and_then(|last| last.categories.as_mut()), word) {
                (Some(words), Some(word)) => words.push(word.into()),
                (_, word) => columns.push(ColumnRecipe {
                    column: RawColumn { name: Some(column.into()), place: columns.len() },
                    categories: word.map(|word| vec![word.into()]),
                    fill: None,
                }),
            }
        }
        let has_words = columns.iter().any(|column| column.categories.is_some());
        has_words.then(|| TableRecipe { width: columns.len(), columns, ..TableRecipe::default() })
    }

    /// The recipe without the column of the table that a column of the data was made of, counted from 0.
    pub fn without(mut self, column: usize) -> Self {
        if self.columns.is_empty() {
            let label = self.label.as_ref().map(|label| label.place);
            let plain = |place| ColumnRecipe { column: RawColumn { name: None, place }, categories: None, fill: None };
            self.columns = (0..self.width).filter(|&place| Some(place) != label).map(plain).collect();
        }
        let mut end = 0;
        let is_its_source = |recipe: &ColumnRecipe| {
            end += recipe.categories.as_ref().map_or(1, Vec::len);
            end > column
        };
        if let Some(source) = self.columns.iter().position(is_its_source) {
            self.columns.remove(source);
        }
        self
    }

    /// Whether columns are found by their names.
    pub fn is_named(&self) -> bool {
        self.columns.iter().any(|column| column.column.name.is_some())
    }

    /// How many columns of the table are used.
    pub fn used(&self) -> usize {
        if self.columns.is_empty() {
            self.width.saturating_sub(usize::from(self.label.is_some()))
        } else {
            self.columns.len()
        }
    }
}

/// How a model's training data was read.
#[derive(Clone, Debug, Default, PartialEq)]
#[cfg_attr(feature = "serde", derive(Serialize, Deserialize))]
pub struct Reading {
    /// How raw columns became numbers; `None` where the data was no table of raw columns.
    #[cfg_attr(feature = "serde", serde(default, skip_serializing_if = "Option::is_none"))]
    pub table: Option<TableRecipe>,
    /// Whether there was no label.
    #[cfg_attr(feature = "serde", serde(default, skip_serializing_if = "std::ops::Not::not"))]
    pub unlabelled: bool,
    /// Whether LIBSVM text counted columns from 0.
    #[cfg_attr(feature = "serde", serde(default, skip_serializing_if = "std::ops::Not::not"))]
    pub zero_based: bool,
    /// The share of rows that was kept out of training.
    #[cfg_attr(feature = "serde", serde(default, skip_serializing_if = "Option::is_none"))]
    pub holdout: Option<f64>,
    /// Where randomness began: of generated data, and of the rows that were kept out.
    #[cfg_attr(feature = "serde", serde(default))]
    pub seed: u64,
    /// The row of the data, counted from 0, that each support vector is, where some rows of the data were not trained on.
    #[cfg_attr(feature = "serde", serde(default, skip_serializing_if = "Vec::is_empty"))]
    pub support_rows: Vec<u64>,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_of_old_models_are_joined_to_their_columns() {
        let names = ["colour=blue", "colour=red", "size", "a=1"].map(String::from);
        let recipe = TableRecipe::of_words(&names).unwrap();
        let shown: Vec<_> =
            recipe.columns.iter().map(|c| (c.column.name.as_deref().unwrap(), c.categories.clone())).collect();
        let words = |words: &[&str]| Some(words.iter().map(|word| word.to_string()).collect());
        assert_eq!(shown, [("colour", words(&["blue", "red"])), ("size", None), ("a", words(&["1"]))]);
        assert!(TableRecipe::of_words(&names[2..3]).is_none());
    }

    #[test]
    fn a_recipe_keeps_its_bits_through_json() {
        let recipe = TableRecipe {
            width: 3,
            label: Some(RawColumn { name: Some("y".into()), place: 0 }),
            columns: vec![
                ColumnRecipe { column: RawColumn { name: None, place: 1 }, categories: None, fill: Some(0.1 + 0.2) },
                ColumnRecipe {
                    column: RawColumn { name: Some("b".into()), place: 2 },
                    categories: Some(vec!["u".into(), "v".into()]),
                    fill: None,
                },
            ],
            missing: Missing::Mean,
        };
        let json = serde_json::to_string(&recipe).unwrap();
        assert_eq!(serde_json::from_str::<TableRecipe>(&json).unwrap(), recipe, "{json}");
    }

    #[test]
    fn a_column_is_taken_out_of_a_recipe_by_its_place_in_the_data() {
        let names = ["colour=blue", "colour=red", "patient", "size"].map(String::from);
        let rest = |recipe: TableRecipe| recipe.columns.iter().map(|c| c.column.place).collect::<Vec<_>>();
        let words = TableRecipe::of_words(&names).unwrap();
        assert_eq!(rest(words.clone().without(2)), [0, 2]);
        assert_eq!(rest(words.clone().without(1)), [1, 2]);
        assert_eq!(rest(words.without(9)), [0, 1, 2]);
        let plain = TableRecipe { label: Some(RawColumn { name: None, place: 1 }), ..TableRecipe::of_places(4) };
        assert_eq!(rest(plain.without(1)), [0, 3]);
    }

    #[test]
    fn every_way_with_missing_values_has_its_name() {
        for (name, missing) in Missing::ALL {
            assert_eq!(missing.name(), name);
        }
    }
}
