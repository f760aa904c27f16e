"""The same bits for any number of workers and threads, any order of arrival, and without a cluster."""

import pytest
from dask_faults import problem, small_shards
from dask_here import PROBLEMS, bits_of, cluster_of, fit_here


@pytest.fixture(autouse=True)
def _small_shards():
    with small_shards():
        yield


@pytest.mark.parametrize(("workers", "threads"), [(1, 1), (1, 2), (2, 1), (2, 2), (3, 1), (3, 2)])
def test_workers_and_threads_change_no_bit(workers, threads):
    with cluster_of(workers, threads) as client:
        for seed, name in enumerate(PROBLEMS):
            make, far, expected, _ = problem(name, seed)
            model = make(client=client).fit(*far)
            assert bits_of(model) == expected, (name, seed)
            assert model.cluster_.shards == 4 and model.cluster_.rebuilt == 0 and model.cluster_.hedged == 0


@pytest.mark.parametrize("name", PROBLEMS)
def test_the_order_of_arrival_changes_no_bit(name):
    make, far, expected, _ = problem(name, seed=7)
    for seed in range(5):
        assert bits_of(fit_here(make(), *far, seed=seed)) == expected
    # The control: other shards are another order of sums, and so other bits.
    other = [part.rechunk({0: 300}) for part in far]
    assert bits_of(fit_here(make(), *other)) != expected
