"""Trials by name and time: the index gives the rows that plain comparisons give."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import xarray as xr

from pipeline.grid.keyed import keyed

NAMES = ("q2", "q7", "silent", "q1", "ключ")
COUNTS = (40, 300, 0, 1, 25)
WINDOWS = [slice(0, 60), slice(None, 20.5), slice(80.0, None), slice(None), slice(60, 0), 7.0]


def trials(*, sorted_times: bool = True, timed: bool = True) -> xr.Dataset:
    random = np.random.default_rng(11)
    times = [random.integers(0, 100, n_rows).astype(np.float64) for n_rows in COUNTS]
    time = np.concatenate([np.sort(one) if sorted_times else np.where(one == 50, np.nan, one) for one in times])
    first = np.cumsum((0, *COUNTS[:-1]))
    coords: dict[str, Any] = {"query": ("query", np.array(NAMES, np.dtypes.StringDType()))}
    coords |= {"time": ("trial", time)} if timed else {}
    data = {
        "score": ("trial", random.normal(size=time.size)),
        "first_row": ("query", first),
        "n_rows": ("query", [*COUNTS]),
    }
    return xr.Dataset(data, coords)


def plainly(dataset: xr.Dataset, name: str, window: Any) -> np.ndarray:
    low, high = (window.start, window.stop) if isinstance(window, slice) else (window, window)
    rows = np.repeat(NAMES, COUNTS) == name
    time = dataset["time"].values
    if window != slice(None):
        rows &= (time >= (-np.inf if low is None else low)) & (time <= (np.inf if high is None else high))
    return dataset["score"].values[rows]


@pytest.mark.parametrize("sorted_times", [True, False])
@pytest.mark.parametrize("window", WINDOWS, ids=str)
@pytest.mark.parametrize("name", NAMES)
def test_one_query_between_two_times(name: str, window: Any, sorted_times: bool) -> None:
    dataset = trials(sorted_times=sorted_times)
    labels = {"query": name} if window == slice(None) else {"query": name, "time": window}
    found = keyed(dataset, "query", ()).sel(labels)
    assert found["score"].values.tolist() == plainly(dataset, name, window).tolist()
    assert found["query"].item() == name


def test_several_queries_stand_one_after_another() -> None:
    found = keyed(trials(), "query", ()).sel(query=["ключ", "silent", "q2"], time=slice(10, 30))
    wanted = [plainly(trials(), name, slice(10, 30)) for name in ("ключ", "silent", "q2")]
    assert found["score"].values.tolist() == np.concatenate(wanted).tolist()
    assert found["query"].values.tolist() == ["ключ", "silent", "q2"]


def test_a_time_alone_is_looked_for_in_all_rows() -> None:
    found = keyed(trials(), "query", ()).sel(time=slice(90, None))
    assert found["score"].values.tolist() == trials()["score"].values[trials()["time"].values >= 90].tolist()
    assert found.sizes["query"] == len(NAMES)


def test_rows_are_fetched_of_what_was_asked_for_alone() -> None:
    asked: list[tuple[int, int]] = []
    keyed(trials(), "query", [lambda *ends: asked.append(ends)]).sel(query="q7", time=slice(0, 60))
    assert asked == [(40, 340)]


def test_what_cannot_be_selected_is_told() -> None:
    with pytest.raises(KeyError, match="query 'q9' is not in the output"):
        keyed(trials(), "query", ()).sel(query="q9")
    with pytest.raises(TypeError, match="by a query or a list"):
        keyed(trials(), "query", ()).sel(query=slice("q1", "q7"))
    with pytest.raises(ValueError, match="without a step"):
        keyed(trials(), "query", ()).sel(query="q7", time=slice(0, 60, 2))
    with pytest.raises(KeyError, match="time"):
        keyed(trials(timed=False), "query", ()).sel(query="q7", time=slice(0, 60))
    assert keyed(trials(timed=False), "query", ()).sel(query="q7").sizes["trial"] == 300


def test_it_goes_with_what_else_xarray_does() -> None:
    dataset = keyed(trials(), "query", ())
    assert (dataset["score"] > 0).sum() == (trials()["score"] > 0).sum()
    assert dataset.isel(trial=slice(0, 3)).sizes["trial"] == 3
    assert (dataset + dataset)["score"].values.tolist() == (2 * trials()["score"].values).tolist()
    with pytest.raises(ValueError, match="index"):
        xr.align(dataset, keyed(trials(sorted_times=False), "query", ()), join="exact")
    assert "q7" in repr(dataset)
