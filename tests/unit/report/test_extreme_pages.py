"""Pages and intervals of outputs whose scores are as far apart as doubles allow: no fault and no warning."""

from __future__ import annotations

import json
import math
import random
from itertools import pairwise, product
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pipeline.config import load_evaluation
from pipeline.engine.cell import load_result, score_cell
from pipeline.engine.plan import plan
from pipeline.grid import gather
from pipeline.meta.comparable import mean
from pipeline.meta.intervals import Resampling, intervals_of
from pipeline.meta.rows import Row
from pipeline.report import render_page
from pipeline.report.plots.drawing import spanning
from pipeline.report.plots.linear import Linear, over, round_up
from pipeline.report.plots.rows import axis_of
from pipeline.store.blobs import Store
from tests.properties.extreme_scores import (
    CLASSES,
    DOCUMENTS,
    FILES,
    LARGEST,
    PLACES,
    QUERIES,
    SMALLEST,
    by_document,
    languages,
    multimedia,
    spoken,
)

POOLS = {
    "wide": (1e308, -1e308, LARGEST, -LARGEST, SMALLEST, 0.0, 1.5),
    "ends": (LARGEST, -LARGEST),
    "tiny": (SMALLEST, -SMALLEST, 2 * SMALLEST),
    "high": (1e308, 9e307),
}


def keyword_search(pool: tuple[float, ...], seed: int) -> dict[str, str]:
    """An evaluation whose key is always the same."""
    draw = random.Random(seed)
    key = [(query, file, place) for query in QUERIES for file in FILES for place in (0, 2)]
    found = [
        (*place, draw.choice([0.0, 0.1]), draw.choice(pool), draw.random() < 0.5)
        for place in product(QUERIES, FILES, PLACES)
        if draw.random() < 0.7
    ]
    return spoken(key, found)


def query_by_document(pool: tuple[float, ...], seed: int) -> dict[str, str]:
    """The same of whole documents."""
    draw = random.Random(seed)
    targets = [*zip(QUERIES, DOCUMENTS, strict=False)]
    return by_document(targets, {(q, d): draw.choice(pool) for q in QUERIES for d in DOCUMENTS})


def language_recognition(pool: tuple[float, ...], seed: int) -> dict[str, str]:
    """The same of languages."""
    draw, labels = random.Random(seed), [*CLASSES] * 3
    return languages(labels, [[draw.choice(pool) for _ in CLASSES] for _ in labels])


def multimedia_events(pool: tuple[float, ...], seed: int) -> dict[str, str]:
    """The same of events."""
    draw = random.Random(seed)
    return multimedia({e: [(draw.choice(pool), n % 3 == 0) for n in range(8)] for e in ("E1", "E2")}, (pool[0], 3.0))


SPOKEN = "datasets: {d: {ecf: ecf, rttm: rttm}}\nquery_sets: {q: {kwlist: kwlist}}\n"
EVALUATIONS = {
    "openkws13": (keyword_search, SPOKEN),
    "sws2013": (keyword_search, SPOKEN),
    "quesst": (query_by_document, SPOKEN),
    "albayzin-lre12": (language_recognition, "datasets: {d: {key: key}}\nquery_sets: {EO: {}}\n"),
    "med11": (
        multimedia_events,
        "settings: {score_range: any, columns: none}\ndatasets: {d: {ref: ref, index: index}}\nquery_sets: {q: {}}\n",
    ),
}
MEASURES = {"albayzin-lre12": ("c_mce", "f_act", "ln_f_act"), "med11": ("min_ndc", "ap")}


@pytest.mark.parametrize("name", EVALUATIONS)
def test_pages_and_intervals_of_extreme_scores(name: str, tmp_path: Path) -> None:
    make, text = EVALUATIONS[name]
    outputs = ("detection", "threshold") if name == "med11" else ("output",)
    for seed, (system, pool) in enumerate(POOLS.items()):
        for role, content in make(pool, seed).items():
            place = tmp_path / (f"{role}-{system}" if role in outputs else role)
            place.write_text(content)
    pattern = "{" + ", ".join(f"{role}: '{role}-{{system}}'" for role in outputs) + "}"
    pattern = pattern if len(outputs) > 1 else f"'{outputs[0]}-{{system}}'"
    (tmp_path / "evaluation.yaml").write_text(f"name: far\nprotocol: {name}\n{text}systems: {{pattern: {pattern}}}\n")
    store = Store(str(tmp_path / "store"))
    planned = plan(load_evaluation(str(tmp_path / "evaluation.yaml")), store)
    results = [load_result(store, score_cell(store, planned, job.cell)) for job in planned.jobs]
    assert {result.failed for result in results} == {None}
    grid = {part: group.assign_attrs(run="0123") for part, group in gather(planned, results).items()}
    page = render_page(grid, results)
    assert all(system in page for system in POOLS)
    assert "NaN" not in page.partition("<script")[0]
    for measure in MEASURES.get(name, ("cnxe", "atwv", "mtwv")):
        for board in intervals_of(store, planned, measure, Resampling(n_replicates=50), results):
            for one in board.intervals.values():
                assert math.isnan(one.low) == math.isnan(one.high) == (one.reason is not None)
                assert math.isfinite(one.low) or one.reason


ENDS = st.lists(st.floats(allow_nan=False, allow_infinity=False), min_size=1, max_size=4)


@given(ENDS)
def test_axes_hold_any_finite_values(values: list[float]) -> None:
    made = (over(values, 0.0, 100.0), axis_of(values), spanning(values, 0.0, 100.0))
    for axis in made:
        assert isinstance(axis, Linear)
        assert axis.low < axis.high
        pixels = [axis.on(value) for value in sorted(values)]
        assert all(axis.start <= pixel <= axis.end for pixel in pixels)
        assert all(one <= other for one, other in pairwise(pixels))
        assert axis.at(np.array(sorted(values))).tolist() == pytest.approx(pixels, abs=0.11)
        assert len(axis.ticks) < 14
    top = round_up(max(values))
    assert 0.0 < top < math.inf


@pytest.mark.parametrize(
    ("values", "expected", "reason"),
    [
        ((1e308, LARGEST), 0.5e308 + LARGEST / 2, ""),
        ((math.inf, 1.0), math.inf, ""),
        ((math.inf, -math.inf), math.nan, "infinite"),
        ((1.0, 2.0, 6.0), 3.0, ""),
    ],
)
def test_means_of_figures_of_any_size(values: tuple[float, ...], expected: float, reason: str) -> None:
    rows = [Row("e", system=f"s{at}", measure="cnxe", value=value) for at, value in enumerate(values)]
    found = mean(rows)
    assert found.value == pytest.approx(expected, rel=1e-15, nan_ok=True)
    assert found.reason == reason


def test_thresholds_beyond_short_floats_are_long_ones() -> None:
    from pipeline.report.page_data import _floats

    assert isinstance(_floats(np.array([1.0, math.nan, -3e38])), str)
    for column in ([1e308, 1.0], [SMALLEST, 1.0], [-1e39, math.nan]):
        assert json.dumps(found := _floats(np.array(column))).startswith('{"f8"')
        assert isinstance(found, dict)
