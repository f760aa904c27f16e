//! A catalogue of wrong command lines, files and models: each is answered with exit code 2, what was found and where, and the
//! way out; nothing is written, and nothing panics.
#![allow(clippy::unwrap_used)] // a test may end here

mod program;

use std::fs;
use std::path::Path;

use program::{done, program, run_words};

/// What the user typed, what the answer says, and the way out that it names.
type Case = (&'static str, &'static str, &'static str);

const USAGE: &str = "For more information, try '--help'.";

/// Wrong arguments.
const COMMAND_LINES: &[Case] = &[
    ("frobnicate", "unrecognized subcommand 'frobnicate'", USAGE),
    ("train", "required arguments were not provided", USAGE),
    ("train iris --frobnicate", "unexpected argument '--frobnicate'", USAGE),
    ("train iris -C abc", "invalid value 'abc' for '-C <C>'", USAGE),
    ("train iris -C 0", "C is 0, but it must be", "give -C a value that is a finite number above 0"),
    ("train iris -C -1", "C is -1, but it must be", "give -C a value"),
    ("train iris -C nan", "C is NaN, but it must be", "give -C a value"),
    ("train iris -C inf", "C is inf, but it must be", "give -C a value"),
    ("train iris --c-over-n 0", "c-over-n is 0, but it must be", "give --c-over-n a value"),
    ("train iris --lambda inf", "lambda is inf, but it must be", "give --lambda a value"),
    ("train iris -C 1 --lambda 1", "'-C <C>' cannot be used with '--lambda <LAMBDA>'", USAGE),
    ("train iris --c-over-n 1 -C 1", "cannot be used with", USAGE),
    ("train iris --hard --lambda 1", "cannot be used with", USAGE),
    ("train iris --hard --loss squared", "squared loss has nothing to do", "leave out the loss"),
    ("train iris --norm l3", "invalid value 'l3' for '--norm <NORM>'", USAGE),
    ("train iris --norm l1 --loss hinge", "hinge loss has corners", "choose loss squared or logistic, or norm l2"),
    ("train iris --norm l1 --kernel rbf", "which only the linear kernel has", "choose the linear kernel, or norm l2"),
    ("train iris --norm l1 --hard", "a hard margin with the L1 norm", "choose a large C, or norm l2"),
    ("train iris --norm l1 --no-penalty", "without a penalty there is no norm", "choose a C"),
    ("train iris --norm l1 --solver smo", "the solver smo does not minimise the L1 norm", "or the solver l1-newton"),
    ("train iris --solver l1-newton", "the solver l1-newton is for the L1 norm", "choose norm l1"),
    ("train iris --norm l1 --multiclass joint", "classes that are trained together", "choose multiclass ovo or ovr"),
    ("train iris.csv --norm l1 --stream", "--norm l1 does not go with --stream", "leave it out"),
    ("train iris --no-penalty", "hinge loss without a penalty", "the solver logistic"),
    ("train iris --tolerance 0", "tolerance is 0, but it must be", "give --tolerance a value"),
    ("train iris --tolerance nan", "tolerance is NaN, but it must be", "give --tolerance a value"),
    ("train iris --max-iterations 0", "max-iterations is 0, but it must be 1 or more", "give --max-iterations a value"),
    ("train iris --max-iterations -3", "invalid value '-3' for '--max-iterations <N>'", USAGE),
    ("train iris --max-time -1", "max-time is -1, but it must be", "give max-time a value"),
    ("train iris --max-time nan", "max-time is NaN, but it must be", "give max-time a value"),
    ("train iris --threads 5000", "threads is 5000, but it must be", "from 0 (all cores) to 1024"),
    ("train iris --memory lots", "memory is \"lots\"", "such as 512M, 2G or 1.5T"),
    ("train iris --memory 0", "memory is \"0\"", "such as 512M"),
    ("train iris --seed -1", "invalid value '-1' for '--seed <N>'", USAGE),
    ("train iris --batch 0", "batch is 0, but it must be 1 or more", "give --batch a value"),
    ("train iris --shrinkage 2", "shrinkage is 2, but it must be from 0 to 1, or auto", "give --shrinkage a value"),
    ("train iris --holdout 1.5", "holdout is 1.5, but it must be above 0 and below 1", "give holdout a value"),
    ("train iris --holdout 0.2 --test iris", "cannot be used with", USAGE),
    ("train iris --alphas", "required arguments were not provided", "--json"),
    ("train - --test -", "standard input cannot be both", "or use --holdout"),
    ("train iris --solver magic", "invalid value 'magic' for '--solver <NAME>'", "interior-point"),
    (
        "train iris --solver newton --loss hinge",
        "the solver newton minimises squared loss, not hinge",
        "choose loss squared",
    ),
    ("train iris --solver newton --kernel rbf", "works with the linear kernel only, not rbf", "choose kernel linear"),
    (
        "train iris --solver dual-ascent --kernel rbf",
        "goes with bias folded or none here, not explicit",
        "choose bias folded or none",
    ),
    ("train iris --hard", "cannot be separated", "use a soft margin"),
    (
        "train iris --kernel cubic",
        "kernel \"cubic\", character 1: found \"cubic\"",
        "the kernels are linear, polynomial",
    ),
    (
        "train iris --kernel rbf(gamma=)",
        "character 11: found \")\", expected a number, scale or auto",
        "such as rbf(gamma=0.5)",
    ),
    ("train iris --kernel rbf --degree 2", "the kernel \"rbf\" has no degree", "leave out --degree"),
    ("train iris --kernel poly --sigma 2", "the kernel \"poly\" has no sigma", "leave out --sigma"),
    ("train iris --gamma 1", "--gamma goes with a kernel that is named, and none is", "name it, as in --kernel rbf"),
    ("train iris --kernel rbf --gamma 1 --sigma 1", "cannot be used with", USAGE),
    ("train iris --kernel rbf(gamma=1) --gamma 1", "--gamma goes with a kernel named alone", "as in rbf(gamma=0.5)"),
    ("train iris --kernel rbf --gamma much", "gamma is \"much\"", "a number above 0, scale or auto"),
    ("train iris --kernel rbf --gamma 0", "gamma is 0, but it must be", "give gamma a value"),
    ("train iris --kernel rbf --sigma -1", "sigma is -1, but it must be", "give sigma a value"),
    ("train iris --kernel poly --degree 0", "degree is 0, but it must be from 1 to 100", "give degree a value"),
    ("train iris --kernel poly --coef0 nan", "coef0 is NaN, but it must be", "give coef0 a value"),
    ("train iris --kernel 0*linear", "kernel factor is 0, but it must be", "above 0"),
    ("train iris --kernel precomputed", "the table must be square", "same size"),
    ("train iris --positive rose", "no row has the label \"rose\"", "the labels are \"setosa\""),
    ("train iris --columns petal", "there is no column \"petal\"", "the columns are \"sepal_length\""),
    (
        "train iris --columns petal_width,petal_width",
        "the column \"petal_width\" is asked for twice",
        "name each column once",
    ),
    ("train iris -o no/model.mm", "cannot write \"no/model.mm\": there is no folder \"no\"", "make the folder first"),
    ("train iris -o folder", "cannot write \"folder\": it is a folder", "name a file in it"),
    ("train iris -o -", "it is not the name of a file", "/dev/stdout"),
    ("train iris --plot picture.bmp", "ends neither in .svg nor in .png", "end the name in .svg"),
    ("train iris --plot no/picture.svg", "there is no folder \"no\"", "make the folder first"),
    ("train iris --plot p.svg --plot-columns petal_width", "a picture has two columns, but 1 are named", "name two"),
    ("train iris --plot p.svg --plot-columns a,b", "there is no column \"a\"", "the columns are"),
    ("train iris --plot-columns 1,2 -o x.mm", "--plot-columns is of no use without a picture", "--plot FILE"),
    (
        "train iris --plot same.svg -o same.svg",
        "\"same.svg\" would be both the model and the picture",
        "different names",
    ),
    ("train iris --checkpoint no/kept", "cannot write \"no/kept\": there is no folder", "make the folder first"),
    ("train iris --checkpoint folder", "cannot write \"folder\": it is a folder", "name a file in it"),
    ("train iris --checkpoint good.csv", "there is a file \"good.csv\" already", "--resume good.csv, or remove it"),
    ("train good.csv --checkpoint good.csv", "it is read as well", "choose another name"),
    ("train iris -o same --checkpoint same", "\"same\" would be a checkpoint, too", "different names"),
    ("train iris -o same.previous --checkpoint same", "would be a checkpoint, too", "different names"),
    ("train iris --checkpoint-every 5", "required arguments were not provided", "--checkpoint <FILE>"),
    ("train iris --checkpoint c --checkpoint-every 0", "checkpoint-every is 0, but", "a number of seconds above 0"),
    ("train iris --max-time 0", "max-time is 0, but", "a number of seconds above 0"),
    ("train iris --checkpoint c --checkpoint-every nan", "checkpoint-every is NaN, but", "give checkpoint-every"),
    ("train iris --resume a --warm-start b", "cannot be used with", USAGE),
    ("train iris --resume nothing", "cannot read \"nothing\": there is no such file", "a checkpoint file that train"),
    ("train iris --resume folder", "cannot read \"folder\": it is a folder", "a checkpoint file that train"),
    ("train iris --resume good.csv", "good.csv: this is no checkpoint file", "a checkpoint file that train"),
    ("train iris --resume good.mm", "good.mm: this is a safetensors file, but no checkpoint", "a checkpoint file that"),
    ("train iris --warm-start nothing.mm", "cannot read \"nothing.mm\"", "a model file that train has written"),
    ("train iris --warm-start good.csv", "good.csv: this is no model file", "a model file that train has written"),
    ("train iris --warm-start good.mm", "the model to start from was trained on other data", "begin from scratch"),
    ("predict", "required arguments were not provided", USAGE),
    ("predict good.mm", "required arguments were not provided", USAGE),
    ("predict good.mm good.csv -o good.csv", "cannot write \"good.csv\": it is read as well", "choose another name"),
    ("predict good.mm good.csv -o good.mm", "cannot write \"good.mm\": it is read as well", "choose another name"),
    ("predict good.mm good.csv --header --no-header", "cannot be used with", USAGE),
    ("predict good.mm good.csv --unlabelled --label a", "cannot be used with", USAGE),
    ("verify good.mm", "required arguments were not provided", USAGE),
    ("verify good.mm good.csv --holdout 2", "holdout is 2, but it must be", "give holdout a value"),
    ("inspect good.mm --mu 0.5", "required arguments were not provided", "<DATA>"),
    ("inspect good.mm good.csv --mu 0", "mu is 0, but it must be above 0 and at most 1", "give mu a value"),
    (
        "inspect good.mm good.csv --mu 0.1",
        "a reduced hull with mu = 0.1 is empty",
        "choose mu of at least 1 divided by",
    ),
    ("examples E11", "there is no example \"E11\"", "the examples are E1"),
    ("examples E1 --plot no/where", "cannot make the folder \"no/where\"", "make it first"),
    ("examples E1 --plot good.csv", "cannot make the folder \"good.csv\"", "choose another one"),
    ("kernel-check iris --kernel rbf+", "character 5: found the end, expected a kernel", "such as rbf(gamma=0.5)"),
    ("kernel-check iris --rows 0", "invalid value '0' for '--rows <N>'", USAGE),
    ("generate suns", "there is no data set \"suns\"", "the names are blobs"),
    ("generate moons --rows 1", "rows is 1, but it must be from 2", "give rows a value"),
    ("generate moons --rows -5", "invalid value '-5' for '--rows <N>'", USAGE),
    ("generate moons --noise -1", "noise is -1, but it must be", "give noise a value"),
    ("generate xor --noise 1", "xor has no noise", "leave out --noise"),
    ("generate iris --rows 5", "iris is a fixed set of 150 rows", "leave out --rows"),
    ("generate moons -o moons.xyz", "the name \"moons.xyz\" does not say the format", "--format csv"),
    ("generate moons -o no/moons.csv", "there is no folder \"no\"", "make the folder first"),
    ("plot good.mm good.csv", "required arguments were not provided", "--output <FILE>"),
    ("plot good.mm good.csv -o picture.gif", "ends neither in .svg nor in .png", "end the name in .svg"),
    ("plot good.mm good.csv -o p.svg --columns a", "a picture has two columns, but 1 are named", "name two"),
    ("plot good.mm good.csv -o p.svg --columns a,z", "no column \"z\"", "\"a\", \"b\""),
    ("plot good.mm good.csv -o p.svg --width 1", "invalid value '1' for '--width <N>'", USAGE),
    ("plot good.mm -o p.svg", "a linear model keeps no support vectors", "give the data"),
];

/// Wrong data files: name and content come first.
const DATA: &[(&str, &[u8], Case)] = &[
    (
        "-",
        b"",
        ("train nothing.csv", "cannot read \"nothing.csv\": there is no such file", "name a built-in set: iris"),
    ),
    ("-", b"", ("train folder", "cannot read \"folder\": it is a folder", "name a file in it")),
    ("empty.csv", b"", ("train empty.csv", "empty.csv: found an empty file", "at least one row")),
    ("h.csv", b"a,label\n", ("train h.csv", "h.csv: found a header without rows", "--no-header")),
    ("n.csv", b"a,label\n1,x\nnan,y\n", ("train n.csv", "n.csv:3:1: found the missing value \"nan\"", "--missing")),
    ("m.csv", b"a,b,label\n1,,x\n2,3,y\n", ("train m.csv", "m.csv:2:3: found an empty cell", "--missing")),
    ("i.csv", b"a,label\n1,x\ninf,y\n", ("train i.csv", "i.csv:3:1: found \"inf\"", "leave the row out")),
    ("w.csv", b"a,b,label\n1,red,x\n2,blue,y\n", ("train w.csv", "w.csv:2:3: found \"red\"", "--categorical")),
    ("r.csv", b"a,b,label\n1,2,x\n2,y\n", ("train r.csv", "r.csv:3:3: found a row of 2 cells", "as many cells")),
    ("t.csv", b"a,a,label\n1,2,x\n2,3,y\n", ("train t.csv", "t.csv:1:3: found the name \"a\"", "rename one")),
    ("o.csv", b"a,label\n1,x\n2,x\n", ("train o.csv", "all 2 rows have the label \"x\"", "at least two classes")),
    ("z.svm", b"+1 0:1\n-1 1:2\n", ("train z.svm", "z.svm:1:4: found the index 0", "--zero-based")),
    ("d.svm", b"+1 2:1 1:3\n-1 1:2\n", ("train d.svm", "d.svm:1:8: found the index 1 after 2", "sort the entries")),
    ("v.svm", b"+1 1:1\n-1 1:x\n", ("train v.svm", "v.svm:2:6: found \"x\", expected a number", "write numbers like")),
    (
        "a.gz",
        b"\x1f\x8b\x08abc\x00\xff",
        ("train a.gz", "a.gz: found gzip-compressed data that are damaged", "gzip -t"),
    ),
    ("l.csv", b"a,label\n1,caf\xe9\n", ("train l.csv", "l.csv:2:6: found the byte 0xe9", "save the file as UTF-8")),
    ("p", b"123\n", ("train p", "p:1:1: found \"123\"", "--format libsvm")),
    ("c.csv", b"a;label\n1,5;x\n2.5;y\n", ("train c.csv", "c.csv:2:1: found \"1,5\"", "with a decimal point")),
    ("e.csv", b"a,label\n1,\x1b[2J\n2,\x1b[2J\n", ("train e.csv", "\"\\u{1b}[2J\"", "two classes")),
    ("k.csv", b"a,label\n1,x\n-1,y\n", ("train k.csv --kernel chi2", "row 2, column 1 is -1", "minmax")),
    (
        "b.csv",
        b"a,label\n1,x\n2,y\n",
        ("train b.csv --label z", "b.csv: there is no column \"z\"", "the columns are \"a\""),
    ),
    ("b.csv", b"a,label\n1,x\n2,y\n", ("train b.csv --columns label", "is the label and also among", "--label")),
    ("b.csv", b"a,label\n1,x\n2,y\n", ("train b.csv -o b.csv", "it is read as well", "choose another name")),
    ("b.csv", b"a,label\n1,x\n2,y\n", ("train b.csv --test nothing", "cannot read \"nothing\"", "check the name")),
    (
        "b.csv",
        b"a,b\n1,2\n2,4\n",
        ("train good.csv --test b.csv", "b.csv: the test has no label column", "with its labels"),
    ),
    (
        "b.csv",
        b"a,label\n1,x\n2,y\n",
        ("train good.csv --test b.csv", "no column \"b\", which the model needs", "\"a\""),
    ),
    ("b.csv", b"a,label\n1,x\n2,y\n", ("train b.csv --holdout 0.5", "no label occurs twice", "two rows of one label")),
    ("b.csv", b"a,label\n1,x\n2,y\n", ("train b.csv --no-header", "b.csv:1:1: found \"a\"", "--header")),
    ("g.csv", b"1,0,x\n0.5,1,y\n", ("train g.csv --kernel precomputed", "is not symmetric", "average the table")),
    ("g.csv", b"1,0,x\n0,1,y\n", ("train g.csv --kernel precomputed --holdout 0.5", "cannot be split", "--test")),
    ("big.csv", b"a,label\n1e200,x\n-1e200,y\n", ("train big.csv", "with itself is inf", "scale the columns")),
    (
        "few.csv",
        b"a,label\n1,x\n2,y\n",
        ("predict good.mm few.csv", "no column \"b\", which the model needs", "the columns are \"a\""),
    ),
    (
        "bare.csv",
        b"1,2,3,4\n5,6,7,8\n",
        ("predict good.mm bare.csv", "bare.csv: found 4 columns, but the model needs 2", "in this order"),
    ),
    (
        "s.csv",
        b"a,b,label\n1,2,p\n2,3,q\n",
        ("verify good.mm s.csv", "does not know the label \"p\" of row 1", "trained on"),
    ),
    ("s.csv", b"a,b,label\n1,2,p\n2,3,q\n", ("inspect good.mm s.csv", "no rows of both classes", "the labels that")),
    (
        "s.csv",
        b"a,b,label\n1,2,p\n",
        ("verify good.mm s.csv", "s.csv: found 1 row, but the model was trained on 2", "--holdout"),
    ),
    ("u.csv", b"a,b\n1,2\n3,4\n", ("verify good.mm u.csv", "u.csv: the data has no label column", "--label")),
    ("-", b"", ("predict good.mm good.csv --label z", "good.csv: there is no column \"z\"", "the columns are \"a\"")),
    ("-", b"", ("predict good.mm iris", "iris: there is no column \"a\", which the model needs", "\"sepal_length\"")),
];

fn prepare(folder: &Path) {
    fs::write(folder.join("good.csv"), "a,b,label\n1,2,x\n-1,3,y\n").unwrap();
    fs::create_dir(folder.join("folder")).unwrap();
    done(folder, "train good.csv -q");
}

fn names(folder: &Path) -> Vec<std::ffi::OsString> {
    let mut names: Vec<_> = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    names.sort();
    names
}

#[track_caller]
fn check(folder: &Path, (line, what, help): Case) {
    let before = names(folder);
    let run = run_words(folder, &line.split(' ').collect::<Vec<_>>());
    assert_eq!(run.code, Some(2), "{line}\n{}", run.stderr);
    assert_eq!(run.stdout, "", "{line}");
    assert!(run.stderr.contains("error: "), "{line}\n{}", run.stderr);
    assert!(run.stderr.contains(what), "{line}: should say {what}\n{}", run.stderr);
    assert!(run.stderr.contains(help), "{line}: should help with {help}\n{}", run.stderr);
    assert!(run.stderr.contains("  help: ") || run.stderr.contains(USAGE), "{line}\n{}", run.stderr);
    assert!(!run.stderr.contains('\u{1b}'), "{line}: nothing that moves the cursor\n{}", run.stderr);
    assert_eq!(names(folder), before, "{line}: nothing is written");
}

#[test]
fn wrong_command_lines_are_answered_with_the_way_out() {
    let folder = tempfile::tempdir().unwrap();
    prepare(folder.path());
    COMMAND_LINES.iter().for_each(|&case| check(folder.path(), case));
}

#[test]
fn wrong_data_is_answered_with_its_place_and_the_way_out() {
    let folder = tempfile::tempdir().unwrap();
    prepare(folder.path());
    for &(name, content, case) in DATA {
        if name != "-" {
            fs::write(folder.path().join(name), content).unwrap();
        }
        check(folder.path(), case);
        if name != "-" {
            fs::remove_file(folder.path().join(name)).unwrap();
        }
    }
}

/// Two rows with columns as far out as they can be: 44 bytes that no command may take gigabytes for.
const FAR_COLUMNS: &str = "1 2147483647:1\n-1 2147483646:1\n1 5:1\n-1 9:2\n";

#[test]
fn columns_far_out_are_refused_where_each_has_a_place() {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("far.svm"), FAR_COLUMNS).unwrap();
    let lines = ["doctor far.svm", "project far.svm --onto 1", "convert far.svm far.csv", "convert far.svm far.npy"];
    for line in lines.into_iter().chain(["convert far.svm far.npz"]) {
        check(folder.path(), (line, "the data has 2147483647 columns", "choose columns with --columns"));
    }
    let case = ("train far.svm --task svdd --memory 1G -q", "a centre with 2147483647 columns needs 64.0 GiB", "grant");
    check(folder.path(), case);
    for scale in ["standard", "minmax"] {
        let line: &'static str = format!("train far.svm --kernel rbf --scale {scale} --memory 1G -q").leak();
        check(folder.path(), (line, "to scale 2147483647 columns needs 192.0 GiB", "grant"));
    }
}

