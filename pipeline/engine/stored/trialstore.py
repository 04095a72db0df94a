"""Trials in the store: one Zarr dataset per (output, timeline), written once by the task that read the output.

Above ``ROWS_PER_BATCH`` trials it is one for each batch of buckets, cut by how many trials these hold and nothing else.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, Any

import numpy as np

from pipeline.arrays import Ints
from pipeline.engine import editions
from pipeline.engine.inputs import read_planned
from pipeline.engine.mending import mended, unless_damaged
from pipeline.engine.stored import pieces
from pipeline.engine.stored.cuts import Pieces
from pipeline.engine.stored.spread import Spread
from pipeline.engine.work import Work
from pipeline.errors import Finding, InputError
from pipeline.protocols.base import AnyKind, Protocol, Sliced
from pipeline.store import arrays, batched, groups
from pipeline.store.blobs import Store
from pipeline.store.groups import RAGGED
from pipeline.terms import Source
from pipeline.trials.ragged import batch_of, with_runs
from pipeline.trials.tiles import batch_name, batches, ends_of

if TYPE_CHECKING:
    import xarray as xr

ROWS_PER_BATCH = 1 << 20
"""Trials up to which they are one object, and of an object of many, but for a single bucket that has more."""
Inputs = Mapping[str, Source]


@dataclass(frozen=True)
class TrialsInfo:
    """Stored trials without their rows: offsets of buckets, findings, survey."""

    path: str
    offsets: Ints
    findings: tuple[Finding, ...]
    survey: Mapping[str, Any]
    """The output's own values beside its trials."""
    cuts: tuple[tuple[int, int], ...] = ()
    """The runs of buckets that are objects of their own; none where all are one."""

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
        form=groups.KIND,
        trials_kind=kind.name,
        output={role: inputs[role].sha256 for role in protocol.family.outputs if role in inputs},
        layout=dict(kind.timeline_parts(protocol.settings, timeline)),
    )
    return f"trials/{laid}{arrays.ENDING}"


def ensure(
    store: Store, protocol: Protocol, inputs: Inputs, timeline: Any, cut: Pieces = ()
) -> tuple[TrialsInfo, Work]:
    """The stored trials of an output, made by reading it if the store lacks them or holds them damaged.

    ``cut`` are the pieces that the main output is read in, where it is.
    """
    path, work = path_of(protocol, inputs, timeline), Work()

    def make(*, anew: bool = False) -> None:
        nonlocal work
        raise_refused(store, path)
        work += _write(store, protocol, inputs, timeline, cut, anew=anew)

    def again() -> None:
        nonlocal work
        work += Work.of_damaged(path)
        make(anew=True)

    if not is_there(store, path):
        make()
    found, _ = mended(lambda: info(store, protocol, inputs, timeline), again, path)
    return found, work or Work.of_reused(path)


def sound(
    store: Store, protocol: Protocol, inputs: Inputs, timeline: Any, first: int, last: int, cut: Pieces = ()
) -> tuple[Sliced[Any], Work]:
    """Buckets ``first`` up to ``last`` (exclusive) of stored trials; what is damaged is read from the output again."""
    path, work = path_of(protocol, inputs, timeline), Work()

    def again() -> None:
        nonlocal work
        work += Work.of_damaged(path) + _write(store, protocol, inputs, timeline, cut, anew=True)

    found, _ = mended(lambda: _load(store, protocol.family.kind, path, first, last), again, path)
    return found, work


def is_there(store: Store, path: str) -> bool:
    """Whether there are trials at ``path``; what is damaged of them is found when they are read."""
    return store.exists(path)


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
    return f"{path.removesuffix(arrays.ENDING)}.refused.json"


@contextmanager
def _refusals_kept(store: Store, path: str) -> Iterator[None]:
    """Why an output is refused, if it is, is kept like trials would be."""
    try:
        yield
    except InputError as error:
        refused = {"findings": [asdict(finding) for finding in error.findings], "count": error.count}
        store.put_sealed(refusal_path(path), json.dumps(refused, sort_keys=True).encode())
        raise


def _read(protocol: Protocol, inputs: Inputs, timeline: Any) -> tuple[Any, Any]:
    """Trials and findings of an output that is read as a whole."""
    roles = [role for role in protocol.family.outputs if role in inputs]
    tables = {role: read_planned(protocol, role, inputs[role]) for role in roles}
    laid, findings = protocol.family.lay_out(protocol, tables, timeline)
    return laid.whole(), findings


def spread_of(store: Store, protocol: Protocol, inputs: Inputs, timeline: Any, cut: Pieces) -> Spread | None:
    """The output in pieces, as ``pieces.read`` gives it; a refusal is kept."""
    main = inputs[protocol.family.outputs[0]]
    try:
        with _refusals_kept(store, path_of(protocol, inputs, timeline)):
            return pieces.read(store, protocol, main, cut)
    except InputError:
        pieces.forget(store, protocol, main, cut)
        raise


