"""Trials in the store: one Zarr dataset per (output, timeline), written once by the task that read the output."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass
from functools import cached_property, lru_cache, partial
from typing import Any

import numpy as np

from pipeline.engine import editions
from pipeline.engine.inputs import read_planned
from pipeline.engine.mending import mended, tell, unless_damaged
from pipeline.engine.tiles import digests
from pipeline.engine.work import Work
from pipeline.errors import Finding, InputError
from pipeline.protocols.base import Kind, Protocol, Sliced
from pipeline.store import arrays, record
from pipeline.store.blobs import Store
from pipeline.store.columns import Columns, load_all
from pipeline.terms import Source
from pipeline.trials.schema import Ints

Inputs = Mapping[str, Source]
Read = Callable[[Protocol, str, Source], Any]
"""What reads an input of a role, as ``read_planned`` does."""


@dataclass(frozen=True)
class TrialsInfo:
    """What is known of stored trials without reading them."""

    path: str
    offsets: Ints
    findings: tuple[Finding, ...]
    survey: Mapping[str, Any]
    """What the output says beside its trials."""
    digests: tuple[str, ...] = ()
    """Digest of each tile, by bucket."""

    @property
    def n_rows(self) -> int:
        """Trials of the output."""
        return int(self.offsets[-1])


def path_of(protocol: Protocol, inputs: Inputs, timeline: Any) -> str:
    """Where the trials of an output on a timeline belong. The query list plays no part, nor does any cost."""
    kind = protocol.family.kind
    laid = editions.named(
        "reading",
        "trials",
        protocol,
        form=record.KIND,
        trials_kind=kind.name,
        output={role: inputs[role].sha256 for role in protocol.family.outputs if role in inputs},
        layout=dict(kind.timeline_parts(protocol.settings, timeline)),
    )
    return f"trials/{laid}.zarr"


def ensure(
    store: Store, protocol: Protocol, inputs: Inputs, timeline: Any, read: Read = read_planned
) -> tuple[TrialsInfo, Work]:
    """The stored trials of an output, made by reading it if the store lacks them or holds them damaged."""
    path, work = path_of(protocol, inputs, timeline), Work()

    def make() -> None:
        nonlocal work
        raise_refused(store, path)
        work += _write(store, protocol, inputs, timeline, read)

    def again() -> None:
        nonlocal work
        arrays.discard(store, path)
        work += Work.of_damaged(path)
        make()

    if not arrays.is_complete(store, path):
        if arrays.is_recorded(store, path):
            tell(path, "objects are lost or cut short")
            again()
        else:
            make()
    found, _ = mended(lambda: info(store, protocol, inputs, timeline), again, path)
    return found, work or Work.of_reused(path)


class Rows:
    """Buckets ``first`` up to ``last`` (exclusive) of stored trials; nothing is read before it is asked for.

    What turns out damaged is read from the output again.
    """

    def __init__(self, store: Store, protocol: Protocol, inputs: Inputs, timeline: Any, first: int, last: int) -> None:
        self._place = store, protocol, inputs, timeline
        self._first, self._last = first, last
        self._path = path_of(protocol, inputs, timeline)
        self.work = Work()
        """What had to be mended."""

    @cached_property
    def head(self) -> Sliced:
        """What holds for the whole output, without any row."""
        return self._read(self._first, self._first)

    def tile(self, bucket: int) -> Sliced:
        """The rows of one bucket; all buckets are read at once."""
        return self._rows.tiles(bucket, bucket + 1)

    @cached_property
    def _rows(self) -> Sliced:
        return self._read(self._first, self._last)

    def _read(self, first: int, last: int) -> Sliced:
        store, protocol, inputs, timeline = self._place

        def again() -> None:
            arrays.discard(store, self._path)
            self.work += Work.of_damaged(self._path) + _write(store, protocol, inputs, timeline)

        return mended(lambda: _load(store, protocol.family.kind, self._path, first, last), again, self._path)[0]


def is_there(store: Store, path: str) -> bool:
    """Whether the trials at ``path`` were written once; what is damaged of them is found when they are read."""
    return arrays.is_recorded(store, path)


def is_refused(store: Store, path: str) -> bool:
    """Whether the output whose trials would lie at ``path`` was read before and refused."""
    return store.exists(refusal_path(path))


def raise_refused(store: Store, path: str) -> None:
    """Raise the ``InputError`` that reading the output gave before, if it was refused: its bytes are the same."""
    if not is_refused(store, path):
        return
    stored = unless_damaged(lambda: json.loads(store.get_sealed(refusal_path(path))), refusal_path(path))
    if stored is not None:
        raise InputError([Finding(**entry) for entry in stored["findings"]], stored["count"])


def refusal_path(path: str) -> str:
    """Where it is kept that the output whose trials would lie at ``path`` is refused."""
    return f"{path.removesuffix('.zarr')}.refused.json"


def _read(store: Store, protocol: Protocol, inputs: Inputs, timeline: Any, path: str, read: Read) -> tuple[Any, Any]:
    """Trials and findings of an output; why it is refused, if it is, is kept like trials would be."""
    try:
        tables = {role: read(protocol, role, inputs[role]) for role in protocol.family.outputs if role in inputs}
        return protocol.family.lay_out(protocol, tables, timeline)
    except InputError as error:
        refused = {"findings": [asdict(finding) for finding in error.findings], "count": error.count}
        store.put_sealed(refusal_path(path), json.dumps(refused, sort_keys=True).encode())
        raise


def _write(store: Store, protocol: Protocol, inputs: Inputs, timeline: Any, read: Read = read_planned) -> Work:
    path = path_of(protocol, inputs, timeline)
    outputs = [role for role in protocol.family.outputs if role in inputs]
    trials, findings = _read(store, protocol, inputs, timeline, path, read)
    attributes: dict[str, str | int] = {f"{role}_sha256": inputs[role].sha256 for role in outputs}
    attributes |= {f"{role}_bytes": inputs[role].n_bytes for role in outputs}
    attributes["survey"] = json.dumps(protocol.family.kind.survey(trials), sort_keys=True, allow_nan=False)
    attributes["findings"] = json.dumps([asdict(finding) for finding in findings])
    attributes["digests"] = json.dumps(digests(protocol.family.kind, trials))
    dataset = protocol.family.kind.to_dataset(trials, timeline, attributes)
    arrays.write_groups(store, path, {"": dataset}, often_read=True)
    return Work.of_made(path, sum(inputs[role].n_bytes for role in outputs))


def info(store: Store, protocol: Protocol, inputs: Inputs, timeline: Any) -> TrialsInfo:
    """What is known of trials already stored, all that is not by trial having been read and checked."""
    path = path_of(protocol, inputs, timeline)
    arrays.forget_columns()
    stored = arrays.open_columns(store, path)
    load_all(column for column in stored.variables.values() if "trial" not in column.dims)
    findings = tuple(Finding(**entry) for entry in json.loads(stored.attrs["findings"]))
    offsets = np.asarray(stored.variables["bucket_offset"].to_numpy(), np.int64)
    known = tuple(json.loads(stored.attrs["digests"]))
    return TrialsInfo(path, offsets, findings, json.loads(stored.attrs["survey"]), known)


def load(store: Store, protocol: Protocol, inputs: Inputs, timeline: Any, first: int, last: int) -> Sliced:
    """Buckets ``first`` up to ``last`` (exclusive) of stored trials."""
    return _load(store, protocol.family.kind, path_of(protocol, inputs, timeline), first, last)


def _load(store: Store, kind: Kind, path: str, first: int, last: int) -> Sliced:
    loaded: Sliced = _reader(kind, arrays.open_columns(store, path))(first, last)
    return loaded


@lru_cache(maxsize=2)
def _reader(kind: Kind, stored: Columns) -> Callable[[int, int], Any]:
    """What reads buckets of trials, as long as few others are read between."""
    return partial(kind.from_dataset, stored) if kind.reader is None else kind.reader(stored)
