//! Planes through the columns of data.

use maxmargin::data::Matrix;
use maxmargin_plot::data_planes;

#[test]
fn planes_of_data_show_what_varies_and_what_tells_classes_apart() {
    // The third column varies most and says nothing; the first tells the classes apart.
    let rows = 60;
    let class = |row: usize| (row % 2) as u32;
    let noise = |row: usize, k: usize| ((row * 7919 + k * 104_729) % 101) as f64 / 101.0 - 0.5;
    let numbers: Vec<f64> = (0..rows)
        .flat_map(|row| [f64::from(class(row)) + 0.1 * noise(row, 1), noise(row, 2), 9.0 * noise(row, 3)])
        .collect();
    let matrix = Matrix::dense(rows, 3, numbers).unwrap();
    let found = data_planes(&matrix, &(0..rows).map(class).collect::<Vec<_>>());
    assert_eq!(found.len(), 2);
    let spread = |places: &[(f64, f64)]| places.iter().map(|place| place.0.abs()).fold(0.0, f64::max);
    assert!(spread(&found[0].places) > 4.0, "{:?}", found[0].titles);
    let side = |row: usize| found[1].places[row].0 > 0.0;
    assert!((0..rows).all(|row| side(row) == (class(row) == 1)), "{:?}", found[1]);
    assert!((0..rows).any(|row| (found[0].places[row].0 > 0.0) != (class(row) == 1)), "the control");
    assert!(data_planes(&Matrix::dense(2, 1, vec![0.0, 1.0]).unwrap(), &[0, 1]).is_empty());
}
