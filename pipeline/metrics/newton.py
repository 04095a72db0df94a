"""Damped Newton on a convex objective, one evaluation at a time.

The search is a value: whoever holds it evaluates the objective at ``at``, in this process or as a map over tiles, and
hands the sums back. So a minimisation is a sequence of map-reduce passes.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

Vector = tuple[float, ...]
Matrix = tuple[Vector, ...]

MAX_PASSES = 200
SMALLEST_STEP = 2.0**-40
QUADRATIC = 1e-10
"""Newton decrement, relative to the objective, below which full steps converge and a line search only sees noise."""
CONVERGED = 1e-22
"""Decrement, relative to the objective, at which the last step moves nothing that float64 can tell."""
_ARMIJO = 1e-4


@dataclass(frozen=True)
class Objective:
    """Value, gradient and Hessian at one place."""

    value: float
    gradient: Vector
    hessian: Matrix


@dataclass(frozen=True)
class Search:
    """Where a minimisation stands. ``at`` is where to evaluate next, or the minimum once it is ``done``."""

    at: Vector
    base: Vector = ()
    """The last place that was accepted; empty before the first."""
    value: float = math.inf
    """The objective at ``base``."""
    step: Vector = ()
    scale: float = 1.0
    decrement: float = math.inf
    """-gradient times step at ``base``: twice the distance to the minimum, near it."""
    passes: int = 0
    done: bool = False


def begin(start: Vector) -> Search:
    """A search that has seen nothing yet."""
    return Search(tuple(start))


def advance(search: Search, seen: Objective, enough: float = CONVERGED) -> Search:
    """The search after the objective was evaluated at ``search.at``; done where the decrement is ``enough``."""
    passes = search.passes + 1
    polishing = search.decrement <= QUADRATIC * search.value
    fell = seen.value <= search.value - _ARMIJO * search.scale * search.decrement
    if search.base and not (polishing or fell):
        scale = search.scale / 2.0
        if scale < SMALLEST_STEP or passes >= MAX_PASSES:
            return _ended(search, search.base, passes)
        return Search(
            _moved(search.base, search.step, scale),
            search.base,
            search.value,
            search.step,
            scale,
            search.decrement,
            passes,
        )
    step = solve(seen.hessian, tuple(-slope for slope in seen.gradient))
    decrement = 0.0 if step is None else math.fsum(-g * s for g, s in zip(seen.gradient, step, strict=True))
    here = Search(search.at, search.at, seen.value, step or (), 1.0, decrement, passes)
    if step is None or passes >= MAX_PASSES or (polishing and decrement >= search.decrement):
        return _ended(here, search.at, passes)
    target = _moved(search.at, step, 1.0)
    if decrement <= enough * seen.value:
        return _ended(here, target, passes)
    return Search(target, search.at, seen.value, step, 1.0, decrement, passes)


def minimise(evaluate: Callable[[Vector], Objective], start: Vector, enough: float = CONVERGED) -> Search:
    """The minimum of a convex objective, from ``start``, evaluated here; one step beyond a decrement of ``enough``."""
    search = begin(start)
    while not search.done:
        search = advance(search, evaluate(search.at), enough)
    return search


def solve(matrix: Matrix, right: Vector) -> Vector | None:
    """The solution for a symmetric positive definite matrix; None where rounding leaves it none.

    Plain elimination in a fixed order: no library decides the last bits. Scaling a variable by a power of two changes
    none of them.
    """
    rows = [[*row, value] for row, value in zip(matrix, right, strict=True)]
    size = len(rows)
    for pivot in range(size):
        if not 0.0 < rows[pivot][pivot] < math.inf:
            return None
        for row in range(pivot + 1, size):
            factor = rows[row][pivot] / rows[pivot][pivot]
            for column in range(pivot, size + 1):
                rows[row][column] -= factor * rows[pivot][column]
    solution = [0.0] * size
    for row in range(size - 1, -1, -1):
        known = sum(rows[row][column] * solution[column] for column in range(row + 1, size))
        solution[row] = (rows[row][size] - known) / rows[row][row]
    return tuple(solution) if all(map(math.isfinite, solution)) else None


def _moved(place: Vector, step: Vector, scale: float) -> Vector:
    return tuple(x + scale * dx for x, dx in zip(place, step, strict=True))


def _ended(search: Search, at: Vector, passes: int) -> Search:
    return Search(at, search.base, search.value, search.step, search.scale, search.decrement, passes, done=True)
