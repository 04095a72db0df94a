"""``python -m tests.fuzz``: mutated inputs through everything that takes a file, counted, replayed by number."""

from __future__ import annotations

import argparse
import json
import random
import sys
import time
import traceback
import warnings
from collections import Counter
from pathlib import Path

from flows.settings import prepare_environment
from tests.fuzz.mutate import MEMORY_BYTES_AT_MOST
from tests.peak import peak_bytes

TOLD_EVERY = 20_000
CPU_S_AT_MOST, BYTES_OF_CPU = 5.0, 1_000_000
FAULTS_AT_MOST = 50
"""After so many faults there is something to mend first."""


def main(argv: list[str] | None = None) -> int:
    """Run the cases; 1 where one ended otherwise than read or refused, took too long, or took too much memory."""
    parser = argparse.ArgumentParser(prog="python -m tests.fuzz", description=__doc__)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--cases", default="0:20000", metavar="A:B", help="these cases of the seed (default: 0:20000)")
    parser.add_argument("--case", type=int, help="one case, with the traceback of what it raises")
    parser.add_argument("--only", metavar="TARGET", help="one target instead of all by their shares")
    parser.add_argument("--seconds", type=float, default=float("inf"), help="begin no case after so long")
    parser.add_argument("--report", type=Path, help="keep what was counted in this JSON file as well")
    args = parser.parse_args(argv)
    prepare_environment()
    warnings.simplefilter("error")
    if args.case is not None:
        print(played(args.seed, args.case, args.only))
        return 0
    first, _, last = args.cases.partition(":")
    return _many(args, range(int(first), int(last)))


def played(seed: int, number: int, only: str | None = None) -> tuple[str, str, int]:
    """Target, outcome and bytes of one case. Raises what the case raises."""
    from tests.fuzz.targets import TARGETS

    rng = random.Random(f"{seed} {number}")
    name = only or rng.choices(list(TARGETS), [share for _, share in TARGETS.values()])[0]
    return name, *TARGETS[name][0](rng)


def _many(args: argparse.Namespace, cases: range) -> int:
    counts, faults, slowest = Counter[str](), list[dict[str, object]](), 0.0
    began_s, cpu_s, held, n_done = time.monotonic(), time.process_time(), peak_bytes(), 0
    for number in cases:
        if time.monotonic() - began_s > args.seconds or len(faults) >= FAULTS_AT_MOST:
            break
        case_s, n_bytes = time.process_time(), 0
        try:
            name, outcome, n_bytes = played(args.seed, number, args.only)
            counts[f"{name} {outcome}"] += 1
        except Exception as error:
            where = traceback.extract_tb(error.__traceback__)[-1]
            what = f"{type(error).__name__}: {error}"[:300]
            faults.append({"case": number, "what": what, "where": f"{where.filename}:{where.lineno}"})
            print(f"case {number}: {faults[-1]['what']} ({faults[-1]['where']})", flush=True)
        took_s, grown = time.process_time() - case_s, peak_bytes() - held
        if n_bytes < BYTES_OF_CPU and number != cases.start:
            slowest = max(slowest, took_s)
        if took_s > CPU_S_AT_MOST and number != cases.start:
            faults.append({"case": number, "what": f"{took_s:.1f} s for {n_bytes} bytes"})
            print(f"case {number}: {faults[-1]['what']}", flush=True)
        if grown > MEMORY_BYTES_AT_MOST:
            faults.append({"case": number, "what": f"{grown >> 20} MiB for {n_bytes} bytes"})
            print(f"case {number}: {faults[-1]['what']}", flush=True)
            held = peak_bytes()
        n_done += 1
        if not n_done % TOLD_EVERY or number == cases[-1]:
            _tell(args, cases, n_done, counts, faults, slowest, time.process_time() - cpu_s)
    _tell(args, cases, n_done, counts, faults, slowest, time.process_time() - cpu_s)
    return int(bool(faults))


def _tell(
    args: argparse.Namespace,
    cases: range,
    n_done: int,
    counts: Counter[str],
    faults: list[dict[str, object]],
    slowest_s: float,
    cpu_s: float,
) -> None:
    from tests.fuzz.targets import LARGEST

    told = {
        "seed": args.seed,
        "first": cases.start,
        "n_cases": n_done,
        "counts": dict(sorted(counts.items())),
        "n_faults": len(faults),
        "faults": faults,
        "slowest_s": round(slowest_s, 3),
        "peak_bytes": peak_bytes(),
        "large_peak_bytes_and_cpu_s": dict(sorted(LARGEST.items())),
        "cpu_s": round(cpu_s, 1),
    }
    if args.report is not None:
        args.report.write_text(json.dumps(told, indent=1), encoding="utf-8")
    print(f"{n_done} cases, {len(faults)} faults, slowest {slowest_s:.2f} s, {cpu_s:.0f} s of CPU", file=sys.stderr)


if __name__ == "__main__":
    sys.exit(main())
