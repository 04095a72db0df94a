"""Regions that are not scored: NOSCORE records of a transcript against an ECF's excerpts (plan 004 section 3.4)."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from dataclasses import replace

import numpy as np

from pipeline.errors import Finding
from pipeline.formats.kws.rttm import Rttm
from pipeline.trials.decimals import to_decimals
from pipeline.trials.schema import Excerpts, Timeline

Span = tuple[float, float]
Regions = dict[tuple[str, str], list[Span]]


def without_noscore(timeline: Timeline, rttm: Rttm) -> Timeline:
    """The timeline with its excerpts cut around the NOSCORE records of the same recording and channel.

    What F4DE's ECFSegmentor does to an ECF; durations of what remains are rounded to four decimals as there. Recordings
    and offsets stay, so trials need not be laid out again.
    """
    regions = _regions(rttm)
    old = timeline.excerpts
    pieces = [
        (row, span)
        for row, (place, span) in enumerate(_places(old))
        for span in _subtract(span, regions.get(place, ()))
    ]
    row = np.array([row for row, _ in pieces], np.int64)
    begin_s = np.array([begin for _, (begin, _) in pieces], np.float64)
    end_s = np.array([end for _, (_, end) in pieces], np.float64)
    whole = (begin_s == old.begin_s[row]) & (end_s == old.end_s[row])
    dur_s = np.where(whole, old.dur_s[row], to_decimals(end_s - begin_s, 4))
    return replace(timeline, excerpts=replace(old.take(row), begin_s=begin_s, end_s=end_s, dur_s=dur_s))


def noscore_findings(timeline: Timeline, rttm: Rttm) -> tuple[Finding, ...]:
    """A warning where NOSCORE records reach into the excerpts: KWSEval and STDEval score what lies there."""
    regions = _regions(rttm)
    reached = sum(
        begin < stop and start < end
        for place, (begin, end) in _places(timeline.excerpts)
        for start, stop in regions.get(place, ())
    )
    if not reached:
        return ()
    message = (
        f"{reached} NOSCORE records lie in the ECF's excerpts and are scored: as in the organisers' tool only the ECF "
        "says what is left out. Give an ECF without these regions."
    )
    return (Finding("noscore_in_excerpts", message, "ecf"),)


def _places(excerpts: Excerpts) -> Iterable[tuple[tuple[str, str], Span]]:
    columns = (excerpts.file, excerpts.channel, excerpts.begin_s, excerpts.end_s)
    for file, channel, begin_s, end_s in zip(*(column.tolist() for column in columns), strict=True):
        yield (excerpts.files[file], excerpts.channels[channel]), (begin_s, end_s)


def _regions(rttm: Rttm) -> Regions:
    """NOSCORE spans by (recording, channel), sorted."""
    records = rttm.records
    kinds = records.vocabularies["kind"]
    code = kinds.index("NOSCORE") if "NOSCORE" in kinds else -1
    table = records.take(np.flatnonzero(records["kind"] == code))
    regions: Regions = defaultdict(list)
    spans = zip(table["begin_s"].tolist(), (table["begin_s"] + table["dur_s"]).tolist(), strict=True)
    for place, span in zip(zip(table.text("file"), table.text("channel"), strict=True), spans, strict=True):
        regions[place].append(span)
    return {place: sorted(listed) for place, listed in regions.items()}


def _subtract(span: Span, regions: Iterable[Span]) -> Iterable[Span]:
    """The rest of ``span`` outside the sorted ``regions``."""
    begin, end = span
    for start, stop in regions:
        if start >= end:
            break
        if start > begin:
            yield begin, start
        begin = max(begin, stop)
    if begin < end:
        yield begin, end
