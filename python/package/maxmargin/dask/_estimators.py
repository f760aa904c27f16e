"""Linear machines that are trained on the rows of a Dask cluster."""

from __future__ import annotations

import contextlib
import json
import os
from collections.abc import Iterator
from typing import Any

import numpy as np

from .. import _engine
from .._certificate import Certificate, certificate_of_sums, one_certificate
from .._errors import InputError, not_fitted
from .._fitting import Fit, answers, check_folder
from .._input import read_class_weights, require_y, words_of
from .._linear import check
from .._linear_svm import LinearSVC, LinearSVR
from .._logistic import LogisticRegression
from .._parameters import Rule, instance, number, one_of
from .._progress import Line
from . import _prediction
from ._cluster import Crew, Report, client_of
from ._held import Terms
from ._reading import Files
from ._sources import Source, is_collection, source_of
from ._training import Keeper, labels_of_all, lead, measure, new_number, summaries_of

CLUSTER_RULES: dict[str, tuple[Rule, ...]] = {
    "client": (one_of(None), ("a distributed.Client", lambda value: hasattr(value, "submit"))),
    "patience": (one_of(None), number(above=0)),
    "checkpoint": (instance((str, os.PathLike), "a path"), one_of(None)),
}
"""The rules of the parameters that the estimators here have beside those of their local classes."""


class OnCluster:
    """What the estimators here have in common: a client, shards, and lazy predictions."""

    _local: type
    """The class that a model is of once it no longer needs a cluster."""

    def __getstate__(self) -> dict[str, Any]:
        # A client belongs to its process.
        return {**super().__getstate__(), "client": None}

    def __sklearn_clone__(self) -> Any:
        return type(self)(**self.get_params(deep=False))

    def _source(self, client: Any, X: Any, y: Any, weights: Any) -> Source:
        def sizes(recipes: list[Any]) -> list[int]:
            return measure(client, recipes, self.patience)

        return source_of(X, y, weights, type(self).__name__, self._estimator_type == "regressor", sizes)

    @contextlib.contextmanager
    def _crew(self, X: Any, y: Any, weights: Any) -> Iterator[Crew]:
        """The shards of rows X, on the cluster."""
        client = client_of(self.client)
        source = self._source(client, X, y, weights)
        with Crew(client, source.recipes, self.patience) as crew:
            yield crew

    def _learn_columns(self, summaries: list[Any]) -> int:
        names = next((summary.names for summary in summaries if summary.names is not None), None)
        self.n_features_in_ = max(summary.columns for summary in summaries)
        if names is not None:
            self.feature_names_in_ = np.array(names, dtype=object)
        elif hasattr(self, "feature_names_in_"):
            del self.feature_names_in_
        return self.n_features_in_

    def to_local(self) -> Any:
        """The model as the class of this package that needs no cluster, such as `maxmargin.LinearSVC`."""
        self._check_is_fitted()
        known = self.get_params(deep=False)
        local = self._local(**{name: value for name, value in known.items() if name in self._local._parameter_names()})
        own = {name: value for name, value in self.__dict__.items() if name not in known and name not in _OF_CLUSTER}
        local.__dict__.update(own)
        return local

    # Predictions: lazy of what is lazy

    def predict(self, X: Any) -> Any:
        """The class, or the number, of each row: an array or a series of Dask for one of Dask, computed when it is asked for; else an array."""
        return self._lazily("predict", X) if is_far(X) else super().predict(X)

    def score(self, X: Any, y: Any = None, sample_weight: Any = None) -> float:
        """How well rows are predicted: the share of the classes that are right, or the coefficient of determination of numbers."""
        if not is_far(X):
            require_y(y, type(self).__name__)
            return super().score(X, y, sample_weight)
        self._check_is_fitted()
        client = client_of(self.client)
        return _prediction.score(client, self.to_local(), X, y, sample_weight, self._estimator_type == "regressor")

    def _lazily(self, method: str, X: Any) -> Any:
        self._check_is_fitted()
        return _prediction.lazily(self.to_local(), method, X)


# What a fit on a cluster knows beside what a local one knows.
_OF_CLUSTER = ("cluster_", "_certificates", "_proof", "_factors", "_words")


