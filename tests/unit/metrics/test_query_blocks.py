"""Figures of each query."""

from __future__ import annotations

import math
from dataclasses import replace

import pytest
from metric_ledgers import cell, ledger, worked

from pipeline.metrics.kws import twv
from pipeline.terms import OperatingPoint


def test_block_of_a_scored_query():
    block = twv.blocks(worked())[1]
    counts = {"n_target": 2, "n_hit": 1, "n_miss": 1, "n_fa": 0, "n_correct_rejection": 1, "n_omitted": 1}
    rates = {"p_miss": 0.5, "p_fa": 0.0, "twv": 0.5, "twv_optimum": 0.5, "twv_optimum_threshold": 2.0}
    best = {"p_miss_optimum": 0.5, "p_fa_optimum": 0.0}
    assert block == {"id": "b", "text": "", **counts, **rates, **best, "twv_supremum": 0.5, "average_precision": 0.5}


def test_block_of_a_query_without_occurrences():
    block = twv.blocks(worked())[2]
    assert (block["n_target"], block["n_fa"], block["p_fa"]) == (0, 1, 1 / 52)
    for name in ("p_miss", "twv", "twv_optimum", "twv_supremum", "average_precision"):
        assert math.isnan(block[name])


def test_blocks_follow_the_query_list_with_its_texts():
    scored = worked()
    facts = replace(scored.facts, queries=("c", "a", "b"), texts={"a": "open sesame"})
    blocks = twv.blocks(replace(scored, facts=facts))
    assert [(block["id"], block["text"]) for block in blocks] == [("c", ""), ("a", "open sesame"), ("b", "")]
    assert blocks[1]["n_hit"] == 1


def test_queries_of_an_unscored_cell_still_have_their_counts():
    scored = cell(ledger("a", [("a", 1.0, False, True)]), 11, OperatingPoint(p_target=0.0))
    block = twv.blocks(scored)[0]
    assert (block["n_fa"], block["p_fa"]) == (1, pytest.approx(1 / 11))
    assert math.isnan(block["twv"])
