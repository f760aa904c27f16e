"""Support vector machines with kernels: SVC, NuSVC, SVR, NuSVR, OneClassSVM and SVDD."""

from __future__ import annotations

from typing import Any

import numpy as np

from ._callbacks import with_callbacks
from ._errors import InputError, NotFittedError, known_to_sklearn, not_fitted, warn
from ._estimator import Classifier, OutlierDetector, Regressor, available_when
from ._fitting import SOLVER_RULE, answers, params, seed_of
from ._input import Rows, read_class_weights, read_classes, read_targets, read_weights, require_y, words_of
from ._kernel_machine import KERNEL_RULES, KernelMachine, boolean_rules
from ._loading import labels_of, penalty_of, task_of
from ._parameters import check_parameters, instance, integer, number, one_of

# What an infinite C is taken for: so large that it binds no row that can be separated.
_LARGEST_C = 1e10


def _finite(c: float) -> float:
    """C, with a large number for an infinite one."""
    return min(float(c), _LARGEST_C) if np.isinf(c) else float(c)


LANDMARK_RULES = {"landmarks": (integer(least=1), one_of(None)), "prove": (one_of(False, True), number(above=0))}
"""The rules of the parameters of machines on landmarks."""


def _on_landmarks(model: Any) -> dict[str, Any]:
    """The landmarks that are asked for, in the engine's words."""
    if model.landmarks is None:
        if model.prove is not False:
            raise InputError(
                f"prove is {model.prove!r}, but there are no landmarks to prove something of\nhelp: give landmarks, such as 500"
            )
        return {}
    is_bound = not isinstance(model.prove, (bool, np.bool_))
    gap = float(model.prove) if is_bound else None
    seed = seed_of(getattr(model, "random_state", None))
    return dict(landmarks=int(model.landmarks), prove=bool(model.prove), proved_gap=gap, seed=seed)


def _landmarks_of(parts: dict[str, Any], fit: Any) -> dict[str, Any]:
    """The parameters of the landmarks of a file."""
    found = parts.get("landmarks")
    if found is None:
        return {}
    return {"landmarks": len(fit.model.support_rows), "prove": all("proof" in point for point in found)}


class _Support(KernelMachine):
    """What all machines of this module share."""

    _rules = {**KERNEL_RULES, **boolean_rules("shrinking", "verbose", "warm_start"), "solver": SOLVER_RULE}

    @property
    def proved_gap_(self) -> float | None:
        """With landmarks and a proof: the objective is at most this part of itself above that of the exact machine."""
        if not hasattr(self, "_fit"):
            raise AttributeError("proved_gap_ is there once the model is fitted")
        return self._fit.model.proved_gap()

    def _asked(self, **changed: Any) -> dict[str, Any]:
        return params(
            kernel=self._engine_kernel(),
            tolerance=self.tol,
            max_iterations=self._max_iterations(),
            memory=self._memory(),
            solver=self.solver,
            **changed,
        )


# Why a model has no `predict_proba`.
_WITHOUT_PROBABILITIES = "probability is not True\nhelp: SVC(probability=True), or model.set_params(probability=True) after a fit"


def _has_probabilities(model: Any) -> bool:
    return model.probability is True


