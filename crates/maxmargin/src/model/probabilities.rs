//! How likely each class is, for models that say so.

use super::{Model, Multiclass, Predictions};
use crate::certificate::joint::softmax;
use crate::error::Error;
use crate::problem::Loss;

impl Model {
    /// The probability of each class for each row of some predictions: as many numbers a row as there are classes, in the order
    /// of [`Model::classes`]
    ///
    /// ```text
    /// two classes:           p = σ(f),                     σ(z) = 1/(1 + exp(−z))
    /// trained together:      p_k = exp f_k / Σ_l exp f_l
    /// each against the rest: p_k = σ(f_k) / Σ_l σ(f_l)                                              (M.2)
    /// ```
    ///
    /// No class is more likely than the one that is predicted.
    ///
    /// # Errors
    /// When the model has no probabilities: it was not trained with logistic loss (or by `lda`, several classes together), or by pairs
    /// of several classes.
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
        let parts = self.parts();
        let (classes, together) = (self.classes().len(), parts.joint.is_some());
        let refuse = |what: &str, help: &str| Err(Error::Combination { what: what.into(), help: help.into() });
        if !(parts.loss == Loss::Logistic || together && parts.solver == "lda") {
            return refuse(
                &format!("a model of {} has no probabilities", described(self)),
                "train with --solver logistic, and --multiclass joint for several classes; or print --decision-values",
            );
        }
        if classes > 2 && parts.multiclass == Multiclass::OneVsOne {
            return refuse(
                "the votes of pairs of classes are no probabilities",
                "train with --multiclass joint or ovr; or print --decision-values",
            );
        }
        let mut all = Vec::with_capacity(predictions.codes().len() * classes);
        for row in 0..predictions.codes().len() {
            let values = predictions.decision_values(row);
            let start = all.len();
            match (classes, values) {
                (2, &[value]) => all.extend([of_two(-value), of_two(value)]),
                _ if together => all.extend_from_slice(values),
                // log σ(f_k), so that none of them is lost where all are small
                _ => all.extend(values.iter().map(|&value| -Loss::Logistic.value(value))),
            }
            if values.len() > 1 {
                softmax(&mut all[start..], classes); // (M.2)
            }
        }
        Ok(all)
    }
}

/// σ(z)
fn of_two(z: f64) -> f64 {
    1.0 / (1.0 + (-z).exp())
}

/// What a model without probabilities is.
fn described(model: &Model) -> String {
    let parts = model.parts();
    match parts.solver.as_str() {
        name @ ("lda" | "perceptron" | "kernel-perceptron") => format!("the solver {name}"),
        _ => format!("{} loss", parts.loss.name()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::control::Unattended;
    use crate::data::{Label, embedded};
    use crate::solver::SolverKind;
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
            (SolverKind::Logistic, "the votes of pairs of classes are no probabilities"),
        ] {
            let model = fit(solver, Some(Multiclass::OneVsOne), None);
            let predictions = model.predict(&iris, &Workers::none()).unwrap();
            let error = model.probabilities(&predictions).unwrap_err();
            assert_eq!(error.to_string(), said);
            assert!(error.help().contains("--multiclass joint"), "{}", error.help());
        }
    }
}
