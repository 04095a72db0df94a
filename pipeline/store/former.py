"""Arrays as 0.1.0 stored them: a folder of objects, with a record of their digests beside it. Only read."""

from __future__ import annotations

import json
from hashlib import sha256
from typing import TYPE_CHECKING, Any

from pipeline.errors import DamageError
from pipeline.store.blobs import Store

if TYPE_CHECKING:
    import xarray as xr

ENDING = ".zarr"


def open_group(store: Store, path: str, group: str = "") -> xr.Dataset:
    """One group, all of its arrays read. Raises ``DamageError`` where anything is not what was recorded."""
    import xarray as xr
    from zarr.core.buffer import default_buffer_prototype
    from zarr.storage import MemoryStore

    below = f"{group}/" if group else ""
    recorded = json.loads(store.get_sealed(f"{path}.json"))["objects"]
    found = {}
    for key, entry in recorded.items():
        if key.startswith(below) or key == "zarr.json":
            data = store.get(f"{path}/{key}")
            if [len(data), sha256(data).hexdigest()] != entry:
                raise DamageError(
                    f"{store.url(path)}/{key}: the object is not what was recorded. Run again to mend it."
                )
            found[key] = default_buffer_prototype().buffer.from_bytes(data)
    plain: dict[str, Any] = {"mask_and_scale": False, "decode_times": False}
    with xr.open_zarr(MemoryStore(found), group=group or None, chunks=None, zarr_format=3, **plain) as opened:
        loaded: xr.Dataset = opened.load()
    return loaded
