"""Laws of the figures of a ledger, over small random cells with many ties."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from pipeline.metrics import load
from pipeline.metrics.entropy import calibration, cxe
from pipeline.metrics.kws import ranking, twv
from pipeline.metrics.measure import Rules, Scored
from pipeline.partials.ledger import Ledger
from pipeline.partials.merge import merge_tree
from pipeline.terms import Facts, Figure, OperatingPoint

MEASURES = (*twv.MEASURES, *ranking.MEASURES, *cxe.MEASURES, *calibration.MEASURES, *load.MEASURES)
BY_NAME = {measure.name: measure for measure in MEASURES}
NAMES = ("a", "b", "c", "d")
ROUNDING = 1e-12


@dataclass(frozen=True)
class Trial:
    query: int
    score: float
    target: bool
    decision: bool


def ledger_of(trials, omitted=()):
    return Ledger.of(
        NAMES,
        np.array([trial.query for trial in trials], np.int64),
        np.array([trial.score for trial in trials], np.float64),
        np.array([trial.decision for trial in trials], np.bool_),
        np.array([trial.target for trial in trials], np.bool_),
        np.array(list(omitted), np.int64),
    )


def cell(total, n_trials, point, **rules):
    facts = Facts(n_trials, float(round(n_trials)), n_trials, queries=NAMES)
    return Scored(total.select(NAMES), facts, point, Rules(**rules))


def value(name, scored):
    return BY_NAME[name].of(scored).value


def bits(scored):
    """Every figure to the last bit, with the blocks and the curve."""
    figures = {measure.name: figure_bits(measure.of(scored)) for measure in MEASURES}
    curve = {name: list(column) for name, column in twv.curve_columns(scored).items()}
    return figures, repr(twv.blocks(scored)), repr(curve)


def figure_bits(figure: Figure):
    detail = {name: float(number).hex() for name, number in figure.detail.items()}
    return float(figure.value).hex(), figure.reason, figure.status, detail


GRID = st.integers(-6, 6).map(float)
SCORES = st.one_of(GRID, st.floats(-20, 20, width=32), st.sampled_from([math.inf, -math.inf]))
POINTS = st.sampled_from(
    [
        OperatingPoint(p_target=0.5),
        OperatingPoint(100.0, 1.0, 1.5e-4),
        OperatingPoint(10.0, 1.0, 1e-4),
        OperatingPoint(1.0, 1.0, 0.9),
        OperatingPoint(p_target_effective=0.0741289),
    ]
)


def trials_with(scores):
    return st.lists(st.builds(Trial, st.integers(0, 3), scores, st.booleans(), st.booleans()), max_size=30)


OMITTED = st.lists(st.integers(0, 3), max_size=5)
N_TRIALS = st.one_of(st.integers(40, 100).map(float), st.floats(40, 100))


@given(trials_with(SCORES), OMITTED, N_TRIALS, POINTS, st.booleans(), st.booleans(), st.randoms(use_true_random=False))
def test_figures_do_not_depend_on_the_partition(trials, omitted, n_trials, point, reject, include, random):
    rules = {"reject_all_point": reject, "include_no_targets": include}
    whole = cell(ledger_of(trials, omitted), n_trials, point, **rules)
    pieces = [([], []) for _ in range(random.randint(1, 6))]
    for trial in random.sample(trials, len(trials)):
        random.choice(pieces)[0].append(trial)
    for query in omitted:
        random.choice(pieces)[1].append(query)
    merged = merge_tree([ledger_of(*piece) for piece in pieces], Ledger.zero())
    assert bits(cell(merged, n_trials, point, **rules)) == bits(whole)


@given(trials_with(SCORES), OMITTED, N_TRIALS, POINTS, st.sampled_from(["llr_min", "query", -7.5]))
def test_a_value_is_undefined_exactly_where_a_reason_says_why(trials, omitted, n_trials, point, censor):
    scored = cell(ledger_of(trials, omitted), n_trials, point, censor=censor)
    for measure in MEASURES:
        figure = measure.of(scored)
        assert math.isnan(figure.value) == (figure.reason is not None), measure.name


@given(trials_with(SCORES), OMITTED, N_TRIALS, POINTS, st.sampled_from(["llr_min", "query", -7.5]))
def test_minima_are_ordered(trials, omitted, n_trials, point, censor):
    scored = cell(ledger_of(trials, omitted), n_trials, point, censor=censor)
    actual = value("cnxe", scored)
    assume(not math.isnan(actual))
    pav, affine = value("min_cnxe_pav", scored), value("min_cnxe_affine", scored)
    assert 0 <= pav <= affine + ROUNDING
    assert affine <= min(1, actual)
    assert value("calibration_loss", scored) >= 0


@given(trials_with(GRID), OMITTED, POINTS, st.integers(-3, 3), st.integers(-50, 50))
def test_affine_minimum_does_not_see_scale_and_shift(trials, omitted, point, exponent, shift):
    def moved(trial):
        return Trial(trial.query, trial.score * 2.0**exponent + shift, trial.target, trial.decision)

    before = BY_NAME["min_cnxe_affine"].of(cell(ledger_of(trials, omitted), 50.0, point))
    after = BY_NAME["min_cnxe_affine"].of(cell(ledger_of(list(map(moved, trials)), omitted), 50.0, point))
    assert (after.reason, after.status) == (before.reason, before.status)
    if before.reason is None:
        assert after.value == pytest.approx(before.value, abs=1e-11)
    if before.status == "ok":
        assert after.detail["gamma"] * 2.0**exponent == pytest.approx(before.detail["gamma"], rel=1e-6)


@given(trials_with(GRID), OMITTED, POINTS, st.lists(st.floats(-100, 100), min_size=13, max_size=13, unique=True))
def test_maximum_value_and_isotonic_minimum_see_only_the_order(trials, omitted, point, levels):
    levels = sorted(levels)

    def moved(trial):
        return Trial(trial.query, levels[int(trial.score) + 6], trial.target, trial.decision)

    before = cell(ledger_of(trials, omitted), 50.0, point)
    after = cell(ledger_of(list(map(moved, trials)), omitted), 50.0, point)
    for name in ("mtwv", "mtwv_all", "twv_optimum", "map"):
        assert figure_bits(BY_NAME[name].of(after))[:3] == figure_bits(BY_NAME[name].of(before))[:3]
    threshold = BY_NAME["mtwv_threshold"].of(before)
    moved_threshold = BY_NAME["mtwv_threshold"].of(after)
    assert moved_threshold.reason == threshold.reason
    if threshold.reason is None:
        assert moved_threshold.value == levels[int(threshold.value) + 6]
    assert value("min_cnxe_pav", after) == pytest.approx(value("min_cnxe_pav", before), abs=ROUNDING, nan_ok=True)


@given(trials_with(st.floats(-20, 20)), OMITTED, st.integers(40, 100))
def test_even_prior_gives_the_log_likelihood_ratio_cost(trials, omitted, n_trials):
    scored = cell(ledger_of(trials, omitted), float(n_trials), OperatingPoint(p_target=0.5))
    n_true = scored.total.n_true[0]
    kept = [trial for trial in trials if n_true[trial.query]]
    assume(kept)
    lowest = min(trial.score for trial in kept)
    target = [trial.score for trial in kept if trial.target] + [lowest] * len(omitted)
    nontarget = [trial.score for trial in kept if not trial.target]
    nontarget += [lowest] * int(n_trials * (n_true > 0).sum() - n_true.sum() - len(nontarget))
    cllr = (np.mean(np.log2(1 + np.exp(-np.array(target)))) + np.mean(np.log2(1 + np.exp(nontarget)))) / 2
    assert value("cnxe", scored) == pytest.approx(cllr, rel=1e-12)


@given(trials_with(GRID), OMITTED, N_TRIALS, POINTS, st.integers(-7, 7))
def test_decisions_by_one_threshold_are_bounded_by_maximum_optimum_and_supremum(trials, omitted, n_trials, point, cut):
    decided = [Trial(trial.query, trial.score, trial.target, trial.score >= cut) for trial in trials]
    scored = cell(ledger_of(decided, omitted), n_trials, point)
    assume(BY_NAME["atwv"].of(scored).reason is None)
    assert twv.decisions(scored).consistent
    assert value("mtwv", scored) >= 0
    assert value("atwv", scored) <= value("mtwv", scored)
    assert value("mtwv", scored) <= value("twv_optimum", scored) + ROUNDING
    assert value("twv_optimum", scored) <= value("twv_supremum", scored) + ROUNDING


@given(trials_with(GRID), OMITTED, N_TRIALS, POINTS)
def test_curve_is_a_staircase_whose_points_are_decisions(trials, omitted, n_trials, point):
    scored = cell(ledger_of(trials, omitted), n_trials, point)
    curve = twv.curve_columns(scored)
    assume(len(curve["twv"]))
    assert np.all(np.diff(curve["p_miss"]) >= 0)
    assert np.all(np.diff(curve["p_fa"]) <= 0)
    for row, threshold in enumerate(curve["threshold"]):
        decided = [Trial(t.query, t.score, t.target, t.score >= threshold) for t in trials]
        found = BY_NAME["atwv"].of(cell(ledger_of(decided, omitted), n_trials, point))
        assert found.value == curve["twv"][row]
        assert (found.detail["p_miss"], found.detail["p_fa"]) == (curve["p_miss"][row], curve["p_fa"][row])


@given(st.lists(st.tuples(st.integers(0, 3), st.floats(0, 20)), min_size=1, max_size=20), N_TRIALS, POINTS)
def test_a_perfect_system_has_value_one(hits, n_trials, point):
    perfect = [Trial(query, score, True, True) for query, score in hits]
    scored = cell(ledger_of(perfect), n_trials, point)
    for name in ("atwv", "atwv_all", "mtwv", "twv_optimum", "twv_supremum", "map"):
        assert value(name, scored) == 1
    assert value("c_norm", scored) == 0


@given(st.lists(st.integers(0, 3), min_size=1, max_size=20), N_TRIALS, POINTS, st.booleans())
def test_a_silent_system_has_value_zero_and_no_information(omitted, n_trials, point, reject):
    scored = cell(ledger_of([], omitted), n_trials, point, reject_all_point=reject)
    for name in ("atwv", "atwv_all", "mtwv", "mtwv_all", "twv_bayes", "twv_optimum", "twv_supremum", "map"):
        assert value(name, scored) == 0
    for name in ("cnxe", "min_cnxe_affine", "min_cnxe_pav"):
        assert (value(name, scored), BY_NAME[name].of(scored).status) == (1, "no_scores")
