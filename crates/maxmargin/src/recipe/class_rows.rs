//! The rows of each class, so that a machine for two of many classes need not look at the rows of all others.

/// The rows of each class, increasing, those of weight 0 left out.
///
/// 1,000 classes make 499,500 machines: a search for the rows of each among all rows would take longer than to train them.
#[derive(Debug)]
pub(crate) struct ClassRows {
    /// Where the rows of each class begin; one more than there are classes.
    starts: Vec<usize>,
    rows: Vec<usize>,
}

impl ClassRows {
    /// Sorts the rows by their classes. Cost: two passes over the rows.
    pub(crate) fn new(classes: usize, codes: &[u32], weights: Option<&[f64]>) -> Self {
        let counts = |row: &usize| weights.is_none_or(|weights| weights[*row] > 0.0);
        let mut starts = vec![0; classes + 1];
        (0..codes.len()).filter(counts).for_each(|row| starts[codes[row] as usize + 1] += 1);
        (0..classes).for_each(|class| starts[class + 1] += starts[class]);
        let (mut next, mut rows) = (starts.clone(), vec![0; starts[classes]]);
        for row in (0..codes.len()).filter(counts) {
            let place = &mut next[codes[row] as usize];
            rows[*place] = row;
            *place += 1;
        }
        ClassRows { starts, rows }
    }

    /// The rows of a class, increasing.
    fn of(&self, class: usize) -> &[usize] {
        &self.rows[self.starts[class]..self.starts[class + 1]]
    }

    /// The rows of two classes, increasing, with the sign of each: +1 for the first class, −1 for the second.
    pub(crate) fn pair(&self, positive: usize, negative: usize) -> (Vec<usize>, Vec<f64>) {
        let (mut plus, mut minus) = (self.of(positive), self.of(negative));
        let count = plus.len() + minus.len();
        let (mut rows, mut signs) = (Vec::with_capacity(count), Vec::with_capacity(count));
        for _ in 0..count {
            let is_positive = minus.first().is_none_or(|other| plus.first().is_some_and(|row| row < other));
            let list = if is_positive { &mut plus } else { &mut minus };
            if let Some((&row, rest)) = list.split_first() {
                rows.push(row);
                signs.push(if is_positive { 1.0 } else { -1.0 });
                *list = rest;
            }
        }
        (rows, signs)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_rows_of_two_classes_come_in_their_order_and_those_of_weight_0_not_at_all() {
        let codes = [2, 0, 1, 0, 2, 1, 0];
        let all = ClassRows::new(4, &codes, None);
        assert_eq!(all.pair(2, 0), (vec![0, 1, 3, 4, 6], vec![1.0, -1.0, -1.0, 1.0, -1.0]));
        assert_eq!(all.pair(3, 1), (vec![2, 5], vec![-1.0, -1.0]));
        let some = ClassRows::new(4, &codes, Some(&[1.0, 0.0, 1.0, 2.0, 0.0, 1.0, 1.0]));
        assert_eq!(some.pair(2, 0), (vec![0, 3, 6], vec![1.0, -1.0, -1.0]));
    }
}
