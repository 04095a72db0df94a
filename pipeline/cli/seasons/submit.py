"""``rescore submit``, ``withdraw`` and ``choose``: hand in and get a receipt; take back; say which one counts."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pipeline.cli.output import columns, print_json, shown
from pipeline.cli.runs import add_store
from pipeline.errors import UsageError
from pipeline.store.blobs import Store

if TYPE_CHECKING:
    from datetime import datetime


def register(subparsers: Any) -> None:
    """Add the three commands."""
    parser = subparsers.add_parser(
        "submit",
        help="hand in a submission",
        description="Check files by the season's rules, keep them, and enter them in the ledger. Every problem is "
        "told; a refused submission replaces nothing. Exit code 1 where it is refused.",
        allow_abbrev=False,
    )
    parser.add_argument("files", nargs="+", type=Path, metavar="FILE")
    add_sender(parser)
    parser.add_argument("--received", metavar="TIME", help="when it arrived, with its zone; default: now")
    add_store(parser)
    parser.set_defaults(command=submit_command)
    parser = subparsers.add_parser(
        "withdraw",
        help="take a submission back",
        description="Withdraw a submission, a system, or all a team has handed in in a phase. The ledger keeps it.",
        allow_abbrev=False,
    )
    add_sender(parser)
    parser.add_argument("--submission", type=int, metavar="N", help="its number; default: all")
    parser.add_argument("--reason", required=True, help="why, as boards will say it")
    add_store(parser)
    parser.set_defaults(command=withdraw_command)
    parser = subparsers.add_parser(
        "choose",
        help="say which submission counts",
        description="In a phase where teams choose: which of a team's submissions counts. The last choice holds.",
        allow_abbrev=False,
    )
    add_sender(parser)
    parser.add_argument("--submission", type=int, required=True, metavar="N", help="its number")
    parser.add_argument("--reason", default="", help="why, as the ledger keeps it")
    add_store(parser)
    parser.set_defaults(command=choose_command)


def add_sender(parser: argparse.ArgumentParser) -> None:
    """Add who it is of."""
    parser.add_argument("--season", metavar="NAME", help="default: the only one in the store")
    parser.add_argument("--team", required=True, help="the team's id in the roster")
    parser.add_argument("--phase", metavar="NAME", help="default: the only one of the season")
    parser.add_argument("--system", metavar="NAME", help="the system, where file names do not say it")
    parser.add_argument("--contrastive", action="store_true", help="it is not the team's primary system")
    parser.add_argument("--by", default="", metavar="NAME", help="who enters it; default: the team")


def submit_command(args: argparse.Namespace) -> int:
    """Submit and print the receipt; 1 where it is refused."""
    from pipeline.season.ledger import find_season
    from pipeline.season.standing import standing
    from pipeline.season.submit import receipt, submit

    store = Store(args.store)
    season = find_season(store, args.season)
    found = submit(store, season, _sender(args), args.files, arrival=moment(args.received))
    document = receipt(standing(store, season), found)
    if args.json:
        print_json(document)
    else:
        print_receipt(document)
    return 0 if found.accepted else 1


def print_receipt(document: dict[str, Any]) -> None:
    """A receipt for people: what was received, when, and everything that is wrong with it."""
    state = "accepted" if document["accepted"] else "REFUSED"
    late = ", late" if document["late"] else ""
    print(shown(f"No. {document['number']} of {document['team']} in {document['phase']}: {state}{late}"))
    rows = [("arrived", document["arrival"]), ("deadline", document["deadline"]), ("receipt", document["receipt"])]
    rows += [(entry["name"], f"sha256 {entry['sha256']}, {entry['n_bytes']} bytes") for entry in document["files"]]
    rows += [
        (
            run["system"] or "all systems",
            f"version {run['version']}, {_said_of(run)} {run['board']}".strip(),
        )
        for run in document["runs"]
    ]
    if document["most_runs"] is not None:
        rows.append(("systems", f"{document['n_runs']} of {document['most_runs']} count now"))
    print(columns(rows))
    for remark in document["verdict"]:
        print(shown(f"  {remark['level']}: {remark['where']}{': ' if remark['where'] else ''}{remark['message']}"))


def _said_of(run: dict[str, Any]) -> str:
    if run["kind"] != "outputs":
        return str(run["kind"])
    return "primary" if run["primary"] else "contrastive"


def withdraw_command(args: argparse.Namespace) -> int:
    """Withdraw and say so; 0."""
    from pipeline.season.ledger import find_season
    from pipeline.season.submit import withdraw

    store = Store(args.store)
    season = find_season(store, args.season)
    entry = withdraw(store, season, _sender(args), args.reason, submission=args.submission)
    if args.json:
        print_json({"number": entry.number, **entry.body})
    else:
        print(shown(f"Entry {entry.number} of {season}: withdrawn ({args.reason})."))
    return 0


def choose_command(args: argparse.Namespace) -> int:
    """Enter a choice and say so; 0."""
    from pipeline.season.ledger import find_season
    from pipeline.season.submit import choose

    store = Store(args.store)
    season = find_season(store, args.season)
    entry = choose(store, season, _sender(args), args.submission, args.reason)
    if args.json:
        print_json({"number": entry.number, **entry.body})
    else:
        print(shown(f"Entry {entry.number} of {season}: no. {args.submission} of {args.team} counts."))
    return 0


def _sender(args: argparse.Namespace) -> Any:
    from pipeline.season.submit import Sender

    return Sender(args.team, args.phase, args.system, not args.contrastive, args.by)


def moment(text: str | None) -> datetime | None:
    """A time of the command line. Raises ``UsageError`` for one that is none or has no zone."""
    from pipeline.season.times import parse

    try:
        return None if text is None else parse(text)
    except ValueError as error:
        raise UsageError(f"{text!r} is no time with a zone ({error}).") from error
