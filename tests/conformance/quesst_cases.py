"""Writes the golden document cases (JSON) as the files an organiser and a participant would have."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import groupby
from pathlib import Path
from typing import Any


def write_document_case(case: dict[str, Any], folder: Path) -> list[str]:
    """ECF, RTTM, term list and STDList of a document case; returns the arguments of ``rescore score`` for it."""
    (folder / "ecf.xml").write_text(ecf(case["docs"]))
    (folder / "key.rttm").write_text(rttm(case["targets"]))
    (folder / "terms.xml").write_text(termlist(case["queries"]))
    (folder / "out.xml").write_text(stdlist(case["scores"]))
    arguments = ["--protocol", "quesst"]
    for option, name in (("-e", "ecf.xml"), ("-r", "key.rttm"), ("-t", "terms.xml"), ("-s", "out.xml")):
        arguments += [option, f"{folder}/{name}"]
    names = {"p_target": "p_target", "c_fa": "c_fa", "c_miss": "c_miss", "prior": "p_target_effective"}
    for name, value in case["params"].items():
        arguments += ["--set", f"{names[name]}={value}"]
    if case["default_score"] is not None:
        arguments += ["--set", f"censor={case['default_score']}"]
    return arguments


def ecf(docs: Iterable[str]) -> str:
    rows = "".join(
        f'<excerpt audio_filename="Audio/{doc}.wav" channel="1" tbeg="0" dur="10" language="x" source_type="cts"/>\n'
        for doc in docs
    )
    return f'<ecf source_signal_duration="1" version="1">\n{rows}</ecf>\n'


def rttm(targets: Iterable[tuple[str, str]]) -> str:
    return "".join(f"LEXEME {doc} 1 0 10 {query} lex SELF <NA>\n" for query, doc in targets)


def termlist(queries: Iterable[str]) -> str:
    terms = "".join(f'<term termid="{query}"><termtext>{query}</termtext></term>\n' for query in queries)
    return f'<termlist ecf_filename="e" language="x" version="1">\n{terms}</termlist>\n'


def stdlist(rows: Iterable[tuple[str, str, str, str]]) -> str:
    """Rows of query, document, score and decision, in the order of the file."""
    blocks = ""
    for query, members in groupby(rows, key=lambda row: row[0]):
        terms = "".join(
            f'<term file="{doc}" channel="1" tbeg="0" dur="10" score="{score}" decision="{decision}"/>\n'
            for _, doc, score, decision in members
        )
        blocks += f'<detected_termlist termid="{query}" term_search_time="1" oov_term_count="0">{terms}'
        blocks += "</detected_termlist>\n"
    head = '<stdlist termlist_filename="t" indexing_time="1" language="x" index_size="1" system_id="s">\n'
    return f"{head}{blocks}</stdlist>\n"
