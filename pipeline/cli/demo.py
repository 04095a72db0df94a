"""``rescore demo``: a made-up evaluation, scored from files to grid and page."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

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
    parser.add_argument("--workers", type=count, default=None, metavar="N", help="default: one a core")
    parser.set_defaults(command=demo)


def demo(args: argparse.Namespace) -> int:
    """Write, run, print; 0."""
    folder = Path(args.folder)
    check_folder(folder)
    from pipeline.cli.synthetic import write_evaluation  # numpy's random generators and, below, all of the flow

    evaluation = write_evaluation(folder)
    (folder / MARK).touch()
    print(f"A made-up evaluation is in {folder}: read {evaluation}")
    from flows.rescore import run_evaluation

    store = args.store or str(folder / "store")
    summary = run_evaluation(str(evaluation), store=store, workers=args.workers)
    page = summary.paths.get("index.html", "")
    print(f"\nOpen {page} in a browser. Change a file in {folder} and say")
    print(f"  rescore run {evaluation} --store {store}")
    print("to score again what that changes, and nothing else.")
    return 0


def check_folder(folder: Path) -> None:
    """Raise ``UsageError`` when the folder holds something that is not an earlier demo: it would be written over."""
    if folder.exists() and not folder.is_dir():
        raise UsageError(f"--folder {folder} is a file. Name a folder.")
    if folder.is_dir() and any(folder.iterdir()) and not (folder / MARK).exists():
        raise UsageError(f"--folder {folder} is not empty and holds no earlier demo. Name a new folder, or empty it.")
