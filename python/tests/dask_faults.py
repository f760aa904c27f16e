"""Faults of clusters of real processes: a worker that is killed, stopped or wrong, a scheduler or a driver that is lost.

Each function makes one fault, in a worker and a round that a seed chooses, and says what came of it. The bits of the model are compared with
those of shards in this process, without Dask.
"""

from __future__ import annotations

import contextlib
import os
import random
import signal
import struct
import subprocess
import sys
import tempfile
import threading
import time

import dask.array as da
from dask_here import PROBLEMS, bits_of, fit_here, rows_of
from distributed import Client

from maxmargin.dask import ClusterError, _cluster, _training

# Rows of a chunk: 900 rows are four shards.
CHUNK = 250


@contextlib.contextmanager
def small_shards():
    """Cuts small data into a shard for each chunk."""
    from maxmargin.dask import _sources

    kept = _sources._LEAST_BYTES
    _sources._LEAST_BYTES = 1
    try:
        yield
    finally:
        _sources._LEAST_BYTES = kept


def problem(name, seed, rows=900):
    """An estimator's maker, rows on the cluster, and the bits that are expected of them, with the rounds of the fit."""
    make, kind = PROBLEMS[name]
    X, y, weights = rows_of(kind, seed, rows)
    far = [da.from_array(part, chunks=(CHUNK, -1)[: part.ndim]) for part in (X, y, weights)]
    far = far if "weights" in name else far[:2]
    here = fit_here(make(), *far)
    return make, far, bits_of(here), here.cluster_.rounds


@contextlib.contextmanager
def in_round(number, action, delay=0.0):
    """Does something at the beginning of a round, or a while after it."""
    ask_round, count = _training._ask_round, iter(range(1 << 30))

    def asked(*arguments):
        if next(count) == number:
            if delay:
                timer = threading.Timer(delay, action)
                timer.start()
            else:
                action()
        return ask_round(*arguments)

    _training._ask_round = asked
    try:
        yield
    finally:
        _training._ask_round = ask_round


def pids_of(client):
    """The process of each worker, by its address."""
    return client.run(os.getpid)


def timed(call):
    """What a call returns, and its seconds."""
    started = time.monotonic()
    found = call()
    return found, time.monotonic() - started


def killed_worker(client, name, seed):
    """A worker is killed; its nanny starts another."""
    chance = random.Random(seed)
    make, far, expected, rounds = problem(name, seed)
    _, undisturbed = timed(lambda: make(client=client).fit(*far))
    pids = pids_of(client)
    pid = chance.choice(sorted(pids.values()))
    with in_round(chance.randrange(rounds), lambda: os.kill(pid, signal.SIGKILL), chance.choice([0.0, 0.002, 0.02])):
        model, seconds = timed(lambda: make(client=client).fit(*far))
    # A nanny whose worker is killed while it starts gives up: no fault of the fit.
    with contextlib.suppress(TimeoutError):
        client.wait_for_workers(len(pids), timeout=20)
    return {"same": bits_of(model) == expected, "rebuilt": model.cluster_.rebuilt, "extra": seconds - undisturbed}


def stopped_worker(client, name, seed, patience=1.0):
    """A worker is stopped, and goes on when the fit is over, or after 20 s: a result that it was about to hand over is waited for."""
    chance = random.Random(seed)
    make, far, expected, rounds = problem(name, seed)
    _, undisturbed = timed(lambda: make(client=client).fit(*far))
    pid = chance.choice(sorted(pids_of(client).values()))
    wakes = threading.Timer(20.0, os.kill, (pid, signal.SIGCONT))
    wakes.start()
    try:
        with in_round(chance.randrange(rounds), lambda: os.kill(pid, signal.SIGSTOP), chance.choice([0.0, 0.01])):
            model, seconds = timed(lambda: make(client=client, patience=patience).fit(*far))
    finally:
        wakes.cancel()
        os.kill(pid, signal.SIGCONT)
    return {"same": bits_of(model) == expected, "hedged": model.cluster_.hedged, "seconds": seconds, "undisturbed": undisturbed}


def slow_worker(client, name, seed, patience=0.5):
    """A worker takes a second longer for each of three answers."""
    chance = random.Random(seed)
    make, far, expected, _ = problem(name, seed)
    worker = chance.choice(sorted(pids_of(client)))
    client.run(_be_slow, 3, workers=[worker])
    try:
        model, seconds = timed(lambda: make(client=client, patience=patience).fit(*far))
    finally:
        client.run(_be_honest, workers=[worker])
    return {"same": bits_of(model) == expected, "hedged": model.cluster_.hedged, "seconds": seconds}


def lying_worker(client, name, seed, always=False):
    """A worker answers wrongly, once or whenever it is asked; with `always` every worker does."""
    chance = random.Random(seed)
    make, far, expected, rounds = problem(name, seed)
    workers = sorted(client.run(os.getpid))
    liars = workers if always else [chance.choice(workers)]
    client.run(_lie, chance.randrange(rounds), always, seed, workers=liars)
    try:
        model = make(client=client).fit(*far)
        lies = sum(client.run(_lies_told, workers=liars).values(), [])
        wrong = model.cluster_.wrong
        return {
            "same": bits_of(model) == expected,
            "lies": len(lies),
            "named": [(shard, worker) for shard, worker, _ in wrong] == [(shard, liars[0]) for shard in lies],
            "false": not (bits_of(model) == expected),
        }
    except ClusterError as error:
        return {"error": str(error), "named": any(worker in str(error) for worker in liars)}
    finally:
        client.run(_be_honest, workers=liars)


