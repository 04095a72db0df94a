"""Processing Load and its parts."""

from __future__ import annotations

import math

import pytest

from pipeline.metrics import load
from pipeline.metrics.measure import Rules, Scored
from pipeline.terms import Facts, LoadFacts, OperatingPoint, Phase

HOUR = 3600.0
GB = 1e9


def cell(index=None, search=None, t_queries_s=None, t_audio_s=10 * HOUR, load_lambda=0.1):
    facts = Facts(t_audio_s, 0.0, 0.0, load=LoadFacts(index, search, t_queries_s))
    return Scored(None, facts, OperatingPoint(), Rules(load_lambda=load_lambda))


INDEX, SEARCH = Phase(5 * HOUR, 4 * GB), Phase(2 * HOUR, 0.5 * GB)


def test_speed_factors_and_peaks():
    # 5 h of CPU time on 10 h of audio; 2 h of searching for 0.1 h of queries in 10 h of audio.
    scored = cell(INDEX, SEARCH, 0.1 * HOUR)
    assert load.isf(scored).value == 0.5
    assert load.ssf(scored).value == pytest.approx(2.0, rel=1e-15)
    assert load.ssf(scored).detail["ssf_per_s"] == pytest.approx(2 / 3600, rel=1e-15)
    assert load.pmu_index(scored).value == 4
    assert load.pmu_search(scored).value == 0.5


def test_processing_load_weighs_both_phases():
    found = load.pl(cell(INDEX, SEARCH, 0.1 * HOUR, load_lambda=0.25))
    assert found.value == pytest.approx(0.25 * 0.5 * 4 + 0.75 * 2 * 0.5, rel=1e-15)
    assert found.detail["pl_ssf_per_s"] == pytest.approx(0.25 * 0.5 * 4 + 0.75 * (2 / 3600) * 0.5, rel=1e-15)


def test_a_phase_of_weight_zero_is_not_asked_for():
    assert load.pl(cell(INDEX, None, None, load_lambda=1.0)).value == 2
    assert load.pl(cell(None, SEARCH, 0.1 * HOUR, load_lambda=0.0)).value == pytest.approx(1.0, rel=1e-15)


@pytest.mark.parametrize(
    ("scored", "measure", "reason"),
    [
        (cell(), load.isf, "no_resources"),
        (cell(), load.pmu_index, "no_resources"),
        (cell(INDEX, SEARCH), load.ssf, "no_query_durations"),
        (cell(INDEX, SEARCH), load.pl, "no_query_durations"),
        (cell(INDEX, SEARCH, 0.0), load.ssf, "no_query_durations"),
        (cell(Phase(None, GB), SEARCH), load.isf, "no_cpu_time"),
        (cell(Phase(1.0, None), SEARCH), load.pmu_index, "no_peak_memory"),
        (cell(INDEX, SEARCH, 1.0, t_audio_s=0.0), load.isf, "no_audio"),
        (cell(INDEX, SEARCH, 1.0, t_audio_s=0.0), load.ssf, "no_audio"),
        (cell(INDEX, Phase(1.0, None), 1.0), load.pl, "no_peak_memory"),
        (cell(None, SEARCH, 1.0), load.pl, "no_resources"),
    ],
)
def test_what_was_not_declared_has_a_reason(scored, measure, reason):
    found = measure(scored)
    assert math.isnan(found.value)
    assert found.reason == reason


def test_mixed_time_bases_are_flagged_where_both_phases_count():
    declared = Phase(2 * HOUR, GB, time_basis="cpu")
    assert load.pl(cell(INDEX, declared, HOUR)).status == "mixed_time_bases"
    assert load.pl(cell(INDEX, declared, HOUR, load_lambda=1.0)).status is None
    assert load.pl(cell(INDEX, SEARCH, HOUR)).status is None
