"""A tile made from the one of another query list has the bytes of a tile that was aligned."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pipeline import protocols
from pipeline.partials.codec import encode
from pipeline.protocols.base import Earlier, Reference
from pipeline.protocols.kws_amend import amend
from pipeline.protocols.kws_tiles import tile
from pipeline.terms import Facts, Selection
from pipeline.trials.blocks import MARK
from pipeline.trials.schema import Occurrences, Timeline, Trials
from tests.unit.align import align_tiles as made

QUERIES = ("q", "r", "s")
NAMES = (*QUERIES, f"q{MARK}2")
TENTHS = st.integers(0, 120).map(lambda tenths: tenths / 10)
DETECTIONS = st.tuples(
    st.sampled_from(NAMES), st.sampled_from("fgx"), st.just("1"), TENTHS, st.sampled_from([0.5, 1.0]),
    st.integers(0, 4).map(float), st.booleans(),
)  # fmt: skip
OCCURRENCES = st.tuples(st.sampled_from(QUERIES), st.sampled_from("fg"), st.just("1"), TENTHS)
EXCERPTS = made.excerpts(("f", "1", 0.0, 10.0), ("g", "1", 2.0, 8.0))
PROTOCOLS = {
    "sws2013": {},
    "openkws13": {"condition": "source_type TEL:cts"},
    "openkws13 plan": {},
}


def protocol_of(name: str) -> object:
    found, _, mode = name.partition(" ")
    return protocols.find(found, mode=mode or "official", overrides=PROTOCOLS[name])


def key(rows: list[tuple[str, str, str, float]]) -> Occurrences:
    return made.occurrences(sorted((*place, begin, begin + 0.8) for *place, begin in set(rows)))


def reference(occurrences: Occurrences) -> Reference:
    selections = (Selection("TEL", "source_type", 16.0, 16.0, 16.0, ledger="source_type cts"),)
    timeline = Timeline(("f", "g"), np.array([0.0, 10.0, 20.0]), EXCERPTS, 16.0)
    return Reference(occurrences, timeline, Facts(16.0, 16.0, 16.0, selections=selections))


@pytest.mark.parametrize("name", PROTOCOLS)
@given(st.lists(DETECTIONS, max_size=14), *[st.lists(OCCURRENCES, max_size=8)] * 2, st.sets(st.sampled_from(QUERIES)))
def test_amending_is_aligning(name: str, rows: list, before: list, after: list, listed: set[str]) -> None:
    protocol = protocol_of(name)
    trials: Trials = made.trials(sorted(rows))
    earlier = key([*before, *after])
    # Of some queries all occurrences are as they were, of others none or other ones are left.
    later = key([row for row in (*before, *after) if row[0] in listed] + [row for row in after if row[0] > "q"])
    old = tile(protocol, trials, earlier, reference(earlier))
    amended = amend(protocol, Earlier(old, earlier), later, lambda: trials, reference(later))
    assert amended is not None
    assert encode(amended.partial) == encode(tile(protocol, trials, later, reference(later)))
    kept = {later.queries[code] for code in later.query.tolist()}
    assert not amended.aligned or kept


def test_a_query_that_is_gone_needs_neither_its_trials_nor_an_aligner(monkeypatch: pytest.MonkeyPatch) -> None:
    protocol = protocol_of("sws2013")
    trials = made.trials([made.detection(1.0, 0.5, 2.0, at="q f 1"), made.detection(3.0, 0.5, 1.0, at="r f 1")])
    earlier, later = key([("q", "f", "1", 1.0), ("r", "f", "1", 3.0)]), key([("r", "f", "1", 3.0)])
    old = tile(protocol, trials, earlier, reference(earlier))
    expected = encode(tile(protocol, trials, later, reference(later)))

    def never(*_: object) -> object:
        raise AssertionError("this is not needed")

    monkeypatch.setattr("pipeline.protocols.kws_amend.tile", never)
    amended = amend(protocol, Earlier(old, earlier), later, never, reference(later))
    assert amended is not None
    assert (encode(amended.partial), amended.aligned) == (expected, False)


def test_with_a_namefile_nothing_is_amended() -> None:
    protocol = protocols.find("openkws13", overrides={"namefile": "f 1"})
    rows = key([])
    assert amend(protocol, Earlier(None, rows), rows, lambda: made.trials([]), reference(rows)) is None
