"""Linear machines: ours beside LIBLINEAR, its multi-core fork, scikit-learn and Snap ML. See README.md."""

from __future__ import annotations

import argparse
from dataclasses import replace
from functools import partial

from failure import Failure, exit_with
from linear_measure import (
    chosen_rung,
    climb,
    measure_command,
    measure_ours,
    measure_peer,
    not_reached,
    reference,
)
from linear_problems import PEERS, TARGETS, Task, dense_tasks, methods, tasks
from linear_table import linear_markdown
from measure import OURS, Settings
from options import add_common, settings_of
from record import Record, begin
from rounds import HOPELESS, family, run_rounds
from sets import QUICK_ROWS, Prepared, data_folder, prepared

# The whole command is compared at this gap.
COMMAND_TARGET = "1e-3"
COMMAND_PEERS = ["liblinear", "multicore"]
# A discriminant analysis whose accuracy is so far below the best of the peers' has not found the same thing.
ACCURACY_LOST = 0.02
# Seconds of a ladder in a quick try.
QUICK_CLIMB = 10


class Run:
    """What holds for all tasks of a run."""

    def __init__(
        self, record: Record, settings: Settings, peers: list[str], repeats: int, climb_seconds: float
    ) -> None:
        self.record, self.settings, self.peers, self.repeats = record, settings, peers, repeats
        self.climbing = replace(settings, limit_seconds=climb_seconds)

    def reference(self, task: Task, data: Prepared) -> float | None:
        """The bound of the least objective, from the record or found now; none when there is no certificate of it."""
        if task.loss == "lda":
            return 0.0
        known = self.record.content.setdefault("references", {})
        # Dense and sparse rows are the same problem.
        name = replace(task, dense=False).name
        if name not in known:
            found = reference(task, data, self.settings)
            if "bound" not in found:
                if not self.record.of(set=task.name, method=OURS):
                    self.record.add({"set": task.name, "method": OURS, "round": 0, **found})
                print(f"{name}: {found['error']}", flush=True)
                return None
            known[name] = found
            self.record.save()
            print(f"{name}: at least {known[name]['bound']:.9g}, gap {known[name]['relative_gap']:.1e}", flush=True)
        return known[name]["bound"]

    def ladders(self, task: Task, data: Prepared, bound: float) -> dict[str, list[dict]]:
        """The climbs of all methods, from the record or made now."""
        known = self.record.content.setdefault("ladders", {}).setdefault(task.name, {})
        for method in methods(self.peers, task, data.about):
            if method not in known:
                known[method] = climb(method, None, task, data, self.climbing, bound, min(TARGETS.values()))
                self.record.save()
                print(f"{task.name:>22} {method:<28} {said(known[method])}", flush=True)
        return known

    def fits(self, task: Task, data: Prepared) -> None:
        """Fit alone, to each of the gaps."""
        bound = self.reference(task, data)
        if bound is None:
            return
        ladders = self.ladders(task, data, bound)
        for label, target in {"": 0.0}.items() if task.loss == "lda" else TARGETS.items():
            name = f"{task.name} {label}".strip()
            about = {"part": "dense" if task.dense else "fit", "target": label, "bound": bound}
            self.add_set(name, task, data, about)
            self.rounds(name, task, data, ladders, target, bound)

    def rounds(
        self, name: str, task: Task, data: Prepared, ladders: dict[str, list[dict]], target: float, bound: float
    ) -> None:
        rungs = {method: rung for method, climbed in ladders.items() if (rung := chosen_rung(climbed, target))}
        if task.loss == "lda":
            for method, error in inaccurate(rungs).items():
                ladders = {**ladders, method: [{"error": error}]}
                del rungs[method]
        for method, climbed in ladders.items():
            if method not in rungs and not self.record.of(set=name, method=method):
                self.record.add({"set": name, "method": method, "round": 0, **not_reached(climbed, target)})

        def one(method: str, check: bool) -> dict:
            if method == OURS:
                return measure_ours(task, data, self.settings, target, bound, check)
            return measure_peer(method, rungs[method]["rung"], task, data, self.settings, bound)

        run_rounds(self.record, name, [OURS, *hopeful(rungs)], self.repeats, one)

    def commands(self, task: Task, data: Prepared) -> None:
        """The whole command, of ours and of the best solver of LIBLINEAR and of its fork."""
        bound, target = self.reference(task, data), TARGETS[COMMAND_TARGET]
        if bound is None:
            return
        ladders = self.record.content["ladders"][task.name]
        best: dict[str, tuple[str, dict]] = {}
        for method, climbed in ladders.items():
            rung = chosen_rung(climbed, target)
            peer = family(method)
            if rung and peer in COMMAND_PEERS:
                if peer not in best or rung["fit_seconds"] < best[peer][1]["fit_seconds"]:
                    best[peer] = (method, rung)
        name = f"{task.name} command"
        self.add_set(name, task, data, {"part": "command", "target": COMMAND_TARGET, "bound": bound})
        rungs = {method: rung["rung"] for method, rung in best.values()}
        one = partial(
            measure_command, rungs=rungs, task=task, prepared=data, settings=self.settings, gap=target, bound=bound
        )
        run_rounds(self.record, name, [OURS, *rungs], self.repeats, one, "command_seconds")

    def add_set(self, name: str, task: Task, data: Prepared, about: dict) -> None:
        self.record.content["sets"][name] = {"data": task.data, "loss": task.loss, **about, **data.about}


