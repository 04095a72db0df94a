"""The organiser's side of each (query set, dataset), derived once and kept in the store for every task to read."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict
from functools import lru_cache
from typing import Any

from pipeline import protocols
from pipeline.engine import editions, tablestore
from pipeline.engine.labels import relabel
from pipeline.engine.mending import mended, unless_damaged
from pipeline.engine.tiles import digests
from pipeline.engine.work import Work
from pipeline.errors import Finding, InputError, PlatformError
from pipeline.partials.codec import decode_columns, encode_columns
from pipeline.protocols.base import Kind, Protocol, Reference
from pipeline.store.blobs import Store
from pipeline.terms import Facts, Selection, Source

KIND = "reference/1"
MOST_KIN = 4
"""Earlier query lists that are looked at for tiles that need no aligning."""
LOAD_ROLES = ("queries", "resources")
"""Inputs that only the Processing Load is made of."""


def address_of(protocol: Protocol, inputs: Mapping[str, Source]) -> str:
    """Names a reference by all it is derived from: the organiser's files and the settings that ``refer`` reads.

    No cost and no prior, so a new operating point finds it again.
    """
    settings, family = protocols.fields(protocol)["settings"], protocol.family
    names = settings.keys() if family.derivation is None else family.derivation
    formats = {role.name: role.format for role in protocol.roles}
    own = own_inputs(protocol, inputs)
    return editions.named(
        "reading",
        KIND,
        protocol,
        family=family.name,
        settings={name: settings[name] for name in sorted(names)},
        inputs={role: [formats[role], source.sha256] for role, source in own.items()},
    )


def derive(protocol: Protocol, inputs: Mapping[str, Source], store: Store) -> tuple[str, Work]:
    """The address of the reference that ``inputs`` give under ``protocol``; made if the store lacks it.

    Raises ``InputError`` with the problems of all refused files, named by their URLs; those that only the Processing
    Load needs are read each time, so that a refused one is known before anything is scored.
    """
    reference_address = address_of(protocol, inputs)
    path = path_of(reference_address)
    wanted = {role: source for role, source in inputs.items() if role == "queries"}
    if store.exists(path):
        tablestore.read(store, protocol, wanted)
        return reference_address, Work.of_reused(path) + _mark(store, protocol, inputs, reference_address)
    tables, work = tablestore.read(store, protocol, {**own_inputs(protocol, inputs), **wanted})
    try:
        made = protocol.family.refer(protocol, tables)
    except InputError as error:
        names = {role: source.uri for role, source in inputs.items()}
        raise InputError(relabel(error.findings, names), error.count) from error
    store.put(path, encode(made, protocol.family.kind))
    return reference_address, work + Work.of_made(path) + _mark(store, protocol, inputs, reference_address)


def own_inputs(protocol: Protocol, inputs: Mapping[str, Source]) -> dict[str, Source]:
    """The organiser's inputs among those of a cell."""
    others = {*protocol.family.outputs, *LOAD_ROLES}
    return {role: source for role, source in inputs.items() if role not in others}


def _mark(store: Store, protocol: Protocol, inputs: Mapping[str, Source], reference_address: str) -> Work:
    """Keep, for other query lists, that there is such a reference; more than nothing where that had been spoiled."""
    if protocol.family.listing not in inputs:
        return Work()
    path = f"{_kin_of(protocol, inputs)}/{reference_address}"
    work = Work()
    if store.exists(path):
        if unless_damaged(lambda: store.get_sealed(path), path) is not None:
            return work
        work = Work.of_damaged(path)
    store.put_sealed(path, b"{}")
    return work


def _kin_of(protocol: Protocol, inputs: Mapping[str, Source]) -> str:
    """The folder that names every reference of the same files and settings but for the query list."""
    shared = {role: source for role, source in inputs.items() if role != protocol.family.listing}
    name = address_of(protocol, shared)
    return f"kin/{name[:2]}/{name}"


def kin(
    store: Store, protocol: Protocol, reference_address: str, inputs: Mapping[str, Source]
) -> tuple[tuple[str, Reference], ...]:
    """References that differ from the one at an address by their query lists alone, with their addresses.

    The last few that were made; those that cannot be read are left out: they serve only to save work.
    """
    if protocol.family.listing not in inputs:
        return ()
    written = store.times(_kin_of(protocol, inputs))
    names = [path.rpartition("/")[2] for path in sorted(written, key=lambda path: (-written[path], path))]
    found = []
    for name in [name for name in names if name != reference_address][:MOST_KIN]:
        loaded = unless_damaged(lambda name=name: load(store, protocol.family.kind, name), name)  # type: ignore[misc]
        if loaded is not None:
            found.append((name, loaded))
    return tuple(found)


def path_of(reference_address: str) -> str:
    """Where a reference lies in the store."""
    return f"references/{reference_address[:2]}/{reference_address}"


def sound(
    store: Store, protocol: Protocol, reference_address: str, inputs: Mapping[str, Source]
) -> tuple[Reference, Work]:
    """The reference at an address, derived again from a cell's ``inputs`` where it is lost or damaged.

    Raises ``PlatformError`` where it is, and was derived in another edition than this program's.
    """
    path, work = path_of(reference_address), Work.of_reused(path_of(reference_address))

    def again() -> None:
        nonlocal work
        store.remove(path)
        made, done = derive(protocol, inputs, store)
        if made != reference_address:
            told = "it is lost, and of another edition than this program makes. Run the evaluation again."
            raise PlatformError(f"{store.url(path)}: {told}")
        work = Work.of_damaged(path) + done

    reference, _ = mended(lambda: load(store, protocol.family.kind, reference_address), again, path)
    return reference, work


@lru_cache(maxsize=32)
def load(store: Store, kind: Kind, reference_address: str) -> Reference:
    """The reference at an address; kept per process, since every tile of a cell needs it."""
    return decode(store.get(path_of(reference_address)), kind)


@lru_cache(maxsize=32)
def key_digests(store: Store, kind: Kind, reference_address: str) -> tuple[str, ...]:
    """The digest of each tile of a reference's key, by bucket; kept like the reference."""
    reference = load(store, kind, reference_address)
    return reference.key_digests or digests(kind, reference.key)


def encode(reference: Reference, kind: Kind) -> bytes:
    """A reference as bytes: columns, and everything else as JSON."""
    facts = asdict(reference.facts)
    meta = {
        "facts": {name: facts[name] for name in ("t_audio_s", "n_trials", "n_trials_exact", "counts", "selections")},
        "findings": [asdict(finding) for finding in reference.findings],
        "key_digests": digests(kind, reference.key),
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
        key_digests=tuple(meta.get("key_digests", ())),
    )


def _selection(entry: Mapping[str, Any]) -> Selection:
    queries, places = entry["queries"], entry["places"]
    listed = None if queries is None else tuple(queries)
    placed = None if places is None else tuple((file, channel) for file, channel in places)
    return Selection(**{**entry, "queries": listed, "places": placed})
