from __future__ import annotations

import pickle
import warnings
from pathlib import Path
from uuid import uuid4

import numpy as np
import pytest
import xarray as xr
import zarr

from pipeline.errors import StoreError
from pipeline.store import arrays
from pipeline.store.blobs import Store

PATH = "trials/x.zarr"


@pytest.fixture
def store(tmp_path):
    return Store(str(tmp_path))


def trials(n: int) -> xr.Dataset:
    rng = np.random.default_rng(n)
    return xr.Dataset(
        {
            "score": ("trial", np.round(rng.normal(size=n), 6), {"units": "1", "long_name": "detection score"}),
            "decision": ("trial", rng.random(n) < 0.5),
            "query": ("trial", np.sort(rng.integers(0, 9, n)).astype(np.int32)),
            "none": ("nothing", np.zeros(0)),
            "t_audio_s": ((), 3600.5, {"units": "seconds"}),
        },
        coords={
            "time_s": ("trial", np.arange(n) / 100, {"units": "s"}),
            "id": ("id", np.array(["KW-1", "é", ""], np.dtypes.StringDType())),
        },
        attrs={"source": "kwslist.xml", "edition": 1, "t": 0.1},
    )


def grid() -> xr.Dataset:
    value = np.array([[0.5, np.nan], [np.inf, -0.0]])
    return xr.Dataset(
        {
            "value": (("system", "measure"), value),
            "reason": (("system", "measure"), np.array([["", "no_targets"], ["", "é"]])),
            "spelled": ("system", np.array(["a", None], object).astype(str).astype(object)),
        },
        coords={"system": ["s1", "system 2"], "measure": ["atwv", "mtwv"]},
    )


def one_object(store: Store, ending: str = "score/c/0") -> Path:
    return Path(store.url(f"{PATH}/{ending}"))


@pytest.mark.parametrize("n", [0, 1, 1000, 150_000])
def test_groups_come_back_identical(store, n):
    groups = {"": trials(n), "grid": grid()}
    arrays.write_groups(store, PATH, groups)
    for name, group in groups.items():
        found = arrays.open_group(store, PATH, name).load()
        assert found.identical(group)
        assert {v: found[v].dtype.kind for v in found.variables} == {
            v: "T" if group[v].dtype.kind in "OU" else group[v].dtype.kind for v in group.variables
        }
    assert np.signbit(arrays.open_group(store, PATH, "grid")["value"].values[1, 1])
    assert arrays.is_complete(store, PATH)
    arrays.verify(store, PATH)


def test_arrays_work_on_any_file_system():
    store = Store(f"memory://{uuid4().hex}")
    arrays.write_groups(store, PATH, {"": trials(100)})
    assert arrays.open_group(store, PATH).load().identical(trials(100))


def test_a_group_below_an_empty_root(store):
    arrays.write_groups(store, PATH, {"grid": grid()})
    assert arrays.open_group(store, PATH).sizes == {}
    assert arrays.open_group(store, PATH, "grid").load().identical(grid())


def test_other_tools_open_what_was_written(store):
    arrays.write_groups(store, PATH, {"": trials(100), "grid": grid()})
    assert xr.open_zarr(store.url(PATH), group="grid").load()["reason"].sel(system="s1", measure="mtwv") == "no_targets"


def test_chunks_shards_and_codecs_are_those_of_the_design(store):
    arrays.write_groups(store, PATH, {"": trials(150_000), "n": xr.Dataset({"v": (("a", "b"), np.zeros((300, 1000)))})})
    root = zarr.open_group(store.url(PATH), mode="r")
    assert (root["score"].chunks, root["score"].shards) == ((65_536,), (196_608,))
    assert root["query"].shards[0] % root["query"].chunks[0] == 0
    assert np.prod(root["n/v"].chunks) <= 65_536
    for name in ("score", "decision", "id", "n/v"):
        names = str(root[name].metadata.codecs)
        assert "ZstdCodec(level=3" in names
        assert "Crc32cCodec" in names
    assert arrays._encoding(xr.Variable("x", np.zeros(2_000_000)), often_read=False)["shards"] == (1_048_576,)


