"""Score matrices and labels: one order whatever that of the files, tiles by the segment's own name."""

from __future__ import annotations

import numpy as np

from pipeline.trials import score_matrix
from pipeline.trials.schema import N_BUCKETS
from pipeline.trials.score_matrix import ScoreMatrix, matrix_of
from pipeline.trials.tiles import bucket_of

SEGMENTS = [f"segment{at}" for at in range(200)]
SCORES = np.arange(600.0).reshape(200, 3)


def matrix(order: list[int]) -> ScoreMatrix:
    names = [SEGMENTS[at] for at in order]
    return matrix_of(("Plenty", "Open"), ("A", "B", "OOS"), names, SCORES[order], np.array(order))


def test_the_order_of_lines_plays_no_part() -> None:
    plain, shuffled = matrix(list(range(200))), matrix(np.random.default_rng(1).permutation(200).tolist())
    assert plain.segments == shuffled.segments
    assert plain.scores.tolist() == shuffled.scores.tolist()
    assert [SEGMENTS[row] for row in plain.row.tolist()] == list(plain.segments)


def test_a_tile_holds_the_segments_of_its_buckets() -> None:
    whole = matrix(list(range(200)))
    for bucket in (0, 17, N_BUCKETS - 1):
        tile = whole.tiles(bucket, bucket + 1)
        assert list(tile.segments) == sorted(name for name in SEGMENTS if bucket_of(name) == bucket)
        assert len(tile) == tile.offsets[-1] == tile.scores.shape[0]
    assert sum(len(whole.tiles(bucket, bucket + 1)) for bucket in range(N_BUCKETS)) == 200
    middle = whole.tiles(10, 20)
    assert middle.tiles(12, 13).segments == whole.tiles(12, 13).segments


def test_a_dataset_gives_back_any_range_of_tiles() -> None:
    whole = matrix(list(range(200)))
    dataset = score_matrix.to_dataset(whole, score_matrix.SegmentList(whole.segments), {"output_sha256": "0" * 64})
    assert dict(dataset.sizes) == {"trial": 200, "class": 3, "bucket_edge": N_BUCKETS + 1}
    assert all({"units", "long_name", "source"} <= set(array.attrs) for array in dataset.variables.values())
    for first, last in ((0, N_BUCKETS), (3, 9), (64, 64)):
        found, wanted = score_matrix.from_dataset(dataset, first, last), whole.tiles(first, last)
        assert (found.task, found.chosen_set, found.classes) == ("Plenty", "Open", ("A", "B", "OOS"))
        assert found.segments == wanted.segments
        assert found.scores.tolist() == wanted.scores.tolist()
        assert found.offsets.tolist() == wanted.offsets.tolist()
