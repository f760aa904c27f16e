//! Models as ONNX files: what is in them, by a reader of its own, and what is refused. That onnxruntime computes the same as we do is tested by
//! `tests/peers/test_onnx.py`.
#![allow(clippy::unwrap_used)] // a test may end here

use maxmargin::data::{Dataset, Label, Labels, Matrix, ScalingKind, embedded};
use maxmargin::kernel::{Gamma, KernelParams};
use maxmargin::model::Multiclass;
use maxmargin::problem::{Bias, Loss, Task};
use maxmargin::{Model, TrainingParams, Unattended, Workers};
use maxmargin_io::onnx_model_to_bytes;

/// A field of a message: its number, and a whole number or bytes.
#[derive(Clone, Debug)]
enum Field {
    Number(u32, u64),
    Bytes(u32, Vec<u8>),
}

/// A message, taken apart.
#[derive(Clone, Debug)]
struct Message(Vec<Field>);

fn varint(bytes: &[u8], at: &mut usize) -> u64 {
    let mut value = 0;
    for shift in (0..70).step_by(7) {
        let byte = bytes[*at];
        *at += 1;
        value |= u64::from(byte & 0x7f) << shift;
        if byte < 0x80 {
            return value;
        }
    }
    panic!("a number without an end");
}

impl Message {
    fn read(bytes: &[u8]) -> Self {
        let (mut at, mut fields) = (0, Vec::new());
        while at < bytes.len() {
            let tag = varint(bytes, &mut at);
            let number = (tag >> 3) as u32;
            match tag & 7 {
                0 => fields.push(Field::Number(number, varint(bytes, &mut at))),
                2 => {
                    let length = varint(bytes, &mut at) as usize;
                    fields.push(Field::Bytes(number, bytes[at..at + length].to_vec()));
                    at += length;
                }
                kind => panic!("a field of kind {kind}"),
            }
        }
        Message(fields)
    }

    fn all(&self, wanted: u32) -> Vec<&[u8]> {
        let mut found = Vec::new();
        for field in &self.0 {
            if let Field::Bytes(number, bytes) = field
                && *number == wanted
            {
                found.push(&bytes[..]);
            }
        }
        found
    }

    fn messages(&self, wanted: u32) -> Vec<Message> {
        self.all(wanted).into_iter().map(Message::read).collect()
    }

    fn texts(&self, wanted: u32) -> Vec<String> {
        self.all(wanted).into_iter().map(|bytes| String::from_utf8(bytes.to_vec()).unwrap()).collect()
    }

    fn text(&self, wanted: u32) -> String {
        self.texts(wanted).pop().unwrap_or_default()
    }

    fn number(&self, wanted: u32) -> Option<i64> {
        self.0.iter().find_map(|field| match field {
            Field::Number(number, value) if *number == wanted => Some(*value as i64),
            _ => None,
        })
    }

    fn singles(&self, wanted: u32) -> Vec<f32> {
        let single = |bytes: &[u8]| f32::from_le_bytes(bytes.try_into().unwrap());
        self.all(wanted).into_iter().flat_map(|bytes| bytes.chunks(4).map(single).collect::<Vec<_>>()).collect()
    }

    fn numbers(&self, wanted: u32) -> Vec<i64> {
        let mut found = Vec::new();
        for bytes in self.all(wanted) {
            let mut at = 0;
            while at < bytes.len() {
                found.push(varint(bytes, &mut at) as i64);
            }
        }
        found
    }
}

/// A file, with the numbers of fields that `onnx.proto` gives.
struct File {
    model: Message,
    graph: Message,
}

impl File {
    fn of(model: &Model) -> Self {
        let model = Message::read(&onnx_model_to_bytes(model).unwrap());
        let graph = model.messages(7).remove(0);
        let file = File { model, graph };
        file.assert_sound();
        file
    }

    fn nodes(&self) -> Vec<Message> {
        self.graph.messages(1)
    }

