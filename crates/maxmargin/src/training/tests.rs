//! What a training promises of parameters, checkpoints and warm starts.

use std::ops::ControlFlow;

use super::*;
use crate::checkpoint::{ByRow, Checkpoint, CheckpointControl};
use crate::control::{Stop, Unattended};
use crate::data::{Label, Labels, Matrix, embedded, generate};
use crate::kernel::{Gamma, KernelParams};
use crate::model::Multiclass;
use crate::provenance::Note;
use crate::solver::{Snapshot, SolverKind};

fn fit(data: &Dataset, params: TrainingParams) -> Result<Model, Error> {
    params.check()?.fit(data, &Workers::none(), &mut Unattended)
}

#[test]
fn parameters_out_of_range_are_refused_nan_among_them() {
    let settings = |edit: fn(&mut Settings)| {
        let mut params = TrainingParams::default();
        edit(&mut params.settings);
        params
    };
    let penalty = |penalty: Penalty| TrainingParams { penalty, ..TrainingParams::default() };
    for (params, message) in [
        (penalty(Penalty::C(0.0)), "C is 0, but it must be a finite number above 0"),
        (penalty(Penalty::C(f64::NAN)), "C is NaN, but it must be a finite number above 0"),
        (penalty(Penalty::COverN(-1.0)), "c-over-n is -1, but it must be a finite number above 0"),
        (penalty(Penalty::Lambda(f64::INFINITY)), "lambda is inf, but it must be a finite number above 0"),
        (settings(|s| s.tolerance = Some(f64::NAN)), "tolerance is NaN, but it must be a finite number above 0"),
        (settings(|s| s.max_iterations = Some(0)), "max-iterations is 0, but it must be 1 or more"),
        (settings(|s| s.batch = 0), "batch is 0, but it must be 1 or more"),
        (settings(|s| s.shrinkage = f64::NAN.into()), "shrinkage is NaN, but it must be from 0 to 1, or auto"),
        (penalty(Penalty::None), "hinge loss without a penalty has no single best model"),
        (
            TrainingParams { loss: Some(Loss::Squared), ..penalty(Penalty::Hard) },
            "a hard margin allows no slack, so squared loss has nothing to do",
        ),
    ] {
        assert_eq!(params.check().unwrap_err().to_string(), message);
    }
}

#[test]
fn data_that_make_no_problem_are_refused_with_the_reason() {
    let e1 = embedded("e1").unwrap();
    let one_class = e1.select_rows(&[0, 1]);
    let error = fit(&one_class, TrainingParams::default()).unwrap_err();
    assert_eq!(error.to_string(), "all 2 rows have the label \"+1\"");
    let none = Dataset::new(Matrix::without_columns(0), Labels::new([])).unwrap();
    assert_eq!(fit(&none, TrainingParams::default()).unwrap_err().to_string(), "the data has no rows");
    let positive = TrainingParams { positive: Some(Label::new("7")), ..TrainingParams::default() };
    let error = fit(&e1, positive).unwrap_err();
    assert_eq!(error.to_string(), "no row has the label \"7\"");
    assert_eq!(error.help(), "the labels are \"-1\", \"+1\"");
    let weightless = e1.clone().with_weights(vec![0.0; 14]).unwrap();
    assert!(fit(&weightless, TrainingParams::default()).is_err());
}

#[test]
fn a_hard_margin_that_does_not_exist_names_the_classes_and_the_rows() {
    let hard = TrainingParams { penalty: Penalty::Hard, ..TrainingParams::default() };
    let error = fit(&embedded("e2").unwrap(), hard).unwrap_err();
    let Error::NotSeparable { classes, rows, .. } = &error else { panic!("{error}") };
    assert_eq!((classes.0.as_str(), classes.1.as_str()), ("-1", "+1"));
    assert!(rows.iter().all(|row| (1..=18).contains(row)) && !rows.is_empty());
}

#[test]
fn three_classes_are_three_machines_over_one_pool() {
    let iris = embedded("iris").unwrap();
    for multiclass in [Multiclass::OneVsOne, Multiclass::OneVsRest] {
        let model = fit(&iris, TrainingParams { multiclass: Some(multiclass), ..TrainingParams::default() }).unwrap();
        assert_eq!(model.machines().len(), 3);
        assert!(model.parts().support_rows.is_sorted_by(|a, b| a < b));
        let predictions = model.predict(&iris, &Workers::none()).unwrap();
        let errors = predictions.codes().iter().zip(iris.labels().unwrap().codes()).filter(|(a, b)| a != b).count();
        assert!(errors <= 10, "{multiclass:?}: {errors} errors");
    }
}

