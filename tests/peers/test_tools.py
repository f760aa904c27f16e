"""LIBSVM's own `grid.py` and `easy.py` with our programs in the place of theirs.

    MAXMARGIN=target/debug/maxmargin LIBSVM_TOOLS=target/peers-tools python -m unittest -v test_tools     (in this folder)

The variable LIBSVM_TOOLS names a folder with Debian's packages libsvm-tools and libsvm3, extracted. `easy.py` also needs gnuplot.
"""

import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import unittest

import sets

PROGRAM = os.path.abspath(os.environ["MAXMARGIN"])
TOOLS = pathlib.Path(os.environ.get("LIBSVM_TOOLS", "/"))
GRID, EASY = TOOLS / "usr/bin/svm-grid", TOOLS / "usr/bin/svm-easy"
GNUPLOT = pathlib.Path("/usr/bin/gnuplot")


def library_path():
    return ":".join(str(path) for path in (TOOLS / "usr/lib").glob("*-linux-gnu"))


@unittest.skipUnless(GRID.is_file(), "LIBSVM's scripts are not here (Debian: libsvm-tools)")
class Tools(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        # As in LIBSVM's distribution: the programs, and beside them a folder of the scripts.
        (self.folder / "tools").mkdir()
        for script, name in ((GRID, "grid.py"), (EASY, "easy.py")):
            shutil.copy(script, self.folder / "tools" / name)
        for name in ("svm-train", "svm-predict", "svm-scale"):
            (self.folder / name).symlink_to(PROGRAM)
        rows, labels = sets.classes()["overlap"]
        sets.write(self.folder / "data", rows * [1.0, 10.0, 0.1], labels)

    def script(self, *words):
        environment = {**os.environ, "LD_LIBRARY_PATH": library_path()}
        done = subprocess.run(
            [sys.executable, *map(str, words)],
            cwd=self.folder / "tools", env=environment, capture_output=True, text=True, timeout=600,
        )
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        return done.stdout

    def test_grid_finds_the_same_best_cell_at_the_same_rate(self):
        found = []
        for program in (self.folder / "svm-train", TOOLS / "usr/bin/svm-train"):
            out = self.script(
                "grid.py", "-log2c", "-3,7,2", "-log2g", "1,-9,-2", "-gnuplot", "null", "-out", "null",
                "-svmtrain", program, self.folder / "data",
            )
            found.append(out.strip().split("\n")[-1])
        self.assertEqual(found[0], found[1])
        self.assertEqual(len(found[0].split()), 3, found[0])

    @unittest.skipUnless(GNUPLOT.is_file(), "gnuplot is not here")
    def test_easy_goes_from_data_to_predictions(self):
        rows, labels = sets.classes()["overlap"]
        sets.write(self.folder / "test", rows[::-1] * [1.0, 10.0, 0.1], labels[::-1])
        out = self.script("easy.py", self.folder / "data", self.folder / "test")
        self.assertIn("Best c=", out)
        self.assertIn("Accuracy = ", out)
        self.assertTrue((self.folder / "tools" / "test.predict").is_file())


if __name__ == "__main__":
    unittest.main()
