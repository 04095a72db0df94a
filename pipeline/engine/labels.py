"""Names of input files. Stored results name an input by its role; people see the file's own name.

So the bytes of a result do not depend on the machine, folder or bucket its inputs were read from.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace

from pipeline.errors import Finding


def labels(uris: Iterable[str]) -> dict[str, str]:
    """Each URL without the folder that all of them share."""
    parts = {uri: uri.replace("\\", "/").split("/") for uri in sorted(set(uris))}
    folders = [split[:-1] for split in parts.values()]
    shared = 0
    if folders:
        shortest = min(len(folder) for folder in folders)
        while shared < shortest and len({folder[shared] for folder in folders}) == 1:
            shared += 1
    return {uri: "/".join(split[shared:]) for uri, split in parts.items()}


def relabel(findings: Iterable[Finding], names: Mapping[str, str]) -> tuple[Finding, ...]:
    """Findings whose place ``role`` or ``role:line`` is replaced by the role's file name."""

    def place(where: str) -> str:
        role, colon, line = where.partition(":")
        return f"{names.get(role, role)}{colon}{line}"

    return tuple(replace(finding, where=place(finding.where)) for finding in findings)
