"""Makes the Markdown of the kernel benchmark out of its JSON: `table.py JSON` prints it."""

from __future__ import annotations

import math
import sys
from dataclasses import dataclass
from pathlib import Path
from statistics import median

from failure import exit_with
from measure import OURS
from record import read
from rounds import family

# What we want to reach: times faster than LIBSVM and than the best setting of intelex.
FIT_EACH = {"libsvm": 5.0, "intelex": 2.0}
FIT_MEAN = {"libsvm": 20.0, "intelex": 4.0}
PREDICT_MEAN = {"libsvm": 20.0, "intelex": 1.5}
# How far below LIBSVM's the objective (relative) and the accuracy (points) may be before it is listed.
OBJECTIVE_SLACK = 1e-5
ACCURACY_SLACK = 0.1

TITLES = {"libsvm": "LIBSVM", "sklearn": "scikit-learn", "intelex": "intelex"}
NOTHING = "–"
# What a peer that was ended at the time limit counts with the limit for.
LIMITED = ("fit_seconds", "command_seconds")


@dataclass(frozen=True)
class Timing:
    """Seconds of one method: the median of its rounds, or the limit at which it was ended."""

    seconds: float
    rounds: int
    ended: bool = False

    def __str__(self) -> str:
        return f"> {digits(self.seconds)}" if self.ended else f"{digits(self.seconds)} ({self.rounds})"


@dataclass(frozen=True)
class Ratio:
    """How many times faster we are; at least so many when the peer was ended."""

    times: float
    at_least: bool = False

    def __str__(self) -> str:
        return f"{'> ' if self.at_least else ''}{digits(self.times)}×"


class Results:
    """A record with the questions that the tables ask."""

    def __init__(self, content: dict) -> None:
        self.content = content
        self.sets: list[str] = list(content["sets"])
        self.methods = list(dict.fromkeys(m["method"] for m in content["measurements"]))

    def of(self, set: str, method: str) -> list[dict]:
        return [m for m in self.content["measurements"] if m["set"] == set and m["method"] == method]

    def timing(self, set: str, method: str, field: str) -> Timing | None:
        measured = self.of(set, method)
        seconds = [m[field] for m in measured if m.get(field) is not None and "error" not in m]
        if seconds:
            return Timing(median(seconds), len(seconds))
        if field in LIMITED and any(m.get("timed_out") for m in measured):
            return Timing(self.content["settings"]["limit_seconds"], 1, ended=True)
        # A peer that did not come where it should takes longer than it was tried for.
        tried = max((m.get("at_least_seconds", 0.0) for m in measured), default=0.0)
        return Timing(tried, 1, ended=True) if field == "fit_seconds" and tried > 0.0 else None

    def best(self, set: str, peer: str, field: str) -> tuple[str, Timing] | None:
        """The fastest setting of a peer, of those that came to an end where there are any."""
        found = [(m, t) for m in self.methods if family(m) == peer and (t := self.timing(set, m, field))]
        return min(found, key=lambda pair: (pair[1].ended, pair[1].seconds), default=None)

    def ratio(self, set: str, peer: str, field: str) -> Ratio | None:
        ours, theirs = self.timing(set, OURS, field), self.best(set, peer, field)
        if ours is None or ours.ended or theirs is None:
            return None
        return Ratio(theirs[1].seconds / ours.seconds, theirs[1].ended)

    def mean(self, peer: str, field: str, sets: list[str] | None = None) -> tuple[Ratio, int] | None:
        """The geometric mean of the ratios, of some sets or of all, and how many there are."""
        ratios = [r for set in (self.sets if sets is None else sets) if (r := self.ratio(set, peer, field))]
        if not ratios:
            return None
        times = math.exp(sum(math.log(r.times) for r in ratios) / len(ratios))
        return Ratio(times, any(r.at_least for r in ratios)), len(ratios)

    def value(self, set: str, method: str, field: str) -> float | None:
        """A number that does not change from round to round."""
        return next((m[field] for m in self.of(set, method) if m.get(field) is not None), None)

    def peak(self, set: str, method: str) -> int | None:
        return max((m["peak_bytes"] for m in self.of(set, method) if "peak_bytes" in m), default=None)

    def reference(self) -> str | None:
        """The setting of LIBSVM that objectives and accuracies are compared with."""
        return next((m for m in self.methods if family(m) == "libsvm"), None)

    def objective_difference(self, set: str, method: str) -> float | None:
        """(ours − LIBSVM's) / LIBSVM's: above zero is nearer to the maximum."""
        reference = self.reference()
        ours, theirs = self.value(set, method, "objective"), reference and self.value(set, reference, "objective")
        return None if ours is None or not theirs else (ours - theirs) / abs(theirs)

    def accuracy_difference(self, set: str, method: str) -> float | None:
        """Points of a hundred above LIBSVM's."""
        reference = self.reference()
        ours, theirs = self.value(set, method, "accuracy"), reference and self.value(set, reference, "accuracy")
        return None if ours is None or theirs is None else 100 * (ours - theirs)


