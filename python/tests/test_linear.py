"""Linear models: the answers of scikit-learn where the problem is the same, and proofs where it has none."""

import copy
import pickle
import warnings

import numpy as np
import pytest

import maxmargin
from maxmargin import SVC, InputError, LinearDiscriminantAnalysis, LinearSVC, LinearSVR, LogisticRegression, Perceptron, SGDClassifier

pytest.importorskip("sklearn")
from scipy import sparse
from sklearn import discriminant_analysis, linear_model, svm
from sklearn.base import clone
from sklearn.datasets import load_diabetes, load_iris, make_classification
from sklearn.exceptions import ConvergenceWarning, NotFittedError

IRIS, SPECIES = load_iris(return_X_y=True)
NAMES = np.array(["setosa", "versicolor", "virginica"])[SPECIES]


def text_like(rows=300, columns=2500, classes=2, seed=0):
    """Rows with few of many columns, each class with words of its own."""
    random = np.random.default_rng(seed)
    labels = random.integers(0, classes, rows)
    table = sparse.random(rows, columns, 0.01, random_state=seed, format="lil")
    for row in range(rows):
        own = 40 * labels[row] + random.integers(0, 40, 4)
        table[row, own] = 0.5 + random.random(4)
    table = sparse.csr_matrix(table)
    return sparse.csr_matrix(table.multiply(1 / np.sqrt(table.multiply(table).sum(axis=1)))), labels


def two_species():
    return IRIS[50:], SPECIES[50:]


def svm_objective(model, X, y, C, squared, weights=None):
    """½(‖w‖² + b²) + C Σ ξ (or ξ²) of a model of two classes."""
    slack = np.maximum(0, 1 - np.where(y == model.classes_[1], 1, -1) * (X @ model.coef_[0] + model.intercept_[0]))
    slack = slack**2 if squared else slack
    norm = model.coef_[0] @ model.coef_[0] + model.intercept_[0] ** 2
    return 0.5 * norm + C * (slack.sum() if weights is None else weights @ slack)


# Support vector machines


@pytest.mark.parametrize("loss", ["squared_hinge", "hinge"])
@pytest.mark.parametrize("C", [0.01, 1.0])
def test_linear_svc_has_the_weights_of_scikit_learn(loss, C):
    ours = LinearSVC(loss=loss, C=C).fit(IRIS, NAMES)
    theirs = svm.LinearSVC(loss=loss, C=C, tol=1e-11, max_iter=5_000_000, dual=True).fit(IRIS, NAMES)
    assert ours.coef_ == pytest.approx(theirs.coef_, abs=2e-7)
    assert ours.intercept_ == pytest.approx(theirs.intercept_, abs=2e-7)
    assert ours.decision_function(IRIS) == pytest.approx(theirs.decision_function(IRIS), abs=1e-6)
    assert (ours.predict(IRIS) == theirs.predict(IRIS)).all()
    assert ours.coef_.shape == theirs.coef_.shape and ours.intercept_.shape == theirs.intercept_.shape
    assert type(ours.n_iter_) is int


@pytest.mark.parametrize("scaling", [1, 10.0])
def test_the_intercept_is_penalised_as_in_scikit_learn(scaling):
    X, y = two_species()
    ours = LinearSVC(intercept_scaling=scaling).fit(X, y)
    theirs = svm.LinearSVC(intercept_scaling=scaling, tol=1e-11, max_iter=1_000_000, dual=False).fit(X, y)
    assert ours.coef_ == pytest.approx(theirs.coef_, abs=1e-6)
    assert ours.intercept_ == pytest.approx(theirs.intercept_, abs=1e-5)


def test_an_intercept_without_penalty_is_that_of_the_support_vector_machine():
    X, y = two_species()
    ours = LinearSVC(loss="hinge", intercept_scaling=None).fit(X, y)
    exact = SVC(kernel="linear").fit(X, y)
    assert ours.coef_ == pytest.approx(exact.coef_, abs=1e-7)
    assert ours.intercept_ == pytest.approx(exact.intercept_, abs=1e-6)
    # scikit-learn's keeps its kernel values in single precision.
    assert ours.coef_ == pytest.approx(svm.SVC(kernel="linear", tol=1e-10).fit(X, y).coef_, abs=1e-4)


def test_without_an_intercept_there_is_none():
    X, y = two_species()
    ours = LinearSVC(fit_intercept=False).fit(X, y)
    theirs = svm.LinearSVC(fit_intercept=False, tol=1e-11, max_iter=1_000_000, dual=False).fit(X, y)
    assert ours.intercept_ == 0.0
    assert ours.coef_ == pytest.approx(theirs.coef_, abs=1e-6)


def test_classes_in_one_problem_have_the_weights_of_scikit_learn():
    ours = LinearSVC(multi_class="crammer_singer", max_iter=100_000).fit(IRIS, SPECIES)
    theirs = svm.LinearSVC(multi_class="crammer_singer", tol=1e-11, max_iter=1_000_000).fit(IRIS, SPECIES)
    assert ours.coef_ == pytest.approx(theirs.coef_, abs=1e-6)
    assert ours.intercept_ == pytest.approx(theirs.intercept_, abs=1e-6)
    X, y = two_species()
    ours = LinearSVC(multi_class="crammer_singer", max_iter=100_000).fit(X, y)
    theirs = svm.LinearSVC(multi_class="crammer_singer", tol=1e-11, max_iter=1_000_000).fit(X, y)
    assert ours.coef_.shape == (1, 4)
    assert ours.coef_ == pytest.approx(theirs.coef_, abs=1e-6)


