//! Shared work and separate fits agree; ranges that grow; races and samples.

use super::*;
use crate::problem::{Loss, Norm, Penalty};
use crate::solver::{Chain, ChainProblem};

/// Sets of every kind that ordinary fits are for, with what is particular of the training, the kernel and the axes.
fn kinds_without_tables() -> Vec<(&'static str, Dataset, TrainingParams, KernelParams, &'static str)> {
    let gaussian = || KernelParams::Rbf { gamma: Gamma::Value(0.5) };
    let usual = TrainingParams::default;
    let moons = generate("moons", 120, 3).unwrap();
    let iris = embedded("iris").unwrap();
    let sparse = moons.clone().with_matrix(moons.matrix().to_sparse()).unwrap();
    let weighted = moons.clone().with_weights((0..120).map(|k| f64::from(k % 3) + 0.5).collect()).unwrap();
    let numbers = waves(90, 4);
    let (costs, both) = ("C=0.1,1,30", "C=0.1,1,30,epsilon=0.02,0.1,0.4");
    let of_loss = |loss: Loss| TrainingParams { loss: Some(loss), ..usual() };
    let regression = TrainingParams { task: Task::Regression { epsilon: 0.1 }, ..usual() };
    let l1 = TrainingParams { norm: Norm::L1, bias: Bias::Folded, ..of_loss(Loss::Squared) };
    vec![
        ("linear", moons.clone(), usual(), KernelParams::Linear, costs),
        ("linear, three classes", iris.clone(), usual(), KernelParams::Linear, costs),
        ("linear, squared loss", iris.clone(), of_loss(Loss::Squared), KernelParams::Linear, costs),
        ("linear, logistic loss", weighted.clone(), of_loss(Loss::Logistic), KernelParams::Linear, costs),
        ("linear, L1", moons.clone(), l1, KernelParams::Linear, costs),
        ("linear, sparse", sparse.clone(), TrainingParams { bias: Bias::None, ..usual() }, KernelParams::Linear, costs),
        ("squared loss", moons, of_loss(Loss::Squared), gaussian(), costs),
        ("squared loss, sparse, weights", weighted, of_loss(Loss::Squared), gaussian(), costs),
        ("folded bias", sparse, TrainingParams { bias: Bias::Folded, ..usual() }, gaussian(), costs),
        ("regression", numbers, regression, gaussian(), both),
    ]
}

/// A sine with noise.
fn waves(rows: usize, seed: u64) -> Dataset {
    let mut random = Pcg64::seed_from_u64(seed);
    let places: Vec<f64> = (0..rows).map(|_| random.random_range(-3.0..3.0)).collect();
    let numbers = places.iter().map(|x| x.sin() + random.random_range(-0.2..0.2)).collect();
    let matrix = crate::data::Matrix::dense(rows, 1, places).unwrap();
    Dataset::new(matrix, crate::data::Answers::Numbers(numbers)).unwrap()
}

#[test]
fn fits_that_begin_at_a_neighbour_and_fits_from_scratch_agree() {
    for (what, data, mut training, kernel, axes) in kinds_without_tables() {
        let is_linear = matches!(kernel, KernelParams::Linear);
        (training.settings.tolerance, training.settings.gap) =
            if is_linear { (None, Some(1e-10)) } else { (Some(1e-8), None) };
        let metric = Metric::usual(training.task.is_regression());
        let grid = Grid::of(kernel, Axis::read_all(axes).unwrap());
        let own = SearchParams { training, grid, metric, abandon: false, ..params(&data, "C=1") };
        let search = SearchParams { tables: true, ..own.clone() }.check().unwrap();
        assert!(!search.has_table(&data, 0), "{what}");
        let fast = search.run(&data, &Workers::new(2).unwrap(), &mut Unattended).unwrap();
        let slow = run(own, &data, 1);
        for (fast, slow) in fast.cells.iter().zip(&slow.cells) {
            let what = format!("{what}, {}", fast.setting);
            for (fast, slow) in fast.folds.iter().flatten().zip(slow.folds.iter().flatten()) {
                assert_eq!((fast.stop, slow.stop), (Stop::Converged, Stop::Converged), "{what}");
                let has_numbers = data.answers().labels().is_none();
                let values = |fold: &FoldResult| if has_numbers { fold.predicted.clone() } else { fold.values.clone() };
                let (fast_values, slow_values) = (values(fast), values(slow));
                let apart = fast_values.iter().zip(&slow_values).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max);
                assert!(apart < 2e-3, "{what}: values are {apart} apart");
                assert!((fast.score.unwrap() - slow.score.unwrap()).abs() < 0.04, "{what}");
            }
        }
        let (behind, _) = slow.cells[fast.best.unwrap()].behind.unwrap();
        assert!(behind < 0.01, "{what}: the choice is {behind} behind");
    }
}

