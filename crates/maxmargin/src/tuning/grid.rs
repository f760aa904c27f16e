//! What is tried: values of parameters, their spacing, and ranges that the data suggests.

use std::fmt;

#[cfg(feature = "serde")]
use serde::{Deserialize, Serialize};

use crate::data::Matrix;
use crate::error::{Error, Parameter, quoted};
use crate::kernel::{Gamma, Gram, KernelParams, Linear, Points};
use crate::problem::{Penalty, Task};
use crate::training::TrainingParams;
use crate::workers::Workers;

/// Cells of a grid at most. Each keeps what it predicts, so more would take the memory that the search needs.
pub const MOST_CELLS: usize = 100_000;

/// Values of one parameter at most.
const MOST_VALUES: usize = 10_000;

/// Rows whose distances to each other suggest a range of γ.
const SAMPLED_ROWS: usize = 256;

/// Columns up to which a sampled row is written out with its zeros.
const MOST_SAMPLED_COLUMNS: usize = 100_000;

/// How many times 1/m the range of γ goes down and up, (TU.2).
const GAMMA_SPAN: f64 = 30.0;

/// C of a grid that the data chooses, and how many values of each parameter.
const C_RANGE: (f64, f64) = (0.03, 300.0);
const VALUES: usize = 9;

/// A parameter that a search can vary.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[cfg_attr(feature = "serde", derive(Serialize, Deserialize))]
pub enum Knob {
    /// γ of the kernel.
    Gamma,
    /// The degree of a polynomial kernel.
    Degree,
    /// The constant of a polynomial or sigmoid kernel.
    Coef0,
    /// ε of a regression.
    Epsilon,
    /// ν
    Nu,
    /// C of the penalty.
    C,
}

impl Knob {
    /// All of them.
    pub const ALL: [Knob; 6] = [Knob::Gamma, Knob::Degree, Knob::Coef0, Knob::Epsilon, Knob::Nu, Knob::C];

    /// The parameter, for messages.
    pub fn parameter(self) -> Parameter {
        match self {
            Knob::Gamma => Parameter::Gamma,
            Knob::Degree => Parameter::Degree,
            Knob::Coef0 => Parameter::Coef0,
            Knob::Epsilon => Parameter::Epsilon,
            Knob::Nu => Parameter::Nu,
            Knob::C => Parameter::C,
        }
    }

    /// The word for it.
    pub fn name(self) -> &'static str {
        self.parameter().name()
    }

    /// The parameter of a name; C may be written small.
    pub fn from_name(name: &str) -> Option<Self> {
        Knob::ALL.into_iter().find(|knob| knob.name() == name || *knob == Knob::C && name == "c")
    }
}

/// The values of one parameter, in the order in which they are tried.
#[derive(Clone, Debug, PartialEq)]
pub struct Axis {
    /// The parameter.
    pub knob: Knob,
    /// Its values.
    pub values: Vec<f64>,
}

impl Axis {
    /// Values from one number to another at equal ratios
    ///
    /// ```text
    /// v_k = from (to/from)^(k/(count − 1)),   k = 0 .. count − 1                                       (TU.3)
    /// ```
    ///
    /// # Errors
    /// When an end is not above 0 and finite, or the count is 0 or above 10,000.
    pub fn spaced(knob: Knob, from: f64, to: f64, count: usize) -> Result<Self, Error> {
        for end in [from, to] {
            if !(end > 0.0 && end.is_finite()) {
                return Err(Error::parameter(knob.parameter(), end, "a finite number above 0 at both ends of a range"));
            }
        }
        if !(1..=MOST_VALUES).contains(&count) {
            return Err(Error::parameter("count", count, "from 1 to 10000 values"));
        }
        let value = |k: usize| match k {
            0 => from,
            _ if k + 1 == count => to,
            _ => from * (to / from).powf(k as f64 / (count - 1) as f64), // (TU.3)
        };
        Ok(Axis { knob, values: (0..count).map(value).collect() })
    }

