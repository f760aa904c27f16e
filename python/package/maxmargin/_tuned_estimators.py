"""Estimators that find their own parameters by cross validation: SVCCV, SVRCV, LinearSVCCV and OneClassSVMCV."""

from __future__ import annotations

from typing import Any

import numpy as np

from ._callbacks import with_callbacks
from ._errors import InputError
from ._fitting import ENGINE_RULES, params
from ._input import Rows, read_rows, require_y
from ._kernel_machine import KernelMachine, boolean_rules
from ._linear import CLASS_WEIGHT_RULE, LINEAR_RULES, LinearClassifier
from ._linear_svm import LinearSVC
from ._parameters import Rule, boolean, check_parameters, instance, integer, number, one_of
from ._search import SCORINGS, Part, has, kernel_name, read_metric, read_problem, read_splits, read_values, search_of
from ._svm import _OneClass, _SupportClassifier, _SupportRegressor
from ._tuned import Tuned
from ._tuning import SCALES, adopt, searched

_VALUES: tuple[Rule, ...] = (
    integer(least=1),
    instance((list, tuple, np.ndarray, str), "a list of numbers, or text such as '0.01:1000:10'"),
)

_SEARCH_RULES: dict[str, tuple[Rule, ...]] = {
    "cv": (instance(object, "a number of folds, a splitter, or a list of splits"),),
    "scoring": (one_of(*SCORINGS, None),),
    "choose": (one_of("best", "one-se"),),
    "tol": (number(above=0),),
    "cache_size": (number(above=0), one_of(None)),
    "verbose": (boolean(),),
    "random_state": (integer(least=0), one_of(None)),
    **ENGINE_RULES,
}

_KERNEL_RULES: dict[str, tuple[Rule, ...]] = {
    **_SEARCH_RULES,
    "kernel": (one_of("rbf", "linear", "poly", "sigmoid", "laplacian", "chi2"),),
    "gammas": _VALUES,
    "degree": (integer(least=1),),
    "coef0": (number(),),
    "scale": (one_of(*SCALES),),
}

# C where the number of values is given; gamma is around the distances of the rows.
_C_RANGE = "0.03:300"


class _Searches:
    """What these estimators share: a search, and then a fit on all rows with what was found."""

    @classmethod
    def _reads(cls, parts: dict[str, Any]) -> bool:
        return False  # a file is read as the class of the model that was found

    def _grid(self) -> dict[str, Any]:
        """What is varied: for each parameter its values, or how many."""
        raise NotImplementedError

    def _part(self, grid: dict[str, Any]) -> Part:
        """The grid with all its values. How many values of gamma there are is a matter of the data, which the engine asks."""
        kernel = kernel_name(getattr(self, "kernel", "linear"))
        part = Part(kernel, {}, coef0=float(getattr(self, "coef0", 0.0)), degree=int(getattr(self, "degree", 3)))
        for name, values in grid.items():
            if not has(kernel, name):
                continue
            if isinstance(values, (int, np.integer)):
                if name == "C":
                    part.axes[name] = read_values(name, f"{_C_RANGE}:{values}")
            else:
                part.axes[name] = read_values(name, values)
        return part

    def _with_gammas(self, part: Part, problem: Any, splits: dict[str, Any], scale: str, metric: str) -> None:
        """Gives a kernel that has a gamma without values as many as were asked for."""
        count = getattr(self, "gammas", 0)
        if not has(part.kernel, "gamma") or "gamma" in part.axes:
            return
        scaling = None if scale == "auto" else scale
        suggested = search_of(problem, [part], splits, self._threads(), metric=metric, scaling=scaling, fills=True)
        values = dict(suggested.axes()[0][1])["gamma"]
        if count != len(values):
            ends = min(values), max(values)
            values = np.geomspace(*ends, int(count)).tolist() if count > 1 else [float(np.sqrt(ends[0] * ends[1]))]
        part.axes["gamma"] = values

    def _search(
        self, rows: Rows, X: Any, y: Any, groups: Any, asked: dict[str, Any], sign: float, metric: str, scale: str, **how: Any
    ) -> Tuned:
        problem = read_problem(self, rows, y, asked, getattr(self, "class_weight", None))
        splits = read_splits(self.cv, X, y, groups, len(rows))
        part = self._part(self._grid())
        self._with_gammas(part, problem, splits, scale, metric)
        # More seconds than there are: no limit.
        limit = None if self.max_time is None or self.max_time > 1e9 else float(self.max_time)
        tuned = searched(
            problem,
            [part],
            splits,
            name=type(self).__name__,
            thread_count=self._threads(),
            metric=metric,
            sign=sign,
            choose=self.choose,
            scale=scale,
            fills=False,
            seed=0 if self.random_state is None else int(self.random_state),
            max_time=limit,
            checkpoint=self.checkpoint,
            progress=bool(self.progress or self.verbose),
            **how,
        )
        tuned._warn_of_end(self.max_time)
        return tuned

    def _keep_choice(self, tuned: Tuned, cell: Any) -> int:
        """Keeps what the search found; the cell that is taken."""
        if not tuned._is_done(cell):
            raise InputError("the search ended before a cell was done\nhelp: give it more time than max_time, or fewer values")
        values = dict(tuned._params[cell])
        values.pop("kernel")
        self.tuned_ = tuned
        self.best_params_ = values
        self.best_score_ = tuned._signed(tuned._cells[cell]["mean"])
        self.cv_results_ = tuned.cv_results_
        for name, value in values.items():
            setattr(self, f"{name}_", value)
        return cell

    def __getstate__(self) -> dict[str, Any]:
        # The search holds on to the training data; what it found is in the attributes.
        state = super().__getstate__()
        state.pop("tuned_", None)
        return state


