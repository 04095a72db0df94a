"""Conditions: named parts of the trials of a cell, and patterns that pick recordings (KWSEval -Y -T -q -w -G -N)."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache

import numpy as np

from pipeline.arrays import Bools
from pipeline.errors import UsageError
from pipeline.formats.kws.kwlist import KeywordList
from pipeline.partials.ledger import Ledger
from pipeline.terms import Selection
from pipeline.trials.schema import Excerpts

KINDS = ("source_type", "speaker", "query", "attribute", "oov", "has_targets")
BY_EXCERPT = ("source_type", "speaker")
"""The kinds that pick excerpts, and so have trials of their own."""
OOV, IV = "OOV", "IV"
HAS_TARGETS, NO_TARGETS = "HasTargets", "NoTargets"
_ATTRIBUTES = re.compile(r"\s*&&\s*")


@dataclass(frozen=True)
class Condition:
    """One line of the setting ``condition``: what picks the trials, and by which patterns."""

    kind: str
    name: str = ""
    patterns: tuple[str, ...] = ()
    attributes: tuple[tuple[str, str], ...] = ()
    """For attributes: their names and what their values must match (empty: anything)."""


@lru_cache(maxsize=64)
def parse_conditions(text: str) -> tuple[Condition, ...]:
    """The lines of the setting. Raises ``UsageError`` naming what is allowed."""
    found = tuple(_parse(line.strip()) for line in text.splitlines() if line.strip())
    names = [condition.name for condition in found if condition.name]
    twice = sorted({name for name in names if names.count(name) > 1 or name == "all"})
    if twice:
        raise UsageError(f"setting condition: the name {twice[0]!r} is taken. Give every condition a name of its own.")
    return found


def _parse(line: str) -> Condition:
    kind, _, rest = line.partition(" ")
    rest = rest.strip()
    if kind not in KINDS or bool(rest) == (kind in ("oov", "has_targets")):
        allowed = (
            "source_type NAME:TYPE,… | speaker NAME:TYPE,… | query NAME:PATTERN,… | "
            "attribute NAME[:regex=PATTERN][ && …] | oov | has_targets"
        )
        raise UsageError(f"setting condition: the value is {line!r}, allowed: {allowed}.")
    if kind == "attribute":
        parts = [part.partition(":regex=") for part in _ATTRIBUTES.split(rest)]
        for _, _, pattern in parts:
            compiled(pattern, "condition")
        return Condition(kind, attributes=tuple((name.strip(), pattern) for name, _, pattern in parts))
    name, colon, listed = rest.partition(":")
    patterns = tuple(sorted(filter(None, (listed if colon else rest).split(","))))
    for pattern in patterns:
        compiled(pattern, "condition")
    return Condition(kind, name, patterns)


@lru_cache(maxsize=256)
def compiled(pattern: str, setting: str) -> re.Pattern[str]:
    """A regular expression of a setting. Raises ``UsageError`` where it is none."""
    try:
        return re.compile(pattern)
    except re.error as error:
        raise UsageError(f"setting {setting}: {pattern!r} is no regular expression ({error}).") from error


def matches_any(text: str, patterns: Sequence[str], setting: str) -> bool:
    """Whether the whole of ``text`` matches one of the patterns, upper and lower case alike."""
    return any(compiled(f"(?i:{pattern})", setting).fullmatch(text) for pattern in patterns)


def parse_namefile(text: str) -> tuple[str, ...]:
    """The patterns of the setting ``namefile``. Raises ``UsageError`` for what is no regular expression."""
    patterns = tuple(line.strip() for line in text.splitlines() if line.strip())
    for pattern in patterns:
        compiled(pattern, "namefile")
    return patterns


def in_namefile(files: Sequence[str], channels: Sequence[str], namefile: str) -> Bools:
    """For every file and channel whether ``namefile`` names them: shape (n_files + 1, n_channels + 1).

    The last row and column stand for codes of -1 and are False.
    """
    patterns = parse_namefile(namefile)
    named = np.zeros((len(files) + 1, len(channels) + 1), np.bool_)
    for f, file in enumerate(files):
        named[f, : len(channels)] = [matches_any(f"{file}/{name}", patterns, "namefile") for name in channels]
    return named


def typed(excerpts: Excerpts, rule: str) -> Excerpts:
    """The excerpts with the source types that conditions go by; ``rule`` is the setting ``source_type_of``.

    Their own with ``excerpt``; with ``first`` and ``last`` that of the first or last one of their file and channel.
    """
    if rule == "excerpt":
        return excerpts
    turn = slice(None, None, -1 if rule == "last" else 1)
    rows = np.arange(excerpts.file.size)[turn]
    place = excerpts.file.astype(np.int64) * max(len(excerpts.channels), 1) + excerpts.channel
    _, first, of = np.unique(place[turn], return_index=True, return_inverse=True)
    types = [excerpts.source_type[row] for row in rows[first][of][turn].tolist()]
    return replace(excerpts, source_type=tuple(types))


def of_types(excerpts: Excerpts, types: Sequence[str]) -> Bools:
    """For each excerpt whether its source type is one of ``types`` (patterns)."""
    return np.array([matches_any(name, types, "condition") for name in excerpts.source_type], np.bool_)


def at_places(excerpts: Excerpts, places: Collection[tuple[str, str]]) -> Bools:
    """For each excerpt whether ``places`` hold its recording and channel."""
    rows = zip(excerpts.file.tolist(), excerpts.channel.tolist(), strict=True)
    return np.array([(excerpts.files[file], excerpts.channels[channel]) in places for file, channel in rows], np.bool_)


def own_excerpts(text: str, selections: Sequence[Selection], excerpts: Excerpts) -> dict[str, Bools]:
    """The masks of excerpts of all conditions that pick some, by their names in a ledger.

    ``text`` is the setting ``condition``, ``selections`` are what the key made of it.
    """
    places = {selection.ledger: frozenset(selection.places) for selection in selections if selection.places is not None}
    return {
        name: at_places(excerpts, places[name]) if name in places else of_types(excerpts, condition.patterns)
        for condition in parse_conditions(text)
        if condition.kind in BY_EXCERPT
        for name in (ledger_of(condition),)
    }


def ledger_of(condition: Condition) -> str:
    """The condition's name in a ledger: what picks the trials, not what it is called."""
    return f"{condition.kind}:{','.join(condition.patterns)}" if condition.kind in BY_EXCERPT else "all"


