"""Bytes with their own digest around them, so that damage is an error and never a value.

The seal is a JSON object around the data: sealed JSON is JSON that any tool can open.
"""

from __future__ import annotations

import re
from hashlib import sha256

from pipeline.errors import DamageError

_SEALED = re.compile(rb'\{"sha256":"([0-9a-f]{64})","body":(.*)\}\n', re.DOTALL)


def seal(data: bytes) -> bytes:
    """``{"sha256":"…","body":…}`` around ``data``."""
    return b'{"sha256":"' + sha256(data).hexdigest().encode() + b'","body":' + data + b"}\n"


def unseal(data: bytes, where: str) -> bytes:
    """The sealed bytes. Raises ``DamageError`` naming ``where`` if anything is missing, added or changed."""
    body = _body(data)
    if body is None:
        raise DamageError(f"{where}: the object is damaged (its SHA-256 does not match). Remove it and run again.")
    return body


def is_sealed(data: bytes) -> bool:
    """Whether ``data`` is what ``seal`` returned, unchanged."""
    return _body(data) is not None


def _body(data: bytes) -> bytes | None:
    found = _SEALED.fullmatch(data)
    return found[2] if found is not None and sha256(found[2]).hexdigest().encode() == found[1] else None
