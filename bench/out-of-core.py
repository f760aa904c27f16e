"""Data larger than memory: a generated file of text is trained on under --memory, by sgd and exactly. See README.md."""

from __future__ import annotations

import argparse
import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from failure import Failure, exit_with
from record import begin

GIB, MIB = 1 << 30, 1 << 20
# A row of `generate text` takes about so many bytes of text.
ROW_BYTES = 637
COLUMNS = 100_000
# What must stay free on the disk.
LEAST_FREE = 15 * GIB


def size(text: str) -> int:
    """A number of bytes such as 10G or 300M."""
    units = {"K": 1 << 10, "M": MIB, "G": GIB}
    try:
        return int(float(text[:-1]) * units[text[-1].upper()]) if text[-1].upper() in units else int(text)
    except (ValueError, IndexError):
        raise Failure(f"{text!r} is no size", "write a size such as 300M or 10G") from None


# Waits for a program and tells its largest memory, which is known of children alone.
WAITER = """
import resource, subprocess, sys
code = subprocess.call(sys.argv[1:])
print("PEAK", resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss * 1024, file=sys.stderr)
sys.exit(code)
"""


def measured(program: Path, arguments: list[str], limit: float) -> dict:
    """Runs our program: its seconds, its peak memory, and the JSON object that it prints, if it does."""
    started = time.monotonic()
    process = subprocess.Popen(
        [sys.executable, "-c", WAITER, str(program), *arguments],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )
    try:
        out, words = process.communicate(timeout=limit)
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGKILL)
        process.communicate()
        raise Failure(f"{' '.join(arguments)} took more than {limit:.0f} s", "raise --limit") from None
    seconds = time.monotonic() - started
    if process.returncode != 0:
        raise Failure(f"{' '.join(arguments)}: exit code {process.returncode}: {words.strip()}", "see the message")
    peak = [int(line.split()[1]) for line in words.splitlines() if line.startswith("PEAK ")]
    reports = [json.loads(line) for line in out.splitlines() if line.startswith("{")]
    return {"seconds": round(seconds, 2), "peak_bytes": peak[-1], "report": reports[-1] if reports else {}}


def accuracy(report: dict) -> float | None:
    """The share of training rows that are right; of sgd, of rows predicted lately before they were learnt."""
    if "training_errors" in report:
        return 1.0 - report["training_errors"] / report["rows"]
    recent = report.get("recent") or report["progressive"]
    return 1.0 - recent["error_rate"]


def kept(name: str, found: dict, **more) -> dict:
    """What is written down of a run."""
    report = found["report"]
    objective = report.get("objective") or {}
    return {
        "set": more.pop("set"),
        "method": name,
        "round": 0,
        **more,
        "seconds": found["seconds"],
        "peak_bytes": found["peak_bytes"],
        "passes": (report.get("out_of_core") or {}).get("passes", report.get("passes")),
        "bytes_read": (report.get("out_of_core") or {}).get("bytes_read"),
        "primal": objective.get("primal"),
        "dual": objective.get("dual"),
        "relative_gap": objective.get("relative_gap"),
        "accuracy": accuracy(report),
        "load": round(os.getloadavg()[0], 2),
    }


def markdown(content: dict) -> str:
    quick = "**A quick try on a few rows: no result.** " if content["settings"]["quick"] else ""
    text = [
        "# Data larger than memory",
        "",
        f"{quick}{content['date']}, commit {content['commit']}. Text from `maxmargin generate text`, {COLUMNS:,} columns, trained "
        f"on with hinge loss and an explicit bias (C = 1; sgd: the λ of the same problem, one pass) under "
        f"`--memory {content['settings']['memory']}`. Seconds are those of the whole command, the making of the cache included where the "
        "data is text; the peak is that of the process (its largest resident memory); the load is the system's over "
        "the last minute at the end of the run, this program's own threads included.",
        "",
        "| data | bytes | method | seconds | passes | read | peak, MiB | objective | relative gap | right | load |",
        "| --- | --- | --- | --- | --- | --- | --- | --- | --- | --- | --- |",
    ]
    for m in content["measurements"]:
        cell = lambda value, form: "–" if value is None else format(value, form)  # noqa: E731
        read = None if m["bytes_read"] is None else m["bytes_read"] / GIB
        text.append(
            f"| {m['set']} | {m['bytes'] / GIB:.2f} GiB | {m['method']} | {m['seconds']:,.1f} | {cell(m['passes'], ',')} | "
            f"{cell(read, '.1f')}{'' if read is None else ' GiB'} | {m['peak_bytes'] / MIB:,.0f} | {cell(m['primal'], ',.2f')} | "
            f"{cell(m['relative_gap'], '.2e')} | {100 * m['accuracy']:.2f} % | {m['load']:.1f} |"
        )
    text += ["", *content.get("verdicts", []), ""]
    return "\n".join(text)


