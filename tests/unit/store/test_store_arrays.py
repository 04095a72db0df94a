from __future__ import annotations

import pickle
import warnings
import zipfile
from pathlib import Path
from uuid import uuid4

import numpy as np
import pytest
import xarray as xr
import zarr
from zarr.storage import ZipStore

from pipeline.errors import DamageError, StoreError
from pipeline.store import arrays
from pipeline.store.blobs import Store
from pipeline.store.zips import Zip, pack

PATH = "trials/x.zarr.zip"


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


def file_of(store: Store) -> Path:
    return Path(store.url(PATH))


def place_of(store: Store, entry: str) -> slice:
    """Where the bytes of an entry lie in the file."""
    found = Zip(store, PATH).directory[entry]
    return slice(found.begin, found.begin + found.n_bytes)


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
    where = f"zip::{store.url(PATH)}"
    assert (
        xr.open_zarr(where, group="grid", chunks=None).load()["reason"].sel(system="s1", measure="mtwv") == "no_targets"
    )
    with zipfile.ZipFile(store.url(PATH)) as opened:
        assert opened.testzip() is None
    assert {info.date_time for info in opened.infolist()} == {(1980, 1, 1, 0, 0, 0)}


def test_chunks_and_codecs_are_those_of_the_design(store):
    arrays.write_groups(store, PATH, {"": trials(150_000), "n": xr.Dataset({"v": (("a", "b"), np.zeros((300, 1000)))})})
    with ZipStore(store.url(PATH), mode="r") as whole:
        root = zarr.open_group(whole, mode="r")
        assert root["score"].chunks == (65_536,)
        assert np.prod(root["n/v"].chunks) <= 65_536
        for name in ("score", "decision", "id", "n/v"):
            codecs = str(root[name].metadata.codecs)
            assert "zstd" in codecs.lower()
            assert "Crc32cCodec" in codecs
            assert ("BloscCodec" in codecs) == (name != "id")


def test_what_some_rows_need_lies_side_by_side(store):
    arrays.write_groups(store, PATH, {"": trials(150_000)})
    chunks = [name for name in Zip(store, PATH).directory if "/c/" in name]
    of_rows = [name for name in chunks if name.partition("/")[0] in {"score", "decision", "query", "time_s"}]
    assert chunks[: len(of_rows)] == of_rows
    assert [int(name.rpartition("/")[2]) for name in of_rows] == [0] * 4 + [1] * 4 + [2] * 4


def test_rows_are_one_request_beside_the_one_that_opens(store, monkeypatch):
    arrays.write_groups(store, PATH, {"": trials(600_000)})
    asked = []
    for name in ("get", "get_range", "get_tail"):
        real = getattr(Store, name)
        monkeypatch.setattr(Store, name, lambda *a, real=real, name=name: asked.append(name) or real(*a))
    opened = arrays.opened(store, PATH)
    assert asked == ["get_tail"]
    opened.fetch(70_000, 70_010)
    found = opened.dataset[["score", "query", "decision", "time_s"]].isel(trial=slice(70_000, 70_010)).load()
    assert asked == ["get_tail", "get_range"]
    assert found.equals(trials(600_000)[["score", "query", "decision", "time_s"]].isel(trial=slice(70_000, 70_010)))


def test_a_small_object_is_one_request(store, monkeypatch):
    arrays.write_groups(store, PATH, {"": trials(1000)})
    asked = []
    for name in ("get", "get_range", "get_tail"):
        real = getattr(Store, name)
        monkeypatch.setattr(Store, name, lambda *a, real=real, name=name: asked.append(name) or real(*a))
    assert arrays.open_group(store, PATH).load().identical(trials(1000))
    assert asked == ["get_tail"]


def test_chunks_of_nothing_but_fill_values_are_written_too(store):
    arrays.write_groups(store, PATH, {"": xr.Dataset({"v": ("x", np.full(70_000, np.nan)), "z": ("y", np.zeros(3))})})
    assert {"v/c/0", "v/c/1", "z/c/0"} <= Zip(store, PATH).directory.keys()


def test_values_that_others_would_pack_come_back_bit_by_bit(store):
    odd = np.array([np.nan, -0.0, np.inf, -np.inf, 1e308, 5e-324, 0.1 + 0.2, -1.7976931348623157e308])
    arrays.write_groups(store, PATH, {"": xr.Dataset({"v": ("trial", odd)})})
    found = xr.open_zarr(f"zip::{store.url(PATH)}", chunks=None)["v"].values
    assert found.tobytes() == odd.tobytes()


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
    assert store.describe(PATH) == other.describe(PATH)


def test_attributes_that_mean_something_to_cf_are_only_attributes(store):
    attrs = {"scale_factor": 2.0, "add_offset": 1.0, "units": "days since 2000-01-01", "missing_value": 1.0}
    dataset = xr.Dataset({"v": ("x", np.arange(3.0), attrs)})
    arrays.write_groups(store, PATH, {"": dataset})
    assert arrays.open_group(store, PATH).load().identical(dataset)


def test_what_was_read_can_be_written_elsewhere(store):
    arrays.write_groups(store, PATH, {"": trials(150_000)})
    arrays.write_groups(store, "trials/y.zarr.zip", {"": arrays.open_group(store, PATH)})
    assert arrays.open_group(store, "trials/y.zarr.zip").load().identical(trials(150_000))


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
    for operation in (arrays.open_group, arrays.verify):
        with pytest.raises(DamageError, match="there is none"):
            operation(store, PATH)


