"""How the time of a fit grows with the number of rows: ours beside LIBSVM and scikit-learn-intelex. See README.md."""

from __future__ import annotations

import argparse
import math
from functools import partial
from statistics import median

from failure import Failure, exit_with
from measure import OURS, measure, methods
from options import add_common, settings_of
from plot import Series, growth_svg
from record import begin
from rounds import run_rounds
from sets import data_folder, prepared, problem

ROWS = [1_000, 2_000, 4_000, 8_000, 16_000, 32_000, 50_000]
QUICK_ROWS = [500, 1_000, 2_000]
# Prediction is not looked at here.
TEST_ROWS = 1_000
# Of intelex one setting, usually its best, is enough here; all four are in the kernel benchmark.
LEFT_OUT = ["intelex-f64", "intelex-f32-sparse", "intelex-f64-sparse"]
TITLES = {OURS: "maxmargin", "libsvm": "LIBSVM", "libsvm-omp": "LIBSVM, OpenMP", "sklearn": "scikit-learn"}


def exponent(points: list[tuple[int, float]]) -> tuple[float, float]:
    """The line log t = log a + e log n of least squares: (e, a)."""
    xs, ys = [math.log(n) for n, _ in points], [math.log(t) for _, t in points]
    x, y = sum(xs) / len(xs), sum(ys) / len(ys)
    slope = sum((u - x) * (v - y) for u, v in zip(xs, ys)) / sum((u - x) ** 2 for u in xs)
    return slope, math.exp(y - slope * x)


def series(content: dict, sizes: dict[str, int]) -> list[Series]:
    """For each method the median seconds at each size, and the fitted exponent."""
    found = []
    for method in dict.fromkeys(m["method"] for m in content["measurements"]):
        points = []
        for name, rows in sizes.items():
            measured = [m for m in content["measurements"] if m["set"] == name and m["method"] == method]
            if seconds := [m["fit_seconds"] for m in measured if "error" not in m]:
                points.append((rows, median(seconds)))
        if len(points) >= 2:
            slope, factor = exponent(points)
            title = TITLES.get(method) or method.replace("intelex-", "intelex ").replace("-", ", ")
            found.append(Series(title, points, slope, factor))
    return found


def markdown(content: dict, lines: list[Series], name: str) -> str:
    sizes = sorted({rows for line in lines for rows, _ in line.points})
    head = ["", *(f"{rows:,}" for rows in sizes), "exponent"]
    text = ["# How the time of a fit grows", ""]
    quick = "**A quick try on a few rows: no result.** " if content["settings"]["quick"] else ""
    text.append(
        f"{quick}{content['date']}, commit {content['commit']}. Seconds of fit on the first n rows of training "
        f"of {name} (medians), and the exponent e of the line t = a·nᵉ fitted by least squares to their logarithms."
    )
    text += ["", "| " + " | ".join(head) + " |", "|" + " --- |" * len(head)]
    for line in lines:
        seconds = dict(line.points)
        cells = [f"{seconds[rows]:.3f}" if rows in seconds else "–" for rows in sizes]
        text.append("| " + " | ".join([line.title, *cells, f"{line.exponent:.2f}"]) + " |")
    text += ["", "![seconds of fit against rows](growth.svg)", ""]
    return "\n".join(text)


def main() -> None:
    parser = argparse.ArgumentParser(prog="cargo xtask bench growth", description=__doc__)
    add_common(parser)
    parser.add_argument("--set", default="covtype", metavar="NAME", help="[default: covtype]")
    parser.add_argument("--repeats", type=int, default=3, metavar="N", help="rounds of a fit below 20 s [default: 3]")
    parser.add_argument("--peers", default="libsvm,intelex", metavar="NAMES", help="[default: %(default)s]")
    arguments = parser.parse_args()

    source = data_folder(arguments.data)
    asked = problem(arguments.set)
    settings = settings_of(arguments)
    repeats = 1 if arguments.quick else max(1, arguments.repeats)
    recorded = {**settings.recorded(), "repeats": repeats, "set": asked.name}
    record = begin("growth", recorded, arguments.out, arguments.quick, arguments.go_on)
    whole = prepared(asked.data, source).about["rows"]
    sizes = {f"{asked.name}-{rows}": rows for rows in (QUICK_ROWS if arguments.quick else ROWS) if rows <= whole}
    if len(sizes) < 2:
        raise Failure(f"{asked.name} has only {whole} rows", "name a larger set with --set")
    for name, rows in sizes.items():
        data = prepared(asked.data, source, (rows, TEST_ROWS))
        record.content["sets"][name] = {"c": asked.c, "gamma": asked.gamma, **data.about}
        taken = [method for method in methods(arguments.peers.split(","), data) if method not in LEFT_OUT]
        run_rounds(record, name, taken, repeats, partial(measure, problem=asked, prepared=data, settings=settings))
    lines = series(record.content, sizes)
    record.content["exponents"] = {line.title: line.exponent for line in lines}
    record.save()
    folder = record.path.parent
    (folder / "growth.md").write_text(markdown(record.content, lines, asked.name))
    (folder / "growth.svg").write_text(growth_svg(lines, f"Seconds of fit on the first n rows of {asked.name}"))
    print(f"written: {record.path}, growth.md and growth.svg beside it")


if __name__ == "__main__":
    exit_with(main)
