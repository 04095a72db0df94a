"""Laws of mapping detections to occurrences, against brute force and against one dense assignment per keyword."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from itertools import product

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import linear_sum_assignment

from pipeline.align.aligned import Aligned
from pipeline.align.excerpts import Places, inside_excerpts
from pipeline.align.occurrences import align_occurrences
from tests.unit.align.align_tiles import Detection, Reference, excerpts, occurrences, pairs, trials

HEADER = (0.0, 1.0)
STEP = 2.0**-60
TOLERANCES = st.sampled_from([0.0, 0.1, 0.5, 2.0])
PLACES = st.tuples(st.sampled_from("pq"), st.sampled_from(["f", "g"]), st.sampled_from("12"))
ONE_PLACE = st.just(("q", "f", "1"))
TENTHS = st.integers(0, 20).map(lambda tenths: tenths / 10)
SCORES = st.sampled_from([0.0, 0.3, 0.301, 0.302, 0.5, 0.9, 1.0]) | st.floats(0, 1)


def detections_at(places: st.SearchStrategy[tuple[str, str, str]], most: int) -> st.SearchStrategy[list[Detection]]:
    row = st.tuples(places, TENTHS, st.integers(0, 6).map(lambda tenths: tenths / 10), SCORES, st.booleans())
    return st.lists(row.map(lambda row: (*row[0], *row[1:])), max_size=most)


def references_at(places: st.SearchStrategy[tuple[str, str, str]], most: int) -> st.SearchStrategy[list[Reference]]:
    """Durations of at least 0.1 s: shorter ones weigh so much that doubles round the sums of large components."""
    row = st.tuples(places, TENTHS, st.integers(1, 6))
    return st.lists(row.map(lambda row: (*row[0], row[1], round(row[1] + row[2] / 10, 4))), max_size=most)


def worth(detection: Detection, reference: Reference, tolerance_s: float) -> int | None:
    """KWSEval's kernel without its 1, in steps of 2**-60; None where unmappable. Scores are measured against [0, 1]."""
    begin, dur, score = detection[3:6]
    end, middle = begin + dur, begin + dur / 2.0
    ref_begin, ref_end = reference[3:]
    if detection[:3] != reference[:3] or middle < ref_begin - tolerance_s or middle > ref_end + tolerance_s:
        return None
    overlap = (min(end, ref_end) - max(begin, ref_begin)) / max(ref_end - ref_begin, 1e-5)
    return round((1e-8 * overlap + 1e-6 * score) / STEP)


def preference(detection: Detection) -> tuple[float, float, float, bool]:
    """Smaller is preferred in ties."""
    return -detection[5], detection[3], detection[4], not detection[6]


Outcome = tuple[int, int, list[tuple[float, float, float, bool]]]


def outcome(
    mapping: dict[int, int], detections: Sequence[Detection], references: Sequence[Reference], tol: float
) -> Outcome:
    """What is maximised, as something to minimise: minus pairs, minus sum, preferences of the detections in order."""
    worths = [worth(detections[row], references[mapped], tol) for row, mapped in mapping.items()]
    assert None not in worths
    assert len(set(mapping.values())) == len(mapping)
    return -len(mapping), -sum(worths), sorted(preference(detections[row]) for row in mapping)


def every_mapping(detections: Sequence[Detection], references: Sequence[Reference], tol: float):
    """All one-to-one mappings of allowed pairs."""
    choices = [
        [None, *(r for r, ref in enumerate(references) if worth(row, ref, tol) is not None)] for row in detections
    ]
    for chosen in product(*choices):
        taken = [mapped for mapped in chosen if mapped is not None]
        if len(taken) == len(set(taken)):
            yield {row: mapped for row, mapped in enumerate(chosen) if mapped is not None}


def align(detections: Sequence[Detection], references: Sequence[Reference], tol: float, score_range=HEADER) -> Aligned:
    return align_occurrences(trials(detections), occurrences(references), tolerance_s=tol, score_range=score_range)


def contents(aligned: Aligned, detections: Sequence[Detection], references: Sequence[Reference]) -> Counter:
    """What was mapped to what, in contents instead of rows."""
    rows = zip(aligned.kept.tolist(), aligned.reference.tolist(), strict=True)
    found = Counter((detections[row], references[mapped] if mapped >= 0 else None) for row, mapped in rows)
    return found + Counter((None, references[row]) for row in aligned.omitted.tolist())


@given(detections_at(ONE_PLACE, 5), references_at(ONE_PLACE, 4), TOLERANCES)
def test_no_other_mapping_is_better(detections, references, tol):
    best = min(outcome(mapping, detections, references, tol) for mapping in every_mapping(detections, references, tol))
    assert outcome(pairs(align(detections, references, tol)), detections, references, tol) == best


ALIKE = st.tuples(TENTHS, st.sampled_from([0.3, 0.5]), st.sampled_from([0.2, 0.21, 0.22]), st.booleans())


