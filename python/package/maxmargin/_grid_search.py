"""`GridSearchCV` of scikit-learn, whose fits share their work where they can: the class is made when it is first asked for, because importing
scikit-learn takes longer than most fits.
"""

from __future__ import annotations

import functools
import time
from typing import Any

import numpy as np

from ._callbacks import KEPT
from ._errors import InternalError, warn
from ._input import read_rows
from ._shared_cells import CannotShare, Said, cells_of, check_scorer, kind_of, machine_of, search_cells
from ._threads import threads

_DOC = """scikit-learn's `GridSearchCV`, which computes once what the candidates share.

A drop-in for ``sklearn.model_selection.GridSearchCV``: the parameters, attributes and `cv_results_` are scikit-learn's. The fits of `SVC`, `NuSVC`,
`SVR`, `NuSVR`, `LinearSVC` and `LinearSVR`, alone or behind a `StandardScaler` or `MinMaxScaler` in a `Pipeline`, are one search of the engine: kernel
values are computed once for all candidates and splits, and a chain of fits goes through ascending C. The scaler is learnt from the training rows of
each split. Any splitter will do, and any scorer that asks for predictions or, of two classes, decision values.

Whatever cannot share is searched by scikit-learn itself; `how_` says why, and where the estimator is one of the above a `FallbackWarning` does.

Parameters
----------
estimator, param_grid, scoring, refit, cv, verbose, pre_dispatch, error_score, return_train_score
    As in scikit-learn.
n_jobs : int or None, default=None
    Threads: None is every core, but one within joblib's workers. The same bits come out for any number.

Attributes
----------
how_ : str
    ``'shared'``, or why scikit-learn's own search was used.
cv_results_, best_estimator_, best_score_, best_params_, best_index_, scorer_, n_splits_, refit_time_, multimetric_, classes_, n_features_in_
    As in scikit-learn. Times of a fit are those of the whole search, divided evenly.

Examples
--------
>>> import numpy as np, maxmargin
>>> draw = np.random.RandomState(0)
>>> X = draw.randn(60, 2)
>>> search = maxmargin.GridSearchCV(maxmargin.SVC(), {"C": [1, 10], "gamma": [0.1, 1.0]}).fit(X, X[:, 0] * X[:, 1] > 0)
>>> search.how_, search.n_splits_, len(search.cv_results_["params"])
('shared', 5, 4)
"""


def __getattr__(name: str) -> Any:
    if name != "GridSearchCV":
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return _made()


@functools.cache
def _made() -> type:
    """The class, made of scikit-learn's."""
    from sklearn.model_selection import _search

    # The module behind the public one, whose class stays where `patch_sklearn` replaces the other.
    original = _search.GridSearchCV

    def fit(self: Any, X: Any, y: Any = None, **params: Any) -> Any:
        """Searches, and trains with the best candidate on all rows.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
        y : array-like of shape (n_samples,)
        **params : dict
            ``sample_weight`` and ``groups`` are shared; with others scikit-learn's own search is used.

        Returns
        -------
        self
        """
        return _fit(self, original, X, y, params)

    body = {"fit": fit, "__doc__": _DOC, "__module__": __name__, "__qualname__": "GridSearchCV"}
    return type(original)("GridSearchCV", (original,), body)


def _fit(search: Any, original: type, X: Any, y: Any, params: dict[str, Any]) -> Any:
    try:
        _fit_shared(search, X, y, params)
        search.how_ = "shared"
        return search
    except CannotShare as error:
        why = str(error)
    except (ValueError, TypeError, AttributeError, InternalError) as error:
        # scikit-learn's own search says in its own words what is wrong, or counts it as a fit that failed.
        why = str(error).partition("\n")[0] or type(error).__name__
    search.how_ = f"by scikit-learn's own search: {why}"
    result = original.fit(search, X, y, **params)
    if _has_machine(search.estimator):
        from ._patch import FallbackWarning

        warn(f"GridSearchCV searched by scikit-learn's own class, because fits could not be shared: {why}", FallbackWarning)
    return result


def _has_machine(estimator: Any) -> bool:
    """Whether an estimator is, or ends in, one whose fits are shared."""
    steps = getattr(estimator, "steps", None)
    last = steps[-1][1] if isinstance(steps, list) and steps and isinstance(steps[-1], tuple) else estimator
    return kind_of(last) is not None


