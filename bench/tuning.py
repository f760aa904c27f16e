"""A grid of C and gamma by cross validation: `maxmargin tune` beside GridSearchCV on scikit-learn and on intelex. See README.md.

The same folds and the same grid on each side, interleaved, two processes or threads each. Ours is the whole command, reading the file
included; theirs is `fit` alone. Where the whole grid would take the peers too long, they are given some of its cells: as nothing is shared,
their time is that of these cells times the number of all over theirs.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from failure import Failure, exit_with
from prepare import read, scaled
from record import begin
from tuning_table import write_tuning_table

from sets import DEFAULT_DATA, data_folder

SEED = 0
COSTS = np.geomspace(0.01, 1000, 10).tolist()
GAMMAS = np.geomspace(0.0001, 10, 10).tolist()
FOLDS = 5
SIDES = ("ours", "separate", "sklearn", "intelex")
Cell = tuple[float, float]


@dataclass(frozen=True)
class GridSet:
    """A data set of the search."""

    file: str
    columns: int
    # Rows that are kept; none is all of them.
    rows: int | None
    # Whether columns are scaled to [0, 1].
    is_scaled: bool
    # Values of gamma with each C that the peers are given; each gamma comes as often.
    cells_a_cost: int


SETS = {
    "covtype-1000": GridSet("covtype", 54, 1000, True, 10),
    "covtype-5000": GridSet("covtype", 54, 5000, True, 4),
    "usps": GridSet("usps", 256, None, False, 1),
    "a9a-5000": GridSet("a9a", 123, 5000, False, 1),
    "letter-5000": GridSet("letter.scale", 16, 5000, False, 1),
}


def rows_of(name: str, folder: Path) -> tuple[np.ndarray, np.ndarray]:
    own = SETS[name]
    rows, labels = read(folder, own.file, own.columns)
    if own.file == "covtype":
        labels = np.where(labels == 2, 1.0, -1.0)
    if own.rows is not None:
        chosen = np.random.RandomState(SEED).permutation(len(labels))[: own.rows]
        rows, labels = rows[chosen], labels[chosen]
    dense = rows.toarray()
    return (scaled(dense, dense, 0.0, 1.0) if own.is_scaled else dense), labels


def folds_of(labels: np.ndarray) -> np.ndarray:
    """The fold of each row, drawn by scikit-learn."""
    from sklearn.model_selection import StratifiedKFold

    fold = np.zeros(len(labels), dtype=int)
    splits = StratifiedKFold(FOLDS, shuffle=True, random_state=SEED).split(
        labels, labels
    )
    for number, (_, test) in enumerate(splits):
        fold[test] = number
    return fold


def cells_of(a_cost: int) -> list[Cell]:
    """Some cells of the grid: so many gammas with each C, and as many C with each gamma, spread over the grid."""
    step = 3  # has no divisor in common with the number of gammas, so each of them comes in turn
    places = [
        (k, (step * k + turn) % len(GAMMAS))
        for turn in range(a_cost)
        for k in range(len(COSTS))
    ]
    return [(COSTS[cost], GAMMAS[gamma]) for cost, gamma in places]


def ours(program: str, file: Path, more: list[str]) -> dict:
    """Our search by the whole command."""
    grid = "C=" + ",".join(map(repr, COSTS)) + ",gamma=" + ",".join(map(repr, GAMMAS))
    command = [
        program,
        "tune",
        str(file),
        "--fold-column",
        "fold",
        "--scale",
        "none",
        "--task",
        "classification",
    ]
    command += [
        "--kernel",
        "rbf",
        "--grid",
        grid,
        "--json",
        "--quiet",
        "--threads",
        "2",
        *more,
    ]
    started = time.perf_counter()
    done = subprocess.run(command, check=True, capture_output=True, text=True)
    seconds = time.perf_counter() - started
    found = json.loads(done.stdout)
    cells = [
        [cell["params"]["C"], cell["params"]["gamma"], cell["mean"], cell["state"]]
        for cell in found["cells"]
    ]
    best = cells[found["best"]]
    return {
        "seconds": seconds,
        "counts": found["counts"],
        "best": best[:3],
        "cells": cells,
    }


def theirs(side: str, file: Path, cells: list[Cell], more: list[Cell]) -> dict:
    """A peer's search, in a process of its own. `more` cells are scored without a clock."""
    asked = json.dumps({"side": side, "file": str(file), "cells": cells, "more": more})
    done = subprocess.run(
        [sys.executable, __file__, "--child", asked],
        check=True,
        capture_output=True,
        text=True,
    )
    return json.loads(done.stdout.strip().splitlines()[-1])


