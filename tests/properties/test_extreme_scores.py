"""Scores as large and as small as doubles are: no fault and no warning, whatever the protocol, and exact figures."""

from __future__ import annotations

import math
from collections.abc import Sequence
from decimal import Context, Decimal, localcontext
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pipeline.engine.result import Result
from pipeline.metrics.entropy.class_costs import LogCostSums
from pipeline.metrics.entropy.crossentropy import cost_sums, cross_entropy
from pipeline.metrics.entropy.trial_set import TrialSet
from pipeline.metrics.stt.nce import P_MIN
from pipeline.protocols import names
from tests.plain_entropies import confidence_nce
from tests.properties.extreme_scores import (
    CLASSES,
    DOCUMENTS,
    INFINITE,
    LARGEST,
    QUERIES,
    SCORES,
    Events,
    Found,
    by_document,
    check,
    detections,
    documents,
    events,
    languages,
    multimedia,
    occurrences,
    score,
    spoken,
    transcribed,
)

KWS = ("openkws13", "openkws13-segments", "std2006", "sws2011", "sws2012", "sws2013")
MED = tuple(name for name in names() if name.startswith("med"))
MODES = ("official", "plan")
HOW: tuple[dict[str, str], ...] = (
    {},
    {"censor": "query"},
    {"censor": "1e308"},
    {"censor": "-1e308"},
    {"score_range": "list", "score_range_floor": "0"},
    {"score_range": "keyword"},
)
ANY = SCORES | INFINITE
THRESHOLDS = {"mtwv_threshold", "max_stwv_threshold", "min_ndc_threshold"}
OF_VALUES = {"twv_bayes", "cxe", "cxe_submitted", "cnxe", "min_cnxe_affine", "calibration_loss"}
"""Measures of the scores themselves; all others follow from their order."""


def test_every_protocol_with_scores_is_tried() -> None:
    assert {*KWS, *MED, "quesst", "detection", "albayzin-lre12", "stt13", "stt-trn"} == set(names())


def ranked(values: Sequence[float]) -> dict[float, float]:
    """Ordinary scores in the order of others."""
    return {value: float(rank) for rank, value in enumerate(sorted(set(values)))}


def assert_alike(one: Result, other: Result, but: set[str]) -> None:
    """All figures but some, up to rounding: minima are never above what the scores themselves cost."""
    assert [figure.reason for figure in one.figures.values()] == [figure.reason for figure in other.figures.values()]
    for name in one.figures.keys() - but:
        assert one.figures[name].value == pytest.approx(other.figures[name].value, rel=1e-12, nan_ok=True), name


@pytest.mark.parametrize("name", KWS)
@given(key=occurrences(), found=detections(ANY, apart=False), mode=st.sampled_from(MODES), how=st.sampled_from(HOW))
def test_detections(name: str, key: Any, found: list[Found], mode: str, how: dict[str, str]) -> None:
    check(score(name, spoken(key, found), mode, **how))


@pytest.mark.parametrize("name", KWS)
@given(mode=st.sampled_from(MODES), key=occurrences(), found=detections(ANY, apart=True))
def test_what_follows_from_the_order_of_detections(name: str, mode: str, key: Any, found: list[Found]) -> None:
    usual = ranked([row[4] for row in found])
    other = [(*row[:4], usual[row[4]], row[5]) for row in found]
    how = {"map_order": "number", "tolerance_s": "1"}  # KWSEval ranks texts, and SWS 2011 lets neighbours compete
    one, two = (score(name, spoken(key, rows), mode, **how) for rows in (found, other))
    assert_alike(one, two, OF_VALUES | THRESHOLDS)
    for threshold in THRESHOLDS & one.figures.keys():
        seen, expected = one.figures[threshold].value, two.figures[threshold].value
        assert usual.get(seen, math.nan) == pytest.approx(expected, nan_ok=True)


PAIRS = st.lists(st.tuples(st.sampled_from(QUERIES), st.sampled_from(DOCUMENTS)), min_size=1, max_size=8, unique=True)


@given(PAIRS, documents(ANY), st.sampled_from(["-1e308", "1e308", "0", "5e-324", "llr_min", "query"]))
def test_documents(targets: Any, found: Any, censor: str) -> None:
    check(score("quesst", by_document(targets, found), censor=censor))


@given(PAIRS, documents(ANY), st.sampled_from(["query,document", "session,trial"]))
def test_labelled_scores(targets: Any, found: Any, columns: str) -> None:
    rows = "".join(f"{q},{q}-{d},{int((q, d) in targets)},{value!r}\n" for (q, d), value in found.items())
    check(score("detection", {"output": f"{columns},label,score\n{rows}"}))


