//! Answers of the playground: the same bits each time, true at every step, and refused with a way out where a request is beyond its limits.
#![allow(clippy::unwrap_used)] // a test may end here

use maxmargin::{Step, Unattended, Workers};
use maxmargin_play::{Answer, FrameRequest, Request, Start, answer};
use serde_json::{Value, json};

/// Numbers without a pattern from a seed (SplitMix64).
struct Random(u64);

impl Random {
    fn unit(&mut self) -> f64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        (z ^ (z >> 31)) as f64 / u64::MAX as f64
    }

    fn below(&mut self, end: usize) -> usize {
        ((self.unit() * end as f64) as usize).min(end - 1)
    }
}

fn asked(request: &Value, threads: usize) -> Answer {
    let request: Request = serde_json::from_value(request.clone()).unwrap();
    answer(&request, &Workers::new(threads).unwrap(), &mut Unattended).unwrap()
}

/// Some points of two classes, whose clouds are `apart` from each other.
fn points(random: &mut Random, apart: f64) -> (Vec<[f64; 2]>, Vec<u8>) {
    let count = 6 + random.below(24);
    let classes: Vec<u8> = (0..count).map(|row| (row % 2) as u8).collect();
    let place = |class: &u8, random: &mut Random| {
        [2.0 * random.unit() + apart * f64::from(*class), 2.0 * random.unit() + 0.3 * apart * f64::from(*class)]
    };
    (classes.iter().map(|class| place(class, random)).collect(), classes)
}

fn request(xy: &[[f64; 2]], classes: &[u8], model: &Value, want: &[&str]) -> Value {
    json!({
        "points": { "given": { "xy": xy, "classes": classes, "labels": ["-1", "+1"], "names": ["x1", "x2"] } },
        "model": model, "view": {}, "want": want,
    })
}

#[test]
fn the_same_request_has_the_same_bytes_for_any_number_of_threads() {
    let models = [
        json!({ "method": "svm", "c": 1, "solver": "smo" }),
        json!({ "method": "svm", "c": 10, "kernel": { "name": "rbf", "gamma": 2 } }),
        json!({ "method": "svm", "c": null }),
        json!({ "method": "logistic", "c": 1 }),
        json!({ "method": "lda" }),
        json!({ "method": "kernel-perceptron", "kernel": { "name": "poly", "gamma": 1, "coef0": 1 } }),
        json!({ "method": "mlp", "c": 1, "hidden": 3 }),
    ];
    let (xy, classes) = points(&mut Random(1), 4.0);
    for model in models {
        let mut request = request(&xy, &classes, &model, &["steps", "hulls"]);
        request["grid"] = json!({ "columns": 40, "rows": 30 });
        let bytes = |threads| asked(&request, threads).to_bytes().unwrap();
        let one = bytes(1);
        assert!(one.len() > 5000);
        assert!(one == bytes(1) && one == bytes(2) && one == bytes(3), "{model}");
    }
}

/// The coefficients and b after some steps.
fn replay(steps: &[Step], rows: usize) -> (Vec<f64>, f64) {
    let (mut all, mut b) = (vec![0.0; rows], 0.0);
    for step in steps {
        match step {
            Step::Pair { i, j, signs, after, bias, .. } => {
                (all[*i], all[*j]) = (signs[0] * after[0], signs[1] * after[1]);
                b = bias.unwrap_or(b);
            }
            Step::Coordinate { row, sign, taken, bias, .. } => {
                all[*row] = sign * taken;
                b = bias.unwrap_or(b);
            }
            Step::Mistake { row, sign, times, bias, .. } => {
                all[*row] = sign * *times as f64;
                b = *bias;
            }
            other => panic!("{other:?}"),
        }
    }
    (all, b)
}

