"""From what users ask of a search to the engine's words: the one place where the engine is called to search."""

from __future__ import annotations

import os
import reprlib
import time
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from . import _engine
from ._errors import InputError, warn
from ._fitting import answers, check_folder
from ._input import Rows, read_class_weights, read_classes, read_targets, read_weights, words_of
from ._kernel_machine import kernel_text
from ._progress import Line

METRICS = ("accuracy", "balanced-accuracy", "f1", "auc", "log-loss", "mse", "mae", "r2")
"""The measures of a search, as on the command line."""

# scikit-learn's names of scores: ours, and what its number is multiplied by, because scikit-learn's scores are all the better the larger.
SCORINGS = {
    "accuracy": ("accuracy", 1.0),
    "balanced_accuracy": ("balanced-accuracy", 1.0),
    "f1_macro": ("f1", 1.0),
    "roc_auc": ("auc", 1.0),
    "neg_log_loss": ("log-loss", -1.0),
    "r2": ("r2", 1.0),
    "neg_mean_squared_error": ("mse", -1.0),
    "neg_mean_absolute_error": ("mae", -1.0),
}

KNOBS = ("C", "gamma", "degree", "coef0", "epsilon", "nu")
"""The parameters that a search varies."""

_OF_KERNEL = {
    "linear": (),
    "rbf": ("gamma",),
    "laplacian": ("gamma",),
    "chi2": ("gamma",),
    "poly": ("gamma", "degree", "coef0"),
    "sigmoid": ("gamma", "coef0"),
}
"""What each kernel has, by its name in scikit-learn."""

_OTHER_NAMES = {"polynomial": "poly", "chi-square": "chi2"}


def kernel_name(kernel: Any) -> str:
    """A kernel that can be searched, by its name in scikit-learn."""
    name = _OTHER_NAMES.get(kernel, kernel) if isinstance(kernel, str) else kernel
    if not isinstance(name, str) or name not in _OF_KERNEL:
        raise InputError(f"kernel is {kernel!r}, which cannot be searched\nhelp: {', '.join(_OF_KERNEL)} can")
    return name


def has(kernel: str, knob: str) -> bool:
    """Whether a kernel has a parameter; what is not the kernel's belongs to the task."""
    return knob in _OF_KERNEL[kernel] or knob in ("C", "epsilon", "nu")


@dataclass
class Part:
    """One kernel of a search, with its numbers where they are not varied, and what is varied."""

    kernel: str
    axes: dict[str, list[float]]
    gamma: str | float = "scale"
    coef0: float = 0.0
    degree: int = 3

    def text(self, **values: float) -> str:
        """The kernel in the engine's words, with the values of a cell."""
        known = {
            "gamma": self.gamma,
            "coef0": self.coef0,
            "degree": self.degree,
            **{k: v for k, v in values.items() if k in _OF_KERNEL["poly"]},
        }
        return kernel_text(self.kernel, **known)

    def params(self, values: Mapping[str, float]) -> dict[str, Any]:
        """The parameters of a cell as an estimator takes them."""
        found: dict[str, Any] = {name: getattr(self, name) for name in _OF_KERNEL[self.kernel]}
        found.update(values)
        if "degree" in found:
            found["degree"] = int(found["degree"])
        return {"kernel": self.kernel, **{name: found[name] for name in KNOBS if name in found}}


@dataclass
class Problem:
    """Rows, what is known of them, and what all cells of a search have in common."""

    rows: Rows
    known: dict[str, Any]
    asked: dict[str, Any]
    classes: np.ndarray | None = None
    codes: np.ndarray | None = None
    class_weights: np.ndarray | None = None
    balanced: bool = False

    @property
    def task(self) -> str:
        return self.asked["task"]

    def labels(self, places: np.ndarray) -> np.ndarray:
        """What is predicted, as users know it: labels, or numbers."""
        return places if self.classes is None else self.classes[places.astype(np.intp)]


def read_problem(estimator: Any, rows: Rows, y: Any, asked: dict[str, Any], class_weight: Any = None, sample_weight: Any = None) -> Problem:
    """Checks what is known of rows. `asked` says in the engine's words what is to be found."""
    name = type(estimator).__name__
    names = getattr(estimator, "feature_names_in_", None)
    weights = read_weights(sample_weight, len(rows))
    task = asked["task"]
    if task in ("regression", "nu-regression"):
        targets = read_targets(y, len(rows), name)
        return Problem(rows, answers(targets=targets, weights=weights, names=names), asked)
    if task in ("one-class", "svdd"):
        classes = np.array([-1, 1])
        codes = _codes_of_usual(y, len(rows), name)
        return Problem(rows, answers(words_of(classes), codes, weights=weights, names=names), asked, classes, codes)
    classes, codes = read_classes(y, len(rows), name)
    known = answers(words_of(classes), codes, weights=weights, names=names)
    balanced = isinstance(class_weight, str) and class_weight == "balanced"
    by_class = read_class_weights(class_weight, classes, codes, weights)
    if not np.all(by_class > 0.0):
        raise InputError(
            f"class_weight is {class_weight!r}, but the weights of a search must be above 0\nhelp: leave out the rows of such classes"
        )
    if not balanced and not np.all(by_class == 1.0):
        asked = {**asked, "class_weights": by_class.tolist()}
    return Problem(rows, known, asked, classes, codes, by_class, balanced)


