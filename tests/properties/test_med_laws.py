"""Laws of MED scoring: partials add up, order does not show, and figures equal those of a plain calculation."""

from __future__ import annotations

import contextlib
import csv
import io
import math
from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pipeline.engine.inputs import READERS
from pipeline.errors import InputError
from pipeline.partials.event_outcomes import Declared, EventOutcomes
from pipeline.partials.merge import merge_tree
from pipeline.partials.tie_order import TieOrder
from pipeline.protocols import find
from pipeline.protocols.base import DRAWN, Conclusion
from tests.partial_bits import bits_of, sent
from tests.properties.few_rows import few_rows_at_once

SCORES = st.sampled_from([0.0, 0.125, 0.25, 0.5, 0.75, 1.0])
ROLES = ("index", "ref", "clipmd", "eventdb", "judgement", "detection", "threshold")

rows = st.lists(st.tuples(SCORES, st.booleans()), min_size=1, max_size=12)
events = st.dictionaries(st.sampled_from(["E1", "E2", "E3", "É"]), rows, min_size=1)


def _table(role: str, header: str, lines: list[tuple[Any, ...]]) -> Any:
    text = io.StringIO()
    csv.writer(text, quoting=csv.QUOTE_ALL, lineterminator="\n").writerows([header.split(","), *lines])
    return READERS[f"med_{role}"](io.BytesIO(text.getvalue().encode()), role)


def _tables(made: dict[str, list[tuple[float, bool]]], order: list[int] | None = None) -> dict[str, Any]:
    trials = [(f"{n:02d}.{e}", e, score, target) for e, rows in made.items() for n, (score, target) in enumerate(rows)]
    placed = [trials[at] for at in order] if order else trials
    return {
        "index": _table("index", "TrialID,ClipID,EventID", [(t, t[:2], e) for t, e, _, _ in placed]),
        "ref": _table("ref", "TrialID,Targ", [(t, "y" if target else "n") for t, _, _, target in placed]),
        "detection": _table("detection", "TrialID,Score", [(t, score) for t, _, score, _ in placed]),
        "threshold": _table("threshold", "EventID,DetectionThreshold,DetectionTPT", [(e, 0.5, 1) for e in made]),
    }


def _outcomes(
    tables: dict[str, Any], buckets: list[int] | None = None, **settings: Any
) -> tuple[Any, EventOutcomes, Any]:
    protocol = find("med11", overrides=settings)
    family = protocol.family
    reference = family.refer(protocol, tables)
    laid, _ = family.lay_out(protocol, tables, reference.timeline)
    trials = laid.whole()
    edges = sorted({0, 64, *(buckets or ())})
    parts = [
        family.counted(protocol, trials.tiles(first, last), reference.key.tiles(first, last), reference)
        for first, last in pairwise(edges)
    ]
    return protocol, merge_tree(parts, EventOutcomes()), reference


def _conclusion(tables: dict[str, Any], **settings: Any) -> Conclusion:
    protocol, total, reference = _outcomes(tables, **settings)
    return protocol.family.conclude(protocol, total, reference.facts, {"n_rows": len(tables["detection"].table)})


@given(events, st.sampled_from([1, 7]))
def test_figures_do_not_know_of_blocks(made, at_once):
    protocol, total, reference = _outcomes(_tables(made))
    given_ = protocol, total, reference.facts, {}
    whole, drawn = protocol.family.concluded(*given_), protocol.family.concluded(*given_, DRAWN)
    with few_rows_at_once(at_once):
        assert repr(protocol.family.concluded(*given_)) == repr(whole)
        assert repr(protocol.family.concluded(*given_, DRAWN)) == repr(drawn)


@given(events, st.lists(st.integers(1, 63), max_size=4), st.sampled_from(["id", "id_descending", "against"]))
def test_any_cut_into_tiles_gives_the_same_bytes(made, buckets, ties):
    tables = _tables(made)
    _, whole, _ = _outcomes(tables, tie_order=ties)
    _, cut, _ = _outcomes(tables, buckets, tie_order=ties)
    assert bits_of(whole) == bits_of(cut)
    assert bits_of(sent(whole)) == bits_of(whole)


@given(events, st.randoms(use_true_random=False))
def test_the_order_of_rows_does_not_show(made, random):
    order = list(range(sum(map(len, made.values()))))
    random.shuffle(order)
    assert bits_of(_outcomes(_tables(made))[1]) == bits_of(_outcomes(_tables(made, order))[1])


def _plain_ap(rows: list[tuple[float, bool]], key: Any) -> float:
    ranked = sorted(enumerate(rows), key=key)
    hits, total = 0, 0.0
    for place, (_, (_, target)) in enumerate(ranked, 1):
        if target:
            hits += 1
            total += hits / place
    return 100 * total / hits if hits else math.nan


KEYS = {
    "id": lambda entry: (-entry[1][0], entry[0]),
    "id_descending": lambda entry: (-entry[1][0], -entry[0]),
    "against": lambda entry: (-entry[1][0], entry[1][1]),
}


