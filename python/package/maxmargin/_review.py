"""What a model says of rows beside its predictions: `report`, `explain`, `suspects`, `doctor`.

Each answer is a dict, the one that the command line prints with ``--json``, but for rows, which are counted from 0 here. Printed, or shown by a
notebook, it is a text.
"""

from __future__ import annotations

import html
import json
from collections.abc import Iterable
from typing import Any

import numpy as np

from . import _engine
from ._errors import InputError
from ._input import is_sparse, words_of

# Classes and rows that a text lists; the dict has all of them.
_MOST_LISTED = 20


class Told(dict):
    """A dict of numbers with its text."""

    def __str__(self) -> str:
        return "\n".join(self._lines())

    def _lines(self) -> list[str]:
        raise NotImplementedError

    def _repr_html_(self) -> str:
        return f"<pre>{html.escape(str(self))}</pre>"


class Report(Told):
    """How well a model predicts rows."""

    def _lines(self) -> list[str]:
        if "accuracy" not in self:
            squared = "" if self["r_squared"] is None else f", R² {self['r_squared']:.4f}"
            return [
                f"mean squared error {self['mean_squared_error']:.5g}, mean absolute error {self['mean_absolute_error']:.5g}{squared} "
                f"({_counted(self['rows'], 'row')})"
            ]
        right, baseline = self["rows"] - self["errors"], self["baseline"]
        lines = [
            f"{self['accuracy']:.1%} right ({right} of {_counted(self['rows'], 'row')}); "
            f"{baseline['accuracy']:.1%} by always saying {baseline['label']}",
            f"balanced accuracy {self['balanced_accuracy']:.1%}" + _named(", AUC", self["auc"]) + _named(", log loss", self["log_loss"]),
            "",
        ]
        shown = self["classes"][:_MOST_LISTED]
        head = ["class", "rows", "predicted", "precision", "recall", "F1"]
        rows = [[c["label"], c["rows"], c["predicted"], _share(c["precision"]), _share(c["recall"]), _share(c["f1"])] for c in shown]
        lines += _table([head, *rows])
        if len(shown) < len(self["classes"]):
            return [*lines, f"... and {_counted(len(self['classes']) - len(shown), 'class', 'classes')} more"]
        if self["confusion"] is not None:
            names = [c["label"] for c in shown]
            counts = [[name, *counts] for name, counts in zip(names, self["confusion"])]
            lines += ["", *_table([["rows of, taken for", *names], *counts])]
        return lines


class Explanation(Told):
    """Why a model says of rows what it says."""

    def _lines(self) -> list[str]:
        lines = []
        for row in self["rows"]:
            said = row["predicted"] if row["predicted"] is not None else f"{row['number']:.6g}"
            known = "" if row["label"] is None else f"; the data says {row['label']}"
            lines += [f"row {row['row']}: {said}{known}"]
            for machine in row["machines"]:
                far = "" if machine["distance"] is None else f", {machine['distance']:.4g} from the boundary {self['distances']}"
                lines += [f"  {machine['machine']}: {machine['decision_value']:+.6g}{far}"]
                where = ["row" if term.get("training_row") is not None else "column" for term in machine["terms"]]
                table = [["", "coefficient", "value", "term", "share"]]
                for word, term in zip(where, machine["terms"]):
                    name = f"training row {term['training_row']}" if word == "row" else f"column {term['column']}"
                    table.append(
                        [name, f"{term['coefficient']:.4g}", f"{term['value']:.4g}", f"{term['term']:+.4g}", f"{term['share']:.1%}"]
                    )
                rest = machine["terms_in_all"] - len(machine["terms"])
                lines += ["    " + line for line in _table(table)]
                if rest > 0:
                    lines.append(f"    ... and {_counted(rest, 'term')} more, and {machine['bias_value']:+.4g} of its own")
        return lines


class Suspects(Told):
    """Rows whose label, number or place deserves a second look."""

    def _lines(self) -> list[str]:
        wrong = self["on_the_wrong_side"]
        side = "" if wrong is None else f", {wrong} of them on the wrong side"
        lines = [f"{self['with_slack']} of {_counted(self['rows'], 'row')} lack something{side}"]
        if not self["same_data"]:
            lines.append("this is not the data that the model was trained on, so no alpha is known of its rows")
        head = ["row", "slack", "decision value", "label", "predicted", "machine"]
        rows = [
            [s["row"], f"{s['slack']:.4g}", f"{s['decision_value']:.4g}", s["label"] or "-", s["predicted"] or "-", s["machine"]]
            for s in self["suspects"]
        ]
        return [*lines, "", *_table([head, *rows])] if rows else lines


