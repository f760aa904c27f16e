//! A projection, and Fisher's criterion over its angle.
//!
//! ```text
//! J(θ) = (m₊ − m₋)² / (s₊² + s₋²)   of the rows projected on (cos θ, sin θ)                            (V.7)
//! ```
//!
//! # References
//! R. A. Fisher, The use of multiple measurements in taxonomic problems, Annals of Eugenics 7, 1936.

use std::f64::consts::PI;

use maxmargin::data::generate::blobs;

use super::{Desk, place};
use crate::drawing::axis::{Axis, Range, short};
use crate::drawing::panel::{Look, Panel};
use crate::drawing::scene::{Pen, Rect, Scene};
use crate::error::Error;
use crate::kinds::regions::points;
use crate::numbers::Numbers;
use crate::rows::Mark;

/// Angles at which the criterion is computed.
const ANGLES: usize = 360;

/// Rows drawn twice: as points, and as ticks on the line that they are projected on.
pub(super) fn criterion(desk: &Desk<'_>) -> Result<(Scene, Numbers), Error> {
    let data = blobs(120, 0.7, 9)?;
    // Sheared, so that the best direction is not that of the means.
    let shear = |(x, y): (f64, f64)| (x + 1.6 * y, y);
    let rows: Vec<(f64, f64)> = (0..data.rows()).map(|row| shear(place(&data, row))).collect();
    let classes: Vec<u32> = (0..data.rows()).map(|row| (row % 2) as u32).collect();
    let of = |angle: f64| criterion_at(&rows, &classes, angle);
    let values: Vec<f64> = (0..=ANGLES).map(|k| of(PI * k as f64 / ANGLES as f64)).collect();
    let best = (0..ANGLES).max_by(|&a, &b| values[a].total_cmp(&values[b])).unwrap_or(0);
    let angle = PI * best as f64 / ANGLES as f64;
    let (a, b) = class_means(&rows, &classes);
    let of_means = (b.1 - a.1).atan2(b.0 - a.0).rem_euclid(PI);
    let (mut scene, body) = desk.begin(
        "Fisher's criterion over the angle of the projection",
        &format!(
            "best at {:.0}°: J = {} · along the means, {:.0}°: J = {}",
            angle.to_degrees(),
            short(values[best]),
            of_means.to_degrees(),
            short(of(of_means))
        ),
        &["J: the squared distance of the projected means over the sum of the projected variances"],
    );
    let theme = scene.theme;
    let cells = body.cells(2, 1, (30.0, 0.0));
    let size = cells[0].width() + 44.0;
    let (left, right) = (
        Rect { bottom: body.bottom.min(body.top + size), ..cells[0] },
        Rect { bottom: body.bottom.min(body.top + size), ..cells[1] },
    );
    let range = |of: fn(&(f64, f64)) -> f64| Range::around(rows.iter().map(of)).unwrap_or(Range::exactly(0.0, 1.0));
    let panel = Panel::new(
        left,
        Axis::new("x1", range(|row| row.0)),
        Axis::new("x2", range(|row| row.1).widened(1.5)),
        Look::Frame,
    )
    .squared();
    let marks: Vec<Mark> =
        rows.iter().zip(&classes).map(|(at, class)| Mark { at: *at, class: Some(*class), ring: None }).collect();
    points(&mut scene, &panel, &marks);
    let far = 100.0;
    for (angle, pen) in [(angle, Pen::new(theme.ink(), 2.0)), (of_means, Pen::new(theme.ink(), 1.3).dashed(6.0, 4.0))] {
        let (x, y) = (far * angle.cos(), far * angle.sin());
        panel.curve(&mut scene, [(-x, -y), (x, y)], pen);
    }
    // Where the rows fall on the best line.
    let (cos, sin) = (angle.cos(), angle.sin());
    let ticks: Vec<(u32, f64)> =
        rows.iter().zip(&classes).map(|(row, class)| (*class, row.0 * cos + row.1 * sin)).collect();
    panel.within(&mut scene, |scene| {
        for (class, along) in ticks {
            let (x, y) = panel.at(along * cos, along * sin);
            scene.line(
                vec![(x - 6.0 * sin, y - 6.0 * cos), (x + 6.0 * sin, y + 6.0 * cos)],
                Pen::new(theme.class(Some(class)), 1.2),
            );
        }
    });
    panel.finish(&mut scene);
    let degrees = (0..=6).map(|k| (f64::from(30 * k), format!("{}°", 30 * k))).collect();
    let most = values.iter().copied().fold(0.0, f64::max);
    let chart = Panel::new(
        right,
        Axis::named("angle of the projection", Range::exactly(0.0, 180.0), degrees),
        Axis::new("J", Range::exactly(0.0, 1.12 * most)),
        Look::Lines,
    );
    chart.begin(&mut scene);
    let curve = values.iter().enumerate().map(|(k, value)| (180.0 * k as f64 / ANGLES as f64, *value));
    chart.curve(&mut scene, curve, Pen::new(theme.class(Some(1)), 2.2));
    chart.finish(&mut scene);
    for (name, angle, fill) in [("best", angle, theme.ink()), ("means", of_means, theme.muted())] {
        let at = chart.at(angle.to_degrees(), of(angle));
        scene.disc(at, 4.5, fill);
        scene.note(name, at, theme.ink(), &chart.frame);
    }
    scene.trim(body.bottom, left.bottom);
    let mut numbers = Numbers::new(&["degrees", "criterion"]);
    for (k, value) in values.iter().enumerate() {
        numbers.push([(180.0 * k as f64 / ANGLES as f64).into(), (*value).into()]);
    }
    Ok((scene, numbers))
}

