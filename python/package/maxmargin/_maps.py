"""Explicit maps: rows lifted to where a linear machine does what a kernel would. RBFSampler, Nystroem and PolynomialLift."""

from __future__ import annotations

import numbers
from typing import Any

import numpy as np

from . import _engine
from ._errors import InputError, not_fitted, warn
from ._estimator import Estimator
from ._frames import FrameOutput
from ._input import Rows, is_single, is_sparse, read_rows
from ._kernel_machine import kernel_text
from ._parameters import callable_, check_parameters, instance, integer, number, one_of
from ._threads import threads

# Which parameters each kernel has, and what scikit-learn's functions of these names take for those that are not given; None is
# 1 / n_features.
_DEFAULTS: dict[str, dict[str, Any]] = {
    "rbf": {"gamma": None},
    "laplacian": {"gamma": None},
    "poly": {"gamma": None, "coef0": 1.0, "degree": 3},
    "polynomial": {"gamma": None, "coef0": 1.0, "degree": 3},
    "sigmoid": {"gamma": None, "coef0": 1.0},
    "chi2": {"gamma": 1.0},
    "additive_chi2": {},
    "cosine": {},
    "linear": {},
}

# Kernels of histograms, which are for numbers that are 0 or more.
_OF_HISTOGRAMS = ("chi2", "additive_chi2")

# Kernels that are functions of dot products.
_OF_PRODUCTS = ("linear", "poly", "rbf", "sigmoid")

# The highest degree that the engine's polynomial kernel has.
_MOST_DEGREE = 100

# Singular values of a kernel's table below this are taken for this: as in scikit-learn.
_LEAST_SINGULAR = 1e-12

_RANDOM_STATES = (
    one_of(None),
    integer(least=0),
    instance((np.random.RandomState, np.random.Generator), "a RandomState, a Generator"),
)


def _generator(random_state: Any) -> Any:
    """The generator that scikit-learn draws from for the same `random_state`; numpy's global one for None."""
    if random_state is None or random_state is np.random:
        return np.random.mtrand._rand
    if isinstance(random_state, numbers.Integral):
        return np.random.RandomState(int(random_state))
    return random_state


class _Map(FrameOutput, Estimator):
    """A transformer whose columns after are known once it is fitted."""

    _columns_out: int

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.transformer_tags.preserves_dtype = ["float64", "float32"]
        return tags

    def fit_transform(self, X, y=None):
        """Learns the map from rows X, and returns them lifted; see `fit` and `transform`."""
        return self.fit(X, y).transform(X)

    def get_feature_names_out(self, input_features=None):
        """A name for each column after: the name of the class in small letters, and a number.

        Parameters
        ----------
        input_features : array-like of str, optional
            The names of the columns before; they must be those of `fit`.

        Returns
        -------
        ndarray of str
        """
        self._names_in(input_features)
        prefix = type(self).__name__.lower()
        return np.array([f"{prefix}{place}" for place in range(self._columns_out)], dtype=object)

    def _names_in(self, given: Any) -> list[str]:
        """The names of the columns before: those given, those of `fit`, or x0, x1, and so on."""
        self._check_is_fitted()
        learnt = getattr(self, "feature_names_in_", None)
        if given is None:
            return [f"x{place}" for place in range(self.n_features_in_)] if learnt is None else [str(name) for name in learnt]
        names = np.asarray(given, dtype=object)
        if learnt is not None and not np.array_equal(learnt, names):
            raise InputError("input_features is not equal to feature_names_in_: give the names of fit, or none")
        if len(names) != self.n_features_in_:
            raise InputError(f"input_features should have length equal to number of features ({self.n_features_in_}), got {len(names)}")
        return [str(name) for name in names]

    def _read_to_lift(self, X: Any) -> tuple[Rows, bool]:
        """Rows to lift, and whether single precision is to come out."""
        if not self.__sklearn_is_fitted__():
            raise not_fitted(self)
        rows = read_rows(self, X, threads(getattr(self, "n_jobs", None)), reset=False)
        return rows, is_single(X)


