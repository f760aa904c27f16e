//! ONNX files: a model as a graph of operators that other runtimes compute.
//!
//! ```text
//! X --Scaler--> --SVMClassifier, SVMRegressor,-------> scores --> label, probabilities
//!               --LinearClassifier, LinearRegressor-->        --> value
//! ```
//!
//! | output | of | what it is |
//! | --- | --- | --- |
//! | `label` | classes, one class | the class of each row: whole numbers where all labels are, else texts |
//! | `value` | regression | the number of each row |
//! | `scores` | all | the decision values as [`Model::decision_values`] orders and signs them |
//! | `probabilities` | logistic loss | one for each class, in the order of the model's classes |
//!
//! Runtimes differ in how `SVMClassifier` counts votes and breaks ties, so its own label is left alone and `label` is made of the scores by
//! ordinary operators. `LinearClassifier` takes the first of the largest scores everywhere, as we do.
//!
//! `SVMClassifier` of K classes evaluates a function for each pair i < j of them
//!
//! ```text
//! s_ij(x) = Σ_{v of i} c[j − 1, v] k(x, v) + Σ_{v of j} c[i, v] k(x, v) + ρ_ij                  (OX.1)
//! ```
//!
//! in the order of our pairs, with the other sign. M functions that share their vectors, one for each class against the rest, are M + 1
//! classes with all vectors in the first; the pairs of the others have nothing to add:
//!
//! ```text
//! s_0j(x) = Σ_v c[j − 1, v] k(x, v) + ρ_0j,   s_ij(x) = 0 for i > 0                                (OX.2)
//! ```
//!
//! A folded bias is part of the kernel: `γ(⟨x, z⟩ + 1) + c = γ⟨x, z⟩ + (c + γ)`, and distances do not see it.
//!
//! Numbers are in single precision, because the operators hold no others.

mod graph;
mod table;
mod wire;

use maxmargin::Model;
use maxmargin::data::Label;
use maxmargin::kernel::{KernelFunction, Polynomial, Rbf, Sigmoid};
use maxmargin::model::{Machine, ModelParts, Multiclass};
use maxmargin::problem::{Bias, Loss, Task};
use maxmargin::provenance::SolverKind;

use super::not_writable;
use crate::error::Error;
use crate::help::{Help, Setting};
use graph::{Attribute, Element, Graph, Values};
use table::Table;

/// A message of Protocol Buffers has fewer bytes than this, and some are needed beside the numbers.
const MOST_BYTES: usize = (i32::MAX as usize) - (1 << 20);
/// Whole numbers up to here are told apart by the numbers of our labels.
const LARGEST_WHOLE: f64 = 9_007_199_254_740_992.0;

/// The bytes of an ONNX file that computes what the model predicts.
///
/// # Errors
/// When ONNX's operators cannot compute the model: another kernel than linear, polynomial, rbf and sigmoid, a ball other than by rbf, numbers
/// beyond single precision, or more than 2 GiB of them.
///
/// # Examples
/// ```
/// use maxmargin::data::embedded;
/// use maxmargin::{TrainingParams, Unattended, Workers};
///
/// let iris = embedded("iris").unwrap();
/// let model = TrainingParams::default().check()?.fit(&iris, &Workers::none(), &mut Unattended)?;
/// let bytes = maxmargin_io::onnx_model_to_bytes(&model)?;
/// assert!(bytes.len() > 100);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn onnx_model_to_bytes(model: &Model) -> Result<Vec<u8>, Error> {
    let parts = model.parts();
    if parts.columns == 0 {
        return not_writable("the model has no columns, and ONNX no operator for that", "train on data with columns");
    }
    if parts.network.is_some() {
        return not_writable("networks are not written for ONNX", "train a machine with a kernel in its place");
    }
    check_size(parts)?;
    let mut graph = Graph::new("X", parts.columns);
    let rows = scale(&mut graph, parts)?;
    let classes = Classes::of(&parts.classes);
    if parts.recipe.kernel.is_linear() {
        linear(&mut graph, rows, parts, &classes)?
    } else {
        kernel(&mut graph, rows, parts, &classes)?
    }
    let machines = parts.machines.len();
    if parts.recipe.task.is_regression() {
        graph.node("Identity", &["scores"], "value", &[]);
        graph.output("value", Element::Single, Some(1));
    } else {
        if !labels_itself(parts) {
            label(&mut graph, parts, &classes);
        }
        graph.output("label", classes.element(), None);
    }
    graph.output("scores", Element::Single, Some(machines));
    if has_probabilities(parts) {
        probabilities(&mut graph, parts);
        graph.output("probabilities", Element::Single, Some(parts.classes.len()));
    }
    let list = |texts: Vec<&str>| serde_json::Value::from(texts).to_string();
    let mut words = Vec::new();
    if !parts.classes.is_empty() {
        words.push(("classes", list(parts.classes.iter().map(Label::text).collect())));
    }
    if let Some(names) = &parts.names {
        words.push(("columns", list(names.iter().map(String::as_str).collect())));
    }
    Ok(graph.into_model(env!("CARGO_PKG_VERSION"), &words))
}

