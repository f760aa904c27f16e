//! What Newton's method promises of losses, biases, starts, interrupts and ends of the range.

use super::super::fixtures::*;
use super::*;
use crate::problem::Loss;
use crate::solver::SolverKind;

const LOSSES: [Loss; 3] = [Loss::Hinge, Loss::Squared, Loss::Logistic];

#[test]
fn every_loss_bias_and_cost_reaches_its_tolerance_and_the_certificate_agrees() {
    for seed in 0..4 {
        for loss in LOSSES {
            for bias in [Bias::Explicit, Bias::Folded, Bias::None] {
                for cost in [1e-3, 1.0, 1e3] {
                    let fixture = Fixture::new(&blobs(60, 1.0, seed), cost).loss(loss).bias(bias);
                    let solution = fixture.solve(SolverKind::PrimalNewton, &tolerance(1e-6));
                    let what = format!("seed {seed} {loss:?} {bias:?} {cost}");
                    assert_eq!(solution.stop, Stop::Converged, "{what}");
                    if loss != Loss::Logistic {
                        assert!(fixture.violation(&solution) <= 1e-6, "{what}: {}", fixture.violation(&solution));
                    }
                    let evidence = fixture.with(|problem| crate::certificate::certify(problem, &solution, 1e-6));
                    let certificate = evidence.certificate().unwrap();
                    assert!(certificate.violation <= 1.01e-6, "{what}: {certificate:?}");
                    assert!(certificate.relative_gap.abs() <= 1e-4, "{what}: {certificate:?}");
                }
            }
        }
    }
}

#[test]
fn a_gap_that_is_asked_for_is_the_certificates() {
    for seed in 0..4 {
        for loss in LOSSES {
            for bias in [Bias::Explicit, Bias::Folded, Bias::None] {
                let fixture = Fixture::new(&blobs(200, 0.5, seed), 3.0).loss(loss).bias(bias);
                let settings = Settings { gap: Some(1e-7), ..Settings::default() };
                let solution = fixture.solve(SolverKind::PrimalNewton, &settings);
                let evidence = fixture.with(|problem| crate::certificate::certify(problem, &solution, 1e-6));
                let gap = evidence.certificate().unwrap().relative_gap;
                assert_eq!(solution.stop, Stop::Converged, "seed {seed} {loss:?} {bias:?}");
                assert!(gap <= 1.01e-7, "seed {seed} {loss:?} {bias:?}: {gap}");
            }
        }
    }
}

/// Newton's steps from 0: the gap at the rows' own coefficients and at those that each step has foreseen.
fn gaps(fixture: &Fixture, steps: usize) -> Vec<[f64; 2]> {
    fixture.with(|problem| {
        let linear = LinearProblem::of_margin(problem);
        let mut search = Search::new(&linear, &Settings::default());
        search.state.foreseen = vec![0.0; linear.len()];
        let mut found = search.look(None);
        let step = |_| {
            let system = System {
                problem: &linear,
                curvatures: &search.state.curvatures,
                gradient: &found.gradient,
                bias_ridge: search.bias_ridge(&found),
                accuracy: LEAST_ACCURACY,
            };
            let direction =
                search.directions.find(&system, &mut search.passes, &mut || ControlFlow::Continue(())).continue_value();
            found = search.step(&found, &direction.flatten().unwrap());
            let mut foreseen = search.state.foreseen.clone();
            let gap = search.gap_at(&found, &mut foreseen, None);
            // What the pass has summed up is what a pass of its own would.
            if let Some(sum) = found.foreseen_sum.take() {
                assert_eq!(search.gap_at(&found, &mut foreseen, Some(sum)), gap, "{:?}", linear.bias);
            }
            [search.mended_gap(&found), gap]
        };
        (0..steps).map(step).collect()
    })
}

#[test]
fn the_coefficients_that_a_step_has_foreseen_prove_a_smaller_gap_near_the_end_and_never_one_below_zero() {
    for bias in [Bias::Explicit, Bias::Folded, Bias::None] {
        let gaps = gaps(&Fixture::new(&blobs(2000, 0.4, 2), 1.0).loss(Loss::Logistic).bias(bias), 4);
        assert!(gaps.iter().flatten().all(|&gap| gap >= -1e-9), "{bias:?}: {gaps:?}");
        let [own, foreseen] = gaps[2];
        assert!(foreseen < 0.1 * own, "{bias:?}: {gaps:?}");
    }
}

#[test]
fn hinge_loss_ends_where_smo_does() {
    for seed in 0..5 {
        let fixture = Fixture::new(&blobs(150, 0.8, seed), 2.0);
        let own = fixture.primal(&fixture.solve(SolverKind::PrimalNewton, &tolerance(1e-8)));
        let other = fixture.primal(&fixture.solve(SolverKind::Smo, &tolerance(1e-8)));
        assert!((own - other).abs() <= 1e-7 * other, "seed {seed}: {own} {other}");
    }
}

#[test]
fn a_warm_start_changes_the_way_and_not_the_end() {
    for loss in LOSSES {
        let fixture = Fixture::new(&blobs(150, 0.8, 1), 2.0).loss(loss).bias(Bias::Folded);
        let cold = fixture.solve(SolverKind::PrimalNewton, &tolerance(1e-8));
        let warm = fixture.with(|problem| {
            let start = Start::Alpha(cold.alpha.clone().unwrap());
            solve(problem, &tolerance(1e-8), start, &mut crate::control::Unattended)
        });
        assert_eq!(warm.stop, Stop::Converged);
        assert!(warm.iterations <= cold.iterations);
        let (cold, warm) = (fixture.primal(&cold), fixture.primal(&warm));
        assert!((cold - warm).abs() <= 1e-9 * cold, "{loss:?}: {cold} {warm}");
    }
}