@pytest.mark.parametrize("loss", ["squared_hinge", "hinge"])
def test_the_certificate_holds_what_it_says(loss):
    X, y = two_species()
    model = LinearSVC(loss=loss, C=3.0).fit(X, y)
    objective = svm_objective(model, X, y, 3.0, loss == "squared_hinge")
    assert model.certificate_.primal == pytest.approx(objective, rel=1e-12)
    assert 0 <= model.certificate_.gap <= 1e-9 * objective
    theirs = svm.LinearSVC(loss=loss, C=3.0, tol=1e-11, max_iter=5_000_000, dual=True).fit(X, y)
    assert svm_objective(theirs, X, y, 3.0, loss == "squared_hinge") >= model.certificate_.dual - 1e-9
    assert model.verify(X, y)
    assert not model.verify(X[::-1], y)
    assert model.stop_reason_ == "converged" and model.solver_ == "primal-newton"
    assert len(model.history_) > 0 and model.history_["gap"][-1] < 1e-6


def test_a_column_for_the_intercept_is_certified_too():
    X, y = two_species()
    model = LinearSVC(intercept_scaling=5.0).fit(X, y)
    assert model.verify(X, y)
    with pytest.raises(InputError, match="intercept_scaling=1"):
        model.to_onnx()


def test_where_there_is_no_certificate_nothing_is_verified():
    X, y = IRIS[:100], SPECIES[:100]
    for model in (Perceptron().fit(X, y), LinearDiscriminantAnalysis().fit(X, y), SGDClassifier().partial_fit(X, y, classes=[0, 1])):
        with pytest.raises(InputError, match="has no certificate here"):
            model.verify(X, y)


def test_many_rows_stop_at_the_gap_that_tol_asks_for():
    X, y = make_classification(3000, 20, random_state=0)
    rough, fine = LinearSVC(tol=1e-2).fit(X, y), LinearSVC(tol=1e-8).fit(X, y)
    assert rough.certificate_.relative_gap <= 1e-2 and fine.certificate_.relative_gap <= 1e-8
    assert fine.certificate_.primal <= rough.certificate_.primal
    theirs = svm.LinearSVC(tol=1e-10, dual=False, max_iter=100_000).fit(X, y)
    assert fine.coef_ == pytest.approx(theirs.coef_, abs=1e-5)


@pytest.mark.parametrize(
    "make",
    [LinearSVC, lambda: LinearSVC(penalty="l1"), LogisticRegression, lambda: LogisticRegression(penalty="l1"), SGDClassifier],
)
def test_sparse_rows_give_what_dense_rows_give(make):
    X, y = text_like()
    few, many = make().fit(X, y), make().fit(X.toarray(), y)
    # With so many columns the weights are found by another way, to the same digits where the problem is small.
    assert few.coef_ == pytest.approx(many.coef_, abs=1e-5)
    assert few.decision_function(X) == pytest.approx(many.decision_function(X.toarray()), abs=1e-4)
    assert (few.predict(X) == many.predict(X.toarray())).all()
    assert few.decision_function(X) == pytest.approx(few.decision_function(X.toarray()), abs=1e-12)


@pytest.mark.parametrize("loss", ["squared_hinge", "hinge"])
def test_text_like_rows_have_the_weights_of_scikit_learn(loss):
    X, y = text_like(classes=3)
    ours = LinearSVC(loss=loss, tol=1e-9, max_iter=100_000).fit(X, y)
    theirs = svm.LinearSVC(loss=loss, tol=1e-10, max_iter=1_000_000, dual=True).fit(X, y)
    assert ours.coef_ == pytest.approx(theirs.coef_, abs=1e-5)


@pytest.mark.parametrize("make", [LinearSVC, LogisticRegression, SGDClassifier])
def test_weights_mean_copies(make):
    random = np.random.default_rng(3)
    copies = random.integers(0, 4, len(IRIS))
    weighted = make().fit(IRIS, NAMES, sample_weight=copies)
    repeated = make().fit(np.repeat(IRIS, copies, axis=0), np.repeat(NAMES, copies))
    assert weighted.coef_ == pytest.approx(repeated.coef_, rel=1e-6, abs=1e-7)
    assert weighted.intercept_ == pytest.approx(repeated.intercept_, rel=1e-6, abs=1e-7)


def test_weights_of_classes_are_those_of_scikit_learn_for_two_classes():
    X, y = two_species()
    for class_weight in ("balanced", {1: 3.0, 2: 0.5}):
        weights = np.linspace(0.5, 2, len(X))
        ours = LinearSVC(class_weight=class_weight).fit(X, y, sample_weight=weights)
        theirs = svm.LinearSVC(class_weight=class_weight, tol=1e-11, dual=False, max_iter=100_000).fit(X, y, sample_weight=weights)
        assert ours.coef_ == pytest.approx(theirs.coef_, abs=1e-6)


def test_the_l1_norm_leaves_columns_out():
    X, y = make_classification(400, 40, n_informative=3, n_redundant=0, random_state=1)
    ours = LinearSVC(penalty="l1", C=0.02, tol=1e-9).fit(X, y)
    theirs = svm.LinearSVC(penalty="l1", C=0.02, tol=1e-10, dual=False, max_iter=1_000_000).fit(X, y)
    assert 0 < np.count_nonzero(ours.coef_) < 20
    assert ours.coef_ == pytest.approx(theirs.coef_, abs=1e-5)
    assert set(np.flatnonzero(ours.coef_)) == set(np.flatnonzero(np.abs(theirs.coef_) > 1e-7))
    values = ours.decision_function(X)
    assert ours.sparsify() is ours and sparse.issparse(ours.coef_)
    assert ours.decision_function(X) == pytest.approx(values, abs=1e-12)
    assert ours.decision_function(sparse.csr_matrix(X)) == pytest.approx(values, abs=1e-12)
    assert isinstance(ours.densify().coef_, np.ndarray)


@pytest.mark.parametrize(
    ("loss", "penalty", "dual"),
    [("hinge", "l1", "auto"), ("hinge", "l2", False), ("squared_hinge", "l1", True)],
)
def test_what_scikit_learn_refuses_is_refused_in_its_words(loss, penalty, dual):
    with pytest.raises(ValueError, match=f"Unsupported set of arguments.*penalty='{penalty}.*loss='{loss}.*dual={dual!r}"):
        LinearSVC(loss=loss, penalty=penalty, dual=dual).fit(IRIS, SPECIES)


