"""Packets: one folder for each team, with what is its own and what it may see of others."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from pipeline.engine.cell import load_result
from pipeline.engine.plan import load_plan
from pipeline.engine.result import document
from pipeline.grid import load_grid, load_run
from pipeline.grid.publish import named
from pipeline.report.board import ALL, Entry, Run
from pipeline.report.disclosure import disclosed
from pipeline.report.page import environment
from pipeline.report.season_view import ANONYMOUS, NAMED, ShownBoard, ShownRelease, boards_of, folder_of
from pipeline.season.releases import released
from pipeline.season.roster import Team
from pipeline.season.standing import Standing, standing
from pipeline.season.submit import receipt
from pipeline.store.blobs import Store

PACKETS = "packets"


def write_packets(store: Store, season: str) -> tuple[str, ...]:
    """Write every team's packet, ``packets/<season>/<team>/``; returns their paths.

    There are receipts at any time, figures of a phase only once they are released.
    """
    found = standing(store, season)
    for team in found.teams.values():
        for name, data in _files(store, found, team):
            store.put(f"{PACKETS}/{season}/{team.id}/{name}", data)
    return tuple(f"{PACKETS}/{season}/{team}" for team in found.teams)


def _files(store: Store, found: Standing, team: Team) -> Iterator[tuple[str, bytes]]:
    receipts = [receipt(found, one) for one in found.submissions if one.team == team.id]
    yield "receipts.json", json.dumps({"team": team.id, "receipts": receipts}, default=list, indent=1).encode()
    shown = []
    for phase in found.rules.phases:
        for release in released(store, phase.evaluation)[-1:]:
            run = seen_by(boards_of(store, release.run), team.id, phase.disclosure)
            base = phase.name
            boards = tuple(ShownBoard(board) for board in run.boards_of(ALL) if board.entries)
            shown.append((phase, ShownRelease(release, folder_of(phase, release), run, boards)))
            own = _own(store, release.run, team.id)
            yield f"{base}/results.json", json.dumps({"results": own}, allow_nan=False).encode()
            yield f"{base}/queries.csv", _queries(own)
    template = environment().get_template("season_packet.html.j2")
    page = template.render(season=found, team=team, receipts=receipts, shown=shown)
    yield "index.html", page.encode("utf-8", "replace")


def seen_by(run: Run, team: str, disclosure: str) -> Run:
    """The boards of a run as one team may see them: others by name, without names, or not at all."""
    strangers = sorted({e.system for board in run.boards for e in board.entries if e.team != team})
    aliases = {name: f"system {at}" for at, name in enumerate(strangers, 1)}

    def entry(one: Entry) -> Entry | None:
        if disclosure == NAMED or one.team == team:
            return one
        if disclosure == ANONYMOUS:
            return replace(one, system=aliases[one.system], team="", failed_where="", failed_message="", signature="")
        return None

    boards = tuple(
        replace(board, entries=tuple(seen for one in board.entries if (seen := entry(one)) is not None))
        for board in run.boards
    )
    systems = tuple(dict.fromkeys(one.system for board in boards for one in board.entries))
    return replace(run, boards=boards, systems=systems)


def _own(store: Store, run_id: str, team: str) -> list[dict[str, Any]]:
    """The whole results of a team's own systems, as far as their datasets' disclosure goes."""
    run = load_run(store, run_id)
    plan = load_plan(store, run.plan)
    systems = {system.name for system in plan.systems if system.team == team}
    own = [named(load_result(store, job.address), plan) for job in plan.jobs if job.cell.system in systems]
    grid = load_grid(store, run)
    _, shown = disclosed(grid, own)
    return [document(result, curve=True) for result in shown]


def _queries(own: list[dict[str, Any]]) -> bytes:
    """Every query (event, language, speaker) of a team's own results as one table."""
    rows = [{**result["cell"], **block} for result in own for block in result.get("blocks", ())]
    out = io.StringIO()
    writer = csv.DictWriter(out, list(dict.fromkeys(name for row in rows for name in row)), restval="")
    writer.writeheader()
    writer.writerows(rows)
    return out.getvalue().encode()
