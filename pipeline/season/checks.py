"""Faults in the content of a submission's files, told from what participants have: there is no key here."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from pipeline.engine.inputs import read_role
from pipeline.engine.labels import relabel
from pipeline.errors import InputError
from pipeline.formats import READERS
from pipeline.formats.findings import quoted
from pipeline.protocols import find
from pipeline.protocols.base import Protocol
from pipeline.season.naming import Piece
from pipeline.season.rules import SeasonPhase, SeasonRules
from pipeline.season.verdict import ERROR, WARNING, Remarks
from pipeline.store.blobs import open_input
from pipeline.trials.names import ecf_file_name
from pipeline.trials.score_matrix import SegmentList

_SHOWN = 5


def check_piece(rules: SeasonRules, phase: SeasonPhase, piece: Piece, path: Path, remarks: Remarks) -> None:
    """Read one output and compare it with the organiser's open files of its cell, noting everything wrong."""
    protocol = find(rules.protocol, mode=rules.mode, overrides=dict(rules.settings))
    try:
        with path.open("rb") as stream:
            output = READERS[_format(protocol, piece.role)](stream, piece.name)
    except InputError as error:
        remarks.take(ERROR, error.findings)
        if error.count > len(error.findings):
            remarks.error(
                "more", piece.name, f"there are {error.count - len(error.findings)} more problems of this file"
            )
        return
    remarks.take(WARNING, getattr(output, "findings", ()))
    tables = {piece.role: output, **_open_tables(protocol, phase, piece)}
    families = {"detections": _queries, "documents": _documents, "language": _language, "tokens": _tokens}
    families[protocol.family.name](protocol, tables, piece, remarks)


def _format(protocol: Protocol, role: str) -> str:
    return next(known.format for known in protocol.roles if known.name == role)


def _open_tables(protocol: Protocol, phase: SeasonPhase, piece: Piece) -> dict[str, Any]:
    """The organiser's tables of a piece's cell that participants have, read."""
    tables = {}
    for role, url in phase.inputs.items():
        filled = url.replace("{query_set}", piece.query_set).replace("{dataset}", piece.dataset)
        if role == "segments":
            tables[role] = _segments(filled)
        else:
            tables[role] = _read(protocol, role, filled)
    return tables


def _read(protocol: Protocol, role: str, url: str) -> Any:
    """One table; an ECF may be given whatever the protocol."""
    if role in {known.name for known in protocol.roles}:
        return read_role(protocol, role, url)[0]
    with open_input(url) as stream:
        return READERS[role](stream, role)


def _segments(url: str) -> SegmentList:
    """A list of the test's segments: the first field of every line."""
    with open_input(url) as stream:
        names = [line.split()[0].decode() for line in stream if line.strip()]
    return SegmentList(tuple(sorted(set(names))))


def _queries(protocol: Protocol, tables: Mapping[str, Any], piece: Piece, remarks: Remarks) -> None:
    """Keyword search: queries of the list that have no block, queries and recordings that are unknown."""
    role = protocol.family.outputs[0]
    remarks.take(ERROR, relabel(protocol.family.can.check(protocol, tables), {role: piece.name}))
    output = tables[role]
    if "kwlist" in tables:
        listed, answered = tables["kwlist"].keywords.text("id"), set(output.blocks.text("query"))
        absent = [query for query in listed if query not in answered]
        _some(remarks, "uncovered_query", piece, absent, f"queries of {len(listed)} have no block", "Answer every one.")
    _recordings(tables, piece, set(output.detections.vocabularies["file"]), remarks)


def _documents(protocol: Protocol, tables: Mapping[str, Any], piece: Piece, remarks: Remarks) -> None:
    """Query by document: every pair needs a score, unless the season has a default one."""
    _queries(protocol, tables, piece, remarks)
    if protocol.settings.censor != "error" or not {"ecf", "kwlist"} <= tables.keys():
        return
    output = tables[protocol.family.outputs[0]]
    listed = set(tables["kwlist"].keywords.text("id"))
    documents = {ecf_file_name(name, "kwseval") for name in tables["ecf"].excerpts.text("file")}
    rows = zip(output.detections.text("query"), output.detections.text("file"), strict=True)
    given = {(query, ecf_file_name(file, "kwseval")) for query, file in rows}
    n_missing = len(listed) * len(documents) - sum(query in listed and file in documents for query, file in given)
    if n_missing:
        what = f"{n_missing} of {len(listed) * len(documents)} pairs of query and document have no score"
        remarks.error("uncovered_pairs", piece.name, what, "Score every pair: there is no default score.")


def _recordings(tables: Mapping[str, Any], piece: Piece, files: set[str], remarks: Remarks) -> None:
    if "ecf" in tables:
        known = {ecf_file_name(name, "kwseval") for name in tables["ecf"].excerpts.text("file")}
        unknown = sorted(file for file in files if ecf_file_name(file, "kwseval") not in known)
        mend = "They are not scored: compare the names with the ECF."
        _some(remarks, "unknown_file", piece, unknown, "recordings are not in the ECF", mend)


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


def _tokens(_: Protocol, tables: Mapping[str, Any], piece: Piece, remarks: Remarks) -> None:
    """Speech to text: words at places that are not recorded, recordings without a word."""
    words = tables[piece.role].words
    _recordings(tables, piece, set(words.vocabularies["file"]), remarks)
    if not words.columns["line"].size:
        remarks.error("no_words", piece.name, "the file has no word", "Check that it was written whole.")
    elif "ecf" in tables:
        known = {ecf_file_name(name, "kwseval") for name in tables["ecf"].excerpts.text("file")}
        said = {ecf_file_name(name, "kwseval") for name in words.vocabularies["file"]}
        _some(remarks, "uncovered_file", piece, sorted(known - said), "recordings have no word", "Check the upload.")


def _some(remarks: Remarks, code: str, piece: Piece, names: Sequence[str], what: str, mend: str) -> None:
    if names:
        shown = ", ".join(map(quoted, names[:_SHOWN])) + (" …" if len(names) > _SHOWN else "")
        remarks.warning(code, piece.name, f"{len(names)} {what} ({shown})", mend)
