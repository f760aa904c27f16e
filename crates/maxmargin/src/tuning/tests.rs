//! Searches as a whole.

use std::ops::ControlFlow;

use rand::{RngExt, SeedableRng};
use rand_pcg::Pcg64;

use super::*;
use crate::control::{Progress, Stop, Unattended};
use crate::data::{Dataset, Label, Labels, ScalingKind, embedded, generate};
use crate::kernel::{Gamma, KernelParams};
use crate::problem::{Bias, Task};
use crate::training::{ClassWeights, TrainingParams};
use crate::workers::Workers;

mod sharing;

fn rbf(axes: &str) -> Grid {
    Grid::of(KernelParams::Rbf { gamma: Gamma::Scale }, Axis::read_all(axes).unwrap())
}

fn params(data: &Dataset, axes: &str) -> SearchParams {
    SearchParams {
        training: TrainingParams::default(),
        grid: rbf(axes),
        splits: Splits::of_data(data, 5, 1, 3).unwrap(),
        metric: Metric::Accuracy,
        abandon: true,
        tables: false,
        seed: 0,
    }
}

fn run(params: SearchParams, data: &Dataset, threads: usize) -> Tuned {
    params.check().unwrap().run(data, &Workers::new(threads).unwrap(), &mut Unattended).unwrap()
}

#[test]
fn a_search_finds_what_separate_fits_find() {
    let data = generate("moons", 120, 5).unwrap();
    let tuned = run(SearchParams { abandon: false, ..params(&data, "C=0.1,1,10,gamma=0.1,1") }, &data, 1);
    assert_eq!((tuned.cells.len(), tuned.stop), (6, Stop::Converged));
    let splits = Splits::of_data(&data, 5, 1, 3).unwrap();
    let mut means = Vec::new();
    for cell in &tuned.cells {
        let training = rbf("C=1").params(&cell.setting, &TrainingParams::default()).unwrap().check().unwrap();
        let mut scores = Vec::new();
        for split in splits.list() {
            let model = training.fit(&data.select_rows(&split.train), &Workers::none(), &mut Unattended).unwrap();
            let held = data.select_rows(&split.test);
            let said = model.predict(held.matrix(), &Workers::none()).unwrap();
            scores.push(crate::metrics::accuracy(held.labels().unwrap(), &said.labels()).unwrap());
        }
        let found: Vec<f64> = cell.folds.iter().flatten().map(|fold| fold.score.unwrap()).collect();
        assert_eq!(found, scores, "{}", cell.setting);
        means.push(scores.iter().sum::<f64>() / 5.0);
    }
    let best = tuned.best.unwrap();
    assert!(means.iter().all(|&mean| mean <= means[best]));
    let (behind, se) = tuned.cells[best].behind.unwrap();
    assert_eq!((behind, se), (0.0, 0.0));
    assert!(tuned.not_told_apart.contains(&best) && tuned.honest.unwrap().score <= means[best] + 0.02);
}

#[test]
fn leaving_cells_changes_no_choice() {
    let mut left = 0;
    for seed in 0..20 {
        let data = generate(["moons", "blobs", "xor"][seed as usize % 3], 100, seed).unwrap();
        let axes = "C=0.01,1,100,gamma=0.001,0.5,300";
        let with = run(params(&data, axes), &data, 1);
        let without = run(SearchParams { abandon: false, ..params(&data, axes) }, &data, 1);
        assert_eq!((with.best, with.one_se), (without.best, without.one_se), "seed {seed}");
        assert_eq!(with.not_told_apart, without.not_told_apart, "seed {seed}");
        assert_eq!(without.counts.abandoned, 0);
        left += with.counts.abandoned;
    }
    assert!(left > 20, "nothing was left: {left}");
}

#[test]
fn threads_change_no_bits() {
    let data = generate("moons", 80, 2).unwrap();
    let of = |threads: usize| {
        let tuned = run(params(&data, "C=0.1,10,gamma=0.1,1"), &data, threads);
        (tuned.cells.iter().map(|cell| (cell.folds.clone(), cell.mean)).collect::<Vec<_>>(), tuned.best, tuned.honest)
    };
    let alone = of(1);
    assert!([2, 3, 8].into_iter().all(|threads| of(threads) == alone));
}

