from __future__ import annotations

import base64
import hashlib
import json
import math
import re
from html.parser import HTMLParser
from importlib.resources import files
from itertools import pairwise

import jinja2
import pytest
from made_grid import CONTROLS, FORMULA, HOSTILE, MESSAGE, QUOTES, SCRIPT, TIDY, WHERE, make_grid

from pipeline.protocols import signature_short
from pipeline.report.page import environment, render_page
from pipeline.report.plots.marks import style

FILES = {"board.csv", "board.tex", "queries.csv", "curves.csv", "results.json"}
VOID = {"meta", "link", "br", "wbr", "img", "hr", "input"}


class Reader(HTMLParser):
    """The page as a list of elements with their text; refuses tags that do not balance."""

    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.open: list[dict] = []
        self.elements: list[dict] = []

    def handle_starttag(self, tag: str, attrs: list) -> None:
        element = {"tag": tag, "attrs": dict(attrs), "text": "", "inside": [e["tag"] for e in self.open]}
        assert len(attrs) == len(element["attrs"]), f"<{tag}> has an attribute twice"
        self.elements.append(element)
        if tag not in VOID:
            self.open.append(element)

    def handle_startendtag(self, tag: str, attrs: list) -> None:
        self.elements.append({"tag": tag, "attrs": dict(attrs), "text": "", "inside": [e["tag"] for e in self.open]})

    def handle_endtag(self, tag: str) -> None:
        assert self.open, f"</{tag}> closes nothing"
        assert self.open[-1]["tag"] == tag, f"</{tag}> closes <{self.open[-1]['tag']}>"
        self.open.pop()

    def handle_data(self, data: str) -> None:
        for element in self.open:
            element["text"] += data

    def all(self, tag: str, css_class: str | None = None) -> list[dict]:
        found = [element for element in self.elements if element["tag"] == tag]
        return [e for e in found if css_class is None or css_class in e["attrs"].get("class", "").split()]


def read(html: str) -> Reader:
    reader = Reader()
    reader.feed(html)
    reader.close()
    assert not reader.open
    return reader


@pytest.fixture(scope="module")
def parsed(page):
    return read(page)


def board_of(parsed: Reader, number: int) -> list[list[str]]:
    """The rows of a board, each the texts of its cells."""
    start = next(i for i, e in enumerate(parsed.elements) if e["attrs"].get("id") == f"board-{number}")
    rows: list[list[str]] = []
    for element in parsed.elements[start:]:
        if element["tag"] == "details":
            break
        if element["tag"] == "tr" and "tbody" in element["inside"]:
            rows.append([])
        if element["tag"] in {"th", "td"} and "tbody" in element["inside"]:
            rows[-1].append(" ".join(element["text"].split()))
    return rows


def test_tags_balance_and_ids_are_unique_and_found(parsed):
    ids = [e["attrs"]["id"] for e in parsed.elements if "id" in e["attrs"]]
    assert len(ids) == len(set(ids))
    for element in parsed.elements:
        for name in ("aria-labelledby", "aria-describedby"):
            assert set(element["attrs"].get(name, "").split()) <= set(ids)
        target = element["attrs"].get("href", "")
        assert not target.startswith("#") or target[1:] in ids


def test_the_page_loads_nothing_and_runs_its_own_script_only(parsed, page):
    assert {e["tag"] for e in parsed.elements}.isdisjoint({"img", "iframe", "object", "embed", "base"})
    data, script = parsed.all("script")
    assert (data["attrs"], script["attrs"]) == ({"type": "application/json", "id": "page-data"}, {})
    assert json.loads(data["text"])["systems"][1]["name"] == SCRIPT
    policy = next(e["attrs"]["content"] for e in parsed.all("meta") if "http-equiv" in e["attrs"])
    digest = base64.b64encode(hashlib.sha256(script["text"].encode()).digest()).decode()
    assert f"script-src 'sha256-{digest}';" in policy
    assert not re.search(r"\beval\(|new Function|innerHTML|outerHTML|insertAdjacent|document\.write", script["text"])
    for element in parsed.elements:
        assert "src" not in element["attrs"]
        assert not any(name.startswith("on") for name in element["attrs"])
        href = element["attrs"].get("href", "data:")
        assert href.startswith(("#", "data:", "systems/")) or href in FILES
    assert not re.search(r"url\((?!#)|@import|https?://", page)


