"""Made-up evaluations of many small cells: one dataset, some systems, and sibling lists that share their outputs."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from bench.rescore import FILE_S, N_FILES, key, output

ROWS_PER_QUERY = 6
LEAST_ROWS = 200


def write_cells(place: Path, n_systems: int, n_queries: int, n_lists: int = 1) -> Path:
    """Write an evaluation of ``n_systems * n_lists`` cells; returns the path of its file.

    The first list has all ``n_queries``, each other one a part of them. A system's output is the same for all lists.
    """
    place.mkdir(parents=True)
    random = np.random.default_rng(22)
    files = [f"f{number:04d}" for number in range(N_FILES)]
    excerpts = "".join(f'<excerpt audio_filename="{f}.wav" channel="1" tbeg="0" dur="{FILE_S}"/>\n' for f in files)
    (place / "d.ecf.xml").write_text(
        f'<ecf source_signal_duration="{N_FILES * FILE_S}" version="1">\n{excerpts}</ecf>\n'
    )
    queries = [f"q{number:03d}" for number in range(n_queries)]
    for number in range(n_lists):
        own = queries[number::n_lists] if number else queries
        terms = "".join(f'<term termid="{query}"><termtext>{query}</termtext></term>\n' for query in own)
        head = '<termlist ecf_filename="a" language="x" version="1">'
        (place / f"l{number}.tlist.xml").write_text(f"{head}\n{terms}</termlist>\n")
    spoken = key(random, queries)
    lines = (f"LEXEME {files[f]} 1 {begin_s:.2f} 0.50 {query} lex SELF <NA>\n" for f, begin_s, query in spoken)
    (place / "d.rttm").write_text("".join(lines))
    for system in range(n_systems):
        text = output(random, queries, files, spoken, ROWS_PER_QUERY * n_queries + LEAST_ROWS)
        (place / f"s{system:03d}").mkdir()
        for number in range(n_lists):
            (place / f"s{system:03d}/l{number}_d.xml").write_text(text)
    lists = ", ".join(f"l{number}: {{kwlist: l{number}.tlist.xml}}" for number in range(n_lists))
    path = place / "evaluation.yaml"
    path.write_text(
        "name: cells\nprotocol: sws2013\n"
        "datasets: {d: {ecf: d.ecf.xml, rttm: d.rttm}}\n"
        f"query_sets: {{{lists}}}\n"
        'systems: {pattern: "{system}/{query_set}_{dataset}.xml"}\n'
    )
    return path