class RBFSampler(_Map):
    """Random Fourier features: a map to cosines whose dot products are near the Gaussian kernel ``exp(-gamma * |x - z|²)``.

    The same ``random_state`` gives the same numbers as scikit-learn's class of this name.

    Parameters
    ----------
    gamma : 'scale' or float, default=1.0
        γ of the kernel; ``'scale'`` is ``1 / (n_features * X.var())``.
    n_components : int, default=100
        How many columns come out. The error of the kernel falls as one over the square root of it.
    random_state : int, RandomState, Generator or None, default=None
        What the directions are drawn with; None is numpy's global generator.

    Attributes
    ----------
    random_weights_ : ndarray of shape (n_features, n_components)
        The directions.
    random_offset_ : ndarray of shape (n_components,)
        The phases.
    n_features_in_, feature_names_in_
        As in scikit-learn.

    Examples
    --------
    >>> import numpy as np
    >>> from maxmargin import RBFSampler
    >>> x, z = [[0.0, 1.0]], [[0.5, 0.5]]
    >>> lift = RBFSampler(gamma=1.0, n_components=20_000, random_state=0).fit(x)
    >>> bool(abs(lift.transform(x) @ lift.transform(z).T - np.exp(-0.5)) < 0.02)
    True
    """

    _rules = {
        "gamma": (one_of("scale"), number(least=0)),
        "n_components": (integer(least=1),),
        "random_state": _RANDOM_STATES,
    }

    def __init__(self, *, gamma=1.0, n_components=100, random_state=None):
        self._keep(locals())

    def fit(self, X, y=None):
        """Draws the directions. Of X only the number of columns matters, and with ``gamma='scale'`` the variance.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
        y : ignored

        Returns
        -------
        self
        """
        check_parameters(self, self._rules)
        array = read_rows(self, X, threads(None), reset=True).array
        generator = _generator(self.random_state)
        gamma = _scale(array) if isinstance(self.gamma, str) else float(self.gamma)
        # In this order, which is scikit-learn's: the same seed gives the same map.
        self.random_weights_ = (2.0 * gamma) ** 0.5 * generator.normal(size=(array.shape[1], self.n_components))
        self.random_offset_ = generator.uniform(0, 2 * np.pi, size=self.n_components)
        if is_single(X):
            self.random_weights_ = self.random_weights_.astype(np.float32)
            self.random_offset_ = self.random_offset_.astype(np.float32)
        self._columns_out = int(self.n_components)
        return self

    def transform(self, X):
        """Lifts rows.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)

        Returns
        -------
        ndarray of shape (n_samples, n_components)
            In single precision where the map was learnt and X is given in it.
        """
        rows, single = self._read_to_lift(X)
        lifted = rows.array @ self.random_weights_
        lifted += self.random_offset_
        np.cos(lifted, out=lifted)
        lifted *= (2.0 / self._columns_out) ** 0.5
        wanted = np.float32 if single and self.random_weights_.dtype == np.float32 else np.float64
        return self._contained(lifted.astype(wanted, copy=False), X)


def _scale(array: Any) -> float:
    """`1 / (n_features * X.var())`; 1 where nothing varies."""
    variance = float((array.multiply(array)).mean() - array.mean() ** 2 if is_sparse(array) else array.var())
    return 1.0 if variance == 0.0 else 1.0 / (array.shape[1] * variance)


