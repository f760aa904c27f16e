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


def tensors(path: Path) -> dict[str, np.ndarray]:
    """The tensors of a safetensors file by name."""
    content = path.read_bytes()
    (length,) = struct.unpack_from("<Q", content)
    header = json.loads(content[8 : 8 + length])
    header.pop("__metadata__", None)
    found = {}
    for name, tensor in header.items():
        start, end = tensor["data_offsets"]
        values = np.frombuffer(content[8 + length + start : 8 + length + end], dtype=TYPES[tensor["dtype"]])
        found[name] = values.reshape(tensor["shape"])
    return found


def main() -> None:
    model, folder, gamma, labels = sys.argv[1:]
    parts = tensors(Path(model))
    offsets = parts["machines.offsets"].astype(np.int64)
    support = parts["support_rows"].astype(np.int64)
    coefficients = np.zeros((len(support), len(offsets) - 1))
    for machine, (start, end) in enumerate(zip(offsets[:-1], offsets[1:])):
        coefficients[parts["machines.support"][start:end], machine] = parts["machines.coefficients"][start:end]

    rows, _ = load(Path(folder) / "train.npz")
    _, expected = load(Path(folder) / "test.npz")
    predicted = np.array([float(label) for label in Path(labels).read_text().split()])
    if len(predicted) != len(expected):
        raise ValueError(f"{len(predicted)} labels were predicted for {len(expected)} rows")
    checked = {
        "objective": dual_objective(rows[support].toarray(), coefficients, float(gamma)),
        "imbalance": largest_imbalance(coefficients),
        "support_vectors": len(support),
        "accuracy": float(np.mean(predicted == expected)),
    }
    print(json.dumps(checked))


if __name__ == "__main__":
    main()
