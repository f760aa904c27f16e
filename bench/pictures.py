"""How long a picture of many rows takes, and how large its file is.

    python bench/pictures.py target/release/maxmargin [ROWS]

Draws each kind of a model on generated rows, and prints a line for each as JSON: seconds from the command to the file, bytes of the SVG, and
whether a second run made the same bytes. Exit code 1 when a picture takes more than 2 s, is larger than 1 MB, or differs.
"""

import json
import subprocess
import sys
import tempfile
import time
from pathlib import Path

MOST_SECONDS = 2.0
MOST_BYTES = 1_000_000


def main() -> int:
    program = str(Path(sys.argv[1]).resolve())
    rows = int(sys.argv[2]) if len(sys.argv) > 2 else 100_000
    failed = False
    with tempfile.TemporaryDirectory() as folder:

        def run(*words: str) -> float:
            started = time.perf_counter()
            subprocess.run([program, *words], cwd=folder, check=True, capture_output=True)
            return time.perf_counter() - started

        run("generate", "moons", "--rows", str(rows), "--seed", "1", "-o", "many.csv")
        run("generate", "moons", "--rows", "300", "--seed", "2", "-o", "few.csv")
        run("train", "few.csv", "-o", "linear.mm")
        run("train", "few.csv", "--kernel", "rbf", "-o", "rbf.mm")
        run("train", "many.csv", "-o", "trained.mm")
        for model, kind in [
            ("linear", "regions"),
            ("rbf", "regions"),
            ("trained", "regions"),
            ("linear", "margins"),
            ("linear", "roc"),
            ("linear", "confusion"),
        ]:
            seconds = [run("plot", kind, f"{model}.mm", "many.csv", "-o", f"{turn}.svg") for turn in range(2)]
            first, second = ((Path(folder) / f"{turn}.svg").read_bytes() for turn in range(2))
            found = {"model": model, "kind": kind, "rows": rows, "seconds": round(min(seconds), 3), "bytes": len(first), "same": first == second}
            print(json.dumps(found), flush=True)
            failed |= found["seconds"] > MOST_SECONDS or found["bytes"] > MOST_BYTES or not found["same"]
    return int(failed)


if __name__ == "__main__":
    sys.exit(main())
