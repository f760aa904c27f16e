//! Why a fit was slow, and whether it is any good.

use super::Finding;
use crate::control::Stop;
use crate::data::Dataset;
use crate::error::Error;
use crate::metrics::Residuals;
use crate::model::{Machine, Model};
use crate::provenance::SolverKind;
use crate::workers::Workers;

/// A relative gap above this says little of where the optimum is.
const LOOSE: f64 = 1e-2;

/// The share of rows that is nearly all of them, and from how many rows on that means something.
const NEARLY_ALL: f64 = 0.95;
const ROWS_FOR_SHARES: usize = 20;

/// C may be so many times the largest α, before it is said to be larger than need be.
const SPARE_PENALTY: f64 = 10.0;

/// Steps a row above which a solver that moves pairs of rows had a hard time.
const STEPS_A_ROW: u64 = 30;

/// What there is to say of a model, and of data beside it.
///
/// Cost: that of predicting the data.
///
/// # Errors
/// As [`Model::align`].
pub fn of_model(model: &Model, data: &Dataset, labelled: bool, workers: &Workers) -> Result<Vec<Finding>, Error> {
    let mut findings = Vec::new();
    if labelled && !model.is_training_data(data, workers) {
        findings.push(Finding::OtherData);
    }
    if model.stop() != Stop::Converged {
        findings.push(Finding::NotConverged { stop: model.stop().name(), iterations: model.iterations() });
    }
    let joint = model.parts().joint.iter().filter_map(|joint| joint.certificate()).map(|found| found.relative_gap);
    let own = model.machines().iter().filter_map(|machine| machine.evidence.certificate());
    let gap = own.map(|found| found.relative_gap).chain(joint).fold(0.0, f64::max);
    if gap > LOOSE {
        findings.push(Finding::LooseCertificate { relative_gap: gap });
    }
    // The first machine that has something to say speaks for all of them.
    let kinds: [fn(&Model, &Machine) -> Option<Finding>; 4] =
        [all_at_bound, none_at_bound, many_support_vectors, many_iterations];
    findings.extend(kinds.iter().filter_map(|kind| model.machines().iter().find_map(|machine| kind(model, machine))));
    if labelled {
        findings.extend(against_the_simplest(model, data, workers)?);
    }
    Ok(findings)
}

fn all_at_bound(_: &Model, machine: &Machine) -> Option<Finding> {
    let counts = machine.evidence.certificate()?.counts;
    let (bounded, rows, c) = (counts.bounded, machine.rows, machine.cost?);
    let nearly_all = rows >= ROWS_FOR_SHARES && bounded as f64 >= NEARLY_ALL * rows as f64;
    nearly_all.then_some(Finding::AllAtBound { bounded, rows, c })
}

fn none_at_bound(model: &Model, machine: &Machine) -> Option<Finding> {
    let certificate = machine.evidence.certificate()?;
    let c = machine.cost.filter(|cost| cost.is_finite())?;
    // The coefficients of landmarks are no α.
    let is_exact = model.parts().landmarks.is_none();
    let bounds = is_exact && model.recipe().class_weights.is_none() && model.task().is_classification();
    if !bounds || model.recipe().loss != crate::problem::Loss::Hinge || certificate.counts.bounded > 0 {
        return None;
    }
    let largest = machine.coefficients.iter().fold(0.0, |most: f64, c| most.max(c.abs()));
    (largest > 0.0 && c > SPARE_PENALTY * largest).then_some(Finding::NoneAtBound { c, largest })
}

fn many_support_vectors(model: &Model, machine: &Machine) -> Option<Finding> {
    let counts = machine.evidence.certificate()?.counts;
    let (support, rows) = (counts.support, machine.rows);
    let nearly_all = rows >= ROWS_FOR_SHARES && support as f64 >= NEARLY_ALL * rows as f64;
    let found = nearly_all && !model.recipe().kernel.is_linear() && 2 * counts.bounded < support;
    (found && model.task().is_classification()).then_some(Finding::ManySupportVectors { support, rows })
}

fn many_iterations(model: &Model, machine: &Machine) -> Option<Finding> {
    let counts = machine.evidence.certificate()?.counts;
    let pairs = matches!(model.provenance().solver(), Some(SolverKind::Smo | SolverKind::BlockSmo));
    let (iterations, rows) = (machine.iterations, machine.rows);
    let many = pairs && rows >= ROWS_FOR_SHARES && iterations > STEPS_A_ROW * rows as u64;
    let (bounded, free) = (counts.bounded, counts.support.saturating_sub(counts.bounded));
    many.then_some(Finding::ManyIterations { iterations, rows, free, bounded })
}

/// Whether the model is better than one that has not looked at the columns.
fn against_the_simplest(model: &Model, data: &Dataset, workers: &Workers) -> Result<Vec<Finding>, Error> {
    let mut findings = Vec::new();
    if model.task().is_regression() {
        let Ok(targets) = data.numbers() else { return Ok(findings) };
        let predictions = model.predict(data, workers)?;
        let found = Residuals::new(&targets, predictions.numbers()).and_then(|found| found.r_squared);
        findings.extend(found.filter(|share| *share <= 0.0).map(|r_squared| Finding::NoBetterThanMean { r_squared }));
        return Ok(findings);
    }
    if !model.task().is_classification() {
        return Ok(findings);
    }
    let codes = model.codes(data);
    let unknown = codes.iter().filter(|code| code.is_none()).count();
    if let Some(row) = codes.iter().position(Option::is_none) {
        findings.push(Finding::UnknownLabels { count: unknown, row });
    }
    let rows = data.rows() - unknown;
    if rows == 0 {
        return Ok(findings);
    }
    let predictions = model.predict_classes(model.align(data)?, workers);
    let pairs = codes.iter().zip(predictions.codes());
    let errors = pairs.filter(|(code, predicted)| code.is_some_and(|code| code != **predicted)).count();
    let mut sizes = vec![0usize; model.classes().len()];
    codes.iter().flatten().for_each(|&code| sizes[code as usize] += 1);
    let of_majority = rows - sizes.iter().max().copied().unwrap_or(0);
    if errors >= of_majority && errors > 0 {
        findings.push(Finding::NoBetterThanMajority { errors, of_majority, rows });
    }
    Ok(findings)
}
