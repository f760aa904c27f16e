//! Stochastic gradient descent over a stream: rows come once or several times, block by block, and are never in memory as a whole.
//!
//! # Problem
//! ```text
//! min  λ‖w‖² + (1/n) Σ_i c_i ℓ(y_i f(x_i)),   f(x) = ⟨w, x⟩ + b                              (ST.1)
//! ```
//! with hinge, squared or logistic loss, row weights c_i, and one such problem for each class against the rest where
//! there are more than two. n is not known beforehand, which is why the penalty is λ, or C′/n with `λ = 1/(2C′)`.
//!
//! # Step
//! With μ = 2λ, t steps done, and r² the mean of `‖x‖²` (and of the bias) over the rows learnt so far, a batch of B rows moves
//! ```text
//! η = 1/(L r² √(1 + t/10⁵) + μ t),   L = 1, 2, ¼ for hinge, squared and logistic loss          (ST.2)
//! w ← (1 − ημ) w + Σ g_i y_i x_i
//! ```
//! η begins as large as is safe for a row of usual length, then falls, and ends as `1/(μt)`, the rate that the penalty allows. g_i is the
//! gradient at the new margin, not at the old margin z_i, so that even a very long row does not overshoot the minimum of its own loss:
//! ```text
//! g = (η c/B) (−ℓ′(z + g q)),   q = ‖x‖² and the bias                                         (ST.3)
//! hinge:     g = min(ηc/B, (1 − z)/q)
//! squared:   g = 2(ηc/B)(1 − z)/(1 + 2(ηc/B) q)
//! logistic:  by Newton's method in one variable
//! ```
//! A folded bias is one more weight. An explicit one has no decay, and steps as large as those of a column of the rows' mean
//! length.
//!
//! # Average
//! The model is the mean of w over the steps, with weight `t − t₀` for step t, so that the first steps soon count little:
//! ```text
//! w̄ = Σ_t (t − t₀) w_t / Σ_t (t − t₀),   t > t₀                                               (ST.4)
//! ```
//!
//! # Estimates
//! Each row is predicted before it is learnt (progressive validation), by the last w. Rows that are held out are never
//! learnt, and predicted by the average.
//!
//! # Cost
//! Time for a row: its entries times the machines, because w is kept as a number times a vector, and its sum as another vector
//! (`weights.rs`). Memory: two vectors for each machine.
//!
//! # When to use
//! Data that does not fit into memory, or never ends. Rows should come in random order. If they come sorted, or each is much like the one
//! before, the last rows count too much and progressive validation looks too good. There is no certificate: it would need a dual variable
//! for every row.
//!
//! # References
//! L. Bottou, Stochastic gradient descent tricks, 2012. S. Lacoste-Julien, M. Schmidt and F. Bach, A simpler approach to
//! obtaining an O(1/t) convergence rate for the projected stochastic subgradient method, 2012. P. Toulis and E. Airoldi,
//! Asymptotic and finite-sample properties of estimators based on stochastic gradients, 2017.

mod begin;
mod estimate;
mod finish;
mod params;
mod snapshot;
mod step;
mod weights;

pub use begin::Before;
pub use estimate::{Estimate, WINDOW_ROWS};
pub use params::StreamParams;
pub use snapshot::{StreamSnapshot, StreamState};

use std::ops::Range;

#[cfg(feature = "serde")]
use serde::{Deserialize, Serialize};

use crate::data::{Dataset, Label, Matrix};
use crate::error::{Error, listed, quoted};
use crate::problem::{Bias, Loss};
use estimate::Window;
use step::step;
use weights::Weights;

/// Steps after which η begins to fall.
const SLOWING_STEPS: f64 = 1e5;

