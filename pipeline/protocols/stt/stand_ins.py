"""What stands in for the reference that a participant has not: one segment around all words of each recording."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from pipeline.formats.stt.trn import Trn
from pipeline.protocols.base import Protocol, StandIn


def stand_ins(protocol: Protocol, tables: Mapping[str, Any]) -> dict[str, StandIn]:
    """The reference and, where syllables are scored, a lexicon of nothing in particular."""
    output, made = tables.get("ctm"), dict[str, StandIn]()
    if "lexicon" not in tables and getattr(protocol.settings, "variant", "") == "ser":
        made["lexicon"] = StandIn(b"x\tx\n")
    if "stm" in tables or output is None:
        return made
    if isinstance(output, Trn):
        rows = [f"x ({utterance})\n" for utterance in output.utterances.text("utterance")]
    else:
        words = output.words
        pairs = sorted(set(zip(words.text("file"), words.text("channel"), strict=True)))
        ends = words["begin_s"] + words["dur_s"]
        end_s = float(np.nanmax(ends)) + 1.0 if np.isfinite(ends).any() else 1.0
        rows = [f"{file} {channel} x 0 {end_s} x\n" for file, channel in pairs]
    return {**made, "stm": StandIn("".join(rows).encode())}
