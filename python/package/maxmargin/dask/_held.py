"""What runs on a worker: the rows of a shard, and the functions that are sent to them.

A worker's `Held` is a cache. All that it remembers can be made again from its recipe and a request in full, to the same bits.
"""

from __future__ import annotations

import contextlib
import functools
import uuid
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from dask.sizeof import sizeof

from .. import _engine
from .._errors import InputError
from .._fitting import answers
from .._input import is_single, is_sparse, read_array, read_classes, read_targets, read_weights, to_engine
from .._linear import appended
from .._threads import threads


@dataclass(frozen=True)
class Terms:
    """What the shards of a training have in common, known once all of them were looked at."""

    columns: int
    words: list[str]
    """The labels in words; empty for a regression."""
    classes: np.ndarray | None = None
    """The labels as the user has them, sorted."""
    factors: np.ndarray | None = None
    """What the weights of the rows of each class are multiplied by."""
    constant: float | None = None
    """The number in a last column that is added, whose weight is the intercept."""
    number: int = 0
    """Tells these terms from those of another training."""


@dataclass(frozen=True)
class Summary:
    """What the rows of a shard are, before anything is asked of them."""

    rows: int
    columns: int
    bytes: int
    labels: np.ndarray | None
    masses: np.ndarray | None
    single: bool
    names: list[str] | None = None
    in_words: bool = False
    """Whether the labels are words of a file, which may spell numbers."""


@dataclass(frozen=True)
class Reply:
    """What came back from a worker."""

    body: Any
    worker: str
    made: str
    """Tells one making of a shard from another."""


@dataclass(frozen=True)
class Recipe:
    """How the rows of a shard are made, anywhere and to the same bits."""

    words: str
    """What messages call these rows."""
    make: Callable[[Mapping[Any, Any] | None], Any]
    inputs: Mapping[Any, Any] | None = None
    """Results on the cluster that the rows are made of, by their keys."""


class Held:
    """The rows of a shard, where they are."""

    def __init__(self, number: int, recipe: Recipe, inputs: Mapping[Any, Any] | None = None) -> None:
        self.number, self.recipe = number, recipe
        self.made = uuid.uuid4().hex
        with named(recipe.words):
            self.rows = recipe.make(inputs)
            self.summary = self.rows.summary()
        self._shard: tuple[int, _engine.Shard] | None = None

    def shard(self, terms: Terms) -> _engine.Shard:
        """The engine's shard, made when it is first asked for."""
        if self._shard is None or self._shard[0] != terms.number:
            self._shard = None
            with named(self.recipe.words):
                self._shard = (terms.number, self.rows.shard(self.number, terms, team()))
        return self._shard[1]

    def __reduce__(self) -> Any:
        return _moved, (self.number, self.recipe.words, self.rows, self.made)


def _moved(number: int, words: str, rows: Any, made: str) -> Held:
    """A shard that came from another worker: the rows are those of the same making."""
    held = Held(number, Recipe(words, functools.partial(_same, rows)))
    held.made = made
    return held


def _same(rows: Any, _: Any) -> Any:
    return rows


