//! Labels as the user wrote them, and as class numbers.

use std::cmp::Ordering;
use std::collections::HashMap;
use std::fmt;

#[cfg(feature = "serde")]
use serde::{Deserialize, Serialize};

/// One label: the text as it was first written. Two spellings of a number (`1`, `+1`, `1.0`) are the same label.
#[derive(Clone, Debug)]
#[cfg_attr(feature = "serde", derive(Serialize, Deserialize))]
#[cfg_attr(feature = "serde", serde(transparent))]
pub struct Label(String);

impl Label {
    /// A label from its text.
    pub fn new(text: impl Into<String>) -> Self {
        Label(text.into())
    }

    /// The text as the user wrote it.
    pub fn text(&self) -> &str {
        &self.0
    }

    /// The number that the text spells, if it does.
    pub fn number(&self) -> Option<f64> {
        self.0.trim().parse().ok().filter(|number: &f64| number.is_finite())
    }

    /// What two spellings of one label share.
    fn key(&self) -> Key {
        // -0 and 0 are one label.
        self.number().map_or_else(|| Key::Text(self.0.clone()), |number| Key::Number((number + 0.0).to_bits()))
    }
}

#[derive(PartialEq, Eq, Hash)]
enum Key {
    Number(u64),
    Text(String),
}

impl fmt::Display for Label {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.0)
    }
}

impl PartialEq for Label {
    fn eq(&self, other: &Self) -> bool {
        self.key() == other.key()
    }
}

/// Numbers by value and before texts; texts by their characters.
impl PartialOrd for Label {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(match (self.number(), other.number()) {
            (Some(a), Some(b)) => (a + 0.0).total_cmp(&(b + 0.0)),
            (Some(_), None) => Ordering::Less,
            (None, Some(_)) => Ordering::Greater,
            (None, None) => self.0.cmp(&other.0),
        })
    }
}

/// The place of a label among the classes, of which it may be a new one.
fn place_among(known: &mut HashMap<Key, u32>, classes: &mut Vec<Label>, label: Label) -> u32 {
    *known.entry(label.key()).or_insert_with(|| {
        classes.push(label);
        classes.len() as u32 - 1
    })
}

/// A label for each row: the distinct classes, sorted, and each row's place among them.
///
/// # Examples
/// ```
/// use maxmargin::data::{Label, Labels};
///
/// let labels = Labels::new(["+1", "-1", "1"].map(Label::new));
/// assert_eq!(labels.classes().iter().map(Label::text).collect::<Vec<_>>(), ["-1", "+1"]);
/// assert_eq!(labels.codes(), [1, 0, 1]);
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Labels {
    classes: Vec<Label>,
    codes: Vec<u32>,
}

impl Labels {
    /// Gathers the classes of a column of labels.
    pub fn new(labels: impl IntoIterator<Item = Label>) -> Self {
        let mut known: HashMap<Key, u32> = HashMap::new();
        let mut classes: Vec<Label> = Vec::new();
        let codes: Vec<u32> = labels.into_iter().map(|label| place_among(&mut known, &mut classes, label)).collect();
        Self::sorted(classes, codes)
    }

    /// Labels that were told apart by their text: row `i` has the label `spellings[codes[i]]`.
    ///
    /// The same as [`Labels::new`] of the labels row by row, when the spellings are in the order in which they first occur.
    /// Cost: a step for each row, the rest for each spelling.
    ///
    /// # Panics
    /// When a code is out of range.
    pub fn from_spellings(spellings: impl IntoIterator<Item = Label>, mut codes: Vec<u32>) -> Self {
        let mut known: HashMap<Key, u32> = HashMap::new();
        let mut classes: Vec<Label> = Vec::new();
        let class: Vec<u32> = spellings.into_iter().map(|label| place_among(&mut known, &mut classes, label)).collect();
        // Where each spelling is a class of its own, in sorted order, the codes are right as they are.
        if class.len() > classes.len() {
            codes.iter_mut().for_each(|code| *code = class[*code as usize]);
        }
        assert!(codes.iter().all(|&code| (code as usize) < classes.len()), "a code without a spelling");
        Self::sorted(classes, codes)
    }

    /// From the order of appearance to sorted order.
    fn sorted(classes: Vec<Label>, mut codes: Vec<u32>) -> Self {
        let mut order: Vec<usize> = (0..classes.len()).collect();
        order.sort_by(|&a, &b| classes[a].partial_cmp(&classes[b]).unwrap_or(Ordering::Equal));
        let mut place = vec![0; order.len()];
        order.iter().enumerate().for_each(|(rank, &class)| place[class] = rank as u32);
        if !order.is_sorted() {
            codes.iter_mut().for_each(|code| *code = place[*code as usize]);
        }
        Labels { classes: order.iter().map(|&class| classes[class].clone()).collect(), codes }
    }

    /// The distinct labels, sorted: numbers by value, then texts.
    pub fn classes(&self) -> &[Label] {
        &self.classes
    }

    /// For each row the place of its label among the classes.
    pub fn codes(&self) -> &[u32] {
        &self.codes
    }

    /// How many rows there are.
    pub fn len(&self) -> usize {
        self.codes.len()
    }

    /// Whether there are no rows.
    pub fn is_empty(&self) -> bool {
        self.codes.is_empty()
    }

    /// The label of a row.
    ///
    /// # Panics
    /// When `row` is out of range.
    pub fn get(&self, row: usize) -> &Label {
        &self.classes[self.codes[row] as usize]
    }

