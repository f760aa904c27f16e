"""A line that says how far a fit is: tqdm's where it is installed, so that notebooks have a bar, else one of our own."""

from __future__ import annotations

import sys
import time


class Line:
    """Shows the progress of a fit on standard error, and takes it away when the fit is over."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.started = time.monotonic()
        self.width = 0
        self.bar = None
        try:
            from tqdm.auto import tqdm
        except ImportError:
            return
        self.bar = tqdm(total=None, desc=name, leave=False, bar_format="{desc}  {postfix}  {elapsed}")

    def __call__(self, machine: int, machines: int, iteration: int, violation: float | None, gap: float | None) -> None:
        parts = [f"machine {machine + 1} of {machines}"] if machines > 1 else []
        parts.append(f"iteration {iteration}")
        parts += [f"{name} {value:.2e}" for name, value in (("violation", violation), ("gap", gap)) if value is not None]
        self.show("  ".join(parts))

    def show(self, text: str) -> None:
        """Shows a text in the place of the one before."""
        if self.bar is not None:
            self.bar.set_postfix_str(text)
        elif sys.stderr is not None and sys.stderr.isatty():
            line = f"{self.name}  {text}  {time.monotonic() - self.started:.1f} s"
            sys.stderr.write("\r" + line.ljust(self.width))
            sys.stderr.flush()
            self.width = len(line)

    def close(self) -> None:
        """Clears the line."""
        if self.bar is not None:
            self.bar.close()
        elif self.width:
            sys.stderr.write("\r" + " " * self.width + "\r")
            sys.stderr.flush()