@pytest.mark.parametrize("loss", ["epsilon_insensitive", "squared_epsilon_insensitive"])
@pytest.mark.parametrize("scaling", [1.0, 30.0])
def test_linear_svr_is_no_worse_than_scikit_learn_and_as_good_as_can_be(loss, scaling):
    X, y = load_diabetes(return_X_y=True)
    y = y / 50
    ours = LinearSVR(C=2.0, epsilon=0.1, loss=loss, intercept_scaling=scaling).fit(X, y)
    theirs = svm.LinearSVR(C=2.0, epsilon=0.1, loss=loss, intercept_scaling=scaling, dual=True, tol=1e-9, max_iter=2_000_000).fit(X, y)

    def objective(model):
        slack = np.maximum(0, np.abs(y - X @ model.coef_ - model.intercept_[0]) - 0.1)
        slack = slack**2 if loss.startswith("squared") else slack
        return 0.5 * (model.coef_ @ model.coef_ + (model.intercept_[0] / scaling) ** 2) + 2.0 * slack.sum()

    assert ours.coef_.shape == (10,) and ours.intercept_.shape == (1,)
    assert ours.certificate_.primal == pytest.approx(objective(ours), rel=1e-10)
    assert ours.certificate_.gap <= 1e-9 * objective(ours)
    assert objective(ours) <= objective(theirs) * (1 + 1e-9)
    assert ours.predict(X) == pytest.approx(theirs.predict(X), abs=1e-3)
    assert ours.predict(X) == pytest.approx(X @ ours.coef_ + ours.intercept_, abs=1e-12)
    assert ours.verify(X, y)


def test_too_few_steps_are_a_warning():
    with pytest.warns(UserWarning, match="Liblinear failed to converge, increase the number of iterations"):
        model = LinearSVR(max_iter=2).fit(IRIS, SPECIES)
    assert model.n_iter_ == 2 and model.stop_reason_ == "iteration-limit"


# Logistic regression


def test_logistic_regression_has_the_weights_of_scikit_learn():
    for X, y in ((IRIS, NAMES), two_species()):
        for C in (0.1, 10.0):
            ours = LogisticRegression(C=C).fit(X, y)
            theirs = linear_model.LogisticRegression(C=C, solver="newton-cholesky", tol=1e-12, max_iter=1000).fit(X, y)
            assert ours.coef_ == pytest.approx(theirs.coef_, abs=1e-8)
            assert ours.intercept_ == pytest.approx(theirs.intercept_, abs=1e-7)
            assert ours.predict_proba(X) == pytest.approx(theirs.predict_proba(X), abs=1e-8)
            assert ours.predict_log_proba(X) == pytest.approx(theirs.predict_log_proba(X), abs=1e-6)
            assert ours.decision_function(X).shape == theirs.decision_function(X).shape
            assert ours.n_iter_.shape == (1,) and ours.certificate_.relative_gap < 1e-9


def test_logistic_regression_weighs_rows_and_classes_as_scikit_learn_does():
    weights = np.random.default_rng(0).random(len(IRIS))
    for class_weight in ("balanced", {"setosa": 1, "versicolor": 2, "virginica": 0.3}):
        ours = LogisticRegression(class_weight=class_weight).fit(IRIS, NAMES, sample_weight=weights)
        theirs = linear_model.LogisticRegression(class_weight=class_weight, solver="newton-cholesky", tol=1e-12, max_iter=1000)
        theirs.fit(IRIS, NAMES, sample_weight=weights)
        assert ours.predict_proba(IRIS) == pytest.approx(theirs.predict_proba(IRIS), abs=1e-7)


def test_liblinear_is_another_problem():
    X, y = two_species()
    for scaling in (1, 20.0):
        for penalty, ratio in (("l2", 0), ("l1", 1)):
            ours = LogisticRegression(solver="liblinear", penalty=penalty, intercept_scaling=scaling).fit(X, y)
            theirs = linear_model.LogisticRegression(
                solver="liblinear", l1_ratio=ratio, intercept_scaling=scaling, tol=1e-11, max_iter=1_000_000
            ).fit(X, y)
            assert ours.coef_ == pytest.approx(theirs.coef_, abs=1e-4)
            assert ours.intercept_ == pytest.approx(theirs.intercept_, abs=1e-3)
    several = LogisticRegression(solver="liblinear").fit(IRIS, NAMES)
    from sklearn.multiclass import OneVsRestClassifier

    rest = OneVsRestClassifier(linear_model.LogisticRegression(solver="liblinear", tol=1e-11, max_iter=100_000)).fit(IRIS, NAMES)
    assert several.predict_proba(IRIS) == pytest.approx(rest.predict_proba(IRIS), abs=1e-6)


def test_the_l1_norm_of_logistic_regression_is_that_of_saga_for_two_classes():
    X, y = make_classification(300, 20, n_informative=3, random_state=4)
    ours = LogisticRegression(l1_ratio=1.0, C=0.2).fit(X, y)
    theirs = linear_model.LogisticRegression(solver="saga", l1_ratio=1, C=0.2, tol=1e-10, max_iter=100_000).fit(X, y)
    assert 0 < np.count_nonzero(ours.coef_) < 15
    assert ours.coef_ == pytest.approx(theirs.coef_, abs=1e-6)
    assert ours.intercept_ == pytest.approx(theirs.intercept_, abs=1e-6)


def test_no_penalty_is_the_maximum_of_the_likelihood_and_separable_classes_have_none():
    X, y = two_species()
    ours = LogisticRegression(C=np.inf, tol=1e-10).fit(X, y)
    theirs = linear_model.LogisticRegression(C=np.inf, solver="newton-cholesky", tol=1e-12, max_iter=1000).fit(X, y)
    assert ours.coef_ == pytest.approx(theirs.coef_, rel=1e-5)
    # The gradient of the likelihood vanishes.
    rest = ours.predict_proba(X)[:, 1] - (y == 2)
    assert np.abs(X.T @ rest).max() < 1e-6 and abs(rest.sum()) < 1e-6
    with pytest.warns(UserWarning, match="grow without bound"):
        LogisticRegression(penalty=None).fit(IRIS[:100], SPECIES[:100])


