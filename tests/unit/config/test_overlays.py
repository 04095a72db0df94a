"""Overlays of an evaluation file: who corrected what, when and why."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from flows.steps import finish, score_here
from pipeline.config import load_evaluation
from pipeline.engine.cell import load_result
from pipeline.engine.plan import load_plan, plan
from pipeline.errors import ConfigError
from pipeline.grid import load_grid
from pipeline.store.blobs import Store
from pipeline.terms import Cell
from tests.unit.engine import grid_of_cells as cells

ABOUT = "author: A. Organiser, date: 2026-11-28"
LAYERS = f"""\
- {{withdraw_queries: [beta], query_sets: [p], {ABOUT}, reason: "<b>said twice</b>"}}
- {{exclude_files: [b], datasets: [d], {ABOUT}, reason: empty recording}}
"""


def written(root: Path, overlays: str) -> Path:
    path = cells.write(root)
    path.write_text(path.read_text() + f"overlays: {overlays}\n")
    return path


@pytest.mark.parametrize("by_file", [False, True])
def test_overlays_stand_in_the_file_or_beside_it_and_reach_settings_plan_and_page(
    tmp_path: Path, by_file: bool
) -> None:
    (tmp_path / "more").mkdir()
    (tmp_path / "more/overlays.yaml").write_text(LAYERS)
    inline = "[" + ", ".join(line.removeprefix("- ") for line in LAYERS.splitlines()) + "]"
    evaluation = load_evaluation(str(written(tmp_path, "more/overlays.yaml" if by_file else inline)))
    assert dict(evaluation.overrides_of("p", "d")) == {"withdrawn": "beta", "excluded_files": "b"}
    assert dict(evaluation.overrides_of("q", "e")) == {}
    store = Store(str(tmp_path / "store"))
    made = plan(evaluation, store)
    run = finish(store, made, score_here(store, made, made.jobs))
    kept = load_plan(store, run.plan).overlays
    assert [(layer["kind"], layer["values"], layer["reason"]) for layer in kept] == [
        ("withdraw_queries", ["beta"], "<b>said twice</b>"),
        ("exclude_files", ["b"], "empty recording"),
    ]
    assert json.loads(load_grid(store, run)[""].attrs["overlays"]) == list(kept)
    page = store.get(run.reports["index.html"]).decode()
    assert "&lt;b&gt;said twice&lt;/b&gt;" in page
    assert "empty recording" in page
    whole = load_result(store, made.by_cell[Cell("p", "d", "good")].address)
    assert whole.facts["t_audio_s"] == 60.0  # a, without the 40 s of b
    assert [block["id"] for block in whole.blocks] == ["alpha"]
    assert whole.blocks[0]["n_target"] == 1


def test_an_evaluation_without_overlays_says_nothing_of_them(tmp_path: Path) -> None:
    store = Store(str(tmp_path / "store"))
    made = plan(load_evaluation(str(cells.write(tmp_path))), store)
    assert made.overlays == ()
    assert b"overlays" not in store.get(f"plans/{made.address}.json")


@pytest.mark.parametrize(
    ("overlays", "said"),
    [
        ("{}", "must be a list of overlays"),
        ("[text]", "must be a mapping"),
        (f"[{{{ABOUT}, reason: r}}]", "must have one of withdraw_queries"),
        (f"[{{withdraw_queries: [a], exclude_files: [b], {ABOUT}, reason: r}}]", "got withdraw_queries, exclude_files"),
        ("[{withdraw_queries: [a], author: A, date: 2026-11-28}]", "`overlays.0.reason` must be text"),
        ("[{withdraw_queries: [a], author: A, date: 28.11.2026, reason: r}]", "must be a day as YYYY-MM-DD"),
        (f"[{{withdraw_queries: [], {ABOUT}, reason: r}}]", "one or more names"),
        (f"[{{withdraw_queries: [a], query_sets: [z], {ABOUT}, reason: r}}]", "names none of the evaluation"),
        (f"[{{withdraw_queries: [a], wrong: 1, {ABOUT}, reason: r}}]", "is unknown"),
        (f"[{{scoring_ecf: nowhere.xml, {ABOUT}, reason: r}}]", "names no file"),
        (f"[{{scoring_ecf: [x], {ABOUT}, reason: r}}]", "must be a path"),
        ("nowhere.yaml", "names no file"),
    ],
)
def test_what_is_wrong_is_told_by_line_and_field(tmp_path: Path, overlays: str, said: str) -> None:
    path = written(tmp_path, overlays)
    with pytest.raises(ConfigError) as caught:
        load_evaluation(str(path))
    assert said in str(caught.value)
    line = path.read_text().splitlines().index(f"overlays: {overlays}") + 1
    assert f"evaluation.yaml:{line}" in str(caught.value)


def test_faults_of_a_file_of_overlays_name_that_file(tmp_path: Path) -> None:
    (tmp_path / "layers.yaml").write_text("- {withdraw_queries: [a], author: A, date: 2026-11-28}\n- 1\n")
    with pytest.raises(ConfigError) as caught:
        load_evaluation(str(written(tmp_path, "layers.yaml")))
    assert "layers.yaml:1" in str(caught.value)
    assert "layers.yaml:2" in str(caught.value)
