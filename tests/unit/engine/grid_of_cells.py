"""A small evaluation of two systems on two query sets and two datasets, whose every tile is known by hand."""

from __future__ import annotations

from pathlib import Path

from pipeline.trials.tiles import bucket_of

EVALUATION = """\
name: grid
protocol: sws2013
datasets:
  d: {ecf: d.ecf.xml, rttm: d.rttm}
  e: {ecf: e.ecf.xml, rttm: e.rttm}
query_sets:
  p: {kwlist: p.tlist.xml, queries: p.examples.csv}
  q: {kwlist: q.tlist.xml}
systems:
  pattern: out/{system}/{query_set}_{dataset}.xml
  resources: out/{system}/resources.yaml
"""
DETECTED = {"p": ("alpha", "beta", "delta"), "q": ("gamma",)}
"""Queries of every output, by query set. ``delta`` is detected, but not on any list."""
LISTED = {"p": ("alpha", "beta"), "q": ("gamma",)}
SYSTEMS = {"good": 0.1, "poor": 0.4}
"""How late a system's detections are: no two systems have a tile in common."""
SPOKEN = {
    "d": {"alpha": [("a", 10.0), ("b", 5.0)], "beta": [("a", 30.0)], "gamma": [("b", 20.0)], "delta": [("a", 50.0)]},
    "e": {"alpha": [("c", 10.0)], "beta": [], "gamma": [("c", 30.0)], "delta": []},
}
RECORDINGS = {"d": {"a": 60.0, "b": 40.0}, "e": {"c": 50.0}}
assert len({bucket_of(query) for queries in DETECTED.values() for query in queries}) == 4

RESOURCES = "index:\n  d: {wall_s: 100, cores: 2}\nsearch:\n  p: {d: {wall_s: 10, cores: 1}}\n"


def write(folder: Path) -> Path:
    """Write everything; returns the evaluation file."""
    for query_set, queries in LISTED.items():
        (folder / f"{query_set}.tlist.xml").write_text(termlist(*queries))
    (folder / "p.examples.csv").write_text("query,example,dur_s\nalpha,1,0.5\nbeta,1,0.7\n")
    for dataset, recordings in RECORDINGS.items():
        (folder / f"{dataset}.ecf.xml").write_text(ecf(recordings))
        (folder / f"{dataset}.rttm").write_text(rttm(dataset))
    for system in SYSTEMS:
        submit(folder, system)
    (folder / "out/good/resources.yaml").write_text(RESOURCES)
    path = folder / "evaluation.yaml"
    path.write_text(EVALUATION)
    return path


def submit(folder: Path, system: str, late_s: float | None = None) -> None:
    """Write all outputs of one system."""
    (folder / "out" / system).mkdir(parents=True, exist_ok=True)
    late_s = SYSTEMS[system] if late_s is None else late_s
    for query_set, queries in DETECTED.items():
        for dataset in RECORDINGS:
            (folder / "out" / system / f"{query_set}_{dataset}.xml").write_text(output(dataset, queries, late_s))


def termlist(*queries: str) -> str:
    terms = "".join(f'<term termid="{query}"><termtext>{query}</termtext></term>' for query in queries)
    return f'<termlist ecf_filename="e" language="x" version="1">{terms}</termlist>'


def ecf(recordings: dict[str, float], header_s: float | None = None) -> str:
    excerpts = "".join(
        f'<excerpt audio_filename="{file}.wav" channel="1" tbeg="0" dur="{dur_s}" language="x" source_type="bnews"/>\n'
        for file, dur_s in recordings.items()
    )
    header_s = sum(recordings.values()) if header_s is None else header_s
    return f'<ecf source_signal_duration="{header_s}" version="1">\n{excerpts}</ecf>\n'


def rttm(dataset: str) -> str:
    words = sorted((file, begin_s, query) for query, spans in SPOKEN[dataset].items() for file, begin_s in spans)
    return "".join(f"LEXEME {file} 1 {begin_s} 1 {query} lex SELF <NA>\n" for file, begin_s, query in words)


def output(dataset: str, queries: tuple[str, ...], late_s: float) -> str:
    """Every occurrence, late; and one false alarm a query."""
    blocks = ""
    for rank, query in enumerate(queries):
        first = next(iter(RECORDINGS[dataset]))
        places = [*SPOKEN[dataset][query], (first, 1.0 + rank)]
        rows = "".join(
            f'<term file="{file}" channel="1" tbeg="{begin_s + late_s}" dur="1" score="{4 - at - late_s}" '
            f'decision="{"YES" if at < 2 else "NO"}"/>\n'
            for at, (file, begin_s) in enumerate(places)
        )
        head = f'<detected_termlist termid="{query}" term_search_time="1" oov_term_count="0">'
        blocks += f"{head}\n{rows}</detected_termlist>\n"
    head = '<stdlist termlist_filename="t" indexing_time="1" language="x" index_size="1" system_id="s">'
    return f"{head}\n{blocks}</stdlist>\n"
