"""A made-up evaluation of many languages in one file: each has queries and recordings of its own."""

from __future__ import annotations

import random
from collections.abc import Sequence
from pathlib import Path

HOUR_S = 3600.0
KWSLIST = '<detected_termlist termid="{0}" term_search_time="1.0" oov_term_count="0">\n{1}</detected_termlist>\n'


def write_languages(folder: Path, n_languages: int, n_queries: int, systems: Sequence[str]) -> Path:
    """Write all inputs and outputs; returns the evaluation file, whose pairs are each language with itself."""
    names = [f"lang{k:02d}" for k in range(1, n_languages + 1)]
    for language in names:
        _write_language(folder, language, n_queries, systems)
    datasets = "".join(f"  {one}: {{ecf: {one}.ecf.xml, rttm: {one}.rttm}}\n" for one in names)
    query_sets = "".join(f"  {one}-q: {{kwlist: {one}.tlist.xml}}\n" for one in names)
    pairs = "".join(f"- [{one}-q, {one}]\n" for one in names)
    file = folder / "evaluation.yaml"
    file.write_text(
        f"name: languages\nprotocol: sws2013\ndatasets:\n{datasets}query_sets:\n{query_sets}pairs:\n{pairs}"
        "systems:\n  pattern: out/{system}/{dataset}.xml\n"
    )
    return file


def _write_language(folder: Path, language: str, n_queries: int, systems: Sequence[str]) -> None:
    rng = random.Random(language)
    queries = [f"{language}-{n:04d}" for n in range(n_queries)]
    spoken = {query: [round(rng.uniform(1, HOUR_S - 2), 2) for _ in range(rng.randint(1, 6))] for query in queries}
    terms = "".join(f'<term termid="{one}"><termtext>{one}</termtext></term>' for one in queries)
    (folder / f"{language}.tlist.xml").write_text(
        f'<termlist ecf_filename="e" language="{language}" version="1">{terms}</termlist>'
    )
    (folder / f"{language}.ecf.xml").write_text(
        f'<ecf source_signal_duration="{HOUR_S}" version="1"><excerpt audio_filename="{language}.wav" channel="1" '
        f'tbeg="0" dur="{HOUR_S}" language="{language}" source_type="bnews"/></ecf>'
    )
    words = sorted((begin, query) for query, begins in spoken.items() for begin in begins)
    (folder / f"{language}.rttm").write_text(
        "".join(f"LEXEME {language} 1 {begin} 0.5 {query} lex SELF <NA>\n" for begin, query in words)
    )
    for system in systems:
        found = "".join(KWSLIST.format(one, _detections(rng, language, begins)) for one, begins in spoken.items())
        file = folder / "out" / system / f"{language}.xml"
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(
            f'<stdlist termlist_filename="t" indexing_time="1" language="{language}" index_size="1" '
            f'system_id="{system}">\n{found}</stdlist>\n'
        )


def _detections(rng: random.Random, language: str, begins: Sequence[float]) -> str:
    hits = [(begin + 0.1, rng.gauss(2, 1)) for begin in begins if rng.random() < 0.7]
    alarms = [(round(rng.uniform(1, HOUR_S - 2), 2), rng.gauss(0, 1)) for _ in range(4)]
    return "".join(
        f'<term file="{language}" channel="1" tbeg="{begin:.2f}" dur="0.5" score="{score:.4f}" '
        f'decision="{"YES" if score > 1 else "NO"}"/>\n'
        for begin, score in hits + alarms
    )
