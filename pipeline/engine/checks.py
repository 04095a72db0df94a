"""Scoring without a key: whatever scoring would say of an output, from the files that a participant has."""

from __future__ import annotations

import io
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from pipeline.engine.inputs import format_of
from pipeline.engine.labels import relabel
from pipeline.engine.score import score_tables
from pipeline.errors import Finding, InputError, UsageError
from pipeline.formats import READERS
from pipeline.protocols.base import Protocol
from pipeline.terms import Source

ONLY_A_KEY_TELLS: Mapping[str, frozenset[str]] = {
    "tokens": frozenset({"unknown_file", "missing_file", "word_in_gap"}),
    "language": frozenset({"unknown_segment", "missing_segment"}),
}
"""What is said of outputs and only a key can tell, by family: which recordings, times and segments there are. Where the
participants have their lists, a season tells the first and the last. Findings about the key itself are besides."""


@dataclass(frozen=True)
class Checked:
    """Problems, for which an output is refused, and warnings, with which it is scored."""

    problems: tuple[Finding, ...] = ()
    n_problems: int = 0
    warnings: tuple[Finding, ...] = ()


def checked(protocol: Protocol, tables: Mapping[str, Any], names: Mapping[str, str]) -> Checked:
    """What scoring says of tables that were read, with stand-ins for those that are not there.

    ``names`` are what people call the files, by role. What only a missing file could tell is left out: findings about
    it, and those that its stand-in makes void. Nothing is said where even stand-ins are not enough.
    """
    whole, made, voids = _completed(protocol, tables)
    outputs = protocol.family.outputs
    required = {role.name for role in protocol.roles if role.required}
    if not required <= {*whole, *outputs}:
        return Checked()
    named = {role: name for role, name in names.items() if role not in made}
    try:
        if required <= whole.keys():
            sources = tuple(Source(name, role, "", 0) for role, name in named.items())
            found = score_tables(protocol, whole, sources, measures=(protocol.primary,)).findings
        else:
            found = relabel(protocol.family.refer(protocol, whole).findings, named)
    except InputError as error:
        kept = _kept(error.findings, made, voids)
        return Checked(kept, error.count - len(error.findings) + len(kept))
    except UsageError as error:
        return Checked((Finding("bad_setting", str(error), ""),), 1)
    told = dict.fromkeys(_kept(found, made, voids))
    refused = tuple(one for one in told if one.code in protocol.family.can.refused)
    return Checked(refused, len(refused), tuple(one for one in told if one not in refused))


def _completed(protocol: Protocol, tables: Mapping[str, Any]) -> tuple[dict[str, Any], set[str], set[str]]:
    """The tables with stand-ins, one after the other; the roles of these, and the codes that they make void."""
    whole, made, voids = dict(tables), set[str](), set[str]()
    while new := {
        role: one for role, one in protocol.family.can.stand_ins(protocol, whole).items() if role not in made
    }:
        for role, stand_in in new.items():
            whole[role] = READERS[format_of(protocol, role)](io.BytesIO(stand_in.text), role)
            made.add(role)
            voids |= stand_in.voids
    return whole, made, voids


def _kept(findings: tuple[Finding, ...], made: set[str], voids: set[str]) -> tuple[Finding, ...]:
    return tuple(one for one in findings if one.code not in voids and one.where.partition(":")[0] not in made)
