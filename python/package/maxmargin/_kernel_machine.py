"""What the machines with kernels have in common: kernels by name, as tables or as functions, and their support vectors."""

from __future__ import annotations

import numbers
from typing import Any

import numpy as np

from ._errors import InputError, not_fitted
from ._fitting import ENGINE_RULES, EngineEstimator, free_memory
from ._input import Rows, is_sparse, read_rows
from ._parameters import Rule, boolean, callable_, instance, integer, number, one_of

KERNEL_RULES: dict[str, tuple[Rule, ...]] = {
    "kernel": (
        instance(
            str, "'linear', 'poly', 'rbf', 'sigmoid', 'laplacian', 'chi2', 'precomputed', a combination such as 'rbf(gamma=0.5) + linear'"
        ),
        callable_(),
    ),
    "degree": (integer(least=0),),
    "gamma": (one_of("scale", "auto"), number(above=0)),
    "coef0": (number(),),
    "tol": (number(above=0),),
    "cache_size": (number(above=0), one_of(None)),
    "max_iter": (integer(least=-1),),
    **ENGINE_RULES,
}

# scikit-learn's names of kernels, and the engine's.
_NAMES = {"linear": "linear", "poly": "polynomial", "rbf": "rbf", "sigmoid": "sigmoid", "laplacian": "laplacian", "chi2": "chi-square"}


_SKLEARN_NAMES = {engine: sklearn for sklearn, engine in _NAMES.items()}


def _kernel_name(kernel: dict[str, Any]) -> str:
    """A kernel of a model file as the parameter `kernel`: a name, or a combination with its numbers."""
    name = kernel["name"]
    return _SKLEARN_NAMES.get(name) or _kernel_words(kernel)


def _kernel_words(kernel: dict[str, Any]) -> str:
    """A kernel of a model file with its numbers, in the engine's words."""
    name = kernel["name"]
    if name == "sum":
        return "(" + " + ".join(_kernel_words(part) for part in kernel["parts"]) + ")"
    if name == "product":
        return " * ".join(_kernel_words(part) for part in kernel["parts"])
    if name == "scaled":
        return f"{kernel['factor']!r} * {_kernel_words(kernel['kernel'])}"
    numbers_ = ", ".join(f"{key}={value!r}" for key, value in kernel.items() if key != "name")
    return f"{name}({numbers_})" if numbers_ else name


# How far apart, beside the largest, two kernel values that should be one may be: the rounding of single precision.
_ROUNDING = 1e-5


def _rows_of(given: Any) -> int:
    return given.shape[0] if hasattr(given, "shape") else len(given)


def kernel_text(kernel: str, gamma: Any, coef0: float, degree: int) -> str:
    """A kernel in the engine's words; what is no single name is a combination in these words already."""
    name = _NAMES.get(kernel, kernel)
    if isinstance(gamma, numbers.Real):
        gamma = repr(float(gamma))
    if name == "polynomial":
        return f"polynomial(gamma={gamma}, coef0={float(coef0)!r}, degree={int(degree)})"
    if name == "sigmoid":
        return f"sigmoid(gamma={gamma}, coef0={float(coef0)!r})"
    if name in ("rbf", "laplacian", "chi-square"):
        return f"{name}(gamma={gamma})"
    return name


