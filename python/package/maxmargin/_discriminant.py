"""Fisher's linear discriminant, as a classifier and as a projection."""

from __future__ import annotations

from typing import Any

import numpy as np

from ._callbacks import with_callbacks
from ._errors import InputError, not_fitted, warn
from ._fitting import Fit, params
from ._frames import FrameOutput
from ._input import Rows, is_sparse, read_classes, read_rows
from ._linear import LinearClassifier, check, logistic_probabilities, products, softmax
from ._loading import labels_of
from ._parameters import boolean, instance, integer, number, one_of

# What the engine says of a scatter matrix that it had to mend.
_MENDED = ("the scatter matrix is singular", "rows say nothing of most directions")


class LinearDiscriminantAnalysis(FrameOutput, LinearClassifier):
    """Fisher's linear discriminant: classes that are Gaussians around their means, all of the same covariance.

    ``f_k(x) = ⟨w_k, x⟩ + b_k``, ``w_k = Σ⁻¹(m_k − m)``, is the logarithm of the density of class k, up to what all classes share; so
    `predict_proba` needs no calibration. `transform` projects rows onto the directions along which the classes are farthest apart for
    their spread.

    Parameters
    ----------
    solver : {'svd', 'lsqr', 'eigen'}, default='svd'
        The engine solves, whatever the name. As in scikit-learn ``'lsqr'`` and ``'eigen'`` weigh the classes' covariances by `priors`,
        keep `covariance_` and do not take the mean off; `transform` goes with all of them (in scikit-learn not with ``'lsqr'``). With
        ``'svd'`` a covariance that is singular is inverted where it is not 0.
    shrinkage : 'auto', float or None, default=None
        How far the covariance is drawn towards a multiple of the identity: from 0 to 1, or ``'auto'`` for the part that Ledoit and Wolf
        expect to be best. Goes with ``'svd'``, too, where scikit-learn refuses it: that way no matrix of columns times columns is made
        when there are fewer rows than columns.
    priors : array-like of shape (n_classes,), optional
        The probability of each class, above 0; None for its share of the rows.
    n_components : int, optional
        The directions that `transform` projects onto: at most ``min(n_classes - 1, n_features)``, which None stands for.
    store_covariance : bool, default=False
        Whether `covariance_` is kept with ``solver='svd'``, too.
    tol : float, default=1e-4
        Directions of a standard deviation up to it, for columns brought to 1, count as none where the covariance is singular; directions
        in which the classes' means are apart by less than this part of the most are left out of `scalings_`.
    covariance_estimator : object, optional
        In the place of `shrinkage`, with ``'lsqr'`` and ``'eigen'``: its `fit` is given the rows of a class, and its `covariance_` is
        taken for theirs.
    n_jobs : int or None, default=None
        Threads for `fit`: None is every core, but one within joblib's workers. The same bits come out for any number.

    Attributes
    ----------
    coef_ : ndarray of shape (1, n_features) or (n_classes, n_features)
    intercept_ : ndarray of shape (1,) or (n_classes,)
    scalings_ : ndarray of shape (n_features, rank)
        The directions, the most telling one first; along each the classes have a variance of 1.
    explained_variance_ratio_ : ndarray of shape (n_components,)
        The part that each direction has in the variance of the classes' means.
    means_, priors_, xbar_, covariance_, classes_, n_features_in_, feature_names_in_
        As in scikit-learn.
    stop_reason_, history_, solver_, notes_
        As in `LinearSVC`. There is no objective, and so no certificate.

    Examples
    --------
    >>> import numpy as np
    >>> from maxmargin import LinearDiscriminantAnalysis
    >>> X = np.array([[-1.0, -1], [-2, -1], [-3, -2], [1, 1], [2, 1], [3, 2]])
    >>> model = LinearDiscriminantAnalysis().fit(X, [1, 1, 1, 2, 2, 2])
    >>> model.predict([[-0.8, -1]])
    array([1])
    >>> model.transform(X).shape
    (6, 1)
    """

    _metadata = {"score": ("sample_weight",)}
    # What scikit-learn asks before it turns what `transform` returns into a frame.
    _sklearn_auto_wrap_output_keys = {"transform"}

    def __init__(
        self,
        solver="svd",
        shrinkage=None,
        priors=None,
        n_components=None,
        store_covariance=False,
        tol=1e-4,
        covariance_estimator=None,
        n_jobs=None,
    ):
        self._keep(locals())

    _rules = {
        "solver": (one_of("svd", "lsqr", "eigen"),),
        "shrinkage": (one_of("auto", None), number(least=0, most=1)),
        "priors": (one_of(None), instance((list, tuple, np.ndarray), "a list of numbers")),
        "n_components": (integer(least=1), one_of(None)),
        "store_covariance": (boolean(),),
        "tol": (number(least=0),),
        "covariance_estimator": (one_of(None), ("an object with the method fit", lambda value: hasattr(value, "fit"))),
        "n_jobs": (integer(), one_of(None)),
    }

    @with_callbacks
    def fit(self, X, y):
        """Learns the classes' means, their covariance, and the directions that tell them apart.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
        y : array-like of shape (n_samples,)
            The labels: numbers or text.

        Returns
        -------
        self
        """
        check(self)
        if self.covariance_estimator is not None and self.solver == "svd":
            raise InputError("covariance estimator is not supported with svd solver. Try another solver: 'lsqr' or 'eigen'")
        if self.covariance_estimator is not None and self.shrinkage is not None:
            raise InputError("covariance_estimator and shrinkage parameters are not None. Only one of the two can be set.")
        rows = read_rows(self, X, self._threads(), reset=True)
        self.classes_, codes = read_classes(y, len(rows), type(self).__name__)
        counts = np.bincount(codes)
        if len(rows) == len(self.classes_):
            raise InputError("The number of samples must be more than the number of classes.")
        self.priors_ = self._priors(counts / len(rows))
        most = min(len(self.classes_) - 1, self.n_features_in_)
        if self.n_components is not None and self.n_components > most:
            raise InputError(
                f"n_components cannot be larger than min(n_features, n_classes - 1). It is {self.n_components}, and {most} is the most"
            )
        self._components = most if self.n_components is None else int(self.n_components)
        self.means_ = _means(rows.array, codes, counts)
        self.xbar_ = self.priors_ @ self.means_
        # Priors other than the data's are weights of the rows.
        weights = None if self.priors is None or self.solver == "svd" else (self.priors_ / counts * len(rows))[codes]
        shrinkage = "0" if self.shrinkage is None else str(self.shrinkage)
        self._column = None
        asked = params(solver="lda", multiclass="joint", shrinkage=shrinkage, threshold="equal-odds")
        self._train(rows, self._answers_of_fit(codes, weights), asked)
        self._finish(rows, codes)
        if rows.single:
            # As scikit-learn's are, whose numbers have the precision of the rows.
            for name in ("means_", "xbar_", "priors_", "covariance_", "scalings_", "explained_variance_ratio_", "coef_", "intercept_"):
                if hasattr(self, name):
                    setattr(self, name, getattr(self, name).astype(np.float32))
            self._made = (self.coef_.copy(), self.intercept_.copy())
        return self

    def _priors(self, shares: np.ndarray) -> np.ndarray:
        if self.priors is None:
            return shares
        priors = np.asarray(self.priors, dtype=np.float64)
        if priors.shape != shares.shape:
            raise InputError(f"there are {priors.size} priors for {shares.size} classes")
        if not np.all(np.isfinite(priors)) or np.any(priors < 0):
            raise InputError(f"priors must be non-negative: they are {priors.tolist()}")
        if np.any(priors == 0):
            raise InputError(
                f"a class whose prior is 0 is never predicted: the priors are {priors.tolist()}\nhelp: leave out the rows of that class"
            )
        if abs(priors.sum() - 1.0) > 1e-5:
            warn("The priors do not sum to 1. Renormalizing")
            priors = priors / priors.sum()
        return priors

    def _finish(self, rows: Rows, codes: np.ndarray) -> None:
        """Everything that follows from the engine's functions of the classes."""
        for name in ("covariance_", "scalings_", "explained_variance_ratio_"):
            self.__dict__.pop(name, None)
        centred = self.means_ - self.xbar_
        if self.solver != "svd" or self.store_covariance:
            self.covariance_ = self._covariance(rows, codes)
        # The engine weighs by copies, and Ledoit and Wolf's part depends on how many rows a class has.
        by_hand = self.shrinkage == "auto" and self.priors is not None and self.solver != "svd"
        by_hand |= self.covariance_estimator is not None
        mended = self.shrinkage is None and any(words in note for note in self.notes_ for words in _MENDED)
        if by_hand or mended and self.solver != "svd":
            functions = np.linalg.lstsq(self.covariance_, centred.T, rcond=None)[0].T
        elif mended:
            functions = self._within_rank(rows, codes, centred)
        else:
            functions = self._functions(centred)
        self._set_directions(functions, centred, rows)
        coef = functions
        intercept = np.log(self.priors_) - functions @ self.xbar_ - 0.5 * np.sum(functions * centred, axis=1)
        if self.solver != "svd":
            # These take off no mean; what all classes share changes no prediction.
            coef = functions + np.linalg.lstsq(self.covariance_, self.xbar_, rcond=None)[0]
            intercept = np.log(self.priors_) - 0.5 * np.sum(coef * self.means_, axis=1)
            del self.xbar_
        if len(self.classes_) == 2:
            coef, intercept = coef[1:] - coef[:1], intercept[1:] - intercept[:1]
        self.coef_, self.intercept_ = coef, intercept
        self._made = (coef.copy(), intercept.copy())
        self._of_engine = not (by_hand or mended or self.solver == "svd" and self.priors is not None)

    def _functions(self, centred: np.ndarray) -> np.ndarray:
        """Σ⁻¹(m_k − m) for each class, from the engine's weights."""
        machines = len(self._fit.parts["machines"])
        weights = np.stack([self._fit.model.weights(number_) for number_ in range(machines)])
        if machines == 1:
            # Of two classes the engine has Σ⁻¹(m_1 − m_0), and m_k − m is a part of m_1 − m_0.
            return np.outer([-self.priors_[1], self.priors_[0]], weights[0])
        # Around the mean that the priors give; where they are the data's own there is nothing to do.
        return weights - self.priors_ @ weights

    def _within_rank(self, rows: Rows, codes: np.ndarray, centred: np.ndarray) -> np.ndarray:
        """The same where Σ is singular: directions in which no class has a spread are not looked at."""
        array = rows.array.toarray() if rows.sparse else rows.array.astype(np.float64)
        spread = array - self.means_[codes]
        lengths = spread.std(axis=0)
        lengths[lengths == 0] = 1.0
        _, sizes, axes = np.linalg.svd(spread / lengths / np.sqrt(len(array)), full_matrices=False)
        kept = sizes > self.tol
        whitened = (axes[kept] / lengths / sizes[kept, None]).T
        return centred @ whitened @ whitened.T

    def _set_directions(self, functions: np.ndarray, centred: np.ndarray, rows: Rows) -> None:
        """The directions w of ``C_B w = λ Σ w``, with ``w'Σw = 1``."""
        own = self.shrinkage is not None or self.priors is not None or self.covariance_estimator is not None
        if self.solver == "eigen" and own:
            values, directions = self._directions_of_difference(rows)
        else:
            # C_B = MM' with a column √π_k (m_k − m) for each class: M'Σ⁻¹M is small, and has the same values.
            roots = np.sqrt(self.priors_)[:, None]
            small = (roots * centred) @ (roots * functions).T
            values, vectors = np.linalg.eigh(0.5 * (small + small.T))
            values, vectors = np.maximum(values[::-1], 0.0), vectors[:, ::-1]
            lengths = np.sqrt(values)
            kept = lengths > max(self.tol, 1e-7) * lengths[0]
            kept[min(len(values) - 1, self.n_features_in_) :] = False
            directions = (roots * functions).T @ (vectors[:, kept] / lengths[kept])
        total = values.sum()
        ratio = values[: self._components] / total if total > 0 else np.zeros(self._components)
        self.explained_variance_ratio_ = ratio
        self.scalings_ = directions

    def _directions_of_difference(self, rows: Rows) -> tuple[np.ndarray, np.ndarray]:
        """As scikit-learn has them where the covariance is shrunk or weighed: C_B is what the covariance of all rows has more than that
        within the classes.
        """
        factor = np.linalg.cholesky(self.covariance_)
        between = self._scatter(rows.array) - self.covariance_
        halfway = np.linalg.solve(factor, between)
        values, vectors = np.linalg.eigh(np.linalg.solve(factor, halfway.T))
        order = np.argsort(values)[::-1]
        return values[order], np.linalg.solve(factor.T, vectors[:, order[: self._components]])

    def _covariance(self, rows: Rows, codes: np.ndarray) -> np.ndarray:
        """The covariance within the classes, each shrunk by itself."""
        parts = (prior * self._scatter(rows.array[codes == code]) for code, prior in enumerate(self.priors_))
        return np.sum(list(parts), axis=0)

    def _scatter(self, array: Any) -> np.ndarray:
        """The covariance of rows, as it was asked for."""
        if self.covariance_estimator is None:
            return _scatter(array, self.shrinkage)
        array = array.toarray() if is_sparse(array) else array
        self.covariance_estimator.fit(array)
        if not hasattr(self.covariance_estimator, "covariance_"):
            raise InputError(f"{type(self.covariance_estimator).__name__} does not have a covariance_ attribute")
        return np.asarray(self.covariance_estimator.covariance_, dtype=np.float64)

    @classmethod
    def _reads(cls, parts: dict[str, Any]) -> bool:
        return parts["solver"] == "lda" and cls._predicts_by_weights(parts)

    @classmethod
    def _restored(cls, fit: Fit):
        model = cls()
        model.classes_ = labels_of(fit.parts["classes"])
        model._restore_weights(fit)
        model._made, model._of_engine = (model.coef_.copy(), model.intercept_.copy()), True
        return model

    def _is_of_engine(self) -> bool:
        # These weights are made here, of the engine's functions of the classes.
        return False

    def _refuse_other_weights(self) -> None:
        coef, intercept = self._made
        if not (np.array_equal(self.coef_, coef) and np.array_equal(self.intercept_, intercept)):
            raise InputError("coef_ or intercept_ was set after the fit, so that the model is no longer the one that was trained")
        if not self._of_engine:
            raise InputError(
                "a covariance_estimator, priors with solver='svd' or with shrinkage='auto', and a singular covariance are dealt with "
                "outside of the engine, so that its model is not this one\nhelp: choose solver='lsqr' and a number as shrinkage"
            )

    def predict_proba(self, X):
        """The probability of each class for each row.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)

        Returns
        -------
        ndarray of shape (n_samples, n_classes)
        """
        values = self._products(X)
        return logistic_probabilities(values) if values.shape[1] == 1 else softmax(values)

    def predict_log_proba(self, X):
        """The logarithm of `predict_proba`; numbers too small for it are the logarithm of the smallest."""
        likely = self.predict_proba(X)
        return np.log(np.maximum(likely, np.finfo(likely.dtype).tiny))

    def transform(self, X):
        """Rows, projected onto the directions that tell the classes apart.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)

        Returns
        -------
        ndarray of shape (n_samples, n_components)
        """
        if not hasattr(self, "scalings_"):
            if hasattr(self, "coef_"):
                raise InputError(
                    "a model of a file predicts, but has no directions to project onto\nhelp: keep it by pickle, or fit it again"
                )
            raise not_fitted(self)
        rows = read_rows(self, X, self._threads(), reset=False)
        directions = self.scalings_[:, : self._components]
        offset = -(self.xbar_ @ directions) if self.solver == "svd" else 0.0
        projected = products(rows.array, directions.T, offset)
        return self._contained(projected.astype(np.result_type(np.float32 if rows.single else np.float64, directions), copy=False), X)

    def fit_transform(self, X, y=None):
        """`fit`, then `transform` of the same rows."""
        return self.fit(X, y).transform(X)

    def get_feature_names_out(self, input_features=None):
        """A name for each column after `transform`."""
        if not hasattr(self, "_components"):
            raise not_fitted(self)
        count = min(self._components, self.scalings_.shape[1])
        return np.array([f"{type(self).__name__.lower()}{place}" for place in range(count)], dtype=object)


