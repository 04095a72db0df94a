"""The run's page in a real browser, opened from disk: quiet, self-contained, laid out, reachable by keyboard."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from browsing import SIZES, Visit, until

from pipeline.report import render_page

LONG, RIGHT_TO_LEFT = "x" * 300, "عربي-" * 30


@pytest.fixture(scope="module")
def page_file(made: dict[str, Any], tmp_path_factory: pytest.TempPathFactory) -> Path:
    file = tmp_path_factory.mktemp("page") / "index.html"
    file.write_text(render_page(*made["make_grid"]()), encoding="utf-8")
    return file


@pytest.mark.parametrize(("size", "scheme"), [("desktop", "dark"), ("phone", "light")])
def test_it_opens_quietly_asks_for_nothing_and_fits(browser, page_file, tmp_path, size, scheme):
    with Visit(browser, page_file, size=size, scheme=scheme) as visit:
        visit.page.screenshot(path=str(tmp_path / f"{size}-{scheme}.png"), full_page=True)
        assert visit.requests == [page_file.as_uri()]
        assert visit.complaints == []
        assert visit.page.evaluate("document.documentElement.scrollWidth") == SIZES[size][0]
        assert (tmp_path / f"{size}-{scheme}.png").stat().st_size > 10_000


def test_the_boards_rows_are_visible_and_in_order(browser, page_file, made):
    with Visit(browser, page_file) as visit:
        rows = visit.page.locator("article.board").nth(2).locator("table").first.locator("tbody tr")
        assert rows.count() == 6
        assert all(rows.nth(i).is_visible() for i in range(6))
        names = rows.locator("bdi.system").all_text_contents()
        assert names[0] == "gtts-fusion"
        assert names[-1] == made["QUOTES"]
        assert made["WHERE"] in rows.nth(5).inner_text()
        assert made["MESSAGE"] in rows.nth(5).inner_text()


def test_figures_in_the_document_are_the_grids(browser, page_file, made):
    root = made["make_grid"]()[0][""].sel(query_set="dev", dataset="dev", condition="all", measure="atwv")
    with Visit(browser, page_file) as visit:
        board = visit.page.locator("article.board").first.locator("table").first
        shown = board.locator("td.primary data").evaluate_all("all => all.map(one => one.value)")
    assert [float(value) for value in shown] == sorted(root["value"].values.tolist(), reverse=True)


def test_colours_follow_the_readers_scheme(browser, page_file):
    seen = set()
    for scheme in ("light", "dark"):
        with Visit(browser, page_file, scheme=scheme) as visit:
            seen.add(visit.page.evaluate("getComputedStyle(document.body).backgroundColor"))
    assert len(seen) == 2


def test_details_open_and_tables_scroll_by_keyboard(browser, page_file):
    with Visit(browser, page_file, size="phone") as visit:
        page = visit.page
        page.bring_to_front()
        page.keyboard.press("Tab")
        until(page, "document.activeElement.className === 'skip'")
        details = page.locator("article.board details").first
        assert not details.locator("table").is_visible()
        details.locator("summary").focus()
        page.keyboard.press("Enter")
        details.locator("table").wait_for(state="visible")
        region = page.locator("article.board .scroll").first
        region.focus()
        page.keyboard.press("ArrowRight")
        until(page, "document.activeElement.scrollLeft > 0")


def test_curves_are_drawn_inside_their_plots(browser, page_file):
    with Visit(browser, page_file) as visit:
        plots = visit.page.locator("svg.det")
        assert plots.count() == 4
        plots.first.scroll_into_view_if_needed()
        box = plots.first.bounding_box()
        assert box["width"] > 300
        assert plots.first.locator("path.curve").count() == 6
        assert plots.first.locator("circle.actual-point").count() == 6
        assert plots.first.locator("path.best-point").count() == 6


@pytest.mark.parametrize("size", SIZES)
def test_names_of_300_characters_and_from_right_to_left_are_laid_out(browser, made, tmp_path, size):
    names = (LONG, RIGHT_TO_LEFT, *made["HOSTILE"][2:])
    file = tmp_path / "index.html"
    file.write_text(render_page(*made["make_grid"](names)), encoding="utf-8")
    with Visit(browser, file, size=size) as visit:
        visit.page.evaluate("document.querySelectorAll('details').forEach(one => { one.open = true })")
        visit.page.screenshot(path=str(tmp_path / f"names-{size}.png"), full_page=True)
        assert visit.page.evaluate("document.documentElement.scrollWidth") == SIZES[size][0]
        names_shown = visit.page.locator("tbody th bdi.system")
        widest = names_shown.evaluate_all("all => Math.max(...all.map(one => one.offsetWidth))")
        tallest = names_shown.evaluate_all("all => Math.max(...all.map(one => one.offsetHeight))")
        assert widest <= 450
        assert tallest <= 120  # four lines
        assert visit.complaints == []


def test_it_prints_light_and_with_its_details(browser, page_file):
    with Visit(browser, page_file, scheme="dark") as visit:
        visit.page.emulate_media(media="print")
        assert visit.page.evaluate("getComputedStyle(document.body).backgroundColor") == "rgb(255, 255, 255)"
        assert visit.page.locator("dl.signatures").first.is_visible()
        assert not visit.page.locator("nav").is_visible()
