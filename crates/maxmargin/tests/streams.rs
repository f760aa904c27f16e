//! Learning from streams: the same bits however the rows are cut and wherever it is interrupted, and near the exact answer.
#![allow(clippy::unwrap_used)] // a test may end here

use maxmargin::data::{Dataset, Label, Labels, Matrix, embedded, generate};
use maxmargin::problem::{Bias, Loss};
use maxmargin::solver::Settings;
use maxmargin::stream::{Before, RowTrace, StreamParams, StreamSnapshot, StreamingSgd};
use maxmargin::training::Penalty;
use maxmargin::{Stop, TrainingParams, Unattended, Workers};
use proptest::prelude::*;
use rand::{RngExt, SeedableRng};
use rand_pcg::Pcg64;

fn slice(data: &Dataset, from: usize, to: usize) -> Dataset {
    data.select_rows(&(from..to).collect::<Vec<_>>())
}

/// Rows in an order that mixes the classes, the same for every run.
fn mixed(data: &Dataset) -> Dataset {
    let step = (data.rows() / 3..).find(|step| gcd(*step, data.rows()) == 1).unwrap();
    data.select_rows(&(0..data.rows()).map(|k| k * step % data.rows()).collect::<Vec<_>>())
}

fn gcd(a: usize, b: usize) -> usize {
    if b == 0 { a } else { gcd(b, a % b) }
}

/// Every number of the model, as bits.
fn bits(learner: &StreamingSgd) -> Vec<u64> {
    let model = learner.model(Stop::IterationLimit).unwrap();
    let machines = model.machines().iter();
    machines
        .flat_map(|machine| machine.weights.iter().flatten().copied().chain([machine.bias]).collect::<Vec<_>>())
        .map(f64::to_bits)
        .collect()
}

fn all_params() -> Vec<StreamParams> {
    let mut all = Vec::new();
    for loss in [Loss::Hinge, Loss::Squared, Loss::Logistic] {
        for bias in [Bias::Explicit, Bias::Folded, Bias::None] {
            for (batch, average_from, hold_out) in [(1, Some(0), None), (7, Some(20), Some(5)), (3, None, Some(2))] {
                all.push(StreamParams { loss, bias, batch, average_from, hold_out, ..StreamParams::default() });
            }
        }
    }
    all
}

/// (ST.1) of a model's first machine.
fn objective(data: &Dataset, weights: &[f64], bias: f64, params: &StreamParams) -> f64 {
    let sign = |row: usize| if data.labels().unwrap().codes()[row] == 1 { 1.0 } else { -1.0 };
    let losses = (0..data.rows()).map(|row| params.loss.value(sign(row) * (data.matrix().dot(row, weights) + bias)));
    let norm: f64 = weights.iter().map(|w| w * w).sum();
    let folded = if params.bias == Bias::Folded { bias * bias } else { 0.0 };
    params.lambda * (norm + folded) + losses.sum::<f64>() / data.rows() as f64
}

