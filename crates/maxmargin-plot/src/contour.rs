//! Marching squares: the outlines of regions given by their class at the nodes of a grid over the unit square.
//!
//! ```text
//! 3 ── e2 ── 2      A cell's corners, counter-clockwise, and its edges. An edge whose ends differ in class is cut by the
//! │          │      outline at one point. A cell with two runs of equal corners is cut by one straight leg; a cell with
//! e3        e1      more runs (a saddle, or three classes that meet) by legs through its middle, so that neighbours fit
//! │          │      without a gap.
//! 0 ── e0 ── 1
//! ```
//!
//! The lines f = level are the outline between the classes `f ≤ level` and `f > level`, with each cut interpolated
//!
//! ```text
//! t = (level − a) / (b − a)                                              (V.1)
//! ```
//!
//! Cost: O(nodes).
//!
//! # References
//! W. E. Lorensen, H. E. Cline, Marching cubes: a high resolution 3D surface construction algorithm, SIGGRAPH 1987.

use std::collections::BTreeMap;

/// A point of the unit square.
pub type Point = (f64, f64);

/// The class of nodes that have none: outside of the grid, or without a decision value.
pub const NONE: u32 = u32::MAX;

/// One closed outline of a region. The region is to the left of each leg.
#[derive(Clone, Debug)]
pub struct Outline {
    /// The region's class.
    pub class: u32,
    /// The corners; a leg goes from each to the next, and from the last to the first.
    pub points: Vec<Point>,
    /// The class on the other side of each leg.
    pub others: Vec<u32>,
}

impl Outline {
    /// The signed area: positive for an outer outline, negative for that of a hole.
    pub fn area(&self) -> f64 {
        let next = self.points.iter().cycle().skip(1);
        self.points.iter().zip(next).map(|(a, b)| a.0 * b.1 - b.0 * a.1).sum::<f64>() / 2.0
    }
}

/// What one cell adds to an outline: from one cut edge to another, perhaps through the middle.
struct Segment {
    end: usize,
    middle: Option<Point>,
    others: (u32, u32),
}

/// The grid with a frame of nodes of no class around it, which closes every outline.
struct Framed<'a> {
    columns: usize,
    rows: usize,
    classes: &'a [u32],
}

impl Framed<'_> {
    /// The node of the grid at a place of the frame, if it is one.
    fn node(&self, (i, j): (usize, usize)) -> Option<usize> {
        let inside = (1..=self.columns).contains(&i) && (1..=self.rows).contains(&j);
        inside.then(|| (j - 1) * self.columns + i - 1)
    }

    fn class(&self, place: (usize, usize)) -> u32 {
        self.node(place).map_or(NONE, |node| self.classes[node])
    }

    /// The frame has no width: its nodes lie on the border.
    fn point(&self, (i, j): (usize, usize)) -> Point {
        let unit = |k: usize, last: usize| k.saturating_sub(1).min(last) as f64 / last as f64;
        (unit(i, self.columns - 1), unit(j, self.rows - 1))
    }

    /// The number of an edge by its lower left end and its direction.
    fn edge(&self, a: (usize, usize), b: (usize, usize)) -> usize {
        let (i, j) = a.min(b);
        2 * (j * (self.columns + 2) + i) + usize::from(a.0 == b.0)
    }

    /// Where the outline cuts an edge.
    fn cut(&self, edge: usize, crossing: &dyn Fn(usize, usize) -> f64) -> Point {
        let (i, j) = ((edge / 2) % (self.columns + 2), (edge / 2) / (self.columns + 2));
        let (a, b) = ((i, j), if edge % 2 == 1 { (i, j + 1) } else { (i + 1, j) });
        let (p, q) = (self.point(a), self.point(b));
        match (self.node(a), self.node(b)) {
            (Some(from), Some(to)) => {
                let t = crossing(from, to);
                let t = if t.is_finite() { t.clamp(0.0, 1.0) } else { 0.5 };
                (p.0 + t * (q.0 - p.0), p.1 + t * (q.1 - p.1))
            }
            _ => p, // the frame has no width: both ends are one point
        }
    }
}

