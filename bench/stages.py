"""One cell of a given size through every stage: ``python -m bench.stages --rows 1000000``.

Prints wall time, rows a second and the highest memory so far of each stage, in one process and without a cluster.
"""

from __future__ import annotations

import argparse
import resource
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import numpy as np

from pipeline.engine.cell import score_cell
from pipeline.engine.plan import plan
from pipeline.engine.score import score_files
from pipeline.formats.kws.kwslist import read_kwslist
from pipeline.protocols import find
from pipeline.store.blobs import Store
from pipeline.terms import Cell, Dataset, Evaluation, QuerySet, System

N_QUERIES = 500
N_FILES = 1000
FILE_S = 72.0
INPUTS = {"ecf": "a.ecf.xml", "rttm": "a.rttm", "kwlist": "a.tlist.xml", "output": "a.stdlist.xml"}


def main(argv: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(prog="python -m bench.stages", description=__doc__)
    parser.add_argument("--rows", type=int, default=200_000, help="detections of the output (default: 200000)")
    rows = parser.parse_args(argv).rows
    with tempfile.TemporaryDirectory(prefix="rescore-bench-") as folder:
        place = Path(folder)
        with stage("write the inputs", rows):
            write_inputs(place, rows)
        measure(place, rows)


def measure(place: Path, rows: int) -> None:
    """Read, score in memory, score through the store, score again."""
    urls = {role: str(place / name) for role, name in INPUTS.items()}
    with stage("read the output", rows), (place / INPUTS["output"]).open("rb") as stream:
        read_kwslist(stream, INPUTS["output"])
    with stage("score in memory", rows):
        result = score_files(find("sws2013"), urls)
    evaluation = Evaluation(
        name="bench",
        protocol="sws2013",
        mode="official",
        overrides=(),
        datasets=(Dataset("a", urls["ecf"], urls["rttm"]),),
        query_sets=(QuerySet("a", urls["kwlist"]),),
        systems=(System("a", outputs={("a", "a"): urls["output"]}),),
    )
    store = Store(str(place / "store"))
    for label in ("score through a new store", "find it in the store"):
        with stage(label, rows):
            score_cell(store, plan(evaluation, store), Cell("a", "a", "a"))
    print(f"ATWV {result.figures['atwv'].value:.6f}, MTWV {result.figures['mtwv'].value:.6f}")


@contextmanager
def stage(label: str, rows: int) -> Iterator[None]:
    """Time a stage and print its line."""
    start = time.perf_counter()
    yield
    seconds = time.perf_counter() - start
    peak_mb = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    print(f"{label:<28} {seconds:8.2f} s {rows / seconds:12,.0f} rows/s {peak_mb:8,.0f} MB at most so far", flush=True)


def write_inputs(place: Path, rows: int) -> None:
    """An output of ``rows`` detections over a dataset of twenty hours, a tenth of which are near an occurrence."""
    random = np.random.default_rng(20)
    queries = [f"q{number:03d}" for number in range(N_QUERIES)]
    files = [f"f{number:04d}" for number in range(N_FILES)]
    of_stdeval = 'language="x" source_type="cts"'  # STDEval asks for both
    excerpts = "".join(
        f'<excerpt audio_filename="{f}.wav" channel="1" tbeg="0" dur="{FILE_S}" {of_stdeval}/>\n' for f in files
    )
    (place / "a.ecf.xml").write_text(
        f'<ecf source_signal_duration="{N_FILES * FILE_S}" version="1">\n{excerpts}</ecf>\n'
    )
    terms = "".join(f'<term termid="{query}"><termtext>{query}</termtext></term>\n' for query in queries)
    (place / "a.tlist.xml").write_text(f'<termlist ecf_filename="a" language="x" version="1">\n{terms}</termlist>\n')
    n_true = 10 * N_QUERIES
    query, file = random.integers(N_QUERIES, size=n_true), random.integers(N_FILES, size=n_true)
    begin_s = np.round(random.uniform(0, FILE_S - 2, n_true), 2)
    spoken = sorted(zip(file.tolist(), begin_s.tolist(), query.tolist(), strict=True))
    lines = (f"LEXEME {files[f]} 1 {b:.2f} 0.50 {queries[q]} lex SELF <NA>\n" for f, b, q in spoken)
    (place / "a.rttm").write_text("".join(lines))
    with (place / "a.stdlist.xml").open("w") as out:
        out.write('<stdlist termlist_filename="a" indexing_time="1" language="x" index_size="1" system_id="a">\n')
        by_query = {number: [(f, b) for f, b, q in spoken if q == number] for number in range(N_QUERIES)}
        for number, name in enumerate(queries):
            n_rows = rows // N_QUERIES + (number < rows % N_QUERIES)
            out.write(f'<detected_termlist termid="{name}" term_search_time="1" oov_term_count="NA">\n')
            out.writelines(detections(random, n_rows, by_query[number], files))
            out.write("</detected_termlist>\n")
        out.write("</stdlist>\n")


def detections(
    random: np.random.Generator, n_rows: int, spoken: Sequence[tuple[int, float]], files: Sequence[str]
) -> Iterator[str]:
    """Rows of one query: its occurrences first, as far as they go, then false ones."""
    score = np.round(random.normal(size=n_rows), 4)
    file, begin_s = random.integers(N_FILES, size=n_rows), random.uniform(0, FILE_S - 1, n_rows)
    for row in range(n_rows):
        hit = row < len(spoken)
        where, when, value = (*spoken[row], score[row] + 2) if hit else (int(file[row]), begin_s[row], score[row])
        decision = "YES" if value > 1 else "NO"
        place = f'file="{files[where]}" channel="1" tbeg="{when:.2f}" dur="0.50"'
        yield f'<term {place} score="{value:.4f}" decision="{decision}"/>\n'


if __name__ == "__main__":
    main()
