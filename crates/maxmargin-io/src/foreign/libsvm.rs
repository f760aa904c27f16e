//! LIBSVM's model files.
//!
//! ```text
//! svm_type c_svc          c_svc nu_svc one_class epsilon_svr nu_svr
//! kernel_type rbf         linear polynomial rbf sigmoid precomputed; then degree, gamma, coef0 as the kernel has them
//! nr_class 3
//! total_sv 21
//! rho 0.1 -0.2 0.3        one for each pair of classes (i, j), i < j, in the order of `label`
//! label 1 2 3
//! nr_sv 7 7 7             the vectors are in the order of their classes
//! SV
//! 0.5 -1 1:0.3 4:1        nr_class − 1 coefficients, then the vector
//! ```
//!
//! Of a table of kernel values (`precomputed`) a vector is `0:i`, the number of its training row, counted from 1: the column that holds the
//! kernel values with it.
//!
//! A vector of class i has its coefficient for the pair with class j in place j − 1 where j > i, else in place j, and
//!
//! ```text
//! f_ij(x) = Σ c k(x, x_s) − ρ_ij > 0   speaks for class i                              (LS.1)
//! ```

use std::fmt::Write as _;

use maxmargin::calibration::Calibration;
use maxmargin::data::{Label, Matrix};
use maxmargin::error::quoted;
use maxmargin::kernel::{KernelFunction, Linear, Polynomial, Precomputed, Rbf, Sigmoid};
use maxmargin::model::{Machine, Multiclass, Pairing};
use maxmargin::problem::{Bias, Loss, Norm, Task};
use maxmargin::provenance::Origin;
use maxmargin::training::Penalty;
use maxmargin::{Model, Workers};

use super::{
    Lines, MOST_CLASSES, MOST_COLUMNS, Read, check_writable, columns_in_file, machine, not_writable, put_entries,
    sorted,
};
use crate::error::Error;
use crate::help::{Help, Setting};
use crate::limits::{check_room, most_numbers, too_much};

/// The head of a file.
#[derive(Default)]
struct Head {
    kind: Option<Task>,
    kernel: Option<String>,
    degree: Option<u32>,
    gamma: Option<f64>,
    coef0: Option<f64>,
    classes: Option<usize>,
    total: Option<usize>,
    rho: Option<Vec<f64>>,
    labels: Option<Vec<i64>>,
    sizes: Option<Vec<usize>>,
    /// probA and probB
    slopes: Vec<f64>,
    offsets: Vec<f64>,
    marks: Option<Vec<f64>>,
}

