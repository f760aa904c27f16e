//! Pictures of searches and of paths: what they show is what the search found, and their words keep apart.
#![allow(clippy::unwrap_used)] // all of this file is tests

use maxmargin::data::{Dataset, embedded, generate};
use maxmargin::kernel::{Gamma, KernelParams};
use maxmargin::tuning::{Axis, Choose, Grid as Cells, GridPart, Metric, SearchParams, Splits, Tuned};
use maxmargin::view::TunedView;
use maxmargin::{TrainingParams, Unattended, Workers};
use maxmargin_plot::{
    Format, Grid, GridCell, GridPanel, Mark, ParameterPath, PathCurve, Picture, PlotOptions, Quantity, SearchKind,
    Theme, grid, path, plot_search,
};

fn part(kernel: KernelParams, axes: &str) -> GridPart {
    GridPart { kernel, axes: Axis::read_all(axes).unwrap() }
}

fn rbf() -> KernelParams {
    KernelParams::Rbf { gamma: Gamma::Scale }
}

fn polynomial() -> KernelParams {
    KernelParams::Polynomial { gamma: Gamma::Scale, coef0: 1.0, degree: 2 }
}

fn search(data: &Dataset, parts: Vec<GridPart>) -> Tuned {
    SearchParams {
        training: TrainingParams::default(),
        grid: Cells { parts },
        splits: Splits::of_data(data, 4, 1, 0).unwrap(),
        metric: Metric::Accuracy,
        abandon: true,
        tables: true,
        seed: 0,
    }
    .check()
    .unwrap()
    .run(data, &Workers::none(), &mut Unattended)
    .unwrap()
}

/// The numbers of a picture: rows of cells.
fn table(picture: &Picture) -> Vec<Vec<String>> {
    picture.numbers().csv().lines().skip(1).map(|line| line.split(',').map(String::from).collect()).collect()
}

/// A picture is drawn in both themes and three sizes, small, with its names, and without words that hide each other.
fn check(what: &str, of: &dyn Fn(&PlotOptions) -> Picture) {
    for theme in Theme::ALL {
        for (width, height) in [(760, 560), (400, 300), (1400, 500)] {
            let options = PlotOptions { theme, width, height, ..PlotOptions::default() };
            let picture = of(&options);
            assert_eq!(picture.clashes(), Vec::<String>::new(), "{what}, {theme:?}, {width} x {height}");
            let svg = String::from_utf8(picture.bytes(Format::Svg).unwrap()).unwrap();
            assert!(svg.contains("<title>") && svg.contains("<desc>") && !svg.contains("NaN"), "{what}");
            assert!(svg.len() < 400_000, "{what}: {} bytes", svg.len());
            assert!(picture.numbers().rows() > 0, "{what}");
        }
        let options = PlotOptions { theme, ..PlotOptions::default() };
        assert!(of(&options).bytes(Format::Png).unwrap().starts_with(b"\x89PNG"));
    }
}

#[test]
fn searches_of_every_shape_are_drawn() {
    let (iris, moons) = (embedded("iris").unwrap(), generate("moons", 100, 3).unwrap());
    let cases = [
        ("rbf", search(&iris, vec![part(rbf(), "C=0.1:1000:9,gamma=0.01:10:9")])),
        ("linear", search(&iris, vec![part(KernelParams::Linear, "C=0.1:100:4")])),
        ("one cell", search(&iris, vec![part(rbf(), "C=1,gamma=0.5")])),
        (
            "several kernels",
            search(
                &moons,
                vec![
                    part(rbf(), "C=0.1:100:4,gamma=0.1:10:3"),
                    part(KernelParams::Linear, "C=0.1:100:4"),
                    part(polynomial(), "C=0.1:10:3,gamma=0.1,1,degree=2,3,4"),
                ],
            ),
        ),
        ("many panels", search(&moons, vec![part(polynomial(), "C=1,10,gamma=0.1,1,degree=1,2,3,coef0=0.1,0.5,1")])),
    ];
    for (what, tuned) in &cases {
        let view = TunedView::new(tuned, Choose::Best, false);
        for kind in SearchKind::ALL {
            if kind.suits(&view) {
                check(&format!("{what}: {}", kind.name()), &|options| plot_search(kind, &view, options).unwrap());
            } else {
                let error = plot_search(kind, &view, &PlotOptions::default()).unwrap_err();
                assert!(!error.help().is_empty(), "{what}: {error}");
            }
        }
        assert!(SearchKind::Grid.suits(&view) && !SearchKind::Learning.suits(&view), "{what}");
    }
    assert!(SearchKind::ALL.iter().all(|kind| SearchKind::named(kind.name()) == Some(*kind)));
}

