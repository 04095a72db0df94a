"""The made-up evaluation through flow, cluster and store: what comes out, and what a second run does."""

from __future__ import annotations

import hashlib
import math
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from flows.rescore import run_evaluation
from pipeline.engine.cell import load_result
from pipeline.engine.plan import load_plan
from pipeline.engine.result import document
from pipeline.engine.score import score_files
from pipeline.grid import latest, load_grid
from pipeline.metrics.kws.det import thinned
from pipeline.protocols import find
from pipeline.store.blobs import Store

SYSTEMS = ["aurora", "basalt", "cobalt", "dune", "ember", "fjord"]


ON_EXECUTION = ("refs", "performance")
"""Folders that tell how a run went: what it took is no part of what it found."""


def contents(store: Store, *without: str) -> dict[str, str]:
    """Digests of every object of a store, but for folders left out: a difference of megabytes is told in lines."""
    return {
        path: hashlib.sha256(store.get(path)).hexdigest()
        for path in store.listing()
        if path.split("/")[0] not in without
    }


def rows(summary, query_set, dataset):
    return [r for r in summary.board if (r["query_set"], r["dataset"], r["condition"]) == (query_set, dataset, "all")]


def test_every_cell_is_scored_or_has_its_reason(demo_run):
    summary = demo_run.summary
    assert (summary.n_scored, summary.n_failed, summary.n_reused) == (22, 2, 0)
    failed = {(r["system"], r["query_set"], r["dataset"]): r for r in summary.board if r["failed"]}
    assert {cell: row["failed"] for cell, row in failed.items()} == {
        ("fjord", "eval-q", "eval"): "refused_input",
        ("dune", "dev-q", "eval"): "missing_output",
    }
    refused = failed["fjord", "eval-q", "eval"]
    assert refused["failed_where"].endswith("eval-q_eval.stdlist.xml:325")
    assert "nan" in refused["failed_message"]


def test_the_board_has_all_systems_with_the_failed_one_last_and_without_rank(demo_run):
    board = rows(demo_run.summary, "eval-q", "eval")
    assert sorted(row["system"] for row in board) == SYSTEMS
    assert [row["system"] for row in board[-2:]] == ["basalt", "fjord"]  # the contrastive one, and who has no figure
    assert [row["rank"] for row in board] == [1, 2, 3, 4, 0, 0]
    figures = [row["atwv"] for row in board[:-2]]
    assert figures == sorted(figures, reverse=True)
    assert math.isnan(board[-1]["atwv"])


def test_measures_tell_the_systems_apart_as_they_were_made(demo_run):
    board = {row["system"]: row for row in rows(demo_run.summary, "eval-q", "eval")}
    aurora, basalt, ember = board["aurora"], board["basalt"], board["ember"]
    # Shifted scores: nothing that only looks at their order can tell, decisions and calibration can.
    assert basalt["mtwv"] == aurora["mtwv"]
    assert basalt["min_cnxe_pav"] == pytest.approx(aurora["min_cnxe_pav"], abs=1e-12)
    assert basalt["min_cnxe_affine"] == pytest.approx(aurora["min_cnxe_affine"], abs=1e-6)
    assert basalt["atwv"] < aurora["atwv"] - 0.1
    assert basalt["cnxe"] > aurora["cnxe"] + 0.1
    # Over-confident scores lose more by calibration than calibrated ones do.
    assert ember["cnxe"] - ember["min_cnxe_affine"] > 2 * (aurora["cnxe"] - aurora["min_cnxe_affine"])
    assert all(row["min_cnxe_pav"] <= row["min_cnxe_affine"] <= 1 for row in board.values() if not row["failed"])


