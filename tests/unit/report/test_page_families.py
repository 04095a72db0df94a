"""The page of real runs of every family: what it shows, and that its numbers are the grid's."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Callable
from functools import cache
from html import unescape
from typing import Any

import numpy as np
import pytest
from page_families import EVIL, FAMILIES, Page
from test_page import Reader, read
from test_page_data import decoded

from pipeline.report.board import Board, RunBoards, read_run
from pipeline.report.headline import headline


@pytest.fixture(scope="module")
def made(tmp_path_factory: Any) -> Callable[[str], Page]:
    """A family's page, scored once."""
    return cache(lambda family: FAMILIES[family](tmp_path_factory.mktemp(family)))


@pytest.fixture(scope="module", params=FAMILIES)
def any_page(request: Any, made: Callable[[str], Page]) -> Page:
    return made(request.param)


@pytest.fixture(scope="module")
def stt(made: Callable[[str], Page]) -> Page:
    return made("stt")


@pytest.fixture(scope="module")
def med(made: Callable[[str], Page]) -> Page:
    return made("med")


@pytest.fixture(scope="module")
def quesst(made: Callable[[str], Page]) -> Page:
    return made("quesst")


def between(parsed: Reader, section: str) -> list[dict]:
    at = next(i for i, e in enumerate(parsed.elements) if e["attrs"].get("id") == section)
    rest = parsed.elements[at + 1 :]
    return rest[: next((i for i, e in enumerate(rest) if e["tag"] in {"section", "footer"}), len(rest))]


def heads(parsed: Reader, number: int = 1) -> list[str]:
    at = next(i for i, e in enumerate(parsed.elements) if e["attrs"].get("id") == f"board-{number}")
    cells = []
    for element in parsed.elements[at:]:
        if element["tag"] == "tbody":
            return cells
        if element["tag"] == "th":
            cells.append(re.split(r"[↓↑]", " ".join(element["text"].split()))[0])
    return cells


def tables_of(html: str) -> dict[str, list[list[str | float]]]:
    """Every table of the page by what names its region: rows of cells, each its exact figures or its text."""
    found: dict[str, list[list[str | float]]] = {}
    for name, body in re.findall(r'<div class="scroll"[^>]* aria-labelledby="([^"]+)">(.*?)</table>', html, re.DOTALL):
        rows = re.findall(r"<tr[^>]*>(.*?)</tr>", body, re.DOTALL)
        cells = [re.findall(r"<t[hd][^>]*>(.*?)</t[hd]>", row, re.DOTALL) for row in rows]
        found[name] = [[_cell(cell) for cell in row] for row in cells]
    return found


def _cell(html: str) -> str | float:
    figure = re.search(r'<data value="([^"]+)"', html)
    return float(figure[1]) if figure else unescape(re.sub(r"<[^>]+>", "", html)).strip()


def boards_of(page: Page) -> dict[str, Board]:
    """Every board and table of all measures of the page by the id of its heading or caption."""
    run = read_run(page.grid)
    named = {f"{kind}-{at}": board for kind in ("board", "all") for at, board in enumerate(run.boards_of("all"), 1)}
    parts = [run.boards_of(condition) for condition in run.conditions if condition != "all"]
    for group in re.findall(r'id="board-(\d+)-1"', page):
        titles = re.findall(rf'id="board-{group}-\d+">.*?<bdi>(.*?)</bdi>.*?<bdi>(.*?)</bdi>', page)
        own = [board for board in parts[int(group) - 1] if (board.query_set, board.dataset) in titles]
        named |= {f"board-{group}-{at}": board for at, board in enumerate(own, 1)}
    return named


def figures_of(
    table: list[list[str | float]], board: Board, run: RunBoards, *, turned: bool
) -> dict[tuple[str, str], Any]:
    """What a table shows by system and measure; ``turned``: of all measures, a row each."""
    head, *rows = table
    scored = [entry.system for entry in board.entries if not entry.failed]
    if turned:
        assert head[1:-2] == scored
        pairs = zip(run.measures, rows, strict=True)
        return {(s, i.name): v for i, row in pairs for s, v in zip(scored, row[1:-2], strict=True)}
    assert [str(row[1]).split()[0] for row in rows] == [entry.system for entry in board.entries]
    pairs = zip(scored, rows, strict=False)  # failed ones are last
    return {(s, i.name): v for s, row in pairs for i, v in zip(headline(run), row[2:], strict=True)}


def test_every_number_of_every_board_is_the_grids(any_page):
    run, tables, n_seen = read_run(any_page.grid), tables_of(any_page), 0
    for name, board in boards_of(any_page).items():
        if name not in tables:
            assert all(entry.failed for entry in board.entries)
            continue
        values = {(e.system, i.name): e.figures[i.name].value for e in board.entries for i in run.measures}
        for place, value in figures_of(tables[name], board, run, turned=name.startswith("all-")).items():
            if math.isnan(values[place]):
                assert str(value).startswith("—"), (name, place, value)
            else:
                assert value == values[place], (name, place)
                n_seen += 1
    assert n_seen > 10


