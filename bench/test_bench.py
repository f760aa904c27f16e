"""Tests of the checks and of the tables: `python -m unittest` in this folder."""

from __future__ import annotations

import math
import sys
import unittest

import numpy as np
from sklearn.svm import SVC

from child import own_peak_bytes, run
from growth import exponent
from memory import allowed
from objective import by_pair, dual_objective, largest_imbalance
from record import Record
from rounds import wanted
from table import Results, kernel_markdown, misses


def naive(rows: np.ndarray, labels: np.ndarray, alpha: np.ndarray, gamma: float) -> float:
    """Σ α − ½ ΣΣ α_i α_j y_i y_j k(x_i, x_j), term by term."""
    total = float(alpha.sum())
    for i in range(len(rows)):
        for j in range(len(rows)):
            kernel = math.exp(-gamma * float(((rows[i] - rows[j]) ** 2).sum()))
            total -= 0.5 * alpha[i] * alpha[j] * labels[i] * labels[j] * kernel
    return total


class Objective(unittest.TestCase):
    def test_is_the_sum_written_down_naively(self) -> None:
        for seed in range(20):
            random = np.random.default_rng(seed)
            rows, labels = random.normal(size=(9, 3)), random.choice([-1.0, 1.0], size=9)
            alpha = random.uniform(size=(9, 2))
            expected = sum(naive(rows, labels, alpha[:, m], 0.7) for m in range(2))
            self.assertAlmostEqual(
                dual_objective(rows, alpha * labels[:, None], 0.7), expected, places=10, msg=f"seed {seed}"
            )

    def test_of_no_vectors_is_zero(self) -> None:
        self.assertEqual(dual_objective(np.zeros((0, 3)), np.zeros((0, 1)), 1.0), 0.0)
        self.assertEqual(largest_imbalance(np.zeros((0, 1))), 0.0)

    def test_notices_a_coefficient_that_was_changed(self) -> None:
        random = np.random.default_rng(0)
        rows, coefficients = random.normal(size=(9, 3)), random.normal(size=(9, 1))
        changed = coefficients.copy()
        changed[4] *= -1
        self.assertGreater(abs(dual_objective(rows, coefficients, 0.7) - dual_objective(rows, changed, 0.7)), 1e-3)

    def test_the_pairs_of_libsvm_are_the_binary_machines(self) -> None:
        random = np.random.default_rng(1)
        labels = np.repeat([0, 1, 2, 3], 30)
        rows = random.normal(size=(120, 2)) + 0.8 * labels[:, None]
        whole = SVC(C=2, gamma=0.5, tol=1e-8).fit(rows, labels)
        coefficients = by_pair(whole.dual_coef_, whole.n_support_)
        self.assertLess(largest_imbalance(coefficients), 1e-9)
        expected = 0.0
        for i in range(4):
            for j in range(i + 1, 4):
                pair = (labels == i) | (labels == j)
                machine = SVC(C=2, gamma=0.5, tol=1e-8).fit(rows[pair], labels[pair])
                expected += dual_objective(machine.support_vectors_, machine.dual_coef_.T, 0.5)
        self.assertAlmostEqual(dual_objective(rows[whole.support_], coefficients, 0.5), expected, places=6)


class Child(unittest.TestCase):
    def test_knows_the_memory_code_and_output_of_a_program(self) -> None:
        small = run([sys.executable, "-c", "print(1); import sys; sys.exit(3)"], 60)
        large = run([sys.executable, "-c", "x = bytearray(200 << 20)"], 60)
        self.assertEqual((small.code, small.output.strip()), (3, "1"))
        self.assertGreater(large.peak_bytes, 200 << 20)
        # This process holds numpy, and counts as a floor.
        self.assertLess(large.peak_bytes, own_peak_bytes() + (200 << 20))
        self.assertLessEqual(small.peak_bytes, own_peak_bytes())

    def test_is_ended_at_its_limit(self) -> None:
        ended = run([sys.executable, "-c", "while True: pass"], 0.2)
        self.assertTrue(ended.timed_out)
        self.assertNotEqual(ended.code, 0)


