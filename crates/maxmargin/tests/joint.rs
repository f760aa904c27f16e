//! Several classes trained together, against formulas written down a second time.
#![allow(clippy::unwrap_used)] // a test may end here

use std::ops::ControlFlow;

use clarabel::algebra::CscMatrix;
use clarabel::solver::{DefaultSettingsBuilder, DefaultSolver, IPSolver, NonnegativeConeT, ZeroConeT};
use maxmargin::certificate::joint::JointCertificate;
use maxmargin::data::{Dataset, Label, Labels, Matrix, embedded};
use maxmargin::model::Multiclass;
use maxmargin::problem::{Bias, Loss};
use maxmargin::solver::{Settings, Shrinkage, SolverKind, lda_projection};
use maxmargin::training::{Penalty, TrainingParams};
use maxmargin::{Beginning, Checkpoint, CheckpointControl, Control, Error, Model, Progress, Stop, Unattended, Workers};
use rand::{RngExt, SeedableRng};
use rand_pcg::Pcg64;

/// Rows of K overlapping classes in boxes around centres, some numbers exactly 0.
fn classes(rows: usize, columns: usize, classes: usize, seed: u64) -> Dataset {
    let mut random = Pcg64::seed_from_u64(seed);
    let centres: Vec<f64> = (0..classes * columns).map(|_| random.random_range(-0.8..0.8)).collect();
    let mut values = Vec::new();
    for row in 0..rows {
        for column in 0..columns {
            let noise = random.random_range(-1.0..1.0) + random.random_range(-1.0..1.0);
            let zero = random.random_range(0.0..1.0) < 0.2;
            values.push(if zero { 0.0 } else { centres[(row % classes) * columns + column] + noise });
        }
    }
    let labels = Labels::new((0..rows).map(|row| Label::new(format!("class {}", row % classes))));
    Dataset::new(Matrix::dense(rows, columns, values).unwrap(), labels).unwrap()
}

fn sparse(data: &Dataset) -> Dataset {
    data.clone().with_matrix(data.matrix().to_sparse()).unwrap()
}

/// Weights 1, 2, 3 by turns, and the same rows as copies.
fn weighted(data: &Dataset) -> (Dataset, Dataset) {
    let weight = |row: usize| 1 + row % 3;
    let copies: Vec<usize> = (0..data.rows()).flat_map(|row| vec![row; weight(row)]).collect();
    let weights = (0..data.rows()).map(|row| weight(row) as f64).collect();
    (data.clone().with_weights(weights).unwrap(), data.select_rows(&copies))
}

fn fit(data: &Dataset, params: TrainingParams) -> Model {
    params.check().unwrap().fit(data, &Workers::none(), &mut Unattended).unwrap()
}

fn softmax(bias: Bias, c: f64) -> TrainingParams {
    TrainingParams {
        solver: Some(SolverKind::Logistic),
        multiclass: Some(Multiclass::Joint),
        penalty: Penalty::C(c),
        bias,
        ..TrainingParams::default()
    }
}

fn crammer_singer(bias: Bias, c: f64) -> TrainingParams {
    let settings = Settings { tolerance: Some(1e-5), max_iterations: Some(300_000), ..Settings::default() };
    TrainingParams {
        multiclass: Some(Multiclass::CrammerSinger),
        penalty: Penalty::C(c),
        bias,
        settings,
        ..TrainingParams::default()
    }
}

fn lda(shrinkage: Shrinkage) -> TrainingParams {
    let settings = Settings { shrinkage, ..Settings::default() };
    TrainingParams { solver: Some(SolverKind::Lda), settings, ..TrainingParams::default() }
}

fn certificate(model: &Model) -> &JointCertificate {
    model.parts().joint.as_ref().unwrap().certificate().unwrap()
}

/// w_k and b_k of a model.
fn functions(model: &Model) -> Vec<(Vec<f64>, f64)> {
    model.machines().iter().map(|machine| (machine.weights.clone().unwrap(), machine.bias)).collect()
}

/// f_k(x) of functions, with the mean over the classes taken off.
fn values(functions: &[(Vec<f64>, f64)], x: &[f64]) -> Vec<f64> {
    let mut values: Vec<f64> = functions.iter().map(|(w, b)| dot(w, x) + b).collect();
    let mean = values.iter().sum::<f64>() / values.len() as f64;
    values.iter_mut().for_each(|value| *value -= mean);
    values
}

fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}

fn assert_same_values(data: &Dataset, one: &[(Vec<f64>, f64)], other: &[(Vec<f64>, f64)], tolerance: f64, what: &str) {
    for row in 0..data.rows() {
        let x = data.matrix().row(row);
        let (one, other) = (values(one, &x), values(other, &x));
        let size = one.iter().fold(1.0, |most: f64, value| most.max(value.abs()));
        let near = one.iter().zip(&other).all(|(a, b)| (a - b).abs() <= tolerance * size);
        assert!(near, "{what}, row {row}: {one:?} {other:?}");
    }
}

/// Solves a small system by elimination with pivots.
fn eliminate(mut matrix: Vec<Vec<f64>>, mut right: Vec<f64>) -> Vec<f64> {
    let n = right.len();
    for k in 0..n {
        let pivot = (k..n).max_by(|&a, &b| matrix[a][k].abs().total_cmp(&matrix[b][k].abs())).unwrap();
        matrix.swap(k, pivot);
        right.swap(k, pivot);
        for i in k + 1..n {
            let factor = matrix[i][k] / matrix[k][k];
            for j in k..n {
                matrix[i][j] -= factor * matrix[k][j];
            }
            right[i] -= factor * right[k];
        }
    }
    for k in (0..n).rev() {
        let known: f64 = (k + 1..n).map(|j| matrix[k][j] * right[j]).sum();
        right[k] = (right[k] - known) / matrix[k][k];
    }
    right
}

/// Linear discriminant analysis as the textbook has it: x′S⁻¹m_k − ½ m_k′S⁻¹m_k + log π_k, with the covariance of each class shrunk
/// by a part, or as Ledoit and Wolf say after standardising the columns of the class.
fn textbook_lda(data: &Dataset, shrinkage: Shrinkage) -> Vec<(Vec<f64>, f64)> {
    let (columns, count) = (data.columns(), data.labels().unwrap().classes().len());
    let mut pooled = vec![vec![0.0; columns]; columns];
    let (mut means, mut priors) = (Vec::new(), Vec::new());
    for class in 0..count {
        let rows: Vec<Vec<f64>> = (0..data.rows())
            .filter(|&row| data.labels().unwrap().codes()[row] as usize == class)
            .map(|row| data.matrix().row(row))
            .collect();
        let n = rows.len() as f64;
        let mean: Vec<f64> = (0..columns).map(|j| rows.iter().map(|x| x[j]).sum::<f64>() / n).collect();
        let mut covariance = vec![vec![0.0; columns]; columns];
        for x in &rows {
            for i in 0..columns {
                for j in 0..columns {
                    covariance[i][j] += (x[i] - mean[i]) * (x[j] - mean[j]) / n;
                }
            }
        }
        let d = columns as f64;
        match shrinkage {
            Shrinkage::Part(part) => {
                let trace: f64 = (0..columns).map(|j| covariance[j][j]).sum();
                for (i, line) in covariance.iter_mut().enumerate() {
                    line.iter_mut().for_each(|value| *value *= 1.0 - part);
                    line[i] += part * trace / d;
                }
            }
            Shrinkage::Auto => {
                let scale: Vec<f64> = (0..columns).map(|j| covariance[j][j].sqrt()).collect();
                let z: Vec<Vec<f64>> =
                    rows.iter().map(|x| (0..columns).map(|j| (x[j] - mean[j]) / scale[j]).collect()).collect();
                let mut squares = 0.0;
                for i in 0..columns {
                    for j in 0..columns {
                        squares += (z.iter().map(|z| z[i] * z[j]).sum::<f64>() / n).powi(2);
                    }
                }
                let fourth: f64 = z.iter().map(|z| z.iter().map(|v| v * v).sum::<f64>().powi(2)).sum();
                let beta = (fourth / n - squares) / (d * n);
                let delta = (squares - 2.0 * d + d) / d;
                let part = beta.min(delta) / delta;
                for i in 0..columns {
                    for j in 0..columns {
                        covariance[i][j] *= if i == j { 1.0 } else { 1.0 - part };
                    }
                }
            }
        }
        let prior = n / data.rows() as f64;
        for i in 0..columns {
            for j in 0..columns {
                pooled[i][j] += prior * covariance[i][j];
            }
        }
        means.push(mean);
        priors.push(prior);
    }
    means
        .iter()
        .zip(priors)
        .map(|(mean, prior)| {
            let weights = eliminate(pooled.clone(), mean.clone());
            let bias = prior.ln() - 0.5 * dot(&weights, mean);
            (weights, bias)
        })
        .collect()
}