/// The labels, as ONNX has them.
enum Classes {
    Numbers(Vec<i64>),
    Texts(Vec<String>),
}

impl Classes {
    fn of(labels: &[Label]) -> Self {
        let whole = |label: &Label| {
            let number = label.number().filter(|number| number.fract() == 0.0 && number.abs() <= LARGEST_WHOLE);
            number.map(|number| number as i64)
        };
        match labels.iter().map(whole).collect() {
            Some(numbers) => Classes::Numbers(numbers),
            None => Classes::Texts(labels.iter().map(|label| label.text().into()).collect()),
        }
    }

    fn element(&self) -> Element {
        match self {
            Classes::Numbers(_) => Element::Number,
            Classes::Texts(_) => Element::Text,
        }
    }

    fn attribute(&self) -> (&'static str, Attribute) {
        match self {
            Classes::Numbers(numbers) => ("classlabels_ints", Attribute::Numbers(numbers.clone())),
            Classes::Texts(texts) => ("classlabels_strings", Attribute::Texts(texts.clone())),
        }
    }

    fn values(&self) -> Values {
        match self {
            Classes::Numbers(numbers) => Values::Numbers(numbers.clone()),
            Classes::Texts(texts) => Values::Texts(texts.clone()),
        }
    }
}

/// Numbers in the place of labels, for an operator whose functions are not one a class.
fn numbered(count: usize) -> (&'static str, Attribute) {
    ("classlabels_ints", Attribute::Numbers((0..count as i64).collect()))
}

/// Counts the numbers before any is written.
fn check_size(parts: &ModelParts) -> Result<(), Error> {
    let (machines, classes) = (parts.machines.len(), parts.classes.len());
    let coefficients: usize = parts.machines.iter().map(|machine| machine.support.len()).sum();
    // A vector is written twice where it speaks for two classes; a row of weights twice where there are two.
    let vectors = 2 * parts.columns.saturating_mul(if parts.recipe.kernel.is_linear() {
        machines
    } else {
        parts.support_rows.len()
    });
    let functions = machines.saturating_mul(classes.max(parts.support_rows.len()).max(machines));
    let numbers = vectors.saturating_add(functions).saturating_add(2 * coefficients);
    match numbers.checked_mul(4) {
        Some(bytes) if bytes <= MOST_BYTES => Ok(()),
        _ => not_writable(
            format!("the model has {numbers} numbers in full, and a file of ONNX holds 2 GiB"),
            "choose fewer columns, or train with a larger tolerance or a linear kernel",
        ),
    }
}

/// Numbers in single precision.
fn singles(numbers: impl IntoIterator<Item = f64>, what: &str) -> Result<Vec<f32>, Error> {
    let single = |number: f64| match number as f32 {
        found if found.is_finite() => Ok(found),
        _ => not_writable(
            format!("the model has {what} of {number}, and ONNX's operators hold numbers up to 3.4e38 only"),
            Help::from("scale the data beforehand, or train with ").set(Setting::Scale, "standard"),
        ),
    };
    numbers.into_iter().map(single).collect()
}

/// The scaling (S.1) as an operator: the name of what it makes.
fn scale(graph: &mut Graph, parts: &ModelParts) -> Result<&'static str, Error> {
    let Some(scaling) = &parts.scaling else { return Ok("X") };
    let offsets = singles(scaling.offsets().iter().copied(), "an offset")?;
    let factors = singles(scaling.factors().iter().copied(), "a factor")?;
    let attributes = [("offset", Attribute::Singles(offsets)), ("scale", Attribute::Singles(factors))];
    graph.learning("Scaler", "X", &["scaled"], &attributes);
    Ok("scaled")
}

/// b, with what a ball takes off: k(x, x) is 1 for all kernels that a ball is written for.
fn constant(machine: &Machine) -> f64 {
    machine.bias - machine.reach.unwrap_or(0.0)
}

/// Whether there is one function, which is not for telling several classes apart.
fn is_alone(parts: &ModelParts) -> bool {
    !parts.recipe.task.is_classification()
}

/// Whether `LinearClassifier` itself says which class it is.
fn labels_itself(parts: &ModelParts) -> bool {
    let votes = parts.classes.len() > 2 && parts.recipe.multiclass == Multiclass::OneVsOne;
    parts.recipe.kernel.is_linear() && parts.recipe.task.is_classification() && !votes
}

