//! The model file (`.mm`): numbers and a small header, in the safetensors format.
//!
//! ```text
//! 8 bytes          length of the header
//! header           JSON: for each tensor its type, shape and place; and __metadata__ with one entry, "maxmargin":
//!                  { "format": 2, "program": "0.1.0", "checksum": "…", "model": { … } }
//! tensors          support_rows U64 [v]                 training row of each support vector, increasing
//!                  vectors F64|F32 [v, d]               support vectors, dense; or
//!                  vectors.offsets U64 [v+1], vectors.indices U32 [e], vectors.values F64|F32 [e]     sparse
//!                  machines.offsets U64 [m+1], machines.support U32 [s], machines.coefficients F64 [s]
//!                  machines.weights F64 [m, d]          linear models; [m, h] after a network of h units in its last layer
//!                  network.N.weights F64 [inputs, outputs], network.N.bias F64 [outputs]     layer N of a network, from 0
//! ```
//!
//! `model` is a model without the tensors (`model_file/header.rs`), and may have one more entry: `reading`, how the training data was read
//! ([`Reading`]), which changes nothing that the model computes. The checksum is BLAKE3 over the format, the program's version, the text
//! of `model`, and every tensor's name, type, shape and bytes. A file holds no code, no types and no paths. Format numbers only grow: older files
//! are read for ever, newer ones refused by name.
//!
//! A key of `model` that older programs may pass over (`gap`: the relative gap that was asked for) does not raise the number.
//!
//! Format 2 knows of weights of classes (`class_weights`, one a class), of classes that were trained together (`multiclass` is `joint` or
//! `crammer-singer`, and `joint` holds their one certificate), and the norm of the weights (`norm`, `l1`; without it `l2`). Format 3 knows of other tasks than classification (`task`, with ε
//! or ν), of which a regression has no classes. Format 4 knows of networks (`network`: the activation, and the inputs and outputs of each layer).
//! Format 5 has the entries `machines` of `model` in a tensor, `machines.text U8 [bytes]`, when there are more than 10,000: a header is at most
//! 100 MB long. It is read, but no longer written. Format 6 has an entry for each machine in each of these tensors, when there are more than 1,000:
//!
//! ```text
//! machines.bias F64, machines.cost F64                    NaN where a machine has no cost
//! machines.positive, machines.negative WHOLE              places of the classes; the negative one is the positive one where that is the rest
//! machines.stop WHOLE                                     0 converged, 1 iteration-limit, 2 time-limit, 3 interrupted, 4 stalled, 5 diverged
//! machines.iterations, machines.training_errors, machines.rows WHOLE
//! certificate.F F64                                       F: primal, dual, gap, relative_gap, violation, infeasibility, margin, slack_sum
//! certificate.counts.F WHOLE                              F: not_support, on_margin, inside, misclassified, support, bounded
//! calibration.slopes F64 [m, 4] | calibration.sigmoid F64 [m, 2]     slope and offset; where all machines have one of this kind
//! machines.remark WHOLE                                   which remark a machine has
//! machines.remarks U8 [bytes]                             a list in JSON of what else machines have, the empty one `{}` first:
//!                                                         { "epsilon", "reach", "calibration", "uncertified", "columns", "notes" }
//! ```
//!
//! Format 7 knows of machines on landmarks: `landmarks` has an entry for each machine, with its `proof` where there is one, and their dual points are
//!
//! ```text
//! landmarks.offsets U64 [m+1], landmarks.rows U64 [p], landmarks.coefficients F64 [p]
//! ```
//!
//! `WHOLE` is the smallest of the types U8, U16, U32 and U64 that holds all numbers of the tensor. Where a machine is `uncertified`, which says why, the
//! numbers of its certificate are 0. All other models are written as format 1, which older programs read.

mod columns;
mod header;

use std::path::Path;

use maxmargin::Model;
use maxmargin::data::{Matrix, Reading};
use maxmargin::model::ModelParts;
use maxmargin::problem::Norm;
use maxmargin::training::Penalty;
use serde::{Deserialize, Serialize};

use crate::container::{self, Kind, MOST_ITERATIONS, Tensor, Tensors};
use crate::error::Error;
use crate::foreign::{ForeignModel, liblinear_model_from_text, libsvm_model_from_text};
use crate::save_atomically;
use header::Header;
pub(crate) use header::MachineHeader;

/// What a model file is.
const MODEL: Kind<'static> = Kind {
    key: "maxmargin",
    noun: "model",
    format: 7,
    when_other: "name a model file that train has written",
    when_damaged: "train the model again, or copy the file again",
};
/// The most machines that are described in the header, some 600 bytes each. With more, files of many classes take longer to write; with
/// fewer, older programs can read fewer models.
const MOST_IN_HEADER: usize = 1_000;
/// Columns that a file without sparse vectors may claim: prediction spreads out one row of f64.
const MOST_COLUMNS: usize = 1 << 27;

