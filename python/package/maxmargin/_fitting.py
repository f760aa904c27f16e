"""From checked data to a fitted estimator: the one place where the engine is called to train."""

from __future__ import annotations

import html
import json
import os
import threading
import time
from typing import Any

import numpy as np

from . import _engine
from ._callbacks import Called
from ._certificate import Certificate, certificate_of
from ._errors import ConvergenceWarning, InputError, known_to_sklearn, not_fitted, warn
from ._estimator import Estimator, available_when
from ._input import Rows, engine_names, is_sparse, read_rows, read_targets, read_weights, require_y, words_of
from ._parameters import Rule, boolean, instance, integer, number, one_of
from ._progress import Line
from ._review import Diagnosis, Explanation, Report, Suspects, diagnosed, read, row_numbers, rows_of
from ._threads import threads

# Bytes for kernel values where cache_size does not say otherwise: never less than this.
_LEAST_MEMORY = 256 << 20

ENGINE_RULES: dict[str, tuple[Rule, ...]] = {
    "n_jobs": (integer(), one_of(None)),
    "max_time": (number(above=0), one_of(None)),
    "progress": (boolean(),),
    "checkpoint": (instance((str, os.PathLike), "a path"), one_of(None)),
}
"""The rules of the parameters that every estimator of the engine has."""

SOLVER_RULE: tuple[Rule, ...] = (instance(str, "the name of a solver, such as 'block-smo'"), one_of(None))
"""The rule of the parameter that names the engine's algorithm."""


def params(**changed: Any) -> dict[str, Any]:
    """What to train, in the engine's words; what is not named has its default."""
    known: dict[str, Any] = dict(
        task="classification",  # or regression, nu-regression, one-class, svdd
        task_number=0.0,  # epsilon or nu of the task
        kernel="linear",
        penalty="c",  # or lambda, nu, hard, none
        penalty_number=1.0,
        norm="l2",
        loss=None,  # or hinge, squared, logistic
        bias="explicit",  # or folded, none
        solver=None,
        multiclass=None,  # or ovo, ovr, joint, crammer-singer
        tolerance=None,  # the engine's own
        gap=None,
        max_iterations=None,
        memory=free_memory(),
        seed=0,
        averaged=False,
        shrinkage="0.001",
        threshold="least-error",
        class_weights=None,  # one a class
        landmarks=None,  # how many
        prove=False,
        proved_gap=None,  # adds landmarks until the proved relative gap is at most this
        scaling="none",  # or standard, minmax
    )
    unknown = set(changed) - set(known)
    if unknown:
        raise TypeError(f"the engine knows no {sorted(unknown)}")
    known.update(changed)
    for name in ("task_number", "penalty_number", "tolerance"):
        known[name] = None if known[name] is None else float(known[name])
    return known


def free_memory() -> int:
    """Half of the memory that is free; 2 GiB where that is not known. Looked up once a second at most: small fits are sooner done."""
    global _known_memory
    now = time.monotonic()
    if now >= _known_memory[0]:
        _known_memory = (now + 1.0, _look_up_memory())
    return _known_memory[1]


# Until when what is known of the free memory is taken for true, and that.
_known_memory = (0.0, 0)


def _look_up_memory() -> int:
    try:
        with open("/proc/meminfo", encoding="ascii") as lines:
            for line in lines:
                if line.startswith("MemAvailable:"):
                    return max(int(line.split()[1]) * 512, _LEAST_MEMORY)
    except (OSError, ValueError):
        pass
    return 2 << 30


def seed_of(random_state: Any) -> int:
    """A seed for the engine. None is 0: the same call gives the same answer."""
    if random_state is None:
        return 0
    if isinstance(random_state, (int, np.integer)) and not isinstance(random_state, bool):
        if random_state < 0:
            raise InputError(f"random_state is {random_state}, but it must be 0 or more")
        return int(random_state)
    if isinstance(random_state, np.random.RandomState):
        return int(random_state.randint(0, 2**31 - 1))
    if isinstance(random_state, np.random.Generator):
        return int(random_state.integers(0, 2**31 - 1))
    raise InputError(f"{random_state!r} cannot be used to seed a generator: give a whole number, a RandomState or None")


