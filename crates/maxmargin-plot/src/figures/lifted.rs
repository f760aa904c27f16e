//! xor and rings, and the space of (x₁², √2 x₁x₂, x₂²) in which a plane separates them.

use std::f64::consts::SQRT_2;

use maxmargin::data::{Dataset, Matrix, generate};
use maxmargin::training::TrainingParams;

use super::{Desk, View, place};
use crate::contour::Point;
use crate::drawing::axis::short;
use crate::drawing::scene::{Anchor, NORMAL, Pen, Rect, Scene};
use crate::error::Error;
use crate::numbers::Numbers;

/// From where the space is looked at: turned about the upward axis, then tipped towards us.
const TURN: f64 = 0.62;
const TIP: f64 = 0.42;

/// xor, which a plane separates by the sign of `√2 x₁x₂`.
pub(super) fn xor(desk: &Desk<'_>) -> Result<(Scene, Numbers), Error> {
    draw(desk, "xor", "xor", TURN + 0.35)
}

/// Rings, which a plane separates by `x₁² + x₂²`.
pub(super) fn rings(desk: &Desk<'_>) -> Result<(Scene, Numbers), Error> {
    draw(desk, "rings", "Rings", TURN)
}

fn draw(desk: &Desk<'_>, set: &str, name: &str, turn: f64) -> Result<(Scene, Numbers), Error> {
    let (_, params) = desk.example("E8")?;
    let data = generate(set, 60, 8)?;
    let flat = desk.fit(&data, params.clone())?;
    let lifted: Vec<[f64; 3]> = (0..data.rows())
        .map(|row| {
            let (x, y) = place(&data, row);
            [x * x, SQRT_2 * x * y, y * y]
        })
        .collect();
    let numbers_of: Vec<f64> = lifted.concat();
    let space = Dataset::new(Matrix::dense(data.rows(), 3, numbers_of)?, data.labels()?.clone())?;
    let plane = desk.fit(&space, TrainingParams { kernel: maxmargin::KernelParams::Linear, ..params })?;
    let machine = &plane.machines()[0];
    let weights = machine.weights.clone().unwrap_or_else(|| vec![0.0; 3]);
    let (mut scene, body) = desk.begin(
        &format!("{name}: no line separates the classes, a plane in the lifted space does"),
        &format!(
            "{} · x₁² {} √2 x₁x₂ {} x₂² {} = 0",
            short(weights[0]),
            signed(weights[1]),
            signed(weights[2]),
            signed(machine.bias)
        ),
        &["left: hard margin with the quadratic kernel; right: each row at (x₁², √2 x₁x₂, x₂²), with the separating plane; pale rows lie behind it"],
    );
    let mut cells = body.cells(2, 1, (26.0, 0.0)).into_iter();
    let (left, right) = (cells.next().unwrap_or(body), cells.next().unwrap_or(body));
    let flat_panel = desk.panel(&mut scene, left, Some("as the rows are"), &View::new(&flat, &data))?;
    let right = Rect { bottom: flat_panel.bottom(), ..right };
    let classes: Vec<Option<u32>> = flat.codes(&data);
    let side = [weights[0], weights[1], weights[2], machine.bias];
    cube(&mut scene, right, &Solid { lifted: &lifted, classes: &classes, plane: side, turn });
    scene.trim(body.bottom, right.bottom);
    let mut numbers = Numbers::new(&["row", "x1_squared", "sqrt2_x1_x2", "x2_squared", "value"]);
    for (row, at) in lifted.iter().enumerate() {
        let value = (0..3).map(|k| side[k] * at[k]).sum::<f64>() + side[3];
        numbers.push([(row + 1).into(), at[0].into(), at[1].into(), at[2].into(), value.into()]);
    }
    Ok((scene, numbers))
}

fn signed(number: f64) -> String {
    if number < 0.0 { format!("− {}", short(-number)) } else { format!("+ {}", short(number)) }
}

/// Points and a plane in space.
struct Solid<'a> {
    lifted: &'a [[f64; 3]],
    classes: &'a [Option<u32>],
    plane: [f64; 4],
    turn: f64,
}