/// Saves a model, whole or not at all.
///
/// # Errors
/// When the model has a kernel written by the user, or the file cannot be written.
pub fn save_model(path: &Path, model: &Model) -> Result<(), Error> {
    let bytes = model_to_bytes(model).map_err(|what| Error::OwnFile {
        path: path.display().to_string(),
        what,
        help: "a model with a kernel written in Rust can be used by the program that trained it, but not saved".into(),
    })?;
    save_atomically(path, &bytes)
}

/// Loads a model: ours, or one of LIBSVM or LIBLINEAR, by its content. Every claim of the file is checked before memory is taken for it.
///
/// # Errors
/// When the file cannot be read, is damaged, of another kind, or of a newer format.
pub fn load_model(path: &Path) -> Result<Model, Error> {
    let name = path.display().to_string();
    let bytes = std::fs::read(path).map_err(|error| Error::Open {
        path: name.clone(),
        reason: crate::error::reason(&error),
        help: MODEL.when_other.into(),
    })?;
    match ForeignModel::of_text(&bytes) {
        None => model_from_bytes(&bytes, &name),
        Some(kind) => {
            let text = std::str::from_utf8(&bytes).map_err(|error| Error::Content {
                path: name.clone(),
                found: format!("bytes that are no text, from byte {} on", error.valid_up_to() + 1),
                expected: "the text of a model".into(),
                help: "give the model file as the program has written it".into(),
            })?;
            match kind {
                ForeignModel::Libsvm => libsvm_model_from_text(text, &name),
                ForeignModel::Liblinear => liblinear_model_from_text(text, &name),
            }
        }
    }
}

/// A model as the bytes of a file.
///
/// # Errors
/// The reason, when the kernel was written by the user and cannot be saved.
pub fn model_to_bytes(model: &Model) -> Result<Vec<u8>, String> {
    let parts = model.parts();
    let fail = |error: serde_json::Error| format!("the model cannot be saved: {error}");
    if parts.machines.len() > MOST_IN_HEADER {
        return in_columns(parts, model.reading());
    }
    let json =
        serde_json::to_string(&Remembering { header: Header::of(parts, &parts.machines), reading: model.reading() })
            .map_err(fail)?;
    let format = match parts.recipe.task.is_classification() && !matches!(parts.recipe.penalty, Penalty::Nu(_)) {
        _ if parts.landmarks.is_some() => 7,
        _ if parts.network.is_some() || parts.machines.iter().any(|machine| machine.calibration.is_some()) => 4,
        false => 3,
        true if parts.joint.is_some() || parts.recipe.class_weights.is_some() || parts.recipe.norm != Norm::L2 => 2,
        true => 1,
    };
    container::to_bytes(&Kind { format, ..MODEL }, json, &tensors_of(parts))
}

/// What a model file says of a model, as JSON: everything but vectors, weights and coefficients; its machines, of which there may be millions,
/// where they are asked for.
///
/// # Errors
/// As [`model_to_bytes`].
pub fn model_to_json(model: &Model, with_machines: bool) -> Result<String, String> {
    let machines = if with_machines { model.machines() } else { &[] };
    serde_json::to_string(&Header::of(model.parts(), machines))
        .map_err(|error| format!("the model cannot be saved: {error}"))
}

/// A model in format 6.
fn in_columns(parts: &ModelParts, reading: Option<&Reading>) -> Result<Vec<u8>, String> {
    let fail = |error: serde_json::Error| format!("the model cannot be saved: {error}");
    let json = serde_json::to_string(&Remembering { header: Header::of(parts, &[]), reading }).map_err(fail)?;
    let mut tensors = tensors_of(parts);
    tensors.extend(columns::tensors_of(&parts.machines).map_err(fail)?);
    let format = if parts.landmarks.is_some() { 7 } else { 6 };
    container::to_bytes(&Kind { format, ..MODEL }, json, &tensors)
}

/// A model from the bytes of a file called `name`.
///
/// # Errors
/// When the bytes are damaged, of another kind, or of a newer format.
pub fn model_from_bytes(bytes: &[u8], name: &str) -> Result<Model, Error> {
    let damaged = |what: String| container::damaged(&MODEL, name, &what);
    let (json, tensors) = container::from_bytes(&MODEL, bytes, name)?;
    let header: Header = serde_json::from_str(&json).map_err(|error| damaged(error.to_string()))?;
    let mut parts = header.into_parts();
    if let Some(text) = tensors.bytes("machines.text") {
        let machines: Vec<MachineHeader> = serde_json::from_slice(text).map_err(|error| damaged(error.to_string()))?;
        parts.machines = machines.into_iter().map(MachineHeader::into_machine).collect();
    }
    let offsets = tensors.shape("machines.offsets").map_or(0, |shape| shape.iter().product());
    if let Some(machines) = columns::machines_of(&tensors, offsets.saturating_sub(1)).map_err(damaged)? {
        parts.machines = machines;
    }
    // Sparse vectors take no memory for columns without an entry.
    let most = if tensors.shape("vectors.values").is_some() { u32::MAX as usize - 1 } else { MOST_COLUMNS };
    if parts.columns > most {
        return Err(damaged(format!("it claims {} columns, more than {most}", parts.columns)));
    }
    if let Some(machine) = parts.machines.iter().find(|machine| machine.iterations > MOST_ITERATIONS) {
        return Err(damaged(format!("it claims {} iterations", machine.iterations)));
    }
    fill(&mut parts, &tensors).map_err(damaged)?;
    let Remembered { reading } = serde_json::from_str(&json).map_err(|error| damaged(error.to_string()))?;
    check_reading(reading.as_ref(), &parts).map_err(damaged)?;
    Model::new(parts).map(|model| model.with_reading(reading)).map_err(|error| damaged(error.to_string()))
}

