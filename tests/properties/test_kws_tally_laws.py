"""Odd rows of a tile are counted as one by one."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from pipeline import protocols
from pipeline.protocols.base import Reference
from pipeline.terms import Facts
from pipeline.trials.schema import Timeline
from tests.unit.align import align_tiles as made

SPANS = {("f", "1"): (0.0, 10.0), ("g", "2"): (2.0, 8.0)}
TIMELINE = Timeline(
    ("e", "f", "g"),
    np.array([0.0, 0.0, 10.0, 20.0]),
    made.excerpts(*((*at, *span) for at, span in SPANS.items())),
    16.0,
)
ROWS = st.tuples(
    st.sampled_from("qr"), st.sampled_from("fgx"), st.sampled_from("12"), st.sampled_from([1.0, 2.0, 7.5]),
    st.sampled_from([0.5, 3.0]), st.floats(0, 1), st.booleans(),
)  # fmt: skip


@given(st.lists(ROWS, max_size=20), st.sampled_from(["excerpt", "none"]), st.sets(st.sampled_from("fgx"), min_size=1))
def test_odd_rows_are_counted(rows, ecf_filter, files):
    rows = sorted(row for row in rows if row[1] in files)
    protocol = protocols.find("openkws13", overrides={"ecf_filter": ecf_filter})
    key = made.occurrences([("q", "f", "1", 1.0, 2.0)])
    reference = Reference(key, TIMELINE, Facts(16.0, 16.0, 16.0))
    found = protocol.family.counted(protocol, made.trials(rows), key, reference).tally
    inside = [at[1:3] in SPANS and SPANS[at[1:3]][0] <= at[3] and at[3] + at[4] <= SPANS[at[1:3]][1] for at in rows]
    assert found["outside_ecf"] == (0 if ecf_filter == "none" else inside.count(False))
    assert found["unknown_file"] == sum(row[1] == "x" for row in rows)
    assert found["unknown_channel"] == sum(row[1] != "x" and row[1:3] not in SPANS for row in rows)
    assert found["identical"] == sum(one[:5] == other[:5] for one, other in pairwise(rows))
