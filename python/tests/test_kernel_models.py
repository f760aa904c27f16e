"""KernelPerceptron and RVC: what they promise, checked by their definitions, and the contract of a classifier."""

import copy
import pickle
import warnings

import numpy as np
import pytest
from scipy import sparse
from sklearn.base import clone
from sklearn.calibration import CalibratedClassifierCV
from sklearn.datasets import load_breast_cancer, load_iris, make_moons
from sklearn.exceptions import ConvergenceWarning, NotFittedError
from sklearn.metrics.pairwise import rbf_kernel
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils.estimator_checks import check_estimator

import maxmargin
from maxmargin import RVC, SVC, InputError, KernelPerceptron

MODELS = [
    KernelPerceptron(),
    KernelPerceptron(kernel="poly", degree=2, averaged=True, coef0=1.0),
    KernelPerceptron(kernel="linear", fit_intercept=False),
    RVC(),
    RVC(gamma="auto"),
    RVC(kernel="linear"),
]


def xor(copies=10, seed=0):
    """Clouds around the four corners of a square; opposite corners are of one class."""
    corners = np.tile([[-1.0, -1], [-1, 1], [1, -1], [1, 1]], (copies, 1))
    X = corners + np.random.default_rng(seed).normal(scale=0.25, size=corners.shape)
    return X, np.where(corners[:, 0] * corners[:, 1] > 0, "equal", "not")


def iris():
    X, y = load_iris(return_X_y=True)
    return StandardScaler().fit_transform(X), load_iris().target_names[y]


@pytest.mark.filterwarnings("ignore:Estimator", "ignore:There were mistakes", "ignore:The solver could get")
@pytest.mark.parametrize("estimator", MODELS, ids=repr)
def test_the_checks_of_scikit_learn_pass(estimator):
    np.random.seed(0)  # other seeds are in test_contract.py
    check_estimator(estimator, on_skip=None)


def slow_perceptron(table, signs, sweeps, averaged=False):
    """The kernel perceptron as it is defined: a mistake on row i adds its sign to coefficient i and to the bias."""
    coefficients, bias, seen = np.zeros(len(signs)), 0.0, []
    for _ in range(sweeps):
        mistakes = 0
        for place, sign in enumerate(signs):
            if sign * (table[place] @ coefficients + bias) <= 0:
                coefficients[place] += sign
                bias += sign
                mistakes += 1
            seen.append(np.r_[coefficients, bias])
        if mistakes == 0:
            break
    found = np.mean(seen, axis=0) if averaged else seen[-1]
    return found[:-1], found[-1]


@pytest.mark.parametrize("averaged", [False, True])
def test_the_perceptron_is_the_textbooks(averaged):
    X, y = xor()
    model = KernelPerceptron(gamma=0.8, averaged=averaged).fit(X, y)
    coefficients, bias = slow_perceptron(rbf_kernel(X, gamma=0.8), np.where(y == "not", 1, -1), 1000, averaged)
    found = np.zeros(len(X))
    found[model.support_] = model.dual_coef_[0]
    np.testing.assert_allclose(found, coefficients, atol=1e-12)
    np.testing.assert_allclose(model.intercept_, [bias], atol=1e-12)
    np.testing.assert_array_equal(model.support_vectors_, X[model.support_])


@pytest.mark.parametrize("model", [KernelPerceptron(), RVC()], ids=repr)
@pytest.mark.parametrize("way", ["ovr", "ovo"])
def test_decision_values_are_the_sums_that_the_attributes_say(model, way):
    X, y = iris()
    model = clone(model).set_params(gamma=0.5, multi_class=way).fit(X, y)
    values = rbf_kernel(X, model.support_vectors_, gamma=0.5) @ model.dual_coef_.T + model.intercept_
    assert values.shape == (150, 3)
    if way == "ovr":
        np.testing.assert_allclose(model.decision_function(X), values, atol=1e-9)
        np.testing.assert_array_equal(model.predict(X), model.classes_[values.argmax(axis=1)])
    else:
        votes = np.zeros((150, 3))
        for value, (first, second) in zip(values.T, [(0, 1), (0, 2), (1, 2)]):
            votes[:, first] += value >= 0
            votes[:, second] += value < 0
        np.testing.assert_array_equal(model.predict(X), model.classes_[votes.argmax(axis=1)])
        np.testing.assert_array_equal(np.round(model.decision_function(X)), votes)


