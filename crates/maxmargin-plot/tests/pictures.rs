//! Pictures of small models, looked at from outside.
#![allow(clippy::unwrap_used)] // all of this file is tests

use maxmargin::data::{Dataset, Label, Labels, Matrix, ScalingKind, embedded, generate};
use maxmargin::kernel::{Gamma, KernelParams};
use maxmargin::model::{Model, Multiclass};
use maxmargin::solver::SolverKind;
use maxmargin::training::{Penalty, TrainingParams};
use maxmargin::{Unattended, Workers};
use maxmargin_plot::{Error, Format, Kind, PlotOptions, Theme, decision_plot, plot};

fn smo() -> TrainingParams {
    TrainingParams { solver: Some(SolverKind::Smo), ..TrainingParams::default() }
}

fn rbf() -> TrainingParams {
    TrainingParams { kernel: KernelParams::Rbf { gamma: Gamma::Scale }, ..smo() }
}

fn fit(data: &Dataset, params: TrainingParams) -> Model {
    params.check().unwrap().fit(data, &Workers::none(), &mut Unattended).unwrap()
}

fn draw(model: &Model, data: Option<&Dataset>, options: &PlotOptions, format: Format) -> Result<Vec<u8>, Error> {
    decision_plot(model, data, options, format, &Workers::none())
}

fn svg(model: &Model, data: Option<&Dataset>, options: &PlotOptions) -> String {
    let text = String::from_utf8(draw(model, data, options, Format::Svg).unwrap()).unwrap();
    assert!(text.starts_with("<svg xmlns=") && text.ends_with("</svg>\n"));
    assert!(text.len() < 1_000_000, "{} bytes", text.len());
    assert!(!text.contains("NaN") && !text.contains("inf\""));
    text
}

/// The texts of an SVG, in order.
fn texts(svg: &str) -> Vec<&str> {
    let texts = svg.split("<text").skip(1).filter_map(|part| part.split_once('>')?.1.split_once("</text>"));
    texts.map(|(text, _)| text).collect()
}

fn columns(first: &str, second: &str) -> PlotOptions {
    PlotOptions { columns: Some((first.into(), second.into())), ..PlotOptions::default() }
}

/// Rows of two columns with the labels a and b in turn.
fn pairs(rows: &[[f64; 2]]) -> Dataset {
    let labels = Labels::new((0..rows.len()).map(|row| Label::new(["a", "b"][row % 2])));
    Dataset::new(Matrix::dense(rows.len(), 2, rows.concat()).unwrap(), labels).unwrap()
}

#[test]
fn networks_and_relevance_vectors_are_called_by_their_names() {
    let xor = generate("xor", 60, 8).unwrap();
    let network = fit(&xor, TrainingParams { solver: Some(SolverKind::Mlp), ..TrainingParams::default() });
    let picture = svg(&network, Some(&xor), &PlotOptions::default());
    assert!(texts(&picture).contains(&"network of 8 tanh units, C = 1, logistic loss"), "{:?}", texts(&picture));
    let relevance = fit(&xor, TrainingParams { solver: Some(SolverKind::Rvm), ..rbf() });
    let picture = svg(&relevance, Some(&xor), &PlotOptions::default());
    let found = texts(&picture);
    assert!(found.contains(&"relevance vectors") && !picture.contains("on the margin"), "{found:?}");
    let count = relevance.parts().support_rows.len();
    assert!(found.contains(&format!("rows of the model ({count})").as_str()), "{found:?}");
    // And without data, around the vectors.
    assert!(!svg(&relevance, None, &PlotOptions::default()).contains("on the margin"));
}

#[test]
fn pictures_are_of_their_format_and_the_same_bytes_each_time() {
    let polynomial = KernelParams::Polynomial { gamma: Gamma::Value(1.0), coef0: 1.0, degree: 2 };
    let iris = embedded("iris").unwrap().select_columns(&["petal_length".into(), "petal_width".into()]).unwrap();
    let cases = [
        (embedded("e1").unwrap(), smo()),
        (embedded("e2").unwrap(), TrainingParams::default()),
        (embedded("e3").unwrap(), TrainingParams { kernel: polynomial, penalty: Penalty::C(100.0), ..smo() }),
        (iris.clone(), rbf()),
        (iris, TrainingParams { multiclass: Some(Multiclass::OneVsRest), ..rbf() }),
        (generate("xor", 60, 1).unwrap(), rbf()),
    ];
    let team = Workers::new(2).unwrap();
    for (data, params) in cases {
        let model = fit(&data, params);
        let options = PlotOptions { width: 500, height: 400, ..PlotOptions::default() };
        for (format, start) in [(Format::Svg, &b"<svg "[..]), (Format::Png, &b"\x89PNG\r\n\x1a\n"[..])] {
            let picture = draw(&model, Some(&data), &options, format).unwrap();
            assert!(picture.starts_with(start));
            assert!(picture == draw(&model, Some(&data), &options, format).unwrap(), "{format:?} differs");
            assert!(picture == decision_plot(&model, Some(&data), &options, format, &team).unwrap(), "threads matter");
        }
    }
}