/// `scores` of weights.
fn linear(graph: &mut Graph, rows: &str, parts: &ModelParts, classes: &Classes) -> Result<(), Error> {
    if matches!(parts.recipe.task, Task::Svdd { .. }) {
        return no_ball();
    }
    let mut weights = Vec::new();
    for machine in &parts.machines {
        weights.extend(singles(machine.weights.iter().flatten().copied(), "a weight")?);
    }
    let mut intercepts = singles(parts.machines.iter().map(constant), "a bias")?;
    if is_alone(parts) {
        let attributes = [
            ("coefficients", Attribute::Singles(weights)),
            ("intercepts", Attribute::Singles(intercepts)),
            ("targets", Attribute::Number(1)),
        ];
        graph.learning("LinearRegressor", rows, &["scores"], &attributes);
        return Ok(());
    }
    let two = parts.classes.len() == 2;
    if two {
        // The operator compares the classes' scores: −f and f.
        weights = weights.iter().map(|weight| -weight).chain(weights.iter().copied()).collect();
        intercepts = vec![-intercepts[0], intercepts[0]];
    }
    let itself = labels_itself(parts);
    let attributes = [
        if itself { classes.attribute() } else { numbered(parts.machines.len()) },
        ("coefficients", Attribute::Singles(weights)),
        ("intercepts", Attribute::Singles(intercepts)),
        ("post_transform", Attribute::Text("NONE")),
    ];
    let found = if two { "both_scores" } else { "scores" };
    graph.learning("LinearClassifier", rows, &[if itself { "label" } else { "own_label" }, found], &attributes);
    if two {
        columns(graph, found, vec![1]);
    }
    Ok(())
}

/// `scores` are some columns of another tensor.
fn columns(graph: &mut Graph, from: &str, chosen: Vec<i64>) {
    graph.constant("chosen_columns", &[chosen.len()], &Values::Numbers(chosen));
    graph.node("Gather", &[from, "chosen_columns"], "scores", &[("axis", Attribute::Number(1))]);
}

fn no_ball<T>() -> Result<T, Error> {
    not_writable(
        "ONNX's operators have no balls but those of the kernel rbf",
        Help::from("train with the kernel rbf, or with ").set(Setting::Task, "one-class"),
    )
}

