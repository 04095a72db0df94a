"""The mapping that every aligner returns."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray


@dataclass(frozen=True)
class Aligned:
    """Outcome of aligning one tile. Rows refer to the tile's own trials and references.

    ``kept``: trial rows that take part, ascending. ``reference``: for each kept row the reference it is mapped to,
    or -1.
    ``omitted``: references that take part and that no trial is mapped to, ascending.
    """

    kept: NDArray[np.int64]
    reference: NDArray[np.int64]
    omitted: NDArray[np.int64]

    @property
    def target(self) -> NDArray[np.bool_]:
        """For each kept row, whether it is a target trial."""
        return self.reference >= 0
