"""``rescore run``: a whole evaluation, every system on every cell, through flow and cluster."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING, Any

from pipeline.cli.output import finding_document, print_json
from pipeline.cli.place import add_place
from pipeline.config.urls import masked
from pipeline.engine.result import plain

if TYPE_CHECKING:
    from flows.rescore import RunSummary


def register(subparsers: Any) -> None:
    """Add the command."""
    parser = subparsers.add_parser(
        "run",
        help="score an evaluation",
        description="Score every system of an evaluation on every query set and dataset. What the store holds already "
        "is not scored again. A refused or missing output is a cell with a reason, not a failure of the run.",
        allow_abbrev=False,
    )
    add_place(parser)
    parser.add_argument(
        "--alignments",
        action="store_true",
        help="keyword search: also write alignment.csv, sum.csv and bsum.csv of every cell, as KWSEval has them",
    )
    parser.add_argument(
        "--det",
        default="",
        metavar="FORM,…",
        help="also write the DET curve of every cell as det.svg, det.pdf (svg,pdf); PDF needs rescore[pdf]",
    )
    parser.add_argument("--quiet", action="store_true", help="print nothing but errors")
    parser.add_argument("--json", action="store_true", help="print one JSON document and nothing else")
    parser.set_defaults(command=run_command)


def run_command(args: argparse.Namespace) -> int:
    """Run the evaluation; 0 when the platform did its part, whatever the cells yielded.

    The flow prints boards and places itself unless it is to be quiet.
    """
    from flows.rescore import run_evaluation  # xarray and what it brings take seconds to import

    summary = run_evaluation(
        args.evaluation,
        store=args.store,
        cluster=args.cluster,
        workers=args.workers,
        quiet=args.quiet or args.json,
        alignments=args.alignments,
        own_process=True,
        det=tuple(dict.fromkeys(form.strip().lower() for form in args.det.split(",") if form.strip())),
    )
    if args.json:
        print_json(summary_document(summary))
    return 0


def summary_document(summary: RunSummary) -> dict[str, Any]:
    """A run's summary as strict JSON; ``board`` has one row per system, query set, dataset and condition."""
    return {
        "run_id": summary.run_id,
        "store": masked(summary.store),
        "n_scored": summary.n_scored,
        "n_failed": summary.n_failed,
        "n_reused": summary.n_reused,
        "work": dict(summary.work),
        "waits": list(summary.waits),
        "warnings": [finding_document(finding) for finding in summary.findings],
        "paths": {name: masked(path) for name, path in summary.paths.items()},
        "board": [{name: plain(value) for name, value in row.items()} for row in summary.board],
    }
