"""Measures LIBSVM on one formulation in a process of its own.

`formulation_peer.py FOLDER FLAGS GAMMA TOLERANCE CACHE_MB [check]`. The data are read and converted before the clock starts. The
objective, in double precision from the coefficients, is outside the clock. Prints one JSON object.
"""

from __future__ import annotations

import json
import sys
import time
from pathlib import Path

import numpy as np
from libsvm import svm

from child import own_peak_bytes
from prepare import load

# Rows of the kernel matrix at a time.
BLOCK = 1024


def dual(rows: np.ndarray, labels: np.ndarray, coefficients: np.ndarray, gamma: float, epsilon: float | None) -> float:
    """−½c′Kc for one class (`epsilon` is None), and c′t − ε Σ|c| more for a regression."""
    squares = (rows**2).sum(1)
    form = 0.0
    for first in range(0, len(rows), BLOCK):
        part = slice(first, first + BLOCK)
        distances = squares[part, None] + squares - 2 * rows[part] @ rows.T
        form += coefficients[part] @ np.exp(-gamma * np.maximum(distances, 0)) @ coefficients
    if epsilon is None:
        return -0.5 * form
    return -0.5 * form + coefficients @ labels - epsilon * np.abs(coefficients).sum()


def main() -> None:
    folder, flags, gamma, tolerance, cache, *check = sys.argv[1:]
    rows, labels = load(Path(folder) / "train.npz")
    problem = svm.svm_problem(labels, rows)
    parameter = svm.svm_parameter(f"{flags} -t 2 -q -g {gamma} -e {tolerance} -m {cache}")
    started = time.perf_counter()
    model = svm.toPyModel(svm.libsvm.svm_train(problem, parameter))
    seconds = time.perf_counter() - started
    measured = {"fit_seconds": seconds, "peak_bytes": own_peak_bytes(), "support_vectors": model.l}
    if check:
        places = np.ctypeslib.as_array(model.sv_indices, (model.l,)) - 1
        coefficients = np.array(np.ctypeslib.as_array(model.sv_coef[0], (model.l,)))
        # The width of the tube is given, found by nu (and then no part of the dual), or not there.
        widths = {2: None, 3: parameter.p, 4: 0.0}
        width = widths[parameter.svm_type]
        measured["objective"] = dual(rows[places].toarray(), labels[places], coefficients, float(gamma), width)
    print(json.dumps(measured))


if __name__ == "__main__":
    main()
