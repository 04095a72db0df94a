"""Trials laid out tile by tile."""

from __future__ import annotations

import numpy as np
import pytest
from trial_inputs import ecf, output

from pipeline.trials import layout
from pipeline.trials.schema import N_BUCKETS, ROWS, Trials
from pipeline.trials.tiles import bucket_of

TIMELINE = layout.timeline(ecf("b.sph 1 10 20", "a.sph 1 0 100.5", "a.sph 2 0 100"), files="kwseval")


def crowded(seed: int) -> layout.Layout:
    """Many detections of few values, so that rows agree in any of their columns."""
    random = np.random.default_rng(seed)
    blocks = {
        f"K{query}": [
            f"{random.choice(['a', 'b', 'c'])} {random.choice(['1', '2'])} {random.choice(['-0', '0', '1.5', '2'])} "
            f"{random.choice(['0', '1'])} {random.choice(['-0', '0', '0.25', '1e-300', 'inf'])} "
            f"{random.choice(['YES', 'NO'])}"
            for _ in range(random.integers(0, 12))
        ]
        for query in random.permutation(40).tolist()
    }
    return layout.Layout.of(output(blocks), TIMELINE, files="kwseval")


def contents(trials: Trials) -> list[tuple[object, ...]]:
    names = (trials.queries, trials.files, trials.channels)
    coded = zip(names, (trials.query, trials.file, trials.channel), strict=True)
    texts = [[known[code] for code in codes.tolist()] for known, codes in coded]
    numbers = (trials.begin_s, trials.dur_s, trials.score, ~trials.decision, trials.row)
    return list(zip(*texts, *(column.tolist() for column in numbers), strict=True))


@pytest.mark.parametrize("seed", range(8))
def test_all_rows_stand_in_the_order_of_what_they_say(seed: int) -> None:
    rows = contents(crowded(seed).whole())

    def said(row: tuple[object, ...]) -> tuple[object, ...]:
        negative_zeros = [value == 0.0 and bool(np.signbit(value)) for value in row[3:6]]
        return (bucket_of(str(row[0])), *row[:-1], *negative_zeros, row[-1])

    assert rows == sorted(rows, key=said)


@pytest.mark.parametrize("seed", range(8))
def test_a_tile_is_that_part_of_the_whole(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(layout, "_ROWS_AT_ONCE", 20)  # the whole is sorted in many pieces
    laid = crowded(seed)
    whole = laid.whole()
    for first in range(0, N_BUCKETS, 5):
        tile, part = laid.tiles(first, first + 3), whole.tiles(first, first + 3)
        for name in (*ROWS, "offsets"):
            assert np.array_equal(getattr(tile, name), getattr(part, name), equal_nan=name == "time_s"), name
        assert (tile.queries, tile.files, tile.channels) == (part.queries, part.files, part.channels)
        assert (tile.score_range, tile.blocks) == (part.score_range, part.blocks)


def test_nothing_was_submitted() -> None:
    laid = layout.Layout.of(output({"K1": []}), TIMELINE, files="kwseval")
    assert (len(laid), len(laid.whole()), len(laid.tiles(0, N_BUCKETS))) == (0, 0, 0)
    assert laid.whole().queries == ("K1",)
