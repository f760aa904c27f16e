"""npz and Arrow files that we wrote, read by NumPy and pyarrow; and theirs, read by us.

How to run it is told at the top of `test_onnx.py`.
"""

import json
import os
import pathlib
import subprocess
import tempfile
import unittest

import numpy as np
import pyarrow
import pyarrow.feather
import pyarrow.ipc
import scipy.sparse

PROGRAM = os.path.abspath(os.environ.get("MAXMARGIN", "target/debug/maxmargin"))


class Formats(unittest.TestCase):
    def setUp(self):
        self.temporary = tempfile.TemporaryDirectory()
        self.folder = pathlib.Path(self.temporary.name)
        random = np.random.default_rng(3)
        self.points = random.normal(size=(30, 4))
        self.words = np.array(["ja", "nein", "größer"])[np.arange(30) % 3]
        header = "a,b,c,d,kind\n"
        lines = [",".join([*(repr(float(x)) for x in row), word]) for row, word in zip(self.points, self.words)]
        (self.folder / "rows.csv").write_text(header + "\n".join(lines) + "\n", encoding="utf-8")

    def tearDown(self):
        self.temporary.cleanup()

    def run_program(self, *arguments):
        done = subprocess.run([PROGRAM, *arguments], cwd=self.folder, capture_output=True, text=True, encoding="utf-8")
        self.assertEqual(done.returncode, 0, f"{arguments}: {done.stderr}")
        return done.stdout

    def assert_read_by_us(self, name):
        """What `convert` makes of a file is the table that it was written from, but for the names."""
        self.run_program("convert", name, "back.csv", "--quiet")
        own = (self.folder / "rows.csv").read_text(encoding="utf-8").split("\n", 1)[1]
        back = (self.folder / "back.csv").read_text(encoding="utf-8")
        self.assertEqual([line.split(",")[-1] for line in own.split()], [line.split(",")[-1] for line in back.split()][-30:])
        numbers = lambda text: [[float(x) for x in line.split(",")[:-1]] for line in text.split()[-30:]]
        self.assertEqual(numbers(own), numbers(back), name)

    def test_npz_files_are_numpys(self):
        self.run_program("convert", "rows.csv", "rows.npz", "--quiet")
        with np.load(self.folder / "rows.npz") as arrays:
            self.assertEqual(sorted(arrays.files), ["X", "y"])
            self.assertTrue((arrays["X"] == self.points).all())
            self.assertEqual(list(arrays["y"]), list(self.words))
        for save in [np.savez, np.savez_compressed]:
            save(self.folder / "theirs.npz", X=self.points, y=self.words)
            self.assert_read_by_us("theirs.npz")
        np.savez(self.folder / "fortran.npz", data=np.asfortranarray(self.points), target=self.words)
        self.assert_read_by_us("fortran.npz")

    def test_sparse_matrices_are_scipys(self):
        matrix = scipy.sparse.random_array((20, 50), density=0.1, rng=4, format="csr")
        scipy.sparse.save_npz(self.folder / "sparse.npz", matrix)
        labels = np.arange(20) % 2
        with np.load(self.folder / "sparse.npz") as arrays:
            np.savez(self.folder / "labelled.npz", y=labels, **arrays)
        self.run_program("convert", "labelled.npz", "sparse.svm", "--quiet")
        text = (self.folder / "sparse.svm").read_text()
        found = np.zeros((20, 50))
        for row, line in enumerate(text.splitlines()):
            label, *entries = line.split()
            self.assertEqual(int(label), labels[row])
            for column, value in (entry.split(":") for entry in entries):
                found[row, int(column) - 1] = float(value)
        self.assertTrue((found == matrix.toarray()).all())

    def test_arrow_files_are_pyarrows(self):
        self.run_program("convert", "rows.csv", "rows.feather", "--quiet")
        self.run_program("convert", "rows.csv", "rows.arrows", "--quiet")
        stream = pyarrow.ipc.open_stream(self.folder / "rows.arrows").read_all()
        for table in [pyarrow.feather.read_table(self.folder / "rows.feather"), stream]:
            self.assertEqual(table.column_names, ["a", "b", "c", "d", "label"])
            columns = np.stack([table[name].to_numpy() for name in "abcd"], axis=1)
            self.assertTrue((columns == self.points).all())
            self.assertEqual(table["label"].to_pylist(), list(self.words))
        table = pyarrow.table({**{name: self.points[:, k] for k, name in enumerate("abcd")}, "kind": self.words})
        for compression in ["uncompressed", "lz4", "zstd"]:
            pyarrow.feather.write_feather(table, self.folder / "theirs.feather", compression=compression, chunksize=7)
            self.assert_read_by_us("theirs.feather")
        coded = table.set_column(4, "kind", table["kind"].dictionary_encode())
        with pyarrow.ipc.new_stream(self.folder / "theirs.arrows", coded.schema) as out:
            out.write_table(coded, max_chunksize=11)
        self.assert_read_by_us("theirs.arrows")
        report = json.loads(self.run_program("train", "theirs.arrows", "--kernel", "rbf", "--json", "-o", "m.mm"))
        self.assertGreater(len(report), 0)


if __name__ == "__main__":
    unittest.main()