class _SupportClassifier(Classifier, _Support):
    """Classes told apart by pairs."""

    _rules = {
        **_Support._rules,
        **boolean_rules("break_ties"),
        "probability": (one_of(None, True, False),),
        "class_weight": (one_of("balanced", None), instance(dict, "a dict")),
        "decision_function_shape": (one_of("ovo", "ovr"),),
        "random_state": (integer(least=0), one_of(None), instance((np.random.RandomState, np.random.Generator), "a RandomState")),
    }

    _one_class_left = "Invalid input - all samples with positive weights belong to the same class"

    def _fit_classes(self, X: Any, y: Any, sample_weight: Any):
        check_parameters(self, self._rules)
        name = type(self).__name__
        rows = self._read_training(X)
        classes, codes = read_classes(y, len(rows), name)
        weights = read_weights(sample_weight, len(rows), negative=True)
        if weights is not None and len(np.unique(codes[weights > 0])) < 2:
            raise InputError(self._one_class_left)
        class_weights = read_class_weights(self.class_weight, classes, codes, weights)
        plain = self.class_weight is None or bool(np.all(class_weights == 1.0))
        if not plain and not np.all(class_weights > 0.0):
            # A class that does not count is one whose rows are left out.
            weights = (1.0 if weights is None else weights) * np.maximum(class_weights, 0.0)[codes]
            plain = True
            if len(np.unique(codes[weights > 0])) < 2:
                raise InputError(f"class_weight is {self.class_weight!r}: with it, rows of fewer than two classes count")
        known = answers(words_of(classes), codes, weights=weights, names=getattr(self, "feature_names_in_", None))
        asked = self._problem(classes, codes, weights, None if plain else class_weights.tolist())
        self._train(rows, known, asked, keep_rows=self.probability is not False)
        self._keep_classes(rows, classes, codes, class_weights)
        return self

    def _keep_classes(self, rows: Rows, classes: np.ndarray, codes: np.ndarray, class_weights: np.ndarray) -> None:
        """Sets what is known of the classes once there is a model."""
        self.classes_ = classes
        self.class_weight_ = class_weights
        self._declined = self.probability is False
        self._sign = 1.0 if len(classes) == 2 else -1.0
        self._set_support(rows, codes)
        self.n_iter_ = self._fit.model.iterations().astype(np.int32)
        if self.probability is True:
            self._fit.with_probabilities(self._threads())

    def _problem(self, classes: np.ndarray, codes: np.ndarray, weights: np.ndarray | None, by_class: list[float] | None) -> dict[str, Any]:
        """What to train, in the engine's words."""
        return self._asked(multiclass="ovo", class_weights=by_class, **self._engine_penalty(classes, codes, weights))

    # The penalty of the classifiers of a class, in the engine's words, and the parameter that has its number.
    _penalty: tuple[str, str]

    @classmethod
    def _reads(cls, parts: dict[str, Any]) -> bool:
        return (
            hasattr(cls, "_penalty")
            and task_of(parts)[0] == "classification"
            and parts["solver"] != "kernel-perceptron"
            and (parts["loss"], parts["bias"], penalty_of(parts)[0]) == ("hinge", "explicit", cls._penalty[0])
            and (parts["multiclass"] == "ovo" or len(parts["classes"]) == 2)
            and not parts.get("joint")
            and all(_in_order(**machine["pairing"]) for machine in parts["machines"])
        )

    @classmethod
    def _restored(cls, fit: Any):
        parts = fit.parts
        weights = parts.get("class_weights")
        classes = labels_of(parts["classes"])
        model = cls(
            **cls._kernel_parameters(parts),
            **{cls._penalty[1]: penalty_of(parts)[1]},
            class_weight=None if weights is None else dict(zip(classes.tolist(), weights)),
            probability=True if fit.model.has_probabilities else None,
            **_landmarks_of(parts, fit),
        )
        model.classes_ = classes
        model.class_weight_ = np.ones(len(classes)) if weights is None else np.array(weights)
        model._sign = 1.0 if len(classes) == 2 else -1.0
        # A support vector of a pair has the sign of its class.
        of_vectors = np.zeros(len(fit.model.support_rows), dtype=np.int32)
        positive, negative = fit.model.pairings()
        owners, places, coefficients = fit.model.expansions()
        of_vectors[places] = np.where(coefficients > 0, positive[owners], negative[owners])
        model._restore_support(fit, np.argsort(of_vectors, kind="stable"))
        model._n_support = np.bincount(of_vectors, minlength=len(classes)).astype(np.int32)
        model._codes_of_vectors = of_vectors
        model.n_iter_ = fit.model.iterations().astype(np.int32)
        return model

    def _set_support(self, rows: Rows, codes: np.ndarray) -> None:
        found = self._fit.model.support_rows.astype(np.int64)
        of_vectors = codes[found]
        self._keep_support(rows, np.argsort(of_vectors, kind="stable"), found)
        self._n_support = np.bincount(of_vectors, minlength=len(self.classes_)).astype(np.int32)
        self._codes_of_vectors = of_vectors.astype(np.int32)

    @property
    def n_support_(self) -> np.ndarray:
        """How many support vectors each class has."""
        if not hasattr(self, "_fit"):
            raise AttributeError("n_support_ is there once the model is fitted")
        return self._n_support

    @property
    def dual_coef_(self) -> Any:
        """The coefficients of the support vectors: for each of them one for each class other than its own."""
        if not hasattr(self, "_fit"):
            raise AttributeError("dual_coef_ is there once the model is fitted")
        if len(self.classes_) > 2 and "landmarks" in self._fit.parts:
            raise AttributeError("dual_coef_ has no place for the coefficients of landmarks, which are of no class")
        table = np.zeros((len(self.classes_) - 1, len(self.support_)))
        positive, negative = self._fit.model.pairings()
        owners, places, coefficients = self._fit.model.expansions()
        second, first = positive[owners], negative[owners]
        line = np.where(self._codes_of_vectors[places] == first, second - 1, first)
        table[line, places] = self._sign * coefficients
        return self._sparse_like_training(table[:, self._order])

    def decision_function(self, X):
        """How far rows lie on which side.

        Two classes: one number a row, positive for the second class. Several classes: one number for each class (``'ovr'``), or one for
        each pair (``'ovo'``), positive for the first of the two.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)

        Returns
        -------
        ndarray of shape (n_samples,), (n_samples, n_classes) or (n_samples, n_pairs)
        """
        values = self._fit_or_raise().model.values(self._read(X), self._threads())
        if len(self.classes_) == 2:
            return values[:, 0]
        return -values if self.decision_function_shape == "ovo" else _votes_with_values(values, len(self.classes_))

    def predict(self, X):
        """The class of each row: the one with most votes of the pairs; of those that tie the first, or with ``break_ties`` the one with
        the largest decision value.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)

        Returns
        -------
        ndarray of shape (n_samples,)
        """
        self._fit_or_raise()
        if self._n_support.sum() != len(self.support_):
            raise InputError(f"The internal representation of {type(self).__name__} was altered: n_support_ and support_ do not agree")
        if self.break_ties and self.decision_function_shape == "ovo":
            raise InputError("break_ties must be False when decision_function_shape is 'ovo'")
        if self.break_ties and len(self.classes_) > 2:
            return self.classes_[np.argmax(self.decision_function(X), axis=1)]
        return self.classes_[self._fit.model.codes(self._read(X), self._threads())]

    def __getstate__(self) -> dict[str, Any]:
        # The training data does not come along, so what may be made of it later is made now.
        if self.probability is True and hasattr(self, "_fit") and self._fit.rows is not None:
            self._fit.with_probabilities(self._threads())
        return super().__getstate__()

    def _fit_or_raise(self):
        if not hasattr(self, "_fit"):
            raise not_fitted(self)
        return self._fit

    @available_when(_has_probabilities, _WITHOUT_PROBABILITIES)
    def predict_proba(self, X):
        """The probability of each class for each row.

        There with ``probability=True``, as in scikit-learn. Made from the one fit that there is, without a seed: they rise with the decision
        value, and no class is likelier than the one that is predicted. A model that was fitted without them gets them by
        ``set_params(probability=True)``, as long as it has its training data.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)

        Returns
        -------
        ndarray of shape (n_samples, n_classes)
        """
        fit = self._fit_or_raise()
        if getattr(self, "_declined", False):
            raise known_to_sklearn(NotFittedError)("predict_proba is not available when fitted with probability=False")
        model = fit.with_probabilities(self._threads())
        return model.probabilities(self._read(X), self._threads())

    @available_when(_has_probabilities, _WITHOUT_PROBABILITIES)
    def predict_log_proba(self, X):
        """The logarithm of `predict_proba`."""
        return np.log(self.predict_proba(X))

    @property
    def probA_(self) -> np.ndarray:
        """Empty: the probabilities are not Platt's."""
        return self._no_parameter_of_platt("probA_")

    @property
    def probB_(self) -> np.ndarray:
        """Empty: the probabilities are not Platt's."""
        return self._no_parameter_of_platt("probB_")

    def _no_parameter_of_platt(self, name: str) -> np.ndarray:
        message = f"Attribute `{name}` was deprecated in scikit-learn 1.8. Here it is empty: the probabilities are not Platt's."
        warn(message, FutureWarning)
        return np.empty(0)