def _write(
    store: Store, protocol: Protocol, inputs: Inputs, timeline: Any, cut: Pieces = (), *, anew: bool = False
) -> Work:
    """Make trials and write them; ``anew`` also those batches that the store has."""
    path, place = path_of(protocol, inputs, timeline), (store, protocol, inputs, timeline)
    spread = spread_of(*place, cut)
    if spread is not None and (ranges := ranges_of(spread.offsets)):
        batches = [lay_batch(*place, spread, ends, anew=anew) for ends in ranges]
        rest = _dataset(protocol, inputs, timeline, *_some(protocol, spread, timeline, 0, 0))
        rest = rest.assign(bucket_offset=rest["bucket_offset"].copy(data=spread.offsets))
        rows = with_runs(rest, [batch.rows for batch in batches])
        batched.write_index(store, path, rows, [batch.written for batch in batches])
    else:
        with _refusals_kept(store, path):
            found = _read(*place[1:]) if spread is None else _some(protocol, spread, timeline, 0, spread.n_buckets)
        _put(store, path, _dataset(protocol, inputs, timeline, *found))
    pieces.forget(store, protocol, inputs[protocol.family.outputs[0]], cut)
    return Work.of_made(path, sum(inputs[role].n_bytes for role in protocol.family.outputs if role in inputs))


@dataclass(frozen=True)
class LaidBatch:
    """Trials of a batch that lie in the store: the object, and what is in it."""

    written: batched.Batch
    rows: xr.Dataset


def lay_batch(
    store: Store,
    protocol: Protocol,
    inputs: Inputs,
    timeline: Any,
    spread: Spread,
    ends: tuple[int, int],
    *,
    anew: bool = False,
) -> LaidBatch:
    """Sort and write the trials of a run of buckets, unless an earlier task had done so."""
    path, name = path_of(protocol, inputs, timeline), batch_name(*ends)

    def found() -> LaidBatch:
        opened, end = batched.read_batch(store, path, name)
        return LaidBatch(batched.Batch(name, {RAGGED: opened.dataset.sizes[RAGGED]}, end), opened.dataset)

    if not anew and store.exists(batched.object_of(path, name)):
        there = unless_damaged(found, path)
        if there is not None:
            return there
    rows = _dataset(protocol, inputs, timeline, *_some(protocol, spread, timeline, *ends))
    batched.write_batch(store, path, name, batch_of(rows, 0, rows.sizes[RAGGED]), (RAGGED,))
    return found()


def ranges_of(offsets: Ints) -> list[tuple[int, int]]:
    """The runs of buckets that are objects of their own; none where all trials are one."""
    many = int(offsets[-1]) > ROWS_PER_BATCH
    return batches(offsets, np.zeros_like(offsets), ROWS_PER_BATCH) if many else []


def _some(protocol: Protocol, spread: Spread, timeline: Any, first: int, last: int) -> tuple[Any, Any]:
    """Trials of buckets ``first`` up to ``last`` (exclusive) of an output in pieces, and findings of all of it."""
    laid, findings = protocol.family.lay_out(protocol, {protocol.family.outputs[0]: spread.rows(first, last)}, timeline)
    return laid.tiles(first, last), findings


def _dataset(protocol: Protocol, inputs: Inputs, timeline: Any, trials: Any, findings: Any) -> xr.Dataset:
    outputs = [role for role in protocol.family.outputs if role in inputs]
    attributes: dict[str, str | int] = {f"{role}_sha256": inputs[role].sha256 for role in outputs}
    attributes |= {f"{role}_bytes": inputs[role].n_bytes for role in outputs}
    attributes["survey"] = json.dumps(protocol.family.kind.survey(trials), sort_keys=True, allow_nan=False)
    attributes["findings"] = json.dumps([asdict(finding) for finding in findings])
    made: xr.Dataset = protocol.family.kind.to_dataset(trials, timeline, attributes)
    return made


def _put(store: Store, path: str, trials: xr.Dataset) -> None:
    """Write trials, batch after batch where they are many."""
    offsets: Ints = trials["bucket_offset"].to_numpy()
    written = [
        batched.write_batch(store, path, batch_name(*ends), batch_of(trials, *offsets[list(ends)].tolist()), (RAGGED,))
        for ends in ranges_of(offsets)
    ]
    if written:
        batched.write_index(store, path, trials.isel({RAGGED: slice(0, 0)}), written)
    else:
        arrays.write_groups(store, path, {"": trials})


def cuts_of(store: Store, path: str) -> tuple[tuple[int, int], ...]:
    """The runs of buckets that are objects of their own in stored trials; none where all are one."""
    return tuple(map(ends_of, getattr(_opened(store, path), "names", ())))


def info(store: Store, protocol: Protocol, inputs: Inputs, timeline: Any) -> TrialsInfo:
    """The info of trials already stored, all that is not by trial having been read and checked."""
    path = path_of(protocol, inputs, timeline)
    _opened.cache_clear()
    stored = _opened(store, path).dataset
    offsets = np.asarray(stored.variables["bucket_offset"].to_numpy(), np.int64)
    findings = tuple(Finding(**entry) for entry in json.loads(stored.attrs["findings"]))
    return TrialsInfo(path, offsets, findings, json.loads(stored.attrs["survey"]), cuts_of(store, path))


def load(store: Store, protocol: Protocol, inputs: Inputs, timeline: Any, first: int, last: int) -> Sliced[Any]:
    """Buckets ``first`` up to ``last`` (exclusive) of stored trials."""
    return _load(store, protocol.family.kind, path_of(protocol, inputs, timeline), first, last)


def _load(store: Store, kind: AnyKind, path: str, first: int, last: int) -> Sliced[Any]:
    stored = _opened(store, path)
    offsets = stored.dataset.variables["bucket_offset"].to_numpy()
    stored.fetch(int(offsets[first]), int(offsets[last]))
    loaded: Sliced[Any] = kind.from_dataset(stored.dataset, first, last)
    return loaded


@lru_cache(maxsize=2)
def _opened(store: Store, path: str) -> arrays.LazyGroup | batched.Batched:
    """Stored trials: the same for all who read buckets of them, as long as few others are read between."""
    return batched.opened(store, path, indexes=False)