/// A model from the text of a LIBSVM file called `path`.
///
/// # Errors
/// When the text is none, or holds numbers that do not fit each other; the message names the line.
pub fn libsvm_model_from_text(text: &str, path: &str) -> Result<Model, Error> {
    let mut lines = Lines::new(text, path);
    let mut head = Head::default();
    let mut names = Vec::new();
    loop {
        let (name, words) = lines.entry("an entry such as `svm_type c_svc`, or `SV`")?;
        if name == "SV" {
            break;
        }
        lines.once(name, &mut names)?;
        head.take(name, &words, &lines)?;
    }
    let lacks = |name: &str| lines.fault("`SV`", &format!("the entry {name} before it"));
    let task = head.kind.ok_or_else(|| lacks("svm_type"))?;
    let count = head.classes.ok_or_else(|| lacks("nr_class"))?;
    let total = head.total.ok_or_else(|| lacks("total_sv"))?;
    let rho = head.rho.take().ok_or_else(|| lacks("rho"))?;
    let kernel = head.kernel(&lacks)?;
    let several = task.is_classification();
    let pairs = if several { count * (count - 1) / 2 } else { 1 };
    if rho.len() != pairs {
        return Err(lines.fault(&format!("{} numbers of rho", rho.len()), &format!("{pairs}, for {count} classes")));
    }
    let (labels, sizes) = if several {
        (head.labels.take().ok_or_else(|| lacks("label"))?, head.sizes.take().ok_or_else(|| lacks("nr_sv"))?)
    } else {
        (Vec::new(), vec![total])
    };
    // Sizes that overflow add up to nothing.
    let sum = sizes.iter().try_fold(0usize, |sum, &size| sum.checked_add(size));
    if several && (labels.len() != count || sizes.len() != count || sum != Some(total)) {
        let found = format!("{} labels, {} counts of vectors", labels.len(), sizes.len());
        return Err(lines.fault(&found, &format!("{count} of each, the counts adding up to {total}")));
    }
    let listed = [&head.slopes, &head.offsets].map(Vec::len);
    if several && listed != [0, 0] && listed != [pairs, pairs] {
        let found = format!("{} numbers of probA and {} of probB", listed[0], listed[1]);
        return Err(lines.fault(&found, &format!("{pairs} of each, or none")));
    }
    let vectors = Vectors::read(&mut lines, total, if several { count - 1 } else { 1 }, kernel.is_precomputed())?;
    lines.end()?;
    let table = kernel.is_precomputed().then(|| vectors.table(&lines)).transpose()?;
    let columns = vectors.columns;
    let matrix = vectors.matrix(path)?;
    let coefficients = vectors.coefficients;
    let (classes, places) = sorted(&labels, false);
    let mut starts = vec![0];
    sizes.iter().for_each(|size| starts.push(starts[starts.len() - 1] + size));
    let mut machines = Vec::new();
    if several {
        let mut of_class = vec![0; count];
        places.iter().enumerate().for_each(|(place, &class)| of_class[class] = place);
        for pairing @ Pairing { positive, negative } in Multiclass::OneVsOne.pairings(count) {
            let (own, other) = (of_class[positive], of_class[negative.unwrap_or(0)]);
            let (first, second) = (own.min(other), own.max(other));
            // (LS.1) speaks for the class that comes first in the file, our f for the positive one.
            let sign = if own == first { 1.0 } else { -1.0 };
            let pair = first * count - first * (first + 1) / 2 + second - first - 1;
            let mut found = machine(pairing, -sign * rho[pair]);
            if let (Some(slope), Some(offset)) = (head.slopes.get(pair), head.offsets.get(pair)) {
                // (LS.2)
                found.calibration = Some(Calibration::Sigmoid { slope: -slope, offset: -sign * offset });
            }
            for (class, place) in [(first, second - 1), (second, first)] {
                for vector in starts[class]..starts[class + 1] {
                    let coefficient = sign * coefficients[vector][place];
                    if coefficient != 0.0 {
                        found.support.push(vector as u32);
                        found.coefficients.push(coefficient);
                    }
                }
            }
            machines.push(found);
        }
    } else {
        let positive = usize::from(!task.is_regression());
        let negative = (!task.is_regression()).then_some(0);
        let mut found = machine(Pairing { positive, negative }, -rho[0]);
        found.calibration = match (task.is_regression(), head.slopes.first()) {
            (true, Some(&scale)) if scale >= 0.0 => Some(Calibration::Noise { scale }),
            (false, _) => head.marks.take().map(Calibration::Marks),
            _ => None,
        };
        found.support = (0..total as u32).collect();
        found.coefficients = coefficients.iter().map(|line| line[0]).collect();
        machines.push(found);
    }
    let linear = kernel.is_linear();
    if linear {
        // A weight a column for each machine: how many columns there are is told by one entry.
        let weights = machines.len().saturating_mul(matrix.columns());
        if weights as u64 > most_numbers(text.len() as u64) {
            let what = format!("{weights} weights, of {} machines and {} columns", machines.len(), matrix.columns());
            return Err(too_much(path, &what, "number the columns that are used from 1 on, and train again"));
        }
        check_room::<f64>(path, weights)?;
        machines.iter_mut().for_each(|machine| into_weights(machine, &matrix));
    }
    if let Some((_, places)) = &table {
        machines.iter_mut().for_each(|machine| move_support(machine, places));
    }
    let classes = match task {
        Task::OneClass { .. } => ["-1", "1"].map(Label::new).to_vec(),
        _ => classes,
    };
    let multiclass = Multiclass::OneVsOne;
    let vectors = (!linear && table.is_none()).then_some(matrix);
    let table = table.map(|(rows, _)| rows);
    let (loss, norm) = (Loss::Hinge, Norm::L2);
    Read { task, kernel, loss, norm, origin: Origin::Libsvm, multiclass, classes, columns, machines, vectors, table }
        .model(path)
}

