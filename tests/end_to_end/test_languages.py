"""Twelve languages in one evaluation file: what is no cell takes no work, no memory and no place on the page."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest
from browsing import Visit

from pipeline.report import write_reports
from pipeline.report.parts import ROWS_AT_MOST
from pipeline.store.blobs import Store
from tests.unit.engine.languages import write_languages
from tests.unit.report.large_grid import large_grid

N_LANGUAGES, N_QUERIES, SYSTEMS = 12, 200, ("north", "south")
ROOT = Path(__file__).parents[2]
FINISH_BYTES = 150 << 20
"""That finishing may take beyond the packages it is made of, which are 150 MB before anything is read."""

SCORE = """
import sys
from flows.steps import score_here
from pipeline.config import load_evaluation
from pipeline.engine.plan import plan
from pipeline.store.blobs import Store
store = Store(sys.argv[2])
made = plan(load_evaluation(sys.argv[1]), store)
score_here(store, made, made.jobs)
print(made.address)
"""
FINISH = """
import json, sys
from flows.steps import finish
from pipeline.engine.plan import load_plan
from pipeline.engine.work import Work
from pipeline.store.blobs import Store
import pipeline.grid.gather, pipeline.report.write, pipeline.report.uncertainty, pipeline.report.det_file
import xarray, zarr
from tests.peak import peak_bytes
store = Store(sys.argv[2])
made = load_plan(store, sys.argv[1])
before = peak_bytes()
run = finish(store, made, Work())
after = peak_bytes()
print(json.dumps({"cells": len(run.results), "before": before, "after": after, "reports": dict(run.reports)}))
"""


@pytest.fixture(scope="module")
def finished(tmp_path_factory: pytest.TempPathFactory) -> dict[str, object]:
    folder = tmp_path_factory.mktemp("languages")
    file, store = write_languages(folder, N_LANGUAGES, N_QUERIES, SYSTEMS), str(folder / "store")
    address = _python(SCORE, str(file), store).strip()
    return {**json.loads(_python(FINISH, address, store).splitlines()[-1]), "store": Path(store)}


def _python(text: str, *args: str) -> str:
    done = subprocess.run([sys.executable, "-c", text, *args], capture_output=True, text=True, check=False, cwd=ROOT)
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_finishing_takes_little_memory_and_there_are_24_cells(finished):
    assert finished["cells"] == 24
    assert 0 < finished["after"] - finished["before"] <= FINISH_BYTES


def test_the_page_shows_languages_side_by_side(browser, finished):
    with Visit(browser, finished["store"] / finished["reports"]["index.html"]) as visit:
        heads = visit.page.locator("#overview thead tr").nth(1).locator("th").all_inner_texts()
        assert [" ".join(head.split()).removeprefix("DATASET ").removeprefix("dataset ") for head in heads[1:]] == [
            f"lang{k:02d}" for k in range(1, 13)
        ]
        rows = visit.page.locator("#overview tbody tr")
        assert rows.count() == 2
        assert all(rows.nth(at).locator("td").count() == N_LANGUAGES for at in range(2))
        assert visit.page.locator("#boards article.board").count() == N_LANGUAGES
        assert visit.complaints == []


def test_the_index_of_a_large_run_leads_to_its_boards_from_disk(browser, tmp_path):
    written = write_reports(Store(str(tmp_path)), "reports/large/0", *large_grid(ROWS_AT_MOST // 12 + 1, 12))
    with Visit(browser, tmp_path / written["index.html"]) as visit:
        page = visit.page
        assert page.locator("#overview tbody tr").count() == ROWS_AT_MOST // 12 + 1
        page.get_by_role("link", name="lang07-q × lang07").click()
        page.wait_for_load_state()
        assert page.locator("#boards article.board").count() == 1
        assert "lang07" in page.locator("h1").inner_text()
        page.locator("#overview tbody th a").first.click()
        page.wait_for_load_state()
        assert "participant-" in page.locator("h1").inner_text()
        page.get_by_role("link", name="all systems").click()
        page.wait_for_load_state()
        assert page.url == (tmp_path / written["index.html"]).as_uri()
        assert all(url.startswith("file://") for url in visit.requests)
        assert visit.complaints == []
