//! Answers against ordinary fits and naive computations, and requests that must be refused.
#![allow(clippy::unwrap_used)] // all of this file is tests

use maxmargin::training::{Penalty, TrainingParams};
use maxmargin::{Bias, Loss, Model, Step, Unattended, Workers, worked};
use maxmargin_play::{Request, Routes, Start, answer};
use serde_json::{Value, json};

fn request(value: Value) -> Request {
    serde_json::from_value(value).unwrap()
}

/// Points of two classes from a seed, as a request gives them.
fn points(seed: u64, count: usize) -> Value {
    let mut state = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1;
    let mut next = || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        (state >> 11) as f64 / (1u64 << 53) as f64
    };
    let classes: Vec<u8> = (0..count).map(|row| (row % 2) as u8).collect();
    let xy: Vec<[f64; 2]> =
        classes.iter().map(|&class| [4.0 * next() + 1.5 * f64::from(class), 4.0 * next() + f64::from(class)]).collect();
    json!({ "given": { "xy": xy, "classes": classes, "labels": ["a", "b"] } })
}

/// The models that the seeds go through.
fn model(seed: u64) -> Value {
    let c = [0.1, 1.0, 10.0][seed as usize % 3];
    let kernel = match seed % 4 {
        0 => json!({ "name": "linear" }),
        1 => json!({ "name": "rbf", "gamma": 0.5 }),
        2 => json!({ "name": "poly", "gamma": 1, "coef0": 1, "degree": 2 }),
        _ => json!({ "name": "laplacian", "gamma": 1 }),
    };
    json!({ "method": "svm", "kernel": kernel, "c": c, "solver": "smo", "tolerance": 1e-6 })
}

/// α y of each row of a model.
fn coefficients(model: &Model) -> Vec<f64> {
    let mut all = vec![0.0; model.provenance().rows];
    let machine = &model.machines()[0];
    for (&place, &coefficient) in machine.support.iter().zip(&machine.coefficients) {
        all[model.parts().support_rows[place as usize] as usize] = coefficient;
    }
    all
}

#[test]
fn worked_examples_have_the_alpha_and_the_values_of_an_ordinary_fit_to_the_bit() {
    for id in worked::ids() {
        let (data, params) = worked::figure(id).unwrap();
        let hard = params.penalty == Penalty::Hard;
        let workers = Workers::none();
        let parts = Routes::new(Start::default(), Workers::none()).reply("/presets", None, &mut Unattended).body;
        let presets: Value = serde_json::from_slice(&parts).unwrap();
        let preset = presets.as_array().unwrap().iter().find(|preset| preset["id"] == id).unwrap().clone();
        let asked = request(json!({
            "points": { "named": { "name": id.to_lowercase() } },
            "model": {
                "method": "svm", "c": preset["c"], "loss": preset["loss"], "bias": preset["bias"], "positive": preset["positive"],
                "kernel": {
                    "name": preset["kernel"], "gamma": preset["gamma"], "degree": preset["degree"],
                    "coef0": preset["coef0"].as_f64().unwrap_or(0.0)
                },
                "tolerance": 1e-6
            },
            "view": {}
        }));
        assert_eq!(hard, preset["c"].is_null());
        let model = params.check().unwrap().fit(&data, &workers, &mut Unattended).unwrap();
        let found = answer(&asked, &workers, &mut Unattended).unwrap();
        let alpha: Vec<f64> = coefficients(&model).iter().map(|coefficient| coefficient.abs()).collect();
        assert_eq!(found.alpha(), alpha, "{id}");
        let predictions = model.predict(&data, &workers).unwrap();
        let values: Vec<f64> = (0..data.rows()).map(|row| predictions.decision_values(row)[0]).collect();
        assert_eq!(found.decision_values(), values, "{id}");
        // The negative control: another C is another model.
        let mut other = asked;
        other.model.c = Some(0.03);
        assert_ne!(answer(&other, &workers, &mut Unattended).unwrap().alpha(), alpha, "{id}");
    }
}