/// The entry `model` of the header.
#[derive(Serialize)]
struct Remembering<'a> {
    #[serde(flatten)]
    header: Header,
    #[serde(skip_serializing_if = "Option::is_none")]
    reading: Option<&'a Reading>,
}

/// What of that entry is not part of the model.
#[derive(Deserialize)]
struct Remembered {
    #[serde(default)]
    reading: Option<Reading>,
}

/// Checks that the columns that are read are those of the model.
fn check_reading(reading: Option<&Reading>, parts: &ModelParts) -> Result<(), String> {
    let Some(reading) = reading else { return Ok(()) };
    if !reading.holdout.is_none_or(|share| share > 0.0 && share < 1.0) {
        return Err("it claims a share of rows kept out that is none".into());
    }
    if !reading.support_rows.is_empty() && reading.support_rows.len() != parts.support_rows.len() {
        return Err("its rows of support vectors are not one each".into());
    }
    let Some(table) = &reading.table else { return Ok(()) };
    let is_inside = |place: usize| place < table.width;
    let inside = table.columns.iter().map(|column| column.column.place).chain(table.label.iter().map(|l| l.place));
    let mut values = table.columns.iter().filter_map(|column| column.categories.as_ref());
    let are_sorted = values.all(|values| values.is_sorted_by(|a, b| a < b));
    let fills = table.columns.iter().filter_map(|column| column.fill).all(f64::is_finite);
    let made: usize = if table.columns.is_empty() {
        table.used()
    } else {
        table.columns.iter().map(|column| column.categories.as_ref().map_or(1, Vec::len)).sum()
    };
    if inside.into_iter().all(is_inside) && are_sorted && fills && made == parts.columns {
        Ok(())
    } else {
        Err("the columns that it reads are not those of the model".into())
    }
}

/// The tensors of a model.
fn tensors_of(parts: &ModelParts) -> Vec<Tensor> {
    let mut tensors =
        vec![Tensor::new("support_rows", vec![parts.support_rows.len()], parts.support_rows.iter().copied())];
    match &parts.vectors {
        None => {}
        Some(matrix @ Matrix::Dense(dense)) => {
            tensors.push(Tensor::of_values("vectors", vec![matrix.rows(), matrix.columns()], dense.values()));
        }
        Some(Matrix::Sparse(csr)) => {
            let entries = vec![csr.indices().len()];
            tensors.push(Tensor::new("vectors.offsets", vec![csr.offsets().len()], csr.offsets().iter().copied()));
            tensors.push(Tensor::new("vectors.indices", entries.clone(), csr.indices().iter().copied()));
            tensors.push(Tensor::of_values("vectors.values", entries, csr.values()));
        }
    }
    let machines = &parts.machines;
    let ends = machines.iter().scan(0u64, |end, machine| {
        *end += machine.support.len() as u64;
        Some(*end)
    });
    let offsets: Vec<u64> = std::iter::once(0).chain(ends).collect();
    let total = vec![machines.iter().map(|machine| machine.support.len()).sum()];
    tensors.push(Tensor::new("machines.offsets", vec![offsets.len()], offsets));
    let support = machines.iter().flat_map(|machine| machine.support.iter().copied());
    tensors.push(Tensor::new("machines.support", total.clone(), support));
    let coefficients = machines.iter().flat_map(|machine| machine.coefficients.iter().copied());
    tensors.push(Tensor::new("machines.coefficients", total, coefficients));
    if parts.recipe.kernel.is_linear() {
        let weights = machines.iter().flat_map(|machine| machine.weights.iter().flatten().copied());
        tensors.push(Tensor::new("machines.weights", vec![machines.len(), parts.width()], weights));
    }
    if let Some(points) = &parts.landmarks {
        let ends = points.iter().scan(0u64, |end, point| {
            *end += point.rows.len() as u64;
            Some(*end)
        });
        let offsets: Vec<u64> = std::iter::once(0).chain(ends).collect();
        let total = vec![points.iter().map(|point| point.rows.len()).sum()];
        tensors.push(Tensor::new("landmarks.offsets", vec![offsets.len()], offsets));
        let rows = points.iter().flat_map(|point| point.rows.iter().copied());
        tensors.push(Tensor::new("landmarks.rows", total.clone(), rows));
        let coefficients = points.iter().flat_map(|point| point.coefficients.iter().copied());
        tensors.push(Tensor::new("landmarks.coefficients", total, coefficients));
    }
    for (number, layer) in parts.network.iter().flat_map(|network| &network.layers).enumerate() {
        let shape = vec![layer.inputs, layer.outputs];
        tensors.push(Tensor::new(format!("network.{number}.weights"), shape, layer.weights.iter().copied()));
        let name = format!("network.{number}.bias");
        tensors.push(Tensor::new(name, vec![layer.outputs], layer.biases.iter().copied()));
    }
    tensors
}

