"""Why the words of a recording became what they are (STT)."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator
from typing import Any

import numpy as np

from pipeline.align.tokens.graph import gap_cost, pair_cost
from pipeline.align.tokens.rules import Lexer, TokenRules
from pipeline.align.tokens.steps import FORGIVEN_OUTPUT, FORGIVEN_REFERENCE, align_tokens
from pipeline.protocols.base import Protocol, Reference
from pipeline.protocols.disputes import UNSCORED, Decided, Dispute
from pipeline.protocols.stt.tables import LETTERS
from pipeline.trials.tokens.schema import MARKED, SCORED, TokenSegments, TokenTimeline, Words


def _steps(
    protocol: Protocol,
    words: Words,
    segments: TokenSegments,
    reference: Reference[TokenSegments, TokenTimeline],
    recording: str,
) -> Iterator[Decided]:
    """Every segment of a recording with its steps and what each costs (STT)."""
    settings = protocol.settings
    rules = TokenRules.of(settings)
    aligned = align_tokens(words, segments, Lexer(rules, reference.timeline), segment_end=settings.segment_end)
    for row in range(len(segments)):
        file, channel = segments.files[segments.file[row]], segments.channels[segments.channel[row]]
        if file != recording:
            continue
        speaker = segments.speakers[segments.speaker[row]]
        named = (f"{file} {channel} {speaker}", float(segments.begin_s[row]), float(segments.end_s[row]))
        state = int(segments.state[row])
        if state != SCORED:
            rule = "segment_ignored" if state == MARKED else "segment_untimed"
            yield Decided(named[0], UNSCORED, rule, {}, channel, *named[1:])
            continue
        steps = [_step(aligned, at) for at in np.flatnonzero(aligned.segment == row).tolist()]
        counts = {letter: sum(step[0] == letter for step in steps) for letter in "CSDI"}
        outcome = ", ".join(f"{n} {letter}" for letter, n in counts.items())
        details = {"cost": math.fsum(step[-1] for step in steps), "steps": steps}
        yield Decided(named[0], outcome, "cheapest", details, channel, *named[1:])


def _step(aligned: Any, at: int) -> list[Any]:
    """Letter, reference, output, confidence, cost; a forgiven side is the empty string, an absent one None."""
    kind, ref, out = int(aligned.step[at]), int(aligned.reference[at]), int(aligned.output[at])
    both = ref >= 0 and out >= 0
    token = aligned.vocabulary
    cost = pair_cost(token[ref], token[out]) if both else gap_cost(token[ref if ref >= 0 else out])
    confidence = float(aligned.confidence[at])
    return [
        LETTERS[kind],
        token[ref].shown if ref >= 0 else "" if kind == FORGIVEN_OUTPUT else None,
        token[out].shown if out >= 0 else "" if kind == FORGIVEN_REFERENCE else None,
        None if math.isnan(confidence) else confidence,
        cost,
    ]


def _recordings(
    _reference: Reference[TokenSegments, TokenTimeline], _words: Words, segments: TokenSegments
) -> tuple[str, ...]:
    return tuple(segments.files[code] for code in segments.file.tolist())


def _channels(reference: Reference[TokenSegments, TokenTimeline], recording: str) -> Iterable[str]:
    """A recording's channels lie in a bucket each."""
    return [unit for unit in reference.timeline.units if unit.rpartition(" ")[0] == recording] or [recording]


DISPUTE = Dispute(_steps, "recording", _recordings, _channels)
