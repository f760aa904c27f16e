"""Checks a linear model, trusting nothing but its weights: `check_linear.py MODEL FOLDER LOSS C BOUND [LABELS]`.

Reads our model file or LIBLINEAR's, recomputes the primal objective on the training rows, and says how far it is above
a certified bound of the least; the accuracy comes from the predicted labels, where they are given. Prints one JSON
object.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

import numpy as np

from check_ours import accuracy_of, model_file
from prepare import load
from primal import primal_objective, suboptimality

# LIBLINEAR's model file is text that begins with this word.
THEIRS = b"solver_type"


def ours(path: Path) -> tuple[np.ndarray, list[float]]:
    """The weights of a model file of ours, a row for each machine, and the class that each machine speaks for."""
    about, parts = model_file(path)
    if any(machine["bias"] != 0.0 for machine in about["machines"]):
        raise ValueError("a machine has an offset: the objective of one without is asked for")
    classes = [float(about["classes"][machine["pairing"]["positive"]]) for machine in about["machines"]]
    return parts["machines.weights"], classes


def theirs(path: Path) -> tuple[np.ndarray, list[float]]:
    """The same of a model file of LIBLINEAR's: one line for each column, after the labels."""
    head, _, body = path.read_text().partition("\nw\n")
    labels = next(line for line in head.splitlines() if line.startswith("label ")).split()[1:]
    weights = np.array([[float(value) for value in line.split()] for line in body.splitlines()]).T
    return weights, [float(label) for label in labels[: len(weights)]]


def main() -> None:
    path, folder, loss, c, bound, *labels = sys.argv[1:]
    with open(path, "rb") as file:
        read = theirs if file.read(len(THEIRS)) == THEIRS else ours
    checked = {}
    if loss != "lda":
        weights, classes = read(Path(path))
        rows, expected = load(Path(folder) / "train.npz")
        # Columns at the end that no training row has may be missing.
        scores = rows[:, : weights.shape[1]] @ weights.T
        checked["objective"] = primal_objective(scores, weights, expected, classes, loss, float(c))
        checked["suboptimality"] = suboptimality(checked["objective"], float(bound))
    if labels:
        checked["accuracy"] = accuracy_of(Path(labels[0]), Path(folder))
    print(json.dumps(checked))


if __name__ == "__main__":
    main()
