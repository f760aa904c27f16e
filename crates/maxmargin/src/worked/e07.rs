//! E7: the conic of E6 with squared loss.

use super::e06::{NAMES, conic, quadratic};
use super::{Entry, Notebook, certificate};
use crate::data::Dataset;
use crate::error::Error;
use crate::problem::Loss;
use crate::training::TrainingParams;

pub(super) const ENTRY: Entry = Entry {
    id: "E7",
    title: "iris on its principal components, squared loss",
    shows: "The kernel machine of E6 with squared loss: Newton's method in the coefficients of the kernel expansion and the \
            dual solvers find the same conic.",
    figure,
    run,
};

const CONIC: [f64; 6] = [-0.869388, 0.643048, -0.499479, -0.427963, 1.036739, 2.399755];

const OBJECTIVE: f64 = 137.057760;

fn figure() -> Result<(Dataset, TrainingParams), Error> {
    quadratic(Loss::Squared)
}

fn run(notebook: &mut Notebook<'_>) -> Result<(), Error> {
    let (data, params) = figure()?;
    for (kind, model) in notebook.fit_all(&data, &params)? {
        notebook.all_equal(&NAMES, kind, &CONIC, &conic(&model, &data)?);
        notebook.equal("objective", Some(kind), OBJECTIVE, certificate(&model)?.primal);
        notebook.equal("dual objective", Some(kind), OBJECTIVE, certificate(&model)?.dual);
    }
    Ok(())
}
