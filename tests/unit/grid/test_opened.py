"""The face opens what lies in the store of a run: trials with labels, references, the grid."""

from __future__ import annotations

import numpy as np
import pytest

import pipeline
from flows.steps import finish, score_here
from pipeline.config import load_evaluation
from pipeline.engine.cell import load_result
from pipeline.engine.plan import plan
from pipeline.errors import StoreError, UsageError
from pipeline.grid import Run, opened
from pipeline.store.blobs import Store
from pipeline.terms import Cell
from tests.unit.engine import grid_of_cells as cells

CELL = Cell("p", "d", "good")


@pytest.fixture(scope="module")
def done(tmp_path_factory: pytest.TempPathFactory) -> tuple[Store, Run]:
    folder = tmp_path_factory.mktemp("opened")
    path = cells.write(folder)
    (folder / "out/poor/q_e.xml").unlink()
    store = Store(str(folder / "store"))
    planned = plan(load_evaluation(str(path)), store)
    return store, finish(store, planned, score_here(store, planned, planned.jobs))


def test_trials_say_what_they_are(done: tuple[Store, Run]) -> None:
    trials = pipeline.open_trials(*done, CELL)
    alpha = trials.sel(query="alpha", time=slice(0, 60))
    assert alpha["file_name"].values[alpha["file"].values].tolist() == ["a", "a"]
    assert alpha["begin"].values.tolist() == alpha["time"].values.tolist() == [1.1, 10.1]
    assert trials.sel(query="alpha", time=slice(60, None))["time"].values.tolist() == [65.1]
    assert trials.sel(query="alpha").sizes["trial"] == 3
    meanings = trials["outcome"].attrs["flag_meanings"].split()
    assert [meanings[code] for code in alpha["outcome"].values] == ["correct_rejection", "hit"]
    key = pipeline.open_reference(*done, CELL)
    assert key["key_begin_s"].values[alpha["target"].values[1]] == 10.0


def test_a_cell_and_a_run_may_be_named(done: tuple[Store, Run]) -> None:
    store, run = done
    assert pipeline.open_trials(store, run.id, str(CELL)).identical(pipeline.open_trials(store, run, CELL))
    timeline = pipeline.open_reference(store, run.id, str(CELL), "timeline")
    assert timeline.attrs["title"] == "what trials are laid out on"


def test_the_grid_is_opened_group_by_group(done: tuple[Store, Run]) -> None:
    place = {"query_set": "p", "dataset": "d", "system": "good", "condition": "all", "measure": "atwv"}
    assert np.isfinite(pipeline.open_grid(*done)["value"].sel(place))
    assert "count" in pipeline.open_grid(*done, "queries").dims


def test_the_grid_says_what_cells_rest_on(done: tuple[Store, Run]) -> None:
    store, run = done
    grid = pipeline.open_grid(store, run).sel(query_set="p", dataset="d", system="good")
    result = load_result(store, run.results[str(CELL)])
    for name in (
        "beta",
        "t_audio_s",
        "n_trials",
        "n_target",
        "p_target_effective",
        "prior_empirical",
        "threshold_bayes",
    ):
        assert grid[name].item() == result.facts[name]
        assert all(grid[name].attrs[told] for told in ("units", "long_name", "source"))
    assert grid["t_audio_s"].item() == 100.0
    assert {grid[name].item() for name in ("trials", "reference", "labels")} == set(result.made_from)
    assert all(store.exists(grid[name].item()) for name in ("trials", "reference", "labels"))
    refused = pipeline.open_grid(store, run).sel(query_set="q", dataset="e", system="poor")
    assert refused["trials"].item() == refused["labels"].item() == ""
    assert np.isnan(refused["beta"].item())


def test_many_trials_are_dask_arrays(done: tuple[Store, Run], monkeypatch: pytest.MonkeyPatch) -> None:
    whole = pipeline.open_trials(*done, CELL)
    monkeypatch.setattr(opened, "LARGE", 2)
    trials = pipeline.open_trials(*done, CELL)
    assert trials["score"].chunks == ((2,) * (whole.sizes["trial"] // 2) + (1,) * (whole.sizes["trial"] % 2),)
    assert whole["score"].chunks is None
    assert trials.sel(query="alpha").load().identical(whole.sel(query="alpha").load())


def test_what_is_not_there_is_told(done: tuple[Store, Run]) -> None:
    with pytest.raises(UsageError, match=r"no cell p/d/nobody \(it has p/d/good"):
        pipeline.open_trials(*done, "p/d/nobody")
    with pytest.raises(StoreError, match="has no trials"):
        pipeline.open_trials(*done, "q/e/poor")
    with pytest.raises(StoreError, match="no group 'other'"):
        pipeline.open_grid(*done, "other")
