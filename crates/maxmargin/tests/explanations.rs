//! An explanation is the decision value itself, taken apart: its terms sum to what prediction says, for every kind of model.
#![allow(clippy::unwrap_used)] // a test may end here

use maxmargin::data::{Dataset, Label, Labels, Matrix, ScalingKind, embedded};
use maxmargin::kernel::{Gamma, KernelParams};
use maxmargin::model::Multiclass;
use maxmargin::problem::{Bias, Loss, Task};
use maxmargin::review::{Detail, Explanation, TermSource};
use maxmargin::solver::{Settings, SolverKind};
use maxmargin::training::{Penalty, TrainingParams};
use maxmargin::{Model, Unattended, Workers};
use rand::{RngExt, SeedableRng};
use rand_pcg::Pcg64;

const EVERYTHING: Detail = Detail { terms: usize::MAX, all_machines: true };

fn fit(data: &Dataset, params: TrainingParams) -> Model {
    params.check().unwrap().fit(data, &Workers::none(), &mut Unattended).unwrap()
}

fn explain(model: &Model, data: &Dataset, row: usize, detail: Detail) -> Explanation {
    model.explain(data, row, detail, &Workers::none()).unwrap()
}

/// Rows of which about half of the entries are 0, around as many centres as there are classes; the labels are numbers.
fn random(seed: u64, rows: usize, columns: usize, classes: usize) -> Dataset {
    let mut generator = Pcg64::seed_from_u64(seed);
    let mut values = vec![0.0; rows * columns];
    for (place, value) in values.iter_mut().enumerate() {
        let near = f64::from(u8::from(place % columns % classes == place / columns % classes));
        if generator.random_bool(0.5) {
            *value = generator.random_range(0.1..2.0) + near;
        }
    }
    let labels = Labels::new((0..rows).map(|row| Label::new((row % classes).to_string())));
    Dataset::new(Matrix::dense(rows, columns, values).unwrap(), labels).unwrap()
}

fn sparse(data: &Dataset) -> Dataset {
    Dataset::new(data.matrix().to_sparse(), data.labels().unwrap().clone()).unwrap()
}

/// Models of every task, kernel and way to tell classes apart.
fn models(seed: u64) -> Vec<(String, Model, Dataset)> {
    let rbf = || KernelParams::Rbf { gamma: Gamma::Value(0.2) };
    let kernels: [(&str, KernelParams); 5] = [
        ("linear", KernelParams::Linear),
        ("rbf", rbf()),
        ("polynomial", KernelParams::Polynomial { gamma: Gamma::Value(0.3), coef0: 1.0, degree: 3 }),
        ("laplacian", KernelParams::Laplacian { gamma: Gamma::Value(0.2) }),
        ("sum", KernelParams::Sum(vec![KernelParams::Linear, rbf()])),
    ];
    let tasks = [
        (2, Task::Classification, Multiclass::OneVsOne),
        (4, Task::Classification, Multiclass::OneVsOne),
        (3, Task::Classification, Multiclass::OneVsRest),
        (3, Task::Regression { epsilon: 0.1 }, Multiclass::OneVsOne),
        (2, Task::OneClass { nu: 0.3 }, Multiclass::OneVsOne),
        (2, Task::Svdd { nu: 0.3 }, Multiclass::OneVsOne),
    ];
    let mut out = Vec::new();
    for (name, kernel) in kernels {
        for (classes, task, multiclass) in tasks {
            let data = random(seed, 24, 5, classes);
            let bias = if seed % 2 == 1 && task.usual().is_none() { Bias::Folded } else { Bias::Explicit };
            let scaling = if seed.is_multiple_of(3) { ScalingKind::Standard } else { ScalingKind::None };
            let (kernel, multiclass) = (kernel.clone(), task.is_classification().then_some(multiclass));
            let params = TrainingParams { task, kernel, multiclass, bias, scaling, ..TrainingParams::default() };
            let name = format!("seed {seed}, {name}, {classes} classes, {}", task.name());
            out.push((name, fit(&data, params), data));
        }
    }
    let data = random(seed, 24, 5, 3);
    for (multiclass, loss) in [(Multiclass::Joint, Loss::Logistic), (Multiclass::CrammerSinger, Loss::Hinge)] {
        let params = TrainingParams { multiclass: Some(multiclass), loss: Some(loss), ..TrainingParams::default() };
        let params = match loss {
            Loss::Logistic => TrainingParams { solver: Some(SolverKind::Logistic), ..params },
            _ => params,
        };
        out.push((format!("seed {seed}, {}", multiclass.name()), fit(&data, params), data.clone()));
    }
    out
}

