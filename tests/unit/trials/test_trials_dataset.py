from __future__ import annotations

import math
import pickle
from dataclasses import fields, replace
from pathlib import Path

import numpy as np
import pytest
from trial_inputs import ecf, output

from pipeline.store import arrays
from pipeline.store.blobs import Store
from pipeline.trials.dataset import from_dataset, to_dataset
from pipeline.trials.layout import lay_out, timeline
from pipeline.trials.schema import N_BUCKETS, Timeline, Trials
from pipeline.trials.tiles import bucket_of


def laid() -> Timeline:
    return timeline(ecf("a.sph 1 0 100", "b.sph 1 0 50.5"), files="kwseval")


def trials(attributes: str = "") -> Trials:
    blocks = {"K1": ["b 1 2 1 0.25 NO", "a 1 1 1 0.5 YES"], "ключ": ["z 1 3 0.5 -1.5 YES"], "silent": []}
    given = output(blocks, attributes=attributes, declared='search_time="1.5" oov_count="NA"')
    return lay_out(given, laid(), files="kwseval")


def test_rows_and_coordinates() -> None:
    dataset = to_dataset(trials(), laid(), {"uri": "kws.xml"})
    assert dataset.sizes["trial"] == 3
    assert dataset.sizes["bucket_edge"] == N_BUCKETS + 1
    first, n_rows = dataset["first_row"].sel(query="K1"), dataset["n_rows"].sel(query="K1")
    rows = dataset.isel(trial=slice(int(first), int(first + n_rows)))
    assert rows.sizes["trial"] == 2
    assert dataset["n_rows"].sel(query="silent") == 0
    assert rows["begin"][0] == 1.0
    assert rows["score"][0] == 0.5
    assert rows["time"][0] == 1.0 + dataset["recording_begin"].sel(recording=dataset["file_name"][int(rows["file"][0])])
    assert dataset.attrs["uri"] == "kws.xml"


def test_codes_are_stored_in_the_fewest_bytes_that_hold_them() -> None:
    dataset = to_dataset(trials(), laid(), {})
    assert {dataset[name].dtype for name in ("file", "channel")} == {np.dtype(np.uint8)}
    found = from_dataset(dataset, 0, N_BUCKETS)
    assert {column.dtype for column in (found.query, found.file, found.channel)} == {np.dtype(np.int32)}


def test_every_array_says_what_it_is() -> None:
    dataset = to_dataset(trials(), laid(), {})
    for name, array in dataset.variables.items():
        assert {"units", "long_name", "source"} <= set(array.attrs), name
    assert dataset["begin"].attrs["units"] == "s"


def test_names_are_variable_length_strings() -> None:
    dataset = to_dataset(trials(), laid(), {})
    for name in ("query", "file_name", "channel_name", "recording"):
        assert dataset[name].dtype == np.dtypes.StringDType()


def test_recordings_of_the_dataset_stand_on_its_timeline() -> None:
    dataset = to_dataset(trials(), laid(), {})
    assert dataset["recording_begin"].sel(recording="b").item() == 100.0
    assert dataset["timeline_end"].item() == 150.5


def test_block_attributes_come_back() -> None:
    given = from_dataset(to_dataset(trials(), laid(), {}), 0, N_BUCKETS)
    assert set(given.blocks) == {"K1", "ключ", "silent"}
    assert given.blocks["silent"]["search_time_s"] == 1.5
    assert math.isnan(given.blocks["silent"]["oov_count"])


def test_declared_range_comes_back_where_declared() -> None:
    assert from_dataset(to_dataset(trials(), laid(), {}), 0, N_BUCKETS).header_range is None
    declared = trials('min_score="-3" max_score="1.5"')
    assert from_dataset(to_dataset(declared, laid(), {}), 0, N_BUCKETS).header_range == (-3.0, 1.5)


def test_only_the_rows_asked_for_come_back() -> None:
    bucket = bucket_of("ключ")
    part = from_dataset(to_dataset(trials(), laid(), {}), bucket, bucket + 1)
    assert part.score.tolist() == [-1.5]
    assert part.offsets.tolist() == trials().tiles(bucket, bucket + 1).offsets.tolist()
    assert part.score_range == trials().score_range == (-1.5, 0.5)


def test_an_output_without_detections() -> None:
    none = lay_out(output({"K1": []}), laid(), files="kwseval")
    back = from_dataset(to_dataset(none, laid(), {}), 0, N_BUCKETS)
    assert len(back) == 0
    assert back.files == back.channels == ()
    assert back.queries == ("K1",)
    assert math.isnan(back.score_range[0])


@pytest.mark.parametrize("name", ["bucket_offset", "score_range", "query"])
def test_arrays_that_other_rooms_look_up(name: str) -> None:
    assert name in to_dataset(trials(), laid(), {}).variables


def same(one: Trials, other: Trials) -> bool:
    """Whether all fields are equal, NaN to NaN, and of one type."""
    names = {entry.name for entry in fields(Trials)} - {"blocks"}
    pairs = [(getattr(one, name), getattr(other, name)) for name in sorted(names)]
    pairs.append((sorted(one.blocks.items()), sorted(other.blocks.items())))
    return all(getattr(a, "dtype", None) == getattr(b, "dtype", None) and repr(a) == repr(b) for a, b in pairs)


def test_columns_of_stored_trials_are_made_when_they_are_asked_for(tmp_path: Path) -> None:
    store, path = Store(str(tmp_path)), "trials/x.zarr.zip"
    arrays.write_groups(store, path, {"": to_dataset(trials(), laid(), {})})
    opened = arrays.opened(store, path)
    found = from_dataset(opened.dataset, 0, N_BUCKETS)
    for name in store.listing():
        store.remove(name)
    assert not {"query", "score", "row", "time_s"} & vars(found).keys()
    assert found.score is found.score
    for bucket in (bucket_of("K1"), bucket_of("ключ"), bucket_of("silent")):
        for given in (found, pickle.loads(pickle.dumps(found)), replace(found)):  # noqa: S301
            assert same(given.tiles(bucket, bucket + 1), trials().tiles(bucket, bucket + 1))
    assert same(found, trials())
    assert same(found, replace(found, offsets=found.offsets))
    with pytest.raises(AttributeError, match="no 'scores'"):
        found.scores  # noqa: B018
    assert not hasattr(trials(), "scores")


def test_a_negative_zero_keeps_its_sign_in_memory_and_in_store() -> None:
    rows = ["a 1 0.0 1 0.5 YES", "a 1 -0.00 1 0.5 YES", "a 1 1 1 -0 YES", "a 1 1 1 0 YES"]
    for given in (rows, rows[::-1]):
        found = lay_out(output({"K1": given}), laid(), files="kwseval")
        for kept in (found, from_dataset(to_dataset(found, laid(), {}), 0, N_BUCKETS)):
            assert np.signbit(kept.begin_s).tolist() == [False, True, False, False]
            assert np.signbit(kept.score).tolist() == [False, False, False, True]
