"""Our programs beside LIBSVM and LIBLINEAR themselves: the same flags, the same data, more than 500 configurations.

    MAXMARGIN=target/debug/maxmargin python -m unittest -v test_differential     (in this folder)

For each configuration, with no exception:
- the objective at our model is not above that at theirs by more than 1e-6 of it;
- the labels are equal wherever every decision value is at least ten tolerances from 0;
- their library with our file, and our program with theirs, give the decision values that the file's own program gives, to 1e-10.
"""

import ctypes
import itertools
import json
import os

# One thread is fastest on rows as few as these.
os.environ.setdefault("OMP_NUM_THREADS", "1")


import subprocess
import tempfile
import unittest

import numpy as np
from liblinear import liblinear, liblinearutil
from libsvm import svm, svmutil

import models
import sets

PROGRAM = os.path.abspath(os.environ["MAXMARGIN"])
TOLERANCE = 1e-5
LEAST_CONFIGURATIONS = 500
# How many were compared; the last test looks at it.
compared = []


def ours(*words):
    done = subprocess.run([PROGRAM, *map(str, words)], capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, (words, done.stdout, done.stderr)
    return done.stdout


def read(path):
    with open(path) as file:
        return file.read()


def decision_values(model, data, *words):
    found = json.loads(ours("predict", model, data, "--decision-values", "--json", "--format", "libsvm", *words))
    return np.array(found["decision_values"] if "decision_values" in found else found["numbers"]).reshape(found["rows"], -1)


def fresh(rows):
    """Rows that no model has seen: between those that it has."""
    rng = np.random.default_rng(99)
    places = rng.integers(0, len(rows), size=(60, 2))
    return 0.6 * rows[places[:, 0]] + 0.4 * rows[places[:, 1]]


def as_nodes(rows):
    return [{column + 1: float(value) for column, value in enumerate(row) if value != 0} for row in rows]


def their_values(model, rows):
    """LIBSVM's own labels and decision values. Its Python function has room for one value of a nu-SVC, whatever the classes."""
    classes = model.get_nr_class()
    machines = classes * (classes - 1) // 2 if model.get_svm_type() in (0, 1) else 1
    room = (ctypes.c_double * machines)()
    labels, values = [], []
    for row in rows:
        nodes, _ = svm.gen_svm_nodearray(row, isKernel=model.param.kernel_type == 4)
        labels.append(svm.libsvm.svm_predict_values(model, nodes, room))
        values.append(list(room))
    return np.array(labels), np.array(values)


def ours_in_their_order(values, labels):
    """Our decision values, the larger label of a pair positive, in the order and with the signs of their file."""
    classes = sorted(labels)
    pairs = {(classes[i], classes[j]): n for n, (i, j) in enumerate(itertools.combinations(range(len(classes)), 2))}
    found = []
    for a, b in itertools.combinations(labels, 2):
        low, high = min(a, b), max(a, b)
        found.append(values[:, pairs[(low, high)]] * (1.0 if a == high else -1.0))
    return np.stack(found, 1)


def near(case, left, right, where):
    left, right = np.asarray(left, float), np.asarray(right, float)
    case.assertEqual(left.shape, right.shape, where)
    far = np.abs(left - right) / np.maximum(1.0, np.abs(right))
    case.assertLess(far.max(initial=0.0), 1e-10, where)


class Differential(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)

    def path(self, name):
        return os.path.join(self.folder.name, name)

    def svm(self, name, rows, labels, flags, weights=None, table=False):
        """One configuration of LIBSVM."""
        weights = weights or {}
        options = dict(flags)
        where = f"{name} {flags} {weights}"
        words = [word for flag, value in flags for word in (flag, str(value))]
        words += [word for label, weight in weights.items() for word in (f"-w{label}", str(weight))]
        words += ["-e", str(TOLERANCE), "-q"]
        kind = options["-s"]
        test = fresh(rows)
        if table:
            kernel = (1.0 + rows @ rows.T) ** 2
            kernel_test = (1.0 + test @ rows.T) ** 2
            sets.write_table(self.path("data"), kernel, labels)
            sets.write_table(self.path("test"), kernel_test, np.zeros(len(test)))
            nodes = [{0: i + 1, **{j + 1: float(v) for j, v in enumerate(row)}} for i, row in enumerate(kernel)]
            nodes_test = [{0: i + 1, **{j + 1: float(v) for j, v in enumerate(row)}} for i, row in enumerate(kernel_test)]
        else:
            kernel = kernel_test = None
            sets.write(self.path("data"), rows, labels)
            sets.write(self.path("test"), test, np.zeros(len(test)))
            nodes, nodes_test = as_nodes(rows), as_nodes(test)
        # Kept, because their model points into it.
        problem = svm.svm_problem(list(map(float, labels)), nodes, isKernel=table)
        theirs = svmutil.svm_train(problem, svm.svm_parameter(" ".join(words)))
        svmutil.svm_save_model(self.path("theirs"), theirs)
        ours("svm-train", *words, self.path("data"), self.path("ours"))
        columns = len(rows) if table else rows.shape[1]
        texts = [read(self.path(which)) for which in ("theirs", "ours")]
        their_model, our_model = (models.SvmModel(text, columns) for text in texts)
        nu = options.get("-n", 0.5) if kind in (1, 2, 4) else None
        what = (options.get("-p", 0.1), nu, kernel)
        their_objectives = models.svm_objectives(their_model, rows, labels, *what)
        our_objectives = models.svm_objectives(our_model, rows, labels, *what)
        self.assertEqual(their_model.entries.get("label"), our_model.entries.get("label"), where)
        convex = not (options.get("-t", 2) == 3)
        for their, our in zip(their_objectives, our_objectives, strict=True):
            if convex:
                self.assertLessEqual(our, their + 1e-6 * max(abs(their), 1e-12) + 1e-12, where)
        # Each program with its own file.
        their_labels, values = their_values(theirs, nodes_test)
        ours("svm-predict", "-q", self.path("test"), self.path("ours"), self.path("out"))
        our_labels = np.array([float(line) for line in read(self.path("out")).split()])
        if kind < 3 and convex:
            # The values of a nu-SVC are divided by its margin; the tolerance is that of the values before.
            margins = their_model.margins(labels, nu) if kind == 1 else 1.0
            sure = (np.abs(values * margins) > 10 * 1e-3).all(1)
            self.assertTrue((our_labels[sure] == their_labels[sure]).all(), where)
        elif convex:
            # Where no vector is free, b is any number of an interval: the functions agree but for that, and ours is as good.
            apart = our_labels - their_labels
            self.assertLess(np.abs(apart - apart.mean()).max(), 5e-3 * np.abs(labels).max(), where)
            primals = [
                models.regression_primal(model, rows, labels, options.get("-c", 1.0), options.get("-p", 0.1), nu, kernel)
                for model in (our_model, their_model)
            ]
            self.assertLessEqual(primals[0], primals[1] * (1 + 1e-4), where)
        # Crosswise.
        order = [int(word) for word in our_model.entries.get("label", "").split()]
        turned = (lambda values: ours_in_their_order(values, order)) if kind < 2 else (lambda values: values)
        loaded = svmutil.svm_load_model(self.path("ours"))
        _, by_them = their_values(loaded, nodes_test)
        near(self, by_them, turned(decision_values(self.path("ours"), self.path("test"))), where)
        # Their file has eight digits of each vector, so it is another model than the one that was saved.
        loaded = svmutil.svm_load_model(self.path("theirs"))
        _, by_them = their_values(loaded, nodes_test)
        near(self, turned(decision_values(self.path("theirs"), self.path("test"))), by_them, where)
        compared.append(where)

    def test_classes_by_c(self):
        grid = [("-t", 0, {}), ("-t", 1, {"-d": 2, "-g": 0.5, "-r": 1}), ("-t", 2, {}), ("-t", 2, {"-g": 1.5}), ("-t", 3, {"-g": 0.05, "-r": 0.1})]
        for (name, (rows, labels)), (flag, kernel, extra), cost in itertools.product(sets.classes().items(), grid, (0.1, 1, 20)):
            with self.subTest(name=name, kernel=(kernel, extra), cost=cost):
                self.svm(name, rows, labels, [("-s", 0), (flag, kernel), ("-c", cost), *extra.items()])

    def test_classes_by_c_with_weights(self):
        for (name, (rows, labels)), cost in itertools.product(sets.classes().items(), (0.5, 8)):
            known = sorted(set(map(int, labels)))
            with self.subTest(name=name, cost=cost):
                weights = {known[0]: 3.0, known[-1]: 0.25}
                self.svm(name, rows, labels, [("-s", 0), ("-t", 2), ("-c", cost)], weights)
                self.svm(name, rows, labels, [("-s", 0), ("-t", 0), ("-c", cost)], weights)

    def test_classes_by_nu(self):
        for (name, (rows, labels)), (kernel, extra), nu in itertools.product(
            sets.classes().items(), ((0, {}), (2, {}), (2, {"-g": 2}), (1, {"-d": 2, "-r": 1})), (0.7, 0.9)
        ):
            # A share of the largest that is feasible: where the classes overlap, a small nu leaves no margin, and w is 0.
            if name == "xor" and kernel == 0:
                continue
            sizes = np.sort(np.unique(labels, return_counts=True)[1])
            nu = round(nu * 2 * sizes[0] / (sizes[0] + sizes[-1]), 3)
            with self.subTest(name=name, kernel=kernel, nu=nu):
                self.svm(name, rows, labels, [("-s", 1), ("-t", kernel), ("-n", nu), *extra.items()])

    def test_one_class(self):
        for (name, (rows, labels)), (kernel, extra), nu in itertools.product(
            sets.classes().items(), ((2, {}), (2, {"-g": 1}), (0, {})), (0.1, 0.5)
        ):
            with self.subTest(name=name, kernel=kernel, nu=nu):
                self.svm(name, rows, labels, [("-s", 2), ("-t", kernel), ("-n", nu), *extra.items()])

    def test_regression_by_epsilon(self):
        for (name, (rows, targets)), (kernel, extra), cost, epsilon in itertools.product(
            sets.numbers().items(), ((0, {}), (2, {}), (2, {"-g": 2}), (1, {"-d": 2, "-r": 1})), (0.3, 5), (0.01, 0.3)
        ):
            with self.subTest(name=name, kernel=kernel, cost=cost, epsilon=epsilon):
                self.svm(name, rows, targets, [("-s", 3), ("-t", kernel), ("-c", cost), ("-p", epsilon), *extra.items()])

    def test_regression_by_nu(self):
        for (name, (rows, targets)), (kernel, extra), cost, nu in itertools.product(
            sets.numbers().items(), ((0, {}), (2, {}), (2, {"-g": 2})), (0.3, 5), (0.2, 0.6)
        ):
            with self.subTest(name=name, kernel=kernel, cost=cost, nu=nu):
                self.svm(name, rows, targets, [("-s", 4), ("-t", kernel), ("-c", cost), ("-n", nu), *extra.items()])

    def test_tables_of_kernel_values(self):
        for name, (rows, labels) in sets.classes().items():
            if name in ("wide", "text"):
                continue
            with self.subTest(name=name):
                self.svm(name, rows, labels, [("-s", 0), ("-t", 4), ("-c", 1)], table=True)
        for name, (rows, targets) in sets.numbers().items():
            with self.subTest(name=name):
                self.svm(name, rows, targets, [("-s", 3), ("-t", 4), ("-c", 0.1)], table=True)

    def linear(self, name, rows, labels, kind, cost, bias, free_bias=False, weights=None, epsilon=0.1, nu=0.5):
        """One configuration of LIBLINEAR."""
        weights = weights or {}
        where = f"{name} -s {kind} -c {cost} -B {bias} -R {free_bias} -p {epsilon} -n {nu} {weights}"
        words = ["-s", kind, "-c", cost, "-B", bias, "-p", epsilon, "-n", nu, "-e", TOLERANCE, "-q"]
        words += ["-R"] if free_bias else []
        words += [word for label, weight in weights.items() for word in (f"-w{label}", weight)]
        words = list(map(str, words))
        test = fresh(rows)
        sets.write(self.path("data"), rows, labels)
        sets.write(self.path("test"), test, np.zeros(len(test)))
        problem = liblinear.problem(list(map(float, labels)), as_nodes(rows), bias=bias)
        theirs = liblinearutil.train(problem, liblinear.parameter(" ".join(words)))
        liblinearutil.save_model(self.path("theirs"), theirs)
        ours("liblinear-train", *words, self.path("data"), self.path("ours"))
        their_model, our_model = (models.LinearModel(read(self.path(which))) for which in ("theirs", "ours"))
        for entry in ("solver_type", "nr_class", "label", "nr_feature", "bias"):
            self.assertEqual(their_model.entries.get(entry), our_model.entries.get(entry), where)
        what = (kind, cost, epsilon, nu, weights, free_bias)
        their_objectives = models.linear_objectives(their_model, rows, labels, *what)
        our_objectives = models.linear_objectives(our_model, rows, labels, *what)
        for their, our in zip(their_objectives, our_objectives, strict=True):
            self.assertLessEqual(our, their + 1e-6 * max(abs(their), 1e-12) + 1e-12, where)
        their_labels, _, their_values = liblinearutil.predict([0.0] * len(test), as_nodes(test), theirs, "-q")
        their_values = np.array(their_values).reshape(len(test), -1)
        ours("liblinear-predict", "-q", self.path("test"), self.path("ours"), self.path("out"))
        our_labels = np.array([float(line) for line in read(self.path("out")).split()])
        if kind in (11, 12, 13):
            # Theirs stops at a number of sweeps, now and then far from the optimum.
            if their_objectives[0] < our_objectives[0] * (1 + 1e-7):
                self.assertLess(np.abs(our_labels - their_labels).max(), 1e-2 * np.abs(labels).max(), where)
        else:
            apart = np.sort(their_values, 1)
            # ‖w − w*‖² is at most twice what the objective is above its optimum: so far may a value be off, theirs being cut off by a
            # number of sweeps now and then.
            above = max(their - our for their, our in zip(their_objectives, our_objectives))
            off = 2 * np.sqrt(2 * max(above, 0.0)) * np.sqrt((test**2).sum(1) + max(bias, 0) ** 2) + 10 * 1e-3
            sure = (apart[:, -1] - apart[:, -2] if apart.shape[1] > 1 else np.abs(apart[:, 0])) > 2 * off
            self.assertTrue((our_labels[sure] == np.array(their_labels)[sure]).all(), where)
        # Crosswise: each file by both programs, in one order of classes and with one sign.
        for which, own in (("ours", our_model), ("theirs", their_model)):
            loaded = liblinearutil.load_model(self.path(which))
            _, _, by_them = liblinearutil.predict([0.0] * len(test), as_nodes(test), loaded, "-q")
            by_them = np.array(by_them).reshape(len(test), -1)
            by_us = decision_values(self.path(which), self.path("test"))
            if len(own.labels) == 2:
                by_us = by_us * (1.0 if own.labels[0] > own.labels[1] else -1.0)
                # Crammer and Singer's has two functions, each the negative of the other, of which ours is the difference.
                by_them = by_them[:, :1] * (2.0 if kind == 4 else 1.0)
            elif len(own.labels) > 2:
                by_us = by_us[:, [sorted(own.labels).index(label) for label in own.labels]]
            near(self, by_us, by_them, f"{where}: {which}")
        compared.append(where)

    def test_linear_classes(self):
        for (name, (rows, labels)), kind, cost in itertools.product(sets.classes().items(), range(8), (0.1, 2)):
            with self.subTest(name=name, kind=kind, cost=cost):
                self.linear(name, rows, labels, kind, cost, bias=-1 if cost == 0.1 else 1)

    def test_linear_classes_with_weights_and_other_constants(self):
        for (name, (rows, labels)), kind in itertools.product(sets.classes().items(), (0, 1, 3)):
            known = sorted(set(map(int, labels)))
            with self.subTest(name=name, kind=kind):
                self.linear(name, rows, labels, kind, 1, bias=3, weights={known[0]: 2.0, known[-1]: 0.5})

    def test_linear_classes_with_a_free_bias(self):
        for (name, (rows, labels)), kind in itertools.product(sets.classes().items(), (0, 2)):
            with self.subTest(name=name, kind=kind):
                self.linear(name, rows, labels, kind, 0.5, bias=1, free_bias=True)

    def test_linear_regression(self):
        for (name, (rows, targets)), kind, cost, bias in itertools.product(
            sets.numbers().items(), (11, 12, 13), (0.1, 4), (-1, 1)
        ):
            with self.subTest(name=name, kind=kind, cost=cost, bias=bias):
                self.linear(name, rows, targets, kind, cost, bias)

    def test_linear_one_class(self):
        for (name, (rows, labels)), nu in itertools.product(sets.classes().items(), (0.1, 0.5)):
            with self.subTest(name=name, nu=nu):
                self.linear(name, rows, labels, 21, 1, -1, nu=nu)

    def test_zz_there_were_enough_of_them(self):
        self.assertGreaterEqual(len(compared), LEAST_CONFIGURATIONS)
        self.assertEqual(len(compared), len(set(compared)), "a configuration twice")


if __name__ == "__main__":
    unittest.main()
