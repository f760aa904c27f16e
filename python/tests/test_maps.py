"""RBFSampler, Nystroem and PolynomialLift: the numbers of scikit-learn's, and the contract of a transformer."""

import copy
import pickle
import subprocess
import sys

import numpy as np
import pytest
import sklearn.kernel_approximation as theirs
from scipy import sparse
from sklearn import config_context
from sklearn.base import clone
from sklearn.compose import ColumnTransformer
from sklearn.datasets import load_digits, load_iris
from sklearn.exceptions import NotFittedError
from sklearn.metrics.pairwise import pairwise_kernels
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import FeatureUnion, make_pipeline
from sklearn.utils.estimator_checks import check_estimator

import maxmargin
from maxmargin import SVC, InputError, Nystroem, PolynomialLift, RBFSampler

MAPS = [
    RBFSampler(),
    RBFSampler(gamma="scale", n_components=7),
    Nystroem(),
    Nystroem(kernel="poly", degree=2),
    Nystroem(kernel="chi2", n_components=5),
    Nystroem(kernel="rbf(gamma=0.5) + linear"),
    PolynomialLift(),
    PolynomialLift(degree=3, gamma=0.5, coef0=0.0),
]


def rows(count=40, columns=3, seed=0):
    return np.random.default_rng(seed).uniform(size=(count, columns))


@pytest.mark.filterwarnings("ignore:n_components > n_samples", "ignore:Estimator")
@pytest.mark.parametrize("estimator", MAPS, ids=repr)
def test_the_checks_of_scikit_learn_pass(estimator):
    np.random.seed(0)  # other seeds are in test_contract.py
    check_estimator(estimator, on_skip=None)


@pytest.mark.parametrize("seed", [0, 7])
@pytest.mark.parametrize("gamma", [0.0, 0.3, "scale"])
@pytest.mark.parametrize("make", [np.asarray, sparse.csr_matrix, sparse.csr_array], ids=["dense", "csr_matrix", "csr_array"])
def test_random_features_are_those_of_scikit_learn(make, gamma, seed):
    X = make(rows())
    own = RBFSampler(gamma=gamma, n_components=50, random_state=seed).fit(X)
    other = theirs.RBFSampler(gamma=gamma, n_components=50, random_state=seed).fit(X)
    np.testing.assert_allclose(own.random_weights_, other.random_weights_, rtol=1e-12)
    np.testing.assert_array_equal(own.random_offset_, other.random_offset_)
    np.testing.assert_allclose(own.transform(X), other.transform(X), atol=1e-12)
    assert own.get_feature_names_out().tolist() == other.get_feature_names_out().tolist()


def test_numpys_global_generator_is_drawn_from_where_no_state_is_given():
    X = rows()
    np.random.seed(5)
    own = RBFSampler().fit_transform(X), Nystroem(n_components=10).fit(X).component_indices_
    np.random.seed(5)
    other = theirs.RBFSampler().fit_transform(X), theirs.Nystroem(n_components=10).fit(X).component_indices_
    np.testing.assert_allclose(own[0], other[0], atol=1e-12)
    np.testing.assert_array_equal(own[1], other[1])


def test_a_generator_of_numpys_is_taken_too():
    X = rows()
    first, second = (RBFSampler(random_state=np.random.default_rng(3)).fit_transform(X) for _ in range(2))
    np.testing.assert_array_equal(first, second)


@pytest.mark.parametrize(
    "kernel, numbers",
    [
        ("rbf", {}),
        ("rbf", {"gamma": 2.0}),
        ("laplacian", {}),
        ("laplacian", {"gamma": 0.7}),
        ("chi2", {}),
        ("chi2", {"gamma": 3.0}),
        ("poly", {}),
        ("polynomial", {"degree": 4, "gamma": 1.0, "coef0": 2.0}),
        ("poly", {"degree": 2.5}),
        ("sigmoid", {"gamma": 0.3}),
        ("linear", {}),
        ("cosine", {}),
        ("additive_chi2", {}),
        ("rbf", {"kernel_params": {"gamma": 0.4, "ignored": 1}}),
    ],
)
def test_nystroem_is_that_of_scikit_learn(kernel, numbers):
    # Far apart and few, so that the table of kernel values is not singular beyond the kernel's own rank.
    X = rows(30, 6, seed=1) * 3
    components = {"linear": 5, "cosine": 5, "sigmoid": 4}.get(kernel, 8)
    own = Nystroem(kernel, n_components=components, random_state=3, **numbers).fit(X)
    other = theirs.Nystroem(kernel, n_components=components, random_state=3, **numbers).fit(X)
    np.testing.assert_array_equal(own.component_indices_, other.component_indices_)
    np.testing.assert_array_equal(own.components_, other.components_)
    size = np.abs(other.transform(X)).max()
    np.testing.assert_allclose(own.normalization_, other.normalization_, atol=1e-10 * np.abs(other.normalization_).max())
    np.testing.assert_allclose(own.transform(X), other.transform(X), atol=1e-10 * max(size, 1.0))


