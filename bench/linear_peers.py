"""Climbs the ladder of one peer on one set in a process of its own: `linear_peers.py REQUEST`, a JSON object.

    {"method": "liblinear-s2", "folder": …, "loss": "squared", "c": 1, "threads": 2,
     "rungs": [0.1, 0.03, …], "bound": 13742.39, "target": 1e-6}

The data are read and converted, and a small fit loads the libraries, before the first clock starts. Each rung is a fit
from the beginning, and prints one JSON object: its seconds, and outside the clock the primal objective in double
precision on the rows as they were read, and the accuracy on the test part. The climb ends at the first rung within the
target. A measurement is a climb of one rung, so that its peak memory is its own.
"""

from __future__ import annotations

import ctypes
import json
import sys
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

import numpy as np

from child import own_peak_bytes
from linear_problems import CAPPED, STALLED
from peers import first_rows, timed
from prepare import load
from primal import accuracy, primal_objective, suboptimality
from record import MULTICORE

# So many steps that the tolerance ends a fit, or the time limit does.
MAX_ITERATIONS = 1_000_000


@dataclass(frozen=True)
class Fitted:
    """What a fit leaves: a row of weights and an offset for each machine, and the class it speaks for."""

    weights: np.ndarray
    classes: list[float]
    # What a single machine says where it does not say its class.
    other: float | None = None
    offsets: np.ndarray | float = 0.0

    def scores(self, rows: Any) -> np.ndarray:
        return np.asarray(rows @ self.weights.T) + self.offsets


class Peer(Protocol):
    """Holds the data in the form that it likes best; `fit` is what is timed."""

    def fit(self, rung: float) -> None: ...

    def fitted(self) -> Fitted: ...


class Liblinear:
    """LIBLINEAR or its fork through their own Python package."""

    def __init__(self, rows: Any, labels: np.ndarray, request: dict) -> None:
        fork, solver = request["method"].split("-")
        if fork == "multicore":
            if not MULTICORE.is_dir():
                raise RuntimeError(f"{MULTICORE} does not hold the multi-core fork")
            sys.path.insert(0, str(MULTICORE))
        from liblinear import liblinear

        self.library, self.to_model = liblinear.liblinear, liblinear.toPyModel
        threads = f" -m {request['threads']}" if fork == "multicore" else ""
        options = f"-s {solver.removeprefix('s')} -c {request['c']!r} -B -1 -q{threads} -e "
        self.problem = liblinear.problem(labels, rows)
        self.parameter: Callable[[float], Any] = lambda rung: liblinear.parameter(f"{options}{rung!r}")

    def fit(self, rung: float) -> None:
        parameter = self.parameter(rung)
        # As in a program that begins: a rung is the same fit on the ladder and when it is timed.
        ctypes.CDLL(None).srand(1)
        self.library.set_print_string_function(parameter.print_func)
        self.model = self.to_model(self.library.train(self.problem, parameter))

    def fitted(self) -> Fitted:
        model = self.model
        classes, columns = model.nr_class, model.nr_feature
        machines = 1 if classes == 2 else classes
        weights = np.ctypeslib.as_array(model.w, (columns * machines,)).reshape(columns, machines).T
        labels = [float(model.label[index]) for index in range(classes)]
        return Fitted(weights.copy(), labels[:machines], labels[1] if machines == 1 else None)


class Estimator:
    """An estimator of scikit-learn's kind, made anew for each rung."""

    def __init__(self, rows: Any, labels: np.ndarray, make: Callable[[float], Any], threads: int) -> None:
        self.rows, self.labels, self.make, self.threads = rows, labels, make, threads

    def fit(self, rung: float) -> None:
        import joblib

        # Several machines side by side where scikit-learn can.
        with joblib.parallel_config(backend="threading", n_jobs=self.threads):
            self.estimator = self.make(rung).fit(self.rows, self.labels)

    def fitted(self) -> Fitted:
        found = self.estimator
        classes = [float(label) for label in found.classes_]
        if hasattr(found, "estimators_"):
            weights = np.vstack([machine.coef_ for machine in found.estimators_])
            offsets = np.hstack([machine.intercept_ for machine in found.estimators_])
        else:
            weights, offsets = np.asarray(found.coef_, dtype=np.float64), np.ravel(found.intercept_)
        weights = np.atleast_2d(np.asarray(weights, dtype=np.float64))
        if len(weights) == len(classes):
            return Fitted(weights, classes, offsets=offsets)
        return Fitted(weights.reshape(1, -1), classes[1:], classes[0], offsets)


