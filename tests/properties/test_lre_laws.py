"""Laws of language recognition figures over small random tests (Albayzin 2012 LRE plan, section 4 and appendix A)."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pipeline.formats.lre.names import LANGUAGES, columns_of
from pipeline.metrics.entropy.class_costs import log_cost, log_prior, prior_entropy
from pipeline.metrics.measure import Scored
from pipeline.metrics.multiclass.decisions import c_eta, decisions
from pipeline.metrics.multiclass.lre import figures
from pipeline.metrics.multiclass.totals import LreTotals, totals_of
from pipeline.partials.merge import merge_tree
from pipeline.partials.score_rows import ScoreRows
from pipeline.protocols import find
from pipeline.protocols.base import Conclusion
from pipeline.terms import Facts, Figure, OperatingPoint
from tests.partial_bits import bits_of, sent
from tests.properties.extreme_scores import SCORES
from tests.properties.few_rows import few_rows_at_once

COLUMNS = columns_of("Empty")
LABELS = (*COLUMNS, "Spanish", "-")
FACTS = Facts(t_audio_s=math.nan, n_trials=0.0, n_trials_exact=0.0)
PROTOCOL = find("albayzin-lre12")

Segments = tuple[np.ndarray, np.ndarray]
"""Labels as codes into LABELS, and scores (n, 5)."""


EIGHTHS = st.integers(-40, 40).map(lambda eighths: eighths / 8)


@st.composite
def scored_segments(draw: Any, score: st.SearchStrategy[float] = EIGHTHS) -> Segments:
    """Every class has a segment; scores are eighths unless given, so that ties and exact shifts are common."""
    label = [*range(len(COLUMNS)), *draw(st.lists(st.integers(0, len(LABELS) - 1), max_size=14))]
    rows = draw(st.lists(st.lists(score, min_size=5, max_size=5), min_size=len(label), max_size=len(label)))
    return np.array(label, np.int32), np.array(rows)


def rows_of(test: Segments) -> ScoreRows:
    return ScoreRows.of(COLUMNS, LABELS, *test)


def conclude(test: Segments | ScoreRows, chosen_set: str = "Open", **settings: Any) -> Conclusion:
    protocol = replace(PROTOCOL, settings=replace(PROTOCOL.settings, **settings))
    rows = test if isinstance(test, ScoreRows) else rows_of(test)
    return protocol.family.conclude(protocol, rows, FACTS, {"task": "Empty", "set": chosen_set})


def bits(conclusion: Conclusion) -> dict[str, list[str]]:
    """Every figure with its companions, of the whole and of all conditions, to the last bit."""

    def text(figure: Figure) -> str:
        detail = [f"{name} {value.hex()}" for name, value in figure.detail.items()]
        return " ".join([figure.value.hex(), str(figure.status), str(figure.reason), *detail])

    parts = {"all": conclusion, **conclusion.conditions}
    return {name: [text(figure) for figure in part.figures.values()] for name, part in parts.items()}


def problem(rows: np.ndarray, truth: np.ndarray, **others: Any) -> Scored[LreTotals]:
    """Score rows (n, K) with their true classes, as measures take them."""
    names = tuple(f"class {at}" for at in range(rows.shape[1]))
    n_segments = np.bincount(truth, minlength=rows.shape[1]).astype(np.int64)
    return Scored(LreTotals(names, rows, truth, None, n_segments, **others), FACTS, OperatingPoint())


@given(scored_segments(), st.sampled_from([0.5, -3.25, 9000.0, -9000.0]))
def test_constants_of_segments_cancel(test: Segments, size: float) -> None:
    label, scores = test
    shift = size * (np.arange(label.size) % 3)[:, None]
    assert bits(conclude((label, scores + shift))) == bits(conclude(test))


@given(scored_segments(), st.integers(1, 5), st.randoms(use_true_random=False))
def test_any_order_and_partition_give_the_same_bits(test: Segments, n: int, random: Any) -> None:
    label, scores = test
    order = np.array(random.sample(range(label.size), label.size))
    parts = [rows_of((label[share], scores[share])) for share in np.array_split(order, n)]
    kept = [sent(part) for part in parts]
    assert merge_tree(kept, ScoreRows()) == rows_of(test)
    assert bits_of(merge_tree(kept[::-1], ScoreRows())) == bits_of(rows_of(test))
    assert bits(conclude(merge_tree(kept, ScoreRows()))) == bits(conclude(test))


@settings(max_examples=20)  # eleven calibrations each
@given(scored_segments() | scored_segments(SCORES), st.sampled_from([1, 7, 50]), st.sampled_from(["Open", "Closed"]))
def test_figures_do_not_know_of_blocks(test: Segments, at_once: int, chosen_set: str) -> None:
    whole = conclude(test, chosen_set, also_closed=True)
    with few_rows_at_once(at_once):
        found = conclude(test, chosen_set, also_closed=True)
    assert bits(found) == bits(whole)
    assert repr((found.facts, found.findings, found.blocks)) == repr((whole.facts, whole.findings, whole.blocks))


@given(scored_segments())
def test_the_minimum_is_below_cost_and_prior_entropy(test: Segments) -> None:
    for part in [(whole := conclude(test)), *whole.conditions.values()]:
        c_mce, c_def, c_min = (part.figures[name].value for name in ("c_mce", "c_def", "c_min"))
        assert 0.0 <= c_min <= min(c_mce, c_def)
        assert part.figures["f_dis"].value <= 1.0
        f_act, f_dis, f_cal = (part.figures[name].value for name in ("f_act", "f_dis", "f_cal"))
        if f_dis > 0.0:
            assert f_act == pytest.approx((1.0 + f_cal) * f_dis, rel=1e-12)


@given(
    scored_segments(), st.sampled_from([0.5, 4.0, -1.0, -0.25]), st.lists(st.integers(-4, 4), min_size=5, max_size=5)
)
def test_an_affine_map_leaves_the_minimum(test: Segments, alpha: float, beta: list[int]) -> None:
    label, scores = test
    before = conclude(test).figures["c_min"]
    after = conclude((label, alpha * scores + np.array(beta))).figures["c_min"]
    assert after.status == before.status
    assert after.value == pytest.approx(before.value, rel=1e-9, abs=1e-11)


@given(scored_segments(), st.lists(st.floats(-1e6, 1e6), min_size=20, max_size=20))
def test_closed_figures_ignore_the_last_column_and_its_segments(test: Segments, last: list[float]) -> None:
    label, scores = test
    moved = scores.copy()
    moved[:, -1] = last[: label.size]
    assert bits(conclude((label, moved), "Closed")) == bits(conclude(test, "Closed"))
    kept = label != COLUMNS.index("OOS")
    assert bits(conclude((label[kept], moved[kept]), "Closed")) == bits(conclude(test, "Closed"))
    closed = conclude(test, also_closed=True).conditions["closed"]
    assert closed.figures == conclude(test, "Closed").figures


@given(scored_segments())
def test_a_pair_is_a_problem_of_two_classes(test: Segments) -> None:
    label, scores = test
    pair = np.isin(label, (1, 3))
    alone = problem(np.ascontiguousarray(scores[pair][:, [1, 3]]), (label[pair] == 3).astype(np.int64))
    found = conclude(test).conditions["German|Italian"]
    assert {name: found.figures[name] for name in figures(alone)} == pytest.approx(dict(figures(alone)), nan_ok=True)


@given(scored_segments(), st.permutations(range(5)))
def test_exchanged_classes_exchange_offsets(test: Segments, order: list[int]) -> None:
    rows = rows_of(test)
    names = tuple(COLUMNS[at] for at in order)
    before, after = (
        figures(Scored(totals_of(rows, classes), FACTS, OperatingPoint()))["c_min"] for classes in (COLUMNS, names)
    )
    assert (after.status, after.value) == (before.status, pytest.approx(before.value, rel=1e-10, abs=1e-12))
    if before.status == "overlap":
        offsets = [before.detail[f"offset_{at + 1}"] for at in order]
        assert [after.detail[f"offset_{at + 1}"] for at in range(5)] == pytest.approx(offsets, rel=1e-6, abs=1e-6)


@given(scored_segments())
def test_other_languages_as_out_of_set_are_segments_relabelled(test: Segments) -> None:
    label, scores = test
    relabelled = np.where(label == LABELS.index("Spanish"), COLUMNS.index("OOS"), label).astype(np.int32)
    assert bits(conclude(test, other_task_languages="oos")) == bits(conclude((relabelled, scores)))


def distributions(k: int) -> st.SearchStrategy[np.ndarray]:
    parts = st.lists(st.integers(1, 50), min_size=k, max_size=k)
    return parts.map(lambda shares: np.array(shares) / sum(shares))


@given(distributions(4), distributions(4))
def test_the_expected_log_cost_is_entropy_and_divergence(p: np.ndarray, q: np.ndarray) -> None:
    """Plan eq 16: what one expects to pay for submitting q where p is the truth is H(p) + KL(p || q)."""
    costs = log_cost(np.tile(np.log(q), (4, 1)), np.arange(4), (0.25,) * 4)
    divergence = math.fsum(p * (log_prior(p) - log_prior(q)))
    assert math.fsum(p * costs) == pytest.approx(prior_entropy(p) + divergence, rel=1e-12)
    assert divergence >= -1e-12


def induced_costs(q: np.ndarray, eta: np.ndarray) -> np.ndarray:
    """C*_eta(q | class) for each class (plan eq 17-19)."""
    k = q.size
    counts = decisions(problem(np.tile(np.log(q), (k, 1)), np.arange(k)).total, np.log(eta.max() / eta))
    return (1 - counts.diagonal()) / eta / (k - 1)


@given(distributions(4), distributions(4), distributions(4))
def test_the_induced_cost_is_a_proper_scoring_rule(p: np.ndarray, q: np.ndarray, eta: np.ndarray) -> None:
    """Plan eq 20: one never expects to pay less for submitting q than for submitting the truth p."""
    honest, other = math.fsum(p * induced_costs(p, eta)), math.fsum(p * induced_costs(q, eta))
    assert honest <= other * (1 + 1e-12)


@given(distributions(4), distributions(4))
def test_the_measure_is_the_induced_cost_averaged_over_classes(q: np.ndarray, eta: np.ndarray) -> None:
    one = problem(np.tile(np.log(q), (4, 1)), np.arange(4))
    weights = dict(zip(one.total.classes, eta.tolist(), strict=True))
    measured = c_eta(problem(np.tile(np.log(q), (4, 1)), np.arange(4), eta=weights)).value
    assert measured == pytest.approx(induced_costs(q, eta).mean(), rel=1e-12, abs=1e-15)


def test_over_all_weights_the_induced_cost_averages_to_the_logarithmic_one() -> None:
    """Plan eq 21, by simulation: weights uniform over the simplex."""
    q = np.array([0.6, 0.3, 0.1])
    draws = np.random.default_rng(21).dirichlet(np.ones(3), 40_000)
    decided = (np.log(q) - np.log(draws)).argmax(axis=1)
    for at in (0, 7, 100):  # the same decisions as the measure makes
        assert (induced_costs(q, draws[at]) > 0).tolist() == [decided[at] != i for i in range(3)]
    costs = np.where(decided[:, None] == np.arange(3), 0.0, 1.0 / draws) / 2.0
    assert costs.mean(axis=0) == pytest.approx(-np.log(q), rel=0.05)


def test_both_tasks_have_pairs_of_target_languages_only() -> None:
    assert [len(names) * (len(names) - 1) // 2 for names in LANGUAGES.values()] == [15, 6]
    label, scores = np.arange(5, dtype=np.int32), np.eye(5)
    pairs = [row["id"] for row in conclude((label, scores)).tables["pairs"]]
    assert len(pairs) == 6
    assert not any("OOS" in pair for pair in pairs)
