"""One table of ratios against peers and floors: ``make bench``, or ``python -m bench``.

Every line is a subject beside a peer or a floor on the same made-up input, both run in turn in processes of their own:
the least processor time and time by the clock of ``runs`` runs (subject/peer where they differ), and the highest
memory. ``times less than the peer`` are ratios of these, ``aim`` the least ratios wanted. Reading, alignment,
"without Python's start" and the first of the lines on stored trials (planned, with its inputs hashed, in a
process that has scored a smaller cell) are measured within processes that are warm; everything else is a whole process
from its start. One thread each. Installed scorers take part where their paths are given. Ends with 1 where figures
differ or a subject fails; an aim that is missed is only told.
"""

from __future__ import annotations

import argparse
import shlex
import sys
import time
from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path

from bench import align, installed, peers, reader, stt, whole
from bench.machine import head
from bench.printed import Printed, printed
from bench.printed import markdown as printed_markdown
from bench.running import TIMES, Make, show
from bench.table import Line, markdown

QUICK = 0.01
"""Share of all sizes that ``--quick`` takes."""
PRINTED = {
    "startup": ("bench.startup",),
    "rows": ("bench.rows",),
}
"""Benches that print tables of their own, which follow the table."""
LARGE = ("score-large", "rows")
"""What ``--large`` takes."""


def main(argv: Sequence[str] | None = None) -> int:
    words = sys.argv[1:] if argv is None else list(argv)
    args = _arguments(words)
    makes = groups(args)
    names = args.only or (LARGE if args.large else list(makes))
    if unknown := [name for name in names if name not in {*makes, *PRINTED}]:
        print(f"--only {' '.join(unknown)}: not known (there are {' '.join([*makes, *PRINTED])})", file=sys.stderr)
        return 2
    facts, start = head(shlex.join(["python", "-m", "bench", *without_paths(words)])), time.monotonic()
    chosen = {name: makes[name] for name in names if name in makes}
    lines = show(chosen, args.times or (1 if args.quick else TIMES), aimed=not args.quick) if chosen else []
    others = [printed(*PRINTED[name]) for name in names if name in PRINTED]
    minutes = (time.monotonic() - start) / 60
    if args.write:
        args.write.parent.mkdir(parents=True, exist_ok=True)
        args.write.write_text(written(f"{facts}- took: {minutes:.1f} minutes\n", lines, others))
    aimed = [line for line in lines if line.met is not None]
    print(f"{sum(line.met is True for line in aimed)} of {len(aimed)} aims met, in {minutes:.1f} minutes")
    return int(any(line.wrong for line in lines) or any(other.failed for other in others))


def _arguments(words: Sequence[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m bench", description=__doc__)
    parser.add_argument("--only", nargs="+", metavar="NAME", help="groups of lines, or other benches")
    parser.add_argument("--large", action="store_true", help=f"{', '.join(LARGE)}: up to 1e8 trials, some minutes")
    parser.add_argument("--times", type=int, help=f"runs of each (default: {TIMES})")
    parser.add_argument("--quick", action="store_true", help="a hundredth of the sizes, one run each, no aims: a trial")
    parser.add_argument("--write", type=Path, metavar="FILE", help="also write the table as Markdown")
    parser.add_argument("--sclite", metavar="COMMAND", help="where it is not on the path (Debian: sctk)")
    for tool in installed.ALL:
        parser.add_argument(
            tool.option, metavar="PATH", help=f"the program, or the folder of {tool.of} ({tool.variable})"
        )
    return parser.parse_args(words)


def groups(args: argparse.Namespace) -> Mapping[str, Make]:
    """Every group by name, of the sizes asked for."""

    def size(rows: int) -> int:
        return int(rows * QUICK) if args.quick else rows

    return {
        "reader": partial(reader.group, rows=size(1_000_000)),
        "align": partial(align.group, rows=size(1_000_000), n_true=size(30_000)),
        "score": partial(whole.group, rows=size(1_000_000)),
        "score-large": partial(whole.large, rows=size(5_000_000)),
        "stt": partial(stt.group, rows=size(200_000), sclite=args.sclite),
        "med": partial(peers.med, rows=size(50_000), path=args.deva),
        "kws": partial(peers.kws, rows=size(5_000), path=args.kwseval),
        "std": partial(peers.std, rows=size(16_000), path=args.stdeval),
        "jar": partial(peers.jar, rows=size(100_000), path=args.jar),
        "kaldi": partial(peers.kaldi, rows=size(1_000_000), path=args.kaldi),
    }


def written(facts: str, lines: Sequence[Line], others: Sequence[Printed]) -> str:
    """The results as Markdown: how to read them, the command and the machine, the tables."""
    doc = (__doc__ or "").split("\n\n", 1)[1].strip()
    tables = (f"\n{markdown(lines)}" if lines else "") + "".join(map(printed_markdown, others))
    return f"# Results of `bench`\n\n{doc}\n\n{facts}{tables}"


def without_paths(words: Sequence[str]) -> list[str]:
    """A command line that names no place of this machine: only the last part of every absolute path."""
    return [Path(word).name if word.startswith(("/", "~")) else word for word in words]


if __name__ == "__main__":
    sys.exit(main())
