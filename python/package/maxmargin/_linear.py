"""What linear models have in common: they are their weights, and what `coef_` and `intercept_` say is what is predicted."""

from __future__ import annotations

import json
import os
from dataclasses import replace
from typing import Any

import numpy as np

from ._engine import Data
from ._errors import InputError, not_fitted
from ._estimator import Classifier
from ._fitting import ENGINE_RULES, EngineEstimator, Fit, answers
from ._input import Rows, is_sparse, read_class_weights, read_classes, read_rows, read_weights, to_engine, words_of
from ._loading import labels_of, penalty_of, task_of
from ._parameters import Rule, boolean, check_parameters, instance, integer, number, one_of

LINEAR_RULES: dict[str, tuple[Rule, ...]] = {
    "tol": (number(above=0),),
    "max_iter": (integer(least=1),),
    "fit_intercept": (boolean(),),
    "verbose": (boolean(),),
    "warm_start": (boolean(),),
    **ENGINE_RULES,
}
"""The rules of the parameters that linear models share."""

CLASS_WEIGHT_RULE: tuple[Rule, ...] = (one_of("balanced", None), instance(dict, "a dict"))
INTERCEPT_SCALING_RULE: tuple[Rule, ...] = (number(above=0), one_of(None))

# Rows of single precision that are brought to double precision at a time.
_ROWS_A_BLOCK = 4096
# The finest relative gap that can be asked for.
_FINEST_GAP = 1e-15


def products(array: Any, coef: Any, intercept: Any) -> np.ndarray:
    """The decision values of rows: one column a line of coef. In double precision, whatever the rows are in."""
    weights = coef.T
    if is_sparse(array) or is_sparse(weights) or array.dtype == np.float64:
        values = array @ weights
        values = values.toarray() if is_sparse(values) else np.asarray(values)
    else:
        values = np.empty((array.shape[0], weights.shape[1]))
        for start in range(0, array.shape[0], _ROWS_A_BLOCK):
            block = array[start : start + _ROWS_A_BLOCK].astype(np.float64)
            np.matmul(block, weights, out=values[start : start + len(block)])
    values += intercept
    return values


def appended(array: Any, value: float) -> Any:
    """An array with one column more, which is the same number throughout."""
    column = np.full((array.shape[0], 1), value, dtype=array.dtype)
    if is_sparse(array):
        from scipy.sparse import csr_matrix, hstack

        return hstack([array, csr_matrix(column)], format="csr")
    return np.hstack([array, column])


def with_column(rows: Rows, value: float, threads: int) -> Rows:
    """Rows with one column more, which is the same number throughout."""
    array = appended(rows.array, value)
    return Rows(to_engine(array, threads), array, None)


