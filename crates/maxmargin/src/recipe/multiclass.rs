//! Several classes as several binary problems, or as one.

#[cfg(feature = "serde")]
use serde::{Deserialize, Serialize};

/// How several classes are told apart. Two classes are always one machine.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(Serialize, Deserialize))]
pub enum Multiclass {
    /// A machine for each pair of classes; the class with most votes wins, the first of those that tie.
    #[default]
    #[cfg_attr(feature = "serde", serde(rename = "ovo"))]
    OneVsOne,
    /// A machine for each class; the largest decision value wins, the first of those that tie.
    #[cfg_attr(feature = "serde", serde(rename = "ovr"))]
    OneVsRest,
    /// A function for each class, all of them found by one problem; the largest value wins, the first of those that tie.
    /// Logistic loss (softmax), and Fisher's discriminant with one scatter matrix for all classes.
    #[cfg_attr(feature = "serde", serde(rename = "joint"))]
    Joint,
    /// The same with hinge loss: a row's own class must be ahead of every other by 1 (Crammer and Singer).
    #[cfg_attr(feature = "serde", serde(rename = "crammer-singer"))]
    CrammerSinger,
}

/// What one machine tells apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(Serialize, Deserialize))]
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

    /// The place of a machine among [`Multiclass::pairings`], by its formula; `None` when it is none of them.
    ///
    /// Cost: constant. A search would look at 499,500 machines for 1,000 classes.
    pub fn place(self, classes: usize, pairing: Pairing) -> Option<usize> {
        let Pairing { positive, negative } = pairing;
        let by_pairs = self == Multiclass::OneVsOne || classes <= 2;
        match negative {
            _ if positive >= classes || by_pairs != negative.is_some() => None,
            None => Some(positive),
            Some(first) if first >= positive => None,
            Some(first) => Some(first * classes - first * (first + 1) / 2 + positive - first - 1),
        }
    }

    /// The class that the machines' decision values (in the order of [`Multiclass::pairings`]) speak for.
    pub fn decide(self, pairings: &[Pairing], classes: usize, values: &[f64]) -> u32 {
        decide(pairings, values, &mut vec![0.0; classes], &(0..classes).collect::<Vec<_>>())
    }
}

/// How many pairs of classes there are.
fn pairs(classes: usize) -> Option<usize> {
    classes.checked_mul(classes.saturating_sub(1)).map(|twice| twice / 2)
}

/// [`Multiclass::decide`] with room for one number a class, which is overwritten; of classes that tie the first in `order` wins.
pub(crate) fn decide(pairings: &[Pairing], values: &[f64], score: &mut [f64], order: &[usize]) -> u32 {
    score.fill(0.0);
    for (pairing, &value) in pairings.iter().zip(values) {
        match pairing.negative {
            // A decision value of exactly 0 is negative.
            Some(negative) => score[if value > 0.0 { pairing.positive } else { negative }] += 1.0,
            None => score[pairing.positive] = value,
        }
    }
    best_in_order(order, |class| score[class])
}

/// The class with the largest score; of those that tie the first in `order`, which has all of them.
pub(crate) fn best_in_order(order: &[usize], score: impl Fn(usize) -> f64) -> u32 {
    let better = |best: usize, &class: &usize| if score(class) > score(best) { class } else { best };
    order[1..].iter().fold(order[0], better) as u32
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
    fn the_place_of_every_machine_is_known_without_a_search() {
        let all = [Multiclass::OneVsOne, Multiclass::OneVsRest, Multiclass::Joint, Multiclass::CrammerSinger];
        for (multiclass, classes) in all.into_iter().flat_map(|way| (2..7).map(move |classes| (way, classes))) {
            let pairings = multiclass.pairings(classes);
            for (positive, negative) in (0..8).flat_map(|a| (0..9).map(move |b| (a, b))) {
                let pairing = Pairing { positive, negative: (negative < 8).then_some(negative) };
                let expected = pairings.iter().position(|other| *other == pairing);
                assert_eq!(multiclass.place(classes, pairing), expected, "{multiclass:?} {classes} {pairing:?}");
            }
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