def test_the_content_security_policy_allows_styles_only(parsed):
    policy = next(e["attrs"]["content"] for e in parsed.all("meta") if "http-equiv" in e["attrs"])
    rules = {rule.split()[0]: rule.split()[1:] for rule in policy.split(";")}
    assert rules["default-src"] == ["'none'"]
    assert rules["style-src"] == ["'unsafe-inline'"]
    assert rules["img-src"] == ["data:"]


@pytest.mark.parametrize("name", [SCRIPT, QUOTES, FORMULA])
def test_hostile_names_are_text_and_only_text(parsed, page, name):
    assert name in {e["text"] for e in parsed.all("bdi")}
    assert SCRIPT not in page
    assert "<img" not in page


def test_hostile_messages_places_and_controls_are_text_and_only_text(parsed, page):
    assert MESSAGE in {e["text"] for e in parsed.all("bdi")}
    assert WHERE in {e["text"] for e in parsed.all("bdi")}
    assert "<i>" not in page
    assert "<b>" not in page
    assert CONTROLS not in page
    assert not set(page) & {"\x1b", "\u202e"}


def test_every_untrusted_field_is_escaped():
    grid, results = make_grid()
    evil = "<u>&\"'"
    root = grid[""].copy(deep=True)
    for name in ("team", "failed", "failed_where", "failed_message", "signature", "reason", "status"):
        root[name] = (root[name].dims, root[name].astype(object).where(root[name] == "", evil).values)
    root = root.assign_coords(query_set=[evil, "eval"], dataset=[evil, "eval"], condition=[evil, "all"])
    root.attrs.update(dict.fromkeys(("evaluation", "run", "protocol", "mode", "title", "rescore_version"), evil))
    groups = {
        name: grid[name].assign_coords(query_set=[evil, "eval"], dataset=[evil, "eval"]) for name in ("curves", "load")
    }
    html = render_page({"": root, **groups}, results)
    assert "<u>" not in html
    assert evil in {e["text"] for e in read(html).all("bdi")}


def test_templates_never_switch_escaping_off():
    templates = files("pipeline.report").joinpath("templates").iterdir()
    for template in (one for one in templates if one.is_file()):
        assert not re.search(r"\|\s*safe\b|autoescape|Markup", template.read_text()), template.name
    assert environment().autoescape is True
    assert environment().undefined is jinja2.StrictUndefined


def test_boards_show_the_best_first_and_failed_systems_last_with_reason_message_and_place(parsed):
    board = board_of(parsed, 3)
    assert board[0][:4] == ["1", "gtts-fusion GTTS, UPV/EHU", "0.8634", "0.8634"]
    assert [row[0] for row in board] == ["1", "2", "3", "4", "5", "–"]
    assert board[-1][1:] == [f"{QUOTES} contrastive GTTS, UPV/EHU", f"refused_input {MESSAGE} {WHERE}"]
    assert board_of(parsed, 4)[-1][-1] == "missing_output the system submitted no output for this cell"


def test_every_board_has_its_heading(parsed):
    headings = [" ".join(e["text"].split()) for e in parsed.all("h3") if e["attrs"].get("id", "").startswith("board-")]
    assert headings[:4] == [
        f"query set {query_set} on dataset {dataset}" for query_set in ("dev", "eval") for dataset in ("dev", "eval")
    ]


def test_figures_on_the_page_are_the_grids_own_bits(made, parsed):
    """The machine-readable values of the first board's "all measures" table, read back."""
    root = made[0][""].sel(query_set="dev", dataset="dev", condition="all")
    start = next(i for i, e in enumerate(parsed.elements) if e["attrs"].get("id") == "all-1")
    end = next(i for i, e in enumerate(parsed.elements[start:], start) if e["tag"] == "details")
    shown = [float(e["attrs"]["value"]) for e in parsed.elements[start:end] if e["tag"] == "data"]
    order = root["rank"].argsort().values
    measures = ["atwv", *(name for name in root["measure"].values.tolist() if name != "atwv")]
    wanted = root["value"].isel(system=order).sel(measure=measures).transpose("measure", "system").values.ravel()
    assert shown == [value for value in wanted.tolist() if not math.isnan(value)]


def test_undefined_figures_are_a_dash_with_a_reason_and_never_zero(parsed):
    undefined = [e for e in parsed.all("span", "undefined") if "reject_all" in e["text"]]
    assert undefined
    assert all(" ".join(e["text"].split()) == "—undefined: reject_all" for e in undefined)
    assert undefined[0]["attrs"]["title"] == "no threshold does better than to accept nothing"


def test_infinities_and_statuses_are_shown(parsed):
    assert "∞" in {e["text"] for e in parsed.all("data")}
    assert "gamma_zero" in {e["text"] for e in parsed.all("span", "why")}


