"""A table of calls, right and wrong, with what each gives. No call may end the interpreter or be a bug of ours, and what is refused is
refused with what was found."""

from __future__ import annotations

import array
import collections
import datetime
import pathlib
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
import scipy.sparse as sp

import maxmargin
from maxmargin import (
    SVC,
    SVDD,
    SVR,
    ConvergenceWarning,
    InputError,
    InternalError,
    NotFittedError,
    NuSVC,
    NuSVR,
    OneClassSVM,
)

NAN, INF = float("nan"), float("inf")

# Small whole numbers of 0 or more, so that every type of number holds them exactly.
_draw = np.random.RandomState(0)
X = _draw.randint(0, 8, (24, 3)).astype(np.float64)
Y = (X.sum(axis=1) + _draw.rand(24) > 10).astype(np.int64)
T = X @ [1.0, -0.5, 0.25]
W = np.ones(24)
K = X @ X.T
WORDS = np.where(Y == 1, "yes", "no")
FRAME = pd.DataFrame(X, columns=["a", "b", "c"])
CSR = sp.csr_matrix(X)
REFERENCE = SVC().fit(X, Y).decision_function(X)
ROUNDING = 1e-11  # of the same sums in another order


@dataclass
class Call:
    name: str
    run: Callable[[], Any]
    expected: Any = None
    error: type[BaseException] | tuple[type[BaseException], ...] | None = None
    part: str = ""
    warning: type[Warning] | None = None


def gives(name: str, run: Callable[[], Any], expected: Any = True, warning: type[Warning] | None = None) -> Call:
    """A call with its result."""
    return Call(name, run, expected, warning=warning)


def refuses(name: str, run: Callable[[], Any], part: str, error: Any = InputError) -> Call:
    """A call that is refused, with a part of the message."""
    return Call(name, run, error=error, part=part)


def same(name: str, make: Callable[[], Any], y: Any = Y) -> Call:
    """Rows in another form, which give the same model and the same decision values."""

    def run() -> bool:
        rows = make()
        found = SVC().fit(rows, y() if callable(y) else y)
        return bool(np.abs(found.decision_function(rows) - REFERENCE).max() < ROUNDING)

    return gives(name, run)


def changed(values: np.ndarray, place: Any, value: Any, dtype: Any = None) -> np.ndarray:
    """A copy with one value changed."""
    copy = np.array(values, dtype=dtype or values.dtype)
    copy[place] = value
    return copy


def strided() -> np.ndarray:
    wide = np.full((48, 6), NAN)
    wide[::2, ::2] = X
    return wide[::2, ::2]


def unaligned(dtype: str = "f8") -> np.ndarray:
    found = np.ndarray(X.shape, dtype, buffer=bytearray(X.astype(dtype).nbytes + 1), offset=1)
    found[:] = X
    return found


def read_only(values: np.ndarray) -> np.ndarray:
    copy = values.copy()
    copy.flags.writeable = False
    return copy


def mapped(mode: str) -> np.ndarray:
    np.memmap("rows.bin", "f8", "w+", shape=X.shape)[:] = X
    return np.memmap("rows.bin", "f8", mode, shape=X.shape)


def nullable(kind: str, gap: bool = False) -> pd.DataFrame:
    frame = FRAME.astype(kind)
    if gap:
        frame.iloc[2, 1] = pd.NA
    return frame


def column(**columns: Any) -> pd.DataFrame:
    return FRAME.assign(**columns)


def wide_indices(kind: type = sp.csr_matrix) -> Any:
    found = kind(X)
    found.indices, found.indptr = found.indices.astype(np.int64), found.indptr.astype(np.int64)
    return found


def unsorted() -> sp.csr_matrix:
    lines = [(np.flatnonzero(row)[::-1], row[np.flatnonzero(row)[::-1]]) for row in X]
    offsets = np.cumsum([0] + [len(places) for places, _ in lines])
    return sp.csr_matrix((np.concatenate([v for _, v in lines]), np.concatenate([p for p, _ in lines]), offsets), shape=X.shape)


def twice() -> sp.csr_matrix:
    return sp.csr_matrix((np.repeat(CSR.data / 2, 2), np.repeat(CSR.indices, 2), CSR.indptr * 2), shape=X.shape)


def broken(kind: str = "csr", **parts: Any) -> Any:
    """A sparse matrix whose parts were changed behind scipy's back."""
    found = getattr(sp, f"{kind}_matrix")(X)
    for name, values in parts.items():
        setattr(found, name, values)
    return found


def told_sorted(matrix: Any) -> Any:
    matrix.has_sorted_indices = matrix.has_canonical_format = True
    return matrix


def fitted(kind: type = SVC, **parameters: Any) -> Any:
    return kind(**parameters).fit(X, T if kind in (SVR, NuSVR) else Y)


def named(**parameters: Any) -> Callable[[], str]:
    """The name of the class that was fitted with some parameters."""
    return lambda: type(fitted(**parameters)).__name__


def classes(y: Any) -> Callable[[], list[Any]]:
    return lambda: SVC().fit(X, y).classes_.tolist()


def weighed(weights: Any, kind: type = SVC) -> Callable[[], Any]:
    return lambda: kind().fit(X, T if kind in (SVR, NuSVR) else Y, sample_weight=weights)


def as_without_weights(weights: Any) -> Callable[[], bool]:
    return lambda: bool(np.array_equal(weighed(weights)().decision_function(X), REFERENCE))


def failing(left: Any, right: Any) -> Any:
    raise ZeroDivisionError("in the kernel")


def learns(kernel: Callable[[Any, Any], Any], rows: Any = X, y: Any = Y) -> Callable[[], Any]:
    """Predictions of the first two rows with a function for a kernel."""
    return lambda: SVC(kernel=kernel).fit(rows, y).predict(rows[:2]).tolist()


LINEAR = SVC(kernel="linear").fit(X, Y).predict(X[:2]).tolist()


def written(content: bytes) -> pathlib.Path:
    path = pathlib.Path("other.mm")
    path.write_bytes(content)
    return path


def saved(**params: Any) -> bytes:
    fitted(**params).save("saved.mm")
    return pathlib.Path("saved.mm").read_bytes()


def spoilt() -> bytes:
    content = bytearray(saved())
    content[-100] ^= 0xFF
    return bytes(content)


def round_trip(kind: type, **parameters: Any) -> bool:
    model = fitted(kind, **parameters)
    model.save("model.mm")
    again = maxmargin.load("model.mm")
    return type(again) is kind and np.array_equal(again.predict(X), model.predict(X)) and again.n_features_in_ == 3


