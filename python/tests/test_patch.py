"""scikit-learn's classes replaced by ours, and its own where ours refuse."""

from __future__ import annotations

import copy
import importlib
import inspect
import pickle
import subprocess
import sys
import textwrap
import warnings

import numpy as np
import pytest
import sklearn.svm
from sklearn.base import clone, is_classifier
from sklearn.calibration import CalibratedClassifierCV
from sklearn.exceptions import NotFittedError
from sklearn.model_selection import GridSearchCV, cross_val_predict
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils.validation import check_is_fitted, has_fit_parameter

import maxmargin
from maxmargin import FallbackWarning, InputError

ORIGINAL = sklearn.svm.SVC
_draw = np.random.RandomState(1)
X = _draw.randn(60, 3)
Y = np.where(X[:, 0] + 0.3 * _draw.randn(60) > 0, "yes", "no")
T = X[:, 0] - X[:, 1]


@pytest.fixture(autouse=True)
def patched():
    maxmargin.patch_sklearn()
    yield
    maxmargin.unpatch_sklearn()


def fell_back(model: object) -> bool:
    return "_fallback" in vars(model)


def test_the_classes_are_replaced_and_put_back():
    assert sklearn.svm.SVC is not ORIGINAL
    assert issubclass(sklearn.svm.SVC, maxmargin.SVC) and issubclass(sklearn.svm.SVC, ORIGINAL)
    maxmargin.unpatch_sklearn()
    assert sklearn.svm.SVC is ORIGINAL
    maxmargin.unpatch_sklearn()
    assert sklearn.svm.SVC is ORIGINAL


def test_every_class_that_both_have_is_replaced_and_put_back():
    from maxmargin._patch import _MODULES, _originals

    names = [name for name in _MODULES if hasattr(maxmargin, name)]
    assert {"SVC", "NuSVC", "SVR", "NuSVR", "OneClassSVM"} <= set(names)
    maxmargin.patch_sklearn(names)
    for name in names:
        assert issubclass(getattr(importlib.import_module(_MODULES[name]), name), getattr(maxmargin, name))
    maxmargin.unpatch_sklearn()
    for name in names:
        found = getattr(importlib.import_module(_MODULES[name]), name)
        assert found is _originals[name] and not issubclass(found, getattr(maxmargin, name))


def test_patching_twice_is_patching_once():
    first = sklearn.svm.SVC
    maxmargin.patch_sklearn()
    assert sklearn.svm.SVC is first
    maxmargin.unpatch_sklearn()
    assert sklearn.svm.SVC is ORIGINAL


def test_only_the_classes_named_are_replaced_and_others_are_refused():
    maxmargin.unpatch_sklearn()
    maxmargin.patch_sklearn("SVR")
    assert sklearn.svm.SVC is ORIGINAL and issubclass(sklearn.svm.SVR, maxmargin.SVR)
    with pytest.raises(ValueError, match="'KMeans' is no class that can be replaced"):
        maxmargin.patch_sklearn(["KMeans"])
    maxmargin.patch_sklearn(["SVC", "SVR"])
    maxmargin.unpatch_sklearn("SVC")
    assert sklearn.svm.SVC is ORIGINAL and issubclass(sklearn.svm.SVR, maxmargin.SVR)


def test_a_name_that_was_imported_before_keeps_scikit_learns_class():
    assert not hasattr(ORIGINAL().fit(X, Y), "certificate_")


def test_a_patched_model_is_ours_and_counts_as_scikit_learns():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model = sklearn.svm.SVC().fit(X, Y)
    assert isinstance(model, ORIGINAL) and isinstance(model, maxmargin.SVC) and not fell_back(model)
    assert model.certificate_.gap < 1e-9
    assert np.array_equal(model.decision_function(X), maxmargin.SVC().fit(X, Y).decision_function(X))
    assert np.array_equal(model.predict(X), ORIGINAL().fit(X, Y).predict(X))
    assert np.allclose(sklearn.svm.SVC(probability=True).fit(X, Y).predict_proba(X).sum(axis=1), 1)
    assert is_classifier(model) and type(model).__name__ == "SVC" and repr(model) == "SVC()"


