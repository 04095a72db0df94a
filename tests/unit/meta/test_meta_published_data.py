"""Figures that were published, computed again from the published tables."""

from __future__ import annotations

import csv
import os
from collections.abc import Callable
from itertools import combinations
from pathlib import Path

import numpy as np
import pytest

from pipeline.meta.difficulty import unit_table
from pipeline.meta.intervals import Resampling, board_of
from pipeline.meta.published import read_published
from pipeline.meta.ranks import agreement, between_boards, by_board, orders
from pipeline.meta.rows import Row
from pipeline.meta.study import PublishedTable
from pipeline.metrics.statistics.resampling import Ratios
from pipeline.metrics.stt.significance import wilcoxon

ROOT = Path(__file__).parents[3]


@pytest.fixture
def table(require: Callable[[str, object, str], None]) -> Callable[[str], Path]:
    """Finds a published table (RESCORE_DATA, else beside the repository)."""
    folder = Path(os.environ.get("RESCORE_DATA") or ROOT.parent / "shared" / "data")

    def find(name: str) -> Path:
        require("data", (folder / name).is_file(), f"{folder / name} is not there")
        return folder / name

    return find


def read(path: Path, **how: object) -> tuple[Row, ...]:
    with path.open("rb") as stream:
        return read_published(stream, path.name, PublishedTable(str(path), **how))


def by_query(path: Path, features: str, dataset: str) -> Ratios:
    """Published figures of queries as a sample: their mean is the figure."""
    with path.open() as stream:
        rows = {r["query"]: float(r["mtwv"]) for r in csv.DictReader(stream)
                if (r["features"], r["dataset"]) == (features, dataset)}  # fmt: skip
    names = tuple(sorted(rows))
    ones = np.ones((1, len(names)))
    return Ratios(names, 0.0, np.ones(1), np.array([[rows[name] for name in names]]), ones)


def test_agreement_of_54_systems_on_10_data_sets(table):
    rows = read(table("qbe_std_feats_all_mtwv.csv"), measures=("mtwv",), constants={"condition": "all"})
    found = between_boards(rows, ("mtwv",))
    taus = [row["tau_b"] for row in found]
    assert len(taus) == 45
    assert all(row["n_systems"] == 54 for row in found)
    assert np.mean(taus) == pytest.approx(0.631537, abs=5e-7)
    assert min(taus) == pytest.approx(0.379720, abs=5e-7)
    assert max(taus) == pytest.approx(0.846261, abs=5e-7)
    boards = list(by_board(rows).values())
    assert [agreement(orders(one), orders(other))["tau_b"] for one, other in combinations(boards, 2)] == taus


def test_a_published_difference_its_p_and_its_interval(table):
    path = table("qbe_std_feats_mtwv_by_queries.csv")
    names = {"L11": "20210225-Large-0FT_transformer-L11", "bnf": "bnf"}
    samples = {short: by_query(path, name, "gup-wat") for short, name in names.items()}
    board = board_of(("q", "gup-wat"), "mtwv", samples, Resampling(n_replicates=4000))
    (pair,) = board.comparisons
    assert (pair.first, pair.second) == ("L11", "bnf")
    assert pair.difference == pytest.approx(0.2481, abs=5e-5)
    # 0.176 and 0.321 were drawn too: both they and ours have a standard error of some 0.002 at their ends.
    assert pair.low == pytest.approx(0.176, abs=0.008)
    assert pair.high == pytest.approx(0.321, abs=0.008)
    values = unit_table(samples)[1].T
    assert wilcoxon(values[0], values[1]).value == pytest.approx(3.62e-8, rel=0.002)
    assert pair.p == pytest.approx(1 / 10_001)  # no exchange of 10,000 is as extreme
    assert board.ties == (("L11",), ("bnf",))


def test_figures_of_evaluations_join_as_published_rows(table):
    rows = read(table("published_results.csv"))
    assert {row.kind for row in rows} == {"published"}
    atwv = [row for row in rows if row.measure == "atwv"]
    assert [(row.year, row.value) for row in atwv if row.dataset == "SWS2013"] == [("2013", 0.40079603)]
    assert {row.measure for row in rows} == {"atwv", "mtwv", "mtwv_threshold", "cnxe", "min_cnxe_pav_input_order"}
    assert all(row.source and not np.isnan(row.value) for row in rows)
