"""A complete QUESST submission on both routes: merged in one worker, and in passes over parts.

``python -m bench.large --rows 7000000`` writes the files, reads them once, and concludes twice on fresh clusters of two
worker processes. Prints wall time, CPU and the highest memory of every process, and checks that the bytes are equal.
"""

from __future__ import annotations

import argparse
import os
import resource
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path

import numpy as np
from distributed import Client, LocalCluster

from pipeline.engine.cell import score_cell
from pipeline.engine.large import BOUND
from pipeline.engine.plan import Plan, plan
from pipeline.store.blobs import Store
from pipeline.terms import Dataset, Evaluation, QuerySet, System

N_DOCUMENTS = 11_662
TARGET_SHARE = 7e-4
ONE_THREAD = dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "NUMBA_NUM_THREADS"), "1")
ROUTES = {"read, align, merge": 1 << 40, "merged in one worker": 1 << 40, "passes over parts": 1}


def main(argv: Sequence[str] | None = None) -> None:
    """Measure both routes."""
    parser = argparse.ArgumentParser(prog="python -m bench.large", description=__doc__)
    parser.add_argument("--rows", type=int, default=5_200_000, help="pairs of queries and documents")
    parser.add_argument("--digits", type=int, default=6, help="decimals of the scores; few make many ties")
    options = parser.parse_args(argv)
    with tempfile.TemporaryDirectory(prefix="rescore-bench-") as folder:
        place = Path(folder)
        planned, store = None, Store(str(place / "store"))
        n_rows = write_inputs(place, max(options.rows // N_DOCUMENTS, 1), options.digits)
        size = (place / "output.xml").stat().st_size
        print(f"{n_rows:,} rows, {size / 1e6:,.0f} MB of XML")
        results = set()
        for label, bound in ROUTES.items():
            for path in (*store.listing("labels"), *store.listing("results")):
                store.remove(path)
            planned = plan(evaluation(place), store)
            results.add(concluded(label, planned, store, bound))
        print("equal bytes" if len(results) == 1 else "THE BYTES DIFFER")


def concluded(label: str, planned: Plan, store: Store, bound: int) -> bytes:
    """Score the cell on a new cluster; its result."""
    os.environ[BOUND] = str(bound)
    [job] = planned.jobs
    with (
        LocalCluster(
            n_workers=2, threads_per_worker=1, dashboard_address="127.0.0.1:0", env=ONE_THREAD, memory_limit=0
        ) as cluster,
        Client(cluster) as client,
    ):
        before, start, here = client.run(used), time.perf_counter(), used()
        score_cell(store, planned, job.cell, client)
        wall = time.perf_counter() - start
        after = client.run(used)
    workers = [(after[name][0] - before[name][0], before[name][1], after[name][1]) for name in sorted(after)]
    shown = "; ".join(f"{cpu:6.1f} s CPU, {low:4,.0f} -> {high:5,.0f} MB" for cpu, low, high in workers)
    mine = used()
    print(
        f"{label:<22} {wall:6.1f} s wall; workers: {shown}; driver {mine[0] - here[0]:.1f} s, {mine[1]:,.0f} MB",
        flush=True,
    )
    return store.get(job.path)


def used() -> tuple[float, float]:
    """CPU seconds and the highest memory in MB of this process."""
    spent = resource.getrusage(resource.RUSAGE_SELF)
    return spent.ru_utime + spent.ru_stime, spent.ru_maxrss / 1024


def evaluation(place: Path) -> Evaluation:
    """The evaluation of one system."""
    return Evaluation(
        name="bench",
        protocol="quesst",
        mode="official",
        overrides=(("censor", "-10"),),
        datasets=(Dataset("d", str(place / "ecf.xml"), str(place / "key.rttm")),),
        query_sets=(QuerySet("q", str(place / "terms.xml")),),
        systems=(System("s", outputs={("q", "d"): str(place / "output.xml")}),),
    )


def write_inputs(place: Path, n_queries: int, digits: int) -> int:
    """A score for every query and document; returns their number."""
    random = np.random.default_rng(2015)
    documents = [f"d{number:05d}" for number in range(N_DOCUMENTS)]
    queries = [f"q{number:04d}" for number in range(n_queries)]
    excerpt = '<excerpt audio_filename="{}.wav" channel="1" tbeg="0" dur="10" language="x" source_type="c"/>\n'
    (place / "ecf.xml").write_text(f'<ecf version="1">{"".join(map(excerpt.format, documents))}</ecf>')
    terms = "".join(f'<term termid="{query}"><termtext>{query}</termtext></term>' for query in queries)
    (place / "terms.xml").write_text(f'<termlist ecf_filename="e" language="x" version="1">{terms}</termlist>')
    row = '<term file="{}" channel="1" tbeg="0" dur="10" score="{:.{digits}f}" decision="{}"/>\n'
    with (place / "output.xml").open("w") as output, (place / "key.rttm").open("w") as key:
        output.write('<stdlist termlist_filename="t" indexing_time="1" language="x" index_size="1" system_id="s">\n')
        for query in queries:
            target = random.random(N_DOCUMENTS) < TARGET_SHARE
            score = random.normal(np.where(target, 4.0, -3.0), 2.2)
            key.writelines(f"LEXEME {documents[at]} 1 0 10 {query} lex SELF <NA>\n" for at in np.flatnonzero(target))
            decision = np.where(score >= 2.5, "YES", "NO")
            rows = zip(documents, score.tolist(), decision.tolist(), strict=True)
            output.write(f'<detected_termlist termid="{query}" term_search_time="1" oov_term_count="0">\n')
            output.writelines(row.format(*values, digits=digits) for values in rows)
            output.write("</detected_termlist>\n")
        output.write("</stdlist>\n")
    return n_queries * N_DOCUMENTS


if __name__ == "__main__":
    main()
