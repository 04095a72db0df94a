"""Ledgers of outputs that have several blocks of one query."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import replace

from pipeline.partials.ledger import Ledger
from pipeline.trials.blocks import MARK, query_of


def merged_blocks(ledger: Ledger, blocks: Iterable[str]) -> Ledger:
    """The ledger with all blocks of a query under the query's name. ``blocks`` are the names of all blocks.

    Each later block has been searched for all occurrences of its query; those of a silent one are omitted once more.
    """
    later = Counter(query_of(name) for name in blocks if MARK in name)
    marked = [name for name in ledger.queries if MARK in name]
    if not later:
        return ledger
    total = Ledger.zero()
    for condition in ledger.conditions:
        total = total + ledger.select([name for name in ledger.queries if MARK not in name], condition)
        for name in marked:
            total = total + replace(ledger.select([name], condition), queries=(query_of(name),))
        for query, n_blocks in later.items():
            alone = ledger.select([query], condition)
            n_silent = n_blocks - sum(query_of(name) == query for name in marked)
            total = total + _omitted(condition, query, n_silent * int(alone.n_true[0, 0]))
    return total


def _omitted(condition: str, query: str, n_omitted: int) -> Ledger:
    empty = Ledger.zero().select([query], condition)
    return replace(empty, omitted=empty.omitted + n_omitted)
