"""What a result stands on: so that nothing which a kept result was made from is ever swept away."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass

from pipeline.store.blobs import Store


@dataclass(frozen=True)
class Trace:
    """Paths of the objects that a result was made from, as far as it got."""

    reference: str
    total: str = ""
    objects: tuple[str, ...] = ()
    """Trials and tiles."""

    def save(self, store: Store, address: str) -> None:
        """Keep it beside the result at ``address``."""
        store.put_sealed(path_of(address), json.dumps(asdict(self), sort_keys=True).encode())

    @property
    def paths(self) -> tuple[str, ...]:
        """Everything named here."""
        return tuple(path for path in (self.reference, self.total, *self.objects) if path)


def path_of(address: str) -> str:
    """Where the trace of a result lies."""
    return f"traces/{address}.json"


def load(store: Store, address: str) -> Trace:
    """The trace of the result at ``address``. Raises ``DamageError`` where it is lost or not what was written."""
    stored = json.loads(store.get_sealed(path_of(address)))
    return Trace(stored["reference"], stored["total"], tuple(stored["objects"]))