def _in_order(positive: int, negative: int | None) -> bool:
    """Whether a machine is one of two classes, and positive for the second."""
    return negative is not None and positive > negative


def _votes_with_values(values: np.ndarray, classes: int) -> np.ndarray:
    """One number for each class: its votes, and less than ½ by which those that tie are ordered."""
    votes = np.zeros((len(values), classes))
    sums = np.zeros((len(values), classes))
    pair = 0
    for first in range(classes):
        for second in range(first + 1, classes):
            value = values[:, pair]
            sums[:, first] -= value
            sums[:, second] += value
            votes[:, first] += value <= 0
            votes[:, second] += value > 0
            pair += 1
    return votes + sums / (3 * (np.abs(sums) + 1))


class SVC(_SupportClassifier):
    """Support vector classification with kernels.

    ``min ½‖w‖² + C Σ ξ_i``, ``y_i f(x_i) ≥ 1 − ξ_i``, ``ξ_i ≥ 0``; several classes by pairs.

    Parameters
    ----------
    C : float, default=1.0
        The penalty on slack.
    kernel : {'linear', 'poly', 'rbf', 'sigmoid', 'laplacian', 'chi2', 'precomputed'}, str or callable, default='rbf'
        The kernel: a name, a combination of kernels such as ``'rbf(gamma=0.5) + linear'``, or a function of two lists of rows that
        returns the table of their kernel values.
    degree : int, default=3
        The degree of the polynomial kernel.
    gamma : {'scale', 'auto'} or float, default='scale'
        The factor of the kernel: ``'scale'`` is ``1 / (n_features * X.var())``, ``'auto'`` is ``1 / n_features``.
    coef0 : float, default=0.0
        The constant of the polynomial and the sigmoid kernel.
    shrinking : bool, default=True
        Taken for the sake of scikit-learn: the engine decides.
    probability : bool or None, default=None
        Whether there is `predict_proba`. With True it is ready after `fit`. A model that was fitted with None gets it without another fit
        by ``set_params(probability=True)``, for which it holds on to its training data; one fitted with False does not.
    tol : float, default=1e-3
        The largest violation of the optimality conditions. Small problems are solved to the last digits whatever it is.
    cache_size : float or None, default=None
        The memory for kernel values in MB; None is half of what is free.
    class_weight : dict, 'balanced' or None, default=None
        What a row of each class counts.
    verbose : bool, default=False
        The same as `progress`.
    max_iter : int, default=-1
        The most steps of the solver; -1 for no limit.
    decision_function_shape : {'ovr', 'ovo'}, default='ovr'
        Whether `decision_function` has a column for each class or for each pair of classes.
    break_ties : bool, default=False
        Whether classes with as many votes are ordered by their decision values.
    random_state : int, RandomState instance or None, default=None
        Where the drawing of landmarks starts; nothing else is drawn.
    n_jobs : int or None, default=None
        Threads for `fit` and predictions: None is every core, but one within joblib's workers. The same bits come out for any number.
    max_time : float or None, default=None
        Seconds after which a fit stops with what it has, and a warning.
    warm_start : bool, default=False
        Whether a fit on the same data begins at the model that is there.
    progress : bool, default=False
        Whether a line says how far the fit is.
    checkpoint : path or None, default=None
        A file that keeps where the fit is. When it was interrupted, the same call goes on from there, to the same bits; it is removed at
        the end.
    solver : str or None, default=None
        The engine's algorithm, by the name that `solver_` and ``maxmargin train --solver`` have: ``'block-smo'``, ``'smo'``,
        ``'interior-point'``, .. and with ``kernel='linear'`` others; None chooses by the problem. One that cannot solve it is refused.
    landmarks : int or None, default=None
        The machine is the best sum over so many rows, drawn at random (`random_state`): for rows by the hundred thousand. `certificate_` is that
        of the problem on these landmarks, and `support_` lists them. None trains exactly.
    prove : bool or float, default=False
        With landmarks: True proves how far the machine is from the exact one, see `proved_gap_`. A number doubles the landmarks until the
        proved relative gap is at most that.

    Attributes
    ----------
    certificate_ : Certificate
        Primal, dual, gap and largest violation: how good the answer is.
    stop_reason_ : str
        ``'converged'``, ``'iteration-limit'``, ``'time-limit'`` or ``'stalled'``.
    proved_gap_ : float or None
        With landmarks and `prove`: the objective is at most this part of itself above that of the exact machine.
    history_ : structured array
        Seconds, machine, iteration, violation and gap while the solver ran.
    solver_, notes_ : str, list of str
        The algorithm, and what it had to say.
    classes_, support_, support_vectors_, n_support_, dual_coef_, coef_, intercept_, n_iter_, fit_status_, shape_fit_, class_weight_,
    n_features_in_, feature_names_in_
        As in scikit-learn.

    Examples
    --------
    >>> import numpy as np
    >>> from maxmargin import SVC
    >>> X = np.array([[-1.0, -1], [-2, -1], [1, 1], [2, 1]])
    >>> y = np.array(["left", "left", "right", "right"])
    >>> model = SVC(gamma="auto").fit(X, y)
    >>> model.predict([[-0.8, -1]])
    array(['left'], dtype='<U5')
    >>> model.certificate_.relative_gap < 1e-9
    True
    """

    def __init__(
        self,
        *,
        C=1.0,
        kernel="rbf",
        degree=3,
        gamma="scale",
        coef0=0.0,
        shrinking=True,
        probability=None,
        tol=1e-3,
        cache_size=None,
        class_weight=None,
        verbose=False,
        max_iter=-1,
        decision_function_shape="ovr",
        break_ties=False,
        random_state=None,
        n_jobs=None,
        max_time=None,
        warm_start=False,
        progress=False,
        checkpoint=None,
        solver=None,
        landmarks=None,
        prove=False,
    ):
        self._keep(locals())

    _rules = {**_SupportClassifier._rules, "C": (number(above=0, infinite=True),), **LANDMARK_RULES}
    _penalty = ("c", "C")

    @with_callbacks
    def fit(self, X, y, sample_weight=None):
        """Trains on rows X with labels y.

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
        return self._fit_classes(X, y, sample_weight)

    def _engine_penalty(self, classes: np.ndarray, codes: np.ndarray, weights: np.ndarray | None) -> dict[str, Any]:
        return dict(penalty="c", penalty_number=_finite(self.C), **_on_landmarks(self))


class NuSVC(_SupportClassifier):
    """Support vector classification with ν in the place of C.

    ν is the share of rows that are support vectors at least, and that lie on the wrong side of the margin at most. Classes of unequal size
    do not allow every ν; before the work starts, a warning says so, and names the largest that they do, which is used. Weights of classes
    multiply the C that ν comes to.

    Parameters
    ----------
    nu : float, default=0.5
        Above 0, at most 1.
    kernel, degree, gamma, coef0, shrinking, probability, tol, cache_size, class_weight, verbose, max_iter, decision_function_shape, \
