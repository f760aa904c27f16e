//! Every kind of picture, and every figure: what they show is held against naive computations, and their words keep apart.
#![allow(clippy::unwrap_used)] // all of this file is tests

use maxmargin::calibration::CalibrationParams;
use maxmargin::data::{Dataset, Label, Labels, Matrix, ScalingKind, embedded, generate};
use maxmargin::kernel::{Gamma, KernelParams};
use maxmargin::model::{Model, Multiclass};
use maxmargin::problem::{Loss, Task};
use maxmargin::solver::SolverKind;
use maxmargin::training::{Penalty, TrainingParams};
use maxmargin::{Unattended, Workers};
use maxmargin_plot::{
    Convergence, FIGURES, Format, Kind, Learning, Picture, PlotOptions, Theme, convergence, learning, plot,
};

fn smo() -> TrainingParams {
    TrainingParams { solver: Some(SolverKind::Smo), ..TrainingParams::default() }
}

fn rbf() -> TrainingParams {
    TrainingParams { kernel: KernelParams::Rbf { gamma: Gamma::Scale }, ..smo() }
}

fn fit(data: &Dataset, params: TrainingParams) -> Model {
    params.check().unwrap().fit(data, &Workers::none(), &mut Unattended).unwrap()
}

fn draw(kind: Kind, model: &Model, data: &Dataset) -> Picture {
    plot(kind, model, Some(data), &PlotOptions::default(), &Workers::none()).unwrap()
}

/// The numbers of a picture: rows of cells.
fn table(picture: &Picture) -> Vec<Vec<String>> {
    picture.numbers().csv().lines().skip(1).map(|line| line.split(',').map(String::from).collect()).collect()
}

fn number(cell: &str) -> f64 {
    cell.parse().unwrap()
}

/// A regression: y = x² with a little noise that is the same each time.
fn parabola(rows: usize, columns: usize) -> Dataset {
    let mut state = 7u32;
    let mut noise = || {
        state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        f64::from(state >> 8) / f64::from(1 << 24) - 0.5
    };
    let (mut numbers, mut targets) = (Vec::new(), Vec::new());
    for _ in 0..rows {
        let row: Vec<f64> = (0..columns).map(|_| 4.0 * noise()).collect();
        targets.push(row[0] * row[0] + 0.3 * noise());
        numbers.extend(row);
    }
    Dataset::new(Matrix::dense(rows, columns, numbers).unwrap(), targets).unwrap()
}

fn regression(data: &Dataset) -> Model {
    fit(data, TrainingParams { task: Task::Regression { epsilon: 0.1 }, penalty: Penalty::C(10.0), ..rbf() })
}

/// A picture is drawn in both themes, twice the same, small, with its names, and without words that hide each other.
fn check(what: &str, of: &dyn Fn(&PlotOptions) -> Picture) {
    for theme in Theme::ALL {
        let options = PlotOptions { theme, ..PlotOptions::default() };
        let picture = of(&options);
        assert_eq!(picture.clashes(), Vec::<String>::new(), "{what}, {theme:?}");
        let svg = String::from_utf8(picture.bytes(Format::Svg).unwrap()).unwrap();
        assert!(svg.contains("<title>") && svg.contains("<desc>"), "{what}");
        assert!(!svg.contains("NaN") && !svg.contains("<desc></desc>"), "{what}");
        assert!(svg.len() < 400_000, "{what}: {} bytes", svg.len());
        assert!(picture.numbers().rows() > 0, "{what}");
        assert!(picture.bytes(Format::Png).unwrap().starts_with(b"\x89PNG"));
        if theme == Theme::Light {
            assert!(svg.as_bytes() == of(&options).bytes(Format::Svg).unwrap(), "{what} differs the second time");
        }
    }
}