def test_a_cell_of_the_run_equals_the_same_cell_scored_in_memory(demo_run):
    store, summary = demo_run.store, demo_run.summary
    run = latest(store, "made-up-2013")
    plan = load_plan(store, run.plan)
    job = next(job for job in plan.jobs if str(job.cell) == "eval-q/dev/cobalt")
    alone = score_files(find("sws2013"), {role: source.uri for role, source in job.inputs.items()}, cell=job.cell)
    kept = load_result(store, job.address)
    alone = replace(alone, curve=thinned(alone.curve))
    ours, theirs = (document(result, curve=True) for result in (alone, kept))
    for part in ("measures", "blocks", "curve", "facts", "signature"):
        assert ours[part] == theirs[part]
    assert summary.run_id == run.id


def test_what_people_open_is_where_the_run_says(demo_run):
    paths = demo_run.summary.paths
    page = Path(paths["index.html"]).read_text(encoding="utf-8")
    assert all(system in page for system in SYSTEMS)
    assert "eval-q_eval.stdlist.xml:325" in page
    lines = Path(paths["board.csv"]).read_text(encoding="utf-8").splitlines()
    assert len(lines) >= 1 + 24
    assert Path(paths["results.json"]).stat().st_size > 1000
    assert Path(paths["grid"]).is_file()


def test_a_second_run_reuses_everything_and_starts_neither_prefect_nor_dask(demo_run):
    before = contents(demo_run.store)
    code = (
        "import sys\nfrom flows.rescore import run_evaluation\n"
        f"s = run_evaluation({str(demo_run.evaluation)!r}, store={demo_run.store.root!r}, quiet=True)\n"
        "print(s.run_id, s.n_scored, s.n_failed, s.n_reused, *{'prefect', 'distributed'} & set(sys.modules))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.split() == [demo_run.summary.run_id, "22", "2", "24"]
    assert done.stderr == ""
    assert contents(demo_run.store) == before


@pytest.mark.parametrize("workers", [1, 4])
def test_any_number_of_workers_gives_the_same_bytes(demo_run, tmp_path, workers):
    other = Store(str(tmp_path / "store"))
    summary = run_evaluation(str(demo_run.evaluation), store=other.root, workers=workers, quiet=True)
    assert summary.run_id == demo_run.summary.run_id
    assert contents(other, *ON_EXECUTION) == contents(demo_run.store, *ON_EXECUTION)


def test_a_lost_result_is_made_again_and_nothing_else(demo_run):
    store = demo_run.store
    before = contents(store)
    plan = load_plan(store, latest(store, "made-up-2013").plan)
    store.remove(plan.jobs[3].path)
    again = run_evaluation(str(demo_run.evaluation), store=store.root, workers=1, quiet=True)
    assert again.n_reused == 23
    assert again.run_id == demo_run.summary.run_id
    assert contents(store) == before


def test_a_mended_output_is_scored_and_joins_the_board(demo_run, replaced):
    path = demo_run.evaluation.parent / "systems/fjord/eval-q_eval.stdlist.xml"
    mended = path.read_text(encoding="utf-8").replace('score="nan"', 'score="0.01"')
    with replaced(path, mended):
        summary = run_evaluation(str(demo_run.evaluation), store=demo_run.store.root, workers=1, quiet=True)
    assert (summary.n_scored, summary.n_failed, summary.n_reused) == (23, 1, 23)
    board = rows(summary, "eval-q", "eval")
    assert [(row["system"], row["rank"]) for row in board[-2:]] == [("fjord", 5), ("basalt", 0)]
    back = run_evaluation(str(demo_run.evaluation), store=demo_run.store.root, workers=1, quiet=True)
    assert back.run_id == demo_run.summary.run_id
    assert (back.n_scored, back.n_failed, back.n_reused) == (22, 2, 24)


def test_the_grid_says_units_and_sources_everywhere(demo_run):
    grid = load_grid(demo_run.store, latest(demo_run.store, "made-up-2013"))
    assert set(grid) == {"", "queries", "curves", "load"}
    for name, group in grid.items():
        for variable in group.variables:
            attributes = group[variable].attrs
            assert {"units", "long_name", "source"} <= set(attributes), f"{name}/{variable}"
