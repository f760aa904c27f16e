"""Times what a row costs beside its arithmetic: `answers.py [ROWS]`, one million by default. Prints one JSON object.

A linear machine of `ROWS` rows and 50 columns predicts them again, and a linear regression learns `ROWS` targets, nearly all of them
different numbers, from two columns.
"""

from __future__ import annotations

import json
import sys
import time

import numpy as np

from maxmargin import LinearSVC, LinearSVR


def timed(work) -> float:
    """The least of three runs, in seconds."""
    seconds = []
    for _ in range(3):
        start = time.perf_counter()
        work()
        seconds.append(time.perf_counter() - start)
    return min(seconds)


def main() -> None:
    rows = int(sys.argv[1]) if len(sys.argv) > 1 else 1_000_000
    generator = np.random.default_rng(1)
    wide = generator.standard_normal((rows, 50))
    signs = np.where(wide[:, 0] + 0.3 * wide[:, 1] > 0, 1, -1)
    machine = LinearSVC().fit(wide[:2000], signs[:2000])
    narrow = generator.standard_normal((rows, 2))
    targets = narrow @ [1.5, -0.5] + 0.1 * generator.standard_normal(rows)
    found = {
        "rows": rows,
        "linear_predict_seconds": timed(lambda: machine.predict(wide)),
        "linear_decision_seconds": timed(lambda: machine.decision_function(wide)),
        "regression_fit_seconds": timed(lambda: LinearSVR().fit(narrow, targets)),
    }
    print(json.dumps(found))


if __name__ == "__main__":
    main()
