"""Fisher's linear discriminant of rows on a Dask cluster, from the means and the scatter that its shards send."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from .. import _engine
from .._discriminant import LinearDiscriminantAnalysis
from .._errors import InputError
from .._input import words_of
from .._linear import check
from . import _held
from ._cluster import Crew
from ._estimators import CLUSTER_RULES, OnCluster, is_far
from ._held import Reply, Summary, Terms
from ._training import labels_of_all, new_number, summaries_of

# The most columns: their scatter takes 100 MB for each shard.
_MOST_COLUMNS = 5000
# A pivot below this part of its diagonal entry is rounding, as the engine has it: the scatter is singular.
_LEAST_PIVOT = 1e-13


class DaskLinearDiscriminantAnalysis(OnCluster, LinearDiscriminantAnalysis):
    """Fisher's linear discriminant of rows on a Dask cluster: one round for the means and the scatter of all shards.

    Is what `maxmargin.LinearDiscriminantAnalysis` is, up to rounding, and has the same bits for any number of workers and threads.

    Parameters
    ----------
    solver, priors, n_components, store_covariance, tol, n_jobs
        As in `maxmargin.LinearDiscriminantAnalysis`.
    shrinkage : float or None, default=None
        As there; ``'auto'`` needs more than means and scatter, and is refused.
    covariance_estimator : None
        It is given rows, of which this process has none: anything but None is refused.
    client, patience
        As in `DaskLinearSVC`.

    Attributes
    ----------
    cluster_ : Report
        What was asked of the cluster: rounds, bytes, shards, rebuilt, hedged.
    coef_, intercept_, scalings_, explained_variance_ratio_, means_, priors_, xbar_, covariance_, classes_, n_features_in_, feature_names_in_, notes_
        As in `maxmargin.LinearDiscriminantAnalysis`.
    """

    _local = LinearDiscriminantAnalysis

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
        client=None,
        patience=None,
    ):
        self._keep(locals())

    _rules = {**LinearDiscriminantAnalysis._rules, **{name: rule for name, rule in CLUSTER_RULES.items() if name != "checkpoint"}}

    def fit(self, X, y=None):
        """Learns the classes' means, their covariance, and the directions that tell them apart; see `DaskLinearSVC.fit`."""
        check(self)
        self._refuse_what_sums_cannot()
        with self._crew(X, y, None) as crew:
            summaries = summaries_of(crew)
            columns = self._learn_columns(summaries)
            if columns > _MOST_COLUMNS:
                raise InputError(
                    f"X has {columns} columns, and their scatter is made of {_MOST_COLUMNS} at most\nhelp: select columns beforehand"
                )
            self.classes_, words, counts = labels_of_all(summaries)
            rows = int(counts.sum())
            if len(self.classes_) < 2:
                raise InputError(f"The number of classes has to be greater than one; got {len(self.classes_)} class")
            if rows == len(self.classes_):
                raise InputError("The number of samples must be more than the number of classes.")
            self.priors_ = self._priors(counts / rows)
            most = min(len(self.classes_) - 1, self.n_features_in_)
            if self.n_components is not None and self.n_components > most:
                raise InputError(
                    f"n_components cannot be larger than min(n_features, n_classes - 1). It is {self.n_components}, and {most} is the most"
                )
            self._components = most if self.n_components is None else int(self.n_components)
            terms = Terms(columns, words_of(self.classes_) if words is None else words, self.classes_)
            masses, self.means_, scatter = _moments(crew, summaries, terms)
            within = scatter / masses.sum()
            spread = (self.means_ - masses @ self.means_ / rows) * np.sqrt(masses / rows)[:, None]
            total = within + spread.T @ spread
            if self.priors is not None and self.solver != "svd":
                # Priors other than the data's are weights of the rows.
                weighted = replace(terms, factors=self.priors_ / counts * rows)
                masses, _, scatter = _moments(crew, summaries, weighted)
                within = scatter / masses.sum()
        self.cluster_ = crew.report
        self.xbar_ = self.priors_ @ self.means_
        self._column = None
        self._notes = ["the scatter matrix is singular"] if self.shrinkage is None and _is_singular(within) else []
        self._sums = (self._shrunk(within), self._shrunk(total))
        self._finish(None, None)
        del self._sums
        self._of_engine = False
        self.stop_reason_ = "converged"
        if all(summary.single for summary in summaries):
            for name in ("means_", "xbar_", "priors_", "covariance_", "scalings_", "explained_variance_ratio_", "coef_", "intercept_"):
                if hasattr(self, name):
                    setattr(self, name, getattr(self, name).astype(np.float32))
            self._made = (self.coef_.copy(), self.intercept_.copy())
        return self

    def _refuse_what_sums_cannot(self) -> None:
        if self.shrinkage == "auto":
            raise InputError(
                "shrinkage='auto' needs the rows once more\nhelp: choose a number, such as one that LinearDiscriminantAnalysis finds on some rows"
            )
        if self.covariance_estimator is not None:
            raise InputError("a covariance_estimator is given rows, of which there are none here\nhelp: choose shrinkage, a number")
        if self.store_covariance and self.priors is not None and self.solver == "svd":
            raise InputError(
                "with solver='svd' and priors there is no covariance_ from sums\nhelp: choose solver='lsqr', which weighs by the priors"
            )

    def _shrunk(self, covariance: np.ndarray) -> np.ndarray:
        part = 0.0 if self.shrinkage is None else float(self.shrinkage)
        columns = len(covariance)
        return (1.0 - part) * covariance + part * np.trace(covariance) / columns * np.eye(columns)

    # What the local class makes of rows is made of sums here.

    def _covariance(self, rows: Any, codes: Any) -> np.ndarray:
        return self._sums[0]

    def _scatter(self, array: Any) -> np.ndarray:
        return self._sums[1]

    def _directions_of_difference(self, rows: Any) -> tuple[np.ndarray, np.ndarray]:
        return super()._directions_of_difference(_NoRows)

    def _within_rank(self, rows: Any, codes: Any, centred: np.ndarray) -> np.ndarray:
        covariance = self._sums[0]
        lengths = np.sqrt(np.diag(covariance))
        lengths[lengths == 0] = 1.0
        values, axes = np.linalg.eigh(covariance / np.outer(lengths, lengths))
        kept = values > self.tol * self.tol
        whitened = axes[:, kept] / lengths[:, None] / np.sqrt(values[kept])
        return centred @ whitened @ whitened.T

    def _functions(self, centred: np.ndarray) -> np.ndarray:
        return np.linalg.solve(self._sums[0], centred.T).T

    @property
    def notes_(self) -> list[str]:
        """What there is to say of the fit."""
        return self._notes

    @property
    def certificate_(self) -> None:
        """None: there is no objective."""
        return None

    @property
    def solver_(self) -> str:
        """The name of the solver."""
        return "lda"

    def decision_function(self, X):
        """The logarithm of each class's density; lazy of what is lazy."""
        return self._lazily("decision_function", X) if is_far(X) else super().decision_function(X)

    def predict_proba(self, X):
        """The probability of each class for each row; lazy of what is lazy."""
        return self._lazily("predict_proba", X) if is_far(X) else super().predict_proba(X)

    def predict_log_proba(self, X):
        """The logarithm of `predict_proba`."""
        return self._lazily("predict_log_proba", X) if is_far(X) else super().predict_log_proba(X)

    def transform(self, X):
        """Rows, projected onto the directions that tell the classes apart; lazy of what is lazy."""
        return self._lazily("transform", X) if is_far(X) else super().transform(X)


