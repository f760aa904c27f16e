"""Tests of the benchmark of small sets: `python -m unittest` in this folder."""

from __future__ import annotations

import unittest
from types import SimpleNamespace

import numpy as np
from sklearn import svm

from small_objective import kernel_matrix, objective, scale_gamma
from small_sets import Fit, SmallSet, fits, small_sets
from small_table import is_slow, is_unfinished, is_worse, mean, misses, ratio, shortfall, small_markdown


def measured(ours: float, theirs: float, **more: object) -> dict:
    return {
        "set": "s",
        "method": "SVC C=1",
        "kind": "SVC",
        "round": 0,
        "ours_seconds": ours,
        "theirs_seconds": theirs,
        "ours_converged": True,
        "theirs_converged": True,
        "ours_objective": 10.0,
        "theirs_objective": 10.0,
        **more,
    }


def content(measurements: list[dict]) -> dict:
    return {
        "date": "2026-01-01",
        "commit": "abc",
        "changed_since_commit": False,
        "machine": {"processor": "p", "cores": 2},
        "versions": {"numpy": "1"},
        "settings": {"quick": False, "their_seconds": 2.0, "our_seconds": 20.0},
        "sets": {"s": {"rows": 4, "columns": 2}},
        "measurements": measurements,
    }


def two_classes(classes: int = 2) -> SmallSet:
    draw = np.random.default_rng(4)
    targets = np.arange(60) % classes
    rows = draw.normal(size=(60, 3)) + targets[:, None]
    return SmallSet("s", rows, targets.astype(float), False)


class Objective(unittest.TestCase):
    def test_objectives_of_scikit_learn_are_those_that_a_tighter_tolerance_raises(self) -> None:
        # A dual objective is a maximum: more exact fits are above looser ones, and by little.
        for classes in (2, 3):
            small = two_classes(classes)
            numbers = SmallSet("s", small.rows, small.rows[:, 0] + 0.1 * small.targets, True)
            for fit, on in (
                (Fit("SVC", {"C": 10.0, "gamma": 0.5}), small),
                (Fit("SVC", {"kernel": "linear", "C": 1.0}), small),
                (Fit("NuSVC", {"nu": 0.3, "gamma": 0.5}), small),
                (Fit("OneClassSVM", {"nu": 0.3, "gamma": 0.5}), small),
                (Fit("SVR", {"C": 10.0, "gamma": 0.5}), numbers),
                (Fit("LinearSVC", {"C": 1.0}), small),
            ):
                at = {}
                for tol in (1e-2, 1e-8):
                    model = getattr(svm, fit.estimator)(**fit.parameters, tol=tol).fit(on.rows, on.targets)
                    at[tol] = objective(model, fit, on)
                size = abs(at[1e-8])
                self.assertGreaterEqual(at[1e-8], at[1e-2] - 1e-9 * size, fit.name)
                self.assertLess(abs(at[1e-8] - at[1e-2]), 0.2 * size, fit.name)

    def test_an_answer_that_was_changed_is_below(self) -> None:
        small, fit = two_classes(), Fit("SVC", {"C": 1.0, "gamma": 0.5})
        model = svm.SVC(**fit.parameters, tol=1e-8).fit(small.rows, small.targets)
        best = objective(model, fit, small)
        coefficients = model.dual_coef_.copy()
        coefficients[0, 0] *= 0.5
        changed = SimpleNamespace(
            dual_coef_=coefficients, support_=model.support_, n_support_=model.n_support_, classes_=model.classes_
        )
        self.assertLess(objective(changed, fit, small), best - 1e-6 * abs(best))

    def test_the_regression_is_the_formula_worked_by_hand(self) -> None:
        small = SmallSet("s", np.array([[1.0], [3.0]]), np.array([1.0, 5.0]), True)
        model = SimpleNamespace(dual_coef_=np.array([[-0.5, 0.5]]), support_=np.array([0, 1]), epsilon=0.1)
        # Σ tβ = 2, ε Σ|β| = 0.1, ½(Σ βx)² = 0.5
        self.assertAlmostEqual(objective(model, Fit("SVR", {"kernel": "linear", "C": 1.0}), small), 1.4)

    def test_kernel_values_and_the_default_gamma(self) -> None:
        rows = np.array([[0.0, 0.0], [1.0, 1.0]])
        self.assertAlmostEqual(float(kernel_matrix(rows, 0.5)[0, 1]), float(np.exp(-1.0)))
        self.assertEqual(float(kernel_matrix(rows, None)[1, 1]), 2.0)
        self.assertEqual(scale_gamma(rows), 2.0)
        self.assertEqual(scale_gamma(np.ones((3, 2))), 1.0)