ROWS = [
    *(same(f"rows of {kind}", lambda kind=kind: X.astype(kind)) for kind in "f2 f4 f8 g i1 i2 i4 i8 u1 u2 u4 u8 O".split()),
    *(same(f"rows of {kind} in the other byte order", lambda kind=kind: X.astype(kind)) for kind in (">f2", ">f4", ">f8", ">i2", ">u8")),
    gives(
        "rows of bool are zeros and ones",
        lambda: np.array_equal(SVC().fit(X > 3, Y).predict(X > 3), SVC().fit((X > 3) * 1.0, Y).predict((X > 3) * 1.0)),
    ),
    same("rows as lists", lambda: X.tolist()),
    same("rows as tuples", lambda: tuple(map(tuple, X.tolist()))),
    same("rows as a list of arrays", lambda: list(X)),
    same("rows as arrays of the standard library", lambda: [array.array("d", row) for row in X]),
    same("rows of fractions", lambda: [[Fraction(int(value)) for value in row] for row in X]),
    same("rows of decimals", lambda: [[Decimal(int(value)) for value in row] for row in X]),
    same("rows in Fortran's order", lambda: np.asfortranarray(X)),
    same("every second row and column of more", strided),
    same("rows that are stored backwards", lambda: np.ascontiguousarray(X[::-1])[::-1]),
    same("columns that are stored backwards", lambda: np.ascontiguousarray(X[:, ::-1])[:, ::-1]),
    same("rows that are a transposed array", lambda: np.ascontiguousarray(X.T).T),
    same("doubles that lie at no address of doubles", unaligned),
    same("singles that lie at no address of singles", lambda: unaligned("f4")),
    same("rows of a file that is mapped and may be written", lambda: mapped("r+")),
    same("rows of a file that is mapped and may not be written", lambda: mapped("r")),
    same("rows that may not be written", lambda: read_only(X), read_only(Y)),
    same("rows that are a numpy matrix", lambda: np.asmatrix(X)),
    same("a masked array with no value masked", lambda: np.ma.array(X)),
    same("a memory view", lambda: memoryview(X)),
    refuses("a masked array with values masked", lambda: SVC().fit(np.ma.array(X, mask=X == 7), Y), "are masked"),
    refuses("complex rows", lambda: SVC().fit(X + 1j, Y), "Complex data not supported"),
    refuses("complex rows to predict", lambda: fitted().predict(X + 1j), "Complex data not supported"),
    refuses("rows of text", lambda: SVC().fit(X.astype(str), Y), "array of <U32"),
    refuses("rows of bytes", lambda: SVC().fit(X.astype("S"), Y), "array of |S32"),
    refuses("rows of dates", lambda: SVC().fit(X.astype("M8[D]"), Y), "datetime64[D]"),
    refuses("rows of durations", lambda: SVR().fit(X.astype("m8[s]"), T), "timedelta64[s]"),
    refuses("rows of raw memory", lambda: SVC().fit(np.zeros((24, 2), "V8"), Y), "|V8"),
    refuses("rows of records", lambda: SVC().fit(np.zeros(24, [("a", "f8"), ("b", "f8")]), Y), "works on numbers"),
    refuses("objects that are text", lambda: SVC().fit([[1.0, "red"]] * 23 + [[1, None]], Y), "'red'"),
    refuses("objects that are dictionaries", lambda: SVC().fit(changed(X, (1, 2), {}, object), Y), "row 1, column 2 is {}", TypeError),
    refuses("objects that are lists", lambda: SVC().fit(np.array([[[1], 2]] * 24, dtype=object), Y), "'list'", TypeError),
    refuses("None among the rows", lambda: SVC().fit(changed(X, (1, 1), None, object), Y), "row 1, column 1 is nan"),
    refuses("NaN among the rows", lambda: SVC().fit(changed(X, (3, 1), NAN), Y), "Input X contains NaN: the value in row 3, column 1"),
    refuses("NaN among rows of singles", lambda: SVC().fit(changed(X, (3, 1), NAN, "f4"), Y), "row 3, column 1"),
    refuses("infinity among the rows", lambda: SVR().fit(changed(X, (3, 1), INF), T), "row 3, column 1 is inf"),
    refuses("minus infinity among the rows", lambda: OneClassSVM().fit(changed(X, (0, 0), -INF)), "row 0, column 0 is -inf"),
    refuses("NaN among rows to predict", lambda: fitted().predict(changed(X, (5, 0), NAN)), "row 5, column 0"),
    refuses("numbers too large for half precision", lambda: SVC().fit(changed(X, (0, 0), INF, "f2"), Y), "infinity"),
    refuses("an empty list", lambda: SVC().fit([], []), "got 1D array"),
    refuses("an empty row", lambda: SVC().fit([[]], [1]), "0 feature(s) (shape=(1, 0))"),
    refuses("no rows", lambda: SVC().fit(X[:0], Y[:0]), "0 sample(s) (shape=(0, 3))"),
    refuses("no columns", lambda: SVDD().fit(X[:, :0]), "0 feature(s) (shape=(24, 0))"),
    refuses("no rows to predict", lambda: fitted().predict(X[:0]), "0 sample(s)"),
    refuses("an array of no dimensions", lambda: SVC().fit(np.array(3.0), Y), "got scalar array"),
    refuses("a number for rows", lambda: SVC().fit(3, Y), "array=3"),
    refuses("None for rows", lambda: SVC().fit(None, Y), "array=None"),
    refuses("text for rows", lambda: SVC().fit("hello", Y), "<U5"),
    refuses("a dictionary for rows", lambda: SVC().fit({"a": 1}, Y), "{'a': 1}"),
    refuses("a generator for rows", lambda: SVC().fit((row for row in X), Y), "generator"),
    refuses("an array of one dimension", lambda: SVC().fit(X[:, 0], Y), "Reshape your data"),
    refuses("an array of three dimensions", lambda: SVC().fit(X[None], Y), "Found array with dim 3"),
    refuses("rows of different lengths", lambda: SVC().fit([[1, 2], [3]] * 12, Y), "inhomogeneous"),
    refuses("fewer rows than labels", lambda: SVC().fit(X[:-1], Y), "[23, 24]"),
    gives("whole numbers beyond 64 bits", lambda: SVC().fit([[2**70, 1], [0, 1]] * 12, [0, 1] * 12).n_features_in_, 2),
    gives("rows that are all alike", lambda: SVC().fit(np.ones((24, 3)), Y).predict(X[:1]).tolist(), [1]),
    gives("rows of huge numbers", lambda: SVC().fit(X * 1e150, Y).predict(X[:1] * 1e150).tolist(), [int(REFERENCE[0] > 0)]),
    gives("rows of tiny numbers", lambda: len(SVC(kernel="linear").fit(X * 1e-310, Y).predict(X)), 24),
    refuses("rows whose products overflow", lambda: SVC(kernel="linear").fit(X * 1e200, Y), "the kernel value of row 1 with itself is inf"),
]

