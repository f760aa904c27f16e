"""The kernel machines beside scikit-learn's, and what they promise beyond them."""

import copy
import json
import pickle

import numpy as np
import pytest

import maxmargin
from maxmargin import SVC, SVDD, SVR, NuSVC, NuSVR, OneClassSVM

sklearn = pytest.importorskip("sklearn")
from scipy import sparse  # noqa: E402
from sklearn import datasets, svm  # noqa: E402
from sklearn.base import clone  # noqa: E402
from sklearn.exceptions import NotFittedError  # noqa: E402

IRIS = datasets.load_iris(return_X_y=True)
KERNELS = ["linear", "rbf", "poly", "sigmoid"]
TIGHT = 1e-9


def numbers(rows=120, columns=4, seed=0):
    random = np.random.RandomState(seed)
    X = random.randn(rows, columns)
    return X, np.sin(X[:, 0]) + 0.3 * X[:, 1] + 0.1 * random.randn(rows)


@pytest.mark.parametrize("kernel", KERNELS)
@pytest.mark.parametrize("kind", ["dense", "float32", "sparse", "sparse, 64-bit indices"])
def test_three_classes_are_told_apart_as_by_scikit_learn(kernel, kind):
    X, y = IRIS
    X = X - X.mean(axis=0)
    given = {
        "dense": lambda: X,
        "float32": lambda: X.astype(np.float32),
        "sparse": lambda: sparse.csr_matrix(X),
        "sparse, 64-bit indices": lambda: wide(sparse.csr_matrix(X)),
    }[kind]()
    ours = SVC(kernel=kernel, C=2.0, gamma=0.2).fit(given, y)
    theirs = svm.SVC(kernel=kernel, C=2.0, gamma=0.2, tol=TIGHT).fit(X, y)
    near = dict(rtol=1e-4, atol=1e-4)
    np.testing.assert_array_equal(ours.predict(given), theirs.predict(X))
    np.testing.assert_allclose(ours.decision_function(given), theirs.decision_function(X), **near)
    np.testing.assert_array_equal(ours.support_, theirs.support_)
    np.testing.assert_array_equal(ours.n_support_, theirs.n_support_)
    full = ours.dual_coef_.toarray() if sparse.issparse(ours.dual_coef_) else ours.dual_coef_
    if kernel != "sigmoid":  # whose dual has several solutions
        np.testing.assert_allclose(full, theirs.dual_coef_, **near)
    np.testing.assert_allclose(ours.intercept_, theirs.intercept_, **near)
    vectors = ours.support_vectors_.toarray() if sparse.issparse(ours.support_vectors_) else ours.support_vectors_
    np.testing.assert_allclose(vectors, theirs.support_vectors_, rtol=1e-6)
    assert hasattr(ours, "coef_") == (kernel == "linear")
    if kernel == "linear":
        weights = ours.coef_.toarray() if sparse.issparse(ours.coef_) else ours.coef_
        np.testing.assert_allclose(weights, theirs.coef_, **near)


def wide(matrix):
    matrix.indices, matrix.indptr = matrix.indices.astype(np.int64), matrix.indptr.astype(np.int64)
    return matrix


@pytest.mark.parametrize("classes", [2, 3, 5])
@pytest.mark.parametrize("shape", ["ovr", "ovo"])
def test_decision_values_have_scikit_learns_shape_and_sign(classes, shape):
    X, y = datasets.make_blobs(80, centers=classes, random_state=classes, cluster_std=3.0)
    ours = SVC(decision_function_shape=shape).fit(X, y)
    theirs = svm.SVC(decision_function_shape=shape, tol=TIGHT).fit(X, y)
    np.testing.assert_allclose(ours.decision_function(X), theirs.decision_function(X), rtol=1e-4, atol=1e-5)
    np.testing.assert_array_equal(ours.predict(X), theirs.predict(X))


