"""A season as its page shows it: phases, deadlines, boards released so far, withdrawn rows, uploads, keys."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from pipeline.grid import load_grid, load_run, reports_of
from pipeline.report.board import ALL, Board, BoardEntry, RunBoards, read_run
from pipeline.report.boards_file import NAME, read_boards
from pipeline.report.disclosure import disclosed
from pipeline.report.headline import headline
from pipeline.season import ledger
from pipeline.season.releases import Release, released, state_of
from pipeline.season.rules import SeasonPhase
from pipeline.season.standing import WITHDRAWN, Standing
from pipeline.store.blobs import Store

NAMED, ANONYMOUS, OWN = "named", "anonymous", "own"


@dataclass(frozen=True)
class Struck:
    """A row that was on a released board and is withdrawn now."""

    entry: BoardEntry
    reason: str


@dataclass(frozen=True)
class ShownBoard:
    """One board and what is struck from it."""

    board: Board
    struck: tuple[Struck, ...] = ()
    before: Mapping[str, int] = field(default_factory=dict)
    """Ranks on the board that was released before, by system."""


@dataclass(frozen=True)
class ShownRelease:
    """One release: its boards as they were released, or with what was withdrawn since struck."""

    release: Release
    folder: str
    run: RunBoards
    boards: tuple[ShownBoard, ...]

    @property
    def headline(self) -> Any:
        """The measures that its tables show."""
        return headline(self.run)

    @property
    def overlays(self) -> list[dict[str, Any]]:
        """Overlays of the evaluation, as far as they may be shown."""
        layers: list[dict[str, Any]] = json.loads(self.run.attributes.get("overlays", "[]"))
        return layers


@dataclass(frozen=True)
class ShownPhase:
    """One phase: its state, the current boards, and every earlier release as it was."""

    phase: SeasonPhase
    state: str
    current: ShownRelease | None
    earlier: tuple[ShownRelease, ...]
    keys: tuple[Mapping[str, Any], ...]
    missing: tuple[tuple[str, str], ...]


def folder_of(phase: SeasonPhase, release: Release) -> str:
    """The folder of a release below the season's public one; it is written once."""
    return f"{phase.name}/{release.number:02d}-{release.state}"


def phases(store: Store, season: Standing) -> tuple[ShownPhase, ...]:
    """Every phase as participants may see it."""
    return tuple(_phase(store, season, phase) for phase in season.rules.phases)


def _phase(store: Store, season: Standing, phase: SeasonPhase) -> ShownPhase:
    shown = releases_of(store, season, phase) if phase.disclosure == NAMED else []
    current = with_struck(season, phase, shown) if shown else None
    keys = tuple(e.body for e in season.entries if e.kind == ledger.KEY and e.body["phase"] == phase.name)
    state = state_of(store, phase.kind, phase.evaluation)
    return ShownPhase(phase, state, current, tuple(shown[:-1]), keys, season.missing_boards(phase.name))


def releases_of(store: Store, season: Standing, phase: SeasonPhase) -> list[ShownRelease]:
    """Every release of a phase as it was, oldest first, whoever may see it."""
    return [_release(store, season, phase, one) for one in released(store, phase.evaluation)]


def _release(store: Store, season: Standing, phase: SeasonPhase, release: Release) -> ShownRelease:
    run = boards_of(store, release.run)
    parts = {fate.run.board for fate in season.fates if fate.run and fate.submission.phase == phase.name}
    shown = [condition for condition in run.conditions if condition == ALL or condition in parts]
    boards = tuple(ShownBoard(_without_canaries(board)) for condition in shown for board in run.boards_of(condition))
    return ShownRelease(release, folder_of(phase, release), run, boards)


def _without_canaries(board: Board) -> Board:
    """A board as participants see it: the organiser's own checks stand on none, whatever a release had."""
    return replace(board, entries=tuple(entry for entry in board.entries if not entry.canary))


def boards_of(store: Store, run_id: str) -> RunBoards:
    """All boards of a run."""
    run = load_run(store, run_id)
    if NAME in run.reports:
        return read_boards(reports_of(store, run))
    return read_run(disclosed(load_grid(store, run), ())[0])


def with_struck(season: Standing, phase: SeasonPhase, shown: Sequence[ShownRelease]) -> ShownRelease:
    """The last of some releases with every row struck that was released once and is withdrawn now."""
    gone = {
        fate.run.system: fate.reason
        for fate in season.fates
        if fate.run is not None and fate.state == WITHDRAWN and fate.submission.phase == phase.name
    }
    counting = {fate.run.system for fate in season.counting(phase.name) if fate.run is not None}
    gone = {system: reason for system, reason in gone.items() if system not in counting}
    found = []
    for board in shown[-1].boards:
        kept = tuple(entry for entry in board.board.entries if entry.system not in gone)
        rows = _rows_of(shown, board.board)
        struck = tuple(Struck(rows[system], gone[system]) for system in sorted(gone) if system in rows)
        before = {system: entry.rank for system, entry in _rows_of(shown[-2:-1], board.board).items()}
        found.append(ShownBoard(replace(board.board, entries=kept), struck, before))
    return replace(shown[-1], boards=tuple(found))


def _rows_of(shown: Sequence[ShownRelease], board: Board) -> dict[str, BoardEntry]:
    """The last released row of every system on the board of one cell."""
    return {
        entry.system: entry
        for release in shown
        for one in release.boards
        if replace(one.board, entries=()) == replace(board, entries=())
        for entry in one.board.entries
    }
