"""Labels in the store: what every trial of a cell is, one Zarr dataset per (trials, reference, rules of aligning)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, cast

import numpy as np

from pipeline import protocols
from pipeline.align.labels import OUTCOMES, TRIAL, Column, Labels
from pipeline.align.tokens.steps import STEPS
from pipeline.engine import editions
from pipeline.formats.table import Array
from pipeline.protocols.base import Protocol
from pipeline.store import arrays
from pipeline.store.blobs import Store

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
    opened = arrays.opened(store, path)
    stored = opened.dataset
    offsets = {
        str(name).removesuffix(_OFFSET): np.asarray(stored[name].values, np.int64)
        for name in stored.variables
        if str(name).endswith(_OFFSET)
    }
    opened.fetch(*offsets[TRIAL][[first, last]].tolist())
    columns = {}
    for name, variable in stored.variables.items():
        if not str(name).endswith(_OFFSET):
            dim = str(variable.dims[0]).removesuffix(_ROW)
            columns[str(name)] = Column(dim, cast(Array, variable), variable.attrs.get("rows_of", ""))
    return Labels(columns, offsets).tiles(first, last)
