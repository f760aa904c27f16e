"""Searches: the scores are those of separate fits, the bits those of any number of threads, and what cannot share is said to."""

from __future__ import annotations

import copy
import os
import pickle
import re
import signal
import subprocess
import sys
import textwrap
import warnings

import numpy as np
import pytest

import maxmargin
from maxmargin import SVC, SVR, InputError, LinearSVC, LinearSVR, NuSVC, TuneSession, tune

sklearn = pytest.importorskip("sklearn", reason="scikit-learn is not installed")

from sklearn.datasets import load_breast_cancer, load_iris, load_wine, make_classification  # noqa: E402
from sklearn.metrics import accuracy_score, f1_score, make_scorer  # noqa: E402
from sklearn.model_selection import (  # noqa: E402
    GroupKFold,
    KFold,
    RepeatedStratifiedKFold,
    ShuffleSplit,
    StratifiedKFold,
    cross_val_predict,
)
from sklearn.model_selection._search import GridSearchCV as Original  # noqa: E402
from sklearn.pipeline import Pipeline, make_pipeline  # noqa: E402
from sklearn.preprocessing import MinMaxScaler, RobustScaler, StandardScaler  # noqa: E402
from sklearn.svm import SVC as SklearnSVC  # noqa: E402

GRID = {"C": [0.1, 1.0, 10.0, 100.0], "gamma": [0.01, 0.1, 1.0]}


def noisy(seed: int, rows: int = 150, columns: int = 4, classes: int = 2) -> tuple[np.ndarray, np.ndarray]:
    return make_classification(rows, columns, n_informative=3, n_redundant=0, n_classes=classes, flip_y=0.15, random_state=seed)


def scores(search) -> np.ndarray:
    results = search.cv_results_
    return np.stack([results[f"split{split}_test_score"] for split in range(search.n_splits_)])


def shared(estimator, grid, **how):
    search = maxmargin.GridSearchCV(estimator, grid, **how)

    def fit(*args, **kwargs):
        with warnings.catch_warnings():
            warnings.simplefilter("error", maxmargin.FallbackWarning)
            search.fit(*args, **kwargs)
        assert search.how_ == "shared"
        return search

    return fit


def same(found, expected, rows_apart: int = 0) -> None:
    """The results of two searches: the same candidates, names and types, and scores that differ by some rows of a fold at most."""
    assert found.cv_results_.keys() == expected.cv_results_.keys()
    assert [list(params.items()) for params in found.cv_results_["params"]] == [list(p.items()) for p in expected.cv_results_["params"]]
    apart = np.abs(scores(found) - scores(expected)).max()
    assert apart <= rows_apart + 1e-12, apart
    if rows_apart == 0:
        assert np.array_equal(found.cv_results_["rank_test_score"], expected.cv_results_["rank_test_score"])
        assert found.best_index_ == expected.best_index_ and found.best_params_ == expected.best_params_
        assert found.best_score_ == pytest.approx(expected.best_score_, abs=1e-12)


@pytest.mark.parametrize("seed", range(4))
def test_scores_are_those_of_scikit_learns_search_at_a_fine_tolerance(seed):
    print(f"seed {seed}")
    X, y = noisy(seed, classes=2 + seed % 2)
    cv = StratifiedKFold(4, shuffle=True, random_state=seed)
    found = shared(SVC(tol=1e-8), GRID, cv=cv)(X, y)
    expected = Original(SklearnSVC(tol=1e-8), GRID, cv=cv).fit(X, y)
    same(found, expected)
    # The negative control: another splitter gives other scores.
    other = shared(SVC(tol=1e-8), GRID, cv=StratifiedKFold(4, shuffle=True, random_state=seed + 99))(X, y)
    assert np.abs(scores(other) - scores(expected)).max() > 0.01


def test_scores_of_real_data_are_those_of_scikit_learns_search():
    X, y = load_breast_cancer(return_X_y=True)
    X = StandardScaler().fit_transform(X)
    grid = {"C": [0.1, 1.0, 10.0], "gamma": [0.001, 0.03, 1.0]}
    same(shared(SVC(tol=1e-8), grid, cv=3)(X, y), Original(SklearnSVC(tol=1e-8), grid, cv=3).fit(X, y))


