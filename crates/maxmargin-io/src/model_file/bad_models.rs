//! A catalogue of model files that lie, each with a checksum that fits, and the message that it must give.

use maxmargin::data::embedded;
use maxmargin::kernel::{Gamma, KernelParams};
use maxmargin::training::Landmarks;
use maxmargin::{TrainingParams, Unattended, Workers};

use super::*;

/// The model that is edited: six support vectors of two columns.
fn model() -> Model {
    let kernel = KernelParams::Rbf { gamma: Gamma::Value(0.5) };
    let training = TrainingParams { kernel, ..TrainingParams::default() }.check().unwrap();
    training.fit(&embedded("e3").unwrap(), &Workers::none(), &mut Unattended).unwrap()
}

/// What is said of a file with this content. A checksum is no proof of honesty: anybody can compute one.
fn said(json: String, tensors: &[Tensor]) -> String {
    let bytes = container::to_bytes(&Kind { format: 3, ..MODEL }, json, tensors).unwrap();
    match model_from_bytes(&bytes, "m.mm") {
        Ok(_) => "a model".into(),
        Err(error) => {
            assert_eq!(error.help(), MODEL.when_damaged);
            // Where in the header it is depends on the digits of numbers before it.
            let said = error.to_string();
            said.split(" at line 1 column ").next().unwrap_or_default().into()
        }
    }
}

fn check(found: Vec<(String, String, &str)>) {
    let wrong: Vec<String> = found
        .into_iter()
        .map(|(what, found, expected)| (what, found, format!("m.mm: the model file is damaged: {expected}")))
        .filter(|(_, found, expected)| found != expected)
        .map(|(what, found, expected)| format!("{what}\n  expected {expected}\n  found    {found}"))
        .collect();
    assert!(wrong.is_empty(), "{} mismatches\n{}", wrong.len(), wrong.join("\n"));
}

