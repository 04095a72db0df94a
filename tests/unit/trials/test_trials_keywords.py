"""Reference search. Transcript lines read: file channel begin duration token [subtype [speaker]]."""

from __future__ import annotations

from typing import Any

import pytest
from trial_inputs import kwlist, rttm

from pipeline.errors import UsageError
from pipeline.trials.keywords import SearchRules, find_occurrences
from pipeline.trials.schema import Occurrences
from pipeline.trials.tiles import bucket_of

EVERY_SEARCH = pytest.mark.parametrize("search", ["kwseval", "stdeval", "stdeval_0.6", "plan"])


def found(transcript: str, text: str, **rules: Any) -> list[tuple[float, float]]:
    occurrences, _ = find_occurrences(kwlist(K1=text), rttm(transcript), SearchRules(**rules))
    return list(zip(occurrences.begin_s.tolist(), occurrences.end_s.tolist(), strict=True))


def named(occurrences: Occurrences) -> list[tuple[str, str, str, float]]:
    columns = (occurrences.query, occurrences.file, occurrences.channel, occurrences.begin_s)
    return [
        (occurrences.queries[q], occurrences.files[f], occurrences.channels[c], begin)
        for q, f, c, begin in zip(*(column.tolist() for column in columns), strict=True)
    ]


@EVERY_SEARCH
def test_a_word_is_found_wherever_it_is_spoken(search: Any) -> None:
    transcript = "f2 1 5 0.5 a\nf1 2 1 0.5 a\nf1 1 3 0.5 b"
    occurrences, findings = find_occurrences(kwlist(K1="a"), rttm(transcript), SearchRules(search=search))
    assert named(occurrences) == [("K1", "f1", "2", 1.0), ("K1", "f2", "1", 5.0)]
    assert occurrences.end_s.tolist() == [1.5, 5.5]
    assert occurrences.row.tolist() == [2, 1]
    assert findings == ()


@EVERY_SEARCH
def test_several_words_span_from_first_to_last(search: Any) -> None:
    transcript = "f 1 1 0.5 new\nf 1 1.5 0.25 york\nf 1 3 0.5 new\nf 1 3.6 0.5 jersey"
    occurrences, _ = find_occurrences(kwlist(K1="new york"), rttm(transcript), SearchRules(search=search))
    assert (occurrences.begin_s.tolist(), occurrences.end_s.tolist()) == ([1.0], [1.75])
    assert (occurrences.last_begin_s.tolist(), occurrences.first_end_s.tolist()) == ([1.5], [1.5])


@EVERY_SEARCH
def test_the_gap_is_compared_after_rounding_to_four_decimals(search: Any) -> None:
    transcript = """
        f 1 1 0.5 a
        f 1 2 0.5 b
        f 1 10 0.5 a
        f 1 11.0001 0.5 b
        f 1 20 0.5 a
        f 1 21.00004 0.5 b
        f 1 40 2 a
        f 1 41 0.2 b
    """
    assert [begin for begin, _ in found(transcript, "a b", search=search)] == [1.0, 20.0, 40.0]
    assert [begin for begin, _ in found(transcript, "a b", search=search, word_gap_s=0.4)] == [40.0]


@EVERY_SEARCH
def test_words_of_another_channel_do_not_continue_a_keyword(search: Any) -> None:
    assert found("f 1 1 0.5 a\nf 2 1.5 0.5 b", "a b", search=search) == []


@EVERY_SEARCH
def test_records_that_are_no_words_are_not_searched(search: Any) -> None:
    transcript = "SPEAKER f 1 1 0.5 a a spk <NA>\nNOSCORE f 1 1 9 a <NA> <NA> <NA>\nlexeme f 1 4 0.5 a lex spk <NA>"
    assert found(transcript, "a", search=search) == [(4.0, 4.5)]


@EVERY_SEARCH
def test_listed_keywords_without_occurrences_stay_in_the_list(search: Any) -> None:
    occurrences, _ = find_occurrences(kwlist(K2="b", K1="a"), rttm("f 1 1 1 x"), SearchRules(search=search))
    assert occurrences.queries == ("K1", "K2")
    assert len(occurrences) == 0
    assert occurrences.offsets[-1] == 0