/// Puts the tensors back into the parts. What it takes memory for is no more than the file holds.
fn fill(parts: &mut ModelParts, tensors: &Tensors<'_>) -> Result<(), String> {
    parts.support_rows = tensors.numbers("support_rows", None)?;
    if let Some(shape) = tensors.shape("vectors") {
        let &[rows, columns] = shape else {
            return Err(format!("vectors has the shape {shape:?}"));
        };
        let values = tensors.values("vectors")?;
        parts.vectors = Some(Matrix::dense(rows, columns, values).map_err(|error| error.to_string())?);
    } else if tensors.shape("vectors.values").is_some() {
        let offsets: Vec<u64> = tensors.numbers("vectors.offsets", None)?;
        let indices: Vec<u32> = tensors.numbers("vectors.indices", None)?;
        let values = tensors.values("vectors.values")?;
        let rows = offsets.len().saturating_sub(1);
        let matrix = Matrix::sparse(rows, parts.columns, offsets, indices, values);
        parts.vectors = Some(matrix.map_err(|error| error.to_string())?);
    }
    let offsets: Vec<u64> = tensors.numbers("machines.offsets", Some(parts.machines.len() + 1))?;
    let support: Vec<u32> = tensors.numbers("machines.support", None)?;
    let coefficients: Vec<f64> = tensors.numbers("machines.coefficients", Some(support.len()))?;
    if offsets.first() != Some(&0) || offsets.last() != Some(&(support.len() as u64)) || !offsets.is_sorted() {
        return Err("machines.offsets do not rise from 0 to the end".into());
    }
    for (machine, pair) in parts.machines.iter_mut().zip(offsets.windows(2)) {
        let span = pair[0] as usize..pair[1] as usize;
        machine.support = support[span.clone()].to_vec();
        machine.coefficients = coefficients[span].to_vec();
    }
    if parts.recipe.kernel.is_linear() {
        let width = parts.width();
        // What overflows is no length of a file.
        let length = parts.machines.len().saturating_mul(width);
        let weights: Vec<f64> = tensors.numbers("machines.weights", Some(length))?;
        for (number, machine) in parts.machines.iter_mut().enumerate() {
            machine.weights = Some(weights[number * width..(number + 1) * width].to_vec());
        }
    }
    if let Some(points) = &mut parts.landmarks {
        let offsets: Vec<u64> = tensors.numbers("landmarks.offsets", Some(points.len() + 1))?;
        let rows: Vec<u64> = tensors.numbers("landmarks.rows", None)?;
        let coefficients: Vec<f64> = tensors.numbers("landmarks.coefficients", Some(rows.len()))?;
        if offsets.first() != Some(&0) || offsets.last() != Some(&(rows.len() as u64)) || !offsets.is_sorted() {
            return Err("landmarks.offsets do not rise from 0 to the end".into());
        }
        for (point, pair) in points.iter_mut().zip(offsets.windows(2)) {
            let span = pair[0] as usize..pair[1] as usize;
            point.rows = rows[span.clone()].to_vec();
            point.coefficients = coefficients[span].to_vec();
        }
    }
    for (number, layer) in parts.network.iter_mut().flat_map(|network| &mut network.layers).enumerate() {
        let length = layer.inputs.saturating_mul(layer.outputs);
        layer.weights = tensors.numbers(&format!("network.{number}.weights"), Some(length))?;
        layer.biases = tensors.numbers(&format!("network.{number}.bias"), Some(layer.outputs))?;
    }
    Ok(())
}

#[cfg(test)]
mod bad_models;

#[cfg(test)]
mod tests {
    use std::ops::ControlFlow;

    use super::*;
    use maxmargin::data::{ColumnRecipe, Label, Labels, Missing, RawColumn, TableRecipe, embedded, generate};
    use maxmargin::kernel::{Custom, Gamma, KernelParams};
    use maxmargin::model::Multiclass;
    use maxmargin::problem::{Bias, Task};
    use maxmargin::solver::{Settings, SolverKind};
    use maxmargin::training::Landmarks;
    use maxmargin::{Dataset, Stop, TrainingParams, Unattended, Workers};

    fn train(data: &Dataset, params: TrainingParams) -> Model {
        params.check().unwrap().fit(data, &Workers::none(), &mut Unattended).unwrap()
    }

    fn rbf() -> KernelParams {
        KernelParams::Rbf { gamma: Gamma::Scale }
    }