def child(side: str, file: str, cells: list[Cell], more: list[Cell]) -> dict:
    if side == "intelex":
        from sklearnex import patch_sklearn

        patch_sklearn(verbose=False)
    from sklearn.model_selection import GridSearchCV, PredefinedSplit
    from sklearn.svm import SVC

    table = np.loadtxt(file, delimiter=",", skiprows=1)
    rows, fold, labels = (
        np.ascontiguousarray(table[:, :-2]),
        table[:, -2].astype(int),
        table[:, -1],
    )

    def search(cells: list[Cell], jobs: int) -> tuple[float, list]:
        grid = [{"C": [c], "gamma": [gamma]} for c, gamma in cells]
        found = GridSearchCV(
            SVC(cache_size=500),
            grid,
            cv=PredefinedSplit(fold),
            n_jobs=jobs,
            refit=False,
        )
        started = time.perf_counter()
        found.fit(rows, labels)
        seconds = time.perf_counter() - started
        results = found.cv_results_
        scores = zip(results["params"], results["mean_test_score"], strict=True)
        return seconds, [
            [params["C"], params["gamma"], float(mean)] for params, mean in scores
        ]

    # intelex has threads of its own: the better of two processes and of two threads, as a tenth of the cells says.
    jobs = 2
    if side == "intelex":
        few = cells[:: max(1, len(cells) // 10)]
        jobs = min((2, 1), key=lambda jobs: search(few, jobs)[0])
    seconds, scores = search(cells, jobs)
    return {
        "seconds": seconds,
        "jobs": jobs,
        "scores": scores + (search(more, jobs)[1] if more else []),
    }


def compare(own: dict, other: dict) -> dict:
    """The largest difference of a cell that both have finished, and what our choice is worth by the other's scores."""
    theirs = {
        (round(c, 9), round(gamma, 9)): mean for c, gamma, mean in other["scores"]
    }
    means = {
        (round(c, 9), round(gamma, 9)): mean
        for c, gamma, mean, _ in own["cells"]
        if mean is not None
    }
    c, gamma, _ = own["best"]
    return {
        "largest_difference": max(
            abs(means[cell] - theirs[cell]) for cell in theirs if cell in means
        ),
        "best_of_theirs": max(theirs.values()),
        "our_choice_by_theirs": theirs[(round(c, 9), round(gamma, 9))],
    }


def measure(
    program: str, side: str, file: Path, name: str, everything: bool, own: dict | None
) -> dict:
    """What one side takes for the whole grid."""
    if side in ("ours", "separate"):
        return ours(
            program, file, ["--strategy", "separate"] if side == "separate" else []
        )
    cells = cells_of(len(GAMMAS) if everything else SETS[name].cells_a_cost)
    best = [tuple(own["best"][:2])] if own else []
    found = theirs(side, file, cells, [cell for cell in best if cell not in cells])
    found["part"] = len(cells) / (len(COSTS) * len(GAMMAS))
    found["seconds_of_part"] = found["seconds"]
    found["seconds"] /= found["part"]
    if own:
        found["ours"] = compare(own, found)
    return found


def names_of(given: str | None, known: list[str], what: str) -> list[str]:
    names = given.split(",") if given else known
    unknown = [name for name in names if name not in known]
    if unknown:
        raise Failure(
            f"there is no {what} {unknown[0]!r}", "there are " + ", ".join(known)
        )
    return names


def main() -> None:
    if sys.argv[1:2] == ["--child"]:
        print(json.dumps(child(**json.loads(sys.argv[2]))))
        return
    parser = argparse.ArgumentParser(
        prog="cargo xtask bench tuning", description=__doc__
    )
    parser.add_argument("--maxmargin", required=True, help=argparse.SUPPRESS)
    parser.add_argument(
        "--data", type=Path, metavar="FOLDER", help="where the data sets are"
    )
    parser.add_argument(
        "--out",
        type=Path,
        metavar="FILE",
        help="the JSON to write [default: in bench/results]",
    )
    parser.add_argument(
        "--sets",
        metavar="NAMES",
        help=f"such as usps,a9a-5000 [default: {','.join(SETS)}]",
    )
    parser.add_argument(
        "--sides", metavar="NAMES", help=f"[default: {','.join(SIDES)}]"
    )
    parser.add_argument(
        "--repeats",
        type=int,
        default=1,
        metavar="N",
        help="rounds [default: 1; ours 3 in each]",
    )
    parser.add_argument(
        "--everything", action="store_true", help="all cells for the peers, too: hours"
    )
    parser.add_argument(
        "--quick", action="store_true", help="covtype-1000 alone, to bench/.quick"
    )
    parser.add_argument(
        "--continue",
        dest="go_on",
        action="store_true",
        help="go on with an interrupted run",
    )
    arguments = parser.parse_args()
    names = (
        ["covtype-1000"]
        if arguments.quick
        else names_of(arguments.sets, list(SETS), "set")
    )
    sides = names_of(arguments.sides, list(SIDES), "side")
    if "ours" not in sides:
        raise Failure("ours is not among the sides", "the others are held against it")
    folder = data_folder(arguments.data) if arguments.data else DEFAULT_DATA
    settings = {
        "costs": COSTS,
        "gammas": GAMMAS,
        "folds": FOLDS,
        "repeats": arguments.repeats,
        "everything": arguments.everything,
    }
    record = begin("tuning", settings, arguments.out, arguments.quick, arguments.go_on)
    for name in names:
        rows, labels = rows_of(name, folder)
        record.content["sets"][name] = {
            "rows": len(labels),
            "columns": rows.shape[1],
            "classes": len(np.unique(labels)),
        }
        with tempfile.TemporaryDirectory() as place:
            file = Path(place) / "data.csv"
            head = ",".join([f"x{k}" for k in range(rows.shape[1])] + ["fold", "label"])
            table = np.column_stack([rows, folds_of(labels), labels])
            np.savetxt(
                file, table, delimiter=",", header=head, comments="", fmt="%.10g"
            )
            for turn in range(arguments.repeats):
                own = None
                # Ours once more between the others, so that a machine that changes its speed changes it for all.
                for number, side in enumerate(by_turns(sides)):
                    kept = record.of(set=name, method=side, round=turn, turn=number)
                    found = (
                        kept[0]
                        if kept
                        else measure(
                            arguments.maxmargin,
                            side,
                            file,
                            name,
                            arguments.everything,
                            own,
                        )
                    )
                    own = found if side == "ours" else own
                    if not kept:
                        record.add(
                            {
                                "set": name,
                                "method": side,
                                "round": turn,
                                "turn": number,
                                **found,
                            }
                        )
                    said = found.get("ours") or found.get("counts")
                    print(
                        f"{name:>14} {side:<8} {found['seconds']:9.2f} s  {said}",
                        flush=True,
                    )
    write_tuning_table(record.content, record.path.with_name("tuning.md"))
    print(f"written: {record.path} and tuning.md beside it")


def by_turns(sides: list[str]) -> list[str]:
    """Ours before and after each of the others."""
    others = [side for side in sides if side != "ours"]
    return ["ours", *(one for side in others for one in (side, "ours"))]


if __name__ == "__main__":
    exit_with(main)