@pytest.mark.parametrize("name", ["SVC", "NuSVC", "SVR", "NuSVR", "OneClassSVM"])
def test_a_patched_class_predicts_as_scikit_learns(name):
    kind = getattr(sklearn.svm, name)
    y = T if "SVR" in name else Y
    ours, theirs = kind(tol=1e-6).fit(X, y), kind._original(tol=1e-6).fit(X, y)
    values = (lambda m: m.predict(X)) if "SVR" in name else (lambda m: m.decision_function(X))
    assert np.allclose(values(ours), values(theirs), atol=1e-4)


LINEAR = {
    "LinearSVC": "sklearn.svm",
    "LinearSVR": "sklearn.svm",
    "LogisticRegression": "sklearn.linear_model",
    "LinearDiscriminantAnalysis": "sklearn.discriminant_analysis",
    "Perceptron": "sklearn.linear_model",
    "SGDClassifier": "sklearn.linear_model",
}


@pytest.mark.parametrize("name", LINEAR)
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_a_patched_linear_class_is_ours_and_is_copied_and_pickled(name):
    maxmargin.patch_sklearn(name)
    kind = getattr(importlib.import_module(LINEAR[name]), name)
    y = T if name == "LinearSVR" else Y
    with warnings.catch_warnings():
        warnings.simplefilter("error", FallbackWarning)
        model = kind().fit(X, y)
        again = kind(**kind._original().get_params()).fit(X, y)
    assert isinstance(model, kind._original) and isinstance(model, getattr(maxmargin, name)) and not fell_back(again)
    assert np.array_equal(model.coef_, getattr(maxmargin, name)().fit(X, y).coef_)
    for other in (copy.deepcopy(model), pickle.loads(pickle.dumps(model)), clone(model).fit(X, y)):
        assert np.array_equal(other.predict(X), model.predict(X))
    if name not in ("Perceptron", "SGDClassifier"):
        theirs = kind._original(**({} if name.endswith("Analysis") else {"tol": 1e-8, "max_iter": 100_000})).fit(X, y)
        assert np.allclose(model.coef_, theirs.coef_, atol=1e-3)


@pytest.mark.parametrize(
    ("name", "parameters", "part"),
    [
        ("LogisticRegression", {"l1_ratio": 0.5, "solver": "saga", "max_iter": 5000}, "elasticnet"),
        ("SGDClassifier", {"loss": "modified_huber"}, "modified_huber"),
        ("SGDClassifier", {"penalty": "elasticnet"}, "elasticnet"),
        ("Perceptron", {"penalty": "l1"}, "'penalty' parameter of Perceptron"),
    ],
)
def test_a_linear_problem_that_ours_does_not_solve_falls_back(name, parameters, part):
    maxmargin.patch_sklearn(name)
    kind = getattr(importlib.import_module(LINEAR[name]), name)
    with pytest.warns(FallbackWarning, match=part):
        model = kind(random_state=0, **parameters).fit(X, Y)
    assert np.array_equal(model.predict(X), kind._original(random_state=0, **parameters).fit(X, Y).predict(X))


def test_blocks_of_rows_are_learnt_by_the_model_that_began():
    maxmargin.patch_sklearn("SGDClassifier")
    kind = importlib.import_module("sklearn.linear_model").SGDClassifier
    ours = kind().partial_fit(X, Y, classes=["no", "yes"]).partial_fit(X, Y)
    assert not fell_back(ours) and ours.t_ == 121
    with pytest.warns(FallbackWarning):
        theirs = kind(loss="huber", random_state=0).partial_fit(X, Y, classes=["no", "yes"])
    own = kind._original(loss="huber", random_state=0).partial_fit(X, Y, classes=["no", "yes"]).partial_fit(X, Y)
    assert np.array_equal(theirs.partial_fit(X, Y).coef_, own.coef_)
    ours.alpha = -1
    with pytest.raises(InputError, match="'alpha'"):
        ours.partial_fit(X, Y)


