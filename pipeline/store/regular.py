"""Opening local files that others put there: regular files, whatever else stands under their names."""

from __future__ import annotations

import errno
import os
import stat
from pathlib import Path
from typing import BinaryIO

_KINDS = {
    stat.S_IFDIR: "a folder",
    stat.S_IFIFO: "a pipe",
    stat.S_IFSOCK: "a socket",
    stat.S_IFCHR: "a device",
    stat.S_IFBLK: "a device",
}
_OWN_PIPES = "/dev/"
"""Where a shell puts the pipes of ``<(command)``: whoever names one means to read it."""
_WORDS = {
    errno.EACCES: "there is no permission to read it",
    errno.EPERM: "there is no permission to read it",
    errno.EIO: "reading it fails with an I/O error",
    errno.ELOOP: "its links lead round in a circle",
    errno.ENAMETOOLONG: "its name is too long",
    errno.ESTALE: "its file system lost it",
}


class UnreadableError(Exception):
    """There is something under a name, and it cannot be read. The message says why, as the rest of a sentence."""


def open_regular(path: Path) -> BinaryIO:
    """A regular file, opened. Nothing waits for a writer, and no device is opened.

    Raises ``UnreadableError`` for what is there and cannot be read, ``FileNotFoundError`` where nothing is.
    """
    try:
        kind = stat.S_IFMT(path.stat().st_mode)
        if kind in _KINDS and not (kind == stat.S_IFIFO and str(path).startswith(_OWN_PIPES)):
            raise UnreadableError(f"it is {_KINDS[kind]}")
        return os.fdopen(_opened(path), "rb") if kind == stat.S_IFREG else path.open("rb")
    except (FileNotFoundError, NotADirectoryError) as error:
        if path.is_symlink():
            raise UnreadableError("it is a link that leads nowhere") from error
        raise
    except OSError as error:
        raise UnreadableError(why_not(error)) from error


def _opened(path: Path) -> int:
    """A descriptor of a regular file: what became something else since it was looked at is not waited for."""
    found = os.open(path, os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK)
    if stat.S_ISREG(os.fstat(found).st_mode):
        return found
    os.close(found)
    raise UnreadableError("it is no regular file")


def why_not(error: OSError) -> str:
    """Why a file cannot be read, as the rest of a sentence."""
    return _WORDS.get(error.errno or 0) or f"it cannot be read ({error.strerror or type(error).__name__})"


def leads_out(path: str, root: str) -> bool:
    """Whether links lead from ``path`` to somewhere outside of the folder ``root``, which may be a link itself."""
    real, base = os.path.realpath(path), os.path.realpath(root)
    return real != base and not real.startswith(base.rstrip("/") + "/")
