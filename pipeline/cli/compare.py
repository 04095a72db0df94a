"""``rescore compare``: two outputs of speech-to-text on one reference, by paired tests."""

from __future__ import annotations

import argparse
from typing import Any

from pipeline.cli.inputs import add_inputs, add_settings, roles_of, settings_of
from pipeline.cli.output import columns, note, number, print_json
from pipeline.engine.compare import compare_files
from pipeline.engine.result import figure_document
from pipeline.protocols import find, signature
from pipeline.terms import Figure


def register(subparsers: Any) -> None:
    """Add the command."""
    parser = subparsers.add_parser(
        "compare",
        help="whether two outputs differ on one reference (speech-to-text)",
        description="Paired tests of two outputs: MAPSSWE, McNemar, sign, Wilcoxon by speaker, bootstrap by speaker.",
        allow_abbrev=False,
    )
    parser.add_argument("--protocol", required=True, metavar="NAME", help="'rescore protocols' lists them")
    add_inputs(parser)
    parser.add_argument("--against", required=True, metavar="URL", help="the second output")
    add_settings(parser)
    parser.add_argument("--json", action="store_true", help="print one JSON document")
    parser.set_defaults(command=compare)


def compare(args: argparse.Namespace) -> int:
    """Compare and print; 0, whatever the tests say."""
    overrides, notes = settings_of(args)
    protocol = find(args.protocol, mode=args.mode, overrides=overrides)
    tests = compare_files(protocol, roles_of(args, protocol), args.against)
    for finding in notes:
        note(str(finding))
    if args.json:
        shown = {name: figure_document(figure, "1") for name, figure in tests.items()}
        print_json(
            {"protocol": protocol.name, "mode": protocol.mode, "signature": signature(protocol, ()), "tests": shown}
        )
    else:
        rows = [(name, number(figure.value), _remark(figure)) for name, figure in tests.items()]
        print(columns([("test", "p", ""), *rows], right=frozenset({1})))
    return 0


def _remark(figure: Figure) -> str:
    companions = [f"{name} {number(value)}" for name, value in figure.detail.items()]
    return ", ".join([*([f"undefined: {figure.reason}"] if figure.reason else []), *companions])
