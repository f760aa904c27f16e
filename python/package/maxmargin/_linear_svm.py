"""Linear support vector machines: LinearSVC and LinearSVR."""

from __future__ import annotations

from typing import Any

from ._callbacks import with_callbacks
from ._errors import InputError
from ._estimator import Regressor
from ._fitting import SOLVER_RULE, answers, params
from ._input import read_rows, read_targets, read_weights
from ._linear import CLASS_WEIGHT_RULE, INTERCEPT_SCALING_RULE, LINEAR_RULES, LinearClassifier, LinearModel, check
from ._loading import penalty_of, task_of
from ._parameters import number, one_of

# scikit-learn's names of losses, and the engine's.
_LOSSES_OF_CLASSES = {"hinge": "hinge", "squared_hinge": "squared"}
_LOSSES_OF_NUMBERS = {"epsilon_insensitive": "hinge", "squared_epsilon_insensitive": "squared"}


def _loss_of(parts: dict[str, Any], losses: dict[str, str]) -> str:
    """The loss of a model file by its name among some."""
    return next(name for name, engine in losses.items() if engine == parts["loss"])


class LinearSVC(LinearClassifier):
    """Linear support vector classification, for many rows and many columns.

    ``min ½‖w‖² + C Σ ξ_i²`` (or ``C Σ ξ_i``, or ``‖w‖₁ + C Σ ξ_i²``), ``ξ_i = max(0, 1 − y_i f(x_i))``; several classes each against the
    rest. The intercept is the weight of a column of ones, and penalised like the others, as in scikit-learn; with
    ``intercept_scaling=None`` it is not.

    Parameters
    ----------
    penalty : {'l2', 'l1'}, default='l2'
        The norm of the weights; with ``'l1'`` the weights of most columns are 0.
    loss : {'squared_hinge', 'hinge'}, default='squared_hinge'
        Whether slack counts by its square.
    dual : {'auto', True, False}, default='auto'
        Taken for the sake of scikit-learn, and refused where scikit-learn refuses it: the engine decides how to solve.
    tol : float, default=1e-4
        The relative duality gap at which the solver stops: the objective lies no farther above the optimum. Small problems are solved
        to the last digits whatever it is. With ``multi_class='crammer_singer'`` the largest violation of the optimality conditions.
    C : float, default=1.0
        The penalty on slack.
    multi_class : {'ovr', 'crammer_singer'}, default='ovr'
        How several classes are told apart: each against the rest, or all in one problem (`penalty` and `loss` then play no part).
    fit_intercept : bool, default=True
        Whether there is an intercept.
    intercept_scaling : float or None, default=1
        The number in the column whose weight is the intercept; the larger, the less it is penalised. None: not at all.
    class_weight : dict, 'balanced' or None, default=None
        What a row of each class counts. Of several classes a row counts so much in the problems of all of them (LIBLINEAR weighs
        the rows of the one class that is told apart from the rest only).
    verbose : int, default=0
        The same as `progress`.
    random_state : int, RandomState instance or None, default=None
        Taken for the sake of scikit-learn: nothing is drawn that changes the answer.
    max_iter : int, default=1000
        The most steps of the solver: Newton's, or sweeps over the rows.
    n_jobs : int or None, default=None
        Threads for `fit`: None is every core, but one within joblib's workers. The same bits come out for any number.
    max_time : float or None, default=None
        Seconds after which a fit stops with what it has, and a warning.
    warm_start : bool, default=False
        Whether a fit on the same data begins at the model that is there.
    progress : bool, default=False
        Whether a line says how far the fit is.
    checkpoint : path or None, default=None
        A file that keeps where the fit is. When it was interrupted, the same call goes on from there; it is removed at the end.
    solver : str or None, default=None
        The engine's algorithm, by the name that `solver_` and ``maxmargin train --solver`` have: ``'primal-newton'``, ``'dual-ascent'``, ..;
        None chooses by the problem. One that cannot solve it is refused.

    Attributes
    ----------
    coef_ : ndarray of shape (1, n_features) or (n_classes, n_features)
        The weights. They may be set: predictions are made of them.
    intercept_ : ndarray of shape (1,) or (n_classes,)
        The intercepts.
    certificate_ : Certificate
        Primal, dual, gap and largest violation: how good the answer is.
    stop_reason_ : str
        ``'converged'``, ``'iteration-limit'``, ``'time-limit'`` or ``'stalled'``.
    history_ : structured array
        Seconds, machine, iteration, violation and gap while the solver ran.
    solver_, notes_ : str, list of str
        The algorithm, and what it had to say.
    classes_, n_iter_, n_features_in_, feature_names_in_
        As in scikit-learn.

    Examples
    --------
    >>> import numpy as np
    >>> from maxmargin import LinearSVC
    >>> X = np.array([[-1.0, -1], [-2, -1], [1, 1], [2, 1]])
    >>> model = LinearSVC().fit(X, ["left", "left", "right", "right"])
    >>> model.predict([[-0.8, -1]])
    array(['left'], dtype='<U5')
    >>> model.certificate_.relative_gap < 1e-9
    True
    """

    def __init__(
        self,
        penalty="l2",
        loss="squared_hinge",
        *,
        dual="auto",
        tol=1e-4,
        C=1.0,
        multi_class="ovr",
        fit_intercept=True,
        intercept_scaling=1,
        class_weight=None,
        verbose=0,
        random_state=None,
        max_iter=1000,
        n_jobs=None,
        max_time=None,
        warm_start=False,
        progress=False,
        checkpoint=None,
        solver=None,
    ):
        self._keep(locals())

    _rules = {
        **LINEAR_RULES,
        "penalty": (one_of("l1", "l2"),),
        "loss": (one_of("hinge", "squared_hinge"),),
        "dual": (one_of("auto", True, False),),
        "C": (number(above=0),),
        "multi_class": (one_of("ovr", "crammer_singer"),),
        "intercept_scaling": INTERCEPT_SCALING_RULE,
        "solver": SOLVER_RULE,
        "class_weight": CLASS_WEIGHT_RULE,
    }

    @with_callbacks
    def fit(self, X, y, sample_weight=None):
        """Trains on rows X with labels y.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
        y : array-like of shape (n_samples,)
            The labels: numbers or text.
        sample_weight : array-like of shape (n_samples,), optional
            Weight k means k copies of a row, 0 that it is not there.

        Returns
        -------
        self
        """
        check(self)
        together = self.multi_class == "crammer_singer"
        if not together:
            self._refuse_combination()
        rows, codes, weights = self._read_classes(X, y, sample_weight)
        weights, by_class = self._weigh(codes, weights)
        asked, column = self._problem(by_class)
        self._train_linear(rows, self._answers_of_fit(codes, weights), asked, column)
        return self

    def _problem(self, by_class: list[float] | None) -> tuple[dict[str, Any], float | None]:
        """What to train, in the engine's words, and the number in the column of the intercept, where it has one."""
        bias, column = self._bias(self.intercept_scaling)
        if self.multi_class != "crammer_singer":
            problem = dict(penalty_number=self.C, loss=_LOSSES_OF_CLASSES[self.loss], norm=self.penalty, multiclass="ovr", gap=self._gap())
        elif len(self.classes_) == 2:
            # Two classes have w and -w, and ½(‖w‖² + ‖-w‖²) + C Σ ξ is half of ½‖2w‖² + 2C Σ ξ.
            problem = dict(penalty_number=2 * self.C, loss="hinge", multiclass="ovr", gap=self._gap())
        else:
            problem = dict(penalty_number=self.C, loss="hinge", multiclass="crammer-singer")
        asked = params(
            solver=self.solver, bias=bias, tolerance=self.tol, max_iterations=int(self.max_iter), class_weights=by_class, **problem
        )
        return asked, column

    def _set_weights(self) -> None:
        super()._set_weights()
        self.n_iter_ = self._most_iterations()

    @classmethod
    def _reads(cls, parts: dict[str, Any]) -> bool:
        ways = ("ovr", "crammer-singer")
        right = parts["loss"] != "logistic" and (parts["multiclass"] in ways or len(parts["classes"]) == 2)
        # The same with hinge loss, pairs of classes and an intercept that is not penalised is an SVC.
        own = parts["multiclass"] in ways or (parts["loss"], parts["bias"]) != ("hinge", "explicit")
        return right and own and cls._reads_linear(parts, "classification")

    @classmethod
    def _parameters_in(cls, parts: dict[str, Any]) -> dict[str, Any]:
        return dict(
            C=penalty_of(parts)[1],
            loss=_loss_of(parts, _LOSSES_OF_CLASSES),
            penalty=parts.get("norm", "l2"),
            intercept_scaling=None if parts["bias"] == "explicit" else 1,
            multi_class="crammer_singer" if parts.get("joint") else "ovr",
        )

    def _refuse_combination(self) -> None:
        """Refuses what scikit-learn refuses."""
        what = None
        if self.penalty == "l1" and self.loss == "hinge":
            what = "The combination of penalty='l1' and loss='hinge' is not supported"
        elif self.penalty == "l1" and self.dual is True:
            what = "The combination of penalty='l1' and loss='squared_hinge' is not supported when dual=True"
        elif self.loss == "hinge" and self.dual is False:
            what = "The combination of penalty='l2' and loss='hinge' is not supported when dual=False"
        if what is not None:
            raise InputError(
                f"Unsupported set of arguments: {what}, Parameters: penalty={self.penalty!r}, loss={self.loss!r}, dual={self.dual!r}"
            )


