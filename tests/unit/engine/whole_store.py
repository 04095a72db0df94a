"""Every object of a store read and checked by what it is."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

from pipeline.store import arrays, batched
from pipeline.store.blobs import Store
from pipeline.store.columns import check_columns


def check(store: Store) -> None:
    """Raise where any object is not what was written."""
    for path in store.listing():
        folder = path.partition("/")[0]
        if path.endswith(arrays.ENDING):
            batched.verify(store, path)
        elif folder == "tables":
            check_columns(store.get(path))
        elif folder not in ("reports", "performance"):
            store.get_sealed(path)


def contents(store: Store, *without: str) -> dict[str, bytes]:
    """All objects but those of some folders."""
    paths = [path for path in store.listing() if path.partition("/")[0] not in without]
    with ThreadPoolExecutor(8) as pool:
        return dict(zip(paths, pool.map(store.get, paths), strict=True))
