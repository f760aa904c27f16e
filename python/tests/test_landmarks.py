"""Machines on landmarks: the best on their landmarks, and as far from the exact machine as they prove at most."""

import pickle

import numpy as np
import pytest

from maxmargin import SVC, SVR, InputError, load


def rows(count=400, seed=0):
    random = np.random.RandomState(seed)
    X = random.randn(count, 3)
    wave = np.sin(1.5 * X[:, 0]) + X[:, 1] * X[:, 2]
    return X, wave + 0.3 * random.randn(count)


def test_the_proved_gap_is_at_least_the_distance_to_the_exact_machine():
    X, t = rows()
    for few, exact, y in [
        (SVC(landmarks=30, prove=True), SVC(tol=1e-6), np.where(t > 0, "up", "down")),
        (SVR(landmarks=30, prove=True), SVR(tol=1e-6), t),
    ]:
        few.fit(X, y)
        distance = few.certificate_.primal - exact.fit(X, y).certificate_.primal
        assert len(few.support_) == 30
        assert 0 < distance <= few.proved_gap_ * few.certificate_.primal
        assert few.stop_reason_ == "converged"
        assert few.certificate_.gap < distance, "the certificate is that of the problem on the landmarks"
        assert few.score(X, y) > 0.6


def test_all_rows_as_landmarks_are_the_exact_machine():
    X, t = rows(80)
    few, exact = SVR(landmarks=80, prove=True, tol=1e-6).fit(X, t), SVR(tol=1e-6).fit(X, t)
    np.testing.assert_allclose(few.predict(X), exact.predict(X), atol=1e-3)
    assert few.proved_gap_ < 1e-4


def test_landmarks_are_added_until_the_proof_is_good_enough():
    X, t = rows()
    model = SVC(landmarks=20, prove=0.05, gamma=0.3).fit(X, t > 0)
    assert model.proved_gap_ <= 0.05
    assert len(model.support_) > 20


def test_several_classes_pickles_and_files_keep_the_proof(tmp_path):
    X, t = rows()
    y = np.digitize(t, [-0.5, 0.5])
    model = SVC(landmarks=50, prove=True, random_state=3).fit(X, y)
    model.save(tmp_path / "few.mm")
    for other in [pickle.loads(pickle.dumps(model)), load(tmp_path / "few.mm")]:
        np.testing.assert_array_equal(other.predict(X), model.predict(X))
        assert other.proved_gap_ == model.proved_gap_
    assert load(tmp_path / "few.mm").get_params()["landmarks"] == 50
    with pytest.raises(AttributeError, match="no place for the coefficients of landmarks"):
        _ = model.dual_coef_
    assert SVC().fit(X, y).proved_gap_ is None
    other = SVC(landmarks=50, random_state=4).fit(X, y)
    assert not np.array_equal(other.support_, model.support_)


@pytest.mark.parametrize(
    "asked, what",
    [
        (dict(landmarks=0), "landmarks"),
        (dict(landmarks=2.5), "landmarks"),
        (dict(landmarks=500), "500 landmarks cannot be drawn from 400 rows"),
        (dict(prove=True), "there are no landmarks"),
        (dict(landmarks=10, prove=-1.0), "prove"),
        (dict(landmarks=10, kernel="linear"), "the linear kernel has weights"),
    ],
)
def test_what_does_not_go_is_refused(asked, what):
    X, t = rows()
    with pytest.raises((InputError, ValueError), match=what):
        SVC(**asked).fit(X, t > 0)
