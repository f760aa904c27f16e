"""Fits that are interrupted, and bugs of the engine: neither harms the interpreter or the next fit."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import textwrap
import time

import numpy as np
import pytest

import maxmargin
from maxmargin import SVC, InternalError, _engine

# How long a fit may take to end, in a build without much optimisation on a machine that does other things, too.
PATIENCE = 2.0

PRELUDE = """
import os, sys, time
import numpy as np
from maxmargin import SVC

def problem(rows, columns=20):
    draw = np.random.RandomState(7)
    X = draw.randn(rows, columns)
    return X, np.where(X[:, :5].sum(axis=1) + 2.0 * draw.randn(rows) > 0, 1, -1)

def interrupted(model, X, y):
    print("ready", flush=True)
    try:
        model.fit(X, y)
    except KeyboardInterrupt:
        print(f"interrupted {time.time()!r}", flush=True)
        return True
    print("finished", flush=True)
    return False
"""


def start(code: str, *arguments: str) -> subprocess.Popen[str]:
    program = PRELUDE + textwrap.dedent(code)
    # A child that was started in the background would ignore Ctrl-C.
    return subprocess.Popen(
        [sys.executable, "-c", program, *arguments],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.default_int_handler),
    )


def interrupt(child: subprocess.Popen[str], after: float) -> float:
    """Sends Ctrl-C to a child some time after its fit began; returns the seconds until the fit was over."""
    assert child.stdout is not None and child.stderr is not None
    assert child.stdout.readline() == "ready\n", child.stderr.read()
    time.sleep(after)
    sent = time.time()
    os.kill(child.pid, signal.SIGINT)
    words = child.stdout.readline().split()
    assert words[:1] == ["interrupted"], (words, child.stderr.read())
    return float(words[1]) - sent


def end(child: subprocess.Popen[str]) -> list[str]:
    assert child.stdout is not None and child.stderr is not None
    # `communicate` reads past the buffer of `stdout`, and loses lines that came in together with one read before.
    out, err = child.stdout.read(), child.stderr.read()
    assert child.wait(timeout=300) == 0, err
    return out.split()


@pytest.mark.parametrize("threads", [1, 2])
def test_ctrl_c_ends_a_fit_at_once_and_the_next_one_is_right(threads, capsys):
    child = start(
        f"""
        X, y = problem(40_000)
        assert interrupted(SVC(C=1e4, gamma=0.01, tol=1e-8, n_jobs={threads}), X, y)
        small, labels = problem(200)
        print(*SVC().fit(small, labels).decision_function(small[:3]).tolist(), flush=True)
        """
    )
    seconds = interrupt(child, after=1.0)
    with capsys.disabled():
        print(f"\n  a fit with {threads} thread(s) ended {1000 * seconds:.0f} ms after Ctrl-C")
    assert seconds < PATIENCE
    X, y = small_problem()
    assert [float(word) for word in end(child)] == SVC().fit(X, y).decision_function(X[:3]).tolist()


def test_ctrl_c_ends_a_fit_that_has_hardly_begun():
    child = start("X, y = problem(40_000)\nassert interrupted(SVC(C=1e4, gamma=0.01, tol=1e-8), X, y)")
    assert interrupt(child, after=0.0) < PATIENCE
    end(child)


def test_ctrl_c_ends_the_making_of_probabilities():
    child = start(
        """
        X, y = problem(3000)
        model = SVC(C=10.0, probability=True).fit(X, y)
        print("ready", flush=True)
        try:
            while True:
                model.fit(X, y).predict_proba(X)
        except KeyboardInterrupt:
            print(f"interrupted {time.time()!r}", flush=True)
        print(model.predict(X).sum())
        """
    )
    assert interrupt(child, after=0.5) < PATIENCE
    assert len(end(child)) == 1


def test_ctrl_c_ends_predictions():
    child = start(
        """
        X, y = problem(4000)
        model = SVC(C=10.0, gamma=1.0).fit(X, y)
        many = np.repeat(X, 50, axis=0)
        print("ready", flush=True)
        try:
            while True:
                model.predict(many)
        except KeyboardInterrupt:
            print(f"interrupted {time.time()!r}", flush=True)
        """
    )
    assert interrupt(child, after=0.5) < PATIENCE
    end(child)


def test_an_interrupted_fit_goes_on_from_its_checkpoint_to_the_same_bits(tmp_path):
    path = tmp_path / "fit.checkpoint"
    code = """
        X, y = problem(4000)
        model = SVC(C=100.0, gamma=0.02, tol=1e-6, cache_size=64, checkpoint=sys.argv[1])
        {what}
    """
    child = start(code.format(what="assert interrupted(model, X, y)"), str(path))
    interrupt(child, after=0.6)
    end(child)
    assert path.exists()
    going_on = "model.fit(X, y); print(model.decision_function(X[:50]).tobytes().hex(), model.n_iter_[0])"
    resumed = end(start(code.format(what=going_on), str(path)))
    assert not path.exists(), "a fit that is done leaves no checkpoint"
    whole = end(start(code.format(what=going_on), str(tmp_path / "other.checkpoint")))
    assert resumed == whole


def test_an_exception_of_a_progress_line_ends_the_fit(monkeypatch):
    from maxmargin import _progress

    def fail(self, *arguments):
        raise ZeroDivisionError("in the progress line")

    monkeypatch.setattr(_progress.Line, "__call__", fail)
    draw = np.random.RandomState(0)
    X = draw.randn(20_000, 20)
    with pytest.raises(ZeroDivisionError, match="in the progress line"):
        SVC(C=1e4, gamma=0.01, tol=1e-8, progress=True).fit(X, draw.randint(0, 2, 20_000))


def test_a_time_limit_ends_a_fit_about_then():
    draw = np.random.RandomState(0)
    X, y = draw.randn(20_000, 20), draw.randint(0, 2, 20_000)
    started = time.monotonic()
    with pytest.warns(UserWarning, match="stopped after max_time=0.5 seconds"):
        model = SVC(C=1e4, gamma=0.01, tol=1e-8, max_time=0.5).fit(X, y)
    assert time.monotonic() - started < 0.5 + 2 * PATIENCE
    assert model.stop_reason_ == "time-limit" and model.predict(X[:10]).shape == (10,)


def test_a_bug_of_the_engine_is_an_error_of_its_own_and_harms_nothing():
    for _ in range(3):
        with pytest.raises(InternalError, match="a test asked for it\nhelp: this is a bug of maxmargin"):
            _engine.panic_for_tests()
    assert issubclass(InternalError, RuntimeError) and maxmargin.InternalError is InternalError
    X, y = small_problem()
    assert SVC().fit(X, y).certificate_.relative_gap < 1e-6


def small_problem():
    scope: dict = {}
    exec(PRELUDE, scope)  # noqa: S102 - the children's own problem
    return scope["problem"](200)
