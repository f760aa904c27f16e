"""From shards on a cluster to a model: the loop that carries the leader's requests to the shards, and their answers back."""

from __future__ import annotations

import os
import time
import uuid
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np

from .. import _engine
from .._errors import InputError
from .._loading import labels_of
from . import _held
from ._cluster import Crew
from ._held import Reply, Summary, Terms

# A checkpoint is written at most this often in seconds, and takes at most this part of the time.
_KEPT_EVERY = 1.0
_PART_OF_KEEPING = 0.05


def summaries_of(crew: Crew) -> list[Summary]:
    """What the rows of all shards are; this makes the shards."""
    found: list[Summary | None] = [None] * len(crew.recipes)

    def hear(shard: int, reply: Reply) -> tuple[str, None]:
        found[shard] = reply.body
        return "taken", None

    crew.ask_all(lambda: [k for k, summary in enumerate(found) if summary is None], lambda _: (_held.summarise, ()), hear)
    return [summary for summary in found if summary is not None]


def measure(client: Any, recipes: list[Any], patience: float | None) -> list[int]:
    """The bytes of the rows that some recipes make."""
    with Crew(client, recipes, patience, hold=_held.measure) as crew:
        return [summary.bytes for summary in summaries_of(crew)]


def labels_of_all(summaries: list[Summary]) -> tuple[np.ndarray, list[str] | None, np.ndarray]:
    """The labels of all shards, sorted; their words where they come from files; and the weight of the rows of each."""
    if summaries[0].in_words:
        words, codes = _engine.sorted_labels([word for summary in summaries for word in summary.labels.tolist()])
        classes: np.ndarray = labels_of(words)
        places = np.array(codes, dtype=np.intp)
    else:
        try:
            classes, places = np.unique(np.concatenate([summary.labels for summary in summaries]), return_inverse=True)
        except TypeError:
            kinds = sorted({type(label).__name__ for summary in summaries for label in summary.labels.tolist()})
            raise TypeError(f"labels of several types cannot be sorted: {kinds}") from None
        words = None
    masses, start = np.zeros(len(classes)), 0
    for summary in summaries:
        own = places.ravel()[start : start + len(summary.labels)]
        np.add.at(masses, own, summary.masses)
        start += len(summary.labels)
    return classes, words, masses


def new_number() -> int:
    """A number that tells a training from all others."""
    return uuid.uuid4().int >> 65


class Keeper:
    """Writes where a training is, so that it can go on from there."""

    def __init__(self, path: str | os.PathLike[str] | None) -> None:
        self.path = None if path is None else os.fspath(path)
        self._next = 0.0

    def found(self) -> bytes | None:
        """What was written before."""
        if self.path is None or not os.path.exists(self.path):
            return None
        with open(self.path, "rb") as file:
            return file.read()

    def keep(self, leader: Any, at_once: bool = False) -> None:
        """Writes, unless that was only just done."""
        started = time.monotonic()
        if self.path is None or not leader.has_begun() or not (at_once or started >= self._next):
            return
        beside = f"{self.path}.{uuid.uuid4().hex}.tmp"
        try:
            with open(beside, "wb") as file:
                file.write(leader.snapshot())
                file.flush()
                os.fsync(file.fileno())
            os.replace(beside, self.path)
        except OSError as error:
            raise InputError(f"the checkpoint {self.path!r} cannot be written: {error}") from None
        finally:
            if os.path.exists(beside):
                os.remove(beside)
        ended = time.monotonic()
        self._next = ended + max(_KEPT_EVERY, (ended - started) / _PART_OF_KEEPING)

    def remove(self) -> None:
        """Takes the file away once the training is done."""
        if self.path is not None and os.path.exists(self.path):
            os.remove(self.path)


History = list[tuple[float, int, int, float | None, float | None]]


def lead(
    crew: Crew,
    leader: Any,
    terms: Terms,
    keeper: Keeper | None = None,
    watch: Callable[..., None] | None = None,
    max_time: float | None = None,
) -> History:
    """Carries messages between a leader and its shards until there is nothing to ask any more."""
    history: History = []
    keeper = keeper or Keeper(None)
    gave_up = False
    # The engine's shards of one training are those of all its rounds.
    terms = replace(terms, number=new_number())
    try:
        while (request := leader.next()) is not None:
            seconds = time.monotonic() - crew.started
            if max_time is not None and seconds > max_time and leader.has_begun() and not gave_up:
                gave_up = True
                leader.give_up()
                continue
            progress = leader.progress()
            history.append((seconds, progress[0], *progress[2:]))
            if watch is not None:
                watch(*progress)
            _ask_round(crew, leader, request, terms)
            crew.report.rounds += 1
            keeper.keep(leader)
    except BaseException:
        keeper.keep(leader, at_once=True)
        raise
    return history


def _ask_round(crew: Crew, leader: Any, request: bytes, terms: Terms) -> None:
    """One round: every shard is asked, and has answered at the end."""
    over = False
    in_full: bytes | None = None

    def question(full: bool) -> tuple[Callable[..., Reply], tuple[Any, ...]]:
        nonlocal in_full
        asked = request
        if full:
            in_full = asked = in_full or leader.next(full=True)
        crew.report.bytes += len(asked)
        return _held.answer, (asked, terms)

    def hear(shard: int, reply: Reply) -> tuple[str, str | None]:
        nonlocal over
        crew.report.bytes += len(reply.body)
        if over:
            return "known", None
        heard, reason = leader.hear(shard, reply.body)
        over = heard == "round-done"
        return heard, reason

    crew.ask_all(lambda: [] if over else leader.missing(), question, hear)
