//! The order of classes in their files and votes: as they first come in the data, but for -1 and +1, where +1 is first.

use maxmargin::data::{Dataset, Label, Labels};

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

/// [`order_of`] the labels of some data; none where it has numbers to learn.
pub(super) fn order_in(data: &Dataset) -> Vec<usize> {
    data.answers().labels().map_or_else(Vec::new, order_of)
}

/// The places of a model's classes in the order of the entry `label` of its file; our own order where there is none.
pub(super) fn order_in_file(text: &str, classes: &[Label]) -> Vec<usize> {
    let line =
        text.lines().take_while(|line| !matches!(line.trim(), "SV" | "w")).find_map(|line| line.strip_prefix("label "));
    let place = |word: &str| classes.iter().position(|class| *class == Label::new(word));
    let found: Option<Vec<usize>> = line.and_then(|line| line.split_ascii_whitespace().map(place).collect());
    found.filter(|found| found.len() == classes.len()).unwrap_or_else(|| (0..classes.len()).collect())
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
}