class LinearSVR(Regressor, LinearModel):
    """Linear support vector regression, for many rows and many columns.

    ``min ½‖w‖² + C Σ ξ_i`` (or ``C Σ ξ_i²``), ``ξ_i = max(0, |y_i − f(x_i)| − ε)``. The intercept is the weight of a column of ones, and
    penalised like the others, as in scikit-learn; with ``intercept_scaling=None`` it is not.

    Parameters
    ----------
    epsilon : float, default=0.0
        ε: differences up to it cost nothing.
    tol : float, default=1e-4
        The relative duality gap at which the solver stops; see `LinearSVC`.
    C : float, default=1.0
        The penalty on differences beyond ε.
    loss : {'epsilon_insensitive', 'squared_epsilon_insensitive'}, default='epsilon_insensitive'
        Whether differences count by their square.
    fit_intercept, intercept_scaling, dual, verbose, random_state, max_iter, n_jobs, max_time, warm_start, progress, checkpoint, solver
        As in `LinearSVC`.

    Attributes
    ----------
    coef_ : ndarray of shape (n_features,)
        The weights.
    intercept_ : ndarray of shape (1,)
        The intercept.
    certificate_, stop_reason_, history_, solver_, notes_, n_iter_, n_features_in_, feature_names_in_
        As in `LinearSVC`.

    Examples
    --------
    >>> import numpy as np
    >>> from maxmargin import LinearSVR
    >>> X = np.arange(8.0)[:, None]
    >>> model = LinearSVR(C=100, intercept_scaling=None).fit(X, 2 * X.ravel() + 1)
    >>> model.predict([[10.0]]).round(6)
    array([21.])
    """

    def __init__(
        self,
        *,
        epsilon=0.0,
        tol=1e-4,
        C=1.0,
        loss="epsilon_insensitive",
        fit_intercept=True,
        intercept_scaling=1.0,
        dual="auto",
        verbose=0,
        random_state=None,
        max_iter=1000,
        n_jobs=None,
        max_time=None,
        warm_start=False,
        progress=False,
        checkpoint=None,
        solver=None,
    ):
        self._keep(locals())

    _rules = {
        **LINEAR_RULES,
        "epsilon": (number(least=0),),
        "C": (number(above=0),),
        "loss": (one_of("epsilon_insensitive", "squared_epsilon_insensitive"),),
        "dual": (one_of("auto", True, False),),
        "intercept_scaling": INTERCEPT_SCALING_RULE,
        "solver": SOLVER_RULE,
    }

    @with_callbacks
    def fit(self, X, y, sample_weight=None):
        """Trains on rows X with numbers y.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
        y : array-like of shape (n_samples,)
        sample_weight : array-like of shape (n_samples,), optional
            Weight k means k copies of a row, 0 that it is not there.

        Returns
        -------
        self
        """
        check(self)
        if self.loss == "epsilon_insensitive" and self.dual is False:
            raise InputError(
                "Unsupported set of arguments: The combination of penalty='l2' and loss='epsilon_insensitive' is not supported when "
                "dual=False, Parameters: penalty='l2', loss='epsilon_insensitive', dual=False"
            )
        rows = read_rows(self, X, self._threads(), reset=True)
        targets = read_targets(y, len(rows), type(self).__name__)
        weights = read_weights(sample_weight, len(rows), negative=True)
        asked, column = self._problem()
        known = answers(targets=targets, weights=weights, names=getattr(self, "feature_names_in_", None))
        self._train_linear(rows, known, asked, column)
        return self

    def _problem(self) -> tuple[dict[str, Any], float | None]:
        """What to train, in the engine's words, and the number in the column of the intercept, where it has one."""
        bias, column = self._bias(self.intercept_scaling)
        asked = params(
            solver=self.solver,
            task="regression",
            task_number=self.epsilon,
            penalty_number=self.C,
            loss=_LOSSES_OF_NUMBERS[self.loss],
            bias=bias,
            tolerance=self.tol,
            gap=self._gap(),
            max_iterations=int(self.max_iter),
        )
        return asked, column

    def _set_weights(self) -> None:
        super()._set_weights()
        self.coef_ = self.coef_[0]
        self.n_iter_ = int(self._fit.parts["machines"][0]["iterations"])

    @classmethod
    def _reads(cls, parts: dict[str, Any]) -> bool:
        # The same with an intercept that is not penalised is an SVR.
        return (parts["loss"], parts["bias"]) != ("hinge", "explicit") and cls._reads_linear(parts, "regression")

    @classmethod
    def _parameters_in(cls, parts: dict[str, Any]) -> dict[str, Any]:
        return dict(
            C=penalty_of(parts)[1],
            epsilon=task_of(parts)[1],
            loss=_loss_of(parts, _LOSSES_OF_NUMBERS),
            intercept_scaling=None if parts["bias"] == "explicit" else 1,
        )

    def predict(self, X):
        """The number of each row.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)

        Returns
        -------
        ndarray of shape (n_samples,)
        """
        return self._products(X)[:, 0]
