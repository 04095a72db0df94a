"""Scored clips as an xarray dataset, the form in which they are stored and looked at."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from pipeline.trials.clips import ClipIndex, ClipTrials
from pipeline.trials.schema import Ints

if TYPE_CHECKING:
    import xarray as xr

_DESCRIBED: dict[str, tuple[str, str, str]] = {
    "event": ("1", "event, as a position in event_id", "TrialIndex, EventID"),
    "trial_id": ("", "trial", "TrialIndex, TrialID"),
    "event_id": ("", "events in the order of tiles", "TrialIndex, EventID"),
    "item": ("1", "position among the event's trials, sorted by id", "TrialIndex"),
    "score": ("1", "score, higher is likelier; -rank where systems rank", "detection, Score or Rank"),
    "decision": ("1", "whether the trial is detected at the submitted threshold", "threshold"),
    "row": ("1", "source line", "detection"),
    "bucket_offset": ("1", "first row of each bucket of events, with the number of rows at the end", "hash of EventID"),
    "event_bucket": ("1", "bucket of the event", "hash of EventID"),
    "submitted": ("1", "whether the system processed the event", "detection and threshold"),
    "threshold": ("1", "submitted threshold, NaN without one", "threshold"),
    "hours": ("h", "wall-clock time of event agent execution, NaN where not declared", "threshold, DetectionTPT"),
}
"""Units, long name and source of every array."""


def to_dataset(trials: ClipTrials, index: ClipIndex, source: Mapping[str, str | int]) -> xr.Dataset:
    """Scored trials of one output as a dataset with dimension ``trial``; ``source`` becomes its attributes.

    ``trial_id`` names every row for people; it is not read back, since ``event`` and ``item`` point into the index.
    """
    import xarray as xr

    place = index.first[trials.event] + trials.item
    named = np.array([index.trial_ids[at] for at in place.tolist()], np.dtypes.StringDType())
    data = {
        **{name: ("trial", getattr(trials, name)) for name in ("item", "score", "decision", "row")},
        "bucket_offset": ("bucket_edge", trials.offsets),
        **{name: ("event_id", getattr(trials, name)) for name in ("event_bucket", "submitted", "threshold", "hours")},
    }
    coordinates = {
        "event": ("trial", trials.event),
        "trial_id": ("trial", named),
        "event_id": ("event_id", np.array(trials.events, np.dtypes.StringDType())),
    }
    dataset = xr.Dataset(data, coordinates, {"title": "trials", **source})
    for name, (units, long_name, origin) in _DESCRIBED.items():
        dataset[name].attrs.update(units=units, long_name=long_name, source=origin)
    return dataset


def from_dataset(dataset: xr.Dataset, first_bucket: int, last_bucket: int) -> ClipTrials:
    """Buckets ``first_bucket`` up to ``last_bucket`` (exclusive) of a stored dataset; only their rows are read."""
    offsets: Ints = dataset.variables["bucket_offset"].to_numpy()
    begin, end = int(offsets[first_bucket]), int(offsets[last_bucket])
    stored = dataset.variables
    by_trial = ("event", "item", "score", "decision", "row")
    columns: dict[str, Any] = {name: stored[name][begin:end].to_numpy() for name in by_trial}
    per_event = {name: stored[name].to_numpy() for name in ("event_bucket", "submitted", "threshold", "hours")}
    low, high = np.searchsorted(per_event["event_bucket"], (first_bucket, last_bucket)).tolist()
    return ClipTrials(
        events=tuple(dataset.variables["event_id"].to_numpy().tolist())[low:high],
        **{name: column[low:high] for name, column in per_event.items()},
        **{**columns, "event": columns["event"] - np.int32(low)},
        offsets=np.clip(offsets - begin, 0, end - begin),
    )
