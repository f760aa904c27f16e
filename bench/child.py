"""Runs a program to its end and says what it took.

The kernel counts into a child's peak memory what its parent occupied when it was started. The programs that call this
therefore import nothing but the standard library; numpy and the data live in the children. What is left is a floor of
about 20 MB under every peak.

A virtual machine may hand memory that nobody has used for some seconds back to its host, and then the first to touch it waits for the
host, page by page: two seconds for a gigabyte have been seen. Who pays for that is chance, so before every program memory is touched and freed.
"""

from __future__ import annotations

import os
import resource
import signal
import subprocess
import sys
import tempfile
import threading
import time
from dataclasses import dataclass

# ru_maxrss counts kibibytes on Linux and bytes on macOS.
RSS_UNIT = 1 if sys.platform == "darwin" else 1024

# Touches so much memory, in large pages where there are any, and ends.
TOUCHED_BYTES = 1 << 30
TOUCH = """
import mmap, sys
memory = mmap.mmap(-1, int(sys.argv[1]), flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)
chunk = bytes(1 << 20)
if hasattr(mmap, "MADV_HUGEPAGE"):
    memory.madvise(mmap.MADV_HUGEPAGE)
for _ in range(len(memory) // len(chunk)):
    memory.write(chunk)
"""


@dataclass(frozen=True)
class Finished:
    """How a program ended."""

    code: int
    output: str
    errors: str
    seconds: float
    peak_bytes: int
    # The time limit ended it.
    timed_out: bool

    @property
    def reason(self) -> str:
        """The last thing that it said, for a message."""
        lines = (self.errors or self.output).strip().splitlines()
        return f"exit code {self.code}" + (f": {lines[-1]}" if lines else "")


def touch_memory() -> None:
    """Has memory at hand for the next program. Where there is too little of it, nothing is lost."""
    subprocess.run([sys.executable, "-I", "-c", TOUCH, str(TOUCHED_BYTES)], stderr=subprocess.DEVNULL, check=False)


def run(command: list[str], limit: float, environment: dict[str, str] | None = None) -> Finished:
    """Runs `command` for at most `limit` seconds."""
    touch_memory()
    with tempfile.TemporaryFile("w+") as output, tempfile.TemporaryFile("w+") as errors:
        started = time.perf_counter()
        process = subprocess.Popen(
            command, stdout=output, stderr=errors, stdin=subprocess.DEVNULL, env={**os.environ, **(environment or {})}
        )
        timed_out = threading.Event()

        def end() -> None:
            timed_out.set()
            os.kill(process.pid, signal.SIGKILL)

        timer = threading.Timer(limit, end)
        timer.start()
        try:
            # Not Popen.wait: wait4 alone gives the memory of this child apart from its siblings'.
            _, status, usage = os.wait4(process.pid, 0)
        except BaseException:
            process.kill()
            raise
        finally:
            timer.cancel()
        process.returncode = os.waitstatus_to_exitcode(status)
        seconds = time.perf_counter() - started
        output.seek(0)
        errors.seek(0)
        return Finished(
            process.returncode, output.read(), errors.read(), seconds, usage.ru_maxrss * RSS_UNIT, timed_out.is_set()
        )


def own_peak_bytes() -> int:
    """The peak memory of this very process so far."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * RSS_UNIT
