"""LIBSVM's and LIBLINEAR's text models, read without any program's help, and what they minimise."""

import numpy as np


class SvmModel:
    """A LIBSVM model."""

    def __init__(self, text, columns):
        head, body = text.split("SV\n", 1)
        self.entries = dict(line.split(" ", 1) for line in head.strip().split("\n"))
        self.kind = self.entries["svm_type"]
        self.classes = int(self.entries["nr_class"])
        self.rho = [float(word) for word in self.entries["rho"].split()]
        self.sizes = [int(word) for word in self.entries.get("nr_sv", "").split()]
        width = self.classes - 1 if self.kind.endswith("svc") else 1
        lines = [line.split() for line in body.strip().split("\n")] if body.strip() else []
        self.coefficients = np.array([[float(word) for word in line[:width]] for line in lines]).reshape(len(lines), width)
        self.vectors = np.zeros((len(lines), columns + 1))
        for number, line in enumerate(lines):
            for entry in line[width:]:
                column, value = entry.split(":")
                self.vectors[number, int(column)] = float(value)

    def kernel(self, left, right, table=None):
        """Values between rows (without column 0) and vectors; of a table by the vectors' serial numbers."""
        name = self.entries["kernel_type"]
        if name == "precomputed":
            return table[:, right[:, 0].astype(int) - 1]
        products = left @ right[:, 1:].T
        if name == "linear":
            return products
        gamma = float(self.entries["gamma"])
        if name == "rbf":
            squares = (left**2).sum(1)[:, None] + (right[:, 1:] ** 2).sum(1) - 2 * products
            return np.exp(-gamma * np.maximum(squares, 0))
        inner = gamma * products + float(self.entries["coef0"])
        return inner ** int(self.entries["degree"]) if name == "polynomial" else np.tanh(inner)

    def among(self, table=None):
        """Values between the vectors."""
        if self.entries["kernel_type"] == "precomputed":
            numbers = self.vectors[:, 0].astype(int) - 1
            return table[np.ix_(numbers, numbers)]
        return self.kernel(self.vectors[:, 1:], self.vectors)

    def places(self, rows):
        """The training row that each vector is: the nearest, as their file has eight digits."""
        if self.entries["kernel_type"] == "precomputed":
            return self.vectors[:, 0].astype(int) - 1
        far = ((self.vectors[:, None, 1:] - rows[None, :, :]) ** 2).sum(2)
        return far.argmin(1)

    def machines(self):
        """For each pair of classes: coefficients over all vectors, rho, and the places of the two classes."""
        if not self.kind.endswith("svc"):
            return [(self.coefficients[:, 0], self.rho[0], None)]
        starts = np.concatenate([[0], np.cumsum(self.sizes)]).astype(int)
        found, place = [], 0
        for i in range(self.classes):
            for j in range(i + 1, self.classes):
                c = np.zeros(len(self.vectors))
                c[starts[i] : starts[i + 1]] = self.coefficients[starts[i] : starts[i + 1], j - 1]
                c[starts[j] : starts[j + 1]] = self.coefficients[starts[j] : starts[j + 1], i]
                found.append((c, self.rho[place], (i, j)))
                place += 1
        return found

    def margins(self, labels, nu):
        """What the coefficients of each machine of a nu-SVC were divided by: they summed to nu l."""
        order = [int(word) for word in self.entries["label"].split()]
        counts = [np.isin(labels, [order[place] for place in pair]).sum() for _, _, pair in self.machines()]
        totals = [np.abs(c).sum() for c, _, _ in self.machines()]
        return nu * np.array(counts) / np.array(totals)

    def values(self, rows, table=None):
        """Decision values, a column for each machine."""
        kernel = self.kernel(rows, self.vectors, table)
        return np.stack([kernel @ c - rho for c, rho, _ in self.machines()], 1)


