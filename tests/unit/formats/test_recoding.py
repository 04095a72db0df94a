"""Names of one vocabulary found in another, and how many of them are kept for the next tile."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pipeline.formats import table


def names(n: int, mark: str) -> tuple[str, ...]:
    return tuple(f"{mark}{number}" for number in range(n))


def test_few_names_are_translated_once_and_names_without_end_are_not_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(table, "_NAMES_KEPT", 5)
    few, many = names(3, "few"), names(4, "many")
    for known in (few, many):
        onto = known[:2][::-1]
        before = table._kept.cache_info().currsize
        codes = [table.recode(known, onto) for _ in range(2)]
        assert codes[0].tolist() == [1, 0, *[-1] * (len(known) - 1)]
        assert not codes[0].flags.writeable
        kept = known is few
        assert (codes[0] is codes[1]) == kept
        assert table._kept.cache_info().currsize - before == int(kept) or before == 32


def test_equal_names_in_another_tuple_are_translated_alike() -> None:
    known = names(3, "again")
    assert table.recode(known, known[1:]).tolist() == table.recode(names(3, "again"), known[1:]).tolist()
    assert table.recode(known, known[:1]).tolist() == [0, -1, -1, -1]


@given(st.lists(st.integers(0, 6), max_size=12), st.sampled_from([1, 40]))
def test_codes_that_occur_are_found_in_any_order(codes: list[int], repeated: int) -> None:
    column = np.repeat(np.array(codes, np.int32), repeated)
    assert table.used_codes(names(7, "q"), column) == np.unique(column).tolist()