#[test]
fn the_kinds_of_points_are_counted_as_by_the_certificate() {
    for seed in 0..40 {
        let asked = request(json!({ "points": points(seed, 30), "model": model(seed), "view": {} }));
        let found = answer(&asked, &Workers::none(), &mut Unattended).unwrap();
        let head = found.head().unwrap();
        let counts = &head["model"]["machines"][0]["counts"];
        let of = |kind: u8| found.kinds().iter().filter(|other| **other == kind).count() as u64;
        let names = ["not_support", "on_margin", "inside", "misclassified"];
        for (kind, name) in (0..4).zip(names) {
            assert_eq!(counts[name].as_u64(), Some(of(kind)), "seed {seed}: {name}");
        }
    }
}

#[test]
fn steps_end_in_the_fit_and_change_no_bit_of_it() {
    for seed in 0..40 {
        let mut asked = request(json!({ "points": points(seed, 30), "model": model(seed), "view": {} }));
        let without = answer(&asked, &Workers::none(), &mut Unattended).unwrap();
        asked.want.push(maxmargin_play::Wanted::Steps);
        let found = answer(&asked, &Workers::new(2).unwrap(), &mut Unattended).unwrap();
        assert_eq!(found.alpha(), without.alpha(), "seed {seed}");
        let steps = found.steps().unwrap();
        assert_eq!(steps.count, steps.list.len(), "seed {seed}");
        let mut alpha = vec![0.0; 30];
        for step in &steps.list {
            let Step::Pair { i, j, after, .. } = step else { panic!("seed {seed}: {step:?}") };
            (alpha[*i], alpha[*j]) = (after[0], after[1]);
        }
        for (row, (replayed, fitted)) in alpha.iter().zip(found.alpha()).enumerate() {
            assert!((replayed - fitted).abs() <= 1e-6 * (1.0 + fitted), "seed {seed}, row {row}: {replayed} {fitted}");
        }
        // The negative control: without the last tenth of the steps α is another one.
        if steps.list.len() > 20 {
            let mut early = vec![0.0; 30];
            for step in &steps.list[..steps.list.len() * 9 / 10] {
                let Step::Pair { i, j, after, .. } = step else { continue };
                (early[*i], early[*j]) = (after[0], after[1]);
            }
            assert_ne!(early, alpha, "seed {seed}");
        }
    }
}

/// The part of a packet with this name.
fn part(packet: &[u8], name: &str) -> Vec<u8> {
    let length = u32::from_le_bytes(packet[..4].try_into().unwrap()) as usize;
    let head: Value = serde_json::from_slice(&packet[4..4 + length]).unwrap();
    let part = head["parts"].as_array().unwrap().iter().find(|part| part["name"] == name).unwrap();
    let size = [("f64", 8), ("f32", 4), ("u8", 1)].iter().find(|(kind, _)| part["type"] == *kind).unwrap().1;
    let at = 4 + length + part["at"].as_u64().unwrap() as usize;
    packet[at..at + size * part["count"].as_u64().unwrap() as usize].to_vec()
}

