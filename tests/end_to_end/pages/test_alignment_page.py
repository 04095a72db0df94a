"""Alignments of speech-to-text in a browser: reference and output side by side, chosen by error, worst first."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from browsing import Visit

from flows.steps import finish, score_here
from pipeline.config import load_evaluation
from pipeline.engine.plan import missing, plan
from pipeline.report.alignments import alignment_pages
from pipeline.report.shown import PageContents
from pipeline.store.blobs import Store

EVALUATION = """\
name: talk
protocol: stt13
settings: {alignment: true}
datasets: {dev: {stm: dev.stm}}
query_sets: {all: {}}
systems: {pattern: '{system}.ctm'}
"""
STM = """\
f1 1 ann 0 10 one two three
f1 1 bob 10 20 four five
f1 1 ann 20 30 <o> </script><b>x six (uh)
"""
CTM = """\
f1 1 1 1 one 0.9
f1 1 2 1 too 0.9
f1 1 3 1 tree 0.9
f1 1 11 1 four 0.9
f1 1 12 1 five 0.9
f1 1 13 1 more 0.9
f1 1 21 1 </script><b>x 0.9
"""
MANY = 50_000


def reports(folder: Path, **changes: str) -> dict[str, str]:
    """The pages of systems of a run, by file name."""
    (folder / "dev.stm").write_text(STM)
    (folder / "a.ctm").write_text("f1 1 1 1 one 0.9\n")
    (folder / "b.ctm").write_text(CTM)
    text = EVALUATION
    for old, new in changes.items():
        text = text.replace(old, new)
    (folder / "e.yaml").write_text(text)
    store = Store(str(folder / "store"))
    planned = plan(load_evaluation(str(folder / "e.yaml")), store)
    run = finish(store, planned, score_here(store, planned, missing(planned.jobs, store)))
    paths = {name: path for name, path in run.reports.items() if name.startswith("systems/") and name.endswith("html")}
    return {name.removeprefix("systems/"): store.get(path).decode() for name, path in paths.items()}


def opened(browser: Any, folder: Path, pages: Mapping[str, str], name: str, *, script: bool = True) -> Visit:
    for file, text in pages.items():
        (folder / file).write_text(text)
    return Visit(browser, folder / name, script=script)


def test_segments_stand_side_by_side_and_can_be_chosen(browser: Any, tmp_path: Path) -> None:
    pages = reports(tmp_path)
    assert {"002-b.html", "002-b.alignment-1.html", "001-a.alignment-1.html"} <= set(pages)
    with opened(browser, tmp_path, pages, "002-b.html") as visit:
        visit.page.get_by_role("link", name="all × dev").first.click()
        page = visit.page
        page.wait_for_selector(".segment")
        seen = page.locator(".segment .where").all_inner_texts()
        assert [text.split(":")[-1].strip() for text in seen] == ["2 S, 0 D, 0 I", "0 S, 0 D, 1 I", "0 S, 1 D, 0 I"]
        assert "0 to 10 s" in seen[0]
        first = page.locator(".segment").first.locator(".pair")
        assert first.all_inner_texts() == ["one\none", "two\ntoo", "three\ntree"]

        page.select_option("#kind", "I")
        assert page.locator("#count").inner_text() == "1 of 3 segments"
        assert page.locator(".pair.I").all_inner_texts() == ["*\nmore"]
        page.select_option("#kind", "")
        page.select_option("#pair", label="1 × two → too")
        assert page.locator("#count").inner_text() == "1 of 3 segments"
        page.select_option("#pair", "")
        page.select_option("#order", "time")
        assert "(bob-000)" in page.locator(".segment .where").nth(1).inner_text()
        page.fill("#text", "</script>")
        assert page.locator(".segment").count() == 1
        assert page.locator(".pair").first.inner_text() == "</script><b>x\n</script><b>x"
        assert page.locator(".pair").last.inner_text() == "(uh)\n()", "an optional word that was left out"
        assert visit.complaints == []


def test_without_a_script_the_worst_segments_are_there(browser: Any, tmp_path: Path) -> None:
    with opened(browser, tmp_path, reports(tmp_path), "002-b.alignment-1.html", script=False) as visit:
        assert visit.page.locator("#worst .where").count() == 3
        assert visit.page.locator("#list").is_hidden()
        assert "three" in visit.page.locator("#worst").inner_text()


@pytest.mark.parametrize("disclose", ["no_key", "held", "[wer]"])
def test_where_the_key_is_held_back_there_are_none(disclose: str, tmp_path: Path) -> None:
    told = {"{stm: dev.stm}": f"{{stm: dev.stm, disclose: {disclose}}}"}
    assert not [name for name in reports(tmp_path, **told) if "alignment" in name]


def test_without_alignments_in_results_there_are_none(tmp_path: Path) -> None:
    assert not [name for name in reports(tmp_path, **{"{alignment: true}": "{}"}) if "alignment" in name]


def test_a_page_of_fifty_thousand_segments_draws_few_of_them(
    browser: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    views = list[PageContents]()

    def kept(view: PageContents) -> Any:
        views.append(view)
        return alignment_pages(view)

    monkeypatch.setattr("pipeline.report.write.alignment_pages", kept)
    reports(tmp_path)
    view = views[-1]
    [result] = view.results
    rows = result.tables["alignment"]
    many = tuple({**rows[at % 3], "id": f"(s-{at})", "begin_s": float(at)} for at in range(MANY))
    large = replace(view, results=(replace(result, tables={**result.tables, "alignment": many}),))
    with opened(browser, tmp_path, dict(alignment_pages(large)), "002-b.alignment-1.html") as visit:
        page = visit.page
        assert page.locator("#count").inner_text() == f"{MANY} of {MANY} segments"
        assert page.locator(".segment").count() < 60
        page.evaluate("document.getElementById('list').scrollTop = 1e9")
        page.locator(".where", has_text="(s-49997)").wait_for()
        page.select_option("#kind", "D")
        assert page.locator("#count").inner_text() == f"{MANY // 3} of {MANY} segments"
        assert visit.complaints == []
