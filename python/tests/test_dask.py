"""The estimators on a cluster against those in memory: the optimum, predictions, files, the contract."""

import copy
import pickle

import dask
import dask.array as da
import dask.dataframe as dd
import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from dask_faults import small_shards
from dask_here import cluster_of, rows_of
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning

import maxmargin
from maxmargin.dask import DaskLinearDiscriminantAnalysis, DaskLinearSVC, DaskLinearSVR, DaskLogisticRegression, read


@pytest.fixture(autouse=True)
def _small_shards():
    with small_shards():
        yield


@pytest.fixture(scope="module")
def client():
    with cluster_of(2) as client:
        yield client


def chunked(X, y, size=250):
    return da.from_array(X, chunks=(size, -1)), da.from_array(y, chunks=size)


@pytest.mark.parametrize(
    ("far", "near", "kind"),
    [
        (DaskLinearSVC(tol=1e-10), maxmargin.LinearSVC(), "two"),
        (DaskLinearSVC(tol=1e-10, class_weight="balanced"), maxmargin.LinearSVC(class_weight="balanced"), "four"),
        (DaskLinearSVC(tol=1e-10, intercept_scaling=3.0, C=0.2), maxmargin.LinearSVC(intercept_scaling=3.0, C=0.2), "two"),
        (
            DaskLinearSVC(tol=1e-10, class_weight={"ant": 2.0, "bee": 0.5}),
            maxmargin.LinearSVC(class_weight={"ant": 2.0, "bee": 0.5}),
            "two",
        ),
        (DaskLogisticRegression(tol=1e-10), maxmargin.LogisticRegression(), "two"),
        (DaskLogisticRegression(tol=1e-10), maxmargin.LogisticRegression(solver="liblinear", intercept_scaling=1e4), "four"),
        (DaskLinearSVR(tol=1e-10, loss="squared_epsilon_insensitive"), maxmargin.LinearSVR(loss="squared_epsilon_insensitive"), "numbers"),
    ],
)
def test_the_optimum_is_that_of_the_fit_in_memory(client, far, near, kind):
    X, y, weights = rows_of(kind, seed=1)
    far.fit(*chunked(X, y), da.from_array(weights, chunks=250))
    near.fit(X, y, weights)
    np.testing.assert_allclose(far.coef_, near.coef_, atol=2e-3 if "intercept_scaling=10000" in repr(near) else 2e-4)
    np.testing.assert_allclose(far.intercept_, near.intercept_, atol=2e-3)
    assert far.certificate_.relative_gap <= far.tol
    assert far.stop_reason_ == "converged"


@pytest.mark.parametrize("parameters", [{}, {"shrinkage": 0.3}, {"solver": "eigen", "priors": [0.1, 0.2, 0.3, 0.4]}, {"solver": "lsqr"}])
def test_the_discriminant_is_that_of_the_fit_in_memory(client, parameters):
    X, y, _ = rows_of("four", seed=2)
    far = DaskLinearDiscriminantAnalysis(**parameters).fit(*chunked(X, y))
    near = maxmargin.LinearDiscriminantAnalysis(**parameters).fit(X, y)
    for name in ("coef_", "intercept_", "means_", "priors_", "explained_variance_ratio_"):
        np.testing.assert_allclose(getattr(far, name), getattr(near, name), rtol=1e-9, atol=1e-11, err_msg=name)
    np.testing.assert_allclose(np.abs(far.transform(X)), np.abs(near.transform(X)), atol=1e-10)
    np.testing.assert_allclose(far.predict_proba(X), near.predict_proba(X), atol=1e-10)


def test_a_singular_scatter_is_inverted_where_it_is_not_0(client):
    X, y, _ = rows_of("two", seed=3)
    X = np.hstack([X, X[:, :1]])
    far = DaskLinearDiscriminantAnalysis().fit(*chunked(X, y))
    near = maxmargin.LinearDiscriminantAnalysis().fit(X, y)
    np.testing.assert_allclose(far.decision_function(X), near.decision_function(X), atol=1e-10)
    assert far.notes_ == ["the scatter matrix is singular"]


