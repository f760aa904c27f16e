//! What leaves the page: pictures, tables, models, and programs that make the same model.

use maxmargin::data::Label;
use maxmargin::error::quoted;
use maxmargin::solver::SolverKind;
use maxmargin::{Bias, Dataset, Workers};
use maxmargin_plot::{Format, PlotOptions, decision_plot};
use serde::Deserialize;

use crate::error::Error;
use crate::fit::Fitted;
use crate::problem::SWEEPS;
use crate::request::{KernelName, KernelRequest, LossName, Method, ModelRequest};
use crate::rows;

/// What is exported.
#[derive(Clone, Copy, Debug, Deserialize, PartialEq, Eq)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Export {
    /// A picture as lines.
    Svg,
    /// A picture as pixels.
    Png,
    /// The points alone, as the command line reads them.
    Points,
    /// The points with α, slack and f.
    Table,
    /// The model's file.
    Model,
    /// A command line that trains the model on the exported points.
    Command,
    /// A Python program that trains it.
    Python,
}

impl Export {
    /// The media type of what comes out.
    pub(crate) fn media_type(self) -> &'static str {
        match self {
            Export::Svg => "image/svg+xml",
            Export::Png => "image/png",
            Export::Points | Export::Table => "text/csv; charset=utf-8",
            Export::Model => "application/octet-stream",
            Export::Command | Export::Python => "text/plain; charset=utf-8",
        }
    }
}

/// The bytes of an export.
pub(crate) fn export(fitted: &Fitted, what: Export, workers: &Workers) -> Result<Vec<u8>, Error> {
    let picture = |format| {
        let (model, data) = (&fitted.model, Some(&fitted.data));
        Ok(decision_plot(model, data, &PlotOptions::default(), format, workers)?)
    };
    match what {
        Export::Svg => picture(Format::Svg),
        Export::Png => picture(Format::Png),
        Export::Points => table(fitted, workers, false),
        Export::Table => table(fitted, workers, true),
        Export::Model => {
            maxmargin_io::model_to_bytes(&fitted.model).map_err(|what| Error::new(what, "choose another kernel"))
        }
        Export::Command => Ok(command(&fitted.asked)?.into_bytes()),
        Export::Python => Ok(python(&fitted.asked, &fitted.data)?.into_bytes()),
    }
}

/// A field of a table, quoted where it has to be.
fn field(text: &str) -> String {
    if text.contains([',', '"', '\n', '\r', ' ', '#']) {
        format!("\"{}\"", text.replace('"', "\"\""))
    } else {
        text.into()
    }
}

/// The points as a table, whose numbers come back to the bit.
fn table(fitted: &Fitted, workers: &Workers, with_numbers: bool) -> Result<Vec<u8>, Error> {
    let (data, labels) = (&fitted.data, fitted.data.labels()?);
    let numbers = rows::numbers(fitted, workers)?;
    let mut text = format!("{},{},label", field(&data.name(0)), field(&data.name(1)));
    let has_values = !numbers.f.is_empty();
    if with_numbers {
        text += if has_values { ",alpha,slack,f" } else { ",alpha" };
    }
    text.push('\n');
    for row in 0..data.rows() {
        let x = data.matrix().row(row);
        text += &format!("{},{},{}", x[0], x[1], field(labels.get(row).text()));
        if with_numbers {
            text += &format!(",{}", numbers.alpha[row]);
            if has_values {
                text += &format!(",{},{}", numbers.slack[row], numbers.f[row]);
            }
        }
        text.push('\n');
    }
    Ok(text.into_bytes())
}

/// A word of a shell's command line.
fn word(text: &str) -> String {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "-_=.,/+".contains(c);
    if !text.is_empty() && text.chars().all(is_plain) {
        text.into()
    } else {
        format!("'{}'", text.replace('\'', "'\\''"))
    }
}

/// A kernel as the command line writes it.
pub(crate) fn kernel_words(kernel: &KernelRequest) -> String {
    let gamma = kernel.gamma.map_or_else(|| "scale".to_string(), |gamma| gamma.to_string());
    let (coef0, degree) = (kernel.coef0, kernel.degree.unwrap_or(2));
    match kernel.name {
        KernelName::Linear => "linear".into(),
        KernelName::Poly => format!("poly(gamma={gamma}, coef0={coef0}, degree={degree})"),
        KernelName::Rbf => format!("rbf(gamma={gamma})"),
        KernelName::Laplacian => format!("laplacian(gamma={gamma})"),
        KernelName::Sigmoid => format!("sigmoid(gamma={gamma}, coef0={coef0})"),
    }
}

/// The command that trains the model on the exported points.
fn command(model: &ModelRequest) -> Result<String, Error> {
    let mut words: Vec<String> =
        ["maxmargin", "train", "points.csv", "--task", "classification", "--scale", "none"].map(String::from).into();
    let mut add = |flag: &str, value: &str| words.extend([flag.to_string(), word(value)]);
    let params = crate::problem::params(model)?;
    let kernel = match model.method {
        Method::Svm | Method::KernelPerceptron => kernel_words(&model.kernel),
        _ => "linear".into(),
    };
    add("--kernel", &kernel);
    match (model.method, model.c) {
        (Method::Svm, None) => add("--hard", ""),
        (Method::Svm | Method::Logistic | Method::Mlp, c) => add("-C", &c.unwrap_or(1.0).to_string()),
        _ => {}
    }
    if let Some(solver) = params.solver {
        add("--solver", solver.name());
    }
    if let (Method::Svm, Some(loss)) = (model.method, params.loss) {
        add("--loss", loss.name());
        add("--bias", params.bias.name());
    }
    if model.method == Method::Logistic {
        add("--loss", "logistic");
    }
    for (flag, goal) in [("--tolerance", params.settings.tolerance), ("--gap", params.settings.gap)] {
        if let Some(goal) = goal {
            add(flag, &goal.to_string());
        }
    }
    if let Some(iterations) = params.settings.max_iterations {
        add("--max-iterations", &iterations.to_string());
    }
    if model.method == Method::Mlp {
        add("--hidden", &params.settings.hidden[0].to_string());
    }
    if let Some(positive) = &model.positive {
        add("--positive", positive);
    }
    words.retain(|word| word != "''");
    words.extend(["-o", "points.mm"].map(String::from));
    Ok(words.join(" ") + "\n")
}

