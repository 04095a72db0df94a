"""The rows of made-up evaluations, and the files they stand in."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple


class Excerpt(NamedTuple):
    """A row of an ECF."""

    file: str
    channel: str
    begin: float
    dur: float
    source_type: str


class Record(NamedTuple):
    """A row of an RTTM."""

    kind: str
    file: str
    channel: str
    begin: float
    dur: float
    token: str
    subtype: str
    speaker: str


class Label(NamedTuple):
    """A LEXEME of a QUESST key, whose token is a query."""

    file: str
    query: str


class Keyword(NamedTuple):
    """An entry of a query list, with an attribute."""

    query: str
    words: str
    attribute: str


class Detection(NamedTuple):
    """A detection; it stands inside a ``Block``."""

    file: str
    channel: str
    begin: float
    dur: float
    score: float
    decision: str


class Block(NamedTuple):
    """A detected_kwlist."""

    query: str
    oov: str
    rows: tuple[Detection, ...]


class Example(NamedTuple):
    """A row of the table of query examples."""

    query: str
    example: str
    dur: float


class Segment(NamedTuple):
    """A row of an STM."""

    file: str
    channel: str
    speaker: str
    begin: float
    end: float
    label: str
    text: str


class Spoken(NamedTuple):
    """A row of a CTM, or several that stay together: an alternation."""

    file: str
    channel: str
    begin: float
    words: tuple[str, ...]
    score: float


class Utterance(NamedTuple):
    """A row of a TRN: its utterance is speaker and number."""

    speaker: str
    number: str
    text: str


class Pronounced(NamedTuple):
    """A row of a lexicon."""

    word: str
    phones: str


class Trial(NamedTuple):
    """A row of a MED index; ``query`` is its event."""

    trial: str
    clip: str
    query: str


class Targ(NamedTuple):
    """A row of a MED reference."""

    trial: str
    targ: str


class Scored(NamedTuple):
    """A row of a MED submission."""

    trial: str
    score: float
    rank: int


class Limit(NamedTuple):
    """A row of a MED threshold table."""

    query: str
    limit: float
    rank_limit: int
    hours: float


class Clip(NamedTuple):
    """A row of a ClipMD."""

    clip: str
    dur: float


class Judged(NamedTuple):
    """A row of a JudgementMD."""

    clip: str
    query: str
    verdict: str


class Key(NamedTuple):
    """A row of an LRE key."""

    segment: str
    language: str


class Likelihoods(NamedTuple):
    """A row of an LRE output."""

    segment: str
    codes: str
    values: tuple[float, ...]


class Weighed(NamedTuple):
    """A row of labelled scores."""

    query: str
    file: str
    label: int
    score: float
    decision: int


def _ecf(rows: tuple[Excerpt, ...]) -> str:
    excerpts = "\n".join(
        f'<excerpt audio_filename="d/{row.file}.sph" channel="{row.channel}" tbeg="{row.begin}" dur="{row.dur}" '
        f'language="x" source_type="{row.source_type}"/>'
        for row in rows
    )
    return f'<ecf language="x" version="1">\n{excerpts}\n</ecf>'


def _rttm(rows: tuple[Record | Label, ...]) -> str:
    return "".join(
        f"LEXEME {row.file} 1 0 1 {row.query} lex s <NA>\n"
        if isinstance(row, Label)
        else f"SPKR-INFO {row.file} {row.channel} <NA> <NA> <NA> {row.subtype} {row.speaker} <NA>\n"
        if row.kind == "SPKR-INFO"
        else f"{row.kind} {row.file} {row.channel} {row.begin} {row.dur} {row.token} {row.subtype} {row.speaker} <NA>\n"
        for row in rows
    )


def _kwlist(rows: tuple[Keyword, ...]) -> str:
    listed = "\n".join(
        f'<kw kwid="{row.query}"><kwtext>{row.words}</kwtext><kwinfo><attr><name>Kind</name>'
        f"<value>{row.attribute}</value></attr></kwinfo></kw>"
        for row in rows
    )
    head = '<kwlist ecf_filename="e" language="x" encoding="UTF-8" compareNormalize="lowercase" version="1">'
    return f"{head}\n{listed}\n</kwlist>"


def _kwslist(rows: tuple[Block, ...]) -> str:
    listed = "\n".join(
        f'<detected_kwlist kwid="{block.query}" search_time="1" oov_count="{block.oov}">\n'
        + "".join(
            f'<kw file="{row.file}" channel="{row.channel}" tbeg="{row.begin}" dur="{row.dur}" score="{row.score}" '
            f'decision="{row.decision}"/>\n'
            for row in block.rows
        )
        + "</detected_kwlist>"
        for block in rows
    )
    return f'<kwslist kwlist_filename="k" language="x" system_id="s">\n{listed}\n</kwslist>'


def _ctm(rows: tuple[Spoken, ...]) -> str:
    lines = []
    for row in rows:
        begin = row.begin
        for word in row.words:
            time = "* *" if word.startswith("<ALT") else f"{begin} 0.25"
            lines.append(f"{row.file} {row.channel} {time} {word} {'' if time == '* *' else row.score}\n")
    return "".join(lines)


def _csv(header: str) -> Callable[[tuple[Any, ...]], str]:
    def write(rows: tuple[Any, ...]) -> str:
        return header + "\n" + "".join(",".join(map(str, row)) + "\n" for row in rows)

    return write


def _lines(form: str) -> Callable[[tuple[Any, ...]], str]:
    return lambda rows: "".join(form.format(**row._asdict()) + "\n" for row in rows)


WRITERS: Mapping[str, Callable[[tuple[Any, ...]], str]] = {
    "ecf": _ecf,
    "rttm": _rttm,
    "kwlist": _kwlist,
    "kwslist": _kwslist,
    "queries": _csv("query,example,dur_s"),
    "resources": lambda _: "index: {wall_s: 7, cores: 4}\nsearch: {cpu_s: 9, peak_memory_bytes: 2 GB}\n",
    "stm": _lines("{file} {channel} {speaker} {begin} {end} {label} {text}"),
    "ctm": _ctm,
    "trn": _lines("{text} ({speaker}-{number})"),
    "lexicon": _lines("{word}\t{phones}"),
    "med_index": _csv("TrialID,ClipID,EventID"),
    "med_ref": _csv("TrialID,Targ"),
    "med_detection": _csv("TrialID,Score,Rank"),
    "med_threshold": lambda rows: (
        "EventID,DetectionThreshold,RankThreshold,DetectionTPT,EAGTPT,EMDTPT,EBGMDTPT,"
        "SEARCHMDTPT\n" + "".join(f"{row.query},{row.limit},{row.rank_limit},{row.hours},2,3,4,5\n" for row in rows)
    ),
    "med_clipmd": _csv("ClipID,DURATION"),
    "med_judgement": _csv("ClipID,EventID,INSTANCE_TYPE"),
    "labelled": _csv("query,document,label,score,decision"),
    "lre_key": _lines("{segment} {language}"),
    "lre_out": lambda rows: "".join(f"{row.codes} {row.segment} {' '.join(map(str, row.values))}\n" for row in rows),
}
"""Rows → text, by format."""
