//! LIBLINEAR's model files.
//!
//! ```text
//! solver_type L2R_L2LOSS_SVC
//! nr_class 3
//! label 1 2 3             not for regression and one class
//! nr_feature 4
//! bias -1                 the value of the constant column; below 0 there is none
//! w
//! 0.5 -1 0.3              a line for each column, the constant last: one number for each function
//! ```
//!
//! Two classes have one function, which speaks for the first label where it is above 0; several have one each, but for
//! `MCSVM_CS` two classes have two.

use std::fmt::Write as _;

use maxmargin::Model;
use maxmargin::data::Label;
use maxmargin::error::quoted;
use maxmargin::kernel::{KernelFunction, Linear};
use maxmargin::model::{Multiclass, Pairing};
use maxmargin::problem::{Loss, Norm, Task};
use maxmargin::provenance::Origin;

use super::{Lines, MOST_CLASSES, MOST_COLUMNS, Read, check_writable, columns_in_file, machine, not_writable, sorted};
use crate::error::Error;
use crate::help::{Help, Setting};

/// Every type of machine, with our names for what it minimises.
const TYPES: [(&str, Task, Loss, Norm); 12] = {
    const CLASSES: Task = Task::Classification;
    const NUMBERS: Task = Task::Regression { epsilon: 0.0 };
    [
        ("L2R_LR", CLASSES, Loss::Logistic, Norm::L2),
        ("L2R_LR_DUAL", CLASSES, Loss::Logistic, Norm::L2),
        ("L2R_L2LOSS_SVC", CLASSES, Loss::Squared, Norm::L2),
        ("L2R_L2LOSS_SVC_DUAL", CLASSES, Loss::Squared, Norm::L2),
        ("L2R_L1LOSS_SVC_DUAL", CLASSES, Loss::Hinge, Norm::L2),
        ("MCSVM_CS", CLASSES, Loss::Hinge, Norm::L2),
        ("L1R_L2LOSS_SVC", CLASSES, Loss::Squared, Norm::L1),
        ("L1R_LR", CLASSES, Loss::Logistic, Norm::L1),
        ("L2R_L2LOSS_SVR", NUMBERS, Loss::Squared, Norm::L2),
        ("L2R_L2LOSS_SVR_DUAL", NUMBERS, Loss::Squared, Norm::L2),
        ("L2R_L1LOSS_SVR_DUAL", NUMBERS, Loss::Hinge, Norm::L2),
        ("ONECLASS_SVM", Task::OneClass { nu: 0.5 }, Loss::Hinge, Norm::L2),
    ]
};
const TOGETHER: &str = "MCSVM_CS";