def verdicts(measurements: list[dict], memory: int) -> list[str]:
    """What the figures say, in sentences; false ones are told as such."""
    said = []
    for m in measurements:
        if m["within"] is not None:
            word = "within" if m["within"] else "**above**"
            said.append(f"- {m['set']}, {m['method']}: the peak of {m['peak_bytes'] / MIB:,.0f} MiB is {word} {memory / MIB:,.0f} MiB.")
    small = {m["method"]: m for m in measurements if m["set"] == "small"}
    if "exact, out of core" in small and "exact, in memory" in small:
        one, two = small["exact, out of core"], small["exact, in memory"]
        gaps = (one["relative_gap"] + two["relative_gap"]) * abs(one["primal"])
        difference = abs(one["primal"] - two["primal"])
        word = "within" if difference <= gaps else "**more than**"
        said.append(
            f"- small: the objectives out of core and in memory differ by {difference:,.2f}, {word} the sum of "
            f"their gaps of {gaps:,.2f}; their accuracies by {100 * abs(one['accuracy'] - two['accuracy']):.3f} %."
        )
    return said


def main() -> None:
    parser = argparse.ArgumentParser(prog="cargo xtask bench out-of-core", description=__doc__)
    parser.add_argument("--maxmargin", required=True, type=Path, metavar="PROGRAM", help="our program")
    parser.add_argument("--size", default="10G", help="the text to train on [default: %(default)s]")
    parser.add_argument("--small", default="300M", help="the text that fits into memory [default: %(default)s]")
    parser.add_argument("--memory", default="1G", help="what a training may use [default: %(default)s]")
    parser.add_argument("--gap", default="1e-3", help="the relative gap to reach [default: %(default)s]")
    parser.add_argument("--folder", type=Path, help="where the data goes [default: a temporary folder]")
    parser.add_argument("--limit", type=float, default=7200, metavar="SECONDS", help="[default: 7200]")
    parser.add_argument("--quick", action="store_true", help="a few rows: does it work?")
    parser.add_argument("--out", metavar="FILE", help="the JSON to write; the table goes beside it")
    arguments = parser.parse_args()
    if not arguments.maxmargin.is_file():
        raise Failure(f"{str(arguments.maxmargin)!r} does not exist", "run it by cargo xtask bench, which builds it")
    big, small = (size("40M"), size("10M")) if arguments.quick else (size(arguments.size), size(arguments.small))
    memory = "32M" if arguments.quick else arguments.memory
    budget = size(memory)
    program, limit = arguments.maxmargin, arguments.limit

    with tempfile.TemporaryDirectory(dir=arguments.folder) as scratch:
        folder = Path(scratch)
        # Text and cache, each about as large.
        need = 2 * big + 2 * small
        if shutil.disk_usage(folder).free - need < LEAST_FREE and not arguments.quick:
            raise Failure(
                f"{need / GIB:.0f} GiB of data would leave less than {LEAST_FREE / GIB:.0f} GiB free",
                "choose a smaller --size, or another --folder",
            )
        recorded = {"memory": memory, "size": arguments.size, "small": arguments.small, "gap": arguments.gap}
        record = begin("out-of-core", recorded, arguments.out, arguments.quick, False)
        for name, count in [("small", small), ("large", big)]:
            rows = max(count // ROW_BYTES, 1000)
            text, model = folder / f"{name}.svm", folder / "model.mm"
            measured(program, ["generate", "text", "--rows", str(rows), "--columns", str(COLUMNS), "-o", str(text)], limit)
            length = text.stat().st_size
            exact = ["train", str(text), "--gap", arguments.gap, "--json", "-q", "-o", str(model)]
            cache = folder / f"{name}.mmc"
            penalty = ["--lambda", repr(1 / (2 * rows))]
            methods = [
                ("sgd", ["train", str(text), "--stream", *penalty, "--memory", memory, "--json", "-q", "-o", str(model)]),
                ("exact, out of core", [*exact, "--out-of-core", "--memory", memory, "--cache", str(cache)]),
                ("exact, out of core, from the cache", [*exact[:1], str(cache), *exact[2:], "--out-of-core", "--memory", memory]),
            ]
            if name == "small":
                methods.append(("exact, in memory", [*exact, "--solver", "dual-ascent"]))
            for method, words in methods:
                found = measured(program, words, limit)
                bounded = "--memory" in words
                within = found["peak_bytes"] <= budget if bounded else None
                record.add(kept(method, found, set=name, bytes=length, rows=rows, within=within))
                print(f"{name}, {method}: {found['seconds']:.1f} s, {found['peak_bytes'] / MIB:,.0f} MiB", flush=True)
            text.unlink()
            cache.unlink(missing_ok=True)
    record.content["verdicts"] = verdicts(record.content["measurements"], budget)
    record.save()
    (record.path.parent / "out-of-core.md").write_text(markdown(record.content))
    print(f"written: {record.path} and out-of-core.md beside it")


if __name__ == "__main__":
    exit_with(main)
