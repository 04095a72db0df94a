"""``rescore score``: one output against its key, in memory."""

from __future__ import annotations

import argparse
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from pipeline.cli.cell_text import text_of
from pipeline.cli.inputs import add_inputs, add_settings, roles_of, settings_of
from pipeline.cli.output import finding_document, note_findings, print_json
from pipeline.cli.reports import add_det, add_reports, check_reports, write_reports
from pipeline.engine.result import document
from pipeline.engine.score import check_measures, check_roles, read_all, score_files, score_tables
from pipeline.errors import InputError, UsageError
from pipeline.protocols import find
from pipeline.protocols.base import Protocol


def register(subparsers: Any) -> None:
    """Add the command."""
    parser = subparsers.add_parser(
        "score",
        help="score one output",
        description="Score one system's output on one query set and dataset.",
        allow_abbrev=False,
    )
    parser.add_argument("--protocol", required=True, metavar="NAME", help="'rescore protocols' lists them")
    add_inputs(parser)
    add_settings(parser)
    parser.add_argument("--json", action="store_true", help="print one JSON document")
    parser.add_argument("--curve", action="store_true", help="add the curve over thresholds")
    parser.add_argument("--per-query", action="store_true", help="add the table of queries (JSON always has it)")
    parser.add_argument(
        "--measures",
        metavar="NAME,…",
        help="only these figures, no tables and no curve; keyword search computes no others (see 'rescore protocols')",
    )
    add_reports(parser)
    add_det(parser)
    parser.set_defaults(command=score)


def score(args: argparse.Namespace) -> int:
    """Score and print; 0, or 1 when the cell could not be scored."""
    overrides, notes = settings_of(args)
    protocol = find(args.protocol, mode=args.mode, overrides=overrides)
    check_reports(args, protocol)
    inputs = roles_of(args, protocol)
    check_roles(protocol, inputs)
    measures = _measures(args, protocol)
    tables: Mapping[str, Any] = {}
    if args.alignment:
        tables, sources = read_all(protocol, inputs)
        result = score_tables(protocol, tables, sources, measures=measures)
    else:
        result = score_files(protocol, inputs, measures=measures)
    if result.failed is None:
        result = replace(result, findings=(*notes, *result.findings), n_findings=len(notes) + result.n_findings)
    if args.json:
        printed = document(result, curve=args.curve)
        kind = "warnings" if result.failed is None else "errors"
        print_json({**printed, kind: [finding_document(finding) for finding in result.findings]})
    elif result.failed is None:
        print(text_of(result, curve=args.curve, per_query=args.per_query))
    if result.failed is None:
        write_reports(args, protocol, tables, result)
    else:
        error = InputError(result.findings, result.n_findings)
        note_findings(error)
        return error.exit_code
    return 0


def _measures(args: argparse.Namespace, protocol: Protocol) -> tuple[str, ...]:
    """The figures asked for, () for all. Raises ``UsageError`` for unknown ones and for what needs the others."""
    if args.measures is None:
        return ()
    asked = tuple(name.strip() for name in args.measures.split(",") if name.strip())
    if not asked:
        raise UsageError("--measures names none. Leave it out for all.")
    check_measures(protocol, asked)
    others = [name for name in ("curve", "per_query", "sum", "bsum", "det") if getattr(args, name)]
    if others:
        named = ", ".join(f"--{name.replace('_', '-')}" for name in others)
        raise UsageError(f"--measures leaves out what {named} would show. Give one or the other.")
    return asked
