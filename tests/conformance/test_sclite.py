"""sclite's counts, alignments, entropies and paired tests, through the command line."""

from __future__ import annotations

import json
import math
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import sclite_cases

from pipeline.cli import main

RUNS = sclite_cases.runs(sclite_cases.FOLDER)
COUNTS = {
    "nwrd": "n_ref",
    "nsnt": "n_segments",
    "corr": "corr",
    "sub": "sub",
    "del": "del",
    "ins": "ins",
    "err": "err",
    "serr": "seg_err",
    "forgiven_ref": "forgiven_ref",
    "forgiven_hyp": "forgiven_hyp",
}
COLUMNS = ("n_segments", "n_ref", "corr", "sub", "del", "ins", "err", "seg_err")
TOLERANCE = 1e-9


def _score(capsys: pytest.CaptureFixture[str], arguments: list[str]) -> dict[str, Any]:
    assert main(arguments) == 0
    document: dict[str, Any] = json.loads(capsys.readouterr().out)
    return document


def _check_entropy(wanted: dict[str, Any], seen: dict[str, Any], missing: str | None = None) -> None:
    for theirs, ours in (("nce_full", "nce"), ("nce_plan", "nce_plan")):
        if isinstance(wanted.get(theirs), float) and not math.isnan(wanted[theirs]):
            assert math.isclose(seen[ours], wanted[theirs], rel_tol=TOLERANCE), (ours, seen[ours], wanted[theirs])


@pytest.mark.parametrize(("name", "run"), RUNS)
def test_counts_alignments_entropies_and_percentages(
    conformance: Path, capsys: pytest.CaptureFixture[str], name: str, run: str
) -> None:
    wanted = sclite_cases.cases(conformance)[name]["runs"][run]
    seen = _score(capsys, sclite_cases.arguments(conformance, name, run))
    measures = {measure: entry["value"] for measure, entry in seen["measures"].items()}
    overall = {
        **measures,
        "n_segments": seen["facts"]["n_segments"],
        "err": seen["measures"]["wer"]["n_errors"],
        "forgiven_ref": seen["facts"]["forgiven_reference"],
        "forgiven_hyp": seen["facts"]["forgiven_output"],
    }
    assert _named(wanted["overall"]) == {theirs: overall[COUNTS[theirs]] for theirs in _named(wanted["overall"])}
    blocks = {block["id"]: block for block in seen["blocks"] if block["n_segments"]}
    assert blocks.keys() == {speaker.lower() for speaker in wanted["by_speaker"]}
    for speaker, counts in wanted["by_speaker"].items():
        block = blocks[speaker.lower()]
        assert _named(counts) == {theirs: block[COUNTS[theirs]] for theirs in _named(counts)}, speaker
        _check_entropy(counts, block)
    assert sclite_cases.seen_alignment(seen) == sclite_cases.wanted_alignment(conformance, name, run)
    _check_entropy(wanted["overall"], measures)
    if isinstance(wanted["overall"].get("nce"), float):
        assert round(measures["nce"], 3) == wanted["overall"]["nce"]
    if "sum_log2_p_correct" in wanted["overall"]:
        sums = (seen["measures"]["nce"]["sum_log2_p"], seen["measures"]["nce"]["sum_log2_1mp"])
        expected = (wanted["overall"]["sum_log2_p_correct"], wanted["overall"]["sum_log2_1mp_other"])
        assert sums == pytest.approx(expected, rel=TOLERANCE)
    _check_percentages(wanted, seen)


def _named(counts: dict[str, Any]) -> dict[str, int]:
    return {name: counts[name] for name in COUNTS if name in counts}


def _check_percentages(wanted: dict[str, Any], seen: dict[str, Any]) -> None:
    """sclite's ``sys`` table as it prints it."""
    table = {row["id"]: row for row in seen["sys"]}
    for column, value in wanted["overall_pct"].items():
        assert sclite_cases.rounded(table["Sum"][COUNTS[column]]) == value, column
    speakers_without_words = sum(not counts["nwrd"] for counts in wanted["by_speaker"].values())
    if speakers_without_words < 2:  # sclite shifts its arrays with two or more
        for row, values in wanted["mean_sd_median_pct"].items():
            assert [sclite_cases.rounded(table[row][column]) for column in COLUMNS] == values, row