#[test]
fn a_chain_and_a_training_have_one_dual_objective_within_their_gaps() {
    for seed in 0..8 {
        let data = noisy(["moons", "blobs", "xor"][seed as usize % 3], 90, seed);
        let (rows, gamma) = (data.rows(), [0.1, 0.7, 5.0][seed as usize % 3]);
        let weights: Vec<f64> = (0..rows).map(|k| 0.5 + (k % 3) as f64).collect();
        let has_bias = seed % 2 == 0;
        let labels = data.labels().unwrap();
        let signs: Vec<f64> = labels.codes().iter().map(|&code| if code == 1 { 1.0 } else { -1.0 }).collect();
        let mut table = vec![0.0; rows * rows];
        for i in 0..rows {
            for j in 0..rows {
                let (mut one, mut other) = (vec![0.0; data.columns()], vec![0.0; data.columns()]);
                data.matrix().visit(i, |column, value| one[column] = value);
                data.matrix().visit(j, |column, value| other[column] = value);
                let square: f64 = one.iter().zip(&other).map(|(a, b)| (a - b) * (a - b)).sum();
                table[i * rows + j] = (-gamma * square).exp();
            }
        }
        let places: Vec<usize> = (0..rows).collect();
        let problem =
            ChainProblem { table: &table, size: rows, rows: &places, signs: &signs, weights: &weights, has_bias };
        let mut chain = Chain::new(problem);
        for cost in [0.05, 1.0, 20.0, 1000.0] {
            let mut go_on = || ControlFlow::Continue(());
            let found = chain.solve(cost, 1e-6, 1_000_000, &mut go_on).unwrap();
            let dual = found.sum - 0.5 * found.square;
            let training = TrainingParams {
                kernel: KernelParams::Rbf { gamma: Gamma::Value(gamma) },
                penalty: Penalty::C(cost),
                bias: if has_bias { Bias::Explicit } else { Bias::None },
                ..TrainingParams::default()
            };
            let weighted = data.clone().with_weights(weights.clone()).unwrap();
            let model = training.check().unwrap().fit(&weighted, &Workers::none(), &mut Unattended).unwrap();
            let certificate = model.machines()[0].evidence.certificate().unwrap();
            let gaps = found.gap * (dual / (1.0 - found.gap)).abs() + (certificate.primal - certificate.dual);
            let apart = (dual - certificate.dual).abs();
            assert!(apart <= gaps + 1e-9 * dual.abs(), "seed {seed}, C {cost}: {apart} apart, gaps {gaps}");
            // Another C is told apart.
            assert!(found.gap < 1e-3 && (found.is_copy || dual > 1e-3), "seed {seed}, C {cost}: gap {}", found.gap);
        }
    }
}

#[test]
fn a_range_that_the_data_suggested_goes_on_beyond_its_border() {
    let data = noisy("moons", 160, 5);
    let own = SearchParams { tables: true, ..params(&data, "C=0.3,1,gamma=0.02,0.1") };
    let search = own.check().unwrap();
    let free = [(0, Knob::C), (0, Knob::Gamma)];
    let extend = |free: &[(usize, Knob)],
                  from: Results,
                  threads: usize,
                  control: &mut dyn crate::control::Control,
                  keep: &mut dyn FnMut(&Results, bool)| {
        search.run_extending(&data, free, from, &Workers::new(threads).unwrap(), control, keep).unwrap()
    };
    let mut states = Vec::new();
    let mut keep = |results: &Results, _: bool| states.push(results.clone());
    let (larger, tuned) = extend(&free, Results::default(), 1, &mut Unattended, &mut keep);
    assert!(tuned.cells.len() > 4, "{} cells", tuned.cells.len());
    assert!(tuned.warnings.iter().any(|warning| matches!(warning, Warning::Extended { .. })), "{:?}", tuned.warnings);
    let (best, before) = (tuned.best.unwrap(), search.run(&data, &Workers::none(), &mut Unattended).unwrap());
    assert!(tuned.cells[best].mean > before.cells[before.best.unwrap()].mean);
    assert_eq!(larger.settings().len(), tuned.cells.len());
    let at_best = larger.training(best).unwrap().params();
    assert_eq!(at_best.penalty, Penalty::C(tuned.cells[best].setting.value(Knob::C).unwrap()));
    let bits = |tuned: &Tuned| tuned.cells.iter().map(|cell| cell.folds.clone()).collect::<Vec<_>>();
    let (_, other) = extend(&free, Results::default(), 3, &mut Unattended, &mut |_, _| {});
    assert_eq!(bits(&tuned), bits(&other));
    // From any state on the way the result is the same.
    for state in states.iter().step_by(7) {
        let (_, rest) = extend(&free, state.clone(), 1, &mut Unattended, &mut |_, _| {});
        assert_eq!((bits(&rest), rest.best), (bits(&tuned), tuned.best));
    }
    // What the user named stays.
    let (_, named) = extend(&[], Results::default(), 1, &mut Unattended, &mut |_, _| {});
    assert_eq!(named.cells.len(), 4);
    assert!(named.warnings.iter().any(|warning| matches!(warning, Warning::Border { .. })));
}

