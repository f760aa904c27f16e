"""The long campaign of faults: `cargo xtask faults` runs it. Every fault has a seed, and the numbers can be made smaller.

python dask_campaign.py --killed 200 --stopped 50 --slow 20 --lying 200 --lost 20
"""

from __future__ import annotations

import argparse
import contextlib
import sys
import time

import dask_faults as faults
from dask_here import PROBLEMS, cluster_of

NAMES = [name for name in PROBLEMS if name != "discriminant"]


WORKERS = 3


class Clusters:
    """A cluster that is made anew where workers are missing: a nanny whose worker is killed while it starts gives up."""

    def __init__(self) -> None:
        self.stack, self.client = contextlib.ExitStack(), None

    def whole(self):
        """The client of a cluster with all its workers."""
        if self.client is None or len(self.client.scheduler_info(n_workers=-1)["workers"]) < WORKERS:
            self.stack.close()
            self.client = self.stack.enter_context(cluster_of(WORKERS))
        return self.client


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--killed", type=int, default=200, help="workers that are killed in a random round")
    parser.add_argument("--stopped", type=int, default=50, help="workers that are stopped")
    parser.add_argument("--slow", type=int, default=20, help="workers that are slow")
    parser.add_argument("--lying", type=int, default=2000, help="answers that are wrong")
    parser.add_argument("--lost", type=int, default=20, help="schedulers, drivers, and all workers at once: this many of each")
    parser.add_argument("--seed", type=int, default=0, help="the first seed")
    asked = parser.parse_args()
    failures = []

    def run(what: str, count: int, attempt, good) -> None:
        started, bad, extra = time.monotonic(), [], []
        for seed in range(asked.seed, asked.seed + count):
            try:
                found = attempt(NAMES[seed % len(NAMES)], seed)
            except Exception as error:  # a campaign says at its end what went wrong
                found = {"failed": repr(error)}
            if "extra" in found:
                extra.append(found["extra"])
            if "failed" in found or not good(found):
                bad.append(seed)
                print(f"  {what}, seed {seed}: {found}", flush=True)
        if count:
            slowest = f", at most {max(extra):.1f} s longer than undisturbed" if extra else ""
            print(f"{what}: {count - len(bad)} of {count} as promised{slowest}, {time.monotonic() - started:.0f} s", flush=True)
        failures.extend((what, seed) for seed in bad)

    with faults.small_shards():
        clusters = Clusters()
        with clusters.stack:
            run("killed worker", asked.killed, lambda *case: faults.killed_worker(clusters.whole(), *case), lambda found: found["same"])
            run("stopped worker", asked.stopped, lambda *case: faults.stopped_worker(clusters.whole(), *case), lambda found: found["same"])
            run("slow worker", asked.slow, lambda *case: faults.slow_worker(clusters.whole(), *case), lambda found: found["same"])
            run(
                "wrong answer",
                asked.lying,
                lambda *case: faults.lying_worker(clusters.whole(), *case),
                lambda found: found["same"] and found["named"],
            )
            run("lost driver", asked.lost, lambda *case: faults.lost_driver(clusters.whole(), *case), lambda found: found["same"])
        for what in ("scheduler", "worker"):
            run(
                f"lost {what}s" if what == "worker" else f"lost {what}",
                asked.lost,
                lambda *case, what=what: faults.lost(what, *case),
                lambda found: found["same"] and found["error"] is not None and found["seconds"] < 40,
            )
    for what, seed in failures:
        print(f"not as promised: {what}, seed {seed}")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