def test_what_is_read_often_is_coded_for_that_and_is_the_same(store):
    arrays.write_groups(store, PATH, {"": trials(150_000)}, often_read=True)
    arrays.write_groups(store, "trials/y.zarr", {"": trials(150_000)})
    root, other = (zarr.open_group(store.url(path), mode="r") for path in (PATH, "trials/y.zarr"))
    for name in ("query", "decision", "score"):
        assert "lz4" in str(root[name].metadata.codecs)
        assert "bitshuffle" in str(root[name].metadata.codecs)
        assert "zstd" in str(other[name].metadata.codecs).lower()
    assert root["id"].metadata.codecs == other["id"].metadata.codecs
    assert arrays.open_group(store, PATH).load().identical(trials(150_000))


def test_chunks_of_nothing_but_fill_values_are_written_too(store):
    arrays.write_groups(store, PATH, {"": xr.Dataset({"v": ("x", np.full(70_000, np.nan)), "z": ("y", np.zeros(3))})})
    assert {f"{PATH}/v/c/0", f"{PATH}/z/c/0"} <= store.listing(PATH).keys()


def test_writing_again_gives_the_same_bytes(store, tmp_path):
    other = Store(str(tmp_path / "other"))
    for place, groups in ((store, {"": trials(500), "grid": grid()}), (other, {"grid": grid(), "": trials(500)})):
        arrays.write_groups(place, PATH, groups)
    assert {path: store.describe(path) for path in store.listing("trials")} == {
        path: other.describe(path) for path in other.listing("trials")
    }


def test_the_order_of_variables_and_attributes_does_not_change_the_bytes(store, tmp_path):
    other = Store(str(tmp_path / "other"))
    arrays.write_groups(store, PATH, {"": trials(50)})
    reordered = trials(50)[sorted(trials(50).variables, reverse=True)]
    reordered.attrs = dict(reversed(reordered.attrs.items()))
    arrays.write_groups(other, PATH, {"": reordered})
    assert store.describe(f"{PATH}.json") == other.describe(f"{PATH}.json")


def test_attributes_that_mean_something_to_cf_are_only_attributes(store):
    attrs = {"scale_factor": 2.0, "add_offset": 1.0, "units": "days since 2000-01-01", "missing_value": 1.0}
    dataset = xr.Dataset({"v": ("x", np.arange(3.0), attrs)})
    arrays.write_groups(store, PATH, {"": dataset})
    assert arrays.open_group(store, PATH).load().identical(dataset)


def test_what_was_read_can_be_written_elsewhere(store):
    arrays.write_groups(store, PATH, {"": trials(150_000)})
    arrays.write_groups(store, "trials/y.zarr", {"": arrays.open_group(store, PATH)})
    assert arrays.open_group(store, "trials/y.zarr").load().identical(trials(150_000))


def test_an_opened_group_is_lazy_and_can_be_sent(store):
    arrays.write_groups(store, PATH, {"": trials(150_000)})
    here = arrays.open_group(store, PATH)
    small = len(pickle.dumps(here))
    here["score"][:10].load()
    assert len(pickle.dumps(here)) < small + 1000  # what was fetched stays here
    opened = pickle.loads(pickle.dumps(here))  # noqa: S301
    assert opened["score"].variable._in_memory is False
    part = opened["score"][70_000:70_010].values
    assert np.array_equal(part, trials(150_000)["score"].values[70_000:70_010])


def test_a_lost_object_is_an_error_on_opening(store):
    arrays.write_groups(store, PATH, {"": trials(1000)})
    one_object(store).unlink()
    assert not arrays.is_complete(store, PATH)
    with pytest.raises(StoreError, match="score/c/0 is lost"):
        arrays.open_group(store, PATH)
    with pytest.raises(StoreError, match="score/c/0"):
        arrays.verify(store, PATH)


def test_an_object_lost_after_opening_is_an_error_on_reading(store):
    arrays.write_groups(store, PATH, {"": trials(1000)})
    opened = arrays.open_group(store, PATH)
    one_object(store).unlink()
    with pytest.raises(StoreError, match="score/c/0"):
        opened["score"].load()


