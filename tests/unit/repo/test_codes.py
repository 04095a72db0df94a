"""docs/codes.md and the source agree: every code has a row of its kind, and every row a code."""

from __future__ import annotations

import re
from functools import cache
from itertools import pairwise
from pathlib import Path

import pytest

from pipeline.cli import BROKEN_PIPE, INTERRUPTED
from pipeline.errors import InputError, PlatformError, UsageError
from pipeline.formats.kws.rttm_patterns import PATTERNS
from pipeline.meta.comparable import REFUSED
from pipeline.season.beside import RULES as BESIDE
from tests.unit.repo.codes_in_source import FINDING, PROBLEM, REASON, STATUS, WAIT, WARNING, codes_in

ROOT = Path(__file__).parents[3]
PARTS = {
    "Problems": PROBLEM,
    "Warnings": WARNING,
    "Reasons": REASON,
    "Statuses": STATUS,
    "Why a run waits": WAIT,
}
PUT_TOGETHER = {
    "pattern_{}": {f"pattern_{kind.decode().lower().replace('-', '_')}" for kind in PATTERNS},
    "unknown_{}": {"unknown_query_set", "unknown_dataset"},
    "other_{}": {f"other_{aspect}" for aspect in REFUSED},
    "bad_{}": {"bad_label", "bad_decision"},
    "missing_{}": {f"missing_{role}" for role in BESIDE},
}
"""What is made at run time of names in the source."""
_ROW = re.compile(r"^\| `(\w+)` \| ([^|]+) \| ([^|]+) \| ([^|]+) \|$")


def sections() -> dict[str, list[str]]:
    text = (ROOT / "docs" / "codes.md").read_text(encoding="utf-8")
    parts = re.split(r"^## (.+)$", text, flags=re.MULTILINE)
    return {
        title: [line for line in body.splitlines() if line.startswith("|")][2:]
        for title, body in zip(parts[1::2], parts[2::2], strict=True)
    }


def rows() -> dict[str, list[str]]:
    """The codes of each part, in the order of its table."""
    found = {}
    for title, kind in PARTS.items():
        matches = [_ROW.fullmatch(line) for line in sections()[title]]
        assert all(matches), f"a row of {title} that is not read as one"
        found[kind] = [match[1] for match in matches if match]
    return found


@cache
def said() -> dict[str, set[str]]:
    """The kinds of each code in the source, those that are put together at run time as they come out."""
    found: dict[str, set[str]] = {}
    for code, kinds in codes_in(ROOT).items():
        for made in PUT_TOGETHER.get(code, {code}):
            found.setdefault(made, set()).update(kinds)
    return found


def lacking(said_as: dict[str, set[str]], told: dict[str, list[str]]) -> set[tuple[str, str]]:
    """Codes without a row; a finding may have it among the problems or the warnings."""
    missing = {(kind, code) for code, kinds in said_as.items() for kind in kinds - {FINDING} if code not in told[kind]}
    either = {code for code, kinds in said_as.items() if FINDING in kinds}
    return missing | {(FINDING, code) for code in either - {*told[PROBLEM], *told[WARNING]}}


def idle(said_as: dict[str, set[str]], told: dict[str, list[str]]) -> set[tuple[str, str]]:
    """Rows without a code."""
    as_finding = {PROBLEM, WARNING}
    return {
        (kind, code)
        for kind, codes in told.items()
        for code in codes
        if not said_as.get(code, set()) & ({kind, FINDING} if kind in as_finding else {kind})
    }


def test_every_code_has_a_row() -> None:
    missing = lacking(said(), rows())
    assert missing == set()


def test_every_row_has_a_code() -> None:
    stale = idle(said(), rows())
    assert stale == set()


def test_rows_are_sorted_and_each_is_another() -> None:
    for kind, codes in rows().items():
        assert all(one < other for one, other in pairwise(codes)), kind


def test_exit_codes_are_those_of_the_commands() -> None:
    told = [int(line.split("|")[1]) for line in sections()["Exit codes"]]
    errors = (InputError, UsageError, PlatformError)
    assert told == [0, *(error.exit_code for error in errors), INTERRUPTED, BROKEN_PIPE]


SOURCE = """
from pipeline.named import LATE
EARLY, ODD = "too_early", "is_odd"
_ROWS = {"in_table": "text"}

class Figure:
    value: float
    reason: str | None = None
    status: str | None = None

def _new_wrapper(what, code, notices): ...

def judge(problems, notices, remarks, place, n):
    problems.add("refused_here", 1, "what", "mend")
    notices.add("warned_here" if n else EARLY, 1, "what")
    remarks.error("remark_code", "where", "what")
    place.note(("a_field", n), "at_field", "what")
    _new_wrapper("what_is_said", "by_wrapper", notices)
    reason = LATE if n else None
    failed = n or "not_there"
    for state, code in ((1, "looped_one"), (2, "looped_two")):
        yield Finding(code, "message", "where")
    for code, text in _ROWS.items():
        yield Finding(code, text, "where")
    notices.add(f"made_{n}", 1, "what")
    seen = set()
    seen.add("no_code_at_all")
    yield Figure(0.0, None, "with_status"), Figure(0.0, reason="by_keyword")

def drawn(rows) -> Sample | str:
    return ODD
"""
DEFINITIONS = """
class Problems:
    def add(self, code, line, what, mend=""): ...

class Remarks:
    def error(self, code, where, what): ...

class OpenDocument:
    def note(self, path, code, what): ...

class Finding:
    code: str
    message: str
    where: str
"""


@pytest.fixture
def project(tmp_path: Path) -> Path:
    for name, text in (("named", 'LATE = "too_late"\n'), ("judge", SOURCE), ("errors", DEFINITIONS)):
        (tmp_path / "pipeline").mkdir(exist_ok=True)
        (tmp_path / "pipeline" / f"{name}.py").write_text(text, encoding="utf-8")
    return tmp_path


def test_codes_are_found_wherever_they_are_given(project: Path) -> None:
    assert {code: set(kinds) for code, kinds in codes_in(project).items()} == {
        "refused_here": {PROBLEM},
        "warned_here": {WARNING},
        "too_early": {WARNING},
        "made_{}": {WARNING},
        "remark_code": {PROBLEM},
        "at_field": {PROBLEM},
        "by_wrapper": {FINDING},
        "too_late": {REASON},
        "not_there": {REASON},
        "is_odd": {REASON},
        "by_keyword": {REASON},
        "with_status": {STATUS},
        "looped_one": {FINDING},
        "looped_two": {FINDING},
        "in_table": {FINDING},
    }


def test_a_code_without_a_row_and_a_row_without_a_code_are_told() -> None:
    told = {PROBLEM: ["here"], WARNING: [], REASON: [], STATUS: ["gone"], WAIT: []}
    said_as = {"here": {FINDING}, "odd": {WARNING}, "new": {FINDING, REASON}}
    assert lacking(said_as, told) == {(WARNING, "odd"), (FINDING, "new"), (REASON, "new")}
    assert idle(said_as, told) == {(STATUS, "gone")}
