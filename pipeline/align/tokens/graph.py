"""Alignment of two word graphs: references or outputs with alternatives (SCTK sclite; its order of ties).

Both sides are graphs of arcs in topological order; arc 0 is a null arc that every path begins with.
"""

from __future__ import annotations

import struct
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from pipeline.align.tokens.linear import GAP, OPTIONAL_GAP, SUBSTITUTION
from pipeline.align.tokens.match import matches
from pipeline.align.tokens.rules import Token

NULL_GAP: float = struct.unpack("f", struct.pack("f", 0.001))[0]
"""The cost of leaving a null word out: 0.001 in single precision."""
NULL_PAIR = 1.0
_SINGLE = struct.Struct("f")

Item = tuple[Token, int]
"""A token and the place of the word it comes from."""


class Spoken(NamedTuple):
    """Tokens of one word, and its place. ``cut``: they are made anew of a word, which loses its place among others."""

    tokens: tuple[Token, ...]
    place: int = -1
    cut: bool = False


Tree = list["Spoken | list[Tree]"]
"""Words in order; a list stands for alternatives, each a tree of its own."""


class _Node:
    """Where arcs of a graph meet: the arcs that end here, and the words that begin here with where they end."""

    def __init__(self, ends: list[int]) -> None:
        self.ends = ends
        self.words: list[tuple[Spoken, int, _Node]] = []


@dataclass
class Graph:
    """Arcs of a word graph: token and source place of each, its predecessors in order, and the arcs it may end with."""

    items: list[Item] = field(default_factory=lambda: [(Token("", ""), -1)])
    before: list[list[int]] = field(default_factory=lambda: [[]])
    ends: list[int] = field(default_factory=lambda: [0])

    @classmethod
    def of(cls, tree: Tree) -> Graph:
        """The graph of a tree; predecessors stand in the order of the alternatives, words that are cut behind others.

        Every word has tokens, and every alternative words.
        """
        graph, start = cls(), _Node([0])
        graph.ends = graph._extend(tree, start, _Node([]) if tree else start).ends
        _move_cut(start)
        return graph

    def _extend(self, tree: Tree, node: _Node, end: _Node) -> _Node:
        """The way of a tree from ``node`` to ``end``, which is returned."""
        for at, spoken in enumerate(tree):
            target = end if at == len(tree) - 1 else _Node([])
            if isinstance(spoken, list):
                for branch in spoken:
                    self._extend(branch, node, target)
            else:
                entries = node.ends
                for token in spoken.tokens:
                    self.items.append((token, spoken.place))
                    self.before.append(entries)
                    entries = [len(self.items) - 1]
                node.words.append((spoken, entries[0], target))
                target.ends += entries
            node = target
        return end

    @property
    def longest(self) -> int:
        """Tokens on the longest path, null words apart."""
        lengths = [0] * len(self.items)
        for arc in range(1, len(self.items)):
            own = 0 if self.items[arc][0].null else 1
            lengths[arc] = own + max(lengths[arc_before] for arc_before in self.before[arc])
        return max(lengths[end] for end in self.ends)


def _move_cut(start: _Node) -> None:
    """Put the ends of words that are cut behind the others, in the order in which sclite comes to cut them.

    It goes from node to node, the last that it met first, and takes a word out of its graph to put in the pieces.
    """
    open_nodes, met = [start], {start}
    while open_nodes:
        words = open_nodes.pop().words
        for _, _, target in words:
            if target not in met:
                met.add(target)
                open_nodes.append(target)
        for spoken, arc, target in words:
            if spoken.cut:
                target.ends.remove(arc)
                target.ends.append(arc)


def gap_cost(token: Token) -> float:
    """The cost of leaving a token out, or putting it in."""
    if token.null:
        return NULL_GAP
    return OPTIONAL_GAP if token.optional else GAP


def pair_cost(reference: Token, output: Token) -> float:
    """The cost of setting two tokens against each other."""
    if reference.null and output.null:
        return NULL_PAIR
    return 0 if matches(reference, output) else SUBSTITUTION


