"""Systems from the ledger of a season: exactly the submissions that count."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import replace
from typing import Any

from pipeline.config.models import LedgerEntry
from pipeline.config.place import OpenDocument
from pipeline.errors import StoreError, UsageError
from pipeline.protocols import find
from pipeline.season.beside import DESCRIPTION, RESOURCES
from pipeline.season.standing import COUNTS, Fate, Standing, standing
from pipeline.store.blobs import Store
from pipeline.terms import System

_STORE = ("systems", "ledger", "store")


def rule_of(entry: LedgerEntry, place: OpenDocument) -> str:
    """Which of several submissions counts in the ledger's phase; "" where that cannot be read, which is noted
    elsewhere."""
    url = place.resolve(_STORE, entry.store)
    try:
        return standing(Store(url), entry.season).rules.phase(entry.phase).counts if url else ""
    except (UsageError, StoreError):
        return ""


def ledger_systems(
    entry: LedgerEntry,
    pairs: Collection[tuple[str, str]],
    others: Iterable[str],
    place: OpenDocument,
    resources: Callable[[list[str]], Mapping[str, str]] = lambda _: {},
) -> list[System]:
    """The systems that count in the ledger's phase, by name, with what was handed in beside their outputs.
    ``resources`` finds files of those that handed in none. What does not fit the evaluation file is noted."""
    url = place.resolve(_STORE, entry.store)
    if not url:
        return []
    store = Store(url)
    try:
        found = standing(store, entry.season)
        counting = found.competing(found.rules.phase(entry.phase).name)
    except (UsageError, StoreError) as error:
        place.note(("systems", "ledger"), "no_ledger", f"cannot be read: {error}")
        return []
    if not counting:
        place.note(("systems", "ledger"), "no_match", f"has no submission that counts in phase {entry.phase}")
    systems: dict[str, System] = {}
    main = find(found.rules.protocol).family.outputs[0]
    heads = {fate.run.slot: fate.run.system for fate in counting if fate.run is not None and fate.state == COUNTS}
    for fate in sorted(counting, key=lambda fate: fate.submission.number):
        if fate.run is not None and fate.run.slot in heads:  # what a whole submission left out is scored no more
            name = _named(fate, heads)
            made = _with(systems.get(name), name, fate, main, store, pairs, place)
            made = replace(made, **_beside(found, entry.phase, fate, store))
            systems[name] = replace(made, version_of=heads[fate.run.slot]) if len(counting) > len(heads) else made
    elsewhere = resources([name for name, system in systems.items() if system.resources is None])
    systems |= {name: replace(systems[name], resources=url) for name, url in elsewhere.items()}
    for name in sorted(set(others) & set(systems)):
        place.note(("systems", name), "two_systems", f"stands in the ledger of {entry.season} too")
    return [systems[name] for name in sorted(systems)]


def _beside(found: Standing, phase: str, fate: Fate, store: Store) -> dict[str, Any]:
    """Resources and description of a run's system, as the ledger has them."""
    beside = found.beside(phase, fate.submission.team, fate.run.system if fate.run else "")
    made: dict[str, Any] = {}
    if RESOURCES in beside:
        made["resources"] = store.url(beside[RESOURCES].path)
    if DESCRIPTION in beside:
        told = beside[DESCRIPTION]
        made["description"] = {"uri": store.url(told.path), "sha256": told.path.split("/")[1], "name": told.name}
    return made


def _named(fate: Fate, heads: Mapping[str, str]) -> str:
    """A run's system; of earlier versions of it, where these are scored too, with the version."""
    run = fate.run
    if run is None or fate.state == COUNTS or run.system != heads[run.slot]:
        return "" if run is None else run.system
    return f"{run.system}+v{run.version}"


def _with(
    before: System | None,
    name: str,
    fate: Fate,
    main: str,
    store: Store,
    pairs: Collection[tuple[str, str]],
    place: OpenDocument,
) -> System:
    """A system with the outputs of one more run of it."""
    run, team = fate.run, fate.submission.team
    outputs = dict(before.outputs) if before else {}
    others = {role: dict(urls) for role, urls in before.others.items()} if before else {}
    for output in run.outputs if run else ():
        cell = output.query_set, output.dataset
        if cell not in pairs:
            what = f"has an output of {'/'.join(cell)} ({output.name}), which is no cell of this evaluation"
            place.note(("systems", "ledger"), "unknown_cell", what)
        elif output.role == main:
            outputs[cell] = store.url(output.path)
        elif output.role not in (DESCRIPTION, RESOURCES):
            others.setdefault(output.role, {})[cell] = store.url(output.path)
    primary = (run.primary if run else True) and (before is None or before.primary)
    return System(name, team, primary, outputs, None, "", others)
