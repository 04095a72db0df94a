"""Wholly inside one excerpt of the same file and channel, both borders included."""

from __future__ import annotations

import numpy as np
import pytest

from pipeline.align.excerpts import Places, first_inside, inside_excerpts
from pipeline.trials.schema import Excerpts
from tests.unit.align.align_tiles import excerpts


def inside(evaluated: Excerpts, *rows: tuple[str, str, float, float]) -> list[bool]:
    """File, channel, begin, end of each row; vocabularies in an order of their own, with names nobody uses."""
    files = ("unused", *sorted({row[0] for row in rows}, reverse=True))
    channels = ("unused", *sorted({row[1] for row in rows}, reverse=True))
    file = np.array([files.index(row[0]) for row in rows], np.int32)
    channel = np.array([channels.index(row[1]) for row in rows], np.int32)
    begin, end = (np.array([row[column] for row in rows], np.float64) for column in (2, 3))
    return inside_excerpts(evaluated, Places(files, channels, file, channel), begin, end).tolist()


ONE = excerpts(("f1", "1", 10.0, 20.0))


@pytest.mark.parametrize(
    ("begin", "end", "expected"),
    [
        (10.0, 20.0, True),
        (12.0, 13.0, True),
        (9.999, 12.0, False),
        (19.0, 20.001, False),
        (0.0, 30.0, False),
        (25.0, 26.0, False),
    ],
)
def test_borders_belong_to_the_excerpt(begin, end, expected):
    assert inside(ONE, ("f1", "1", begin, end)) == [expected]


def test_end_is_compared_as_it_is_and_not_rounded():
    assert 0.1 + 0.2 > 0.3
    assert inside(excerpts(("f1", "1", 0.0, 0.3)), ("f1", "1", 0.1, 0.1 + 0.2)) == [False]


def test_file_and_channel_are_told_apart_by_name():
    evaluated = excerpts(("f1", "1", 0.0, 5.0), ("f1", "2", 5.0, 10.0), ("f2", "1", 10.0, 15.0))
    rows = [
        (file, channel, begin, begin + 1) for file in ("f1", "f2", "f3") for channel in "123" for begin in (1, 6, 11)
    ]
    expected = [("f1", "1", 1), ("f1", "2", 6), ("f2", "1", 11)]
    assert [row[:3] for row, kept in zip(rows, inside(evaluated, *rows), strict=True) if kept] == expected


def test_a_row_across_two_abutting_excerpts_is_outside():
    evaluated = excerpts(("f1", "1", 0.0, 10.0), ("f1", "1", 10.0, 20.0))
    assert inside(evaluated, ("f1", "1", 9.5, 10.5), ("f1", "1", 9.5, 10.0), ("f1", "1", 10.0, 10.5)) == [
        False,
        True,
        True,
    ]


def test_excerpts_may_nest_and_overlap_in_any_order():
    evaluated = excerpts(
        ("f1", "1", 40.0, 60.0), ("f1", "1", 10.0, 20.0), ("f1", "1", 0.0, 100.0), ("f1", "1", 90.0, 120.0)
    )
    rows = [("f1", "1", begin, end) for begin, end in ((50, 70), (15, 25), (95, 110), (80, 110), (119, 121))]
    assert inside(evaluated, *rows) == [True, True, True, False, False]


def test_the_latest_end_of_one_channel_says_nothing_about_the_next():
    evaluated = excerpts(("f1", "1", 0.0, 100.0), ("f1", "2", 0.0, 1.0), ("f1", "2", 2.0, 3.0))
    assert inside(evaluated, ("f1", "2", 2.0, 4.0), ("f1", "2", 2.0, 3.0)) == [False, True]


def test_without_excerpts_everything_is_outside():
    assert inside(excerpts(), ("f1", "1", 0.0, 1.0)) == [False]


def test_without_rows_there_is_nothing_to_say():
    assert inside(ONE) == []


def test_names_without_end_are_looked_up_one_by_one(monkeypatch: pytest.MonkeyPatch) -> None:
    evaluated = excerpts(("f1", "1", 0.0, 9.0), ("f1", "2", 0.0, 5.0), ("f2", "1", 2.0, 9.0), ("f2", "1", 20.0, 29.0))
    rows = [
        (file, channel, float(at), at + 2.0) for file in ("f1", "f2", "f3") for channel in "123" for at in range(30)
    ]
    expected = [
        any(
            (file, channel) == place and begin <= at and until <= end
            for place, begin, end in (
                (("f1", "1"), 0.0, 9.0),
                (("f1", "2"), 0.0, 5.0),
                (("f2", "1"), 2.0, 9.0),
                (("f2", "1"), 20.0, 29.0),
            )
        )
        for file, channel, at, until in rows
    ]
    for at_most in (0, 1 << 20):
        monkeypatch.setattr("pipeline.align.excerpts._PLACES_AT_MOST", at_most)
        assert inside(evaluated, *rows) == expected


OVERLAPPING = excerpts(("f", "1", 0.0, 10.0), ("f", "1", 5.0, 20.0), ("f", "2", 0.0, 10.0))


@pytest.mark.parametrize(
    ("held", "expected"),
    [
        ([True, False, False], [True, True, False, False, False]),
        ([False, True, False], [False, False, True, False, False]),
        ([True, True, False], [True, True, True, False, False]),
        ([False, False, True], [False, False, False, True, False]),
    ],
)
def test_the_first_excerpt_that_holds_a_row_decides(held, expected):
    rows = [("1", 1.0, 2.0), ("1", 6.0, 7.0), ("1", 6.0, 11.0), ("2", 6.0, 7.0), ("1", 0.0, 11.0)]
    channel = np.array([int(row[0]) - 1 for row in rows], np.int32)
    begin_s, end_s = (np.array([row[at] for row in rows]) for at in (1, 2))
    places = Places(("f",), ("1", "2"), np.zeros(len(rows), np.int32), channel)
    found = first_inside(OVERLAPPING, np.array(held), places, begin_s, end_s)
    assert found.tolist() == expected
