"""What `maxmargin convert-model MODEL OUT.onnx` wrote, computed by onnxruntime and compared with `maxmargin predict`.

How to run it, from the root of the repository:

    cargo build -p maxmargin-cli
    python3 -m venv venv && venv/bin/pip install -r tests/peers/requirements.txt
    MAXMARGIN=target/debug/maxmargin venv/bin/python -m unittest discover -s tests/peers

Data is made here, from a fixed seed. Labels must be equal in every row, scores within 1e-4 of max(1, |score|): ONNX's operators hold
numbers in single precision.
"""

import itertools
import json
import os
import pathlib
import subprocess
import tempfile
import unittest

import numpy as np
import onnxruntime

PROGRAM = os.path.abspath(os.environ.get("MAXMARGIN", "target/debug/maxmargin"))
TOLERANCE = 1e-4

KERNELS = {
    "linear": "--kernel linear",
    "polynomial": "--kernel polynomial --degree 3 --coef0 1 --gamma 0.1",
    "square": "--kernel polynomial --degree 2 --coef0 0 --gamma 0.3",
    "rbf": "--kernel rbf --gamma 0.3",
    "sigmoid": "--kernel sigmoid --gamma 0.05 --coef0 -0.2 --max-iterations 2000",
}
SCALINGS = ["none", "standard", "minmax"]


def made(random, rows, columns, classes, zeros=0.0, stretched=False):
    """Clouds around a centre for each class, some entries 0, columns of different ranges where asked for."""
    codes = np.arange(rows) % classes
    centres = random.normal(size=(classes, columns)) * 1.5
    points = centres[codes] + random.normal(size=(rows, columns))
    points[random.random(size=points.shape) < zeros] = 0.0
    if stretched:
        points = points * np.logspace(-1, 2, columns) + np.linspace(-20, 20, columns)
    # Single precision, so that both programs see the same numbers.
    return points.astype(np.float32), codes


def write_csv(path, points, labels):
    lines = [",".join([*(f"c{k}" for k in range(points.shape[1])), "label"])]
    lines += [",".join([*(repr(float(x)) for x in row), str(label)]) for row, label in zip(points, labels)]
    path.write_text("\n".join(lines) + "\n")


def write_libsvm(path, points, labels):
    entries = lambda row: " ".join(f"{k + 1}:{float(x)!r}" for k, x in enumerate(row) if x != 0)
    path.write_text("".join(f"{label} {entries(row)}\n" for row, label in zip(points, labels)))


def cases():
    """Name, flags of `train`, classes, labels of the classes, whether the data is sparse, and whether its columns differ in range."""
    words, numbers, signs = ["iris setosa", "größer", "a,b"], ["3", "-2", "10", "7"], ["-1", "1"]
    for (kernel, flags), scaling in itertools.product(KERNELS.items(), SCALINGS):
        stretched = scaling != "none"
        yield f"two {kernel} {scaling}", f"{flags} --scale {scaling}", signs, False, stretched
        yield f"pairs {kernel} {scaling}", f"{flags} --scale {scaling} --multiclass ovo", numbers, False, stretched
        yield f"rest {kernel} {scaling}", f"{flags} --scale {scaling} --multiclass ovr", numbers, False, stretched
    for kernel, flags in KERNELS.items():
        yield f"words {kernel}", flags, ["no", "yes"], False, False
        yield f"sparse {kernel}", f"{flags} --multiclass ovo", ["1", "2", "3"], True, False
        if kernel != "linear":
            yield f"folded {kernel}", f"{flags} --bias folded --scale standard", numbers[:3], False, True
            yield f"no bias {kernel}", f"{flags} --bias none", signs, False, False
        yield f"squared {kernel}", f"{flags} --loss squared", ["1.5", "2", "2.5"], False, False
    for way in ["ovo", "ovr", "crammer-singer"]:
        yield f"words {way}", f"--multiclass {way} --scale standard", ["blue", "green", "red"], False, True
    for way in ["ovr", "joint"]:
        yield f"logistic {way}", f"--solver logistic --multiclass {way} --scale standard", numbers, False, True
    yield "logistic two", "--solver logistic", signs, False, False
    yield "logistic sparse", "--loss logistic", ["0", "1"], True, False
    yield "lda", "--solver lda --multiclass joint", numbers, False, False
    yield "lda two", "--solver lda", signs, False, False
    yield "l1", "--norm l1 --multiclass ovr", numbers, False, False
    yield "one of several", "--positive 10 --kernel rbf", numbers, False, False
    yield "odd labels", "--kernel rbf --multiclass ovo", ["1.5", "x", "10"], False, False
    yield "nu", "--kernel rbf --nu 0.3", signs, False, False
    yield "ten classes", "--kernel rbf --multiclass ovo", [str(k) for k in range(10)], False, False
    yield "ten against the rest", "--kernel rbf --multiclass ovr", [str(k) for k in range(10)], False, False
    yield "perceptron", "--solver perceptron --max-iterations 500", signs, False, False
    yield "kernel perceptron", "--solver kernel-perceptron --kernel rbf --max-iterations 500", numbers, False, False
    for kernel, flags in KERNELS.items():
        yield f"one class {kernel}", f"--task one-class --nu 0.3 {flags} --scale minmax", signs, False, True
    yield "ball", "--task svdd --nu 0.3 --kernel rbf --gamma 0.2", signs, False, False


