"""The sets of the kernel table: where they come from, how they are made, and the parameters they are trained with.

Only the standard library is imported here: the programs that start the measured processes must stay small (child.py).
"""

from __future__ import annotations

import json
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

from failure import Failure

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent
CACHE = HERE / ".data"
DEFAULT_DATA = ROOT.parent / "shared" / "data"

# Raised when a recipe of prepare.py changes, so that what was prepared before is made anew.
RECIPE = 1

# Rows that `--quick` keeps of the training and test parts.
QUICK_ROWS = (2_000, 1_000)

# Below this share of non-zeros a peer that knows sparse data is measured with it too.
SPARSE_BELOW = 0.3


@dataclass(frozen=True)
class Problem:
    """A data set with the parameters of the Gaussian kernel machine trained on it."""

    name: str
    data: str
    c: float
    gamma: float


PROBLEMS = [
    Problem("a9a", "a9a", 1, 1 / 123),
    Problem("a9a-c32", "a9a", 32, 1 / 128),
    Problem("w8a", "w8a", 10, 0.5),
    Problem("ijcnn1", "ijcnn1", 32, 2),
    Problem("covtype", "covtype", 3, 1),
    Problem("letter", "letter", 16, 8),
    Problem("usps", "usps", 10, 1 / 128),
    Problem("shuttle", "shuttle", 100, 1),
    Problem("mnist10k", "mnist10k", 10, 0.02),
    Problem("mnist", "mnist", 10, 0.02),
]


@dataclass(frozen=True)
class Prepared:
    """A data set on disk: LIBSVM text for us, the same numbers as arrays for the peers."""

    folder: Path
    about: dict

    @property
    def train_text(self) -> Path:
        return self.folder / "train.txt"

    @property
    def test_text(self) -> Path:
        return self.folder / "test.txt"

    @property
    def sparse(self) -> bool:
        return self.about["density"] < SPARSE_BELOW


def problem(name: str) -> Problem:
    """The problem of this name."""
    for candidate in PROBLEMS:
        if candidate.name == name:
            return candidate
    raise Failure(f"there is no set {name!r}", "the sets are " + ", ".join(p.name for p in PROBLEMS))


def chosen(names: str | None) -> list[Problem]:
    """The problems of a list such as `a9a,usps`; all of them when nothing is said."""
    return [problem(name.strip()) for name in names.split(",")] if names else PROBLEMS


def data_folder(given: str | None) -> Path:
    """The folder with the compressed sets."""
    folder = Path(given) if given else DEFAULT_DATA
    if not folder.is_dir():
        raise Failure(f"the data folder {str(folder)!r} does not exist", "name the folder of the .xz files with --data")
    return folder


def prepared(data: str, source: Path, rows: tuple[int, int] | None = None) -> Prepared:
    """The set, made now if the cache does not hold it; `rows` keeps the first of the training and test parts."""
    folder = CACHE / (f"{data}-{rows[0]}-{rows[1]}" if rows else data)
    about = read_about(folder)
    if about is None:
        if rows:
            prepared(data, source)
        print(f"preparing {folder.name} ...", flush=True)
        command = [sys.executable, str(HERE / "prepare.py"), data, str(source)]
        if subprocess.run(command + [str(count) for count in rows or ()]).returncode != 0:
            raise Failure(f"the set {data} could not be prepared", "see the message above")
        about = read_about(folder)
        if about is None:
            raise Failure(
                f"the set {data} was prepared, but {folder} does not hold it", f"remove {CACHE} and try again"
            )
    return Prepared(folder, about)


def read_about(folder: Path) -> dict | None:
    """What is known of a prepared set, when it is there, whole and of this recipe."""
    try:
        about = json.loads((folder / "about.json").read_text())
    except FileNotFoundError:
        return None
    return about if about.get("recipe") == RECIPE else None
