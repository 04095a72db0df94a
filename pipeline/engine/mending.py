"""Reads that mend: what is damaged is reported, discarded and made again. A store that does not answer is an error."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TypeVar

from pipeline.errors import DamageError, StoreError

T = TypeVar("T")
TRIES = 4
"""Tasks of one cell may find the same damage at once, and one may discard what another has just mended."""

_LOG = logging.getLogger("rescore")


def mended(read: Callable[[], T], mend: Callable[[], object], path: str) -> tuple[T, bool]:
    """The value that ``read`` returns, and whether ``mend`` was called first as the object at ``path`` was damaged.

    Raises ``DamageError`` when it is damaged again and again: then something else is wrong with the store.
    """
    for attempt in range(TRIES):
        try:
            return read(), attempt > 0
        except DamageError as error:
            if attempt == TRIES - 1:
                raise
            tell(path, error)
            mend()
    raise AssertionError("the last attempt returns or raises")


def unless_damaged(read: Callable[[], T], path: str) -> T | None:
    """The value that ``read`` returns, or None, told as a warning, where the object at ``path`` is lost or damaged."""
    try:
        return read()
    except DamageError as error:
        tell(path, error)
        return None


def tell(path: str, what: object) -> None:
    """Warn that the object at ``path`` is damaged, and that this is being put right."""
    _LOG.warning("%s is damaged and is made again: %s", path, what)


@contextmanager
def removing(what: str) -> Iterator[None]:
    """While scratch is removed: a store that does not let go of it costs a warning, not the work that it was for."""
    try:
        yield
    except StoreError as error:
        _LOG.warning("%s stay in the store until `rescore gc` removes them: %s", what, error)