class LinearModel(EngineEstimator):
    """A model ``f(x) = ⟨w, x⟩ + b`` for each of its machines."""

    coef_: Any
    intercept_: Any

    def _check_is_fitted(self) -> None:
        if not hasattr(self, "coef_"):
            raise not_fitted(self)

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "coef_")

    def _gap(self) -> float:
        return max(float(self.tol), _FINEST_GAP)

    def _iteration_warning(self) -> str:
        # scikit-learn's words, which its users' filters know.
        return f"Liblinear failed to converge, increase the number of iterations. (The limit is max_iter={self.max_iter}.)"

    def _bias(self, scaling: float | None) -> tuple[str, float | None]:
        """The engine's word for the intercept, and the number in an extra column where the intercept is the weight of one.

        ``scaling``: the intercept is the weight of a column of this number, and penalised like any other weight; None: it is not
        penalised.
        """
        if not self.fit_intercept:
            return "none", None
        if scaling is None:
            return "explicit", None
        return ("folded", None) if scaling == 1 else ("none", float(scaling))

    def _train_linear(self, rows: Rows, known: dict[str, Any], asked: dict[str, Any], column: float | None) -> None:
        """Trains, and sets the weights; ``column`` is the number in the column of the intercept, where it has one."""
        if column is not None:
            rows = replace(with_column(rows, column, self._threads()), single=rows.single)
            known = {**known, "names": None}
        self._column = column
        try:
            self._train(rows, known, asked)
        except InputError as error:
            if not (self.warm_start and "the model to start from" in str(error)):
                raise
            # A start is there to save time: a model of other data has none to give.
            del self._fit
            self._train(rows, known, asked)
            self.notes_.append("the model that was there is of other data, so that the fit began from scratch")
        self._set_weights()
        self._in_precision_of(rows)

    def _weights_of_engine(self) -> tuple[np.ndarray, np.ndarray]:
        """The weights, a line a machine, and the intercepts."""
        model = self._fit.model
        lines = [model.weights(number_) for number_ in range(model.machines)]
        # One line is not copied: of hashed columns it may take a gigabyte.
        weights = lines[0][np.newaxis, :] if len(lines) == 1 else np.stack(lines)
        if self._column is not None:
            return np.ascontiguousarray(weights[:, :-1]), weights[:, -1] * self._column
        return weights, model.biases()

    def _products(self, X: Any) -> np.ndarray:
        self._check_is_fitted()
        if not hasattr(self, "n_features_in_"):
            # Weights that were set by hand say how many columns there are.
            self.n_features_in_ = self.coef_.shape[-1]
        rows = read_rows(self, X, self._threads(), reset=False)
        if self._is_of_engine():
            values = self._fit.model.values(rows.data, self._threads())
        else:
            values = products(rows.array, self.coef_ if is_sparse(self.coef_) else np.atleast_2d(self.coef_), self.intercept_)
        precision = np.result_type(np.float32 if rows.single else np.float64, self.coef_.dtype, np.asarray(self.intercept_).dtype)
        return values.astype(precision, copy=False)

    def _is_of_engine(self) -> bool:
        """Whether the weights are those of the engine's model, whose predictions are then theirs."""
        if not hasattr(self, "_fit") or getattr(self, "_column", None) is not None or is_sparse(self.coef_):
            return False
        coef = np.atleast_2d(np.asarray(self.coef_))
        return self._fit.model.has_weights(coef, np.ravel(self.intercept_).astype(coef.dtype))

    def _read(self, X: Any) -> Data:
        self._check_is_fitted()
        rows = read_rows(self, X, self._threads(), reset=False)
        return rows.data if self._column is None else with_column(rows, self._column, self._threads()).data

    def _reviewed(self):
        self._check_is_fitted()
        self._refuse_other_weights()
        return self._fit.model

    def _exported(self):
        self._check_is_fitted()
        if self._column is not None:
            raise InputError(
                f"a model whose intercept is the weight of a column of {self._column:g} has one column more than its rows, and no place "
                "in a file\nhelp: fit with intercept_scaling=1, or with intercept_scaling=None"
            )
        self._refuse_other_weights()
        return super()._exported()

    def _refuse_other_weights(self) -> None:
        """Refuses a model whose weights are no longer those that were trained."""
        coef, intercept = self._weights_of_engine()
        own = self.coef_.toarray() if is_sparse(self.coef_) else np.asarray(self.coef_)
        # The intercepts were rounded as the weights were.
        bias = np.ravel(self.intercept_).astype(own.dtype)
        if not (np.array_equal(own.reshape(coef.shape), coef.astype(own.dtype)) and np.array_equal(bias, intercept.astype(own.dtype))):
            raise InputError("coef_ or intercept_ was set after the fit, so that the model is no longer the one that was trained")

    @classmethod
    def _reads_linear(cls, parts: dict[str, Any], task: str) -> bool:
        """Whether a model is linear in its columns, found by a solver that minimises what C weighs."""
        own = parts["solver"] not in ("perceptron", "lda", "rvm", "mlp", "sgd")
        own = own and task_of(parts)[0] == task and parts["kernel"]["name"] == "linear" and penalty_of(parts)[0] in ("c", "none")
        return own and cls._predicts_by_weights(parts)

    @classmethod
    def _predicts_by_weights(cls, parts: dict[str, Any]) -> bool:
        """Whether predictions are made of weights alone: not where the engine scales the columns first."""
        return parts["scaling"] is None

    @classmethod
    def _restored(cls, fit: Fit):
        parts = fit.parts
        model = cls(**cls._parameters_in(parts), tol=parts["tolerance"], fit_intercept=parts["bias"] != "none")
        if parts["classes"]:
            model.classes_ = labels_of(parts["classes"])
            if parts.get("class_weights"):
                model.class_weight = dict(zip(model.classes_.tolist(), parts["class_weights"]))
        model._restore_weights(fit)
        return model

    def _restore_weights(self, fit: Fit) -> None:
        """What a fit sets beside the parameters and the classes, as far as a file tells."""
        self.n_features_in_ = fit.parts["columns"]
        if fit.parts["names"]:
            self.feature_names_in_ = np.array(fit.parts["names"], dtype=object)
        self._column = None
        self._set_fit(fit, [])
        self._set_weights()

    @classmethod
    def _parameters_in(cls, parts: dict[str, Any]) -> dict[str, Any]:
        """The parameters of a class that a file tells, but for those that all linear models have."""
        raise NotImplementedError

    def _set_weights(self) -> None:
        """Sets what is read off the engine's model."""
        self.coef_, self.intercept_ = self._weights_of_engine()

    # Whether weights of rows in single precision are kept in single precision, as scikit-learn keeps them.
    _keeps_single = False

    def _in_precision_of(self, rows: Rows) -> None:
        """Brings the weights to the precision that scikit-learn's have after a fit on such rows."""
        if self._keeps_single and rows.single:
            self.coef_, self.intercept_ = self.coef_.astype(np.float32), np.asarray(self.intercept_, dtype=np.float32)

    def to_liblinear(self, path: str | os.PathLike[str] | None = None) -> str:
        """The model in LIBLINEAR's text, and in a file where one is named."""
        text = self._exported().to_liblinear()
        if path is not None:
            with open(path, "w", encoding="ascii") as file:
                file.write(text)
        return text

    def verify(self, X: Any, y: Any = None, sample_weight: Any = None) -> bool:
        """Whether the certificate is true of the training data: computed anew, trusting nothing but the model's coefficients."""
        self._check_is_fitted()
        if self.certificate_ is None:
            raise InputError(f"{type(self).__name__} has no certificate here, and so nothing to verify: {'; '.join(self.notes_)}")
        if self._column is None:
            return super().verify(X, y, sample_weight)
        rows = read_rows(self, X, self._threads(), reset=False)
        known = {**self._answers_for(len(rows), y, sample_weight), "names": None}
        rows = with_column(rows, self._column, self._threads())
        found = json.loads(self._fit.model.verify(rows.data, known, self._threads()))
        return bool(found["same_data"]) and not found["disagreements"]


