from __future__ import annotations

import numpy as np

from pipeline.trials.keywords import counted_spans, repeated_findings, times_found

IDS = ("K10", "K2", "K1", "K3")
TEXTS = ("yes", "yes", "yes", "no")


def test_each_further_query_of_a_text_finds_it_once_more_in_the_order_of_ids() -> None:
    assert times_found(IDS, TEXTS) == [2, 3, 1, 1]
    assert times_found(IDS, ("yes", "Yes", "no", "so")) == [1, 1, 1, 1], "texts are compared as they stand"


def test_occurrences_are_repeated_whole() -> None:
    one = (np.array([1, 5]), np.array([2, 6]))
    twice, once = counted_spans([one, one], [2, 1])
    assert [rows.tolist() for rows in twice] == [[1, 5, 1, 5], [2, 6, 2, 6]]
    assert [rows.tolist() for rows in once] == [[1, 5], [2, 6]]


def test_a_warning_names_them() -> None:
    [finding] = repeated_findings(IDS, times_found(IDS, TEXTS))
    assert finding.code == "repeated_text"
    assert finding.message.startswith("K10, K2 have the text of another query")
    assert repeated_findings(IDS, [1, 1, 1, 1]) == ()
