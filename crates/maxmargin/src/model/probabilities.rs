//! How likely each class is, for models that say so.

use super::coupling::{COARSE, FINE, couple, no_more_than_predicted};
use super::{Calibration, Machine, Model, Predictions, sigmoid};
use crate::certificate::joint::softmax;
use crate::error::Error;
use crate::problem::Loss;
use crate::provenance::SolverKind;
use crate::recipe::{Multiclass, Pairing};

impl Model {
    /// Whether [`Model::probabilities`] has an answer.
    pub fn has_probabilities(&self) -> bool {
        let parts = self.parts();
        let own = parts.recipe.loss == Loss::Logistic && parts.recipe.task.is_classification();
        let calibrated = |machine: &Machine| matches!(machine.calibration, Some(ref found) if !matches!(found, Calibration::Noise { .. }));
        own || parts.provenance.solver() == Some(SolverKind::Lda)
            && parts.recipe.multiclass == Multiclass::Joint
            && parts.joint.is_some()
            || self.machines().iter().all(calibrated)
    }

    /// The probability of each class for each row of some predictions: as many numbers a row as there are classes, in the order
    /// of [`Model::classes`]
    ///
    /// ```text
    /// two classes:           p = σ(f),                     σ(z) = 1/(1 + exp(−z))
    /// trained together:      p_k = exp f_k / Σ_l exp f_l
    /// each against the rest: p_k = σ(f_k) / Σ_l σ(f_l)                                              (M.2)
    /// pairs of classes:      those that agree best with the pairs' σ(f)
    /// ```
    ///
    /// for a model of logistic loss (or by `lda`, several classes together); one that was [calibrated](crate::Training::calibrate) has its
    /// calibration's logit in the place of f. No class is more likely than the one that is predicted, but for Platt's sigmoid. Of one
    /// class: how much of it lies below the row, in tenths.
    ///
    /// # Errors
    /// When the model has no probabilities.
    ///
    /// # Examples
    /// ```
    /// use maxmargin::data::embedded;
    /// use maxmargin::model::Multiclass;
    /// use maxmargin::solver::SolverKind;
    /// use maxmargin::{TrainingParams, Unattended, Workers};
    ///
    /// let (iris, workers) = (embedded("iris").unwrap(), Workers::none());
    /// let params = TrainingParams {
    ///     solver: Some(SolverKind::Logistic),
    ///     multiclass: Some(Multiclass::Joint),
    ///     ..TrainingParams::default()
    /// };
    /// let model = params.check()?.fit(&iris, &workers, &mut Unattended)?;
    /// let predictions = model.predict(&iris, &workers)?;
    /// let probabilities = model.probabilities(&predictions)?;
    /// let first = &probabilities[..3];
    /// assert!((first.iter().sum::<f64>() - 1.0).abs() < 1e-12);
    /// assert!(first[predictions.codes()[0] as usize] > 0.9);
    /// # Ok::<(), maxmargin::Error>(())
    /// ```
    pub fn probabilities(&self, predictions: &Predictions) -> Result<Vec<f64>, Error> {
        let classes = self.classes().len();
        let of_pairs = self.recipe().multiclass == Multiclass::OneVsOne && classes > 2;
        if !self.has_probabilities() {
            return Err(Error::Combination {
                what: format!("a model of {} has no probabilities", described(self)),
                help: match self.task().is_regression() {
                    true => {
                        "a regression predicts numbers; a calibrated one knows how far targets lie from them".into()
                    }
                    false => "train with --probabilities, or with --solver logistic; or print --decision-values".into(),
                },
            });
        }
        let together = self.parts().joint.is_some();
        let mut all = Vec::with_capacity(predictions.codes().len() * classes);
        let mut pairs = vec![0.0; classes * classes];
        let platt = self.machines().iter().any(|m| matches!(m.calibration, Some(Calibration::Sigmoid { .. })));
        for (row, &predicted) in predictions.codes().iter().enumerate() {
            let values = predictions.decision_values(row);
            let start = all.len();
            let logits = || self.machines().iter().zip(values).map(|(machine, &value)| logit(machine, value));
            match self.machines() {
                [Machine { calibration: Some(Calibration::Marks(marks)), .. }] => {
                    let share = of_marks(marks, values[0]);
                    all.extend([1.0 - share, share]);
                }
                [machine] => {
                    let z = logit(machine, values[0]);
                    all.extend([sigmoid(-z), sigmoid(z)]);
                }
                _ if together => all.extend(logits()),
                machines if of_pairs => {
                    for (machine, z) in machines.iter().zip(logits()) {
                        let Pairing { positive, negative } = machine.pairing;
                        let negative = negative.unwrap_or(positive);
                        pairs[positive * classes + negative] = sigmoid(z);
                        pairs[negative * classes + positive] = sigmoid(-z);
                    }
                    all.resize(start + classes, 0.0);
                    couple(&pairs, if platt { COARSE } else { FINE }, &mut all[start..]);
                }
                // log σ(z), so that none of them is lost where all are small
                _ => all.extend(logits().map(|z| -Loss::Logistic.value(z))),
            }
            if values.len() > 1 && !of_pairs {
                softmax(&mut all[start..], classes); // (M.2)
            }
            // Platt's own sigmoid is for those who want its numbers as they are.
            if values.len() > 1 && !platt {
                no_more_than_predicted(&mut all[start..], predicted as usize);
            }
        }
        Ok(all)
    }
}