    fn kinds(&self) -> Vec<String> {
        self.nodes().iter().map(|node| node.text(4)).collect()
    }

    fn attribute(&self, kind: &str, name: &str) -> Option<Message> {
        let node = self.nodes().into_iter().find(|node| node.text(4) == kind).unwrap();
        node.messages(5).into_iter().find(|attribute| attribute.text(1) == name)
    }

    fn singles(&self, kind: &str, name: &str) -> Vec<f32> {
        self.attribute(kind, name).unwrap().singles(7)
    }

    /// Names and shapes of values: (name, kind of element, width).
    fn values(&self, field: u32) -> Vec<(String, i64, Option<i64>)> {
        let value = |value: &Message| {
            let tensor = value.messages(2).remove(0).messages(1).remove(0);
            let sizes = tensor.messages(2).remove(0).messages(1);
            assert_eq!(sizes[0].text(2), "rows");
            (value.text(1), tensor.number(1).unwrap(), sizes.get(1).and_then(|size| size.number(1)))
        };
        self.graph.messages(field).iter().map(value).collect()
    }

    /// Every name is made before it is used, and once; constants hold as many numbers as their shapes say.
    fn assert_sound(&self) {
        let mut known = vec!["X".to_string()];
        for tensor in self.graph.messages(5) {
            let size: i64 = tensor.numbers(1).iter().product();
            let held = tensor.singles(4).len() + tensor.numbers(7).len() + tensor.texts(6).len();
            assert_eq!(size, held as i64, "{}", tensor.text(8));
            known.push(tensor.text(8));
        }
        for node in self.nodes() {
            assert!(node.texts(1).iter().all(|input| known.contains(input)), "{known:?} {:?}", node.texts(1));
            for output in node.texts(2) {
                assert!(!known.contains(&output), "{output} is made twice");
                known.push(output);
            }
        }
        assert!(self.values(12).iter().all(|(name, ..)| known.contains(name)), "{known:?}");
        assert_eq!(self.model.number(1), Some(7));
        assert_eq!(self.model.text(2), "maxmargin");
        let operators = self.model.messages(8);
        let versions: Vec<_> = operators.iter().map(|set| (set.text(1), set.number(2).unwrap())).collect();
        assert_eq!(versions, [("".to_string(), 13), ("ai.onnx.ml".to_string(), 2)]);
    }
}

/// Iris with labels of our own.
fn iris(labels: [&str; 3]) -> Dataset {
    let iris = embedded("iris").unwrap();
    let texts =
        iris.labels().unwrap().codes().iter().map(|&code| Label::new(labels[code as usize])).collect::<Vec<_>>();
    Dataset::new(iris.matrix().clone(), Labels::new(texts)).unwrap()
}

fn fit(data: &Dataset, params: TrainingParams) -> Model {
    params.check().unwrap().fit(data, &Workers::none(), &mut Unattended).unwrap()
}

fn with(kernel: KernelParams) -> TrainingParams {
    TrainingParams { kernel, ..TrainingParams::default() }
}

fn rbf() -> KernelParams {
    KernelParams::Rbf { gamma: Gamma::Value(0.5) }
}

#[test]
fn a_linear_model_of_two_classes_is_its_weights_with_both_signs() {
    let model = fit(&iris(["-1", "1", "1"]), TrainingParams::default());
    let file = File::of(&model);
    assert_eq!(file.kinds(), ["LinearClassifier", "Gather"]);
    let weights: Vec<f32> = model.machines()[0].weights.as_ref().unwrap().iter().map(|w| *w as f32).collect();
    let both: Vec<f32> = weights.iter().map(|w| -w).chain(weights.iter().copied()).collect();
    assert_eq!(file.singles("LinearClassifier", "coefficients"), both);
    let bias = model.machines()[0].bias as f32;
    assert_eq!(file.singles("LinearClassifier", "intercepts"), [-bias, bias]);
    assert_eq!(file.attribute("LinearClassifier", "classlabels_ints").unwrap().numbers(8), [-1, 1]);
    assert_eq!(file.values(11), [("X".to_string(), 1, Some(4))]);
    assert_eq!(file.values(12), [("label".to_string(), 7, None), ("scores".to_string(), 1, Some(1))]);
}

