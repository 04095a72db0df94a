"""Resources with steps and nodes: from what a team hands in to the grid, the page, boards and packets."""

from __future__ import annotations

import csv
import io
import json
from pathlib import Path

import pytest
import season_files as files
import xarray as xr
from season_world import Season
from test_season_beside import hand_in

from pipeline.cli import main
from pipeline.engine.cell import load_result
from pipeline.engine.plan import load_plan
from pipeline.report.seasons.packets import write_packets

RESOURCES = """\
index:
  d:
    steps:
      - {name: features, cpu_s: 30, peak_memory_bytes: 1 GB, nodes: [{cpu: Quadro 6000, cores: 448}]}
      - {name: lattices, cpu_s: 20, nodes: [{count: 16, cpu: Xeon, clock_ghz: 2.26, ram_bytes: 24 GB, os: Linux}]}
search:
  q/d: {cpu_s: 3, peak_memory_bytes: 2 GB, nodes: [{brand: HP <b>, cpu: Xeon}]}
  q/e: {cpu_s: 9}
"""
INDEX = "features: Quadro 6000, 448 cores; lattices: 16 × Xeon, 2.26 GHz, 24 GB RAM, Linux"


@pytest.fixture
def season(tmp_path: Path) -> Season:
    made = Season(tmp_path, phase={"kind": "dev"})
    hand_in(made.store, tmp_path, resources__yaml=RESOURCES)
    return made


def test_hardware_stands_in_grid_page_board_rows_and_packets(season: Season, tmp_path: Path) -> None:
    run = season.run()
    load = xr.open_zarr(f"zip::{tmp_path}/store/{run.grid}", group="load").load()
    own = load.sel(system="north", query_set="q", dataset="d")
    assert own["hardware"].sel(phase=["index", "search"]).values.tolist() == [INDEX, "HP <b> Xeon"]
    assert own["cpu_s"].sel(phase="index").item() == 50.0
    assert own["peak_memory_bytes"].sel(phase="index").item() == 1e9
    assert own["value"].sel(load_measure=["isf", "pmu_index"]).values.tolist() == [0.5, 1.0]
    rows = {
        row["system"]: row for row in csv.DictReader(io.StringIO(season.store.get(run.reports["board.csv"]).decode()))
    }
    assert rows["north"]["hardware"] == f"index: {INDEX}; search: HP <b> Xeon"
    assert rows["south"]["hardware"] == ""
    page = season.store.get(run.reports["index.html"]).decode()
    assert "16 × Xeon, 2.26 GHz, 24 GB RAM, Linux" in page
    assert "HP &lt;b&gt; Xeon" in page
    assert "HP <b>" not in page
    season.release(run, "dev", kind="dev")
    write_packets(season.store, files.NAME)
    packet = tmp_path / "store/packets" / files.NAME
    assert "Quadro 6000, 448 cores" in (packet / "north/index.html").read_text()
    assert "Quadro" not in (packet / "south/index.html").read_text()
    (result,) = json.loads((packet / "north/eval/results.json").read_text())["results"]
    steps = [(row["phase"], row["step"], row["cpu_s"]) for row in result["resources"]]
    assert steps == [
        ("index", "features", 30.0), ("index", "lattices", 20.0), ("search", "", 3.0),
        ("search", "as the output says", 3.0),
    ]  # fmt: skip


@pytest.mark.parametrize(("declared_s", "told"), [(3, False), (3.3, False), (3.4, True), (2.7, False), (2.6, True)])
def test_a_search_time_that_differs_from_the_outputs_own_by_a_tenth_is_told(
    tmp_path: Path, declared_s: float, told: bool
) -> None:
    season = Season(tmp_path)
    hand_in(season.store, tmp_path, resources__yaml=f"search: {{cpu_s: {declared_s}}}\n")
    plan = load_plan(season.store, season.run().plan)
    result = next(load_result(season.store, job.address) for job in plan.jobs if job.cell.system == "north")
    codes = [finding.code for finding in result.findings]
    assert ("search_times_differ" in codes) == told


@pytest.fixture
def score(tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    files.season(tmp_path)
    (tmp_path / "out.xml").write_text(files.stdlist(files.GOOD))
    (tmp_path / "resources.yaml").write_text(RESOURCES)

    def said(*more: str) -> dict:
        roles = {"ecf": "ecf.xml", "rttm": "key.rttm", "kwlist": "terms.xml", "output": "out.xml"}
        given = [word for role, name in roles.items() for word in ("--input", f"{role}={tmp_path / name}")]
        code = main(["score", "--protocol", "sws2013", *given, *more, "--json"])
        printed = capsys.readouterr()
        return json.loads(printed.out) if code == 0 else {"code": code, "err": printed.err}

    return said


def test_score_takes_the_cell_of_a_file_of_many(score, tmp_path: Path) -> None:
    own = ("--resources", str(tmp_path / "resources.yaml"))
    found = score(*own, "--cell", "q/d")
    assert (found["measures"]["isf"]["value"], found["measures"]["pmu_search"]["value"]) == (0.5, 2.0)
    assert score(*own, "--cell", "q/e")["measures"]["isf"]["reason"] == "no_resources"
    several = score(*own)
    assert several["measures"]["pmu_search"]["reason"] == "no_resources"
    told = {one["code"]: one["message"] for one in several["warnings"]}
    assert told["no_resources_of_cell"].startswith("search is declared for q/d, q/e; which of them is this output's")
    other = {one["code"]: one["message"] for one in score(*own, "--cell", "x/d")["warnings"]}
    assert "search is declared for q/d, q/e; none is of x/d" in other["no_resources_of_cell"]
    assert score(*own, "--cell", "q")["code"] == 2
    assert "given twice" in score(*own, "--input", "resources=other.yaml")["err"]