class Nystroem(_Map):
    """Nyström's map: some rows are drawn, and the dot products of lifted rows are near any kernel, and equal to it on the drawn rows.

    The same ``random_state`` draws the same rows as scikit-learn's class of this name. Dot products of full rows are left to numpy's BLAS,
    all other kernel values are computed by the engine on all cores.

    Parameters
    ----------
    kernel : {'rbf', 'poly', 'polynomial', 'sigmoid', 'linear', 'laplacian', 'chi2', 'additive_chi2', 'cosine', 'precomputed'}, \
str or callable, default='rbf'
        The kernel: a name, a combination such as ``'rbf(gamma=0.5) + linear'``, or a function of two rows that returns a number.
        With ``'precomputed'`` X is the table of kernel values with the rows of `fit`.
    gamma, coef0, degree : float or None, default=None
        The parameters of the kernel; None for what scikit-learn's kernels have: ``1 / n_features`` (1 for chi2), 1 and 3.
    kernel_params : dict or None, default=None
        Keyword arguments for a kernel that is a function.
    n_components : int, default=100
        How many rows are drawn, which is how many columns come out.
    random_state : int, RandomState, Generator or None, default=None
        What the rows are drawn with; None is numpy's global generator.
    n_jobs : int or None, default=None
        Threads: None is every core, but one within joblib's workers.

    Attributes
    ----------
    components_ : ndarray or sparse matrix of shape (n_components, n_features)
        The rows that were drawn.
    component_indices_ : ndarray of shape (n_components,)
        Which they are.
    normalization_ : ndarray of shape (n_components, n_components)
        The inverse root of the kernel values among them.
    n_features_in_, feature_names_in_
        As in scikit-learn.

    Examples
    --------
    >>> import numpy as np
    >>> from maxmargin import Nystroem
    >>> X = np.random.default_rng(0).normal(size=(50, 3))
    >>> lifted = Nystroem(gamma=0.2, n_components=50, random_state=0).fit_transform(X)
    >>> distances = ((X[:, None] - X[None]) ** 2).sum(axis=2)
    >>> bool(np.allclose(lifted @ lifted.T, np.exp(-0.2 * distances)))
    True
    """

    _rules = {
        "kernel": (instance(str, ", ".join(repr(name) for name in (*_DEFAULTS, "precomputed")) + ", a combination"), callable_()),
        "gamma": (number(least=0), one_of(None)),
        "coef0": (number(), one_of(None)),
        "degree": (number(least=1), one_of(None)),
        "kernel_params": (instance(dict, "a dict"), one_of(None)),
        "n_components": (integer(least=1),),
        "random_state": _RANDOM_STATES,
        "n_jobs": (integer(), one_of(None)),
    }

    def __init__(
        self,
        kernel="rbf",
        *,
        gamma=None,
        coef0=None,
        degree=None,
        kernel_params=None,
        n_components=100,
        random_state=None,
        n_jobs=None,
    ):
        self._keep(locals())

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.input_tags.pairwise = self.kernel == "precomputed"
        tags.input_tags.positive_only = isinstance(self.kernel, str) and self.kernel in _OF_HISTOGRAMS
        return tags

    def fit(self, X, y=None):
        """Draws rows, and learns the map from their kernel values.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
        y : ignored

        Returns
        -------
        self
        """
        check_parameters(self, self._rules)
        self._kernel_parameters()
        rows = read_rows(self, X, threads(self.n_jobs), reset=True)
        count = len(rows)
        if self.kernel == "precomputed" and rows.array.shape[1] != count:
            raise InputError(f"Precomputed matrix must be a square matrix. Input is a {count}x{rows.array.shape[1]} matrix.")
        if self.n_components > count:
            warn(f"n_components > n_samples: {self.n_components} rows cannot be drawn from {count}, so all of them are taken.")
        drawn = _generator(self.random_state).permutation(count)[: self.n_components].astype(np.int64)
        basis = rows.array[drawn]
        values = _full(basis[:, drawn]) if self.kernel == "precomputed" else self._kernel_values(basis, None)
        left, singular, right = np.linalg.svd(np.asarray(values, dtype=np.float64))
        normalization = left / np.sqrt(np.maximum(singular, _LEAST_SINGULAR)) @ right
        self.normalization_ = normalization.astype(np.float32) if is_single(X) else normalization
        self.components_ = basis if is_single(X) else basis.astype(np.float64)
        self.component_indices_ = drawn
        self._columns_out = len(drawn)
        return self

    def transform(self, X):
        """Lifts rows.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            With ``kernel='precomputed'`` the kernel values with the rows of `fit`.

        Returns
        -------
        ndarray of shape (n_samples, n_components)
            In single precision where the map was learnt and X is given in it.
        """
        rows, single = self._read_to_lift(X)
        if self.kernel == "precomputed":
            values = _full(rows.array[:, self.component_indices_])
        else:
            values = self._kernel_values(rows.array, self.components_)
        wanted = np.float32 if single and self.normalization_.dtype == np.float32 else np.float64
        lifted = np.asarray(values, dtype=wanted) @ self.normalization_.T
        return self._contained(lifted, X)

    def _kernel_parameters(self) -> dict[str, Any]:
        """The parameters of the kernel that were given, by name."""
        given = {name: getattr(self, name) for name in ("gamma", "coef0", "degree") if getattr(self, name) is not None}
        if callable(self.kernel) or self.kernel == "precomputed":
            if given:
                raise InputError(
                    "Don't pass gamma, coef0 or degree to Nystroem if using a callable or precomputed kernel: "
                    f"got {', '.join(sorted(given))}; give a function its parameters by kernel_params"
                )
            return dict(self.kernel_params or {})
        if self.kernel not in _DEFAULTS:
            if given:
                raise InputError(
                    f"a combination of kernels has its parameters in its text, as in 'rbf(gamma=0.5) + linear', but "
                    f"{', '.join(sorted(given))} is given beside {self.kernel!r}"
                )
            return {}
        defaults = _DEFAULTS[self.kernel]
        return {name: value for name, value in {**defaults, **(self.kernel_params or {}), **given}.items() if name in defaults}

    def _kernel_values(self, left: Any, right: Any | None) -> np.ndarray:
        """The table of the kernel values of rows with others, or among themselves."""
        parameters = self._kernel_parameters()
        if callable(self.kernel):
            return _values_of_function(self.kernel, parameters, left, right)
        among = left if right is None else right
        name = {"polynomial": "poly"}.get(self.kernel, self.kernel)
        if name in _OF_HISTOGRAMS:
            _refuse_negative(left, name)
            _refuse_negative(among, name)
        if name == "cosine":
            return self._products(_of_length_1(left), _of_length_1(among))
        if name == "additive_chi2":
            return _additive_chi_square(left, among)
        gamma = parameters.get("gamma")
        gamma = 1.0 / left.shape[1] if gamma is None else float(gamma)
        coef0, degree = parameters.get("coef0", 0.0), parameters.get("degree", 3)
        # BLAS is fastest where rows are full, and the engine's kernels know neither gamma=0 nor a broken degree.
        whole = float(degree).is_integer() and degree <= _MOST_DEGREE
        if name in _OF_PRODUCTS and (not (is_sparse(left) or is_sparse(among)) or gamma == 0.0 or not whole):
            products = self._products(left, among)
            return _of_products(name, products, left, among, gamma, coef0, degree)
        if name in _DEFAULTS and gamma == 0.0:
            return np.ones((left.shape[0], among.shape[0]))
        return self._block(kernel_text(name, gamma, coef0, degree), left, among)

    def _products(self, left: Any, right: Any) -> np.ndarray:
        """The dot products of rows with others."""
        if is_sparse(left) or is_sparse(right):
            return self._block("linear", left, right)
        return np.asarray(left, dtype=np.float64) @ np.asarray(right, dtype=np.float64).T

    def _block(self, text: str, left: Any, right: Any) -> np.ndarray:
        count = threads(self.n_jobs)
        return _engine.kernel_block(text, _data(left, count), _data(right, count), count)