#[test]
fn labels_that_are_whole_numbers_are_whole_numbers_and_all_others_are_texts() {
    for (labels, kind) in [(["+1", "-2", "1e3"], 7), (["1.5", "2", "3"], 8), (["a", "b", "ü"], 8), (["1", "b", "2"], 8)]
    {
        let file = File::of(&fit(&iris(labels), with(rbf())));
        assert_eq!(file.values(12)[0], ("label".to_string(), kind, None), "{labels:?}");
        let (numbers, texts) =
            ["classlabels_ints", "classlabels_strings"].map(|name| file.attribute("SVMClassifier", name)).into();
        match kind {
            7 => assert_eq!(numbers.unwrap().numbers(8), [-2, 1, 1000]),
            _ => assert_eq!(texts.unwrap().texts(9).len(), 3),
        }
        let classes = file.graph.messages(5).into_iter().find(|tensor| tensor.text(8) == "classes").unwrap();
        assert_eq!(classes.number(2), Some(kind));
    }
}

#[test]
fn a_model_by_pairs_has_its_vectors_class_by_class() {
    let model = fit(&iris(["a", "b", "c"]), with(rbf()));
    let file = File::of(&model);
    assert_eq!(file.kinds(), ["SVMClassifier", "Neg", "Greater", "Cast", "MatMul", "Add", "ArgMax", "Gather"]);
    let sizes = file.attribute("SVMClassifier", "vectors_per_class").unwrap().numbers(8);
    let vectors = file.singles("SVMClassifier", "support_vectors");
    let coefficients = file.singles("SVMClassifier", "coefficients");
    let total: usize = sizes.iter().sum::<i64>() as usize;
    assert_eq!((vectors.len(), coefficients.len()), (total * 4, total * 2));
    let rho = file.singles("SVMClassifier", "rho");
    assert_eq!(rho, model.machines().iter().map(|machine| -machine.bias as f32).collect::<Vec<_>>());
    assert_eq!(file.singles("SVMClassifier", "kernel_params")[0], 0.5);
    // The definition (OX.1), computed from the file alone, is our decision values with the other sign.
    let data = iris(["a", "b", "c"]);
    let ours = model.predict(&data, &Workers::none()).unwrap();
    let starts = [0, sizes[0] as usize, (sizes[0] + sizes[1]) as usize, total];
    for row in [0, 60, 149] {
        let x = data.matrix().row(row);
        let value = |v: usize| {
            let far = |(a, b): (&f32, &f64)| (f64::from(*a) - b).powi(2);
            (-0.5 * vectors[v * 4..v * 4 + 4].iter().zip(&x).map(far).sum::<f64>()).exp()
        };
        for (pair, (i, j)) in [(0, 1), (0, 2), (1, 2)].into_iter().enumerate() {
            let part = |class: usize, line: usize| -> f64 {
                (starts[class]..starts[class + 1]).map(|v| f64::from(coefficients[line * total + v]) * value(v)).sum()
            };
            let found = part(i, j - 1) + part(j, i) + f64::from(rho[pair]);
            let expected = -ours.decision_values(row)[pair];
            assert!((found - expected).abs() < 1e-4, "row {row}, pair {pair}: {found} {expected}");
        }
    }
}

#[test]
fn classes_against_the_rest_share_their_vectors() {
    let model = fit(&iris(["1", "2", "3"]), TrainingParams { multiclass: Some(Multiclass::OneVsRest), ..with(rbf()) });
    let file = File::of(&model);
    assert_eq!(file.kinds(), ["SVMClassifier", "Gather", "ArgMax", "Gather"]);
    let pool = model.support_vectors().len() as i64;
    assert_eq!(file.attribute("SVMClassifier", "vectors_per_class").unwrap().numbers(8), [pool, 0, 0, 0]);
    assert_eq!(file.singles("SVMClassifier", "rho").len(), 6);
    assert_eq!(file.values(12)[1], ("scores".to_string(), 1, Some(3)));
}