/// The Python program that trains the model on points that it holds itself.
fn python(model: &ModelRequest, data: &Dataset) -> Result<String, Error> {
    let params = crate::problem::params(model)?;
    let c = match model.c {
        _ if !matches!(model.method, Method::Svm | Method::Logistic) => "1.0".into(),
        None if model.method == Method::Svm => "float(\"inf\")".into(),
        c => format!("{:?}", c.unwrap_or(1.0)),
    };
    let of_kernel = |kernel: &KernelRequest| {
        let gamma = kernel.gamma.map_or_else(|| "\"scale\"".to_string(), |gamma| format!("{gamma:?}"));
        let (coef0, degree) = (kernel.coef0, kernel.degree.unwrap_or(2));
        match kernel.name {
            KernelName::Linear => "kernel=\"linear\"".to_string(),
            KernelName::Poly => format!("kernel=\"poly\", gamma={gamma}, coef0={coef0:?}, degree={degree}"),
            KernelName::Rbf => format!("kernel=\"rbf\", gamma={gamma}"),
            KernelName::Laplacian => format!("kernel=\"laplacian\", gamma={gamma}"),
            KernelName::Sigmoid => format!("kernel=\"sigmoid\", gamma={gamma}, coef0={coef0:?}"),
        }
    };
    let tolerance = params.settings.tolerance.map_or_else(String::new, |tolerance| format!(", tol={tolerance:e}"));
    let solver = params.solver.map_or_else(String::new, |solver| format!(", solver=\"{}\"", solver.name()));
    let refuse = |what: &str| Err(Error::new(what, "use the command line, which trains every model of the page"));
    let is_binary = model.positive.is_some() || data.labels()?.classes().len() == 2;
    if params.solver == Some(SolverKind::Sgd) {
        return refuse("the steps of SGD end after a number of sweeps, which this class does not count");
    }
    let class = match model.method {
        Method::Svm if model.loss == LossName::Hinge && params.bias == Bias::Explicit => {
            format!("SVC(C={c}, {}{solver}{tolerance})", of_kernel(&model.kernel))
        }
        Method::Svm if model.kernel.name == KernelName::Linear && is_binary && model.c.is_some() => {
            let loss = if model.loss == LossName::Hinge { "hinge" } else { "squared_hinge" };
            let intercept = match params.bias {
                Bias::Explicit => "intercept_scaling=None",
                Bias::Folded => "intercept_scaling=1",
                Bias::None => "fit_intercept=False",
            };
            format!("LinearSVC(C={c}, loss=\"{loss}\", {intercept}{solver}{tolerance})")
        }
        Method::Svm => {
            return refuse("a class for this loss and this offset with a kernel is not in the Python package");
        }
        Method::Logistic => format!("LogisticRegression(C={c}{tolerance})"),
        Method::Lda => return refuse("LinearDiscriminantAnalysis of Python places its threshold in another way"),
        // A pass in the order of the rows, until one has no mistake: that of the page.
        Method::Perceptron => format!("Perceptron(max_iter={SWEEPS}, tol=None, shuffle=False)"),
        Method::KernelPerceptron => format!("KernelPerceptron({}, max_iter={SWEEPS})", of_kernel(&model.kernel)),
        Method::Mlp => return refuse("the Python package has no network"),
    };
    let labels = data.labels()?;
    let positive = model.positive.as_deref();
    let mut text =
        String::from("import maxmargin\nimport numpy as np\n\n# x1, x2 and the label of each point\nX = np.array([\n");
    for row in 0..data.rows() {
        let x = data.matrix().row(row);
        text += &format!("    [{:?}, {:?}],\n", x[0], x[1]);
    }
    // Numbers are sorted as numbers on both sides; as texts "+1" would come before "-1".
    let number = |label: &Label| label.number().filter(|number| number.is_finite());
    let all_numbers = labels.classes().iter().all(|label| number(label).is_some());
    let written = |label: &Label| match number(label) {
        Some(number) if all_numbers => format!("{number:?}"),
        _ => quoted(label.text()),
    };
    text += "])\ny = np.array([\n";
    for row in 0..data.rows() {
        text += &format!("    {},\n", written(labels.get(row)));
    }
    text += "])\n";
    if let Some(positive) = positive {
        // Sorted, the rest comes first, as in the command line.
        let positive = written(&Label::new(positive));
        text += &format!("y = np.where(y == {positive}, 1, 0)  # {positive} against the rest\n");
    }
    text += &format!("\nmodel = maxmargin.{class}.fit(X, y)\n");
    text += "print(model.decision_function(X))\n";
    Ok(text)
}