FRAMES = [
    same("a frame of pandas", lambda: FRAME),
    same("a frame of columns of several types", lambda: FRAME.astype({"a": "int8", "b": "float32"})),
    same("a frame of nullable whole numbers", lambda: nullable("Int64")),
    same("a frame of nullable numbers", lambda: nullable("Float64")),
    same("a frame of Arrow's numbers", lambda: nullable("float64[pyarrow]")),
    same("a frame of sparse columns", lambda: FRAME.astype(pd.SparseDtype("float64", 0.0))),
    same("a frame with a column of categories that are numbers", lambda: column(b=FRAME["b"].astype("category"))),
    same("a frame whose columns are numbered", lambda: pd.DataFrame(X)),
    same("a frame in which a name comes twice", lambda: pd.DataFrame(X, columns=["a", "a", "b"])),
    same("a frame of polars", lambda: pl.DataFrame(X, schema=["a", "b", "c"])),
    same("a frame of polars with whole numbers", lambda: pl.DataFrame(X.astype("i4"), schema=["a", "b", "c"])),
    same("a table of Arrow", lambda: pa.Table.from_pandas(FRAME)),
    gives("a frame of nullable truth values", lambda: SVC().fit((FRAME > 3).astype("boolean"), Y).n_features_in_, 3),
    gives("the names of a frame are kept", lambda: fitted_on(FRAME).feature_names_in_.tolist(), ["a", "b", "c"]),
    gives(
        "a frame of polars after one of pandas",
        lambda: np.array_equal(fitted_on(FRAME).predict(pl.from_pandas(FRAME)), fitted().predict(X)),
    ),
    refuses("a nullable frame with a gap", lambda: SVC().fit(nullable("Int64", gap=True), Y), "row 2, column 'b' is <NA>"),
    refuses("a nullable frame of fractions with a gap", lambda: SVC().fit(nullable("Float64", gap=True), Y), "contains NaN"),
    refuses("a frame of polars with a gap", lambda: SVC().fit(pl.DataFrame({"a": [None] + [1.0] * 23}), Y), "row 0, column 'a' is nan"),
    refuses("a frame with a column of text", lambda: SVC().fit(column(b="red"), Y), "row 0, column 'b' is 'red'"),
    refuses(
        "a frame with a column of dates", lambda: SVC().fit(column(b=pd.Timestamp("2020-01-01")), Y), "Timestamp('2020-01-01", TypeError
    ),
    refuses("a frame of polars with a column of text", lambda: SVC().fit(pl.DataFrame({"a": ["x"] * 24}), Y), "'x'"),
    refuses("a lazy frame of polars", lambda: SVC().fit(pl.DataFrame(X).lazy(), Y), "call its collect() first"),
    refuses(
        "a frame with names and numbers for columns",
        lambda: SVC().fit(pd.DataFrame(X, columns=["a", 1, "b"]), Y),
        "['int', 'str']",
        TypeError,
    ),
    refuses(
        "another name at predict",
        lambda: fitted_on(FRAME).predict(FRAME.rename(columns={"c": "d"})),
        "Feature names unseen at fit time:\n- d",
    ),
    refuses("names in another order at predict", lambda: fitted_on(FRAME).predict(FRAME[["a", "c", "b"]]), "must be in the same order"),
    gives("no names at predict", lambda: len(fitted_on(FRAME).predict(X)), 24, UserWarning),
    gives("names at predict only", lambda: len(fitted().predict(FRAME)), 24, UserWarning),
]

