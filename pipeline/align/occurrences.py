"""Mapping detections to reference occurrences, one to one, within each query, file and channel."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from pipeline.align.aligned import Aligned
from pipeline.align.mapping.assignment import assign
from pipeline.align.mapping.candidates import Candidates, ScoreRange, find_candidates
from pipeline.align.mapping.grouped import overlapping
from pipeline.align.mapping.pairs import largest_mapping, list_pairs, rivals_of
from pipeline.align.mapping.small import settle_small
from pipeline.arrays import Bools, Ints
from pipeline.errors import Finding, InputError
from pipeline.trials.schema import Occurrences, Trials

KWSEVAL_SCORE_FLOOR = 1e-5


def align_occurrences(
    trials: Trials,
    references: Occurrences,
    *,
    tolerance_s: float,
    score_range: ScoreRange,
    floor: float = KWSEVAL_SCORE_FLOOR,
    trial_rows: Bools | Ints | None = None,
    reference_rows: Bools | Ints | None = None,
) -> Aligned:
    """Map the detections of one tile to its reference occurrences. Rows may come in any order.

    A detection may be mapped to a reference of its query, file and channel when its mid point ``begin + dur / 2.0`` is
    not before ``begin - tolerance_s`` and not after ``end + tolerance_s`` of the reference (borders included). Of all
    one-to-one mappings the result has the most pairs, then the largest sum of ``1e-8 TmCgr + 1e-6 ScrCgr``
    (``congruence``), then the preferred detections: higher score, earlier begin, shorter duration, YES before NO.
    Decisions count in such ties only: a NO with a higher score takes the reference from a YES.

    ``score_range`` is what ScrCgr measures a score against: ``"group"`` the kept detections of the same query, file and
    channel (KWSEval), ``"keyword"`` those of the same query in this tile (the plan; the tile must hold them all), or
    ``(lowest, highest)`` (header or whole output; STDEval). It counts as at least ``floor`` wide: 1e-5 as KWSEval,
    1e-4 as the OpenKWS13 plan, 0 as STDEval, where a range of width 0 makes ScrCgr 0. Ranges are taken over finite
    scores; +inf has ScrCgr 1, -inf 0. ``(nan, nan)`` stands for no finite score.

    ``trial_rows`` and ``reference_rows`` (masks or row numbers; None for all) are the rows that take part: the others
    appear nowhere in the result and in no score range. Raises ``UsageError`` for another ``score_range``, and
    ``InputError`` where more detections and references compete in one place than can be weighed.

    Source: KWSAlignment.pm 75-310 and 497-519, BipartiteMatch.pm 731-842 (F4DE 3.5.0); OpenKWS13 plan, section 5.1.1.
    """
    trial_kept = _mask(trial_rows, len(trials))
    reference_kept = _mask(reference_rows, len(references))
    reference = np.full(len(trials), -1, np.int64)
    with np.errstate(over="ignore"):  # times near the end of doubles become infinite and are out of everything's reach
        candidates = find_candidates(
            trials,
            references,
            trial_kept=trial_kept,
            reference_kept=reference_kept,
            tolerance_s=tolerance_s,
            score_range=score_range,
            floor=floor,
        )
        mapping = _mapping(candidates, lambda row: _place(trials, row))
    mapped = mapping >= 0
    reference[candidates.trial[mapping[mapped]]] = candidates.occurrence[mapped]
    reference_kept[candidates.occurrence[mapped]] = False
    kept = np.flatnonzero(trial_kept)
    reference = reference if kept.size == reference.size else reference[kept]
    return Aligned(kept=kept, reference=reference, omitted=np.flatnonzero(reference_kept))


def _mapping(candidates: Candidates, place: Callable[[int], str]) -> Ints:
    """Per reference its detection, or -1; ``place`` says in words where a trial is."""
    mapping, left = settle_small(candidates)
    if left.any():
        mapping[left] = _best(candidates.only(left), place)
    return mapping


def _best(candidates: Candidates, place: Callable[[int], str]) -> Ints:
    """The mapping of components that are not settled at once."""
    refuse_crowds(candidates, place)
    hint = largest_mapping(candidates)
    return assign(list_pairs(candidates, hint), hint, candidates.rank)


def _place(trials: Trials, row: int) -> str:
    query, file = trials.queries[trials.query[row]], trials.files[trials.file[row]]
    return f"query {query!r} in file {file!r}, channel {trials.channels[trials.channel[row]]!r}"


def _mask(rows: Bools | Ints | None, size: int) -> Bools:
    """A mask of its own of the rows that take part."""
    if rows is None:
        return np.ones(size, np.bool_)
    mask = np.zeros(size, np.bool_)
    mask[rows] = True
    return mask


MOST_LISTED = 1 << 20
"""The most pairs that a component may list: those of 1,024 occurrences of one query in one place."""
MOST_PAIRS = 1_000_000_000
"""The most pairs in reach within one component: looking at each takes some 100 ns."""


def refuse_crowds(candidates: Candidates, place: Callable[[int], str]) -> None:
    """Raise ``InputError`` where a component has too many pairs, naming its ``place`` (of a trial, in words)."""
    length = candidates.last - candidates.first
    if length.sum() <= MOST_LISTED:
        return
    order, starts = overlapping(candidates.first, candidates.last)
    needed = np.minimum(length, rivals_of(candidates.first, candidates.last))
    listed, pairs = (np.add.reduceat(counts[order], starts) for counts in (needed, length))
    beyond = np.flatnonzero((listed > MOST_LISTED) | (pairs > MOST_PAIRS))
    if not beyond.size:
        return
    ends = np.append(starts[1:], order.size)
    findings = []
    for component in beyond.tolist():
        references = order[starts[component] : ends[component]]
        first, last = int(candidates.first[references].min()), int(candidates.last[references].max())
        message = (
            f"{place(int(candidates.trial[first]))}: {last - first:,} detections and {references.size:,} reference "
            f"occurrences compete in one place ({pairs[component]:,} pairs to weigh; allowed are {MOST_PAIRS:,}, and "
            f"{MOST_LISTED:,} after those that no best mapping needs, here {listed[component]:,}). Submit fewer "
            "detections that overlap in time; where the key has so many occurrences in one place, correct the key."
        )
        findings.append(Finding("crowded_detections", message, "output"))
    raise InputError(findings)
