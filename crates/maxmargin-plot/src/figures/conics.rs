//! Figures whose boundary is a conic: E3, E6.

use maxmargin::geometry::Conic;
use maxmargin::kernel::KernelParams;
use maxmargin::training::TrainingParams;

use super::{Desk, View, ranges};
use crate::drawing::axis::short;
use crate::drawing::scene::{Pen, Scene};
use crate::drawing::text::counted;
use crate::error::Error;
use crate::kinds::hulls::coefficients;
use crate::numbers::Numbers;

/// The ellipse that a quadratic kernel draws, with its centre and axes.
pub(super) fn ellipse(desk: &Desk<'_>) -> Result<(Scene, Numbers), Error> {
    let (data, params) = desk.example("E3")?;
    let model = desk.fit(&data, params)?;
    let own = coefficients(&model, data.rows());
    let conic = Conic::of_quadratic_kernel(data.matrix(), &own, 1.0, 1.0, model.machines()[0].bias)?;
    let (centre, axes) = (conic.centre().unwrap_or_default(), conic.semi_axes().unwrap_or_default());
    let turn = conic.orientation().unwrap_or(0.0);
    let (mut scene, body) = desk.begin(
        "The boundary of a quadratic kernel is a conic: here an ellipse",
        &format!(
            "centre ({}, {}) · semi-axes {} and {} · turned by {}°",
            short(centre[0]),
            short(centre[1]),
            short(axes[0]),
            short(axes[1]),
            short(turn.to_degrees().round())
        ),
        &["k(x, z) = (x·z + 1)², C = 4; dashed: f = ±1; ringed: support vectors"],
    );
    let (x, y) = ranges(&data);
    let ranges = Some((x.widened(1.25), y.widened(1.25)));
    let panel = desk.panel(&mut scene, body, None, &View { ranges, ..View::new(&model, &data) })?;
    let theme = scene.theme;
    let middle = panel.at(centre[0], centre[1]);
    for (k, name) in [(0usize, "longer"), (1, "shorter")] {
        let angle = turn + std::f64::consts::FRAC_PI_2 * k as f64;
        let end = |sign: f64| (centre[0] + sign * axes[k] * angle.cos(), centre[1] + sign * axes[k] * angle.sin());
        let colour = theme.class(Some(2 + k as u32));
        panel.curve(&mut scene, [end(-1.0), end(1.0)], Pen::new(colour, 1.8));
        let half = (f64::midpoint(centre[0], end(1.0).0), f64::midpoint(centre[1], end(1.0).1));
        let at = panel.at(half.0, half.1);
        scene.note(&format!("{name}: {}", short(axes[k])), at, theme.ink(), &panel.frame);
    }
    scene.disc(middle, 4.5, theme.ink());
    scene.note("centre", middle, theme.ink(), &panel.frame);
    let mut numbers = Numbers::new(&["coefficient", "value"]);
    for (name, value) in ["x1²", "x1 x2", "x2²", "x1", "x2", "1"].into_iter().zip(conic.coefficients()) {
        numbers.push([name.into(), value.into()]);
    }
    Ok((scene, numbers))
}

/// Iris on its first two principal components: a line is a poor boundary, a conic a good one.
pub(super) fn components(desk: &Desk<'_>) -> Result<(Scene, Numbers), Error> {
    let (data, quadratic) = desk.example("E6")?;
    let linear = TrainingParams { kernel: KernelParams::Linear, ..quadratic.clone() };
    let (mut scene, body) = desk.begin(
        "Iris on its first two principal components",
        "versicolor lies between the other two species: a line cannot tell it from them, a conic can",
        &["C = 10, folded bias; dashed: f = ±1; ringed: support vectors"],
    );
    let mut used = body.top;
    let mut numbers = Numbers::new(&["kernel", "training_errors", "support_vectors"]);
    for (cell, (name, params)) in
        body.cells(2, 1, (26.0, 0.0)).into_iter().zip([("linear", linear), ("quadratic", quadratic)])
    {
        let model = desk.fit(&data, params)?;
        let (errors, support) = (model.machines()[0].training_errors, model.parts().support_rows.len());
        let heading = format!("{name} kernel: {}", counted(errors, "error"));
        used = used.max(desk.panel(&mut scene, cell, Some(&heading), &View::new(&model, &data))?.bottom());
        numbers.push([name.into(), errors.into(), support.into()]);
    }
    scene.trim(body.bottom, used);
    Ok((scene, numbers))
}