def is_far(X: Any) -> bool:
    """Whether rows are on the cluster, or in files."""
    return is_collection(X) or isinstance(X, Files)


class OnShards(OnCluster):
    """An estimator that the engine trains on shards."""

    def _train_on_shards(self, X: Any, y: Any, sample_weight: Any) -> Any:
        check(self)
        self._refuse_what_shards_cannot()
        if self.checkpoint is not None:
            check_folder(os.fspath(self.checkpoint))
        line = Line(type(self).__name__) if self.progress or self.verbose else None
        try:
            with self._crew(X, y, sample_weight) as crew:
                summaries = summaries_of(crew)
                columns = self._learn_columns(summaries)
                by_class = self._learn_answers(summaries)
                asked, column = self._problem(by_class) if self._estimator_type == "classifier" else self._problem()
                self._column = column
                keeper = Keeper(self.checkpoint)
                leader = self._leader(asked, len(crew.recipes), keeper.found())
                history = lead(crew, leader, self._terms(columns), keeper, line, self.max_time)
                model, certificates, proof, processors = leader.finish()
        finally:
            if line is not None:
                line.close()
        keeper.remove()
        crew.report.processors = processors
        self.cluster_: Report = crew.report
        self._certificates, self._proof = json.loads(certificates), proof
        self._set_fit(Fit(model, None, answers(self._words), asked), history)
        self._set_weights()
        if model.stop != "converged":
            self._warn_of_stop(model.stop)
        return self

    def _refuse_what_shards_cannot(self) -> None:
        """Refuses, before a row is read, what only a training in memory can do."""
        if self.warm_start:
            raise InputError(
                "warm_start goes with a training in memory\nhelp: leave it out; checkpoint=.. goes on with a fit that was broken off"
            )
        asked, _ = self._problem(None) if self._estimator_type == "classifier" else self._problem()
        _engine.supports_shards(asked, [])

    def _leader(self, asked: dict[str, Any], shards: int, kept: bytes | None) -> _engine.Leader:
        if kept is None:
            return _engine.Leader(asked, self._words, shards, new_number())
        return _engine.Leader.from_snapshot(asked, self._words, shards, new_number(), kept)

    def _learn_answers(self, summaries: list[Any]) -> list[float] | None:
        """Sets the classes, and returns their weights where they count differently."""
        self._words: list[str] = []
        self._factors: np.ndarray | None = None
        if self._estimator_type != "classifier":
            return None
        self.classes_, words, masses = labels_of_all(summaries)
        if len(self.classes_) < 2:
            label = f": all rows have the label {self.classes_.tolist()[0]!r}" if len(self.classes_) else ""
            raise InputError(f"The number of classes has to be greater than one; got {len(self.classes_)} class{label}")
        self._words = words_of(self.classes_) if words is None else words
        codes = np.arange(len(self.classes_))
        self._refuse_lost_classes(codes, masses)
        by_class = read_class_weights(self.class_weight, self.classes_, codes, masses)
        if np.all(by_class == 1.0):
            return None
        if np.all(by_class > 0.0):
            return by_class.tolist()
        # A class that does not count is one whose rows are left out.
        self._factors = np.maximum(by_class, 0.0)
        self._refuse_lost_classes(codes, masses * self._factors)
        return None

    def _terms(self, columns: int) -> Terms:
        return Terms(columns, self._words, getattr(self, "classes_", None), self._factors, self._column)

    @property
    def certificate_(self) -> Certificate | None:
        """How good the fit is: primal, dual, gap and violation, from the sums of all shards."""
        self._fit_for("certificate_")
        if any(found is None for found in self._certificates):
            return None
        return certificate_of_sums([one_certificate(found) for found in self._certificates])

    def verify(self, X: Any, y: Any = None, sample_weight: Any = None) -> bool:
        """Whether the certificate is true of the training data: computed anew on the cluster, from the weights and the steps that led to them."""
        if not hasattr(self, "_fit"):
            raise not_fitted(self)
        if any(found is None for found in self._certificates):
            raise InputError("this fit was broken off before it had a certificate, so that there is nothing to verify")
        self._refuse_other_weights()
        with self._crew(X, y, sample_weight) as crew:
            summaries = summaries_of(crew)
            columns = max(summary.columns for summary in summaries)
            if self._estimator_type == "classifier":
                found, _, _ = labels_of_all(summaries)
                unknown = sorted(set(found.tolist()) - set(self.classes_.tolist()), key=str)
                if unknown:
                    raise InputError(f"y has the label {unknown[0]!r}, but the model knows only {self.classes_.tolist()}")
            leader = _engine.Leader.verifying(self._fit.asked, self._words, len(crew.recipes), new_number(), self._proof)
            lead(crew, leader, self._terms(columns))
            _, certificates, _, _ = leader.finish()
            same = leader.is_training_data()
        return bool(same) and all(_agree(own, other) for own, other in zip(self._certificates, json.loads(certificates), strict=True))


