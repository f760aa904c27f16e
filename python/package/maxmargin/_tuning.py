"""Which parameters to take: `tune`, and `TuneSession` for searches that somebody else steers."""

from __future__ import annotations

import time
from collections.abc import Iterable
from dataclasses import replace
from typing import Any

import numpy as np

from ._errors import InputError
from ._estimator import Classifier
from ._fitting import free_memory, params
from ._input import read_classes, read_rows, require_y
from ._search import (
    Part,
    Problem,
    kernel_name,
    parts_of,
    read_bytes,
    read_grid,
    read_metric,
    read_problem,
    read_splits,
    read_values,
    run,
    search_of,
)
from ._svm import SVC, SVDD, SVR, NuSVC, OneClassSVM
from ._threads import threads
from ._tuned import Tuned, numbers_of

# ε and ν where none are tried.
_EPSILON = 0.1
_NU = 0.5

# Numbers as labels of more different values than this, which a tenth of the rows or more differ in, are hardly classes.
_MANY_NUMBERS = 20

TASKS = ("classification", "regression", "one-class", "svdd")
SCALES = ("auto", "none", "standard", "minmax")


def searched(
    problem: Problem,
    parts: list[Part],
    splits: dict[str, Any],
    *,
    name: str,
    thread_count: int,
    metric: str,
    sign: float = 1.0,
    choose: str = "best",
    scale: str = "auto",
    fills: bool = True,
    abandon: bool = True,
    repeats: int = 1,
    seed: int = 0,
    max_time: float | None = None,
    checkpoint: Any = None,
    progress: bool = False,
) -> Tuned:
    """Searches, without training the chosen model."""
    started = time.monotonic()
    search = search_of(
        problem,
        parts,
        splits,
        thread_count,
        metric=metric,
        scaling=None if scale == "auto" else scale,
        fills=fills,
        abandon=abandon,
        repeats=repeats,
        seed=seed,
    )
    found = run(search, thread_count, name, max_time=max_time, checkpoint=checkpoint, progress=progress)
    return Tuned(problem, parts, search, found, choose, sign, time.monotonic() - started)


def adopt(estimator: Any, tuned: Tuned, cell: int, thread_count: int, max_time: float | None = None) -> None:
    """Trains the model of a cell on all rows, and makes an estimator of a machine with a kernel that of this model."""
    problem = tuned._problem
    model, asked, history = tuned._train(cell, thread_count, max_time)
    classifies = isinstance(estimator, Classifier)
    estimator._trained_on = None
    estimator._take(model, problem.rows, problem.known, asked, history, keep_rows=classifies and estimator.probability is not False)
    if classifies:
        estimator._keep_classes(problem.rows, problem.classes, problem.codes, problem.class_weights)
    else:
        estimator._keep_machine(problem.rows)
        if estimator._estimator_type == "outlier_detector":
            estimator.offset_ = -estimator.intercept_


def _word(name: str, value: Any, words: tuple[str, ...]) -> str:
    if not isinstance(value, str) or value not in words:
        raise InputError(f"{name} is {value!r}, but it must be one of {', '.join(map(repr, words))}")
    return value


def _task_of(task: str | None, y: Any, rows: int) -> str:
    """What is to be found: as it was said, or numbers where y has numbers that are not whole, else classes."""
    if task is not None:
        return _word("task", task, TASKS)
    require_y(y, "tune")
    values = np.asarray(y)
    if values.dtype.kind == "f" and np.isfinite(values).all() and np.any(values != np.floor(values)):
        return "regression"
    if values.dtype.kind in "iuf":
        classes, _ = read_classes(y, rows, "tune")
        if len(classes) > _MANY_NUMBERS and 10 * len(classes) >= rows:
            raise InputError(
                f"y has {len(classes)} different numbers in {rows} rows: amounts rather than classes\n"
                "help: to learn amounts task='regression'; if they are classes task='classification'"
            )
    return "classification"


def _seconds(max_time: Any) -> float | None:
    if max_time is None:
        return None
    if isinstance(max_time, bool) or not isinstance(max_time, (int, float, np.number)) or not max_time > 0:
        raise InputError(f"max_time is {max_time!r}, but it must be a number of seconds above 0")
    return None if max_time > 1e9 else float(max_time)


def _whole(name: str, value: Any, least: int) -> int:
    if isinstance(value, bool) or not isinstance(value, (int, np.integer)) or value < least:
        raise InputError(f"{name} is {value!r}, but it must be a whole number of {least} or more")
    return int(value)