#[test]
fn an_interrupted_search_goes_on_to_the_same_bits() {
    let data = generate("moons", 80, 2).unwrap();
    let search = params(&data, "C=0.1,10,gamma=0.1,1").check().unwrap();
    let whole = search.run(&data, &Workers::none(), &mut Unattended).unwrap();
    for polls in [1, 10, 40, 90] {
        let mut left = polls;
        let mut control = |_: Progress| {
            left -= 1;
            if left > 0 { ControlFlow::Continue(()) } else { ControlFlow::Break(Stop::Interrupted) }
        };
        let mut kept = Results::default();
        let mut keep = |results: &Results, _: bool| kept = results.clone();
        let broken = search.run_from(&data, Results::default(), &Workers::none(), &mut control, &mut keep).unwrap();
        if broken.stop == Stop::Converged {
            continue;
        }
        let rest = search.run_from(&data, kept, &Workers::none(), &mut Unattended, &mut |_, _| {}).unwrap();
        assert_eq!((rest.best, rest.honest), (whole.best, whole.honest));
        assert!(rest.cells.iter().zip(&whole.cells).all(|(a, b)| a.folds == b.folds), "{polls}");
    }
    let other = generate("moons", 80, 3).unwrap();
    let mut kept = Results::default();
    search
        .run_from(&data, Results::default(), &Workers::none(), &mut Unattended, &mut |r, _| kept = r.clone())
        .unwrap();
    let error = search.run_from(&other, kept.clone(), &Workers::none(), &mut Unattended, &mut |_, _| {}).unwrap_err();
    assert_eq!(error.to_string(), "the checkpoint is of a search on other data");
    let another = params(&data, "C=0.1,10,gamma=0.1,2").check().unwrap();
    let error = another.run_from(&data, kept, &Workers::none(), &mut Unattended, &mut |_, _| {}).unwrap_err();
    assert_eq!(error.to_string(), "the checkpoint is of a search with other parameters");
}

#[test]
fn another_budget_of_memory_is_no_other_search_and_a_break_has_a_best_so_far() {
    let data = generate("moons", 80, 2).unwrap();
    let own = params(&data, "C=0.1,10,gamma=0.1,1");
    let mut polls = 0;
    let mut kept = Results::default();
    let mut count = |_: Progress| {
        polls += 1;
        ControlFlow::Continue(())
    };
    own.clone().check().unwrap().run(&data, &Workers::none(), &mut count).unwrap();
    let mut left = polls / 4;
    let mut control = |_: Progress| {
        left -= 1;
        if left > 0 { ControlFlow::Continue(()) } else { ControlFlow::Break(Stop::Interrupted) }
    };
    let search = own.clone().check().unwrap();
    let mut keep = |results: &Results, _: bool| kept = results.clone();
    let broken = search.run_from(&data, Results::default(), &Workers::none(), &mut control, &mut keep).unwrap();
    assert_eq!(broken.stop, Stop::Interrupted);
    assert!(broken.best.is_some() && broken.cells.iter().all(|cell| cell.mean.is_none()), "{:?}", broken.best);
    let mut more = own;
    more.training.settings.memory /= 2;
    let rest = more.check().unwrap().run_from(&data, kept, &Workers::none(), &mut Unattended, &mut |_, _| {});
    assert_eq!(rest.unwrap().stop, Stop::Converged);
}

#[test]
fn numbers_are_searched_too() {
    let data = Dataset::new(
        crate::data::Matrix::dense(60, 1, (0..60).map(|k| f64::from(k) / 10.0).collect::<Vec<_>>()).unwrap(),
        crate::data::Answers::Numbers((0..60).map(|k| (f64::from(k) / 10.0).sin()).collect()),
    )
    .unwrap();
    let training = TrainingParams { task: Task::Regression { epsilon: 0.1 }, ..TrainingParams::default() };
    for metric in [Metric::RSquared, Metric::MeanSquaredError, Metric::MeanAbsoluteError] {
        let grid = rbf("C=0.01,10,gamma=1,epsilon=0.01,0.5");
        let tuned = run(SearchParams { training: training.clone(), grid, metric, ..params(&data, "C=1") }, &data, 1);
        let best = &tuned.cells[tuned.best.unwrap()].setting;
        assert_eq!((best.value(Knob::C), best.value(Knob::Epsilon)), (Some(10.0), Some(0.01)), "{:?}", tuned.metric);
        assert!(tuned.honest.is_some());
    }
    let error = SearchParams { training, ..params(&data, "C=1") }.check().unwrap_err();
    assert_eq!(error.to_string(), "the metric accuracy is not for numbers");
}