def _agree(claimed: dict[str, Any], found: dict[str, Any] | None) -> bool:
    """Whether a certificate claims no more than what was found."""
    if found is None:
        return False
    near = 1e-9 * max(abs(claimed["primal"]), abs(found["primal"]))
    return abs(claimed["primal"] - found["primal"]) <= near and abs(claimed["dual"] - found["dual"]) <= near + 1e-6 * abs(claimed["gap"])


_PARAMETERS_HERE = """
    client : distributed.Client or None, default=None
        The cluster; None is the client that this process has. It is left out where the model is pickled.
    patience : float or None, default=None
        Seconds after which a shard that has not answered is made and asked on another worker. None: five times the longest answer so
        far, and 10 seconds at least (60 while rows are read).
"""


class DaskLinearSVC(OnShards, LinearSVC):
    __doc__ = f"""Linear support vector classification of rows on a Dask cluster.

    Minimises what `maxmargin.LinearSVC` minimises, with the same parameters, but for those that only a training in memory has: the norm l1,
    ``multi_class='crammer_singer'``, other solvers than ``'primal-newton'``, and `warm_start` are refused. The model has the same bits for any
    number of workers and threads, whichever of them are lost on the way.

    Parameters
    ----------
    penalty, loss, dual, tol, C, multi_class, fit_intercept, intercept_scaling, class_weight, verbose, random_state, max_iter, n_jobs, max_time, \
warm_start, progress, checkpoint, solver
        As in `maxmargin.LinearSVC`; `n_jobs` counts for predictions of arrays of this process.{_PARAMETERS_HERE}
    Attributes
    ----------
    cluster_ : Report
        What was asked of the cluster: rounds, bytes, shards, rebuilt, hedged.
    coef_, intercept_, certificate_, stop_reason_, history_, solver_, notes_, classes_, n_iter_, n_features_in_, feature_names_in_
        As in `maxmargin.LinearSVC`.
    """

    _local = LinearSVC

    def __init__(
        self,
        penalty="l2",
        loss="squared_hinge",
        *,
        dual="auto",
        tol=1e-4,
        C=1.0,
        multi_class="ovr",
        fit_intercept=True,
        intercept_scaling=1,
        class_weight=None,
        verbose=0,
        random_state=None,
        max_iter=1000,
        n_jobs=None,
        max_time=None,
        warm_start=False,
        progress=False,
        checkpoint=None,
        solver=None,
        client=None,
        patience=None,
    ):
        self._keep(locals())

    _rules = {**LinearSVC._rules, **CLUSTER_RULES}

    def fit(self, X, y=None, sample_weight=None):
        """Trains on rows X with labels y.

        Parameters
        ----------
        X : dask array, dask dataframe, array-like, or what `maxmargin.dask.read` returns
            Chunks of an array may be dense or CSR matrices.
        y : dask array or series, or array-like
            The labels; None where X are files.
        sample_weight : dask array or series, or array-like, optional

        Returns
        -------
        self
        """
        if self.multi_class == "crammer_singer":
            raise InputError("multi_class='crammer_singer' goes with a training in memory\nhelp: choose multi_class='ovr'")
        return self._train_on_shards(X, y, sample_weight)

    def decision_function(self, X):
        """How far rows lie on which side; lazy of what is lazy. See `maxmargin.LinearSVC.decision_function`."""
        return self._lazily("decision_function", X) if is_far(X) else super().decision_function(X)


