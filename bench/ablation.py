"""What each optimisation gains: our program with it and without it, in turns. See README.md."""

from __future__ import annotations

import argparse
import math
import os
import shutil
import statistics
import subprocess
import tempfile
from dataclasses import dataclass
from pathlib import Path

from child import run
from commands import unpacked
from failure import Failure, exit_with
from options import add_common, settings_of
from record import begin
from sets import HERE, ROOT, data_folder
from table import listed

PATCH = HERE / "ablation" / "switches.patch"
VARIABLE = "MAXMARGIN_WITHOUT"
# Less than this gain for more than these lines is not worth them.
LEAST_GAIN, MOST_LINES = 1.05, 200

RBF = {
    "a9a": ["--kernel", "rbf", "--gamma", "0.00813", "-C", "1"],
    "w8a": ["--kernel", "rbf", "--gamma", "0.5", "-C", "10"],
    "ijcnn1": ["--kernel", "rbf", "--gamma", "2", "-C", "32"],
    "usps": ["--kernel", "rbf", "--gamma", "0.0078", "-C", "10"],
    "letter.scale": ["--kernel", "rbf", "--gamma", "8", "-C", "16"],
    "vowel": ["--kernel", "rbf", "--gamma", "1", "-C", "10"],
    "glass.scale": ["--kernel", "rbf", "--gamma", "1", "-C", "1000"],
    "cpusmall": ["--kernel", "rbf", "--task", "regression", "--gamma", "1", "-C", "10", "--scale", "minmax"],
}
LINEAR = ["--kernel", "linear"]
LOGISTIC = [*LINEAR, "--loss", "logistic"]
LDA = ["--solver", "lda", "--loss", "squared"]
ASCENT = [*LINEAR, "--solver", "dual-ascent"]
NEWTON = [*LINEAR, "--loss", "squared", "--solver", "primal-newton"]
ONE_CLASS = ["--task", "one-class", "--nu", "0.1", "--kernel", "rbf", "--gamma", "1"]


@dataclass(frozen=True)
class Switch:
    """An optimisation that can be left out, its files, and the sets on which it should matter."""

    name: str
    what: str
    files: list[str]
    tries: list[tuple[str, list[str]]]


def of_kernel(*names: str) -> list[tuple[str, list[str]]]:
    return [(name, RBF[name]) for name in names]


BLOCK = "crates/maxmargin/src/solver/block_smo"
MIXED = [("covtype", LINEAR), ("20news_tfidf", LINEAR), ("mnist", LDA), *of_kernel("a9a", "letter.scale")]
SWITCHES = [
    Switch("pages", "large arrays from a pool of large pages", ["crates/maxmargin-pages/src"], MIXED),
    Switch("pages,advice", "the pool, and the advice to use large pages", ["crates/maxmargin-pages/src"], MIXED),
    Switch("fingerprint", "(a cost) the hash of the data of every fit", ["crates/maxmargin/src/data/fingerprint.rs"], MIXED),
    Switch("whole", "few rows: all kernel values, and Newton's method", [f"{BLOCK}/whole.rs", f"{BLOCK}/free.rs"],
           of_kernel("vowel", "glass.scale", "usps", "letter.scale")),
    Switch("class-values", "kernel values within a class, once for all pairs", ["crates/maxmargin/src/kernel/class_values.rs"],
           of_kernel("vowel", "glass.scale", "usps", "letter.scale")),
    Switch("few-values", "few kernel values without a panel", [], of_kernel("vowel", "glass.scale", "letter.scale")),
    Switch("set-aside", "variables far from moving are set aside", [f"{BLOCK}/aside.rs"], of_kernel("a9a", "w8a", "ijcnn1", "cpusmall")),
    Switch("past-sums", "sums computed before, of which only changes are added", [f"{BLOCK}/aside.rs", f"{BLOCK}/exact.rs"],
           of_kernel("a9a", "w8a", "ijcnn1", "cpusmall")),
    Switch("symmetric-sums", "each kernel value of a check once for both rows", ["crates/maxmargin/src/kernel/symmetric.rs"],
           of_kernel("a9a", "w8a", "ijcnn1", "cpusmall")),
    Switch("counts", "products of rows of ones, counted", [], of_kernel("a9a", "w8a")),
    Switch("one-class-sample", "one class begins at a sample", [f"{BLOCK}/sample.rs"],
           [("ijcnn1", ONE_CLASS), ("a9a", ONE_CLASS), ("shuttle", [*ONE_CLASS, "--scale", "minmax"])]),
    Switch("newton-sample", "Newton's method begins at a sample", ["crates/maxmargin/src/solver/primal_newton/sample.rs"],
           [("covtype", LINEAR), ("ijcnn1", LINEAR), ("skin_nonskin", LINEAR), ("covtype", LOGISTIC)]),
    Switch("teams", "two teams visit the rows of dual ascent", ["crates/maxmargin/src/solver/dual_ascent/teams.rs"],
           [("w8a", ASCENT), ("a9a", ASCENT), ("ijcnn1", ASCENT), ("skin_nonskin", ASCENT)]),
    Switch("scatter-blocks", "outer products of clustered entries by blocks", ["crates/maxmargin/src/solver/scatter/blocks.rs"],
           [("mnist", LDA), ("usps", LDA), ("a9a", NEWTON), ("mnist", NEWTON)]),
    Switch("scatter-narrow", "outer products of narrow sparse rows", [], [("a9a", NEWTON), ("w8a", NEWTON), ("covtype", NEWTON)]),
    Switch("many-rows", "logarithms of eight rows at once", ["crates/maxmargin/src/problem/many_rows.rs"],
           [("covtype", LOGISTIC), ("a9a", LOGISTIC), ("ijcnn1", LOGISTIC)]),
]


