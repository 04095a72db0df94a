from __future__ import annotations

import pytest
from trial_inputs import ecf

from pipeline.errors import InputError, UsageError
from pipeline.trials import layout


def seconds(*excerpts: str, header_s: str | None = None, **rules: object) -> float:
    laid = layout.timeline(ecf(*excerpts, header_s=header_s), files="kwseval")
    return layout.t_audio_s(laid, **rules)[0]  # type: ignore[arg-type]


def test_channels_of_one_recording_count_once() -> None:
    assert seconds("f1.sph 1 0 100", "f1.sph 2 0 100") == 100.0


def test_duplicated_excerpts_count_once() -> None:
    assert seconds("f1.sph 1 0 100", "f1.sph 1 0 100") == 100.0


def test_a_nested_excerpt_takes_the_tail_of_the_outer_one() -> None:
    assert seconds("f1.sph 1 0 100", "f1.sph 1 10 10") == 20.0


def test_recordings_add_up() -> None:
    assert seconds("f1.sph 1 0 100", "f2.sph 1 0.5 50.25") == 150.25


def test_splitcts_counts_half() -> None:
    assert seconds("f1.sph 1 0 100 splitcts", "f2.sph 1 0 100 splitcts") == 100.0


def test_splitcts_channels_of_one_recording() -> None:
    channels = ("f1.sph 1 0 100 splitcts", "f1.sph 2 0 100 splitcts")
    assert seconds(*channels) == 50.0
    assert seconds(*channels, splitcts_sum="per_channel") == 100.0


def test_per_channel_leaves_other_source_types_alone() -> None:
    assert seconds("f1.sph 1 0 100", "f1.sph 2 0 100", splitcts_sum="per_channel") == 100.0


def test_stdeval_adds_durations_of_channel_1() -> None:
    excerpts = ("f1.sph 1 0 100 splitcts", "f1.sph 1 10 10", "f1.sph 2 0 7", "f2.sph 01 0 3")
    assert seconds(*excerpts, excerpt_sum="channel_1") == 113.0


def test_plain_sum_takes_every_excerpt() -> None:
    assert seconds("f1.sph 1 0 100 splitcts", "f1.sph 2 0 100", excerpt_sum="sum") == 200.0


def test_the_sum_does_not_depend_on_the_order_of_excerpts() -> None:
    excerpts = [f"f{i}.sph 1 0.{i} {i}.1" for i in range(10)]
    assert seconds(*excerpts) == seconds(*reversed(excerpts))


def test_header_and_given_seconds() -> None:
    assert seconds("f1.sph 1 0 100", header_s="99.95", t_audio="header") == 99.95
    assert seconds("f1.sph 1 0 100", t_audio=3600.0) == 3600.0


def findings(*excerpts: str, header_s: str) -> list[str]:
    laid = layout.timeline(ecf(*excerpts, header_s=header_s), files="kwseval")
    return [finding.code for finding in layout.t_audio_s(laid)[1]]


def test_header_and_excerpts_that_differ_are_reported() -> None:
    assert findings("f1.sph 1 0 100", header_s="100.05") == []
    assert findings("f1.sph 1 0 100", header_s="101") == ["duration_mismatch"]


def test_a_header_that_counts_both_halves_of_splitcts_is_no_mismatch() -> None:
    assert findings("f1.sph 1 0 100 splitcts", "f2.sph 2 0 100 splitcts", header_s="200") == []


def test_a_mismatch_names_both_durations_and_the_one_used() -> None:
    laid = layout.timeline(ecf("f1.sph 1 0 69847.666", header_s="64146.498"), files="stdeval")
    used_s, (finding,) = layout.t_audio_s(laid, t_audio="header", excerpt_sum="channel_1")
    assert used_s == 64146.498
    assert "64146.498 s" in finding.message
    assert "69847.666 s" in finding.message
    assert finding.where == "ecf"


def test_a_missing_header_is_refused() -> None:
    with pytest.raises(InputError, match="declares no duration"):
        seconds("f1.sph 1 0 100", t_audio="header")


@pytest.mark.parametrize("given", [0.0, -1.0, float("nan"), float("inf")])
def test_no_audio_is_refused(given: float) -> None:
    with pytest.raises(InputError, match="above 0 s"):
        seconds("f1.sph 1 0 100", t_audio=given)


def test_excerpts_without_length_are_refused() -> None:
    with pytest.raises(InputError, match="above 0 s"):
        seconds("f1.sph 1 0 0")


@pytest.mark.parametrize(
    "rules",
    [{"t_audio": "all"}, {"excerpt_sum": "jar"}, {"splitcts_sum": "never"}],
    ids=lambda rules: next(iter(rules)),
)
def test_unknown_rules_are_named(rules: dict[str, str]) -> None:
    (name,) = rules
    with pytest.raises(UsageError, match=f"setting {name}"):
        seconds("f1.sph 1 0 100", **rules)