def _number(name: str, value: Any) -> float:
    if isinstance(value, bool) or not isinstance(value, (int, float, np.number)) or not np.isfinite(value):
        raise InputError(f"{name} is {value!r}, but it must be a finite number")
    return float(value)


def _asked(task: str, tol: Any, memory: Any) -> dict[str, Any]:
    """What all cells have in common, in the engine's words."""
    if isinstance(tol, bool) or not isinstance(tol, (int, float, np.number)):
        raise InputError(f"tol is {tol!r}, but it must be a finite number above 0")
    numbers = {"regression": _EPSILON, "one-class": _NU, "svdd": _NU}
    return params(
        task=task,
        task_number=numbers.get(task, 0.0),
        tolerance=tol,
        memory=read_bytes(memory) or free_memory(),
        multiclass="ovo" if task == "classification" else None,
    )


def _estimator_of(problem: Problem, values: dict[str, Any], tol: float, class_weight: Any, n_jobs: Any, probability: Any) -> Any:
    """An estimator with the parameters of a cell, not fitted yet."""
    common = {**values, "tol": tol, "n_jobs": n_jobs}
    if problem.task == "classification":
        kind = NuSVC if "nu" in values else SVC
        return kind(**common, class_weight=class_weight, probability=probability)
    return {"regression": SVR, "one-class": OneClassSVM, "svdd": SVDD}[problem.task](**common)


def _reader(name: str) -> Any:
    """An object that keeps the columns in the place of an estimator that is not known yet; messages have its name."""
    return type(name, (), {})()


