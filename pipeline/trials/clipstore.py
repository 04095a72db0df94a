"""Scored clips as an xarray dataset, the form in which they are stored and looked at."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from pipeline.arrays import Ints
from pipeline.trials.clips import ClipIndex, ClipTrials
from pipeline.trials.ragged import FIRST_ROW, N_ROWS, codes_of, runs_of

if TYPE_CHECKING:
    import xarray as xr

_ROWS = {"item": "item", "score": "score", "decision": "decision", "line": "row"}
"""Stored arrays by trial, and the fields they hold."""
_PER_EVENT = ("event_bucket", "submitted", "threshold", "hours")
_DESCRIBED: dict[str, tuple[str, str, str]] = {
    "trial_id": ("", "trial", "TrialIndex, TrialID"),
    "event": ("", "events in the order of buckets", "TrialIndex, EventID"),
    "first_row": ("1", "first row of the event's trials", "detection"),
    "n_rows": ("1", "number of the event's trials, which follow one another", "detection"),
    "item": ("1", "position among the event's trials, sorted by id", "TrialIndex"),
    "score": ("1", "score, higher is likelier; -rank where systems rank", "detection, Score or Rank"),
    "decision": ("1", "whether the trial is detected at the submitted threshold", "threshold"),
    "line": ("1", "source line", "detection"),
    "bucket_offset": ("1", "first row of each bucket of events, with the number of rows at the end", "hash of EventID"),
    "event_bucket": ("1", "bucket of the event", "hash of EventID"),
    "submitted": ("1", "whether the system processed the event", "detection and threshold"),
    "threshold": ("1", "submitted threshold, NaN without one", "threshold"),
    "hours": ("h", "wall-clock time of event agent execution, NaN where not declared", "threshold, DetectionTPT"),
}
"""Units, long name and source of every array."""


def to_dataset(trials: ClipTrials, index: ClipIndex, source: Mapping[str, str | int]) -> xr.Dataset:
    """Scored trials of one output as a dataset; ``source`` becomes its attributes.

    Dimensions ``event`` and ``trial``: the trials of an event are the rows ``first_row`` up to ``first_row + n_rows``.
    ``trial_id`` names every row for people; it is not read back, since event and ``item`` point into the index.
    """
    import xarray as xr

    place = index.first[trials.event] + trials.item
    named = np.array([index.trial_ids[at] for at in place.tolist()], np.dtypes.StringDType())
    data = {
        **{name: ("trial", getattr(trials, field)) for name, field in _ROWS.items()},
        "bucket_offset": ("bucket_edge", trials.offsets),
        **{name: ("event", runs) for name, runs in runs_of(trials.event, len(trials.events)).items()},
        **{name: ("event", getattr(trials, name)) for name in _PER_EVENT},
    }
    coordinates = {
        "trial_id": ("trial", named),
        "event": ("event", np.array(trials.events, np.dtypes.StringDType())),
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
    columns: dict[str, Any] = {field: stored[name][begin:end].to_numpy() for name, field in _ROWS.items()}
    per_event = {name: stored[name].to_numpy() for name in _PER_EVENT}
    event = codes_of(stored[FIRST_ROW].to_numpy(), stored[N_ROWS].to_numpy(), begin, end)
    low, high = np.searchsorted(per_event["event_bucket"], (first_bucket, last_bucket)).tolist()
    return ClipTrials(
        events=tuple(stored["event"].to_numpy().tolist())[low:high],
        **{name: column[low:high] for name, column in per_event.items()},
        **columns,
        event=event - np.int32(low),
        offsets=np.clip(offsets - begin, 0, end - begin),
    )
