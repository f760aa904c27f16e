"""Errors and warnings: scikit-learn's own classes where it is loaded, so that its users' handlers catch them."""

from __future__ import annotations

import os
import sys
import warnings

from ._engine import InputError, InternalError

__all__ = [
    "ConvergenceWarning",
    "DataConversionWarning",
    "InputError",
    "InternalError",
    "NotFittedError",
    "known_to_sklearn",
    "not_fitted",
    "warn",
]


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


def warn(message: str, category: type[Warning] = UserWarning) -> None:
    """Warns at the line that called into the package, wherever in it the warning comes up."""
    here = os.path.dirname(__file__)
    frame, level = sys._getframe(1), 2
    while frame.f_back is not None and frame.f_code.co_filename.startswith(here):
        frame, level = frame.f_back, level + 1
    warnings.warn(message, category, stacklevel=level)


def not_fitted(estimator: object) -> Exception:
    """The error of a model that has not been trained."""
    name = type(estimator).__name__
    return known_to_sklearn(NotFittedError)(
        f"This {name} instance is not fitted yet. Call 'fit' with appropriate arguments before using this estimator."
    )