#[test]
fn the_terms_sum_to_what_prediction_says() {
    for seed in 0..4 {
        for (name, model, data) in models(seed) {
            let predictions = model.predict(&data, &Workers::none()).unwrap();
            for row in 0..data.rows() {
                let found = explain(&model, &data, row, EVERYTHING);
                assert_eq!(found.values, predictions.decision_values(row), "{name}, row {row}");
                assert_eq!(found.code, predictions.codes().get(row).copied(), "{name}, row {row}");
                assert_eq!(found.reasons.len(), model.machines().len());
                for reason in &found.reasons {
                    let own = reason.own.unwrap_or(0.0);
                    let sum = reason.terms.iter().map(|term| term.term).sum::<f64>() + reason.bias + own;
                    let size = reason.size + reason.bias.abs() + own.abs();
                    assert!((sum - reason.value).abs() <= 1e-12 * size, "{name}, row {row}: {sum} {}", reason.value);
                    assert_eq!(reason.count, reason.terms.len());
                    let shares: f64 = reason.terms.iter().map(|term| term.share).sum();
                    assert!(reason.count == 0 || (shares - 1.0).abs() < 1e-12, "{name}, row {row}: {shares}");
                    assert!(reason.terms.is_sorted_by(|a, b| a.term.abs() >= b.term.abs()));
                }
            }
        }
    }
}

#[test]
fn dense_and_sparse_rows_are_explained_alike() {
    for (name, model, data) in models(5) {
        let other = sparse(&data);
        for row in 0..data.rows() {
            let (dense, sparse) = (explain(&model, &data, row, EVERYTHING), explain(&model, &other, row, EVERYTHING));
            assert_eq!((dense.code, &dense.votes), (sparse.code, &sparse.votes), "{name}, row {row}");
            for (a, b) in dense.reasons.iter().zip(&sparse.reasons) {
                assert_eq!(a.count, b.count, "{name}, row {row}");
                assert!((a.sum - b.sum).abs() <= 1e-12 * a.size, "{name}, row {row}");
                let near = a.distance.zip(b.distance).is_none_or(|(a, b)| (a - b).abs() <= 1e-9 * a.abs().max(1.0));
                assert!(near && a.distance.is_some() == b.distance.is_some(), "{name}, row {row}");
            }
        }
    }
}

/// E1: w = (5/6, 1/3), b = −10/3, so the row (4, 4) has f = 20/6 + 4/3 − 10/3 = 4/3.
#[test]
fn the_line_of_e1_is_explained_as_by_hand() {
    let data = embedded("e1").unwrap();
    let settings = Settings { tolerance: Some(1e-9), ..Settings::default() };
    let model = fit(&data, TrainingParams { penalty: Penalty::Hard, settings, ..TrainingParams::default() });
    let found = explain(&model, &data, 2, Detail::default());
    assert_eq!(found.code, Some(1));
    assert!(found.votes.is_none() && found.lead.is_none(), "two classes have one machine");
    let reason = &found.reasons[0];
    let near = |found: f64, expected: f64| assert!((found - expected).abs() < 1e-6, "{found}, {expected}");
    near(reason.value, 4.0 / 3.0);
    near(reason.bias, -10.0 / 3.0);
    assert_eq!(reason.terms[0].source, TermSource::Column(0));
    near(reason.terms[0].term, 20.0 / 6.0);
    near(reason.terms[0].share, 20.0 / 28.0);
    near(reason.terms[1].coefficient, 1.0 / 3.0);
    near(reason.terms[1].term, 4.0 / 3.0);
    // ‖w‖ = √29/6
    near(reason.distance.unwrap(), 8.0 / 29f64.sqrt());
    // The point of the plane that lies so far along w has f = 0.
    let distance = reason.distance.unwrap();
    let norm = 29f64.sqrt() / 6.0;
    let foot = [4.0 - distance * (5.0 / 6.0) / norm, 4.0 - distance * (1.0 / 3.0) / norm];
    near(5.0 / 6.0 * foot[0] + foot[1] / 3.0 - 10.0 / 3.0, 0.0);
}