@pytest.mark.parametrize("kernel", ["rbf", "laplacian", "poly", "sigmoid", "linear", "cosine", "chi2", "additive_chi2"])
def test_all_rows_drawn_give_the_kernel_itself(kernel):
    X = rows(25, 30, seed=2)
    lifted = Nystroem(kernel, n_components=25, random_state=0).fit_transform(X)
    values = pairwise_kernels(X, metric=kernel)
    if kernel in ("sigmoid", "additive_chi2"):
        # These are no kernels: the map is that of the table with all its eigenvalues made positive.
        eigenvalues, vectors = np.linalg.eigh(values)
        values = vectors * np.abs(eigenvalues) @ vectors.T
    np.testing.assert_allclose(lifted @ lifted.T, values, atol=1e-9)


@pytest.mark.parametrize("kernel", ["rbf", "laplacian", "poly", "sigmoid", "linear", "cosine", "chi2", "additive_chi2"])
def test_sparse_rows_give_what_full_ones_do(kernel):
    X = rows(30, 6) * (rows(30, 6, seed=4) > 0.5)
    dense = Nystroem(kernel, n_components=5, random_state=0).fit(X)
    for make in (sparse.csr_matrix, sparse.csc_array):
        own = Nystroem(kernel, n_components=5, random_state=0).fit(make(X))
        assert sparse.issparse(own.components_)
        np.testing.assert_allclose(own.transform(make(X)), dense.transform(X), atol=1e-9)
        np.testing.assert_allclose(own.transform(X), dense.transform(X), atol=1e-9)


def test_a_kernel_may_be_a_function_of_two_rows():
    def likeness(x, z, width=1.0):
        return np.exp(-width * np.abs(x - z).max())

    X = rows(20)
    for numbers in ({}, {"width": 3.0}):
        own = Nystroem(likeness, kernel_params=numbers, n_components=6, random_state=0).fit(X)
        other = theirs.Nystroem(likeness, kernel_params=dict(numbers), n_components=6, random_state=0).fit(X)
        np.testing.assert_allclose(own.transform(X), other.transform(X), atol=1e-12)


def test_a_table_of_kernel_values_gives_what_the_kernel_does():
    X, new = rows(20), rows(7, seed=9)
    table, of_new = (pairwise_kernels(left, X, metric="rbf") for left in (X, new))
    by_name = Nystroem(n_components=6, random_state=0).fit(X)
    by_table = Nystroem("precomputed", n_components=6, random_state=0).fit(table)
    np.testing.assert_allclose(by_table.transform(of_new), by_name.transform(new), atol=1e-10)
    by_table.fit(sparse.csr_matrix(table))
    np.testing.assert_allclose(by_table.transform(sparse.csr_matrix(of_new)), by_name.transform(new), atol=1e-10)
    other = theirs.Nystroem("precomputed", n_components=20, random_state=0).fit(table)
    own = Nystroem("precomputed", n_components=20, random_state=0).fit(table)
    np.testing.assert_allclose(own.transform(of_new), other.transform(of_new), atol=1e-6)
    with pytest.raises(ValueError, match="square"):
        own.fit(of_new)


def test_threads_change_no_bit():
    X = rows(300, 5)
    one, two = (Nystroem(n_components=50, random_state=0, n_jobs=jobs).fit_transform(X) for jobs in (1, 2))
    np.testing.assert_array_equal(one, two)


def test_more_components_than_rows_are_as_many_as_there_are():
    with pytest.warns(UserWarning, match="n_components > n_samples"):
        lifted = Nystroem(n_components=100).fit_transform(rows(12))
    assert lifted.shape == (12, 12)


