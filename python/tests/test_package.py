"""The package as it is built and installed: what is in it, that it is light, and that everything in it says the same."""

from __future__ import annotations

import ast
import doctest
import importlib
import os
import pathlib
import pkgutil
import re
import subprocess
import sys
import tarfile
import zipfile

import pytest

import maxmargin
from maxmargin import _engine

# Where the repository is. The tests may also lie elsewhere, beside an installed package.
ROOT = pathlib.Path(__file__).resolve().parents[2]
PACKAGE = pathlib.Path(maxmargin.__file__).parent
MODULES = sorted(f"maxmargin.{found.name}" for found in pkgutil.iter_modules([str(PACKAGE)]) if found.name not in ("_engine", "__main__"))

built = pytest.mark.skipif("MAXMARGIN_WHEEL" not in os.environ, reason="cargo xtask test builds the wheel")


def imported(code: str) -> list[str]:
    found = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=120)
    assert found.returncode == 0, found.stderr
    return found.stdout.split()


def test_nothing_heavy_is_imported_with_the_package():
    heavy = "{'scipy', 'sklearn', 'pandas', 'polars', 'joblib', 'tqdm', 'pyarrow', 'onnxruntime'}"
    assert imported(f"import sys, maxmargin; print(*sorted({heavy} & set(sys.modules)))") == []


def test_a_fit_and_a_prediction_need_neither_scipy_nor_scikit_learn():
    code = """
import sys
for name in ("scipy", "sklearn", "pandas", "joblib"):
    sys.modules[name] = None
import numpy as np, maxmargin, pickle, copy
X = np.random.default_rng(0).normal(size=(80, 3)); y = (X[:, 0] > 0).astype(int)
for kind in (maxmargin.SVC, maxmargin.NuSVC, maxmargin.SVR, maxmargin.NuSVR, maxmargin.OneClassSVM, maxmargin.SVDD):
    model = kind().fit(X, y)
    assert len(model.predict(X)) == 80 and model.certificate_ is not None
    repr(model); pickle.loads(pickle.dumps(model)); copy.deepcopy(model); model.support_vectors_; model.dual_coef_
    try:
        kind().predict(X)
    except maxmargin.NotFittedError:
        print("right")
"""
    assert imported(code) == ["right"] * 6


def test_the_names_of_the_package_are_sorted_and_there():
    assert sorted(maxmargin.__all__) == sorted(set(maxmargin.__all__))
    for name in maxmargin.__all__:
        assert getattr(maxmargin, name) is not None


@pytest.mark.parametrize("name", [name for name in maxmargin.__all__ if not name.startswith("__")])
def test_what_the_package_offers_is_documented(name):
    assert (getattr(maxmargin, name).__doc__ or "").strip()


def test_the_stubs_name_what_the_engine_has():
    tree = ast.parse((PACKAGE / "_engine.pyi").read_text(encoding="utf-8"))
    for node in tree.body:
        if isinstance(node, (ast.FunctionDef, ast.ClassDef)):
            found = getattr(_engine, node.name)
            if isinstance(node, ast.ClassDef):
                members = [entry.name for entry in node.body if isinstance(entry, ast.FunctionDef)]
                assert [member for member in members if not hasattr(found, member)] == []
    stubs = {node.name for node in tree.body if isinstance(node, (ast.FunctionDef, ast.ClassDef))}
    assert {name for name in vars(_engine) if not name.startswith("_")} <= stubs


@pytest.mark.parametrize("name", ["maxmargin", *MODULES])
def test_the_examples_of_the_docstrings_give_what_they_say(name):
    assert doctest.testmod(importlib.import_module(name)).failed == 0


def test_the_version_is_one():
    assert re.fullmatch(r"\d+\.\d+\.\d+", maxmargin.__version__)
    manifest = ROOT / "Cargo.toml"
    if not manifest.is_file():
        pytest.skip("the repository is not at hand")
    workspace = manifest.read_text(encoding="utf-8").partition("[workspace.package]")[2]
    assert re.search(r'^version = "(.*)"$', workspace, re.MULTILINE)[1] == maxmargin.__version__
    assert "version.workspace = true" in (ROOT / "python/Cargo.toml").read_text(encoding="utf-8")
    assert 'dynamic = ["version"]' in (ROOT / "python/pyproject.toml").read_text(encoding="utf-8")