def regressions():
    for (kernel, flags), scaling in itertools.product(KERNELS.items(), SCALINGS):
        yield f"regression {kernel} {scaling}", f"--task regression --epsilon 0.05 {flags} --scale {scaling}"
    yield "regression nu", "--task regression --nu 0.4 --kernel rbf --scale standard"
    yield "regression squared", "--task regression --epsilon 0.05 --loss squared --scale minmax"


class Exported(unittest.TestCase):
    def setUp(self):
        self.temporary = tempfile.TemporaryDirectory()
        self.folder = pathlib.Path(self.temporary.name)

    def tearDown(self):
        self.temporary.cleanup()

    def run_program(self, *arguments):
        done = subprocess.run([PROGRAM, *arguments], cwd=self.folder, capture_output=True, text=True, encoding="utf-8")
        # 1 is a training that did not converge: the model is as good for this as any.
        self.assertIn(done.returncode, [0, 1], f"{arguments}: {done.stderr}")
        return done.stdout

    def exported(self, flags, data):
        """The model that `train` makes, as a session of onnxruntime."""
        self.run_program("train", data, *flags.split(), "-o", "m.mm", "--quiet")
        self.run_program("convert-model", "m.mm", "m.onnx", "--quiet")
        return onnxruntime.InferenceSession(self.folder / "m.onnx", providers=["CPUExecutionProvider"])

    def assert_near(self, found, expected, name):
        found, expected = np.asarray(found, dtype=float), np.asarray(expected, dtype=float)
        self.assertEqual(found.shape, expected.shape, name)
        wrong = np.abs(found - expected) / np.maximum(1.0, np.abs(expected))
        self.assertLessEqual(wrong.max(), TOLERANCE, name)

    def check_classes(self, number, case):
        name, flags, classes, sparse, stretched = case
        random = np.random.default_rng([7, number])
        points, codes = made(random, 120, 9 if sparse else 4, len(classes), 0.6 if sparse else 0.1, stretched)
        labels = ['"a,b"' if classes[code] == "a,b" else classes[code] for code in codes]
        write = write_libsvm if sparse else write_csv
        data, new = ("rows.svm", "new.svm") if sparse else ("rows.csv", "new.csv")
        write(self.folder / data, points[:80], labels[:80])
        alone = name.startswith("one class") or name == "ball"
        if alone:
            # Training rows that hold up the boundary lie on it: their scores are 0 but for rounding, of either sign.
            points, labels = points[80:], labels[80:]
        write(self.folder / new, points, labels)
        session = self.exported(flags, data)
        ours = json.loads(self.run_program("predict", "m.mm", new, "--decision-values", "--json"))
        names = [output.name for output in session.get_outputs()]
        theirs = dict(zip(names, session.run(None, {"X": points})))
        # The rest of several classes is called by a word.
        whole = alone or all(label.lstrip("-").isdigit() for label in classes) and "--positive" not in flags
        self.assertEqual(theirs["label"].dtype.kind, "i" if whole else "O", name)
        decided = [True] * len(points)
        if "rest" in name and len(classes) > 2:
            # A training row on the margins of several machines has the same score in all of them, but for rounding.
            scores = np.sort(np.asarray(ours["decision_values"], dtype=float), axis=1)
            decided = scores[:, -1] - scores[:, -2] > TOLERANCE
            self.assertGreater(np.mean(decided), 0.7, name)
        found = [str(label) for label, clear in zip(theirs["label"], decided) if clear]
        self.assertEqual(found, [label for label, clear in zip(ours["labels"], decided) if clear], name)
        self.assert_near(theirs["scores"], ours["decision_values"], name)
        self.assertGreater(len(set(ours["labels"])), 1, f"{name}: every row has the same label, which tests little")
        self.assertEqual("probabilities" in names, "logistic" in flags or name == "lda", name)
        if "probabilities" in names:
            ours = json.loads(self.run_program("predict", "m.mm", new, "--probabilities", "--json"))
            self.assert_near(theirs["probabilities"], ours["probabilities"], name)

    def test_classes_are_those_that_we_predict_and_scores_are_near(self):
        count = 0
        for number, case in enumerate(cases()):
            with self.subTest(case[0]):
                self.check_classes(number, case)
            count += 1
        self.assertGreaterEqual(count, 40)

    def test_numbers_of_regressions_are_near_ours(self):
        for number, (name, flags) in enumerate(regressions()):
            with self.subTest(name):
                random = np.random.default_rng([8, number])
                points, _ = made(random, 120, 4, 3, 0.1, "none" not in flags)
                squeezed = np.tanh((points - points.mean(0)) / points.std(0))
                targets = squeezed @ np.array([1.0, -2.0, 0.5, 0.0]) + 0.1 * random.normal(size=120)
                write_csv(self.folder / "rows.csv", points[:80], targets[:80])
                write_csv(self.folder / "new.csv", points, targets)
                session = self.exported(flags, "rows.csv")
                ours = json.loads(self.run_program("predict", "m.mm", "new.csv", "--json"))["numbers"]
                value, scores = session.run(["value", "scores"], {"X": points})
                self.assert_near(value[:, 0], ours, name)
                self.assertTrue((value == scores).all(), name)

    def test_a_score_of_exactly_nothing_is_the_first_class(self):
        # A machine without bias, far from all of its vectors: rbf is 0 there, in single precision and in double.
        points, codes = made(np.random.default_rng(9), 40, 2, 3)
        for flags in ["--bias none --kernel rbf --gamma 1 --multiclass ovo", "--bias none --kernel rbf --gamma 1 --positive 2"]:
            with self.subTest(flags):
                write_csv(self.folder / "rows.csv", points, codes)
                session = self.exported(flags, "rows.csv")
                far = np.array([[1e4, 1e4], [0.0, 0.0]], dtype=np.float32)
                write_csv(self.folder / "far.csv", far, [0, 0])
                ours = json.loads(self.run_program("predict", "m.mm", "far.csv", "--decision-values", "--json"))
                self.assertTrue(all(value == 0 for value in ours["decision_values"][0]))
                label, scores = session.run(["label", "scores"], {"X": far})
                self.assertEqual([str(one) for one in label], ours["labels"])
                self.assertTrue((scores[0] == 0).all())

    def test_a_file_that_was_changed_is_found_out(self):
        # The negative control: were nothing compared, this would pass as all others do.
        points, codes = made(np.random.default_rng(10), 80, 3, 2)
        write_csv(self.folder / "rows.csv", points, codes)
        session = self.exported("--kernel rbf --gamma 0.5", "rows.csv")
        self.run_program("train", "rows.csv", *"--kernel rbf --gamma 0.6 -o other.mm --quiet".split())
        ours = json.loads(self.run_program("predict", "other.mm", "rows.csv", "--decision-values", "--json"))
        scores = session.run(["scores"], {"X": points})[0]
        with self.assertRaises(AssertionError):
            self.assert_near(scores, ours["decision_values"], "another gamma")


if __name__ == "__main__":
    unittest.main()