#[test]
fn scaling_is_a_node_before_all_others() {
    let data = iris(["1", "2", "3"]);
    for scaling in [ScalingKind::Standard, ScalingKind::MinMax] {
        let model = fit(&data, TrainingParams { scaling, ..with(rbf()) });
        let file = File::of(&model);
        assert_eq!(file.kinds()[0], "Scaler");
        let learned = model.parts().scaling.as_ref().unwrap();
        let single = |numbers: &[f64]| numbers.iter().map(|number| *number as f32).collect::<Vec<_>>();
        assert_eq!(file.singles("Scaler", "offset"), single(learned.offsets()));
        assert_eq!(file.singles("Scaler", "scale"), single(learned.factors()));
    }
}

#[test]
fn a_folded_bias_is_in_the_constant_of_the_kernel() {
    let polynomial = KernelParams::Polynomial { gamma: Gamma::Value(0.5), coef0: 2.0, degree: 3 };
    let model = fit(&iris(["1", "2", "2"]), TrainingParams { bias: Bias::Folded, ..with(polynomial) });
    assert_eq!(File::of(&model).singles("SVMClassifier", "kernel_params"), [0.5, 2.5, 3.0]);
}

#[test]
fn numbers_and_one_class_are_regressors() {
    let data = iris(["0.5", "2", "-1.25"]);
    let task = |task: Task, kernel: KernelParams| TrainingParams { task, ..with(kernel) };
    let numbers = Task::Regression { epsilon: 0.1 };
    let file = File::of(&fit(&data, task(numbers, rbf())));
    assert_eq!(file.kinds(), ["SVMRegressor", "Identity"]);
    assert_eq!(file.values(12), [("value".to_string(), 1, Some(1)), ("scores".to_string(), 1, Some(1))]);
    assert_eq!(File::of(&fit(&data, task(numbers, KernelParams::Linear))).kinds(), ["LinearRegressor", "Identity"]);
    let file = File::of(&fit(&data, task(Task::OneClass { nu: 0.2 }, rbf())));
    assert_eq!(file.kinds(), ["SVMRegressor", "Greater", "Cast", "Reshape", "Gather"]);
    let ball = fit(&data, task(Task::Svdd { nu: 0.2 }, rbf()));
    let machine = &ball.machines()[0];
    assert_eq!(File::of(&ball).singles("SVMRegressor", "rho"), [(machine.bias - machine.reach.unwrap()) as f32]);
}

#[test]
fn logistic_loss_has_probabilities() {
    let logistic = |multiclass: Option<Multiclass>| TrainingParams {
        loss: Some(Loss::Logistic),
        multiclass,
        ..TrainingParams::default()
    };
    let (two, three) = (iris(["1", "2", "2"]), iris(["1", "2", "3"]));
    for (data, multiclass, last) in [
        (&two, None, "Sigmoid"),
        (&three, Some(Multiclass::Joint), "Softmax"),
        (&three, Some(Multiclass::OneVsRest), "Softmax"),
    ] {
        let file = File::of(&fit(data, logistic(multiclass)));
        assert_eq!(file.kinds().last().unwrap(), last);
        let classes = data.labels().unwrap().classes().len() as i64;
        assert_eq!(file.values(12)[2], ("probabilities".to_string(), 1, Some(classes)));
    }
    assert_eq!(File::of(&fit(&three, logistic(Some(Multiclass::OneVsOne)))).values(12).len(), 2);
}

