//! A path of models over the penalty, each begun where the one before has ended.

use super::{Beginning, Penalty, Training};
use crate::control::{Control, Stop, Unkept};
use crate::data::Dataset;
use crate::error::Error;
use crate::model::Model;
use crate::workers::Workers;

impl Training {
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
