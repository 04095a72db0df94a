"""Speech-to-text scoring against Debian's ``sctk``: ``python -m bench.stt [--sclite COMMAND]``.

Writes a reference and an output of 200,000 tokens, and scores them with sclite where it is found (``sclite`` or ``sctk
sclite`` on the path, or ``--sclite``), with this project in a process of its own, and once more without the start of
Python. The counts must be the same, or the bench fails.
"""

from __future__ import annotations

import argparse
import json
import re
import shlex
import shutil
import subprocess
import sys
from collections.abc import Callable, Sequence
from contextlib import suppress
from functools import partial
from pathlib import Path

import numpy as np

from bench.inside import Made, Run, Ways
from bench.measured import CPU, WALL, Way, inside
from bench.running import TIMES, show
from bench.table import Comparison, Group
from pipeline.engine.score import score_files
from pipeline.protocols import find

OURS, WARM, PEER = "rescore score, STT", "STT without Python's start", "sclite"
COUNTS = ("n_ref", "corr", "sub", "del", "ins")
SEGMENTS_PER_FILE = 200
N_WORDS = 20_000


def main(argv: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m bench.stt", description=__doc__)
    parser.add_argument("--tokens", type=int, default=200_000, help="reference tokens (default: 200000)")
    parser.add_argument(
        "--segment", type=int, default=20, help="reference tokens of a segment, on average (default: 20)"
    )
    parser.add_argument("--sclite", help="the command, where it is not on the path")
    parser.add_argument("--times", type=int, default=TIMES, help=f"runs of each (default: {TIMES})")
    args = parser.parse_args(argv)
    make = partial(group, rows=args.tokens, segment=args.segment, sclite=args.sclite)
    return int(any(line.wrong for line in show({"stt": make}, args.times)))


def group(place: Path, rows: int, segment: int = 20, sclite: str | None = None) -> Group:
    """Both scorers, or a note where there is no sclite."""
    write_inputs(place, rows, segment)
    peer = shlex.split(sclite) if sclite else _on_the_path()
    ours = Way(OURS, tuple(_command(place)), found=_ours)
    note = "not on this machine (Debian: apt-get install sctk, or --sclite)"
    if not peer:
        return Group(rows, "tokens", [ours], [Comparison(OURS, PEER, absent=note)])
    theirs = Way(_named(peer), (*peer, *_options(place)), found=_theirs)
    return Group(
        rows,
        "tokens",
        [ours, theirs, inside(WARM, "bench.stt", WARM, place)],
        [Comparison(OURS, theirs.name, alike=_same), Comparison(WARM, theirs.name, (CPU, WALL), alike=_same)],
    )


def _on_the_path() -> list[str]:
    if shutil.which("sclite"):
        return ["sclite"]
    return ["sctk", "sclite"] if shutil.which("sctk") else []


def _named(command: Sequence[str]) -> str:
    """With its version, which it tells where it is called without arguments."""
    with suppress(OSError):
        told = subprocess.run(command, capture_output=True, text=True, check=False)
        if version := re.search(r"sclite Version: ([\d.]+)", told.stdout + told.stderr):
            return f"{PEER} {version[1]}"
    return PEER


def _options(place: Path) -> list[str]:
    files = ["-r", str(place / "ref.stm"), "stm", "-h", str(place / "hyp.ctm"), "ctm"]
    return [*files, *"-D -F -e utf-8 -o rsum -O . -n out".split()]


def _command(place: Path) -> list[str]:
    inputs = ["--input", f"stm={place / 'ref.stm'}", "--input", f"ctm={place / 'hyp.ctm'}"]
    return [sys.executable, "-m", "pipeline.cli", "score", "--protocol", "stt13", *inputs, "--json"]


def _same(ours: Sequence[int], theirs: Sequence[int]) -> bool:
    return list(ours) == list(theirs)


def _ours(told: str, _place: Path) -> list[int]:
    """Segments, tokens, correct, substituted, deleted, inserted, errors, segments in error."""
    document = json.loads(told)
    measures = {name: measure["value"] for name, measure in document["measures"].items()}
    counts = [int(measures[name]) for name in COUNTS]
    return [int(document["facts"]["n_segments"]), *counts, sum(counts[2:]), int(measures["seg_err"])]


def _theirs(_told: str, place: Path) -> list[int]:
    [report] = [path for path in place.iterdir() if path.suffix == ".raw"]
    [line] = [line for line in report.read_text().splitlines() if re.match(r"\s*\| Sum\s*\|", line)]
    return [int(number) for number in re.findall(r"\d+", line)[:8]]


def _warm(place: str) -> Run:
    files = {"stm": str(Path(place, "ref.stm")), "ctm": str(Path(place, "hyp.ctm"))}
    protocol = find("stt13")

    def run() -> Callable[[], Made]:
        result = score_files(protocol, files)
        figures = {name: figure.value for name, figure in result.figures.items()}
        counts = [int(figures[name]) for name in COUNTS]
        return lambda: Made([int(result.facts["n_segments"]), *counts, sum(counts[2:]), int(figures["seg_err"])])

    return run


WAYS: Ways = {WARM: _warm}


def write_inputs(place: Path, n_tokens: int, per_segment: int) -> None:
    """A reference and an output with a third of errors, words by Zipf's law, optional words and fragments."""
    random = np.random.default_rng(7)
    n_segments = n_tokens // per_segment
    words = [f"w{number}" for number in range(N_WORDS)]
    share = 1.0 / np.arange(1, N_WORDS + 1)
    lengths = random.integers(per_segment // 2, per_segment * 3 // 2 + 1, n_segments)
    with (place / "ref.stm").open("w") as ref, (place / "hyp.ctm").open("w") as hyp:
        for segment, length in enumerate(lengths.tolist()):
            file, begin_s = f"f{segment // SEGMENTS_PER_FILE:03d}", segment % SEGMENTS_PER_FILE * 10.0
            drawn = random.choice(N_WORDS, size=2 * length, p=share / share.sum())
            spoken = [words[code] for code in drawn[:length].tolist()]
            shown = [f"({word})" if code % 50 == 0 else word for word, code in zip(spoken, range(length), strict=True)]
            if segment % 20 == 0:
                shown[-1] = f"{shown[-1].strip('()')[:2]}-"
            print(file, 1, f"s{segment % 40}", f"{begin_s:.2f} {begin_s + 10:.2f}", *shown, file=ref)
            heard = _heard(random, spoken, [words[code] for code in drawn[length:].tolist()])
            step_s = 9.8 / max(len(heard), 1)
            for at, word in enumerate(heard):
                print(file, 1, f"{begin_s + at * step_s:.3f} {step_s:.3f}", word, f"{random.uniform():.4f}", file=hyp)


def _heard(random: np.random.Generator, spoken: list[str], others: list[str]) -> list[str]:
    heard = list[str]()
    for word, other, chance in zip(spoken, others, random.uniform(size=len(spoken)).tolist(), strict=True):
        if chance >= 0.07:
            heard.append(other if chance < 0.28 else word)
        if chance > 0.95:
            heard.append(other)
    return heard


if __name__ == "__main__":
    sys.exit(main())
