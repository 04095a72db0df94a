"""Segments from a transcript, adapted to keywords, and as trials: examples worked by hand."""

from __future__ import annotations

import io
import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from pipeline.cli import main
from pipeline.formats.kws.kwlist import read_kwlist
from pipeline.formats.kws.rttm import Rttm, read_rttm
from pipeline.trials.adapted import adapt
from pipeline.trials.keywords import SearchRules, find_occurrences
from pipeline.trials.schema import Excerpts
from pipeline.trials.segments import Segments, find_segments, target_segments


def _rttm(*records: tuple[str, float, float, str]) -> Rttm:
    lines = [f"{kind} f 1 {begin} {dur} <NA> <NA> {speaker} <NA>" for kind, begin, dur, speaker in records]
    return read_rttm(io.BytesIO("\n".join(lines).encode()), "t.rttm")


def _excerpts(*spans: tuple[float, float]) -> Excerpts:
    begin_s, end_s = np.array(spans, np.float64).T
    code = np.zeros(len(spans), np.int32)
    return Excerpts(("f",), ("1",), code, code, begin_s, end_s, end_s - begin_s, ("cts",) * len(spans))


def _spans(segments: Segments) -> list[tuple[float, float, bool]]:
    columns = (segments.spans.begin_s, segments.spans.end_s, segments.speech)
    return list(zip(*(column.tolist() for column in columns), strict=True))


def test_gaps_are_non_speech_and_overlapping_speech_is_one_segment():
    rttm = _rttm(("SPEAKER", 10, 10, "a"), ("SPEAKER", 15, 10, "b"), ("SPEAKER", 25, 5, "c"))
    segments = find_segments(_excerpts((0, 100)), rttm)
    assert _spans(segments) == [(0, 10, False), (10, 25, True), (25, 30, True), (30, 100, False)]
    # What speaker a says is in the second segment only up to where it reached when a's record was read.
    assert segments.holders == ((1, "a", 20.0), (1, "b", 25.0), (2, "c", 30.0))


def test_speech_inside_speech_extends_nothing():
    rttm = _rttm(("SPEAKER", 10, 20, "a"), ("SPEAKER", 12, 5, "b"))
    assert _spans(find_segments(_excerpts((10, 30)), rttm)) == [(10, 30, True)]


def test_an_excerpt_without_speech_is_one_segment():
    segments = find_segments(_excerpts((0, 10), (20, 40)), _rttm(("SPEAKER", 20, 20, "a")))
    assert _spans(segments) == [(0, 10, False), (20, 40, True)]
    assert segments.excerpt.tolist() == [0, 1]


def test_a_record_across_the_end_of_an_excerpt_is_dropped_or_clipped():
    rttm = _rttm(("SPEAKER", 90, 20, "a"))
    assert _spans(find_segments(_excerpts((0, 100)), rttm)) == [(0, 100, False)]
    clipped = find_segments(_excerpts((0, 100)), rttm, partial_records="clip")
    assert _spans(clipped) == [(0, 90, False), (90, 100, True)]


def test_a_begin_of_more_than_four_decimals_is_lost_as_in_the_tool():
    assert _spans(find_segments(_excerpts((0, 30)), _rttm(("SPEAKER", 10.00004, 10, "a")))) == [
        (0, 10, False),
        (10, 30, False),
    ]


def test_segment_records_speak_only_where_there_is_no_speaker_record_and_they_are_asked_for():
    only = _rttm(("SEGMENT", 10, 10, "<NA>"))
    assert len(find_segments(_excerpts((0, 30)), only)) == 1
    asked = find_segments(_excerpts((0, 30)), only, records="speaker_or_segment")
    assert _spans(asked) == [(0, 10, False), (10, 20, True), (20, 30, False)]
    both = _rttm(("SEGMENT", 10, 10, "<NA>"), ("SPEAKER", 5, 5, "a"))
    assert _spans(find_segments(_excerpts((0, 10)), both, records="speaker_or_segment")) == [
        (0, 5, False),
        (5, 10, True),
    ]


SEGMENTS = [(0.0, 10.0, False), (10.0, 20.0, True), (20.0, 21.0, False), (21.0, 30.0, True)]


