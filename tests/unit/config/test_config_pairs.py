"""Which (query set, dataset) pairs are cells: two ways to say it, and everything that contradicts itself."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from evaluation_files import FOUND, HEAD, Folder

from pipeline.config import load_evaluation
from pipeline.terms import Cell

Faults = Callable[[str], list[tuple[str, int, str]]]
PAIRED = "pairs: [[dev, african], [eval, indian]]\n"
OWN = HEAD.replace("african.rttm}", "african.rttm, query_sets: [dev]}").replace(
    "indian.rttm}", "indian.rttm, query_sets: [eval]}"
)


@pytest.fixture(autouse=True)
def only_the_pairs(folder: Folder) -> None:
    for path in (*folder.root.glob("outputs/*/dev/indian*"), *folder.root.glob("outputs/*/eval/african*")):
        path.unlink()


@pytest.mark.parametrize("text", [HEAD + PAIRED + FOUND, OWN + FOUND])
def test_both_ways_give_the_same_cells_and_the_others_are_none(folder: Folder, text: str) -> None:
    evaluation = load_evaluation(folder.write(text))
    assert evaluation.pairs == (("dev", "african"), ("eval", "indian"))
    assert [str(cell) for cell in evaluation.cells()][:2] == ["dev/african/alpha", "eval/indian/alpha"]
    assert len(evaluation.cells()) == 6
    assert Cell("dev", "indian", "alpha") not in evaluation.cells()


def test_a_dataset_without_query_sets_of_its_own_takes_all(folder: Folder) -> None:
    text = HEAD.replace("african.rttm}", "african.rttm, query_sets: [dev]}") + FOUND
    evaluation = load_evaluation(folder.write(text))
    assert evaluation.pairs == (("dev", "african"), ("dev", "indian"), ("eval", "indian"))


def test_a_pattern_needs_no_name_that_the_pairs_settle(folder: Folder, faults: Faults) -> None:
    folder.add("flat/alpha/african.xml", "flat/alpha/indian.xml")
    flat = "systems:\n  pattern: flat/{system}/{dataset}.xml\n"
    (alpha,) = load_evaluation(folder.write(HEAD + PAIRED + flat)).systems
    assert set(alpha.outputs) == {("dev", "african"), ("eval", "indian")}
    ((code, line, message),) = faults(HEAD + flat)
    assert (code, line) == ("bad_placeholder", 10)
    assert "needs {query_set}" in message


def test_keys_are_looked_for_where_a_pair_needs_them_alone(folder: Folder) -> None:
    folder.add("keys/dev/african.rttm")
    text = HEAD.replace("rttm: keys/african.rttm", "rttm: 'keys/{query_set}/{dataset}.rttm'") + PAIRED + FOUND
    assert len(load_evaluation(folder.write(text)).pairs) == 2


def test_every_contradiction_is_told_at_once(faults: Faults) -> None:
    found = faults(HEAD + "pairs:\n- [dev, african]\n- [dev, african]\n- [dve, indain]\n- [dev]\n- dev\n" + FOUND)
    assert sorted((line, code) for code, line, _ in found) == [
        (5, "contradiction"),  # indian
        (8, "contradiction"),  # eval
        (11, "duplicate_key"),
        (12, "unknown_dataset"),
        (12, "unknown_query_set"),
        (13, "wrong_type"),
        (14, "wrong_type"),
    ]
    told = " ".join(message for _, _, message in found)
    assert "`pairs.2` names no query set (got 'dve', allowed: dev, eval)" in told
    assert "`datasets.indian` has no query set left: no pair names it" in told


@pytest.mark.parametrize("value", ["[]", "dev", "{}", ""])
def test_pairs_are_a_list(faults: Faults, value: str) -> None:
    assert (9, "wrong_type") in {(line, code) for code, line, _ in faults(HEAD + f"pairs: {value}\n" + FOUND)}


def test_both_ways_at_once_are_refused(faults: Faults) -> None:
    ((code, line, message),) = faults(OWN + PAIRED + FOUND)
    assert (code, line) == ("contradiction", 9)
    assert "`datasets.african.query_sets` in line 4 both say which cells exist" in message


def test_query_sets_of_a_dataset_are_known_and_some(faults: Faults) -> None:
    text = HEAD.replace("african.rttm}", "african.rttm, query_sets: []}")
    text = text.replace("indian.rttm}", "indian.rttm, query_sets: [dev, dev, dve]}")
    found = sorted((line, code) for code, line, _ in faults(text + FOUND))
    assert found == [(4, "missing_field"), (5, "duplicate_key"), (5, "unknown_query_set"), (8, "contradiction")]


def test_settings_outputs_and_files_of_no_cell_are_refused(folder: Folder, faults: Faults) -> None:
    folder.add("outputs/beta/dev/indian.kwslist.xml")
    text = HEAD.replace("african.rttm}", "african.rttm, settings: {tolerance_s: {eval: 1}}}")
    own = "  delta: {outputs: {eval/african: x.xml}}\n"
    found = faults(text + PAIRED + FOUND + own)
    assert sorted((line, code) for code, line, _ in found) == [
        (4, "unknown_cell"),
        (11, "unknown_cell"),
        (12, "unknown_cell"),
    ]
    assert any("dev/indian is no cell of this evaluation" in message for _, _, message in found)


def test_an_overlay_of_no_cell_is_refused(faults: Faults) -> None:
    about = "author: A, reason: R, date: 2026-01-01"
    layer = f"overlays:\n- {{withdraw_queries: [q], {about}, query_sets: [dev], datasets: [indian]}}\n"
    ((code, line, message),) = faults(HEAD + PAIRED + layer + FOUND)
    assert (code, line) == ("unknown_cell", 11)
    assert "holds for no cell" in message