class Diagnosis(Told):
    """What may be wrong with data, with a model or with a kernel for it, and the way out."""

    def _lines(self) -> list[str]:
        lines = [f"{_counted(self['rows'], 'row')}, {_counted(self['columns'], 'column')}"]
        for finding in self["findings"]:
            lines += ["", f"{finding['severity']}: {finding['what']}", f"  help: {finding['help']}"]
        return lines if self["findings"] else [*lines, "nothing was found that needs a word"]


def read(kind: type[Told], text: str, estimator: Any = None) -> Any:
    """An answer of the engine as a dict, its rows counted from 0 and its labels in the user's words."""
    words = {}
    if estimator is not None and hasattr(estimator, "classes_"):
        engine = estimator._fit.parts["classes"]
        words = {own: word for own, word in zip(engine, words_of(estimator.classes_)) if own != word}
    return kind(_translated(json.loads(text), words, not hasattr(estimator, "feature_names_in_")))


def _translated(value: Any, words: dict[str, str], unnamed: bool) -> Any:
    """What the engine says, with rows counted from 0, and columns where they are `unnamed`. `words` are the user's labels where the engine
    knows them by other words.
    """
    if isinstance(value, list):
        return [_translated(item, words, unnamed) for item in value]
    if not isinstance(value, dict):
        return value
    found = {}
    for name, item in value.items():
        if name in ("row", "training_row") and isinstance(item, int):
            item -= 1
        elif name in ("label", "predicted", "rival") and isinstance(item, str):
            item = words.get(item, item)
        elif name == "machine" and words and isinstance(item, str):
            item = " against ".join(words.get(part, part) for part in item.split(" against "))
        elif name == "column" and unnamed and isinstance(item, str):
            item = str(int(item) - 1)
        found[name] = _translated(item, words, unnamed)
    return found


def rows_of(X: Any, numbers: list[int]) -> Any:
    """Some rows of whatever was given."""
    if hasattr(X, "iloc"):
        return X.iloc[numbers]
    if is_sparse(X):
        return X.tocsr()[numbers]
    if isinstance(X, (list, tuple)):
        return [X[number] for number in numbers]
    return X[numbers]


def row_numbers(rows: Any, count: int) -> list[int]:
    """Numbers of rows, counted from 0."""
    given = [rows] if isinstance(rows, (int, np.integer)) else list(rows) if isinstance(rows, Iterable) else None
    if given is None or any(isinstance(row, bool) or not isinstance(row, (int, np.integer)) for row in given):
        raise InputError(f"rows is {rows!r}, but it must be the number of a row, or a list of them, counted from 0")
    for row in given:
        if not -count <= row < count:
            raise InputError(f"there is no row {row}: X has {_counted(count, 'row')}, counted from 0")
    return [int(row) % count for row in given]


# What a finding means


def diagnosed(text: str, names: list[str] | None, labels: list[str] | None, answers: list[str] | None) -> Diagnosis:
    """The findings of the engine with their words. `names` are those of the columns, `labels` those of the classes, `answers` one a row."""
    found = json.loads(text)
    for finding in found["findings"]:
        finding["what"], finding["help"] = _words(finding["details"], names, labels, answers)
    return Diagnosis(found)


