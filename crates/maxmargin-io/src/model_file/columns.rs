//! Format 6 of a model file: the facts of many machines, a tensor for each fact and an entry for each machine.
//!
//! 1,000 classes make 499,500 machines. As JSON, each takes 600 bytes and more time to write than to train.
//!
//! What few machines have, such as a note, is a [`Remark`]. Each remark stands in the file once, and machines refer to it by its number.

use std::collections::HashMap;

use maxmargin::Stop;
use maxmargin::calibration::Calibration;
use maxmargin::certificate::{Certificate, ColumnCounts, Counts, Evidence};
use maxmargin::model::{Machine, Pairing};
use maxmargin::provenance::Note;
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

use crate::container::{Tensor, Tensors};

/// The remarks as JSON, and for each machine the number of its remark.
const REMARKS: &str = "machines.remarks";
const REMARK: &str = "machines.remark";
/// The numbers of a calibration, where all machines have one of the same kind.
const SLOPES: &str = "calibration.slopes";
const SIGMOID: &str = "calibration.sigmoid";

/// The most bytes of a remark that several machines may refer to. Larger: a small file could ask for much memory. Smaller: texts that many
/// machines share are written once for each.
const LONGEST_SHARED: usize = 1024;

/// What a machine has beside its columns.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
struct Remark {
    #[serde(skip_serializing_if = "Option::is_none")]
    epsilon: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    reach: Option<f64>,
    /// A calibration of another kind than those of all other machines.
    #[serde(skip_serializing_if = "Option::is_none")]
    calibration: Option<Calibration>,
    /// Why there is no certificate.
    #[serde(skip_serializing_if = "Option::is_none")]
    uncertified: Option<String>,
    /// The columns of a certificate with the L1 norm.
    #[serde(skip_serializing_if = "Option::is_none")]
    columns: Option<ColumnCounts>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    notes: Vec<String>,
}

/// A fact that is a number.
struct Number {
    name: &'static str,
    get: fn(&Machine) -> f64,
    set: fn(&mut Machine, f64),
    /// Which numbers it may be.
    allows: fn(f64) -> bool,
}

/// A fact that is a whole number. Its tensor has the smallest of the types U8, U16, U32 and U64 that holds all of them.
struct Whole {
    name: &'static str,
    get: fn(&Machine) -> u64,
    /// Whether the number could be set.
    set: fn(&mut Machine, u64) -> bool,
}

/// The certificate of a machine that has one.
fn certificate_of(machine: &mut Machine) -> Option<&mut Certificate> {
    match &mut machine.evidence {
        Evidence::Certificate(certificate) => Some(certificate),
        Evidence::None(_) => None,
    }
}

/// A number of the certificate, 0 where there is none. In JSON, what is not finite is infinite, and so it is here.
macro_rules! certified {
    ($field:ident, infinite) => {
        certified!($field, |number| if number.is_finite() { number } else { f64::INFINITY }, |number| number
            == f64::INFINITY
            || number.is_finite())
    };
    ($field:ident) => {
        certified!($field, |number: f64| number, f64::is_finite)
    };
    ($field:ident, $write:expr, $allows:expr) => {
        Number {
            name: concat!("certificate.", stringify!($field)),
            get: |machine| {
                let write: fn(f64) -> f64 = $write;
                machine.evidence.certificate().map_or(0.0, |found| write(found.$field))
            },
            set: |machine, number| {
                if let Some(found) = certificate_of(machine) {
                    found.$field = number;
                }
            },
            allows: $allows,
        }
    };
}

const NUMBERS: [Number; 10] = [
    Number {
        name: "machines.bias",
        get: |machine| machine.bias,
        set: |machine, bias| machine.bias = bias,
        allows: f64::is_finite,
    },
    Number {
        name: "machines.cost",
        // NaN stands for none.
        get: |machine| machine.cost.unwrap_or(f64::NAN),
        set: |machine, cost| machine.cost = Some(cost).filter(|cost| !cost.is_nan()),
        allows: |cost| !cost.is_infinite(),
    },
    certified!(primal, infinite),
    certified!(dual),
    certified!(gap, infinite),
    certified!(relative_gap, infinite),
    certified!(violation),
    certified!(infeasibility),
    certified!(margin, infinite),
    certified!(slack_sum),
];

/// Sets a count, if it is one on this computer.
fn set_count(place: &mut usize, number: u64) -> bool {
    usize::try_from(number).map(|count| *place = count).is_ok()
}