def _codes_of_usual(y: Any, rows: int, name: str) -> np.ndarray:
    """The places of the labels -1 (unusual) and 1; without labels all rows are usual."""
    if y is None:
        return np.ones(rows, dtype=np.uint32)
    labels = read_targets(y, rows, name)
    odd = np.flatnonzero((labels != 1) & (labels != -1))
    if len(odd):
        raise InputError(f"y has the label {labels[odd[0]]:g} in row {odd[0]}, but rows are usual (1) or not (-1)")
    return (labels == 1).astype(np.uint32)


def read_metric(metric: Any, scoring: Any, is_regression: bool) -> tuple[str, float]:
    """What is to be good, in the engine's word, and what its number is multiplied by."""
    if metric is not None and scoring is not None:
        raise InputError(f"metric={metric!r} and scoring={scoring!r} both say what is to be good: give one of them")
    if scoring is not None:
        if not isinstance(scoring, str) or scoring not in SCORINGS:
            raise InputError(
                f"scoring is {scoring!r}, but it must be one of {', '.join(SCORINGS)}\nhelp: maxmargin.GridSearchCV takes any scorer"
            )
        return SCORINGS[scoring]
    if metric is None:
        return ("r2" if is_regression else "accuracy"), 1.0
    if not isinstance(metric, str) or metric not in METRICS:
        raise InputError(f"metric is {metric!r}, but it must be one of {', '.join(METRICS)}\nhelp: maxmargin.GridSearchCV takes any scorer")
    return metric, 1.0


def read_values(name: str, values: Any) -> list[float]:
    """The values of a parameter: numbers, or text such as '0.01:1000:10' for ten at equal ratios."""
    if name not in KNOBS:
        raise InputError(f"the grid has values for {name!r}, which is no parameter that a search varies\nhelp: {', '.join(KNOBS)} are")
    if isinstance(values, str):
        return [value for _, found in _engine.read_grid(f"{name}={values}") for value in found]
    try:
        found = np.unique(np.asarray(values, dtype=np.float64).ravel())
    except (TypeError, ValueError):
        raise InputError(
            f"the values of {name} in the grid are {values!r}, but they must be numbers, or text such as '0.01:1000:10'"
        ) from None
    if len(found) == 0 or not np.isfinite(found).all():
        raise InputError(f"the values of {name} in the grid are {values!r}, but there must be one at least, and all finite")
    return found.tolist()


def read_grid(grid: Any) -> dict[str, list[float]]:
    """The values of all parameters that a grid names: a dict, or text as on the command line."""
    if grid is None:
        return {}
    if isinstance(grid, str):
        return dict(_engine.read_grid(grid))
    if not isinstance(grid, Mapping):
        raise InputError(f"grid is {grid!r}, but it must be a dict of lists, or text such as 'C=0.01:1000:10,gamma=0.1,1'")
    return {name: read_values(name, values) for name, values in grid.items()}


def parts_of(kernels: Any, grid: Mapping[str, list[float]], coef0: float, degree: int) -> list[Part]:
    """One part for each kernel, with the parameters of the grid that it has."""
    if isinstance(kernels, str) or not isinstance(kernels, Iterable):
        kernels = [kernels]
    names = [kernel_name(kernel) for kernel in kernels]
    if not names:
        raise InputError(f"kernel is an empty list\nhelp: {', '.join(_OF_KERNEL)} can be searched")
    for knob in grid:
        if not any(has(name, knob) for name in names):
            raise InputError(
                f"none of the kernels {', '.join(names)} has a {knob}\nhelp: leave it out of the grid, or choose another kernel"
            )
    return [
        Part(name, {knob: list(values) for knob, values in grid.items() if has(name, knob)}, coef0=coef0, degree=degree) for name in names
    ]


