"""The pages of a large run: an index that stays small, and boards on pages of their own."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
from large_grid import MESSAGE, large_grid

from pipeline.errors import DamageError
from pipeline.report import write_reports
from pipeline.report.board import ALL
from pipeline.report.boards_file import boards_files, read_boards
from pipeline.report.page import page_of
from pipeline.report.parts import ROWS_AT_MOST, files_of, of_board, parts_of
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
    assert sum(name.startswith("boards/") for name in written) == 60
    pages = [
        base / "index.html",
        *sorted((base / "boards").glob("*.html"))[:3],
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


def test_boards_json_of_a_large_run_is_small_and_names_a_file_for_each_board(large: PageContents) -> None:
    pages = files_of(parts_of(large.run.boards_of(ALL)))
    files = boards_files(large.run, pages)
    index = json.loads(files["boards.json"])
    assert len(files["boards.json"]) < 100_000
    assert max(map(len, files.values())) < MOST_BYTES
    assert [part["file"] for part in index["parts"]] == [name for name in files if name != "boards.json"]
    assert set(pages.values()) == {name.replace(".json", ".html") for name in files if name != "boards.json"}
    assert index["boards"] == []
    entries = []
    for part in index["parts"]:
        for board in json.loads(files[part["file"]])["boards"]:
            assert (board["query_set"], board["dataset"]) == (part["query_set"], part["dataset"])
            entries += board["entries"]
    whole = json.loads(boards_files(large.run, {})["boards.json"])
    assert entries == [entry for board in whole["boards"] for entry in board["entries"]]


def test_boards_come_back_from_one_file_and_from_parts(large: PageContents) -> None:
    pages = files_of(parts_of(large.run.boards_of(ALL)))
    whole = boards_files(large.run, {})
    assert list(whole) == ["boards.json"]
    parts = boards_files(large.run, pages)
    assert boards_files(read_boards(whole.__getitem__), pages) == parts
    assert boards_files(read_boards(parts.__getitem__), {}) == whole
    del parts["boards/003-lang02-q-lang02.json"]
    with pytest.raises(DamageError, match="Run the evaluation again"):
        read_boards(parts.__getitem__)


def test_written_boards_json_has_its_parts_beside_the_pages(tmp_path: Path) -> None:
    written = write_reports(Store(str(tmp_path)), "reports/large/0", *large_grid(ROWS_AT_MOST // 3 + 1, 3))
    found = read_boards(lambda name: (tmp_path / written[name]).read_bytes())
    assert [len(board.entries) for board in found.boards] == [ROWS_AT_MOST // 3 + 1] * 3
    assert sum(name.startswith("boards/") and name.endswith(".json") for name in written) == 3
