"""Measures one peer on one set in a process of its own.

`peers.py PEER FOLDER C GAMMA TOLERANCE CACHE_MB THREADS [check]`; LIBSVM takes its threads from OMP_NUM_THREADS.

The data are read and converted before the clock starts; then fit is timed, then predict. What is checked afterwards
(the objective, in double precision on the rows as they were read) is outside both clocks and the memory reported.
Prints one JSON object.
"""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

import numpy as np
from scipy import sparse

from child import own_peak_bytes
from objective import by_pair, dual_objective, largest_imbalance
from prepare import load

# Rows of the fit before the clock: libraries load and threads start there.
WARM_UP_ROWS = 40


@dataclass(frozen=True)
class Settings:
    c: float
    gamma: float
    tolerance: float
    cache_megabytes: int
    threads: int


class Peer(Protocol):
    """Holds the data in the form that it likes best; `fit` and `predict` are what is timed."""

    def fit(self) -> None: ...

    def predict(self) -> np.ndarray: ...

    def support(self) -> tuple[np.ndarray, np.ndarray]:
        """Training row of each support vector, and its coefficients by machine."""
        ...


class Libsvm:
    """LIBSVM through its own Python package. The loop over the test rows calls the library with rows made before."""

    def __init__(self, rows: Any, labels: Any, test: Any, settings: Settings) -> None:
        from libsvm import svm

        self.library = svm.libsvm
        self.to_model = svm.toPyModel
        self.parameter = svm.svm_parameter(
            f"-s 0 -t 2 -q -c {settings.c!r} -g {settings.gamma!r} -e {settings.tolerance!r} "
            f"-m {settings.cache_megabytes}"
        )
        self.problem = svm.svm_problem(labels, rows)
        self.test = svm.svm_problem(np.zeros(test.shape[0]), test)

    def fit(self) -> None:
        self.model = self.to_model(self.library.svm_train(self.problem, self.parameter))

    def predict(self) -> np.ndarray:
        predict, model, rows = self.library.svm_predict, self.model, self.test.x
        return np.array([predict(model, rows[row]) for row in range(self.test.l)])

    def support(self) -> tuple[np.ndarray, np.ndarray]:
        model = self.model
        count, classes = model.l, model.nr_class
        shared = np.array([np.ctypeslib.as_array(model.sv_coef[row], (count,)) for row in range(classes - 1)])
        counts = np.ctypeslib.as_array(model.nSV, (classes,))
        return np.ctypeslib.as_array(model.sv_indices, (count,)) - 1, by_pair(shared, counts)


class Sklearn:
    """scikit-learn's SVC on dense doubles, its fastest way on these sets."""

    def __init__(self, rows: Any, labels: Any, test: Any, settings: Settings) -> None:
        from sklearn.svm import SVC

        self.rows, self.labels, self.test = rows.toarray(), labels, test.toarray()
        self.estimator = estimator(SVC, settings)

    def fit(self) -> None:
        self.estimator.fit(self.rows, self.labels)

    def predict(self) -> np.ndarray:
        return self.estimator.predict(self.test)

    def support(self) -> tuple[np.ndarray, np.ndarray]:
        shared = self.estimator.dual_coef_
        shared = np.asarray(shared.toarray() if sparse.issparse(shared) else shared, dtype=np.float64)
        return np.asarray(self.estimator.support_), by_pair(shared, self.estimator.n_support_)


class Intelex(Sklearn):
    """scikit-learn-intelex in one of its four settings."""

    def __init__(self, rows: Any, labels: Any, test: Any, settings: Settings, dtype: Any, keep_sparse: bool) -> None:
        import daal4py
        from sklearnex.svm import SVC

        daal4py.daalinit(settings.threads)
        rows, test = rows.astype(dtype), test.astype(dtype)
        self.rows, self.test = (rows, test) if keep_sparse else (rows.toarray(), test.toarray())
        self.labels = labels
        self.estimator = estimator(SVC, settings)

    def fit(self) -> None:
        super().fit()
        if not hasattr(self.estimator, "_onedal_estimator"):
            raise RuntimeError("scikit-learn-intelex handed the fit to scikit-learn")


class Package(Sklearn):
    """Our own SVC in Python, on full or on sparse doubles."""

    def __init__(self, rows: Any, labels: Any, test: Any, settings: Settings, keep_sparse: bool) -> None:
        from maxmargin import SVC

        self.rows, self.test = (rows, test) if keep_sparse else (rows.toarray(), test.toarray())
        self.labels = labels
        self.estimator = estimator(SVC, settings).set_params(n_jobs=settings.threads)


def estimator(kind: Any, settings: Settings) -> Any:
    return kind(
        C=settings.c, kernel="rbf", gamma=settings.gamma, tol=settings.tolerance, cache_size=settings.cache_megabytes
    )


def make(name: str, rows: Any, labels: Any, test: Any, settings: Settings) -> Peer:
    """The peer of this name, holding the data."""
    match name.split("-"):
        # Both are the same build: the starter sets the number of OpenMP threads.
        case ["libsvm"] | ["libsvm", "omp"]:
            return Libsvm(rows, labels, test, settings)
        case ["sklearn"]:
            return Sklearn(rows, labels, test, settings)
        case ["python", way]:
            return Package(rows, labels, test, settings, way == "sparse")
        case ["intelex", precision, *way]:
            dtype = {"f32": np.float32, "f64": np.float64}[precision]
            return Intelex(rows, labels, test, settings, dtype, way == ["sparse"])
        case _:
            raise ValueError(f"there is no peer {name!r}")


def first_rows(labels: np.ndarray) -> np.ndarray:
    """Rows of two classes for the fit before the clock."""
    return np.concatenate([np.flatnonzero(labels == label)[: WARM_UP_ROWS // 2] for label in np.unique(labels)[:2]])


def warm_up(name: str, rows: Any, labels: Any, settings: Settings) -> None:
    first = first_rows(labels)
    peer = make(name, rows[first], labels[first], rows[first], settings)
    peer.fit()
    peer.predict()


def timed(call: Callable[[], Any]) -> tuple[Any, float]:
    """What a call returns, and its seconds."""
    started = time.perf_counter()
    returned = call()
    return returned, time.perf_counter() - started


def main() -> None:
    name, folder, c, gamma, tolerance, cache, threads, *check = sys.argv[1:]
    settings = Settings(float(c), float(gamma), float(tolerance), int(cache), int(threads))
    rows, labels = load(Path(folder) / "train.npz")
    test, test_labels = load(Path(folder) / "test.npz")
    warm_up(name, rows, labels, settings)
    peer = make(name, rows, labels, test, settings)
    before = own_peak_bytes()

    _, fit_seconds = timed(peer.fit)
    peak = own_peak_bytes()
    predicted, predict_seconds = timed(peer.predict)

    support, coefficients = peer.support()
    measured = {
        "fit_seconds": fit_seconds,
        "predict_seconds": predict_seconds,
        "peak_bytes": peak,
        "before_bytes": before,
        "support_vectors": len(support),
        "accuracy": float(np.mean(predicted == test_labels)),
    }
    if check:
        measured["objective"] = dual_objective(rows[support].toarray(), coefficients, settings.gamma)
        measured["imbalance"] = largest_imbalance(coefficients)
    print(json.dumps(measured))


if __name__ == "__main__":
    main()
