//! What `inspect` reports, as words and as JSON.

use std::borrow::Cow;

use maxmargin::Model;
use maxmargin::error::listed;
use maxmargin::geometry::{Conic, Hyperplane, NearestPoints, RiskBound};
use maxmargin::model::Machine;
use maxmargin::view::{
    ConicView, GeometryView, HullsView, HyperplaneView, ModelView, RiskView, SolidMachine, SupportView,
};
use serde::ser::{Serialize, SerializeSeq, Serializer};

use super::machines::{self, title};
use super::{Page, counted, number};
use crate::output::short;

/// What a machine looks like in space.
#[derive(Clone, Debug, Default)]
pub(crate) struct Geometry {
    pub(crate) plane: Option<Plane>,
    pub(crate) conic: Option<Conic>,
    pub(crate) hulls: Option<Hulls>,
    pub(crate) risk: Option<Risk>,
}

/// A linear machine.
#[derive(Clone, Debug)]
pub(crate) struct Plane {
    pub(crate) plane: Hyperplane,
    pub(crate) canonical: Option<Hyperplane>,
    pub(crate) margin: Option<f64>,
}

/// The nearest points of the (reduced) hulls.
#[derive(Clone, Debug)]
pub(crate) struct Hulls {
    pub(crate) mu: f64,
    /// The two points, where the kernel is linear.
    pub(crate) ends: Option<(Vec<f64>, Vec<f64>)>,
    pub(crate) nearest: NearestPoints,
}

/// The risk bound and what it is made of.
#[derive(Clone, Debug)]
pub(crate) struct Risk {
    pub(crate) rho: f64,
    pub(crate) bound: f64,
    pub(crate) lambda: f64,
    pub(crate) rows: usize,
    pub(crate) found: RiskBound,
}

/// The most machines whose geometry stands on a page.
const MOST_SHOWN: usize = 20;

/// What each machine of a model looks like in space.
pub(crate) enum Geometries {
    /// Beside data, all measured beforehand: measuring may fail, and then nothing is to be printed.
    Measured(Vec<Geometry>),
    /// By itself, which is found when it is wanted. There may be a million machines.
    Alone(fn(&Model, &Machine) -> Geometry),
}

impl Geometries {
    fn of(&self, model: &Model, number: usize) -> Cow<'_, Geometry> {
        match self {
            Geometries::Measured(all) => Cow::Borrowed(&all[number]),
            Geometries::Alone(find) => Cow::Owned(find(model, &model.machines()[number])),
        }
    }
}

/// The page.
pub(crate) fn words(file: &str, model: &Model, geometries: &Geometries) -> String {
    let parts = model.parts();
    let mut page = Page::new();
    page.exact("model", file);
    if model.task().is_classification() {
        page.line("classes", &listed(model.classes().iter().map(|label| short(label.text())), 8));
    }
    page.line(
        "columns",
        &match &parts.names {
            Some(names) => format!("{}: {}", parts.columns, listed(names.iter().map(|name| short(name)), 8)),
            None => parts.columns.to_string(),
        },
    );
    if let Some(scaling) = &parts.scaling {
        page.line("scaling", scaling.kind().name());
    }
    machines::features(&mut page, model);
    machines::problem(&mut page, model);
    if parts.joint.is_some() {
        page.line("together", &format!("{}: all classes in one problem", parts.recipe.multiclass.name()));
    }
    page.line(
        "solver",
        &format!(
            "{}: {}, tolerance {}",
            parts.provenance.origin.name(),
            machines::stopped(model),
            number(parts.provenance.tolerance, 3)
        ),
    );
    machines::landmarks(&mut page, model);
    if parts.landmarks.is_none() {
        let support = SupportView::of_model(model);
        page.line(
            "support",
            &format!(
                "{} of {}: {} free, {} at the bound",
                counted(support.total, "vector"),
                counted(parts.provenance.rows, "training row"),
                support.free,
                support.bounded
            ),
        );
    }
    page.line("data hash", &parts.provenance.fingerprint.chars().take(16).collect::<String>());
    page.text("");
    machines::table(&mut page, model);
    for (number, machine) in model.machines().iter().enumerate().take(MOST_SHOWN) {
        let lines = geometry_words(model, &geometries.of(model, number));
        if !lines.is_empty() {
            page.text("");
            page.text(&format!("geometry of {}", title(model, machine)));
            lines.iter().for_each(|(name, text)| page.line(&format!("  {name}"), text));
        }
    }
    page.finish()
}

/// A vector in words, at most eight numbers of it.
fn vector(values: &[f64]) -> String {
    format!("({})", listed(values.iter().map(|&value| number(value, 6)), 8))
}

/// A polynomial of degree 2 in two variables.
fn polynomial(coefficients: [f64; 6]) -> String {
    let mut text = String::new();
    for (coefficient, monomial) in coefficients.iter().zip([" x1²", " x1x2", " x2²", " x1", " x2", ""]) {
        let sign = match (text.is_empty(), *coefficient < 0.0) {
            (true, true) => "-",
            (true, false) => "",
            (false, true) => " - ",
            (false, false) => " + ",
        };
        text.push_str(&format!("{sign}{}{monomial}", number(coefficient.abs(), 6)));
    }
    text
}

