"""Small evaluations of every family whose scores are as far apart as doubles allow, and how they are scored here."""

from __future__ import annotations

import io
import json
import math
from collections.abc import Mapping, Sequence
from typing import Any

from hypothesis import strategies as st

from pipeline.engine.inputs import format_of
from pipeline.engine.result import Result, document_bytes
from pipeline.engine.score import score_tables
from pipeline.formats import READERS
from pipeline.formats.lre.names import columns_of
from pipeline.protocols import find
from pipeline.protocols.base import Protocol

LARGEST, SMALLEST = 1.7976931348623157e308, 5e-324
EXTREME = (1e308, LARGEST, 9e307, 1e300, 1e154, SMALLEST, 2 * SMALLEST, 2.2250738585072014e-308)
ORDINARY = st.integers(-8, 8).map(lambda n: n / 2)
SCORES = st.sampled_from([sign * size for size in EXTREME for sign in (1, -1)]) | ORDINARY
INFINITE = st.sampled_from([math.inf, -math.inf])
QUERIES, FILES, PLACES = ("K1", "K2", "K3"), ("f", "g"), range(6)

Found = tuple[str, str, int, float, float, bool]
"""A detection: query, file, place, offset in seconds, score, decision."""


def read(protocol: Protocol, texts: Mapping[str, str]) -> dict[str, Any]:
    """The tables of files that have these texts, by role."""
    return {role: READERS[format_of(protocol, role)](io.BytesIO(text.encode()), role) for role, text in texts.items()}


def score(name: str, texts: Mapping[str, str], mode: str = "official", **overrides: str) -> Result:
    """The cell in memory."""
    protocol = find(name, mode=mode, overrides=overrides)
    return score_tables(protocol, read(protocol, texts), ())


def check(result: Result) -> dict[str, Any]:
    """The document, strict JSON, after seeing that a figure is a number, an infinity, or nothing for a reason."""
    for name, figure in result.figures.items():
        assert math.isnan(figure.value) == (figure.reason is not None), (name, figure)
    made: dict[str, Any] = json.loads(document_bytes(result), parse_constant=_no_constant)
    return made


def _no_constant(text: str) -> Any:
    raise AssertionError(f"{text} is no JSON")


def detections(scores: st.SearchStrategy[float], *, apart: bool) -> st.SearchStrategy[list[Found]]:
    """Detections near places where occurrences may be; ``apart``: no two of a query at one place."""
    offset = st.just(0.0) if apart else st.sampled_from([0.0, 0.1, 0.25, -0.125])
    row = st.tuples(
        st.sampled_from(QUERIES), st.sampled_from(FILES), st.sampled_from(PLACES), offset, scores, st.booleans()
    )
    return st.lists(row, min_size=1, max_size=14, unique_by=(lambda one: one[:3]) if apart else None)


def occurrences() -> st.SearchStrategy[list[tuple[str, str, int]]]:
    """What is spoken where."""
    row = st.tuples(st.sampled_from(QUERIES), st.sampled_from(FILES), st.sampled_from(PLACES))
    return st.lists(row, min_size=1, max_size=8, unique=True).map(sorted)


def spoken(key: Sequence[tuple[str, str, int]], found: Sequence[Found], head: str = "") -> dict[str, str]:
    """The files of a keyword search; ``head`` are more attributes of the output."""
    excerpts = "".join(
        f'<excerpt audio_filename="{file}.sph" channel="1" tbeg="0" dur="80" language="l" source_type="cts"/>'
        for file in FILES
    )
    terms = "".join(f'<term termid="{query}"><termtext>{query}</termtext></term>' for query in QUERIES)
    blocks: dict[str, str] = {}
    for query, file, place, offset, value, decision in found:
        row = f'<term file="{file}" channel="1" tbeg="{10 * place + 5 + offset}" dur="0.5" score="{value!r}" '
        blocks[query] = blocks.get(query, "") + f'{row}decision="{"YES" if decision else "NO"}"/>'
    lists = "".join(
        f'<detected_termlist termid="{query}" term_search_time="1" oov_term_count="0">{rows}</detected_termlist>'
        for query, rows in blocks.items()
    )
    speakers = "".join(f"SPEAKER {file} 1 0 80 <NA> <NA> s <NA>\n" for file in FILES)
    words = "".join(f"LEXEME {file} 1 {10 * place + 5} 0.5 {query} lex s <NA>\n" for query, file, place in key)
    return {
        "ecf": f'<ecf source_signal_duration="160" version="v" language="l">{excerpts}</ecf>',
        "rttm": speakers + words,
        "kwlist": f'<termlist ecf_filename="e" version="1" language="l">{terms}</termlist>',
        "output": f'<stdlist termlist_filename="k" indexing_time="1" language="l" index_size="1" system_id="s" {head}>'
        f"{lists}</stdlist>",
    }