    /// Reads axes as people write them: `C=0.01:1000:10,gamma=0.1,1,10` is ten values of C from 0.01 to 1000 at equal ratios, and three of γ.
    ///
    /// # Errors
    /// When a name is no parameter, comes twice, or a value does not read.
    ///
    /// # Examples
    /// ```
    /// use maxmargin::tuning::{Axis, Knob};
    ///
    /// let axes = Axis::read_all("C=0.1:10:3,gamma=0.5,2")?;
    /// assert_eq!(axes[0].values, [0.1, 1.0, 10.0]);
    /// assert_eq!((axes[1].knob, &axes[1].values[..]), (Knob::Gamma, &[0.5, 2.0][..]));
    /// # Ok::<(), maxmargin::Error>(())
    /// ```
    pub fn read_all(text: &str) -> Result<Vec<Self>, Error> {
        let refuse = |part: &str, help: &str| Error::Combination {
            what: format!("{} of the grid {} does not read", quoted(part.trim()), quoted(text)),
            help: help.into(),
        };
        let known = "write NAME=FROM:TO:COUNT or NAME=V1,V2,... with the names gamma, degree, coef0, epsilon, nu and C";
        let mut axes: Vec<Axis> = Vec::new();
        for part in text.split(',') {
            let values = match part.split_once('=') {
                Some((name, values)) => {
                    let knob = Knob::from_name(name.trim()).ok_or_else(|| refuse(part, known))?;
                    if axes.iter().any(|axis| axis.knob == knob) {
                        return Err(refuse(part, "name each parameter once"));
                    }
                    axes.push(Axis { knob, values: Vec::new() });
                    values
                }
                None => part,
            };
            let axis = axes.last_mut().ok_or_else(|| refuse(part, known))?;
            let number = |text: &str| text.trim().parse::<f64>().ok().filter(|value| value.is_finite());
            match values.split(':').collect::<Vec<_>>()[..] {
                [value] => axis.values.push(number(value).ok_or_else(|| refuse(part, known))?),
                [from, to, count] => {
                    let ends = number(from).zip(number(to)).zip(count.trim().parse().ok());
                    let ((from, to), count) = ends.ok_or_else(|| refuse(part, known))?;
                    axis.values.extend(Axis::spaced(axis.knob, from, to, count)?.values);
                }
                _ => return Err(refuse(part, known)),
            }
        }
        Ok(axes)
    }
}

/// One kernel with the values of its parameters: every combination of them is a cell.
#[derive(Clone, Debug)]
pub struct GridPart {
    /// The kernel.
    pub kernel: KernelParams,
    /// Each parameter once.
    pub axes: Vec<Axis>,
}

/// What a search tries: one part for each kernel.
#[derive(Clone, Debug, Default)]
pub struct Grid {
    /// The parts.
    pub parts: Vec<GridPart>,
}

/// The parameters of one cell.
#[derive(Clone, Debug, PartialEq)]
pub struct Setting {
    /// Which part of the grid it is of.
    pub part: usize,
    /// The values, C last.
    pub values: Vec<(Knob, f64)>,
}

impl Setting {
    /// The value of a parameter; `None` where the grid does not vary it.
    pub fn value(&self, knob: Knob) -> Option<f64> {
        self.values.iter().find(|(own, _)| *own == knob).map(|(_, value)| *value)
    }

    /// All values but that of C.
    pub(super) fn without_c(&self) -> impl Iterator<Item = &(Knob, f64)> {
        self.values.iter().filter(|(knob, _)| *knob != Knob::C)
    }

    /// All values but those of C and ε: cells that agree in them are a chain.
    pub(super) fn of_chain(&self) -> impl Iterator<Item = &(Knob, f64)> {
        self.without_c().filter(|(knob, _)| *knob != Knob::Epsilon)
    }
}

impl fmt::Display for Setting {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let words: Vec<String> =
            self.values.iter().rev().map(|(knob, value)| format!("{} {value}", knob.name())).collect();
        formatter.write_str(&words.join("  "))
    }
}

impl Grid {
    /// One kernel and the values of its parameters.
    pub fn of(kernel: KernelParams, axes: Vec<Axis>) -> Self {
        Grid { parts: vec![GridPart { kernel, axes }] }
    }

