"""Reading LIBSVM text: ours beside the readers of scikit-learn, LIBLINEAR and LIBSVM. See README.md."""

from __future__ import annotations

import argparse
import gzip
import json
import lzma
import shutil
import sys
import tempfile
from functools import partial
from pathlib import Path

from child import run
from failure import Failure, exit_with
from measure import OURS, Settings, failed, trained
from options import add_common, settings_of
from programs import liblinear_train
from record import begin
from rounds import run_rounds
from sets import CACHE, HERE, RECIPE, data_folder
from table import Results, comparison, digits, failures, listed, markdown, preamble, shown, slow

MEGABYTE = 1_000_000
# The sets and the size to which each is repeated, in MB.
SETS = {"a9a": 500, "20news_tfidf": 300}
QUICK_MEGABYTES = 10
# Compressed files are of ours alone, and of this size.
COMPRESSED_MEGABYTES = 100

TITLES = {"sklearn": "scikit-learn", "liblinear": "LIBLINEAR's way", "svmtrain": "svm-train, whole"}
# What we want to reach: times faster.
EACH = {"sklearn": 10.0, "liblinear": 5.0}


def opener(ending: str, path: Path):
    """A file to write to, compressed as its ending says."""
    if ending == "gz":
        return gzip.open(path, "wb", compresslevel=6)
    # The dictionary of this preset holds less than any of the sets, so that a repeat is not found to be one.
    return lzma.open(path, "wb", preset=0) if ending == "xz" else open(path, "wb")


def published(source: Path, name: str) -> bytes:
    """The text of a set, with the digits that it was published with."""
    path = source / f"{name}.xz"
    if not path.is_file():
        raise Failure(f"{str(path)!r} does not exist", "name the folder that holds it with --data")
    with lzma.open(path) as file:
        return file.read()


