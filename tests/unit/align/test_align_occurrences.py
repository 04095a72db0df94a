"""Mappings small enough to be worked out by hand."""

from __future__ import annotations

import math

import numpy as np
import pytest

from pipeline.align.occurrences import align_occurrences
from pipeline.errors import UsageError
from tests.unit.align.align_tiles import Detection, Reference, detection, occurrences, pairs, reference, trials

HEADER = (0.0, 1.0)


def mapped(detections: list[Detection], references: list[Reference], **settings) -> dict[int, int]:
    settings = {"tolerance_s": 0.5, "score_range": "group", **settings}
    return pairs(align_occurrences(trials(detections), occurrences(references), **settings))


class TestReach:
    """Mid point within the tolerance of the occurrence, borders included."""

    @pytest.mark.parametrize(
        ("middle", "allowed"), [(9.5, True), (11.0, True), (10.25, True), (9.49, False), (11.01, False)]
    )
    def test_borders_are_inclusive(self, middle, allowed):
        assert bool(mapped([detection(middle - 0.25, 0.5, 0.9)], [reference(10.0, 10.5)])) is allowed

    def test_the_tolerance_is_a_setting(self):
        far = [detection(11.25, 0.5, 0.9)]
        assert mapped(far, [reference(10.0, 10.5)], tolerance_s=1.0) == {0: 0}
        assert mapped(far, [reference(10.0, 10.5)], tolerance_s=0.99) == {}

    def test_the_border_is_the_double_of_begin_minus_tolerance(self):
        border = 0.7 - 0.5
        assert border < 0.2
        assert mapped([detection(border, 0.0, 0.9)], [reference(0.7, 0.9)]) == {0: 0}
        assert mapped([detection(math.nextafter(border, 0.0), 0.0, 0.9)], [reference(0.7, 0.9)]) == {}

    def test_only_the_mid_point_counts(self):
        assert mapped([detection(0.0, 20.0, 0.9)], [reference(10.0, 10.5)]) == {0: 0}
        assert mapped([detection(10.2, 4.0, 0.9)], [reference(10.0, 10.5)]) == {}

    def test_a_duration_may_be_zero_or_negative(self):
        assert mapped([detection(10.2, 0.0, 0.9)], [reference(10.0, 10.5)]) == {0: 0}
        assert mapped([detection(10.2, -0.4, 0.9)], [reference(10.0, 10.5)]) == {0: 0}

    @pytest.mark.parametrize("at", ["q2 f 1", "q f2 1", "q f 2"])
    def test_query_file_and_channel_must_be_the_same(self, at):
        assert mapped([detection(10.0, 0.5, 0.9, at=at)], [reference(10.0, 10.5)]) == {}

    def test_names_are_compared_and_not_their_numbers(self):
        detections = [detection(10.0, 0.5, 0.9, at="b y 2"), detection(10.0, 0.5, 0.9, at="a x 1")]
        references = [reference(10.0, 10.5, at="b y 2"), reference(10.0, 10.5, at="c y 2")]
        assert mapped(detections, references) == {0: 0}


class TestObjective:
    """Most pairs, then score, then overlap."""

    def test_more_pairs_beat_a_better_pair(self):
        # The first detection reaches both occurrences, the second only the first occurrence.
        detections = [detection(10.5, 0.2, 0.9), detection(9.6, 0.2, 0.1)]
        assert mapped(detections, [reference(10.0, 10.2), reference(11.0, 11.2)]) == {0: 1, 1: 0}

    def test_the_higher_score_is_mapped_and_takes_the_reference_from_a_yes(self):
        detections = [detection(10.0, 0.5, 0.4, "YES"), detection(10.1, 0.5, 0.8, "NO")]
        assert mapped(detections, [reference(10.0, 10.5)]) == {1: 0}

    def test_one_detection_between_two_occurrences_takes_the_one_it_overlaps_more(self):
        assert mapped([detection(10.3, 0.4, 0.9)], [reference(10.0, 10.4), reference(10.4, 10.8)]) == {0: 1}

    def test_within_the_range_of_the_group_a_small_difference_of_scores_decides(self):
        detections = [detection(10.0, 0.5, 0.5), detection(10.6, 0.5, 0.500001)]
        assert mapped(detections, [reference(10.0, 10.5)]) == {1: 0}

    def test_within_a_wide_range_overlap_outweighs_a_small_difference_of_scores(self):
        detections = [detection(10.0, 0.5, 0.5), detection(10.6, 0.5, 0.505)]
        assert mapped(detections, [reference(10.0, 10.5)], score_range=HEADER) == {0: 0}
        detections[1] = detection(10.6, 0.5, 0.52)
        assert mapped(detections, [reference(10.0, 10.5)], score_range=HEADER) == {1: 0}

    def test_the_range_of_the_keyword_reaches_over_files(self):
        detections = [detection(10.0, 0.5, 0.5), detection(10.6, 0.5, 0.505), detection(0.0, 1.0, 9.5, at="q g 1")]
        assert mapped(detections, [reference(10.0, 10.5)], score_range="group") == {1: 0}
        assert mapped(detections, [reference(10.0, 10.5)], score_range="keyword") == {0: 0}

    def test_the_range_of_a_group_holds_detections_out_of_reach(self):
        detections = [detection(10.0, 0.5, 0.5), detection(10.6, 0.5, 0.505), detection(90.0, 1.0, 9.5)]
        assert mapped(detections, [reference(10.0, 10.5)]) == {0: 0}

    def test_the_floor_widens_a_narrow_range(self):
        detections = [detection(10.0, 0.5, 0.5), detection(10.6, 0.5, 0.5 + 1e-7)]
        assert mapped(detections, [reference(10.0, 10.5)], floor=0.0) == {1: 0}
        assert mapped(detections, [reference(10.0, 10.5)], floor=1e-5) == {0: 0}

    def test_of_equal_detections_one_is_mapped(self):
        assert len(mapped([detection(10.0, 0.5, 0.9)] * 3, [reference(10.0, 10.5)])) == 1

    def test_equal_references_each_need_a_detection(self):
        detections = [detection(10.0, 0.5, 0.9), detection(10.0, 0.5, 0.2), detection(10.0, 0.5, 0.5)]
        assert set(mapped(detections, [reference(10.0, 10.5)] * 2)) == {0, 2}


