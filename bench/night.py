"""A night of 600 cells with small outputs, on PostgreSQL: ``python -m bench.night`` (25 systems × 4 × 6).

Starts PostgreSQL and a Prefect server, then runs ``rescore run`` three times: the first night; a night on which every
output was handed in anew and a key row was corrected, so that all is made again; and a night on which nothing but one
row of every key changed. Prints wall and CPU seconds, also per cell, and how Prefect's database grew. Fails where the
second night takes more than a fifth longer or shorter than the first.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import psutil

from bench.servers import PrefectServer, postgres, postgres_binaries

RESCORE = Path(sys.executable).parent / "rescore"
QUERY_SETS = ("p", "q", "r", "s")
DATASETS = ("a", "b", "c", "d", "e", "f")
N_QUERIES = 20
N_FILES = 10
FILE_S = 60.0
LIMIT = 0.20


@dataclass(frozen=True)
class Night:
    """What one took. ``server_cpu_s`` is Prefect's server alone; ``database_bytes`` its growth."""

    name: str
    wall_s: float
    cpu_s: float
    server_cpu_s: float
    database_bytes: int
    summary: dict


def main(argv: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m bench.night", description=__doc__)
    parser.add_argument("--systems", type=int, default=25, help="each is 24 cells (default: 25)")
    parser.add_argument("--rows", type=int, default=200, help="detections of each output (default: 200)")
    parser.add_argument("--workers", type=int, default=2)
    args = parser.parse_args(argv)
    with tempfile.TemporaryDirectory(prefix="rescore-night-") as folder, postgres() as database:
        server = PrefectServer(Path(folder, "server"), database)
        try:
            server.start()
            return measure(Path(folder), args.systems, args.rows, args.workers, server)
        finally:
            server.kill()


def measure(place: Path, n_systems: int, n_rows: int, workers: int, server: PrefectServer) -> int:
    """Three nights; 1 where the second is not as long as the first."""
    write_organisers(place, seed=0)
    write_outputs(place, n_systems, n_rows, seed=1)
    nights = [night("first", place, workers, server)]
    write_organisers(place, seed=0, late_s=0.2)
    write_outputs(place, n_systems, n_rows, seed=2)
    nights.append(night("all handed in anew", place, workers, server))
    write_organisers(place, seed=0, late_s=0.3)
    nights.append(night("keys corrected", place, workers, server))
    for one in nights:
        told(one)
    ratio = nights[1].wall_s / nights[0].wall_s
    print(f"the second night took {ratio:.2f} of the first (limits {1 - LIMIT:.1f} and {1 + LIMIT:.1f})")
    return int(abs(ratio - 1) > LIMIT)


def night(name: str, place: Path, workers: int, server: PrefectServer) -> Night:
    """``rescore run`` on the server."""
    size, server_s = database_bytes(server), server_cpu_s(server)
    before, start = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter()
    command = [RESCORE, "run", place / "evaluation.yaml", "--store", place / "store", "--workers", str(workers)]
    environment = {**os.environ, **server.environment}
    done = subprocess.run([*command, "--json"], env=environment, capture_output=True, text=True, check=False)
    if done.returncode:
        raise RuntimeError(done.stderr)
    wall_s, after = time.perf_counter() - start, resource.getrusage(resource.RUSAGE_CHILDREN)
    cpu_s = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    grown = database_bytes(server) - size
    return Night(name, wall_s, cpu_s, server_cpu_s(server) - server_s, grown, json.loads(done.stdout))


def told(night: Night) -> None:
    """One line a night, and one for each kind of task."""
    work = night.summary["work"]
    n = work["results"]["made"]
    print(
        f"{night.name:<20} {n} cells, {night.wall_s:6.1f} s wall ({1000 * night.wall_s / n:.0f} ms a cell), "
        f"{night.cpu_s:6.1f} s CPU ({1000 * night.cpu_s / n:.0f} ms a cell), server {night.server_cpu_s:.1f} s CPU, "
        f"database +{night.database_bytes / 1e6:.1f} MB; made {work['labels']['made']} labels"
    )
    for kind, cost in work["costs"].items():
        print(
            f"    {kind:<9} {cost['n_tasks']:5d} tasks {cost['cpu_s']:7.1f} s CPU {cost['wall_s']:7.1f} s wall, "
            f"{cost['bytes_read'] / 1e6:7.1f} MB read, {cost['bytes_written'] / 1e6:7.1f} MB written, "
            f"peak {cost['peak_rss_bytes'] / 1e6:.0f} MB"
        )


def server_cpu_s(server: PrefectServer) -> float:
    """CPU seconds of the server so far."""
    process = psutil.Process(server.pid)
    times = [one.cpu_times() for one in [process, *process.children(recursive=True)]]
    return sum(one.user + one.system for one in times)


def database_bytes(server: PrefectServer) -> int:
    """The size of Prefect's database."""
    binaries = postgres_binaries()
    if binaries is None:
        raise FileNotFoundError("PostgreSQL is not installed")
    url = server.database.replace("postgresql+asyncpg", "postgresql")
    asked = [binaries / "psql", url, "-At", "-c", "select pg_database_size('prefect')"]
    return int(subprocess.run(asked, capture_output=True, text=True, check=True).stdout)


def write_organisers(place: Path, seed: int, late_s: float = 0.0) -> None:
    """Keys and query lists. ``late_s`` moves the first occurrence of every key."""
    random = np.random.default_rng(seed)
    files = [f"f{number:02d}" for number in range(N_FILES)]
    lines = ["name: night", "protocol: sws2013", "datasets:"]
    for dataset in DATASETS:
        rows = "".join(f'<excerpt audio_filename="{f}.wav" channel="1" tbeg="0" dur="{FILE_S}"/>\n' for f in files)
        ecf = f'<ecf source_signal_duration="{N_FILES * FILE_S}" version="1">\n{rows}</ecf>\n'
        (place / f"{dataset}.ecf.xml").write_text(ecf)
        begins_s = np.round(random.uniform(1, FILE_S - 5, (len(QUERY_SETS) * N_QUERIES,)), 2)
        begins_s[0] += late_s
        spoken = [
            f"LEXEME {files[n % N_FILES]} 1 {begin_s:.2f} 0.5 {QUERY_SETS[n // N_QUERIES]}{n % N_QUERIES} lex S <NA>\n"
            for n, begin_s in enumerate(begins_s)
        ]
        (place / f"{dataset}.rttm").write_text("".join(spoken))
        lines.append(f"  {dataset}: {{ecf: {dataset}.ecf.xml, rttm: {dataset}.rttm}}")
    lines.append("query_sets:")
    for query_set in QUERY_SETS:
        names = [f"{query_set}{number}" for number in range(N_QUERIES)]
        terms = "".join(f'<term termid="{name}"><termtext>{name}</termtext></term>\n' for name in names)
        text = f'<termlist ecf_filename="e" language="x" version="1">\n{terms}</termlist>\n'
        (place / f"{query_set}.tlist.xml").write_text(text)
        lines.append(f"  {query_set}: {{kwlist: {query_set}.tlist.xml}}")
    lines += ["systems:", "  pattern: out/{system}/{query_set}_{dataset}.xml", ""]
    (place / "evaluation.yaml").write_text("\n".join(lines))


def write_outputs(place: Path, n_systems: int, n_rows: int, seed: int) -> None:
    """One output for each system, query set and dataset."""
    random = np.random.default_rng(seed)
    for system in range(n_systems):
        folder = place / "out" / f"s{system:02d}"
        folder.mkdir(parents=True, exist_ok=True)
        for query_set in QUERY_SETS:
            for dataset in DATASETS:
                (folder / f"{query_set}_{dataset}.xml").write_text(output(random, query_set, n_rows))


def output(random: np.random.Generator, query_set: str, n_rows: int) -> str:
    lists = []
    per_query = n_rows // N_QUERIES
    for query in range(N_QUERIES):
        files, begins = random.integers(0, N_FILES, per_query), random.uniform(0, FILE_S - 1, per_query)
        scores = np.round(random.normal(0, 2, per_query), 3)
        rows = "".join(
            f'<term file="f{f:02d}" channel="1" tbeg="{b:.2f}" dur="0.5" score="{s}" '
            f'decision="{"YES" if s > 1 else "NO"}"/>\n'
            for f, b, s in zip(files, begins, scores, strict=True)
        )
        name = f"{query_set}{query}"
        lists.append(
            f'<detected_termlist termid="{name}" term_search_time="1" oov_term_count="0">\n{rows}</detected_termlist>\n'
        )
    head = '<stdlist termlist_filename="t" indexing_time="1" language="x" index_size="1" system_id="s">\n'
    return f"{head}{''.join(lists)}</stdlist>\n"


if __name__ == "__main__":
    sys.exit(main())
