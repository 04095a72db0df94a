"""``rescore season release | reject | key | staged``: what persons decide, recorded."""

from __future__ import annotations

import argparse
from dataclasses import asdict
from pathlib import Path
from typing import Any

from pipeline.cli.output import columns, print_json, shown
from pipeline.cli.runs import add_run, add_store
from pipeline.errors import UsageError
from pipeline.store.blobs import Store


def register(below: Any) -> None:
    """Add the commands below ``season``."""
    parser = below.add_parser("release", help="let the results of a run be seen", allow_abbrev=False)
    add_run(parser, "run")
    parser.add_argument("--as", dest="state", metavar="STATE", help="preliminary, official or corrected")
    _person(parser)
    parser.set_defaults(command=release_command)
    parser = below.add_parser("reject", help="decide that a staged run is never to be seen", allow_abbrev=False)
    add_run(parser, "run")
    _person(parser)
    parser.set_defaults(command=reject_command)
    parser = below.add_parser("staged", help="the runs that wait, and why", allow_abbrev=False)
    add_store(parser)
    parser.set_defaults(command=staged_command)
    parser = below.add_parser("key", help="enter a version of a key", allow_abbrev=False)
    parser.add_argument("file", type=Path, metavar="KEY")
    parser.add_argument("--role", required=True, help="the key's role: rttm, ref, key or stm")
    parser.add_argument("--dataset", default="", help="the dataset it is of")
    parser.add_argument("--query-set", default="", help="the query set it is for, where each has a key of its own")
    parser.add_argument("--season", metavar="NAME", help="default: the only one in the store")
    parser.add_argument("--phase", metavar="NAME", help="default: the only one of the season")
    _person(parser)
    parser.set_defaults(command=key_command)


def _person(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--by", required=True, metavar="NAME", help="who decides")
    parser.add_argument("--reason", required=True)
    add_store(parser)


def release_command(args: argparse.Namespace) -> int:
    """Release a run and write what participants see; 0."""
    from pipeline.grid.history import find_run
    from pipeline.report.seasons.public import publish_season
    from pipeline.season.releases import PRELIMINARY, release

    store = Store(args.store)
    run = find_run(store, args.run)
    found, phase = _phase_of(store, run.evaluation)
    state = args.state or (PRELIMINARY if phase.kind == "eval" else phase.kind)
    made = release(store, found.season, phase.kind, run, state, by=args.by, reason=args.reason)
    place = publish_season(store, found.season)
    if args.json:
        print_json({**asdict(made), "public": store.url(place)})
    else:
        shown_state = made.state.replace("_", " ")
        print(
            shown(
                f"Run {made.run} is the {shown_state} result of {run.evaluation}. Participants see {store.url(place)}."
            )
        )
    return 0


def reject_command(args: argparse.Namespace) -> int:
    """Reject a run; 0."""
    from pipeline.grid.history import find_run
    from pipeline.season.releases import reject

    store = Store(args.store)
    run = find_run(store, args.run)
    found, _ = _phase_of(store, run.evaluation)
    entry = reject(store, found.season, run, by=args.by, reason=args.reason)
    if args.json:
        print_json({"number": entry.number, **entry.body})
    else:
        print(shown(f"Entry {entry.number} of {found.season}: run {run.id} is rejected."))
    return 0


def staged_command(args: argparse.Namespace) -> int:
    """Print why runs wait; 0."""
    from pipeline.grid import STAGED, latest, load_run
    from pipeline.season.gate import notice, waits_for
    from pipeline.store import manifest

    store = Store(args.store)
    names = [name for name in manifest.evaluations(store) if name.endswith(STAGED)]
    runs = [run for name in names if (run := latest(store, name)) is not None]
    waiting = [load_run(store, run.id) for run in runs if waits_for(store, run)]
    notices = [found for run in waiting if (found := notice(store, run)) is not None]
    if args.json:
        print_json({"staged": [found.document() for found in notices]})
    else:
        print(shown("\n".join(found.text() for found in notices) or "No run waits."))
    return 0


def key_command(args: argparse.Namespace) -> int:
    """Enter a key; 0."""
    from pipeline.engine.inputs import digest
    from pipeline.season.ledger import find_season
    from pipeline.season.releases import enter_key
    from pipeline.season.rules import KEY_ROLES
    from pipeline.season.standing import standing

    if args.role not in KEY_ROLES:
        raise UsageError(f"{args.role!r} is no role of a key (allowed: {', '.join(sorted(KEY_ROLES))}).")
    store = Store(args.store)
    season = find_season(store, args.season)
    source = digest(str(args.file), args.role)
    body = {
        "phase": standing(store, season).rules.phase(args.phase).name,
        "role": args.role,
        "dataset": args.dataset,
        **({"query_set": args.query_set} if args.query_set else {}),
        "name": args.file.name,
        "sha256": source.sha256,
        "n_bytes": source.n_bytes,
    }
    entry = enter_key(store, season, body, author=args.by, reason=args.reason)
    if args.json:
        print_json({"number": entry.number, **entry.body})
    else:
        rows = [(name, str(entry.body[name])) for name in ("version", "sha256", "parent", "author", "reason")]
        print(columns(rows))
    return 0


def _phase_of(store: Store, evaluation: str) -> Any:
    from pipeline.season.gate import phase_of

    found = phase_of(store, evaluation)
    if found is None:
        raise UsageError(f"{evaluation} is of no season in {store.url('')}. `rescore publish` publishes its runs.")
    return found