#[test]
fn memory_that_the_largest_machine_lacks_is_missed_before_the_first_is_trained() {
    let rows = generate("blobs", 1300, 1).unwrap();
    let class = |row: usize| {
        if row < 20 {
            "a"
        } else if row < 40 {
            "b"
        } else {
            "c"
        }
    };
    let labels = Labels::new((0..1300).map(|row| Label::new(class(row))));
    let data = Dataset::new(rows.matrix().clone(), labels).unwrap();
    let mut polls = 0;
    let mut control = |_: Progress| {
        polls += 1;
        ControlFlow::Continue(())
    };
    let params = TrainingParams {
        kernel: KernelParams::Rbf { gamma: Gamma::Value(1.0) },
        settings: Settings { memory: 5 << 20, ..Settings::default() },
        ..TrainingParams::default()
    };
    let error = params.check().unwrap().fit(&data, &Workers::none(), &mut control).unwrap_err();
    assert!(matches!(error, Error::Memory { .. }), "{error}");
    assert_eq!(polls, 0);
}

#[test]
fn the_three_ways_to_say_the_penalty_are_one() {
    assert_eq!(Penalty::C(3.0).cost(10.0), 3.0);
    assert_eq!(Penalty::COverN(30.0).cost(10.0), 3.0);
    assert_eq!(Penalty::Lambda(1.0 / 60.0).cost(10.0), 3.0);
}

#[test]
fn a_solver_says_what_it_cannot_do_before_a_separator_is_searched_for() {
    let data = generate("xor", 40, 1).unwrap();
    let fit = |solver| {
        let params = TrainingParams {
            penalty: Penalty::Hard,
            solver: Some(solver),
            loss: Some(Loss::Hinge),
            ..TrainingParams::default()
        };
        params.check().unwrap().fit(&data, &Workers::none(), &mut Unattended).unwrap_err()
    };
    assert!(matches!(fit(SolverKind::Smo), Error::NotSeparable { .. }));
    assert!(matches!(fit(SolverKind::Sgd), Error::Combination { .. }));
}

/// Breaks at the n-th poll and at all that follow, and keeps the last checkpoint.
struct BreakAt {
    polls: u64,
    left: u64,
    broke: bool,
    kept: Option<Checkpoint>,
}

impl BreakAt {
    fn new(left: u64) -> Self {
        BreakAt { polls: 0, left, broke: false, kept: None }
    }
}

impl Control for BreakAt {
    fn poll(&mut self, _: Progress) -> ControlFlow<Stop> {
        self.polls += 1;
        self.broke = self.polls > self.left;
        if self.broke { ControlFlow::Break(Stop::Interrupted) } else { ControlFlow::Continue(()) }
    }
}

impl CheckpointControl for BreakAt {
    fn wants_checkpoint(&mut self, _: &Progress) -> bool {
        self.broke
    }

    fn keep_checkpoint(&mut self, checkpoint: &Checkpoint) {
        self.kept = Some(checkpoint.clone());
    }
}

/// All numbers of a model, and the words beside them.
fn content(model: &Model) -> String {
    format!("{:?}", model.parts())
}

fn rbf(gamma: f64) -> TrainingParams {
    TrainingParams { kernel: KernelParams::Rbf { gamma: Gamma::Value(gamma) }, ..TrainingParams::default() }
}

#[test]
fn a_training_that_was_broken_anywhere_goes_on_as_if_nothing_had_happened() {
    let iris = embedded("iris").unwrap();
    let hard =
        TrainingParams { penalty: Penalty::Hard, positive: Some(Label::new("setosa")), ..TrainingParams::default() };
    let folded = TrainingParams { loss: Some(Loss::Squared), bias: Bias::Folded, ..rbf(0.5) };
    let by_ascent = TrainingParams { solver: Some(SolverKind::DualAscent), ..folded.clone() };
    let by_newton = TrainingParams { solver: Some(SolverKind::Newton), ..TrainingParams::default() };
    for params in [TrainingParams::default(), rbf(0.5), hard, folded, by_ascent, by_newton] {
        let training = params.check().unwrap();
        let mut polls = BreakAt::new(u64::MAX);
        let undisturbed = training.fit(&iris, &Workers::none(), &mut polls).unwrap();
        for share in [0.0, 0.03, 0.3, 0.5, 0.77, 0.95] {
            let mut beginning = Beginning::Scratch;
            // Three interrupts at this place of what is left, then to the end.
            for _ in 0..3 {
                let mut control = BreakAt::new((share * polls.polls as f64) as u64);
                training.fit_from(&iris, beginning, &Workers::none(), &mut control).unwrap();
                match control.kept {
                    Some(kept) => beginning = Beginning::Checkpoint(kept),
                    None => {
                        beginning = Beginning::Scratch;
                        break;
                    }
                }
            }
            let model = training.fit_from(&iris, beginning, &Workers::none(), &mut Unattended).unwrap();
            assert_eq!(content(&model), content(&undisturbed), "{:?} {share}", training.params());
        }
    }
}

