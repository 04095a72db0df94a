"""Entropies, paired tests and summary rows of speech-to-text, by hand."""

from __future__ import annotations

import math
from itertools import permutations

import numpy as np
import pytest

from pipeline.metrics.stt.nce import clipped, nce
from pipeline.metrics.stt.significance import (
    CORRECT,
    DELETED,
    INSERTED,
    SUBSTITUTED,
    Bootstrap,
    Mapsswe,
    holm,
    mapsswe,
    mcnemar,
    sign_test,
    wilcoxon,
)
from pipeline.metrics.stt.wer import SttRules, WordCounts, report
from pipeline.partials.stt_outcomes import COUNTS

C, S, D, I = CORRECT, SUBSTITUTED, DELETED, INSERTED  # noqa: E741 - the field's letters


def row(name: str, **counts: int) -> WordCounts:
    return WordCounts(name, tuple(counts.get(count, 0) for count in COUNTS), 0.0, 0.0, confident=False)


def test_nce_is_one_for_certainty_and_zero_for_the_base_rate() -> None:
    # Three of four words correct: H = 4 (0.75 log2(4/3) + 0.25 log2 4) bits.
    entropy = 3 * math.log2(4 / 3) + math.log2(4)
    assert nce(3, 1, 0.0, 0.0).value == 1.0
    assert nce(3, 1, 3 * math.log2(0.75), math.log2(0.25)).value == pytest.approx(0.0, abs=1e-15)
    assert nce(3, 1, -1.0, -2.0).value == pytest.approx((entropy - 3.0) / entropy, rel=1e-15)


@pytest.mark.parametrize(
    ("correct", "incorrect", "reason"), [(0, 0, "no_confidences"), (3, 0, "all_correct"), (0, 3, "none_correct")]
)
def test_nce_says_why_it_is_undefined(correct: int, incorrect: int, reason: str) -> None:
    figure = nce(correct, incorrect, -1.0, -1.0)
    assert math.isnan(figure.value)
    assert figure.reason == reason


def test_confidences_are_single_precision_and_clipped() -> None:
    assert clipped(np.array([-1.0, 0.5, 2.0])).tolist() == [1e-7, 0.5, 0.9999999]
    assert clipped(np.array([0.1]))[0] == float(np.float32(0.1))


def test_missing_confidences_count_as_zero_or_not_at_all() -> None:
    counts = {"correct": 3, "substituted": 2, "n_confidences": 4, "n_missing_correct": 1}
    speaker = WordCounts("a", row("", **counts).counts, -2.0, -1.0, confident=True)
    assert speaker.nce("exclude", plan=True).value == nce(2, 2, -2.0, -1.0).value
    assert speaker.nce("zero", plan=True).value == nce(3, 2, -2.0 + math.log2(1e-7), -1.0).value


def test_the_plan_leaves_forgiven_deletions_out_of_the_entropy() -> None:
    speaker = WordCounts(
        "a", row("", correct=5, forgiven_reference=2, inserted=1, n_confidences=4).counts, -2.0, -1.0, confident=True
    )
    assert speaker.nce("zero", plan=False).value == nce(5, 1, -2.0, -1.0).value
    assert speaker.nce("zero", plan=True).value == nce(3, 1, -2.0, -1.0).value


def test_denominators() -> None:
    speaker = row("a", correct=8, substituted=1, deleted=1, forgiven_output=2, n_longest=9)
    assert [speaker.n_reference(rule) for rule in ("sclite", "plan", "longest")] == [10, 8, 9]


def test_speakers_without_words_are_left_out_of_mean_rates_however_many_there_are() -> None:
    rates = (0, 50, 100)
    speakers = [row(f"s{at}", n_segments=1, correct=100 - rate, deleted=rate) for at, rate in enumerate(rates)]
    silent = [row(name, n_segments=1, inserted=3) for name in ("t", "u")]
    table = {line["id"]: line for line in report(row(""), [*speakers, *silent], SttRules(), percent=True)}
    assert table["Mean"]["err"] == 50.0
    assert table["S.D."]["err"] == 50.0
    assert table["Median"]["err"] == 50.0
    assert table["Mean"]["n_ref"] == 60.0
    assert math.isnan(table["t"]["err"])


