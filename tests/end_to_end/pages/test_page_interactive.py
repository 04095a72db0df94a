"""What the page's script does in a real browser: sort, filter, hover, drill down, hand out files."""

from __future__ import annotations

import csv
import io
import json
import math
import runpy
from pathlib import Path
from typing import Any

import pytest
from browsing import MADE_GRID, Visit, until

from pipeline.report import render_page

DISCLOSURE = MADE_GRID.parent / "test_disclosure.py"


@pytest.fixture(scope="module")
def grid_of_queries(made: dict[str, Any]) -> Any:
    """Grid and results with queries by system, from a seeded generator."""
    import numpy as np
    import xarray as xr

    grid, results = made["make_grid"](made["TIDY"])
    rng, n = np.random.default_rng(5), 30
    value = rng.integers(0, 5, (6, 2, 2, n, 3)).astype(float)
    value[..., 2] = rng.normal(0.5, 0.4, (6, 2, 2, n))
    value[..., 0] = rng.integers(1, 9, (1, 2, 2, n))
    grid["queries"] = xr.Dataset(
        {
            "value": (("system", "query_set", "dataset", "query", "count"), value),
            "text": ("query", [f"{'long ' * (k % 4)}text {k}" for k in range(n)]),
        },
        coords={
            "system": list(made["TIDY"]),
            "query_set": ["dev", "eval"],
            "dataset": ["dev", "eval"],
            "query": [f"Q-{k:02d}" for k in range(n)],
            "count": ["n_target", "n_fa", "twv"],
        },
    )
    return grid, results


@pytest.fixture(scope="module")
def page_file(grid_of_queries: Any, tmp_path_factory: pytest.TempPathFactory) -> Path:
    file = tmp_path_factory.mktemp("page") / "index.html"
    file.write_text(render_page(*grid_of_queries), encoding="utf-8")
    return file


def column(page: Any, at: int) -> list[str]:
    """The texts of one column of the first board, from the top."""
    rows = page.locator(f"article[aria-labelledby=board-1] table.sortable tbody tr:not(.off) > :nth-child({at})")
    return [" ".join(text.split()) for text in rows.all_inner_texts()]


def values(page: Any, at: int) -> list[float]:
    """The machine-readable figures of one column of the first board, from the top; NaN where there is none."""
    cells = page.locator(f"article[aria-labelledby=board-1] table.sortable tbody tr:not(.off) > :nth-child({at})")
    found = cells.evaluate_all("all => all.map(one => one.querySelector('data')?.value ?? null)")
    return [math.nan if value is None else float(value) for value in found]


def pixels(page: Any, url: str) -> list[int]:
    """The pixels of a picture, as the browser draws it."""
    script = """async url => { const image = new Image(); image.src = url; await image.decode();
        const canvas = document.createElement('canvas'); [canvas.width, canvas.height] = [image.width, image.height];
        const context = canvas.getContext('2d'); context.drawImage(image, 0, 0);
        return [image.width, ...context.getImageData(0, 0, image.width, image.height).data]; }"""
    found: list[int] = page.evaluate(script, url)
    return found


def test_boards_sort_by_mouse_and_keyboard_in_the_better_direction(browser, page_file):
    with Visit(browser, page_file) as visit:
        table = visit.page.locator("article[aria-labelledby=board-1] table.sortable")
        p_miss = table.locator("thead th").nth(5)
        p_miss.locator("button").click()
        assert p_miss.get_attribute("aria-sort") == "ascending"  # lower is better
        assert values(visit.page, 6) == sorted(values(visit.page, 6))
        atwv = table.locator("thead th").nth(2)
        atwv.locator("button").focus()
        visit.page.keyboard.press("Enter")
        assert atwv.get_attribute("aria-sort") == "descending"
        assert values(visit.page, 3) == sorted(values(visit.page, 3), reverse=True)
        visit.page.keyboard.press("Space")
        assert values(visit.page, 3) == sorted(values(visit.page, 3))
        assert visit.complaints == []


def test_failed_systems_stay_last_however_a_board_is_sorted(browser, page_file):
    with Visit(browser, page_file) as visit:
        table = visit.page.locator("article[aria-labelledby=board-3] table.sortable")
        for at in (1, 2, 2):
            table.locator("thead th").nth(at).locator("button").click()
            assert "failed" in table.locator("tbody tr").last.get_attribute("class")