def test_ties_are_broken_by_decision_values_where_that_is_asked_for():
    X, y = datasets.make_blobs(300, centers=6, random_state=1, cluster_std=4.0)
    grid = np.random.RandomState(0).uniform(-15, 15, (4000, 2))
    for kind in (SVC, NuSVC):
        some = kind(break_ties=True, **({"nu": 0.3} if kind is NuSVC else {})).fit(X, y)
        np.testing.assert_array_equal(some.predict(grid), some.classes_[np.argmax(some.decision_function(grid), axis=1)])
        some.set_params(break_ties=False)
        assert np.any(some.predict(grid) != some.classes_[np.argmax(some.decision_function(grid), axis=1)])


@pytest.mark.parametrize("kernel", KERNELS)
@pytest.mark.parametrize("pair", [(SVR, svm.SVR), (NuSVR, svm.NuSVR)], ids=["SVR", "NuSVR"])
def test_numbers_are_met_as_by_scikit_learn(pair, kernel):
    if pair[0] is NuSVR and kernel == "sigmoid":
        pytest.skip("not convex: the two stop at different points")
    X, y = numbers()
    ours, theirs = pair[0](kernel=kernel, gamma=0.2), pair[1](kernel=kernel, gamma=0.2, tol=TIGHT)
    ours.fit(X, y), theirs.fit(X, y)
    np.testing.assert_allclose(ours.predict(X), theirs.predict(X), rtol=1e-3, atol=1e-3)
    np.testing.assert_allclose(ours.score(X, y), theirs.score(X, y), atol=1e-4)
    assert ours.dual_coef_.shape == (1, len(ours.support_)) and ours.n_support_.shape == (1,)


def test_what_is_usual_is_found_as_by_scikit_learn():
    X, _ = numbers()
    ours, theirs = OneClassSVM(nu=0.2, gamma=0.2).fit(X), svm.OneClassSVM(nu=0.2, gamma=0.2, tol=TIGHT).fit(X)
    np.testing.assert_allclose(ours.decision_function(X), theirs.decision_function(X), atol=1e-5)
    np.testing.assert_allclose(ours.offset_, theirs.offset_, atol=1e-5)
    ball = SVDD(nu=0.2, gamma=0.2).fit(X)
    far = np.abs(ours.decision_function(X)) > 1e-6
    np.testing.assert_array_equal(ball.predict(X)[far], ours.predict(X)[far])


def test_a_row_of_weight_k_is_k_rows():
    X, y = IRIS
    weights = np.random.RandomState(3).randint(0, 4, len(X))
    copies = np.repeat(np.arange(len(X)), weights)
    for model in (SVC(), SVC(kernel="linear", class_weight={0: 2.0, 1: 0.5, 2: 1.0}), NuSVC(nu=0.2), SVR(), NuSVR(), OneClassSVM(), SVDD()):
        some, all_ = clone(model).fit(X, y, sample_weight=weights), clone(model).fit(X[copies], y[copies])
        method = "predict" if isinstance(model, (SVR, NuSVR)) else "decision_function"
        np.testing.assert_allclose(getattr(some, method)(X), getattr(all_, method)(X), rtol=1e-6, atol=1e-8, err_msg=repr(model))
        if hasattr(model, "predict_proba"):
            np.testing.assert_allclose(some.predict_proba(X), all_.predict_proba(X), rtol=1e-5, atol=1e-7)


def test_every_model_has_a_certificate_that_can_be_checked():
    X, y = IRIS
    for model in (SVC(), SVC(kernel="linear"), NuSVC(nu=0.3), SVR(), NuSVR(), OneClassSVM(), SVDD()):
        model.fit(X, y) if not isinstance(model, (OneClassSVM, SVDD)) else model.fit(X)
        certificate = model.certificate_
        assert certificate.primal >= certificate.dual - 1e-9 * abs(certificate.dual), model
        assert certificate.relative_gap < 1e-6 and certificate.violation < 1e-6, model
        assert model.stop_reason_ == "converged" and model.solver_ in ("block-smo", "primal-newton") and len(model.history_) > 0
        assert model.verify(X, y)
        assert not model.verify(X + 0.1, y), "other data"
    several = SVC().fit(X, y).certificate_
    assert len(several.machines) == 3 and several.primal == sum(machine.primal for machine in several.machines)


