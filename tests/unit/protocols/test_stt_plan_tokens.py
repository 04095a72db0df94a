"""Plan 004, sections 4.3 and 4.4: every kind of token and segment, in mode plan and as settings of official."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from pipeline.engine.result import Result
from pipeline.engine.score import score_files
from pipeline.protocols import find

RULES = {"fragments_in": "reference", "optional_tokens": "plan", "unscored_tokens": "plan"}


def score(folder: Path, reference: str, output: str, mode: str = "plan", **settings: Any) -> Result:
    """One segment of 10 s, ``reference``, against the words ``output``, half a second each."""
    lines = reference if "\n" in reference else f"f 1 s 0 10 <o> {reference}\n"
    (folder / "r.stm").write_text(lines)
    rows = [f"f 1 {at / 2} 0.5 {word} 0.5" for at, word in enumerate(output.split())]
    (folder / "h.ctm").write_text("\n".join(rows) + "\n")
    inputs = {"stm": str(folder / "r.stm"), "ctm": str(folder / "h.ctm")}
    return score_files(find("stt13", mode=mode, overrides={"alignment": True, **settings}), inputs)


def steps(result: Result) -> str:
    """Letters of the steps of all segments; in lower case where an optional token is forgiven."""
    rows = [step for segment in result.tables["alignment"] for step in segment["steps"]]
    return "".join(letter.lower() if "" in (ref, out) else letter for letter, ref, out, _ in rows)


OPTIONAL = [
    ("a th- end", "a theory end", "CCC", "CCC"),  # the plan's own example: /theory/ is correct for /th-/
    ("a th- end", "a end", "CcC", "CDC"),
    ("a th- end", "a other end", "CSC", "CSC"),
    ("a theory end", "a th- end", "CSC", "CCC"),  # an output's fragment is a word of another spelling
    ("a -ory end", "a end", "CcC", "CDC"),
    ("a <hes> end", "a end", "CcC", "CDC"),
    ("a <hes> end", "a <hes> end", "CCC", "CCC"),
    ("a end", "a <hes> end", "CIC", "CIC"),  # what the output puts in is not in the reference
    ("a (<hes>) end", "a end", "CcC", "CcC"),
    ("a (uh) end", "a end", "CcC", "CcC"),
]
UNSCORED = [
    *("<foreign>", "<male-to-female>", "<female-to-male>", "<lipsmack>", "<cough>", "<breath>", "<laugh>"),
    *("<click>", "<ring>", "<dtmf>", "<int>", "<sta>", "<no-speech>", "(<breath>)", "~", ".", ",", "?!", "…", "«", "-"),
]
SEGMENTS = ["<overlap>", "(())", "<prompt>", "<untranscribed>"]


@pytest.mark.parametrize(("reference", "output", "plan", "official"), OPTIONAL)
def test_fragments_and_hesitations_of_the_reference_may_be_left_out(
    reference: str, output: str, plan: str, official: str, tmp_path: Path
) -> None:
    assert steps(score(tmp_path, reference, output)) == plan
    assert steps(score(tmp_path, reference, output, "official")) == official
    assert steps(score(tmp_path, reference, output, "official", **RULES)) == plan


def test_optional_tokens_count_among_the_references_as_footnote_10_says(tmp_path: Path) -> None:
    figures = score(tmp_path, "a th- <hes> end", "a end").figures
    assert (figures["wer"].value, figures["wer"].detail["n_reference"]) == (0.0, 4)


@pytest.mark.parametrize("tag", UNSCORED)
@pytest.mark.parametrize("variant", ["wer", "cer"])
def test_tags_and_punctuation_are_taken_out_of_both_sides(tag: str, variant: str, tmp_path: Path) -> None:
    both = score(tmp_path, f"ab {tag} cd", f"{tag} ab cd {tag}", variant=variant)
    assert (steps(both), both.figures["n_ref"].value, both.figures["wer"].value) == ("CC", 2, 0.0)
    [told] = [finding for finding in both.findings if finding.code == "tokens_not_scored"]
    assert told.message.startswith("1 token")
    assert tag in told.message
    official, named = (
        score(tmp_path, f"ab {tag} cd", f"{tag} ab cd {tag}", "official", variant=variant, **rules).figures
        for rules in ({}, RULES)
    )
    assert (named["wer"].value, named["n_ref"].value) == (0.0, 2)
    assert official["n_ref"].value > 2


def test_words_that_look_like_tags_or_hold_punctuation_are_scored(tmp_path: Path) -> None:
    result = score(tmp_path, "<unk> don't a.m. o'clock", "<unk> don't a.m. o'clock")
    assert (steps(result), result.figures["n_ref"].value) == ("CCCC", 4)


def test_a_null_word_in_alternatives_stays_one(tmp_path: Path) -> None:
    assert steps(score(tmp_path, "a { b / @ } c", "a c")) == "CC"
    assert steps(score(tmp_path, "a { <breath> / b } c", "a c")) == "CC", "an alternative of tags alone is a null word"


@pytest.mark.parametrize("tag", SEGMENTS)
@pytest.mark.parametrize("place", ["b {}", "{} b", "({}) b"])
def test_segments_with_certain_tags_are_not_scored(tag: str, place: str, tmp_path: Path) -> None:
    reference = f"f 1 s 0 1 <o> a\nf 1 s 1 2 <o> {place.format(tag)}\nf 1 s 2 3 <o> c\n"
    result = score(tmp_path, reference, "a a b b c c")
    assert (result.figures["n_ref"].value, result.facts["n_segments"], result.facts["n_segments_ignored"]) == (2, 2, 1)
    assert steps(result) in ("CICI", "ICIC", "CIIC", "ICCI")
    assert result.facts["n_words_ignored"] == 2
    named = score(tmp_path, reference, "a a b b c c", "official", unscored_segments="plan")
    assert named.facts["n_segments_ignored"] == 1
    assert score(tmp_path, reference, "a a b b c c", "official").facts["n_segments_ignored"] == 0


def test_a_tag_that_stands_in_the_place_of_a_label_is_the_first_word(tmp_path: Path) -> None:
    reference = "f 1 s 0 1 <overlap>\nf 1 s 1 2 <hes> a\nf 1 s 2 3 <o> b\n"
    plan, official = (score(tmp_path, reference, "x x a a b b", mode) for mode in ("plan", "official"))
    assert (plan.facts["n_segments"], plan.figures["n_ref"].value) == (2, 3)
    assert (official.facts["n_segments"], official.figures["n_ref"].value) == (3, 2)
    assert [row["id"] for row in plan.tables["labels"]] == ["o"]


def test_the_cross_entropy_of_mode_plan_is_the_plans(tmp_path: Path) -> None:
    given = ("a (uh) b c", "a x c")
    plan, official = (score(tmp_path, *given, mode).figures for mode in ("plan", "official"))
    assert plan["nce"].value == plan["nce_plan"].value == official["nce_plan"].value != official["nce"].value
    named = score(tmp_path, *given, "official", nce_rule="plan")
    assert named.figures["nce"].value == official["nce_plan"].value == named.blocks[0]["nce"]


def test_syllables_of_tags_are_not_unknown_words(tmp_path: Path) -> None:
    (tmp_path / "lexicon.txt").write_text("a\ta\nb\tb\n")
    (tmp_path / "r.stm").write_text("f 1 s 0 10 <o> a <breath> <hes> b\n")
    (tmp_path / "h.ctm").write_text("f 1 0 1 a 1\nf 1 1 1 <cough> 1\nf 1 2 1 b 1\n")
    inputs = {
        name: str(tmp_path / file) for name, file in {"stm": "r.stm", "ctm": "h.ctm", "lexicon": "lexicon.txt"}.items()
    }
    result = score_files(find("stt13", mode="plan", overrides={"variant": "ser"}), inputs)
    assert result.figures["wer"].value == 0.0
    assert (result.facts["n_unknown_reference"], result.facts["n_unknown_output"]) == (1, 0), "<hes> alone"
