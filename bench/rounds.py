"""Interleaved rounds: every method once, then every method again, as often as its speed allows."""

from __future__ import annotations

from collections.abc import Callable

from measure import OURS
from record import Record

# A fit below this many seconds is repeated as often as asked; one above the second is not repeated; between, once.
SHORT_SECONDS = 20
LONG_SECONDS = 60

# A setting of a peer that is so much slower than the peer's best one is not repeated: the best setting counts.
# Above the 1.6 by which the speed of a machine may change meanwhile.
HOPELESS = 2.0

# What is said of a measurement while the rounds go on, where it has it.
SAID = [
    ("command_seconds", "command", "{:.3f} s"),
    ("read_seconds", "read", "{:.3f} s"),
    ("fit_seconds", "fit", "{:.3f} s"),
    ("predict_seconds", "predict", "{:.3f} s"),
    ("objective", "objective", "{:.6g}"),
    ("suboptimality", "above the bound", "{:.1e}"),
    ("accuracy", "accuracy", "{:.4f}"),
    ("verify_exit_code", "verify", "{}"),
]


def run_rounds(
    record: Record,
    name: str,
    methods: list[str],
    repeats: int,
    measure: Callable[[str, bool], dict],
    field: str = "fit_seconds",
) -> None:
    """Measures the methods on a set into the record, leaving out what it already holds.

    `measure` takes the method and whether its answer is to be checked; `field` has the seconds that a repeat costs.
    """
    for round in range(repeats):
        for method in methods:
            if record.of(set=name, method=method, round=round):
                continue
            if round >= wanted(record, name, method, methods, repeats, field):
                continue
            measured = measure(method, round == 0)
            record.add({"set": name, "method": method, "round": round, **measured})
            print(f"{name:>12} {method:<18} round {round + 1}  {line(measured)}", flush=True)


def wanted(record: Record, name: str, method: str, methods: list[str], repeats: int, field: str = "fit_seconds") -> int:
    """How many rounds a method takes part in, judged by its first; ours in every round that a peer does."""
    first = {other: measured[0] for other in methods if (measured := record.of(set=name, method=other, round=0))}
    if method not in first:
        return repeats
    if "error" in first[method]:
        return 1
    if method == OURS:
        peers = [wanted(record, name, other, methods, repeats, field) for other in methods if other != OURS]
        return max(peers, default=repeats)
    seconds = first[method][field]
    best = min(m[field] for other, m in first.items() if family(other) == family(method) and "error" not in m)
    if seconds > LONG_SECONDS or seconds > HOPELESS * best:
        return 1
    return repeats if seconds < SHORT_SECONDS else min(2, repeats)


def family(method: str) -> str:
    """The peer of which a method is one setting."""
    return method.split("-")[0]


def line(measured: dict) -> str:
    """A measurement in a few words."""
    if "error" in measured:
        return measured["error"]
    parts = []
    for field, title, pattern in SAID:
        if field in measured:
            value = measured[field]
            parts.append(f"{title} " + ("not reported" if value is None else pattern.format(value)))
    return ", ".join([*parts, f"{measured['peak_bytes'] / 2**20:.0f} MiB"])
