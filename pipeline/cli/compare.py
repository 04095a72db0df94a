"""``rescore compare``: outputs on one key, by intervals and paired tests."""

from __future__ import annotations

import argparse
import math
from collections.abc import Iterator, Mapping
from pathlib import PurePosixPath
from typing import TYPE_CHECKING, Any

from pipeline.cli.inputs import add_inputs, add_settings, roles_of, settings_of
from pipeline.cli.output import columns, note, number, print_json
from pipeline.engine.compare import PairedTests, paired_tests
from pipeline.engine.result import figure_document, plain
from pipeline.engine.score import check_roles, read_all
from pipeline.protocols import find, signature
from pipeline.protocols.base import Protocol
from pipeline.terms import Figure

if TYPE_CHECKING:
    from pipeline.meta.intervals import BoardIntervals


def register(subparsers: Any) -> None:
    """Add the command."""
    parser = subparsers.add_parser(
        "compare",
        help="whether outputs differ on one key",
        description="Intervals (BCa bootstrap) of outputs on one key, and paired tests of each two: randomisation or "
        "paired bootstrap over queries, events, segments or speakers, for speech-to-text MAPSSWE; corrected by Holm. "
        "Outputs of speech-to-text have McNemar's, the sign and Wilcoxon's test of each two beside, and an "
        "analysis of variance by ranks over speakers of all.",
        allow_abbrev=False,
    )
    parser.add_argument("--protocol", required=True, metavar="NAME", help="'rescore protocols' lists them")
    add_inputs(parser)
    parser.add_argument(
        "--against", required=True, action="append", metavar="URL", help="another output; once for each"
    )
    parser.add_argument("--measure", metavar="NAME", help="default: the protocol's primary one")
    parser.add_argument("--level", type=float, default=0.95, help="of intervals and ties (default 0.95)")
    add_settings(parser)
    parser.add_argument("--json", action="store_true", help="print one JSON document")
    parser.set_defaults(command=compare)


def compare(args: argparse.Namespace) -> int:
    """Compare and print; 0, whatever the tests say."""
    overrides, notes = settings_of(args)
    protocol = find(args.protocol, mode=args.mode, overrides=overrides)
    inputs = roles_of(args, protocol)
    check_roles(protocol, inputs)
    board, tests = _compared(args, protocol, inputs)
    for finding in notes:
        note(str(finding))
    if args.json:
        head = {"protocol": protocol.name, "mode": protocol.mode, "signature": signature(protocol, ())}
        print_json({**head, **_document(board), **_tests_document(tests)})
    else:
        print("\n\n".join([*_text(board), *([_tests(tests)] if tests.pairs else [])]))
    return 0


def _compared(
    args: argparse.Namespace, protocol: Protocol, inputs: Mapping[str, str]
) -> tuple[BoardIntervals, PairedTests]:
    from pipeline.meta.in_memory import board, opened
    from pipeline.meta.intervals import Resampling

    main = protocol.family.outputs[0]
    tables, _ = read_all(protocol, inputs)
    outputs = {}
    for url in (inputs[main], *args.against):
        other, _ = read_all(protocol, {main: url})
        name = PurePosixPath(url.replace("\\", "/")).name.partition(".")[0]
        outputs[name if name not in outputs else url] = {**tables, **other}
    own = {name: opened(protocol, one) for name, one in outputs.items()}
    how = Resampling(level=args.level, method="bca")
    made = board(protocol, own, args.measure or protocol.primary, how)
    return made, paired_tests(protocol, {name: one.partial for name, one in own.items()})


def _document(board: BoardIntervals) -> dict[str, Any]:
    from pipeline.meta.in_memory import letters

    told = letters(board)
    return {
        "measure": board.measure,
        "unit": board.unit,
        "level": board.resampling.level,
        "method": board.resampling.method,
        "systems": [
            {
                "system": name,
                "value": plain(one.value),
                "low": plain(one.low),
                "high": plain(one.high),
                "n_units": one.n_units,
                "letters": told[name],
                "reason": one.reason,
            }
            for name, one in _ordered(board)
        ],
        "comparisons": [{name: plain(getattr(one, name)) for name in _PAIR} for one in board.comparisons],
    }


_PAIR = ("first", "second", "difference", "low", "high", "p", "p_holm", "test")


def _ordered(board: BoardIntervals) -> Iterator[tuple[str, Any]]:
    for name in dict.fromkeys([*board.ranked, *board.intervals]):
        yield name, board.intervals[name]


def _text(board: BoardIntervals) -> Iterator[str]:
    from pipeline.meta.in_memory import letters

    told = letters(board)
    systems = [
        (name, number(one.value), number(one.low), number(one.high), told[name] or one.reason or "")
        for name, one in _ordered(board)
    ]
    level = f"{100 * board.resampling.level:g} %"
    yield columns(
        [("system", board.measure, f"{level} from", "to", "not told apart"), *systems], right=frozenset({1, 2, 3})
    )
    if board.comparisons:
        pairs = [
            (f"{one.first} - {one.second}", *(number(getattr(one, name)) for name in _PAIR[2:7]), one.test)
            for one in board.comparisons
        ]
        head = ("difference", "", f"{level} from", "to", "p", "p (Holm)", "test")
        yield columns([head, *pairs], right=frozenset(range(1, 6)))


def _tests_document(tests: PairedTests) -> dict[str, Any]:
    """Tests of every pair and of all outputs; those of the one pair of two outputs stand by name beside."""
    shown = {
        pair: {
            name: {**figure_document(figure, "1"), "p_holm": plain(tests.p_holm[pair].get(name, math.nan))}
            for name, figure in own.items()
        }
        for pair, own in tests.pairs.items()
    }
    pairs = [{"first": first, "second": second, "tests": own} for (first, second), own in shown.items()]
    of_all = {name: figure_document(figure, "1") for name, figure in tests.of_all.items()}
    only = {"tests": next(iter(shown.values()))} if len(shown) == 1 else {}
    return {**only, "tests_of_pairs": pairs, "tests_of_all": of_all} if pairs else {}


def _tests(tests: PairedTests) -> str:
    """One row a pair and test, then tests of all outputs."""
    pairs = [
        (f"{first} - {second}", name, number(figure.value), _holm(tests.p_holm[first, second], name), _remark(figure))
        for (first, second), own in tests.pairs.items()
        for name, figure in own.items()
    ]
    of_all = [("all", name, number(figure.value), "", _remark(figure)) for name, figure in tests.of_all.items()]
    return columns([("outputs", "test", "p", "p (Holm)", ""), *pairs, *of_all], right=frozenset({2, 3}))


def _holm(corrected: Mapping[str, float], name: str) -> str:
    return number(corrected[name]) if name in corrected else ""


def _remark(figure: Figure) -> str:
    companions = [f"{name} {number(value)}" for name, value in figure.detail.items()]
    return ", ".join([*([f"undefined: {figure.reason}"] if figure.reason else []), *companions])