#[test]
fn title_legend_and_axes_say_what_is_seen() {
    let data = embedded("e2").unwrap();
    let model = fit(&data, smo());
    let picture = svg(&model, Some(&data), &PlotOptions::default());
    let texts = texts(&picture);
    for text in [
        "linear kernel, C = 1, hinge loss",
        "x1",
        "x2",
        "classes",
        "−1",
        "+1",
        "boundary, f = 0",
        "margins, f = ±1",
        "support vectors",
        "misclassified (2)",
    ] {
        assert!(texts.contains(&text), "{text} is not among {texts:?}");
    }
    let counts = model.machines()[0].evidence.certificate().unwrap().counts;
    assert!(texts.contains(&format!("on the margin ({})", counts.on_margin).as_str()), "{texts:?}");
    assert!(texts.contains(&format!("inside the margin ({})", counts.inside).as_str()), "{texts:?}");
    let facts = format!("{} support vectors · 2 training errors · duality gap ", counts.support);
    assert!(texts.iter().any(|text| text.starts_with(&facts)), "{texts:?}");
}

#[test]
fn several_classes_have_boundaries_and_one_kind_of_ring() {
    let iris = embedded("iris").unwrap();
    let model = fit(&iris, TrainingParams { scaling: ScalingKind::Standard, ..rbf() });
    let picture = svg(&model, Some(&iris), &columns("sepal_length", "petal_length"));
    let texts = texts(&picture);
    let rings = format!("of all kinds ({})", model.parts().support_rows.len());
    for text in ["setosa", "versicolor", "virginica", "boundaries", &rings, "sepal_length", "petal_length"] {
        assert!(texts.contains(&text), "{text} is not among {texts:?}");
    }
    let held = "other columns held at the mean of the rows: sepal_width = 3.057, petal_width = 1.199; on ";
    assert!(texts.iter().any(|text| text.starts_with(held)), "{texts:?}");
    assert!(!texts.iter().any(|text| text.contains("±1")));
}

#[test]
fn many_columns_are_shown_on_the_plane_that_agrees_with_the_model_most() {
    let iris = embedded("iris").unwrap();
    let linear = fit(&iris, TrainingParams { positive: Some(Label::new("virginica")), ..smo() });
    let gaussian = fit(&iris, TrainingParams { scaling: ScalingKind::Standard, ..rbf() });
    for (model, axis) in [(linear, "along w"), (gaussian, "first discriminant direction")] {
        let picture = plot(Kind::Regions, &model, Some(&iris), &PlotOptions::default(), &Workers::none()).unwrap();
        let svg = String::from_utf8(picture.bytes(Format::Svg).unwrap()).unwrap();
        let found = texts(&svg);
        assert!(found.contains(&axis), "{found:?}");
        let words = found.join(" ");
        let share =
            words.split("; on ").nth(1).and_then(|rest| rest.split('%').next()).unwrap().parse::<f64>().unwrap();
        assert!((95.0..=100.0).contains(&share), "{share}% of the rows");
        assert_eq!(picture.numbers().rows(), 150);
        assert_eq!(picture.clashes(), Vec::<String>::new());
    }
}

#[test]
fn user_text_is_escaped() {
    let label = |text: &str| Label::new(text);
    let labels = Labels::new([label("<script>alert(1)</script>"), label("a\u{0}&\"'\u{202e}")]);
    let matrix = Matrix::dense(2, 2, vec![0.0, 0.0, 1.0, 1.0]).unwrap();
    let names = vec!["<b>&".to_string(), "]]>".to_string()];
    let data = Dataset::new(matrix, labels).unwrap().with_names(names).unwrap();
    let options = PlotOptions { title: Some("</text><script/>\u{1b}".into()), ..PlotOptions::default() };
    let picture = svg(&fit(&data, smo()), Some(&data), &options);
    assert!(!picture.contains("<script") && !picture.contains("</text><"));
    assert!(!picture.chars().any(|c| c.is_control() && c != '\n'));
    let texts = texts(&picture);
    for text in [
        "&lt;script&gt;alert(1)&lt;/script&gt;",
        "a\u{fffd}&amp;&quot;&apos;\u{fffd}",
        "&lt;b&gt;&amp;",
        "]]&gt;",
        "&lt;/text&gt;&lt;script/&gt;\u{fffd}",
    ] {
        assert!(texts.contains(&text), "{text} is not among {texts:?}");
    }
}

