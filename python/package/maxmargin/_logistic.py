"""Logistic regression."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ._callbacks import with_callbacks
from ._errors import InputError, warn
from ._fitting import params
from ._linear import CLASS_WEIGHT_RULE, LINEAR_RULES, LinearClassifier, check, logistic_probabilities, softmax
from ._loading import penalty_of
from ._parameters import boolean, integer, number, one_of

_SOLVERS = ("lbfgs", "liblinear", "newton-cg", "newton-cholesky", "sag", "saga")


class LogisticRegression(LinearClassifier):
    """Logistic regression: the probability of each class.

    ``min ½‖w‖² + C Σ log(1 + exp(−y_i f(x_i)))``; several classes together, ``p_k ∝ exp f_k`` (softmax). The intercept is not penalised.

    Parameters
    ----------
    penalty : {'l1', 'l2', None}, optional
        The norm of the weights; where it is not given, `l1_ratio` and `C` say. With ``'l1'`` the weights of most columns are 0, and
        several classes are told apart each against the rest, whatever the solver: the softmax is solved with ``'l2'`` or without a
        penalty. ``'elasticnet'`` is refused.
    C : float, default=1.0
        The weight of the loss; infinity is no penalty. Classes that can be separated have then no best weights, and a warning says so.
    l1_ratio : float, default=0.0
        0 for ``'l2'``, 1 for ``'l1'``; what lies between is refused.
    dual : bool, default=False
        Taken for the sake of scikit-learn: the engine decides how to solve.
    tol : float, default=1e-4
        The relative duality gap at which the solver stops: the objective lies no farther above the optimum. Small problems are solved
        to the last digits whatever it is.
    fit_intercept : bool, default=True
        Whether there is an intercept.
    intercept_scaling : float, default=1
        With ``solver='liblinear'`` the number in the column whose weight is the intercept.
    class_weight : dict, 'balanced' or None, default=None
        What a row of each class counts.
    random_state : int, RandomState instance or None, default=None
        Taken for the sake of scikit-learn: nothing is drawn.
    solver : {'lbfgs', 'liblinear', 'newton-cg', 'newton-cholesky', 'sag', 'saga'}, default='lbfgs'
        The engine solves, whatever the name; but ``'liblinear'`` is another problem: the intercept is penalised like any other weight,
        and several classes are told apart each against the rest.
    max_iter : int, default=100
        The most steps of the solver.
    verbose : int, default=0
        The same as `progress`.
    warm_start, n_jobs, max_time, progress, checkpoint
        As in `LinearSVC`.

    Attributes
    ----------
    n_iter_ : ndarray of shape (1,)
        The steps of the solver.
    coef_, intercept_, classes_, certificate_, stop_reason_, history_, solver_, notes_, n_features_in_, feature_names_in_
        As in `LinearSVC`.

    Examples
    --------
    >>> import numpy as np
    >>> from maxmargin import LogisticRegression
    >>> X = np.array([[0.0], [1], [2], [3], [4], [5]])
    >>> model = LogisticRegression().fit(X, [0, 0, 1, 0, 1, 1])
    >>> model.predict_proba([[2.5]]).round(6)
    array([[0.5, 0.5]])
    >>> model.certificate_.relative_gap < 1e-9
    True
    """

    def __init__(
        self,
        penalty="deprecated",
        *,
        C=1.0,
        l1_ratio=0.0,
        dual=False,
        tol=1e-4,
        fit_intercept=True,
        intercept_scaling=1,
        class_weight=None,
        random_state=None,
        solver="lbfgs",
        max_iter=100,
        verbose=0,
        warm_start=False,
        n_jobs=None,
        max_time=None,
        progress=False,
        checkpoint=None,
    ):
        self._keep(locals())

    _rules = {
        **LINEAR_RULES,
        "penalty": (one_of("l1", "l2", "elasticnet", None, "deprecated"),),
        "C": (number(above=0, infinite=True),),
        "l1_ratio": (number(least=0, most=1), one_of(None)),
        "dual": (boolean(),),
        "tol": (number(least=0),),
        "max_iter": (integer(least=0),),
        "intercept_scaling": (number(above=0),),
        "class_weight": CLASS_WEIGHT_RULE,
        "solver": (one_of(*_SOLVERS),),
    }

    def _penalty(self) -> str | None:
        """'l1', 'l2', or None."""
        if self.penalty != "deprecated":
            found = self.penalty
        else:
            found = {0: "l2", None: "l2", 1: "l1"}.get(self.l1_ratio, "elasticnet")
        if found == "elasticnet":
            raise InputError(
                f"a penalty between 'l1' and 'l2' (elasticnet, l1_ratio={self.l1_ratio}) is not among the problems that are solved\n"
                "help: choose l1_ratio=0 or l1_ratio=1"
            )
        return None if math.isinf(self.C) else found

    def _is_softmax(self, penalty: str | None) -> bool:
        """Whether the classes are told apart in one problem."""
        return len(self.classes_) > 2 and self.solver != "liblinear" and penalty != "l1"

    @with_callbacks
    def fit(self, X, y, sample_weight=None):
        """Trains on rows X with labels y.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
        y : array-like of shape (n_samples,)
            The labels: numbers or text.
        sample_weight : array-like of shape (n_samples,), optional
            Weight k means k copies of a row, 0 that it is not there.

        Returns
        -------
        self
        """
        check(self)
        self._penalty()
        if self.penalty is None and self.C != 1.0:
            warn("Setting penalty=None will ignore the C and l1_ratio parameters")
        rows, codes, weights = self._read_classes(X, y, sample_weight)
        weights, by_class = self._weigh(codes, weights)
        asked, column = self._problem(by_class)
        self._train_linear(rows, self._answers_of_fit(codes, weights), asked, column)
        return self

    def _problem(self, by_class: list[float] | None) -> tuple[dict[str, Any], float | None]:
        """What to train, in the engine's words, and the number in the column of the intercept, where it has one."""
        penalty = self._penalty()
        bias, column = self._bias(self.intercept_scaling if self.solver == "liblinear" else None)
        asked = params(
            penalty="none" if penalty is None else "c",
            penalty_number=1.0 if penalty is None else self.C,
            norm="l1" if penalty == "l1" else "l2",
            loss="logistic",
            bias=bias,
            multiclass="joint" if self._is_softmax(penalty) else "ovr",
            tolerance=self._gap(),
            # Without a penalty there is no dual, and so no gap.
            gap=None if penalty is None else self._gap(),
            max_iterations=max(int(self.max_iter), 1),
            class_weights=by_class,
        )
        return asked, column

    @property
    def _keeps_single(self) -> bool:
        # LIBLINEAR works in double precision.
        return self.solver != "liblinear"

    def _set_weights(self) -> None:
        super()._set_weights()
        self.n_iter_ = np.array([self._most_iterations()], dtype=np.int32)

    @classmethod
    def _reads(cls, parts: dict[str, Any]) -> bool:
        way = parts["multiclass"] in ("ovr", "joint") or len(parts["classes"]) == 2
        return parts["loss"] == "logistic" and way and cls._reads_linear(parts, "classification")

    @classmethod
    def _parameters_in(cls, parts: dict[str, Any]) -> dict[str, Any]:
        kind, number_ = penalty_of(parts)
        # Each class against the rest is liblinear's way, but for the norm l1, which has no other.
        rest = len(parts["classes"]) > 2 and not parts.get("joint") and parts.get("norm", "l2") == "l2"
        return dict(
            C=math.inf if kind == "none" else number_,
            l1_ratio=1.0 if parts.get("norm") == "l1" else 0.0,
            solver="liblinear" if rest or parts["bias"] == "folded" else "lbfgs",
        )

    def _iteration_warning(self) -> str:
        # scikit-learn's words for each solver's name, which its users' filters know.
        if self.solver == "liblinear":
            return super()._iteration_warning()
        if self.solver in ("sag", "saga"):
            return f"The max_iter was reached which means the coef_ did not converge. (The limit is max_iter={self.max_iter}.)"
        if self.solver == "newton-cg":
            return f"newton-cg failed to converge. Increase the number of iterations. (The limit is max_iter={self.max_iter}.)"
        if self.solver == "newton-cholesky":
            return f"Newton solver did not converge after {self.max_iter} iterations."
        return (
            f"lbfgs failed to converge after {self.max_iter} iteration(s) (status=1).\n"
            f"Increase the number of iterations to improve the convergence (max_iter={self.max_iter}).\n"
            "You might also want to scale the data."
        )

    def predict_proba(self, X):
        """The probability of each class for each row.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)

        Returns
        -------
        ndarray of shape (n_samples, n_classes)
        """
        values = self._products(X)
        return softmax(values) if self._is_softmax(self._penalty()) else logistic_probabilities(values)

    def predict_log_proba(self, X):
        """The logarithm of `predict_proba`."""
        return np.log(self.predict_proba(X))