SPARSE = [
    *(
        same(f"a {kind} {form}", lambda kind=kind, form=form: getattr(sp, f"{kind}_{form}")(X))
        for kind in ("csr", "csc", "coo", "bsr", "lil", "dok", "dia")
        for form in ("matrix", "array")
    ),
    same("compressed rows with indices of 64 bits", wide_indices),
    same("compressed columns with indices of 64 bits", lambda: wide_indices(sp.csc_array)),
    same("compressed rows whose columns are not sorted", unsorted),
    same("compressed rows with every entry in two halves", twice),
    same("triples with every entry in two halves", lambda: twice().tocoo()),
    same(
        "compressed rows with zeros written out",
        lambda: sp.csr_matrix((X.ravel(), np.tile([0, 1, 2], 24), np.arange(0, 73, 3)), shape=X.shape),
    ),
    *(same(f"compressed rows of {kind}", lambda kind=kind: CSR.astype(kind)) for kind in ("f4", "i1", "i8", "u8", "g")),
    same("compressed rows that may not be written", lambda: broken(data=read_only(CSR.data), indices=read_only(CSR.indices))),
    gives("unsorted columns stay as they are", lambda: np.array_equal(unsorted_after_fit().indices, unsorted().indices)),
    gives("compressed rows without entries", lambda: SVC().fit(sp.csr_matrix((24, 3)), Y).n_features_in_, 3),
    gives("sparse rows to a model of full ones", lambda: np.array_equal(fitted().predict(CSR), fitted().predict(X))),
    gives("full rows to a model of sparse ones", lambda: np.array_equal(SVC().fit(CSR, Y).predict(X), fitted().predict(X))),
    refuses("complex compressed rows", lambda: SVC().fit(CSR.astype(complex), Y), "Complex data not supported"),
    refuses(
        "NaN in compressed rows", lambda: SVC().fit(broken(data=changed(CSR.data, 4, NAN)), Y), "Input X contains NaN: the value in row 1"
    ),
    refuses("infinity in compressed rows", lambda: SVC().fit(broken(data=changed(CSR.data, 4, -INF)), Y), "is -inf"),
    refuses("a column beyond the last", lambda: SVC().fit(broken(indices=changed(CSR.indices, 3, 77)), Y), "does not fit 3 columns"),
    refuses(
        "a column beyond the last that is said to be sorted",
        lambda: SVC().fit(told_sorted(broken(indices=changed(CSR.indices, 3, 77))), Y),
        "row 2",
    ),
    refuses("a negative column", lambda: SVC().fit(told_sorted(broken(indices=changed(CSR.indices, 3, -1))), Y), "row 2"),
    refuses("a negative column of 64 bits", lambda: SVC().fit(broken(indices=changed(CSR.indices, 3, -(2**40), "i8")), Y), "row 2"),
    refuses("columns that are fractions", lambda: SVC().fit(broken(indices=CSR.indices + 0.5), Y), "an array of float64"),
    refuses("unsorted columns that are said to be sorted", lambda: SVC().fit(told_sorted(unsorted()), Y), "do not increase"),
    refuses("offsets that go down", lambda: SVC().fit(broken(indptr=changed(CSR.indptr, 5, 0)), Y), "broken sparse matrix"),
    refuses("offsets beyond the entries", lambda: SVC().fit(broken(indptr=changed(CSR.indptr, -1, 999)), Y), "broken sparse matrix"),
    refuses("a negative offset", lambda: SVC().fit(broken(indptr=changed(CSR.indptr, 3, -4)), Y), "broken sparse matrix"),
    refuses("too few offsets", lambda: SVC().fit(broken(indptr=CSR.indptr[:-3]), Y), "22 offsets"),
    refuses("too few values", lambda: SVC().fit(broken(data=CSR.data[:-3]), Y), "broken sparse matrix"),
    refuses(
        "compressed columns with a row beyond the last",
        lambda: SVC().fit(broken("csc", indices=changed(sp.csc_matrix(X).indices, 3, 77)), Y),
        "broken sparse matrix",
    ),
    refuses(
        "triples with a row beyond the last",
        lambda: SVC().fit(broken("coo", row=changed(CSR.tocoo().row, 3, 77)), Y),
        "a row is numbered 0 or 77",
    ),
    refuses("sparse without rows", lambda: SVC().fit(sp.csr_matrix((0, 3)), []), "0 sample(s)"),
    refuses("sparse without columns", lambda: SVC().fit(sp.csr_matrix((24, 0)), Y), "0 feature(s)"),
    refuses("a sparse array of one dimension", lambda: SVC().fit(sp.coo_array(X[:, 0]), Y), "1 dimension"),
    gives(
        "sixteen million columns",
        lambda: SVC().fit(sp.csr_matrix((W, (range(24), [2**24 - 1] * 24)), shape=(24, 2**24)), Y).n_features_in_,
        2**24,
    ),
    refuses(
        "more columns than can be numbered",
        lambda: SVC().fit(sp.csr_matrix((W, (range(24), [2**33] * 24)), shape=(24, 2**34)), Y),
        "17179869184 columns",
    ),
    refuses("fewer sparse columns at predict", lambda: fitted().predict(CSR[:, :2]), "X has 2 features, but SVC is expecting 3"),
]

LABELS = [
    gives("labels that are text", classes(WORDS), ["no", "yes"]),
    gives("labels that are text in objects", classes(WORDS.astype(object)), ["no", "yes"]),
    gives("labels that are bytes", classes(WORDS.astype("S")), [b"no", b"yes"]),
    gives("labels that are truth values", classes(Y == 1), [False, True]),
    gives("labels that are negative", classes(Y * -3), [-3, 0]),
    gives("labels that are whole fractions", classes(Y * 2.0 - 1.0), [-1.0, 1.0]),
    gives("labels of 8 bits", classes(Y.astype("i1")), [0, 1]),
    gives("labels beyond 63 bits", classes(np.where(Y == 1, 2**63, 2**63 - 1).astype("u8")), [2**63 - 1, 2**63]),
    gives("labels in the other byte order", classes(Y.astype(">i4")), [0, 1]),
    gives("labels of half precision", classes(Y.astype("f2")), [0.0, 1.0]),
    gives("labels in any script", classes(np.where(Y == 1, "ja ☃", "нет")), ["ja ☃", "нет"]),
    gives("labels of which one is empty", classes(np.where(Y == 1, "", "a")), ["", "a"]),
    gives("labels with a line break", classes(np.where(Y == 1, "a\nb", "a")), ["a", "a\nb"]),
    gives("labels as a list", classes(Y.tolist()), [0, 1]),
    gives("labels as a tuple", classes(tuple(WORDS.tolist())), ["no", "yes"]),
    gives("labels that are dates", classes(Y.astype("M8[D]")), [datetime.date(1970, 1, 1), datetime.date(1970, 1, 2)]),
    gives("labels as a series of pandas", classes(pd.Series(Y, index=range(100, 124))), [0, 1]),
    gives("labels as categories", classes(pd.Series(WORDS).astype("category")), ["no", "yes"]),
    gives("labels as nullable numbers", classes(pd.Series(Y).astype("Int64")), [0, 1]),
    gives("labels as nullable text", classes(pd.Series(WORDS).astype("string")), ["no", "yes"]),
    gives("labels as a series of polars", classes(pl.Series(WORDS.tolist())), ["no", "yes"]),
    gives("labels as an array of Arrow", classes(pa.array(Y)), [0, 1]),
    gives("labels in a column", classes(Y[:, None]), [0, 1], UserWarning),
    gives("labels that may not be written", classes(read_only(Y)), [0, 1]),
    gives("predictions are labels", lambda: set(SVC().fit(X, WORDS).predict(X)), {"no", "yes"}),
    refuses("no labels", lambda: SVC().fit(X, None), "requires y to be passed, but the target y is None"),
    refuses("one class", lambda: NuSVC().fit(X, np.zeros(24)), "got 1 class"),
    refuses("labels that are fractions", lambda: SVC().fit(X, T), "Unknown label type: continuous"),
    refuses("fractions among objects", lambda: SVC().fit(X, np.array([1, 2.5] * 12, dtype=object)), "Unknown label type: continuous"),
    refuses("complex labels", lambda: SVC().fit(X, Y + 1j), "Complex data not supported"),
    refuses("NaN among labels", lambda: SVC().fit(X, changed(Y, 2, NAN, float)), "Input y contains NaN: the value in row 2"),
    refuses("infinity among labels", lambda: SVC().fit(X, changed(Y, 2, INF, float)), "the value in row 2 is inf"),
    refuses("None among labels", lambda: SVC().fit(X, changed(WORDS, 2, None, object)), "the value in row 2 is None"),
    refuses(
        "a gap among nullable labels", lambda: SVC().fit(X, pd.Series([pd.NA, *WORDS[1:]]).astype("string")), "the value in row 0 is <NA>"
    ),
    refuses("a date that is none among labels", lambda: SVC().fit(X, changed(Y.astype("M8[D]"), 1, "NaT")), "row 1"),
    refuses("labels of several types", lambda: SVC().fit(X, np.array(["a", 1] * 12, dtype=object)), "['int', 'str']", TypeError),
    refuses("labels that are sets", lambda: SVC().fit(X, np.array([frozenset([1]), frozenset([2])] * 12)), "frozenset({1}) is a frozenset"),
    refuses("labels that are records", lambda: SVC().fit(X, np.zeros(24, [("a", "f8")])), "Unknown label type"),
    refuses("labels that are pairs", lambda: SVC().fit(X, [(1, 2), (3, 4)] * 12), "(24, 2)"),
    refuses("labels in a row", lambda: SVC().fit(X, Y[None]), "(1, 24)"),
    refuses("labels in three dimensions", lambda: SVC().fit(X, Y[None, None]), "(1, 1, 24)"),
    refuses("labels of different lengths", lambda: SVC().fit(X, [[1], [2, 3]] * 12), "inhomogeneous"),
    refuses("one label for all rows", lambda: SVC().fit(X, 1), "y is 1, of shape (), expected one value a row"),
    refuses("one text for all rows", lambda: SVC().fit(X, "ab"), "y is 'ab'"),
    refuses("a dictionary for labels", lambda: SVC().fit(X, dict.fromkeys(range(24), 1)), "shape ()"),
    refuses("a sparse matrix for labels", lambda: SVC().fit(X, sp.csr_matrix(Y)), "y is sparse"),
    refuses("fewer labels than rows", lambda: SVC().fit(X, Y[:-1]), "[24, 23]"),
    refuses("more labels than rows", lambda: NuSVC().fit(X, np.r_[Y, 1]), "[24, 25]"),
    refuses("masked labels", lambda: SVC().fit(X, np.ma.array(Y, mask=Y == 1)), "are masked"),
]

