"""What users hand over, checked and brought into a form that the engine takes: without a copy wherever its layout allows.

| given | taken |
| --- | --- |
| C-contiguous float32 or float64 | as it is |
| float16, bool and integers of 8 or 16 bits | a copy in float32, which holds them exactly |
| other numbers, other layouts, lists | a copy in float64 (float32 stays float32) |
| scipy CSR of float32 or float64, 32-bit indices, columns sorted | as it is |
| CSR with 64-bit indices | as it is, but for a copy of the indices in 32 bits |
| other sparse formats | a copy as CSR |
| pandas and polars frames | as the array they hold, or a copy where columns are stored one by one; names are kept |
"""

from __future__ import annotations

import math
import numbers
import reprlib
from dataclasses import dataclass
from datetime import date
from typing import Any

import numpy as np

from ._engine import Data
from ._errors import DataConversionWarning, InputError, known_to_sklearn, warn


@dataclass
class Rows:
    """Rows as the engine takes them, and as Python keeps them."""

    data: Data
    array: Any  # a numpy array, or a CSR matrix of scipy's
    names: np.ndarray | None
    # The threads that read them; None where that was not counted.
    threads: int | None = None
    # Whether they were given in single precision.
    single: bool = False

    @property
    def sparse(self) -> bool:
        return is_sparse(self.array)

    def __len__(self) -> int:
        return self.array.shape[0]


def is_single(X: Any) -> bool:
    """Whether rows were given in single precision. Whole numbers are not, although single precision may hold them."""
    kinds = getattr(X, "dtypes", None)
    if kinds is not None and not isinstance(X, np.ndarray):
        return all(str(kind).lower() == "float32" for kind in kinds)
    return getattr(X, "dtype", None) == np.float32


def is_sparse(X: Any) -> bool:
    """Whether X is a sparse matrix or array of scipy's."""
    return hasattr(X, "tocsr") and hasattr(X, "nnz")


def read_rows(estimator: Any, X: Any, threads: int, reset: bool) -> Rows:
    """Checks X, and takes it in; `reset` in a fit, which learns the columns, else they are compared with those learnt."""
    name = type(estimator).__name__
    names = _names(X)
    if not reset:
        _compare_names(estimator, names)
    array = read_array(X, name)
    _check_shape(array.shape, name)
    rows = Rows(to_engine(array, threads, names, X), array, names, threads, is_single(X))
    if not reset and array.shape[1] != estimator.n_features_in_:
        raise InputError(f"X has {array.shape[1]} features, but {name} is expecting {estimator.n_features_in_} features as input.")
    if reset:
        estimator.n_features_in_ = array.shape[1]
        if names is not None:
            estimator.feature_names_in_ = names
        elif hasattr(estimator, "feature_names_in_"):
            del estimator.feature_names_in_
    return rows


def read_array(X: Any, name: str) -> Any:
    """The numbers of X for the engine: a C-contiguous array, or a CSR matrix."""
    return _sparse(X) if is_sparse(X) else _dense(X, name)


def to_engine(array: Any, threads: int, names: np.ndarray | None = None, X: Any = None) -> Data:
    """Numbers of `read_array` as the engine has them. Messages name places as X does."""
    try:
        if is_sparse(array):
            return Data.sparse(*array.shape, *(_laid_out(part) for part in (array.indptr, array.indices, array.data)))
        return Data.dense(_laid_out(array), threads)
    except InputError as error:
        # The number that is not finite, where that is what is wrong.
        value = getattr(error, "value", None)
        if value is None:
            raise
        where = f"the value in {place_of(X, names, error.place)} is {value}"
        advice = "leave such rows out, or fill the values in: make_pipeline(SimpleImputer(), StandardScaler(), model)"
        if math.isnan(value):
            raise InputError(f"Input X contains NaN: {where}\nhelp: {advice}") from None
        raise InputError(f"Input X contains infinity or a value too large for {array.dtype!r}: {where}\nhelp: {advice}") from None


def _laid_out(array: np.ndarray) -> np.ndarray:
    """An array as the engine can borrow it: C-contiguous and aligned. What comes in a message from another process may lie anywhere."""
    return np.require(array, requirements=["C", "A"])


