"""The rules for names in an evaluation file. They become coordinates, labels and parts of paths."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable

from pipeline.config.urls import shown

LONGEST_NAME = 128

_SLUG = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,99}")
_REFUSED = frozenset('/\\:{}*?"')


def slug_fault(name: str) -> str | None:
    """Why ``name`` cannot name an evaluation (a folder of the store), None when it can."""
    if _SLUG.fullmatch(name) and ".." not in name:
        return None
    allowed = "1 to 100 letters, digits, '.', '_' and '-' without '..', the first a letter or digit"
    return f"must be a short plain name (got {shown(name)}, allowed: {allowed})"


def name_fault(name: str) -> str | None:
    """Why ``name`` cannot name a dataset, query set or system, None when it can.

    Letters of any script are fine. Separators, wildcards, control and formatting characters are not: a name is
    shown on boards and stands in ``query_set/dataset`` pairs.
    """
    plain = name.isprintable() and name == name.strip() and not _REFUSED & set(name)
    if name and plain and len(name) <= LONGEST_NAME and name[0] not in ".-":
        return None
    allowed = (
        f"1 to {LONGEST_NAME} printable characters, not starting with '.' or '-', "
        f"no blanks around and none of {' '.join(sorted(_REFUSED))}"
    )
    return f"is not usable as a name (got {shown(name)}, allowed: {allowed})"


def twins(names: Iterable[str]) -> list[tuple[str, str]]:
    """Pairs of different names that a reader or a file system may take for one: of other case or Unicode form."""
    first: dict[str, str] = {}
    pairs = []
    for name in dict.fromkeys(names):
        before = first.setdefault(unicodedata.normalize("NFKC", name).casefold(), name)
        if before != name:
            pairs.append((before, name))
    return pairs