/// The kernel's name, and its γ, c and degree.
fn kernel_attributes(parts: &ModelParts) -> Result<[(&'static str, Attribute); 2], Error> {
    let folded = if parts.recipe.bias == Bias::Folded { 1.0 } else { 0.0 };
    if matches!(parts.recipe.task, Task::Svdd { .. }) && !matches!(parts.recipe.kernel, KernelFunction::Rbf(_)) {
        return no_ball();
    }
    let (name, gamma, coef0, degree) = match &parts.recipe.kernel {
        KernelFunction::Polynomial(Polynomial { gamma, coef0, degree }) => {
            ("POLY", *gamma, coef0 + folded * gamma, f64::from(*degree))
        }
        KernelFunction::Rbf(Rbf { gamma }) => ("RBF", *gamma, 0.0, 0.0),
        KernelFunction::Sigmoid(Sigmoid { gamma, coef0 }) => ("SIGMOID", *gamma, coef0 + folded * gamma, 0.0),
        other => {
            return not_writable(
                format!("ONNX has no operator for the kernel {other}"),
                "train with the kernel linear, polynomial, rbf or sigmoid",
            );
        }
    };
    let numbers = singles([gamma, coef0, degree], "a parameter of the kernel")?;
    Ok([("kernel_type", Attribute::Text(name)), ("kernel_params", Attribute::Singles(numbers))])
}

/// `scores` of vectors.
fn kernel(graph: &mut Graph, rows: &str, parts: &ModelParts, classes: &Classes) -> Result<(), Error> {
    let [kind, numbers] = kernel_attributes(parts)?;
    let machines = parts.machines.len();
    if is_alone(parts) {
        let table = Table::shared(parts);
        let attributes = [
            kind,
            numbers,
            ("coefficients", Attribute::Singles(table.coefficients()?)),
            ("support_vectors", Attribute::Singles(table.vectors(parts)?)),
            ("n_supports", Attribute::Number(table.lines.len() as i64)),
            ("rho", Attribute::Singles(singles(parts.machines.iter().map(constant), "a bias")?)),
            ("post_transform", Attribute::Text("NONE")),
        ];
        graph.learning("SVMRegressor", rows, &["scores"], &attributes);
        return Ok(());
    }
    let pairs = parts.machines.iter().all(|machine| machine.pairing.negative.is_some());
    let table = if pairs { Table::by_class(parts) } else { Table::shared(parts) };
    let sign = if pairs { -1.0 } else { 1.0 };
    let mut rho = singles(parts.machines.iter().map(|machine| sign * machine.bias), "a bias")?;
    let count = table.sizes.len();
    rho.resize(count * (count - 1) / 2, 0.0); // (OX.2)
    let attributes = [
        if pairs { classes.attribute() } else { numbered(count) },
        kind,
        numbers,
        ("coefficients", Attribute::Singles(table.coefficients()?)),
        ("support_vectors", Attribute::Singles(table.vectors(parts)?)),
        ("vectors_per_class", Attribute::Numbers(table.sizes.iter().map(|&size| size as i64).collect())),
        ("rho", Attribute::Singles(rho)),
        ("post_transform", Attribute::Text("NONE")),
    ];
    graph.learning("SVMClassifier", rows, &["own_label", "own_scores"], &attributes);
    match (pairs, machines) {
        // Of two classes the operator makes −s and s.
        (true, 1) => columns(graph, "own_scores", vec![0]),
        (true, _) => graph.node("Neg", &["own_scores"], "scores", &[]),
        (false, _) => columns(graph, "own_scores", (0..machines as i64).collect()),
    }
    Ok(())
}

/// `label` of `scores`.
fn label(graph: &mut Graph, parts: &ModelParts, classes: &Classes) {
    let (count, machines) = (parts.classes.len(), parts.machines.len());
    graph.constant("classes", &[count], &classes.values());
    let whole = || [("to", Attribute::Number(Element::Number as i64))];
    let largest = || [("axis", Attribute::Number(1)), ("keepdims", Attribute::Number(0))];
    if parts.machines[0].pairing.negative.is_none() {
        graph.node("ArgMax", &["scores"], "class", &largest());
    } else {
        graph.constant("nothing", &[1], &Values::Singles(vec![0.0]));
        graph.node("Greater", &["scores", "nothing"], "is_positive", &[]);
        if machines == 1 {
            graph.constant("row_shape", &[1], &Values::Numbers(vec![-1]));
            graph.node("Cast", &["is_positive"], "positive", &whole());
            graph.node("Reshape", &["positive", "row_shape"], "class", &[]);
        } else {
            // A vote that is not for the positive class is for the negative one, which begins with all votes of its pairs.
            let (mut moved, mut first) = (vec![0.0; machines * count], vec![0.0; count]);
            for (number, machine) in parts.machines.iter().enumerate() {
                moved[number * count + machine.pairing.positive] = 1.0;
                if let Some(negative) = machine.pairing.negative {
                    moved[number * count + negative] = -1.0;
                    first[negative] += 1.0;
                }
            }
            graph.constant("votes_moved", &[machines, count], &Values::Singles(moved));
            graph.constant("votes_at_first", &[count], &Values::Singles(first));
            graph.node("Cast", &["is_positive"], "positive", &[("to", Attribute::Number(Element::Single as i64))]);
            graph.node("MatMul", &["positive", "votes_moved"], "votes_won", &[]);
            graph.node("Add", &["votes_won", "votes_at_first"], "votes", &[]);
            graph.node("ArgMax", &["votes"], "class", &largest());
        }
    }
    graph.node("Gather", &["classes", "class"], "label", &[]);
}

/// Whether [`Model::probabilities`] has any.
fn has_probabilities(parts: &ModelParts) -> bool {
    let votes = parts.classes.len() > 2 && parts.recipe.multiclass == Multiclass::OneVsOne;
    let told = parts.recipe.loss == Loss::Logistic
        || parts.joint.is_some() && parts.provenance.solver() == Some(SolverKind::Lda);
    parts.recipe.task.is_classification() && told && !votes
}

/// `probabilities` of `scores`: (M.2).
fn probabilities(graph: &mut Graph, parts: &ModelParts) {
    let axis = || [("axis", Attribute::Number(1))];
    if parts.machines.len() == 1 {
        graph.node("Neg", &["scores"], "opposite", &[]);
        graph.node("Concat", &["opposite", "scores"], "score_of_each", &axis());
        graph.node("Sigmoid", &["score_of_each"], "probabilities", &[]);
    } else if parts.joint.is_some() {
        graph.node("Softmax", &["scores"], "probabilities", &axis());
    } else {
        // log σ(f) = −log(1 + exp(−f)), so that none is lost where all are small.
        graph.node("Neg", &["scores"], "opposite", &[]);
        graph.node("Softplus", &["opposite"], "minus_logarithms", &[]);
        graph.node("Neg", &["minus_logarithms"], "logarithms", &[]);
        graph.node("Softmax", &["logarithms"], "probabilities", &axis());
    }
}
