"""Where figures do depend on an order, a name or a spacing, because the organisers' tool has it so.

The laws of ``test_evaluation_laws`` leave these out; here each is written as the tool's rule, with the smallest input
that shows it. KWSEval's use of the order of an ECF whose excerpts overlap or are of several types belongs to the tests
of excerpts: made-up evaluations have none.
"""

from __future__ import annotations

from typing import Any

import pytest

from pipeline import protocols
from tests.properties.evaluations.model import Evaluation, score
from tests.properties.evaluations.written import (
    Block,
    Detection,
    Excerpt,
    Keyword,
    Label,
    Limit,
    Record,
    Scored,
    Segment,
    Spoken,
    Targ,
    Trial,
)

ECF = (Excerpt("f", "1", 0.0, 40.0, "cts"),)


def word(begin: float, token: str, speaker: str = "S") -> Record:
    return Record("LEXEME", "f", "1", begin, 0.5, token, "lex", speaker)


def found(begin: float, dur: float, one: float, decision: str = "YES") -> Detection:
    return Detection("f", "1", begin, dur, one, decision)


def search(
    name: str, records: tuple[Any, ...], rows: tuple[Detection, ...], words: str = "a b", **settings: str
) -> Evaluation:
    """One query in one recording."""
    name, _, mode = name.partition("/")
    roles = {"ecf": ECF, "rttm": records, "kwlist": (Keyword("q", words, "x"),), "output": (Block("q", "0", rows),)}
    return Evaluation(protocols.protocols()[name, mode or "official"], roles, settings)


def counts(evaluation: Evaluation) -> dict[str, Any]:
    block: dict[str, Any] = score(evaluation)["blocks"][0]
    return block


@pytest.mark.parametrize("name", ["std2006", "sws2013", "openkws13", "openkws13-segments"])
def test_words_of_a_speaker_are_read_in_the_order_of_the_file(name: str) -> None:
    """KWSEval links record i of a speaker to record i + 1 by time, STDEval to the next of the file (kws 2.2, 6)."""
    speaker = Record("SPEAKER", "f", "1", 0.0, 10.0, "<NA>", "<NA>", "S")
    records = (speaker, word(1.0, "a"), word(1.5, "b"))
    assert counts(search(name, records, ()))["n_target"] == 1
    assert counts(search(name, (speaker, records[2], records[1]), ()))["n_target"] == 0
    if not name.startswith("openkws13"):
        return  # the plan says no more of STDEval's transcripts than the tool does
    assert counts(search(f"{name}/plan", records, ()))["n_target"] == 1
    assert counts(search(f"{name}/plan", (speaker, records[2], records[1]), ()))["n_target"] == 1


def test_speakers_that_begin_together_hold_words_in_the_order_of_the_file() -> None:
    """KWSEval sorts SPEAKER records by begin alone; a word is in the segment as it stood at a record of its speaker."""
    short, long = (
        Record("SPEAKER", "f", "1", 0.0, dur, "<NA>", "<NA>", name) for dur, name in ((10.0, "S"), (20.0, "T"))
    )
    words = (word(12.0, "a"), word(12.5, "b"))
    assert counts(search("openkws13-segments", (*words, short, long), ()))["n_target"] == 0
    assert counts(search("openkws13-segments", (*words, long, short), ()))["n_target"] == 1


def test_one_word_said_by_two_at_once_stands_by_name_where_the_plan_joins_speakers() -> None:
    """What begins a keyword of two words is then one of two equal words: whose must not hang on the file's order."""
    records = (
        Record("SPEAKER", "f", "1", 0.0, 10.0, "<NA>", "<NA>", "S"),
        Record("SPEAKER", "f", "1", 20.0, 5.0, "<NA>", "<NA>", "T"),
        word(1.5, "b"),
    )
    both = (word(1.0, "a", "S"), word(1.0, "a", "T"))
    first, second = (
        counts(search("openkws13-segments/plan", (*records, *said), (), crossing="drop")) for said in (both, both[::-1])
    )
    assert first == second


def test_stdeval_takes_the_last_block_of_a_query_and_kwseval_searches_for_each() -> None:
    """Duplicate blocks (kws 2.4, 6). The laws hold both rules for any blocks."""
    records = (word(1.0, "a"), word(10.0, "a"))
    blocks = (Block("q", "0", (found(1.0, 0.5, 1.0),)), Block("q", "0", (found(20.0, 0.5, 0.5),)))
    seen = {
        name: counts(search(name, records, (), "a").having(output=blocks))
        for name in ("std2006", "std2006/plan", "openkws13", "openkws13/plan")
    }
    assert {name: (row["n_target"], row["n_hit"], row["n_fa"]) for name, row in seen.items()} == {
        "std2006": (2, 0, 1),
        "std2006/plan": (2, 1, 1),
        "openkws13": (4, 1, 1),
        "openkws13/plan": (2, 1, 1),
    }