    /// Models of every kind of layout, with the data they were trained on.
    fn models() -> Vec<(Dataset, Model)> {
        let iris = embedded("iris").unwrap();
        let sparse = iris.clone().with_matrix(iris.matrix().to_sparse()).unwrap();
        let single: Vec<f32> = (0..150).flat_map(|row| iris.matrix().row(row)).map(|value| value as f32).collect();
        let single = iris.clone().with_matrix(Matrix::dense(150, 4, single).unwrap()).unwrap();
        let table: Vec<f64> = (0..150)
            .flat_map(|i| (0..150).map(move |j| (i, j)))
            .map(|(i, j)| iris.matrix().dot(i, &iris.matrix().row(j)))
            .collect();
        let table = Dataset::new(Matrix::dense(150, 150, table).unwrap(), iris.labels().unwrap().clone()).unwrap();
        let sum = KernelParams::Sum(vec![
            KernelParams::Scaled(0.5, Box::new(KernelParams::Linear)),
            KernelParams::Product(vec![rbf(), KernelParams::Laplacian { gamma: Gamma::Auto }]),
        ]);
        let with = |kernel: KernelParams| TrainingParams { kernel, ..TrainingParams::default() };
        let folded = TrainingParams { bias: Bias::Folded, multiclass: Some(Multiclass::OneVsRest), ..with(rbf()) };
        let scaled = TrainingParams { scaling: maxmargin::data::ScalingKind::Standard, ..with(KernelParams::Linear) };
        let positive = TrainingParams { positive: Some(Label::new("setosa")), ..with(rbf()) };
        let together = |multiclass: Multiclass, solver: Option<SolverKind>| TrainingParams {
            multiclass: Some(multiclass),
            solver,
            bias: Bias::Folded,
            ..with(KernelParams::Linear)
        };
        let network = |hidden: &[usize]| {
            let settings = Settings { hidden: hidden.to_vec(), max_iterations: Some(60), ..Settings::default() };
            TrainingParams { solver: Some(SolverKind::Mlp), settings, ..with(KernelParams::Linear) }
        };
        let on_landmarks = |prove: bool| {
            let landmarks = Some(Landmarks { count: 20, prove, until: None });
            TrainingParams { landmarks, ..with(rbf()) }
        };
        let task = |task: Task| TrainingParams { task, ..with(KernelParams::Linear) };
        let widths = (0..150).map(|row| Label::new(iris.matrix().row(row)[3].to_string()));
        let numbers = iris.clone().with_answers(Labels::new(widths)).unwrap();
        vec![
            (numbers, task(Task::Regression { epsilon: 0.1 })),
            (iris.clone(), task(Task::OneClass { nu: 0.2 })),
            (iris.clone(), network(&[5, 3])),
            (sparse.clone(), TrainingParams { positive: Some(Label::new("setosa")), ..network(&[6]) }),
            (iris.clone(), together(Multiclass::Joint, Some(SolverKind::Logistic))),
            (iris.clone(), together(Multiclass::Joint, Some(SolverKind::Lda))),
            (sparse.clone(), together(Multiclass::CrammerSinger, None)),
            (iris.clone(), with(KernelParams::Linear)),
            (iris.clone(), scaled),
            (iris.clone(), folded),
            (iris.clone(), positive),
            (iris.clone(), with(sum)),
            (sparse, with(rbf())),
            (single, with(rbf())),
            (iris.clone(), on_landmarks(true)),
            (iris.clone(), TrainingParams { positive: Some(Label::new("setosa")), ..on_landmarks(false) }),
            (table, with(KernelParams::Precomputed)),
            (generate("xor", 40, 1).unwrap(), with(KernelParams::Sigmoid { gamma: Gamma::Scale, coef0: 0.5 })),
        ]
        .into_iter()
        .map(|(data, params)| {
            let model = train(&data, params);
            (data, model)
        })
        .collect()
    }

    /// A model as programs up to format 5 wrote more than 10,000 machines.
    fn in_format_5(model: &Model) -> Vec<u8> {
        let parts = model.parts();
        let json = model_to_json(model, false).unwrap();
        let mut tensors = tensors_of(parts);
        tensors.push(Tensor::of_bytes(
            "machines.text",
            serde_json::to_vec(&parts.machines.iter().map(MachineHeader::of).collect::<Vec<_>>()).unwrap(),
        ));
        container::to_bytes(&Kind { format: 5, ..MODEL }, json, &tensors).unwrap()
    }

