"""What objects and their arrays and attributes are called: nothing is named as what the first design stored."""

from __future__ import annotations

import json
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from flows.steps import finish, score_here
from pipeline.config import load_evaluation
from pipeline.engine.plan import plan
from pipeline.engine.stored import trialstore
from pipeline.store.arrays import ENDING
from pipeline.store.blobs import Store
from tests.unit.engine import grid_of_cells as cells

FORMER = {"decimals", "partials", "totals", "kin", "traces", "amend", "tiles"}


def names(store: Store) -> Iterator[str]:
    """Every part of a path, name of an array and key of an attribute or document in a store."""
    for path in store.listing():
        yield from path.split("/")
        if path.endswith(ENDING):
            with zipfile.ZipFile(store.url(path)) as zipped:
                for entry in zipped.namelist():
                    yield from entry.split("/")
                    if entry.endswith("zarr.json"):
                        yield from keys(json.loads(zipped.read(entry)))
        elif path.endswith(".json"):
            yield from keys(json.loads(store.get(path)))


def keys(document: Any) -> Iterator[str]:
    """The keys of a document, to any depth."""
    if isinstance(document, dict):
        yield from document
        document = list(document.values())
    if isinstance(document, list):
        for part in document:
            yield from keys(part)


@pytest.mark.parametrize("rows", [1 << 20, 2])
def test_nothing_has_a_name_of_the_first_design(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, rows: int) -> None:
    monkeypatch.setattr(trialstore, "ROWS_PER_BATCH", rows)
    store = Store(str(tmp_path / "store"))
    planned = plan(load_evaluation(str(cells.write(tmp_path))), store)
    finish(store, planned, score_here(store, planned, planned.jobs))
    found = set(names(store))
    assert {"trials", "labels", "results", "first_row", "time", "outcome", "flag_meanings", "units"} <= found
    assert ("batch_object" in found) == (rows == 2)
    assert not found & FORMER