@built
def test_the_installed_package_is_tested_and_not_the_source():
    assert ROOT / "python" not in PACKAGE.parents


@built
def test_the_wheel_is_for_every_python_from_3_10_on_and_holds_the_whole_package():
    path = pathlib.Path(os.environ["MAXMARGIN_WHEEL"])
    assert path.name.startswith(f"maxmargin-{maxmargin.__version__}-cp310-abi3-")
    with zipfile.ZipFile(path) as wheel:
        names = wheel.namelist()
        metadata = wheel.read(next(name for name in names if name.endswith("/METADATA"))).decode()
    assert "Requires-Python: >=3.10" in metadata and f"\nVersion: {maxmargin.__version__}\n" in metadata
    assert re.findall(r"^Requires-Dist: (?!.*extra ==)(\S+)", metadata, re.MULTILINE) == ["numpy>=1.24"]
    assert "License-Expression: MIT OR Apache-2.0" in metadata and sum("/licenses/" in name for name in names) == 2
    assert len([name for name in names if name.endswith((".so", ".pyd", ".dylib"))]) == 1
    sources = {
        f"maxmargin/{file.name}" for file in (ROOT / "python/package/maxmargin").iterdir() if file.suffix in (".py", ".pyi", ".typed")
    }
    sources.add("maxmargin/py.typed")
    assert sources <= set(names)
    assert not [name for name in names if "test" in name.lower()]


@built
@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="read by the tools of Linux")
def test_the_engine_is_not_bound_to_one_python():
    needed = subprocess.run(["ldd", _engine.__file__], capture_output=True, text=True, check=True).stdout
    assert "libpython" not in needed and "libc.so" in needed


def unpacked() -> pathlib.Path:
    """The source distribution, unpacked beside what is built. What has not changed is not touched, so that it is not compiled again."""
    target = pathlib.Path(os.environ["CARGO_TARGET_DIR"]) / "python-sdist"
    with tarfile.open(os.environ["MAXMARGIN_SDIST"]) as archive:
        names = set()
        for member in archive.getmembers():
            place = target / pathlib.PurePosixPath(member.name)
            assert target in place.resolve().parents
            if member.isfile():
                names.add(place)
                content = archive.extractfile(member).read()
                if not place.is_file() or place.read_bytes() != content:
                    place.parent.mkdir(parents=True, exist_ok=True)
                    place.write_bytes(content)
    for old in target.rglob("*"):
        if old.is_file() and old not in names:
            old.unlink()
    return target / f"maxmargin-{maxmargin.__version__}"


@built
def test_the_source_distribution_holds_everything_and_compiles():
    folder = unpacked()
    for crate in ("maxmargin", "maxmargin-io", "maxmargin-plot"):
        own = ROOT / "crates" / crate
        for file in [own / "Cargo.toml", *(path for path in (own / "src").rglob("*") if path.is_file())]:
            assert (folder / file.relative_to(ROOT)).is_file(), file
    for file in (ROOT / "python/src").rglob("*.rs"):
        assert (folder / file.relative_to(ROOT)).read_bytes() == file.read_bytes()
    for name in ("pyproject.toml", "PKG-INFO", "Cargo.lock", "package/maxmargin/__init__.py", "package/maxmargin/py.typed"):
        assert (folder / name).is_file(), name
    # The lock file names crates of the workspace that are not in it, so that cargo writes it anew.
    found = subprocess.run(
        [os.environ["CARGO"], "check", "--offline", "--quiet", "--package", "maxmargin-python"],
        cwd=folder, capture_output=True, text=True, timeout=1200,
    )  # fmt: skip
    assert found.returncode == 0, found.stderr
