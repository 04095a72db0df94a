"""Conditions by speaker: the recordings and channels whose speakers are of a type (SPKR-INFO, plan 004, table C.2)."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator

from pipeline.errors import Finding
from pipeline.formats.kws.rttm import Rttm
from pipeline.protocols.kws.conditions import matches_any, parse_conditions
from pipeline.terms import Selection

Places = tuple[tuple[str, str], ...]


def speaker_places(rttm: Rttm, patterns: tuple[str, ...]) -> Places:
    """Sorted (recording, channel) whose SPKR-INFO records all have a subtype that matches one of ``patterns``.

    A detection names no speaker, so a channel shared by speakers of several types is in no one's condition, and neither
    is one without SPKR-INFO.
    """
    subtypes: dict[tuple[str, str], set[str]] = defaultdict(set)
    speakers = rttm.speakers
    for file, channel, subtype in zip(*map(speakers.text, ("file", "channel", "subtype")), strict=True):
        subtypes[file, channel].add(subtype)
    return tuple(
        sorted(
            place
            for place, found in subtypes.items()
            if all(matches_any(subtype, patterns, "condition") for subtype in found)
        )
    )


def speaker_findings(text: str, selections: tuple[Selection, ...], rttm: Rttm) -> Iterator[Finding]:
    """A warning for every condition by speaker that holds nothing."""
    empty = {selection.name for selection in selections if selection.places == ()}
    for condition in parse_conditions(text):
        if condition.kind == "speaker" and condition.name in empty:
            seen = ", ".join(sorted(set(rttm.speakers.text("subtype")))) or "none"
            message = (
                f"the condition {condition.name!r} is empty: no recording has SPKR-INFO records that are all "
                f"{' or '.join(condition.patterns)} (subtypes in the transcript: {seen}). Compare the spelling."
            )
            yield Finding("no_such_speakers", message, "rttm")
