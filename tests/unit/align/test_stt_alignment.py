"""Tokens, ties, chopping and graphs, by worked examples."""

from __future__ import annotations

import pytest
from stt_strings import align_text, one_segment, steps

from pipeline.align.tokens import linear as token_linear
from pipeline.align.tokens.rules import Lexer, TokenRules
from pipeline.formats.stt.lexicon import Lexicon
from pipeline.formats.stt.transcripts import AlternationError, spelled, words_of_text
from pipeline.trials.tokens.schema import TokenTimeline


def letters(reference: str, output: str, **rules: object) -> str:
    return "".join(letter for letter, _, _ in one_segment(reference, output, **rules))


def test_a_tie_of_three_substitutions_and_four_gaps_is_decided_as_sclite_does() -> None:
    # Both cost 12; reading from the end, a substitution wins wherever it is not dearer.
    assert letters("a b c", "x y z") == "SSS"
    assert letters("a b", "b c") == "DCI"
    assert letters("x a b", "a b y") == "DCCI"


def test_an_optional_token_costs_less_to_leave_out_but_not_less_than_a_substitution() -> None:
    assert one_segment("(uh) a", "a") == [("C", "(uh)", ""), ("C", "a", "a")]
    assert letters("(uh)", "word") == "S"
    assert letters("(a)", "(b)") == "S"
    assert one_segment("a", "a (b)") == [("C", "a", "a"), ("C", "", "(b)")]


def test_without_optional_deletion_brackets_are_letters() -> None:
    assert letters("(uh)", "uh", optional_deletion=False) == "S"
    assert letters("(uh)", "uh") == "C"


@pytest.mark.parametrize(
    ("reference", "output", "expected"),
    [
        ("th-", "theory", "C"),
        ("-ing", "doing", "C"),
        ("theory", "th-", "C"),
        ("(th-)", "theory", "C"),
        ("(-ing)", "doing", "S"),
        ("th-", "a", "S"),
        ("-ing", "ingot", "S"),
        ("-", "word", "S"),
        ("word", "(-)", "S"),
        ("--", "-", "C"),
        ("-", "(--)", "C"),
        ("-", "b-", "S"),
        ("(-b)", "-ab", "C"),
        ("-ab", "(-b)", "S"),
        ("(-b)", "b-", "S"),
        ("()", "a-", "S"),
    ],
)
def test_fragments(reference: str, output: str, expected: str) -> None:
    assert letters(reference, output) == expected
    assert letters(reference, output, fragments=False) == "S"


def test_where_neither_is_a_fragment_only_equal_words_match() -> None:
    assert letters("(-b)", "ab") == "S"
    assert letters("-", "(-)") == letters("--", "--") == letters("(-b)", "(-b)") == "C"


@pytest.mark.parametrize(
    ("word", "expected"),
    [
        *((r"a;b;c", "a"), (r"a\;b", "a;b"), (r"a\\;b", "a;b"), (r"\;;t", ";"), (";t", ""), (";", ""), ("\\", "")),
        *(("x*", "x"), ("*", "*"), ("x**", "x*"), ("x*;t", "x"), (r"{a;b\*", r"{a;b" + "\\")),
    ],
)
def test_tags_escapes_and_stars(word: str, expected: str) -> None:
    assert spelled(word) == expected


def test_a_word_without_letters_is_a_word_and_the_null_word_is_none() -> None:
    assert letters("a ; b", "a b") == "CDC"
    assert letters("a (;) b", "a b") == "CDC"
    assert letters("a (;) b", "a ( b") == "CCC"
    assert letters("a @ b", "a b") == letters(r"a \@ b", "a @;t b") == "CC"
    assert one_segment("(@)", "@") == [("C", "(@)", "@")]
    assert one_segment("(@) a", "a") == [("C", "(@)", ""), ("C", "a", "a")]