def tune(
    X: Any,
    y: Any = None,
    *,
    kernel: str | Iterable[str] = "rbf",
    grid: Any = None,
    cv: Any = 5,
    repeats: int = 1,
    groups: Any = None,
    metric: str | None = None,
    scoring: str | None = None,
    choose: str = "best",
    task: str | None = None,
    scale: str = "auto",
    strategy: str = "auto",
    class_weight: Any = None,
    sample_weight: Any = None,
    coef0: float = 1.0,
    degree: int = 3,
    tol: float = 1e-3,
    probability: bool | None = None,
    refit: bool = True,
    max_time: float | None = None,
    memory: Any = None,
    checkpoint: Any = None,
    progress: bool = False,
    seed: int = 0,
    n_jobs: int | None = None,
) -> Tuned:
    """Finds C, gamma and the rest by cross validation, says what the choice is worth, and trains with it.

    Every combination of the parameters is a cell, and all cells see the same splits. Kernel values are computed once for all cells and splits.

    Parameters
    ----------
    X : array-like or sparse matrix of shape (n_samples, n_features)
    y : array-like of shape (n_samples,)
        Labels or numbers; for ``task='one-class'`` 1 for usual rows and -1 for rows that are known to be unusual.
    kernel : str or list of str, default='rbf'
        The kernels to try: 'linear', 'rbf', 'poly', 'sigmoid', 'laplacian', 'chi2'.
    grid : dict or str, optional
        The values of C, gamma, degree, coef0, epsilon and nu: lists, or text such as ``'0.01:1000:10'`` for ten at equal ratios; or all in one
        text as on the command line, ``'C=0.01:1000:10,gamma=0.1,1'``. Each kernel takes those that it has. What is not named follows the data:
        nine values of gamma around the distances of the rows, nine of C from 0.03 to 300.
    cv : int, splitter or list, default=5
        A number of folds, drawn by `seed`, each class spread evenly; an object with ``split(X, y, groups)``; or pairs of row numbers to train on
        and held out.
    repeats : int, default=1
        How often the folds are drawn anew.
    groups : array-like of shape (n_samples,), optional
        Rows of one group stay on one side of each split.
    metric : str, optional
        What is to be good: accuracy, balanced-accuracy, f1 (the mean over the classes), auc, log-loss, mse, mae or r2. None for accuracy, or
        r2 of numbers.
    scoring : str, optional
        The same by scikit-learn's names, such as 'neg_mean_squared_error'.
    choose : {'best', 'one-se'}, default='best'
        Which cell is trained.
    task : {'classification', 'regression', 'one-class', 'svdd'}, optional
        What is to be found. None for regression where y has numbers that are not whole, else classification.
    scale : {'auto', 'none', 'standard', 'minmax'}, default='auto'
        What is done to the columns, as the training rows of each fold say. 'auto' standardises full tables and leaves sparse ones.
    strategy : {'auto', 'grid'}, default='auto'
        'auto' leaves cells that can neither win nor be chosen any more; the choice is that of the whole grid, which 'grid' computes.
    class_weight : dict or 'balanced', optional
        What a row of each class counts. 'balanced' is of the training rows of each fold.
    sample_weight : array-like of shape (n_samples,), optional
        What each row counts in training. Scores count every row once.
    coef0, degree : float, int, default=1.0, 3
        Of kernels that have them, where the grid does not name them.
    tol : float, default=1e-3
        The largest violation of the optimality conditions.
    probability : bool or None, default=None
        As in `SVC`, of the model.
    refit : bool, default=True
        Whether the model is trained.
    max_time : float, optional
        Seconds after which the search ends, with the best so far and a warning.
    memory : int or str, optional
        Memory for tables of kernel values in bytes, or text such as '4G'; None is half of what is free.
    checkpoint : path, optional
        A file that keeps where the search is. The same call goes on from there, to the same bits; it is removed at the end.
    progress : bool, default=False
        Whether a line says how far the search is, and how long it goes on.
    seed : int, default=0
        Where the draws of folds and of the honest estimate begin.
    n_jobs : int or None, default=None
        Threads: None is every core. The same bits come out for any number.

    Returns
    -------
    Tuned

    Examples
    --------
    >>> import numpy as np, maxmargin
    >>> draw = np.random.RandomState(0)
    >>> X = draw.randn(80, 2)
    >>> y = np.where((X ** 2).sum(axis=1) < 1.2, "in", "out")
    >>> best = maxmargin.tune(X, y, grid={"C": [1, 10], "gamma": "0.1:1:2"})
    >>> sorted(best.best_params_)
    ['C', 'gamma', 'kernel']
    >>> best.honest_.interval[0] <= best.honest_.score <= best.honest_.interval[1]
    True
    >>> best.model.predict([[0.0, 0.0]]).tolist()
    ['in']
    """
    thread_count = threads(n_jobs)
    _word("choose", choose, ("best", "one-se"))
    _word("scale", scale, SCALES)
    _word("strategy", strategy, ("auto", "grid"))
    repeats, seed = _whole("repeats", repeats, 1), _whole("seed", seed, 0)
    limit = _seconds(max_time)
    reader = _reader("tune")
    rows = read_rows(reader, X, thread_count, reset=True)
    task = _task_of(task, y, len(rows))
    if task in ("one-class", "svdd"):
        require_y(y, "tune")
    measured, sign = read_metric(metric, scoring, task == "regression")
    problem = read_problem(reader, rows, y, _asked(task, tol, memory), class_weight, sample_weight)
    parts = parts_of(kernel, read_grid(grid), _number("coef0", coef0), _whole("degree", degree, 1))
    if problem.task in ("one-class", "svdd") and any("C" in part.axes for part in parts):
        raise InputError(f"task {task} has no C\nhelp: leave it out of the grid, and vary nu")
    tuned = searched(
        problem,
        parts,
        read_splits(cv, X, y, groups, len(rows)),
        name="tune",
        thread_count=thread_count,
        metric=measured,
        sign=sign,
        choose=choose,
        scale=scale,
        abandon=strategy == "auto",
        repeats=repeats,
        seed=seed,
        max_time=limit,
        checkpoint=checkpoint,
        progress=progress,
    )
    tuned._warn_of_end(max_time)
    if refit and tuned._is_done(tuned.chosen_index_):
        model = _estimator_of(problem, tuned.chosen_params_, tol, class_weight, n_jobs, probability)
        vars(model).update(vars(reader))
        adopt(model, tuned, tuned.chosen_index_, thread_count)
        tuned.model = model
    return tuned


