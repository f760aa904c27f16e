"""Linear classifiers that learn from rows as they come, or all at once."""

from __future__ import annotations

from typing import Any

import numpy as np

from ._callbacks import with_callbacks
from ._engine import Stream
from ._errors import InputError
from ._fitting import Fit, answers, params
from ._input import Rows, is_sparse, read_class_weights, read_classes, read_rows, read_weights
from ._linear import CLASS_WEIGHT_RULE, LINEAR_RULES, LinearClassifier, check, logistic_probabilities
from ._loading import labels_of, penalty_of
from ._parameters import boolean, integer, number, one_of

_UNCHANGED = "$UNCHANGED$"
_LOSSES = {"hinge": "hinge", "squared_hinge": "squared", "log_loss": "logistic"}


class SGDClassifier(LinearClassifier):
    """A linear classifier that learns block by block with `partial_fit`, and all at once with `fit`.

    ``min α/2 ‖w‖² + 1/n Σ ℓ(y_i f(x_i))``, the intercept not penalised, several classes each against the rest. n is the sum of the
    rows' weights.

    `partial_fit` is stochastic gradient descent: each row is looked at once, in the order given, and then forgotten. What is learnt
    depends on the rows and their order alone, not on how they were cut into blocks. There is no certificate for it.

    `fit` has all rows at hand, and does not wander towards the optimum: it finds it, with its certificate. It is as good as an endless
    number of epochs, and takes as long as a few.

    Parameters
    ----------
    loss : {'hinge', 'squared_hinge', 'log_loss'}, default='hinge'
        ℓ; other losses are refused.
    penalty : 'l2'
        Anything else is refused.
    alpha : float, default=0.0001
        α, above 0.
    l1_ratio, epsilon : float
        Of penalties and losses that are refused: taken, and of no effect.
    fit_intercept : bool, default=True
        Whether there is an intercept.
    max_iter : int, default=1000
        The most steps of the solver in `fit`.
    tol : float or None, default=1e-3
        The relative duality gap at which `fit` stops; None is 1e-3. Small problems are solved to the last digits whatever it is.
    shuffle, random_state
        Taken, and of no effect: `fit` finds the same optimum from any order, and `partial_fit` takes rows as they come.
    verbose : int, default=0
        The same as `progress`.
    n_jobs, max_time, warm_start, progress, checkpoint
        Of `fit`, as in `LinearSVC`.
    learning_rate : 'optimal'
        The steps are those of the engine: the rate falls as the curvature of the loss, the length of the rows and α want it, and no step
        goes beyond where its own row wants it. Any other name is taken, and of no effect, and so are `eta0` and `power_t`.
    early_stopping : False
        Anything else is refused.
    validation_fraction, n_iter_no_change
        Of early stopping: taken, and of no effect.
    class_weight : dict, 'balanced' or None, default=None
        What a row of each class counts; ``'balanced'`` in `fit` only.
    average : bool or int, default=False
        Whether the weights are, after `partial_fit`, those after the last row (False), or the mean of those after each row, later ones
        counting more (True, recommended); or that from so many rows on.

    Attributes
    ----------
    t_ : float
        One more than the rows learnt.
    n_iter_ : int
        The steps of `fit`; 1 after `partial_fit`.
    progressive_error_ : float
        After `partial_fit`: how often rows were predicted wrongly just before they were learnt.
    coef_, intercept_, classes_, certificate_, stop_reason_, history_, solver_, notes_, n_features_in_, feature_names_in_
        As in `LinearSVC`; after `partial_fit` there is no certificate, and the reason is ``'streaming'``.

    Examples
    --------
    >>> import numpy as np
    >>> from maxmargin import SGDClassifier
    >>> X = np.array([[-1.0, -1], [-2, -1], [1, 1], [2, 1]])
    >>> y = np.array([1, 1, 2, 2])
    >>> SGDClassifier().fit(X, y).certificate_.relative_gap < 1e-9
    True
    >>> model = SGDClassifier(average=True)
    >>> for part in range(2):
    ...     model = model.partial_fit(X[part::2], y[part::2], classes=[1, 2])
    >>> model.predict([[-0.8, -1]])
    array([1])
    """

    _metadata = {"fit": ("sample_weight",), "partial_fit": ("classes", "sample_weight"), "score": ("sample_weight",)}

    def __init__(
        self,
        loss="hinge",
        *,
        penalty="l2",
        alpha=0.0001,
        l1_ratio=0.15,
        fit_intercept=True,
        max_iter=1000,
        tol=1e-3,
        shuffle=True,
        verbose=0,
        epsilon=0.1,
        n_jobs=None,
        random_state=None,
        learning_rate="optimal",
        eta0=0.01,
        power_t=0.5,
        early_stopping=False,
        validation_fraction=0.1,
        n_iter_no_change=5,
        class_weight=None,
        warm_start=False,
        average=False,
        max_time=None,
        progress=False,
        checkpoint=None,
    ):
        self._keep(locals())

    _rules = {
        **LINEAR_RULES,
        "loss": (one_of(*_LOSSES),),
        "penalty": (one_of("l2"),),
        "alpha": (number(above=0),),
        "tol": (number(least=0), one_of(None)),
        "shuffle": (boolean(),),
        "learning_rate": (one_of("optimal", "constant", "invscaling", "adaptive", "pa1", "pa2"),),
        "early_stopping": (one_of(False),),
        "class_weight": CLASS_WEIGHT_RULE,
        "average": (boolean(), integer(least=0)),
    }

    _keeps_single = True

    def _in_precision_of(self, rows: Rows) -> None:
        super()._in_precision_of(rows)
        if len(self.classes_) == 2:
            # As in scikit-learn, whose intercept of two classes is of double precision.
            self.intercept_ = self.intercept_.astype(np.float64)

    def _gap(self) -> float:
        return 1e-3 if self.tol is None else super()._gap()

    def _iteration_warning(self) -> str:
        # scikit-learn's words, which its users' filters know.
        what = "Maximum number of iteration reached before convergence. Consider increasing max_iter to improve the fit."
        return f"{what} (The limit is max_iter={self.max_iter}.)"

    @with_callbacks
    def fit(self, X, y, sample_weight=None):
        """Finds the optimum for rows X with labels y. What was learnt by `partial_fit` before is forgotten.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
        y : array-like of shape (n_samples,)
            The labels: numbers or text.
        sample_weight : array-like of shape (n_samples,), optional
            Weight k means k copies of a row, 0 that it is not there.

        Returns
        -------
        self
        """
        check(self)
        rows, codes, weights = self._read_classes(X, y, sample_weight)
        count = float(len(rows) if weights is None else weights.sum())
        weights, by_class = self._weigh(codes, weights)
        asked = params(
            penalty_number=1.0 / (self.alpha * count),
            loss=_LOSSES[self.loss],
            bias="explicit" if self.fit_intercept else "none",
            multiclass="ovr",
            tolerance=self._gap(),
            gap=self._gap(),
            max_iterations=int(self.max_iter),
            class_weights=by_class,
        )
        self._train_linear(rows, self._answers_of_fit(codes, weights), asked, None)
        self._stream = None
        numbers = rows.array.data if rows.sparse else rows.array.ravel()
        # How many rows there were and how long: a stream that goes on from here makes steps as short as after so many rows.
        self._seen = (len(rows), float(np.vdot(numbers, numbers)))
        self.n_iter_ = self._most_iterations()
        self.t_ = 1.0 + self.n_iter_ * len(rows)
        if hasattr(self, "progressive_error_"):
            del self.progressive_error_
        return self

    def partial_fit(self, X, y, classes=None, sample_weight=None):
        """Learns rows X with labels y, after those learnt before. After `fit` it goes on from the optimum, as if the rows of `fit` had been
        learnt one by one.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
        y : array-like of shape (n_samples,)
        classes : array-like of shape (n_classes,), optional
            All labels that there will ever be: needed in the first call.
        sample_weight : array-like of shape (n_samples,), optional
            The length of the steps that rows make.

        Returns
        -------
        self
        """
        check(self)
        if self.class_weight == "balanced":
            raise InputError(
                "class_weight 'balanced' is not supported for partial_fit: how many rows of each class there will be is not known\n"
                "help: give the weights of the classes as a dict"
            )
        first = not hasattr(self, "coef_")
        if first and classes is None:
            raise InputError("classes must be passed on the first call to partial_fit.")
        known = np.unique(classes) if first else self.classes_
        if classes is not None and not np.array_equal(np.unique(classes), known):
            raise InputError(f"`classes={classes!r}` is not the same as on last call to partial_fit, was: {known!r}")
        if len(known) < 2:
            raise InputError(f"The number of classes has to be greater than one; got {len(known)} class")
        rows = read_rows(self, X, self._threads(), reset=first)
        codes = self._codes_among(known, y, len(rows))
        weights = read_weights(sample_weight, len(rows), negative=True)
        by_class = read_class_weights(self.class_weight, known, codes, None)
        if np.any(by_class != 1.0):
            weights = (1.0 if weights is None else weights) * by_class[codes]
        if first or getattr(self, "_stream", None) is None:
            self._stream = self._new_stream(len(known))
        self.classes_ = known
        self._stream.learn(rows.data, codes, weights)
        self._column = None
        self._set_fit(Fit(self._stream.model(), None, answers([str(code) for code in range(len(known))]), {}), [])
        self.coef_, self.intercept_ = self._weights_of_engine()
        self._in_precision_of(rows)
        self.stop_reason_ = "streaming"
        self.n_iter_ = 1
        self.t_ = 1.0 + self._stream.learnt
        self.progressive_error_ = self._stream.error_rate
        return self

    @classmethod
    def _reads(cls, parts: dict[str, Any]) -> bool:
        return parts["solver"] == "sgd" and parts["multiclass"] == "ovr" and cls._predicts_by_weights(parts)

    @classmethod
    def _restored(cls, fit: Fit):
        parts = fit.parts
        loss = next(word for word, engine in _LOSSES.items() if engine == parts["loss"])
        # The library's penalty is λ‖w‖², so that α is twice λ.
        model = cls(loss=loss, alpha=2 * penalty_of(parts)[1], fit_intercept=parts["bias"] != "none")
        model.classes_ = labels_of(parts["classes"])
        model._restore_weights(fit)
        model._stream, model.stop_reason_, model.n_iter_ = None, "streaming", 1
        model.t_ = 1.0 + parts["training_rows"]
        return model

    def _new_stream(self, classes: int) -> Stream:
        # The library's penalty is λ‖w‖², so that λ is half of α.
        average = None if self.average is False else max(int(self.average) - 1, 0)
        stream = Stream(classes, _LOSSES[self.loss], bool(self.fit_intercept), self.alpha / 2, 1, average)
        if hasattr(self, "coef_"):
            if not hasattr(self, "_seen"):
                raise InputError("a model of a file does not know how far it has learnt, and cannot go on\nhelp: keep it by pickle")
            coef = self.coef_.toarray() if is_sparse(self.coef_) else np.asarray(self.coef_, dtype=np.float64)
            stream.begin_at(np.ascontiguousarray(coef), np.asarray(self.intercept_, dtype=np.float64), *self._seen)
        return stream

    def _codes_among(self, known: np.ndarray, y: Any, rows: int) -> np.ndarray:
        """The place of each label among those that were announced."""
        found, codes = read_classes(y, rows, type(self).__name__, least=1)
        places = np.minimum(np.searchsorted(known, found), len(known) - 1)
        unknown = found[known[places] != found]
        if len(unknown):
            raise InputError(f"y has labels that are not among the classes of the first call to partial_fit: {unknown.tolist()}")
        return places[codes].astype(np.uint32)

    def set_partial_fit_request(self, *, classes: bool | str | None = _UNCHANGED, sample_weight: bool | str | None = _UNCHANGED):
        """Asks for keyword arguments of `partial_fit` to be passed on by scikit-learn's meta-estimators."""
        return self._request("partial_fit", {"classes": classes, "sample_weight": sample_weight})

    @property
    def predict_proba(self):
        """The probability of each class for each row, with ``loss='log_loss'``; several classes each against the rest, in proportion."""
        if self.loss != "log_loss":
            raise AttributeError(f"probability estimates are not available for loss={self.loss!r}")
        return lambda X: logistic_probabilities(self._products(X))

    @property
    def predict_log_proba(self):
        """The logarithm of `predict_proba`."""
        probabilities = self.predict_proba
        return lambda X: np.log(probabilities(X))

    def __getstate__(self) -> dict[str, Any]:
        state = super().__getstate__()
        if state.get("_stream") is not None:
            state["_stream"] = state["_stream"].to_bytes()
        return state

    def __setstate__(self, state: dict[str, Any]) -> None:
        super().__setstate__(state)
        if getattr(self, "_stream", None) is not None:
            self._stream = Stream.from_bytes(self._stream)
