"""Trials found by name and time, as an index of xarray. Imports xarray: import it only where arrays are opened."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping, Sequence
from typing import Any

import numpy as np
import xarray as xr
from numpy.typing import NDArray
from xarray.core.indexing import IndexSelResult
from xarray.indexes import Index

Rows = slice | NDArray[np.int64]
Fetch = Callable[[int, int], None]
TIME, TRIAL = "time", "trial"


class KeyedIndex(Index):
    """Names of queries (events, recordings) and the times of their trials, whose rows follow one another by name.

    ``.sel(query="q7", time=slice(0, 60))`` reads the times of that query's rows alone, and gives its trials from 0 to
    60 s, both ends included, as slices of labels do in xarray. A list of names gives the rows of each in turn.
    What is selected has no such index any more: ``first_row`` goes on to count the rows of the whole.
    """

    def __init__(self, keyed: xr.Dataset, key: str, fetch: Fetch) -> None:
        """``keyed`` has the coordinate ``key`` with ``first_row`` and ``n_rows``; ``fetch`` reads rows ahead."""
        self._key, self._fetch = key, fetch
        self._names = [str(name) for name in keyed[key].to_numpy().tolist()]
        self._at = {name: at for at, name in enumerate(self._names)}
        self._first, self._n_rows = (keyed[name].to_numpy() for name in ("first_row", "n_rows"))
        self._time = keyed.variables.get(TIME)

    @classmethod
    def from_variables(cls, variables: Mapping[Any, xr.Variable], *, options: Mapping[str, Any]) -> KeyedIndex:
        """Called by ``set_xindex``, whose options are the arguments of this class."""
        del variables
        return cls(**options)

    def create_variables(self, variables: Mapping[Any, xr.Variable] | None = None) -> dict[Hashable, xr.Variable]:
        """The coordinates as they are."""
        return dict(variables or {})

    def sel(self, labels: dict[Any, Any]) -> IndexSelResult:
        """Positions of names and rows. ``KeyError`` for a name there is not, ``TypeError`` for a slice of names."""
        chosen: dict[str, Any] = {}
        runs = [slice(0, self._time.size if self._time is not None else 0)]
        if self._key in labels:
            chosen[self._key] = at = self._places(labels[self._key])
            runs = [slice(self._first[one], self._first[one] + self._n_rows[one]) for one in np.atleast_1d(at)]
            for run in runs:
                self._fetch(int(run.start), int(run.stop))
        spans: list[Rows] = [self._within(run, labels[TIME]) if TIME in labels else run for run in runs]
        rows = spans[0] if len(spans) == 1 else np.concatenate([np.empty(0, np.int64), *map(_positions, spans)])
        return IndexSelResult({**chosen, TRIAL: rows})

    def equals(self, other: Index, *, exclude: frozenset[Hashable] | None = None) -> bool:  # noqa: ARG002
        """Whether names, rows and times are the same."""
        if not isinstance(other, KeyedIndex) or self._names != other._names:
            return False
        mine, its = (np.stack([one._first, one._n_rows]) for one in (self, other))
        if not np.array_equal(mine, its) or (self._time is None) != (other._time is None):
            return False
        if self._time is None or other._time is None:
            return True
        return np.array_equal(self._time.to_numpy(), other._time.to_numpy(), equal_nan=True)

    def _places(self, label: Any) -> int | NDArray[np.int64]:
        if isinstance(label, slice):
            raise TypeError(
                f"trials are selected by a {self._key} or a list of them (seen: a slice). Give their names."
            )
        names = np.asarray(label).tolist()
        try:
            if isinstance(names, list):
                return np.array([self._at[str(name)] for name in names], np.int64)
            return self._at[str(names)]
        except KeyError as error:
            raise KeyError(f"{self._key} {error.args[0]!r} is not in the output") from None

    def _within(self, span: slice, wanted: Any) -> Rows:
        """The rows of a span whose time is wanted: a slice of rows where times do not fall."""
        if self._time is None:
            raise KeyError(TIME)
        time: NDArray[np.float64] = self._time[span].to_numpy()
        low, high = (wanted.start, wanted.stop) if isinstance(wanted, slice) else (wanted, wanted)
        if isinstance(wanted, slice) and wanted.step is not None:
            raise ValueError("times are selected without a step")
        low, high = (-np.inf if low is None else float(low)), (np.inf if high is None else float(high))
        if np.all(time[1:] >= time[:-1]) and not np.isnan(time[:1]).any():
            first, last = np.searchsorted(time, low, "left"), np.searchsorted(time, high, "right")
            return slice(span.start + int(first), span.start + max(int(first), int(last)))
        found: NDArray[np.int64] = np.flatnonzero((time >= low) & (time <= high))
        found += span.start
        return found


def _positions(rows: Rows) -> NDArray[np.int64]:
    if not isinstance(rows, slice):
        return rows
    positions: NDArray[np.int64] = np.arange(rows.start, rows.stop)
    return positions


def keyed(trials: xr.Dataset, key: str, fetches: Sequence[Fetch]) -> xr.Dataset:
    """Trials with this index over ``key`` and, where there is one, ``time``."""

    def fetch(begin: int, end: int) -> None:
        for one in fetches:
            one(begin, end)

    names = [key, TIME] if TIME in trials.variables else [key]
    return trials.drop_indexes(key).set_xindex(names, KeyedIndex, keyed=trials, key=key, fetch=fetch)