@pytest.mark.parametrize(
    ("scaler", "name"), [(StandardScaler(), "standardscaler"), (MinMaxScaler(), "minmaxscaler")], ids=["standard", "minmax"]
)
def test_a_scaler_in_a_pipeline_is_learnt_within_the_folds(scaler, name):
    X, y = load_wine(return_X_y=True)
    grid = {"svc__C": [0.1, 1.0, 10.0], "svc__gamma": [0.01, 0.1]}
    found = shared(make_pipeline(scaler, SVC(tol=1e-8)), grid, cv=4)(X, y)
    expected = Original(make_pipeline(scaler, SklearnSVC(tol=1e-8)), grid, cv=4).fit(X, y)
    same(found, expected)
    assert name in found.best_estimator_.named_steps and np.array_equal(found.predict(X), expected.predict(X))
    # The negative control: a scaler that is left out gives other scores.
    without = shared(SVC(tol=1e-8), {"C": [0.1, 1.0, 10.0], "gamma": [0.01, 0.1]}, cv=4)(X, y)
    assert np.abs(scores(without) - scores(expected)).max() > 0.05


def test_scalers_and_kernels_are_searched_together():
    X, y = load_wine(return_X_y=True)
    grid = [
        {"scale": [StandardScaler(), "passthrough"], "svm__kernel": ["rbf"], "svm__gamma": ["scale", "auto", 0.1], "svm__C": [1.0, 10.0]},
        {"scale": [MinMaxScaler()], "svm__kernel": ["linear", "poly"], "svm__degree": [2, 3], "svm__coef0": [0.0, 1.0], "svm__C": [0.1]},
    ]
    found = shared(Pipeline([("scale", StandardScaler()), ("svm", SVC(tol=1e-8))]), grid, cv=3)(X, y)
    same(found, Original(Pipeline([("scale", StandardScaler()), ("svm", SklearnSVC(tol=1e-8))]), grid, cv=3).fit(X, y))
    assert len(found.cv_results_["params"]) == 12 + 8


@pytest.mark.parametrize(
    "cv",
    [KFold(3), ShuffleSplit(3, test_size=0.3, random_state=1), RepeatedStratifiedKFold(n_splits=3, n_repeats=2, random_state=0), None, 4],
    ids=["kfold", "shuffle", "repeated", "usual", "number"],
)
def test_any_splitter_will_do(cv):
    X, y = noisy(7)
    grid = {"C": [0.5, 5.0], "gamma": [0.1, 0.5]}
    same(shared(SVC(tol=1e-8), grid, cv=cv)(X, y), Original(SklearnSVC(tol=1e-8), grid, cv=cv).fit(X, y))


def test_groups_and_lists_of_splits_will_do():
    X, y = noisy(8)
    groups = np.arange(len(y)) // 5
    grid = {"C": [0.5, 5.0]}
    found = shared(SVC(tol=1e-8), grid, cv=GroupKFold(3))(X, y, groups=groups)
    same(found, Original(SklearnSVC(tol=1e-8), grid, cv=GroupKFold(3)).fit(X, y, groups=groups))
    splits = list(KFold(3).split(X))
    masks = [(np.isin(np.arange(len(y)), train), np.isin(np.arange(len(y)), test)) for train, test in splits]
    one, other = shared(SVC(), grid, cv=splits)(X, y), shared(SVC(), grid, cv=masks)(X, y)
    assert np.array_equal(scores(one), scores(other))


@pytest.mark.parametrize(
    "scoring", ["accuracy", "balanced_accuracy", "f1", "f1_macro", "roc_auc", "average_precision", make_scorer(f1_score, pos_label="no")]
)
def test_scorers_see_what_was_predicted(scoring):
    X, y = noisy(3)
    y = np.where(y == 1, "yes", "no")
    if scoring in ("f1", "average_precision"):
        y = (y == "yes").astype(int)
    grid = {"C": [0.5, 5.0], "gamma": [0.1, 0.5]}
    found = shared(SVC(tol=1e-8), grid, cv=4, scoring=scoring)(X, y)
    expected = Original(SklearnSVC(tol=1e-8), grid, cv=4, scoring=scoring).fit(X, y)
    assert np.abs(scores(found) - scores(expected)).max() < 2e-3
    assert found.scorer_(found, X, y) == pytest.approx(expected.scorer_(expected, X, y), abs=1e-3)


