"""The files that ``score`` writes beside its figures: KWSEval's tables, and the DET curve as a drawing."""

from __future__ import annotations

import argparse
from collections.abc import Mapping
from pathlib import Path, PurePosixPath
from typing import Any

from pipeline.cli.output import note
from pipeline.engine.result import Result
from pipeline.errors import UsageError
from pipeline.protocols.base import Protocol
from pipeline.protocols.kws.settings import KwsSettings
from pipeline.report.kwseval.tables import EXTRAS, tables

_NAMES = ("alignment", "sum", "bsum")


def add_reports(parser: argparse.ArgumentParser) -> None:
    """Add ``--alignment``, ``--sum``, ``--bsum`` and what the tables show beside the usual."""
    group = parser.add_argument_group("KWSEval's tables, for keyword search")
    group.add_argument(
        "--alignment", metavar="FILE.csv", help="write what became of every detection and occurrence, in 12 columns"
    )
    for name, meaning in (("sum", "one row in all"), ("bsum", "one row a query, and their totals and means")):
        group.add_argument(
            f"--{name}",
            metavar="FILE",
            help=f"write the {name} table, {meaning}: FILE.csv, or FILE.txt for text; conditions go to cond.FILE",
        )
    group.add_argument(
        "--sum-columns",
        default="",
        metavar="NAME,…",
        help=f"further columns of these tables (-zG): {', '.join(EXTRAS)}",
    )


def add_det(parser: argparse.ArgumentParser) -> None:
    """Add ``--det`` and the name that stands on the drawing."""
    group = parser.add_argument_group("drawing")
    group.add_argument(
        "--det", metavar="FILE", help="draw the DET curve to FILE.svg or FILE.pdf; PDF needs rescore[pdf]"
    )
    group.add_argument("--system", metavar="NAME", help="the name on it; default: that of the output's file")


def check_reports(args: argparse.Namespace, protocol: Protocol) -> None:
    """Refuse, before anything is scored, what the protocol has not. Raises ``UsageError``."""
    if args.det:
        from pipeline.report.det_file import check_curve, form_of  # with xarray, which takes a second

        check_curve(protocol)
        form_of(args.det)
        _check_folder("det", args.det)
    asked = [name for name in _NAMES if getattr(args, name)]
    if asked and (protocol.family.can.explain is None or not isinstance(protocol.settings, KwsSettings)):
        raise UsageError(f"{protocol.name} has no {', '.join(asked)} table. Leave the option out.")
    unknown = set(_extras(args)) - set(EXTRAS)
    if unknown:
        raise UsageError(f"--sum-columns takes {', '.join(EXTRAS)} (got {', '.join(sorted(unknown))}).")
    for name in asked:
        _check_folder(name, getattr(args, name))
    for name in ("sum", "bsum"):
        given = getattr(args, name)
        if given and Path(given).suffix not in (".csv", ".txt"):
            raise UsageError(f"--{name} writes FILE.csv or FILE.txt (got {given!r}).")


def _check_folder(option: str, path: str) -> None:
    folder = Path(path).parent
    if not folder.is_dir():
        raise UsageError(f"--{option}: there is no folder {str(folder)!r}. Make it, or write elsewhere.")


def write_reports(args: argparse.Namespace, protocol: Protocol, read: Mapping[str, Any], result: Result) -> None:
    """Write the files asked for; ``read`` holds the inputs' tables by role."""
    if args.det:
        _write_det(args, protocol, result)
    if args.alignment:
        from pipeline.engine.alignments import align_tables
        from pipeline.report.kwseval.alignment import alignment_csv

        Path(args.alignment).write_text(alignment_csv(align_tables(protocol, read)), encoding="utf-8", newline="")
    for name in ("sum", "bsum"):
        given = getattr(args, name)
        if given:
            path = Path(given)
            made = tables(
                result, protocol.settings, by_query=name == "bsum", text=path.suffix == ".txt", extras=_extras(args)
            )
            for text, place in zip(made, (path, path.with_name(f"cond.{path.name}")), strict=True):
                if text is not None:
                    place.write_text(text, encoding="utf-8", newline="")


def _write_det(args: argparse.Namespace, protocol: Protocol, result: Result) -> None:
    from pipeline.report.det_file import det_file, form_of

    outputs = [source.uri for source in result.sources if source.role == protocol.family.outputs[0]]
    system = args.system or PurePosixPath(outputs[0]).name.partition(".")[0]
    drawn = det_file(result, (system,), form_of(args.det))
    if drawn is None:
        note(f"--det: nothing is written, as {system!r} has no curve: none of its points has both rates.")
    else:
        Path(args.det).write_bytes(drawn)


def _extras(args: argparse.Namespace) -> list[str]:
    return [name for name in args.sum_columns.lower().split(",") if name]