def place_of(X: Any, names: np.ndarray | None, place: tuple[int, ...]) -> str:
    """A place in X as its users find it: the row and the column counted from 0, or the names that a frame has for them."""
    row, *column = place
    index = getattr(X, "index", None)
    text = f"row {row}"
    if index is not None and not callable(index) and len(index) > row and index[row] != row:
        text += f" (index {index[row]!r})"
    if column:
        text += f", column {str(names[column[0]])!r}" if names is not None else f", column {column[0]}"
    return text


def _sparse(X: Any) -> Any:
    """A CSR matrix of floating-point numbers with sorted columns, none of them twice."""
    if getattr(X, "ndim", 2) != 2:
        raise InputError(f"Expected 2D input, got a sparse array of {X.ndim} dimension(s) instead")
    if X.dtype.kind == "c":
        raise InputError("Complex data not supported")
    given = X
    _check_places(X)
    X = X.tocsr()
    if X.dtype not in (np.float32, np.float64):
        X = X.astype(np.float64)
    if not X.has_canonical_format:
        if X is given:
            X = X.copy()
        X.sum_duplicates()
    return X


def _check_places(X: Any) -> None:
    """Refuses sparse data whose entries are not where it says: scipy trusts it, and would read or write beyond its memory."""
    try:
        if X.format == "csr":
            # What the engine does not check itself, and what scipy relies on to sort the columns.
            offsets = X.indptr
            if (
                len(offsets) != X.shape[0] + 1
                or offsets[0] != 0
                or offsets[-1] > min(len(X.indices), len(X.data))
                or np.any(offsets[1:] < offsets[:-1])
            ):
                raise ValueError(f"{len(offsets)} offsets do not lead through {len(X.indices)} entries in {X.shape[0]} rows")
            if X.indices.dtype.kind != "i":
                raise ValueError(f"the columns are numbered by an array of {X.indices.dtype}")
        elif X.format in ("csc", "bsr"):
            X.check_format(full_check=True)
        elif X.format == "coo" and X.nnz:
            for what, places, size in (("row", X.row, X.shape[0]), ("column", X.col, X.shape[1])):
                if places.min() < 0 or places.max() >= size:
                    raise ValueError(f"a {what} is numbered {places.min()} or {places.max()}, but there are {size}")
    except (ValueError, IndexError, AttributeError) as error:
        raise InputError(f"X is a broken sparse matrix: {error}\nhelp: make it anew from its rows, columns and values") from None


def _array(values: Any, what: str) -> np.ndarray:
    """An array of whatever was given."""
    if hasattr(values, "collect") and not hasattr(values, "to_numpy"):
        raise InputError(f"{what} is a {type(values).__name__}, which has no values yet: call its collect() first")
    try:
        if hasattr(values, "to_numpy"):
            array = np.asarray(values.to_numpy())
        elif hasattr(values, "__array_namespace__") and not isinstance(values, np.ndarray) and hasattr(values, "__dlpack__"):
            array = np.from_dlpack(values)
        else:
            array = np.asarray(values)
    except ValueError as error:
        raise InputError(f"{what} cannot be read as an array: {error}") from None
    if isinstance(values, np.ma.MaskedArray) and np.ma.is_masked(values):
        raise InputError(f"{what} is a masked array, and {np.ma.count_masked(values)} of its values are masked: fill them in first")
    return array


def _numbers(array: np.ndarray, what: str, given: Any = None) -> np.ndarray:
    """An array of objects as one of numbers."""
    try:
        return array.astype(np.float64)
    except (TypeError, ValueError, OverflowError):
        pass
    for place, value in np.ndenumerate(array):
        try:
            float(value)
        except (TypeError, ValueError, OverflowError) as error:
            where = place_of(given, _names(given), place) if place else "all rows"
            if _missing(value):
                raise InputError(f"Input {what} contains NaN: the value in {where} is {value!r}") from None
            message = f"{error}: the value of {what} in {where} is {value!r}"
            raise (TypeError if isinstance(error, TypeError) else InputError)(message) from None
    raise InputError(f"{what} cannot be read as numbers: it is an array of {array.dtype}")


