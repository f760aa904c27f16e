"""What the tests of maxmargin.dask share: problems, a cluster of processes, and a crew without any cluster."""

from __future__ import annotations

import contextlib
import random

import numpy as np
from distributed import Client, LocalCluster

from maxmargin.dask import DaskLinearDiscriminantAnalysis, DaskLinearSVC, DaskLinearSVR, DaskLogisticRegression, Report, _sources


@contextlib.contextmanager
def cluster_of(workers, threads=1, **more):
    """A cluster of processes on loopback, and its client."""
    with LocalCluster(
        n_workers=workers, threads_per_worker=threads, processes=True, host="127.0.0.1", dashboard_address=None, memory_limit=0, **more
    ) as cluster:
        with Client(cluster) as client:
            yield client


def rows_of(kind, seed, rows=900, columns=6):
    """Rows, labels or numbers, and weights, that a seed makes."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(rows, columns))
    weights = rng.integers(0, 3, size=rows).astype(float)
    if kind == "numbers":
        return X, X @ rng.normal(size=columns) + rng.normal(size=rows), weights
    classes = {"two": 2, "four": 4}[kind]
    y = (X[:, :classes] + 0.7 * rng.normal(size=(rows, classes))).argmax(axis=1)
    return X, np.array(["ant", "bee", "cat", "dog"])[y], weights


PROBLEMS = {
    "squared hinge, two classes": (lambda **more: DaskLinearSVC(tol=1e-6, **more), "two"),
    "hinge, explicit bias, weights": (lambda **more: DaskLinearSVC(loss="hinge", intercept_scaling=None, **more), "two"),
    "squared hinge, four classes, balanced": (lambda **more: DaskLinearSVC(class_weight="balanced", **more), "four"),
    "logistic, four classes": (lambda **more: DaskLogisticRegression(C=0.5, **more), "four"),
    "regression": (lambda **more: DaskLinearSVR(epsilon=0.2, C=0.5, **more), "numbers"),
    "discriminant": (lambda **more: DaskLinearDiscriminantAnalysis(**more), "four"),
}
"""The six problems whose bits must not depend on the cluster: how to make the estimator, and what rows it is for."""


def bits_of(model):
    """Everything that a fit has found, as bits."""
    found = [np.asarray(model.coef_).tobytes(), np.asarray(model.intercept_).tobytes()]
    if model.certificate_ is not None:
        found += [repr(model._certificates), model._proof]
    return found


class HereCrew:
    """Shards in this process, asked in an order that a seed shuffles: what a cluster must agree with to the last bit."""

    def __init__(self, recipes, seed):
        from maxmargin.dask._held import Held

        self.recipes, self.report, self.started = recipes, Report(shards=len(recipes)), 0.0
        self.order = random.Random(seed)
        self.held = [Held(number, recipe, None) for number, recipe in enumerate(recipes)]

    def ask_all(self, missing, question, hear):
        while left := missing():
            self.order.shuffle(left)
            for shard in left:
                for full in (False, True):
                    function, arguments = question(full)
                    heard, reason = hear(shard, function(self.held[shard], *arguments))
                    assert heard != "wrong", reason
                    if heard != "behind":
                        break


def fit_here(model, X, y, weights=None, seed=0):
    """Fits an estimator on shards of this process, without Dask's scheduler."""

    @contextlib.contextmanager
    def crew(X, y, weights):
        source = _sources.source_of(X, y, weights, type(model).__name__, model._estimator_type == "regressor", None)
        yield HereCrew(source.recipes, seed)

    model._crew = crew
    try:
        return model.fit(X, y) if weights is None else model.fit(X, y, weights)
    finally:
        del model._crew
