"""Training on a cluster of processes on this machine: what it costs beside the same shards in one process. See README.md.

Each problem is fitted on shards in this process, with as many threads as there are workers, and on a cluster of that many workers of one thread
each. Both have the same bits, which is checked. A cost model of a round,

    seconds = t0 + tau * shards + bytes / bandwidth + entries / speed,

is fitted to all rounds but those of one problem, and checked on that one.
"""

from __future__ import annotations

import argparse
import contextlib
import os
import time
from pathlib import Path

import dask
import dask.array as da
import numpy as np
import scipy.sparse as sp
from distributed import Client, LocalCluster
from failure import Failure, exit_with
from record import begin

from maxmargin.dask import DaskLinearSVC, DaskLogisticRegression, Report, _held, _sources, _training

# Name: rows, columns, entries of a row (0: all), the estimator, and its tolerance.
PROBLEMS = {
    "logistic, 50 columns": (1_000_000, 50, 0, DaskLogisticRegression, {"tol": 1e-6}),
    "squared hinge, 50 columns": (1_000_000, 50, 0, DaskLinearSVC, {"tol": 1e-6}),
    "hinge, 50 columns": (1_000_000, 50, 0, DaskLinearSVC, {"tol": 1e-6, "loss": "hinge"}),
    "squared hinge, text": (160_000, 50_000, 80, DaskLinearSVC, {"tol": 1e-3}),
    "logistic, 200 columns": (300_000, 200, 0, DaskLogisticRegression, {"tol": 1e-6}),
}
# The model of a round is checked on this problem, and fitted on the others.
HELD_OUT = "logistic, 200 columns"
SEED = 1
# Rounds after which the memory of the workers is looked at.
LOOKS = (2, 5)


def part(rows: int, columns: int, entries: int, seed: int, labels: bool):
    """Rows of a chunk, or their labels, made on the worker that holds them."""
    rng = np.random.default_rng([SEED, seed])
    direction = np.random.default_rng(SEED).normal(size=columns)
    if entries:
        places = (columns * rng.random((rows, entries)) ** 3).astype(np.int32)
        values = rng.random((rows, entries))
        X = sp.csr_matrix((values.ravel(), places.ravel(), np.arange(0, rows * entries + 1, entries)), shape=(rows, columns))
        X.sum_duplicates()
    else:
        X = rng.normal(size=(rows, columns))
    if not labels:
        return X
    values = X @ direction
    return (values + np.std(values) * rng.normal(size=rows) > np.median(values)).astype(np.int64)


def data_of(rows: int, columns: int, entries: int, chunks: int):
    """X and y in chunks."""
    size = rows // chunks
    meta = sp.csr_matrix((0, columns)) if entries else np.zeros((0, columns))

    def made(labels: bool, seed: int):
        delayed = dask.delayed(part)(size, columns, entries, seed, labels)
        if labels:
            return da.from_delayed(delayed, shape=(size,), dtype=np.int64)
        return da.from_delayed(delayed, shape=(size, columns), dtype=float, meta=meta)

    return da.concatenate([made(False, seed) for seed in range(chunks)]), da.concatenate([made(True, seed) for seed in range(chunks)])


class Here:
    """Shards of this process: the driver without a cluster. The time of each round is kept."""

    def __init__(self, recipes, threads: int) -> None:
        self.recipes, self.report, self.started, self.rounds = recipes, Report(shards=len(recipes)), time.monotonic(), []
        _held.team = lambda: _held._team_of(threads)
        self.held = [_held.Held(number, recipe, None) for number, recipe in enumerate(recipes)]

    def ask_all(self, missing, question, hear) -> None:
        started = time.perf_counter()
        while left := missing():
            for shard in left:
                for full in (False, True):
                    function, arguments = question(full)
                    if hear(shard, function(self.held[shard], *arguments))[0] != "behind":
                        break
        self.rounds.append(time.perf_counter() - started)


def here(model, X, y, threads: int):
    """A fit in this process: seconds without the making of the rows."""

    @contextlib.contextmanager
    def crew(X, y, weights):
        def sizes(recipes):
            return [_held.Measured(k, recipe, None).summary.bytes for k, recipe in enumerate(recipes)]

        found = Here(_sources.source_of(X, y, weights, type(model).__name__, False, sizes).recipes, threads)
        kept.append((found, time.perf_counter()))
        yield found

    kept: list = []
    model._crew = crew
    model.fit(X, y)
    del model._crew
    found, started = kept[0]
    return model, time.perf_counter() - started, found.rounds


def resident() -> int:
    """The bytes of this process that are in memory."""
    with open("/proc/self/statm", encoding="ascii") as file:
        return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")


@contextlib.contextmanager
def watched(after):
    """Calls `after` with the seconds of each round of the fits within."""
    ask_round = _training._ask_round

    def asked(*arguments):
        started = time.perf_counter()
        ask_round(*arguments)
        after(time.perf_counter() - started)

    _training._ask_round = asked
    try:
        yield
    finally:
        _training._ask_round = ask_round


