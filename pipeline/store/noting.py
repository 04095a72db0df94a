"""A store that remembers what went through it, so that what was just read or written is not read again to be named."""

from __future__ import annotations

from dataclasses import dataclass, field

from pipeline.store.address import digest_bytes
from pipeline.store.blobs import Store
from pipeline.store.seal import is_sealed, unseal

Description = dict[str, str | int]


@dataclass(frozen=True, eq=False)
class NotingStore(Store):
    """The store at a root; equal to any other there. Several threads may use it."""

    _noted: dict[str, Description] = field(default_factory=dict, repr=False)
    _vouched: set[str] = field(default_factory=set, repr=False)
    """Of these the manifest may say what is noted: written here, or read with a seal that fits."""

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Store) and self.root == other.root

    def __hash__(self) -> int:
        return hash(Store(self.root))

    def put(self, path: str, data: bytes) -> None:
        """Write an object, and note what it is."""
        super().put(path, data)
        self._note(path, data, is_whole=True)

    def create(self, path: str, data: bytes) -> bool:
        """Write an object unless there is one; note what it is where it was written."""
        is_mine = super().create(path, data)
        if is_mine:
            self._note(path, data, is_whole=True)
        return is_mine

    def get(self, path: str) -> bytes:
        """The bytes of an object, noted."""
        data = super().get(path)
        self._note(path, data, is_whole=is_sealed(data))
        return data

    def remove(self, path: str) -> None:
        """Remove an object, and what is noted of it."""
        self._noted.pop(path, None)
        self._vouched.discard(path)
        super().remove(path)

    def describe(self, path: str) -> Description:
        """The description as it was last read or written here; otherwise it is read now."""
        return dict(self._noted.get(path) or super().describe(path))

    def vouched(self, path: str) -> Description:
        """An object's entry for a manifest; one that was not read or written here is checked for being whole.

        Raises ``DamageError`` where such an object is not what was written: no manifest may vouch for it.
        """
        if path not in self._vouched:
            unseal(self.get(path), self.url(path))
        return dict(self._noted[path])

    def _note(self, path: str, data: bytes, *, is_whole: bool) -> None:
        self._noted[path] = {"sha256": digest_bytes(data), "n_bytes": len(data)}
        (self._vouched.add if is_whole else self._vouched.discard)(path)