#[test]
fn lda_of_several_classes_is_the_textbooks_tall_and_wide_dense_and_sparse() {
    for seed in 0..6 {
        for (rows, columns) in [(120, 5), (40, 7), (24, 40)] {
            let data = classes(rows, columns, 4, seed);
            for shrinkage in [Shrinkage::Part(0.0), Shrinkage::Part(0.3), Shrinkage::Auto] {
                if shrinkage == Shrinkage::Part(0.0) && rows < columns {
                    continue; // the textbook's matrix is singular
                }
                let expected = textbook_lda(&data, shrinkage);
                for data in [data.clone(), sparse(&data)] {
                    let model = fit(&data, lda(shrinkage));
                    assert_eq!((model.stop(), model.machines().len()), (Stop::Converged, 4));
                    let what = format!("seed {seed}, {rows} x {columns}, {shrinkage:?}");
                    assert_same_values(&data, &functions(&model), &expected, 1e-8, &what);
                    assert!(model.verify(&data, &Workers::none()).unwrap().holds());
                }
            }
        }
    }
}

#[test]
fn the_textbooks_lda_notices_another_shrinkage() {
    let data = classes(40, 7, 4, 1);
    let found = functions(&fit(&data, lda(Shrinkage::Part(0.3))));
    let other = textbook_lda(&data, Shrinkage::Part(0.31));
    let x = data.matrix().row(0);
    assert!(values(&found, &x).iter().zip(values(&other, &x)).any(|(a, b)| (a - b).abs() > 1e-5));
}

#[test]
fn weights_of_lda_mean_copies_and_threads_change_no_bit() {
    for (rows, columns) in [(90, 5), (24, 80)] {
        let data = classes(rows, columns, 3, 7);
        let (weighted, copies) = weighted(&data);
        for shrinkage in [Shrinkage::Part(0.2), Shrinkage::Auto] {
            let (one, other) = (fit(&weighted, lda(shrinkage)), fit(&copies, lda(shrinkage)));
            assert_same_values(&data, &functions(&one), &functions(&other), 1e-8, &format!("{shrinkage:?}"));
            let training = lda(shrinkage).check().unwrap();
            let team = training.fit(&weighted, &Workers::new(3).unwrap(), &mut Unattended).unwrap();
            assert_eq!(functions(&one), functions(&team));
        }
    }
}

#[test]
fn without_shrinkage_wide_lda_is_the_shortest_solution_on_the_span_of_the_rows() {
    let dense = classes(18, 60, 3, 3);
    for data in [dense.clone(), sparse(&dense)] {
        let model = fit(&data, lda(Shrinkage::Part(0.0)));
        assert!(model.machines()[0].notes[0].to_string().contains("shrinkage"), "{:?}", model.machines()[0].notes);
        let rows: Vec<Vec<f64>> = (0..18).map(|row| data.matrix().row(row)).collect();
        let mean = |rows: &[&Vec<f64>]| -> Vec<f64> {
            (0..60).map(|j| rows.iter().map(|x| x[j]).sum::<f64>() / rows.len() as f64).collect()
        };
        let means: Vec<Vec<f64>> =
            (0..3).map(|class| mean(&rows.iter().skip(class).step_by(3).collect::<Vec<_>>())).collect();
        let all = mean(&rows.iter().collect::<Vec<_>>());
        let centred: Vec<Vec<f64>> =
            rows.iter().enumerate().map(|(i, x)| x.iter().zip(&means[i % 3]).map(|(a, b)| a - b).collect()).collect();
        for (class, (weights, _)) in functions(&model).iter().enumerate() {
            // C_W w, with C_W = Σ z z′ / 18, is m_k − m as far as the rows can see.
            let lifted: Vec<f64> =
                (0..60).map(|j| centred.iter().map(|z| dot(z, weights) * z[j] / 18.0).sum()).collect();
            let target: Vec<f64> = means[class].iter().zip(&all).map(|(a, b)| a - b).collect();
            for z in &centred {
                assert!((dot(z, &lifted) - dot(z, &target)).abs() < 1e-6, "class {class}");
            }
            // Shortest: nothing of w is outside of the span, so what is orthogonal to all rows changes by nothing.
            let outside = residual(weights, &centred);
            assert!(dot(&outside, &outside) < 1e-12 * dot(weights, weights), "class {class}");
        }
    }
}

