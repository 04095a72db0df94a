"""Tiles: buckets of queries by a hash of their names, so that adding or withdrawing one query moves nothing else."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable

import numpy as np

from pipeline.errors import UsageError
from pipeline.formats.table import canonical_codes
from pipeline.store.address import digest_columns
from pipeline.trials.blocks import query_of
from pipeline.trials.schema import N_BUCKETS, Ints, Occurrences, Trials

_TRIAL_NUMBERS = ("begin_s", "dur_s", "score", "decision")
_OCCURRENCE_NUMBERS = ("begin_s", "end_s", "last_begin_s", "first_end_s")


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


def tile_digest(tile: Trials | Occurrences) -> str:
    """Hex digest of a tile's rows by what they say: names and numbers.

    Codes, source lines and the place on the dataset's timeline take no part, so other queries, other files and the
    order of the input change nothing. Score ranges stand beside the digest in an address, where they are read.
    """
    numbers = _TRIAL_NUMBERS if isinstance(tile, Trials) else _OCCURRENCE_NUMBERS
    queries, query = canonical_codes(tile.queries, tile.query)
    files, file = canonical_codes(tile.files, tile.file)
    channels, channel = canonical_codes(tile.channels, tile.channel)
    return digest_columns(
        {
            "queries": queries,
            "files": files,
            "channels": channels,
            "query": query,
            "file": file,
            "channel": channel,
            **{name: getattr(tile, name) for name in numbers},
            **({"score_order": ranks} if (ranks := getattr(tile, "score_order", None)) is not None else {}),
        }
    )
