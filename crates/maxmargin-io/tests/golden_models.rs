//! Model files of every format that was ever written: they load, predict the bits that they did, and are written again as they are.
//!
//! The files and the numbers were written by the program as it was when model, recipe and file format were one struct.
#![allow(clippy::unwrap_used)] // a test may end here

use maxmargin::data::{Label, Labels, Matrix, embedded};
use maxmargin::{Dataset, Workers};
use maxmargin_io::{model_from_bytes, model_to_bytes};

/// A file, its format, and the decision values of three rows.
struct Golden {
    name: &'static str,
    bytes: &'static [u8],
    format: u32,
    values: &'static [f64],
}

macro_rules! golden {
    ($name:literal, $format:literal, $values:expr) => {
        Golden { name: $name, bytes: include_bytes!(concat!("models/", $name)), format: $format, values: &$values }
    };
}

/// Three machines of a Gaussian kernel.
const OF_RBF: [f64; 9] = [
    -1.2644380939807118,
    -1.14100212553617,
    -2.1977082027935793,
    1.1784625742044987,
    0.8684133756249711,
    -0.6554080869820827,
    1.1337617351994034,
    1.230452139412282,
    2.0045495433498437,
];

const FILES: [Golden; 10] = [
    golden!("iris_format_1.mm", 1, OF_RBF),
    golden!(
        "iris_joint_format_2.mm",
        2,
        [
            7.335521094714695,
            3.3596056335372366,
            -10.695126728251928,
            -3.361150156749412,
            2.6572883244132446,
            0.7038618323361696,
            -7.42752234866189,
            0.9439680313887311,
            6.483554317273164,
        ]
    ),
    golden!(
        "iris_l1_format_2.mm",
        2,
        [
            -1.4061302681992338,
            -1.2329881656804735,
            -9.00135538008734,
            2.734674329501916,
            0.9393491124260356,
            -1.5221262637725719,
            4.3659003831417635,
            1.795118343195266,
            3.473403280848501,
        ]
    ),
    golden!("iris_ball_format_3.mm", 3, [-0.34323748312224467, 0.43347992718046413, -4.0769160506253]),
    golden!(
        "iris_nu_format_3.mm",
        3,
        [
            -1.1578604025115538,
            -1.0760944390623124,
            -3.6837748381527478,
            1.03564037319801,
            0.8421034222086181,
            -1.626155730207734,
            1.0548029712901617,
            1.1675247705689975,
            3.1445073815224402,
        ]
    ),
    golden!("numbers_format_3.mm", 3, [-0.04914521198807997, 1.470111416287863, -0.5226288497599089]),
    golden!(
        "iris_network_format_4.mm",
        4,
        [
            4.629459134504277,
            1.6584947151583014,
            -5.302398833617646,
            -1.754289296980052,
            4.113484655974356,
            -0.8155782297386311,
            -4.076806297293032,
            0.6225933985270898,
            3.7058655145094868,
        ]
    ),
    golden!(
        "iris_calibrated_format_4.mm",
        4,
        [
            -1.5445478085738886,
            -1.284980517180304,
            -9.987437362637365,
            2.566893641507657,
            0.9096705632306068,
            -1.712668131868135,
            4.2972091685048825,
            1.908253630889126,
            3.4551108320251167,
        ]
    ),
    golden!("iris_format_5.mm", 5, OF_RBF),
    golden!("iris_format_6.mm", 6, OF_RBF),
];

/// The rows whose decision values are expected: one of each class of iris, or three rows of two columns.
fn rows(name: &str) -> Dataset {
    if name.starts_with("iris") {
        return embedded("iris").unwrap().select_rows(&[0, 50, 100]);
    }
    let matrix = Matrix::dense(3, 2, vec![0.25, 0.5, 0.75, 0.0, 0.0, 1.0]).unwrap();
    Dataset::new(matrix, Labels::new(["0", "0", "0"].map(Label::new))).unwrap()
}

#[test]
fn files_of_every_format_predict_the_bits_that_they_did() {
    for Golden { name, bytes, format, values } in FILES {
        assert!(String::from_utf8_lossy(bytes).contains(&format!(r#"\"format\":{format}"#)), "{name}");
        let (model, data) = (model_from_bytes(bytes, name).unwrap(), rows(name));
        let found = model.predict(&data, &Workers::none()).unwrap();
        let bits = |values: &[f64]| values.iter().map(|value| value.to_bits()).collect::<Vec<u64>>();
        let found: Vec<f64> = (0..3).flat_map(|row| found.decision_values(row).to_vec()).collect();
        assert_eq!(bits(&found), bits(values), "{name}: {found:?}");
    }
}

#[test]
fn files_of_formats_that_are_still_written_are_written_again_byte_for_byte() {
    for Golden { name, bytes, .. } in FILES.iter().filter(|file| file.format <= 4) {
        assert_eq!(model_to_bytes(&model_from_bytes(bytes, name).unwrap()).unwrap(), *bytes, "{name}");
    }
}

#[test]
fn the_probabilities_of_a_calibrated_file_are_what_they_were() {
    let file = FILES.iter().find(|file| file.name == "iris_calibrated_format_4.mm").unwrap();
    let model = model_from_bytes(file.bytes, file.name).unwrap();
    let found = model.predict(&rows(file.name), &Workers::none()).unwrap();
    let expected = [0.004107396631591362, 0.0010960090481265507, 0.994796594320282];
    assert_eq!(model.probabilities(&found).unwrap()[6..], expected);
}