@dataclass
class ArrayRows:
    """Rows in an array or a CSR matrix, with their answers."""

    X: Any
    y: Any
    weights: Any
    numbers: bool
    names: list[str] | None
    name: str

    def __post_init__(self) -> None:
        self.single = is_single(self.X)
        self.array = read_array(self.X, self.name)
        self.X = None
        self.known = read_weights(self.weights, self.array.shape[0], negative=True, some=False)
        if self.numbers:
            self.targets = read_targets(self.y, self.array.shape[0], self.name)
        elif self.array.shape[0] == 0:
            self.labels, self.codes = np.asarray(self.y)[:0], np.zeros(0, dtype=np.uint32)
        else:
            self.labels, self.codes = read_classes(self.y, self.array.shape[0], self.name, least=1)
        self.y = self.weights = None

    def summary(self) -> Summary:
        """What the rows are."""
        rows, columns = self.array.shape
        found = dict(rows=rows, columns=columns, bytes=bytes_of(self.array), single=self.single, names=self.names)
        if self.numbers:
            return Summary(**found, labels=None, masses=None)
        return Summary(**found, labels=self.labels, masses=np.bincount(self.codes, weights=self.known, minlength=len(self.labels)))

    def shard(self, number: int, terms: Terms, team: _engine.Team) -> _engine.Shard:
        """A shard of these rows."""
        if self.array.shape[1] != terms.columns:
            raise InputError(f"shard {number} has {self.array.shape[1]} columns, and another one has {terms.columns}")
        array = self.array if terms.constant is None else appended(self.array, terms.constant)
        data = to_engine(array, team.threads)
        if self.numbers:
            return _engine.Shard(number, data, answers(targets=self.targets, weights=self.known), team)
        codes = np.searchsorted(terms.classes, self.labels).astype(np.uint32)[self.codes]
        weights = self.known
        if terms.factors is not None:
            weights = (1.0 if weights is None else weights) * terms.factors[codes]
        return _engine.Shard(number, data, answers(terms.words, codes, weights=weights), team)


def bytes_of(array: Any) -> int:
    """The bytes of an array or of a matrix of scipy's."""
    if is_sparse(array):
        array = array.tocsr()
        return array.data.nbytes + array.indices.nbytes + array.indptr.nbytes
    return int(array.nbytes)


@sizeof.register(Held)
def _size_of_held(held: Held) -> int:
    # Work-stealing weighs this against the time of an answer, and the worker's memory limit counts it.
    return held.summary.bytes + 64 * held.summary.rows


@contextlib.contextmanager
def named(words: str) -> Iterator[None]:
    """Says in errors of the data which rows they are about."""
    try:
        yield
    except InputError as error:
        raise InputError(f"{words}: {error}") from None


@functools.lru_cache(maxsize=8)
def _team_of(count: int) -> _engine.Team:
    return _engine.Team(count)


def team() -> _engine.Team:
    """The threads of this process: the worker's own number, as Dask sets OMP_NUM_THREADS to 1 in each of its workers."""
    try:
        from distributed import get_worker

        return _team_of(max(1, int(get_worker().state.nthreads)))
    except ValueError:
        return _team_of(threads(None))


def here() -> str:
    """The name of the worker that runs this."""
    try:
        from distributed import get_worker

        return str(get_worker().address)
    except ValueError:
        return "here"


class Measured:
    """What the rows of a shard are, without the rows."""

    def __init__(self, number: int, recipe: Recipe, inputs: Mapping[Any, Any] | None = None) -> None:
        held = Held(number, recipe, inputs)
        self.summary, self.made = held.summary, held.made


# What is sent to workers


def hold(number: int, recipe: Recipe, inputs: Mapping[Any, Any] | None) -> Held:
    """Makes the rows of a shard."""
    return Held(number, recipe, inputs)


def measure(number: int, recipe: Recipe, inputs: Mapping[Any, Any] | None) -> Measured:
    """Makes the rows of a shard, and keeps their size alone."""
    return Measured(number, recipe, inputs)


def summarise(held: Held | Measured) -> Reply:
    """What the rows of a shard are."""
    return Reply(held.summary, here(), held.made)


def answer(held: Held, request: bytes, terms: Terms) -> Reply:
    """The answer of a shard to a request."""
    return Reply(answered(held, request, terms), here(), held.made)


def answered(held: Held, request: bytes, terms: Terms) -> bytes:
    """The bytes of an answer."""
    return held.shard(terms).answer(request)


def moments(held: Held, terms: Terms) -> Reply:
    """The means of the classes and the scatter within them."""
    return Reply(held.shard(terms).moments(terms.words), here(), held.made)


def carry(request: bytes) -> bytes:
    """A large request, sent to one worker, from which the others fetch it."""
    return request