def read_splits(cv: Any, X: Any, y: Any, groups: Any, rows: int) -> dict[str, Any]:
    """The splits, in the engine's words: a number of folds, which it draws, or the lists of a splitter."""
    if isinstance(cv, (int, np.integer)) and not isinstance(cv, bool):
        if cv < 2:
            raise InputError(f"cv is {cv!r}, but it must be 2 folds or more, a splitter, or a list of (rows to train on, rows held out)")
        return dict(splits=None, folds=int(cv), groups=_group_numbers(groups, rows))
    if hasattr(cv, "split") and not isinstance(cv, (str, bytes)):
        found = cv.split(X, y, groups)
    elif isinstance(cv, Iterable) and not isinstance(cv, (str, bytes)):
        found = cv
    else:
        raise InputError(f"cv is {cv!r}, but it must be a number of folds, a splitter, or a list of (rows to train on, rows held out)")
    try:
        splits = [(row_numbers(train, rows), row_numbers(test, rows)) for train, test in found]
    except TypeError as error:
        raise InputError(f"cv is {cv!r}, but its items are no pairs of row numbers: {error}") from None
    return dict(splits=splits, folds=0, groups=None)


def row_numbers(given: Any, rows: int) -> np.ndarray:
    """Row numbers in ascending order, from numbers or from True and False."""
    array = np.asarray(given)
    if array.dtype.kind == "b":
        if len(array) != rows:
            raise InputError(f"a side of a split has {len(array)} times True or False, but there are {rows} rows")
        array = np.flatnonzero(array)
    if array.size and (array.dtype.kind not in "iu" or array.ndim != 1 or array.min() < 0):
        raise InputError(
            f"a side of a split is {reprlib.repr(given)}, but it must be a list of row numbers, counted from 0, or of True and False"
        )
    return np.sort(array.astype(np.int64))


def _group_numbers(groups: Any, rows: int) -> np.ndarray | None:
    if groups is None:
        return None
    array = np.asarray(groups)
    if array.shape != (rows,):
        raise InputError(f"groups has the shape {array.shape}, but there must be one group for each of {rows} rows")
    return np.unique(array, return_inverse=True)[1].astype(np.int64)


def read_bytes(memory: Any) -> int | None:
    """A size of memory in bytes: a number, or text such as '512M' or '4G'."""
    if memory is None or (isinstance(memory, (int, float, np.number)) and not isinstance(memory, bool) and memory > 0):
        return None if memory is None else int(min(memory, 1 << 62))
    text = str(memory).strip().upper().removesuffix("B").removesuffix("I")
    factor = {"K": 1 << 10, "M": 1 << 20, "G": 1 << 30, "T": 1 << 40}.get(text[-1:], 1)
    try:
        size = float(text.rstrip("KMGT")) * factor
    except ValueError:
        size = 0.0
    if not 0 < size < float("inf"):
        raise InputError(f"memory is {memory!r}, but it must be a number of bytes, or text such as '512M' or '4G'")
    return int(min(size, 1 << 62))


def search_of(
    problem: Problem,
    parts: list[Part],
    splits: dict[str, Any],
    thread_count: int,
    *,
    metric: str,
    scaling: str | None = "none",
    fills: bool = False,
    abandon: bool = False,
    repeats: int = 1,
    seed: int = 0,
) -> _engine.Search:
    """The engine's search, in which every cell is checked."""
    plan = dict(
        parts=[(part.text(), list(part.axes.items())) for part in parts],
        fills=fills,
        scaling=scaling,
        balanced=problem.balanced,
        repeats=repeats,
        metric=metric,
        abandon=abandon,
        seed=seed,
        **splits,
    )
    return _engine.Search(problem.rows.data, problem.known, problem.asked, plan, thread_count)


class SearchLine(Line):
    """Says how far a search is, and about how long it goes on."""

    def __call__(self, machine: int, machines: int, iteration: int, violation: float | None, gap: float | None) -> None:
        spent = time.monotonic() - self.started
        text = f"chain {machine + 1} of {machines}"
        if machine > 0:
            text += f", about {spent / machine * (machines - machine):.0f} s left"
        self.show(text)


def run(
    search: _engine.Search,
    thread_count: int,
    name: str,
    *,
    max_time: float | None = None,
    checkpoint: str | os.PathLike[str] | None = None,
    progress: bool = False,
) -> _engine.Tuned:
    """Searches, with a line that says how far it is where that is wanted."""
    if checkpoint is not None:
        if not isinstance(checkpoint, (str, os.PathLike)):
            raise InputError(f"checkpoint is {checkpoint!r}, but it must be a path")
        check_folder(os.fspath(checkpoint))
    line = SearchLine(name) if progress else None
    try:
        found, failure = search.run(thread_count, max_time=max_time, checkpoint=checkpoint, progress=line)
    finally:
        if line is not None:
            line.close()
    if failure:
        warn(failure, RuntimeWarning)
    return found


def pandas_or_polars(columns: dict[str, Any], frame: str | None) -> Any:
    """Columns as they are, or as a frame of the library that is named."""
    if frame is None:
        return columns
    if frame not in ("pandas", "polars"):
        raise InputError(f"frame is {frame!r}, but it must be 'pandas', 'polars' or None")
    try:
        module = __import__(frame)
    except ModuleNotFoundError as error:
        raise ImportError(f"frame={frame!r} needs {frame}, which is not installed") from error
    return module.DataFrame(columns)