@pytest.mark.parametrize("ties", KEYS)
@given(made=events)
def test_average_precision_equals_a_plain_calculation(ties, made):
    seen = {block["id"]: block["ap"] for block in _conclusion(_tables(made), tie_order=ties).blocks}
    for event, rows in made.items():
        np.testing.assert_allclose(seen[event], _plain_ap(rows, KEYS[ties]), rtol=1e-13)


@given(events)
def test_minimum_cost_and_best_ro_equal_a_search_over_thresholds(made):
    for block in _conclusion(_tables(made)).blocks:
        rows = made[block["id"]]
        n_target = sum(target for _, target in rows)
        n_other = len(rows) - n_target
        costs, ros = [], []
        for threshold in {score for score, _ in rows}:
            miss = sum(target and score < threshold for score, target in rows)
            alarms = sum(not target and score >= threshold for score, target in rows)
            if n_target:
                ros.append(100 * (n_target - miss) / n_target - 1250 * (n_target - miss + alarms) / len(rows))
            if n_target and n_other:
                costs.append(miss / n_target + 12.4875 * alarms / n_other)
        np.testing.assert_allclose(block["min_ndc"], min(costs, default=math.nan), rtol=1e-13)
        np.testing.assert_allclose(block["max_ro"], max(ros, default=math.nan), rtol=1e-12, atol=1e-10)
        assert not block["ndc"] < block["min_ndc"] or 0.5 not in {score for score, _ in rows}


@given(events)
def test_the_point_at_the_error_ratio_lies_on_the_line(made):
    for block in _conclusion(_tables(made)).blocks:
        if not math.isnan(block["ndc_at_ter"]):
            assert math.isclose(block["p_md_at_ter"], 12.4875 * block["ndc_at_ter_p_fa"], abs_tol=1e-12)
            assert math.isclose(block["ndc_at_ter"], 2 * block["p_md_at_ter"], abs_tol=1e-12)


@given(events, st.data())
def test_a_target_that_is_missed_never_makes_a_system_better(made, data):
    tables = _tables(made)
    index = tables["index"].table.text("TrialID")
    gone = data.draw(st.sets(st.sampled_from(index), max_size=len(index) - 1))
    kept = np.array([trial not in gone for trial in tables["detection"].table.text("TrialID")])
    whole = {block["id"]: block for block in _conclusion(tables).blocks}
    text = tables["detection"].table
    fewer = [
        row
        for row, keep in zip(zip(text.text("TrialID"), text["Score"].tolist(), strict=True), kept, strict=True)
        if keep
    ]
    tables["detection"] = _table("detection", "TrialID,Score", fewer)
    for block in _conclusion(tables, missing_trials="miss", p_fa_trials="index").blocks:
        before = whole[block["id"]]
        assert (block["n_target"], block["n_nontarget"]) == (before["n_target"], before["n_nontarget"])
        assert block["n_miss"] >= before["n_miss"]


orders = st.lists(st.tuples(st.sampled_from("ab"), SCORES, st.integers(0, 5), st.booleans()), max_size=8)


def _order(rows: list[tuple[str, float, int, bool]]) -> TieOrder:
    names = tuple(dict.fromkeys(name for name, _, _, _ in rows))
    columns = list(zip(*rows, strict=True)) or [(), (), (), ()]
    return TieOrder.of(
        names,
        np.array([names.index(name) for name in columns[0]], np.int32),
        np.array(columns[1], np.float64),
        np.array(columns[2], np.int32),
        np.array(columns[3], np.bool_),
    )


@given(orders, orders, orders)
def test_orders_add_up_in_any_grouping(one, two, three):
    a, b, c = _order(one), _order(two), _order(three)
    assert a + b == b + a
    assert (a + b) + c == a + (b + c) == _order(one + two + three)
    assert sent(a) == a
    assert a + TieOrder() == a


def test_two_submissions_do_not_add_up():
    one, two = (EventOutcomes(declared={"E1": Declared(limit, math.nan)}) for limit in (0.5, 0.6))
    with pytest.raises(ValueError, match="declared in two ways"):
        one + two
    assert bits_of(one + one) == bits_of(one)


cells = st.text(st.characters(exclude_characters="\r\n\0", exclude_categories=("Cs",)), max_size=8)


@given(st.lists(st.tuples(cells, cells), min_size=1, max_size=6))
def test_what_a_csv_writer_quotes_is_read_back(pairs):
    lines = [(f"E{n}", *pair) for n, pair in enumerate(pairs)]
    table = _table("eventdb", "EventID,EventName,NOTE", lines).table
    assert list(zip(table.text("EventName"), table.text("NOTE"), strict=True)) == pairs


@pytest.mark.parametrize("role", ROLES)
@given(data=st.binary(max_size=60) | st.text('TrialIDScoreEventRank,"\n\r;01.5yn', max_size=60).map(str.encode))
def test_any_bytes_are_read_or_refused(role, data):
    with contextlib.suppress(InputError):  # anything else is a crash
        assert READERS[f"med_{role}"](io.BytesIO(data), role).table["line"].size
