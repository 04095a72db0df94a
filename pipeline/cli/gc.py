"""``rescore gc``: remove what no run and no study reaches."""

from __future__ import annotations

import argparse
from typing import Any

from pipeline.cli.output import columns, print_json
from pipeline.cli.runs import add_store
from pipeline.config.urls import masked
from pipeline.store.blobs import Store

HOUR_S = 3600.0


def register(subparsers: Any) -> None:
    """Add the command."""
    parser = subparsers.add_parser(
        "gc",
        help="remove what no run and no study reaches",
        description="List the objects that no published run and no finished study reaches, as crashed runs and old "
        "editions leave them; with --delete remove them. Nothing that a kept run stands on is ever removed, nor "
        "anything written lately, and nothing at all while a run is at work in the store.",
        allow_abbrev=False,
    )
    parser.add_argument("--delete", action="store_true", help="remove them; without this nothing is changed")
    parser.add_argument(
        "--older-than", type=_hours, default=24.0, metavar="HOURS", help="leave what is younger alone (default: 24)"
    )
    parser.add_argument(
        "--keep",
        type=_count,
        default=None,
        metavar="N",
        help="keep the last N runs of each evaluation, and of each study (default: all)",
    )
    add_store(parser)
    parser.set_defaults(command=gc)


def gc(args: argparse.Namespace) -> int:
    """Survey, and remove where asked and nobody is at work; 0."""
    from pipeline.grid.sweep import collect, survey

    store, how = Store(args.store), {"older_than_s": args.older_than * HOUR_S, "keep": args.keep}
    sweep, n_removed = collect(store, **how) if args.delete else (survey(store, **how), 0)
    is_done = args.delete and n_removed == len(sweep.removable) + len(sweep.leftovers)
    counts: dict[str, int] = {}
    for path in sweep.removable:
        folder = path.partition("/")[0]
        counts[folder] = counts.get(folder, 0) + 1
    if args.json:
        head = {"store": masked(store.url("")), "deleted": is_done, "n_bytes": sweep.n_bytes}
        rest = {"n_kept": sweep.n_kept, "n_young": sweep.n_young, "objects": list(sweep.removable)}
        rest |= {"n_removed": n_removed}
        rest["leftovers"] = [entry.path for entry in sweep.leftovers]
        print_json({**head, **rest})
        return 0
    done = "removed" if is_done else "could be removed; nothing was changed (--delete removes)"
    if args.delete and not is_done:
        done = f"could be removed, {n_removed} were: a run is at work in the store. Say it again when that has ended"
    print(f"{len(sweep.removable) + len(sweep.leftovers)} objects, {sweep.n_bytes / 1e6:.1f} MB: {done}.")
    if counts:
        print(columns([(folder, str(n)) for folder, n in counts.items()], right=frozenset({1})))
    if sweep.leftovers:
        print(f"{len(sweep.leftovers)} temporary files of writers that were killed, among them.")
    print(f"{sweep.n_kept} are kept; {sweep.n_young} that no run reaches are younger than {args.older_than:g} h.")
    return 0


def _hours(text: str) -> float:
    try:
        hours = float(text)
    except ValueError:
        hours = -1.0
    if not 0 <= hours < float("inf"):
        raise argparse.ArgumentTypeError(f"{text!r} is not a number of hours")
    return hours


def _count(text: str) -> int:
    if not text.isdecimal() or int(text) < 1:
        raise argparse.ArgumentTypeError(f"{text!r} is not a count of at least 1")
    return int(text)
