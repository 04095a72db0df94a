"""The words of a transcript in the chains that keyword searches walk along."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

from pipeline.arrays import Bools, Codes, Floats, Ints
from pipeline.formats.kws.rttm import Rttm
from pipeline.formats.table import Table, canonical_codes
from pipeline.trials.decimals import to_decimals

Search = Literal["kwseval", "stdeval", "stdeval_0.6", "plan"]
STDEVAL = ("stdeval", "stdeval_0.6")
_HESITATIONS = frozenset({"frag", "fp"})


@dataclass(frozen=True)
class SearchRules:
    """How occurrences of keywords are found in a transcript. Every difference between tools and plan is a field."""

    search: Search = "kwseval"
    """Whose search: KWSEval (RTTMList.pm:553-618), STDEval 0.7 or 0.6, or plan 004 section 3.2."""
    word_gap_s: float = 0.5
    """Largest gap between two words of one occurrence, seconds; compared after rounding to four decimals."""
    normalize: str = ""
    """``compareNormalize`` of the keyword list: ``lowercase`` lowers the first word of a ``kwseval`` search."""
    character_split: Literal["none", "all", "not_ascii"] = "none"
    """Split words into characters: no, all, or all but runs of ASCII (KWSEval -x charsplit, -x notASCII)."""
    delete_hyphens: bool = False
    """Whether hyphens count as blanks where words are split (KWSEval -x deleteHyphens, which does nothing alone)."""

    repeated_texts: Literal["once", "again"] = "once"
    """Whether what a text finds counts again for each further keyword of that text (STDEval)."""

    def words_of(self, text: str) -> list[str]:
        """The words of a token or of a keyword's text under the character rules."""
        if not self.splits:
            return text.split()
        not_ascii = self.character_split == "not_ascii"
        return split_text(text, not_ascii=not_ascii, delete_hyphens=self.delete_hyphens).split()

    @property
    def splits(self) -> bool:
        """Whether one token may stand for several words."""
        return self.character_split != "none"


@dataclass(frozen=True)
class Lexemes:
    """LEXEME records, one row each, rows of one chain together. ``token``, ``file``, ``channel`` are codes."""

    tokens: tuple[str, ...]
    files: tuple[str, ...]
    channels: tuple[str, ...]
    token: Codes
    file: Codes
    channel: Codes
    begin_s: Floats
    end_s: Floats
    hesitation: Bools
    """Filled pauses and fragments."""
    line: Ints
    following: Ints
    """Row of the word after this one in its chain, -1 at the end."""
    near: Bools
    """Whether that word begins within the allowed gap."""
    unsorted: Ints
    """Lines of words that begin before the word above them in their chain, ascending."""


def read_words(rttm: Rttm, rules: SearchRules) -> Lexemes:
    """The words of ``rttm``, chained per file, channel and (except for ``plan``) speaker.

    ``kwseval``: record i of the file is followed by record i + 1 *in order of time*, the tool's own rule, right only
    where the file is in order of time (RTTMList.pm:306-324). ``stdeval``: order of the file. ``plan``: order of time.
    Ends are rounded to four decimals, as both tools do (RTTMRecord.pm).
    """
    table = _lexemes(rttm, rules)
    end_s = to_decimals(table["begin_s"] + table["dur_s"], 4)
    files, file = canonical_codes(table.vocabularies["file"], table["file"])
    channels, channel = canonical_codes(table.vocabularies["channel"], table["channel"])
    speakers, speaker = canonical_codes(table.vocabularies["speaker"], table["speaker"])
    chain = file.astype(np.int64) * len(channels) + channel
    if rules.search == "plan":
        tokens = canonical_codes(table.vocabularies["token"], table["token"])[1]
        order = np.lexsort((speaker, tokens, end_s, table["begin_s"], chain))
    else:
        chain = chain * len(speakers) + speaker
        order = np.argsort(chain, kind="stable")
    table, chain, end_s = table.take(order), chain[order], end_s[order]
    begin_s, line = table["begin_s"], table["line"].astype(np.int64)
    following = _following(chain, begin_s, by_time=rules.search == "kwseval")
    gap_s = to_decimals(begin_s[following] - end_s, 4)
    early = np.flatnonzero((chain[1:] == chain[:-1]) & (begin_s[1:] < begin_s[:-1])) + 1
    return Lexemes(
        tokens=table.vocabularies["token"],
        files=files,
        channels=channels,
        token=table["token"],
        file=file[order],
        channel=channel[order],
        begin_s=begin_s,
        end_s=end_s,
        hesitation=_is_one_of(table, "subtype", _HESITATIONS),
        line=line,
        following=following,
        near=(following >= 0) & (gap_s <= rules.word_gap_s),
        unsorted=np.sort(line[early]),
    )


