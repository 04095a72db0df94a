"""What systems ran on, by cell and phase, as their resources files say it: arrays of the grid, and words."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from pipeline.arrays import summed
from pipeline.engine.load import SAID, TABLE
from pipeline.engine.result import Result
from pipeline.grid.axes import CELL, Axes, array, text_array

PHASES = ("index", "search", "eag")
_SOURCE = "resources file of the system"
_NUMBERS = {"cpu_s": ("time as if on a single CPU", "s"), "peak_memory_bytes": ("highest memory of steps", "byte")}


def words(row: Mapping[str, Any]) -> str:
    """Computers of one kind in words: ``16 × HP Xeon E5, 8 cores, 2.4 GHz, 24 GB RAM, Linux``."""
    names = ("count", "cores", "clock_ghz", "ram_bytes")
    known = {name: value for name in names if not math.isnan(value := _number(row, name))}
    parts = [" ".join(filter(None, (str(row["brand"]), str(row["cpu"]))))]
    parts += [f"{known['cores']:g} cores"] if "cores" in known else []
    parts += [f"{known['clock_ghz']:g} GHz"] if "clock_ghz" in known else []
    parts += [f"{known['ram_bytes'] / 1e9:g} GB RAM"] if "ram_bytes" in known else []
    told = ", ".join(filter(None, (*parts, str(row["os"]))))
    return f"{known['count']:g} × {told or 'computer'}" if known.get("count", 1) != 1 and told else told


def _number(row: Mapping[str, Any], name: str) -> float:
    """A number of a row; NaN where it was not declared, which results store as null."""
    value = row[name]
    return math.nan if value is None else float(value)


def of_phase(result: Result, phase: str) -> str:
    """What a phase of a cell ran on: its kinds of computers, each with the step where there are several."""
    rows = [row for row in result.tables.get(TABLE, ()) if row["phase"] == phase and words(row)]
    several = len({row["step"] for row in rows}) > 1
    return "; ".join(dict.fromkeys(f"{row['step']}: {words(row)}" if several else words(row) for row in rows))


def of_cells(axes: Axes, results: Sequence[Result]) -> dict[str, Any]:
    """``hardware`` of every cell, all phases in one text; nothing where nobody declared any."""
    told = np.full(axes.shape, "", np.dtypes.StringDType())
    for result in results:
        phases = [(phase, of_phase(result, phase)) for phase in PHASES]
        told[axes.place(result)] = "; ".join(f"{phase}: {text}" for phase, text in phases if text)
    return {"hardware": text_array(told, CELL, "what the system ran on", _SOURCE)} if (told != "").any() else {}


def phases(results: Sequence[Result]) -> dict[str, Any]:
    """The coordinate ``phase``; nothing where nobody declared steps or computers."""
    return {"phase": text_array(PHASES, ("phase",), "phase")} if _declared(results) else {}


def by_phase(axes: Axes, results: Sequence[Result]) -> dict[str, Any]:
    """Hardware, time and peak of every cell and phase; nothing where nobody declared steps or computers."""
    if not _declared(results):
        return {}
    shape = (*axes.shape, len(PHASES))
    told = np.full(shape, "", np.dtypes.StringDType())
    numbers = {name: np.full(shape, np.nan) for name in _NUMBERS}
    for result in results:
        for at, phase in enumerate(PHASES):
            place = (*axes.place(result), at)
            told[place] = of_phase(result, phase)
            rows = [row for row in result.tables.get(TABLE, ()) if row["phase"] == phase and row["step"] != SAID]
            known = {name: [row[name] for row in rows if not math.isnan(_number(row, name))] for name in _NUMBERS}
            if known["cpu_s"]:
                numbers["cpu_s"][place] = summed(known["cpu_s"])
            numbers["peak_memory_bytes"][place] = max(known["peak_memory_bytes"], default=math.nan)
    dims = (*CELL, "phase")
    data = {"hardware": text_array(told, dims, "what the phase ran on", _SOURCE)}
    return data | {name: array(numbers[name], dims, what, _SOURCE, unit) for name, (what, unit) in _NUMBERS.items()}


def _declared(results: Sequence[Result]) -> bool:
    return any(TABLE in result.tables for result in results)