@EVERY_SEARCH
def test_an_empty_transcript(search: Any) -> None:
    assert found("SPEAKER f 1 1 0.5 <NA> <NA> spk <NA>", "a b", search=search) == []


@EVERY_SEARCH
def test_two_keywords_of_one_text_are_two_keywords(search: Any) -> None:
    occurrences, _ = find_occurrences(kwlist(K1="a", K2="a"), rttm("f 1 1 1 a"), SearchRules(search=search))
    assert sorted(name for name, *_ in named(occurrences)) == ["K1", "K2"]


@EVERY_SEARCH
def test_fillers_match_only_where_they_are_listed(search: Any) -> None:
    transcript = "f 1 0 6 NO_KEYWORD\ng 1 0 4 dev_0317"
    assert found(transcript, "dev_0317", search=search) == [(0.0, 4.0)]
    assert found(transcript, "NO_KEYWORD", search=search) == [(0.0, 6.0)]


@EVERY_SEARCH
def test_rows_are_sorted_by_bucket_query_file_and_time(search: Any) -> None:
    texts = {f"Q{i}": "a" for i in range(100)}
    transcript = "g 1 5 0.5 a s\nf 1 3 0.5 a\nf 1 4 0.5 a"
    occurrences, _ = find_occurrences(kwlist(**texts), rttm(transcript), SearchRules(search=search))
    rows = named(occurrences)
    assert rows == sorted(rows, key=lambda row: (bucket_of(row[0]), *row))
    buckets = [bucket_of(name) for name, *_ in rows]
    assert [int(offset) for offset in occurrences.offsets[1:]] == [sum(b <= k for b in buckets) for k in range(64)]


# KWSEval


def test_kwseval_counts_overlapping_self_matches() -> None:
    transcript = "f 1 1 0.5 a\nf 1 1.5 0.5 a\nf 1 2 0.5 a"
    assert found(transcript, "a a") == [(1.0, 2.0), (1.5, 2.5)]


def test_kwseval_rounds_the_end_of_each_record() -> None:
    assert found("f 1 0.1 0.2 a", "a") == [(0.1, 0.3)]
    assert 0.1 + 0.2 != 0.3


def test_kwseval_compares_the_first_word_exactly_unless_the_list_normalizes() -> None:
    transcript = "f 1 1 0.5 Bill"
    assert found(transcript, "bill") == []
    assert found(transcript, "Bill") == [(1.0, 1.5)]
    assert found(transcript, "BILL", normalize="lowercase") == [(1.0, 1.5)]


def test_kwseval_folds_later_words_whatever_the_list_says() -> None:
    transcript = "f 1 1 0.5 a\nf 1 1.5 0.5 STRASSE"
    assert found(transcript, "a straße") == [(1.0, 2.0)]
    assert found("f 1 1 0.5 STRASSE", "straße", normalize="lowercase") == []


def test_kwseval_lowers_character_by_character() -> None:
    # a final capital sigma becomes σ, never ς
    assert found("f 1 1 0.5 ΟΔΟΣ", "οδοσ", normalize="lowercase") == [(1.0, 1.5)]
    assert found("f 1 1 0.5 ΟΔΟΣ", "οδος", normalize="lowercase") == []


def test_kwseval_begins_no_keyword_with_a_fragment_or_filled_pause() -> None:
    transcript = "f 1 1 0.5 a fp\nf 1 1.5 0.5 b frag\nf 1 2 0.5 a\nf 1 2.5 0.5 b frag"
    assert found(transcript, "a") == [(2.0, 2.5)]
    assert found(transcript, "b") == []
    assert found(transcript, "a b") == [(2.0, 3.0)]


def test_kwseval_lets_a_hesitation_break_a_keyword() -> None:
    assert found("f 1 1 0.5 a\nf 1 1.5 0.1 uh fp\nf 1 1.6 0.5 b", "a b") == []


def test_kwseval_stays_with_the_speaker() -> None:
    transcript = "f 1 1 0.5 a lex s1\nf 1 1.2 0.5 x lex s2\nf 1 1.5 0.5 b lex s1\nf 1 1.7 0.5 b lex s2"
    assert found(transcript, "a b") == [(1.0, 2.0)]
    assert found(transcript, "x b") == [(1.2, 2.2)]