@given(PAIRS, documents(ANY))
def test_what_follows_from_the_order_of_documents(targets: Any, found: Any) -> None:
    usual = ranked([*found.values()])
    other = {pair: usual[value] for pair, value in found.items()}
    one, two = (score("quesst", by_document(targets, pairs), censor="llr_min") for pairs in (found, other))
    assert_alike(one, two, OF_VALUES | THRESHOLDS)


@pytest.mark.parametrize("name", MED)
@given(made=events(SCORES), threshold=SCORES, empty_point=st.booleans())
def test_events(name: str, made: Events, threshold: float, empty_point: bool) -> None:
    usual = ranked([threshold, *(value for rows in made.values() for value, _ in rows)])
    other = {event: [(usual[value], target) for value, target in rows] for event, rows in made.items()}
    how = {"columns": "none", "score_range": "any", "empty_point": str(empty_point).lower()}
    one = score(name, multimedia(made, (threshold, 3.0)), **how)
    two = score(name, multimedia(other, (usual[threshold], 3.0)), **how)
    check(one)
    assert_alike(one, two, THRESHOLDS)


ROW = st.lists(SCORES, min_size=len(CLASSES), max_size=len(CLASSES))


@given(st.lists(st.tuples(st.sampled_from(CLASSES), ROW), max_size=6), st.data())
def test_languages(more: list[tuple[str, list[float]]], data: st.DataObject) -> None:
    rows = [*((name, data.draw(ROW)) for name in CLASSES), *more]
    labels, scores = [name for name, _ in rows], [row for _, row in rows]
    usual = ranked([value for row in scores for value in row])
    one = score("albayzin-lre12", languages(labels, scores))
    two = score("albayzin-lre12", languages(labels, [[usual[value] for value in row] for row in scores]))
    check(one)
    assert one.figures["c_mce"].reason is one.figures["c_min"].reason is None
    assert one.figures["c_eta"] == two.figures["c_eta"]


@pytest.mark.parametrize("mode", MODES)
@given(words=st.lists(st.tuples(st.sampled_from("ab"), st.sampled_from("ab"), SCORES), min_size=1, max_size=8))
def test_confidences(mode: str, words: list[tuple[str, str, float]]) -> None:
    inside = [(said, found, min(max(value, 0.0), 1.0)) for said, found, value in words]
    one, two = (score("stt13", transcribed(rows), mode) for rows in (words, inside))
    check(one)
    assert one.figures == two.figures


PRECISE = Context(prec=60, Emin=-(10**9), Emax=10**9)


def cost_of(log_odds: Decimal) -> Decimal:
    """log(1 + exp(log odds)) with 60 digits."""
    if log_odds > 1000:
        return log_odds
    if log_odds < -100:
        return log_odds.exp()
    return (1 + log_odds.exp()).ln()


def exactly(value: Decimal) -> float:
    """A non-negative number as the double next to it, infinite beyond."""
    return float(value) if value < Decimal(LARGEST) else math.inf


ROWS = st.dictionaries(SCORES, st.tuples(st.integers(0, 3), st.integers(0, 3)), min_size=1, max_size=10)
CENSORED = st.tuples(SCORES, st.integers(0, 3), st.sampled_from([0.0, 0.5, 17.25, 1e6]))


@given(ROWS, CENSORED, st.sampled_from([0.5, 0.001, 0.97]))
def test_the_cross_entropy_is_what_sixty_digits_give(rows: Any, censored: Any, prior: float) -> None:
    scores = sorted(rows)
    n_target, n_nontarget = (np.array([rows[value][side] for value in scores], np.int64) for side in (0, 1))
    low, omitted, missing = censored
    unseen = (np.array([value]) for value in censored)
    trials = TrialSet(np.array(scores), n_target, n_nontarget, *unseen)
    if not trials.target_mass or not trials.nontarget_mass:
        return
    logit = math.log(prior / (1.0 - prior))
    with localcontext(PRECISE):
        means = []
        for sign, counts, more in ((-1, n_target, omitted), (1, n_nontarget, missing)):
            weighted = [*zip(scores, counts.tolist(), strict=True), (low, more)]
            costs = [cost_of(sign * (Decimal(value) + Decimal(logit))) * Decimal(n) for value, n in weighted]
            means.append(sum(costs) / sum(Decimal(n) for _, n in weighted))
        expected = exactly(Decimal(prior) * means[0] + Decimal(1.0 - prior) * means[1])
    found = cross_entropy(trials, prior, logit)
    assert found == pytest.approx(expected, rel=1e-12)
    halves = [trials_at(trials, slice(None, 3)), trials_at(trials, slice(3, None))]
    parts = cost_sums(halves[0], logit) + cost_sums(halves[1], logit)
    assert cross_entropy(trials, prior, logit, parts).hex() == found.hex()