class _SearchesKernels(_Searches):
    """Machines with kernels."""

    def _asked(self, **changed: Any) -> dict[str, Any]:
        memory = KernelMachine._memory(self)
        return params(tolerance=self.tol, memory=memory, **changed)


class SVCCV(_SearchesKernels, _SupportClassifier):
    """An `SVC` that finds C and gamma by cross validation.

    Kernel values are computed once for all cells and folds, and cells that can neither win nor be chosen any more are left. After `fit` it is an
    `SVC` with what was found; where the columns are scaled, it scales them itself.

    Parameters
    ----------
    kernel : {'rbf', 'linear', 'poly', 'sigmoid', 'laplacian', 'chi2'}, default='rbf'
        The kernel.
    Cs : int or list, default=9
        The values of C, or how many from 0.03 to 300.
    gammas : int or list, default=9
        The values of gamma, or how many around the distances of the rows.
    degree, coef0 : int, float, default=3, 1.0
        Of kernels that have them.
    cv : int, splitter or list, default=5
        As in `tune`.
    scoring : str or None, default=None
        What is to be good, by scikit-learn's name: 'accuracy', 'balanced_accuracy', 'f1_macro', 'roc_auc', 'neg_log_loss'; None is accuracy.
    choose : {'best', 'one-se'}, default='best'
        The best cell, or the one with the fewest support vectors among those that are behind by one standard error at most.
    scale : {'auto', 'none', 'standard', 'minmax'}, default='auto'
        What is done to the columns, as the training rows of each fold say. 'auto' standardises full tables and leaves sparse ones.
    class_weight : dict, 'balanced' or None, default=None
        What a row of each class counts.
    probability : bool or None, default=None
        As in `SVC`.
    tol : float, default=1e-3
        The largest violation of the optimality conditions.
    cache_size : float or None, default=None
        The memory for kernel values in MB; None is half of what is free.
    decision_function_shape, break_ties : str, bool, default='ovr', False
        As in `SVC`.
    random_state : int or None, default=None
        Where the draws of the folds begin; None is 0.
    verbose, progress : bool, default=False
        Whether a line says how far the search is, and how long it goes on.
    n_jobs, max_time, checkpoint : int, float, path, default=None
        As in `tune`.

    Attributes
    ----------
    best_params_, best_score_ : dict, float
        What was found, and its mean score.
    C_, gamma_, degree_, coef0_ : float
        What was found, each for kernels that have it.
    tuned_ : Tuned
        The whole search: honest estimate, one-SE choice, table, held-out values, warnings. It is not pickled.
    cv_results_ : dict
        The table with scikit-learn's names.
    certificate_, classes_, support_, support_vectors_, n_support_, dual_coef_, coef_, intercept_, n_iter_
        As in `SVC`.

    Examples
    --------
    >>> import numpy as np
    >>> from maxmargin import SVCCV
    >>> draw = np.random.RandomState(0)
    >>> X = draw.randn(60, 2)
    >>> model = SVCCV(Cs=3, gammas=[0.1, 1.0]).fit(X, X[:, 0] * X[:, 1] > 0)
    >>> sorted(model.best_params_), model.score(X, X[:, 0] * X[:, 1] > 0) > 0.8
    (['C', 'gamma'], True)
    """

    def __init__(
        self,
        *,
        kernel="rbf",
        Cs=9,
        gammas=9,
        degree=3,
        coef0=1.0,
        cv=5,
        scoring=None,
        choose="best",
        scale="auto",
        class_weight=None,
        probability=None,
        tol=1e-3,
        cache_size=None,
        decision_function_shape="ovr",
        break_ties=False,
        random_state=None,
        verbose=False,
        progress=False,
        n_jobs=None,
        max_time=None,
        checkpoint=None,
    ):
        self._keep(locals())

    _rules = {
        **_KERNEL_RULES,
        **boolean_rules("break_ties"),
        "Cs": _VALUES,
        "class_weight": CLASS_WEIGHT_RULE,
        "probability": (one_of(None, True, False),),
        "decision_function_shape": (one_of("ovo", "ovr"),),
    }

    def _grid(self) -> dict[str, Any]:
        return {"C": self.Cs, "gamma": self.gammas}

    @with_callbacks
    def fit(self, X, y, groups=None):
        """Searches, and trains on rows X with labels y.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
        y : array-like of shape (n_samples,)
        groups : array-like of shape (n_samples,), optional
            Rows of one group stay on one side of each split.

        Returns
        -------
        self
        """
        check_parameters(self, self._rules)
        metric, sign = read_metric(None, self.scoring, False)
        rows = read_rows(self, X, self._threads(), reset=True)
        tuned = self._search(rows, X, y, groups, self._asked(multiclass="ovo"), sign, metric, self.scale)
        adopt(self, tuned, self._keep_choice(tuned, tuned.chosen_index_), self._threads())
        return self

    _metadata = {"score": ("sample_weight",)}


