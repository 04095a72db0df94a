"""Every object that a run stands on, read and checked: what its manifest names, and what its results were made from."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

from pipeline.engine.cell import load_result
from pipeline.engine.mending import unless_damaged
from pipeline.errors import DamageError
from pipeline.grid.publish import faults, load_run
from pipeline.partials.codec import check_columns
from pipeline.store import arrays, batched
from pipeline.store.blobs import Store

_READERS_AT_ONCE = 8


def deep_faults(store: Store, run_id: str) -> tuple[list[str], int]:
    """Objects that are not what was written, of the manifest and behind it; and how many were read behind it.

    Results name what they were made from: references, trials and labels, each of which carries its own digests. Raises
    ``DamageError`` where the manifest itself cannot be read.
    """
    run = load_run(store, run_id)
    damaged, behind = faults(store, run_id), set[str]()
    for address in run.results.values():
        path = f"results/{address}.json"
        found = unless_damaged(lambda address=address: load_result(store, address), path)  # type: ignore[misc]
        if found is None and path not in damaged:
            damaged.append(path)
        behind |= set(found.made_from) if found is not None else set()

    def look(path: str) -> str | None:
        try:
            _check(path)(store, path)
        except DamageError:
            return path
        return None

    with ThreadPoolExecutor(_READERS_AT_ONCE) as pool:
        damaged += [path for path in pool.map(look, sorted(behind)) if path is not None]
    return damaged, len(behind)


def _check(path: str) -> Callable[[Store, str], None]:
    """How an object is checked, by what it is."""
    if path.endswith(arrays.ENDING):
        return batched.verify
    if path.endswith(".json"):
        return _sealed
    return _columns


def _sealed(store: Store, path: str) -> None:
    store.get_sealed(path)


def _columns(store: Store, path: str) -> None:
    check_columns(store.get(path))
