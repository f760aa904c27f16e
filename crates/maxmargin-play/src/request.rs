//! What a page may ask. Every number has a limit here, so that a request costs little however it was made.

use serde::{Deserialize, Serialize};

use crate::error::Error;

/// The most points. More make a picture that nobody can read.
pub(crate) const MOST_POINTS: usize = 20_000;
/// The most classes.
pub(crate) const MOST_CLASSES: usize = 6;
/// The most letters of a label.
const MOST_LETTERS: usize = 60;
/// The most nodes of a grid.
const MOST_NODES: usize = 400 * 280;
/// The largest coordinate, either way.
const LARGEST: f64 = 1e9;
/// The most models of a sweep.
pub(crate) const MOST_COSTS: usize = 60;

/// A question of the page: points, a model, and what is to be seen of it.
#[derive(Clone, Debug, Deserialize, PartialEq, Serialize)]
#[serde(deny_unknown_fields)]
pub struct Request {
    /// The points.
    pub points: PointsRequest,
    /// What to train on them.
    pub model: ModelRequest,
    /// The part of the plane that is seen.
    pub view: ViewRequest,
    /// Decision values over the plane, and lines through them.
    #[serde(default)]
    pub grid: Option<GridRequest>,
    /// Another decision function in the place of the model's: one of an earlier step.
    #[serde(default)]
    pub frame: Option<FrameRequest>,
    /// What else is to be computed.
    #[serde(default)]
    pub want: Vec<Wanted>,
    /// The costs of a sweep.
    #[serde(default)]
    pub costs: Vec<f64>,
}

/// Points, by the name of a set or one by one.
#[derive(Clone, Debug, Deserialize, PartialEq, Serialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub enum PointsRequest {
    /// A set by its name: a worked example (`e1` to `e10`), `iris`, or a generator.
    Named {
        /// The name.
        name: String,
        /// How many rows a generator makes.
        #[serde(default)]
        rows: Option<usize>,
        /// Where its randomness begins.
        #[serde(default)]
        seed: u64,
        /// Its noise.
        #[serde(default)]
        noise: Option<f64>,
        /// Two columns of a set that has more, by name.
        #[serde(default)]
        columns: Option<[String; 2]>,
    },
    /// Points as they are.
    Given {
        /// Two coordinates a point.
        xy: Vec<[f64; 2]>,
        /// The class of each point: a place in `labels`.
        classes: Vec<u8>,
        /// The labels.
        labels: Vec<String>,
        /// The names of the two coordinates.
        #[serde(default)]
        names: Option<[String; 2]>,
    },
}

/// What separates the classes.
#[derive(Clone, Copy, Debug, Deserialize, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Method {
    /// A support vector machine.
    Svm,
    /// Logistic regression.
    Logistic,
    /// Fisher's linear discriminant.
    Lda,
    /// Rosenblatt's perceptron.
    Perceptron,
    /// The perceptron with a kernel.
    KernelPerceptron,
    /// A network with a hidden layer.
    Mlp,
}

/// What slack costs.
#[derive(Clone, Copy, Debug, Default, Deserialize, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum LossName {
    /// Itself.
    #[default]
    Hinge,
    /// Its square.
    Squared,
}

/// The kernels of the page.
#[derive(Clone, Copy, Debug, Default, Deserialize, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum KernelName {
    /// `⟨x, z⟩`
    #[default]
    Linear,
    /// `(γ⟨x, z⟩ + c)^q`
    Poly,
    /// `exp(−γ‖x − z‖²)`
    Rbf,
    /// `exp(−γ‖x − z‖₁)`
    Laplacian,
    /// `tanh(γ⟨x, z⟩ + c)`
    Sigmoid,
}

/// A kernel with its numbers; those that it does not have are not looked at.
#[derive(Clone, Copy, Debug, Default, Deserialize, PartialEq, Serialize)]
#[serde(deny_unknown_fields)]
pub struct KernelRequest {
    /// Which.
    pub name: KernelName,
    /// γ.
    #[serde(default)]
    pub gamma: Option<f64>,
    /// c.
    #[serde(default)]
    pub coef0: f64,
    /// q.
    #[serde(default)]
    pub degree: Option<u32>,
}

/// What to train.
#[derive(Clone, Debug, Deserialize, PartialEq, Serialize)]
#[serde(deny_unknown_fields)]
pub struct ModelRequest {
    /// What separates the classes.
    pub method: Method,
    /// The kernel.
    #[serde(default)]
    pub kernel: KernelRequest,
    /// The penalty C; none is a hard margin.
    #[serde(default)]
    pub c: Option<f64>,
    /// What slack costs.
    #[serde(default)]
    pub loss: LossName,
    /// How b is treated: `explicit`, `folded` or `none`.
    #[serde(default)]
    pub bias: Option<String>,
    /// The solver of a support vector machine: `smo`, `dual-ascent`, `newton`, ...; none lets the data decide.
    #[serde(default)]
    pub solver: Option<String>,
    /// The largest violation to stop at.
    #[serde(default)]
    pub tolerance: Option<f64>,
    /// This label against all others.
    #[serde(default)]
    pub positive: Option<String>,
    /// The units of the hidden layer of a network.
    #[serde(default)]
    pub hidden: Option<usize>,
}

