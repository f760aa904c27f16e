"""The perceptron."""

from __future__ import annotations

from typing import Any

import numpy as np

from ._callbacks import with_callbacks
from ._engine import Data
from ._errors import InputError
from ._fitting import params, seed_of
from ._input import Rows, is_sparse, read_class_weights
from ._linear import CLASS_WEIGHT_RULE, LINEAR_RULES, LinearClassifier, check
from ._parameters import boolean, integer, number, one_of


class Perceptron(LinearClassifier):
    """Rosenblatt's perceptron: a plane that separates the classes, any one.

    For each row on the wrong side ``w ← w + y_i x_i``, ``b ← b + y_i``, until a sweep over all rows has no mistake; several classes each
    against the rest. On classes that cannot be separated it never rests, and stops after `max_iter` sweeps with a warning.

    Parameters
    ----------
    penalty : None
        The perceptron has none; anything else is refused.
    alpha, l1_ratio : float
        Of the penalty, which there is none of: taken, and of no effect.
    fit_intercept : bool, default=True
        Whether there is an intercept.
    max_iter : int, default=1000
        The most sweeps over the rows.
    tol : float or None, default=1e-3
        Taken for the sake of scikit-learn, and of no effect: the perceptron stops after a sweep without a mistake.
    shuffle : bool, default=True
        Whether the rows are put in an order drawn from `random_state` before the first sweep; else they are taken as they come.
    verbose : int, default=0
        The same as `progress`.
    eta0 : float, default=1.0
        A factor on all steps from 0, and so on the weights, which changes no prediction: taken, and of no effect.
    n_jobs, max_time, progress
        As in `LinearSVC`.
    random_state : int, RandomState instance or None, default=0
        See `shuffle`.
    early_stopping : False
        Anything else is refused.
    validation_fraction, n_iter_no_change
        Of early stopping: taken, and of no effect.
    class_weight : dict, 'balanced' or None, default=None
        The length of the steps that rows of each class make.
    warm_start : False
        Anything else is refused.
    averaged : bool, default=False
        Whether the weights are the mean over all rows seen in all sweeps, which is less at the mercy of the last mistakes.

    Attributes
    ----------
    n_iter_ : int
        The sweeps, of all classes the most.
    coef_, intercept_, classes_, stop_reason_, history_, solver_, notes_, n_features_in_, feature_names_in_
        As in `LinearSVC`.
    certificate_ : None
        There is no objective, and so no certificate.

    Examples
    --------
    >>> import numpy as np
    >>> from maxmargin import Perceptron
    >>> X = np.array([[-1.0, -1], [-2, -1], [1, 1], [2, 1]])
    >>> Perceptron().fit(X, [1, 1, 2, 2]).predict([[-0.8, -1]])
    array([1])
    """

    # The algorithm makes a step or none: a row that counts twice is not the same as two rows.
    _metadata = {"score": ("sample_weight",)}

    def __init__(
        self,
        *,
        penalty=None,
        alpha=0.0001,
        l1_ratio=0.15,
        fit_intercept=True,
        max_iter=1000,
        tol=1e-3,
        shuffle=True,
        verbose=0,
        eta0=1.0,
        n_jobs=None,
        random_state=0,
        early_stopping=False,
        validation_fraction=0.1,
        n_iter_no_change=5,
        class_weight=None,
        warm_start=False,
        averaged=False,
        max_time=None,
        progress=False,
    ):
        self._keep(locals())

    _rules = {
        **{name: rule for name, rule in LINEAR_RULES.items() if name not in ("checkpoint", "warm_start")},
        "penalty": (one_of(None),),
        "alpha": (number(least=0),),
        "l1_ratio": (number(least=0, most=1), one_of(None)),
        "tol": (number(least=0), one_of(None)),
        "shuffle": (boolean(),),
        "eta0": (number(above=0),),
        "early_stopping": (one_of(False),),
        "validation_fraction": (number(above=0, most=1),),
        "n_iter_no_change": (integer(least=1),),
        "class_weight": CLASS_WEIGHT_RULE,
        "warm_start": (one_of(False),),
        "averaged": (boolean(),),
    }

    @with_callbacks
    def fit(self, X, y):
        """Trains on rows X with labels y.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
        y : array-like of shape (n_samples,)
            The labels: numbers or text.

        Returns
        -------
        self
        """
        check(self)
        rows, codes, _ = self._read_classes(X, y, None)
        given = rows
        steps = read_class_weights(self.class_weight, self.classes_, codes, None)[codes]
        if len(np.unique(codes[steps > 0])) < 2:
            raise InputError(f"class_weight={self.class_weight!r} leaves rows of one class only")
        order = np.random.default_rng(seed_of(self.random_state)).permutation(len(rows)) if self.shuffle else np.arange(len(rows))
        order = order[steps[order] > 0]
        bias, self._column = ("explicit" if self.fit_intercept else "none"), None
        if np.any(steps != steps[0]):
            # A step of another length is that of a row as much longer, its column of ones included.
            rows, self._column = self._scaled(rows, steps), 1.0 if self.fit_intercept else None
            bias = "none"
        if not np.array_equal(order, np.arange(len(rows))):
            rows, codes = _taken(rows.array[order], self._threads()), codes[order]
        known = self._answers_of_fit(codes, None)
        if self._column is not None:
            known["names"] = None
        asked = params(solver="perceptron", bias=bias, multiclass="ovr", max_iterations=int(self.max_iter), averaged=bool(self.averaged))
        self._train(rows, known, asked)
        self.coef_, self.intercept_ = self._weights_of_engine()
        self._in_precision_of(given)
        self.n_iter_ = self._most_iterations()
        return self

    @classmethod
    def _reads(cls, parts: dict[str, Any]) -> bool:
        way = parts["multiclass"] == "ovr" or len(parts["classes"]) == 2
        return parts["solver"] == "perceptron" and way and cls._predicts_by_weights(parts)

    @classmethod
    def _parameters_in(cls, parts: dict[str, Any]) -> dict[str, Any]:
        return {}

    def _set_weights(self) -> None:
        super()._set_weights()
        self.n_iter_ = self._most_iterations()

    def _scaled(self, rows: Rows, steps: np.ndarray) -> Rows:
        """Rows times a number each, and one column more with that number where there is an intercept."""
        array = rows.array
        if is_sparse(array):
            from scipy.sparse import csr_matrix, diags, hstack

            scaled = diags(steps) @ array
            parts = [scaled, csr_matrix(steps[:, None])] if self.fit_intercept else [scaled]
            return _taken(hstack(parts, format="csr"), self._threads())
        scaled = array * steps[:, None]
        return _taken(np.hstack([scaled, steps[:, None]]) if self.fit_intercept else scaled, self._threads())

    _keeps_single = True

    def _in_precision_of(self, rows: Rows) -> None:
        super()._in_precision_of(rows)
        if len(self.classes_) == 2:
            # As in scikit-learn, whose intercept of two classes is of double precision.
            self.intercept_ = self.intercept_.astype(np.float64)

    def _iteration_warning(self) -> str:
        # scikit-learn's words, which its users' filters know, and the reason.
        return (
            "Maximum number of iteration reached before convergence. Consider increasing max_iter to improve the fit. "
            f"(There were mistakes in each of {self.max_iter} sweeps: the classes may not be separable. Consider averaged=True.)"
        )


def _taken(array: Any, threads: int) -> Rows:
    if is_sparse(array):
        array = array.tocsr()
        array.sort_indices()
        return Rows(Data.sparse(*array.shape, array.indptr, array.indices, array.data), array, None)
    return Rows(Data.dense(np.ascontiguousarray(array), threads), array, None)
