"""From a model file back to an estimator: which class reads it is for the classes to say."""

from __future__ import annotations

import os
import re
from typing import Any

import numpy as np

from ._errors import InputError
from ._fitting import EngineEstimator, read_model_file
from ._kernel_machine import KernelMachine

_WHOLE = re.compile(r"-?(0|[1-9][0-9]{0,18})")


def load(path: str | os.PathLike[str]) -> Any:
    """Reads a model from our file (`.mm`), as an estimator of the class that it was trained by.

    Parameters
    ----------
    path : path
        A file of `save`, or of `maxmargin train`.

    Returns
    -------
    estimator
        Fitted: it predicts as the one that was saved. Labels that are all whole numbers come back as such, others as text. A model that
        more than one class trains comes back as one of them: ``LinearSVR(intercept_scaling=None)`` as ``SVR(kernel='linear')``, and
        `SGDClassifier` after `fit` as `LinearSVC` or `LogisticRegression`.

    Examples
    --------
    >>> import os, tempfile, maxmargin
    >>> path = os.path.join(tempfile.mkdtemp(), "model.mm")
    >>> maxmargin.SVC(C=2).fit([[0.0], [1.0]], ["no", "yes"]).save(path)
    >>> model = maxmargin.load(path)
    >>> model.C, model.predict([[0.9]])
    (2.0, array(['yes'], dtype='<U3'))
    """
    parts = read_model_file(path).parts
    found = _readers(EngineEstimator, parts)
    # Pairs of classes, and a regression with a free intercept, are what the machines with kernels train; the others come after.
    found.sort(key=lambda kind: issubclass(kind, KernelMachine) != (parts["multiclass"] == "ovo"))
    if not found:
        raise InputError(f"{os.fspath(path)} is {kind_of(parts)}, and no class of the package reads that: use `maxmargin predict`")
    return found[0].load(path)


def _readers(kind: type[EngineEstimator], parts: dict[str, Any]) -> list[type[EngineEstimator]]:
    """The classes of the package that read a model. Those that users or patches made of them are not looked at."""
    own = kind.__module__.partition(".")[0] == __package__ and not kind.__module__.endswith("_patch")
    found = [kind] if own and kind._reads(parts) else []
    return found + [reader for below in kind.__subclasses__() for reader in _readers(below, parts)]


def task_of(parts: dict[str, Any]) -> tuple[str, float]:
    """What a model does, in the engine's words, and the number that belongs to it."""
    for task, numbers in parts.get("task", {}).items():
        nu_regression = task == "regression" and "epsilon" in parts["machines"][0]
        return ("nu-regression" if nu_regression else task), float(next(iter(numbers.values())))
    return "classification", 0.0


def penalty_of(parts: dict[str, Any]) -> tuple[str, float]:
    """The kind of a model's penalty, and its number."""
    penalty = parts["penalty"]
    return (penalty, 0.0) if isinstance(penalty, str) else (next(iter(penalty)), float(next(iter(penalty.values()))))


def kind_of(parts: dict[str, Any]) -> str:
    """A model in words."""
    task, _ = task_of(parts)
    if task != "classification":
        return f"a model of the task {task}"
    return f"a classifier with the loss {parts['loss']}, the penalty {penalty_of(parts)[0]} and the solver {parts['solver']}"


def labels_of(words: list[str]) -> np.ndarray:
    """Labels of a file: whole numbers where all are, else text."""
    if words and all(_WHOLE.fullmatch(word) and -(2**63) <= int(word) < 2**63 for word in words):
        return np.array([int(word) for word in words], dtype=np.int64)
    return np.array(words, dtype=str)
