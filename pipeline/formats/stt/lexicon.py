"""Pronunciation lexica of language packs: word, optional romanisation, pronunciations, between tabs."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import BinaryIO

from pipeline.errors import Finding, Problems
from pipeline.formats.findings import Notices
from pipeline.formats.textlines import line_groups

_BOUNDARIES = frozenset({".", "#"})
_MARKS = ("_", '"', "%")


@dataclass(frozen=True)
class Lexicon:
    """Words with their pronunciations: each a tuple of syllables, each syllable a tuple of phones and tags."""

    entries: Mapping[str, tuple[tuple[tuple[str, ...], ...], ...]]
    findings: tuple[Finding, ...] = ()


def read_lexicon(stream: BinaryIO, where: str) -> Lexicon:
    """A lexicon from a binary stream; ``where`` names it in messages.

    A row is a word, possibly a romanisation, then pronunciations, between tabs. A field is a pronunciation where it
    has a blank or a syllable mark, or where it is not the second of more than two. Phones stand between blanks;
    ``.`` and ``#`` part syllables. Empty fields are skipped, lines that start with ``;`` are comments, and a word
    given again adds pronunciations. Raises ``InputError`` with every problem.
    """
    problems, notices = Problems(where), Notices(where)
    entries: dict[str, list[tuple[tuple[str, ...], ...]]] = {}
    rows: list[tuple[int, list[str]]] = []
    for group in line_groups(stream, problems, notices):
        for number, line in group:
            if not line.strip() or line.startswith(b";"):
                continue
            fields = [field.strip() for field in line.decode().split("\t")]
            if fields[0] and any(fields[1:]):
                rows.append((number, fields))
            else:
                _note(fields, number, problems)
    romanised = _romanised(rows)
    for number, fields in rows:
        word, spoken = fields[0], [text for text in fields[2 if romanised else 1 :] if text]
        if not spoken:
            _note(fields, number, problems)
        known = entries.setdefault(word, [])
        known += [syllables for syllables in dict.fromkeys(map(_syllables, spoken)) if syllables not in known]
    problems.raise_if_any()
    return Lexicon({word: tuple(spoken) for word, spoken in entries.items()}, notices.findings())


def _note(fields: list[str], number: int, problems: Problems) -> None:
    filled = sum(map(bool, fields))
    what = f"the row has {filled} filled fields (allowed: word, romanisation where all have one, pronunciations)"
    problems.add("field_count", number, what, "Separate them by tabs.")


def _romanised(rows: list[tuple[int, list[str]]]) -> bool:
    """Whether the second column is a romanisation: every row has a third, and no second field parts phones."""
    return bool(rows) and all(len(fields) > 2 and " " not in fields[1] for _, fields in rows)


def _syllables(pronunciation: str) -> tuple[tuple[str, ...], ...]:
    syllables: list[list[str]] = [[]]
    for phone in pronunciation.split():
        if phone in _BOUNDARIES:
            syllables.append([])
        else:
            syllables[-1].append(phone)
    return tuple(tuple(syllable) for syllable in syllables if syllable)


def is_tag(phone: str) -> bool:
    """Whether a part of a syllable is a tone or stress mark rather than a phone."""
    return phone.startswith(_MARKS)
