"""Columns: what xarray and Zarr read of the same arrays, each object being fetched and checked once."""

from __future__ import annotations

import json
import pickle
from collections import Counter
from itertools import pairwise
from pathlib import Path
from uuid import uuid4

import numpy as np
import pytest
import xarray as xr

from pipeline.errors import DamageError, StoreError
from pipeline.store import arrays
from pipeline.store.blobs import Store
from pipeline.store.chunks import Layout
from pipeline.store.columns import load_all
from pipeline.store.record import write_record

PATH = "trials/x.zarr"
MANY = arrays.CHUNK * (arrays.SHARD_CHUNKS + 1) + 7
"""Two shards."""


@pytest.fixture
def store(tmp_path: Path) -> Store:
    return Store(str(tmp_path))


@pytest.fixture
def reads(monkeypatch: pytest.MonkeyPatch) -> Counter[str]:
    """How often each object was read."""
    counted: Counter[str] = Counter()
    get = Store.get

    def counting(self: Store, path: str) -> bytes:
        counted[path.removeprefix(f"{PATH}/")] += 1
        return get(self, path)

    monkeypatch.setattr(Store, "get", counting)
    return counted


def dataset(n: int) -> xr.Dataset:
    random = np.random.default_rng(n)
    names = np.array([f"é{k}" for k in range(n)], np.dtypes.StringDType())
    return xr.Dataset(
        {
            "score": ("trial", random.normal(size=n)),
            "narrow": ("trial", random.integers(0, 60_000, n).astype(np.uint16), {"decimals": 2}),
            "byte": ("trial", random.integers(0, 200, n).astype(np.uint8)),
            "wide": ("trial", random.integers(-(2**40), 2**40, n)),
            "decision": ("trial", random.random(n) < 0.5),
            "name": ("trial", names),
            "by_class": (("trial", "class"), random.normal(size=(n, 3))),
            "end": ((), 3600.5),
            "title": ((), "é"),
        },
        {"class": ("class", ["a", "b", ""])},
        {"source": "output", "n": 3},
    )


@pytest.fixture(scope="module")
def large(tmp_path_factory: pytest.TempPathFactory) -> Store:
    """A store with 150,000 trials: three chunks of one shard."""
    store = Store(str(tmp_path_factory.mktemp("large")))
    arrays.write_groups(store, PATH, {"": dataset(150_000)})
    return store


@pytest.mark.parametrize(("n", "often_read"), [(0, True), (1, True), (70_000, True), (70_000, False)])
def test_columns_are_what_xarray_reads(store: Store, n: int, often_read: bool) -> None:
    arrays.write_groups(store, PATH, {"": dataset(n)}, often_read=often_read)
    found, wanted = arrays.open_columns(store, PATH), arrays.open_group(store, PATH).load()
    assert found.attrs == wanted.attrs
    assert found.variables.keys() == wanted.variables.keys()
    for name, column in found.variables.items():
        values, variable = column.to_numpy(), wanted.variables[name]
        assert (values.dtype, column.dims) == (variable.dtype, variable.dims), name
        assert np.array_equal(values, variable.to_numpy()), name
        assert variable.attrs.items() <= column.attrs.items()


@pytest.mark.parametrize(("begin", "end"), [(0, 0), (5, 9), (65_535, 65_537), (65_536, 131_072), (60_000, 150_000)])
@pytest.mark.parametrize("is_loaded", [False, True])
def test_a_slice_of_a_column_is_a_slice_of_its_values(large: Store, begin: int, end: int, is_loaded: bool) -> None:
    found = arrays.open_columns(large, PATH)
    for name, variable in dataset(150_000).variables.items():
        if "trial" not in variable.dims:
            continue
        column = found.variables[name][begin:end]
        if is_loaded:
            column.load()
        assert np.array_equal(column.to_numpy(), variable.to_numpy()[begin:end]), name
        assert np.array_equal(column[1:3].to_numpy(), variable.to_numpy()[begin:end][1:3]), name


