"""Two outputs against one reference: the paired tests of their family, in memory."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from pipeline.engine.inputs import read_role
from pipeline.engine.score import check_roles, read_all
from pipeline.errors import UsageError
from pipeline.protocols.base import Protocol
from pipeline.terms import Figure


def compare_files(protocol: Protocol, inputs: Mapping[str, str], other: str) -> dict[str, Figure]:
    """The paired tests by name. ``inputs`` are URLs by role; ``other`` takes the place of the first output.

    Raises ``UsageError`` for a protocol without paired tests and for wrong roles, ``InputError`` for refused files.
    """
    family, compare = protocol.family, protocol.family.can.compare
    if compare is None:
        raise UsageError(f"{protocol.name} has no paired tests (protocols of speech-to-text have).")
    check_roles(protocol, inputs)
    tables, _ = read_all(protocol, inputs)
    reference = family.refer(protocol, tables)
    main = family.outputs[0]
    second, _ = read_role(protocol, main, other)

    def total(own: Mapping[str, Any]) -> Any:
        trials, _ = family.lay_out(protocol, own, reference.timeline)
        return family.counted(protocol, trials.whole(), reference.key, reference)

    return compare(total(tables), total({**tables, main: second}))
