"""Mean average precision against KWSEval (-zG MAP), which ranks scores as text."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from kwseval_cases import arguments, close, index

from pipeline.cli import main
from pipeline.engine.cell import load_result, score_cell
from pipeline.engine.plan import plan
from pipeline.store.blobs import Store
from pipeline.terms import Dataset, Evaluation, QuerySet, System

CASES = [("f4de", "bn_cts_mtg"), ("edge", "map_string"), ("edge", "map_string2"), ("edge", "map_tie")]


def _case(conformance: Path, family: str, name: str) -> dict[str, Any]:
    [case] = [case for case in index(conformance, family) if case["case"] == name]
    return case


def _score(capsys: pytest.CaptureFixture[str], argv: list[str]) -> dict[str, Any]:
    assert main(argv) == 0
    document: dict[str, Any] = json.loads(capsys.readouterr().out)
    return document


@pytest.mark.parametrize(("family", "name"), CASES)
def test_map_and_the_average_precision_of_every_query(
    conformance: Path, capsys: pytest.CaptureFixture[str], family: str, name: str
) -> None:
    case = _case(conformance, family, name)
    seen, expected = _score(capsys, arguments(conformance, family, case)), case["expected"]["main"]
    assert close(seen["measures"]["map"]["value"], expected["global"]["MAP"])
    blocks = {block["id"]: block["average_precision"] for block in seen["blocks"]}
    wanted = {name: keyword.get("ap_MAP") for name, keyword in expected["keywords"].items()}
    assert {name for name in wanted if not close(blocks[name], wanted[name])} == set()


@pytest.mark.parametrize("extra", [["--mode", "plan"], ["--set", "map_order=number"]])
def test_numbers_rank_as_numbers_where_text_is_not_asked_for(
    conformance: Path, capsys: pytest.CaptureFixture[str], extra: list[str]
) -> None:
    """Scores 10, 9.5 and 9, the second a false alarm: (1/1 + 2/3) / 2. As text 9.5 comes first: (1/2 + 2/3) / 2."""
    argv = arguments(conformance, "edge", _case(conformance, "edge", "map_string"))
    assert _score(capsys, [*argv, *extra])["measures"]["map"]["value"] == pytest.approx(5 / 6, rel=1e-15)
    assert _score(capsys, argv)["measures"]["map"]["value"] == pytest.approx(7 / 12, rel=1e-15)


def test_a_run_in_a_store_ranks_text_too(conformance: Path, tmp_path: Path) -> None:
    folder, store = conformance / "kws" / "edge" / "map_string", Store(str(tmp_path / "store"))
    values = {}
    for mode in ("official", "plan"):
        evaluation = Evaluation(
            name="map",
            protocol="openkws13",
            mode=mode,
            overrides=(),
            datasets=(Dataset("d", str(folder / "e.ecf.xml"), str(folder / "r.rttm")),),
            query_sets=(QuerySet("q", str(folder / "k.kwlist.xml")),),
            systems=(System("s", outputs={("q", "d"): str(folder / "s.kwslist.xml")}),),
        )
        work = plan(evaluation, store)
        [job] = work.jobs
        score_cell(store, work, job.cell)
        values[mode] = load_result(store, job.address).figures["map"].value
    assert values == {"official": pytest.approx(7 / 12, rel=1e-15), "plan": pytest.approx(5 / 6, rel=1e-15)}
