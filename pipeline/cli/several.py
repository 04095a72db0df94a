"""``rescore score`` of several outputs on one key: one board."""

from __future__ import annotations

import argparse
from collections.abc import Mapping, Sequence
from pathlib import PurePosixPath
from typing import TYPE_CHECKING, Any

from pipeline.cli.output import columns, note_findings, number, print_json
from pipeline.engine.result import Result, document
from pipeline.engine.score import check_roles, read_all, score_tables
from pipeline.errors import InputError, UsageError
from pipeline.metrics.best import directed, worth
from pipeline.protocols.base import Protocol

if TYPE_CHECKING:
    from pipeline.meta.intervals import BoardIntervals

SHOWN = 6
"""Figures of a board: the primary one and those that follow it."""


def score_several(args: argparse.Namespace, protocol: Protocol, outputs: Sequence[Mapping[str, Any]]) -> int:
    """Score and print, best first; 0, or 1 where an output was refused: the others are scored all the same."""
    asked = ("alignment", "sum", "bsum", "det", "curve", "per_query", "measures", "resources", "cell")
    alone = [name.replace("_", "-") for name in asked if getattr(args, name, None)]
    if alone:
        raise UsageError(f"--{', --'.join(alone)}: of one output at a time. Give one output.")
    main = protocol.family.outputs[0]
    check_roles(protocol, outputs[0])
    tables, sources = read_all(protocol, {role: url for role, url in outputs[0].items() if role != main})
    results, read, refused = dict[str, Result](), dict[str, Mapping[str, Any]](), dict[str, InputError]()
    for name, url in zip(_names([one[main] for one in outputs]), (one[main] for one in outputs), strict=True):
        try:
            own, source = read_all(protocol, {main: url})
            results[name] = score_tables(protocol, {**tables, **own}, (*sources, *source))
            read[name] = {**tables, **own}
        except InputError as error:
            refused[name] = error
    board = _compared(args.ci, protocol, read)
    if args.json:
        scored = [{"system": name, **document(one)} for name, one in results.items()]
        errors = [{"system": name, "errors": [str(one) for one in found.findings]} for name, found in refused.items()]
        told = {} if board is None else _document(board)
        print_json({"protocol": protocol.name, "mode": protocol.mode, "results": scored, "refused": errors, **told})
    else:
        print(_text(protocol, results, board))
    for problems in refused.values():
        note_findings(problems)
    return InputError.exit_code if refused else 0


def _names(given: Sequence[str | bytes]) -> list[str]:
    """What systems are called: their files' names, whole URLs where these are the same, numbers where there is none."""
    urls = [one if isinstance(one, str) else f"output-{at}" for at, one in enumerate(given, 1)]
    short = [PurePosixPath(url.replace("\\", "/")).name.partition(".")[0] for url in urls]
    return [name if short.count(name) == 1 else url for name, url in zip(short, urls, strict=True)]


def _compared(level: float | None, protocol: Protocol, read: Mapping[str, Mapping[str, Any]]) -> BoardIntervals | None:
    if level is None or not read:
        return None
    from pipeline.meta.in_memory import compared
    from pipeline.meta.intervals import Resampling

    return compared(protocol, read, protocol.primary, Resampling(level=level, method="bca"))


def _document(board: BoardIntervals) -> dict[str, Any]:
    from pipeline.cli.compare import board_document

    return board_document(board)


def _text(protocol: Protocol, results: Mapping[str, Result], board: BoardIntervals | None) -> str:
    """A row for each system, best first, with the interval of the primary figure and letters where they were drawn."""
    own = {measure.name: measure for measure in protocol.measures}
    led = [name for name in dict.fromkeys((protocol.primary, *protocol.leads, *own)) if name in own][:SHOWN]
    better = own[protocol.primary].better
    known = {name: one.figures[protocol.primary].value for name, one in results.items()}
    order = sorted(known, key=lambda name: -worth(known[name], better)) if directed(better) else list(known)
    order = [name for name in order if known[name] == known[name]] + [n for n in order if known[n] != known[n]]
    rows = [("system", *led, *(() if board is None else ("from", "to", "not told apart")))]
    for name in order:
        drawn: tuple[str, ...] = ()
        if board is not None:
            from pipeline.meta.in_memory import letters

            interval = board.intervals[name]
            drawn = (number(interval.low), number(interval.high), letters(board)[name] or interval.reason or "")
        rows.append((name, *(number(results[name].figures[measure].value) for measure in led), *drawn))
    return columns(rows, right=frozenset(range(1, len(led) + 3)))
