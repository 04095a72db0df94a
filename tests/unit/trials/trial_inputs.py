"""Small inputs for these tests, read by the real readers."""

from __future__ import annotations

import io

from pipeline.formats.kws.ecf import Ecf, read_ecf
from pipeline.formats.kws.kwlist import KeywordList, read_kwlist
from pipeline.formats.kws.kwslist import SystemOutput, read_kwslist
from pipeline.formats.kws.rttm import Rttm, read_rttm


def ecf(*excerpts: str, header_s: str | None = None) -> Ecf:
    """One line an excerpt: file, channel, begin, duration and, if wanted, source type."""
    rows = []
    for line in excerpts:
        name, channel, begin, dur, *kind = line.split()
        rows.append(
            f'<excerpt audio_filename="{name}" channel="{channel}" tbeg="{begin}" dur="{dur}" '
            f'source_type="{kind[0] if kind else "cts"}"/>'
        )
    header = "" if header_s is None else f' source_signal_duration="{header_s}"'
    return read_ecf(io.BytesIO(f"<ecf{header}>{''.join(rows)}</ecf>".encode()), "ecf")


def rttm(text: str) -> Rttm:
    """One line a word: file, channel, begin, duration, token and, if wanted, subtype and speaker; or a full record."""
    rows = []
    for line in filter(None, map(str.strip, text.splitlines())):
        fields = line.split()
        if len(fields) < 9:
            fields = ["LEXEME", *fields, *("lex", "spk")[len(fields) - 5 :], "<NA>"]
        rows.append(" ".join(fields))
    return read_rttm(io.BytesIO("\n".join([*rows, ""]).encode()), "rttm")


def kwlist(**texts: str) -> KeywordList:
    """Keywords by id."""
    rows = "".join(f'<kw kwid="{name}"><kwtext>{text}</kwtext></kw>' for name, text in texts.items())
    return read_kwlist(io.BytesIO(f"<kwlist>{rows}</kwlist>".encode()), "kwlist")


def output(blocks: dict[str, list[str]], *, attributes: str = "", declared: str = "") -> SystemOutput:
    """Per query its detections, one line each: file, channel, begin, duration, score, decision."""
    rows = []
    for query, detections in blocks.items():
        rows.append(f'<detected_kwlist kwid="{query}" {declared}>')
        for line in detections:
            names = ("file", "channel", "tbeg", "dur", "score", "decision")
            written = " ".join(f'{name}="{value}"' for name, value in zip(names, line.split(), strict=True))
            rows.append(f"<kw {written}/>")
        rows.append("</detected_kwlist>")
    return read_kwslist(io.BytesIO("\n".join([f"<kwslist {attributes}>", *rows, "</kwslist>"]).encode()), "output")
