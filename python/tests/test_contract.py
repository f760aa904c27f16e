"""scikit-learn's own checks of the estimator contract, for every estimator of the package, with nothing that is expected to fail."""

import inspect

import numpy as np
import pytest

import maxmargin

checks = pytest.importorskip("sklearn.utils.estimator_checks", reason="scikit-learn is not installed")

ESTIMATORS = [
    getattr(maxmargin, name)
    for name in maxmargin.__all__
    if inspect.isclass(getattr(maxmargin, name)) and hasattr(getattr(maxmargin, name), "fit")
]


@pytest.mark.parametrize("seed", [0, 1, 2])
@pytest.mark.parametrize("kind", ESTIMATORS, ids=lambda kind: kind.__name__)
@pytest.mark.filterwarnings("ignore")
def test_scikit_learns_checks_pass(kind, seed):
    np.random.seed(seed)
    found = checks.check_estimator(kind(), on_fail=None)
    failed = [f"{entry['check_name']}: {entry['exception']!r}" for entry in found if entry["status"] not in ("passed", "skipped")]
    assert not failed, "\n".join(failed)
    # What is skipped is so for want of a package (array-API libraries), not by our doing.
    skipped = {entry["check_name"] for entry in found if entry["status"] == "skipped"}
    assert skipped <= {"check_array_api_input"}
    assert sum(entry["status"] == "passed" for entry in found) > 40


@pytest.mark.parametrize("kind", [maxmargin.SVC, maxmargin.NuSVC, maxmargin.SVR, maxmargin.NuSVR], ids=lambda kind: kind.__name__)
@pytest.mark.filterwarnings("ignore")
def test_scikit_learns_checks_pass_for_tables_of_kernel_values(kind):
    # The checks of probabilities give full rows to all classifiers, tables or not.
    without = {"probability": False} if hasattr(kind(), "probability") else {}
    found = checks.check_estimator(kind(kernel="precomputed", **without), on_fail=None)
    failed = [f"{entry['check_name']}: {entry['exception']!r}" for entry in found if entry["status"] not in ("passed", "skipped")]
    assert not failed, "\n".join(failed)


def test_a_check_can_fail():
    class Forgetful(maxmargin.SVC):
        def fit(self, X, y, sample_weight=None):
            super().fit(X, y)  # without the weights
            return self

    found = checks.check_estimator(Forgetful(), on_fail=None)
    assert {entry["check_name"] for entry in found if entry["status"] == "failed"} >= {"check_sample_weight_equivalence_on_dense_data"}
