"""Makes the Markdown of the benchmark of searches out of its JSON: `tuning_table.py JSON` prints it."""

from __future__ import annotations

import math
import sys
from pathlib import Path
from statistics import median

from failure import exit_with
from record import read
from table import digits, listed, markdown, preamble

PEERS = {
    "sklearn": "GridSearchCV on scikit-learn",
    "intelex": "GridSearchCV on intelex",
}
# How many times faster than scikit-learn we want to be on each set and in the geometric mean, and than intelex in the mean.
WANTED_EACH = 25.0
WANTED_MEAN = {"sklearn": 50.0, "intelex": 20.0}
# The least sharing factor, and the largest difference of a cell's score.
WANTED_SHARING = 8.0
MOST_DIFFERENCE = 0.002
NOTHING = "–"


def of(content: dict, name: str, method: str) -> list[dict]:
    return [
        one
        for one in content["measurements"]
        if one["set"] == name and one["method"] == method
    ]


def seconds(content: dict, name: str, method: str) -> float | None:
    found = [one["seconds"] for one in of(content, name, method)]
    return median(found) if found else None


def times(content: dict, name: str, method: str) -> float | None:
    """How many times faster our search is."""
    own, other = seconds(content, name, "ours"), seconds(content, name, method)
    return other / own if own and other else None


def mean(ratios: list[float]) -> float | None:
    """The geometric mean."""
    return math.exp(sum(map(math.log, ratios)) / len(ratios)) if ratios else None


def shown(value: float | None, unit: str) -> str:
    return NOTHING if value is None else f"{digits(value)}{unit}"


def timing_row(content: dict, name: str) -> list[str]:
    about = content["sets"][name]
    cells = [
        name,
        f"{about['rows']:,} × {about['columns']}",
        f"{about['classes']}",
        shown(seconds(content, name, "ours"), " s"),
    ]
    for peer in PEERS:
        found = of(content, name, peer)
        part = (
            f" ({100 * found[0]['part']:.0f} % measured)"
            if found and found[0]["part"] < 1.0
            else ""
        )
        cells += [
            shown(seconds(content, name, peer), " s") + part,
            shown(times(content, name, peer), "×"),
        ]
    return [*cells, shown(times(content, name, "separate"), "×")]


def score_row(content: dict, name: str) -> list[str]:
    own = of(content, name, "ours")[0]
    counts = own["counts"]
    cells = [
        name,
        f"{counts['exact']}",
        f"{counts['same']}",
        f"{counts['abandoned']}",
        f"{counts['unfinished']}",
    ]
    c, gamma, score = own["best"]
    cells.append(f"C {c:.3g}, γ {gamma:.3g}: {score:.4f}")
    found = [one["ours"] for one in of(content, name, "sklearn") if "ours" in one]
    if not found:
        return [*cells, NOTHING, NOTHING, NOTHING]
    held = found[0]
    return [
        *cells,
        f"{held['our_choice_by_theirs']:.4f}",
        f"{held['best_of_theirs']:.4f}",
        f"{held['largest_difference']:.4f}",
    ]


def misses(content: dict) -> list[str]:
    """What is not as it should be."""
    found = []
    for name in content["sets"]:
        faster = times(content, name, "sklearn")
        if faster is not None and faster < WANTED_EACH:
            found.append(
                f"{name}: {digits(faster)} times faster than scikit-learn, not {WANTED_EACH:g}"
            )
        shares = times(content, name, "separate")
        if shares is not None and shares < WANTED_SHARING:
            found.append(
                f"{name}: a sharing factor of {digits(shares)}, not {WANTED_SHARING:g}"
            )
        for one in of(content, name, "sklearn"):
            apart = one.get("ours", {}).get("largest_difference", 0.0)
            if apart > MOST_DIFFERENCE:
                found.append(
                    f"{name}: a score differs by {apart:.4f}, more than {MOST_DIFFERENCE:g}"
                )
    for peer, wanted in WANTED_MEAN.items():
        faster = mean(
            [
                ratio
                for name in content["sets"]
                if (ratio := times(content, name, peer)) is not None
            ]
        )
        if faster is not None and faster < wanted:
            found.append(
                f"{PEERS[peer]}: {digits(faster)} times faster in the geometric mean, not {wanted:g}"
            )
    return found


def tuning_markdown(content: dict) -> str:
    names = list(content["sets"])
    head = ["set", "rows × columns", "classes", "ours"]
    for title in PEERS.values():
        head += [title, "times faster"]
    rows = [timing_row(content, name) for name in names]
    means = [""] * 4
    for peer in PEERS:
        ratios = [
            ratio for name in names if (ratio := times(content, name, peer)) is not None
        ]
        means += ["", f"**{shown(mean(ratios), '×')}**"]
    shares = [
        ratio
        for name in names
        if (ratio := times(content, name, "separate")) is not None
    ]
    rows.append(["**geometric mean**", *means[1:], f"**{shown(mean(shares), '×')}**"])
    parts = [
        "# A grid of C and γ beside GridSearchCV",
        preamble(content),
        (
            f"{len(content['settings']['costs'])} values of C (0.01 to 1000) by {len(content['settings']['gammas'])} of γ (0.0001 to 10) by "
            f"{content['settings']['folds']} folds, the same on each side, two threads or processes each. Ours is the whole command `maxmargin tune`, "
            "the reading of a CSV included, the median of its runs before and after each of the others; theirs is `fit` without the final fit. Where a "
            "part of the cells was measured, their time is that of the part over it: nothing is shared between cells. The sharing factor is the time "
            "of our own separate fits over that of the search."
        ),
        markdown([*head, "sharing factor"], rows),
        "## What came out",
        (
            "The cells by how they came to their numbers, the best cell and its mean accuracy, what scikit-learn's fits say of that cell, the best of the "
            "cells that they were given, and the largest difference of a cell's score."
        ),
        markdown(
            [
                "set",
                "exact",
                "same",
                "abandoned",
                "unfinished",
                "our best",
                "by scikit-learn",
                "best of theirs",
                "largest difference",
            ],
            [score_row(content, name) for name in names],
        ),
        "## Targets missed",
        listed(misses(content)),
    ]
    return "\n\n".join(parts) + "\n"


def write_tuning_table(content: dict, path: Path) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(tuning_markdown(content))


def main() -> None:
    print(tuning_markdown(read(Path(sys.argv[1]))), end="")


if __name__ == "__main__":
    exit_with(main)