impl Head {
    /// Takes an entry.
    fn take(&mut self, name: &str, words: &[&str], lines: &Lines<'_>) -> Result<(), Error> {
        match name {
            "svm_type" => {
                self.kind = Some(match words {
                    ["c_svc" | "nu_svc"] => Task::Classification,
                    ["one_class"] => Task::OneClass { nu: 0.5 },
                    ["epsilon_svr" | "nu_svr"] => Task::Regression { epsilon: 0.0 },
                    _ => return Err(lines.fault(&quoted(&words.join(" ")), "a type of machine such as c_svc")),
                });
            }
            "kernel_type" => self.kernel = Some(words.join(" ")),
            "degree" => self.degree = Some(lines.single(words, "a whole number")?),
            "gamma" => self.gamma = Some(lines.single_finite(words)?),
            "coef0" => self.coef0 = Some(lines.single_finite(words)?),
            "nr_class" => {
                let count: usize = lines.single(words, "a number of classes")?;
                if !(2..=MOST_CLASSES).contains(&count) {
                    return Err(lines.fault(&count.to_string(), &format!("2 to {MOST_CLASSES} classes")));
                }
                self.classes = Some(count);
            }
            "total_sv" => self.total = Some(lines.single(words, "a number of vectors")?),
            "rho" => self.rho = Some(lines.numbers(words, words.len(), "numbers")?),
            "label" => self.labels = Some(lines.labels(words)?),
            "nr_sv" => {
                let size = |word: &&str| lines.number(word, "numbers of vectors");
                self.sizes = Some(words.iter().map(size).collect::<Result<_, _>>()?);
            }
            "probA" => self.slopes = lines.numbers(words, words.len(), "numbers")?,
            "probB" => self.offsets = lines.numbers(words, words.len(), "numbers")?,
            "prob_density_marks" => {
                let marks = lines.numbers(words, words.len(), "numbers")?;
                if marks.len() != 10 || !marks.is_sorted() {
                    return Err(lines.fault(&format!("{} marks", marks.len()), "10, increasing"));
                }
                self.marks = Some(marks);
            }
            _ => return Err(lines.fault(&quoted(name), "an entry of a LIBSVM model")),
        }
        Ok(())
    }

    fn kernel(&self, lacks: &dyn Fn(&str) -> Error) -> Result<KernelFunction, Error> {
        let gamma = || self.gamma.ok_or_else(|| lacks("gamma"));
        let coef0 = || self.coef0.ok_or_else(|| lacks("coef0"));
        Ok(match self.kernel.as_deref() {
            Some("linear") => KernelFunction::Linear(Linear {}),
            Some("polynomial") => {
                let degree = self.degree.ok_or_else(|| lacks("degree"))?;
                KernelFunction::Polynomial(Polynomial { gamma: gamma()?, coef0: coef0()?, degree })
            }
            Some("rbf") => KernelFunction::Rbf(Rbf { gamma: gamma()? }),
            Some("sigmoid") => KernelFunction::Sigmoid(Sigmoid { gamma: gamma()?, coef0: coef0()? }),
            Some("precomputed") => KernelFunction::Precomputed(Precomputed {}),
            _ => return Err(lacks("kernel_type linear, polynomial, rbf, sigmoid or precomputed")),
        })
    }
}

/// The vectors of a file, as they are read.
#[derive(Default)]
struct Vectors {
    coefficients: Vec<Vec<f64>>,
    offsets: Vec<u64>,
    indices: Vec<u32>,
    values: Vec<f64>,
    columns: usize,
    /// The numbers of the vectors in a table, counted from 1.
    numbers: Vec<usize>,
}

