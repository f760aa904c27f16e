"""From what users have to recipes of shards: arrays and frames of Dask, files, and arrays of this process.

Shards are cut by the data alone, by the bytes of whole chunks, so that the same data has the same shards on any cluster.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

import dask
import numpy as np
from dask.core import flatten, get_dependencies

from .._errors import InputError
from .._input import is_sparse, read_array, require_y
from ._held import ArrayRows, Recipe, bytes_of
from ._reading import Files

# A shard has at most these bytes, unless a single chunk has more. Larger ones are fewer messages, smaller ones are sooner made again.
MOST_BYTES = 256 << 20
# Smaller shards than this cost more in messages than they gain by running side by side.
_LEAST_BYTES = 4 << 20
# Data that is smaller than 16 of the largest shards is cut into about this many, so that there is something for each worker.
_USUAL_SHARDS = 16
# Tasks that several shards share are done once, on the cluster, where doing them again for each would be this much work.
_SHARED = 1.5


@dataclass(frozen=True)
class Source:
    """The recipes of all shards, in their order."""

    recipes: list[Recipe]
    held: list[Any] = field(default_factory=list)
    """Results on the cluster that are to stay there as long as the recipes."""


def grouped(sizes: Iterable[float]) -> list[range]:
    """The chunks of each shard, given the bytes of each chunk."""
    sizes = list(sizes)
    target = min(MOST_BYTES, max(_LEAST_BYTES, sum(sizes) / _USUAL_SHARDS))
    groups, start, held = [], 0, 0.0
    for place, size in enumerate(sizes):
        if place > start and held + size > target:
            groups.append(range(start, place))
            start, held = place, 0.0
        held += size
    if start < len(sizes):
        groups.append(range(start, len(sizes)))
    return groups


def is_collection(X: Any) -> bool:
    """Whether X is an array or a frame of Dask."""
    return dask.is_dask_collection(X) and hasattr(X, "npartitions")


def is_frame(X: Any) -> bool:
    """Whether X is a frame or a series of Dask."""
    return is_collection(X) and hasattr(X, "divisions")


def source_of(X: Any, y: Any, weights: Any, name: str, numbers: bool, measure: Callable[[list[Recipe]], list[int]]) -> Source:
    """The recipes for rows X with answers y. `measure` asks the cluster for the bytes of chunks that are not known here."""
    if isinstance(X, Files):
        if y is not None or weights is not None:
            raise InputError("y and sample_weight belong to arrays: of files the label is a column, which read(.., label=..) names")
        return Source(X.recipes(numbers))
    require_y(y, name)
    if not is_collection(X):
        if is_collection(y) or is_collection(weights):
            raise InputError(
                f"X is a {type(X).__name__} of this process, and y or sample_weight is on the cluster\nhelp: give arrays or frames of Dask for all of them"
            )
        return Source(_local(X, y, weights, name, numbers))
    return _of_collections(X, y, weights, name, numbers, measure)


# Arrays of this process


def _local(X: Any, y: Any, weights: Any, name: str, numbers: bool) -> list[Recipe]:
    names = _names_of(X)
    array = read_array(X, name)
    y = np.asarray(y)
    if y.ndim == 0 or len(y) != array.shape[0]:
        raise InputError(f"Found input variables with inconsistent numbers of samples: [{array.shape[0]}, {len(y) if y.ndim else 1}]")
    weights = (
        None
        if weights is None
        else np.broadcast_to(np.asarray(weights), (array.shape[0],))
        if np.ndim(weights) == 0
        else np.asarray(weights)
    )
    if weights is not None and len(weights) != array.shape[0]:
        raise InputError(f"sample_weight.shape == {weights.shape}, expected {(array.shape[0],)}!")
    rows = array.shape[0]
    parts = max(1, min(rows, int(np.ceil(bytes_of(array) / _LEAST_BYTES))))
    ends = [rows * k // parts for k in range(parts + 1)]
    groups = grouped(bytes_of(array) / parts for _ in range(parts))
    recipes = []
    for group in groups:
        start, end = ends[group.start], ends[group.stop]
        part = _Rows(array[start:end], y[start:end], None if weights is None else weights[start:end])
        recipes.append(Recipe(f"rows {start} to {end - 1}", functools.partial(_make_local, part, numbers, names, name)))
    return recipes


@dataclass(frozen=True)
class _Rows:
    X: Any
    y: Any
    weights: Any


def _make_local(part: _Rows, numbers: bool, names: list[str] | None, name: str, _: Any) -> ArrayRows:
    return ArrayRows(part.X, part.y, part.weights, numbers, names, name)


def _names_of(X: Any) -> list[str] | None:
    columns = getattr(X, "columns", None)
    if columns is None or isinstance(X, np.ndarray):
        return None
    names = list(columns)
    return names if all(isinstance(name, str) for name in names) else None


# Arrays and frames of Dask


def _of_collections(X: Any, y: Any, weights: Any, name: str, numbers: bool, measure: Callable[[list[Recipe]], list[int]]) -> Source:
    X, y, weights = aligned(X, y, weights)
    names = _names_of(X) if is_frame(X) else None
    parts = [X, y] + ([] if weights is None else [weights])
    graphs, keys = _graphs(parts)
    chunks = list(zip(*keys, strict=True))
    held: list[Any] = []
    if _share(graphs, chunks):
        held = list(dask.persist(*parts))
        graphs, keys = _graphs(held)
        chunks = list(zip(*keys, strict=True))
    make = functools.partial(_make_of_chunks, numbers, names, name)

    def recipe(group: range) -> Recipe:
        graph, inputs = _culled(graphs, [key for place in group for key in chunks[place]])
        words = f"chunk {group.start}" if len(group) == 1 else f"chunks {group.start} to {group.stop - 1}"
        return Recipe(words, functools.partial(make, graph, [chunks[place] for place in group]), inputs)

    sizes = _known_sizes(X) or measure([recipe(range(place, place + 1)) for place in range(len(chunks))])
    return Source([recipe(group) for group in grouped(sizes)], held)


def aligned(X: Any, y: Any, weights: Any) -> tuple[Any, Any, Any]:
    """Collections with a chunk of each for the same rows, and all columns in a chunk."""
    import dask.array as da

    if not is_frame(X):
        if X.ndim != 2:
            raise InputError(f"Expected 2D array, got {X.ndim}D array instead")
        if X.numblocks[1] > 1:
            X = X.rechunk({1: -1})
    known = not is_frame(X) and not np.isnan(X.shape[0])

    def beside(other: Any, what: str) -> Any:
        if other is None:
            return None
        if not is_collection(other):
            if not known:
                raise InputError(
                    f"{what} is a {type(other).__name__} of this process, and X is a collection whose chunks are not known here\n"
                    f"help: give {what} as an array or a series of Dask with the chunks of X"
                )
            other = np.asarray(other)
            if len(other) != X.shape[0]:
                raise InputError(f"Found input variables with inconsistent numbers of samples: [{X.shape[0]}, {len(other)}]")
            return da.from_array(other, chunks=(X.chunks[0],) + ((-1,) if other.ndim == 2 else ()))
        if known and not is_frame(other) and not np.isnan(other.shape[0]):
            if other.shape[0] != X.shape[0]:
                raise InputError(f"Found input variables with inconsistent numbers of samples: [{X.shape[0]}, {other.shape[0]}]")
            return other if other.chunks[0] == X.chunks[0] else other.rechunk({0: X.chunks[0]})
        if other.npartitions != X.npartitions:
            raise InputError(
                f"X has {X.npartitions} chunks of rows, and {what} has {other.npartitions}\nhelp: cut both alike, as by columns of the same frame"
            )
        return other

    return X, beside(y, "y"), beside(weights, "sample_weight")


def _known_sizes(X: Any) -> list[float] | None:
    """The bytes of each chunk, where they are known without looking at it."""
    if is_frame(X) or np.isnan(X.shape).any() or is_sparse(X._meta):
        return None
    return [rows * X.shape[1] * X.dtype.itemsize for rows in X.chunks[0]]


def _graphs(parts: list[Any]) -> tuple[dict[Any, Any], list[list[Any]]]:
    """The tasks of some collections, and the key of each chunk of each of them. Results on the cluster stand for themselves."""
    # One by one: frames that are optimised together no longer have keys of their own.
    made = [part.optimize() if is_frame(part) else dask.optimize(part)[0] for part in parts]
    tasks: dict[Any, Any] = {}
    for part in parts:
        # What is on the cluster is only in the graph before it is optimised.
        tasks.update({key: value for key, value in dict(part.__dask_graph__()).items() if _is_future(value)})
    for part in made:
        tasks.update(dict(part.__dask_graph__()))
    return tasks, [list(flatten(part.__dask_keys__())) for part in made]


def _is_future(value: Any) -> bool:
    return _future_of(value) is not None


def _future_of(value: Any) -> Any:
    """The result on the cluster that a value of a graph is, if it is one."""
    from distributed import Future

    value = getattr(value, "value", value)
    return value if isinstance(value, Future) else None


def _culled(tasks: Mapping[Any, Any], wanted: list[Any]) -> tuple[dict[Any, Any], dict[Any, Any]]:
    """The tasks that some keys need, and the results on the cluster among them."""
    graph, inputs, open_keys = {}, {}, list(wanted)
    while open_keys:
        key = open_keys.pop()
        if key in graph or key in inputs:
            continue
        task = tasks[key]
        future = _future_of(task)
        if future is not None:
            inputs[key] = future
            continue
        graph[key] = task
        # Graphs made by hand have plain tuples for tasks.
        needed = getattr(task, "dependencies", None)
        open_keys.extend(get_dependencies(tasks, key) if needed is None else needed)
    return graph, inputs


def _share(tasks: Mapping[Any, Any], chunks: list[tuple[Any, ...]]) -> bool:
    """Whether the chunks have so many tasks in common that each is better done once."""
    total, seen = 0, set()
    for keys in chunks:
        graph, _ = _culled(tasks, list(keys))
        total += len(graph)
        seen.update(graph)
    return total > _SHARED * len(seen) + len(chunks)


def _make_of_chunks(
    numbers: bool,
    names: list[str] | None,
    name: str,
    graph: Mapping[Any, Any],
    chunks: list[tuple[Any, ...]],
    inputs: Mapping[Any, Any] | None,
) -> ArrayRows:
    """The rows of some chunks, computed on this worker."""
    columns = list(zip(*chunks, strict=True))
    found = [dask.get({**graph, **(inputs or {})}, list(keys)) for keys in columns]
    X, y, *weights = [_joined(list(parts)) for parts in found]
    return ArrayRows(X, y, weights[0] if weights else None, numbers, names, name)


def _joined(parts: list[Any]) -> Any:
    """Chunks, one below the other."""
    if len(parts) == 1:
        return parts[0]
    if any(is_sparse(part) for part in parts):
        from scipy.sparse import vstack

        return vstack(parts, format="csr")
    if all(hasattr(part, "iloc") for part in parts):
        import pandas

        return pandas.concat(parts)
    return np.concatenate([np.asarray(part) for part in parts])
