//! Variables that share a kernel row: α and α* of a row of a regression.
//!
//! ```text
//! variables  0 .. n−1, n .. 2n−1   over rows  0 .. n−1, 0 .. n−1                                     (B.2)
//! ```
//!
//! Both have the same u of (B.1), so u and the kernel row are computed once for both.

use std::collections::HashMap;

use super::rows::Move;

/// Which variables share a row: k and k + n in a regression, else none.
#[derive(Clone, Copy, Debug)]
pub(super) struct Twins {
    rows: usize,
    variables: usize,
}

impl Twins {
    /// Variables with these rows. Either the second half has the rows of the first half in the same order, or no two share a row.
    pub(super) fn of(rows: &[usize]) -> Self {
        let (first, second) = rows.split_at(rows.len() / 2);
        let variables = rows.len();
        Twins { rows: if variables > 0 && first == second { first.len() } else { variables }, variables }
    }

    /// How many rows there are. Variable k has row k for k below it.
    pub(super) fn rows(&self) -> usize {
        self.rows
    }

    /// The row of a variable.
    pub(super) fn row(&self, variable: usize) -> usize {
        if variable < self.rows { variable } else { variable - self.rows }
    }

    /// The variables of a row.
    pub(super) fn variables(&self, row: usize) -> impl Iterator<Item = usize> + use<> {
        let second = row + self.rows;
        std::iter::once(row).chain((second < self.variables).then_some(second))
    }

    /// The other variable of a variable's row, if there is one.
    pub(super) fn other(&self, variable: usize) -> Option<usize> {
        self.variables(self.row(variable)).find(|&k| k != variable)
    }

    /// Adds up the amounts of variables by row. Rows come in the order of their first variable; rows whose amounts cancel are left out.
    pub(super) fn by_row(&self, amounts: impl Iterator<Item = (usize, f64)>, rows: &[usize]) -> Vec<Move> {
        let mut moves: Vec<Move> = Vec::new();
        let mut known: HashMap<usize, usize> = HashMap::new();
        for (variable, amount) in amounts {
            let row = self.row(variable);
            match known.get(&row) {
                Some(&place) => moves[place].amount += amount,
                None => {
                    if self.rows < self.variables {
                        known.insert(row, moves.len());
                    }
                    moves.push(Move { row, place: rows[row] as u32, amount });
                }
            }
        }
        if self.rows < self.variables {
            moves.retain(|change| change.amount != 0.0);
        }
        moves
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_two_halves_of_a_regression_share_their_rows() {
        let twins = Twins::of(&[4, 7, 9, 4, 7, 9]);
        assert_eq!(twins.rows(), 3);
        assert_eq!((twins.row(1), twins.row(4)), (1, 1));
        assert_eq!((twins.other(1), twins.other(4)), (Some(4), Some(1)));
        assert_eq!(twins.variables(2).collect::<Vec<_>>(), [2, 5]);
    }

    #[test]
    fn rows_of_their_own_have_no_twins() {
        for rows in [&[][..], &[3], &[1, 2, 3, 4], &[1, 2, 1]] {
            let twins = Twins::of(rows);
            assert_eq!(twins.rows(), rows.len());
            assert!((0..rows.len()).all(|k| twins.other(k).is_none()));
        }
    }

    #[test]
    fn amounts_of_twins_are_summed_and_those_that_cancel_left_out() {
        let rows = [4, 7, 9, 4, 7, 9];
        let moves = Twins::of(&rows).by_row([(1, 1.0), (0, 2.0), (3, -0.5), (4, -1.0)].into_iter(), &rows);
        let found: Vec<(usize, u32, f64)> = moves.iter().map(|found| (found.row, found.place, found.amount)).collect();
        assert_eq!(found, [(0, 4, 1.5)]);
    }
}