def check_folder(checkpoint: str) -> None:
    """Refuses a checkpoint that could not be written, before hours of work."""
    folder = os.path.dirname(os.path.abspath(checkpoint)) if checkpoint and "\0" not in checkpoint else ""
    if not os.path.isdir(folder):
        raise InputError(f"checkpoint is {checkpoint!r}, but there is no folder {folder!r} to write it to: make the folder first")


class Parts(dict[str, Any]):
    """What a model is made of. Its machines are described when they are first asked for: 1,000 classes have 499,500 of them."""

    def __init__(self, model: _engine.Model) -> None:
        super().__init__(json.loads(model.outline()))
        del self["machines"]
        self._model = model

    def __missing__(self, name: str) -> Any:
        if name != "machines":
            raise KeyError(name)
        self["machines"] = json.loads(self._model.describe())["machines"]
        return self["machines"]


class Fit:
    """A model with what it was trained on, as long as that is needed to give it probabilities when they are asked for."""

    def __init__(self, model: _engine.Model, rows: Rows | None, answers: dict[str, Any], asked: dict[str, Any]) -> None:
        self.model = model
        self._parts: Parts | None = None
        self.rows = rows
        self.answers = answers
        self.asked = asked
        self._lock = threading.Lock()

    def with_probabilities(self, thread_count: int, how: str = "auto") -> _engine.Model:
        """The model with its probabilities, which are made when they are first asked for."""
        with self._lock:
            if not self.model.has_probabilities:
                if self.rows is None:
                    raise InputError(
                        "probabilities are made from the training data, which this model no longer has\nhelp: fit with probability=True"
                    )
                self.model = _engine.calibrate(self.model, self.rows.data, self.answers, self.asked, thread_count, how)
                self._parts = None
            return self.model

    @property
    def parts(self) -> dict[str, Any]:
        """What the model says of itself, read when it is first asked for: many fits of a search never are."""
        if self._parts is None:
            self._parts = Parts(self.model)
        return self._parts

    def __getstate__(self) -> dict[str, Any]:
        # The training data does not come along.
        return {"model": self.model.to_bytes(), "asked": self.asked, "classes": self.answers["classes"]}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__init__(_engine.Model.from_bytes(state["model"]), None, answers(state["classes"]), state["asked"])

    def __deepcopy__(self, memo: dict[int, Any]) -> Fit:
        # A model never changes, and neither does what it was trained on.
        return Fit(self.model, self.rows, self.answers, self.asked)


def answers(
    classes: list[str] | None = None,
    codes: np.ndarray | None = None,
    targets: np.ndarray | None = None,
    weights: np.ndarray | None = None,
    names: np.ndarray | None = None,
) -> dict[str, Any]:
    """What is known of rows beside their numbers, in the engine's words."""
    return dict(classes=classes or [], codes=codes, targets=targets, weights=weights, names=engine_names(names))


def read_model_file(path: str | os.PathLike[str]) -> Fit:
    """The model of a file, without what it was trained on."""
    model = _engine.Model.load(path)
    return Fit(model, None, answers(Parts(model)["classes"]), {})