/// E3: k(x, z) = (1 + ⟨x, z⟩)², and α as in the book. Row 1 is (1, 2), and k(x1, x2) = (1 + 4 + 2)² = 49.
#[test]
fn the_ellipse_of_e3_is_explained_as_by_hand() {
    let data = embedded("e3").unwrap();
    let kernel = KernelParams::Polynomial { gamma: Gamma::Value(1.0), coef0: 1.0, degree: 2 };
    let settings = Settings { tolerance: Some(1e-8), ..Settings::default() };
    let model = fit(&data, TrainingParams { kernel, penalty: Penalty::C(4.0), settings, ..TrainingParams::default() });
    let found = explain(&model, &data, 0, EVERYTHING);
    let reason = &found.reasons[0];
    let of = |row: u64| reason.terms.iter().find(|term| term.source == TermSource::TrainingRow(row)).unwrap();
    let expected = [
        (0, 0.620085, 36.0),
        (1, 2.070513, 49.0),
        (2, 3.805128, 256.0),
        (3, 0.318376, 144.0),
        (4, -2.961538, 169.0),
        (5, -3.852564, 169.0),
    ];
    for (row, coefficient, value) in expected {
        assert_eq!(of(row).value, value, "row {row}");
        assert!((of(row).coefficient - coefficient).abs() < 1e-4, "row {row}");
    }
    assert_eq!(reason.terms[0].source, TermSource::TrainingRow(2), "3.805 · 256 is the largest");
    // ‖w‖² = Σ w² in the lifted space, where the book gives w.
    let weights = [0.0, -std::f64::consts::SQRT_2, -3.299832, 0.256410, 0.820513, -0.018131];
    let norm = weights.iter().map(|weight| weight * weight).sum::<f64>().sqrt();
    assert!((reason.distance.unwrap() - reason.value.abs() / norm).abs() < 1e-4);
}

/// A ball of the linear kernel is one in the plane: the rows' own distances tell whether (M.7) is right.
#[test]
fn the_distance_to_a_ball_is_that_of_the_plane() {
    let corners = [[0.0, 0.0], [2.0, 0.0], [0.0, 2.0], [2.0, 2.0]];
    let values: Vec<f64> = corners.iter().flatten().copied().collect();
    let data = Dataset::unlabelled(Matrix::dense(4, 2, values).unwrap());
    let settings = Settings { tolerance: Some(1e-10), ..Settings::default() };
    // No row may lie outside, so the ball is that around (1, 1) through the corners. The kernel ⟨x, z⟩ + 1 has the same distances.
    let kernel = KernelParams::Polynomial { gamma: Gamma::Value(1.0), coef0: 1.0, degree: 1 };
    let task = Task::Svdd { nu: 0.1 };
    let model = fit(&data, TrainingParams { task, kernel, settings, ..TrainingParams::default() });
    let matrix = Matrix::dense(4, 2, vec![1.0, 1.0, 4.0, 5.0, 1.0, 2.0, 2.0, 2.0]).unwrap();
    let new = Dataset::unlabelled(matrix);
    let radius = 2f64.sqrt();
    for (row, expected) in [radius, 5.0 - radius, radius - 1.0, 0.0].into_iter().enumerate() {
        let found = explain(&model, &new, row, EVERYTHING).reasons[0].distance.unwrap();
        assert!((found - expected).abs() < 1e-6, "row {row}: {found} {expected}");
    }
}

