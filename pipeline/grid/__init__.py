"""Many cells → one grid: labelled arrays that anyone can open, and the record that makes them count."""

from pipeline.grid.gather import gather
from pipeline.grid.publish import (
    STAGED,
    Run,
    before,
    check_sizes,
    checked,
    faults,
    latest,
    load_grid,
    load_run,
    promote,
    publish,
)

__all__ = [
    "STAGED",
    "Run",
    "before",
    "check_sizes",
    "checked",
    "faults",
    "gather",
    "latest",
    "load_grid",
    "load_run",
    "promote",
    "publish",
]
