"""Python and the command line give the same bits for the same data and parameters, on small data too."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import numpy as np
import pytest

import maxmargin
from maxmargin import SVC, SVR, LogisticRegression, NuSVC, NuSVR, OneClassSVM

_draw = np.random.RandomState(7)
X = _draw.randn(90, 4) * [1.0, 30.0, 1e-3, 5.0]
CLASSES = np.digitize(X[:, 0] + X[:, 1] / 30 + 0.4 * _draw.randn(90), [-0.5, 0.5])
NUMBERS = X[:, 0] + 0.1 * _draw.randn(90)

# An estimator, what it learns, and the same in words of the command line.
CASES = {
    "linear, pairs of classes": (SVC(kernel="linear"), CLASSES, ["--kernel", "linear", "--tolerance", "1e-3"]),
    "linear, a large C": (SVC(kernel="linear", C=100), CLASSES, ["--kernel", "linear", "-C", "100", "--tolerance", "1e-3"]),
    "rbf": (SVC(gamma=0.5), CLASSES, ["--kernel", "rbf(gamma=0.5)"]),
    "nu, linear": (NuSVC(nu=0.3, kernel="linear"), CLASSES, ["--kernel", "linear", "--nu", "0.3", "--tolerance", "1e-3"]),
    "linear regression": (
        SVR(kernel="linear", epsilon=0.05),
        NUMBERS,
        ["--task", "regression", "--kernel", "linear", "--epsilon", "0.05", "--tolerance", "1e-3"],
    ),
    "nu-regression": (NuSVR(gamma=0.1), NUMBERS, ["--task", "regression", "--kernel", "rbf(gamma=0.1)", "--nu", "0.5"]),
    "one class, linear": (
        OneClassSVM(kernel="linear", nu=0.2),
        None,
        ["--task", "one-class", "--kernel", "linear", "--nu", "0.2", "--tolerance", "1e-3"],
    ),
}


def program() -> str:
    found = os.environ.get("MAXMARGIN")
    if not found:
        pytest.skip("the variable MAXMARGIN names no program")
    return found


def trained(tmp_path: Path, answers: np.ndarray | None, words: list[str]) -> Path:
    """The model that the program makes of the rows, written with all their digits."""
    data, model = tmp_path / "rows.csv", tmp_path / "model.mm"
    answers = np.ones(len(X), dtype=int) if answers is None else answers
    lines = (",".join([*map(repr, row), repr(answer)]) for row, answer in zip(X.tolist(), answers.tolist()))
    data.write_text("a,b,c,d,y\n" + "\n".join(lines) + "\n")
    subprocess.run([program(), "train", data, *words, "--quiet", "-o", model], check=True, capture_output=True)
    return model


@pytest.mark.parametrize("name", CASES)
def test_the_program_and_the_class_give_the_same_bits(name: str, tmp_path: Path) -> None:
    estimator, answers, words = CASES[name]
    theirs = maxmargin.load(trained(tmp_path, answers, words))
    ours = estimator.fit(X, answers)
    say = "predict" if isinstance(ours, (SVR, NuSVR)) else "decision_function"
    assert np.array_equal(getattr(ours, say)(X), getattr(theirs, say)(X))
    assert np.array_equal(ours.support_, theirs.support_)
    assert np.array_equal(ours.dual_coef_, theirs.dual_coef_)


def test_another_penalty_gives_other_bits(tmp_path: Path) -> None:
    theirs = maxmargin.load(trained(tmp_path, CLASSES, ["--kernel", "linear", "-C", "1.001", "--tolerance", "1e-3"]))
    ours = SVC(kernel="linear").fit(X, CLASSES)
    assert not np.array_equal(ours.decision_function(X), theirs.decision_function(X))


def test_a_tolerance_changes_few_digits_of_a_small_linear_fit() -> None:
    # With many rows it is what decides about the digits; with few it is not.
    coarse, fine = (LogisticRegression(tol=tol).fit(X, CLASSES).coef_ for tol in (1e-2, 1e-6))
    assert np.allclose(coarse, fine, rtol=1e-6, atol=1e-9)
