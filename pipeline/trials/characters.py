"""Splitting text into characters, for languages without word boundaries (KWSEval -x; TranscriptHolder.pm:143-164)."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from pipeline.arrays import Codes, Floats, Ints
from pipeline.trials.decimals import to_decimals

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
