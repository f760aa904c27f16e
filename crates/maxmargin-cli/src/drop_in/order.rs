//! The order of classes in their files and votes: as they first come in the data, but for -1 and +1, where +1 is first.

use maxmargin::data::{Label, Labels};
use maxmargin::model::Pairing;

/// The places of the classes, sorted as we have them, in their order.
pub(super) fn order_of(labels: &Labels) -> Vec<usize> {
    let mut order: Vec<usize> = Vec::with_capacity(labels.classes().len());
    let mut seen = vec![false; labels.classes().len()];
    for &code in labels.codes() {
        if !std::mem::replace(&mut seen[code as usize], true) {
            order.push(code as usize);
            if order.len() == seen.len() {
                break;
            }
        }
    }
    let numbers: Vec<Option<f64>> = order.iter().map(|&class| labels.classes()[class].number()).collect();
    if numbers == [Some(-1.0), Some(1.0)] {
        order.reverse();
    }
    order
}

/// The places of a model's classes in the order of the entry `label` of its file; our own order where there is none.
pub(super) fn order_in_file(text: &str, classes: &[Label]) -> Vec<usize> {
    let line =
        text.lines().take_while(|line| !matches!(line.trim(), "SV" | "w")).find_map(|line| line.strip_prefix("label "));
    let place = |word: &str| classes.iter().position(|class| *class == Label::new(word));
    let found: Option<Vec<usize>> = line.and_then(|line| line.split_ascii_whitespace().map(place).collect());
    found.filter(|found| found.len() == classes.len()).unwrap_or_else(|| (0..classes.len()).collect())
}

/// The class that most pairs vote for; of those that tie the first in their order.
pub(super) fn winner(pairings: &[Pairing], values: &[f64], order: &[usize]) -> usize {
    let mut votes = vec![0.0; order.len()];
    for (pairing, &value) in pairings.iter().zip(values) {
        match pairing.negative {
            Some(negative) => votes[if value > 0.0 { pairing.positive } else { negative }] += 1.0,
            None => votes[pairing.positive] = value,
        }
    }
    let mut best = order[0];
    for &class in &order[1..] {
        if votes[class] > votes[best] {
            best = class;
        }
    }
    best
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn classes_come_in_the_order_of_the_data_and_plus_before_minus() {
        let labels = |list: &[&str]| Labels::new(list.iter().map(|text| Label::new(*text)).collect::<Vec<_>>());
        assert_eq!(order_of(&labels(&["3", "1", "2", "1"])), [2, 0, 1]);
        assert_eq!(order_of(&labels(&["-1", "+1"])), [1, 0]);
        assert_eq!(order_of(&labels(&["0", "1"])), [0, 1]);
        assert_eq!(order_of(&labels(&["-1", "2"])), [0, 1]);
    }

    #[test]
    fn the_order_of_a_file_is_that_of_its_entry() {
        let classes = ["1", "2", "3"].map(Label::new);
        assert_eq!(order_in_file("svm_type c_svc\nlabel 3 1 2\nSV\n", &classes), [2, 0, 1]);
        assert_eq!(order_in_file("svm_type c_svc\nSV\nlabel 3 1 2\n", &classes), [0, 1, 2]);
    }

    #[test]
    fn of_classes_that_tie_the_first_in_their_order_wins() {
        let pairings = maxmargin::model::Multiclass::OneVsOne.pairings(3);
        // One vote each.
        assert_eq!(winner(&pairings, &[1.0, -1.0, 1.0], &[0, 1, 2]), 0);
        assert_eq!(winner(&pairings, &[1.0, -1.0, 1.0], &[2, 1, 0]), 2);
    }
}