#[test]
fn other_scores_and_several_classes_and_kernels_are_searched() {
    let data = embedded("iris").unwrap();
    for metric in [Metric::Auc, Metric::F1, Metric::BalancedAccuracy, Metric::LogLoss] {
        let mut grid = rbf("C=1,gamma=0.0001,0.5");
        grid.parts.push(GridPart { kernel: KernelParams::Linear, axes: Axis::read_all("C=0.0001,1").unwrap() });
        let tuned = run(SearchParams { grid, metric, ..params(&data, "C=1") }, &data, 2);
        let best = &tuned.cells[tuned.best.unwrap()];
        assert!(
            best.setting.value(Knob::C) == Some(1.0) && best.setting.value(Knob::Gamma) != Some(0.0001),
            "{best:?}"
        );
        assert_eq!(tuned.honest, None);
    }
}

#[test]
fn what_the_user_should_know_is_said() {
    let data = embedded("iris").unwrap();
    let tuned = run(params(&data, "C=0.001,0.01,gamma=0.1"), &data, 1);
    assert!(tuned.warnings.iter().any(|warning| matches!(warning, Warning::Border { knob: Knob::C, .. })));
    assert!(tuned.warnings.iter().any(|warning| matches!(warning, Warning::Copies { .. })), "{:?}", tuned.warnings);
    let rows: Vec<usize> = (0..103).collect();
    let few = data.select_rows(&rows);
    let tuned = run(params(&few, "C=1,gamma=0.1"), &few, 1);
    let said = tuned.warnings.iter().map(Warning::to_string).collect::<Vec<_>>();
    assert!(said.iter().any(|text| text.contains("has 3 rows, fewer than there are splits")), "{said:?}");
    let grouped = few.with_groups((0..103).map(|k| k / 10).collect()).unwrap();
    assert!(run(params(&grouped, "C=1,gamma=0.1"), &grouped, 1).warnings.contains(&Warning::Groups));
}

#[test]
fn data_that_cannot_be_searched_is_refused() {
    let data = embedded("iris").unwrap();
    let search = params(&data, "C=1,gamma=1").check().unwrap();
    let part = data.select_rows(&(0..100).collect::<Vec<_>>());
    assert!(search.run(&part, &Workers::none(), &mut Unattended).is_err());
    let split = |train: Vec<usize>, test: Vec<usize>| Splits::given(vec![Split { train, test }], 150).unwrap();
    let splits = split((0..40).collect(), (40..60).collect());
    let search = SearchParams { splits, ..params(&data, "C=1,gamma=1") }.check().unwrap();
    let error = search.run(&data, &Workers::none(), &mut Unattended).unwrap_err();
    assert_eq!(error.to_string(), "split 1 trains on rows of one class alone");
    assert!(params(&data, "C=-1,gamma=1").check().is_err() && params(&data, "epsilon=1").check().is_err());
}

/// Sets of every kind that tables are for, with what is particular of the training.
fn kinds() -> Vec<(&'static str, Dataset, TrainingParams, KernelParams)> {
    let gaussian = || KernelParams::Rbf { gamma: Gamma::Scale };
    let usual = TrainingParams::default;
    let moons = generate("moons", 150, 3).unwrap();
    let blobs = generate("blobs", 150, 4).unwrap();
    let sparse = blobs.clone().with_matrix(blobs.matrix().to_sparse()).unwrap();
    // No sums of these are equal. Where all coefficients could be at their bounds, b would be any number of an interval.
    let weights: Vec<f64> = (0..150).map(|k| [0.0, 0.53, 1.0, 1.61][k % 4]).collect();
    let iris = embedded("iris").unwrap();
    vec![
        ("two classes", moons.clone(), usual(), gaussian()),
        ("sparse", sparse, usual(), gaussian()),
        ("three classes", iris.clone(), usual(), gaussian()),
        ("weights of rows", moons.clone().with_weights(weights).unwrap(), usual(), gaussian()),
        (
            "weights of classes",
            iris.clone(),
            TrainingParams { class_weights: ClassWeights::Balanced, ..usual() },
            gaussian(),
        ),
        ("no bias", moons.clone(), TrainingParams { bias: Bias::None, ..usual() }, gaussian()),
        ("scaled", iris.clone(), TrainingParams { scaling: ScalingKind::Standard, ..usual() }, gaussian()),
        (
            "one against the rest",
            iris,
            TrainingParams { positive: Some(Label::new("versicolor")), ..usual() },
            gaussian(),
        ),
        ("laplacian", moons.clone(), usual(), KernelParams::Laplacian { gamma: Gamma::Scale }),
        ("polynomial", moons, usual(), KernelParams::Polynomial { gamma: Gamma::Scale, coef0: 1.0, degree: 2 }),
    ]
}

