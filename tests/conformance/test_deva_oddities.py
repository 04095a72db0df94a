"""Malformed and unusual MED tables: what DEVA makes of each and what we do. Nothing is scored with unseen changes."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from pipeline.cli import main

ROLES = ("ref", "index", "detection", "threshold")
SAME, SCORED, ERROR = "same as base", "scored, figures differ from base", "error"

# case: DEVA's verdict; what we do (None: the clean file's figures, "scored": other figures, else the code of the
# refusal), and part of what we say.
CASES: dict[str, tuple[str, str | None, str]] = {
    "base": (SAME, None, ""),
    "crlf": (SAME, None, ""),
    "no_final_newline": (SAME, None, ""),
    "reordered": (SAME, None, ""),
    "unquoted": (SAME, None, ""),
    "quoted_quote": (SAME, None, ""),
    "latin1": (SAME, None, ""),
    "utf8": (SAME, None, ""),
    "int_trialids": (SAME, None, ""),
    "float_trialids": (SAME, None, ""),
    "score_exp": (SAME, None, ""),
    "m14_base": (SAME, None, ""),
    "unknown_detection": (SAME, None, "is not in the trial index; such rows are not scored (2 times, first here)"),
    "tpt_text": (SAME, None, "DetectionTPT is 'about 3 h', no number of hours; it is left out"),
    # DEVA scores these with other figures; so do we, and say so, or refuse unless a policy is chosen.
    "score_spaces": (SCORED, "scored", ""),
    "ref_missing_rows": (SCORED, "scored", "5 of 60 trials of the index have no key (first "),
    "thr_out_of_range": (SCORED, "scored", "DetectionThreshold is 1.5, no probability"),
    "m14_dup_rank": (SCORED, "scored", "a rank is given twice in one event; such trials are ties"),
    "missing_detection": (SCORED, "missing_trials", "3 of 20 trials of event 'E003' are not scored"),
    "missing_threshold": (SCORED, "missing_threshold", "event 'E003' has trials and no threshold row"),
    # DEVA refuses these; their meaning is plain, so we score them.
    "bom": (ERROR, None, "the file begins with a byte-order mark"),
    "thr_header_typo": (ERROR, None, "the column DectectionThrehold is taken for DetectionThreshold"),
    "float_trialids_collide": (ERROR, None, ""),
    "int_scores": (ERROR, "scored", ""),
    "int_thresholds": (ERROR, "scored", ""),
    "score_no_leading_zero": (ERROR, "scored", ""),
    "score_plus": (ERROR, "scored", ""),
    # Refused by both.
    "thr_curly_as_seed": (ERROR, "curly_quotes", "the header has the character ” (U+201D RIGHT DOUBLE QUOTATION MARK)"),
    "cr_only": (ERROR, "cr_line_ends", "detection.csv:1: a carriage return stands inside the line"),
    "blank_middle": (ERROR, "blank_line", "detection.csv:5: the line is empty, and records follow"),
    "extra_field": (ERROR, "field_count", "detection.csv:4: the row has 3 fields where the header has 2"),
    "lower_headers": (ERROR, "bad_header", "Spell 'trialid' as 'TrialID'"),
    "no_header": (ERROR, "bad_header", "the header has no column TrialID"),
    "dup_header": (ERROR, "duplicate_column", "two columns are named 'Score'"),
    "no_rows": (ERROR, "no_rows", "the file has a header and no rows"),
    "space_after_comma": (ERROR, "csv_malformed", "No blank before a quote"),
    "semicolons": (ERROR, "csv_malformed", "Separate the fields by commas"),
    "score_above_one": (ERROR, "out_of_range", "detection.csv:2: Score is 1.0001 (allowed: 0 to 1)"),
    "score_negative": (ERROR, "out_of_range", "Score is -0.1 (allowed: 0 to 1)"),
    "score_nan": (ERROR, "not_a_number", "Score is 'nan'"),
    "score_empty": (ERROR, "not_a_number", "Score is ''"),
    "score_decimal_comma": (ERROR, "not_a_number", "Score is '0,5'"),
    "thr_empty": (ERROR, "not_a_number", "threshold.csv:2: DetectionThreshold is ''"),
    "dup_threshold": (ERROR, "duplicate_id", "threshold.csv:3: EventID 'E001' is given twice (first in line 2)"),
    "dup_ref": (ERROR, "duplicate_id", "ref.csv:3: TrialID '000001.E001' is given twice (first in line 2)"),
    "dup_index": (ERROR, "duplicate_id", "index.csv:3: TrialID '000001.E001' is given twice (first in line 2)"),
    "targ_space": (ERROR, "bad_targ", "ref.csv:9: Targ is 'y ' (allowed: y for a target, n for another trial)"),
    "targ_words": (ERROR, "bad_targ", "Targ is 'nontarget'"),
    "space_trialids": (ERROR, "no_trials", "60 of 60 rows name trials that the index lacks"),
    "event_case": (ERROR, "no_trials", "60 are of events without a threshold"),
    "m14_rank_zero": (ERROR, "bad_rank", "Rank is '0' (allowed: whole numbers of 1 or more)"),
    "m14_thr_range": (ERROR, "out_of_range", "threshold.csv:2: DetectionThreshold is 1.5 (allowed: 0 to 1)"),
    "m14_tpt_negative": (ERROR, "out_of_range", "EAGTPT is -1 (allowed: 0 or more)"),
}
DROPPED = ("missing_detection", "missing_threshold")
COUNTS = ("n_target", "n_nontarget", None, "n_hit", "n_correct_rejection", "n_fa", "n_miss")


def _score(folder: Path, profile: str, capsys: pytest.CaptureFixture[str], *options: str) -> tuple[int, dict[str, Any]]:
    inputs = [option for role in ROLES for option in ("--input", f"{role}={folder / role}.csv")]
    code = main(["score", "--protocol", profile.lower(), *inputs, *options, "--json"])
    return code, json.loads(capsys.readouterr().out)


def _listed(conformance: Path) -> dict[str, dict[str, Any]]:
    return {case["case"]: case for case in json.loads((conformance / "med/oddities/index.json").read_text())}


def _figures(document: dict[str, Any]) -> list[dict[str, Any]]:
    return [{name: value for name, value in block.items() if name != "rtf_execution"} for block in document["blocks"]]


def test_the_table_has_every_case_with_the_verdict_of_deva(conformance: Path) -> None:
    listed = {name: case["verdict"] for name, case in _listed(conformance).items()}
    assert {name: verdict for name, (verdict, _, _) in CASES.items()} == listed


@pytest.mark.parametrize("name", CASES)
def test_what_we_make_of_it(conformance: Path, capsys: pytest.CaptureFixture[str], name: str) -> None:
    _, ours, told = CASES[name]
    profile = _listed(conformance)[name]["profile"]
    code, seen = _score(conformance / "med/oddities" / name, profile, capsys)
    said = seen.get("warnings", []) + seen.get("errors", [])
    assert told in "\n".join(f"{entry['where']}: {entry['message']}" for entry in said)
    if ours is not None and ours != "scored":
        assert code == 1
        assert ours in {entry["code"] for entry in seen["errors"]}
        return
    base = "m14_base" if profile == "MED14" else "base"
    _, clean = _score(conformance / "med/oddities" / base, profile, capsys)
    assert code == 0
    assert (_figures(seen) == _figures(clean)) == (ours is None)


@pytest.mark.parametrize("name", [name for name, (verdict, _, _) in CASES.items() if verdict == SCORED])
def test_other_figures_are_those_of_deva(conformance: Path, capsys: pytest.CaptureFixture[str], name: str) -> None:
    case = _listed(conformance)[name]
    options = ("--set", "missing_trials=drop") if name in DROPPED else ()
    code, seen = _score(conformance / "med/oddities" / name, case["profile"], capsys, *options)
    assert code == 0
    blocks = {block["id"]: block for block in seen["blocks"]}
    for event, *row in case["rows"]:
        if event in blocks and row[0] != "0":  # not a footer; an event without targets is printed with counts 0
            counts = {name: int(text) for name, text in zip(COUNTS, row, strict=False) if name}
            assert {name: blocks[event][name] for name in counts} == counts
            assert case["profile"] != "MED11" or f"{blocks[event]['ndc']:6.4f}" == row[9]