def test_several_scores_at_once_and_a_choice_of_ones_own():
    X, y = noisy(4)
    grid = {"C": [0.5, 5.0], "gamma": [0.1, 0.5]}
    found = shared(SVC(tol=1e-8), grid, cv=3, scoring=["accuracy", "roc_auc"], refit="roc_auc")(X, y)
    expected = Original(SklearnSVC(tol=1e-8), grid, cv=3, scoring=["accuracy", "roc_auc"], refit="roc_auc").fit(X, y)
    assert found.cv_results_.keys() == expected.cv_results_.keys() and found.multimetric_
    assert np.allclose(found.cv_results_["mean_test_accuracy"], expected.cv_results_["mean_test_accuracy"])
    assert np.allclose(found.cv_results_["mean_test_roc_auc"], expected.cv_results_["mean_test_roc_auc"], atol=1e-4)
    assert found.scorer_.keys() == expected.scorer_.keys()
    last = shared(SVC(), grid, cv=3, refit=lambda results: len(results["params"]) - 1)(X, y)
    assert last.best_index_ == 3 and not hasattr(last, "best_score_")
    without = shared(SVC(), grid, cv=3, refit=False)(X, y)
    assert not hasattr(without, "best_estimator_") and without.best_score_ > 0.5


@pytest.mark.parametrize(
    ("machine", "grid", "classifies"),
    [
        (NuSVC(tol=1e-8), {"nu": [0.3, 0.5], "gamma": [0.1, 0.5]}, True),
        (LinearSVC(tol=1e-8), {"C": [0.01, 0.1, 1.0], "loss": ["hinge", "squared_hinge"]}, True),
        (SVR(tol=1e-8), {"C": [0.5, 5.0], "epsilon": [0.01, 0.3], "gamma": ["scale", 0.2]}, False),
        (maxmargin.NuSVR(tol=1e-8), {"C": [0.5, 5.0], "nu": [0.2, 0.6]}, False),
        (LinearSVR(tol=1e-8), {"C": [0.1, 1.0], "epsilon": [0.0, 0.3]}, False),
    ],
    ids=["nu", "linear", "svr", "nu-svr", "linear-svr"],
)
def test_other_machines_have_the_scores_of_their_own_fits(machine, grid, classifies):
    X, y = noisy(5, rows=120)
    if not classifies:
        y = X[:, 0] + np.sin(X[:, 1]) + 0.1 * np.random.RandomState(0).randn(len(X))
    found = shared(machine, grid, cv=3)(X, y)
    expected = Original(machine, grid, cv=3).fit(X, y)
    assert np.abs(scores(found) - scores(expected)).max() < 1e-6
    assert found.best_params_ == expected.best_params_


def test_weights_of_rows_and_classes_are_heard():
    X, y = noisy(6)
    weights = np.random.RandomState(0).randint(1, 4, len(y)).astype(float)
    grid = {"C": [0.1, 1.0], "class_weight": [None, "balanced", {0: 5.0, 1: 1.0}]}
    found = shared(SVC(tol=1e-8), grid, cv=3)(X, y, sample_weight=weights)
    same(found, Original(SVC(tol=1e-8), grid, cv=3).fit(X, y, sample_weight=weights))
    assert np.abs(scores(shared(SVC(tol=1e-8), grid, cv=3)(X, y)) - scores(found)).max() > 0.01


def test_sparse_rows_and_frames_are_searched():
    from scipy.sparse import csr_matrix

    X, y = noisy(9)
    grid = {"C": [0.5, 5.0], "gamma": [0.1, 0.5]}
    full = shared(SVC(tol=1e-8), grid, cv=3)(X, y)
    assert np.array_equal(scores(shared(SVC(tol=1e-8), grid, cv=3)(csr_matrix(X), y)), scores(full))
    pandas = pytest.importorskip("pandas")
    frame = shared(SVC(tol=1e-8), grid, cv=3)(pandas.DataFrame(X, columns=list("abcd")), pandas.Series(y))
    assert np.array_equal(scores(frame), scores(full)) and frame.feature_names_in_.tolist() == list("abcd")


@pytest.mark.parametrize(
    ("estimator", "how", "why"),
    [
        (SVC(kernel=lambda a, b: a @ b.T), {}, "kernel is"),
        (SVC(landmarks=20), {}, "landmarks=20"),
        (SVC(), {"return_train_score": True}, "return_train_score is True"),
        (SVC(), {"scoring": lambda model, X, y: len(model.support_)}, "may look at the model itself"),
        (SVC(probability=True), {"scoring": "neg_log_loss"}, "asks for predict_proba"),
        (make_pipeline(RobustScaler(), SVC()), {}, "RobustScaler"),
        (SVC(), {"cv": [(np.array([0, 1, 2, 2]), np.array([4, 5])), (np.arange(0, 60), np.arange(60, 80))]}, "names a row twice"),
    ],
    ids=["kernel", "landmarks", "training", "scorer", "probabilities", "scaler", "copies"],
)
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.FitFailedWarning", "ignore:One or more of the test scores")
def test_what_cannot_share_is_searched_by_scikit_learn_with_a_word(estimator, how, why):
    X, y = noisy(1, rows=80)
    grid = {"svc__C" if isinstance(estimator, Pipeline) else "C": [0.1, 1.0]}
    search = maxmargin.GridSearchCV(estimator, grid, **{"cv": 3, **how})
    with pytest.warns(maxmargin.FallbackWarning, match=why):
        search.fit(X, y)
    assert why in search.how_ and len(search.cv_results_["params"]) == 2 and search.predict(X).shape == (80,)