DOCUMENTS = tuple(f"d{n}" for n in range(5))
Pairs = Mapping[tuple[str, str], float]


def documents(scores: st.SearchStrategy[float]) -> st.SearchStrategy[Pairs]:
    """A score of some pairs of query and document, at least one."""
    return st.dictionaries(st.tuples(st.sampled_from(QUERIES), st.sampled_from(DOCUMENTS)), scores, min_size=1)


def by_document(targets: Sequence[tuple[str, str]], found: Pairs) -> dict[str, str]:
    """The files of a search for whole documents."""
    excerpts = "".join(
        f'<excerpt audio_filename="{name}.wav" channel="1" tbeg="0" dur="10" language="l" source_type="cts"/>'
        for name in DOCUMENTS
    )
    terms = "".join(f'<term termid="{query}"><termtext>{query}</termtext></term>' for query in QUERIES)
    lists = "".join(
        f'<detected_termlist termid="{query}" term_search_time="1" oov_term_count="0">'
        + "".join(
            f'<term file="{name}" channel="1" tbeg="0" dur="10" score="{value!r}" decision="YES"/>'
            for (asked, name), value in found.items()
            if asked == query
        )
        + "</detected_termlist>"
        for query in QUERIES
    )
    return {
        "ecf": f'<ecf source_signal_duration="50" version="v" language="l">{excerpts}</ecf>',
        "rttm": "".join(f"LEXEME {name} 1 0 10 {query} lex SELF <NA>\n" for query, name in targets),
        "kwlist": f'<termlist ecf_filename="e" version="1" language="l">{terms}</termlist>',
        "output": f'<stdlist termlist_filename="k" indexing_time="1" language="l" index_size="1" system_id="s">{lists}'
        "</stdlist>",
    }


Events = Mapping[str, Sequence[tuple[float, bool]]]


def events(scores: st.SearchStrategy[float]) -> st.SearchStrategy[Events]:
    """Scores of the clips of events, and whether each is a target."""
    rows = st.lists(st.tuples(scores, st.booleans()), min_size=2, max_size=8)
    return st.dictionaries(st.sampled_from(["E1", "E2"]), rows, min_size=1)


TIMES = ("DetectionTPT", "EAGTPT", "EMDTPT", "EBGMDTPT", "SEARCHMDTPT")


def multimedia(made: Events, limits: tuple[float, float]) -> dict[str, str]:
    """The files of a multimedia event detection, with ranks and scores; ``limits`` are a threshold of each."""
    trials, ref, output = list[str](), list[str](), list[str]()
    for event, rows in made.items():
        best_first = sorted(range(len(rows)), key=lambda at: -rows[at][0])
        for n, (value, target) in enumerate(rows):
            trials.append(f"{n:02d}.{event},{n:02d},{event}")
            ref.append(f"{n:02d}.{event},{'y' if target else 'n'}")
            output.append(f"{n:02d}.{event},{value!r},{1 + best_first.index(n)}")
    threshold, rank = limits
    times = ",".join("1" for _ in TIMES)
    return {
        "index": _lines("TrialID,ClipID,EventID", trials),
        "ref": _lines("TrialID,Targ", ref),
        "detection": _lines("TrialID,Score,Rank", output),
        "threshold": _lines(
            f"EventID,DetectionThreshold,RankThreshold,{','.join(TIMES)}",
            [f"{event},{threshold!r},{rank!r},{times}" for event in made],
        ),
    }


def _lines(header: str, rows: Sequence[str]) -> str:
    return "\n".join([header, *rows, ""])


CLASSES = columns_of("Empty")


def languages(labels: Sequence[str], scores: Sequence[Sequence[float]]) -> dict[str, str]:
    """The files of a language recognition test, open set, of the smaller task."""
    key = "".join(f"s{n:03d} {label}\n" for n, label in enumerate(labels))
    rows = "".join(f"Empty Open s{n:03d} {' '.join(map(repr, row))}\n" for n, row in enumerate(scores))
    return {"key": key, "output": rows}


def transcribed(words: Sequence[tuple[str, str, float]]) -> dict[str, str]:
    """The files of a transcription: what was said, what was recognised, and its confidence."""
    said = "".join(f"f 1 s {n} {n + 1} <o> {reference}\n" for n, (reference, _, _) in enumerate(words))
    found = "".join(f"f 1 {n + 0.25} 0.5 {output} {value!r}\n" for n, (_, output, value) in enumerate(words))
    return {"stm": said, "ctm": found}