/// Points, f, slack, kinds and errors after a step, computed here, beside those of the answer to its frame.
fn fault_of_frame(answer: &Answer, xy: &[[f64; 2]], classes: &[u8], c: &[f64], b: f64, gamma: Option<f64>) -> f64 {
    let kernel = |x: [f64; 2], z: [f64; 2]| match gamma {
        Some(gamma) => (-gamma * ((x[0] - z[0]).powi(2) + (x[1] - z[1]).powi(2))).exp(),
        None => x[0] * z[0] + x[1] * z[1],
    };
    let mut worst = 0.0f64;
    for (row, &x) in xy.iter().enumerate() {
        let f: f64 = b + xy.iter().zip(c).map(|(&z, c)| c * kernel(x, z)).sum::<f64>();
        let slack = (1.0 - f * (2.0 * f64::from(classes[row]) - 1.0)).max(0.0);
        worst = worst.max((answer.decision_values()[row] - f).abs() / (1.0 + f.abs()));
        worst = worst.max((answer.slack()[row] - slack).abs() / (1.0 + slack));
        worst = worst.max((answer.alpha()[row] - c[row].abs()).abs());
        let kind = answer.kinds()[row];
        if (c[row] == 0.0) != (kind == 0) || (c[row] != 0.0 && slack > 1.0 + 1e-6 && kind != 3) {
            return f64::INFINITY;
        }
    }
    worst
}

#[test]
fn at_every_step_the_answer_is_of_that_step_and_at_the_last_one_of_the_fit() {
    let models = [
        (json!({ "method": "svm", "c": 1, "solver": "smo", "tolerance": 1e-6 }), None),
        (
            json!({ "method": "svm", "c": 3, "solver": "smo", "tolerance": 1e-6,
                    "kernel": { "name": "rbf", "gamma": 0.7 } }),
            Some(0.7),
        ),
        (json!({ "method": "perceptron" }), None),
        (json!({ "method": "kernel-perceptron", "kernel": { "name": "rbf", "gamma": 0.7 } }), Some(0.7)),
    ];
    let mut control = 0;
    for seed in 0..40 {
        let mut random = Random(seed);
        let (xy, classes) = points(&mut random, [1.0, 3.0][seed as usize % 2]);
        let (model, gamma) = &models[random.below(models.len())];
        let mut request = request(&xy, &classes, model, &["steps"]);
        let fit = asked(&request, 1);
        let steps = fit.steps().unwrap().list.clone();
        let shown = random.below(steps.len() + 1);
        for count in [0, shown, steps.len()] {
            let (c, bias) = replay(&steps[..count], xy.len());
            let coefficients = c.iter().copied().enumerate().filter(|(_, value)| *value != 0.0).collect();
            request["frame"] = serde_json::to_value(FrameRequest { coefficients, weights: None, bias }).unwrap();
            let found = asked(&request, 1);
            let fault = fault_of_frame(&found, &xy, &classes, &c, bias, *gamma);
            assert!(fault < 1e-10, "seed {seed}, step {count} of {}: {fault}", steps.len());
            // The negative control: another b is seen.
            control += usize::from(fault_of_frame(&found, &xy, &classes, &c, bias + 1e-3, *gamma) > 1e-6);
            if count == steps.len() && steps.len() == fit.steps().unwrap().count {
                let last = found.decision_values().iter().zip(fit.decision_values());
                assert!(last.clone().all(|(a, b)| (a - b).abs() < 1e-4 * (1.0 + b.abs())), "seed {seed}");
            }
        }
    }
    assert_eq!(control, 3 * 40);
}

/// The widest margin of points in a space, from the nearest point of the hull of all y (x, 1) to the origin (Gilbert's method).
fn widest_margin(gram: &[Vec<f64>]) -> f64 {
    let count = gram.len();
    let mut weights = vec![0.0; count];
    weights[0] = 1.0;
    let mut along = gram[0].clone();
    for _ in 0..200_000 {
        let square: f64 = weights.iter().zip(&along).map(|(w, a)| w * a).sum();
        let next = (0..count).min_by(|&a, &b| along[a].total_cmp(&along[b])).unwrap();
        if square - along[next] <= 1e-9 * square {
            break;
        }
        let curvature = square - 2.0 * along[next] + gram[next][next];
        let part = ((square - along[next]) / curvature).min(1.0);
        weights.iter_mut().for_each(|weight| *weight *= 1.0 - part);
        weights[next] += part;
        along.iter_mut().zip(&gram[next]).for_each(|(a, g)| *a = (1.0 - part) * *a + part * g);
    }
    let square: f64 = weights.iter().zip(&along).map(|(w, a)| w * a).sum();
    square.sqrt()
}