@pytest.mark.parametrize(
    ("fold", "same"), [("ascii", "SSC"), ("turkish", "CSC"), ("vietnamese", "SCC"), ("unicode", "CCC")]
)
def test_case_is_folded_by_language(fold: str, same: str) -> None:
    reference, output = "ÇA É AB", "ça é ab"
    assert letters(reference, output, fold=fold) == same
    assert letters("AB", "ab", case_sensitive=True) == "S"


def test_turkish_has_two_letters_i() -> None:
    assert letters("İI", "iı", fold="turkish") == "C"


@pytest.mark.parametrize(
    ("word", "rules", "expected"),
    [
        ("A中b", {}, ["a", "中", "b"]),
        ("iphone手机", {}, ["iphone", "手", "机"]),
        ("th-", {}, ["th"]),
        ("中-", {"drop_hyphens": False}, ["中", "-"]),
        ("abc", {"keep_ascii": False}, ["a", "b", "c"]),
        ("(个人)", {}, ["(个)", "(人)"]),
        ("(个)", {"optional_deletion": False}, ["(", "个", ")"]),
        ("--", {}, []),
        ("(-)", {}, []),
        ("()", {}, []),
        ("-", {}, ["-"]),
        (r"a\;b", {"keep_ascii": False}, ["a", ";", "b"]),
        ("a**", {}, ["a*"]),
        ("(a**)", {}, ["(a*)"]),
        ("中a*", {}, ["中", "a"]),
        (";", {}, [""]),
        ("{a;b}", {"keep_ascii": False}, ["{", "a", ";", "b", "}"]),
    ],
)
def test_characters(word: str, rules: dict[str, bool], expected: list[str]) -> None:
    lexer = Lexer(TokenRules(variant="cer", **rules), TokenTimeline())  # type: ignore[arg-type]  # all are booleans
    [string] = lexer.alternatives(word, of_reference=False)
    assert [token.shown for token in string] == expected
    assert not any(token.fragment for token in string if len(word) > 1)


def test_a_run_of_ascii_that_stays_whole_keeps_its_mark() -> None:
    rules = {"variant": "cer", "drop_hyphens": False}
    assert letters("-ing", "doing", **rules) == "C"
    assert letters("(-ing)", "doing", **rules) == letters("中-", "中国", **rules)[1] == "S"
    assert letters("-ing", "doing", **rules, keep_ascii=False) == "ISCCC"


def test_of_characters_the_null_word_is_one_and_words_that_are_cut_stand_behind_others() -> None:
    rules = {"variant": "cer", "keep_ascii": False}
    assert letters("a@b", "ab", **rules) == "CC"
    assert one_segment("{ ab / c }", "d", **rules) == [("S", "c", "d")]
    assert one_segment("{ ab / cd / e @ }", "e", **rules) == [("C", "e", "e")]
    assert [ref for _, ref, _ in one_segment("{ ab / cd / efg }", "x y", **rules)] == ["a", "b"]
    assert [ref for _, ref, _ in one_segment("{ ab c / de f }", "x y z", **rules)] == ["a", "b", "c"]


def test_syllables_of_a_schwa_are_no_null_words_and_tags_alone_are_no_syllables() -> None:
    entries = {"a": ((("@",),),), "b": ((("_1",), ("x", "_2")),), "c": ((("_1",),),), "-": ((("d",),),)}
    lexer = Lexer(TokenRules(variant="ser", syllable_tags=False), TokenTimeline(lexicon=Lexicon(entries)))
    strings = {word: lexer.alternatives(word, of_reference=False)[0] for word in "abc-"}
    assert {word: [token.text for token in string] for word, string in strings.items()} == {
        "a": ["@"],
        "b": ["x"],
        "c": ["c"],
        "-": ["d"],
    }
    assert not strings["a"][0].null
    assert [word for word in "abc-" if lexer.is_unknown(word)] == ["c"]


def test_alternatives_of_the_reference() -> None:
    assert letters("{ um / uh / @ } yes", "yes") == "C"
    assert letters("{ a b / c { d / e } } f", "c e f") == "CCC"
    assert letters("{and/or/x}y", "or y") == "CC"


