"""scikit-learn's own checks of linear estimators that do not have the default parameters; those that have are in `test_contract.py`."""

import pytest

pytest.importorskip("sklearn")
from sklearn.utils.estimator_checks import parametrize_with_checks

from maxmargin import LinearDiscriminantAnalysis, LinearSVC, LinearSVR, LogisticRegression, Perceptron, SGDClassifier

ESTIMATORS = [
    LinearSVC(loss="hinge"),
    LinearSVC(penalty="l1"),
    LinearSVC(multi_class="crammer_singer", max_iter=100_000),
    LinearSVC(intercept_scaling=None),
    LinearSVC(intercept_scaling=10.0),
    LinearSVR(loss="squared_epsilon_insensitive", epsilon=0.1),
    LinearSVR(intercept_scaling=None),
    LogisticRegression(solver="liblinear"),
    LogisticRegression(penalty="l1"),
    LinearDiscriminantAnalysis(solver="lsqr", shrinkage="auto"),
    LinearDiscriminantAnalysis(solver="eigen", shrinkage=0.2),
    Perceptron(averaged=True),
    SGDClassifier(loss="log_loss", average=True),
    SGDClassifier(loss="squared_hinge", alpha=0.01),
]


@pytest.mark.filterwarnings("ignore")
@parametrize_with_checks(ESTIMATORS)
def test_every_check_of_scikit_learn_passes(estimator, check):
    check(estimator)