def test_only_classes_with_one_answer_are_replaced_unless_they_are_named():
    import sklearn.linear_model

    assert not issubclass(sklearn.linear_model.SGDClassifier, maxmargin.SGDClassifier)
    assert issubclass(sklearn.linear_model.LogisticRegression, maxmargin.LogisticRegression)


def test_a_parameter_value_that_ours_refuses_falls_back_and_says_which():
    with pytest.warns(FallbackWarning, match=r"SVC was fitted by scikit-learn's own class.*'gamma' parameter.*Got 0 instead"):
        model = sklearn.svm.SVC(gamma=0).fit(X, Y)
    own = ORIGINAL(gamma=0).fit(X, Y)
    assert fell_back(model) and isinstance(model, ORIGINAL)
    assert np.array_equal(model.predict(X), own.predict(X))
    assert np.array_equal(model.decision_function(X), own.decision_function(X))
    assert np.array_equal(model.support_, own.support_) and np.array_equal(model.dual_coef_, own.dual_coef_)
    assert model.score(X, Y) == own.score(X, Y) and model.n_features_in_ == 3 and model.classes_.tolist() == ["no", "yes"]
    assert not hasattr(model, "certificate_")
    check_is_fitted(model)


def test_the_warning_points_to_the_call_that_fell_back():
    with pytest.warns(FallbackWarning) as seen:
        sklearn.svm.SVC(gamma=0).fit(X, Y)
    assert seen[0].filename == __file__


def test_data_that_ours_refuses_falls_back():
    lopsided = X @ X.T
    lopsided[0, 1] += 1e-3
    with pytest.warns(FallbackWarning, match="not symmetric"):
        model = sklearn.svm.SVC(kernel="precomputed").fit(lopsided, Y)
    assert np.array_equal(model.predict(lopsided), ORIGINAL(kernel="precomputed").fit(lopsided, Y).predict(lopsided))


def test_what_neither_supports_is_refused_with_scikit_learns_error():
    with warnings.catch_warnings():
        warnings.simplefilter("error", FallbackWarning)
        with pytest.raises(ValueError, match="contains NaN"):
            sklearn.svm.SVC().fit(np.full((60, 3), np.nan), Y)
        with pytest.raises(ValueError, match="'C' parameter") as found:
            sklearn.svm.SVC(C=-1).fit(X, Y)
    assert isinstance(found.value.__cause__, InputError)


def test_a_failed_fit_leaves_the_model_of_before():
    model = sklearn.svm.SVC().fit(X, Y)
    before = model.decision_function(X)
    with pytest.raises(ValueError):
        model.fit(X[:, :2], Y[:-1])
    assert np.array_equal(model.decision_function(X), before)


def test_a_fit_after_a_fallback_is_ours_again():
    with pytest.warns(FallbackWarning):
        model = sklearn.svm.SVC(gamma=0).fit(X, Y)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model.set_params(gamma="scale").fit(X, Y)
    assert not fell_back(model) and model.certificate_.gap < 1e-9
    with pytest.warns(FallbackWarning):
        model.set_params(gamma=0.0).fit(X, Y)
    assert not hasattr(model, "certificate_")


def test_parameters_set_after_a_fallback_reach_its_model():
    three = np.repeat(["a", "b", "c"], 20)
    with pytest.warns(FallbackWarning):
        model = sklearn.svm.SVC(gamma=0).fit(X, three)
    assert model.decision_function(X).shape == (60, 3)
    assert model.set_params(decision_function_shape="ovo").decision_function(X).shape == (60, 3)
    with pytest.warns(FallbackWarning):
        four = sklearn.svm.SVC(gamma=0).fit(X, np.tile(["a", "b", "c", "d"], 15))
    assert four.set_params(decision_function_shape="ovo").decision_function(X).shape == (60, 6)


def test_parameters_of_scikit_learn_that_ours_does_not_know_are_taken_and_fall_back_unless_they_have_their_default():
    from maxmargin._patch import _build

    class Theirs(ORIGINAL):
        def __init__(self, C=1.0, *, spice="mild"):
            super().__init__(C=C)
            self.spice = spice

    kind = _build("SVC", maxmargin.SVC, Theirs)
    assert not fell_back(kind(2.0).fit(X, Y)) and kind(2.0).C == 2.0
    with pytest.warns(FallbackWarning, match="spice='hot'"):
        model = kind(2.0, spice="hot").fit(X, Y)
    assert fell_back(model) and model.get_params()["spice"] == "hot" and clone(model).spice == "hot"