TARGETS = [
    *(
        gives(
            f"targets of {kind}",
            lambda kind=kind: bool(np.abs(SVR().fit(X, (T * 4).astype(kind)).predict(X) - fitted_to(T * 4)).max() < 1e-9),
        )
        for kind in ("f4", ">f8", "g", "O", "i4")
    ),
    gives("targets that are truth values", lambda: np.array_equal(SVR().fit(X, Y == 1).predict(X), SVR().fit(X, Y).predict(X))),
    gives("targets that are all alike", lambda: np.allclose(NuSVR().fit(X, W).predict(X), 1.0)),
    gives(
        "targets stored backwards",
        lambda: np.array_equal(SVR().fit(X, np.ascontiguousarray(T[::-1])[::-1]).predict(X), fitted(SVR).predict(X)),
    ),
    gives(
        "targets as a nullable series",
        lambda: np.array_equal(SVR().fit(X, pd.Series(T).astype("Float64")).predict(X), fitted(SVR).predict(X)),
    ),
    refuses("no targets", lambda: SVR().fit(X, None), "SVR requires y to be passed"),
    refuses("NaN among targets", lambda: SVR().fit(X, changed(T, 2, NAN)), "Input y contains NaN: the value in row 2"),
    refuses("infinity among targets", lambda: NuSVR().fit(X, changed(T, 2, INF)), "the value in row 2 is inf"),
    refuses("a gap among nullable targets", lambda: SVR().fit(X, pd.Series([pd.NA, *T[1:]], dtype="Float64")), "row 0"),
    refuses("targets that are text", lambda: SVR().fit(X, WORDS), "SVR predicts numbers, but y is an array of <U3"),
    refuses("targets that are text in objects", lambda: SVR().fit(X, WORDS.astype(object)), "the value of y in row 0"),
    refuses("targets that are dates", lambda: NuSVR().fit(X, Y.astype("M8[D]")), "NuSVR predicts numbers"),
    refuses("complex targets", lambda: SVR().fit(X, T + 1j), "Complex data not supported"),
    refuses("targets in two columns", lambda: SVR().fit(X, np.c_[T, T]), "(24, 2)"),
    refuses("fewer targets than rows", lambda: SVR().fit(X, T[:-1]), "[24, 23]"),
    gives("what is usual needs no targets", lambda: OneClassSVM().fit(X, "not looked at").predict(X).shape, (24,)),
]

WEIGHTS = [
    gives("weights of one", as_without_weights(W)),
    gives("a single weight for all rows", as_without_weights(1)),
    gives("weights as a list", as_without_weights([1] * 24)),
    gives("weights that are objects", as_without_weights(W.astype(object))),
    gives("weights as a series", as_without_weights(pd.Series(W))),
    gives("weights that are truth values", as_without_weights(Y >= 0)),
    gives("weights of half precision in the other byte order", as_without_weights(W.astype(">f2"))),
    gives(
        "a negative weight leaves a row out",
        lambda: np.array_equal(weighed(changed(W, 2, -1))().support_, weighed(changed(W, 2, 0))().support_),
    ),
    gives(
        "a weight of two is two copies",
        lambda: np.allclose(weighed(2 * W)().decision_function(X), SVC().fit(np.r_[X, X], np.r_[Y, Y]).decision_function(X), atol=1e-6),
    ),
    refuses("NaN among weights", weighed(changed(W, 2, NAN)), "Input sample_weight contains NaN: the value in row 2"),
    refuses("infinity among weights", weighed(changed(W, 2, INF), SVR), "the value in row 2 is inf"),
    refuses("weights of zero", weighed(0 * W, OneClassSVM), "all samples have zero or negative weights"),
    refuses("weights below zero", weighed(-W, SVDD), "all samples have zero or negative weights"),
    refuses("weights for one class only", weighed(Y), "belong to the same class"),
    refuses("complex weights", weighed(W + 1j), "complex128"),
    refuses("weights that are text", weighed(WORDS), "<U3"),
    refuses("weights that are one word", weighed("balanced"), "balanced"),
    refuses("weights that are dates", weighed(Y.astype("M8[D]")), "datetime64[D]"),
    refuses("a dictionary for weights", weighed({0: 1}), "{0: 1}", TypeError),
    refuses("a sparse matrix for weights", weighed(sp.csr_matrix(W)), "sample_weight is sparse"),
    refuses("weights in two columns", weighed(np.c_[W, W], NuSVR), "got 2D array"),
    refuses("fewer weights than rows", weighed(W[:-1], NuSVC), "sample_weight.shape == (23,), expected (24,)"),
    refuses("no weights at all", weighed([]), "(0,)"),
]


