"""Pages of real runs of every family, scored in process."""

from __future__ import annotations

import runpy
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

from pipeline.config import load_evaluation
from pipeline.engine.cell import load_result, score_cell
from pipeline.engine.plan import plan
from pipeline.grid import gather
from pipeline.report import render_page
from pipeline.store.blobs import Store

MADE = Path(__file__).parent.parent / "protocols"
KEYWORD_SEARCH = ("std2006", "sws2011", "sws2012", "sws2013", "openkws13", "openkws13-segments")
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


class Page(str):
    """The HTML of a run's page, with the grid that it shows."""

    __slots__ = ("grid",)

    grid: dict[str, Any]


def page_of(folder: Path, texts: dict[str, str]) -> Page:
    """Write the files of an evaluation, score it, render it."""
    for name, text in texts.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text)
    store = Store(str(folder / "store"))
    planned = plan(load_evaluation(str(folder / "evaluation.yaml")), store)
    results = [load_result(store, score_cell(store, planned, job.cell)) for job in planned.jobs]
    assert all(result.failed in (None, "missing_output") for result in results)
    grid = {name: group.assign_attrs(run="0123") for name, group in gather(planned, results).items()}
    page = Page(render_page(grid, results))
    page.grid = grid
    return page


def stt(folder: Path) -> Page:
    """Two recognisers on one dataset, with confidences and hostile words."""
    evaluation = (
        "name: talk\nprotocol: stt13\nsettings: {alignment: true}\ndatasets:\n  dev: {stm: dev.stm}\n"
        "query_sets:\n  all: {}\nsystems:\n  pattern: output/{system}.ctm\n"
    )
    outputs = {f"output/{name}.ctm": text for name, text in CTM.items()}
    return page_of(folder, {"evaluation.yaml": evaluation, "dev.stm": STM, **outputs})


def med(folder: Path) -> Page:
    """One system on two events."""
    made = runpy.run_path(str(MADE / "med_tiny.py"))
    texts = {f"{role}.csv": text for role, text in made["files"](resources=None).items()}
    texts["evaluation.yaml"] = (
        "name: med\nprotocol: med11\ndatasets:\n"
        "  test: {ref: ref.csv, index: index.csv, clipmd: clipmd.csv, eventdb: eventdb.csv}\n"
        "query_sets:\n  events: {}\nsystems:\n  pattern:\n    detection: output/{system}.detection.csv\n"
        "    threshold: output/{system}.threshold.csv\n"
    )
    texts |= {f"output/one.{role}.csv": texts[f"{role}.csv"] for role in ("detection", "threshold")}
    return page_of(folder, texts)


def lre(folder: Path) -> Page:
    """Three systems on two tracks, one of them missing on one."""
    made = runpy.run_path(str(MADE / "lre_files.py"))
    key = made["key_of"](2)
    outputs = {
        f"output/{system}/{track}.out": made["output_text"](key, track, strength=strength, seed=seed)
        for seed, (system, strength) in enumerate({"GTTS_pri": 1.0, "L2F_pri": 2.0, "L2F_con": 0.5}.items())
        for track in ("EC", "EO")
        if (system, track) != ("L2F_con", "EO")
    }
    evaluation = (
        "name: lre\nprotocol: albayzin-lre12\nsettings: {also_closed: true}\ndatasets: {k: {key: key.txt}}\n"
        "query_sets: {EC: {}, EO: {}}\n"
        "systems: {pattern: 'output/{system}/{query_set}.out', primary: [GTTS_pri, L2F_pri]}\n"
    )
    texts = {"evaluation.yaml": evaluation, "key.txt": made["key_text"](key), **outputs}
    return page_of(folder, texts)


def keyword_search(folder: Path, protocol: str) -> Page:
    """Two systems and one whose output is missing, under a protocol of keyword search."""
    made = runpy.run_path(str(MADE / "kws_inputs.py"))
    words = [("one", 3), ("two", 20), ("three", 41), ("one", 66), ("two", 90)]
    rttm = "".join(made["lexeme"](word, begin) for word, begin in words)
    rttm += "SPEAKER f 1 0 100 <NA> <NA> s <NA>\n"
    texts = {
        "ecf.xml": made["ecf"](("f", "1", 0, 100)),
        "key.rttm": rttm,
        "kwlist.xml": made["kwlist"](q1="one", q2="two", q3="three", q4="four"),
    }
    for system, slip in (("a", 0), ("b", 2)):
        rows = {
            f"q{n}": [("f", "1", begin, 1.0, 0.9 - 0.1 * at - 0.05 * slip, "YES") for at, begin in enumerate(begins)]
            for n, begins in enumerate(([3, 66], [20, 50 + slip], [41 + 9 * slip]), 1)
        }
        texts[f"output/{system}_q.xml"] = made["kwslist"](*rows.items())
    texts["evaluation.yaml"] = (
        f"name: kws\nprotocol: {protocol}\ndatasets: {{d: {{ecf: ecf.xml, rttm: key.rttm}}}}\n"
        "query_sets: {q: {kwlist: kwlist.xml}}\nsystems:\n  pattern: output/{system}_{query_set}.xml\n"
        "  c: {outputs: output/none.xml}\n"
    )
    return page_of(folder, texts)


def quesst(folder: Path) -> Page:
    """One system, two queries, eight documents."""
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


FAMILIES: dict[str, Callable[[Path], Page]] = {
    "stt": stt,
    "med": med,
    "quesst": quesst,
    "lre": lre,
    **{protocol: partial(keyword_search, protocol=protocol) for protocol in KEYWORD_SEARCH},
}
"""The page of every family and of every protocol of keyword search, from files in a folder."""
