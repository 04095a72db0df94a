"""What is asked of a bucket to open groups and read rows of them, counted on a real server."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import numpy as np
import pytest
import xarray as xr

import pipeline
from flows.steps import finish, score_here
from pipeline.config import load_evaluation
from pipeline.engine.plan import plan
from pipeline.engine.stored import trialstore
from pipeline.grid.keyed import keyed
from pipeline.store import arrays, batched
from pipeline.store.blobs import Store
from pipeline.terms import Cell
from pipeline.trials.ragged import runs_of
from pipeline.trials.tiles import buckets_of, offsets_of
from tests.s3_faults import FaultProxy
from tests.s3_server import S3Server
from tests.unit.engine import grid_of_cells as cells

PATH, N_QUERIES, N_ROWS = "trials/x.zarr.zip", 60, 300_000


@pytest.fixture
def store(s3: S3Server, s3_spoiled: FaultProxy) -> Store:
    """A folder of a bucket that is asked through a proxy, which spoils nothing and counts."""
    return Store(f"s3://{s3.bucket()}/store")


@contextmanager
def asked(proxy: FaultProxy, at_most: int) -> Iterator[None]:
    """At most so many requests are made meanwhile, each of them for bytes."""
    before = len(proxy.seen)
    yield
    found = proxy.seen[before:]
    assert {method for method, _ in found} <= {"GET"}
    assert 0 < len(found) <= at_most, found


def many() -> xr.Dataset:
    """Trials of sixty queries, five thousand each, with scores of many digits."""
    rng = np.random.default_rng(3)
    names = np.array([f"q{n:02d}" for n in range(N_QUERIES)], np.dtypes.StringDType())
    buckets = buckets_of(names.tolist())
    query = np.repeat(np.lexsort((np.arange(N_QUERIES), buckets)), N_ROWS // N_QUERIES).astype(np.int32)
    time_s = np.sort(rng.random((N_QUERIES, N_ROWS // N_QUERIES)) * 3600.0, axis=1).reshape(-1)
    rows = {"score": rng.normal(size=N_ROWS), "begin": time_s, "line": np.arange(N_ROWS)}
    data = {name: ("trial", values) for name, values in rows.items()}
    data |= {name: ("query", runs) for name, runs in runs_of(query, N_QUERIES).items()}
    data["bucket_offset"] = ("bucket_edge", offsets_of(buckets[query]))
    return xr.Dataset(data, {"query": ("query", names), "time": ("trial", time_s)})


def test_one_query_of_many_trials_is_one_request_beside_the_one_that_opens(
    store: Store, s3_spoiled: FaultProxy, monkeypatch: pytest.MonkeyPatch
) -> None:
    whole = many()
    monkeypatch.setattr(trialstore, "ROWS_PER_BATCH", 100_000)
    trialstore._put(store, PATH, whole)
    assert min(n_bytes for path, n_bytes in store.listing("trials").items() if path != PATH) > 1 << 20
    with asked(s3_spoiled, at_most=1):
        opened = batched.opened(store, PATH)
        trials = keyed(opened.dataset, "query", (opened.fetch,))
    first, n_rows = (int(whole[name].sel(query="q07")) for name in ("first_row", "n_rows"))
    wanted = whole.isel(trial=slice(first, first + n_rows))
    with asked(s3_spoiled, at_most=1):
        found = trials.sel(query="q07")[["score", "begin", "line", "time"]].load()
    assert all(np.array_equal(found[name], wanted[name]) for name in found.variables if name != "query")
    with asked(s3_spoiled, at_most=1):
        found = trials.sel(query="q33", time=slice(600, 660))[["score"]].load()
    assert found["time"].values.min() >= 600
    assert found["time"].values.max() <= 660
    bucket = slice(*whole["bucket_offset"].values[[11, 12]].tolist())
    with asked(s3_spoiled, at_most=1):
        opened.fetch(bucket.start, bucket.stop)
        assert np.array_equal(opened.dataset["score"][bucket].values, whole["score"].values[bucket])


def test_an_index_of_many_names_is_two_requests(
    store: Store, s3_spoiled: FaultProxy, monkeypatch: pytest.MonkeyPatch
) -> None:
    whole, names = many(), np.random.default_rng(1).bytes(900_000).hex()
    texts = np.array([names[at : at + 30_000] for at in range(0, N_QUERIES * 30_000, 30_000)], np.dtypes.StringDType())
    monkeypatch.setattr(trialstore, "ROWS_PER_BATCH", 100_000)
    trialstore._put(store, PATH, whole.assign(text=("query", texts)))
    assert store.listing("trials")[PATH] > 800_000
    with asked(s3_spoiled, at_most=2):
        opened = batched.opened(store, PATH)
        assert opened.dataset["text"].values.tolist() == texts.tolist()
    with asked(s3_spoiled, at_most=1):
        opened.fetch(70_000, 80_000)
        assert np.array_equal(opened.dataset["score"][70_000:80_000], whole["score"][70_000:80_000])


def test_a_small_group_is_one_request(store: Store, s3_spoiled: FaultProxy) -> None:
    small = many().isel(trial=slice(0, 2000))
    arrays.write_groups(store, PATH, {"": small})
    with asked(s3_spoiled, at_most=1):
        assert batched.opened(store, PATH).dataset.load().identical(small)


def test_trials_with_their_labels_are_a_request_each(
    store: Store, s3_spoiled: FaultProxy, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(trialstore, "ROWS_PER_BATCH", 3)
    planned = plan(load_evaluation(str(cells.write(tmp_path))), store)
    run, cell = finish(store, planned, score_here(store, planned, planned.jobs)), Cell("p", "d", "good")
    trials = pipeline.open_trials(store, run, cell)
    with asked(s3_spoiled, at_most=2):
        found = trials.sel(query="alpha", time=slice(0, 60))[["score", "outcome", "target"]].load()
    assert found["time"].values.tolist() == [1.1, 10.1]
    assert found["target"].values[0] == -1
    assert found["target"].values[1] >= 0