#[test]
fn of_several_classes_the_machines_of_the_winner_are_shown_and_their_votes_counted() {
    let iris = embedded("iris").unwrap();
    let model = fit(&iris, TrainingParams::default());
    let found = explain(&model, &iris, 0, Detail { terms: 2, all_machines: false });
    assert_eq!(found.votes, Some(vec![2, 1, 0]));
    assert_eq!(found.reasons.iter().map(|reason| reason.machine).collect::<Vec<_>>(), [0, 1]);
    assert!(found.reasons.iter().all(|reason| reason.terms.len() == 2 && reason.count == 4));
    assert_eq!(explain(&model, &iris, 0, EVERYTHING).reasons.len(), 3);
}

/// Where the largest value wins, the lead is zero at the distance told, in the direction of the difference of the weights.
#[test]
fn the_lead_of_the_winner_ends_at_the_distance_told() {
    let iris = embedded("iris").unwrap();
    for multiclass in [Multiclass::OneVsRest, Multiclass::CrammerSinger] {
        let model = fit(&iris, TrainingParams { multiclass: Some(multiclass), ..TrainingParams::default() });
        let found = explain(&model, &iris, 70, Detail::default());
        let lead = found.lead.unwrap();
        let (winner, rival) = (found.code.unwrap() as usize, lead.rival as usize);
        assert_eq!(found.reasons.len(), 2);
        let weights = |class: usize| model.machines()[class].weights.clone().unwrap();
        let across: Vec<f64> = weights(winner).iter().zip(&weights(rival)).map(|(a, b)| a - b).collect();
        let norm = across.iter().map(|part| part * part).sum::<f64>().sqrt();
        let moved = iris
            .matrix()
            .row(70)
            .iter()
            .zip(&across)
            .map(|(x, a)| x - lead.distance.unwrap() * a / norm)
            .collect::<Vec<_>>();
        let moved = Dataset::new(Matrix::dense(1, 4, moved).unwrap(), Labels::new([Label::new("setosa")])).unwrap();
        let values = explain(&model, &moved, 0, Detail::default()).values;
        assert!((values[winner] - values[rival]).abs() < 1e-9, "{values:?}");
        assert!(multiclass == Multiclass::OneVsRest || found.reasons.iter().all(|reason| reason.distance.is_none()));
    }
}

#[test]
fn a_row_that_is_not_there_is_refused() {
    let data = embedded("e1").unwrap();
    let model = fit(&data, TrainingParams::default());
    for row in [14, usize::MAX] {
        let error = model.explain(&data, row, Detail::default(), &Workers::none()).unwrap_err();
        assert!(error.to_string().ends_with(": the data has 14"), "{error}");
        assert_eq!(error.help(), "rows are counted from 1 to 14");
    }
}

/// The negative control of the sum: a coefficient that was changed shows in its term.
#[test]
fn a_changed_coefficient_changes_its_term() {
    let data = random(1, 24, 5, 2);
    let kernel = KernelParams::Rbf { gamma: Gamma::Value(0.2) };
    let model = fit(&data, TrainingParams { kernel, ..TrainingParams::default() });
    let mut parts = model.parts().clone();
    parts.machines[0].coefficients[0] *= 1.0 + 1e-9;
    let changed = explain(&Model::new(parts).unwrap(), &data, 0, EVERYTHING);
    let reason = &explain(&model, &data, 0, EVERYTHING).reasons[0];
    let sum = reason.terms.iter().map(|term| term.term).sum::<f64>() + reason.bias;
    assert!((sum - changed.values[0]).abs() > 1e-12 * reason.size);
}
