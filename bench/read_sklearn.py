"""Times scikit-learn's reader in a process of its own: `read_sklearn.py FILE`. Prints one JSON object."""

from __future__ import annotations

import json
import sys

from sklearn.datasets import load_svmlight_file

from peers import timed


def main() -> None:
    (rows, labels), seconds = timed(lambda: load_svmlight_file(sys.argv[1]))
    print(json.dumps({"rows": len(labels), "values": int(rows.nnz), "read_seconds": seconds}))


if __name__ == "__main__":
    main()