#[test]
fn a_few_passes_come_near_the_exact_optimum_for_every_loss_and_bias() {
    let data = mixed(&generate("blobs", 1000, 3).unwrap());
    let shifted: Vec<f64> = (0..1000)
        .flat_map(|row| {
            let x = data.matrix().row(row);
            [x[0] + 1.0, 0.5 * x[1], 0.3]
        })
        .collect();
    let data = Dataset::new(Matrix::dense(1000, 3, shifted).unwrap(), data.labels().unwrap().clone()).unwrap();
    for loss in [Loss::Hinge, Loss::Squared, Loss::Logistic] {
        for bias in [Bias::Explicit, Bias::Folded, Bias::None] {
            let params = StreamParams { loss, bias, lambda: 1e-2, ..StreamParams::default() };
            let mut learner = params.clone().check().unwrap();
            for _ in 0..10 {
                learner.learn(&data).unwrap();
                learner.end_pass();
            }
            let model = learner.model(Stop::IterationLimit).unwrap();
            let machine = &model.machines()[0];
            let found = objective(&data, machine.weights.as_deref().unwrap(), machine.bias, &params);
            let exact = TrainingParams {
                penalty: Penalty::Lambda(1e-2),
                loss: Some(loss),
                bias,
                settings: Settings { tolerance: Some(1e-6), ..Settings::default() },
                solver: (loss == Loss::Logistic).then_some(maxmargin::solver::SolverKind::Logistic),
                ..TrainingParams::default()
            };
            let exact = exact.check().unwrap().fit(&data, &Workers::none(), &mut Unattended).unwrap();
            // What verify finds for the weights of a stream: the same primal, and a bound that is one.
            let verification = model.verify(&data, &Workers::none()).unwrap();
            assert!(verification.holds() && verification.same_data.is_none());
            let certificate = verification.evidence[0].certificate().unwrap();
            let machine = &exact.machines()[0];
            let best = objective(&data, machine.weights.as_deref().unwrap(), machine.bias, &params);
            assert!(found <= 1.02 * best, "{} {}: {found} is not near {best}", loss.name(), bias.name());
            assert!(found >= best * (1.0 - 1e-6), "{} {}: {found} is better than {best}", loss.name(), bias.name());
            let of_exact = machine.evidence.certificate().unwrap();
            let name = format!("{} {}: {certificate:?} beside {of_exact:?}", loss.name(), bias.name());
            assert!((certificate.primal / of_exact.primal - found / best).abs() < 1e-9, "{name}");
            assert!(certificate.dual <= of_exact.primal * (1.0 + 1e-12), "{name}");
            assert!(certificate.infeasibility < 1e-9 * certificate.primal && certificate.gap >= 0.0, "{name}");
            assert!(certificate.relative_gap < 0.03, "{name}");
        }
    }
}

#[test]
fn the_same_bits_come_out_however_the_rows_are_cut_and_stored() {
    let data = mixed(&embedded("iris").unwrap());
    for params in all_params() {
        let learner = |blocks: &[Dataset]| {
            let mut learner =
                StreamParams { classes: data.labels().unwrap().classes().to_vec(), ..params.clone() }.check().unwrap();
            for _ in 0..2 {
                blocks.iter().for_each(|block| learner.learn(block).unwrap());
                learner.end_pass();
            }
            learner
        };
        let whole = learner(std::slice::from_ref(&data));
        let rows: Vec<Dataset> = (0..150).map(|row| slice(&data, row, row + 1)).collect();
        let sparse = data.clone().with_matrix(data.matrix().to_sparse()).unwrap();
        for other in [learner(&rows), learner(&[slice(&data, 0, 100), slice(&data, 100, 150)]), learner(&[sparse])] {
            assert_eq!(bits(&other), bits(&whole), "{params:?}");
            assert_eq!(other.progressive(), whole.progressive());
            assert_eq!(other.held_out(), whole.held_out());
        }
    }
}

#[test]
fn a_learner_made_of_a_snapshot_goes_on_to_the_same_bits() {
    let data = mixed(&embedded("iris").unwrap());
    let mut random = Pcg64::seed_from_u64(5);
    for params in all_params() {
        let undisturbed = {
            let mut learner = params.clone().check().unwrap();
            for _ in 0..3 {
                learner.learn(&data).unwrap();
                learner.end_pass();
            }
            learner
        };
        let mut learner = params.clone().check().unwrap();
        for _ in 0..3 {
            // The first block tells the labels, so it has all of them.
            let mut cuts: Vec<usize> = (0..4).map(|_| random.random_range(40..150)).collect();
            cuts.sort_unstable();
            let mut start = 0;
            for cut in cuts.into_iter().chain([150]) {
                learner.learn(&slice(&data, start, cut)).unwrap();
                start = cut;
                let StreamSnapshot { state, vectors } = learner.snapshot();
                // As it would be saved.
                let text = serde_json::to_string(&state).unwrap();
                let state = serde_json::from_str(&text).unwrap();
                learner = StreamingSgd::from_snapshot(StreamSnapshot { state, vectors }).unwrap();
            }
            learner.end_pass();
        }
        assert_eq!(bits(&learner), bits(&undisturbed), "{params:?}");
        assert_eq!(learner.progressive(), undisturbed.progressive());
        assert_eq!(learner.held_out(), undisturbed.held_out());
    }
}