/// A linear classifier that learns from rows as they come.
///
/// What it has learnt depends on the rows and their order alone, not on how they were cut into blocks.
///
/// # Examples
/// ```
/// use maxmargin::data::generate;
/// use maxmargin::stream::StreamParams;
/// use maxmargin::{Stop, Workers};
///
/// let data = generate("blobs", 2000, 1)?;
/// let mut learner = StreamParams::default().check()?;
/// for start in (0..2000).step_by(100) {
///     learner.learn(&data.select_rows(&(start..start + 100).collect::<Vec<_>>()))?;
/// }
/// assert!(learner.progressive().error_rate() < 0.02);
///
/// let model = learner.model(Stop::IterationLimit)?;
/// let predictions = model.predict(&data, &Workers::none())?;
/// let right = predictions.codes().iter().zip(data.labels()?.codes()).filter(|(a, b)| a == b).count();
/// assert!(right > 1980);
/// # Ok::<(), maxmargin::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct StreamingSgd {
    params: StreamParams,
    /// The labels, sorted; empty before the first block.
    classes: Vec<Label>,
    names: Option<Vec<String>>,
    columns: usize,
    machines: Vec<Weights>,
    /// t
    steps: u64,
    /// Σ ‖x‖² over the rows learnt.
    squares: f64,
    /// Rows learnt, in all passes.
    learnt: u64,
    /// Σ c_i of the rows learnt in this pass and in the one before.
    weight: [f64; 2],
    /// Passes begun before this one.
    passes: u64,
    /// Rows of this pass, including those of weight 0.
    rows: u64,
    /// Rows of this pass with a weight above 0.
    seen: u64,
    /// Rows of the longest pass.
    longest: u64,
    window: Window,
    /// Held-out rows of this pass, and of the one before.
    held_out: [Estimate; 2],
    trace: u64,
    /// Rows and trace of the pass before.
    last_pass: Option<(u64, u64)>,
    batch: Batch,
    /// Memory for the entries of one row.
    entries: Vec<(u32, f64)>,
}

/// Rows of a batch that wait for their step.
#[derive(Clone, Debug, Default, PartialEq)]
#[cfg_attr(feature = "serde", derive(Serialize, Deserialize))]
struct Batch {
    rows: Vec<BatchRow>,
    /// The entries of all rows, one row after the other.
    indices: Vec<u32>,
    values: Vec<f64>,
    /// f(x) of each machine when the row came, row after row.
    decisions: Vec<f64>,
}

#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(Serialize, Deserialize))]
struct BatchRow {
    class: u32,
    weight: f64,
    /// ‖x‖²
    square: f64,
    /// How many entries the row has.
    entries: usize,
}

impl StreamingSgd {
    fn new(params: StreamParams) -> Self {
        let mut learner = StreamingSgd {
            classes: Vec::new(),
            names: None,
            columns: 0,
            machines: Vec::new(),
            steps: 0,
            squares: 0.0,
            learnt: 0,
            weight: [0.0; 2],
            passes: 0,
            rows: 0,
            seen: 0,
            longest: 0,
            window: Window::default(),
            held_out: [Estimate::default(); 2],
            trace: 0,
            last_pass: None,
            batch: Batch::default(),
            entries: Vec::new(),
            params,
        };
        if !learner.params.classes.is_empty() {
            learner.set_classes(learner.params.classes.clone());
        }
        learner
    }

    fn set_classes(&mut self, classes: Vec<Label>) {
        // Two classes are one machine.
        let machines = if classes.len() > 2 { classes.len() } else { 1 };
        self.machines = vec![Weights::new(self.columns); machines];
        self.classes = classes;
    }

    /// The parameters.
    pub fn params(&self) -> &StreamParams {
        &self.params
    }

    /// The labels, sorted; none before the first block where they were not declared.
    pub fn classes(&self) -> &[Label] {
        &self.classes
    }

    /// How many columns the rows had so far.
    pub fn columns(&self) -> usize {
        self.columns
    }

    /// Rows learnt, in all passes.
    pub fn learnt(&self) -> u64 {
        self.learnt
    }

    /// Passes that are over.
    pub fn passes(&self) -> u64 {
        self.passes
    }

    /// Rows of this pass so far, learnt or not.
    pub fn rows(&self) -> u64 {
        self.rows
    }

    /// A hash of the rows of this pass so far; see [`RowTrace`].
    pub fn trace(&self) -> u64 {
        self.trace
    }

    /// The estimate over all rows, each predicted by the last w before it was learnt.
    pub fn progressive(&self) -> Estimate {
        self.window.all()
    }

    /// [`StreamingSgd::progressive`] over about the last [`WINDOW_ROWS`] rows.
    pub fn recent(&self) -> Estimate {
        self.window.recent()
    }

