"""STM: reference transcripts by segment (SCTK; OpenKWS13 plan section 4)."""

from __future__ import annotations

import math
import re
from array import array
from collections.abc import Sequence
from dataclasses import dataclass
from typing import BinaryIO

from pipeline.errors import Finding, Problems
from pipeline.formats import numbers
from pipeline.formats.columns import TextColumn, table
from pipeline.formats.findings import Notices, quoted
from pipeline.formats.table import Table
from pipeline.formats.textlines import line_groups

NO_TIME = frozenset({"*", "NA", "<NA>"})
_NAMES = ("file", "channel", "speaker")
_WHITE = " \t\r\v\f"
_BLANKS = re.compile(f"[{_WHITE}]+")
_EVEN = re.compile(r"(?:[^\s]+ )*[^\s]+", re.ASCII)
_PLAIN_LABEL = "<o>"


@dataclass(frozen=True)
class Stm:
    """One reference: its segments in file order."""

    segments: Table
    """Columns file*, channel*, speaker*, label* (``<a,b>`` or empty), text* (single blanks between tokens), begin_s,
    end_s (float64, seconds; NaN where the row has no times), line."""
    findings: tuple[Finding, ...] = ()


def read_stm(stream: BinaryIO, where: str) -> Stm:
    """An STM from a binary stream; ``where`` names it in messages.

    Fields stand between ASCII white space: file, channel, speaker, begin, end, an optional label that starts with
    ``<``, then the transcript. Lines that start with ``;`` or ``**`` are comments. Times that are ``*`` or ``NA``
    read as NaN. Raises ``InputError`` with every problem: fewer than five fields, times that are no finite numbers,
    a segment that ends before it begins, text that is not UTF-8.
    """
    problems, notices = Problems(where), Notices(where)
    texts = {name: TextColumn() for name in (*_NAMES, "label", "text")}
    lines = array("q")
    times: dict[str, list[str]] = {"begin": [], "end": []}
    for group in line_groups(stream, problems, notices):
        for number, line in group:
            fields = line.split(None, 5)
            if not fields or fields[0].startswith((b";", b"**")):
                continue
            if len(fields) < 5:
                what = f"the row has {len(fields)} fields (allowed: file, channel, speaker, begin, end, then the text)"
                problems.add("field_count", number, what, "Write the missing fields.")
                continue
            label, text = _label(fields[5].decode() if len(fields) > 5 else "", number, notices)
            for name, value in zip(_NAMES, fields, strict=False):
                texts[name].append(value.decode())
            texts["label"].append(label)
            texts["text"].append(text)
            times["begin"].append(fields[3].decode())
            times["end"].append(fields[4].decode())
            lines.append(number)
    begin_s, end_s = (_times(values, what, lines, problems) for what, values in times.items())
    _check_order(begin_s, end_s, lines, problems, notices)
    problems.raise_if_any()
    return Stm(table({**texts, "begin_s": begin_s, "end_s": end_s, "line": lines}), notices.findings())


def _label(rest: str, number: int, notices: Notices) -> tuple[str, str]:
    """The sixth field where it starts with ``<``, whatever it is, as the official tool has it; then the transcript.

    A field that looks like no label (``<o,f0,male>`` or ``<o>``) is read as one with a warning: it may be a word.
    """
    tokens = rest.split(" ") if _EVEN.fullmatch(rest) else _BLANKS.split(rest.strip(_WHITE))
    label = tokens[0]
    if not label.startswith("<"):
        return "", " ".join(tokens)
    if label.lower() != _PLAIN_LABEL and not (label.endswith(">") and "," in label):
        message = f"the transcript starts with {quoted(label)}, which is read as the segment's label and not scored"
        notices.add("tag_read_as_label", number, f"{message}. Put a label such as <o> before it, or write (<hes>)")
    return label, " ".join(tokens[1:])


def _times(values: list[str], what: str, lines: Sequence[int], problems: Problems) -> array[float]:
    if NO_TIME.isdisjoint(map(str.upper, values)):
        return numbers.decimals(values, what, lines, problems)
    return array(
        "d",
        [
            math.nan if text.upper() in NO_TIME else numbers.decimal(text, what, line, problems)
            for text, line in zip(values, lines, strict=True)
        ],
    )


def _check_order(
    begins: array[float], ends: array[float], lines: Sequence[int], problems: Problems, notices: Notices
) -> None:
    for begin, end, number in zip(begins, ends, lines, strict=True):
        if end < begin:
            what = f"the segment ends at {end} s, before its begin at {begin} s"
            problems.add("negative_duration", number, what, "Write the later time second.")
        elif end == begin:
            notices.add("empty_segment", number, "the segment ends where it begins: no mid point falls into it")