def test_a_kernel_may_be_a_table_a_function_or_a_sum():
    X, y = IRIS
    table = X @ X.T
    plain = SVC(kernel="linear", probability=True).fit(X, y)
    for model, left in ((SVC(kernel="precomputed"), table), (SVC(kernel=lambda a, b: np.asarray(a) @ np.asarray(b).T), X)):
        model.fit(left, y)
        np.testing.assert_allclose(model.decision_function(left[:20]), plain.decision_function(X[:20]), atol=1e-6)
        model.set_params(probability=True)
        np.testing.assert_allclose(model.predict_proba(left[:20]), plain.predict_proba(X[:20]), atol=1e-5)
    both = SVC(kernel="rbf(gamma=0.5) + 0.1 * linear").fit(X, y)
    square = ((X[:, None] - X[None]) ** 2).sum(axis=2)
    by_table = SVC(kernel="precomputed").fit(np.exp(-0.5 * square) + 0.1 * table, y)
    np.testing.assert_allclose(both.dual_coef_, by_table.dual_coef_, atol=1e-6)


@pytest.mark.parametrize(
    "labels", [["a", "b", "c"], [10, 9, -3], [2.0, 0.0, 1.0], ["10", "9", "x"], ["1", "1.0", "one"], [True, False, None]]
)
def test_labels_of_any_kind_come_back(labels, tmp_path):
    X, y = IRIS
    if labels[2] is None:
        X, y, labels = X[:100], y[:100], labels[:2]
    own = np.array(labels)[y]
    model = SVC().fit(X, own)
    np.testing.assert_array_equal(model.classes_, np.unique(own))
    assert model.score(X, own) > 0.95 and model.predict(X).dtype == own.dtype
    reference = svm.SVC(tol=TIGHT).fit(X, own)
    np.testing.assert_array_equal(model.predict(X), reference.predict(X))
    if len(set(map(str, labels))) == len(labels):
        model.save(tmp_path / "model.mm")
        assert (tmp_path / "model.mm").stat().st_size > 100


def test_probabilities_agree_with_predictions_and_need_no_second_fit():
    X, y = datasets.make_blobs(200, centers=3, random_state=0, cluster_std=3.0)
    for model in (SVC(probability=True), NuSVC(nu=0.3, probability=True), SVC()):
        model.fit(X, y).set_params(probability=True)
        probabilities = model.predict_proba(X)
        np.testing.assert_allclose(probabilities.sum(axis=1), 1.0)
        np.testing.assert_array_equal(model.classes_[probabilities.argmax(axis=1)], model.predict(X))
        np.testing.assert_allclose(model.predict_log_proba(X), np.log(probabilities))
    two = SVC(probability=True).fit(X, y == 1)
    order = np.argsort(two.decision_function(X))
    assert np.all(np.diff(two.predict_proba(X)[order, 1]) >= 0), "they rise with the decision value"


@pytest.mark.parametrize("kind", [SVC, NuSVC])
@pytest.mark.parametrize("name", ["predict_proba", "predict_log_proba"])
def test_probabilities_are_there_where_scikit_learns_are(kind, name):
    X, y = IRIS
    theirs = getattr(svm, kind.__name__)
    for parameters in ({}, {"probability": False}, {"probability": True}):
        assert hasattr(kind(**parameters), name) == hasattr(theirs(**parameters), name) == parameters.get("probability", False)
        assert hasattr(kind(nu=0.2, **parameters) if kind is NuSVC else kind(**parameters), name) == bool(parameters.get("probability"))
    with pytest.raises(AttributeError, match="probability=True"):
        getattr(kind(), name)
    with pytest.raises(NotFittedError, match="fitted with probability=False"):
        getattr(kind(probability=False, **({"nu": 0.2} if kind is NuSVC else {})).fit(X, y).set_params(probability=True), name)(X)