/// What is left of a vector after its projection onto the span of others.
fn residual(vector: &[f64], others: &[Vec<f64>]) -> Vec<f64> {
    let mut basis: Vec<Vec<f64>> = Vec::new();
    let without = |mut v: Vec<f64>, basis: &[Vec<f64>]| {
        for _ in 0..2 {
            for b in basis {
                let part = dot(&v, b);
                v.iter_mut().zip(b).for_each(|(v, b)| *v -= part * b);
            }
        }
        v
    };
    for other in others {
        let left = without(other.clone(), &basis);
        let length = dot(&left, &left).sqrt();
        if length > 1e-9 * dot(other, other).sqrt() {
            basis.push(left.into_iter().map(|value| value / length).collect());
        }
    }
    without(vector.to_vec(), &basis)
}

#[test]
fn the_wide_projection_is_that_of_the_columns() {
    // The same data, once wide and once with copies enough to be tall.
    let wide = classes(21, 30, 3, 5);
    let copies: Vec<usize> = (0..42).map(|row| row % 21).collect();
    let tall = wide.select_rows(&copies);
    let codes = |data: &Dataset| data.labels().unwrap().codes().iter().map(|&code| code as usize).collect::<Vec<_>>();
    for matrix in [wide.matrix().clone(), wide.matrix().to_sparse()] {
        let one = lda_projection(&matrix, &codes(&wide), 3, 0.25).unwrap();
        let other = lda_projection(tall.matrix(), &codes(&tall), 3, 0.25).unwrap();
        for k in 0..2 {
            assert!((one.eigenvalues[k] - other.eigenvalues[k]).abs() < 1e-9 * one.eigenvalues[k]);
            let sign = dot(&one.directions[k], &other.directions[k]).signum();
            let near = one.directions[k].iter().zip(&other.directions[k]).all(|(a, b)| (a - sign * b).abs() < 1e-8);
            assert!(near, "direction {k}");
        }
    }
}

#[test]
fn lda_asked_by_name_is_still_made_of_pairs_or_of_ones_against_the_rest() {
    let iris = embedded("iris").unwrap();
    for (multiclass, joint) in [
        (None, true),
        (Some(Multiclass::Joint), true),
        (Some(Multiclass::OneVsOne), false),
        (Some(Multiclass::OneVsRest), false),
    ] {
        let model = fit(&iris, TrainingParams { multiclass, ..lda(Shrinkage::default()) });
        assert_eq!(model.parts().joint.is_some(), joint);
    }
}

/// The objective of softmax, and the largest component of its gradient, by sums written out.
fn softmax_oracle(data: &Dataset, functions: &[(Vec<f64>, f64)], bias: Bias, c: f64) -> (f64, f64) {
    let (columns, count) = (data.columns(), functions.len());
    let mut gradient: Vec<Vec<f64>> = functions.iter().map(|(w, b)| [&w[..], &[*b]].concat()).collect();
    let mut objective = 0.0;
    for (w, b) in functions {
        objective += 0.5 * (dot(w, w) + if bias == Bias::Folded { b * b } else { 0.0 });
    }
    if bias != Bias::Folded {
        gradient.iter_mut().for_each(|gradient| gradient[columns] = 0.0);
    }
    for row in 0..data.rows() {
        let cost = c * data.weights().map_or(1.0, |weights| weights[row]);
        let (x, own) = (data.matrix().row(row), data.labels().unwrap().codes()[row] as usize);
        let f: Vec<f64> = functions.iter().map(|(w, b)| dot(w, &x) + b).collect();
        let sum: f64 = f.iter().map(|f| f.exp()).sum();
        objective += cost * (sum.ln() - f[own]);
        for k in 0..count {
            let pull = cost * (f[k].exp() / sum - f64::from(u8::from(k == own)));
            (0..columns).for_each(|j| gradient[k][j] += pull * x[j]);
            gradient[k][columns] += pull;
        }
    }
    if bias == Bias::None {
        gradient.iter_mut().for_each(|gradient| gradient[columns] = 0.0);
    }
    (objective, gradient.iter().flatten().fold(0.0, |most: f64, g| most.max(g.abs())))
}