#[test]
fn every_kind_is_drawn_in_both_themes() {
    let (iris, e1, e2) = (embedded("iris").unwrap(), embedded("e1").unwrap(), embedded("e2").unwrap());
    let workers = Workers::none();
    let many = fit(&iris, TrainingParams { scaling: ScalingKind::Standard, ..rbf() });
    let training = TrainingParams { positive: Some(Label::new("virginica")), ..rbf() }.check().unwrap();
    let two = training.fit(&iris, &workers, &mut Unattended).unwrap();
    let how = CalibrationParams::default();
    let two = training.calibrate(&two, &iris, how, &workers, &mut Unattended).unwrap().continue_value().unwrap();
    let (one, wide) = (parabola(80, 1), parabola(80, 3));
    let cases: Vec<(Kind, Model, &Dataset)> = vec![
        (Kind::Regions, many.clone(), &iris),
        (Kind::Margins, two.clone(), &iris),
        (Kind::Margins, many.clone(), &iris),
        (Kind::Roc, two.clone(), &iris),
        (Kind::Roc, many.clone(), &iris),
        (Kind::Calibration, two.clone(), &iris),
        (Kind::Confusion, many.clone(), &iris),
        (Kind::Hulls, fit(&e1, smo()), &e1),
        (Kind::Hulls, fit(&e2, smo()), &e2),
        (Kind::Tube, regression(&one), &one),
        (Kind::Tube, regression(&wide), &wide),
        (Kind::Residuals, regression(&wide), &wide),
        (Kind::Why, two, &iris),
        (Kind::Why, many, &iris),
        (Kind::Why, regression(&wide), &wide),
    ];
    for (kind, model, data) in &cases {
        check(kind.name(), &|options| plot(*kind, model, Some(data), options, &workers).unwrap());
    }
    assert!(Kind::ALL.iter().all(|kind| cases.iter().any(|case| case.0 == *kind)), "a kind is not drawn");
    assert!(Kind::ALL.iter().all(|kind| Kind::named(kind.name()) == Some(*kind)));
}

#[test]
fn plain_numbers_are_drawn_in_both_themes() {
    let steps: Vec<Convergence> = (0..60)
        .map(|k| {
            let gap = 0.7f64.powi(k);
            let (primal, dual) = (Some(3.0 + gap * 0.8), Some(3.0 - gap * 0.2));
            Convergence { iteration: k as u64 + 1, primal, dual, gap: Some(gap), violation: Some(gap / 2.0) }
        })
        .collect();
    check("convergence", &|options| convergence(&steps, "Convergence", options).unwrap());
    let found = Learning {
        title: "learning".into(),
        score: "accuracy".into(),
        rows: vec![20, 40, 80, 160],
        training: vec![(1.0, 0.0), (0.99, 0.01), (0.98, 0.01), (0.975, 0.005)],
        validation: vec![(0.8, 0.08), (0.88, 0.05), (0.93, 0.02), (0.95, 0.01)],
    };
    check("learning", &|options| learning(&found, options).unwrap());
    for empty in
        [convergence(&[], "", &PlotOptions::default()), learning(&Learning::default(), &PlotOptions::default())]
    {
        assert_eq!(empty.unwrap_err().to_string(), "there are no numbers that say how far the axes reach");
    }
}

#[test]
fn every_figure_of_the_textbooks_is_drawn_in_both_themes() {
    for figure in FIGURES {
        check(figure.name, &|options| figure.draw(options, &Workers::none()).unwrap());
    }
}

#[test]
fn margins_are_those_of_the_predictions() {
    let iris = embedded("iris").unwrap();
    for multiclass in [Multiclass::OneVsOne, Multiclass::OneVsRest] {
        let model = fit(&iris, TrainingParams { multiclass: Some(multiclass), ..rbf() });
        let predictions = model.predict(&iris, &Workers::none()).unwrap();
        let codes = model.codes(&iris);
        for (row, cells) in table(&draw(Kind::Margins, &model, &iris)).iter().enumerate() {
            let values = predictions.decision_values(row);
            let own = codes[row].unwrap() as usize;
            let naive = match multiclass {
                Multiclass::OneVsOne => {
                    let mut least = f64::INFINITY;
                    for (machine, value) in model.machines().iter().zip(values) {
                        if machine.pairing.positive == own {
                            least = least.min(*value);
                        } else if machine.pairing.negative == Some(own) {
                            least = least.min(-value);
                        }
                    }
                    least
                }
                _ => {
                    let other =
                        (0..3).filter(|&class| class != own).map(|class| values[class]).fold(f64::MIN, f64::max);
                    values[own] - other
                }
            };
            assert_eq!(number(&cells[2]), naive, "row {row} of {multiclass:?}");
        }
    }
}

#[test]
fn the_curve_of_a_roc_has_the_area_of_the_pairs_that_are_sorted_rightly() {
    let data = generate("blobs", 120, 3).unwrap();
    let model = fit(&data, TrainingParams { penalty: Penalty::C(0.01), ..smo() });
    let predictions = model.predict(&data, &Workers::none()).unwrap();
    let values: Vec<f64> = (0..120).map(|row| predictions.decision_values(row)[0]).collect();
    let positive: Vec<bool> = model.codes(&data).iter().map(|code| *code == Some(1)).collect();
    let (mut right, mut pairs) = (0.0, 0.0);
    for i in 0..120 {
        for j in (0..120).filter(|&j| positive[i] && !positive[j]) {
            pairs += 1.0;
            right += if values[i] > values[j] { 1.0 } else { f64::from(u8::from(values[i] == values[j])) / 2.0 };
        }
    }
    let points: Vec<(f64, f64)> =
        table(&draw(Kind::Roc, &model, &data)).iter().map(|cells| (number(&cells[2]), number(&cells[3]))).collect();
    let area = |points: &[(f64, f64)]| -> f64 {
        let from = [(0.0, 0.0)];
        let all: Vec<&(f64, f64)> = from.iter().chain(points).collect();
        all.windows(2).map(|pair| (pair[1].0 - pair[0].0) * (pair[1].1 + pair[0].1) / 2.0).sum()
    };
    assert!((area(&points) - right / pairs).abs() < 1e-12, "{} and {}", area(&points), right / pairs);
    // The negative control: where a hundredth less is found, the area is another.
    let moved: Vec<(f64, f64)> = points.iter().map(|(x, y)| (*x, 0.99 * y)).collect();
    assert!((area(&moved) - right / pairs).abs() > 1e-6);
}

