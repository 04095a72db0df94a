"""What is stored comes back bit by bit through xarray's own reader, whatever the numbers are."""

from __future__ import annotations

import sys
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
import xarray as xr
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays as drawn

from pipeline.store import arrays, batched
from pipeline.store.blobs import Store

ODD = (-0.0, 0.0, np.inf, -np.inf, 1e308, sys.float_info.max, -sys.float_info.max, 5e-324, 0.1 + 0.2, 1 / 3, np.nan)
VALUES = st.one_of(st.sampled_from(ODD), st.floats(), st.integers(-999, 999).map(lambda whole: whole / 100))
COLUMNS = st.integers(0, 60).flatmap(lambda n: st.tuples(*(drawn(np.float64, n, elements=VALUES) for _ in range(2))))
PATH = "trials/x.zarr.zip"


def bits(dataset: xr.Dataset) -> dict[str, bytes]:
    """The bytes of every column."""
    return {name: dataset[name].values.tobytes() for name in ("score", "time")}


@given(COLUMNS, st.integers(0, 60))
def test_doubles_come_back_bit_by_bit(columns: tuple[np.ndarray, np.ndarray], cut: int) -> None:
    score, time = columns
    trials = xr.Dataset({"score": ("trial", score)}, {"time": ("trial", time)})
    with TemporaryDirectory() as folder:
        store = Store(folder)
        arrays.write_groups(store, PATH, {"": trials})
        for found in (xr.open_zarr(f"zip::{store.url(PATH)}"), arrays.open_group(store, PATH)):
            assert bits(found) == bits(trials)
            assert np.array_equal(np.isnan(found["score"]), np.isnan(score))
        parts = (trials.isel(trial=slice(0, cut)), trials.isel(trial=slice(cut, None)))
        written = [
            batched.write_batch(store, PATH, name, part, ("trial",)) for name, part in zip("ab", parts, strict=True)
        ]
        batched.write_index(store, PATH, trials.isel(trial=slice(0, 0)), written)
        assert bits(batched.opened(store, PATH).dataset) == bits(trials)
        alone = [xr.open_zarr(f"zip::{store.url(batched.object_of(PATH, name))}") for name in "ab"]
        joined = [bits(one) for one in alone]
        assert {name: joined[0][name] + joined[1][name] for name in joined[0]} == bits(trials)
        assert Path(store.url(PATH)).is_file()
