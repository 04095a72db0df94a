"""``rescore validate``: read input files and tell everything that is wrong with them."""

from __future__ import annotations

import argparse
import sys
from pathlib import PurePosixPath
from typing import Any

from pipeline.cli.inputs import add_short_inputs, roles_of
from pipeline.cli.output import columns, error_document, finding_document, note_findings, print_json, shown
from pipeline.cli.seasons.validate_submission import add_submission, validate_submission
from pipeline.engine.inputs import read_role
from pipeline.engine.labels import relabel
from pipeline.errors import Finding, InputError, UsageError
from pipeline.protocols import find
from pipeline.protocols.base import Protocol

DEFAULT_PROTOCOL = "openkws13"


def register(subparsers: Any) -> None:
    """Add the command."""
    parser = subparsers.add_parser(
        "validate",
        help="check input files",
        description="Read each given input and print every problem. Any subset of the inputs will do.",
        allow_abbrev=False,
    )
    parser.add_argument(
        "--protocol",
        default=DEFAULT_PROTOCOL,
        metavar="NAME",
        help=f"whose inputs these are (default: {DEFAULT_PROTOCOL}; keyword search protocols read the same files)",
    )
    add_short_inputs(parser)
    add_submission(parser)
    parser.add_argument("--json", action="store_true", help="print one JSON document")
    parser.set_defaults(command=lambda args: validate_submission(args) if args.submission else validate(args))


def validate(args: argparse.Namespace) -> int:
    """Read every input, and what they say of each other; 0, or 1 when there are problems."""
    protocol = find(args.protocol)
    inputs = roles_of(args, protocol)
    if not inputs:
        roles = ", ".join(role.name for role in protocol.roles)
        raise UsageError(f"nothing to check. Give inputs as --input ROLE=URL (roles: {roles}).")
    problems, warnings, count, rows = list[Finding](), list[Finding](), 0, []
    tables: dict[str, Any] = {}
    for role, uri in inputs.items():
        try:
            tables[role], _ = read_role(protocol, role, uri)
        except InputError as error:
            problems += error.findings
            count += error.count
            rows.append((role, uri, f"refused ({error.count} problem{'s' * (error.count != 1)})"))
            if not args.json:
                note_findings(error)
        else:
            found = (*getattr(tables[role], "findings", ()), *_name_slips(protocol, role, uri))
            warnings += found
            rows.append((role, uri, f"fine ({len(found)} warnings)" if found else "fine"))
    between = relabel(protocol.family.check(protocol, tables), inputs)
    if between:
        rows.append(("together", "", f"refused ({len(between)} problem{'s' * (len(between) != 1)})"))
        if not args.json:
            note_findings(InputError(between))
    problems += between
    count += len(between)
    if args.json:
        listed = [finding_document(finding) for finding in warnings]
        print_json({**error_document(InputError(problems, count)), "warnings": listed, "n_warnings": len(listed)})
    else:
        print(columns(rows, indent=""))
        for warning in warnings:
            print(shown(str(warning)), file=sys.stderr)
    return InputError.exit_code if count else 0


def _name_slips(protocol: Protocol, role: str, uri: str) -> tuple[Finding, ...]:
    """Slips in the name of an output's file."""
    slips = protocol.family.name_slips(PurePosixPath(uri).name) if role in protocol.family.outputs else ()
    return relabel(slips, {role: uri})
