"""What a change costs against a full run: ``python -m bench.rescore`` (20 systems × 4 cells × 50,000 detections).

CPU seconds of ``rescore run`` with all of its processes, and three readings of them as a share of a full run:

* ``beyond empty``: beyond a first run of an empty evaluation (one system whose outputs have no detection), which pays
  for starting Prefect and Dask. The limits are on it. Below 0 a change costs less than starting them.
* ``strict``: beyond the same change made to the empty evaluation, which starts what the change starts: neither.
* ``gross``: nothing taken off.

A full run is what it takes beyond the empty one. Fails where a limit is passed, or where doing nothing takes too long.
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
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

N_QUERIES = 500
N_FILES = 1000
FILE_S = 72.0
RESCORE = Path(sys.executable).parent / "rescore"
LIMITS = {"one corrected key row": 0.05, "another operating point": 0.03}
NOTHING, NOTHING_S = "nothing", 3.0
"""Wall time in which a run says that there is nothing to do."""


@dataclass(frozen=True)
class Cost:
    """Of one run."""

    cpu_s: float
    wall_s: float
    summary: dict


def main(argv: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m bench.rescore", description=__doc__)
    parser.add_argument("--systems", type=int, default=20)
    parser.add_argument("--rows", type=int, default=50_000, help="detections of each output (default: 50000)")
    parser.add_argument("--workers", type=int, default=2)
    args = parser.parse_args(argv)
    with tempfile.TemporaryDirectory(prefix="rescore-bench-") as folder:
        return measure(Path(folder), args.systems, args.rows, args.workers)


def measure(place: Path, n_systems: int, n_rows: int, workers: int) -> int:
    """Run, change, run again; 1 where a limit is passed."""
    write(place / "empty", 1, 0)
    write(place / "full", n_systems, n_rows)
    empty = run(place / "empty", workers)
    full = run(place / "full", workers)
    whole_s = full.cpu_s - empty.cpu_s
    told("an empty evaluation", empty)
    told("a full run", full, f"{whole_s:.1f} s beyond empty")
    missed = 0
    for name, change in CHANGES.items():
        change(place / "empty")
        same = run(place / "empty", workers)
        change(place / "full")
        cost = run(place / "full", workers)
        share, strict = ((cost.cpu_s - other.cpu_s) / whole_s for other in (empty, same))
        limit = f" (limit {LIMITS[name]:.0%})" if name in LIMITS else ""
        told(name, cost, f"{share:.1%} of a full run{limit}, strict {strict:.1%}, gross {cost.cpu_s / whole_s:.1%}")
        missed += share > LIMITS.get(name, 1.0) or (name == NOTHING and cost.wall_s > NOTHING_S)
    return int(missed > 0)


def run(place: Path, workers: int) -> Cost:
    """``rescore run``, with what it and its children burnt."""
    before, start = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter()
    command = [
        RESCORE,
        "run",
        place / "evaluation.yaml",
        "--store",
        place / "store",
        "--workers",
        str(workers),
        "--json",
    ]
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    done = subprocess.run(command, capture_output=True, text=True, check=True, env=environment)
    wall_s, after = time.perf_counter() - start, resource.getrusage(resource.RUSAGE_CHILDREN)
    cpu_s = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return Cost(cpu_s, wall_s, json.loads(done.stdout))


def told(name: str, cost: Cost, shares: str = "") -> None:
    """One line."""
    work = cost.summary["work"]
    made = ", ".join(f"{work[ring]['made']} {ring}" for ring in ("results", "labels", "trials", "references"))
    print(f"{name:<26} {cost.cpu_s:7.1f} s CPU {cost.wall_s:7.1f} s wall; {shares or 'base'}; made {made}", flush=True)


def corrected_row(place: Path) -> None:
    key = place / "p_d.rttm"
    lines = key.read_text().splitlines(keepends=True)
    kind, file, channel, begin_s, *rest = lines[len(lines) // 2].split(" ")
    lines[len(lines) // 2] = " ".join([kind, file, channel, f"{float(begin_s) + 0.2:.2f}", *rest])
    key.write_text("".join(lines))


def operating_point(place: Path) -> None:
    path = place / "evaluation.yaml"
    path.write_text(path.read_text().replace("datasets:", "settings: {c_fa: 2}\ndatasets:"))


def resubmitted(place: Path) -> None:
    path = place / "out/s00/p_d.xml"
    path.write_text(path.read_text().replace('system_id="a"', 'system_id="b"').replace('"NO"', '"YES"', 1))


CHANGES: dict[str, Callable[[Path], None]] = {
    NOTHING: lambda _: None,
    "one corrected key row": corrected_row,
    "another operating point": operating_point,
    "one resubmitted output": resubmitted,
}


def write(place: Path, n_systems: int, n_rows: int) -> None:
    """An evaluation of two query sets on two datasets; every pair of them has a key of its own."""
    (place / "out").mkdir(parents=True)
    random = np.random.default_rng(20)
    files = [f"f{number:04d}" for number in range(N_FILES)]
    for dataset in "de":
        rows = "".join(f'<excerpt audio_filename="{f}.wav" channel="1" tbeg="0" dur="{FILE_S}"/>\n' for f in files)
        text = f'<ecf source_signal_duration="{N_FILES * FILE_S}" version="1">\n{rows}</ecf>\n'
        (place / f"{dataset}.ecf.xml").write_text(text)
    for query_set in "pq":
        queries = [f"{query_set}{number:03d}" for number in range(N_QUERIES)]
        terms = "".join(f'<term termid="{query}"><termtext>{query}</termtext></term>\n' for query in queries)
        head = '<termlist ecf_filename="a" language="x" version="1">'
        (place / f"{query_set}.tlist.xml").write_text(f"{head}\n{terms}</termlist>\n")
        for dataset in "de":
            spoken = key(random, queries)
            lines = (f"LEXEME {files[f]} 1 {begin_s:.2f} 0.50 {query} lex SELF <NA>\n" for f, begin_s, query in spoken)
            (place / f"{query_set}_{dataset}.rttm").write_text("".join(lines))
            for system in range(n_systems):
                folder = place / f"out/s{system:02d}"
                folder.mkdir(exist_ok=True)
                (folder / f"{query_set}_{dataset}.xml").write_text(output(random, queries, files, spoken, n_rows))
    (place / "evaluation.yaml").write_text(
        "name: bench\nprotocol: sws2013\n"
        "datasets:\n"
        '  d: {ecf: d.ecf.xml, rttm: "{query_set}_d.rttm"}\n'
        '  e: {ecf: e.ecf.xml, rttm: "{query_set}_e.rttm"}\n'
        "query_sets: {p: {kwlist: p.tlist.xml}, q: {kwlist: q.tlist.xml}}\n"
        'systems: {pattern: "out/{system}/{query_set}_{dataset}.xml"}\n'
    )


Spoken = list[tuple[int, float, str]]


def key(random: np.random.Generator, queries: Sequence[str]) -> Spoken:
    """Ten occurrences a query: file, begin in seconds, query."""
    n_true = 10 * len(queries)
    query, file = random.integers(len(queries), size=n_true), random.integers(N_FILES, size=n_true)
    begin_s = np.round(random.uniform(0, FILE_S - 2, n_true), 2)
    return sorted((int(f), float(b), queries[q]) for f, b, q in zip(file, begin_s, query, strict=True))


def output(
    random: np.random.Generator, queries: Sequence[str], files: Sequence[str], spoken: Spoken, n_rows: int
) -> str:
    """An output of ``n_rows`` detections: every occurrence, with higher scores, and false ones."""
    by_query: dict[str, Spoken] = {query: [] for query in queries}
    for occurrence in spoken:
        by_query[occurrence[2]].append(occurrence)
    parts = ['<stdlist termlist_filename="a" indexing_time="1" language="x" index_size="1" system_id="a">\n']
    for number, name in enumerate(queries):
        count = n_rows // len(queries) + (number < n_rows % len(queries))
        score = np.round(random.normal(size=count), 4)
        file, begin_s = random.integers(N_FILES, size=count), random.uniform(0, FILE_S - 1, count)
        parts.append(f'<detected_termlist termid="{name}" term_search_time="1" oov_term_count="NA">\n')
        for row in range(count):
            hit = row < len(by_query[name])
            where, when = by_query[name][row][:2] if hit else (int(file[row]), float(begin_s[row]))
            value = float(score[row]) + 2.0 * hit
            place = f'file="{files[where]}" channel="1" tbeg="{when:.2f}" dur="0.50"'
            parts.append(f'<term {place} score="{value:.4f}" decision="{"YES" if value > 1 else "NO"}"/>\n')
        parts.append("</detected_termlist>\n")
    return "".join([*parts, "</stdlist>\n"])


if __name__ == "__main__":
    sys.exit(main())
