"""Tests of the benchmark of whole commands: `python -m unittest` in this folder."""

from __future__ import annotations

import unittest

from commands import commands_markdown, many_classes
from test_bench import content


def command(name: str, method: str, seconds: float | None) -> dict:
    """A measurement; without seconds it was ended at the limit."""
    ended = {"error": "ended after 100 s", "timed_out": True} if seconds is None else {"command_seconds": seconds}
    return {"set": name, "method": method, "round": 0, "peak_bytes": 1 << 20, **ended}


def table(measured: list[dict]) -> str:
    made = content(measured)
    made["sets"] = {m["set"]: {"is_linear_default": not m["set"].startswith("svm")} for m in measured}
    return commands_markdown(made)


class Commands(unittest.TestCase):
    def test_what_is_slower_than_it_should_be_is_listed(self) -> None:
        text = table(
            [
                command("a9a", "maxmargin", 1.0),
                command("a9a", "theirs", 2.0),
                command("svm-train, 400 classes", "maxmargin", 2.0),
                command("svm-train, 400 classes", "theirs", 1.0),
            ]
        )
        self.assertIn("train, geometric mean of 1 sets: 2.00× of the peer, target 3×", text)
        self.assertIn("command, svm-train, 400 classes: 0.500× of the peer, target 1×", text)

    def test_a_peer_that_was_ended_counts_with_the_limit(self) -> None:
        text = table([command("covtype", "maxmargin", 1.0), command("covtype", "theirs", None)])
        self.assertIn("> 100×", text)

    def test_classes_have_three_rows_each(self) -> None:
        lines = many_classes(20).read_text().splitlines()
        self.assertEqual([line.split()[0] for line in lines], [str(k // 3) for k in range(60)])


if __name__ == "__main__":
    unittest.main()
