"""Descriptions of systems beside a run's pages: copied as they were handed in, under names of ours, and linked."""

from __future__ import annotations

from pipeline.engine.plan import Plan
from pipeline.errors import DamageError
from pipeline.grid.gather import description_file
from pipeline.store.address import digest_bytes
from pipeline.store.blobs import Store, open_input, redacted


def write_descriptions(store: Store, plan: Plan, prefix: str) -> dict[str, str]:
    """Write the descriptions of a plan's systems under ``prefix``; returns name → path in the store.

    Raises ``DamageError`` where one has other bytes than were handed in.
    """
    written = {}
    for system in plan.systems:
        if not system.description or system.canary:
            continue
        name = description_file(system)
        with open_input(system.description["uri"]) as stream:
            data = stream.read()
        if digest_bytes(data) != system.description["sha256"]:
            where = redacted(system.description["uri"])
            raise DamageError(f"{where}: the description has other bytes than were handed in.")
        written[name] = f"{prefix.rstrip('/')}/{name}"
        store.put(written[name], data)
    return written
