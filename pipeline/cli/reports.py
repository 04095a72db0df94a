"""The tables that KWSEval writes beside its figures: options of ``score``, and the files they name."""

from __future__ import annotations

import argparse
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from pipeline.engine.alignments import align_tables
from pipeline.engine.result import Result
from pipeline.errors import UsageError
from pipeline.protocols.base import Protocol
from pipeline.protocols.kws_settings import KwsSettings
from pipeline.report.kwseval_alignment import alignment_csv
from pipeline.report.kwseval_tables import EXTRAS, tables

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


def check_reports(args: argparse.Namespace, protocol: Protocol) -> None:
    """Refuse, before anything is scored, what the protocol has not. Raises ``UsageError``."""
    asked = [name for name in _NAMES if getattr(args, name)]
    if asked and (protocol.family.explain is None or not isinstance(protocol.settings, KwsSettings)):
        raise UsageError(f"{protocol.name} has no {', '.join(asked)} table. Leave the option out.")
    unknown = set(_extras(args)) - set(EXTRAS)
    if unknown:
        raise UsageError(f"--sum-columns takes {', '.join(EXTRAS)} (got {', '.join(sorted(unknown))}).")
    for name in asked:
        folder = Path(getattr(args, name)).parent
        if not folder.is_dir():
            raise UsageError(f"--{name}: there is no folder {str(folder)!r}. Make it, or write elsewhere.")
    for name in ("sum", "bsum"):
        given = getattr(args, name)
        if given and Path(given).suffix not in (".csv", ".txt"):
            raise UsageError(f"--{name} writes FILE.csv or FILE.txt (got {given!r}).")


def write_reports(args: argparse.Namespace, protocol: Protocol, read: Mapping[str, Any], result: Result) -> None:
    """Write the files asked for; ``read`` holds the inputs' tables by role."""
    if args.alignment:
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


def _extras(args: argparse.Namespace) -> list[str]:
    return [name for name in args.sum_columns.lower().split(",") if name]
