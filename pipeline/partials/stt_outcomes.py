"""The partial of speech-to-text scoring: counts and log sums by speaker, word confusions, and every segment's steps."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, fields
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pipeline.arrays import Codes, Ints
from pipeline.partials.exact import ExactSum
from pipeline.partials.tally import Tally

COUNTS = (
    *("n_segments", "n_segments_in_error", "correct", "substituted", "deleted", "inserted"),
    *("forgiven_reference", "forgiven_output", "n_longest"),
    *("n_confidences", "n_out_of_range", "n_missing_correct", "n_missing_incorrect"),
    *("n_segments_ignored", "n_segments_untimed", "n_words_ignored", "n_words_gap"),
)
"""What is counted for each group. Forgiven tokens are in ``correct``; ``n_missing_*`` lack a confidence."""
CONFIDENT = "confident"
"""Name in the tally of units of the output's words that have a confidence, scored or not."""
BINS = 100
"""Bins of confidence in [0, 1], the last one closed."""


def _zeros(dtype: Any, *shape: int) -> Callable[[], NDArray[Any]]:
    """A maker of arrays of zeros, empty unless a shape is given."""
    return lambda: np.zeros(shape or (0,), dtype)


@dataclass(frozen=True, eq=False)
class SttSegments:
    """Scored segments in the order of their recordings: who spoke, when, and the steps of the alignment.

    ``reference`` and ``output`` hold a word of each step (-1: none) and ``confidence`` that of the output's word where
    alignments are listed; otherwise they are empty.
    """

    group: Codes = field(default_factory=_zeros(np.int32))
    ordinal: Codes = field(default_factory=_zeros(np.int32))
    """Position among all segments of its recording, ignored ones included."""
    begin_s: NDArray[np.float64] = field(default_factory=_zeros(np.float64))
    end_s: NDArray[np.float64] = field(default_factory=_zeros(np.float64))
    n_steps: Codes = field(default_factory=_zeros(np.int32))
    step: NDArray[np.uint8] = field(default_factory=_zeros(np.uint8))
    reference: Codes = field(default_factory=_zeros(np.int32))
    output: Codes = field(default_factory=_zeros(np.int32))
    confidence: NDArray[np.float64] = field(default_factory=_zeros(np.float64))

    @property
    def offsets(self) -> Ints:
        """First step of each segment, with the number of steps at the end."""
        return np.concatenate([[0], np.cumsum(self.n_steps, dtype=np.int64)])


_PER_SEGMENT = ("group", "ordinal", "begin_s", "end_s", "n_steps")
_PER_STEP = ("step", "reference", "output", "confidence")


@dataclass(frozen=True, eq=False)
class SttOutcomes:
    """Counts and sums of scored segments. Groups are ``file channel speaker label``, none of which holds a blank."""

    groups: tuple[str, ...] = ()
    counts: Ints = field(default_factory=_zeros(np.int64, 0, len(COUNTS)))
    log2_p: tuple[ExactSum, ...] = ()
    """For each group the sum of log2(p) over correct words of the output that have a confidence p."""
    log2_1mp: tuple[ExactSum, ...] = ()
    """For each group the sum of log2(1 - p) over its other words."""
    words: tuple[str, ...] = ()
    pair_reference: Codes = field(default_factory=_zeros(np.int32))
    """Word of a confusion, -1 for an insertion; ``pair_output``: -1 for a deletion."""
    pair_output: Codes = field(default_factory=_zeros(np.int32))
    pair_count: Ints = field(default_factory=_zeros(np.int64))
    reliability: Ints = field(default_factory=_zeros(np.int64, BINS, 2))
    """Words of the output by confidence: correct and incorrect."""
    units: Tally = field(default_factory=Tally)
    segments: SttSegments = field(default_factory=SttSegments)

    def __add__(self, other: SttOutcomes) -> SttOutcomes:
        sides = (self, other)
        groups, group_maps = _union([side.groups for side in sides])
        words, word_maps = _union([side.words for side in sides])
        counts = np.zeros((len(groups), len(COUNTS)), np.int64)
        sums = [[ExactSum.zero()] * len(groups) for _ in range(2)]
        for side, places in zip(sides, group_maps, strict=True):
            counts[places] += side.counts
            for total, added in zip(sums, (side.log2_p, side.log2_1mp), strict=True):
                for place, value in zip(places.tolist(), added, strict=True):
                    total[place] += value
        pairs = [
            (_recoded(side.pair_reference, onto), _recoded(side.pair_output, onto), side.pair_count)
            for side, onto in zip(sides, word_maps, strict=True)
        ]
        reference, output, count = added_pairs(*(np.concatenate(column) for column in zip(*pairs, strict=True)))
        return SttOutcomes(
            groups=groups,
            counts=counts,
            log2_p=tuple(sums[0]),
            log2_1mp=tuple(sums[1]),
            words=words,
            pair_reference=reference,
            pair_output=output,
            pair_count=count,
            reliability=self.reliability + other.reliability,
            units=self.units + other.units,
            segments=_joined(groups, [side.segments for side in sides], group_maps, word_maps),
        )

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, SttOutcomes):
            return NotImplemented
        pairs = [(getattr(self, entry.name), getattr(other, entry.name)) for entry in fields(self)]
        return all(_same(*pair) for pair in pairs)

    __hash__ = None  # type: ignore[assignment]