#[test]
fn both_themes_name_the_picture_and_differ_in_colours_only() {
    let data = embedded("e2").unwrap();
    let model = fit(&data, smo());
    let of = |theme| svg(&model, Some(&data), &PlotOptions { theme, ..PlotOptions::default() });
    let (light, dark) = (of(Theme::Light), of(Theme::Dark));
    let title = "<title>linear kernel, C = 1, hinge loss. 9 support vectors";
    assert!(light.contains(title) && light.contains("<desc>The regions of the classes −1, +1 over x1"), "{light}");
    let gray = |svg: &str| -> String {
        svg.split('"').map(|part| if part.starts_with('#') && part.len() == 7 { "#" } else { part }).collect()
    };
    assert!(light != dark && gray(&light) == gray(&dark));
}

#[test]
fn text_far_too_long_does_not_leave_the_picture() {
    let labels = Labels::new(["x".repeat(5000), "y".repeat(5000)].map(Label::new));
    let data = Dataset::new(Matrix::dense(2, 2, vec![0.0, 0.0, 1.0, 1.0]).unwrap(), labels).unwrap();
    let data = data.with_names(vec!["n".repeat(5000), "m".repeat(5000)]).unwrap();
    let options = PlotOptions { title: Some("t".repeat(5000)), width: 400, height: 300, ..PlotOptions::default() };
    let picture = svg(&fit(&data, smo()), Some(&data), &options);
    assert!(texts(&picture).iter().all(|text| text.chars().count() < 100));
}

#[test]
fn degenerate_data_is_drawn_all_the_same() {
    let cases: [&[[f64; 2]]; 7] = [
        &[[1.0, 2.0], [1.0, 2.0]],
        &[[0.0, 5.0], [1.0, 5.0]],
        &[[0.0, 0.0], [0.0, 0.0]],
        &[[1e150, -1e150], [-1e150, 1e150]],
        &[[1e150, 1e150], [1e150, 1.0]],
        &[[1e16, 0.0], [1e16 + 2.0, 1e-300]],
        &[[5e-324, 0.0], [0.0, 5e-324]],
    ];
    let mut drawn = 0;
    for rows in cases {
        let data = pairs(rows);
        for scaling in [ScalingKind::None, ScalingKind::Standard] {
            for params in [smo(), rbf()] {
                // What cannot be trained cannot be drawn.
                let training = TrainingParams { scaling, ..params }.check().unwrap();
                let Ok(model) = training.fit(&data, &Workers::none(), &mut Unattended) else { continue };
                svg(&model, Some(&data), &PlotOptions::default());
                draw(&model, Some(&data), &PlotOptions::default(), Format::Png).unwrap();
                drawn += 1;
            }
        }
    }
    assert!(drawn > 20, "only {drawn} of 28 were drawn");
}

#[test]
fn a_kernel_model_is_drawn_from_its_own_support_vectors() {
    let data = embedded("e2").unwrap();
    let model = fit(&data, TrainingParams { scaling: ScalingKind::Standard, ..rbf() });
    let picture = svg(&model, None, &PlotOptions::default());
    let texts = texts(&picture);
    assert!(texts.contains(&"support vectors only, as no data was given"), "{texts:?}");
    // The same kinds, and the user's own units, as with the data.
    let with_data = svg(&model, Some(&data), &PlotOptions::default());
    let kinds = |texts: &[&str]| -> Vec<String> {
        texts
            .iter()
            .filter(|text| text.ends_with(')') && text.contains("margin ("))
            .map(|text| text.to_string())
            .collect()
    };
    assert_eq!(kinds(&texts), kinds(&crate::texts(&with_data)));
    assert!(texts.contains(&"5"), "{texts:?}");
}

#[test]
fn support_vectors_are_marked_in_the_training_data_only() {
    let data = embedded("e2").unwrap();
    let model = fit(&data, smo());
    let other = embedded("e1").unwrap();
    let picture = svg(&model, Some(&other), &PlotOptions::default());
    let shown = texts(&picture);
    assert!(shown.contains(&"not the training data, so support vectors are not marked"), "{shown:?}");
    assert!(shown.iter().any(|text| text.contains("0 errors on these 14 rows")), "{shown:?}");
    assert!(!shown.contains(&"support vectors"));
    // Columns that the model does not know change nothing.
    let iris = embedded("iris").unwrap();
    let model = fit(&iris.select_columns(&["petal_length".into(), "petal_width".into()]).unwrap(), rbf());
    let picture = svg(&model, Some(&iris), &PlotOptions::default());
    assert!(texts(&picture).contains(&"support vectors"));
}

