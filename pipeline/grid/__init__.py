"""Many cells → one grid: labelled arrays that anyone can open, and the record that makes them count."""

from pipeline.grid.gather import gather
from pipeline.grid.publish import (
    STAGED,
    Run,
    before,
    check_objects,
    faults,
    id_of,
    latest,
    load_grid,
    load_run,
    promote,
    publish,
    recorded,
    reports_of,
)

__all__ = [
    "STAGED",
    "Run",
    "before",
    "check_objects",
    "faults",
    "gather",
    "id_of",
    "latest",
    "load_grid",
    "load_run",
    "promote",
    "publish",
    "recorded",
    "reports_of",
]
