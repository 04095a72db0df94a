"""Made-up evaluations as rows of values: what can be shuffled, renamed, shifted and joined before it is written out."""

from __future__ import annotations

import io
import random
import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple

from pipeline import protocols
from pipeline.engine.inputs import format_of
from pipeline.engine.result import document
from pipeline.engine.score import score_tables
from pipeline.errors import RescoreError
from pipeline.formats import READERS
from pipeline.protocols.base import Protocol
from tests.properties.evaluations.written import WRITERS

Rows = tuple[Any, ...]
Names = Mapping[str, Mapping[str, str]]
"""New names by kind (``file``, ``query``, …) and old name."""
NO_NAMES = ("<NA>", "NULL")
"""What stands where a name does not apply."""
TIMES = ("begin", "end")
"""Fields of rows that hold a time. Durations are none."""


@dataclass(frozen=True)
class Evaluation:
    """The inputs of one cell by role, and the settings that differ from the protocol's."""

    protocol: Protocol
    roles: Mapping[str, Rows]
    settings: Mapping[str, str] = field(default_factory=dict)

    def having(self, **roles: Rows) -> Evaluation:
        """With other rows in some roles."""
        return replace(self, roles={**self.roles, **roles})

    def under(self, **settings: str) -> Evaluation:
        """With other settings."""
        return replace(self, settings={**self.settings, **settings})


def changed(rows: Rows, change: Callable[[Any], Any]) -> Rows:
    """Every row after ``change``, and those inside rows (detections inside their block)."""
    made = (change(row) for row in rows)
    return tuple(row._replace(rows=changed(row.rows, change)) if hasattr(row, "rows") else row for row in made)


def score(evaluation: Evaluation, *, measures: tuple[str, ...] = ()) -> dict[str, Any]:
    """The document of the cell, as ``rescore score`` makes it; the codes of its problems where it is refused."""
    own = evaluation.protocol
    try:
        protocol = protocols.find(own.name, mode=own.mode, overrides=evaluation.settings)
        tables = {}
        for role, rows in evaluation.roles.items():
            kind = format_of(protocol, role)
            text = WRITERS[kind.removesuffix("_texts")](rows)
            tables[role] = READERS[kind](io.BytesIO(text.encode()), role)
        return document(score_tables(protocol, tables, (), measures=measures), curve=True)
    except RescoreError as error:
        return {"refused": sorted({getattr(one, "code", "") for one in getattr(error, "findings", ())})}


_PLACES = re.compile(r"\(?lines? [0-9][0-9, …]*\)?|first (?:'[^']*'|in [^ ]*)|\([^)]*'[^)]*\)")


NAMING_THE_FIRST = ("duplicate_record", "overlapping_record")
"""Warnings that tell of the first row of a file among several."""


def told(scored: dict[str, Any], *, plainly: bool = False) -> dict[str, Any]:
    """What a document says whatever the order of tables: rows by their names, warnings without their places.

    With ``plainly`` warnings are told by their codes alone, where messages hold names or times.
    """
    kept = {name: part for name, part in scored.items() if name not in ("signature", "warnings", "edition")}
    warnings = scored.get("warnings", ())
    messages = [
        (one["code"], "" if plainly or one["code"] in NAMING_THE_FIRST else _PLACES.sub("", one["message"]))
        for one in warnings
    ]
    return {**_by_name(kept), "warnings": sorted(messages)}


def _by_name(part: Any) -> Any:
    if isinstance(part, dict):
        return {name: _by_name(value) for name, value in part.items()}
    if not isinstance(part, list) or not part or not isinstance(part[0], dict):
        return part
    if "steps" in part[0]:  # numbers of segments count on in the order of recordings' names
        listed = [{name: value for name, value in row.items() if name != "id"} for row in part]
        return {(row["file"], row["channel"], row["begin_s"]): row for row in listed}
    if "id" in part[0]:
        return {row["id"]: row for row in part}
    if "event" in part[0]:
        return {name: [row for row in part if row["event"] == name] for name in {row["event"] for row in part}}
    return part


# What is done to evaluations ------------------------------------------------------------------------------------------


def shuffled(evaluation: Evaluation, role: str, rng: random.Random) -> Evaluation:
    """The rows of one role in another order: in any, or in the ones among which the protocol's tool makes none."""
    rows = tuple(
        row._replace(rows=tuple(rng.sample(row.rows, len(row.rows)))) if hasattr(row, "rows") else row
        for row in rng.sample(evaluation.roles[role], len(evaluation.roles[role]))
    )
    if role == "rttm" and _settings(evaluation).get("search", "plan") != "plan":
        rows = _chains_kept(evaluation.roles[role], rows)
    if role == "output" and evaluation.protocol.family.name == "segments":
        rows = _equals_kept(evaluation.roles[role], rows)
    return evaluation.having(**{role: rows})


def _settings(evaluation: Evaluation) -> dict[str, Any]:
    return {**vars(evaluation.protocol.settings), **evaluation.settings}


def _chains_kept(before: Rows, after: Rows) -> Rows:
    """KWSEval and STDEval read each speaker's words in the order of the file (spec: kws 2.2, 6): that one stays."""

    def chain(row: Any) -> tuple[str, ...]:
        return (row.file, row.channel, row.speaker)

    words: dict[tuple[str, ...], list[Any]] = {}
    for row in before:
        if row.kind == "LEXEME":
            words.setdefault(chain(row), []).append(row)
    left = {name: iter(rows) for name, rows in words.items()}
    return tuple(next(left[chain(row)]) if row.kind == "LEXEME" else row for row in after)


