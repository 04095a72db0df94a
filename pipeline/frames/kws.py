"""Frames of what organisers of keyword search hand out: excerpts, transcripts, query lists, query examples."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Mapping, Sequence

import numpy as np

from pipeline.formats.kws.ecf import Ecf
from pipeline.formats.kws.kwlist import KeywordList
from pipeline.formats.kws.rttm import NOT_APPLICABLE, SPEAKER_INFO, Rttm
from pipeline.formats.table import Table
from pipeline.frames.columns import Columns
from pipeline.frames.form import Form, FormColumn, Texts, Written, constant, fields, lines, text_column
from pipeline.frames.xml import attribute, text

_CHANNEL = FormColumn("channel", "text", "channel", default="1")
BEGIN = FormColumn("begin", "number", "begin in the recording, s")
DURATION = FormColumn("duration", "number", "duration, s")

ECF = (
    FormColumn("file", "text", "recording"),
    _CHANNEL,
    BEGIN,
    DURATION,
    FormColumn("source_type", "text", "kind of recording (bnews, cts, splitcts, confmtg)", default=""),
    FormColumn("language", "text", "language", default=""),
    FormColumn("source_signal_duration", "number", "duration of recorded speech, s", default="", whole=True),
)
RTTM = (
    FormColumn("kind", "text", "type of the record (LEXEME, SPEAKER, NOSCORE, SEGMENT, SPKR-INFO)", default="LEXEME"),
    FormColumn("file", "text", "recording"),
    _CHANNEL,
    BEGIN,
    DURATION,
    FormColumn("token", "text", "word; of documents, the query that occurs", default=NOT_APPLICABLE),
    FormColumn("subtype", "text", "subtype", default="lex"),
    FormColumn("speaker", "text", "speaker", default=""),
)
KWLIST = (
    FormColumn("query", "text", "id of the query"),
    FormColumn("text", "text", "the words to search for"),
    FormColumn("compareNormalize", "text", "lowercase where case does not count", default="", whole=True),
    FormColumn("language", "text", "language of the list", default="", whole=True),
)
QUERIES = (
    FormColumn("query", "text", "id of the query"),
    FormColumn("example", "text", "its example"),
    FormColumn("duration", "number", "duration of the example, s"),
)


def _ecf(texts: Texts, where: str) -> Written:
    del where
    declared = constant(texts["source_signal_duration"])
    head = f'<ecf{attribute("source_signal_duration", declared)} language="" version="1">\n'
    named = {"file": "audio_filename", "channel": "channel", "begin": "tbeg", "duration": "dur"}
    parts = [[attribute(name, value) or f' {name}=""' for value in texts[own]] for own, name in named.items()]
    parts += [[attribute(name, value) for value in texts[name]] for name in ("source_type", "language")]
    made = lines((f"<excerpt{''.join(row)}/>\n" for row in zip(*parts, strict=True)), head)
    return Written(made.text + b"</ecf>\n", made.row_of)


def _of_ecf(ecf: Ecf) -> Columns:
    table = ecf.excerpts
    made = {name: text_column(table, name) for name in ("file", "channel", "source_type", "language")}
    made |= {"begin": table["begin_s"], "duration": table["dur_s"]}
    if "source_signal_duration" in ecf.attributes:
        made["source_signal_duration"] = np.full(len(table), ecf.source_signal_duration_s)
    return made


def _rttm(texts: Texts, where: str) -> Written:
    names = [one.name for one in RTTM]
    told = {**texts, "begin": _timeless(texts["begin"]), "duration": _timeless(texts["duration"])}
    kinds = zip(texts["speaker"], texts["kind"], strict=True)
    told["speaker"] = [name or ("unknown" if kind.upper() in _SPOKEN else NOT_APPLICABLE) for name, kind in kinds]
    fields(told, [name for name in names if name not in ("begin", "duration")], where)
    return lines(f"{' '.join(row)} {NOT_APPLICABLE}\n" for row in zip(*(told[name] for name in names), strict=True))


_SPOKEN = ("LEXEME", "SPEAKER")
"""Kinds of records that somebody speaks."""


def _timeless(times: Sequence[str]) -> list[str]:
    return [NOT_APPLICABLE if time == "nan" else time for time in times]


def _of_rttm(rttm: Rttm) -> Columns:
    records, speakers = rttm.records, rttm.speakers
    nothing = np.full(len(speakers), NOT_APPLICABLE, object)
    kinds = np.full(len(speakers), SPEAKER_INFO, object)
    lengths = np.full(len(speakers), np.nan)
    alone = {"kind": kinds, "token": nothing, "begin": lengths, "duration": lengths}
    alone |= {name: text_column(speakers, name) for name in ("file", "channel", "subtype", "speaker")}
    own = {name: text_column(records, name) for name in ("kind", "file", "channel", "token", "subtype", "speaker")}
    own |= {"begin": records["begin_s"], "duration": records["dur_s"]}
    return {one.name: np.concatenate([own[one.name], alone[one.name]]) for one in RTTM}


def _kwlist(texts: Texts, where: str) -> Written:
    del where
    own = {one.name for one in KWLIST}
    others = [name for name in texts if name not in own and name not in ("line", "index")]
    whole = "".join(attribute(name, constant(texts[name])) for name in ("compareNormalize", "language"))
    infos = zip(*(texts[name] for name in others), strict=True) if others else ((),) * len(texts["query"])
    rows = (
        f"<kw{attribute('kwid', query) or ' kwid=' + chr(34) * 2}><kwtext>{text(words)}</kwtext>"
        f"{_kwinfo(others, info)}</kw>\n"
        for query, words, info in zip(texts["query"], texts["text"], infos, strict=True)
    )
    made = lines(rows, f'<kwlist{whole} encoding="UTF-8" version="1">\n')
    return Written(made.text + b"</kwlist>\n", made.row_of)


def _kwinfo(names: Sequence[str], values: Iterable[str]) -> str:
    told = (
        f"<attr><name>{text(name)}</name><value>{text(value)}</value></attr>"
        for name, value in zip(names, values, strict=True)
        if value
    )
    held = "".join(told)
    return f"<kwinfo>{held}</kwinfo>" if held else ""


def _of_kwlist(kwlist: KeywordList) -> Columns:
    table = kwlist.keywords
    made = {"query": text_column(table, "id"), "text": text_column(table, "text")}
    names = dict.fromkeys(name for details in kwlist.details for name in details)
    for name in names:
        made[name] = np.array([details.get(name, "") for details in kwlist.details], object)
    for name in ("compareNormalize", "language"):
        if kwlist.attributes.get(name) and name not in made:
            made[name] = np.full(len(table), kwlist.attributes[name], object)
    return made


def _queries(texts: Texts, where: str) -> Written:
    del where
    return csv_lines({"query": texts["query"], "example": texts["example"], "dur_s": texts["duration"]})


def csv_lines(named: Mapping[str, Sequence[str]]) -> Written:
    """A CSV of columns by their names, every row a line where no value has line breaks."""
    written = io.StringIO()
    writer = csv.writer(written, lineterminator="\n")
    writer.writerow(named)
    head = written.tell()
    writer.writerows(zip(*named.values(), strict=True))
    text = written.getvalue()
    return lines([text[head:]], text[:head])


def _of_queries(table: Table) -> Columns:
    return {"query": text_column(table, "query"), "example": text_column(table, "example"), "duration": table["dur_s"]}


FORMS: Mapping[str, Form] = {
    "ecf": Form(ECF, _ecf, _of_ecf),
    "rttm": Form(RTTM, _rttm, _of_rttm),
    "kwlist": Form(KWLIST, _kwlist, _of_kwlist, others=True),
    "queries": Form(QUERIES, _queries, _of_queries),
}