@pytest.mark.parametrize(
    ("crossing", "words", "expected"),
    [
        ("extend", [(9.0, 11.0)], [(0, 9, False), (9, 20, True), (20, 21, False), (21, 30, True)]),
        ("merge", [(9.0, 11.0)], [(0, 20, True), (20, 21, False), (21, 30, True)]),
        ("extend", [(18.0, 22.0)], [(0, 10, False), (10, 22, True), (22, 30, True)]),
        ("extend", [(19.0, 24.0)], [(0, 10, False), (10, 19, True), (19, 30, True)]),
        ("merge", [(19.0, 24.0)], [(0, 10, False), (10, 30, True)]),
        (
            "extend",
            [(9.5, 10.5), (19.5, 20.5)],
            [(0, 9.5, False), (9.5, 20.5, True), (20.5, 21, False), (21, 30, True)],
        ),
        ("extend", [(11.0, 12.0)], SEGMENTS),
        ("extend", [(9.0, 10.0), (10.0, 11.0)], SEGMENTS),
    ],
)
def test_no_occurrence_spans_a_border_of_adapted_segments(
    crossing: str, words: list[tuple[float, float]], expected: list[tuple[float, float, bool]]
):
    assert adapt(SEGMENTS, words, crossing) == expected


ECF = """<ecf source_signal_duration="40" version="1" language="x">
<excerpt audio_filename="f.sph" channel="1" tbeg="0" dur="40" source_type="cts"/></ecf>"""
KWLIST = """<kwlist ecf_filename="e" version="1" language="x" encoding="UTF-8" compareNormalize="lowercase">
<kw kwid="K1"><kwtext>a</kwtext></kw><kw kwid="K2"><kwtext>a b</kwtext></kw></kwlist>"""
DETECTED = """<kw file="f" channel="1" tbeg="12" dur="0.5" score="0.9" decision="NO"/>
<kw file="f" channel="1" tbeg="13" dur="0.5" score="0.8" decision="YES"/>
<kw file="f" channel="1" tbeg="2" dur="0.5" score="0.7" decision="YES"/>"""
KWSLIST = f"""<kwslist kwlist_filename="k" language="x" system_id="S">
<detected_kwlist kwid="K1" search_time="1" oov_count="0">{DETECTED}</detected_kwlist></kwslist>"""
WORDS = """LEXEME f 1 12 0.5 a lex s <NA>
LEXEME f 1 19.5 0.4 a lex s <NA>
LEXEME f 1 20.6 0.5 b lex s <NA>
"""


def _document(capsys: Any, tmp_path: Path, speech: str, *options: str) -> dict[str, Any]:
    files = {
        "-e": ("ecf.xml", ECF),
        "-r": ("t.rttm", speech + WORDS),
        "-t": ("k.xml", KWLIST),
        "-s": ("s.xml", KWSLIST),
    }
    argv = ["score", "--protocol", "openkws13-segments", "--json", *options]
    for option, (name, text) in files.items():
        (tmp_path / name).write_text(text)
        argv += [option, str(tmp_path / name)]
    assert main(argv) == 0
    document: dict[str, Any] = json.loads(capsys.readouterr().out)
    return document


SPEAKER, SEGMENT = "SPEAKER f 1 10 10 <NA> <NA> s <NA>\n", "SEGMENT f 1 10 10 <NA> eval <NA> <NA>\n"


def test_the_tool_lets_a_no_hide_a_yes_and_drops_an_occurrence_across_a_border(capsys: Any, tmp_path: Path):
    """Three segments: [0, 10] [10, 20] [20, 40]. "a" is in the second; "a b" (19.5-21.1, gap 0.7) does not exist."""
    seen = _document(capsys, tmp_path, SPEAKER)
    assert seen["facts"]["n_trials"] == 3
    block = {b["id"]: b for b in seen["blocks"]}["K1"]
    assert (block["n_target"], block["n_hit"], block["n_miss"], block["n_fa"]) == (1, 0, 1, 1)
    # K2 has no target. P_miss = 1, P_FA = 1 / (3 - 1), STWV = 1 - (1 + 999.9 / 2).
    assert seen["measures"]["stwv"]["value"] == pytest.approx(-499.95, rel=1e-12)


def test_the_plan_takes_any_mid_point_and_moves_the_border(capsys: Any, tmp_path: Path):
    """No gap rule: "a b" spans 19.5-21.1, so the speech reaches to 21.1 and holds both keywords; three segments."""
    seen = _document(capsys, tmp_path, SPEAKER, "--mode", "plan")
    assert seen["facts"]["n_trials"] == 3
    blocks = {block["id"]: block for block in seen["blocks"]}
    assert [blocks["K1"][name] for name in ("n_target", "n_hit", "n_miss", "n_fa")] == [1, 1, 0, 1]
    assert [blocks["K2"][name] for name in ("n_target", "n_hit", "n_miss", "n_fa")] == [1, 0, 1, 0]
    # P_miss = (0 + 1) / 2, P_FA = (1/2 + 0) / 2, STWV = 1 - (0.5 + 999.9 / 4).
    assert seen["measures"]["stwv"]["value"] == pytest.approx(-249.475, rel=1e-12)


