"""Counts that are mostly the same are stored without those."""

from __future__ import annotations

import numpy as np
import pytest

from pipeline.errors import DamageError
from pipeline.partials.codec import decode, encode, encode_columns
from pipeline.partials.ledger import Ledger
from pipeline.partials.usual import from_columns, to_columns


def ledger(n_rows: int, share: float) -> Ledger:
    """Trials of a query, a share of them targets, accepted, or both."""
    random = np.random.default_rng(n_rows)
    target, yes = random.random((2, n_rows)) < share
    query = np.zeros(n_rows, np.int32)
    return Ledger.of(["a"], query, random.normal(size=n_rows).round(6), yes, target, query[:2])


@pytest.mark.parametrize("share", [0.0, 0.01, 0.5, 1.0])
@pytest.mark.parametrize("n_rows", [0, 1, 7, 10_000])
def test_a_ledger_comes_back(n_rows, share):
    value = ledger(n_rows, share)
    assert decode(encode(value)) == value


def test_what_is_usual_takes_no_room():
    assert len(encode(ledger(10_000, 0.01))) < 10_000 * 4.5 < len(encode(ledger(10_000, 0.5)))


@pytest.mark.parametrize("kind", [np.uint8, np.uint16, np.int64])
def test_counts_keep_their_type(kind):
    counts = np.array([[0] * 30, [1] * 29 + [3], [0] * 30, [1, 0] * 15], kind)
    columns = to_columns(counts)
    assert {"n_nontarget.at", "n_target.at"} <= columns.keys()
    assert "n_nontarget_yes.at" not in columns
    found = from_columns(columns, 30)
    assert found.dtype == kind
    assert np.array_equal(found, counts)


@pytest.mark.parametrize(
    "change",
    [
        {"n_target.at": np.array([5, 4])},
        {"n_target.at": np.array([4, 4])},
        {"n_target.at": np.array([-1, 4])},
        {"n_target.at": np.array([4, 100])},
        {"n_target.at": np.array([[4, 5]])},
        {"n_target.at": np.array([4.0, 5.0])},
        {"n_target.at": np.array([4])},
        {"n_target": np.array([1, 1], np.uint16)},
        {"n_target": None},
        {"n_target.at": None},
        {"n_nontarget": np.ones(99, np.uint8), "n_nontarget.at": None},
        {"counts": np.ones(100, np.uint8)},
    ],
)
def test_what_cannot_be_is_refused(change):
    n = 100
    target = np.isin(np.arange(n), (4, 5))
    none = np.zeros(n, np.int32)
    value = Ledger.of(["a"], none, np.arange(n) / 10, ~np.ones(n, np.bool_), target, none[:0])
    columns, meta = value.to_columns()
    assert decode(encode_columns(value.kind, columns, meta)) == value
    changed = {name: column for name, column in {**columns, **change}.items() if column is not None}
    with pytest.raises(DamageError, match="ledger/3"):
        decode(encode_columns(value.kind, changed, meta))