def digits(value: float) -> str:
    """Three digits, never an exponent."""
    if value >= 100:
        return f"{value:.0f}"
    return f"{value:.1f}" if value >= 10 else f"{value:.2f}" if value >= 1 else f"{value:.3f}"


def shown(value: object, pattern: str = "{}") -> str:
    return NOTHING if value is None else pattern.format(value)


def markdown(head: list[str], rows: list[list[str]]) -> str:
    lines = [head, ["---"] * len(head), *rows]
    return "\n".join("| " + " | ".join(cells) + " |" for cells in lines)


def timing_table(results: Results, field: str) -> str:
    if field == "fit_seconds":
        head = ["set", "rows × columns", "C, gamma"]
        pattern = "{rows:,} × {columns}|{c:g}, {gamma:.4g}"
    else:
        head, pattern = ["set", "test rows"], "{test_rows:,}"
    lead = {set: [set, *pattern.format(**about).split("|")] for set, about in results.content["sets"].items()}
    return comparison(results, field, head, lead, TITLES, list(FIT_EACH))


def comparison(
    results: Results,
    field: str,
    head: list[str],
    lead: dict[str, list[str]],
    titles: dict[str, str],
    against: list[str],
) -> str:
    """Seconds of ours and of the best setting of each peer, a row for each set of `lead`, which has its first cells;
    then our ratio to the peers of `against`, and their geometric means.
    """
    peers = [peer for peer in titles if any(results.best(set, peer, field) for set in lead)]
    compared = [peer for peer in against if peer in peers]
    head = [*head, OURS, *(titles[peer] for peer in peers), *(f"vs {titles[peer]}" for peer in compared)]
    rows = []
    for set, first in lead.items():
        cells = [*first, shown(results.timing(set, OURS, field))]
        for peer in peers:
            best = results.best(set, peer, field)
            setting = best[0].removeprefix(peer).removeprefix("-") if best else ""
            cells.append((f"{best[1]} {setting}".strip()) if best else NOTHING)
        rows.append(cells + [shown(results.ratio(set, peer, field)) for peer in compared])
    means = [mean[0] if (mean := results.mean(peer, field, list(lead))) else None for peer in compared]
    blanks = [""] * (len(head) - len(compared) - 1)
    rows.append(["**geometric mean**", *blanks, *(shown(mean, "**{}**") for mean in means)])
    return markdown(head, rows)


def intelex_table(results: Results) -> str | None:
    """Every setting of intelex, since only the best is in the first table."""
    settings = [m for m in results.methods if family(m) == "intelex"]
    if not settings:
        return None
    head = [
        "set",
        *(f"{m.removeprefix('intelex-')}" for m in settings),
        *(f"objective {m.removeprefix('intelex-')}" for m in settings),
    ]
    rows = []
    for set in results.sets:
        seconds = [shown(results.timing(set, m, "fit_seconds")) for m in settings]
        rows.append([set, *seconds, *(shown(results.objective_difference(set, m), "{:+.1e}") for m in settings)])
    return markdown(head, rows)


def check_table(results: Results) -> str:
    reference = results.reference()
    head = [
        "set",
        "objective",
        "certified − recomputed",
        "vs LIBSVM",
        "SVs",
        "SVs LIBSVM",
        "accuracy",
        "vs LIBSVM, points",
        "verify",
    ]
    rows = []
    for set in results.sets:
        objective, certified = results.value(set, OURS, "objective"), results.value(set, OURS, "certified_objective")
        difference = None if objective is None or certified is None else (certified - objective) / abs(objective)
        code = results.value(set, OURS, "verify_exit_code")
        rows.append(
            [
                set,
                shown(objective, "{:.3f}"),
                shown(difference, "{:+.1e}"),
                shown(results.objective_difference(set, OURS), "{:+.1e}"),
                shown(results.value(set, OURS, "support_vectors"), "{:,}"),
                shown(reference and results.value(set, reference, "support_vectors"), "{:,}"),
                shown(results.value(set, OURS, "accuracy"), "{:.4f}"),
                shown(results.accuracy_difference(set, OURS), "{:+.2f}"),
                NOTHING if code is None else "holds" if code == 0 else f"fails ({code})",
            ]
        )
    return markdown(head, rows)


def memory_table(results: Results) -> str:
    rows = []
    for set in results.sets:
        peaks = [results.peak(set, method) for method in results.methods]
        rows.append([set, *(shown(peak and peak / 2**20, "{:,.0f}") for peak in peaks)])
    return markdown(["set", *results.methods], rows)