def measurement(method: str, round: int, fit: float, **more: object) -> dict:
    fields = {
        "fit_seconds": fit,
        "predict_seconds": fit / 10,
        "peak_bytes": 1 << 20,
        "objective": 100.0,
        "accuracy": 0.9,
    }
    fields |= {"support_vectors": 5, **({"verify_exit_code": 0} if method == "maxmargin" else {})}
    return {"set": "s", "method": method, "round": round, **fields, **more}


def content(measurements: list[dict]) -> dict:
    about = {"c": 1, "gamma": 1, "rows": 10, "test_rows": 10, "columns": 2, "selection": "all"}
    settings = {"threads": 2, "tolerance": 1e-3, "memory_megabytes": 2000, "limit_seconds": 100, "repeats": 3, "quick": False}
    return {
        "date": "",
        "commit": "",
        "changed_since_commit": False,
        "machine": {"processor": "", "cores": 2},
        "versions": {},
        "settings": settings,
        "sets": {"s": about},
        "measurements": measurements,
    }


class Table(unittest.TestCase):
    def test_ratios_are_of_medians_and_of_the_best_setting(self) -> None:
        ours = [measurement("maxmargin", n, seconds) for n, seconds in enumerate([1.0, 9.0, 2.0])]
        peers = [
            measurement("libsvm", 0, 80.0),
            measurement("intelex-f32", 0, 10.0),
            measurement("intelex-f64", 0, 12.0),
        ]
        results = Results(content(ours + peers))
        self.assertEqual(results.ratio("s", "libsvm", "fit_seconds").times, 40.0)
        self.assertEqual(results.ratio("s", "intelex", "fit_seconds").times, 5.0)
        self.assertEqual(misses(results), [])
        self.assertIn("None.", kernel_markdown(results.content))

    def test_everything_that_misses_is_listed(self) -> None:
        ours = measurement("maxmargin", 0, 4.0, objective=99.0, accuracy=0.8, verify_exit_code=1, stop="time-limit")
        ours["predict_seconds"] = None
        peers = [measurement("libsvm", 0, 8.0), {"set": "s", "method": "intelex-f32", "round": 0, "error": "no memory"}]
        found = "\n".join(misses(Results(content([ours, *peers]))))
        for word in [
            "2.00× of LIBSVM, target 5×",
            "no ratio to intelex",
            "predict, geometric mean: no ratio",
            "objective, s",
        ]:
            self.assertIn(word, found)
        for word in [
            "accuracy, s",
            "verify, s: exit code 1",
            "stop, s: time-limit",
            "failed, s, intelex-f32: no memory",
        ]:
            self.assertIn(word, found)

    def test_a_peer_that_was_ended_counts_with_the_limit(self) -> None:
        ended = {"set": "s", "method": "libsvm", "round": 0, "error": "ended after 100 s", "timed_out": True}
        ratio = Results(content([measurement("maxmargin", 0, 2.0), ended])).ratio("s", "libsvm", "fit_seconds")
        self.assertEqual((ratio.times, ratio.at_least), (50.0, True))


class Rounds(unittest.TestCase):
    def test_slow_and_hopeless_methods_are_not_repeated(self) -> None:
        first = {"maxmargin": 1.0, "libsvm": 70.0, "sklearn": 30.0, "intelex-f32": 5.0, "intelex-f64": 11.0}
        record = Record(None, content([measurement(method, 0, seconds) for method, seconds in first.items()]))
        counts = {method: wanted(record, "s", method, list(first), 3) for method in first}
        self.assertEqual(counts, {"maxmargin": 3, "libsvm": 1, "sklearn": 2, "intelex-f32": 3, "intelex-f64": 1})


class Numbers(unittest.TestCase):
    def test_the_exponent_of_a_power_is_found(self) -> None:
        slope, factor = exponent([(n, 3e-6 * n**1.7) for n in (100, 1000, 5000)])
        self.assertAlmostEqual(slope, 1.7)
        self.assertAlmostEqual(factor, 3e-6)

    def test_the_memory_allowed_is_the_budget_a_tenth_and_64_mib(self) -> None:
        self.assertEqual(allowed(1000 << 20), (1000 + 100 + 64) << 20)


if __name__ == "__main__":
    unittest.main()