impl Vectors {
    fn read(lines: &mut Lines<'_>, total: usize, count: usize, is_table: bool) -> Result<Self, Error> {
        let mut found = Vectors { offsets: vec![0], ..Vectors::default() };
        for number in 0..total {
            let line = lines.next(&format!("vector {} of {total}", number + 1))?;
            let mut words = line.split_ascii_whitespace();
            let coefficients: Vec<&str> = words.by_ref().take(count).collect();
            found.coefficients.push(lines.numbers(&coefficients, count, "coefficients before the vector")?);
            if is_table {
                found.numbers.push(table_number(words, lines)?);
                found.columns = found.columns.max(found.numbers[number]);
                found.offsets.push(0);
                continue;
            }
            let mut last = 0;
            for word in words {
                let expected = "column:value, columns counted from 1 and increasing";
                let (column, value) = word.split_once(':').ok_or_else(|| lines.fault(&quoted(word), expected))?;
                let column: usize = lines.number(column, expected)?;
                if column <= last || column > MOST_COLUMNS {
                    return Err(lines.fault(&quoted(word), expected));
                }
                last = column;
                found.columns = found.columns.max(column);
                found.indices.push(column as u32 - 1);
                found.values.push(lines.finite(value, expected)?);
            }
            found.offsets.push(found.indices.len() as u64);
        }
        Ok(found)
    }

    /// The training rows of the vectors of a table, increasing; and for each vector its place among them.
    fn table(&self, lines: &Lines<'_>) -> Result<(Vec<u64>, Vec<u32>), Error> {
        let mut order: Vec<usize> = (0..self.numbers.len()).collect();
        order.sort_by_key(|&vector| self.numbers[vector]);
        if let Some(pair) = order.windows(2).find(|pair| self.numbers[pair[0]] == self.numbers[pair[1]]) {
            let found = format!("two vectors 0:{}", self.numbers[pair[0]]);
            return Err(lines.fault(&found, "each training row once"));
        }
        let mut places = vec![0; order.len()];
        order.iter().enumerate().for_each(|(place, &vector)| places[vector] = place as u32);
        Ok((order.iter().map(|&vector| self.numbers[vector] as u64 - 1).collect(), places))
    }

    fn matrix(&self, path: &str) -> Result<Matrix, Error> {
        let (offsets, indices, values) = (self.offsets.clone(), self.indices.clone(), self.values.clone());
        Matrix::sparse(self.coefficients.len(), self.columns, offsets, indices, values)
            .map_err(|error| Error::Data { path: path.into(), error })
    }
}

/// The number of a vector that is known by it alone.
fn table_number<'w>(mut words: impl Iterator<Item = &'w str>, lines: &Lines<'_>) -> Result<usize, Error> {
    let expected = "0:i alone, the number of a training row, counted from 1";
    let (Some(word), None) = (words.next(), words.next()) else {
        return Err(lines.fault("none or several entries", expected));
    };
    let number = word.strip_prefix("0:").ok_or_else(|| lines.fault(&quoted(word), expected))?;
    match lines.number(number, expected)? {
        number if (1..=MOST_COLUMNS).contains(&number) => Ok(number),
        _ => Err(lines.fault(&quoted(word), expected)),
    }
}

/// Brings the vectors of a machine to other places, in increasing order.
fn move_support(machine: &mut Machine, places: &[u32]) {
    let old = machine.support.iter().zip(&machine.coefficients);
    let mut moved: Vec<(u32, f64)> =
        old.map(|(&vector, &coefficient)| (places[vector as usize], coefficient)).collect();
    moved.sort_unstable_by_key(|&(place, _)| place);
    (machine.support, machine.coefficients) = moved.into_iter().unzip();
}

/// A linear machine has weights in the place of vectors.
fn into_weights(machine: &mut Machine, matrix: &Matrix) {
    let mut weights = vec![0.0; matrix.columns()];
    for (&vector, &coefficient) in machine.support.iter().zip(&machine.coefficients) {
        matrix.add_scaled(vector as usize, coefficient, &mut weights);
    }
    machine.weights = Some(weights);
    machine.support.clear();
    machine.coefficients.clear();
}

