"""A tiny evaluation of two systems on one dataset, written to a folder: every count can be done by hand."""

from __future__ import annotations

from pathlib import Path

from pipeline.terms import Dataset, Evaluation, QuerySet, System

ECF = """<ecf source_signal_duration="100" version="1">
<excerpt audio_filename="a.wav" channel="1" tbeg="0" dur="60" language="x" source_type="bnews"/>
<excerpt audio_filename="b.wav" channel="1" tbeg="0" dur="40" language="x" source_type="bnews"/>
</ecf>
"""
RTTM = """LEXEME a 1 10 1 alpha lex SELF <NA>
LEXEME a 1 30 1 beta lex SELF <NA>
LEXEME b 1 5 1 alpha lex SELF <NA>
LEXEME b 1 20 1 gamma lex SELF <NA>
"""
GOOD = {
    "alpha": [("a", 10.1, 3.0, "YES"), ("b", 5.0, 2.0, "YES")],
    "beta": [("a", 30.0, 1.5, "YES"), ("b", 9.0, 1.0, "YES")],
}
POOR = {"alpha": [("a", 50.0, 1.0, "YES")], "beta": []}


def kwlist(*queries: str) -> str:
    """A term list whose terms are their own texts."""
    terms = "".join(f'<term termid="{query}"><termtext>{query}</termtext></term>' for query in queries)
    return f'<termlist ecf_filename="e" language="x" version="1">{terms}</termlist>'


def stdlist(detections: dict[str, list[tuple[str, float, float, str]]]) -> str:
    """An STDList of one-second detections (file, begin, score, decision) by query."""
    blocks = ""
    for query, rows in detections.items():
        terms = "".join(
            f'<term file="{file}" channel="1" tbeg="{begin}" dur="1" score="{score}" decision="{decision}"/>\n'
            for file, begin, score, decision in rows
        )
        block = f'<detected_termlist termid="{query}" term_search_time="1" oov_term_count="0">'
        blocks += f"{block}\n{terms}</detected_termlist>\n"
    head = '<stdlist termlist_filename="t" indexing_time="1" language="x" index_size="1" system_id="s">\n'
    return f"{head}{blocks}</stdlist>\n"


def write(folder: Path, *queries: str, systems: dict[str, str | None] | None = None) -> Evaluation:
    """The evaluation in ``folder``; a system whose text is None submitted nothing."""
    folder.mkdir(parents=True, exist_ok=True)
    texts = {"ecf.xml": ECF, "key.rttm": RTTM, "terms.xml": kwlist(*(queries or ("alpha", "beta")))}
    for name, text in texts.items():
        (folder / name).write_text(text)
    entries = []
    for name, text in (systems or {"good": stdlist(GOOD), "poor": stdlist(POOR)}).items():
        if text is not None:
            (folder / f"{name}.xml").write_text(text)
        outputs = {("q", "d"): str(folder / f"{name}.xml")} if text is not None else {}
        entries.append(System(name, outputs=outputs))
    return Evaluation(
        name="tiny",
        protocol="sws2013",
        mode="official",
        overrides=(),
        datasets=(Dataset("d", str(folder / "ecf.xml"), str(folder / "key.rttm")),),
        query_sets=(QuerySet("q", str(folder / "terms.xml")),),
        systems=tuple(entries),
    )
