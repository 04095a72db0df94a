"""Stored arrays read without Zarr and xarray, as far as ``arrays`` writes them.

Zarr hands every chunk from thread to thread, several times: for chunks of 64 Ki elements that takes many times what
decoding does. Objects are fetched and checked whole, so the checksums in them need no second look. What a ``Column``
has, a ``Variable`` of xarray has too.
"""

from __future__ import annotations

import json
import struct
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any, Protocol

from pipeline.errors import DamageError, StoreError
from pipeline.store.blobs import Store
from pipeline.store.chunks import Array, Held, Layout
from pipeline.store.record import Record, checked_object, checked_objects, is_near

_READERS = 8


class Variable(Protocol):
    """An array that may not have been read yet."""

    @property
    def attrs(self) -> Mapping[Any, Any]:
        """Attributes of the array."""
        ...

    def __getitem__(self, rows: slice) -> Variable:
        """Some of the rows, next to each other."""
        ...

    def load(self) -> object:
        """Have it read now."""
        ...

    def to_numpy(self) -> Array:
        """The values."""
        ...


class Group(Protocol):
    """Arrays by name with attributes: ``Columns``, or an ``xarray.Dataset``."""

    @property
    def variables(self) -> Mapping[Any, Any]:
        """Each a ``Variable``."""
        ...

    @property
    def attrs(self) -> Mapping[Any, Any]:
        """Attributes of the group."""
        ...


@dataclass(frozen=True, eq=False)
class Columns:
    """Arrays of a group by name, with the group's attributes."""

    variables: Mapping[str, Column]
    attrs: Mapping[str, Any]

    @classmethod
    def of(cls, store: Store, path: str, record: Record) -> Columns:
        """The arrays of the root.

        Raises ``DamageError`` where its metadata are not what was recorded, or other objects were recorded than they
        say; ``StoreError`` where they are not those of arrays written here.
        """
        where = f"{store.url(path)}/zarr.json"
        try:
            root = json.loads(checked_object(store, path, "zarr.json", record["zarr.json"]))
            members = root["consolidated_metadata"]["metadata"]
            abouts = {n: about for n, about in members.items() if about["node_type"] == "array" and "/" not in n}
            attributes = dict(root["attributes"])
        except (KeyError, TypeError, ValueError, AttributeError) as error:
            raise StoreError(f"{where}: these are not metadata of arrays written here.") from error
        layouts = {name: Layout(about) for name, about in abouts.items()}
        n_objects = Counter(key.partition("/c")[0] for key in record if not key.endswith("zarr.json"))
        for name, layout in layouts.items():
            if layout.n_objects != n_objects[name]:
                message = f"{where}: {name} has {layout.n_objects} objects, {n_objects[name]} are recorded."
                raise DamageError(f"{message} Remove its record and run again.")
        objects = _Objects(store, path, record)
        return cls({name: Column(name, layout, objects) for name, layout in layouts.items()}, attributes)


class _Objects:
    """What was written at a path of a store.

    Of each array the last object is kept, unless no more follow: batches next to each other share it.
    """

    def __init__(self, store: Store, path: str, record: Record) -> None:
        self._store, self._path, self._record = store, path, record
        self._kept: dict[str, tuple[str, bytes]] = {}

    @property
    def where(self) -> str:
        """The path, for messages."""
        return self._store.url(self._path)

    @property
    def are_near(self) -> bool:
        """Whether reading waits for no network."""
        return is_near(self._store)

    def of(self, name: str, keys: Sequence[str], *, more: bool) -> dict[str, bytes]:
        """Objects of an array by their keys. ``more`` says whether there are some behind them."""
        if not keys:
            return {}
        found = dict([self._kept.pop(name, ("", b""))])
        missing = [f"{name}/{key}" for key in keys if key not in found]
        read = checked_objects(self._store, self._path, self._record, missing)
        found |= {key.removeprefix(f"{name}/"): data for key, data in read.items()}
        if more:
            self._kept[name] = keys[-1], found[keys[-1]]
        return {key: found[key] for key in keys}


class Column:
    """The values of an array; nothing is read before it is asked for."""

    def __init__(
        self, name: str, layout: Layout, objects: _Objects, rows: range | None = None, held: Held | None = None
    ) -> None:
        self._name, self._layout, self._objects, self._held = name, layout, objects, held
        self._rows = range(layout.n_rows) if rows is None else rows

    @property
    def attrs(self) -> Mapping[str, Any]:
        """Attributes of the array."""
        return self._layout.attrs

    @property
    def dims(self) -> tuple[str, ...]:
        """Names of the dimensions."""
        return self._layout.dims

    @property
    def is_near(self) -> bool:
        """Whether reading waits for no network."""
        return self._held is not None or self._objects.are_near

    def __getitem__(self, rows: slice) -> Column:
        """Some of the rows, next to each other; they are held where these are."""
        return Column(self._name, self._layout, self._objects, self._rows[rows], self._held)

    def load(self) -> Column:
        """This column, its objects read and checked. They are decoded when values are asked for, each time."""
        self._held = self._held or self._fetched()
        return self

    def to_numpy(self) -> Array:
        """The values; texts as ``StringDType``. ``DamageError`` where objects are as recorded, yet mean nothing."""
        held = self._held or self._fetched()
        try:
            return self._layout.values(self._rows, held)
        except (ValueError, RuntimeError, OverflowError, struct.error) as error:
            message = f"{self._objects.where}/{self._name}: it cannot be decoded. Remove its record and run again."
            raise DamageError(message) from error

    def _fetched(self) -> Held:
        more = self._rows.stop < self._layout.n_rows
        return Held(self._objects.of(self._name, self._layout.keys(self._rows), more=more))


def load_all(variables: Iterable[Variable]) -> None:
    """Have all of them read, several at once where that means to wait."""
    far: list[Variable] = []
    for variable in variables:
        if isinstance(variable, Column) and not variable.is_near:
            far.append(variable)
        else:
            variable.load()
    if far:
        with ThreadPoolExecutor(_READERS) as pool:
            list(pool.map(lambda variable: variable.load(), far))
