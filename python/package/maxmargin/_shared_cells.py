"""Which candidates of scikit-learn's grids can share their work, and how: from candidates to cells of the engine's searches, and back to scores."""

from __future__ import annotations

import json
import numbers
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from . import _engine
from ._errors import InputError
from ._input import Rows
from ._kernel_machine import KernelMachine
from ._linear_svm import LinearSVC, LinearSVR
from ._parameters import check_parameters
from ._search import Part, Problem, has, kernel_name, read_problem, run, search_of
from ._svm import SVC, SVR, NuSVC, NuSVR

# The classes whose fits are shared, and the parameters beside those of the kernel that a search of theirs varies.
_KINDS: dict[type, tuple[str, ...]] = {
    SVC: ("C",),
    NuSVC: ("nu",),
    SVR: ("C", "epsilon"),
    NuSVR: ("C", "nu"),
    LinearSVC: ("C",),
    LinearSVR: ("C", "epsilon"),
}

# What the cells of a search set themselves.
_OF_CELLS = ("kernel", "penalty_number", "task_number")


class CannotShare(Exception):
    """Why fits are not shared."""


def kind_of(machine: Any) -> type | None:
    """The class of ours whose fits a machine's are: its own, or the one that replaces scikit-learn's. None for others, and for classes derived."""
    kind = type(machine)
    kind = vars(kind).get("_ours", kind)
    return kind if kind in _KINDS else None


def machine_of(estimator: Any) -> tuple[Any, str, str]:
    """The machine of an estimator, what its parameters are prefixed with, and what is done to the columns before it."""
    if kind_of(estimator) is not None:
        return estimator, "", "none"
    from sklearn.pipeline import Pipeline

    if type(estimator) is not Pipeline:
        raise CannotShare(f"the estimator is a {type(estimator).__name__}")
    if estimator.memory is not None:
        raise CannotShare("the pipeline keeps what it computes")
    steps = [step for step in estimator.steps if step[1] is not None and not _is_nothing(step[1])]
    if not steps:
        raise CannotShare("the pipeline has no steps")
    *before, (name, machine) = steps
    if kind_of(machine) is None:
        raise CannotShare(f"the last step of the pipeline is a {type(machine).__name__}")
    if not before:
        return machine, f"{name}__", "none"
    if len(before) > 1:
        raise CannotShare("the pipeline has more than a scaler before the machine")
    return machine, f"{name}__", _scaling_of(before[0][1])


def _is_nothing(step: Any) -> bool:
    return isinstance(step, str) and step == "passthrough"


def _scaling_of(step: Any) -> str:
    """The engine's word for a scaler of scikit-learn's."""
    from sklearn.preprocessing import MinMaxScaler, StandardScaler

    if type(step) is StandardScaler and step.with_mean and step.with_std:
        return "standard"
    if type(step) is MinMaxScaler and tuple(step.feature_range) == (0, 1) and not step.clip:
        return "minmax"
    raise CannotShare(f"the step {step!r} before the machine is no StandardScaler or MinMaxScaler with its usual parameters")


@dataclass
class _Group:
    """Candidates that differ in what a search varies alone: the cells of one search of the engine."""

    machine: Any
    scaling: str
    parts: dict[tuple[Any, ...], Part] = field(default_factory=dict)


@dataclass
class Cells:
    """The cell of each candidate: which search, and what it varies there."""

    groups: list[_Group]
    places: list[tuple[int, int, tuple[tuple[str, float], ...]]]


