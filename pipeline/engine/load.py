"""Processing Load facts of a cell, from what the participant declared and the organiser's query examples."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from pipeline.formats.kws.queries import total_dur_s
from pipeline.terms import Cell, LoadFacts


def load_facts(resources: Any | None, queries: Any | None, cell: Cell | None, listed: Sequence[str] = ()) -> LoadFacts:
    """Resources of one cell. Without a cell (one output scored by itself) a file's only entry is taken.

    The duration of the queries is that of all examples of the ``listed`` ones, and unknown where one has no example.
    """
    t_queries_s = None if queries is None else _listed_dur_s(queries, listed)
    if resources is None:
        return LoadFacts(t_queries_s=t_queries_s)
    if cell is None:
        return LoadFacts(resources.only_index_phase(), resources.only_search_phase(), t_queries_s)
    index = resources.index_phase(cell.dataset)
    return LoadFacts(index, resources.search_phase(cell.query_set, cell.dataset), t_queries_s)


def _listed_dur_s(queries: Any, listed: Sequence[str]) -> float | None:
    if not listed:
        return total_dur_s(queries)
    names = queries.text("query")
    if set(listed) - set(names):
        return None
    wanted = set(listed)
    return total_dur_s(queries.take(np.array([name in wanted for name in names], np.bool_)))
