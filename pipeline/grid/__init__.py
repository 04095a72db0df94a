"""Many cells → one grid: labelled arrays that anyone can open, and the record that makes them count."""

from pipeline.grid.gather import gather
from pipeline.grid.publish import (
    STAGED,
    Run,
    before,
    check_objects,
    checked,
    faults,
    id_of,
    latest,
    load_grid,
    load_run,
    promote,
    publish,
    recorded,
)

__all__ = [
    "STAGED",
    "Run",
    "before",
    "check_objects",
    "checked",
    "faults",
    "gather",
    "id_of",
    "latest",
    "load_grid",
    "load_run",
    "promote",
    "publish",
    "recorded",
]
