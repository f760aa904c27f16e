"""The primal objective of linear machines, in double precision, from the weights alone; and how far from the least."""

from __future__ import annotations

import math

import numpy as np

from failure import Failure

# Rounding of a sum of as many terms as a set has rows, relative.
ROUNDING = 1e-10


def losses(margins: np.ndarray, loss: str) -> float:
    """The sum of the losses of the margins m = y f(x):

    hinge max(0, 1 − m),   squared max(0, 1 − m)²,   logistic log(1 + exp(−m))
    """
    if loss == "logistic":
        return float(np.logaddexp(0.0, -margins).sum())
    slack = np.maximum(0.0, 1.0 - margins)
    return float({"hinge": slack, "squared": slack * slack}[loss].sum())


def primal_objective(
    scores: np.ndarray, weights: np.ndarray, labels: np.ndarray, classes: list[float], loss: str, c: float
) -> float:
    """The sum over the machines k of

        ½ ‖w_k‖² + C Σ_i loss(y_ik f_k(x_i)),     y_ik = 1 when row i is of class k, −1 otherwise

    and for the loss `joint` ½ Σ_k ‖w_k‖² + C Σ_i (log Σ_k exp f_k(x_i) − f_{class of i}(x_i)). `scores` has a row for
    each row of data and a column for each machine, `weights` a row for each machine; `classes` are the positive labels
    of the machines.
    """
    penalty = 0.5 * float(np.square(np.asarray(weights, dtype=np.float64)).sum())
    own = labels[:, None] == np.asarray(classes)[None, :]
    if loss != "joint":
        return penalty + c * losses(np.where(own, scores, -scores), loss)
    if not (own.sum(axis=1) == 1).all():
        raise ValueError("every row needs the scores of its own class")
    most = scores.max(axis=1)
    normaliser = most + np.log(np.exp(scores - most[:, None]).sum(axis=1))
    return penalty + c * float((normaliser - scores[own]).sum())


def accuracy(scores: np.ndarray, labels: np.ndarray, classes: list[float], other: float | None) -> float:
    """The share of rows whose largest score is their own class's; a single machine says its class or `other`."""
    if scores.shape[1] == 1:
        predicted = np.where(scores[:, 0] > 0.0, classes[0], other)
    else:
        predicted = np.asarray(classes)[scores.argmax(axis=1)]
    return float(np.mean(predicted == labels))


def suboptimality(primal: float, bound: float) -> float:
    """(P(w) − P*) / P* with a certified lower bound in the place of P*, so never less than the true one by more than
    the certificate's own gap. An objective below the bound refutes the certificate.
    """
    if not (bound > 0.0 and math.isfinite(primal)):
        raise Failure(f"an objective of {primal!r} cannot be compared with a bound of {bound!r}", "look at the report")
    above = (primal - bound) / bound
    if not above >= -ROUNDING:
        raise Failure(
            f"the objective {primal!r} is below the certified bound {bound!r}: the certificate is wrong",
            "keep the data and the model, and report it",
        )
    return max(0.0, above)