@pytest.mark.parametrize("degree, gamma, coef0", [(1, 1.0, 0.0), (2, 1.0, 1.0), (3, 0.5, 2.0), (4, 2.0, 0.0), (5, 0.1, 0.3)])
def test_the_dot_products_of_the_polynomial_lift_are_the_kernel(degree, gamma, coef0):
    X, other = rows(20, 4) - 0.5, rows(9, 4, seed=3) - 0.5
    lift = PolynomialLift(degree, gamma=gamma, coef0=coef0).fit(X)
    values = (gamma * X @ other.T + coef0) ** degree
    np.testing.assert_allclose(lift.transform(X) @ lift.transform(other).T, values, atol=1e-12)
    np.testing.assert_array_equal(lift.transform(sparse.csr_matrix(X)), lift.transform(X))
    assert lift.n_output_features_ == lift.transform(X).shape[1] == len(lift.get_feature_names_out())


def test_a_linear_machine_on_the_lift_is_the_machine_with_the_kernel():
    X, y = load_iris(return_X_y=True)
    X = (X - X.mean(axis=0)) / X.std(axis=0)
    lifted = make_pipeline(PolynomialLift(degree=2, gamma=0.5), SVC(kernel="linear")).fit(X, y)
    direct = SVC(kernel="poly", degree=2, gamma=0.5, coef0=1.0).fit(X, y)
    np.testing.assert_allclose(lifted.decision_function(X), direct.decision_function(X), atol=1e-6)


def test_monomials_are_named_after_the_columns():
    pandas = pytest.importorskip("pandas")
    lift = PolynomialLift().fit(pandas.DataFrame({"a": [1.0], "b": [2.0]}))
    assert lift.get_feature_names_out().tolist() == ["1", "a", "b", "a^2", "b^2", "a*b"]
    assert PolynomialLift().fit([[1.0, 2.0]]).get_feature_names_out()[-1] == "x0*x1"
    with pytest.raises(ValueError, match="not equal to feature_names_in_"):
        lift.get_feature_names_out(["b", "a"])


@pytest.mark.parametrize("estimator", [RBFSampler(random_state=0), Nystroem(n_components=9, random_state=0), PolynomialLift()], ids=repr)
def test_single_precision_stays_and_whole_numbers_become_double(estimator):
    X = rows(20)
    double = estimator.fit_transform(X)
    single = estimator.fit_transform(X.astype(np.float32))
    assert (double.dtype, single.dtype) == (np.float64, np.float32)
    np.testing.assert_allclose(single, double, atol=1e-3)
    for kind in (np.int8, np.int64, np.float16, bool):
        assert estimator.fit_transform((X * 5).astype(kind)).dtype == np.float64
    pandas = pytest.importorskip("pandas")
    assert estimator.fit_transform(pandas.DataFrame(X.astype(np.float32))).dtype == np.float32


@pytest.mark.parametrize("estimator", [RBFSampler(random_state=0), Nystroem(n_components=5, random_state=0), PolynomialLift()], ids=repr)
def test_frames_come_out_where_they_are_asked_for(estimator):
    pandas, polars = pytest.importorskip("pandas"), pytest.importorskip("polars")
    estimator = clone(estimator)
    frame = pandas.DataFrame(rows(8), columns=["a", "b", "c"], index=list("stuvwxyz"))
    plain = estimator.fit_transform(frame)
    names = estimator.get_feature_names_out().tolist()
    assert isinstance(plain, np.ndarray)
    lifted = estimator.set_output(transform="pandas").transform(frame)
    assert lifted.columns.tolist() == names and lifted.index.tolist() == list("stuvwxyz")
    np.testing.assert_array_equal(lifted.to_numpy(), plain)
    assert isinstance(clone(estimator).fit_transform(frame), pandas.DataFrame)
    lifted = estimator.set_output(transform="polars").transform(frame)
    assert isinstance(lifted, polars.DataFrame) and lifted.columns == names
    assert isinstance(estimator.set_output(transform="default").transform(frame), np.ndarray)
    assert estimator.set_output() is estimator
    with config_context(transform_output="pandas"):
        assert isinstance(clone(estimator).fit_transform(frame), np.ndarray)  # chosen for this one
        assert isinstance(estimator.__class__(**estimator.get_params()).fit_transform(frame), pandas.DataFrame)
    with pytest.raises(InputError, match="output config"):
        estimator.set_output(transform="tables")


