"""Threads, processes and copies: the same bits everywhere, and no more threads than cores."""

from __future__ import annotations

import copy
import multiprocessing
import os
import pickle
import subprocess
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor

import joblib
import numpy as np
import pytest
from sklearn.base import clone
from sklearn.model_selection import GridSearchCV

from maxmargin import SVC, SVDD, SVR, NuSVC, NuSVR, OneClassSVM
from maxmargin._threads import cores, threads

_draw = np.random.RandomState(3)
X = _draw.randn(600, 8)
Y = np.where(X[:, 0] + 0.5 * _draw.randn(600) > 0, "yes", "no")
T = X[:, 0] - np.sin(X[:, 1])
NEW = _draw.randn(2000, 8)
ALL = [SVC, NuSVC, SVR, NuSVR, OneClassSVM, SVDD]


def fitted(kind, **parameters):
    return kind(**parameters).fit(X, T if kind in (SVR, NuSVR) else Y)


def values(model, rows=NEW):
    return model.predict(rows) if isinstance(model, (SVR, NuSVR)) else model.decision_function(rows)


@pytest.mark.parametrize("kind", ALL)
def test_any_number_of_threads_gives_the_same_bits(kind):
    one = fitted(kind, n_jobs=1)
    for number in (2, 3, None):
        other = fitted(kind, n_jobs=number)
        assert np.array_equal(values(one), values(other)) and np.array_equal(one.support_, other.support_)


def test_eight_threads_predict_and_fit_at_once_with_the_same_bits():
    model = SVC().fit(X, Y)
    expected = (model.decision_function(NEW), model.predict(NEW), SVC(C=2).fit(X, Y).decision_function(NEW))
    with ThreadPoolExecutor(8) as pool:
        found = list(
            pool.map(
                lambda number: (model.decision_function(NEW), model.predict(NEW), SVC(C=2).fit(X, Y).decision_function(NEW)),
                range(16),
            )
        )
    assert all(np.array_equal(one, other) for result in found for one, other in zip(result, expected))


def test_probabilities_asked_for_by_eight_threads_at_once_are_made_once():
    model = SVC().fit(X, Y).set_params(probability=True)
    with ThreadPoolExecutor(8) as pool:
        found = list(pool.map(lambda number: model.predict_proba(NEW), range(8)))
    expected = SVC(probability=True).fit(X, Y).predict_proba(NEW)
    assert all(np.array_equal(result, expected) for result in found)


def test_one_estimator_fitted_by_two_threads_ends_as_one_of_both():
    model = SVC()
    with ThreadPoolExecutor(2) as pool:
        list(pool.map(lambda number: model.fit(X, Y), range(8)))
    assert np.array_equal(model.decision_function(NEW), SVC().fit(X, Y).decision_function(NEW))


def test_other_threads_of_python_go_on_during_a_fit():
    counted, over = [0], threading.Event()

    def count():
        while not over.is_set():
            counted[0] += 1
            time.sleep(0.001)

    draw = np.random.RandomState(0)
    rows, labels = draw.randn(20_000, 20), draw.randint(0, 2, 20_000)
    thread = threading.Thread(target=count)
    thread.start()
    before, started = counted[0], time.monotonic()
    with pytest.warns(UserWarning, match="max_time"):
        SVC(C=1e4, gamma=0.01, tol=1e-8, max_time=1.0, n_jobs=1).fit(rows, labels)
    seconds, made = time.monotonic() - started, counted[0] - before
    over.set()
    thread.join()
    assert made > 20 * seconds, f"{made} steps in {seconds:.1f} s"


def in_child(model, rows, expected, pipe):
    again = SVC().fit(X, Y)
    pipe.send(bool(np.array_equal(model.decision_function(rows), expected) and np.array_equal(again.decision_function(rows), expected)))


@pytest.mark.parametrize("method", [m for m in ("fork", "spawn", "forkserver") if m in multiprocessing.get_all_start_methods()])
@pytest.mark.filterwarnings("ignore::DeprecationWarning")  # of a fork beside threads, which is what is tested
def test_a_process_started_after_a_fit_predicts_and_fits_the_same_bits(method):
    model = SVC().fit(X, Y)
    expected = model.decision_function(NEW)
    context = multiprocessing.get_context(method)
    ours, theirs = context.Pipe()
    child = context.Process(target=in_child, args=(model, NEW, expected, theirs))
    child.start()
    assert ours.poll(120), "the child says nothing"
    assert ours.recv() is True
    child.join(60)
    assert child.exitcode == 0


@pytest.mark.skipif(not hasattr(os, "fork"), reason="there is no fork here")
@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_a_bare_fork_after_a_fit_works():
    model = SVC(n_jobs=2).fit(X, Y)
    expected = model.decision_function(NEW)
    child = os.fork()
    if child == 0:
        right = np.array_equal(model.decision_function(NEW), expected)
        right = right and np.array_equal(SVC(n_jobs=2).fit(X, Y).decision_function(NEW), expected)
        os._exit(0 if right else 1)
    deadline = time.monotonic() + 120
    while True:
        ended, status = os.waitpid(child, os.WNOHANG)
        if ended:
            break
        assert time.monotonic() < deadline, "the child does not end"
        time.sleep(0.05)
    assert os.waitstatus_to_exitcode(status) == 0