class KernelMachine(EngineEstimator):
    """A machine whose decision function is a sum of kernel values over support vectors."""

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = self.kernel != "precomputed"
        tags.input_tags.pairwise = self.kernel == "precomputed"
        return tags

    def _engine_kernel(self) -> str:
        if callable(self.kernel):
            return "precomputed"
        return kernel_text(self.kernel, self.gamma, self.coef0, self.degree)

    def _memory(self) -> int:
        return free_memory() if self.cache_size is None else min(max(int(self.cache_size * (1 << 20)), 64 << 20), 1 << 62)

    def _max_iterations(self) -> int | None:
        return None if self.max_iter == -1 else min(max(int(self.max_iter), 1), 1 << 62)

    def _read_training(self, X: Any) -> Rows:
        """The rows to train on: as they are, or their table of kernel values."""
        if not callable(self.kernel):
            if self.kernel == "precomputed" and is_sparse(X):
                raise TypeError("Sparse precomputed kernels are not supported: give the table of kernel values as a full array")
            rows = read_rows(self, X, self._threads(), reset=True)
            if self.kernel == "precomputed" and rows.array.shape[0] != rows.array.shape[1]:
                raise InputError(
                    f"Precomputed matrix must be a square matrix. Input is a {rows.array.shape[0]}x{rows.array.shape[1]} matrix."
                )
            self._trained_on = None
            return rows
        values = self._callable_values(X, X)
        if values.shape[0] != values.shape[1]:
            raise InputError(f"X.shape[0] should be equal to X.shape[1]: the kernel's values are a table of {values.shape}")
        apart = float(np.abs(values - values.T).max(initial=0.0))
        if apart > _ROUNDING * float(np.abs(values).max(initial=0.0)):
            raise InputError(f"the kernel is not symmetric: k(a, b) and k(b, a) differ by {apart:.2g}")
        values = (values + values.T) * 0.5
        rows = read_rows(self, values, self._threads(), reset=True)
        self._trained_on = X
        shape = np.shape(X)
        if len(shape) == 2:
            self.n_features_in_ = shape[1]
        else:
            del self.n_features_in_
        return rows

    def _callable_values(self, left: Any, right: Any) -> np.ndarray:
        values = self.kernel(left, right)
        values = values.toarray() if hasattr(values, "toarray") else np.asarray(values)
        if values.ndim != 2:
            raise InputError(f"the kernel's values must be a table of two dimensions, not of {values.ndim}")
        if values.dtype.kind not in "biuf":
            raise InputError(f"the kernel's values must be real numbers, but they are an array of {values.dtype}")
        if values.shape[0] != (rows := _rows_of(left)):
            raise InputError(f"the kernel's values for {rows} rows are a table of {values.shape}: one of its rows for each is expected")
        values = np.ascontiguousarray(values, dtype=np.float64)
        if not np.isfinite(values).all():
            row, column = np.argwhere(~np.isfinite(values))[0]
            raise InputError(f"the kernel's value for rows {row} and {column} is {values[row, column]}, not a finite number")
        return values

    def _read(self, X: Any):
        if not hasattr(self, "_fit"):
            raise not_fitted(self)
        if self._trained_on is None:
            return super()._read(X)
        from ._engine import Data

        values = self._callable_values(X, self._trained_on)
        if values.shape[1] != self.shape_fit_[0]:
            raise InputError(
                f"X.shape[1] = {values.shape[1]} should be equal to {self.shape_fit_[0]}, the number of samples at training time"
            )
        return Data.dense(values, self._threads())

    @classmethod
    def _kernel_parameters(cls, parts: dict[str, Any]) -> dict[str, Any]:
        """The parameters of a kernel in a file, and the tolerance."""
        kernel = parts["kernel"]
        found = {name: kernel[name] for name in ("gamma", "coef0", "degree") if name in kernel}
        return {"kernel": _kernel_name(kernel), "tol": parts["tolerance"], **found}

    def _restore_support(self, fit: Any, order: np.ndarray | None = None) -> None:
        """What `_train` and `_keep_support` set, as far as a file tells."""
        parts = fit.parts
        self._set_fit(fit, [])
        self.n_features_in_ = parts["columns"]
        if parts["names"]:
            self.feature_names_in_ = np.array(parts["names"], dtype=object)
        found = fit.model.support_rows.astype(np.int64)
        self._order = np.arange(len(found)) if order is None else order
        self.support_ = found[self._order].astype(np.int32)
        self.shape_fit_ = (parts["training_rows"], parts["columns"])
        self._sparse = isinstance(fit.model.vectors(), tuple)
        self.fit_status_ = int(fit.model.stop != "converged")
        self._trained_on = self._vectors_of_linear = None

    def _keep_support(self, rows: Rows, order: np.ndarray | None = None, found: np.ndarray | None = None) -> None:
        """Keeps which rows are support vectors, in the order that scikit-learn lists them in. `found` are their numbers, where known."""
        model = self._fit.model
        found = model.support_rows.astype(np.int64) if found is None else found
        self._order = np.arange(len(found)) if order is None else order
        self.support_ = found[self._order].astype(np.int32)
        self.shape_fit_ = tuple(rows.array.shape)
        self._sparse = rows.sparse
        self.fit_status_ = int(model.stop != "converged")
        # Reading the model's parts takes a while, so that is done only where the words leave it open.
        asked = self._fit.asked["kernel"]
        linear = asked == "linear" or "linear" in asked and self._fit.parts["kernel"]["name"] == "linear"
        # The engine keeps the weights of a linear model and needs no vectors.
        self._vectors_of_linear = rows.array[self.support_] if linear else None

    @property
    def support_vectors_(self) -> Any:
        """The support vectors, one a row; none where the kernel is a table or a function."""
        if not hasattr(self, "_fit"):
            raise AttributeError("support_vectors_ is there once the model is fitted")
        if self._vectors_of_linear is not None:
            return self._vectors_of_linear.astype(np.float64)
        found = self._fit.model.vectors()
        if found is None:
            if self._fit.parts["kernel"]["name"] == "linear":
                raise AttributeError("support_vectors_ of a linear model are not in its file, which keeps its weights: see coef_")
            return np.empty((0, 0))
        if isinstance(found, tuple):
            from scipy.sparse import csr_matrix

            vectors = csr_matrix(found, shape=(len(self.support_), self._fit.parts["columns"]))
            return vectors[self._order]
        return found[self._order]

    @property
    def coef_(self) -> Any:
        """The weights of a linear model, one a column."""
        if self.kernel != "linear":
            raise AttributeError("coef_ is only available when using a linear kernel")
        if not hasattr(self, "_fit"):
            raise AttributeError("coef_ is there once the model is fitted")
        weights = self._sign * np.stack([self._fit.model.weights(k) for k in range(self._fit.model.machines)])
        if self._sparse:
            from scipy.sparse import csr_matrix

            return csr_matrix(weights)
        weights.flags.writeable = False
        return weights

    # Of several classes scikit-learn's pairs are positive for the first class, the engine's for the second.
    _sign = 1.0

    @property
    def intercept_(self) -> np.ndarray:
        """The bias of each machine."""
        if not hasattr(self, "_fit"):
            raise AttributeError("intercept_ is there once the model is fitted")
        return self._sign * self._fit.model.biases()

    @property
    def _gamma(self) -> float:
        return self._fit.parts["kernel"].get("gamma", 0.0)

    def _sparse_like_training(self, array: np.ndarray) -> Any:
        if not self._sparse:
            return array
        from scipy.sparse import csr_matrix

        return csr_matrix(array)


def boolean_rules(*names: str) -> dict[str, tuple[Rule, ...]]:
    """Rules of parameters that are True or False."""
    return {name: (boolean(),) for name in names}