class SVRCV(_SearchesKernels, _SupportRegressor):
    """An `SVR` that finds C, gamma and epsilon by cross validation.

    Parameters
    ----------
    kernel, gammas, degree, coef0, cv, choose, scale, tol, cache_size, random_state, verbose, progress, n_jobs, max_time, checkpoint
        As in `SVCCV`.
    Cs : int or list, default=9
        The values of C, or how many from 0.03 to 300.
    epsilons : list, default=(0.1,)
        The values of epsilon: differences up to it cost nothing.
    scoring : str or None, default=None
        What is to be good: 'r2', 'neg_mean_squared_error', 'neg_mean_absolute_error'; None is r2.

    Attributes
    ----------
    best_params_, best_score_, C_, gamma_, epsilon_, degree_, coef0_, tuned_, cv_results_
        As in `SVCCV`.
    certificate_, support_, support_vectors_, n_support_, dual_coef_, coef_, intercept_, n_iter_
        As in `SVR`.

    Examples
    --------
    >>> import numpy as np
    >>> from maxmargin import SVRCV
    >>> x = np.linspace(0, 3, 40)[:, None]
    >>> model = SVRCV(Cs=[1, 10], gammas=2, epsilons=[0.01, 0.1]).fit(x, np.sin(x.ravel()))
    >>> model.score(x, np.sin(x.ravel())) > 0.9
    True
    """

    def __init__(
        self,
        *,
        kernel="rbf",
        Cs=9,
        gammas=9,
        epsilons=(0.1,),
        degree=3,
        coef0=1.0,
        cv=5,
        scoring=None,
        choose="best",
        scale="auto",
        tol=1e-3,
        cache_size=None,
        random_state=None,
        verbose=False,
        progress=False,
        n_jobs=None,
        max_time=None,
        checkpoint=None,
    ):
        self._keep(locals())

    _rules = {**_KERNEL_RULES, "Cs": _VALUES, "epsilons": _VALUES[1:]}
    _task = "regression"
    _metadata = {"score": ("sample_weight",)}

    def _grid(self) -> dict[str, Any]:
        return {"C": self.Cs, "gamma": self.gammas, "epsilon": self.epsilons}

    @with_callbacks
    def fit(self, X, y, groups=None):
        """Searches, and trains on rows X with numbers y; see `SVCCV.fit`."""
        check_parameters(self, self._rules)
        require_y(y, type(self).__name__)
        metric, sign = read_metric(None, self.scoring, True)
        rows = read_rows(self, X, self._threads(), reset=True)
        asked = self._asked(task="regression", task_number=0.1)
        tuned = self._search(rows, X, y, groups, asked, sign, metric, self.scale)
        adopt(self, tuned, self._keep_choice(tuned, tuned.chosen_index_), self._threads())
        return self


