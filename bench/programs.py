"""The program that stands in for LIBLINEAR's `train`, compiled with the sources that cargo xtask fetched."""

from __future__ import annotations

import shutil
import subprocess
import sys
import tarfile
from pathlib import Path

from failure import Failure
from sets import HERE

SOURCES = Path(sys.prefix) / "sources"
BUILT = Path(sys.prefix) / "programs"
PROGRAM = HERE / "programs" / "liblinear_train.cpp"
FLAGS = ["-O3", "-march=native"]
# Of each peer: how the archive of its sources begins, and what the fork needs besides.
PACKAGES = {"liblinear": ("liblinear_official", []), "multicore": ("liblinear_multicore", ["-DMULTICORE", "-fopenmp"])}


def liblinear_train(peer: str) -> Path:
    """The program with the library of this peer, compiled now if it is missing or older than its source."""
    built = BUILT / f"{peer}-train"
    if built.is_file() and built.stat().st_mtime > PROGRAM.stat().st_mtime:
        return built
    prefix, flags = PACKAGES[peer]
    archives = list(SOURCES.glob(f"{prefix}-*.tar.gz"))
    if len(archives) != 1:
        raise Failure(
            f"{SOURCES} does not hold the sources of {prefix}",
            f"remove {sys.prefix} and run cargo xtask bench, which fetches them",
        )
    compiler = shutil.which("c++") or shutil.which("g++")
    if compiler is None:
        raise Failure("there is no C++ compiler", "install one under the name c++ or g++")
    folder = BUILT / prefix
    folder.mkdir(parents=True, exist_ok=True)
    with tarfile.open(archives[0]) as archive:
        archive.extractall(folder, filter="data")
    sources = next(folder.glob("*/cpp-source"))
    files = [PROGRAM, sources / "linear.cpp", sources / "newton.cpp", "-x", "c", *sorted(sources.glob("blas/*.c"))]
    command = [compiler, *FLAGS, *flags, f"-I{sources}", "-o", built, *files]
    if subprocess.run([str(word) for word in command]).returncode != 0:
        raise Failure(f"{PROGRAM.name} could not be compiled", "see the messages above")
    return built