def test_the_overview_has_a_cell_for_every_system_and_cell(parsed):
    (grid,) = parsed.all("table", "grid")
    at = parsed.elements.index(grid)
    end = next(i for i, e in enumerate(parsed.elements[at + 1 :], at + 1) if e["tag"] == "table")
    cells = [e for e in parsed.elements[at:end] if e["tag"] == "td" and "tbody" in e["inside"]]
    assert len(cells) == 6 * 4
    assert sum("failed" in e["attrs"]["class"] for e in cells) == 2


def test_tables_are_semantic(parsed):
    tables = parsed.all("table")
    assert len(parsed.all("caption")) == len(tables)
    assert all("scope" in e["attrs"] for e in parsed.all("th"))
    regions = parsed.all("div", "scroll")
    assert len(regions) == len(tables)
    assert all(e["attrs"]["tabindex"] == "0" and e["attrs"]["role"] == "region" for e in regions)


def test_plots_have_names_descriptions_and_a_distinct_line_for_every_system(parsed):
    plots = parsed.all("svg", "det")
    assert len(plots) == 4
    every = [e for e in parsed.all("svg") if e["attrs"].get("role") == "img"]
    assert len(every) == len(parsed.all("desc")) > 4
    swatches = [e["attrs"]["class"] for e in parsed.all("svg", "swatch") if "k" in e["attrs"]["class"]]
    assert len(set(swatches)) == 6


def test_forty_eight_systems_differ_in_their_lines_and_neighbours_in_both_ways():
    styles = [style(place).split() for place in range(48)]
    assert len({tuple(pair) for pair in styles}) == 48
    assert all(a[0] != b[0] and a[1] != b[1] for a, b in pairwise(styles))


def test_the_load_table_has_units_and_summaries(parsed):
    start = next(i for i, e in enumerate(parsed.elements) if e["attrs"].get("id") == "load")
    heads = [e["text"] for e in parsed.elements[start:] if e["tag"] == "th" and "thead" in e["inside"]]
    assert heads[:6] == [
        "System",
        "ISF↓, lower is better",
        "SSF↓, lower is better1/h",
        "PMUindex↓, lower is betterGB",
        "PMUsearch↓, lower is betterGB",
        "PL↓, lower is betterGB",
    ]
    assert heads[6:12] == ["Measure", "n", "min", "median", "mean", "max"]


def test_failures_list_every_problem_and_count_what_is_not_kept(parsed):
    summaries = [" ".join(e["text"].split()) for e in parsed.all("summary")]
    assert f"{QUOTES} on eval × dev: 41 problems" in summaries
    assert f"{SCRIPT} on dev × eval: 1 warning" in summaries
    assert any("38 more were counted" in e["text"] for e in parsed.all("caption"))


def test_facts_and_signatures_stand_beside_every_board(made, parsed):
    summaries = [e["text"] for e in parsed.all("summary")]
    assert summaries.count("Facts") == summaries.count("Signatures") == 4
    shown = {e["text"] for e in parsed.all("code")}
    assert {signature_short(result.signature) for result in made[1]} <= shown
    assert {result.signature for result in made[1]} <= {e["attrs"].get("title") for e in parsed.all("code")}


def test_the_head_says_what_was_scored_how_and_in_which_run(parsed):
    text = " ".join(next(e["text"] for e in parsed.all("header")).split())
    for part in ("Spoken Web Search 2013", "sws2013 edition 1", "Modeofficial", "20131018T0214-6e3a91f0"):
        assert part in text
    assert "6 systems on 2 query sets × 2 datasets: 22 of 24 cells scored, 1 missing output, 1 refused input" in text


def test_a_grid_without_curves_load_or_failures_still_has_its_page():
    grid, results = make_grid(TIDY)
    keep = [0, 1, 2, 3]
    root = grid[""].isel(system=keep)
    html = render_page({"": root}, [r for r in results if r.cell.system in TIDY[:4]])
    text = " ".join(next(e["text"] for e in read(html).all("main")).split())
    assert "Every cell was scored." in text
    assert "No system declared what it used." in text
    assert "Detection error trade-off" not in text


def test_the_same_run_is_the_same_page(made, page):
    assert render_page(*made) == page


def test_names_of_any_length_are_kept_whole():
    names = ("x" * 300, "عربي" * 20, *HOSTILE[2:])
    texts = {e["text"] for e in read(render_page(*make_grid(names))).all("bdi")}
    assert set(names[:2]) <= texts
