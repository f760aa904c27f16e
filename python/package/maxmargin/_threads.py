"""How many threads a call uses."""

from __future__ import annotations

import os
import sys

from ._errors import InputError

# The most threads that the engine starts.
_MOST = 1024
# Asked in this order where n_jobs is None; joblib sets the second in the processes it starts.
_VARIABLES = ("MAXMARGIN_NUM_THREADS", "OMP_NUM_THREADS")


def cores() -> int:
    """The cores that this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return max(1, len(os.sched_getaffinity(0)))
    return os.cpu_count() or 1


def threads(n_jobs: int | None) -> int:
    """The threads for an `n_jobs`: None is every core, but one within joblib's workers; −1 is every core, −2 all but one."""
    if n_jobs is not None:
        n_jobs = int(n_jobs)
        if n_jobs == 0:
            raise InputError("n_jobs == 0 in Parallel has no meaning: give a number of threads, or -1 for every core")
        return min(n_jobs, _MOST) if n_jobs > 0 else max(1, cores() + 1 + n_jobs)
    for name in _VARIABLES:
        found = os.environ.get(name, "").split(",")[0]
        if found.isdigit() and int(found) > 0:
            return min(int(found), _MOST)
    return 1 if _within_joblib() else cores()


def _within_joblib() -> bool:
    """Whether joblib runs this call beside others, on threads of this process."""
    parallel = sys.modules.get("joblib.parallel")
    if parallel is None:
        return False
    backend, _ = parallel.get_active_backend()
    return (getattr(backend, "nesting_level", 0) or 0) > 0