#[test]
fn damaged_models_are_refused_by_every_command_that_reads_one() {
    let folder = tempfile::tempdir().unwrap();
    prepare(folder.path());
    let good = fs::read(folder.path().join("good.mm")).unwrap();
    let half = good[..good.len() / 2].to_vec();
    let mut flipped = good.clone();
    *flipped.last_mut().unwrap() ^= 1;
    let mut newer = good.clone();
    let place = newer.windows(12).position(|window| window == b"\\\"format\\\":1").expect("the header says its format");
    newer[place + 11] = b'9';
    let models: [(&str, &[u8], &str, &str); 7] = [
        ("empty.mm", b"", "empty.mm: this is no model file", "train has written"),
        ("text.mm", b"hello, I am a model", "text.mm: this is no model file", "train has written"),
        ("huge.mm", b"\xff\xff\xff\xff\xff\xff\xff\x0f{}", "huge.mm: this is no model file", "train has written"),
        ("half.mm", &half, "half.mm: ", "train"),
        ("flipped.mm", &flipped, "flipped.mm: ", "train"),
        ("newer.mm", &newer, "newer.mm: the model is of format 9", "update maxmargin"),
        ("data.mm", b"a,b,label\n1,2,x\n", "data.mm: this is no model file", "train has written"),
    ];
    for (name, bytes, what, help) in models {
        fs::write(folder.path().join(name), bytes).unwrap();
        for line in ["predict NAME good.csv", "inspect NAME", "verify NAME good.csv", "plot NAME good.csv -o p.svg"] {
            let line: &'static str = line.replace("NAME", name).leak();
            check(folder.path(), (line, &*what.to_string().leak(), &*help.to_string().leak()));
        }
    }
    check(folder.path(), ("predict nothing.mm good.csv", "cannot read \"nothing.mm\"", "train has written"));
    check(folder.path(), ("predict folder good.csv", "cannot read \"folder\"", "train has written"));
}