#[test]
fn a_grid_shows_every_cell_with_its_score_and_how_it_came_about() {
    let data = generate("moons", 200, 1).unwrap();
    let tuned = search(&data, vec![part(rbf(), "C=0.01:10000:8,gamma=0.01:100:6")]);
    let view = TunedView::new(&tuned, Choose::Best, false);
    let shown = table(&plot_search(SearchKind::Grid, &view, &PlotOptions::default()).unwrap());
    assert_eq!(shown.len(), 48);
    let (mut abandoned, mut copies) = (0, 0);
    for (cell, row) in tuned.cells.iter().zip(&shown) {
        let values: Vec<f64> = cell.setting.values.iter().map(|(_, value)| *value).collect();
        assert_eq!((row[1].parse(), row[2].parse()), (Ok(values[0]), Ok(values[1])));
        assert_eq!(row[3].parse::<f64>().ok(), cell.mean);
        abandoned += usize::from(row[4] == "abandoned");
        copies += usize::from(row[4] == "copy");
        let near = cell.behind.is_some_and(|(behind, se)| behind <= se);
        assert_eq!(row[5] == "yes", near, "{cell:?}");
    }
    assert_eq!((abandoned, copies), (tuned.counts.abandoned, tuned.counts.same));
    assert!(abandoned > 0 && copies > 0, "{:?}", tuned.counts);
}

#[test]
fn a_view_that_was_written_and_read_is_drawn_the_same() {
    let data = generate("moons", 100, 1).unwrap();
    let tuned = search(&data, vec![part(rbf(), "C=0.1:100:4,gamma=0.1:10:3")]);
    let view = TunedView::new(&tuned, Choose::OneSe, true);
    let text = serde_json::to_string(&view).unwrap();
    let read: TunedView<'_> = serde_json::from_str(&text).unwrap();
    for kind in [SearchKind::Grid, SearchKind::Path, SearchKind::Work] {
        let bytes = |view: &TunedView<'_>| {
            plot_search(kind, view, &PlotOptions::default()).unwrap().bytes(Format::Svg).unwrap()
        };
        assert!(bytes(&view) == bytes(&read), "{}", kind.name());
    }
    assert_eq!(serde_json::to_string(&read).unwrap(), text);
}

#[test]
fn a_path_shows_the_cells_of_the_best_gamma_in_the_order_of_their_c() {
    let data = generate("moons", 150, 1).unwrap();
    let tuned = search(&data, vec![part(rbf(), "C=100,0.1,1,gamma=0.5,2")]);
    let view = TunedView::new(&tuned, Choose::Best, false);
    let shown = table(&plot_search(SearchKind::Path, &view, &PlotOptions::default()).unwrap());
    let of = |curve: &str| -> Vec<(f64, f64)> {
        shown
            .iter()
            .filter(|row| row[2] == curve)
            .map(|row| (row[0].parse().unwrap(), row[3].parse().unwrap()))
            .collect()
    };
    let best = tuned.cells[tuned.best.unwrap()].setting.values[0];
    let same: Vec<_> =
        tuned.cells.iter().filter(|cell| cell.setting.values[0] == best && cell.mean.is_some()).collect();
    let expected: Vec<(f64, f64)> = same.iter().map(|cell| (cell.setting.values[1].1, cell.mean.unwrap())).collect();
    assert_eq!(of("held out"), expected);
    assert!(of("held out").is_sorted_by(|a, b| a.0 < b.0));
    let support: Vec<f64> = same.iter().map(|cell| cell.support().unwrap()).collect();
    assert_eq!(of("all").into_iter().map(|(_, value)| value).collect::<Vec<_>>(), support);
}

