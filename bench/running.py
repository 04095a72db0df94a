"""Groups of the table, measured and printed one by one."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path

from bench.measured import measure
from bench.table import Group, Line, lines_of, text

TIMES = 5
Make = Callable[[Path], Group]
"""Writes the inputs of a group into a folder, and says what is to be run on them."""


def show(makes: Mapping[str, Make], times: int = TIMES, *, aimed: bool = True) -> list[Line]:
    """Measure groups and print their lines as they come, without aims where sizes are not those they are meant for."""
    print(text(), flush=True)
    lines: list[Line] = []
    for make in makes.values():
        with tempfile.TemporaryDirectory(prefix="rescore-bench-") as folder:
            group = make(Path(folder))
            if not aimed:
                bare = [replace(comparison, aims={}) for comparison in group.comparisons]
                group = replace(group, comparisons=bare)
            for line in lines_of(group, measure(group.ways, Path(folder), times)):
                print(text(line.cells), flush=True)
                lines.append(line)
    return lines
