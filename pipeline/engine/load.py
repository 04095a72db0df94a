"""Processing Load facts of a cell, from what the participant declared and the organiser's query examples."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from pipeline.arrays import summed
from pipeline.errors import Finding
from pipeline.formats.kws.queries import total_dur_s
from pipeline.protocols.base import Conclusion
from pipeline.terms import Cell, LoadFacts

TABLE = "resources"
SAID = "as the output says"
"""The step of the table's row that is the output's own word."""
DIFFERS = 0.1
"""Share by which a declared time may differ from the one in the output itself."""


def load_facts(resources: Any | None, queries: Any | None, cell: Cell | None, listed: Sequence[str] = ()) -> LoadFacts:
    """Resources of one cell. Without a cell (one output scored by itself) a file's only entry is taken.

    The duration of the queries is that of all examples of the ``listed`` ones, and unknown where one has no example.
    """
    t_queries_s = None if queries is None else _listed_dur_s(queries, listed)
    if resources is None:
        return LoadFacts(t_queries_s=t_queries_s)
    uses = resources.only() if cell is None else resources.used(cell.query_set, cell.dataset)
    index, search, eag = (uses[name].phase if name in uses else None for name in ("index", "search", "eag"))
    told = any(use.nodes or use.steps for use in uses.values())
    rows = tuple(row for name, use in uses.items() for row in use.rows(name)) if told else ()
    return LoadFacts(index, search, t_queries_s, eag, rows)


def unfound(resources: Any | None, cell: Cell | None, where: str) -> tuple[Finding, ...]:
    """Why phases of a resources file are not used: it declares several, or other ones than the cell's."""
    if resources is None:
        return ()
    uses = resources.only() if cell is None else resources.used(cell.query_set, cell.dataset)
    found = []
    for name in ("index", "search", "eag"):
        known = sorted(getattr(resources, name))
        if known and name not in uses:
            whose = "which of them is this output's is not said" if cell is None else f"none is of {_named(cell, name)}"
            mend = "Name its cell by --cell QUERY_SET/DATASET." if cell is None else "Correct the names in the file."
            what = f"{name} is declared for {', '.join(known[:8])}{' …' if len(known) > 8 else ''}; {whose}"
            found.append(Finding("no_resources_of_cell", f"{what}. {mend}", where))
    return tuple(found)


def _named(cell: Cell, phase: str) -> str:
    return f"{cell.query_set}/{cell.dataset}" if phase == "search" else cell.dataset


def with_declared(conclusion: Conclusion, load: LoadFacts, blocks: Mapping[str, Mapping[str, float]]) -> Conclusion:
    """A conclusion with the table of what the system used, and what the output itself says of the time of searching
    beside it; a difference of more than a tenth is told. ``blocks``: what the output says by query.
    """
    told = [time_s for block in blocks.values() if not math.isnan(time_s := block.get("search_time_s", math.nan))]
    searched_s, declared_s = summed(told), None if load.search is None else load.search.cpu_s
    rows, findings = list(load.used), list(conclusion.findings)
    if rows and told:
        empty = {name: "" if isinstance(value, str) else math.nan for name, value in rows[0].items()}
        rows.append({**empty, "phase": "search", "step": SAID, "cpu_s": searched_s})
    if told and declared_s is not None and abs(searched_s - declared_s) > DIFFERS * max(searched_s, declared_s):
        what = f"the output says {searched_s:g} s for all queries, the resources file {declared_s:g} s of searching"
        findings.append(
            Finding(
                "search_times_differ", f"{what} (search_time, as if on a single CPU). One of them is wrong.", "output"
            )
        )
    if not rows and len(findings) == len(conclusion.findings):
        return conclusion
    tables = {**conclusion.tables, **({TABLE: tuple(rows)} if rows else {})}
    return replace(conclusion, tables=tables, findings=tuple(findings))


def _listed_dur_s(queries: Any, listed: Sequence[str]) -> float | None:
    if not listed:
        return total_dur_s(queries)
    names = queries.text("query")
    if set(listed) - set(names):
        return None
    wanted = set(listed)
    return total_dur_s(queries.take(np.array([name in wanted for name in names], np.bool_)))