def cells_of(estimator: Any, grids: Any, copy: Any) -> Cells:
    """Sorts the candidates of a grid, in scikit-learn's order, into searches. `copy` makes an unfitted copy of an estimator."""
    from sklearn.model_selection import ParameterGrid

    groups: dict[str, int] = {}
    found = Cells([], [])
    known: dict[Any, tuple[int, Any, str]] = {}
    for number, grid in enumerate([grids] if isinstance(grids, Mapping) else grids):
        for candidate in ParameterGrid(grid):
            _, prefix, _ = machine_of(estimator)
            others = {name: value for name, value in candidate.items() if not _is_knob(name, prefix)}
            key = (number, *((name, _key(value)) for name, value in sorted(others.items())))
            if key not in known:
                changed = copy(estimator).set_params(**copy(others, safe=False))
                machine, own_prefix, scaling = machine_of(changed)
                if own_prefix != prefix:
                    raise CannotShare("the machine is another step in some of the candidates")
                text = json.dumps([scaling, _group_key(machine)], sort_keys=True, default=repr)
                if text not in groups:
                    groups[text] = len(found.groups)
                    found.groups.append(_Group(machine, scaling))
                known[key] = (groups[text], machine, prefix)
            place, machine, _ = known[key]
            knobs, part = _knobs(machine, prefix, candidate)
            part_key = (*key, part.kernel, part.gamma, *sorted(knobs))
            parts = found.groups[place].parts
            own = parts.setdefault(part_key, part)
            for name, value in knobs.items():
                if value not in own.axes.setdefault(name, []):
                    own.axes[name].append(value)
            found.places.append((place, list(parts).index(part_key), tuple(sorted(knobs.items()))))
    return found


def _is_knob(name: str, prefix: str) -> bool:
    return name.startswith(prefix) and name[len(prefix) :] in ("C", "gamma", "degree", "coef0", "epsilon", "nu")


def _key(value: Any) -> Any:
    """What tells the values of a parameter apart: themselves where they are plain, else the objects."""
    return value if isinstance(value, (str, int, float, bool, type(None))) else id(value)


def _knobs(machine: Any, prefix: str, candidate: Mapping[str, Any]) -> tuple[dict[str, float], Part]:
    """What a candidate varies, and its kernel."""
    kernel = "linear" if not isinstance(machine, KernelMachine) else machine.kernel
    try:
        kernel = kernel_name(kernel)
    except InputError as error:
        raise CannotShare(str(error).partition("\n")[0]) from None
    names = [*_KINDS[kind_of(machine)], *(name for name in ("gamma", "degree", "coef0") if has(kernel, name))]
    values = {name: candidate.get(prefix + name, getattr(machine, name)) for name in names}
    part = Part(kernel, {})
    if isinstance(values.get("gamma"), str):
        part.gamma = values.pop("gamma")
        if part.gamma not in ("scale", "auto"):
            raise CannotShare(f"gamma is {part.gamma!r}")
    for name, value in values.items():
        if isinstance(value, (bool, np.bool_)) or not isinstance(value, numbers.Real) or not np.isfinite(value):
            raise CannotShare(f"{name} is {value!r}")
    return {name: float(value) for name, value in values.items()}, part


def _group_key(machine: Any) -> list[Any]:
    """What must agree for candidates to be cells of one search."""
    ignored = ("C", "gamma", "degree", "coef0", "epsilon", "nu", "kernel")
    return [repr(kind_of(machine)), {name: value for name, value in machine.get_params().items() if name not in ignored}]


def asked_of(machine: Any, y: Any) -> tuple[dict[str, Any], Any]:
    """What the cells of a machine have in common in the engine's words, and the weights of its classes."""
    refuses = getattr(machine, "_unsupported", lambda: None)()
    if refuses is not None:
        raise CannotShare(f"{type(machine).__name__} with {refuses} is fitted by scikit-learn's own class")
    if type(machine).__name__ != kind_of(machine).__name__:
        raise CannotShare(f"the estimator is a {type(machine).__name__}")
    for name in ("max_time", "checkpoint", "landmarks"):
        if getattr(machine, name, None) is not None:
            raise CannotShare(f"the machine has {name}={getattr(machine, name)!r}")
    kind = kind_of(machine)
    if kind in (SVC, NuSVC):
        check_parameters(machine, _plain_rules(machine))
        if machine.break_ties:
            raise CannotShare("break_ties is True")
        penalty = dict(penalty="c") if kind is SVC else dict(penalty="nu", penalty_number=0.5)
        return machine._asked(multiclass="ovo", **penalty), machine.class_weight
    if kind in (SVR, NuSVR):
        check_parameters(machine, _plain_rules(machine))
        task = "regression" if kind is SVR else "nu-regression"
        return machine._asked(task=task, task_number=0.5), None
    check_parameters(machine, machine._rules)
    if kind is LinearSVR:
        if machine.loss == "epsilon_insensitive" and machine.dual is False:
            raise CannotShare("scikit-learn refuses this loss with dual=False")
        asked, column = machine._problem()
    else:
        if machine.multi_class != "ovr":
            raise CannotShare(f"multi_class is {machine.multi_class!r}")
        machine._refuse_combination()
        asked, column = machine._problem(None)
    if column is not None:
        raise CannotShare("the intercept is the weight of a column of its own")
    return asked, getattr(machine, "class_weight", None)


