"""Every object that a run stands on, read and checked: what its manifest names, and what its results were made from."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

from pipeline.engine.cell import load_result
from pipeline.engine.mending import unless_damaged
from pipeline.engine.result import Result
from pipeline.errors import DamageError
from pipeline.grid.publish import faults, load_run
from pipeline.store import arrays, batched, manifest
from pipeline.store.blobs import Store
from pipeline.store.columns import check_columns
from pipeline.store.noting import NotingStore

_READERS_AT_ONCE = 8


def deep_faults(store: Store, run_id: str) -> tuple[list[str], int]:
    """Objects that are not what was written, of the manifest and behind it; and how many were read behind it.

    Results name what they were made from: references, trials and labels, each of which carries its own digests. Raises
    ``DamageError`` where the manifest itself cannot be read.
    """
    links = manifest.chain_faults(store, load_run(store, run_id).evaluation)
    store = NotingStore(store.root)  # a result is read once, for what it says and for what it is

    def read(address: str) -> tuple[str, Result | None]:
        path = f"results/{address}.json"
        return path, unless_damaged(lambda: load_result(store, address), path)

    with ThreadPoolExecutor(_READERS_AT_ONCE) as pool:
        results = dict(pool.map(read, load_run(store, run_id).results.values()))
    behind = {path for found in results.values() if found is not None for path in found.made_from}
    damaged = list(
        dict.fromkeys([*links, *faults(store, run_id), *(path for path, found in results.items() if found is None)])
    )

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
