"""The small sets, and which fits are measured on each."""

from __future__ import annotations

import lzma
import random
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
from sklearn import datasets
from sklearn.preprocessing import StandardScaler

# Rows that are kept of a set that has more.
MOST_ROWS = 1000

COSTS = [1e-2, 1.0, 1e2, 1e4, 1e6]
GAMMAS = [1e-4, 1e-2, 1e-1, 1.0, 10.0]
NUS = [0.05, 0.2, 0.5]


@dataclass(frozen=True)
class SmallSet:
    """A set in memory. The targets of a regression are numbers, others are classes."""

    name: str
    rows: np.ndarray
    targets: np.ndarray
    regression: bool


@dataclass(frozen=True)
class Fit:
    """One fit: the class of the estimator by its name in both packages, and its parameters."""

    estimator: str
    parameters: dict = field(hash=False)

    @property
    def kind(self) -> str:
        """What the tables group by."""
        return f"{self.estimator} linear" if self.parameters.get("kernel") == "linear" else self.estimator

    @property
    def name(self) -> str:
        shown = ", ".join(f"{key}={value:g}" for key, value in self.parameters.items() if key not in ("kernel", "dual"))
        return f"{self.kind} {shown}".strip()


# The sets that scikit-learn holds: the function that loads each.
EMBEDDED = {
    "iris": datasets.load_iris,
    "wine": datasets.load_wine,
    "breast-cancer": datasets.load_breast_cancer,
    "digits": datasets.load_digits,
}
# Their columns as they are, too: what most people start with.
UNSCALED = ["iris", "wine", "breast-cancer"]
# Files of the data folder: whether each is a regression.
FILES = {
    "heart_scale": False,
    "australian_scale": False,
    "glass.scale": False,
    "ionosphere_scale": False,
    "fourclass_scale": False,
    "diabetes_scale": False,
    "splice_scale": False,
    "wdbc_scale": False,
    "vowel": False,
    "housing": True,
    "bodyfat": True,
    "abalone_scale": True,
    "space_ga": True,
}


def small_sets(folder: Path | None) -> list[SmallSet]:
    """All sets; those of files only where the folder has them."""
    found = []
    for name, load in EMBEDDED.items():
        rows, targets = load(return_X_y=True)
        found.append(first(name, StandardScaler().fit_transform(rows), targets, False))
        if name in UNSCALED:
            found.append(first(f"{name}-unscaled", rows, targets, False))
    rows, targets = datasets.load_diabetes(return_X_y=True)
    found.append(first("diabetes", rows, targets, True))
    for name, regression in FILES.items():
        if folder is not None and (folder / f"{name}.xz").is_file():
            rows, targets = read(folder / f"{name}.xz")
            found.append(first(name, rows, targets, regression))
    rows, targets = datasets.make_moons(400, noise=0.25, random_state=1)
    found.append(first("moons", rows, targets, False))
    rows, targets = datasets.make_circles(300, noise=0.1, factor=0.5, random_state=2)
    found.append(first("circles", rows, targets, False))
    rows, targets = datasets.make_friedman1(500, noise=1.0, random_state=3)
    found.append(first("friedman1", rows, targets, True))
    return found


def first(name: str, rows: np.ndarray, targets: np.ndarray, regression: bool) -> SmallSet:
    """The first rows of a set, at most `MOST_ROWS`, as full doubles in rows that lie one after the other."""
    rows = np.ascontiguousarray(rows[:MOST_ROWS], dtype=np.float64)
    return SmallSet(name, rows, np.asarray(targets[:MOST_ROWS], dtype=np.float64), regression)


def read(path: Path) -> tuple[np.ndarray, np.ndarray]:
    with lzma.open(path) as file:
        rows, targets = datasets.load_svmlight_file(file)
    return rows.toarray(), targets


def fits(small: SmallSet, seed: int = 0) -> list[Fit]:
    """The fits of a set: the defaults, and points of the grids chosen by a seed and the set's name."""
    draw = random.Random(f"{seed} {small.name}")
    pairs = draw.sample([(c, gamma) for c in COSTS for gamma in GAMMAS], 4)
    shares = draw.sample([(nu, gamma) for nu in NUS for gamma in GAMMAS], 4)
    machine = "SVR" if small.regression else "SVC"
    found = [Fit(machine, {})]
    found += [Fit(machine, {"C": c, "gamma": gamma}) for c, gamma in pairs]
    found += [Fit(machine, {"kernel": "linear", "C": c}) for c in draw.sample(COSTS, 2)]
    found += [Fit("OneClassSVM", {"nu": nu, "gamma": gamma}) for nu, gamma in shares[:2]]
    if not small.regression:
        found += [Fit("NuSVC", {"nu": nu, "gamma": gamma}) for nu, gamma in shares[2:]]
        found += [Fit("LinearSVC", {"C": c}) for c in draw.sample(COSTS, 2)]
    return found
