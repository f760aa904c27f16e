"""Whole commands at everybody's defaults: ours beside the programs of LIBSVM and LIBLINEAR. See README.md."""

from __future__ import annotations

import argparse
import random
import shutil
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from child import run
from failure import Failure, exit_with
from measure import OURS, Settings, failed
from options import add_common, settings_of
from reading import published
from record import begin
from rounds import run_rounds
from sets import CACHE, RECIPE, data_folder
from table import Results, comparison, failures, listed, preamble, slow

FIELD = "command_seconds"
PEER = "theirs"
TITLES = {PEER: "the peer"}
# `train` of ours and of LIBLINEAR, with no option at all.
LINEAR_SETS = ["20news_tfidf", "sector.scale", "covtype", "a9a", "w8a", "mnist"]
# Classes of three rows each.
MANY_CLASSES = [400, 1000]
CRAMMER_SINGER_SET = "letter.scale"
# What we want to reach, times faster: `train` in the geometric mean, and every other command.
LINEAR_MEAN = 3.0
OTHERS = 1.0
# Rows of a set, and classes, that `--quick` keeps.
QUICK_ROWS = 500
QUICK_CLASSES = 20


@dataclass(frozen=True)
class Job:
    """A command of ours and one of a peer that do the same."""

    name: str
    program: str
    ours: list[str]
    theirs: list[str]
    is_linear_default: bool = False


def unpacked(source: Path, name: str, quick: bool) -> Path:
    """The text of a set in the cache."""
    path = CACHE / f"commands-{RECIPE}" / (f"{name}-quick" if quick else name)
    if not path.is_file():
        text = published(source, name)
        if quick:
            text = b"".join(text.splitlines(keepends=True)[:QUICK_ROWS])
        write(path, text)
    return path


def many_classes(classes: int) -> Path:
    """A file of classes of three rows each, around centres of their own, from a seed."""
    path = CACHE / f"commands-{RECIPE}" / f"classes-{classes}"
    if not path.is_file():
        draw = random.Random(classes)
        lines = []
        for label in range(classes):
            centre = [draw.gauss(0, 1) for _ in range(10)]
            for _ in range(3):
                row = (f"{k + 1}:{value + 0.3 * draw.gauss(0, 1):.6f}" for k, value in enumerate(centre))
                lines.append(f"{label} {' '.join(row)}\n")
        write(path, "".join(lines).encode())
    return path


def write(path: Path, text: bytes) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    unfinished = path.with_name(f"{path.name}.part")
    unfinished.write_bytes(text)
    unfinished.replace(path)


def jobs(source: Path, quick: bool) -> list[Job]:
    """All commands. MODEL and OUT stand for files of the method's own, OWN for the model that was trained before."""
    found = []
    for name in LINEAR_SETS:
        text = str(unpacked(source, name, quick))
        found.append(
            Job(name, "liblinear-train", ["train", text, "--format", "libsvm", "--kernel", "linear", "-o", "MODEL"], ["-q", text, "MODEL"], True)
        )
    for classes in [QUICK_CLASSES] if quick else MANY_CLASSES:
        text = str(many_classes(classes))
        trained, predicted = ["-q", text, "OWN"], [text, "OWN", "OUT"]
        found.append(Job(f"svm-train, {classes} classes", "svm-train", ["svm-train", *trained], trained))
        found.append(Job(f"svm-predict, {classes} classes", "svm-predict", ["svm-predict", *predicted], predicted))
    text = str(unpacked(source, CRAMMER_SINGER_SET, quick))
    joint = ["-q", "-s", "4", text, "MODEL"]
    found.append(Job("liblinear-train -s 4, letter", "liblinear-train", ["liblinear-train", *joint], joint))
    return found


def measure(method: str, _check: bool, job: Job, scratch: Path, settings: Settings) -> dict:
    """Runs a command once: the wall time of its process."""
    files = {word: str(scratch / f"{method}-{word.lower()}") for word in ("MODEL", "OWN", "OUT")}
    words = job.ours if method == OURS else job.theirs
    program = str(settings.program) if method == OURS else job.program
    finished = run([program, *(files.get(word, word) for word in words)], settings.limit_seconds)
    return failed(finished, settings) or {FIELD: finished.seconds, "peak_bytes": finished.peak_bytes}


def misses(results: Results, linear: list[str], others: list[str]) -> list[str]:
    of_linear = slow(results, "train", FIELD, linear, TITLES, {}, {PEER: LINEAR_MEAN})
    return of_linear + slow(results, "command", FIELD, others, TITLES, {PEER: OTHERS}, {}) + failures(results)


def commands_markdown(content: dict) -> str:
    results = Results(content)
    linear = [name for name in results.sets if content["sets"][name]["is_linear_default"]]
    others = [name for name in results.sets if name not in linear]
    table: Callable[[list[str], str], str] = lambda names, head: comparison(
        results, FIELD, [head], {name: [name] for name in names}, TITLES, [PEER]
    )
    parts = [
        "# Whole commands beside LIBSVM's and LIBLINEAR's programs",
        preamble(content),
        "Wall time of the process, the file in the page cache; medians of interleaved rounds, their number in parentheses. The peers are the "
        "installed programs, which use one core; ours uses all. A peer that reached the time limit counts with it, marked `>`.",
        "## `train FILE`, without an option",
        "Ours: hinge loss with a free bias, to a certified relative gap of 1e-4; several classes one against the rest or in pairs, as the report says. "
        "LIBLINEAR: squared hinge loss without a bias, to its own tolerance. So ours is the harder problem, and ends with a proof.",
        table(linear, "set"),
        "## Many classes, and classes together",
        "Classes of three rows with ten numbers each, with the same options for both programs.",
        table(others, "command"),
        "## Targets missed",
        listed(misses(results, linear, others)),
    ]
    return "\n\n".join(parts) + "\n"


def main() -> None:
    parser = argparse.ArgumentParser(prog="cargo xtask bench commands", description=__doc__)
    add_common(parser)
    parser.add_argument("--repeats", type=int, default=3, metavar="N", help="rounds [default: 3]")
    arguments = parser.parse_args()

    settings = settings_of(arguments)
    for program in ("svm-train", "svm-predict", "liblinear-train"):
        if shutil.which(program) is None:
            raise Failure(f"{program} is not installed", "install the programs of LIBSVM and LIBLINEAR (libsvm-tools, liblinear-tools)")
    repeats = 1 if arguments.quick else max(1, arguments.repeats)
    recorded = {"threads": settings.threads, "limit_seconds": settings.limit_seconds, "repeats": repeats}
    record = begin("commands", recorded, arguments.out, arguments.quick, arguments.go_on)
    table = record.path.with_name("commands.md")
    with tempfile.TemporaryDirectory() as scratch:
        for job in jobs(data_folder(arguments.data), arguments.quick):
            record.content["sets"][job.name] = {"is_linear_default": job.is_linear_default}
            one = partial(measure, job=job, scratch=Path(scratch), settings=settings)
            run_rounds(record, job.name, [OURS, PEER], repeats, one, FIELD)
            table.write_text(commands_markdown(record.content))
    print(f"written: {record.path} and {table}")


if __name__ == "__main__":
    exit_with(main)
