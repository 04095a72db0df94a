"""A study of three years through scoring, rescoring, resampling, tables and page, in this process."""

from __future__ import annotations

import csv
import io
import json
import math
from pathlib import Path

import numpy as np
import pytest
from grid_of_cells import write
from pyarrow import parquet

from flows.studies import Planned, conclude, evaluations, finish_here, lacking, prepare, wanted_draws
from pipeline.cli import main
from pipeline.config.meta_file import load_study
from pipeline.engine.cell import load_result
from pipeline.errors import UsageError
from pipeline.grid import latest
from pipeline.meta import resamples
from pipeline.meta.analysis import Analysis
from pipeline.meta.comparable import mean, note
from pipeline.meta.intervals import Resampling, intervals_of
from pipeline.meta.rows import Row
from pipeline.meta.study import Study, Variant
from pipeline.meta.variants import is_probe, replanned
from pipeline.store import arrays
from pipeline.store.blobs import Store

STUDY = """\
name: years
evaluations:
  y1: {year: 2011, evaluation: 2011/evaluation.yaml}
  y2: {year: 2012, evaluation: 2012/evaluation.yaml}
  y3: {year: 2013, evaluation: 2013/evaluation.yaml}
rescore:
  at-2013: {of: [y2], protocol: sws2013, keep: [tolerance_s]}
published: [{file: published.csv}]
teams: {The <b>North: [North]}
measures: [atwv, mtwv]
revisions: [[y1, y3]]
dev_eval: [{dev: p/d, eval: p/e}]
sensitivity: {beta: [10, 100], tolerance_s: [0.1]}
resampling: {replicates: 100, seed: 7}
"""
HOSTILE = "<script>alert(1)</script>"


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = tmp_path_factory.mktemp("years")
    for year, protocol in ((2011, "sws2013"), (2012, "sws2012"), (2013, "sws2013")):
        place = root / str(year)
        place.mkdir()
        path = write(place)
        text = path.read_text().replace("name: grid", f"name: sws-{year}").replace("sws2013", protocol)
        path.write_text(text.replace("  pattern:", "  good: {team: North}\n  pattern:"))
    # The third year's key has one occurrence more.
    key = root / "2013" / "d.rttm"
    key.write_text(key.read_text() + "LEXEME b 1 35.0 1 beta lex SELF <NA>\n")
    (root / "published.csv").write_text(f"year,system,dataset,mtwv\n2011,{HOSTILE},d,0.5\n2011,=1+1,d,0.25\n")
    (root / "meta.yaml").write_text(STUDY)
    return root


@pytest.fixture(scope="module")
def store(folder: Path) -> Store:
    return Store(str(folder / "store"))


@pytest.fixture(scope="module")
def study(folder: Path) -> Study:
    return load_study(str(folder / "meta.yaml"))


@pytest.fixture(scope="module")
def planned(study: Study, store: Store) -> tuple[Planned, ...]:
    made = prepare(study, store)
    for one in lacking(made):
        finish_here(one)
    return prepare(study, store)


@pytest.fixture(scope="module")
def done(study: Study, store: Store, planned: tuple[Planned, ...]) -> tuple[Analysis, dict[str, str]]:
    assert lacking(planned) == ()
    return conclude(study, store, evaluations(planned, {}))


def rows(analysis: Analysis, **wanted: str) -> list[Row]:
    return [row for row in analysis.rows if all(getattr(row, name) == value for name, value in wanted.items())]


def test_the_table_holds_every_figure_as_it_was_scored(done, planned, store):
    for one in planned:
        for job in one.plan.jobs:
            result = load_result(store, job.address)
            for measure in ("atwv", "cnxe"):
                (row,) = rows(done[0], evaluation=one.name, query_set=job.cell.query_set, dataset=job.cell.dataset,
                              system=job.cell.system, measure=measure, condition="all")  # fmt: skip
                figure = result.figures[measure]
                assert row.value == figure.value or (math.isnan(row.value) and row.reason == figure.reason)
                assert row.signature == result.signature
    assert {row.team for row in done[0].rows if row.system == "good"} == {"The <b>North"}
    assert {row.team_as_given for row in done[0].rows if row.system == "good"} == {"North"}


def test_files_hold_the_same_table(done, store):
    paths = done[1]
    written = list(csv.DictReader(io.StringIO(store.get(paths["table.csv"]).decode())))
    assert len(written) == len(done[0].rows)
    assert {HOSTILE, "'=1+1"} <= {row["system"] for row in written}  # a spreadsheet would run the second one
    with arrays.open_group(store, paths["table.zarr.zip"]) as table:
        assert table["value"].values.tolist() == pytest.approx([row.value for row in done[0].rows], nan_ok=True)
        assert [str(text) for text in table["system"].values] == [row.system for row in done[0].rows]
    read = parquet.read_table(io.BytesIO(store.get(paths["table.parquet"])))
    assert read.column("measure").to_pylist() == [row.measure for row in done[0].rows]