    #[test]
    fn more_machines_than_a_header_holds_are_saved_and_loaded() {
        let matrix = Matrix::dense(150, 2, (0..300).map(|k| f64::from(k).sin()).collect::<Vec<f64>>()).unwrap();
        let labels = Labels::new((0..150).map(|row| Label::new(row.to_string())));
        let params = TrainingParams { kernel: rbf(), ..TrainingParams::default() };
        let model = train(&Dataset::new(matrix, labels).unwrap(), params);
        assert_eq!(model.machines().len(), 150 * 149 / 2);
        let bytes = model_to_bytes(&model).unwrap();
        let loaded = model_from_bytes(&bytes, "test.mm").unwrap();
        assert_eq!(model_to_bytes(&loaded).unwrap(), bytes);
        assert!(String::from_utf8_lossy(&bytes).contains(r#"\"format\":6"#));
        assert_eq!(model_to_json(&loaded, true).unwrap(), model_to_json(&model, true).unwrap());
    }

    /// Checks that a model comes back from format 6 with every fact that JSON keeps of it, and in the same bytes.
    fn survives_columns(model: &Model) {
        let bytes = in_columns(model.parts(), None).unwrap();
        let loaded = model_from_bytes(&bytes, "test.mm").unwrap();
        assert_eq!(in_columns(loaded.parts(), None).unwrap(), bytes);
        let words = |model: &Model| model_to_json(model, true).unwrap();
        assert_eq!(words(&loaded), words(model));
        assert_eq!(words(&model_from_bytes(&in_format_5(model), "test.mm").unwrap()), words(model));
        // The header and all other tensors are those of the other formats.
        let plain = model_from_bytes(&model_to_bytes(model).unwrap(), "test.mm").unwrap();
        assert_eq!(model_to_bytes(&loaded).unwrap(), model_to_bytes(&plain).unwrap());
    }

    #[test]
    fn columns_hold_what_json_holds_of_every_kind_of_model() {
        models().iter().for_each(|(_, model)| survives_columns(model));
    }

    #[test]
    fn columns_hold_calibrations_remarks_and_numbers_that_are_not_finite() {
        use maxmargin::calibration::{Calibration, CalibrationParams};
        use maxmargin::certificate::{ColumnCounts, Evidence};
        use maxmargin::provenance::Note;
        let iris = embedded("iris").unwrap();
        let training = TrainingParams { kernel: rbf(), ..TrainingParams::default() }.check().unwrap();
        let model = training.fit(&iris, &Workers::none(), &mut Unattended).unwrap();
        for platt in [false, true] {
            let params = CalibrationParams { platt, ..CalibrationParams::default() };
            let calibrated = training.calibrate(&model, &iris, params, &Workers::none(), &mut Unattended).unwrap();
            let ControlFlow::Continue(model) = calibrated else { panic!("nobody broke it") };
            assert!(model.machines().iter().all(|machine| machine.calibration.is_some()));
            survives_columns(&model);
            let mut parts = model.into_parts();
            parts.machines[1].calibration = None;
            survives_columns(&Model::new(parts.clone()).unwrap());
            parts.machines[1].calibration = Some(Calibration::Slopes([0.0, 1.0, 2.0, 1e300]));
            survives_columns(&Model::new(parts).unwrap());
        }
        let mut parts = model.into_parts();
        let note = |length: usize| ["note \"é\" ".repeat(length), String::new()].map(Note::Told).to_vec();
        // One that machines share, and one that is too long to be shared.
        for (length, stop) in [(3, Stop::Stalled), (300, Stop::Diverged)] {
            parts.machines.iter_mut().for_each(|machine| (machine.notes, machine.stop) = (note(length), stop));
            survives_columns(&Model::new(parts.clone()).unwrap());
        }
        parts.machines[0].evidence = Evidence::None("because".into());
        parts.machines[2].cost = None;
        parts.machines[2].iterations = 1 << 40;
        parts.machines[2].training_errors = 70_000;
        if let Evidence::Certificate(found) = &mut parts.machines[2].evidence {
            (found.primal, found.gap, found.relative_gap) = (f64::INFINITY, f64::INFINITY, f64::NAN);
            (found.margin, found.dual) = (f64::INFINITY, -0.0);
            found.counts.support = 300;
            found.columns = Some(ColumnCounts { used: 3, unused: 1 });
        }
        survives_columns(&Model::new(parts).unwrap());
    }

    /// Checks that a file of a given format holds the model of the golden files: three machines of iris with a Gaussian kernel.
    fn is_the_model_of_iris(bytes: &[u8], format: u32) {
        assert!(String::from_utf8_lossy(bytes).contains(&format!(r#"\"format\":{format}"#)));
        let model = model_from_bytes(bytes, "golden.mm").unwrap();
        let facts: Vec<(u64, u64, usize)> =
            model.machines().iter().map(|m| (m.bias.to_bits(), m.iterations, m.support.len())).collect();
        assert_eq!(facts, GOLDEN);
        let same = model_from_bytes(include_bytes!("../tests/models/iris_format_1.mm"), "golden.mm").unwrap();
        assert_eq!(model_to_json(&model, true).unwrap(), model_to_json(&same, true).unwrap());
        assert!(model.verify(&embedded("iris").unwrap(), &Workers::none()).unwrap().holds());
    }

    /// The bits of the bias, the iterations and the number of support vectors of each machine of the files in `tests/models/`.
    const GOLDEN: [(u64, u64, usize); 3] =
        [(13817079564485800095, 11, 11), (4589362874254135699, 34, 8), (4592377674362475000, 27, 47)];

    #[test]
    fn files_of_earlier_formats_load_as_they_did() {
        is_the_model_of_iris(include_bytes!("../tests/models/iris_format_1.mm"), 1);
        is_the_model_of_iris(include_bytes!("../tests/models/iris_format_5.mm"), 5);
    }

    #[test]
    fn a_file_of_format_6_has_the_bytes_it_had() {
        let golden = include_bytes!("../tests/models/iris_format_6.mm");
        is_the_model_of_iris(golden, 6);
        assert_eq!(in_columns(model_from_bytes(golden, "golden.mm").unwrap().parts(), None).unwrap(), golden);
    }

    #[test]
    fn every_flipped_bit_of_columns_is_refused() {
        let model = train(&embedded("e3").unwrap(), TrainingParams::default());
        let bytes = in_columns(model.parts(), None).unwrap();
        for bit in 0..bytes.len() * 8 {
            let mut damaged = bytes.clone();
            damaged[bit / 8] ^= 1 << (bit % 8);
            assert!(model_from_bytes(&damaged, "damaged.mm").is_err(), "bit {bit}");
        }
    }

    #[test]
    fn a_round_trip_changes_no_bit_of_the_file_or_of_a_prediction() {
        for (data, model) in models() {
            let bytes = model_to_bytes(&model).unwrap();
            let loaded = model_from_bytes(&bytes, "test.mm").unwrap();
            assert_eq!(model_to_bytes(&loaded).unwrap(), bytes, "{}", model.recipe().kernel);
            let predict = |model: &Model| model.predict(&data, &Workers::none()).unwrap();
            let bits = |model: &Model| -> Vec<u64> {
                let predictions = predict(model);
                (0..data.rows()).flat_map(|row| predictions.decision_values(row).to_vec()).map(f64::to_bits).collect()
            };
            assert_eq!(bits(&loaded), bits(&model), "{}", model.recipe().kernel);
            assert!(loaded.verify(&data, &Workers::none()).unwrap().holds(), "{}", model.recipe().kernel);
        }
    }

    #[test]
    fn only_joint_classes_other_tasks_networks_and_landmarks_need_a_newer_format() {
        for (_, model) in models() {
            let text = String::from_utf8_lossy(&model_to_bytes(&model).unwrap()).into_owned();
            let format = match (model.task().is_classification(), model.parts().joint.is_some()) {
                _ if model.parts().landmarks.is_some() => r#"\"format\":7"#,
                _ if model.parts().network.is_some() => r#"\"format\":4"#,
                (false, _) => r#"\"format\":3"#,
                (true, true) => r#"\"format\":2"#,
                (true, false) => r#"\"format\":1"#,
            };
            assert!(text.contains(format), "{}", model.recipe().multiclass.name());
            assert_eq!(text.contains(r#"\"joint\":{"#), model.parts().joint.is_some());
        }
    }

    /// How some table was read whose columns are those of a model.
    fn reading(columns: usize) -> Reading {
        let column = |place: usize| ColumnRecipe {
            column: RawColumn { name: Some(format!("c{place}")), place },
            categories: None,
            fill: Some(0.1 * place as f64),
        };
        let table = TableRecipe {
            width: columns + 1,
            label: Some(RawColumn { name: Some("y".into()), place: columns }),
            columns: (0..columns).map(column).collect(),
            missing: Missing::Mean,
        };
        Reading { table: Some(table), holdout: Some(0.2), seed: 7, ..Reading::default() }
    }

    #[test]
    fn how_data_was_read_is_kept_and_changes_nothing_else_of_the_file() {
        for (_, model) in models() {
            let plain = model_to_bytes(&model).unwrap();
            let columns = model.parts().columns;
            let model = model.with_reading(Some(reading(columns)));
            let bytes = model_to_bytes(&model).unwrap();
            let loaded = model_from_bytes(&bytes, "test.mm").unwrap();
            assert_eq!(loaded.reading(), model.reading());
            assert_eq!(model_to_bytes(&loaded.with_reading(None)).unwrap(), plain);
        }
    }

    #[test]
    fn a_reading_of_other_columns_is_refused() {
        let model = train(&embedded("e3").unwrap(), TrainingParams::default());
        let columns = model.parts().columns;
        let refused = |change: fn(&mut Reading)| {
            let mut reading = reading(columns);
            change(&mut reading);
            let bytes = model_to_bytes(&model.clone().with_reading(Some(reading))).unwrap();
            model_from_bytes(&bytes, "test.mm").is_err()
        };
        assert!(!refused(|_| {}));
        assert!(refused(|reading| reading.holdout = Some(1.5)));
        assert!(refused(|reading| reading.support_rows = vec![0; 9999]));
        assert!(refused(|reading| reading.table.as_mut().unwrap().columns.truncate(1)));
        assert!(refused(|reading| reading.table.as_mut().unwrap().columns[0].column.place = 99));
        let unsorted = |reading: &mut Reading| {
            let columns = &mut reading.table.as_mut().unwrap().columns;
            columns.truncate(1);
            columns[0].categories = Some(vec!["b".into(), "a".into()]);
        };
        assert!(refused(unsorted));
    }

    #[test]
    fn every_prefix_of_a_file_is_refused() {
        let model = train(&embedded("e3").unwrap(), TrainingParams { kernel: rbf(), ..TrainingParams::default() });
        let bytes = model_to_bytes(&model).unwrap();
        for length in 0..bytes.len() {
            assert!(model_from_bytes(&bytes[..length], "cut.mm").is_err(), "the first {length} bytes");
        }
    }

    #[test]
    fn padding_other_than_blanks_is_refused() {
        let model = train(&embedded("e3").unwrap(), TrainingParams::default());
        container::tests::refuses_other_padding(&model_to_bytes(&model).unwrap(), &|bytes| {
            model_from_bytes(bytes, "t").map(drop)
        });
    }

    #[test]
    fn the_words_of_the_json_parser_pass_no_control_character_on() {
        let name = "a\u{7f}\u{85}\u{1}\n\u{1b}[2J";
        let json = serde_json::to_string(name).unwrap();
        let model = train(&embedded("e3").unwrap(), TrainingParams::default());
        let content = model_to_json(&model, true).unwrap();
        let loss = content.find("\"loss\":").unwrap() + 7;
        let end = loss + content[loss..].find(',').unwrap();
        let contents =
            [format!("{{{json}:1}}"), json.clone(), format!("{}{json}{}", &content[..loss], &content[end..])];
        for content in contents {
            let bytes = container::to_bytes(&MODEL, content, &[]).unwrap();
            let error = model_from_bytes(&bytes, "t").unwrap_err();
            let told = format!("{error} {}", error.help());
            assert!(!told.contains(char::is_control), "{told:?}");
        }
        // The parser's words on the header itself, and on that of the file around it.
        let header = format!("{{\"format\":1,{json}:2}}");
        let around = format!("{{\"__metadata__\":{{\"maxmargin\":{}}}}}", serde_json::to_string(&header).unwrap());
        for header in [around, format!("{{{json}:{json}}}")] {
            let mut bytes = (header.len() as u64).to_le_bytes().to_vec();
            bytes.extend(header.bytes());
            let told = model_from_bytes(&bytes, "t").unwrap_err().to_string();
            assert!(!told.contains(char::is_control), "{told:?}");
        }
    }

    #[test]
    fn every_flipped_bit_is_refused() {
        let model = train(&embedded("e3").unwrap(), TrainingParams::default());
        let bytes = model_to_bytes(&model).unwrap();
        for bit in 0..bytes.len() * 8 {
            let mut damaged = bytes.clone();
            damaged[bit / 8] ^= 1 << (bit % 8);
            assert!(model_from_bytes(&damaged, "damaged.mm").is_err(), "bit {bit}");
        }
    }

    #[test]
    fn every_prefix_and_every_flipped_bit_of_a_network_is_refused() {
        let settings = Settings { hidden: vec![3, 2], max_iterations: Some(8), ..Settings::default() };
        let params = TrainingParams { solver: Some(SolverKind::Mlp), settings, ..TrainingParams::default() };
        let bytes = model_to_bytes(&train(&embedded("e3").unwrap(), params)).unwrap();
        assert!(model_from_bytes(&bytes, "whole.mm").is_ok());
        for length in 0..bytes.len() {
            assert!(model_from_bytes(&bytes[..length], "cut.mm").is_err(), "the first {length} bytes");
        }
        for bit in 0..bytes.len() * 8 {
            let mut damaged = bytes.clone();
            damaged[bit / 8] ^= 1 << (bit % 8);
            assert!(model_from_bytes(&damaged, "damaged.mm").is_err(), "bit {bit}");
        }
    }

    #[test]
    fn a_newer_format_is_refused_by_name() {
        let model = train(&embedded("e1").unwrap(), TrainingParams::default());
        let bytes = model_to_bytes(&model).unwrap();
        let text = String::from_utf8_lossy(&bytes).into_owned();
        let place = text.find(r#"\"format\":1"#).unwrap() + r#"\"format\":"#.len();
        let mut newer = bytes.clone();
        newer[place] = b'8';
        let error = model_from_bytes(&newer, "new.mm").unwrap_err();
        assert_eq!(error.to_string(), "new.mm: the model is of format 8, and this program reads formats up to 7");
        assert_eq!(error.help(), "update maxmargin");
    }

    #[test]
    fn a_kernel_written_by_the_user_cannot_be_saved_and_says_so() {
        let kernel = KernelParams::Custom(Custom::new("mine", |x, z| x.iter().zip(z).map(|(a, b)| a * b).sum()));
        let model = train(&embedded("e1").unwrap(), TrainingParams { kernel, ..TrainingParams::default() });
        let folder = tempfile::tempdir().unwrap();
        let error = save_model(&folder.path().join("custom.mm"), &model).unwrap_err();
        assert!(error.to_string().contains("the model cannot be saved"), "{error}");
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0);
    }

    #[test]
    fn other_files_are_refused_without_alarm() {
        for bytes in [&b""[..], b"hello", b"+1 1:0.5 2:1\n-1 1:2\n", &[0xff; 64], &[0; 64]] {
            let error = model_from_bytes(bytes, "other").unwrap_err();
            assert!(error.to_string().starts_with("other: this is no model file"), "{error}");
        }
        let nothing = Vec::<(&str, safetensors::tensor::TensorView<'_>)>::new();
        let empty = safetensors::serialize(nothing, None).unwrap();
        let error = model_from_bytes(&empty, "other").unwrap_err();
        assert_eq!(error.to_string(), "other: this is a safetensors file, but no model of maxmargin");
    }
}
