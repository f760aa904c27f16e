"""How good an answer is, in numbers that anybody can check from the model and the data."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from . import _engine


@dataclass(frozen=True)
class Certificate:
    """The certificate of a model: no better objective than `dual` exists, and the model's own is `primal`.

    Attributes
    ----------
    primal : float
        The objective at the model.
    dual : float
        A bound below the optimum.
    gap : float
        ``primal - dual``.
    relative_gap : float
        The gap divided by ``|primal|``.
    violation : float
        The largest violation of the optimality conditions.
    infeasibility : float
        How far the dual point was from feasible before it was mended.
    numbers : dict
        Whatever else is known: margin, slack, and how many rows are support vectors, at the bound, inside the margin.
    machines : sequence of Certificate
        Where a model is made of several machines, one for each; the numbers above are then their sums, the relative gap
        that of the sums, and violation and infeasibility the largest.
    """

    primal: float
    dual: float
    gap: float
    relative_gap: float
    violation: float
    infeasibility: float
    numbers: dict[str, Any]
    machines: Sequence[Certificate] = ()


# Machines up to which each has its certificate made at once.
_FEW_MACHINES = 100


class _Machines(Sequence):
    """The certificates of many machines, made when they are first looked at."""

    def __init__(self, parts: dict[str, Any], count: int) -> None:
        self._parts, self._count, self._made = parts, count, None

    def __len__(self) -> int:
        return self._count

    def __getitem__(self, number: Any) -> Any:
        if self._made is None:
            self._made = tuple(one_certificate(machine["evidence"]["certificate"]) for machine in self._parts["machines"])
        return self._made[number]

    def __reduce__(self) -> Any:
        # What they are made of is part of the model, which is not copied for them.
        return tuple, (tuple(self),)


def certificate_of(parts: dict[str, Any], model: _engine.Model) -> Certificate | None:
    """The certificate that a model's description holds; None where there is none for every machine."""
    joint = parts.get("joint")
    if joint is not None:
        found = joint.get("certificate")
        return None if found is None else one_certificate(found)
    sums = model.certificate_sums()
    if sums is None:
        return None
    machines: Sequence[Certificate] = _Machines(parts, model.machines)
    if len(machines) == 1:
        return machines[0]
    primal, dual, gap, violation, infeasibility = sums
    return Certificate(
        primal=primal,
        dual=dual,
        gap=gap,
        relative_gap=gap / abs(primal) if gap else 0.0,
        violation=violation,
        infeasibility=infeasibility,
        numbers={},
        machines=tuple(machines) if len(machines) <= _FEW_MACHINES else machines,
    )


def certificate_of_sums(machines: Sequence[Certificate]) -> Certificate:
    """The certificate of several machines together; of a single one its own."""
    if len(machines) == 1:
        return machines[0]
    primal, dual, gap = (sum(getattr(machine, name) for machine in machines) for name in ("primal", "dual", "gap"))
    return Certificate(
        primal=primal,
        dual=dual,
        gap=gap,
        relative_gap=gap / abs(primal) if gap else 0.0,
        violation=max(machine.violation for machine in machines),
        infeasibility=max(machine.infeasibility for machine in machines),
        numbers={},
        machines=tuple(machines),
    )


_NAMED = ("primal", "dual", "gap", "relative_gap", "violation", "infeasibility")


def one_certificate(found: dict[str, Any]) -> Certificate:
    """The certificate of a machine, from the engine's JSON."""

    def finite(value: Any) -> float:
        # Files say null of what is infinite.
        return float("inf") if value is None else float(value)

    rest = {name: value for name, value in found.items() if name not in _NAMED}
    return Certificate(**{name: finite(found[name]) for name in _NAMED}, numbers=rest)
