"""System outputs: KWSList of OpenKWS (plan 004, appendix A.5), STDList of STD 2006 and MediaEval."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import BinaryIO

from pipeline.errors import Finding, Problems
from pipeline.formats.detections import Blocks, Detections
from pipeline.formats.findings import Notices
from pipeline.formats.scoretexts import ScoreTexts
from pipeline.formats.table import Table
from pipeline.formats.xmlstream import Element, attributes_of, element, parse

_SLIPS = {"kw": "It belongs inside a <detected_kwlist>.", "term": "It belongs inside a <detected_termlist>."}


@dataclass(frozen=True)
class SystemOutput:
    """One system output: the root's attributes as written, its blocks and its detections, in file order."""

    attributes: Mapping[str, str]
    blocks: Table
    """One row a detected_kwlist (detected_termlist): columns query*, search_time_s, oov_count (float64), line.

    NaN stands for a time or count that is absent, or a count that is not applicable (``NA``)."""
    detections: Table
    """Columns query*, file*, channel*, begin_s, dur_s, score (float64), decision (bool, true for YES), line, and
    block, the row of ``blocks`` that a detection stands in."""
    findings: tuple[Finding, ...] = ()


def read_kwslist(stream: BinaryIO, where: str, texts: ScoreTexts | None = None) -> SystemOutput:
    """A KWSList or STDList from a binary stream; ``where`` names it in messages, ``texts`` gathers scores as written.

    Names are kept as spelled, attributes may stand in any order, rows of a query that has two blocks are all kept.
    Raises ``InputError`` with every problem: XML faults, missing attributes, times that are no finite numbers, scores
    that are none or NaN or outside the declared range, decisions other than YES and NO.
    """
    problems, notices = Problems(where), Notices(where)
    blocks = Blocks(problems, notices)
    detections = Detections(blocks, problems, notices, texts)
    document = element(
        "document",
        _described("kwslist", "detected_kwlist", "kw", ("kwid", "search_time", "oov_count"), blocks, detections),
        _described(
            "stdlist", "detected_termlist", "term", ("termid", "term_search_time", "oov_term_count"), blocks, detections
        ),
        misplaced={
            "kwlist": "Name it <kwslist> if it holds <detected_kwlist> blocks; else the file is a query list.",
            "termlist": "Name it <stdlist> if it holds <detected_termlist> blocks; else the file is a query list.",
        },
    )
    parse(stream, problems, document, detections.flush)
    problems.raise_if_any()
    return SystemOutput(detections.attributes, blocks.table(), detections.table(), notices.findings())


def _described(
    root: str, block: str, detection: str, names: tuple[str, str, str], blocks: Blocks, detections: Detections
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
