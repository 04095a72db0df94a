"""Processing Load facts of a cell, from what the participant declared and the organiser's query examples."""

from __future__ import annotations

from typing import Any

from pipeline.formats.queries import total_dur_s
from pipeline.terms import Cell, LoadFacts


def load_facts(resources: Any | None, queries: Any | None, cell: Cell | None) -> LoadFacts:
    """Resources of one cell. Without a cell (one output scored by itself) a file's only entry is taken."""
    t_queries_s = None if queries is None else total_dur_s(queries)
    if resources is None:
        return LoadFacts(t_queries_s=t_queries_s)
    if cell is None:
        return LoadFacts(resources.only_index_phase(), resources.only_search_phase(), t_queries_s)
    index = resources.index_phase(cell.dataset)
    return LoadFacts(index, resources.search_phase(cell.query_set, cell.dataset), t_queries_s)
