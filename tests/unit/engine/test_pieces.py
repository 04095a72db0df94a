"""Large outputs are read in pieces by the workers of a cluster; what is made of them has the same bytes."""

from __future__ import annotations

import gzip
import re
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from distributed import Client, LocalCluster
from tiny import stdlist, write

from pipeline.engine.cell import do_cell, load_result
from pipeline.engine.plan import load_plan, plan
from pipeline.engine.stored import trialstore
from pipeline.engine.stored.pieces import BOUND, piece_bytes
from pipeline.engine.tasks import cut_trials, lay_batch, read_piece
from pipeline.errors import UsageError
from pipeline.store.address import digest_bytes
from pipeline.store.blobs import Store
from pipeline.terms import Evaluation

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


def read_at_once(evaluation: Evaluation, folder: Path) -> Store:
    """A store with the evaluation's only cell, whose output was not cut."""
    store = Store(str(folder))
    made = plan(evaluation, store)
    assert not made.pieces
    do_cell(store, made, made.jobs[0].cell)
    return store


def objects(store: Store, *folders: str) -> dict[str, bytes]:
    return {path: store.get(path) for folder in folders for path in store.listing(folder)}


@pytest.mark.parametrize("rows", [1 << 20, 100], ids=["one object", "batches"])
@pytest.mark.parametrize("text", [OUTPUT, OUTPUT.replace("decision", "  decision", 1)], ids=["canonical", "declined"])
def test_an_output_read_in_pieces_leaves_the_same_bytes(
    tmp_path: Path, client: Client, monkeypatch: pytest.MonkeyPatch, text: str, rows: int
) -> None:
    monkeypatch.setattr(trialstore, "ROWS_PER_BATCH", rows)
    evaluation = write(tmp_path / "files", *QUERIES, systems={"s": text})
    whole, pieced = read_at_once(evaluation, tmp_path / "whole"), Store(str(tmp_path / "pieced"))
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
    assert (work.costs["layout"].n_tasks > 2) == (rows == 100)
    here = Store(str(tmp_path / "here"))
    do_cell(here, plan(evaluation, here), cut.jobs[0].cell)
    assert objects(here, *kept) == objects(whole, *kept)
    assert not here.listing("pieces")


@pytest.mark.parametrize("text", [OUTPUT, OUTPUT.replace("decision", "  decision", 1)], ids=["canonical", "declined"])
def test_a_packed_output_is_read_in_parts(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, text: str) -> None:
    monkeypatch.setattr(trialstore, "ROWS_PER_BATCH", 100)
    evaluation = write(tmp_path / "files", *QUERIES, systems={"s": text})
    path = tmp_path / "files" / "s.xml"
    packed = path.with_suffix(".xml.gz")
    packed.write_bytes(gzip.compress(path.read_bytes(), mtime=0))
    system = replace(evaluation.systems[0], outputs={("q", "d"): str(packed)})
    evaluation = replace(evaluation, systems=(system,))
    whole, store = read_at_once(evaluation, tmp_path / "whole"), Store(str(tmp_path / "store"))
    monkeypatch.setenv(BOUND, "4000")
    cut = plan(evaluation, store)
    assert cut.pieces == {digest_bytes(packed.read_bytes()): ((0, digest_bytes(packed.read_bytes())),)}
    read_piece(store, cut.address, cut.jobs[0].cell, 0)
    parts = sorted(store.listing("pieces"))
    assert (len(parts) > 3) == (text == OUTPUT)
    if text == OUTPUT:
        store.remove(parts[2])
    do_cell(store, cut, cut.jobs[0].cell)
    kept = ("trials", "labels", "results")
    assert objects(store, *kept) == objects(whole, *kept)
    assert not store.listing("pieces")