def _missing(value: Any) -> bool:
    """Whether a value stands for one that is not there: None, NaN, and what pandas has for it."""
    try:
        return value is None or not bool(value == value)
    except (TypeError, ValueError):
        return type(value).__name__ == "NAType"


def _dense(X: Any, name: str) -> np.ndarray:
    """A C-contiguous array of two dimensions, float32 or float64."""
    array = _array(X, "X")
    kind, size = array.dtype.kind, array.dtype.itemsize
    if kind == "c":
        raise InputError("Complex data not supported")
    if kind not in "biufO":
        raise InputError(f"{name} works on numbers, but X is an array of {array.dtype}: turn it into numbers first")
    if array.ndim != 2:
        _refuse_dimensions(array, name)
    if kind == "O":
        array = _numbers(array, "X", X)
    elif kind == "f" and size in (4, 8):
        array = array.astype(array.dtype.newbyteorder("="), copy=False)
    else:
        small = kind == "b" or size <= 2
        array = array.astype(np.float32 if small else np.float64)
    if type(array) is not np.ndarray:
        array = np.asarray(array).view(np.ndarray)
    return np.require(array, requirements=["C", "A"])


def _refuse_dimensions(array: np.ndarray, name: str) -> None:
    if array.ndim == 0:
        raise InputError(
            f"Expected 2D array, got scalar array instead:\narray={array}.\n"
            "Reshape your data either using array.reshape(-1, 1) if your data has a single feature "
            "or array.reshape(1, -1) if it contains a single sample."
        )
    if array.ndim == 1:
        shown = np.array2string(array, threshold=10)
        raise InputError(
            f"Expected 2D array, got 1D array instead:\narray={shown}.\n"
            "Reshape your data either using array.reshape(-1, 1) if your data has a single feature "
            "or array.reshape(1, -1) if it contains a single sample."
        )
    raise InputError(f"Found array with dim {array.ndim}, while dim <= 2 is required by {name}.")


def _check_shape(shape: tuple[int, ...], name: str) -> None:
    for count, what in zip(shape, ("sample(s)", "feature(s)")):
        if count == 0:
            raise InputError(f"Found array with 0 {what} (shape={shape}) while a minimum of 1 is required by {name}.")


def _names(X: Any) -> np.ndarray | None:
    """The names of a frame's columns, where all are text."""
    columns = getattr(X, "columns", None)
    if columns is None or isinstance(X, np.ndarray):
        return None
    names = np.asarray(list(columns), dtype=object)
    kinds = sorted({type(name).__name__ for name in names})
    if kinds == ["str"]:
        return names
    if "str" in kinds:
        raise TypeError(
            "Feature names are only supported if all input features have string names, "
            f"but your input has {kinds} as feature name / column name types. "
            "If you want feature names to be stored and validated, you must convert them all to strings, "
            "by using X.columns = X.columns.astype(str) for example."
        )
    return None


def _compare_names(estimator: Any, names: np.ndarray | None) -> None:
    learnt = getattr(estimator, "feature_names_in_", None)
    name = type(estimator).__name__
    if learnt is None and names is None:
        return
    if learnt is None:
        warn(f"X has feature names, but {name} was fitted without feature names")
        return
    if names is None:
        warn(f"X does not have valid feature names, but {name} was fitted with feature names")
        return
    if len(learnt) == len(names) and np.all(learnt == names):
        return
    known, found = set(learnt), set(names)
    message = "The feature names should match those that were passed during fit.\n"
    for title, odd in (
        ("Feature names unseen at fit time:", sorted(found - known)),
        ("Feature names seen at fit time, yet now missing:", sorted(known - found)),
    ):
        if odd:
            shown = odd[:5] + (["..."] if len(odd) > 5 else [])
            message += title + "\n" + "".join(f"- {entry}\n" for entry in shown)
    if known == found:
        message += "Feature names must be in the same order as they were in fit.\n"
    raise InputError(message)


def engine_names(names: np.ndarray | None) -> list[str] | None:
    """Names for the engine, which wants each once."""
    return None if names is None or len(set(names)) < len(names) else [str(name) for name in names]