def _plain_rules(machine: Any) -> dict[str, Any]:
    """The rules of a machine, but for parameters that hold scikit-learn's word for what was not given."""
    return {name: rules for name, rules in machine._rules.items() if getattr(machine, name) != "deprecated"}


@dataclass
class Found:
    """What the searches say: for each candidate its search and cell."""

    problems: list[Problem]
    searches: list[_engine.Search]
    tuned: list[_engine.Tuned]
    places: list[tuple[int, int]]

    def predicted(self, place: tuple[int, int], split: int) -> tuple[np.ndarray, np.ndarray]:
        """The places of classes, or the numbers, that a cell predicts for the held-out rows, and its decision values."""
        number, cell = place
        predicted, values = self.tuned[number].predicted(cell, split), self.tuned[number].values(cell, split)
        if predicted is None or values is None:
            raise CannotShare("a cell was not done")
        return predicted, values


def search_cells(
    cells: Cells, rows: Rows, y: Any, sample_weight: Any, splits: list[tuple[np.ndarray, np.ndarray]], thread_count: int, progress: bool
) -> Found:
    """Does all searches."""
    found = Found([], [], [], [])
    for group in cells.groups:
        if group.scaling != "none" and (rows.sparse or sample_weight is not None):
            raise CannotShare("the scaler is given sparse rows" if rows.sparse else "the scaler is given weights of rows")
        asked, class_weight = asked_of(group.machine, y)
        problem = read_problem(group.machine, rows, y, asked, class_weight, sample_weight)
        if problem.known["weights"] is not None and not np.all(problem.known["weights"] > 0):
            raise CannotShare("some weights of rows are not above 0")
        is_regression = problem.classes is None
        given = dict(splits=splits, folds=0, groups=None)
        metric = "mse" if is_regression else "accuracy"
        search = search_of(problem, list(group.parts.values()), given, thread_count, metric=metric, scaling=group.scaling)
        found.problems.append(problem)
        found.searches.append(search)
    cells_by_values = [
        {(part, tuple(sorted(values))): cell for cell, (part, values) in enumerate(search.settings())} for search in found.searches
    ]
    found.places = [(number, cells_by_values[number][part, knobs]) for number, part, knobs in cells.places]
    found.tuned = [run(search, thread_count, "GridSearchCV", progress=progress) for search in found.searches]
    return found


class Said:
    """What a scorer asks of a model, answered by what a cell said of held-out rows."""

    def __init__(self, machine: Any, problem: Problem, predicted: np.ndarray, values: np.ndarray) -> None:
        self._machine, self._problem, self._places, self._values = machine, problem, predicted, values
        self._estimator_type = machine._estimator_type
        if problem.classes is not None:
            self.classes_ = problem.classes

    def __sklearn_tags__(self) -> Any:
        return self._machine.__sklearn_tags__()

    def predict(self, X: Any) -> np.ndarray:
        """What was predicted."""
        return self._problem.labels(self._places)

    def decision_function(self, X: Any) -> np.ndarray:
        """The decision values."""
        return self._values


def check_scorer(scorer: Any, is_binary: bool) -> None:
    """Refuses a scorer that asks for more than what a cell says."""
    from sklearn.metrics._scorer import _BaseScorer

    if not isinstance(scorer, _BaseScorer):
        raise CannotShare(f"the scorer {scorer!r} may look at the model itself")
    asks = scorer._response_method
    asks = (asks,) if isinstance(asks, str) else tuple(asks)
    if asks[0] != "predict" and not (asks[0] == "decision_function" and is_binary):
        raise CannotShare(f"the scorer asks for {' or '.join(asks)}")