def test_keywords_of_fit_that_ours_does_not_have_fall_back():
    from maxmargin._patch import _build

    class Theirs(ORIGINAL):
        def fit(self, X, y, sample_weight=None, monitor=None):
            self.monitor_ = monitor
            return super().fit(X, y, sample_weight)

    with pytest.warns(FallbackWarning, match="monitor"):
        model = _build("SVC", maxmargin.SVC, Theirs)().fit(X, Y, monitor=3)
    assert model.monitor_ == 3


def test_scikit_learns_own_defaults_are_taken_for_ours():
    with warnings.catch_warnings():
        warnings.simplefilter("error", FallbackWarning)
        model = sklearn.svm.SVC(**ORIGINAL().get_params()).fit(X, Y)
    assert not fell_back(model) and model.probability == ORIGINAL().probability


def test_the_parameters_are_those_of_both():
    names = set(inspect.signature(sklearn.svm.SVC).parameters)
    assert set(ORIGINAL().get_params()) <= names and {"n_jobs", "max_time", "checkpoint"} <= names
    assert set(sklearn.svm.SVC().get_params()) == set(ORIGINAL().get_params())
    assert set(sklearn.svm.SVC(n_jobs=1, solver="smo").get_params()) == {*ORIGINAL().get_params(), "n_jobs", "solver"}
    with pytest.raises(TypeError, match="unexpected keyword argument 'spice'"):
        sklearn.svm.SVC(spice=1)
    assert has_fit_parameter(sklearn.svm.SVC(), "sample_weight")


@pytest.mark.parametrize("gamma", ["scale", 0])
def test_clone_copy_and_pickle_keep_a_patched_model(gamma):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", FallbackWarning)
        model = sklearn.svm.SVC(gamma=gamma, C=3).fit(X, Y)
    values = model.decision_function(X)
    again = clone(model)
    assert type(again) is type(model) and again.get_params() == model.get_params()
    with pytest.raises(NotFittedError):
        again.predict(X)
    for other in (copy.deepcopy(model), copy.copy(model), *(pickle.loads(pickle.dumps(model, protocol)) for protocol in (2, 3, 4, 5))):
        assert type(other) is type(model) and np.array_equal(other.decision_function(X), values)


def test_models_of_scikit_learns_own_class_are_pickled_while_it_is_replaced():
    own = ORIGINAL().fit(X, Y)
    assert np.array_equal(pickle.loads(pickle.dumps(own)).predict(X), own.predict(X))


def test_a_patched_model_is_read_where_nothing_is_patched(tmp_path):
    (tmp_path / "model.pickle").write_bytes(pickle.dumps(sklearn.svm.SVC().fit(X, Y)))
    code = """
        import pickle, sys
        model = pickle.load(open(sys.argv[1], "rb"))
        import sklearn.svm
        assert not hasattr(sklearn.svm.SVC, "certificate_") and type(model) is not sklearn.svm.SVC
        assert isinstance(model, sklearn.svm.SVC)
        print(model.certificate_.gap < 1e-9, len(model.predict([[0.0, 0.0, 0.0]])))
    """
    found = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(code), str(tmp_path / "model.pickle")], capture_output=True, text=True, timeout=120
    )
    assert found.stdout.split() == ["True", "1"], found.stderr


@pytest.mark.parametrize("jobs", [1, 2])
def test_a_grid_search_over_a_pipeline_gives_what_ours_gives(jobs):
    search = GridSearchCV(make_pipeline(StandardScaler(), sklearn.svm.SVC()), {"svc__C": [0.1, 10.0]}, cv=3, n_jobs=jobs).fit(X, Y)
    ours = GridSearchCV(make_pipeline(StandardScaler(), maxmargin.SVC()), {"svc__C": [0.1, 10.0]}, cv=3).fit(X, Y)
    assert isinstance(search.best_estimator_[-1], maxmargin.SVC)
    assert np.array_equal(search.cv_results_["mean_test_score"], ours.cv_results_["mean_test_score"])


