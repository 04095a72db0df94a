"""Inferred-segment scoring (KWSEval -g) with the tool's own figures, through the command line, at relative 1e-11.

Where we differ on purpose:

* ``seg_boundary_mid2``: a mid point on the border of two target segments. The tool lets it stand for both, and which
  detection the second segment then takes is random (marked so in the index). Ours lets each segment have its own
  detection first, so the second one, scored 0.2, is not swallowed.
* ``grp_-g_-N_f1-1``: the tool dies. Ours scores the segments that are named.
* ``unknown_kwid_seg``: the tool dies of a query that the list lacks. Ours keeps it, unscored, with a warning.
* A query whose segments are all targets has no P_FA, but it has a supremum, which needs none; the tool leaves it out
  (test6b).
* Where no query has an occurrence, TWV is undefined everywhere; the tool prints a threshold "NaN".
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from kwseval_cases import arguments, det_points, differences, index

from pipeline.cli import main

CASES = [
    *(("generated", name) for name in ("segment_inc_holes", "segment_cond")),
    *(("f4de", name) for name in ("test6b", "bn_cts_mtg_seg", "bn_cts_mtg_seginc")),
    *(("edge", name) for name in "grp_-g seg_4dec seg_cross seg_just seg_no_wins seg_noscore seg_overlap".split()),
    ("edge", "seg_spk_out"),
]
OTHERS = {"seg_boundary_mid2", "grp_-g_-N_f1-1", "unknown_kwid_seg"}
SUPREMA = {"test6b": {"TERM-01 twv_supremum", "TERM-02 twv_supremum"}}
NAMES = {
    "stwv": "atwv",
    "max_stwv": "mtwv",
    "max_stwv_threshold": "mtwv_threshold",
    "stwv_optimum": "twv_optimum",
    "stwv_supremum": "twv_supremum",
}


def _segments(argv: list[str]) -> list[str]:
    """The command line of a case, whose -g is a protocol here."""
    return ["openkws13-segments" if part == "openkws13" else part for part in argv]


def _score(capsys: pytest.CaptureFixture[str], argv: list[str]) -> dict[str, Any]:
    assert main(_segments(argv)) == 0
    document: dict[str, Any] = json.loads(capsys.readouterr().out)
    return document


def _as_occurrences(part: dict[str, Any], expected: dict[str, Any]) -> dict[str, Any]:
    """A document with measures under their names of occurrence scoring; the tool knows no duration with -g."""
    measures = {NAMES.get(name, name): figure for name, figure in part["measures"].items()}
    facts = {**part["facts"], "t_audio_s": None}
    expected["trial_params"].setdefault("TotDur", None)
    return {**part, "measures": measures, "facts": facts}


def _case(conformance: Path, family: str, name: str) -> dict[str, Any]:
    [case] = [case for case in index(conformance, family) if case["case"] == name]
    return case


def test_every_segment_case_is_listed(conformance: Path) -> None:
    known = {*CASES, *(("edge", name) for name in OTHERS)}
    for family in ("generated", "f4de", "edge"):
        cases = {(family, case["case"]) for case in index(conformance, family) if _is_segment(case)}
        assert cases == {entry for entry in known if entry[0] == family}


def _is_segment(case: dict[str, Any]) -> bool:
    return (case["options"] or {}).get("mode") == "segment"


@pytest.mark.parametrize(("family", "name"), CASES)
def test_every_figure_of_a_case(conformance: Path, capsys: pytest.CaptureFixture[str], family: str, name: str) -> None:
    case = _case(conformance, family, name)
    seen = _score(capsys, arguments(conformance, family, case))
    outputs = case.get("outputs", {})
    expected = case["expected"]["main"]
    det = det_points(conformance / "kws" / family / outputs["det.csv"]) if "det.csv" in outputs else None
    optimum = case.get("optimum_reliable", True)
    found = differences(_as_occurrences(seen, expected), expected, optimum=optimum, det=det)
    assert [item for item in found if item[0] not in SUPREMA.get(name, ())] == []
    groups = case["expected"]["groups"]
    assert set(seen.get("conditions", {})) == set(groups)
    for group, wanted in groups.items():
        part = _as_occurrences(seen["conditions"][group], wanted)
        found = differences(part, wanted, optimum=optimum, det=wanted.get("det"), own_thresholds=False)
        assert found == [], group


def test_a_border_detection_leaves_the_next_segment_its_own(
    conformance: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    case = _case(conformance, "edge", "seg_boundary_mid2")
    seen = _score(capsys, arguments(conformance, "edge", case))
    assert seen["measures"]["stwv"]["value"] == case["expected"]["main"]["actual"]["twv"]
    assert seen["measures"]["max_stwv_threshold"]["value"] == 0.2


def test_just_system_terms_is_ignored_as_the_tool_does_and_told(
    conformance: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    argv = arguments(conformance, "edge", _case(conformance, "edge", "seg_just"))
    assert "-j" in argv
    ignored, without = _score(capsys, argv), _score(capsys, [part for part in argv if part != "-j"])
    assert (ignored["measures"], ignored["blocks"]) == (without["measures"], without["blocks"])
    assert [w["code"] for w in ignored["warnings"] if "just_system_terms" in w["message"]] == ["ignored_setting"]
    heeded = _score(capsys, [*argv, "--set", "just_system_rule=apply"])
    assert len(heeded["blocks"]) < len(ignored["blocks"])
    assert not [w for w in heeded["warnings"] if w["code"] == "ignored_setting"]


def test_named_recordings_are_scored_where_the_tool_dies(conformance: Path, capsys: pytest.CaptureFixture[str]) -> None:
    case = _case(conformance, "edge", "grp_-g_-N_f1-1")
    seen = _score(capsys, arguments(conformance, "edge", case))
    assert seen["facts"]["n_trials"] == 1
    assert seen["facts"]["n_outside_ecf"] == 2


def test_an_unknown_query_is_kept_where_the_tool_dies(conformance: Path, capsys: pytest.CaptureFixture[str]) -> None:
    case = _case(conformance, "edge", "unknown_kwid_seg")
    seen = _score(capsys, arguments(conformance, "edge", case))
    assert seen["facts"]["n_queries_unknown"] == 1
    assert "unknown_query" in {warning["code"] for warning in seen["warnings"]}


@pytest.mark.parametrize("mode", ["official", "plan"])
def test_a_case_says_the_same_when_its_files_are_permuted(
    conformance: Path, capsys: pytest.CaptureFixture[str], tmp_path: Path, mode: str
) -> None:
    case = _case(conformance, "generated", "segment_cond")
    argv = arguments(conformance, "generated", case)
    output = Path(argv[argv.index("-s") + 1])
    lines = output.read_text().splitlines(keepends=True)
    opening = [at for at, line in enumerate(lines) if "<detected_kwlist" in line]
    blocks = [lines[at : lines.index("  </detected_kwlist>\n", at) + 1] for at in opening]
    shuffled = [[block[0], *reversed(block[1:-1]), block[-1]] for block in reversed(blocks)]
    permuted = tmp_path / output.name
    permuted.write_text("".join([*lines[: opening[0]], *(line for block in shuffled for line in block), lines[-1]]))
    again = [str(permuted) if part == str(output) else part for part in argv]
    documents = [_score(capsys, [*command, "--mode", mode]) for command in (argv, again)]
    for document in documents:
        document.pop("signature")
        document.pop("warnings")
    assert documents[0] == documents[1]
