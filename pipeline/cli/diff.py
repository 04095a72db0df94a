"""``rescore diff``: which figures and ranks moved between two runs, and what caused it."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

from pipeline.cli.output import print_json, shown
from pipeline.cli.runs import add_run, add_store
from pipeline.store.blobs import Store


def register(subparsers: Any) -> None:
    """Add the command."""
    parser = subparsers.add_parser(
        "diff",
        help="what moved between two runs, and why",
        description="Compare two published runs: figures, ranks and queries of every cell, and the inputs and settings "
        "that differ. Runs of two evaluations can be compared where their cells have the same names.",
        allow_abbrev=False,
    )
    add_run(parser, "run_a")
    add_run(parser, "run_b")
    parser.add_argument("--all", action="store_true", help="print every figure and query that moved (JSON always has)")
    parser.add_argument("--html", metavar="FILE", help="also write the comparison as a page of its own")
    add_store(parser)
    parser.set_defaults(command=diff)


def diff(args: argparse.Namespace) -> int:
    """Compare and print; 0, whatever moved."""
    from pipeline.grid.history import find_run  # with xarray, which takes a second
    from pipeline.report.changes.diff import compare, side_of
    from pipeline.report.changes.documents import diff_document, diff_text
    from pipeline.report.page import render_changes

    store = Store(args.store)
    before, after = (side_of(store, find_run(store, name)) for name in (args.run_a, args.run_b))
    found = compare(before, after)
    if args.html:
        Path(args.html).write_bytes(render_changes(found).encode("utf-8", "replace"))
    if args.json:
        print_json(diff_document(found))
    else:
        print(shown(diff_text(found, everything=args.all)))
    return 0
