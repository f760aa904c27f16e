"""Tests of the benchmark of searches: `python -m unittest` in this folder."""

from __future__ import annotations

import unittest

from failure import Failure
from tuning import COSTS, GAMMAS, by_turns, cells_of, compare, names_of
from tuning_table import misses, tuning_markdown


def content(times: float, difference: float) -> dict:
    about = {
        "seconds": 1.0,
        "counts": {"exact": 90, "same": 5, "abandoned": 4, "unfinished": 1},
        "best": [1.0, 0.1, 0.9],
    }
    held = {
        "largest_difference": difference,
        "best_of_theirs": 0.9,
        "our_choice_by_theirs": 0.899,
    }
    peer = {"seconds": times, "part": 0.4, "jobs": 2, "scores": [], "ours": held}
    return {
        "date": "2026-01-01",
        "commit": "abc",
        "changed_since_commit": False,
        "machine": {"processor": "p", "cores": 2},
        "versions": {"numpy": "1"},
        "settings": {"quick": False, "costs": COSTS, "gammas": GAMMAS, "folds": 5},
        "sets": {"s": {"rows": 1000, "columns": 2, "classes": 2}},
        "measurements": [
            {"set": "s", "method": "ours", "round": 0, "turn": 0, **about},
            {"set": "s", "method": "sklearn", "round": 0, "turn": 1, **peer},
            {"set": "s", "method": "intelex", "round": 0, "turn": 3, **peer},
            {
                "set": "s",
                "method": "separate",
                "round": 0,
                "turn": 5,
                **about,
                "seconds": 10.0,
            },
        ],
    }


class Tuning(unittest.TestCase):
    def test_some_cells_have_each_value_equally_often(self) -> None:
        for a_cost in (1, 4, 10):
            cells = cells_of(a_cost)
            self.assertEqual(len(set(cells)), 10 * a_cost)
            for value in COSTS:
                self.assertEqual(sum(c == value for c, _ in cells), a_cost)
            for value in GAMMAS:
                self.assertEqual(sum(gamma == value for _, gamma in cells), a_cost)

    def test_ours_is_measured_before_and_after_each_peer(self) -> None:
        self.assertEqual(
            by_turns(["ours", "sklearn", "intelex"]),
            ["ours", "sklearn", "ours", "intelex", "ours"],
        )

    def test_scores_are_compared_cell_by_cell(self) -> None:
        own = {
            "cells": [[1.0, 0.1, 0.90, "exact"], [2.0, 0.1, None, "abandoned"]],
            "best": [1.0, 0.1, 0.90],
        }
        other = {"scores": [[1.0, 0.1, 0.89], [2.0, 0.1, 0.5]]}
        found = compare(own, other)
        self.assertAlmostEqual(found["largest_difference"], 0.01)
        self.assertEqual(
            (found["best_of_theirs"], found["our_choice_by_theirs"]), (0.89, 0.89)
        )

    def test_what_misses_a_target_is_listed(self) -> None:
        self.assertEqual(misses(content(60.0, 0.001)), [])
        slow = misses(content(10.0, 0.003))
        self.assertEqual(len(slow), 4)
        self.assertIn("s: 10.0 times faster than scikit-learn, not 25", slow)
        self.assertIn("s: a score differs by 0.0030, more than 0.002", slow)
        self.assertIn("60.0×", tuning_markdown(content(60.0, 0.001)))

    def test_an_unknown_set_is_refused(self) -> None:
        with self.assertRaises(Failure):
            names_of("nowhere", ["a"], "set")
        self.assertEqual(names_of(None, ["a", "b"], "set"), ["a", "b"])


if __name__ == "__main__":
    unittest.main()