    /// Gives each part the parameters that it has and no values of: γ around the distances of the rows, and C from 0.03 to 300, nine values
    /// each. `matrix` has the columns as they are trained on, scaled where they are to be.
    ///
    /// ```text
    /// γ from 1/(30 m) to 30/m,   m the median squared distance of two rows                              (TU.2)
    /// ```
    ///
    /// For a Laplacian kernel m is the median distance, for polynomials and sigmoids the median squared norm.
    ///
    /// # Errors
    /// When a range does not come out finite.
    pub fn filled(mut self, params: &TrainingParams, matrix: &Matrix, workers: &Workers) -> Result<Self, Error> {
        for part in &mut self.parts {
            let has = |axes: &[Axis], knob: Knob| axes.iter().any(|axis| axis.knob == knob);
            let is_free =
                part.kernel.gamma_mut().is_some_and(|gamma| !matches!(gamma, Gamma::Value(_) | Gamma::Sigma(_)));
            if is_free && !has(&part.axes, Knob::Gamma) {
                let middle = middle(&part.kernel, matrix, workers).unwrap_or(matrix.columns().max(1) as f64);
                let (from, to) = (1.0 / (GAMMA_SPAN * middle), GAMMA_SPAN / middle); // (TU.2)
                part.axes.push(Axis::spaced(Knob::Gamma, from, to, VALUES)?);
            }
            let nu_of_task = matches!(params.task, Task::OneClass { .. } | Task::Svdd { .. });
            if nu_of_task && !has(&part.axes, Knob::Nu) {
                part.axes.push(Axis { knob: Knob::Nu, values: vec![0.01, 0.02, 0.05, 0.1, 0.2, 0.5] });
            } else if !nu_of_task && !has(&part.axes, Knob::C) && !has(&part.axes, Knob::Nu) {
                part.axes.push(Axis::spaced(Knob::C, C_RANGE.0, C_RANGE.1, VALUES)?);
            }
        }
        Ok(self)
    }

    /// The ranges of γ and C, by part and parameter, that this grid has and `named` has not: those that the data suggested.
    pub fn suggested(&self, named: &Grid) -> Vec<(usize, Knob)> {
        let was_named = |part: usize, knob: Knob| {
            named.parts.get(part).is_some_and(|part| part.axes.iter().any(|axis| axis.knob == knob))
        };
        let knobs = [Knob::Gamma, Knob::C];
        let has = |part: usize, knob: Knob| self.parts[part].axes.iter().any(|axis| axis.knob == knob);
        let all = (0..self.parts.len()).flat_map(|part| knobs.map(|knob| (part, knob)));
        all.filter(|&(part, knob)| has(part, knob) && !was_named(part, knob)).collect()
    }

    /// All cells: part after part; within a part C changes first, in ascending order, then the other parameters.
    ///
    /// # Errors
    /// When there are none, too many, or a value occurs twice.
    pub fn settings(&self) -> Result<Vec<Setting>, Error> {
        let mut settings = Vec::new();
        for (part, GridPart { axes, .. }) in self.parts.iter().enumerate() {
            let mut axes = axes.clone();
            axes.sort_by_key(|axis| axis.knob);
            let count = axes.iter().map(|axis| axis.values.len()).try_fold(1usize, usize::checked_mul);
            if count.is_none_or(|count| count > MOST_CELLS - settings.len().min(MOST_CELLS)) {
                return Err(Error::parameter("grid", "more", "at most 100000 cells"));
            }
            let mut cells = vec![Setting { part, values: Vec::new() }];
            for axis in &mut axes {
                axis.values.sort_by(f64::total_cmp);
                if let Some(pair) = axis.values.windows(2).find(|pair| pair[0] == pair[1]) {
                    let found = format!("{} twice", pair[0]);
                    return Err(Error::parameter(axis.knob.parameter(), found, "a list of different values"));
                }
                let with = |cell: &Setting, &value: &f64| {
                    let mut values = cell.values.clone();
                    values.push((axis.knob, value));
                    Setting { part, values }
                };
                cells = cells
                    .iter()
                    .flat_map(|cell| axis.values.iter().map(|value| with(cell, value)).collect::<Vec<_>>())
                    .collect();
            }
            settings.extend(cells);
        }
        if settings.is_empty() {
            return Err(Error::parameter("grid", "empty", "at least one cell"));
        }
        Ok(settings)
    }