def test_other_estimators_are_searched_by_scikit_learn_without_a_warning():
    from sklearn.tree import DecisionTreeClassifier

    X, y = noisy(1, rows=80)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        search = maxmargin.GridSearchCV(DecisionTreeClassifier(random_state=0), {"max_depth": [1, 2]}, cv=3).fit(X, y)
    assert search.how_ == "by scikit-learn's own search: the estimator is a DecisionTreeClassifier"
    assert np.array_equal(scores(search), scores(Original(DecisionTreeClassifier(random_state=0), {"max_depth": [1, 2]}, cv=3).fit(X, y)))


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.FitFailedWarning")
def test_a_candidate_that_cannot_be_fitted_counts_as_in_scikit_learn():
    X, y = noisy(1, rows=80)
    search = maxmargin.GridSearchCV(SVC(), {"C": [-1.0, 1.0]}, cv=3)
    with pytest.warns(UserWarning) as caught:
        search.fit(X, y)
    assert any(issubclass(entry.category, maxmargin.FallbackWarning) for entry in caught)
    assert np.isnan(search.cv_results_["mean_test_score"][0]) and search.best_params_ == {"C": 1.0}
    with pytest.raises(ValueError, match="The 'C' parameter of SVC must be"):
        maxmargin.GridSearchCV(SVC(), {"C": [-1.0, 1.0]}, cv=3, error_score="raise").fit(X, y)


def test_patched_scripts_search_with_shared_work_and_change_no_line():
    script = """
    from sklearn.model_selection import GridSearchCV
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler
    from sklearn.svm import SVC
    from sklearn.datasets import load_wine
    X, y = load_wine(return_X_y=True)
    search = GridSearchCV(make_pipeline(StandardScaler(), SVC(tol=1e-8)), {"svc__C": [0.1, 1.0], "svc__gamma": [0.01, 0.1]}, cv=3).fit(X, y)
    print(type(search).__module__, getattr(search, "how_", None), [float(s) for s in search.cv_results_["mean_test_score"]], sep="|")
    """
    script = textwrap.dedent(script)

    def printed(*command: str) -> list[str]:
        run = subprocess.run([sys.executable, *command], capture_output=True, text=True, check=True, timeout=120)
        return run.stdout.strip().split("|")

    with_us = printed("-W", "error::maxmargin.FallbackWarning", "-c", "import maxmargin; maxmargin.patch_sklearn()\n" + script)
    alone = printed("-c", script)
    assert with_us[:2] == ["maxmargin._grid_search", "shared"]
    assert alone[1] == "None" and with_us[2] == alone[2]


def test_searches_are_copied_and_pickled():
    X, y = noisy(2)
    search = shared(SVC(), {"C": [0.5, 5.0]}, cv=3)(X, y)
    for other in (pickle.loads(pickle.dumps(search)), copy.deepcopy(search)):
        assert np.array_equal(other.predict(X), search.predict(X)) and other.how_ == "shared"
    unfitted = sklearn.base.clone(search)
    assert type(unfitted) is maxmargin.GridSearchCV and not hasattr(unfitted, "best_estimator_")
    assert issubclass(maxmargin.GridSearchCV, Original)


# tune


def bits(found: maxmargin.Tuned) -> bytes:
    cells = [found.held_out(cell)[1] for cell in range(len(found._cells)) if found._cells[cell]["state"] in ("exact", "same")]
    return b"".join([np.concatenate(cells).tobytes(), found.table()["mean"].tobytes(), found.table()["margin"].tobytes()])


@pytest.mark.parametrize("kernel", ["rbf", "linear"])
def test_threads_change_no_bits(kernel):
    X, y = noisy(11, rows=300, classes=3)
    how = dict(kernel=kernel, grid={"C": "0.1:100:4", **({"gamma": [0.05, 0.5]} if kernel == "rbf" else {})}, cv=4)
    found = [tune(X, y, n_jobs=threads, **how) for threads in (1, 2, 3)]
    assert bits(found[0]) == bits(found[1]) == bits(found[2])
    assert len({(str(each.best_params_), each.honest_) for each in found}) == 1
    assert len({each.model.decision_function(X).tobytes() for each in found}) == 1
    # The negative control: another seed draws other folds.
    assert bits(tune(X, y, n_jobs=1, seed=1, **how)) != bits(found[0])