def test_elasticnet_is_refused():
    for model in (LogisticRegression(penalty="elasticnet", l1_ratio=0.5), LogisticRegression(l1_ratio=0.5)):
        with pytest.raises(InputError, match="elasticnet.*l1_ratio=0"):
            model.fit(IRIS, SPECIES)


@pytest.mark.parametrize("solver", ["lbfgs", "newton-cg", "newton-cholesky", "sag", "saga"])
def test_the_name_of_the_solver_changes_nothing(solver):
    one, other = LogisticRegression().fit(IRIS, SPECIES), LogisticRegression(solver=solver).fit(IRIS, SPECIES)
    assert (one.coef_ == other.coef_).all()


# Discriminant analysis


@pytest.mark.parametrize("priors", [None, [0.2, 0.3, 0.5]])
@pytest.mark.parametrize(
    ("solver", "shrinkage"),
    [("svd", None), ("lsqr", None), ("eigen", None), ("lsqr", 0.3), ("eigen", 0.3), ("lsqr", "auto"), ("eigen", "auto")],
)
def test_discriminant_analysis_is_that_of_scikit_learn(solver, shrinkage, priors):
    for X, y, p in ((IRIS, NAMES, priors), (*two_species(), None if priors is None else [0.7, 0.3])):
        ours = LinearDiscriminantAnalysis(solver=solver, shrinkage=shrinkage, priors=p, store_covariance=True).fit(X, y)
        theirs = discriminant_analysis.LinearDiscriminantAnalysis(solver=solver, shrinkage=shrinkage, priors=p, store_covariance=True)
        theirs.fit(X, y)
        assert ours.decision_function(X) == pytest.approx(theirs.decision_function(X), rel=1e-9, abs=1e-9)
        assert ours.predict_proba(X) == pytest.approx(theirs.predict_proba(X), abs=1e-9)
        assert ours.predict_log_proba(X) == pytest.approx(theirs.predict_log_proba(X), abs=1e-6)
        for name in ("coef_", "intercept_", "means_", "priors_", "covariance_"):
            assert getattr(ours, name) == pytest.approx(getattr(theirs, name), rel=1e-8, abs=1e-8), name
        if solver == "lsqr":
            # scikit-learn has no projection here; ours is that of the covariance that was found.
            flat = ours.transform(X)
            assert ours.scalings_.T @ ours.covariance_ @ ours.scalings_ == pytest.approx(np.eye(flat.shape[1]), abs=1e-9)
            continue
        assert ours.explained_variance_ratio_ == pytest.approx(theirs.explained_variance_ratio_, abs=1e-9)
        # A direction and its opposite are the same.
        assert np.abs(ours.transform(X)) == pytest.approx(np.abs(theirs.transform(X)), abs=1e-7)
        assert list(ours.get_feature_names_out()) == list(theirs.get_feature_names_out())


def test_a_singular_covariance_is_inverted_where_it_is_not_0():
    random = np.random.default_rng(0)
    for rows, columns in ((60, 10), (20, 50), (40, 38)):
        y = np.arange(rows) % 3
        X = random.standard_normal((rows, columns)) + y[:, None]
        X = np.hstack([X, X[:, :2], np.ones((rows, 1))])
        ours = LinearDiscriminantAnalysis().fit(X, y)
        theirs = discriminant_analysis.LinearDiscriminantAnalysis().fit(X, y)
        new = random.standard_normal((100, X.shape[1])) + 1
        assert ours.decision_function(new) == pytest.approx(theirs.decision_function(new), rel=1e-6, abs=1e-6)
        assert np.abs(ours.transform(new)) == pytest.approx(np.abs(theirs.transform(new)), rel=1e-6, abs=1e-6)
        with pytest.raises(InputError, match="singular"):
            ours.to_onnx()


@pytest.mark.parametrize("solver", ["lsqr", "eigen"])
def test_the_covariance_may_come_from_elsewhere(solver):
    from sklearn.covariance import OAS

    ours = LinearDiscriminantAnalysis(solver=solver, covariance_estimator=OAS()).fit(IRIS, NAMES)
    theirs = discriminant_analysis.LinearDiscriminantAnalysis(solver=solver, covariance_estimator=OAS()).fit(IRIS, NAMES)
    assert ours.decision_function(IRIS) == pytest.approx(theirs.decision_function(IRIS), rel=1e-9, abs=1e-9)
    if solver == "eigen":
        assert np.abs(ours.transform(IRIS)) == pytest.approx(np.abs(theirs.transform(IRIS)), abs=1e-7)


def test_sparse_rows_are_analysed_too():
    X = IRIS * (IRIS > 1.5)
    for kwargs in ({}, {"solver": "eigen", "shrinkage": 0.1}):
        dense, few = (LinearDiscriminantAnalysis(**kwargs).fit(rows, NAMES) for rows in (X, sparse.csr_matrix(X)))
        assert few.decision_function(X) == pytest.approx(dense.decision_function(X), rel=1e-9, abs=1e-9)
        assert np.abs(few.transform(sparse.csr_matrix(X))) == pytest.approx(np.abs(dense.transform(X)), abs=1e-8)


def test_shrinkage_goes_with_the_default_solver_too():
    ours = LinearDiscriminantAnalysis(shrinkage="auto").fit(IRIS, NAMES)
    theirs = discriminant_analysis.LinearDiscriminantAnalysis(solver="lsqr", shrinkage="auto").fit(IRIS, NAMES)
    assert ours.predict_proba(IRIS) == pytest.approx(theirs.predict_proba(IRIS), abs=1e-9)


def test_the_projection_has_a_spread_of_1_within_the_classes():
    model = LinearDiscriminantAnalysis(n_components=2).fit(IRIS, SPECIES)
    flat = model.transform(IRIS)
    within = sum(np.cov(flat[SPECIES == k].T, bias=True) / 3 for k in range(3))
    assert within == pytest.approx(np.eye(2), abs=1e-9)
    assert LinearDiscriminantAnalysis(n_components=1).fit_transform(IRIS, SPECIES).shape == (150, 1)