class DaskLogisticRegression(OnShards, LogisticRegression):
    __doc__ = f"""Logistic regression on the rows of a Dask cluster.

    Minimises what `maxmargin.LogisticRegression` minimises, but that several classes are told apart each against the rest, and not by the softmax.
    A penalty is needed, and it is l2.

    Parameters
    ----------
    penalty, C, l1_ratio, dual, tol, fit_intercept, intercept_scaling, class_weight, random_state, solver, max_iter, verbose, warm_start, n_jobs, \
max_time, progress, checkpoint
        As in `maxmargin.LogisticRegression`.{_PARAMETERS_HERE}
    Attributes
    ----------
    cluster_ : Report
        What was asked of the cluster: rounds, bytes, shards, rebuilt, hedged.
    coef_, intercept_, classes_, certificate_, stop_reason_, history_, solver_, notes_, n_iter_, n_features_in_, feature_names_in_
        As in `maxmargin.LogisticRegression`.
    """

    _local = LogisticRegression

    def __init__(
        self,
        penalty="deprecated",
        *,
        C=1.0,
        l1_ratio=0.0,
        dual=False,
        tol=1e-4,
        fit_intercept=True,
        intercept_scaling=1,
        class_weight=None,
        random_state=None,
        solver="lbfgs",
        max_iter=100,
        verbose=0,
        warm_start=False,
        n_jobs=None,
        max_time=None,
        progress=False,
        checkpoint=None,
        client=None,
        patience=None,
    ):
        self._keep(locals())

    _rules = {**LogisticRegression._rules, **CLUSTER_RULES}

    def _is_softmax(self, penalty):
        return False

    def fit(self, X, y=None, sample_weight=None):
        """Trains on rows X with labels y; see `DaskLinearSVC.fit`."""
        return self._train_on_shards(X, y, sample_weight)

    def decision_function(self, X):
        """How far rows lie on which side; lazy of what is lazy."""
        return self._lazily("decision_function", X) if is_far(X) else super().decision_function(X)

    def predict_proba(self, X):
        """The probability of each class for each row; lazy of what is lazy."""
        return self._lazily("predict_proba", X) if is_far(X) else super().predict_proba(X)

    def predict_log_proba(self, X):
        """The logarithm of `predict_proba`."""
        return self._lazily("predict_log_proba", X) if is_far(X) else super().predict_log_proba(X)

    def to_local(self):
        """The model as a `maxmargin.LogisticRegression`; of several classes with ``solver='liblinear'``, which tells each apart from the rest."""
        local = super().to_local()
        if len(self.classes_) > 2:
            local.solver = "liblinear"
        return local


class DaskLinearSVR(OnShards, LinearSVR):
    __doc__ = f"""Linear support vector regression of rows on a Dask cluster.

    Minimises what `maxmargin.LinearSVR` minimises.

    Parameters
    ----------
    epsilon, tol, C, loss, fit_intercept, intercept_scaling, dual, verbose, random_state, max_iter, n_jobs, max_time, warm_start, progress, \
checkpoint, solver
        As in `maxmargin.LinearSVR`.{_PARAMETERS_HERE}
    Attributes
    ----------
    cluster_ : Report
        What was asked of the cluster: rounds, bytes, shards, rebuilt, hedged.
    coef_, intercept_, certificate_, stop_reason_, history_, solver_, notes_, n_iter_, n_features_in_, feature_names_in_
        As in `maxmargin.LinearSVR`.
    """

    _local = LinearSVR

    def __init__(
        self,
        *,
        epsilon=0.0,
        tol=1e-4,
        C=1.0,
        loss="epsilon_insensitive",
        fit_intercept=True,
        intercept_scaling=1.0,
        dual="auto",
        verbose=0,
        random_state=None,
        max_iter=1000,
        n_jobs=None,
        max_time=None,
        warm_start=False,
        progress=False,
        checkpoint=None,
        solver=None,
        client=None,
        patience=None,
    ):
        self._keep(locals())

    _rules = {**LinearSVR._rules, **CLUSTER_RULES}

    def fit(self, X, y=None, sample_weight=None):
        """Trains on rows X with numbers y; see `DaskLinearSVC.fit`."""
        return self._train_on_shards(X, y, sample_weight)
