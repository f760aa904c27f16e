//! E9: a far blob.

use super::{Claim, Entry, Notebook, line, params};
use crate::data::Dataset;
use crate::data::generate::{blobs, far_blob};
use crate::error::Error;
use crate::problem::Loss;
use crate::solver::SolverKind;
use crate::training::{Penalty, TrainingParams};

pub(super) const ENTRY: Entry = Entry {
    id: "E9",
    title: "a far blob",
    shows: "Rows far on the right side of the boundary say nothing about where the classes meet. Fisher's discriminant \
            turns towards them all the same; logistic regression and the support vector machine hardly move.",
    figure,
    run,
};

const SEED: u64 = 9;

/// Rows without the far ones; [`far_blob`] of six for each five of them has the same rows first.
const NEAR: usize = 200;

const NOISE: f64 = 0.7;

/// Fisher's discriminant turns by more degrees than this, the others by less than the second number.
const TURNS: [f64; 2] = [15.0, 5.0];

fn figure() -> Result<(Dataset, TrainingParams), Error> {
    Ok((far_blob(NEAR / 5 * 6, NOISE, SEED)?, params()))
}

fn run(notebook: &mut Notebook<'_>) -> Result<(), Error> {
    let (near, far) = (blobs(NEAR, NOISE, SEED)?, far_blob(NEAR / 5 * 6, NOISE, SEED)?);
    for (kind, loss) in [
        (SolverKind::Lda, Loss::Hinge),
        (SolverKind::Logistic, Loss::Logistic),
        (SolverKind::Smo, Loss::Hinge),
        (SolverKind::InteriorPoint, Loss::Hinge),
        (SolverKind::Newton, Loss::Squared),
    ] {
        let params = TrainingParams { solver: Some(kind), loss: Some(loss), penalty: Penalty::C(1.0), ..params() };
        let (before, after) = (notebook.fit(&near, params.clone())?, notebook.fit(&far, params)?);
        let obtained = angle(&line(&before), &line(&after));
        let what = format!("{} loss: degrees that the boundary turns by", loss.name());
        if kind == SolverKind::Lda {
            let what = "degrees that the boundary turns by";
            notebook.note(what, Some(kind), Claim::AtLeast { limit: TURNS[0], obtained });
        } else {
            notebook.note(what, Some(kind), Claim::AtMost { limit: TURNS[1], obtained });
        }
    }
    Ok(())
}

/// The angle between two lines (w1, w2, b), in degrees.
fn angle(a: &[f64], b: &[f64]) -> f64 {
    (a[1].atan2(a[0]) - b[1].atan2(b[0])).sin().abs().asin().to_degrees()
}
