"""TRN: one transcript a line with its utterance in brackets at the end (SCTK)."""

from __future__ import annotations

import re
from array import array
from dataclasses import dataclass
from typing import BinaryIO

from pipeline.errors import Finding, Problems
from pipeline.formats.columns import TextColumn, table
from pipeline.formats.findings import Notices, quoted
from pipeline.formats.table import Table
from pipeline.formats.textlines import line_groups

_UTTERANCE = re.compile(r"\( *([^() ]+) *\)$")


@dataclass(frozen=True)
class Trn:
    """One transcript file."""

    utterances: Table
    """Columns utterance*, text* (single blanks between tokens), line."""
    findings: tuple[Finding, ...] = ()


def read_trn(stream: BinaryIO, where: str) -> Trn:
    """A TRN from a binary stream; ``where`` names it in messages.

    Every line that is not blank and no comment (``;;`` or ``**`` at its begin) ends in ``(utterance)``. Words stand
    between ASCII white space. Raises ``InputError`` with every problem: no utterance at the end, an utterance given
    twice, text that is not UTF-8.
    """
    problems, notices = Problems(where), Notices(where)
    utterances, texts, lines = TextColumn(), TextColumn(), array("q")
    first: dict[str, int] = {}
    for group in line_groups(stream, problems, notices):
        for number, line in group:
            text = b" ".join(line.split()).decode()
            if not text or line.startswith((b";;", b"**")):
                continue
            match = _UTTERANCE.search(text)
            if match is None:
                what = f"the line ends in {quoted(text[-20:])} (allowed: (utterance) at the end)"
                problems.add("no_utterance", number, what, "Write its name in brackets.")
                continue
            if first.setdefault(match[1], number) != number:
                what = f"utterance {quoted(match[1])} is given twice (first in line {first[match[1]]})"
                problems.add("duplicate_utterance", number, what, "Keep one of them.")
            utterances.append(match[1])
            texts.append(text[: match.start()].rstrip(" "))
            lines.append(number)
    problems.raise_if_any()
    return Trn(table({"utterance": utterances, "text": texts, "line": lines}), notices.findings())
