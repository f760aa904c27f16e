"""Run where the wheel, numpy and nothing else are installed, and where there is no Rust: imports, fits, predicts, saves."""

from __future__ import annotations

import importlib.util
import os
import shutil
import subprocess
import sys
import tempfile


def import_milliseconds(module: str, first: str) -> float:
    """The best of five imports, each in an interpreter of its own, after `first` is there."""
    code = f"import {first}, time; t = time.perf_counter(); import {module}; print((time.perf_counter() - t) * 1000)"
    return min(float(subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout) for _ in range(5))


def main() -> None:
    for name in ("cargo", "rustc"):
        assert shutil.which(name) is None, f"{name} is on the path"
    for name in ("scipy", "sklearn", "pandas", "joblib"):
        assert importlib.util.find_spec(name) is None, f"{name} is installed"
    milliseconds = import_milliseconds("maxmargin", "numpy")
    # Said, not asserted: how long it takes is a matter of the machine.
    print(f"maxmargin is imported in {milliseconds:.0f} ms beyond numpy")

    import numpy as np

    import maxmargin

    draw = np.random.default_rng(0)
    X = draw.normal(size=(300, 4))
    y = np.where(X[:, 0] + 0.3 * draw.normal(size=300) > 0, "yes", "no")
    model = maxmargin.SVC(C=2, probability=True).fit(X, y)
    assert model.score(X, y) > 0.9 and model.certificate_.relative_gap < 1e-6 and model.verify(X, y)
    assert np.allclose(model.predict_proba(X).sum(axis=1), 1)
    assert maxmargin.SVR().fit(X, X[:, 0]).score(X, X[:, 0]) > 0.9
    assert (maxmargin.OneClassSVM(nu=0.1).fit(X).predict(X) == 1).mean() > 0.8
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "model.mm")
        model.save(path)
        assert np.array_equal(maxmargin.load(path).predict(X), model.predict(X))
    try:
        maxmargin.SVC().fit(X, y[:-1])
    except maxmargin.InputError as error:
        assert "[300, 299]" in str(error)
    else:
        raise AssertionError("labels of another number than the rows were taken")
    try:
        maxmargin.SVC().predict(X)
    except maxmargin.NotFittedError:
        pass
    else:
        raise AssertionError("a model that is not fitted predicts")
    found = subprocess.run([sys.executable, "-m", "maxmargin", __file__], capture_output=True, text=True)
    assert found.returncode == 2 and "scikit-learn" in found.stderr, found
    print("it fits, predicts, certifies, saves and loads with numpy alone")


if __name__ == "__main__":
    main()
