"""Margins of the grid: numpy's figures of what is defined, to the last bits, whatever the order of cells."""

from __future__ import annotations

import math
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

import pipeline
from flows.steps import finish, score_here
from pipeline.config import load_evaluation
from pipeline.engine.plan import plan
from pipeline.grid import Run, gather, load_grid
from pipeline.grid.margins import SUMMARIES, summed_up
from pipeline.store.blobs import Store
from tests.unit.engine import grid_of_cells as cells
from tests.unit.grid.test_gather import plan as planned  # noqa: F401 - a fixture
from tests.unit.grid.test_gather import results as scored  # noqa: F401 - a fixture

FIGURES = st.floats(-1e308, 1e308) | st.sampled_from([math.nan, 0.0, -0.0, 5e-324, 1e308, -1e308])
GRIDS = arrays(np.float64, st.tuples(*[st.integers(1, 4)] * 3), elements=FIGURES)


def one_point(value: np.ndarray) -> np.ndarray:
    return np.zeros(value.shape, np.int64)


def exact_mean(values: list[float]) -> Fraction:
    return sum(map(Fraction, values), Fraction()) / len(values)


@given(GRIDS, st.integers(0, 2))
def test_summaries_are_those_of_numpy_over_what_is_defined(value: np.ndarray, axis: int) -> None:
    found, reasons = summed_up(value, one_point(value), axis)
    by_row = np.moveaxis(value, axis, -1)
    for place in np.ndindex(by_row.shape[:-1]):
        own = by_row[place][~np.isnan(by_row[place])]
        summary = dict(zip(SUMMARIES, found[(slice(None), *place)].tolist(), strict=True))
        told = reasons[(slice(None), *place)].tolist()
        assert summary["n"] == own.size
        if not own.size:
            assert all(math.isnan(summary[name]) for name in SUMMARIES[1:])
            assert told == ["", *["no_figures"] * 4]
            continue
        assert told == [""] * 5
        assert (summary["min"], summary["max"]) == (own.min(), own.max())
        with np.errstate(over="ignore"):
            median, mean = np.median(own / 4) * 4, np.mean(own / 64) * 64
        assert summary["median"] == pytest.approx(median, rel=1e-12, abs=1e-300)
        assert summary["mean"] == pytest.approx(mean, rel=1e-9, abs=1e-12 * np.abs(own).max())
        exact = exact_mean(own.tolist())
        assert abs(Fraction(summary["mean"]) - exact) <= abs(exact) * Fraction(2, 2**53) + Fraction(5e-324)


@given(GRIDS, st.integers(0, 2), st.randoms(use_true_random=False))
def test_no_order_of_cells_has_a_part_in_it(value: np.ndarray, axis: int, random: object) -> None:
    order = list(range(value.shape[axis]))
    random.shuffle(order)  # type: ignore[attr-defined]
    found, reasons = summed_up(value, one_point(value), axis)
    again, told = summed_up(np.take(value, order, axis), one_point(value), axis)
    assert found.tobytes() == again.tobytes()
    assert reasons.tolist() == told.tolist()


def test_figures_of_other_points_are_counted_and_nothing_else() -> None:
    value, points = np.array([[0.5, 0.7], [0.1, math.nan]]), np.array([[1, 2], [1, 2]])
    found, reasons = summed_up(value, points, 1)
    assert found[:, 0].tolist()[0] == 2
    assert np.isnan(found[1:, 0]).all()
    assert reasons[:, 0].tolist() == ["", *["other_point"] * 4]
    assert found[:, 1].tolist() == [1, 0.1, 0.1, 0.1, 0.1]
    assert summed_up(value, points, 0)[0][3].tolist() == [0.3, 0.7]


