"""Blocks of a few rows, so that small cells have many."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from unittest.mock import patch

from pipeline.metrics import fixed_point
from pipeline.metrics.entropy import binary_sums
from pipeline.metrics.entropy import class_costs as cost
from pipeline.metrics.entropy import newton_sums as sums
from pipeline.metrics.kws import counts, optimum, sweep, thin
from pipeline.metrics.multiclass import decisions
from pipeline.partials import ascending

BOUNDS = (
    (ascending, "BLOCK_ROWS"),
    *((module, "_AT_ONCE") for module in (counts, fixed_point, optimum, thin)),
    *((module, "BLOCK") for module in (binary_sums, cost, decisions, sums)),
)


@contextmanager
def few_rows_at_once(n: int) -> Iterator[None]:
    """Every fold over rows takes ``n`` of them at a time, whatever the number of queries."""
    with ExitStack() as stack:
        for module, name in BOUNDS:
            stack.enter_context(patch.object(module, name, n))
        stack.enter_context(patch.object(ascending, "ROWS_PER_QUERY", 0))
        stack.enter_context(patch.object(sweep, "STRIDE", max(n // 2, 1)))
        yield
