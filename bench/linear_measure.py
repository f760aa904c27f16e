"""One measurement of one method of the linear benchmark, each in processes of its own; and the climb of a ladder."""

from __future__ import annotations

import json
import sys
import tempfile
from pathlib import Path

from child import run
from linear_problems import REFERENCE_GAP, C, Task, ladder
from measure import OURS, Settings, checked, failed, predict, trained
from programs import liblinear_train
from rounds import family
from sets import HERE, Prepared

# LIBLINEAR is on one thread: it knows no more.
ONE_THREAD = ["liblinear"]

# How far the objective that we certify may be from the one recomputed from the weights, relative.
CERTIFIED_SLACK = 1e-9


def reference(task: Task, prepared: Prepared, settings: Settings) -> dict:
    """Bounds of the least objective: our tightest certificate."""
    # Half of the limit: what was reached by then is certified as well.
    patience = ["--max-time", f"{settings.limit_seconds / 2:g}"]
    with tempfile.TemporaryDirectory() as scratch:
        measured = ours(task, prepared, settings, REFERENCE_GAP, Path(scratch) / "model.mm", patience)
    if "certified_objective" not in measured:
        why = measured.get("error", "the report has none")
        return {"error": f"no certificate of the least objective, without which nothing can be compared: {why}"}
    return {"bound": measured["certified_objective"], **measured}


def our_command(task: Task, prepared: Prepared, settings: Settings, gap: float, model: Path) -> list[str]:
    """Our program, to train to a relative duality gap."""
    command = [str(settings.program), "train", str(prepared.train_text), "--format", "libsvm", "--kernel", "linear"]
    if task.loss == "lda":
        command += ["--solver", "lda"]
    else:
        loss = "logistic" if task.loss == "joint" else task.loss
        command += ["--bias", "none", "--loss", loss, "-C", repr(C), "--gap", repr(gap)]
    if prepared.about["classes"] > 2:
        command += ["--multiclass", "joint" if task.loss in ("joint", "lda") else "ovr"]
    return command + ["--threads", str(settings.threads), "-o", str(model)]


def ours(
    task: Task, prepared: Prepared, settings: Settings, gap: float, model: Path, more: list[str] | None = None
) -> dict:
    """Trains with our program to a relative duality gap."""
    return trained([*our_command(task, prepared, settings, gap, model), "--json", *(more or [])], settings)


def measure_ours(task: Task, prepared: Prepared, settings: Settings, gap: float, bound: float, check: bool) -> dict:
    """Trains to the gap; when `check` is set the objective is recomputed from the weights, and the rows predicted."""
    with tempfile.TemporaryDirectory() as scratch:
        model, labels = Path(scratch) / "model.mm", Path(scratch) / "labels.txt"
        measured = ours(task, prepared, settings, gap, model)
        if "error" in measured or not check:
            return measured
        measured.update(predict(prepared, settings, model, labels))
        if "error" not in measured:
            measured.update(check_model(model, task, prepared, settings, bound, labels))
        return {**measured, **judged(measured, gap)}


def judged(measured: dict, gap: float) -> dict:
    """An error when what we certify is not what was asked for, or not what the weights say."""
    if "certified_primal" not in measured or "objective" not in measured:
        return {}
    if not measured["relative_gap"] <= gap:
        return {"error": f"the certified gap is {measured['relative_gap']:.1e}, asked for was {gap:.0e}"}
    objective, certified = measured["objective"], measured["certified_primal"]
    if not abs(objective - certified) <= CERTIFIED_SLACK * abs(objective):
        return {"error": f"the certificate says {certified!r}, the weights {objective!r}"}
    if not measured["suboptimality"] <= gap:
        return {"error": f"the objective is {measured['suboptimality']:.1e} above the bound, the gap {gap:.0e}"}
    return {}


