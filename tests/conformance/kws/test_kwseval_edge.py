"""KWSEval's one-question probes: what the tool does, and where we do something else on purpose."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from kwseval_cases import arguments, differences, index

from pipeline.cli import main

NOTHING_FOUND = (
    "no detection of a scored query is left: prints NA as Optimum and Supremum",
    "both are 0, the value of a system that outputs nothing",
    "they are bounds of a system that is scored (ATWV 0)",
)
"""Probes whose only difference this is are in ``SILENT``."""
SILENT = frozenset(
    "ecf_float ecf_ref_multi_cross empty_detected empty_kwslist empty_kwslist2 fn_det_dots_sph fn_det_wav "
    "t_-1.0_0.5".split()
)
OTHERWISE = {
    "amp": ("does not unescape kwtext: `a&amp;b` is those 7 characters", "XML is unescaped", "the text is a&b"),
    "amp_esc_rttm": ("finds the RTTM token `a&amp;b`", "XML is unescaped: no occurrence", "the text is a&b"),
    "bom_rttm": ("loses the first record of an RTTM with a BOM", "reads it, warning `bom`", "a lost reference"),
    "bypass_X_oneline": ("-X reads one element a line, others are lost", "reads XML in any layout", "lost rows"),
    "dup_time_tie": ("picks at random", "the earlier, shorter, then the YES", "equal input, equal output"),
    "grp_-P_-G_-O": ("-P with -G puts everything into NoTargets", "groups by the key", "a fault of the tool"),
    "inconsistent_across_kw": (
        "-o dies: decisions follow no common threshold",
        "scores them, warning `inconsistent_decisions`",
        "plan 004 section 3.5 leaves decisions free",
    ),
    "sc_-INF": ("-o dies as above", "scores it, warning `inconsistent_decisions`", "infinite scores are legal"),
    "sc_1E-05": ("-o dies as above", "scores it, warning `inconsistent_decisions`", "decisions are free"),
    "sc_inf": ("refuses `inf`, takes `INF`", "takes both", "an infinity in any spelling"),
    "sc_1e400": ("scores it; its own figures cannot be read back", "refuses it", "an infinity is spelled as one"),
    "comment_multi": ("refuses a comment over several lines", "reads XML in any layout", "well-formed"),
    "kwtext_newline": ("refuses a line break in kwtext", "a line break is white space", "well-formed"),
    "single_quotes": ("refuses single quotes", "reads XML in any layout", "well-formed"),
    "enc_empty": ("refuses encoding=''", "reads it, warning `unknown_encoding`", "the XML declares its encoding"),
    "extra_attr": ("refuses unknown attributes", "reads on", "nothing is lost"),
    "missing_oov": ("requires oov_count", "takes it as not declared", "plan 004 A.5 makes it optional"),
    "kwid_unicode_decl": ("reads the output as bytes: the query is unknown", "reads characters", "same query"),
    "kwid_unicode_nodecl": ("reads the output as bytes: the query is unknown", "reads characters", "same query"),
    "nbsp_in_rttm": ("splits fields at any white space", "splits at ASCII white space", "a token may hold others"),
    "rttm10": ("refuses 10 fields", "reads them, warning `ten_fields`", "plan 004 appendix C has 10"),
    "tot_eq_targ": (
        "dies: division by zero",
        "undefined, reason `no_nontarget_trials`",
        "a figure without a denominator does not exist",
    ),
    "t_10_1e-1": ("the schema refuses exponents in times", "reads the number", "xs:decimal is the schema's"),
    "t_1e1_0.5": ("the schema refuses exponents in times", "reads the number", "xs:decimal is the schema's"),
}
"""Probe: what the tool does, what we do, and why."""
WITHOUT_DECISIONS = frozenset({"inconsistent_across_kw_det", "no_highscore_wins"})
"""Probes without -o, which alone computes the range of decisions."""


def _probes(conformance: Path) -> dict[str, dict[str, Any]]:
    return {case["case"]: case for case in index(conformance, "edge") if case["options"]["mode"] == "occurrence"}


def _run(argv: list[str], capsys: pytest.CaptureFixture[str]) -> tuple[int, dict[str, Any]]:
    status = main(argv)
    return status, json.loads(capsys.readouterr().out)


def _found(case: dict[str, Any], seen: dict[str, Any]) -> list[tuple[str, Any, Any]]:
    main_part = case["expected"]["main"]
    decisions = case["case"] not in WITHOUT_DECISIONS
    found = differences(seen, main_part, optimum=True, det=main_part.get("det"), decisions=decisions)
    for group, wanted in case["expected"].get("groups", {}).items():
        det = wanted.get("det")
        found += differences(seen["conditions"][group], wanted, optimum=True, det=det, own_thresholds=False)
    return found


def test_every_deterministic_probe(conformance: Path, capsys: pytest.CaptureFixture[str]) -> None:
    wrong: dict[str, Any] = {}
    for name, case in _probes(conformance).items():
        if name in OTHERWISE:
            continue
        assert case["deterministic"], name
        status, seen = _run(arguments(conformance, "edge", case), capsys)
        if case["exit"]:
            if status != 1:
                wrong[name] = "the tool refuses this input"
            continue
        if status:
            wrong[name] = seen["errors"]
            continue
        found = _found(case, seen)
        if name in SILENT:
            bounds = {item[0] for item in found if not item[0].startswith("K")}
            assert bounds == {"twv_optimum", "twv_supremum"}, (name, NOTHING_FOUND, found)
            assert {seen["measures"][bound]["value"] for bound in bounds} == {0.0}
        elif found:
            wrong[name] = found[:5]
    assert wrong == {}


def test_we_differ_where_the_table_says_and_nowhere_else(conformance: Path, capsys: pytest.CaptureFixture[str]) -> None:
    probes = _probes(conformance)
    for name in OTHERWISE:
        case = probes[name]
        status, seen = _run(arguments(conformance, "edge", case), capsys)
        if OTHERWISE[name][1] == "refuses it":
            assert (status, case["exit"]) == (1, 0), (name, seen)
            continue
        assert status == 0, (name, seen)
        assert "atwv" in seen["measures"]
        if case["deterministic"] and not case["exit"] and case.get("expected"):
            assert _found(case, seen), f"{name}: no difference left"


@pytest.mark.parametrize(
    ("name", "code"),
    [
        ("bom_rttm", "bom"),
        ("dup_kwid", "duplicate_block"),
        ("equal_score_yes_no_ok", "decision_ties"),
        ("file_case", "unknown_file"),
        ("ecf_joint", "outside_ecf"),
        ("inconsistent_across_kw", "inconsistent_decisions"),
        ("noscore", "noscore_in_excerpts"),
        ("unsorted", "unsorted_transcript"),
        ("rttm10", "ten_fields"),
    ],
)
def test_a_warning_says_so(conformance: Path, capsys: pytest.CaptureFixture[str], name: str, code: str) -> None:
    _, seen = _run(arguments(conformance, "edge", _probes(conformance)[name]), capsys)
    assert code in [warning["code"] for warning in seen["warnings"]]


def test_no_probe_is_in_two_tables(conformance: Path) -> None:
    probes = _probes(conformance)
    tables = (SILENT, OTHERWISE, WITHOUT_DECISIONS)
    named = [name for table in tables for name in table]
    assert sorted(named) == sorted(set(named))
    assert set(named) <= set(probes)
