"""Clips asked for events: the trial index, a system's scored trials on it, and the key over it (TRECVID MED).

A trial is a row of the index. Events stand in the order of tiles (bucket, name), the trials of an event in the order
of their ids; a trial is named by its event and its position there, so that no tile depends on another event.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pipeline.arrays import Bools, Codes, Floats, Ints
from pipeline.store.address import digest_columns
from pipeline.trials.tiles import buckets_of, offsets_of, ranks_of

Labels = NDArray[np.int8]

TARGET, NONTARGET, UNKEYED, LEFT_OUT = 1, 0, -1, -2
"""Labels of trials: with a key, without one, and outside the condition that is scored."""


@dataclass(frozen=True)
class ClipIndex:
    """The trials of a collection, in canonical order: what a system's scores are laid out on."""

    events: tuple[str, ...]
    first: Ints
    """Where each event's trials begin in ``trial_ids``, with the total at the end."""
    trial_ids: tuple[str, ...]


@dataclass(frozen=True)
class ClipTrials:
    """One output's scored trials, sorted by (bucket, event, trial); ``event`` and ``item`` point into the index.

    The event columns hold what the system declared of each event of ``events``.
    """

    events: tuple[str, ...]
    event_bucket: Ints
    submitted: Bools
    """Whether the system processed the event."""
    threshold: Floats
    """The submitted threshold; NaN where there is none."""
    hours: Floats
    """Wall-clock hours of executing the event's agent; NaN where not declared."""
    event: Codes
    item: Codes
    score: Floats
    decision: Bools
    row: Ints
    offsets: Ints

    def __len__(self) -> int:
        return int(self.event.size)

    def tiles(self, first: int, last: int) -> ClipTrials:
        """Buckets ``first`` up to ``last`` (exclusive), with their events."""
        begin, end = int(self.offsets[first]), int(self.offsets[last])
        low, high = np.searchsorted(self.event_bucket, (first, last)).tolist()
        rows = {name: getattr(self, name)[begin:end] for name in ("item", "score", "decision", "row")}
        return replace(
            self,
            events=self.events[low:high],
            event=self.event[begin:end] - np.int32(low),
            offsets=np.clip(self.offsets - begin, 0, end - begin),
            **{name: getattr(self, name)[low:high] for name in _PER_EVENT},
            **rows,
        )


_PER_EVENT = ("event_bucket", "submitted", "threshold", "hours")


@dataclass(frozen=True)
class ClipKey:
    """The label of every trial of the index, in its order. ``ids_digest`` names the trials of each event."""

    events: tuple[str, ...]
    event_bucket: Ints
    first: Ints
    ids_digest: tuple[str, ...]
    label: Labels
    conditions: tuple[str, ...]
    member: Bools
    """Which trials belong to each condition, shape (n_conditions, n_trials)."""
    offsets: Ints

    def __len__(self) -> int:
        return int(self.label.size)

    def tiles(self, first: int, last: int) -> ClipKey:
        """Buckets ``first`` up to ``last`` (exclusive), with their events."""
        begin, end = int(self.offsets[first]), int(self.offsets[last])
        low, high = np.searchsorted(self.event_bucket, (first, last)).tolist()
        return ClipKey(
            events=self.events[low:high],
            event_bucket=self.event_bucket[low:high],
            first=self.first[low : high + 1] - begin,
            ids_digest=self.ids_digest[low:high],
            label=self.label[begin:end],
            conditions=self.conditions,
            member=self.member[:, begin:end],
            offsets=np.clip(self.offsets - begin, 0, end - begin),
        )


def index_of(trial_ids: Sequence[str], event_ids: Sequence[str]) -> tuple[ClipIndex, Ints]:
    """The canonical index of trials given in any order, and the order that makes it: row of each canonical place."""
    names = tuple(sorted(set(event_ids)))
    rank = dict(zip(names, ranks_of(names).tolist(), strict=True))
    order = sorted(range(len(trial_ids)), key=lambda row: (rank[event_ids[row]], trial_ids[row]))
    events = tuple(sorted(names, key=rank.__getitem__))
    ranks = np.array([rank[event_ids[row]] for row in order], np.int64)
    first = np.searchsorted(ranks, np.arange(len(events) + 1)).astype(np.int64)
    ids = tuple(trial_ids[row] for row in order)
    return ClipIndex(events, first, ids), np.array(order, np.int64)


def key_of(index: ClipIndex, label: Labels, conditions: Mapping[str, Bools]) -> ClipKey:
    """The key that gives each trial of ``index`` its label and says which belong to each condition."""
    spans = pairwise(index.first.tolist())
    digests = tuple(digest_columns({"ids": index.trial_ids[begin:end]}) for begin, end in spans)
    buckets = buckets_of(index.events)
    return ClipKey(
        events=index.events,
        event_bucket=buckets,
        first=index.first,
        ids_digest=digests,
        label=label,
        conditions=tuple(conditions),
        member=np.array(list(conditions.values()), np.bool_).reshape(len(conditions), label.size),
        offsets=offsets_of(np.repeat(buckets, np.diff(index.first))),
    )


def trials_of(
    index: ClipIndex, place: Ints, score: Floats, decision: Bools, row: Ints, declared: Mapping[str, Any]
) -> ClipTrials:
    """Scored trials as values; ``place`` is each one's position in the index, ``declared`` holds the event columns."""
    order = np.argsort(place, kind="stable")
    place = place[order]
    event = (np.searchsorted(index.first, place, side="right") - 1).astype(np.int32)
    buckets = buckets_of(index.events)
    return ClipTrials(
        events=index.events,
        event_bucket=buckets,
        event=event,
        item=(place - index.first[event]).astype(np.int32),
        score=score[order] + 0.0,
        decision=decision[order],
        row=row[order],
        offsets=offsets_of(buckets[event]),
        **declared,
    )


def to_columns(value: ClipIndex | ClipKey) -> dict[str, Any]:
    """Every field under its name, as an array or a tuple of text."""
    return dict(value.__dict__)


def index_from_columns(columns: Mapping[str, Any]) -> ClipIndex:
    """The index that ``to_columns`` took apart."""
    return ClipIndex(**columns)


def key_from_columns(columns: Mapping[str, Any]) -> ClipKey:
    """The key that ``to_columns`` took apart."""
    return ClipKey(**columns)