#[test]
fn the_grid_is_the_decision_function_and_a_frame_of_the_last_step_is_the_grid() {
    for seed in 0..12 {
        let mut asked = request(json!({
            "points": points(seed, 24), "model": model(seed), "view": { "x": [-1, 7], "y": [-1, 6] },
            "grid": { "columns": 9, "rows": 7 }
        }));
        let workers = Workers::none();
        let found = answer(&asked, &workers, &mut Unattended).unwrap();
        let values = |bytes: Vec<u8>| -> Vec<f32> {
            bytes.chunks(4).map(|four| f32::from_le_bytes(four.try_into().unwrap())).collect()
        };
        let grid = values(part(&found.to_bytes().unwrap(), "values"));
        let fitted = maxmargin_play::Fitted::new(&asked, &workers, &mut Unattended).unwrap();
        let nodes: Vec<f64> = (0..63)
            .flat_map(|node| [-1.0 + 8.0 * ((node % 9) as f64 / 8.0), -1.0 + 7.0 * ((node / 9) as f64 / 6.0)])
            .collect();
        let matrix = maxmargin::Matrix::dense(63, 2, nodes).unwrap();
        let predictions = fitted.model().predict(&matrix, &workers).unwrap();
        let expected: Vec<f32> = (0..63).map(|node| predictions.decision_values(node)[0] as f32).collect();
        assert_eq!(grid, expected, "seed {seed}");

        let list = coefficients(fitted.model()).into_iter().enumerate().filter(|(_, coefficient)| *coefficient != 0.0);
        let bias = fitted.model().machines()[0].bias;
        asked.frame =
            serde_json::from_value(json!({ "coefficients": list.collect::<Vec<_>>(), "bias": bias })).unwrap();
        let frame = values(part(&answer(&asked, &workers, &mut Unattended).unwrap().to_bytes().unwrap(), "values"));
        for (own, fit) in frame.iter().zip(&grid) {
            assert!((own - fit).abs() <= 1e-4 * (1.0 + fit.abs()), "seed {seed}: {own} {fit}");
        }
    }
}

#[test]
fn the_nearest_points_of_the_hulls_lie_along_w_and_for_a_hard_margin_the_boundary_bisects_them() {
    for (name, c) in [("e1", Value::Null), ("e2", json!(1.0)), ("e2", json!(0.2))] {
        let asked = request(json!({
            "points": { "named": { "name": name } }, "view": {}, "want": ["hulls"],
            "model": { "method": "svm", "c": c, "solver": "smo", "tolerance": 1e-8 }
        }));
        let head = answer(&asked, &Workers::none(), &mut Unattended).unwrap().head().unwrap();
        let number = |value: &Value| value.as_f64().unwrap();
        let (p, q) = (&head["hulls"]["nearest"][0], &head["hulls"]["nearest"][1]);
        let machine = &head["model"]["machines"][0];
        let w = [number(&machine["weights"][0]), number(&machine["weights"][1])];
        let d = [number(&p[0]) - number(&q[0]), number(&p[1]) - number(&q[1])];
        let sine = (w[0] * d[1] - w[1] * d[0]) / (w[0].hypot(w[1]) * d[0].hypot(d[1]));
        assert!(sine.abs() < 1e-4, "{name} {c}: {sine}");
        if c.is_null() {
            let middle = [0, 1].map(|k| (number(&p[k]) + number(&q[k])) / 2.0);
            assert!((w[0] * middle[0] + w[1] * middle[1] + number(&machine["bias"])).abs() < 1e-5);
            assert!((number(&head["hulls"]["distance"]) - 12.0 / 29f64.sqrt()).abs() < 1e-5);
        }
    }
}

#[test]
fn the_ellipse_of_e3_has_the_centre_and_axes_of_the_books() {
    let asked = request(json!({
        "points": { "named": { "name": "e3" } }, "view": {},
        "model": { "method": "svm", "kernel": { "name": "poly", "gamma": 1, "coef0": 1, "degree": 2 }, "c": 4, "tolerance": 1e-6 }
    }));
    let head = answer(&asked, &Workers::none(), &mut Unattended).unwrap().head().unwrap();
    let conic = &head["conic"];
    assert_eq!(conic["kind"], "ellipse");
    for (found, expected) in [
        (&conic["centre"][0], 4.04535),
        (&conic["centre"][1], 2.90696),
        (&conic["semi_axes"][0], 2.78190),
        (&conic["semi_axes"][1], 1.55397),
    ] {
        assert!((found.as_f64().unwrap() - expected).abs() < 1e-4, "{found} {expected}");
    }
}

