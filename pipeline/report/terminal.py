"""The boards on a terminal."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from rich.box import SIMPLE_HEAD
from rich.console import Console
from rich.table import Table
from rich.text import Text

from pipeline.report.board import ALL, Board, BoardEntry, RunBoards, read_run
from pipeline.report.headline import best_of, headline, is_best
from pipeline.report.words import UNDEFINED, label, printable, reason_text, short, unit_text

if TYPE_CHECKING:
    import xarray as xr

COLUMNS = 6  # what a terminal of 80 columns holds


def print_boards(grid: Mapping[str, xr.Dataset], console: Console | None = None) -> None:
    """Print one table per (query set, dataset), condition ``all``, and below it what failed and why."""
    show_boards(read_run(grid), console)


def show_boards(run: RunBoards, console: Console | None = None) -> None:
    """Print the boards of a run that is read already."""
    console = console or Console()
    for board in run.boards_of(ALL):
        console.print(board_table(run, board))
        for entry in board.entries:
            if entry.failed:
                console.print(_failure(entry))
        console.print()


def board_table(run: RunBoards, board: Board) -> Table:
    """One board with the headline measures, best first, failed systems last."""
    title = Text(f"{printable(board.query_set)} × {printable(board.dataset)}", style="bold")
    table = Table(title=title, title_justify="left", header_style="bold", box=SIMPLE_HEAD, pad_edge=False)
    table.add_column("#", justify="right")
    table.add_column("system", overflow="fold")
    shown = headline(run)[:COLUMNS]
    for measure in shown:
        unit = unit_text(measure.unit)
        table.add_column(Text(f"{label(measure.name)}{f' [{unit}]' if unit else ''}"), justify="right")
    bests = best_of(board, shown)
    for entry in board.entries:
        cells = [_cell(entry, measure.name, bests) for measure in shown]
        table.add_row(Text(str(entry.rank) if entry.rank else "–"), _name(entry), *cells)
    return table


def _name(entry: BoardEntry) -> Text:
    name = Text(printable(entry.system))
    if entry.replaced_by:
        name.append(f"\nreplaced by {printable(entry.replaced_by)}", style="dim")
    elif not entry.primary:
        name.append("\ncontrastive", style="dim")
    if entry.failed:
        name.append(f"\n{printable(entry.failed)}", style="red")
    return name


def _cell(entry: BoardEntry, measure: str, bests: Mapping[str, float | None]) -> Text:
    if entry.failed:
        return Text(UNDEFINED, style="dim")
    figure = entry.figures[measure]
    text = Text(short(figure.value), style="bold" if is_best(entry, measure, bests) else "")
    if figure.reason:
        text.append(f"\n{printable(figure.reason)}", style="dim")
    return text


def _failure(entry: BoardEntry) -> Text:
    parts = [entry.failed_where, entry.failed_message or reason_text(entry.failed)]
    told = ": ".join(printable(part) for part in parts if part)
    return Text.assemble((printable(entry.system), "bold"), f" {printable(entry.failed)}: ", (told, "dim"))
