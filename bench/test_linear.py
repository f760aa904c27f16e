"""Tests of the checks and tables of the linear and reading benchmarks: `python -m unittest` in this folder."""

from __future__ import annotations

import json
import math
import struct
import tempfile
import unittest
from pathlib import Path

import numpy as np
from scipy import sparse

import check_linear
import reading
from failure import Failure
from linear import hopeful, inaccurate
from linear_measure import chosen_rung, judged, not_reached
from linear_peers import MAKERS, climbed, stalled
from linear_problems import Task, ladder, methods, tasks
from linear_table import LinearResults, linear_markdown, misses
from primal import accuracy, primal_objective, suboptimality
from table import Results
from test_bench import content, measurement


def naive(
    rows: np.ndarray, labels: np.ndarray, weights: np.ndarray, classes: list[float], loss: str, c: float
) -> float:
    """The objective term by term."""
    total = sum(0.5 * value * value for value in weights.ravel().tolist())
    for row, label in zip(rows, labels):
        scores = [float(row @ w) for w in weights]
        if loss == "joint":
            total += c * (math.log(sum(math.exp(s) for s in scores)) - scores[classes.index(label)])
            continue
        for score, positive in zip(scores, classes):
            margin = score if label == positive else -score
            slack = max(0.0, 1.0 - margin)
            total += c * {"hinge": slack, "squared": slack**2, "logistic": math.log1p(math.exp(-margin))}[loss]
    return total


def separated(classes: int, seed: int = 0) -> tuple[sparse.csr_matrix, np.ndarray]:
    """Rows around as many centres as there are classes, with the labels 1, 2, …"""
    random = np.random.default_rng(seed)
    labels = random.integers(classes, size=300)
    centres = 3.0 * np.eye(classes, 4)
    return sparse.csr_matrix(centres[labels] + random.normal(size=(300, 4))), labels + 1.0


class Primal(unittest.TestCase):
    def test_is_the_sum_written_down_naively(self) -> None:
        for seed in range(20):
            random = np.random.default_rng(seed)
            rows, labels = random.normal(size=(9, 4)), random.choice([1.0, 2.0, 5.0], size=9)
            weights, classes = random.normal(size=(3, 4)), [1.0, 2.0, 5.0]
            for loss in ("hinge", "squared", "logistic", "joint"):
                found = primal_objective(rows @ weights.T, weights, labels, classes, loss, 0.7)
                expected = naive(rows, labels, weights, classes, loss, 0.7)
                self.assertAlmostEqual(found, expected, places=10, msg=f"seed {seed}, {loss}")

    def test_notices_a_weight_that_was_changed(self) -> None:
        random = np.random.default_rng(0)
        rows, labels = random.normal(size=(9, 4)), random.choice([-1.0, 1.0], size=9)
        weights = random.normal(size=(1, 4))
        changed = weights * [1, 1, -1, 1]
        found = [primal_objective(rows @ w.T, w, labels, [1.0], "squared", 1.0) for w in (weights, changed)]
        self.assertGreater(abs(found[0] - found[1]), 1e-3)

    def test_a_joint_objective_refuses_a_row_of_no_class(self) -> None:
        with self.assertRaises(ValueError):
            primal_objective(np.zeros((1, 2)), np.zeros((2, 3)), np.array([7.0]), [1.0, 2.0], "joint", 1.0)

    def test_an_objective_below_the_bound_refutes_the_certificate(self) -> None:
        self.assertEqual(suboptimality(101.0, 100.0), 0.01)
        self.assertEqual(suboptimality(100.0, 100.0), 0.0)
        for primal, bound in [(99.999, 100.0), (math.nan, 100.0), (math.inf, 100.0), (1.0, 0.0), (1.0, math.nan)]:
            with self.assertRaises(Failure, msg=f"{primal} {bound}"):
                suboptimality(primal, bound)

    def test_the_accuracy_of_a_single_machine_is_that_of_its_sign(self) -> None:
        scores = np.array([[1.0], [-1.0], [2.0], [0.0]])
        self.assertEqual(accuracy(scores, np.array([4.0, 3.0, 3.0, 3.0]), [4.0], 3.0), 0.75)


