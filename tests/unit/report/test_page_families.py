"""The page of real speech-to-text, multimedia-event and query-by-document runs, scored in process."""

from __future__ import annotations

import re
import runpy
from pathlib import Path
from typing import Any

import pytest
from test_page import Reader, read

from pipeline.config import load_evaluation
from pipeline.engine.cell import load_result, score_cell
from pipeline.engine.plan import plan
from pipeline.grid import gather
from pipeline.report import render_page
from pipeline.store.blobs import Store

MADE = Path(__file__).parent.parent / "protocols"
EVIL = "<b>x</b>"
STM = f"""\
f1 1 Ann 0 10 <o,f0> one two three {EVIL}
f1 1 Bob 10 20 <o> four five six
f2 1 Ann 0 10 seven eight
f2 1 Eve 10 20 nine ten
"""
CTM = {
    "good": "f1 1 1 1 one 0.95\nf1 1 2 1 two 0.85\nf1 1 3 1 tree 0.25\nf1 1 11 1 four 0.92\nf1 1 12 1 five 0.6\n"
    "f1 1 13 1 six 0.9\nf2 1 1 1 seven 0.9\nf2 1 2 1 eight 0.5\nf2 1 11 1 nine 0.9\nf2 1 12 1 tin 0.55\n",
    EVIL.replace("/", ""): "f1 1 1 1 one 0.9\nf1 1 2 1 too 0.2\nf2 1 11 1 nine 0.8\nf2 1 12 1 uh 0.8\n",
}


def page_of(folder: Path, texts: dict[str, str]) -> str:
    for name, text in texts.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text)
    store = Store(str(folder / "store"))
    planned = plan(load_evaluation(str(folder / "evaluation.yaml")), store)
    results = [load_result(store, score_cell(store, planned, job.cell)) for job in planned.jobs]
    assert [result.failed for result in results] == [None] * len(results)
    grid = {name: group.assign_attrs(run="0123") for name, group in gather(planned, results).items()}
    page = render_page(grid, results)
    (folder / "index.html").write_text(page)
    return page


@pytest.fixture(scope="module")
def stt(tmp_path_factory: Any) -> str:
    evaluation = (
        "name: talk\nprotocol: stt13\nsettings: {alignment: true}\ndatasets:\n  dev: {stm: dev.stm}\n"
        "query_sets:\n  all: {}\nsystems:\n  pattern: output/{system}.ctm\n"
    )
    outputs = {f"output/{name}.ctm": text for name, text in CTM.items()}
    return page_of(tmp_path_factory.mktemp("stt"), {"evaluation.yaml": evaluation, "dev.stm": STM, **outputs})


@pytest.fixture(scope="module")
def med(tmp_path_factory: Any) -> str:
    made = runpy.run_path(str(MADE / "med_tiny.py"))
    texts = {f"{role}.csv": text for role, text in made["files"](resources=None).items()}
    texts["evaluation.yaml"] = (
        "name: med\nprotocol: med11\ndatasets:\n"
        "  test: {ref: ref.csv, index: index.csv, clipmd: clipmd.csv, eventdb: eventdb.csv}\n"
        "query_sets:\n  events: {}\nsystems:\n  pattern:\n    detection: output/{system}.detection.csv\n"
        "    threshold: output/{system}.threshold.csv\n"
    )
    texts |= {f"output/one.{role}.csv": texts[f"{role}.csv"] for role in ("detection", "threshold")}
    return page_of(tmp_path_factory.mktemp("med"), texts)


@pytest.fixture(scope="module")
def quesst(tmp_path_factory: Any) -> str:
    folder = tmp_path_factory.mktemp("quesst")
    made = runpy.run_path(str(MADE / "quesst_files.py"))
    documents = [f"d{n}" for n in range(8)]
    targets = [("q1", "d0"), ("q1", "d1"), ("q2", "d2")]
    rows = [
        (q, d, round((3.0 if (q, d) in targets else -2.0) + 0.7 * ((n * 5) % 8 - 3), 2), "YES" if n < 2 else "NO")
        for q in ("q1", "q2")
        for n, d in enumerate(documents)
    ]
    made["write"](folder, ("q1", "q2"), documents, targets, rows)
    evaluation = (
        "name: qbe\nprotocol: quesst\ndatasets:\n  dev: {ecf: ecf.xml, rttm: rttm.xml}\n"
        "query_sets:\n  dev: {kwlist: kwlist.xml}\nsystems:\n  pattern: output/{system}.xml\n"
    )
    return page_of(folder, {"evaluation.yaml": evaluation, "output/s.xml": made["stdlist"](rows)})


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


@pytest.mark.parametrize("family", ["stt", "med", "quesst"])
def test_pages_of_all_families_are_whole_escaped_and_labelled(family, request):
    html = request.getfixturevalue(family)
    parsed = read(html)
    ids = [e["attrs"]["id"] for e in parsed.elements if "id" in e["attrs"]]
    assert len(ids) == len(set(ids))
    named = {one for e in parsed.elements for one in e["attrs"].get("aria-labelledby", "").split()}
    named |= {e["attrs"]["href"][1:] for e in parsed.elements if e["attrs"].get("href", "").startswith("#")}
    assert named <= set(ids)
    assert "<b>" not in html
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
    assert heads(read(med))[2] == "Pmd"


def test_calibration_has_its_table_and_a_plot_a_cell(quesst):
    part = between(read(quesst), "calibration")
    assert sum(e["tag"] == "svg" for e in part) == 1
    curves = [e["attrs"]["d"] for e in part if e["tag"] == "path" and "curve" in e["attrs"].get("class", "")]
    assert len(curves) == 2
    assert all(curve.count("L") >= 80 for curve in curves)
    assert heads(read(quesst))[2:5] == ["Cnxe", "min Cnxe", "calibration loss"]
