"""Laws of crowds: solved as a matrix, a component maps the same detections with the same sum as solved by its pairs."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from pipeline.align.mapping.assignment import assign
from pipeline.align.mapping.candidates import Candidates, find_candidates
from pipeline.align.mapping.crowds import assign_crowd
from pipeline.align.mapping.pairs import largest_mapping, list_pairs
from tests.unit.align.align_tiles import detection, occurrences, reference, trials

TENTHS = st.integers(0, 12).map(lambda tenths: tenths / 10)
ODD = st.floats(0, 1.2)
SHORT = st.integers(1, 6).map(lambda tenths: tenths / 10)
SCORES = st.sampled_from([0.3, 0.301, 0.5, 0.9]) | st.floats(0, 1)
BESIDE_SCORES = st.sampled_from([0.2, 0.21, 0.22])
DETECTIONS = st.tuples(TENTHS | ODD, SHORT, SCORES, st.sampled_from(["YES", "NO"]))
ALIKE = st.tuples(TENTHS, st.sampled_from([0.3, 0.5]), BESIDE_SCORES, st.sampled_from(["YES", "NO"]))
REFERENCES = st.tuples(TENTHS | ODD, SHORT).map(lambda row: (row[0], row[0] + row[1]))
TOLERANCES = st.sampled_from([0.0, 0.1, 0.5, 2.0])


def candidates_of(rows, key, tolerance_s: float) -> Candidates:
    tile, places = trials([detection(*row) for row in rows]), occurrences([reference(*row) for row in key])
    return find_candidates(
        tile,
        places,
        trial_kept=np.ones(len(tile), np.bool_),
        reference_kept=np.ones(len(places), np.bool_),
        tolerance_s=tolerance_s,
        score_range=(0.0, 1.0),
        floor=0.0,
    )


def outcome(candidates: Candidates, mapping) -> tuple[int, int, list[int]]:
    """What is maximised: pairs, sum, and the preferences of the detections used."""
    mapped = np.flatnonzero(mapping >= 0)
    used = mapping[mapped]
    assert np.unique(used).size == used.size
    assert (candidates.first[mapped] <= used).all()
    assert (used < candidates.last[mapped]).all()
    return mapped.size, int(candidates.weight(mapped, used).sum()), np.sort(candidates.rank[used])[::-1].tolist()


def check(rows, key, tolerance_s: float) -> None:
    candidates = candidates_of(rows, key, tolerance_s)
    if candidates.occurrence.size == 0:
        return
    hint = largest_mapping(candidates)
    listed = assign(list_pairs(candidates, hint), hint, candidates.rank)
    crowd = assign_crowd(candidates, hint, "here")
    assert outcome(candidates, crowd) == outcome(candidates, listed)


@given(st.lists(DETECTIONS, max_size=40), st.lists(REFERENCES, max_size=30), TOLERANCES)
def test_a_crowd_is_mapped_as_its_pairs_say(rows, key, tolerance_s):
    check(rows, key, tolerance_s)


@given(st.lists(ALIKE, min_size=2, max_size=24), st.lists(REFERENCES, min_size=2, max_size=10))
def test_ties_of_a_crowd_go_to_the_preferred_detections(rows, key):
    check(rows, key, 2.0)


@given(
    st.lists(ALIKE, min_size=1, max_size=12),
    st.lists(st.sampled_from([(0.2, 0.5), (0.4, 1.0)]), min_size=1, max_size=6),
)
def test_repeated_rows_of_a_crowd(rows, key):
    check(rows * 3, key * 2, 0.5)
