"""``rescore quesst-lines``: the lines of the QUESST scoring tool that recipes parse."""

from __future__ import annotations

import argparse
import sys
from typing import Any

import numpy as np

from pipeline.cli.inputs import add_named_settings, add_short_inputs, roles_of, settings_of
from pipeline.cli.output import shown
from pipeline.engine.score import score_files
from pipeline.protocols import find
from pipeline.terms import Figure

LINES = (
    (("actTWV", "atwv", ""), ("maxTWV", "mtwv", ""), ("Threshold", "mtwv_threshold", "jar_threshold")),
    (("actCnxe", "cnxe", ""), ("minCnxe", "min_cnxe_pav_input_order", "")),
)
"""What each line says: the tool's name, our measure, and the companion of it that is meant."""


def register(subparsers: Any) -> None:
    """Add the command."""
    parser = subparsers.add_parser(
        "quesst-lines",
        help="the figures of query by document in the lines of MediaEval's tool",
        description="Score one output under `quesst` and print the main results as MediaEval's QUESST tool does, in "
        "single precision: minCnxe depends on the order of the output, as there.",
        allow_abbrev=False,
    )
    add_short_inputs(parser)
    add_named_settings(parser)
    parser.add_argument("--default", type=float, metavar="SCORE", help="score of pairs that the output lacks")
    parser.add_argument("--prior", type=float, metavar="P", help="effective prior (the organisers' script: 0.0741289)")
    parser.set_defaults(command=quesst_lines, protocol="quesst")


def quesst_lines(args: argparse.Namespace) -> int:
    """Score and print; 0. What is to be warned of goes to standard error."""
    overrides, notes = settings_of(args)
    given = {"censor": args.default, "p_target_effective": args.prior}
    asked = {name: str(value) for name, value in given.items() if value is not None}
    protocol = find("quesst", mode=args.mode, overrides={**overrides, **asked})
    names = [measure for line in LINES for _, measure, _ in line]
    result = score_files(protocol, roles_of(args, protocol), measures=names)
    for finding in (*notes, *result.findings):
        print(shown(str(finding)), file=sys.stderr)
    print("Main Results:\n")
    for line in LINES:
        told = (f"{tool}: {printed(_value(result.figures[own], part))}" for tool, own, part in line)
        print("  ".join(told))
    return 0


def _value(figure: Figure, companion: str) -> float:
    return float(figure.detail.get(companion, np.nan)) if companion else figure.value


def printed(value: float) -> str:
    """A number in single precision as Java prints it: the fewest digits that tell it apart, powers of ten where it is
    small or large.
    """
    number = np.float32(value)
    if not np.isfinite(number):
        return "NaN" if np.isnan(number) else f"{'-' if number < 0 else ''}Infinity"
    if not number or 1e-3 <= abs(number) < 1e7:
        return np.format_float_positional(number, unique=True, trim="0")
    return np.format_float_scientific(number, unique=True, trim="0", exp_digits=1).replace("e", "E").replace("E+", "E")
