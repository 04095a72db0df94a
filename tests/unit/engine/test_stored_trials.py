"""Trials read from the store: once each, and from the output again where they turn out damaged."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import tiny

from pipeline.engine.plan import plan
from pipeline.engine.stored import references, trialstore
from pipeline.store.blobs import Store
from pipeline.store.zips import Zip
from pipeline.trials.schema import N_BUCKETS
from pipeline.trials.tiles import bucket_of

BUCKETS = range(N_BUCKETS)


@pytest.fixture
def store(tmp_path: Path) -> Store:
    return Store(str(tmp_path / "store"))


@pytest.fixture
def place(tmp_path: Path, store: Store) -> tuple[Any, ...]:
    """What functions of ``trialstore`` begin with, the trials being stored."""
    planned = plan(tiny.write(tmp_path / "e"), store)
    job, protocol = planned.jobs[0], planned.protocol
    reference = references.load(store, protocol.family.kind, job.reference)
    found = store, protocol, job.inputs, reference.timeline
    trialstore.ensure(*found)
    return found


def scores(place: tuple[Any, ...], buckets: range) -> list[list[float]]:
    rows, _ = trialstore.sound(*place, buckets.start, buckets.stop)
    return [rows.tiles(bucket, bucket + 1).score.tolist() for bucket in buckets]  # type: ignore[attr-defined]


def test_batches_of_a_cell_read_what_they_share_once(
    store: Store, place: tuple[Any, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    counted: Counter[str] = Counter()
    get = Store.get_tail

    def counting(self: Store, path: str, n_bytes: int) -> bytes:
        counted[path] += 1
        return get(self, path, n_bytes)

    monkeypatch.setattr(Store, "get_tail", counting)
    info, _ = trialstore.ensure(*place)
    for first in range(0, N_BUCKETS, 16):
        scores(place, range(first, first + 16))
    assert counted == {info.path: 1}


@pytest.mark.parametrize("what", ["score/c/0", "line/c/0", "query/c/0", "block_present/c/0", "zarr.json"])
@pytest.mark.parametrize("is_lost", [False, True])
def test_what_is_damaged_is_mended(store: Store, place: tuple[Any, ...], what: str, *, is_lost: bool) -> None:
    info, _ = trialstore.ensure(*place)
    wanted = scores(place, BUCKETS)
    assert wanted[bucket_of("beta")] == [1.5, 1.0]
    whole, entry = store.get(info.path), Zip(store, info.path).directory[what]
    if is_lost:
        store.remove(info.path)
    else:
        store.put(info.path, whole[: entry.begin] + bytes(entry.n_bytes) + whole[entry.begin + entry.n_bytes :])
    _, work = trialstore.ensure(*place)
    assert scores(place, BUCKETS) == wanted
    assert list(work.damaged) == ([] if is_lost else [info.path])
    assert store.get(info.path) == whole
    assert np.array_equal(trialstore.load(*place, 0, N_BUCKETS).offsets, info.offsets)
