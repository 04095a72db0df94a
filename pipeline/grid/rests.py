"""Each cell's sources of figures: where its trials, key and labels lie, and the facts that enter formulas."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from pipeline.engine.result import Result
from pipeline.grid.axes import CELL, Axes, array, text_array

_FACTS: dict[str, tuple[str, str, str]] = {
    "beta": ("1", "weight of a false-alarm rate against a miss rate", "operating point: C_fa (1 - P) / (C_miss P)"),
    "t_audio_s": ("s", "audio that is searched, T_audio", "ECF or key, by the protocol's rule"),
    "n_trials": ("1", "trials of a query, as error rates count them", "T_audio and trials per second; key"),
    "n_target": ("1", "target trials of all scored queries, N_true", "key"),
    "p_target_effective": ("1", "prior at which the costs of both errors are weighed", "operating point"),
    "prior_empirical": ("1", "share of targets among the trials of the key", "key"),
    "threshold_bayes": ("score", "where a Bayes decision turns, log beta", "operating point"),
}
"""Facts of a cell that are variables of the grid: units, long name and source."""
_OBJECTS = {"trials": "trials", "reference": "references", "labels": "labels"}
"""Objects that a result is made from, and the folder of the store in which they lie."""


def rests(axes: Axes, results: Sequence[Result]) -> dict[str, Any]:
    """Variables over cells: facts as far as any cell has them, NaN elsewhere; paths in the store, empty elsewhere."""
    facts = {name: np.full(axes.shape, np.nan) for name in _FACTS}
    paths = {name: np.full(axes.shape, "", np.dtypes.StringDType()) for name in _OBJECTS}
    for result in results:
        place = axes.place(result)
        for name, values in facts.items():
            fact = result.facts.get(name)
            values[place] = fact if isinstance(fact, int | float) else np.nan
        for name, folder in _OBJECTS.items():
            found = [path for path in result.made_from if path.startswith(f"{folder}/")]
            paths[name][place] = found[0] if found else ""
    known = {name: values for name, values in facts.items() if not np.isnan(values).all()}
    return {
        **{name: array(values, CELL, *_described(name)) for name, values in known.items()},
        **{
            name: text_array(values, CELL, f"{name} of the cell, a path in the store; empty = none")
            for name, values in paths.items()
        },
    }


def _described(name: str) -> tuple[str, str, str]:
    units, long_name, source = _FACTS[name]
    return long_name, source, units