@pytest.mark.parametrize("n", [1000, 150_000])
def test_a_truncated_object_is_an_error_on_opening(store, n):
    arrays.write_groups(store, PATH, {"": trials(n)})
    one_object(store).write_bytes(one_object(store).read_bytes()[:-1])
    assert not arrays.is_complete(store, PATH)
    with pytest.raises(StoreError, match=r"score/c/0 has \d+ bytes"):
        arrays.open_group(store, PATH)


@pytest.mark.parametrize("n", [1000, 150_000])
@pytest.mark.parametrize("where", [0.0, 0.5, 0.999])
def test_a_flipped_bit_is_an_error_on_reading(store, n, where):
    arrays.write_groups(store, PATH, {"": trials(n)})
    data = bytearray(one_object(store).read_bytes())
    data[int(where * len(data))] ^= 16
    one_object(store).write_bytes(data)
    with pytest.raises(StoreError, match="score/c/0: the object is damaged"):
        arrays.verify(store, PATH)
    with pytest.raises(StoreError, match="score/c/0: the object is damaged"):
        arrays.open_group(store, PATH)["score"][:10].load()
    with pytest.raises(ValueError, match="checksum"):
        xr.open_zarr(store.url(PATH))["score"].load()  # what Crc32cCodec is for: other readers see it as well


def test_damaged_metadata_is_an_error(store):
    arrays.write_groups(store, PATH, {"": trials(1000)})
    metadata = one_object(store, "zarr.json")
    metadata.write_bytes(metadata.read_bytes().replace(b"65536", b"65537").replace(b"1000", b"1001"))
    with pytest.raises(StoreError, match="zarr.json: the object is damaged"):
        arrays.open_group(store, PATH)


def test_a_killed_writer_leaves_nothing_that_can_be_read(store):
    arrays.write_groups(store, PATH, {"": trials(1000)})
    store.remove(f"{PATH}.json")  # the record is written last
    assert not arrays.is_complete(store, PATH)
    for operation in (arrays.open_group, arrays.verify):
        with pytest.raises(StoreError, match="never finished"):
            operation(store, PATH)
    arrays.write_groups(store, PATH, {"": trials(1000)})
    assert arrays.open_group(store, PATH).load().identical(trials(1000))


def test_a_writer_that_fails_leaves_no_record(store, monkeypatch):
    put = Store.put

    def full_disk(self: Store, path: str, data: bytes) -> None:
        if path.endswith("score/c/0"):
            raise StoreError("no space left")
        put(self, path, data)

    monkeypatch.setattr(Store, "put", full_disk)
    with pytest.raises(StoreError, match="no space left"):
        arrays.write_groups(store, PATH, {"": trials(1000)})
    assert not arrays.is_complete(store, PATH)


def test_a_damaged_record_is_not_complete(store):
    arrays.write_groups(store, PATH, {"": trials(10)})
    store.put(f"{PATH}.json", store.get(f"{PATH}.json").replace(b"score", b"scora"))
    assert not arrays.is_complete(store, PATH)
    with pytest.raises(StoreError, match="damaged"):
        arrays.open_group(store, PATH)


def test_a_group_that_was_not_written_is_an_error(store):
    arrays.write_groups(store, PATH, {"": trials(10)})
    with pytest.raises(StoreError, match="no group 'grid'"):
        arrays.open_group(store, PATH, "grid")


@pytest.mark.parametrize("group", ["..", "a/../../b", "/a", "a b"])
def test_group_names_are_checked_before_anything_is_written(store, group):
    with pytest.raises(StoreError):
        arrays.write_groups(store, PATH, {group: trials(10)})
    assert store.listing() == {}


def test_writing_and_reading_warn_of_nothing_and_leave_the_filters_alone(store):
    before = list(warnings.filters)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        arrays.write_groups(store, PATH, {"": trials(10), "grid": grid()})
        arrays.open_group(store, PATH, "grid").load()
    assert warnings.filters == before
