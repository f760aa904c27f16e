//! A path of models over the penalty, each begun where the one before has ended.
//!
//! A path can be followed to a proved accuracy for every C between its ends, not only for those that were trained. Let a model have the objective P
//! at its C, the duality gap g, and the loss `L = (P − ½‖w‖²)/C`, summed over the machines. The optimum increases with C, because no loss is
//! negative, so at C′ ≥ C the model is behind the optimum there by at most `g + (C′ − C) L`. It is behind by at most the part ε of its objective
//!
//! ```text
//! up to   C′ = C + (ε P − g)/((1 − ε) L)                                                             (PA.1)
//! ```
//!
//! and there the next model begins. This takes about `log(to/from)/ε` models at most.
//!
//! **References.** Giesen, Jaggi, Laue, Approximating parameterized convex optimization problems, ACM Transactions on Algorithms 9, 2012.

use super::{Beginning, Penalty, Training};
use crate::control::{Control, Stop, Unkept};
use crate::data::Dataset;
use crate::error::Error;
use crate::model::Model;
use crate::problem::Norm;
use crate::workers::Workers;

/// Accuracies to which a path can be followed. A finer one takes more models than anybody looks at.
const ACCURACIES: std::ops::RangeInclusive<f64> = 0.0001..=0.5;

/// The part of an accuracy that a model's own gap may take. Smaller: fewer models, each of which takes longer.
const PART_OF_GAP: f64 = 0.25;

/// A model of a path that is followed to an accuracy.
#[derive(Debug)]
pub struct PathStep<'a> {
    /// The C that it was trained for.
    pub c: f64,
    /// The largest C for which it is proved to be accurate enough; below `c` where it is not at `c` itself.
    pub until: f64,
    /// The model.
    pub model: &'a Model,
}

impl Training {
    /// Follows the path from one C to a larger one so that for every C between them a model is at hand whose objective is proved to be above the
    /// optimum by at most the part `accuracy` of it. Hands each model to `visit`, from the smallest C on. Returns why the path ended:
    /// [`Stop::Converged`] at its end, [`Stop::Stalled`] where a model was not solved well enough to go on.
    ///
    /// # Errors
    /// As [`Training::fit`]; when the ends are no C, or the second is below the first; when the accuracy is not from 0.0001 to 0.5; and when the
    /// machines have no certificate or another penalty than the L2 norm.
    pub fn fit_path_to(
        &self,
        data: &Dataset,
        accuracy: f64,
        (from, to): (f64, f64),
        workers: &Workers,
        control: &mut dyn Control,
        visit: &mut dyn FnMut(PathStep<'_>),
    ) -> Result<Stop, Error> {
        if !ACCURACIES.contains(&accuracy) {
            return Err(Error::parameter("accuracy", accuracy, "from 0.0001 to 0.5"));
        }
        let is_ordered = to >= from;
        if !is_ordered {
            return Err(Error::parameter("C", to, "at the end of a path at least what it is at its beginning"));
        }
        if self.params.norm != Norm::L2 {
            return Err(Error::Combination {
                what: "the accuracy of a path is proved for the L2 norm alone".into(),
                help: "leave the accuracy out, or choose the norm l2".into(),
            });
        }
        let with = |c: f64| {
            let mut params = self.params.clone();
            params.penalty = Penalty::C(c);
            let own = params.settings.gap.unwrap_or(f64::INFINITY);
            params.settings.gap = Some(own.min(PART_OF_GAP * accuracy));
            params.check()
        };
        let (mut c, mut last) = (from, None);
        with(to)?;
        loop {
            let beginning = last.as_ref().map_or(Beginning::Scratch, Beginning::Model);
            let model = with(c)?.fit_from(data, beginning, workers, &mut Unkept(control))?;
            let until = accurate_until(&model, c, accuracy).ok_or_else(|| Error::Combination {
                what: "these machines have no certificate, so that no accuracy can be proved".into(),
                help: "choose a solver of a convex problem".into(),
            })?;
            visit(PathStep { c, until, model: &model });
            match model.stop() {
                stop @ (Stop::Interrupted | Stop::TimeLimit) => return Ok(stop),
                _ if until >= to => return Ok(Stop::Converged),
                _ if until <= c => return Ok(Stop::Stalled),
                _ => (c, last) = (until, Some(model)),
            }
        }
    }

    /// Trains a model for each penalty, in the order given, each from the one before: (T.2), or its weights.
    ///
    /// Neighbours are near to each other, so by Newton's method a path costs less than its models one by one; from small C to large it
    /// costs least. `dual-ascent` gains little: where many α are at their bound, C moves them all. The optima do not depend on it. When the control breaks, the models so far are handed back, the last with [`Stop::Interrupted`] or
    /// [`Stop::TimeLimit`].
    ///
    /// # Errors
    /// As [`Training::fit`], and when a penalty is out of range or does not go with the other parameters. All of them are checked before the
    /// first model is trained.
    ///
    /// # Examples
    /// ```
    /// use maxmargin::data::embedded;
    /// use maxmargin::training::Penalty;
    /// use maxmargin::{TrainingParams, Unattended, Workers};
    ///
    /// let iris = embedded("iris").unwrap();
    /// let training = TrainingParams::default().check()?;
    /// let costs = [0.1, 1.0, 10.0].map(Penalty::C);
    /// let models = training.fit_path(&iris, &costs, &Workers::none(), &mut Unattended)?;
    /// assert_eq!(models.len(), 3);
    /// # Ok::<(), maxmargin::Error>(())
    /// ```
    pub fn fit_path(
        &self,
        data: &Dataset,
        penalties: &[Penalty],
        workers: &Workers,
        control: &mut dyn Control,
    ) -> Result<Vec<Model>, Error> {
        let with = |&penalty: &Penalty| {
            let mut params = self.params.clone();
            params.penalty = penalty;
            params.check()
        };
        let trainings = penalties.iter().map(with).collect::<Result<Vec<Training>, Error>>()?;
        let mut models: Vec<Model> = Vec::new();
        for training in trainings {
            let beginning = models.last().map_or(Beginning::Scratch, Beginning::Model);
            let model = training.fit_from(data, beginning, workers, &mut Unkept(control))?;
            let broken = matches!(model.stop(), Stop::Interrupted | Stop::TimeLimit);
            models.push(model);
            if broken {
                break;
            }
        }
        Ok(models)
    }
}

/// The C up to which a model is behind the optimum by a part of its objective at most, (PA.1); `None` without a certificate.
fn accurate_until(model: &Model, c: f64, accuracy: f64) -> Option<f64> {
    let all = model.certificate()?;
    let certificates =
        model.machines().iter().map(|machine| machine.evidence.certificate()).collect::<Option<Vec<_>>>()?;
    let squares: f64 = certificates.iter().map(|own| own.margin.powi(-2)).sum();
    let loss = (all.primal - squares / 2.0) / c;
    let spare = accuracy * all.primal - all.gap;
    if spare < 0.0 {
        return Some(c * (1.0 - f64::EPSILON));
    }
    // Without any loss the model is that of every larger C.
    Some(if loss > 0.0 { c + spare / ((1.0 - accuracy) * loss) } else { f64::INFINITY }) // (PA.1)
}

#[cfg(test)]
mod tests {
    use std::ops::ControlFlow;

