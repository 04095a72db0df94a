"""A study through the flow: scored, rescored and drawn on a real cluster, with a real Prefect server."""

from __future__ import annotations

import json
import time
from pathlib import Path

import pytest

from pipeline.config.meta_file import load_study
from pipeline.demo import evaluation as synthetic
from pipeline.engine.plan import load_plan
from pipeline.grid import latest
from pipeline.grid.sweep import DAY_S, survey
from pipeline.meta.intervals import intervals_of
from pipeline.store.blobs import Store

STUDY = """\
name: flow
evaluations:
  y1: {year: 2013, evaluation: one/evaluation.yaml}
rescore:
  cheap: {settings: {c_fa: 2}}
resampling: {replicates: 100, seed: 5}
"""


@pytest.mark.usefixtures("prefect_server")
def test_a_study_on_a_cluster_is_the_study_done_here(tmp_path: Path) -> None:
    synthetic.write_evaluation(tmp_path / "one")
    (tmp_path / "meta.yaml").write_text(STUDY)
    from flows.meta import meta
    from flows.study import run_study

    store = Store(str(tmp_path / "store"))
    paths = meta(str(tmp_path / "meta.yaml"), store=store.root, workers=1)
    document = json.loads(store.get(paths["statistics.json"]))
    assert {board["evaluation"] for board in document["boards"]} == {"y1", "y1=cheap"}
    drawn = store.listing("resamples")
    assert len(drawn) == 2 * (24 - 2)  # one task a cell with figures, of two evaluations
    assert not [path for path in survey(store, now_s=time.time() + 10 * DAY_S).removable if path in drawn]
    run = latest(store, "y1=cheap")
    assert run is not None
    how = load_study(str(tmp_path / "meta.yaml")).resampling
    boards = {(b.query_set, b.dataset): b for b in intervals_of(store, load_plan(store, run.plan), None, how)}
    for board in document["boards"]:
        if board["evaluation"] == "y1=cheap":
            own = boards[board["query_set"], board["dataset"]].intervals
            assert {name: one["low"] for name, one in board["intervals"].items() if one["reason"] is None} == {
                name: one.low for name, one in own.items() if one.reason is None
            }
    again = run_study(str(tmp_path / "meta.yaml"), store=store.root, quiet=True)
    assert again.paths["statistics.json"] == store.url(paths["statistics.json"])