def bad(kind: type, name: str, value: Any, part: str | None = None) -> Call:
    """A parameter that is refused, with what was found."""
    words = f"{kind.__name__} with {name} {value!r}"
    return refuses(words, lambda: fitted(kind, **{name: value}), part or f"Got {value!r} instead")


PARAMETERS = [
    *(bad(SVC, "C", value) for value in (0, -1, NAN, -INF, "1", None, True, [1])),
    *(bad(kind, "C", value) for kind in (SVR, NuSVR) for value in (0, NAN)),
    *(bad(kind, "nu", value) for kind in (NuSVC, NuSVR, OneClassSVM, SVDD) for value in (0, 1.1, NAN, "half")),
    *(bad(SVR, "epsilon", value) for value in (-1, NAN, INF, "0.1")),
    *(bad(SVC, "gamma", value) for value in (0, -1, NAN, INF, "steep", None)),
    *(bad(SVC, "coef0", value) for value in (NAN, INF, "0", None)),
    *(bad(SVC, "degree", value) for value in (-1, 2.0, "3", True)),
    *(bad(SVC, "tol", value) for value in (0, -1, NAN, INF, None)),
    *(bad(SVC, "cache_size", value) for value in (0, -1, NAN, INF, "200")),
    *(bad(SVC, "max_iter", value) for value in (-2, 1.5, None)),
    *(bad(SVC, "max_time", value) for value in (0, -1, NAN, "1")),
    *(bad(SVC, name, "yes") for name in ("shrinking", "probability", "verbose", "break_ties", "warm_start", "progress", "random_state")),
    *(bad(SVC, "n_jobs", value) for value in (1.5, "2")),
    *(bad(OneClassSVM, name, value) for name, value in (("tol", 0), ("gamma", NAN), ("max_time", 0), ("n_jobs", 0.5))),
    *(bad(SVDD, name, value) for name, value in (("tol", -1), ("cache_size", 0), ("checkpoint", 3))),
    bad(SVC, "n_jobs", 0, "n_jobs == 0"),
    bad(SVC, "random_state", -1),
    bad(SVC, "kernel", 3),
    bad(SVC, "kernel", None),
    bad(SVC, "kernel", "nearly", 'found "nearly"'),
    bad(SVC, "kernel", "", "found the end"),
    bad(SVC, "kernel", "rbf(", "character 5"),
    bad(SVR, "kernel", "rbf(gamma=-1)", "gamma is -1"),
    bad(SVC, "decision_function_shape", "all"),
    bad(SVC, "class_weight", "fair"),
    bad(SVC, "class_weight", [1, 2]),
    bad(SVC, "class_weight", {5: 1}, "The classes, [0, 1], are not in class_weight"),
    bad(SVC, "class_weight", {0: NAN}, "class_weight[0] is nan"),
    bad(SVC, "class_weight", {0: "much"}, "class_weight[0] is 'much'"),
    bad(SVC, "class_weight", {0: 0}, "{0: 0}"),
    bad(SVC, "checkpoint", 3),
    bad(SVC, "checkpoint", "no/such/folder/file", "there is no folder"),
    bad(SVC, "checkpoint", "", "checkpoint is ''"),
    bad(SVC, "checkpoint", "a\0b", "checkpoint is 'a\\x00b'"),
    bad(SVC, "checkpoint", ".", "it is a folder"),
    refuses("a degree of zero of the polynomial kernel", lambda: fitted(kernel="poly", degree=0), "degree is 0"),
    refuses("a degree beyond every table", lambda: fitted(kernel="poly", degree=10**30), "1" + "0" * 30),
    gives(
        "a nu that the classes cannot give",
        lambda: NuSVC(nu=0.9).fit(X, np.arange(24) == 0).classes_.tolist(),
        [False, True],
        UserWarning,
    ),
    gives("a C of infinity", lambda: SVC(C=INF, kernel="linear").fit(X, Y).stop_reason_, "converged"),
    refuses("a chi-square kernel of negative numbers", lambda: SVC(kernel="chi2").fit(-X, Y), "row 1, column 1 is -4"),
    refuses("a parameter by its place", lambda: SVC(1.0), "positional argument", TypeError),
    refuses("a parameter that there is not", lambda: SVR(class_weight=1), "unexpected keyword argument 'class_weight'", TypeError),
    refuses("a parameter that cannot be set", lambda: SVC().set_params(slack=1), "Invalid parameter 'slack'", ValueError),
    gives("a C of numpy's", named(C=np.float32(2)), "SVC"),
    gives("a C of nearly nothing", named(C=1e-300), "SVC"),
    gives("a C of nearly everything", named(C=1e300), "SVC"),
    gives("a gamma of nearly nothing", named(gamma=1e-300), "SVC"),
    gives("a gamma of nearly everything", named(gamma=1e300), "SVC"),
    gives("a tolerance of nearly nothing", named(tol=1e-300), "SVC"),
    gives("a tolerance of nearly everything", named(tol=1e9), "SVC"),
    gives("nearly no memory", lambda: np.array_equal(fitted(cache_size=1e-9).decision_function(X), REFERENCE)),
    gives("more memory than there is", lambda: np.array_equal(fitted(cache_size=1e30).decision_function(X), REFERENCE)),
    gives("more threads than there are cores", lambda: np.array_equal(fitted(n_jobs=64).decision_function(X), REFERENCE)),
    gives("threads counted down from the cores", lambda: np.array_equal(fitted(n_jobs=-100).decision_function(X), REFERENCE)),
    gives("no step at all", lambda: fitted(max_iter=0).stop_reason_, "iteration-limit", ConvergenceWarning),
    gives("more steps than can be counted", lambda: fitted(max_iter=2**80).stop_reason_, "converged"),
    gives("no time at all", lambda: fitted(max_time=1e-9).stop_reason_, "time-limit", ConvergenceWarning),
    gives("more time than there is", lambda: fitted(max_time=1e30).stop_reason_, "converged"),
    gives("a nu of one in a regression", named(kind=NuSVR, nu=1), "NuSVR"),
    gives("a nu of one for what is usual", named(kind=OneClassSVM, nu=1), "OneClassSVM"),
    gives("a tube of no width", named(kind=SVR, epsilon=0), "SVR"),
    gives("a tube wider than all targets", lambda: len(fitted(SVR, epsilon=1e9).support_), 0),
    gives("no class weights in a dictionary", lambda: np.array_equal(fitted(class_weight={}).decision_function(X), REFERENCE)),
    gives(
        "class weights in another mapping",
        lambda: np.array_equal(fitted(class_weight=collections.OrderedDict({0: 1, 1: 1})).decision_function(X), REFERENCE),
    ),
    gives("a progress line", lambda: np.array_equal(fitted(progress=True).decision_function(X), REFERENCE)),
]

