//! `verify`: is what a model says of itself true?

use maxmargin::certificate::Evidence;
use maxmargin::certificate::joint::JointEvidence;
use maxmargin::error::quoted;
use maxmargin::landmarks::Proof;
use maxmargin::provenance::Origin as Made;
use maxmargin::review::Verification;
use maxmargin::view::VerificationView;
use maxmargin::{Model, Workers};
use maxmargin_plot::Kind;

use crate::arguments::Verify;
use crate::exit::ExitCode;
use crate::failure::Failure;
use crate::input::{self, Origin, Wanted};
use crate::output::{self, Words};
use crate::picture::{self, Sketch};
use crate::report::machines::title;
use crate::report::{Page, counted, json_line, number};

/// Computes the certificates anew, and compares.
pub(super) fn run(arguments: &Verify) -> Result<ExitCode, Failure> {
    let words = Words { quiet: false };
    let origin = Origin::new(&arguments.review.data, words)?;
    let mut read = vec![arguments.review.model.as_path()];
    read.extend(origin.file());
    let sketch = Sketch::of(arguments.plot.as_ref(), &read)?;
    arguments.holdout.map_or(Ok(()), super::train::check_share)?;
    let workers = Workers::new(arguments.review.threads)?;
    let model = crate::model_file::load(&arguments.review.model)?;
    if matches!(model.provenance().origin, Made::Libsvm | Made::Liblinear) {
        let (file, origin) = (quoted(&arguments.review.model.to_string_lossy()), &model.provenance().origin);
        return Err(Failure::new(
            format!("{file}: a model file of {origin} has no certificate, and does not name its training rows"),
            "a model of maxmargin train has both; predict says how many labels any model meets",
        ));
    }
    let source = origin.fetch(arguments.review.reading.seed_of(&model), &workers, words)?;
    let wanted = Wanted::from(&model).of_training();
    let found = input::read_for_model(&source, wanted, &arguments.review.reading, arguments.review.unlabelled, words)?;
    if !found.labelled() && model.task().usual().is_none() {
        return Err(Failure::new(
            format!("{}: the data has no label column, but a certificate is about labels", origin.shown()),
            "name the label column with --label",
        ));
    }
    let seed = arguments.review.reading.seed_of(&model);
    let data = match input::training_rows(&model, &found.data, arguments.holdout, seed)? {
        None => found.data,
        Some(rows) => found.data.select_rows(&rows),
    };
    let (rows, trained) = (data.rows(), model.provenance().rows);
    if rows != trained {
        return Err(Failure::new(
            format!("{}: found {}, but the model was trained on {trained}", origin.shown(), counted(rows, "row")),
            "give the training data, read as in training; what the model does not remember: --holdout and --seed",
        ));
    }
    let verification = model.verify(&data, &workers)?;
    output::print(&if arguments.review.json {
        json_line(&VerificationView::new(&model, &verification))
    } else {
        page(&model, &verification)
    })?;
    if let Some(sketch) = sketch {
        let kind = match model.task() {
            task if task.is_regression() => Kind::Residuals,
            task if task.is_classification() => Kind::Margins,
            task => Kind::usual(task),
        };
        let sketch = Sketch { kind: Some(kind), ..sketch };
        let of = picture::draw(&sketch, &model, Some(&data), &workers)?;
        output::say(&format!("wrote {} ({of})", sketch.target.shown()));
    }
    Ok(if verification.holds() { ExitCode::Done } else { ExitCode::NotAsAsked })
}

fn page(model: &Model, verification: &Verification) -> String {
    let mut page = Page::new();
    if let (Some(stored), Some(found)) = (&model.parts().joint, &verification.joint) {
        match (stored, found) {
            (JointEvidence::Certificate(stored), JointEvidence::Certificate(found)) => {
                let mut rows = vec![vec!["all classes together".into(), "stored".into(), "found".into()]];
                for ((quantity, stored), (_, found)) in stored.numbers().into_iter().zip(found.numbers()) {
                    rows.push(vec![quantity.name().into(), number(stored, 8), number(found, 8)]);
                }
                page.table(&rows);
            }
            (_, JointEvidence::None(reason)) => {
                page.text(&format!("all classes together: no certificate, because {reason}"));
            }
            (JointEvidence::None(reason), _) => {
                page.text(&format!("all classes together: stored none, because {reason}; found a certificate"));
            }
        }
        page.text("");
    }
    for (machine, found) in model.machines().iter().zip(&verification.evidence) {
        match (&machine.evidence, found) {
            (Evidence::Certificate(stored), Evidence::Certificate(found)) => {
                let mut rows = vec![vec![title(model, machine), "stored".into(), "found".into()]];
                for ((quantity, stored), (_, found)) in stored.numbers().into_iter().zip(found.numbers()) {
                    rows.push(vec![quantity.name().into(), number(stored, 8), number(found, 8)]);
                }
                page.table(&rows);
            }
            (Evidence::None(reason), Evidence::None(_)) => {
                page.text(&format!("{}: no certificate, because {reason}", title(model, machine)));
            }
            (Evidence::None(_), Evidence::Certificate(found)) if verification.same_data.is_none() => {
                let mut rows = vec![vec![title(model, machine), "found".into()]];
                rows.extend(
                    found.numbers().into_iter().map(|(quantity, found)| vec![quantity.name().into(), number(found, 8)]),
                );
                page.table(&rows);
            }
            (stored, found) => {
                let words = |evidence: &Evidence| match evidence {
                    Evidence::Certificate(_) => "a certificate".to_string(),
                    Evidence::None(reason) => format!("none, because {reason}"),
                };
                let name = title(model, machine);
                page.text(&format!("{name}: stored {}; found {}", words(stored), words(found)));
            }
        }
        page.text("");
    }
    if verification.proofs.iter().any(Option::is_some) {
        let mut rows = vec![["against the exact machine", "stored", "found"].map(String::from).to_vec()];
        let stored = model.parts().landmarks.iter().flatten();
        for ((machine, stored), found) in model.machines().iter().zip(stored).zip(&verification.proofs) {
            let shown =
                |proof: Option<Proof>| proof.map_or_else(|| "none".into(), |proof| number(proof.relative_gap, 8));
            rows.push(vec![
                format!("proved relative gap, {}", title(model, machine)),
                shown(stored.proof),
                shown(*found),
            ]);
        }
        page.table(&rows);
        page.text("");
    }
    if verification.same_data == Some(false) {
        page.text("false: the data is not the data that the model was trained on (its hash differs)");
    }
    for disagreement in &verification.disagreements {
        let machine = disagreement.machine.and_then(|number| model.machines().get(number));
        let name = machine.map_or_else(|| "all classes together".into(), |machine| title(model, machine));
        page.text(&format!(
            "false: {name}: the model says {} is {}, but it is {}",
            disagreement.name,
            number(disagreement.stored, 8),
            number(disagreement.found, 8)
        ));
    }
    if verification.holds() {
        let certified = verification.evidence.iter().any(|evidence| evidence.certificate().is_some())
            || verification.joint.as_ref().is_some_and(|evidence| evidence.certificate().is_some());
        page.text(match (verification.same_data, certified) {
            (None, true) => "the model learnt from a stream and says nothing of this; it is what its weights are worth on these rows",
            (None, false) => "there is no certificate to check, and the model does not know what data it was trained on",
            (_, true) => "true: every number of the certificate was found again",
            (_, false) => "there is no certificate to check; the data is the training data",
        });
    }
    page.finish()
}
