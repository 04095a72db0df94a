"""Signatures of what a store publishes: Ed25519 (RFC 8032), with keys as files in PEM.

``openssl genpkey -algorithm ed25519 -out key.pem`` makes a key, ``openssl pkey -in key.pem -pubout`` what others check
with. The key itself is read where something is signed; it is never logged, stored or sent.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

from pipeline.errors import UsageError

if TYPE_CHECKING:
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey

KEY = "RESCORE_SIGNING_KEY"
"""The environment variable that says where the key lies. Without it nothing is signed."""


def signature_of(data: bytes) -> str | None:
    """The signature of ``data`` in hex; None where there is no key. Raises ``UsageError`` for one that is none."""
    place = os.environ.get(KEY)
    if not place:
        return None
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
    from cryptography.hazmat.primitives.serialization import load_pem_private_key

    try:
        key = load_pem_private_key(Path(place).read_bytes(), password=None)
    except (OSError, ValueError, TypeError) as error:  # the library's message may quote the file
        raise UsageError(f"{KEY}: no key can be read there ({type(error).__name__}). {_MAKE}") from error
    if not isinstance(key, Ed25519PrivateKey):
        raise UsageError(f"{KEY}: the key is of another kind (allowed: Ed25519). {_MAKE}")
    return key.sign(data).hex()


def public_key(place: str) -> Ed25519PublicKey:
    """The key to check with, from a PEM file. Raises ``UsageError`` where there is none."""
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey
    from cryptography.hazmat.primitives.serialization import load_pem_public_key

    try:
        key = load_pem_public_key(Path(place).read_bytes())
    except (OSError, ValueError) as error:
        raise UsageError(f"{place}: no public key can be read there ({type(error).__name__}). {_SHOW}") from error
    if not isinstance(key, Ed25519PublicKey):
        raise UsageError(f"{place}: the key is of another kind (allowed: Ed25519). {_SHOW}")
    return key


def is_signed(data: bytes, signature: object, key: Ed25519PublicKey) -> bool:
    """Whether ``signature`` (hex) is one of ``data`` by the owner of ``key``."""
    from cryptography.exceptions import InvalidSignature

    try:
        key.verify(bytes.fromhex(str(signature)), data)
    except (InvalidSignature, ValueError):
        return False
    return True


_MAKE = "Make one with: openssl genpkey -algorithm ed25519 -out key.pem"
_SHOW = "Get it with: openssl pkey -in key.pem -pubout"