class Peers(unittest.TestCase):
    def test_the_peers_come_to_the_same_objective_and_the_right_side(self) -> None:
        chosen = {
            "squared": ["liblinear-s2", "liblinear-s1", "sklearn-svc-primal", "snapml"],
            "hinge": ["liblinear-s3", "sklearn-svc-dual"],
            "logistic": ["liblinear-s0", "sklearn-lbfgs", "sklearn-newton-cholesky-f64", "snapml"],
            "joint": ["sklearn-lbfgs-f64", "sklearn-newton-cg-f64"],
        }
        for classes in (2, 3):
            data = separated(classes)
            for loss, names in chosen.items():
                if (loss, classes) == ("joint", 2):
                    continue
                found = {}
                for name in names:
                    request = {"method": name, "loss": loss, "c": 1.0, "threads": 1, "bound": 1e-3}
                    fit = climbed(MAKERS[name.split("-")[0]](*data, request), 1e-7, request, data, data)
                    self.assertGreater(fit["accuracy"], 0.8, msg=f"{name}, {loss}, {classes} classes")
                    found[name] = fit["objective"]
                # LIBLINEAR ends the hinge loss after 300 passes, near enough to tell a wrong sign from a right one.
                least = min(found.values())
                for name, objective in found.items():
                    self.assertLess(objective, least * 1.05, msg=f"{name}, {loss}, {classes} classes")

    def test_only_a_climb_with_a_cap_on_its_passes_can_stall(self) -> None:
        flat = [1.0, 0.2, 0.3, 0.2, 0.25, 0.4]
        self.assertTrue(stalled("liblinear-s3", flat))
        self.assertFalse(stalled("liblinear-s3", [1.0, 0.5, 0.4, 0.3, 0.2]))
        self.assertFalse(stalled("liblinear-s3", [0.5, 0.5, 0.5]))
        # The first rungs are too loose for it to begin at all.
        self.assertFalse(stalled("sklearn-lbfgs", [1.0] * 6))

    def test_unknown_peers_and_sets_are_refused(self) -> None:
        about = {"columns": 54, "classes": 2}
        self.assertIn("sklearn-newton-cholesky", methods(["sklearn"], Task("a9a", "logistic"), about))
        wide = {"columns": 50_000, "classes": 2}
        self.assertNotIn("sklearn-newton-cholesky", methods(["sklearn"], Task("text", "logistic"), wide))
        self.assertEqual(methods(["multicore"], Task("a9a", "logistic"), about), ["multicore-s0"])
        self.assertEqual(ladder("liblinear-s2"), sorted(ladder("liblinear-s2"), reverse=True))
        for refused in (lambda: methods(["libsvm"], Task("a9a", "hinge"), about), lambda: tasks("a9a,b9b")):
            with self.assertRaises(Failure):
                refused()


class Models(unittest.TestCase):
    def ours(self, folder: str, bias: float) -> Path:
        weights = np.array([[1.0, -2.0], [0.5, 0.25]])
        machines = [{"pairing": {"positive": 1, "negative": None}, "bias": bias}]
        machines.append({"pairing": {"positive": 0, "negative": None}, "bias": 0.0})
        about = json.dumps({"model": {"classes": ["3", "7"], "machines": machines}})
        tensor = {"dtype": "F64", "shape": [2, 2], "data_offsets": [0, 32]}
        header = json.dumps({"__metadata__": {"maxmargin": about}, "machines.weights": tensor}).encode()
        path = Path(folder) / "model.mm"
        path.write_bytes(struct.pack("<Q", len(header)) + header + weights.tobytes())
        return path

    def test_the_weights_of_our_model_are_those_of_the_classes_it_names(self) -> None:
        with tempfile.TemporaryDirectory() as folder:
            weights, classes = check_linear.ours(self.ours(folder, 0.0))
            self.assertEqual((weights.tolist(), classes), ([[1.0, -2.0], [0.5, 0.25]], [7.0, 3.0]))

    def test_a_model_with_an_offset_is_refused(self) -> None:
        with tempfile.TemporaryDirectory() as folder, self.assertRaises(ValueError):
            check_linear.ours(self.ours(folder, 0.1))

    def test_the_weights_of_liblinears_model_are_columns_by_classes(self) -> None:
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "model"
            path.write_text("solver_type L2R_LR\nnr_class 3\nlabel 2 1 3\nnr_feature 2\nbias -1\nw\n1 2 3 \n4 5 6 \n")
            weights, classes = check_linear.theirs(path)
            self.assertEqual((weights.tolist(), classes), ([[1.0, 4.0], [2.0, 5.0], [3.0, 6.0]], [2.0, 1.0, 3.0]))
            path.write_text("solver_type L2R_LR\nnr_class 2\nlabel 1 -1\nnr_feature 2\nbias -1\nw\n1 \n4 \n")
            self.assertEqual(check_linear.theirs(path)[1], [1.0])


