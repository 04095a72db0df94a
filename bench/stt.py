"""Speech-to-text scoring against Debian's ``sctk``: ``python -m bench.stt [--sclite PATH]``.

Writes a reference and an output of 200,000 tokens, scores them with sclite where it is found (``sclite`` or ``sctk
sclite`` on the path, or ``--sclite``), with this project in a process of its own, and once more in this process
without the start of Python. Prints CPU seconds (user and system) and ratios; only the ratios carry over to other
machines. The counts of both must be the same, or the bench fails.
"""

from __future__ import annotations

import argparse
import re
import resource
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from pipeline.engine.score import score_files
from pipeline.protocols import find

SEGMENTS_PER_FILE = 200
N_WORDS = 20_000


def main(argv: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m bench.stt", description=__doc__)
    parser.add_argument("--tokens", type=int, default=200_000, help="reference tokens (default: 200000)")
    parser.add_argument(
        "--segment", type=int, default=20, help="reference tokens of a segment, on average (default: 20)"
    )
    parser.add_argument("--sclite", help="the command, where it is not on the path")
    args = parser.parse_args(argv)
    sclite = args.sclite.split() if args.sclite else _found()
    with tempfile.TemporaryDirectory(prefix="rescore-bench-") as folder:
        place = Path(folder)
        write_inputs(place, args.tokens, args.segment)
        ours = _ours(place)
        process_s = _child_cpu_s(_command(place), place)
        print(f"rescore, its own process  {process_s:8.2f} s of CPU")
        print(f"rescore, in this process  {ours['cpu_s']:8.2f} s of CPU")
        if not sclite:
            print("sclite is not here (Debian: apt-get install sctk, or --sclite PATH): no ratio")
            return 0
        sclite_s = _child_cpu_s([*sclite, *_options()], place)
        print(f"sclite                    {sclite_s:8.2f} s of CPU")
        print(f"ratio: {sclite_s / process_s:.1f} with Python's start, {sclite_s / ours['cpu_s']:.1f} without")
        theirs = _counts(place)
    same = theirs == ours["counts"]
    print(f"counts (segments, tokens, correct, substituted, deleted, inserted, errors, segments in error): {theirs}")
    print("the same" if same else f"NOT the same: {ours['counts']}")
    return 0 if same else 1


def _found() -> list[str]:
    if shutil.which("sclite"):
        return ["sclite"]
    return ["sctk", "sclite"] if shutil.which("sctk") else []


def _options() -> list[str]:
    return "-r ref.stm stm -h hyp.ctm ctm -D -F -e utf-8 -o rsum -O . -n out".split()


def _command(place: Path) -> list[str]:
    inputs = ["--input", f"stm={place / 'ref.stm'}", "--input", f"ctm={place / 'hyp.ctm'}"]
    return [sys.executable, "-m", "pipeline.cli", "score", "--protocol", "stt13", *inputs, "--json"]


def _child_cpu_s(command: list[str], place: Path) -> float:
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run(command, cwd=place, check=True, stdout=subprocess.DEVNULL)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def _ours(place: Path) -> dict[str, object]:
    protocol = find("stt13")
    start = time.process_time()
    result = score_files(protocol, {"stm": str(place / "ref.stm"), "ctm": str(place / "hyp.ctm")})
    cpu_s = time.process_time() - start
    names = ("n_ref", "corr", "sub", "del", "ins")
    counts = [int(result.figures[name].value) for name in names]
    errors = int(result.figures["wer"].detail["n_errors"])
    segments = int(result.facts["n_segments"])
    return {"cpu_s": cpu_s, "counts": [segments, *counts, errors, int(result.figures["seg_err"].value)]}


def _counts(place: Path) -> list[int]:
    [report] = [path for path in place.iterdir() if path.suffix == ".raw"]
    [line] = [line for line in report.read_text().splitlines() if re.match(r"\s*\| Sum\s*\|", line)]
    return [int(number) for number in re.findall(r"\d+", line)[:8]]


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