/// The outlines of all regions of a grid of `columns × rows` nodes, row after row from the bottom.
///
/// `crossing(a, b)` says where between the nodes a and b, of different classes, the outline runs: 0 at a, 1 at b.
///
/// # Panics
/// When there are fewer than two columns or rows, or not a class for each node.
pub fn outlines(
    (columns, rows): (usize, usize),
    classes: &[u32],
    crossing: &dyn Fn(usize, usize) -> f64,
) -> Vec<Outline> {
    let is_grid = columns >= 2 && rows >= 2 && classes.len() == columns * rows;
    assert!(is_grid, "a grid of {columns} x {rows} nodes");
    let grid = Framed { columns, rows, classes };
    let mut segments = BTreeMap::new();
    for j in 0..=rows {
        for i in 0..=columns {
            cell(&grid, (i, j), &mut segments);
        }
    }
    let mut found = Vec::new();
    while let Some(((class, start), mut segment)) = segments.pop_first() {
        let mut outline = Outline { class, points: vec![grid.cut(start, crossing)], others: vec![segment.others.0] };
        loop {
            if let Some(middle) = segment.middle {
                outline.points.push(middle);
                outline.others.push(segment.others.1);
            }
            // The last segment ends where the first began.
            let Some(next) = segments.remove(&(class, segment.end)) else { break };
            outline.points.push(grid.cut(segment.end, crossing));
            outline.others.push(next.others.0);
            segment = next;
        }
        found.push(outline);
    }
    found
}

/// Adds the segments of one cell, by class and first edge.
fn cell(grid: &Framed<'_>, (i, j): (usize, usize), segments: &mut BTreeMap<(u32, usize), Segment>) {
    let corners = [(i, j), (i + 1, j), (i + 1, j + 1), (i, j + 1)];
    let classes = corners.map(|corner| grid.class(corner));
    let edge = |k: usize| grid.edge(corners[k % 4], corners[(k + 1) % 4]);
    let starts: Vec<usize> = (0..4).filter(|&k| classes[k] != classes[(k + 3) % 4]).collect();
    // A cell of the frame has no width, so its legs run along the border, beside no other class.
    let framing = corners.iter().any(|&corner| grid.node(corner).is_none());
    let middle = (starts.len() > 2 && !framing).then(|| {
        let (a, c) = (grid.point(corners[0]), grid.point(corners[2]));
        ((a.0 + c.0) / 2.0, (a.1 + c.1) / 2.0)
    });
    for &start in starts.iter().filter(|&&start| classes[start] != NONE) {
        let length = (1..4).take_while(|k| classes[(start + k) % 4] == classes[start]).count() + 1;
        let others = if framing { (NONE, NONE) } else { (classes[(start + length) % 4], classes[(start + 3) % 4]) };
        let segment = Segment { end: edge(start + 3), middle, others };
        segments.insert((classes[start], edge(start + length - 1)), segment);
    }
}

/// The lines between regions, each drawn once; a closed line ends at its first point.
pub fn boundaries(outlines: &[Outline]) -> Vec<Vec<Point>> {
    let mut lines = Vec::new();
    for outline in outlines {
        let count = outline.points.len();
        let kept = |leg: usize| outline.others[leg % count] > outline.class && outline.others[leg % count] != NONE;
        // Begin after a leg that is left out, so that no line is cut in two.
        let first = (0..count).find(|&leg| !kept(leg)).map_or(0, |leg| leg + 1);
        let mut line: Vec<Point> = Vec::new();
        for leg in first..first + count {
            if kept(leg) {
                if line.is_empty() {
                    line.push(outline.points[leg % count]);
                }
                line.push(outline.points[(leg + 1) % count]);
            } else if !line.is_empty() {
                lines.push(std::mem::take(&mut line));
            }
        }
        if !line.is_empty() {
            lines.push(line);
        }
    }
    lines
}

/// Where f meets a level between two nodes, (V.1), without overflow.
pub fn interpolate(a: f64, b: f64, level: f64) -> f64 {
    let t = (level - a) / (b - a);
    if t.is_finite() && (b - a).is_finite() { t } else { (level / 2.0 - a / 2.0) / (b / 2.0 - a / 2.0) }
}

