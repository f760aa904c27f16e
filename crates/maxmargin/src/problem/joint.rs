//! Several classes as one problem: a function for each class, found together.

use super::{Bias, Loss};
use crate::class_products::ClassProducts;
use crate::error::{Error, Parameter};
use crate::kernel::Points;
use crate::workers::Workers;

/// A problem over K classes at once
///
/// ```text
/// min  ½ Σ_k ‖w_k‖² + Σ_i C_i ℓ(y_i, f(x_i)),   f_k(x) = ⟨w_k, x⟩ + b_k                       (J.2)
///
/// logistic:  ℓ = log Σ_k exp(f_k) − f_y                    (softmax)
/// hinge:     ℓ = max_k (f_k + [k ≠ y]) − f_y               (Crammer and Singer)
/// ```
///
/// A folded bias is one more weight; without a penalty (logistic loss only) the first term is left out.
///
/// Its dual has a variable for each row and class: `w_k = Σ_i α_ik x_i` with `Σ_k α_ik = 0`, and with an explicit bias
/// `Σ_i α_ik = 0`:
///
/// ```text
/// logistic:  max Σ_i C_i H(q_i) − ½ Σ_k ‖w_k‖²,   α_ik = C_i ([k = y_i] − q_ik),   q_i probabilities, H their entropy
/// hinge:     max Σ_i α_iy − ½ Σ_k ‖w_k‖²,         α_ik ≤ C_i [k = y_i]                        (J.3)
/// ```
#[derive(Clone, Debug)]
pub struct JointProblem<'a> {
    parts: JointParts<'a>,
}

/// The parts of (J.2), open to be filled in. [`JointProblem::new`] checks them.
#[derive(Clone, Debug)]
pub struct JointParts<'a> {
    /// The points that the rows are of; folded exactly when the bias is.
    pub points: &'a Points,
    /// The threads to work with.
    pub workers: &'a Workers,
    /// The rows' places in the points.
    pub rows: Vec<usize>,
    /// y_i, from 0 to the number of classes − 1.
    pub codes: Vec<u32>,
    /// How many classes there are, 2 or more; each has a row.
    pub classes: usize,
    /// C_i, above 0 and finite.
    pub costs: Vec<f64>,
    /// ℓ
    pub loss: Loss,
    /// How the b_k are treated.
    pub bias: Bias,
    /// Whether `½ Σ ‖w_k‖²` is part of the objective.
    pub penalised: bool,
}

impl<'a> JointProblem<'a> {
    /// Checks that the parts make a problem.
    ///
    /// # Errors
    /// When lengths differ, a class has no row, a code or a cost is out of range, or products overflow.
    pub fn new(parts: JointParts<'a>) -> Result<Self, Error> {
        let JointParts { points, rows, codes, classes, costs, bias, .. } = &parts;
        if rows.len() != codes.len() || rows.len() != costs.len() {
            return Err(Error::Shape {
                operation: "problem",
                left: format!("{} rows", rows.len()),
                right: format!("{} classes, {} costs", codes.len(), costs.len()),
            });
        }
        if let Some(&row) = rows.iter().find(|&&row| row >= points.len()) {
            let (left, right) = (format!("row {}", row + 1), format!("{} rows", points.len()));
            return Err(Error::Shape { operation: "problem", left, right });
        }
        if points.folded() != (*bias == Bias::Folded) {
            return Err(Error::Combination {
                what: format!("a {} bias does not fit the points", bias.name()),
                help: "fold the points exactly when the bias is folded".into(),
            });
        }
        if let Some(cost) = costs.iter().find(|&&cost| !(cost > 0.0 && cost.is_finite())) {
            return Err(Error::parameter(Parameter::C, cost, "above 0 and finite for every row"));
        }
        let mut sizes = vec![0usize; *classes];
        for &code in codes {
            match sizes.get_mut(code as usize) {
                Some(size) => *size += 1,
                None => return Err(Error::parameter("class code", code, "below the number of classes")),
            }
        }
        if let Some(class) = sizes.iter().position(|&size| size == 0) {
            return Err(Error::Data {
                what: format!("class {} of {classes} has no rows of a weight above 0", class + 1),
                help: "give each class a row of a weight above 0, or leave its rows out".into(),
            });
        }
        if let Some(&row) = rows.iter().find(|&&row| !points.squared_norm(row).is_finite()) {
            return Err(Error::Data {
                what: format!("the numbers of row {} are too large: the sum of their squares overflows", row + 1),
                help: "scale the columns (standard or minmax)".into(),
            });
        }
        Ok(JointProblem { parts })
    }

    /// The points that the rows are of.
    pub fn points(&self) -> &'a Points {
        self.parts.points
    }

    /// The threads to work with.
    pub fn workers(&self) -> &'a Workers {
        self.parts.workers
    }

    /// The rows' places in the points.
    pub fn rows(&self) -> &[usize] {
        &self.parts.rows
    }

    /// y_i
    pub fn codes(&self) -> &[u32] {
        &self.parts.codes
    }

    /// How many classes there are.
    pub fn classes(&self) -> usize {
        self.parts.classes
    }

    /// C_i
    pub fn costs(&self) -> &[f64] {
        &self.parts.costs
    }

    /// ℓ
    pub fn loss(&self) -> Loss {
        self.parts.loss
    }

    /// How the b_k are treated.
    pub fn bias(&self) -> Bias {
        self.parts.bias
    }

    /// Whether `½ Σ ‖w_k‖²` is part of the objective.
    pub fn penalised(&self) -> bool {
        self.parts.penalised
    }

    /// How many rows the problem has.
    pub fn len(&self) -> usize {
        self.parts.rows.len()
    }

    /// Never: a problem has a row of each class.
    pub fn is_empty(&self) -> bool {
        false
    }

    /// The rows, to be multiplied with one vector for each class.
    pub(crate) fn products(&self) -> ClassProducts<'_> {
        ClassProducts {
            matrix: self.parts.points.matrix(),
            rows: &self.parts.rows,
            classes: self.parts.classes,
            workers: self.parts.workers,
        }
    }

    /// One vector of weights and a bias for each class, side by side as [`ClassProducts`] wants them.
    pub(crate) fn side_by_side(&self, weights: &[Vec<f64>], biases: &[f64]) -> Vec<f64> {
        let products = self.products();
        let (lanes, columns) = (products.lanes(), self.parts.points.matrix().columns());
        let mut vectors = vec![0.0; products.size()];
        for (k, (weights, &bias)) in weights.iter().zip(biases).enumerate() {
            weights.iter().enumerate().for_each(|(column, &weight)| vectors[column * lanes + k] = weight);
            vectors[columns * lanes + k] = bias;
        }
        vectors
    }

    /// The other way round: the weights and the biases of the classes.
    pub(crate) fn apart(&self, vectors: &[f64]) -> (Vec<Vec<f64>>, Vec<f64>) {
        let (lanes, columns) = (self.products().lanes(), self.parts.points.matrix().columns());
        let weights = |k: usize| (0..columns).map(|column| vectors[column * lanes + k]).collect();
        let biases = (0..self.classes()).map(|k| vectors[columns * lanes + k]).collect();
        ((0..self.classes()).map(weights).collect(), biases)
    }
}
