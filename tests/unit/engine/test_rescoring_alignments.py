"""Alignment tables of stored cells: the same for any cut into batches, swept no earlier than the tiles they are of."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

import grid_of_cells as cells
import pytest

from flows.steps import finish, score_here
from pipeline.config import load_evaluation
from pipeline.engine import alignments, references
from pipeline.engine.alignments import align_cell
from pipeline.engine.plan import Plan, plan
from pipeline.grid.sweep import remove, survey
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
    for path in store.listing("alignments"):
        store.remove(path)
    monkeypatch.setattr(alignments, "_ROWS_AT_ONCE", 1)
    assert repr(align_cell(store, planned, CELL)) == repr(whole)
    assert len(store.listing("alignments")) == 3  # alpha, beta and delta


def test_they_are_swept_with_the_tiles_they_are_of(published: tuple[Store, Plan]) -> None:
    store, planned = published
    align_cell(store, planned, CELL)
    for path in store.listing():
        os.utime(store.url(path), (1.0, 1.0))
    assert survey(store).removable == ()
    shutil.rmtree(store.url("refs"))
    remove(store, survey(store))
    assert store.listing() == {}
