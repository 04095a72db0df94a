"""Trials and grid are ordinary Zarr: anyone opens them without this project."""

from __future__ import annotations

import numpy as np
import xarray as xr


def first_path(demo_run, folder):
    return next(path for path in demo_run.store.listing(folder) if path.endswith(".zarr.json")).removesuffix(".json")


def test_trials_are_sorted_by_bucket_and_query_with_units_and_sources(demo_run):
    trials = xr.open_zarr(demo_run.store.url(first_path(demo_run, "trials")))
    assert trials.sizes["trial"] > 1000
    assert np.all(np.diff(trials["bucket_offset"].values) >= 0)
    assert trials["bucket_offset"].values[-1] == trials.sizes["trial"]
    for name, variable in trials.variables.items():
        assert {"units", "long_name", "source"} <= set(variable.attrs), name