/// A solver whose first steps can be interrupted one by one.
fn by_pairs(gamma: f64) -> TrainingParams {
    TrainingParams { solver: Some(SolverKind::Smo), ..rbf(gamma) }
}

fn kept(data: &Dataset, params: TrainingParams) -> Checkpoint {
    let mut control = BreakAt::new(5);
    params.check().unwrap().fit_from(data, Beginning::Scratch, &Workers::none(), &mut control).unwrap();
    control.kept.unwrap()
}

fn resume(data: &Dataset, params: TrainingParams, checkpoint: Checkpoint) -> Result<Model, Error> {
    params.check()?.fit_from(data, Beginning::Checkpoint(checkpoint), &Workers::none(), &mut Unattended)
}

#[test]
fn a_checkpoint_of_other_data_or_parameters_is_refused_by_name() {
    let iris = embedded("iris").unwrap();
    let checkpoint = kept(&iris, rbf(0.5));
    let fewer = iris.select_rows(&(1..150).collect::<Vec<_>>());
    let error = resume(&fewer, rbf(0.5), checkpoint.clone()).unwrap_err();
    assert_eq!(error.to_string(), "the checkpoint was made from other data");
    let penalty = TrainingParams { penalty: Penalty::Lambda(2.0), ..rbf(0.5) };
    let error = resume(&iris, penalty, checkpoint.clone()).unwrap_err();
    assert_eq!(error.to_string(), "the checkpoint was made with the penalty C 1.0, but now it is lambda 2.0");
    assert!(error.help().ends_with("or begin from scratch"));
    assert!(resume(&iris, rbf(0.25), checkpoint.clone()).unwrap_err().to_string().contains("the kernel Rbf"));
    let mut threads = rbf(0.5);
    threads.settings.memory /= 2;
    assert!(resume(&iris, threads, checkpoint).is_ok());
}

#[test]
fn a_checkpoint_that_lies_is_refused_and_a_snapshot_that_lies_is_not_used() {
    let iris = embedded("iris").unwrap();
    let whole = kept(&iris, by_pairs(0.5));
    let undisturbed = content(&fit(&iris, by_pairs(0.5)).unwrap());
    let refused = |edit: &dyn Fn(&mut Checkpoint)| {
        let mut checkpoint = whole.clone();
        edit(&mut checkpoint);
        resume(&iris, by_pairs(0.5), checkpoint).unwrap_err().to_string()
    };
    assert!(refused(&|checkpoint| drop(checkpoint.machines.pop())).contains("2 machines, not 3"));
    for alpha in [vec![(7, 0.5), (7, 0.5)], vec![(150, 0.5)]] {
        let alpha: ByRow = alpha.into_iter().collect();
        let said = refused(&|c| c.machines[1] = MachineState::Untouched { alpha: alpha.clone(), point: None });
        assert!(said.contains("do not increase below 150"), "{said}");
    }
    let edits: [fn(&mut Snapshot); 6] = [
        |snapshot| snapshot.alpha.truncate(3),
        |snapshot| snapshot.alpha[3] = f64::NAN,
        |snapshot| snapshot.alpha[3] = 7.0,
        |snapshot| snapshot.gradient[3] = f64::INFINITY,
        |snapshot| snapshot.lists.clear(),
        |snapshot| snapshot.numbers.push(1.0),
    ];
    for edit in edits {
        let mut checkpoint = whole.clone();
        let MachineState::Running { snapshot, .. } = &mut checkpoint.machines[0] else { panic!("it is running") };
        edit(snapshot);
        assert_eq!(content(&resume(&iris, by_pairs(0.5), checkpoint).unwrap()), undisturbed);
    }
    // The negative control: a snapshot that can be used is used.
    let mut checkpoint = whole.clone();
    let MachineState::Running { snapshot, .. } = &mut checkpoint.machines[0] else { panic!("it is running") };
    snapshot.iterations += 1;
    assert_ne!(content(&resume(&iris, by_pairs(0.5), checkpoint).unwrap()), undisturbed);
}

