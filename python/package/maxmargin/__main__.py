"""`python -m maxmargin script.py`: runs a script that was written for scikit-learn on our engine."""

from __future__ import annotations

import os
import runpy
import sys

USAGE = """\
usage: python -m maxmargin SCRIPT [ARGUMENTS]       runs a script with scikit-learn's classes replaced by maxmargin's
       python -m maxmargin -m MODULE [ARGUMENTS]    runs a module likewise
       python -m maxmargin --version                says which version this is

What maxmargin does not support is fitted by scikit-learn's own class, with a warning that says so."""


def main(arguments: list[str]) -> int:
    """Runs what is named; returns an exit code where nothing was run."""
    if arguments and arguments[0] in ("-h", "--help"):
        print(USAGE)
        return 0
    if arguments == ["--version"]:
        from . import __version__

        print(f"maxmargin {__version__}")
        return 0
    module = arguments[:1] == ["-m"]
    command = arguments[1:] if module else arguments
    if not command or command[0].startswith("-"):
        return _refuse("no module is named after -m" if module else f"found {command[0]!r}" if command else "no script is named")
    if not module and not os.path.exists(command[0]):
        return _refuse(f"there is no script {command[0]!r}")
    from ._patch import patch_sklearn

    try:
        patch_sklearn()
    except ModuleNotFoundError as error:
        return _refuse(f"scikit-learn cannot be patched: {error}")
    sys.argv = command
    # What Python itself puts there: the script's folder, or the current one.
    sys.path[0] = os.getcwd() if module else os.path.dirname(os.path.abspath(command[0]))
    if module:
        runpy.run_module(command[0], run_name="__main__", alter_sys=True)
    else:
        runpy.run_path(command[0], run_name="__main__")
    return 0


def _refuse(found: str) -> int:
    print(f"error: {found}\n{USAGE}", file=sys.stderr)
    return 2


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
