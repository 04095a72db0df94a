"""Segments scored for every class: an output's score matrix, and the key over the same segments (trial × class).

Segments stand in the order of tiles, (bucket of the name, name), so that no tile depends on another segment.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from pipeline.arrays import Codes, Floats, Ints
from pipeline.trials.tiles import buckets_of, offsets_of

if TYPE_CHECKING:
    import xarray as xr


@dataclass(frozen=True)
class ScoreMatrix:
    """One output: the score of every class for every segment."""

    task: str
    chosen_set: str
    """The output's codes: what it is for."""
    classes: tuple[str, ...]
    segments: tuple[str, ...]
    scores: Floats
    """Log-likelihoods, shape (n_segments, n_classes)."""
    row: Ints
    """Source line."""
    offsets: Ints
    """First segment of each bucket, with their number at the end."""

    def __len__(self) -> int:
        return len(self.segments)

    def tiles(self, first: int, last: int) -> ScoreMatrix:
        """Buckets ``first`` up to ``last`` (exclusive)."""
        begin, end = int(self.offsets[first]), int(self.offsets[last])
        rows, offsets = slice(begin, end), np.clip(self.offsets - begin, 0, end - begin)
        own = (self.segments[rows], self.scores[rows], self.row[rows], offsets)
        return ScoreMatrix(self.task, self.chosen_set, self.classes, *own)


@dataclass(frozen=True)
class SegmentLabels:
    """The key: what every segment is."""

    segments: tuple[str, ...]
    labels: tuple[str, ...]
    label: Codes
    offsets: Ints

    def __len__(self) -> int:
        return len(self.segments)

    def tiles(self, first: int, last: int) -> SegmentLabels:
        """Buckets ``first`` up to ``last`` (exclusive)."""
        begin, end = int(self.offsets[first]), int(self.offsets[last])
        offsets = np.clip(self.offsets - begin, 0, end - begin)
        return SegmentLabels(self.segments[begin:end], self.labels, self.label[begin:end], offsets)

    def text(self) -> list[str]:
        """The label of every segment."""
        return [self.labels[code] for code in self.label.tolist()]


@dataclass(frozen=True)
class SegmentList:
    """Every segment of the test, in the order of tiles: what outputs are laid out on."""

    segments: tuple[str, ...]


def order_of(segments: Sequence[str]) -> tuple[Ints, Ints]:
    """Rows in the order of tiles, and where each bucket begins."""
    buckets = buckets_of(segments)
    by_bucket = buckets.tolist()
    order = sorted(range(len(segments)), key=lambda row: (by_bucket[row], segments[row]))
    rows = np.array(order, np.int64)
    return rows, offsets_of(buckets[rows])


def matrix_of(
    codes: tuple[str, str], classes: tuple[str, ...], segments: Sequence[str], scores: Floats, row: Ints
) -> ScoreMatrix:
    """Rows in any order as a score matrix; ``codes`` are task and set."""
    order, offsets = order_of(segments)
    names = tuple(segments[at] for at in order.tolist())
    lines = row[order].astype(np.int64)  # a column of an array.array is of another type of the same width
    return ScoreMatrix(*codes, classes, names, np.ascontiguousarray(scores[order]), lines, offsets)


def labels_of(segments: Sequence[str], labels: tuple[str, ...], label: Codes) -> SegmentLabels:
    """Labels in any order as a key; ``label`` are codes into ``labels``."""
    order, offsets = order_of(segments)
    return SegmentLabels(tuple(segments[at] for at in order.tolist()), labels, label[order], offsets)


def survey(trials: ScoreMatrix) -> dict[str, str]:
    """The codes of an output."""
    return {"task": trials.task, "set": trials.chosen_set}


def to_columns(value: SegmentLabels | SegmentList) -> dict[str, Any]:
    """Every field under its name, as an array or a tuple of text."""
    return dict(value.__dict__)


def labels_from_columns(columns: Mapping[str, Any]) -> SegmentLabels:
    """The key that ``to_columns`` took apart."""
    return SegmentLabels(**columns)


def list_from_columns(columns: Mapping[str, Any]) -> SegmentList:
    """The segment list that ``to_columns`` took apart."""
    return SegmentList(**columns)


_DESCRIBED: dict[str, tuple[str, str, str]] = {
    "score": ("nat", "log-likelihood of the class, up to a constant of the segment", "output, fields 4 and on"),
    "segment": ("", "segment", "output, field 3"),
    "class": ("", "language class", "Albayzin 2012 LRE plan 6.1.3"),
    "line": ("1", "source line", "output"),
    "bucket_offset": (
        "1",
        "first row of each bucket of segments, with the number of rows at the end",
        "segment's hash",
    ),
}
"""Units, long name and source of every array."""


def to_dataset(trials: ScoreMatrix, _segments: SegmentList, source: Mapping[str, str | int]) -> xr.Dataset:
    """The scores of one output with dimensions ``trial`` and ``class``; ``source`` joins the attributes."""
    import xarray as xr

    texts = np.dtypes.StringDType()
    data = {
        "score": (("trial", "class"), trials.scores),
        "line": ("trial", trials.row),
        "bucket_offset": ("bucket_edge", trials.offsets),
    }
    coordinates = {
        "segment": ("trial", np.array(trials.segments, texts)),
        "class": ("class", np.array(trials.classes, texts)),
    }
    attributes = {"title": "trials", "task": trials.task, "set": trials.chosen_set, **source}
    dataset = xr.Dataset(data, coordinates, attributes)
    for name, (units, long_name, origin) in _DESCRIBED.items():
        dataset[name].attrs.update(units=units, long_name=long_name, source=origin)
    return dataset


def from_dataset(dataset: xr.Dataset, first_bucket: int, last_bucket: int) -> ScoreMatrix:
    """Buckets ``first_bucket`` up to ``last_bucket`` (exclusive) of a stored dataset; only their rows are read."""
    offsets: Ints = dataset.variables["bucket_offset"].to_numpy()
    begin, end = int(offsets[first_bucket]), int(offsets[last_bucket])
    rows = {name: dataset.variables[name][begin:end].to_numpy() for name in ("segment", "score", "line")}
    return ScoreMatrix(
        task=dataset.attrs["task"],
        chosen_set=dataset.attrs["set"],
        classes=tuple(dataset.variables["class"].to_numpy().tolist()),
        segments=tuple(rows["segment"].tolist()),
        scores=rows["score"],
        row=rows["line"],
        offsets=np.clip(offsets - begin, 0, end - begin),
    )
