"""``rescore validate --season FILE``: a submission as a participant checks it, before it is sent and without a key."""

from __future__ import annotations

import argparse
from pathlib import Path

from pipeline.cli.output import print_json, shown
from pipeline.errors import UsageError


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
