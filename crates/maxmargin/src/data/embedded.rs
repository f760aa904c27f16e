//! Small data sets that are part of the program, so that every worked example runs without a file.

use super::{Dataset, Label, Labels, Matrix};

/// The names that [`embedded`] knows.
pub const NAMES: [&str; 4] = ["iris", "e1", "e2", "e3"];

/// The data set called `name`, or `None` when there is none; [`NAMES`] lists them.
///
/// | name | rows | columns | labels | what |
/// | --- | --- | --- | --- | --- |
/// | `iris` | 150 | `sepal_length`, `sepal_width`, `petal_length`, `petal_width` | `setosa`, `versicolor`, `virginica` | lengths in cm |
/// | `e1` | 14 | `x1`, `x2` | `-1`, `+1` | two classes that a line separates |
/// | `e2` | 18 | `x1`, `x2` | `-1`, `+1` | `e1` and four points that no line separates |
/// | `e3` | 6 | `x1`, `x2` | `-1`, `+1` | two classes that an ellipse separates |
///
/// # Examples
/// ```
/// let iris = maxmargin::data::embedded("iris").expect("it is one of the names");
/// assert_eq!((iris.rows(), iris.columns()), (150, 4));
/// assert_eq!(iris.labels()?.get(0).text(), "setosa");
/// # Ok::<(), maxmargin::Error>(())
/// ```
///
/// # References
/// R. A. Fisher, The use of multiple measurements in taxonomic problems, Annals of Eugenics 7, 1936. Many copies
/// of the table carry two slips, in rows 35 and 38; the values here are those of the paper.
pub fn embedded(name: &str) -> Option<Dataset> {
    match name {
        "iris" => iris(),
        "e1" => plane(&E1),
        "e2" => plane(&[&E1[..], &E2_MORE[..]].concat()),
        "e3" => plane(&E3),
        _ => None,
    }
}

fn iris() -> Option<Dataset> {
    let values: Vec<f64> = IRIS_TENTHS.iter().flatten().map(|&tenths| f64::from(tenths) / 10.0).collect();
    let labels = (0..150).map(|row| Label::new(["setosa", "versicolor", "virginica"][row / 50]));
    let names = ["sepal_length", "sepal_width", "petal_length", "petal_width"].map(String::from);
    let matrix = Matrix::dense(150, 4, values).ok()?;
    Dataset::new(matrix, Labels::new(labels)).ok()?.with_names(names.to_vec()).ok()
}

/// Points of the plane, each with its label: x1, x2, label.
fn plane(points: &[(f64, f64, &str)]) -> Option<Dataset> {
    let values: Vec<f64> = points.iter().flat_map(|&(x1, x2, _)| [x1, x2]).collect();
    let labels = Labels::new(points.iter().map(|&(_, _, label)| Label::new(label)));
    let matrix = Matrix::dense(points.len(), 2, values).ok()?;
    Dataset::new(matrix, labels).ok()?.with_names(vec!["x1".into(), "x2".into()]).ok()
}

const E1: [(f64, f64, &str); 14] = [
    (3.5, 4.25, "+1"),
    (4.0, 3.0, "+1"),
    (4.0, 4.0, "+1"),
    (4.5, 1.75, "+1"),
    (4.9, 4.5, "+1"),
    (5.0, 4.0, "+1"),
    (5.5, 2.5, "+1"),
    (5.5, 3.5, "+1"),
    (0.5, 1.5, "-1"),
    (1.0, 2.5, "-1"),
    (1.25, 0.5, "-1"),
    (1.5, 1.5, "-1"),
    (2.0, 2.0, "-1"),
    (2.5, 0.75, "-1"),
];

/// What E2 adds to E1.
const E2_MORE: [(f64, f64, &str); 4] = [(4.0, 2.0, "+1"), (2.0, 3.0, "+1"), (3.0, 2.0, "-1"), (5.0, 3.0, "-1")];

