"""What a compiled kernel maps before candidates are listed, which is nearly all there is."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from pipeline import compiled
from pipeline.align.mapping.candidates import ScoreRange, bounds_of
from pipeline.align.mapping.groups import sorted_references
from pipeline.arrays import Bools, Ints
from pipeline.trials.schema import Occurrences, Trials


@dataclass(frozen=True)
class Settled:
    """Pairs of a detection and a reference that are mapped, as rows of the tile."""

    trial: Ints
    occurrence: Ints
    left: Bools | None = None
    """For each reference whether it is left open; None where nothing was tried."""


def settle_groups(
    trials: Trials,
    references: Occurrences,
    *,
    trial_kept: Bools,
    reference_kept: Bools,
    tolerance_s: float,
    score_range: ScoreRange,
    floor: float,
) -> Settled:
    """What needs no solver, where Numba is started. Arguments as in ``align_occurrences``."""
    if not compiled.started():
        return Settled(np.zeros(0, np.int64), np.zeros(0, np.int64))
    from pipeline.align.mapping.group_kernel import LEFT, settle

    rows, group = sorted_references(references, trials, reference_kept)
    times_s, bounds = (references.begin_s[rows], references.end_s[rows]), None
    if score_range != "group":
        bounds = bounds_of(trials, group // (len(trials.files) * len(trials.channels)), trial_kept, score_range)
    mapping = settle(trials, trial_kept, group, times_s, bounds, tolerance_s, floor)
    left = np.zeros(len(references), np.bool_)
    left[rows[mapping == LEFT]] = True
    mapped = mapping >= 0
    return Settled(mapping[mapped], rows[mapped], left)
