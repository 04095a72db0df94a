"""Large system outputs in canonical spelling, many times faster than through the XML parser; with the extra ``fast``.

The body, from the first block to the last, is read by a scanner, which declines whatever is not exactly the spelling it
knows. What is left of the file, with one block in the body's place, goes through the XML parser. A body of well-formed
elements where one element may stand makes a well-formed file, so that what is accepted here is what the parser would
have said; everything else, and everything with a problem to report, is left to it.

A large file may be read in parts, each from the beginning of a block to that of another. No part takes a ``<`` that
begins anything else than the elements it knows, so that together they hold what the file does.
"""

from __future__ import annotations

import io
import re
from collections.abc import Mapping
from dataclasses import replace
from typing import BinaryIO

import numpy as np

from pipeline.errors import InputError, Problems
from pipeline.formats.columns import table
from pipeline.formats.findings import Notices
from pipeline.formats.kws.detections import Detections, QueryBlocks
from pipeline.formats.kws.fast.part import Frame, NotCanonicalError, read_part
from pipeline.formats.kws.fast.state import Scanner
from pipeline.formats.kws.kwslist import SystemOutput, described
from pipeline.formats.kws.scoretexts import DIGITS
from pipeline.formats.table import Array, Compact, Table
from pipeline.formats.xmlstream import LINES_AT_MOST, parse

_TAG = re.compile(r"<([a-z_]+)((?: [A-Za-z_][A-Za-z0-9_.-]*+=\"[^\"<&\x00-\x1f]*+\")*+) ?/?>")
_USUAL_TAG = r"<{} {}=\"([^\"<&\x00-\x1f]*+)\" {}=\"([0-9]{{1,9}}(?:\.[0-9]{{1,9}})?)\" {}=\"([0-9]{{1,9}})\" ?>"
_ATTRIBUTES = re.compile(r" ([^=]+)=\"([^\"]*)\"")
_NAMES = {
    b"detected_kwlist": ("kwid", "search_time", "oov_count"),
    b"detected_termlist": ("termid", "term_search_time", "oov_term_count"),
}


def read_canonical(stream: BinaryIO, where: str, make: type[Scanner], *, texts: bool = False) -> SystemOutput | None:
    """The output as ``read_kwslist`` gives it; None where it is not canonical, or anything is wrong with it.

    With ``texts`` it declines where scores sort differently as text (see ``ScoreTexts``). Reads the stream from its
    beginning; when it declines, the position is anywhere.
    """
    try:
        part = read_part(stream, make)
    except (NotCanonicalError, UnicodeDecodeError):
        return None
    output = output_of(part.frame, where, texts=texts)
    return None if output is None else with_rows(output, part.columns, part.frame.n_rows_of_blocks)


def output_of(whole: Frame, where: str, *, texts: bool = False) -> SystemOutput | None:
    """What ``read_canonical`` gives for a file with this frame, but for its rows."""
    try:
        return _output(whole, where, texts=texts)
    except (NotCanonicalError, InputError, UnicodeDecodeError):
        return None


def queries_of(part: Frame) -> tuple[str, ...]:
    """The query of each block of a part. Raises ``NotCanonicalError``."""
    name = part.block.decode()
    return tuple(_attributes(tag, name).get(_NAMES[part.block][0], "") for tag in part.tags)


def _output(whole: Frame, where: str, *, texts: bool) -> SystemOutput:
    if whole.n_breaks >= LINES_AT_MOST or (texts and not _sort_as_numbers(whole)):
        raise NotCanonicalError
    skeleton = _skeleton(whole, where)
    low, high = skeleton.declared or (-np.inf, np.inf)
    if whole.n_rows and (whole.dur_s_min < 0 or whole.score_min < low or whole.score_max > high):
        raise NotCanonicalError
    problems, notices = Problems(where), Notices(where)
    blocks = _blocks(whole, problems, notices)
    if problems.count:
        raise NotCanonicalError
    queries = table({"query": blocks.queries}).vocabularies
    no_rows = Table({}, {**queries, "file": whole.files, "channel": whole.channels})
    return SystemOutput(skeleton.attributes, blocks.table(), no_rows, notices.findings())


def _sort_as_numbers(whole: Frame) -> bool:
    """Whether the order of the scores, as text, is that of the numbers."""
    plain, fewest, most = whole.shapes
    return bool(plain) or 0 < fewest == most < DIGITS


def _skeleton(whole: Frame, where: str) -> Detections:
    """The file with one block for all, as the parser reads it; ``NotCanonicalError`` where anything is amiss."""
    problems, notices = Problems(where), Notices(where)
    blocks = QueryBlocks(problems, notices)
    detections = Detections(blocks, problems, notices)
    body = b'<%s %s="stand-in"/>' % (whole.block, _NAMES[whole.block][0].encode())
    parse(io.BytesIO(whole.head + body + whole.tail), problems, described(blocks, detections))
    if problems.count or notices.findings() or blocks.block != 0 or len(detections.table()):
        raise NotCanonicalError
    return detections


def _blocks(whole: Frame, problems: Problems, notices: Notices) -> QueryBlocks:
    blocks, name, names = QueryBlocks(problems, notices), whole.block.decode(), _NAMES[whole.block]
    usual = re.compile(_USUAL_TAG.format(name, *names))
    known = blocks.queries.vocabulary
    for tag, line in zip(whole.tags, whole.tag_lines.tolist(), strict=True):
        found = usual.fullmatch(tag)
        if found is not None and found[1] not in known and found[1].strip():
            blocks.add(found[1], float(found[2]), float(found[3]), line)
        else:
            blocks.open(_attributes(tag, name), name, names, line)
    return blocks


def _attributes(tag: str, name: str) -> dict[str, str]:
    found = _TAG.fullmatch(tag)
    if found is None or found[1] != name:
        raise NotCanonicalError
    pairs = _ATTRIBUTES.findall(found[2])
    attributes = dict(pairs)
    if len(attributes) < len(pairs):
        raise NotCanonicalError
    return attributes


def with_rows(
    output: SystemOutput, columns: Mapping[str, Array], n_rows: Array, block: Array | None = None
) -> SystemOutput:
    """An output with rows: ``n_rows`` of each of its blocks in turn, or of those that ``block`` says.

    Codes of queries and blocks, which do not change within a block, are made when they are asked for.
    """
    blocks = np.arange(len(output.blocks)) if block is None else block
    query = output.blocks["query"][blocks]
    kept = dict(columns)
    files, channels = kept.pop("file"), kept.pop("channel")
    made = {
        "query": lambda rows: np.repeat(query, n_rows)[rows],
        "file": lambda rows: files[rows].astype(np.int32),
        "channel": lambda rows: channels[rows].astype(np.int32),
        "block": lambda rows: np.repeat(blocks.astype(np.int32), n_rows)[rows],
    }
    return replace(output, detections=Table(Compact(kept, made), output.detections.vocabularies))
