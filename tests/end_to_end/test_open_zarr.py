"""What lies in the store is ordinary Zarr: the README's lines, with xarray and numpy alone, give the figures.

On a disk and in a bucket of a real S3 server, whose environment is all that a reader there needs.
"""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
import xarray as xr

import pipeline
from pipeline.engine.cell import load_result
from pipeline.store.blobs import Store

README = (Path(__file__).parents[2] / "README.md").read_text(encoding="utf-8")
CELL, QUERY = "dev-q/dev/aurora", "dev-q-04"
MOST_LINES = 10


@pytest.fixture(scope="module")
def result(demo_run):
    run = json.loads(demo_run.store.get_sealed(f"runs/{demo_run.summary.run_id}.json"))
    return load_result(demo_run.store, run["results"][CELL])


@pytest.fixture(params=["disk", "bucket"])
def store(request, demo_run, result):
    """A store that holds what the cell was made from."""
    if request.param == "disk":
        return demo_run.store
    bucket = Store(f"s3://{request.getfixturevalue('s3_here').bucket()}/store")
    for path in result.made_from:
        bucket.put(path, demo_run.store.get(path))
    return bucket


def blocks(*holding: str) -> str:
    """The README's blocks of Python that hold these texts, one after another."""
    found = re.findall(r"```python\n(.*?)```", README, re.DOTALL)
    chosen = [next(block for block in found if text in block) for text in holding]
    assert all(len(block.strip().splitlines()) <= MOST_LINES for block in chosen)
    assert not any("import pipeline" in block for block in chosen)
    return "".join(chosen)


def printed(store, result, code: str) -> str:
    """What some code prints that the README shows, with the addresses of the cell's objects."""
    for path in result.made_from:
        folder = path.partition("/")[0]
        code = re.sub(rf'"zip::[^"]*/{folder}/[^"]*"', json.dumps(f"zip::{store.url(path)}"), code)
    code = code.replace("BETA", repr(result.facts["beta"]))
    done = subprocess.run([sys.executable, "-W", "error", "-c", code], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, ""), done.stderr
    return done.stdout


def test_every_array_has_units_and_a_source(demo_run, result):
    for path in result.made_from:
        stored = xr.open_zarr(f"zip::{demo_run.store.url(path)}")
        for name, variable in stored.variables.items():
            assert {"units", "long_name", "source"} <= set(variable.attrs), (path, name)


def test_trials_are_by_bucket_query_and_time(demo_run, result):
    [path] = [path for path in result.made_from if path.startswith("trials/")]
    trials = xr.open_zarr(f"zip::{demo_run.store.url(path)}").load()
    assert trials.sizes["trial"] > 1000
    assert trials["n_rows"].sum() == trials["bucket_offset"].values[-1] == trials.sizes["trial"]
    for first, n_rows in zip(trials["first_row"].values, trials["n_rows"].values, strict=True):
        assert np.all(np.diff(trials["time"].values[first : first + n_rows]) >= 0)


def test_trials_of_a_query_between_two_times(store, demo_run, result):
    shown = printed(store, result, blocks("< 600"))
    listed = [[float(value) for value in line.split()[1:]] for line in shown.splitlines()[2:]]
    opened = pipeline.open_trials(demo_run.store, demo_run.summary.run_id, CELL).sel(query=QUERY, time=slice(0, 600))
    assert len(listed) > 10
    assert listed == pytest.approx(np.stack([opened["score"], opened["time"]], axis=1), abs=1e-6)


def test_hits_and_false_alarms_of_a_query(store, result):
    shown = printed(store, result, blocks("< 600", '"false_alarm")})'))
    [block] = [block for block in result.blocks if block["id"] == QUERY]
    assert str({"hit": block["n_hit"], "false_alarm": block["n_fa"]}) in shown.splitlines()[-1]


def test_atwv_from_trials_labels_and_reference_is_that_of_the_grid(store, demo_run, result):
    shown = printed(store, result, blocks("< 600", '"false_alarm")})', "BETA"))
    query_set, dataset, system = CELL.split("/")
    grid = pipeline.open_grid(demo_run.store, demo_run.summary.run_id)["value"].sel(measure="atwv", condition="all")
    assert float(shown.splitlines()[-1]) == pytest.approx(
        grid.sel(query_set=query_set, dataset=dataset, system=system).item(), rel=0, abs=1e-12
    )
