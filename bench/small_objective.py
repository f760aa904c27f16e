"""The objective that a fit came to, in double precision from its attributes alone. Larger is better for all of them."""

from __future__ import annotations

import numpy as np

from objective import by_pair
from small_sets import Fit, SmallSet


def kernel_matrix(rows: np.ndarray, gamma: float | None) -> np.ndarray:
    """exp(−γ‖x − z‖²), or ⟨x, z⟩ where there is no γ."""
    products = rows @ rows.T
    if gamma is None:
        return products
    squares = np.einsum("ij,ij->i", rows, rows)
    return np.exp(np.minimum(2.0 * products - squares[:, None] - squares[None, :], 0.0) * gamma)


def scale_gamma(rows: np.ndarray) -> float:
    """What gamma='scale' stands for."""
    variance = float(rows.var())
    return 1.0 / (rows.shape[1] * variance) if variance > 0.0 else 1.0


def objective(model: object, fit: Fit, small: SmallSet) -> float:
    """The dual objective of a kernel machine, minus the primal one of LinearSVC.

        SVC          Σ|β| − ½ β′Kβ                       summed over the pairs of classes
        SVR          Σ t β − ε Σ|β| − ½ β′Kβ
        NuSVC        −½ a′Ka,   a = β ν n / Σ|β|          likewise; a is β before it was divided by the margin
        OneClassSVM  −½ a′Ka,   a = β ν n / Σ|β|
        LinearSVC    −½(‖w‖² + b²) − C Σ max(0, 1 − y f)²    summed over the classes against the rest
    """
    if fit.estimator == "LinearSVC":
        return -squared_hinge(model, fit.parameters["C"], small)
    linear = fit.parameters.get("kernel") == "linear"
    gamma = None if linear else fit.parameters.get("gamma", scale_gamma(small.rows))
    vectors = small.rows[model.support_]
    kernel = kernel_matrix(vectors, gamma)
    if fit.estimator in ("SVR", "OneClassSVM"):
        beta = np.asarray(model.dual_coef_, dtype=np.float64).ravel()
        if fit.estimator == "OneClassSVM":
            return scaled(beta, kernel, fit.parameters["nu"] * len(small.rows))
        targets = small.targets[model.support_]
        return float(targets @ beta - model.epsilon * np.abs(beta).sum() - 0.5 * beta @ kernel @ beta)
    counts = np.asarray(model.n_support_)
    pairs = by_pair(np.asarray(model.dual_coef_, dtype=np.float64), counts)
    sizes = [int((small.targets == label).sum()) for label in model.classes_]
    rows_of = [sizes[i] + sizes[j] for i in range(len(sizes)) for j in range(i + 1, len(sizes))]
    total = 0.0
    for column, rows in enumerate(rows_of):
        beta = pairs[:, column]
        if fit.estimator == "NuSVC":
            total += scaled(beta, kernel, fit.parameters["nu"] * rows)
        else:
            total += float(np.abs(beta).sum() - 0.5 * beta @ kernel @ beta)
    return total


def scaled(beta: np.ndarray, kernel: np.ndarray, wanted: float) -> float:
    """−½ a′Ka of a, a multiple of β whose sizes have this sum."""
    size = float(np.abs(beta).sum())
    if size == 0.0:
        return float("nan")
    a = beta * (wanted / size)
    return -0.5 * float(a @ kernel @ a)


def squared_hinge(model: object, c: float, small: SmallSet) -> float:
    """The primal objective of LinearSVC, over its classes against the rest."""
    weights, biases = np.atleast_2d(model.coef_), np.atleast_1d(model.intercept_)
    labels = model.classes_[1:] if len(model.classes_) == 2 else model.classes_
    total = 0.0
    for w, b, label in zip(weights, biases, labels, strict=True):
        y = np.where(small.targets == label, 1.0, -1.0)
        slack = np.maximum(0.0, 1.0 - y * (small.rows @ w + b))
        total += 0.5 * (float(w @ w) + float(b * b)) + c * float(slack @ slack)
    return total
