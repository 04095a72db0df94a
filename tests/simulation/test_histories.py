"""Histories of a store whose requests fail in every way, and proof that a broken product is found out."""

from __future__ import annotations

import os

import pytest

from tests.simulation.broken import VARIANTS, broken
from tests.simulation.history import play
from tests.simulation.shrink import shrunk
from tests.simulation.spec import drawn

N_HISTORIES = int(os.environ.get("RESCORE_HISTORIES", "300"))
N_BROKEN = 1000
PER_TEST = 50


@pytest.mark.timeout(1800)
@pytest.mark.parametrize("first", range(0, N_HISTORIES, PER_TEST))
def test_no_history_ends_badly(first: int) -> None:
    bad = {}
    for seed in range(first, min(first + PER_TEST, N_HISTORIES)):
        played = play(seed)
        if played.bad is not None:
            bad[seed] = str(played.bad)
    assert not bad, f"replay with: python -m tests.simulation --seed {min(bad)}"


@pytest.mark.timeout(1800)
@pytest.mark.parametrize("name", sorted(VARIANTS))
def test_a_broken_product_is_found_out(name: str) -> None:
    with broken(name):
        assert any(play(seed).bad is not None for seed in range(N_BROKEN))


def test_a_seed_is_played_again_to_the_same_request() -> None:
    first, second = play(7), play(7)
    assert (first.n_requests, first.n_steps, first.elapsed_s) == (second.n_requests, second.n_steps, second.elapsed_s)
    assert first.faults == second.faults
    assert drawn(7) == drawn(7)


def test_a_bad_end_is_made_smaller() -> None:
    with broken("commit-before-data"):
        played = next(one for one in map(play, range(N_BROKEN)) if one.bad is not None)
        smallest = shrunk(played)
        assert smallest.bad is not None
        assert len(smallest.spec.events) <= 1
        assert not smallest.faults
