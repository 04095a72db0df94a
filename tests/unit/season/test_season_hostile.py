"""Names of teams with markup, quotes, 300 characters or right-to-left text on every page of a season."""

from __future__ import annotations

import re
from html import unescape
from html.parser import HTMLParser
from pathlib import Path

import season_files as files
from season_world import Season

from pipeline.report.seasons.packets import write_packets
from pipeline.report.seasons.public import publish_season
from pipeline.season.submit import Sender, withdraw

SCRIPT, QUOTES = "<script>alert(1)</script>\u202e", "\"'><img src=x onerror=alert(2)>عربي" + "x" * 300


class Tags(HTMLParser):
    """The names of all elements and attributes."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.tags, self.attributes = set[str](), set[str]()
        self.feed(html)

    def handle_starttag(self, tag, attrs):
        self.tags.add(tag)
        self.attributes.update(name for name, _ in attrs)


def test_names_of_teams_are_harmless_on_every_page(tmp_path):
    season = Season(tmp_path, team_names=(SCRIPT, QUOTES, "North & Söhne"))
    season.release(season.run(), "official")
    withdraw(season.store, files.NAME, Sender("south"), "<b>ours</b>")
    publish_season(season.store, files.NAME)
    write_packets(season.store, files.NAME)
    root = Path(season.store.root)
    pages = [path for top in ("public", "packets") for path in (root / top).rglob("*.html")]
    assert len(pages) >= 4
    for path in pages:
        html = path.read_text(encoding="utf-8")
        found = Tags(html)
        assert not found.tags & {"script", "img", "b", "iframe"}, path
        assert not any(name.startswith("on") for name in found.attributes), path
        assert "\u202e" not in html, path
    own = season.store.get(f"public/{files.NAME}/index.html").decode()
    names = {unescape(text) for text in re.findall(r'<bdi class="team"[^>]*>(.*?)</bdi>', own)}
    assert SCRIPT.replace("\u202e", "\ufffd") in names
    assert QUOTES in names