def test_alternatives_of_the_output_move_as_one_and_may_be_empty() -> None:
    ctm = (
        "f 1 0 1 a\nf 1 * * <ALT_BEGIN>\nf 1 * * <ALT>\nf 1 1 1 x\nf 1 * * <ALT_END>\nf 1 2 1 b\n"
        "f 1 * * <ALT_BEGIN>\nf 1 8 1 c\nf 1 * * <ALT>\nf 1 8 4 d\nf 1 * * <ALT_END>\n"
    )
    aligned = align_text("f 1 s 0 9 a b\nf 1 s 9 20 d\n", ctm)
    assert steps(aligned) == [("C", "a", "a"), ("C", "b", "b"), ("C", "d", "d")]


@pytest.mark.parametrize("text", ["a { } b", "a{b / c}", "{ / }"])
def test_braces_that_cannot_be_read(text: str) -> None:
    with pytest.raises(AlternationError):
        words_of_text(text)


def test_an_open_brace_swallows_the_rest() -> None:
    assert words_of_text("a { b / c") == (["a"], False)


def test_words_go_by_mid_points_to_the_first_segment_that_ends_later() -> None:
    stm = "f 1 a 1 2 one\nf 1 b 3 4 two\nf 1 c 4 5 ignore_time_segment_in_scoring\nf 1 d 6 7 six\n"
    ctm = "".join(
        f"f 1 {time} 0.2 {word}\n"
        for time, word in ((0, "pre"), (1.5, "one"), (2.5, "gap"), (3.5, "two"), (4.5, "ign"), (9, "post"))
    )
    aligned = align_text(stm, ctm)
    assert [(letter, out) for letter, _, out in steps(aligned)] == [
        ("I", "pre"),
        ("C", "one"),
        ("I", "gap"),
        ("C", "two"),
        ("S", "post"),
    ]
    assert aligned.chopped.in_gap.tolist() == [True, False, True, False, False, True]


def test_a_segments_end_is_held_in_single_precision_unless_told_otherwise() -> None:
    # 0.4 in single precision is 0.4000000059: a mid point of exactly 0.4 lies before it.
    stm, ctm = "f 1 a 0 0.4 x\nf 1 a 0.4 2 y\n", "f 1 0.3 0.2 x\nf 1 1 0.2 y\n"
    assert [letter for letter, _, _ in steps(align_text(stm, ctm, segment_end="float32"))] == ["C", "C"]
    assert [letter for letter, _, _ in steps(align_text(stm, ctm, segment_end="float64"))] == ["D", "I", "C"]


def test_segments_without_times_take_no_words() -> None:
    aligned = align_text("f 1 a 0 1 x\nf 1 a * * lost\nf 1 a 1 2 y\n", "f 1 0.2 0.2 x\nf 1 1.2 0.2 y\n")
    assert steps(aligned) == [("C", "x", "x"), ("C", "y", "y")]


def test_recordings_of_one_side_alone_are_told_apart_from_errors() -> None:
    aligned = align_text("f 1 a 0 1 x\ng 1 a 0 1 y\n", "f 2 0.2 0.2 x\ng 1 0.2 0.2 y\n")
    assert aligned.chopped.only_output == {"f 2": 1}
    assert aligned.chopped.only_reference == ("f 1",)
    assert steps(aligned).count(("C", "y", "y")) == 1
    assert [letter for letter, _, _ in steps(aligned)].count("I") == 0


def test_long_strings_are_aligned_in_bands_with_the_same_result(monkeypatch: pytest.MonkeyPatch) -> None:
    reference, output = "a b a c d a b c " * 12, "b a d c a b b c a " * 11
    whole = one_segment(reference, output)
    monkeypatch.setattr(token_linear, "CELLS_AT_ONCE", 700)
    assert one_segment(reference, output) == whole