def _equals_kept(before: Rows, after: Rows) -> Rows:
    """Of detections with the best score in a segment the first of the file stands for it (KWSSegAlign.pm): it stays."""

    def place(block: Any, row: Any) -> tuple[Any, ...]:
        return (block.query, row.file, row.channel, row.score)

    equals: dict[tuple[Any, ...], list[Any]] = {}
    for block in before:
        for row in block.rows:
            equals.setdefault(place(block, row), []).append(row)
    left = {name: iter(rows) for name, rows in equals.items()}
    return tuple(block._replace(rows=tuple(next(left[place(block, row)]) for row in block.rows)) for block in after)


def renamed(evaluation: Evaluation, names: Names) -> Evaluation:
    """Everything under its new name, in rows and in settings that name something."""

    def change(row: Any) -> Any:
        own = {kind: known[getattr(row, kind)] for kind, known in names.items() if hasattr(row, kind)}
        return row._replace(**own)

    settings = dict(evaluation.settings)
    for setting, kinds in {
        "withdrawn": ("query",),
        "excluded_files": ("file",),
        "namefile": ("file", "channel"),
    }.items():
        if setting in settings:
            places = (line.split("/") for line in settings[setting].splitlines())
            settings[setting] = "\n".join(
                "/".join(names.get(kind, {}).get(name, name) for kind, name in zip(kinds, place, strict=True))
                for place in places
            )
    roles = {role: changed(rows, change) for role, rows in evaluation.roles.items()}
    return replace(evaluation, roles=roles, settings=settings)


def document_renamed(scored: dict[str, Any], names: Names, *, lower: bool = False) -> dict[str, Any]:
    """A document whose tables show the new names; with ``lower`` without case, as speech-to-text shows them."""
    flat = {old: new for known in names.values() for old, new in known.items()}
    flat = {old.lower(): new.lower() for old, new in flat.items()} if lower else flat

    def change(part: Any) -> Any:
        if isinstance(part, dict):
            return {name: change(value) for name, value in part.items()}
        return [_row_renamed(row, flat) for row in part] if isinstance(part, list) else part

    warnings = {name: scored[name] for name in ("warnings",) if name in scored}
    return {**change({name: part for name, part in scored.items() if name not in warnings}), **warnings}


def _row_renamed(row: Any, flat: Mapping[str, str]) -> Any:
    if not isinstance(row, dict):
        return row
    named = {n: row[n] for n in ("id", "event", "file", "channel", "speaker", "text") if isinstance(row.get(n), str)}
    return {**row, **{n: " ".join(_word_renamed(word, flat) for word in text.split(" ")) for n, text in named.items()}}


def _word_renamed(word: str, flat: Mapping[str, str]) -> str:
    """A name, or a speaker's with the number of an utterance."""
    speaker, dash, number = word.rpartition("-")
    return flat.get(word, flat.get(speaker, speaker) + dash + number)


def new_names(kinds: Mapping[str, Iterable[str]], rng: random.Random, fixed: Names | None = None) -> Names:
    """Random names, none of them used twice whatever its case; those in ``fixed`` are given."""
    taken: set[str] = set()
    made: dict[str, dict[str, str]] = {}
    for kind, olds in kinds.items():
        for old in sorted(set(olds)):
            given = old if old in NO_NAMES else (fixed or {}).get(kind, {}).get(old)
            name = given or rng.choice("abzABZ") + str(rng.randrange(12))
            while given is None and name.lower() in taken:
                name = rng.choice("abyzABYZ") + str(rng.randrange(1000))
            taken.add(name.lower())
            made.setdefault(kind, {})[old] = name
    return made


def names_in(evaluation: Evaluation, *kinds: str) -> dict[str, set[str]]:
    """All names of some kinds that rows hold."""
    found: dict[str, set[str]] = {kind: set() for kind in kinds}

    def look(row: Any) -> Any:
        for kind in kinds:
            if hasattr(row, kind):
                found[kind].add(getattr(row, kind))
        return row

    for rows in evaluation.roles.values():
        changed(rows, look)
    return found


def shifted(evaluation: Evaluation, by_s: float) -> Evaluation:
    """All times later by so much."""

    def change(row: Any) -> Any:
        return row._replace(**{name: getattr(row, name) + by_s for name in TIMES if hasattr(row, name)})

    return replace(evaluation, roles={role: changed(rows, change) for role, rows in evaluation.roles.items()})


def in_decimals(evaluation: Evaluation) -> Evaluation:
    """All times, durations and scores as decimals that no sum holds exactly."""
    scale = {"begin": 1.04, "end": 1.04, "dur": 1.04, "score": 0.98, "limit": 0.98}

    def change(row: Any) -> Any:
        return row._replace(
            **{name: round(getattr(row, name) * by, 4) for name, by in scale.items() if hasattr(row, name)}
        )

    return replace(evaluation, roles={role: changed(rows, change) for role, rows in evaluation.roles.items()})


def mapped(evaluation: Evaluation, change: Callable[[float], float]) -> Evaluation:
    """All scores, and the thresholds that are compared with them, through ``change``."""

    def each(row: Any) -> Any:
        return row._replace(**{name: change(getattr(row, name)) for name in ("score", "limit") if hasattr(row, name)})

    return replace(evaluation, roles={role: changed(rows, each) for role, rows in evaluation.roles.items()})


class Taken(NamedTuple):
    """Two evaluations that share nothing, and both as one."""

    first: Evaluation
    second: Evaluation
    both: Evaluation


def joined(first: Evaluation, second: Evaluation) -> Taken:
    """Both evaluations as one: the rows of each role one after the other."""
    roles = {role: first.roles.get(role, ()) + second.roles.get(role, ()) for role in {**first.roles, **second.roles}}
    roles |= {"lexicon": first.roles["lexicon"]} if "lexicon" in roles else {}
    return Taken(first, second, replace(first, roles=roles))
