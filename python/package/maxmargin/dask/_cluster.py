"""The cluster: shards on its workers, questions to them, and what to do when a worker is lost, slow or wrong.

Everything is a plain task with a key of its own. A shard is a task whose result stays on a worker; Dask makes it again when that worker is
lost. A worker that does not answer in time is not waited for: the shard's recipe is sent elsewhere under a new key, and the first answer counts.
"""

from __future__ import annotations

import asyncio
import statistics
import time
import uuid
from collections.abc import Callable
from dataclasses import dataclass, field
from queue import Empty, Queue
from typing import Any

from .._errors import InputError
from . import _held
from ._held import Recipe, Reply

# Seconds after which a shard is asked elsewhere, at least; and how many times the longest answer so far.
_LEAST_PATIENCE = 10.0
_TIMES_LONGEST = 5.0
# The same for making a shard, which may be reading from a slow disk.
_LEAST_PATIENCE_WHILE_READING = 60.0
# Seconds that a cluster without workers, or without a scheduler, is waited for.
NO_WORKER_WAIT = 60.0
NO_SCHEDULER_WAIT = 20.0
# How often a shard is asked in one round before it is given up.
_MOST_ATTEMPTS = 12
# Requests of more bytes are sent to one worker, from which the others fetch them.
_LARGE = 1 << 17
# Seconds between two looks at what is late while nothing comes, and between two questions to the scheduler who its workers are.
_TICK = 0.25
_LOOKS_APART = 1.0


class ClusterError(RuntimeError):
    """The cluster cannot answer: no worker is left, the scheduler is gone, or a shard is answered wrongly wherever it is asked."""


def client_of(client: Any) -> Any:
    """The client to work with: the one given, or the one that is there."""
    from distributed import Client, get_client

    if client is None:
        try:
            client = get_client()
        except ValueError:
            raise InputError(
                "there is no client of Dask\nhelp: make one first, client = distributed.Client(..), or Client() for this machine alone"
            ) from None
    if not isinstance(client, Client):
        raise InputError(f"client is {client!r}, but it must be a distributed.Client or None")
    if client.asynchronous:
        raise InputError("client is asynchronous, and a fit is not\nhelp: give a client that was made without asynchronous=True")
    return client


@dataclass
class Report:
    """What a training asked of a cluster.

    Attributes
    ----------
    rounds : int
        How often all shards were asked.
    bytes : int
        What was sent to shards and back.
    shards : int
        How many there were.
    rebuilt : int
        Shards that were made again: they were lost with their worker, or asked elsewhere.
    hedged : int
        Shards that were asked elsewhere because their worker did not answer in time.
    wrong : list of (shard, worker, reason)
        Answers that did not hold, and were asked for again elsewhere.
    seconds : float
        From the first task to the last answer.
    processors : list of str
        The kinds of processors that answered. Where there are several, their last bits may differ.
    """

    rounds: int = 0
    bytes: int = 0
    shards: int = 0
    rebuilt: int = 0
    hedged: int = 0
    wrong: list[tuple[int, str, str]] = field(default_factory=list)
    seconds: float = 0.0
    processors: list[str] = field(default_factory=list)


@dataclass
class _Attempt:
    """A question to a shard that is under way."""

    shard: int
    home: Any
    future: Any
    asked: float
    makes: bool