#[test]
fn a_start_at_a_sample_changes_the_way_and_not_the_end() {
    for loss in LOSSES {
        for bias in [Bias::Explicit, Bias::Folded, Bias::None] {
            // The rows of one class before those of the other.
            let mut points = blobs(20_000, 0.6, 5);
            points.sort_by(|one, other| one.1.total_cmp(&other.1));
            let fixture = Fixture::new(&points, 1.5).loss(loss).bias(bias);
            let settings = Settings { gap: Some(1e-9), ..Settings::default() };
            let [at_zero, at_sample] = [false, true].map(|sampled| {
                fixture.with(|problem| {
                    let linear = LinearProblem::of_margin(problem);
                    let mut search = Search::new(&linear, &settings);
                    let end = if sampled {
                        search.run(&settings, &mut crate::control::Unattended)
                    } else {
                        search.descend(Goal::Settings(&settings), &mut crate::control::Unattended)
                    };
                    assert_eq!(end, ControlFlow::Continue(Stop::Converged), "{loss:?} {bias:?} {sampled}");
                    (search.look(None).primal, search.steps)
                })
            });
            let (expected, found) = (at_zero.0, at_sample.0);
            assert!((found - expected).abs() <= 1e-8 * expected, "{loss:?} {bias:?}: {found} {expected}");
            // But for the last digits, which each of them takes as far as they go.
            assert!(at_sample.1 <= at_zero.1 + 2, "{loss:?} {bias:?}: {} {}", at_sample.1, at_zero.1);
        }
    }
}

#[test]
fn without_a_matrix_the_same_optimum_is_found() {
    for loss in LOSSES {
        for (bias, steered) in
            [Bias::Explicit, Bias::Folded, Bias::None].into_iter().flat_map(|bias| [(bias, false), (bias, true)])
        {
            let fixture = Fixture::new(&blobs(120, 0.6, 3), 1.5).loss(loss).bias(bias);
            let dense = fixture.primal(&fixture.solve(SolverKind::PrimalNewton, &tolerance(1e-8)));
            let found = fixture.with(|problem| {
                let linear = LinearProblem::of_margin(problem);
                let settings = tolerance(1e-8);
                let mut search = Search::new(&linear, &settings);
                search.directions = Directions::without_matrix(steered);
                let end = search.descend(Goal::Settings(&settings), &mut crate::control::Unattended);
                assert_eq!(end, ControlFlow::Continue(Stop::Converged), "{loss:?} {bias:?}");
                let found = search.look(None);
                found.primal
            });
            assert!((found - dense).abs() <= 1e-8 * dense, "{loss:?} {bias:?}: {found} {dense}");
        }
    }
}

#[test]
fn kernels_hard_margins_and_no_penalty_are_refused() {
    let refused = |fixture: Fixture| {
        fixture
            .with(|problem| crate::solver::supports(SolverKind::PrimalNewton, problem, &Settings::default()).is_err())
    };
    assert!(refused(Fixture::new(&separable(), 1.0).kernel(quadratic())));
    assert!(refused(Fixture::new(&separable(), f64::INFINITY)));
    assert!(refused(Fixture::new(&separable(), 1.0).loss(Loss::Logistic).without_penalty()));
    assert!(!refused(Fixture::new(&separable(), 1.0)));
}

#[test]
fn a_gap_is_refused_by_those_who_have_none() {
    let settings = Settings { gap: Some(1e-3), ..Settings::default() };
    Fixture::new(&separable(), 1.0).with(|problem| {
        let error = crate::solver::supports(SolverKind::Perceptron, problem, &settings).unwrap_err();
        assert_eq!(error.to_string(), "the solver perceptron has no gap to stop at");
        assert!(crate::solver::supports(SolverKind::Smo, problem, &settings).is_ok());
        assert!(crate::solver::supports(SolverKind::PrimalNewton, problem, &settings).is_ok());
        assert_eq!(crate::solver::choose(problem).0, SolverKind::PrimalNewton);
    });
}

#[test]
fn an_interrupt_leaves_a_finite_solution() {
    for loss in LOSSES {
        assert_interrupts(SolverKind::PrimalNewton, &Fixture::new(&separable(), 1.0).loss(loss));
    }
}

#[test]
fn threads_change_nothing() {
    for loss in LOSSES {
        let fixture = || Fixture::new(&blobs(30_000, 0.5, 1), 1.0).loss(loss);
        assert_threads_change_nothing(SolverKind::PrimalNewton, fixture);
    }
}

#[test]
fn numbers_at_the_end_of_the_range_give_a_finite_solution() {
    for scale in [1e-150, 1e-30, 1e30, 1e149] {
        let points: Vec<_> = separable().into_iter().map(|(x, y)| (x.map(|v| v * scale), y)).collect();
        for cost in [1e-10, 1.0, 1e12] {
            for loss in LOSSES {
                let fixture = Fixture::new(&points, cost).loss(loss);
                let solution = fixture.solve(SolverKind::PrimalNewton, &Settings::default());
                assert!(numbers(&solution).iter().all(|value| value.is_finite()), "{scale:e} {cost:e} {loss:?}");
            }
        }
    }
}
