"""Occurrences of keywords in a transcript: the reference of term detection."""

from __future__ import annotations

import string
from collections import defaultdict
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import get_args

import numpy as np

from pipeline.arrays import Codes, Ints
from pipeline.errors import Finding, UsageError
from pipeline.formats.kws.kwlist import KeywordList
from pipeline.formats.kws.rttm import Rttm
from pipeline.formats.table import canonical_codes
from pipeline.trials.decimals import to_decimals
from pipeline.trials.order import canonical_order, joint_codes
from pipeline.trials.schema import Occurrences
from pipeline.trials.tiles import buckets_of, offsets_of, ranks_of
from pipeline.trials.tokens.transcript import STDEVAL, Lexemes, Search, SearchRules, read_words

__all__ = ["SearchRules", "find_occurrences"]

_ASCII_LOWER = str.maketrans(string.ascii_uppercase, string.ascii_lowercase)
Spans = tuple[Ints, Ints]
"""Rows of the first and of the last word of each occurrence."""
SHOWN = 5


def find_occurrences(keywords: KeywordList, rttm: Rttm, rules: SearchRules) -> tuple[Occurrences, tuple[Finding, ...]]:
    """Every occurrence of every listed keyword, in canonical order, and warnings about the transcript.

    ``queries`` holds all listed ids, those without occurrences too. Rows are sorted by (bucket, query, file, channel,
    begin, end, first word); ``row`` is the source line of the first word. Raises ``UsageError`` for unknown rules.

    ``kwseval`` (RTTMList.pm:553-618): the first word is compared exactly, after lowering if ``normalize`` says so, and
    is no fragment or filled pause; later words follow in the speaker's chain, compared with full case folding, whatever
    their subtype. Overlapping occurrences all count.
    ``stdeval`` (0.7, RTTMList.pm 248-331): all letters are lowered; each speaker's words are scanned once per keyword
    and a word serves one occurrence only; the span is "%.4f" of its length after its begin. ``stdeval_0.6`` lowers the
    letters of ASCII only: that version reads bytes.
    ``plan`` (004 section 3.2): words of any subtype, neighbours in time in one file and channel, whoever speaks,
    compared without case. Overlapping occurrences all count.
    """
    words = read_words(rttm, _checked(rules))
    find = _finder(words, rules)
    found = [find(rules.words_of(text)) for text in keywords.keywords.text("text")]
    ids = keywords.keywords.text("id")
    times = times_found(ids, keywords.keywords.text("text")) if rules.repeated_texts == "again" else [1] * len(ids)
    found = counted_spans(found, times)
    queries = tuple(sorted(set(ids)))
    position = {name: code for code, name in enumerate(queries)}
    query = np.repeat(np.array([position[name] for name in ids], np.int32), [first.size for first, _ in found])
    none = np.empty(0, np.int64)
    first = np.concatenate([none, *(first for first, _ in found)])
    last = np.concatenate([none, *(last for _, last in found)])
    occurrences = _occurrences(words, rules, queries, query, (first, last))
    return occurrences, (*_findings(words, rules), *repeated_findings(ids, times))


def _checked(rules: SearchRules) -> SearchRules:
    allowed = {"search": get_args(Search), "character_split": ("none", "all", "not_ascii")}
    for name, values in allowed.items():
        if getattr(rules, name) not in values:
            raise UsageError(f"setting {name}: the value is {getattr(rules, name)!r}, allowed: {' | '.join(values)}.")
    return rules


def lower_each(text: str) -> str:
    """Lower case character by character, as Perl's ``lc``: no final sigma, unlike ``str.lower``."""
    return "".join(character.lower() for character in text)


def _lower_ascii(text: str) -> str:
    return text.translate(_ASCII_LOWER)


@dataclass(frozen=True)
class _Index:
    """Rows by what a comparison makes of their token."""

    code_of: dict[str, int]
    code: Ints
    """For each row its code."""
    rows: Ints
    starts: Ints
    """Rows with code c are ``rows[starts[c]:starts[c + 1]]``, ascending."""

    @classmethod
    def of(cls, words: Lexemes, compare: Callable[[str], str], eligible: Ints) -> _Index:
        """Index the ``eligible`` rows; ``code`` covers all rows."""
        forms = [compare(token) for token in words.tokens]
        code_of = {form: code for code, form in enumerate(dict.fromkeys(forms))}
        code = np.array([code_of[form] for form in forms] + [-1], np.int64)[words.token]
        rows = eligible[np.argsort(code[eligible], kind="stable")]
        starts = np.searchsorted(code[rows], np.arange(len(code_of) + 1))
        return cls(code_of, code, rows, starts)

    def find(self, form: str) -> Ints:
        code = self.code_of.get(form)
        return self.rows[:0] if code is None else self.rows[self.starts[code] : self.starts[code + 1]]


