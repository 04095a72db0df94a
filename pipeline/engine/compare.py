"""Outputs against one reference: the paired tests of their family, of every two and of all at once."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from itertools import combinations
from typing import Any

from pipeline.metrics.stt.significance import holm
from pipeline.protocols.base import Protocol
from pipeline.terms import Figure

SURE = "no_differences"
"""The reason why a test of two outputs has no p where nothing tells them apart: they are alike with p 1."""
TESTS_OF_PAIRS = ("mapsswe", "mcnemar", "sign", "wilcoxon")
"""The tests whose figure is a p."""
Pair = tuple[str, str]


@dataclass(frozen=True)
class PairedTests:
    """Tests by pair of outputs and name, p after Holm's correction over the pairs of a test, and tests of all."""

    pairs: Mapping[Pair, Mapping[str, Figure]] = field(default_factory=dict)
    p_holm: Mapping[Pair, Mapping[str, float]] = field(default_factory=dict)
    of_all: Mapping[str, Figure] = field(default_factory=dict)


def paired_tests(protocol: Protocol, partials: Mapping[str, Any]) -> PairedTests:
    """The tests of outputs by name, from their merged partials; none where the family has none.

    Raises ``ValueError`` where outputs are not scored on the same reference.
    """
    can = protocol.family.can
    if can.compare is None or len(partials) < 2:
        return PairedTests()
    pairs = {pair: can.compare(*(partials[name] for name in pair)) for pair in combinations(partials, 2)}
    corrected = {
        name: dict(zip(pairs, holm([_p(tests[name]) for tests in pairs.values()]), strict=True))
        for name in TESTS_OF_PAIRS
    }
    of_all = {} if can.among is None else can.among(list(partials.values()))
    return PairedTests(
        pairs, {pair: {name: corrected[name][pair] for name in TESTS_OF_PAIRS} for pair in pairs}, of_all
    )


def _p(figure: Figure) -> float:
    if figure.reason == SURE:
        return 1.0
    return figure.value if figure.reason is None else math.nan