    /// The parameters of a training in a cell, not yet checked.
    ///
    /// # Errors
    /// When the kernel or the task does not have a parameter.
    pub fn params(&self, setting: &Setting, base: &TrainingParams) -> Result<TrainingParams, Error> {
        let mut params = base.clone();
        let Some(part) = self.parts.get(setting.part) else {
            return Err(Error::parameter("grid", "a cell of no part", "a cell of one of its parts"));
        };
        params.kernel = part.kernel.clone();
        for &(knob, value) in &setting.values {
            let stray = || Error::Combination {
                what: format!("{} has no use for {}", what_has(knob, base, &part.kernel), knob.name()),
                help: format!("leave {} out of the grid", knob.name()),
            };
            match knob {
                Knob::C if params.task.usual().is_none() => params.penalty = Penalty::C(value),
                Knob::C => return Err(stray()),
                Knob::Gamma => *params.kernel.gamma_mut().ok_or_else(stray)? = Gamma::Value(value),
                Knob::Coef0 => *params.kernel.coef0_mut().ok_or_else(stray)? = value,
                Knob::Degree if (1.0..=100.0).contains(&value) && value.fract() == 0.0 => {
                    *params.kernel.degree_mut().ok_or_else(stray)? = value as u32;
                }
                Knob::Degree => return Err(Error::parameter(Parameter::Degree, value, "a whole number from 1 to 100")),
                Knob::Epsilon => match &mut params.task {
                    Task::Regression { epsilon } => *epsilon = value,
                    _ => return Err(stray()),
                },
                Knob::Nu => match &mut params.task {
                    Task::Classification => params.penalty = Penalty::Nu(value),
                    Task::NuRegression { nu } | Task::OneClass { nu } | Task::Svdd { nu } => *nu = value,
                    Task::Regression { .. } => return Err(stray()),
                },
            }
        }
        Ok(params)
    }
}

/// What does not have a parameter, in words.
fn what_has(knob: Knob, base: &TrainingParams, kernel: &KernelParams) -> String {
    match knob {
        Knob::Gamma | Knob::Degree | Knob::Coef0 => format!("the kernel {}", kernel_name(kernel)),
        _ => format!("task {}", base.task.name()),
    }
}

/// The word for a kernel.
pub fn kernel_name(kernel: &KernelParams) -> &'static str {
    match kernel {
        KernelParams::Linear => "linear",
        KernelParams::Polynomial { .. } => "polynomial",
        KernelParams::Rbf { .. } => "rbf",
        KernelParams::Sigmoid { .. } => "sigmoid",
        KernelParams::Laplacian { .. } => "laplacian",
        KernelParams::ChiSquare { .. } => "chi-square",
        KernelParams::Precomputed => "precomputed",
        _ => "combined",
    }
}