def sklearn_peer(rows: Any, labels: np.ndarray, request: dict) -> Peer:
    """scikit-learn with the solver that the method names."""
    from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
    from sklearn.linear_model import LogisticRegression, SGDClassifier
    from sklearn.multiclass import OneVsRestClassifier
    from sklearn.svm import LinearSVC

    c, loss = request["c"], request["loss"]
    name, precision = solver_and_precision(request["method"])
    if precision:
        rows = np.ascontiguousarray(rows.toarray().astype(precision))
    sklearn_loss = {"squared": "squared_hinge", "hinge": "hinge", "logistic": "log_loss"}.get(loss)
    several = len(np.unique(labels)) > 2

    def make(rung: float) -> Any:
        match name.split("-"):
            case ["svc", form]:
                return LinearSVC(
                    loss=sklearn_loss,
                    dual=form == "dual",
                    tol=rung,
                    C=c,
                    fit_intercept=False,
                    max_iter=MAX_ITERATIONS,
                    random_state=0,
                )
            case ["sgd"]:
                # λ/2 ‖w‖² + (1/n) Σ loss is C of the sum with λ = 1/(C n).
                alpha = 1.0 / (c * len(labels))
                return SGDClassifier(
                    loss=sklearn_loss, alpha=alpha, fit_intercept=False, max_iter=int(rung), tol=None, random_state=0
                )
            case ["lda", solver]:
                return LinearDiscriminantAnalysis(solver=solver)
            case _:
                machine = LogisticRegression(solver=name, C=c, tol=rung, fit_intercept=False, max_iter=MAX_ITERATIONS)
                return OneVsRestClassifier(machine) if several and loss != "joint" else machine

    return Estimator(rows, labels, make, request["threads"])


def solver_and_precision(method: str) -> tuple[str, type | None]:
    """`sklearn-lda-svd-f32` is the solver `lda-svd` on full arrays of single precision."""
    name = method.removeprefix("sklearn-")
    for suffix, precision in (("-f32", np.float32), ("-f64", np.float64)):
        if name.endswith(suffix):
            return name.removesuffix(suffix), precision
    return name, None


def snapml_peer(rows: Any, labels: np.ndarray, request: dict) -> Peer:
    """Snap ML's dual solver, in the single precision that it likes."""
    import snapml

    threads = request["threads"]
    fixed = {"regularizer": 1.0 / request["c"], "n_jobs": threads, "max_iter": MAX_ITERATIONS, "random_state": 0}
    kind = snapml.LogisticRegression
    if request["loss"] != "logistic":
        kind = snapml.SupportVectorMachine
        fixed["loss"] = {"squared": "squared_hinge", "hinge": "hinge"}[request["loss"]]
    return Estimator(rows.astype(np.float32), labels, lambda rung: kind(tol=rung, **fixed), threads)


MAKERS: dict[str, Callable[[Any, np.ndarray, dict], Peer]] = {
    "liblinear": Liblinear,
    "multicore": Liblinear,
    "sklearn": sklearn_peer,
    "snapml": snapml_peer,
}


def climbed(peer: Peer, rung: float, request: dict, train: tuple, test: tuple) -> dict:
    """One rung: its seconds, and what it reached."""
    _, seconds = timed(lambda: peer.fit(rung))
    peak = own_peak_bytes()
    fitted = peer.fitted()
    (rows, labels), (test_rows, test_labels) = train, test
    found = {"rung": rung, "fit_seconds": seconds, "peak_bytes": peak}
    found["accuracy"] = accuracy(fitted.scores(test_rows), test_labels, fitted.classes, fitted.other)
    if request["loss"] != "lda":
        scores = fitted.scores(rows)
        found["objective"] = primal_objective(
            scores, fitted.weights, labels, fitted.classes, request["loss"], request["c"]
        )
        found["suboptimality"] = suboptimality(found["objective"], request["bound"])
    return found


def stalled(method: str, reached: list[float]) -> bool:
    """Whether the last rungs of a method with a cap on its passes brought nothing."""
    if not (method.endswith(CAPPED) and len(reached) > STALLED):
        return False
    return min(reached[-STALLED:]) >= min(reached[:-STALLED])


def main() -> None:
    # Loose rungs do not converge, as is wanted of them.
    warnings.simplefilter("ignore")
    request = json.loads(sys.argv[1])
    train, test = (load(Path(request["folder"]) / f"{part}.npz") for part in ("train", "test"))
    make = MAKERS[request["method"].split("-")[0]]
    first = first_rows(train[1])
    make(train[0][first], train[1][first], request).fit(request["rungs"][0])
    peer = make(*train, request)
    reached: list[float] = []
    for rung in request["rungs"]:
        found = climbed(peer, rung, request, train, test)
        print(json.dumps(found), flush=True)
        reached.append(found.get("suboptimality", 0.0))
        if reached[-1] <= request["target"] or stalled(request["method"], reached):
            break


if __name__ == "__main__":
    main()