#[test]
fn suggested_ranges_are_those_that_nobody_named() {
    let data = embedded("iris").unwrap();
    let named = rbf("C=1,10");
    let filled = named.clone().filled(&TrainingParams::default(), data.matrix(), &Workers::none()).unwrap();
    assert_eq!(filled.suggested(&named), [(0, Knob::Gamma)]);
    assert_eq!(filled.suggested(&filled), []);
}

#[test]
fn a_race_leaves_cells_says_so_and_ends_near_the_best() {
    let mut left = 0;
    for seed in 0..10 {
        let data = noisy(["moons", "blobs", "xor"][seed as usize % 3], 200, seed);
        let own = SearchParams { tables: true, ..params(&data, "C=0.01,1,100,gamma=0.001,0.5,300") };
        let whole = run(SearchParams { abandon: false, ..own.clone() }, &data, 1);
        let search = own.check().unwrap().by(Strategy::Race).unwrap();
        let of = |threads: usize| search.run(&data, &Workers::new(threads).unwrap(), &mut Unattended).unwrap();
        let raced = of(1);
        let best = raced.best.unwrap();
        let (apart, se) = whole.cells[best].behind.unwrap();
        assert!(apart <= 3.0 * se, "seed {seed}: {apart} behind");
        assert_eq!(raced.counts.abandoned > 0, raced.warnings.iter().any(|w| matches!(w, Warning::Raced { .. })));
        assert_eq!(raced.counts.unfinished, 0, "seed {seed}");
        left += raced.counts.abandoned;
        assert!(raced.cells.iter().zip(&of(3).cells).all(|(a, b)| a.folds == b.folds), "seed {seed}");
    }
    assert!(left >= 10, "{left} cells were left");
    let data = generate("moons", 60, 1).unwrap();
    let auc = SearchParams { metric: Metric::Auc, ..params(&data, "C=1") }.check().unwrap();
    let error = auc.by(Strategy::Race).unwrap_err();
    assert_eq!(error.to_string(), "a race needs a score that is a mean over rows, not auc");
}

#[test]
fn a_sample_leaves_cells_that_lose_by_far_and_small_sets_have_none() {
    let data = noisy("moons", 4500, 1);
    let axes = "C=1,gamma=1e-7,0.5";
    let own = SearchParams { tables: true, ..params(&data, axes) };
    let search = own.clone().check().unwrap().by(Strategy::Screen).unwrap();
    let mut kept = Results::default();
    let mut keep = |results: &Results, _: bool| kept = results.clone();
    let tuned =
        search.run_from(&data, Results::default(), &Workers::new(2).unwrap(), &mut Unattended, &mut keep).unwrap();
    assert!(tuned.counts.abandoned > 0 && kept.screened.contains(&true), "{:?}", tuned.counts);
    let whole = run(SearchParams { abandon: false, ..own }, &data, 2);
    assert_eq!(tuned.best, whole.best);
    let small = generate("moons", 200, 1).unwrap();
    let search = SearchParams { tables: true, ..params(&small, axes) }.check().unwrap();
    let tuned = search.by(Strategy::Screen).unwrap().run(&small, &Workers::none(), &mut Unattended).unwrap();
    assert!(!tuned.warnings.iter().any(|warning| matches!(warning, Warning::Raced { .. })));
}

#[test]
fn a_search_on_tables_that_leaves_cells_goes_on_from_any_state_to_the_same_bits() {
    for strategy in [Strategy::Certain, Strategy::Race] {
        let data = noisy("blobs", 150, 9);
        let own = SearchParams { tables: true, ..params(&data, "C=0.01,1,100,gamma=0.001,0.5,300") };
        let search = own.check().unwrap().by(strategy).unwrap();
        let mut states = Vec::new();
        let mut keep = |results: &Results, _: bool| states.push(results.clone());
        let go_on = |from: Results, keep: &mut dyn FnMut(&Results, bool)| {
            search.run_from(&data, from, &Workers::none(), &mut Unattended, keep).unwrap()
        };
        let whole = go_on(Results::default(), &mut keep);
        assert!(states.len() > 8);
        for state in states {
            let rest = go_on(state, &mut |_, _| {});
            assert_eq!((rest.best, rest.one_se, rest.honest), (whole.best, whole.one_se, whole.honest));
            assert!(rest.cells.iter().zip(&whole.cells).all(|(a, b)| a.folds == b.folds), "{strategy:?}");
        }
    }
}
