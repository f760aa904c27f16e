"""The notebooks run from the first cell to the last, and what they assert is true."""

import json
import os
from pathlib import Path

import pytest

import maxmargin

FOLDER = Path(__file__).resolve().parents[1] / "notebooks"
NOTEBOOKS = sorted(FOLDER.glob("*.ipynb"))

# Seconds for all cells of a notebook; they take a few in a build for release.
LIMIT = 300


def source(cell):
    return "".join(cell["source"])


def test_all_notebooks_are_there():
    assert {path.stem for path in NOTEBOOKS} >= {
        "first-steps",
        "coming-from-scikit-learn",
        "text-classification",
        "a-large-set",
        "certificates",
        "tuning",
    }


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_a_notebook_is_kept_without_outputs_and_with_words(path):
    book = json.loads(path.read_text(encoding="utf-8"))
    assert book["nbformat"] == 4 and book["metadata"]["kernelspec"]["name"] == "python3"
    code = [cell for cell in book["cells"] if cell["cell_type"] == "code"]
    words = [cell for cell in book["cells"] if cell["cell_type"] == "markdown"]
    assert all(cell["outputs"] == [] and cell["execution_count"] is None for cell in code)
    assert words and source(words[0]).startswith("# ")
    assert sum(source(cell).count("assert ") for cell in code) >= 2
    assert len({cell["id"] for cell in book["cells"]}) == len(book["cells"])


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_a_notebook_runs_to_its_end(path, tmp_path, monkeypatch):
    nbclient = pytest.importorskip("nbclient", reason="nbclient is not installed, so notebooks are not run: pip install nbclient ipykernel")
    pytest.importorskip("ipykernel", reason="ipykernel is not installed, so notebooks are not run: pip install nbclient ipykernel")
    import nbformat

    book = nbformat.read(path, as_version=4)
    nbformat.validate(book)
    # The kernel is another process: it must find the package that is tested here.
    package = str(Path(maxmargin.__file__).resolve().parents[1])
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join([package, *filter(None, [os.environ.get("PYTHONPATH")])]))
    monkeypatch.setenv("PYDEVD_DISABLE_FILE_VALIDATION", "1")
    client = nbclient.NotebookClient(book, timeout=LIMIT, kernel_name="python3", resources={"metadata": {"path": str(tmp_path)}})
    client.execute()
    ran = [cell for cell in book.cells if cell.cell_type == "code"]
    assert [cell.execution_count for cell in ran] == list(range(1, len(ran) + 1))
