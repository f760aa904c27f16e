"""Scripts written for scikit-learn, on our engine: its classes are replaced by ours, which fall back to its own where ours refuse.

A replacement is a class of its own, made of ours and scikit-learn's: it is fitted by ours, it is an instance of scikit-learn's class, and
it takes every parameter that either knows. Only the public modules (`sklearn.svm`, `sklearn.linear_model`, ...) are changed: the classes
stay where they are defined, so that models of before, and what scikit-learn made of its own classes, are pickled and work as ever.
"""

from __future__ import annotations

import importlib
import inspect
import threading
import warnings
from collections.abc import Iterable
from typing import Any

from ._callbacks import KEPT
from ._errors import InternalError
from ._estimator import _same

_MODULES = {
    "SVC": "sklearn.svm",
    "NuSVC": "sklearn.svm",
    "LinearSVC": "sklearn.svm",
    "SVR": "sklearn.svm",
    "NuSVR": "sklearn.svm",
    "LinearSVR": "sklearn.svm",
    "OneClassSVM": "sklearn.svm",
    "LogisticRegression": "sklearn.linear_model",
    "LinearDiscriminantAnalysis": "sklearn.discriminant_analysis",
    "Perceptron": "sklearn.linear_model",
    "SGDClassifier": "sklearn.linear_model",
    "GridSearchCV": "sklearn.model_selection",
}
"""The classes that can be replaced, and where scripts find them."""

# These solve no problem with one solution: ours ends elsewhere than scikit-learn's, so that they are replaced only where they are named.
_ON_REQUEST = ("Perceptron", "SGDClassifier")

_lock = threading.RLock()
_built: dict[str, type] = {}
_originals: dict[str, type] = {}


class FallbackWarning(UserWarning):
    """A model was fitted by scikit-learn's own class, because ours does not support what was asked for."""


def patch_sklearn(names: str | Iterable[str] | None = None) -> None:
    """Replaces scikit-learn's classes by ours, so that scripts written for scikit-learn run on our engine.

    A script that did ``from sklearn.svm import SVC`` before keeps scikit-learn's class; one that does so afterwards, or writes
    ``sklearn.svm.SVC``, has ours. What ours does not support is fitted by scikit-learn's class, with a `FallbackWarning` that says what
    that was. Patching twice changes nothing; `unpatch_sklearn` takes it back.

    Parameters
    ----------
    names : str or iterable of str, optional
        The classes to replace; None for all but `Perceptron` and `SGDClassifier`, whose answers depend on the order of the rows, so that
        they differ from scikit-learn's.

    See Also
    --------
    unpatch_sklearn : Puts scikit-learn's classes back.

    Examples
    --------
    >>> import maxmargin
    >>> maxmargin.patch_sklearn("SVC")
    >>> from sklearn.svm import SVC
    >>> SVC().fit([[0.0], [1.0]], [0, 1]).certificate_.gap < 1e-9
    True
    >>> maxmargin.unpatch_sklearn()
    """
    with _lock:
        for name in _chosen(names):
            replacement = _replacement(name)
            setattr(importlib.import_module(_MODULES[name]), name, replacement)


def unpatch_sklearn(names: str | Iterable[str] | None = None) -> None:
    """Puts scikit-learn's own classes back in the place of ours.

    Parameters
    ----------
    names : str or iterable of str, optional
        The classes to put back; None for all.

    See Also
    --------
    patch_sklearn : Replaces them.
    """
    with _lock:
        for name in _originals if names is None else _chosen(names):
            module = importlib.import_module(_MODULES[name])
            if getattr(module, name) is _built.get(name):
                setattr(module, name, _originals[name])


def _chosen(names: str | Iterable[str] | None) -> list[str]:
    """The classes that are meant: those named, or all that we have."""
    import maxmargin

    known = [name for name in _MODULES if hasattr(maxmargin, name)]
    if names is None:
        return [name for name in known if name not in _ON_REQUEST]
    wanted = [names] if isinstance(names, str) else list(names)
    unknown = [name for name in wanted if name not in known]
    if unknown:
        raise ValueError(f"{unknown[0]!r} is no class that can be replaced: these are {', '.join(known)}")
    return wanted


