//! Training block by block ends where training in memory does, however the rows are cut, and says so in a certificate that
//! anybody can check.
#![allow(clippy::unwrap_used)] // a test may end here

use std::ops::ControlFlow;

use maxmargin::certificate::Certificate;
use maxmargin::data::{Dataset, Label, TextRows, embedded, generate};
use maxmargin::model::Multiclass;
use maxmargin::out_of_core::{BlockError, BlockSource, BlocksInMemory, FittedBlocks};
use maxmargin::problem::{Bias, Loss};
use maxmargin::solver::{Settings, SolverKind};
use maxmargin::training::{ClassWeights, Penalty};
use maxmargin::{Model, Progress, Stop, TrainingParams, Unattended, Workers};

const LOSSES: [Loss; 3] = [Loss::Hinge, Loss::Squared, Loss::Logistic];
const BIASES: [Bias; 3] = [Bias::Explicit, Bias::Folded, Bias::None];

fn params(loss: Loss, bias: Bias, gap: f64) -> TrainingParams {
    let settings = Settings { gap: Some(gap), ..Settings::default() };
    TrainingParams {
        loss: Some(loss),
        bias,
        multiclass: Some(Multiclass::OneVsRest),
        settings,
        ..TrainingParams::default()
    }
}

fn in_memory(data: &Dataset, params: TrainingParams) -> Model {
    params.check().unwrap().fit(data, &Workers::none(), &mut Unattended).unwrap()
}

fn fit(blocks: &BlocksInMemory, params: TrainingParams) -> FittedBlocks {
    params.check().unwrap().fit_blocks(blocks, None, &Workers::none(), &mut Unattended).unwrap()
}

fn certificate(model: &Model, machine: usize) -> &Certificate {
    model.machines()[machine].evidence.certificate().unwrap()
}

/// Whether the bits of all weights, biases and coefficients are the same.
fn same_bits(one: &Model, other: &Model) -> bool {
    let bits = |model: &Model| -> Vec<u64> {
        let machines = model.machines().iter();
        let numbers = machines.flat_map(|machine| {
            let weights = machine.weights.iter().flatten().copied();
            weights.chain([machine.bias]).chain(machine.coefficients.iter().copied()).collect::<Vec<f64>>()
        });
        numbers.map(f64::to_bits).collect()
    };
    bits(one) == bits(other)
}

/// Checks that a model reaches its gap, that its certificate is true, and that the optimum is the one found in memory.
#[track_caller]
fn assert_optimal(fitted: &FittedBlocks, data: &Dataset, reference: &Model, gap: f64, what: &str) {
    let model = &fitted.model;
    assert_eq!(model.stop(), Stop::Converged, "{what}");
    let verification = model.verify(data, &Workers::none()).unwrap();
    assert!(verification.holds(), "{what}: {:?} {:?}", verification.disagreements, verification.same_data);
    for machine in 0..model.machines().len() {
        let (own, other) = (certificate(model, machine), certificate(reference, machine));
        assert!(own.relative_gap <= 1.0001 * gap, "{what}: {own:?}");
        // Both are within their gaps of the same optimum.
        let most = 1.0001 * (own.gap + other.gap) + 1e-9;
        assert!((own.primal - other.primal).abs() <= most, "{what}: {} {}", own.primal, other.primal);
    }
    let predictions = model.predict(data, &Workers::none()).unwrap();
    let wrong = predictions.codes().iter().zip(model.codes(data)).filter(|(a, b)| Some(**a) != *b).count();
    assert_eq!(fitted.training_errors, Some(wrong), "{what}");
}

#[test]
fn every_loss_and_bias_ends_where_training_in_memory_does_however_the_rows_are_cut() {
    for seed in 0..2 {
        let data = generate::blobs(240, 1.0, seed).unwrap();
        let pieces: Vec<Vec<usize>> =
            vec![(0..1).collect(), (1..100).collect(), (100..103).collect(), (103..240).collect()];
        let unequal = BlocksInMemory::new(pieces.iter().map(|rows| data.select_rows(rows)).collect()).unwrap();
        for loss in LOSSES {
            for bias in BIASES {
                let gap = 1e-4;
                let reference = in_memory(&data, params(loss, bias, 1e-7));
                for (name, blocks) in [
                    ("one block", BlocksInMemory::cut(&data, 240).unwrap()),
                    ("blocks of 60 rows", BlocksInMemory::cut(&data, 60).unwrap()),
                    ("blocks of 1 row", BlocksInMemory::cut(&data, 1).unwrap()),
                    ("unequal blocks", unequal.clone()),
                ] {
                    let fitted = fit(&blocks, params(loss, bias, gap));
                    assert_optimal(&fitted, &data, &reference, gap, &format!("seed {seed} {loss:?} {bias:?} {name}"));
                }
            }
        }
    }
}

