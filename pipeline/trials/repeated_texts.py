"""Queries that have the text of another one: STDEval keeps what it has found by text, and finds it again for each."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence

import numpy as np

from pipeline.arrays import Ints
from pipeline.errors import Finding

Spans = tuple[Ints, Ints]
"""Rows of the first and of the last word of each occurrence."""
SHOWN = 5


def times_found(ids: Sequence[str], texts: Sequence[str]) -> list[int]:
    """How often STDEval counts each occurrence of each query: once more for every query of the same text before it, in
    the order of ids (STDEval.pl, ``RefList``)."""
    found, times = defaultdict[str, int](int), [1] * len(ids)
    for at in sorted(range(len(ids)), key=lambda at: ids[at]):
        found[texts[at]] += 1
        times[at] = found[texts[at]]
    return times


def found_again(found: Sequence[Spans], times: Sequence[int]) -> list[Spans]:
    """The occurrences of each query as often as they count."""
    return [(np.tile(first, n), np.tile(last, n)) for (first, last), n in zip(found, times, strict=True)]


def repeated_findings(ids: Sequence[str], times: Sequence[int]) -> tuple[Finding, ...]:
    """A warning that names the queries whose occurrences count more than once."""
    named = [name for name, n in zip(ids, times, strict=True) if n > 1]
    if not named:
        return ()
    more = f" and {len(named) - SHOWN} more" if len(named) > SHOWN else ""
    message = (
        f"{', '.join(named[:SHOWN])}{more} have the text of another query: as in STDEval their occurrences count once "
        "for each query of that text up to their own. Use repeated_texts=once, or list a text once."
    )
    return (Finding("repeated_text", message, "kwlist"),)
