"""Score rows: a multiset that adds up, in one canonical form, and comes back from its bytes."""

from __future__ import annotations

import numpy as np
import pytest

from pipeline.partials.score_rows import ScoreRows
from tests.partial_bits import bits_of, sent

COLUMNS = ("Basque", "OOS")


def rows(*entries: tuple[str, float, float]) -> ScoreRows:
    labels = ("OOS", "-", "Basque", "never")
    codes = np.array([labels.index(entry[0]) for entry in entries], np.int32)
    return ScoreRows.of(COLUMNS, labels, codes, np.array([entry[1:] for entry in entries]).reshape(-1, 2))


def test_equal_rows_are_counted_and_sorted() -> None:
    made = rows(("OOS", 1, 2), ("Basque", 3, -1), ("OOS", 1, -2), ("OOS", 1, 2), ("Basque", -0.0, 0))
    assert made.labels == ("Basque", "OOS")
    assert made.label.tolist() == [0, 0, 1, 1]
    assert made.scores.tolist() == [[0, 0], [3, -1], [1, -2], [1, 2]]
    assert made.count.tolist() == [1, 1, 1, 2]
    assert not np.signbit(made.scores[0]).any()
    assert made.n_by_label() == {"Basque": 2, "OOS": 3}


def test_addition_is_that_of_multisets() -> None:
    left, right = rows(("OOS", 1, 2), ("-", 0, 0)), rows(("Basque", 0, 0), ("OOS", 1, 2))
    both = rows(("-", 0, 0), ("OOS", 1, 2), ("OOS", 1, 2), ("Basque", 0, 0))
    assert left + right == right + left == both
    assert (left + right).count.tolist() == [1, 1, 2]
    assert left + ScoreRows() == ScoreRows() + left == left
    assert left + rows() == left
    assert left != right


def test_rows_of_other_classes_do_not_add_up() -> None:
    other = ScoreRows.of(("Basque",), ("Basque",), np.zeros(1, np.int32), np.ones((1, 1)))
    with pytest.raises(ValueError, match="other classes"):
        rows(("OOS", 1, 2)) + other


@pytest.mark.parametrize("scores", [np.full((1, 2), np.nan), np.full((1, 2), np.inf), np.zeros((1, 3))])
def test_scores_must_be_finite_and_fit(scores: np.ndarray) -> None:
    with pytest.raises(ValueError, match="finite scores"):
        ScoreRows.of(COLUMNS, ("OOS",), np.zeros(1, np.int32), scores)


@pytest.mark.parametrize("made", [ScoreRows(), rows(), rows(("OOS", 1e-300, -1e100), ("-", 3, 4), ("-", 3, 4))])
def test_another_process_gets_the_same_rows(made: ScoreRows) -> None:
    kept = sent(made)
    assert kept == made
    assert bits_of(kept) == bits_of(made)
    assert kept + rows(("OOS", 0, 0)) == made + rows(("OOS", 0, 0))
