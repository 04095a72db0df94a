from __future__ import annotations

import pytest
from trial_inputs import ecf, rttm

from pipeline.trials.layout import t_audio_s, timeline
from pipeline.trials.noscore import noscore_findings, without_noscore


def left(*regions: str, excerpt: str = "f.sph 1 10 20") -> list[tuple[float, float]]:
    records = "\n".join(f"NOSCORE {region} <NA> <NA> <NA> <NA>" for region in regions)
    excerpts = without_noscore(timeline(ecf(excerpt), files="kwseval"), rttm(records)).excerpts
    return list(zip(excerpts.begin_s.tolist(), excerpts.end_s.tolist(), strict=True))


@pytest.mark.parametrize(
    ("region", "expected"),
    [
        ("f 1 15 5", [(10.0, 15.0), (20.0, 30.0)]),
        ("f 1 5 10", [(15.0, 30.0)]),
        ("f 1 25 100", [(10.0, 25.0)]),
        ("f 1 0 100", []),
        ("f 1 10 20", []),
        ("f 1 0 10", [(10.0, 30.0)]),
        ("f 1 30 5", [(10.0, 30.0)]),
        ("f 2 15 5", [(10.0, 30.0)]),
        ("g 1 15 5", [(10.0, 30.0)]),
    ],
)
def test_one_region(region: str, expected: list[tuple[float, float]]) -> None:
    assert left(region) == expected


def test_regions_that_overlap_or_come_unsorted() -> None:
    assert left("f 1 20 2", "f 1 12 3", "f 1 13 1", "f 1 14 2") == [(10.0, 12.0), (16.0, 20.0), (22.0, 30.0)]


def test_the_audio_that_is_left_is_what_counts() -> None:
    laid = timeline(ecf("f.sph 1 0 100 splitcts", "g.sph 1 0 50"), files="kwseval")
    cut = without_noscore(laid, rttm("NOSCORE f 1 10 20.5 <NA> <NA> <NA> <NA>"))
    assert t_audio_s(cut)[0] == 0.5 * 79.5 + 50
    assert cut.excerpts.dur_s.tolist() == [10.0, 69.5, 50.0]
    assert cut.excerpts.source_type == ("splitcts", "splitcts", "cts")
    assert cut.offset_s.tolist() == laid.offset_s.tolist()


def test_regions_inside_the_excerpts_are_reported() -> None:
    laid = timeline(ecf("f.sph 1 0 100"), files="kwseval")
    inside = rttm("NOSCORE f 1 10 20 <NA> <NA> <NA> <NA>\nNOSCORE f 1 200 5 <NA> <NA> <NA> <NA>")
    (finding,) = noscore_findings(laid, inside)
    assert finding.message.startswith("1 NOSCORE")
    assert noscore_findings(without_noscore(laid, inside), inside) == ()
    assert noscore_findings(laid, rttm("f 1 10 20 a")) == ()
