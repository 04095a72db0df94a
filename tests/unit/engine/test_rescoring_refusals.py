"""Refused input is told once and never tried again; other faults reach scripts as documents too."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest
from distributed import Client

from pipeline.cli import main
from pipeline.config import load_evaluation
from pipeline.engine.cell import do_cell, load_result
from pipeline.engine.plan import plan
from pipeline.engine.runner import OnCluster
from pipeline.errors import Finding, InputError, PlatformError
from pipeline.grid.sweep import DAY_S, remove, survey
from pipeline.store.blobs import Store
from tests.unit.engine import grid_of_cells as cells


def refusing(note: str) -> None:
    with Path(note).open("a") as stream:
        stream.write("tried\n")
    raise InputError([Finding("bad", "refused", "f:1")])


@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
def test_a_task_that_refuses_its_input_runs_once(tmp_path: Path) -> None:
    note = tmp_path / "tries"
    one = {"processes": False, "n_workers": 1, "threads_per_worker": 1, "dashboard_address": "127.0.0.1:0"}
    with Client(**one) as client, pytest.raises(InputError, match="refused"):
        OnCluster(client).one(refusing, str(note))
    assert note.read_text() == "tried\n"


def test_a_platform_fault_is_a_document_where_documents_are_asked_for(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    evaluation, blocked = cells.write(tmp_path), tmp_path / "d.rttm"
    assert main(["run", str(evaluation), "--store", f"{blocked}/store", "--json"]) == 3
    told = capsys.readouterr()
    [error] = json.loads(told.out)["errors"]
    assert error["code"] == "platform_fault"
    assert error["message"].startswith(f"{blocked}/store: no store can be made here (Not a directory)")
    assert "no store can be made here" in told.err


def test_a_place_without_a_store_is_told(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["runs", "--store", str(tmp_path / "nowhere"), "--json"]) == 2
    told = capsys.readouterr()
    assert json.loads(told.out)["errors"][0]["code"] == "usage"
    assert "there is no store here" in told.err


def test_a_table_into_a_missing_folder_is_refused_before_anything_is_printed(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    cells.write(tmp_path)
    names = {"-e": "d.ecf.xml", "-r": "d.rttm", "-t": "p.tlist.xml", "-s": "out/good/p_d.xml"}
    inputs = [part for option, name in names.items() for part in (option, str(tmp_path / name))]
    table = str(tmp_path / "none/alignment.csv")
    assert main(["score", "--protocol", "sws2013", *inputs, "--alignment", table]) == 2
    told = capsys.readouterr()
    assert told.out == ""
    assert "there is no folder" in told.err


def test_gc_sweeps_what_killed_writers_left_and_nothing_younger(tmp_path: Path) -> None:
    store = Store(str(tmp_path / "store"))
    old, young, foreign = (f".object.{'a' * 32}", f".object.{'b' * 32}", ".hidden")
    folder = tmp_path / "store/labels"
    folder.mkdir(parents=True)
    for name in (old, young, foreign):
        (folder / name).write_bytes(b"half")
    for name in (old, foreign):
        os.utime(folder / name, (0, 0))
    sweep = survey(store, older_than_s=DAY_S)
    assert [entry.path for entry in sweep.leftovers] == [f"labels/{old}"]
    assert sweep.n_bytes == 4
    remove(store, sweep)
    assert sorted(path.name for path in folder.iterdir()) == sorted((young, foreign))


def test_a_file_that_is_refused_because_it_changed_is_no_refusal(tmp_path: Path) -> None:
    cells.write(tmp_path)
    store = Store(str(tmp_path / "store"))
    planned = plan(load_evaluation(str(tmp_path / "evaluation.yaml")), store)
    output = tmp_path / "out/good/p_d.xml"
    whole = output.read_bytes()
    output.write_bytes(whole[: len(whole) // 2])  # handed in again, and half uploaded
    job = next(job for job in planned.jobs if str(job.cell) == "p/d/good")
    with pytest.raises(PlatformError, match="changed since the run was planned"):
        do_cell(store, planned, job.cell)
    assert not store.exists(job.path)
    output.write_bytes(whole)
    do_cell(store, planned, job.cell)
    assert load_result(store, job.address).failed is None