def _of_products(name: str, products: np.ndarray, left: Any, right: Any, gamma: float, coef0: float, degree: float) -> np.ndarray:
    """Kernel values from the dot products of rows, in their place."""
    if name == "linear":
        return products
    if name == "rbf":
        products *= -2.0  # to squared distances, ‖x‖² + ‖z‖² − 2⟨x, z⟩
        products += _squared_norms(left)[:, None]
        products += _squared_norms(right)[None, :]
        np.maximum(products, 0.0, out=products)
        products *= -gamma
        return np.exp(products, out=products)
    products *= gamma
    products += coef0
    return np.tanh(products, out=products) if name == "sigmoid" else np.power(products, degree, out=products)


def _squared_norms(array: Any) -> np.ndarray:
    if is_sparse(array):
        return np.asarray(array.multiply(array).sum(axis=1), dtype=np.float64).ravel()
    return np.einsum("ij,ij->i", array, array, dtype=np.float64)


def _data(array: Any, count: int) -> _engine.Data:
    if is_sparse(array):
        return _engine.Data.sparse(*array.shape, array.indptr, array.indices, array.data)
    return _engine.Data.dense(np.ascontiguousarray(array), count)


def _full(array: Any) -> np.ndarray:
    return array.toarray() if is_sparse(array) else array


def _refuse_negative(array: Any, name: str) -> None:
    if is_sparse(array):
        least = array.data.min() if array.nnz else 0.0
    else:
        least = array.min()
    if least < 0:
        raise InputError(
            f"Negative values in data passed to Nystroem: the kernel {name} is for numbers that are 0 or more, found {least:g}"
        )


def _of_length_1(array: Any) -> Any:
    """Rows divided by their lengths; rows of zeros stay as they are."""
    if is_sparse(array):
        lengths = np.sqrt(np.asarray(array.multiply(array).sum(axis=1), dtype=np.float64)).ravel()
        divided = array.astype(np.float64)
        divided.data /= np.repeat(np.where(lengths > 0, lengths, 1.0), np.diff(array.indptr))
        return divided
    lengths = np.linalg.norm(array.astype(np.float64), axis=1, keepdims=True)
    return array / np.where(lengths > 0, lengths, 1.0)


