"""The JSON of a run: written after each measurement, so that an interrupted run keeps what it has."""

from __future__ import annotations

import datetime
import json
import os
import platform
import subprocess
import sys
from importlib import metadata
from pathlib import Path

from failure import Failure
from sets import HERE, ROOT

RESULTS = HERE / "results"
QUICK = HERE / ".quick"
PACKAGES = [
    "libsvm-official",
    "liblinear-official",
    "liblinear-multicore",
    "scikit-learn",
    "scikit-learn-intelex",
    "snapml",
    "numpy",
    "scipy",
]
# The multi-core fork has the package name of LIBLINEAR's own, and so a folder of its own.
MULTICORE = Path(sys.prefix) / "multicore"


class Record:
    """A run on disk. Measurements are objects with at least `set`, `method` and `round`."""

    def __init__(self, path: Path, content: dict) -> None:
        self.path = path
        self.content = content

    @property
    def measurements(self) -> list[dict]:
        return self.content["measurements"]

    def of(self, **keys: object) -> list[dict]:
        """The measurements with these values, in the order they were taken."""
        return [m for m in self.measurements if all(m.get(key) == value for key, value in keys.items())]

    def add(self, measurement: dict) -> None:
        self.measurements.append(measurement)
        self.save()

    def save(self) -> None:
        self.path.parent.mkdir(parents=True, exist_ok=True)
        unfinished = self.path.with_name(f".{self.path.name}.part")
        unfinished.write_text(json.dumps(self.content, indent=1) + "\n")
        unfinished.replace(self.path)


def path_for(benchmark: str, given: str | None, quick: bool) -> Path:
    """Where a run is written: results that count, and tries that do not, in folders of their own."""
    today = datetime.date.today().isoformat()
    return Path(given) if given else (QUICK if quick else RESULTS) / f"{benchmark}-{today}.json"


def begin(benchmark: str, settings: dict, out: str | None, quick: bool, go_on: bool) -> Record:
    """A new record, or the one to be continued."""
    path = path_for(benchmark, out, quick)
    fresh = {
        "benchmark": benchmark,
        "date": datetime.datetime.now(datetime.UTC).isoformat(timespec="seconds"),
        "commit": git("rev-parse", "HEAD"),
        "changed_since_commit": bool(git("status", "--porcelain", "--untracked-files=no")),
        "machine": machine(),
        "versions": {"python": platform.python_version(), **{name: version(name) for name in PACKAGES}},
        "settings": {**settings, "quick": quick},
        "sets": {},
        "measurements": [],
    }
    if not path.exists():
        if go_on:
            print(f"{path} does not exist: a new run starts", flush=True)
        return Record(path, fresh)
    if go_on:
        content = read(path)
        for key in ("benchmark", "commit", "settings", "versions"):
            if content.get(key) != fresh[key]:
                raise Failure(
                    f"{path} was measured with another {key}: {content.get(key)!r}, now {fresh[key]!r}",
                    "start a new run without --continue, to another file with --out",
                )
        return Record(path, content)
    if not quick:
        raise Failure(f"{path} exists", "go on with it by --continue, remove it, or name another file with --out")
    return Record(path, fresh)


def read(path: Path) -> dict:
    try:
        return json.loads(path.read_text())
    except (OSError, ValueError) as error:
        raise Failure(f"{path} cannot be read: {error}", "name a JSON file that a benchmark has written") from error


def git(*arguments: str) -> str | None:
    try:
        return subprocess.run(
            ["git", "-C", str(ROOT), *arguments], capture_output=True, text=True, check=True
        ).stdout.strip()
    except (OSError, subprocess.CalledProcessError):
        return None


def version(package: str) -> str | None:
    found = metadata.distributions(name=package, path=[*sys.path, str(MULTICORE)])
    return next((distribution.version for distribution in found), None)


def machine() -> dict:
    found = {"system": platform.system(), "processor": platform.machine(), "cores": os.cpu_count()}
    try:
        for line in Path("/proc/cpuinfo").read_text().splitlines():
            if line.startswith("model name"):
                found["processor"] = line.split(":", 1)[1].strip()
                break
    except OSError:
        pass
    if sys.platform.startswith("linux"):
        found["memory_bytes"] = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    return found
