"""A study's page: one self-contained HTML file without script, that asks nothing of any network."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

import jinja2

from pipeline.meta.analysis import AnalysedBoard, Analysis
from pipeline.meta.comparable import note
from pipeline.meta.intervals import LEVEL
from pipeline.meta.ranks import by_board, orders, ranked
from pipeline.meta.rows import PUBLISHED, Row
from pipeline.meta.variants import is_probe
from pipeline.report import words
from pipeline.report.board import MeasureInfo
from pipeline.report.environments import new_environment
from pipeline.report.meta import figures
from pipeline.report.meta.figures import Agreement
from pipeline.report.plots.drawing import Drawing
from pipeline.report.plots.marks import style
from pipeline.report.plots.pareto import HINT, pareto_plot
from pipeline.report.plots.xy import Plot

MOST_UNITS = 12
"""Hardest queries shown of each board; ``statistics.json`` has all."""
UNIT_NAMES = {"query": "queries", "event": "events", "segment": "segments", "speaker": "speakers"}
MOST_ROWS = 400
"""Rows of a table that the page shows; the files beside it have all."""
MOST_MAP = 24
"""Rankings in one heat map."""
COVERAGE = {
    "percentile": "88 to 92 % of them for 20 queries, 91 to 94 % for 50 and 93 to 95 % for 200",
    "bca": "91 to 93 % of them for 20 queries, 93 to 94 % for 50 and 95 % for 200",
}
"""How many 95 % intervals of ATWV, MTWV and Cnxe held the true figure in simulations (``python -m bench.coverage``)."""


@dataclass(frozen=True)
class StudyBoard:
    """A board with its figures."""

    board: AnalysedBoard
    title: str
    intervals: Drawing | None
    differences: Drawing | None
    bands: tuple[tuple[str, Drawing], ...]
    ranks: Drawing | None
    """The board's systems by several measures, on the board of the first one."""


def render_study(analysis: Analysis, paths: Mapping[str, str] | None = None) -> str:
    """The page as HTML text. ``paths`` name the files beside it."""
    styles = styles_of(analysis)
    boards = by_board(analysis.rows)
    tables = analysis.tables
    return (
        environment()
        .get_template("meta/page.html.j2")
        .render(
            study=analysis.study,
            rows=analysis.rows,
            n_scored=sum(row.kind != PUBLISHED for row in analysis.rows),
            published=[row for row in analysis.rows if row.kind == PUBLISHED][:MOST_ROWS],
            n_published=sum(row.kind == PUBLISHED for row in analysis.rows),
            evaluations=evaluations_of(analysis.rows),
            shown=[_shown(board, styles, boards, tables) for board in analysis.boards],
            board_maps=board_maps(tables),
            measure_maps=measure_maps(tables),
            rank_plots=rank_plots(analysis, styles, boards),
            load_plots=_load_plots(tables["load"], list(styles)),
            load_hint=HINT,
            tables={name: rows[:MOST_ROWS] for name, rows in tables.items()},
            n_rows={name: len(rows) for name, rows in tables.items()},
            files=sorted(path.rsplit("/", 1)[-1] for path in paths or {} if path.rsplit("/", 1)[-1] != "index.html"),
            coverage=COVERAGE[analysis.study.resampling.method] if analysis.study.resampling.level == LEVEL else "",
            most_units=MOST_UNITS,
            unit_names=UNIT_NAMES,
        )
    )


def styles_of(analysis: Analysis) -> dict[str, str]:
    """Classes of every system's line: the same in all figures."""
    names = dict.fromkeys(s for board in analysis.boards for s in board.intervals.intervals)
    names |= dict.fromkeys(name for row in analysis.rows for name in (row.system, row.system_as_given))
    return {name: style(at) for at, name in enumerate(names)}


def evaluations_of(rows: Iterable[Row]) -> list[dict[str, Any]]:
    """Evaluations in the table, one line each, with differences inside it."""
    found: dict[str, list[Row]] = {}
    for row in rows:
        if row.condition in ("all", "") and not is_probe(row.evaluation):
            found.setdefault(row.evaluation, []).append(row)
    lines = []
    for name, own in found.items():
        points = sorted({row.point for row in own if row.point})
        lines.append(
            {
                "name": name,
                "year": next((row.year for row in own if row.year), ""),
                "protocol": ", ".join(sorted({f"{row.protocol} {row.mode}".strip() for row in own})),
                "n_systems": len({row.system for row in own}),
                "n_boards": len({(row.query_set, row.dataset) for row in own}),
                "points": points[:4],
                "n_points": len(points),
                "run": own[0].run,
            }
        )
    return lines


def board_maps(tables: Mapping[str, Any]) -> list[tuple[str, Drawing]]:
    """tau-b between boards, a map for each measure: title and drawing."""
    rows = tables["board_agreement"]
    maps = [
        (f"{words.label(measure)}: rankings of boards", _map([row for row in rows if row["measure"] == measure]))
        for measure in dict.fromkeys(row["measure"] for row in rows)
    ]
    return [(title, made) for title, made in maps if made is not None]