@pytest.mark.parametrize("model", [KernelPerceptron(), RVC(), RVC(multi_class="ovo"), KernelPerceptron(multi_class="ovo")], ids=repr)
def test_what_a_plane_cannot_separate_is_learnt(model):
    X, y = xor()
    new, truth = xor(25, seed=1)
    assert clone(model).fit(X, y).score(new, truth) > 0.95
    X, y = iris()
    assert cross_val_score(model, X, y, cv=5).mean() > 0.9


def test_data_that_cannot_be_separated_is_warned_of():
    X = np.array([[0.0], [0.0], [1.0]])
    model = KernelPerceptron(max_iter=20)
    with pytest.warns(ConvergenceWarning, match="may not be separable"):
        model.fit(X, [0, 1, 1])
    assert model.stop_reason_ == "iteration-limit" and model.fit_status_ == 1 and model.n_iter_.tolist() == [20]
    assert "separable" in model.notes_[0]


def test_there_is_no_certificate_and_the_notes_say_why():
    X, y = xor()
    assert (perceptron := KernelPerceptron().fit(X, y)).certificate_ is None
    assert "minimises no objective" in perceptron.notes_[-1]
    assert (machine := RVC().fit(X, y)).certificate_ is None
    assert "not convex" in machine.notes_[-1] and "relevance vector" in machine.notes_[0]
    assert (perceptron.solver_, machine.solver_) == ("kernel-perceptron", "rvm")
    assert machine.stop_reason_ == "converged"


def test_relevance_vectors_are_far_fewer_than_support_vectors():
    X, y = make_moons(300, noise=0.2, random_state=0)
    new, truth = make_moons(300, noise=0.2, random_state=1)
    few, many = RVC(gamma=1.0).fit(X, y), SVC(gamma=1.0).fit(X, y)
    assert len(few.relevance_) * 4 < len(many.support_)
    assert few.score(new, truth) > many.score(new, truth) - 0.02
    np.testing.assert_array_equal(few.relevance_vectors_, X[few.relevance_])


def test_the_probabilities_of_a_relevance_vector_machine_are_logistic():
    X, y = make_moons(200, noise=0.3, random_state=0)
    model = RVC(gamma=1.0).fit(X, y)
    right = 1.0 / (1.0 + np.exp(-model.decision_function(X)))
    np.testing.assert_allclose(model.predict_proba(X), np.c_[1 - right, right], atol=1e-12)
    np.testing.assert_allclose(np.exp(model.predict_log_proba(X)), model.predict_proba(X), atol=1e-12)


@pytest.mark.parametrize("way", ["ovr", "ovo"])
def test_no_class_is_likelier_than_the_predicted_one(way):
    X, y = iris()
    model = RVC(multi_class=way).fit(X, y)
    likely = model.predict_proba(X)
    np.testing.assert_allclose(likely.sum(axis=1), 1.0, atol=1e-9)
    predicted = np.searchsorted(model.classes_, model.predict(X))
    assert np.all(likely[np.arange(len(X)), predicted] >= likely.max(axis=1) - 1e-12)


def test_the_mode_is_where_the_gradient_vanishes():
    # At the mode of the coefficients the bias, which has no prior, has pulls that sum to 0.
    X, y = make_moons(150, noise=0.3, random_state=3)
    model = RVC(gamma=1.0, tol=1e-6).fit(X, y)
    assert abs(np.sum(y - model.predict_proba(X)[:, 1])) < 1e-6


@pytest.mark.parametrize("way", ["ovr", "ovo"])
@pytest.mark.parametrize("seed", range(5))
def test_weights_mean_copies(seed, way):
    draw = np.random.default_rng(seed)
    X = draw.normal(size=(50, 3))
    y = (X[:, 0] + draw.normal(size=50) * 0.5 > 0).astype(int) + (X[:, 1] > 1)
    weights = draw.integers(0, 4, size=50)
    copies = draw.permutation(np.repeat(np.arange(50), weights))
    weighed = RVC(gamma=0.4, multi_class=way).fit(X, y, sample_weight=weights)
    copied = RVC(gamma=0.4, multi_class=way).fit(X[copies], y[copies])
    np.testing.assert_allclose(weighed.predict_proba(X), copied.predict_proba(X), rtol=1e-7, atol=1e-9)


