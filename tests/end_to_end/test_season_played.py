"""A whole season by its commands: twelve teams, three deadlines, an appeal, two corrections of the key."""

from __future__ import annotations

import html
import re
from urllib.parse import unquote

import pytest
from browsing import Visit, grave_faults

from pipeline.cli import main
from pipeline.cli.seasons.played import DISPUTED, TRANSCRIPT, PlayedSeason
from pipeline.demo.season import NAME, TEAMS
from pipeline.grid import load_run
from pipeline.report.seasons.packets import seen_by
from pipeline.report.seasons.view import releases_of, with_struck
from pipeline.season import ledger
from pipeline.season.gate import notice
from pipeline.season.releases import released
from pipeline.season.standing import standing
from pipeline.store.blobs import Store


@pytest.fixture(scope="module")
def played(tmp_path_factory):
    return PlayedSeason(tmp_path_factory.mktemp("played")).play()


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
    assert "withdraw queries: <bdi>word08</bdi> (misspelt in the list)" in front
    assert re.search(r'<span class="note">was \d+</span>', front), "the official board is compared with"
    official = played.folder / "store" / "public" / NAME / "eval" / "02-official"
    assert "kelp" in (official / "index.html").read_text()
    assert "kelp" in (official / "board.csv").read_text()
    packet = (played.folder / "store" / "packets" / NAME / "ember" / "index.html").read_text()
    assert "refused" in packet
    assert "no number" in packet or "bad_number" in packet or "score" in packet
    texts = [path.read_text() for path in played.pages()]
    assert len(texts) >= 20
    assert not any("mail.example" in text for text in texts)
    assert not any("& Sons <Speech>" in text for text in texts), "everything is escaped"


def test_no_page_links_to_what_its_reader_cannot_open(played):
    broken = {
        (str(page), link)
        for page in played.pages()
        for link in re.findall(r'href="([^"#:]+)[#"]', page.read_text())
        if not (page.parent / unquote(html.unescape(link))).exists()
    }
    assert not broken


def test_what_stands_beside_outputs_is_shown_and_a_bad_description_refused(played):
    public = played.folder / "store" / "public" / NAME
    front = (public / "index.html").read_text()
    assert "16 × M2, 2.26 GHz, 24 GB RAM" in front
    assert "description of all systems" in front
    last = max((public / "eval").iterdir())
    assert sorted(path.suffix for path in (last / "descriptions").iterdir()) == [".pdf", ".txt"]
    (refused,) = [one.text for one in played.said if "cobalt.pdf" in one.command]
    assert "allowed: a PDF" in refused
    dev = next((public / "dev").glob("*/index.html")).read_text()
    assert "replaced by fjord+v1" in dev
    assert "the best counts" in dev


def test_the_appeal_was_told_before_it_was_granted(played):
    _, file, begin = DISPUTED
    [explained] = [one.text for one in played.said if one.command.startswith("rescore explain")]
    assert f"occurrence {file} 1 {begin:g}-153.8 s: MISS, only: nothing else is in reach of either" in explained
    [moved] = [one.text for one in played.said if one.command.startswith("rescore whatif")]
    assert "words/eval/cobalt: ATWV " in moved
    assert "rttm key.rttm with appeal.patch" in moved
    transcript = (played.folder / TRANSCRIPT).read_text()
    assert transcript.index("appeal.patch") < transcript.index("appeal of cobalt granted")


def test_a_packet_has_the_alignment_of_its_own_systems_and_what_was_withdrawn(played):
    packets = played.folder / "store" / "packets" / NAME
    rows = (packets / "cobalt" / "eval" / "words" / "eval" / "cobalt" / "alignment.csv").read_text().splitlines()
    assert len(rows) > 40
    assert not list((packets / "cobalt").rglob("aurora"))
    assert "<s>kelp</s>" in (packets / "kelp" / "index.html").read_text()
    assert not list((packets / "kelp" / "eval").rglob("alignment.csv"))


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_axe_finds_no_serious_fault(played, browser, scheme, require):
    packet = played.folder / "store" / "packets" / NAME / "ember" / "index.html"
    for page in (played.folder / "store" / "public" / NAME / "index.html", packet):
        with Visit(browser, page, scheme=scheme, bypass_csp=True) as visit:
            assert grave_faults(visit.page, scheme, require) == [], page


def test_a_season_is_not_played_over_another(tmp_path, capsys):
    (tmp_path / ".rescore-demo").touch()
    (tmp_path / "season").mkdir()
    assert main(["demo", "--season", "--folder", str(tmp_path)]) == 2
    assert "holds a season already" in capsys.readouterr().err


def test_aliases_follow_the_board_and_not_the_alphabet(played, store):
    found = standing(store, NAME)
    phase = found.rules.phase("eval")
    release = seen_by(with_struck(found, phase, releases_of(store, found, phase)), "ember", "anonymous")
    rows = [entry.system for entry in release.boards[0].board.entries]
    assert rows[:5] == ["system 1", "system 2", "system 3", "system 4", "ember"]
    assert not any(entry.team not in ("", "ember") for entry in release.boards[0].board.entries)
    assert release.boards[0].struck == ()
