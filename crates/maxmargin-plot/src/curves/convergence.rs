//! How a solver approached its answer: the primal and the dual objective, which enclose the optimum, and how fast their distance shrinks.

use super::{axis_of, nothing};
use crate::contour::Point;
use crate::drawing::axis::{Axis, Range, short};
use crate::drawing::page::{self, Words};
use crate::drawing::panel::{Look, Panel};
use crate::drawing::scene::{Pen, Rect, Scene};
use crate::drawing::text::counted;
use crate::drawing::theme::Colour;
use crate::error::Error;
use crate::numbers::Numbers;
use crate::{Picture, PlotOptions};

/// What a solver knew after a step.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Convergence {
    /// Steps so far.
    pub iteration: u64,
    /// The primal objective: never below the optimum.
    pub primal: Option<f64>,
    /// The dual objective: never above the optimum.
    pub dual: Option<f64>,
    /// The duality gap.
    pub gap: Option<f64>,
    /// The largest violation of the optimality conditions.
    pub violation: Option<f64>,
}

/// Draws how a solver approached its answer.
///
/// # Errors
/// When no step says anything, or an option is out of range.
pub fn convergence(steps: &[Convergence], title: &str, options: &PlotOptions) -> Result<Picture, Error> {
    options.check()?;
    let of = |get: fn(&Convergence) -> Option<f64>| -> Vec<(f64, f64)> {
        let known = steps.iter().filter_map(|step| get(step).map(|value| (step.iteration as f64, value)));
        known.filter(|(_, value)| value.is_finite()).collect()
    };
    let (primal, dual) = (of(|step| step.primal), of(|step| step.dual));
    let (gap, violation) = (of(|step| step.gap), of(|step| step.violation));
    let objectives: Vec<f64> = primal.iter().chain(&dual).map(|(_, value)| *value).collect();
    let sizes: Vec<f64> = gap.iter().chain(&violation).map(|(_, value)| *value).filter(|value| *value > 0.0).collect();
    if objectives.is_empty() && sizes.is_empty() {
        return Err(nothing());
    }
    let last = steps.last().copied().unwrap_or_default();
    let mut facts = vec![counted(last.iteration as usize, "step")];
    facts.extend(gap.last().map(|(_, gap)| format!("gap {}", short(*gap))));
    facts.extend(violation.last().map(|(_, violation)| format!("violation {}", short(*violation))));
    let words = Words {
        title: title.to_string(),
        below: facts.join(" · "),
        caption: if primal.is_empty() || dual.is_empty() {
            Vec::new()
        } else {
            vec!["the optimum lies between the primal and the dual objective".into()]
        },
        description: format!("Objectives, gap and violation over {}.", counted(last.iteration as usize, "step")),
    };
    let (mut scene, body) = page::begin(options, &words);
    let theme = scene.theme;
    let (blue, red, green) = (theme.class(Some(1)), theme.class(Some(0)), theme.class(Some(2)));
    let rows = usize::from(!objectives.is_empty()) + usize::from(!sizes.is_empty());
    // Room for the curves' names at their right ends.
    let body = Rect { right: body.right - 78.0, ..body };
    let mut cells = body.cells(1, rows, (0.0, 10.0)).into_iter();
    let end = last.iteration.max(1) as f64;
    let x = |title: &str| Axis::new(title, Range::exactly(0.0, end));
    if !objectives.is_empty()
        && let Some(place) = cells.next()
    {
        // The first steps may be so far out that the end is a line: the range is that of the later nine tenths.
        let settled: Vec<f64> =
            primal.iter().chain(&dual).filter(|(k, _)| *k >= 0.04 * end).map(|(_, value)| *value).collect();
        let range =
            Range::around(settled.iter().copied()).or(Range::around(objectives.iter().copied())).ok_or_else(nothing)?;
        let panel =
            Panel::new(place, x(if rows == 1 { "step" } else { "" }), Axis::new("objective", range), Look::Lines);
        panel.begin(&mut scene);
        let curves = [("primal", &primal[..], red), ("dual", &dual[..], blue)];
        draw(&mut scene, &panel, &curves);
    }
    if !sizes.is_empty()
        && let Some(place) = cells.next()
    {
        let axis = axis_of("gap and violation", &sizes)?;
        let panel = Panel::new(place, x("step"), axis, Look::Lines);
        panel.begin(&mut scene);
        draw(&mut scene, &panel, &[("gap", &gap[..], theme.ink()), ("violation", &violation[..], green)]);
    }
    let mut numbers = Numbers::new(&["iteration", "primal", "dual", "gap", "violation"]);
    for step in steps {
        let iteration = step.iteration as f64;
        numbers.push([iteration.into(), step.primal.into(), step.dual.into(), step.gap.into(), step.violation.into()]);
    }
    Ok(Picture { scene, numbers })
}

/// Curves with their names at their ends.
fn draw(scene: &mut Scene, panel: &Panel, curves: &[(&str, &[Point], Colour)]) {
    for (_, points, colour) in curves {
        panel.curve(scene, points.iter().copied(), Pen::new(*colour, 1.8));
    }
    panel.finish(scene);
    let names = curves.iter().filter_map(|(name, points, colour)| {
        let &(x, y) = points.last()?;
        let at = panel.at(x, y);
        Some((*name, (at.0, at.1.clamp(panel.frame.top, panel.frame.bottom)), *colour))
    });
    let left = panel.frame.right + 6.0;
    let room = scene.width - page::EDGE / 2.0 - left;
    page::end_labels(scene, (left, panel.frame.bottom), room, &names.collect::<Vec<_>>());
}
