"""CTM → RTTM: words become records LEXEME of subtype lex, of no named speaker."""

from __future__ import annotations

import math

from pipeline.formats.convert import Conversion, Given, Made
from pipeline.formats.convert.values import TimedWord, seconds, words_of


def convert(given: Given) -> Made:
    """One record a word, in the order of the file. A word without a confidence has none."""
    return Made.text("".join(map(_record, words_of(given))))


def _record(word: TimedWord) -> str:
    confidence = "<NA>" if math.isnan(word.confidence) else seconds(word.confidence)
    times = f"{seconds(word.begin_s)} {seconds(word.dur_s)}"
    return f"LEXEME {word.file} {word.channel} {times} {word.word} lex <NA> {confidence}\n"


CONVERSIONS = (Conversion("ctm", "rttm", "words become LEXEME lex; speakers are <NA>", convert),)
