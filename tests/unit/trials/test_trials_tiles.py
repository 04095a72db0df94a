from __future__ import annotations

import numpy as np
import pytest

from pipeline.errors import UsageError
from pipeline.trials.schema import N_BUCKETS
from pipeline.trials.tiles import batches, bucket_of


def test_buckets_are_the_same_on_every_machine() -> None:
    # printf NAME | b2sum -l 64, read as one hexadecimal number, modulo 64
    names = ("KW101-00001", "quesst2015_dev_0317", "", "香港")
    assert [bucket_of(name) for name in names] == [43, 12, 52, 55]


def test_buckets_are_evenly_filled() -> None:
    counts = np.bincount([bucket_of(f"Q{i}") for i in range(6400)], minlength=N_BUCKETS)
    assert counts.min() > 60
    assert counts.max() < 145


def test_batches_fill_up_to_the_limit() -> None:
    trial_offsets = np.array([0, 4, 4, 10, 11, 11])
    occurrence_offsets = np.array([0, 1, 2, 2, 2, 2])
    assert batches(trial_offsets, occurrence_offsets, 6) == [(0, 2), (2, 3), (3, 5)]
    assert batches(trial_offsets, occurrence_offsets, 100) == [(0, 5)]


def test_a_bucket_above_the_limit_stands_alone() -> None:
    offsets = np.array([0, 1, 50, 51])
    assert batches(offsets, np.zeros(4, np.int64), 10) == [(0, 1), (1, 2), (2, 3)]


def test_nothing_to_do_is_one_batch() -> None:
    none = np.zeros(N_BUCKETS + 1, np.int64)
    assert batches(none, none, 10) == [(0, N_BUCKETS)]


def test_a_task_needs_a_row() -> None:
    with pytest.raises(UsageError, match="rows_per_task is 0"):
        batches(np.array([0, 1]), np.array([0, 0]), 0)
