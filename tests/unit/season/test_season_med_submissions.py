"""The official checker's verdicts on its cases, and the gaps of it that are closed."""

from __future__ import annotations

import json
import os
from pathlib import Path

import med_submissions as made
import pytest

from pipeline.season.examine import examined
from pipeline.season.rules import SeasonPhase, SeasonRules

FOLDER = Path(os.environ.get("RESCORE_CONFORMANCE") or Path(__file__).parents[4] / "shared" / "conformance")
OBSERVED = FOLDER / "med" / "submissions" / "observed.json"
CASES = json.loads(OBSERVED.read_text()) if OBSERVED.exists() else []
CLOSED = {
    "only_contrastive": "no_primary",
    "empty_txt": "empty_description",
    "medpart_ten_events": "not_part",
    "regex_in_expid": "bad_exp_id",
}
"""Gaps of the checker (spec, section 5.2), with the code that closes each."""
CODES = {
    "archive_extension_tar_xz": "archive_extension",
    "archive_": "archive_name",
    "root_not_output": "archive_layout",
    "file_in_output": "archive_layout",
    "empty_output": "bad_exp_id",
    "expid_": "bad_exp_id",
    "two_primaries": "bad_exp_id",
    "no_txt": "description",
    "txt_wrong_name": "description",
    "extra_csv": "csv_files",
    "extra_file": "folder_content",
    "subdirectory": "folder_content",
    "no_threshold": "csv_files",
    "csv_wrong_name": "csv_files",
    "missing_trials": "missing_trials",
    "unknown_trials": "unknown_trial",
    "missing_threshold_row": "unknown_trial",
    "unknown_threshold_row": "unknown_event",
    "score_out_of_range": "out_of_range",
    "dup_trial": "duplicate_id",
    "medfull_three_events_test": "not_full",
}
"""By the beginning of a case's name, what is told at least."""


def verdict(tmp_path, archive, content, index):
    (tmp_path / "index.csv").write_text(index)
    phase = SeasonPhase(
        "p", "eval", "e", "2030-01-01T00:00Z", "mark", ("q",), ("d",), {"index": str(tmp_path / "index.csv")}
    )
    rules = SeasonRules("s", "med11", "official", "med", (phase,))
    path = made.pack(tmp_path, archive, content)
    with examined(rules, phase, made.TEAM, [path]) as found:
        return found.verdict


@pytest.mark.parametrize("case", CASES, ids=[case["case"] for case in CASES])
def test_a_case_has_the_observed_verdict_or_closes_a_gap(case, tmp_path):
    name = case["case"]
    found = verdict(tmp_path, case["archive"], made.members(name), made.index(10 if "ten" in name else 3))
    codes = {finding.code for finding in found.of("error")}
    if name in CLOSED:
        assert case["rc"] == 0, "the official checker lets it pass"
        assert codes == {CLOSED[name]}
        return
    assert found.accepted == (case["rc"] == 0), found.remarks
    if not found.accepted:
        wanted = next(code for begin, code in CODES.items() if name.startswith(begin))
        assert wanted in codes
    warned = any("[Warning]" in message for message in case["messages"])
    assert bool(found.of("warning")) == warned


def test_there_are_observed_cases(conformance):
    assert len(CASES) == 44


@pytest.mark.parametrize(
    ("old", "new", "code"),
    [
        ("E001,0.500,1.5", "E001,0.500,soon", "out_of_range"),
        ("E001,0.500,1.5", "E001,0.500,-1", "out_of_range"),
        ("E001,0.500,1.5", "E001,1.5,1.5", "out_of_range"),
        ("E001,0.500,1.5", "E001,-0.1,1.5", "out_of_range"),
    ],
)
def test_times_and_thresholds_are_checked(tmp_path, old, new, code):
    content = made._replaced("threshold", old, new)
    found = verdict(tmp_path, "MED11_testTEAM_DRYRUN_1.tgz", content, made.index())
    assert [finding.code for finding in found.of("error")] == [code]


def test_all_problems_are_told_at_once(tmp_path):
    content = {
        **made.run(made.exp_id(), txt=""),
        **made.run(made.exp_id(sysid="c-b", version="0")),
        **made.run(made.exp_id(sysid="c-c"), threshold=None),
        "output/readme.txt": "x",
    }
    found = verdict(tmp_path, "MED12_testTEAM_DRYRUN_0.tgz", content, made.index())
    codes = {finding.code for finding in found.of("error")}
    assert codes >= {"archive_name", "archive_layout", "bad_exp_id", "csv_files", "empty_description"}
    assert sum(finding.code == "archive_name" for finding in found.of("error")) == 2


def test_without_an_index_the_rest_is_checked_and_that_is_said(tmp_path):
    phase = SeasonPhase("p", "eval", "e", "2030-01-01T00:00Z")
    rules = SeasonRules("s", "med11", "official", "med", (phase,))
    path = made.pack(tmp_path, "MED11_testTEAM_DRYRUN_1.tgz", made.run(made.exp_id()))
    with examined(rules, phase, made.TEAM, [path]) as found:
        assert found.verdict.accepted
        assert [finding.code for finding in found.verdict.of("note")] == ["no_index"]
