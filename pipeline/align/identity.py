"""Alignment by identity: a trial and its key are the same row of the trial index."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from pipeline.arrays import Bools, Codes, Ints
from pipeline.trials.clips import LEFT_OUT, NONTARGET, TARGET, UNKEYED, ClipKey, ClipTrials


@dataclass(frozen=True)
class Identified:
    """Outcome of one tile. Rows refer to the tile's own trials; counts are by event of the tile, int64.

    ``kept``: trial rows that take part, ascending; ``target``: for each of them, whether it is one.
    """

    kept: Ints
    target: Bools
    omitted: Ints
    """Rows of the key: targets of submitted events that have no trial."""
    n_missing_nontarget: Ints
    """Non-targets of submitted events that have no trial."""
    n_missing_target: Ints
    n_unkeyed: Ints
    """Scored trials without a key, kept or not."""


def identify(trials: ClipTrials, key: ClipKey, *, keep_unkeyed: bool) -> Identified:
    """Give the trials of a tile their labels (DEVA_sci: Mapped, UnMapped SYS, UnMapped REF).

    A scored trial without a key is a non-target with ``keep_unkeyed`` and takes no part otherwise; trials outside the
    condition (``LEFT_OUT``) take none. Targets without a trial are listed, and what becomes of them is the caller's.
    """
    n_events = len(key.events)
    place = key.first[trials.event] + trials.item
    label = key.label[place]
    kept = np.flatnonzero((label >= NONTARGET) | ((label == UNKEYED) & keep_unkeyed))
    scored = np.zeros(key.label.size, np.bool_)
    scored[place] = True
    event = np.repeat(np.arange(n_events, dtype=np.int32), np.diff(key.first))
    missing = ~scored & trials.submitted[event] & (key.label != LEFT_OUT)

    def count(rows: Bools, events: Codes) -> Ints:
        return np.bincount(events[rows], minlength=n_events).astype(np.int64)

    return Identified(
        kept=kept,
        target=label[kept] == TARGET,
        omitted=np.flatnonzero(missing & (key.label == TARGET)),
        n_missing_nontarget=count(missing & (key.label == NONTARGET), event),
        n_missing_target=count(missing & (key.label == TARGET), event),
        n_unkeyed=count(label == UNKEYED, trials.event),
    )
