"""A grid of C and gamma by cross validation: `maxmargin tune` beside GridSearchCV on scikit-learn and on intelex. See README.md.

The same folds and the same grid on each side, interleaved, two processes or threads each. Ours is the whole command, reading the file
included; theirs is `fit` alone. `--separate` adds what our own fits take one by one: its ratio to the search is the sharing factor.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np

from failure import Failure, exit_with
from prepare import read, scaled
from record import begin
from sets import DEFAULT_DATA, data_folder

SEED = 0
COSTS = np.geomspace(0.01, 1000, 10)
GAMMAS = np.geomspace(0.0001, 10, 10)
FOLDS = 5
# Name: file, columns, rows that are kept, and whether columns are scaled to [0, 1].
SETS = {
    "covtype-1000": ("covtype", 54, 1000, True),
    "covtype-5000": ("covtype", 54, 5000, True),
    "usps": ("usps", 256, None, False),
    "a9a-5000": ("a9a", 123, 5000, False),
    "letter-5000": ("letter.scale", 16, 5000, False),
}
SIDES = ("ours", "sklearn", "intelex")


def rows_of(name: str, folder: Path) -> tuple[np.ndarray, np.ndarray]:
    file, columns, count, is_scaled = SETS[name]
    rows, labels = read(folder, file, columns)
    if file == "covtype":
        labels = np.where(labels == 2, 1.0, -1.0)
    if count is not None:
        chosen = np.random.RandomState(SEED).permutation(len(labels))[:count]
        rows, labels = rows[chosen], labels[chosen]
    dense = rows.toarray()
    return (scaled(dense, dense, 0.0, 1.0) if is_scaled else dense), labels


def folds_of(labels: np.ndarray) -> np.ndarray:
    """The fold of each row, drawn by scikit-learn."""
    from sklearn.model_selection import StratifiedKFold

    fold = np.zeros(len(labels), dtype=int)
    splits = StratifiedKFold(FOLDS, shuffle=True, random_state=SEED).split(labels, labels)
    for number, (_, test) in enumerate(splits):
        fold[test] = number
    return fold


def ours(program: str, file: Path, more: list[str]) -> dict:
    grid = "C=" + ",".join(map(repr, COSTS.tolist())) + ",gamma=" + ",".join(map(repr, GAMMAS.tolist()))
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
    cells = found["cells"]
    scores = [[cell["params"]["C"], cell["params"]["gamma"], cell["mean"], cell["state"]] for cell in cells]
    return {
        "seconds": seconds,
        "counts": found["counts"],
        "best": found["best"],
        "scores": scores,
    }


def theirs(side: str, file: Path) -> dict:
    command = [sys.executable, __file__, "--child", side, str(file)]
    done = subprocess.run(command, check=True, capture_output=True, text=True)
    return json.loads(done.stdout.strip().splitlines()[-1])


def child(side: str, file: str) -> None:
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
    best = None
    # intelex uses threads of its own: the better of two processes and of two threads.
    for jobs in (2, 1) if side == "intelex" else (2,):
        grid = {"C": COSTS.tolist(), "gamma": GAMMAS.tolist()}
        search = GridSearchCV(
            SVC(cache_size=500),
            grid,
            cv=PredefinedSplit(fold),
            n_jobs=jobs,
            refit=False,
        )
        started = time.perf_counter()
        search.fit(rows, labels)
        seconds = time.perf_counter() - started
        if best is None or seconds < best["seconds"]:
            found = search.cv_results_
            scores = [[p["C"], p["gamma"], float(m)] for p, m in zip(found["params"], found["mean_test_score"], strict=True)]
            best = {"seconds": seconds, "jobs": jobs, "scores": scores}
    print(json.dumps(best))


def compare(own: dict, other: dict) -> dict:
    """The largest difference of a cell that both finished, and what our choice is worth by the other's scores."""
    theirs = {(round(c, 9), round(g, 9)): mean for c, g, mean in other["scores"]}
    pairs = [(mean, theirs[(round(c, 9), round(g, 9))]) for c, g, mean, _ in own["scores"] if mean is not None]
    c, g, *_ = own["scores"][own["best"]]
    return {
        "largest_difference": max(abs(a - b) for a, b in pairs),
        "best_of_theirs": max(theirs.values()),
        "our_choice_by_theirs": theirs[(round(c, 9), round(g, 9))],
    }


def main() -> None:
    if sys.argv[1:2] == ["--child"]:
        child(sys.argv[2], sys.argv[3])
        return
    parser = argparse.ArgumentParser(prog="cargo xtask bench tuning", description=__doc__)
    parser.add_argument("--maxmargin", required=True, help=argparse.SUPPRESS)
    parser.add_argument("--data", type=Path, metavar="FOLDER", help="where the data sets are")
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
        "--sides",
        metavar="NAMES",
        default=",".join(SIDES),
        help="[default: %(default)s]",
    )
    parser.add_argument("--rounds", type=int, default=1, metavar="N", help="[default: 1]")
    parser.add_argument("--separate", action="store_true", help="measure our own separate fits, too")
    parser.add_argument("--quick", action="store_true", help="covtype-1000 alone, and nothing is kept")
    arguments = parser.parse_args()
    names = ["covtype-1000"] if arguments.quick else (arguments.sets.split(",") if arguments.sets else list(SETS))
    unknown = [name for name in names if name not in SETS]
    if unknown:
        raise Failure(f"there is no set {unknown[0]!r}", "the sets are " + ", ".join(SETS))
    folder = data_folder(arguments.data) if arguments.data else DEFAULT_DATA
    settings = {
        "costs": COSTS.tolist(),
        "gammas": GAMMAS.tolist(),
        "folds": FOLDS,
        "rounds": arguments.rounds,
    }
    record = begin("tuning", settings, arguments.out, arguments.quick, False)
    for name in names:
        rows, labels = rows_of(name, folder)
        record.content["sets"][name] = {"rows": len(labels), "columns": rows.shape[1]}
        with tempfile.TemporaryDirectory() as place:
            file = Path(place) / "data.csv"
            head = ",".join([f"x{k}" for k in range(rows.shape[1])] + ["fold", "label"])
            table = np.column_stack([rows, folds_of(labels), labels])
            np.savetxt(file, table, delimiter=",", header=head, comments="", fmt="%.10g")
            for turn in range(arguments.rounds):
                own = None
                for side in arguments.sides.split(","):
                    if side == "ours":
                        found = own = ours(arguments.maxmargin, file, [])
                    else:
                        found = theirs(side, file)
                        found["ours"] = compare(own, found) if own else None
                    kept = {key: value for key, value in found.items() if key != "scores"}
                    record.add({"set": name, "method": side, "round": turn, **kept})
                    print(
                        f"{name:>14} {side:<8} {found['seconds']:9.2f} s  {found.get('ours') or found.get('counts')}",
                        flush=True,
                    )
                if arguments.separate:
                    found = ours(arguments.maxmargin, file, ["--strategy", "separate"])
                    record.add(
                        {
                            "set": name,
                            "method": "separate",
                            "round": turn,
                            "seconds": found["seconds"],
                        }
                    )
                    print(f"{name:>14} separate {found['seconds']:9.2f} s", flush=True)
    print(f"written: {record.path}")


if __name__ == "__main__":
    exit_with(main)