#[test]
fn a_perceptron_at_rest_has_novikoffs_bound_and_keeps_to_it() {
    let mut compared = 0;
    for seed in 0..60 {
        let mut random = Random(1000 + seed);
        let (xy, classes) = points(&mut random, 3.0);
        let (model, gamma): (Value, Option<f64>) = if seed % 2 == 0 {
            (json!({ "method": "perceptron" }), None)
        } else {
            (json!({ "method": "kernel-perceptron", "kernel": { "name": "rbf", "gamma": 0.5 } }), Some(0.5))
        };
        let found = asked(&request(&xy, &classes, &model, &["steps"]), 1);
        let head = found.head().unwrap();
        let bound = &head["mistakes"];
        if head["model"]["stop"] != "converged" {
            assert!(bound.is_null(), "seed {seed}: {bound}");
            continue;
        }
        let sign = |row: usize| 2.0 * f64::from(classes[row]) - 1.0;
        let kernel = |x: [f64; 2], z: [f64; 2]| match gamma {
            Some(gamma) => (-gamma * ((x[0] - z[0]).powi(2) + (x[1] - z[1]).powi(2))).exp(),
            None => x[0] * z[0] + x[1] * z[1],
        };
        let entry = |i: usize, j: usize| sign(i) * sign(j) * (kernel(xy[i], xy[j]) + 1.0);
        let gram: Vec<Vec<f64>> = (0..xy.len()).map(|i| (0..xy.len()).map(|j| entry(i, j)).collect()).collect();
        let radius = (0..xy.len()).map(|i| gram[i][i]).fold(0.0, f64::max).sqrt();
        let number = |name: &str| bound[name].as_f64().unwrap_or_else(|| panic!("seed {seed}: {bound}"));
        assert!((number("radius") - radius).abs() < 1e-12 * radius, "seed {seed}: {bound}, {radius}");
        // Gilbert's method comes from above, and slowly where the margin is small.
        let margin = widest_margin(&gram);
        assert!((number("margin") / margin - 1.0).abs() < 2e-3, "seed {seed}: {bound}, {margin}");
        let mistakes = found.steps().unwrap().count as f64;
        assert!(mistakes <= number("most"), "seed {seed}: {mistakes} mistakes, {bound}");
        compared += 1;
    }
    assert!(compared >= 30, "only {compared} perceptrons came to rest");
}