KERNELS = [
    gives("a function for a kernel", learns(lambda a, b: a @ b.T), LINEAR),
    gives("a function that gives lists", learns(lambda a, b: (a @ b.T).tolist()), LINEAR),
    gives("a function that gives a sparse matrix", learns(lambda a, b: sp.csr_matrix(a @ b.T)), LINEAR),
    gives("a function that gives whole numbers", learns(lambda a, b: (a @ b.T).astype(int)), LINEAR),
    gives(
        "a function of words",
        learns(lambda a, b: np.array([[float(u == v) for v in b] for u in a]), list("abcdefghijklmnopqrstuvwx")),
        [1, 0],
    ),
    refuses("a function that gives another shape", learns(lambda a, b: np.zeros((2, 3))), "a table of (2, 3)"),
    refuses("a function that gives too few columns", learns(lambda a, b: np.zeros((len(a), 5))), "(24, 5)"),
    refuses("a function that gives a line", learns(lambda a, b: np.zeros(24)), "not of 1"),
    refuses("a function that gives a number", learns(lambda a, b: 1.0), "not of 0"),
    refuses("a function that gives nothing", learns(lambda a, b: None), "not of 0"),
    refuses("a function that gives NaN", learns(lambda a, b: np.full((len(a), len(b)), NAN)), "rows 0 and 0 is nan"),
    refuses("a function that gives infinity", learns(lambda a, b: np.full((len(a), len(b)), INF)), "rows 0 and 0 is inf"),
    refuses("a function that gives complex numbers", learns(lambda a, b: (a @ b.T) * 1j), "complex128"),
    refuses("a function that gives text", learns(lambda a, b: np.full((len(a), len(b)), "x")), "<U1"),
    refuses(
        "a function that is not symmetric", learns(lambda a, b: np.arange(1.0 * len(a) * len(b)).reshape(len(a), len(b))), "not symmetric"
    ),
    refuses("a function that forgets rows when it predicts", learns(lambda a, b: K), "for 2 rows are a table of (24, 24)"),
    refuses("a function that fails", learns(failing), "in the kernel", ZeroDivisionError),
    refuses("a function of one argument", learns(lambda a: a), "positional argument", TypeError),
    gives("a table of kernel values", lambda: SVC(kernel="precomputed").fit(K, Y).predict(K[:2]).tolist(), LINEAR),
    refuses("a sparse table of kernel values", lambda: SVC(kernel="precomputed").fit(sp.csr_matrix(K), Y), "as a full array", TypeError),
    refuses("a table that is not square", lambda: SVC(kernel="precomputed").fit(K[:, :5], Y), "24x5"),
    refuses("a table that is not symmetric", lambda: SVR(kernel="precomputed").fit(changed(K, (0, 1), 99.0), T), "not symmetric"),
    refuses("a table with NaN", lambda: OneClassSVM(kernel="precomputed").fit(changed(K, (1, 1), NAN)), "row 1, column 1 is nan"),
    refuses(
        "a table of other rows at predict",
        lambda: SVC(kernel="precomputed").fit(K, Y).predict(K[:, :5]),
        "X has 5 features, but SVC is expecting 24",
    ),
    gives("a table that no kernel has", lambda: SVC(kernel="precomputed").fit(-K, Y).predict(-K).shape, (24,)),
]

USE = [
    *(
        refuses(
            f"{name} of {kind.__name__} before fit",
            lambda kind=kind, name=name: getattr(kind(), name)(X, *([Y] if name in ("report", "suspects") else [])),
            "not fitted yet",
            (NotFittedError, ValueError),
        )
        for kind, name in (
            (SVC, "predict"),
            (SVC, "decision_function"),
            (SVC, "report"),
            (NuSVC, "suspects"),
            (SVR, "predict"),
            (NuSVR, "predict"),
            (OneClassSVM, "score_samples"),
            (SVDD, "predict"),
            (SVC, "verify"),
        )
    ),
    *(
        refuses(f"{name} before fit", lambda name=name: getattr(SVC(kernel="linear"), name), "once the model is fitted", AttributeError)
        for name in ("coef_", "intercept_", "dual_coef_", "n_support_", "support_vectors_")
    ),
    refuses("save before fit", lambda: SVC().save("a.mm"), "not fitted yet", (NotFittedError, ValueError)),
    refuses("plot before fit", lambda: SVC().plot(), "not fitted yet", (NotFittedError, ValueError)),
    refuses("score before fit", lambda: SVR().score(X, T), "not fitted yet", (NotFittedError, ValueError)),
    refuses("fewer columns at predict", lambda: fitted(SVR).predict(X[:, :2]), "X has 2 features, but SVR is expecting 3"),
    refuses("more columns at predict", lambda: fitted(SVDD).decision_function(np.c_[X, X]), "X has 6 features, but SVDD is expecting 3"),
    refuses("one row at predict as a line", lambda: fitted().predict(X[0]), "Reshape your data"),
    refuses("weights of a kernel that has none", lambda: fitted().coef_, "only available when using a linear kernel", AttributeError),
    refuses(
        "ties broken between pairs", lambda: fitted(break_ties=True, decision_function_shape="ovo").predict(X), "break_ties must be False"
    ),
    refuses("probabilities that were declined", lambda: fitted(probability=False).predict_proba(X), "not available", AttributeError),
    refuses("a score of fewer labels", lambda: fitted().score(X, Y[:-1]), "[24, 23]"),
    refuses("a score with fewer weights", lambda: fitted(SVR).score(X, T, sample_weight=[1.0]), "expected (24,)"),
    gives("a score of labels that the model does not know", lambda: fitted().score(X, Y + 5), 0.0),
    gives("a certificate is verified against other labels", lambda: fitted().verify(X, 1 - Y), False),
    refuses("a certificate is verified without labels", lambda: fitted().verify(X), "requires y to be passed"),
    refuses("a certificate is verified with a label that is not known", lambda: fitted().verify(X, Y + 1), "y has the label"),
    refuses("a certificate is verified with labels of another type", lambda: fitted().verify(X, WORDS), "<U3"),
    gives("a certificate is verified with labels in objects", lambda: fitted().verify(X, Y.astype(object)) and fitted().verify(X, Y * 1.0)),
    gives("two rows", lambda: SVC().fit(X[:2], [0, 1]).predict(X[:2]).tolist(), [0, 1]),
    gives("the same row with two labels", lambda: len(SVC().fit(X[[0, 0]], [0, 1]).predict(X)), 24),
    gives("one row in a regression", lambda: SVR().fit(X[:1], T[:1]).predict(X[:1]).tolist(), T[:1].tolist()),
    gives("one row that is usual", lambda: OneClassSVM().fit(X[:1]).predict(X[:1]).shape, (1,)),
    refuses("columns that cannot be drawn", lambda: fitted().plot(X, Y, columns=(0, 0)), "both axes show the column"),
    refuses("three columns in a picture", lambda: fitted().plot(X, Y, columns=(0, 1, 2)), "(0, 1, 2)"),
    refuses("a column that there is not in a picture", lambda: fitted().plot(X, Y, columns=(0, 7)), 'no column "8"'),
    refuses("a picture of no width", lambda: fitted().plot(X, Y, columns=(0, 1), width=0), "width is 0"),
    refuses("a picture of negative height", lambda: fitted().plot(X, Y, columns=(0, 1), height=-1), "height is -1"),
    refuses("a picture in another format", lambda: fitted().plot(X, Y, columns=(0, 1), path="a.gif"), "'a.gif'"),
    refuses("regions of a regression", lambda: fitted(SVR).plot(X, T, kind="regions", columns=(0, 1)), "a regression has none"),
    refuses("a kind of picture that there is not", lambda: fitted().plot(X, Y, kind="pie"), 'no kind of picture "pie"'),
    refuses("a theme that there is not", lambda: fitted().plot(X, Y, theme="sepia"), 'no theme "sepia"'),
    refuses("why a row that there is not", lambda: fitted().plot(X, Y, kind="why", row=10**6), "there is no row"),
]