def _words(d: dict[str, Any], names: list[str] | None, labels: list[str] | None, answers: list[str] | None) -> tuple[str, str]:
    """A finding in words, and the way out. Rows and columns are counted from 0."""

    def column(place: int) -> str:
        return f"column {names[place]!r}" if names else f"column {place}"

    def label(place: int) -> str:
        return repr(labels[place]) if labels else f"class {place}"

    def answer(row: int) -> str:
        return f" ({answers[row]})" if answers else ""

    def more(word: str) -> str:
        return "" if d["count"] < 2 else f", and {d['count'] - 1} more {word}"

    scale = "scale the columns: make_pipeline(StandardScaler(), model)"
    others = "look at the other findings; else try another kernel, gamma and C"
    match d["finding"]:
        case "unscaled-columns":
            return f"{column(d['wide'])} ranges {d['ratio']:.3g} times as far as {column(d['narrow'])}, which will hardly count", scale
        case "constant-columns":
            what = f"{d['count']} of {_counted(d['columns'], 'column')} have one value in all rows, the first is {column(d['first'])}"
            return what, "leave them out: they tell nothing"
        case "copied-columns":
            first, copy = d["first"]
            return (
                f"{column(copy)} is the same as {column(first)} in every row{more('copies')}",
                "leave copies out: a kernel counts them twice",
            )
        case "lonely-columns":
            what = f"{d['count']} of {_counted(d['columns'], 'column')} are not 0 in a single row only, the first is {column(d['first'])}"
            return what, "leave them out: what one row alone has tells nothing of others"
        case "mostly-zeros":
            return f"{d['share']:.1%} of the numbers are 0, and all of them are stored", "give a sparse matrix: scipy.sparse.csr_matrix(X)"
        case "huge-values":
            what = f"the value in row {d['row']}, {column(d['column'])} is {d['value']:.6g}{more('values above 1e8')}"
            return what, f"correct it if it stands for a missing value, else {scale}"
        case "tiny-ranges":
            what = f"{column(d['column'])} varies by {d['range']:.3g} around {d['size']:.6g}{more('such columns')}"
            return what, f"take the column's mean off, or {scale}"
        case "few-rows":
            what = f"there are fewer rows ({d['rows']}) than columns ({d['columns']})"
            return what, "begin with kernel='linear', which mostly separates such rows already, and test on rows kept out"
        case "repeated-rows":
            first, again = d["first"]
            what = f"{d['count']} of {_counted(d['rows'], 'row')} repeat one before, label and all: row {again} is row {first} again"
            return what, "keep one of each where they are slips; a test set must not share rows with the training set"
        case "contradictions":
            first, again = d["first"]
            repeat = "1 row repeats" if d["count"] == 1 else f"{d['count']} rows repeat"
            what = f"{repeat} one before with another label: row {again}{answer(again)} is row {first}{answer(first)} again"
            return what, "look at these rows: no model can get both right"
        case "single-class":
            return f"all rows have the label {label(0)}", "give rows of two classes at least, or use OneClassSVM"
        case "single-rows":
            what = f"{label(d['class'])} has one row{more('such classes')}"
            return what, "give more rows of it, or leave it out: nothing can be learnt of it and tested on"
        case "rare-classes":
            what = f"{label(d['class'])} has {d['rows']} rows{more('classes of fewer than 5')}"
            return what, "give more rows of it: folds of a cross-validation will lack it"
        case "imbalance":
            what = f"{label(d['largest'])} has {d['ratio']:.3g} times as many rows as {label(d['smallest'])}"
            return what, "use class_weight='balanced', and look at the errors of each class: model.report(X, y)"
        case "numeric-labels":
            what = f"the labels of {_counted(d['rows'], 'row')} are {d['classes']} different numbers"
            return what, "if they are amounts and not classes, use SVR"
        case "narrow-kernel":
            what = f"gamma is too large: the kernel value of a median pair of rows is e^-{d['exponent']:.3g}, so every row stands alone"
            return what, f"choose a gamma about {d['gamma']:.2g}, or gamma='scale'"
        case "wide-kernel" if d["gamma"] is None:
            return "most pairs of rows are the same to the kernel", "give columns that tell the rows apart"
        case "wide-kernel":
            what = f"gamma is too small: the kernel value of a median pair of rows is e^-{d['exponent']:.3g}, so all rows look alike"
            return what, f"choose a gamma about {d['gamma']:.2g}, or gamma='scale'"
        case "kernel-overflow":
            what = f"the kernel value of row {d['row']} with itself is too large to compute with"
            return what, f"{scale}, or choose a smaller gamma or degree"
        case "large-kernel":
            what = f"kernel values reach {d['largest']:.3g}, which leaves few digits to tell rows apart"
            return what, f"{scale}, or choose a smaller gamma or degree"
        case "not-positive-semidefinite":
            what = f"the function is no kernel on these rows: an eigenvalue of {d['rows']} of them is {d['smallest']:.3g}"
            return what, "choose another kernel: a model with this one has no certificate"
        case "small-penalty":
            return f"C = {d['c']:.6g} is so small that no row can reach the margin", f"begin at a C about {d['usual']:.2g}"
        case "large-penalty":
            what = f"C = {d['c']:.6g} is {d['c'] / d['usual']:.2g} times 1/mean k(x, x): a fit takes long, and follows every row"
            return what, f"begin at a C about {d['usual']:.2g}, and raise it while the errors on rows kept out fall"
        case "not-converged":
            what = f"the solver did not converge ({d['stop']} after {_counted(d['iterations'], 'iteration')})"
            return what, f"raise max_iter or max_time, {scale}, or choose a smaller C"
        case "loose-certificate":
            return f"the certificate leaves a relative gap of {d['relative_gap']:.2g}", f"fit with a smaller tol, or {scale}"
        case "other-data":
            what = "the data is not the data that the model was trained on (its hash differs)"
            return what, "give the training data for what is said of the training"
        case "all-at-bound":
            what = f"{d['bounded'] / d['rows']:.1%} of the rows are at the bound C = {d['c']:.6g}: the model hardly looks at them"
            return what, "choose a larger C, or another gamma"
        case "none-at-bound":
            what = f"no alpha is above {d['largest']:.4g}, so that any larger C than that gives this model, not C = {d['c']:.6g} alone"
            return what, "a smaller C makes a wider margin; try some with rows kept out"
        case "many-support-vectors":
            what = f"{d['support'] / d['rows']:.1%} of the rows are support vectors, most of them below the bound"
            return what + ": the model knows its rows by heart", "choose a smaller gamma or degree"
        case "many-iterations":
            steps = d["iterations"] / d["rows"]
            what = f"the fit took {steps:.3g} steps a row ({d['free']} support vectors are free, {d['bounded']} at the bound)"
            return what, f"{scale}, choose a smaller C, or a larger tol"
        case "unknown-labels":
            return f"the model does not know the label of row {d['row']}{answer(d['row'])}{more('rows')}", "fit with rows of that label"
        case "no-better-than-majority":
            rows = _counted(d["rows"], "row")
            return f"the model makes {d['errors']} errors of {rows}, and the most frequent class alone {d['of_majority']}", others
        case "no-better-than-mean":
            return f"the mean of the targets predicts as well as the model does (R² = {d['r_squared']:.3g})", f"{others}, or epsilon"
        case other:
            return f"{other}: {d}", "look it up in the documentation"