/// Draws a cube seen from outside, with the plane cut to it.
fn cube(scene: &mut Scene, place: Rect, solid: &Solid<'_>) {
    let theme = scene.theme;
    scene.text("in the lifted space", (place.left, place.top + 9.0), NORMAL, Anchor::Left, theme.ink());
    let bounds: Vec<(f64, f64)> = (0..3)
        .map(|k| {
            let values = solid.lifted.iter().map(|at| at[k]);
            values.fold((f64::MAX, f64::MIN), |(low, high), value| (low.min(value), high.max(value)))
        })
        .collect();
    let unit = |at: [f64; 3]| -> [f64; 3] {
        std::array::from_fn(|k| 2.0 * (at[k] - bounds[k].0) / (bounds[k].1 - bounds[k].0).max(1e-12) - 1.0)
    };
    // √2 x₁x₂ points upwards, and both squares lie flat.
    let turned = |u: [f64; 3]| {
        let (x, y, z) = (u[0], u[2], u[1]);
        let (sin, cos) = solid.turn.sin_cos();
        let (across, depth) = (cos * x - sin * y, sin * x + cos * y);
        (across, TIP.cos() * z + TIP.sin() * depth, TIP.cos() * depth - TIP.sin() * z)
    };
    let room = Rect { top: place.top + 24.0, bottom: place.bottom - 10.0, ..place };
    let scale = (room.width() / 3.1).min(room.height() / 3.2);
    let centre = (f64::midpoint(room.left, room.right), f64::midpoint(room.top, room.bottom));
    let at = |u: [f64; 3]| -> Point {
        let (x, y, _) = turned(u);
        (centre.0 + scale * x, centre.1 - scale * y)
    };
    let corner = |k: usize| [0, 1, 2].map(|axis| if k >> axis & 1 == 1 { 1.0 } else { -1.0 });
    let edges: Vec<(usize, usize)> = (0..8)
        .flat_map(|k| (0..3).filter(move |axis| k >> axis & 1 == 0).map(move |axis| (k, k | 1 << axis)))
        .collect();
    for &(a, b) in &edges {
        scene.line(vec![at(corner(a)), at(corner(b))], Pen::new(theme.faint(), 1.2));
    }
    // The plane in units of the cube.
    let scaled: [f64; 3] = std::array::from_fn(|k| solid.plane[k] * (bounds[k].1 - bounds[k].0) / 2.0);
    let offset = solid.plane[3] + (0..3).map(|k| solid.plane[k] * f64::midpoint(bounds[k].0, bounds[k].1)).sum::<f64>();
    let value = |u: [f64; 3]| scaled[0] * u[0] + scaled[1] * u[1] + scaled[2] * u[2] + offset;
    let mut cut: Vec<[f64; 3]> = Vec::new();
    for &(a, b) in &edges {
        let (p, q) = (corner(a), corner(b));
        let (f, g) = (value(p), value(q));
        if (f < 0.0) != (g < 0.0) {
            let t = f / (f - g);
            cut.push(std::array::from_fn(|k| p[k] + t * (q[k] - p[k])));
        }
    }
    let mut outline: Vec<Point> = cut.iter().map(|u| at(*u)).collect();
    let count = outline.len().max(1) as f64;
    let middle = outline.iter().fold((0.0, 0.0), |sum, point| (sum.0 + point.0 / count, sum.1 + point.1 / count));
    let angle = |point: &Point| (point.1 - middle.1).atan2(point.0 - middle.0);
    outline.sort_by(|a, b| angle(a).total_cmp(&angle(b)));
    // Which side of the plane is ours: that of a point far towards us.
    let towards = {
        let (sin, cos) = solid.turn.sin_cos();
        let (depth, up) = (-TIP.cos(), TIP.sin());
        [depth * sin, up, depth * cos]
    };
    let facing = scaled[0] * towards[0] + scaled[1] * towards[1] + scaled[2] * towards[2];
    let mut order: Vec<usize> = (0..solid.lifted.len()).collect();
    order.sort_by(|&a, &b| turned(unit(solid.lifted[b])).2.total_cmp(&turned(unit(solid.lifted[a])).2));
    let is_behind = |row: usize| value(unit(solid.lifted[row])) * facing < 0.0;
    for &row in order.iter().filter(|row| is_behind(**row)) {
        scene.marker(solid.classes[row], at(unit(solid.lifted[row])), 4.0);
    }
    if outline.len() > 2 {
        scene.glaze(outline.clone(), theme.paper(), 0.45);
        scene.glaze(outline.clone(), theme.ink(), 0.1);
        outline.push(outline[0]);
        scene.line(outline, Pen::new(theme.ink(), 1.6));
    }
    for &row in order.iter().filter(|row| !is_behind(**row)) {
        scene.marker(solid.classes[row], at(unit(solid.lifted[row])), 4.0);
    }
    let names = [
        ("x₁²", [1.0, -1.0, -1.0], [-1.0, -1.0, -1.0]),
        ("√2·x₁x₂", [-1.0, 1.0, -1.0], [-1.0, -1.0, -1.0]),
        ("x₂²", [-1.0, -1.0, 1.0], [-1.0, -1.0, -1.0]),
    ];
    for (name, end, start) in names {
        scene.arrow(at(start), at(end), Pen::new(theme.rule(), 1.6));
        scene.note(name, at(end), theme.ink(), &place);
    }
}
