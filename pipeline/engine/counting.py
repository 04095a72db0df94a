"""Rows aligned and counted: labels and a partial of any run of buckets, some at a time."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from pipeline.align.labels import Labels
from pipeline.engine.work import Work, total
from pipeline.partials.merge import merge_tree
from pipeline.protocols.base import Family, Key, Protocol, Reference, Sliced, Timeline, Trials
from pipeline.trials.tiles import batches

if TYPE_CHECKING:  # scoring in memory needs no store
    from pipeline.engine.stored.labelstore import WrittenBatch

ROWS_AT_ONCE = 1 << 18
"""Trials and occurrences at once: few enough for a processor's caches, many enough for what a call costs."""


@dataclass(frozen=True)
class Counted:
    """A partial, the labels that it was counted from where they are to be kept, and the work that it took."""

    partial: Any
    labels: Labels | None = None
    work: Work = field(default_factory=Work)
    written: tuple[WrittenBatch, ...] = ()
    """Batches of labels that were made on the way and are in the store, for an index to commit."""


def merged(parts: Sequence[Counted]) -> Counted:
    """All of ``parts`` (one at least) together, in their order: neighbouring runs of buckets."""
    found = [part.labels for part in parts if part.labels is not None]
    labels = Labels.joined(found) if len(found) == len(parts) else None
    written = tuple(one for part in parts for one in part.written)
    partial = merge_tree([part.partial for part in parts], None)
    return Counted(partial, labels, total(part.work for part in parts), written)


def counted(
    protocol: Protocol,
    trials: Sliced[Trials],
    key: Sliced[Key],
    reference: Reference[Key, Timeline],
    labels: Labels | None = None,
) -> Counted:
    """The partial of rows, with their labels: those given, or made by aligning the rows with their key."""
    family: Family[Trials, Key, Timeline, Any] = protocol.family
    parts, found = list[Any](), list[Labels]()
    for ends in batches(trials.offsets, key.offsets, ROWS_AT_ONCE):
        rows, own = trials.tiles(*ends), key.tiles(*ends)
        known = family.align(protocol, rows, own, reference) if labels is None else labels.tiles(*ends)
        found.append(known)
        parts.append(family.count(protocol, rows, known, own, reference))
    return Counted(merge_tree(parts, family.zero()), Labels.joined(found) if labels is None else labels)


def aligned(
    protocol: Protocol, trials: Sliced[Trials], key: Sliced[Key], reference: Reference[Key, Timeline]
) -> Labels:
    """The labels of rows, without counting them."""
    family: Family[Trials, Key, Timeline, Any] = protocol.family
    ranges = batches(trials.offsets, key.offsets, ROWS_AT_ONCE)
    return Labels.joined([family.align(protocol, trials.tiles(*ends), key.tiles(*ends), reference) for ends in ranges])
