"""Query-by-document search: which documents hold a query. Trials are detections, at most one a query and document."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields, replace
from typing import Any

import numpy as np

from pipeline.arrays import Codes, Ints
from pipeline.errors import Finding, Problems, StoreError
from pipeline.formats.kws.ecf import Ecf
from pipeline.formats.kws.kwslist import SystemOutput
from pipeline.formats.kws.rttm import Rttm
from pipeline.formats.table import Table, recode
from pipeline.trials.joined import Join
from pipeline.trials.layout import lay_out
from pipeline.trials.names import FileRule, ecf_file_name
from pipeline.trials.schema import Timeline, Trials
from pipeline.trials.tiles import buckets_of, offsets_of, ranks_of


@dataclass(frozen=True)
class DocumentKey:
    """The target pairs, sorted by (bucket, query, document). Codes point into the sorted vocabularies."""

    queries: tuple[str, ...]
    files: tuple[str, ...]
    """Every document that is searched, with targets or not."""
    position: Ints
    """Place of each of ``files`` in the ECF."""
    query: Codes
    file: Codes
    offsets: Ints

    def __len__(self) -> int:
        return int(self.query.size)

    def tiles(self, first: int, last: int) -> DocumentKey:
        """Buckets ``first`` up to ``last`` (exclusive) as a key of their own."""
        begin, end = int(self.offsets[first]), int(self.offsets[last])
        offsets = np.clip(self.offsets - begin, 0, end - begin)
        return replace(self, query=self.query[begin:end], file=self.file[begin:end], offsets=offsets)

    def to_columns(self) -> dict[str, Any]:
        """Every field under its name."""
        return {entry.name: getattr(self, entry.name) for entry in fields(self)}

    @classmethod
    def from_columns(cls, columns: Mapping[str, Any]) -> DocumentKey:
        """The inverse of ``to_columns``. Raises ``StoreError`` where they are something else."""
        if set(columns) != {entry.name for entry in fields(cls)}:
            raise StoreError("a stored reference is damaged: it is no document key. Remove it, it is derived again.")
        return cls(**columns)


def document_key(
    ecf: Ecf, rttm: Rttm, queries: tuple[str, ...], *, files: FileRule, where: str = "ecf"
) -> tuple[DocumentKey, tuple[Finding, ...]]:
    """The pairs of listed queries and documents that the transcript names: LEXEME records whose token is a query.

    Tokens and files outside the lists are passed over, as the organisers' tool does; a pair named twice is one, with a
    warning. Raises ``InputError`` for a document that the ECF lists twice.
    """
    listed = [ecf_file_name(name, files) for name in ecf.excerpts.text("file")]
    _refuse_repeated(listed, ecf.excerpts["line"], where)
    documents = tuple(sorted(listed))
    position = np.empty(len(documents), np.int64)
    position[recode(tuple(listed), documents)[:-1]] = np.arange(len(documents))
    names = tuple(sorted(queries))
    records = rttm.records
    lexeme = records["kind"] == recode(("LEXEME",), records.vocabularies["kind"])[0]
    query = recode(records.vocabularies["token"], names)[records["token"]].astype(np.int64)
    file = recode(records.vocabularies["file"], documents)[records["file"]].astype(np.int64)
    used = lexeme & (query >= 0) & (file >= 0)
    place = ranks_of(names)[query[used]] * max(len(documents), 1) + file[used]
    _, first = np.unique(place, return_index=True)
    query, file = query[used][first], file[used][first]
    twice = int(np.count_nonzero(used)) - first.size
    findings = (Finding("duplicate_target", f"{twice} records repeat a pair of query and document.", "rttm"),)
    offsets = offsets_of(buckets_of(names)[query])
    key = DocumentKey(names, documents, position, query.astype(np.int32), file.astype(np.int32), offsets)
    return key, findings if twice else ()


def _refuse_repeated(listed: list[str], lines: Ints, where: str) -> None:
    problems, first = Problems(where), dict[str, int]()
    for name, line in zip(listed, lines.tolist(), strict=True):
        if name in first:
            what = f"document {name!r} is listed twice (first in line {first[name]})"
            problems.add("duplicate_document", line, what, "Give every document one excerpt.")
        first.setdefault(name, line)
    problems.raise_if_any()


def lay_out_documents(output: SystemOutput, timeline: Timeline, *, files: FileRule, unknown_document: str) -> Trials:
    """The scored pairs of an output as trials; times are kept and mean nothing.

    ``row`` is the source line, counted on where several pairs share one: it orders the trials as the file does.
    Raises ``InputError`` for a pair that is scored twice and, unless ``unknown_document`` is ``keep``, for documents
    that the ECF lacks.
    """
    table = output.detections
    row, counted = table["line"].astype(np.int64), np.arange(len(table))
    row -= counted
    np.maximum.accumulate(row, out=row)
    row += counted
    del counted
    trials = lay_out(replace(output, detections=table.having("line", row)), timeline, files=files)
    problems = Problems("output")
    _note_repeated(trials, row, table, problems)
    if unknown_document != "keep":
        _note_unknown(trials, timeline, row, table, problems)
    problems.raise_if_any()
    return trials


def _line(table: Table, row: Ints, trials: Trials, trial: int) -> int:
    """The line of a trial in the file."""
    return int(table.at("line", np.searchsorted(row, trials.row[[trial]]))[0])


def _note_repeated(trials: Trials, row: Ints, table: Table, problems: Problems) -> None:
    is_same = (trials.query[1:] == trials.query[:-1]) & (trials.file[1:] == trials.file[:-1])  # they are in this order
    found = np.flatnonzero(np.append(is_same, False) | np.append(False, is_same)) if is_same.any() else np.zeros(0, int)
    pair = trials.query[found].astype(np.int64) * max(len(trials.files), 1) + trials.file[found]
    order = np.lexsort((trials.row[found], pair))
    again = found[order[1:][pair[order][1:] == pair[order][:-1]]]
    for trial in again[np.argsort(trials.row[again])].tolist():
        query, file = trials.queries[trials.query[trial]], trials.files[trials.file[trial]]
        what = f"query {query!r} and document {file!r} have two scores"
        problems.add("duplicate_trial", _line(table, row, trials, trial), what, "Keep one.")


def _note_unknown(trials: Trials, timeline: Timeline, row: Ints, table: Table, problems: Problems) -> None:
    unknown = np.flatnonzero(np.isnan(trials.time_s))
    told = Join("the output", trials.files, "the ECF", timeline.files).told() if unknown.size else ""
    for trial in unknown[np.argsort(trials.row[unknown])].tolist():
        file = trials.files[trials.file[trial]]
        mend = "Correct its name, or set unknown_document to keep if the ECF lists a part of the documents."
        problems.add(
            "unknown_document", _line(table, row, trials, trial), f"document {file!r} is not in the ECF ({told})", mend
        )