def test_the_best_of_a_search_is_told_with_what_it_is_worth():
    X, y = load_iris(return_X_y=True)
    names = load_iris().target_names[y]
    best = tune(X, names, grid={"C": "0.1:100:4", "gamma": [0.01, 0.1, 1.0]})
    assert best.best_score_ > 0.95 and best.scaling_ == "standard" and best.n_splits_ == 5
    assert best.honest_.interval[0] <= best.honest_.score <= best.honest_.interval[1] and best.honest_.score < best.best_score_ + 0.01
    assert type(best.model) is SVC and best.model.C == best.best_params_["C"] and best.model.gamma == best.best_params_["gamma"]
    assert set(best.model.predict(X)) == set(names) and best.model.score(X, names) > 0.95
    assert best.model.verify(X, names) and best.model.certificate_.relative_gap < 1e-3
    table = best.table()
    assert table["mean"][best.best_index_] == pytest.approx(best.best_score_) and len(table["state"]) == 12
    assert sum(best.counts_.values()) == 12
    # What the table says of the best cell follows from the held-out predictions.
    assert best.held_out_.dtype == names.dtype and np.array_equal(best.held_out_rows_, np.arange(150))
    assert np.mean(best.held_out_ == names) == pytest.approx(best.best_score_, abs=1e-12)
    assert best.one_se_params_.keys() == best.best_params_.keys()
    for text in (repr(best), best._repr_html_()):
        assert "one-SE" in text and "honest" in text
    pandas = pytest.importorskip("pandas")
    assert isinstance(best.table(frame="pandas"), pandas.DataFrame)


def test_held_out_values_are_those_of_separate_models():
    X, y = noisy(12)
    cv = StratifiedKFold(4, shuffle=True, random_state=0)
    grid = {"C": [2.0], "gamma": [0.3]}
    found = tune(X, y, grid=grid, cv=cv, scale="none", tol=1e-8)
    expected = cross_val_predict(SVC(C=2.0, gamma=0.3, tol=1e-8), X, y, cv=cv, method="decision_function")
    assert np.abs(found.held_out_values_ - expected).max() < 1e-5
    assert np.array_equal(found.held_out_, np.where(expected > 0, 1, 0))
    scaled = tune(X, y, grid=grid, cv=cv, scale="standard", tol=1e-8)
    pipeline = make_pipeline(StandardScaler(), SVC(C=2.0, gamma=0.3, tol=1e-8))
    expected = cross_val_predict(pipeline, X, y, cv=cv, method="decision_function")
    assert np.abs(scaled.held_out_values_ - expected).max() < 1e-5
    assert np.allclose(scaled.model.decision_function(X), pipeline.fit(X, y).decision_function(X), atol=1e-5)


def test_leaving_cells_that_cannot_win_changes_no_choice():
    X, y = load_breast_cancer(return_X_y=True)
    for seed in range(3):
        how = dict(cv=10, seed=seed, grid={"C": "0.01:100:4", "gamma": "0.0001:10:5"}, refit=False)
        auto, whole = (tune(X, y, strategy=strategy, **how) for strategy in ("auto", "grid"))
        print(f"seed {seed}: {auto.counts_}")
        assert auto.best_params_ == whole.best_params_ and auto.one_se_params_ == whole.one_se_params_
        assert auto.counts_["abandoned"] > 0 == whole.counts_["abandoned"]


def test_numbers_are_searched_as_a_regression():
    draw = np.random.RandomState(0)
    X = draw.randn(120, 3)
    y = np.sin(X[:, 0]) + 0.3 * X[:, 1] + 0.05 * draw.randn(120)
    found = tune(X, y, grid={"C": [1.0, 10.0], "gamma": [0.1, 0.3], "epsilon": [0.01, 0.1]})
    assert found.metric_ == "r2" and found.best_score_ > 0.9 and type(found.model) is SVR
    assert set(found.best_params_) == {"kernel", "C", "gamma", "epsilon"} and found.model.score(X, y) > 0.9
    assert np.corrcoef(found.held_out_, y)[0, 1] > 0.9
    signed = tune(X, y, grid={"C": [1.0], "gamma": [0.1, 0.3]}, scoring="neg_mean_squared_error")
    plain = tune(X, y, grid={"C": [1.0], "gamma": [0.1, 0.3]}, metric="mse")
    assert signed.best_score_ == -plain.best_score_ < 0 and signed.best_params_ == plain.best_params_
    assert signed.honest_.interval == (-plain.honest_.interval[1], -plain.honest_.interval[0])
    for each in (signed, plain):
        assert each.cv_results_["rank_test_score"][each.best_index_] == 1


