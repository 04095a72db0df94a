"""Tiles: buckets of queries by a hash of their names, so that adding or withdrawing one query moves nothing else."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable

import numpy as np

from pipeline.arrays import Ints
from pipeline.errors import UsageError
from pipeline.trials.blocks import query_of
from pipeline.trials.schema import N_BUCKETS


def bucket_of(query_id: str) -> int:
    """The bucket of a query, in [0, N_BUCKETS): the same on every machine, and whatever other queries there are.

    A later block of a query lies where its query does.
    """
    digest = hashlib.blake2b(query_of(query_id).encode(), digest_size=8).digest()
    return int.from_bytes(digest, "big") % N_BUCKETS


def buckets_of(queries: Iterable[str]) -> Ints:
    """The bucket of every query, int64."""
    return np.array([bucket_of(query) for query in queries], np.int64)


def ranks_of(queries: tuple[str, ...]) -> Ints:
    """For each of the sorted ``queries`` its position in the order of tiles, (bucket, name), int64."""
    order = np.argsort(buckets_of(queries), kind="stable")
    ranks = np.empty(order.size, np.int64)
    ranks[order] = np.arange(order.size)
    return ranks


def offsets_of(buckets: Ints) -> Ints:
    """Row where each bucket begins among rows sorted by bucket, with the total at the end: length N_BUCKETS + 1."""
    return np.searchsorted(buckets, np.arange(N_BUCKETS + 1)).astype(np.int64)


def batch_name(first: int, last: int) -> str:
    """The name of buckets ``first`` up to ``last`` (exclusive) where they are an object of their own."""
    return f"{first:02d}-{last - 1:02d}"


def ends_of(name: str) -> tuple[int, int]:
    """The buckets that ``batch_name`` names."""
    first, last = map(int, name.split("-"))
    return first, last + 1


def batches(trial_offsets: Ints, occurrence_offsets: Ints, rows_per_task: int) -> list[tuple[int, int]]:
    """Ranges (first, last exclusive) of neighbouring buckets that cover all buckets in order.

    Each holds at most ``rows_per_task`` trials and occurrences together, except a single bucket that is larger.
    """
    if rows_per_task < 1:
        raise UsageError(f"a task needs at least one row (rows_per_task is {rows_per_task}). Give a positive number.")
    rows = trial_offsets + occurrence_offsets
    n_buckets = rows.size - 1
    ranges, first = [], 0
    while first < n_buckets:
        fitting = int(np.searchsorted(rows, rows[first] + rows_per_task, side="right")) - 1
        last = min(max(fitting, first + 1), n_buckets)
        ranges.append((first, last))
        first = last
    return ranges
