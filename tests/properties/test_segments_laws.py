"""Laws of inferred-segment scoring, against brute force on small random cases."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from pipeline.align.segments import align_segments
from pipeline.trials.adapted import adapt
from pipeline.trials.schema import N_BUCKETS, Excerpts, Occurrences, Trials
from pipeline.trials.spans import holding
from pipeline.trials.tiles import buckets_of, offsets_of

TENTHS = st.integers(0, 60).map(lambda n: n / 10)
SPANS = st.lists(st.tuples(st.integers(0, 2), TENTHS, st.integers(0, 30).map(lambda n: n / 10)), max_size=12)


@given(SPANS, SPANS)
def test_every_span_that_holds_a_row_is_found(spans, rows):
    group, begin, dur = (np.array(column, float) for column in zip(*spans, strict=True)) if spans else [np.zeros(0)] * 3
    row_group, start, length = (np.array(c, float) for c in zip(*rows, strict=True)) if rows else [np.zeros(0)] * 3
    found = holding(group.astype(np.int64), begin, begin + dur, row_group.astype(np.int64), start, start + length)
    expected = [
        (r, s)
        for r in range(len(rows))
        for s in range(len(spans))
        if row_group[r] == group[s] and begin[s] <= start[r] and start[r] + length[r] <= begin[s] + dur[s]
    ]
    assert list(zip(*(column.tolist() for column in found), strict=True)) == expected


BORDERS = st.lists(st.integers(1, 59), unique=True, max_size=6).map(lambda cuts: [0, *sorted(cuts), 60])
WORDS = st.lists(st.tuples(st.integers(0, 59), st.integers(1, 15)), max_size=6)


@given(BORDERS, st.data(), WORDS, st.sampled_from(["extend", "merge"]))
def test_adapted_segments_cover_the_excerpt_and_no_occurrence_crosses_a_border(borders, data, words, crossing):
    speech = data.draw(st.lists(st.booleans(), min_size=len(borders) - 1, max_size=len(borders) - 1))
    segments = [(float(a), float(b), s) for a, b, s in zip(borders[:-1], borders[1:], speech, strict=True)]
    spoken = sorted((float(a), float(min(a + n, 60))) for a, n in words)
    adapted = adapt(segments, spoken, crossing)
    assert (adapted[0][0], adapted[-1][1]) == (0, 60)
    assert all(left[1] == right[0] for left, right in pairwise(adapted))
    assert all(begin < end for begin, end, _ in adapted)
    inside = [begin for begin, _, _ in adapted[1:]]
    assert not [cut for cut in inside for begin, end in spoken if begin < cut < end]
    assert len(adapted) <= len(segments) or crossing == "extend"


DETECTIONS = st.lists(
    st.tuples(
        st.sampled_from(["p", "q", "r"]), st.integers(0, 60), st.integers(0, 4), st.integers(0, 3), st.booleans()
    ),
    max_size=12,
)


def _trials(detections) -> Trials:
    queries = ("p", "q", "r")
    buckets = dict(zip(queries, buckets_of(queries).tolist(), strict=True))
    rows = sorted(detections, key=lambda d: (buckets[d[0]], *d[:4], not d[4]))
    zeros = np.zeros(len(rows), np.int32)
    query = np.array([queries.index(d[0]) for d in rows], np.int32)
    begin_s, score = np.array([d[1] for d in rows], float), np.array([d[3] for d in rows], float)
    return Trials(
        queries=queries,
        files=("f",),
        channels=("1",),
        query=query,
        file=zeros,
        channel=zeros,
        begin_s=begin_s,
        dur_s=np.array([d[2] for d in rows], float),
        time_s=begin_s,
        score=score,
        decision=np.array([d[4] for d in rows], np.bool_),
        row=np.arange(len(rows)),
        offsets=offsets_of(buckets_of(queries)[query]),
        score_range=(0.0, 3.0),
    )


def _segments(borders) -> Excerpts:
    begin_s, end_s = np.array(borders[:-1], float), np.array(borders[1:], float)
    zeros = np.zeros(begin_s.size, np.int32)
    return Excerpts(("f",), ("1",), zeros, zeros, begin_s, end_s, end_s - begin_s, ("cts",) * begin_s.size)


def _targets(chosen, segments) -> Occurrences:
    queries = ("p", "q", "r")
    pairs = sorted(chosen, key=lambda pair: (buckets_of(pair[0])[0], pair))
    query = np.array([queries.index(name) for name, _ in pairs], np.int32)
    row = np.array([at for _, at in pairs], np.int64)
    zeros = np.zeros(len(pairs), np.int32)
    begin_s, end_s = segments.begin_s[row], segments.end_s[row]
    offsets = offsets_of(buckets_of(queries)[query])
    return Occurrences(queries, ("f",), ("1",), query, zeros, zeros, begin_s, end_s, begin_s, end_s, row, offsets)


@given(BORDERS, st.data(), DETECTIONS, st.sampled_from(["best", "any"]))
def test_counts_are_those_of_a_plain_loop_over_segments(borders, data, detections, deciding):
    segments = _segments(borders)
    possible = [(name, at) for name in "pqr" for at in range(segments.file.size)]
    chosen = data.draw(st.lists(st.sampled_from(possible), unique=True, max_size=6))
    trials, targets = _trials(detections), _targets(chosen, segments)
    made = align_segments(trials, targets, segments, deciding=deciding)
    seen = sorted(
        ("p", "q", "r")[trials.query[row]] + f" {segment} {trials.score[row]} {decision} {reference >= 0}"
        for row, segment, decision, reference in zip(
            made.aligned.kept, made.segment, made.decision, made.aligned.reference, strict=True
        )
    )
    omitted = sorted((("p", "q", "r")[targets.query[at]], int(targets.row[at])) for at in made.aligned.omitted)
    assert (seen, omitted) == _plainly(borders, set(chosen), trials, deciding)


def _plainly(borders, chosen, trials, deciding):
    holds = lambda at, mid: borders[at] <= mid <= borders[at + 1]  # noqa: E731
    n, names = len(borders) - 1, ("p", "q", "r")
    mids = (trials.begin_s + trials.dur_s / 2.0).tolist()
    own = [next((at for at in range(n) if holds(at, mid)), None) for mid in mids]
    best, trial_lines, omitted, used = {}, [], [], set()
    for row, at in enumerate(own):
        key = (names[trials.query[row]], at)
        if at is not None and (key not in best or trials.score[row] > trials.score[best[key]]):
            best[key] = row

    def decided(key):
        if deciding == "best":
            return bool(trials.decision[best[key]])
        return any(trials.decision[row] for row, at in enumerate(own) if (names[trials.query[row]], at) == key)

    for name, at in chosen:
        key = (name, at) if (name, at) in best else (name, at - 1)
        if key in best and holds(at, mids[best[key]]):
            used.add(key)
            trial_lines.append(f"{name} {at} {trials.score[best[key]]} {decided(key)} True")
        else:
            omitted.append((name, at))
    trial_lines += [f"{key[0]} {key[1]} {trials.score[best[key]]} {decided(key)} False" for key in best.keys() - used]
    return sorted(trial_lines), sorted(omitted)


@given(BORDERS, st.data(), DETECTIONS)
def test_tiles_together_say_what_the_whole_says(borders, data, detections):
    segments = _segments(borders)
    possible = [(name, at) for name in "pqr" for at in range(segments.file.size)]
    chosen = data.draw(st.lists(st.sampled_from(possible), unique=True, max_size=6))
    trials, targets = _trials(detections), _targets(chosen, segments)
    whole = align_segments(trials, targets, segments, deciding="best")
    parts = [
        align_segments(trials.tiles(b, b + 1), targets.tiles(b, b + 1), segments, deciding="best")
        for b in range(N_BUCKETS)
    ]
    kept = [p.aligned.kept + trials.offsets[b] for b, p in enumerate(parts)]
    assert np.array_equal(np.concatenate(kept), whole.aligned.kept)
    assert np.array_equal(np.concatenate([p.segment for p in parts]), whole.segment)
    omitted = [p.aligned.omitted + targets.offsets[b] for b, p in enumerate(parts)]
    assert np.array_equal(np.concatenate(omitted), whole.aligned.omitted)
