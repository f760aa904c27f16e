//! E8: xor and rings.

use super::{Claim, Entry, Notebook, certificate, machine, params};
use crate::control::Stop;
use crate::data::{Dataset, generate};
use crate::error::Error;
use crate::kernel::{Gamma, KernelParams};
use crate::lift::{Monomials, lift};
use crate::model::Model;
use crate::solver::{Settings, SolverKind};
use crate::training::{Penalty, TrainingParams};

pub(super) const ENTRY: Entry = Entry {
    id: "E8",
    title: "xor and rings",
    shows: "Quadrants and rings have no linear separator, and the perceptron never comes to rest on them. Lifted to the \
            monomials of degree 2, or seen through the kernel of degree 2, both are separated without an error. So they are by a few \
            relevance vectors, and by a network of four hidden units.",
    figure,
    run,
};

const ROWS: usize = 60;

const SEED: u64 = 8;

fn figure() -> Result<(Dataset, TrainingParams), Error> {
    Ok((generate("rings", ROWS, SEED)?, hard_quadratic()))
}

fn hard_quadratic() -> TrainingParams {
    let kernel = KernelParams::Polynomial { gamma: Gamma::Value(1.0), coef0: 1.0, degree: 2 };
    TrainingParams { kernel, penalty: Penalty::Hard, ..params() }
}

fn run(notebook: &mut Notebook<'_>) -> Result<(), Error> {
    for name in ["xor", "rings"] {
        let raw = generate(name, ROWS, SEED)?;
        let map = Monomials::new(2, 2, 1.0, 1.0)?;
        let lifted = Dataset::new(lift(&map, raw.matrix())?, raw.labels()?.clone())?;

        // No line: the hulls of the two classes meet.
        for (kind, distance) in hard_margins(notebook, &raw, &params())? {
            notebook.note(
                format!("{name}: distance of the hulls of the raw points"),
                Some(kind),
                Claim::AtMost { limit: 1e-6, obtained: distance },
            );
        }
        // A quadratic kernel: they lie apart, and so do the lifted points under the linear kernel.
        for (what, data, params) in [("kernel of degree 2", &raw, hard_quadratic()), ("lifted", &lifted, params())] {
            for (kind, distance) in hard_margins(notebook, data, &params)? {
                notebook.note(
                    format!("{name}, {what}: distance of the hulls"),
                    Some(kind),
                    Claim::AtLeast { limit: 1e-3, obtained: distance },
                );
                let params = TrainingParams { penalty: Penalty::Hard, solver: Some(kind), ..params.clone() };
                let errors = machine(&notebook.fit(data, params)?).training_errors;
                notebook.count(format!("{name}, {what}: training errors"), Some(kind), 0, errors);
            }
        }
        perceptrons(notebook, name, &raw, &lifted)?;
        without_certificates(notebook, name, &raw)?;
    }
    Ok(())
}

/// The distance of the hulls, 2/‖w‖, by each solver that has a hard margin; where there is none, the distance that
/// showed it.
fn hard_margins(
    notebook: &mut Notebook<'_>,
    data: &Dataset,
    params: &TrainingParams,
) -> Result<Vec<(SolverKind, f64)>, Error> {
    let mut distances = Vec::new();
    for kind in SolverKind::ALL.into_iter().filter(|kind| kind.finds_minimum()) {
        let params = TrainingParams { penalty: Penalty::Hard, solver: Some(kind), ..params.clone() };
        match notebook.fit(data, params) {
            Ok(model) => distances.push((kind, 2.0 * certificate(&model)?.margin)),
            Err(Error::NotSeparable { distance, .. }) => distances.push((kind, distance)),
            Err(Error::Combination { .. }) => {} // this solver has no hard margin
            Err(error) => return Err(error),
        }
    }
    Ok(distances)
}

/// The two whose problem is not convex: a relevance vector machine, of at most half as many vectors as a support vector machine
/// has, and a network.
fn without_certificates(notebook: &mut Notebook<'_>, name: &str, raw: &Dataset) -> Result<(), Error> {
    let kernel = hard_quadratic().kernel;
    let vectors = |model: &Model| model.parts().support_rows.len() as f64;
    let soft = notebook.fit(raw, TrainingParams { kernel: kernel.clone(), ..params() })?;
    let rvm = TrainingParams { kernel, solver: Some(SolverKind::Rvm), ..TrainingParams::default() };
    let found = notebook.fit(raw, rvm)?;
    let what = format!("{name}, kernel of degree 2: training errors");
    notebook.count(what, Some(SolverKind::Rvm), 0, machine(&found).training_errors);
    notebook.note(
        format!("{name}, kernel of degree 2: relevance vectors, against half of the support vectors at C = 1"),
        Some(SolverKind::Rvm),
        Claim::AtMost { limit: 0.5 * vectors(&soft), obtained: vectors(&found) },
    );
    let settings = Settings { hidden: vec![4], ..Settings::default() };
    let mlp = TrainingParams {
        solver: Some(SolverKind::Mlp),
        penalty: Penalty::C(100.0),
        settings,
        ..TrainingParams::default()
    };
    let found = notebook.fit(raw, mlp)?;
    let what = format!("{name}, a network of four hidden units: training errors");
    notebook.count(what, Some(SolverKind::Mlp), 0, machine(&found).training_errors);
    Ok(())
}

fn perceptrons(notebook: &mut Notebook<'_>, name: &str, raw: &Dataset, lifted: &Dataset) -> Result<(), Error> {
    let rests = |stop: Stop| usize::from(stop == Stop::Converged);
    let settings = Settings { max_iterations: Some(20_000), ..Settings::default() };
    let base = TrainingParams { settings, ..TrainingParams::default() };
    let linear = TrainingParams { solver: Some(SolverKind::Perceptron), ..base.clone() };
    let kind = SolverKind::KernelPerceptron;
    let kernel = TrainingParams { solver: Some(kind), kernel: hard_quadratic().kernel, ..base };
    for (what, kind, data, params, succeeds) in [
        ("raw points", SolverKind::Perceptron, raw, &linear, false),
        ("lifted points", SolverKind::Perceptron, lifted, &linear, true),
        ("kernel of degree 2", kind, raw, &kernel, true),
    ] {
        let model = notebook.fit(data, params.clone())?;
        let what = format!("{name}, {what}");
        let (errors, rest) = (machine(&model).training_errors, rests(model.stop()));
        notebook.count(format!("{what}: comes to rest (1) or not (0)"), Some(kind), usize::from(succeeds), rest);
        let what = format!("{what}: training errors");
        if succeeds {
            notebook.count(what, Some(kind), 0, errors);
        } else {
            notebook.note(what, Some(kind), Claim::AtLeast { limit: 1.0, obtained: errors as f64 });
        }
    }
    Ok(())
}
