"""The pages of real runs in a real browser: as wide as the screen and the paper, texts in their figures, axe content.

Two families of protocols, or those that ``RESCORE_PAGES`` names (``all`` is every one).
"""

from __future__ import annotations

import os
import runpy
from pathlib import Path
from typing import Any

import pytest
from browsing import MADE_GRID, SIZES, Visit, grave_faults

MADE: dict[str, Any] = runpy.run_path(str(MADE_GRID.parent / "page_families.py"))["FAMILIES"]
WANTED = os.environ.get("RESCORE_PAGES", "med lre").split()
PAPER = {"width": 1039, "height": 710}
"""A4 across less its margins, in pixels of the page."""
BEYOND = """what => [...document.querySelectorAll(what)].filter(one => one.getClientRects().length
    && one.getBoundingClientRect().right > document.documentElement.clientWidth + 1).map(one => one.textContent)"""
OUTSIDE = """[...document.querySelectorAll('svg text')].filter(text => {
    const own = text.getBoundingClientRect(), box = text.ownerSVGElement.getBoundingClientRect();
    return own.width && box.width && (own.left < box.left - 1 || own.right > box.right + 1
      || own.top < box.top - 2 || own.bottom > box.bottom + 2);
  }).map(text => text.textContent)"""


@pytest.mark.parametrize("family", MADE if WANTED == ["all"] else WANTED)
def test_the_page_of_a_family_fits_screen_and_paper_and_has_no_serious_fault(browser, tmp_path, family, require):
    file = Path(tmp_path) / "index.html"
    file.write_text(MADE[family](tmp_path), encoding="utf-8")
    with Visit(browser, file, bypass_csp=True) as visit:
        page = visit.page
        assert page.evaluate(OUTSIDE) == []
        assert grave_faults(page, "light", require) == []
        page.emulate_media(color_scheme="dark")
        assert grave_faults(page, "dark", require) == []
        page.emulate_media(media="print")
        page.set_viewport_size(PAPER)
        assert page.evaluate(BEYOND, "table, svg, figure, code") == []
        page.emulate_media(media="screen")
        width, height = SIZES["phone"]
        page.set_viewport_size({"width": width, "height": height})
        assert page.evaluate("document.documentElement.scrollWidth") == width
        assert page.evaluate(OUTSIDE) == []
        assert visit.complaints == []