def test_the_other_reading_makes_one_segment_of_what_an_occurrence_touches(capsys: Any, tmp_path: Path):
    """[10, 20] and [20, 40] become one: two segments, P_FA of each query over one non-target segment."""
    seen = _document(capsys, tmp_path, SPEAKER, "--mode", "plan", "--set", "crossing=merge")
    assert seen["facts"]["n_trials"] == 2
    assert seen["measures"]["stwv"]["value"] == pytest.approx(1 - (0.5 + 999.9 / 2), rel=1e-12)


def test_a_transcript_of_segment_records_alone(capsys: Any, tmp_path: Path):
    """The tool sees one non-speech segment and no target; the plan sees what SPEAKER records would give."""
    official = _document(capsys, tmp_path, SEGMENT)
    assert official["facts"]["n_trials"] == 1
    assert official["measures"]["stwv"] == {"value": None, "unit": "1", "reason": "no_targets"}
    assert "no_speaker_records" in {warning["code"] for warning in official["warnings"]}
    plan = _document(capsys, tmp_path, SEGMENT, "--mode", "plan")
    assert plan["measures"]["stwv"]["value"] == pytest.approx(-249.475, rel=1e-12)


def test_a_query_that_is_in_every_segment_is_left_out_of_the_mean_false_alarm_rate(capsys: Any, tmp_path: Path):
    """With one segment in all, which holds both keywords: no P_FA at all, and P_miss over both."""
    whole = "SPEAKER f 1 0 40 <NA> <NA> s <NA>\n"
    seen = _document(capsys, tmp_path, whole, "--set", "gap_rule=none")
    assert seen["measures"]["p_miss"]["value"] == 1.0
    assert seen["measures"]["p_fa"]["reason"] == "no_nontarget_trials"


def test_settings_of_other_protocols_do_not_know_segments(capsys: Any):
    assert main(["score", "--protocol", "openkws13", "--set", "crossing=merge"]) == 2
    assert "crossing" in capsys.readouterr().err


def _word_targets(excerpts: Excerpts, rttm: Rttm, text: str) -> list[tuple[float, float]]:
    """Begin and end of the segments that are targets of a keyword."""
    keyword = f'<kwlist><kw kwid="K"><kwtext>{text}</kwtext></kw></kwlist>'
    occurrences, _ = find_occurrences(read_kwlist(io.BytesIO(keyword.encode()), "k"), rttm, SearchRules())
    targets = target_segments(find_segments(excerpts, rttm), occurrences, rttm)
    return list(zip(targets.begin_s.tolist(), targets.end_s.tolist(), strict=True))


def _spoken(*words: tuple[float, float, str], speech: tuple[tuple[float, float], ...]) -> Rttm:
    lines = [f"SPEAKER f 1 {begin} {dur} <NA> <NA> a <NA>" for begin, dur in speech]
    lines += [f"LEXEME f 1 {begin} {dur} {word} lex a <NA>" for begin, dur, word in words]
    return read_rttm(io.BytesIO("\n".join(lines).encode()), "t.rttm")


def test_a_word_is_in_the_segment_of_the_last_excerpt_that_holds_it():
    rttm = _spoken((1, 0.5, "yes"), (5, 0.5, "no"), speech=((1, 5),))
    assert _word_targets(_excerpts((0, 10)), rttm, "yes") == [(1, 6)]
    assert _word_targets(_excerpts((0, 10), (1, 6)), rttm, "yes") == [(1, 6)]
    both = _excerpts((0, 10), (0, 20))
    assert _word_targets(both, rttm, "yes") == [(1, 6)]
    segments = find_segments(both, rttm)
    assert [segments.excerpt[row] for row in np.flatnonzero(segments.speech)] == [0, 1]