def test_a_solver_may_be_named():
    X, y = IRIS
    plain = SVC().fit(X, y)
    named = SVC(solver="smo").fit(X, y)
    assert (plain.solver_, named.solver_) == ("block-smo", "smo")
    np.testing.assert_allclose(named.decision_function(X), plain.decision_function(X), atol=1e-2)
    assert SVC(kernel="linear", solver="interior-point").fit(X, y).solver_ == "interior-point"
    with pytest.raises(ValueError, match='solver is "fast"'):
        SVC(solver="fast").fit(X, y)
    with pytest.raises(ValueError, match="help:"):
        SVC(solver="perceptron").fit(X, y)


@pytest.mark.parametrize(
    "copy_of", [lambda m: pickle.loads(pickle.dumps(m)), copy.deepcopy, lambda m: copy.copy(m)], ids=["pickle", "deepcopy", "copy"]
)
def test_a_copy_predicts_the_same_bits(copy_of):
    X, y = IRIS
    for model in (
        SVC(probability=True).fit(X, y),
        SVR().fit(X, y),
        OneClassSVM().fit(X),
        SVC(kernel="linear").fit(sparse.csr_matrix(X), y),
    ):
        other = copy_of(model)
        np.testing.assert_array_equal(other.predict(X), model.predict(X))
        assert other.certificate_ == model.certificate_ and other.get_params() == model.get_params()
        if hasattr(model, "predict_proba"):
            np.testing.assert_array_equal(other.predict_proba(X), model.predict_proba(X))


def test_any_number_of_threads_gives_the_same_bits():
    X, y = datasets.make_classification(1500, 20, random_state=0)
    one, two = SVC(n_jobs=1).fit(X, y), SVC(n_jobs=2).fit(X, y)
    np.testing.assert_array_equal(one.dual_coef_, two.dual_coef_)
    np.testing.assert_array_equal(one.decision_function(X), two.decision_function(X))


def test_a_warm_start_takes_fewer_steps_to_the_same_answer():
    X, y = datasets.make_classification(800, 10, random_state=0, flip_y=0.1)
    cold = SVC(C=2.0).fit(X, y)
    warm = SVC(C=1.0, warm_start=True).fit(X, y)
    warm.set_params(C=2.0).fit(X, y)
    assert warm.n_iter_.sum() < cold.n_iter_.sum()
    np.testing.assert_allclose(warm.decision_function(X), cold.decision_function(X), atol=0.01)
    warm.fit(X[:500], y[:500])  # other data: from scratch
    assert warm.shape_fit_ == (500, 10)


def test_a_limit_is_kept_and_said():
    X, y = datasets.make_classification(3000, 20, random_state=0, flip_y=0.3)
    with pytest.warns(UserWarning, match=r"max_time=1e-06 seconds.*relative gap"):
        model = SVC(C=100.0, max_time=1e-6).fit(X, y)
    assert model.stop_reason_ == "time-limit" and model.fit_status_ == 1
    with pytest.warns(UserWarning, match=r"max_iter=3"):
        model = SVC(C=100.0, max_iter=3).fit(X, y)
    assert model.stop_reason_ == "iteration-limit" and model.predict(X).shape == (3000,)


def test_nu_that_cannot_be_is_said_before_the_work():
    X, y = IRIS
    X, y = X[:60], y[:60]  # 50 and 10 rows
    with pytest.warns(UserWarning, match="nu=0.9, but classes 1 and 0, with rows of 10 and 50, allow 0.333333 at most"):
        model = NuSVC(nu=0.9).fit(X, y)
    assert model.score(X, y) > 0.95


def test_columns_of_frames_keep_their_names(tmp_path):
    pandas = pytest.importorskip("pandas")
    X, y = IRIS
    frame = pandas.DataFrame(X, columns=["a", "b", "c", "d"])
    model = SVC().fit(frame, y)
    np.testing.assert_array_equal(model.feature_names_in_, ["a", "b", "c", "d"])
    np.testing.assert_array_equal(model.predict(frame), SVC().fit(X, y).predict(X))
    with pytest.raises(ValueError, match="names should match"):
        model.predict(frame[["b", "a", "c", "d"]])
    polars = pytest.importorskip("polars")
    np.testing.assert_array_equal(SVC().fit(polars.from_pandas(frame), y).feature_names_in_, ["a", "b", "c", "d"])