class OneClassSVMCV(_SearchesKernels, _OneClass):
    """A `OneClassSVM` that finds gamma, and nu where rows are known to be unusual, by cross validation.

    With labels (1 usual, -1 unusual) it takes the cell with the best score of held-out rows. Without, nu is one number, and it takes the largest
    gamma, the tightest shape, that rejects no more of the held-out rows than a share nu and one standard error of such a share; where no gamma
    does so, the one that rejects fewest.

    Parameters
    ----------
    kernel, gammas, degree, coef0, cv, choose, scale, tol, cache_size, random_state, verbose, progress, n_jobs, max_time, checkpoint
        As in `SVCCV`.
    nus : list, default=(0.1,)
        The values of nu: the share of rows that may lie outside at most.
    scoring : str or None, default=None
        What is to be good where there are labels: 'accuracy', 'balanced_accuracy', 'f1_macro', 'roc_auc'; None is balanced accuracy.

    Attributes
    ----------
    best_params_, best_score_, gamma_, nu_, degree_, coef0_, tuned_, cv_results_
        As in `SVCCV`; without labels the score is the share of held-out rows that are not rejected.
    offset_, certificate_, support_, support_vectors_, n_support_, dual_coef_, coef_, intercept_, n_iter_
        As in `OneClassSVM`.

    Examples
    --------
    >>> import numpy as np
    >>> from maxmargin import OneClassSVMCV
    >>> X = np.random.RandomState(0).randn(100, 2)
    >>> OneClassSVMCV(gammas=[0.01, 0.1, 1.0]).fit(X).predict([[0.0, 0.0], [9.0, 9.0]])
    array([ 1, -1])
    """

    def __init__(
        self,
        *,
        kernel="rbf",
        gammas=9,
        nus=(0.1,),
        degree=3,
        coef0=1.0,
        cv=5,
        scoring=None,
        choose="best",
        scale="auto",
        tol=1e-3,
        cache_size=None,
        random_state=None,
        verbose=False,
        progress=False,
        n_jobs=None,
        max_time=None,
        checkpoint=None,
    ):
        self._keep(locals())

    _rules = {**_KERNEL_RULES, "nus": _VALUES[1:]}
    _task = "one-class"
    _metadata: dict[str, tuple[str, ...]] = {}

    def _grid(self) -> dict[str, Any]:
        return {"gamma": self.gammas, "nu": self.nus}

    @with_callbacks
    def fit(self, X, y=None, groups=None):
        """Searches, and learns what is usual from rows X; y says of each row whether it is usual (1) or not (-1), where that is known."""
        check_parameters(self, self._rules)
        nus = read_values("nu", self.nus)
        known = _labels_of_usual(y)
        if known is None and len(nus) > 1:
            raise InputError(
                f"nus has {len(nus)} values, but without labels nothing tells which is right\nhelp: give one, or labels 1 and -1"
            )
        metric, sign = read_metric(None, self.scoring or "balanced_accuracy", False) if known is not None else ("accuracy", 1.0)
        rows = read_rows(self, X, self._threads(), reset=True)
        asked = self._asked(task="one-class", task_number=nus[0])
        tuned = self._search(rows, X, known, groups, asked, sign, metric, self.scale, abandon=False)
        cell = tuned.chosen_index_ if known is not None else _tightest(tuned, nus[0], len(rows))
        adopt(self, tuned, self._keep_choice(tuned, cell), self._threads())
        return self


def _labels_of_usual(y: Any) -> Any:
    """The labels 1 and -1, where y has both; None for anything else, which says nothing of what is usual."""
    if y is None:
        return None
    values = np.asarray(y)
    if values.ndim != 1 or values.dtype.kind not in "iuf":
        return None
    return values if set(np.unique(values).tolist()) == {-1, 1} else None


