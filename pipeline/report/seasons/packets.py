"""Packets: one folder for each team, with what is its own and what it may see of others."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

from pipeline.engine.cell import load_result
from pipeline.engine.plan import load_plan
from pipeline.engine.result import document
from pipeline.grid import load_run
from pipeline.grid.disclosure import parse
from pipeline.grid.gather import description_file
from pipeline.grid.publish import named
from pipeline.report.board import BoardEntry
from pipeline.report.cell_tables import cell_files
from pipeline.report.disclosure import disclosed_result
from pipeline.report.page import environment
from pipeline.report.seasons.view import ANONYMOUS, NAMED, ShownBoard, ShownRelease, releases_of, with_struck
from pipeline.season.roster import RosterTeam
from pipeline.season.rules import SeasonPhase
from pipeline.season.standing import Standing, standing
from pipeline.season.submit import receipt
from pipeline.store.blobs import Store

PACKETS = "packets"


def write_packets(store: Store, season: str) -> tuple[str, ...]:
    """Write every team's packet, ``packets/<season>/<team>/``; returns their paths.

    There are receipts at any time, figures of a phase only once they are released. What a packet had before and has
    no more (a system was withdrawn) is taken out of it.
    """
    found = standing(store, season)
    shown = [
        (phase, with_struck(found, phase, releases))
        for phase in found.rules.phases
        if (releases := releases_of(store, found, phase))
    ]
    for team in found.teams.values():
        place = f"{PACKETS}/{season}/{team.id}"
        files = dict(_files(store, found, shown, team))
        for path in set(store.listing(place)) - {f"{place}/{name}" for name in files}:
            store.remove(path)
        for name, data in files.items():
            store.put(f"{place}/{name}", data)
    return tuple(f"{PACKETS}/{season}/{team}" for team in found.teams)


def _files(
    store: Store, found: Standing, shown: Sequence[tuple[SeasonPhase, ShownRelease]], team: RosterTeam
) -> Iterator[tuple[str, bytes]]:
    receipts = [receipt(found, one) for one in found.submissions if one.team == team.id]
    yield "receipts.json", json.dumps({"team": team.id, "receipts": receipts}, default=list, indent=1).encode()
    sections = []
    for phase, release in shown:
        own = dict(_own(store, release.release.run, team.id))
        yield from ((f"{phase.name}/{name}", data) for name, data in own.items())
        tables = sorted(name for name in own if name.endswith("/alignment.csv"))
        sections.append((phase, seen_by(release, team.id, phase.disclosure), tables))
    template = environment().get_template("season_packet.html.j2")
    page = template.render(season=found, team=team, receipts=receipts, sections=sections)
    yield "index.html", page.encode("utf-8", "replace")


def seen_by(release: ShownRelease, team: str, disclosure: str) -> ShownRelease:
    """A release as one team may see it: others by name, without names, or not at all.

    Aliases follow the order of the boards: that of names would give them away to who knows the roster.
    """
    rows = [entry for board in release.boards for entry in _entries(board)]
    strangers = dict.fromkeys(entry.system for entry in rows if entry.team != team)
    aliases = {name: f"system {at}" for at, name in enumerate(strangers, 1)}

    def seen(one: BoardEntry) -> BoardEntry | None:
        if disclosure == NAMED or one.team == team:
            return one
        if disclosure == ANONYMOUS:
            return replace(one, system=aliases[one.system], team="", failed_where="", failed_message="", signature="")
        return None

    boards = []
    for board in release.boards:
        entries = tuple(entry for one in board.board.entries if (entry := seen(one)) is not None)
        struck = tuple(row for row in board.struck if disclosure == NAMED or row.entry.team == team)
        own = {one.system for one in _entries(board) if disclosure == NAMED or one.team == team}
        before = {system: rank for system, rank in board.before.items() if system in own}
        if entries or struck:
            boards.append(ShownBoard(replace(board.board, entries=entries), struck, before))
    return replace(release, boards=tuple(boards))


def _entries(board: ShownBoard) -> tuple[BoardEntry, ...]:
    return (*board.board.entries, *(row.entry for row in board.struck))


def _own(store: Store, run_id: str, team: str) -> Iterator[tuple[str, bytes]]:
    """The whole results of a team's own systems, as far as their datasets' disclosure goes, and their alignments."""
    plan = load_plan(store, load_run(store, run_id).plan)
    systems = {system.name for system in plan.systems if system.team == team}
    jobs = [job for job in plan.jobs if job.cell.system in systems]
    levels = {name: parse(text) for name, text in plan.disclose.items()}
    shown = [disclosed_result(named(load_result(store, job.address), plan), levels) for job in jobs]
    own = [document(result, curve=True) for result in shown]
    yield "results.json", json.dumps({"results": own}, allow_nan=False).encode()
    yield "queries.csv", _queries(own)
    reports = load_run(store, run_id).reports
    for name in sorted({file for one in plan.systems if one.team == team and (file := description_file(one))}):
        yield name, store.get(reports[name])
    for job in jobs:
        for name, text in cell_files(store, plan, job).items():
            yield f"{job.cell}/{name}", text.encode("utf-8", "replace")


def _queries(own: list[dict[str, Any]]) -> bytes:
    """Every query (event, language, speaker) of a team's own results as one table."""
    rows = [{**result["cell"], **block} for result in own for block in result.get("blocks", ())]
    out = io.StringIO()
    writer = csv.DictWriter(out, list(dict.fromkeys(name for row in rows for name in row)), restval="")
    writer.writeheader()
    writer.writerows(rows)
    return out.getvalue().encode()