def test_data_is_not_copied_where_its_layout_allows():
    from maxmargin._engine import Data

    X = np.random.RandomState(0).randn(2000, 50)
    for array in (X, X.astype(np.float32)):
        assert not Data.dense(array, 1).copied
    table = sparse.random(500, 40, 0.2, format="csr", random_state=0)
    assert not Data.sparse(*table.shape, table.indptr, table.indices, table.data).copied
    table = wide(table)
    assert Data.sparse(*table.shape, table.indptr, table.indices, table.data).copied


def test_models_go_to_libsvm_and_onnx():
    X, y = IRIS
    X = X.astype(np.float32)
    for model in (SVC(), SVC(kernel="linear"), SVC(kernel="poly")):
        model.fit(X, y)
        text = model.to_libsvm()
        assert text.startswith("svm_type c_svc\n") and f"total_sv {len(model.support_)}\n" in text
        runtime = pytest.importorskip("onnxruntime")
        session = runtime.InferenceSession(model.to_onnx(), providers=["CPUExecutionProvider"])
        labels = session.run(None, {session.get_inputs()[0].name: X})[0]
        assert np.mean(np.asarray(labels).astype(int) == model.predict(X)) > 0.99


def test_pictures_are_drawn(tmp_path):
    X, y = IRIS
    model = SVC().fit(X[:, 2:], y)
    picture = model.plot(X[:, 2:], y, path=tmp_path / "iris.png", title="iris")
    assert (tmp_path / "iris.png").read_bytes().startswith(b"\x89PNG")
    assert picture._repr_svg_().startswith("<svg") and "iris" in picture._repr_svg_()
    of_four = SVC().fit(X, y).plot(X, y, columns=(2, 3))
    assert of_four.svg.startswith(b"<svg")
    with pytest.raises(ValueError, match="neither in .svg nor in .png"):
        picture.save(tmp_path / "iris.gif")


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_every_kind_of_picture_is_drawn(theme):
    X, y = IRIS
    two = SVC(probability=True).fit(X[:, 2:], y == y[0])
    many = SVC().fit(X, y)
    numbers = SVR().fit(X[:, :3], X[:, 3])
    seen = set()
    for model, rows, answers, kinds in [
        (two, X[:, 2:], y == y[0], ["regions", "margins", "roc", "calibration", "confusion", "why"]),
        (many, X, y, [None, "margins", "roc", "confusion", "why"]),
        (SVC(kernel="linear").fit(X[:, 2:], y == y[0]), X[:, 2:], y == y[0], ["hulls"]),
        (numbers, X[:, :3], X[:, 3], ["tube", "residuals", "why"]),
    ]:
        for kind in kinds:
            picture = model.plot(rows, answers, kind=kind, row=3, theme=theme)
            assert picture.numbers.count("\n") > 1
            assert picture._repr_svg_() in picture._repr_html_()
            seen.add(picture.svg)
    assert len(seen) == 15


def test_the_margins_of_a_picture_are_the_decision_values():
    X, y = IRIS
    model = SVC(kernel="linear").fit(X, y == y[0])
    table = model.plot(X, y == y[0], kind="margins").numbers.splitlines()[1:]
    margins = [float(line.rpartition(",")[2]) for line in table]
    np.testing.assert_allclose(margins, model.decision_function(X) * np.where(y == y[0], 1, -1), rtol=1e-12)


def test_parameters_are_checked_when_they_are_used():
    for wrong in ({"C": -1}, {"C": "a"}, {"gamma": -1.0}, {"kernel": 3}, {"tol": 0}, {"max_iter": -2}, {"max_time": 0}, {"n_jobs": "x"}):
        model = SVC(**wrong)
        with pytest.raises(ValueError, match=f"The '{next(iter(wrong))}' parameter of SVC must be"):
            model.fit(*IRIS)


def test_the_answer_is_that_of_the_command_line():
    """The engine is the same, so the fingerprint of data and the steps are."""
    X, y = IRIS
    model = SVC(gamma=0.5).fit(X, y)
    parts = json.loads(model._fit.model.describe())
    assert parts["training_rows"] == 150 and len(parts["fingerprint"]) == 64
    assert parts["classes"] == ["0", "1", "2"]
    assert maxmargin.__version__


