"""``rescore season …``: begin a season, see how it stands."""

from __future__ import annotations

import argparse
from typing import Any

from pipeline.cli.output import columns, print_json, shown
from pipeline.cli.runs import add_store
from pipeline.cli.seasons import decisions as season_decisions
from pipeline.store.blobs import Store


def register(subparsers: Any) -> None:
    """Add the command and what it has below."""
    parser = subparsers.add_parser(
        "season", help="rules, roster, ledger and decisions of a season", allow_abbrev=False,
        description="A season: phases with deadlines, who takes part, what was handed in, what was decided.",
    )  # fmt: skip
    below = parser.add_subparsers(metavar="COMMAND", required=True)
    _opening(below)
    season_decisions.register(below)
    one = below.add_parser("collect", help="submit what is new in a drop folder", allow_abbrev=False)
    one.add_argument("drop", metavar="DROP", help="a folder or bucket prefix: DROP/PHASE/TEAM/FILE or …/FOLDER/FILES")
    one.add_argument("--settled", type=float, default=60.0, metavar="SECONDS", help="leave younger files be")
    add_named(one)
    one.set_defaults(command=collect_command)
    one = below.add_parser("packets", help="write every team's folder, and what all may see", allow_abbrev=False)
    add_named(one)
    one.set_defaults(command=packets)
    one = below.add_parser("show", help="how it stands: every upload and what became of it", allow_abbrev=False)
    add_named(one)
    one.set_defaults(command=show)


def _opening(below: Any) -> None:
    parser = below.add_parser(
        "open", help="begin a season, or change its rules or roster", allow_abbrev=False,
        description="Enter the rules and the roster of a season file in the ledger. Contact data of the roster is kept "
        "apart. Said again, what changed is entered as a new version.",
    )  # fmt: skip
    parser.add_argument("season_file", metavar="SEASON.yaml")
    parser.add_argument("--by", default="organiser", metavar="NAME")
    add_store(parser)
    parser.set_defaults(command=open_season)


def add_named(parser: argparse.ArgumentParser) -> None:
    """Add ``--season`` and the store."""
    parser.add_argument("--season", metavar="NAME", help="default: the only one in the store")
    add_store(parser)


def open_season(args: argparse.Namespace) -> int:
    """Enter rules and roster; 0."""
    from pipeline.config.season import load_roster, load_season
    from pipeline.season.opening import enter

    rules, roster_url = load_season(args.season_file)
    roster = load_roster(roster_url) if roster_url else None
    teams = roster.teams if roster is not None else ()
    contacts = roster.contacts if roster is not None else {}
    made = enter(Store(args.store), rules, teams, contacts, by=args.by)
    if args.json:
        print_json({"season": rules.name, "entries": [entry.number for entry in made], "n_teams": len(teams)})
    else:
        told = ", ".join(f"{entry.kind} is entry {entry.number}" for entry in made) or "nothing changed"
        print(shown(f"Season {rules.name}: {told}."))
    return 0


def collect_command(args: argparse.Namespace) -> int:
    """Submit what is new and say what became of it; 0."""
    from pipeline.season.drop import collect
    from pipeline.season.ledger import find_season

    store = Store(args.store)
    found = collect(store, find_season(store, args.season), args.drop, settled_s=args.settled)
    if args.json:
        taken = [{"number": one.number, "team": one.team, "accepted": one.accepted} for one in found.submissions]
        left = {name: list(getattr(found, name)) for name in ("unsettled", "strays", "unreadable")}
        print_json({"submissions": taken, **left})
        return 0
    for one in found.submissions:
        print(shown(f"no. {one.number} of {one.team} in {one.phase}: {'accepted' if one.accepted else 'refused'}"))
    for name in found.unreadable:
        print(shown(f"  {name}: may not be read, and is not taken"))
    for name in found.strays:
        print(shown(f"of no phase and team: {name}"))
    return 0


def packets(args: argparse.Namespace) -> int:
    """Write packets and the public folder; 0."""
    from pipeline.report.seasons.packets import write_packets
    from pipeline.report.seasons.public import publish_season
    from pipeline.season.ledger import find_season

    store = Store(args.store)
    season = find_season(store, args.season)
    paths = [publish_season(store, season), *write_packets(store, season)]
    if args.json:
        print_json({"paths": [store.url(path) for path in paths]})
    else:
        print(shown("\n".join(store.url(path) for path in paths)))
    return 0


def show(args: argparse.Namespace) -> int:
    """Print every upload with its receipt's state; 0."""
    from pipeline.season.ledger import find_season
    from pipeline.season.standing import standing
    from pipeline.season.submit import receipt

    store = Store(args.store)
    found = standing(store, find_season(store, args.season))
    if args.json:
        receipts = [receipt(found, one) for one in found.submissions]
        missing = {phase.name: found.missing_boards(phase.name) for phase in found.rules.phases}
        print_json({"season": found.season, "submissions": receipts, "missing": missing})
        return 0
    rows = [("no.", "phase", "team", "system", "arrived", "state", "reason")]
    for fate in found.fates:
        one, run = fate.submission, fate.run
        late = " (late)" if one.late else ""
        what = "" if run is None or run.kind == "outputs" else f" {run.kind}"
        system = f"{run.system}{what} v{run.version}".strip() if run else "-"
        rows.append((str(one.number), one.phase, one.team, system, one.arrival + late, fate.state, fate.reason))
    print(columns(rows))
    for phase in found.rules.phases:
        for team, board in found.missing_boards(phase.name):
            print(shown(f"{phase.name}: {team} has no primary run under {board}, which is required"))
    return 0
