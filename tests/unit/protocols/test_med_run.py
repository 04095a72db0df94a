"""A MED evaluation through store, cells and grid: the figures of ``rescore score``, boards apart, reuse where due."""

from __future__ import annotations

import copy
from collections import Counter
from pathlib import Path

import numpy as np
import pytest
from med_tiny import CLIPMD, EVENTDB, INDEX, REF, SCORES, THRESHOLD, detection

from pipeline.config import load_evaluation
from pipeline.engine.cell import load_result, score_cell
from pipeline.engine.plan import Plan, plan
from pipeline.engine.result import Result
from pipeline.engine.score import score_files
from pipeline.errors import ConfigError, InputError
from pipeline.grid import gather
from pipeline.protocols import find
from pipeline.store.blobs import Store

FULL, PART = "North_MED11_MED11TEST_MEDFull_AutoEAG_p-one_1", "South_MED11_MED11TEST_MEDPart_AutoEAG_p-two_1"
EVALUATION = """\
name: med
protocol: med11
settings:
  conditions: ['short: ClipMD.DURATION <= 1800']
datasets:
  test: {ref: ref.csv, index: index.csv, clipmd: clipmd.csv, eventdb: eventdb.csv}
query_sets:
  events: {}
systems:
  pattern:
    detection: output/{system}/{system}.detection.csv
    threshold: output/{system}/{system}.threshold.csv
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    root = tmp_path / "med"
    root.mkdir()
    texts = {"ref.csv": REF, "index.csv": INDEX, "clipmd.csv": CLIPMD, "eventdb.csv": EVENTDB}
    for name, text in {**texts, "evaluation.yaml": EVALUATION}.items():
        (root / name).write_text(text)
    part = {"E1": copy.deepcopy(SCORES)["E1"]}
    for system, scores, threshold in (
        (FULL, SCORES, THRESHOLD),
        (PART, part, THRESHOLD.replace("E2,0.5,3.5\n", "")),
        ("late", SCORES, None),
    ):
        place = root / "output" / system
        place.mkdir(parents=True)
        (place / f"{system}.detection.csv").write_text(detection(scores))
        if threshold is not None:
            (place / f"{system}.threshold.csv").write_text(threshold)
    return root


def _run(folder: Path, store: Store) -> tuple[Plan, dict[str, Result]]:
    made = plan(load_evaluation(str(folder / "evaluation.yaml")), store)
    return made, {job.cell.system: load_result(store, score_cell(store, made, job.cell)) for job in made.jobs}


def test_a_cell_has_the_figures_of_one_output_scored_alone(folder: Path, tmp_path: Path) -> None:
    _, results = _run(folder, Store(str(tmp_path / "store")))
    inputs = {role: str(folder / f"{role}.csv") for role in ("ref", "index", "clipmd", "eventdb")}
    inputs |= {role: str(folder / f"output/{FULL}/{FULL}.{role}.csv") for role in ("detection", "threshold")}
    settings = {"conditions": "short: ClipMD.DURATION <= 1800"}
    alone = score_files(find("med11", overrides=settings), inputs)
    for name, figure in alone.figures.items():
        seen = results[FULL].figures[name]
        assert seen.reason == figure.reason
        np.testing.assert_equal(seen.value, figure.value)
    assert [block["n_fa"] for block in results[FULL].blocks] == [block["n_fa"] for block in alone.blocks]
    assert results[FULL].conditions["short"].figures["p_md"].value == 0.0


def test_an_output_that_lacks_a_file_is_a_cell_with_a_reason(folder: Path, tmp_path: Path) -> None:
    _, results = _run(folder, Store(str(tmp_path / "store")))
    assert results["late"].failed == "missing_output"
    assert "(threshold)" in results["late"].findings[0].message


def test_a_refused_submission_is_a_cell_and_a_refused_key_ends_the_plan(folder: Path, tmp_path: Path) -> None:
    place = folder / f"output/{FULL}/{FULL}.detection.csv"
    place.write_text(place.read_text().replace("a.E1,0.9\n", ""))
    _, results = _run(folder, Store(str(tmp_path / "store")))
    assert (results[FULL].failed, results[PART].failed) == ("refused_input", None)
    assert results[FULL].findings[0].where == "detection"
    (folder / "evaluation.yaml").write_text(EVALUATION.replace("settings:\n", "mode: plan\nsettings:\n"))
    (folder / "ref.csv").write_text(REF.replace("a.E1,y\n", ""))
    with pytest.raises(InputError, match=r"1 of 12 trials of the index have no key") as caught:
        _run(folder, Store(str(tmp_path / "store")))
    assert caught.value.findings[0].where == str(folder / "ref.csv")


def test_boards_conditions_and_fields_of_names_are_in_the_grid(folder: Path, tmp_path: Path) -> None:
    made, results = _run(folder, Store(str(tmp_path / "store")))
    grid = gather(made, [results[job.cell.system] for job in made.jobs])[""]
    assert set(grid["condition"].values.tolist()) == {"all", "short", "MEDFull", "MEDPart"}
    assert grid["medtype"].sel(system=PART).item() == "MEDPart"
    assert grid["team"].sel(system=FULL).item() == "North"
    on_board = grid["value"].sel(condition="MEDFull", measure="p_md").squeeze(drop=True)
    assert np.isnan(on_board.sel(system=PART).item())
    assert on_board.sel(system=FULL).item() == 0.0
    assert grid["rank"].sel(condition="all").squeeze(drop=True).sel(system=[FULL, PART]).values.tolist() == [1, 1]
    assert grid.attrs["primary_measure"] == "ndc"


def test_a_corrected_key_reads_no_output(folder: Path, tmp_path: Path) -> None:
    place = tmp_path / "store"
    _run(folder, Store(str(place)))
    before = {path for path in place.rglob("*") if path.is_file()}
    (folder / "ref.csv").write_text(REF.replace("a.E1,y", "a.E1,n"))
    _, results = _run(folder, Store(str(place)))
    after = {path for path in place.rglob("*") if path.is_file()}
    assert before <= after
    made = Counter(path.relative_to(place).parts[0] for path in after - before)
    assert (made["trials"], made["labels"]) == (0, sum(result.failed is None for result in results.values()))
    assert results[FULL].blocks[0]["n_target"] == 1


def test_trials_in_the_store_name_themselves(folder: Path, tmp_path: Path) -> None:
    import xarray as xr

    place = tmp_path / "store"
    _run(folder, Store(str(place)))
    stored = [xr.open_zarr(f"zip::{path}") for path in sorted((place / "trials").glob("*.zarr.zip"))]
    [whole] = [one for one in stored if one.sizes["trial"] == 12]
    assert sorted(whole["trial_id"].values.tolist())[:3] == ["a.E1", "a.E2", "b.E1"]
    assert {whole[name].attrs["units"] for name in ("score", "hours")} == {"1", "h"}


@pytest.mark.parametrize(
    ("old", "new", "told"),
    [
        ("ref: ref.csv, ", "", "`datasets.test.ref` is missing"),
        ("    threshold: output/{system}/{system}.threshold.csv\n", "", "`systems.pattern` lacks threshold"),
        (
            "    threshold:",
            "    thresholds:",
            "`systems.pattern.thresholds` is unknown (allowed: detection, threshold)",
        ),
        ("clipmd: clipmd.csv", "clips: clipmd.csv", "`datasets.test.clips` is unknown (allowed: ref, index, clipmd,"),
    ],
)
def test_inputs_follow_the_roles_of_the_protocol(folder: Path, old: str, new: str, told: str) -> None:
    (folder / "evaluation.yaml").write_text(EVALUATION.replace(old, new))
    with pytest.raises(ConfigError) as caught:
        load_evaluation(str(folder / "evaluation.yaml"))
    assert told in str(caught.value)
