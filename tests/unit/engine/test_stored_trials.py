"""Trials read from the store: once each, and from the output again where they turn out damaged."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import tiny

from pipeline.engine import references, trialstore
from pipeline.engine.plan import plan
from pipeline.store.blobs import Store
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


def scores(rows: trialstore.Rows, buckets: range) -> list[list[float]]:
    return [rows.tile(bucket).score.tolist() for bucket in buckets]  # type: ignore[attr-defined]


def test_batches_of_a_cell_read_what_they_share_once(
    store: Store, place: tuple[Any, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    counted: Counter[str] = Counter()
    get = Store.get

    def counting(self: Store, path: str) -> bytes:
        counted[path] += 1
        return get(self, path)

    monkeypatch.setattr(Store, "get", counting)
    info, _ = trialstore.ensure(*place)
    before = counted.copy()
    for first in range(0, N_BUCKETS, 16):
        rows = trialstore.Rows(*place, first, first + 16)
        assert rows.head.offsets.size == N_BUCKETS + 1  # type: ignore[attr-defined]
        scores(rows, range(first, first + 16))
    counted -= before
    again = {path: n for path, n in counted.items() if n > 1}
    assert all(path == f"{info.path}.json" for path in again)
    assert counted[f"{info.path}/score/c/0"] == 1
    assert counted[f"{info.path}/query_id/c/0"] == 0


@pytest.mark.parametrize("what", ["score/c/0", "row/c/0", ".json"])
@pytest.mark.parametrize("is_lost", [False, True])
def test_what_is_damaged_after_it_was_looked_through_is_mended(
    store: Store, place: tuple[Any, ...], what: str, is_lost: bool
) -> None:
    info, _ = trialstore.ensure(*place)
    wanted = scores(trialstore.Rows(*place, 0, N_BUCKETS), BUCKETS)
    assert wanted[bucket_of("beta")] == [1.5, 1.0]
    path = f"{info.path}{what}" if what == ".json" else f"{info.path}/{what}"
    whole = store.get(path)
    if is_lost:
        store.remove(path)
    else:
        store.put(path, whole[:-1] + bytes([whole[-1] ^ 1]))
    rows = trialstore.Rows(*place, 0, N_BUCKETS)
    assert scores(rows, BUCKETS) == wanted
    assert list(rows.work.damaged) == [info.path]
    assert store.get(path) == whole


@pytest.mark.parametrize("name", ["query_id", "block_present", "recording_begin"])
def test_damaged_names_are_found_by_whoever_looks_the_trials_up(
    store: Store, place: tuple[Any, ...], name: str
) -> None:
    info, _ = trialstore.ensure(*place)
    path = f"{info.path}/{name}/c/0"
    whole = store.get(path)
    store.put(path, bytes(len(whole)))
    _, work = trialstore.ensure(*place)
    assert list(work.damaged) == [info.path]
    assert store.get(path) == whole
    assert np.array_equal(trialstore.load(*place, 0, N_BUCKETS).offsets, info.offsets)
