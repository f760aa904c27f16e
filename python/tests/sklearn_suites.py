"""scikit-learn's own tests of everything that has a model within (ensembles, searches, calibration, pipelines, ..), on our classes.

    python python/tests/sklearn_suites.py [FILE ...]

runs the files named, or all of them, as `patch_sklearn` leaves scikit-learn. It lists the tests that do not pass, and says whether they are those
of `docs/scikit-learn-tests.md`, which has the reason of each. The tests of the package run a few of the files.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path

FILES = [
    "calibration",
    "compose.target",
    "discriminant_analysis",
    "ensemble.bagging",
    "ensemble.stacking",
    "ensemble.voting",
    "ensemble.weight_boosting",
    "feature_selection.from_model",
    "feature_selection.rfe",
    "feature_selection.sequential",
    "inspection.permutation_importance",
    "linear_model.logistic",
    "model_selection.classification_threshold",
    "model_selection.plot",
    "model_selection.search",
    "model_selection.successive_halving",
    "model_selection.validation",
    "multiclass",
    "multioutput",
    "pipeline",
    "semi_supervised.self_training",
]
"""Files of tests: the folder of scikit-learn, and the file's name in its folder `tests` without `test_`."""

PAGE = Path(__file__).resolve().parents[2] / "docs" / "scikit-learn-tests.md"
PLUGIN = "import maxmargin\n\nmaxmargin.patch_sklearn()\n"


def module(name: str) -> str:
    """The module of a file of tests."""
    folder, _, file = name.rpartition(".")
    return f"sklearn.{folder}.tests.test_{file}" if folder else f"sklearn.tests.test_{file}"


def run(names: list[str], plugin: str = PLUGIN) -> tuple[int, set[str], int, str]:
    """How many tests of these files pass, the names of those that do not, how many those are with all their parameters, and the output."""
    with tempfile.TemporaryDirectory() as folder:
        Path(folder, "patched.py").write_text(plugin, encoding="utf-8")
        options = ["-q", "-p", "patched", "-p", "no:cacheprovider", "-W", "ignore", "-rf", "--tb=line"]
        command = [sys.executable, "-m", "pytest", *options, "--pyargs", *map(module, names)]
        environment = {**os.environ, "PYTHONPATH": os.pathsep.join([folder, os.environ.get("PYTHONPATH", "")])}
        found = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, timeout=3000, check=False)
    lines = found.stdout.strip().splitlines()
    counts = {word: int(count) for count, word in re.findall(r"(\d+) (passed|failed|error)", lines[-1] if lines else "")}
    if not counts.get("passed") or counts.get("error"):
        raise RuntimeError(found.stdout[-3000:] + found.stderr[-3000:])
    failed = [re.match(r"FAILED \S*?([^/\s]+)\.py::(\w+)", line) for line in lines]
    return counts["passed"], {f"{match[1]}::{match[2]}" for match in failed if match}, counts.get("failed", 0), found.stdout


def listed(names: list[str]) -> set[str]:
    """The tests of these files that the page lists."""
    files = {"test_" + name.rpartition(".")[2] for name in names}
    entries = re.findall(r"^\| `(test_\w+::test_\w+)` \|", PAGE.read_text(encoding="utf-8"), flags=re.MULTILINE)
    return {entry for entry in entries if entry.split("::")[0] in files}


def main(names: list[str]) -> int:
    """Runs the files, and compares with the page."""
    names = names or FILES
    passed, failed, count, output = run(names)
    print(output[-200_000:] if os.environ.get("VERBOSE") else "", end="")
    for name in sorted(failed):
        print(("  " if name in listed(names) else "! ") + name)
    for name in sorted(listed(names) - failed):
        print(f"+ {name} passes, but is listed")
    print(f"{passed} of {passed + count} pass ({passed / (passed + count):.1%})")
    return 0 if failed == listed(names) else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
