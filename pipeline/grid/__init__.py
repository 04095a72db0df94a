"""Many cells → one grid: labelled arrays that anyone can open, and the record that makes them count."""

from pipeline.grid.gather import gather
from pipeline.grid.publish import Run, latest, load_grid, publish

__all__ = ["Run", "gather", "latest", "load_grid", "publish"]