@given(
    st.lists(ALIKE.map(lambda row: ("q", "f", "1", *row)), min_size=3, max_size=5),
    references_at(ONE_PLACE, 3).filter(lambda references: len(references) > 1),
)
@settings(max_examples=300)
def test_ties_go_to_the_preferred_detections(detections, references):
    """Scores that steps of overlap make up for exactly, so that sums are often equal."""
    best = min(outcome(mapping, detections, references, 2.0) for mapping in every_mapping(detections, references, 2.0))
    assert outcome(pairs(align(detections, references, 2.0)), detections, references, 2.0) == best


@given(detections_at(PLACES, 60), references_at(PLACES, 40), TOLERANCES)
def test_pairs_and_sum_are_those_of_one_dense_assignment(detections, references, tol):
    worths = np.array([[worth(row, ref, tol) or 0 for ref in references] for row in detections], np.int64)
    allowed = np.array([[worth(row, ref, tol) is not None for ref in references] for row in detections], np.bool_)
    shape = (len(detections), len(references))
    value = np.where(allowed, worths * STEP + 2.0, 0.0).reshape(shape)
    rows, columns = linear_sum_assignment(value, maximize=True)
    used = allowed.reshape(shape)[rows, columns]
    found = outcome(pairs(align(detections, references, tol)), detections, references, tol)
    assert found[0] == -np.count_nonzero(used)
    total = int(worths.reshape(shape)[rows, columns][used].sum())
    assert -found[1] >= total
    assert (-found[1] - total) * STEP <= 1e-12


@given(
    detections_at(PLACES, 40),
    references_at(PLACES, 30),
    TOLERANCES,
    st.sampled_from(["group", "keyword", HEADER]),
    st.randoms(),
)
def test_the_order_of_rows_changes_nothing(detections, references, tol, score_range, random):
    expected = contents(align(detections, references, tol, score_range), detections, references)
    random.shuffle(detections)
    random.shuffle(references)
    assert contents(align(detections, references, tol, score_range), detections, references) == expected


@given(detections_at(PLACES, 40), references_at(PLACES, 30), TOLERANCES, st.sampled_from([1, 2, 3]))
def test_tiles_may_be_cut_at_queries_files_and_channels(detections, references, tol, depth):
    whole = contents(align(detections, references, tol, "group"), detections, references)
    cut = Counter()
    for place in sorted({row[:depth] for row in (*detections, *references)}):
        some = [row for row in detections if row[:depth] == place]
        key = [row for row in references if row[:depth] == place]
        cut += contents(align(some, key, tol, "group"), some, key)
    assert cut == whole


@given(detections_at(PLACES, 30), references_at(PLACES, 20), TOLERANCES)
def test_every_row_is_accounted_for_once(detections, references, tol):
    aligned = align(detections, references, tol, "keyword")
    assert aligned.kept.tolist() == list(range(len(detections)))
    taken = aligned.reference[aligned.target].tolist()
    assert sorted([*taken, *aligned.omitted.tolist()]) == list(range(len(references)))
    assert (np.diff(aligned.omitted) > 0).all()


@given(detections_at(PLACES, 30), references_at(PLACES, 20), TOLERANCES, st.randoms(use_true_random=False))
def test_rows_left_out_are_as_good_as_absent(detections, references, tol, random):
    kept = np.array([random.random() < 0.7 for _ in detections], np.bool_)
    key = np.array([random.random() < 0.7 for _ in references], np.bool_)
    filtered = align_occurrences(
        trials(detections),
        occurrences(references),
        tolerance_s=tol,
        score_range="group",
        trial_rows=kept,
        reference_rows=key,
    )
    some = [row for row, keep in zip(detections, kept, strict=True) if keep]
    few = [row for row, keep in zip(references, key, strict=True) if keep]
    assert contents(filtered, detections, references) == contents(align(some, few, tol, "group"), some, few)


@given(
    st.lists(st.tuples(st.sampled_from("fg"), st.sampled_from("12"), TENTHS, TENTHS), max_size=8),
    st.lists(st.tuples(st.sampled_from("fgh"), st.sampled_from("123"), TENTHS, TENTHS), max_size=12),
)
def test_inside_means_that_one_excerpt_holds_the_row(spans, rows):
    evaluated = [(file, channel, begin, begin + dur) for file, channel, begin, dur in spans]
    tile = trials([("q", file, channel, begin, dur, 0.5, True) for file, channel, begin, dur in rows])
    columns = Places.of(tile), tile.begin_s, tile.begin_s + tile.dur_s
    expected = [
        any(span[:2] == (file, channel) and begin >= span[2] and begin + dur <= span[3] for span in evaluated)
        for file, channel, begin, dur in rows
    ]
    assert inside_excerpts(excerpts(*evaluated), *columns).tolist() == expected