/// How a file is laid out where LIBSVM leaves a choice.
#[derive(Clone, Copy, Debug, Default)]
pub struct LibsvmLayout<'a> {
    /// Our classes in the order that the file is to name them in; `None` is our own.
    pub order: Option<&'a [usize]>,
    /// The rows that the model was trained on: a linear model is written with its support vectors then, and without them with one vector
    /// for each machine, its weights.
    pub rows: Option<&'a Matrix>,
    /// The threads that write numbers: 1,000 classes have millions. `None` is the calling thread alone. The text is the same.
    pub workers: Option<&'a Workers>,
}

/// Lines of vectors that a thread writes at a time.
const LINES_A_CHUNK: usize = 64;

/// Numbers of a list that a thread writes at a time.
const NUMBERS_A_CHUNK: usize = 1 << 14;

/// The text of a model for LIBSVM, with its probabilities where they are of a form that LIBSVM has.
///
/// # Errors
/// When the model is none that LIBSVM has: scaled, with another kernel, with labels that are no whole numbers, or with several
/// classes other than by pairs.
pub fn libsvm_model_to_text(model: &Model, layout: LibsvmLayout<'_>) -> Result<String, Error> {
    let parts = model.parts();
    let labels = check_writable(model, "LIBSVM")?;
    let count = labels.len().max(2);
    let several = parts.recipe.task.is_classification();
    if several && count > 2 && parts.recipe.multiclass != Multiclass::OneVsOne {
        return not_writable(
            "LIBSVM tells several classes apart by pairs only",
            Help::from("train with ").set(Setting::Multiclass, "ovo"),
        );
    }
    if matches!(parts.recipe.task, Task::Svdd { .. }) {
        return not_writable(
            "LIBSVM's file has no place for a ball",
            Help::from("train with ").set(Setting::Task, "one-class"),
        );
    }
    if parts.recipe.bias == Bias::Folded && !parts.recipe.kernel.is_linear() {
        return not_writable(
            "LIBSVM's kernels have no folded bias",
            Help::from("train with ").set(Setting::Bias, "explicit").and(" or none"),
        );
    }
    let own: Vec<usize> = (0..labels.len()).collect();
    let order = layout.order.filter(|order| order.len() == labels.len()).unwrap_or(&own);
    let mut text = String::new();
    let kind = match (parts.recipe.task, parts.recipe.penalty) {
        (Task::Classification, Penalty::Nu(_)) => "nu_svc",
        (Task::Classification, _) => "c_svc",
        (Task::OneClass { .. } | Task::Svdd { .. }, _) => "one_class",
        (Task::Regression { .. }, _) => "epsilon_svr",
        (Task::NuRegression { .. }, _) => "nu_svr",
    };
    let _ = writeln!(text, "svm_type {kind}");
    let _ = match &parts.recipe.kernel {
        KernelFunction::Linear(_) => writeln!(text, "kernel_type linear"),
        KernelFunction::Polynomial(Polynomial { gamma, coef0, degree }) => {
            writeln!(text, "kernel_type polynomial\ndegree {degree}\ngamma {gamma}\ncoef0 {coef0}")
        }
        KernelFunction::Rbf(Rbf { gamma }) => writeln!(text, "kernel_type rbf\ngamma {gamma}"),
        KernelFunction::Sigmoid(Sigmoid { gamma, coef0 }) => {
            writeln!(text, "kernel_type sigmoid\ngamma {gamma}\ncoef0 {coef0}")
        }
        KernelFunction::Precomputed(_) => writeln!(text, "kernel_type precomputed"),
        other => {
            return not_writable(
                format!("LIBSVM has no kernel {other}"),
                "train with the kernel linear, polynomial, rbf, sigmoid or precomputed",
            );
        }
    };
    let expanded = model.machines().iter().all(|machine| !machine.support.is_empty());
    let rows =
        layout.rows.filter(|rows| parts.recipe.kernel.is_linear() && expanded && rows.rows() == parts.provenance.rows);
    let table = Table::of(model, order, rows.is_some())?;
    let list = |numbers: &mut dyn Iterator<Item = String>| numbers.collect::<Vec<_>>().join(" ");
    let _ = writeln!(text, "nr_class {count}\ntotal_sv {}", table.lines.len());
    let alone = Workers::none();
    let workers = layout.workers.unwrap_or(&alone);
    text.push_str("rho");
    let rho = workers.map_chunks(table.rho.len(), NUMBERS_A_CHUNK, |range| {
        let mut text = String::new();
        table.rho[range].iter().for_each(|rho| {
            let _ = write!(text, " {rho}");
        });
        text
    });
    rho.iter().for_each(|part| text.push_str(part));
    text.push('\n');
    if several {
        let _ = writeln!(text, "label {}", list(&mut order.iter().map(|&class| labels[class].to_string())));
    }
    put_probabilities(&mut text, model, order);
    if several {
        let _ = writeln!(text, "nr_sv {}", list(&mut table.sizes.iter().map(usize::to_string)));
    }
    text.push_str("SV\n");
    // A table knows a training row by the name of its column where columns are called by numbers, else by the row's own number.
    let number = |name: &String| name.parse::<usize>().ok();
    let columns = if parts.recipe.kernel.is_linear() { columns_in_file(parts) } else { Vec::new() };
    let serials: Option<Vec<usize>> = parts.names.as_ref().and_then(|names| names.iter().map(number).collect());
    let put_line = |text: &mut String, (coefficients, source): &(Vec<f64>, Source)| {
        coefficients.iter().for_each(|coefficient| {
            let _ = write!(text, "{coefficient} ");
        });
        match (source, &parts.vectors) {
            (Source::Vector(place), Some(vectors)) => put_entries(text, vectors, *place),
            (Source::Vector(place), None) => {
                let row = parts.support_rows[*place] as usize;
                match rows {
                    Some(rows) => put_entries(text, rows, row),
                    None => {
                        let _ = write!(text, "0:{} ", serials.as_ref().map_or(row + 1, |serials| serials[row]));
                    }
                }
            }
            (Source::Weights(machine), _) => {
                let weights = columns.iter().zip(parts.machines[*machine].weights.iter().flatten());
                let mut entries: Vec<_> = weights.filter(|(_, weight)| **weight != 0.0).collect();
                entries.sort_unstable_by_key(|(column, _)| **column);
                entries.into_iter().for_each(|(column, weight)| {
                    let _ = write!(text, "{}:{weight} ", column + 1);
                });
            }
        }
        text.push('\n');
    };
    let parts_of_text = workers.map_chunks(table.lines.len(), LINES_A_CHUNK, |range| {
        let mut text = String::new();
        table.lines[range].iter().for_each(|line| put_line(&mut text, line));
        text
    });
    text.reserve(parts_of_text.iter().map(String::len).sum());
    parts_of_text.iter().for_each(|part| text.push_str(part));
    Ok(text)
}