@pytest.mark.parametrize("kind", [SVC, NuSVC, SVR, NuSVR, OneClassSVM, SVDD], ids=lambda kind: kind.__name__)
@pytest.mark.parametrize("rows", [200, 800])
def test_a_fit_that_begins_at_its_own_model_stays_there(kind, rows):
    X, y = datasets.make_classification(rows, 6, random_state=1, flip_y=0.1)
    model = kind(warm_start=True, tol=1e-6).fit(X, y)
    values = (model.decision_function if hasattr(model, "decision_function") else model.predict)(X)
    model.fit(X, y)
    again = (model.decision_function if hasattr(model, "decision_function") else model.predict)(X)
    np.testing.assert_allclose(again, values, atol=1e-3)
    assert model.stop_reason_ == "converged" and model.certificate_.relative_gap < 1e-4


@pytest.mark.parametrize(
    "labels",
    [
        [-5, 3, 3, -5, 7],
        [0.0, 2.0, 0.0],
        [-0.0, 0.0, 1.0],
        [True, False, True],
        np.array([-128, 127], dtype=np.int8),
        np.array([2**64 - 1, 1], dtype=np.uint64),
        [2**62, 1],
        [-1.0, 1e300],
        ["b", "a"],
    ],
    ids=str,
)
def test_labels_that_are_counted_are_those_that_sorting_finds(labels):
    from maxmargin._input import _distinct

    array = np.asarray(labels)
    classes, codes = _distinct(array)
    expected, places = np.unique(array, return_inverse=True)
    assert classes.dtype == expected.dtype
    np.testing.assert_array_equal(classes, expected)
    np.testing.assert_array_equal(codes, places)


def test_columns_without_an_entry_cost_nothing():
    columns = 2**31 - 1
    rows = sparse.csr_matrix((np.array([1.0, 2.0, 1.5, 1.0]), np.array([7, columns - 1, 5, 9]), np.array([0, 2, 4])), shape=(2, columns))
    for model in (SVC(gamma=0.5), SVC(), SVC(kernel="poly")):
        assert model.fit(rows, [0, 1]).predict(rows).tolist() == [0, 1]


def test_the_certificates_of_many_machines_are_made_when_they_are_asked_for():
    X = np.random.default_rng(0).normal(size=(90, 3))
    y = np.arange(90) % 30
    model = SVC().fit(X, y)
    certificates = model.certificate_.machines
    assert len(certificates) == 30 * 29 // 2 and "machines" not in model._fit.parts
    assert sum(machine.primal for machine in certificates) == pytest.approx(model.certificate_.primal)
    again = pickle.loads(pickle.dumps(model))
    assert len(again.certificate_.machines) == len(certificates)
    assert np.array_equal(again.dual_coef_, model.dual_coef_)


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_converged_is_the_word_of_the_certificate_at_any_scale():
    for seed in range(20):
        draw = np.random.default_rng(seed)
        X = draw.normal(size=(60, 4))
        t = X @ draw.normal(size=4) + 0.1 * draw.normal(size=60)
        y = np.where(X[:, 0] > 0, 1, -1)
        models = (
            SVC(kernel="linear").fit(1e6 * X, y),
            SVR(kernel="linear", epsilon=1e-10).fit(1e3 * X, 1e-8 * t),
            NuSVR(nu=0.3, C=1e3).fit(X, t),
        )
        for model in models:
            gap = model.certificate_.relative_gap
            assert model.stop_reason_ != "converged" or gap <= 5e-3, (seed, model, gap)
        assert models[0].stop_reason_ == "converged"


def test_a_default_that_meets_no_rule_is_refused_every_time():
    class Wrong(SVC):
        def __init__(self, C=-1.0):
            super().__init__(C=C)

    X, y = np.arange(8.0).reshape(-1, 1), [0, 1] * 4
    for _ in range(2):
        with pytest.raises(ValueError, match="'C' parameter of Wrong"):
            Wrong().fit(X, y)
    assert Wrong(C=1.0).fit(X, y).C == 1.0