def __getattr__(name: str) -> Any:
    # A model that was pickled by a patched program asks for its class here, wherever it is read.
    if name not in _MODULES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return _replacement(name)


def _replacement(name: str) -> type:
    """The class that stands for one of scikit-learn's, made when it is first asked for."""
    with _lock:
        if name not in _built:
            import maxmargin

            original = getattr(importlib.import_module(_MODULES[name]), name)
            _originals[name] = original
            ours = getattr(maxmargin, name)
            # A class that is made of scikit-learn's falls back by itself.
            _built[name] = ours if issubclass(ours, original) else _build(name, ours, original)
        return _built[name]


def _build(name: str, ours: type, original: type) -> type:
    """A class that is fitted by ours, or else by the original."""
    parameters = _joined(inspect.signature(ours.__init__), inspect.signature(original.__init__))

    def __init__(self: Any, *args: Any, **kwargs: Any) -> None:
        bound = parameters.bind(self, *args, **kwargs)
        bound.apply_defaults()
        for parameter, value in list(bound.arguments.items())[1:]:
            setattr(self, parameter, value)

    __init__.__signature__ = parameters
    body: dict[str, Any] = {
        "__init__": __init__,
        "__doc__": ours.__doc__,
        "__module__": __name__,
        "_ours": ours,
        "_original": original,
        "_parameters_of_ours": _defaults(ours),
        "_parameters_of_original": _defaults(original),
    }
    for method in ("fit", "partial_fit"):
        if hasattr(original, method):
            body[method] = _method(method, original)
    built = type(original)(name, (_WithFallback, ours, original), body)
    # Set anew by scikit-learn for each class that is made of its own; ours are asked.
    for attribute in [key for key in vars(built) if key.startswith("set_") and key.endswith("_request")]:
        if hasattr(ours, attribute):
            delattr(built, attribute)
    return built


def _method(name: str, original: type) -> Any:
    """`fit` or `partial_fit`, with the parameters that scikit-learn's has."""

    def method(self: Any, X: Any, y: Any = None, *args: Any, **kwargs: Any) -> Any:
        return self._learn(name, X, y, args, kwargs)

    method.__name__ = name
    method.__doc__ = (
        getattr(original, name).__doc__ and f"As in scikit-learn, by our engine or, where it refuses, by scikit-learn's own `{name}`."
    )
    method.__signature__ = inspect.signature(getattr(original, name))
    return method


def _joined(ours: inspect.Signature, original: inspect.Signature) -> inspect.Signature:
    """The parameters of the original in their places, and those that only ours has after them; with our defaults where there are any."""
    first = [
        parameter.replace(default=ours.parameters[name].default) if name in ours.parameters else parameter
        for name, parameter in original.parameters.items()
    ]
    more = [p.replace(kind=p.KEYWORD_ONLY) for name, p in ours.parameters.items() if name not in original.parameters]
    return inspect.Signature(first + more)


def _defaults(kind: type) -> dict[str, Any]:
    return {name: p.default for name, p in inspect.signature(kind.__init__).parameters.items() if name != "self"}


# What scikit-learn keeps on an estimator beside its parameters.
_KEPT_BY_SKLEARN = frozenset((*KEPT, "_metadata_request", "_sklearn_output_config"))