#[test]
fn the_nearest_points_of_the_hulls_are_as_far_apart_as_the_margins() {
    let data = embedded("e1").unwrap();
    let model = fit(&data, TrainingParams { penalty: Penalty::Hard, ..smo() });
    let cells = table(&draw(Kind::Hulls, &model, &data));
    let point = |row: usize| (number(&cells[row][1]), number(&cells[row][2]));
    let (p, q) = (point(0), point(1));
    // E1: the distance is twice the margin, 12/√29, along w = (5/6, 1/3).
    let (x, y) = (p.0 - q.0, p.1 - q.1);
    assert!((x.hypot(y) - 12.0 / 29f64.sqrt()).abs() < 1e-4, "{x} {y}");
    assert!((x / y - 2.5).abs() < 1e-4);
    let weights = |class: &str| -> f64 {
        let codes = model.codes(&data);
        let of = |cells: &&Vec<String>| {
            let row = cells[0].trim_start_matches("row ").parse::<usize>().map(|row| codes[row - 1]);
            row == Ok(Some(u32::from(class == "+1")))
        };
        cells[2..].iter().filter(of).map(|cells| number(&cells[3])).sum()
    };
    assert!((weights("+1") - 1.0).abs() < 1e-4 && (weights("-1") - 1.0).abs() < 1e-4);
}

#[test]
fn a_waterfall_ends_at_the_decision_value() {
    let iris = embedded("iris").unwrap();
    let model = fit(&iris, TrainingParams { positive: Some(Label::new("setosa")), ..rbf() });
    let predictions = model.predict(&iris, &Workers::none()).unwrap();
    for row in [0, 70, 149] {
        let options = PlotOptions { row, ..PlotOptions::default() };
        let picture = plot(Kind::Why, &model, Some(&iris), &options, &Workers::none()).unwrap();
        let cells = table(&picture);
        let sum: f64 = cells[..cells.len() - 1].iter().map(|cells| number(&cells[1])).sum();
        assert!((sum - predictions.decision_values(row)[0]).abs() < 1e-9, "row {row}");
    }
    let options = PlotOptions { row: 150, ..PlotOptions::default() };
    let error = plot(Kind::Why, &model, Some(&iris), &options, &Workers::none()).unwrap_err();
    assert_eq!(error.to_string(), "there is no row 151: the data has 150");
}

#[test]
fn what_a_kind_does_not_show_is_refused_with_the_kinds_that_do() {
    let (iris, one) = (embedded("iris").unwrap(), parabola(20, 1));
    let classes = fit(&iris, rbf());
    let numbers = regression(&one);
    let said = |kind, model: &Model, data| {
        let error = plot(kind, model, data, &PlotOptions::default(), &Workers::none()).unwrap_err();
        format!("{error}; {}", error.help())
    };
    for (found, expected) in [
        (
            said(Kind::Tube, &classes, Some(&iris)),
            "predict numbers, and this one does classification; choose one of the kinds regions",
        ),
        (said(Kind::Roc, &numbers, Some(&one)), "choose one of the kinds tube, residuals, why"),
        (said(Kind::Margins, &classes, None), "the kind margins is drawn from rows, and there are none"),
        (said(Kind::Regions, &numbers, Some(&one)), "choose one of the kinds tube, residuals and why"),
        (said(Kind::Calibration, &classes, Some(&iris)), "has no probabilities"),
        (
            said(Kind::Hulls, &classes, Some(&iris)),
            "two classes, two columns and a linear kernel; choose the kind regions",
        ),
    ] {
        assert!(found.contains(expected), "{expected}: {found}");
    }
}

#[test]
fn a_hundred_thousand_rows_make_a_small_file() {
    let data = generate("moons", 100_000, 1).unwrap();
    let model = fit(&generate("moons", 300, 2).unwrap(), TrainingParams { penalty: Penalty::C(1.0), ..smo() });
    for kind in [Kind::Regions, Kind::Margins, Kind::Roc, Kind::Confusion] {
        let picture = draw(kind, &model, &data);
        let bytes = picture.bytes(Format::Svg).unwrap().len();
        assert!(bytes < 1_000_000, "{}: {bytes} bytes", kind.name());
        assert_eq!(picture.clashes(), Vec::<String>::new(), "{}", kind.name());
    }
}