    use super::super::TrainingParams;
    use super::*;
    use crate::control::{Progress, Unattended};
    use crate::data::generate;
    use crate::problem::{Bias, Loss, Norm};
    use crate::solver::SolverKind;

    const COSTS: [f64; 5] = [0.01, 0.1, 0.5, 2.0, 10.0];

    fn path(data: &Dataset, params: &TrainingParams) -> Vec<Model> {
        let training = params.clone().check().unwrap();
        training.fit_path(data, &COSTS.map(Penalty::C), &Workers::none(), &mut Unattended).unwrap()
    }

    #[test]
    fn a_path_ends_where_each_model_alone_does_and_newtons_method_in_fewer_steps() {
        let data = generate("blobs", 600, 4).unwrap();
        let mut linear = TrainingParams { bias: Bias::Folded, ..TrainingParams::default() };
        linear.settings.tolerance = Some(1e-6);
        let of = |solver: SolverKind, loss: Loss| TrainingParams {
            solver: Some(solver),
            loss: Some(loss),
            ..linear.clone()
        };
        let sparse = TrainingParams { norm: Norm::L1, ..of(SolverKind::L1Newton, Loss::Squared) };
        for params in [
            of(SolverKind::PrimalNewton, Loss::Squared),
            of(SolverKind::PrimalNewton, Loss::Logistic),
            of(SolverKind::PrimalNewton, Loss::Hinge),
            of(SolverKind::DualAscent, Loss::Hinge),
            of(SolverKind::DualAscent, Loss::Logistic),
            sparse,
        ] {
            let what = format!("{:?} {:?}", params.solver, params.loss);
            let models = path(&data, &params);
            let (mut warm, mut cold) = (0, 0);
            for (model, &c) in models.iter().zip(&COSTS) {
                let alone = TrainingParams { penalty: Penalty::C(c), ..params.clone() };
                let alone = alone.check().unwrap().fit(&data, &Workers::none(), &mut Unattended).unwrap();
                let primal = |model: &Model| model.machines()[0].evidence.certificate().unwrap().primal;
                assert_eq!((model.stop(), alone.stop()), (Stop::Converged, Stop::Converged), "{what} {c}");
                assert!((primal(model) - primal(&alone)).abs() <= 1e-6 * primal(&alone), "{what} {c}");
                warm += model.iterations();
                cold += alone.iterations();
            }
            assert!(params.solver == Some(SolverKind::DualAscent) || warm < cold, "{what}: {warm} {cold}");
        }
    }

