"""Large outputs are read in pieces by the workers of a cluster; what is made of them has the same bytes."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from distributed import Client, LocalCluster
from tiny import stdlist, write

from pipeline.engine.cell import do_cell
from pipeline.engine.plan import load_plan, plan
from pipeline.engine.stored.pieces import BOUND, piece_bytes
from pipeline.errors import UsageError
from pipeline.store.blobs import Store

QUERIES = [f"q{n}" for n in range(9)]
OUTPUT = stdlist(
    {query: [("ab"[row % 2], row / 4, row / 8, "NO" if row % 3 else "YES") for row in range(40)] for query in QUERIES}
)


@pytest.fixture(scope="module")
def client() -> Iterator[Client]:
    with (
        LocalCluster(n_workers=2, threads_per_worker=1, processes=False, dashboard_address="127.0.0.1:0") as cluster,
        Client(cluster) as found,
    ):
        yield found


def objects(store: Store, *folders: str) -> dict[str, bytes]:
    return {path: store.get(path) for folder in folders for path in store.listing(folder)}


@pytest.mark.parametrize("text", [OUTPUT, OUTPUT.replace("decision", "  decision", 1)], ids=["canonical", "declined"])
def test_an_output_read_in_pieces_leaves_the_same_bytes(
    tmp_path: Path, client: Client, monkeypatch: pytest.MonkeyPatch, text: str
) -> None:
    evaluation = write(tmp_path / "files", *QUERIES, systems={"s": text})
    whole, pieced = Store(str(tmp_path / "whole")), Store(str(tmp_path / "pieced"))
    made = plan(evaluation, whole)
    assert not made.pieces
    do_cell(whole, made, made.jobs[0].cell)
    monkeypatch.setenv(BOUND, "4000")
    cut = plan(evaluation, pieced)
    (found,) = cut.pieces.values()
    assert len(found) > 5
    assert load_plan(pieced, cut.address).pieces == cut.pieces
    work = do_cell(pieced, cut, cut.jobs[0].cell, client)
    assert work.costs["pieces"].n_tasks == len(found)
    kept = ("trials", "labels", "results")
    assert objects(pieced, *kept) == objects(whole, *kept)
    assert not pieced.listing("pieces")


def test_pieces_that_are_no_number_are_a_slip(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(BOUND, "-1")
    with pytest.raises(UsageError, match="whole number of bytes"):
        piece_bytes()
