"""Memory that is free, given back to the system."""

from __future__ import annotations

import ctypes


def give_back_memory() -> None:
    """Return what was freed between things still in use, which the C library else keeps: glibc only, and harmless.

    After many small partials became one, that is as much again as they were.
    """
    trim = getattr(ctypes.CDLL(None), "malloc_trim", None)
    if trim is not None:
        trim(0)
