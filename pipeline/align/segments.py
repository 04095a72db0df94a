"""Mapping detections to segments: a segment is a trial, whatever number of detections or occurrences it holds."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np

from pipeline.align.aligned import Aligned
from pipeline.arrays import Bools, Ints
from pipeline.formats.table import recode
from pipeline.trials.schema import Excerpts, Occurrences, Trials
from pipeline.trials.spans import holding

Deciding = Literal["best", "any"]


@dataclass(frozen=True)
class SegmentAlignment:
    """The trials of one tile of segments.

    ``aligned.kept`` are the detections that stand for a segment; a detection on the border of two target segments may
    stand for both. ``aligned.reference`` and ``omitted`` are rows of the targets.
    """

    aligned: Aligned
    segment: Ints
    """For each kept row the segment it stands for."""
    decision: Bools
    """For each kept row the segment's decision."""
    inside: Bools
    """For each detection of the tile whether its mid point lies in a segment."""


def align_segments(trials: Trials, targets: Occurrences, segments: Excerpts, *, deciding: Deciding) -> SegmentAlignment:
    """The trials of inferred-segment scoring for one tile; ``targets.row`` says which of ``segments`` each target is.

    A detection belongs to the first segment of its recording and channel that holds its mid point ``begin + dur / 2``,
    both borders included. Of a query's detections in one segment the one with the highest score stands for it, of
    equals the first of the file: the order of rows in an output counts there, as in the tool.
    ``deciding``: ``best`` takes that detection's decision, so that a NO may hide a YES (KWSEval); with ``any`` one YES
    is enough (plan 004, section 5.2.1: one or more mid points).
    A target is mapped to one of the detections that stand for a segment and whose mid point it holds: its own, else the
    best of those on a border or in an excerpt that overlaps. The others of these are no trials (they are neither hits
    nor false alarms); which one is mapped the tool picks at random.

    Source: KWSSegAlign.pm 72-328 (F4DE 3.5.0); OpenKWS13 evaluation plan, section 5.2.1.
    """
    mid_s = trials.begin_s + trials.dur_s / 2.0
    row, span = holding(
        _places(segments), segments.begin_s, segments.end_s, _row_places(trials, segments), mid_s, mid_s
    )
    own = np.full(len(trials), -1, np.int64)
    own[row[::-1]] = span[::-1]  # pairs ascend: the first segment is written last
    inside = own >= 0
    best, decision = _standing(trials, own, deciding)
    stands = np.isin(row, best)
    row, span = row[stands], span[stands]
    query = recode(targets.queries, trials.queries)[targets.query].astype(np.int64)
    wanted = _pairs(trials.query[row].astype(np.int64), span, segments)
    target = _lookup(_pairs(query, targets.row, segments), wanted)
    row, span, target = row[target >= 0], span[target >= 0], target[target >= 0]
    order = np.lexsort((trials.row[row], -trials.score[row], span != own[row], target))
    mapped, first = np.unique(target[order], return_index=True)
    standing = np.full(len(targets), -1, np.int64)
    standing[mapped] = np.searchsorted(best, row[order[first]])  # best ascends
    alone = np.flatnonzero(~np.isin(best, row))
    return _alignment(targets, standing, alone, (best, own[best], decision), inside)


def _alignment(
    targets: Occurrences, standing: Ints, alone: Ints, chosen: tuple[Ints, Ints, Bools], inside: Bools
) -> SegmentAlignment:
    """``standing``: for each target its position among the ``chosen`` detections (rows, segments, decisions), or -1;
    ``alone``: positions of those that no target holds.
    """
    best, segment, decision = chosen
    mapped = np.flatnonzero(standing >= 0)
    position = np.concatenate([standing[mapped], alone])
    reference = np.concatenate([mapped, np.full(alone.size, -1, np.int64)])
    stands_for = np.concatenate([targets.row[mapped], segment[alone]])
    order = np.lexsort((reference, best[position]))
    position, reference = position[order], reference[order]
    aligned = Aligned(kept=best[position], reference=reference, omitted=np.flatnonzero(standing < 0))
    return SegmentAlignment(aligned, stands_for[order], decision[position], inside)


def _places(segments: Excerpts) -> Ints:
    places: Ints = segments.file.astype(np.int64) * len(segments.channels) + segments.channel
    return places


def _row_places(trials: Trials, segments: Excerpts) -> Ints:
    file = recode(trials.files, segments.files)[trials.file].astype(np.int64)
    channel = recode(trials.channels, segments.channels)[trials.channel]
    return np.where((file < 0) | (channel < 0), np.int64(-1), file * len(segments.channels) + channel)


def _pairs(query: Ints, segment: Ints, segments: Excerpts) -> Ints:
    """Query and segment as one number, -1 where one of them is none."""
    return np.where((query < 0) | (segment < 0), np.int64(-1), query * max(segments.file.size, 1) + segment)


def _standing(trials: Trials, own: Ints, deciding: Deciding) -> tuple[Ints, Bools]:
    """The detection that stands for each query and segment, rows ascending, and what is decided there."""
    rows = np.flatnonzero(own >= 0)
    order = rows[np.lexsort((rows, trials.row[rows], -trials.score[rows], own[rows], trials.query[rows]))]
    change = (trials.query[order][1:] != trials.query[order][:-1]) | (own[order][1:] != own[order][:-1])
    first = np.flatnonzero(np.append(np.ones(min(order.size, 1), np.bool_), change))
    best, decision = order[first], trials.decision[order[first]]
    if deciding == "any" and first.size:
        decision = np.logical_or.reduceat(trials.decision[order], first)
    ascending = np.argsort(best)
    return best[ascending], decision[ascending]


def _lookup(values: Ints, wanted: Ints) -> Ints:
    """For each of ``wanted`` the first position of it in ``values``; -1 where there is none or it is negative."""
    if not values.size:
        return np.full(wanted.size, -1, np.int64)
    order = np.argsort(values, kind="stable")
    place = np.minimum(np.searchsorted(values[order], wanted), values.size - 1)
    found = order[place]
    return np.where((values[found] == wanted) & (wanted >= 0), found, np.int64(-1))
