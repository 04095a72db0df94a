"""The organiser's side of each (query set, dataset), derived once and kept in the store for every task to read."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict
from functools import lru_cache
from typing import Any

from pipeline import protocols
from pipeline.engine.inputs import read_planned
from pipeline.engine.labels import relabel
from pipeline.errors import Finding, InputError
from pipeline.partials.codec import decode_columns, encode_columns
from pipeline.protocols.base import Kind, Protocol, Reference
from pipeline.store.address import address
from pipeline.store.blobs import Store
from pipeline.terms import Facts, Selection, Source

REFERENCE_EDITION = 2
KIND = "reference/1"


def derive(protocol: Protocol, inputs: Mapping[str, Source], store: Store) -> str:
    """The address of the reference that ``inputs`` give under ``protocol``; made if the store lacks it.

    Raises ``InputError`` with the problems of all refused files, named by their URLs.
    """
    reference_address = address(
        "reference",
        edition=REFERENCE_EDITION,
        protocol=protocols.fields(protocol),
        inputs={role: source.sha256 for role, source in inputs.items()},
    )
    path = _path(reference_address)
    if not store.exists(path):
        store.put(path, encode(_read(protocol, inputs), protocol.family.kind))
    return reference_address


def _read(protocol: Protocol, inputs: Mapping[str, Source]) -> Reference:
    tables, problems, count = {}, list[Finding](), 0
    for role, source in inputs.items():
        try:
            tables[role] = read_planned(protocol, role, source)
        except InputError as error:
            problems += error.findings
            count += error.count
    if problems:
        raise InputError(relabel(problems, {role: source.uri for role, source in inputs.items()}), count)
    return protocol.family.refer(protocol, tables)


def _path(reference_address: str) -> str:
    return f"references/{reference_address[:2]}/{reference_address}"


@lru_cache(maxsize=8)
def load(store: Store, kind: Kind, reference_address: str) -> Reference:
    """The reference at an address; kept per process, since every tile of a cell needs it."""
    return decode(store.get(_path(reference_address)), kind)


def encode(reference: Reference, kind: Kind) -> bytes:
    """A reference as bytes: columns, and everything else as JSON."""
    facts = asdict(reference.facts)
    meta = {
        "facts": {name: facts[name] for name in ("t_audio_s", "n_trials", "n_trials_exact", "counts", "selections")},
        "findings": [asdict(finding) for finding in reference.findings],
    }
    queries = reference.facts.queries
    named = {
        **{f"key.{name}": column for name, column in kind.key_columns(reference.key).items()},
        **{f"timeline.{name}": column for name, column in kind.timeline_columns(reference.timeline).items()},
        "facts.queries": queries,
        "facts.texts": tuple(reference.facts.texts[query] for query in queries),
    }
    return encode_columns(KIND, named, meta)


def decode(data: bytes, kind: Kind) -> Reference:
    """The reference that ``encode`` wrote."""
    named, meta = decode_columns(data, KIND)

    def part(prefix: str) -> dict[str, Any]:
        return {name.removeprefix(prefix): column for name, column in named.items() if name.startswith(prefix)}

    queries, texts = named["facts.queries"], named["facts.texts"]
    known = {**meta["facts"], "selections": tuple(map(_selection, meta["facts"]["selections"]))}
    facts = Facts(queries=queries, texts=dict(zip(queries, texts, strict=True)), **known)
    return Reference(
        key=kind.key_from_columns(part("key.")),
        timeline=kind.timeline_from_columns(part("timeline.")),
        facts=facts,
        findings=tuple(Finding(**entry) for entry in meta["findings"]),
    )


def _selection(entry: Mapping[str, Any]) -> Selection:
    queries = entry["queries"]
    return Selection(**{**entry, "queries": None if queries is None else tuple(queries)})