#[test]
fn a_sweep_has_the_models_of_each_c_alone() {
    let costs = [0.1, 1.0, 10.0];
    let asked = request(json!({
        "points": points(3, 40), "view": {}, "want": ["sweep"], "costs": costs,
        "model": { "method": "svm", "c": 1, "solver": "smo", "tolerance": 1e-6 }
    }));
    let head = answer(&asked, &Workers::none(), &mut Unattended).unwrap().head().unwrap();
    for (entry, c) in head["sweep"].as_array().unwrap().iter().zip(costs) {
        let mut alone = asked.clone();
        (alone.model.c, alone.want) = (Some(c), Vec::new());
        let model = answer(&alone, &Workers::none(), &mut Unattended).unwrap().head().unwrap();
        let (own, other) =
            (entry["margin"].as_f64().unwrap(), model["model"]["machines"][0]["margin"].as_f64().unwrap());
        assert!((own - other).abs() < 1e-4 * other, "C = {c}: {own} {other}");
    }
}

#[test]
fn bad_requests_are_refused_with_a_way_out() {
    let good = json!({ "points": points(1, 8), "model": model(1), "view": {} });
    let routes = Routes::new(Start::default(), Workers::none());
    let ask = |value: &Value| routes.reply("/answer", Some(value.to_string().as_bytes()), &mut Unattended);
    assert_eq!(ask(&good).status, 200);
    let changes: [(&str, Value); 22] = [
        ("/points/given/xy/0/0", json!(1e300)),
        ("/points/given/xy/0/0", json!("x")),
        ("/points/given/classes/0", json!(7)),
        ("/points/given/classes", json!([0])),
        ("/points/given/labels", json!([])),
        ("/points/given/labels", json!(["a", ""])),
        ("/points/given/labels", json!(["a", "b".repeat(1000)])),
        ("/points/given/classes", json!([0, 0, 0, 0, 0, 0, 0, 0])),
        ("/points", json!({ "given": { "xy": [], "classes": [], "labels": ["a"] } })),
        ("/points", json!({ "named": { "name": "../../etc/passwd" } })),
        ("/points", json!({ "named": { "name": "blobs", "rows": 100_000_000 } })),
        ("/points", json!({ "named": { "name": "blobs", "noise": -1 } })),
        ("/points", json!({ "named": { "name": "iris", "columns": ["petal_length", "petal_length"] } })),
        ("/model/c", json!(-1)),
        ("/model/c", json!(0)),
        ("/model/method", json!("magic")),
        ("/model/kernel/gamma", json!(-1)),
        ("/model/kernel", json!({ "name": "poly", "degree": 1000, "gamma": 1 })),
        ("/model/solver", json!("perceptron")),
        ("/model/tolerance", json!(0)),
        ("/model/bias", json!("heavy")),
        ("/view", json!({ "x": [1, 1], "y": [0, 1] })),
    ];
    for (place, value) in changes {
        let mut bad = good.clone();
        *bad.pointer_mut(place).unwrap() = value;
        let reply = ask(&bad);
        let said: Value = serde_json::from_slice(&reply.body).unwrap();
        assert_eq!(reply.status, 400, "{place}: {bad}");
        assert!(!said["error"].as_str().unwrap().is_empty() && !said["help"].as_str().unwrap().is_empty(), "{said}");
    }
    for (key, value) in [
        ("grid", json!({ "columns": 1_000_000, "rows": 1_000_000 })),
        ("grid", json!({ "columns": 1, "rows": 5 })),
        ("costs", json!([1.0].repeat(1000))),
        ("frame", json!({ "coefficients": [[1000, 1.0]] })),
        ("surprise", json!(1)),
    ] {
        let mut bad = good.clone();
        bad[key] = value;
        if key == "frame" {
            bad["grid"] = json!({ "columns": 4, "rows": 4 });
        }
        assert_eq!(ask(&bad).status, 400, "{key}");
    }
    for text in ["", "{", "null", "[1]", "\u{0}"] {
        assert_eq!(routes.reply("/answer", Some(text.as_bytes()), &mut Unattended).status, 400, "{text:?}");
    }
    assert_eq!(routes.reply("/nowhere", None, &mut Unattended).status, 404);
    assert_eq!(routes.reply("/answer", None, &mut Unattended).status, 405);
    assert_eq!(routes.reply("/", Some(b"{}"), &mut Unattended).status, 405);
}

