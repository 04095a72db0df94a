"""The options that say where an evaluation is run, shared by the commands that run one."""

from __future__ import annotations

import argparse

DEFAULT_STORE = "./rescore-store"


def add_place(parser: argparse.ArgumentParser) -> None:
    """Add the evaluation and ``--store``, ``--cluster``, ``--workers``."""
    parser.add_argument("evaluation", metavar="EVALUATION.yaml", help="a path or any fsspec URL")
    parser.add_argument(
        "--store", type=shared_store, default=DEFAULT_STORE, metavar="URL", help=f"default: {DEFAULT_STORE}"
    )
    parser.add_argument(
        "--cluster",
        default=None,
        metavar="KIND|tcp://…",
        help="none, local, slurm, kubernetes, or a Dask scheduler; default: RESCORE_CLUSTER, or local where worth it",
    )
    parser.add_argument(
        "--workers",
        type=workers,
        default=None,
        metavar="N|LEAST:MOST",
        help="of a cluster that the run starts; 4:64 grows and shrinks with the work",
    )


def workers(text: str) -> int | str:
    """A number of workers, or two with a colon between them."""
    ends = [count(part) for part in text.split(":", 1)]
    if len(ends) == 2 and ends[0] > ends[1]:
        raise argparse.ArgumentTypeError(f"{text!r} is not LEAST:MOST")
    return ends[0] if len(ends) == 1 else text


def count(text: str) -> int:
    """A number of workers."""
    if not text.isdecimal() or int(text) < 1:
        raise argparse.ArgumentTypeError(f"{text!r} is not a count of at least 1")
    return int(text)


def shared_store(text: str) -> str:
    """A store that all processes of a run can reach."""
    if text.startswith("memory://"):
        raise argparse.ArgumentTypeError(
            f"{text!r} lives in one process, and a run has several. Give a folder or a bucket"
        )
    return text
