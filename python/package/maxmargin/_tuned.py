"""`Tuned`: what a search found, and what the choice is worth."""

from __future__ import annotations

import html
import json
import os
from dataclasses import dataclass
from typing import Any

import numpy as np

from . import _engine
from ._errors import ConvergenceWarning, InputError, known_to_sklearn, warn
from ._fitting import Picture
from ._search import KNOBS, Part, Problem, pandas_or_polars


@dataclass(frozen=True)
class Honest:
    """What the model that such a search chooses is worth on new rows.

    Attributes
    ----------
    score : float
        The estimate.
    interval : tuple of float
        The ends of its 95 % interval.
    draws : int
        How often rows were drawn for it.
    """

    score: float
    interval: tuple[float, float]
    draws: int


class Tuned:
    """What a search found: the result of `tune`.

    Attributes
    ----------
    best_params_, one_se_params_ : dict
        The parameters of the best cell, and those of the one-SE choice: the cell with the fewest support vectors among those that are behind
        the best by one standard error of the paired difference at most. None where no cell is done.
    best_index_, one_se_index_ : int
        Where these cells are in the table.
    best_score_ : float
        The mean score of the best cell; too good, because it is the best of many.
    honest_ : Honest or None
        What the chosen model is worth on new rows, with a 95 % interval. None for scores that are no mean over rows.
    model : estimator
        Trained on all rows with what was chosen: `SVC`, `SVR`, ... It scales the columns itself where the search scaled them. None with
        ``refit=False``, and where the search was broken off before a cell was done.
    held_out_ : ndarray
        What the chosen cell predicts for each row of `held_out_rows_` while that row was held out: labels, or numbers. Of a row that was held
        out several times the first prediction.
    held_out_values_ : ndarray or None
        The decision values likewise, where a model is one machine.
    held_out_rows_ : ndarray
        The rows that were held out at all, ascending; all of them, but for splits that are given.
    cv_results_ : dict
        The table with scikit-learn's names: `params`, `mean_test_score`, `std_test_score`, `rank_test_score`, `split0_test_score`, ...
    warnings_ : list of str
        What the user should know, each with the way out.
    counts_ : dict
        How many cells are exact, the same as one of a smaller C, abandoned because they could not win, and unfinished.
    metric_, scaling_, n_splits_, stop_reason_, seconds_ : str, str, int, str, float
        What was to be good; what is done to the columns; how many splits; why the search ended; how long it took.
    """

    def __init__(
        self, problem: Problem, parts: list[Part], search: _engine.Search, found: _engine.Tuned, choose: str, sign: float, seconds: float
    ):
        self._problem, self._search, self._found, self._choose, self._sign = problem, search, found, choose, sign
        view = json.loads(found.view(choose == "one-se"))
        self._cells: list[dict[str, Any]] = view["cells"]
        self._params = [parts[place].params(dict(values)) for place, values in search.settings()]
        self._texts = [parts[place].text(**dict(values)) for place, values in search.settings()]
        self.metric_: str = view["metric"]
        self.scaling_ = search.scaling
        self.n_splits_: int = view["splits"]
        self.stop_reason_: str = view["stop"]
        self.seconds_ = seconds
        self.best_index_: int | None = view["best"]
        self.one_se_index_: int | None = view["one_se"]
        self.chosen_index_: int | None = view["chosen"]
        self.not_told_apart_: list[int] = view["not_told_apart"]
        self.best_params_ = self._params_of(self.best_index_)
        self.one_se_params_ = self._params_of(self.one_se_index_)
        self.chosen_params_ = self._params_of(self.chosen_index_)
        self.best_score_ = None if self.best_index_ is None else self._signed(self._cells[self.best_index_]["mean"])
        self.counts_: dict[str, int] = view["counts"]
        self.warnings_ = [f"{warning['what']}; {warning['help']}" for warning in view["warnings"]]
        self.honest_: Honest | None = None
        if view["honest"] is not None:
            score, (low, high) = view["honest"]["score"], view["honest"]["interval"]
            ends = sorted((sign * low, sign * high))
            self.honest_ = Honest(sign * score, (ends[0], ends[1]), view["honest"]["draws"])
        self.model: Any = None

    def __getstate__(self) -> Any:
        raise TypeError("a Tuned holds on to its training data, and is not pickled: pickle its model, and its table()")

    def _params_of(self, cell: int | None) -> dict[str, Any] | None:
        return None if cell is None else dict(self._params[cell])

    def _signed(self, score: float | None) -> float | None:
        return None if score is None else self._sign * score

    def table(self, frame: str | None = None) -> Any:
        """All cells, one a row.

        Parameters
        ----------
        frame : {'pandas', 'polars'}, optional
            The library whose data frame is returned; None for a dict of arrays.

        Returns
        -------
        dict of ndarray, or DataFrame
            The parameters; `mean`, its standard error over splits (`se_folds`) and rows (`se_rows`); how far it is `behind` the best, with the
            standard error of that difference (`behind_se`); the score of the training rows; support vectors (those at the bound), margin,
            relative gap and steps; `state`, which is exact, same (as the cell `same_as` of a smaller C), abandoned or unfinished; and the score
            of each split. NaN is what is not known.
        """
        names = [name for name in ("kernel", *KNOBS) if any(name in params for params in self._params)]
        columns: dict[str, Any] = {name: _column([params.get(name) for params in self._params]) for name in names}
        for name in ("mean", "se_folds", "se_rows", "behind", "behind_se", "training", "support_vectors", "bounded", "margin", "gap"):
            of_score = name in ("mean", "training")
            columns[name] = numbers_of([self._signed(cell[name]) if of_score else cell[name] for cell in self._cells])
        columns["steps"] = np.array([cell["steps"] for cell in self._cells], dtype=np.int64)
        columns["state"] = np.array([cell["state"] for cell in self._cells])
        columns["same_as"] = numbers_of([cell["same_as"] for cell in self._cells])
        for split in range(self.n_splits_):
            columns[f"split{split}"] = numbers_of([self._signed(cell["scores"][split]) for cell in self._cells])
        return pandas_or_polars(columns, frame)

    @property
    def cv_results_(self) -> dict[str, Any]:
        scores = np.stack([numbers_of([self._signed(cell["scores"][split]) for cell in self._cells]) for split in range(self.n_splits_)])
        mean = scores.mean(axis=0)
        # scikit-learn's scores are all the better the larger.
        better = mean * (-1.0 if self._sign > 0 and self.metric_ in ("mse", "mae", "log-loss") else 1.0)
        rank = 1 + (better[np.newaxis, :] > better[:, np.newaxis]).sum(axis=1)
        rank[np.isnan(mean)] = 1 + np.count_nonzero(~np.isnan(mean))
        found: dict[str, Any] = {"params": [dict(params) for params in self._params]}
        for name in ("kernel", *KNOBS):
            if any(name in params for params in self._params):
                values = [params.get(name) for params in self._params]
                found[f"param_{name}"] = np.ma.MaskedArray(_column(values), mask=[value is None for value in values])
        found.update({f"split{split}_test_score": scores[split] for split in range(self.n_splits_)})
        found.update(mean_test_score=mean, std_test_score=scores.std(axis=0), rank_test_score=rank.astype(np.int32))
        return found

    def held_out(self, cell: int, values: bool = False) -> tuple[np.ndarray, np.ndarray]:
        """The rows that a cell was tried on while they were held out, and what it predicts for them.

        Parameters
        ----------
        cell : int
            The row of the table.
        values : bool, default=False
            The decision values instead of labels or numbers.

        Returns
        -------
        rows, predicted : ndarray
            The rows in ascending order. Of a row that was held out several times the first prediction.
        """
        if isinstance(cell, bool) or not isinstance(cell, (int, np.integer)) or not 0 <= cell < len(self._cells):
            raise InputError(f"cell is {cell!r}, but it must be a whole number from 0 to {len(self._cells) - 1}")
        read = self._found.values if values else self._found.predicted
        found = [(rows, read(int(cell), split)) for split, rows in enumerate(self._search.held_out_rows())]
        done = [(rows, said) for rows, said in found if said is not None and len(said) == len(rows)]
        if not done:
            raise InputError(
                f"cell {cell} has no {'decision values' if values else 'predictions'}: its state is {self._cells[cell]['state']}"
            )
        rows, first = np.unique(np.concatenate([rows for rows, _ in done]), return_index=True)
        said = np.concatenate([said for _, said in done])[first]
        return rows, said if values else self._problem.labels(said)

    def _held_out(self, values: bool = False) -> tuple[np.ndarray, np.ndarray]:
        if self.chosen_index_ is None:
            raise InputError("no cell is done, so that nothing was held out\nhelp: give the search more time")
        return self.held_out(self.chosen_index_, values)

    @property
    def held_out_(self) -> np.ndarray:
        return self._held_out()[1]

    @property
    def held_out_rows_(self) -> np.ndarray:
        return self._held_out()[0]

    @property
    def held_out_values_(self) -> np.ndarray | None:
        try:
            return self._held_out(values=True)[1]
        except InputError:
            return None

    def _train(self, cell: int, thread_count: int, max_time: float | None = None) -> tuple[_engine.Model, dict[str, Any], list[Any]]:
        """The engine's model of a cell on all rows, what was trained in the engine's words, and the history of the steps."""
        model, history = self._search.fit(cell, thread_count, max_time=max_time)
        values, asked = self._params[cell], dict(self._problem.asked, kernel=self._texts[cell], scaling=self.scaling_)
        if "C" in values:
            asked.update(penalty="c", penalty_number=float(values["C"]))
        if "epsilon" in values:
            asked.update(task_number=float(values["epsilon"]))
        if "nu" in values:
            of_task = asked["task"] != "classification"
            asked.update({"task_number": float(values["nu"])} if of_task else {"penalty": "nu", "penalty_number": float(values["nu"])})
        if self._problem.balanced and self._problem.class_weights is not None:
            asked.update(class_weights=self._problem.class_weights.tolist())
        return model, asked, history

    def _is_done(self, cell: int | None) -> bool:
        """Whether all splits of a cell are done."""
        return cell is not None and self._cells[cell]["mean"] is not None

    def _warn_of_end(self, max_time: float | None) -> None:
        """Warns where the search was broken off, or has nothing to choose by."""
        if self.stop_reason_ != "converged":
            what = "the best so far is taken" if self._is_done(self.chosen_index_) else "no cell is done"
            warn(f"The search was stopped after max_time={max_time} seconds: {what}.", known_to_sklearn(ConvergenceWarning))
        elif not self._is_done(self.chosen_index_):
            warn(f"{self.metric_} is not defined in some split, so that no cell has a score: choose fewer folds, or another measure")

    def plot(
        self,
        kind: str = "grid",
        *,
        path: str | os.PathLike[str] | None = None,
        title: str | None = None,
        width: int = 760,
        height: int = 560,
        theme: str = "light",
    ) -> Picture:
        """Draws the search.

        Parameters
        ----------
        kind : {'grid', 'path', 'work'}, default='grid'
            The score of each cell over two parameters; scores, support vectors and margin over C; or the solver's steps in each cell.
        path : path, optional
            Where to write the picture: `.svg` or `.png`.
        title : str, optional
            The title. None names the subject of the picture.
        width, height : int, default=760, 560
            Units across and down; a PNG has two pixels for each.
        theme : {'light', 'dark'}, default='light'
            The paper.

        Returns
        -------
        Picture
            Shown by notebooks, and written by its `save`; its `numbers` are the table that it shows.
        """
        for name, size in (("width", width), ("height", height)):
            if isinstance(size, bool) or not isinstance(size, (int, np.integer)) or not 0 <= size < 2**32:
                raise InputError(f"{name} is {size!r}, but it must be a whole number of 0 or more")
        common = (str(kind), self._choose == "one-se", title, int(width), int(height), str(theme))
        picture = Picture(lambda format: self._found.picture(*common, format))
        if path is not None:
            picture.save(path)
        return picture

    def __repr__(self) -> str:
        return "\n".join(f"{name:<9} {text}" for name, text in self._lines())

    def _repr_html_(self) -> str:
        """What a notebook shows."""
        lines = "".join(f"<tr><th>{html.escape(name)}</th><td>{html.escape(text)}</td></tr>" for name, text in self._lines())
        return f"<table>{lines}</table>"

    def _lines(self) -> list[tuple[str, str]]:
        lines = []
        for name, place in (("best", self.best_index_), ("one-SE", self.one_se_index_)):
            if place is None:
                continue
            cell = self._cells[place]
            words = "  ".join(
                f"{key} {value if isinstance(value, str) else format(value, '.4g')}" for key, value in self._params[place].items()
            )
            mean, error = self._signed(cell["mean"]), cell["se_rows"] if cell["se_rows"] is not None else cell["se_folds"]
            score = "not done" if mean is None else f"{self.metric_} {mean:.4f}" + ("" if error is None else f" ± {error:.4f}")
            support = "" if cell["support_vectors"] is None else f", {cell['support_vectors']:.0f} support vectors"
            lines.append((name, f"{words}: {score}{support}"))
        if self.honest_ is not None:
            low, high = self.honest_.interval
            lines.append(
                ("honest", f"{self.honest_.score:.4f} [{low:.4f}, {high:.4f}] is what the model that such a search chooses is worth")
            )
        counted = ", ".join(f"{count} {state}" for state, count in self.counts_.items() if count)
        lines.append(("cells", f"{counted}; {self.n_splits_} splits, columns scaled: {self.scaling_}; {self.seconds_:.1f} s"))
        lines += [("warning", text) for text in self.warnings_]
        return lines


def numbers_of(values: list[Any]) -> np.ndarray:
    """Numbers, and NaN for what is not known."""
    return np.array([np.nan if value is None else value for value in values], dtype=np.float64)


def _column(values: list[Any]) -> np.ndarray:
    """One parameter of all cells: text, or numbers with NaN where a kernel does not have it."""
    return np.array(values) if isinstance(values[0], str) else numbers_of(values)