def measure(name: str, workers: int, chunks: int, scale: float) -> dict:
    rows, columns, entries, kind, parameters = PROBLEMS[name]
    rows = int(rows * scale) // chunks * chunks
    X, y = data_of(rows, columns, entries, chunks)
    alone, seconds_here, rounds_here = here(kind(**parameters), X, y, workers)
    with (
        LocalCluster(n_workers=workers, threads_per_worker=1, host="127.0.0.1", dashboard_address=None, memory_limit=0) as cluster,
        Client(cluster) as client,
    ):
        before, rounds, peaks, begun = client.run(resident), [], [], []

        def after(seconds: float) -> None:
            rounds.append(seconds)
            if len(rounds) == 1:
                begun.append(time.perf_counter() - seconds)
            if len(rounds) in LOOKS:
                peaks.extend(value - before[worker] for worker, value in client.run(resident).items())

        far = kind(**parameters, client=client)
        with watched(after):
            far.fit(X, y)
        seconds = time.perf_counter() - begun[0]
    same = alone.coef_.tobytes() == far.coef_.tobytes() and alone._certificates == far._certificates
    stored = (12 * entries if entries else 8 * columns) * rows
    return {
        "rows": rows,
        "columns": columns,
        "entries": rows * (entries or columns),
        "shards": far.cluster_.shards,
        "same_bits": same,
        "seconds_here": seconds_here,
        "seconds": seconds,
        "overhead": seconds / seconds_here,
        "rounds": far.cluster_.rounds,
        "bytes_a_round": far.cluster_.bytes / far.cluster_.rounds,
        "allowed_bytes": 16 * (columns + 64) * far.cluster_.shards + 4096,
        "round_seconds": float(np.median(rounds)),
        "round_seconds_here": float(np.median(rounds_here)),
        "gap": far.certificate_.relative_gap,
        "memory_of_a_worker": max(peaks),
        "rows_of_a_worker": stored / workers,
    }


def model_of(found: list[dict]) -> dict:
    """The cost of a round, fitted by least squares with no negative part, and how far it is off where it was not fitted."""
    from scipy.optimize import nnls

    def terms(row: dict) -> list[float]:
        return [1.0, row["shards"], row["bytes_a_round"], row["entries"]]

    fitted = [row for row in found if row["set"] != HELD_OUT]
    weights = np.array([1.0 / row["round_seconds"] for row in fitted])
    coefficients, _ = nnls(np.array([terms(row) for row in fitted]) * weights[:, None], np.ones(len(fitted)))
    checked = [
        {"set": row["set"], "shards": row["shards"], "said": float(np.dot(coefficients, terms(row))), "found": row["round_seconds"]}
        for row in found
        if row["set"] == HELD_OUT
    ]
    names = ("t0", "tau", "seconds_a_byte", "seconds_an_entry")
    return {"coefficients": dict(zip(names, coefficients.tolist(), strict=True)), "checked": checked}


def main() -> None:
    parser = argparse.ArgumentParser(prog="cargo xtask bench cluster", description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--maxmargin", help=argparse.SUPPRESS)
    parser.add_argument("--out", type=Path, metavar="FILE", help="the JSON to write [default: in bench/results]")
    parser.add_argument("--sets", metavar="NAMES", help="such as 'hinge, 50 columns;squared hinge, text' [default: all]")
    parser.add_argument("--workers", type=int, default=2, metavar="N", help="[default: 2]")
    parser.add_argument("--chunks", default="4,16", metavar="NUMBERS", help="chunks of the rows [default: %(default)s]")
    parser.add_argument("--scale", type=float, default=1.0, metavar="S", help="this many times the rows [default: 1]")
    parser.add_argument("--quick", action="store_true", help="a tenth of the rows, and nothing is kept")
    arguments = parser.parse_args()
    names = arguments.sets.split(";") if arguments.sets else list(PROBLEMS)
    unknown = [name for name in names if name not in PROBLEMS]
    if unknown:
        raise Failure(f"there is no problem {unknown[0]!r}", "the problems are " + "; ".join(PROBLEMS))
    scale = 0.1 if arguments.quick else arguments.scale
    settings = {"workers": arguments.workers, "chunks": arguments.chunks, "scale": scale}
    record = begin("cluster", settings, arguments.out, arguments.quick, False)
    for name in names:
        for chunks in map(int, arguments.chunks.split(",")):
            found = measure(name, arguments.workers, chunks, scale)
            record.add({"set": name, "method": "cluster", "round": 0, **found})
            print(
                f"{name:<26} {found['shards']:3d} shards  here {found['seconds_here']:7.2f} s  cluster {found['seconds']:7.2f} s "
                f"({found['overhead']:.2f}x)  {found['rounds']} rounds of {1e3 * found['round_seconds']:.0f} ms, "
                f"{found['bytes_a_round'] / found['allowed_bytes']:.2f} of the bytes allowed, same bits: {found['same_bits']}",
                flush=True,
            )
    if HELD_OUT in names and len(names) > 2:
        record.content["model"] = model_of(record.measurements)
        record.save()
        print(record.content["model"])
    print(f"written: {record.path}")


if __name__ == "__main__":
    exit_with(main)