def doctor(X: Any, y: Any = None, *, kernel: str | None = None, gamma: Any = "scale", C: float | None = None, n_jobs: int | None = None):
    """What may be wrong with data, before anything is trained on it: all that is found, the worst first.

    Parameters
    ----------
    X : array-like, sparse matrix or frame of shape (n_samples, n_features)
        The rows. Of a frame, columns of text and missing values are findings, and the rest is looked at without them.
    y : array-like of shape (n_samples,), optional
        Labels or numbers.
    kernel : str, optional
        A kernel to look at beside the data; it is looked at with `gamma`.
    gamma : {'scale', 'auto'} or float, default='scale'
        The factor of the kernel.
    C : float, optional
        The penalty on slack, to look at beside the kernel.
    n_jobs : int or None, default=None
        Threads: None is every core.

    Returns
    -------
    Diagnosis
        A dict whose ``"findings"`` have a severity, what was found, the way out and its numbers. Printed it is a text.

    Examples
    --------
    >>> import maxmargin
    >>> found = maxmargin.doctor([[0.0, 1.0], [1.0, 5000.0], [0.0, 2.0], [0.5, 9000.0]], ["a", "b", "a", "b"])
    >>> found["findings"][0]["what"]
    'column 1 ranges 9e+03 times as far as column 0, which will hardly count'
    """
    from ._fitting import answers
    from ._input import read_classes, read_rows, read_targets
    from ._kernel_machine import kernel_text
    from ._threads import threads

    count = threads(n_jobs)
    X, y, before = _readable(X, y)
    rows = read_rows(_Patient(), X, count, reset=True)
    labels = told = None
    if y is None:
        known = answers(names=rows.names)
    elif _are_amounts(np.asarray(y)):
        known = answers(targets=read_targets(y, len(rows), "doctor"), names=rows.names)
    else:
        classes, codes = read_classes(y, len(rows), "doctor", least=1)
        labels, told = words_of(classes), [str(value) for value in np.asarray(y).ravel().tolist()]
        known = answers(labels, codes, names=rows.names)
    asked = None if kernel is None else kernel_text(kernel, gamma, 0.0, 3)
    text = _engine.diagnose(rows.data, known, None, asked, None if C is None else float(C), count)
    found = diagnosed(text, None if rows.names is None else [str(name) for name in rows.names], labels, told)
    found["findings"][:0] = before
    return found


