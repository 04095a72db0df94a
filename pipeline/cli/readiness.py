"""``rescore plan``: whether a night can begin, and what it will take."""

from __future__ import annotations

import argparse
from dataclasses import asdict
from typing import Any

from pipeline.cli.output import columns, finding_document, print_json, shown
from pipeline.cli.place import DEFAULT_STORE
from pipeline.errors import told_lines
from pipeline.store.blobs import Store

_TO_DO = {"figures": "figures only", "labels": "align again", "all": "read and align"}


def register(subparsers: Any) -> None:
    """Add the command."""
    parser = subparsers.add_parser(
        "plan",
        help="what a run would do, what is missing, and what it will take",
        description="Read the evaluation file and the organiser's inputs, and tell which cells there are, which "
        "outputs and required conditions are missing, and what scoring will take by the records of earlier runs.",
        allow_abbrev=False,
    )
    parser.add_argument("evaluation", metavar="EVALUATION.yaml")
    parser.add_argument("--store", default=DEFAULT_STORE, metavar="URL", help=f"default: {DEFAULT_STORE}")
    parser.add_argument("--json", action="store_true", help="print one JSON document")
    parser.set_defaults(command=plan_command)


def plan_command(args: argparse.Namespace) -> int:
    """Plan and print; 0."""
    from pipeline.config import load_evaluation
    from pipeline.engine.plan import plan
    from pipeline.season.readiness import readiness

    store = Store(args.store)
    found = readiness(store, plan(load_evaluation(args.evaluation), store))
    if args.json:
        printed = {**asdict(found), "findings": [finding_document(finding) for finding in found.findings]}
        print_json(printed)
        return 0
    rows = [("cells", str(found.n_cells)), ("without output", str(found.n_missing_outputs))]
    rows += [(_TO_DO[kind], str(count)) for kind, count in found.to_do.items()]
    told = "unknown: no earlier run has a record"
    if found.prediction is not None:
        one = found.prediction
        told = (
            f"{one.cpu_s:.0f} s of CPU, {one.bytes_read / 1e6:.1f} MB read (by {one.n_earlier} cells of earlier runs)"
        )
    print(columns([*rows, ("will take", told)], indent=""))
    for cell in found.missing_outputs:
        print(shown(f"no output: {cell}"))
    for team, board in found.missing_boards:
        print(shown(f"required and missing: {team} under {board}"))
    for line in told_lines(found.findings):
        print(shown(line))
    return 0