def test_filters_work_by_mouse_and_keyboard(browser, page_file):
    with Visit(browser, page_file) as visit:
        page = visit.page
        assert len(column(page, 2)) == 6
        page.get_by_label("contrastive").check()
        assert [name.split()[0] for name in column(page, 2)] == ["gtts-phone-lattice"]
        assert page.locator("#filter-told").inner_text() == "1 of 6 systems shown"
        page.get_by_label("contrastive").focus()
        page.keyboard.press("ArrowLeft")
        assert len(column(page, 2)) == 5
        page.get_by_label("all systems").check()
        page.get_by_label("Name or team").focus()
        page.keyboard.type("upv/ehu")
        assert len(column(page, 2)) == 2
        assert page.locator("svg.det").first.locator("path.curve:not(.off)").count() == 2
        assert visit.complaints == []


def test_pointing_at_a_curve_tells_its_values(browser, page_file, grid_of_queries):
    with Visit(browser, page_file) as visit:
        page = visit.page
        svg = page.locator("svg.det").first
        svg.scroll_into_view_if_needed()
        place = svg.evaluate(
            """svg => { const path = svg.querySelector('path.curve');
            const steps = path.getAttribute('d').match(/-?[\\d.]+/g).map(Number), points = [];
            for (let k = 0, x = 0, y = 0; k < steps.length; k += 2) points.push([x += steps[k], y += steps[k + 1]]);
            const marks = [...svg.querySelectorAll('[data-at]')].map(one => one.dataset.at.split(' ').map(Number));
            const inside = ([x, y]) => x > 60 && x < 460 && y > 15 && y < 385;
            const far = (a, b) => Math.hypot(a[0] - b[0], a[1] - b[1]);
            const away = point => !inside(point) ? -1 : Math.min(...marks.map(mark => far(mark, point)));
            const at = points.reduce((best, point, k) => away(point) > away(points[best]) ? k : best, 0);
            const p = new DOMPoint(...points[at]).matrixTransform(svg.getScreenCTM());
            return {x: p.x, y: p.y, row: Number(path.dataset.from) + at, curve: Number(path.dataset.c)}; }"""
        )
        page.mouse.move(place["x"], place["y"])
        until(page, "!document.querySelector('#tip').hidden")
        told = page.locator("#tip").inner_text()
    curves = grid_of_queries[0]["curves"]
    told_miss = float(told.split("P_miss ")[1].split(",")[0])
    rows = [row for row in range(curves.sizes["point"]) if abs(float(curves["p_miss"][row]) - told_miss) < 1e-4]
    nearby = [f"TWV {float(curves['twv'][row]):.4f}".replace("-", "−") for row in rows]
    assert any(one in told for one in nearby), (told, nearby)


def test_pointing_at_a_point_and_stepping_by_keyboard_tell_values(browser, page_file):
    with Visit(browser, page_file) as visit:
        page = visit.page
        svg = page.locator("#multiples svg.plot").first
        svg.scroll_into_view_if_needed()
        svg.locator("circle.actual-point").first.hover()
        until(page, "document.querySelector('#tip').textContent.includes('TWV')")
        svg.focus()
        page.keyboard.press("ArrowRight")
        until(page, "document.querySelector('#live').textContent.includes('TWV')")
        assert visit.complaints == []


def test_the_map_tells_reorders_and_drills_down(browser, page_file, grid_of_queries):
    group = grid_of_queries[0]["queries"].sel(query_set="dev", dataset="dev")
    with Visit(browser, page_file) as visit:
        page = visit.page
        root = page.locator(".query-map").first
        heat = root.locator("svg.heat")
        heat.scroll_into_view_if_needed()
        heat.focus()
        page.keyboard.press("ArrowRight")
        until(page, "document.querySelector('#live').textContent.includes('twv')")
        page.keyboard.press("Enter")
        assert "Every system on" in root.locator(".drill caption").inner_text()
        before = heat.locator("image").get_attribute("href")
        root.locator("select.by").select_option("size")
        assert heat.locator("image").get_attribute("href") != before
        root.locator("select.by").select_option("difficulty")
        assert pixels(page, before) == pixels(page, heat.locator("image").get_attribute("href"))
        root.locator("select.of-system").select_option("0")
        shown = root.locator(".drill td:nth-child(2) data").evaluate_all("all => all.map(one => one.value)")
        name = root.locator(".drill caption bdi").inner_text()
        worst = sorted(group["value"].sel(system=name, count="twv").values.tolist())[:25]
        assert [float(value) for value in shown] == worst
        assert visit.complaints == []


