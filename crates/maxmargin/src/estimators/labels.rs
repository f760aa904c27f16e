//! What names a class, and what serves as a column of classes.

use std::borrow::Cow;
use std::collections::HashMap;
use std::fmt::Debug;
use std::hash::Hash;

use crate::data::{Label, Labels};

/// What names a class: a text, an integer, a `bool` or a `char`.
///
/// Numbers with a fraction name no classes: those are for a regression.
///
/// # Examples
/// ```
/// use maxmargin::Svc;
///
/// let x = [[0.0], [1.0], [4.0], [5.0]];
/// assert_eq!(Svc::linear().fit((&x, &["low", "low", "high", "high"]))?.predict(&[[4.5]])?, ["high"]);
/// assert_eq!(Svc::linear().fit((&x, &[-1, -1, 1, 1]))?.predict(&[[4.5]])?, [1]);
/// # Ok::<(), maxmargin::Error>(())
/// ```
#[diagnostic::on_unimplemented(
    message = "`{Self}` names no class",
    note = "classes are named by `&str`, `String`, integers, `bool` or `char`; numbers with a fraction are for `Svr` and its like"
)]
pub trait ClassLabel: Eq + Hash {
    /// What a model says of a row: the same type, owned.
    type Class: ClassLabel<Class = Self::Class> + Clone + Debug + PartialEq;

    /// The text that stands for the class in a model file.
    fn text(&self) -> Cow<'_, str>;

    /// The class that a text stands for; `None` where it stands for none of this type.
    fn class(text: &str) -> Option<Self::Class>;
}

impl ClassLabel for &str {
    type Class = String;

    fn text(&self) -> Cow<'_, str> {
        Cow::Borrowed(self)
    }

    fn class(text: &str) -> Option<String> {
        Some(text.into())
    }
}

impl ClassLabel for String {
    type Class = String;

    fn text(&self) -> Cow<'_, str> {
        Cow::Borrowed(self)
    }

    fn class(text: &str) -> Option<String> {
        Some(text.into())
    }
}

macro_rules! labels_by_text {
    ($($type:ty)*) => {$(
        impl ClassLabel for $type {
            type Class = $type;

            fn text(&self) -> Cow<'_, str> {
                Cow::Owned(self.to_string())
            }

            fn class(text: &str) -> Option<$type> {
                text.trim().parse().ok()
            }
        }
    )*};
}

labels_by_text!(i8 i16 i32 i64 i128 isize u8 u16 u32 u64 u128 usize bool char);

/// A column of classes: a slice, `Vec` or array of labels, an `ndarray::Array1` of them, or [`Labels`].
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not known as a column of classes",
    note = "give a reference to a slice, array or `Vec` of `&str`, `String` or integers, or to an `ndarray::Array1` of such (feature `ndarray`)"
)]
pub trait ToLabels {
    /// What a model says of a row.
    type Class: ClassLabel<Class = Self::Class> + Clone + Debug + PartialEq;

    /// The label of each row.
    fn to_labels(&self) -> Labels;
}

/// Each different label is spelled once, however many rows have it.
fn labels_of<'l, L: ClassLabel + 'l>(column: impl Iterator<Item = &'l L>) -> Labels {
    let mut known: HashMap<&L, u32> = HashMap::new();
    let mut spellings = Vec::new();
    let place = |label: &'l L| {
        *known.entry(label).or_insert_with(|| {
            spellings.push(Label::new(label.text()));
            spellings.len() as u32 - 1
        })
    };
    let codes: Vec<u32> = column.map(place).collect();
    Labels::from_spellings(spellings, codes)
}

impl<T: ToLabels + ?Sized> ToLabels for &T {
    type Class = T::Class;

    fn to_labels(&self) -> Labels {
        (**self).to_labels()
    }
}

impl<L: ClassLabel> ToLabels for [L] {
    type Class = L::Class;

    fn to_labels(&self) -> Labels {
        labels_of(self.iter())
    }
}

impl<L: ClassLabel> ToLabels for Vec<L> {
    type Class = L::Class;

    fn to_labels(&self) -> Labels {
        labels_of(self.iter())
    }
}

impl<L: ClassLabel, const N: usize> ToLabels for [L; N] {
    type Class = L::Class;

    fn to_labels(&self) -> Labels {
        labels_of(self.iter())
    }
}

impl ToLabels for Labels {
    type Class = String;

    fn to_labels(&self) -> Labels {
        self.clone()
    }
}

#[cfg(feature = "ndarray")]
impl<L: ClassLabel, S: ndarray::Data<Elem = L>> ToLabels for ndarray::ArrayBase<S, ndarray::Ix1> {
    type Class = L::Class;

    fn to_labels(&self) -> Labels {
        labels_of(self.iter())
    }
}
