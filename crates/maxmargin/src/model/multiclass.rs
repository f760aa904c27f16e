//! Several classes as several binary problems, or as one.

use serde::{Deserialize, Serialize};

/// How several classes are told apart. Two classes are always one machine.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum Multiclass {
    /// A machine for each pair of classes; the class with most votes wins, the first of those that tie.
    #[default]
    #[serde(rename = "ovo")]
    OneVsOne,
    /// A machine for each class; the largest decision value wins, the first of those that tie.
    #[serde(rename = "ovr")]
    OneVsRest,
    /// A function for each class, all of them found by one problem; the largest value wins, the first of those that tie.
    /// Logistic loss (softmax), and Fisher's discriminant with one scatter matrix for all classes.
    #[serde(rename = "joint")]
    Joint,
    /// The same with hinge loss: a row's own class must be ahead of every other by 1 (Crammer and Singer).
    #[serde(rename = "crammer-singer")]
    CrammerSinger,
}

/// What one machine tells apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Pairing {
    /// The class that positive decision values speak for.
    pub positive: usize,
    /// The class that the others speak for; `None` for all other classes.
    pub negative: Option<usize>,
}

impl Multiclass {
    /// The word used in reports.
    pub fn name(self) -> &'static str {
        match self {
            Multiclass::OneVsOne => "ovo",
            Multiclass::OneVsRest => "ovr",
            Multiclass::Joint => "joint",
            Multiclass::CrammerSinger => "crammer-singer",
        }
    }

    /// Whether this number of classes is one problem, with one function for each class and one certificate for all.
    pub fn is_joint(self, classes: usize) -> bool {
        matches!(self, Multiclass::Joint | Multiclass::CrammerSinger) && classes > 2
    }

    /// How many machines a number of classes takes; `None` when that is no number of this machine's.
    pub(crate) fn machines(self, classes: usize) -> Option<usize> {
        match self {
            Multiclass::OneVsOne => pairs(classes),
            _ if classes > 2 => Some(classes),
            _ => pairs(classes),
        }
    }

    /// The machines for a number of classes: the later class of a pair is positive.
    pub fn pairings(self, classes: usize) -> Vec<Pairing> {
        match self {
            Multiclass::OneVsRest | Multiclass::Joint | Multiclass::CrammerSinger if classes > 2 => {
                (0..classes).map(|positive| Pairing { positive, negative: None }).collect()
            }
            _ => (0..classes)
                .flat_map(|first| (first + 1..classes).map(move |second| (first, second)))
                .map(|(first, second)| Pairing { positive: second, negative: Some(first) })
                .collect(),
        }
    }

    /// The class that the machines' decision values (in the order of [`Multiclass::pairings`]) speak for.
    pub fn decide(self, pairings: &[Pairing], classes: usize, values: &[f64]) -> u32 {
        decide(pairings, values, &mut vec![0.0; classes])
    }
}

/// How many pairs of classes there are.
fn pairs(classes: usize) -> Option<usize> {
    classes.checked_mul(classes.saturating_sub(1)).map(|twice| twice / 2)
}

/// [`Multiclass::decide`] with room for one number a class, which is overwritten.
pub(super) fn decide(pairings: &[Pairing], values: &[f64], score: &mut [f64]) -> u32 {
    score.fill(0.0);
    for (pairing, &value) in pairings.iter().zip(values) {
        match pairing.negative {
            // A decision value of exactly 0 is negative.
            Some(negative) => score[if value > 0.0 { pairing.positive } else { negative }] += 1.0,
            None => score[pairing.positive] = value,
        }
    }
    let mut best = 0;
    for (class, &value) in score.iter().enumerate() {
        if value > score[best] {
            best = class;
        }
    }
    best as u32
}

impl Pairing {
    /// How many rows take part, given how many each class has.
    pub(crate) fn rows(self, sizes: &[usize]) -> usize {
        self.negative.map_or_else(|| sizes.iter().sum(), |negative| sizes[self.positive] + sizes[negative])
    }

    /// +1 for the positive class, −1 for the negative, `None` for a class that takes no part.
    pub fn sign(self, class: usize) -> Option<f64> {
        if class == self.positive {
            Some(1.0)
        } else if self.negative.is_none_or(|negative| negative == class) {
            Some(-1.0)
        } else {
            None
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn two_classes_are_one_machine_and_the_second_is_positive() {
        for multiclass in [Multiclass::OneVsOne, Multiclass::OneVsRest, Multiclass::Joint, Multiclass::CrammerSinger] {
            assert!(!multiclass.is_joint(2) && multiclass.machines(2) == Some(1));
            let pairings = multiclass.pairings(2);
            assert_eq!(pairings, [Pairing { positive: 1, negative: Some(0) }]);
            assert_eq!(multiclass.decide(&pairings, 2, &[0.0]), 0, "0 is the negative class");
            assert_eq!(multiclass.decide(&pairings, 2, &[1e-300]), 1);
        }
    }

    #[test]
    fn most_votes_win_and_ties_go_to_the_first_class() {
        let pairings = Multiclass::OneVsOne.pairings(3);
        assert_eq!(pairings.len(), 3);
        assert_eq!(Multiclass::OneVsOne.decide(&pairings, 3, &[1.0, 1.0, 1.0]), 2);
        assert_eq!(Multiclass::OneVsOne.decide(&pairings, 3, &[1.0, -1.0, 1.0]), 0, "one vote each");
    }

    #[test]
    fn the_largest_value_wins_one_against_rest() {
        let pairings = Multiclass::OneVsRest.pairings(3);
        assert_eq!(Multiclass::OneVsRest.decide(&pairings, 3, &[-3.0, -1.0, -2.0]), 1);
        assert_eq!(pairings[1].sign(0), Some(-1.0));
        for joint in [Multiclass::Joint, Multiclass::CrammerSinger] {
            assert!(joint.is_joint(3) && joint.machines(3) == Some(3));
            assert_eq!(joint.pairings(3), pairings);
        }
    }
}