/// A model from the text of a LIBLINEAR file called `path`.
///
/// # Errors
/// When the text is none, or holds numbers that do not fit each other; the message names the line.
pub fn liblinear_model_from_text(text: &str, path: &str) -> Result<Model, Error> {
    let mut lines = Lines::new(text, path);
    let (mut kind, mut count, mut labels, mut features, mut constant, mut rho) =
        (None, None, Vec::new(), None, None, None);
    let mut names = Vec::new();
    loop {
        let (name, words) = lines.entry("an entry such as `solver_type L2R_LR`, or `w`")?;
        lines.once(name, &mut names)?;
        match name {
            "w" => break,
            "solver_type" => {
                let found = TYPES.iter().find(|(name, ..)| words == [*name]);
                kind = Some(*found.ok_or_else(|| lines.fault(&quoted(&words.join(" ")), "a type such as L2R_LR"))?);
            }
            "nr_class" => {
                let classes: usize = lines.single(&words, "a number of classes")?;
                if !(1..=MOST_CLASSES).contains(&classes) {
                    return Err(lines.fault(&classes.to_string(), &format!("1 to {MOST_CLASSES} classes")));
                }
                count = Some(classes);
            }
            "label" => labels = lines.labels(&words)?,
            "nr_feature" => {
                let columns: usize = lines.single(&words, "a number of columns")?;
                if columns > MOST_COLUMNS {
                    return Err(lines.fault(&columns.to_string(), &format!("{MOST_COLUMNS} columns at most")));
                }
                features = Some(columns);
            }
            "bias" => constant = Some(lines.single_finite(&words)?),
            "rho" => rho = Some(lines.single_finite(&words)?),
            _ => return Err(lines.fault(&quoted(name), "an entry of a LIBLINEAR model")),
        }
    }
    let lacks = |name: &str| lines.fault("`w`", &format!("the entry {name} before it"));
    let (name, task, loss, norm) = kind.ok_or_else(|| lacks("solver_type"))?;
    let count = count.ok_or_else(|| lacks("nr_class"))?;
    let columns = features.ok_or_else(|| lacks("nr_feature"))?;
    let constant = constant.filter(|constant| *constant >= 0.0);
    let several = task.is_classification();
    if several && (labels.len() != count || count < 2) {
        return Err(lines.fault(&format!("{} labels", labels.len()), &format!("{} of them", count.max(2))));
    }
    let functions = if several && (count > 2 || name == TOGETHER) { count } else { 1 };
    let mut weights: Vec<Vec<f64>> = vec![Vec::new(); functions];
    let height = columns + usize::from(constant.is_some());
    for row in 0..height {
        let line = lines.next(&format!("line {} of {height} with weights", row + 1))?;
        let words: Vec<&str> = line.split_ascii_whitespace().collect();
        let numbers = lines.numbers(&words, functions, "weights")?;
        weights.iter_mut().zip(numbers).for_each(|(weights, number)| weights.push(number));
    }
    lines.end()?;
    let biases: Vec<f64> = weights
        .iter_mut()
        .map(|weights| match constant {
            Some(constant) => constant * weights.pop().unwrap_or(0.0),
            None => rho.map_or(0.0, |rho| -rho),
        })
        .collect();
    // Of two classes the file names the positive one first.
    let (classes, places) = sorted(&labels, count == 2);
    let signed = |k: usize, sign: f64| (weights[k].iter().map(|w| sign * w).collect::<Vec<f64>>(), sign * biases[k]);
    let functions: Vec<(Pairing, (Vec<f64>, f64))> = match task {
        Task::Classification if count == 2 => {
            // Of two classes ours speaks for the larger label, theirs for the first; of two functions it is the difference.
            let sign = if places[0] == 1 { 1.0 } else { -1.0 };
            let (mut own, mut bias) = signed(0, sign);
            if weights.len() == 2 {
                own.iter_mut().zip(&weights[1]).for_each(|(own, other)| *own -= sign * other);
                bias -= sign * biases[1];
            }
            vec![(Pairing { positive: 1, negative: Some(0) }, (own, bias))]
        }
        Task::Classification => {
            let mut of_class = vec![0; count];
            places.iter().enumerate().for_each(|(place, &class)| of_class[class] = place);
            (0..count)
                .map(|class| (Pairing { positive: class, negative: None }, signed(of_class[class], 1.0)))
                .collect()
        }
        Task::OneClass { .. } => vec![(Pairing { positive: 1, negative: Some(0) }, signed(0, 1.0))],
        _ => vec![(Pairing { positive: 0, negative: None }, signed(0, 1.0))],
    };
    let machines = functions
        .into_iter()
        .map(|(pairing, (weights, bias))| {
            let mut found = machine(pairing, bias);
            found.weights = Some(weights);
            found
        })
        .collect();
    let classes = match task {
        Task::OneClass { .. } => ["-1", "1"].map(Label::new).to_vec(),
        Task::Classification => classes,
        _ => Vec::new(),
    };
    let multiclass = if name == TOGETHER && count > 2 { Multiclass::CrammerSinger } else { Multiclass::OneVsRest };
    let kernel = KernelFunction::Linear(Linear {});
    Read {
        task,
        kernel,
        loss,
        norm,
        origin: Origin::Liblinear,
        multiclass,
        classes,
        columns,
        machines,
        vectors: None,
        table: None,
    }
    .model(path)
}

/// How a file is laid out where LIBLINEAR leaves a choice.
#[derive(Clone, Copy, Debug, Default)]
pub struct LiblinearLayout<'a> {
    /// Our classes in the order that the file is to name them in; `None` is the larger of two labels first, and our own of several.
    pub order: Option<&'a [usize]>,
    /// The constant that stands for a bias; `None` is 1 where there is one.
    pub constant: Option<f64>,
    /// The type of machine, of those that minimise the same; `None` is the first of them.
    pub name: Option<&'a str>,
}

