from __future__ import annotations

import math
from itertools import permutations

import numpy as np
from trial_inputs import ecf, output

from pipeline.trials import layout
from pipeline.trials.schema import N_BUCKETS, Timeline, Trials
from pipeline.trials.tiles import bucket_of


def two_recordings() -> Timeline:
    return layout.timeline(ecf("b.sph 1 10 20", "a.sph 1 0 100.5", "a.sph 2 0 100"), files="kwseval")


def laid_out(blocks: dict[str, list[str]], attributes: str = "", declared: str = "") -> Trials:
    given = output(blocks, attributes=attributes, declared=declared)
    return layout.lay_out(given, two_recordings(), files="kwseval")


def test_recordings_lie_end_to_end_in_order_of_their_names() -> None:
    timeline = two_recordings()
    assert timeline.files == ("a", "b")
    assert timeline.offset_s.tolist() == [0.0, 100.5, 130.5]


def test_excerpts_are_sorted_and_named() -> None:
    excerpts = two_recordings().excerpts
    names = [(excerpts.files[f], excerpts.channels[c]) for f, c in zip(excerpts.file, excerpts.channel, strict=True)]
    assert names == [("a", "1"), ("a", "2"), ("b", "1")]
    assert excerpts.end_s.tolist() == [100.5, 100.0, 30.0]
    assert excerpts.source_type == ("cts", "cts", "cts")


def test_excerpts_keep_their_own_values_in_any_order() -> None:
    lines = ("b.sph 1 10 20", "a.sph 2 0 100", "a.sph 1 0 100.5", "a.sph 1 200 7")
    for order in permutations(lines):
        excerpts = layout.timeline(ecf(*order), files="kwseval").excerpts
        assert (excerpts.end_s - excerpts.begin_s).tolist() == excerpts.dur_s.tolist() == [100.5, 7.0, 100.0, 20.0]


def test_excerpts_are_taken_with_every_column() -> None:
    excerpts = two_recordings().excerpts
    for rows in (np.array([2, 0]), np.array([True, False, True]), np.array([], np.int64)):
        taken = excerpts.take(rows)
        assert (taken.files, taken.channels) == (excerpts.files, excerpts.channels)
        for name in ("file", "channel", "begin_s", "end_s", "dur_s"):
            assert getattr(taken, name).tolist() == getattr(excerpts, name)[rows].tolist()
        assert taken.source_type == ("cts",) * taken.file.size


def test_only_kwseval_rounds_the_end_of_an_excerpt() -> None:
    source = ecf("f1.sph 1 0.1 0.2", header_s="0.2")
    assert layout.timeline(source, files="kwseval").excerpts.end_s.tolist() == [0.3]
    assert layout.timeline(source, files="stdeval").excerpts.end_s.tolist() == [0.1 + 0.2]
    assert layout.timeline(source, files="stdeval").header_s == 0.2


def test_a_header_without_duration_is_undefined() -> None:
    assert math.isnan(two_recordings().header_s)


def test_trials_stand_on_the_timeline_and_unknown_recordings_do_not() -> None:
    trials = laid_out({"K1": ["b 1 12 1 0.5 YES", "a 1 3 1 0.5 NO", "c 1 3 1 0.5 NO"]})
    assert trials.files == ("a", "b", "c")
    assert trials.time_s[:2].tolist() == [3.0, 112.5]
    assert math.isnan(trials.time_s[2])


def test_rows_are_sorted_by_what_they_say() -> None:
    rows = [
        "b 1 1 1 0.5 YES",
        "a 2 1 1 0.5 YES",
        "a 1 2 1 0.5 YES",
        "a 1 1 2 0.5 YES",
        "a 1 1 1 0.6 YES",
        "a 1 1 1 0.5 NO",
        "a 1 1 1 0.5 YES",
    ]
    trials = laid_out({"K1": rows})
    assert trials.row.tolist() == [9, 8, 7, 6, 5, 4, 3]  # the first detection stands in line 3
    assert trials.decision[:2].tolist() == [True, False]


def test_queries_are_sorted_by_bucket_and_silent_ones_are_kept() -> None:
    names = [f"Q{i}" for i in range(200)]
    trials = laid_out({name: [] if name == "Q7" else ["a 1 1 1 0.5 YES"] for name in names})
    assert trials.queries == tuple(sorted(names))
    order = [trials.queries[code] for code in trials.query.tolist()]
    assert order == sorted(set(names) - {"Q7"}, key=lambda name: (bucket_of(name), name))


def test_offsets_say_where_each_bucket_begins() -> None:
    trials = laid_out({f"Q{i}": ["a 1 1 1 0.5 YES"] * (i % 3) for i in range(50)})
    assert trials.offsets.size == N_BUCKETS + 1
    for bucket in range(N_BUCKETS):
        rows = slice(trials.offsets[bucket], trials.offsets[bucket + 1])
        assert {bucket_of(trials.queries[code]) for code in trials.query[rows].tolist()} <= {bucket}
    assert trials.offsets[-1] == len(trials) == 49


def test_negative_zero_keeps_its_sign_and_sorts_after_zero() -> None:
    """Alignment files show it; sums and ranks take it for 0."""
    trials = laid_out({"K1": ["a 1 1 1 -0.0 YES", "a 1 1 1 0 YES", "a 1 1 1 -0.5 YES"]})
    assert trials.score.tolist() == [-0.5, 0.0, 0.0]
    assert np.signbit(trials.score).tolist() == [True, False, True]


def test_score_range_leaves_infinities_out() -> None:
    trials = laid_out({"K1": ["a 1 1 1 INF YES", "a 1 2 1 -INF NO", "a 1 3 1 0.25 NO", "a 1 4 1 -2 NO"]})
    assert trials.score_range == (-2.0, 0.25)
    assert math.isinf(trials.score.max())


def test_an_output_without_detections() -> None:
    trials = laid_out({"K1": []})
    assert len(trials) == 0
    assert trials.queries == ("K1",)
    assert trials.files == ()
    assert all(map(math.isnan, trials.score_range))
    assert trials.header_range is None
    assert trials.offsets.tolist() == [0] * (N_BUCKETS + 1)


def test_declared_range_and_block_attributes() -> None:
    trials = laid_out({"K1": []}, 'min_score="-1" max_score="2.5"', 'search_time="1.5" oov_count="NA"')
    assert trials.header_range == (-1.0, 2.5)
    assert trials.blocks["K1"]["search_time_s"] == 1.5
    assert math.isnan(trials.blocks["K1"]["oov_count"])


def test_spellings_of_one_recording_are_one() -> None:
    trials = laid_out({"K1": ["a.sph 1 1 1 0.5 YES", "x/a 1 2 1 0.5 YES"]})
    assert trials.files == ("a",)
    assert trials.file.tolist() == [0, 0]