class TuneSession:
    """Scores of single cells for a search that somebody else steers, such as Optuna: the data is read and split once, and what was computed is kept.

    Parameters
    ----------
    X, y : array-like
        As in `tune`.
    cv, groups, metric, scoring, task, kernel, scale, class_weight, sample_weight, coef0, degree, tol, memory, seed, n_jobs
        As in `tune`; one kernel, which `score` may replace.

    Attributes
    ----------
    best_params_, best_score_ : dict, float
        The best cell that was asked for so far.
    cv_results_ : dict
        All cells that were asked for, in their order, with scikit-learn's names.

    Examples
    --------
    >>> import numpy as np, maxmargin
    >>> draw = np.random.RandomState(0)
    >>> X = draw.randn(60, 2)
    >>> session = maxmargin.TuneSession(X, X[:, 0] > X[:, 1], cv=3)
    >>> session.score(C=3.2, gamma=0.05) > 0.8
    True
    >>> session.best_params_
    {'kernel': 'rbf', 'C': 3.2, 'gamma': 0.05}
    """

    def __init__(
        self,
        X: Any,
        y: Any,
        *,
        cv: Any = 5,
        groups: Any = None,
        metric: str | None = None,
        scoring: str | None = None,
        task: str | None = None,
        kernel: str = "rbf",
        scale: str = "auto",
        class_weight: Any = None,
        sample_weight: Any = None,
        coef0: float = 1.0,
        degree: int = 3,
        tol: float = 1e-3,
        memory: Any = None,
        seed: int = 0,
        n_jobs: int | None = None,
    ) -> None:
        self._thread_count = threads(n_jobs)
        self._scale = _word("scale", scale, SCALES)
        self._seed = _whole("seed", seed, 0)
        self._part = Part(kernel_name(kernel), {}, coef0=_number("coef0", coef0), degree=_whole("degree", degree, 1))
        self._reader = _reader("TuneSession")
        rows = read_rows(self._reader, X, self._thread_count, reset=True)
        require_y(y, "TuneSession")
        task = _task_of(task, y, len(rows))
        self._metric, self._sign = read_metric(metric, scoring, task == "regression")
        self._problem = read_problem(self._reader, rows, y, _asked(task, tol, memory), class_weight, sample_weight)
        self._splits = read_splits(cv, X, y, groups, len(rows))
        self._how = dict(tol=tol, class_weight=class_weight, n_jobs=n_jobs)
        self._found: dict[tuple[Any, ...], Tuned] = {}

    def _cell(self, kernel: str | None, given: dict[str, float]) -> Tuned:
        part = self._part if kernel is None else replace(self._part, kernel=kernel_name(kernel))
        if not given:
            raise InputError("no parameter is named\nhelp: score(C=3.2, gamma=0.05)")
        parts = parts_of([part.kernel], {name: read_values(name, [value]) for name, value in given.items()}, part.coef0, part.degree)
        key = (part.kernel, *sorted((name, values[0]) for name, values in parts[0].axes.items()))
        if key not in self._found:
            self._found[key] = searched(
                self._problem,
                parts,
                self._splits,
                name="TuneSession",
                thread_count=self._thread_count,
                metric=self._metric,
                sign=self._sign,
                scale=self._scale,
                fills=False,
                abandon=False,
                seed=self._seed,
            )
        return self._found[key]

    def score(self, *, kernel: str | None = None, **given: float) -> float:
        """The mean score of a cell over the splits. What was asked before is not computed again.

        Parameters
        ----------
        kernel : str, optional
            Another kernel than that of the session.
        **given : float
            C, gamma, degree, coef0, epsilon, nu.

        Returns
        -------
        float
            NaN where it is not defined.
        """
        mean = self._cell(kernel, given)._cells[0]["mean"]
        return float("nan") if mean is None else self._sign * mean

    def held_out(self, *, kernel: str | None = None, values: bool = False, **given: float) -> tuple[np.ndarray, np.ndarray]:
        """The held-out rows, and what a cell predicts for them: labels, numbers, or decision values."""
        return self._cell(kernel, given).held_out(0, values)

    def model(self, *, kernel: str | None = None, probability: bool | None = None, **given: float) -> Any:
        """A model with the parameters of a cell, or of the best one so far, trained on all rows."""
        tuned = self._cell(kernel, given) if given else self._best()
        model = _estimator_of(self._problem, tuned._params[0], probability=probability, **self._how)
        vars(model).update(vars(self._reader))
        adopt(model, tuned, 0, self._thread_count)
        return model

    def _best(self) -> Tuned:
        """The best cell so far, the first of those that tie."""
        found = [tuned for tuned in self._found.values() if tuned._cells[0]["mean"] is not None]
        if not found:
            raise InputError("no cell was scored yet\nhelp: session.score(C=3.2, gamma=0.05)")
        sign = -1.0 if self._metric in ("mse", "mae", "log-loss") else 1.0
        return max(found, key=lambda tuned: sign * tuned._cells[0]["mean"])

    @property
    def best_params_(self) -> dict[str, Any]:
        return dict(self._best()._params[0])

    @property
    def best_score_(self) -> float:
        return self._sign * self._best()._cells[0]["mean"]

    @property
    def cv_results_(self) -> dict[str, Any]:
        cells = list(self._found.values())
        scores = numbers_of([tuned._signed(tuned._cells[0]["mean"]) for tuned in cells])
        return {"params": [dict(tuned._params[0]) for tuned in cells], "mean_test_score": scores}