#[test]
fn the_scale_of_a_grid_is_not_spoilt_by_one_bad_cell_and_losses_are_turned_round() {
    let cell = |x: f64, score: f64| GridCell { at: (x, 1.0), score: Some(score), ..GridCell::default() };
    let drawn = |scores: [f64; 4], smaller_is_better: bool| {
        let cells = scores.iter().enumerate().map(|(k, &score)| cell(k as f64, score)).collect();
        let panel = GridPanel { heading: String::new(), parameters: ("x".into(), "y".into()), cells };
        let found = Grid { panels: vec![panel], smaller_is_better, score: "score".into(), ..Grid::default() };
        let bytes = grid(&found, &PlotOptions::default()).unwrap().bytes(Format::Svg).unwrap();
        String::from_utf8(bytes).unwrap()
    };
    // Each cell is followed by its number, so that it has a group of its own.
    let fills = |svg: &str| -> Vec<String> {
        let groups = svg.lines().filter(|line| line.starts_with("<g fill=") && line.len() == 18);
        groups.take(4).map(String::from).collect()
    };
    let far = fills(&drawn([0.9, 0.8, 0.7, -5000.0], false));
    assert!(far[0] != far[1] && far[1] != far[2], "{far:?}");
    assert_eq!(fills(&drawn([1.0, 2.0, 3.0, 4.0], false)), fills(&drawn([4.0, 3.0, 2.0, 1.0], true)));
    assert_ne!(fills(&drawn([1.0, 2.0, 3.0, 4.0], false)), fills(&drawn([1.0, 2.0, 3.0, 4.0], true)));
}

#[test]
fn marks_and_missing_cells_are_drawn_and_nothing_is_refused() {
    let marks = [Mark::None, Mark::Copy, Mark::Abandoned];
    let cells: Vec<GridCell> = (0..12)
        .map(|k| GridCell {
            at: (f64::from(k % 4), f64::from(k / 4)),
            score: (k % 3 != 2).then_some(f64::from(k) / 12.0),
            mark: marks[k as usize % 3],
            is_near: k > 8,
        })
        .collect();
    let panel = GridPanel { heading: "a".into(), parameters: ("gamma".into(), "C".into()), cells };
    let found = Grid {
        title: "A title that is rather long, and goes on for some time to see whether it is cut ".repeat(3),
        score: "accuracy".into(),
        panels: vec![panel.clone(), panel],
        best: Some((1, 10)),
        ..Grid::default()
    };
    check("marks", &|options| grid(&found, options).unwrap());
    for (empty, what) in [
        (grid(&Grid::default(), &PlotOptions::default()), "grid"),
        (path(&ParameterPath::default(), &PlotOptions::default()), "path"),
    ] {
        assert_eq!(empty.unwrap_err().to_string(), "there are no numbers that say how far the axes reach", "{what}");
    }
}

#[test]
fn curves_with_bands_names_and_gaps_are_drawn() {
    let powers: [f64; 5] = [0.01, 0.1, 1.0, 10.0, 100.0];
    let numbers = |of: fn(f64) -> f64| powers.iter().map(|&c| of(c)).collect::<Vec<f64>>();
    let curve = |name: &str, values: Vec<f64>, bands: Vec<f64>| PathCurve { name: name.into(), values, bands };
    let mut training = numbers(|c| 0.9 + c.log10() / 30.0);
    training[2] = f64::NAN;
    let held_out = numbers(|c| 0.8 + c.log10() / 30.0);
    let found = ParameterPath {
        title: "path".into(),
        parameter: "C".into(),
        at: powers.to_vec(),
        quantities: vec![
            Quantity {
                name: "accuracy".into(),
                curves: vec![curve("held out", held_out, vec![0.02; 5]), curve("training", training, Vec::new())],
            },
            Quantity::of("margin", numbers(|c| 1.0 / c)),
            Quantity::of("nothing is known of this one", numbers(|_| f64::NAN)),
            Quantity::of("norm", numbers(f64::sqrt)),
        ],
        chosen: Some(1.0),
        ..ParameterPath::default()
    };
    check("path", &|options| path(&found, options).unwrap());
}
