"""The intervals of a run's page: made from what its cells hand on, and the same when they are counted again."""

from __future__ import annotations

from pathlib import Path

import pytest
from page_families import FAMILIES

from flows.steps import finish, score_here
from pipeline.config import load_evaluation
from pipeline.engine import sampled
from pipeline.engine.plan import SYSTEMS_AT_MOST, Plan, plan
from pipeline.engine.work import Work, total
from pipeline.grid import Run
from pipeline.meta import intervals
from pipeline.meta.cells import OpenCell, open_cell
from pipeline.report.uncertainty import when_cheap
from pipeline.store.blobs import Store


@pytest.mark.parametrize("family", FAMILIES)
def test_no_cell_of_a_run_is_counted_twice(family: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    store, planned = planned_in(tmp_path, family)
    work = score_here(store, planned, planned.jobs)
    scored = {job.path for job in planned.jobs if job.failed is None}
    assert set(work.samples) == scored
    counted_again = when_cheap(store, planned)
    places = dict.fromkeys((job.cell.query_set, job.cell.dataset) for job in planned.jobs)
    assert [(board.query_set, board.dataset) for board in counted_again] == list(places)

    def unscored(*args: object) -> str:
        found = open_cell(*args)  # type: ignore[arg-type]
        assert isinstance(found, str)
        return found

    monkeypatch.setattr(intervals, "open_cell", unscored)
    assert repr(when_cheap(store, planned, (), work.samples)) == repr(counted_again)


@pytest.mark.parametrize("family", ["sws2013", "stt", "lre"])
def test_a_run_has_the_bytes_of_one_whose_cells_were_there(family: str, tmp_path: Path) -> None:
    store, planned = planned_in(tmp_path / "one", family)
    other = Store(str(tmp_path / "other"))
    again = plan(load_evaluation(str(tmp_path / "one/evaluation.yaml")), other)
    handed = finish(store, planned, score_here(store, planned, planned.jobs))
    score_here(other, again, again.jobs)
    assert bytes_of(store, handed) == bytes_of(other, finish(other, again, Work()))


def test_what_is_large_is_counted_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    store, planned = planned_in(tmp_path, "sws2013")
    monkeypatch.setattr(sampled, "MOST_BYTES", 1)
    assert not score_here(store, planned, planned.jobs).samples
    assert [type(open_cell(store, planned, job)) for job in planned.jobs].count(OpenCell) == 2


def test_nothing_is_handed_on_where_pages_have_no_intervals(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    store, planned = planned_in(tmp_path, "sws2013")
    assert planned.is_compared
    assert SYSTEMS_AT_MOST == 40
    monkeypatch.setattr("pipeline.engine.plan.SYSTEMS_AT_MOST", 1)
    store = Store(str(tmp_path / "few"))
    planned = plan(load_evaluation(str(tmp_path / "evaluation.yaml")), store)
    assert not score_here(store, planned, planned.jobs).samples
    assert when_cheap(store, planned) == ()


def test_samples_are_in_no_record_and_add_up() -> None:
    one, two = (Work(samples={path: sampled.Sampled("no_units")}) for path in "ab")
    assert set((one + two).samples) == set(total([one, two]).samples) == {"a", "b"}
    assert one.document() == Work().document()


def planned_in(folder: Path, family: str) -> tuple[Store, Plan]:
    """The plan of a family's small evaluation, whose files are written, in a store that is empty otherwise."""
    folder.mkdir(exist_ok=True)
    FAMILIES[family](folder)
    store = Store(str(folder / "new"))
    return store, plan(load_evaluation(str(folder / "evaluation.yaml")), store)


def bytes_of(store: Store, run: Run) -> dict[str, bytes]:
    """The reports and results of a run."""
    paths = [*run.reports.values(), *(f"results/{name}.json" for name in run.results.values())]
    return {path: store.get(path) for path in paths}
