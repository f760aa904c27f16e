//! E5: iris, sepals, squared loss.

use super::{Entry, Notebook, certificate, line, params, sepals};
use crate::data::Dataset;
use crate::error::Error;
use crate::problem::{Bias, Loss};
use crate::training::{Penalty, TrainingParams};

pub(super) const ENTRY: Entry = Entry {
    id: "E5",
    title: "iris by its sepals, squared loss",
    shows: "With squared loss the primal is smooth, so Newton's method solves it in a few steps; the dual, one variable at a \
            time, comes to the same line.",
    figure,
    run,
};

const OBJECTIVE: f64 = 285.040662;

fn figure() -> Result<(Dataset, TrainingParams), Error> {
    let (data, setosa) = sepals()?;
    let (penalty, bias, loss) = (Penalty::C(1000.0), Bias::Folded, Some(Loss::Squared));
    Ok((data, TrainingParams { penalty, bias, loss, positive: Some(setosa), ..params() }))
}

fn run(notebook: &mut Notebook<'_>) -> Result<(), Error> {
    let (data, params) = figure()?;
    for (kind, model) in notebook.fit_all(&data, &params)? {
        notebook.all_equal(&["w1", "w2", "b"], kind, &[-7.473715, 6.340199, 19.908250], &line(&model));
        notebook.equal("objective", Some(kind), OBJECTIVE, certificate(&model)?.primal);
        notebook.equal("dual objective", Some(kind), OBJECTIVE, certificate(&model)?.dual);
    }
    Ok(())
}
