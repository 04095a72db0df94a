"""Tiles and their partials: a tile is scored once for all runs that see the same trials, references and settings."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from pipeline.engine.mending import unless_damaged
from pipeline.engine.work import Work, total
from pipeline.partials.codec import decode, encode
from pipeline.partials.merge import merge_tree
from pipeline.protocols.base import Kind, Protocol, Reference, Sliced
from pipeline.store.address import address
from pipeline.store.blobs import Store
from pipeline.trials import tiles
from pipeline.trials.schema import Ints

Known = tuple[Sequence[str], Sequence[str]]
"""Digests of the tiles of trials and of the key, by bucket."""


@dataclass(frozen=True)
class Counted:
    """A partial and the work that it took."""

    partial: Any
    work: Work = field(default_factory=Work)


def merged(parts: Sequence[Counted], zero: Any) -> Counted:
    """All of ``parts`` together, in their order; ``zero`` is the partial of none."""
    return Counted(merge_tree([part.partial for part in parts], zero), total(part.work for part in parts))


def batches(trial_offsets: Ints, reference: Reference, rows_per_task: int) -> list[tuple[int, int]]:
    """Runs of buckets worth about ``rows_per_task`` trials and occurrences each."""
    return tiles.batches(trial_offsets, reference.key.offsets, rows_per_task)


def partial(
    store: Store, protocol: Protocol, trials: Sliced, reference: Reference, buckets: range, known: Known
) -> Counted:
    """The merged partial of the ``buckets`` that ``trials`` holds; ``known`` are digests by bucket."""
    made = []
    for bucket in buckets:
        tile, key = trials.tiles(bucket, bucket + 1), reference.key.tiles(bucket, bucket + 1)
        made.append(_tile(store, protocol, tile, key, reference, (known[0][bucket], known[1][bucket])))
    return merged(made, protocol.family.zero())


def tile_address(
    protocol: Protocol, trials: Sliced, key: Sliced, reference: Reference, known: tuple[str, str] = ("", "")
) -> str:
    """Names a tile's partial by all it depends on, and nothing else: no cost, no prior, no query list.

    ``known`` are the digests of trials and key where they have been computed before, else "".
    """
    digest = protocol.family.kind.digest
    return address(
        "partial",
        family=protocol.family.name,
        settings=dict(protocol.family.tile_parts(protocol, trials, reference)),
        trials=known[0] or digest(trials),
        references=known[1] or digest(key),
    )


def digests(kind: Kind, rows: Sliced) -> tuple[str, ...]:
    """The digest of every tile of trials or of a key, by bucket; "" for one without rows."""
    parts = [rows.tiles(bucket, bucket + 1) for bucket in range(rows.offsets.size - 1)]
    return tuple(kind.digest(part) if len(part) else "" for part in parts)


def _tile(
    store: Store, protocol: Protocol, trials: Sliced, key: Sliced, reference: Reference, known: tuple[str, str]
) -> Counted:
    if not len(trials) and not len(key):
        return Counted(protocol.family.zero())
    name = tile_address(protocol, trials, key, reference, known)
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
