"""Predictions of rows on a cluster: chunk by chunk, when they are asked for, with the model sent once to each worker."""

from __future__ import annotations

import math
from typing import Any

import dask
import numpy as np

from .. import _engine
from .._errors import InputError
from .._input import words_of
from ._reading import Files, Piece, array_of, read_pieces
from ._sources import aligned, is_frame


def lazily(model: Any, method: str, X: Any) -> Any:
    """A method of a local model on all rows of X, as a collection of the kind of X."""
    probe = np.zeros((1, model.n_features_in_))
    like = getattr(_unnamed(model), method)(probe)
    # One task of the graph, whose result each worker fetches once.
    sent = dask.delayed(model, name=f"maxmargin-model-{dask.base.tokenize(model.coef_, model.intercept_, method)}", traverse=False)
    if isinstance(X, Files):
        import dask.array as da

        def part(piece: Piece) -> Any:
            rows = dask.delayed(_of_piece)(sent, method, piece, X.label)
            return da.from_delayed(rows, shape=(math.nan, *like.shape[1:]), dtype=like.dtype)

        return da.concatenate([part(piece) for piece in X.pieces], allow_unknown_chunksizes=True)
    if is_frame(X):
        meta = _in_frame(like[:0], X._meta.index[:0], model)
        return X.map_partitions(_of_partition, sent, method, meta=meta)
    if X.ndim != 2:
        raise InputError(f"Expected 2D array, got {X.ndim}D array instead")
    if X.shape[1] != model.n_features_in_:
        raise InputError(f"X has {X.shape[1]} features, but the model is expecting {model.n_features_in_} features as input.")
    if X.numblocks[1] > 1:
        X = X.rechunk({1: -1})
    shape = {"drop_axis": 1} if like.ndim == 1 else {"chunks": (X.chunks[0], (like.shape[1],))}
    return X.map_blocks(_of_block, model=sent, method=method, dtype=like.dtype, meta=like[:0], **shape)


def _unnamed(model: Any) -> Any:
    """The model without the names of its columns, so that an array does not make it warn."""
    import copy

    other = copy.copy(model)
    other.__dict__.pop("feature_names_in_", None)
    return other


def _of_block(block: Any, model: Any, method: str) -> np.ndarray:
    if block.shape[0] == 0:
        return getattr(_unnamed(model), method)(np.zeros((1, model.n_features_in_)))[:0]
    return getattr(_unnamed(model), method)(block)


def _of_partition(frame: Any, model: Any, method: str) -> Any:
    if len(frame) == 0:
        return _in_frame(_of_block(np.zeros((0, model.n_features_in_)), model, method), frame.index, model)
    return _in_frame(getattr(model, method)(frame), frame.index, model)


def _in_frame(values: np.ndarray, index: Any, model: Any) -> Any:
    import pandas

    if values.ndim == 1:
        return pandas.Series(values, index=index)
    return pandas.DataFrame(values, index=index, columns=list(model.classes_))


def _of_piece(model: Any, method: str, piece: Piece, label: str | None) -> np.ndarray:
    part = read_pieces((piece,), label, numbers=not hasattr(model, "classes_"))
    return getattr(_unnamed(model), method)(array_of(part, model.n_features_in_))


# Scores


def score(client: Any, model: Any, X: Any, y: Any, weights: Any, numbers: bool) -> float:
    """The share of right classes, or the coefficient of determination of numbers, from sums over the chunks."""
    sent = dask.delayed(model, traverse=False)
    if isinstance(X, Files):
        sums = [dask.delayed(_sums_of_piece)(sent, piece, X.label, numbers) for piece in X.pieces]
    else:
        X, y, weights = aligned(X, y, weights)
        parts = [np.ravel(np.array(part.to_delayed(), dtype=object)).tolist() for part in (X, y, weights) if part is not None]
        sums = [dask.delayed(_sums)(sent, numbers, *chunk) for chunk in zip(*parts, strict=True)]
    found = [part for part in client.gather(client.compute(sums)) if part[0] > 0.0]
    mass = sum(part[0] for part in found)
    if mass == 0.0:
        raise InputError("Invalid input - all samples have zero or negative weights.")
    if not numbers:
        return float(sum(part[1] for part in found) / mass)
    mean = sum(part[0] * part[2] for part in found) / mass
    total = sum(part[3] + part[0] * (part[2] - mean) ** 2 for part in found)
    residual = sum(part[1] for part in found)
    if total == 0.0:
        return 1.0 if residual == 0.0 else 0.0
    return float(1.0 - residual / total)


def _sums(model: Any, numbers: bool, X: Any, y: Any, weights: Any = None) -> tuple[float, ...]:
    """The weight of some rows; and of those that are right, or the squares of what is left, the mean, and the spread around it."""
    if X.shape[0] == 0:
        return 0.0, 0.0, 0.0, 0.0
    predicted = np.asarray(model.predict(X))
    weights = np.ones(len(predicted)) if weights is None else np.asarray(weights, dtype=np.float64)
    mass = float(weights.sum())
    if not numbers:
        return mass, float(weights[predicted == np.asarray(y)].sum()), 0.0, 0.0
    y = np.asarray(y, dtype=np.float64)
    mean = float(np.dot(weights, y)) / mass if mass > 0.0 else 0.0
    return mass, float(np.dot(weights, (y - predicted) ** 2)), mean, float(np.dot(weights, (y - mean) ** 2))


def _sums_of_piece(model: Any, piece: Piece, label: str | None, numbers: bool) -> tuple[float, ...]:
    part = read_pieces((piece,), label, numbers)
    X = array_of(part, model.n_features_in_)
    model = _unnamed(model)
    if numbers:
        return _sums(model, True, X, part.numbers(), part.weights())
    words, codes = part.labels()
    # Labels of files are told apart as the engine tells them apart: +1 is 1.
    own = words_of(model.classes_)
    _, places = _engine.sorted_labels(own + words)
    of_model = {place: code for code, place in enumerate(places[: len(own)])}
    truth = np.array([of_model.get(place, -1) for place in places[len(own) :]], dtype=np.intp)[codes]
    model.classes_ = np.arange(len(own))
    return _sums(model, False, X, truth, part.weights())
