"""One measurement of one method on one set, each in processes of its own."""

from __future__ import annotations

import json
import sys
import tempfile
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from child import Finished, run
from failure import Failure
from sets import HERE, Prepared, Problem

OURS = "maxmargin"
PEERS = ["libsvm", "libsvm-omp", "sklearn", "intelex"]


@dataclass(frozen=True)
class Settings:
    """What holds for every method of a run."""

    program: Path
    threads: int = 2
    tolerance: float = 1e-3
    memory_megabytes: int = 2000
    # A process that takes longer is ended and recorded as such.
    limit_seconds: float = 1200

    def recorded(self) -> dict:
        return {
            "threads": self.threads,
            "tolerance": self.tolerance,
            "memory_megabytes": self.memory_megabytes,
            "limit_seconds": self.limit_seconds,
        }

    @cached_property
    def predict_has_json(self) -> bool:
        return "--json" in run([str(self.program), "predict", "--help"], 60).output


def methods(peers: list[str], prepared: Prepared) -> list[str]:
    """Ours and the peers in each setting that makes sense on the set."""
    for peer in peers:
        if peer not in PEERS:
            raise Failure(f"there is no peer {peer!r}", "the peers are " + ", ".join(PEERS))
    found = [OURS]
    for peer in peers:
        if peer == "intelex":
            found += ["intelex-f32", "intelex-f64"]
            found += ["intelex-f32-sparse", "intelex-f64-sparse"] if prepared.sparse else []
        else:
            found.append(peer)
    return found


def measure(method: str, check: bool, problem: Problem, prepared: Prepared, settings: Settings) -> dict:
    """Runs a method. The objective is recomputed when `check` is set; a failure is a measurement with `error`."""
    if method == OURS:
        return ours(problem, prepared, settings, check)
    threads = 1 if method in ("libsvm", "sklearn") else settings.threads
    command = [
        sys.executable,
        str(HERE / "peers.py"),
        method,
        str(prepared.folder),
        repr(problem.c),
        repr(problem.gamma),
    ]
    command += [repr(settings.tolerance), str(settings.memory_megabytes), str(threads)] + (["check"] if check else [])
    environment = {"OMP_NUM_THREADS": str(threads), "OPENBLAS_NUM_THREADS": str(settings.threads)}
    finished = run(command, settings.limit_seconds, environment)
    return failed(finished, settings) or {"threads": threads, **json.loads(finished.output.splitlines()[-1])}


def ours(problem: Problem, prepared: Prepared, settings: Settings, check: bool) -> dict:
    """Trains, predicts, and when asked verifies the certificate and recomputes the objective."""
    with tempfile.TemporaryDirectory() as scratch:
        model, labels = Path(scratch) / "model.mm", Path(scratch) / "labels.txt"
        measured = train(problem, prepared, settings, f"{settings.memory_megabytes}M", model)
        if "error" in measured:
            return measured
        measured.update(predict(prepared, settings, model, labels))
        if check and "error" not in measured:
            finished = run(
                [str(settings.program), "verify", str(model), str(prepared.train_text)], settings.limit_seconds
            )
            measured["verify_exit_code"] = finished.code
            measured["verify_seconds"] = finished.seconds
            measured.update(
                checked("check_ours.py", [str(model), str(prepared.folder), repr(problem.gamma), str(labels)], settings)
            )
        return measured


def predict(prepared: Prepared, settings: Settings, model: Path, labels: Path) -> dict:
    """Predicts the test part with a model of ours into a file of labels."""
    command = [str(settings.program), "predict", str(model), str(prepared.test_text), "-o", str(labels)]
    command += ["--threads", str(settings.threads)] + (["--json"] if settings.predict_has_json else [])
    finished = run(command, settings.limit_seconds)
    if error := failed(finished, settings):
        return error
    said = json.loads(finished.output) if settings.predict_has_json else {}
    # Reading is not predicting: without a number of the program's own there is none.
    return {"predict_seconds": said.get("predict_seconds"), "predict_peak_bytes": finished.peak_bytes}


def checked(script: str, arguments: list[str], settings: Settings) -> dict:
    """What a script of this folder that checks a model prints."""
    finished = run([sys.executable, str(HERE / script), *arguments], settings.limit_seconds)
    return failed(finished, settings) or json.loads(finished.output)


def train(problem: Problem, prepared: Prepared, settings: Settings, memory: str, model: Path) -> dict:
    """Trains with our program: what its report says, and the peak memory of its process."""
    command = [str(settings.program), "train", str(prepared.train_text), "--format", "libsvm", "--kernel", "rbf"]
    command += ["--gamma", repr(problem.gamma), "-C", repr(problem.c), "--tolerance", repr(settings.tolerance)]
    command += ["--threads", str(settings.threads), "--memory", memory, "--json", "-o", str(model)]
    return trained(command, settings)


def trained(command: list[str], settings: Settings) -> dict:
    """Runs a `maxmargin train --json`: what its report says, and the time and peak memory of its process."""
    finished = run(command, settings.limit_seconds)
    if error := failed(finished, settings):
        return error
    report = json.loads(finished.output)
    measured = {
        "threads": settings.threads,
        "fit_seconds": report["seconds"]["train"],
        "read_seconds": report["seconds"]["read"],
        "command_seconds": finished.seconds,
        "peak_bytes": finished.peak_bytes,
        "rows": report["rows"],
        "solver": report["solver"],
        "stop": report["stop"],
        "iterations": report["iterations"],
        "violation": report["violation"],
    }
    if report["epsilon"] is not None:
        measured["epsilon"] = report["epsilon"]
    certificates = [machine["certificate"] for machine in report["machines"]]
    if not all("dual" in certificate for certificate in certificates):
        # Classes that were trained together have one certificate; a method that minimises nothing has none.
        certificates = [report["certificate"]] if "dual" in (report["certificate"] or {}) else []
    if certificates:
        measured["certified_objective"] = sum(certificate["dual"] for certificate in certificates)
        measured["certified_primal"] = sum(certificate["primal"] for certificate in certificates)
        # The worst machine of several.
        measured["relative_gap"] = max(certificate["relative_gap"] for certificate in certificates)
    return measured


def failed(finished: Finished, settings: Settings) -> dict | None:
    """The measurement of a process that did not end well."""
    if finished.timed_out:
        return {"error": f"ended after {settings.limit_seconds:g} s", "timed_out": True}
    if finished.code != 0:
        return {"error": finished.reason}
    return None
