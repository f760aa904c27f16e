//! What a model is made of.

use serde::Serialize;

use super::machine::{EvidenceView, MachineView, SolvedView};
use crate::geometry::{Conic, Hyperplane, NearestPoints, RiskBound};
use crate::model::{Machine, Model};

/// What is done to columns.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct ScalingView<'a> {
    /// Which way.
    pub kind: &'static str,
    /// What is taken off each column.
    pub offsets: &'a [f64],
    /// What each column is multiplied with then.
    pub factors: &'a [f64],
}

/// A hyperplane, its distance from the origin, and the rows beside it.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct HyperplaneView<'a> {
    weights: &'a [f64],
    bias_value: f64,
    norm: f64,
    origin_distance: f64,
    canonical: Option<CanonicalView<'a>>,
    margin: Option<f64>,
}

impl<'a> HyperplaneView<'a> {
    /// The view of a plane, with its canonical form and the distance of the nearest row, where rows are known.
    pub fn new(plane: &'a Hyperplane, canonical: Option<&'a Hyperplane>, margin: Option<f64>) -> Self {
        HyperplaneView {
            weights: plane.weights(),
            bias_value: plane.bias(),
            norm: plane.norm(),
            origin_distance: plane.origin_distance(),
            canonical: canonical.map(|plane| CanonicalView {
                weights: plane.weights(),
                bias_value: plane.bias(),
                margin: 1.0 / plane.norm(),
            }),
            margin,
        }
    }
}

/// A hyperplane scaled so that the nearest row has |f| = 1.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct CanonicalView<'a> {
    weights: &'a [f64],
    bias_value: f64,
    margin: f64,
}

/// A boundary of degree 2 in two columns.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct ConicView {
    kind: &'static str,
    coefficients: [f64; 6],
    centre: Option<[f64; 2]>,
    semi_axes: Option<[f64; 2]>,
    orientation: Option<f64>,
}

impl From<&Conic> for ConicView {
    fn from(conic: &Conic) -> Self {
        ConicView {
            kind: conic.kind().name(),
            coefficients: conic.coefficients(),
            centre: conic.centre(),
            semi_axes: conic.semi_axes(),
            orientation: conic.orientation(),
        }
    }
}

/// The nearest points of the classes' hulls.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct HullsView<'a> {
    mu: f64,
    distance: f64,
    at_least: f64,
    positive_point: Option<&'a [f64]>,
    negative_point: Option<&'a [f64]>,
    positive: &'a [(usize, f64)],
    negative: &'a [(usize, f64)],
}

impl<'a> HullsView<'a> {
    /// The view of hulls reduced by `mu`, with the two points where the kernel is linear.
    pub fn new(mu: f64, nearest: &'a NearestPoints, ends: Option<(&'a [f64], &'a [f64])>) -> Self {
        HullsView {
            mu,
            distance: nearest.distance,
            at_least: nearest.at_least,
            positive_point: ends.map(|ends| ends.0),
            negative_point: ends.map(|ends| ends.1),
            positive: &nearest.positive,
            negative: &nearest.negative,
        }
    }
}

/// The risk bound and what it is made of.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct RiskView {
    rho: f64,
    weight_bound: f64,
    lambda: f64,
    rows: usize,
    excess: f64,
    best_lambda: f64,
    best_excess: f64,
}

impl RiskView {
    /// The view of a bound, and what it was computed from.
    pub fn new(found: &RiskBound, rho: f64, weight_bound: f64, rows: usize, lambda: f64) -> Self {
        RiskView {
            rho,
            weight_bound,
            lambda,
            rows,
            excess: found.excess(),
            best_lambda: found.best_lambda(),
            best_excess: found.best_excess(),
        }
    }
}

/// What a machine looks like in space, as far as it is known.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct GeometryView<'a> {
    /// The hyperplane of a linear machine.
    pub hyperplane: Option<HyperplaneView<'a>>,
    /// The boundary of a quadratic machine in two columns.
    pub conic: Option<ConicView>,
    /// The hulls of the rows.
    pub hulls: Option<HullsView<'a>>,
    /// The risk bound.
    pub risk_bound: Option<RiskView>,
}

/// A machine and what it looks like in space.
#[derive(Clone, Debug, Serialize)]
pub struct SolidMachine<'a> {
    #[serde(flatten)]
    machine: MachineView<'a>,
    geometry: GeometryView<'a>,
}

impl<'a> SolidMachine<'a> {
    /// The view of a model's machine.
    pub fn new(model: &'a Model, machine: &'a Machine, geometry: GeometryView<'a>) -> Self {
        SolidMachine { machine: MachineView::new(model, machine), geometry }
    }
}

/// What a model is made of. `M` writes its machines, as a list of [`SolidMachine`].
#[derive(Clone, Debug, Serialize)]
pub struct ModelView<'a, M> {
    rows: usize,
    columns: usize,
    #[serde(flatten)]
    solved: SolvedView<'a>,
    scaling: Option<ScalingView<'a>>,
    certificate: Option<EvidenceView<'a>>,
    machines: M,
}

impl<'a, M> ModelView<'a, M> {
    /// The view of a model, with what writes its machines.
    pub fn new(model: &'a Model, machines: M) -> Self {
        let parts = model.parts();
        ModelView {
            rows: parts.provenance.rows,
            columns: parts.columns,
            solved: SolvedView::new(model),
            scaling: parts.scaling.as_ref().map(|scaling| ScalingView {
                kind: scaling.kind().name(),
                offsets: scaling.offsets(),
                factors: scaling.factors(),
            }),
            certificate: parts.joint.as_ref().map(EvidenceView::from),
            machines,
        }
    }
}