#[test]
fn tables_and_ordinary_fits_agree() {
    for (what, data, mut training, kernel) in kinds() {
        training.settings.tolerance = Some(1e-8);
        let grid = Grid::of(kernel, Axis::read_all("C=0.1,3,100,gamma=0.05,1").unwrap());
        let own = SearchParams { training, grid, abandon: false, ..params(&data, "C=1") };
        let search = SearchParams { tables: true, ..own.clone() }.check().unwrap();
        assert!(search.has_table(&data, 0), "{what}");
        let (fast, slow) = (run(search.params().clone(), &data, 2), run(own, &data, 1));
        for (fast, slow) in fast.cells.iter().zip(&slow.cells) {
            let what = format!("{what}, {}", fast.setting);
            for (fast, slow) in fast.folds.iter().zip(&slow.folds) {
                let (fast, slow) = (fast.as_ref().unwrap(), slow.as_ref().unwrap());
                assert_eq!((fast.stop, slow.stop), (Stop::Converged, Stop::Converged), "{what}");
                assert!(fast.gap.unwrap() < 1e-6, "{what}: {:?}", fast.gap);
                let apart = fast.values.iter().zip(&slow.values).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max);
                assert!(apart < 1e-4, "{what}: values are {apart} apart");
                let near = |k: &usize| slow.values.get(*k).is_none_or(|value| value.abs() > 1e-4);
                let other = (0..fast.predicted.len()).filter(near).filter(|&k| fast.predicted[k] != slow.predicted[k]);
                assert_eq!(other.count(), 0, "{what}");
                assert!(fast.support.abs_diff(slow.support) <= 2, "{what}: {} {}", fast.support, slow.support);
                if let (Some(fast), Some(slow)) = (fast.margin, slow.margin) {
                    assert!((fast / slow - 1.0).abs() < 1e-3, "{what}: margins {fast} {slow}");
                }
                // Rows of weight 0 are no training rows of a table.
                if let (Some(fast), Some(slow), None) = (fast.training, slow.training, data.weights()) {
                    assert!((fast - slow).abs() < 0.02, "{what}: training scores {fast} {slow}");
                }
            }
        }
    }
}

#[test]
fn the_comparison_of_tables_would_notice_another_kernel() {
    let data = generate("moons", 150, 3).unwrap();
    let of = |axes: &str, tables: bool| run(SearchParams { tables, abandon: false, ..params(&data, axes) }, &data, 1);
    let (one, other) = (of("C=3,gamma=0.05", true), of("C=3,gamma=0.06", false));
    let values = |tuned: &Tuned| tuned.cells[0].folds[0].as_ref().unwrap().values.clone();
    assert!(values(&one).iter().zip(values(&other)).any(|(a, b)| (a - b).abs() > 1e-3));
}

#[test]
fn larger_machines_are_climbed_block_after_block() {
    let data = generate("moons", 2000, 6).unwrap();
    let own = SearchParams { abandon: false, ..params(&data, "C=0.1,30,gamma=0.5,8") };
    let (fast, slow) = (run(SearchParams { tables: true, ..own.clone() }, &data, 2), run(own, &data, 2));
    for (fast, slow) in fast.cells.iter().zip(&slow.cells) {
        assert!(fast.gap().unwrap() < 5e-3, "{}: {:?}", fast.setting, fast.gap());
        assert_eq!(fast.state, State::Exact, "{}", fast.setting);
        assert!(
            (fast.mean.unwrap() - slow.mean.unwrap()).abs() <= 0.0015,
            "{}: {:?} {:?}",
            fast.setting,
            fast.mean,
            slow.mean
        );
        for (fast, slow) in fast.folds.iter().flatten().zip(slow.folds.iter().flatten()) {
            let apart = fast.values.iter().zip(&slow.values).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max);
            assert!(apart < 0.1, "values are {apart} apart");
        }
    }
}