def test_the_page_escapes_and_asks_for_nothing(done, store):
    page = store.get(done[1]["index.html"]).decode()
    assert HOSTILE not in page
    assert "&lt;script&gt;alert(1)" in page
    assert "<b>North" not in page
    assert "<script" not in page
    assert "default-src 'none'" in page
    assert "http://" not in page.replace("http://www.w3.org/", "")
    assert "https://" not in page


def test_statistics_are_strict_json(done, store):
    document = json.loads(store.get(done[1]["statistics.json"]), parse_constant=pytest.fail)
    assert {"contrasts", "measure_agreement", "board_agreement", "revisions", "shifts", "means"} <= document.keys()
    assert len(document["boards"]) == len(done[0].boards) == 4 * 4 * 2
    assert all(board["intervals"] for board in document["boards"])


def test_rescored_outputs_have_the_other_operating_point_and_read_nothing_again(done, planned, store):
    own, other = (rows(done[0], evaluation=name, measure="atwv", condition="all") for name in ("y2", "y2=at-2013"))
    assert {row.point for row in other} == {row.point for row in rows(done[0], evaluation="y3", measure="atwv")}
    assert {row.tolerance_s for row in other} == {row.tolerance_s for row in own} == {1.0}
    trials = {path.split("/")[1] for path in store.listing("trials") if path.endswith(arrays.ENDING)}
    outputs = {(j.inputs["output"].sha256, j.inputs["ecf"].sha256) for one in planned for j in one.plan.jobs}
    assert len(trials) == len(outputs)  # one for each output, whatever it was scored with


def test_a_contrast_states_overlap_and_what_differs(done):
    (row,) = [
        row for row in done[0].tables["contrasts"]
        if (row["first"], row["board"], row["measure"]) == ("y1", "p × d", "atwv")
    ]  # fmt: skip
    shared = "2 of 2 and 2 queries by identifier; 2 of 2 and 2 queries by text; 2 of 2 and 2 recordings"
    assert row["overlap"] == f"shared: {shared}; the same key"
    assert "operating points differ" in row["note"]
    assert row["comparable"] == "other operating points"
    assert math.isnan(row["mean_difference"])
    after = next(row for row in done[0].tables["contrasts"] if row["first"] == "y2" and row["board"] == "p × d")
    assert after["overlap"].endswith("other keys")


def test_figures_of_other_operating_points_are_not_averaged():
    one, other = (
        Row("a", measure="atwv", value=0.4, point="beta 10"),
        Row("b", measure="atwv", value=0.6, point="beta 20"),
    )
    assert mean([one, one]).value == 0.4
    refused = mean([one, other])
    assert math.isnan(refused.value)
    assert refused.reason == "other_point"
    assert note([one, other]) == "operating points differ (beta 10, beta 20)"
    assert mean([]).reason == "no_figures"


def test_means_are_told_evaluation_by_evaluation_and_refused_across_years(done):
    means = {(row["evaluation"], row["measure"], row["system"]): row for row in done[0].tables["means"]}
    own = [row.value for row in rows(done[0], evaluation="y1", measure="atwv", system="good", condition="all")]
    known = [value for value in own if not math.isnan(value)]
    found = means["y1", "atwv", "good"]
    assert (found["mean"], found["n_boards"]) == (pytest.approx(sum(known) / len(known)), len(known))
    assert "query sets differ (p, q)" in found["note"]
    assert (means["all", "atwv", "good"]["reason"], means["y2", "atwv", "good"]["reason"]) == ("other_point",) * 2
    assert means["y2=at-2013", "atwv", "good"]["reason"] == ""
    assert not [name for name, *_ in means if "tolerance_s" in name]


def test_a_revised_key_moves_figures(done):
    changed = [row for row in done[0].tables["revisions"] if row["query_set"] == "p" and row["dataset"] == "d"]
    assert all(row["key_before"] != row["key_after"] for row in changed)
    moves = [row for row in done[0].tables["revision_systems"] if (row["board"], row["measure"]) == ("p × d", "atwv")]
    assert [row["system"] for row in moves] == ["good", "poor"]
    assert all(row["difference"] == row["after"] - row["before"] != 0 for row in moves)