def counted_threads(number):
    return threads(None), threads(2), os.getpid()


class Telling(SVC):
    """Keeps how many threads its fit used."""

    def fit(self, X, y, sample_weight=None):
        self.used_ = self._threads()
        return super().fit(X, y, sample_weight)

    def score(self, X, y, sample_weight=None):
        return float(self.used_)


@pytest.fixture
def unset(monkeypatch):
    for name in ("MAXMARGIN_NUM_THREADS", "OMP_NUM_THREADS"):
        monkeypatch.delenv(name, raising=False)


def test_outside_of_joblib_every_core_is_used(unset):
    assert threads(None) == cores() and threads(-1) == cores() and threads(3) == 3


@pytest.mark.parametrize("backend", ["loky", "threading"])
def test_workers_of_joblib_use_one_thread_each_unless_they_are_told_otherwise(backend, unset):
    # joblib shares the cores out among processes: as many workers as there are cores have one each.
    found = joblib.Parallel(n_jobs=cores(), backend=backend)(joblib.delayed(counted_threads)(i) for i in range(4)) if cores() > 1 else []
    assert all(asked_none == 1 and asked_two == 2 for asked_none, asked_two, _ in found)


@pytest.mark.parametrize("backend", ["loky", "threading"])
def test_a_grid_search_uses_one_thread_a_worker(backend, unset):
    if cores() < 2:
        pytest.skip("one core is never shared out")
    with joblib.parallel_backend(backend):
        search = GridSearchCV(Telling(), {"C": [0.5, 1.0]}, cv=3, n_jobs=cores(), refit=False).fit(X, Y)
    assert np.all(search.cv_results_["mean_test_score"] == 1.0)


@pytest.mark.parametrize("backend", ["loky", "threading"])
def test_joblib_gives_the_same_bits(backend):
    alone = [clone(SVC(C=c)).fit(X, Y).decision_function(NEW) for c in (0.5, 1.0, 2.0)]
    together = joblib.Parallel(n_jobs=2, backend=backend)(joblib.delayed(values)(SVC(C=c).fit(X, Y)) for c in (0.5, 1.0, 2.0))
    assert all(np.array_equal(one, other) for one, other in zip(alone, together))


@pytest.mark.parametrize("name", ["MAXMARGIN_NUM_THREADS", "OMP_NUM_THREADS"])
def test_a_variable_says_how_many_threads_there_are(name, unset, monkeypatch):
    monkeypatch.setenv(name, "3")
    assert threads(None) == 3 and threads(1) == 1
    monkeypatch.setenv(name, "many")
    assert threads(None) == cores()


@pytest.mark.parametrize("kind", ALL)
def test_copies_and_pickles_give_the_same_bits(kind, tmp_path):
    model = fitted(kind)
    expected = values(model)
    joblib.dump(model, tmp_path / "model.joblib", compress=3)
    others = [copy.copy(model), copy.deepcopy(model), joblib.load(tmp_path / "model.joblib")]
    others += [pickle.loads(pickle.dumps(model, protocol)) for protocol in (2, 3, 4, 5)]
    for other in others:
        assert np.array_equal(values(other), expected)
        assert other.certificate_ == model.certificate_ and np.array_equal(other.support_, model.support_)
        assert np.array_equal(other.dual_coef_, model.dual_coef_)


def test_a_pickle_and_a_file_have_probabilities_where_they_were_asked_for(tmp_path):
    model = SVC().fit(X, Y).set_params(probability=True)
    pickled = pickle.dumps(model)
    model.save(tmp_path / "model.mm")
    expected = SVC(probability=True).fit(X, Y).predict_proba(NEW)
    assert np.array_equal(pickle.loads(pickled).predict_proba(NEW), expected)
    assert np.array_equal(SVC.load(tmp_path / "model.mm").predict_proba(NEW), expected)
    without = pickle.loads(pickle.dumps(SVC(probability=False).fit(X, Y)))
    assert not hasattr(without, "predict_proba")
    with pytest.raises(ValueError, match="not available when fitted with probability=False"):
        without.set_params(probability=True).predict_proba(NEW)
    with pytest.raises(ValueError, match="no longer has"):
        pickle.loads(pickle.dumps(SVC().fit(X, Y))).set_params(probability=True).predict_proba(NEW)


def test_a_pickle_is_no_larger_than_the_model_needs():
    model = SVC(C=100.0).fit(np.repeat(X, 20, axis=0), np.repeat(Y, 20))
    assert len(pickle.dumps(model)) < 20 * X.nbytes, "the training data is not a part of it"


def test_the_interpreter_ends_while_a_thread_fits():
    code = (
        "import threading, numpy as np\nfrom maxmargin import SVC\n"
        "d = np.random.RandomState(0); X = d.randn(20000, 20); y = d.randint(0, 2, 20000)\n"
        "threading.Thread(target=lambda: SVC(C=1e4, gamma=0.01, tol=1e-8).fit(X, y), daemon=True).start()\n"
        "import time; time.sleep(0.5)\n"
    )
    found = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=120)
    assert found.returncode == 0, found.stderr
