"""What the name of a system says of its standing: primary or contrastive, and which version of which experiment."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass

_BARE = re.compile(r"(?P<sysid>[pc]-[A-Za-z0-9]+)(?:_(?P<version>[1-9][0-9]*))?")


@dataclass(frozen=True)
class SystemId:
    """The standing of a system as its name has it."""

    primary: bool | None = None
    """None where the name does not say."""
    experiment: str = ""
    """What versions are of; "" where the name has none."""
    version: int = 0


def by_sysid(name: str, fields: Mapping[str, str]) -> SystemId:
    """The standing by a SYSID, ``p-…`` or ``c-…``, in an identifier with these fields or alone as ``p-NAME[_VERSION]``
    (plans of MED 2011, appendix B, and OpenKWS13, sections 3.1.5 and B.1).
    """
    if not fields:
        bare = _BARE.fullmatch(name)
        fields = {} if bare is None else {key: text for key, text in bare.groupdict().items() if text is not None}
    sysid, version = fields.get("sysid", ""), fields.get("version", "")
    primary = sysid.startswith("p-") if sysid else None
    return SystemId(primary, name.rpartition("_")[0] if version else "", int(version or 0))
