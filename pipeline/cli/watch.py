"""``rescore watch`` and ``rescore publish``: run what changed, unattended; and let a staged run be seen."""

from __future__ import annotations

import argparse
import time
from typing import TYPE_CHECKING, Any

from pipeline.cli.output import note, print_json, shown
from pipeline.cli.place import add_place
from pipeline.cli.runs import add_run, add_store
from pipeline.errors import RescoreError, UsageError
from pipeline.store.blobs import Store

if TYPE_CHECKING:
    from flows.look import EvaluationState

MINUTE_S = 60.0


def register(subparsers: Any) -> None:
    """Add both commands."""
    parser = subparsers.add_parser(
        "watch",
        help="run what changed, unattended",
        description="Compare keys, outputs and the evaluation file with the last run. Where anything differs, score it "
        "and publish it, or stage it where the evaluation's `publication` is staged or sealed.",
        allow_abbrev=False,
    )
    add_place(parser)
    parser.add_argument("--every", type=_minutes, metavar="MINUTES", help="look again and again; default: once")
    parser.add_argument("--stage", action="store_true", help="stage, whatever the evaluation says")
    parser.add_argument("--json", action="store_true", help="print one JSON document for each look")
    parser.set_defaults(command=watch)
    parser = subparsers.add_parser(
        "publish",
        help="publish a staged run",
        description="Make a staged run the latest of its evaluation, after reading every object of it.",
        allow_abbrev=False,
    )
    add_run(parser, "run")
    add_store(parser)
    parser.set_defaults(command=publish)


def watch(args: argparse.Namespace) -> int:
    """Look once, or until interrupted; 0 when the platform did its part."""
    while True:
        try:
            found = _look(args)
        except RescoreError as error:
            if args.every is None:
                raise
            note(str(error))  # a file may be half uploaded: the next look may find it whole
        else:
            if args.json:
                print_json({"evaluation": found.evaluation, "run": found.run, "state": found.state})
            else:
                print(shown(f"{found.evaluation}: run {found.run} {found.state}\n{found.changes}".rstrip()), flush=True)
        if args.every is None:
            return 0
        time.sleep(args.every * MINUTE_S)


def _look(args: argparse.Namespace) -> EvaluationState:
    """One look; the flow is started where there is anything to do."""
    from flows.look import unchanged  # xarray and what it brings take seconds to import

    publish = False if args.stage else None
    if (found := unchanged(args.evaluation, args.store, args.cluster, args.workers, publish)) is not None:
        return found
    from flows.settings import prepare_environment

    prepare_environment()
    from flows.watch import watch as flow  # with Prefect, which takes seconds

    watched: EvaluationState = flow(args.evaluation, args.store, args.cluster, args.workers, publish)
    return watched


def publish(args: argparse.Namespace) -> int:
    """Publish and say so; 0."""
    from pipeline.grid import promote
    from pipeline.grid.history import find_run
    from pipeline.season.gate import phase_of

    store = Store(args.store)
    found = find_run(store, args.run)
    if phase_of(store, found.evaluation) is not None:
        raise UsageError(
            f"{found.evaluation} is of a season. Say `rescore season release {found.id}`, which is recorded."
        )
    run = promote(store, found.id)
    if args.json:
        print_json({"run": run.id, "evaluation": run.evaluation})
    else:
        print(shown(f"Run {run.id} is now the latest of {run.evaluation}."))
    return 0


def _minutes(text: str) -> float:
    try:
        minutes = float(text)
    except ValueError:
        minutes = 0.0
    if not 0 < minutes < float("inf"):
        raise argparse.ArgumentTypeError(f"{text!r} is not a number of minutes above 0")
    return minutes