def test_an_occurrence_whose_words_end_up_in_segments_of_two_excerpts_is_in_none():
    words = ((1.1, 0.5, "yes"), (1.7, 0.8, "no"))
    rttm = _spoken(*words, speech=((1, 1), (1.5, 1.5)))  # in the first excerpt one segment of 1 to 3 s
    assert _word_targets(_excerpts((0, 10)), rttm, "yes no") == [(1, 3)]
    assert _word_targets(_excerpts((0, 10), (0, 2.2)), rttm, "yes no") == []  # "yes" is in the second's of 1 to 2 s
    assert _word_targets(_excerpts((0, 2.2), (0, 10)), rttm, "yes no") == [(1, 3)]


def test_a_word_without_length_on_a_border_is_in_the_later_segment():
    rttm = _spoken((2, 0, "yes"), speech=((1, 1), (2, 1)))
    assert _word_targets(_excerpts((0, 10)), rttm, "yes") == [(2, 3)]


def test_a_record_that_begins_between_two_rounded_times_leaves_a_segment_without_length():
    segments = find_segments(_excerpts((1, 3)), _rttm(("SPEAKER", 1.00004, 1, "a")))
    assert _spans(segments) == [(1, 1, False), (1, 3, False)]


def _scored_segments(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], ecf: str, rttm: str, rows: str, *options: str
) -> dict[str, Any]:
    texts = {
        "-e": f"<ecf>{ecf}</ecf>",
        "-r": rttm,
        "-t": '<kwlist><kw kwid="K"><kwtext>yes</kwtext></kw></kwlist>',
        "-s": f'<kwslist kwlist_filename="k" language="x" system_id="s"><detected_kwlist kwid="K" search_time="1" '
        f'oov_count="0">\n{rows}</detected_kwlist></kwslist>',
    }
    argv = ["score", "--protocol", "openkws13-segments", "--json", *options]
    for option, text in texts.items():
        (tmp_path / option).write_text(text)
        argv += [option, str(tmp_path / option)]
    assert main(argv) == 0
    found: dict[str, Any] = json.loads(capsys.readouterr().out)
    return found


EXCERPT = '<excerpt audio_filename="f.sph" channel="1" tbeg="{}" dur="{}" source_type="{}"/>'
ROW = '<kw file="f" channel="1" tbeg="{}" dur="0.2" score="{}" decision="{}"/>\n'
SPEECH = "SPEAKER f 1 1 5 <NA> <NA> a <NA>\nLEXEME f 1 2 0.5 yes lex a <NA>\n"


@pytest.mark.parametrize(("decisions", "hits"), [(("YES", "NO"), 1), (("NO", "YES"), 0)])
def test_of_equal_scores_in_a_segment_the_first_of_the_file_decides(tmp_path, capsys, decisions, hits):
    rows = ROW.format(3, 0.5, decisions[0]) + ROW.format(1.5, "0.50", decisions[1])
    found = _scored_segments(tmp_path, capsys, EXCERPT.format(0, 20, "cts"), SPEECH, rows)
    [block] = found["blocks"]
    assert (block["n_target"], block["n_hit"], block["n_miss"], block["n_fa"]) == (1, hits, 1 - hits, 0)


def test_detections_that_a_target_holds_beside_its_own_are_no_trials(tmp_path, capsys):
    ecf = EXCERPT.format(0, 3, "cts") + EXCERPT.format(0, 20, "cts")  # the record is in the second alone
    found = _scored_segments(tmp_path, capsys, ecf, SPEECH, ROW.format(2.2, 0.9, "YES") + ROW.format(4, 0.5, "NO"))
    [block] = found["blocks"]
    assert found["facts"]["n_trials"] == 4
    assert (block["n_target"], block["n_miss"], block["n_hit"], block["n_fa"]) == (1, 1, 0, 0)  # its own is a NO


@pytest.mark.parametrize(("types", "group"), [(("cts", "bnews"), "A"), (("bnews", "cts"), "B")])
def test_a_channel_has_the_type_of_its_first_excerpt(tmp_path, capsys, types, group):
    ecf = EXCERPT.format(0, 10, types[0]) + EXCERPT.format(10, 20, types[1])
    conditions = ("-Y", "A:cts", "-Y", "B:bnews")
    found = _scored_segments(tmp_path, capsys, ecf, SPEECH, ROW.format(15, 0.5, "YES"), *conditions)
    trials = {name: part["facts"]["n_trials"] for name, part in found["conditions"].items()}
    assert trials == {"A": 4 * (group == "A"), "B": 4 * (group == "B")}
    [block] = found["conditions"][group]["blocks"]
    assert (block["n_target"], block["n_fa"]) == (1, 1)