def slow(
    results: Results,
    what: str,
    field: str,
    sets: list[str],
    titles: dict[str, str],
    each: dict[str, float],
    mean: dict[str, float],
) -> list[str]:
    """The ratios to the peers of `each` and `mean` that are below their targets, or could not be judged."""
    found = []
    for peer, target in each.items():
        for set in sets:
            ratio = results.ratio(set, peer, field)
            if ratio is None:
                found.append(f"{what}, {set}: no ratio to {titles[peer]} was measured (target {target:g}×)")
            elif ratio.times < target:
                found.append(f"{what}, {set}: {ratio} of {titles[peer]}, target {target:g}×")
    for peer, target in mean.items():
        reached = results.mean(peer, field, sets)
        if reached is None:
            found.append(f"{what}, geometric mean: no ratio to {titles[peer]} was measured (target {target:g}×)")
        elif reached[0].times < target:
            found.append(
                f"{what}, geometric mean of {reached[1]} sets: {reached[0]} of {titles[peer]}, target {target:g}×"
            )
    return found


def misses(results: Results) -> list[str]:
    """Every target that was not reached or could not be judged, and every failure."""
    found = slow(results, "fit", "fit_seconds", results.sets, TITLES, FIT_EACH, FIT_MEAN)
    found += slow(results, "predict", "predict_seconds", results.sets, TITLES, {}, PREDICT_MEAN)
    for set in results.sets:
        objective, accuracy = results.objective_difference(set, OURS), results.accuracy_difference(set, OURS)
        if objective is not None and objective < -OBJECTIVE_SLACK:
            found.append(f"objective, {set}: {objective:+.1e} relative to LIBSVM")
        if accuracy is not None and accuracy < -ACCURACY_SLACK:
            found.append(f"accuracy, {set}: {accuracy:+.2f} points against LIBSVM")
        code = results.value(set, OURS, "verify_exit_code")
        if code != 0:
            found.append(f"verify, {set}: " + ("not run" if code is None else f"exit code {code}"))
        stops = {m["stop"] for m in results.of(set, OURS) if "stop" in m} - {"converged"}
        found += [f"stop, {set}: {stop}" for stop in sorted(stops)]
    return found + failures(results)


def preamble(content: dict) -> str:
    """When, of which commit and where a run was made."""
    machine = content["machine"]
    versions = ", ".join(f"{name} {version}" for name, version in content["versions"].items())
    changed = " with changes" if content["changed_since_commit"] else ""
    quick = "**A quick try on a few rows: no result.** " if content["settings"]["quick"] else ""
    return (
        f"{quick}{content['date']}, commit {content['commit']}{changed}. {machine['processor']}, "
        f"{machine['cores']} cores. {versions}."
    )


def listed(lines: list[str]) -> str:
    return "\n".join(f"- {line}" for line in lines) if lines else "None."


def failures(results: Results) -> list[str]:
    """Every measurement that did not end well."""
    return [f"failed, {m['set']}, {m['method']}: {m['error']}" for m in results.content["measurements"] if "error" in m]


def kernel_markdown(content: dict) -> str:
    results = Results(content)
    settings = content["settings"]
    missed = misses(results)
    intelex = intelex_table(results)
    threads = settings["threads"]
    parts = [
        "# Kernel machines beside the peers",
        preamble(content),
        f"Gaussian kernel, tolerance {settings['tolerance']:g}, {settings['memory_megabytes']} MB of cache. maxmargin "
        f"and intelex on {threads} threads, LIBSVM and scikit-learn on one (`omp`: LIBSVM on {threads}). Medians of "
        "interleaved rounds, their number in parentheses; the best setting of each peer counts. A ratio is how many "
        "times faster maxmargin is.",
        "## Fit, seconds",
        timing_table(results, "fit_seconds"),
        "## Predict, seconds",
        timing_table(results, "predict_seconds"),
        "## Is it the same answer?",
        "The objective is the dual one, summed over the machines, recomputed in double precision from the "
        "coefficients. Above zero is nearer to the maximum.",
        check_table(results),
        *(
            ["## intelex in all its settings", "Seconds of fit, and the objective relative to LIBSVM's.", intelex]
            if intelex
            else []
        ),
        "## Peak memory of the process, MiB",
        "The peers' include Python and the data as arrays.",
        memory_table(results),
        "## Targets missed",
        listed(missed),
        "## The sets",
        listed([f"{set}: {about['selection']}" for set, about in content["sets"].items()]),
    ]
    return "\n\n".join(parts) + "\n"


def write_kernel_table(content: dict, path: Path) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(kernel_markdown(content))


def main() -> None:
    print(kernel_markdown(read(Path(sys.argv[1]))), end="")


if __name__ == "__main__":
    exit_with(main)
