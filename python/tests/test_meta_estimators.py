"""Our estimators inside of scikit-learn's: pipelines, searches, ensembles, calibration, selection, inspection."""

import numpy as np
import pytest

import maxmargin
from maxmargin import SVC, SVR, NuSVC, OneClassSVM

sklearn = pytest.importorskip("sklearn")
from sklearn import datasets  # noqa: E402
from sklearn.base import clone, is_classifier, is_outlier_detector, is_regressor  # noqa: E402
from sklearn.calibration import CalibratedClassifierCV  # noqa: E402
from sklearn.compose import TransformedTargetRegressor, make_column_transformer  # noqa: E402
from sklearn.ensemble import AdaBoostClassifier, BaggingClassifier, StackingClassifier, VotingClassifier  # noqa: E402
from sklearn.feature_selection import RFE, SelectFromModel  # noqa: E402
from sklearn.inspection import permutation_importance  # noqa: E402
from sklearn.model_selection import (  # noqa: E402
    GridSearchCV,
    RandomizedSearchCV,
    cross_val_predict,
    cross_validate,
    learning_curve,
)
from sklearn.multiclass import OneVsOneClassifier, OneVsRestClassifier  # noqa: E402
from sklearn.multioutput import MultiOutputRegressor  # noqa: E402
from sklearn.pipeline import make_pipeline  # noqa: E402
from sklearn.preprocessing import StandardScaler  # noqa: E402

X, Y = datasets.load_iris(return_X_y=True)


def test_scikit_learn_knows_what_kind_each_is():
    assert is_classifier(SVC()) and is_classifier(NuSVC()) and is_regressor(SVR()) and is_outlier_detector(OneClassSVM())
    assert not is_classifier(SVR()) and not is_regressor(SVC())


@pytest.mark.parametrize(
    "wrapped",
    [
        make_pipeline(StandardScaler(), SVC()),
        make_pipeline(make_column_transformer((StandardScaler(), [0, 2])), SVC()),
        OneVsRestClassifier(SVC()),
        OneVsOneClassifier(SVC()),
        BaggingClassifier(SVC(), n_estimators=3, random_state=0),
        AdaBoostClassifier(SVC(C=0.1), n_estimators=3, random_state=0),
        VotingClassifier([("a", SVC(probability=True)), ("b", NuSVC(nu=0.2, probability=True))], voting="soft"),
        StackingClassifier([("a", SVC()), ("b", NuSVC(nu=0.2))], final_estimator=SVC(kernel="linear")),
        CalibratedClassifierCV(SVC(), cv=3),
        SelectFromModel(SVC(kernel="linear"), max_features=3, threshold=-np.inf),
        RFE(SVC(kernel="linear"), n_features_to_select=2),
    ],
    ids=lambda wrapped: type(wrapped).__name__,
)
def test_it_works_within(wrapped):
    wrapped.fit(X, Y)
    if hasattr(wrapped, "predict"):
        assert np.mean(wrapped.predict(X) == Y) > 0.9
    if hasattr(wrapped, "predict_proba"):
        np.testing.assert_allclose(wrapped.predict_proba(X).sum(axis=1), 1.0)
    if isinstance(wrapped, SelectFromModel):
        assert wrapped.transform(X).shape == (150, 3)


def test_numbers_work_within():
    x, y = datasets.load_diabetes(return_X_y=True)
    scaled = TransformedTargetRegressor(SVR(C=10), transformer=StandardScaler()).fit(x, y)
    assert scaled.score(x, y) > 0.5
    two = MultiOutputRegressor(SVR(C=100)).fit(x, np.stack([y, -y], axis=1))
    np.testing.assert_allclose(two.predict(x)[:, 0], -two.predict(x)[:, 1], rtol=1e-3, atol=1.0)


@pytest.mark.parametrize("jobs", [None, 2])
def test_searches_find_what_they_find_with_scikit_learns_own(jobs):
    from sklearn.svm import SVC as Theirs

    grid = {"C": [0.01, 1.0, 10.0], "gamma": [0.01, 0.5]}
    ours = GridSearchCV(SVC(), grid, cv=5, n_jobs=jobs).fit(X, Y)
    theirs = GridSearchCV(Theirs(tol=1e-8), grid, cv=5).fit(X, Y)
    assert ours.best_params_ == theirs.best_params_
    np.testing.assert_allclose(ours.cv_results_["mean_test_score"], theirs.cv_results_["mean_test_score"])
    some = RandomizedSearchCV(SVC(probability=True), grid, n_iter=3, cv=3, random_state=0, scoring="neg_log_loss").fit(X, Y)
    assert some.best_score_ > -0.5


