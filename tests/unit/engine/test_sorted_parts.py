"""Trials by score that lie in the store between passes: what is lost is made again, and only what is needed is read."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from pipeline.engine import sorted_parts
from pipeline.engine.parts import Parts
from pipeline.engine.runner import runner
from pipeline.engine.sorted_parts import SortedParts
from pipeline.errors import StoreError
from pipeline.grid.sweep import survey
from pipeline.metrics.kws import by_score
from pipeline.metrics.kws.by_score import ByScore, Pooled
from pipeline.metrics.kws.passes import Spans
from pipeline.metrics.kws.radix import images
from pipeline.partials.ledger import Ledger
from pipeline.store.blobs import Store

QUERIES = ("a", "b", "c", "d")


@dataclass(frozen=True)
class Lying:
    """A part in a store, of which it is counted how often it is loaded."""

    store: Store
    path: str
    ledger: Ledger
    loaded: list[str]

    def load(self) -> Ledger:
        self.loaded.append(self.path)
        return self.ledger


@dataclass(frozen=True)
class Seen:
    """Scores, and counts of their trials."""

    score: tuple[float, ...]
    n_trials: int
    n_passes: int = 1

    def __add__(self, other: Seen) -> Seen:
        return Seen(self.score + other.score, self.n_trials + other.n_trials, self.n_passes + other.n_passes)


def seen(rows: Any) -> Seen:
    assert (np.diff(rows.score) >= 0).all()
    return Seen(tuple(rows.score.tolist()), int((rows.n_target + rows.n_nontarget).sum()))


def divide(part: Ledger) -> tuple[Any, int]:
    return by_score.by_score(part, QUERIES), len(part)


@pytest.fixture(autouse=True)
def small(monkeypatch: pytest.MonkeyPatch) -> None:
    """Pieces of four rows, four to a block; some twelve to a range."""
    monkeypatch.setattr(sorted_parts, "PIECE_ROWS", 4)
    monkeypatch.setattr(sorted_parts, "RANGE_ROWS", 12)
    monkeypatch.setattr(by_score, "BLOCK_ROWS", 16)


@pytest.fixture
def ledgers() -> list[Ledger]:
    random = np.random.default_rng(3)

    def of(queries: tuple[str, ...], n: int) -> Ledger:
        query = random.integers(0, len(queries), n).astype(np.int32)
        score, target = random.integers(-30, 30, n) / 4, random.random(n) < 0.3
        return Ledger.of(queries, query, score, target, target, np.zeros(0, np.int32))

    return [of(("a", "b"), 50), of(("c",), 0), of(("d",), 33)]


@pytest.fixture
def store(tmp_path: Path) -> Store:
    return Store(str(tmp_path / "store"))


def kept(store: Store, ledgers: list[Ledger]) -> tuple[Parts, SortedParts, list[str]]:
    loaded: list[str] = []
    parts = Parts(runner(None), [Lying(store, f"totals/00/{at}", of, loaded) for at, of in enumerate(ledgers)])
    (rows, _), n_rows = parts.sorted((ByScore, Pooled), {"queries": QUERIES}, divide)
    assert n_rows == sum(map(len, ledgers))
    return parts, rows, loaded


def spans(*pairs: tuple[float, float]) -> Spans:
    low, high = np.array(pairs).T
    return images(low), images(high)


def files(store: Store) -> dict[str, bytes]:
    return {path: store.get(path) for path in store.listing("scratch")}


def test_all_rows_are_seen_in_the_store_as_in_memory(store: Store, ledgers: list[Ledger]) -> None:
    parts, rows, loaded = kept(store, ledgers)
    (here, pooled), _ = Parts(runner(None), ledgers).sorted((ByScore, Pooled), {}, divide)
    assert rows.sum(seen) == here.sum(seen)
    assert sorted(rows.sum(seen).score) == sorted(score for ledger in ledgers for score in ledger.score.tolist())
    assert pooled.sum(seen).n_trials == rows.sum(seen).n_trials == 83
    assert loaded == [f"totals/00/{at}" for at in range(3)]
    n_blocks = sum(max(1, -(-len(ledger) // 16)) for ledger in ledgers)
    assert len(files(store)) == 2 * n_blocks > 10
    parts.forget()
    assert not files(store)


def test_a_span_reads_its_pieces_only(store: Store, ledgers: list[Ledger]) -> None:
    _, rows, _ = kept(store, ledgers)
    wanted = rows.sum(seen, spans=spans((-1.0, 0.5), (2.0, 2.0)))
    every = rows.sum(seen).score
    assert {score for score in every if -1.0 <= score <= 0.5 or score == 2.0} <= set(wanted.score)
    assert len(wanted.score) < len(every) / 2
    assert rows.sum(seen, spans=spans((99.0, 100.0))).score == ()


def test_ranges_hold_equal_scores_together(store: Store, ledgers: list[Ledger]) -> None:
    _, rows, _ = kept(store, ledgers)
    found = rows.ranges(spans((-np.inf, np.inf)), seen)
    assert found.n_passes > 3
    assert list(found.score) == sorted(rows.sum(seen).score)
    few = rows.ranges(spans((6.25, 6.25)), seen)
    assert few.n_passes == 1
    assert few.score.count(6.25) == found.score.count(6.25) > 1


@pytest.mark.parametrize("fault", ["lost", "short", "changed"])
def test_what_is_lost_or_damaged_is_made_again(store: Store, ledgers: list[Ledger], fault: str) -> None:
    _, rows, loaded = kept(store, ledgers)
    before, expected = files(store), rows.sum(seen)
    for path, data in before.items():
        store.remove(path)
        if fault != "lost":
            store.put(path, data[:-3] if fault == "short" else data[:-1] + bytes([data[-1] ^ 1]))
    assert rows.sum(seen) == expected
    assert len(loaded) > len(ledgers)
    again = files(store)
    assert sum(again.get(path) == data for path, data in before.items()) >= 3


def test_what_a_killed_run_left_is_swept(store: Store, ledgers: list[Ledger]) -> None:
    kept(store, ledgers)
    assert set(survey(store, older_than_s=-60).removable) == set(files(store))


def test_what_was_kept_goes_when_the_rest_cannot_be_kept(store: Store, ledgers: list[Ledger]) -> None:
    done: list[int] = []

    def until_full(part: Ledger) -> tuple[Any, int]:
        if len(done) == 2:
            assert len(files(store)) > 4
            raise StoreError("no space is left there")
        done.append(len(part))
        return divide(part)

    parts = Parts(runner(None), [Lying(store, f"totals/00/{at}", of, []) for at, of in enumerate(ledgers)])
    with pytest.raises(StoreError, match="no space"):
        parts.sorted((ByScore, Pooled), {"queries": QUERIES}, until_full)
    assert not files(store)


def test_two_runs_of_one_cell_share_their_tables_and_neither_needs_the_other(
    store: Store, ledgers: list[Ledger]
) -> None:
    one, rows, _ = kept(store, ledgers)
    before = files(store)
    _, others, _ = kept(store, ledgers)
    assert files(store) == before
    expected = rows.sum(seen)
    one.forget()
    assert others.sum(seen) == expected


def test_a_store_that_lets_go_of_nothing_costs_a_warning(
    store: Store, ledgers: list[Ledger], monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    parts, _, _ = kept(store, ledgers)

    def refused(_store: Store, path: str) -> None:
        raise StoreError(f"{path}: removing is not allowed.")

    monkeypatch.setattr(Store, "remove", refused)
    parts.forget()
    [record] = caplog.records
    assert "`rescore gc`" in record.getMessage()
    assert files(store)


def test_counts_by_score_stand_side_by_side_as_compiled_kernels_take_them():
    query, yes = np.array([0, 1, 1, 3], np.int32), np.ones(4, np.bool_)
    made = Ledger.of(QUERIES, query, np.array([2.0, 0.5, 1.0, 0.0]), yes, query > 0, np.zeros(0, np.int32))
    rows = ByScore.of(made, np.arange(4, dtype=np.int32), slice(None))
    assert rows.n_target.tolist() == [1, 1, 1, 0]
    assert rows.n_target.flags.c_contiguous
    assert rows.n_nontarget.flags.c_contiguous
