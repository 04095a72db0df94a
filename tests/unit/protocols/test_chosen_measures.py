"""Some measures of a cell are those of all its measures, in every family."""

from __future__ import annotations

from dataclasses import replace

import pytest
from golden import every_protocol, inputs_of

from pipeline.engine.score import score_files
from pipeline.errors import UsageError
from pipeline.metrics.bounds import UP_TO_1
from pipeline.metrics.measure import Measure, Scored
from pipeline.protocols import find
from pipeline.protocols.base import Protocol
from pipeline.terms import Figure

FIRST = {protocol.family.name: protocol for protocol in every_protocol().values()}


@pytest.mark.parametrize("protocol", FIRST.values(), ids=FIRST)
def test_they_are_the_same(protocol: Protocol) -> None:
    everything = score_files(protocol, inputs_of(protocol))
    names = [measure.name for measure in protocol.measures][::2]
    some = score_files(protocol, inputs_of(protocol), measures=names[::-1])
    assert repr(some.figures) == repr({name: everything.figures[name] for name in names})
    assert (some.facts, some.findings, some.signature) == (everything.facts, everything.findings, everything.signature)
    assert (some.blocks, some.curve, some.tables) == ((), {}, {})
    assert some.conditions.keys() == everything.conditions.keys()
    for part in some.conditions.values():
        assert part.figures.keys() <= set(names)
        assert (part.blocks, part.curve, part.tables) == ((), {}, {})


def _never(_: Scored[object]) -> Figure:
    raise AssertionError("nobody asked for this figure")


def test_detections_compute_no_others() -> None:
    protocol = find("openkws13")
    dear = replace(protocol, measures=(*protocol.measures, Measure("dear", "1", "higher", UP_TO_1, "none", _never)))
    with pytest.raises(AssertionError, match="nobody asked"):
        score_files(dear, inputs_of(dear))
    assert list(score_files(dear, inputs_of(dear), measures=["atwv"]).figures) == ["atwv"]


def test_unknown_ones_are_refused_with_those_that_there_are() -> None:
    protocol = find("openkws13")
    with pytest.raises(UsageError, match=r"openkws13 has no measure mtvw, x \(allowed: atwv, mtwv,"):
        score_files(protocol, inputs_of(protocol), measures=["mtvw", "atwv", "x"])
