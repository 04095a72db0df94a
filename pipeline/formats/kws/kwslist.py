"""System outputs: KWSList of OpenKWS (plan 004, appendix A.5), STDList of STD 2006 and MediaEval."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from importlib import import_module
from importlib.util import find_spec
from typing import TYPE_CHECKING, BinaryIO, cast

from pipeline.errors import Finding, Problems
from pipeline.formats.findings import Notices
from pipeline.formats.kws.detections import Detections, QueryBlocks
from pipeline.formats.kws.scoretexts import ScoreTexts
from pipeline.formats.streams import CHUNK_BYTES, size_of
from pipeline.formats.table import Table
from pipeline.formats.xmlstream import Element, attributes_of, element, parse

if TYPE_CHECKING:
    from pipeline.formats.kws.fast.state import Scanner

FAST_FROM_BYTES = 1 << 18
"""From this size on the fast reader is worth its buffers."""
START_FROM_BYTES = 1 << 25
"""With so many bytes more it is worth the start of its compiler, about a second."""
_KERNEL = "pipeline.formats.kws.fast.compiled"

_SLIPS = {"kw": "It belongs inside a <detected_kwlist>.", "term": "It belongs inside a <detected_termlist>."}


@dataclass(frozen=True)
class SystemOutput:
    """One system output: the root's attributes as written, its blocks and its detections, in file order."""

    attributes: Mapping[str, str]
    blocks: Table
    """One row a detected_kwlist (detected_termlist): columns query*, search_time_s, oov_count (float64), line.

    NaN stands for a time or count that is absent, or a count that is not applicable (``NA``)."""
    detections: Table
    """Columns query*, file*, channel*, begin_s, dur_s, score (float64), decision (bool, true for YES), line and
    block (int32), the row of ``blocks`` that a detection stands in."""
    findings: tuple[Finding, ...] = ()
    score_range: tuple[float, float] | None = None
    """Lowest and highest finite score of the whole output, where ``detections`` are only some of its rows. Every file
    and channel of their vocabularies is then one of the output."""


def read_kwslist(stream: BinaryIO, where: str, texts: ScoreTexts | None = None) -> SystemOutput:
    """A KWSList or STDList from a binary stream; ``where`` names it in messages, ``texts`` gathers scores as written.

    Names are kept as spelled, attributes may stand in any order, rows of a query that has two blocks are all kept.
    Raises ``InputError`` with every problem: XML faults, missing attributes, times that are no finite numbers, scores
    that are none or NaN or outside the declared range, decisions other than YES and NO.
    """
    return _fast(stream, where, texts=texts is not None) or read_plain(stream, where, texts)


def read_plain(stream: BinaryIO, where: str, texts: ScoreTexts | None = None) -> SystemOutput:
    """As ``read_kwslist``, through the XML parser whatever the file looks like."""
    problems, notices = Problems(where), Notices(where)
    blocks = QueryBlocks(problems, notices)
    detections = Detections(blocks, problems, notices, texts)
    parse(stream, problems, described(blocks, detections), detections.flush)
    problems.raise_if_any()
    return SystemOutput(detections.attributes, blocks.table(), detections.table(), notices.findings())


def read_handing_on(
    stream: BinaryIO, where: str, hand_on: Callable[[Table], None], n_rows: int, texts: ScoreTexts | None = None
) -> SystemOutput:
    """As ``read_plain``, without any rows: those are handed on, about ``n_rows`` at a time, in their order.

    Their codes are those of the whole, to whose vocabularies later rows may add. With ``texts`` whoever is handed rows
    must give up where these have a column score_text, as those before them have none.
    """
    problems, notices = Problems(where), Notices(where)
    blocks = QueryBlocks(problems, notices)
    detections = Detections(blocks, problems, notices, texts)

    def after_chunk() -> None:
        detections.flush()
        if len(detections.lines) >= n_rows:
            hand_on(detections.taken())

    parse(stream, problems, described(blocks, detections), after_chunk)
    problems.raise_if_any()
    hand_on(detections.taken())
    return SystemOutput(detections.attributes, blocks.table(), detections.table(), notices.findings())


def _fast(stream: BinaryIO, where: str, *, texts: bool) -> SystemOutput | None:
    """The output by the fast reader; None, and the stream at its beginning, where it does not apply."""
    if not stream.seekable():
        return None
    n_bytes = size_of(stream)
    if not _holds(stream, n_bytes, FAST_FROM_BYTES):
        return None
    from pipeline.formats.kws.fast.kwslist import read_canonical

    output = read_canonical(stream, where, scanner_for(stream, n_bytes), texts=texts)
    if output is None:
        stream.seek(0)
    return output


def scanner_for(stream: BinaryIO, n_bytes: int | None) -> type[Scanner]:
    """The fastest scanner for a stream: the compiled one where Numba is installed, and worth its start or started."""
    if find_spec("numba") is None or (_KERNEL not in sys.modules and not _holds(stream, n_bytes, START_FROM_BYTES)):
        return cast("type[Scanner]", import_module("pipeline.formats.kws.fast.vectors").Vectors)
    return cast("type[Scanner]", import_module(_KERNEL).Compiled)


def _holds(stream: BinaryIO, n_bytes: int | None, at_least: int) -> bool:
    """Whether a stream at its beginning, of ``n_bytes`` where that is known, holds so many; it is there again then."""
    if n_bytes is not None:
        return n_bytes >= at_least
    while at_least > 0 and (piece := stream.read(min(at_least, CHUNK_BYTES))):
        at_least -= len(piece)
    stream.seek(0)
    return at_least <= 0


def described(blocks: QueryBlocks, detections: Detections) -> Element:
    """The document: what both spellings of an output hold, and what to call for it."""
    return element(
        "document",
        _spelling("kwslist", "detected_kwlist", "kw", ("kwid", "search_time", "oov_count"), blocks, detections),
        _spelling(
            "stdlist", "detected_termlist", "term", ("termid", "term_search_time", "oov_term_count"), blocks, detections
        ),
        misplaced={
            "kwlist": "Name it <kwslist> if it holds <detected_kwlist> blocks; else the file is a query list.",
            "termlist": "Name it <stdlist> if it holds <detected_termlist> blocks; else the file is a query list.",
        },
    )


def _spelling(
    root: str, block: str, detection: str, names: tuple[str, str, str], blocks: QueryBlocks, detections: Detections
) -> Element:
    """The elements of one of the two spellings."""
    return element(
        root,
        element(
            block,
            element(detection, opened=detections.collect),
            opened=lambda flat, line: blocks.open(attributes_of(flat), block, names, line),
        ),
        opened=lambda flat, line: detections.root(attributes_of(flat), detection, line),
        misplaced=_SLIPS,
    )


def read_kwslist_texts(stream: BinaryIO, where: str) -> SystemOutput:
    """As ``read_kwslist``; ``detections`` has a column score_text* too, where texts sort differently from numbers."""
    return read_kwslist(stream, where, texts=ScoreTexts())
