"""Limbs of exact sums are plain integers: whatever adds them up, Dask or xarray in any chunks, gives one result."""

from __future__ import annotations

import math

import dask.array as da
import numpy as np
import pytest
import xarray as xr

from pipeline.partials.exact import ROW, exact_sums_by_group, values_of_limbs

N_GROUPS = 5


@pytest.fixture(scope="module")
def values():
    rng = np.random.default_rng(9)
    return rng.normal(size=20_000) * 10.0 ** rng.integers(-200, 200, 20_000), rng.integers(0, N_GROUPS, 20_000)


@pytest.mark.parametrize("chunk", [1_000, 7_777, 20_000])
def test_limbs_add_up_in_dask_and_xarray(values, chunk):
    numbers, groups = values
    expected = [math.fsum(numbers[groups == group]) for group in range(N_GROUPS)]
    starts = range(0, numbers.size, chunk)
    parts = np.stack([exact_sums_by_group(numbers[s : s + chunk], groups[s : s + chunk], N_GROUPS) for s in starts])
    lazy = da.from_array(parts, chunks=(1, N_GROUPS, ROW)).sum(axis=0).compute(scheduler="synchronous")
    labelled = xr.DataArray(parts, dims=("part", "group", "limb")).chunk(part=2).sum("part").values
    for limbs in (parts.sum(axis=0), lazy, labelled):
        assert values_of_limbs(limbs).tolist() == expected