#[test]
fn sparse_text_ends_where_training_in_memory_does() {
    let data = TextRows::new(1500, 3000, 5).unwrap().next_block(1500).unwrap();
    let blocks = BlocksInMemory::cut(&data, 200).unwrap();
    for loss in LOSSES {
        let reference = in_memory(&data, params(loss, Bias::Explicit, 1e-6));
        let fitted = fit(&blocks, params(loss, Bias::Explicit, 1e-3));
        assert_optimal(&fitted, &data, &reference, 1e-3, &format!("{loss:?}"));
        assert_eq!(fitted.class_rows.iter().sum::<usize>(), 1500);
    }
}

#[test]
fn three_classes_are_told_apart_each_from_the_rest() {
    let data = embedded("iris").unwrap();
    let blocks = BlocksInMemory::cut(&data, 40).unwrap();
    for loss in LOSSES {
        let mild = |gap: f64| TrainingParams { penalty: Penalty::C(0.01), ..params(loss, Bias::Folded, gap) };
        let reference = in_memory(&data, mild(1e-6));
        let fitted = fit(&blocks, mild(1e-3));
        assert_eq!(fitted.model.machines().len(), 3);
        assert_optimal(&fitted, &data, &reference, 1e-3, &format!("{loss:?}"));
    }
    let positive = |gap: f64| TrainingParams {
        penalty: Penalty::C(0.01),
        positive: Some(Label::new("versicolor")),
        ..params(Loss::Squared, Bias::Folded, gap)
    };
    let fitted = fit(&blocks, positive(1e-3));
    assert_optimal(&fitted, &data, &in_memory(&data, positive(1e-6)), 1e-3, "versicolor against the rest");
}

#[test]
fn a_row_of_weight_two_is_two_rows_and_one_of_weight_zero_is_none() {
    let data = generate::blobs(90, 1.0, 3).unwrap();
    let weights: Vec<f64> = (0..90).map(|row| f64::from(row % 3)).collect();
    let copies: Vec<usize> = (0..90).flat_map(|row| std::iter::repeat_n(row, row % 3)).collect();
    let copied = data.select_rows(&copies);
    let weighted = data.with_weights(weights).unwrap();
    for penalty in [Penalty::C(0.7), Penalty::Lambda(1e-2)] {
        for loss in LOSSES {
            let asked = || TrainingParams { penalty, ..params(loss, Bias::Explicit, 1e-5) };
            let one = fit(&BlocksInMemory::cut(&weighted, 25).unwrap(), asked());
            let two = fit(&BlocksInMemory::cut(&copied, 25).unwrap(), asked());
            let (a, b) = (certificate(&one.model, 0), certificate(&two.model, 0));
            assert!((a.primal - b.primal).abs() <= a.gap + b.gap, "{loss:?}: {} {}", a.primal, b.primal);
            assert!(one.model.verify(&weighted, &Workers::none()).unwrap().holds());
        }
    }
}

#[test]
fn weights_of_classes_are_those_of_training_in_memory() {
    let data =
        generate::blobs(200, 1.2, 4).unwrap().select_rows(&(0..200).filter(|row| row % 5 < 3).collect::<Vec<_>>());
    for class_weights in [ClassWeights::Balanced, "-1=3".parse().unwrap()] {
        let asked = |gap: f64| TrainingParams {
            class_weights: class_weights.clone(),
            ..params(Loss::Hinge, Bias::Explicit, gap)
        };
        let reference = in_memory(&data, asked(1e-6));
        let fitted = fit(&BlocksInMemory::cut(&data, 37).unwrap(), asked(1e-4));
        assert_eq!(fitted.model.recipe().class_weights, reference.recipe().class_weights);
        assert_optimal(&fitted, &data, &reference, 1e-4, &format!("{class_weights:?}"));
    }
}

