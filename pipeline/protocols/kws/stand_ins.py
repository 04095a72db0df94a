"""What stands in for organisers' files that a participant has not: an output is scored with them as with a key.

They are made so that they cause no finding of their own, and that every listed query has a target: what is told of
queries with targets alone is told of all.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any
from xml.sax.saxutils import quoteattr

import numpy as np

from pipeline.formats.kws.ecf import Ecf
from pipeline.formats.kws.kwslist import SystemOutput
from pipeline.formats.table import Table
from pipeline.protocols.base import Protocol, StandIn
from pipeline.trials.names import FileRule, ecf_file_name, output_file_name

_LONG_S = 1e6
_WORD_S = 0.01
PLACES = frozenset({"outside_ecf", "unknown_file", "unknown_channel"})


def stand_ins(protocol: Protocol, tables: Mapping[str, Any]) -> dict[str, StandIn]:
    """Query list and ECF as far as they are not among ``tables``, and once they are, a transcript."""
    files = protocol.settings.files
    made = _lists(tables, files, {"kwlist": frozenset({"unknown_query"}), "ecf": PLACES})
    if not made and "rttm" not in tables:
        texts = tables["kwlist"].keywords.text("text")
        made["rttm"] = StandIn("".join(_words(tables.get("ecf"), files, texts)).encode())
    return made


def document_stand_ins(_protocol: Protocol, tables: Mapping[str, Any]) -> dict[str, StandIn]:
    """Of query by document: the lists, and a key with the first document for every query."""
    unlisted = frozenset({"unknown_query", "unknown_document", "missing_trials", "query_not_scored"})
    made = _lists(tables, "kwseval", {"kwlist": unlisted, "ecf": unlisted})
    if not made and "rttm" not in tables:
        place = _first_place(tables.get("ecf"), "kwseval")
        names = [name for name in tables["kwlist"].keywords.text("id") if len(name.split()) == 1]
        rows = () if place is None else (f"LEXEME {place[0]} 1 0 1 {name} lex <NA> <NA>\n" for name in names)
        made["rttm"] = StandIn("".join(rows).encode())
    return made


def _lists(tables: Mapping[str, Any], files: FileRule, voids: Mapping[str, frozenset[str]]) -> dict[str, StandIn]:
    """Query list and ECF of what the output, or else the transcript, names; where there are neither, no ECF."""
    made, output = dict[str, StandIn](), tables.get("output")
    if "kwlist" not in tables:
        made["kwlist"] = StandIn(_kwlist(output), voids["kwlist"])
    if "ecf" not in tables and (output is not None or "rttm" in tables):
        places = _named(tables["rttm"].records) if output is None else _named(output.detections)
        if output is not None:
            places = {(output_file_name(file, files), channel) for file, channel in places}
        made["ecf"] = StandIn(_ecf(places or {("x", "1")}), voids["ecf"])
    return made


def _named(rows: Table) -> set[tuple[str, str]]:
    """The recordings and channels of rows."""
    pairs = np.unique(np.stack((rows["file"].astype(np.int64), rows["channel"].astype(np.int64))), axis=1).T.tolist()
    files, channels = rows.vocabularies["file"], rows.vocabularies["channel"]
    return {(files[file], channels[channel]) for file, channel in pairs}


def _kwlist(output: SystemOutput | None) -> bytes:
    names = ["x"] if output is None else sorted(set(output.blocks.text("query"))) or ["x"]
    rows = "".join(f"<kw kwid={quoteattr(name)}><kwtext>x</kwtext></kw>" for name in names)
    return f'<kwlist ecf_filename="e" version="1" language="x" encoding="UTF-8">{rows}</kwlist>'.encode()


def _ecf(places: set[tuple[str, str]]) -> bytes:
    """An ECF of places, spelled so that every rule for its names gives these."""
    excerpts = "".join(
        f'<excerpt audio_filename={quoteattr(file + ".sph")} channel={quoteattr(channel)} tbeg="0" dur="{_LONG_S}" '
        'language="x" source_type="bnews"/>'
        for file, channel in sorted(places)
    )
    head = f'source_signal_duration="{_LONG_S * len(places)}" language="x" version="1"'
    return f"<ecf {head}>{excerpts}</ecf>".encode()


def _words(ecf: Ecf | None, files: FileRule, texts: list[str]) -> Iterator[str]:
    """Each query's words once, spoken by someone of its own, in the first excerpt whose names an RTTM can spell."""
    place = _first_place(ecf, files)
    if place is None:
        return
    file, channel, begin_s, dur_s = place
    for at, text in enumerate(texts):
        words = text.split()
        step_s = min(_WORD_S, dur_s / (len(words) + 1))
        for k, word in enumerate(words):
            yield f"LEXEME {file} {channel} {begin_s + k * step_s:.6f} {step_s / 2:.6f} {word} lex s{at} <NA>\n"


def _first_place(ecf: Ecf | None, files: FileRule) -> tuple[str, str, float, float] | None:
    if ecf is None:
        return "x", "1", 0.0, 1.0
    rows = ecf.excerpts
    columns = rows.text("file"), rows.text("channel"), rows["begin_s"].tolist(), rows["dur_s"].tolist()
    for name, channel, begin_s, dur_s in zip(*columns, strict=True):
        file = ecf_file_name(name, files)
        if dur_s > 0 and len(f"{file} {channel}".split()) == 2 and not file.startswith(";"):
            return file, channel, begin_s, dur_s
    return None
