"""The callbacks of scikit-learn (from 1.9 on), without importing scikit-learn before somebody sets some."""

from __future__ import annotations

import functools
import importlib.util
from collections.abc import Callable
from typing import Any

from ._estimator import available_when

# What scikit-learn keeps on an estimator that has callbacks, or that is fitted within another one.
KEPT = ("_skl_callbacks", "_parent_callback_ctx")


@functools.cache
def _is_there() -> bool:
    """Whether the scikit-learn that is installed has callbacks."""
    return importlib.util.find_spec("sklearn") is not None and importlib.util.find_spec("sklearn.callback") is not None


class Called:
    """An estimator whose fits tell callbacks when they begin and when they end."""

    @available_when(lambda self: _is_there(), "scikit-learn has no callbacks (they are there from 1.9 on)")
    def set_callbacks(self, *callbacks: Any):
        """Sets the callbacks of scikit-learn that `fit` calls; none takes them away. A fit is one task: it begins, and it ends.

        Parameters
        ----------
        *callbacks : callback instances
            Such as ``sklearn.callback.ProgressBar()`` or ``sklearn.callback.ScoringMonitor(scoring="accuracy")``.

        Returns
        -------
        self
        """
        from sklearn.callback import CallbackSupportMixin

        return CallbackSupportMixin.set_callbacks(self, *callbacks)


def with_callbacks(fit: Callable[..., Any]) -> Callable[..., Any]:
    """A `fit` that tells the callbacks of its estimator, where it has some."""

    @functools.wraps(fit)
    def told(self: Any, X: Any, *args: Any, **kwargs: Any) -> Any:
        own = self.__dict__
        # A fit that calls the one of the class above is told once.
        if "_callback_fit_ctx" in own or not any(name in own for name in KEPT):
            return fit(self, X, *args, **kwargs)
        from sklearn.callback import CallbackSupportMixin, with_callbacks

        def managed(self: Any) -> Any:
            context = CallbackSupportMixin._init_callback_context(self)
            y = args[0] if args else kwargs.get("y")
            weights = args[1] if len(args) > 1 else kwargs.get("sample_weight")
            known = dict(estimator=self, X=X, y=y, metadata=None if weights is None else {"sample_weight": weights})
            context.call_on_fit_task_begin(**known)
            fit(self, X, *args, **kwargs)
            context.call_on_fit_task_end(**known, reconstruction_attributes={})
            return self

        return with_callbacks(managed)(self)

    return told
