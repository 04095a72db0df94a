"""What the page's script reads: columns to the last bit, curves to seven digits, the map as a picture."""

from __future__ import annotations

import base64
import json
import math
import zlib
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from pipeline.report.columns import DIGITS64, coded
from pipeline.report.page_data import _curve
from pipeline.report.plots.det import DetCurve
from pipeline.report.plots.pareto import LONGEST, MOST, placed
from pipeline.report.plots.query_map import data_url
from pipeline.report.plots.xy import Log

RULED = {
    "minus": lambda a, b, _: a - b,
    "over": lambda a, b, _: a / b,
    "over_rest": lambda a, b, by: a / (by - b),
    "value": lambda a, b, by: 1 - (a + by * b),
}
"""What the page's script knows."""
ANY = st.floats(width=64) | st.sampled_from([0.0, 1.0, -0.5, math.inf, -math.inf, math.nan])


def decoded(columns: dict, n_systems: int, name: str) -> np.ndarray:
    """A column as the script reads it from JSON."""
    column = columns[name]
    if "rule" in column:
        a, b = (decoded(columns, n_systems, other) for other in column["of"])
        with np.errstate(all="ignore"):
            return RULED[column["rule"]](a, b, column["by"])
    values = [{"inf": math.inf, "-inf": -math.inf, None: math.nan}.get(v, v) for v in column["values"]]
    rows = column["rows"] * n_systems if len(column["rows"]) == 1 else column["rows"]
    width = column["width"]
    places = [[row[at : at + width] for at in range(0, len(row), width)] for row in rows]
    numbers = [[sum(DIGITS64.index(d) * 64**k for k, d in enumerate(reversed(p))) for p in row] for row in places]
    return np.array(values, float)[np.array(numbers, int).reshape(n_systems, -1)]


def kws(n_trials: int = 36_000, weight: float = 999.9) -> dict[str, np.ndarray]:
    """Counts and rates by query as keyword search has them; the last query has no target."""
    rng = np.random.default_rng(3)
    target = np.broadcast_to(np.append(rng.integers(1, 60, 199), 0), (7, 200)).astype(float)
    hit, fa = rng.binomial(target.astype(int), 0.6).astype(float), rng.poisson(0.7, target.shape).astype(float)
    with np.errstate(invalid="ignore"):
        p_miss = (target - hit) / target
    p_fa = fa / (n_trials - target)
    names = ("n_target", "n_hit", "n_miss", "n_fa", "p_miss", "p_fa", "twv")
    return dict(zip(names, (target, hit, target - hit, fa, p_miss, p_fa, 1 - (p_miss + weight * p_fa)), strict=True))


def test_rates_follow_from_counts_and_cost_nothing():
    tables = kws()
    stored = json.loads(json.dumps(coded(tables), allow_nan=False))
    assert {name for name, column in stored.items() if "rule" in column} == {"n_miss", "p_miss", "p_fa", "twv"}
    assert stored["twv"]["by"] == 999.9
    for name, table in tables.items():
        np.testing.assert_array_equal(decoded(stored, 7, name), table)


@pytest.mark.parametrize("name", ["n_miss", "p_miss", "p_fa", "twv"])
def test_a_column_that_does_not_follow_to_the_last_bit_is_listed(name):
    tables = kws()
    tables[name] = tables[name].copy()
    tables[name][2, 5] = np.nextafter(tables[name][2, 5], 2.0)
    stored = json.loads(json.dumps(coded(tables), allow_nan=False))
    assert "rule" not in stored[name]
    np.testing.assert_array_equal(decoded(stored, 7, name), tables[name])


@given(st.lists(arrays(np.float64, (3, 9), elements=ANY), min_size=7, max_size=7))
def test_any_columns_read_back_to_the_same_numbers(made):
    tables = dict(zip(kws(), made, strict=True))
    stored = json.loads(json.dumps(coded(tables), allow_nan=False))
    for name, table in tables.items():
        np.testing.assert_array_equal(decoded(stored, 3, name), table)


def test_a_curve_has_seven_digits_and_its_values_follow_from_rates(made):
    from pipeline.report.board import read_run

    run = read_run(made[0])
    p_fa, p_miss = np.linspace(1e-7, 0.3, 50), np.linspace(0.9, 0.1, 50)
    threshold = np.append(np.linspace(9, -3, 49), np.nan)
    place = (run.systems[1], "dev", "eval")
    stored = _curve(run, place, DetCurve(p_miss, p_fa, 1 - (p_miss + 66.7 * p_fa), threshold))
    assert (stored["s"], stored["q"], stored["d"], stored["twv"]) == (1, "dev", "eval", 66.7)
    read = {n: np.frombuffer(base64.b64decode(stored[n]), "<f4") for n in ("p_miss", "p_fa", "threshold")}
    for name, column in {"p_miss": p_miss, "p_fa": p_fa, "threshold": threshold}.items():
        np.testing.assert_allclose(read[name], column, rtol=6e-8)
    other = _curve(run, place, DetCurve(p_miss, p_fa, np.sin(p_miss), np.full(50, np.nan)))
    assert isinstance(other["twv"], str)
    assert "threshold" not in other


def test_the_picture_has_a_pixel_a_cell_and_nothing_where_nothing_is():
    levels = np.array([[0, 1, -1], [1, 1, 0]])
    data = base64.b64decode(data_url(levels, ("#102030", "#a0b0c0")).partition(",")[2])
    chunks, at = {}, 8
    while at < len(data):
        length = int.from_bytes(data[at : at + 4], "big")
        name, body = data[at + 4 : at + 8], data[at + 8 : at + 8 + length]
        assert int.from_bytes(data[at + 8 + length : at + 12 + length], "big") == zlib.crc32(name + body)
        chunks[name], at = body, at + 12 + length
    assert list(chunks) == [b"IHDR", b"PLTE", b"tRNS", b"IDAT", b"IEND"]
    rows = np.frombuffer(zlib.decompress(chunks[b"IDAT"]), np.uint8).reshape(2, 4)[:, 1:]
    assert rows.tolist() == (levels + 1).tolist()
    assert chunks[b"PLTE"][3:] == bytes.fromhex("102030a0b0c0")
    assert chunks[b"tRNS"] == b"\0"


def test_names_beside_points_meet_nothing_and_stay_inside():
    points = [(60.0, 50.0, "alpha", 0), (62.0, 52.0, "beta", 1), (430.0, 50.0, "g" * 40, 2), (300.0, 12.0, "d", 3)]
    notes = placed(points, (58.0, 12.0, 440.0, 274.0))
    assert {note.style for note in notes} >= {0, 2}
    long = next(note for note in notes if note.style == 2)
    assert (long.anchor, len(long.text)) == ("end", LONGEST)
    assert placed(points * MOST, (0, 0, 9e9, 9e9)) == ()


@pytest.mark.parametrize(("low", "high"), [(22.0, 51.0), (0.9, 700.0), (1e-3, 1e4), (80.0, 81.0), (3.0, 3.7)])
def test_a_logarithmic_axis_has_three_ticks_at_least_and_they_do_not_touch(low, high):
    told = [tick for tick in Log(low, high, 58.0, 426.0).ticks if tick.text]
    assert len(told) >= 3
    assert all(b.at - a.at >= 18 for a, b in pairwise(told))
