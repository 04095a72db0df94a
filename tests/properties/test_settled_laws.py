"""What is mapped without a solver is mapped as the solver maps it."""

from __future__ import annotations

from unittest.mock import patch

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from pipeline.align import occurrences as occurrences_aligner
from pipeline.align.mapping import small
from pipeline.align.mapping.candidates import find_candidates
from tests.unit.align.align_tiles import occurrences, trials

RANGES = ("group", "keyword", (0.0, 1.0), (np.nan, np.nan))
SPREADS = ("fine", "coarse", "infinite", "huge", "tiny", "far")
"""How times and scores lie: few ties, many, with infinite scores, with ranges of scores beyond doubles or too small for
normal ones, or times so far apart that sums would be rounded."""


@st.composite
def tiles(draw):
    """Detections in canonical order or not and references, in few groups and so dense that components are large."""
    random = np.random.default_rng(draw(st.integers(0, 2**32)))
    spread, seconds = draw(st.sampled_from(SPREADS)), draw(st.sampled_from([2, 8, 40]))
    n_detections, n_references = draw(st.sampled_from([0, 1, 6, 60])), draw(st.sampled_from([0, 1, 5, 30]))
    step = 1.0 if spread == "coarse" else 100.0

    def times(n, longest):
        return np.round(random.random(n) * seconds * step) / step, np.round(random.random(n) * longest * step) / step

    def places(n):
        return [tuple(map(str, map(random.choice, (["p", "q"], ["f", "g", "h"], ["1", "2"])))) for _ in range(n)]

    begin, dur = times(n_detections, 2)
    score = np.round(random.random(n_detections), 1 if spread == "coarse" else 4)
    if spread == "infinite":
        score[random.random(n_detections) < 0.4] = np.inf
        score[random.random(n_detections) < 0.2] = -np.inf
    if spread in ("huge", "tiny"):
        sizes = [0.0, 1e307, 1.2e308, 1.7976931348623157e308] if spread == "huge" else [0.0, 5e-324, 1e-323, 3e-310]
        score = random.choice([*sizes, *(-size for size in sizes)], n_detections)
    columns = zip(begin.tolist(), dur.tolist(), score.tolist(), strict=True)
    rows = [(*at, *row, random.random() < 0.5) for at, row in zip(places(n_detections), columns, strict=True)]
    begin, dur = times(n_references, 0 if spread == "far" else 1)
    spans = zip(begin.tolist(), (begin + dur).tolist(), strict=True)
    key = [(*at, *span) for at, span in zip(places(n_references), spans, strict=True)]
    if draw(st.booleans()):
        rows.sort()
    kept = random.random(n_detections) < draw(st.sampled_from([0.6, 1.0]))
    rules = {
        "tolerance_s": draw(st.sampled_from([0.0, 0.5, 3.0, 1e4])),
        "floor": draw(st.sampled_from([0.0, 1e-5, 0.8])),
    }
    return trials(rows), occurrences(key), {"trial_rows": kept, "score_range": draw(st.sampled_from(RANGES)), **rules}


def aligned(tile):
    detections, key, rules = tile
    found = occurrences_aligner.align_occurrences(detections, key, **rules)
    return [column.tolist() for column in (found.kept, found.reference, found.omitted)]


def by_solver(tile):
    def left(candidates):
        n = candidates.first.size
        return np.full(n, -1, np.int64), np.ones(n, np.bool_)

    with patch.object(occurrences_aligner, "settle_small", left):
        return aligned(tile)


@given(tiles(), st.sampled_from(["", "_PAIRS_OF_STARS", "_COMPONENTS"]))
@settings(max_examples=150)
def test_small_components_are_mapped_as_the_solver_maps_them(tile, exceeded):
    with patch.object(small, exceeded or "_COMPONENTS", 0 if exceeded else 256):
        assert aligned(tile) == by_solver(tile)


SECONDS = [(f"f{number:02d}", float(second)) for number in range(20) for second in (7, 8)]
CLEAR = [("q", file, "1", second, 0.5, second / 100, True) for file, second in SECONDS]
KEY = [("q", file, "1", second + 0.1, second + 0.4) for file, second in SECONDS]
EVERY = np.ones(len(SECONDS), np.bool_)
RULES = {"trial_kept": EVERY, "reference_kept": EVERY, "tolerance_s": 1.0, "score_range": "group", "floor": 1e-5}


def test_nothing_that_is_clear_is_left():
    candidates = find_candidates(trials(CLEAR), occurrences(KEY), **RULES)
    assert (candidates.last - candidates.first).tolist() == [2] * len(SECONDS)
    mapping, left = small.settle_small(candidates)
    assert candidates.trial[mapping].tolist() == list(range(len(SECONDS)))
    assert not left.any()
