from __future__ import annotations

import json

import pytest
from made_grid import HOSTILE, MESSAGE, WHERE

from pipeline.engine.result import document
from pipeline.report.write import results_json


def refuse(constant: str) -> None:
    pytest.fail(f"{constant} is not JSON")


@pytest.fixture(scope="module")
def read(made):
    return json.loads(b"".join(results_json(*made)), parse_constant=refuse)


def test_the_file_holds_the_document_of_every_cell(made, read):
    assert read["results"] == [document(result) for result in made[1]]


def test_the_runs_attributes_stand_at_the_top(read):
    assert read["evaluation"] == "Spoken Web Search 2013"
    assert read["edition"] == 1
    assert list(read)[-1] == "results"


def test_undefined_and_infinite_figures_are_strict_json(read):
    fourth = next(r for r in read["results"] if r["cell"]["system"] == HOSTILE[3])
    assert fourth["measures"]["cnxe"]["value"] == "inf"
    assert fourth["blocks"][0]["p_miss"] is None
    assert fourth["blocks"][0]["threshold"] == "inf"
    fifth = next(r for r in read["results"] if r["cell"]["system"] == HOSTILE[4])
    assert fifth["measures"]["mtwv_threshold"]["value"] is None
    assert fifth["measures"]["mtwv_threshold"]["reason"] == "reject_all"


def test_failed_cells_say_what_was_wrong_and_where(read):
    (refused,) = [r for r in read["results"] if r.get("failed") == "refused_input"]
    assert refused["errors"][0] == {"code": "bad_score", "message": MESSAGE, "where": WHERE}
    assert refused["n_errors"] == 41


def test_one_document_a_line_and_one_piece_a_cell(made):
    pieces = list(results_json(*made))
    assert len(pieces) == len(made[1]) + 2
    lines = b"".join(pieces).decode().splitlines()
    assert json.loads(lines[1].rstrip(",")) == document(made[1][0])


def test_a_run_without_results_is_still_a_document(made):
    assert json.loads(b"".join(results_json(made[0], [])))["results"] == []