    /// What a linear model of two classes costs at C, and what it is proved to cost at least: naive sums.
    fn costs(data: &Dataset, model: &Model, c: f64) -> f64 {
        let machine = &model.machines()[0];
        let weights = machine.weights.as_ref().unwrap();
        let labels = data.labels().unwrap();
        let hinge = |row: usize| {
            let x = data.matrix().row(row);
            let f = weights.iter().zip(&x).map(|(w, x)| w * x).sum::<f64>() + machine.bias;
            let is_positive = labels.codes()[row] as usize == machine.pairing.positive;
            (1.0 - if is_positive { f } else { -f }).max(0.0)
        };
        weights.iter().map(|w| w * w).sum::<f64>() / 2.0 + c * (0..data.rows()).map(hinge).sum::<f64>()
    }

    #[test]
    fn between_its_models_a_path_is_as_accurate_as_it_says() {
        for seed in 0..4 {
            let data = generate("blobs", 120, seed).unwrap();
            let training = TrainingParams { solver: Some(SolverKind::Smo), ..TrainingParams::default() };
            let accuracy = 0.1;
            let mut steps: Vec<(f64, f64, Model)> = Vec::new();
            let stop = training
                .clone()
                .check()
                .unwrap()
                .fit_path_to(&data, accuracy, (0.001, 10.0), &Workers::none(), &mut Unattended, &mut |step| {
                    steps.push((step.c, step.until, step.model.clone()));
                })
                .unwrap();
            assert_eq!(stop, Stop::Converged, "seed {seed}");
            assert!(steps.len() > 3 && steps.len() < 200, "seed {seed}: {}", steps.len());
            assert!(steps.windows(2).all(|pair| pair[0].1 >= pair[1].0 && pair[1].0 > pair[0].0), "seed {seed}");
            let best = |c: f64| {
                let mut exact = TrainingParams { penalty: Penalty::C(c), ..training.clone() };
                exact.settings.tolerance = Some(1e-8);
                let model = exact.check().unwrap().fit(&data, &Workers::none(), &mut Unattended).unwrap();
                model.machines()[0].evidence.certificate().unwrap().dual
            };
            let mut worst_beyond: f64 = 0.0;
            for (c, until, model) in &steps {
                for part in [0.0, 0.5, 1.0] {
                    let at = (c + part * (until.min(10.0) - c)).max(*c);
                    let (own, least) = (costs(&data, model, at), best(at));
                    assert!(own - least <= accuracy * own * (1.0 + 1e-9), "seed {seed}, C {at}: {own} {least}");
                }
                let far = 10.0 * until.min(10.0);
                let own = costs(&data, model, far);
                worst_beyond = worst_beyond.max((own - best(far)) / own);
            }
            // The negative control: far beyond what is proved, some model is not accurate.
            assert!(worst_beyond > accuracy, "seed {seed}: {worst_beyond}");
        }
    }

    #[test]
    fn a_path_to_no_accuracy_or_no_end_is_refused() {
        let data = generate("blobs", 60, 4).unwrap();
        let training = TrainingParams::default().check().unwrap();
        let refused = |accuracy: f64, ends: (f64, f64)| {
            training
                .fit_path_to(&data, accuracy, ends, &Workers::none(), &mut Unattended, &mut |_| panic!("a model"))
                .unwrap_err()
                .to_string()
        };
        assert!(refused(0.0, (0.1, 1.0)).starts_with("accuracy is 0"));
        assert!(refused(f64::NAN, (0.1, 1.0)).starts_with("accuracy is NaN"));
        assert!(refused(0.1, (1.0, 0.1)).starts_with("C is 0.1"));
        assert!(refused(0.1, (0.1, f64::INFINITY)).starts_with("C is inf"));
        assert!(refused(0.1, (f64::NAN, 1.0)).starts_with("C is 1"));
    }

    #[test]
    fn a_penalty_out_of_range_is_refused_before_the_first_model() {
        let data = generate("blobs", 60, 4).unwrap();
        let training = TrainingParams::default().check().unwrap();
        let mut polls = 0;
        let mut count = |_: Progress| {
            polls += 1;
            ControlFlow::Continue(())
        };
        let penalties = [Penalty::C(1.0), Penalty::C(-1.0)];
        let error = training.fit_path(&data, &penalties, &Workers::none(), &mut count).unwrap_err();
        assert_eq!(error.to_string(), "C is -1, but it must be a finite number above 0");
        assert_eq!(polls, 0);
    }

    #[test]
    fn a_break_hands_back_what_there_is() {
        let data = generate("blobs", 600, 4).unwrap();
        let training = TrainingParams::default().check().unwrap();
        let mut left = 60;
        let mut control = |_: Progress| {
            left -= 1;
            if left > 0 { ControlFlow::Continue(()) } else { ControlFlow::Break(Stop::Interrupted) }
        };
        let models = training.fit_path(&data, &COSTS.map(Penalty::C), &Workers::none(), &mut control).unwrap();
        assert!(models.len() < COSTS.len());
        assert_eq!(models[models.len() - 1].stop(), Stop::Interrupted);
    }
}
