//! E10: a sweep of C.

use super::{Claim, Entry, Notebook, certificate, params};
use crate::data::Dataset;
use crate::data::generate::blobs;
use crate::error::Error;
use crate::kernel::{Gamma, KernelParams};
use crate::solver::SolverKind;
use crate::training::{Penalty, TrainingParams};

pub(super) const ENTRY: Entry = Entry {
    id: "E10",
    title: "a sweep of C",
    shows: "The dearer the slack, the less of it and the narrower the margin: both fall with every step of C.",
    figure,
    run,
};

const COSTS: [f64; 4] = [10.0, 100.0, 1000.0, 10000.0];

fn figure() -> Result<(Dataset, TrainingParams), Error> {
    // Noise as large as the distance of the classes' centres from the origin, so that they overlap.
    let kernel = KernelParams::Rbf { gamma: Gamma::Value(0.02) };
    Ok((blobs(80, 2.0, 10)?, TrainingParams { kernel, penalty: Penalty::C(COSTS[0]), ..params() }))
}

fn run(notebook: &mut Notebook<'_>) -> Result<(), Error> {
    let (data, params) = figure()?;
    let mut sweeps: Vec<(SolverKind, Vec<f64>, Vec<f64>)> = Vec::new();
    for cost in COSTS {
        let models = notebook.fit_all(&data, &TrainingParams { penalty: Penalty::C(cost), ..params.clone() })?;
        for (kind, model) in models {
            let found = certificate(&model)?;
            match sweeps.iter_mut().find(|sweep| sweep.0 == kind) {
                Some((_, margins, slacks)) => {
                    margins.push(found.margin);
                    slacks.push(found.slack_sum);
                }
                None => sweeps.push((kind, vec![found.margin], vec![found.slack_sum])),
            }
        }
    }
    for (kind, margins, slacks) in sweeps {
        notebook.note("margin for C = 10, 100, 1000, 10000", Some(kind), Claim::Falling { obtained: margins });
        notebook.note("sum of slacks for C = 10, 100, 1000, 10000", Some(kind), Claim::Falling { obtained: slacks });
    }
    Ok(())
}
