"""The dual objective of a set of machines, in double precision, from the coefficients alone."""

from __future__ import annotations

import numpy as np

# Kernel values held at once.
BLOCK = 1 << 24


def dual_objective(vectors: np.ndarray, coefficients: np.ndarray, gamma: float) -> float:
    """The sum over the machines m of

        Σ_i |β_im| − ½ Σ_ij β_im β_jm exp(−γ ‖x_i − x_j‖²),     β = α y

    `vectors` has a row for each support vector, `coefficients` a row for each vector and a column for each machine.
    """
    vectors = np.asarray(vectors, dtype=np.float64)
    coefficients = np.asarray(coefficients, dtype=np.float64)
    squares = np.einsum("ij,ij->i", vectors, vectors)
    quadratic = 0.0
    step = max(1, BLOCK // max(1, len(vectors)))
    for start in range(0, len(vectors), step):
        block = slice(start, start + step)
        kernel = vectors[block] @ vectors.T
        kernel *= 2.0
        kernel -= squares[block, None]
        kernel -= squares[None, :]
        np.minimum(kernel, 0.0, out=kernel)
        kernel *= gamma
        np.exp(kernel, out=kernel)
        quadratic += float(np.sum(coefficients[block] * (kernel @ coefficients)))
    return float(np.abs(coefficients).sum()) - 0.5 * quadratic


def largest_imbalance(coefficients: np.ndarray) -> float:
    """The largest |Σ_i β_i| of a machine: zero when the equality constraint holds."""
    return float(np.abs(np.asarray(coefficients, dtype=np.float64).sum(axis=0)).max(initial=0.0))


def by_pair(shared: np.ndarray, counts: np.ndarray) -> np.ndarray:
    """Coefficients with a column for each pair of classes, out of LIBSVM's table.

    LIBSVM sorts the support vectors by class and gives each classes − 1 coefficients: the vector of class i has its
    coefficient of the pair (i, j) in row j − 1 of `shared`, that of class j in row i. `counts` has the vectors of each
    class.
    """
    classes = len(counts)
    ends = np.concatenate([[0], np.cumsum(counts)])
    pairs = [(i, j) for i in range(classes) for j in range(i + 1, classes)]
    coefficients = np.zeros((ends[-1], len(pairs)))
    for column, (i, j) in enumerate(pairs):
        first, second = slice(ends[i], ends[i + 1]), slice(ends[j], ends[j + 1])
        coefficients[first, column] = shared[j - 1, first]
        coefficients[second, column] = shared[i, second]
    return coefficients