def groups(condition: Condition, kwlist: KeywordList) -> dict[str, tuple[str, ...] | None]:
    """The selections that a condition makes, by name, with their queries where these are known beforehand."""
    ids = kwlist.keywords.text("id")
    if condition.kind in BY_EXCERPT:
        return {condition.name: None}
    if condition.kind == "query":
        return {condition.name: tuple(name for name in ids if matches_any(name, condition.patterns, "condition"))}
    if condition.kind == "oov":
        return {OOV: None, IV: None}
    if condition.kind == "has_targets":
        return {HAS_TARGETS: None, NO_TARGETS: None}
    found: dict[str, tuple[str, ...] | None] = {}
    for query, details in zip(ids, kwlist.details, strict=True):
        name = _attribute_group(condition, details)
        if name is not None:
            found[name] = (*(found.get(name) or ()), query)
    return dict(sorted(found.items()))


def _attribute_group(condition: Condition, details: Mapping[str, str]) -> str | None:
    """``Attr-value X Attr2-value2``; None where an attribute is absent or does not match."""
    parts = []
    for name, pattern in condition.attributes:
        value = details.get(name)
        if value is not None and name == "Syllables" and value.isdecimal():
            value = f"{int(value):02d}"
        if value is None or (pattern and not compiled(pattern, "condition").search(value)):
            return None
        parts.append(f"{name}-{value}")
    return " X ".join(parts)


def members(
    selection: Selection, ledger: Ledger, queries: Sequence[str], oov_counts: Mapping[str, float | None]
) -> tuple[str, ...]:
    """The queries of ``queries`` that a selection holds, in their order. ``ledger`` is the cell's, all conditions.

    Queries without any trial at all belong to every selection by source type, speaker or pattern, and to none by OOV
    words; others belong only where they have trials (KWSEval; it shows only where queries without occurrences count).
    """
    whole = ledger.select(queries)
    n_true = dict(zip(whole.queries, whole.n_true[0].tolist(), strict=True))
    silent = set(queries) - with_trials(whole)
    if selection.kind in BY_EXCERPT:
        held = with_trials(ledger.select(queries, selection.ledger)) | silent
    elif selection.kind == "query":
        held = set(selection.queries or ()) | silent
    elif selection.kind == "attribute":
        held = set(selection.queries or ())
    elif selection.kind == "oov":
        beyond = {query for query in queries if (oov_counts.get(query) or 0) > 0}
        held = (beyond if selection.name == OOV else set(queries) - beyond) - silent
    else:
        held = {query for query in queries if (n_true[query] > 0) == (selection.name == HAS_TARGETS)}
    return tuple(query for query in queries if query in held)


def selected(ledger: Ledger, selection: Selection, held: Sequence[str]) -> Ledger:
    """The trials of a selection as the condition "all": those of a query it lists twice count twice."""
    times = Counter(selection.queries or ())
    total = ledger.select(held, selection.ledger)
    for more in range(2, max(times.values(), default=1) + 1):
        total = total + ledger.select([query for query in held if times[query] >= more], selection.ledger)
    return replace(total, conditions=("all",))


def with_trials(ledger: Ledger) -> set[str]:
    """The queries of a ledger of one condition that have a detection or an occurrence."""
    seen = (ledger.omitted[0] > 0) | (np.diff(ledger.first) > 0)
    return {ledger.queries[code] for code in np.flatnonzero(seen).tolist()}
