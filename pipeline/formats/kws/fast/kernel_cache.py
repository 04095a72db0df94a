"""Where Numba keeps what it compiled, and under which names: those of all sources that are compiled in."""

from __future__ import annotations

import ast
import os
import shutil
import sys
from collections.abc import Callable, Iterator
from contextlib import suppress
from functools import cache
from hashlib import sha256
from pathlib import Path
from typing import Any, TypeVar

Kernel = TypeVar("Kernel", bound=Callable[..., Any])

_PACKAGE = __name__.split(".")[0]


def begin_with_compiled() -> None:
    """Let a new ``NUMBA_CACHE_DIR`` begin with what ``RESCORE_COMPILED`` holds.

    Numba keeps what it compiled in a place that it can write. An image is read-only, and compiling takes seconds.
    """
    made, kept = os.environ.get("RESCORE_COMPILED", ""), os.environ.get("NUMBA_CACHE_DIR", "")
    if made and kept and Path(made).is_dir() and not Path(kept).exists():
        with suppress(OSError):  # another process was first, or nothing can be written: then it is compiled
            shutil.copytree(made, kept)


def by_sources(function: Kernel) -> Kernel:
    """The function, its qualified name led by a digest of all sources that are compiled into it.

    Numba finds what it kept by that name and by the stamp of the function's own file. Constants and functions of other
    modules are compiled in as well: with the digest a change of theirs is another kernel. Stands below ``njit``.
    """
    function.__qualname__ = f"s{_digest(function.__module__)}.{function.__qualname__}"
    return function


@cache
def _digest(module: str) -> str:
    """A digest of the sources of a module and of all modules of this package that its import needs, 12 digits."""
    seen, left = dict[str, bytes](), [module]
    while left:
        name = left.pop()
        if name not in seen:
            seen[name] = Path(str(sys.modules[name].__file__)).read_bytes()
            left += _imported(seen[name])
    return sha256(b"\0".join(seen[name] for name in sorted(seen))).hexdigest()[:12]


def _imported(source: bytes) -> Iterator[str]:
    """The modules of this package that a source imports where it is imported itself."""
    for node in ast.parse(source).body:
        if isinstance(node, ast.ImportFrom) and node.module and node.module.split(".")[0] == _PACKAGE:
            names = (node.module, *(f"{node.module}.{alias.name}" for alias in node.names))
            yield from (name for name in names if name in sys.modules)