/// (V.7)
fn criterion_at(rows: &[(f64, f64)], classes: &[u32], angle: f64) -> f64 {
    let along = |row: &(f64, f64)| row.0 * angle.cos() + row.1 * angle.sin();
    let of = |wanted: u32| {
        let own: Vec<f64> =
            rows.iter().zip(classes).filter(|(_, class)| **class == wanted).map(|(row, _)| along(row)).collect();
        let mean = own.iter().sum::<f64>() / own.len() as f64;
        (mean, own.iter().map(|value| (value - mean).powi(2)).sum::<f64>() / own.len() as f64)
    };
    let ((a, u), (b, v)) = (of(0), of(1));
    (a - b).powi(2) / (u + v)
}

fn class_means(rows: &[(f64, f64)], classes: &[u32]) -> ((f64, f64), (f64, f64)) {
    let of = |wanted: u32| {
        let own: Vec<&(f64, f64)> =
            rows.iter().zip(classes).filter(|(_, class)| **class == wanted).map(|(row, _)| row).collect();
        let count = own.len() as f64;
        (own.iter().map(|row| row.0).sum::<f64>() / count, own.iter().map(|row| row.1).sum::<f64>() / count)
    };
    (of(0), of(1))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_criterion_is_largest_along_the_inverse_scatter_times_the_means() {
        // Variances 4 and 1 within each class, means apart by (2, 1): S⁻¹ m = (2/4, 1/1), whose angle is atan 2.
        let offsets = [(2.0, 1.0), (2.0, -1.0), (-2.0, 1.0), (-2.0, -1.0)];
        let rows: Vec<(f64, f64)> = offsets.into_iter().chain(offsets.map(|(x, y)| (x + 2.0, y + 1.0))).collect();
        let classes = [0, 0, 0, 0, 1, 1, 1, 1];
        let best = (0..18000)
            .map(|k| PI * f64::from(k) / 18000.0)
            .max_by(|a, b| criterion_at(&rows, &classes, *a).total_cmp(&criterion_at(&rows, &classes, *b)))
            .unwrap();
        assert!((best - 2f64.atan()).abs() < 1e-3, "{best}");
    }
}