def inaccurate(rungs: dict[str, dict]) -> dict[str, str]:
    """The methods that are fast but wrong: single precision loses a singular covariance, for example."""
    best = max((rung["accuracy"] for rung in rungs.values()), default=0.0)
    return {
        method: f"an accuracy of {rung['accuracy']:.4f}, where the best has {best:.4f}, does not count"
        for method, rung in rungs.items()
        if not rung["accuracy"] >= best - ACCURACY_LOST
    }


def hopeful(rungs: dict[str, dict]) -> list[str]:
    """The methods that can be the best setting of their peer."""
    best: dict[str, float] = {}
    for method, rung in rungs.items():
        best[family(method)] = min(rung["fit_seconds"], best.get(family(method), rung["fit_seconds"]))
    return [method for method, rung in rungs.items() if rung["fit_seconds"] <= HOPELESS * best[family(method)]]


def said(climbed: list[dict]) -> str:
    """A climb in a few words."""
    steps = []
    for fit in climbed:
        if "error" in fit:
            steps.append(fit["error"])
        else:
            reached = f" {fit['suboptimality']:.0e}" if "suboptimality" in fit else ""
            steps.append(f"{fit['fit_seconds']:.2f}s{reached}")
    return ", ".join(steps[-3:])


def main() -> None:
    parser = argparse.ArgumentParser(prog="cargo xtask bench linear", description=__doc__)
    add_common(parser)
    parser.add_argument("--sets", metavar="NAMES", help="such as a9a,mnist [default: all]")
    parser.add_argument(
        "--parts", default="sparse,dense", metavar="NAMES", help="sparse rows, full arrays [default: %(default)s]"
    )
    parser.add_argument("--repeats", type=int, default=3, metavar="N", help="rounds of a fit below 20 s [default: 3]")
    parser.add_argument("--peers", default=",".join(PEERS), metavar="NAMES", help="[default: %(default)s]")
    parser.add_argument(
        "--climb", type=float, default=300, metavar="SECONDS", help="end the ladder of a peer after this [default: 300]"
    )
    arguments = parser.parse_args()

    source = data_folder(arguments.data)
    asked = tasks(arguments.sets)
    settings = settings_of(arguments)
    repeats = 1 if arguments.quick else max(1, arguments.repeats)
    recorded = {key: value for key, value in settings.recorded().items() if key in ("threads", "limit_seconds")}
    climb_seconds = min(arguments.climb, QUICK_CLIMB) if arguments.quick else arguments.climb
    recorded |= {"repeats": repeats, "climb_seconds": climb_seconds}
    record = begin("linear", recorded, arguments.out, arguments.quick, arguments.go_on)
    parts = arguments.parts.split(",")
    if unknown := set(parts) - {"sparse", "dense"}:
        raise Failure(f"there is no part {min(unknown)!r}", "the parts are sparse and dense")
    peers = [name for name in arguments.peers.split(",") if name]
    run = Run(record, settings, peers, repeats, climb_seconds)
    table = record.path.with_suffix(".md") if arguments.out else record.path.with_name("linear.md")
    for data_name in dict.fromkeys(task.data for task in asked):
        data = prepared(data_name, source, QUICK_ROWS if arguments.quick else None)
        of_set = [task for task in asked if task.data == data_name] + dense_tasks(data_name, data.about)
        for task in [task for task in of_set if ("dense" if task.dense else "sparse") in parts]:
            run.fits(task, data)
            if not task.dense:
                run.commands(task, data)
            record.save()
            table.write_text(linear_markdown(record.content))
    print(f"written: {record.path} and {table}")


if __name__ == "__main__":
    exit_with(main)
