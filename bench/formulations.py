"""Regression and one class with a Gaussian kernel: ours beside LIBSVM. See README.md."""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from statistics import geometric_mean, median

from child import run
from failure import exit_with
from measure import OURS, Settings, failed, trained
from options import add_common, settings_of
from record import begin
from rounds import run_rounds
from sets import HERE, QUICK_ROWS, Prepared, data_folder, prepared

LIBSVM = "libsvm"
# What we want to reach: times faster than LIBSVM, on each set and in the geometric mean.
EACH, MEAN = 5.0, 20.0


@dataclass(frozen=True)
class Formulation:
    """A set, and what is trained on it: flags of ours and of LIBSVM."""

    name: str
    data: str
    gamma: float
    c: float | None = None
    epsilon: float | None = None
    nu: float | None = None

    @property
    def ours(self) -> list[str]:
        if self.c is None:
            return ["--task", "one-class", "--nu", repr(self.nu)]
        width = ["--epsilon", repr(self.epsilon)] if self.nu is None else ["--nu", repr(self.nu)]
        return ["--task", "regression", "-C", repr(self.c), *width]

    @property
    def theirs(self) -> str:
        if self.c is None:
            return f"-s 2 -n {self.nu!r}"
        return f"-s 3 -c {self.c!r} -p {self.epsilon!r}" if self.nu is None else f"-s 4 -c {self.c!r} -n {self.nu!r}"


FORMULATIONS = [
    Formulation("abalone", "abalone", 0.5, c=10, epsilon=0.1),
    Formulation("abalone-nu", "abalone", 0.5, c=10, nu=0.3),
    Formulation("cpusmall", "cpusmall", 1, c=10, epsilon=0.5),
    Formulation("cpusmall-nu", "cpusmall", 1, c=10, nu=0.3),
    Formulation("cadata", "cadata", 2, c=10, epsilon=0.1),
    Formulation("cadata-nu", "cadata", 2, c=10, nu=0.3),
    Formulation("w8a-one-class", "w8a", 0.05, nu=0.05),
    Formulation("shuttle-one-class", "shuttle", 1, nu=0.05),
]


def measure(method: str, check: bool, formulation: Formulation, data: Prepared, settings: Settings) -> dict:
    """One fit. The objective is what the dual maximises; LIBSVM's is recomputed when `check` is set."""
    if method == OURS:
        with tempfile.TemporaryDirectory() as scratch:
            model = str(Path(scratch) / "model.mm")
            command = [str(settings.program), "train", str(data.train_text), "--format", "libsvm", "--kernel", "rbf"]
            command += ["--gamma", repr(formulation.gamma), *formulation.ours, "--tolerance", repr(settings.tolerance)]
            command += ["--threads", str(settings.threads), "--memory", f"{settings.memory_megabytes}M", "--json", "-o", model]
            measured = trained(command, settings)
            if check and "error" not in measured:
                finished = run([str(settings.program), "verify", model, str(data.train_text)], settings.limit_seconds)
                measured["verify_exit_code"] = finished.code
                measured["objective"] = measured["certified_objective"] + of_width(formulation, measured, data)
            return measured
    command = [sys.executable, str(HERE / "formulation_peer.py"), str(data.folder), formulation.theirs]
    command += [repr(formulation.gamma), repr(settings.tolerance), str(settings.memory_megabytes)]
    finished = run(command + (["check"] if check else []), settings.limit_seconds, {"OMP_NUM_THREADS": "1"})
    return failed(finished, settings) or {"threads": 1, **json.loads(finished.output.splitlines()[-1])}


def of_width(formulation: Formulation, measured: dict, data: Prepared) -> float:
    """What our certificate, at the width that nu came to, lacks of the dual of nu: ε C ν n."""
    if formulation.c is None or formulation.nu is None:
        return 0.0
    return measured["epsilon"] * formulation.c * formulation.nu * data.about["rows"]


