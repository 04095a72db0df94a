"""Tiles and their partials: a tile is scored once for all runs that see the same trials, references and settings."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from pipeline.engine.mending import unless_damaged
from pipeline.engine.trialstore import TrialsInfo
from pipeline.engine.work import Work, total
from pipeline.partials.codec import decode, encode
from pipeline.partials.merge import merge_tree
from pipeline.protocols.base import Protocol, Reference, Sliced
from pipeline.store.address import address
from pipeline.store.blobs import Store
from pipeline.trials import tiles


@dataclass(frozen=True)
class Counted:
    """A partial and the work that it took."""

    partial: Any
    work: Work = field(default_factory=Work)


def merged(parts: Sequence[Counted], zero: Any) -> Counted:
    """All of ``parts`` together, in their order; ``zero`` is the partial of none."""
    return Counted(merge_tree([part.partial for part in parts], zero), total(part.work for part in parts))


def batches(info: TrialsInfo, reference: Reference, rows_per_task: int) -> list[tuple[int, int]]:
    """Runs of buckets worth about ``rows_per_task`` trials and occurrences each."""
    return tiles.batches(info.offsets, reference.key.offsets, rows_per_task)


def partial(store: Store, protocol: Protocol, trials: Sliced, reference: Reference, first: int, last: int) -> Counted:
    """The merged partial of the buckets that ``trials`` holds, which are ``first`` up to ``last`` (exclusive)."""
    made = []
    for bucket in range(first, last):
        tile, key = trials.tiles(bucket, bucket + 1), reference.key.tiles(bucket, bucket + 1)
        made.append(_tile(store, protocol, tile, key, reference))
    return merged(made, protocol.family.zero())


def tile_address(protocol: Protocol, trials: Sliced, key: Sliced, reference: Reference) -> str:
    """Names a tile's partial by all it depends on, and nothing else: no cost, no prior, no query list."""
    return address(
        "partial",
        family=protocol.family.name,
        settings=dict(protocol.family.tile_parts(protocol, trials, reference)),
        trials=protocol.family.kind.digest(trials),
        references=protocol.family.kind.digest(key),
    )


def _tile(store: Store, protocol: Protocol, trials: Sliced, key: Sliced, reference: Reference) -> Counted:
    if not len(trials) and not len(key):
        return Counted(protocol.family.zero())
    name = tile_address(protocol, trials, key, reference)
    path = f"partials/{name[:2]}/{name}"
    work = Work.of_reused(path)
    if store.exists(path):
        found = unless_damaged(lambda: decode(store.get(path)), path)
        if found is not None:
            return Counted(found, work)
        work = Work.of_damaged(path)
    made = protocol.family.tile(protocol, trials, key, reference)
    store.put(path, encode(made))
    return Counted(made, work + Work.of_made(path))
