"""The options that all benchmarks share."""

from __future__ import annotations

import argparse
from pathlib import Path

from failure import Failure
from measure import Settings


def add_common(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--maxmargin", required=True, type=Path, metavar="PROGRAM", help="our program (cargo xtask gives it)"
    )
    parser.add_argument("--data", metavar="DIR", help="the folder of the .xz sets [default: ../shared/data]")
    parser.add_argument("--threads", type=int, default=2, metavar="N", help="[default: 2]")
    parser.add_argument(
        "--limit", type=float, default=1200, metavar="SECONDS", help="end a process after this [default: 1200]"
    )
    parser.add_argument("--quick", action="store_true", help="a few rows, one round: does it work?")
    parser.add_argument("--out", metavar="FILE", help="the JSON to write; tables go beside it")
    parser.add_argument(
        "--continue", dest="go_on", action="store_true", help="go on with the JSON of an interrupted run"
    )


def settings_of(arguments: argparse.Namespace) -> Settings:
    if not arguments.maxmargin.is_file():
        raise Failure(
            f"{str(arguments.maxmargin)!r} does not exist", "run the benchmark by cargo xtask bench, which builds it"
        )
    if not (arguments.threads > 0 and arguments.limit > 0):
        raise Failure("--threads and --limit must be above 0", "leave them out for the defaults")
    return Settings(program=arguments.maxmargin, threads=arguments.threads, limit_seconds=arguments.limit)