macro_rules! count {
    ($field:ident) => {
        Whole {
            name: concat!("machines.", stringify!($field)),
            get: |machine| machine.$field as u64,
            set: |machine, number| set_count(&mut machine.$field, number),
        }
    };
    (counts.$field:ident) => {
        Whole {
            name: concat!("certificate.counts.", stringify!($field)),
            get: |machine| machine.evidence.certificate().map_or(0, |found| found.counts.$field as u64),
            set: |machine, number| {
                certificate_of(machine).is_none_or(|found| set_count(&mut found.counts.$field, number))
            },
        }
    };
}

const WHOLE: [Whole; 12] = [
    Whole {
        name: "machines.positive",
        get: |machine| machine.pairing.positive as u64,
        set: |machine, class| set_count(&mut machine.pairing.positive, class),
    },
    Whole {
        name: "machines.negative",
        // The positive class itself stands for the rest.
        get: |Machine { pairing, .. }| pairing.negative.unwrap_or(pairing.positive) as u64,
        set: |Machine { pairing, .. }, class| {
            pairing.negative = usize::try_from(class).ok().filter(|&class| class != pairing.positive);
            pairing.negative.is_some() || class == pairing.positive as u64
        },
    },
    Whole {
        name: "machines.stop",
        get: |machine| number_of(machine.stop),
        set: |machine, number| STOPS.get(number as usize).map(|&stop| machine.stop = stop).is_some(),
    },
    Whole {
        name: "machines.iterations",
        get: |machine| machine.iterations,
        set: |machine, iterations| {
            machine.iterations = iterations;
            true
        },
    },
    count!(training_errors),
    count!(rows),
    count!(counts.not_support),
    count!(counts.on_margin),
    count!(counts.inside),
    count!(counts.misclassified),
    count!(counts.support),
    count!(counts.bounded),
];

/// The reasons to stop by their numbers in a file. A new one comes last.
const STOPS: [Stop; 6] =
    [Stop::Converged, Stop::IterationLimit, Stop::TimeLimit, Stop::Interrupted, Stop::Stalled, Stop::Diverged];

/// The place of a reason in [`STOPS`].
fn number_of(stop: Stop) -> u64 {
    match stop {
        Stop::Converged => 0,
        Stop::IterationLimit => 1,
        Stop::TimeLimit => 2,
        Stop::Interrupted => 3,
        Stop::Stalled => 4,
        Stop::Diverged => 5,
    }
}

/// The facts of the machines, without their support vectors and weights.
///
/// # Errors
/// When a remark cannot be written as JSON.
pub(super) fn tensors_of(machines: &[Machine]) -> Result<Vec<Tensor>, serde_json::Error> {
    let count = machines.len();
    let mut tensors: Vec<Tensor> = NUMBERS
        .iter()
        .map(|column| Tensor::new(column.name, vec![count], machines.iter().map(column.get)))
        .chain(WHOLE.iter().map(|column| Tensor::whole(column.name, machines.iter().map(column.get))))
        .collect();
    let slopes = machines.iter().map(|machine| match machine.calibration {
        Some(Calibration::Slopes(slopes)) => Some(slopes),
        _ => None,
    });
    let sigmoids = machines.iter().map(|machine| match machine.calibration {
        Some(Calibration::Sigmoid { slope, offset }) => Some([slope, offset]),
        _ => None,
    });
    let mut has_column = true;
    if let Some(slopes) = slopes.collect::<Option<Vec<[f64; 4]>>>() {
        tensors.push(Tensor::new(SLOPES, vec![count, 4], slopes.into_iter().flatten()));
    } else if let Some(sigmoids) = sigmoids.collect::<Option<Vec<[f64; 2]>>>() {
        tensors.push(Tensor::new(SIGMOID, vec![count, 2], sigmoids.into_iter().flatten()));
    } else {
        has_column = false;
    }
    let (text, numbers) = remarks_of(machines, has_column)?;
    tensors.push(Tensor::of_bytes(REMARKS, text));
    tensors.push(Tensor::whole(REMARK, numbers.iter().copied()));
    Ok(tensors)
}

