"""What stands in for the key that a participant has not: the output's own segments, with labels by turns."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import cycle
from typing import Any

from pipeline.formats.lre.names import OOS
from pipeline.protocols.base import Protocol, StandIn


def stand_ins(_protocol: Protocol, tables: Mapping[str, Any]) -> dict[str, StandIn]:
    """The key. Which segments the test has only the key, or a list of them, can tell."""
    output = tables.get("output")
    if "key" in tables or output is None:
        return {}
    labels = cycle([*(name for name in output.classes if name != OOS), OOS])
    rows = (f"{segment} {label}\n" for segment, label in zip(output.segments.text("segment"), labels, strict=False))
    return {"key": StandIn("".join(rows).encode())}