def _means(array: Any, codes: np.ndarray, counts: np.ndarray) -> np.ndarray:
    """The mean of the rows of each class."""
    if is_sparse(array):
        from scipy.sparse import csr_matrix

        belongs = csr_matrix((np.ones(len(codes)), (codes, np.arange(len(codes)))), shape=(len(counts), len(codes)))
        return np.asarray((belongs @ array).todense()) / counts[:, None]
    return np.stack([array[codes == code].mean(axis=0, dtype=np.float64) for code in range(len(counts))])


def _scatter(array: Any, shrinkage: Any) -> np.ndarray:
    """The covariance of rows (divided by their number), shrunk."""
    array = array.toarray() if is_sparse(array) else np.asarray(array)
    array = array - array.mean(axis=0, dtype=np.float64)
    rows, columns = array.shape
    if shrinkage != "auto":
        found = array.T @ array / rows
        part, target = (0.0 if shrinkage is None else float(shrinkage)), np.trace(found) / columns
        return (1.0 - part) * found + part * target * np.eye(columns)
    lengths = array.std(axis=0)
    lengths[lengths == 0] = 1.0
    array = array / lengths
    found = array.T @ array / rows
    target = np.trace(found) / columns
    # Ledoit and Wolf, A well-conditioned estimator for large-dimensional covariance matrices, 2004: b²/d², where d² is how far the matrix
    # found lies from the multiple of the identity, and b² how far it is expected to lie from the true one.
    far = np.sum(found * found) - columns * target * target
    unsure = (np.sum(np.sum(array * array, axis=1) ** 2) / rows - np.sum(found * found)) / rows
    part = 0.0 if unsure <= 0 or far <= 0 else min(unsure, far) / far
    return ((1.0 - part) * found + part * target * np.eye(columns)) * np.outer(lengths, lengths)
