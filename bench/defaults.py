"""What the defaults are worth: `maxmargin train table.csv` beside scikit-learn's `make_pipeline(StandardScaler(), SVC())`, on the same five folds.

    python bench/defaults.py --program target/release/maxmargin [--data ../shared/data] [--sets iris,wine]

Every set is written as a CSV table, trained on by the program without a flag but `--task regression` for numbers, and predicted. Regressions are compared with
`make_pipeline(StandardScaler(), SVR())` by R². The table goes to `bench/results/defaults.md`, the numbers of each fold to a dated JSON beside it.
No time is measured, so the machine need not be quiet.
"""

from __future__ import annotations

import argparse
import datetime
import json
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np
import sklearn
from sklearn.metrics import accuracy_score, r2_score
from sklearn.model_selection import KFold, StratifiedKFold
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC, SVR

from small_sets import SmallSet, small_sets

FOLDS = 5
SEED = 0
# Half a point of accuracy: the most that the defaults may lose on a set.
MOST_LOST = 0.005

RESULTS = Path(__file__).resolve().parent / "results"


def write_table(path: Path, small: SmallSet, rows: np.ndarray) -> None:
    """Some rows of a set as a CSV file with a header, the answer last; classes as words, which nobody takes for numbers."""
    head = [f"c{column}" for column in range(small.rows.shape[1])] + ["answer"]
    with path.open("w", encoding="ascii") as file:
        file.write(",".join(head) + "\n")
        for row in rows:
            answer = (
                repr(float(small.targets[row]))
                if small.regression
                else f"k{small.targets[row]:g}"
            )
            file.write(",".join([*map(repr, small.rows[row].tolist()), answer]) + "\n")


def ours(
    program: Path, small: SmallSet, train: np.ndarray, held: np.ndarray, folder: Path
) -> tuple[float, str]:
    """The score of the program's defaults on rows held out, and the kernel that they chose."""
    write_table(folder / "train.csv", small, train)
    write_table(folder / "held.csv", small, held)
    model = folder / "model.mm"
    model.unlink(missing_ok=True)
    # A table of numbers asks for its task: the program refuses to guess.
    task = ["--task", "regression"] if small.regression else []
    told = run([program, "train", folder / "train.csv", *task, "-o", model, "--json"])
    run(
        [
            program,
            "predict",
            model,
            folder / "held.csv",
            "--quiet",
            "-o",
            folder / "predicted.txt",
        ]
    )
    predicted = (folder / "predicted.txt").read_text(encoding="ascii").split()
    kernel = json.loads(told)["kernel"].split("(")[0]
    if small.regression:
        return float(
            r2_score(small.targets[held], np.array(predicted, dtype=float))
        ), kernel
    return float(
        accuracy_score([f"k{target:g}" for target in small.targets[held]], predicted)
    ), kernel


def run(command: list) -> str:
    """What a command prints; its message where it fails."""
    done = subprocess.run(
        [str(part) for part in command], capture_output=True, text=True, check=False
    )
    if done.returncode != 0:
        sys.exit(f"{' '.join(map(str, command))}\n{done.stderr}")
    return done.stdout


def theirs(small: SmallSet, train: np.ndarray, held: np.ndarray) -> float:
    """The score of scikit-learn's pipeline on rows held out."""
    model = make_pipeline(StandardScaler(), SVR() if small.regression else SVC())
    model.fit(small.rows[train], small.targets[train])
    return float(model.score(small.rows[held], small.targets[held]))


def measure(program: Path, small: SmallSet, folder: Path) -> dict:
    """Both scores of each fold."""
    folds = (
        KFold(FOLDS, shuffle=True, random_state=SEED)
        if small.regression
        else StratifiedKFold(FOLDS, shuffle=True, random_state=SEED)
    )
    found = {
        "set": small.name,
        "rows": len(small.rows),
        "columns": small.rows.shape[1],
        "regression": small.regression,
    }
    found |= {"kernels": [], "ours": [], "theirs": []}
    for train, held in folds.split(small.rows, small.targets):
        score, kernel = ours(program, small, train, held, folder)
        found["ours"].append(score)
        found["kernels"].append(kernel)
        found["theirs"].append(theirs(small, train, held))
    return found


def page(measured: list[dict], version: str, date: str) -> str:
    """The table in words."""
    lines = [
        "# What the defaults are worth",
        "",
        f"`maxmargin train table.csv` ({version}) beside `make_pipeline(StandardScaler(), SVC())` of scikit-learn {sklearn.__version__}, or `SVR()`:",
        f"the mean score of {FOLDS} folds, the same for both, of tables of at most 1,000 rows. `bench/defaults.py`, {date}.",
        "",
    ]
    for regression, title, score in (
        (False, "Classes", "accuracy, %"),
        (True, "Numbers", "R², %"),
    ):
        chosen = [one for one in measured if one["regression"] == regression]
        if not chosen:
            continue
        lines += [
            f"## {title}",
            "",
            f"| set | rows x columns | kernel chosen | ours, {score} | scikit-learn's | difference |",
        ]
        lines += ["| --- | --- | --- | --- | --- | --- |"]
        for one in chosen:
            mine, other = np.mean(one["ours"]), np.mean(one["theirs"])
            kernels = ", ".join(sorted(set(one["kernels"])))
            size = f"{one['rows']:,} x {one['columns']}"
            lines.append(
                f"| {one['set']} | {size} | {kernels} | {mine:.1%} | {other:.1%} | {mine - other:+.1%} |".replace(
                    "%", ""
                )
            )
        differences = [
            float(np.mean(one["ours"]) - np.mean(one["theirs"])) for one in chosen
        ]
        worse = [
            one["set"]
            for one, difference in zip(chosen, differences)
            if difference < -MOST_LOST
        ]
        better = sum(difference > MOST_LOST for difference in differences)
        said = (
            f"worse by more than half a point on {', '.join(worse)}"
            if worse
            else "worse by more than half a point on none"
        )
        mean = f"{100 * np.mean(differences):+.2f} points"
        lines += [
            "",
            f"Of {len(chosen)} sets: {said}; better by more than half a point on {better}; the mean difference is {mean}.",
            "",
        ]
    return "\n".join(lines)


def main() -> None:
    """Measures, and writes both files."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--program", type=Path, required=True)
    parser.add_argument("--data", type=Path, default=Path("../shared/data"))
    parser.add_argument("--sets", default="")
    arguments = parser.parse_args()
    wanted = set(filter(None, arguments.sets.split(",")))
    measured = []
    with tempfile.TemporaryDirectory() as folder:
        for small in small_sets(arguments.data):
            if not wanted or small.name in wanted:
                measured.append(
                    measure(arguments.program.resolve(), small, Path(folder))
                )
                print(
                    measured[-1]["set"],
                    np.mean(measured[-1]["ours"]),
                    np.mean(measured[-1]["theirs"]),
                    flush=True,
                )
    date = datetime.date.today().isoformat()
    if not wanted:
        version = run([arguments.program, "--version"]).strip()
        (RESULTS / f"defaults-{date}.json").write_text(
            json.dumps(measured, indent=1) + "\n", encoding="utf-8"
        )
        (RESULTS / "defaults.md").write_text(
            page(measured, version, date), encoding="utf-8"
        )


if __name__ == "__main__":
    main()