def test_a_class_without_weight_is_not_there():
    X, y = iris()
    model = RVC().fit(X, y, sample_weight=(y != "setosa").astype(float))
    assert model.classes_.tolist() == ["versicolor", "virginica"]
    with pytest.raises(InputError, match="same class"):
        model.fit(X, y, sample_weight=(y == "setosa").astype(float))


def test_class_weights_are_weights_of_rows():
    X, y = make_moons(120, noise=0.3, random_state=0)
    by_class = RVC(gamma=1.0, class_weight={0: 1, 1: 3}).fit(X, y)
    by_row = RVC(gamma=1.0).fit(X, y, sample_weight=np.where(y == 1, 3, 1))
    np.testing.assert_allclose(by_class.decision_function(X), by_row.decision_function(X), atol=1e-9)
    assert by_class.class_weight_.tolist() == [1.0, 3.0]
    assert RVC(class_weight="balanced").fit(X[20:], y[20:]).score(X, y) > 0.8


def test_perceptrons_take_no_weights_and_say_so_to_scikit_learn():
    from sklearn.utils.validation import has_fit_parameter

    assert not has_fit_parameter(KernelPerceptron(), "sample_weight")
    assert has_fit_parameter(RVC(), "sample_weight")


@pytest.mark.parametrize("model", [KernelPerceptron(), RVC()], ids=repr)
def test_sparse_rows_tables_and_functions_give_what_full_rows_do(model):
    X, y = xor()
    new, _ = xor(seed=5)
    expected = clone(model).set_params(gamma=0.6).fit(X, y).decision_function(new)

    def kernel(left, right):
        return rbf_kernel(left, right, gamma=0.6)

    of_sparse = clone(model).set_params(gamma=0.6).fit(sparse.csr_matrix(X), y)
    np.testing.assert_allclose(of_sparse.decision_function(sparse.csr_matrix(new)), expected, atol=1e-8)
    assert sparse.issparse(of_sparse.support_vectors_)
    of_function = clone(model).set_params(kernel=kernel).fit(X, y)
    np.testing.assert_allclose(of_function.decision_function(new), expected, atol=1e-8)
    of_table = clone(model).set_params(kernel="precomputed").fit(kernel(X, X), y)
    np.testing.assert_allclose(of_table.decision_function(kernel(new, X)), expected, atol=1e-8)


@pytest.mark.parametrize("model", [KernelPerceptron(kernel="linear"), RVC(kernel="linear")], ids=repr)
def test_a_linear_model_has_weights(model):
    X, y = iris()
    model = clone(model)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)  # two species of iris cannot be separated
        model.fit(X, y)
    np.testing.assert_allclose(model.decision_function(X), X @ model.coef_.T + model.intercept_, atol=1e-9)
    with pytest.raises(AttributeError, match="linear"):
        clone(model).set_params(kernel="rbf").fit(X[50:], y[50:]).coef_  # noqa: B018


@pytest.mark.parametrize("model", [KernelPerceptron(), RVC()], ids=repr)
def test_models_survive_pickle_copy_and_clone(model):
    X, y = iris()
    fitted = clone(model).fit(X, y)
    for again in (pickle.loads(pickle.dumps(fitted)), copy.deepcopy(fitted)):
        np.testing.assert_array_equal(again.decision_function(X), fitted.decision_function(X))
        np.testing.assert_array_equal(again.predict(X), fitted.predict(X))
        np.testing.assert_array_equal(again.dual_coef_, fitted.dual_coef_)
    if isinstance(model, RVC):
        np.testing.assert_array_equal(pickle.loads(pickle.dumps(fitted)).predict_proba(X), fitted.predict_proba(X))
    assert not hasattr(clone(fitted), "classes_")
    for name in ("dual_coef_", "support_vectors_", "intercept_", "relevance_", "relevance_vectors_"):
        assert not hasattr(clone(fitted), name)
    for method in ("predict", "decision_function"):
        with pytest.raises(NotFittedError):
            getattr(clone(fitted), method)(X)