const E3: [(f64, f64, &str); 6] =
    [(1.0, 2.0, "+1"), (4.0, 1.0, "+1"), (6.0, 4.5, "+1"), (7.0, 2.0, "+1"), (4.0, 4.0, "-1"), (6.0, 3.0, "-1")];

/// Sepal length and width, petal length and width in tenths of a centimetre: 50 setosa, 50 versicolor, 50 virginica.
#[rustfmt::skip]
const IRIS_TENTHS: [[u8; 4]; 150] = [
    [51, 35, 14, 2], [49, 30, 14, 2], [47, 32, 13, 2], [46, 31, 15, 2], [50, 36, 14, 2],
    [54, 39, 17, 4], [46, 34, 14, 3], [50, 34, 15, 2], [44, 29, 14, 2], [49, 31, 15, 1],
    [54, 37, 15, 2], [48, 34, 16, 2], [48, 30, 14, 1], [43, 30, 11, 1], [58, 40, 12, 2],
    [57, 44, 15, 4], [54, 39, 13, 4], [51, 35, 14, 3], [57, 38, 17, 3], [51, 38, 15, 3],
    [54, 34, 17, 2], [51, 37, 15, 4], [46, 36, 10, 2], [51, 33, 17, 5], [48, 34, 19, 2],
    [50, 30, 16, 2], [50, 34, 16, 4], [52, 35, 15, 2], [52, 34, 14, 2], [47, 32, 16, 2],
    [48, 31, 16, 2], [54, 34, 15, 4], [52, 41, 15, 1], [55, 42, 14, 2], [49, 31, 15, 2],
    [50, 32, 12, 2], [55, 35, 13, 2], [49, 36, 14, 1], [44, 30, 13, 2], [51, 34, 15, 2],
    [50, 35, 13, 3], [45, 23, 13, 3], [44, 32, 13, 2], [50, 35, 16, 6], [51, 38, 19, 4],
    [48, 30, 14, 3], [51, 38, 16, 2], [46, 32, 14, 2], [53, 37, 15, 2], [50, 33, 14, 2],
    [70, 32, 47, 14], [64, 32, 45, 15], [69, 31, 49, 15], [55, 23, 40, 13], [65, 28, 46, 15],
    [57, 28, 45, 13], [63, 33, 47, 16], [49, 24, 33, 10], [66, 29, 46, 13], [52, 27, 39, 14],
    [50, 20, 35, 10], [59, 30, 42, 15], [60, 22, 40, 10], [61, 29, 47, 14], [56, 29, 36, 13],
    [67, 31, 44, 14], [56, 30, 45, 15], [58, 27, 41, 10], [62, 22, 45, 15], [56, 25, 39, 11],
    [59, 32, 48, 18], [61, 28, 40, 13], [63, 25, 49, 15], [61, 28, 47, 12], [64, 29, 43, 13],
    [66, 30, 44, 14], [68, 28, 48, 14], [67, 30, 50, 17], [60, 29, 45, 15], [57, 26, 35, 10],
    [55, 24, 38, 11], [55, 24, 37, 10], [58, 27, 39, 12], [60, 27, 51, 16], [54, 30, 45, 15],
    [60, 34, 45, 16], [67, 31, 47, 15], [63, 23, 44, 13], [56, 30, 41, 13], [55, 25, 40, 13],
    [55, 26, 44, 12], [61, 30, 46, 14], [58, 26, 40, 12], [50, 23, 33, 10], [56, 27, 42, 13],
    [57, 30, 42, 12], [57, 29, 42, 13], [62, 29, 43, 13], [51, 25, 30, 11], [57, 28, 41, 13],
    [63, 33, 60, 25], [58, 27, 51, 19], [71, 30, 59, 21], [63, 29, 56, 18], [65, 30, 58, 22],
    [76, 30, 66, 21], [49, 25, 45, 17], [73, 29, 63, 18], [67, 25, 58, 18], [72, 36, 61, 25],
    [65, 32, 51, 20], [64, 27, 53, 19], [68, 30, 55, 21], [57, 25, 50, 20], [58, 28, 51, 24],
    [64, 32, 53, 23], [65, 30, 55, 18], [77, 38, 67, 22], [77, 26, 69, 23], [60, 22, 50, 15],
    [69, 32, 57, 23], [56, 28, 49, 20], [77, 28, 67, 20], [63, 27, 49, 18], [67, 33, 57, 21],
    [72, 32, 60, 18], [62, 28, 48, 18], [61, 30, 49, 18], [64, 28, 56, 21], [72, 30, 58, 16],
    [74, 28, 61, 19], [79, 38, 64, 20], [64, 28, 56, 22], [63, 28, 51, 15], [61, 26, 56, 14],
    [77, 30, 61, 23], [63, 34, 56, 24], [64, 31, 55, 18], [60, 30, 48, 18], [69, 31, 54, 21],
    [67, 31, 56, 24], [69, 31, 51, 23], [58, 27, 51, 19], [68, 32, 59, 23], [67, 33, 57, 25],
    [67, 30, 52, 23], [63, 25, 50, 19], [65, 30, 52, 20], [62, 34, 54, 23], [59, 30, 51, 18],
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_name_is_known_and_no_other() {
        for name in NAMES {
            let data = embedded(name).unwrap();
            assert_eq!(data.names().unwrap().len(), data.columns(), "{name}");
        }
        assert!(embedded("Iris").is_none());
        assert!(embedded("").is_none());
    }

    #[test]
    fn sizes_and_classes_are_those_of_the_table() {
        let shape = |name: &str| {
            let data = embedded(name).unwrap();
            (data.rows(), data.columns(), data.labels().unwrap().classes().len())
        };
        assert_eq!(NAMES.map(shape), [(150, 4, 3), (14, 2, 2), (18, 2, 2), (6, 2, 2)]);
        let e2 = embedded("e2").unwrap();
        assert_eq!(e2.labels().unwrap().codes(), [1, 1, 1, 1, 1, 1, 1, 1, 0, 0, 0, 0, 0, 0, 1, 1, 0, 0]);
        assert_eq!(e2.matrix().row(17), [5.0, 3.0]);
    }

    #[test]
    fn iris_has_the_column_sums_of_the_paper_and_its_two_corrected_rows() {
        let iris = embedded("iris").unwrap();
        let mut sums = [0.0; 4];
        (0..150).for_each(|row| iris.matrix().add_scaled(row, 10.0, &mut sums));
        assert_eq!(sums.map(f64::round), [8765.0, 4586.0, 5637.0, 1799.0]);
        assert_eq!(iris.matrix().row(34), [4.9, 3.1, 1.5, 0.2]);
        assert_eq!(iris.matrix().row(37), [4.9, 3.6, 1.4, 0.1]);
    }

    /// 1/2 ‖(w, b)‖² + 10 Σ max(0, 1 − y f(x)) of setosa against the rest on the two sepal columns.
    fn objective_of_e4(weights: [f64; 3]) -> f64 {
        let iris = embedded("iris").unwrap();
        let slacks: f64 = (0..150)
            .map(|row| {
                let x = iris.matrix().row(row);
                let sign = if row < 50 { 1.0 } else { -1.0 };
                (1.0 - sign * (weights[0] * x[0] + weights[1] * x[1] + weights[2])).max(0.0)
            })
            .sum();
        0.5 * weights.iter().map(|weight| weight * weight).sum::<f64>() + 10.0 * slacks
    }

    #[test]
    fn the_objective_of_e4_comes_out_of_the_iris_values() {
        let best = [-2.746252, 3.747918, 3.086840];
        assert!((objective_of_e4(best) - 45.867404).abs() < 1e-3);
        // The negative control: any step away costs something.
        for (column, step) in [(0, 0.01), (0, -0.01), (1, 0.01), (1, -0.01), (2, 0.01), (2, -0.01)] {
            let mut other = best;
            other[column] += step;
            assert!(objective_of_e4(other) > objective_of_e4(best), "column {column}, step {step}");
        }
    }
}