def _lexemes(rttm: Rttm, rules: SearchRules) -> Table:
    """The LEXEME records in the order of the file, split into characters where the rules ask for it."""
    table = rttm.records
    table = table.take(np.flatnonzero(_is_one_of(table, "kind", frozenset({"LEXEME"}))))
    if not rules.splits:
        return table
    parts = [rules.words_of(name) for name in table.vocabularies["token"]]
    rows = split_rows(parts, table["token"], table["begin_s"], table["dur_s"])
    columns = {name: column[rows.parent] for name, column in table.columns.items()}
    columns |= {"token": rows.token, "begin_s": rows.begin_s, "dur_s": rows.dur_s}
    return Table(columns, {**table.vocabularies, "token": rows.tokens})


def _is_one_of(table: Table, name: str, wanted: frozenset[str]) -> Bools:
    """For each row whether its text in a column is one of ``wanted``."""
    return np.array([text in wanted for text in table.vocabularies[name]] + [False])[table[name]]


def _following(chain: Ints, begin_s: Floats, *, by_time: bool) -> Ints:
    """For each row, chains one after the other, the row of its follower; -1 at the end of its chain."""
    n = chain.size
    order = np.lexsort((begin_s, chain)) if by_time else np.arange(n)
    following = np.append(order[1:], -1)[:n]
    following[np.append(chain[1:] != chain[:-1], True)[:n]] = -1
    return following


_ASCII_PAIR = re.compile(r"([\x01-\x7f])\s+([\x01-\x7f])")


def split_text(text: str, *, not_ascii: bool, delete_hyphens: bool) -> str:
    """``text`` with a blank between any two characters, blanks squeezed.

    ``not_ascii`` joins neighbouring ASCII characters again, by the tool's own substitution, applied twice: it joins
    across words as well. ``delete_hyphens`` then turns hyphens into blanks.
    """
    split = " ".join(text)
    if not_ascii:
        for _ in range(2):
            split = _ASCII_PAIR.sub(r"\1\2", split)
    if delete_hyphens:
        split = split.replace("-", " ")
    return " ".join(split.split())


@dataclass(frozen=True)
class SplitRows:
    """Records after splitting: the record each came from, its token, and its own times in seconds."""

    parent: Ints
    tokens: tuple[str, ...]
    token: Codes
    begin_s: Floats
    dur_s: Floats


def split_rows(parts: Sequence[Sequence[str]], token: Codes, begin_s: Floats, dur_s: Floats) -> SplitRows:
    """Records whose token ``t`` stands for the words ``parts[t]``, one record a word.

    A record of n words becomes n records of dur/n seconds each, one after the other, times rounded to milliseconds;
    one of a single word keeps its times; one of none vanishes.
    """
    counts = np.array([len(words) for words in parts] + [0], np.int64)
    first = np.concatenate([[0], np.cumsum(counts)])
    n_words = counts[token]
    parent = np.repeat(np.arange(token.size), n_words)
    position = np.arange(parent.size) - np.repeat(np.cumsum(n_words) - n_words, n_words)
    flat = [word for words in parts for word in words]
    tokens = tuple(dict.fromkeys(flat))
    index = {word: code for code, word in enumerate(tokens)}
    codes = np.array([index[word] for word in flat] + [-1], np.int32)
    several = n_words[parent] > 1
    part_s = to_decimals(dur_s[parent] / np.maximum(n_words[parent], 1), 3)
    moved_s = to_decimals(begin_s[parent] + part_s * position, 3)
    return SplitRows(
        parent=parent,
        tokens=tokens,
        token=codes[first[token[parent]] + position],
        begin_s=np.where(several, moved_s, begin_s[parent]),
        dur_s=np.where(several, part_s, dur_s[parent]),
    )