break_ties, random_state, n_jobs, max_time, warm_start, progress, checkpoint, solver
        As in `SVC`.

    Attributes
    ----------
    certificate_, stop_reason_, history_, classes_, support_, support_vectors_, n_support_, dual_coef_, coef_, intercept_, n_iter_
        As in `SVC`.

    Examples
    --------
    >>> import numpy as np
    >>> from maxmargin import NuSVC
    >>> X = np.array([[-1.0, -1], [-2, -1], [1, 1], [2, 1]])
    >>> NuSVC().fit(X, [1, 1, 2, 2]).predict([[-0.8, -1]])
    array([1])
    """

    def __init__(
        self,
        *,
        nu=0.5,
        kernel="rbf",
        degree=3,
        gamma="scale",
        coef0=0.0,
        shrinking=True,
        probability=None,
        tol=1e-3,
        cache_size=None,
        class_weight=None,
        verbose=False,
        max_iter=-1,
        decision_function_shape="ovr",
        break_ties=False,
        random_state=None,
        n_jobs=None,
        max_time=None,
        warm_start=False,
        progress=False,
        checkpoint=None,
        solver=None,
    ):
        self._keep(locals())

    _rules = {**_SupportClassifier._rules, "nu": (number(above=0, most=1),)}
    _one_class_left = "specified nu is infeasible: all samples with positive weights belong to the same class"
    _penalty = ("nu", "nu")

    @with_callbacks
    def fit(self, X, y, sample_weight=None):
        """Trains on rows X with labels y; see `SVC.fit`."""
        return self._fit_classes(X, y, sample_weight)

    def _engine_penalty(self, classes: np.ndarray, codes: np.ndarray, weights: np.ndarray | None) -> dict[str, Any]:
        """ν, or the largest that every pair of classes allows: ν ≤ 2 min(W₁, W₂)/(W₁ + W₂), W what the rows of a class count."""
        mass = np.bincount(codes, weights=weights, minlength=len(classes))
        order = np.argsort(mass)
        least, most = order[0], order[-1]
        allowed = 2.0 * mass[least] / (mass[least] + mass[most])
        if self.nu <= allowed:
            return dict(penalty="nu", penalty_number=self.nu)
        labels = classes[[least, most]].tolist()
        warn(
            f"specified nu is infeasible: nu={self.nu!r}, but classes {labels[0]!r} and {labels[1]!r}, with rows of "
            f"{mass[least]:g} and {mass[most]:g}, allow {allowed:g} at most, which is used. Choose a smaller nu, give the rows "
            "weights that make the classes alike, or use SVC."
        )
        return dict(penalty="nu", penalty_number=allowed)


class _OneMachine(_Support):
    """One decision function: a regression, or what is usual."""

    # In the engine's words.
    _task: str

    @classmethod
    def _reads(cls, parts: dict[str, Any]) -> bool:
        return hasattr(cls, "_task") and task_of(parts)[0] == cls._task and (parts["loss"], parts["bias"]) == ("hinge", "explicit")

    @classmethod
    def _restored(cls, fit: Any):
        model = cls(**cls._kernel_parameters(fit.parts), **cls._task_parameters(fit.parts), **_landmarks_of(fit.parts, fit))
        model._restore_support(fit)
        model.n_iter_ = int(fit.parts["machines"][0]["iterations"])
        return model

    @classmethod
    def _task_parameters(cls, parts: dict[str, Any]) -> dict[str, Any]:
        """The numbers of a task in a file."""
        return {"nu": task_of(parts)[1]}

    def _fit_one(self, X: Any, y: Any, sample_weight: Any, **asked: Any):
        check_parameters(self, self._rules)
        rows = self._read_training(X)
        one_class = self._estimator_type == "outlier_detector"
        targets = None if one_class else read_targets(y, len(rows), type(self).__name__)
        weights = read_weights(sample_weight, len(rows), negative=True)
        known = answers(targets=targets, weights=weights, names=getattr(self, "feature_names_in_", None))
        self._train(rows, known, self._asked(**asked))
        self._keep_machine(rows)
        return self

    def _keep_machine(self, rows: Rows) -> None:
        """Sets what is known of the machine once there is a model."""
        self._keep_support(rows)
        self.n_iter_ = int(self._fit.model.iterations()[0])

    @property
    def n_support_(self) -> np.ndarray:
        """How many support vectors there are."""
        if not hasattr(self, "_fit"):
            raise AttributeError("n_support_ is there once the model is fitted")
        return np.array([len(self.support_)], dtype=np.int32)

    @property
    def dual_coef_(self) -> Any:
        """The coefficients of the support vectors."""
        if not hasattr(self, "_fit"):
            raise AttributeError("dual_coef_ is there once the model is fitted")
        table = np.zeros((1, len(self.support_)))
        places, coefficients = self._fit.model.expansion(0)
        table[0, places] = coefficients
        return self._sparse_like_training(table)

    def _values(self, X: Any) -> np.ndarray:
        if not hasattr(self, "_fit"):
            raise not_fitted(self)
        return self._fit.model.values(self._read(X), self._threads())[:, 0]


class _SupportRegressor(Regressor, _OneMachine):
    """Numbers."""

    @classmethod
    def _task_parameters(cls, parts: dict[str, Any]) -> dict[str, Any]:
        # ν itself is not in a file: the ε that it came to is.
        return {"C": penalty_of(parts)[1], **({"epsilon": task_of(parts)[1]} if cls._task == "regression" else {})}

    def predict(self, X):
        """The number of each row.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)

        Returns
        -------
        ndarray of shape (n_samples,)
        """
        return self._values(X)


class SVR(_SupportRegressor):
    """Support vector regression: differences up to ε cost nothing, larger ones C for each unit beyond.

    Parameters
    ----------
    kernel, degree, gamma, coef0
        As in `SVC`.
    tol : float, default=1e-3
        The largest violation of the optimality conditions.
    C : float, default=1.0
        The penalty on differences beyond ε.
    epsilon : float, default=0.1
        ε
    shrinking, cache_size, verbose, max_iter, n_jobs, max_time, warm_start, progress, checkpoint, solver, landmarks, prove
        As in `SVC`.

    Attributes
    ----------
    certificate_, stop_reason_, history_, support_, support_vectors_, n_support_, dual_coef_, coef_, intercept_, n_iter_
        As in `SVC`.

    Examples
    --------
    >>> import numpy as np
    >>> from maxmargin import SVR
    >>> x = np.linspace(0, 3, 40)[:, None]
    >>> model = SVR(C=10, epsilon=0.01).fit(x, np.sin(x.ravel()))
    >>> float(abs(model.predict([[1.5]]) - np.sin(1.5)).max()) < 0.02
    True
    """

    def __init__(
        self,
        *,
        kernel="rbf",
        degree=3,
        gamma="scale",
        coef0=0.0,
        tol=1e-3,
        C=1.0,
        epsilon=0.1,
        shrinking=True,
        cache_size=None,
        verbose=False,
        max_iter=-1,
        n_jobs=None,
        max_time=None,
        warm_start=False,
        progress=False,
        checkpoint=None,
        solver=None,
        landmarks=None,
        prove=False,
    ):
        self._keep(locals())

    _rules = {**_OneMachine._rules, "C": (number(above=0, infinite=True),), "epsilon": (number(least=0),), **LANDMARK_RULES}
    _task = "regression"

    @with_callbacks
    def fit(self, X, y, sample_weight=None):
        """Trains on rows X with numbers y; see `SVC.fit`."""
        require_y(y, type(self).__name__)
        return self._fit_one(X, y, sample_weight, **self._words())

    def _words(self) -> dict[str, Any]:
        """What tells this regression from others, in the engine's words."""
        problem = dict(task="regression", task_number=self.epsilon, penalty_number=_finite(self.C))
        return problem | _on_landmarks(self)


