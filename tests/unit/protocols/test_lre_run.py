"""A language recognition evaluation through store, cells, grid and page: tracks as query sets, pairs as conditions."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from lre_files import key_of, key_text, output_text

from pipeline.config import load_evaluation
from pipeline.engine.cell import load_result, score_cell
from pipeline.engine.plan import Plan, plan
from pipeline.engine.result import Result, document
from pipeline.engine.score import score_files
from pipeline.formats.lre.names import TRACKS
from pipeline.grid import gather, publish
from pipeline.protocols import find
from pipeline.report.write import write_reports
from pipeline.store.blobs import Store

EVALUATION = """\
name: lre
protocol: albayzin-lre12
settings: {also_closed: true}
datasets:
  kalaka3:
    key: key.txt
query_sets: {PC: {}, PO: {}, EC: {}, EO: {}}
systems:
  pattern: output/{system}/{query_set}.out
  primary: [GTTS_pri, L2F_pri]
"""
STRENGTH = {"GTTS_pri": 2.0, "GTTS_con1": 4.0, "L2F_pri": 1.0}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    root, key = tmp_path / "lre", key_of(3)
    root.mkdir()
    (root / "evaluation.yaml").write_text(EVALUATION)
    (root / "key.txt").write_text(key_text(key))
    for seed, (system, strength) in enumerate(STRENGTH.items()):
        place = root / "output" / system
        place.mkdir(parents=True)
        for track in TRACKS:
            (place / f"{track}.out").write_text(output_text(key, track, strength=strength, seed=seed))
    late = root / "output" / "L2F_pri" / "EO.out"
    late.write_text(late.read_text().partition("\n")[2])
    return root


def _run(folder: Path, store: Store) -> tuple[Plan, list[Result]]:
    made = plan(load_evaluation(str(folder / "evaluation.yaml")), store)
    return made, [load_result(store, score_cell(store, made, job.cell)) for job in made.jobs]


def _figures(result: Result) -> dict[tuple[str, str], tuple[str | None, ...]]:
    parts = {"all": result, **result.conditions}
    return {
        (condition, name): (figure.value.hex(), figure.reason, figure.status)
        for condition, part in parts.items()
        for name, figure in part.figures.items()
    }


def test_a_cell_has_the_bits_of_one_output_scored_alone(folder: Path, tmp_path: Path) -> None:
    _, results = _run(folder, Store(str(tmp_path / "store")))
    [cell] = [one for one in results if one.cell and (one.cell.system, one.cell.query_set) == ("GTTS_pri", "PO")]
    inputs = {"key": str(folder / "key.txt"), "output": str(folder / "output/GTTS_pri/PO.out")}
    alone = score_files(find("albayzin-lre12", overrides={"also_closed": "true"}), inputs)
    assert _figures(cell) == _figures(alone)
    assert [row["id"] for row in cell.tables["pairs"]] == [name for name in alone.conditions if name != "closed"]
    for shown in ("blocks", "confusion", "soft_confusion", "pairs"):
        assert document(cell)[shown] == document(alone)[shown]


def test_tracks_are_query_sets_and_pairs_conditions(folder: Path, tmp_path: Path) -> None:
    made, results = _run(folder, Store(str(tmp_path / "store")))
    grid = gather(made, results)[""]
    assert grid["query_set"].values.tolist() == list(TRACKS)
    conditions = grid["condition"].values.tolist()
    assert {"all", "closed", "Basque|Catalan", "Greek|Italian"} <= set(conditions)
    assert len(conditions) == 1 + 1 + 15 + 6
    value = grid["value"].sel(system="GTTS_pri", dataset="kalaka3")
    assert value.sel(query_set="PC", condition="all", measure="f_def").item() == pytest.approx(5.0)
    assert value.sel(query_set="PO", condition="closed", measure="f_def").item() == pytest.approx(5.0)
    assert value.sel(query_set="EO", condition="Greek|Italian", measure="f_def").item() == pytest.approx(1.0)
    assert np.isnan(value.sel(query_set="EO", condition="Basque|Catalan", measure="f_act").item())
    assert grid["team"].sel(system="GTTS_con1").item() == "GTTS"
    assert grid["system_id"].sel(system="GTTS_con1").item() == "con1"


def test_only_primary_systems_are_ranked(folder: Path, tmp_path: Path) -> None:
    made, results = _run(folder, Store(str(tmp_path / "store")))
    grid = gather(made, results)[""].sel(dataset="kalaka3", condition="all")
    assert grid["rank"].sel(query_set="PC", system=list(STRENGTH)).values.tolist() == [1, 0, 2]
    best = grid["value"].sel(query_set="PC", system="GTTS_con1", measure="f_act").item()
    assert best < grid["value"].sel(query_set="PC", system="GTTS_pri", measure="f_act").item()


def test_an_incomplete_output_is_a_cell_with_a_reason(folder: Path, tmp_path: Path) -> None:
    store = Store(str(tmp_path / "store"))
    made, results = _run(folder, store)
    [failed] = [result for result in results if result.failed]
    assert (failed.failed, failed.findings[0].code) == ("refused_input", "missing_segment")
    run = publish(store, made, results, write_reports)
    page = store.get(run.reports["index.html"]).decode()
    assert "the file ends without segment" in page
    pair = page.partition("Basque|Catalan</bdi></summary>")[2].partition("</details>")[0]
    assert "PO" in pair
    assert "EO" not in pair
    assert "GTTS_con1" in page


def test_a_corrected_label_reads_no_output(folder: Path, tmp_path: Path) -> None:
    store = Store(str(tmp_path / "store"))
    _, before = _run(folder, store)
    labels, trials = set(store.listing("labels")), set(store.listing("trials"))
    text = (folder / "key.txt").read_text()
    (folder / "key.txt").write_text(text.replace("seg0000 Basque", "seg0000 Catalan"))
    _, after = _run(folder, store)
    n_scored = sum(not result.failed for result in after)
    assert len(set(store.listing("labels")) - labels) == n_scored
    assert set(store.listing("trials")) == trials
    assert after[0].figures["c_mce"] != before[0].figures["c_mce"]


def test_a_setting_of_figures_reads_and_aligns_nothing(folder: Path, tmp_path: Path) -> None:
    store = Store(str(tmp_path / "store"))
    _run(folder, store)
    before = {name: set(store.listing(name)) for name in ("labels", "trials", "references")}
    text = EVALUATION.replace("also_closed: true", "other_task_languages: oos")
    (folder / "evaluation.yaml").write_text(text)
    _, results = _run(folder, store)
    assert {name: set(store.listing(name)) for name in before} == before
    assert {result.facts.get("other_task_languages") for result in results if not result.failed} == {"oos"}


def test_trials_in_the_store_name_themselves(folder: Path, tmp_path: Path) -> None:
    import xarray as xr

    place = tmp_path / "store"
    _run(folder, Store(str(place)))
    stored = [xr.open_zarr(f"zip::{path}") for path in sorted((place / "trials").glob("*.zarr.zip"))]
    plenty = [one for one in stored if one.attrs["task"] == "Plenty"]
    assert {one.sizes["class"] for one in plenty} == {7}
    assert {one.sizes["trial"] for one in stored} == {len(key_of(3))}
    assert plenty[0]["score"].dims == ("trial", "class")
    assert plenty[0]["score"].attrs["units"] == "nat"
    assert plenty[0]["class"].values.tolist()[-1] == "OOS"


def test_a_dataset_demands_the_track_of_each_query_set(folder: Path, tmp_path: Path) -> None:
    text = EVALUATION.replace("key: key.txt\n", "key: key.txt\n    settings: {track: {PC: PC}}\n")
    (folder / "evaluation.yaml").write_text(text)
    swapped = folder / "output" / "GTTS_pri" / "PC.out"
    swapped.write_text((folder / "output" / "GTTS_pri" / "PO.out").read_text())
    _, results = _run(folder, Store(str(tmp_path / "store")))
    codes = {str(one.cell): one.findings[0].code for one in results if one.failed}
    assert codes["PC/kalaka3/GTTS_pri"] == "wrong_track"
    assert len(codes) == 2
