"""Components of thousands of rows: exact, and bounded in memory whatever a submission piles up."""

from __future__ import annotations

import tracemalloc

import numpy as np
import pytest
from scipy.optimize import linear_sum_assignment

from pipeline.align import occurrences as crowds
from pipeline.align.mapping.candidates import Candidates, find_candidates
from pipeline.align.mapping.congruence import WEIGHT_STEP
from pipeline.align.mapping.pairs import largest_mapping, list_pairs
from pipeline.align.occurrences import align_occurrences
from pipeline.errors import InputError
from pipeline.trials.schema import Occurrences, Trials
from tests.unit.align.align_tiles import detection, occurrences, reference, trials

HEADER = (0.0, 1.0)
MEGABYTE = 1 << 20


def scene(n_detections: int, n_references: int, span_s: float, decimals: int) -> tuple[Trials, Occurrences]:
    """One query in one file: begins anywhere within ``span_s``, scores of so many decimals."""
    random = np.random.default_rng(1)
    begin, score = random.uniform(0, span_s, n_detections).round(2), random.uniform(0, 1, n_detections).round(decimals)
    dur = random.uniform(0.1, 0.6, n_detections).round(2)
    ref_begin = random.uniform(0, span_s, n_references).round(2)
    ref_end = (ref_begin + random.uniform(0.1, 0.6, n_references)).round(2)
    rows = zip(begin.tolist(), dur.tolist(), score.tolist(), strict=True)
    key = zip(ref_begin.tolist(), ref_end.tolist(), strict=True)
    return trials([detection(*row) for row in rows]), occurrences([reference(*row) for row in key])


def candidates_of(tile: Trials, key: Occurrences, tolerance_s: float) -> Candidates:
    return find_candidates(
        tile,
        key,
        trial_kept=np.ones(len(tile), np.bool_),
        reference_kept=np.ones(len(key), np.bool_),
        tolerance_s=tolerance_s,
        score_range=HEADER,
        floor=0.0,
    )


@pytest.mark.parametrize(
    ("n_detections", "n_references", "span_s", "tolerance_s", "decimals"),
    [
        (2000, 2000, 200.0, 0.5, 6),
        (3000, 1500, 150.0, 0.5, 1),
        (1500, 2000, 150.0, 0.5, 2),
        (1500, 1500, 150.0, 20.0, 3),
        (600, 600, 1.0, 2.0, 2),
        (1200, 400, 1.0, 2.0, 1),
        (500, 900, 1.0, 2.0, 3),
        (900, 900, 1.0, 0.2, 3),
    ],
    ids=[
        "sparse",
        "tied scores",
        "few detections",
        "wide",
        "everything in reach",
        "everything in reach and tied",
        "everything in reach of few detections",
        "most in reach",
    ],
)
def test_as_heavy_as_a_dense_assignment(n_detections, n_references, span_s, tolerance_s, decimals):
    """The wide case takes scipy's own search for a full matching minutes when it is left to itself."""
    tile, key = scene(n_detections, n_references, span_s, decimals)
    candidates = candidates_of(tile, key, tolerance_s)
    n_rows, n_columns = candidates.occurrence.size, candidates.trial.size
    grid = np.indices((n_rows, n_columns))
    allowed = (candidates.first[grid[0]] <= grid[1]) & (grid[1] < candidates.last[grid[0]])
    value = np.where(allowed, candidates.weight(*grid) * WEIGHT_STEP + 2.0, 0.0)
    rows, columns = linear_sum_assignment(value, maximize=True)

    aligned = align_occurrences(tile, key, tolerance_s=tolerance_s, score_range=HEADER, floor=0.0)
    row_of = {row: place for place, row in enumerate(candidates.occurrence.tolist())}
    column_of = {row: place for place, row in enumerate(candidates.trial.tolist())}
    found = [
        value[row_of[mapped], column_of[row]]
        for row, mapped in zip(aligned.kept.tolist(), aligned.reference.tolist(), strict=True)
        if mapped >= 0
    ]
    assert min(found) > 1
    assert len(found) == np.count_nonzero(value[rows, columns])
    assert sum(found) == pytest.approx(value[rows, columns].sum(), rel=1e-14)


