"""A system's RTTM as words of a CTM (OpenKWS13 plan section 4.5): records ``LEXEME … lex``."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from pipeline.errors import Problems
from pipeline.formats.findings import Notices
from pipeline.formats.kws.rttm import KINDS, N_FIELDS, PASSED_OVER, SPEAKER_INFO
from pipeline.formats.textlines import Lines

RTTM_TYPES = frozenset((*KINDS, SPEAKER_INFO)) | PASSED_OVER
_WORD = ("LEXEME", "lex")

Records = Iterator[tuple[int, list[bytes]]]


def rttm_fields(problems: Problems, notices: Notices) -> Callable[[Lines], Records]:
    """A reader of groups of RTTM lines that yields each word as the fields of a CTM row, its confidence last.

    ``;;`` begins a comment. Rows have 9 fields or the plan's 10. Other subtypes than ``lex`` are counted and dropped,
    as ``rttm2ctm`` does.
    """

    def read(lines: Lines) -> Records:
        for number, line in lines:
            fields = line.partition(b";;")[0].split()
            if not fields:
                continue
            if len(fields) not in (N_FIELDS, N_FIELDS + 1):
                what = f"the record has {len(fields)} fields (allowed: 9, or 10 with the signal look-ahead time)"
                problems.add("field_count", number, what, "Write <NA> for what does not apply.")
                continue
            kind, file, channel, begin, dur, word, subtype, _, confidence = fields[:N_FIELDS]
            if kind.decode().upper() != _WORD[0]:
                continue
            if subtype.decode().lower() != _WORD[1]:
                message = "a LEXEME of another subtype than lex is not scored as speech-to-text output"
                notices.add("subtype_not_scored", number, message)
                continue
            yield number, [file, channel, begin, dur, word, confidence]

    return read