class _NoRows:
    """Stands for rows where none are needed."""

    array = None


def _is_singular(covariance: np.ndarray) -> bool:
    try:
        pivots = np.diag(np.linalg.cholesky(covariance)) ** 2
    except np.linalg.LinAlgError:
        return True
    return bool(np.any(pivots < _LEAST_PIVOT * np.diag(covariance)))


def _moments(crew: Crew, summaries: list[Summary], terms: Terms) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """The weight and the mean of each class, and the scatter within the classes, over all shards."""
    terms = replace(terms, number=new_number())
    parts: list[bytes | None] = [None] * len(summaries)
    factors = np.ones(len(terms.words)) if terms.factors is None else terms.factors

    def hear(shard: int, reply: Reply) -> tuple[str, str | None]:
        if parts[shard] is not None:
            return "known", None
        crew.report.bytes += len(reply.body)
        masses = np.zeros(len(terms.words))
        _, words, own = labels_of_all([summaries[shard]])
        places = _places(terms, words, summaries[shard].labels)
        masses[places] = own * factors[places]
        reason = _engine.check_moments(reply.body, shard, terms.columns, masses.tolist())
        if reason is not None:
            return "wrong", reason
        parts[shard] = reply.body
        return "taken", None

    crew.ask_all(lambda: [k for k, part in enumerate(parts) if part is None], lambda _: (_held.moments, (terms,)), hear)
    crew.report.rounds += 1
    return _engine.fold_moments([part for part in parts if part is not None])


def _places(terms: Terms, words: list[str] | None, labels: np.ndarray) -> np.ndarray:
    """The places of a shard's labels among all."""
    if words is None:
        return np.searchsorted(terms.classes, labels)
    _, codes = _engine.sorted_labels([*terms.words, *words])
    of_all = {code: place for place, code in enumerate(codes[: len(terms.words)])}
    return np.array([of_all[code] for code in codes[len(terms.words) :]], dtype=np.intp)
