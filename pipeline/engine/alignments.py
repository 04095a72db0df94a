"""Alignments: what became of every detection and target of a cell, made only where somebody asks for it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from pipeline.engine import counting
from pipeline.engine.inputs import read_planned
from pipeline.engine.mending import unless_damaged
from pipeline.engine.plan import Plan
from pipeline.engine.stored import labelstore, trialstore
from pipeline.engine.tasks import CellPlace
from pipeline.errors import UsageError
from pipeline.formats.table import Table, recode
from pipeline.protocols.base import AnyReference, Protocol
from pipeline.protocols.kws.explain import listed
from pipeline.store.blobs import Store
from pipeline.terms import Cell


@dataclass(frozen=True)
class Alignment:
    """The rows of one cell in canonical order, whatever the order of the input."""

    rows: Table
    """The columns of the family's ``explain``; only queries of the list."""
    texts: Mapping[str, str]
    """The text of each listed query, in the order of the list."""
    language: str


def align_tables(protocol: Protocol, tables: Mapping[str, Any]) -> Alignment:
    """The alignment of one output, from its tables by role. Raises ``UsageError`` where a protocol has none."""
    explain = _explain(protocol)
    reference = protocol.family.refer(protocol, tables)
    laid, _ = protocol.family.lay_out(protocol, tables, reference.timeline)
    trials = laid.whole()
    labels = counting.aligned(protocol, trials, reference.key, reference)
    rows = explain(protocol, trials, labels, reference.key, reference)
    queries = listed(protocol.settings, reference.facts, protocol.family.kind.survey(trials))
    return _alignment([rows], reference, queries, _language(tables["kwlist"]))


def align_cell(store: Store, plan: Plan, cell: Cell) -> Alignment:
    """The alignment of a cell that was scored, from its trials and labels; those that are lost are made in memory."""
    place = CellPlace.of(store, plan.address, cell)
    job, protocol, reference = place.job, place.protocol, place.reference
    explain = _explain(protocol)
    info, _ = trialstore.ensure(store, protocol, job.inputs, reference.timeline)
    there, parts = store.exists(place.labels), list[Table]()
    for ends in place.ranges(info):
        trials, key, _ = place.rows(*ends)
        labels = unless_damaged(partial(labelstore.load, store, place.labels, *ends), place.labels) if there else None
        labels = labels or counting.aligned(protocol, trials, key, reference)
        parts.append(explain(protocol, trials, labels, key, reference))
    kwlist = read_planned(protocol, "kwlist", job.inputs["kwlist"])
    queries = listed(protocol.settings, reference.facts, info.survey)
    return _alignment(parts, reference, queries, _language(kwlist))


def _language(kwlist: Any) -> str:
    language: str = kwlist.attributes.get("language", "")
    return language


def _explain(protocol: Protocol) -> Any:
    if protocol.family.can.explain is None:
        raise UsageError(f"{protocol.name} has no alignment table. Leave the option out.")
    return protocol.family.can.explain


def _alignment(parts: Sequence[Table], reference: AnyReference, queries: Sequence[str], language: str) -> Alignment:
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
