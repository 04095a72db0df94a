"""Labelled trials in memory and as they are stored: who scored them said what they are."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from pipeline.arrays import Bools, Codes, Floats, Ints
from pipeline.formats.labelled import Labelled
from pipeline.formats.table import canonical_codes
from pipeline.trials.ragged import FIRST_ROW, N_ROWS, codes_of, runs_of
from pipeline.trials.schema import N_BUCKETS
from pipeline.trials.tiles import buckets_of, offsets_of, ranks_of

if TYPE_CHECKING:
    import xarray as xr


@dataclass(frozen=True, eq=False)
class LabelledTrials:
    """Trials sorted by (bucket, query, document). Codes point into sorted names."""

    queries: tuple[str, ...]
    documents: tuple[str, ...]
    query: Codes
    document: Codes
    target: Bools
    decision: Bools
    score: Floats
    row: Ints
    offsets: Ints
    has_queries: bool
    has_decisions: bool

    def __len__(self) -> int:
        return int(self.query.size)

    def whole(self) -> LabelledTrials:
        """These trials: they are laid out already."""
        return self

    def tiles(self, first: int, last: int) -> LabelledTrials:
        """Buckets ``first`` up to ``last`` (exclusive) as trials of their own; views, nothing is copied."""
        begin, end = int(self.offsets[first]), int(self.offsets[last])
        offsets = np.clip(self.offsets - begin, 0, end - begin)
        return replace(self, offsets=offsets, **{name: getattr(self, name)[begin:end] for name in _ROWS})


_ROWS = ("query", "document", "target", "decision", "score", "row")


@dataclass(frozen=True, eq=False)
class NoKey:
    """The key of trials that are labelled already: no row in any bucket."""

    offsets: Ints

    def __len__(self) -> int:
        return 0

    def tiles(self, first: int, last: int) -> NoKey:
        """Buckets ``first`` up to ``last`` (exclusive)."""
        del first, last
        return self

    @classmethod
    def empty(cls) -> NoKey:
        """The one there is."""
        return cls(np.zeros(N_BUCKETS + 1, np.int64))


def laid_out(labelled: Labelled) -> LabelledTrials:
    """Labelled scores in their canonical order, which is not that of the file."""
    rows = labelled.rows
    queries, query = canonical_codes(rows.vocabularies["query"], rows["query"])
    documents, document = canonical_codes(rows.vocabularies["document"], rows["document"])
    order = np.lexsort((document, ranks_of(queries)[query])) if queries else np.zeros(0, np.int64)
    return LabelledTrials(
        queries,
        documents,
        query[order],
        document[order],
        rows["label"][order],
        rows["decision"][order],
        rows["score"][order] + 0.0,
        rows["line"][order],
        offsets_of(buckets_of(queries)[query[order]]),
        labelled.has_queries,
        labelled.has_decisions,
    )


_DESCRIBED: dict[str, tuple[str, str]] = {
    "query": ("", "queries, sorted"),
    "first_row": ("1", "first row of the query's trials"),
    "n_rows": ("1", "number of the query's trials, which follow one another"),
    "document_name": ("", "documents, sorted"),
    "document": ("1", "document, as a position in document_name"),
    "score": ("1", "score, higher is likelier"),
    "decision": ("1", "whether the trial was accepted"),
    "label": ("1", "whether the trial is a target"),
    "line": ("1", "source line"),
    "bucket_offset": ("1", "first row of each bucket of queries, with the number of rows at the end"),
}
_STORED = {"document": "document", "score": "score", "decision": "decision", "label": "target", "line": "row"}


def to_dataset(trials: LabelledTrials, _timeline: NoKey, source: Mapping[str, str | int]) -> xr.Dataset:
    """The trials with dimensions ``query`` and ``trial``; ``source`` joins the attributes."""
    import xarray as xr

    texts = np.dtypes.StringDType()
    data = {
        **{name: ("trial", getattr(trials, field)) for name, field in _STORED.items()},
        **{name: ("query", runs) for name, runs in runs_of(trials.query, len(trials.queries)).items()},
        "bucket_offset": ("bucket_edge", trials.offsets),
    }
    names = {
        "query": ("query", np.array(trials.queries, texts)),
        "document_name": ("document_name", np.array(trials.documents, texts)),
    }
    said = {"has_queries": int(trials.has_queries), "has_decisions": int(trials.has_decisions)}
    dataset = xr.Dataset(data, names, {"title": "trials", **said, **source})
    for name, (units, long_name) in _DESCRIBED.items():
        dataset[name].attrs.update(units=units, long_name=long_name, source="output")
    return dataset


def from_dataset(dataset: xr.Dataset, first_bucket: int, last_bucket: int) -> LabelledTrials:
    """Buckets ``first_bucket`` up to ``last_bucket`` (exclusive) of a stored dataset; only their rows are read."""
    stored = dataset.variables
    offsets: Ints = stored["bucket_offset"].to_numpy()
    begin, end = int(offsets[first_bucket]), int(offsets[last_bucket])
    rows: dict[str, Any] = {field: stored[name][begin:end].to_numpy() for name, field in _STORED.items()}
    return LabelledTrials(
        queries=tuple(stored["query"].to_numpy().tolist()),
        documents=tuple(stored["document_name"].to_numpy().tolist()),
        query=codes_of(stored[FIRST_ROW].to_numpy(), stored[N_ROWS].to_numpy(), begin, end),
        offsets=np.clip(offsets - begin, 0, end - begin),
        has_queries=bool(dataset.attrs["has_queries"]),
        has_decisions=bool(dataset.attrs["has_decisions"]),
        **rows,
    )