def repeats_for(text: bytes, megabytes: int) -> int:
    """How often a text stands in a file of at least so many MB."""
    return max(1, -(-megabytes * MEGABYTE // len(text)))


def repeated(text: bytes, name: str, megabytes: int, ending: str) -> Path:
    """A file of the cache with the text repeated until it has so many MB."""
    path = CACHE / f"reading-{RECIPE}" / f"{name}-{megabytes}.{ending}"
    if not path.is_file():
        print(f"preparing {path.name} ...", flush=True)
        path.parent.mkdir(parents=True, exist_ok=True)
        unfinished = path.with_name(f"{path.name}.part")
        with opener(ending, unfinished) as file:
            for _ in range(repeats_for(text, megabytes)):
                file.write(text)
        unfinished.replace(path)
    return path


def measure(method: str, check: bool, text: Path, label: str, expected: dict, settings: Settings) -> dict:
    """Reads a file once. What was read must be as many rows as are there, where the method says how many."""
    if method == OURS:
        measured = ours(text, label, settings)
    elif method == "svmtrain":
        measured = svm_train(text, settings)
    else:
        script = [sys.executable, str(HERE / "read_sklearn.py")]
        program = script if method == "sklearn" else [str(liblinear_train("liblinear"))]
        finished = run([*program, str(text)], settings.limit_seconds)
        measured = failed(finished, settings) or {"peak_bytes": finished.peak_bytes, **json.loads(finished.output)}
    return {**measured, **judged(measured, expected)} if check else measured


def judged(measured: dict, expected: dict) -> dict:
    """An error when another number of rows or values was read than there are."""
    for key, count in expected.items():
        if measured.get(key, count) != count:
            return {"error": f"{measured[key]} {key} were read, there are {count}"}
    return {}


def ours(text: Path, label: str, settings: Settings) -> dict:
    """Our reader, by the report of a training that ends at once; one label against the others is the least of work."""
    with tempfile.TemporaryDirectory() as scratch:
        command = [str(settings.program), "train", str(text), "--format", "libsvm", "--kernel", "linear"]
        command += ["--bias", "none", "--loss", "squared", f"--positive={label}", "--max-iterations", "1"]
        command += ["--threads", str(settings.threads), "--json", "-o", str(Path(scratch) / "model.mm")]
        return trained(command, settings)


def svm_train(text: Path, settings: Settings) -> dict:
    """LIBSVM's own program, where there is one, with a tolerance at which nothing has to be done: the whole process."""
    with tempfile.TemporaryDirectory() as scratch:
        command = ["svm-train", "-q", "-t", "0", "-e", "1e9", str(text), str(Path(scratch) / "model")]
        finished = run(command, settings.limit_seconds)
    return failed(finished, settings) or {"peak_bytes": finished.peak_bytes, "read_seconds": finished.seconds}


def speeds(results: Results, sets: list[str]) -> str:
    """MB of text in a second, of every method."""
    methods = [method for method in results.methods if any(results.timing(s, method, "read_seconds") for s in sets)]
    rows = []
    for set in sets:
        about = results.content["sets"][set]
        cells = [set, f"{about['megabytes']:,.0f}", f"{about['file_megabytes']:,.0f}"]
        for method in methods:
            timing = results.timing(set, method, "read_seconds")
            cells.append(shown(timing and digits(about["megabytes"] / timing.seconds)))
        rows.append(cells)
    return markdown(["set", "MB of text", "MB of file", *(TITLES.get(method, method) for method in methods)], rows)


def misses(results: Results, sets: list[str]) -> list[str]:
    return slow(results, "read", "read_seconds", sets, TITLES, EACH, {}) + failures(results)


def reading_markdown(content: dict) -> str:
    results = Results(content)
    plain = [set for set in results.sets if not content["sets"][set]["compressed"]]
    compressed = [set for set in results.sets if content["sets"][set]["compressed"]]
    lead = {set: [set, f"{content['sets'][set]['megabytes']:,.0f}"] for set in plain}
    parts = [
        "# Reading LIBSVM text beside the peers",
        preamble(content),
        f"maxmargin on {content['settings']['threads']} threads, the others on the one that they know; the file is in "
        "the page cache. Medians of interleaved rounds, their number in parentheses. `LIBLINEAR's way` is a program "
        "that reads as the programs of LIBSVM and LIBLINEAR do (programs/liblinear_train.cpp), and does no more; "
        "`svm-train` is LIBSVM's own, where it is installed: the whole process, with a tolerance at which nothing is "
        "left to train.",
        "## MB of text in a second",
        speeds(results, plain),
        "## Seconds",
        comparison(results, "read_seconds", ["set", "MB of text"], lead, TITLES, list(TITLES)),
    ]
    if compressed:
        parts += ["## Compressed, MB of text in a second", speeds(results, compressed)]
    parts += ["## Targets missed", listed(misses(results, plain))]
    return "\n\n".join(parts) + "\n"


def main() -> None:
    parser = argparse.ArgumentParser(prog="cargo xtask bench reading", description=__doc__)
    add_common(parser)
    parser.add_argument("--sets", default=",".join(SETS), metavar="NAMES", help="[default: %(default)s]")
    parser.add_argument("--repeats", type=int, default=3, metavar="N", help="rounds [default: 3]")
    arguments = parser.parse_args()

    source = data_folder(arguments.data)
    settings = settings_of(arguments)
    names = [name.strip() for name in arguments.sets.split(",")]
    for name in names:
        if name not in SETS:
            raise Failure(f"there is no set {name!r}", "the sets are " + ", ".join(SETS))
    repeats = 1 if arguments.quick else max(1, arguments.repeats)
    recorded = {"threads": settings.threads, "limit_seconds": settings.limit_seconds, "repeats": repeats}
    record = begin("reading", recorded, arguments.out, arguments.quick, arguments.go_on)
    peers = ["sklearn", "liblinear", *(["svmtrain"] if shutil.which("svm-train") else [])]
    table = record.path.with_name("reading.md")
    for name in names:
        original = published(source, name)
        megabytes = QUICK_MEGABYTES if arguments.quick else SETS[name]
        for ending in ("txt", "gz", "xz"):
            compressed = ending != "txt"
            size = min(megabytes, COMPRESSED_MEGABYTES) if compressed else megabytes
            text, times = repeated(original, name, size, ending), repeats_for(original, size)
            set = f"{name} {ending}" if compressed else name
            record.content["sets"][set] = {
                "compressed": compressed,
                "megabytes": times * len(original) / MEGABYTE,
                "file_megabytes": text.stat().st_size / MEGABYTE,
            }
            label, expected = original.split(None, 1)[0].decode(), {"rows": times * original.count(b"\n")}
            one = partial(measure, text=text, label=label, expected=expected, settings=settings)
            run_rounds(record, set, [OURS, *([] if compressed else peers)], repeats, one, "read_seconds")
            table.write_text(reading_markdown(record.content))
    print(f"written: {record.path} and {table}")


if __name__ == "__main__":
    exit_with(main)