class NuSVR(_SupportRegressor):
    """Support vector regression with ν in the place of ε: the share of rows that may lie outside of the tube.

    Parameters
    ----------
    nu : float, default=0.5
        Above 0, at most 1.
    C : float, default=1.0
        The penalty on differences beyond ε.
    kernel, degree, gamma, coef0, shrinking, tol, cache_size, verbose, max_iter, n_jobs, max_time, warm_start, progress, checkpoint, solver
        As in `SVC`.

    Attributes
    ----------
    epsilon_ : float
        The ε that ν came to.
    certificate_, stop_reason_, history_, support_, support_vectors_, n_support_, dual_coef_, coef_, intercept_, n_iter_
        As in `SVC`.

    Examples
    --------
    >>> import numpy as np
    >>> from maxmargin import NuSVR
    >>> x = np.linspace(0, 3, 40)[:, None]
    >>> NuSVR(C=10).fit(x, np.sin(x.ravel())).score(x, np.sin(x.ravel())) > 0.99
    True
    """

    def __init__(
        self,
        *,
        nu=0.5,
        C=1.0,
        kernel="rbf",
        degree=3,
        gamma="scale",
        coef0=0.0,
        shrinking=True,
        tol=1e-3,
        cache_size=None,
        verbose=False,
        max_iter=-1,
        n_jobs=None,
        max_time=None,
        warm_start=False,
        progress=False,
        checkpoint=None,
        solver=None,
    ):
        self._keep(locals())

    _rules = {**_OneMachine._rules, "C": (number(above=0, infinite=True),), "nu": (number(above=0, most=1),)}
    _task = "nu-regression"

    @classmethod
    def _restored(cls, fit: Any):
        model = super()._restored(fit)
        model.epsilon_ = float(fit.parts["machines"][0]["epsilon"])
        return model

    @with_callbacks
    def fit(self, X, y, sample_weight=None):
        """Trains on rows X with numbers y; see `SVC.fit`."""
        require_y(y, type(self).__name__)
        self._fit_one(X, y, sample_weight, task="nu-regression", task_number=self.nu, penalty_number=_finite(self.C))
        self.epsilon_ = float(self._fit.parts["machines"][0].get("epsilon") or 0.0)
        return self