#[test]
fn threads_and_leaving_cells_change_nothing_on_tables() {
    for seed in 0..20 {
        let data = generate(["moons", "blobs", "xor"][seed as usize % 3], 120, seed).unwrap();
        let own = SearchParams { tables: true, ..params(&data, "C=0.01,1,100,10000,gamma=0.001,0.5,300") };
        let with = run(own.clone(), &data, 1);
        let without = run(SearchParams { abandon: false, ..own.clone() }, &data, 2);
        assert_eq!(
            (with.best, with.one_se, &with.not_told_apart),
            (without.best, without.one_se, &without.not_told_apart)
        );
        for threads in [2, 3, 8] {
            let other = run(own.clone(), &data, threads);
            assert!(
                with.cells.iter().zip(&other.cells).all(|(a, b)| a.folds == b.folds),
                "seed {seed}, {threads} threads"
            );
        }
        for (a, b) in with.cells.iter().zip(&without.cells) {
            let folds = a.folds.iter().zip(&b.folds).filter(|(fold, _)| fold.is_some());
            folds.for_each(|(a, b)| assert_eq!(a, b, "seed {seed}"));
        }
    }
}

#[test]
fn a_machine_without_bounded_coefficients_is_copied_to_larger_c() {
    let data = generate("blobs", 100, 2).unwrap();
    let own = SearchParams { tables: true, abandon: false, ..params(&data, "C=0.1,1e6,1e8,gamma=30") };
    let tuned = run(own, &data, 1);
    assert_eq!(tuned.cells[2].state, State::SameAs(1));
    assert_eq!(tuned.cells[2].mean, tuned.cells[1].mean);
    let cold = run(SearchParams { tables: true, abandon: false, ..params(&data, "C=1e8,gamma=30") }, &data, 1);
    for (copy, cold) in tuned.cells[2].folds.iter().flatten().zip(cold.cells[0].folds.iter().flatten()) {
        assert!(copy.gap.unwrap() < 1e-2, "{:?}", copy.gap);
        let apart = copy.values.iter().zip(&cold.values).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max);
        assert!(apart < 5e-3, "{apart}");
    }
    assert!(tuned.counts.same == 1 && !tuned.warnings.iter().any(|w| matches!(w, Warning::Unfinished { .. })));
}

/// Rows of a generated set, some of whose labels are turned round.
fn noisy(name: &str, rows: usize, seed: u64) -> Dataset {
    let data = generate(name, rows, seed).unwrap();
    let labels = data.labels().unwrap();
    let mut random = Pcg64::seed_from_u64(seed ^ 0x5eed);
    let codes: Vec<u32> =
        labels.codes().iter().map(|&code| if random.random_bool(0.15) { 1 - code } else { code }).collect();
    let labels = Labels::from_codes(labels.classes(), &codes).unwrap();
    data.with_answers(labels).unwrap()
}

#[test]
fn the_honest_interval_covers_the_truth_and_the_best_score_is_too_good() {
    let (mut covered, mut naive, mut honest) = (0, 0.0, 0.0);
    for seed in 0..50 {
        let name = ["moons", "blobs", "xor"][seed as usize % 3];
        let data = noisy(name, 120, seed);
        let own = SearchParams { tables: true, ..params(&data, "C=0.1:1000:5,gamma=0.01:100:6") };
        let search = own.check().unwrap();
        let tuned = search.run(&data, &Workers::none(), &mut Unattended).unwrap();
        let best = tuned.best.unwrap();
        let model = search.training(best).unwrap().fit(&data, &Workers::none(), &mut Unattended).unwrap();
        let new = noisy(name, 3000, seed + 1000);
        let said = model.predict(new.matrix(), &Workers::none()).unwrap();
        let truth = crate::metrics::accuracy(new.labels().unwrap(), &said.labels()).unwrap();
        let found = tuned.honest.unwrap();
        covered += u32::from(found.interval.0 <= truth && truth <= found.interval.1);
        naive += (tuned.cells[best].mean.unwrap() - truth) / 50.0;
        honest += (found.score - truth) / 50.0;
    }
    assert!(covered >= 45, "{covered} of 50");
    assert!(honest < naive && honest.abs() < 0.03, "honest {honest}, naive {naive}");
}