#[test]
fn a_block_that_was_learnt_in_part_goes_on_in_the_middle_and_other_rows_are_noticed() {
    let data = mixed(&embedded("iris").unwrap());
    let mut whole = StreamParams::default().check().unwrap();
    whole.learn(&data).unwrap();
    let mut parts = StreamParams::default().check().unwrap();
    parts.learn(&slice(&data, 0, 60)).unwrap();
    let mut trace = RowTrace::default();
    trace.add(&parts, &data, 60).unwrap();
    assert_eq!((trace.rows, trace.value), (parts.rows(), parts.trace()));
    let mut other = RowTrace::default();
    other.add(&parts, &slice(&data, 1, 61), 60).unwrap();
    assert_ne!(other.value, parts.trace());
    parts.learn_rows(&data, 60..150).unwrap();
    assert_eq!(bits(&parts), bits(&whole));
    assert!(parts.is_same_pass(), "there was none before");
    parts.end_pass();
    parts.learn(&data).unwrap();
    assert!(parts.is_same_pass());
    parts.end_pass();
    parts.learn(&slice(&data, 0, 149)).unwrap();
    assert!(!parts.is_same_pass());
}

#[test]
fn a_row_of_weight_0_is_absent() {
    let data = mixed(&embedded("iris").unwrap());
    let classes = data.labels().unwrap().classes().to_vec();
    let params = StreamParams { classes, hold_out: Some(4), batch: 3, ..StreamParams::default() };
    let mut without = params.clone().check().unwrap();
    without.learn(&data.select_rows(&(0..150).filter(|row| row % 3 != 1).collect::<Vec<_>>())).unwrap();
    let weights = (0..150).map(|row| if row % 3 == 1 { 0.0 } else { 1.0 }).collect();
    let mut with = params.check().unwrap();
    with.learn(&data.clone().with_weights(weights).unwrap()).unwrap();
    assert_eq!((bits(&with), with.learnt()), (bits(&without), without.learnt()));
    assert_eq!(with.held_out(), without.held_out());
}

#[test]
fn columns_may_grow_and_begin_at_0() {
    let data = mixed(&generate("blobs", 300, 1).unwrap());
    let matrix = data.matrix().to_sparse();
    let data = Dataset::new(matrix, data.labels().unwrap().clone()).unwrap();
    // The first hundred rows know nothing of the second column.
    let rows: Vec<usize> = (0..100).collect();
    let narrow = data.matrix().select_rows(&rows).select_columns(&[Some(0)]);
    let padded = narrow.select_columns(&[Some(0), None]);
    let labels = data.labels().unwrap().select(&rows);
    let rest = slice(&data, 100, 300);
    let learn = |first: Matrix| {
        let mut learner = StreamParams::default().check().unwrap();
        learner.learn(&Dataset::new(first, labels.clone()).unwrap()).unwrap();
        learner.learn(&rest).unwrap();
        assert_eq!(learner.columns(), 2);
        bits(&learner)
    };
    assert_eq!(learn(narrow), learn(padded));
}

#[test]
fn held_out_rows_are_never_learnt() {
    let data = mixed(&generate("blobs", 400, 9).unwrap());
    let params = StreamParams { hold_out: Some(4), ..StreamParams::default() };
    let mut learner = params.clone().check().unwrap();
    learner.learn(&data).unwrap();
    assert_eq!((learner.held_out().rows, learner.learnt()), (100, 300));
    // Nonsense in the rows that are held out changes what they score, and nothing else.
    let values =
        (0..400).flat_map(|row| data.matrix().row(row).into_iter().map(move |x| if row % 4 == 3 { -x } else { x }));
    let matrix = Matrix::dense(400, 2, values.collect::<Vec<f64>>()).unwrap();
    let mut other = params.check().unwrap();
    other.learn(&data.clone().with_matrix(matrix).unwrap()).unwrap();
    assert_eq!(bits(&other), bits(&learner));
    assert!(learner.held_out().error_rate() < 0.05 && other.held_out().error_rate() > 0.9);
}

#[test]
fn progressive_validation_tells_how_well_it_learns() {
    let data = mixed(&generate("blobs", 20_000, 2).unwrap());
    let mut learner = StreamParams::default().check().unwrap();
    learner.learn(&data).unwrap();
    assert_eq!(learner.progressive().rows, 20_000);
    assert!(learner.progressive().error_rate() < 0.01, "{}", learner.progressive().error_rate());
    assert!(learner.recent().rows < 20_000 && learner.recent().mean_loss() < 0.1);
}

