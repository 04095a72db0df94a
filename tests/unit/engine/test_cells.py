"""Planning and scoring cells against a store, in this process."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
import tiny

from pipeline.engine.cell import load_result, score_cell
from pipeline.engine.load import load_facts
from pipeline.engine.plan import Plan, load_plan, missing, plan
from pipeline.engine.result import to_bytes
from pipeline.engine.score import score_files
from pipeline.errors import InputError, PlatformError, StoreError
from pipeline.formats.kws.queries import read_queries
from pipeline.metrics.kws.det import thinned
from pipeline.store.blobs import Store
from pipeline.terms import Cell, Evaluation


@pytest.fixture
def store(tmp_path: Path) -> Store:
    return Store(str(tmp_path / "store"))


def score_all(evaluation: Evaluation, store: Store) -> Plan:
    planned = plan(evaluation, store)
    for job in planned.jobs:
        assert score_cell(store, planned, job.cell) == job.address
    return planned


def test_figures_worked_by_hand(tmp_path: Path, store: Store) -> None:
    planned = score_all(tiny.write(tmp_path / "e"), store)
    good = load_result(store, planned.by_cell[Cell("q", "d", "good")].address)
    # alpha: both of 2 hit; beta: its 1 hit, 1 false alarm of 100 - 1 trials. beta of the point is 66.6566….
    assert good.figures["p_miss"].value == 0
    assert good.figures["p_fa"].value == pytest.approx((0 / 98 + 1 / 99) / 2, rel=1e-15)
    assert good.figures["atwv"].value == pytest.approx(1 - 0.99985 / 0.015 / 99 / 2, rel=1e-14)
    poor = load_result(store, planned.by_cell[Cell("q", "d", "poor")].address)
    assert [block["n_miss"] for block in poor.blocks] == [2, 1]
    assert poor.figures["p_miss"].value == 1


def test_a_run_equals_the_same_cell_in_memory(tmp_path: Path, store: Store) -> None:
    planned = score_all(tiny.write(tmp_path / "e"), store)
    job = planned.jobs[0]
    alone = score_files(planned.protocol, {role: source.uri for role, source in job.inputs.items()}, cell=job.cell)
    kept = load_result(store, job.address)
    drawn = thinned(alone.curve)
    assert to_bytes(replace(alone, sources=(), curve=drawn)) == to_bytes(
        replace(kept, sources=(), address="", made_from=())
    )


@pytest.mark.parametrize("rows_per_task", [1, 2, 3])
def test_any_split_into_tasks_gives_the_same_bytes(
    tmp_path: Path, store: Store, monkeypatch: pytest.MonkeyPatch, rows_per_task: int
) -> None:
    evaluation = tiny.write(tmp_path / "e")
    whole = score_all(evaluation, store)
    monkeypatch.setattr("pipeline.engine.tasks.ROWS_PER_TASK", rows_per_task)
    other = Store(str(tmp_path / "other"))
    score_all(evaluation, other)
    assert [other.get(job.path) for job in whole.jobs] == [store.get(job.path) for job in whole.jobs]
    assert {path: other.get(path) for path in other.listing("labels")} == {
        path: store.get(path) for path in store.listing("labels")
    }


def test_an_output_that_was_not_submitted_is_a_cell_with_a_reason(tmp_path: Path, store: Store) -> None:
    planned = score_all(tiny.write(tmp_path / "e", systems={"good": tiny.stdlist(tiny.GOOD), "absent": None}), store)
    absent = load_result(store, planned.by_cell[Cell("q", "d", "absent")].address)
    assert absent.failed == "missing_output"
    assert absent.figures == {}


def test_a_refused_output_keeps_all_problems_with_their_lines(tmp_path: Path, store: Store) -> None:
    broken = tiny.stdlist(tiny.GOOD).replace("3.0", "nan").replace("1.5", "high")
    planned = score_all(tiny.write(tmp_path / "e", systems={"good": broken}), store)
    result = load_result(store, planned.jobs[0].address)
    assert result.failed == "refused_input"
    assert [finding.where for finding in result.findings] == ["output:3", "output:7"]
    assert result.n_findings == 2


def test_a_refused_key_stops_the_run_before_anything_is_scored(tmp_path: Path, store: Store) -> None:
    evaluation = tiny.write(tmp_path / "e")
    (tmp_path / "e" / "key.rttm").write_text("LEXEME a 1 10 1 alpha\n")
    with pytest.raises(InputError) as caught:
        plan(evaluation, store)
    assert caught.value.findings[0].where == f"{tmp_path}/e/key.rttm:1"


def test_nothing_of_a_result_depends_on_where_the_files_lie(tmp_path: Path) -> None:
    stores = [Store(str(tmp_path / name)) for name in ("s1", "s2")]
    plans = [score_all(tiny.write(tmp_path / ("e" * (i + 1))), store) for i, store in enumerate(stores)]
    assert [job.address for job in plans[0].jobs] == [job.address for job in plans[1].jobs]
    for folder in ("results", "labels", "trials", "references"):
        first, second = ({path: store.get(path) for path in store.listing(folder)} for store in stores)
        assert first == second, folder


def test_done_work_is_found_and_a_changed_file_is_never_taken_for_the_planned_one(tmp_path: Path, store: Store) -> None:
    evaluation = tiny.write(tmp_path / "e")
    planned = score_all(evaluation, store)
    assert missing(planned.jobs, store) == ()
    assert load_plan(store, planned.address).jobs == planned.jobs
    other = plan(replace(evaluation, overrides=(("tolerance_s", "0.25"),)), store)
    store_before = store.listing("trials")
    score_cell(store, other, other.jobs[0].cell)
    assert store.listing("trials") == store_before
    (tmp_path / "e" / "good.xml").write_text(tiny.stdlist(tiny.POOR))
    fresh = Store(str(tmp_path / "fresh"))
    stale = plan(evaluation, fresh)
    (tmp_path / "e" / "good.xml").write_text(tiny.stdlist(tiny.GOOD))
    with pytest.raises(PlatformError, match="changed since the run was planned"):
        score_cell(fresh, stale, stale.jobs[0].cell)
    (tmp_path / "e" / "good.xml").unlink()
    with pytest.raises(PlatformError, match="gone since the run was planned"):
        score_cell(fresh, stale, stale.jobs[0].cell)
    assert missing(stale.jobs, fresh) == stale.jobs


def test_a_damaged_result_is_an_error_and_not_a_figure(tmp_path: Path, store: Store) -> None:
    planned = score_all(tiny.write(tmp_path / "e"), store)
    path = planned.jobs[0].path
    store.put(path, store.get(path).replace(b"atwv", b"atwx"))
    with pytest.raises(StoreError, match="damaged"):
        load_result(store, planned.jobs[0].address)


def test_a_result_is_that_of_its_address(tmp_path: Path, store: Store) -> None:
    planned = score_all(tiny.write(tmp_path / "e"), store)
    first, second = (job.path for job in planned.jobs)
    one, other = store.get(first), store.get(second)
    store.put(first, other)
    store.put(second, one)
    with pytest.raises(StoreError, match="is that of"):
        load_result(store, planned.jobs[0].address)
    score_all(tiny.write(tmp_path / "e"), store)
    assert [store.get(first), store.get(second)] == [one, other]


def test_a_result_says_what_it_was_made_from(tmp_path: Path, store: Store) -> None:
    planned = score_all(tiny.write(tmp_path / "e"), store)
    for job in planned.jobs:
        found = load_result(store, job.address).made_from
        assert [path.partition("/")[0] for path in found] == ["references", "trials", "labels"]
        assert all(store.exists(path) for path in found)


def test_a_new_operating_point_aligns_nothing(tmp_path: Path, store: Store) -> None:
    evaluation = tiny.write(tmp_path / "e")
    planned = score_all(evaluation, store)
    before = store.listing("labels")
    other = score_all(replace(evaluation, overrides=(("c_fa", "2"),)), store)
    assert store.listing("labels") == before
    assert {job.address for job in planned.jobs}.isdisjoint(job.address for job in other.jobs)


def test_a_refused_declaration_of_resources_costs_the_load_figures_only(tmp_path: Path, store: Store) -> None:
    evaluation = tiny.write(tmp_path / "e")
    (tmp_path / "e" / "resources.yaml").write_text("index: {wall_s: -1, cores: 1}\n")
    systems = tuple(replace(s, resources=str(tmp_path / "e" / "resources.yaml")) for s in evaluation.systems)
    planned = score_all(replace(evaluation, systems=systems), store)
    result = load_result(store, planned.jobs[0].address)
    assert result.failed is None
    assert result.figures["isf"].reason == "no_resources"
    assert any(finding.where.startswith("resources") for finding in result.findings)


def test_the_time_of_queries_is_that_of_the_listed_ones_and_of_all_of_them(tmp_path: Path) -> None:
    (tmp_path / "queries.csv").write_text("query,example,dur_s\nalpha,1,2\nalpha,2,3\nbeta,1,4\nother,1,100\n")
    with (tmp_path / "queries.csv").open("rb") as stream:
        table = read_queries(stream, "queries.csv")
    assert load_facts(None, table, None, ("alpha", "beta")).t_queries_s == 9
    assert load_facts(None, table, None, ("alpha", "gamma")).t_queries_s is None
