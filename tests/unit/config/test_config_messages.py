"""Every message of the readers of settings: its whole text and its place, by the tables of ``messages``."""

from __future__ import annotations

from functools import cache

import pytest

from tests.unit.config.messages import evaluation, season, study
from tests.unit.config.messages.rows import Row, plain, played
from tests.unit.formats.messages import sites

ROWS = (*evaluation.ROWS, *season.ROWS, *study.ROWS)
SOURCES = [
    *sorted((sites.ROOT / "pipeline" / "config").glob("*.py")),
    sites.ROOT / "pipeline" / "meta" / "published.py",
]


APART = {
    ("config/found.py", "discovered", "place.resolve"): "says the address of a pattern that was taken before",
    (
        "config/ledger.py",
        "ledger_systems",
        "place.resolve",
    ): "was told before, where the rule of the phase is asked for",
    ("config/load.py", "_check_protocol", "_accepted"): "no setting depends on another yet; each is taken alone",
    ("config/systems.py", "_others", "place.resolve"): "says the address of a pattern that was taken before",
}
"""Calls that look like makers of messages, and why none of them is."""


@cache
def reached() -> set[sites.Place]:
    """Every place that something told of a row has come by."""
    places = set()
    for one in ROWS:
        with sites.recorded() as recorder:
            lines = played(one)
        recorder.made = [(plain(text), where) for text, where in recorder.made]
        places |= recorder.reached(lines)
    return places


@pytest.mark.parametrize("one", ROWS, ids=lambda one: one.kind)
def test_what_is_told_of_a_file(one: Row) -> None:
    assert played(one) == list(one.told)


def test_no_message_is_without_a_row() -> None:
    missed = [site for site in sites.sites(SOURCES) if site.places.isdisjoint(reached())]
    named = {(site.path.removeprefix("pipeline/"), site.function, site.called): site for site in missed}
    assert [str(named[name]) for name in named.keys() - APART.keys()] == []
    assert APART.keys() - named.keys() == set()