/// The lines f = level of a grid of values; nodes that are no number are left out.
///
/// # Panics
/// As [`outlines`].
pub fn level_lines(size: (usize, usize), values: &[f64], level: f64) -> Vec<Vec<Point>> {
    let class = |value: &f64| if value.is_nan() { NONE } else { u32::from(*value > level) };
    let classes: Vec<u32> = values.iter().map(class).collect();
    boundaries(&outlines(size, &classes, &|a, b| interpolate(values[a], values[b], level)))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn values(side: usize, f: impl Fn(f64, f64) -> f64) -> Vec<f64> {
        let unit = |k: usize| k as f64 / (side - 1) as f64;
        (0..side * side).map(|node| f(unit(node % side), unit(node / side))).collect()
    }

    #[test]
    fn a_circle_is_one_closed_line_at_its_radius() {
        let circle = values(101, |x, y| (x - 0.5).powi(2) + (y - 0.45).powi(2));
        let lines = level_lines((101, 101), &circle, 0.09);
        assert_eq!(lines.len(), 1);
        assert_eq!(lines[0].first(), lines[0].last());
        for (x, y) in &lines[0] {
            assert!(((x - 0.5).hypot(y - 0.45) - 0.3).abs() < 1e-4, "({x}, {y})");
        }
        // The negative control: another level is another circle.
        let (x, y) = level_lines((101, 101), &circle, 0.04)[0][0];
        assert!(((x - 0.5).hypot(y - 0.45) - 0.3).abs() > 0.05);
    }

    #[test]
    fn the_line_of_a_linear_function_is_exact_and_goes_from_border_to_border() {
        let lines = level_lines((11, 11), &values(11, |x, y| x + 2.0 * y), 1.23);
        assert_eq!(lines.len(), 1);
        for (x, y) in &lines[0] {
            assert!((x + 2.0 * y - 1.23).abs() < 1e-12);
        }
        let ends = [lines[0][0], lines[0][lines[0].len() - 1]];
        assert!(ends.iter().all(|(x, y)| [*x, *y].iter().any(|side| *side < 1e-12 || *side > 1.0 - 1e-12)), "{ends:?}");
    }

    #[test]
    fn regions_tile_the_square_whatever_the_classes() {
        // A fixed sequence that has no pattern: saddles and meetings of many classes abound.
        let mut state = 1u32;
        let mut next = move || {
            state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            state >> 30
        };
        for side in [2, 3, 4, 9] {
            let classes: Vec<u32> = (0..side * side).map(|_| next()).collect();
            let area: f64 = outlines((side, side), &classes, &|_, _| 0.3).iter().map(Outline::area).sum();
            assert!((area - 1.0).abs() < 1e-12, "side {side}: {area}");
        }
    }

    #[test]
    fn a_grid_may_be_wider_than_high() {
        let unit = |k: usize, last: usize| k as f64 / last as f64;
        let values: Vec<f64> = (0..7 * 4).map(|node| unit(node % 7, 6) + 2.0 * unit(node / 7, 3)).collect();
        let lines = level_lines((7, 4), &values, 1.3);
        assert_eq!(lines.len(), 1);
        assert!(lines[0].iter().all(|(x, y)| (x + 2.0 * y - 1.3).abs() < 1e-12), "{lines:?}");
    }

    #[test]
    fn a_region_inside_another_makes_a_hole_of_negative_area() {
        let classes: Vec<u32> =
            values(5, |x, y| f64::from(u8::from(x == 0.5 && y == 0.5))).iter().map(|&v| v as u32).collect();
        let found = outlines((5, 5), &classes, &|_, _| 0.5);
        let areas: Vec<(u32, bool)> = found.iter().map(|outline| (outline.class, outline.area() > 0.0)).collect();
        assert_eq!(areas, [(0, true), (0, false), (1, true)]);
        assert_eq!(boundaries(&found).len(), 1);
    }

    #[test]
    fn values_that_are_no_numbers_or_infinite_do_no_harm() {
        assert!(level_lines((3, 3), &[f64::NAN; 9], 0.0).is_empty());
        let mut mixed = values(4, |x, _| x - 0.5);
        mixed[5] = f64::INFINITY;
        mixed[9] = f64::NAN;
        mixed[0] = -f64::MAX;
        mixed[1] = f64::MAX;
        for line in level_lines((4, 4), &mixed, 0.0) {
            assert!(line.iter().all(|(x, y)| (0.0..=1.0).contains(x) && (0.0..=1.0).contains(y)));
        }
        assert_eq!(interpolate(-f64::MAX, f64::MAX, 0.0), 0.5);
    }
}