def test_thresholds_carry_over_as_they_do(done, store, planned):
    shifts = [row for row in done[0].tables["shifts"] if row["evaluation"] == "y1"]
    assert [row["system"] for row in shifts] == ["good", "poor"]
    jobs = {str(job.cell): job for job in planned[0].plan.jobs}
    for row in shifts:
        dev, there = (load_result(store, jobs[f"p/{d}/{row['system']}"].address) for d in ("d", "e"))
        curve = there.curve
        at = [
            t for t in zip(curve["threshold"], curve["twv"], strict=True) if t[0] >= dev.figures["mtwv_threshold"].value
        ]
        assert row["twv_at_dev_threshold"] == pytest.approx(at[0][1] if at else 0.0)
        assert row["transfer_loss"] == pytest.approx(there.figures["mtwv"].value - row["twv_at_dev_threshold"])
        assert row["eval_atwv_gap"] == pytest.approx(there.figures["mtwv"].value - there.figures["atwv"].value)


def test_bands_are_the_figures_at_other_points(done, study, store, planned, tmp_path):
    board = next(
        b for b in done[0].boards if (b.evaluation, b.intervals.measure, b.intervals.query_set) == ("y1", "atwv", "p")
    )
    atwv, mtwv = board.bands[:2]
    for c_fa, at in (("10", 10.0), ("100", 100.0)):  # beta = c_fa with unit cost of a miss and even odds
        settings = {"c_fa": c_fa, "c_miss": "1", "p_target": "0.5"}
        made = replanned(store, planned[0].plan, Variant("even", ("y1",), settings=settings))
        finish_here(Planned("even", "", store, made, None))
        for band, measure in ((atwv, "atwv"), (mtwv, "mtwv")):
            row = band.values[band.at.tolist().index(at)]
            for system, value in zip(band.systems, row.tolist(), strict=True):
                job = next(
                    j for j in made.jobs if (j.cell.query_set, j.cell.dataset, j.cell.system) == ("p", "d", system)
                )
                assert value == pytest.approx(load_result(store, job.address).figures[measure].value, abs=1e-12)
    cnxe = board.bands[2]
    prior = cnxe.at.tolist()[5]
    made = replanned(store, planned[0].plan, Variant("prior", ("y1",), settings={"p_target_effective": repr(prior)}))
    finish_here(Planned("prior", "", store, made, None))
    for system, value in zip(cnxe.systems, cnxe.values[5].tolist(), strict=True):
        job = next(j for j in made.jobs if (j.cell.query_set, j.cell.dataset, j.cell.system) == ("p", "d", system))
        assert value == pytest.approx(load_result(store, job.address).figures["cnxe"].value, abs=1e-12)
    tolerance = board.bands[-1]
    assert (tolerance.parameter, tolerance.at.tolist()) == ("tolerance_s", [0.1])
    probes = [one for one in planned if is_probe(one.name)]
    assert [one.name for one in probes] == [f"y{at}=tolerance_s-0.1" for at in (1, 2, 3)]
    for one in planned:  # what is there for a line in a figure has no page of its own
        run = latest(store, one.plan.evaluation)
        assert run is not None
        assert ("index.html" in run.reports) != is_probe(one.name)


def test_replicates_are_the_same_however_they_are_divided(study, planned, store):
    one = evaluations(planned, {})[0]
    job = one.plan.jobs[0]
    how = Resampling(n_replicates=40, seed=3)
    cell = one.cells((job.cell.query_set, job.cell.dataset))[job.cell.system]
    sample = cell.sample("mtwv")
    whole = None
    for per_task in (40, 7, 1):
        wanted = [d for d in resamples.draws(one.plan, ("mtwv",), how, per_task) if d.cell == job.cell]
        assert sum(resamples.work(store, draw, how) for draw in reversed(wanted)) == 40
        assert sum(resamples.work(store, draw, how) for draw in wanted) == 0  # all are found
        values = resamples.collected(store, cell, sample, wanted, how)
        whole = values if whole is None else whole
        assert np.array_equal(values.view(np.int64), whole.view(np.int64))
    assert wanted_draws(study, one)


def test_intervals_of_a_plan_are_those_of_the_study(done, study, planned, store):
    boards = {(b.query_set, b.dataset): b for b in intervals_of(store, planned[0].plan, "atwv", study.resampling)}
    for board in done[0].boards:
        if (board.evaluation, board.intervals.measure) == ("y1", "atwv"):
            assert board.intervals == boards[board.intervals.query_set, board.intervals.dataset]


def test_the_command_finds_everything_done(folder, store, done, capsys):
    assert main(["meta", str(folder / "meta.yaml"), "--store", store.root, "--json"]) == 0
    said = json.loads(capsys.readouterr().out)
    assert said["evaluations"] == ["y1", "y2", "y3", "y2=at-2013"]
    assert said["paths"]["index.html"] == store.url(done[1]["index.html"])


def test_a_variant_that_reads_other_files_is_refused(planned, store):
    with pytest.raises(UsageError, match="whose files are not those of stt13"):
        replanned(store, planned[0].plan, Variant("odd", ("y1",), protocol="stt13"))
