//! Fits and predictions, as both training programs make them.

use maxmargin::data::{Dataset, Label};
use maxmargin::training::ClassWeights;
use maxmargin::{Model, Training, Workers};

use super::ending::{Ending, watch};
use super::options::Options;
use crate::{interrupt, output};

/// One fit, watched.
///
/// # Errors
/// When it cannot be made, or was interrupted.
pub(super) fn fit(training: &Training, data: &Dataset, workers: &Workers, quiet: bool) -> Result<Model, Ending> {
    let mut watch = watch(quiet).towards(training.params().settings.tolerance());
    let model = training.fit(data, workers, &mut watch);
    watch.finish();
    if interrupt::asked() {
        return Err(Ending::Interrupted);
    }
    Ok(model?)
}

/// The weights of the classes that there are; for the others a word.
///
/// # Errors
/// When one is no number.
pub(super) fn named_weights(options: &Options, data: &Dataset) -> Result<ClassWeights, Ending> {
    let mut given: Vec<(Label, f64)> = Vec::new();
    let classes = data.answers().labels().map_or(&[][..], |labels| labels.classes());
    for (label, weight) in options.class_weights()? {
        let label = Label::new(label.to_string());
        match classes.iter().find(|own| **own == label) {
            // Given twice, it counts twice, as theirs does.
            Some(own) => match given.iter_mut().find(|(known, _)| known == own) {
                Some((_, known)) => *known *= weight,
                None => given.push((own.clone(), weight)),
            },
            None => output::say(&format!("WARNING: class label {} specified in weight is not found", label.text())),
        }
    }
    Ok(if given.is_empty() { ClassWeights::Equal } else { ClassWeights::Given(given) })
}

/// Predictions as numbers: by votes in their order, or by the likeliest class.
pub(super) fn predicted(
    model: &Model,
    data: &Dataset,
    order: &[usize],
    probabilities: bool,
    workers: &Workers,
) -> Result<Vec<f64>, Ending> {
    if model.task().is_regression() {
        return Ok(model.predict(data, workers)?.numbers().collect());
    }
    let label = |class: usize| model.classes()[class].number().unwrap_or(f64::NAN);
    if !model.task().is_classification() {
        let predictions = model.predict(data, workers)?;
        return Ok(predictions.codes().iter().map(|&code| label(code as usize)).collect());
    }
    if probabilities && model.has_probabilities() {
        let all = model.probabilities(&model.predict(data, workers)?)?;
        return Ok(all.chunks(order.len()).map(|line| label(likeliest(line, order))).collect());
    }
    let winners = model.winners(&model.align(data)?.points, order, workers);
    Ok(winners.into_iter().map(|class| label(class as usize)).collect())
}

/// The likeliest class, of those that tie the first in their order.
pub(super) fn likeliest(line: &[f64], order: &[usize]) -> usize {
    order[1..].iter().fold(order[0], |best, &class| if line[class] > line[best] { class } else { best })
}