def test_batches_that_follow_each_other_read_an_object_once(store: Store, reads: Counter[str]) -> None:
    values = np.arange(MANY, dtype=np.int32)
    arrays.write_groups(store, PATH, {"": xr.Dataset({"score": ("trial", values)})})
    cuts, parts = [0, 400_000, 800_000, 800_000, 1_100_000, MANY], []
    for begin, end in pairwise(cuts):
        column = arrays.open_columns(store, PATH).variables["score"][begin:end].load()
        parts += [column[at : at + 100_000].to_numpy() for at in range(0, end - begin, 100_000)]
    assert np.array_equal(np.concatenate(parts), values)
    assert (reads["score/c/0"], reads["score/c/1"], reads["zarr.json"]) == (1, 1, 1)


def test_what_was_loaded_needs_no_store_and_can_be_sent(store: Store) -> None:
    arrays.write_groups(store, PATH, {"": dataset(1000)})
    column = arrays.open_columns(store, PATH).variables["narrow"][10:500].load()
    for path in store.listing(PATH):
        store.remove(path)
    sent = pickle.loads(pickle.dumps(column))  # noqa: S301
    assert np.array_equal(sent[5:].to_numpy(), dataset(1000)["narrow"].to_numpy()[15:500])


def test_columns_far_away_are_read_side_by_side() -> None:
    store = Store(f"memory://{uuid4().hex}")
    arrays.write_groups(store, PATH, {"": dataset(1000)})
    columns = arrays.open_columns(store, PATH).variables
    load_all(columns.values())
    store.remove(f"{PATH}/score/c/0")
    assert np.array_equal(columns["score"].to_numpy(), dataset(1000)["score"].to_numpy())


@pytest.mark.parametrize("harm", [lambda data: data[:-1], lambda data: bytes([data[0] ^ 1]) + data[1:]])
def test_a_damaged_object_is_an_error_when_it_is_loaded(store: Store, harm) -> None:
    arrays.write_groups(store, PATH, {"": dataset(1000)})
    store.put(f"{PATH}/score/c/0", harm(store.get(f"{PATH}/score/c/0")))
    columns = arrays.open_columns(store, PATH).variables
    for read in (columns["score"].load, columns["score"][3:4].to_numpy):
        with pytest.raises(DamageError, match="score/c/0: the object is damaged"):
            read()
    assert columns["narrow"].to_numpy().size == 1000


def test_a_lost_object_and_a_lost_record_are_damage(store: Store) -> None:
    arrays.write_groups(store, PATH, {"": dataset(10)})
    columns = arrays.open_columns(store, PATH).variables
    store.remove(f"{PATH}/score/c/0")
    with pytest.raises(DamageError, match="score/c/0"):
        columns["score"].load()
    arrays.discard(store, PATH)
    with pytest.raises(DamageError, match="never finished"):
        arrays.open_columns(store, PATH)


def test_what_is_forgotten_is_checked_again(store: Store) -> None:
    arrays.write_groups(store, PATH, {"": dataset(10)})
    arrays.open_columns(store, PATH)
    store.put(f"{PATH}/zarr.json", b"{}")
    assert "score" in arrays.open_columns(store, PATH).variables  # was read and checked before
    arrays.forget_columns()
    with pytest.raises(DamageError, match="zarr.json: the object is damaged"):
        arrays.open_columns(store, PATH)


def test_other_trials_at_the_same_place_are_not_taken_for_the_former(store: Store) -> None:
    arrays.write_groups(store, PATH, {"": dataset(10)})
    arrays.open_columns(store, PATH).variables["score"].load()
    arrays.write_groups(store, PATH, {"": dataset(11)})
    assert arrays.open_columns(store, PATH).variables["score"].to_numpy().size == 11


def test_arrays_of_groups_below_are_not_the_roots(store: Store) -> None:
    arrays.write_groups(store, PATH, {"": dataset(10), "grid": dataset(5)})
    assert arrays.open_columns(store, PATH).variables["score"].to_numpy().size == 10


