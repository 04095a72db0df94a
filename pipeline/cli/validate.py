"""``rescore validate``: read input files and tell everything that is wrong with them."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath
from typing import Any

from pipeline.cli.handed_in import HandedIn, folder_files, handed_in, outputs_of
from pipeline.cli.inputs import add_named_settings, add_short_inputs, roles_of, settings_of
from pipeline.cli.output import columns, error_document, finding_document, note_findings, print_json, shown
from pipeline.engine.checks import checked
from pipeline.engine.inputs import read_role
from pipeline.engine.labels import relabel
from pipeline.errors import Finding, InputError, PlatformError, UsageError, escaped
from pipeline.protocols import find
from pipeline.protocols.base import Protocol
from pipeline.season import archives
from pipeline.season.verdict import ERROR, Remarks
from pipeline.trials.joined import Join

DEFAULT_PROTOCOL = "openkws13"


def register(subparsers: Any) -> None:
    """Add the command."""
    parser = subparsers.add_parser(
        "validate",
        help="check input files",
        description="Read each given input and print every problem, and whatever scoring would say of the outputs: a "
        "key is not needed. Any subset of the inputs will do. Outputs may be files, folders or archives (zip, tar).",
        allow_abbrev=False,
    )
    parser.add_argument(
        "--protocol",
        default=DEFAULT_PROTOCOL,
        metavar="NAME",
        help=f"whose inputs these are (default: {DEFAULT_PROTOCOL}; keyword search protocols read the same files)",
    )
    add_short_inputs(parser)
    add_named_settings(parser)
    add_submission(parser)
    parser.add_argument("--json", action="store_true", help="print one JSON document")
    parser.set_defaults(command=lambda args: validate_submission(args) if args.season or args.team else validate(args))


@dataclass
class _Said:
    """What is said of one file."""

    problems: list[Finding] = field(default_factory=list)
    n_hidden: int = 0
    """Problems beyond those that are kept."""
    warnings: list[Finding] = field(default_factory=list)

    @property
    def verdict(self) -> str:
        """In a word, with counts."""
        n, m = len(self.problems) + self.n_hidden, len(self.warnings)
        if n:
            return f"refused ({n} problem{'s' * (n != 1)})"
        return f"fine ({m} warning{'s' * (m != 1)})" if m else "fine"


class _Report:
    """What is said of all files, each by its role and name, and of several of them together."""

    def __init__(self) -> None:
        self.files: dict[tuple[str, str], _Said] = {}

    def enter(self, role: str, name: str) -> None:
        """A file that is looked at."""
        self.files.setdefault((role, name), _Said())

    def take(self, problems: Sequence[Finding], count: int, warnings: Sequence[Finding] = ()) -> None:
        """Findings, ``count`` being that of all problems; what was said already is passed over."""
        for one in problems:
            said = self._said_of(one)
            if one not in said.problems:
                said.problems.append(one)
        if count > len(problems):
            self._said_of(problems[-1]).n_hidden += count - len(problems)
        for one in warnings:
            said = self._said_of(one)
            if one not in said.warnings and one not in said.problems:
                said.warnings.append(one)

    def _said_of(self, finding: Finding) -> _Said:
        for (_, name), said in self.files.items():
            place = escaped(name)
            if name and finding.where.startswith(place) and finding.where[len(place) :][:1] in ("", ":"):
                return said
        return self.files.setdefault(("together", ""), _Said())

    @property
    def problems(self) -> list[Finding]:
        """All that are kept."""
        return [one for said in self.files.values() for one in said.problems]

    @property
    def count(self) -> int:
        """The number of all problems."""
        return sum(len(said.problems) + said.n_hidden for said in self.files.values())

    @property
    def warnings(self) -> list[Finding]:
        """All warnings."""
        return [one for said in self.files.values() for one in said.warnings]


def validate(args: argparse.Namespace) -> int:
    """Read every input, and say of outputs what scoring would; 0, or 1 when there are problems."""
    overrides, notes = settings_of(args)
    protocol = find(args.protocol, mode=args.mode, overrides=overrides)
    inputs, outputs = roles_of(args, protocol), protocol.family.outputs
    if not inputs and not args.submission:
        roles = ", ".join(role.name for role in protocol.roles)
        raise UsageError(f"nothing to check. Give inputs as --input ROLE=URL (roles: {roles}).")
    packed = {role: uri for role, uri in inputs.items() if role in outputs and _is_packed(uri)}
    report = _Report()
    for role, uri in inputs.items():
        if role not in packed:
            report.enter(role, uri)
    with handed_in([*map(Path, packed.values()), *args.submission]) as found:
        report.take(found.problems, len(found.problems), notes)
        plain = {role: uri for role, uri in inputs.items() if role in outputs and role not in packed}
        organisers = {role: uri for role, uri in inputs.items() if role not in outputs}
        tables = _read(protocol, organisers, {}, report)
        sets = [*[plain] * bool(plain), *outputs_of(sorted(found.files), outputs)]
        for own in sets or [{}]:
            given = {**tables, **_read(protocol, own, found.files, report)}
            _check(protocol, given, {**organisers, **own}, report)
    _print(args, report)
    return InputError.exit_code if report.count else 0


def _is_packed(uri: str) -> bool:
    """Whether an output is given as a folder or an archive."""
    return "://" not in uri and (Path(uri).is_dir() or bool(archives.extension_of(uri)))


def _read(protocol: Protocol, inputs: Mapping[str, str], places: Mapping[str, Path], report: _Report) -> dict[str, Any]:
    """The tables of files that can be read, problems reported of the others. ``places``: where unpacked ones lie."""
    tables = {}
    for role, name in inputs.items():
        report.enter(role, name)
        try:
            tables[role], _ = read_role(protocol, role, str(places.get(name, name)), name if name in places else None)
        except InputError as error:
            report.take(error.findings, error.count)
        else:
            report.take((), 0, getattr(tables[role], "findings", ()))
    return tables


def _check(protocol: Protocol, tables: Mapping[str, Any], names: Mapping[str, str], report: _Report) -> None:
    """One output, or the organiser's files alone, as scoring would see them."""
    read = {role: name for role, name in names.items() if role in tables}
    found = checked(protocol, tables, read)
    slips = relabel(_name_slips(protocol, read), read)
    refused = [slip for slip in slips if slip.code in protocol.family.can.refused]
    report.take(refused, len(refused), [slip for slip in slips if slip not in refused])
    report.take(found.problems, found.n_problems, found.warnings)