/// The text of a model for LIBLINEAR.
///
/// # Errors
/// When the model is none that LIBLINEAR has: scaled, with a kernel, with labels that are no whole numbers, or with several classes by
/// pairs.
pub fn liblinear_model_to_text(model: &Model, layout: LiblinearLayout<'_>) -> Result<String, Error> {
    let parts = model.parts();
    let labels = check_writable(model, "LIBLINEAR")?;
    if !parts.recipe.kernel.is_linear() {
        return not_writable("LIBLINEAR has no kernels", "train with the kernel linear, or write for LIBSVM");
    }
    let count = labels.len();
    let one_class = matches!(parts.recipe.task, Task::OneClass { .. });
    let several = parts.recipe.task.is_classification();
    if several && count > 2 && parts.recipe.multiclass == Multiclass::OneVsOne {
        return not_writable(
            "LIBLINEAR has no machines for pairs of classes",
            Help::from("train with ").set(Setting::Multiclass, "ovr"),
        );
    }
    let together = parts.recipe.multiclass == Multiclass::CrammerSinger && count > 2;
    // Of two classes it is the same machine with another name.
    let named_together = layout.name == Some(TOGETHER) && count == 2 && parts.recipe.loss == Loss::Hinge;
    let own = |found: &&(&str, Task, Loss, Norm)| {
        let (name, task, loss, norm) = **found;
        let same_task = std::mem::discriminant(&task) == std::mem::discriminant(&parts.recipe.task);
        let named = layout.name.is_none_or(|own| own == name);
        named
            && same_task
            && loss == parts.recipe.loss
            && norm == parts.recipe.norm
            && (name == TOGETHER) == (together || named_together)
    };
    let Some((name, ..)) = TYPES.iter().find(own) else {
        return not_writable("LIBLINEAR has no machine that minimises this", "choose another loss or norm");
    };
    let mut text = format!("solver_type {name}\nnr_class {}\n", if several { count } else { 2 });
    let two = several && count == 2;
    // Our f speaks for the larger of two labels.
    let own: Vec<usize> = if two { vec![1, 0] } else { (0..count).collect() };
    let order = layout.order.filter(|order| order.len() == count).unwrap_or(&own);
    if several {
        let names: Vec<String> = order.iter().map(|&class| labels[class].to_string()).collect();
        let _ = writeln!(text, "label {}", names.join(" "));
    }
    let machines = model.machines();
    let biased = machines.iter().any(|machine| machine.bias != 0.0);
    let constant = layout.constant.unwrap_or(if biased && !one_class { 1.0 } else { -1.0 });
    let columns = columns_in_file(parts);
    let width = columns.iter().max().map_or(0, |last| last + 1);
    let _ = writeln!(text, "nr_feature {width}\nbias {constant}");
    if one_class {
        let _ = writeln!(text, "rho {}", -machines[0].bias);
    }
    text.push_str("w\n");
    // Theirs speak for the first of two labels; a machine of several classes for its own.
    let functions: Vec<(usize, f64)> = match (several, two) {
        (true, true) if named_together => {
            vec![(0, if order[0] == 1 { 0.5 } else { -0.5 }), (0, if order[0] == 1 { -0.5 } else { 0.5 })]
        }
        (true, true) => vec![(0, if order[0] == 1 { 1.0 } else { -1.0 })],
        (true, false) => order.iter().map(|&class| (class, 1.0)).collect(),
        (false, _) => vec![(0, 1.0)],
    };
    let mut order: Vec<usize> = (0..columns.len()).collect();
    order.sort_unstable_by_key(|&place| columns[place]);
    let empty = "0 ".repeat(functions.len()) + "\n";
    let mut next = 0;
    for place in order {
        // Columns that the model does not have weigh nothing.
        (next..columns[place]).for_each(|_| text.push_str(&empty));
        next = columns[place] + 1;
        put_line(&mut text, &functions, |machine| {
            machines[machine].weights.as_ref().map_or(0.0, |weights| weights[place])
        });
    }
    let mut line = |number: &dyn Fn(usize) -> f64| put_line(&mut text, &functions, number);
    if constant > 0.0 {
        line(&|machine| machines[machine].bias / constant);
    } else if constant == 0.0 {
        line(&|_| 0.0);
    }
    Ok(text)
}

/// Adds a line with a number of each decision function: `(machine, sign)`.
fn put_line(text: &mut String, functions: &[(usize, f64)], number: impl Fn(usize) -> f64) {
    for &(machine, sign) in functions {
        let _ = write!(text, "{} ", sign * number(machine));
    }
    text.push('\n');
}
