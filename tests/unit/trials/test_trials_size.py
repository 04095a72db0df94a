"""How much a stored trial takes: plain doubles, compressed as Zarr compresses."""

from __future__ import annotations

import numpy as np
import pytest

from pipeline.store.arrays import group_of
from pipeline.store.groups import encode
from pipeline.trials.dataset import to_dataset
from pipeline.trials.schema import Timeline, Trials
from pipeline.trials.tiles import offsets_of
from tests.unit.align import align_tiles as made

N_QUERIES, N_FILES, PER_QUERY = 400, 60, 500


def trials_of(score: np.ndarray) -> Trials:
    """Two hundred thousand detections whose times are in hundredths of a second."""
    rng, n = np.random.default_rng(2), N_QUERIES * PER_QUERY
    query = np.repeat(np.arange(N_QUERIES, dtype=np.int32), PER_QUERY)
    file, begin = rng.integers(0, N_FILES, n).astype(np.int32), rng.integers(0, 60_000, n)
    order = np.lexsort((begin, file, query))
    file, begin_s = file[order], begin[order] / 100
    return Trials(
        queries=tuple(f"KW-{q:04d}" for q in range(N_QUERIES)),
        files=tuple(f"FILE_{f:03d}" for f in range(N_FILES)),
        channels=("1",),
        query=query,
        file=file,
        channel=np.zeros(n, np.int32),
        begin_s=begin_s,
        dur_s=rng.integers(20, 80, n) / 100,
        time_s=file * 600.0 + begin_s,
        score=score,
        decision=score > 0.5,
        row=np.argsort(order) + 3,
        offsets=offsets_of(query * 64 // N_QUERIES),
        score_range=(0.0, 1.0),
    )


@pytest.mark.parametrize(("digits", "most_bytes"), [(6, 16.0), (17, 26.0)])
def test_bytes_of_a_trial(digits: int, most_bytes: float) -> None:
    score = np.random.default_rng(1).beta(1, 6, N_QUERIES * PER_QUERY)
    trials = trials_of(np.round(score, digits) if digits < 17 else score)
    files = tuple(f"FILE_{f:03d}" for f in range(N_FILES))
    timeline = Timeline(files, np.arange(N_FILES + 1) * 600.0, made.excerpts(("FILE_000", "1", 0.0, 600.0)), 36_000.0)
    data = encode({"": group_of(to_dataset(trials, timeline, {"title": "trials"}))})
    assert len(data) / len(trials) <= most_bytes
