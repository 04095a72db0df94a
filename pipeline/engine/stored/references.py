"""The organiser's side of each (query set, dataset), derived once and kept in the store for every task to read."""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache

from pipeline import protocols
from pipeline.engine import editions
from pipeline.engine.labels import relabel
from pipeline.engine.mending import mended
from pipeline.engine.stored import tablestore
from pipeline.engine.stored.reference_groups import from_groups, groups_of, to_groups
from pipeline.engine.work import Work
from pipeline.errors import DamageError, Finding, InputError, PlatformError
from pipeline.protocols.base import AnyKind, AnyReference, Protocol
from pipeline.store import arrays, groups
from pipeline.store.blobs import Store
from pipeline.store.groups import encode
from pipeline.terms import Source

KIND = f"reference/3 {groups.KIND}"
LOAD_ROLES = ("queries", "resources")
"""Inputs that only the Processing Load is made of."""


def address_of(protocol: Protocol, inputs: Mapping[str, Source]) -> str:
    """Names a reference by all it is derived from: the organiser's files and the settings that ``refer`` reads.

    No cost and no prior, so a new operating point finds it again.
    """
    settings, family = protocols.fields(protocol)["settings"], protocol.family
    names = settings.keys() if family.reads.refer is None else family.reads.refer
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


def derive(protocol: Protocol, inputs: Mapping[str, Source], store: Store, *, anew: bool = False) -> tuple[str, Work]:
    """The address of the reference that ``inputs`` give under ``protocol``; made if the store lacks it, or ``anew``.

    Raises ``InputError`` with the problems of all refused files, named by their URLs; those that only the Processing
    Load needs are read each time, so that a refused one is known before anything is scored.
    """
    reference_address = address_of(protocol, inputs)
    path = path_of(reference_address)
    wanted = {role: source for role, source in inputs.items() if role == "queries"}
    if not anew and store.exists(path):
        tablestore.read(store, protocol, wanted)
        return reference_address, Work.of_reused(path)
    tables, work = tablestore.read(store, protocol, {**own_inputs(protocol, inputs), **wanted})
    try:
        made = protocol.family.refer(protocol, tables)
    except InputError as error:
        names = {role: source.uri for role, source in inputs.items()}
        raise InputError(relabel(error.findings, names), error.count) from error
    store.put(path, encode(to_groups(made, protocol.family.kind)))
    return reference_address, work + Work.of_made(path)


def own_inputs(protocol: Protocol, inputs: Mapping[str, Source]) -> dict[str, Source]:
    """The organiser's inputs among those of a cell."""
    others = {*protocol.family.outputs, *LOAD_ROLES}
    return {role: source for role, source in inputs.items() if role not in others}


def path_of(reference_address: str) -> str:
    """Where a reference lies in the store."""
    return f"references/{reference_address}{arrays.ENDING}"


def sound(
    store: Store, protocol: Protocol, reference_address: str, inputs: Mapping[str, Source]
) -> tuple[AnyReference, Work]:
    """The reference at an address, derived again from a cell's ``inputs`` where it is lost or damaged.

    Raises ``PlatformError`` where it is, and was derived in another edition than this program's.
    """
    path, work = path_of(reference_address), Work.of_reused(path_of(reference_address))

    def again() -> None:
        nonlocal work
        made, done = derive(protocol, inputs, store, anew=True)
        if made != reference_address:
            told = "it is lost, and of another edition than this program makes. Run the evaluation again."
            raise PlatformError(f"{store.url(path)}: {told}")
        work = Work.of_damaged(path) + done

    reference, _ = mended(lambda: load(store, protocol.family.kind, reference_address), again, path)
    return reference, work


def findings(store: Store, protocol: Protocol, reference_address: str) -> tuple[Finding, ...]:
    """What is odd about an organiser's files; nothing of a damaged reference, which who reads it next mends."""
    try:
        return load(store, protocol.family.kind, reference_address).findings
    except DamageError:
        return ()


def lost_targets(
    store: Store, protocol: Protocol, reference_address: str, pair: str, at_most: float
) -> tuple[Finding, ...]:
    """Why the key of a (query set, dataset) serves nobody: the dataset has no place for more than a share of its
    targets. With it what names tell of the cause. A damaged reference is mended, and told of, by who reads it next.
    """
    try:
        reference = load(store, protocol.family.kind, reference_address)
    except DamageError:
        return ()
    facts = reference.facts
    if facts.n_key_lost <= at_most * facts.n_key_target:
        return ()
    share = facts.n_key_lost / facts.n_key_target
    message = (
        f"{pair}: the dataset has no place for {facts.n_key_lost} of the key's {facts.n_key_target} targets "
        f"({share:.1%}, allowed: {at_most:.1%}). No system can mend that: correct the key or the list of recordings, "
        "or raise `max_targets_lost`."
    )
    causes = (finding for finding in reference.findings if finding.code in _CAUSES)
    return (Finding("key_loses_targets", message, ""), *causes)


_CAUSES = ("unknown_file", "unknown_channel", "missing_file", "outside_ecf", "key_without_trial")


@lru_cache(maxsize=32)
def load(store: Store, kind: AnyKind, reference_address: str) -> AnyReference:
    """The reference at an address; kept per process, since every task of a cell needs it."""
    path = path_of(reference_address)
    groups = arrays.open_groups(store, path, groups_of())
    return from_groups({name: group.load() for name, group in groups.items()}, kind)