def added_pairs(reference: Codes, output: Codes, count: Ints) -> tuple[Codes, Codes, Ints]:
    """Each pair once, sorted, with its counts added up."""
    if not reference.size:
        return reference, output, count
    key = (reference.astype(np.int64) + 1 << 32) + output + 1
    kept, first, place = np.unique(key, return_index=True, return_inverse=True)
    total = np.zeros(kept.size, np.int64)
    np.add.at(total, place, count)
    return reference[first], output[first], total


def _union(sides: Sequence[tuple[str, ...]]) -> tuple[tuple[str, ...], list[Ints]]:
    names = tuple(sorted({name for side in sides for name in side}))
    place = {name: at for at, name in enumerate(names)}
    return names, [np.array([place[name] for name in side], np.int64) for side in sides]


def _recoded(codes: Codes, onto: Ints) -> Codes:
    return np.append(onto, -1)[codes].astype(np.int32)


def _joined(
    groups: tuple[str, ...], sides: Sequence[SttSegments], group_maps: Sequence[Ints], word_maps: Sequence[Ints]
) -> SttSegments:
    """Both sides' segments, sorted by recording and ordinal."""
    columns = {
        name: np.concatenate([getattr(side, name) for side in sides])
        for name in ("ordinal", "begin_s", "end_s", "n_steps")
    }
    group = np.concatenate([_recoded(side.group, onto) for side, onto in zip(sides, group_maps, strict=True)])
    steps: dict[str, NDArray[Any]] = {
        name: np.concatenate([getattr(side, name) for side in sides]) for name in ("step", "confidence")
    }
    for name in ("reference", "output"):
        recoded = [_recoded(getattr(side, name), onto) for side, onto in zip(sides, word_maps, strict=True)]
        steps[name] = np.concatenate(recoded)
    order, by_step = segment_order(groups, group, columns["ordinal"], columns["n_steps"])
    columns = {name: column[order] for name, column in columns.items()}
    return SttSegments(
        group=group[order],
        **columns,
        **{name: column[by_step] if column.size else column for name, column in steps.items()},
    )


def segment_order(groups: tuple[str, ...], group: Codes, ordinal: Codes, n_steps: Codes) -> tuple[Ints, Ints]:
    """The order of segments by recording and ordinal, and the order of their steps that goes with it."""
    recordings = [name.rsplit(" ", 2)[0] for name in groups]
    rank = {name: at for at, name in enumerate(sorted(set(recordings)))}
    recording = np.array([rank[name] for name in recordings] or [0], np.int64)[group]
    order = np.lexsort((ordinal, recording))
    counts = n_steps[order].astype(np.int64)
    begins = (np.cumsum(n_steps, dtype=np.int64) - n_steps)[order]
    ends = np.cumsum(counts)
    by_step = np.repeat(begins - (ends - counts), counts) + np.arange(int(counts.sum()))
    return order, by_step


def _same(left: Any, right: Any) -> bool:
    if isinstance(left, SttSegments):
        return all(_same(getattr(left, name), getattr(right, name)) for name in (*_PER_SEGMENT, *_PER_STEP))
    if not isinstance(left, np.ndarray):
        return bool(left == right)
    return left.dtype == right.dtype and np.array_equal(left, right, equal_nan=left.dtype.kind == "f")
