"""Small sets: our classes in Python beside scikit-learn's, fit by fit in one process. See README.md."""

from __future__ import annotations

import argparse
import time
import warnings
from collections.abc import Callable

import numpy as np
from sklearn import datasets, svm
from sklearn.exceptions import ConvergenceWarning
from sklearn.model_selection import GridSearchCV, StratifiedShuffleSplit
from sklearn.preprocessing import StandardScaler

import maxmargin
from failure import Failure, exit_with
from options import add_common
from record import begin
from sets import DEFAULT_DATA, data_folder
from small_objective import objective
from small_sets import Fit, SmallSet, fits, small_sets
from small_table import write_small_table

# Seconds after which scikit-learn's steps end, about; and after which ours do.
THEIR_SECONDS = 2.0
OUR_SECONDS = 20.0
# Steps, and passes of LinearSVC, from which on it is found out how many scikit-learn takes in that time.
FIRST_STEPS = 10_000
FIRST_SWEEPS = 1_000
# Seconds for which a fit is repeated within a round: a single short one would measure the clock.
SECONDS_A_TURN = 0.02
# A fit that takes longer than this is measured in one round only.
LONG_SECONDS = 1.0
# `--quick` keeps every fifth fit.
QUICK_PART = 5
GRID = "the gallery's grid"


def main() -> None:
    parser = argparse.ArgumentParser(prog="cargo xtask bench small", description=__doc__)
    add_common(parser)
    parser.add_argument("--sets", metavar="NAMES", help="such as iris,wine [default: all]")
    parser.add_argument("--repeats", type=int, default=3, metavar="N", help="rounds [default: 3]")
    arguments = parser.parse_args()

    folder = data_folder(arguments.data) if arguments.data or DEFAULT_DATA.is_dir() else None
    sets = chosen(small_sets(folder), arguments.sets)
    repeats = 1 if arguments.quick else max(1, arguments.repeats)
    settings = {"repeats": repeats, "their_seconds": THEIR_SECONDS, "our_seconds": OUR_SECONDS}
    record = begin("small", settings, arguments.out, arguments.quick, arguments.go_on)
    table = record.path.with_name("small.md")
    for number, small in enumerate(sets):
        record.content["sets"][small.name] = {"rows": len(small.rows), "columns": small.rows.shape[1]}
        for place, fit in enumerate(fits(small)):
            left_out = arguments.quick and (place + number) % QUICK_PART != 0
            if left_out or record.of(set=small.name, method=fit.name):
                continue
            measured = measure(small, fit, repeats)
            record.add({"set": small.name, "method": fit.name, "kind": fit.kind, "round": 0, **measured})
            print(f"{small.name:>22} {fit.name:<36} {line(measured)}", flush=True)
        write_small_table(record.content, table)
    if not record.of(set="iris", method=GRID) and not arguments.sets:
        measured = measure_grid(arguments.quick)
        record.add({"set": "iris", "method": GRID, "kind": GRID, "round": 0, **measured})
        print(f"{'iris':>22} {GRID:<36} {line(measured)}", flush=True)
    write_small_table(record.content, table)
    print(f"written: {record.path} and {table}")


def chosen(sets: list[SmallSet], names: str | None) -> list[SmallSet]:
    if not names:
        return sets
    wanted = [name.strip() for name in names.split(",")]
    known = {small.name: small for small in sets}
    for name in wanted:
        if name not in known:
            raise Failure(f"there is no set {name!r}", "the sets are " + ", ".join(known))
    return [known[name] for name in wanted]


def measure(small: SmallSet, fit: Fit, repeats: int) -> dict:
    """Both packages in turns, and what they came to."""
    try:
        steps = affordable_steps(small, fit)
    except ValueError as refused:
        return {"error": f"scikit-learn: {refused}"}
    makers = {
        "ours": lambda: getattr(maxmargin, fit.estimator)(**fit.parameters, max_time=OUR_SECONDS),
        "theirs": lambda: getattr(svm, fit.estimator)(**fit.parameters, max_iter=steps),
    }
    seconds: dict[str, list[float]] = {"ours": [], "theirs": []}
    found: dict = {}
    for round in range(repeats):
        for who, make in makers.items():
            if seconds[who] and min(seconds[who]) > LONG_SECONDS:
                continue
            try:
                taken, model, quiet = timed(make, small)
            except (ValueError, RuntimeError) as error:
                return {"error": f"{who}: {error}"}
            seconds[who].append(taken)
            if round == 0:
                done = quiet if who == "theirs" else model.stop_reason_ == "converged"
                found |= {f"{who}_converged": bool(done), f"{who}_objective": objective(model, fit, small)}
    return {"ours_seconds": min(seconds["ours"]), "theirs_seconds": min(seconds["theirs"]), "steps": steps, **found}


def affordable_steps(small: SmallSet, fit: Fit) -> int:
    """`max_iter` of scikit-learn: as many steps as it needs, or takes in the time it is given. The first steps are the
    dearest, so that few of them say too little of many."""
    steps = FIRST_SWEEPS if fit.estimator == "LinearSVC" else FIRST_STEPS
    while True:
        taken, _, done = fitted(lambda: getattr(svm, fit.estimator)(**fit.parameters, max_iter=steps), small)
        if done or taken >= 0.5 * THEIR_SECONDS:
            return steps
        steps = int(steps * min(10.0, 0.9 * THEIR_SECONDS / taken))


def fitted(make: Callable[[], object], small: SmallSet) -> tuple[float, object, bool]:
    """The seconds of a fit, the model, and whether nothing was said of a lack of convergence."""
    model = make()
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        started = time.perf_counter()
        model.fit(small.rows, small.targets)
        taken = time.perf_counter() - started
    return taken, model, not any(issubclass(one.category, ConvergenceWarning) for one in said)


def timed(make: Callable[[], object], small: SmallSet) -> tuple[float, object, bool]:
    """As `fitted`, with the least seconds of a few fits in a row."""
    best, spent = float("inf"), 0.0
    while True:
        taken, model, quiet = fitted(make, small)
        best, spent = min(best, taken), spent + taken
        if spent >= SECONDS_A_TURN:
            return best, model, quiet


def measure_grid(quick: bool) -> dict:
    """The search of scikit-learn's example "RBF SVM parameters" on iris."""
    rows, targets = datasets.load_iris(return_X_y=True)
    rows = StandardScaler().fit_transform(rows)
    every = 4 if quick else 1
    grid = {"C": np.logspace(-2, 10, 13)[::every], "gamma": np.logspace(-9, 3, 13)[::every]}
    split = StratifiedShuffleSplit(n_splits=5, test_size=0.2, random_state=42)
    found = {}
    for who, estimator in (("ours", maxmargin.SVC()), ("theirs", svm.SVC())):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            started = time.perf_counter()
            search = GridSearchCV(estimator, param_grid=grid, cv=split).fit(rows, targets)
            found[f"{who}_seconds"] = time.perf_counter() - started
        found[f"{who}_best_score"] = float(search.best_score_)
    return found


def line(measured: dict) -> str:
    """A measurement in a few words."""
    if "error" in measured:
        return measured["error"]
    ours, theirs = measured["ours_seconds"], measured["theirs_seconds"]
    words = f"ours {1e3 * ours:9.3f} ms, theirs {1e3 * theirs:9.3f} ms, {theirs / ours:7.2f}x"
    for who in ("ours", "theirs"):
        words += "" if measured.get(f"{who}_converged", True) else f", {who} not converged"
    return words


if __name__ == "__main__":
    exit_with(main)
