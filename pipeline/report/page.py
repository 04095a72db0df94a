"""The run's page: one self-contained HTML file, readable without script, that asks nothing of any network."""

from __future__ import annotations

import base64
import hashlib
import json
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from functools import cache
from importlib.resources import files
from typing import Any

import jinja2
import xarray as xr
from markupsafe import Markup

from pipeline.engine.result import Result
from pipeline.meta.intervals import BoardIntervals
from pipeline.report import words
from pipeline.report.alignments import aligned_cells
from pipeline.report.board import ALL, Board, BoardEntry, RunBoards
from pipeline.report.changes.diff import Diff
from pipeline.report.changes.documents import cause_text
from pipeline.report.changes.documents import headline as moved_headline
from pipeline.report.changes.moved import NOTHING, movement
from pipeline.report.environments import new_environment
from pipeline.report.families.beyond import FILTERS, beyond
from pipeline.report.headline import Bar, bars, best_of, bound, headline, is_best, shades
from pipeline.report.load import load_table
from pipeline.report.one_system import file_names
from pipeline.report.parts import parts_of
from pipeline.report.plots import ape as ape_plot
from pipeline.report.plots import det
from pipeline.report.plots.rows import margins
from pipeline.report.provenance import Provenance, provenance
from pipeline.report.shown import PageContents, shown
from pipeline.season.times import utc


@dataclass(frozen=True, slots=True)
class Script:
    """The page's script as it stands there, and the SHA-256 of its bytes in base 64."""

    text: Markup
    sha256: str


@dataclass(frozen=True, slots=True)
class Notice:
    """Findings on one cell's inputs: problems of a failed cell, warnings of a scored one."""

    result: Result

    @property
    def n_hidden(self) -> int:
        """Findings that were counted but not kept."""
        return max(self.result.n_findings - len(self.result.findings), 0)


def render_page(
    grid: Mapping[str, xr.Dataset],
    results: Iterable[Result],
    changes: Diff | None = None,
    intervals: Iterable[BoardIntervals] = (),
    *,
    system: str = "",
) -> str:
    """The page of one run as HTML text, as far as the disclosure of its datasets lets it be shown.

    ``results`` give the failures' and warnings' full lists, ``changes`` is what moved since an earlier run,
    ``intervals`` are those of the primary measure. With ``system`` it is the page of that system alone.
    """
    whole = shown(grid, results, changes, intervals)
    return page_of(whole.of(system) if system else whole)


def page_of(view: PageContents) -> str:
    """The page of a run, or of one of its systems, as HTML text."""
    run, grid, results = view.run, view.grid, view.results
    boards = run.boards_of(ALL)
    parts = parts_of(boards) if not view.system and view.board is None else ()
    if parts:  # what stands on the pages of boards is not made for this one
        grid, results = {"": grid[""]}, ()
    notices = [Notice(result) for result in results if result.cell is not None and result.findings]
    return (
        environment()
        .get_template("page.html.j2")
        .render(
            run=run,
            system=view.system,
            files=file_names(run.systems),
            script=script(),
            levels={name: level for name, level in view.levels.items() if not level.shows_all},
            parts=parts,
            board_of=view.board,
            up="" if view.board is None else "../",
            changes=None if parts else view.changes,
            moved=NOTHING if parts else movement(view.changes, run),
            uncertain=view.known,
            margins=() if parts else margins(run, view.known),
            provenance=_told(provenance(run, view.results), len(parts)),
            attributes=run.attributes,
            overlays=json.loads(str(run.attributes.get("overlays", "[]"))),
            n_cells=len(run.systems) * len(boards),
            boards=boards,
            others=_other_conditions(run),
            headline=headline(run),
            bound=bound(run),
            bars=bars(run, boards),
            shades=shades(run, boards),
            no_bar=Bar(0.0, 0.0),
            overview=_overview(run, boards),
            counts=_counts(boards),
            failed=[(board, entry) for board in boards for entry in board.entries if entry.failed],
            facts=_facts(results),
            load=load_table(run, grid),
            **beyond(run, grid, results, drawn=not parts),
            aligned=aligned_cells(view),
            problems=[notice for notice in notices if notice.result.failed],
            warnings=[notice for notice in notices if not notice.result.failed],
        )
    )


def _told(whole: Provenance, n_parts: int) -> Provenance:
    """Where figures come from, as an index tells it: of its inputs the organisers' alone."""
    return replace(whole, inputs=tuple(one for one in whole.inputs if not one.system)) if n_parts else whole


def render_changes(changes: Diff) -> str:
    """A comparison of two runs as a page of its own."""
    return environment().get_template("changes_page.html.j2").render(changes=changes, moved=NOTHING)


@cache
def script() -> Script:
    """The page's script, and its digest for the page's policy: no other script runs there."""
    text = files("pipeline.report").joinpath("templates", "script.js").read_text("utf-8")
    digest = base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()
    return Script(Markup(text), digest)  # noqa: S704 - the project's own file


@cache
def environment() -> jinja2.Environment:
    """The templates of the page."""
    made = new_environment()
    filters: dict[str, Any] = {
        "exact": words.exact,
        "fact": words.fact,
        "unit_text": words.unit_text,
        "percent": lambda share: f"{100 * share:.1f}%",
        "describe": det.describe,
        "cause_text": cause_text,
        "moved_headline": moved_headline,
        "utc": utc,
        **FILTERS,
    }
    made.filters.update(filters)
    made.globals.update(best_of=best_of, is_best=is_best, det=det, ape_highest=ape_plot.HIGHEST)
    return made


def _overview(run: RunBoards, boards: tuple[Board, ...]) -> list[tuple[BoardEntry, list[BoardEntry]]]:
    """Systems × boards in the order of the first board: a system's entry there, then its entry on every board."""
    by_system = [{entry.system: entry for entry in board.entries} for board in boards]
    if not boards or not run.systems:
        return []
    return [(entry, [entries[entry.system] for entries in by_system]) for entry in boards[0].entries]


def _counts(boards: tuple[Board, ...]) -> list[tuple[str, int]]:
    """How many cells were scored ("") and how many failed for each reason."""
    counted = Counter(entry.failed for board in boards for entry in board.entries)
    return sorted(counted.items())


def _facts(results: Iterable[Result]) -> dict[tuple[str, str, str], Mapping[str, float | str]]:
    """Facts of cells, by (query set, dataset, system)."""
    return {(r.cell.query_set, r.cell.dataset, r.cell.system): r.facts for r in results if r.cell is not None}


def _other_conditions(run: RunBoards) -> list[tuple[str, tuple[Board, ...]]]:
    """Conditions beside the whole, each with the boards where some system was scored in it."""
    found = ((condition, run.boards_of(condition)) for condition in run.conditions if condition != ALL)
    return [(condition, tuple(board for board in boards if _is_scored(board))) for condition, boards in found]


def _is_scored(board: Board) -> bool:
    reasons = ((figure.reason, entry.failed) for entry in board.entries for figure in entry.figures.values())
    return any(reason is None or reason not in ("no_such_condition", failed) for reason, failed in reasons)