class TestTies:
    """Equal sums: higher score, earlier begin, shorter duration, YES before NO."""

    @pytest.mark.parametrize(
        ("preferred", "other"),
        [
            (detection(10.0, 0.5, 0.9, "YES"), detection(10.0, 0.5, 0.9, "NO")),
            (detection(9.5, 1.5, 0.9, "NO"), detection(9.6, 1.4, 0.9, "YES")),
            (detection(10.0, 0.6, 0.9, "NO"), detection(10.0, 0.7, 0.9, "YES")),
        ],
        ids=["YES before NO", "earlier begin", "shorter duration"],
    )
    def test_of_two(self, preferred, other):
        assert mapped([preferred, other], [reference(10.0, 10.5)]) == {0: 0}
        assert mapped([other, preferred], [reference(10.0, 10.5)]) == {1: 0}

    def test_a_score_that_overlap_makes_up_for_exactly(self):
        # 0.002 of score is worth 2e-9, and so is 0.2 of overlap: [10.1, 10.6] covers 0.8 of what [10, 10.5] covers.
        whole, later = detection(10.0, 0.5, 0.500), detection(10.1, 0.5, 0.502)
        assert mapped([whole, later], [reference(10.0, 10.5)], score_range=HEADER) == {1: 0}
        less = detection(10.1, 0.5, 0.502 - 1e-9)
        assert mapped([whole, less], [reference(10.0, 10.5)], score_range=HEADER) == {0: 0}

    def test_along_a_chain(self):
        # a reaches r1, b both, c and d r2, all equally well: the earliest two go, and of equally late ones the YES.
        a, b, c, d = (detection(begin, 0.0, 0.5) for begin in (1.0, 2.0, 3.0, 3.0))
        no = detection(3.0, 0.0, 0.5, "NO")
        references = [reference(1.0, 2.0), reference(2.0, 3.0)]
        assert mapped([c, b, a], references, tolerance_s=0.0) == {2: 0, 1: 1}
        assert mapped([no, d, b], references, tolerance_s=0.0) == {2: 0, 1: 1}

    def test_a_tied_detection_further_along_makes_room_for_a_preferred_one(self):
        # Three of four may go. Overlap is 0 everywhere (no durations), the score is the same: the last begin stays out.
        times = [3.0, 2.0, 1.0, 4.0]
        detections = [detection(begin, 0.0, 0.5) for begin in times]
        references = [reference(1.0, 2.0), reference(2.0, 3.0), reference(3.0, 4.0)]
        assert set(mapped(detections, references, tolerance_s=0.0)) == {0, 1, 2}

    def test_score_before_overlap_where_two_references_compete(self):
        # z goes to r1. For r2 remain x, which covers it whole, and y, which misses it and scores 0.01 more: both are
        # worth 1e-8 above what they share.
        x, y, z = detection(0.3, 0.6, 0.21), detection(0.9, 0.5, 0.22), detection(0.4, 0.3, 0.56)
        assert mapped([y, z, x], [reference(0.4, 0.5), reference(0.6, 0.9)], score_range=HEADER) == {0: 1, 1: 0}

    def test_earlier_begin_where_two_references_compete(self):
        # All reach both references; b is nearest to the late one, and a and d cover the early one whole.
        a, b, d = detection(0.2, 0.5, 1.0), detection(1.1, 0.3, 1.0), detection(0.3, 0.3, 1.0)
        references = [reference(2.0, 2.3), reference(0.4, 0.5)]
        assert mapped([a, b, d], references, tolerance_s=2.0, score_range=HEADER) == {0: 1, 1: 0}

    def test_preference_never_costs_weight(self):
        # Two references of the same span: a covers them whole, yes and no reach them late with a little more score. The
        # tie is between yes and no; that both are preferred to a must not drive out a, which is worth more.
        a, yes = detection(10.0, 1.0, 0.5), detection(10.8, 1.0, 0.505)
        no = detection(10.8, 1.0, 0.505, "NO")
        references = [reference(10.0, 11.0), reference(10.0, 11.0), reference(11.5, 12.0)]
        detections = [no, a, detection(12.2, 0.4, 0.9), yes]
        assert set(mapped(detections, references, score_range=HEADER)) == {1, 2, 3}

    def test_one_detection_and_two_equally_good_references_go_by_begin(self):
        references = [reference(10.5, 11.0), reference(10.0, 10.5)]
        assert mapped([detection(10.25, 0.5, 0.9)], references) == {0: 1}


