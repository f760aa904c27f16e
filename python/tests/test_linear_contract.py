"""scikit-learn's own checks of estimators, with nothing expected to fail."""

import numpy as np
import pytest

pytest.importorskip("sklearn")
from sklearn.utils.estimator_checks import check_estimator, parametrize_with_checks

from maxmargin import LinearDiscriminantAnalysis, LinearSVC, LinearSVR, LogisticRegression, Perceptron, SGDClassifier

ESTIMATORS = [
    LinearSVC(),
    LinearSVC(loss="hinge"),
    LinearSVC(penalty="l1"),
    LinearSVC(multi_class="crammer_singer", max_iter=100_000),
    LinearSVC(intercept_scaling=None),
    LinearSVC(intercept_scaling=10.0),
    LinearSVR(),
    LinearSVR(loss="squared_epsilon_insensitive", epsilon=0.1),
    LinearSVR(intercept_scaling=None),
    LogisticRegression(),
    LogisticRegression(solver="liblinear"),
    LogisticRegression(penalty="l1"),
    LinearDiscriminantAnalysis(),
    LinearDiscriminantAnalysis(solver="lsqr", shrinkage="auto"),
    LinearDiscriminantAnalysis(solver="eigen", shrinkage=0.2),
    Perceptron(),
    Perceptron(averaged=True),
    SGDClassifier(),
    SGDClassifier(loss="log_loss", average=True),
    SGDClassifier(loss="squared_hinge", alpha=0.01),
]


@pytest.mark.filterwarnings("ignore")
@parametrize_with_checks(ESTIMATORS)
def test_every_check_of_scikit_learn_passes(estimator, check):
    check(estimator)


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("seed", [1, 2, 3])
@pytest.mark.parametrize("kind", [LinearSVC, LinearSVR, LogisticRegression, LinearDiscriminantAnalysis, Perceptron, SGDClassifier])
def test_the_checks_pass_whatever_the_global_seed(kind, seed):
    np.random.seed(seed)
    found = check_estimator(kind(), on_fail=None, on_skip=None)
    assert len(found) > 50
    assert [check["check_name"] for check in found if check["status"] not in ("passed", "skipped")] == []
