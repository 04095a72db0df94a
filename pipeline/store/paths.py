"""Paths inside a store. Parts of them come from evaluation files, so only what is plainly harmless is let through."""

from __future__ import annotations

import re

from pipeline.errors import StoreError

LONGEST_NAME = 200
"""Characters of one name: leaves room for the suffix of a temporary file under the usual 255."""
LONGEST_PATH = 900
"""Characters of one path: leaves room for the prefix of a store under S3's 1024."""

_NAME = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_.=+-]*")


def checked_name(name: str) -> str:
    """``name`` if it may be one part of a path; else raises ``StoreError``.

    It begins with a letter, digit or underscore: no ``..``, and no clash with temporary files, which begin with a dot.
    """
    if not _NAME.fullmatch(name) or len(name) > LONGEST_NAME:
        raise StoreError(
            f"a store cannot keep anything under the name {name[:LONGEST_NAME]!r} (allowed: 1 to {LONGEST_NAME} "
            "letters, digits and _ . = + -, beginning with a letter, digit or _). Rename it in the evaluation file."
        )
    return name


def checked_path(path: str) -> str:
    """``path`` if it is names joined by ``/``; else raises ``StoreError``."""
    for name in path.split("/"):
        checked_name(name)
    if len(path) > LONGEST_PATH:
        raise StoreError(f"a path in a store has at most {LONGEST_PATH} characters (seen: {len(path)}). Shorten names.")
    return path