def require_y(y: Any, name: str) -> None:
    """Refuses None where rows must have answers."""
    if y is None:
        raise InputError(
            f"{name} requires y to be passed, but the target y is None. Expected array-like (array or non-string sequence), got None"
        )


def _column(y: Any, rows: int, name: str) -> np.ndarray:
    """One value a row."""
    require_y(y, name)
    if is_sparse(y):
        raise InputError("y is sparse: give one label a row, as a full array")
    array = _array(y, "y")
    if array.ndim == 0:
        raise InputError(f"y is {reprlib.repr(y)}, of shape (), expected one value a row")
    if array.dtype.kind == "c":
        raise InputError("Complex data not supported")
    if array.ndim == 2 and array.shape[1] == 1:
        warn(
            "A column-vector y was passed when a 1d array was expected. "
            "Please change the shape of y to (n_samples,), for example using ravel().",
            known_to_sklearn(DataConversionWarning),
        )
        array = array.ravel()
    if array.ndim != 1:
        raise InputError(f"y should be a 1d array, got an array of shape {array.shape} instead.")
    if len(array) != rows:
        raise InputError(f"Found input variables with inconsistent numbers of samples: [{rows}, {len(array)}]")
    return array


def _refuse_gaps(array: np.ndarray, what: str) -> None:
    """Refuses numbers that are not finite."""
    if array.dtype.kind == "O":
        gaps = [row for row, value in enumerate(array) if _missing(value)]
        if gaps:
            raise InputError(f"Input {what} contains NaN: the value in row {gaps[0]} is {array[gaps[0]]!r}")
        return
    if array.dtype.kind in "Mm":
        if np.isnat(array).any():
            raise InputError(f"Input {what} contains NaN: the value in row {np.flatnonzero(np.isnat(array))[0]} is not a time")
        return
    if array.dtype.kind != "f" or np.isfinite(array).all():
        return
    row = int(np.flatnonzero(~np.isfinite(array))[0])
    if np.isnan(array).any():
        row = int(np.flatnonzero(np.isnan(array))[0])
        raise InputError(f"Input {what} contains NaN: the value in row {row} is nan")
    raise InputError(f"Input {what} contains infinity or a value too large for {array.dtype!r}: the value in row {row} is {array[row]}")


def _continuous(array: np.ndarray) -> bool:
    """Whether labels are numbers that are not whole."""
    if array.dtype.kind == "O":
        return any(isinstance(value, numbers.Real) and value != math.floor(value) for value in array)
    return array.dtype.kind == "f" and bool(np.any(array != np.floor(array)))


def read_classes(y: Any, rows: int, name: str, least: int = 2) -> tuple[np.ndarray, np.ndarray]:
    """The distinct labels, sorted, and the place of each row's label among them."""
    array = _column(y, rows, name)
    _refuse_gaps(array, "y")
    if array.dtype.kind == "V":
        raise InputError(f"Unknown label type: y is an array of {array.dtype}, expected one label a row")
    if array.dtype.kind == "O":
        odd = next((value for value in array if not isinstance(value, (str, bytes, numbers.Real, np.generic, date))), None)
        if odd is not None:
            raise InputError(f"Unknown label type: {odd!r} is a {type(odd).__name__}, but labels are text, numbers or dates")
    if _continuous(array):
        raise InputError(
            "Unknown label type: continuous. Maybe you are trying to fit a classifier, which expects discrete classes "
            "on a regression target with continuous values."
        )
    try:
        classes, codes = _distinct(array)
    except TypeError:
        raise TypeError(f"labels of several types cannot be sorted: {sorted({type(v).__name__ for v in array})}") from None
    if len(classes) < least:
        raise InputError(
            f"The number of classes has to be greater than one; got {len(classes)} class: all rows have the label {classes[0]!r}"
        )
    return classes, codes.ravel().astype(np.uint32)


