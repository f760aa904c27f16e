"""What transformers return: arrays, or frames of pandas or polars, as scikit-learn's `set_output` has it."""

from __future__ import annotations

import sys
from typing import Any

import numpy as np

from ._errors import InputError

_CONTAINERS = ("default", "pandas", "polars")


class FrameOutput:
    """A transformer that names its columns after, and returns them in the container that was asked for."""

    def set_output(self, *, transform: str | None = None):
        """Chooses what `transform` and `fit_transform` return.

        Parameters
        ----------
        transform : {'default', 'pandas', 'polars'} or None, default=None
            Arrays, or frames of one of the two libraries; None leaves it as it is. Where it was never chosen, scikit-learn's own
            setting ``set_config(transform_output=...)`` is followed, if scikit-learn is loaded.

        Returns
        -------
        self
        """
        if transform is None:
            return self
        _check_container(transform)
        # scikit-learn's clone takes this attribute along.
        self._sklearn_output_config = {**getattr(self, "_sklearn_output_config", {}), "transform": transform}
        return self

    def _contained(self, lifted: np.ndarray, X: Any) -> Any:
        """Lifted rows in the container that was asked for."""
        chosen = getattr(self, "_sklearn_output_config", {}).get("transform")
        if chosen is None:
            chosen = sys.modules["sklearn"].get_config()["transform_output"] if "sklearn" in sys.modules else "default"
        _check_container(chosen)
        if chosen == "default":
            return lifted
        names = self.get_feature_names_out()
        try:
            if chosen == "pandas":
                import pandas

                index = X.index if isinstance(X, (pandas.DataFrame, pandas.Series)) else None
                return pandas.DataFrame(lifted, index=index, columns=names, copy=False)
            import polars

            return polars.DataFrame(lifted, schema=names.tolist(), orient="row")
        except ModuleNotFoundError as error:
            raise ImportError(
                f"set_output(transform={chosen!r}) needs {chosen}, which is not installed: install it, or choose 'default'"
            ) from error


def _check_container(name: Any) -> None:
    if name not in _CONTAINERS:
        raise InputError(f"output config must be in {sorted(_CONTAINERS)}, got {name!r}")
