"""Whatever the documentation shows is run: the code blocks of the guides, and the examples in the docstrings."""

import doctest
import importlib
import pkgutil
import re
import warnings
from pathlib import Path

import pytest

import maxmargin

ROOT = Path(__file__).resolve().parents[2]
GUIDES = ["docs/python.md", "docs/coming-from-scikit-learn.md", "python/README.md"]
FLAGS = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE

# A module that runs a program when it is imported is left out.
MODULES = ["maxmargin"] + [f"maxmargin.{module.name}" for module in pkgutil.iter_modules(maxmargin.__path__) if module.name != "__main__"]


def blocks(text):
    """The code blocks of a guide: (language, code, number of the first line)."""
    found = re.finditer(r"^```(\w*)\n(.*?)^```$", text, flags=re.DOTALL | re.MULTILINE)
    return [(match[1], match[2], text[: match.start()].count("\n") + 1) for match in found]


@pytest.mark.parametrize("guide", GUIDES)
def test_the_code_of_a_guide_does_what_it_says(guide, monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    text = (ROOT / guide).read_text(encoding="utf-8")
    runner, names, tried = doctest.DocTestRunner(optionflags=FLAGS), {}, 0
    told = []
    for language, code, line in blocks(text):
        assert language == "python", f"{guide}, line {line}: a block of {language or 'no language'} cannot be run"
        examples = doctest.DocTestParser().get_doctest(code, names, guide, str(ROOT / guide), line)
        assert examples.examples, f"{guide}, line {line}: no example in this block"
        tried += len(examples.examples)
        runner.run(examples, out=told.append, clear_globs=False)
        names = examples.globs  # one block goes on where the last one ended
    assert tried > 0 and runner.summarize(verbose=False).failed == 0, "".join(told)


def test_the_python_of_the_readme_runs(monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    shown = [code for language, code, _ in blocks((ROOT / "README.md").read_text(encoding="utf-8")) if language == "python"]
    names = {}
    for code in shown:
        exec(compile(code, "README.md", "exec"), names)
    assert len(shown) >= 1 and names["model"].score(names["X"], names["y"]) > 0.9


@pytest.mark.parametrize("name", MODULES)
def test_the_examples_of_a_module_do_what_they_say(name):
    module = importlib.import_module(name)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        result = doctest.testmod(module, optionflags=doctest.ELLIPSIS)
    assert result.failed == 0


def test_every_public_class_has_an_example_and_words_for_its_parameters():
    for name in maxmargin.__all__:
        found = getattr(maxmargin, name)
        if not hasattr(found, "fit"):
            continue
        assert ">>> " in found.__doc__, f"{name} has no example"
        words = found.__doc__.partition("Attributes\n")[0]
        missing = [word for word in found().get_params() if not re.search(rf"\b{word}\b", words)]
        assert not missing, f"{name} says nothing of {missing}"


@pytest.mark.parametrize("guide", GUIDES)
def test_the_files_that_a_guide_names_are_there(guide):
    text = (ROOT / guide).read_text(encoding="utf-8")
    for target in re.findall(r"\]\(([^)#]+)\)", text):
        if "://" not in target:
            assert ((ROOT / guide).parent / target).exists(), f"{guide} names {target}"
