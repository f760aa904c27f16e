"""Gaussian kernel machines: ours beside LIBSVM, scikit-learn and scikit-learn-intelex. See README.md."""

from __future__ import annotations

import argparse
from functools import partial

from failure import exit_with
from measure import measure, methods
from options import add_common, settings_of
from record import begin
from rounds import run_rounds
from sets import QUICK_ROWS, chosen, data_folder, prepared
from table import write_kernel_table


def main() -> None:
    parser = argparse.ArgumentParser(prog="cargo xtask bench kernel", description=__doc__)
    add_common(parser)
    parser.add_argument("--sets", metavar="NAMES", help="such as a9a,usps [default: all]")
    parser.add_argument("--repeats", type=int, default=3, metavar="N", help="rounds of a fit below 20 s [default: 3]")
    parser.add_argument(
        "--peers", default="libsvm,sklearn,intelex", metavar="NAMES", help="[default: %(default)s]; also libsvm-omp"
    )
    arguments = parser.parse_args()

    source = data_folder(arguments.data)
    problems = chosen(arguments.sets)
    settings = settings_of(arguments)
    repeats = 1 if arguments.quick else max(1, arguments.repeats)
    peers = [name for name in arguments.peers.split(",") if name]
    recorded = {**settings.recorded(), "repeats": repeats}
    record = begin("kernel", recorded, arguments.out, arguments.quick, arguments.go_on)
    for problem in problems:
        data = prepared(problem.data, source, QUICK_ROWS if arguments.quick else None)
        record.content["sets"][problem.name] = {"c": problem.c, "gamma": problem.gamma, **data.about}
        one = partial(measure, problem=problem, prepared=data, settings=settings)
        run_rounds(record, problem.name, methods(peers, data), repeats, one)
        write_kernel_table(record.content, record.path.with_name("kernel.md"))
    print(f"written: {record.path} and {record.path.with_name('kernel.md')}")


if __name__ == "__main__":
    exit_with(main)
