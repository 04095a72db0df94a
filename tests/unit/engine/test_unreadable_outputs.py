"""Outputs that cannot be opened: each spoils its own cell, with the reason, and no other."""

from __future__ import annotations

import os
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import tiny

from flows.rescore import run_evaluation
from pipeline.engine.cell import load_result, score_cell
from pipeline.engine.digests import digests
from pipeline.engine.plan import load_plan, plan
from pipeline.errors import InputError, StoreError
from pipeline.store.blobs import Store
from pipeline.terms import Cell, Evaluation, Source, System

EVALUATION = """
name: spoiled
protocol: sws2013
datasets: {d: {ecf: ecf.xml, rttm: key.rttm}}
query_sets: {q: {kwlist: terms.xml}}
systems: {pattern: 'out/{system}/{query_set}_{dataset}.xml'}
"""


def spoil(folder: Path) -> dict[str, str]:
    """Outputs of systems that cannot be opened, by name, with what is said of each."""
    for name in ("pipe", "folder", "broken", "looped", "io", "out"):
        folder.joinpath(name).mkdir(parents=True)
    os.mkfifo(folder / "pipe/q_d.xml")
    (folder / "folder/q_d.xml").mkdir()
    (folder / "broken/q_d.xml").symlink_to("none.xml")
    (folder / "looped/q_d.xml").symlink_to("q_d.xml")
    (folder / "io/q_d.xml").symlink_to("/proc/self/mem")  # a regular file whose first byte cannot be read
    (folder / "out/q_d.xml").symlink_to("/etc/hostname")
    return {
        "pipe": "it is a pipe",
        "folder": "it is a folder",
        "broken": "it is a link that leads nowhere",
        "looped": "its links lead round in a circle",
        "io": "reading it fails with an I/O error",
    }


def test_each_spoils_its_own_cell_and_the_night_goes_on(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    tiny.write(tmp_path, systems={})
    tiny_outputs = {"good": tiny.GOOD, "poor": tiny.POOR}
    for name, rows in tiny_outputs.items():
        (tmp_path / "out" / name).mkdir(parents=True)
        (tmp_path / "out" / name / "q_d.xml").write_text(tiny.stdlist(rows))
    (tmp_path / "out/-bad name").mkdir()
    (tmp_path / "out/-bad name/q_d.xml").write_text("")
    said = spoil(tmp_path / "out")
    evaluation = EVALUATION.replace("systems: {", "systems: {follow_links: true, ")
    (tmp_path / "evaluation.yaml").write_text(evaluation)
    summary = run_evaluation(str(tmp_path / "evaluation.yaml"), store=str(tmp_path / "store"), cluster="none")
    assert (summary.n_scored, summary.n_failed) == (2, len(said) + 1)
    store = Store(summary.store)
    planned = load_plan(store, _plan_of(store))
    results = {job.cell.system: load_result(store, job.address) for job in planned.jobs}
    for name, why in said.items():
        assert results[name].failed == "unreadable_output"
        ((code, message, where),) = [(one.code, one.message, one.where) for one in results[name].findings]
        assert (code, where) == ("unreadable_output", "output")
        assert f"the file cannot be read: {why}" in message
    assert results["out"].failed == "refused_input"  # followed, as the evaluation asks for
    assert [one.code for one in planned.findings] == ["bad_name"]
    assert "finds 'out/-bad name/q_d.xml', which is left out" in capsys.readouterr().err


def test_a_link_out_of_the_folder_is_a_cell_with_that_reason(tmp_path: Path) -> None:
    tiny.write(tmp_path, systems={})
    spoil(tmp_path / "out")
    (tmp_path / "evaluation.yaml").write_text(EVALUATION)
    summary = run_evaluation(
        str(tmp_path / "evaluation.yaml"), store=str(tmp_path / "store"), cluster="none", quiet=True
    )
    store = Store(summary.store)
    results = {job.cell.system: load_result(store, job.address) for job in load_plan(store, _plan_of(store)).jobs}
    for name in ("out", "io"):
        assert results[name].failed == "unreadable_output"
        assert "a link leads out of the folder of outputs" in results[name].findings[0].message


def _plan_of(store: Store) -> str:
    (path,) = store.listing("plans")
    return path.removeprefix("plans/").removesuffix(".json")


def spoiled(folder: Path, name: str) -> Evaluation:
    evaluation = tiny.write(folder)
    (folder / name).unlink()
    (folder / name).mkdir()
    return evaluation


def test_a_mended_output_is_another_cell_and_so_is_one_that_is_gone(tmp_path: Path) -> None:
    store = Store(str(tmp_path / "store"))
    evaluation = spoiled(tmp_path / "e", "poor.xml")
    addresses = [plan(evaluation, store).by_cell[Cell("q", "d", "poor")].address]
    (tmp_path / "e/poor.xml").rmdir()
    addresses.append(plan(evaluation, store).by_cell[Cell("q", "d", "poor")].address)
    (tmp_path / "e/poor.xml").write_text(tiny.stdlist(tiny.POOR))
    addresses.append(plan(evaluation, store).by_cell[Cell("q", "d", "poor")].address)
    assert len(set(addresses)) == 3


def test_resources_that_cannot_be_read_cost_the_load_alone(tmp_path: Path) -> None:
    evaluation, store = tiny.write(tmp_path / "e"), Store(str(tmp_path / "store"))
    good, poor = evaluation.systems
    declared = System(good.name, outputs=good.outputs, resources=str(tmp_path / "e"))
    planned = plan(replace(evaluation, systems=(declared, poor)), store)
    cell = Cell("q", "d", "good")
    result = load_result(store, score_cell(store, planned, cell))
    assert result.failed is None
    ((code, where),) = [(one.code, one.where) for one in result.findings if one.code == "unreadable_input"]
    assert (code, where) == ("unreadable_input", "resources")
    assert result.figures["pl"].reason == "no_resources"


def test_an_organisers_file_that_cannot_be_read_refuses_the_evaluation(tmp_path: Path) -> None:
    with pytest.raises(InputError) as refused:
        plan(spoiled(tmp_path / "e", "key.rttm"), Store(str(tmp_path / "store")))
    assert [one.code for one in refused.value.findings] == ["unreadable_input"]
    assert "it is a folder" in str(refused.value)


def test_an_object_that_its_bucket_alone_refuses_is_unreadable_and_one_of_a_bucket_that_refuses_all_is_not(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def look(uri: str, *_: Any, **__: Any) -> Any:
        if uri.endswith("secret"):
            raise StoreError(f"{uri}: cannot open the input.") from PermissionError(13, "denied")
        return Source(uri, "", "0" * 64, 1)

    monkeypatch.setattr("pipeline.engine.digests.digest", look)
    found = digests(["memory://b/key"], optional=["memory://b/secret", "memory://b/good"], cut=())
    assert found.unreadable.keys() == {"memory://b/secret"}
    assert "there is no permission to read it" in found.unreadable["memory://b/secret"]
    with pytest.raises(StoreError):
        digests(["memory://b/key"], optional=["memory://other/secret"], cut=())
    with pytest.raises(StoreError):
        digests(["memory://b/secret"], optional=["memory://b/good"], cut=())
