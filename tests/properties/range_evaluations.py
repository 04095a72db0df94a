"""Small evaluations of every family as files in memory, degenerate ones among them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import fsspec
from hypothesis import strategies as st

from pipeline.engine.result import document
from pipeline.engine.score import score_files
from pipeline.errors import InputError
from pipeline.formats.lre.names import LANGUAGES
from pipeline.protocols import find
from pipeline.protocols.base import Protocol

Files = Mapping[str, str]
"""The text of each input by role."""

RESOURCES = """\
index: {wall_s: 3.5, cores: 2, peak_memory_bytes: 2.0e9}
search: {wall_s: 0.25, cores: 2, peak_memory_bytes: 1.0e9}
"""


def scored(protocol: Protocol, files: Files) -> dict[str, Any] | None:
    """The document of a cell with its curve; None where the input is refused."""
    store = fsspec.filesystem("memory")
    for role, text in files.items():
        store.pipe(f"/ranges/{role}", text.encode())
    try:
        return document(score_files(protocol, {role: f"memory://ranges/{role}" for role in files}), curve=True)
    except InputError:
        return None


def protocol_of(name: str, mode: str, overrides: Mapping[str, str]) -> Protocol:
    """A named protocol with some settings of its own."""
    return find(name, mode=mode, overrides=overrides)


QUERIES = ("q0", "q1", "q2")
PLACE = st.tuples(st.sampled_from(QUERIES), st.sampled_from("fg"), st.integers(0, 40).map(lambda n: n / 8))
SCORE = st.sampled_from(["-3", "-0.5", "0", "0.25", "1", "1.5", "4", "inf", "-inf"])
DECISION = st.sampled_from(["YES", "NO"])
DURATION = st.sampled_from([0.1, 0.5, 1.0, 2.5, 5.0, 900.5])


@st.composite
def keyword_search(draw: Any) -> Files:
    """Up to three queries in up to half an hour of audio; often less audio than occurrences."""
    queries = QUERIES[: draw(st.integers(1, 3))]
    dur = draw(DURATION)
    excerpts = "".join(
        f'<excerpt audio_filename="{f}.sph" channel="1" tbeg="0" dur="{dur}" language="x" source_type="{kind}"/>'
        for f, kind in (("f", "bnews"), ("g", "cts"))[: draw(st.integers(1, 2))]
    )
    key = sorted(draw(st.sets(PLACE, max_size=9)), key=lambda row: (row[1], row[2]))
    speech = "".join(f"SPEAKER {f} 1 0 {dur} <NA> <NA> s <NA>\n" for f in "fg")
    words = "".join(f"LEXEME {f} 1 {at} 0.1 {q} lex s <NA>\n" for q, f, at in key)
    listed = "".join(f'<kw kwid="{q}"><kwtext>{q}</kwtext></kw>' for q in queries)
    rows = draw(st.lists(st.tuples(PLACE, SCORE, DECISION), max_size=10))
    blocks = ""
    for query in draw(st.lists(st.sampled_from(QUERIES), max_size=4)):
        kws = "".join(
            f'<kw file="{f}" channel="1" tbeg="{at}" dur="0.1" score="{score}" decision="{decision}"/>\n'
            for (q, f, at), score, decision in rows
            if q == query
        )
        blocks += f'<detected_kwlist kwid="{query}" search_time="1" oov_count="0">\n{kws}</detected_kwlist>\n'
    head = 'ecf_filename="e" version="1" language="x" encoding="UTF-8" compareNormalize=""'
    return {
        "ecf": f'<ecf source_signal_duration="{dur}" version="1">{excerpts}</ecf>',
        "rttm": speech + words,
        "kwlist": f"<kwlist {head}>{listed}</kwlist>",
        "output": f'<kwslist kwlist_filename="k" language="x" system_id="s">\n{blocks}</kwslist>',
        "queries": "query,example,dur_s\n" + "".join(f"{q},e1,0.5\n" for q in queries),
        "resources": RESOURCES,
    }


@st.composite
def documents(draw: Any) -> Files:
    """Pairs of queries and documents, of which any may be targets: none, some or all."""
    queries, names = QUERIES[: draw(st.integers(1, 3))], ("d0", "d1", "d2", "d3")[: draw(st.integers(1, 4))]
    pairs = [(q, d) for q in queries for d in names]
    kind = draw(st.sampled_from(["none", "some", "all"]))
    some = draw(st.sets(st.sampled_from(pairs)))
    targets = {"none": [], "all": pairs, "some": sorted(some)}[kind]
    excerpts = "".join(
        f'<excerpt audio_filename="{d}.wav" channel="1" tbeg="0" dur="1" language="x" source_type="cts"/>\n'
        for d in names
    )
    terms = "".join(f'<term termid="{q}"><termtext>{q}</termtext></term>' for q in queries)
    blocks = ""
    for query in queries:
        scores = [(d, draw(SCORE), draw(DECISION)) for d in names if draw(st.booleans())]
        found = "".join(
            f'<term file="{d}" channel="1" tbeg="0" dur="1" score="{score}" decision="{decision}"/>\n'
            for d, score, decision in scores
        )
        blocks += f'<detected_termlist termid="{query}" term_search_time="1" oov_term_count="0">\n{found}'
        blocks += "</detected_termlist>\n"
    head = 'termlist_filename="t" indexing_time="1" language="x" index_size="1" system_id="s"'
    return {
        "ecf": f'<ecf source_signal_duration="1" version="1">\n{excerpts}</ecf>',
        "rttm": "".join(f"LEXEME {d} 1 0 1 {q} lex SELF <NA>\n" for q, d in targets) or "SPEAKER x 1 0 1 a b c <NA>\n",
        "kwlist": f'<termlist ecf_filename="e" language="x" version="1">{terms}</termlist>',
        "output": f"<stdlist {head}>\n{blocks}</stdlist>\n",
        "resources": RESOURCES,
    }


@st.composite
def events(draw: Any) -> Files:
    """Clips of up to three events, of which any may be targets, and some may not be scored."""
    rows = [
        (f"{n:02d}.{event}", f"{n:02d}", event, draw(st.sampled_from("yn")), draw(st.sampled_from("yyyn")))
        for event in ("E1", "E2", "E3")[: draw(st.integers(1, 3))]
        for n in range(draw(st.integers(1, 7)))
    ]
    only = draw(st.sampled_from(["", "", "y", "n"]))
    keyed = [(trial, only or target) for trial, _, _, target, _ in rows]
    scored_rows = [(trial, event) for trial, _, event, _, given in rows if given == "y"] or [(rows[0][0], rows[0][2])]
    detections = [
        (trial, draw(st.sampled_from([0.0, 0.25, 0.5, 0.75, 1.0])), rank)
        for rank, (trial, _) in enumerate(scored_rows, 1)
    ]
    thresholds = [(e, draw(st.sampled_from([0.0, 0.5, 0.75, 1.0]))) for e in sorted({e for _, e in scored_rows})]
    return {
        "index": _csv("TrialID,ClipID,EventID", [(t, c, e) for t, c, e, _, _ in rows]),
        "ref": _csv("TrialID,Targ", keyed),
        "detection": _csv("TrialID,Score,Rank", detections),
        "threshold": _csv(
            "EventID,DetectionThreshold,RankThreshold,DetectionTPT,EAGTPT,EMDTPT,EBGMDTPT,SEARCHMDTPT",
            [(e, threshold, 2, 1.5, 2, 3, 4, 5) for e, threshold in thresholds],
        ),
        "clipmd": _csv("ClipID,MEDIA_FILE,DURATION", [(c, f"{c}.mp4", 60) for c in sorted({c for _, c, *_ in rows})]),
        "resources": RESOURCES,
    }


def _csv(header: str, rows: list[tuple[Any, ...]]) -> str:
    return "".join(",".join(f'"{value}"' for value in row) + "\n" for row in [tuple(header.split(",")), *rows])


@st.composite
def segments(draw: Any) -> Files:
    """Segments of languages with likelihoods that range over hundreds; any class may be without a segment."""
    task, chosen_set = draw(st.sampled_from([("Plenty", "Closed"), ("Plenty", "Open"), ("Empty", "Closed")]))
    languages = LANGUAGES[task]
    every = [*languages] if draw(st.booleans()) else []
    labels = every + draw(st.lists(st.sampled_from([*languages, "OOS", "-"]), min_size=1, max_size=8))
    number = st.sampled_from([-800.0, -3.0, -0.5, 0.0, 0.25, 2.0, 900.0])
    lines = []
    for n, _ in enumerate(labels):
        scores = draw(st.lists(number, min_size=len(languages) + 1, max_size=len(languages) + 1))
        lines.append(f"{task} {chosen_set} s{n:02d} {' '.join(map(str, scores))}\n")
    key = "".join(f"s{n:02d} {label}\n" for n, label in enumerate(labels))
    return {"key": key, "output": "".join(lines), "resources": RESOURCES}


TEXTS = ("a b", "a", "", "(a) b", "(a)", "{ a / b a / @ } b", "a- b a", "ab", "IGNORE_TIME_SEGMENT_IN_SCORING")


@st.composite
def speech(draw: Any) -> Files:
    """Segments of two speakers against words with or without confidences."""
    stm = "".join(
        f"f 1 {draw(st.sampled_from('xy'))} {at} {at + 1} <o,f0> {draw(st.sampled_from(TEXTS))}\n"
        for at in range(draw(st.integers(1, 4)))
    )
    word = st.sampled_from(["a", "b", "ab", "(b)", "zz"])
    confidence = st.sampled_from(["", " 0", " 0.25", " 0.5", " 1"])
    times = sorted(draw(st.lists(st.integers(0, 45), max_size=8)))
    ctm = "".join(f"f 1 {at / 10} 0.1 {draw(word)}{draw(confidence)}\n" for at in times)
    return {"stm": stm, "ctm": ctm or ";; nothing\n"}