def test_predictions_are_lazy_of_the_kind_of_X_and_keep_the_index(client):
    X, y, _ = rows_of("four", seed=4)
    far_X, far_y = chunked(X, y)
    model = DaskLogisticRegression().fit(far_X, far_y)
    local = model.to_local()
    for name in ("predict", "decision_function", "predict_proba"):
        found = getattr(model, name)(far_X)
        assert isinstance(found, da.Array) and found.chunks[0] == far_X.chunks[0]
        np.testing.assert_array_equal(found.compute(), getattr(local, name)(X))
    frame = pd.DataFrame(X, columns=list("abcdef"), index=np.arange(900) * 3 + 7)
    far_frame = dd.from_pandas(frame, npartitions=4)
    model = DaskLogisticRegression().fit(far_frame, dd.from_pandas(pd.Series(y, index=frame.index), npartitions=4))
    found = model.predict(far_frame).compute()
    assert found.index.equals(frame.index)
    np.testing.assert_array_equal(found.to_numpy(), model.to_local().predict(frame))
    assert model.predict_proba(far_frame).compute().columns.tolist() == ["ant", "bee", "cat", "dog"]
    assert model.feature_names_in_.tolist() == list("abcdef")
    assert type(model.to_local()) is maxmargin.LogisticRegression


def test_scores_are_those_in_memory(client):
    X, y, weights = rows_of("four", seed=5)
    far = chunked(X, y)
    model = DaskLinearSVC().fit(*far)
    assert model.score(*far) == pytest.approx(model.to_local().score(X, y), abs=1e-15)
    weighted = model.score(*far, da.from_array(weights, chunks=250))
    assert weighted == pytest.approx(model.to_local().score(X, y, weights), abs=1e-14)
    X, y, weights = rows_of("numbers", seed=6)
    model = DaskLinearSVR(loss="squared_epsilon_insensitive").fit(*chunked(X, y))
    assert model.score(*chunked(X, y), da.from_array(weights, chunks=250)) == pytest.approx(
        model.to_local().score(X, y, weights), abs=1e-12
    )


def test_sparse_chunks_are_the_same_as_dense_ones(client):
    X, y, _ = rows_of("two", seed=7)
    X[X < 0.5] = 0.0
    far_X, far_y = chunked(X, y)
    dense = DaskLinearSVC(tol=1e-10).fit(far_X, far_y)
    sparse = DaskLinearSVC(tol=1e-10).fit(far_X.map_blocks(sp.csr_matrix), far_y)
    np.testing.assert_allclose(sparse.coef_, dense.coef_, atol=1e-6)
    assert sparse.verify(far_X.map_blocks(sp.csr_matrix), far_y)


def test_a_collection_that_lies_on_the_cluster_is_used_where_it_is(client):
    X, y, _ = rows_of("two", seed=8)
    far_X, far_y = chunked(X, y)
    expected = DaskLinearSVC().fit(far_X, far_y)
    kept_X, kept_y = dask.persist(far_X, far_y)
    found = DaskLinearSVC().fit(kept_X * 1.0, kept_y)
    np.testing.assert_array_equal(found.coef_, expected.coef_)
    # A rechunk shares its tasks among the shards, so that it is done once.
    found = DaskLinearSVC().fit(da.from_array(X, chunks=(30, 2)).rechunk((250, 3)), far_y)
    np.testing.assert_array_equal(found.coef_, expected.coef_)


def test_files_are_read_by_the_workers(client, tmp_path):
    X, y, _ = rows_of("two", seed=9, rows=400)
    y = np.where(y == "ant", -1, 1)
    names = [f"x{j}" for j in range(6)]
    for k in range(4):
        part = slice(100 * k, 100 * (k + 1))
        frame = pd.DataFrame(X[part], columns=names).assign(kind=y[part])
        frame.to_csv(tmp_path / f"part{k}.csv", index=False)
        frame.to_parquet(tmp_path / f"part{k}.parquet")
        lines = [
            f"{label:+d} " + " ".join(f"{j + 1}:{value!r}" for j, value in enumerate(row.tolist())) for label, row in zip(y[part], X[part])
        ]
        (tmp_path / f"part{k}.svm").write_text("\n".join(lines) + "\n")
    near = maxmargin.LinearSVC().fit(X, y)
    for ending in ("csv", "parquet", "svm"):
        label = None if ending == "svm" else "kind"
        files = read(tmp_path / f"*.{ending}", label=label)
        model = DaskLinearSVC(tol=1e-10).fit(files)
        np.testing.assert_allclose(model.coef_, near.coef_, atol=1e-5)
        assert model.verify(files)
        found = model.predict(files).compute()
        assert [int(label) for label in found] == near.predict(X).tolist()
        assert model.score(files) == pytest.approx(near.score(X, y), abs=1e-15)
    model = DaskLinearSVR(loss="squared_epsilon_insensitive").fit(read(str(tmp_path / "*.csv"), label="x0"))
    assert model.n_features_in_ == 6 and 0.0 < model.score(read(str(tmp_path / "*.csv"), label="x0")) < 1.0