#[test]
fn softmax_reaches_its_optimum_for_every_bias_and_cost_and_says_how_near() {
    for seed in 0..3 {
        let dense = classes(150, 6, 4, seed);
        for bias in [Bias::Explicit, Bias::Folded, Bias::None] {
            for c in [0.01, 1.0, 100.0] {
                for data in [dense.clone(), sparse(&dense)] {
                    let what = format!("seed {seed}, {bias:?}, C {c}");
                    let model = fit(&data, softmax(bias, c));
                    let found = certificate(&model);
                    assert_eq!(model.stop(), Stop::Converged, "{what}");
                    assert!(found.relative_gap <= Settings::GAP && found.gap >= 0.0, "{what}: {found:?}");
                    let (objective, violation) = softmax_oracle(&data, &functions(&model), bias, c);
                    assert!((found.primal - objective).abs() <= 1e-9 * objective, "{what}");
                    assert!((found.violation - violation).abs() <= 1e-9 * (1.0 + c), "{what}");
                    // No worse point is far above, no better one is below the dual.
                    let mut tight = softmax(bias, c);
                    tight.settings.tolerance = Some(1e-6);
                    let best = certificate(&fit(&data, tight)).clone();
                    assert!(best.relative_gap <= 1e-11, "{what}: {best:?}");
                    assert!(best.primal >= found.dual - 1e-9 * objective, "{what}");
                    assert!(found.primal - best.primal <= found.gap + 1e-9 * objective, "{what}");
                    assert!(model.verify(&data, &Workers::none()).unwrap().holds(), "{what}");
                }
            }
        }
    }
}

#[test]
fn weights_of_softmax_mean_copies_and_threads_change_no_bit() {
    let data = classes(700, 5, 3, 2);
    let (weighted, copies) = weighted(&data);
    let mut params = softmax(Bias::Explicit, 0.5);
    params.settings.tolerance = Some(1e-6);
    let (one, other) = (fit(&weighted, params.clone()), fit(&copies, params.clone()));
    assert_same_values(&data, &functions(&one), &functions(&other), 1e-5, "weights");
    let team = params.check().unwrap().fit(&weighted, &Workers::new(3).unwrap(), &mut Unattended).unwrap();
    assert_eq!(functions(&one), functions(&team));
}

#[test]
fn many_columns_are_steered_by_a_diagonal_and_reach_the_same_gap() {
    let data = sparse(&classes(90, 1300, 3, 4));
    for bias in [Bias::Explicit, Bias::Folded] {
        let model = fit(&data, softmax(bias, 0.1));
        assert_eq!(model.stop(), Stop::Converged);
        assert!(certificate(&model).relative_gap <= Settings::GAP);
    }
}

#[test]
fn a_warm_start_of_softmax_needs_fewer_steps() {
    let data = classes(300, 6, 4, 8);
    let old = fit(&data, softmax(Bias::Explicit, 1.0));
    let training = softmax(Bias::Explicit, 1.1).check().unwrap();
    let cold = training.fit(&data, &Workers::none(), &mut Unattended).unwrap();
    let warm = training.fit_from(&data, Beginning::Model(&old), &Workers::none(), &mut Unattended).unwrap();
    assert!(warm.iterations() < cold.iterations(), "{} {}", warm.iterations(), cold.iterations());
    assert!((certificate(&warm).primal - certificate(&cold).primal).abs() <= 2e-6 * certificate(&cold).primal);
}

#[test]
fn softmax_without_a_penalty_diverges_on_separable_data_and_converges_on_others() {
    let plain = TrainingParams { penalty: Penalty::None, ..softmax(Bias::Explicit, 1.0) };
    let corners = [[0.0, 0.0], [0.1, 0.2], [4.0, 0.0], [4.2, 0.1], [0.0, 4.0], [0.3, 4.0]];
    let labels = Labels::new((0..6).map(|row| Label::new((row / 2).to_string())));
    let apart = Dataset::new(Matrix::dense(6, 2, corners.concat()).unwrap(), labels).unwrap();
    let model = fit(&apart, plain.clone());
    assert_eq!(model.stop(), Stop::Diverged);
    assert!(model.machines()[0].notes[0].to_string().contains("separated"));
    let mixed = classes(400, 3, 3, 6);
    let model = fit(&mixed, plain);
    assert_eq!(model.stop(), Stop::Converged);
    assert!(model.parts().joint.as_ref().unwrap().certificate().is_none());
    assert!(model.verify(&mixed, &Workers::none()).unwrap().holds());
}

