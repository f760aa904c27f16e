//! Rows that are there several times: left out together, as the one row of their joint weight that they stand for.

use std::collections::HashMap;
use std::hash::{DefaultHasher, Hash, Hasher};

use crate::data::Matrix;
use crate::recipe::RowAnswers;

/// Which rows are copies of others, and what the first of each counts for all of them.
pub(super) struct Copies {
    /// For each row the first that has the same numbers and the same answer.
    pub(super) first: Vec<usize>,
    /// The weights with those of the copies added to the first, and taken from the copies.
    pub(super) weights: Vec<f64>,
}

impl Copies {
    /// Looks for copies; `None` where there are none. Cost: a look at each number.
    pub(super) fn find(matrix: &Matrix, answers: RowAnswers<'_>) -> Option<Self> {
        let weight = |row: usize| answers.weights.map_or(1.0, |weights| weights[row]);
        let answer = |row: usize| (answers.codes[row], answers.targets.map_or(0, |targets| targets[row].to_bits()));
        let mut known: HashMap<u64, Vec<usize>> = HashMap::with_capacity(matrix.rows());
        let mut first: Vec<usize> = (0..matrix.rows()).collect();
        for row in 0..matrix.rows() {
            // A row that does not count has nothing to give to another.
            if weight(row) == 0.0 {
                continue;
            }
            let alike = known.entry(hash(matrix, row, answer(row))).or_default();
            let same = |&&other: &&usize| answer(other) == answer(row) && matrix.row(other) == matrix.row(row);
            match alike.iter().find(same) {
                Some(&other) => first[row] = other,
                None => alike.push(row),
            }
        }
        if first.iter().enumerate().all(|(row, &first)| row == first) {
            return None;
        }
        let mut weights = vec![0.0; matrix.rows()];
        first.iter().enumerate().for_each(|(row, &first)| weights[first] += weight(row));
        Some(Copies { first, weights })
    }
}

/// A hash that dense and sparse rows of the same numbers share.
fn hash(matrix: &Matrix, row: usize, answer: (u32, u64)) -> u64 {
    let mut hasher = DefaultHasher::new();
    answer.hash(&mut hasher);
    matrix.visit(row, |column, value| {
        if value != 0.0 {
            (column, value.to_bits()).hash(&mut hasher);
        }
    });
    hasher.finish()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn copies_have_the_numbers_and_the_answer_of_the_first() {
        let matrix = Matrix::dense(6, 2, vec![1.0, 0.0, 2.0, 0.0, 1.0, -0.0, 1.0, 0.0, 2.0, 0.0, 1.0, 0.0]).unwrap();
        let codes = [0, 1, 0, 1, 1, 0];
        let weights = [1.0, 2.0, 3.0, 4.0, 0.5, 0.0];
        for matrix in [matrix.clone(), matrix.to_sparse()] {
            let answers =
                RowAnswers { classes: 2, codes: &codes, targets: None, weights: Some(&weights), of_class: None };
            let copies = Copies::find(&matrix, answers).unwrap();
            assert_eq!(copies.first, [0, 1, 0, 3, 1, 5], "a row without weight is its own");
            assert_eq!(copies.weights, [4.0, 2.5, 0.0, 4.0, 0.0, 0.0]);
            assert!(
                Copies::find(&matrix, RowAnswers { targets: Some(&[0.0, 1.0, 2.0, 3.0, 4.0, 5.0]), ..answers })
                    .is_none()
            );
        }
    }
}
