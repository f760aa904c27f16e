"""Makes the Markdown of the linear benchmark out of its JSON: `linear_table.py JSON` prints it."""

from __future__ import annotations

import sys
from pathlib import Path

from failure import exit_with
from linear_problems import REFERENCE_GAP, TARGETS
from measure import OURS
from record import read
from rounds import family
from table import Results, Timing, comparison, failures, listed, markdown, preamble, shown, slow

TITLES = {"liblinear": "LIBLINEAR", "multicore": "multi-core", "sklearn": "scikit-learn", "snapml": "Snap ML"}

# What we want to reach, times faster: in the geometric mean, and on each set.
FIT_MEAN = {"liblinear": 2.0, "multicore": 1.3}
FIT_EACH = {"liblinear": 0.9, "multicore": 0.9}
COMMAND_MEAN = {"liblinear": 5.0}
COMMAND_EACH = {"liblinear": 1.0}
DENSE_EACH = {"sklearn": 5.0}
# Of scikit-learn's settings those that are LIBLINEAR's code.
COPY = "sklearn-svc"
# How far above the least objective of all peers ours may be at the tight gap, and below the best accuracy (points).
OBJECTIVE_SLACK = 1e-6
ACCURACY_SLACK = 0.1


class LinearResults(Results):
    """A record of the linear benchmark: its sets are a data set, a loss and a gap each."""

    def about(self, set: str) -> dict:
        return self.content["sets"][set]

    def part(self, part: str, target: str | None = None) -> list[str]:
        """The sets of a part, and of one gap."""
        return [
            set for set in self.sets if self.about(set)["part"] == part and target in (None, self.about(set)["target"])
        ]

    def best(self, set: str, peer: str, field: str) -> tuple[str, Timing] | None:
        """The fastest setting of a peer. LIBLINEAR's dual solvers end after 300 passes; where none of its settings gets
        there, scikit-learn's copy of it, which goes on, stands in for it.
        """
        found = super().best(set, peer, field)
        if peer != "liblinear" or (found and not found[1].ended):
            return found
        copies = [(m, t) for m in self.methods if m.startswith(COPY) and (t := self.timing(set, m, field))]
        return min((pair for pair in copies if not pair[1].ended), key=lambda pair: pair[1].seconds, default=found)

    def lead(self, sets: list[str]) -> dict[str, list[str]]:
        """The first cells of a row."""
        found = {}
        for set in sets:
            about = self.about(set)
            classes = f", {about['classes']} classes" if about["classes"] > 2 else ""
            loss = f"{about['loss']} {about['target']}" if about["part"] == "dense" else about["loss"]
            found[set] = [about["data"], f"{about['rows']:,} × {about['columns']:,}{classes}", loss.strip()]
        return found

    def least_objective(self, set: str) -> float | None:
        """The least objective of a peer that came within the gap."""
        values = [self.value(set, method, "objective") for method in self.methods if method != OURS]
        return min((value for value in values if value is not None), default=None)

    def above_peers(self, set: str) -> float | None:
        """(ours − the least of the peers') / the least: below zero is nearer to the minimum."""
        ours, least = self.value(set, OURS, "objective"), self.least_objective(set)
        return None if ours is None or not least else (ours - least) / abs(least)

    def accuracy_below(self, set: str) -> float | None:
        """Points of a hundred by which our accuracy is below that of the best peer."""
        ours = self.value(set, OURS, "accuracy")
        theirs = [self.value(set, method, "accuracy") for method in self.methods if method != OURS]
        best = max((value for value in theirs if value is not None), default=None)
        return None if ours is None or best is None else 100 * (best - ours)


def times(results: LinearResults, sets: list[str], field: str, against: list[str]) -> str:
    head = ["set", "rows × columns", "loss"]
    return comparison(results, field, head, results.lead(sets), TITLES, against)


def check_table(results: LinearResults) -> str:
    """Where each fit came to: ours, and the best setting of each peer."""
    head = ["set", "certified gap", "above the bound", *(TITLES.values()), "ours − least of the peers'", "accuracy"]
    rows = []
    for set in results.part("fit") + results.part("dense"):
        cells = [set]
        cells.append(shown(results.value(set, OURS, "relative_gap"), "{:.1e}"))
        cells.append(shown(results.value(set, OURS, "suboptimality"), "{:.1e}"))
        for peer in TITLES:
            best = results.best(set, peer, "fit_seconds")
            cells.append(shown(best and results.value(set, best[0], "suboptimality"), "{:.1e}"))
        cells.append(shown(results.above_peers(set), "{:+.1e}"))
        cells.append(shown(results.value(set, OURS, "accuracy"), "{:.4f}"))
        rows.append(cells)
    return markdown(head, rows)


def memory_table(results: LinearResults) -> str:
    """Ours and the largest of each peer's settings."""
    peers = [peer for peer in TITLES if any(family(method) == peer for method in results.methods)]
    rows = []
    for set in results.sets:
        cells = [set, shown(megabytes(results.peak(set, OURS)), "{:,.0f}")]
        for peer in peers:
            peaks = [results.peak(set, method) for method in results.methods if family(method) == peer]
            cells.append(shown(megabytes(max((peak for peak in peaks if peak), default=None)), "{:,.0f}"))
        rows.append(cells)
    return markdown(["set", OURS, *(TITLES[peer] for peer in peers)], rows)