@pytest.mark.parametrize("codec", ["gzip", "transpose"])
def test_codings_that_are_not_ours_are_refused(store: Store, codec: str) -> None:
    arrays.write_groups(store, PATH, {"": dataset(10)})
    about = json.loads(store.get(f"{PATH}/score/zarr.json"))
    assert Layout(about).n_rows == 10
    for place in range(len(about["codecs"])):
        codecs = [{"name": codec} if at == place else own for at, own in enumerate(about["codecs"])]
        with pytest.raises(StoreError, match="cannot be read"):
            Layout({**about, "codecs": codecs})


def score_part(*place: str | int, to: object):
    """What puts something else in a place of the metadata of ``score``."""

    def change(root) -> None:
        about = root["consolidated_metadata"]["metadata"]["score"]
        for part in place[:-1]:
            about = about[part]
        about[place[-1]] = to

    return change


SHARD = ("codecs", 0, "configuration")
ODD = {
    "big endian": (score_part(*SHARD, "codecs", 0, "configuration", "endian", to="big"), StoreError),
    "index first": (score_part(*SHARD, "index_location", to="start"), StoreError),
    "uneven shards": (score_part(*SHARD, "chunk_shape", to=[40_000]), StoreError),
    "no chunk": (score_part(*SHARD, "chunk_shape", to=[0]), StoreError),
    "other keys": (score_part("chunk_key_encoding", to={"name": "v2"}), StoreError),
    "other grid": (score_part("chunk_grid", "name", to="rectangular"), StoreError),
    "other type": (score_part("data_type", to={"name": "x"}), StoreError),
    "no length": (score_part("shape", to=[-1]), StoreError),
    "large chunks": (score_part("chunk_grid", "configuration", "chunk_shape", to=[65_536 << 20]), StoreError),
    "far too long": (score_part("shape", to=[10**12]), DamageError),
    "no attributes": (lambda root: root.pop("attributes"), StoreError),
    "not consolidated": (lambda root: root.pop("consolidated_metadata"), StoreError),
}


@pytest.mark.parametrize(("change", "error"), ODD.values(), ids=ODD)
def test_metadata_that_are_not_ours_are_refused_though_recorded(store: Store, change, error) -> None:
    arrays.write_groups(store, PATH, {"": dataset(70_000)[["score"]]})
    objects = {path.removeprefix(f"{PATH}/"): store.get(path) for path in store.listing(PATH)}
    root = json.loads(objects["zarr.json"])
    change(root)
    objects["zarr.json"] = json.dumps(root).encode()
    store.put(f"{PATH}/zarr.json", objects["zarr.json"])
    write_record(store, PATH, objects)
    with pytest.raises(error):
        arrays.open_columns(store, PATH)


@pytest.mark.parametrize("harm", ["cut", "index", "tiny", "wide"])
def test_objects_that_mean_nothing_are_damage_though_recorded(store: Store, harm: str) -> None:
    """Blosc believes its header: it would read behind a chunk that is cut, and leave the rest of values as it was."""
    arrays.write_groups(store, PATH, {"": dataset(70_000)[["score", "narrow"]]}, often_read=True)
    objects = {path.removeprefix(f"{PATH}/"): store.get(path) for path in store.listing(PATH)}
    key, index = "score/c/0", -36
    data = objects[key]
    begin, size = (int.from_bytes(data[index + at :][:8], "little") for at in (0, 8))
    short = data[:index] + begin.to_bytes(8, "little") + (size - 9).to_bytes(8, "little") + data[index + 16 :]
    beyond = data[:index] + b"\xff" * 32 + data[-4:]
    objects[key] = {"cut": short, "index": beyond, "tiny": b"ab", "wide": objects["narrow/c/0"]}[harm]
    store.put(f"{PATH}/{key}", objects[key])
    write_record(store, PATH, objects)
    with pytest.raises(DamageError, match="score: it cannot be decoded"):
        arrays.open_columns(store, PATH).variables["score"].to_numpy()
