"""The public folder of a season, ``public/<season>/``: participants may read nothing else.

A release's folder is written once and never again. The season's own page is derived from the ledger and made anew.
"""

from __future__ import annotations

import json
from typing import Any

from pipeline.grid import load_run
from pipeline.report.board import ALL
from pipeline.report.boards_file import boards_files
from pipeline.report.page import environment
from pipeline.report.parts import files_of, parts_of
from pipeline.report.seasons.view import NAMED, ShownPhase, ShownRelease, phases
from pipeline.season.beside import OUTPUTS
from pipeline.season.releases import released
from pipeline.season.standing import Standing, standing
from pipeline.store.blobs import Store

PUBLIC = "public"


def publish_season(store: Store, season: str) -> str:
    """Write all that may be seen by now; returns the path of the season's page. Repeating it changes nothing."""
    found = standing(store, season)
    shown = phases(store, found)
    for phase in shown:
        for release in (*phase.earlier, *([phase.current] if phase.current else [])):
            _freeze(store, found, phase, release)
        if phase.phase.kind != "eval" and phase.phase.disclosure == NAMED:
            _pages(store, season, phase)
    path = f"{PUBLIC}/{season}/index.html"
    store.put(path, season_page(found, shown).encode("utf-8", "replace"))
    store.put(f"{PUBLIC}/{season}/submissions.json", json.dumps(uploads(found), sort_keys=True).encode())
    return path


def season_page(found: Standing, shown: tuple[ShownPhase, ...]) -> str:
    """The season's page as HTML text."""
    template = environment().get_template("season.html.j2")
    return template.render(season=found, rules=found.rules, phases=shown, uploads=uploads(found)["submissions"])


def uploads(found: Standing) -> dict[str, Any]:
    """Every upload with its digests and what became of it, without what was wrong with it: that is its team's."""
    rows = [
        {
            "number": fate.submission.number,
            "phase": fate.submission.phase,
            "team": fate.submission.team,
            "system": fate.run.system if fate.run else "",
            "kind": fate.run.kind if fate.run else OUTPUTS,
            "version": fate.run.version if fate.run else 0,
            "primary": fate.run.primary if fate.run else False,
            "board": fate.run.board if fate.run else "",
            "arrival": fate.submission.arrival,
            "late": fate.submission.late,
            "state": fate.state,
            "reason": fate.reason,
            "files": [{name: entry[name] for name in ("name", "sha256", "n_bytes")} for entry in fate.submission.files],
        }
        for fate in found.fates
    ]
    return {"season": found.season, "submissions": rows}


def _freeze(store: Store, found: Standing, phase: ShownPhase, release: ShownRelease) -> None:
    """The boards of a release as they were, exclusively created: who comes later finds them."""
    base = f"{PUBLIC}/{found.season}/{release.folder}"
    template = environment().get_template("season_board.html.j2")
    page = template.render(phase=phase, shown=release, teams=found.teams)
    run = load_run(store, release.release.run)
    files = {
        "index.html": page.encode("utf-8", "replace"),
        **boards_files(release.run, files_of(parts_of(release.run.boards_of(ALL)))),
        "board.csv": store.get(run.reports["board.csv"]),
    }
    told = {entry.description for one in release.boards for entry in one.board.entries if entry.description}
    files |= {name: store.get(run.reports[name]) for name in sorted(told)}
    for name, data in files.items():
        store.create(f"{base}/{name}", data)


def _pages(store: Store, season: str, phase: ShownPhase) -> None:
    """Of dry runs and development sets, whose keys participants have, the whole pages of the runs."""
    for release in released(store, phase.phase.evaluation):
        run = load_run(store, release.run)
        base = f"{PUBLIC}/{season}/{phase.phase.name}/{release.number:02d}-{release.state}"
        for name, path in run.reports.items():
            store.create(f"{base}/{'run.html' if name == 'index.html' else name}", store.get(path))