    /// The labels as numbers, one a row; or the first row whose label is none.
    ///
    /// # Errors
    /// When a label is not a finite number: the row, counted from 0.
    pub fn numbers(&self) -> Result<Vec<f64>, usize> {
        let numbers: Vec<Option<f64>> = self.classes.iter().map(Label::number).collect();
        let of_row = |(row, &code): (usize, &u32)| numbers[code as usize].ok_or(row);
        self.codes.iter().enumerate().map(of_row).collect()
    }

    /// The labels of the chosen rows; classes that no chosen row has are dropped.
    pub fn select(&self, rows: &[usize]) -> Self {
        Labels::new(rows.iter().map(|&row| self.get(row).clone()))
    }

    /// Two classes: the label `positive` last, so that it is the positive one, and all others as one.
    ///
    /// Returns `None` when no row has that label. With exactly two classes the other keeps its label.
    pub fn one_against_rest(&self, positive: &Label) -> Option<Self> {
        let code = self.classes.iter().position(|class| class == positive)? as u32;
        let rest = match self.classes.as_slice() {
            [a, b] => {
                if code == 0 {
                    b.clone()
                } else {
                    a.clone()
                }
            }
            _ => Label::new("rest"),
        };
        let codes = self.codes.iter().map(|&other| u32::from(other == code)).collect();
        Some(Labels { classes: vec![rest, self.classes[code as usize].clone()], codes })
    }

    /// The labels `of[code]`, in any order and with spellings of a number told apart or not; those that no row has are left
    /// out. `None` when a code is out of range. Costs a look at each code, where [`Labels::new`] reads each label.
    ///
    /// # Examples
    /// ```
    /// use maxmargin::data::{Label, Labels};
    ///
    /// let labels = Labels::from_codes(&["b", "c", "a"].map(Label::new), &[2, 0, 2]).unwrap();
    /// assert_eq!(labels, Labels::new(["a", "b", "a"].map(Label::new)));
    /// ```
    pub fn from_codes(of: &[Label], codes: &[u32]) -> Option<Self> {
        let mut used = vec![false; of.len()];
        for &code in codes {
            *used.get_mut(code as usize)? = true;
        }
        let places: Vec<usize> = (0..of.len()).filter(|&place| used[place]).collect();
        let distinct = Labels::new(places.iter().map(|&place| of[place].clone()));
        let mut new_codes = vec![0; of.len()];
        places.iter().zip(&distinct.codes).for_each(|(&place, &code)| new_codes[place] = code);
        let codes = codes.iter().map(|&code| new_codes[code as usize]).collect();
        Some(Labels { classes: distinct.classes, codes })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn labels(texts: &[&str]) -> Labels {
        Labels::new(texts.iter().map(|&text| Label::new(text)))
    }

    fn texts(labels: &Labels) -> Vec<&str> {
        labels.classes().iter().map(Label::text).collect()
    }

    #[test]
    fn spellings_of_a_number_are_one_class_and_the_first_is_kept() {
        let labels = labels(&["+1", "-1", "1", "1.0", "-0", "0"]);
        assert_eq!(texts(&labels), ["-1", "-0", "+1"]);
        assert_eq!(labels.codes(), [2, 0, 2, 2, 1, 1]);
    }

    #[test]
    fn labels_told_apart_by_their_text_are_those_of_the_rows() {
        for texts in [&["+1", "-1", "1", "b", "-1", "1.0", "a"][..], &["a", "b", "a"], &["b", "a"], &["x"], &[]] {
            let mut spellings: Vec<&str> = Vec::new();
            let mut codes = Vec::new();
            for text in texts {
                if !spellings.contains(text) {
                    spellings.push(text);
                }
                codes.push(spellings.iter().position(|known| known == text).unwrap() as u32);
            }
            let found = Labels::from_spellings(spellings.into_iter().map(Label::new), codes);
            let expected = labels(texts);
            assert_eq!(
                (super::tests::texts(&found), found.codes()),
                (super::tests::texts(&expected), expected.codes())
            );
        }
    }

    #[test]
    fn numbers_sort_by_value_and_before_texts() {
        assert_eq!(texts(&labels(&["b", "10", "9", "a", "nan"])), ["9", "10", "a", "b", "nan"]);
    }

    #[test]
    fn one_against_rest_puts_the_positive_label_last() {
        let three = labels(&["a", "b", "c", "a"]).one_against_rest(&Label::new("a")).unwrap();
        assert_eq!((texts(&three), three.codes()), (vec!["rest", "a"], &[1, 0, 0, 1][..]));
        let two = labels(&["-1", "+1"]).one_against_rest(&Label::new("-1")).unwrap();
        assert_eq!((texts(&two), two.codes()), (vec!["+1", "-1"], &[1, 0][..]));
        assert!(two.one_against_rest(&Label::new("2")).is_none());
    }

    #[test]
    fn codes_give_the_same_labels_as_their_texts() {
        let of = ["b", "1", "+1", "unused", "a"].map(Label::new);
        let codes = [4, 2, 1, 0, 4];
        let texts = Labels::new(codes.iter().map(|&code| of[code as usize].clone()));
        let found = Labels::from_codes(&of, &codes).unwrap();
        assert_eq!((found.codes(), found.classes()), (texts.codes(), texts.classes()));
        assert!(Labels::from_codes(&of, &[5]).is_none());
    }
}
