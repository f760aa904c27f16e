//! E4: iris, sepals, hinge loss.

use super::{Entry, Notebook, certificate, line, machine, params, sepals};
use crate::data::Dataset;
use crate::error::Error;
use crate::problem::Bias;
use crate::training::{Penalty, TrainingParams};

pub(super) const ENTRY: Entry = Entry {
    id: "E4",
    title: "iris by its sepals",
    shows: "Setosa against the other two species by the length and width of the sepals. A folded bias is penalised, an \
            explicit one is not: with a small C the two lines differ, with a large C they are one.",
    figure,
    run,
};

/// Bias, C, (w, b), objective, training errors where the books count them.
type Case = (Bias, f64, [f64; 3], f64, Option<usize>);

const CASES: [Case; 4] = [
    (Bias::Folded, 10.0, [-2.746252, 3.747918, 3.086840], 45.867404, Some(1)),
    (Bias::Folded, 1000.0, [-8.571429, 7.142857, 23.142857], 330.040816, Some(0)),
    (Bias::Explicit, 10.0, [-4.0, 4.0, 9.0], 32.0, None),
    (Bias::Explicit, 1000.0, [-8.571429, 7.142857, 23.142857], 62.244898, None),
];

fn figure() -> Result<(Dataset, TrainingParams), Error> {
    case(Bias::Folded, 10.0)
}

fn case(bias: Bias, cost: f64) -> Result<(Dataset, TrainingParams), Error> {
    let (data, setosa) = sepals()?;
    Ok((data, TrainingParams { penalty: Penalty::C(cost), bias, positive: Some(setosa), ..params() }))
}

fn run(notebook: &mut Notebook<'_>) -> Result<(), Error> {
    for (bias, cost, expected, objective, errors) in CASES {
        let (data, params) = case(bias, cost)?;
        let prefix = format!("bias {}, C = {cost}: ", bias.name());
        for (kind, model) in notebook.fit_all(&data, &params)? {
            for ((name, expected), obtained) in ["w1", "w2", "b"].iter().zip(expected).zip(line(&model)) {
                notebook.equal(format!("{prefix}{name}"), Some(kind), expected, obtained);
            }
            notebook.equal(format!("{prefix}objective"), Some(kind), objective, certificate(&model)?.primal);
            notebook.equal(format!("{prefix}dual objective"), Some(kind), objective, certificate(&model)?.dual);
            if let Some(errors) = errors {
                let what = format!("{prefix}training errors");
                notebook.count(what, Some(kind), errors, machine(&model).training_errors);
            }
        }
        notebook.descend(&data, &params, &prefix, objective)?;
    }
    Ok(())
}