def test_frames_come_out_where_they_are_asked_for():
    pandas = pytest.importorskip("pandas")
    frame = LinearDiscriminantAnalysis().set_output(transform="pandas").fit_transform(pandas.DataFrame(IRIS), SPECIES)
    assert list(frame.columns) == ["lineardiscriminantanalysis0", "lineardiscriminantanalysis1"]


@pytest.mark.parametrize(
    ("kwargs", "message"),
    [
        ({"priors": [0.5, -0.5, 1.0]}, "priors must be non-negative"),
        ({"priors": [0.5, 0.5]}, "2 priors for 3 classes"),
        ({"priors": [0.5, 0.5, 0.0]}, "never predicted"),
        ({"n_components": 3}, "n_components cannot be larger"),
        ({"covariance_estimator": object()}, "covariance_estimator"),
        ({"covariance_estimator": LinearSVC()}, "not supported with svd"),
        ({"covariance_estimator": LinearSVC(), "solver": "lsqr", "shrinkage": 0.1}, "Only one of the two"),
    ],
)
def test_discriminant_analysis_says_what_it_cannot_do(kwargs, message):
    with pytest.raises(InputError, match=message):
        LinearDiscriminantAnalysis(**kwargs).fit(IRIS, SPECIES)


def test_priors_are_brought_to_a_sum_of_1():
    with pytest.warns(UserWarning, match="The priors do not sum to 1"):
        model = LinearDiscriminantAnalysis(priors=[1, 1, 2]).fit(IRIS, SPECIES)
    assert model.priors_.tolist() == [0.25, 0.25, 0.5]


# Perceptron


def by_hand(X, y, sweeps, steps=1.0):
    """The perceptron, written out."""
    w, b, steps = np.zeros(X.shape[1]), 0.0, np.broadcast_to(steps, len(X))
    for sweep in range(sweeps):
        mistakes = 0
        for row, sign, step in zip(X, np.where(y == y.max(), 1, -1), steps):
            if sign * (w @ row + b) <= 0:
                w, b, mistakes = w + step * sign * row, b + step * sign, mistakes + 1
        if not mistakes:
            return w, b, sweep + 1
    return w, b, sweeps


def test_the_perceptron_is_rosenblatts():
    X, y = IRIS[:100], SPECIES[:100]
    w, b, sweeps = by_hand(X, y, 1000)
    model = Perceptron(shuffle=False).fit(X, y)
    assert model.coef_[0] == pytest.approx(w, abs=1e-12) and model.intercept_[0] == b and model.n_iter_ == sweeps
    assert model.score(X, y) == 1.0 and model.certificate_ is None
    assert Perceptron().fit(X, y).score(X, y) == 1.0


def test_weights_of_classes_are_steps_of_the_perceptron():
    X, y = IRIS[:100], SPECIES[:100]
    w, b, _ = by_hand(X, y, 1000, np.where(y == 1, 3.0, 0.5))
    for rows in (X, sparse.csr_matrix(X)):
        model = Perceptron(shuffle=False, class_weight={0: 0.5, 1: 3.0}).fit(rows, y)
        assert model.coef_[0] == pytest.approx(w, abs=1e-12) and model.intercept_[0] == pytest.approx(b)


def test_a_perceptron_that_never_rests_says_so():
    X, y = two_species()
    with pytest.warns(UserWarning, match="mistakes in each of 20 sweeps"):
        last = Perceptron(max_iter=20).fit(X, y)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        mean = Perceptron(max_iter=20, averaged=True).fit(X, y)
    assert last.stop_reason_ == "iteration-limit"
    assert mean.score(X, y) >= 0.9


@pytest.mark.parametrize("kwargs", [{"penalty": "l2"}, {"early_stopping": True}, {"warm_start": True}])
def test_the_perceptron_refuses_what_it_has_not(kwargs):
    with pytest.raises(InputError, match=next(iter(kwargs))):
        Perceptron(**kwargs).fit(IRIS, SPECIES)


# Streams


@pytest.mark.parametrize("loss", ["hinge", "squared_hinge", "log_loss"])
def test_fit_finds_the_optimum_that_gradient_descent_looks_for(loss):
    X, y = two_species()
    X = X - X.mean(axis=0)
    alpha = 0.01
    model = SGDClassifier(loss=loss, alpha=alpha).fit(X, y)

    def objective(coef, intercept):
        margin = np.where(y == 2, 1, -1) * (X @ coef.ravel() + intercept)
        each = {"hinge": np.maximum(0, 1 - margin), "squared_hinge": np.maximum(0, 1 - margin) ** 2, "log_loss": np.logaddexp(0, -margin)}
        return 0.5 * alpha * coef.ravel() @ coef.ravel() + each[loss].mean()

    best = objective(model.coef_, model.intercept_)
    assert model.certificate_.primal * alpha == pytest.approx(best, rel=1e-9)
    assert model.certificate_.relative_gap < 1e-8
    theirs = linear_model.SGDClassifier(loss, alpha=alpha, max_iter=2000, tol=None, average=True, random_state=0).fit(X, y)
    assert best <= objective(theirs.coef_, theirs.intercept_) + 1e-12
    # With its default rate scikit-learn's own goes astray for the squared hinge loss.
    assert loss == "squared_hinge" or objective(theirs.coef_, theirs.intercept_) == pytest.approx(best, rel=2e-2)


