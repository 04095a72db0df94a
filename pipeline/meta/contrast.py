"""Two evaluations side by side: what they share, what keeps them apart, and how the systems of both fared."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from pipeline.meta.comparable import comparable, note
from pipeline.meta.evaluated import Evaluated, Place
from pipeline.meta.ranks import Table, agreement, by_board, moved, orders
from pipeline.meta.rows import Row


@dataclass(frozen=True)
class Overlap:
    """The overlap of two boards; counts of the first, the second, and both."""

    queries: tuple[int, int, int]
    """By identifier."""
    texts: tuple[int, int, int]
    """By text, without case: the same query under another identifier."""
    recordings: tuple[int, int, int]
    same_key: bool
    """Whether the keys are the same file."""
    same_audio: bool

    def __str__(self) -> str:
        said = [
            f"{both} of {one} and {other} {what}"
            for what, (one, other, both) in (
                ("queries by identifier", self.queries),
                ("queries by text", self.texts),
                ("recordings", self.recordings),
            )
            if one or other
        ]
        said.append("the same key" if self.same_key else "other keys")
        return "shared: " + "; ".join(said)


def overlap(first: Evaluated, one: Place, second: Evaluated, other: Place) -> Overlap:
    """The overlap of two boards, from their references."""
    texts = [first.texts(one), second.texts(other)]
    written = [{text.casefold() for text in side.values() if text} for side in texts]
    recordings = [first.recordings(one), second.recordings(other)]
    keys = [_digests(side, place) for side, place in ((first, one), (second, other))]
    return Overlap(
        _counts(texts[0].keys(), texts[1].keys()),
        _counts(*written),
        _counts(*recordings),
        bool(keys[0]["key"]) and keys[0]["key"] == keys[1]["key"],
        bool(keys[0]["audio"]) and keys[0]["audio"] == keys[1]["audio"],
    )


def _digests(evaluated: Evaluated, place: Place) -> dict[str, str]:
    jobs = evaluated.boards.get(place, ())
    found = {"key": "", "audio": ""}
    for name, roles in (("key", ("rttm", "key", "ref", "stm")), ("audio", ("ecf", "clipmd"))):
        found[name] = "+".join(job.inputs[role].sha256 for job in jobs[:1] for role in roles if role in job.inputs)
    return found


def _counts(first: Iterable[str], second: Iterable[str]) -> tuple[int, int, int]:
    one, other = set(first), set(second)
    return len(one), len(other), len(one & other)


def contrasts(first: Evaluated, second: Evaluated, rows: Sequence[Row], measures: Sequence[str]) -> Table:
    """One row for each pair of boards and measure that both evaluations have: overlap, what differs, agreement of the
    ranking of shared systems, and their mean difference where operating points allow one.

    Boards pair by name; where no name is in both, every board is held against every other.
    """
    boards = by_board(rows)
    pairs = [(place, place) for place in first.boards if place in second.boards]
    pairs = pairs or [(one, other) for one in first.boards for other in second.boards]
    table: list[Mapping[str, Any]] = []
    for one, other in pairs:
        shared = overlap(first, one, second, other)
        for measure in measures:
            before, after = boards.get((first.name, *one, measure)), boards.get((second.name, *other, measure))
            if before is None or after is None:
                continue
            found = agreement(orders(before), orders(after))
            changes = moved(before, after)
            told = note([*before, *after])
            scale = comparable([*before, *after])
            differences = [change["difference"] for change in changes]
            table.append(
                {"first": first.name, "second": second.name, "board": " × ".join(one), "against": " × ".join(other)}
                | {"measure": measure, **found}
                | {
                    "mean_difference": math.fsum(differences) / len(differences)
                    if differences and scale == "yes"
                    else math.nan
                }
                | {"overlap": str(shared), "note": told, "comparable": scale}
            )
    return tuple(table)
