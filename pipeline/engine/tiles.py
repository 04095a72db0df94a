"""Tiles and their partials: a tile is scored once for all runs that see the same trials, references and settings."""

from __future__ import annotations

from typing import Any

from pipeline.engine.trialstore import TrialsInfo
from pipeline.partials.codec import decode, encode
from pipeline.partials.merge import merge_tree
from pipeline.protocols.base import Protocol, Reference, Sliced
from pipeline.store.address import address
from pipeline.store.blobs import Store
from pipeline.trials import tiles


def batches(info: TrialsInfo, reference: Reference, rows_per_task: int) -> list[tuple[int, int]]:
    """Runs of buckets worth about ``rows_per_task`` trials and occurrences each."""
    return tiles.batches(info.offsets, reference.key.offsets, rows_per_task)


def partial(store: Store, protocol: Protocol, trials: Sliced, reference: Reference, first: int, last: int) -> Any:
    """The merged partial of the buckets that ``trials`` holds, which are ``first`` up to ``last`` (exclusive)."""
    made = []
    for bucket in range(first, last):
        tile, key = trials.tiles(bucket, bucket + 1), reference.key.tiles(bucket, bucket + 1)
        made.append(_tile(store, protocol, tile, key, reference))
    return merge_tree(made, protocol.family.zero())


def tile_address(protocol: Protocol, trials: Sliced, key: Sliced, reference: Reference) -> str:
    """Names a tile's partial by all it depends on, and nothing else: no cost, no prior, no query list."""
    return address(
        "partial",
        family=protocol.family.name,
        settings=dict(protocol.family.tile_parts(protocol, trials, reference)),
        trials=protocol.family.kind.digest(trials),
        references=protocol.family.kind.digest(key),
    )


def _tile(store: Store, protocol: Protocol, trials: Sliced, key: Sliced, reference: Reference) -> Any:
    if not len(trials) and not len(key):
        return protocol.family.zero()
    name = tile_address(protocol, trials, key, reference)
    path = f"partials/{name[:2]}/{name}"
    if store.exists(path):
        return decode(store.get(path))
    made = protocol.family.tile(protocol, trials, key, reference)
    store.put(path, encode(made))
    return made