@pytest.mark.parametrize("loss", ["hinge", "squared_hinge", "log_loss"])
def test_a_stream_comes_near_the_optimum_however_it_is_cut(loss):
    X, y = make_classification(4000, 10, n_informative=5, random_state=0, flip_y=0.05)
    names = np.array(["no", "yes"])[y]
    # A penalty that weighs: half or twice of it would be another answer.
    whole = SGDClassifier(loss=loss, alpha=0.1, average=True)
    parts = clone(whole)
    for _ in range(3):
        whole.partial_fit(X, names, classes=["no", "yes"])
        for start in range(0, 4000, 321):
            parts.partial_fit(X[start : start + 321], names[start : start + 321], classes=["no", "yes"])
    assert (whole.coef_ == parts.coef_).all() and (whole.intercept_ == parts.intercept_).all()
    exact = clone(whole).fit(X, names)
    assert whole.coef_ == pytest.approx(exact.coef_, abs=0.04)
    assert whole.score(X, names) == pytest.approx(exact.score(X, names), abs=0.01)
    assert whole.t_ == 12001 and whole.stop_reason_ == "streaming" and whole.certificate_ is None
    assert 0 < whole.progressive_error_ < 0.5


def test_a_stream_goes_on_exactly_after_pickling():
    X, y = IRIS, NAMES
    order = np.random.default_rng(0).permutation(150)
    X, y = X[order], y[order]
    for average in (False, True, 20):
        whole = SGDClassifier(average=average).partial_fit(X, y, classes=np.unique(y))
        half = SGDClassifier(average=average).partial_fit(X[:70], y[:70], classes=np.unique(y))
        for kept in (pickle.loads(pickle.dumps(half)), copy.deepcopy(half)):
            kept.partial_fit(X[70:], y[70:])
            assert (kept.coef_ == whole.coef_).all() and (kept.intercept_ == whole.intercept_).all()
        # The one that was copied has not moved.
        assert half.t_ == 71.0


def test_a_stream_goes_on_from_a_fit():
    X, y = make_classification(3000, 8, n_informative=4, random_state=2, flip_y=0.1)
    for average in (False, True):
        model = SGDClassifier("log_loss", alpha=1e-3, average=average).fit(X[:2000], y[:2000])
        before = model.coef_.copy()
        model.partial_fit(X[2000:2010], y[2000:2010])
        # The mean hardly moves; the last weights move as much as they do after so many rows, and not as after the first.
        assert 0 < np.abs(model.coef_ - before).max() < (0.01 if average else 0.3)
        assert model.t_ == 2011.0
        model.partial_fit(X[2010:], y[2010:])
        exact = clone(model).fit(X, y)
        if average:
            assert model.coef_ == pytest.approx(exact.coef_, abs=0.1)
            assert model.score(X, y) == pytest.approx(exact.score(X, y), abs=0.01)


def test_labels_must_be_announced_to_a_stream():
    with pytest.raises(InputError, match="classes must be passed on the first call"):
        SGDClassifier().partial_fit(IRIS, SPECIES)
    model = SGDClassifier().partial_fit(IRIS, SPECIES, classes=[0, 1, 2, 3])
    assert model.coef_.shape == (4, 4)
    with pytest.raises(InputError, match=r"not among the classes.*\[7\]"):
        model.partial_fit(IRIS[:2], [0, 7])
    with pytest.raises(InputError, match="not the same as on last call"):
        model.partial_fit(IRIS, SPECIES, classes=[0, 1])


def test_probabilities_come_with_the_logistic_loss_only():
    assert not hasattr(SGDClassifier(), "predict_proba")
    model = SGDClassifier("log_loss").fit(IRIS, SPECIES)
    assert model.predict_proba(IRIS).sum(axis=1) == pytest.approx(1)
    assert (model.predict_proba(IRIS).argmax(axis=1) == model.predict(IRIS)).all()


@pytest.mark.parametrize("kwargs", [{"loss": "modified_huber"}, {"penalty": "l1"}, {"alpha": 0.0}, {"early_stopping": True}])
def test_streams_refuse_what_is_not_solved(kwargs):
    with pytest.raises(InputError, match=next(iter(kwargs))):
        SGDClassifier(**kwargs).fit(IRIS, SPECIES)


# All of them

ALL = [
    LinearSVC(),
    LinearSVC(penalty="l1"),
    LinearSVC(multi_class="crammer_singer", max_iter=100_000),
    LinearSVC(intercept_scaling=7.0),
    LogisticRegression(),
    LogisticRegression(penalty="l1"),
    LinearDiscriminantAnalysis(),
    LinearDiscriminantAnalysis(solver="eigen"),
    Perceptron(max_iter=5),
    SGDClassifier("log_loss"),
    LinearSVR(),
]


@pytest.mark.filterwarnings("ignore::UserWarning")
@pytest.mark.parametrize("model", ALL, ids=repr)
def test_threads_change_no_bit(model):
    X, y = make_classification(2500, 30, n_classes=3, n_informative=6, random_state=0)
    one, two = (clone(model).set_params(n_jobs=jobs).fit(X, y) for jobs in (1, 2))
    assert one.coef_.tobytes() == two.coef_.tobytes() and np.asarray(one.intercept_).tobytes() == np.asarray(two.intercept_).tobytes()


@pytest.mark.filterwarnings("ignore::UserWarning")
@pytest.mark.parametrize("model", ALL, ids=repr)
def test_models_are_pickled_and_copied(model):
    y = SPECIES if isinstance(model, LinearSVR) else NAMES
    model = clone(model).fit(IRIS, y)
    for other in (pickle.loads(pickle.dumps(model)), copy.deepcopy(model)):
        assert (other.predict(IRIS) == model.predict(IRIS)).all()
        assert (other.coef_ == model.coef_).all()
        assert (other.certificate_ is None) == (model.certificate_ is None)
        if model.certificate_ is not None:
            assert other.certificate_.gap == model.certificate_.gap


@pytest.mark.parametrize(
    "model",
    [LinearSVC(), LogisticRegression(), LogisticRegression(penalty="l1"), SGDClassifier("log_loss"), LinearSVR()],
    ids=repr,
)
def test_a_warm_start_takes_fewer_steps_to_the_same_answer(model):
    X, y = make_classification(2000, 20, random_state=0)
    warm = clone(model).set_params(warm_start=True, tol=1e-8).fit(X, y)
    steps, coef = int(np.max(warm.n_iter_)), warm.coef_.copy()
    warm.fit(X, y)
    assert int(np.max(warm.n_iter_)) < steps
    assert warm.coef_ == pytest.approx(coef, abs=1e-4)
    assert warm.certificate_.relative_gap <= 1e-8