def _name_slips(protocol: Protocol, names: Mapping[str, str]) -> tuple[Finding, ...]:
    """Slips in the name of an output's file."""
    main = names.get(protocol.family.outputs[0])
    return () if main is None else protocol.family.boards.name_slips(PurePosixPath(main.rpartition("::")[2]).name)


def _print(args: argparse.Namespace, report: _Report) -> None:
    error = InputError(report.problems, report.count)
    if args.json:
        listed = [finding_document(finding) for finding in report.warnings]
        print_json({**error_document(error), "warnings": listed, "n_warnings": len(listed)})
        return
    print(columns([(role, name, said.verdict) for (role, name), said in report.files.items()], indent=""))
    if report.count:
        note_findings(error)
    for warning in report.warnings:
        print(shown(str(warning)), file=sys.stderr)


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
    from pipeline.config.season import load_season
    from pipeline.season.examine import examined

    rules, roster = load_season(args.season)
    phase, uploads, unusable = rules.phase(args.phase), list[Path](), Remarks()
    for path in args.submission:
        found = folder_files(path) if path.is_dir() else HandedIn({str(path): path})
        uploads += found.files.values()
        unusable.take(ERROR, found.problems)
    absent = [str(path) for path in uploads if not path.exists()]
    if absent:
        raise UsageError(f"{', '.join(absent)}: there is no such file.")
    _check_team(args.team, roster, unusable)
    with examined(rules, phase, args.team, uploads, system=args.system) as looked_at:
        verdict = unusable.verdict() + looked_at.verdict
        systems = sorted({piece.system for piece in looked_at.pieces})
    if args.json:
        print_json({"accepted": verdict.accepted, "systems": systems, "remarks": verdict.document()})
    else:
        for remark in verdict.remarks:
            print(shown(str(remark)))
        print(shown(f"{'fine' if verdict.accepted else 'would be refused'}: {', '.join(systems) or 'no system'}"))
    return 0 if verdict.accepted else 1


def _check_team(team: str, roster: str, remarks: Remarks) -> None:
    """Note a team that the season's roster lacks: nothing it hands in would be taken."""
    from pipeline.config.season import load_roster

    if not roster:
        return
    try:
        teams = [entry.id for entry in load_roster(roster).teams]
    except (InputError, PlatformError):
        remarks.note("no_roster", "", "the roster cannot be read here, so that the team was not looked for in it")
        return
    join = Join("the submission", [team], "the roster", teams)
    if join.only_one:
        what = f"the team {team!r} is not in the roster: {join.told(of_other='has')}"
        remarks.error("unknown_team", "", what, "Name the team by its id in the roster.")
