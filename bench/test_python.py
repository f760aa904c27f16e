"""Tests of the benchmark of the Python package: `python -m unittest` in this folder."""

from __future__ import annotations

import unittest
from pathlib import Path

from python import all_methods
from python_table import beside_peers, mean, misses, overhead, python_markdown, ratio
from sets import Prepared
from table import Ratio, Results
from test_bench import content, measurement


class PythonTable(unittest.TestCase):
    def test_ratios_are_of_the_best_setting_in_python_and_not_of_the_program(self) -> None:
        measured = [
            measurement("maxmargin", 0, 1.0),
            measurement("python-dense", 0, 4.0),
            measurement("python-sparse", 0, 2.0),
        ]
        measured += [
            measurement("sklearn", 0, 40.0),
            measurement("intelex-f32", 0, 10.0),
            measurement("intelex-f64", 0, 6.0),
        ]
        results = Results(content(measured))
        self.assertEqual(ratio(results, "s", "sklearn", "fit_seconds").times, 20.0)
        self.assertEqual(ratio(results, "s", "intelex", "fit_seconds").times, 3.0)
        self.assertEqual(overhead(results, "s"), (1.0, 2.0, 1.0))
        self.assertEqual(misses(results), [])
        text = python_markdown(results.content)
        for part in ("2.00 (1) sparse", "20.0×", "+100.0 %", "None."):
            self.assertIn(part, text)

    def test_rounds_without_the_peers_count_for_the_overhead_alone(self) -> None:
        measured = [measurement("maxmargin", round, 1.0) for round in range(3)]
        measured += [measurement("python-dense", round, seconds) for round, seconds in enumerate((2.0, 1.25, 1.25))]
        measured += [measurement("sklearn", 0, 40.0)]
        made = content(measured)
        made["settings"]["repeats"] = 1
        self.assertEqual(ratio(beside_peers(made), "s", "sklearn", "fit_seconds").times, 20.0)
        text = python_markdown(made)
        for part in ("2.00 (1) dense", "20.0×", "+25.0 %"):
            self.assertIn(part, text)

    def test_what_is_slower_or_worse_is_listed(self) -> None:
        measured = [measurement("python-dense", 0, 8.0, objective=99.0, accuracy=0.8), measurement("sklearn", 0, 4.0)]
        measured += [{"set": "s", "method": "intelex-f32", "round": 0, "error": "no memory"}]
        found = "\n".join(misses(Results(content(measured))))
        for part in (
            "fit, s: 0.500× of scikit-learn",
            "objective, s",
            "accuracy, s",
            "failed, s, intelex-f32: no memory",
        ):
            self.assertIn(part, found)
        self.assertIsNone(overhead(Results(content(measured)), "s"))

    def test_a_mean_is_geometric_and_of_what_there_is(self) -> None:
        self.assertAlmostEqual(mean([Ratio(2.0), None, Ratio(8.0)]).times, 4.0)
        self.assertIsNone(mean([None]))

    def test_sparse_rows_are_measured_where_few_values_are_not_zero(self) -> None:
        few, many = (Prepared(Path("."), {"density": density}) for density in (0.1, 0.9))
        self.assertEqual(all_methods(["sklearn"], few), ["maxmargin", "python-dense", "python-sparse", "sklearn"])
        self.assertEqual(all_methods(["sklearn"], many), ["maxmargin", "python-dense", "sklearn"])


if __name__ == "__main__":
    unittest.main()
