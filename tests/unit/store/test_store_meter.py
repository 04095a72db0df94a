"""What a block takes: bytes of the store, processor time and the peak of memory, which add up by kind."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from pipeline.store.blobs import Store
from pipeline.store.meter import Cost, metered, together


def test_bytes_of_the_store_are_counted(tmp_path: Path) -> None:
    store = Store(str(tmp_path))
    store.put("results/before.json", b"12345")
    with metered() as meter:
        store.put("results/a.json", b"123")
        store.get("results/a.json")
        store.get("results/before.json")
    store.get("results/a.json")
    assert (meter.cost.n_tasks, meter.cost.bytes_written, meter.cost.bytes_read) == (1, 3, 8)


@pytest.mark.skipif(sys.platform != "linux", reason="elsewhere the peak is the process's")
def test_the_peak_is_of_the_block() -> None:
    with metered() as large:
        assert bytearray(200_000_000)[-1] == 0
    with metered() as small:
        pass
    assert large.cost.peak_rss_bytes - small.cost.peak_rss_bytes > 150_000_000
    assert large.cost.cpu_s > 0


@pytest.mark.skipif(sys.platform != "linux", reason="elsewhere a rise is what the process's peak grew")
def test_the_rise_is_what_the_block_needed_whatever_the_process_has() -> None:
    held = bytearray(b"x") * 150_000_000
    with metered() as first:
        assert bytearray(200_000_000)[-1] == 0
    with metered() as second:
        pass
    with metered() as third:
        assert bytearray(100_000_000)[-1] == 0
    assert len(held) < 200_000_000 < first.cost.rise_rss_bytes + 30_000_000
    assert second.cost.rise_rss_bytes < 30_000_000 < second.cost.peak_rss_bytes
    assert 70_000_000 < third.cost.rise_rss_bytes < 130_000_000


def test_costs_add_up_by_kind_and_the_peak_is_the_largest() -> None:
    one = {"tiles": Cost(1, 0.5, 1.0, 10, 20, 300, 30), "ingest": Cost(1, 0.1)}
    two = {"tiles": Cost(2, 0.25, 0.5, 1, 2, 200, 50)}
    assert together(one, two) == {"tiles": Cost(3, 0.75, 1.5, 11, 22, 300, 50), "ingest": Cost(1, 0.1)}
    assert together(one, two)["tiles"].document() == {
        "n_tasks": 3,
        "cpu_s": 0.75,
        "wall_s": 1.5,
        "bytes_read": 11,
        "bytes_written": 22,
        "peak_rss_bytes": 300,
        "rise_rss_bytes": 50,
    }