def test_one_class_is_searched_with_rows_that_are_known_to_be_unusual():
    draw = np.random.RandomState(0)
    X = np.vstack([draw.randn(100, 2), draw.uniform(-6, 6, (20, 2)) + 4])
    y = np.repeat([1, -1], [100, 20])
    found = tune(X, y, task="one-class", grid={"nu": [0.05, 0.2], "gamma": [0.1, 1.0]}, metric="balanced-accuracy")
    assert type(found.model) is maxmargin.OneClassSVM and found.model.nu == found.best_params_["nu"]
    assert set(np.unique(found.held_out_)) <= {-1, 1} and found.model.predict([[20.0, 20.0]]).tolist() == [-1]


def test_several_kernels_and_groups_and_the_one_se_choice():
    X, y = noisy(13, rows=160)
    groups = np.repeat(np.arange(32), 5)
    found = tune(X, y, kernel=["rbf", "linear"], grid="C=0.1:10:3,gamma=0.1,1", groups=groups, repeats=2, choose="one-se")
    assert set(found.table()["kernel"]) == {"rbf", "linear"} and found.n_splits_ == 10
    assert found.model.kernel == found.one_se_params_["kernel"] and found.model.C == found.one_se_params_["C"]
    assert np.array_equal(found.held_out_rows_, np.arange(160))
    # Rows of a group are held out together.
    for rows in found._search.held_out_rows():
        assert len(rows) % 5 == 0 and len(set(groups[rows])) == len(rows) // 5


def test_a_search_is_drawn_and_its_numbers_are_those_of_the_table(tmp_path):
    X, y = noisy(19)
    found = tune(X, y, grid={"C": "0.1:10:3", "gamma": [0.1, 1.0]}, strategy="grid", refit=False)
    for kind in ("grid", "path", "work"):
        picture = found.plot(kind, path=tmp_path / f"{kind}.png", theme="dark")
        assert picture.svg.startswith(b"<svg") and (tmp_path / f"{kind}.png").read_bytes().startswith(b"\x89PNG")
    assert len(found.plot().numbers.splitlines()) >= 1 + 6
    with pytest.raises(InputError, match="there is no kind of picture"):
        found.plot("cake")
    with pytest.raises(InputError, match="width is 1, but"):
        found.plot(width=1)


def test_warnings_of_a_search_are_kept():
    X, y = noisy(14)
    X[:, 0] *= 1e5
    found = tune(X, y, grid={"C": [1e-3, 1e-2], "gamma": [1e-3]}, scale="none", refit=False)
    assert any("border" in text for text in found.warnings_) or any("ranges of the columns" in text for text in found.warnings_)
    assert any("ranges of the columns" in text for text in found.warnings_)


@pytest.mark.parametrize(
    ("how", "message"),
    [
        (dict(grid={"D": [1]}), "the grid has values for 'D'"),
        (dict(grid={"C": ["a"]}), "the values of C in the grid are"),
        (dict(grid={"C": []}), "there must be one at least"),
        (dict(grid={"C": [-1.0]}), "C is -1"),
        (dict(grid={"degree": [2]}), "none of the kernels rbf has a degree"),
        (dict(grid="C=0.1:1"), "does not read"),
        (dict(kernel="precomputed"), "cannot be searched"),
        (dict(metric="mse"), "the metric mse is not for classes"),
        (dict(metric="accuracy", scoring="accuracy"), "give one of them"),
        (dict(scoring="f1"), "GridSearchCV takes any scorer"),
        (dict(cv=1), "cv is 1"),
        (dict(cv="five"), "cv is 'five'"),
        (dict(cv=[1, 2]), "its items are no pairs of row numbers"),
        (dict(cv=[([-1, 0], [1])]), "a side of a split is"),
        (dict(kernel=[]), "kernel is an empty list"),
        (dict(kernel=5), "kernel is 5"),
        (dict(coef0="a"), "coef0 is 'a'"),
        (dict(checkpoint=5), "checkpoint is 5"),
        (dict(tol=-1.0), "tol is -1"),
        (dict(cv=[([0, 1, 500], [2])]), "split 1 names row 501, but there are"),
        (dict(groups=[1, 2]), "one group for each"),
        (dict(choose="worst"), "choose is 'worst'"),
        (dict(max_time=0), "max_time is 0"),
        (dict(memory="lots"), "memory is 'lots'"),
        (dict(checkpoint="/no/such/folder/file"), "there is no folder"),
        (dict(task="sorting"), "task is 'sorting'"),
        (dict(class_weight={0: -1.0, 1: 1.0}), "must be above 0"),
        (dict(seed=-1), "seed is -1"),
    ],
    ids=lambda value: "-".join(value) if isinstance(value, dict) else "",
)
def test_bad_input_is_refused_with_its_place_and_a_way_out(how, message):
    X, y = noisy(0, rows=40)
    with pytest.raises(InputError, match=re.escape(message)):
        tune(X, y, **how)


