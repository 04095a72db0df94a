"""The reports of a large run: ``python -m bench.page`` makes them and, where a browser is installed, uses the page.

Prints seconds that passed, seconds of processor time, and bytes; of the browser the processor time of the page's main
thread. By default 100 systems on 2 × 2 cells of 500 queries; ``--systems 20`` is usual.
"""

from __future__ import annotations

import argparse
import shutil
import tempfile
import time
from collections.abc import Sequence
from functools import cache
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import xarray as xr

from pipeline.engine.result import Result
from pipeline.protocols import find
from pipeline.report import write_reports
from pipeline.store.blobs import Store
from pipeline.terms import Cell, Figure

COUNTS = ("n_target", "n_hit", "n_miss", "n_fa", "p_miss", "p_fa", "twv")
N_POINTS, N_TRIALS, WEIGHT = 150, 36_000, 66.7


def main(argv: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(prog="python -m bench.page", description=__doc__)
    parser.add_argument("--systems", type=int, default=100)
    parser.add_argument("--cells", type=int, default=4)
    parser.add_argument("--queries", type=int, default=500)
    parser.add_argument("--no-browser", action="store_true")
    options = parser.parse_args(argv)
    grid, results = make_run(options.systems, options.cells, options.queries)
    with tempfile.TemporaryDirectory(prefix="rescore-bench-") as folder:
        begin, busy = time.perf_counter(), time.process_time()
        paths = write_reports(Store(folder), "reports/bench/0", grid, results)
        spent = time.perf_counter() - begin, time.process_time() - busy
        sizes = {name: (Path(folder) / path).stat().st_size for name, path in paths.items()}
        total = sum(sizes.values()) / 1e6
        print(f"write      {spent[0]:6.2f} s  {spent[1]:6.2f} s of CPU   {len(paths)} files, {total:.2f} MB")
        print(f"index.html {sizes['index.html'] / 1e6:6.2f} MB")
        chromium = shutil.which("chromium")
        if chromium and not options.no_browser:
            use(Path(folder) / paths["index.html"], chromium)


def use(file: Path, chromium: str) -> None:
    """Open, sort, filter, order the map, choose a system; seconds until the next frame is drawn."""
    from playwright.sync_api import sync_playwright

    frame = "() => new Promise(done => requestAnimationFrame(() => requestAnimationFrame(done)))"
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium, args=["--no-sandbox", "--disable-gpu"])
        page = browser.new_page(viewport={"width": 1280, "height": 900})
        session = page.context.new_cdp_session(page)
        session.send("Performance.enable")
        steps: tuple[tuple[str, Any], ...] = (
            ("open", lambda: page.goto(file.as_uri())),
            ("sort", lambda: page.evaluate("document.querySelector('table.sortable th:nth-child(4) button').click()")),
            ("filter", lambda: page.locator("#filter-name").fill("system-1")),
            ("show all", lambda: page.locator("#filter-name").fill("")),
            ("order map", lambda: page.locator("select.by").first.select_option("size")),
            ("worst of", lambda: page.locator("select.of-system").first.select_option("3")),
        )
        for name, step in steps:
            begin, busy = time.perf_counter(), _busy_s(session)
            step()
            page.evaluate(frame)
            print(f"{name:10} {time.perf_counter() - begin:6.2f} s  {_busy_s(session) - busy:6.2f} s of CPU")
        browser.close()


def _busy_s(session: Any) -> float:
    """How long the page's main thread has worked."""
    metrics = {one["name"]: one["value"] for one in session.send("Performance.getMetrics")["metrics"]}
    return float(metrics["TaskDuration"])


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
    facts = {"n_trials": 1800.0, "n_queries_scored": 500}
    return Result(**{**result.__dict__, "figures": figures, "facts": facts, "tables": _tables(len(str(result.cell)))})


@cache
def _tables(seed: int) -> dict[str, tuple[dict[str, Any], ...]]:
    """The tables that every keyword search cell has: error rates over priors, what scores stand for, calibration."""
    rng, odds = np.random.default_rng(seed), np.linspace(-10, 10, 81)
    prior = 1 / (1 + np.exp(-odds))
    default = np.minimum(prior, 1 - prior)
    least = default * (1 - 0.8 * np.exp(-(odds**2) / 9))
    ape = np.stack([odds, np.minimum(least * rng.uniform(1.0, 1.4, odds.size), 1), least, default], axis=1).tolist()
    names = ("prior_log_odds", "error_rate", "min_error_rate", "default_error_rate")
    edges, ratios = np.sort(rng.normal(0, 4, 61)), np.sort(rng.normal(0, 3, 60))
    return {
        "ape": tuple(dict(zip(names, row, strict=True)) for row in ape),
        "pav": tuple(
            {"score_min": edges[at], "score_max": edges[at + 1], "llr": ratios[at], "n_target": 1.0, "n_nontarget": 2.0}
            for at in range(ratios.size)
        ),
        "calibration": tuple({"id": name, "value": 0.25, "unit": "bit"} for name in ("cllr", "min_cllr", "eer")),
    }


def _queries(rng: Any, shape: tuple[int, ...], n_queries: int, place: dict[str, Any]) -> xr.Dataset:
    target = np.broadcast_to(rng.integers(1, 60, (1, *shape[1:], n_queries)), (*shape, n_queries)).astype(float)
    hit = rng.binomial(target.astype(int), rng.uniform(0.2, 0.9, (*shape, 1))).astype(float)
    fa = rng.poisson(2.0, (*shape, n_queries)).astype(float)
    p_miss, p_fa = (target - hit) / target, fa / (N_TRIALS - target)
    columns = [target, hit, target - hit, fa, p_miss, p_fa, 1 - (p_miss + WEIGHT * p_fa)]
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
        "twv": (1 - (p_miss + WEIGHT * p_fa)).ravel(),
    }
    dims = ("system", "query_set", "dataset")
    ranges = {"first": (dims, first), "last": (dims, first + N_POINTS)}
    return xr.Dataset({**{name: ("point", column) for name, column in columns.items()}, **ranges}, coords=place)


if __name__ == "__main__":
    main()
