//! Bad models of LIBSVM and LIBLINEAR, each with the message it must give. Those of our own file are beside it, in `model_file/`.
#![allow(clippy::unwrap_used)] // a test may end here

use maxmargin::Model;
use maxmargin_io::{Error, liblinear_model_from_text, libsvm_model_from_text};

/// A part of a model's text, what it is replaced by, the message, and the help.
type Case = (&'static str, &'static str, &'static str, &'static str);

/// The way out of most of them.
const OTHER: &str = "give the model file as the program has written it";

/// Two classes and the Gaussian kernel.
const LIBSVM: &str = "svm_type c_svc\nkernel_type rbf\ngamma 0.5\nnr_class 2\ntotal_sv 2\nrho 0.25\nlabel 1 -1\nnr_sv 1 1\nSV\n0.75 1:0.5 3:-1 \n-0.75 2:2 \n";

const OF_LIBSVM: &[Case] = &[
    ("c_svc", "c_svm", r#"m:1:1: found "c_svm", expected a type of machine such as c_svc"#, OTHER),
    ("svm_type c_svc", "svm_type", r#"m:1:1: found "", expected a type of machine such as c_svc"#, OTHER),
    (
        "svm_type c_svc",
        "svm_type c_svc c_svc",
        r#"m:1:1: found "c_svc c_svc", expected a type of machine such as c_svc"#,
        OTHER,
    ),
    ("svm_type", "kind", r#"m:1:1: found "kind", expected an entry of a LIBSVM model"#, OTHER),
    ("svm_type c_svc\n", "", "m:8:1: found `SV`, expected the entry svm_type before it", OTHER),
    (
        "svm_type c_svc\n",
        "\nsvm_type c_svc\n",
        "m:1:1: found an empty line, expected an entry such as `svm_type c_svc`, or `SV`",
        OTHER,
    ),
    (
        "kernel_type rbf\n",
        "",
        "m:8:1: found `SV`, expected the entry kernel_type linear, polynomial, rbf, sigmoid or precomputed before it",
        OTHER,
    ),
    (
        "rbf",
        "precomputed",
        "m:10:1: found none or several entries, expected 0:i alone, the number of a training row, counted from 1",
        OTHER,
    ),
    (
        "rbf",
        "rbf rbf",
        "m:9:1: found `SV`, expected the entry kernel_type linear, polynomial, rbf, sigmoid or precomputed before it",
        OTHER,
    ),
    (
        "kernel_type rbf",
        "kernel_type",
        "m:9:1: found `SV`, expected the entry kernel_type linear, polynomial, rbf, sigmoid or precomputed before it",
        OTHER,
    ),
    ("rbf", "sigmoid", "m:9:1: found `SV`, expected the entry coef0 before it", OTHER),
    ("rbf", "polynomial", "m:9:1: found `SV`, expected the entry degree before it", OTHER),
    ("gamma 0.5", "gamma half", r#"m:3:1: found "half", expected a finite number"#, OTHER),
    ("gamma 0.5\n", "", "m:8:1: found `SV`, expected the entry gamma before it", OTHER),
    ("gamma 0.5", "gamma", "m:3:1: found 0 words, expected a number", OTHER),
    ("gamma 0.5", "gamma 0.5 1", "m:3:1: found 2 words, expected a number", OTHER),
    ("gamma 0.5", "gamma nan", r#"m:3:1: found "nan", expected a finite number"#, OTHER),
    ("gamma 0.5", "gamma inf", r#"m:3:1: found "inf", expected a finite number"#, OTHER),
    (
        "gamma 0.5",
        "gamma 0",
        "m: the model's parts do not fit: gamma is 0, but it must be a finite number above 0",
        "train the model again",
    ),
    (
        "gamma 0.5",
        "gamma -1",
        "m: the model's parts do not fit: gamma is -1, but it must be a finite number above 0",
        "train the model again",
    ),
    ("gamma 0.5", "gamma 0.5\ngamma 2", r#"m:4:1: found the entry "gamma" again, expected each entry once"#, OTHER),
    ("gamma 0.5", "gamma 1e999", r#"m:3:1: found "1e999", expected a finite number"#, OTHER),
    ("nr_class 2", "nr_class 1", "m:4:1: found 1, expected 2 to 100000 classes", OTHER),
    ("nr_class 2", "nr_class 3", "m:9:1: found 1 numbers of rho, expected 3, for 3 classes", OTHER),
    ("nr_class 2", "nr_class 100001", "m:4:1: found 100001, expected 2 to 100000 classes", OTHER),
    ("nr_class 2", "nr_class -2", r#"m:4:1: found "-2", expected a number of classes"#, OTHER),
    ("nr_class 2", "nr_class 2.0", r#"m:4:1: found "2.0", expected a number of classes"#, OTHER),
    ("nr_class 2\n", "", "m:8:1: found `SV`, expected the entry nr_class before it", OTHER),
    ("nr_class 2", "nr_class", "m:4:1: found 0 words, expected a number of classes", OTHER),
    (
        "total_sv 2",
        "total_sv 3",
        "m:9:1: found 2 labels, 2 counts of vectors, expected 2 of each, the counts adding up to 3",
        OTHER,
    ),
    (
        "total_sv 2",
        "total_sv 1",
        "m:9:1: found 2 labels, 2 counts of vectors, expected 2 of each, the counts adding up to 1",
        OTHER,
    ),
    ("total_sv 2", "total_sv -1", r#"m:5:1: found "-1", expected a number of vectors"#, OTHER),
    ("total_sv 2\n", "", "m:8:1: found `SV`, expected the entry total_sv before it", OTHER),
    (
        "total_sv 2",
        "total_sv 99999999999999999999",
        r#"m:5:1: found "99999999999999999999", expected a number of vectors"#,
        OTHER,
    ),
    ("rho 0.25", "rho 0.25 1", "m:9:1: found 2 numbers of rho, expected 1, for 2 classes", OTHER),
    ("rho 0.25", "rho nan", r#"m:6:1: found "nan", expected numbers"#, OTHER),
    ("rho 0.25", "rho", "m:9:1: found 0 numbers of rho, expected 1, for 2 classes", OTHER),
    ("rho 0.25\n", "", "m:8:1: found `SV`, expected the entry rho before it", OTHER),
    ("rho 0.25", "rho x", r#"m:6:1: found "x", expected numbers"#, OTHER),
    (
        "label 1 -1",
        "label 1",
        "m:9:1: found 1 labels, 2 counts of vectors, expected 2 of each, the counts adding up to 2",
        OTHER,
    ),
    ("label 1 -1", "label a b", r#"m:7:1: found "a", expected whole numbers"#, OTHER),
    ("label 1 -1", "label 1.5 2", r#"m:7:1: found "1.5", expected whole numbers"#, OTHER),
    ("label 1 -1\n", "", "m:8:1: found `SV`, expected the entry label before it", OTHER),
    (
        "label 1 -1",
        "label 99999999999999999999 1",
        r#"m:7:1: found "99999999999999999999", expected whole numbers"#,
        OTHER,
    ),
    (
        "label 1 -1",
        "label 1 -1 2",
        "m:9:1: found 3 labels, 2 counts of vectors, expected 2 of each, the counts adding up to 2",
        OTHER,
    ),
    (
        "nr_sv 1 1",
        "nr_sv 2",
        "m:9:1: found 2 labels, 1 counts of vectors, expected 2 of each, the counts adding up to 2",
        OTHER,
    ),
    (
        "nr_sv 1 1",
        "nr_sv 1 2",
        "m:9:1: found 2 labels, 2 counts of vectors, expected 2 of each, the counts adding up to 2",
        OTHER,
    ),
    ("nr_sv 1 1", "nr_sv -1 3", r#"m:8:1: found "-1", expected numbers of vectors"#, OTHER),
    ("nr_sv 1 1\n", "", "m:8:1: found `SV`, expected the entry nr_sv before it", OTHER),
    (
        "nr_sv 1 1",
        "nr_sv 18446744073709551615 3",
        "m:9:1: found 2 labels, 2 counts of vectors, expected 2 of each, the counts adding up to 2",
        OTHER,
    ),
    ("nr_sv 1 1", "nr_sv 1 x", r#"m:8:1: found "x", expected numbers of vectors"#, OTHER),
    ("SV\n", "sv\n", r#"m:9:1: found "sv", expected an entry of a LIBSVM model"#, OTHER),
    ("SV\n", "", r#"m:9:1: found "0.75", expected an entry of a LIBSVM model"#, OTHER),
    ("SV\n", "SV\n\n", "m:10:1: found 0 numbers, expected 1: coefficients before the vector", OTHER),
    (
        "0.75 1:0.5 3:-1",
        "0.75 3:0.5 1:-1",
        r#"m:10:1: found "1:-1", expected column:value, columns counted from 1 and increasing"#,
        OTHER,
    ),
    (
        "0.75 1:0.5 3:-1",
        "0.75 1:0.5 1:1",
        r#"m:10:1: found "1:1", expected column:value, columns counted from 1 and increasing"#,
        OTHER,
    ),
    (
        "0.75 1:0.5 3:-1",
        "0.75 1:x",
        r#"m:10:1: found "x", expected column:value, columns counted from 1 and increasing"#,
        OTHER,
    ),
    (
        "0.75 1:0.5 3:-1",
        "0.75 0:1",
        r#"m:10:1: found "0:1", expected column:value, columns counted from 1 and increasing"#,
        OTHER,
    ),
    ("0.75 1:0.5 3:-1", "", "m:10:1: found 0 numbers, expected 1: coefficients before the vector", OTHER),
    ("0.75 1:0.5 3:-1", "x 1:1", r#"m:10:1: found "x", expected coefficients before the vector"#, OTHER),
    ("0.75 1:0.5 3:-1", "nan 1:1", r#"m:10:1: found "nan", expected coefficients before the vector"#, OTHER),
    (
        "0.75 1:0.5 3:-1",
        "0.75 1",
        r#"m:10:1: found "1", expected column:value, columns counted from 1 and increasing"#,
        OTHER,
    ),
    (
        "0.75 1:0.5 3:-1",
        "0.75 -1:1",
        r#"m:10:1: found "-1", expected column:value, columns counted from 1 and increasing"#,
        OTHER,
    ),
    (
        "0.75 1:0.5 3:-1",
        "0.75 100000001:1",
        r#"m:10:1: found "100000001:1", expected column:value, columns counted from 1 and increasing"#,
        OTHER,
    ),
    (
        "0.75 1:0.5 3:-1",
        "0.75 1:inf",
        r#"m:10:1: found "inf", expected column:value, columns counted from 1 and increasing"#,
        OTHER,
    ),
    (
        "0.75 1:0.5 3:-1",
        "0.75 1:",
        r#"m:10:1: found "", expected column:value, columns counted from 1 and increasing"#,
        OTHER,
    ),
    (
        "0.75 1:0.5 3:-1",
        "0.75 :1",
        r#"m:10:1: found "", expected column:value, columns counted from 1 and increasing"#,
        OTHER,
    ),
    (
        "0.75 1:0.5 3:-1",
        "0.75 1:1:1",
        r#"m:10:1: found "1:1", expected column:value, columns counted from 1 and increasing"#,
        OTHER,
    ),
    (
        "0.75 1:0.5 3:-1",
        "0.75 0.5 1:1",
        r#"m:10:1: found "0.5", expected column:value, columns counted from 1 and increasing"#,
        OTHER,
    ),
    ("0.75 1:0.5 3:-1", "1:0.5 3:-1", r#"m:10:1: found "1:0.5", expected coefficients before the vector"#, OTHER),
    ("2:2 \n", "2:2 \n1 1:1\n", r#"m:12:1: found "1 1:1", expected the end of the file"#, OTHER),
    ("-0.75 2:2 \n", "", "m:11:1: found the end of the file, expected vector 2 of 2", OTHER),
    ("2:2 \n", "2:2 ", "m:11:1: found a last line that is cut off, expected the end of the line", OTHER),
];

/// Three classes and a polynomial.
const THREE: &str = "svm_type nu_svc\nkernel_type polynomial\ndegree 2\ngamma 1\ncoef0 1\nnr_class 3\ntotal_sv 3\nrho 0 0 0\nlabel 1 2 3\nnr_sv 1 1 1\nSV\n1 1 1:1 \n-1 1 1:2 \n-1 -1 2:1 \n";

const OF_THREE: &[Case] = &[
    ("degree 2", "degree 2.5", r#"m:3:1: found "2.5", expected a whole number"#, OTHER),
    (
        "degree 2",
        "degree 0",
        "m: the model's parts do not fit: degree is 0, but it must be from 1 to 100",
        "train the model again",
    ),
    (
        "degree 2",
        "degree 101",
        "m: the model's parts do not fit: degree is 101, but it must be from 1 to 100",
        "train the model again",
    ),
    ("degree 2\n", "", "m:10:1: found `SV`, expected the entry degree before it", OTHER),
    ("coef0 1\n", "", "m:10:1: found `SV`, expected the entry coef0 before it", OTHER),
    ("coef0 1", "coef0 nan", r#"m:5:1: found "nan", expected a finite number"#, OTHER),
    ("degree 2", "degree -1", r#"m:3:1: found "-1", expected a whole number"#, OTHER),
    ("rho 0 0 0", "rho 0 0", "m:11:1: found 2 numbers of rho, expected 3, for 3 classes", OTHER),
    ("1 1 1:1", "1 1:1", r#"m:12:1: found "1:1", expected coefficients before the vector"#, OTHER),
    (
        "polynomial",
        "sigmoid\nkernel_type rbf",
        r#"m:3:1: found the entry "kernel_type" again, expected each entry once"#,
        OTHER,
    ),
    ("coef0 1", "coef0 -inf", r#"m:5:1: found "-inf", expected a finite number"#, OTHER),
];

/// A regression.
const SVR: &str = "svm_type epsilon_svr\nkernel_type linear\nnr_class 2\ntotal_sv 1\nrho 0.5\nSV\n1 1:2 \n";

const OF_SVR: &[Case] = &[
    ("rho 0.5", "rho 0.5 1", "m:6:1: found 2 numbers of rho, expected 1, for 2 classes", OTHER),
    ("rho 0.5", "rho inf", r#"m:5:1: found "inf", expected numbers"#, OTHER),
    ("1 1:2", "1e308 1:1e308", "m: the model's parts do not fit: a coefficient is not finite", "train the model again"),
    ("total_sv 1", "total_sv 2", "m:8:1: found the end of the file, expected vector 2 of 2", OTHER),
    ("epsilon_svr", "nu_svm", r#"m:1:1: found "nu_svm", expected a type of machine such as c_svc"#, OTHER),
];

/// Two classes.
const LIBLINEAR: &str = "solver_type L2R_LR\nnr_class 2\nlabel -1 1\nnr_feature 3\nbias 1\nw\n0.5 \n-1.5 \n0 \n0.25 \n";

const OF_LIBLINEAR: &[Case] = &[
    ("L2R_LR", "L3R", r#"m:1:1: found "L3R", expected a type such as L2R_LR"#, OTHER),
    ("solver_type L2R_LR", "solver_type", r#"m:1:1: found "", expected a type such as L2R_LR"#, OTHER),
    ("solver_type L2R_LR\n", "", "m:5:1: found `w`, expected the entry solver_type before it", OTHER),
    ("L2R_LR", "L2R_LR L2R_LR", r#"m:1:1: found "L2R_LR L2R_LR", expected a type such as L2R_LR"#, OTHER),
    ("solver_type", "type", r#"m:1:1: found "type", expected an entry of a LIBLINEAR model"#, OTHER),
    ("nr_class 2", "nr_class 0", "m:2:1: found 0, expected 1 to 100000 classes", OTHER),
    ("nr_class 2", "nr_class 1", "m:6:1: found 2 labels, expected 2 of them", OTHER),
    ("nr_class 2", "nr_class 3", "m:6:1: found 2 labels, expected 3 of them", OTHER),
    ("nr_class 2", "nr_class 100001", "m:2:1: found 100001, expected 1 to 100000 classes", OTHER),
    ("nr_class 2\n", "", "m:5:1: found `w`, expected the entry nr_class before it", OTHER),
    ("nr_class 2", "nr_class two", r#"m:2:1: found "two", expected a number of classes"#, OTHER),
    ("nr_class 2", "nr_class 2 2", "m:2:1: found 2 words, expected a number of classes", OTHER),
    ("label -1 1", "label 1", "m:6:1: found 1 labels, expected 2 of them", OTHER),
    ("label -1 1", "label a b", r#"m:3:1: found "a", expected whole numbers"#, OTHER),
    ("label -1 1\n", "", "m:5:1: found 0 labels, expected 2 of them", OTHER),
    ("label -1 1", "label 0.5 1", r#"m:3:1: found "0.5", expected whole numbers"#, OTHER),
    ("label -1 1", "label -1 1 2", "m:6:1: found 3 labels, expected 2 of them", OTHER),
    ("nr_feature 3", "nr_feature 9", "m:11:1: found the end of the file, expected line 5 of 10 with weights", OTHER),
    ("nr_feature 3", "nr_feature 2", r#"m:10:1: found "0.25 ", expected the end of the file"#, OTHER),
    ("nr_feature 3", "nr_feature -3", r#"m:4:1: found "-3", expected a number of columns"#, OTHER),
    ("nr_feature 3", "nr_feature 100000001", "m:4:1: found 100000001, expected 100000000 columns at most", OTHER),
    ("nr_feature 3\n", "", "m:5:1: found `w`, expected the entry nr_feature before it", OTHER),
    ("nr_feature 3", "nr_feature 3.0", r#"m:4:1: found "3.0", expected a number of columns"#, OTHER),
    ("bias 1", "bias", "m:5:1: found 0 words, expected a number", OTHER),
    ("bias 1", "bias nan", r#"m:5:1: found "nan", expected a finite number"#, OTHER),
    ("bias 1", "bias inf", r#"m:5:1: found "inf", expected a finite number"#, OTHER),
    ("bias 1", "bias x", r#"m:5:1: found "x", expected a finite number"#, OTHER),
    ("bias 1", "bias 1\nbias -1", r#"m:6:1: found the entry "bias" again, expected each entry once"#, OTHER),
    ("bias 1", "bias -1", r#"m:10:1: found "0.25 ", expected the end of the file"#, OTHER),
    ("bias 1\n", "", r#"m:9:1: found "0.25 ", expected the end of the file"#, OTHER),
    ("w\n", "W\n", r#"m:6:1: found "W", expected an entry of a LIBLINEAR model"#, OTHER),
    ("w\n", "", r#"m:6:1: found "0.5", expected an entry of a LIBLINEAR model"#, OTHER),
    ("w\n", "w\n\n", "m:7:1: found 0 numbers, expected 1: weights", OTHER),
    ("0.5 \n", "0.5 1\n", "m:7:1: found 2 numbers, expected 1: weights", OTHER),
    ("0.5 \n", "x\n", r#"m:7:1: found "x", expected weights"#, OTHER),
    ("0.5 \n", "nan\n", r#"m:7:1: found "nan", expected weights"#, OTHER),
    ("0.5 \n", "\n", "m:7:1: found 0 numbers, expected 1: weights", OTHER),
    ("0.5 \n", "1e999\n", r#"m:7:1: found "1e999", expected weights"#, OTHER),
    ("0.25 \n", "0.25", "m:10:1: found a last line that is cut off, expected the end of the line", OTHER),
    ("0.25 \n", "0.25 \n1\n", r#"m:11:1: found "1", expected the end of the file"#, OTHER),
    ("-1.5 \n", "-1.5,\n", r#"m:8:1: found "-1.5,", expected weights"#, OTHER),
];

/// One class.
const ONE: &str = "solver_type ONECLASS_SVM\nnr_class 2\nnr_feature 1\nbias -1\nrho 0.5\nw\n1 \n";

const OF_ONE: &[Case] = &[
    ("rho 0.5", "rho nan", r#"m:5:1: found "nan", expected a finite number"#, OTHER),
    ("rho 0.5", "rho 1 2", "m:5:1: found 2 words, expected a number", OTHER),
    ("rho 0.5", "rho 0.5\nrho 0.5", r#"m:6:1: found the entry "rho" again, expected each entry once"#, OTHER),
    ("ONECLASS_SVM", "L2R_LR", "m:6:1: found 0 labels, expected 2 of them", OTHER),
];

type Read = fn(&str, &str) -> Result<Model, Error>;

const ALL: [(&str, &[Case], Read); 5] = [
    (LIBSVM, OF_LIBSVM, libsvm_model_from_text),
    (THREE, OF_THREE, libsvm_model_from_text),
    (SVR, OF_SVR, libsvm_model_from_text),
    (LIBLINEAR, OF_LIBLINEAR, liblinear_model_from_text),
    (ONE, OF_ONE, liblinear_model_from_text),
];

#[test]
fn each_bad_model_gives_its_message() {
    let mut mismatches = Vec::new();
    for (text, cases, read) in ALL {
        assert!(read(text, "m").is_ok(), "{text}");
        for (from, to, message, help) in cases {
            assert!(text.contains(from), "{from}");
            let (found, found_help) = match read(&text.replacen(from, to, 1), "m") {
                Ok(_) => ("no error".into(), String::new()),
                Err(error) => (error.to_string(), error.help()),
            };
            if (found.as_str(), found_help.as_str()) != (*message, *help) {
                mismatches.push(format!(
                    "{from:?} -> {to:?}\n  expected {message}\n  found    {found}\n  help     {found_help}"
                ));
            }
        }
    }
    assert!(mismatches.is_empty(), "{} mismatches\n{}", mismatches.len(), mismatches.join("\n"));
}

#[test]
fn every_prefix_of_a_model_is_refused_with_its_line() {
    for (text, _, read) in ALL {
        for end in 0..text.len() {
            let error = read(&text[..end], "cut.model").unwrap_err();
            let said = error.to_string();
            assert!(said.starts_with("cut.model:") && !error.help().is_empty(), "{end}: {said}");
        }
    }
}

/// A text has no checksum. A flipped bit that makes a digit another one, a point, a blank or a sign of what it was gives a model that is as
/// good as the first to anybody who reads it. All other flips are refused; what is accepted is counted, so that a
/// reader which becomes more careless is noticed.
#[test]
fn a_flipped_bit_is_refused_unless_what_it_makes_is_a_model_too() {
    let mut counts = Vec::new();
    for (text, _, read) in ALL {
        let mut accepted = 0;
        for bit in 0..text.len() * 8 {
            let mut bytes = text.as_bytes().to_vec();
            bytes[bit / 8] ^= 1 << (bit % 8);
            // Bytes that are no text are refused when the file is loaded.
            let Ok(flipped) = String::from_utf8(bytes) else { continue };
            match read(&flipped, "m") {
                Ok(_) => {
                    let (was, is) = (text.as_bytes()[bit / 8], flipped.as_bytes()[bit / 8]);
                    let harmless = |byte: u8| byte.is_ascii_digit() || b"+-.eE \t\n\r".contains(&byte);
                    assert!(harmless(was) && harmless(is), "byte {} of {flipped}", bit / 8);
                    accepted += 1;
                }
                Err(error) => assert!(error.to_string().starts_with("m:") && !error.help().is_empty(), "{error}"),
            }
        }
        counts.push(accepted);
    }
    assert_eq!(counts, [70, 80, 21, 48, 18]);
}
