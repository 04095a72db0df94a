"""``rescore validate``: read input files and tell everything that is wrong with them."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path, PurePosixPath
from typing import Any

from pipeline.cli.inputs import add_short_inputs, roles_of
from pipeline.cli.output import columns, error_document, finding_document, note_findings, print_json, shown
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
    between = relabel(protocol.family.can.check(protocol, tables), inputs)
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
    slips = protocol.family.boards.name_slips(PurePosixPath(uri).name) if role in protocol.family.outputs else ()
    return relabel(slips, {role: uri})


def add_submission(parser: argparse.ArgumentParser) -> None:
    """Add the options that name a submission."""
    group = parser.add_argument_group("a submission", "check the files of a submission by the rules of a season")
    group.add_argument("--season", metavar="SEASON.yaml", help="the organiser's season file")
    group.add_argument("--team", metavar="TEAM", help="the team's id")
    group.add_argument("--phase", metavar="NAME", help="default: the only one")
    group.add_argument("--system", metavar="NAME", help="the system, where file names do not say it")
    group.add_argument("submission", nargs="*", type=Path, metavar="FILE", help="the files that would be submitted")


def validate_submission(args: argparse.Namespace) -> int:
    """Tell everything that would be told on submission; 0, or 1 where it would be refused."""
    if not args.season or not args.team:
        raise UsageError("a submission is checked by the rules of a season: give --season SEASON.yaml and --team TEAM.")
    if args.inputs:
        raise UsageError("give either --input ROLE=URL or the files of a submission.")
    absent = [str(path) for path in args.submission if not path.is_file()]
    if absent:
        raise UsageError(f"{', '.join(absent)}: there is no such file.")
    from pipeline.config.season import load_season
    from pipeline.season.examine import examined

    rules, _ = load_season(args.season)
    with examined(rules, rules.phase(args.phase), args.team, args.submission, system=args.system) as found:
        verdict, systems = found.verdict, sorted({piece.system for piece in found.pieces})
    if args.json:
        print_json({"accepted": verdict.accepted, "systems": systems, "remarks": verdict.document()})
    else:
        for remark in verdict.remarks:
            print(shown(str(remark)))
        print(shown(f"{'fine' if verdict.accepted else 'would be refused'}: {', '.join(systems) or 'no system'}"))
    return 0 if verdict.accepted else 1