def test_means_over_speakers_are_the_same_bits_in_any_order() -> None:
    speakers = [row(f"s{at}", n_segments=1, correct=right, deleted=3) for at, right in enumerate((1, 4, 8, 11))]
    tables = [report(row(""), list(order), SttRules(), percent=True)[-3:] for order in permutations(speakers)]
    assert tables == tables[:1] * len(tables)


def test_a_stretch_ends_with_the_second_token_that_both_have_right() -> None:
    # One error of the first system; the stretch is C C S C C: 5 tokens.
    assert mapsswe([C, C, C, S, C, C, C], [C] * 7) == Mapsswe(1, 1, 1, 1, 0, 5)


def test_errors_one_token_apart_share_a_stretch_and_two_apart_do_not() -> None:
    near, far = [C, S, C, D, C, C], [C, S, C, C, D, C, C]
    assert mapsswe(near, [C] * 6).n == 1
    assert mapsswe(far, [C] * 7).n == 2


def test_insertions_open_a_stretch_and_belong_to_one_only() -> None:
    first = [C, C, I, C, C, I, C, C]
    found = mapsswe(first, [C] * 6)
    assert (found.n, found.sum_errors_1, found.sum_errors_2) == (2, 2, 0)
    assert mapsswe([I, C, C], [C, C]) == Mapsswe(1, 1, 1, 1, 0, 2)
    assert mapsswe([C, I], [C]) == Mapsswe(1, 1, 1, 1, 0, 1)


def test_stretches_need_one_reference() -> None:
    with pytest.raises(ValueError, match="reference tokens"):
        mapsswe([C, C], [C])


def test_mapsswe_says_why_it_is_undefined() -> None:
    assert Mapsswe().figure.reason == "no_differences"
    assert Mapsswe(2, 2, 2, 2, 0, 4).figure.reason == "constant"


def test_exact_binomials() -> None:
    assert mcnemar(0, 5).value == pytest.approx(2 / 2**5)
    assert mcnemar(30, 29).value == pytest.approx(1.0)
    assert mcnemar(0, 0).reason == "no_differences"
    figure = sign_test(np.array([0.1, 0.2, 0.3, 0.4]), np.array([0.2, 0.3, 0.3, 0.1]))
    assert (figure.detail["n_better_1"], figure.detail["n_better_2"]) == (2, 1)
    assert figure.value == 1.0


def test_wilcoxon_by_hand() -> None:
    # Five speakers, all better in one system: p = 2 / 2**5.
    worse = np.array([0.5, 0.6, 0.7, 0.8, 0.9])
    assert wilcoxon(worse - np.arange(1, 6) / 100, worse).value == pytest.approx(2 / 2**5)
    assert wilcoxon(worse, worse).reason == "no_differences"
    assert wilcoxon(worse[:1], worse[:1] + 1).reason == "too_few"


def test_bootstrap_sees_the_same_replicates_for_all_systems() -> None:
    counts = {f"s{at}": [(at + 1, 10), (at + 1, 10), (at, 10)] for at in range(8)}
    sums = Bootstrap.of(counts, n_systems=3, n_replicates=200, seed=1)
    assert np.array_equal(sums.errors[0], sums.errors[1])
    low, high = sums.interval(0)
    assert low < 4.5 / 10 < high
    better = sums.difference(0, 2)
    assert better.value == 1.0
    assert better.detail["low"] == pytest.approx(0.1)


def test_holm_adjusts_in_the_order_given() -> None:
    assert holm([0.04, math.nan, 0.01, 0.03])[::2] == pytest.approx([0.06, 0.03])
    assert holm([0.04, math.nan, 0.01, 0.03])[3] == pytest.approx(0.06)
    assert math.isnan(holm([0.04, math.nan])[1])
