//! `svm-predict`: LIBSVM's prediction program.

use std::fmt::Write as _;
use std::path::Path;

use maxmargin::calibration::Calibration;
use maxmargin::problem::Task;
use maxmargin::{Model, Workers};
use maxmargin_io::KernelValues;

use super::data::{numbers, read};
use super::ending::Ending;
use super::fits::{likeliest, predicted};
use super::general::{g, g17};
use super::options::Options;
use super::order::order_in_file;
use super::scores::Scores;
use crate::input::answers_of;
use crate::output::{self, Target};

const USAGE: &str = "\
Usage: svm-predict [options] test_file model_file output_file
options:
-b probability_estimates : whether to predict probabilities, 0 or 1 (default 0)
-q : no words
";

/// A model and the order of classes in its file.
pub(super) fn load(file: &str) -> Result<(Model, Vec<usize>), Ending> {
    let model = maxmargin_io::load_model(Path::new(file)).map_err(|error| {
        Ending::Refused(format!("can't open model file {}\n  {error}\n  help: {}", output::escaped(file), error.help()))
    })?;
    // A file that is not text has no order of its own.
    let text = std::fs::read_to_string(file).unwrap_or_default();
    let order = order_in_file(&text, model.classes());
    Ok((model, order))
}

/// Predicts.
pub(super) fn run(arguments: &[String]) -> Result<(), Ending> {
    let options = Options::new(arguments, "b", "q", USAGE)?;
    let (test, model_file, to) = (options.file(0)?, options.file(1)?, options.file(2)?);
    let probabilities = match options.value('b', 0)? {
        0 => false,
        1 => true,
        _ => return Err(options.wrong("-b is 0 or 1")),
    };
    let quiet = options.has('q');
    let target = Target::new(Path::new(to), &[Path::new(test), Path::new(model_file)])?;
    let workers = Workers::new(0)?;
    let (model, order) = load(model_file)?;
    let values = model.recipe().kernel.is_precomputed().then_some(KernelValues::New);
    let data = read(test, &workers, true, answers_of(model.task()), values)?;
    let model = model.widened(data.columns())?;
    let targets = numbers(&data)?;
    let noise = match model.machines() {
        [machine] => match machine.calibration {
            Some(Calibration::Noise { scale }) => Some(scale),
            _ => None,
        },
        _ => None,
    };
    let mut words = String::new();
    let supported = model.has_probabilities() || noise.is_some();
    if probabilities && !supported {
        return Err(Ending::Refused(
            "Model does not support probabiliy estimates\n  help: train with -b 1, or predict with -b 0".into(),
        ));
    }
    if !probabilities && supported {
        words.push_str("Model supports probability estimates, but disabled in prediction.\n");
    }
    let mut text = String::new();
    let mut scores = Scores::default();
    if let (true, false) = (probabilities, model.task().is_regression()) {
        let one_class = matches!(model.task(), Task::OneClass { .. });
        // Of one class the usual rows come first in their file, and second in our classes.
        let order = if one_class { vec![1, 0] } else { order };
        let names = order.iter().map(|&class| model.classes()[class].text().to_string());
        let names = if one_class { "normal outlier".into() } else { names.collect::<Vec<_>>().join(" ") };
        let _ = writeln!(text, "labels {names}");
        let predictions = model.predict(&data, &workers)?;
        let all = model.probabilities(&predictions)?;
        for (row, line) in all.chunks(order.len()).enumerate() {
            let class = if one_class { predictions.codes()[row] as usize } else { likeliest(line, &order) };
            let label = model.classes()[class].number().unwrap_or(f64::NAN);
            scores.add(targets[row], label);
            text.push_str(&g(label));
            order.iter().for_each(|&class| {
                let _ = write!(text, " {}", g(line[class]));
            });
            text.push('\n');
        }
    } else {
        if let Some(scale) = noise.filter(|_| probabilities) {
            words.push_str(&format!(
                "Prob. model for test data: target value = predicted value + z,\nz: Laplace distribution \
                 e^(-|z|/sigma)/(2sigma),sigma={}\n",
                g(scale)
            ));
        }
        for (&truth, found) in targets.iter().zip(predicted(&model, &data, &order, false, &workers)?) {
            scores.add(truth, found);
            let _ = writeln!(text, "{}", g17(found));
        }
    }
    target.save(text.as_bytes())?;
    words.push_str(&scores.of_prediction(model.task().is_regression(), " (classification)"));
    if quiet { Ok(()) } else { Ok(output::print(&words)?) }
}