def _tightest(tuned: Tuned, nu: float, rows: int) -> int | None:
    """The cell of the largest gamma that rejects a share nu of the held-out rows at most, give or take a standard error; else of the fewest."""
    done = [cell for cell, found in enumerate(tuned._cells) if found["mean"] is not None]
    if not done:
        return None
    most = nu + np.sqrt(nu * (1.0 - nu) / rows)
    rejected = {cell: 1.0 - tuned._cells[cell]["mean"] for cell in done}
    good = [cell for cell in done if rejected[cell] <= most]
    if not good:
        return min(done, key=lambda cell: (rejected[cell], tuned._params[cell].get("gamma", 0.0)))
    return max(good, key=lambda cell: tuned._params[cell].get("gamma", 0.0))


class LinearSVCCV(_Searches, LinearClassifier):
    """A `LinearSVC` that finds C by cross validation.

    Parameters
    ----------
    Cs : int or list, default=9
        The values of C, or how many from 0.03 to 300.
    penalty, loss, fit_intercept, intercept_scaling, class_weight, max_iter
        As in `LinearSVC`; `intercept_scaling` is 1 or None.
    cv, scoring, choose, cache_size, random_state, verbose, progress, n_jobs, max_time, checkpoint
        As in `SVCCV`. Columns are taken as they are: a `StandardScaler` in a pipeline scales them.
    tol : float, default=1e-4
        The relative duality gap at which the solver stops.

    Attributes
    ----------
    best_params_, best_score_, C_, tuned_, cv_results_
        As in `SVCCV`.
    coef_, intercept_, classes_, certificate_, n_iter_
        As in `LinearSVC`.

    Examples
    --------
    >>> import numpy as np
    >>> from maxmargin import LinearSVCCV
    >>> X = np.random.RandomState(0).randn(60, 2)
    >>> LinearSVCCV(Cs=[0.1, 1.0]).fit(X, X[:, 0] > 0).score(X, X[:, 0] > 0) > 0.9
    True
    """

    def __init__(
        self,
        *,
        Cs=9,
        penalty="l2",
        loss="squared_hinge",
        fit_intercept=True,
        intercept_scaling=1,
        class_weight=None,
        cv=5,
        scoring=None,
        choose="best",
        tol=1e-4,
        cache_size=None,
        max_iter=1000,
        random_state=None,
        verbose=False,
        progress=False,
        n_jobs=None,
        max_time=None,
        checkpoint=None,
    ):
        self._keep(locals())

    _rules = {
        **LINEAR_RULES,
        **_SEARCH_RULES,
        "Cs": _VALUES,
        "penalty": (one_of("l1", "l2"),),
        "loss": (one_of("hinge", "squared_hinge"),),
        "intercept_scaling": (one_of(1, None), number(least=1, most=1)),
        "class_weight": CLASS_WEIGHT_RULE,
    }
    _metadata = {"score": ("sample_weight",)}

    def _grid(self) -> dict[str, Any]:
        return {"C": self.Cs}

    @with_callbacks
    def fit(self, X, y, groups=None):
        """Searches, and trains on rows X with labels y; see `SVCCV.fit`."""
        check_parameters(self, {name: rules for name, rules in self._rules.items() if name != "warm_start"})
        metric, sign = read_metric(None, self.scoring, False)
        rows = read_rows(self, X, self._threads(), reset=True)
        asked, self._column = self._problem()
        tuned = self._search(rows, X, y, groups, asked, sign, metric, "none")
        cell = self._keep_choice(tuned, tuned.chosen_index_)
        model, asked, history = tuned._train(cell, self._threads())
        self.classes_ = tuned._problem.classes
        self._take(model, rows, tuned._problem.known, asked, history)
        self._set_weights()
        self._in_precision_of(rows)
        return self

    def _problem(self) -> tuple[dict[str, Any], float | None]:
        """What all cells have in common: the problem of a `LinearSVC`."""
        names = ("penalty", "loss", "fit_intercept", "intercept_scaling", "tol", "max_iter")
        machine = LinearSVC(**{name: getattr(self, name) for name in names})
        machine._refuse_combination()
        machine.classes_ = np.array([0, 1])
        return machine._problem(None)

    def _set_weights(self) -> None:
        super()._set_weights()
        self.n_iter_ = self._most_iterations()