class TestInfiniteScores:
    @pytest.mark.parametrize("score_range", ["group", "keyword", HEADER, (math.nan, math.nan)])
    def test_they_are_the_ends_of_the_order(self, score_range):
        detections = [detection(10.0, 0.5, score) for score in (0.0, -math.inf, 1.0, math.inf)]
        assert mapped(detections, [reference(10.0, 10.5)], score_range=score_range) == {3: 0}
        assert mapped(detections[:2], [reference(10.0, 10.5)], score_range=score_range) == {0: 0}
        assert mapped(detections[1:2], [reference(10.0, 10.5)], score_range=score_range) == {0: 0}

    def test_they_leave_the_range_of_the_finite_ones_alone(self):
        detections = [detection(10.0, 0.5, 0.5), detection(10.6, 0.5, 0.505), detection(90.0, 0.5, math.inf)]
        assert mapped(detections, [reference(10.0, 10.5)]) == {1: 0}


class TestRows:
    """What takes part, and how the result names it."""

    def test_result_names_rows_of_the_tile(self):
        detections = [detection(50.0, 0.5, 0.9), detection(10.0, 0.5, 0.9), detection(20.0, 0.5, 0.9)]
        references = [reference(30.0, 30.5), reference(20.0, 20.5), reference(10.0, 10.5), reference(5.0, 5.5)]
        aligned = align_occurrences(trials(detections), occurrences(references), tolerance_s=0.5, score_range="group")
        assert aligned.kept.tolist() == [0, 1, 2]
        assert aligned.reference.tolist() == [-1, 2, 1]
        assert aligned.target.tolist() == [False, True, True]
        assert aligned.omitted.tolist() == [0, 3]
        assert {column.dtype for column in (aligned.kept, aligned.reference, aligned.omitted)} == {np.dtype(np.int64)}

    @pytest.mark.parametrize("as_mask", [True, False])
    def test_rows_left_out_appear_nowhere(self, as_mask):
        detections = [detection(10.0, 0.5, 0.9), detection(10.1, 0.5, 0.4), detection(60.0, 0.5, 0.7)]
        references = [reference(10.0, 10.5), reference(10.2, 10.6), reference(40.0, 40.5)]
        trial_rows, reference_rows = np.array([False, True, True]), np.array([False, True, True])
        aligned = align_occurrences(
            trials(detections),
            occurrences(references),
            tolerance_s=0.5,
            score_range="group",
            trial_rows=trial_rows if as_mask else np.flatnonzero(trial_rows),
            reference_rows=reference_rows if as_mask else np.flatnonzero(reference_rows),
        )
        assert aligned.kept.tolist() == [1, 2]
        assert aligned.reference.tolist() == [1, -1]
        assert aligned.omitted.tolist() == [2]
        assert reference_rows.tolist() == [False, True, True]

    @pytest.mark.parametrize("score_range", ["group", "keyword"])
    def test_rows_left_out_are_in_no_score_range(self, score_range):
        detections = [detection(10.0, 0.5, 0.5), detection(10.6, 0.5, 0.505), detection(90.0, 1.0, 9.5)]
        kept = np.array([True, True, False])
        assert mapped(detections, [reference(10.0, 10.5)], score_range=score_range, trial_rows=kept) == {1: 0}

    def test_empty_tiles(self):
        none = align_occurrences(trials([]), occurrences([]), tolerance_s=0.5, score_range="keyword")
        assert (none.kept.size, none.reference.size, none.omitted.size) == (0, 0, 0)
        silent = align_occurrences(trials([]), occurrences([reference(1, 2)]), tolerance_s=0.5, score_range="group")
        assert (silent.kept.size, silent.omitted.tolist()) == (0, [0])
        no_key = align_occurrences(trials([detection(1, 1, 1)]), occurrences([]), tolerance_s=0.5, score_range="group")
        assert (no_key.kept.tolist(), no_key.reference.tolist()) == ([0], [-1])

    def test_an_unknown_score_range_is_refused(self):
        with pytest.raises(UsageError, match=r"score_range is 'file', allowed: group \| keyword"):
            mapped([detection(10.0, 0.5, 0.9)], [reference(10.0, 10.5)], score_range="file")

    def test_times_beyond_all_bounds_are_out_of_reach(self):
        detections = [detection(1.7e308, 1.7e308, 0.5), detection(-1e308, 1e307, 0.5), detection(-8e307, 1.6e308, 0.2)]
        assert mapped(detections, [reference(0.0, 0.0), reference(0.0, 1.0)]) in ({2: 0}, {2: 1})
