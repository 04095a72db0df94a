from __future__ import annotations

import math

import numpy as np
import pytest

from pipeline.partials.exact import ExactSum
from pipeline.partials.merge import merge_tree


@pytest.mark.parametrize(
    ("n", "shape"),
    [(0, "0"), (1, "a"), (2, "(ab)"), (3, "((ab)c)"), (5, "(((ab)(cd))e)"), (7, "(((ab)(cd))((ef)g))")],
)
def test_the_tree_is_fixed_by_the_sequence(n, shape):
    class Shape(str):
        __slots__ = ()

        def __add__(self, other: str) -> Shape:
            return Shape(f"({self:s}{other:s})")

    assert merge_tree([Shape(name) for name in "abcdefg"[:n]], Shape("0")) == shape


def test_the_sequence_itself_is_left_alone():
    parts = [ExactSum.of(np.array([0.1])) for _ in range(5)]
    assert merge_tree(parts, ExactSum.zero()).value() == math.fsum([0.1] * 5)
    assert len(parts) == 5
