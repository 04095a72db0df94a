"""Excerpts are sorted; those of a recording stay in the order of the ECF where the organisers' tools go by it."""

from __future__ import annotations

from itertools import permutations

import pytest
from trial_inputs import ecf

from pipeline.trials.duration import excerpts_s
from pipeline.trials.layout import timeline
from pipeline.trials.schema import Excerpts

Row = tuple[str, str, float, float, float, str]


def rows(*lines: str) -> list[Row]:
    excerpts = timeline(ecf(*lines), files="kwseval").excerpts
    columns = (excerpts.file, excerpts.channel, excerpts.begin_s, excerpts.end_s, excerpts.dur_s)
    return [
        (excerpts.files[file], excerpts.channels[channel], begin, end, dur, kind)
        for file, channel, begin, end, dur, kind in zip(
            *(column.tolist() for column in columns), excerpts.source_type, strict=True
        )
    ]


def test_every_column_is_sorted_alike_whatever_the_order_of_the_ecf() -> None:
    lines = ("b.sph 2 0 20", "b.sph 1 0 60", "b.sph 1 70 5", "a.sph 1 3 100")
    expected = [
        ("a", "1", 3, 103, 100, "cts"),
        ("b", "1", 0, 60, 60, "cts"),
        ("b", "1", 70, 75, 5, "cts"),
        ("b", "2", 0, 20, 20, "cts"),
    ]
    assert {tuple(rows(*order)) for order in permutations(lines)} == {tuple(expected)}


@pytest.mark.parametrize(
    "lines",
    [
        ("f.sph 1 5 10", "f.sph 1 0 20"),  # nested
        ("f.sph 1 10 5", "f.sph 1 0 10"),  # touching
        ("f.sph 1 10 5", "f.sph 1 10 5", "f.sph 1 2 3"),  # repeated
        ("f.sph 2 0 10 splitcts", "f.sph 1 0 10 cts"),  # of two types
    ],
)
def test_rows_of_such_a_recording_keep_their_order(lines: tuple[str, ...]) -> None:
    others = ("z.sph 1 0 5", "a.sph 1 9 5", "a.sph 1 0 5")
    found = rows(*others, *lines)
    assert [(row[1], row[2], row[4]) for row in found if row[0] == "f"] == [
        (channel, float(begin), float(dur)) for _, channel, begin, dur, *_ in (line.split() for line in lines)
    ]
    assert [row[:3] for row in found if row[0] != "f"] == [("a", "1", 0.0), ("a", "1", 9.0), ("z", "1", 0.0)]


def test_recordings_are_sorted_all_the_same() -> None:
    assert [row[0] for row in rows("b.sph 1 5 10", "a.sph 1 0 9", "b.sph 1 0 20")] == ["a", "b", "b"]


def _t_audio_s(*lines: str) -> float:
    found: Excerpts = timeline(ecf(*lines), files="kwseval").excerpts
    return excerpts_s(found, "kwseval", "per_file")


@pytest.mark.parametrize(
    ("lines", "expected"),
    [
        (("f.sph 1 0 100 cts", "f.sph 2 0 100 splitcts"), 50.0),
        (("f.sph 2 0 100 splitcts", "f.sph 1 0 100 cts"), 100.0),
        (("f.sph 1 0 100 cts", "f.sph 1 0 100 cts"), 100.0),
        (("f.sph 1 10 10 cts", "f.sph 1 0 100 splitcts"), 15.0),
        (("f.sph 1 0 100 splitcts", "f.sph 1 10 10 cts"), 15.0),
    ],
)
def test_of_equal_spans_the_last_is_counted_and_others_end_where_the_next_begins(
    lines: tuple[str, ...], expected: float
) -> None:
    assert _t_audio_s(*lines) == expected
