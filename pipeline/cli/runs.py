"""``rescore runs`` and ``rescore show``: which runs were published, and what one of them holds."""

from __future__ import annotations

import argparse
from datetime import UTC, datetime
from typing import Any

from pipeline.cli.output import columns, print_json
from pipeline.cli.place import DEFAULT_STORE
from pipeline.config.urls import masked
from pipeline.engine.work import cost_rows, work_text
from pipeline.errors import UsageError
from pipeline.store import manifest
from pipeline.store.blobs import Store


def register(subparsers: Any) -> None:
    """Add both commands."""
    parser = subparsers.add_parser(
        "runs",
        help="list the published runs",
        description="List every run that was published, per evaluation, oldest first; the last is what readers see.",
        allow_abbrev=False,
    )
    parser.add_argument("evaluation", nargs="?", metavar="EVALUATION", help="its name; default: all")
    add_store(parser)
    parser.set_defaults(command=runs)
    parser = subparsers.add_parser(
        "show",
        help="print the boards of a run",
        description="Print the boards of a published run, what it took, and where its files are.",
        allow_abbrev=False,
    )
    add_run(parser, "run")
    parser.add_argument("--verify", action="store_true", help="read every object of the run and all behind its results")
    add_store(parser)
    parser.set_defaults(command=show)


def add_store(parser: argparse.ArgumentParser) -> None:
    """Add ``--store`` and ``--json``."""
    parser.add_argument("--store", default=DEFAULT_STORE, metavar="URL", help=f"default: {DEFAULT_STORE}")
    parser.add_argument("--json", action="store_true", help="print one JSON document")


def add_run(parser: argparse.ArgumentParser, name: str) -> None:
    """Add an argument that names a run."""
    parser.add_argument(
        name,
        metavar=name.upper(),
        help="an id or its beginning; EVALUATION for its latest run, EVALUATION~1 for the one before, EVALUATION@3",
    )


def runs(args: argparse.Namespace) -> int:
    """Print the list; 0."""
    from pipeline.grid.history import history  # with xarray, which takes a second

    store = Store(args.store)
    known = manifest.evaluations(store)
    if not known and not store.listing():
        raise UsageError(f"{masked(store.url(''))}: there is no store here. Give the one of `rescore run` as --store.")
    wanted = [name for name in known if args.evaluation in (None, name)]
    commits = [commit for name in wanted for commit in history(store, name)]
    if args.json:
        print_json(
            {
                "store": masked(store.url("")),
                "runs": [
                    {
                        "evaluation": commit.evaluation,
                        "number": commit.number,
                        "run": commit.run,
                        "written": when(commit.written_s),
                        "work": dict(commit.work),
                    }
                    for commit in commits
                ],
            }
        )
    elif commits:
        rows = [(f"{c.evaluation}@{c.number}", c.run, when(c.written_s), work_text(c.work)) for c in commits]
        print(columns([("commit", "run", "written", "work"), *rows]))
    else:
        print(f"{masked(store.url(''))} has no runs{f' of {args.evaluation}' if args.evaluation else ''}.")
    return 0


def when(written_s: float) -> str:
    """A time of writing as ISO 8601, UTC."""
    return datetime.fromtimestamp(written_s, UTC).isoformat(timespec="seconds")


def show(args: argparse.Namespace) -> int:
    """Print boards, work and places; 3 when ``--verify`` finds damage."""
    from pipeline.grid import load_grid
    from pipeline.grid.history import find_run
    from pipeline.grid.integrity import deep_faults
    from pipeline.report import board_rows, print_boards

    store = Store(args.store)
    run = find_run(store, args.run)
    damaged, n_read = deep_faults(store, run.id) if args.verify else ([], 0)
    paths = {name: masked(store.url(path)) for name, path in run.places.items()}
    if args.json:
        from pipeline.engine.result import plain

        board = [{name: plain(value) for name, value in row.items()} for row in board_rows(load_grid(store, run))]
        head = {"run": run.id, "evaluation": run.evaluation, "plan": run.plan, "work": dict(run.work)}
        counts = {"n_scored": run.n_scored, "n_failed": run.n_failed, "damaged": damaged}
        print_json({**head, **counts, "results": dict(run.results), "paths": paths, "board": board})
    else:
        if not damaged:
            print_boards(load_grid(store, run))
        print(f"Run {run.id} of {run.evaluation}: {run.n_scored} cells scored, {run.n_failed} failed")
        if run.work:
            print(f"  {work_text(run.work)}")
            if rows := cost_rows(run.work):
                print(columns(rows))
        print(columns(list(paths.items())))
        if args.verify:
            sound = f"  every object is what the manifest says, and so are the {n_read} behind its results"
            print("\n".join(f"  damaged: {path}" for path in damaged) or sound)
    return 3 if damaged else 0
