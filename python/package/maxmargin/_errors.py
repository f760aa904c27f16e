"""Errors and warnings: scikit-learn's own classes where it is loaded, so that its users' handlers catch them."""

from __future__ import annotations

import sys

from ._engine import InputError, InternalError

__all__ = ["ConvergenceWarning", "DataConversionWarning", "InputError", "InternalError", "NotFittedError", "known_to_sklearn"]


class ConvergenceWarning(UserWarning):
    """A solver stopped before it reached the tolerance."""


class DataConversionWarning(UserWarning):
    """Data was taken in another shape than it was given in."""


class NotFittedError(ValueError, AttributeError):
    """A model was asked for before there was one."""


def known_to_sklearn(own: type) -> type:
    """The class of the same name that scikit-learn has, where scikit-learn is loaded; else our own."""
    if sys.modules.get("sklearn") is None:
        return own
    import sklearn.exceptions

    return getattr(sklearn.exceptions, own.__name__, own)


def not_fitted(estimator: object) -> Exception:
    """The error of a model that has not been trained."""
    name = type(estimator).__name__
    return known_to_sklearn(NotFittedError)(
        f"This {name} instance is not fitted yet. Call 'fit' with appropriate arguments before using this estimator."
    )
