"""Alignment tables of stored cells: from their labels, the same for any cut into batches."""

from __future__ import annotations

from pathlib import Path

import grid_of_cells as cells
import pytest

from flows.steps import finish, score_here
from pipeline.config import load_evaluation
from pipeline.engine import tasks
from pipeline.engine.alignments import align_cell
from pipeline.engine.plan import Plan, plan
from pipeline.engine.stored import references
from pipeline.store.blobs import Store
from pipeline.terms import Cell

CELL = Cell("p", "d", "good")


@pytest.fixture
def published(tmp_path: Path) -> tuple[Store, Plan]:
    store = Store(str(tmp_path / "store"))
    references.load.cache_clear()
    planned = plan(load_evaluation(str(cells.write(tmp_path))), store)
    finish(store, planned, score_here(store, planned, planned.jobs))
    return store, planned


def test_any_batch_size_gives_the_same_rows(published: tuple[Store, Plan], monkeypatch: pytest.MonkeyPatch) -> None:
    store, planned = published
    whole = align_cell(store, planned, CELL)
    monkeypatch.setattr(tasks, "ROWS_PER_TASK", 1)
    assert repr(align_cell(store, planned, CELL)) == repr(whole)


@pytest.mark.parametrize("harm", ["lost", "damaged"])
def test_labels_that_are_gone_are_made_in_memory(published: tuple[Store, Plan], harm: str) -> None:
    store, planned = published
    whole = align_cell(store, planned, CELL)
    for path in store.listing("labels"):
        if harm == "lost":
            store.remove(path)
        else:
            store.put(path, store.get(path)[:-100])
    assert repr(align_cell(store, planned, CELL)) == repr(whole)


def test_they_come_from_the_labels(published: tuple[Store, Plan], monkeypatch: pytest.MonkeyPatch) -> None:
    store, planned = published

    def never(*_: object) -> object:
        raise AssertionError("nothing is to be aligned")

    monkeypatch.setattr("pipeline.engine.counting.aligned", never)
    before = store.listing()
    assert len(align_cell(store, planned, CELL).rows) == 5
    assert store.listing() == before
