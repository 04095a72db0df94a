"""A comparison of two runs as JSON, as text and as a section of the page."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import asdict
from typing import Any

from pipeline.engine.result import plain
from pipeline.report.changes.diff import Cause, CellDiff, Diff, Moved
from pipeline.report.words import UNDEFINED, label, printable, short


def diff_document(diff: Diff) -> dict[str, Any]:
    """The comparison as strict JSON: everything that moved."""
    return {
        "before": diff.before,
        "after": diff.after,
        "evaluation": diff.evaluation,
        "primary": diff.primary,
        "n_cells": diff.n_cells,
        "n_differing": len(diff.cells),
        "ranked_by": [{"board": board, "before": was, "after": now} for board, was, now in diff.ranked_by],
        "causes": [{**asdict(cause), "n_cells": n} for cause, n in diff.causes],
        "cells": [_cell_document(cell) for cell in diff.cells],
    }


def _cell_document(cell: CellDiff) -> dict[str, Any]:
    return {
        **asdict(cell.cell),
        "state": cell.state,
        "failed": dict(zip(("before", "after"), cell.failed, strict=True)),
        "rank": dict(zip(("before", "after"), cell.rank, strict=True)),
        "causes": [asdict(cause) for cause in cell.causes],
        "figures": {moved.name: _moved_document(moved) for moved in cell.figures},
        "queries": {query: {moved.name: _moved_document(moved) for moved in counts} for query, counts in cell.queries},
    }


def _moved_document(moved: Moved) -> dict[str, Any]:
    told = {"before": moved.before, "after": moved.after, "by": moved.by}
    return told if math.isfinite(moved.by) else {name: plain(value) for name, value in told.items()}


def diff_text(diff: Diff, *, everything: bool = False) -> str:
    """The comparison as lines for a terminal: the primary measure, or ``everything`` that moved."""
    lines = [f"{diff.evaluation}: run {diff.before} → {diff.after}"]
    lines += [
        f"{printable(board)} is ranked by {label(now)} instead of {label(was)}." for board, was, now in diff.ranked_by
    ]
    if not diff.cells:
        return "\n".join([*lines, f"Nothing moved in {diff.n_cells} cells."])
    moved = sum(cell.has_moved for cell in diff.cells)
    lines.append(f"{moved} of {diff.n_cells} cells moved; {len(diff.cells) - moved} were scored again to the same.")
    if diff.causes:
        lines += ["", "What was changed"]
        lines += [f"  {cause_text(cause)}: {n} cell{'s' if n > 1 else ''}" for cause, n in diff.causes]
    lines += ["", "What moved"]
    for cell in diff.cells:
        if cell.has_moved:
            lines += list(_cell_lines(diff, cell, everything))
    return "\n".join(lines)


def cause_text(cause: Cause) -> str:
    """A cause in a phrase."""
    if cause.kind == "input":
        name = f"{cause.name} {printable(cause.file)}".rstrip()
        return f"{name} ({cause.before or 'none'} → {cause.after or 'none'})"
    name = {"rank": "ranking measure", "rescore": "version of rescore"}.get(cause.name, cause.name)
    return f"{name} {printable(cause.before) or 'none'} → {printable(cause.after) or 'none'}"


def _cell_lines(diff: Diff, cell: CellDiff, everything: bool) -> Iterator[str]:
    head = f"  {printable(str(cell.cell))}"
    if cell.state in ("new", "withdrawn"):
        yield f"{head}: {cell.state}"
        return
    yield f"{head}: {'; '.join(headline(diff, cell))}"
    if not everything:
        return
    for moved in cell.figures:
        yield f"    {label(moved.name)}: {moved_text(moved)}"
    for query, counts in cell.queries:
        yield f"    {printable(query)}: {', '.join(f'{moved.name} {moved_text(moved)}' for moved in counts)}"


def headline(diff: Diff, cell: CellDiff) -> list[str]:
    """The first line on a cell's movement: failure, primary measure, rank, and how much else moved."""
    parts = []
    if cell.failed[0] != cell.failed[1]:
        parts.append(f"{cell.failed[0] or 'scored'} → {cell.failed[1] or 'scored'}")
    primary = [moved for moved in cell.figures if moved.name == diff.primary]
    parts += [f"{label(moved.name)} {moved_text(moved)}" for moved in primary]
    if cell.rank[0] != cell.rank[1]:
        parts.append(f"rank {cell.rank[0] or UNDEFINED} → {cell.rank[1] or UNDEFINED}")
    others = len(cell.figures) - len(primary)
    if others:
        parts.append(f"{others} {'other ' if primary else ''}figure{'s' if others > 1 else ''}")
    if cell.queries:
        parts.append(f"{len(cell.queries)} quer{'ies' if len(cell.queries) > 1 else 'y'}")
    return parts


def moved_text(moved: Moved) -> str:
    """Before, after and the difference."""
    by = "" if math.isnan(moved.by) else f" ({'+' if moved.by > 0 else ''}{short(moved.by)})"
    return f"{short(moved.before)} → {short(moved.after)}{by}"
