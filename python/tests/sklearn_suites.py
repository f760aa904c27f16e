"""scikit-learn's own tests of everything that has a model within (ensembles, searches, calibration, pipelines, ..), on our classes.

    python python/tests/sklearn_suites.py [FILE ...]

runs the files named, or all of them, as `patch_sklearn` leaves scikit-learn. It lists the tests that do not pass, and says whether they are those
of `docs/scikit-learn-tests.md`, which has the reason of each. `test_sklearn_suite.py` runs a few of the files.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path
from xml.etree import ElementTree

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


def run(names: list[str], plugin: str = PLUGIN) -> tuple[int, dict[str, int], str]:
    """How many tests of these files pass, which ones do not with how many of their parameters, and the output."""
    with tempfile.TemporaryDirectory() as folder:
        Path(folder, "patched.py").write_text(plugin, encoding="utf-8")
        report = Path(folder, "report.xml")
        options = ["-q", "-p", "patched", "-p", "no:cacheprovider", "-W", "ignore", "--tb=line", f"--junitxml={report}"]
        command = [sys.executable, "-m", "pytest", *options, "--pyargs", *map(module, names)]
        environment = {**os.environ, "PYTHONPATH": os.pathsep.join([folder, os.environ.get("PYTHONPATH", "")])}
        found = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, timeout=3000, check=False)
        if found.returncode not in (0, 1) or not report.is_file():
            raise RuntimeError(found.stdout[-3000:] + found.stderr[-3000:])
        cases = list(ElementTree.parse(report).iter("testcase"))
    passed, failed = 0, dict[str, int]()
    for case in cases:
        if case.find("failure") is not None or case.find("error") is not None:
            name = case.get("name", "").partition("[")[0]
            failed[name] = failed.get(name, 0) + 1
        elif case.find("skipped") is None:
            passed += 1
    if not passed:
        raise RuntimeError(found.stdout[-3000:])
    return passed, failed, found.stdout


def listed() -> set[str]:
    """The tests that the page lists."""
    return set(re.findall(r"^\| `(test_\w+)` \|", PAGE.read_text(encoding="utf-8"), flags=re.MULTILINE))


def main(names: list[str]) -> int:
    """Runs the files, and compares with the page."""
    passed, failed, output = run(names or FILES)
    print(output[-200_000:] if os.environ.get("VERBOSE") else "", end="")
    known = listed()
    for name, count in sorted(failed.items()):
        print(f"{' ' if name in known else '!'} {name} ({count})")
    passing = set() if names else known - failed.keys()
    for name in sorted(passing):
        print(f"+ {name} passes, but is listed")
    count = passed + sum(failed.values())
    print(f"{passed} of {count} pass ({passed / count:.1%})")
    return 1 if passing or failed.keys() - known else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
