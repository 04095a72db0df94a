"""The store through s3fs itself, against a small S3 on loopback."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import fsspec
import numpy as np
import pytest
import xarray as xr
from small_s3 import Bucket, serving

from pipeline.errors import InputError, StoreError
from pipeline.store import arrays, manifest
from pipeline.store.blobs import Store, open_input

SETTINGS = {
    "AWS_ACCESS_KEY_ID": "key",
    "AWS_SECRET_ACCESS_KEY": "secret",
    "AWS_DEFAULT_REGION": "us-east-1",
    "AWS_EC2_METADATA_DISABLED": "true",
    "AWS_REQUEST_CHECKSUM_CALCULATION": "when_required",
    "AWS_RESPONSE_CHECKSUM_VALIDATION": "when_required",
    "AWS_MAX_ATTEMPTS": "1",
}


@pytest.fixture(scope="module")
def server():
    with serving() as bucket:
        yield bucket


@pytest.fixture
def bucket(server: Bucket, monkeypatch: pytest.MonkeyPatch):
    for name, value in SETTINGS.items():
        monkeypatch.setenv(name, value)
    monkeypatch.setitem(fsspec.config.conf, "s3", {"endpoint_url": server.endpoint})
    server.objects.clear()
    server.conflict, server.refuse_all = (412, "PreconditionFailed"), False
    return server


@pytest.fixture
def store(bucket):
    return Store("s3://kept/a/store")


def test_objects_are_kept_under_the_prefix(store, bucket):
    store.put("partials/ab/abcd", b"data")
    assert bucket.objects == {"a/store/partials/ab/abcd": b"data"}
    assert store.get("partials/ab/abcd") == b"data"
    assert store.listing() == store.listing("partials/ab") == {"partials/ab/abcd": 4}
    assert store.exists("partials/ab/abcd")
    assert not store.exists("partials/ab")
    store.remove("partials/ab/abcd")
    assert store.listing() == {}


@pytest.mark.parametrize("answer", [(412, "PreconditionFailed"), (409, "ConditionalRequestConflict")])
def test_exclusive_creation_is_lost_by_either_answer_of_s3(store, bucket, answer):
    bucket.conflict = answer
    assert store.create("refs/e/1", b"first")
    assert not store.create("refs/e/1", b"second")
    assert store.get("refs/e/1") == b"first"


def test_a_refused_write_is_an_error_and_not_a_lost_race(store, bucket):
    bucket.refuse_all = True
    with pytest.raises(StoreError, match="cannot create"):
        store.create("refs/e/1", b"data")
    with pytest.raises(StoreError, match="cannot look up"):
        store.exists("refs/e/1")


def test_what_another_process_wrote_is_listed(store, bucket):
    assert store.listing("refs") == {}
    bucket.objects["a/store/refs/e/00000001.json"] = b"{}"
    assert store.listing("refs") == {"refs/e/00000001.json": 2}


def test_racing_commits_get_different_numbers(store):
    with ThreadPoolExecutor(8) as pool:
        numbers = list(pool.map(lambda i: manifest.commit(store, "sws2013", {"i": i}), range(8)))
    assert sorted(numbers) == list(range(1, 9))


def test_arrays_round_trip_and_a_lost_chunk_is_an_error(store, bucket):
    dataset = xr.Dataset({"score": ("trial", np.arange(70_000.0))})
    arrays.write_groups(store, "trials/x.zarr", {"": dataset})
    assert arrays.open_group(store, "trials/x.zarr").load().identical(dataset)
    del bucket.objects["a/store/trials/x.zarr/score/c/0"]
    with pytest.raises(StoreError, match="score/c/0 is lost"):
        arrays.open_group(store, "trials/x.zarr")


def test_inputs_are_read_from_s3(bucket):
    bucket.objects["keys/a.rttm"] = b"LEXEME"
    with open_input("s3://kept/keys/a.rttm") as stream:
        assert stream.read() == b"LEXEME"
    with pytest.raises(InputError, match=r"s3://kept/keys/b\.rttm: there is no such file"):
        open_input("s3://kept/keys/b.rttm")