def test_meta_estimators_take_a_patched_class():
    assert CalibratedClassifierCV(sklearn.svm.SVC(), cv=3).fit(X, Y).predict_proba(X).shape == (60, 2)
    assert cross_val_predict(sklearn.svm.SVR(), X, T, cv=3).shape == (60,)


def test_a_class_derived_from_a_patched_one_works_and_falls_back():
    class Mine(sklearn.svm.SVC):
        def __init__(self, C=2.0, gamma="scale"):
            super().__init__(C=C, gamma=gamma)

    model = Mine().fit(X, Y)
    assert model.get_params() == {"C": 2.0, "gamma": "scale"} and model.certificate_.gap < 1e-9
    with pytest.warns(FallbackWarning):
        assert fell_back(clone(Mine(gamma=0)).fit(X, Y))


def test_a_patched_model_is_saved_and_loaded_as_ours(tmp_path):
    model = sklearn.svm.SVC().fit(X, Y)
    model.save(tmp_path / "model.mm")
    assert type(maxmargin.load(tmp_path / "model.mm")) is maxmargin.SVC
    assert np.array_equal(type(model).load(tmp_path / "model.mm").predict(X), model.predict(X))


def run(*arguments, cwd=None):
    return subprocess.run([sys.executable, "-m", "maxmargin", *arguments], capture_output=True, text=True, timeout=120, cwd=cwd)


SCRIPT = """
import sys
from sklearn.svm import SVC
from neighbour import word
assert __name__ == "__main__"
print(type(SVC().fit([[0.0], [1.0]], [0, 1]).certificate_).__name__, word, sys.argv[1:])
sys.exit(int(sys.argv[1]))
"""


def test_a_script_is_run_as_main_with_its_arguments_and_its_exit_code(tmp_path):
    (tmp_path / "script.py").write_text(SCRIPT)
    (tmp_path / "neighbour.py").write_text("word = 'here'")
    found = run(str(tmp_path / "script.py"), "3", "-x")
    assert found.stdout == "Certificate here ['3', '-x']\n", found.stderr
    assert found.returncode == 3


def test_a_module_is_run_as_main(tmp_path):
    (tmp_path / "script.py").write_text(SCRIPT)
    (tmp_path / "neighbour.py").write_text("word = 'here'")
    found = run("-m", "script", "0", cwd=tmp_path)
    assert found.stdout == "Certificate here ['0']\n", found.stderr
    assert found.returncode == 0


@pytest.mark.parametrize(
    ("arguments", "part"),
    [
        ((), "no script is named"),
        (("-m",), "no module is named"),
        (("--fast",), "found '--fast'"),
        (("none.py",), "there is no script 'none.py'"),
    ],
)
def test_wrong_usage_is_told_with_exit_code_2(arguments, part):
    found = run(*arguments)
    assert found.returncode == 2 and part in found.stderr and "usage: python -m maxmargin" in found.stderr and not found.stdout


def test_help_and_version_are_told():
    assert run("--help").stdout.startswith("usage:") and run("--help").returncode == 0
    assert run("--version").stdout.split()[1] == maxmargin.__version__


def test_parameters_that_only_ours_has_are_handed_to_scikit_learn_only_where_they_were_changed():
    from sklearn.linear_model import LogisticRegression

    from maxmargin._patch import _originals

    known = set(inspect.signature(_originals["LogisticRegression"].__init__).parameters) - {"self"}
    assert set(LogisticRegression().get_params()) == known
    changed = LogisticRegression(max_time=5.0, C=2.0)
    assert set(changed.get_params()) == known | {"max_time"} and clone(changed).max_time == 5.0
    assert LogisticRegression().set_params(progress=False).get_params() == LogisticRegression().get_params()
    # scikit-learn's own search for C hands them to its functions.
    assert np.size(sklearn.linear_model.LogisticRegressionCV(Cs=2, cv=2, use_legacy_attributes=False).fit(X, Y).C_) == 1