def test_threads_change_no_bit():
    X, y = iris()
    for model in (KernelPerceptron(), RVC()):
        one, two = (clone(model).set_params(n_jobs=jobs).fit(X, y).decision_function(X) for jobs in (1, 2))
        np.testing.assert_array_equal(one, two)


def test_scikit_learns_tools_take_them():
    X, y = load_breast_cancer(return_X_y=True)
    X, y = X[:200], y[:200]
    search = GridSearchCV(make_pipeline(StandardScaler(), RVC()), {"rvc__gamma": ["scale", 0.01]}, cv=3, scoring="neg_log_loss").fit(X, y)
    assert search.best_estimator_.score(X, y) > 0.95
    calibrated = CalibratedClassifierCV(make_pipeline(StandardScaler(), KernelPerceptron()), cv=3, ensemble=False).fit(X, y)
    assert calibrated.score(X, y) > 0.9


def test_models_are_saved_and_exported(tmp_path):
    X, y = xor()
    for model in (KernelPerceptron(), RVC()):
        model.fit(X, y).save(tmp_path / "model.mm")
        assert (tmp_path / "model.mm").stat().st_size > 100
        assert len(model.to_onnx(tmp_path / "model.onnx")) == (tmp_path / "model.onnx").stat().st_size
        assert b"<svg" in model.plot(X, y).svg
        with pytest.raises(InputError, match="whole numbers"):
            model.to_libsvm()
        assert f"total_sv {len(model.fit(X, np.where(y == 'not', 1, 2)).support_)}" in model.to_libsvm()


@pytest.mark.parametrize("way", ["ovr", "ovo"])
def test_models_are_read_back(tmp_path, way):
    X, y = iris()
    for model in (KernelPerceptron(multi_class=way, fit_intercept=False), RVC(multi_class=way, kernel="poly", degree=2)):
        model.fit(X, y).save(tmp_path / "model.mm")
        for again in (type(model).load(tmp_path / "model.mm"), maxmargin.load(tmp_path / "model.mm")):
            assert type(again) is type(model) and again.multi_class == way and again.fit_intercept == model.fit_intercept
            np.testing.assert_array_equal(again.predict(X), model.predict(X))
            np.testing.assert_array_equal(again.decision_function(X), model.decision_function(X))
            np.testing.assert_array_equal(again.dual_coef_, model.dual_coef_)
    np.testing.assert_array_equal(again.predict_proba(X), model.predict_proba(X))


def test_verify_finds_what_is_told_of_the_training_data_true():
    X, y = xor()
    for model in (KernelPerceptron(), RVC()):
        assert model.fit(X, y).verify(X, y)
        assert not model.verify(X[::-1], y[::-1])


def test_a_fit_goes_on_from_its_checkpoint(tmp_path):
    X, y = make_moons(300, noise=0.4, random_state=0)
    y = y + (X[:, 0] > 1)  # three classes, so that some machines are done when the time is up
    path = tmp_path / "fit.checkpoint"
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        RVC(gamma=2.0, checkpoint=path, max_time=0.005, n_jobs=1).fit(X, y)
        continued = RVC(gamma=2.0, checkpoint=path).fit(X, y)
        at_once = RVC(gamma=2.0).fit(X, y)
    np.testing.assert_array_equal(continued.dual_coef_, at_once.dual_coef_)


def test_a_time_limit_is_kept_and_told():
    X, y = make_moons(1500, noise=0.4, random_state=0)
    model = RVC(gamma=5.0, tol=1e-9, max_time=0.05)
    with pytest.warns(ConvergenceWarning, match="max_time"):
        model.fit(X, y)
    assert model.stop_reason_ == "time-limit" and model.predict(X).shape == (1500,)


@pytest.mark.parametrize(
    "model, word",
    [
        (KernelPerceptron(kernel="nonsense"), "nonsense"),
        (KernelPerceptron(averaged="yes"), "averaged"),
        (KernelPerceptron(multi_class="all"), "multi_class"),
        (RVC(tol=0.0), "tol"),
        (RVC(class_weight="heavy"), "class_weight"),
        (RVC(gamma=-1.0), "gamma"),
    ],
    ids=repr,
)
def test_parameters_out_of_range_are_refused(model, word):
    X, y = xor()
    with pytest.raises(ValueError, match=word):
        model.fit(X, y)
