"""Makes one data set of the cache: `prepare.py NAME SOURCE [ROWS TEST_ROWS]`.

Every set is written twice with the same numbers: as LIBSVM text, with as many digits as a double needs, and as arrays.
"""

from __future__ import annotations

import json
import lzma
import shutil
import sys
from collections.abc import Callable
from pathlib import Path

import numpy as np
from scipy import sparse
from sklearn.datasets import load_svmlight_file

from failure import Failure, exit_with
from sets import CACHE, RECIPE

Part = tuple[sparse.csr_matrix, np.ndarray]
# Training part, test part, and a sentence about how they were chosen.
Made = tuple[Part, Part, str]

SEED = 0


def read(source: Path, name: str, columns: int) -> Part:
    path = source / f"{name}.xz"
    if not path.is_file():
        raise Failure(f"{str(path)!r} does not exist", "name the folder that holds it with --data")
    with lzma.open(path) as file:
        rows, labels = load_svmlight_file(file, n_features=columns)
    return sparse.csr_matrix(rows), labels


def original(name: str, columns: int) -> Callable[[Path], Made]:
    """Both parts as they were published."""

    def make(source: Path) -> Made:
        return read(source, name, columns), read(source, f"{name}.t", columns), "the published parts"

    return make


def w8a(source: Path) -> Made:
    rows, labels = read(source, "w8a", 300)
    order = np.random.RandomState(SEED).permutation(len(labels))
    train, test = order[:40_749], order[40_749:]
    about = f"training: the first 40,749 rows of numpy's RandomState({SEED}).permutation; test: the other 9,000"
    return (rows[train], labels[train]), (rows[test], labels[test]), about


def covtype(count: int, test_count: int) -> Callable[[Path], Made]:
    def make(source: Path) -> Made:
        rows, labels = read(source, "covtype", 54)
        labels = np.where(labels == 2, 1.0, -1.0)
        order = np.random.RandomState(SEED).permutation(len(labels))
        dense = rows.toarray()
        dense = scaled(dense, dense, 0.0, 1.0)
        train, test = order[:count], order[-test_count:]
        about = (
            f"class 2 against the rest, columns scaled to [0, 1] over all 581,012 rows; training: the first {count:,} "
            f"rows of numpy's RandomState({SEED}).permutation; test: its last {test_count:,}"
        )
        return part(dense[train], labels[train]), part(dense[test], labels[test]), about

    return make


def shuttle(source: Path) -> Made:
    rows, labels = read(source, "shuttle", 9)
    test_rows, test_labels = read(source, "shuttle.t", 9)
    dense, test = rows.toarray(), test_rows.toarray()
    about = "the published parts, columns scaled to [-1, 1] over the training part"
    return part(scaled(dense, dense, -1.0, 1.0), labels), part(scaled(test, dense, -1.0, 1.0), test_labels), about


def mnist(count: int | None) -> Callable[[Path], Made]:
    def make(source: Path) -> Made:
        rows, labels = read(source, "mnist", 784)
        test_rows, test_labels = read(source, "mnist.t", 784)
        rows, labels = rows[:count], labels[:count]
        about = "the published parts, divided by 255" + (f"; the first {count:,} rows of training" if count else "")
        return (by_255(rows), labels), (by_255(test_rows), test_labels), about

    return make


# Synthetic text: documents, columns, words of a document, labels that are turned round.
TEXT_ROWS = (160_000, 20_000)
TEXT_COLUMNS = 50_000
TEXT_WORDS = 71
TEXT_WRONG = 0.07
# A quarter of the most frequent words, of so many, tell the label.
TEXT_TELLING = 2_000