/// Random numbers without a pattern, from a seed.
struct Random(u64);

impl Random {
    fn below(&mut self, end: u64) -> u64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % end
    }

    fn unit(&mut self) -> f64 {
        self.below(1 << 30) as f64 / f64::from(1 << 30)
    }

    fn word(&mut self, longest: u64) -> String {
        let length = 1 + self.below(longest);
        (0..length).map(|_| char::from(b'a' + self.below(26) as u8)).collect()
    }
}

/// Data and a model of it, neither of which anybody has looked at.
fn anything(seed: u64) -> (Dataset, Model) {
    let mut random = Random(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15).wrapping_add(1));
    // The first numbers of neighbouring seeds are alike.
    for _ in 0..8 {
        random.unit();
    }
    let (rows, columns) = (12 + random.below(40) as usize, 1 + random.below(5) as usize);
    let scale = 10f64.powi(random.below(13) as i32 - 6);
    let offset = if random.below(3) == 0 { 1e3 * scale } else { 0.0 };
    let classes = 2 + random.below(if seed.is_multiple_of(7) { 11 } else { 3 }) as usize;
    let (longest, is_regression) = ([3, 12, 60][random.below(3) as usize], seed.is_multiple_of(5));
    let names: Vec<String> = (0..columns).map(|k| format!("{}{k}", random.word(longest))).collect();
    let labels: Vec<Label> = (0..classes).map(|k| Label::new(format!("{}{k}", random.word(longest)))).collect();
    let own = |row: usize| row % classes;
    let numbers: Vec<f64> = (0..rows)
        .flat_map(|row| {
            (0..columns).map(|_| offset + scale * (random.unit() + own(row) as f64 * 0.4)).collect::<Vec<_>>()
        })
        .collect();
    let matrix = Matrix::dense(rows, columns, numbers).unwrap();
    let kernel = match random.below(3) {
        0 => KernelParams::Linear,
        1 => KernelParams::Rbf { gamma: Gamma::Scale },
        _ => KernelParams::Polynomial { gamma: Gamma::Scale, coef0: 1.0, degree: 2 },
    };
    let penalty = Penalty::C(10f64.powi(random.below(5) as i32 - 2));
    let params = TrainingParams { kernel, penalty, scaling: ScalingKind::Standard, ..smo() };
    if is_regression {
        let targets: Vec<f64> = (0..rows).map(|_| scale * random.unit()).collect();
        let data = Dataset::new(matrix, targets).unwrap().with_names(names).unwrap();
        let model = fit(&data, TrainingParams { task: Task::Regression { epsilon: 0.1 * scale }, ..params });
        return (data, model);
    }
    let labels = Labels::new((0..rows).map(|row| labels[own(row)].clone()));
    let data = Dataset::new(matrix, labels).unwrap().with_names(names).unwrap();
    let loss =
        if random.below(4) == 0 && matches!(params.kernel, KernelParams::Linear) { Some(Loss::Logistic) } else { None };
    let solver = if loss.is_some() { None } else { Some(SolverKind::Smo) };
    let model = fit(&data, TrainingParams { loss, solver, ..params });
    (data, model)
}

#[test]
fn no_words_hide_each_other_on_200_random_models() {
    let mut drawn = [0; Kind::ALL.len()];
    for seed in 0..200 {
        let (data, model) = anything(seed);
        let sizes = [(760, 560), (760, 560), (400, 300), (1400, 500)];
        let (width, height) = sizes[seed as usize % sizes.len()];
        for (place, kind) in Kind::ALL.into_iter().enumerate().filter(|(_, kind)| kind.suits(model.task())) {
            let options = PlotOptions { width, height, row: seed as usize % data.rows(), ..PlotOptions::default() };
            // Regions cost most; a third of the models is enough for them.
            if kind == Kind::Regions && seed % 3 != 0 {
                continue;
            }
            let Ok(picture) = plot(kind, &model, Some(&data), &options, &Workers::none()) else { continue };
            drawn[place] += 1;
            assert_eq!(picture.clashes(), Vec::<String>::new(), "seed {seed}: {} of {width} x {height}", kind.name());
        }
    }
    for (kind, drawn) in Kind::ALL.into_iter().zip(drawn) {
        let least = if matches!(kind, Kind::Hulls | Kind::Calibration) { 1 } else { 30 };
        assert!(drawn >= least, "{} was drawn {drawn} times only: {drawn:?}", kind.name());
    }
}