def built(folder: Path) -> Path:
    """The program of the last commit with its switches."""
    tree = folder / "tree"
    shutil.rmtree(tree, ignore_errors=True)
    tree.mkdir(parents=True)
    archive = subprocess.run(["git", "-C", str(ROOT), "archive", "HEAD"], check=True, capture_output=True).stdout
    subprocess.run(["tar", "-x", "-C", str(tree)], input=archive, check=True)
    if subprocess.run(["patch", "--quiet", "-p1", "-d", str(tree), "-i", str(PATCH)]).returncode != 0:
        raise Failure(f"{PATCH.name} does not fit the code any more", "put the switches in again, and write `git diff` over it")
    target = folder / "target"
    command = ["cargo", "build", "--release", "--quiet", "--package", "maxmargin-cli", "--target-dir", str(target)]
    if subprocess.run(command, cwd=tree).returncode != 0:
        raise Failure("the program with its switches does not build", "see the messages above")
    return target / "release" / "maxmargin"


def lines_of(files: list[str]) -> int:
    """Lines of code in these files and folders, tests and blank lines apart."""
    count = 0
    for path in (ROOT / name for name in files):
        for file in sorted(path.rglob("*.rs")) if path.is_dir() else [path]:
            code = file.read_text().split("#[cfg(test)]")[0]
            count += sum(1 for line in code.splitlines() if line.strip() and not line.strip().startswith("//"))
    return count


def time_of(program: Path, text: Path, flags: list[str], without: str, scratch: Path, limit: float) -> float:
    command = [str(program), "train", str(text), "--format", "libsvm", *flags, "--quiet", "--force", "-o", str(scratch / "model")]
    finished = run(command, limit, {VARIABLE: without})
    if finished.code != 0:
        raise Failure(f"{' '.join(command)} failed: {finished.output}", "see its message")
    return finished.seconds


def markdown(content: dict) -> str:
    rows = ["| left out | what it is | lines | mean | by set |", "| --- | --- | --- | --- | --- |"]
    poor = []
    for name, found in content["sets"].items():
        times = {m["try"]: m for m in content["measurements"] if m["set"] == name}
        ratios = {key: min(m["without"]) / min(m["with"]) for key, m in times.items()}
        if not ratios:
            continue
        mean = math.exp(statistics.fmean(math.log(ratio) for ratio in ratios.values()))
        each = ", ".join(f"{key} {ratio:.2f}" for key, ratio in ratios.items())
        lines = found["lines"] or "–"
        rows.append(f"| {name} | {found['what']} | {lines} | {mean:.2f} | {each} |")
        if mean < LEAST_GAIN and found["lines"] > MOST_LINES:
            poor.append(f"{name}: {mean:.2f} times for {lines} lines, at best {max(ratios.values()):.2f}")
    machine = content["machine"]
    return "\n\n".join([
        "# What each optimisation gains",
        f"{content['date']}, commit {content['commit']}. {machine['processor']}, {machine['cores']} cores.",
        "Wall time of `maxmargin train` without an optimisation over that with it: 1.20 says that leaving it out costs a fifth more. One program with "
        "switches (`bench/ablation/switches.patch`), both ways in turns, the least of the rounds of each. Lines are those of the files that "
        "would go, tests, comments and blank lines apart.",
        "\n".join(rows),
        "## Less than 5 % for more than 200 lines",
        listed(poor),
    ]) + "\n"


def main() -> None:
    parser = argparse.ArgumentParser(prog="cargo xtask bench ablation", description=__doc__)
    add_common(parser)
    parser.add_argument("--repeats", type=int, default=3, metavar="N", help="rounds [default: 3]")
    parser.add_argument("--only", metavar="NAMES", help="these switches alone, with semicolons between")
    arguments = parser.parse_args()
    settings, source = settings_of(arguments), data_folder(arguments.data)
    switches = [s for s in SWITCHES if arguments.only is None or s.name in arguments.only.split(";")]
    if not switches:
        raise Failure(f"there is no switch {arguments.only!r}", "the switches are " + "; ".join(s.name for s in SWITCHES))
    repeats = 1 if arguments.quick else max(1, arguments.repeats)
    program = built(Path(os.environ.get("CARGO_TARGET_DIR", ROOT / "target")) / "ablation")
    record = begin("ablation", {"repeats": repeats}, arguments.out, arguments.quick, arguments.go_on)
    table = record.path.with_name("ablation.md")
    with tempfile.TemporaryDirectory() as folder:
        for switch in switches:
            record.content["sets"][switch.name] = {"what": switch.what, "lines": lines_of(switch.files)}
            for name, flags in switch.tries:
                key = f"{name} {' '.join(flags[1::2][:2])}"
                if record.of(set=switch.name, **{"try": key}):
                    continue
                text = unpacked(source, name, arguments.quick)
                times: dict[str, list[float]] = {"with": [], "without": []}
                for _ in range(repeats):
                    for which, names in (("with", ""), ("without", switch.name)):
                        times[which].append(time_of(program, text, flags, names, Path(folder), settings.limit_seconds))
                record.add({"set": switch.name, "try": key, **times})
                print(f"{switch.name}: {key} {min(times['without']) / min(times['with']):.3f}", flush=True)
            table.write_text(markdown(record.content))
    print(f"written: {record.path} and {table}")


if __name__ == "__main__":
    exit_with(main)