@pytest.mark.parametrize("kind", [LinearSVC, LogisticRegression, SGDClassifier, LinearSVR])
def test_a_warm_start_on_other_data_begins_from_scratch(kind):
    warm = kind(warm_start=True).fit(IRIS, SPECIES)
    for rows, labels in ((IRIS[:140], SPECIES[:140]), (IRIS[:, :3], SPECIES), (IRIS[:100], SPECIES[:100])):
        warm.fit(rows, labels)
        assert (warm.coef_ == kind().fit(rows, labels).coef_).all()


@pytest.mark.parametrize("kind", [LinearSVC, LogisticRegression, SGDClassifier])
def test_a_class_that_weights_leave_without_rows_is_named(kind):
    with pytest.raises(InputError, match="'versicolor' has no row of a weight above 0"):
        kind().fit(IRIS, NAMES, sample_weight=(SPECIES != 1).astype(float))
    with pytest.raises(InputError, match="'versicolor' has no row of a weight above 0"):
        kind(class_weight={"setosa": 1, "versicolor": 0, "virginica": 1}).fit(IRIS, NAMES)
    with pytest.raises(InputError, match="the same class"):
        kind().fit(IRIS, NAMES, sample_weight=(SPECIES == 1).astype(float))


@pytest.mark.parametrize("model", [LinearSVC(), LogisticRegression(), LinearDiscriminantAnalysis(), SGDClassifier()], ids=repr)
def test_single_precision_is_taken_as_it_is(model):
    X = np.ascontiguousarray(IRIS.astype(np.float32))
    one, other = clone(model).fit(X, NAMES), clone(model).fit(X.astype(np.float64), NAMES)
    digits = 1e-7 if one.coef_.dtype == np.float64 else 1e-5
    assert one.decision_function(X) == pytest.approx(other.decision_function(X.astype(np.float64)), rel=digits, abs=digits)


def test_weights_may_be_set_and_are_then_no_longer_written():
    model = LinearSVC().fit(IRIS, SPECIES)
    values = model.decision_function(IRIS)
    assert model.to_onnx() and model.to_liblinear().startswith("solver_type")
    model.coef_ = 2 * model.coef_
    model.intercept_ = 2 * model.intercept_
    assert model.decision_function(IRIS) == pytest.approx(2 * values)
    with pytest.raises(InputError, match="set after the fit"):
        model.to_onnx()


def test_weights_that_were_set_without_a_fit_predict():
    fitted, by_hand = LogisticRegression().fit(IRIS, NAMES), LogisticRegression()
    by_hand.coef_, by_hand.intercept_, by_hand.classes_ = fitted.coef_, fitted.intercept_, fitted.classes_
    assert by_hand.predict_proba(IRIS) == pytest.approx(fitted.predict_proba(IRIS), rel=1e-12)


def test_files_predict_what_the_model_predicts(tmp_path):
    runtime = pytest.importorskip("onnxruntime")
    X, y = two_species()
    for rows, labels in ((IRIS, NAMES), (X, np.array(["", "versicolor", "virginica"])[y])):
        for model in (LinearSVC(), LogisticRegression(), LinearDiscriminantAnalysis(), SGDClassifier("log_loss"), Perceptron(max_iter=3)):
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                model.fit(rows, labels)
            session = runtime.InferenceSession(model.to_onnx(), providers=["CPUExecutionProvider"])
            name = session.get_inputs()[0].name
            found = session.run(None, {name: rows.astype(np.float32)})[0]
            assert np.mean(np.ravel(found) == model.predict(rows)) > 0.99, model
            model.save(tmp_path / "model.mm")
            assert (tmp_path / "model.mm").stat().st_size > 0


def test_a_fit_ends_when_its_time_is_over():
    X, y = make_classification(20000, 300, random_state=0)
    with pytest.warns(UserWarning, match="max_time=0.01"):
        model = LinearSVC(tol=1e-14, C=1000.0, max_time=0.01, loss="hinge").fit(X, y)
    assert model.stop_reason_ == "time-limit" and np.isfinite(model.coef_).all()


def test_models_that_are_not_fitted_say_so():
    for kind in (LinearSVC, LinearSVR, LogisticRegression, LinearDiscriminantAnalysis, Perceptron, SGDClassifier):
        with pytest.raises(NotFittedError, match="not fitted yet"):
            kind().predict(IRIS)


def test_every_parameter_of_scikit_learn_is_there_in_its_place():
    import inspect

    for ours, theirs in (
        (LinearSVC, svm.LinearSVC),
        (LinearSVR, svm.LinearSVR),
        (LogisticRegression, linear_model.LogisticRegression),
        (LinearDiscriminantAnalysis, discriminant_analysis.LinearDiscriminantAnalysis),
        (Perceptron, linear_model.Perceptron),
        (SGDClassifier, linear_model.SGDClassifier),
    ):
        own = inspect.signature(ours.__init__).parameters
        for name, parameter in inspect.signature(theirs.__init__).parameters.items():
            assert own[name].default == parameter.default and own[name].kind == parameter.kind, (ours, name)


def test_an_interrupted_fit_goes_on_from_its_checkpoint_to_the_same_bits(tmp_path):
    random = np.random.default_rng(0)
    # Many rows, so that the limit below is far from what the whole takes; however early it is, there is a checkpoint.
    X = random.standard_normal((60000, 60))
    y = X @ random.standard_normal(60) + 5 * random.standard_normal(60000) > 0
    whole = LinearSVC(loss="hinge", C=100.0, tol=1e-7).fit(X, y)
    kept = tmp_path / "fit.checkpoint"
    model = LinearSVC(loss="hinge", C=100.0, tol=1e-7, checkpoint=kept)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        clone(model).set_params(max_time=0.05).fit(X, y)
    assert kept.exists()
    model.fit(X, y)
    assert not kept.exists()
    assert model.coef_.tobytes() == whole.coef_.tobytes()