FILES = [
    *(
        gives(f"{kind.__name__} is saved and loaded", lambda kind=kind: round_trip(kind))
        for kind in (SVC, NuSVC, SVR, NuSVR, OneClassSVM, SVDD)
    ),
    gives("a linear model is saved and loaded", lambda: round_trip(SVC, kernel="linear")),
    gives("a combination of kernels is saved and loaded", lambda: round_trip(SVR, kernel="rbf(gamma=0.5) * (poly(degree=2) + 2*linear)")),
    refuses("a folder that there is not to save to", lambda: fitted().save("no/such/a.mm"), "there is no such folder"),
    refuses("a folder to save to", lambda: fitted().save("."), "it is a folder"),
    refuses("a number to save to", lambda: fitted().save(3), "not int", TypeError),
    refuses("nothing to save to", lambda: fitted().save(None), "not NoneType", TypeError),
    refuses("a name of no length to save to", lambda: fitted().save(""), 'cannot save ""'),
    refuses("a name with a zero byte to save to", lambda: fitted().save("a\0b"), "NUL byte"),
    refuses("a folder that there is not for ONNX", lambda: fitted().to_onnx("no/a.onnx"), "no/a.onnx", FileNotFoundError),
    refuses("a folder that there is not for LIBSVM", lambda: fitted().to_libsvm("no/a"), "no/a", FileNotFoundError),
    refuses(
        "a table of kernel values in ONNX", lambda: SVC(kernel="precomputed").fit(K, Y).to_onnx(), "no operator for the kernel precomputed"
    ),
    refuses("a kernel that LIBSVM has not", lambda: fitted(kernel="laplacian").to_libsvm(), "LIBSVM has no kernel laplacian"),
    refuses("a ball for LIBSVM, with the class to take", lambda: SVDD().fit(X).to_libsvm(), "help: train with OneClassSVM"),
    refuses("labels that LIBSVM has not", lambda: SVC().fit(X, WORDS).to_libsvm(), "whole numbers only"),
    refuses(
        "a file that there is not to load", lambda: maxmargin.load("none.mm"), "No such file or directory: 'none.mm'", FileNotFoundError
    ),
    refuses("a folder to load", lambda: SVC.load("."), "it is a folder"),
    refuses("text to load", lambda: SVC.load(written(b"no model at all")), "no model file"),
    refuses("nothing to load", lambda: SVC.load(written(b"")), "no model file"),
    refuses("half of a file to load", lambda: SVC.load(written(saved()[:500])), "no model file"),
    refuses("a spoilt file to load", lambda: SVC.load(written(spoilt())), "other.mm"),
    refuses("a classifier as a regression", lambda: SVR.load(written(saved())), "which SVR is not"),
    refuses("a penalty C as a nu", lambda: NuSVC.load(written(saved())), "the penalty c"),
    refuses(
        "probabilities of a file without", lambda: SVC.load(written(saved())).set_params(probability=True).predict_proba(X), "no longer has"
    ),
]


def fitted_on(frame: Any) -> SVC:
    return SVC().fit(frame, Y)


def fitted_to(targets: np.ndarray) -> np.ndarray:
    return SVR().fit(X, np.trunc(targets)).predict(X) if np.any(targets != np.trunc(targets)) else SVR().fit(X, targets).predict(X)


def unsorted_after_fit() -> sp.csr_matrix:
    rows = unsorted()
    SVC().fit(rows, Y)
    return rows


CALLS = [*ROWS, *FRAMES, *SPARSE, *LABELS, *TARGETS, *WEIGHTS, *PARAMETERS, *KERNELS, *USE, *FILES]


@pytest.mark.parametrize("call", CALLS, ids=[call.name.replace(" ", "_") for call in CALLS])
def test_call(call: Call, tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    if call.error is not None:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            with pytest.raises(call.error) as found:
                call.run()
        assert call.part in str(found.value)
        assert not isinstance(found.value, InternalError)
        return
    with warnings.catch_warnings(record=True) as seen:
        warnings.simplefilter("always")
        result = call.run()
    assert np.array_equal(result, call.expected) if isinstance(call.expected, np.ndarray) else result == call.expected
    own = [entry.category for entry in seen if not issubclass(entry.category, (PendingDeprecationWarning, DeprecationWarning))]
    if call.warning is None:
        assert not own
    else:
        assert any(issubclass(category, call.warning) or category.__name__ == call.warning.__name__ for category in own)


def test_every_call_has_a_name_of_its_own_and_there_are_hundreds() -> None:
    counts = collections.Counter(call.name for call in CALLS)
    assert [name for name, count in counts.items() if count > 1] == []
    assert len(CALLS) >= 300
