"""``rescore score``: one output against its key, in memory."""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from types import MappingProxyType
from typing import Any

from pipeline.cli.convert import converted
from pipeline.cli.inputs import add_inputs, add_settings, from_stdin, outputs_of, settings_of
from pipeline.cli.output import columns, finding_document, note_findings, number, print_json, shown
from pipeline.cli.reports import add_det, add_reports, check_reports, write_reports
from pipeline.engine.result import Result, document, plain
from pipeline.engine.score import check_measures, check_roles, read_all, score_files, score_tables
from pipeline.errors import InputError, UsageError
from pipeline.metrics.statistics.bootstrap import Interval
from pipeline.protocols import find, signature_short
from pipeline.protocols.base import Protocol
from pipeline.terms import Cell, Figure


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
    parser.add_argument("--resources", metavar="URL", help="what the system used; the same as --input resources=URL")
    parser.add_argument(
        "--cell", metavar="QUERY_SET/DATASET", help="which cell of a resources file of several the output is of"
    )
    parser.add_argument("--json", action="store_true", help="print one JSON document")
    parser.add_argument("--curve", action="store_true", help="add the curve over thresholds")
    parser.add_argument("--per-query", action="store_true", help="add the table of queries (JSON always has it)")
    parser.add_argument(
        "--measures",
        metavar="NAME,…",
        help="only these figures, no tables and no curve; keyword search computes no others (see 'rescore protocols')",
    )
    parser.add_argument(
        "--signature",
        choices=("short", "long"),
        default="short",
        help="what text shows: changed settings and eight digits, or all there is, as JSON always has",
    )
    parser.add_argument(
        "--ci",
        nargs="?",
        type=float,
        const=0.95,
        metavar="LEVEL",
        help="intervals by BCa bootstrap over queries, events, segments or speakers (default level 0.95)",
    )
    add_reports(parser)
    add_det(parser)
    parser.set_defaults(command=score)


def score(args: argparse.Namespace) -> int:
    """Score and print; 0, or 1 when the cell could not be scored."""
    overrides, notes = settings_of(args)
    protocol = find(args.protocol, mode=args.mode, overrides=overrides)
    check_reports(args, protocol)
    if args.ci is not None and not 0.0 < args.ci < 1.0:
        raise UsageError(f"--ci is {args.ci} (allowed: a level between 0 and 1, such as 0.95).")
    outputs = outputs_of(args, protocol)
    if len(outputs) > 1:
        from pipeline.cli.several import score_several

        return score_several(args, protocol, [converted(protocol, one) for one in outputs])
    inputs = from_stdin(converted(protocol, outputs[0]))
    if args.resources is not None and inputs.setdefault("resources", args.resources) != args.resources:
        raise UsageError("the resources file is given twice, by --resources and by --input. Give it once.")
    check_roles(protocol, inputs)
    cell = _cell(args.cell)
    measures = _measures(args, protocol)
    tables: Mapping[str, Any] = {}
    if args.alignment:
        tables, sources = read_all(protocol, inputs)
        result = score_tables(protocol, tables, sources, measures=measures, every_point=args.curve, cell=cell)
    else:
        result = score_files(protocol, inputs, measures=measures, every_point=args.curve, cell=cell)
    if result.failed is None:
        result = replace(result, findings=(*notes, *result.findings), n_findings=len(notes) + result.n_findings)
    drawn = _intervals(args.ci, protocol, inputs, measures) if args.ci is not None and result.failed is None else {}
    if args.json:
        printed = document(result, curve=args.curve)
        if args.ci is not None and result.failed is None:
            printed["intervals"] = {name: interval_document(one, args.ci) for name, one in drawn.items()}
        kind = "warnings" if result.failed is None else "errors"
        print_json({**printed, kind: [finding_document(finding) for finding in result.findings]})
    elif result.failed is None:
        print(text_of(result, curve=args.curve, per_query=args.per_query, signature=args.signature, intervals=drawn))
    if result.failed is None:
        write_reports(args, protocol, tables, result)
    else:
        error = InputError(result.findings, result.n_findings)
        note_findings(error)
        return error.exit_code
    return 0


