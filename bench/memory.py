"""Does `maxmargin train --memory` keep its promise? Peak memory of the process against the budget. See README.md."""

from __future__ import annotations

import argparse
import tempfile
from pathlib import Path

from failure import exit_with
from measure import OURS, train
from options import add_common, settings_of
from record import begin
from sets import QUICK_ROWS, data_folder, prepared, problem

MIB = 1 << 20
BUDGETS = {"256M": 256 * MIB, "1G": 1024 * MIB, "4G": 4096 * MIB}


def allowed(budget: int) -> int:
    """The most that a process may take: the budget, a tenth of it, and 64 MiB."""
    return budget + budget // 10 + 64 * MIB


def markdown(content: dict) -> str:
    quick = "**A quick try on a few rows: no result.** " if content["settings"]["quick"] else ""
    text = [
        "# Memory",
        "",
        f"{quick}{content['date']}, commit {content['commit']}. Peak memory of `maxmargin train --memory`, in MiB; "
        "allowed are the budget, a tenth of it and 64 MiB.",
        "",
        "| set | budget | allowed | peak | | fit, seconds |",
        "| --- | --- | --- | --- | --- | --- |",
    ]
    for m in content["measurements"]:
        cells = [m["set"], m["budget"], f"{m['allowed_bytes'] / MIB:,.0f}"]
        if "error" in m:
            cells += ["–", m["error"], "–"]
        else:
            cells += [
                f"{m['peak_bytes'] / MIB:,.0f}",
                "within" if m["within"] else "**above**",
                f"{m['fit_seconds']:.2f}",
            ]
        text.append("| " + " | ".join(cells) + " |")
    return "\n".join(text) + "\n"


def main() -> None:
    parser = argparse.ArgumentParser(prog="cargo xtask bench memory", description=__doc__)
    add_common(parser)
    parser.add_argument("--sets", default="mnist,a9a", metavar="NAMES", help="[default: %(default)s]")
    arguments = parser.parse_args()

    source = data_folder(arguments.data)
    problems = [problem(name.strip()) for name in arguments.sets.split(",")]
    settings = settings_of(arguments)
    recorded = {key: value for key, value in settings.recorded().items() if key != "memory_megabytes"}
    record = begin("memory", recorded, arguments.out, arguments.quick, arguments.go_on)
    for asked in problems:
        data = prepared(asked.data, source, QUICK_ROWS if arguments.quick else None)
        record.content["sets"][asked.name] = {"c": asked.c, "gamma": asked.gamma, **data.about}
        for name, budget in BUDGETS.items():
            if record.of(set=asked.name, budget=name):
                continue
            with tempfile.TemporaryDirectory() as scratch:
                measured = train(asked, data, settings, name, Path(scratch) / "model.mm")
            limit = allowed(budget)
            measurement = {
                "set": asked.name,
                "method": OURS,
                "round": 0,
                "budget": name,
                "budget_bytes": budget,
                "allowed_bytes": limit,
            }
            if "error" not in measured:
                measurement["within"] = measured["peak_bytes"] <= limit
            record.add({**measurement, **measured})
            peak = f"{measured['peak_bytes'] / MIB:.0f} MiB" if "error" not in measured else measured["error"]
            print(f"{asked.name:>12} --memory {name:<5} {peak}, allowed {limit / MIB:.0f} MiB", flush=True)
        (record.path.parent / "memory.md").write_text(markdown(record.content))
    print(f"written: {record.path} and memory.md beside it")


if __name__ == "__main__":
    exit_with(main)
