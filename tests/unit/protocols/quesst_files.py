"""A tiny query-by-document evaluation written to a folder, and its scores."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import groupby
from pathlib import Path

from pipeline.engine.result import Result
from pipeline.engine.score import score_files
from pipeline.protocols import find

Row = tuple[str, str, float, str]
"""Query, document, score, decision."""


def write(
    folder: Path,
    queries: Iterable[str],
    documents: Iterable[str],
    targets: Iterable[tuple[str, str]],
    rows: Iterable[Row],
) -> dict[str, str]:
    """The files of one cell by role."""
    excerpts = "".join(
        f'<excerpt audio_filename="Audio/{d}.wav" channel="1" tbeg="0" dur="10" language="x" source_type="cts"/>\n'
        for d in documents
    )
    terms = "".join(f'<term termid="{q}"><termtext>{q}</termtext></term>' for q in queries)
    texts = {
        "ecf": f'<ecf source_signal_duration="1" version="1">\n{excerpts}</ecf>',
        "rttm": "".join(f"LEXEME {d} 1 0 10 {q} lex SELF <NA>\n" for q, d in targets) + "SPEAKER x 1 0 1 a b c <NA>\n",
        "kwlist": f'<termlist ecf_filename="e" language="x" version="1">{terms}</termlist>',
        "output": stdlist(rows),
    }
    folder.mkdir(parents=True, exist_ok=True)
    for role, text in texts.items():
        (folder / f"{role}.xml").write_text(text)
    return {role: str(folder / f"{role}.xml") for role in texts}


def stdlist(rows: Iterable[Row]) -> str:
    """An STDList in the order of the rows."""
    blocks = ""
    for query, members in groupby(rows, key=lambda row: row[0]):
        terms = "".join(
            f'<term file="{d}" channel="1" tbeg="0" dur="10" score="{score}" decision="{decision}"/>\n'
            for _, d, score, decision in members
        )
        blocks += f'<detected_termlist termid="{query}" term_search_time="1" oov_term_count="0">\n{terms}'
        blocks += "</detected_termlist>\n"
    head = '<stdlist termlist_filename="t" indexing_time="1" language="x" index_size="1" system_id="s">\n'
    return f"{head}{blocks}</stdlist>\n"


def score(inputs: dict[str, str], **settings: object) -> Result:
    """The cell in memory."""
    return score_files(find("quesst", overrides={name: str(value) for name, value in settings.items()}), inputs)
