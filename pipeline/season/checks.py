"""Faults in the content of a submission's files, told from what participants have: there is no key here."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, BinaryIO

from pipeline.engine.checks import checked
from pipeline.engine.inputs import read_role
from pipeline.errors import Finding, InputError
from pipeline.formats import READERS
from pipeline.formats.findings import quoted
from pipeline.protocols import find
from pipeline.protocols.base import Protocol
from pipeline.season.naming import Piece
from pipeline.season.rules import SeasonPhase, SeasonRules
from pipeline.season.verdict import ERROR, WARNING, Remarks
from pipeline.store.blobs import open_input
from pipeline.trials.joined import SHOWN, Join, PlacedRows, file_finding
from pipeline.trials.names import ecf_file_name
from pipeline.trials.score_matrix import SegmentList


def check_piece(rules: SeasonRules, phase: SeasonPhase, piece: Piece, path: Path, remarks: Remarks) -> None:
    """Say of one output what scoring would, from the organiser's open files of its cell, and what it leaves out."""
    protocol = find(rules.protocol, mode=rules.mode, overrides=dict(rules.settings))
    try:
        output, _ = read_role(protocol, piece.role, str(path), piece.name)
    except InputError as error:
        _refuse(error.findings, error.count, piece, remarks)
        return
    opened, lists = _open_tables(protocol, phase, piece)
    tables = {piece.role: output, **opened}
    found = checked(protocol, tables, {piece.role: piece.name, **{role: role for role in opened}})
    _refuse(found.problems, found.n_problems, piece, remarks)
    own = (one for one in found.warnings if one.where.partition(":")[0] in ("", piece.name))
    remarks.take(WARNING, dict.fromkeys([*getattr(output, "findings", ()), *own]))
    check = _CHECKS.get(protocol.family.name)
    if check is not None:
        check(protocol, {**tables, **lists}, piece, remarks)


def _refuse(findings: Sequence[Finding], count: int, piece: Piece, remarks: Remarks) -> None:
    remarks.take(ERROR, findings)
    if count > len(findings):
        remarks.error("more", piece.name, f"there are {count - len(findings)} more problems of this file")


def _open_tables(protocol: Protocol, phase: SeasonPhase, piece: Piece) -> tuple[dict[str, Any], dict[str, Any]]:
    """The organiser's tables of a piece's cell that participants have: those of the protocol's roles, and lists."""
    tables, lists = {}, {}
    for role, url in phase.inputs.items():
        filled = url.replace("{query_set}", piece.query_set).replace("{dataset}", piece.dataset)
        if role in {known.name for known in protocol.roles}:
            tables[role] = read_role(protocol, role, filled, role)[0]
        else:
            with open_input(filled) as stream:
                lists[role] = _segments(stream) if role == "segments" else READERS[role](stream, role)
    return tables, lists


def _segments(stream: BinaryIO) -> SegmentList:
    """A list of the test's segments: the first field of every line."""
    names = [line.split()[0].decode() for line in stream if line.strip()]
    return SegmentList(tuple(sorted(set(names))))


def _queries(protocol: Protocol, tables: Mapping[str, Any], piece: Piece, remarks: Remarks) -> None:
    """Keyword search: queries of the list that have no block."""
    if "kwlist" in tables:
        listed = tables["kwlist"].keywords.text("id")
        answered = set(tables[protocol.family.outputs[0]].blocks.text("query"))
        absent = [query for query in listed if query not in answered]
        _some(remarks, "uncovered_query", piece, absent, f"queries of {len(listed)} have no block", "Answer every one.")


def _language(protocol: Protocol, tables: Mapping[str, Any], piece: Piece, remarks: Remarks) -> None:
    """Language recognition: all segments of the test, and no other; nothing can be told without their list."""
    if "segments" not in tables:
        return
    try:
        protocol.family.lay_out(protocol, tables, tables["segments"])
    except InputError as error:
        remarks.take(ERROR, error.findings)
        if error.count > len(error.findings):
            hidden = error.count - len(error.findings)
            remarks.error("more", piece.name, f"there are {hidden} more missing or unknown segments")


_WORDS = PlacedRows("the output", "", "words", "they are not scored")


def _tokens(_: Protocol, tables: Mapping[str, Any], piece: Piece, remarks: Remarks) -> None:
    """Speech to text: words in recordings that are not there, recordings without a word."""
    words = tables[piece.role].words
    if not words.columns["line"].size:
        remarks.error("no_words", piece.name, "the file has no word", "Check that it was written whole.")
    elif "ecf" in tables:
        said = words.text("file")
        known = {ecf_file_name(name, "kwseval") for name in tables["ecf"].excerpts.text("file")}
        join, rows = Join("the output", said, "the ECF", sorted(known)), replace(_WORDS, role=piece.name)
        remarks.take(WARNING, file_finding(rows, sum(name not in known for name in said), join))
        _some(remarks, "uncovered_file", piece, join.only_other, "recordings have no word", "Check the upload.")


_CHECKS: Mapping[str, Callable[[Protocol, Mapping[str, Any], Piece, Remarks], None]] = {
    **dict.fromkeys(("detections", "segments", "documents"), _queries),
    "language": _language,
    "tokens": _tokens,
}
"""What an output leaves out, by family: scoring says nothing of it."""


def _some(remarks: Remarks, code: str, piece: Piece, names: Sequence[str], what: str, mend: str) -> None:
    if names:
        shown = ", ".join(map(quoted, names[:SHOWN])) + (" …" if len(names) > SHOWN else "")
        remarks.warning(code, piece.name, f"{len(names)} {what} ({shown})", mend)
