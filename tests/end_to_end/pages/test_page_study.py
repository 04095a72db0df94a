"""A study's page in a real browser: two made-up years of three systems, with every figure that it can have."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from browsing import SIZES, Visit, grave_faults

from flows.studies import conclude, evaluations, finish_here, lacking, prepare
from pipeline.config.meta_file import load_study
from pipeline.demo.evaluation import DEMO, write_evaluation
from pipeline.demo.years import YEARS
from pipeline.store.blobs import Store

STUDY = """\
name: two-years
evaluations:
  y1: {year: 2012, evaluation: y1/evaluation.yaml}
  y2: {year: 2013, evaluation: y2/evaluation.yaml}
revisions: [[y1, y2]]
dev_eval: [{dev: dev-q/dev, eval: eval-q/eval}]
measures: [atwv, mtwv, cnxe]
sensitivity: {tolerance_s: [0.25, 1]}
resampling: {replicates: 100}
"""


@pytest.fixture(scope="module")
def page_file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("study")
    write_evaluation(folder / "y1", replace(YEARS["2012"], teams=YEARS["2012"].teams[:3]))
    write_evaluation(folder / "y2", replace(DEMO, teams=DEMO.teams[:3], malformed=None, missing=None))
    (folder / "meta.yaml").write_text(STUDY)
    store, study = Store(str(folder / "store")), load_study(str(folder / "meta.yaml"))
    planned = prepare(study, store)
    runs = {one.name: finish_here(one) for one in lacking(planned)}
    return Path(store.url(conclude(study, store, evaluations(planned, runs))[1]["index.html"]))


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_it_opens_quietly_asks_for_nothing_and_fits(browser, page_file, size, scheme):
    with Visit(browser, page_file, size=size, scheme=scheme) as visit:
        visit.page.evaluate("document.querySelectorAll('details').forEach(one => one.open = true)")
        assert visit.requests == [page_file.as_uri()]
        assert visit.complaints == []
        assert visit.page.evaluate("document.documentElement.scrollWidth") == SIZES[size][0]


def test_every_figure_is_there_and_no_text_leaves_its_drawing(browser, page_file):
    with Visit(browser, page_file) as visit:
        page = visit.page
        page.evaluate("document.querySelectorAll('details').forEach(one => one.open = true)")
        for section in ("agreement", "ranks", "boards", "load"):
            assert page.locator(f"#{section} svg").first.is_visible()
        titles = page.locator("#boards h4").all_inner_texts()
        assert {title.split(" over ")[1].split("\n")[0].split(" dashed")[0] for title in titles if " over β" in title}
        assert any(title.startswith("ATWV over tolerance") for title in titles)
        outside = page.evaluate(
            """[...document.querySelectorAll('svg.drawing')].flatMap(svg => {
                 const box = svg.getBoundingClientRect();
                 return [...svg.querySelectorAll('text, rect')].filter(part => {
                   const own = part.getBoundingClientRect();
                   return own.left < box.left - 1 || own.right > box.right + 1 || own.bottom > box.bottom + 1;
                 }).map(part => `${svg.getAttribute('aria-label')}: ${part.textContent}`);
               })"""
        )
        assert outside == []


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_axe_finds_no_serious_fault(browser, page_file, scheme, require):
    with Visit(browser, page_file, scheme=scheme, bypass_csp=True) as visit:
        assert grave_faults(visit.page, scheme, require) == []