/// The optimum of Crammer and Singer's dual by a general solver: min ½ Σ_k ‖Σ_i α_ik x_i‖² + Σ_{k≠y} α_ik.
fn crammer_singer_oracle(data: &Dataset, bias: Bias, c: f64) -> f64 {
    let (n, count) = (data.rows(), data.labels().unwrap().classes().len());
    let (size, codes) = (n * count, data.labels().unwrap().codes());
    let folded = if bias == Bias::Folded { 1.0 } else { 0.0 };
    let gram = |i: usize, j: usize| dot(&data.matrix().row(i), &data.matrix().row(j)) + folded;
    let (mut starts, mut rows, mut values) = (vec![0], vec![], vec![]);
    for j in 0..size {
        for i in (0..=j).filter(|i| i % count == j % count) {
            rows.push(i);
            values.push(gram(i / count, j / count) + if i == j { 1e-12 } else { 0.0 });
        }
        starts.push(rows.len());
    }
    let objective = CscMatrix::new(size, size, starts, rows, values);
    let linear: Vec<f64> = (0..size).map(|v| if v % count == codes[v / count] as usize { 0.0 } else { 1.0 }).collect();
    // With an explicit bias the α of each class sum to 0; those of the last one do so by themselves.
    let balanced = if bias == Bias::Explicit { count - 1 } else { 0 };
    let (mut starts, mut rows, mut values) = (vec![0], vec![], vec![]);
    for v in 0..size {
        rows.push(v / count);
        rows.extend((v % count < balanced).then_some(n + v % count));
        rows.push(n + balanced + v);
        values.resize(rows.len(), 1.0);
        starts.push(rows.len());
    }
    let constraints = CscMatrix::new(n + balanced + size, size, starts, rows, values);
    let mut right = vec![0.0; n + balanced];
    right.extend((0..size).map(|v| if v % count == codes[v / count] as usize { c } else { 0.0 }));
    let cones = [ZeroConeT(n + balanced), NonnegativeConeT(size)];
    let settings = DefaultSettingsBuilder::default().verbose(false).tol_gap_abs(1e-10).tol_gap_rel(1e-10).build();
    let mut solver = DefaultSolver::new(&objective, &linear, &constraints, &right, &cones, settings.unwrap()).unwrap();
    solver.solve();
    -solver.solution.obj_val
}

#[test]
fn crammer_and_singers_machine_reaches_the_optimum_of_a_general_solver() {
    for seed in 0..4 {
        let dense = classes(24, 3, 3, seed);
        for bias in [Bias::Explicit, Bias::Folded, Bias::None] {
            for c in [0.1, 1.0, 10.0] {
                let optimum = crammer_singer_oracle(&dense, bias, c);
                for data in [dense.clone(), sparse(&dense)] {
                    let what = format!("seed {seed}, {bias:?}, C {c}");
                    let model = fit(&data, crammer_singer(bias, c));
                    let found = certificate(&model);
                    assert_eq!(model.stop(), Stop::Converged, "{what}");
                    assert!((found.dual - optimum).abs() <= 1e-5 * optimum, "{what}: {found:?} {optimum}");
                    assert!((found.primal - optimum).abs() <= 1e-4 * optimum, "{what}: {found:?} {optimum}");
                    let balance = if bias == Bias::Explicit { 1e-4 } else { 1e-12 * c.max(1.0) };
                    assert!(found.violation <= 1.1e-5 && found.infeasibility <= balance, "{what}: {found:?}");
                    assert!(model.verify(&data, &Workers::none()).unwrap().holds(), "{what}");
                }
            }
        }
    }
}

#[test]
fn weights_of_crammer_and_singers_machine_mean_copies_and_threads_change_no_bit() {
    let data = classes(60, 4, 3, 9);
    let (weighted, copies) = weighted(&data);
    let params = crammer_singer(Bias::Folded, 0.5);
    let (one, other) = (fit(&weighted, params.clone()), fit(&copies, params.clone()));
    assert!((certificate(&one).dual - certificate(&other).dual).abs() <= 1e-4 * certificate(&one).dual);
    assert_same_values(&data, &functions(&one), &functions(&other), 1e-3, "weights");
    let team = params.check().unwrap().fit(&weighted, &Workers::new(3).unwrap(), &mut Unattended).unwrap();
    assert_eq!(functions(&one), functions(&team));
}

