"""RTTM → CTM: records LEXEME of subtype lex, as rttm2ctm does; other subtypes are counted."""

from __future__ import annotations

import io

from pipeline.formats.convert import Conversion, Given, Made
from pipeline.formats.convert.values import ctm, words_of
from pipeline.formats.stt.ctm import read_ctm


def convert(given: Given) -> Made:
    """The words, by file, channel and time."""
    notes = [finding.message for finding in read_ctm(io.BytesIO(given.files[""]), given.name).findings]
    return Made.text(ctm(words_of(given)), *notes)


CONVERSIONS = (Conversion("rttm", "ctm", "LEXEME records of subtype lex become words", convert),)