def test_what_is_wrong_is_told_alike_however_the_file_is_cut(
    tmp_path: Path, client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    wrong = re.sub(r'score="[0-9.]*5"', 'score="high"', OUTPUT).replace('decision="YES"', 'decision="yes"')
    evaluation = write(tmp_path / "files", *QUERIES, systems={"s": wrong})
    whole, pieced = read_at_once(evaluation, tmp_path / "whole"), Store(str(tmp_path / "pieced"))
    monkeypatch.setenv(BOUND, "4000")
    cut = plan(evaluation, pieced)
    do_cell(pieced, cut, cut.jobs[0].cell, client)
    assert objects(pieced, "trials", "results") == objects(whole, "trials", "results")
    result = load_result(pieced, cut.jobs[0].address)
    assert (result.failed, len(result.findings), result.n_findings) == ("refused_input", 20, 9 * (35 + 14))
    assert not pieced.listing("pieces")


@pytest.mark.parametrize("score", ["0.{}", "-{}.5"], ids=["as numbers", "as texts"])
def test_scores_that_sort_as_texts(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, score: str) -> None:
    monkeypatch.setattr(trialstore, "ROWS_PER_BATCH", 100)
    numbers = iter(range(1, 1000))
    text = re.sub(r'score="[^"]*"', lambda _: f'score="{score.format(next(numbers))}"', OUTPUT)
    text = text.replace("decision", "  decision", 1)
    evaluation = replace(write(tmp_path / "files", *QUERIES, systems={"s": text}), protocol="openkws13")
    whole, pieced = read_at_once(evaluation, tmp_path / "whole"), Store(str(tmp_path / "pieced"))
    monkeypatch.setenv(BOUND, "4000")
    cut = plan(evaluation, pieced)
    assert cut.pieces
    do_cell(pieced, cut, cut.jobs[0].cell)
    kept = ("trials", "labels", "results")
    assert objects(pieced, *kept) == objects(whole, *kept)
    assert not pieced.listing("pieces")


@pytest.mark.parametrize("text", [OUTPUT, OUTPUT.replace("decision", "  decision", 1)], ids=["canonical", "declined"])
def test_what_a_killed_run_left_is_used_or_made_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, text: str
) -> None:
    monkeypatch.setattr(trialstore, "ROWS_PER_BATCH", 100)
    evaluation = write(tmp_path / "files", *QUERIES, systems={"s": text})
    whole, store = read_at_once(evaluation, tmp_path / "whole"), Store(str(tmp_path / "store"))
    monkeypatch.setenv(BOUND, "4000")
    cut = plan(evaluation, store)
    place = store, cut.address, cut.jobs[0].cell
    (found,) = cut.pieces.values()
    read = [read_piece(*place, k) for k in range(len(found))]
    ranges, _ = cut_trials(*place, read)
    assert len(ranges) > 3
    for ends in ranges[:3]:
        lay_batch(*place, *ends)
    batches = store.listing("trials")
    assert len(batches) == 3
    one, other = sorted(batches)[:2]
    store.put(one, store.get(one)[:-7])  # cut short: told by its end
    store.put(other, bytes([store.get(other)[0] ^ 1]) + store.get(other)[1:])  # told when its rows are read
    lost, *others = sorted(store.listing("pieces"), key=lambda path: (path.count("."), path))
    store.remove(lost)
    for damaged in others[-2:]:
        store.put(damaged, store.get(damaged)[:100] + b"!" + store.get(damaged)[101:])
    do_cell(store, cut, cut.jobs[0].cell)
    kept = ("trials", "labels", "results")
    assert objects(store, *kept) == objects(whole, *kept)
    assert not store.listing("pieces")


def test_a_file_of_one_block_is_one_piece(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    rows = {"q1": [("a", row / 4, row / 8, "YES") for row in range(200)]}
    evaluation = write(tmp_path / "files", *QUERIES, systems={"s": stdlist(rows)})
    whole, store = read_at_once(evaluation, tmp_path / "whole"), Store(str(tmp_path / "store"))
    monkeypatch.setenv(BOUND, "4000")
    cut = plan(evaluation, store)
    (source,) = {job.inputs["output"].sha256 for job in cut.jobs}
    assert cut.pieces == {source: ((0, source),)}
    do_cell(store, cut, cut.jobs[0].cell)
    kept = ("trials", "labels", "results")
    assert objects(store, *kept) == objects(whole, *kept)


def test_pieces_that_are_no_number_are_a_slip(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(BOUND, "-1")
    with pytest.raises(UsageError, match="whole number of bytes"):
        piece_bytes()
