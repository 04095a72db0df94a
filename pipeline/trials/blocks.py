"""Several blocks of one query in one output: which rows count, and how later blocks are told apart."""

from __future__ import annotations

from dataclasses import replace
from typing import Literal

import numpy as np

from pipeline.arrays import Ints
from pipeline.errors import UsageError
from pipeline.formats.kws.kwslist import SystemOutput
from pipeline.formats.table import Table, recode, used_codes
from pipeline.trials.schema import Occurrences, Trials

BlockRule = Literal["repeat", "merge", "last"]
MARK = "\x1f"
"""Stands before the number of a later block in its name. XML cannot spell it, so no query's name holds it."""


def query_of(name: str) -> str:
    """The query that a block's name stands for."""
    return name.partition(MARK)[0]


def block_name(query: str, number: int) -> str:
    """The name of the block of this number, from 1."""
    return query if number == 1 else f"{query}{MARK}{number}"


def named_blocks(output: SystemOutput, rule: str) -> tuple[Table, Table]:
    """Blocks and detections of an output under a rule for queries with several blocks.

    ``repeat`` gives later blocks names of their own (``query_of`` is their query): KWSEval searches each for all
    occurrences. ``merge`` keeps all rows under one name. ``last`` keeps the rows of the last block alone (STDEval).
    """
    if rule not in ("repeat", "merge", "last"):
        raise UsageError(f"setting duplicate_blocks: the value is {rule!r}, allowed: repeat | merge | last.")
    blocks, detections = output.blocks, output.detections
    if rule == "merge" or np.unique(blocks["query"]).size == len(blocks):
        return blocks, detections
    codes = blocks["query"]
    if rule == "last":
        last = np.zeros(len(blocks.vocabularies["query"]), np.int64)
        np.maximum.at(last, codes, np.arange(codes.size))
        return blocks, detections.take(last[codes[detections["block"]]] == detections["block"])
    seen: dict[str, int] = {}
    names = []
    for query in blocks.text("query"):
        seen[query] = seen.get(query, 0) + 1
        names.append(block_name(query, seen[query]))
    code = np.arange(len(names), dtype=np.int32)
    return _renamed(blocks, names, code), _renamed(detections, names, code[detections["block"]])


def _renamed(table: Table, names: list[str], codes: object) -> Table:
    columns = {**table.columns, "query": np.asarray(codes, np.int32)}
    return Table(columns, {**table.vocabularies, "query": tuple(names)})


def block_of(name: str) -> int:
    """Which block of its query a name stands for, from 1."""
    return int(name.partition(MARK)[2] or 1)


def occurrences_of_blocks(occurrences: Occurrences, trials: Trials) -> tuple[Occurrences, Ints]:
    """Occurrences, once more under the name of each later block that has detections, and what row each was."""
    used = [trials.queries[code] for code in used_codes(trials.queries, trials.query)]
    marked = [name for name in used if MARK in name]
    if not marked:
        return occurrences, np.arange(len(occurrences))
    queries = tuple(sorted({*occurrences.queries, *marked}))
    code = recode(occurrences.queries, queries)[occurrences.query]
    parts, codes = [np.arange(code.size)], [code]
    for name in marked:
        query = query_of(name)
        rows = np.flatnonzero(code == queries.index(query)) if query in queries else np.empty(0, np.int64)
        parts.append(rows)
        codes.append(np.full(rows.size, queries.index(name), np.int32))
    rows = np.concatenate(parts)
    columns = ("file", "channel", "begin_s", "end_s", "last_begin_s", "first_end_s", "row")
    taken = {name: getattr(occurrences, name)[rows] for name in columns}
    named = replace(occurrences, queries=queries, query=np.concatenate(codes).astype(np.int32), **taken)
    return named, rows