fn geometry_words(model: &Model, geometry: &Geometry) -> Vec<(&'static str, String)> {
    let mut lines = Vec::new();
    let scaled = if model.parts().scaling.is_some() { ", in scaled columns" } else { "" };
    if let Some(Plane { plane, canonical, margin }) = &geometry.plane {
        lines.push(("plane", format!("w = {}, b = {}{scaled}", vector(plane.weights()), number(plane.bias(), 6))));
        lines.push((
            "origin",
            format!(
                "{} from the plane, on the {} side",
                number(plane.origin_distance().abs(), 6),
                if plane.origin_distance() > 0.0 { "positive" } else { "negative" }
            ),
        ));
        if let Some(canonical) = canonical {
            let (weights, bias) = (vector(canonical.weights()), number(canonical.bias(), 6));
            lines.push(("canonical", format!("w = {weights}, b = {bias}: the nearest row has |f| = 1")));
        }
        if let Some(margin) = margin {
            lines.push((
                "margin",
                match *margin > 0.0 {
                    true => format!("{}: the distance of the nearest row", number(*margin, 6)),
                    false => format!("{}: a row lies so far on the wrong side", number(*margin, 6)),
                },
            ));
        }
    }
    if let Some(conic) = &geometry.conic {
        let mut text = conic.kind().name().replace('-', " ");
        if let Some(centre) = conic.centre() {
            text.push_str(&format!(", centre {}", vector(&centre)));
        }
        if let Some([first, second]) = conic.semi_axes() {
            text.push_str(&format!(", semi-axes {} and {}", number(first, 6), number(second, 6)));
        }
        if let Some(angle) = conic.orientation() {
            text.push_str(&format!(", turned by {}°", number(angle.to_degrees(), 4)));
        }
        lines.push(("boundary", text));
        lines.push(("", format!("{} = 0", polynomial(conic.coefficients()))));
    }
    if let Some(Hulls { mu, ends, nearest }) = &geometry.hulls {
        let space = if model.recipe().kernel.is_linear() { scaled } else { ", in the kernel's space" };
        let kind = if *mu < 1.0 { format!("reduced hulls (mu = {})", number(*mu, 6)) } else { "convex hulls".into() };
        lines.push((
            "hulls",
            if nearest.at_least > 0.0 {
                format!("the {kind} are {} apart{space}", number(nearest.distance, 6))
            } else {
                format!("the {kind} meet (within {}){space}", number(nearest.distance, 3))
            },
        ));
        if let Some((positive, negative)) = ends {
            lines.push(("", format!("nearest points {} and {}", vector(positive), vector(negative))));
        }
    }
    if let Some(Risk { rho, bound, lambda, rows, found }) = &geometry.risk {
        lines.push((
            "risk",
            format!(
                "expected hinge risk at most {} above the least one (rho = {}, B = {}, {}, lambda = {})",
                number(found.excess(), 4),
                number(*rho, 4),
                number(*bound, 4),
                counted(*rows, "row"),
                number(*lambda, 4)
            ),
        ));
        lines.push((
            "",
            format!("at the best lambda, {}, it is {}", number(found.best_lambda(), 4), number(found.best_excess(), 4)),
        ));
    }
    lines
}

/// What `inspect --json` prints.
pub(crate) fn view<'a>(model: &'a Model, geometries: &'a Geometries) -> ModelView<'a, SolidMachines<'a>> {
    ModelView::new(model, SolidMachines { model, geometries })
}

/// The machines of a model with their geometry, each made when it is written.
pub(crate) struct SolidMachines<'a> {
    model: &'a Model,
    geometries: &'a Geometries,
}

impl Serialize for SolidMachines<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let machines = self.model.machines();
        let mut list = serializer.serialize_seq(Some(machines.len()))?;
        for (number, machine) in machines.iter().enumerate() {
            let geometry = self.geometries.of(self.model, number);
            list.serialize_element(&SolidMachine::new(self.model, machine, geometry_view(&geometry)))?;
        }
        list.end()
    }
}

fn geometry_view(geometry: &Geometry) -> GeometryView<'_> {
    GeometryView {
        hyperplane: geometry
            .plane
            .as_ref()
            .map(|Plane { plane, canonical, margin }| HyperplaneView::new(plane, canonical.as_ref(), *margin)),
        conic: geometry.conic.as_ref().map(ConicView::from),
        hulls: geometry.hulls.as_ref().map(|Hulls { mu, ends, nearest }| {
            HullsView::new(*mu, nearest, ends.as_ref().map(|(positive, negative)| (&positive[..], &negative[..])))
        }),
        risk_bound: geometry
            .risk
            .as_ref()
            .map(|Risk { rho, bound, lambda, rows, found }| RiskView::new(found, *rho, *bound, *rows, *lambda)),
    }
}