def text(_: Path) -> Made:
    """Documents of words that are as frequent as words are: the k-th is drawn in proportion to 1/(k + 20)."""
    random = np.random.default_rng(SEED)
    count = sum(TEXT_ROWS)
    shares = 1.0 / (np.arange(TEXT_COLUMNS) + 20.0)
    ends = np.cumsum(shares / shares.sum())
    lengths = 1 + random.poisson(TEXT_WORDS * random.lognormal(-0.125, 0.5, count))
    # Frequent words stand anywhere among the columns.
    names = random.permutation(TEXT_COLUMNS)
    words = names[np.minimum(np.searchsorted(ends, random.random(lengths.sum())), TEXT_COLUMNS - 1)]
    documents = np.repeat(np.arange(count), lengths)
    rows = sparse.csr_matrix((np.ones(len(words)), (documents, words)), shape=(count, TEXT_COLUMNS))
    rows.sum_duplicates()
    holding = np.bincount(rows.indices, minlength=TEXT_COLUMNS)
    rows.data = (1.0 + np.log(rows.data)) * np.log(1.0 + count / holding[rows.indices])
    lengths_of_rows = np.sqrt(np.add.reduceat(rows.data**2, rows.indptr[:-1]))
    rows.data /= np.repeat(lengths_of_rows, np.diff(rows.indptr))

    weights = np.zeros(TEXT_COLUMNS)
    weights[random.choice(names[:TEXT_TELLING], TEXT_TELLING // 4, replace=False)] = random.normal(
        size=TEXT_TELLING // 4
    )
    scores = rows @ weights
    labels = np.where(scores > np.median(scores), 1.0, -1.0)
    labels[random.random(count) < TEXT_WRONG] *= -1.0
    train, test = slice(0, TEXT_ROWS[0]), slice(TEXT_ROWS[0], count)
    about = (
        f"made by prepare.py from the seed {SEED}: words as frequent as 1/(rank + 20), weighted by (1 + log tf) log(1 "
        f"+ n/df), rows of length 1; the labels are the side of a random hyperplane over {TEXT_TELLING // 4} words, "
        f"{TEXT_WRONG:.0%} of them turned round"
    )
    return (rows[train], labels[train]), (rows[test], labels[test]), about


def regression(name: str, columns: int, scale: bool, unit: float) -> Callable[[Path], Made]:
    """Rows with numbers for labels, of which four of five are trained on."""

    def make(source: Path) -> Made:
        rows, targets = read(source, name, columns)
        dense = rows.toarray()
        dense = scaled(dense, dense, -1.0, 1.0) if scale else dense
        targets = targets / unit
        order = np.random.RandomState(SEED).permutation(len(targets))
        train, test = order[: len(order) * 4 // 5], order[len(order) * 4 // 5 :]
        about = f"training: the first four fifths of numpy's RandomState({SEED}).permutation; test: the others"
        about += "; columns scaled to [-1, 1] over all rows" if scale else ""
        about += f"; targets divided by {unit:,.0f}" if unit != 1 else ""
        return part(dense[train], targets[train]), part(dense[test], targets[test]), about

    return make


RECIPES: dict[str, Callable[[Path], Made]] = {
    "a9a": original("a9a", 123),
    "w8a": w8a,
    "ijcnn1": original("ijcnn1", 22),
    "covtype": covtype(50_000, 20_000),
    # 80 % and 20 % of the rows.
    "covtype465k": covtype(464_810, 116_202),
    "letter": original("letter.scale", 16),
    "usps": original("usps", 256),
    "shuttle": shuttle,
    "mnist10k": mnist(10_000),
    "mnist": mnist(None),
    "20news": original("20news_tfidf", 55_648),
    "text": text,
    "abalone": regression("abalone_scale", 8, False, 1),
    "cpusmall": regression("cpusmall", 12, True, 1),
    "cadata": regression("cadata", 8, True, 100_000),
}


def part(dense: np.ndarray, labels: np.ndarray) -> Part:
    return sparse.csr_matrix(dense), labels


def by_255(rows: sparse.csr_matrix) -> sparse.csr_matrix:
    # Multiplying by 1/255 would round twice.
    rows.data = rows.data / 255.0
    return rows


def scaled(rows: np.ndarray, reference: np.ndarray, low: float, high: float) -> np.ndarray:
    """Columns of `rows` moved so that those of `reference` reach from `low` to `high`."""
    least, most = reference.min(axis=0), reference.max(axis=0)
    return low + (high - low) * (rows - least) / np.where(most > least, most - least, 1.0)


def shortened(data: str, rows: int, test_rows: int) -> Made:
    """The first rows of a set that the cache holds whole."""
    whole = CACHE / data
    train, test = load(whole / "train.npz"), load(whole / "test.npz")
    about = json.loads((whole / "about.json").read_text())["selection"]
    about += f"; of these the first {rows:,} rows of training and {test_rows:,} of test"
    return (train[0][:rows], train[1][:rows]), (test[0][:test_rows], test[1][:test_rows]), about


def load(path: Path) -> Part:
    """Rows and labels of an array file."""
    with np.load(path) as arrays:
        rows = sparse.csr_matrix((arrays["values"], arrays["columns"], arrays["starts"]), shape=tuple(arrays["shape"]))
        return rows, arrays["labels"]


def save(folder: Path, name: str, rows: sparse.csr_matrix, labels: np.ndarray) -> None:
    rows.sort_indices()
    rows.eliminate_zeros()
    np.savez(
        folder / f"{name}.npz",
        values=rows.data,
        columns=rows.indices,
        starts=rows.indptr,
        shape=np.array(rows.shape),
        labels=labels,
    )
    with open(folder / f"{name}.txt", "w") as file:
        for row, label in enumerate(labels.tolist()):
            span = slice(rows.indptr[row], rows.indptr[row + 1])
            # repr of a float is the shortest text that reads back as the same double.
            cells = [f"{c + 1}:{v!r}" for c, v in zip(rows.indices[span].tolist(), rows.data[span].tolist())]
            shown = f"{label:g}" if label.is_integer() else repr(label)
            file.write(" ".join([shown, *cells]) + "\n")


def main() -> None:
    data, source, *counts = sys.argv[1:]
    if counts:
        made = shortened(data, *(int(count) for count in counts))
    else:
        made = RECIPES[data](Path(source))
    (rows, labels), (test_rows, test_labels), selection = made

    folder = CACHE / "-".join([data, *counts])
    unfinished = folder.with_name(f"{folder.name}.part")
    for old in (folder, unfinished):
        shutil.rmtree(old, ignore_errors=True)
    unfinished.mkdir(parents=True)
    save(unfinished, "train", rows, labels)
    save(unfinished, "test", test_rows, test_labels)
    about = {
        "recipe": RECIPE,
        "selection": selection,
        "rows": rows.shape[0],
        "test_rows": test_rows.shape[0],
        "columns": rows.shape[1],
        "classes": len(np.unique(labels)),
        "density": rows.nnz / (rows.shape[0] * rows.shape[1]),
    }
    (unfinished / "about.json").write_text(json.dumps(about, indent=1))
    unfinished.rename(folder)


if __name__ == "__main__":
    exit_with(main)