def test_thousands_by_thousands_within_bounded_memory():
    tile, key = scene(8000, 8000, 800.0, 2)
    tracemalloc.start()
    aligned = align_occurrences(tile, key, tolerance_s=0.5, score_range="group")
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert np.count_nonzero(aligned.target) > 7000
    assert peak < 64 * MEGABYTE  # one dense matrix would take 512


def test_a_pile_of_detections_costs_no_more_pairs_than_the_key_is_dense():
    n_detections, n_references = 200_000, 8
    score = np.random.default_rng(2).permutation(n_detections) / n_detections
    tile = trials([detection(10.0, 0.5, value) for value in score.tolist()])
    key = occurrences([reference(10.0, 10.5)] * n_references)
    candidates = candidates_of(tile, key, 0.5)
    assert len(list_pairs(candidates, largest_mapping(candidates))) <= n_references * (n_references + 1)

    tracemalloc.start()
    aligned = align_occurrences(tile, key, tolerance_s=0.5, score_range="group")
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    mapped = aligned.kept[aligned.target]
    assert sorted(score[mapped]) == sorted(score)[-n_references:]
    assert peak < 512 * MEGABYTE  # all pairs at 150 bytes would take 240, and 100 times the references 24,000


def test_the_best_of_a_pile_of_equal_scores_are_the_earliest():
    begin = np.random.default_rng(3).permutation(5000) / 1e6
    tile = trials([detection(10.0 + value, 0.5, 0.5) for value in begin.tolist()])
    key = occurrences([reference(10.1, 10.2)] * 20)
    aligned = align_occurrences(tile, key, tolerance_s=0.5, score_range="group")
    assert sorted(begin[aligned.kept[aligned.target]]) == sorted(begin)[:20]


def test_where_doubles_cannot_hold_the_sums_the_result_is_still_the_best_to_their_step():
    """Occurrences without length weigh thousands of times more: sums lose the last of 60 binary places, no more."""
    tile, key = scene(60, 40, 3.0, 3)
    begin = key.begin_s
    key = occurrences([reference(value, value) for value in begin.tolist()])
    candidates = candidates_of(tile, key, 2.0)
    weight = candidates.weight(*np.indices((candidates.occurrence.size, candidates.trial.size)))
    allowed = np.arange(candidates.trial.size) < candidates.last[:, None]
    allowed &= np.arange(candidates.trial.size) >= candidates.first[:, None]
    value = np.where(allowed, weight * WEIGHT_STEP + 2.0, 0.0)
    best = value[linear_sum_assignment(value, maximize=True)].sum()
    aligned = align_occurrences(tile, key, tolerance_s=2.0, score_range=HEADER, floor=0.0)
    place = {row: column for column, row in enumerate(candidates.trial.tolist())}
    line = {row: column for column, row in enumerate(candidates.occurrence.tolist())}
    rows = zip(aligned.kept.tolist(), aligned.reference.tolist(), strict=True)
    assert sum(value[line[r], place[t]] for t, r in rows if r >= 0) == pytest.approx(best, abs=1e-12)


@pytest.mark.parametrize(("decimals", "share"), [(6, 1.0), (1, 0.8)], ids=["as many", "tied, to spare"])
def test_the_largest_crowd_that_is_mapped_has_bounded_memory(decimals, share):
    n = 1000
    tile, key = scene(n, round(n * share), 0.5, decimals)
    tracemalloc.start()
    aligned = align_occurrences(tile, key, tolerance_s=1.0, score_range="group")
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert np.count_nonzero(aligned.target) >= 0.99 * len(key)
    assert peak < 256 * MEGABYTE


@pytest.mark.parametrize("n_detections", [1_100, 40_000])
def test_a_crowd_beyond_the_bound_is_refused_by_name(n_detections):
    tile, key = scene(n_detections, 1_100, 0.5, 2)
    named = rf"query 'q' in file 'f', channel '1': {n_detections:,} detections and 1,100 reference occurrences"
    with pytest.raises(InputError, match=named):
        align_occurrences(tile, key, tolerance_s=1.0, score_range="group")


def test_a_pile_on_many_occurrences_is_refused_by_its_pairs(monkeypatch):
    monkeypatch.setattr(crowds, "MOST_PAIRS", 1_000_000)
    tile, key = scene(2_000, 600, 0.5, 2)
    with pytest.raises(InputError, match=r"1,200,000 pairs to weigh; allowed are 1,000,000"):
        align_occurrences(tile, key, tolerance_s=1.0, score_range="group")