def table(content: dict) -> str:
    """The Markdown of a record."""
    lines = [
        "# Regression and one class, beside LIBSVM",
        "",
        f"{content['date'][:10]}, commit {content['commit'][:12] if content['commit'] else 'unknown'}, "
        f"{content['machine']['processor']}, {content['machine']['cores']} cores. Fit in seconds, the median of the rounds in parentheses; "
        f"ours on {content['settings']['threads']} threads, LIBSVM {content['versions']['libsvm-official']} on one. "
        "Gaussian kernel, tolerance 1e-3.",
        "",
        "| set | rows × columns | ours | LIBSVM | ratio | objective, ours above LIBSVM's | support vectors |",
        "| --- | --- | --- | --- | --- | --- | --- |",
    ]
    ratios: dict[str, float] = {}
    for name, about in content["sets"].items():
        found = {
            method: [m for m in content["measurements"] if m["set"] == name and m["method"] == method and "error" not in m]
            for method in (OURS, LIBSVM)
        }
        if not all(found.values()):
            lines.append(f"| {name} | {about['rows']:,} × {about['columns']} | – | – | – | – | – |")
            continue
        seconds = {method: median(m["fit_seconds"] for m in list) for method, list in found.items()}
        ratio = seconds[LIBSVM] / seconds[OURS]
        ratios[name] = ratio
        own, their = found[OURS][0]["objective"], found[LIBSVM][0]["objective"]
        above = (own - their) / max(abs(their), 1e-12)
        shown = {method: f"{value:.3g} ({len(found[method])})" for method, value in seconds.items()}
        lines.append(
            f"| {name} | {about['rows']:,} × {about['columns']} | {shown[OURS]} | {shown[LIBSVM]} | {ratio:.2f}× | {above:.1e} | "
            f"{found[LIBSVM][0]['support_vectors']:,} |"
        )
    if ratios:
        by_set: dict[str, list[float]] = {}
        for name, ratio in ratios.items():
            by_set.setdefault(next(f.data for f in FORMULATIONS if f.name == name), []).append(ratio)
        of_sets = geometric_mean([geometric_mean(own) for own in by_set.values()])
        lines += [
            "",
            f"Geometric mean over the {len(by_set)} sets, each with the mean of its formulations: {of_sets:.2f}× (wanted: {MEAN:g}×); "
            f"over the {len(ratios)} rows of the table: {geometric_mean(list(ratios.values())):.2f}×. "
            f"Lowest: {min(ratios.values()):.2f}× (wanted: {EACH:g}×).",
        ]
    return "\n".join(lines) + "\n"


def main() -> None:
    parser = argparse.ArgumentParser(prog="cargo xtask bench formulations", description=__doc__)
    add_common(parser)
    parser.add_argument("--sets", metavar="NAMES", help="such as abalone,cadata-nu [default: all]")
    parser.add_argument("--repeats", type=int, default=3, metavar="N", help="rounds of a fit below 20 s [default: 3]")
    arguments = parser.parse_args()

    source, settings = data_folder(arguments.data), settings_of(arguments)
    names = arguments.sets.split(",") if arguments.sets else [formulation.name for formulation in FORMULATIONS]
    repeats = 1 if arguments.quick else max(1, arguments.repeats)
    recorded = {**settings.recorded(), "repeats": repeats}
    record = begin("formulations", recorded, arguments.out, arguments.quick, arguments.go_on)
    path = record.path.with_name("formulations.md")
    for formulation in (formulation for formulation in FORMULATIONS if formulation.name in names):
        data = prepared(formulation.data, source, QUICK_ROWS if arguments.quick else None)
        flags = {"ours": " ".join(formulation.ours), "gamma": formulation.gamma}
        record.content["sets"][formulation.name] = {**flags, **data.about}
        one = partial(measure, formulation=formulation, data=data, settings=settings)
        run_rounds(record, formulation.name, [OURS, LIBSVM], repeats, one)
        path.write_text(table(record.content))
    print(f"written: {record.path} and {path}")


if __name__ == "__main__":
    exit_with(main)
