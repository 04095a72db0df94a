"""Which fields of an RTTM record must be given and which must be ``<NA>``, by its type (plan 004, table C.3)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from pipeline.formats.findings import Notices, quoted

NA = b"<NA>"
FIELDS = ("type", "file", "chnl", "tbeg", "tdur", "ortho", "stype", "name", "conf", "slat")
"""The fields by their names in table C.1."""


@dataclass(frozen=True, slots=True)
class Pattern:
    """Positions of the fields of one type that must be given, and of those that must be ``<NA>``."""

    given: tuple[int, ...]
    absent: tuple[int, ...]


_TIMES, _ORTHO, _STYPE, _NAME, _CONF, _SLAT = (3, 4), 5, 6, 7, 8, 9
_STRUCTURE = Pattern(given=(), absent=(_ORTHO, _STYPE, _NAME, _CONF, _SLAT))
_WORD = Pattern(given=(_STYPE, _NAME), absent=())
PATTERNS: Mapping[bytes, Pattern] = {
    b"SEGMENT": Pattern(given=(), absent=(_ORTHO, _SLAT)),
    b"NOSCORE": _STRUCTURE,
    b"NO_RT_METADATA": _STRUCTURE,
    b"LEXEME": _WORD,
    b"NON-LEX": _WORD,
    b"NON-SPEECH": Pattern(given=(_STYPE,), absent=(_ORTHO, _NAME)),
    b"SPKR-INFO": Pattern(given=(_STYPE, _NAME), absent=(*_TIMES, _ORTHO, _SLAT)),
}
"""Table C.3. SPEAKER is not in it and may have any fields; that other types have times is seen where times are read."""
_SEGMENT_SUBTYPES = (b"eval", NA)


def note_pattern(kind: bytes, fields: Sequence[bytes], line: int, notices: Notices) -> None:
    """Warn of a record of the type ``kind`` (upper case) that breaks the table: one warning a type, with its count."""
    pattern = PATTERNS.get(kind)
    if pattern is None:
        return
    wrong = "; ".join(_wrong(kind, pattern, fields))
    if wrong:
        name = kind.decode()
        message = f"the {name} record is not written as plan 004, table C.3, says: {wrong}. It is read as it stands"
        notices.add(f"pattern_{name.lower().replace('-', '_')}", line, message)


def _wrong(kind: bytes, pattern: Pattern, fields: Sequence[bytes]) -> Iterator[str]:
    for at in pattern.given:
        if fields[at] == NA:
            yield f"{FIELDS[at]} is <NA>, write a value"
    for at in pattern.absent:
        if at < len(fields) and fields[at] != NA:
            yield f"{FIELDS[at]} is {quoted(fields[at].decode())}, write <NA>"
    if kind == b"SEGMENT" and fields[_STYPE] not in _SEGMENT_SUBTYPES:
        yield f"stype is {quoted(fields[_STYPE].decode())}, write eval or <NA>"