#[test]
fn one_row_far_longer_than_all_others_does_no_lasting_harm() {
    let data = mixed(&generate("blobs", 2000, 4).unwrap());
    let values = (0..2000).flat_map(|row| {
        let far = if row == 1000 { 1e6 } else { 1.0 };
        data.matrix().row(row).into_iter().map(move |x| far * x)
    });
    let far = Matrix::dense(2000, 2, values.collect::<Vec<f64>>()).unwrap();
    for loss in [Loss::Hinge, Loss::Squared, Loss::Logistic] {
        let mut learner = StreamParams { loss, ..StreamParams::default() }.check().unwrap();
        learner.learn(&data.clone().with_matrix(far.clone()).unwrap()).unwrap();
        let model = learner.model(Stop::IterationLimit).unwrap();
        let predictions = model.predict(&data, &Workers::none()).unwrap();
        let wrong = predictions.codes().iter().zip(data.labels().unwrap().codes()).filter(|(a, b)| a != b).count();
        assert!(wrong < 60, "{}: {wrong} of 2000 wrong", loss.name());
    }
}

#[test]
fn what_does_not_fit_is_refused_with_the_way_out() {
    let data = mixed(&embedded("iris").unwrap());
    let refused = |result: Result<(), maxmargin::Error>, what: &str, help: &str| {
        let error = result.unwrap_err();
        assert!(error.to_string().contains(what) && error.help().contains(help), "{error}\n{}", error.help());
    };
    let fresh = || StreamParams::default().check().unwrap();
    let setosa = data.find_label("setosa").unwrap();
    let same: Vec<usize> = (0..150).filter(|&row| *data.labels().unwrap().get(row) == setosa).collect();
    refused(fresh().learn(&data.select_rows(&same)), "have no other label than \"setosa\"", "declare the labels");
    let mut learner = fresh();
    learner.learn(&data.select_rows(&(0..150).filter(|row| !same.contains(row)).collect::<Vec<_>>())).unwrap();
    refused(learner.learn(&data), "has the label \"setosa\", which is new", "declare all labels");
    let named = data.clone().with_names(["a", "b", "c", "d"].map(String::from).to_vec()).unwrap();
    let mut learner = fresh();
    learner.learn(&data).unwrap();
    refused(learner.learn(&named), "other names", "the same columns");
    refused(learner.partial_fit(data.matrix(), &[0], None), "1 labels", "same size");
    refused(learner.partial_fit(data.matrix(), &[7; 150], None), "of class 7", "declare all labels");
    refused(
        learner.partial_fit(data.matrix(), &[0; 150], Some(&[f64::NAN; 150])),
        "weight of row 1 is NaN",
        "0 or more",
    );
    let long = Matrix::dense(1, 1, vec![1e200]).unwrap();
    refused(learner.partial_fit(&long, &[0], None), "too long", "scale the columns");
    assert!(fresh().model(Stop::Converged).is_err());
    for params in [
        StreamParams { lambda: f64::NAN, ..StreamParams::default() },
        StreamParams { lambda: 0.0, ..StreamParams::default() },
        StreamParams { batch: 0, ..StreamParams::default() },
        StreamParams { hold_out: Some(1), ..StreamParams::default() },
        StreamParams { classes: vec![Label::new("1"), Label::new("+1")], ..StreamParams::default() },
    ] {
        assert!(params.clone().check().is_err(), "{params:?}");
    }
}