class Judging(unittest.TestCase):
    def test_what_we_certify_is_refused_when_the_weights_say_otherwise(self) -> None:
        good = {"relative_gap": 5e-4, "objective": 100.0, "certified_primal": 100.0, "suboptimality": 4e-4}
        self.assertEqual(judged(good, 1e-3), {})
        for change, word in [
            ({"relative_gap": 2e-3}, "certified gap"),
            ({"relative_gap": math.nan}, "certified gap"),
            ({"certified_primal": 99.9}, "the weights"),
            ({"suboptimality": 2e-3}, "above the bound"),
        ]:
            self.assertIn(word, judged({**good, **change}, 1e-3)["error"])

    def test_the_fastest_fit_within_the_gap_is_chosen(self) -> None:
        climb = [
            {"rung": 0.1, "fit_seconds": 1.0, "suboptimality": 2e-3},
            {"rung": 0.03, "fit_seconds": 3.0, "suboptimality": 9e-4},
            {"rung": 0.01, "fit_seconds": 2.0, "suboptimality": 1e-4},
            {"error": "ended after 5 s", "timed_out": True},
        ]
        self.assertEqual(chosen_rung(climb, 1e-3)["rung"], 0.01)
        self.assertIsNone(chosen_rung(climb, 1e-6))
        missed = not_reached(climb, 1e-6)
        self.assertEqual(missed["at_least_seconds"], 3.0)
        self.assertIn("at best 1.0e-04; ended after 5 s", missed["error"])
        self.assertEqual(not_reached(climb[3:], 1e-6), {"error": "ended after 5 s", "at_least_seconds": 0.0})

    def test_only_settings_near_the_best_of_their_peer_are_repeated(self) -> None:
        seconds = {"liblinear-s2": 1.0, "liblinear-s1": 2.5, "sklearn-sgd": 9.0}
        rungs = {method: {"fit_seconds": value} for method, value in seconds.items()}
        self.assertEqual(hopeful(rungs), ["liblinear-s2", "sklearn-sgd"])

    def test_a_fast_but_wrong_discriminant_analysis_does_not_count(self) -> None:
        rungs = {"sklearn-lda-svd-f64": {"accuracy": 0.739}, "sklearn-lda-lsqr-f64": {"accuracy": 0.727}}
        self.assertEqual(inaccurate(rungs), {})
        rungs["sklearn-lda-lsqr-f32"] = {"accuracy": 0.516}
        self.assertEqual(list(inaccurate(rungs)), ["sklearn-lda-lsqr-f32"])

    def test_another_number_of_rows_than_there_are_is_refused(self) -> None:
        self.assertEqual(reading.judged({"rows": 5}, {"rows": 5}), {})
        self.assertEqual(reading.judged({"read_seconds": 1.0}, {"rows": 5}), {})
        self.assertIn("4 rows were read", reading.judged({"rows": 4}, {"rows": 5})["error"])


def linear_content(measurements: list[dict], **about: object) -> dict:
    found = content(measurements)
    fields = {"data": "s", "loss": "squared", "part": "fit", "target": "1e-6", "classes": 2, "bound": 100.0}
    found["sets"]["s"] |= {**fields, **about}
    found["settings"]["climb_seconds"] = 60
    return found