#[test]
fn threads_change_no_bit() {
    let text = TextRows::new(3000, 2000, 2).unwrap().next_block(3000).unwrap();
    let iris = embedded("iris").unwrap();
    for (data, rows, penalty) in [(text, 700, Penalty::C(1.0)), (iris, 40, Penalty::C(0.01))] {
        for loss in LOSSES {
            let blocks = BlocksInMemory::cut(&data, rows).unwrap();
            let with = |threads: usize| {
                let training = TrainingParams { penalty, ..params(loss, Bias::Explicit, 1e-2) }.check().unwrap();
                training.fit_blocks(&blocks, None, &Workers::new(threads).unwrap(), &mut Unattended).unwrap().model
            };
            let alone = with(1);
            assert!(same_bits(&alone, &with(2)) && same_bits(&alone, &with(4)), "{loss:?}");
            assert_eq!(certificate(&alone, 0), certificate(&with(4), 0), "{loss:?}");
        }
    }
}

#[test]
fn an_interrupt_leaves_a_usable_model_without_a_certificate() {
    let data = generate::blobs(300, 1.0, 1).unwrap();
    let blocks = BlocksInMemory::cut(&data, 50).unwrap();
    let training = params(Loss::Hinge, Bias::Explicit, 1e-9).check().unwrap();
    for polls in [8, 12, 20] {
        let mut left = polls;
        let mut control = |_: Progress| {
            left -= 1;
            if left > 0 {
                ControlFlow::Continue(())
            } else {
                left = 1;
                ControlFlow::Break(Stop::Interrupted)
            }
        };
        let fitted = training.fit_blocks(&blocks, None, &Workers::none(), &mut control).unwrap();
        assert_eq!(fitted.model.stop(), Stop::Interrupted);
        assert_eq!(fitted.training_errors, None);
        assert!(fitted.model.machines()[0].evidence.certificate().is_none());
        assert!(fitted.model.predict(&data, &Workers::none()).is_ok());
        // And it is a place to go on from.
        let loose = params(Loss::Hinge, Bias::Explicit, 1e-3).check().unwrap();
        let after = loose.fit_blocks(&blocks, Some(&fitted.model), &Workers::none(), &mut Unattended).unwrap();
        assert_eq!(after.model.stop(), Stop::Converged);
        assert!(after.model.verify(&data, &Workers::none()).unwrap().holds());
    }
}

#[test]
fn a_limit_of_time_or_passes_leaves_a_model_with_a_certificate() {
    let data = generate::blobs(300, 1.0, 1).unwrap();
    let blocks = BlocksInMemory::cut(&data, 50).unwrap();
    let training = params(Loss::Hinge, Bias::Explicit, 1e-12).check().unwrap();
    let mut late = |progress: Progress| match progress.iteration > 3 {
        true => ControlFlow::Break(Stop::TimeLimit),
        false => ControlFlow::Continue(()),
    };
    let fitted = training.fit_blocks(&blocks, None, &Workers::none(), &mut late).unwrap();
    assert_eq!(fitted.model.stop(), Stop::TimeLimit);
    assert!(fitted.model.verify(&data, &Workers::none()).unwrap().holds());
    assert!(certificate(&fitted.model, 0).gap > 0.0);

    let mut asked = params(Loss::Hinge, Bias::Explicit, 1e-12);
    asked.settings.max_iterations = Some(2);
    let fitted = fit(&blocks, asked);
    assert_eq!((fitted.model.stop(), fitted.model.machines()[0].iterations), (Stop::IterationLimit, 2));
    assert!(fitted.model.verify(&data, &Workers::none()).unwrap().holds());
}

#[test]
fn a_model_to_begin_at_saves_passes() {
    let data = TextRows::new(2000, 2000, 9).unwrap().next_block(2000).unwrap();
    let blocks = BlocksInMemory::cut(&data, 300).unwrap();
    let cold = fit(&blocks, params(Loss::Hinge, Bias::Explicit, 1e-3));
    let training = params(Loss::Hinge, Bias::Explicit, 1e-3).check().unwrap();
    let warm = training.fit_blocks(&blocks, Some(&cold.model), &Workers::none(), &mut Unattended).unwrap();
    assert_eq!(warm.model.stop(), Stop::Converged);
    assert!(warm.passes < cold.passes, "{} {}", warm.passes, cold.passes);
    let other = BlocksInMemory::cut(&generate::blobs(50, 1.0, 1).unwrap(), 10).unwrap();
    let refused = training.fit_blocks(&other, Some(&cold.model), &Workers::none(), &mut Unattended);
    assert!(refused.unwrap_err().to_string().starts_with("the model to begin at was trained on 2000 rows"));
}