def _cell(text: str | None) -> Cell | None:
    """The cell of an output that is scored by itself. Raises ``UsageError`` for a text that names none."""
    if text is None:
        return None
    query_set, slash, dataset = text.partition("/")
    if not (query_set and slash and dataset) or "/" in dataset:
        raise UsageError(f"--cell is {text!r} (allowed: QUERY_SET/DATASET).")
    return Cell(query_set, dataset, "")


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


_FIGURES_SHOWN = 7


def _intervals(
    level: float, protocol: Protocol, inputs: Mapping[str, Any], measures: Sequence[str]
) -> dict[str, Interval]:
    """The intervals of the figures that are drawn."""
    from pipeline.meta.in_memory import intervals
    from pipeline.meta.intervals import Resampling

    tables, _ = read_all(protocol, inputs)
    return intervals(protocol, tables, Resampling(level=level, method="bca"), measures)


def interval_document(interval: Interval, level: float) -> dict[str, Any]:
    """The JSON object of one interval."""
    return {
        "low": plain(interval.low),
        "high": plain(interval.high),
        "level": level,
        "method": interval.method,
        "n_units": interval.n_units,
        "reason": interval.reason,
    }


def text_of(
    result: Result,
    *,
    curve: bool = False,
    per_query: bool = False,
    signature: str = "short",
    intervals: Mapping[str, Interval] = MappingProxyType({}),
) -> str:
    """Facts, measures and warnings of a scored cell; the tables of queries and of the curve where asked for."""
    parts = [
        f"{result.protocol} edition {result.edition}, {result.mode}",
        _section("facts", ((name, number(value)) for name, value in result.facts.items())),
        _section("measures", _figures(result, intervals)),
    ]
    if result.conditions:
        parts.append(_conditions(result))
    if per_query:
        parts.append(_table("queries", result.blocks))
    if curve:
        rows = zip(*result.curve.values(), strict=True)
        parts.append(_table("curve", [dict(zip(result.curve, row, strict=True)) for row in rows]))
    if result.findings:
        lines = [f"  {shown(str(finding))}" for finding in result.findings]
        if result.n_findings > len(lines):
            lines.append(f"  … and {result.n_findings - len(lines)} more")
        parts.append("\n".join([f"warnings ({result.n_findings})", *lines]))
    told = result.signature if signature == "long" else signature_short(result.signature)
    return "\n\n".join([*parts, f"signature\n  {told}"])


def _section(title: str, rows: Iterator[tuple[str, ...]]) -> str:
    return f"{title}\n{columns(rows, right=frozenset({1}))}"


def _figures(result: Result, intervals: Mapping[str, Interval]) -> Iterator[tuple[str, ...]]:
    for name, figure in result.figures.items():
        unit, own = result.units.get(name, "1"), intervals.get(name)
        between = "" if own is None else own.reason or f"{number(own.low)} to {number(own.high)}"
        told = (between,) if intervals else ()
        yield name, number(figure.value), *told, "" if unit == "1" else unit, _remark(figure)


def _conditions(result: Result) -> str:
    """A row for each condition with the first figures of the protocol; JSON has them all."""
    shown_figures = list(result.figures)[:_FIGURES_SHOWN]
    parts = {"all": result.figures, **{name: part.figures for name, part in result.conditions.items()}}
    rows = [
        {"condition": name, **{figure: figures[figure].value for figure in shown_figures}}
        for name, figures in parts.items()
    ]
    return _table("conditions", rows)


def _remark(figure: Figure) -> str:
    """Why a figure is undefined, or what qualifies it. Companions stand beside a status only: JSON has them all."""
    if figure.reason:
        return f"undefined: {figure.reason}"
    if figure.status is None:
        return ""
    return ", ".join([figure.status, *(f"{name} {number(value)}" for name, value in figure.detail.items())])


def _table(title: str, rows: Sequence[Mapping[str, Any]]) -> str:
    if not rows:
        return f"{title}\n  none"
    names = list(dict.fromkeys(name for row in rows for name in row))
    numeric = {i for i, name in enumerate(names) if not any(isinstance(row.get(name), str) for row in rows)}
    cells = [names, *([number(row.get(name)) for name in names] for row in rows)]
    return f"{title} ({len(rows)})\n{columns(cells, right=frozenset(numeric))}"