#[test]
fn snapshots_whose_parts_do_not_fit_are_refused() {
    let data = mixed(&embedded("iris").unwrap());
    let mut learner = StreamParams { batch: 4, ..StreamParams::default() }.check().unwrap();
    learner.learn(&slice(&data, 0, 50)).unwrap();
    let snapshot = learner.snapshot();
    let text = serde_json::to_string(&snapshot.state).unwrap();
    let forged = |from: &str, to: &str| {
        assert!(text.contains(from), "{from} in {text}");
        let state = serde_json::from_str(&text.replacen(from, to, 1)).unwrap();
        StreamingSgd::from_snapshot(StreamSnapshot { state, vectors: snapshot.vectors.clone() })
    };
    assert!(forged("\"columns\":4", "\"columns\":4").is_ok());
    for (from, to) in [
        ("\"columns\":4", "\"columns\":5"),
        ("\"indices\":[0", "\"indices\":[9"),
        ("\"batch\":4", "\"batch\":1"),
        ("\"lambda\":1e-6", "\"lambda\":-1.0"),
        ("\"entries\":4", "\"entries\":3"),
    ] {
        assert!(forged(from, to).is_err(), "{to}");
    }
    let mut vectors = snapshot.vectors.clone();
    vectors.pop();
    assert!(StreamingSgd::from_snapshot(StreamSnapshot { vectors, ..snapshot.clone() }).is_err());
    let mut vectors = snapshot.vectors.clone();
    vectors[0][0] = f64::NAN;
    assert!(StreamingSgd::from_snapshot(StreamSnapshot { vectors, ..snapshot }).is_err());
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(20))]
    #[test]
    fn any_two_cuts_of_any_rows_give_the_same_bits(seed in 0u64..10_000, cut in 1usize..59, batch in 1usize..9) {
        let mut random = Pcg64::seed_from_u64(seed);
        let values: Vec<f64> = (0..60 * 4)
            .map(|_| if random.random::<bool>() { 0.0 } else { random.random_range(-3.0..3.0) })
            .collect();
        let labels = Labels::new((0..60).map(|row| Label::new(((row * 7 + seed as usize) % 3).to_string())));
        let classes = labels.classes().to_vec();
        let data = Dataset::new(Matrix::dense(60, 4, values).unwrap(), labels).unwrap();
        let params = StreamParams { classes, batch, hold_out: Some(7), ..StreamParams::default() };
        let mut whole = params.clone().check().unwrap();
        whole.learn(&data).unwrap();
        let mut parts = params.check().unwrap();
        parts.learn(&slice(&data, 0, cut)).unwrap();
        parts.learn(&slice(&data, cut, 60)).unwrap();
        prop_assert_eq!(bits(&parts), bits(&whole), "seed {}", seed);
    }
}

#[test]
fn a_stream_that_begins_at_a_model_steps_as_after_its_rows_and_forgets_it_slowly() {
    let data = mixed(&generate("blobs", 4000, 3).unwrap());
    let params =
        StreamParams { classes: data.labels().unwrap().classes().to_vec(), lambda: 1e-3, ..StreamParams::default() };
    let mut before = params.clone().check().unwrap();
    before.learn(&slice(&data, 0, 3000)).unwrap();
    let model = before.model(Stop::IterationLimit).unwrap();
    let weights: Vec<Vec<f64>> = model.machines().iter().map(|machine| machine.weights.clone().unwrap()).collect();
    let biases: Vec<f64> = model.machines().iter().map(|machine| machine.bias).collect();
    let mut squares = 0.0;
    (0..3000).for_each(|row| data.matrix().visit(row, |_, value| squares += value * value));
    for average_from in [Some(0), None] {
        let mut after = StreamParams { average_from, ..params.clone() }.check().unwrap();
        after.begin_at(&weights, &biases, Before { rows: 3000, squares }).unwrap();
        let begun = after.model(Stop::IterationLimit).unwrap();
        assert_eq!(begun.machines()[0].weights.as_ref().unwrap(), &weights[0]);
        assert_eq!((begun.machines()[0].bias, after.learnt()), (biases[0], 3000));
        after.learn(&slice(&data, 3000, 3010)).unwrap();
        let moved = after.model(Stop::IterationLimit).unwrap();
        let moved = moved.machines()[0].weights.as_ref().unwrap().iter().zip(&weights[0]);
        let far = moved.map(|(a, b)| (a - b).abs()).fold(0.0, f64::max);
        let length = weights[0].iter().map(|w| w.abs()).fold(0.0, f64::max);
        assert!(far <= 0.2 * length, "{far} of {length}");
        // Where it is can be kept, too.
        let mut again = StreamingSgd::from_snapshot(after.snapshot()).unwrap();
        again.learn(&slice(&data, 3010, 4000)).unwrap();
        after.learn(&slice(&data, 3010, 4000)).unwrap();
        assert_eq!(bits(&again), bits(&after));
        assert!(after.begin_at(&weights, &biases, Before { rows: 1, squares }).is_err());
    }
    let mut wrong = params.check().unwrap();
    assert!(wrong.begin_at(&weights, &[], Before { rows: 3000, squares }).is_err());
    assert!(wrong.begin_at(&[vec![f64::NAN; 2]], &biases, Before { rows: 3000, squares }).is_err());
    assert!(wrong.begin_at(&weights, &biases, Before { rows: 0, squares }).is_err());
}
