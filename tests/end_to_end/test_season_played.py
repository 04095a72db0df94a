"""A whole season by its commands: twelve teams, three deadlines, an appeal, two corrections of the key."""

from __future__ import annotations

import html
import json
import re
from urllib.parse import unquote

import pytest
from season_script import NAME, TEAMS, Script, pages

from pipeline.grid import load_run
from pipeline.season import ledger
from pipeline.season.gate import notice
from pipeline.season.releases import released
from pipeline.season.standing import standing
from pipeline.store.blobs import Store


@pytest.fixture(scope="module")
def played(tmp_path_factory):
    return Script(tmp_path_factory.mktemp("played")).play()


@pytest.fixture(scope="module")
def store(played):
    return Store(played.store)


def test_every_upload_of_every_team_is_listed_with_what_became_of_it(played, store):
    found = standing(store, NAME)
    states = {(fate.submission.phase, fate.submission.team): set() for fate in found.fates}
    for fate in found.fates:
        states[fate.submission.phase, fate.submission.team].add(fate.state)
    assert {team for _, team in states} == set(TEAMS)
    assert states["eval", "ember"] == {"refused", "counts"}
    assert states["eval", "basalt"] == {"replaced", "counts"}
    assert states["eval", "kelp"] == {"withdrawn"}
    assert ("dev", "dune") not in states
    late = [fate.submission for fate in found.fates if fate.submission.late]
    assert {one.team for one in late} == {"heron"}
    assert len(found.counting("eval")) == len(TEAMS)  # aurora has two, kelp is gone


def test_releases_follow_each_other_and_each_key_version_has_its_parent(played, store):
    assert [one.state for one in released(store, f"{NAME}-eval")] == ["preliminary", "official", "corrected"]
    keys = [entry.body for entry in ledger.entries(store, NAME) if entry.kind == ledger.KEY]
    assert [key["version"] for key in keys] == [1, 2, 3]
    assert [key["parent"] for key in keys] == [None, keys[0]["sha256"], keys[1]["sha256"]]
    assert all(key["author"] == "K. Annotator" and key["reason"] for key in keys)
    trips = notice(store, load_run(store, played.staged)).trips
    assert "key_shrunk" in [trip.code for trip in trips], "the second correction took more than a tenth of the key"


def test_the_pages_say_what_happened(played, store):
    front = (played.folder / "store" / "public" / NAME / "index.html").read_text()
    assert "<s>kelp</s>" in front
    assert "trained on the evaluation data by mistake" in front
    assert "appeal of cobalt granted" in front
    official = played.folder / "store" / "public" / NAME / "eval" / "02-official"
    assert "kelp" in (official / "index.html").read_text()
    assert "kelp" in (official / "board.csv").read_text()
    packet = (played.folder / "store" / "packets" / NAME / "ember" / "index.html").read_text()
    assert "refused" in packet
    assert "no number" in packet or "bad_number" in packet or "score" in packet
    texts = [path.read_text() for path in pages(played.folder)]
    assert len(texts) >= 20
    assert not any("mail.example" in text for text in texts)
    assert not any("& Sons <Speech>" in text for text in texts), "everything is escaped"


def test_no_page_links_to_what_its_reader_cannot_open(played):
    broken = {
        (str(page), link)
        for page in pages(played.folder)
        for link in re.findall(r'href="([^"#:]+)[#"]', page.read_text())
        if not (page.parent / unquote(html.unescape(link))).exists()
    }
    assert not broken


def test_the_appeal_was_told_before_it_was_granted(played):
    explained = next(said for said in played.said if "rows" in said)
    assert {row["kind"] for row in explained["rows"]} >= {"occurrence"}
    moved = next(said for said in played.said if "n_cells" in said and "before" in said)
    assert "cobalt" in json.dumps(moved["cells"])
