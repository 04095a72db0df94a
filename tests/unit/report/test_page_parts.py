"""The pages of a large run: an index that stays small, and boards on pages of their own."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from large_grid import MESSAGE, large_grid

from pipeline.report import write_reports
from pipeline.report.board import ALL
from pipeline.report.page import page_of
from pipeline.report.parts import ROWS_AT_MOST, of_board, parts_of
from pipeline.report.shown import PageContents, shown
from pipeline.store.blobs import Store

MOST_BYTES = 3_000_000


@pytest.fixture(scope="module", params=[0.1, 1.0], ids=["some refused", "all refused"])
def large(request: pytest.FixtureRequest) -> PageContents:
    return shown(*large_grid(500, 15, failed=request.param))


def links(page: str) -> set[str]:
    return set(re.findall(r'href="([^"]*)"', page)) - {"data:,"}


def test_the_index_of_500_systems_and_15_languages_is_at_most_3_mb(large: PageContents) -> None:
    index = page_of(large)
    assert len(index.encode()) <= MOST_BYTES
    parts = parts_of(large.run.boards_of(ALL))
    assert len(parts) == len({part.file for part in parts}) == 15
    assert {part.file for part in parts} <= links(index)
    assert index.count('<td class="failed">') + index.count('<td class="shade"') == 7500
    assert "no_such_cell" not in index
    assert MESSAGE.partition("(")[0] not in index
    ids = set(re.findall(r'\bid="([^"]*)"', index))
    assert {link[1:] for link in links(index) if link.startswith("#")} <= ids


def test_the_page_of_a_board_has_what_the_index_has_not(large: PageContents) -> None:
    part = parts_of(large.run.boards_of(ALL))[3]
    page = page_of(of_board(large, part))
    assert (part.query_set, part.dataset, part.n_cells) == ("lang03-q", "lang03", 500)
    assert page.count('<th scope="row"') >= 500
    assert "lang04" not in page
    assert ("Everything wrong with the refused inputs" in page) is (part.n_scored < 500)
    ids = set(re.findall(r'\bid="([^"]*)"', page))
    assert {link[1:] for link in links(page) if link.startswith("#")} <= ids
    assert all(link.startswith(("#", "../")) for link in links(page))


def test_every_link_of_written_pages_leads_somewhere(tmp_path: Path) -> None:
    n_systems = ROWS_AT_MOST // 30 + 1
    written = write_reports(Store(str(tmp_path)), "reports/large/0", *large_grid(n_systems, 30))
    base = tmp_path / "reports/large/0"
    assert sum(name.startswith("boards/") for name in written) == 30
    pages = [
        base / "index.html",
        *sorted((base / "boards").iterdir())[:3],
        *sorted((base / "systems").glob("*.html"))[:3],
    ]
    for file in pages:
        for link in links(file.read_text()):
            path, _, anchor = link.partition("#")
            target = (file.parent / path).resolve() if path else file
            assert target.is_file(), (file.name, link)
            assert not anchor or f'id="{anchor}"' in target.read_text(), (file.name, link)


def test_a_run_that_one_page_holds_is_one_page() -> None:
    small = shown(*large_grid(ROWS_AT_MOST // 30, 30))
    assert parts_of(small.run.boards_of(ALL)) == ()
    assert 'id="failures"' in page_of(small)