def _be_slow(answers):
    from maxmargin.dask import _held

    honest, left = _held.answered, iter(range(answers))

    def slow(held, request, terms):
        if next(left, None) is not None:
            time.sleep(1.0)
        return honest(held, request, terms)

    _held._honest, _held.answered = honest, slow


def _lie(place, always, seed):
    from maxmargin.dask import _held

    honest, count, chance = _held.answered, iter(range(1 << 30)), random.Random(seed)
    _held._honest, _held._lies = honest, []

    def lying(held, request, terms):
        answer = honest(held, request, terms)
        number = next(count)
        if number >= place and (always or not _held._lies):
            spoilt = spoil(answer, chance)
            if spoilt is not None:
                _held._lies.append(held.number)
                return spoilt
        return answer

    _held.answered = lying


def _lies_told():
    from maxmargin.dask import _held

    return list(_held._lies)


def _be_honest():
    from maxmargin.dask import _held

    if hasattr(_held, "_honest"):
        _held.answered = _held._honest


def spoil(answer, chance):
    """An answer with one of its sums changed: the layout is that of `shards/message.rs`. None where the answer has no sums of rows."""
    if len(answer) < 41:
        return None
    kind, machines, columns = answer[24], *struct.unpack_from("<QQ", answer, 25)
    if kind != 3 or machines == 0 or columns == 0:
        return None
    place = 41 + 8 * chance.randrange(columns)
    (value,) = struct.unpack_from("<d", answer, place)
    spoilt = bytearray(answer)
    struct.pack_into("<d", spoilt, place, -3.0 * value + 1.0)
    return bytes(spoilt)


# Losses of more than one worker


@contextlib.contextmanager
def own_processes(workers, threads=1):
    """A scheduler and workers without nannies, each a process of ours: their processes by name, and the client."""
    with tempfile.TemporaryDirectory() as folder, contextlib.ExitStack() as stack:
        file = os.path.join(folder, "scheduler.json")
        quiet = dict(stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, cwd=folder)
        scheduler = [sys.executable, "-m", "distributed.cli.dask_scheduler", "--host", "127.0.0.1", "--port", "0", "--no-dashboard"]
        found = {"scheduler": subprocess.Popen([*scheduler, "--scheduler-file", file], **quiet)}
        stack.callback(_end, found)
        worker = [sys.executable, "-m", "distributed.cli.dask_worker", "--scheduler-file", file, "--host", "127.0.0.1", "--no-nanny"]
        for number in range(workers):
            own = os.path.join(folder, f"worker{number}")
            arguments = ["--no-dashboard", "--nthreads", str(threads), "--memory-limit", "0", "--local-directory", own]
            found[f"worker {number}"] = subprocess.Popen([*worker, *arguments], **quiet)
        with Client(scheduler_file=file, timeout=60) as client:
            client.wait_for_workers(workers, timeout=60)
            yield found, client


def _end(processes):
    for process in processes.values():
        process.kill()
    for process in processes.values():
        process.wait()


def lost(what, name, seed, wait=3.0):
    """The scheduler, or all workers, are killed: the error, how long it took, and whether another cluster ends at the same bits."""
    chance = random.Random(seed)
    make, far, expected, rounds = problem(name, seed)
    kept = _cluster.NO_WORKER_WAIT, _cluster.NO_SCHEDULER_WAIT
    with tempfile.TemporaryDirectory() as folder:
        checkpoint = os.path.join(folder, "fit.checkpoint")
        with own_processes(2) as (processes, client):
            ended = [process for key, process in processes.items() if key.startswith(what)]
            _cluster.NO_WORKER_WAIT = _cluster.NO_SCHEDULER_WAIT = wait
            error, died = None, [0.0]

            def kill():
                died[0] = time.monotonic()
                for process in ended:
                    process.kill()

            try:
                with in_round(chance.randrange(1, rounds), kill):
                    make(client=client, checkpoint=checkpoint).fit(*far)
            except ClusterError as found:
                error = str(found)
            finally:
                _cluster.NO_WORKER_WAIT, _cluster.NO_SCHEDULER_WAIT = kept
            seconds = time.monotonic() - died[0]
        was_kept = os.path.exists(checkpoint)
        with own_processes(1, threads=2) as (_, client):
            model = make(client=client, checkpoint=checkpoint).fit(*far)
        return {"same": bits_of(model) == expected, "error": error, "seconds": seconds, "kept": was_kept, "left": os.listdir(folder)}


_DRIVER = """
import sys, dask_faults, distributed
address, name, seed, checkpoint = sys.argv[1:]
if __name__ == "__main__":
    with dask_faults.small_shards(), distributed.Client(address) as client:
        make, far, _, _ = dask_faults.problem(name, int(seed))
        make(client=client, checkpoint=checkpoint).fit(*far)
"""


def lost_driver(client, name, seed):
    """The process that drives a fit is killed once it has kept where it was; another one goes on."""
    make, far, expected, _ = problem(name, seed)
    with tempfile.TemporaryDirectory() as folder:
        checkpoint = os.path.join(folder, "fit.checkpoint")
        program = [sys.executable, "-c", _DRIVER, client.scheduler.address, name, str(seed), checkpoint]
        driver = subprocess.Popen(program, cwd=os.path.dirname(__file__), stderr=subprocess.DEVNULL)
        for _ in range(6000):
            if os.path.exists(checkpoint) or driver.poll() is not None:
                break
            time.sleep(0.01)
        driver.kill()
        driver.wait()
        kept = os.path.exists(checkpoint)
        model = make(client=client, checkpoint=checkpoint).fit(*far)
        return {"same": bits_of(model) == expected, "kept": kept}
