"""What goes wrong, said with the way out."""

from __future__ import annotations

import sys
from collections.abc import Callable


class Failure(Exception):
    """An error that the reader can do something about."""

    def __init__(self, what: str, help: str) -> None:
        super().__init__(what)
        self.help = help


def exit_with(main: Callable[[], None]) -> None:
    """Runs a program; a failure is printed with its help line and ends it with 2."""
    try:
        main()
    except Failure as failure:
        print(f"error: {failure}\nhelp: {failure.help}", file=sys.stderr)
        sys.exit(2)
    except KeyboardInterrupt:
        print("interrupted: what was measured is kept, --continue goes on from there", file=sys.stderr)
        sys.exit(130)
