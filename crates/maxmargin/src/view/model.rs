//! What a model is made of.

use serde::Serialize;

use super::machine::{EvidenceView, MachineView, NetworkView, PenaltyView, SupportView, penalty_of_model};
use crate::data::Label;
use crate::geometry::{Conic, Hyperplane, NearestPoints, RiskBound};
use crate::model::Model;

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

/// What a model is made of.
#[derive(Clone, Debug, Serialize)]
pub struct ModelView<'a> {
    rows: usize,
    columns: usize,
    column_names: Option<&'a [String]>,
    classes: Vec<&'a str>,
    solver: &'a str,
    kernel: String,
    network: Option<NetworkView>,
    loss: &'static str,
    norm: &'static str,
    bias: &'static str,
    multiclass: &'static str,
    class_weights: Option<&'a [f64]>,
    scaling: Option<ScalingView<'a>>,
    penalty: PenaltyView,
    tolerance: f64,
    stop: &'static str,
    support_vectors: SupportView,
    fingerprint: &'a str,
    certificate: Option<EvidenceView<'a>>,
    machines: Vec<SolidMachine<'a>>,
}

impl<'a> ModelView<'a> {
    /// The view of a model, with the geometry of each machine.
    pub fn new(model: &'a Model, geometry: Vec<GeometryView<'a>>) -> Self {
        let parts = model.parts();
        let machines = model.machines().iter().zip(geometry);
        ModelView {
            rows: parts.provenance.rows,
            columns: parts.columns,
            column_names: parts.names.as_deref(),
            classes: parts.classes.iter().map(Label::text).collect(),
            solver: parts.provenance.origin.name(),
            kernel: parts.recipe.kernel.to_string(),
            network: NetworkView::new(model),
            loss: parts.recipe.loss.name(),
            norm: parts.recipe.norm.name(),
            bias: parts.recipe.bias.name(),
            multiclass: parts.recipe.multiclass.name(),
            class_weights: parts.recipe.class_weights.as_deref(),
            scaling: parts.scaling.as_ref().map(|scaling| ScalingView {
                kind: scaling.kind().name(),
                offsets: scaling.offsets(),
                factors: scaling.factors(),
            }),
            penalty: penalty_of_model(model),
            tolerance: parts.provenance.tolerance,
            stop: model.stop().name(),
            support_vectors: SupportView::of_model(model),
            fingerprint: &parts.provenance.fingerprint,
            certificate: parts.joint.as_ref().map(EvidenceView::from),
            machines: machines
                .map(|(machine, geometry)| SolidMachine { machine: MachineView::new(model, machine), geometry })
                .collect(),
        }
    }
}