@pytest.mark.parametrize("name", ["std2006", "openkws13", "openkws13/plan"])
def test_a_bent_map_of_scores_may_pair_other_detections(name: str) -> None:
    """Of detections that compete, the sum of overlap (1e-8) and of scores within their range (1e-6) decides (kws 3.3).

    Near one another, scores give way to overlap; drawn apart by a map, they do not. The lowest score sets the range.
    """
    records = (word(1.0, "a"),)
    near = (found(1.0, 0.5, 1.0, "NO"), found(1.25, 0.5, 1.0 + 2.0**-10), found(30.0, 0.5, 0.0, "NO"))
    far = (near[0], near[1]._replace(score=3.0), near[2])
    assert [
        row["n_hit"] for row in (counts(search(name, records, rows, "a", score_range="list")) for rows in (near, far))
    ] == [
        0,
        1,
    ]


def test_kwseval_ranks_scores_as_text() -> None:
    """Average precision (-zG MAP): "10.0" stands before "9.0" in its order and after it in that of the plan."""
    records = (word(1.0, "a"),)
    rows = (found(1.0, 0.5, 10.0), found(30.0, 0.5, 9.0))
    assert counts(search("openkws13", records, rows, "a"))["average_precision"] == 0.5
    assert counts(search("openkws13/plan", records, rows, "a"))["average_precision"] == 1.0


def test_stdeval_adds_up_channel_1() -> None:
    """STDAlignment.pm:514: under another name the channel's excerpts are no audio."""
    ecf = (*ECF, Excerpt("f", "2", 0.0, 7.0, "cts"))
    other = tuple(row._replace(channel={"1": "2", "2": "1"}[row.channel]) for row in ecf)
    seen = [
        score(search("std2006", (word(1.0, "a"),), (), "a").having(ecf=rows))["facts"]["t_audio_s"]
        for rows in (ecf, other)
    ]
    assert seen == [40.0, 7.0]


def test_quesst_pools_no_ties_in_the_order_of_the_output() -> None:
    """min_cnxe_pav_input_order is the tool's: equal scores are steps of their own, in the order of the file."""
    rows = tuple(Detection(file, "1", 0.0, 1.0, 0.5, "YES") for file in ("d1", "d2"))
    roles = {
        "ecf": tuple(Excerpt(file, "1", 0.0, 1.0, "bnews") for file in ("d1", "d2")),
        "rttm": (Label("d1", "q"),),
        "kwlist": (Keyword("q", "w", "x"),),
    }
    made = Evaluation(protocols.find("quesst"), roles)
    first, second = (score(made.having(output=(Block("q", "0", given),)))["measures"] for given in (rows, rows[::-1]))
    assert first["min_cnxe_pav"] == second["min_cnxe_pav"]
    assert first["min_cnxe_pav_input_order"] != second["min_cnxe_pav_input_order"]


def test_deva_ranks_equal_scores_by_trial() -> None:
    """Average precision of tied trials hangs on what they are called, unless ties are taken ``against`` the system."""

    def of(names: tuple[str, str], **settings: str) -> Any:
        roles = {
            "index": tuple(Trial(name, name, "E") for name in names),
            "ref": (Targ(names[0], "y"), Targ(names[1], "n")),
            "detection": tuple(Scored(name, 0.5, 1) for name in names),
            "threshold": (Limit("E", 0.5, 1, 1.0),),
        }
        return score(Evaluation(protocols.find("med11"), roles, settings))["blocks"][0]["ap"]

    assert of(("a", "b")) != of(("b", "a"))
    assert of(("a", "b"), tie_order="against") == of(("b", "a"), tie_order="against")


def test_words_and_segments_that_begin_together_stay_in_the_order_of_the_file() -> None:
    """sclite reads files that are in order of time, and leaves what begins together as it stands."""
    segments = (Segment("f", "1", "S", 0.0, 4.0, "", "a b"),)
    words = (Spoken("f", "1", 1.0, ("a",), 0.5), Spoken("f", "1", 1.0, ("b",), 0.5))
    made = Evaluation(protocols.find("stt13"), {"stm": segments, "ctm": words})
    assert score(made)["measures"]["wer"]["value"] == 0
    assert score(made.having(ctm=words[::-1]))["measures"]["wer"]["value"] == 1
    two = (*segments, Segment("f", "1", "T", 0.0, 2.0, "", "c"))
    later = made.having(ctm=(words[0], words[1]._replace(begin=3.0)))
    errors = [score(later.having(stm=rows))["measures"]["wer"]["n_errors"] for rows in (two, two[::-1])]
    assert errors == [1, 2]


def test_of_equal_detections_in_a_segment_the_first_of_the_file_stands_for_it() -> None:
    """KWSEval -g keeps the first of those with the best score (KWSSegAlign.pm), with its decision."""
    records = (Record("SPEAKER", "f", "1", 0.0, 10.0, "<NA>", "<NA>", "S"), word(1.0, "a"), word(1.5, "b"))
    yes, no = found(1.0, 1.0, 0.5, "YES"), found(3.0, 1.0, 0.5, "NO")
    hits = [counts(search("openkws13-segments", records, rows))["n_hit"] for rows in ((yes, no), (no, yes))]
    assert hits == [1, 0]
