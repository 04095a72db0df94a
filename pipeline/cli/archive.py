"""``rescore archive`` and ``rescore reproduce``: keep a run for ten years, and make its figures again."""

from __future__ import annotations

import argparse
from dataclasses import asdict
from pathlib import Path
from typing import Any

from pipeline.cli.output import note, print_json, shown
from pipeline.cli.runs import add_run, add_store
from pipeline.store.blobs import Store


def register(subparsers: Any) -> None:
    """Add both commands."""
    parser = subparsers.add_parser(
        "archive",
        help="bundle a run with all it was made from",
        description="Write a run to a folder: inputs, keys, overlays, protocol values, figures as CSV and Zarr, pages, "
        "the season's ledger, and the packages that made them as wheels.",
        allow_abbrev=False,
    )
    add_run(parser, "run")
    parser.add_argument("folder", type=Path, metavar="FOLDER", help="new or empty")
    parser.add_argument("--no-wheels", action="store_true", help="leave the packages out")
    add_store(parser)
    parser.set_defaults(command=archive_command)
    parser = subparsers.add_parser(
        "reproduce",
        help="make the figures of an archive again, and compare",
        description="Score an archive's inputs in a new environment of its own wheels, without a network, and compare "
        "the bytes of every result. Exit code 3 where they differ.",
        allow_abbrev=False,
    )
    parser.add_argument("folder", type=Path, metavar="ARCHIVE")
    parser.add_argument("--here", action="store_true", help="with the packages that run now")
    parser.add_argument("--json", action="store_true", help="print one JSON document")
    parser.set_defaults(command=reproduce_command)


def archive_command(args: argparse.Namespace) -> int:
    """Archive and say how much; 0."""
    from pipeline.grid.history import find_run
    from pipeline.season.archive import archive

    store = Store(args.store)
    index = archive(store, find_run(store, args.run), args.folder, wheels=not args.no_wheels)
    n_bytes = sum(entry["n_bytes"] for entry in index["files"].values())
    if args.json:
        print_json(
            {"run": index["run"], "folder": str(args.folder), "n_files": len(index["files"]), "n_bytes": n_bytes}
        )
    else:
        print(shown(f"Run {index['run']}: {len(index['files'])} files, {n_bytes / 1e6:.1f} MB in {args.folder}."))
    return 0


def reproduce_command(args: argparse.Namespace) -> int:
    """Reproduce and compare; 0 when equal, 3 when not."""
    from pipeline.season.reproduce import reproduce, reproduce_here

    found = (reproduce_here if args.here else reproduce)(args.folder)
    if args.json:
        print_json({**asdict(found), "equal": found.equal})
    elif found.equal:
        print(shown(f"Run {found.run}: all {found.n_cells} results are the same, bit by bit."))
    for cell in found.differing:
        note(f"{cell}: the result differs")
    if not found.same_figures:
        note("figures.csv differs")
    return 0 if found.equal else 3