class EngineEstimator(Called, Estimator):
    """An estimator that is trained by the engine.

    Its fitted attributes: `certificate_`, `stop_reason_`, `history_`, `notes_`, `solver_`.
    """

    _fit: Fit

    def _threads(self) -> int:
        return threads(getattr(self, "n_jobs", None))

    def _read(self, X: Any) -> _engine.Data:
        """Rows to predict."""
        if not hasattr(self, "_fit"):
            raise not_fitted(self)
        return read_rows(self, X, self._threads(), reset=False).data

    def _train(self, rows: Rows, known: dict[str, Any], asked: dict[str, Any], keep_rows: bool = False) -> None:
        """Trains, and sets what every estimator has afterwards. `keep_rows` where probabilities may be asked for later."""
        start = self._fit.model if getattr(self, "warm_start", False) and hasattr(self, "_fit") else None
        line = Line(type(self).__name__) if getattr(self, "progress", False) or getattr(self, "verbose", False) else None
        checkpoint = getattr(self, "checkpoint", None)
        if checkpoint is not None:
            check_folder(os.fspath(checkpoint))
        # More seconds than there are: no limit.
        max_time = getattr(self, "max_time", None)
        max_time = None if max_time is None or max_time > 1e9 else float(max_time)
        try:
            model, history, failure = _engine.fit(
                rows.data,
                known,
                asked,
                rows.threads or self._threads(),
                max_time=max_time,
                start=start,
                checkpoint=checkpoint,
                progress=line,
            )
        finally:
            if line is not None:
                line.close()
        if failure:
            warn(failure, RuntimeWarning)
        self._take(model, rows, known, asked, history, keep_rows)

    def _take(
        self, model: _engine.Model, rows: Rows, known: dict[str, Any], asked: dict[str, Any], history: list[Any], keep_rows: bool = False
    ) -> None:
        """Becomes the estimator of a model that the engine has trained; `keep_rows` as in `_train`."""
        self._set_fit(Fit(model, rows if keep_rows else None, known, asked), history)
        if model.stop != "converged":
            self._warn_of_stop(model.stop)

    def _set_fit(self, fit: Fit, history: list[Any]) -> None:
        self._fit = fit
        self._history = history
        self.stop_reason_ = fit.model.stop

    def _fit_for(self, name: str) -> Fit:
        if not hasattr(self, "_fit"):
            raise AttributeError(f"{name} is there once the model is fitted")
        return self._fit

    @property
    def history_(self) -> np.ndarray:
        """The steps of the fit: seconds, machine, iteration, violation and gap."""
        self._fit_for("history_")
        return np.array(
            [(s, m, i, np.nan if v is None else v, np.nan if g is None else g) for s, m, i, v, g in self._history],
            dtype=[("seconds", "f8"), ("machine", "i8"), ("iteration", "i8"), ("violation", "f8"), ("gap", "f8")],
        )

    def steps(self, X: Any, y: Any = None, *, most: int = 1000) -> list[dict[str, Any]]:
        """What the solver does, step by step, when it is given rows anew: the pairs of ``solver='smo'``, coordinates, mistakes, samples or Newton's
        steps, each a dict as ``maxmargin train --trace`` writes it. Rows are counted from 0.

        Parameters
        ----------
        X, y : array-like
            The training data.
        most : int, default=1000
            The most steps; the solver is stopped after them.

        Returns
        -------
        list of dict
            Empty for a solver that shows no steps, as ``'block-smo'``.
        """
        if isinstance(most, bool) or not isinstance(most, (int, np.integer)) or most < 1:
            raise InputError(f"most is {most!r}, but it must be a whole number of 1 or more")
        asked = self._fit_for("steps").asked
        data, known = self._reviewed_rows(X, y)
        return json.loads(_engine.steps(data, known, asked, self._threads(), int(most)))

    @property
    def certificate_(self) -> Certificate | None:
        """How good the fit is: primal, dual, gap and violation; None where there is no certificate for every machine."""
        fit = self._fit_for("certificate_")
        return certificate_of(fit.parts, fit.model)

    @property
    def solver_(self) -> str:
        """The name of the solver."""
        return self._fit_for("solver_").parts["solver"]

    @property
    def notes_(self) -> list[str]:
        """What the solver has to say."""
        return self._fit_for("notes_").model.notes()

    def _warn_of_stop(self, stop: str) -> None:
        said = {
            "iteration-limit": self._iteration_warning(),
            "time-limit": f"The fit was stopped after max_time={getattr(self, 'max_time', None)} seconds.",
            "stalled": "The solver could get no nearer to the tolerance in this arithmetic.",
            "diverged": "The weights grow without bound: the classes can be separated, and there is no penalty on the weights.",
        }
        certificate = self.certificate_
        how_good = "" if certificate is None else f" The relative gap is {certificate.relative_gap:.2e}."
        warn(said.get(stop, stop) + how_good, known_to_sklearn(ConvergenceWarning))

    def _iteration_warning(self) -> str:
        limit = getattr(self, "max_iter", -1)
        return f"Solver terminated early (max_iter={limit}).  Consider pre-processing your data with StandardScaler or MinMaxScaler."

    # Files and pictures

    def save(self, path: str | os.PathLike[str]) -> None:
        """Writes the model to our file (`.mm`), which `maxmargin predict` and `maxmargin inspect` read, too.

        With ``probability=True`` the probabilities are in it, and `maxmargin predict --probabilities` finds them.
        """
        if getattr(self, "probability", None) is True and hasattr(self, "_fit") and self._fit.rows is not None:
            self._fit.with_probabilities(self._threads())
        self._exported().save(path)

    @classmethod
    def load(cls, path: str | os.PathLike[str]):
        """Reads a model from our file (`.mm`): an estimator of this class, with the parameters, labels and predictions of the one saved.

        What is not in the file is not restored: the training data, the history, and parameters that do not change the model. Labels that
        are all whole numbers come back as such, others as text.

        Parameters
        ----------
        path : path
            A file of `save`, or of `maxmargin train` where it trains what this class does.

        Returns
        -------
        estimator
        """
        fit = read_model_file(path)
        if not cls._reads(fit.parts):
            from ._loading import kind_of

            raise InputError(
                f"{os.fspath(path)} is {kind_of(fit.parts)}, which {cls.__name__} is not\n"
                "help: maxmargin.load(path) reads a model as the class that it is of"
            )
        return cls._restored(fit)

    @classmethod
    def _reads(cls, parts: dict[str, Any]) -> bool:
        """Whether a model is one that this class trains; a class that says so has `_restored`."""
        return False

    @classmethod
    def _restored(cls, fit: Fit):
        """An estimator of this class for a model that it reads."""
        raise InputError(f"{cls.__name__} is not read from files: use pickle or joblib")

    def to_onnx(self, path: str | os.PathLike[str] | None = None) -> bytes:
        """The model in ONNX, as bytes, and in a file where one is named."""
        content = self._exported().to_onnx()
        if path is not None:
            with open(path, "wb") as file:
                file.write(content)
        return content

    def to_libsvm(self, path: str | os.PathLike[str] | None = None) -> str:
        """The model in LIBSVM's text, and in a file where one is named.

        A linear model is written with its support vectors as long as the training data is at hand, else with one vector a machine.
        """
        rows = self._fit.rows if hasattr(self, "_fit") else None
        text = self._exported().to_libsvm(rows.data if rows is not None else None)
        if path is not None:
            with open(path, "w", encoding="ascii") as file:
                file.write(text)
        return text

    def _exported(self) -> _engine.Model:
        """The model in the user's own words."""
        if not hasattr(self, "_fit"):
            raise not_fitted(self)
        if not hasattr(self, "classes_"):
            return self._fit.model
        words = words_of(self.classes_)
        if len(set(words)) < len(words):
            raise InputError(f"labels that differ only in their type cannot be told apart in a file: {words}")
        return self._fit.model.relabelled(words)

    def plot(
        self,
        X: Any = None,
        y: Any = None,
        *,
        kind: str | None = None,
        columns: tuple[str, str] | tuple[int, int] | None = None,
        row: int = 0,
        path: str | os.PathLike[str] | None = None,
        title: str | None = None,
        width: int = 760,
        height: int = 560,
        theme: str = "light",
    ) -> Picture:
        """Draws the model, with the rows given.

        Parameters
        ----------
        X, y : array-like, optional
            Rows to draw. A kernel model is drawn without, as regions around its support vectors.
        kind : str, optional
            `regions`, `margins`, `roc`, `calibration`, `confusion`, `hulls` or `why` of a model of classes; `tube`, `residuals` or `why` of one
            of numbers. None for `regions`, or `tube`.
        columns : pair of names or of numbers counted from 0, optional
            The columns across and up, for models of more than two; the others are held at their mean. None for the plane that shows most of
            all columns.
        row : int
            The row that `why` explains, counted from 0.
        path : path, optional
            Where to write the picture: `.svg` or `.png`.
        title : str, optional
            The title. None names the subject of the picture.
        width, height : int
            In units of the picture, of which a PNG shows each with two pixels.
        theme : str
            `light` or `dark`.

        Returns
        -------
        Picture
            Shown by notebooks, and written by its `save`; its `numbers` are the table that it shows.
        """
        model = self._exported()
        if columns is not None and len(columns) != 2:
            raise InputError(f"columns is {columns!r}, but a picture has two")
        for name, given in (("width", width), ("height", height), ("row", row)):
            if isinstance(given, bool) or not isinstance(given, (int, np.integer)) or not 0 <= given < 2**32:
                raise InputError(f"{name} is {given!r}, but it must be a whole number of 0 or more")
        data = known = None
        if X is not None:
            rows = read_rows(self, X, self._threads(), reset=False)
            data, known = rows.data, self._answers_for(len(rows), y)
        chosen = None
        if columns is not None:
            first, second = columns
            names = self._fit.parts["names"]
            chosen = tuple((names[c] if names else str(c + 1)) if isinstance(c, (int, np.integer)) else str(c) for c in (first, second))
        common = dict(kind=kind, columns=chosen, title=title, width=width, height=height, theme=theme, row=row, threads=self._threads())
        picture = Picture(lambda format: model.picture(data, known, format=format, **common))
        if path is not None:
            picture.save(path)
        return picture

    def _answers_for(self, count: int, y: Any, sample_weight: Any = None) -> dict[str, Any]:
        """What is known of rows other than those of a fit, in the words of this model. `count` is how many rows there are."""
        names = getattr(self, "feature_names_in_", None)
        weights = read_weights(sample_weight, count, negative=True)
        if y is None or self._estimator_type == "outlier_detector":
            return answers(names=names, weights=weights)
        if not hasattr(self, "classes_"):
            return answers(targets=read_targets(y, count, type(self).__name__), names=names, weights=weights)
        values = np.asarray(y).ravel()
        if len(values) != count:
            raise InputError(f"Found input variables with inconsistent numbers of samples: [{count}, {len(values)}]")
        order = np.argsort(self.classes_)
        try:
            # Labels as objects are sorted by what they are, not by how they are written.
            places = np.searchsorted(self.classes_.astype(object), values.astype(object), sorter=order)
        except TypeError:
            raise InputError(f"y is an array of {values.dtype}, but the labels of the model are of {self.classes_.dtype}") from None
        codes = order[np.minimum(places, len(order) - 1)]
        unknown = self.classes_.astype(object)[codes] != values.astype(object)
        if np.any(unknown):
            odd = values[np.flatnonzero(unknown)[0]]
            raise InputError(f"y has the label {odd!r}, but the model knows only {self.classes_.tolist()}")
        return answers(words_of(self.classes_), codes.astype(np.uint32), names=names, weights=weights)

    def verify(self, X: Any, y: Any = None, sample_weight: Any = None) -> bool:
        """Whether the certificate is true of the training data: computed anew, trusting nothing but the model's coefficients."""
        self._read(X)
        if self._estimator_type != "outlier_detector":
            require_y(y, type(self).__name__)
        rows = read_rows(self, X, self._threads(), reset=False)
        known = self._answers_for(len(rows), y, sample_weight)
        found = json.loads(self._fit.model.verify(rows.data, known, self._threads()))
        return bool(found["same_data"]) and not found["disagreements"]

    # What the model says of rows beside its predictions

    def _reviewed(self) -> _engine.Model:
        """The engine's model, where it is the one that predicts."""
        if not hasattr(self, "_fit"):
            raise not_fitted(self)
        return self._fit.model

    def _reviewed_rows(self, X: Any, y: Any = None) -> tuple[_engine.Data, dict[str, Any]]:
        """Rows and what is known of them."""
        data = self._read(X)
        known = self._answers_for(data.shape[0], y)
        if data.shape[1] != getattr(self, "n_features_in_", None):
            known["names"] = None  # a table of kernel values, or a column for the intercept
        return data, known

    @available_when(lambda self: self._estimator_type in ("classifier", "regressor"), "there is nothing to compare predictions with")
    def report(self, X: Any, y: Any) -> Report:
        """How well rows are predicted.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
        y : array-like of shape (n_samples,)
            Their labels or numbers.

        Returns
        -------
        Report
            A dict. Of classes: accuracy beside that of always saying the most frequent class, balanced accuracy, AUC, log loss where there
            are probabilities, precision, recall and F1 of each class, and the confusion matrix. Of numbers: mean squared and absolute
            error, and R². Printed it is a text.
        """
        require_y(y, type(self).__name__)
        model = self._reviewed()
        data, known = self._reviewed_rows(X, y)
        return read(Report, _engine.report(model, data, known, self._threads()), self)

    def explain(self, X: Any, y: Any = None, *, rows: Any = 0, terms: int = 10, all_machines: bool = False) -> Explanation:
        """Why the model says of rows what it says: the terms of its decision values, the largest first.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
        y : array-like of shape (n_samples,), optional
            Their labels or numbers, to be shown beside what is predicted.
        rows : int or list of int, default=0
            The rows of X to explain, counted from 0.
        terms : int, default=10
            The terms of each machine that are listed.
        all_machines : bool, default=False
            All machines, and not those alone that have a say in the class that won.

        Returns
        -------
        Explanation
            A dict; printed it is a text. Training rows are counted from 0.
        """
        model = self._reviewed()
        if isinstance(terms, bool) or not isinstance(terms, (int, np.integer)) or terms < 1:
            raise InputError(f"terms is {terms!r}, but it must be a whole number of 1 or more")
        numbers = row_numbers(rows, X.shape[0] if hasattr(X, "shape") else len(X))
        if not hasattr(X, "iloc") and not is_sparse(X) and not isinstance(X, (list, tuple)) and not hasattr(X, "columns"):
            X = np.asarray(X)
        data, known = self._reviewed_rows(rows_of(X, numbers), None if y is None else np.asarray(y).ravel()[numbers])
        counted = [number_ + 1 for number_ in numbers]
        text = _engine.explain(model, data, known, counted, int(terms), bool(all_machines), self._threads())
        return read(Explanation, text, self)

    def suspects(self, X: Any, y: Any = None, *, top: int = 20) -> Suspects:
        """The rows whose label, number or place deserves a second look: those that lack most of what the model asks of them.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            Most is known where these are the training rows.
        y : array-like of shape (n_samples,)
            Their labels or numbers; not needed where the model says what is usual.
        top : int, default=20
            The rows that are listed.

        Returns
        -------
        Suspects
            A dict; printed it is a text. Rows are counted from 0.
        """
        if isinstance(top, bool) or not isinstance(top, (int, np.integer)) or top < 0:
            raise InputError(f"top is {top!r}, but it must be a whole number of 0 or more")
        if self._estimator_type != "outlier_detector":
            require_y(y, type(self).__name__)
        model = self._reviewed()
        data, known = self._reviewed_rows(X, y)
        return read(Suspects, _engine.suspects(model, data, known, int(top), self._threads()), self)

    def doctor(self, X: Any, y: Any = None) -> Diagnosis:
        """What may be wrong with the data, with the model's kernel and penalty for it, and with the fit; the worst first.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            The training rows.
        y : array-like of shape (n_samples,)
            Their labels or numbers.

        Returns
        -------
        Diagnosis
            A dict; printed it is a text. `maxmargin.doctor` looks at data before there is a model.
        """
        model = self._reviewed()
        data, known = self._reviewed_rows(X, y)
        text = _engine.diagnose(data, known, model, None, None, self._threads())
        names = [str(name) for name in self.feature_names_in_] if hasattr(self, "feature_names_in_") else None
        labels = words_of(self.classes_) if hasattr(self, "classes_") else None
        told = None if y is None or labels is None else [str(value) for value in np.asarray(y).ravel().tolist()]
        return diagnosed(text, names, labels, told)

    def _repr_html_(self) -> str:
        """What a notebook shows: the parameters that were changed, and how good the fit is."""
        lines = [("model", repr(self))]
        if hasattr(self, "_fit"):
            lines += [("fitted", f"{self._fit.model.stop}, by {self.solver_}")]
            if hasattr(self, "support_"):
                lines += [("support vectors", f"{len(self.support_)} of {self.shape_fit_[0]} rows")]
            if self.certificate_ is not None:
                lines += [("relative gap", f"{self.certificate_.relative_gap:.2e}"), ("violation", f"{self.certificate_.violation:.2e}")]
            lines += [("note", note) for note in self.notes_]
        cells = "".join(f"<tr><th>{html.escape(name)}</th><td>{html.escape(text)}</td></tr>" for name, text in lines)
        return f"<table>{cells}</table>"


class Picture:
    """A picture of a model. Notebooks show it; `save` writes it as `.svg` or `.png`; `numbers` is the table that it shows."""

    def __init__(self, draw: Any) -> None:
        self._draw = draw
        self.svg: bytes = draw("svg")

    def _repr_svg_(self) -> str:
        return self.svg.decode("utf-8")

    def _repr_html_(self) -> str:
        return f'<div style="max-width: 100%">{self._repr_svg_()}</div>'

    @property
    def numbers(self) -> str:
        """The numbers of the picture, as CSV with a header."""
        return self._draw("csv").decode("utf-8")

    def save(self, path: str | os.PathLike[str]) -> None:
        """Writes the picture in the format that the name asks for."""
        name = os.fspath(path)
        ending = name.lower().rpartition(".")[2]
        if ending not in ("svg", "png"):
            raise InputError(f"the picture's name {name!r} ends neither in .svg nor in .png")
        content = self.svg if ending == "svg" else self._draw("png")
        with open(name, "wb") as file:
            file.write(content)
