"""Checks what maxmargin wrote, trusting nothing but its coefficients: `check_ours.py MODEL FOLDER GAMMA LABELS`.

Reads the model file by its specification (crates/maxmargin-io/src/model_file.rs), recomputes the dual objective on the
training rows that the model names, and the accuracy from the predicted labels. Prints one JSON object.
"""

from __future__ import annotations

import json
import struct
import sys
from pathlib import Path

import numpy as np

from objective import dual_objective, largest_imbalance
from prepare import load

TYPES = {"F64": np.float64, "F32": np.float32, "U64": np.uint64, "U32": np.uint32}


def model_file(path: Path) -> tuple[dict, dict[str, np.ndarray]]:
    """What a model file says of its model, and its tensors by name."""
    content = path.read_bytes()
    (length,) = struct.unpack_from("<Q", content)
    header = json.loads(content[8 : 8 + length])
    about = json.loads(header.pop("__metadata__")["maxmargin"])["model"]
    found = {}
    for name, tensor in header.items():
        start, end = tensor["data_offsets"]
        values = np.frombuffer(content[8 + length + start : 8 + length + end], dtype=TYPES[tensor["dtype"]])
        found[name] = values.reshape(tensor["shape"])
    return about, found


def accuracy_of(labels: Path, folder: Path) -> float:
    """The share of the test rows whose predicted label is right."""
    _, expected = load(folder / "test.npz")
    predicted = np.array([float(label) for label in labels.read_text().split()])
    if len(predicted) != len(expected):
        raise ValueError(f"{len(predicted)} labels were predicted for {len(expected)} rows")
    return float(np.mean(predicted == expected))


def main() -> None:
    model, folder, gamma, labels = sys.argv[1:]
    _, parts = model_file(Path(model))
    offsets = parts["machines.offsets"].astype(np.int64)
    support = parts["support_rows"].astype(np.int64)
    coefficients = np.zeros((len(support), len(offsets) - 1))
    for machine, (start, end) in enumerate(zip(offsets[:-1], offsets[1:])):
        coefficients[parts["machines.support"][start:end], machine] = parts["machines.coefficients"][start:end]

    rows, _ = load(Path(folder) / "train.npz")
    checked = {
        "objective": dual_objective(rows[support].toarray(), coefficients, float(gamma)),
        "imbalance": largest_imbalance(coefficients),
        "support_vectors": len(support),
        "accuracy": accuracy_of(Path(labels), Path(folder)),
    }
    print(json.dumps(checked))


if __name__ == "__main__":
    main()