def check_model(
    model: Path, task: Task, prepared: Prepared, settings: Settings, bound: float, labels: Path | None = None
) -> dict:
    """The objective of a model file, ours or LIBLINEAR's, recomputed from its weights."""
    arguments = [str(model), str(prepared.folder), task.loss, repr(C), repr(bound)]
    return checked("check_linear.py", arguments + ([str(labels)] if labels else []), settings)


def measure_peer(method: str, rung: float, task: Task, prepared: Prepared, settings: Settings, bound: float) -> dict:
    """A fit of a peer with one of its settings."""
    climbed = climb(method, [rung], task, prepared, settings, bound, target=0.0)
    return {"threads": threads_of(method, settings), **climbed[-1]}


def climb(
    method: str,
    rungs: list[float] | None,
    task: Task,
    prepared: Prepared,
    settings: Settings,
    bound: float,
    target: float,
) -> list[dict]:
    """Fits from loose to tight until the target is reached; the last one has `error` when it did not end well."""
    threads = threads_of(method, settings)
    request = {
        "method": method,
        "folder": str(prepared.folder),
        "loss": task.loss,
        "c": C,
        "threads": threads,
        "rungs": rungs or ladder(method),
        "bound": bound,
        "target": target,
    }
    environment = {"OMP_NUM_THREADS": str(threads), "OPENBLAS_NUM_THREADS": str(threads)}
    command = [sys.executable, str(HERE / "linear_peers.py"), json.dumps(request)]
    finished = run(command, settings.limit_seconds, environment)
    # A line that the time limit cut is none.
    found = [json.loads(line) for line in finished.output.splitlines() if line.endswith("}")]
    error = failed(finished, settings)
    return [*found, error] if error else found


def threads_of(method: str, settings: Settings) -> int:
    return 1 if family(method) in ONE_THREAD else settings.threads


def chosen_rung(climbed: list[dict], target: float) -> dict | None:
    """The fastest of the fits within the target."""
    within = [fit for fit in climbed if "error" not in fit and fit.get("suboptimality", 0.0) <= target]
    return min(within, key=lambda fit: fit["fit_seconds"], default=None)


def not_reached(climbed: list[dict], target: float) -> dict:
    """The measurement of a peer none of whose fits came within the target: it takes longer than the longest of them."""
    fits = [fit for fit in climbed if "error" not in fit]
    said = [f"{target:.0e} was not reached, at best {min(fit['suboptimality'] for fit in fits):.1e}"] if fits else []
    said += [fit["error"] for fit in climbed if "error" in fit]
    return {"error": "; ".join(said), "at_least_seconds": max((fit["fit_seconds"] for fit in fits), default=0.0)}


def measure_command(
    method: str,
    check: bool,
    rungs: dict[str, float],
    task: Task,
    prepared: Prepared,
    settings: Settings,
    gap: float,
    bound: float,
) -> dict:
    """The whole command: reads the text, fits, saves. Its seconds are those of the process."""
    threads = threads_of(method, settings)
    with tempfile.TemporaryDirectory() as scratch:
        model = Path(scratch) / ("model.mm" if method == OURS else "model")
        if method == OURS:
            # The peers print no weights, so ours does not either.
            command = [*our_command(task, prepared, settings, gap, model), "--quiet"]
        else:
            peer, solver = method.split("-")
            command = [str(liblinear_train(peer)), str(prepared.train_text), solver.removeprefix("s"), repr(C)]
            command += [repr(rungs[method]), str(threads), str(model)]
        finished = run(command, settings.limit_seconds, {"OMP_NUM_THREADS": str(threads)})
        if error := failed(finished, settings):
            return error
        measured = {
            "threads": threads,
            "command_seconds": finished.seconds,
            "peak_bytes": finished.peak_bytes,
            **json.loads(finished.output or "{}"),
        }
        if check:
            measured.update(check_model(model, task, prepared, settings, bound))
            if not measured.get("suboptimality", 0.0) <= gap:
                measured["error"] = f"the objective is {measured['suboptimality']:.1e} above the bound"
        return measured