/// The entries of probabilities, with the signs of (LS.1)
///
/// ```text
/// σ(a f + b) of the positive class = 1/(1 + exp(A f_ij + B)) of the first                          (LS.2)
/// ```
fn put_probabilities(text: &mut String, model: &Model, order: &[usize]) {
    let machines = model.machines();
    match machines {
        [Machine { calibration: Some(Calibration::Noise { scale }), .. }] => {
            let _ = writeln!(text, "probA {scale}");
        }
        [Machine { calibration: Some(Calibration::Marks(marks)), .. }] => {
            let list: Vec<String> = marks.iter().map(f64::to_string).collect();
            let _ = writeln!(text, "prob_density_marks {}", list.join(" "));
        }
        _ => {
            let (mut slopes, mut offsets) = (String::new(), String::new());
            for (first, &a) in order.iter().enumerate() {
                for &b in &order[first + 1..] {
                    let pairing = Pairing { positive: a.max(b), negative: Some(a.min(b)) };
                    let machine = model.parts().machine_of(pairing);
                    let Some(Calibration::Sigmoid { slope, offset }) =
                        machine.and_then(|found| found.calibration.as_ref())
                    else {
                        return;
                    };
                    // (LS.2): of the other class σ changes its sign, as f does.
                    let _ = write!(slopes, " {}", -slope);
                    let _ = write!(offsets, " {}", if a > b { -offset } else { *offset });
                }
            }
            if !slopes.is_empty() {
                let _ = writeln!(text, "probA{slopes}\nprobB{offsets}");
            }
        }
    }
}