fn warm(data: &Dataset, params: TrainingParams, model: &Model) -> Result<Model, Error> {
    params.check()?.fit_from(data, Beginning::Model(model), &Workers::none(), &mut Unattended)
}

#[test]
fn a_warm_start_reaches_the_same_optimum_in_fewer_steps() {
    let data = generate("moons", 400, 1).unwrap();
    let iterations = |model: &Model| model.machines().iter().map(|machine| machine.iterations).sum::<u64>();
    let dual = |model: &Model| model.machines()[0].evidence.certificate().unwrap().dual;
    let with = |c: f64, gamma: f64, bias: Bias| {
        let mut params = TrainingParams { penalty: Penalty::C(c), bias, ..rbf(gamma) };
        params.settings.tolerance = Some(1e-6);
        params
    };
    let ascent = |params: TrainingParams| TrainingParams { solver: Some(SolverKind::DualAscent), ..params };
    let (explicit, none) = (|c, gamma| with(c, gamma, Bias::Explicit), |c, gamma| with(c, gamma, Bias::None));
    for (old, new) in [
        (explicit(10.0, 1.0), explicit(10.0, 1.0)),
        (explicit(10.0, 1.0), explicit(12.0, 1.0)),
        (explicit(10.0, 1.0), explicit(9.0, 1.0)),
        (explicit(10.0, 1.0), explicit(10.0, 1.05)),
        (none(10.0, 1.0), none(9.0, 1.0)),
        (ascent(none(10.0, 1.0)), ascent(none(9.0, 1.0))),
    ] {
        let old = fit(&data, old).unwrap();
        let (cold, warm) = (fit(&data, new.clone()).unwrap(), warm(&data, new, &old).unwrap());
        assert!((dual(&warm) - dual(&cold)).abs() <= 1e-6 * dual(&cold), "{} {}", dual(&warm), dual(&cold));
        assert!(iterations(&warm) < iterations(&cold), "{} {}", iterations(&warm), iterations(&cold));
    }
}

#[test]
fn a_warm_start_of_several_machines_can_be_broken_too() {
    let iris = embedded("iris").unwrap();
    let old = fit(&iris, rbf(0.5)).unwrap();
    let training = TrainingParams { penalty: Penalty::C(3.0), ..rbf(0.5) }.check().unwrap();
    let beginning = || Beginning::Model(&old);
    let undisturbed = training.fit_from(&iris, beginning(), &Workers::none(), &mut Unattended).unwrap();
    let mut most = BreakAt::new(u64::MAX);
    training.fit_from(&iris, beginning(), &Workers::none(), &mut most).unwrap();
    for left in (0..most.polls).step_by(17) {
        let mut control = BreakAt::new(left);
        let broken = training.fit_from(&iris, beginning(), &Workers::none(), &mut control).unwrap();
        assert_eq!(broken.stop(), Stop::Interrupted);
        let beginning = Beginning::Checkpoint(control.kept.unwrap());
        let model = training.fit_from(&iris, beginning, &Workers::none(), &mut Unattended).unwrap();
        assert_eq!(content(&model), content(&undisturbed), "broken at poll {left}");
    }
}

#[test]
fn a_model_that_is_no_start_is_refused_and_a_solver_without_use_for_it_says_so() {
    let iris = embedded("iris").unwrap();
    let model = fit(&iris, TrainingParams::default()).unwrap();
    let fewer = iris.select_rows(&(1..150).collect::<Vec<_>>());
    let error = warm(&fewer, TrainingParams::default(), &model).unwrap_err();
    assert_eq!(error.to_string(), "the model to start from was trained on other data");
    let rest = TrainingParams { multiclass: Some(Multiclass::OneVsRest), ..TrainingParams::default() };
    let error = warm(&iris, rest, &model).unwrap_err();
    assert_eq!(error.to_string(), "no machine of the model to start from tells the same classes apart");
    let newton = TrainingParams { solver: Some(SolverKind::Newton), ..TrainingParams::default() };
    let found = warm(&iris, newton, &model).unwrap();
    assert_eq!(found.machines()[0].notes, [Note::NoWarmStart { solver: SolverKind::Newton }]);
}