    /// The estimate over held-out rows, each predicted by the average when it came: those of this pass, or of the one before while this one
    /// has none.
    pub fn held_out(&self) -> Estimate {
        if self.held_out[0].rows > 0 { self.held_out[0] } else { self.held_out[1] }
    }

    /// Bytes of memory for this many columns and machines.
    pub fn bytes(columns: usize, machines: usize) -> u64 {
        16 * columns as u64 * machines as u64
    }

    /// Learns the rows of a data set. The first call determines the labels, unless they were declared.
    ///
    /// # Errors
    /// When a label is new, the columns' names are others than before, or as [`StreamingSgd::partial_fit`] does.
    pub fn learn(&mut self, data: &Dataset) -> Result<(), Error> {
        self.learn_rows(data, 0..data.rows())
    }

    /// [`StreamingSgd::learn`] for some rows, so that a caller can poll between the parts of a block.
    ///
    /// # Errors
    /// As [`StreamingSgd::learn`].
    ///
    /// # Panics
    /// When there are fewer rows.
    pub fn learn_rows(&mut self, data: &Dataset, rows: Range<usize>) -> Result<(), Error> {
        if self.classes.is_empty() {
            let found = data.labels()?.classes();
            if found.len() < 2 {
                return Err(Error::Data {
                    what: format!(
                        "the first {} rows have no other label than {}",
                        data.rows(),
                        quoted(found.first().map_or("", Label::text))
                    ),
                    help: "declare the labels beforehand, or mix the rows".into(),
                });
            }
            self.set_classes(found.to_vec());
            self.names = data.names().map(<[String]>::to_vec);
        }
        if self.names.is_none() && self.rows + self.passes == 0 {
            self.names = data.names().map(<[String]>::to_vec);
        }
        if self.names.as_deref() != data.names() {
            return Err(Error::Data {
                what: format!("the columns of row {} have other names than those before", self.rows + 1),
                help: "give all rows the same columns".into(),
            });
        }
        let codes = self.codes(data)?;
        self.fit_rows(data.matrix(), &codes, data.weights(), rows)
    }

    /// For each row the place of its label among the classes.
    fn codes(&self, data: &Dataset) -> Result<Vec<u32>, Error> {
        let labels = data.labels()?;
        let place = |label: &Label| self.classes.iter().position(|class| class == label).map(|place| place as u32);
        let places: Vec<Option<u32>> = labels.classes().iter().map(place).collect();
        let row_of = |code: usize| labels.codes().iter().position(|&other| other as usize == code).unwrap_or(0);
        if let Some(code) = places.iter().position(Option::is_none) {
            return Err(Error::Data {
                what: format!(
                    "row {} has the label {}, which is new",
                    self.rows + row_of(code) as u64 + 1,
                    quoted(labels.classes()[code].text())
                ),
                help: format!(
                    "declare all labels beforehand; known are {}",
                    listed(self.classes.iter().map(|label| quoted(label.text())), 8)
                ),
            });
        }
        Ok(labels.codes().iter().map(|&code| places[code as usize].unwrap_or(0)).collect())
    }

    /// Learns rows whose labels are given as places among the declared classes. A row of weight 0 changes nothing. There may be more columns
    /// than before; new ones begin at 0.
    ///
    /// # Errors
    /// When lengths differ, a place or weight is out of range, no classes are known, or a row is too long to compute with; rows
    /// before it have then been learnt.
    pub fn partial_fit(&mut self, matrix: &Matrix, codes: &[u32], weights: Option<&[f64]>) -> Result<(), Error> {
        self.fit_rows(matrix, codes, weights, 0..matrix.rows())
    }