/// The part of the plane that is seen.
#[derive(Clone, Copy, Debug, Deserialize, PartialEq, Serialize)]
#[serde(deny_unknown_fields)]
pub struct ViewRequest {
    /// From left to right; none fits the points.
    #[serde(default)]
    pub x: Option<[f64; 2]>,
    /// From bottom to top.
    #[serde(default)]
    pub y: Option<[f64; 2]>,
    /// Width over height of the picture: a view that fits the points gets equal units both ways, unless one way would be tiny.
    #[serde(default)]
    pub aspect: Option<f64>,
}

/// A grid over the plane.
#[derive(Clone, Copy, Debug, Deserialize, PartialEq, Serialize)]
#[serde(deny_unknown_fields)]
pub struct GridRequest {
    /// Nodes from left to right.
    pub columns: usize,
    /// Nodes from bottom to top.
    pub rows: usize,
}

/// A decision function on the way: `f(x) = Σ c_i k(x_i, x) + ⟨w, x⟩ + b`.
#[derive(Clone, Debug, Deserialize, PartialEq, Serialize)]
#[serde(deny_unknown_fields)]
pub struct FrameRequest {
    /// `c_i` by row, those that are not 0.
    #[serde(default)]
    pub coefficients: Vec<(usize, f64)>,
    /// w, of a linear solver that shows it.
    #[serde(default)]
    pub weights: Option<[f64; 2]>,
    /// b.
    #[serde(default)]
    pub bias: f64,
}

/// What else is to be computed.
#[derive(Clone, Copy, Debug, Deserialize, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Wanted {
    /// The solver's steps.
    Steps,
    /// The hulls of both classes.
    Hulls,
    /// Models over `costs`.
    Sweep,
}

impl Request {
    /// Checks what can be checked before there is data.
    pub(crate) fn check(&self) -> Result<(), Error> {
        self.points.check()?;
        for (name, range) in [("x", self.view.x), ("y", self.view.y)] {
            if let Some([low, high]) = range
                && !(low.abs() <= LARGEST && high.abs() <= LARGEST && high - low >= 1e-9)
            {
                let what = format!("the view of {name} goes from {low} to {high}");
                return Err(Error::new(what, "give two rising numbers between -1e9 and 1e9"));
            }
        }
        if let Some(aspect) = self.view.aspect
            && !(0.1..=10.0).contains(&aspect)
        {
            return Err(Error::new(format!("a picture {aspect} times as wide as high"), "give 0.1 to 10"));
        }
        if let Some(GridRequest { columns, rows }) = self.grid
            && !(columns >= 2 && rows >= 2 && columns.saturating_mul(rows) <= MOST_NODES)
        {
            let what = format!("a grid of {columns} x {rows} nodes");
            return Err(Error::new(what, format!("give 2 x 2 to {MOST_NODES} nodes in all")));
        }
        if self.costs.len() > MOST_COSTS {
            let what = format!("a sweep over {} costs", self.costs.len());
            return Err(Error::new(what, format!("give at most {MOST_COSTS}")));
        }
        if let Some(hidden) = self.model.hidden
            && !(1..=64).contains(&hidden)
        {
            return Err(Error::new(format!("{hidden} hidden units"), "give 1 to 64"));
        }
        Ok(())
    }
}

impl PointsRequest {
    fn check(&self) -> Result<(), Error> {
        let too_many = |count: usize| {
            let what = format!("{count} points; the playground draws at most {MOST_POINTS}");
            Err(Error::new(what, "take a sample, or train on all of them with maxmargin train"))
        };
        match self {
            PointsRequest::Named { rows, .. } => match rows {
                Some(rows) if *rows > MOST_POINTS => too_many(*rows),
                _ => Ok(()),
            },
            PointsRequest::Given { xy, classes, labels, names } => {
                if xy.len() > MOST_POINTS {
                    return too_many(xy.len());
                }
                if classes.len() != xy.len() {
                    let what = format!("{} classes of {} points", classes.len(), xy.len());
                    return Err(Error::new(what, "give a class for each point"));
                }
                if labels.is_empty() || labels.len() > MOST_CLASSES {
                    let what = format!("{} labels", labels.len());
                    return Err(Error::new(what, format!("give 1 to {MOST_CLASSES}")));
                }
                let all = labels.iter().chain(names.iter().flatten());
                if let Some(long) = all.clone().find(|label| label.chars().count() > MOST_LETTERS) {
                    let short: String = long.chars().take(20).collect();
                    let what = format!("the label {} is too long", maxmargin::error::quoted(&short));
                    return Err(Error::new(what, format!("give labels of at most {MOST_LETTERS} letters")));
                }
                if all.clone().any(|label| label.trim().is_empty()) {
                    return Err(Error::new("a label is empty", "give each class and each axis a name"));
                }
                if let Some(row) = classes.iter().position(|&class| usize::from(class) >= labels.len()) {
                    let what = format!("point {} is of class {}", row + 1, classes[row]);
                    return Err(Error::new(what, format!("classes are 0 to {}", labels.len() - 1)));
                }
                let is_far = |point: &[f64; 2]| !point.iter().all(|value| value.abs() <= LARGEST);
                if let Some(row) = xy.iter().position(is_far) {
                    let what = format!("point {} is at ({}, {})", row + 1, xy[row][0], xy[row][1]);
                    return Err(Error::new(what, "give coordinates between -1e9 and 1e9"));
                }
                Ok(())
            }
        }
    }
}