# Decision values of one class up to this part of the threshold are rounding.
_ROUNDING = 1e-10


class _OneClass(OutlierDetector, _OneMachine):
    """What is usual, and what is not."""

    _rules = {**_OneMachine._rules, "nu": (number(above=0, most=1),)}

    @classmethod
    def _restored(cls, fit: Any):
        model = super()._restored(fit)
        model.offset_ = -model.intercept_
        return model

    def __init__(
        self,
        *,
        kernel="rbf",
        degree=3,
        gamma="scale",
        coef0=0.0,
        tol=1e-3,
        nu=0.5,
        shrinking=True,
        cache_size=None,
        verbose=False,
        max_iter=-1,
        n_jobs=None,
        max_time=None,
        warm_start=False,
        progress=False,
        checkpoint=None,
        solver=None,
    ):
        self._keep(locals())

    @with_callbacks
    def fit(self, X, y=None, sample_weight=None):
        """Learns what is usual from rows X; y is not looked at. See `SVC.fit` for the weights."""
        self._fit_one(X, None, sample_weight, task=self._task, task_number=self.nu)
        self.offset_ = -self.intercept_
        return self

    def decision_function(self, X):
        """How far rows lie within (positive) or outside of (negative) what is usual.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)

        Returns
        -------
        ndarray of shape (n_samples,)
        """
        values = self._values(X)
        # Support vectors on the boundary have the value 0 but for rounding, whose sign says nothing.
        values[np.abs(values) <= _ROUNDING * max(1.0, abs(float(self.offset_[0])))] = 0.0
        return values

    def score_samples(self, X):
        """The decision values before the threshold is taken off."""
        return self.decision_function(X) + self.offset_

    def predict(self, X):
        """1 for rows that are usual, -1 for others."""
        return np.where(self.decision_function(X) >= 0, 1, -1)


