//! `predict`: LIBLINEAR's prediction program.

use std::fmt::Write as _;
use std::path::Path;

use maxmargin::Workers;
use maxmargin::problem::Loss;

use super::data::{numbers, read};
use super::ending::Ending;
use super::fits::{likeliest, predicted};
use super::general::{g, g17};
use super::options::Options;
use super::scores::Scores;
use super::svm_predict::load;
use crate::input::answers_of;
use crate::output::{self, Target};

const USAGE: &str = "\
Usage: predict [options] test_file model_file output_file
options:
-b probability_estimates : whether to write probabilities, 0 or 1 (default 0); for logistic regression only
-q : no words
";

/// Predicts.
pub(super) fn run(arguments: &[String]) -> Result<(), Ending> {
    let options = Options::new(arguments, "b", "q", USAGE)?;
    let (test, model_file, to) = (options.file(0)?, options.file(1)?, options.file(2)?);
    let probabilities = match options.value('b', 0)? {
        0 => false,
        1 => true,
        _ => return Err(options.wrong("-b is 0 or 1")),
    };
    let target = Target::new(Path::new(to), &[Path::new(test), Path::new(model_file)])?;
    let workers = Workers::new(0)?;
    let (model, order) = load(model_file)?;
    if probabilities && model.recipe().loss != Loss::Logistic {
        return Err(Ending::Refused(
            "probability output is only supported for logistic regression\n  help: train with -s 0, 6 or 7".into(),
        ));
    }
    let data = read(test, &workers, true, answers_of(model.task()), None)?;
    let targets = numbers(&data)?;
    let mut text = String::new();
    let mut scores = Scores::default();
    if probabilities {
        let names: Vec<&str> = order.iter().map(|&class| model.classes()[class].text()).collect();
        let _ = writeln!(text, "labels {}", names.join(" "));
        let predictions = model.predict(&data, &workers)?;
        let all = model.probabilities(&predictions)?;
        for (row, line) in all.chunks(order.len()).enumerate() {
            let label = model.classes()[likeliest(line, &order)].number().unwrap_or(f64::NAN);
            scores.add(targets[row], label);
            text.push_str(&g(label));
            order.iter().for_each(|&class| {
                let _ = write!(text, " {}", g(line[class]));
            });
            text.push('\n');
        }
    } else {
        for (&truth, found) in targets.iter().zip(predicted(&model, &data, &order, false, &workers)?) {
            scores.add(truth, found);
            let _ = writeln!(text, "{}", g17(found));
        }
    }
    target.save(text.as_bytes())?;
    let words = scores.of_prediction(model.task().is_regression(), "");
    if options.has('q') { Ok(()) } else { Ok(output::print(&words)?) }
}