def test_an_object_lost_after_opening_is_an_error_on_reading(store):
    arrays.write_groups(store, PATH, {"": trials(150_000)})
    opened = arrays.open_group(store, PATH)
    file_of(store).unlink()
    with pytest.raises(DamageError):
        opened["score"].load()


@pytest.mark.parametrize("n", [1000, 150_000])
@pytest.mark.parametrize("left", [0, 10, 0.5, -1])
def test_a_truncated_object_is_an_error_on_opening(store, n, left):
    arrays.write_groups(store, PATH, {"": trials(n)})
    data = file_of(store).read_bytes()
    file_of(store).write_bytes(data[: int(left * len(data)) if isinstance(left, float) else left])
    with pytest.raises(DamageError, match="cut short"):
        arrays.open_group(store, PATH)


@pytest.mark.parametrize("n", [1000, 150_000])
@pytest.mark.parametrize("where", [0.0, 0.5, 0.999])
def test_a_flipped_bit_is_an_error_on_reading(store, n, where):
    arrays.write_groups(store, PATH, {"": trials(n)})
    entry = place_of(store, "score/c/0")
    data = bytearray(file_of(store).read_bytes())
    data[entry.start + int(where * (entry.stop - entry.start))] ^= 16
    file_of(store).write_bytes(data)
    with pytest.raises(DamageError, match="entry score/c/0 is not what was written"):
        arrays.verify(store, PATH)
    with pytest.raises(DamageError, match="entry score/c/0 is not what was written"):
        arrays.open_group(store, PATH)["score"][:10].load()
    with pytest.raises(Exception, match=r"(?i)crc|checksum"):  # other readers see it as well
        xr.open_zarr(f"zip::{store.url(PATH)}", chunks=None)["score"].load()


def test_every_flipped_byte_of_a_small_object_is_an_error(store):
    arrays.write_groups(store, PATH, {"": trials(20)})
    whole = file_of(store).read_bytes()
    for at in range(len(whole)):
        file_of(store).write_bytes(whole[:at] + bytes([whole[at] ^ 1]) + whole[at + 1 :])
        with pytest.raises(DamageError):
            arrays.open_group(store, PATH)


def test_a_chunk_left_out_of_a_valid_zip_is_never_read_as_fill_values(store):
    arrays.write_groups(store, PATH, {"": trials(1000)})
    with zipfile.ZipFile(file_of(store)) as zipped:
        entries = {name: zipped.read(name) for name in zipped.namelist()}
    del entries["score/c/0"]
    with zipfile.ZipFile(file_of(store), "w") as zipped:
        for name, data in entries.items():
            zipped.writestr(name, data)
    with pytest.raises(DamageError):
        arrays.open_group(store, PATH)
    file_of(store).write_bytes(pack(entries.items()))  # sealed as ours are
    with pytest.raises(DamageError, match="score"):
        arrays.open_group(store, PATH)


def test_a_group_that_was_not_written_is_an_error(store):
    arrays.write_groups(store, PATH, {"": trials(10)})
    with pytest.raises(StoreError, match="no group 'grid'"):
        arrays.open_group(store, PATH, "grid")


def test_writing_and_reading_warn_of_nothing_and_leave_the_filters_alone(store):
    before = list(warnings.filters)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        arrays.write_groups(store, PATH, {"": trials(10), "grid": grid()})
        arrays.open_group(store, PATH, "grid").load()
    assert warnings.filters == before


KEYS = (
    slice(None),
    slice(3, 70_000, 7),
    slice(70_000, 10, -3),
    slice(65_530, 65_540),
    slice(9, 9),
    65_536,
    -1,
    np.array([140_000, 2, 2, 65_536]),
    np.array([], np.int64),
)


@pytest.mark.parametrize("key", KEYS, ids=str)
def test_rows_of_several_chunks_are_those_of_the_array(store: Store, key: object) -> None:
    values = np.arange(140_001, dtype=np.int32)
    arrays.write_groups(store, PATH, {"": xr.Dataset({"v": ("trial", values)})})
    for indexes in (True, False):
        found = arrays.opened(store, PATH, indexes=indexes).dataset["v"].isel(trial=key)
        np.testing.assert_array_equal(found.values, values[key])


def test_any_part_of_arrays_with_several_dimensions_is_that_of_the_array(store: Store) -> None:
    rng = np.random.default_rng(3)
    values = rng.random((90, 40, 60))
    text = values[:, :, 0].astype(str).astype(np.dtypes.StringDType())
    arrays.write_groups(store, PATH, {"g": xr.Dataset({"v": (("a", "b", "c"), values), "t": (("a", "b"), text)})})
    keys = (slice(None), slice(5, 31), slice(30, 2, -4), 17, np.array([3, 3, 29, 0]))
    for _ in range(60):
        a, b, c = (keys[n] for n in rng.integers(len(keys), size=3))
        found = arrays.open_group(store, PATH, "g").isel(a=a, b=b, c=c)
        whole = xr.Dataset({"v": (("a", "b", "c"), values), "t": (("a", "b"), text)}).isel(a=a, b=b, c=c)
        assert found.identical(whole)


def test_what_is_read_is_what_zarr_reads(store: Store) -> None:
    arrays.write_groups(store, PATH, {"": trials(70_000), "grid": grid()})
    for group in ("", "grid"):
        ours = arrays.open_group(store, PATH, group)
        plain = xr.open_zarr(f"zip::{store.url(PATH)}", group=group or None, chunks=None, mask_and_scale=False)
        assert ours.identical(plain)
        assert set(ours.xindexes) == set(plain.xindexes)
        assert {name: one.dtype for name, one in ours.variables.items()} == {
            name: one.dtype for name, one in plain.variables.items()
        }