def test_infinities_are_summed_up_as_far_as_they_can_be() -> None:
    both = np.array([[math.inf, -math.inf, 1.0], [math.inf, 1.0, 2.0]])
    found, reasons = summed_up(both, one_point(both), 1)
    assert found[:3, 0].tolist() == [3, -math.inf, 1.0]
    assert math.isnan(found[3, 0])
    assert reasons[:, 0].tolist() == ["", "", "", "infinite", ""]
    assert found[:, 1].tolist() == [3, 1.0, 2.0, math.inf, math.inf]


@pytest.fixture(scope="module")
def done(tmp_path_factory: pytest.TempPathFactory) -> tuple[Store, Run]:
    folder = tmp_path_factory.mktemp("margins")
    path = cells.write(folder)
    text = path.read_text().replace("rttm: e.rttm", "rttm: e.rttm, settings: {c_fa: 2}")
    path.write_text(text)
    (folder / "out/good/resources.yaml").write_text("index: {cpu_s: 100}\nsearch: {cpu_s: 10}\n")
    store = Store(str(folder / "store"))
    made = plan(load_evaluation(str(path)), store)
    return store, finish(store, made, score_here(store, made, made.jobs))


def test_a_stored_grid_has_margins_with_units_and_sources(done: tuple[Store, Run]) -> None:
    store, run = done
    margins, root = pipeline.open_grid(store, run, "margins"), load_grid(store, run)[""]
    for name, variable in margins.variables.items():
        assert all(variable.attrs[told] for told in ("units", "long_name", "source")), name
    atwv = {"measure": "atwv", "condition": "all"}
    over = margins["over_query_set"].sel(**atwv, system="good", dataset="d")
    own = root["value"].sel(**atwv, system="good", dataset="d").values
    assert over.sel(summary="n").item() == own.size == 2
    assert over.sel(summary="mean").item() == math.fsum(own) / 2
    assert over.sel(summary="max").item() == own.max()
    over = margins["over_system"].sel(**atwv, query_set="p", dataset="d")
    assert over.sel(summary="min").item() == root["value"].sel(**atwv, query_set="p", dataset="d").min()


def test_datasets_of_other_costs_are_not_summed_up_but_their_load_is(done: tuple[Store, Run]) -> None:
    margins = pipeline.open_grid(*done, "margins")
    place = {"system": "good", "query_set": "p", "condition": "all", "measure": "atwv"}
    assert np.isnan(margins["over_dataset"].sel(**place, summary="mean").item())
    assert margins["over_dataset_reason"].sel(**place, summary="mean").item() == "other_point"
    assert margins["over_dataset"].sel(**place, summary="n").item() == 2
    loads = margins["over_dataset"].sel({**place, "measure": "isf"})
    own = pipeline.open_grid(*done)["value"].sel({**place, "measure": "isf"}).values
    assert loads.values.tolist() == [2, own.min(), math.fsum(own) / 2, math.fsum(own) / 2, own.max()]


def test_undefined_and_failed_cells_are_left_out_and_canaries_do_not_compete(planned: object, scored: list) -> None:  # noqa: F811
    systems = tuple(replace(one, canary=one.name == "b") for one in planned.systems)
    margins = gather(replace(planned, systems=systems), scored)["margins"]
    place = {"query_set": "q", "dataset": "d", "condition": "all"}
    atwv = margins["over_system"].sel(**place, measure="atwv")
    assert atwv.sel(summary=["n", "max"]).values.tolist() == [2, 0.5]
    assert margins["over_system_reason"].sel(**place, measure="mtwv", summary="mean").item() == "no_figures"
    assert margins["over_dataset"].sel(system="b", query_set="q", condition="all", measure="atwv")[1] == 0.75


def test_systems_that_are_all_canaries_have_no_margin(planned: object, scored: list) -> None:  # noqa: F811
    systems = tuple(replace(one, canary=True) for one in planned.systems)
    margins = gather(replace(planned, systems=systems), scored)["margins"]
    assert margins["over_system"].sel(summary="n").values.max() == 0
    assert set(margins["over_system_reason"].sel(summary="mean").values.ravel().tolist()) == {"no_figures"}