def _finder(words: Lexemes, rules: SearchRules) -> Callable[[list[str]], Spans]:
    """A function from a keyword's words to the rows of its occurrences."""
    every = np.arange(words.line.size)
    if rules.search == "kwseval":
        lower = lower_each if rules.normalize.lower() == "lowercase" else str
        folded = _Index.of(words, str.casefold, every[:0])
        exact = _Index.of(words, lower, np.flatnonzero(~words.hesitation))
        return lambda text: _walk([lower(word) for word in text], words, exact, folded, str.casefold)
    if rules.search == "plan":
        folded = _Index.of(words, str.casefold, every)
        return lambda text: _walk([word.casefold() for word in text], words, folded, folded, str)
    lower = _lower_ascii if rules.search == "stdeval_0.6" else lower_each
    lowered = _Index.of(words, lower, every)
    return lambda text: _scan([lower(word) for word in text], words, lowered)


def _walk(text: list[str], words: Lexemes, first: _Index, later: _Index, compare: Callable[[str], str]) -> Spans:
    """All chains of neighbouring words that read ``text``, overlapping ones included."""
    begin = first.find(text[0]) if text else first.rows[:0]
    end = begin
    for word in text[1:]:
        follower = words.following[end]
        fits = words.near[end] & (later.code[follower] == later.code_of.get(compare(word), -1))
        begin, end = begin[fits], follower[fits]
    return begin, end


def _scan(text: list[str], words: Lexemes, index: _Index) -> Spans:
    """One pass over every chain in which a word serves one occurrence only.

    Where the first word of the keyword does not come back in it, no two candidates share a word and the pass is a walk.
    """
    if text[:1] and text[0] not in text[1:]:
        return _walk(text, words, index, index, str)
    codes = [index.code_of.get(word, -1) for word in text]
    found, resume = [], 0
    for start in (index.find(text[0]) if text else index.rows[:0]).tolist():
        if start >= resume:
            end, resume = _read_on(start, codes, words, index)
            if end >= 0:
                found.append((start, end))
    spans = np.array(found, np.int64).reshape(-1, 2)
    return spans[:, 0], spans[:, 1]


def _read_on(start: int, codes: list[int], words: Lexemes, index: _Index) -> tuple[int, int]:
    """The row of the last word of an occurrence from ``start``, or -1, and the row where the pass goes on.

    A word that is not the one wanted is tried as a first word; a word that comes too late is not.
    """
    row = start
    for code in codes[1:]:
        follower = int(words.following[row])
        if follower < 0:
            return -1, row + 1
        if index.code[follower] != code:
            return -1, follower
        if not words.near[row]:
            return -1, follower + 1
        row = follower
    return row, row + 1


def _occurrences(
    words: Lexemes, rules: SearchRules, queries: tuple[str, ...], query: Codes, spans: Spans
) -> Occurrences:
    first, last = spans
    files, file = canonical_codes(words.files, words.file[first])
    channels, channel = canonical_codes(words.channels, words.channel[first])
    begin_s, end_s, first_end_s = words.begin_s[first], words.end_s[last], words.end_s[first]
    last_begin_s = words.begin_s[last]
    if rules.search in STDEVAL:
        end_s = begin_s + to_decimals(end_s - begin_s, 4)
    place = joint_codes(ranks_of(queries)[query], file, channel, (len(files), len(channels)))
    keys = (end_s, first_end_s, last_begin_s, words.line[first])
    order = canonical_order(place, begin_s, lambda tied: [key[tied] for key in keys])
    return Occurrences(
        queries=queries,
        files=files,
        channels=channels,
        query=query[order],
        file=file[order],
        channel=channel[order],
        begin_s=begin_s[order],
        end_s=end_s[order],
        last_begin_s=last_begin_s[order],
        first_end_s=first_end_s[order],
        row=words.line[first][order],
        offsets=offsets_of(buckets_of(queries)[query[order]]),
    )


def _findings(words: Lexemes, rules: SearchRules) -> tuple[Finding, ...]:
    if rules.search == "plan" or not words.unsorted.size:
        return ()
    message = (
        f"{words.unsorted.size} words begin before the word above them of the same speaker: keywords of several words "
        "are lost or mislinked there, as in the organisers' tool. Sort the transcript by time, or use search=plan."
    )
    return (Finding("unsorted_transcript", message, f"rttm:{words.unsorted[0]}"),)


def times_found(ids: Sequence[str], texts: Sequence[str]) -> list[int]:
    """How often STDEval counts each occurrence of each query: once more for every query of the same text before it, in
    the order of ids (STDEval.pl, ``RefList``)."""
    found, times = defaultdict[str, int](int), [1] * len(ids)
    for at in sorted(range(len(ids)), key=lambda at: ids[at]):
        found[texts[at]] += 1
        times[at] = found[texts[at]]
    return times


def counted_spans(found: Sequence[Spans], times: Sequence[int]) -> list[Spans]:
    """The occurrences of each query as often as they count."""
    return [(np.tile(first, n), np.tile(last, n)) for (first, last), n in zip(found, times, strict=True)]


def repeated_findings(ids: Sequence[str], times: Sequence[int]) -> tuple[Finding, ...]:
    """A warning that names the queries whose occurrences count more than once."""
    named = [name for name, n in zip(ids, times, strict=True) if n > 1]
    if not named:
        return ()
    more = f" and {len(named) - SHOWN} more" if len(named) > SHOWN else ""
    message = (
        f"{', '.join(named[:SHOWN])}{more} have the text of another query: as in STDEval their occurrences count once "
        "for each query of that text up to their own. Use repeated_texts=once, or list a text once."
    )
    return (Finding("repeated_text", message, "kwlist"),)
