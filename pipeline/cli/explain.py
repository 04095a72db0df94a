"""``rescore explain``: what became of every trial of a query, and the rule that decided."""

from __future__ import annotations

import argparse
from dataclasses import asdict
from math import isnan
from typing import TYPE_CHECKING, Any

from pipeline.cli.output import columns, number, print_json, shown
from pipeline.cli.runs import add_store
from pipeline.engine.result import plain
from pipeline.errors import UsageError
from pipeline.store.blobs import Store
from pipeline.terms import Cell

if TYPE_CHECKING:
    from pipeline.engine.plan import Plan
    from pipeline.protocols.disputes import Decided
    from pipeline.protocols.kws.dispute import Explained


def register(subparsers: Any) -> None:
    """Add the command."""
    parser = subparsers.add_parser(
        "explain",
        help="why the trials of a query became what they are",
        description="Keyword search: list the detections and occurrences of a query in one cell with the pairs they "
        "could be in, what each pair is worth, and the rule that decided. With FILE, of that recording; with TIME, "
        "what lies within a second of it. Query by document: QUERY and FILE are query and document; MED: event and "
        "clip; language recognition: QUERY is the segment; speech-to-text: QUERY and FILE are recording and channel.",
        allow_abbrev=False,
    )
    parser.add_argument("cell", metavar="QUERY_SET/DATASET/SYSTEM")
    parser.add_argument("query", metavar="QUERY")
    parser.add_argument("file", nargs="?", metavar="FILE")
    parser.add_argument("time_s", nargs="?", type=float, metavar="TIME", help="seconds from the recording's begin")
    parser.add_argument("--run", metavar="RUN", help="default: the latest that has the cell")
    add_store(parser)
    parser.set_defaults(command=explain_command)


def explain_command(args: argparse.Namespace) -> int:
    """Explain and print; 0."""
    from pipeline.engine.dispute import explain

    store = Store(args.store)
    parts = args.cell.split("/")
    if len(parts) != 3:
        raise UsageError(f"{args.cell!r} is no cell (allowed: QUERY_SET/DATASET/SYSTEM).")
    plan = _plan_of(store, args.cell, args.run)
    rows = [row for row in explain(store, plan, Cell(*parts), args.query) if _wanted(row, args.file, args.time_s)]
    if args.json:
        print_json({"cell": args.cell, "query": args.query, "rows": [_document(row) for row in rows]})
    else:
        print(shown(f"{args.cell}, query {args.query}: {len(rows)} rows"))
        for row in rows:
            _print(row)
    return 0


def _plan_of(store: Store, cell: str, run: str | None) -> Plan:
    """The plan of the run that is meant: the named one, or the one evaluation's latest that has the cell."""
    from pipeline.engine.plan import load_plan
    from pipeline.grid import latest
    from pipeline.grid.history import find_run
    from pipeline.store import manifest

    if run is not None:
        runs = [find_run(store, run)]
        if cell not in runs[0].results:
            raise UsageError(f"run {runs[0].id} has no cell {cell}. `rescore show {runs[0].id} --json` lists them.")
    else:
        runs = [found for name in manifest.evaluations(store) if (found := latest(store, name)) is not None]
    plans = {found.plan for found in runs if cell in found.results}
    if len(plans) != 1:
        told = "several runs have" if plans else "no run has"
        raise UsageError(f"{told} the cell {cell}. Name the run by --run; `rescore runs` lists them.")
    return load_plan(store, plans.pop())


def _wanted(row: Explained | Decided, file: str | None, time_s: float | None) -> bool:
    near = time_s is None or isnan(row.begin_s) or (row.begin_s - 1 <= time_s <= row.end_s + 1)
    return (file is None or row.file == file) and near


def _document(row: Explained | Decided) -> dict[str, Any]:
    return {**_plain(asdict(row)), "why": row.why}


def _plain(value: Any) -> Any:
    if isinstance(value, dict):
        return {name: _plain(item) for name, item in value.items()}
    return [_plain(item) for item in value] if isinstance(value, list | tuple) else plain(value)


def _print_decided(row: Decided) -> None:
    """A trial, and below it what was decided from; steps of an alignment and scores of classes as tables."""
    place = "" if isnan(row.begin_s) else f" {number(row.begin_s)}-{number(row.end_s)} s"
    print(shown(f"{row.trial}{place}: {row.outcome}, {row.rule}: {row.why}"))
    tables: list[list[tuple[str, ...]]] = []
    told = []
    for name, value in row.details.items():
        if isinstance(value, dict):
            tables.append([(name, *(f"{key} {number(one)}" for key, one in value.items()))])
        elif name == "steps":
            tables.append([tuple("" if one is None else number(one) for one in step) for step in value])
        else:
            told.append(f"{name} {' '.join(value) if isinstance(value, list) else number(value)}")
    if told:
        print(shown(f"    {', '.join(told)}"))
    for table in tables:
        print(columns(table, indent="    "))


def _print(row: Explained | Decided) -> None:
    from pipeline.protocols.disputes import Decided

    if isinstance(row, Decided):
        _print_decided(row)
    else:
        _print_explained(row)


def _print_explained(row: Explained) -> None:
    """A detection or occurrence, and below it the pairs that it could be in."""
    score = "" if row.kind == "occurrence" else f" score {number(row.score)} {'YES' if row.decision else 'NO'}"
    place = f"{row.file} {row.channel} {number(row.begin_s)}-{number(row.end_s)} s"
    print(shown(f"{row.kind} {place}{score}: {row.outcome}, {row.rule}: {row.why}"))
    table = [
        (
            "mapped" if pair.mapped else "",
            f"{number(pair.begin_s)}-{number(pair.end_s)} s",
            f"score {number(pair.score)} {'YES' if pair.decision else 'NO'}",
            f"occurrence {number(pair.reference_begin_s)}-{number(pair.reference_end_s)} s",
            f"TmCgr {pair.time_congruence:.6f}",
            f"ScrCgr {pair.score_congruence:.6f}",
            f"K {pair.kernel:.12f}",
        )
        for pair in row.pairs
    ]
    if table:
        print(columns(table, indent="    "))