class _WithFallback:
    """What replacements add to our classes: a model of scikit-learn's, where ours would not do, that answers for it."""

    _ours: type
    _original: type
    _parameters_of_ours: dict[str, Any]
    _parameters_of_original: dict[str, Any]

    # Never answered by the model of scikit-learn's.
    _KEPT = frozenset(
        ("fit", "partial_fit", "fit_predict", "fit_transform", "get_params", "set_params", "set_fit_request", "set_score_request",
         "set_partial_fit_request", "get_metadata_routing", "set_callbacks", "load")
    )  # fmt: skip

    def __getattribute__(self, name: str) -> Any:
        if not name.startswith("_"):
            fallback = object.__getattribute__(self, "__dict__").get("_fallback")
            if fallback is not None and name not in _WithFallback._KEPT and name not in object.__getattribute__(self, "__dict__"):
                return getattr(fallback, name)
        return super().__getattribute__(name)

    def __setattr__(self, name: str, value: Any) -> None:
        super().__setattr__(name, value)
        fallback = self.__dict__.get("_fallback")
        if fallback is not None and name in self._parameters_of_original:
            setattr(fallback, name, self._for_original(name, value))

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """The parameters by name. Those that scikit-learn's class does not know are among them only where they were changed, because
        scikit-learn hands the parameters of its own classes to its own functions.
        """
        known, own = self._parameters_of_original, self._parameters_of_ours
        found = super().get_params(deep)
        return {name: value for name, value in found.items() if name in known or not _same(value, own.get(name))}

    def _for_original(self, name: str, value: Any) -> Any:
        """A parameter for scikit-learn's class: its own default where ours was not changed."""
        if name in self._parameters_of_ours and _same(value, self._parameters_of_ours[name]):
            return self._parameters_of_original[name]
        return value

    def _learn(self, method: str, X: Any, y: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """Calls `fit` or `partial_fit` of ours, or of scikit-learn's class where ours refuses."""
        before = dict(self.__dict__)
        fallback = self.__dict__.pop("_fallback", None)
        if method == "partial_fit" and fallback is not None:
            self.__dict__["_fallback"] = fallback
            getattr(fallback, method)(X, y, *args, **kwargs)
            return self
        reason: str | Exception | None = self._unsupported()
        if reason is None:
            try:
                self._learn_by_ours(method, X, y, args, kwargs)
                return self
            except (ValueError, TypeError, AttributeError, NotImplementedError, InternalError) as error:
                if method == "partial_fit" and hasattr(self, "classes_") and "classes_" in before:
                    raise  # what was learnt so far cannot be handed over
                reason = error
        self.__dict__.clear()
        kept = self._parameters() | _KEPT_BY_SKLEARN
        self.__dict__.update({name: value for name, value in before.items() if name in kept})
        own = self._original(**{name: self._for_original(name, getattr(self, name)) for name in self._parameters_of_original})
        own.__dict__.update({name: before[name] for name in KEPT if name in before})
        try:
            getattr(own, method)(X, y, *args, **kwargs)
        except BaseException as error:
            self.__dict__.clear()
            self.__dict__.update(before)
            if isinstance(reason, Exception):
                raise error from reason
            raise
        warnings.warn(
            f"{type(self).__name__} was fitted by scikit-learn's own class, because maxmargin's does not support this: {reason}",
            FallbackWarning,
            stacklevel=3,
        )
        self.__dict__["_fallback"] = own
        return self

    def _learn_by_ours(self, method: str, X: Any, y: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
        # scikit-learn's word for a parameter that was not given.
        marked = [name for name in self._parameters_of_ours if _is_marker(getattr(self, name))]
        for name in marked:
            setattr(self, name, self._parameters_of_ours[name])
        try:
            getattr(super(), method)(X, y, *args, **kwargs)
        finally:
            for name in marked:
                setattr(self, name, "deprecated")

    def _parameters(self) -> set[str]:
        return {*self._parameters_of_ours, *self._parameters_of_original, *self._parameter_names()}

    def _unsupported(self) -> str | None:
        """A parameter of scikit-learn's that ours does not know and that does not have its default, or a value that ours does not take."""
        for name, default in self._parameters_of_original.items():
            value = getattr(self, name)
            if name not in self._parameters_of_ours and not _same(value, default):
                return f"{name}={value!r}"
        # scikit-learn hands out what it starts from; our solvers take a step at least.
        if getattr(self, "max_iter", None) == 0:
            return "max_iter=0"
        return None


def _is_marker(value: Any) -> bool:
    return isinstance(value, str) and value == "deprecated"
