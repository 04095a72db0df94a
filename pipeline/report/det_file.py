"""The DET curve of one cell as a drawing of its own, to put in a paper: SVG, or PDF made of it."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import PurePath
from typing import Any

import jinja2
import numpy as np

from pipeline.engine.cell import load_result
from pipeline.engine.plan import Plan
from pipeline.engine.result import Result
from pipeline.errors import UsageError
from pipeline.metrics.kws.det import thinned
from pipeline.protocols import decided_and_best
from pipeline.protocols.base import Protocol
from pipeline.report.board import ALL, Board, BoardEntry, RunBoards
from pipeline.report.environments import new_environment
from pipeline.report.plots.det import DetCurve, DetPlot, det_plots
from pipeline.report.plots.iso_cost import iso_lines
from pipeline.report.words import label, printable, short
from pipeline.store.blobs import Store

FORMS = ("svg", "pdf")
HEAD = 62.0
"""Pixels above the plot, for the name and what the points are."""
"""The figures of the two points."""
_NAME_AT_MOST = 60
_NO_XML = re.compile("[\ufffe\uffff]")
_MADE_ON = re.compile(rb"/CreationDate \(D:\d{14}")


def form_of(path: str) -> str:
    """The form that a file's ending asks for. Raises ``UsageError`` for others, and where it cannot be made here."""
    form = PurePath(path).suffix.lower().removeprefix(".")
    if form not in FORMS:
        raise UsageError(f"a DET file is FILE.svg or FILE.pdf (got {path!r}). Give it one of these endings.")
    check_forms([form])
    return form


def check_forms(forms: Sequence[str]) -> None:
    """Raise ``UsageError`` for forms that there are not, and for those that cannot be made here."""
    unknown = sorted(set(forms) - set(FORMS))
    if unknown:
        raise UsageError(f"a DET file is {' or '.join(FORMS)} (got {', '.join(unknown)}).")
    if "pdf" in forms:
        _cairosvg()


def check_curve(protocol: Protocol) -> None:
    """Raise ``UsageError`` where the cells of a protocol have no such curve."""
    if not protocol.family.can.curve:
        raise UsageError(f"{protocol.name} has no DET curve. Leave --det out.")


def det_file(result: Result, names: Sequence[str], form: str) -> bytes | None:
    """The drawing: axes, curve, the points of the decisions and of the best threshold, lines of equal cost.

    ``names`` are the system and, where it has them, its query set and dataset. None where the cell has no curve.
    """
    plot = _plot(result, names)
    if plot is None:
        return None
    template = _environment().get_template("det_file.svg.j2")
    told = _told(result, plot)
    text = template.render(plot=plot, names=[_shown(name) for name in names], told=told, head=HEAD)
    return text.encode("utf-8", "replace") if form == "svg" else _pdf(text)


def write_cell_drawings(store: Store, plan: Plan, prefix: str) -> dict[str, str]:
    """Write ``<prefix>/<query set>/<dataset>/<system>/det.svg`` (or ``.pdf``) for every cell of a plan with a curve.

    Returns file → path in the store. Cells of datasets of which reports do not show everything have none.
    """
    written = {}
    for job in plan.jobs:
        result = load_result(store, job.address)
        if result.failed is not None or job.cell.dataset in plan.disclose:
            continue
        names = (job.cell.system, job.cell.query_set, job.cell.dataset)
        for form in plan.det:
            data = det_file(result, names, form)
            if data is not None:
                path = f"{prefix.rstrip('/')}/{job.cell}/det.{form}"
                store.put(path, data)
                written[f"{job.cell}/det.{form}"] = path
    return written


def _plot(result: Result, names: Sequence[str]) -> DetPlot | None:
    """The page's own plot of a board with one system."""
    run, curves = board_of_one(result, names)
    plots = det_plots(run, curves, iso_lines)
    return plots[0] if plots else None


def board_of_one(result: Result, names: Sequence[str]) -> tuple[RunBoards, dict[tuple[str, str, str], DetCurve]]:
    """The board of one system and its curve, thinned as pages have it; no curve where the cell has none."""
    system, query_set, dataset = (*names, "", "")[:3]
    entry = BoardEntry(system, "", True, 1, result.figures, "", "", "", result.signature)
    board = Board(query_set, dataset, ALL, (entry,))
    run = RunBoards({}, result.primary, (system,), (query_set,), (dataset,), (ALL,), (), (board,))
    columns = _columns(thinned(result.curve))
    if not columns or not np.isfinite(columns["p_miss"] + columns["p_fa"]).any():
        return run, {}
    curve = DetCurve(columns["p_miss"], columns["p_fa"], columns.get("twv"), columns["threshold"])
    return run, {(system, query_set, dataset): curve}


def _told(result: Result, plot: DetPlot) -> tuple[str, str]:
    """The points in words: the figures of the decisions and of the best threshold, with their rates."""
    said = []
    actual, best, _ = decided_and_best(result.figures) or ("", "", "")
    for mark, name in ((plot.traces[0].actual, actual), (plot.traces[0].best, best)):
        rates = "" if mark is None else mark.text.partition(" ")[2]
        said.append(f"{label(name).base} {short(result.figures[name].value)} at {rates}" if name else rates)
    return said[0], said[1]


def _columns(curve: Mapping[str, Sequence[Any]]) -> dict[str, Any]:
    """Columns of a sweep; where there are sweeps of events, those of the mean over events."""
    if not curve or not len(curve["threshold"]):
        return {}
    events = curve.get("event")
    rows = np.arange(len(curve["threshold"])) if events is None else np.flatnonzero(np.array(events, object) == "")
    return {name: np.asarray(column, np.float64)[rows] for name, column in curve.items() if name != "event"}


@cache
def _environment() -> jinja2.Environment:
    return new_environment()


def _shown(name: str) -> str:
    text = _NO_XML.sub("\N{REPLACEMENT CHARACTER}", printable(name))
    return text if len(text) <= _NAME_AT_MOST else f"{text[: _NAME_AT_MOST - 1]}…"


def _cairosvg() -> Any:
    try:
        import cairosvg
    except (ImportError, OSError) as error:  # the package, or the library behind it
        raise UsageError(
            f"PDF is drawn by CairoSVG, which is not there ({error}). Install rescore[pdf] and Cairo "
            "(Debian: libcairo2), or write an .svg."
        ) from error
    return cairosvg


def _pdf(svg: str) -> bytes:
    """The drawing as PDF, fonts embedded; without the time it was made at, so that equal drawings are equal bytes."""
    made: bytes = _cairosvg().svg2pdf(bytestring=svg.encode("utf-8", "replace"))
    return _MADE_ON.sub(b"/CreationDate (D:19700101000000", made)