def _fit_shared(search: Any, X: Any, y: Any, params: dict[str, Any]) -> None:
    """Searches by the engine, and sets the attributes that scikit-learn's search sets."""
    from sklearn.base import clone, is_classifier
    from sklearn.model_selection import ParameterGrid, check_cv
    from sklearn.utils.validation import indexable

    machine, prefix, _ = machine_of(search.estimator)
    _refuse_what_is_not_shared(search, params, prefix)
    search._validate_params()
    scorers, refit_metric = search._get_scorers()
    X, y = indexable(X, y)
    if y is None:
        raise CannotShare("there is no y")
    groups, weights = params.get("groups"), params.get("sample_weight")
    cells = cells_of(search.estimator, search.param_grid, clone)
    if not cells.places:
        raise CannotShare("there are no candidates")
    cv = check_cv(search.cv, y, classifier=is_classifier(search.estimator))
    splits = [(np.asarray(train), np.asarray(test)) for train, test in cv.split(X, y, groups)]
    if not splits or len(splits) != cv.get_n_splits(X, y, groups):
        raise CannotShare("the splitter says another number of splits than it makes")
    numbered = [tuple(_ascending(side, len(y)) for side in split) for split in splits]
    if search.verbose > 0:
        count = len(cells.places)
        print(f"Fitting {len(splits)} folds for each of {count} candidates, totalling {count * len(splits)} fits")
    thread_count = threads(search.n_jobs)
    started = time.time()
    rows = read_rows(clone(machine), X, thread_count, reset=True)
    found = search_cells(cells, rows, y, weights, numbered, thread_count, search.verbose > 1)
    spent = (time.time() - started) / (len(cells.places) * len(splits))
    tests = [test for _, test in numbered]
    out = _scores(search, scorers, cells, found, np.asarray(y).ravel(), weights, tests, spent)
    search._checked_cv_orig = cv
    search.n_splits_ = len(splits)
    results = search._format_results(list(ParameterGrid(search.param_grid)), len(splits), out)
    search.multimetric_ = isinstance(out[0]["test_scores"], dict)
    _choose_and_train(search, results, refit_metric, X, y, weights)
    search.scorer_ = scorers._scorers if search.multimetric_ else scorers
    search.cv_results_ = results


def _refuse_what_is_not_shared(search: Any, params: dict[str, Any], prefix: str) -> None:
    from sklearn.utils._metadata_requests import _routing_enabled

    if _routing_enabled():
        raise CannotShare("metadata routing is on")
    if any(name in vars(search) for name in KEPT):
        raise CannotShare("the search has callbacks")
    if search.return_train_score:
        raise CannotShare("return_train_score is True")
    if hasattr(search.cv, "__next__"):
        raise CannotShare("cv is an iterator, whose splits can be had once")
    odd = [name for name in params if name not in ("groups", "sample_weight")]
    if odd:
        raise CannotShare(f"fit has the parameter {odd[0]}")
    if prefix and params.get("sample_weight") is not None:
        raise CannotShare("a pipeline is given sample_weight")


def _ascending(side: np.ndarray, rows: int) -> np.ndarray:
    if side.dtype.kind == "b":
        side = np.flatnonzero(side)
    return np.sort(side.astype(np.int64))


def _scores(
    search: Any, scorers: Any, cells: Any, found: Any, y: np.ndarray, weights: Any, tests: list[np.ndarray], spent: float
) -> list[dict[str, Any]]:
    """What scikit-learn's `_fit_and_score` returns of each candidate and split."""
    from sklearn.metrics._scorer import _MultimetricScorer, _PassthroughScorer

    problem = found.problems[0]
    is_binary = problem.classes is not None and len(problem.classes) == 2
    named = scorers._scorers if isinstance(scorers, _MultimetricScorer) else {"score": scorers}
    for scorer in named.values():
        if not isinstance(scorer, _PassthroughScorer):
            check_scorer(scorer, is_binary)
    weigh = weights is not None and search._check_scorers_accept_sample_weight()
    truth = [y[test] for test in tests]
    codes = None if problem.codes is None else [problem.codes[test] for test in tests]
    by_place: dict[tuple[tuple[int, int], int], dict[str, Any]] = {}
    out = []
    for place in found.places:
        machine = cells.groups[place[0]].machine
        for split, test in enumerate(tests):
            if (place, split) not in by_place:
                began = time.time()
                predicted, values = found.predicted(place, split)
                said = Said(machine, found.problems[place[0]], predicted, values)
                extra = {"sample_weight": np.asarray(weights)[test]} if weigh else {}
                scores = {}
                for name, scorer in named.items():
                    if not isinstance(scorer, _PassthroughScorer):
                        scores[name] = float(scorer(said, None, truth[split], **extra))
                    elif codes is not None:
                        scores[name] = float(np.average(codes[split] == predicted, weights=extra.get("sample_weight")))
                    else:
                        scores[name] = type(machine).score(said, None, truth[split], **extra)
                shown = scores if isinstance(scorers, _MultimetricScorer) else scores["score"]
                by_place[place, split] = {"test_scores": shown, "fit_time": spent, "score_time": time.time() - began}
            out.append(by_place[place, split])
    return out


def _choose_and_train(search: Any, results: dict[str, Any], refit_metric: str, X: Any, y: Any, weights: Any) -> None:
    from sklearn.base import clone

    if search.refit or not search.multimetric_:
        search.best_index_ = search._select_best_index(search.refit, refit_metric, results)
        if not callable(search.refit):
            search.best_score_ = results[f"mean_test_{refit_metric}"][search.best_index_]
        search.best_params_ = results["params"][search.best_index_]
    if search.refit:
        best = clone(search.estimator).set_params(**clone(search.best_params_, safe=False))
        search.best_estimator_ = best
        began = time.time()
        best.fit(X, y, **({} if weights is None else {"sample_weight": weights}))
        search.refit_time_ = time.time() - began
        if hasattr(best, "feature_names_in_"):
            search.feature_names_in_ = best.feature_names_in_
