"""Damaged and lost objects: reported, made again, never a value and never an endless stop."""

from __future__ import annotations

import io
import logging
import zipfile
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
import tiny

from flows.steps import finish, score_here
from pipeline.cli import main
from pipeline.engine.plan import Plan, missing, plan
from pipeline.engine.result import from_bytes, to_bytes
from pipeline.engine.stored import references
from pipeline.engine.work import Work
from pipeline.errors import StoreError
from pipeline.grid import Run, faults, latest
from pipeline.store import zips
from pipeline.store.blobs import Store
from pipeline.terms import Evaluation, Figure

RINGS = ("references", "trials", "labels")


def run(evaluation: Evaluation, store: Store) -> tuple[Plan, Run, Work]:
    """What `rescore run` does, in this process."""
    references.load.cache_clear()
    planned = plan(evaluation, store)
    work = score_here(store, planned, missing(planned.jobs, store))
    return planned, finish(store, planned, work), work


def contents(store: Store, *without: str) -> dict[str, bytes]:
    return {path: store.get(path) for path in store.listing() if path.partition("/")[0] not in without}


def flip(data: bytes) -> bytes:
    return data[: len(data) // 2] + bytes([data[len(data) // 2] ^ 1]) + data[len(data) // 2 + 1 :]


def cut(data: bytes) -> bytes:
    return data[: len(data) // 2]


def without_a_chunk(data: bytes) -> bytes:
    """A zip whose seals are all right, and which lacks a chunk: Zarr reads zeros there."""
    with zipfile.ZipFile(io.BytesIO(data)) as zipped:
        chunks = [name for name in zipped.namelist() if "/c/" in name]
        left = zips.pack((name, zipped.read(name)) for name in zipped.namelist() if name != chunks[0])
    assert len(left) < len(data)
    return left


@pytest.fixture
def store(tmp_path: Path) -> Store:
    return Store(str(tmp_path / "store"))


@pytest.mark.parametrize("harm", [flip, cut, without_a_chunk])
@pytest.mark.parametrize("ring", RINGS)
def test_every_damaged_object_of_a_ring_is_made_again(
    tmp_path: Path, store: Store, ring: str, harm: Callable[[bytes], bytes], caplog: pytest.LogCaptureFixture
) -> None:
    planned, _, _ = run(tiny.write(tmp_path / "e"), store)
    before = contents(store)
    for path in store.listing():
        folder = path.partition("/")[0]
        if folder == ring:
            store.put(path, harm(store.get(path)))
        elif folder == "results":
            store.remove(path)
    with caplog.at_level(logging.WARNING, "rescore"):
        _, again, _ = run(tiny.write(tmp_path / "e"), store)
    assert contents(store, "refs") == {path: data for path, data in before.items() if not path.startswith("refs/")}
    damaged = {path.partition("/")[0] for path in again.work["damaged"]}
    assert damaged == {ring}
    assert any(record.message.startswith(ring) for record in caplog.records)
    assert len(latest(store, "tiny").work["damaged"]) == len(again.work["damaged"])
    assert missing(planned.jobs, store) == ()


@pytest.mark.parametrize("ring", RINGS)
def test_a_chunk_left_out_of_a_valid_zip_is_found_by_verify(
    tmp_path: Path, store: Store, ring: str, capsys: pytest.CaptureFixture[str]
) -> None:
    run(tiny.write(tmp_path / "e"), store)
    path = next(iter(store.listing(ring)))
    store.put(path, without_a_chunk(store.get(path)))
    assert main(["show", "tiny", "--verify", "--store", store.root]) == 3
    assert f"damaged: {path}" in capsys.readouterr().out


@pytest.mark.parametrize("harm", [flip, cut])
def test_damaged_tables_are_parsed_again(tmp_path: Path, store: Store, harm: Callable[[bytes], bytes]) -> None:
    run(tiny.write(tmp_path / "e"), store)
    before, tables = contents(store), store.listing("tables")
    for path in [*tables, *store.listing("references")]:
        store.put(path, harm(store.get(path))) if path in tables else store.remove(path)
    _, again, _ = run(tiny.write(tmp_path / "e"), store)
    assert again.work["damaged"] == list(tables)
    assert contents(store, "refs") == {path: data for path, data in before.items() if not path.startswith("refs/")}


@pytest.mark.parametrize("harm", [flip, cut])
def test_a_damaged_plan_is_written_again(tmp_path: Path, store: Store, harm: Callable[[bytes], bytes]) -> None:
    planned, published, _ = run(tiny.write(tmp_path / "e"), store)
    path = f"plans/{planned.address}.json"
    before = store.get(path)
    store.put(path, harm(before))
    assert faults(store, published.id) == [path]
    run(tiny.write(tmp_path / "e"), store)
    assert store.get(path) == before
    assert faults(store, published.id) == []


def test_a_damaged_result_is_made_again_when_the_run_is_published(tmp_path: Path, store: Store) -> None:
    evaluation = tiny.write(tmp_path / "e")
    planned, _, _ = run(evaluation, store)
    before = contents(store)
    path = planned.jobs[0].path
    store.put(path, flip(store.get(path)))
    _, again, _ = run(evaluation, store)
    assert again.work["damaged"] == [path]
    assert contents(store, "refs") == {path: data for path, data in before.items() if not path.startswith("refs/")}


def forge(store: Store, path: str) -> None:
    """Another figure, sealed as if it had been computed."""
    found = from_bytes(store.get_sealed(path))
    assert found.figures["atwv"].value != 0.99
    store.put_sealed(path, to_bytes(replace(found, figures={**found.figures, "atwv": Figure(0.99)})))


def exchange(store: Store, path: str, other: str) -> None:
    first, second = store.get(path), store.get(other)
    store.put(path, second)
    store.put(other, first)


@pytest.mark.parametrize("harm", ["forged", "exchanged"])
def test_a_result_that_no_run_recorded_is_made_again(
    tmp_path: Path, store: Store, harm: str, capsys: pytest.CaptureFixture[str]
) -> None:
    evaluation = tiny.write(tmp_path / "e")
    planned, published, _ = run(evaluation, store)
    before = contents(store)
    paths = [job.path for job in planned.jobs]
    if harm == "forged":
        forge(store, paths[0])
    else:
        exchange(store, *paths)
    assert main(["verify", str(planned.jobs[0].cell), "--run", published.id, "--store", store.root]) == 3
    assert paths[0] in faults(store, published.id)
    _, again, _ = run(evaluation, store)
    assert again.work["damaged"] == sorted(paths if harm == "exchanged" else paths[:1])
    assert contents(store, "refs") == {path: data for path, data in before.items() if not path.startswith("refs/")}
    told = "atwv is kept as 0.99" if harm == "forged" else "it is the result of"
    assert told in capsys.readouterr().err


@pytest.mark.parametrize("folder", ["grids", "runs", "reports"])
def test_a_damaged_part_of_a_published_run_is_written_again(tmp_path: Path, store: Store, folder: str) -> None:
    evaluation = tiny.write(tmp_path / "e")
    _, published, _ = run(evaluation, store)
    before = contents(store)
    for path in store.listing(folder):
        store.put(path, cut(store.get(path)))
    _, again, _ = run(evaluation, store)
    assert again.id == published.id
    assert faults(store, again.id) == []
    assert contents(store) == before


def test_a_damaged_reference_to_the_latest_run_is_made_again(tmp_path: Path, store: Store) -> None:
    evaluation = tiny.write(tmp_path / "e")
    _, published, _ = run(evaluation, store)
    [ref] = store.listing("refs")
    store.put(ref, b"{")
    with pytest.raises(StoreError, match="damaged"):
        latest(store, "tiny")
    run(evaluation, store)
    assert latest(store, "tiny").id == published.id
    assert list(store.listing("refs")) == [ref]


def test_a_refused_output_is_not_read_again(tmp_path: Path, store: Store) -> None:
    text = tiny.stdlist(tiny.GOOD).replace('score="3.0"', 'score="nan"')
    evaluation = tiny.write(tmp_path / "e", systems={"bad": text})
    planned, _, _ = run(evaluation, store)
    result = store.get(planned.jobs[0].path)
    store.remove(planned.jobs[0].path)
    (tmp_path / "e" / "bad.xml").unlink()  # what is not there cannot be read
    score_here(store, planned, planned.jobs)
    assert store.get(planned.jobs[0].path) == result


def test_a_store_that_cannot_be_reached_is_an_error_and_nothing_is_discarded(tmp_path: Path) -> None:
    store = Store(str(tmp_path / "store"))
    planned, _, _ = run(tiny.write(tmp_path / "e"), store)
    before = contents(store)
    blocked = Store(f"{tmp_path}/e/ecf.xml")  # a file, where a folder is needed
    with pytest.raises(StoreError) as caught:
        score_here(blocked, planned, planned.jobs)
    assert type(caught.value) is StoreError
    assert contents(store) == before