/// A part of the header, what it is replaced by, and what is said then.
const HEADERS: &[(&str, &str, &str)] = &[
    (r#""kernel":{"name":"rbf","gamma":0.5},"#, "", "missing field `kernel`"),
    (
        r#""name":"rbf""#,
        r#""name":"cosine""#,
        "unknown variant `cosine`, expected one of `linear`, `polynomial`, `rbf`, `sigmoid`, `laplacian`, `chi-square`, `precomputed`, `sum`, `product`, `scaled`",
    ),
    (r#""name":"rbf""#, r#""name":"linear""#, "machines.weights is missing"),
    (r#""name":"rbf""#, r#""name":"precomputed""#, "the model's parts do not fit: support vectors without need"),
    (
        r#""gamma":0.5"#,
        r#""gamma":0.0"#,
        "the model's parts do not fit: gamma is 0, but it must be a finite number above 0",
    ),
    (
        r#""gamma":0.5"#,
        r#""gamma":-0.5"#,
        "the model's parts do not fit: gamma is -0.5, but it must be a finite number above 0",
    ),
    (r#""gamma":0.5"#, r#""gamma":1e999"#, "number out of range"),
    (r#""gamma":0.5"#, r#""gamma":"x""#, r#"invalid type: string "x", expected f64"#),
    (r#""gamma":0.5"#, r#""gamma":null"#, "invalid type: null, expected f64"),
    (
        r#""name":"rbf","gamma":0.5"#,
        r#""name":"polynomial","gamma":0.5,"coef0":0.0,"degree":0"#,
        "the model's parts do not fit: degree is 0, but it must be from 1 to 100",
    ),
    (
        r#""name":"rbf","gamma":0.5"#,
        r#""name":"sum","parts":[]"#,
        "the model's parts do not fit: a sum or product of no kernels is no kernel",
    ),
    (
        r#""bias":"explicit""#,
        r#""bias":"free""#,
        "unknown variant `free`, expected one of `explicit`, `folded`, `none`",
    ),
    (
        r#""loss":"hinge""#,
        r#""loss":"huber""#,
        "unknown variant `huber`, expected one of `hinge`, `squared`, `logistic`",
    ),
    (r#""loss":"hinge","#, "", "missing field `loss`"),
    (
        r#""penalty":{"c":1.0}"#,
        r#""penalty":{"d":1.0}"#,
        "unknown variant `d`, expected one of `c`, `c-over-n`, `lambda`, `nu`, `hard`, `none`",
    ),
    (r#""tolerance":0.001"#, r#""tolerance":"small""#, r#"invalid type: string "small", expected f64"#),
    (
        r#""multiclass":"ovo""#,
        r#""multiclass":"tree""#,
        "unknown variant `tree`, expected one of `ovo`, `ovr`, `joint`, `crammer-singer`",
    ),
    (r#"["-1","+1"]"#, r#"["-1"]"#, "the model's parts do not fit: 1 classes"),
    (r#"["-1","+1"]"#, r#"["-1","+1","2"]"#, "the model's parts do not fit: 1 machines for 3 classes"),
    (r#"["-1","+1"]"#, "[]", "the model's parts do not fit: 0 classes"),
    (r#"["-1","+1"]"#, "[1,2]", "invalid type: integer `1`, expected a string"),
    (r#""one_against_rest":false"#, r#""one_against_rest":0"#, "invalid type: integer `0`, expected a boolean"),
    (
        r#""columns":2"#,
        r#""columns":3"#,
        "the model's parts do not fit: support vectors of 6 x 2 for 6 rows of 3 columns",
    ),
    (r#""columns":2"#, r#""columns":134217729"#, "it claims 134217729 columns, more than 134217728"),
    (r#""columns":2"#, r#""columns":-1"#, "invalid value: integer `-1`, expected usize"),
    (r#""columns":2"#, r#""columns":2.5"#, "invalid type: floating point `2.5`, expected usize"),
    (r#""names":["x1","x2"]"#, r#""names":["x1"]"#, "the model's parts do not fit: not 2 column names"),
    (r#""names":["x1","x2"]"#, r#""names":"x1""#, r#"invalid type: string "x1", expected a sequence"#),
    (
        r#""scaling":null"#,
        r#""scaling":{"kind":"standard","offsets":[0.0],"factors":[1.0]}"#,
        "the model's parts do not fit: scaling of not 2 columns",
    ),
    (
        r#""training_rows":6"#,
        r#""training_rows":5"#,
        "the model's parts do not fit: the support vectors' rows do not increase below 5",
    ),
    (
        r#""training_rows":6"#,
        r#""training_rows":99999999999999999999"#,
        "invalid type: floating point `1e+20`, expected usize",
    ),
    (r#""fingerprint":""#, r#""fingerprint":5,"x":""#, "invalid type: integer `5`, expected a string"),
    (
        r#""positive":1,"negative":0"#,
        r#""positive":0,"negative":1"#,
        "the model's parts do not fit: the machines are not in the order of their classes",
    ),
    (
        r#""positive":1,"negative":0"#,
        r#""positive":1,"negative":null"#,
        "the model's parts do not fit: the machines are not in the order of their classes",
    ),
    (
        r#""positive":1"#,
        r#""positive":7"#,
        "the model's parts do not fit: the machines are not in the order of their classes",
    ),
    (
        r#""stop":"converged""#,
        r#""stop":"perfect""#,
        "unknown variant `perfect`, expected one of `converged`, `iteration-limit`, `time-limit`, `interrupted`, `stalled`, `diverged`",
    ),
    (r#""iterations":"#, r#""iterations":-1,"x":"#, "invalid value: integer `-1`, expected u64"),
    (r#""cost":1.0"#, r#""cost":"one""#, r#"invalid type: string "one", expected f64"#),
    (
        r#""evidence":{"certificate""#,
        r#""evidence":{"proof""#,
        "unknown variant `proof`, expected `certificate` or `none`",
    ),
    (r#""evidence":"#, r#""proof":"#, "missing field `evidence`"),
    (r#""notes":["#, r#""notes":[5,"#, "invalid type: integer `5`, expected a string"),
    (r#""machines":[{"#, r#""machines":[],"x":[{"#, "machines.offsets has 2 numbers, not 1"),
    (r#""machines":["#, r#""machines":[null,"#, "invalid type: null, expected struct MachineHeader"),
    (r#""kernel":{"#, r#""task":{"regression":{"epsilon":0.1}},"kernel":{"#, "the model's parts do not fit: 2 classes"),
    (
        r#""kernel":{"#,
        r#""task":"ranking","kernel":{"#,
        "unknown variant `ranking`, expected one of `classification`, `regression`, `nu-regression`, `one-class`, `svdd`",
    ),
    (
        r#""kernel":{"#,
        r#""norm":"l1","kernel":{"#,
        "the model's parts do not fit: the L1 norm is a sum over the weights of columns, which the kernel rbf does not have",
    ),
    (r#""kernel":{"#, r#""class_weights":[1.0],"kernel":{"#, "the model's parts do not fit: not 2 weights of classes"),
    (
        r#""kernel":{"#,
        r#""class_weights":[1.0,-1.0],"kernel":{"#,
        "the model's parts do not fit: not 2 weights of classes",
    ),
    (
        r#""kernel":{"#,
        r#""joint":{"none":"x"},"kernel":{"#,
        "the model's parts do not fit: evidence for all classes belongs to classes trained together, and to these only",
    ),
    (
        r#""stop":"converged""#,
        r#""reach":1.0,"stop":"converged""#,
        "the model's parts do not fit: a reach belongs to a ball, and to that only",
    ),
    (r#""bias":0."#, r#""bias":1e999,"x":0."#, "number out of range"),
];

#[test]
fn each_header_that_lies_gives_its_message() {
    let parts = model().parts().clone();
    let json = model_to_json(&model(), true).unwrap();
    let tensors = tensors_of(&parts);
    assert_eq!(said(json.clone(), &tensors), "a model");
    let one = |&(from, to, message): &(&str, &str, &'static str)| {
        assert!(json.contains(from), "{from} in {json}");
        (format!("{from} -> {to}"), said(json.replacen(from, to, 1), &tensors), message)
    };
    check(HEADERS.iter().map(one).collect());
}

type Edit = fn(&mut Vec<Tensor>);

/// What is done to the tensors, and what is said then.
const TENSORS: &[(&str, Edit, &str)] = &[
    ("without support_rows", |tensors| drop_one(tensors, "support_rows"), "support_rows is missing"),
    ("without vectors", |tensors| drop_one(tensors, "vectors"), "the model's parts do not fit: no support vectors"),
    ("without offsets of machines", |tensors| drop_one(tensors, "machines.offsets"), "machines.offsets is missing"),
    ("without support", |tensors| drop_one(tensors, "machines.support"), "machines.support is missing"),
    ("without coefficients", |tensors| drop_one(tensors, "machines.coefficients"), "machines.coefficients is missing"),
    (
        "support_rows in single precision",
        |tensors| put(tensors, Tensor::new("support_rows", vec![6], [0f32; 6])),
        "support_rows is of type F32, not U64",
    ),
    (
        "support_rows that fall",
        |tensors| put(tensors, Tensor::new("support_rows", vec![6], [0u64, 1, 3, 2, 4, 5])),
        "the model's parts do not fit: the support vectors' rows do not increase below 6",
    ),
    (
        "support_rows that repeat",
        |tensors| put(tensors, Tensor::new("support_rows", vec![6], [0u64, 1, 2, 2, 4, 5])),
        "the model's parts do not fit: the support vectors' rows do not increase below 6",
    ),
    (
        "a support row beyond the training rows",
        |tensors| put(tensors, Tensor::new("support_rows", vec![6], [0u64, 1, 2, 3, 4, 6])),
        "the model's parts do not fit: the support vectors' rows do not increase below 6",
    ),
    (
        "fewer support_rows than vectors",
        |tensors| put(tensors, Tensor::new("support_rows", vec![5], [0u64, 1, 2, 3, 4])),
        "the model's parts do not fit: support vectors of 6 x 2 for 5 rows of 2 columns",
    ),
    (
        "vectors as a list",
        |tensors| put(tensors, Tensor::new("vectors", vec![12], [1f64; 12])),
        "vectors has the shape [12]",
    ),
    (
        "vectors as a cube",
        |tensors| put(tensors, Tensor::new("vectors", vec![3, 2, 2], [1f64; 12])),
        "vectors has the shape [3, 2, 2]",
    ),
    (
        "vectors of whole numbers",
        |tensors| put(tensors, Tensor::new("vectors", vec![6, 2], [1u32; 12])),
        "vectors is of type U32, not F64",
    ),
    (
        "vectors of another shape",
        |tensors| put(tensors, Tensor::new("vectors", vec![4, 3], [1f64; 12])),
        "the model's parts do not fit: support vectors of 4 x 3 for 6 rows of 2 columns",
    ),
    (
        "a vector that is not a number",
        |tensors| put(tensors, Tensor::new("vectors", vec![6, 2], [f64::NAN; 12])),
        "the value in row 1, column 1 is NaN",
    ),
    (
        "a vector that is infinite",
        |tensors| {
            put(tensors, Tensor::new("vectors", vec![6, 2], (0..12).map(|k| if k == 7 { f32::INFINITY } else { 0.0 })))
        },
        "the value in row 4, column 2 is inf",
    ),
    (
        "offsets of too many machines",
        |tensors| put(tensors, Tensor::new("machines.offsets", vec![3], [0u64, 3, 6])),
        "machines.offsets has 3 numbers, not 2",
    ),
    (
        "offsets that begin late",
        |tensors| put(tensors, Tensor::new("machines.offsets", vec![2], [1u64, 6])),
        "machines.offsets do not rise from 0 to the end",
    ),
    (
        "offsets that end early",
        |tensors| put(tensors, Tensor::new("machines.offsets", vec![2], [0u64, 5])),
        "machines.offsets do not rise from 0 to the end",
    ),
    (
        "offsets that end late",
        |tensors| put(tensors, Tensor::new("machines.offsets", vec![2], [0u64, u64::MAX])),
        "machines.offsets do not rise from 0 to the end",
    ),
    (
        "support beyond the pool",
        |tensors| put(tensors, Tensor::new("machines.support", vec![6], [0u32, 1, 2, 3, 4, 6])),
        "the model's parts do not fit: a machine's support vectors do not increase below 6",
    ),
    (
        "support that falls",
        |tensors| put(tensors, Tensor::new("machines.support", vec![6], [1u32, 0, 2, 3, 4, 5])),
        "the model's parts do not fit: a machine's support vectors do not increase below 6",
    ),
    (
        "support in 64 bits",
        |tensors| put(tensors, Tensor::new("machines.support", vec![6], [0u64; 6])),
        "machines.support is of type U64, not U32",
    ),
    (
        "fewer coefficients than support",
        |tensors| put(tensors, Tensor::new("machines.coefficients", vec![5], [1f64; 5])),
        "machines.coefficients has 5 numbers, not 6",
    ),
    (
        "a coefficient that is not a number",
        |tensors| put(tensors, Tensor::new("machines.coefficients", vec![6], [f64::NAN; 6])),
        "the model's parts do not fit: a coefficient is not finite",
    ),
    (
        "an infinite coefficient",
        |tensors| put(tensors, Tensor::new("machines.coefficients", vec![6], [f64::NEG_INFINITY; 6])),
        "the model's parts do not fit: a coefficient is not finite",
    ),
    (
        "coefficients in single precision",
        |tensors| put(tensors, Tensor::new("machines.coefficients", vec![6], [1f32; 6])),
        "machines.coefficients is of type F32, not F64",
    ),
    (
        "sparse vectors without offsets",
        |tensors| {
            drop_one(tensors, "vectors");
            put(tensors, Tensor::new("vectors.indices", vec![1], [0u32]));
            put(tensors, Tensor::new("vectors.values", vec![1], [1f64]))
        },
        "vectors.offsets is missing",
    ),
    (
        "sparse vectors without columns",
        |tensors| {
            drop_one(tensors, "vectors");
            put(tensors, Tensor::new("vectors.offsets", vec![7], [0u64, 1, 1, 1, 1, 1, 1]));
            put(tensors, Tensor::new("vectors.values", vec![1], [1f64]))
        },
        "vectors.indices is missing",
    ),
    (
        "a column of a sparse vector that is too large",
        |tensors| sparse(tensors, [0, 1, 1, 1, 1, 1, 1], 2),
        "sparse matrix: column 3 in row 1 does not fit 2 columns",
    ),
    (
        "offsets of sparse vectors that fall",
        |tensors| sparse(tensors, [0, 1, 0, 1, 1, 1, 1], 0),
        "sparse matrix: 7 row offsets does not fit 6 rows with 1 entries, rising from 0",
    ),
    (
        "offsets of sparse vectors that are too large",
        |tensors| sparse(tensors, [0, 1, 1, 1, 1, 1, 9], 0),
        "sparse matrix: 7 row offsets does not fit 6 rows with 1 entries, rising from 0",
    ),
];

fn drop_one(tensors: &mut Vec<Tensor>, name: &str) {
    tensors.retain(|tensor| tensor.name() != name);
}

fn put(tensors: &mut Vec<Tensor>, tensor: Tensor) {
    drop_one(tensors, tensor.name());
    tensors.push(tensor);
}

/// Six sparse vectors with one entry.
fn sparse(tensors: &mut Vec<Tensor>, offsets: [u64; 7], column: u32) {
    drop_one(tensors, "vectors");
    put(tensors, Tensor::new("vectors.offsets", vec![7], offsets));
    put(tensors, Tensor::new("vectors.indices", vec![1], [column]));
    put(tensors, Tensor::new("vectors.values", vec![1], [1f64]));
}

#[test]
fn each_tensor_that_lies_gives_its_message() {
    let parts = model().parts().clone();
    let one = |&(what, edit, message): &(&str, Edit, &'static str)| {
        let mut tensors = tensors_of(&parts);
        edit(&mut tensors);
        (what.to_string(), said(model_to_json(&model(), true).unwrap(), &tensors), message)
    };
    check(TENSORS.iter().map(one).collect());
}

/// A model on four landmarks.
fn on_landmarks() -> Model {
    let landmarks = Some(Landmarks { count: 4, prove: true, until: None });
    let kernel = KernelParams::Rbf { gamma: Gamma::Value(0.5) };
    let training = TrainingParams { kernel, landmarks, ..TrainingParams::default() }.check().unwrap();
    training.fit(&embedded("e3").unwrap(), &Workers::none(), &mut Unattended).unwrap()
}

/// What is done to the tensors of a model on landmarks, and what is said then.
const LANDMARKS: &[(&str, Edit, &str)] = &[
    ("without rows", |tensors| drop_one(tensors, "landmarks.rows"), "landmarks.rows is missing"),
    ("without offsets", |tensors| drop_one(tensors, "landmarks.offsets"), "landmarks.offsets is missing"),
    (
        "too few coefficients",
        |tensors| {
            put(tensors, Tensor::new("landmarks.offsets", vec![2], [0u64, 2]));
            put(tensors, Tensor::new("landmarks.rows", vec![2], [0u64, 1]));
            put(tensors, Tensor::new("landmarks.coefficients", vec![1], [1f64]));
        },
        "landmarks.coefficients has 1 numbers, not 2",
    ),
    (
        "offsets beyond the end",
        |tensors| put(tensors, Tensor::new("landmarks.offsets", vec![2], [0u64, 99])),
        "landmarks.offsets do not rise from 0 to the end",
    ),
    (
        "a row that is not of the data",
        |tensors| {
            put(tensors, Tensor::new("landmarks.offsets", vec![2], [0u64, 1]));
            put(tensors, Tensor::new("landmarks.rows", vec![1], [1000u64]));
            put(tensors, Tensor::new("landmarks.coefficients", vec![1], [1f64]));
        },
        ROWS_OF_DUAL_POINT,
    ),
    (
        "a coefficient that is no number",
        |tensors| {
            put(tensors, Tensor::new("landmarks.offsets", vec![2], [0u64, 1]));
            put(tensors, Tensor::new("landmarks.rows", vec![1], [0u64]));
            put(tensors, Tensor::new("landmarks.coefficients", vec![1], [f64::NAN]));
        },
        "the model's parts do not fit: a dual point without a finite coefficient for each of its rows",
    ),
    (
        "a machine of fewer landmarks",
        |tensors| {
            put(tensors, Tensor::new("machines.offsets", vec![2], [0u64, 1]));
            put(tensors, Tensor::new("machines.support", vec![1], [0u32]));
            put(tensors, Tensor::new("machines.coefficients", vec![1], [1f64]));
        },
        "the model's parts do not fit: a machine that is no sum over all landmarks",
    ),
];

/// The number of rows is that of the embedded set.
const ROWS_OF_DUAL_POINT: &str = "the model's parts do not fit: the rows of a dual point do not increase below ROWS";

#[test]
fn each_tensor_of_landmarks_that_lies_gives_its_message() {
    let model = on_landmarks();
    let rows = model.provenance().rows.to_string();
    let one = |&(what, edit, message): &(&str, Edit, &'static str)| {
        let mut tensors = tensors_of(model.parts());
        edit(&mut tensors);
        let found = said(model_to_json(&model, true).unwrap(), &tensors);
        let found = if message == ROWS_OF_DUAL_POINT { found.replace(&rows, "ROWS") } else { found };
        (what.to_string(), found, message)
    };
    check(LANDMARKS.iter().map(one).collect());
}

/// What is done to the columns of a file of format 6, and what is said then.
const COLUMNS: &[(&str, Edit, &str)] = &[
    ("without a column", |tensors| drop_one(tensors, "machines.bias"), "machines.bias is missing"),
    ("without a column of counts", |tensors| drop_one(tensors, "machines.rows"), "machines.rows is missing"),
    ("without the numbers of remarks", |tensors| drop_one(tensors, "machines.remark"), "machines.remark is missing"),
    ("without remarks", |tensors| drop_one(tensors, "machines.remarks"), "machines.offsets has 2 numbers, not 1"),
    (
        "without offsets of machines",
        |tensors| drop_one(tensors, "machines.offsets"),
        "machines.remark has 1 numbers, not 0",
    ),
    (
        "more machines than columns",
        |tensors| put(tensors, Tensor::new("machines.offsets", vec![3], [0u64, 3, 6])),
        "machines.remark has 1 numbers, not 2",
    ),
    (
        "columns that are longer than others",
        |tensors| put(tensors, Tensor::new("machines.cost", vec![2], [1f64; 2])),
        "machines.cost has 2 numbers, not 1",
    ),
    (
        "a column in single precision",
        |tensors| put(tensors, Tensor::new("certificate.gap", vec![1], [1f32])),
        "certificate.gap is of type F32, not F64",
    ),
    (
        "counts that are no whole numbers",
        |tensors| put(tensors, Tensor::new("machines.rows", vec![1], [1f64])),
        "machines.rows is of type F64, not U64",
    ),
    (
        "a bias that is not a number",
        |tensors| put(tensors, Tensor::new("machines.bias", vec![1], [f64::NAN])),
        "machines.bias holds NaN",
    ),
    (
        "an infinite C",
        |tensors| put(tensors, Tensor::new("machines.cost", vec![1], [f64::INFINITY])),
        "machines.cost holds inf",
    ),
    (
        "a gap that is not a number",
        |tensors| put(tensors, Tensor::new("certificate.gap", vec![1], [f64::NAN])),
        "certificate.gap holds NaN",
    ),
    (
        "a primal that is infinite, and below 0",
        |tensors| put(tensors, Tensor::new("certificate.primal", vec![1], [f64::NEG_INFINITY])),
        "certificate.primal holds -inf",
    ),
    (
        "an infinite dual",
        |tensors| put(tensors, Tensor::new("certificate.dual", vec![1], [f64::INFINITY])),
        "certificate.dual holds inf",
    ),
    (
        "no reason to stop",
        |tensors| put(tensors, Tensor::whole("machines.stop", [6].into_iter())),
        "machines.stop holds 6",
    ),
    (
        "too many iterations",
        |tensors| put(tensors, Tensor::whole("machines.iterations", [u64::MAX].into_iter())),
        "it claims 18446744073709551615 iterations",
    ),
    (
        "a class that is not there",
        |tensors| put(tensors, Tensor::whole("machines.positive", [u64::MAX].into_iter())),
        "the model's parts do not fit: the machines are not in the order of their classes",
    ),
    (
        "a class against the rest that is one of two",
        |tensors| put(tensors, Tensor::whole("machines.negative", [1].into_iter())),
        "the model's parts do not fit: the machines are not in the order of their classes",
    ),
    (
        "a remark that is not there",
        |tensors| put(tensors, Tensor::whole("machines.remark", [9].into_iter())),
        "machines.remark refers to number 9 of 2 remarks",
    ),
    (
        "remarks that are no JSON",
        |tensors| put(tensors, Tensor::of_bytes("machines.remarks", b"[{}".to_vec())),
        "machines.remarks: EOF while parsing a list",
    ),
    (
        "remarks that are no text",
        |tensors| put(tensors, Tensor::of_bytes("machines.remarks", vec![b'[', b'"', 0xff, b'"', b']'])),
        "machines.remarks: invalid unicode code point",
    ),
    (
        "a remark of an unknown kind",
        |tensors| put(tensors, Tensor::of_bytes("machines.remarks", br#"[{},{"colour":1}]"#.to_vec())),
        "machines.remarks: unknown field `colour`, expected one of `epsilon`, `reach`, `calibration`, `uncertified`, `columns`, `notes`",
    ),
    (
        "a reach of a machine that is no ball",
        |tensors| put(tensors, Tensor::of_bytes("machines.remarks", br#"[{},{"reach":1.0}]"#.to_vec())),
        "the model's parts do not fit: a reach belongs to a ball, and to that only",
    ),
    (
        "slopes of other machines",
        |tensors| put(tensors, Tensor::new("calibration.slopes", vec![2], [1f64; 2])),
        "calibration.slopes has 2 numbers, not 4",
    ),
    (
        "slopes that fall",
        |tensors| put(tensors, Tensor::new("calibration.slopes", vec![1, 4], [1.0, 1.0, -1.0, 1.0])),
        "the model's parts do not fit: a calibration out of its range",
    ),
    (
        "a sigmoid that is not a number",
        |tensors| put(tensors, Tensor::new("calibration.sigmoid", vec![1, 2], [1.0, f64::NAN])),
        "the model's parts do not fit: a calibration out of its range",
    ),
];

#[test]
fn each_column_that_lies_gives_its_message() {
    let parts = model().parts().clone();
    let outline = model_to_json(&model(), false).unwrap();
    let one = |&(what, edit, message): &(&str, Edit, &'static str)| {
        let mut tensors = tensors_of(&parts);
        tensors.extend(columns::tensors_of(&parts.machines).unwrap());
        assert_eq!(said(outline.clone(), &tensors), "a model");
        edit(&mut tensors);
        (what.to_string(), said(outline.clone(), &tensors), message)
    };
    check(COLUMNS.iter().map(one).collect());
}

#[test]
fn a_long_remark_that_many_machines_claim_takes_no_memory_for_each() {
    let training = TrainingParams { kernel: KernelParams::Linear, ..TrainingParams::default() }.check().unwrap();
    let model = training.fit(&embedded("iris").unwrap(), &Workers::none(), &mut Unattended).unwrap();
    let outline = model_to_json(&model, false).unwrap();
    for (length, expected) in
        [(900, "a model"), (2000, "machines.remark has several machines for a remark of 2014 bytes")]
    {
        let mut tensors = tensors_of(model.parts());
        tensors.extend(columns::tensors_of(&model.parts().machines).unwrap());
        let list = format!(r#"[{{"notes":["{}"]}}]"#, "x".repeat(length));
        put(&mut tensors, Tensor::of_bytes("machines.remarks", list.into_bytes()));
        put(&mut tensors, Tensor::whole("machines.remark", [0, 0, 0].into_iter()));
        let found = said(outline.clone(), &tensors);
        assert!(found.ends_with(expected), "{length}: {found}");
    }
}