def test_kwseval_links_unsorted_records_as_the_tool_does() -> None:
    # records in file order: b@3.5, a@3.0, a@10, b@10.5; in time order: a@3.0, b@3.5, a@10, b@10.5.
    # record i is followed by the (i+1)-th of the time order: a@3.0 by a@10, so the keyword at 3.0 is lost.
    transcript = "f 1 3.5 0.5 b\nf 1 3.0 0.5 a\nf 1 10 0.5 a\nf 1 10.5 0.5 b"
    occurrences, (finding,) = find_occurrences(kwlist(K1="a b"), rttm(transcript), SearchRules())
    assert occurrences.begin_s.tolist() == [10.0]
    assert (finding.code, finding.where) == ("unsorted_transcript", "rttm:2")


def test_kwseval_sorts_records_of_one_time_stably() -> None:
    # the fourth record begins before the third, the first two at once: in time order a@1, b@1, c@3, d@4
    transcript = "f 1 1 0 a\nf 1 1 0 b\nf 1 4 0.5 d\nf 1 3 0.5 c"
    assert found(transcript, "a b") == [(1.0, 1.0)]
    assert found(transcript, "b c", word_gap_s=2.0) == [(1.0, 3.5)]


# STDEval


def test_stdeval_uses_each_word_once() -> None:
    transcript = "f 1 1 0.5 a\nf 1 1.5 0.5 a\nf 1 2 0.5 a\nf 1 2.5 0.5 a\nf 1 3 0.5 a"
    assert found(transcript, "a a", search="stdeval") == [(1.0, 2.0), (2.0, 3.0)]
    assert len(found(transcript, "a", search="stdeval")) == 5


def test_stdeval_tries_a_wrong_word_as_a_first_word() -> None:
    # a a b in a a a b: the third a is not b and is tried as a first word, but the b after it is no second a
    transcript = "f 1 1 0.5 a\nf 1 1.5 0.5 a\nf 1 2 0.5 a\nf 1 2.5 0.5 b"
    assert found(transcript, "a a b", search="stdeval") == []
    assert found(transcript, "a a b") == [(1.5, 3.0)]
    # one more a before: the third is tried, the fourth is the second word, and b follows
    longer = "f 1 0.5 0.5 a\n" + transcript
    assert found(longer, "a a b", search="stdeval") == [(1.5, 3.0)]


def test_stdeval_passes_over_a_word_that_comes_too_late() -> None:
    # the second a comes too late after the first and is not tried as a first word, though an a follows it in time
    transcript = "f 1 1 0.5 a\nf 1 9 0.5 a\nf 1 9.5 0.5 a\nf 1 10 0.5 a"
    assert found(transcript, "a a", search="stdeval") == [(9.5, 10.5)]


def test_stdeval_forgets_a_begun_keyword_where_a_speaker_ends() -> None:
    transcript = "f 1 1 0.5 a lex s1\nf 1 1.5 0.5 a lex s2\nf 1 2 0.5 a lex s2"
    assert found(transcript, "a a", search="stdeval") == [(1.5, 2.5)]


@pytest.mark.parametrize(("search", "folded"), [("stdeval", True), ("stdeval_0.6", False)])
@pytest.mark.parametrize(("token", "text"), [("Äpfel", "äpfel"), ("дом", "ДОМ"), ("οδοσ", "ΟΔΟΣ"), ("ǆ", "ǅ")])
def test_stdeval_lowers_all_letters_and_its_version_06_ascii_only(
    search: Any, folded: bool, token: str, text: str
) -> None:
    assert found("f 1 1 0.5 Bill", "bILL", search=search) == [(1.0, 1.5)]
    assert found(f"f 1 1 0.5 {token}", text, search=search) == ([(1.0, 1.5)] if folded else [])


def test_stdeval_compares_without_the_rules_of_whole_words() -> None:
    assert found("f 1 1 0.5 οδος", "ΟΔΟΣ", search="stdeval") == []  # no final sigma
    assert found("f 1 1 0.5 strasse", "straße", search="stdeval") == []  # no folding