class Table(unittest.TestCase):
    def test_a_fit_is_slow_from_a_fifth_and_a_fifth_of_a_millisecond_on(self) -> None:
        self.assertFalse(is_slow(measured(1.4e-3, 1.0e-3)))
        self.assertTrue(is_slow(measured(1.41e-3, 1.0e-3)))
        self.assertFalse(is_slow(measured(0.2e-3, 1e-9)))

    def test_means_are_geometric(self) -> None:
        self.assertAlmostEqual(mean([ratio(measured(1.0, 2.0)), ratio(measured(1.0, 8.0))]), 4.0)
        self.assertEqual(mean([]), 1.0)

    def test_an_objective_counts_only_where_scikit_learn_converged(self) -> None:
        below = measured(1.0, 1.0, ours_objective=9.0)
        self.assertAlmostEqual(shortfall(below), 0.1)
        self.assertTrue(is_worse(below, 1e-2))
        self.assertFalse(is_worse(measured(1.0, 1.0, ours_objective=11.0), 1e-6))
        self.assertIsNone(shortfall({**below, "theirs_converged": False}))
        self.assertIsNone(shortfall({**below, "ours_objective": float("nan")}))
        # Objectives below 0 as well: of one class they always are.
        self.assertTrue(is_worse(measured(1.0, 1.0, ours_objective=-11.0, theirs_objective=-10.0), 1e-2))

    def test_not_converging_is_held_against_us_only_where_scikit_learn_converges(self) -> None:
        self.assertTrue(is_unfinished(measured(1.0, 1.0, ours_converged=False)))
        self.assertFalse(is_unfinished(measured(1.0, 1.0, ours_converged=False, theirs_converged=False)))

    def test_everything_that_misses_a_target_is_listed(self) -> None:
        grid = {"set": "iris", "method": "the gallery's grid", "kind": "the gallery's grid", "round": 0}
        grid |= {"ours_seconds": 8.0, "theirs_seconds": 4.0, "ours_best_score": 0.9, "theirs_best_score": 0.9}
        bad = measured(4.0, 1.0, ours_converged=False, ours_objective=9.0)
        found = "\n".join(misses([bad], [grid]))
        for part in (
            "0.250 times faster in the geometric mean",
            "1 fits slow",
            "not converged where",
            "worse by more",
            "grid: 0.500",
        ):
            self.assertIn(part, found)
        failed = {"set": "s", "method": "NuSVC nu=0.5", "kind": "NuSVC", "round": 0}
        failed["error"] = "specified nu is infeasible"
        text = small_markdown(content([bad, grid, failed]))
        for part in ("0.250×", "| SVC | 1 |", "specified nu is infeasible", "0.500×"):
            self.assertIn(part, text)
        self.assertEqual(misses([measured(1.0, 5.0)], []), [])


class Sets(unittest.TestCase):
    def test_fits_are_the_same_for_the_same_seed_and_cover_every_class(self) -> None:
        sets = small_sets(None)
        self.assertGreaterEqual(len(sets), 10)
        for small in sets:
            self.assertTrue(100 <= len(small.rows) <= 2000 and np.isfinite(small.rows).all(), small.name)
            self.assertEqual([fit.name for fit in fits(small)], [fit.name for fit in fits(small)])
            self.assertEqual(len({fit.name for fit in fits(small)}), len(fits(small)), small.name)
        kinds = {fit.kind for small in sets for fit in fits(small)}
        wanted = {"SVC", "SVC linear", "SVR", "SVR linear", "NuSVC", "OneClassSVM", "LinearSVC"}
        self.assertEqual(kinds, wanted)


if __name__ == "__main__":
    unittest.main()