def test_scores_and_curves():
    found = cross_validate(SVC(probability=True), X, Y, scoring=["accuracy", "roc_auc_ovr", "neg_log_loss"], return_estimator=True, cv=3)
    assert found["test_accuracy"].mean() > 0.9 and found["test_roc_auc_ovr"].mean() > 0.98
    assert len(found["estimator"]) == 3
    assert cross_val_predict(SVC(), X, Y, method="decision_function").shape == (150, 3)
    sizes, _, held = learning_curve(SVC(), X, Y, shuffle=True, random_state=0)
    assert len(sizes) == len(held)
    importance = permutation_importance(SVC().fit(X, Y), X, Y, random_state=0)
    assert importance.importances_mean[2] > importance.importances_mean[1]


def test_weights_are_passed_on_where_they_are_asked_for():
    weights = np.random.RandomState(0).randint(0, 3, 150)
    with sklearn.config_context(enable_metadata_routing=True):
        asking = SVC().set_fit_request(sample_weight=True).set_score_request(sample_weight=True)
        found = GridSearchCV(asking, {"C": [1.0]}, cv=3).fit(X, Y, sample_weight=weights)
        direct = SVC().fit(X, Y, sample_weight=weights)
        np.testing.assert_allclose(found.best_estimator_.decision_function(X), direct.decision_function(X))
        assert clone(asking).get_metadata_routing().fit.requests == {"sample_weight": True}
        with pytest.raises(ValueError, match="sample_weight"):
            GridSearchCV(SVC(), {"C": [1.0]}, cv=3).fit(X, Y, sample_weight=weights)


def test_parameters_read_and_write_as_scikit_learns():
    model = SVC(C=3.0, kernel="poly")
    assert repr(model) == "SVC(C=3.0, kernel='poly')"
    assert clone(model).get_params() == model.get_params()
    assert model.set_params(C=5).C == 5
    with pytest.raises(ValueError, match="Invalid parameter 'D' for estimator SVC"):
        model.set_params(D=1)
    pipeline = make_pipeline(StandardScaler(), SVC()).set_params(svc__C=7.0)
    assert pipeline.named_steps["svc"].C == 7.0


callback = pytest.importorskip("sklearn.callback", reason="scikit-learn has callbacks from 1.9 on")


class Recorder:
    """Writes down what it is told."""

    max_propagation_depth = None

    def __init__(self):
        self.told = []

    def setup(self, estimator, context):
        self.told.append("setup")

    def teardown(self, estimator, context):
        self.told.append("teardown")

    def on_fit_task_begin(self, estimator, context, *, X=None, y=None, metadata=None):
        self.told.append(("begin", type(estimator).__name__, np.shape(X), metadata is not None))

    def on_fit_task_end(self, estimator, context, *, fitted_estimator=None):
        self.told.append(("end", type(estimator).__name__, getattr(fitted_estimator, "stop_reason_", None)))


@pytest.mark.parametrize(
    "model", [SVC(), NuSVC(nu=0.2), SVR(), OneClassSVM(), maxmargin.LinearSVC(), maxmargin.LogisticRegression()], ids=str
)
def test_callbacks_are_told_when_a_fit_begins_and_ends(model):
    told = Recorder()
    model = clone(model).set_callbacks(told)
    clone(model).fit(X, Y, sample_weight=np.ones(150))
    name = type(model).__name__
    assert told.told == ["setup", ("begin", name, (150, 4), True), ("end", name, "converged"), "teardown"]
    model.set_callbacks().fit(X, Y)
    assert len(told.told) == 4
    with pytest.raises(TypeError, match="FitCallback"):
        model.set_callbacks(print)


def test_callbacks_of_a_search_and_a_pipeline_reach_the_model_within():
    told = Recorder()
    GridSearchCV(make_pipeline(StandardScaler(), SVC()), {"svc__C": [1.0, 2.0]}, cv=2).set_callbacks(told).fit(X, Y)
    assert sum(entry[:2] == ("begin", "SVC") for entry in told.told) == 5 and told.told.count("setup") == 1
    scores = callback.ScoringMonitor(scoring="accuracy")
    SVC().set_callbacks(scores).fit(X, Y)
    assert hasattr(scores, "get_logs")


def test_callbacks_are_torn_down_when_a_fit_fails():
    told = Recorder()
    with pytest.raises(ValueError, match="must be"):
        SVC(C=-1.0).set_callbacks(told).fit(X, Y)
    assert told.told[-1] == "teardown" and not hasattr(SVC(), "_callback_fit_ctx")


def test_a_meta_estimator_asks_for_probabilities_where_there_are_some():
    stack = StackingClassifier([("a", SVC())], final_estimator=SVC(kernel="linear")).fit(X, Y)
    assert stack.stack_method_ == ["decision_function"] and not hasattr(stack, "predict_proba")
    search = GridSearchCV(SVC(), {"C": [1.0]}, cv=2).fit(X, Y)
    assert not hasattr(search, "predict_proba") and hasattr(search, "decision_function")
