"""Names of one vocabulary found in another, and how many of them are kept for the next tile."""

from __future__ import annotations

import pytest

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