#[test]
fn every_method_and_several_classes_have_an_answer() {
    let routes = Routes::new(Start::default(), Workers::none());
    for set in ["e2", "iris", "moons", "xor"] {
        for method in ["svm", "logistic", "lda", "perceptron", "kernel-perceptron", "mlp"] {
            let asked = json!({
                "points": { "named": { "name": set, "rows": 40 } }, "view": { "aspect": 1.42 }, "want": ["hulls", "steps"],
                "model": { "method": method, "c": 1, "kernel": { "name": "rbf", "gamma": 0.5 } }, "grid": { "columns": 16, "rows": 12 }
            });
            let reply = routes.reply("/answer", Some(asked.to_string().as_bytes()), &mut Unattended);
            assert_eq!(reply.status, 200, "{set} {method}: {}", String::from_utf8_lossy(&reply.body));
            assert_eq!(part(&reply.body, "regions").len(), 192);
        }
    }
}

#[test]
fn exported_points_and_models_come_back_to_the_bit() {
    let routes = Routes::new(Start::default(), Workers::none());
    for seed in 0..8 {
        let asked = json!({ "points": points(seed, 20), "model": model(seed), "view": {} });
        let export = |what: &str| {
            let body = json!({ "request": asked, "what": what }).to_string();
            let reply = routes.reply("/export", Some(body.as_bytes()), &mut Unattended);
            assert_eq!(reply.status, 200, "{what}: {}", String::from_utf8_lossy(&reply.body));
            reply.body
        };
        let fitted = maxmargin_play::Fitted::new(&request(asked.clone()), &Workers::none(), &mut Unattended).unwrap();
        let read =
            maxmargin_io::read_bytes(&export("points"), "points.csv", &maxmargin_io::ReadOptions::default()).unwrap();
        assert_eq!(read.fingerprint(), fitted.data().fingerprint(), "seed {seed}");
        let model = maxmargin_io::model_from_bytes(&export("model"), "points.mm").unwrap();
        assert_eq!(coefficients(&model), coefficients(fitted.model()), "seed {seed}");
        assert!(export("svg").starts_with(b"<svg") && export("png").starts_with(b"\x89PNG"));
        let command = String::from_utf8(export("command")).unwrap();
        assert!(command.starts_with("maxmargin train points.csv") && command.contains("--solver smo"), "{command}");
        assert!(String::from_utf8(export("python")).unwrap().contains("maxmargin.SVC("));
    }
}

#[test]
fn a_folded_bias_gives_the_conic_that_the_model_draws() {
    let (data, params) = worked::figure("E6").unwrap();
    assert_eq!((params.bias, params.loss), (Bias::Folded, Some(Loss::Hinge)));
    let params =
        TrainingParams { settings: maxmargin::Settings { tolerance: Some(1e-6), ..params.settings.clone() }, ..params };
    let model = params.check().unwrap().fit(&data, &Workers::none(), &mut Unattended).unwrap();
    let asked = request(json!({
        "points": { "named": { "name": "e6" } }, "view": {},
        "model": {
            "method": "svm", "c": 10, "bias": "folded", "positive": "versicolor", "tolerance": 1e-6,
            "kernel": { "name": "poly", "gamma": 1, "coef0": 0, "degree": 2 }
        }
    }));
    let head = answer(&asked, &Workers::none(), &mut Unattended).unwrap().head().unwrap();
    let c: Vec<f64> = head["conic"]["coefficients"].as_array().unwrap().iter().map(|c| c.as_f64().unwrap()).collect();
    let predictions = model.predict(&data, &Workers::none()).unwrap();
    for row in 0..data.rows() {
        let x = data.matrix().row(row);
        let f = c[0] * x[0] * x[0] + c[1] * x[0] * x[1] + c[2] * x[1] * x[1] + c[3] * x[0] + c[4] * x[1] + c[5];
        assert!((f - predictions.decision_values(row)[0]).abs() < 1e-4, "row {row}: {f}");
    }
}
