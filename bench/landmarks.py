"""Machines on landmarks beside the exact machine: time, proved gap and accuracy. See README.md."""

from __future__ import annotations

import argparse
import json
import tempfile
from pathlib import Path

from child import run
from failure import exit_with
from measure import Settings, failed
from options import add_common, settings_of
from record import begin
from sets import Prepared, Problem, data_folder, prepared, problem

COUNTS = [500, 1_000, 2_000, 4_000]
QUICK_COUNTS = [50, 100]
QUICK_ROWS = (2_000, 1_000)
EXACT = "exact"


def fit(landmarks: int | None, problem: Problem, data: Prepared, settings: Settings) -> dict:
    """Trains on landmarks, or exactly: seconds of the fit with its proof, the objective, and the accuracy on the test part."""
    with tempfile.TemporaryDirectory() as scratch:
        command = [str(settings.program), "train", str(data.train_text), "--format", "libsvm", "--kernel", "rbf"]
        command += ["--gamma", repr(problem.gamma), "-C", repr(problem.c), "--test", str(data.test_text)]
        command += ["--threads", str(settings.threads), "--memory", f"{settings.memory_megabytes}M", "--json"]
        command += ["-o", str(Path(scratch) / "model.mm")]
        command += ["--landmarks", str(landmarks), "--prove"] if landmarks else []
        finished = run(command, settings.limit_seconds)
    if error := failed(finished, settings):
        return error
    report = json.loads(finished.output)
    return {
        "fit_seconds": report["seconds"]["train"],
        "command_seconds": finished.seconds,
        "peak_bytes": finished.peak_bytes,
        "stop": report["stop"],
        "objective": report["objective"]["primal"],
        "proved_gap": (report.get("landmarks") or {}).get("proved_gap"),
        "vectors": report["support_vectors"]["total"],
        "accuracy": report["test"]["accuracy"],
    }


def markdown(content: dict) -> str:
    """The page: a table for each set, the exact machine first."""
    quick = "**A quick try on a few rows: no result.** " if content["settings"]["quick"] else ""
    text = ["# Machines on landmarks", ""]
    text.append(
        f"{quick}{content['date']}, commit {content['commit']}, {content['settings']['threads']} threads. Each fit once. *Proved* is the "
        "relative gap to the exact machine that the model proves of itself (LM.1), *true* how far its objective is above that of the "
        "exact machine, relative to itself. Seconds are those of the fit, with its proof. Vectors: landmarks, or support vectors."
    )
    for name, about in content["sets"].items():
        of_set = [m for m in content["measurements"] if m["set"] == name]
        exact = next((m for m in of_set if m["method"] == EXACT and "error" not in m), None)
        text += ["", f"## {name}: {about['rows']:,} rows, C = {about['c']:g}, gamma = {about['gamma']:.4g}", ""]
        text += ["| machine | vectors | seconds | objective | proved | true | test accuracy |", "|" + " --- |" * 7]
        for found in of_set:
            if "error" in found:
                text.append(f"| {found['method']} | – | {found['error']} | – | – | – | – |")
                continue
            proved = "–" if found["proved_gap"] is None else f"{100 * found['proved_gap']:.2f} %"
            true = "–"
            if exact and found is not exact:
                true = f"{100 * (found['objective'] - exact['objective']) / found['objective']:.2f} %"
            cells = [found["method"], f"{found['vectors']:,}", f"{found['fit_seconds']:.2f}", f"{found['objective']:.1f}"]
            text.append("| " + " | ".join([*cells, proved, true, f"{100 * found['accuracy']:.2f} %"]) + " |")
    return "\n".join(text) + "\n"


def main() -> None:
    parser = argparse.ArgumentParser(prog="cargo xtask bench landmarks", description=__doc__)
    add_common(parser)
    parser.add_argument("--sets", default="covtype,ijcnn1,a9a", metavar="NAMES", help="[default: %(default)s]")
    parser.add_argument("--rows", type=int, metavar="N", help="the first rows of training alone [default: all]")
    parser.add_argument("--counts", metavar="NUMBERS", help="how many landmarks [default: 500,1000,2000,4000]")
    parser.add_argument("--memory", type=int, default=8000, metavar="MB", help="[default: %(default)s]")
    arguments = parser.parse_args()

    source = data_folder(arguments.data)
    common = settings_of(arguments)
    settings = Settings(common.program, common.threads, common.tolerance, arguments.memory, common.limit_seconds)
    counts = QUICK_COUNTS if arguments.quick else COUNTS
    counts = [int(count) for count in arguments.counts.split(",")] if arguments.counts else counts
    recorded = {**settings.recorded(), "counts": counts, "rows": arguments.rows}
    record = begin("landmarks", recorded, arguments.out, arguments.quick, arguments.go_on)
    for name in arguments.sets.split(","):
        asked = problem(name.strip())
        cut = QUICK_ROWS if arguments.quick else (arguments.rows, arguments.rows // 5) if arguments.rows else None
        data = prepared(asked.data, source, cut)
        record.content["sets"][asked.name] = {"c": asked.c, "gamma": asked.gamma, **data.about}
        for landmarks in [None, *counts]:
            method = f"{landmarks} landmarks" if landmarks else EXACT
            if not record.of(set=asked.name, method=method):
                print(f"{asked.name}: {method} ...", flush=True)
                record.add({"set": asked.name, "method": method, "round": 0, **fit(landmarks, asked, data, settings)})
    page = record.path.with_name("landmarks.md")
    page.write_text(markdown(record.content))
    print(f"written: {record.path} and {page}")


if __name__ == "__main__":
    exit_with(main)
