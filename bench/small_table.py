"""Makes the Markdown of the benchmark of small sets out of its JSON: `small_table.py JSON` prints it."""

from __future__ import annotations

import math
import sys
from pathlib import Path

from failure import exit_with
from record import read
from table import digits, listed, markdown, preamble

# A fit is slow when its seconds exceed scikit-learn's times the first number plus the second.
SLOW_TIMES = 1.2
SLOW_SECONDS = 0.2e-3
# How far our objective may be below scikit-learn's, relative to that, before it counts as worse.
WORSE = [1e-6, 1e-4, 1e-2]
# How many times faster we want to be in the geometric mean.
WANTED_MEAN = 4.0
WORST_SHOWN = 10
GRID = "the gallery's grid"


def ratio(measured: dict) -> float:
    """How many times faster our fit is."""
    return measured["theirs_seconds"] / measured["ours_seconds"]


def mean(ratios: list[float]) -> float:
    """The geometric mean; 1 of nothing."""
    return math.exp(sum(math.log(one) for one in ratios) / len(ratios)) if ratios else 1.0


def is_slow(measured: dict) -> bool:
    return measured["ours_seconds"] > SLOW_TIMES * measured["theirs_seconds"] + SLOW_SECONDS


def is_unfinished(measured: dict) -> bool:
    """Whether ours did not converge where scikit-learn's did."""
    return measured["theirs_converged"] and not measured["ours_converged"]


def shortfall(measured: dict) -> float | None:
    """How far our objective is below scikit-learn's, relative to it; nothing where scikit-learn did not converge."""
    ours, theirs = measured["ours_objective"], measured["theirs_objective"]
    if not measured["theirs_converged"] or not (math.isfinite(ours) and math.isfinite(theirs)):
        return None
    size = max(abs(theirs), abs(ours))
    return (theirs - ours) / size if size > 0.0 else 0.0


def is_worse(measured: dict, by: float) -> bool:
    found = shortfall(measured)
    return found is not None and found > by


def summary(name: str, fits: list[dict]) -> list[str]:
    """A row of the table."""
    faster = [ratio(one) for one in fits]
    return [
        name,
        f"{len(fits)}",
        f"{digits(mean(faster))}×",
        f"{digits(min(faster))}×" if faster else "",
        f"{sum(map(is_slow, fits))}",
        f"{sum(map(is_unfinished, fits))}",
        f"{sum(not one['theirs_converged'] for one in fits)}",
        *(f"{sum(is_worse(one, by) for one in fits)}" for by in WORSE),
    ]


def ending(measured: dict) -> str:
    titles = {"ours": "ours", "theirs": "scikit-learn's"}
    return "; ".join(f"{titles[who]} did not converge" for who in titles if not measured[f"{who}_converged"])


def worst_table(fits: list[dict]) -> str:
    worst = sorted(fits, key=ratio)[:WORST_SHOWN]
    rows = [
        [
            one["set"],
            one["method"],
            milliseconds(one["ours_seconds"]),
            milliseconds(one["theirs_seconds"]),
            f"{digits(ratio(one))}×",
            ending(one),
        ]
        for one in worst
    ]
    return markdown(["set", "fit", "ours, ms", "scikit-learn, ms", "times faster", ""], rows)


def milliseconds(seconds: float) -> str:
    return digits(1e3 * seconds)


def small_markdown(content: dict) -> str:
    measured = content["measurements"]
    fits = [one for one in measured if "error" not in one and one["kind"] != GRID]
    grids = [one for one in measured if one["kind"] == GRID]
    kinds = list(dict.fromkeys(one["kind"] for one in fits))
    head = ["fits of", "number", "times faster, mean", "least", "slow", "not converged", "scikit-learn not converged"]
    head += [f"worse by {by:g}" for by in WORSE]
    rows = [summary(kind, [one for one in fits if one["kind"] == kind]) for kind in kinds]
    rows.append([f"**{cell}**" for cell in summary("all", fits)])
    by_set = [summary(name, [one for one in fits if one["set"] == name]) for name in content["sets"]]
    grid_rows = [
        [
            one["method"],
            digits(one["ours_seconds"]),
            digits(one["theirs_seconds"]),
            f"{digits(ratio(one))}×",
            f"{one['ours_best_score']:.4f}",
            f"{one['theirs_best_score']:.4f}",
        ]
        for one in grids
    ]
    parts = [
        "# Small sets beside scikit-learn",
        preamble(content),
        "Our classes in Python beside scikit-learn's, in one process and in turns; each time is the least of its "
        "rounds. "
        f"A fit is slow when it takes more than {SLOW_TIMES} times scikit-learn's time and {1e3 * SLOW_SECONDS:g} ms. "
        f"scikit-learn's steps end after about {content['settings']['their_seconds']:g} s (`max_iter`), ours after "
        f"{content['settings']['our_seconds']:g} s (`max_time`). Worse is an objective below scikit-learn's by more "
        "than this part of it, recomputed in double precision from the attributes of either, where scikit-learn "
        "converged.",
        "## By class",
        markdown(head, rows),
        "## The slowest beside scikit-learn",
        worst_table(fits),
        "## By set",
        markdown(head, by_set),
        "## The gallery's grid",
        "Seconds of the search of scikit-learn's example \"RBF SVM parameters\" on iris.",
        markdown(["search", "ours", "scikit-learn", "times faster", "our best score", "theirs"], grid_rows),
        "## Targets missed",
        listed(misses(fits, grids)),
        "## Not measured",
        listed([f"{one['set']}, {one['method']}: {one['error']}" for one in measured if "error" in one]),
    ]
    return "\n\n".join(parts) + "\n"


def misses(fits: list[dict], grids: list[dict]) -> list[str]:
    """What is not as it should be."""
    found = []
    faster = mean([ratio(one) for one in fits])
    if fits and faster < WANTED_MEAN:
        found.append(f"{digits(faster)} times faster in the geometric mean, not {WANTED_MEAN:g}")
    asked = [
        (is_slow, "slow"),
        (is_unfinished, "not converged where scikit-learn is"),
        (lambda one: is_worse(one, WORSE[0]), f"with an objective worse by more than {WORSE[0]:g}"),
    ]
    for holds, words in asked:
        concerned = [one for one in fits if holds(one)]
        if concerned:
            shown = ", ".join(f"{one['set']} {one['method']}" for one in concerned[:WORST_SHOWN])
            more = f" and {len(concerned) - WORST_SHOWN} more" if len(concerned) > WORST_SHOWN else ""
            found.append(f"{len(concerned)} fits {words}: {shown}{more}")
    found += [f"{one['method']}: {digits(ratio(one))} times faster" for one in grids if ratio(one) < 1.0]
    return found


def write_small_table(content: dict, path: Path) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(small_markdown(content))


def main() -> None:
    print(small_markdown(read(Path(sys.argv[1]))), end="")


if __name__ == "__main__":
    exit_with(main)