def test_every_number_of_the_page_is_the_grids(browser, page_file, grid_of_queries):
    root = grid_of_queries[0][""].sel(condition="all")
    wanted = {
        (q, d, s): {m: float(root["value"].sel(query_set=q, dataset=d, system=s, measure=m)) for m in ("atwv", "cnxe")}
        for q in ("dev", "eval")
        for d in ("dev", "eval")
        for s in root["system"].values.tolist()
    }
    script = """all => all.map(table => [...table.querySelectorAll('tbody tr')].map(row => ({
        name: row.querySelector('bdi.system').textContent,
        cells: [...row.cells].map(cell => cell.querySelector('data')?.value ?? null)})))"""
    with Visit(browser, page_file) as visit:
        boards = visit.page.locator("table.sortable").evaluate_all(script)
        heads = visit.page.locator("table.sortable").first.locator("thead th").all_inner_texts()
    at = {"atwv": next(i for i, h in enumerate(heads) if h.startswith("ATWV"))}
    at["cnxe"] = next(i for i, h in enumerate(heads) if h.startswith("C") and "nxe" in h)
    n_seen = 0
    places = [("dev", "dev"), ("dev", "eval"), ("eval", "dev"), ("eval", "eval")]
    for place, rows in zip(places, boards[:4], strict=True):
        for row in rows:
            for measure, column_at in at.items():
                value = wanted[(*place, row["name"])][measure]
                shown = row["cells"][column_at] if column_at < len(row["cells"]) else None
                assert (shown is None) == math.isnan(value)
                if shown is not None:
                    assert float(shown) == value
                    n_seen += 1
    assert n_seen == 2 * 22


def test_files_hold_what_is_shown(browser, page_file, grid_of_queries):
    with Visit(browser, page_file) as visit:
        page = visit.page
        with page.expect_download() as waiting:
            page.get_by_role("button", name="Queries, CSV").click()
        rows = list(csv.DictReader(io.StringIO(Path(waiting.value.path()).read_text(encoding="utf-8"))))
        with page.expect_download() as waiting:
            page.get_by_role("button", name="All tables, JSON").click()
        stored = json.loads(Path(waiting.value.path()).read_text(encoding="utf-8"))
        requests = [url for url in visit.requests if not url.startswith("blob:")]
        assert requests == [page_file.as_uri()]
        assert visit.complaints == []
    group = grid_of_queries[0]["queries"]["value"]
    for row in rows[::37]:
        place = {"query_set": row["query_set"], "dataset": row["dataset"], "system": row["system"]}
        assert float(row["twv"]) == float(group.sel(**place, query=row["query"], count="twv"))
    assert len(stored["queries"]) == len(rows) > 600
    assert any("ATWV" in cell for table in stored["tables"] for row in table["rows"] for cell in row)


def test_without_script_the_board_and_the_map_are_there_and_no_dead_control_is(browser, page_file):
    with Visit(browser, page_file, script=False) as visit:
        page = visit.page
        rows = page.locator("article[aria-labelledby=board-1] table.sortable tbody tr")
        assert rows.count() == 6
        assert rows.first.is_visible()
        assert page.locator("button:visible, input:visible, select:visible").count() == 0
        assert page.locator("svg.heat image").first.get_attribute("href").startswith("data:image/png;base64,")


def test_an_eval_page_has_no_row_of_the_key_and_is_whole(browser, tmp_path, monkeypatch):
    monkeypatch.syspath_prepend(str(DISCLOSURE.parent))
    made = runpy.run_path(str(DISCLOSURE))
    file = tmp_path / "index.html"
    file.write_text(render_page(*made["made"]("no_key")), encoding="utf-8")
    assert made["SECRET_QUERY"].encode() not in file.read_bytes()
    with Visit(browser, file) as visit:
        assert visit.page.locator(".query-map").count() == 2
        assert visit.page.locator("svg.det").count() == 4
        assert visit.complaints == []
