"""Labels are the same however buckets are grouped, and what the store gives back of them counts the same."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pipeline import protocols
from pipeline.align.labels import Labels
from pipeline.engine.counting import counted
from pipeline.engine.stored import labelstore
from pipeline.protocols.base import Protocol, Reference
from pipeline.store.blobs import Store
from pipeline.terms import Facts, Selection
from pipeline.trials.blocks import MARK
from pipeline.trials.schema import N_BUCKETS, Occurrences, Timeline, Trials
from pipeline.trials.tiles import buckets_of, offsets_of
from tests.partial_bits import bits_of
from tests.unit.align import align_tiles as made

QUERIES = ("q", "r", "s", "t")
NAMES = (*QUERIES, f"q{MARK}2", f"q{MARK}3")
TENTHS = st.integers(0, 120).map(lambda tenths: tenths / 10)
DETECTIONS = st.tuples(
    st.sampled_from(NAMES), st.sampled_from("fgx"), st.just("1"), TENTHS, st.sampled_from([0.5, 1.0]),
    st.integers(0, 4).map(float), st.booleans(),
)  # fmt: skip
OCCURRENCES = st.tuples(st.sampled_from(QUERIES), st.sampled_from("fg"), st.just("1"), TENTHS)
EXCERPTS = made.excerpts(("f", "1", 0.0, 10.0), ("g", "1", 2.0, 8.0))
PROTOCOLS: dict[str, dict[str, str]] = {
    "sws2013": {},
    "openkws13": {"condition": "source_type TEL:cts", "namefile": "f 1"},
    "openkws13-segments": {},
}


def in_buckets(rows: Trials | Occurrences) -> Any:
    """Rows in the order of buckets, which that of the alphabet is not."""
    bucket = buckets_of(rows.queries)[rows.query] if len(rows) else np.zeros(0, np.int64)
    order = np.lexsort((np.arange(len(rows)), rows.query, bucket))
    columns = {
        name: value[order] for name, value in vars(rows).items() if isinstance(value, np.ndarray) and name != "offsets"
    }
    return replace(rows, **{**columns, "offsets": offsets_of(bucket[order])})


def inputs(rows: list[Any], spoken: list[Any], name: str) -> tuple[Protocol, Trials, Occurrences, Reference]:
    protocol = protocols.find(name, overrides=PROTOCOLS[name])
    key = in_buckets(made.occurrences(sorted((*place, begin, begin + 0.8) for *place, begin in set(spoken))))
    if protocol.family.name == "segments":  # a target says which segment it is
        key = replace(key, row=np.array([key.files[code] == "g" for code in key.file], np.int64))
    selections = (Selection("TEL", "source_type", 16.0, 16.0, 16.0, ledger="source_type cts"),)
    timeline = Timeline(("f", "g"), np.array([0.0, 10.0, 20.0]), EXCERPTS, 16.0)
    reference = Reference(key, timeline, Facts(16.0, 16.0, 16.0, selections=selections))
    return protocol, in_buckets(made.trials(sorted(rows))), key, reference


def same(one: Labels, other: Labels) -> bool:
    return (
        one.columns.keys() == other.columns.keys()
        and all(np.array_equal(one[name], other[name]) for name in one.columns)
        and all(np.array_equal(one.offsets[dim], other.offsets[dim]) for dim in one.offsets)
    )


@pytest.mark.parametrize("name", PROTOCOLS)
@pytest.mark.parametrize("step", [4, 16])
@settings(max_examples=12, deadline=None)
@given(rows=st.lists(DETECTIONS, max_size=14), spoken=st.lists(OCCURRENCES, max_size=8))
def test_any_grouping_of_buckets_gives_the_same_labels(
    tmp_path_factory: pytest.TempPathFactory, name: str, step: int, rows: list[Any], spoken: list[Any]
) -> None:
    protocol, trials, key, reference = inputs(rows, spoken, name)
    whole = counted(protocol, trials, key, reference)
    assert whole.labels is not None
    cuts = [(first, first + step) for first in range(0, N_BUCKETS, step)]
    parts = [protocol.family.align(protocol, trials.tiles(*ends), key.tiles(*ends), reference) for ends in cuts]
    assert same(Labels.joined(parts), whole.labels)
    store = Store(str(tmp_path_factory.mktemp("labels")))
    labelstore.write(store, "labels/x.zarr.zip", whole.labels, {})
    again = [labelstore.load(store, "labels/x.zarr.zip", *ends) for ends in cuts]
    assert all(same(one, other) for one, other in zip(again, parts, strict=True))
    total = protocol.family.zero()
    for ends, labels in zip(cuts, again, strict=True):
        total = total + counted(protocol, trials.tiles(*ends), key.tiles(*ends), reference, labels).partial
    assert bits_of(total) == bits_of(whole.partial)
