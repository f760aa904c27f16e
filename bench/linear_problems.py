"""The linear benchmark's sets, losses and methods, and the ladder of settings of each method.

Only the standard library is imported here: the programs that start the measured processes must stay small (child.py).
"""

from __future__ import annotations

from dataclasses import dataclass

from failure import Failure

SETS = ["a9a", "covtype465k", "20news", "mnist", "text"]
DENSE_SETS = ["covtype465k", "mnist"]
LOSSES = ["squared", "hinge", "logistic"]
# The relative duality gaps to reach, by the name that they have in the tables.
TARGETS = {"1e-3": 1e-3, "1e-6": 1e-6}
# Our certificate of this gap bounds the least objective from below.
REFERENCE_GAP = 1e-8
C = 1.0

PEERS = ["liblinear", "multicore", "sklearn", "snapml"]

# LIBLINEAR's solvers of each loss by their number: primal first.
LIBLINEAR = {"squared": ["s2", "s1"], "hinge": ["s3"], "logistic": ["s0", "s7"]}
# Those that the fork runs on several threads.
PARALLEL = ["s0", "s1", "s2", "s3"]

# A matrix of columns × columns for each machine is out of the question beyond this.
FEW_COLUMNS = 1000

# From loose to tight. Two steps a decade: a peer overshoots the gap by less than it would with one.
TOLERANCES = [digit * 10.0**power for power in range(0, -9, -1) for digit in (3.0, 1.0)]
# Passes of stochastic gradient descent, which no tolerance stops where we want it.
PASSES = [1, 2, 5, 10, 20, 50, 100]
# LIBLINEAR's dual solver of the hinge loss ends after 300 passes, whatever the tolerance: a climb of it whose best is
# no better than so many rungs before will not get there. Of no other method: a step of Newton's may serve many rungs.
STALLED = 4
CAPPED = "-s3"


@dataclass(frozen=True)
class Task:
    """What is fitted on a set: a loss, or `lda`. `dense` is the part where rows are full arrays."""

    data: str
    loss: str
    dense: bool = False

    @property
    def name(self) -> str:
        return f"{self.data} {self.loss}" + (" dense" if self.dense else "")


def ladder(method: str) -> list[float]:
    """The settings of a method from loose to tight."""
    if method == "sklearn-sgd":
        return PASSES
    # Discriminant analysis is computed, not approached.
    return [0.0] if "lda" in method else TOLERANCES


def methods(peers: list[str], task: Task, about: dict) -> list[str]:
    """The peers in every setting that suits the task; ours is not among them."""
    for peer in peers:
        if peer not in PEERS:
            raise Failure(f"there is no peer {peer!r}", "the peers are " + ", ".join(PEERS))
    if task.dense:
        return dense_methods(task, about) if "sklearn" in peers else []
    found = []
    for peer in peers:
        match peer:
            case "liblinear":
                found += [f"liblinear-{solver}" for solver in LIBLINEAR[task.loss]]
            case "multicore":
                found += [f"multicore-{solver}" for solver in LIBLINEAR[task.loss] if solver in PARALLEL]
            case "sklearn":
                found += sklearn_methods(task, about)
            case "snapml":
                found.append("snapml")
    return found


def sklearn_methods(task: Task, about: dict) -> list[str]:
    """scikit-learn on sparse rows."""
    match task.loss:
        case "squared":
            found = ["sklearn-svc-primal", "sklearn-svc-dual"]
        case "hinge":
            found = ["sklearn-svc-dual"]
        case _:
            found = ["sklearn-lbfgs", "sklearn-newton-cg"]
            found += ["sklearn-newton-cholesky"] if about["columns"] <= FEW_COLUMNS else []
    return [*found, "sklearn-sgd"]


def dense_methods(task: Task, about: dict) -> list[str]:
    """scikit-learn on full arrays, in both precisions."""
    if task.loss == "lda":
        solvers = ["lda-svd", "lda-lsqr", "lda-eigen"]
    else:
        solvers = ["lbfgs", "newton-cg"]
        # The joint machine has a single Hessian matrix over all classes.
        size = about["columns"] * (about["classes"] if task.loss == "joint" else 1)
        solvers += ["newton-cholesky"] if size <= FEW_COLUMNS else []
    return [f"sklearn-{solver}-{precision}" for solver in solvers for precision in ("f32", "f64")]


def tasks(names: str | None) -> list[Task]:
    """The tasks of a list of sets such as `a9a,mnist`; of all sets when nothing is said."""
    asked = [name.strip() for name in names.split(",")] if names else SETS
    for name in asked:
        if name not in SETS:
            raise Failure(f"there is no set {name!r}", "the sets are " + ", ".join(SETS))
    return [Task(name, loss) for name in asked for loss in LOSSES]


def dense_tasks(data: str, about: dict) -> list[Task]:
    """Discriminant analysis and logistic regression on full arrays of few columns."""
    if data not in DENSE_SETS:
        return []
    logistic = "joint" if about["classes"] > 2 else "logistic"
    return [Task(data, loss, dense=True) for loss in ("lda", logistic)]
