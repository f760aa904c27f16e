"""What becomes of a fit whose cluster loses workers, its scheduler or its driver, or is lied to. `cargo xtask faults` does more of the same."""

import os
import re

import dask_faults as faults
import pytest
from dask_here import PROBLEMS, cluster_of, fit_here

NAMES = [name for name in PROBLEMS if name != "discriminant"]


@pytest.fixture(autouse=True)
def _small_shards():
    with faults.small_shards():
        yield


@pytest.fixture(scope="module")
def client():
    with cluster_of(3) as client:
        yield client


@pytest.mark.parametrize("seed", range(10))
def test_a_killed_worker_changes_no_bit(client, seed):
    found = faults.killed_worker(client, NAMES[seed % len(NAMES)], seed)
    assert found["same"], (seed, found)


@pytest.mark.parametrize("seed", range(4))
def test_a_stopped_worker_changes_no_bit(client, seed):
    found = faults.stopped_worker(client, NAMES[seed % len(NAMES)], seed)
    assert found["same"], (seed, found)


def test_a_slow_worker_changes_no_bit(client):
    found = faults.slow_worker(client, NAMES[0], seed=1)
    assert found["same"] and found["hedged"] > 0, found


@pytest.mark.parametrize("seed", range(8))
def test_a_wrong_answer_is_found_and_its_worker_and_shard_are_named(client, seed):
    found = faults.lying_worker(client, NAMES[seed % len(NAMES)], seed)
    assert found["same"] and found["named"] and not found["false"], (seed, found)


def test_a_shard_that_is_answered_wrongly_wherever_it_is_asked_ends_the_fit(client):
    found = faults.lying_worker(client, NAMES[0], seed=3, always=True)
    assert found["named"] and re.search(r"shard \d \(chunk \d\) was answered wrongly twice", found["error"]), found
    # The control: the same workers fit it when they are honest.
    assert faults.lying_worker(client, NAMES[0], seed=3)["same"]


@pytest.mark.parametrize(("what", "words"), [("scheduler", "the scheduler is gone"), ("worker", "no worker has been there")])
def test_a_lost_cluster_is_told_and_another_one_goes_on_to_the_same_bits(what, words):
    found = faults.lost(what, NAMES[1], seed=5)
    assert words in found["error"] and "checkpoint" in found["error"], found
    assert found["kept"] and found["same"] and found["left"] == [], found


def test_a_lost_driver_leaves_a_checkpoint_that_leads_to_the_same_bits(client):
    found = faults.lost_driver(client, NAMES[1], seed=6)
    assert found["same"], found


def test_a_fit_that_is_broken_off_goes_on_elsewhere(client, tmp_path):
    make, far, expected, rounds = faults.problem(NAMES[1], seed=8)

    def stop():
        raise KeyboardInterrupt

    for number in (1, rounds // 2, rounds - 1):
        path = tmp_path / f"{number}.checkpoint"
        with pytest.raises(KeyboardInterrupt), faults.in_round(number, stop):
            make(client=client, checkpoint=path).fit(*far)
        # Without a cluster, to the same bits; and never on other rows.
        from maxmargin import InputError

        with pytest.raises(InputError, match="not those of the checkpoint"):
            fit_here(make(checkpoint=path), far[0] + 1.0, *far[1:])
        assert faults.bits_of(fit_here(make(checkpoint=path), *far)) == expected
        assert not os.path.exists(path)
