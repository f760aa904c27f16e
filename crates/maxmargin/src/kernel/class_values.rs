//! Kernel values that several machines need: those within a class, computed once.

use std::sync::OnceLock;

use super::Gram;

/// The kernel matrix of each class, computed when it is first asked for.
///
/// Of several classes, each pair makes a machine, and the rows of a class take part in all of its pairs: half of the kernel
/// values of a pair are those of its classes by themselves.
///
/// It belongs to the kernel and the points that it is first asked with: no problem of others may share it.
#[derive(Debug)]
pub struct ClassValues {
    /// Which class a row is of, and its place there.
    places: Vec<Option<(u32, u32)>>,
    /// The rows of each class.
    rows: Vec<Vec<usize>>,
    /// `[place][place]` of each class.
    values: Vec<OnceLock<Vec<f64>>>,
    /// Bytes that all of it takes, summed up once: each of 499,500 machines asks.
    bytes: u64,
}

impl ClassValues {
    /// For these rows of each class, none of them in two.
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

    /// Bytes that all of it takes.
    pub fn bytes(&self) -> u64 {
        self.bytes
    }

    /// The class of a row, and its place there.
    pub fn place(&self, row: usize) -> Option<(usize, usize)> {
        let (class, place) = (*self.places.get(row)?)?;
        Some((class as usize, place as usize))
    }

    /// `K[i][j]` for all rows of a class, by their places.
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
