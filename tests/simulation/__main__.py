"""``python -m tests.simulation``: histories from seeds, replayed and made smaller where they end badly."""

from __future__ import annotations

import argparse
import sys
import time
from collections import Counter
from contextlib import nullcontext

from flows.settings import prepare_environment

TOLD_EVERY = 1000


def main(argv: list[str] | None = None) -> int:
    """Play; 1 where a history ended badly, or a broken product was not found out."""
    parser = argparse.ArgumentParser(prog="python -m tests.simulation", description=__doc__)
    which = parser.add_mutually_exclusive_group()
    which.add_argument("--seed", type=int, help="play one history, tell it, and make it smaller where it ends badly")
    which.add_argument("--seeds", default="0:300", metavar="A:B", help="play these (default: 0:300)")
    parser.add_argument("--broken", metavar="NAME", help="break the product so (`list` lists the ways)")
    parser.add_argument("--seconds", type=float, default=float("inf"), help="begin no history after so long")
    args = parser.parse_args(argv)
    prepare_environment()
    from tests.simulation.broken import VARIANTS, broken

    if args.broken == "list":
        print("\n".join(f"{name}: {make.__doc__}" for name, make in VARIANTS.items()))
        return 0
    with broken(args.broken) if args.broken else nullcontext():
        if args.seed is not None:
            return _one(args.seed)
        first, _, last = args.seeds.partition(":")
        return _many(range(int(first), int(last)), args.seconds, args.broken)


def _one(seed: int) -> int:
    from tests.simulation.history import play
    from tests.simulation.shrink import shrunk

    played = play(seed)
    if played.bad is None:
        _tell(played)
        return 0
    played = shrunk(played, lambda text: print(f"smaller: {text}", file=sys.stderr))
    _tell(played)
    return 1


def _tell(played: object) -> None:
    from tests.simulation.history import Played

    assert isinstance(played, Played)
    spec = played.spec
    place = "a bucket" if spec.bucket else "a place without patience"
    print(f"seed {spec.seed}: {place}, cells of {'many tasks' if spec.parts else 'one task'}, outages {spec.outages}")
    print("\n".join(map(str, spec.events)))
    for number, kind in sorted(played.faults.items()):
        print(f"  request {number}: {kind}")
    print(f"{played.n_requests} requests: {played.bad or 'a good end'}")


def _many(seeds: range, seconds: float, name: str | None) -> int:
    from tests.simulation.history import play

    counts, bad, began_s, n_played = Counter[str](), list[int](), time.monotonic(), 0
    cpu_s = time.process_time()
    for seed in seeds:
        if time.monotonic() - began_s > seconds:
            break
        played = play(seed)
        counts.update(played.counts)
        n_played += 1
        if played.bad is not None:
            bad.append(seed)
            print(f"seed {seed}: {played.bad}", flush=True)
            if name is not None:
                break
        if not n_played % TOLD_EVERY:
            print(f"{n_played} histories, {len(bad)} with a bad end", file=sys.stderr, flush=True)
    took = f"{time.process_time() - cpu_s:.0f} s of CPU"
    print(f"{n_played} histories from seed {seeds.start} on, {len(bad)} with a bad end, {took}")
    print(", ".join(f"{kind} {n}" for kind, n in sorted(counts.items())))
    if bad:
        print(
            f"Replay one, made smaller: python -m tests.simulation --seed {bad[0]}{f' --broken {name}' if name else ''}"
        )
    return int(bool(bad) != (name is not None))


if __name__ == "__main__":
    sys.exit(main())