class Table(unittest.TestCase):
    def fits(self, **more: object) -> list[dict]:
        ours = measurement("maxmargin", 0, 1.0, suboptimality=1e-7, relative_gap=1e-7, stop="converged", **more)
        peers = [("liblinear-s2", 2.0), ("multicore-s2", 1.5), ("multicore-s1", 9.0)]
        return [ours, *(measurement(method, 0, seconds, suboptimality=1e-7) for method, seconds in peers)]

    def test_nothing_is_listed_when_every_target_is_reached(self) -> None:
        results = LinearResults(linear_content(self.fits()))
        self.assertEqual(misses(results), [])
        self.assertEqual(results.mean("multicore", "fit_seconds", ["s"])[0].times, 1.5)
        self.assertIn("| **2.00×** | **1.50×** |", linear_markdown(results.content))

    def test_everything_that_misses_is_listed(self) -> None:
        fits = self.fits(objective=100.001)
        fits[0]["stop"] = "stalled"
        fits[1]["fit_seconds"], fits[2]["fit_seconds"], fits[3]["suboptimality"] = 0.5, 0.8, 2e-6
        fits.append({"set": "s", "method": "snapml", "round": 0, "error": "no memory"})
        recorded = linear_content(fits)
        recorded["references"] = {"s squared": {"relative_gap": 1e-5}}
        found = "\n".join(misses(LinearResults(recorded)))
        for word in [
            "bound, s squared: known to 1.0e-05 only",
            "fit to 1e-6, s: 0.500× of LIBLINEAR, target 0.9×",
            "fit to 1e-6, s: 0.800× of multi-core, target 0.9×",
            "geometric mean of 1 sets: 0.500× of LIBLINEAR, target 2×",
            "objective, s: +1.0e-05",
            "gap, s, multicore-s1: 2.0e-06 in round 1",
            "stop, s: stalled",
            "failed, s, snapml: no memory",
        ]:
            self.assertIn(word, found)

    def test_a_peer_that_does_not_get_there_counts_with_its_longest_fit(self) -> None:
        fits = self.fits()[:1]
        fits.append({"set": "s", "method": "liblinear-s1", "round": 0, "error": "not reached", "at_least_seconds": 4.0})
        results = LinearResults(linear_content(fits))
        ratio = results.ratio("s", "liblinear", "fit_seconds")
        self.assertEqual((ratio.times, ratio.at_least), (4.0, True))
        # One that does is its best, though it takes longer.
        fits.append(measurement("liblinear-s2", 0, 6.0))
        ratio = LinearResults(linear_content(fits)).ratio("s", "liblinear", "fit_seconds")
        self.assertEqual((ratio.times, ratio.at_least), (6.0, False))

    def test_scikit_learns_copy_stands_in_only_where_liblinear_does_not_get_there(self) -> None:
        fits = self.fits()[:1]
        fits.append({"set": "s", "method": "liblinear-s3", "round": 0, "error": "not reached", "at_least_seconds": 4.0})
        fits += [measurement("sklearn-svc-dual", 0, 8.0), measurement("sklearn-sgd", 0, 5.0)]
        self.assertEqual(
            LinearResults(linear_content(fits)).best("s", "liblinear", "fit_seconds")[0], "sklearn-svc-dual"
        )
        fits.append(measurement("liblinear-s2", 0, 9.0))
        self.assertEqual(LinearResults(linear_content(fits)).best("s", "liblinear", "fit_seconds")[0], "liblinear-s2")

    def test_a_worse_accuracy_of_discriminant_analysis_is_listed(self) -> None:
        fits = [measurement("maxmargin", 0, 1.0), measurement("sklearn-lda-svd-f32", 0, 6.0)]
        recorded = linear_content(fits, loss="lda", part="dense", target="")
        self.assertEqual(misses(LinearResults(recorded)), [])
        fits[0]["accuracy"] = 0.8
        self.assertIn("accuracy, s: +10.00 points below", "\n".join(misses(LinearResults(recorded))))

    def test_a_slow_reader_is_listed(self) -> None:
        seconds = {"maxmargin": 1.0, "sklearn": 10.0, "liblinear": 4.0}
        fits = [measurement(method, 0, 1.0, read_seconds=value) for method, value in seconds.items()]
        recorded = content(fits)
        recorded["sets"]["s"] |= {"compressed": False, "megabytes": 500.0, "file_megabytes": 500.0}
        found = reading.misses(Results(recorded), ["s"])
        self.assertEqual(found, ["read, s: 4.00× of LIBLINEAR's way, target 5×"])
        self.assertIn("| s | 500 | 500 | 500 | 50.0 | 125 |", reading.reading_markdown(recorded))

    def test_a_text_is_repeated_until_it_is_long_enough(self) -> None:
        self.assertEqual([reading.repeats_for(b"x" * 400_000, megabytes) for megabytes in (0, 1, 2)], [1, 3, 5])


if __name__ == "__main__":
    unittest.main()