    fn fit_rows(
        &mut self,
        matrix: &Matrix,
        codes: &[u32],
        weights: Option<&[f64]>,
        rows: Range<usize>,
    ) -> Result<(), Error> {
        let weight_count = weights.map_or(matrix.rows(), <[f64]>::len);
        if codes.len() != matrix.rows() || weight_count != matrix.rows() {
            return Err(Error::Shape {
                operation: "partial fit",
                left: format!("{} labels and {weight_count} weights", codes.len()),
                right: format!("{} rows", matrix.rows()),
            });
        }
        if let Some(row) = codes.iter().position(|&code| code as usize >= self.classes.len()) {
            return Err(Error::Data {
                what: format!("row {} is of class {}, but there are {}", row + 1, codes[row], self.classes.len()),
                help: "declare all labels beforehand".into(),
            });
        }
        if let Some(row) =
            weights.and_then(|weights| weights.iter().position(|&weight| !(weight >= 0.0 && weight.is_finite())))
        {
            return Err(Error::Data {
                what: format!("the weight of row {} is {}", row + 1, weights.map_or(0.0, |weights| weights[row])),
                help: "give each row a weight of 0 or more".into(),
            });
        }
        if matrix.columns() > self.columns {
            self.columns = matrix.columns();
            self.machines.iter_mut().for_each(|machine| machine.grow(matrix.columns()));
        }
        for row in rows {
            self.learn_row(matrix, row, codes[row], weights.map_or(1.0, |weights| weights[row]))?;
        }
        Ok(())
    }

    fn learn_row(&mut self, matrix: &Matrix, row: usize, class: u32, weight: f64) -> Result<(), Error> {
        let mut entries = std::mem::take(&mut self.entries);
        entries.clear();
        let mut square = 0.0;
        matrix.visit(row, |column, value| {
            if value != 0.0 {
                square += value * value;
                entries.push((column as u32, value));
            }
        });
        let learnt = self.learn_entries(&entries, square, class, weight);
        self.entries = entries;
        learnt
    }

    fn learn_entries(&mut self, entries: &[(u32, f64)], square: f64, class: u32, weight: f64) -> Result<(), Error> {
        if !square.is_finite() {
            return Err(Error::Data {
                what: format!("row {} is too long to compute with", self.rows + 1),
                help: "scale the columns, so that values are around 1".into(),
            });
        }
        self.trace = traced(self.trace, entries, square, class, weight);
        self.rows += 1;
        if !(weight > 0.0) {
            return Ok(());
        }
        self.seen += 1;
        if self.params.hold_out.is_some_and(|every| self.seen.is_multiple_of(every)) {
            let values: Vec<f64> = self.machines.iter().map(|machine| machine.average_at(entries)).collect();
            self.held_out[0].add(self.is_wrong(&values, class), self.loss(&values, class));
            return Ok(());
        }
        let start = self.batch.decisions.len();
        self.batch.decisions.extend(self.machines.iter().map(|machine| machine.at(entries)));
        let values = &self.batch.decisions[start..];
        let (wrong, loss) = (self.is_wrong(values, class), self.loss(values, class));
        self.window.add(wrong, loss);
        for (place, machine) in self.machines.iter_mut().enumerate() {
            let sign = sign(self.classes.len(), place, class);
            machine.errors += u64::from((values[place] > 0.0) != (sign > 0.0));
        }
        self.learnt += 1;
        self.weight[0] += weight;
        self.squares += square;
        let batch = &mut self.batch;
        batch.indices.extend(entries.iter().map(|&(column, _)| column));
        batch.values.extend(entries.iter().map(|&(_, value)| value));
        batch.rows.push(BatchRow { class, weight, square, entries: entries.len() });
        if batch.rows.len() >= self.params.batch {
            self.step();
        }
        Ok(())
    }

    /// Makes the step of the waiting rows.
    fn step(&mut self) {
        let mut batch = std::mem::take(&mut self.batch);
        let loss = self.params.loss;
        self.steps += 1;
        let mean = self.squares / self.learnt.max(1) as f64;
        let of_bias = match self.params.bias {
            Bias::Explicit if mean > 0.0 => mean,
            Bias::Explicit | Bias::Folded => 1.0,
            Bias::None => 0.0,
        };
        let curvature = match loss {
            Loss::Hinge => 1.0,
            Loss::Squared => 2.0,
            Loss::Logistic => 0.25,
        };
        let (convexity, length) = (2.0 * self.params.lambda, mean + of_bias);
        let length = if length > 0.0 { length } else { 1.0 };
        let time = self.steps as f64;
        let slowing = (1.0 + time / SLOWING_STEPS).sqrt();
        let rate = 1.0 / (curvature * length * slowing + convexity * time); // (ST.2)
        let machines = self.machines.len();
        for (place, machine) in self.machines.iter_mut().enumerate() {
            machine.decay(1.0 - rate * convexity, self.params.bias == Bias::Folded);
            let mut start = 0;
            for (number, row) in batch.rows.iter().enumerate() {
                let margin = sign(self.classes.len(), place, row.class) * batch.decisions[number * machines + place];
                let end = start + row.entries;
                let sign = sign(self.classes.len(), place, row.class);
                let share = rate * row.weight / batch.rows.len() as f64;
                let amount = sign * step(loss, margin, row.square + of_bias, share); // (ST.3)
                if amount != 0.0 {
                    machine.add(&batch.indices[start..end], &batch.values[start..end], amount);
                    machine.bias += amount * of_bias;
                }
                start = end;
            }
            if let Some(from) = self.params.average_from.filter(|&from| self.steps > from) {
                machine.count((self.steps - from) as f64); // (ST.4)
            }
        }
        // Keeps the memory for the next batch.
        batch.rows.clear();
        batch.indices.clear();
        batch.values.clear();
        batch.decisions.clear();
        self.batch = batch;
    }

