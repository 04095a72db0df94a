"""Small files of keyword search, written so that every count can be done by hand."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Any

from pipeline import protocols
from pipeline.engine.result import Result
from pipeline.engine.score import score_files

Detection = tuple[str, str, float, float, float, str]
"""File, channel, begin, duration, score, decision."""


def ecf(*excerpts: tuple[str, str, float, float], source_type: str = "bnews") -> str:
    """An ECF of (file, channel, begin, duration) excerpts."""
    rows = "".join(
        f'<excerpt audio_filename="{file}" channel="{channel}" tbeg="{begin}" dur="{dur}" language="x" '
        f'source_type="{source_type}"/>\n'
        for file, channel, begin, dur in excerpts
    )
    return f'<ecf version="1" language="x">\n{rows}</ecf>\n'


def lexeme(token: str, begin: float, *, dur: float = 1.0, place: str = "f 1", kind: str = "lex", who: str = "s") -> str:
    """One LEXEME record."""
    return f"LEXEME {place} {begin} {dur} {token} {kind} {who} <NA>\n"


def kwlist(normalize: str = "lowercase", **texts: str) -> str:
    """A keyword list of ids with their texts."""
    rows = "".join(f'<kw kwid="{name}"><kwtext>{text}</kwtext></kw>\n' for name, text in texts.items())
    head = 'ecf_filename="e" version="1" language="x" encoding="UTF-8"'
    return f'<kwlist {head} compareNormalize="{normalize}">\n{rows}</kwlist>\n'


def kwslist(*blocks: tuple[str, Iterable[Detection]]) -> str:
    """An output of (query, detections) blocks."""
    text = ""
    for query, rows in blocks:
        text += f'<detected_kwlist kwid="{query}" search_time="1" oov_count="0">\n'
        for file, channel, begin, dur, score, decision in rows:
            text += (
                f'<kw file="{file}" channel="{channel}" tbeg="{begin}" dur="{dur}" score="{score}" '
                f'decision="{decision}"/>\n'
            )
        text += "</detected_kwlist>\n"
    return f'<kwslist kwlist_filename="k" language="x" system_id="s">\n{text}</kwslist>\n'


def write(folder: Path, **texts: str) -> dict[str, str]:
    """The inputs by role, written to ``folder``."""
    for role, text in texts.items():
        (folder / role).write_text(text)
    return {role: str(folder / role) for role in texts}


def score(inputs: dict[str, str], protocol: str = "openkws13", mode: str = "official", **overrides: Any) -> Result:
    """The result under a protocol."""
    return score_files(protocols.find(protocol, mode=mode, overrides=overrides), inputs)


def codes(result: Result) -> list[str]:
    """The codes of a result's warnings."""
    return [finding.code for finding in result.findings]