def test_meta_estimators_hand_frames_on():
    pandas = pytest.importorskip("pandas")
    X = pandas.DataFrame(rows(10), columns=["a", "b", "c"])
    parts = [("lift", PolynomialLift(), ["a", "b"]), ("draw", Nystroem(n_components=3, random_state=0), ["c"])]
    lifted = ColumnTransformer(parts).set_output(transform="pandas").fit_transform(X)
    assert lifted.columns.tolist()[:3] == ["lift__1", "lift__a", "lift__b"] and lifted.shape == (10, 9)
    union = FeatureUnion([("one", RBFSampler(n_components=4)), ("two", PolynomialLift())]).fit_transform(X)
    assert union.shape == (10, 14)


@pytest.mark.filterwarnings("ignore:n_components > n_samples")
@pytest.mark.parametrize("estimator", MAPS, ids=repr)
def test_maps_survive_pickle_copy_and_clone(estimator):
    X = rows(30)
    fitted = clone(estimator).fit(X)
    lifted = fitted.transform(X)
    for again in (pickle.loads(pickle.dumps(fitted)), copy.deepcopy(fitted), copy.copy(fitted)):
        np.testing.assert_array_equal(again.transform(X), lifted)
    with pytest.raises(NotFittedError):
        clone(fitted).transform(X)


def test_a_fit_anew_forgets_the_map_before():
    lift = PolynomialLift().fit(rows(5, 2))
    lift.transform(rows(5, 2))
    assert lift.set_params(degree=3).fit(rows(5, 4)).transform(rows(5, 4)).shape == (5, 35)


def test_pipelines_with_a_linear_machine_learn_what_is_not_linear():
    X, y = load_digits(n_class=5, return_X_y=True)
    X = X / 16.0
    for lift in (Nystroem(gamma=0.2, n_components=80, random_state=0), RBFSampler(gamma=0.2, n_components=200, random_state=0)):
        model = make_pipeline(lift, SVC(kernel="linear")).fit(X[:400], y[:400])
        assert model.score(X[400:], y[400:]) > 0.93


def test_a_grid_search_over_a_map():
    X, y = load_iris(return_X_y=True)
    model = make_pipeline(Nystroem(random_state=0), SVC(kernel="linear"))
    search = GridSearchCV(model, {"nystroem__n_components": [5, 20], "nystroem__gamma": [0.1, 1.0]}, cv=3).fit(X, y)
    assert search.best_score_ > 0.9


@pytest.mark.parametrize(
    "estimator, word",
    [
        (RBFSampler(gamma=-1.0), "gamma"),
        (RBFSampler(n_components=0), "n_components"),
        (RBFSampler(random_state="seed"), "random_state"),
        (Nystroem(kernel=3), "kernel"),
        (Nystroem(kernel="nonsense", n_components=5), "nonsense"),
        (Nystroem(degree=0), "degree"),
        (Nystroem(kernel=lambda x, z: 1.0, gamma=1.0), "callable"),
        (Nystroem(kernel="rbf + linear", gamma=1.0), "combination"),
        (PolynomialLift(degree=0), "degree"),
        (PolynomialLift(degree=33), "degree"),
        (PolynomialLift(gamma=0.0), "gamma"),
        (PolynomialLift(coef0=-1.0), "coef0"),
    ],
    ids=lambda value: repr(value) if isinstance(value, str) else type(value).__name__,
)
def test_parameters_out_of_range_are_refused(estimator, word):
    with pytest.raises(ValueError, match=word):
        estimator.fit(rows())


def test_histograms_have_no_negative_numbers():
    lift = Nystroem("chi2", n_components=3).fit(rows(9))
    with pytest.raises(ValueError, match="Negative values"):
        lift.transform(-rows(2))
    with pytest.raises(ValueError, match="Negative values"):
        lift.fit(-rows(9))


def test_the_package_loads_neither_scikit_learn_nor_scipy():
    code = (
        "import sys, numpy as np, maxmargin as m\n"
        "X = np.eye(4)\n"
        "for lift in (m.RBFSampler(), m.Nystroem(n_components=2), m.PolynomialLift()):\n"
        "    assert lift.fit_transform(X).shape[0] == 4\n"
        "for model in (m.RVC(), m.KernelPerceptron()):\n"
        "    assert len(model.fit(X, [0, 0, 1, 1]).predict(X)) == 4\n"
        "assert not {'sklearn', 'scipy', 'pandas', 'polars'} & set(sys.modules), sorted(sys.modules)\n"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


def test_all_names_of_the_package_are_there():
    assert {"RBFSampler", "Nystroem", "PolynomialLift"} <= set(maxmargin.__all__)