def _additive_chi_square(left: Any, right: Any) -> np.ndarray:
    """−Σ (x − z)²/(x + z), 0/0 = 0: one row after the other, so that the memory is that of the table."""
    left, right = _full(left), _full(right)
    values = np.empty((len(left), len(right)))
    for place, row in enumerate(left.astype(np.float64)):
        sums = row + right
        values[place] = -np.divide((row - right) ** 2, sums, out=np.zeros_like(sums), where=sums > 0).sum(axis=1)
    return values


def _values_of_function(kernel: Any, parameters: dict[str, Any], left: Any, right: Any | None) -> np.ndarray:
    """The values of a function of two rows; of rows among themselves each pair is asked for once."""

    def row(array: Any, place: int) -> Any:
        return array[[place], :] if is_sparse(array) else array[place]

    values = np.empty((left.shape[0], (left if right is None else right).shape[0]))
    for i in range(values.shape[0]):
        for j in range(values.shape[1]):
            if right is None and j < i:
                values[i, j] = values[j, i]
            else:
                values[i, j] = kernel(row(left, i), row(left if right is None else right, j), **parameters)
    return values


class PolynomialLift(_Map):
    """All monomials up to a degree, weighted so that their dot product is the polynomial kernel ``(gamma * <x, z> + coef0) ** degree``.

    The map is exact, so a linear machine on what comes out is the machine with the polynomial kernel.

    Parameters
    ----------
    degree : int, default=2
        From 1 to 32.
    gamma : float, default=1.0
        Above 0.
    coef0 : float, default=1.0
        0 or more; with 0 there are only monomials of the highest degree.

    Attributes
    ----------
    n_output_features_ : int
        How many columns come out: ``binomial(n_features + degree, degree)``, one million at most.
    n_features_in_, feature_names_in_
        As in scikit-learn.

    Examples
    --------
    >>> from maxmargin import PolynomialLift
    >>> lift = PolynomialLift(degree=2).fit([[3.0, 5.0]])
    >>> lift.transform([[3.0, 5.0]]).round(3)
    array([[ 1.   ,  4.243,  7.071,  9.   , 25.   , 21.213]])
    >>> lift.get_feature_names_out(["a", "b"]).tolist()
    ['1', 'a', 'b', 'a^2', 'b^2', 'a*b']
    """

    _rules = {"degree": (integer(least=1),), "gamma": (number(above=0),), "coef0": (number(least=0),)}

    def __init__(self, degree=2, *, gamma=1.0, coef0=1.0):
        self._keep(locals())

    def fit(self, X, y=None):
        """Lists the monomials. Of X only the number of columns matters.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
        y : ignored

        Returns
        -------
        self
        """
        check_parameters(self, self._rules)
        read_rows(self, X, threads(None), reset=True)
        self.__dict__.pop("_made", None)
        self._learnt = (self.n_features_in_, int(self.degree), float(self.gamma), float(self.coef0))
        self._columns_out = self.n_output_features_ = self._lift().columns
        return self

    def _lift(self) -> _engine.Lift:
        """The engine's map, made when it is first needed."""
        made = self.__dict__.get("_made")
        if made is None:
            made = self._made = _engine.Lift.monomials(*self._learnt)
        return made

    def __getstate__(self) -> dict[str, Any]:
        # The list of monomials can be long, and is made of three numbers.
        return {name: value for name, value in super().__getstate__().items() if name != "_made"}

    def transform(self, X):
        """Lifts rows.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)

        Returns
        -------
        ndarray of shape (n_samples, n_output_features_)
            In single precision where X is given in it.
        """
        rows, single = self._read_to_lift(X)
        lifted = self._lift().transform(rows.data)
        return self._contained(lifted.astype(np.float32) if single else lifted, X)

    def get_feature_names_out(self, input_features=None):
        """A name for each monomial, such as ``a^2*b``.

        Parameters
        ----------
        input_features : array-like of str, optional
            The names of the columns before; else those of `fit`, or x0, x1, and so on.

        Returns
        -------
        ndarray of str
        """
        names = self._names_in(input_features)
        return np.array(self._lift().names(names), dtype=object)
