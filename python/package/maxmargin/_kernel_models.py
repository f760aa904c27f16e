"""Kernel classifiers without a convex problem behind them: KernelPerceptron, and RVC, the relevance vector classifier."""

from __future__ import annotations

from typing import Any

import numpy as np

from ._callbacks import with_callbacks
from ._errors import InputError, not_fitted
from ._estimator import Classifier
from ._fitting import Fit, answers, params
from ._input import Rows, read_class_weights, read_classes, read_weights, words_of
from ._kernel_machine import KERNEL_RULES, KernelMachine, boolean_rules
from ._loading import labels_of
from ._parameters import Rule, check_parameters, instance, number, one_of
from ._svm import _votes_with_values

_RULES: dict[str, tuple[Rule, ...]] = {
    **{name: rules for name, rules in KERNEL_RULES.items() if name != "tol"},
    **boolean_rules("fit_intercept", "verbose"),
    "multi_class": (one_of("ovr", "ovo"),),
}


class _KernelClassifier(Classifier, KernelMachine):
    """Several classes by one machine for each class or for each pair of classes."""

    def _fit_machines(self, rows: Rows, classes: np.ndarray, known: dict[str, Any], **changed: Any):
        asked = params(
            kernel=self._engine_kernel(),
            bias="explicit" if self.fit_intercept else "none",
            multiclass=self.multi_class,
            solver=self._solver,
            max_iterations=self._max_iterations(),
            memory=self._memory(),
            **changed,
        )
        self._train(rows, known, asked)
        self._set_machines(classes)
        self._keep_support(rows)
        return self

    def _fitted(self) -> Fit:
        if not hasattr(self, "_fit"):
            raise not_fitted(self)
        return self._fit

    # The engine's name of the algorithm.
    _solver: str

    @classmethod
    def _reads(cls, parts: dict[str, Any]) -> bool:
        """Whether a model of a file is one that this class trains."""
        return parts["solver"] == getattr(cls, "_solver", None) and parts["multiclass"] in ("ovr", "ovo") and parts["bias"] != "folded"

    @classmethod
    def _restored(cls, fit: Fit):
        """An estimator of this class for a model of a file."""
        parts = fit.parts
        classes = labels_of(parts["classes"])
        known = cls(multi_class=parts["multiclass"], fit_intercept=parts["bias"] == "explicit")
        weights = parts.get("class_weights")
        if weights is not None:
            known.set_params(class_weight=dict(zip(classes.tolist(), weights)))
        known.set_params(**{name: value for name, value in cls._kernel_parameters(parts).items() if name in cls._parameter_names()})
        known._restore_support(fit)
        known._set_machines(classes)
        return known

    def _set_machines(self, classes: np.ndarray) -> None:
        """What a model says of its machines."""
        self.classes_ = classes
        # As in SVC a pair of several classes is positive for the first of the two; the engine's is for the second.
        self._sign = -1.0 if len(classes) > 2 and self.multi_class == "ovo" else 1.0
        self._way = self.multi_class
        self.n_iter_ = self._fit.model.iterations().astype(np.int32)

    @property
    def dual_coef_(self) -> np.ndarray:
        """The coefficients of the vectors, one row a machine: one for each class, or for each pair (``'ovo'``); one for two classes."""
        if not hasattr(self, "_fit"):
            raise AttributeError("dual_coef_ is there once the model is fitted")
        table = np.zeros((len(self._fit.parts["machines"]), len(self.support_)))
        for number_ in range(len(table)):
            places, coefficients = self._fit.model.expansion(number_)
            table[number_, places] = self._sign * coefficients
        return table[:, self._order]

    def decision_function(self, X):
        """How far rows lie on which side.

        Two classes: one number a row, positive for the second class. Several classes: one number for each class; with
        ``multi_class='ovo'`` its votes, and less than ½ by which those that tie are ordered.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)

        Returns
        -------
        ndarray of shape (n_samples,) or (n_samples, n_classes)
        """
        values = self._fitted().model.values(self._read(X), self._threads())
        if len(self.classes_) == 2:
            return values[:, 0]
        return values if self._way == "ovr" else _votes_with_values(values, len(self.classes_))

    def predict(self, X):
        """The class of each row: the one with the largest decision value, or with ``multi_class='ovo'`` the one with most votes of the
        pairs, the first of those that tie.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)

        Returns
        -------
        ndarray of shape (n_samples,)
        """
        codes = self._fitted().model.codes(self._read(X), self._threads())
        return self.classes_[codes]