def trials_at(trials: TrialSet, rows: slice) -> TrialSet:
    """Some of the submitted trials."""
    columns = trials.score[rows], trials.n_target[rows], trials.n_nontarget[rows]
    return TrialSet(*columns, trials.censored_score, trials.censored_target, trials.censored_nontarget)


LLH = st.lists(SCORES, min_size=3, max_size=3)
TIMES = st.sampled_from([1.0, 1.0, 2.0, 2.5, 1e6])


@given(st.lists(st.tuples(st.integers(0, 2), LLH, TIMES), max_size=9), st.data())
def test_the_multiclass_cost_is_what_sixty_digits_give(more: Any, data: st.DataObject) -> None:
    rows = [*((label, data.draw(LLH), data.draw(TIMES)) for label in range(3)), *more]
    prior = (0.5, 0.3, 0.2)
    with localcontext(PRECISE):
        sums, masses = [Decimal(0)] * 3, [Decimal(0)] * 3
        for label, llh, times in rows:
            odds = [Decimal(x) - Decimal(llh[label]) for x in llh]
            largest = max(odds)
            terms = [Decimal(p) / Decimal(prior[label]) * exp_of(o - largest) for p, o in zip(prior, odds, strict=True)]
            sums[label] += (largest + sum(terms, Decimal(0)).ln()) * Decimal(times)
            masses[label] += Decimal(times)
        means = [total / mass for total, mass in zip(sums, masses, strict=True)]
        expected = exactly(sum((Decimal(p) * mean for p, mean in zip(prior, means, strict=True)), Decimal(0)))
    labels, scores, repeats = (np.array([row[at] for row in rows]) for at in range(3))
    first = LogCostSums.from_trials(scores, labels, prior, repeats)
    assert first.cross_entropy(prior) == pytest.approx(expected, rel=1e-12)
    halves = [
        LogCostSums.from_trials(scores[part], labels[part], prior, repeats[part])
        for part in (slice(0, 4), slice(4, None))
    ]
    assert (halves[1] + halves[0]).cross_entropy(prior).hex() == first.cross_entropy(prior).hex()


@pytest.mark.parametrize("n_classes", range(2, 12))
def test_every_class_at_the_largest_cost(n_classes: int) -> None:
    llh, prior = np.full((n_classes, n_classes), LARGEST), (1.0 / n_classes,) * n_classes
    np.fill_diagonal(llh, 0.0)
    first = LogCostSums.from_trials(llh, np.arange(n_classes), prior)
    assert first.cross_entropy(prior) == pytest.approx(LARGEST, rel=1e-15)
    llh -= LARGEST / 2.0
    apart = LogCostSums.from_trials(2.0 * llh, np.arange(n_classes), prior)  # costs of twice the largest
    assert apart.cross_entropy(prior) == math.inf


def exp_of(exponent: Decimal) -> Decimal:
    """e to a number of 0 or less; 0 where nobody sees the difference."""
    return exponent.exp() if exponent > -1000 else Decimal(0)


@given(st.lists(st.tuples(st.floats(0, 1) | st.sampled_from([1e-7, 5e-324, 1.0]), st.booleans()), min_size=2))
def test_the_entropy_of_confidences_is_what_sixty_digits_give(words: list[tuple[float, bool]]) -> None:
    confidence, correct = np.array([p for p, _ in words]), np.array([right for _, right in words])
    found = confidence_nce(confidence, correct)
    n = int(correct.sum())
    if n in (0, correct.size):
        assert found.reason
        return
    with localcontext(PRECISE):
        share, floor = Decimal(n) / len(words), Decimal(P_MIN)
        h_max = -(n * share.ln() + (len(words) - n) * (1 - share).ln())
        kept = [(min(max(Decimal(p), floor), 1 - floor), right) for p, right in words]
        gained = sum((p if right else 1 - p).ln() for p, right in kept)
        expected = float((h_max + gained) / h_max)
    assert found.value == pytest.approx(expected, rel=1e-12, abs=1e-12)