#[test]
fn words_of_the_user_never_move_the_cursor() {
    let folder = tempfile::tempdir().unwrap();
    for words in [
        vec!["train", "no\u{1b}[2J\nfile"],
        vec!["train", "iris", "--kernel", "r\u{1b}[2Jbf"],
        vec!["train", "iris", "--positive", "\u{1b}[2J"],
        vec!["train", "iris", "--columns", "\u{1b}[2J"],
        vec!["train", "iris", "--\u{1b}[2J"],
        vec!["train", "iris", "--solver", "\u{1b}[2J"],
        vec!["train", "iris", "-o", "\u{1b}[2J/x"],
        vec!["generate", "\u{1b}[2J"],
        vec!["examples", "\u{1b}[2J"],
        vec!["\u{1b}[2J"],
    ] {
        let run = run_words(folder.path(), &words);
        assert_eq!(run.code, Some(2), "{words:?}\n{}", run.stderr);
        assert!(!run.stderr.contains('\u{1b}'), "{words:?}\n{}", run.stderr);
    }
}

#[cfg(unix)]
#[test]
fn arguments_that_are_not_text_are_files_that_are_not_there() {
    use std::os::unix::ffi::OsStrExt;
    let folder = tempfile::tempdir().unwrap();
    let output = program(folder.path()).arg("train").arg(std::ffi::OsStr::from_bytes(b"\xff\xfe")).output().unwrap();
    assert_eq!(output.status.code(), Some(2));
    assert!(String::from_utf8_lossy(&output.stderr).contains("there is no such file"));
}

#[cfg(target_os = "linux")]
#[test]
fn memory_that_the_system_refuses_is_an_error_with_a_way_out_and_no_abort() {
    let folder = tempfile::tempdir().unwrap();
    let classes: String = (0..6000).map(|class| format!("{class} 1:{class}\n")).collect();
    fs::write(folder.path().join("classes"), classes).unwrap();
    fs::write(folder.path().join("wide"), "1 400000000:1\n2 1:1 3:2\n").unwrap();
    for (arguments, what) in [
        (
            &["train", "classes", "--kernel", "rbf", "--task", "classification"][..],
            "training 6000 classes as 17997000 machines needs",
        ),
        (&["train", "wide", "--task", "svdd"], "a centre with 400000000 columns needs 11.9 GiB"),
    ] {
        let run = std::process::Command::new("sh")
            .args(["-c", "ulimit -v 4194304 && exec \"$0\" \"$@\"", env!("CARGO_BIN_EXE_maxmargin")])
            .args(arguments)
            .current_dir(folder.path())
            .output()
            .unwrap();
        let said = String::from_utf8_lossy(&run.stderr);
        assert_eq!(run.status.code(), Some(2), "{said}");
        assert!(said.contains(what) && said.contains("help: "), "{said}");
    }
}
