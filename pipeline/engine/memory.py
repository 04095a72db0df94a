"""Free memory, as the C library and Python keep it or give it back."""

from __future__ import annotations

import ctypes
import gc
from collections.abc import Iterator
from contextlib import contextmanager


def give_back_memory() -> None:
    """Return what was freed between things still in use, which the C library else keeps: glibc only, and harmless.

    After many small partials became one, that is as much again as they were.
    """
    trim = getattr(ctypes.CDLL(None), "malloc_trim", None)
    if trim is not None:
        trim(0)


_SELDOM = (50_000, 20, 20)
"""What Python counts until it looks for garbage: a run makes many small things, and hardly any in circles."""
_TRIM_THRESHOLD, _MMAP_THRESHOLD = -1, -3
"""Numbers of ``mallopt``."""
_KEPT_BYTES = 1 << 26


def keep_some_memory() -> None:
    """Let the C library keep what was freed for the next array, up to 64 MiB: glibc only, and harmless.

    Dask has its workers give back every array at once; then a pass over small arrays spends half of its time in
    having pages cleared.
    """
    mallopt = getattr(ctypes.CDLL(None), "mallopt", None)
    if mallopt is not None:
        mallopt(_TRIM_THRESHOLD, _KEPT_BYTES)
        mallopt(_MMAP_THRESHOLD, _KEPT_BYTES // 2)


@contextmanager
def without_collector() -> Iterator[None]:
    """Import large packages without looking for garbage among what they define, neither meanwhile nor later on.

    Once in a process: what is frozen is never freed, and later on that would be the garbage of the runs before.
    """
    if gc.get_freeze_count():
        yield
        return
    gc.disable()
    try:
        yield
    finally:
        gc.freeze()
        gc.enable()


@contextmanager
def seldom_collected() -> Iterator[None]:
    """Look for garbage less often than Python does by itself, which takes a twelfth of a run that has figures to make.

    What waits to be found meanwhile is some ten thousand small objects.
    """
    usual = gc.get_threshold()
    gc.set_threshold(*_SELDOM)
    try:
        yield
    finally:
        gc.set_threshold(*usual)