/// The remarks as a list in JSON, the empty one first, and for each machine the number of its remark.
fn remarks_of(machines: &[Machine], is_calibrated: bool) -> Result<(Vec<u8>, Vec<u64>), serde_json::Error> {
    let mut list = vec!["{}".to_string()];
    let mut known = HashMap::from([("{}".to_string(), 0)]);
    let mut numbers = Vec::with_capacity(machines.len());
    for machine in machines {
        let calibration = machine.calibration.as_ref().filter(|_| !is_calibrated);
        let (uncertified, columns) = match &machine.evidence {
            Evidence::Certificate(found) => (None, found.columns),
            Evidence::None(reason) => (Some(reason), None),
        };
        let is_plain = machine.epsilon.is_none()
            && machine.reach.is_none()
            && calibration.is_none()
            && uncertified.is_none()
            && columns.is_none()
            && machine.notes.is_empty();
        if is_plain {
            numbers.push(0);
            continue;
        }
        let text = serde_json::to_string(&Remark {
            epsilon: machine.epsilon,
            reach: machine.reach,
            calibration: calibration.cloned(),
            uncertified: uncertified.cloned(),
            columns,
            notes: machine.notes.iter().map(Note::to_string).collect(),
        })?;
        let next = list.len() as u64;
        let number = if text.len() > LONGEST_SHARED { next } else { *known.entry(text.clone()).or_insert(next) };
        if number == next {
            list.push(text);
        }
        numbers.push(number);
    }
    Ok((format!("[{}]", list.join(",")).into_bytes(), numbers))
}

/// The machines of a file of this format, without their support vectors and weights; `None` where it is of another one. `count` is how many
/// the file has: every machine has an entry in each column, so a file does not ask for more memory than its own length times a constant.
///
/// # Errors
/// What is wrong with the columns.
pub(super) fn machines_of(tensors: &Tensors<'_>, count: usize) -> Result<Option<Vec<Machine>>, String> {
    let Some(text) = tensors.bytes(REMARKS) else { return Ok(None) };
    let raw: Vec<&RawValue> = serde_json::from_slice(text).map_err(|error| format!("{REMARKS}: {error}"))?;
    let parsed = raw.iter().map(|raw| serde_json::from_str(raw.get())).collect::<Result<Vec<Remark>, _>>();
    let remarks = parsed.map_err(|error| format!("{REMARKS}: {error}"))?;
    let numbers = tensors.whole(REMARK, count)?;
    let (mut machines, mut is_used) = (Vec::with_capacity(numbers.len()), vec![false; remarks.len()]);
    for number in numbers {
        let Some(remark) = usize::try_from(number).ok().and_then(|number| remarks.get(number)) else {
            return Err(format!("{REMARK} refers to number {number} of {} remarks", remarks.len()));
        };
        let place = number as usize;
        let length = raw[place].get().len();
        if is_used[place] && length > LONGEST_SHARED {
            return Err(format!("{REMARK} has several machines for a remark of {length} bytes"));
        }
        is_used[place] = true;
        machines.push(begun(remark.clone()));
    }
    for column in &NUMBERS {
        let numbers: Vec<f64> = tensors.numbers(column.name, Some(count))?;
        for (machine, number) in machines.iter_mut().zip(numbers) {
            if !(column.allows)(number) {
                return Err(format!("{} holds {number}", column.name));
            }
            (column.set)(machine, number);
        }
    }
    for column in &WHOLE {
        for (machine, number) in machines.iter_mut().zip(tensors.whole(column.name, count)?) {
            if !(column.set)(machine, number) {
                return Err(format!("{} holds {number}", column.name));
            }
        }
    }
    if tensors.shape(SLOPES).is_some() {
        let slopes: Vec<f64> = tensors.numbers(SLOPES, Some(count.saturating_mul(4)))?;
        for (machine, &slopes) in machines.iter_mut().zip(slopes.as_chunks().0) {
            machine.calibration = Some(Calibration::Slopes(slopes));
        }
    } else if tensors.shape(SIGMOID).is_some() {
        let sigmoids: Vec<f64> = tensors.numbers(SIGMOID, Some(count.saturating_mul(2)))?;
        for (machine, &[slope, offset]) in machines.iter_mut().zip(sigmoids.as_chunks().0) {
            machine.calibration = Some(Calibration::Sigmoid { slope, offset });
        }
    }
    Ok(Some(machines))
}

/// A machine with its remark, before its columns are set.
fn begun(remark: Remark) -> Machine {
    let Remark { epsilon, reach, calibration, uncertified, columns, notes } = remark;
    let certificate = Certificate {
        primal: 0.0,
        dual: 0.0,
        gap: 0.0,
        relative_gap: 0.0,
        violation: 0.0,
        infeasibility: 0.0,
        margin: 0.0,
        slack_sum: 0.0,
        counts: Counts::default(),
        columns,
    };
    Machine {
        pairing: Pairing { positive: 0, negative: None },
        bias: 0.0,
        stop: Stop::Converged,
        iterations: 0,
        training_errors: 0,
        rows: 0,
        cost: None,
        epsilon,
        reach,
        calibration,
        evidence: uncertified.map_or(Evidence::Certificate(certificate), Evidence::None),
        notes: notes.iter().map(|words| Note::of_words(words)).collect(),
        weights: None,
        support: Vec::new(),
        coefficients: Vec::new(),
    }
}