/// m of (TU.2), from a sample of rows that are evenly spread; `None` where all sampled rows are the same or too wide.
fn middle(kernel: &KernelParams, matrix: &Matrix, workers: &Workers) -> Option<f64> {
    let count = matrix.rows().min(SAMPLED_ROWS);
    let rows: Vec<usize> = (0..count).map(|k| k * matrix.rows() / count).collect();
    let sample = matrix.select_rows(&rows);
    let mut found: Vec<f64> = match kernel {
        KernelParams::Laplacian { .. } if sample.columns() <= MOST_SAMPLED_COLUMNS => {
            let rows: Vec<Vec<f64>> = (0..count.min(64)).map(|row| sample.row(row)).collect();
            let distance = |x: &[f64], z: &[f64]| x.iter().zip(z).map(|(x, z)| (x - z).abs()).sum::<f64>();
            (1..rows.len()).flat_map(|i| (0..i).map(|j| distance(&rows[i], &rows[j])).collect::<Vec<_>>()).collect()
        }
        _ => {
            let points = Points::new(sample, false);
            let all: Vec<usize> = (0..count).collect();
            let mut dots = vec![0.0; count * count];
            Gram::new(&Linear {}, &points, workers).block(&all, &all, &mut dots);
            let norm = |i: usize| dots[i * count + i];
            if matches!(kernel, KernelParams::Rbf { .. }) {
                let distance = |i: usize, j: usize| norm(i) + norm(j) - 2.0 * dots[i * count + j];
                (1..count).flat_map(|i| (0..i).map(|j| distance(i, j)).collect::<Vec<_>>()).collect()
            } else {
                (0..count).map(norm).collect()
            }
        }
    };
    found.retain(|&value| value > 0.0 && value.is_finite());
    if found.is_empty() {
        return None;
    }
    let half = found.len() / 2;
    Some(*found.select_nth_unstable_by(half, f64::total_cmp).1)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::embedded;

    fn rbf() -> KernelParams {
        KernelParams::Rbf { gamma: Gamma::Scale }
    }

    #[test]
    fn what_people_write_becomes_axes() {
        let axes = Axis::read_all(" C=1:100:3 , gamma=0.5,0.25, degree=2").unwrap();
        assert_eq!(axes.iter().map(|axis| axis.knob).collect::<Vec<_>>(), [Knob::C, Knob::Gamma, Knob::Degree]);
        assert_eq!(axes[0].values[0], 1.0);
        assert!((axes[0].values[1] - 10.0).abs() < 1e-12);
        assert_eq!((axes[0].values[2], &axes[1].values[..]), (100.0, &[0.5, 0.25][..]));
    }

    #[test]
    fn what_does_not_read_is_named() {
        for (text, part) in [
            ("", "\"\""),
            ("5", "\"5\""),
            ("cost=1", "\"cost=1\""),
            ("C=1:2", "\"C=1:2\""),
            ("C=1,x", "\"x\""),
            ("C=1:2:-3", "\"C=1:2:-3\""),
            ("C=inf", "\"C=inf\""),
            ("C=1,gamma=2,C=3", "\"C=3\""),
        ] {
            let error = Axis::read_all(text).unwrap_err().to_string();
            assert!(error.starts_with(part), "{text}: {error}");
        }
        assert_eq!(
            Axis::read_all("C=0:1:5").unwrap_err().to_string(),
            "C is 0, but it must be a finite number above 0 at both ends of a range"
        );
        assert!(Axis::read_all("C=1:2:0").is_err() && Axis::read_all("C=1:2:99999999").is_err());
    }

    #[test]
    fn cells_go_along_c_first_and_ascending() {
        let grid = Grid::of(rbf(), Axis::read_all("C=10,1,gamma=2,1").unwrap());
        let cells: Vec<Vec<f64>> =
            grid.settings().unwrap().iter().map(|cell| cell.values.iter().map(|(_, value)| *value).collect()).collect();
        assert_eq!(cells, [[1.0, 1.0], [1.0, 10.0], [2.0, 1.0], [2.0, 10.0]]);
        assert_eq!(grid.settings().unwrap()[1].to_string(), "C 10  gamma 1");
    }

    #[test]
    fn grids_that_are_empty_too_large_or_double_are_refused() {
        assert!(Grid::default().settings().is_err());
        let large = Grid::of(rbf(), Axis::read_all("C=1:2:1000,gamma=1:2:1000").unwrap());
        assert!(large.settings().is_err());
        let double = Grid::of(rbf(), Axis::read_all("C=1,2,1").unwrap());
        assert_eq!(
            double.settings().unwrap_err().to_string(),
            "C is 1 twice, but it must be a list of different values"
        );
    }

    #[test]
    fn a_parameter_that_is_not_there_is_refused() {
        let base = TrainingParams::default();
        let refused = |kernel: KernelParams, axes: &str| {
            let grid = Grid::of(kernel, Axis::read_all(axes).unwrap());
            grid.params(&grid.settings().unwrap()[0], &base).unwrap_err().to_string()
        };
        assert_eq!(refused(KernelParams::Linear, "gamma=1"), "the kernel linear has no use for gamma");
        assert_eq!(refused(rbf(), "epsilon=1"), "task classification has no use for epsilon");
        assert!(refused(rbf(), "degree=2.5").contains("whole number"));
    }

    #[test]
    fn ranges_follow_the_size_of_the_data() {
        let iris = embedded("iris").unwrap();
        let base = TrainingParams::default();
        let range = |matrix: &Matrix| {
            let grid = Grid::of(rbf(), Vec::new()).filled(&base, matrix, &Workers::none()).unwrap();
            (grid.parts[0].axes[0].values[0], grid.parts[0].axes[0].values[8])
        };
        let (from, to) = range(iris.matrix());
        assert!((to / from - 900.0).abs() < 1e-6 && from < 0.1 && to > 1.0, "{from} {to}");
        let large = iris.matrix().rebuild(4, |_, entries, out| {
            out.extend(entries.iter().map(|&(column, value)| (column, 10.0 * value)));
        });
        assert!((range(&large).0 * 100.0 / from - 1.0).abs() < 1e-9);
    }
}