def megabytes(peak: int | None) -> float | None:
    return peak and peak / 2**20


def short_of(results: LinearResults, set: str) -> list[str]:
    """The fits of peers that came within the gap on the ladder but not when timed; they count all the same."""
    target = TARGETS[results.about(set)["target"]]
    return [
        f"gap, {set}, {m['method']}: {m['suboptimality']:.1e} in round {m['round'] + 1}, counted all the same"
        for m in results.content["measurements"]
        if m["set"] == set and m["method"] != OURS and m.get("suboptimality", 0.0) > target
    ]


def misses(results: LinearResults) -> list[str]:
    """Every target that was not reached or could not be judged, and every failure."""
    found = [
        f"bound, {name}: known to {reference['relative_gap']:.1e} only"
        for name, reference in results.content.get("references", {}).items()
        if not reference["relative_gap"] <= REFERENCE_GAP
    ]
    for target in TARGETS:
        sets = results.part("fit", target)
        if sets:
            found += slow(results, f"fit to {target}", "fit_seconds", sets, TITLES, FIT_EACH, FIT_MEAN)
    if commands := results.part("command"):
        found += slow(results, "command", "command_seconds", commands, TITLES, COMMAND_EACH, COMMAND_MEAN)
    if dense := results.part("dense"):
        found += slow(results, "dense", "fit_seconds", dense, TITLES, DENSE_EACH, {})
    for set in results.part("fit") + dense:
        if results.about(set)["loss"] == "lda":
            below = results.accuracy_below(set)
            if below is None or not below <= ACCURACY_SLACK:
                found.append(f"accuracy, {set}: {shown(below, '{:+.2f}')} points below the best of the peers")
            continue
        found += short_of(results, set)
        above = results.above_peers(set)
        if results.value(set, OURS, "objective") is None:
            found.append(f"objective, {set}: not recomputed")
        elif above is not None and TARGETS[results.about(set)["target"]] <= OBJECTIVE_SLACK < above:
            found.append(f"objective, {set}: {above:+.1e} relative to the least of the peers'")
        stops = {m["stop"] for m in results.of(set, OURS) if "stop" in m} - {"converged"}
        found += [f"stop, {set}: {stop}" for stop in sorted(stops)]
    return found + failures(results)


def linear_markdown(content: dict) -> str:
    results = LinearResults(content)
    settings = content["settings"]
    parts = [
        "# Linear machines beside the peers",
        preamble(content),
        f"C = 1, no bias. maxmargin, the multi-core fork, scikit-learn and Snap ML on {settings['threads']} threads, "
        "LIBLINEAR on one. Medians of interleaved rounds, their number in parentheses; the best setting of each peer "
        "counts. A ratio is how many times faster maxmargin is.",
        "Every fit goes to the same relative gap. Ours certifies it (primal − dual). Of a peer only the primal "
        "objective P(w) is known: recomputed in double precision from its weights, it has to be within the gap of P*, "
        f"the lower bound of our certificate at {REFERENCE_GAP:.0e}. This is the least that its gap can be, and so "
        "favours the peer. Each peer runs a ladder of its own tolerance, two steps a decade, and the fastest fit that "
        "is near enough counts. A peer that does not get there, at any tolerance or within "
        f"{settings['climb_seconds']:g} s, counts with its longest fit, marked `>`; for LIBLINEAR, whose dual solvers "
        "end after 300 passes, scikit-learn's copy of it stands in there (`sklearn-svc`). With several classes P is "
        "the sum over the machines of one class against the rest; `joint` is one machine over all classes.",
    ]
    for target in TARGETS:
        if sets := results.part("fit", target):
            parts += [f"## Fit to a gap of {target}, seconds", times(results, sets, "fit_seconds", list(FIT_MEAN))]
    if sets := results.part("command"):
        parts += [
            f"## The whole command to a gap of {results.about(sets[0])['target']}, seconds",
            "Reading the text, fit, and saving the model: the wall time of the process, the file in the page cache. "
            "LIBLINEAR and its fork with the tolerance found above.",
            times(results, sets, "command_seconds", list(FIT_MEAN)),
        ]
    if sets := results.part("dense"):
        parts += [
            "## Discriminant analysis and logistic regression on full arrays, seconds of fit",
            "scikit-learn with each of its solvers, in single (f32) and double (f64) precision.",
            times(results, sets, "fit_seconds", list(DENSE_EACH)),
        ]
    parts += [
        "## Is it the same answer?",
        "(P(w) − P*) / P* of ours and of the best setting of each peer; the gap that we certify, of the worst machine; "
        "and our objective relative to the least of the peers', below zero being nearer to the minimum.",
        check_table(results),
        "## Peak memory of the process, MiB",
        "The peers' of a fit include Python and the data as arrays; those of a command are the program's.",
        memory_table(results),
        "## Targets missed",
        listed(misses(results)),
        "## The sets",
        listed([f"{data}: {about}" for data, about in selections(results).items()]),
    ]
    return "\n\n".join(parts) + "\n"


def selections(results: LinearResults) -> dict[str, str]:
    return {results.about(set)["data"]: results.about(set)["selection"] for set in results.sets}


def main() -> None:
    print(linear_markdown(read(Path(sys.argv[1]))), end="")


if __name__ == "__main__":
    exit_with(main)