def measure_maps(tables: Mapping[str, Any]) -> list[tuple[str, Drawing]]:
    """tau-b between measures, a map for each board of three measures or more: title and drawing."""
    boards: dict[tuple[str, str, str], list[Mapping[str, Any]]] = {}
    for row in tables["measure_agreement"]:
        named = {**row, **{side: str(words.label(row[side])) for side in ("first", "second")}}
        boards.setdefault((row["evaluation"], row["query_set"], row["dataset"]), []).append(named)
    maps = [(" ".join(filter(None, place)), _map(rows)) for place, rows in boards.items() if len(rows) > 1]
    return [(title, made) for title, made in maps if made is not None]


def _map(rows: Sequence[Mapping[str, Any]]) -> Drawing | None:
    names = list(dict.fromkeys(name for row in rows for name in (row["first"], row["second"])))[:MOST_MAP]
    values = {
        (row["first"], row["second"]): Agreement(
            row["tau_b"], row.get("note", ""), row.get("comparable", "yes") == "yes"
        )
        for row in rows
    }
    return figures.heat_map(names, values, "Kendall's tau-b")


def rank_plots(analysis: Analysis, styles: Mapping[str, str], boards: Mapping[Any, list[Row]]) -> list[Any]:
    """Rankings of two evaluations side by side, for every contrast and revision: title, drawing, what differs."""
    pairs = dict.fromkeys(
        (
            row["first"],
            row["second"],
            tuple(row["board"].split(" × ")),
            tuple(row["against"].split(" × ")),
            row["measure"],
        )
        for row in analysis.tables["contrasts"]
    )
    pairs |= dict.fromkeys(
        (
            row["before"],
            row["after"],
            (row["query_set"], row["dataset"]),
            (row["query_set"], row["dataset"]),
            row["measure"],
        )
        for row in analysis.tables["revisions"]
    )
    made = []
    for first, second, one, other, measure in pairs:
        sides = [boards.get((first, *one, measure), []), boards.get((second, *other, measure), [])]
        shared = {row.system for row in sides[0]} & {row.system for row in sides[1]}
        columns = [
            (name, _ranks([row for row in side if row.system in shared]))
            for name, side in zip((first, second), sides, strict=True)
        ]
        drawing = figures.rank_plot(columns, styles)
        if drawing is not None:
            where = " × ".join(one) if one == other else f"{' × '.join(one)} against {' × '.join(other)}"
            made.append((f"{words.label(measure)}: {first} → {second}, {where}", drawing, note([*sides[0], *sides[1]])))
    return made


def _ranks(rows: Sequence[Row]) -> dict[str, float]:
    return ranked(orders(rows))


def _shown(
    board: AnalysedBoard, styles: Mapping[str, str], boards: Mapping[Any, list[Row]], tables: Mapping[str, Any]
) -> StudyBoard:
    own = board.intervals
    place = (board.evaluation, own.query_set, own.dataset)
    compared = dict.fromkeys(
        name
        for row in tables["measure_agreement"]
        if (row["evaluation"], row["query_set"], row["dataset"]) == place
        for name in (row["first"], row["second"])
    )
    columns = [(str(words.label(name)), _ranks(boards[*place, name])) for name in compared]
    ranks = figures.rank_plot(columns, styles) if own.measure in list(compared)[:1] else None
    bands = tuple((_band_title(b.parameter, b.measure), d) for b in board.bands if (d := figures.band_plot(b, styles)))
    title = f"{words.label(own.measure)}: {board.evaluation}, {own.query_set} × {own.dataset}"
    return StudyBoard(
        board, title, figures.interval_plot(board, styles), figures.difference_plot(board, styles), bands, ranks
    )


def _band_title(parameter: str, measure: str) -> str:
    named = {"beta": "β", "p_target": "P_target", "tolerance_s": "tolerance (s)"}
    return f"{words.label(measure)} over {named.get(parameter, parameter)}"


def _load_plots(rows: Sequence[Mapping[str, Any]], systems: Sequence[str]) -> dict[str, list[tuple[str, Plot]]]:
    """By evaluation title and plot of every board, as the page of a run has them."""
    made: dict[str, list[tuple[str, Plot]]] = {}
    places = {system: at for at, system in enumerate(systems)}
    for place in dict.fromkeys((r["evaluation"], r["query_set"], r["dataset"], r["measure"]) for r in rows):
        own = [r for r in rows if (r["evaluation"], r["query_set"], r["dataset"], r["measure"]) == place]
        points = [(row["system"], places[row["system"]], row["load"], row["value"]) for row in own]
        primary = MeasureInfo(place[3], "", own[0]["better"], "")
        cost = MeasureInfo(own[0]["load_measure"], own[0]["load_unit"], "lower", "")
        plot = pareto_plot((place[1], place[2]), points, primary, cost)
        if plot is not None:
            made.setdefault(place[0], []).append((f"{words.label(place[3])}: {place[1]} × {place[2]}", plot))
    return made


def cell(value: Any) -> str:
    """A value of a table as text: numbers rounded, — for none."""
    if isinstance(value, bool | str):
        return words.printable(str(value))
    if isinstance(value, float) and value.is_integer() and abs(value) < 1e6:
        return f"{value:.0f}".replace("-", words.MINUS)
    return words.UNDEFINED if value is None else words.short(float(value))


def is_number(value: Any) -> bool:
    """Whether a value of a table is set flush right."""
    return isinstance(value, int | float) and not isinstance(value, bool)


@cache
def environment() -> jinja2.Environment:
    """The templates of the page."""
    made = new_environment()
    made.filters["cell"] = cell
    made.tests["number"] = is_number
    return made