class _Patient:
    """Whoever reads the rows that the doctor looks at: its errors name the doctor."""

    n_features_in_: int


_Patient.__name__ = "doctor"


def _are_amounts(y: np.ndarray) -> bool:
    """Whether answers are numbers to learn, and not classes."""
    return y.dtype.kind == "f" and bool(np.any(y != np.floor(y)))


def _readable(X: Any, y: Any) -> tuple[Any, Any, list[dict[str, Any]]]:
    """The part of a frame that is numbers, without rows that lack one, and what there is to say of the rest."""
    if not (hasattr(X, "columns") and hasattr(X, "to_numpy")):
        return X, y, []
    findings = []
    names = list(X.columns)
    cells = {name: np.asarray(X[name].to_numpy()) for name in names}
    for place, (name, values) in enumerate(cells.items()):
        if values.dtype.kind not in "biuf":
            there = [value for value in values.tolist() if value is not None and value == value]
            kinds = len(set(map(str, there)))
            what = f"column {name!r} is no column of numbers: it has {_counted(kinds, 'distinct value')}, such as {str(next(iter(there), ''))!r}"
            details = {"finding": "column-of-text", "column": place, "distinct": kinds}
            findings.append(_own("warning", what, "leave it out, or use OneHotEncoder", details))
    numbers = [name for name, values in cells.items() if values.dtype.kind in "biuf"]
    lacking = {name: ~np.isfinite(cells[name].astype(np.float64)) for name in numbers}
    for name, gaps in lacking.items():
        if gaps.any():
            count, first = int(gaps.sum()), int(np.flatnonzero(gaps)[0])
            what = f"column {name!r} lacks {_counted(count, 'value')} of {len(gaps)}, the first in row {first}"
            help_ = "leave these rows out, or fill the values in: make_pipeline(SimpleImputer(), StandardScaler(), model)"
            findings.append(
                _own("warning", what, help_, {"finding": "missing-values", "column": names.index(name), "count": count, "row": first})
            )
    if not numbers:
        raise InputError(f"none of the columns {names} has numbers\nhelp: turn text into numbers first, with OneHotEncoder")
    kept = np.flatnonzero(~np.any(np.stack(list(lacking.values())), axis=0)) if findings else np.arange(len(X))
    if not len(kept):
        raise InputError("every row lacks a value\nhelp: fill the values in, with SimpleImputer")
    if len(kept) < len(X):
        X = rows_of(X, kept.tolist())
        y = None if y is None else np.asarray(y)[kept]
    return X[numbers] if len(numbers) < len(names) else X, y, findings


def _own(severity: str, what: str, help_: str, details: dict[str, Any]) -> dict[str, Any]:
    return {"severity": severity, "what": what, "help": help_, "details": details}


# Texts


def _counted(count: int, word: str, several: str | None = None) -> str:
    return f"{count} {word if count == 1 else several or word + 's'}"


def _named(words: str, value: float | None) -> str:
    return "" if value is None else f"{words} {value:.4g}"


def _share(value: float | None) -> str:
    return "-" if value is None else f"{value:.3f}"


def _table(rows: list[list[Any]]) -> list[str]:
    """Lines of columns: the first aligned to the left, the others to the right."""
    texts = [[str(cell) for cell in row] for row in rows]
    widths = [max(len(row[place]) for row in texts) for place in range(len(texts[0]))]
    lines = []
    for row in texts:
        cells = [cell.rjust(width) if place else cell.ljust(width) for place, (cell, width) in enumerate(zip(row, widths))]
        lines.append("  ".join(cells).rstrip())
    return lines