def svm_objectives(model, rows, labels, epsilon, nu, table=None):
    """What each machine's dual comes to at the model's coefficients, as LIBSVM minimises it: smaller is better."""
    among = model.among(table)
    found = []
    for c, _, _ in model.machines():
        half, total = 0.5 * c @ among @ c, np.abs(c).sum()
        if model.kind == "c_svc":
            found.append(half - total)
        elif model.kind == "nu_svc":
            # The same point in the units in which the coefficients sum to nu l.
            found.append(half * model.margins(labels, nu)[len(found)] ** 2)
        elif model.kind == "one_class":
            found.append(half * (nu * len(labels) / total) ** 2)
        else:
            products = c @ labels[model.places(rows)]
            found.append(half - products + (epsilon * total if nu is None else 0.0))
    return found


def regression_primal(model, rows, targets, cost, epsilon, nu, table=None):
    """½‖w‖² + C Σ slack at the model's w and b; with nu at the best width of the tube, which is one of the residuals, or 0."""
    c = model.coefficients[:, 0]
    half = 0.5 * c @ model.among(table) @ c
    residuals = np.abs(model.values(rows, table)[:, 0] - targets)
    if nu is None:
        return half + cost * np.maximum(0, residuals - epsilon).sum()
    widths = np.concatenate([[0.0], residuals])
    slack = np.maximum(0, residuals[None, :] - widths[:, None]).sum(1)
    return half + cost * (nu * len(targets) * widths + slack).min()


class LinearModel:
    """A LIBLINEAR model."""

    def __init__(self, text):
        head, body = text.split("w\n", 1)
        self.entries = dict(line.split(" ", 1) for line in head.strip().split("\n"))
        self.bias = float(self.entries["bias"])
        self.labels = [int(word) for word in self.entries.get("label", "").split()]
        self.weights = np.array([[float(word) for word in line.split()] for line in body.strip().split("\n")])
        self.rho = float(self.entries.get("rho", 0.0))

    def values(self, rows):
        """Decision values, a column for each function."""
        columns = int(self.entries["nr_feature"])
        rows = rows[:, :columns]
        if rows.shape[1] < columns:
            rows = np.hstack([rows, np.zeros((len(rows), columns - rows.shape[1]))])
        if self.bias >= 0:
            rows = np.hstack([rows, np.full((len(rows), 1), self.bias)])
        return rows @ self.weights - self.rho


def linear_objectives(model, rows, labels, kind, cost, epsilon, nu, weights, free_bias):
    """What each function's problem comes to at the model, so that smaller is better."""
    w, f = model.weights, model.values(rows)
    penalised = w[:-1] if free_bias else w
    costs = cost * np.array([weights.get(int(label), 1.0) for label in labels]) if model.labels else cost
    size = np.abs(penalised).sum(0) if kind in (5, 6) else 0.5 * (penalised**2).sum(0)
    if kind == 4:
        own = np.array([model.labels.index(int(label)) for label in labels])
        margins = f - f[np.arange(len(f)), own][:, None] + 1.0
        margins[np.arange(len(f)), own] = 0.0
        return [size.sum() + (costs * margins.max(1)).sum()]
    if kind in (11, 12, 13):
        slack = np.maximum(0, np.abs(f[:, 0] - labels) - epsilon)
        return [size[0] + cost * (slack**2 if kind != 13 else slack).sum()]
    if kind == 21:
        # min ½‖w‖² − νlρ + Σ max(0, ρ − ⟨w,x⟩), in the units in which it is tight.
        return [size[0] - nu * len(labels) * model.rho + np.maximum(0, -f[:, 0]).sum()]
    found = []
    for number in range(w.shape[1]):
        y = np.where(labels == model.labels[number], 1.0, -1.0)
        z = y * f[:, number]
        if kind in (0, 6, 7):
            loss = np.logaddexp(0, -z)
        else:
            loss = np.maximum(0, 1 - z) ** (1 if kind == 3 else 2)
        # One against the rest: the weight of the others is 1, but for two classes.
        own = np.array([weights.get(int(label), 1.0) for label in labels])
        if len(model.labels) > 2:
            own = np.where(y > 0, own, 1.0)
        found.append(size[number] + cost * (own * loss).sum())
    return found