class OneClassSVM(_OneClass):
    """Is a row like the others? The half space that holds all but a share ν of the rows, as far from the origin as can be.

    Parameters
    ----------
    kernel, degree, gamma, coef0, tol
        As in `SVC`.
    nu : float, default=0.5
        The share of rows that may lie outside at most, and that are support vectors at least.
    shrinking, cache_size, verbose, max_iter, n_jobs, max_time, warm_start, progress, checkpoint, solver
        As in `SVC`.

    Attributes
    ----------
    offset_ : float
        ``decision_function = score_samples - offset_``.
    certificate_, stop_reason_, history_, support_, support_vectors_, n_support_, dual_coef_, coef_, intercept_, n_iter_
        As in `SVC`.

    Examples
    --------
    >>> from maxmargin import OneClassSVM
    >>> OneClassSVM(gamma="auto").fit([[0.0], [0.44], [0.45], [0.46], [1.0]]).predict([[0.45], [9.0]])
    array([ 1, -1])
    """

    _task = "one-class"


class SVDD(_OneClass):
    """Does a row lie in the smallest ball around the others? Support vector data description.

    ``min R² + 1/(νn) Σ ξ_i``, ``‖φ(x_i) − a‖² ≤ R² + ξ_i``. With a kernel whose ``k(x, x)`` is the same for all rows, such as the Gaussian
    one, it decides as `OneClassSVM` does.

    Parameters
    ----------
    kernel, degree, gamma, coef0, tol, nu, shrinking, cache_size, verbose, max_iter, n_jobs, max_time, warm_start, progress, checkpoint, solver
        As in `OneClassSVM`.

    Attributes
    ----------
    offset_, certificate_, stop_reason_, history_, support_, support_vectors_, n_support_, dual_coef_, intercept_, n_iter_
        As in `OneClassSVM`.

    Examples
    --------
    >>> from maxmargin import SVDD
    >>> SVDD(kernel="linear", nu=0.2).fit([[0.0], [0.44], [0.45], [0.46], [1.0]]).predict([[0.5], [9.0]])
    array([ 1, -1])
    """

    _task = "svdd"
