"""The key of a language recognition test: ``segment label`` a line.

The Albayzin 2012 LRE plan says that there is a key file and not how it looks; this form is ours.
"""

from __future__ import annotations

from array import array
from dataclasses import dataclass
from typing import BinaryIO

from pipeline.errors import Finding, Problems
from pipeline.formats.columns import TextColumn, table
from pipeline.formats.findings import Notices, quoted
from pipeline.formats.lre.names import LANGUAGES, OOS, REMOVED
from pipeline.formats.table import Table
from pipeline.formats.textlines import line_groups

LABELS = (*(name for names in LANGUAGES.values() for name in names), OOS, REMOVED)
_FIELDS = 2


@dataclass(frozen=True)
class LreKey:
    """The segments of a test with their labels, in file order."""

    where: str
    segments: Table
    """Columns segment*, label*, line."""
    findings: tuple[Finding, ...] = ()


def read_lre_key(stream: BinaryIO, where: str) -> LreKey:
    """A key from a binary stream; ``where`` names it in messages.

    Labels are the languages of both tasks, ``OOS``, and ``-`` for a segment that was removed. Raises ``InputError``
    with every problem: other labels, blank lines, segments given twice, a file without segments.
    """
    problems, notices = Problems(where), Notices(where)
    segment, label, lines = TextColumn(), TextColumn(), array("q")
    for group in line_groups(stream, problems, notices):
        for number, line in group:
            fields = line.decode().split()
            if len(fields) != _FIELDS:
                what = f"the line has {len(fields)} fields (allowed: segment label)"
                problems.add("field_count", number, what, "Write one segment a line.")
            elif fields[0] in segment.vocabulary:
                first = lines[segment.vocabulary[fields[0]]]
                what = f"segment {quoted(fields[0])} is given again, first in line {first} (allowed: once)"
                problems.add("duplicate_segment", number, what, "Remove one of the lines.")
            elif fields[1] not in LABELS:
                what = f"the label is {quoted(fields[1])} (allowed: {', '.join(LABELS)})"
                problems.add("bad_label", number, what, f"Languages that are no target are {OOS}.")
            else:
                segment.append(fields[0])
                label.append(fields[1])
                lines.append(number)
    if not lines and not problems.count:
        problems.add("empty_file", 1, "the key has no segment (allowed: one or more)", "Check that the file is whole.")
    problems.raise_if_any()
    return LreKey(where, table({"segment": segment, "label": label, "line": lines}), notices.findings())
