"""The estimator contract of scikit-learn, kept without importing scikit-learn: it is asked only when it is there."""

from __future__ import annotations

import copy
import inspect
from collections.abc import Callable
from types import MethodType
from typing import Any

import numpy as np

from ._errors import InputError, not_fitted

_UNCHANGED = "$UNCHANGED$"


class available_when:
    """A method that is there only while a condition on its object holds; else `hasattr` says that it is not."""

    def __init__(self, condition: Callable[[Any], bool], otherwise: str) -> None:
        self.condition = condition
        self.otherwise = otherwise

    def __call__(self, function: Callable[..., Any]) -> available_when:
        self.function = function
        self.__doc__ = function.__doc__
        self.__name__ = function.__name__
        return self

    def __get__(self, instance: Any, owner: type) -> Any:
        if instance is None:
            return self.function
        if not self.condition(instance):
            raise AttributeError(
                f"This {owner.__name__!r} has no attribute {self.__name__!r}, which is not available when {self.otherwise}"
            )
        return MethodType(self.function, instance)


class Estimator:
    """Parameters by name, a readable form, tags, and requests for metadata."""

    # Keyword arguments that methods take beside X and y, for metadata routing.
    _metadata: dict[str, tuple[str, ...]] = {}
    _estimator_type: str | None = None

    @classmethod
    def _parameter_names(cls) -> list[str]:
        if cls.__init__ is object.__init__:
            return []
        parameters = inspect.signature(cls.__init__).parameters.values()
        return sorted(p.name for p in parameters if p.name != "self" and p.kind is not p.VAR_KEYWORD)

    def _keep(self, given: dict[str, Any]) -> None:
        """Keeps the parameters of a constructor as they were given, from its `locals()`: they are looked at when the estimator is fitted."""
        for name, value in given.items():
            if name not in ("self", "__class__"):
                setattr(self, name, value)

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """The parameters by name."""
        return {name: getattr(self, name) for name in self._parameter_names()}

    def set_params(self, **params: Any):
        """Sets parameters by name; they are checked when the estimator is fitted."""
        known = self._parameter_names()
        for name, value in params.items():
            if name not in known:
                raise ValueError(f"Invalid parameter {name!r} for estimator {self!r}. Valid parameters are: {known!r}.")
            setattr(self, name, value)
        return self

    def __repr__(self, N_CHAR_MAX: int = 700) -> str:
        defaults = inspect.signature(type(self).__init__).parameters
        changed = [f"{name}={value!r}" for name, value in self.get_params().items() if not _same(value, defaults[name].default)]
        text = f"{type(self).__name__}({', '.join(changed)})"
        return text if len(text) <= N_CHAR_MAX else text[:N_CHAR_MAX] + "..."

    def __getstate__(self) -> dict[str, Any]:
        from . import __version__

        return {**self.__dict__, "_maxmargin_version": __version__}

    def __setstate__(self, state: dict[str, Any]) -> None:
        state = dict(state)
        state.pop("_maxmargin_version", None)
        self.__dict__.update(state)

    def _check_is_fitted(self) -> None:
        if not hasattr(self, "n_features_in_"):
            raise not_fitted(self)

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "n_features_in_")

    def __sklearn_tags__(self):
        """What scikit-learn wants to know of an estimator."""
        from sklearn.utils import ClassifierTags, InputTags, RegressorTags, Tags, TargetTags, TransformerTags

        kind = self._estimator_type
        supervised = kind in ("classifier", "regressor")
        tags = Tags(
            estimator_type=kind,
            target_tags=TargetTags(required=supervised),
            classifier_tags=ClassifierTags() if kind == "classifier" else None,
            regressor_tags=RegressorTags() if kind == "regressor" else None,
            transformer_tags=TransformerTags() if hasattr(self, "transform") else None,
            input_tags=InputTags(sparse=True),
        )
        return tags

    # Metadata routing: https://scikit-learn.org/stable/metadata_routing.html

    def get_metadata_routing(self):
        """Which keyword arguments each method asks for."""
        from sklearn.utils._metadata_requests import MetadataRequest

        # scikit-learn's clone copies what is kept under this name.
        if hasattr(self, "_metadata_request"):
            return copy.deepcopy(self._metadata_request)
        request = MetadataRequest(owner=self)
        for method, names in self._metadata.items():
            for name in names:
                getattr(request, method).add_request(param=name, alias=None)
        return request

    def _request(self, method: str, given: dict[str, Any]):
        request = self.get_metadata_routing()
        for name, value in given.items():
            if value != _UNCHANGED:
                getattr(request, method).add_request(param=name, alias=value)
        self._metadata_request = request
        return self

    def set_fit_request(self, *, sample_weight: bool | str | None = _UNCHANGED):
        """Asks for keyword arguments of `fit` to be passed on by scikit-learn's meta-estimators."""
        return self._request("fit", {"sample_weight": sample_weight})

    def set_score_request(self, *, sample_weight: bool | str | None = _UNCHANGED):
        """Asks for keyword arguments of `score` to be passed on by scikit-learn's meta-estimators."""
        return self._request("score", {"sample_weight": sample_weight})


class Classifier(Estimator):
    """An estimator that predicts classes."""

    _estimator_type = "classifier"
    _metadata = {"fit": ("sample_weight",), "score": ("sample_weight",)}

    def score(self, X, y, sample_weight=None) -> float:
        """The share of rows whose class is predicted rightly."""
        predicted, y, weights = _alike(self.predict(X), np.asarray(y), sample_weight)
        return float(np.average(predicted == y, weights=weights))


class Regressor(Estimator):
    """An estimator that predicts numbers."""

    _estimator_type = "regressor"
    _metadata = {"fit": ("sample_weight",), "score": ("sample_weight",)}

    def score(self, X, y, sample_weight=None) -> float:
        """The coefficient of determination, 1 − Σ(y − f)²/Σ(y − ȳ)²; 1 for a constant y that is met, 0 for one that is not."""
        predicted, y, weight = _alike(self.predict(X), np.asarray(y, dtype=np.float64), sample_weight)
        weight = np.ones_like(y) if weight is None else weight
        residual = float(np.sum(weight * (y - predicted) ** 2))
        total = float(np.sum(weight * (y - np.average(y, weights=weight)) ** 2))
        if total == 0.0:
            return 1.0 if residual == 0.0 else 0.0
        return 1.0 - residual / total


class OutlierDetector(Estimator):
    """An estimator that predicts whether a row is usual (1) or not (−1)."""

    _estimator_type = "outlier_detector"
    _metadata = {"fit": ("sample_weight",)}

    def fit_predict(self, X, y=None, **kwargs):
        """Fits, and says of the same rows whether they are usual."""
        return self.fit(X, **kwargs).predict(X)


def _alike(predicted: Any, y: np.ndarray, sample_weight: Any) -> tuple[np.ndarray, np.ndarray, np.ndarray | None]:
    """Predictions, answers and weights, of which there must be as many."""
    from ._input import read_weights

    y = y.ravel()
    if len(y) != len(predicted):
        raise InputError(f"Found input variables with inconsistent numbers of samples: [{len(predicted)}, {len(y)}]")
    return np.asarray(predicted), y, read_weights(sample_weight, len(y))


def _same(value: Any, default: Any) -> bool:
    """Whether a parameter has its default."""
    if value is default:
        return True
    try:
        return type(value) is type(default) and bool(value == default)
    except (TypeError, ValueError):
        return False