def test_amounts_are_not_taken_for_classes():
    X = np.arange(60.0)[:, None]
    with pytest.raises(InputError, match="amounts rather than classes\nhelp: to learn amounts task='regression'"):
        tune(X, np.arange(60))
    assert tune(X, np.arange(60), task="regression", grid={"C": [10.0], "gamma": [0.1]}).metric_ == "r2"


def test_a_limit_on_time_ends_a_search_with_the_best_so_far():
    X, y = noisy(0, rows=1500, columns=20)
    with pytest.warns(UserWarning, match="The search was stopped after max_time=0.05 seconds"):
        found = tune(X, y, max_time=0.05, grid={"C": "0.01:1000:12", "gamma": "0.0001:10:12"}, tol=1e-6)
    assert found.stop_reason_ == "time-limit" and (found.model is None or found.model.predict(X[:5]).shape == (5,))


# Interrupts and checkpoints

# How long a search may take to end on a machine that does other things, too.
PATIENCE = 2.0

PROGRAM = """
import sys, time
import numpy as np
import maxmargin

draw = np.random.RandomState(3)
X = draw.randn(1000, 12)
y = np.where(X[:, :4].sum(axis=1) + draw.randn(1000) > 0, "a", "b")

def search(checkpoint):
    return maxmargin.tune(X, y, grid={"C": "0.01:3000:9", "gamma": "0.001:3:9"}, checkpoint=checkpoint, tol=1e-6, strategy="grid", progress=True)

def told(found):
    import hashlib
    parts = [found.table()["mean"].tobytes(), found.table()["margin"].tobytes(), found.held_out_values_.tobytes()]
    return hashlib.sha256(b"".join(parts)).hexdigest(), found.best_params_, found.model.decision_function(X[:20]).tobytes().hex()
"""


def printed(code: str, *arguments: str) -> str:
    """What a program prints; it is PROGRAM with this code after it."""
    # A child that was started in the background would ignore Ctrl-C.
    run = subprocess.run(
        [sys.executable, "-c", PROGRAM + textwrap.dedent(code), *arguments],
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.default_int_handler),
    )
    assert run.returncode == 0, run.stderr
    return run.stdout


def test_an_interrupted_search_ends_at_once_and_goes_on_to_the_same_bits(tmp_path, capsys):
    path = str(tmp_path / "kept.search")
    seconds = printed(
        """
        import os, signal, threading
        from maxmargin import _search

        sent = []

        def interrupt(self, chain, chains, *others):
            # Ctrl-C comes while the search is under way, and once.
            if chain >= 3 and not sent:
                sent.append(time.time())
                threading.Thread(target=os.kill, args=(os.getpid(), signal.SIGINT)).start()

        _search.SearchLine.__call__ = interrupt
        try:
            search(sys.argv[1])
        except KeyboardInterrupt:
            print(time.time() - sent[0])
        """,
        path,
    )
    with capsys.disabled():
        print(f"\n  a search ended {1000 * float(seconds):.0f} ms after Ctrl-C")
    assert float(seconds) < PATIENCE and os.path.exists(path), "an interrupted search keeps where it is"
    told = "print(*told(search(sys.argv[1])), sep='|')"
    assert printed(told, path) == printed(told, str(tmp_path / "other.search"))
    assert not os.path.exists(path), "a search that is done leaves no checkpoint"


def test_a_checkpoint_of_another_search_is_refused(tmp_path):
    X, y = noisy(0, rows=60)
    path = tmp_path / "kept.search"
    path.write_text("{}")
    with pytest.raises(InputError, match="is no checkpoint of a search"):
        tune(X, y, checkpoint=path)


# Estimators and sessions


