"""How often intervals hold the true figure: ``python -m bench.coverage``.

Evaluations are made up again and again, as the demo makes them: queries differ in how well they are found, scores are
log-likelihood ratios of a normal model. The true figure is that of very many queries. Prints, for ATWV, MTWV and Cnxe,
for both kinds of interval and several numbers of queries, the share of intervals that hold it, with its standard error.
"""

from __future__ import annotations

import argparse
import math
from collections.abc import Sequence

import numpy as np

from pipeline.metrics.entropy import cxe
from pipeline.metrics.kws import twv
from pipeline.metrics.measure import Rules, Scored
from pipeline.metrics.statistics.bootstrap import interval, replicates
from pipeline.metrics.statistics.resampling import Sample
from pipeline.partials.ledger import Ledger
from pipeline.terms import Facts, OperatingPoint

N_TRIALS = 1000.0
POINT = OperatingPoint(c_miss=1.0, c_fa=1.0, p_target=0.02)
MEASURES = {one.name: one for one in (*twv.MEASURES, *cxe.MEASURES) if one.name in ("atwv", "mtwv", "cnxe")}
TRUTH_QUERIES = 20_000


def main(argv: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(prog="python -m bench.coverage", description=__doc__)
    parser.add_argument("--trials", type=int, default=400, help="evaluations of each size (default: 400)")
    parser.add_argument("--replicates", type=int, default=500, help="of each interval (default: 500)")
    args = parser.parse_args(argv)
    random = np.random.default_rng(2013)
    truth = {name: value(cell(random, TRUTH_QUERIES), name) for name in MEASURES}
    print("true figures: " + ", ".join(f"{name} {true:.4f}" for name, true in truth.items()))
    print(f"{'queries':>8} {'measure':>8} {'percentile':>17} {'bca':>17}")
    for n_queries in (20, 50, 200):
        held = {(name, method): 0 for name in MEASURES for method in ("percentile", "bca")}
        for _ in range(args.trials):
            made = cell(random, n_queries)
            for name in MEASURES:
                sample = sample_of(made, name)
                values = replicates(sample, int(random.integers(2**63)), range(args.replicates))
                for method in ("percentile", "bca"):
                    found = interval(sample, values, method=method)
                    held[name, method] += found.low <= truth[name] <= found.high
        for name in MEASURES:
            shares = [held[name, method] / args.trials for method in ("percentile", "bca")]
            told = [f"{share:.3f} (±{math.sqrt(share * (1 - share) / args.trials):.3f})" for share in shares]
            print(f"{n_queries:>8} {name:>8} {told[0]:>17} {told[1]:>17}")


def sample_of(scored: Scored[Ledger], name: str) -> Sample:
    found = MEASURES[name].sample(scored, no_rows)
    if isinstance(found, str):
        raise TypeError(f"{name}: {found}")
    return found


def no_rows() -> tuple[None, None]:
    """Figures of ledgers are drawn from the ledger alone."""
    return None, None


def value(scored: Scored[Ledger], name: str) -> float:
    sample = sample_of(scored, name)
    return float(sample.values(np.ones((1, len(sample.units)), np.int64))[0])


def cell(random: np.random.Generator, n_queries: int) -> Scored[Ledger]:
    """A made-up cell: each query has its own separation and number of occurrences; scores below 0 are not submitted."""
    d = random.normal(3.2, 0.7, n_queries).clip(0.5)
    n_true = 1 + random.poisson(4, n_queries)
    n_false = (N_TRIALS - n_true).astype(np.int64)
    query = np.concatenate([np.repeat(np.arange(n_queries), n_true), np.repeat(np.arange(n_queries), n_false)])
    target = np.arange(query.size) < n_true.sum()
    own = d[query]
    score = random.normal(np.where(target, own**2 / 2, -(own**2) / 2), own)
    kept = score > 0.0
    names = tuple(f"q{at:06d}" for at in range(n_queries))
    threshold = POINT.threshold
    total = Ledger.of(names, query[kept], score[kept], score[kept] >= threshold, target[kept], query[target & ~kept])
    facts = Facts(N_TRIALS, N_TRIALS, N_TRIALS, names)
    return Scored(total, facts, POINT, Rules(censor=0.0))


if __name__ == "__main__":
    main()