#[test]
fn a_request_beyond_its_limits_is_refused_with_a_way_out() {
    let good = request(&[[0.0, 0.0], [1.0, 1.0]], &[0, 1], &json!({ "method": "svm", "c": 1 }), &[]);
    assert!(asked(&good, 1).alpha().len() == 2);
    let with = |path: &str, value: Value| {
        let mut request = good.clone();
        *request.pointer_mut(path).unwrap() = value;
        request
    };
    let cases = [
        (with("/points/given/xy", json!([[0.0, 0.0], [1e10, 1.0]])), "point 2"),
        (with("/points/given/classes", json!([0])), "1 classes of 2 points"),
        (with("/points/given/classes", json!([0, 2])), "point 2 is of class 2"),
        (with("/points/given/labels", json!(["a", ""])), "empty"),
        (with("/points/given/labels", json!(["a", "b".repeat(61)])), "too long"),
        (with("/points/given/labels", json!([])), "0 labels"),
        (with("/points/given/names", json!(["a", "a"])), "one name"),
        (with("/points/given", json!({ "xy": [], "classes": [], "labels": ["a"] })), "no points"),
        (with("/points", json!({ "named": { "name": "nowhere" } })), "no set"),
        (with("/points", json!({ "named": { "name": "moons", "rows": 20001 } })), "20001 points"),
        (with("/model", json!({ "method": "svm", "c": -1 })), "-1"),
        (with("/model", json!({ "method": "svm", "c": 1, "solver": "magic" })), "magic"),
        (with("/model", json!({ "method": "svm", "c": 1, "bias": "magic" })), "magic"),
        (with("/model", json!({ "method": "mlp", "c": 1, "hidden": 65 })), "65 hidden"),
        (with("/model", json!({ "method": "svm", "kernel": { "name": "rbf", "gamma": -1 }, "c": 1 })), "gamma"),
        (with("/view", json!({ "x": [1, 0] })), "the view of x"),
        (with("/view", json!({ "aspect": 100 })), "100 times"),
    ];
    for (request, words) in &cases {
        let request: Request = serde_json::from_value(request.clone()).unwrap();
        let error = answer(&request, &Workers::none(), &mut Unattended).expect_err(words);
        assert!(error.error.contains(words), "{words}: {error:?}");
        assert!(!error.help.is_empty());
    }
    let mut grid = good.clone();
    grid["grid"] = json!({ "columns": 4000, "rows": 2800 });
    let mut costs = good.clone();
    costs["costs"] = json!(vec![1.0; 61]);
    let mut frame = good;
    frame["frame"] = json!({ "coefficients": [[7, 1.0]] });
    for (request, words) in [(grid, "4000 x 2800"), (costs, "61 costs"), (frame, "other points")] {
        let request: Request = serde_json::from_value(request).unwrap();
        let error = answer(&request, &Workers::none(), &mut Unattended).expect_err(words);
        assert!(error.error.contains(words) && !error.help.is_empty(), "{error:?}");
    }
}

/// The columns of a table by name, those of directions included.
fn columns(text: &str) -> (u64, Vec<(String, Vec<f64>)>) {
    let table = Start::of_table("the table", text.as_bytes()).unwrap().table.unwrap();
    let numbers = |values: &Value| values.as_array().unwrap().iter().map(|value| value.as_f64().unwrap()).collect();
    let names = table["names"].as_array().unwrap().iter().map(|name| name.as_str().unwrap().to_string());
    let columns = names.zip(table["columns"].as_array().unwrap()).map(|(name, values)| (name, numbers(values)));
    (table["own"].as_u64().unwrap(), columns.collect())
}

#[test]
fn a_table_of_many_columns_offers_directions_whose_units_do_not_count() {
    let text = |unit: f64| {
        let row = |k: usize| {
            let (a, b, c) = (k % 7, k * k % 11, (3 * k + k / 5) % 13);
            format!("{},{b},{c},{}\n", unit * (a + 10 * (k % 2)) as f64, ["no", "yes"][k % 2])
        };
        "width,height,depth,kind\n".to_string() + &(0..40).map(row).collect::<String>()
    };
    let (own, one) = columns(&text(1.0));
    let (_, other) = columns(&text(1e-6));
    assert_eq!((own, one.len()), (3, 7));
    assert!(one[3].0.contains("principal") && one[5].0.contains("discriminant"), "{one:?}");
    for ((name, a), (_, b)) in one[3..].iter().zip(&other[3..]) {
        assert!(a.iter().zip(b).all(|(a, b)| (a - b).abs() < 1e-6), "{name}: {a:?} {b:?}");
    }
    let apart = |sign: f64| (0..40).all(|row| (sign * one[5].1[row] > 0.0) == (row % 2 == 1));
    assert!(apart(1.0) || apart(-1.0), "the discriminant direction tells the classes apart");
    let (own, two) = columns("a,b,kind\n1,2,x\n2,1,y\n3,4,x\n");
    assert_eq!((own, two.len()), (2, 2));
}