def test_extra_recordings_are_counted_and_named_where_sclite_gives_up(
    conformance: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    seen = _score(capsys, sclite_cases.arguments(conformance, "s19_extra_file", "plain"))
    same = _score(capsys, sclite_cases.arguments(conformance, "s27_missing_none", "plain"))
    assert [row["steps"] for row in seen["alignment"]] == [row["steps"] for row in same["alignment"]]
    [finding] = [warning for warning in seen["warnings"] if warning["code"] == "unknown_file"]
    assert "'9999 b'" in finding["message"]
    assert seen["facts"]["n_words_unmatched"] > 0


def test_a_recording_without_output_is_named_on_both_sides(
    conformance: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    seen = _score(capsys, sclite_cases.arguments(conformance, "s24_missing_file2", "plain"))
    [finding] = [warning for warning in seen["warnings"] if warning["code"] == "missing_file"]
    assert "'3129 a'" in finding["message"]


def test_syllables_from_words_and_lexicon_equal_the_syllable_forms(
    conformance: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    place = conformance / "stt" / "o13_syllables"
    files = {"stm": "ref.words.stm", "ctm": "hyp.words.ctm", "lexicon": "lexicon.txt"}
    inputs = [word for role, name in files.items() for word in ("--input", f"{role}={place / name}")]
    options = ["--set", "variant=ser", "--set", "alignment=true", "--json"]
    words = _score(capsys, ["score", "--protocol", "stt13", *inputs, *options])
    forms = _score(capsys, sclite_cases.arguments(conformance, "o13_syllables", "ser"))
    assert words["measures"]["wer"]["n_errors"] == 14
    assert words["measures"]["n_ref"]["value"] == 60
    counts = ("n_ref", "corr", "sub", "del", "ins", "seg_err", "nce")
    assert [words["measures"][m]["value"] for m in counts] == [forms["measures"][m]["value"] for m in counts]
    assert sclite_cases.seen_alignment(words) == sclite_cases.seen_alignment(forms)


@pytest.mark.parametrize("run", ["plain", "D-F"])
def test_labels_as_in_sclites_lur_report(conformance: Path, capsys: pytest.CaptureFixture[str], run: str) -> None:
    seen = _score(capsys, sclite_cases.arguments(conformance, "s01_lvc", run))
    report = (conformance / "stt" / "s01_lvc" / f"{run}.lur").read_text()
    [line] = [line for line in report.splitlines() if "Set Sum/Avg" in line]
    numbers = [word.strip("[]") for word in line.replace("|", " ").split() if word[:1] in "[0123456789"]
    labels = {row["id"]: row for row in seen["labels"]}
    wanted = list(zip(("wa", "na"), numbers[2::2], numbers[3::2], strict=True))
    assert wanted == [(n, str(labels[n]["n_ref"]), f"{100 * labels[n]['wer']:.1f}") for n in ("wa", "na")]


def test_paired_tests_of_two_systems(conformance: Path, capsys: pytest.CaptureFixture[str]) -> None:
    place = conformance / "stt" / "o11_two_systems"
    wanted = sclite_cases.cases(conformance)["o11_two_systems"]["paired"]
    inputs = ["--input", f"stm={place / 'ref.stm'}", "--input", f"ctm={place / 'hyp1.ctm'}"]
    second = ["--against", str(place / "hyp2.ctm")]
    assert main(["compare", "--protocol", "stt13", *inputs, *second, "--json"]) == 0
    tests = json.loads(capsys.readouterr().out)["tests"]
    mapsswe, paired = tests["mapsswe"], wanted["mapsswe"]
    assert mapsswe["n"] == paired["segs"]
    assert [mapsswe["mean"], mapsswe["sd"], mapsswe["z"], mapsswe["value"]] == pytest.approx(
        [paired["mean"], paired["sd"], paired["z"], paired["p"]], rel=1e-12
    )
    rates = [100 * mapsswe[f"error_rate_{side}"] for side in (1, 2)]
    assert [f"{rate:.2f}" for rate in rates] == [wanted["sc_stats_mapsswe"][f"err_pct_{side}"] for side in (1, 2)]
    alone = [tests["mcnemar"][f"n_only_{side}"] for side in (1, 2)]
    assert alone == [wanted["sums"]["only1"], wanted["sums"]["only2"]]
    assert tests["mcnemar"]["value"] == pytest.approx(wanted["mcnemar_exact_p"], rel=1e-12)
    sign = wanted["sc_stats_sign"]
    assert [tests["sign"]["n_better_1"], tests["sign"]["n_better_2"]] == [sign["favour_sys1"], sign["favour_sys2"]]
    assert round(tests["sign"]["value"], 3) == sign["p"]
    assert tests["wilcoxon"]["statistic"] == wanted["sc_stats_wilcoxon"]["rank_sum_favouring_sys2"]


def test_a_case_in_a_process_of_its_own(conformance: Path) -> None:
    command = [sys.executable, "-m", "pipeline.cli", *sclite_cases.arguments(conformance, "o02_optional", "D-F")]
    seen = json.loads(subprocess.run(command, capture_output=True, text=True, check=True).stdout)
    assert seen["measures"]["wer"]["value"] == 6 / 42
