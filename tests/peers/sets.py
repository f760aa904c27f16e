"""Small data sets for the comparisons with other programs, made from fixed seeds, and their LIBSVM text."""

import numpy as np


def classes():
    """Name -> (rows, labels): two to five classes, dense and sparse, scaled and not, balanced and not."""
    found = {}

    rng = np.random.default_rng(1)
    y = np.where(np.arange(90) % 2 == 0, 1, -1)
    found["overlap"] = (rng.normal(size=(90, 3)) + 0.8 * y[:, None], y)

    rng = np.random.default_rng(2)
    y = np.where(np.arange(100) < 85, -1, 1)
    found["unbalanced"] = (rng.normal(size=(100, 4)) + 0.7 * (y[:, None] > 0), y)

    rng = np.random.default_rng(3)
    x = rng.uniform(-1, 1, size=(80, 2))
    found["xor"] = (x, np.where(x[:, 0] * x[:, 1] > 0, 2, 7))

    rng = np.random.default_rng(4)
    y = np.arange(105) % 3
    found["three"] = (rng.normal(size=(105, 4)) + np.eye(3, 4)[y] * 2.0, 3 - y)

    rng = np.random.default_rng(5)
    y = rng.integers(0, 5, size=110)
    centres = rng.normal(size=(5, 6)) * 1.5
    found["five"] = (rng.normal(size=(110, 6)) + centres[y], np.array([4, 0, -3, 11, 2])[y])

    rng = np.random.default_rng(6)
    x = rng.exponential(size=(90, 60)) * (rng.random((90, 60)) < 0.1)
    y = np.where(x[:, :20].sum(1) > x[:, 20:40].sum(1), 1, -1)
    found["text"] = (x, y)

    rng = np.random.default_rng(7)
    x = rng.integers(0, 4, size=(90, 8)).astype(float)
    found["counts"] = (x, np.where(x[:, 0] + x[:, 1] > x[:, 2] + x[:, 3] + rng.normal(size=90), 1, 0))

    rng = np.random.default_rng(8)
    y = np.where(np.arange(60) % 3 == 0, 1, -1)
    x = rng.normal(size=(60, 5)) + 0.8 * y[:, None]
    # Copies, some of them with the other label.
    found["copies"] = (np.vstack([x, x[:15], x[:5]]), np.concatenate([y, y[:15], -y[:5]]))

    rng = np.random.default_rng(9)
    y = np.where(np.arange(40) % 2 == 0, 1, 2)
    found["wide"] = (rng.normal(size=(40, 70)) + 0.25 * (y[:, None] == 1), y)
    return found


def numbers():
    """Name -> (rows, targets)."""
    found = {}

    rng = np.random.default_rng(11)
    x = rng.uniform(-3, 3, size=(80, 1))
    found["sine"] = (x, np.sin(x[:, 0]) + 0.1 * rng.normal(size=80))

    rng = np.random.default_rng(12)
    x = rng.normal(size=(90, 5))
    found["plane"] = (x, x @ [1.0, -2.0, 0.5, 0.0, 3.0] + 4.0 + 0.3 * rng.normal(size=90))

    rng = np.random.default_rng(13)
    x = rng.exponential(size=(80, 40)) * (rng.random((80, 40)) < 0.15)
    found["sparse"] = (x, 2.0 * x[:, 0] - x[:, 1] + x[:, 2] ** 2 + 0.1 * rng.normal(size=80))
    return found


def write(path, rows, labels):
    """LIBSVM text with all digits, zeros left out."""
    with open(path, "w") as file:
        for row, label in zip(rows, labels):
            entries = " ".join(f"{column + 1}:{float(value)!r}" for column, value in enumerate(row) if value != 0)
            shown = int(label) if float(label).is_integer() else repr(float(label))
            file.write(f"{shown} {entries}\n")


def write_table(path, kernel, labels):
    """LIBSVM text of a precomputed kernel: `label 0:i 1:K_i1 2:K_i2 ..`."""
    with open(path, "w") as file:
        for number, (row, label) in enumerate(zip(kernel, labels)):
            entries = " ".join(f"{column + 1}:{float(value)!r}" for column, value in enumerate(row))
            shown = int(label) if float(label).is_integer() else repr(float(label))
            file.write(f"{shown} 0:{number + 1} {entries}\n")