#[test]
fn many_rows_are_thinned_and_many_classes_are_cut() {
    let data = generate("blobs", 4000, 1).unwrap();
    let picture = svg(&fit(&data, smo()), Some(&data), &PlotOptions::default());
    let shown = texts(&picture);
    assert!(shown.iter().any(|text| text.contains(" of 4000 rows shown as markers, support vectors")), "{shown:?}");

    let labels = Labels::new((0..60).map(|row| Label::new(format!("class {row}"))));
    let numbers = (0..60).flat_map(|row| [f64::from(row % 8), f64::from(row / 8)]).collect::<Vec<_>>();
    let data = Dataset::new(Matrix::dense(60, 2, numbers).unwrap(), labels).unwrap();
    let params = TrainingParams {
        multiclass: Some(Multiclass::OneVsRest),
        kernel: KernelParams::Rbf { gamma: Gamma::Value(2.0) },
        ..smo()
    };
    let picture = svg(&fit(&data, params), Some(&data), &PlotOptions::default());
    assert!(texts(&picture).contains(&"column 2"));
    assert!(texts(&picture).iter().any(|text| text.starts_with("and ") && text.ends_with(" more")));
}

#[test]
fn errors_say_what_was_found_and_the_way_out() {
    let said = |result: Result<Vec<u8>, Error>| {
        let error = result.unwrap_err();
        (error.to_string(), error.help())
    };
    let pair = |what: &str, help: &str| (what.to_string(), help.to_string());
    let iris = embedded("iris").unwrap();
    let model = fit(&iris, smo());
    let all = "choose two of the columns: \"sepal_length\", \"sepal_width\", \"petal_length\", \"petal_width\"";
    let plain = PlotOptions::default();
    assert_eq!(
        said(draw(&model, Some(&iris), &columns("sepal_length", "x\n"), Format::Svg)),
        pair("the model has no column \"x\\n\"", all)
    );
    assert_eq!(
        said(draw(&model, Some(&iris), &columns("sepal_width", "sepal_width"), Format::Svg)),
        pair("both axes show the column \"sepal_width\"", all)
    );
    assert_eq!(
        said(draw(&model, None, &columns("sepal_width", "sepal_length"), Format::Svg)),
        pair(
            "a linear model keeps no support vectors, so nothing says how far the axes reach",
            "give the data that the model was trained on"
        )
    );
    let one = iris.select_columns(&["petal_width".into()]).unwrap();
    assert_eq!(
        said(draw(&fit(&one, smo()), Some(&one), &plain, Format::Svg)),
        pair(
            "a picture of regions needs two columns, but the model has 1",
            "train on two columns or more, or draw the kind margins"
        )
    );
    let table = pairs(&[[1.0, 0.0], [0.0, 1.0]]);
    let precomputed = fit(&table, TrainingParams { kernel: KernelParams::Precomputed, ..smo() });
    assert_eq!(
        said(draw(&precomputed, Some(&table), &plain, Format::Svg)),
        pair(
            "a model with a precomputed kernel has no columns, so there is no plane to draw",
            "train with another kernel, such as rbf or polynomial"
        )
    );
    let e1 = embedded("e1").unwrap();
    let model = fit(&e1, smo());
    let size = |width, height| PlotOptions { width, height, ..PlotOptions::default() };
    assert_eq!(
        said(draw(&model, Some(&e1), &size(399, 700), Format::Png)),
        pair("width is 399, but it must be from 400 to 4000", "choose width from 400 to 4000")
    );
    assert_eq!(
        said(draw(&model, Some(&e1), &size(900, u32::MAX), Format::Png)),
        pair("height is 4294967295, but it must be from 300 to 4000", "choose height from 300 to 4000")
    );
    let none = e1.select_rows(&[]);
    assert_eq!(
        said(draw(&model, Some(&none), &plain, Format::Png)),
        pair("there are no rows that say how far the axes reach", "give the data that the model was trained on")
    );
    assert_eq!(
        said(draw(&model, Some(&one), &plain, Format::Png)),
        pair("the model needs a column \"x1\", which the data does not have", "the columns are \"petal_width\"")
    );
}

#[test]
fn the_format_is_known_by_the_ending() {
    assert_eq!(Format::from_path("a/b.SVG"), Ok(Format::Svg));
    assert_eq!(Format::from_path("b.png"), Ok(Format::Png));
    for name in ["svg", "b.svg.gz", "", ".png"] {
        let error = Format::from_path(name).unwrap_err();
        assert_eq!(error.to_string(), format!("the picture's name \"{name}\" ends neither in .svg nor in .png"));
        assert_eq!(error.help(), "end the name in .svg (lines and text) or .png (pixels)");
    }
}
