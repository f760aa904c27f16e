"""Makes the Markdown of the benchmark of the Python package out of its JSON: `python_table.py JSON` prints it."""

from __future__ import annotations

import math
import sys
from pathlib import Path

from failure import exit_with
from measure import OURS
from record import read
from table import NOTHING, Ratio, Results, digits, failures, listed, markdown, memory_table, preamble, shown

TITLES = {"sklearn": "scikit-learn", "intelex": "intelex"}
# Our SVC in Python, in all its settings.
PACKAGE = "python"
# How far the objective (relative) and the accuracy (points) may be below scikit-learn's before it is listed.
OBJECTIVE_SLACK = 1e-5
ACCURACY_SLACK = 0.1


def ratio(results: Results, set: str, peer: str, field: str) -> Ratio | None:
    """How many times faster our SVC in Python is than a peer, each in its best setting."""
    ours, theirs = results.best(set, PACKAGE, field), results.best(set, peer, field)
    if ours is None or ours[1].ended or theirs is None:
        return None
    return Ratio(theirs[1].seconds / ours[1].seconds, theirs[1].ended)


def mean(ratios: list[Ratio | None]) -> Ratio | None:
    """The geometric mean of the ratios that there are."""
    found = [one for one in ratios if one is not None]
    if not found:
        return None
    return Ratio(math.exp(sum(math.log(one.times) for one in found) / len(found)), any(one.at_least for one in found))


def best_cell(results: Results, set: str, peer: str, field: str) -> str:
    best = results.best(set, peer, field)
    return f"{best[1]} {best[0].removeprefix(peer).removeprefix('-')}".strip() if best else NOTHING


def timing_table(results: Results, field: str) -> str:
    head = ["set", "rows × columns" if field == "fit_seconds" else "test rows", "maxmargin in Python", *TITLES.values()]
    head += [f"vs {title}" for title in TITLES.values()]
    rows = []
    for set, about in results.content["sets"].items():
        size = f"{about['rows']:,} × {about['columns']}" if field == "fit_seconds" else f"{about['test_rows']:,}"
        cells = [best_cell(results, set, family, field) for family in (PACKAGE, *TITLES)]
        rows.append([set, size, *cells, *(shown(ratio(results, set, peer, field)) for peer in TITLES)])
    means = [mean([ratio(results, set, peer, field) for set in results.sets]) for peer in TITLES]
    rows.append(["**geometric mean**", "", "", *("" for _ in TITLES), *(shown(one, "**{}**") for one in means)])
    return markdown(head, rows)


def overhead(results: Results, set: str) -> tuple[float, float, float] | None:
    """Seconds of a fit by our program and in Python, and how much more the second are."""
    program, package = results.timing(set, OURS, "fit_seconds"), results.best(set, PACKAGE, "fit_seconds")
    if program is None or package is None:
        return None
    return program.seconds, package[1].seconds, package[1].seconds / program.seconds - 1


def overhead_table(results: Results) -> str:
    rows = []
    for set in results.sets:
        found = overhead(results, set)
        cells = [digits(found[0]), digits(found[1]), f"{100 * found[2]:+.1f} %"] if found else [NOTHING] * 3
        cells.append(f"{len(results.of(set, OURS))}")
        rows.append([set, *cells])
    return markdown(["set", "program", "Python", "more", "rounds"], rows)


def answer_table(results: Results) -> str:
    rows = []
    for set in results.sets:
        for method in [m for m in results.methods if m.startswith(PACKAGE)]:
            objective, accuracy = results.value(set, method, "objective"), results.value(set, method, "accuracy")
            if objective is None:
                continue
            theirs = (results.value(set, "sklearn", "objective"), results.value(set, "sklearn", "accuracy"))
            rows.append(
                [
                    set,
                    method,
                    f"{objective:.3f}",
                    shown(theirs[0] and (objective - theirs[0]) / abs(theirs[0]), "{:+.1e}"),
                    shown(results.value(set, method, "support_vectors"), "{:,}"),
                    shown(accuracy, "{:.4f}"),
                    shown(None if theirs[1] is None or accuracy is None else 100 * (accuracy - theirs[1]), "{:+.2f}"),
                ]
            )
    head = ["set", "setting", "objective", "vs scikit-learn", "SVs", "accuracy", "vs scikit-learn, points"]
    return markdown(head, rows)


def misses(results: Results) -> list[str]:
    """Answers worse than scikit-learn's, peers that are faster, and every failure."""
    found = []
    for set in results.sets:
        for peer, title in TITLES.items():
            for what, field in (("fit", "fit_seconds"), ("predict", "predict_seconds")):
                one = ratio(results, set, peer, field)
                if one is not None and one.times < 1.0:
                    found.append(f"{what}, {set}: {one} of {title}")
        for method in [m for m in results.methods if m.startswith(PACKAGE)]:
            for what, field, slack, scale in (
                ("objective", "objective", OBJECTIVE_SLACK, None),
                ("accuracy", "accuracy", ACCURACY_SLACK, 0.01),
            ):
                ours, theirs = results.value(set, method, field), results.value(set, "sklearn", field)
                if ours is not None and theirs and (ours - theirs) / (scale or abs(theirs)) < -slack:
                    found.append(f"{what}, {set}, {method}: {ours:g}, scikit-learn's is {theirs:g}")
    return found + failures(results)


def beside_peers(content: dict) -> Results:
    """The rounds in which the peers took turns with us, without those that our program and package go on with alone."""
    rounds = content["settings"]["repeats"]
    return Results({**content, "measurements": [one for one in content["measurements"] if one["round"] < rounds]})


def python_markdown(content: dict) -> str:
    results, settings = beside_peers(content), content["settings"]
    parts = [
        "# Our SVC in Python beside the peers'",
        preamble(content),
        f"Gaussian kernel, tolerance {settings['tolerance']:g}, {settings['memory_megabytes']} MB of cache. maxmargin "
        f"and intelex on {settings['threads']} threads, scikit-learn on one. Medians of interleaved rounds, their "
        "number in parentheses; the best setting of each counts. A ratio is how many times faster our SVC in Python is.",
        "## Fit, seconds",
        timing_table(results, "fit_seconds"),
        "## Predict, seconds",
        timing_table(results, "predict_seconds"),
        "## Beside our own program, seconds of a fit",
        "The program's report, without reading the file, beside the call of `fit` in Python, which checks its arrays and makes its "
        "attributes: medians, after the rounds with the peers in more rounds of these two.",
        overhead_table(Results(content)),
        "## Is it the same answer?",
        "The dual objective, summed over the machines, recomputed in double precision from the coefficients. Above zero is nearer to the "
        "maximum.",
        answer_table(results),
        "## Peak memory of the process, MiB",
        f"All but `{OURS}`, which is our program, include Python and the data as arrays.",
        memory_table(results),
        "## Slower or worse than a peer",
        listed(misses(results)),
        "## The sets",
        listed([f"{set}: {about['selection']}" for set, about in content["sets"].items()]),
    ]
    return "\n\n".join(parts) + "\n"


def write_python_table(content: dict, path: Path) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(python_markdown(content))


def main() -> None:
    print(python_markdown(read(Path(sys.argv[1]))), end="")


if __name__ == "__main__":
    exit_with(main)
