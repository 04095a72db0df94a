"""Systems from the ledger of a season: exactly the submissions that count."""

from __future__ import annotations

from collections.abc import Collection, Iterable

from pipeline.config.models import LedgerEntry
from pipeline.config.place import OpenDocument
from pipeline.errors import StoreError, UsageError
from pipeline.protocols import find
from pipeline.season.standing import Fate, standing
from pipeline.store.blobs import Store
from pipeline.terms import System


def ledger_systems(
    entry: LedgerEntry, pairs: Collection[tuple[str, str]], others: Iterable[str], place: OpenDocument
) -> list[System]:
    """The systems that count in the ledger's phase, by name. What does not fit the evaluation file is noted."""
    store = Store(place.resolve(("systems", "ledger", "store"), entry.store))
    try:
        found = standing(store, entry.season)
        counting = found.counting(found.rules.phase(entry.phase).name)
    except (UsageError, StoreError) as error:
        place.note(("systems", "ledger"), "no_ledger", f"cannot be read: {error}")
        return []
    if not counting:
        place.note(("systems", "ledger"), "no_match", f"has no submission that counts in phase {entry.phase}")
    systems: dict[str, System] = {}
    main = find(found.rules.protocol).family.outputs[0]
    for fate in sorted(counting, key=lambda fate: fate.submission.number):
        if fate.run is not None:
            name = fate.run.system
            systems[name] = _with(systems.get(name), fate, main, store, pairs, place)
    for name in sorted(set(others) & set(systems)):
        place.note(("systems", name), "two_systems", f"stands in the ledger of {entry.season} too")
    return [systems[name] for name in sorted(systems)]


def _with(
    before: System | None,
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
        elif output.role != "description":
            others.setdefault(output.role, {})[cell] = store.url(output.path)
    primary = (run.primary if run else True) and (before is None or before.primary)
    return System(run.system if run else "", team, primary, outputs, None, "", others)
