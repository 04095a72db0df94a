"""Alignments: what became of every detection and target of a cell, made only where somebody asks for it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from pipeline.engine import references, tiles, trialstore
from pipeline.engine.inputs import read_planned
from pipeline.engine.mending import mended
from pipeline.engine.plan import Plan
from pipeline.errors import UsageError
from pipeline.formats.table import Table, recode
from pipeline.partials.codec import decode_columns, encode_columns
from pipeline.protocols.base import Protocol, Reference, Sliced
from pipeline.protocols.kws_explain import listed
from pipeline.store.blobs import Store
from pipeline.terms import Cell

KIND = "alignment"
"""Without a number: it lies at the address of a tile's partial, so another form raises the edition of aligning."""


@dataclass(frozen=True)
class Alignment:
    """The rows of one cell in canonical order, whatever the tiles and the order of the input."""

    rows: Table
    """The columns of the family's ``explain``; only queries of the list."""
    texts: Mapping[str, str]
    """The text of each listed query, in the order of the list."""
    language: str


def align_tables(protocol: Protocol, tables: Mapping[str, Any]) -> Alignment:
    """The alignment of one output, from its tables by role. Raises ``UsageError`` where a protocol has none."""
    explain = _explain(protocol)
    reference = protocol.family.refer(protocol, tables)
    trials, _ = protocol.family.lay_out(protocol, tables, reference.timeline)
    rows = explain(protocol, trials, reference.key, reference)
    queries = listed(protocol.settings, reference.facts, protocol.family.kind.survey(trials))
    return _alignment([rows], reference, queries, _language(tables["kwlist"]))


def align_cell(store: Store, plan: Plan, cell: Cell) -> Alignment:
    """The alignment of a cell whose trials are in the store; each tile's rows are made or found in the store."""
    job = plan.by_cell[cell]
    protocol = plan.protocol_of(job)
    reference = references.load(store, protocol.family.kind, job.reference)
    info, _ = trialstore.ensure(store, protocol, job.inputs, reference.timeline)
    parts: list[Table] = []
    for first, last in tiles.batches(info.offsets, reference, _ROWS_AT_ONCE):
        trials = trialstore.load(store, protocol, job.inputs, reference.timeline, first, last)
        parts += _tables(store, protocol, trials, reference, range(first, last))
    kwlist = read_planned(protocol, "kwlist", job.inputs["kwlist"])
    queries = listed(protocol.settings, reference.facts, info.survey)
    return _alignment(parts, reference, queries, _language(kwlist))


_ROWS_AT_ONCE = 1_000_000


def _language(kwlist: Any) -> str:
    language: str = kwlist.attributes.get("language", "")
    return language


def _explain(protocol: Protocol) -> Any:
    if protocol.family.explain is None:
        raise UsageError(f"{protocol.name} has no alignment table. Leave the option out.")
    return protocol.family.explain


def _tables(store: Store, protocol: Protocol, trials: Sliced, reference: Reference, buckets: range) -> Iterator[Table]:
    for bucket in buckets:
        own, key = trials.tiles(bucket, bucket + 1), reference.key.tiles(bucket, bucket + 1)
        if len(own) or len(key):
            yield _stored(store, protocol, own, key, reference)


def _stored(store: Store, protocol: Protocol, trials: Sliced, key: Sliced, reference: Reference) -> Table:
    """The rows of one tile, under the address of its partial."""
    name = tiles.tile_address(protocol, trials, key, reference)
    path = f"alignments/{name[:2]}/{name}"

    def make() -> None:
        store.put(path, encode(_explain(protocol)(protocol, trials, key, reference)))

    if not store.exists(path):
        make()
    found, _ = mended(lambda: decode(store.get(path)), make, path)
    return found


def encode(rows: Table) -> bytes:
    """A table as sealed bytes."""
    texts = {f"text.{name}": names for name, names in rows.vocabularies.items()}
    return encode_columns(KIND, {**rows.columns, **texts})


def decode(data: bytes) -> Table:
    """The table that ``encode`` wrote. Raises ``StoreError`` on damage."""
    columns, _ = decode_columns(data, KIND)
    texts = {name.removeprefix("text."): names for name, names in columns.items() if name.startswith("text.")}
    return Table({name: column for name, column in columns.items() if not name.startswith("text.")}, texts)


def _alignment(parts: Sequence[Table], reference: Reference, queries: Sequence[str], language: str) -> Alignment:
    texts = {query: reference.facts.texts.get(query, "") for query in queries}
    return Alignment(_ordered(_joined(parts), tuple(texts)), texts, language)


def _joined(parts: Sequence[Table]) -> Table:
    """All rows under one set of sorted names."""
    if not parts:
        return Table({}, {})
    names = {
        column: tuple(sorted({name for part in parts for name in part.vocabularies[column]}))
        for column in parts[0].vocabularies
    }
    columns = {}
    for column in parts[0].columns:
        if column in names:
            coded = [recode(part.vocabularies[column], names[column])[part[column]] for part in parts]
            columns[column] = np.concatenate(coded)
        else:
            columns[column] = np.concatenate([part[column] for part in parts])
    return Table(columns, names)


def _ordered(rows: Table, queries: Sequence[str]) -> Table:
    """The rows of the listed queries, by query in the order of the list and then by every column there is."""
    if not rows.columns:
        return rows
    place = recode(rows.vocabularies["query"], tuple(queries))[rows["query"]]
    listed = rows.take(np.flatnonzero(place >= 0))
    rest = [name for name in ("file", "channel", "time", *listed.columns) if name in listed.columns or name == "time"]
    begin_s = np.where(np.isnan(listed["ref_begin_s"]), listed["begin_s"], listed["ref_begin_s"])
    keys = [begin_s if name == "time" else np.nan_to_num(listed[name], nan=-np.inf) for name in rest]
    return listed.take(np.lexsort((*reversed(keys), place[place >= 0])))
