"""Every message of every reader: its whole text and its place, by the tables of ``messages``."""

from __future__ import annotations

import re
from functools import cache

import pytest

from pipeline.formats import packed, xmlstream
from pipeline.formats.kws import kwlist, kwslist
from tests.unit.formats.messages import common, kws, labelled, lre, med, resources, sites, stt
from tests.unit.formats.messages.rows import Row, played

ROWS = (*common.ROWS, *kws.ROWS, *labelled.ROWS, *lre.ROWS, *med.ROWS, *resources.ROWS, *stt.ROWS)
FORMATS = sites.ROOT / "pipeline" / "formats"
SOURCES = [
    FORMATS.parent / "errors.py",
    *sorted(path for path in FORMATS.rglob("*.py") if path.parent.name not in ("fast", "convert")),
]
"""The fast reader says nothing: what is not as it knows it, it leaves to the other one. Conversions are commands, with
tests of their own."""


APART = {
    ("kws/queries.py", "read_queries", "text_lines"): "csv reads the lines, in a loop of its own",
    ("labelled.py", "read_labelled", "text_lines"): "csv reads the lines, in a loop of its own",
    ("kws/rttm.py", "note_repeats", "records.take"): "rows of a table, which says nothing",
    ("stt/glm.py", "of", "_rules"): "a text that was read before",
    ("lre/out.py", "take", "numbers.decimals"): "finds out that something is wrong, which _check tells",
    ("med/threshold.py", "_times", "numbers.decimal"): "finds out that something is wrong, which is a warning here",
    ("packed.py", "readinto", "self._plain.readinto"): "what unpacks says nothing",
}
"""Calls that look like makers of messages, and why none of them is."""


@cache
def reached(rows: tuple[int, ...] = tuple(range(len(ROWS)))) -> set[sites.Place]:
    """Every place that something told of these rows has come by."""
    places = set()
    for one in (ROWS[at] for at in rows):
        with sites.recorded() as recorder:
            _, lines = played(one)
        places |= recorder.reached(lines)
    return places


@pytest.mark.parametrize("one", ROWS, ids=lambda one: one.reader)
def test_what_is_told_of_a_file(one: Row) -> None:
    assert played(one)[1] == list(one.told)


def test_no_message_is_without_a_row() -> None:
    missed = [site for site in sites.sites(SOURCES) if site.places.isdisjoint(reached())]
    named = {(site.path.removeprefix("pipeline/formats/"), site.function, site.called): site for site in missed}
    assert [str(named[name]) for name in named.keys() - APART.keys()] == []
    assert APART.keys() - named.keys() == set()


def test_a_message_without_a_row_is_found_out() -> None:
    others = tuple(at for at, one in enumerate(ROWS) if "twice" not in "".join(one.told))
    missed = [site for site in sites.sites(SOURCES) if site.places.isdisjoint(reached(others))]
    places = {(site.path, site.function) for site in missed}
    assert {("pipeline/formats/stt/trn.py", "read_trn"), ("pipeline/formats/med/csv.py", "_note_repeated")} <= places
    assert ("pipeline/formats/stt/stm.py", "read_stm") not in places


@pytest.mark.parametrize("mends", [xmlstream._MENDS, kwlist._SLIPS, kwslist._SLIPS, packed._MAGIC])
def test_no_hint_is_without_a_row(mends: dict[object, str]) -> None:
    lines = "\n".join(line for one in ROWS for line in one.told)
    assert [mend for mend in mends.values() if mend not in lines] == []


def test_a_refusal_says_what_to_do() -> None:
    """Where it is, what is wrong, how to mend it: a sentence each behind the place."""
    form = re.compile(r"[^ ]+: .+[^.]\. [A-Z].+\.")
    refused = [line for one in ROWS if played(one)[0] for line in one.told]
    assert [line for line in refused if not form.fullmatch(line)] == []
