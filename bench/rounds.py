"""Interleaved rounds: every method once, then every method again, as often as its speed allows."""

from __future__ import annotations

from measure import OURS, Settings, measure
from record import Record
from sets import Prepared, Problem

# A fit below this many seconds is repeated as often as asked; one above the second is not repeated; between, once.
SHORT_SECONDS = 20
LONG_SECONDS = 60

# A setting of a peer that is so much slower than the peer's best one is not repeated: the best setting counts.
# Above the 1.6 by which the speed of a machine may change meanwhile.
HOPELESS = 2.0


def run_rounds(
    record: Record,
    problem: Problem,
    prepared: Prepared,
    methods: list[str],
    repeats: int,
    settings: Settings,
    name: str,
) -> None:
    """Measures the methods on a set into the record, leaving out what it already holds."""
    for round in range(repeats):
        for method in methods:
            if record.of(set=name, method=method, round=round):
                continue
            if round >= wanted(record, name, method, methods, repeats):
                continue
            measured = measure(method, problem, prepared, settings, check=round == 0)
            record.add({"set": name, "method": method, "round": round, **measured})
            print(f"{name:>12} {method:<18} round {round + 1}  {line(measured)}", flush=True)


def wanted(record: Record, name: str, method: str, methods: list[str], repeats: int) -> int:
    """How many rounds a method takes part in, judged by its first; ours in every round that a peer does."""
    first = {other: measured[0] for other in methods if (measured := record.of(set=name, method=other, round=0))}
    if method not in first:
        return repeats
    if "error" in first[method]:
        return 1
    if method == OURS:
        peers = [wanted(record, name, other, methods, repeats) for other in methods if other != OURS]
        return max(peers, default=repeats)
    seconds = first[method]["fit_seconds"]
    best = min(m["fit_seconds"] for other, m in first.items() if family(other) == family(method) and "error" not in m)
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
    predict = measured.get("predict_seconds")
    text = f"fit {measured['fit_seconds']:.3f} s, predict " + (
        "not reported" if predict is None else f"{predict:.3f} s"
    )
    text += f", {measured['peak_bytes'] / 2**20:.0f} MiB"
    if "objective" in measured:
        text += f", objective {measured['objective']:.6g}, accuracy {measured['accuracy']:.4f}"
    if "verify_exit_code" in measured:
        text += f", verify {measured['verify_exit_code']}"
    return text