def test_every_number_by_query_is_the_grids(any_page):
    data = json.loads(re.search(r'id="page-data">(.*?)</script>', any_page, re.DOTALL)[1])
    group, n_seen = any_page.grid["queries"], 0
    for one in data["maps"]:
        systems = [data["systems"][at]["name"] for at in one["systems"]]
        cells = [group.sel(query_set=one["q"], dataset=one["d"], system=system) for system in systems]
        spans = [slice(int(cell["first_row"]), int(cell["first_row"] + cell["n_rows"])) for cell in cells]
        ids = group["query"].values[group["query_place"].values]
        for name in one["columns"]:
            column = group["value"].sel(count=name).values
            rows = [dict(zip(ids[span].tolist(), column[span].tolist(), strict=True)) for span in spans]
            wanted = np.array([[row.get(query, np.nan) for query in one["ids"]] for row in rows])
            np.testing.assert_array_equal(decoded(one["columns"], len(systems), name), wanted)
            n_seen += wanted.size
    assert n_seen or not data["maps"]
    assert bool(data["maps"]) == (any_page.grid[""].attrs["protocol"] != "openkws13-segments")  # which has no queries


def test_pages_of_all_families_are_whole_escaped_and_labelled(any_page):
    parsed = read(any_page)
    ids = [e["attrs"]["id"] for e in parsed.elements if "id" in e["attrs"]]
    assert len(ids) == len(set(ids))
    named = {one for e in parsed.elements for one in e["attrs"].get("aria-labelledby", "").split()}
    named |= {e["attrs"]["href"][1:] for e in parsed.elements if e["attrs"].get("href", "").startswith("#")}
    assert named <= set(ids)
    assert "<b>" not in any_page
    assert not {e["tag"] for e in parsed.elements} & {"img", "iframe"}
    assert len(parsed.all("caption")) == len(parsed.all("table")) == len(parsed.all("div", "scroll"))
    assert all("scope" in e["attrs"] for e in parsed.all("th"))
    assert "nan" not in {e["text"].strip() for e in parsed.elements}


def test_the_speech_board_leads_with_the_error_rate_and_its_counts(stt):
    assert heads(read(stt))[:7] == ["Rank", "System", "WER", "substituted", "deleted", "inserted", "correct"]


def test_speakers_are_dots_on_a_row_a_system(stt):
    part = between(read(stt), "speakers")
    titles = [e["text"] for e in part if e["tag"] == "title" and "circle" in e["inside"]]
    # Ann: <b>x</b> deleted, three -> tree of 6; Bob none of 3; Eve: ten -> tin of 2.
    assert [title.lower() for title in titles[:3]] == ["good: bob 0.0 %", "good: ann 33.3 %", "good: eve 50.0 %"]
    assert len(titles) == 6


def test_confusions_and_reliability_are_shown(stt):
    parsed = read(stt)
    words = {e["text"] for e in between(parsed, "confusions") if e["tag"] == "bdi"}
    assert {"three", "tree", "tin", EVIL} <= words
    marks = [e["text"] for e in between(parsed, "reliability") if e["tag"] == "title" and "circle" in e["inside"]]
    assert "good, 0.5 to 0.6: 0.5000 of 2 words" in marks


def test_other_tables_are_collapsed_with_their_counts(stt):
    told = [" ".join(e["text"].split()) for e in between(read(stt), "tables") if e["tag"] == "summary"]
    wanted = ("alignment, 4 rows", "files, 2 rows", "labels, 2 rows", "raw, 7 rows", "sys, 7 rows")
    assert told[:5] == [f"good: {name}" for name in wanted]


def test_events_have_their_cost_and_average_precision(med):
    part = between(read(med), "events")
    cells = [e["text"] for e in part if e["tag"] in {"th", "td"} and "tbody" in e["inside"]]
    assert cells[:2] == ['E1 Making a "sandwich"', "2"]
    assert len(cells) == 2 * 4
    assert heads(read(med))[2] == "NDC"


def test_calibration_has_its_table_and_a_plot_a_cell(quesst):
    part = between(read(quesst), "calibration")
    assert sum(e["tag"] == "svg" and "aria-hidden" not in e["attrs"] for e in part) == 1
    curves = [e["attrs"]["d"] for e in part if e["tag"] == "path" and "curve" in e["attrs"].get("class", "")]
    assert len(curves) == 2
    assert all(len(re.findall(r"[ -]", curve)) >= 2 * 80 for curve in curves)
    assert heads(read(quesst))[2:5] == ["Cnxe", "min Cnxe", "calibration loss"]