class LinearClassifier(Classifier, LinearModel):
    """Classes told apart by weights: one line of them for two classes, else one for each class."""

    classes_: np.ndarray

    def _read_classes(self, X: Any, y: Any, sample_weight: Any) -> tuple[Rows, np.ndarray, np.ndarray | None]:
        """The rows, their codes and their weights; sets `classes_`."""
        rows = read_rows(self, X, self._threads(), reset=True)
        self.classes_, codes = read_classes(y, len(rows), type(self).__name__)
        weights = read_weights(sample_weight, len(rows), negative=True)
        self._refuse_lost_classes(codes, weights)
        return rows, codes, weights

    def _weigh(self, codes: np.ndarray, weights: np.ndarray | None) -> tuple[np.ndarray | None, list[float] | None]:
        """The weights of rows and of classes as the engine takes them."""
        by_class = read_class_weights(self.class_weight, self.classes_, codes, weights)
        if np.all(by_class == 1.0):
            return weights, None
        if np.all(by_class > 0.0):
            return weights, by_class.tolist()
        # A class that does not count is one whose rows are left out.
        weights = (1.0 if weights is None else weights) * np.maximum(by_class, 0.0)[codes]
        self._refuse_lost_classes(codes, weights)
        return weights, None

    def _refuse_lost_classes(self, codes: np.ndarray, weights: np.ndarray | None) -> None:
        """Refuses weights that leave a class without rows."""
        if weights is None:
            return
        left = np.bincount(codes[weights > 0], minlength=len(self.classes_)) > 0
        if left.sum() < 2:
            raise InputError("Invalid input - all samples with positive weights belong to the same class")
        if not left.all():
            raise InputError(
                f"the label {self.classes_[~left].tolist()[0]!r} has no row of a weight above 0\nhelp: leave out the rows of that label"
            )

    def _answers_of_fit(self, codes: np.ndarray, weights: np.ndarray | None) -> dict[str, Any]:
        names = getattr(self, "feature_names_in_", None)
        return answers(words_of(self.classes_), codes, weights=weights, names=names)

    def _most_iterations(self) -> int:
        return int(self._fit.model.iterations().max())

    def decision_function(self, X):
        """How far rows lie on which side.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)

        Returns
        -------
        ndarray of shape (n_samples,) or (n_samples, n_classes)
            Two classes: one number a row, positive for the second class. Several classes: one number for each.
        """
        values = self._products(X)
        return values[:, 0] if values.shape[1] == 1 else values

    def predict(self, X):
        """The class of each row: the one with the largest decision value.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)

        Returns
        -------
        ndarray of shape (n_samples,)
        """
        values = self._products(X)
        places = (values[:, 0] > 0).astype(np.intp) if values.shape[1] == 1 else values.argmax(axis=1)
        return self.classes_[places]

    def densify(self):
        """Makes `coef_` a full array again, and returns the model."""
        self._check_is_fitted()
        if is_sparse(self.coef_):
            self.coef_ = self.coef_.toarray()
        return self

    def sparsify(self):
        """Makes `coef_` a sparse matrix, which is smaller where most weights are 0 (``penalty='l1'``), and returns the model."""
        self._check_is_fitted()
        if not is_sparse(self.coef_):
            from scipy.sparse import csr_matrix

            self.coef_ = csr_matrix(self.coef_)
        return self


def check(estimator: LinearModel) -> None:
    """Refuses parameters that are out of range."""
    check_parameters(estimator, estimator._rules)


def logistic_probabilities(values: np.ndarray) -> np.ndarray:
    """Of decision values of two classes the probabilities of both; of several, each against the rest, in proportion."""
    if values.shape[1] == 1:
        return np.hstack([_sigmoid(-values), _sigmoid(values)])
    # In logarithms, so that none is lost where all are small.
    return softmax(-np.logaddexp(0.0, -values))


def softmax(values: np.ndarray) -> np.ndarray:
    """exp f_k / Σ exp f_l"""
    powers = np.exp(values - values.max(axis=1, keepdims=True))
    return powers / powers.sum(axis=1, keepdims=True)


def _sigmoid(values: np.ndarray) -> np.ndarray:
    # exp of minus a large number is 0, and that of a large number is not computed.
    small = np.exp(-np.abs(values))
    return np.where(values >= 0, 1.0, small) / (1.0 + small)
