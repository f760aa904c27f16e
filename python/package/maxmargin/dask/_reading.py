"""Files that the workers read, each its part, with the engine's own reader."""

from __future__ import annotations

import functools
import glob
import os
from dataclasses import dataclass
from typing import Any

import numpy as np

from .. import _engine
from .._errors import InputError
from . import _held
from ._held import Recipe, Summary, Terms

# A text is cut into pieces of about this many bytes, each at the end of a line.
_PIECE = 64 << 20
# Bytes that are looked through at a time for the end of a line.
_LOOK = 1 << 16
_LIBSVM = (".svm", ".libsvm", ".svmlight")
_KNOWN = (*_LIBSVM, ".csv", ".tsv", ".parquet", ".arrow", ".feather", ".npz", ".mmc")


@dataclass(frozen=True)
class Piece:
    """A file, or a part of a text from one byte up to another."""

    path: str
    size: int
    start: int | None = None
    end: int | None = None


@dataclass(frozen=True)
class Files:
    """Files of rows, to be read by the workers."""

    pieces: tuple[Piece, ...]
    label: str | None

    def recipes(self, numbers: bool) -> list[Recipe]:
        """A recipe for each shard: pieces that follow one another."""
        from ._sources import grouped

        made = []
        for group in grouped(piece.size for piece in self.pieces):
            parts = self.pieces[group.start : group.stop]
            names = sorted({os.path.basename(piece.path) for piece in parts})
            words = names[0] if len(names) == 1 else f"{names[0]} to {names[-1]}"
            if len(names) == 1 and parts[0].start is not None:
                words += f", bytes {parts[0].start} to {parts[-1].end}"
            made.append(Recipe(words, functools.partial(_make, parts, self.label, numbers)))
        return made

    def __repr__(self) -> str:
        files = len({piece.path for piece in self.pieces})
        return f"Files({files} files, {sum(piece.size for piece in self.pieces)} bytes, label={self.label!r})"


def read(path: str | os.PathLike[str] | list[str], *, label: str | None = None) -> Files:
    """Files for `fit`, `verify`, `score` and `predict` of the estimators here, which their workers read with the engine's own reader.

    Parameters
    ----------
    path : path, pattern or list of these
        Such as ``"folder/*.parquet"``. LIBSVM text, CSV, Parquet, Arrow, npz, and the caches of ``maxmargin convert``. Every worker must be
        able to read them under this path, and they must not change while they are used.
    label : str, optional
        The column of a table that holds the label, by name, or by number counted from 1; None for the last. LIBSVM text begins with it.

    Returns
    -------
    Files

    Examples
    --------
    >>> import os, tempfile
    >>> from maxmargin.dask import read
    >>> path = os.path.join(tempfile.mkdtemp(), "part.svm")
    >>> _ = open(path, "w").write("+1 1:0.5\\n-1 2:1\\n")
    >>> read(path)
    Files(1 files, 17 bytes, label=None)
    """
    patterns = [path] if isinstance(path, (str, os.PathLike)) else list(path)
    found: list[str] = []
    for pattern in map(os.fspath, patterns):
        names = sorted(glob.glob(pattern)) if glob.has_magic(pattern) and not os.path.exists(pattern) else [pattern]
        found += [name for name in names if os.path.isfile(name)]
        if not any(os.path.isfile(name) for name in names):
            raise InputError(f"no file is called {pattern!r}\nhelp: name files that this process and every worker can read")
    pieces: list[Piece] = []
    for name in found:
        if not name.lower().endswith(_KNOWN):
            raise InputError(f"{name!r} is of no format that is read here\nhelp: the name must end in one of {', '.join(_KNOWN)}")
        pieces += _cut(os.path.abspath(name))
    return Files(tuple(pieces), label)


def _cut(path: str) -> list[Piece]:
    """A file, or the pieces of a large LIBSVM text, whose lines say everything by themselves."""
    size = os.path.getsize(path)
    if not path.lower().endswith(_LIBSVM) or size <= 2 * _PIECE:
        return [Piece(path, size)]
    ends = [0]
    with open(path, "rb") as file:
        while ends[-1] < size:
            end = ends[-1] + _PIECE
            file.seek(min(end, size))
            while end < size:
                looked = file.read(_LOOK)
                place = looked.find(b"\n")
                if place >= 0:
                    end += place + 1
                    break
                end += len(looked)
            ends.append(min(end, size))
    return [Piece(path, end - start, start, end) for start, end in zip(ends, ends[1:])]


def _make(pieces: tuple[Piece, ...], label: str | None, numbers: bool, _: Any) -> FileRows:
    return FileRows(pieces, label, numbers)


def read_pieces(pieces: tuple[Piece, ...], label: str | None, numbers: bool) -> _engine.Part:
    """The rows of some pieces, one below the other."""
    team = _held.team()

    def bytes_of(piece: Piece) -> tuple[int, int] | None:
        return None if piece.start is None or piece.end is None else (piece.start, piece.end)

    parts = [_engine.Part.read(piece.path, label, numbers, bytes_of(piece), team) for piece in pieces]
    return parts[0] if len(parts) == 1 else _engine.Part.joined(parts)


def array_of(part: _engine.Part, columns: int) -> Any:
    """The numbers of a part as an array, or as a CSR matrix."""
    found = part.arrays(columns)
    if isinstance(found, np.ndarray):
        return found
    from scipy.sparse import csr_matrix

    return csr_matrix(found, shape=(part.shape[0], columns))


class FileRows:
    """The rows of some pieces, in the engine's memory."""

    def __init__(self, pieces: tuple[Piece, ...], label: str | None, numbers: bool) -> None:
        self.pieces, self.label, self.numbers = pieces, label, numbers
        self.part = read_pieces(pieces, label, numbers)

    def __reduce__(self) -> Any:
        # It is sooner read again than sent.
        return FileRows, (self.pieces, self.label, self.numbers)

    def summary(self) -> Summary:
        """What the rows are."""
        rows, columns = self.part.shape
        words, masses = self.part.masses()
        known = dict(rows=rows, columns=columns, bytes=self.part.nbytes, single=False, names=self.part.names)
        if self.numbers:
            return Summary(**known, labels=None, masses=None)
        # In words: what they are as numbers is for all shards together to say.
        return Summary(**known, labels=np.array(words, dtype=object), masses=np.array(masses), in_words=True)

    def shard(self, number: int, terms: Terms, team: _engine.Team) -> _engine.Shard:
        """A shard of these rows."""
        if terms.constant is not None:
            raise InputError(
                "an intercept that is the weight of a column of another number than 1 goes with arrays and not with files\n"
                "help: choose intercept_scaling=1, or None"
            )
        factors = None if terms.factors is None else terms.factors.tolist()
        return self.part.shard(number, terms.columns, terms.words, factors, team)