class Crew:
    """The shards of some rows, on the workers of a cluster."""

    def __init__(self, client: Any, recipes: list[Recipe], patience: float | None, hold: Callable[..., Any] = _held.hold) -> None:
        self.client, self.recipes, self.patience, self._hold = client, recipes, patience, hold
        self.report = Report(shards=len(recipes))
        self.started = time.monotonic()
        self._token = uuid.uuid4().hex
        self._count = 0
        self._events: Queue[Any] = Queue()
        self._homes: list[Any] = [None] * len(recipes)
        self._made: list[str | None] = [None] * len(recipes)
        self._where: list[str | None] = [None] * len(recipes)
        self._suspects: dict[str, float] = {}
        self._longest = 0.0
        self._making: list[float] = []
        self._attempts: dict[Any, _Attempt] = {}
        # When the scheduler last named its workers, and which; whether it is being asked, and when it was.
        self._seen: tuple[float, dict[str, Any]] | None = None
        self._looking, self._asked = False, 0.0
        self._alone_since: float | None = None
        self._away_since: float | None = None
        # The last large request, and the task that carries it.
        self._carries: tuple[bytes, Any] | None = None
        # Shards whose tasks the scheduler no longer knows.
        self._lost: set[int] = set()

    def __enter__(self) -> Crew:
        return self

    def __exit__(self, *_: Any) -> None:
        self.report.seconds = time.monotonic() - self.started
        for future in [attempt.future for attempt in self._attempts.values()] + [home for home in self._homes if home is not None]:
            future.release()
        self._homes, self._attempts, self._carries = [], {}, None

    # Asking

    def ask_all(
        self,
        missing: Callable[[], list[int]],
        question: Callable[[bool], tuple[Callable[..., Reply], tuple[Any, ...]]],
        hear: Callable[[int, Reply], tuple[str, str | None]],
    ) -> None:
        """Asks every shard that is missing, until none is. `question(full)` is a function of the shard and its further arguments;
        `hear` says what came of an answer: `taken`, `known`, `behind`, or `wrong` and why.
        """
        self._tries = [0] * len(self.recipes)
        self._liars: dict[int, list[tuple[str, str]]] = {}
        self._times_late = [0] * len(self.recipes)
        self._heard_at = time.monotonic()
        self._asked_of, self._missing = question, missing
        for shard in missing():
            self._ask(shard, full=False)
        while left := missing():
            for reply, attempt in self._replies(left):
                self._take(reply, attempt, hear)
            self._hedge(missing())
        for attempt in self._attempts.values():
            attempt.future.release()
        self._attempts.clear()

    def _take(self, reply: Reply, attempt: _Attempt, hear: Callable[[int, Reply], tuple[str, str | None]]) -> None:
        shard = attempt.shard
        took = time.monotonic() - attempt.asked
        if attempt.makes:
            self._making.append(took)
        else:
            self._longest = max(self._longest, took)
        self._heard_at = time.monotonic()
        self._suspects.pop(reply.worker, None)
        heard, reason = hear(shard, reply)
        if heard == "known" and shard in self._missing() and not any(other.shard == shard for other in self._attempts.values()):
            heard, reason = "wrong", "it is the answer to another request"
        if heard == "behind":
            self._ask(shard, full=True, home=attempt.home)
        elif heard == "wrong" and shard in self._missing():
            told = self._liars.setdefault(shard, [])
            told.append((reply.worker, reason or ""))
            self.report.wrong.append((shard, reply.worker, reason or ""))
            if len(told) > 1:
                said = "; ".join(f"{worker} said what does not hold: {why}" for worker, why in told)
                raise ClusterError(
                    f"shard {shard} ({self.recipes[shard].words}) was answered wrongly twice: {said}\n"
                    "help: look at the memory and the processor of these workers, and at whether the data changes while it is read"
                )
            self._suspects[reply.worker] = time.monotonic()
            self._ask(shard, full=True, anew=True)
        elif heard != "known":
            if self._made[shard] is not None and self._made[shard] != reply.made:
                self.report.rebuilt += 1
            self._made[shard], self._where[shard], self._homes[shard] = reply.made, reply.worker, attempt.home

    def _ask(self, shard: int, full: bool, home: Any = None, anew: bool = False) -> None:
        """Sends a question to a shard, which is made first where it is not there or has to be made elsewhere."""
        self._tries[shard] += 1
        if self._tries[shard] > _MOST_ATTEMPTS:
            raise ClusterError(
                f"shard {shard} ({self.recipes[shard].words}) was asked {_MOST_ATTEMPTS} times in one round without an answer\n"
                "help: look at the workers' logs; give more patience where they are slow"
            )
        home = self._homes[shard] if home is None and not anew else home
        makes = home is None
        if makes:
            recipe = self.recipes[shard]
            bare = Recipe(recipe.words, recipe.make)
            home = self._submit("shard", self._hold, shard, bare, recipe.inputs, workers=self._trusted() if anew else None)
            if self._homes[shard] is None:
                self._homes[shard] = home
        function, arguments = self._asked_of(full)
        future = self._submit("answer", function, home, *(self._carried(argument) for argument in arguments))
        self._attempts[future.key] = _Attempt(shard, home, future, time.monotonic(), makes)
        future.add_done_callback(self._events.put)

    def _carried(self, argument: Any) -> Any:
        """A large request goes to one worker, under a key of its own for each shard that needs it anew."""
        if not isinstance(argument, bytes) or len(argument) <= _LARGE:
            return argument
        if self._carries is None or self._carries[0] is not argument:
            self._carries = (argument, self._submit("request", _held.carry, argument, workers=self._trusted()))
        return self._carries[1]

    def _submit(self, what: str, function: Callable[..., Any], *arguments: Any, workers: list[str] | None = None) -> Any:
        self._count += 1
        # A key that never comes twice: Dask would take the old result for the new one.
        key = (f"maxmargin-{what}-{self._token}", self._count)
        pinned = {"workers": workers, "allow_other_workers": True} if workers else {}
        try:
            return self.client.submit(function, *arguments, key=key, pure=False, **pinned)
        except Exception as error:
            if self.client.status == "running":
                raise
            raise self._lost_scheduler() from error

    def _trusted(self) -> list[str] | None:
        """The workers that nothing is held against; None where that is all of them, or none."""
        workers = self._workers()
        found = [worker for worker in workers if worker not in self._suspects]
        return found if found and len(found) < len(workers) else None

    # Hearing

    def _replies(self, left: list[int]) -> list[tuple[Reply, _Attempt]]:
        """What has come, after a short while at most."""
        self._look_at_cluster()
        try:
            events = [self._events.get(timeout=_TICK)]
        except Empty:
            return []
        while not self._events.empty():
            events.append(self._events.get_nowait())
        finished, replies = [], []
        for event in events:
            if isinstance(event, _Fetched):
                replies += self._unpack(event)
                continue
            attempt = self._attempts.get(event.key)
            if attempt is None:
                continue
            if event.status == "finished":
                finished.append(event)
            elif event.status == "pending":
                # It was done, and was lost with its worker: Dask does it again.
                event.add_done_callback(self._events.put)
            else:
                self._failed(event, attempt, left)
        if finished:
            self._fetch(finished)
        return replies

    def _fetch(self, futures: list[Any]) -> None:
        """Fetches results without waiting for them: a worker may stop at any moment."""

        async def fetch() -> None:
            try:
                found = await self.client.gather(futures, errors="raise", asynchronous=True)
                self._events.put(_Fetched(futures, found, None))
            except (Exception, asyncio.CancelledError) as error:  # whatever it is, the driver's thread has to hear of it
                self._events.put(_Fetched(futures, None, error))

        self.client.loop.add_callback(fetch)

    def _unpack(self, fetched: _Fetched) -> list[tuple[Reply, _Attempt]]:
        found = []
        for place, future in enumerate(fetched.futures):
            attempt = self._attempts.get(future.key)
            if attempt is None:
                continue
            if fetched.error is None:
                self._attempts.pop(future.key)
                found.append((fetched.replies[place], attempt))
            elif len(fetched.futures) > 1:
                self._fetch([future])
            else:
                self._failed(future, attempt, [attempt.shard])
        return found

    def _failed(self, future: Any, attempt: _Attempt, left: list[int]) -> None:
        """A task that has no result: the user's data is at fault, or the cluster."""
        self._attempts.pop(future.key, None)
        self._check_scheduler()
        if future.status == "error":
            error = future.exception()
            if isinstance(error, (InputError, TypeError, MemoryError)):
                raise error
            from distributed import KilledWorker

            if isinstance(error, KilledWorker):
                raise ClusterError(
                    f"shard {attempt.shard} ({self.recipes[attempt.shard].words}) ended one worker after the other: {error}\n"
                    "help: workers that run out of memory are ended; give them more, or smaller chunks"
                ) from error
            if isinstance(error, ImportError):
                raise ClusterError(f"a worker cannot run maxmargin: {error}\nhelp: install the same version on every worker") from error
            raise ClusterError(f"shard {attempt.shard} ({self.recipes[attempt.shard].words}) failed: {error!r}") from error
        # The result, or what it was made of, was lost with its worker.
        if attempt.shard in left and not any(other.shard == attempt.shard for other in self._attempts.values()):
            self._lost.add(attempt.shard)

    # Being patient

    def _patience(self) -> float:
        own = self.patience
        if not self._making or len(self._making) < len(self.recipes):
            typical = statistics.median(self._making) if self._making else 0.0
            least = _LEAST_PATIENCE_WHILE_READING if own is None else own
            return max(least, _TIMES_LONGEST * typical)
        return max(_LEAST_PATIENCE, _TIMES_LONGEST * self._longest) if own is None else own

    def _hedge(self, left: list[int]) -> None:
        """Asks elsewhere what was not answered in time. As long as anybody answers, what is left may be waiting for its turn."""
        now, patience = time.monotonic(), self._patience()
        last: dict[int, float] = {}
        for attempt in self._attempts.values():
            last[attempt.shard] = max(last.get(attempt.shard, self._heard_at), attempt.asked)
        late = [shard for shard in left if now - last.get(shard, now) > patience * 2.0 ** self._times_late[shard]]
        if not late:
            return
        for shard in late:
            self._times_late[shard] += 1
            if self._where[shard] is not None:
                self._suspects[self._where[shard]] = now
        workers = self._workers()
        if len(workers) < 2 or all(worker in self._suspects for worker in workers):
            # There is nobody else to ask.
            self._suspects.clear()
            return
        for shard in late:
            self.report.hedged += 1
            self._ask(shard, full=True, anew=True)

    # Looking at the cluster

    def _workers(self) -> dict[str, Any]:
        """The workers that the scheduler knows, as it said a second or so ago."""
        if self._seen is None:
            self._seen = (time.monotonic(), self.client.scheduler_info(n_workers=-1).get("workers", {}))
        return self._seen[1]

    def _refresh(self) -> None:
        """Asks the scheduler for its workers, without waiting for the answer."""

        async def look() -> None:
            try:
                found = await self.client.scheduler.identity(n_workers=-1)
                self._seen = (time.monotonic(), found["workers"])
            except (OSError, asyncio.CancelledError):
                pass  # how long nothing has been heard says enough
            finally:
                self._looking = False

        if not self._looking and self.client.status == "running" and time.monotonic() - self._asked > _LOOKS_APART:
            self._looking, self._asked = True, time.monotonic()
            self.client.loop.add_callback(look)

    def _look_at_cluster(self) -> None:
        """An error once nobody is left who could answer."""
        self._check_scheduler()
        self._refresh()
        now = time.monotonic()
        if self._workers():
            self._alone_since = None
        elif self._alone_since is None:
            self._alone_since = now
        elif now - self._alone_since > NO_WORKER_WAIT:
            raise ClusterError(
                f"no worker has been there for {NO_WORKER_WAIT:.0f} seconds\n"
                "help: start workers, and fit again; with checkpoint=.. the fit goes on where it is"
            )
        if self._lost and self.client.status == "running":
            lost, self._lost = self._lost, set()
            for shard in sorted(lost):
                self._homes[shard] = self._made[shard] = None
                self.report.rebuilt += 1
                self._ask(shard, full=True, anew=True)

    def _check_scheduler(self) -> None:
        """An error once the scheduler has been away for a while. A connection that comes back finds none of the tasks any more."""
        now, status = time.monotonic(), self.client.status
        if status == "running":
            self._away_since = self._asked if self._looking else None
        elif self._away_since is None:
            self._away_since = now
        if status in ("closed", "closing") or (self._away_since is not None and now - self._away_since > NO_SCHEDULER_WAIT):
            raise self._lost_scheduler()

    @staticmethod
    def _lost_scheduler() -> ClusterError:
        return ClusterError(
            "the scheduler is gone, and with it every task\n"
            "help: connect to a cluster, and fit again; with checkpoint=.. the fit goes on where it is"
        )


@dataclass
class _Fetched:
    """Results that were fetched, or why they were not."""

    futures: list[Any]
    replies: Any
    error: BaseException | None