#[test]
fn rows_sorted_by_their_label_take_longer_and_end_at_the_same_optimum() {
    let data = generate::blobs(300, 1.0, 6).unwrap();
    let mut order: Vec<usize> = (0..300).collect();
    order.sort_by_key(|&row| data.labels().unwrap().codes()[row]);
    let sorted = data.select_rows(&order);
    let reference = in_memory(&sorted, params(Loss::Hinge, Bias::Explicit, 1e-6));
    let fitted = fit(&BlocksInMemory::cut(&sorted, 30).unwrap(), params(Loss::Hinge, Bias::Explicit, 1e-3));
    assert_optimal(&fitted, &sorted, &reference, 1e-3, "sorted");
}

#[test]
fn too_little_memory_and_one_class_are_refused_with_a_way_out() {
    let data = generate::blobs(1000, 1.0, 1).unwrap();
    let blocks = BlocksInMemory::cut(&data, 100).unwrap();
    let mut small = params(Loss::Hinge, Bias::Explicit, 1e-3);
    small.settings.memory = 4000;
    let refused = small.check().unwrap().fit_blocks(&blocks, None, &Workers::none(), &mut Unattended);
    let Err(BlockError::Training(error)) = refused else { panic!("it should be refused") };
    assert!(error.to_string().ends_with("but the memory budget is 3.9 KiB"), "{error}");
    assert!(error.to_string().contains("the coefficients of 1000 rows"), "{error}");
    assert!(error.help().contains("or learn from rows as they come, by sgd"), "{}", error.help());

    let one = data.select_rows(&(0..1000).filter(|&row| data.labels().unwrap().codes()[row] == 0).collect::<Vec<_>>());
    let refused = params(Loss::Hinge, Bias::None, 1e-3).check().unwrap().fit_blocks(
        &BlocksInMemory::cut(&one, 100).unwrap(),
        None,
        &Workers::none(),
        &mut Unattended,
    );
    assert!(refused.unwrap_err().to_string().contains("rows have the label"));
}

/// A source whose third block cannot be read from the second pass on.
struct Breaking(BlocksInMemory, std::sync::atomic::AtomicUsize);

impl BlockSource for Breaking {
    type Error = &'static str;

    fn blocks(&self) -> usize {
        self.0.blocks()
    }
    fn block_rows(&self, block: usize) -> usize {
        self.0.block_rows(block)
    }
    fn columns(&self) -> usize {
        self.0.columns()
    }
    fn classes(&self) -> &[Label] {
        self.0.classes()
    }
    fn names(&self) -> Option<&[String]> {
        self.0.names()
    }
    fn has_weights(&self) -> bool {
        false
    }
    fn working_bytes(&self) -> u64 {
        0
    }
    fn read(&self, block: usize) -> Result<Dataset, Self::Error> {
        use std::sync::atomic::Ordering;
        if block == 2 && self.1.fetch_add(1, Ordering::SeqCst) > 0 {
            return Err("block 3 is gone");
        }
        self.0.read(block).map_err(|never| match never {})
    }
}

#[test]
fn a_block_that_cannot_be_read_ends_the_training_with_its_error() {
    let data = generate::blobs(200, 1.0, 1).unwrap();
    for threads in [1, 3] {
        let source = Breaking(BlocksInMemory::cut(&data, 30).unwrap(), Default::default());
        let training = params(Loss::Hinge, Bias::Explicit, 1e-3).check().unwrap();
        let refused = training.fit_blocks(&source, None, &Workers::new(threads).unwrap(), &mut Unattended);
        assert_eq!(refused.unwrap_err(), BlockError::Read("block 3 is gone"));
    }
}

#[test]
fn the_solver_that_was_named_is_the_one_or_refused() {
    let data = generate::blobs(100, 1.0, 1).unwrap();
    let blocks = BlocksInMemory::cut(&data, 30).unwrap();
    let named = |solver: SolverKind| {
        let asked = TrainingParams { solver: Some(solver), ..params(Loss::Hinge, Bias::None, 1e-3) };
        asked.check().unwrap().fit_blocks(&blocks, None, &Workers::none(), &mut Unattended)
    };
    assert_eq!(named(SolverKind::DualAscent).unwrap().model.provenance().solver(), Some(SolverKind::DualAscent));
    assert!(named(SolverKind::Smo).unwrap_err().to_string().ends_with("cannot be trained block by block"));
}
