"""Speech-to-text, segment by segment: a page beside a system's own with reference and output side by side."""

from __future__ import annotations

import base64
import hashlib
import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import Any

import jinja2
from markupsafe import Markup

from pipeline.engine.result import Result
from pipeline.report.environments import new_environment
from pipeline.report.shown import PageContents

WORST = 50
"""Segments that stand on the page for those who run no script."""
PAIRS = 60
"""Errors whose segments can be asked for, the most frequent first."""
_KINDS = "SDI"
_MARKUP: dict[str, str | int | None] = {sign: f"\\u{ord(sign):04x}" for sign in "<>&\u2028\u2029"}


@dataclass(frozen=True)
class AlignedCell:
    """One cell with alignments, and the name of its page, which lies beside the system's."""

    result: Result
    file: str

    @property
    def place(self) -> str:
        """Query set and dataset."""
        cell = self.result.cell
        return "" if cell is None else f"{cell.query_set} × {cell.dataset}"


def aligned_cells(view: PageContents) -> tuple[AlignedCell, ...]:
    """The cells of a system's page that list their alignments and may show all of their key."""
    own = [one for one in view.results if view.system and one.cell is not None and one.tables.get("alignment")]
    shown = [one for one in own if one.cell is not None and _shows_all(view, one.cell.dataset)]
    return tuple(AlignedCell(result, f"{view.stem}.alignment-{at}.html") for at, result in enumerate(shown, 1))


def _shows_all(view: PageContents, dataset: str) -> bool:
    level = view.levels.get(dataset)
    return level is None or level.shows_all


def alignment_pages(view: PageContents) -> Iterator[tuple[str, str]]:
    """The pages of a system's cells by file name; none where no alignments are listed."""
    for cell in aligned_cells(view):
        yield cell.file, _page(view, cell)


def _page(view: PageContents, cell: AlignedCell) -> str:
    text, digest = _script()
    rows = cell.result.tables["alignment"]
    worst = sorted(range(len(rows)), key=lambda at: (-_errors(rows[at]), at))[:WORST]
    return (
        _environment()
        .get_template("alignment.html.j2")
        .render(
            evaluation=view.run.attributes["evaluation"],
            system=view.system,
            place=cell.place,
            back=f"{view.stem}.html",
            n=len(rows),
            worst=[rows[at] for at in worst],
            pairs=cell.result.tables.get("confusions", ())[:PAIRS],
            data=Markup(_data(rows)),  # noqa: S704  # every sign of markup is escaped
            script=text,
            digest=digest,
        )
    )


def _errors(row: Mapping[str, Any]) -> int:
    return sum(step[0] in _KINDS for step in row["steps"])


def _data(rows: Sequence[Mapping[str, Any]]) -> str:
    """Columns as JSON that may stand in a page: of each segment name, place, times, errors by kind and steps.

    A step is its letter and both sides, between line feeds where they differ, a side without a token ``\\v``; steps
    stand between tabs. So a segment is one text that is searched at once and taken apart only where it is seen.
    """
    columns = {
        "id": [row["id"] for row in rows],
        "place": [f"{row['file']} {row['channel']}" for row in rows],
        "begin": [row["begin_s"] for row in rows],
        "end": [row["end_s"] for row in rows],
        **{kind: [sum(step[0] == kind for step in row["steps"]) for row in rows] for kind in _KINDS},
        "steps": ["\t".join(map(_step, row["steps"])) + "\t" for row in rows],
    }
    text = json.dumps(columns, ensure_ascii=False, separators=(",", ":"))
    return text.translate(str.maketrans(_MARKUP))


def _step(step: list[Any]) -> str:
    letter, reference, output, _ = step
    if reference == output:
        return f"{letter}{reference}"
    return "\n".join([f"{letter}{_side(reference)}", _side(output)])


def _side(token: str | None) -> str:
    return "\v" if token is None else token


@cache
def _script() -> tuple[Markup, str]:
    text = files("pipeline.report").joinpath("templates", "alignment.js").read_text("utf-8")
    digest = base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()
    return Markup(text), digest  # noqa: S704  # the project's own file


@cache
def _environment() -> jinja2.Environment:
    return new_environment()
