"""How good an answer is, in numbers that anybody can check from the model and the data."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any


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
        The gap divided by the larger of ``|primal|`` and 1.
    violation : float
        The largest violation of the optimality conditions.
    infeasibility : float
        How far the dual point was from feasible before it was mended.
    numbers : dict
        Whatever else is known: margin, slack, and how many rows are support vectors, at the bound, inside the margin.
    machines : tuple of Certificate
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
    machines: tuple[Certificate, ...] = ()


def certificate_of(parts: dict[str, Any]) -> Certificate | None:
    """The certificate that a model's description holds; None where there is none for every machine."""
    joint = parts.get("joint")
    if joint is not None:
        found = joint.get("certificate")
        return None if found is None else _one(found)
    found = [machine["evidence"].get("certificate") for machine in parts["machines"]]
    if any(entry is None for entry in found):
        return None
    machines = tuple(_one(entry) for entry in found)
    if len(machines) == 1:
        return machines[0]
    primal = sum(machine.primal for machine in machines)
    gap = sum(machine.gap for machine in machines)
    return Certificate(
        primal=primal,
        dual=sum(machine.dual for machine in machines),
        gap=gap,
        relative_gap=gap / abs(primal) if gap else 0.0,
        violation=max(machine.violation for machine in machines),
        infeasibility=max(machine.infeasibility for machine in machines),
        numbers={},
        machines=machines,
    )


_NAMED = ("primal", "dual", "gap", "relative_gap", "violation", "infeasibility")


def _one(found: dict[str, Any]) -> Certificate:
    def finite(value: Any) -> float:
        # Files say null of what is infinite.
        return float("inf") if value is None else float(value)

    rest = {name: value for name, value in found.items() if name not in _NAMED}
    return Certificate(**{name: finite(found[name]) for name in _NAMED}, numbers=rest)