def test_stdeval_begins_keywords_with_any_word() -> None:
    assert found("f 1 1 0.5 a fp", "a", search="stdeval") == [(1.0, 1.5)]


def test_stdeval_follows_the_order_of_the_file() -> None:
    transcript = "f 1 3.5 0.5 a\nf 1 3.0 0.5 b"
    occurrences, (finding,) = find_occurrences(kwlist(K1="a b"), rttm(transcript), SearchRules(search="stdeval"))
    assert occurrences.begin_s.tolist() == [3.5]
    assert finding.code == "unsorted_transcript"


def test_stdeval_rounds_ends_of_words_and_then_the_length() -> None:
    transcript = "f 1 0.00004 0.20002 a"  # ends at 0.20006, so at 0.2001, which is 0.20006 after its begin
    assert found(transcript, "a", search="stdeval") == [(0.00004, 0.00004 + 0.2001)]
    late = "f 1 1 0.50004 a\nf 1 2.0001 0.5 b"  # after an end at 1.5 the gap is 0.5001
    assert found(late, "a b", search="stdeval") == []


# plan 004, section 3.2


def test_plan_takes_words_of_any_subtype_and_speaker() -> None:
    transcript = "f 1 1 0.5 a frag s1\nf 1 1.5 0.5 b lex s2"
    assert found(transcript, "a b", search="plan") == [(1.0, 2.0)]


def test_plan_follows_time_not_the_file() -> None:
    transcript = "f 1 3.5 0.5 b\nf 1 3.0 0.5 a"
    occurrences, findings = find_occurrences(kwlist(K1="a b"), rttm(transcript), SearchRules(search="plan"))
    assert occurrences.begin_s.tolist() == [3.0]
    assert findings == ()


def test_plan_is_broken_by_another_speaker_in_between() -> None:
    transcript = "f 1 1 0.5 a lex s1\nf 1 1.2 0.1 x lex s2\nf 1 1.5 0.5 b lex s1"
    assert found(transcript, "a b", search="plan") == []
    assert found(transcript, "a b", search="kwseval") == [(1.0, 2.0)]


def test_plan_ignores_case_in_every_word() -> None:
    assert found("f 1 1 0.5 STRASSE\nf 1 1.5 0.5 Ä", "straße ä", search="plan") == [(1.0, 2.0)]


def test_plan_counts_overlapping_self_matches() -> None:
    assert len(found("f 1 1 0.5 a\nf 1 1.5 0.5 a\nf 1 2 0.5 a", "a a", search="plan")) == 2


# splitting into characters


def test_characters_become_words_of_their_own() -> None:
    transcript = "f 1 17.198 0.748 听到\nf 1 19.440 0.312 to"
    assert found(transcript, "到") == []
    assert found(transcript, "到", character_split="all") == [(17.572, 17.946)]
    assert found(transcript, "听到", character_split="all") == [(17.198, 17.946)]
    assert found(transcript, "o", character_split="all") == [(19.596, 19.752)]
    assert found(transcript, "o", character_split="not_ascii") == []
    assert found(transcript, "to", character_split="not_ascii") == [(19.44, 19.752)]


def test_hyphens_may_count_as_blanks() -> None:
    transcript = "f 1 1 1 听到"
    assert found(transcript, "到-", character_split="not_ascii") == []
    assert found(transcript, "到-", character_split="not_ascii", delete_hyphens=True) == [(1.5, 2.0)]
    assert found("f 1 1 1 co-op", "co op", delete_hyphens=True) == [], "KWSEval: no effect without charsplit"
    assert found("f 1 1 1 co-op", "co-op", delete_hyphens=True) == [(1.0, 2.0)]


@pytest.mark.parametrize("rules", [SearchRules(search="jar"), SearchRules(character_split="some")])  # type: ignore[arg-type]
def test_unknown_rules_are_named(rules: SearchRules) -> None:
    with pytest.raises(UsageError, match=r"setting (search|character_split): the value is '(jar|some)'"):
        find_occurrences(kwlist(K1="a"), rttm("f 1 1 1 a"), rules)
