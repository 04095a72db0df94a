"""What a run asks of a bucket and leaves in it: few requests and few objects a cell, counted on a real server."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from pathlib import Path

import pytest

from bench.s3 import MOST_REQUESTS, score
from bench.s3_cells import write_cells
from pipeline.demo.evaluation import write_evaluation
from pipeline.grid import latest
from pipeline.store.blobs import Store
from tests.s3_faults import FaultProxy
from tests.s3_server import S3Server

SHARED = {"tables", "references", "plans", "grids", "runs", "refs"}
"""Folders whose objects are the run's, or those of all cells of a query set and dataset."""
MOST_OBJECTS = 6


def folders(store: Store) -> Counter[str]:
    return Counter(path.partition("/")[0] for path in store.listing())


CASES: dict[str, tuple[int, Callable[[Path], Path]]] = {
    "demo": (24, write_evaluation),
    "20 queries": (8, lambda place: write_cells(place, 8, 20)),
    "500 queries": (8, lambda place: write_cells(place, 8, 500)),
    "20 queries, five lists": (10, lambda place: write_cells(place, 2, 20, 5)),
    "500 queries, five lists": (10, lambda place: write_cells(place, 2, 500, 5)),
}


@pytest.mark.parametrize("case", CASES)
def test_a_cell_takes_few_requests_and_leaves_few_objects(
    case: str, tmp_path: Path, s3: S3Server, s3_spoiled: FaultProxy
) -> None:
    n_cells, write = CASES[case]
    evaluation, store = str(write(tmp_path / "evaluation")), Store(f"s3://{s3.bucket()}/store")
    s3_spoiled.kinds.clear()
    assert score(evaluation, store) == n_cells
    assert set(s3_spoiled.kinds) <= {"get", "range get", "head", "put", "list"}
    assert s3_spoiled.kinds.total() <= MOST_REQUESTS * n_cells
    left = folders(store)
    assert left["results"] == n_cells
    assert sum(n for folder, n in left.items() if folder not in SHARED) <= MOST_OBJECTS * n_cells
    run = latest(store, "made-up-2013" if case == "demo" else "cells")
    s3_spoiled.kinds.clear()
    assert score(evaluation, store) == 0
    # A key is looked at, whether it serves anybody, before anybody is scored.
    n_keys = len({cell.rpartition("/")[0] for cell in run.results})
    assert s3_spoiled.kinds.total() <= n_cells + len(run.reports) + n_keys + 18


def test_sibling_lists_share_trials_and_each_costs_labels_and_a_result(tmp_path: Path) -> None:
    store = Store(str(tmp_path / "store"))
    assert score(str(write_cells(tmp_path / "one", 2, 20, 1)), store) == 2
    before = store.listing()
    assert score(str(write_cells(tmp_path / "five", 2, 20, 5)), store) == 10 - 2
    made = Counter(path.partition("/")[0] for path in store.listing() if path not in before)
    assert (made["trials"], made["labels"], made["results"], made["references"]) == (0, 8, 8, 4)
    assert made["tables"] == 4  # the lists themselves; key and ECF are not parsed again