def _distinct(array: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The distinct labels, sorted, and the place of each among them. Whole numbers that lie close together are counted, not sorted."""
    if array.dtype.kind in "biuf" and len(array):
        low, high = array.min(), array.max()
        if max(abs(float(low)), abs(float(high))) < _EXACT and float(high) - float(low) < len(array) + _SPREAD:
            places = array.astype(np.int64) - int(low)
            counts = np.bincount(places)
            found = np.flatnonzero(counts)
            if len(found) == len(counts):
                return (found + int(low)).astype(array.dtype), places
            codes = np.zeros(found[-1] + 1, dtype=np.uint32)
            codes[found] = np.arange(len(found), dtype=np.uint32)
            return (found + int(low)).astype(array.dtype), codes[places]
    return np.unique(array, return_inverse=True)


# Whole numbers below this are the same in int64 and in float64.
_EXACT = 2.0**53
# Labels may lie so much farther apart than there are rows, and still be counted.
_SPREAD = 1000


def read_targets(y: Any, rows: int, name: str) -> np.ndarray:
    """The number of each row."""
    array = _column(y, rows, name)
    if array.dtype.kind not in "biufO":
        raise InputError(f"{name} predicts numbers, but y is an array of {array.dtype}")
    if array.dtype.kind == "O":
        array = _numbers(array, "y")
    array = np.require(array.astype(np.float64, copy=False), requirements=["C", "A"])
    _refuse_gaps(array, "y")
    return array


def read_weights(sample_weight: Any, rows: int, negative: bool = False, some: bool = True) -> np.ndarray | None:
    """The weight of each row; `negative` ones leave their rows out, as weights of 0 do, where that is the custom. `some`: whether weights of which
    none is above 0 are refused.
    """
    if sample_weight is None:
        return None
    if is_sparse(sample_weight):
        raise InputError("sample_weight is sparse: give one weight a row, as a full array")
    weights = _array(sample_weight, "sample_weight")
    if weights.dtype.kind not in "biufO":
        raise InputError(f"sample_weight is an array of {weights.dtype}, expected one number a row: {weights.ravel()[:1]}")
    if weights.dtype.kind == "O":
        weights = _numbers(weights, "sample_weight")
    if weights.ndim == 0:
        weights = np.full(rows, float(weights))
    if weights.ndim != 1:
        raise InputError(f"Sample weights must be 1D array or scalar, got {weights.ndim}D array.")
    if len(weights) != rows:
        raise InputError(f"sample_weight.shape == {weights.shape}, expected {(rows,)}!")
    weights = np.require(weights.astype(np.float64), requirements=["C", "A"])
    _refuse_gaps(weights, "sample_weight")
    if negative:
        weights = np.maximum(weights, 0.0)
    if some and not np.any(weights > 0.0):
        raise InputError("Invalid input - all samples have zero or negative weights.")
    return weights


def read_class_weights(class_weight: Any, classes: np.ndarray, codes: np.ndarray, weights: np.ndarray | None) -> np.ndarray:
    """What a row of each class counts, beside its own weight."""
    if class_weight is None:
        return np.ones(len(classes))
    if isinstance(class_weight, str):
        if class_weight != "balanced":
            raise InputError(f"class_weight must be a dict, 'balanced' or None, got {class_weight!r}")
        mass = np.bincount(codes, weights=weights, minlength=len(classes)).astype(np.float64)
        return np.divide(mass.sum(), len(classes) * mass, out=np.ones(len(classes)), where=mass > 0)
    if not hasattr(class_weight, "items"):
        raise InputError(f"class_weight must be a dict, 'balanced' or None, got {class_weight!r}")
    found = np.ones(len(classes))
    missing = []
    for place, label in enumerate(classes.tolist()):
        if label in class_weight:
            value = class_weight[label]
            if not isinstance(value, (numbers.Real, np.bool_)) or not math.isfinite(value):
                raise InputError(f"class_weight[{label!r}] is {value!r}, but it must be a finite number")
            found[place] = value
        else:
            missing.append(label)
    if missing and len(classes) - len(missing) != len(class_weight):
        raise InputError(f"The classes, {missing}, are not in class_weight")
    return found


def words_of(classes: np.ndarray) -> list[str]:
    """Labels in words, for files: whole numbers without a point."""
    if classes.dtype.kind == "f":
        return [repr(int(label)) if label == int(label) else repr(float(label)) for label in classes]
    if classes.dtype.kind == "b":
        return [str(int(label)) for label in classes]
    return [str(label) for label in classes.tolist()]
