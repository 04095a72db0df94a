"""The page of a large run: ``python -m bench.page`` renders it and, where a browser is installed, uses it.

Prints seconds and bytes. By default 100 systems on 2 × 2 cells of 500 queries; ``--systems 20 --cells 1`` is usual.
"""

from __future__ import annotations

import argparse
import shutil
import tempfile
import time
from collections.abc import Sequence
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import xarray as xr

from pipeline.engine.result import Result
from pipeline.protocols import find
from pipeline.report import render_page
from pipeline.terms import Cell, Figure

COUNTS = ("n_target", "n_hit", "n_miss", "n_fa", "p_miss", "p_fa", "twv")
N_POINTS = 150


def main(argv: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(prog="python -m bench.page", description=__doc__)
    parser.add_argument("--systems", type=int, default=100)
    parser.add_argument("--cells", type=int, default=4)
    parser.add_argument("--queries", type=int, default=500)
    parser.add_argument("--no-browser", action="store_true")
    options = parser.parse_args(argv)
    grid, results = make_run(options.systems, options.cells, options.queries)
    begin = time.perf_counter()
    html = render_page(grid, results)
    print(f"render     {time.perf_counter() - begin:6.2f} s   {len(html.encode()) / 1e6:.2f} MB")
    chromium = shutil.which("chromium")
    if chromium and not options.no_browser:
        with tempfile.TemporaryDirectory(prefix="rescore-bench-") as folder:
            file = Path(folder) / "index.html"
            file.write_text(html, encoding="utf-8")
            use(file, chromium)


def use(file: Path, chromium: str) -> None:
    """Open, sort, filter, order the map, choose a system; seconds until the next frame is drawn."""
    from playwright.sync_api import sync_playwright

    frame = "() => new Promise(done => requestAnimationFrame(() => requestAnimationFrame(done)))"
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium, args=["--no-sandbox", "--disable-gpu"])
        page = browser.new_page(viewport={"width": 1280, "height": 900})
        steps: tuple[tuple[str, Any], ...] = (
            ("open", lambda: page.goto(file.as_uri())),
            ("sort", lambda: page.evaluate("document.querySelector('table.sortable th:nth-child(4) button').click()")),
            ("filter", lambda: page.locator("#filter-name").fill("system-1")),
            ("show all", lambda: page.locator("#filter-name").fill("")),
            ("order map", lambda: page.locator("select.by").first.select_option("size")),
            ("worst of", lambda: page.locator("select.of-system").first.select_option("3")),
        )
        for name, step in steps:
            begin = time.perf_counter()
            step()
            page.evaluate(frame)
            print(f"{name:10} {time.perf_counter() - begin:6.2f} s")
        browser.close()


def make_run(n_systems: int, n_cells: int, n_queries: int) -> tuple[dict[str, xr.Dataset], list[Result]]:
    """Grid and results of made-up systems, all scored, with every measure of SWS 2013."""
    rng, protocol = np.random.default_rng(13), find("sws2013")
    query_sets, datasets = (("q0",), ("d0",)) if n_cells == 1 else (("q0", "q1"), ("d0", "d1"))
    systems = [f"system-{n:03d}" for n in range(n_systems)]
    shape = (n_systems, len(query_sets), len(datasets))
    measures = [measure.name for measure in protocol.measures]
    value = rng.uniform(0.05, 0.95, (*shape, 1, len(measures)))
    dims = ("system", "query_set", "dataset")
    place = {"system": systems, "query_set": list(query_sets), "dataset": list(datasets)}
    primary = value[..., measures.index(protocol.primary)]
    empty = np.full(value.shape, "", object)
    root = xr.Dataset(
        {
            "value": ((*dims, "condition", "measure"), value),
            "reason": ((*dims, "condition", "measure"), empty),
            "status": ((*dims, "condition", "measure"), empty),
            "rank": ((*dims, "condition"), (-primary).argsort(axis=0).argsort(axis=0) + 1),
            **{name: (dims, np.full(shape, "", object)) for name in ("failed", "failed_where", "failed_message")},
            "signature": (dims, np.full(shape, "sws2013.1|official|c_miss:100.0|" + "x" * 500, object)),
            "team": ("system", [f"team {n // 3}" for n in range(n_systems)]),
            "primary": ("system", np.arange(n_systems) % 3 == 0),
            **{
                f"measure_{name}": ("measure", [getattr(measure, name) for measure in protocol.measures])
                for name in ("unit", "better", "source")
            },
        },
        coords={**place, "condition": ["all"], "measure": measures},
        attrs={"evaluation": "bench", "run": "0", "protocol": "sws2013", "mode": "official", "primary_measure": "atwv"},
    )
    results = [
        Result("sws2013", 1, "official", "sws2013.1|official|c_miss:100.0", "atwv", Cell(q, d, s))
        for s, q, d in product(systems, query_sets, datasets)
    ]
    results = [_with_figures(result, measures) for result in results]
    return {"": root, "queries": _queries(rng, shape, n_queries, place), "curves": _curves(rng, shape, place)}, results


def _with_figures(result: Result, measures: list[str]) -> Result:
    figures = dict.fromkeys(measures, Figure(0.5))
    return Result(**{**result.__dict__, "figures": figures, "facts": {"n_trials": 1800.0, "n_queries_scored": 500}})


def _queries(rng: Any, shape: tuple[int, ...], n_queries: int, place: dict[str, Any]) -> xr.Dataset:
    target = np.broadcast_to(rng.integers(1, 60, (1, *shape[1:], n_queries)), (*shape, n_queries)).astype(float)
    hit = rng.binomial(target.astype(int), rng.uniform(0.2, 0.9, (*shape, 1))).astype(float)
    fa = rng.poisson(2.0, (*shape, n_queries)).astype(float)
    p_miss, p_fa = 1 - hit / target, fa / (36_000 - target)
    columns = [target, hit, target - hit, fa, p_miss, p_fa, 1 - p_miss - 66.7 * p_fa]
    ids = [f"Q{n:04d}" for n in range(n_queries)]
    return xr.Dataset(
        {
            "value": (("system", "query_set", "dataset", "query", "count"), np.stack(columns, axis=-1)),
            "text": ("query", [f"word {n}" for n in range(n_queries)]),
        },
        coords={**place, "query": ids, "count": list(COUNTS)},
    )


def _curves(rng: Any, shape: tuple[int, ...], place: dict[str, Any]) -> xr.Dataset:
    n_cells = int(np.prod(shape))
    p_fa = np.sort(rng.uniform(1e-6, 0.02, (n_cells, N_POINTS)), axis=1)
    p_miss = -np.sort(-rng.uniform(0.05, 0.95, (n_cells, N_POINTS)), axis=1)
    first = (np.arange(n_cells) * N_POINTS).reshape(shape)
    columns = {
        "threshold": np.tile(np.linspace(8, -2, N_POINTS), n_cells),
        "p_miss": p_miss.ravel(),
        "p_fa": p_fa.ravel(),
        "twv": (1 - p_miss - 66.7 * p_fa).ravel(),
    }
    dims = ("system", "query_set", "dataset")
    ranges = {"first": (dims, first), "last": (dims, first + N_POINTS)}
    return xr.Dataset({**{name: ("point", column) for name, column in columns.items()}, **ranges}, coords=place)


if __name__ == "__main__":
    main()