def _single(value: float) -> float:
    """The value in single precision, which sclite's costs are kept in."""
    return float(_SINGLE.unpack(_SINGLE.pack(value))[0])


def align_graphs(reference: Graph, output: Graph) -> list[tuple[int, int]]:
    """The cheapest pair of paths as steps (reference arc, output arc), 0 where a side has none.

    Null words vanish, alone or against each other; against (@), which is no null word and matches it, one is seen.

    Where costs tie, a substitution or match wins, then an insertion unless a deletion is cheaper; among predecessors
    the first. Costs are whole numbers unless null words occur, which cost 0.001 and make all sums single precision.
    """
    null = any(token.null for graph in (reference, output) for token, _ in graph.items)
    costs, back = _table(reference, output, _single if null else float)
    ends = [(i, j) for i in reference.ends for j in output.ends]
    i, j = min(ends, key=lambda end: costs[end[0]][end[1]])
    steps = []
    while i or j:
        previous_i, previous_j = back[i][j]
        taken_i, taken_j = (i if previous_i != i else 0), (j if previous_j != j else 0)
        if not all(graph.items[arc][0].null for graph, arc in ((reference, taken_i), (output, taken_j)) if arc):
            steps.append((taken_i, taken_j))
        i, j = previous_i, previous_j
    return steps[::-1]


Rows = list[list[float]]
Back = list[list[tuple[int, int]]]


def _table(reference: Graph, output: Graph, rounded: Callable[[float], float]) -> tuple[Rows, Back]:
    """Costs of all pairs of arcs, and where each was reached from."""
    n, m = len(reference.items), len(output.items)
    insertion = [gap_cost(token) for token, _ in output.items]
    known: dict[tuple[Token, Token], float] = {}
    costs: Rows = [[0.0] * m for _ in range(n)]
    back: Back = [[(0, 0)] * m for _ in range(n)]
    for i in range(n):
        token = reference.items[i][0]
        deletion, before_i, row = gap_cost(token), reference.before[i], costs[i]
        for j in range(1 if i == 0 else 0, m):
            before_j = output.before[j]
            best: tuple[float, tuple[int, int]] | None = None
            if i and j:
                pair = (token, output.items[j][0])
                cost = known.get(pair)
                if cost is None:
                    cost = known[pair] = pair_cost(*pair)
                p, q = _first_pair(costs, before_i, before_j)
                best = rounded(costs[p][q] + cost), (p, q)
            cheaper_gap = _gap(costs, (i, j), (before_i, before_j), (deletion, insertion[j]), rounded)
            if best is None or best[0] > cheaper_gap[0]:
                best = cheaper_gap
            row[j], back[i][j] = best
    return costs, back


def _first_pair(costs: Rows, before_i: Sequence[int], before_j: Sequence[int]) -> tuple[int, int]:
    """The first cheapest pair of predecessors, in the order reference, then output."""
    if len(before_i) == 1 and len(before_j) == 1:
        return before_i[0], before_j[0]
    return min(((p, q) for p in before_i for q in before_j), key=lambda pair: costs[pair[0]][pair[1]])


def _gap(
    costs: Rows,
    at: tuple[int, int],
    before: tuple[Sequence[int], Sequence[int]],
    gaps: tuple[float, float],
    rounded: Callable[[float], float],
) -> tuple[float, tuple[int, int]]:
    """The cheaper of deletion and insertion; an insertion where they tie."""
    i, j = at
    deletion = insertion = None
    if i:
        p = min(before[0], key=lambda arc: costs[arc][j])
        deletion = rounded(costs[p][j] + gaps[0]), (p, j)
    if j:
        row = costs[i]
        q = min(before[1], key=row.__getitem__)
        insertion = rounded(row[q] + gaps[1]), (i, q)
    if insertion is None or (deletion is not None and deletion[0] < insertion[0]):
        if deletion is None:
            raise ValueError("arcs 0 and 0 have no predecessor")
        return deletion
    return insertion
