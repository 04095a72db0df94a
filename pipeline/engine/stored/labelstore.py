"""Labels in the store: what every trial of a cell is, one Zarr dataset per (trials, reference, rules of aligning).

Where trials lie in batches so do labels, each written by the task that aligned it; the index commits them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, cast

import numpy as np

from pipeline import protocols
from pipeline.align.labels import KEY, OUTCOMES, Column, Labels
from pipeline.align.tokens.steps import STEPS
from pipeline.engine import editions
from pipeline.formats.table import Array
from pipeline.protocols.base import Protocol
from pipeline.store import arrays, batched
from pipeline.store.arrays import LazyGroup
from pipeline.store.batched import Batch, Batched
from pipeline.store.blobs import Store
from pipeline.trials.tiles import batch_name, ends_of

if TYPE_CHECKING:
    import xarray as xr

_OFFSET = "_bucket_offset"
"""Ends the name of the array that says where the buckets of a dimension begin."""
_ROW = "_row"
"""Ends the name of a dimension along which a column of its own name lies: a plain one, and no index."""
_FLAGS = {"outcome": OUTCOMES, "step": STEPS}
_DESCRIBED = {
    "outcome": "what the trial is: a target or not, accepted (YES) or not; or why it is not scored",
    "target": "row of the key in the reference that the trial is mapped to, -1 without",
    "omitted": "rows of the key that are scored and that no trial is mapped to",
    "omitted_block": "which block of the query omits it, from 1",
    "segment": "row of the segment that the trial belongs to, -1 without",
    "also_trial": "trials that stand for one more segment",
    "also_target": "row of the key that they are mapped to there",
    "also_segment": "row of that segment",
    "label": "the key's label of the segment, as a position in label_name",
    "label_name": "labels of the key",
    "in_gap": "whether the word's mid point lies outside its segment's times",
    "step": "what a step of the alignment is",
    "step_segment": "row of the segment that the step is of",
    "step_reference": "the reference's token, as a position in token, -1 without",
    "step_output": "the output's token, as a position in token, -1 without",
    "step_word": "row of the output's word, -1 without",
    "n_longest": "tokens on the longest path through the segment's reference",
    "n_unknown_reference": "words of the segment's reference that the lexicon lacks",
    "n_unknown_output": "words of the output in the segment that the lexicon lacks",
    "token": "tokens as they are shown; each bucket has its own",
}


def path_of(protocol: Protocol, trials_path: str, reference_address: str) -> str:
    """Where the labels of stored trials against a reference belong. No cost and no prior counts."""
    settings, family = protocols.fields(protocol)["settings"], protocol.family
    name = editions.named(
        "aligning",
        "labels",
        protocol,
        family=family.name,
        settings={name: settings[name] for name in sorted(settings.keys() - set(family.reads.conclude))},
        trials=trials_path,
        reference=reference_address,
    )
    return f"labels/{name}{arrays.ENDING}"


def write(store: Store, path: str, labels: Labels, about: Mapping[str, str]) -> None:
    """Write the labels of a cell; ``about`` names what they were made from."""
    arrays.write_groups(store, path, {"": to_dataset(labels, about)})


@dataclass(frozen=True)
class WrittenBatch:
    """Labels of a batch that are in the store: their object, and the labels without any row."""

    batch: Batch
    empty: Labels

    @classmethod
    def of(cls, batch: Batch, labels: Labels) -> WrittenBatch:
        """A batch of these labels."""
        return cls(batch, replace(labels.tiles(0, 0), offsets=labels.offsets))

    @property
    def ends(self) -> tuple[int, int]:
        """Its buckets, the last one exclusive."""
        return ends_of(self.batch.name)


def write_batch(
    store: Store, path: str, ends: tuple[int, int], labels: Labels, first_key_row: int, about: Mapping[str, str]
) -> WrittenBatch:
    """Write the labels of a run of buckets, which count rows of the key from ``first_key_row``, as a batch."""
    rows = to_dataset(labels.with_key_rows(first_key_row), about)
    batch = batched.write_batch(store, path, batch_name(*ends), rows, _dims(labels, rows))
    return WrittenBatch.of(batch, labels)


def left(store: Store, path: str, ends: tuple[int, int], first_key_row: int) -> tuple[Labels, WrittenBatch] | None:
    """The labels of a batch that a run wrote which did not come to commit it; None where there are none."""
    name = batch_name(*ends)
    if not store.exists(batched.object_of(path, name)):
        return None
    opened, end = batched.read_batch(store, path, name)
    labels = _labels(opened, *ends).with_key_rows(-first_key_row)
    n_rows = {dim: opened.dataset.sizes[dim] for dim in _dims(labels, opened.dataset)}
    return labels, WrittenBatch.of(Batch(name, n_rows, end), labels)


def write_index(store: Store, path: str, written: Sequence[WrittenBatch], about: Mapping[str, str]) -> None:
    """Commit batches (all of a cell's, in any order)."""
    written = sorted(written, key=lambda one: one.ends)
    empty = [one.empty for one in written]
    offsets = {dim: np.sum([labels.offsets[dim] for labels in empty], axis=0) for dim in empty[0].offsets}
    rest = to_dataset(replace(empty[0], offsets=offsets), about)
    within = sorted(offsets.keys() - {KEY})
    batched.write_index(store, path, rest, [one.batch for one in written], within)


def _dims(labels: Labels, rows: xr.Dataset) -> list[str]:
    """The dimensions of stored labels whose rows are in buckets."""
    cut = {dim if dim not in labels.columns else f"{dim}{_ROW}" for dim in labels.offsets}
    return sorted(cut & set(map(str, rows.dims)))


def to_dataset(labels: Labels, about: Mapping[str, str]) -> xr.Dataset:
    """Labels as a dataset: dimension ``trial`` as the trials have it, codes with their meanings."""
    import xarray as xr

    data: dict[str, Any] = {}
    for name, column in labels.columns.items():
        attrs: dict[str, Any] = {"long_name": _DESCRIBED[name], "units": "1", "source": "alignment"}
        if column.rows_of:
            attrs["rows_of"] = column.rows_of
        if name in _FLAGS:
            values = np.arange(len(_FLAGS[name]), dtype=np.uint8)
            attrs |= {"flag_values": values.tolist(), "flag_meanings": " ".join(_FLAGS[name])}
        data[name] = (f"{column.dim}{_ROW}" if column.dim in labels.columns else column.dim, column.values, attrs)
    for dim, offsets in labels.offsets.items():
        attrs = {"long_name": f"first {dim} of each bucket of queries, with their number at the end", "units": "1"}
        data[f"{dim}{_OFFSET}"] = ("bucket_edge", offsets.astype(np.int64), {**attrs, "source": "hash of the query"})
    return xr.Dataset(data, attrs={"title": "labels", **about})


def load(store: Store, path: str, first: int, last: int) -> Labels:
    """Those of buckets ``first`` up to ``last`` (exclusive). Raises ``DamageError``."""
    return _labels(batched.opened(store, path, indexes=False), first, last)


def _labels(opened: LazyGroup | Batched, first: int, last: int) -> Labels:
    stored = opened.dataset
    offsets = {
        str(name).removesuffix(_OFFSET): np.asarray(stored[name].values, np.int64)
        for name in stored.variables
        if str(name).endswith(_OFFSET)
    }
    ends = {dim: (int(rows[first]), int(rows[last])) for dim, rows in offsets.items()}
    opened.fetch_rows({dim if dim not in stored else f"{dim}{_ROW}": rows for dim, rows in ends.items()})
    columns = {}
    for name, variable in stored.variables.items():
        if not str(name).endswith(_OFFSET):
            dim = str(variable.dims[0]).removesuffix(_ROW)
            columns[str(name)] = Column(dim, cast(Array, variable), variable.attrs.get("rows_of", ""))
    return Labels(columns, offsets).tiles(first, last)
