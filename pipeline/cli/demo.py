"""``rescore demo``: a made-up evaluation, scored from files to grid and page."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

from pipeline.cli.output import shown
from pipeline.cli.place import count, shared_store
from pipeline.errors import UsageError

DEFAULT_FOLDER = "./rescore-demo"
EVALUATION = "evaluation.yaml"
MARK = ".rescore-demo"


def register(subparsers: Any) -> None:
    """Add the command."""
    parser = subparsers.add_parser(
        "demo",
        help="score a made-up evaluation",
        description="Write a made-up spoken web search evaluation (two query sets, two datasets, six systems, one "
        "malformed output, one missing cell), score it as `rescore run` would, and say where everything is.",
        allow_abbrev=False,
    )
    parser.add_argument("--folder", default=DEFAULT_FOLDER, help=f"where it goes (default: {DEFAULT_FOLDER})")
    parser.add_argument("--store", type=shared_store, metavar="URL", help="default: `store` in the folder")
    parser.add_argument("--workers", type=count, default=None, metavar="N", help="default: as many as are worth it")
    parser.add_argument("--years", action="store_true", help="three made-up years instead, compared by `rescore meta`")
    parser.add_argument(
        "--season", action="store_true", help="a made-up season instead, from roster to corrected board"
    )
    parser.set_defaults(command=demo)


def demo(args: argparse.Namespace) -> int:
    """Write, run, print; 0."""
    folder = Path(args.folder)
    check_folder(folder)
    if args.season:
        return _season(folder)
    from pipeline.demo.evaluation import write_evaluation  # numpy's random generators and, below, all of the flow

    if args.years:
        return _years(folder, args)
    evaluation = write_evaluation(folder)
    (folder / MARK).touch()
    print(f"A made-up evaluation is in {folder}: read {evaluation}")
    from flows.rescore import run_evaluation

    store = args.store or str(folder / "store")
    summary = run_evaluation(str(evaluation), store=store, cluster="local", workers=args.workers)
    page = summary.paths.get("index.html", "")
    print(f"\nOpen {page} in a browser. Change a file in {folder} and say")
    print(f"  rescore run {evaluation} --store {store}")
    print("to score again what that changes, and nothing else.")
    return 0


def _years(folder: Path, args: argparse.Namespace) -> int:
    """Write three years, compare them, print; 0."""
    from pipeline.demo.years import write_years

    file = write_years(folder)
    (folder / MARK).touch()
    print(f"Three made-up years are in {folder}: read {file}")
    from flows.study import run_study

    store = args.store or str(folder / "store")
    summary = run_study(str(file), store=store, cluster="local", workers=args.workers)
    print(f"\nOpen {summary.paths['index.html']} in a browser. Change {file} and say")
    print(f"  rescore meta {file} --store {store}")
    return 0


def _season(folder: Path) -> int:
    """Play a season in ``season`` of the folder and say where its pages are; 0."""
    from pipeline.cli.seasons.played import TRANSCRIPT, PlayedSeason

    place = folder.absolute() / "season"
    if place.exists():
        raise UsageError(
            f"{place} holds a season already, and a ledger is only added to. Remove it, or name a --folder."
        )
    folder.mkdir(parents=True, exist_ok=True)
    (folder / MARK).touch()
    print(f"cd {place}", flush=True)
    played = PlayedSeason(place, lambda text: print(shown(text), flush=True)).play()
    print(f"\nAll that was said is in {place / TRANSCRIPT}. Open in a browser what participants see:\n  {played.front}")
    print(f"and what a team sees, in {Path(played.store) / 'packets'}.")
    return 0


def check_folder(folder: Path) -> None:
    """Raise ``UsageError`` when the folder holds something that is not an earlier demo: it would be written over."""
    if folder.exists() and not folder.is_dir():
        raise UsageError(f"--folder {folder} is a file. Name a folder.")
    if folder.is_dir() and any(folder.iterdir()) and not (folder / MARK).exists():
        raise UsageError(f"--folder {folder} is not empty and holds no earlier demo. Name a new folder, or empty it.")