def test_an_estimator_that_tunes_itself_is_the_model_that_tune_finds():
    X, y = noisy(15)
    model = maxmargin.SVCCV(Cs=[0.1, 1.0, 10.0], gammas=[0.1, 1.0]).fit(X, y)
    best = tune(X, y, grid={"C": [0.1, 1.0, 10.0], "gamma": [0.1, 1.0]})
    assert {"kernel": "rbf", **model.best_params_} == best.best_params_ and model.best_score_ == best.best_score_
    assert np.array_equal(model.decision_function(X), best.model.decision_function(X))
    assert (model.C_, model.gamma_) == (best.best_params_["C"], best.best_params_["gamma"])
    assert model.verify(X, y) and model.tuned_.honest_ == best.honest_
    again = pickle.loads(pickle.dumps(model))
    assert np.array_equal(again.predict(X), model.predict(X)) and not hasattr(again, "tuned_")
    counted = maxmargin.SVCCV(Cs=3, gammas=4).fit(X, y)
    assert len(counted.cv_results_["params"]) == 12


def test_linear_machines_and_regressions_tune_themselves():
    X, y = noisy(16)
    model = maxmargin.LinearSVCCV(Cs=[0.001, 0.1, 10.0], cv=4).fit(X, y)
    same_c = LinearSVC(C=model.C_).fit(X, y)
    assert np.allclose(model.coef_, same_c.coef_, atol=1e-6) and np.array_equal(model.predict(X), same_c.predict(X))
    t = np.sin(X[:, 0])
    regression = maxmargin.SVRCV(Cs=[1.0, 10.0], gammas=3, epsilons=[0.01, 0.1]).fit(X, t)
    assert regression.score(X, t) > 0.8 and regression.epsilon_ in (0.01, 0.1)


def test_a_machine_of_one_class_takes_the_tightest_shape_that_keeps_the_usual_rows():
    X = np.random.RandomState(0).randn(300, 2)
    model = maxmargin.OneClassSVMCV(gammas=[0.01, 0.1, 1.0, 10.0, 100.0], nus=[0.1], scale="none").fit(X)
    rejected = 1.0 - model.cv_results_["mean_test_score"]
    gammas = np.array([params["gamma"] for params in model.cv_results_["params"]])
    most = 0.1 + np.sqrt(0.09 / 300)
    assert model.gamma_ == gammas[rejected <= most].max() and rejected[gammas == 100.0] > most
    y = np.where(np.linalg.norm(X, axis=1) > 2.0, -1, 1)
    labelled = maxmargin.OneClassSVMCV(gammas=[0.1, 1.0], nus=[0.02, 0.1, 0.3]).fit(X, y)
    assert labelled.nu_ in (0.02, 0.1, 0.3) and labelled.tuned_.metric_ == "balanced-accuracy"
    with pytest.raises(InputError, match="without labels nothing tells which is right"):
        maxmargin.OneClassSVMCV(nus=[0.1, 0.2]).fit(X)


def test_a_session_scores_single_cells_as_the_grid_does_and_keeps_them():
    X, y = noisy(17)
    session = TuneSession(X, y, cv=4)
    grid = {"C": [0.5, 5.0], "gamma": [0.1, 0.5]}
    whole = tune(X, y, grid=grid, cv=4, strategy="grid")
    for place, params in enumerate(whole.cv_results_["params"]):
        values = {"C": params["C"], "gamma": params["gamma"]}
        assert session.score(**values) == whole.table()["mean"][place]
        assert np.array_equal(session.held_out(**values)[1], whole.held_out(place)[1])
    assert session.best_score_ == whole.best_score_ and len(session.cv_results_["params"]) == 4
    began = dict(session._found)
    session.score(C=0.5, gamma=0.1)
    assert session._found == began
    assert np.array_equal(session.model(**{"C": 5.0, "gamma": 0.1}).predict(X), SVCof(X, y).predict(X))
    with pytest.raises(InputError, match="no parameter is named"):
        session.score()
    assert session.score(kernel="linear", C=1.0) > 0.5


def SVCof(X, y):
    return tune(X, y, grid={"C": [5.0], "gamma": [0.1]}, cv=4).model


def test_accuracy_of_a_search_is_that_of_its_held_out_rows():
    X, y = noisy(18, classes=3)
    found = tune(X, y, grid={"C": [1.0, 10.0], "gamma": [0.1, 1.0]}, cv=StratifiedKFold(5), strategy="grid")
    for cell, mean in enumerate(found.table()["mean"]):
        rows, said = found.held_out(cell)
        assert accuracy_score(y[rows], said) == pytest.approx(mean, abs=1e-12)