def test_a_first_block_that_is_refused_leaves_nothing_behind():
    model = SGDClassifier()
    with pytest.raises(InputError, match="NaN"):
        model.partial_fit(np.full((2, 3), np.nan), [0, 1], classes=[0, 1])
    with pytest.raises(InputError, match="not among the classes"):
        model.partial_fit(IRIS, SPECIES, classes=[0, 1])
    assert model.partial_fit(IRIS, SPECIES, classes=[0, 1, 2]).coef_.shape == (3, 4)


def test_a_grid_search_on_two_processes_finds_what_one_finds():
    from sklearn.model_selection import GridSearchCV

    found = [GridSearchCV(LinearSVC(), {"C": [0.01, 1.0]}, n_jobs=jobs).fit(IRIS, NAMES) for jobs in (1, 2)]
    assert found[0].cv_results_["mean_test_score"].tolist() == found[1].cv_results_["mean_test_score"].tolist()
    assert found[0].best_score_ > 0.9


@pytest.mark.parametrize(
    "model",
    [
        LinearSVC(C=2.0),
        LinearSVC(penalty="l1", C=0.5),
        LinearSVC(loss="hinge", intercept_scaling=None),
        LinearSVC(multi_class="crammer_singer", fit_intercept=False),
        LinearSVR(epsilon=0.1),
        LinearSVR(loss="squared_epsilon_insensitive", intercept_scaling=None),
        LogisticRegression(C=3.0),
        LogisticRegression(solver="liblinear", class_weight="balanced"),
        LogisticRegression(l1_ratio=1.0),
    ],
    ids=repr,
)
def test_a_model_comes_back_from_its_file_with_its_class_and_parameters(model, tmp_path):
    X, y = load_iris(return_X_y=True)
    model.fit(X, y)
    model.save(tmp_path / "model.mm")
    other = maxmargin.load(tmp_path / "model.mm")
    assert type(other) is type(model)
    np.testing.assert_array_equal(other.coef_, model.coef_)
    np.testing.assert_array_equal(other.predict(X), model.predict(X))
    if hasattr(model, "predict_proba"):
        np.testing.assert_array_equal(other.predict_proba(X), model.predict_proba(X))
    together = getattr(model, "multi_class", "ovr") == "crammer_singer"  # whose loss is not looked at
    for name in ("C", "penalty", "loss", "epsilon", "fit_intercept", "intercept_scaling", "multi_class", "solver", "l1_ratio"):
        if hasattr(model, name) and not (together and name == "loss"):
            assert getattr(other, name) == getattr(model, name), name
    assert other.certificate_ == model.certificate_ and np.all(other.n_iter_ == model.n_iter_)


@pytest.mark.parametrize("classes", [2, 3])
@pytest.mark.parametrize(
    "kind, parameters",
    [
        (LogisticRegression, {}),
        (LogisticRegression, {"solver": "liblinear"}),
        (LinearDiscriminantAnalysis, {}),
        (LinearSVC, {}),
        (SGDClassifier, {"loss": "log_loss"}),
        (Perceptron, {}),
    ],
    ids=str,
)
@pytest.mark.filterwarnings("ignore")
def test_single_precision_comes_out_where_it_comes_out_of_scikit_learn(kind, parameters, classes):
    y = np.minimum(SPECIES, classes - 1)
    theirs_kind = getattr(discriminant_analysis if kind is LinearDiscriminantAnalysis else linear_model, kind.__name__, None)
    theirs_kind = theirs_kind or getattr(svm, kind.__name__)
    if parameters.get("solver") == "liblinear" and classes == 3:
        pytest.skip("scikit-learn's does not take it")
    for precision in (np.float32, np.float64):
        rows = IRIS.astype(precision)
        ours, theirs = (one(**parameters).fit(rows, y) for one in (kind, theirs_kind))
        assert (ours.coef_.dtype, ours.intercept_.dtype) == (theirs.coef_.dtype, theirs.intercept_.dtype)
        for method in ("decision_function", "predict_proba", "transform"):
            if hasattr(theirs, method):
                for given in (rows, IRIS):
                    assert getattr(ours, method)(given).dtype == getattr(theirs, method)(given).dtype, (method, given.dtype)
        np.testing.assert_array_equal(ours.predict(rows), ours.predict(rows.astype(np.float64)))


def test_predictions_are_the_engines_until_weights_are_set():
    model = LinearSVC().fit(IRIS, SPECIES)
    assert model._is_of_engine()
    by_engine = model.decision_function(IRIS)
    np.testing.assert_allclose(by_engine, IRIS @ model.coef_.T + model.intercept_, rtol=1e-12, atol=1e-12)
    np.testing.assert_array_equal(model.decision_function(IRIS[7:9]), by_engine[7:9])
    model.coef_[1, 2] += 1.0
    assert not model._is_of_engine()
    np.testing.assert_allclose(model.decision_function(IRIS)[:, 1], by_engine[:, 1] + IRIS[:, 2])
    model.coef_[1, 2] -= 1.0
    model.intercept_ = model.intercept_ + 1.0
    np.testing.assert_allclose(model.decision_function(IRIS), by_engine + 1.0)


def test_a_limit_on_steps_warns_in_the_words_of_scikit_learn():
    draw = np.random.RandomState(0)
    X, y = draw.randn(3000, 40) * np.logspace(-3, 3, 40), draw.randint(0, 2, 3000)
    for solver, words in (
        ("lbfgs", "lbfgs failed to converge"),
        ("newton-cg", "newton-cg failed to converge"),
        ("sag", "The max_iter was reached which means the coef_ did not converge"),
        ("newton-cholesky", "Newton solver did not converge after 1 iterations"),
        ("liblinear", "Liblinear failed to converge, increase the number of iterations."),
    ):
        with pytest.warns(ConvergenceWarning, match=words):
            LogisticRegression(solver=solver, max_iter=1, tol=1e-12, C=1e6).fit(X, y)
    with pytest.warns(ConvergenceWarning, match="Maximum number of iteration reached before convergence. Consider"):
        SGDClassifier(max_iter=1, tol=1e-12).fit(X, y)