#[test]
fn a_model_without_vectors_still_has_one_that_adds_nothing() {
    let mut parts = fit(&iris(["1", "2", "2"]), with(rbf())).parts().clone();
    (parts.support_rows, parts.vectors) = (Vec::new(), Some(Matrix::dense(0, 4, Vec::<f64>::new()).unwrap()));
    (parts.machines[0].support, parts.machines[0].coefficients) = (Vec::new(), Vec::new());
    let file = File::of(&Model::new(parts).unwrap());
    assert_eq!(file.attribute("SVMClassifier", "vectors_per_class").unwrap().numbers(8), [1, 0]);
    assert_eq!(file.singles("SVMClassifier", "support_vectors"), [0.0; 4]);
}

#[test]
fn names_of_columns_and_classes_are_kept_beside_the_graph() {
    let model = fit(&embedded("iris").unwrap(), TrainingParams::default());
    let words = File::of(&model).model.messages(14);
    let words: Vec<(String, String)> = words.iter().map(|entry| (entry.text(1), entry.text(2))).collect();
    assert_eq!(words[0], ("classes".into(), r#"["setosa","versicolor","virginica"]"#.into()));
    assert!(words.len() < 2 || words[1].0 == "columns" && words[1].1.starts_with('['), "{words:?}");
}

#[test]
fn what_onnx_cannot_compute_is_refused_with_the_way_out() {
    let data = iris(["1", "2", "3"]);
    let gamma = Gamma::Value(0.3);
    let ball = |kernel: KernelParams| TrainingParams { task: Task::Svdd { nu: 0.2 }, ..with(kernel) };
    let square = KernelParams::Polynomial { gamma, coef0: 0.0, degree: 2 };
    let sum = KernelParams::Sum(vec![KernelParams::Linear, rbf()]);
    let table = Matrix::dense(3, 3, vec![2.0, 1.0, 0.0, 1.0, 2.0, 0.0, 0.0, 0.0, 2.0]).unwrap();
    let table = Dataset::new(table, Labels::new(["1", "1", "2"].map(Label::new))).unwrap();
    for (model, what, help) in [
        (fit(&data, with(KernelParams::Laplacian { gamma })), "no operator for the kernel laplacian(gamma=0.3)", "rbf"),
        (fit(&data, with(KernelParams::ChiSquare { gamma })), "no operator for the kernel chi-square", "rbf"),
        (fit(&data, with(sum)), "no operator for the kernel (linear + rbf(gamma=0.5))", "linear, polynomial"),
        (fit(&table, with(KernelParams::Precomputed)), "no operator for the kernel precomputed", "sigmoid"),
        (fit(&data, ball(KernelParams::Linear)), "no balls but those of the kernel rbf", "task one-class"),
        (fit(&data, ball(square)), "no balls but those of the kernel rbf", "kernel rbf"),
    ] {
        let error = onnx_model_to_bytes(&model).unwrap_err();
        assert!(error.to_string().contains(what) && error.help().contains(help), "{error}: {}", error.help());
    }
    let mut parts = fit(&data, TrainingParams::default()).parts().clone();
    parts.machines[0].bias = -1e39;
    let error = onnx_model_to_bytes(&Model::new(parts).unwrap()).unwrap_err();
    assert!(
        error.to_string().contains("a bias of -1000000000000000000000000000000000000000, and ONNX's operators"),
        "{error}"
    );
    assert!(error.help().contains("scale standard"));
}

#[test]
fn a_model_of_more_than_a_file_holds_is_refused_before_it_is_made_dense() {
    let columns = 90_000_000;
    let rows =
        Matrix::sparse(6, columns, vec![0, 1, 2, 3, 4, 5, 6], vec![0, 5, 9, 7, 80_000_000, 2], vec![1.0; 6]).unwrap();
    let data = Dataset::new(rows, Labels::new(["1", "2", "1", "2", "1", "2"].map(Label::new))).unwrap();
    let error = onnx_model_to_bytes(&fit(&data, with(rbf()))).unwrap_err();
    assert!(error.to_string().contains("numbers in full, and a file of ONNX holds 2 GiB"), "{error}");
    assert!(error.help().contains("fewer columns"));
}
