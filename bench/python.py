"""Our SVC in Python beside scikit-learn's, scikit-learn-intelex's and our own program. See README.md."""

from __future__ import annotations

import argparse
from functools import partial

from failure import exit_with
from measure import OURS, Settings, measure, methods
from options import add_common, settings_of
from python_table import write_python_table
from record import Record, begin
from rounds import run_rounds
from sets import QUICK_ROWS, Prepared, Problem, chosen, data_folder, prepared

# Rounds of our own program and package: a few hundredths are to be told apart, which takes more of them than ratios to a peer do.
OWN_ROUNDS = 15
# Seconds of fits of the program, at most, for each of these rounds: long fits need fewer.
SECONDS_A_ROUND = 2


def main() -> None:
    parser = argparse.ArgumentParser(prog="cargo xtask bench python", description=__doc__)
    add_common(parser)
    parser.add_argument("--sets", metavar="NAMES", help="such as a9a,usps [default: all]")
    parser.add_argument("--repeats", type=int, default=3, metavar="N", help="rounds of a fit below 20 s [default: 3]")
    parser.add_argument(
        "--own-rounds", type=int, default=OWN_ROUNDS, metavar="N", help="of our program and package [default: %(default)s]"
    )
    parser.add_argument("--peers", default="sklearn,intelex", metavar="NAMES", help="[default: %(default)s]")
    arguments = parser.parse_args()

    source = data_folder(arguments.data)
    problems = chosen(arguments.sets)
    settings = settings_of(arguments)
    repeats = 1 if arguments.quick else max(1, arguments.repeats)
    peers = [name for name in arguments.peers.split(",") if name]
    recorded = {**settings.recorded(), "repeats": repeats}
    record = begin("python", recorded, arguments.out, arguments.quick, arguments.go_on)
    for problem in problems:
        data = prepared(problem.data, source, QUICK_ROWS if arguments.quick else None)
        record.content["sets"][problem.name] = {"c": problem.c, "gamma": problem.gamma, **data.about}
        one = partial(measured, problem=problem, prepared=data, settings=settings)
        run_rounds(record, problem.name, all_methods(peers, data), repeats, one)
        if not arguments.quick:
            own = own_rounds(record, problem.name, repeats, arguments.own_rounds)
            run_rounds(record, problem.name, all_methods([], data), own, one)
        write_python_table(record.content, record.path.with_name("python.md"))
    print(f"written: {record.path} and {record.path.with_name('python.md')}")


def own_rounds(record: Record, name: str, repeats: int, most: int) -> int:
    """How often our program and package are measured, by the first fit of the program."""
    first = next((found.get("fit_seconds") for found in record.of(set=name, method=OURS, round=0)), None)
    affordable = int(most * SECONDS_A_ROUND / first) if first else 0
    return max(repeats, min(most, affordable))


def all_methods(peers: list[str], prepared: Prepared) -> list[str]:
    """Our program, our SVC on full and on sparse rows, and the peers in each setting that makes sense on the set."""
    program, *others = methods(peers, prepared)
    return [program, "python-dense", *(["python-sparse"] if prepared.sparse else []), *others]


def measured(method: str, check: bool, problem: Problem, prepared: Prepared, settings: Settings) -> dict:
    # The answers of the program itself are checked by the kernel benchmark.
    return measure(method, check and method != OURS, problem, prepared, settings)


if __name__ == "__main__":
    exit_with(main)