def _classes_with_weight(classes: np.ndarray, codes: np.ndarray, weights: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The classes of rows that count, and the code of each row among them; that of a row of weight 0 does not matter."""
    there = np.unique(codes[weights > 0])
    if len(there) < 2:
        raise InputError("Invalid input - all samples with positive weights belong to the same class")
    return classes[there], np.minimum(np.searchsorted(there, codes), len(there) - 1).astype(np.uint32)


class KernelPerceptron(_KernelClassifier):
    """The perceptron with a kernel: any surface that separates the classes, found by learning from mistakes.

    Rows are looked at in turn, and each that lies on the wrong side is added to the sum; when a sweep over all rows has no mistake, the
    model is done. It is a baseline: of all separating surfaces it finds any one, where `SVC` finds the one with the largest margin. Rows
    have no weights: a mistake is a mistake.

    Parameters
    ----------
    kernel, degree, gamma, coef0
        As in `SVC`.
    max_iter : int, default=1000
        The most sweeps; data that cannot be separated take them all, and a warning says so.
    averaged : bool, default=False
        Whether the mean over all rows seen is returned in place of the last state, which is less at the mercy of the last mistakes.
    fit_intercept : bool, default=True
        Whether there is a bias.
    multi_class : {'ovr', 'ovo'}, default='ovr'
        Several classes: each against the rest, or by pairs.
    cache_size, verbose, n_jobs, max_time, progress, checkpoint
        As in `SVC`.

    Attributes
    ----------
    certificate_ : None
        There is none: the method minimises no objective, as `notes_` says.
    stop_reason_, history_, notes_, solver_
        As in `SVC`.
    support_, support_vectors_ : ndarray
        The rows that there was a mistake on: their numbers, and themselves.
    dual_coef_ : ndarray of shape (n_machines, n_vectors)
        How often there was a mistake on each, with the sign of its class.
    classes_, coef_, intercept_, n_iter_, fit_status_, shape_fit_, n_features_in_, feature_names_in_
        As in `SVC`; `n_iter_` counts sweeps.

    Examples
    --------
    >>> import numpy as np
    >>> from maxmargin import KernelPerceptron
    >>> X = np.array([[-1.0, -1], [-1, 1], [1, -1], [1, 1]])
    >>> y = np.array(["equal", "not", "not", "equal"])
    >>> model = KernelPerceptron(kernel="poly", degree=2).fit(X, y)
    >>> model.predict(X).tolist()
    ['equal', 'not', 'not', 'equal']
    >>> model.notes_
    ['the method minimises no objective']
    """

    _solver = "kernel-perceptron"
    _metadata = {"score": ("sample_weight",)}
    _rules = {**_RULES, **boolean_rules("averaged")}

    def __init__(
        self,
        *,
        kernel="rbf",
        degree=3,
        gamma="scale",
        coef0=0.0,
        max_iter=1000,
        averaged=False,
        fit_intercept=True,
        multi_class="ovr",
        cache_size=None,
        verbose=False,
        n_jobs=None,
        max_time=None,
        progress=False,
        checkpoint=None,
    ):
        self._keep(locals())

    @with_callbacks
    def fit(self, X, y):
        """Trains on rows X with labels y.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            The rows; with ``kernel='precomputed'`` the table of their kernel values.
        y : array-like of shape (n_samples,)
            The labels: numbers or text.

        Returns
        -------
        self
        """
        check_parameters(self, self._rules)
        rows = self._read_training(X)
        classes, codes = read_classes(y, len(rows), type(self).__name__)
        known = answers(words_of(classes), codes, names=getattr(self, "feature_names_in_", None))
        return self._fit_machines(rows, classes, known, averaged=bool(self.averaged))

    def _iteration_warning(self) -> str:
        sweeps = int(self.n_iter_.max()) if hasattr(self, "n_iter_") else self.max_iter
        return (
            f"There were mistakes in each of {sweeps} sweeps (max_iter={self.max_iter}): the data may not be separable with this kernel. "
            "Consider another kernel, averaged=True, or SVC."
        )


class RVC(_KernelClassifier):
    """The relevance vector classifier: a kernel classifier of very few vectors, with probabilities of its own and no C to choose.

    Each coefficient has a normal prior with a precision of its own. The precisions are those under which the labels are most likely;
    most of them turn out to be infinite, and the rows that are left are the relevance vectors. Loss and probabilities are logistic. For
    up to some thousand rows.

    Parameters
    ----------
    kernel, degree, gamma, coef0
        As in `SVC`.
    tol : float, default=1e-3
        The gain in the logarithm of the likelihood below which no step is taken.
    fit_intercept : bool, default=True
        Whether there is a bias, which has no prior.
    multi_class : {'ovr', 'ovo'}, default='ovr'
        Several classes: each against the rest, or by pairs.
    class_weight : dict, 'balanced' or None, default=None
        What a row of each class counts.
    max_iter : int, default=-1
        The most steps; -1 for the engine's own limit of 20 000.
    cache_size, verbose, n_jobs, max_time, progress, checkpoint
        As in `SVC`.

    Attributes
    ----------
    relevance_ : ndarray of shape (n_vectors,)
        The numbers of the relevance vectors among the rows; the same as `support_`.
    relevance_vectors_ : ndarray or sparse matrix of shape (n_vectors, n_features)
        The relevance vectors; the same as `support_vectors_`.
    certificate_ : None
        There is none: the problem is not convex, so another machine may be more likely. `notes_` says so, with the likelihood.
    stop_reason_, history_, notes_, solver_
        As in `SVC`.
    dual_coef_ : ndarray of shape (n_machines, n_vectors)
        The coefficients of the vectors.
    classes_, class_weight_, coef_, intercept_, n_iter_, fit_status_, shape_fit_, n_features_in_, feature_names_in_
        As in `SVC`; `n_iter_` counts steps.

    Examples
    --------
    >>> import numpy as np
    >>> from maxmargin import RVC
    >>> angle = np.arange(40) * np.pi / 10
    >>> radius = np.repeat([1.0, 3.0], 20)
    >>> X = np.c_[radius * np.cos(angle), radius * np.sin(angle)]
    >>> y = np.repeat(["inner", "outer"], 20)
    >>> model = RVC().fit(X, y)
    >>> model.score(X, y), len(model.relevance_) <= 4
    (1.0, True)
    >>> model.certificate_ is None, "not convex" in model.notes_[-1]
    (True, True)
    """

    _solver = "rvm"
    _rules = {
        **_RULES,
        "tol": (number(above=0),),
        "class_weight": (one_of("balanced", None), instance(dict, "a dict")),
    }

    def __init__(
        self,
        *,
        kernel="rbf",
        degree=3,
        gamma="scale",
        coef0=0.0,
        tol=1e-3,
        fit_intercept=True,
        multi_class="ovr",
        class_weight=None,
        max_iter=-1,
        cache_size=None,
        verbose=False,
        n_jobs=None,
        max_time=None,
        progress=False,
        checkpoint=None,
    ):
        self._keep(locals())

    @with_callbacks
    def fit(self, X, y, sample_weight=None):
        """Trains on rows X with labels y; see `SVC.fit`.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            The rows; with ``kernel='precomputed'`` the table of their kernel values.
        y : array-like of shape (n_samples,)
            The labels: numbers or text.
        sample_weight : array-like of shape (n_samples,), optional
            Weight k means k copies of a row, 0 that it is not there.

        Returns
        -------
        self
        """
        check_parameters(self, self._rules)
        rows = self._read_training(X)
        classes, codes = read_classes(y, len(rows), type(self).__name__)
        weights = read_weights(sample_weight, len(rows), negative=True)
        if weights is not None:
            classes, codes = _classes_with_weight(classes, codes, weights)
        self.class_weight_ = read_class_weights(self.class_weight, classes, codes, weights)
        plain = bool(np.all(self.class_weight_ == 1.0))
        known = answers(words_of(classes), codes, weights=weights, names=getattr(self, "feature_names_in_", None))
        return self._fit_machines(
            rows,
            classes,
            known,
            loss="logistic",
            tolerance=self.tol,
            class_weights=None if plain else self.class_weight_.tolist(),
        )

    @property
    def relevance_(self) -> np.ndarray:
        """The numbers of the relevance vectors among the rows."""
        if not hasattr(self, "_fit"):
            raise AttributeError("relevance_ is there once the model is fitted")
        return self.support_

    @property
    def relevance_vectors_(self) -> Any:
        """The relevance vectors, one a row; none where the kernel is a table or a function."""
        if not hasattr(self, "_fit"):
            raise AttributeError("relevance_vectors_ is there once the model is fitted")
        return self.support_vectors_

    def predict_proba(self, X):
        """The probability of each class for each row: the model's own, for its loss is logistic.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)

        Returns
        -------
        ndarray of shape (n_samples, n_classes)
        """
        return self._fitted().model.probabilities(self._read(X), self._threads())

    def predict_log_proba(self, X):
        """The logarithm of `predict_proba`."""
        return np.log(self.predict_proba(X))
