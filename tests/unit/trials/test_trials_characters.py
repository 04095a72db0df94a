from __future__ import annotations

import numpy as np
import pytest

from pipeline.trials.tokens.transcript import split_rows, split_text


@pytest.mark.parametrize(
    ("text", "split", "kept_ascii"),
    [
        ("听到", "听 到", "听 到"),
        ("to", "t o", "to"),
        ("听OK到", "听 O K 到", "听 OK 到"),
        ("abcd", "a b c d", "abcd"),
        ("听 到", "听 到", "听 到"),
    ],
)
def test_split_text(text: str, split: str, kept_ascii: str) -> None:
    assert split_text(text, not_ascii=False, delete_hyphens=False) == split
    assert split_text(text, not_ascii=True, delete_hyphens=False) == kept_ascii


def test_neighbouring_ascii_words_grow_together() -> None:
    assert split_text("new york", not_ascii=True, delete_hyphens=False) == "newyork"


def test_hyphens_go_after_ascii_is_joined() -> None:
    assert split_text("co-op", not_ascii=True, delete_hyphens=True) == "co op"
    assert split_text("到-", not_ascii=False, delete_hyphens=True) == "到"


def test_records_are_cut_into_equal_parts_rounded_to_milliseconds() -> None:
    parts = [["x", "y", "z"], ["q"], []]
    rows = split_rows(parts, np.array([1, 0, 2, 1], np.int32), np.array([0.12345, 1.0, 2.0, 3.0]), np.full(4, 1.0))
    assert rows.parent.tolist() == [0, 1, 1, 1, 3]
    assert [rows.tokens[code] for code in rows.token.tolist()] == ["q", "x", "y", "z", "q"]
    assert rows.begin_s.tolist() == [0.12345, 1.0, 1.333, 1.666, 3.0]
    assert rows.dur_s.tolist() == [1.0, 0.333, 0.333, 0.333, 1.0]


def test_no_record_at_all() -> None:
    rows = split_rows([], np.array([], np.int32), np.array([]), np.array([]))
    assert rows.parent.size == rows.token.size == rows.begin_s.size == 0
