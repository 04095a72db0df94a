"""Tiles and their partials: a tile is scored once for all runs that see the same trials, references and settings."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any
from typing import Protocol as Interface

from pipeline.engine import editions
from pipeline.engine.mending import unless_damaged
from pipeline.engine.work import Work, total
from pipeline.partials.codec import FORMS, decode, encode_parts
from pipeline.partials.merge import merge_tree
from pipeline.protocols.base import Amended, Earlier, Kind, Protocol, Reference, Sliced
from pipeline.store.blobs import Store
from pipeline.trials import tiles
from pipeline.trials.schema import Ints

Known = tuple[Sequence[str], Sequence[str]]
"""Digests of the tiles of trials and of the key, by bucket."""


class Rows(Interface):
    """Trials of an output, read when rows of them are asked for."""

    @property
    def head(self) -> Sliced:
        """What holds for the whole output, without any row."""
        ...

    def tile(self, bucket: int) -> Sliced:
        """The rows of one bucket."""
        ...


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
    store: Store,
    protocol: Protocol,
    trials: Rows,
    reference: Reference,
    buckets: range,
    known: Known,
    kin: Callable[[], Sequence[Kin]] = tuple,
) -> Counted:
    """The merged partial of ``buckets``, whose rows ``trials`` reads where they are needed.

    ``known`` are digests by bucket. A tile that the store lacks is made of the one of another query list (``kin``)
    where there is one, and aligned where there is none.
    """
    made = []
    for bucket in buckets:
        digests = known[0][bucket], known[1][bucket]
        if any(digests):
            made.append(_tile(store, _Tile(protocol, trials, reference, bucket, digests), kin))
    return merged(made, protocol.family.zero())


@dataclass(frozen=True)
class Kin:
    """A reference of another query list, with the digest of each tile of its key."""

    reference: Reference
    digests: Sequence[str]


@dataclass(frozen=True)
class _Tile:
    """A tile that has rows, of trials or of the key."""

    protocol: Protocol
    trials: Rows
    reference: Reference
    bucket: int
    digests: tuple[str, str]

    def of(self, reference: Reference, key_digest: str) -> _Tile:
        """The same trials under another reference."""
        return replace(self, reference=reference, digests=(self.digests[0], key_digest))

    @property
    def key(self) -> Sliced:
        key: Sliced = self.reference.key.tiles(self.bucket, self.bucket + 1)
        return key

    @property
    def rows(self) -> Sliced:
        return self.trials.tile(self.bucket)

    @cached_property
    def parts(self) -> dict[str, Any]:
        """What its address holds beside digests of rows."""
        seen = self.rows if self.protocol.family.parts_of_rows else self.trials.head
        return dict(self.protocol.family.tile_parts(self.protocol, seen, self.reference))

    @cached_property
    def path(self) -> str:
        return path_of(self.protocol, self.parts, *self.digests)


def tile_address(protocol: Protocol, trials: Sliced, key: Sliced, reference: Reference) -> str:
    """Names a tile's partial by all it depends on, and nothing else: no cost, no prior, no query list."""
    digest = protocol.family.kind.digest
    parts = dict(protocol.family.tile_parts(protocol, trials, reference))
    named = (digest(rows) if len(rows) else "" for rows in (trials, key))
    return path_of(protocol, parts, *named).rpartition("/")[2]


def path_of(protocol: Protocol, parts: Mapping[str, Any], trials: str, references: str) -> str:
    """Where the partial of a tile belongs whose trials and key have these digests, "" where there are none."""
    name = editions.named(
        "aligning",
        "partial",
        protocol,
        forms=FORMS,
        family=protocol.family.name,
        settings=dict(parts),
        trials=trials,
        references=references,
    )
    return f"partials/{name[:2]}/{name}"


def digests(kind: Kind, rows: Sliced) -> tuple[str, ...]:
    """The digest of every tile of trials or of a key, by bucket; "" for one without rows."""
    parts = [rows.tiles(bucket, bucket + 1) for bucket in range(rows.offsets.size - 1)]
    return tuple(kind.digest(part) if len(part) else "" for part in parts)


def _tile(store: Store, tile: _Tile, kin: Callable[[], Sequence[Kin]]) -> Counted:
    work = Work.of_reused(tile.path)
    if store.exists(tile.path):
        found = unless_damaged(lambda: decode(store.get(tile.path)), tile.path)
        if found is not None:
            return Counted(found, work)
        work = Work.of_damaged(tile.path)
    amended = _amended(store, tile, kin)
    if amended is None:
        made = tile.protocol.family.tile(tile.protocol, tile.rows, tile.key, tile.reference)
        amended = Amended(made, aligned=True)
    store.put_parts(tile.path, encode_parts(amended.partial.kind, *amended.partial.to_columns()))
    done = Work.of_aligned(tile.path) if amended.aligned else Work.of_made(tile.path)
    return Counted(amended.partial, work + done)


def _amended(store: Store, tile: _Tile, kin: Callable[[], Sequence[Kin]]) -> Amended | None:
    """The tile from what it was under another query list; None where there is no such list, or nothing came of it."""
    amend = tile.protocol.family.amend
    for other in kin() if amend is not None else ():
        before = tile.of(other.reference, other.digests[tile.bucket])
        if before.parts != tile.parts or not any(before.digests) or not store.exists(before.path):
            continue
        found = unless_damaged(lambda path=before.path: decode(store.get(path)), before.path)  # type: ignore[misc]
        if found is not None and amend is not None:
            earlier = Earlier(found, before.key)
            return amend(tile.protocol, earlier, tile.key, lambda: tile.rows, tile.reference)
    return None
