from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from trial_inputs import ecf, kwlist, output, rttm

from pipeline.errors import UsageError
from pipeline.trials.keywords import SearchRules, find_occurrences
from pipeline.trials.layout import lay_out, timeline
from pipeline.trials.schema import N_BUCKETS, Occurrences, Trials
from pipeline.trials.tiles import batches, bucket_of, tile_digest

DETECTIONS = ["a 1 1 1 0.5 YES", "b 1 2 1 0.25 NO"]


def trials(blocks: dict[str, list[str]]) -> Trials:
    laid = timeline(ecf("a.sph 1 0 100", "b.sph 1 0 100"), files="kwseval")
    return lay_out(output(blocks), laid, files="kwseval")


def tile(value: Trials, query: str) -> Trials:
    return value.tiles(bucket_of(query), bucket_of(query) + 1)


def occurrence_tile(value: Occurrences, query: str) -> Occurrences:
    return value.tiles(bucket_of(query), bucket_of(query) + 1)


def test_buckets_are_the_same_on_every_machine() -> None:
    # printf NAME | b2sum -l 64, read as one hexadecimal number, modulo 64
    names = ("KW101-00001", "quesst2015_dev_0317", "", "香港")
    assert [bucket_of(name) for name in names] == [43, 12, 52, 55]


def test_buckets_are_evenly_filled() -> None:
    counts = np.bincount([bucket_of(f"Q{i}") for i in range(6400)], minlength=N_BUCKETS)
    assert counts.min() > 60
    assert counts.max() < 145


def test_a_digest_sees_every_column_that_scoring_sees() -> None:
    given = tile(trials({"K1": DETECTIONS}), "K1")
    seen = {tile_digest(given)}
    for name in ("begin_s", "dur_s", "score"):
        seen.add(tile_digest(replace(given, **{name: getattr(given, name) + 1e-9})))
    seen.add(tile_digest(replace(given, decision=~given.decision)))
    seen.add(tile_digest(replace(given, queries=("K2",))))
    seen.add(tile_digest(replace(given, files=("a", "c"))))
    seen.add(tile_digest(replace(given, channels=("2",))))
    assert len(seen) == 8


def test_a_digest_does_not_see_lines_or_the_timeline() -> None:
    given = tile(trials({"K1": DETECTIONS}), "K1")
    assert tile_digest(given) == tile_digest(replace(given, row=given.row + 7, time_s=given.time_s + 3600.0))


def test_another_query_with_other_recordings_changes_no_digest() -> None:
    alone = trials({"K1": DETECTIONS})
    joined = trials({"A1": ["A 0 1 1 9 YES"], "K1": DETECTIONS, "Z9": ["c 7 1 1 9 YES"]})
    assert bucket_of("K1") not in {bucket_of("A1"), bucket_of("Z9")}
    assert tile_digest(tile(joined, "K1")) == tile_digest(tile(alone, "K1"))
    assert joined.files != alone.files


def test_a_corrected_key_row_changes_only_its_tile() -> None:
    def key(text: str, queries: tuple[str, ...] = ("K1", "K2")) -> Occurrences:
        texts = dict.fromkeys(queries, "a") | {"K2": "b"}
        return find_occurrences(kwlist(**texts), rttm(text), SearchRules())[0]

    before, after = key("f 1 1 0.5 a\nf 1 2 0.5 b"), key("f 1 1 0.5 a\nf 1 2 0.6 b")
    assert tile_digest(occurrence_tile(before, "K1")) == tile_digest(occurrence_tile(after, "K1"))
    assert tile_digest(occurrence_tile(before, "K2")) != tile_digest(occurrence_tile(after, "K2"))
    longer = key("x 1 1 0.5 q\nf 1 1 0.5 a\nf 1 2 0.5 b", ("K1", "K2", "K3"))
    assert bucket_of("K3") not in {bucket_of("K1"), bucket_of("K2")}
    for query in ("K1", "K2"):
        assert tile_digest(occurrence_tile(before, query)) == tile_digest(occurrence_tile(longer, query))


def test_trials_and_occurrences_have_digests_of_their_own() -> None:
    empty_trials = tile(trials({"K1": []}), "K1")
    no_occurrence = find_occurrences(kwlist(K1="a"), rttm("f 1 1 1 b"), SearchRules())[0]
    assert tile_digest(empty_trials) != tile_digest(occurrence_tile(no_occurrence, "K1"))


def test_batches_fill_up_to_the_limit() -> None:
    trial_offsets = np.array([0, 4, 4, 10, 11, 11])
    occurrence_offsets = np.array([0, 1, 2, 2, 2, 2])
    assert batches(trial_offsets, occurrence_offsets, 6) == [(0, 2), (2, 3), (3, 5)]
    assert batches(trial_offsets, occurrence_offsets, 100) == [(0, 5)]


def test_a_bucket_above_the_limit_stands_alone() -> None:
    offsets = np.array([0, 1, 50, 51])
    assert batches(offsets, np.zeros(4, np.int64), 10) == [(0, 1), (1, 2), (2, 3)]


def test_nothing_to_do_is_one_batch() -> None:
    none = np.zeros(N_BUCKETS + 1, np.int64)
    assert batches(none, none, 10) == [(0, N_BUCKETS)]


def test_a_task_needs_a_row() -> None:
    with pytest.raises(UsageError, match="rows_per_task is 0"):
        batches(np.array([0, 1]), np.array([0, 0]), 0)
