"""Models read back from our file: the same class, parameters, attributes and bits."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp

import maxmargin
from maxmargin import (
    SVC,
    SVDD,
    SVR,
    InputError,
    LinearDiscriminantAnalysis,
    LinearSVC,
    LinearSVR,
    LogisticRegression,
    NuSVC,
    NuSVR,
    OneClassSVM,
    Perceptron,
    SGDClassifier,
)

_draw = np.random.RandomState(0)
X = _draw.rand(24, 3)
THREE = _draw.randint(0, 3, 24) * 10 - 10
WORDS = np.array(list("abc") * 8)
T = X[:, 0]
KERNELS = ["rbf", "poly", "sigmoid", "laplacian", "chi2", "linear", "rbf(gamma=0.5) + 2*linear", "rbf(gamma=0.5)*(poly(degree=2)+linear)"]
CASES = [
    (SVC, {"C": 3.0, "class_weight": "balanced"}, THREE),
    (SVC, {}, WORDS),
    (SVC, {}, np.where(THREE > 0, 7, -7)),
    (NuSVC, {"nu": 0.3}, THREE),
    (SVR, {"epsilon": 0.01}, T),
    (NuSVR, {}, T),
    (OneClassSVM, {"nu": 0.2}, None),
    (SVDD, {"nu": 0.3}, None),
]
ATTRIBUTES = [
    "intercept_", "dual_coef_", "support_", "n_support_", "n_iter_", "offset_", "epsilon_", "class_weight_", "support_vectors_", "coef_",
    "shape_fit_", "n_features_in_", "feature_names_in_", "classes_", "fit_status_", "stop_reason_", "solver_",
]  # fmt: skip


def full(values):
    return values.toarray() if sp.issparse(values) else np.asarray(values)


@pytest.mark.parametrize("form", ["full", "sparse", "frame"])
@pytest.mark.parametrize("kernel", KERNELS)
@pytest.mark.parametrize("case", CASES, ids=lambda case: f"{case[0].__name__}-{sorted(case[1])}")
@pytest.mark.filterwarnings("ignore::UserWarning")
def test_a_model_comes_back_as_it_was(case, kernel, form, tmp_path):
    kind, parameters, y = case
    rows = {"full": X, "sparse": sp.csr_matrix(X), "frame": pd.DataFrame(X, columns=["u", "v", "w"])}[form]
    model = kind(kernel=kernel, **parameters).fit(rows, y)
    if kind is SVC:
        model.set_params(probability=True)
    model.save(tmp_path / "model.mm")
    again = maxmargin.load(tmp_path / "model.mm")
    assert type(again) is kind and type(kind.load(tmp_path / "model.mm")) is kind
    assert np.array_equal(again.predict(rows), model.predict(rows))
    if hasattr(model, "decision_function"):
        assert np.array_equal(again.decision_function(rows), model.decision_function(rows))
    if kind is SVC:
        assert np.array_equal(again.predict_proba(rows), model.predict_proba(rows))
    for name in ATTRIBUTES:
        if hasattr(model, name) and not (kernel == "linear" and name == "support_vectors_"):
            assert np.array_equal(full(getattr(again, name)), full(getattr(model, name))), name
    assert again.certificate_ == model.certificate_
    assert model.verify(rows, y) and again.verify(rows, y)
    for name, value in parameters.items():
        assert name == "class_weight" or getattr(again, name) == value
    if kind is not NuSVR:  # whose ν is not in a file
        values = (lambda m: m.predict(rows)) if kind is SVR else (lambda m: m.decision_function(rows))
        assert np.abs(values(maxmargin.load(tmp_path / "model.mm").fit(rows, y)) - values(model)).max() < 1e-6


def test_the_vectors_of_a_linear_model_are_not_in_its_file_and_that_is_said(tmp_path):
    SVC(kernel="linear").fit(X, WORDS).save(tmp_path / "model.mm")
    with pytest.raises(AttributeError, match="keeps its weights"):
        SVC.load(tmp_path / "model.mm").support_vectors_  # noqa: B018


@pytest.mark.parametrize("kind", [SVC, NuSVC, SVR, NuSVR, OneClassSVM, SVDD])
def test_no_class_reads_the_file_of_another(kind, tmp_path):
    kind().fit(X, T if kind in (SVR, NuSVR) else WORDS).save(tmp_path / "model.mm")
    for other in {SVC, NuSVC, SVR, NuSVR, OneClassSVM, SVDD} - {kind}:
        with pytest.raises(InputError, match=f"which {other.__name__} is not"):
            other.load(tmp_path / "model.mm")


@pytest.mark.parametrize(
    ("labels", "expected"),
    [
        ([True, False], [0, 1]),
        ([2.0, -1.0], [-1, 2]),
        (["01", "1"], ["01", "1"]),
        (["x", "ß"], ["x", "ß"]),
        ([10**18, -5], [-5, 10**18]),
        ([9 * 10**18, 0], [0, 9 * 10**18]),
        ([2**63, 0], ["0", str(2**63)]),
    ],
)
def test_labels_come_back_as_whole_numbers_or_as_text(labels, expected, tmp_path):
    SVC().fit(X, labels * 12).save(tmp_path / "model.mm")
    assert maxmargin.load(tmp_path / "model.mm").classes_.tolist() == expected


def test_a_table_of_kernel_values_comes_back_as_one(tmp_path):
    model = SVC(kernel=lambda a, b: a @ b.T).fit(X, WORDS)
    model.save(tmp_path / "model.mm")
    again = maxmargin.load(tmp_path / "model.mm")
    assert again.kernel == "precomputed" and np.array_equal(again.predict(X @ X.T), model.predict(X))


_rows = np.random.RandomState(5).randn(150, 4)
_three = np.digitize(_rows[:, 0] + 0.2 * _rows[:, 1], [-0.5, 0.5])
_two = np.where(_three > 0, "yes", "no")
LINEAR = [
    (LinearSVC, {}, _three),
    (LinearSVC, {"C": 0.5, "loss": "hinge"}, _two),
    (LinearSVC, {"penalty": "l1", "class_weight": {"no": 2.0, "yes": 1.0}}, _two),
    (LinearSVC, {"multi_class": "crammer_singer"}, _three),
    (LinearSVC, {"fit_intercept": False}, _two),
    (LinearSVC, {"intercept_scaling": None}, _three),
    (LinearSVR, {"epsilon": 0.1, "C": 2.0}, _rows[:, 0]),
    (LinearSVR, {"loss": "squared_epsilon_insensitive"}, _rows[:, 0]),
    (LogisticRegression, {}, _three),
    (LogisticRegression, {"C": 3.0}, _two),
    (LogisticRegression, {"solver": "liblinear"}, _three),
    (LogisticRegression, {"solver": "liblinear", "l1_ratio": 1.0}, _two),
    (LogisticRegression, {"C": float("inf"), "max_iter": 5}, _two),
    (Perceptron, {}, _three),
]


@pytest.mark.parametrize("form", ["full", "sparse", "frame"])
@pytest.mark.parametrize("case", LINEAR, ids=lambda case: f"{case[0].__name__}-{case[1]}")
@pytest.mark.filterwarnings("ignore::UserWarning")
def test_a_linear_model_comes_back_as_it_was(case, form, tmp_path):
    kind, parameters, y = case
    rows = {"full": _rows, "sparse": sp.csr_matrix(_rows), "frame": pd.DataFrame(_rows, columns=["a", "b", "c", "d"])}[form]
    model = kind(**parameters).fit(rows, y)
    model.save(tmp_path / "model.mm")
    for again in (maxmargin.load(tmp_path / "model.mm"), kind.load(tmp_path / "model.mm")):
        assert type(again) is kind
        assert {name: getattr(again, name) for name in parameters if name != "max_iter"} == {
            name: value for name, value in parameters.items() if name != "max_iter"
        }
        assert np.array_equal(again.predict(rows), model.predict(rows))
        for method in ("decision_function", "predict_proba"):
            if hasattr(model, method):
                assert np.array_equal(getattr(again, method)(rows), getattr(model, method)(rows))
        for name in ("coef_", "intercept_", "n_iter_", "classes_", "n_features_in_", "feature_names_in_", "stop_reason_", "certificate_"):
            if hasattr(model, name):
                assert np.array_equal(getattr(again, name), getattr(model, name)), name
        again.save(tmp_path / "again.mm")
        assert (tmp_path / "again.mm").read_bytes() == (tmp_path / "model.mm").read_bytes()


def test_a_discriminant_comes_back_to_predict(tmp_path):
    for y in (_two, _three):
        model = LinearDiscriminantAnalysis().fit(_rows, y)
        model.save(tmp_path / "model.mm")
        again = maxmargin.load(tmp_path / "model.mm")
        assert type(again) is LinearDiscriminantAnalysis and np.array_equal(again.predict(_rows), model.predict(_rows))
        assert np.allclose(again.predict_proba(_rows), model.predict_proba(_rows), atol=1e-12)
        with pytest.raises(InputError, match="no directions to project onto"):
            again.transform(_rows)


@pytest.mark.parametrize("loss", ["hinge", "squared_hinge", "log_loss"])
def test_a_stream_comes_back_to_predict_and_not_to_go_on(loss, tmp_path):
    model = SGDClassifier(loss=loss, alpha=0.01).partial_fit(_rows, _three, classes=[0, 1, 2])
    model.save(tmp_path / "model.mm")
    again = maxmargin.load(tmp_path / "model.mm")
    assert type(again) is SGDClassifier and again.loss == loss and again.alpha == 0.01 and again.stop_reason_ == model.stop_reason_
    assert np.array_equal(again.decision_function(_rows), model.decision_function(_rows))
    with pytest.raises(InputError, match="cannot go on"):
        again.partial_fit(_rows, _three)


def test_what_two_classes_train_is_read_as_the_machine_with_a_kernel(tmp_path):
    model = LinearSVR(intercept_scaling=None).fit(_rows, _rows[:, 0])
    model.save(tmp_path / "model.mm")
    again = maxmargin.load(tmp_path / "model.mm")
    assert type(again) is SVR and again.kernel == "linear"
    assert np.allclose(again.predict(_rows), model.predict(_rows), atol=1e-12)


@pytest.mark.parametrize("kind", [LinearSVC, LogisticRegression, Perceptron, LinearDiscriminantAnalysis])
def test_a_model_that_scales_its_columns_is_not_read_as_weights(kind):
    parts = kind().fit(_rows, _two)._fit.parts
    assert kind._reads(parts) and not kind._reads({**parts, "scaling": {"centers": [0.0] * 4}})