    /// Whether this pass, which is at its end, had the rows of the pass before. `true` for the first pass.
    pub fn is_same_pass(&self) -> bool {
        self.last_pass.is_none_or(|last| last == (self.rows, self.trace))
    }

    /// Ends a pass over the data: makes the step of waiting rows, and counts rows from 1 again.
    pub fn end_pass(&mut self) {
        if !self.batch.rows.is_empty() {
            self.step();
        }
        self.passes += 1;
        self.longest = self.longest.max(self.rows);
        self.last_pass = Some((self.rows, self.trace));
        (self.rows, self.seen, self.trace) = (0, 0, 0);
        self.held_out = [Estimate::default(), self.held_out()];
        self.weight = [0.0, self.weight[0]];
    }

    fn is_wrong(&self, values: &[f64], class: u32) -> bool {
        if let [value] = values {
            return (*value > 0.0) != (class == 1);
        }
        let mut best = 0;
        for (place, &value) in values.iter().enumerate() {
            if value > values[best] {
                best = place;
            }
        }
        best as u32 != class
    }

    /// The loss of a row, of all machines together.
    fn loss(&self, values: &[f64], class: u32) -> f64 {
        let of =
            |(place, &value): (usize, &f64)| self.params.loss.value(sign(self.classes.len(), place, class) * value);
        values.iter().enumerate().map(of).sum()
    }
}

/// y of a row for a machine.
fn sign(classes: usize, machine: usize, class: u32) -> f64 {
    let positive = if classes > 2 { machine as u32 } else { 1 };
    if class == positive { 1.0 } else { -1.0 }
}

/// A hash of the rows of a pass. After an interrupt it tells whether the rows that are skipped are those that were learnt.
///
/// It finds a file that was mixed up with another. It is not safe against an attacker.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct RowTrace {
    /// Rows so far.
    pub rows: u64,
    /// The hash.
    pub value: u64,
}

impl RowTrace {
    /// Adds the first `count` rows of a data set, whose labels are these classes.
    ///
    /// # Errors
    /// When a label is none of the learner's.
    pub fn add(&mut self, learner: &StreamingSgd, data: &Dataset, count: usize) -> Result<(), Error> {
        let codes = learner.codes(data)?;
        let mut entries = Vec::new();
        for row in 0..count.min(data.rows()) {
            entries.clear();
            let mut square = 0.0;
            data.matrix().visit(row, |column, value| {
                if value != 0.0 {
                    square += value * value;
                    entries.push((column as u32, value));
                }
            });
            let weight = data.weights().map_or(1.0, |weights| weights[row]);
            self.value = traced(self.value, &entries, square, codes[row], weight);
            self.rows += 1;
        }
        Ok(())
    }
}

/// The hash after one more row.
fn traced(trace: u64, entries: &[(u32, f64)], square: f64, class: u32, weight: f64) -> u64 {
    let (last, value) = entries.last().copied().unwrap_or((0, 0.0));
    let numbers = [
        square.to_bits(),
        value.to_bits(),
        weight.to_bits(),
        u64::from(last) << 32 | u64::from(class),
        entries.len() as u64,
    ];
    let mix = |hash: u64, number: u64| (hash.rotate_left(23) ^ number).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    numbers.into_iter().fold(trace, mix)
}
