"""Parameters are checked when an estimator is fitted, by a table that stands next to its class."""

from __future__ import annotations

import inspect
import math
import numbers
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from ._errors import InputError

Rule = tuple[str, Callable[[Any], bool]]


def number(above: float | None = None, least: float | None = None, most: float | None = None, infinite: bool = False) -> Rule:
    """A number in a range."""
    words = "a number" if infinite else "a finite number"
    bounds = []
    if above is not None:
        bounds.append(f"above {above:g}")
    if least is not None:
        bounds.append(f"of {least:g} or more")
    if most is not None:
        bounds.append(f"of {most:g} at most")

    def holds(value: Any) -> bool:
        return (
            isinstance(value, numbers.Real)
            and not isinstance(value, (bool, np.bool_))
            and not math.isnan(value)
            and (infinite or math.isfinite(value))
            and (above is None or value > above)
            and (least is None or value >= least)
            and (most is None or value <= most)
        )

    return " ".join([words, " and ".join(bounds)]).strip(), holds


def integer(least: int | None = None) -> Rule:
    """A whole number in a range."""

    def holds(value: Any) -> bool:
        return isinstance(value, numbers.Integral) and not isinstance(value, (bool, np.bool_)) and (least is None or value >= least)

    return "a whole number" if least is None else f"a whole number of {least} or more", holds


def one_of(*words: Any) -> Rule:
    """One of some words."""
    shown = ", ".join(repr(word) for word in words)
    return (f"one of {shown}" if len(words) > 1 else shown), lambda value: any(
        value is word or (isinstance(word, str) and isinstance(value, str) and value == word) for word in words
    )


def boolean() -> Rule:
    """True or False; 0 and 1 will do."""
    return "True or False", lambda value: isinstance(value, (bool, np.bool_, numbers.Integral))


def callable_() -> Rule:
    """A function."""
    return "a callable", callable


def instance(kind: type | tuple[type, ...], words: str) -> Rule:
    """Anything of a type."""
    return words, lambda value: isinstance(value, kind)


# For each class, the defaults of its parameters that meet their rules. A value that is one of these objects needs no check.
_good_defaults: dict[type, dict[str, Any]] = {}
_NO_DEFAULT = object()


def _defaults_of(kind: type, table: Mapping[str, tuple[Rule, ...]]) -> dict[str, Any]:
    """The defaults of a class's parameters that meet their rules, by name. Found once for each class."""
    known = _good_defaults.get(kind)
    if known is None:
        signature = inspect.signature(kind.__init__).parameters
        given = {name: signature[name].default for name in table if name in signature}
        known = {name: value for name, value in given.items() if any(holds(value) for _, holds in table[name])}
        _good_defaults[kind] = known
    return known


def check_parameters(estimator: Any, table: Mapping[str, tuple[Rule, ...]]) -> None:
    """Refuses the first parameter of an estimator that meets none of its rules. `table` is the one of the estimator's class."""
    defaults = _defaults_of(type(estimator), table)
    for name, rules in table.items():
        value = getattr(estimator, name)
        if value is defaults.get(name, _NO_DEFAULT):
            continue
        if not any(holds(value) for _, holds in rules):
            allowed = " or ".join(words for words, _ in rules)
            raise InputError(f"The {name!r} parameter of {type(estimator).__name__} must be {allowed}. Got {value!r} instead.")
