from __future__ import annotations

from dataclasses import fields, replace
from typing import Any

import numpy as np
import pytest
from trial_inputs import ecf, kwlist, rttm

from pipeline.errors import StoreError
from pipeline.trials import columns
from pipeline.trials.keywords import SearchRules, find_occurrences
from pipeline.trials.layout import timeline
from pipeline.trials.schema import Excerpts, Occurrences, Timeline


def occurrences() -> Occurrences:
    return find_occurrences(kwlist(K1="a", K2="b c"), rttm("f 1 1 0.5 a\ng 2 1 0.5 a\ng 2 3 1 b"), SearchRules())[0]


def laid() -> Timeline:
    return timeline(ecf("b.sph 1 0 10", "a.sph 2 1 5 splitcts"), files="kwseval")


def assert_equal(one: Any, other: Any) -> None:
    assert type(one) is type(other)
    for field in fields(one):
        left, right = getattr(one, field.name), getattr(other, field.name)
        if isinstance(left, Excerpts):
            assert_equal(left, right)
        else:
            np.testing.assert_array_equal(left, right)
            assert type(left) is type(right)


@pytest.mark.parametrize("value", [occurrences(), laid().excerpts, laid()], ids=lambda value: type(value).__name__)
def test_what_comes_back_is_what_went_in(value: columns.Value) -> None:
    taken = columns.to_columns(value)
    assert all(isinstance(column, np.ndarray | tuple) for column in taken.values())
    assert_equal(columns.from_columns(taken), value)


def test_a_declared_header_comes_back() -> None:
    value = replace(laid(), header_s=3.25)
    assert columns.timeline(columns.to_columns(value)).header_s == 3.25


def test_each_kind_has_a_reader_that_refuses_the_others() -> None:
    made = columns.to_columns(occurrences())
    assert_equal(columns.occurrences(made), occurrences())
    assert_equal(columns.excerpts(columns.to_columns(laid().excerpts)), laid().excerpts)
    for reader in (columns.excerpts, columns.timeline):
        with pytest.raises(StoreError, match="occurrences where"):
            reader(made)
    with pytest.raises(StoreError, match="excerpts where occurrences"):
        columns.occurrences(columns.to_columns(laid().excerpts))


@pytest.mark.parametrize("name", ["kind", "begin_s", "files"])
def test_a_missing_column_is_damage(name: str) -> None:
    taken = columns.to_columns(occurrences())
    del taken[name]
    with pytest.raises(StoreError, match="damaged"):
        columns.from_columns(taken)


def test_a_foreign_column_is_damage() -> None:
    with pytest.raises(StoreError, match="score"):
        columns.from_columns(columns.to_columns(occurrences()) | {"score": np.zeros(2)})


def test_a_timeline_without_excerpts_is_damage() -> None:
    taken = {name: column for name, column in columns.to_columns(laid()).items() if not name.startswith("excerpts")}
    with pytest.raises(StoreError, match="damaged"):
        columns.timeline(taken)
