"""Map over parts and add up exactly, here or on a cluster.

Parts stay where they are; a little state goes out, sums come back.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, runtime_checkable
from typing import Protocol as Interface

from pipeline.engine.runner import Here, OnCluster
from pipeline.partials.merge import merge_tree

MERGE_ARITY = 8


@runtime_checkable
class Loadable(Interface):
    """A part that is elsewhere."""

    def load(self) -> Any:
        """The part itself."""
        ...


class Parts:
    """Values, what loads them, or futures of either; none of them is ever here on a cluster."""

    def __init__(self, run: Here | OnCluster, parts: Sequence[Any]) -> None:
        self._run, self._parts = run, tuple(parts)

    @property
    def n(self) -> int:
        """How many parts there are."""
        return len(self._parts)

    def sum(self, task: Callable[..., Any], *state: Any) -> Any:
        """``task(part, *state)`` of every part, added up in the order of the parts."""
        level = [self._run.submit(apply, task, part, *state) for part in self._parts]
        while len(level) > 1:
            groups = [level[start : start + MERGE_ARITY] for start in range(0, len(level), MERGE_ARITY)]
            level = [self._run.submit(merge_pass, group) for group in groups]
        return self._run.one(itself, level[0])

    def regroup(self, cut: Callable[..., Any], gather: Callable[..., Any], n_groups: int, *state: Any) -> Parts:
        """Parts made of pieces of these: ``gather(group, state[-1], pieces)``, a piece of each ``cut(part, *state)``.

        On a cluster they stay on the workers, which spill and remake them as they must.
        """
        pieces = [self._run.submit(apply, cut, part, *state) for part in self._parts]
        groups = [[self._run.submit(pick, of_part, group) for of_part in pieces] for group in range(n_groups)]
        made = [self._run.submit(gather, group, state[-1], picked) for group, picked in enumerate(groups)]
        return Parts(self._run, made)


def apply(task: Callable[..., Any], part: Any, *state: Any) -> Any:
    """Task: one part of a pass."""
    return task(part.load() if isinstance(part, Loadable) else part, *state)


def merge_pass(sums: Sequence[Any]) -> Any:
    """Task: sums added in a fixed order."""
    return merge_tree(sums, sums[0])


def pick(pieces: Sequence[Any], group: int) -> Any:
    """Task: a part's piece of one group."""
    return pieces[group]


def itself(value: Any) -> Any:
    """Task: what is to be returned."""
    return value
