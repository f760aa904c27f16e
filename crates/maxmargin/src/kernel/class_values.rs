//! Kernel values within a class, computed once and shared by all machines of that class.

use std::sync::OnceLock;

use super::Gram;

/// The kernel matrix of each class, computed when it is first asked for.
///
/// With several classes each pair is a machine, and half of the kernel values of a pair lie within one of its two classes. A class
/// takes part in many pairs, so these values are shared.
///
/// All calls must come with the same kernel and the same points.
#[derive(Debug)]
pub struct ClassValues {
    /// For each row its class, and its place in that class; `None` for rows of no class.
    places: Vec<Option<(u32, u32)>>,
    /// The rows of each class.
    rows: Vec<Vec<usize>>,
    /// `[place][place]` of each class.
    values: Vec<OnceLock<Vec<f64>>>,
    /// Bytes of all matrices. Computed once, because every machine asks, and 1,000 classes have 499,500 of them.
    bytes: u64,
}

impl ClassValues {
    /// Matrices for the rows of each class. No row may be in two classes.
    ///
    /// # Panics
    /// When a class has 2³² rows or more.
    pub fn new(rows: Vec<Vec<usize>>) -> Self {
        let count = rows.iter().flatten().max().map_or(0, |&last| last + 1);
        let mut places = vec![None; count];
        for (class, rows) in rows.iter().enumerate() {
            assert!(rows.len() <= u32::MAX as usize, "a class has 2³² rows or more");
            for (place, &row) in rows.iter().enumerate() {
                places[row] = Some((class as u32, place as u32));
            }
        }
        let values = rows.iter().map(|_| OnceLock::new()).collect();
        let square = |rows: &Vec<usize>| (rows.len() as u64).pow(2).saturating_mul(8);
        let bytes = rows.iter().map(square).sum::<u64>() + 8 * count as u64;
        ClassValues { places, rows, values, bytes }
    }

    /// Bytes of all matrices together.
    pub fn bytes(&self) -> u64 {
        self.bytes
    }

    /// The class of a row, and its place in that class.
    pub fn place(&self, row: usize) -> Option<(usize, usize)> {
        let (class, place) = (*self.places.get(row)?)?;
        Some((class as usize, place as usize))
    }

    /// `K[i][j]` for all rows of a class, by their places in it.
    pub fn values(&self, class: usize, gram: &Gram<'_>) -> &[f64] {
        self.values[class].get_or_init(|| {
            let rows = &self.rows[class];
            let mut values = vec![0.0; rows.len() * rows.len()];
            gram.block(rows, rows, &mut values);
            values
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::Matrix;
    use crate::kernel::{Points, Rbf};
    use crate::workers::Workers;

    #[test]
    fn values_are_those_of_the_rows_of_the_class_in_its_order() {
        let matrix = Matrix::dense(5, 1, vec![0.0, 1.0, 2.0, 4.0, 8.0]).unwrap();
        let (points, workers) = (Points::new(matrix, false), Workers::none());
        let kernel = Rbf { gamma: 0.1 };
        let gram = Gram::new(&kernel, &points, &workers);
        let shared = ClassValues::new(vec![vec![4, 0], vec![1], vec![]]);
        assert_eq!(shared.bytes(), (4 + 1) * 8 + 5 * 8);
        assert_eq!(shared.place(0), Some((0, 1)));
        assert_eq!(shared.place(1), Some((1, 0)));
        assert_eq!((shared.place(2), shared.place(7)), (None, None));
        let mut expected = [0.0; 4];
        gram.block(&[4, 0], &[4, 0], &mut expected);
        assert_eq!(shared.values(0, &gram), expected);
        assert_eq!(shared.values(1, &gram), [1.0]);
        assert!(shared.values(2, &gram).is_empty());
    }
}