/// The logit of a machine's positive class.
fn logit(machine: &Machine, value: f64) -> f64 {
    machine.calibration.as_ref().and_then(|calibration| calibration.logit(value)).unwrap_or(value)
}

/// How much of one class lies below a decision value, in tenths; beyond the marks a thousandth is left.
fn of_marks(marks: &[f64], value: f64) -> f64 {
    match marks.partition_point(|&mark| mark <= value) {
        0 => 0.001,
        place if place == marks.len() => 0.999,
        place => place as f64 / marks.len() as f64,
    }
}

/// What a model without probabilities is.
fn described(model: &Model) -> String {
    let parts = model.parts();
    match parts.provenance.solver() {
        Some(kind @ (SolverKind::Lda | SolverKind::Perceptron | SolverKind::KernelPerceptron)) => {
            format!("the solver {}", kind.name())
        }
        _ => format!("{} loss", parts.recipe.loss.name()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::control::Unattended;
    use crate::data::{Label, embedded};
    use crate::training::TrainingParams;
    use crate::workers::Workers;

    fn fit(solver: SolverKind, multiclass: Option<Multiclass>, positive: Option<&str>) -> Model {
        let params = TrainingParams {
            solver: Some(solver),
            multiclass,
            positive: positive.map(Label::new),
            ..TrainingParams::default()
        };
        params.check().unwrap().fit(&embedded("iris").unwrap(), &Workers::none(), &mut Unattended).unwrap()
    }

    #[test]
    fn probabilities_sum_to_1_and_none_is_larger_than_that_of_the_predicted_class() {
        let iris = embedded("iris").unwrap();
        for (solver, multiclass, positive) in [
            (SolverKind::Logistic, Some(Multiclass::Joint), None),
            (SolverKind::Logistic, Some(Multiclass::OneVsRest), None),
            (SolverKind::Logistic, Some(Multiclass::OneVsOne), None),
            (SolverKind::Logistic, None, Some("virginica")),
            (SolverKind::Lda, None, None),
        ] {
            let model = fit(solver, multiclass, positive);
            let classes = model.classes().len();
            let predictions = model.predict(&iris, &Workers::none()).unwrap();
            let probabilities = model.probabilities(&predictions).unwrap();
            assert_eq!(probabilities.len(), 150 * classes);
            for (row, line) in probabilities.chunks(classes).enumerate() {
                assert!((line.iter().sum::<f64>() - 1.0).abs() < 1e-12);
                let own = line[predictions.codes()[row] as usize];
                assert!(line.iter().all(|&p| p <= own && p >= 0.0), "{line:?}");
            }
        }
    }

    #[test]
    fn values_at_the_end_of_the_range_leave_probabilities_that_sum_to_1() {
        let mut parts = fit(SolverKind::Logistic, Some(Multiclass::OneVsRest), None).parts().clone();
        parts.machines.iter_mut().for_each(|machine| machine.bias = -1e5);
        let model = Model::new(parts).unwrap();
        let predictions = model.predict(&embedded("iris").unwrap(), &Workers::none()).unwrap();
        let probabilities = model.probabilities(&predictions).unwrap();
        assert!(probabilities.chunks(3).all(|line| (line.iter().sum::<f64>() - 1.0).abs() < 1e-12));
    }

    #[test]
    fn models_without_probabilities_say_what_to_do() {
        let iris = embedded("iris").unwrap();
        for (solver, said) in [
            (SolverKind::Smo, "a model of hinge loss has no probabilities"),
            (SolverKind::Perceptron, "a model of the solver perceptron has no probabilities"),
        ] {
            let model = fit(solver, Some(Multiclass::OneVsOne), None);
            let predictions = model.predict(&iris, &Workers::none()).unwrap();
            let error = model.probabilities(&predictions).unwrap_err();
            assert_eq!(error.to_string(), said);
            assert!(error.help().contains("--probabilities"), "{}", error.help());
        }
    }
}