#[test]
fn a_row_of_zeros_costs_what_it_must() {
    let mut values = vec![0.0; 8];
    values.extend([1.0, 0.0, 0.0, 1.0, -1.0, -1.0, 0.9, 0.1]);
    let labels = Labels::new(["0", "1", "2", "0", "0", "1", "2", "0"].map(Label::new));
    let data = Dataset::new(Matrix::dense(8, 2, values).unwrap(), labels).unwrap();
    let model = fit(&data, crammer_singer(Bias::None, 1.0));
    let found = certificate(&model);
    assert!(found.relative_gap < 1e-4 && found.primal > 4.0, "{found:?}");
}

#[test]
fn no_number_of_a_joint_certificate_can_be_forged() {
    type Forgery = (&'static str, fn(&mut JointCertificate));
    let forgeries: [Forgery; 8] = [
        ("primal", |c| c.primal *= 1.0 - 1e-5),
        ("dual", |c| c.dual *= 1.0 + 1e-5),
        ("gap", |c| c.gap = -1e-4),
        ("relative gap", |c| c.relative_gap += 1e-5),
        ("violation", |c| c.violation += 1e-3),
        ("infeasibility", |c| c.infeasibility += 1e-3),
        ("support vectors", |c| c.support += 1),
        ("misclassified rows", |c| c.misclassified += 1),
    ];
    let data = classes(60, 4, 3, 1);
    let hinge = [Bias::Folded, Bias::Explicit].map(|bias| crammer_singer(bias, 1.0));
    for params in hinge.into_iter().chain([softmax(Bias::Explicit, 1.0)]) {
        let model = fit(&data, params);
        assert!(model.verify(&data, &Workers::none()).unwrap().holds());
        for (name, forge) in forgeries {
            let mut parts = model.parts().clone();
            match parts.joint.as_mut().unwrap() {
                maxmargin::certificate::joint::JointEvidence::Certificate(found) => forge(found),
                other => panic!("{other:?}"),
            }
            let verification = Model::new(parts).unwrap().verify(&data, &Workers::none()).unwrap();
            assert!(!verification.holds(), "{name}");
            assert_eq!(
                (verification.disagreements[0].name.as_str(), verification.disagreements[0].machine),
                (name, None)
            );
        }
        let mut parts = model.parts().clone();
        parts.machines[1].weights.as_mut().unwrap()[0] += 1e-2;
        assert!(!Model::new(parts).unwrap().verify(&data, &Workers::none()).unwrap().holds());
        let mut parts = model.parts().clone();
        parts.machines[2].training_errors += 9;
        let verification = Model::new(parts).unwrap().verify(&data, &Workers::none()).unwrap();
        assert_eq!(verification.disagreements[0].machine, Some(2));
    }
}

/// Breaks at the n-th poll, and keeps the checkpoint.
struct BreakAt(u64, Option<Checkpoint>);

impl Control for BreakAt {
    fn poll(&mut self, _: Progress) -> ControlFlow<Stop> {
        self.0 = self.0.saturating_sub(1);
        if self.0 > 0 { ControlFlow::Continue(()) } else { ControlFlow::Break(Stop::Interrupted) }
    }
}

impl CheckpointControl for BreakAt {
    fn wants_checkpoint(&mut self, _: &Progress) -> bool {
        self.0 == 0
    }

    fn keep_checkpoint(&mut self, checkpoint: &Checkpoint) {
        self.1 = Some(checkpoint.clone());
    }
}

#[test]
fn an_interrupt_leaves_a_finite_model_and_a_checkpoint_to_go_on_from() {
    let data = classes(200, 4, 3, 3);
    let hinge = [Bias::Folded, Bias::Explicit].map(|bias| crammer_singer(bias, 1.0));
    for params in hinge.into_iter().chain([softmax(Bias::Explicit, 1.0), lda(Shrinkage::default())]) {
        let training = params.check().unwrap();
        let undisturbed = training.fit(&data, &Workers::none(), &mut Unattended).unwrap();
        for polls in [1, 2, 3, 9] {
            let mut control = BreakAt(polls, None);
            let broken = training.fit_from(&data, Beginning::Scratch, &Workers::none(), &mut control).unwrap();
            let Some(kept) = control.1 else {
                assert_eq!(broken.stop(), Stop::Converged);
                continue;
            };
            assert_eq!(broken.stop(), Stop::Interrupted);
            assert!(functions(&broken).iter().all(|(w, b)| b.is_finite() && w.iter().all(|w| w.is_finite())));
            let beginning = Beginning::Checkpoint(kept);
            let model = training.fit_from(&data, beginning, &Workers::none(), &mut Unattended).unwrap();
            assert_eq!(functions(&model), functions(&undisturbed));
        }
    }
}

#[test]
fn limits_end_the_solvers_and_are_said() {
    let data = classes(200, 4, 3, 3);
    for mut params in [softmax(Bias::Explicit, 100.0), crammer_singer(Bias::Folded, 100.0)] {
        params.settings.max_iterations = Some(1);
        params.settings.tolerance = Some(1e-9);
        let model = fit(&data, params);
        assert_eq!((model.stop(), model.iterations()), (Stop::IterationLimit, 1));
        assert!(certificate(&model).gap > 0.0);
    }
}

#[test]
fn numbers_at_the_end_of_the_range_give_a_finite_model_or_an_error() {
    let data = classes(30, 3, 3, 5);
    for scale in [1e-150, 1e-30, 1e30, 1e140] {
        let numbers: Vec<f64> = (0..30).flat_map(|row| data.matrix().row(row)).map(|value| value * scale).collect();
        let scaled = data.clone().with_matrix(Matrix::dense(30, 3, numbers).unwrap()).unwrap();
        for c in [1e-10, 1.0, 1e10] {
            let hinge = [Bias::None, Bias::Explicit].map(|bias| crammer_singer(bias, c));
            for mut params in hinge.into_iter().chain([softmax(Bias::Explicit, c), lda(Shrinkage::Auto)]) {
                params.settings.max_iterations = Some(50);
                match params.check().unwrap().fit(&scaled, &Workers::none(), &mut Unattended) {
                    Ok(model) => {
                        let finite = |(w, b): &(Vec<f64>, f64)| b.is_finite() && w.iter().all(|w| w.is_finite());
                        assert!(functions(&model).iter().all(finite), "{scale:e} {c:e}");
                    }
                    Err(error) => assert!(!error.help().is_empty()),
                }
            }
        }
    }
}

#[test]
fn what_cannot_be_trained_together_is_refused_with_the_way_out() {
    let data = classes(30, 3, 3, 5);
    let refused = |params: TrainingParams| {
        let error = params.check().unwrap().fit(&data, &Workers::none(), &mut Unattended).unwrap_err();
        assert!(matches!(error, Error::Combination { .. }), "{error}");
        (error.to_string(), error.help())
    };
    let joint = TrainingParams { multiclass: Some(Multiclass::Joint), ..TrainingParams::default() };
    let (what, help) = refused(joint.clone());
    assert_eq!(what, "multiclass joint has logistic loss, not hinge");
    assert!(help.contains("crammer-singer"));
    let (what, _) =
        refused(TrainingParams { solver: Some(SolverKind::Smo), loss: Some(Loss::Logistic), ..joint.clone() });
    assert_eq!(what, "multiclass joint is solved by logistic or lda, not by smo");
    let together = TrainingParams { multiclass: Some(Multiclass::CrammerSinger), ..TrainingParams::default() };
    let (what, _) = refused(TrainingParams { loss: Some(Loss::Squared), ..together.clone() });
    assert_eq!(what, "multiclass crammer-singer has hinge loss, not squared");
    let (what, _) = refused(TrainingParams { penalty: Penalty::Hard, bias: Bias::Folded, ..together.clone() });
    assert_eq!(what, "classes that are trained together have no hard margin");
    let kernel = maxmargin::kernel::KernelParams::Rbf { gamma: maxmargin::kernel::Gamma::Value(1.0) };
    let (what, _) = refused(TrainingParams { kernel, bias: Bias::Folded, ..together });
    assert!(what.contains("with the linear kernel only"), "{what}");
    // Of two classes there is one machine, whatever the way.
    let two = classes(30, 3, 2, 5);
    assert_eq!(fit(&two, joint).machines().len(), 1);
}