/// Where the numbers of a vector are.
#[derive(Clone, Copy)]
enum Source {
    /// A place in the pool.
    Vector(usize),
    /// The weights of a machine.
    Weights(usize),
}

/// The vectors in the order of LIBSVM's file, with their coefficients.
struct Table {
    rho: Vec<f64>,
    sizes: Vec<usize>,
    lines: Vec<(Vec<f64>, Source)>,
}

impl Table {
    fn of(model: &Model, order: &[usize], with_rows: bool) -> Result<Self, Error> {
        let machines = model.machines();
        let linear = model.recipe().kernel.is_linear() && !with_rows;
        if !model.task().is_classification() {
            let machine = &machines[0];
            let lines = if linear {
                vec![(vec![1.0], Source::Weights(0))]
            } else {
                let pairs = machine.support.iter().zip(&machine.coefficients);
                pairs.map(|(&place, &coefficient)| (vec![coefficient], Source::Vector(place as usize))).collect()
            };
            return Ok(Table { rho: vec![-machine.bias], sizes: vec![lines.len()], lines });
        }
        let count = order.len();
        let mut rho = vec![0.0; count * (count - 1) / 2];
        let mut of_class: Vec<Vec<(Vec<f64>, Source)>> = vec![Vec::new(); count];
        // For each vector of the pool the class in the file that it is of, and its coefficients.
        let pool = model.parts().support_rows.len();
        let mut class_of: Vec<Option<usize>> = vec![None; pool];
        let mut coefficients = vec![vec![0.0; count - 1]; if linear { 0 } else { pool }];
        let mut places = vec![0; count];
        order.iter().enumerate().for_each(|(place, &class)| places[class] = place);
        if machines.len() != rho.len() {
            return not_writable("a pair of classes has no machine", "train the model again");
        }
        // In the order of the machines: they are many, and lie in it in memory.
        for (number, machine) in machines.iter().enumerate() {
            let (own, other) = (places[machine.pairing.positive], places[machine.pairing.negative.unwrap_or(0)]);
            let (first, second) = (own.min(other), own.max(other));
            // (LS.1) speaks for the first, our f for the positive class.
            let sign = if own == first { 1.0 } else { -1.0 };
            rho[first * count - first * (first + 1) / 2 + second - first - 1] = -sign * machine.bias;
            if linear {
                let mut line = vec![0.0; count - 1];
                line[second - 1] = sign;
                of_class[first].push((line, Source::Weights(number)));
                continue;
            }
            for (&place, &coefficient) in machine.support.iter().zip(&machine.coefficients) {
                let coefficient = sign * coefficient;
                let (class, column) = if coefficient > 0.0 { (first, second - 1) } else { (second, first) };
                if class_of[place as usize].is_some_and(|known| known != class) {
                    return not_writable(
                        "a vector speaks for two classes, which LIBSVM's file has no place for",
                        "train with the solver smo or block-smo",
                    );
                }
                class_of[place as usize] = Some(class);
                coefficients[place as usize][column] = coefficient;
            }
        }
        if linear {
            // By the other class, as the file has them.
            let other = |(line, _): &(Vec<f64>, Source)| line.iter().position(|&coefficient| coefficient != 0.0);
            of_class.iter_mut().for_each(|lines| lines.sort_by_cached_key(other));
        }
        for (place, line) in coefficients.into_iter().enumerate() {
            if let Some(class) = class_of[place] {
                of_class[class].push((line, Source::Vector(place)));
            }
        }
        let sizes = of_class.iter().map(Vec::len).collect();
        Ok(Table { rho, sizes, lines: of_class.into_iter().flatten().collect() })
    }
}
