from __future__ import annotations

from test_partials_ledger import ROWS, ledger

from pipeline.partials.ledger import Ledger
from pipeline.partials.outcomes import Outcomes
from pipeline.partials.tally import Tally


def test_counts_add_up_by_name_and_zeros_are_not_kept():
    total = Tally({"b": 2, "a": 1}) + Tally({"b": -2, "c": 5})
    assert total == Tally({"a": 1, "c": 5})
    assert list(total.counts) == ["a", "c"]
    assert (total["c"], total["never"]) == (5, 0)


def test_outcomes_add_part_by_part():
    left, right = Outcomes.of(ledger(ROWS[:3]), Tally({"a": 1})), Outcomes.of(ledger(ROWS[3:]), Tally({"a": 2}))
    total = left + right
    assert total == right + left == Outcomes.of(ledger(ROWS[:3]) + ledger(ROWS[3:]), Tally({"a": 3}))
    assert total + Outcomes() == total
    assert Outcomes() == Outcomes.of(Ledger.zero(), Tally())
