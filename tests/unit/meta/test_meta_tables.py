"""Ranks over replicates, hard units, moves between two boards, paired intervals: against brute force and by hand."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from pipeline.meta.difficulty import difficulty
from pipeline.meta.intervals import Resampling, board_of
from pipeline.meta.ranks import moved, rank_spread
from pipeline.meta.rows import Row
from pipeline.metrics.statistics.resampling import Ratios
from pipeline.metrics.stt.significance import holm


def of_means(values: list[float]) -> Ratios:
    names = tuple(f"u{at}" for at in range(len(values)))
    return Ratios(names, 0.0, np.ones(1), np.array([values]), np.ones((1, len(values))))


@given(
    st.lists(st.lists(st.integers(0, 3), min_size=3, max_size=3), min_size=1, max_size=12),
    st.sampled_from(["higher", "lower"]),
)
def test_spread_of_ranks_is_that_of_ranking_every_replicate(replicates, better):
    table = np.array(replicates, float)
    found = rank_spread({str(at): table[:, at] for at in range(3)}, better, 0.8)
    signed = table if better == "lower" else -table
    ranks = np.array([stats.rankdata(row, method="min") for row in signed])
    for at in range(3):
        own = sorted(ranks[:, at])
        low, high = (own[max(0, math.ceil(share * len(own) - 1e-9) - 1)] for share in (0.1, 0.9))
        assert found[str(at)] == (low, high, pytest.approx((ranks[:, at] == 1).mean()))


def test_replicates_without_a_figure_are_left_out_of_ranks():
    found = rank_spread({"a": np.array([1.0, np.nan, 0.0]), "b": np.array([0.0, 9.0, np.nan])}, "higher", 0.9)
    assert found == {"a": (1.0, 1.0, 1.0), "b": (2.0, 2.0, 0.0)}
    assert rank_spread({}, "higher", 0.9) == rank_spread({"a": np.array([np.nan])}, "higher", 0.9) == {}


def test_hard_units_come_first_with_their_texts():
    samples = {"a": of_means([0.9, 0.1, 0.5]), "b": of_means([0.7, 0.3, 0.6])}
    texts = {"u0": "long one here", "u1": "short", "u2": "two words"}
    found = difficulty(samples, texts, {"u0": 3.0, "u1": 9.0, "u2": 5.0}, "higher")
    assert found is not None
    assert [row["unit"] for row in found.units] == ["u1", "u2", "u0"]
    hardest = found.units[0]
    assert (hardest["mean"], hardest["low"], hardest["high"]) == pytest.approx((0.2, 0.1, 0.3))
    assert (hardest["n_words"], hardest["n_characters"], hardest["n_target"]) == (1.0, 5.0, 9.0)
    assert (found.with_length, found.with_targets) == pytest.approx((1.0, -1.0))
    by_error = difficulty(samples, texts, {}, "lower")
    assert by_error is not None
    assert [row["unit"] for row in by_error.units] == ["u0", "u2", "u1"]
    assert math.isnan(by_error.with_targets)


def test_moves_are_told_among_the_systems_of_both_boards_with_ties():
    def board(**values: float) -> list[Row]:
        return [Row("e", system=name, measure="atwv", better="higher", value=value) for name, value in values.items()]

    found = moved(board(a=0.5, b=0.4, c=0.4, gone=0.9), board(a=0.3, b=0.6, c=0.1, new=1.0))
    assert [(row["system"], row["rank_before"], row["rank_after"]) for row in found] == [
        ("b", 2.0, 1.0), ("a", 1.0, 2.0), ("c", 2.0, 3.0),
    ]  # fmt: skip
    assert found[0]["difference"] == pytest.approx(0.2)


@given(st.lists(st.floats(0.0, 1.0), min_size=1, max_size=8))
def test_holm_is_the_step_down_of_bonferroni(p):
    adjusted = holm(p)
    for alpha in (0.01, 0.05, 0.3, 0.9):
        rejected, left = set(), sorted(range(len(p)), key=lambda at: p[at])
        while left and p[left[0]] * len(left) <= alpha:
            rejected.add(left.pop(0))
        assert {at for at, value in enumerate(adjusted) if value <= alpha} == rejected


def test_an_interval_of_a_difference_is_scipys_of_the_paired_differences():
    random = np.random.default_rng(4)
    one = random.normal(0.5, 0.2, 40)
    other = one - random.normal(0.1, 0.1, 40)
    board = board_of(("q", "d"), "atwv", {"a": of_means(list(one)), "b": of_means(list(other))}, Resampling(4000))
    (pair,) = board.comparisons
    found = stats.bootstrap((one - other,), np.mean, n_resamples=9999, method="percentile", rng=3).confidence_interval
    assert (pair.low, pair.high) == pytest.approx((found.low, found.high), abs=0.004)
    assert pair.difference == pytest.approx((one - other).mean())