def test_a_certificate_that_is_not_true_is_not_verified(client):
    X, y, _ = rows_of("two", seed=10)
    far = chunked(X, y)
    model = DaskLinearSVC(loss="hinge").fit(*far)
    assert model.verify(*far)
    other = far[0] + 1e-3
    assert not model.verify(other, far[1])
    lied = copy.copy(model)
    lied._certificates = [{**found, "dual": found["dual"] + found["gap"]} for found in model._certificates]
    assert not lied.verify(*far)


def test_the_contract_of_scikit_learn(client):
    X, y, _ = rows_of("two", seed=11)
    model = DaskLinearSVC(C=2.0, client=client, patience=30.0)
    other = clone(model)
    assert other is not model and other.get_params()["client"] is client and other.C == 2.0
    assert other.set_params(C=3.0).C == 3.0
    with pytest.raises(ValueError, match="Invalid parameter 'c'"):
        other.set_params(c=1.0)
    model.fit(*chunked(X, y))
    again = pickle.loads(pickle.dumps(model))
    assert again.client is None
    np.testing.assert_array_equal(again.predict(X), model.predict(X))
    assert again.verify(*chunked(X, y)) and again.cluster_.rounds == model.cluster_.rounds
    assert "Client" not in repr(DaskLinearSVC())
    local = DaskLinearSVC().fit(X, y)
    np.testing.assert_allclose(local.coef_, maxmargin.LinearSVC().fit(X, y).coef_, atol=1e-3)


@pytest.mark.parametrize("value", [np.nan, np.inf])
def test_a_number_that_is_not_finite_is_told_with_its_chunk(client, value):
    X, y, _ = rows_of("two", seed=12)
    X[610, 3] = value
    with pytest.raises(maxmargin.InputError, match="chunk 2: .*row 110, column 3"):
        DaskLinearSVC().fit(*chunked(X, y))


def test_what_shards_cannot_train_is_refused_before_a_row_is_read(client):
    X, y = da.ones((10, 2), chunks=(5, 2)).map_blocks(_fails, dtype=float, meta=np.zeros((0, 2))), da.zeros(10, chunks=5)
    for model, words in (
        (DaskLinearSVC(penalty="l1"), "the L1 norm"),
        (DaskLinearSVC(multi_class="crammer_singer"), "choose multi_class='ovr'"),
        (DaskLinearSVC(solver="smo"), "primal-newton"),
        (DaskLinearSVC(warm_start=True), "checkpoint"),
        (DaskLogisticRegression(penalty=None), "no penalty"),
        (DaskLinearSVC(C=-1.0), "'C' parameter"),
        (DaskLinearDiscriminantAnalysis(shrinkage="auto"), "choose a number"),
        (DaskLinearSVC(checkpoint="/nowhere/at/all"), "no folder"),
        (DaskLinearSVC(client="here"), "a distributed.Client"),
    ):
        with pytest.raises(maxmargin.InputError, match=words):
            model.fit(X, y)


def _fails(block):
    raise AssertionError("a row was read")


def test_bad_data_is_told_with_a_way_out(client, tmp_path):
    X, y, _ = rows_of("two", seed=13)
    far_X, far_y = chunked(X, y)
    for call, words in (
        (lambda: DaskLinearSVC().fit(far_X, far_y[:-1]), "inconsistent numbers of samples"),
        (lambda: DaskLinearSVC().fit(far_X), "requires y"),
        (lambda: DaskLinearSVC().fit(far_X, da.from_array(np.full(900, "ant"), chunks=250)), "all rows have the label 'ant'"),
        (lambda: DaskLinearSVC().fit(X, far_y), "give arrays or frames of Dask for all"),
        (lambda: read(tmp_path / "*.csv"), "no file is called"),
        (lambda: DaskLinearSVC().fit(far_X, far_y).predict(far_X[:, :3]), "expecting 6 features"),
    ):
        with pytest.raises(maxmargin.InputError, match=words):
            call()
    with pytest.raises(ValueError, match="not fitted"):
        DaskLinearSVC().predict(far_X)


def test_a_limit_on_time_ends_a_fit_with_a_certificate(client):
    X, y, _ = rows_of("two", seed=14)
    with pytest.warns(ConvergenceWarning, match="max_time"):
        model = DaskLinearSVC(loss="hinge", tol=1e-9, max_time=1e-3).fit(*chunked(X, y))
    assert model.stop_reason_ == "time-limit" and model.certificate_.relative_gap > 1e-9
    assert model.verify(*chunked(X, y))
